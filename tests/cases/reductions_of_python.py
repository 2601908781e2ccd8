"""Reductions that Python does with tensors; and those that it may do."""
import builtins

import numpy as np
import torch
from torch import Tensor


def reduce(x: Tensor, y: Tensor, sizes: torch.Size):
    a = max(x)  # TL606`max`
    b = min(x * 2)  # TL606`min`
    c = any(x == y)  # TL606`any`
    if not all(torch.isfinite(y)):  # TL606`all`
        return None
    d = sum(torch.arange(10))  # TL606`sum`
    e = sum(x.flatten())  # TL606`sum`
    f = sum(x)  # TL606`sum`
    flat = torch.tensor([1.0, -2.0])
    g = sum(flat)  # TL606`sum`
    return a, b, c, d, e, f, g


def count(loader: torch.utils.data.DataLoader, net):
    right = 0
    for x, y in loader:
        right += sum(net(x).argmax(1) == y)  # TL606`sum`
        right += sum(y == 1)  # TL606`sum`
        right += sum(y)
    return right


def leave(x: Tensor, xs: list[Tensor], pair: tuple[Tensor, Tensor], scores, names, total=sum):
    a = sum(xs) + sum(pair) + sum([x, x]) + sum(t for t in x) + sum(x, x[0])
    b = max(x[0], x[1]) + max(xs, key=len) + max(x, default=0)
    c = any(scores), all(names), sum(x.shape), max(x.size()), sum(x.tolist())
    d = sum(np.ones(3)) + max(x.numpy()) + total(x)
    return a, b, c, d


def of_points(point, size):
    return any(point.ge(0)) or any(point.add(size).le(0))


def max_of(max, x: Tensor):
    return max(x)


def mapped(function):
    return lambda *xs: [function(x) for x in xs]


@mapped
def doubled(x: Tensor):
    return x * 2.0


def of_a_list(x: Tensor):
    both = doubled(x, x)
    return sum(both) + sum(doubled(x, x))


class Net(torch.nn.Module):
    def forward(self, xs):
        return sum(xs)
