# run
"""A class of tensors whose `data` or `detach` is its own: what they do is not known."""

import torch
from torch import nn


class Quantized(nn.Parameter):
    def __new__(cls, data, requires_grad=True):
        self = torch.Tensor._make_subclass(cls, data, requires_grad)
        self._data = data.int()
        return self

    @property
    def data(self):
        return self._data

    def first(self):
        return self.data[0], self.detach().numpy()


class Finer(Quantized):
    pass


class Kept(torch.Tensor):
    detach = torch.Tensor.clone


class Named(torch.Tensor):
    def named(self):
        return "a name"


class Layer(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = Finer(torch.tensor([1.5, 2.5]))
        self.bias = nn.Parameter(torch.zeros(2))

    def forward(self, x):
        return x * self.weight.data + self.bias.data  # TL101


def read(w: Quantized, n: Named):
    return w.data.sum().item(), n.data.sum().item()  # TL101


def cut(k: Kept):
    return k.cpu().detach().requires_grad


layer = Layer()
kind = layer.weight.data.dtype
given = layer(torch.ones(2))
seen = read(layer.weight, torch.ones(2).as_subclass(Named))
kept = torch.ones(2, requires_grad=True).as_subclass(Kept)
has_graph = cut(kept)
parts = layer.weight.first()[0]
