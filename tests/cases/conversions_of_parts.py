"""What is computed of the same as a loss that gradients are sent back through, and is converted: priorities, say."""

import numpy as np
import torch
from torch import nn

from elsewhere import build, criticize, target_of


class Replaying:
    """Whether the network has parameters is not seen: the loss shows it, as gradients are sent back through it."""

    def __init__(self, net, criterion, buffer, optimizer):
        self.net = net
        self.criterion = criterion
        self.buffer = buffer
        self.optimizer = optimizer

    def unreduced(self, state, target, weight, is_trained=True):
        loss = -(target * self.net(state).log().cpu())
        loss = loss.sum(dim=1)
        self.buffer.update((torch.abs(loss) + 1e-6).flatten().numpy())  # TL104
        loss = (loss * torch.from_numpy(weight).view([8, 1])).mean()
        if is_trained:
            loss.backward()
        return loss.item()

    def difference(self, state, action, batch):
        value = criticize(state).gather(dim=1, index=action)
        target = target_of(batch)
        loss = self.criterion(value, target.to(value.device)).mean()
        error = torch.sum(torch.abs(value - target), dim=1)
        self.buffer.update(error.flatten().cpu().numpy())  # TL104
        loss.backward()
        self.optimizer.step()

    def parts_of_difference(self, state, action, batch):
        value = criticize(state).gather(dim=1, index=action)
        target = target_of(batch)
        loss = self.criterion(value, target).mean()
        loss.backward()
        self.buffer.update(value.cpu().numpy())  # which of the two it is nobody says
        self.buffer.update(target.cpu().numpy())
        self.buffer.update((value.detach() - target).cpu().numpy())
        self.buffer.update((value > target).cpu().numpy())
        self.buffer.update((value - target).argmax(1).cpu().numpy())

    def bound_in_a_branch(self, state, target, is_plain):
        loss = (target * self.net(state)).sum(dim=1)
        error = np.zeros(3)
        if is_plain:
            error = loss * 2
        self.buffer.update(np.asarray(error))
        loss.mean().backward()

    def bound_before(self, state, target):
        loss = (target * self.net(state)).sum(dim=1)
        error = loss * 2
        halved = error / 2
        self.buffer.update(np.asarray(halved))  # TL104
        loss.mean().backward()

    def cut_between(self, state, target):
        loss = (target * self.net(state)).sum(dim=1)
        error = (loss * 2).detach()
        with torch.no_grad():
            halved = loss / 2
        self.buffer.update(error.numpy(), halved.numpy(), (error / 2).numpy(), loss.long().numpy())
        loss.mean().backward()

    def another_round(self, states, target):
        error = torch.zeros(3)
        for state in states:
            self.buffer.update(error.numpy())
            error = (target * self.net(state)).sum(dim=1)
            error.mean().backward()
            error = error.detach()

    def in_evaluation(self, state, target, is_trained):
        if is_trained:
            value = criticize(state)
            loss = (value - target_of(state)).pow(2).mean()
            loss.backward()
        else:
            with torch.no_grad():
                value = criticize(state)
                loss = (value - target_of(state)).pow(2).mean()
            self.buffer.update((value - target).numpy())
        return loss.item()

    def input_of_a_loss_with_parameters(self, features, labels):
        metric = build()
        loss = metric(features, labels)
        loss.backward()
        self.buffer.update((features - labels).numpy())

    def rounded(self, state, target):
        loss = (target * self.net(state)).sum(dim=1)
        loss.mean().backward()
        self.buffer.update((loss // 2).long().numpy(), loss.shape[0] * np.ones(3))


class Shares(nn.Module):
    def __init__(self):
        super().__init__()
        self.scale = nn.Parameter(torch.ones(3))

    def fit(self, x, y):
        out = build(x)
        loss = ((out - y) * self.scale).sum()
        loss.backward()
        return (out - y).numpy()
