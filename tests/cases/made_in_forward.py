"""Layers and parameters that are made in `forward`; and what may be made there."""
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.nn import Conv2d as Conv
from torch.nn import Parameter


class Block(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.fc = nn.Linear(size, size)

    def forward(self, x):
        return self.fc(x)


class Scale(nn.Module):
    def __init__(self, by):
        super().__init__()
        self.by = by

    def forward(self, x):
        return self.by * x


class Net(nn.Module):
    def forward(self, x):
        x = Block(x.shape[1])(x)  # TL506`Block`
        x = nn.Linear(x.shape[1], 4).to(x.device)(x)  # TL506`nn.Linear`
        if x.ndim > 3:
            conv = Conv(3, 3, 1).cuda()  # TL506`Conv`
            x = conv(x) + conv(x)
        x = nn.Sequential(nn.ReLU(), nn.Linear(4, 4))(x)  # TL506`nn.Sequential`
        return self.head(Scale(2)(x)) + self.tail(x)

    def head(self, x):
        w = Parameter(torch.randn(4))  # TL506`Parameter`
        b = nn.Parameter(torch.zeros(4), requires_grad=True)  # TL506`nn.Parameter`
        return F.layer_norm(x * w, (4,), bias=b)

    def tail(self, x):
        def inner(y):
            return nn.Linear(4, 4)(y)

        return F.linear(
            nn.Linear(  # TL506`nn.Linear`
                4, 4
            )(x),
            weight=nn.Parameter(torch.ones(4, 4)),  # TL506`nn.Parameter`
        )


class Kept(nn.Module):
    def __init__(self):
        super().__init__()
        self.build()
        self.cache = {}

    def build(self):
        self.prepare(nn.Linear(2, 2))

    def prepare(self, layer):
        probe = nn.Linear(2, 2)
        return probe(torch.ones(1, 2)) + layer(torch.ones(1, 2))

    def forward(self, x):
        self.prepare(None)
        if not hasattr(self, "late"):
            self.late = nn.Linear(2, 2)
            layer = nn.Linear(2, 2)
            self.add_module("more", layer)
        key = x.shape
        if key not in self.cache:
            self.cache[key] = nn.Linear(2, 2)
        made = nn.Linear(2, 2)
        self.cache[0] = made
        fixed = nn.Conv2d(1, 1, 3)
        nn.init.constant_(fixed.weight, 0.1)
        copied = nn.Linear(2, 2)
        copied.load_state_dict(self.late.state_dict())
        weight = nn.Parameter(torch.zeros(2))
        self.weight = weight
        self.register_parameter("bias", nn.Parameter(torch.zeros(2)))
        lost = nn.CrossEntropyLoss()(x, x) + nn.Softmax(dim=1)(x).sum()
        pooled = nn.Sequential(self.late, nn.ReLU(), nn.AdaptiveAvgPool2d(1))(x)
        return copied(fixed(pooled)) + lost

    def make_layers(self):
        return nn.Linear(2, 2)(torch.ones(1, 2))


class Recurrent(nn.Module):
    def __init__(self):
        super().__init__()
        self.gru = nn.GRU(3, 4, dropout=0x1)  # TL512`dropout`
        self.lstm = nn.LSTM(3, 4, 1, dropout=0)

    def forward(self, x):
        return F.dropout(self.gru(x)[0], 0x0) + F.dropout(self.lstm(x)[0], 0x1)  # TL507`F.dropout`


class Agent:
    def forward(self, x):
        return nn.Linear(2, 2)(x)


class WithoutWeights(nn.Module):
    def forward(self, x, affine):
        x = nn.LayerNorm(x.shape[-1], elementwise_affine=False)(x)
        x = nn.BatchNorm1d(3, affine=False, track_running_stats=False)(x)
        x = nn.InstanceNorm1d(3)(x)
        x = nn.BatchNorm1d(3, affine=affine)(x)
        return nn.InstanceNorm1d(3, affine=True)(x)  # TL506`nn.InstanceNorm1d`
