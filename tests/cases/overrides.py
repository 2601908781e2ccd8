# run
"""Methods whose results stay what they are: nothing overrides them, or what does so gives the same."""
import functools

import torch
from torch.autograd import Variable  # TL201


class Base:
    def start(self):
        return torch.zeros(2)

    def other(self):
        return torch.ones(2)

    def plain(self):
        return Variable(self.start())  # TL201

    def also(self):
        return Variable(self.other())  # TL201


class Heir(Base):
    def other(self):
        return torch.full((2,), 3.0)


class Learned(Heir):
    def __init__(self):
        self.w = torch.ones(2, requires_grad=True)

    def end(self):
        return self.w * 2


def timed(f):
    @functools.wraps(f)
    def inner(*args, **kwargs):
        out = f(*args, **kwargs)
        return out

    return inner


@timed
def noise(n):
    return torch.zeros(n)


@functools.lru_cache(None)
def known(n):
    return torch.zeros(n)


base = Base()
a = Learned().plain() * 2
b = Heir().also() * 2
c = Variable(noise(2)) * 2  # TL201
d = Variable(known(2)) * 2  # TL201
