"""Tensors that modules keep without registering them; which of them stay behind when the module moves."""
import numpy as np
import torch
import torch.nn as nn
from torch import linspace


class Left(nn.Module):
    def __init__(self, size):
        super(Left, self).__init__()
        self.weights = torch.eye(size)  # TL505`self.weights`
        self.steps = linspace(0, 1, size)  # TL505`self.steps`
        self.table = torch.zeros((size, size))  # TL505`self.table`
        self.kernel = torch.ones(1, 1, 3, 3)  # TL505`self.kernel`
        self.mask = torch.tril(torch.ones(size, size))  # TL505`self.mask`

    def forward(self, x, lengths=None):
        x = x @ self.weights + x[:, 0] * self.steps[None]
        if lengths is not None:
            x = torch.where(self.table, lengths, x) + lengths.masked_fill(self.mask, 0)
        return nn.functional.conv2d(x, self.kernel)


class Right(nn.Module):
    def __init__(self, size, device):
        super().__init__()
        self.scalar = torch.tensor(0.5)
        self.there = torch.zeros(size, device=device)
        self.moved = torch.zeros(size).to(device)
        self.array = np.zeros(size)
        self.weight = nn.Parameter(torch.zeros(size))
        self.free = torch.zeros(size, requires_grad=True)
        self.index = torch.arange(size)
        self.later = torch.zeros(size)
        self.register_buffer("buffer", torch.zeros(size))
        self.apart = torch.zeros(size)

    def forward(self, x):
        self.later = self.later.to(x)
        y = x * self.scalar + self.there + self.moved + torch.from_numpy(self.array)
        return y + x * self.weight + x * self.free + x.expand_as(self.index) + self.later + x * self.buffer

    def other(self, x):
        return x * self.apart


class Moves(nn.Module):
    def __init__(self):
        super().__init__()
        self.mean = torch.zeros(3)

    def _apply(self, fn):
        self.mean = fn(self.mean)
        return super()._apply(fn)

    def forward(self, x):
        return x - self.mean


class Plain:
    def __init__(self):
        self.mean = torch.zeros(3)

    def forward(self, x):
        return x - self.mean
