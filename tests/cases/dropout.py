"""Dropout that does not follow the mode of its module, and what only looks like it."""
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.nn import Dropout as Drop
from torch.nn.functional import dropout
from torch.nn.functional import dropout as d


class Base(nn.Module):
    def __init__(self, p=0.1, train_always=False):
        super().__init__()
        self.p = p
        self.train_always = train_always
        self.layer = nn.Dropout(p)
        self.made = None

    def block(self, x):
        return F.dropout(x, p=self.p)  # TL507`F.dropout`

    def unused(self, x):
        return F.dropout(x, p=self.p)

    def forward(self, x):
        def inner(y):
            return dropout(y, self.p)  # TL507`dropout`

        x = d(inner(x))  # TL507`d(`
        x = Drop(p=self.p)(x)  # TL507`Drop`
        drop = nn.Dropout2d(0.1)  # TL507`nn.Dropout2d`
        x = drop(x)
        return self.block(x)


class Sub(Base):
    def block(self, x):
        x = F.dropout(  # TL507`F.dropout`
            x,
            0.2,
        )
        return self.layer(x)


class Fine(nn.Module):
    def __init__(self, p):
        super().__init__()
        self.p = p
        self.cache = {}

    def forward(self, x, training=False):
        p = self.p if self.training else 0.0
        x = F.dropout(x, p)
        x = F.dropout(x, self.p, self.training)
        x = F.dropout(x, self.p, training=training)
        x = F.dropout(x, self.p, True)
        x = F.dropout(x, 0)
        x = F.dropout(x, *self.options())
        x = F.feature_alpha_dropout(x, self.p)
        x = F.dropout(x) if self.training and self.p else x
        x = self.training and F.dropout(x) or x
        self.drop = nn.Dropout(self.p)
        self.cache["drop"] = nn.Dropout(self.p)  # TL503
        if self.training:
            for _ in range(2):
                x = F.dropout(x, self.p)
        return self.drop(x)

    def options(self):
        return self.p, self.training


class Returns(nn.Module):
    def forward(self, x):
        if not self.training:
            return x
        return F.dropout(x, 0.3)


class Plain:
    def forward(self, x):
        return F.dropout(x, 0.3)


class DecoderPrenet(nn.Module):
    def forward(self, x):
        return F.dropout(x, 0.5)


def dropped(x: torch.Tensor):
    return F.dropout(x, 0.5), nn.Dropout(0.5)(x)


class SetsMode(nn.Module):
    def forward(self, x):
        first = nn.Dropout(0.5)
        first.train(self.training)
        second = nn.Dropout(0.5)
        second.training = self.training
        third = nn.Dropout(0.5)  # TL507`nn.Dropout`
        return third(second(first(x)))


class RateOfMode(nn.Module):
    def __init__(self, rate):
        super().__init__()
        self.rate = rate

    def forward(self, x):
        if not self.training:
            rate = 0.0
        else:
            rate = self.rate
        return F.dropout(x, rate)


class RateOfSize(nn.Module):
    def forward(self, x):
        if x.ndim > 2:
            rate = 0.1
        else:
            rate = 0.2
        return F.dropout(x, rate)  # TL507`F.dropout`


class Drops(nn.Module):
    def drop(self, x):
        return F.dropout(x, 0.5)  # TL507`F.dropout`

    def other(self, x):
        return F.dropout(x, 0.5)

    def twice(self, x):
        return F.dropout(x, 0.5)


class Dropping(Drops):
    def twice(self, x):
        return x

    def forward(self, x):
        return self.twice(self.drop(x))
