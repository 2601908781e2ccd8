"""What methods give that send their loss back, converted by others: that these ran shows that autograd records."""

import matplotlib.pyplot as plt
import numpy as np
import torch
from torch import nn
from torch.distributions import Categorical

from elsewhere import chosen


class Agent:
    def __init__(self, name):
        self.net = chosen(name)
        self.optimizer = torch.optim.Adam(self.net.parameters())
        self.criterion = nn.MSELoss()

    def learn(self, batch):
        loss = self.criterion(self.net(batch.x), batch.y)
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        return loss

    def learn_if(self, batch, train):
        loss = self.criterion(self.net(batch.x), batch.y)
        if train:
            loss.backward()
        return loss

    def learn_late(self, batch):
        loss = self.criterion(self.net(batch.x), batch.y)
        if batch.is_last:
            return loss
        loss.backward()
        return loss

    @torch.enable_grad()
    def learn_anyway(self, batch):
        loss = self.criterion(self.net(batch.x), batch.y)
        loss.backward()
        return loss

    def learn_with(self, batch):
        with torch.enable_grad():
            loss = self.criterion(self.net(batch.x), batch.y)
            loss.backward()
        return loss

    def learn_twice(self, batch):
        self.learn(batch)
        return self.learn(batch)

    def fit(self, batches):
        losses = []
        for batch in batches:
            losses.append(self.learn(batch))  # TL107
        return np.array(losses)  # TL104

    def fit_twice(self, batches):
        losses = [self.learn_twice(batch) for batch in batches]
        plt.plot(losses)  # TL104
        return self.net(batches[0].x).numpy()  # TL104

    def fit_detached(self, batches):
        losses = [self.learn(batch).detach() for batch in batches]
        plt.plot(losses)

    def check(self, batches):
        losses = [self.learn_if(batch, train=False) for batch in batches]
        plt.plot(losses)

    def check_late(self, batches):
        losses = [self.learn_late(batch) for batch in batches]
        plt.plot(losses)

    def explain(self, batch):
        self.learn_anyway(batch)
        self.learn_with(batch)
        return self.net(batch.x).numpy()

    def act(self, batch):
        return self.net(batch.x).numpy()

    @torch.no_grad()
    def show(self, batch):
        self.learn_with(batch)
        plt.plot(self.net(batch.x))


def play(actor: nn.Linear, batches):
    optimizer = torch.optim.SGD(actor.parameters(), lr=0.1)
    for batch in batches:
        choice = Categorical(logits=actor(batch))
        loss = -choice.log_prob(choice.sample()).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print(choice.probs.numpy(), choice.mean.numpy(), choice.sample().numpy())  # TL104
