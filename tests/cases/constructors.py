"""Modules whose constructors keep layers; those of them that come too early, or without the base's."""
import torch
import torch.nn as nn
from torch.nn import Module, Parameter


class Nothing(nn.Module):
    def __init__(self, size):  # TL502`__init__`
        self.size = size
        self.fc = nn.Linear(size, size)


class Typed(Module):
    def __init__(self):  # TL502`__init__`
        self.weight: Parameter = Parameter(torch.zeros(3))


class InABranch(Module):
    def __init__(this, bias):  # TL502`__init__`
        if bias:
            this.bias = Parameter(torch.zeros(3))


class NeverCalled(nn.Module):
    def __init__(self, size):  # TL502`__init__`
        """Two layers."""
        super(NeverCalled, self)
        self.fc = nn.Linear(size, size)


class NeverCalledAtFirst(nn.Module):
    def __init__(self, size):  # TL502`__init__`
        self.size = size
        super()  # nothing
        self.fc = nn.Linear(size, size)


class Two(nn.Module):
    def __init__(self):
        self.a, self.b = nn.Linear(1, 1), nn.Linear(1, 1)  # TL502`self.a, self.b`
        super().__init__()


class Around(nn.Module):
    def __init__(self, inner: nn.Module):  # TL502`__init__`
        self.inner = inner


class Hiding(nn.Module):
    def __init__(self, inner: nn.Module, size: int, other=None):
        self.size = size
        self.other = other


class Proxy:
    def __init__(self, inner: nn.Module):
        self.inner = inner


class Taken(nn.Module):
    def __init__(self):
        base = super()
        base.__init__()
        self.fc = nn.Linear(2, 2)


class TooEarly(nn.Module):
    def __init__(self):
        self.layers = nn.ModuleList()  # TL502`self.layers`
        self.other = nn.Linear(2, 2)
        super(TooEarly, self).__init__()


class Based(Nothing):
    def __init__(self):  # TL502`__init__`
        self.more = nn.Sequential(nn.Linear(2, 2), nn.ReLU()).eval()


class OfALayer(nn.Linear):
    def __init__(self):  # TL502`__init__`
        self.inner = Nothing(3)


class Right(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(2, 2)


class ByName(Right):
    def __init__(self):
        self.size = 3
        Right.__init__(self)
        self.other = nn.Linear(2, 2)


class Helper(nn.Module):
    def __init__(self):
        self._begin()
        self.fc = nn.Linear(2, 2)

    def _begin(self):
        nn.Module.__init__(self)


class ByFunction(nn.Module):
    def __init__(self):
        begin(self)
        self.fc = nn.Linear(2, 2)


def begin(module):
    nn.Module.__init__(module)


class Never(nn.Module):
    def __init__(self):
        raise NotImplementedError
        self.fc = nn.Linear(2, 2)


class Hidden(nn.Module):
    def __init__(self, net):
        self.__dict__["net"] = net
        self.size = int(3)


class OwnAttributes(nn.Module):
    def __setattr__(self, name, value):
        object.__setattr__(self, name, value)

    def __init__(self):
        self.fc = nn.Linear(2, 2)


class Agent:
    def __init__(self):
        self.net = nn.Linear(2, 2)


class Inherited(Right):
    def forward(self, x):
        return self.fc(x)


class Meta(type):
    def __call__(cls, *args, **kwargs):
        made = cls.__new__(cls)
        nn.Module.__init__(made)
        made.__init__(*args, **kwargs)
        return made


class Prepared(nn.Module, metaclass=Meta):
    pass


class OfPrepared(Prepared):
    def __init__(self):
        self.fc = nn.Linear(2, 2)


class Kept(nn.Module):
    def __init__(self):  # TL502`__init__`
        self.fc = nn.Linear(2, 2)


class OfKept(Kept):
    def __init__(self):
        super(OfKept, self).__init__()
        self.more = nn.Linear(2, 2)
