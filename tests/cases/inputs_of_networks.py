# run
"""That gradients come back through a network says nothing of what it is given: its parameters require grad."""
import math

import torch
import torch.nn.functional as F
from torch import nn


class Net(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.layer = nn.Linear(width, width)

    def forward(self, x):
        return self.layer(x)


class Scaled(nn.Module):
    def forward(self, x):
        return x * 2


class ContrastiveLoss(nn.Module):
    def forward(self, x, y):
        return (x - y).pow(2).mean()


def schedule(steps, s=0.008):
    x = torch.linspace(0, steps, steps)
    return torch.cos((x / steps + s) / (1 + s) * math.pi * 0.5) ** 2


torch.manual_seed(0)
net = Net(2)
alphas = torch.flip(schedule(2), (0,))
drawn = alphas.numpy().tolist()
loss = F.l1_loss(net(alphas.sqrt() * 2), torch.zeros(2))
loss.backward()

stacked = nn.Sequential(nn.Linear(2, 2), nn.ReLU())
betas = torch.flip(schedule(2), (0,))
shown = betas.numpy().tolist()
F.l1_loss(stacked(betas), torch.zeros(2)).backward()

wrapped = nn.DataParallel(Net(2))
gammas = torch.flip(schedule(2), (0,))
listed = gammas.numpy().tolist()
F.l1_loss(wrapped(gammas), torch.zeros(2)).backward()
