# run
"""Modules that `weight_norm` and the like give back: what comes from them has a graph, their weights are no leaves."""

import torch
from torch import nn
from torch.nn.utils import spectral_norm  # TL309
from torch.nn.utils.parametrizations import orthogonal, weight_norm

torch.manual_seed(0)


class Own(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(2, 3))

    def forward(self, x):
        return x @ self.weight.t(), x.detach()


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = weight_norm(nn.Linear(3, 3))
        self.b = spectral_norm(nn.Linear(3, 3))
        self.c = weight_norm(Own())
        self.d = nn.Sequential(weight_norm(nn.Linear(3, 3)), nn.ReLU())
        self.e = orthogonal(nn.Linear(3, 3))
        self.a.weight.fill_(1)
        self.a.bias.data.zero_()  # TL102
        self.b.weight_orig.data.fill_(1)  # TL102

    def forward(self, x):
        x = self.e(self.d(self.b(self.a(x))))
        y, z = self.c(x)
        return x.data.sum() + y.data.sum() + z.numpy().sum()  # TL101 TL101


net = Net()
out = net(torch.ones(1, 3))
try:
    turned = torch.ones(3).flip(0)
    net.d(turned).numpy()  # TL104
except RuntimeError:
    pass
