"""Losses that are plotted or summed by NumPy, as scripts and notebooks do it."""

import matplotlib.pylab as plt
import numpy as np
import torch
from scipy import sparse
from torch import nn
from torch.autograd import backward

from elsewhere import batches, target, unknown


class Charbonnier(nn.Module):
    def forward(self, x, y):
        diff = x - y
        return torch.mean(torch.sqrt(diff * diff + 1e-6))


class Accuracy(nn.Module):
    def forward(self, x, y):
        return torch.mean(torch.eq(x.argmax(1), y).float())


def squared(prediction, target):
    return torch.mean((prediction - target) ** 2)


def cut(prediction, target):
    error = torch.abs(prediction.detach() - target)
    return torch.mean(error)


def scaled(prediction, weight):
    scale = torch.zeros_like(prediction)
    return torch.mean(scale * weight)


net = nn.Linear(3, 3)
criterion = Charbonnier()
accuracy = Accuracy()
losses = []
for x, y in batches:
    out = net(x)
    loss = criterion(out, y)
    loss.backward()
    losses.append(loss)  # TL107
plt.plot(range(len(losses)), losses)  # TL104
out = net(torch.ones(2, 3))

np.sum([criterion(out, target) for _ in range(3)])  # TL104
np.sum([squared(out, target) for _ in range(3)])  # TL104
np.sum([accuracy(out, target) for _ in range(3)])
np.sum([cut(out, target) for _ in range(3)])
np.sum([scaled(out, target) for _ in range(3)])


history = []
leaf = torch.randn(3, requires_grad=True)
for x in batches:
    error = torch.sum(x - unknown(leaf))
    history.append(error)  # TL107
    backward(error)
plt.plot(history)  # TL104
edges = sparse.csr_matrix([[0, 1], [1, 0]])
_ = edges * net.weight  # TL104
_ = edges @ net.weight  # TL104
_ = edges * net.weight.detach()
_ = edges * 2
_ = sparse.eye(3) @ net.weight  # TL104
_ = target @ net.weight
