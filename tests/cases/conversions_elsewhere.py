"""Lists that are filled somewhere else than they are converted, and NumPy's functions by other names."""
import matplotlib.pyplot as plt
import numpy as np
import torch
from numpy import array as A
from torch import nn

net = nn.Linear(3, 1)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
a = A(net.weight)  # TL104`A`
b = np.asarray(a=net.weight)  # TL104
c = np.array(object=net.weight, dtype=np.float32)  # TL104
d = np.sum(net.bias, axis=0)


def train(batches):
    losses, numbers, history = [], [], {"loss": [], "count": []}
    for x, y in batches:
        loss = nn.functional.mse_loss(net(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss)  # TL107
        numbers.append(loss.item())
        history["loss"].append(loss)  # TL107
        history["count"].append(len(x))
    plt.plot(history["loss"])  # TL104
    plt.plot(history["count"])
    return losses, numbers


def train_quietly(batches):
    losses = []
    for x, y in batches:
        loss = nn.functional.mse_loss(net(x), y)
        loss.backward()
        losses.append(loss)  # TL107
    losses = [loss.item() for loss in losses]
    return losses


def draw(values, ax):
    ax.plot(values)  # TL104


def draw_numbers(values, ax):
    ax.plot(values)


class Trainer:
    def __init__(self):
        self.history = []
        self.curves = {"loss": [], "step": []}

    def step(self, x, y):
        loss = nn.functional.mse_loss(net(x), y)
        loss.backward()
        self.history.append(loss)  # TL107
        self.curves["loss"].append(loss)  # TL107
        self.curves["step"].append(1)

    def report(self):
        print(np.mean(self.history))  # TL104
        print(np.mean(self.curves["loss"]))  # TL104
        print(np.mean(self.curves["step"]))


def main(batches):
    losses, numbers = train(batches)
    plt.plot(losses)  # TL104
    plt.plot(numbers)
    plt.plot(train_quietly(batches))
    quiet = train_quietly(batches)
    plt.plot(quiet)
    figure, ax = plt.subplots()
    draw(losses, ax)
    draw_numbers(numbers, ax)


def test_rates_of_a_network_that_is_loaded_elsewhere():
    model = load("best.pth")
    model.eval()
    rates, kept = [], []
    for x in batches:
        rate = -model(x).mean()
        rates.append(rate)
        with torch.no_grad():
            kept.append(model(x))
    plt.plot(range(len(rates)), rates)  # TL104
    plt.plot(kept)


def rates_for_whoever_asks(model):
    model.eval()
    rates = []
    for x in batches:
        rates.append(-model(x).mean())
    return np.array(rates)
