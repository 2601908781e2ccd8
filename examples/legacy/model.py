"""The networks, and how their weights start."""
import math

import torch
import torch.nn as nn
from torch.autograd import Variable


def weights_init(m):
    classname = m.__class__.__name__
    if classname.find('Linear') != -1:
        m.weight.data.normal_(0.0, 0.2)
        m.bias.data.fill_(0)
    elif classname.find('BatchNorm') != -1:
        m.weight.data.normal_(1.0, 0.02)
        m.bias.data.zero_()


def repackage_hidden(h):
    """Wraps hidden states in new Variables, to detach them from their history."""
    if isinstance(h, Variable):
        return Variable(h.data)
    else:
        return tuple(repackage_hidden(v) for v in h)


class Generator(nn.Module):
    def __init__(self, nz=4, nh=64):
        super(Generator, self).__init__()
        self.main = nn.Sequential(
            nn.Linear(nz, nh),
            nn.BatchNorm1d(nh),
            nn.ReLU(inplace=True),
            nn.Linear(nh, 2),
        )

    def forward(self, input):
        return self.main(input)


class Discriminator(nn.Module):
    def __init__(self, nh=64):
        super(Discriminator, self).__init__()
        self.main = nn.Sequential(
            nn.Linear(2, nh),
            nn.LeakyReLU(0.2, inplace=True),
            nn.Linear(nh, 1),
            nn.Sigmoid(),
        )

    def forward(self, input):
        return self.main(input).view(-1)


class Noise(nn.Module):
    """Adds a learnt amount of noise while training."""

    def __init__(self, nhid):
        super(Noise, self).__init__()
        self.sigma = nn.Parameter(torch.Tensor(nhid))
        self.reset_parameters()

    def reset_parameters(self):
        stdv = 1.0 / math.sqrt(self.sigma.data.size(0))
        self.sigma.data.uniform_(0, 0.1 * stdv)

    def forward(self, input):
        if not self.training:
            return input
        noise = Variable(input.data.new(input.data.size()).normal_())
        return input + noise * self.sigma


class RNNModel(nn.Module):
    def __init__(self, nhid=24):
        super(RNNModel, self).__init__()
        self.rnn = nn.LSTM(1, nhid)
        self.noise = Noise(nhid)
        self.decoder = nn.Linear(nhid, 1)
        self.nhid = nhid
        self.init_weights()

    def init_weights(self):
        initrange = 0.1
        self.decoder.bias.data.fill_(0)
        self.decoder.weight.data.uniform_(-initrange, initrange)
        for name, p in self.rnn.named_parameters():
            if 'weight_hh' in name:
                nn.init.orthogonal_(p.data)

    def forward(self, input, hidden):
        output, hidden = self.rnn(input, hidden)
        return self.decoder(self.noise(output)), hidden

    def init_hidden(self, bsz):
        weight = next(self.parameters()).data
        return (Variable(weight.new(1, bsz, self.nhid).zero_()),
                Variable(weight.new(1, bsz, self.nhid).zero_()))
