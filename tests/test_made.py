"""What a function of the project or a module gives back: whether anybody else refers to that."""

from __future__ import annotations

import pytest

from torchlint.diagnostic import Fixing
from torchlint.file.check import check_text
from torchlint.rules import catalogue
from torchlint.testing.execution import differences, run

CODES = frozenset(catalogue())

MEMORY = """\
import torch


class Memory:
    def __init__(self):
        self.kept = [(torch.ones(1, 2), torch.zeros(1, 2)), (torch.ones(1, 2), torch.ones(1, 2))]

    def push(self, each):
        self.kept.append(each)

    def first(self):
        with torch.no_grad():
            self.kept[0][0].add_(1)

    def sample(self):
        {}


def train(memory):
    w = torch.ones(2, requires_grad=True)
    a, b = memory.sample()
    a = a.data
    loss = (a * w).sum() + b.sum()
    {}
    loss.backward()
    return w.grad


memory = Memory()
memory.push((torch.ones(1, 2), torch.ones(1, 2)))
grad = train(memory)
"""

SAMPLES = {
    "return map(lambda x: torch.cat(x, 0), zip(*self.kept))": True,
    "return [torch.cat(x, 0) for x in zip(*self.kept)]": True,
    "return torch.cat([x for x, _ in self.kept]), torch.stack([x for _, x in self.kept])": True,
    "return self.kept[0]": False,
    "return [x for x in self.kept[0]]": False,
    "return map(lambda x: x.view(-1, 2), self.kept[0])": False,
    "return torch.cat([x for x, _ in self.kept]), self.kept[0][0]": False,
    "yield from self.kept[0]": False,
}


@pytest.mark.parametrize("returned", SAMPLES)
def test_what_a_method_returns(returned: str) -> None:
    for written in ("pass", "memory.first()"):
        text = MEMORY.format(returned, written)
        fixed = check_text(text, "x.py", CODES, Fixing.SAFE).text
        assert ("a.data" not in fixed) is SAMPLES[returned]
        assert differences(run(text), run(fixed)) == []


MODULE = """\
import torch
from torch import nn
from nets import make


class Agent:
    def __init__(self):
        self.net = make()
        self.steps = list(self.net.parameters())
        self.kept = []

    def keep(self, x):
        self.kept.append(x)

    def best(self, state, chosen, targets):
        q = {}
        q = q.data
        q = q.gather(1, chosen)
        return (q.squeeze() * targets).sum()
"""


@pytest.mark.parametrize(("made", "is_safe"), [("self.net(state)", True), ("self.last(state)", False)])
def test_what_a_module_returns(made: str, is_safe: bool) -> None:
    fixed = check_text(MODULE.format(made), "x.py", CODES, Fixing.SAFE).text
    assert ("q.data" not in fixed) is is_safe


OVERRIDDEN = """\
import torch


class Base:
    def sample(self, xs):
        return torch.cat(xs, 0)

    def train(self, xs):
        w = torch.ones(2, requires_grad=True)
        a = {}
        a = a.data
        loss = (a * w).sum()
        self.last.add_(1)
        loss.backward()
        return w.grad


def kept(self, xs):
    self.last = torch.cat(xs, 0)
    return self.last


{}
grad = Sub().train([torch.ones(1), torch.ones(1)])
"""


@pytest.mark.parametrize(
    "written",
    [
        "class Sub(Base):\n    sample = kept",
        "Sub = type('Sub', (Base,), {'sample': kept})",
        "Sub, Base.sample = Base, kept",
    ],
)
@pytest.mark.parametrize("called", ["self.sample(xs)", "Base.sample(self, xs)"])
def test_what_may_be_another_method(called: str, written: str) -> None:
    text = OVERRIDDEN.format(called, written)
    fixed = check_text(text, "x.py", CODES, Fixing.SAFE).text
    before, after = run(text), run(fixed)
    assert before.error is not None or differences(before, after) == []
