"""What is converted and has no graph, beside the same that has one: lists, distributions, branches, functions of NumPy."""

import functools

import matplotlib.pyplot as plt
import numpy as np
import torch
from torch import nn
from torch.distributions import Normal, Poisson

net = nn.Linear(3, 3)
points = torch.ones(4, 3)

guesses = net(points)
guesses.sum().backward()
guesses = []


def guess(x):
    with torch.no_grad():
        guesses.append(net(x))
    plt.plot(guesses[-1].numpy())
    spread = torch.stack(guesses).var(dim=0)
    return spread.sqrt().numpy()


guess(points)


class Counts(nn.Module):
    def __init__(self):
        super().__init__()
        self.rate = nn.Linear(3, 3)

    def forward(self, x):
        return Poisson(self.rate(x).exp())


class Prior(nn.Module):
    def __init__(self):
        super().__init__()
        self.mean = nn.Parameter(torch.zeros(3))

    def forward(self):
        return Normal(self.mean, 1.0)


counts, prior = Counts(), Prior()
with torch.no_grad():
    unrecorded = counts(points)
    of_parameters = prior()
plt.plot(unrecorded.log_prob(points).exp().numpy())
plt.plot(of_parameters.log_prob(points).numpy())  # TL104`numpy`
plt.plot(counts(points).log_prob(points).numpy())  # TL104`numpy`


class Sorter(nn.Module):
    """In evaluation the order is chosen where autograd sees nothing of it."""

    def __init__(self):
        super().__init__()
        self.scores = nn.Linear(3, 3)

    def forward(self, x):
        scores = self.scores(x)
        if self.training:
            order = scores.softmax(-1)
        else:
            order = torch.stack([torch.from_numpy(np.eye(3)[row]) for row in scores.detach().argmax(-1).numpy()])
        rows = torch.einsum("bp,bp->b", (order.float(), x)).contiguous()
        return rows, order


class Smoother(nn.Module):
    """Both ways are recorded."""

    def __init__(self):
        super().__init__()
        self.scores = nn.Linear(3, 3)

    def forward(self, x):
        scores = self.scores(x)
        if self.training:
            order = scores.softmax(-1)
        else:
            order = scores.sigmoid()
        return order * x


sorter, smoother = Sorter(), Smoother()
sorter.eval()
rows, _ = sorter(points)
plt.plot(rows.numpy())
plt.plot(smoother(points).numpy())  # TL104`numpy`


def running_mean(values, width):
    total = np.cumsum(np.insert(values, 0, 0))  # TL104`np.insert(values`
    return (total[width:] - total[:-width]) / float(width)


optimizer = torch.optim.Adam(net.parameters())
losses = []
for _ in range(10):
    loss = net(points).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    losses.append(loss)  # TL107
plt.plot(running_mean(losses, 3))


def without_grad(function):
    @functools.wraps(function)
    def run(*args):
        with torch.no_grad():
            return function(*args)

    return run


class Setup:
    def __init__(self, model, loader):
        @without_grad
        def _forward_model(x):
            return model(x)

        self.forward_model = _forward_model
        self.forward = lambda x: model(x)
        self.loader = loader


class Validator:
    def __init__(self):
        self.criterion = nn.MSELoss()

    def compare(self, prediction, target):
        loss = self.criterion(prediction, target)
        return loss


def validate(setup: Setup, validator: Validator):
    total = 0.0
    for batch in setup.loader:
        loss = validator.compare(setup.forward_model(batch["x"]), batch["y"])
        total += loss / len(batch)
    print(total)


def validate_with_graph(setup: Setup, validator: Validator):
    total = 0.0
    for batch in setup.loader:
        loss = validator.compare(setup.forward(batch["x"]), batch["y"])
        total += loss / len(batch)  # TL107`total`
    print(total)
