# run
"""Names of torch that a module has later, or for type checkers only."""
from typing import TYPE_CHECKING

from torch import nn, ones

if TYPE_CHECKING:
    from torch.nn import init

w = ones(2, requires_grad=True)
w.data.add_(1)  # TL102
import torch

w.data.add_(1)  # TL102
net = nn.Linear(2, 2)


def init_weights(m: "nn.Linear"):
    m.weight.data.fill_(1)  # TL102
    if TYPE_CHECKING:
        init.constant_(m.bias.data, 1)  # TL101


init_weights(net)
loss = (net(w) * 2).sum()
loss.backward()
