# run
"""A parameter of integers can never require grad: what writes to it needs no block, and no `.data`."""

import torch
from torch import nn


class Begun(nn.Module):
    def __init__(self):
        super().__init__()
        self.begun = nn.Parameter(torch.tensor(0, dtype=torch.uint8), requires_grad=False)
        self.steps = nn.Parameter(torch.zeros(2, dtype=torch.long), requires_grad=False)

    def __call__(self, x):
        self.begun.data[...] = 1  # TL102`data`
        self.steps.data.add_(2)  # TL102`data`
        return super().__call__(x)

    def forward(self, x):
        return x * self.steps


net = Begun()
w = torch.ones(2, requires_grad=True)
net(w).sum().backward()
begun, steps, grad = net.begun.item(), net.steps.tolist(), w.grad
