# run
"""What a network hands on as it was given, or takes from what was cut, is no output that requires grad."""

import torch
from torch import nn
from torch.autograd import Variable  # TL201


def greedy(jmax, q):
    values, actions = jmax(Variable(q.data.clone()), 1)  # TL201 TL101
    return actions.data, values.data


class Inner(nn.Module):
    def __init__(self, jmax):
        super().__init__()
        self.l = nn.Linear(2, 2)
        self.jmax = jmax

    def forward(self, s, actions, greedy_acts=False):
        q = self.l(s)
        if greedy_acts:
            actions, _ = greedy(self.jmax, q)
        return actions, q


class Net(nn.Module):
    def __init__(self, jmax):
        super().__init__()
        self.mods = nn.ModuleList([Inner(jmax), Inner(jmax)])

    def forward(self, s, actions, greedy_acts=False):
        return self.mods[0](s, actions, greedy_acts)


class Agent:
    def __init__(self):
        self.net = Net(lambda q, dim: q.max(dim))

    def act(self, s):
        actions, q = self.net(s, None, greedy_acts=True)
        return actions.cpu().numpy()

    def train(self, s):
        opt = torch.optim.SGD(self.net.parameters(), lr=0.1)
        self.act(s)
        _, q = self.net(s, None)
        q.sum().backward()
        opt.step()


Agent().train(torch.ones(1, 2))
