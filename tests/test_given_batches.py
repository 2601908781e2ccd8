"""What all calls in a project give a batch of a loader needs no detach; one other use of the function, and it does."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Write = Callable[[dict[str, str]], Any]
Torchlint = Callable[..., Any]

STEPS = """\
from torch.autograd import Variable


class Steps(object):
    def step(self, batch, label, more):
        if self.cuda:
            batch = batch.cuda()
        batch = Variable(batch)
        first, second = more
        parts = [Variable(first), Variable(second[0].cuda())]
        return self.model(batch, *parts), Variable(label)
"""
PLAIN = """\
class Steps(object):
    def step(self, batch, label, more):
        if self.cuda:
            batch = batch.cuda()
        first, second = more
        parts = [first, second[0].cuda()]
        return self.model(batch, *parts), label
"""
DETACHED = """\
class Steps(object):
    def step(self, batch, label, more):
        if self.cuda:
            batch = batch.cuda()
        batch = batch.detach()
        first, second = more
        parts = [first.detach(), second[0].cuda().detach()]
        return self.model(batch, *parts), label.detach()
"""
EPOCH = """\
from steps import Steps


def epoch(steps, train_loader, net):
    for batch, label, more in train_loader:
        steps.step(batch, label, more)
"""
OTHERS = {
    "nobody else": ("", PLAIN),
    "another loop": (
        "def f(steps, test_loader):\n    for a, b, c in test_loader:\n        steps.step(label=b, more=c, batch=a)\n",
        PLAIN,
    ),
    "one who hands it on": (
        "from steps import Steps\n\n\nclass Other(Steps):\n"
        "    def step(self, batch, label, more):\n        return super().step(batch, label, more)\n",
        PLAIN,
    ),
    "a function of that name": ("def step(x):\n    return x\n\n\nstep(1)\n", PLAIN),
    "what has a graph": ("def f(steps, x, net):\n    steps.step(net(x), net(x), [net(x)])\n", DETACHED),
    "a method that is handed on": ("def f(steps, items):\n    return map(steps.step, items)\n", DETACHED),
    "a text": ("def f(steps, x):\n    return getattr(steps, 'step')(x, x, [x])\n", DETACHED),
    "a star": ("def f(steps, x):\n    return steps.step(*x)\n", DETACHED),
    "another name in the body of a class": (
        "from steps import Steps\n\n\nclass Other(Steps):\n    def step(self, *all):\n        pass\n\n    run = step\n",
        DETACHED,
    ),
    "a loader's batch that is changed": (
        "def f(steps, test_loader):\n    for a, b, c in test_loader:\n        a.requires_grad_()\n"
        "        b.add_(steps.weight)\n        steps.step(a, b, steps.weight)\n",
        DETACHED,
    ),
}


def _fixed(text: str, write: Write, torchlint: Torchlint, other: str = "") -> str:
    write({"pyproject.toml": "", "steps.py": text, "epoch.py": EPOCH, "other.py": other})
    torchlint("check", "--isolated", "--no-cache", "--fix", "--unsafe-fixes", "--select", "TL101,TL201", "steps.py")
    return Path("steps.py").read_text(encoding="utf-8").lstrip("\n")


@pytest.mark.parametrize("name", OTHERS)
def test_batches_that_all_calls_give(name: str, write: Write, torchlint: Torchlint) -> None:
    other, wanted = OTHERS[name]
    assert _fixed(STEPS, write, torchlint, other) == wanted


BODIES = {
    "what is written to": ("x = Variable(batch)\n        batch[0] = self.model(label)\n", "x = batch.detach()"),
    "what is added to": ("x = Variable(batch)\n        batch += self.model(label)\n", "x = batch.detach()"),
    "what is asked to require grad": ("x = Variable(batch)\n        x.requires_grad_()\n", "x = batch.detach()"),
    "what stands for something else": (
        "batch = self.model(batch)\n        x = Variable(batch)\n",
        "x = batch.detach()",
    ),
    "what is something else in the next round": (
        "for _ in range(3):\n            x = Variable(batch)\n            batch = self.model(batch)\n",
        "x = batch.detach()",
    ),
    "what is something else behind it": (
        "x = Variable(batch)\n        batch = self.model(x)\n",
        "x = batch\n",
    ),
    "a reading of data": ("print(self.model(batch) - label.data.cpu())\n", "label.cpu()"),
    "a reading of data of what has a graph": (
        "label = self.model(label)\n        print(label.data.cpu())\n",
        "label.detach().cpu()",
    ),
}


@pytest.mark.parametrize("name", BODIES)
def test_what_a_function_does_with_them(name: str, write: Write, torchlint: Torchlint) -> None:
    body, wanted = BODIES[name]
    head = "from torch.autograd import Variable\n\n\nclass Steps(object):\n    def step(self, batch, label, more):\n"
    assert wanted in _fixed(f"{head}        {body}", write, torchlint)


BASES = {"nn.Module": "        x = batch\n", "Unknown": "        x = batch.detach()\n", "Own": "        x = batch\n"}


@pytest.mark.parametrize("base", BASES)
def test_methods_that_a_library_may_call(base: str, write: Write, torchlint: Torchlint) -> None:
    head = "from torch import nn\nfrom torch.autograd import Variable\nfrom library import Unknown\n\n\n"
    head += f"class Own:\n    pass\n\n\nclass Steps({base}):\n    def step(self, batch, label, more):\n"
    assert BASES[base] in _fixed(f"{head}        x = Variable(batch)\n        self.net(x)\n", write, torchlint)
