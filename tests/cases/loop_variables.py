"""Variables of loops that are assigned a tensor which nothing reads; and what is read."""
import torch
import torch.nn as nn
from torch.utils.data import DataLoader


def move(batch: list[torch.Tensor], pairs: dict[str, torch.Tensor], device, net: nn.Module):
    for t in batch:
        t = t.to(device)  # TL404`t = t.to(device)`
    for name, t in pairs.items():
        print(name)
        t = t.cuda().float()  # TL404`t = t.cuda().float()`
    for t in batch:
        if t.ndim == 1:
            t = torch.unsqueeze(t, 0)  # TL404`t = torch`
    for p in net.parameters():
        p = p - 0.1 * p.grad  # TL404`p = p`
    for name, p in net.named_parameters():
        if "bias" in name:
            p = torch.zeros_like(p)  # TL404`p = torch`
    return [t * 2 for t in batch]


def read(batch: list[torch.Tensor], net: nn.Module, device):
    found = []
    for t in batch:
        t = t.to(device)
        found.append(t)
    for t in batch:
        t = t.to(device)
        t += 1
    for t in batch:
        t = t.clone()
    else:
        found.append(t)
    for i, t in enumerate(batch):
        t = t.to(device)
        batch[i] = t
    for p in net.parameters():
        p = p.detach()
        found.append(lambda: p)
    return found


def undone(grads: list[torch.Tensor], device):
    for g in grads:
        g = torch.view_as_real(g)
        g.mul_(2)
        g = torch.view_as_complex(g)
    for g in grads:
        if g.ndim:
            g = torch.zeros(3, device=device)  # TL404`g = torch.zeros`
        else:
            g = g.cpu()  # TL404`g = g.cpu()`


def again(batch: list[torch.Tensor], last: torch.Tensor):
    for _ in range(3):
        print(last)
        for last in batch:
            last = last.to("cpu")


def others(loader: DataLoader, files, net: nn.Module, nets):
    for other in nets:
        other = other.to("cuda")
    for x, y in loader:
        x = x.to("cuda")
        y = y.to("cuda")
        net(x)
    for name in files:
        name = name.type("x")
    for module in net.modules():
        module = module.to("cuda")


def soft_update(net: nn.Module, target: nn.Module, tau):
    for p, q in zip(net.parameters(), target.parameters()):
        q = tau * p + (1 - tau) * q  # TL404`q`
    for i, p in enumerate(net.parameters()):
        p = torch.zeros_like(p)  # TL404`p`


def kept_outside(tensors: list[torch.Tensor]):
    global last
    for last in tensors:
        last = last.clone()


def read_by_name(tensors: list[torch.Tensor]):
    for t in tensors:
        t = t.clone()
        print(locals())


def only_inputs_are_wanted(net: nn.Module, data, device):
    for i, (x, y) in enumerate(DataLoader(data, num_workers=2)):
        x = x.to(device)
        y = y.to(device)
        print(i, net(x))


def clear(gradients: list[torch.Tensor]):
    for gradient in gradients:
        gradient = torch.zeros_like(gradient)  # TL404`gradient`


def parts_of_batches(net: nn.Module, loader: DataLoader, device):
    for batch in loader:
        for t in batch:
            t = t.to(device)  # TL404`t = t.to(device)`
        net(*batch)
    for batch in loader:
        net(*batch)
        for t in batch:
            t = t.to(device)


def warmed_up(net: nn.Linear, x: torch.Tensor, loader, xs):
    for _ in range(10):
        _ = torch.mm(x, x)
    for __ in xs:
        __ = torch.relu(x)
    for i in range(3):
        i = torch.tensor(i)
    for i, y in enumerate(xs):
        i = torch.relu(x) * i
        y = torch.tensor(y)  # TL404`y`
    for y in xs:
        y = torch.zeros(3)
    for y in (x * k for k in range(3)):
        y = y * 2


def in_place(tensors: list[torch.Tensor], net: nn.Module):
    for p in net.parameters():
        p = p.detach().mul_(2).clone()
    for p in net.parameters():
        p = nn.init.zeros_(p)
    for p in net.parameters():
        p = p.requires_grad_(False)
    for p in net.parameters():
        p = doubled(p)
    for t in tensors:
        t = torch.clamp(t, 0, 1, out=t)
    for t in tensors:
        t = torch.nn.functional.relu(t, True)
    for p in net.parameters():
        p = nn.ReLU(inplace=True)(p)


def doubled(p: torch.Tensor):
    return p.mul_(2)


def normalized(n: int, rows: torch.Tensor, net: nn.Module):
    features = [torch.randn(4) for _ in range(n)]
    for f in features:
        f = (f - f.mean()) / f.std()  # TL404`f`
    for row in rows:
        row = row / row.sum()  # TL404`row`
    for w in [net.weight.detach(), torch.ones(2)]:
        w = 0.5 * w  # TL404`w`
    for number in [1.0, 2.0]:
        number = number * 2
    return features, rows


def in_branches(net: nn.Module):
    for name, p in net.named_parameters():
        if name.endswith("bias"):
            p = nn.Parameter(torch.zeros(p.shape))  # TL404`p`
        elif "norm" in name:
            p = torch.ones_like(p)  # TL404`p`
        else:
            nn.init.xavier_uniform_(p)


def called_later(tensors: list[torch.Tensor]):
    calls = []
    for t in tensors:
        calls.append(lambda: t.sum())
        t = t * 2
    return calls
