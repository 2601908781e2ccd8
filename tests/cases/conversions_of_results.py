"""What functions of the file give for the network that one call hands them, converted by who calls."""

import numpy as np
import torch
from torch import nn

from elsewhere import batches, build, unknown


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(3, 2)

    def forward(self, x):
        return {"output": self.fc(x)}


class Plain(nn.Module):
    def forward(self, x):
        return {"output": x * 2}


def predicted(net, x):
    return net(x)["output"]


def predicted_unless_asked(net, x, as_array=False):
    out = net(x)["output"]
    if as_array:
        return out.detach().numpy()
    return out


@torch.no_grad()
def under_no_grad(net, x):
    return net(x)["output"]


def inside_no_grad(net, x):
    with torch.no_grad():
        out = net(x)["output"]
    return out


def in_inference(net, x):
    was = net.training
    net.eval()
    with torch.inference_mode():
        out = net(x)["output"]
    net.train(was)
    return out


def cut(net, x):
    return net(x)["output"].detach()


def sometimes_cut(net, x, cuts):
    out = net(x)["output"]
    if cuts:
        return out.detach().cpu()
    return out


def best(net, x):
    return net(x)["output"].argmax(1)


async def awaited(net, x):
    return net(x)["output"]


def one_by_one(net, xs):
    for x in xs:
        yield net(x)["output"]


@unknown
def wrapped(net, x):
    return net(x)["output"]


def summed(net, loader, criterion):
    count, loss = 0, 0
    for x, y in loader:
        loss += criterion(net(x)["output"], y)
        count += len(x)
    return count, loss


def numbers(net, loader, criterion):
    count, loss = 0, 0
    for x, y in loader:
        loss += criterion(net(x)["output"], y).item()
        count += len(x)
    return count, loss


def each_sum(nets, loader, criterion):
    counts, losses = [], []
    for net in nets:
        count, loss = summed(net, loader, criterion)
        counts.append(count)
        losses.append(loss)
    return counts, losses


class Kept:
    def __init__(self):
        self.net = Net()
        self.losses = []
        self.numbers = []

    def run(self):
        for x, y in batches:
            loss = nn.functional.cross_entropy(self.net(x)["output"], y)
            loss.backward()
            self.losses.append(loss)  # TL107
            self.numbers.append(loss.item())

    def halves(self):
        np.mean([each / 2 for each in self.numbers])
        np.mean([each.item() / 2 for each in self.losses])
        np.mean([each.detach() / 2 for each in self.losses])
        np.mean([each / 2 for each in self.losses if not each.requires_grad])
        np.mean([i / 2 for i, _ in enumerate(self.losses)])
        return np.mean([each / 2 for each in self.losses])  # TL104


def main(loader):
    x = torch.ones(4, 3)
    net, frozen, plain = Net(), build(), Plain()
    predicted(net, x).numpy()  # TL104
    y = predicted(net, x).mean(0)
    np.save("y", y)  # TL104
    predicted_unless_asked(net, x).numpy()  # TL104
    predicted_unless_asked(net, x, as_array=True)
    np.abs(predicted_unless_asked(net, x, as_array=True))
    predicted(frozen, x).numpy()
    predicted(plain, x).numpy()
    under_no_grad(net, x).numpy()
    inside_no_grad(net, x).numpy()
    in_inference(net, x).numpy()
    cut(net, x).numpy()
    sometimes_cut(net, x, unknown()).numpy()
    best(net, x).numpy()
    wrapped(net, x).numpy()
    np.stack([each.detach() for each in one_by_one(net, [x])])
    z = predicted(net, x)
    z = z.detach()
    z.numpy()
    with torch.no_grad():
        z = predicted(net, x)
    z.numpy()
    z = x
    if unknown():
        z = predicted(net, x)
    z.numpy()
    count, loss = summed(net, loader, nn.CrossEntropyLoss())
    np.asarray(loss)  # TL104
    np.asarray(count)
    count, loss = numbers(net, loader, nn.CrossEntropyLoss())
    np.asarray(loss)
    counts, losses = each_sum([net, net], loader, nn.CrossEntropyLoss())
    np.sum([n * value for n, value in zip(counts, losses)])  # TL104
    np.sum([n * 2 for n, value in zip(counts, losses)])
    np.sum(counts)
    with torch.no_grad():
        counts, losses = each_sum([net, net], loader, nn.CrossEntropyLoss())
        np.sum(losses)
    predicted(net.requires_grad_(True), x).detach().numpy()


class Given:
    """Its network has parameters: an optimizer is made for them."""

    def __init__(self, net, optimizer=None):
        self.net = net
        self.other = unknown(net)
        self.optimizer = optimizer or torch.optim.SGD(net.parameters(), lr=0.1)

    def test(self, x):
        self.other(x).numpy()
        return self.net(x).numpy()  # TL104

    def quietly(self, x):
        with torch.no_grad():
            return self.net(x).numpy()


class Asked:
    """What it is given may have no parameters."""

    def __init__(self, net, layer):
        self.net = net
        self.layer = layer
        layer(net)

    def test(self, x):
        return self.layer(x).numpy()


def test_given():
    given = Given(build())
    given.test(torch.ones(3))
    given.quietly(torch.ones(3))
    Asked(build(), build()).test(torch.ones(3))
