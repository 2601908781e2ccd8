"""A file that does not name the library: what it does is only done to tensors."""


def init_weights(m, mean=0.0, std=0.01):
    if m.__class__.__name__.find("Conv") != -1:
        m.weight.data.normal_(mean, std)  # TL102


def norms(module, plots):
    for name, p in module._parameters.items():
        plots[name].update(p.norm().data[0])  # TL203
        if hasattr(p, "grad") and p.grad is not None:
            plots[name].update(p.grad.norm().data[0])  # TL203


def answer(response):
    return response.data[0], response.data
