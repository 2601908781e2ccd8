"""Conversions to NumPy that aren't written `.numpy()`, and what proves that they raise."""

import matplotlib.pyplot
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import torch
import torchvision
from torch import nn

net = nn.Linear(3, 1)
frozen = nn.Linear(3, 1)
frozen.requires_grad_(False)
x = torch.ones(2, 3)
y = net(x)
plt.plot(y)  # TL104
matplotlib.pyplot.plot(y)  # TL104
plt.plot(range(2), y)  # TL104
plt.plot(range(2), y, "r")  # TL104
plt.plot(range(2), y.detach(), "r")
plt.plot(range(2), y.tolist())
np.round(y)  # TL104
np.mean([y[0], 1.0])  # TL104
np.mean([v.sum() for v in y])  # TL104
np.mean([v.item() for v in y])
np.stack((y[0], y[1]))  # TL104
np.array(range(3))
np.save("y.npy", y)  # TL104
pd.DataFrame({"y": [y]})
print(f"{y}", float(y.sum()), np.argmax(y.argmax(0)))
plt.plot(frozen(x))
frozen.weight.numpy()
fig, axes = plt.subplots(2)
axes[0].scatter(range(2), y)  # TL104
axes[0].set_title(y)
line = axes[1].plot([1], [2])[0]
line.set_ydata(y)
history = np.plot(y)
scale = np.ones((2, 1))
_ = y * scale  # TL104
_ = y - scale  # TL104
_ = scale / y  # TL104
_ = y**scale  # TL104
_ = y @ scale  # TL104
_ = y == scale
_ = y * scale.sum()
_ = y * np.sqrt(2)
_ = y * torch.as_tensor(scale)
_ = y.detach() * scale
_ = 2 / y


def fit(model, criterion, optimizer, loader, scaler):
    losses, numbers, sums = [], [], []
    for a, b in loader:
        out = model(a)
        loss = criterion(out, b)
        optimizer.zero_grad()
        scaler.scale(loss).backward()
        optimizer.step()
        losses.append(loss)  # TL107
        numbers.append(loss.item())
        sums.append(loss.detach())
    plt.plot(losses)  # TL104
    plt.plot(numbers)
    plt.plot(sums)
    return np.mean(numbers)


class Trainer:
    def __init__(self, model):
        self.model = model
        self.losses = []
        self.numbers = []

    def step(self, a, b):
        loss = nn.functional.mse_loss(self.model(a), b)
        loss.backward()
        self.losses.append(loss)  # TL107
        self.numbers.append(float(loss))
        return loss.cpu().numpy()  # TL104

    def plot(self, ax):
        ax.plot(self.losses)  # TL104
        ax.plot(self.numbers)

    def evaluate(self, a):
        return self.model(a).numpy()

    @torch.no_grad()
    def predict(self, a):
        return self.model(a).numpy()


def run_epoch(model, loader, optimizer=None):
    found = []
    for a, b in loader:
        loss = nn.functional.mse_loss(model(a), b)
        if optimizer is not None:
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        else:
            found.append(loss.numpy())
    return found


class Head(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(3, 3)
        self.register_buffer("mean", torch.zeros(3))

    def show(self):
        plt.imshow(self.fc.weight)  # TL104
        return self.mean.numpy(), self.fc.weight.grad.numpy()


def pretrained():
    return torchvision.models.resnet18(weights="DEFAULT")


resnet = pretrained().eval()
resnet(x).cpu().numpy()  # TL104
with torch.no_grad():
    resnet(x).cpu().numpy()
