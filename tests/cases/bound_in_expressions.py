"""What `:=` binds is followed as what a statement binds."""

import matplotlib.pyplot as plt
import numpy as np
import torch
from torch import nn

net = nn.Linear(3, 2)
x = torch.ones(1, 3)


def fit():
    losses = []
    for _ in range(3):
        loss = net(x).mean()
        loss.backward()
        losses.append(loss)  # TL107
    return {"loss": losses}


if (out := net(x)) is not None:
    out.numpy()  # TL104
if history := fit():
    plt.plot(history["loss"])  # TL104
print((y := net(x)).numpy(), y.numpy())  # TL104 TL104
if (scale := np.ones(2)) is not None:
    _ = net(x) * scale  # TL104
if (model := nn.Linear(3, 3)) and x is not None:
    model(x).sum().numpy()  # TL104


def load(path):
    if (state := torch.load(path)) is not None:  # TL701
        net.load_state_dict(state)


def load_part(path):
    if "model" in (state := torch.load(path)):  # TL701
        state = state["model"]
    net.load_state_dict(state)


def load_object(path):
    if (saved := torch.load(path, weights_only=True)) is not None:
        return saved.net(x)


def train(loader, criterion):
    for a, b in loader:
        if (optimizer := torch.optim.SGD(net.parameters(), 0.1)) is not None:
            criterion(net(a), b).backward()
            optimizer.step()
