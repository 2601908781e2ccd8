"""In-place operations on leaves that require grad, and what only looks like it."""
import math

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.nn import Parameter


class Detect(nn.Module):
    def __init__(self, layers: int):
        super().__init__()
        self.conv = nn.Conv2d(3, 6, 1)
        self.anchors = torch.ones(3)
        self.scale = Parameter(torch.ones(3))
        self.frozen = Parameter(torch.ones(3), requires_grad=False)
        self.layers = nn.ModuleList(nn.Linear(3, 3) for _ in range(layers))
        self.start()
        self.anchors.mul_(2)
        self.frozen.mul_(2)

    def start(self):
        b = self.conv.bias.view(3, -1)
        b[:, 0] += math.log(8)  # TL108`b[`
        self.conv.weight[0, 0].fill_(1)  # TL108`fill_`
        self.conv.weight[0] = 0  # TL108`self.conv.weight`
        for layer in self.layers:
            layer.bias.zero_()  # TL108`zero_`
            nn.init.zeros_(layer.bias)
            layer.weight.data.normal_()  # TL102

    def forward(self, x):
        x = self.conv(x)
        x[:, 0] = 0
        x += 1
        h = self.scale * 2
        h.mul_(3)
        return F.relu_(x)


def main():
    w = torch.randn(3, requires_grad=True)
    c = torch.randn(3)
    c[0] = 1
    w[1] = 2  # TL108`w[`
    w[c > 0].mul_(2)
    w.view(-1)[0] = 3  # TL108`w.view`
    w.T.add_(1)  # TL108`add_`
    w.detach()[0] = 3
    w.add_(1).sum()  # TL108`add_`
    v = w * 2
    v[0] = 3
    v.sum().backward()
    w -= 0.1 * w.grad  # TL108`w`
    w.grad.zero_()
    with torch.no_grad():
        w -= 0.1
        w[0] = 1
    w = w - 1
    w -= 1


def train(net: nn.Module, batches):
    net.train()
    for x in batches:
        net(x).sum().backward()
        for p in net.parameters():
            p.sub_(0.1 * p.grad)  # TL108`sub_`
            p.grad.zero_()
        for p in net.parameters():
            p.requires_grad_(True)
            p.grad -= 1
        with torch.no_grad():
            for name, p in net.named_parameters():
                p.add_(1)


@torch.no_grad()
def average(model: nn.Linear, other: nn.Linear):
    model.weight.mul_(0.9).add_(other.weight)
    model.bias += other.bias


def called_under_no_grad(model: nn.Linear):
    model.weight.mul_(0.9)


with torch.no_grad():
    called_under_no_grad(nn.Linear(3, 3))

net = nn.Linear(2, 2)
net.weight.copy_(torch.eye(2))  # TL108`copy_`
net.bias.requires_grad = False
net.bias += 1
try:
    net.weight.zero_()
except RuntimeError:
    pass
main()


frozen = nn.Linear(2, 2)
frozen.weight = nn.Parameter(torch.zeros(2, 2))
frozen.requires_grad_(False)
frozen.weight.add_(1)
kept = nn.Linear(2, 2)
kept.weight.requires_grad_(False)
kept.weight.add_(1)
kept.bias.add_(1)  # TL108`add_`
part = kept.weight
part.add_(1)
