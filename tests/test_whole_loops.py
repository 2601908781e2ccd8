"""A loop or an ``if`` goes into one block of ``no_grad`` where nothing in it may need a graph; else each write has one."""

from __future__ import annotations

import pytest

from torchlint.diagnostic import Fixing
from torchlint.file.check import check_text
from torchlint.rules import catalogue
from torchlint.testing.execution import rough_differences, run

CODES = frozenset(catalogue())

HEAD = """\
import logging
import math
import numpy as np
import torch
from torch import nn
from torch.autograd import Variable

torch.manual_seed(0)
net, other = nn.Linear(3, 2), nn.Linear(3, 2)
net(torch.ones(1, 3)).sum().backward()
names, kept = [], []


def doubled(ps):
    for p in ps:
        yield p * 2


class Scaled(nn.Module):
    def __init__(self):
        super().__init__()
        self.w = nn.Parameter(torch.ones(2))

    def parameters(self, recurse=True):
        for p in super().parameters(recurse):
            kept.append(p * 2)
            yield p


def rows(n, d):
    found = np.empty([n, d])
    for i in range(n):
        found[i, :] = np.full([1, d], i)
    return found


def f(x):
    kept.append(x * 2)
    return 1.0


"""

HELD = {
    "one statement": "for p in net.parameters():\n    p.data.clamp_(-1, 1)\n",
    "one line": "for p in net.parameters(): p.data.clamp_(-1, 1)\n",
    "nested": "for m in (net, other):\n    for p in m.parameters():\n        p.data.mul_(2)\n",
    "pairs": "for p, q in zip(net.parameters(), other.parameters()):\n    p.data.copy_(q.data)\n",
    "by number": "ps = list(net.parameters())\nfor i in range(len(ps)):\n    ps[i].data[0] = i\n",
    "conditions": "for n, p in net.named_parameters():\n    if 'bias' in n or p.dim() < 2:\n        continue\n"
    "    elif p.grad is None:\n        break\n    p.data.sub_(0.1 * p.grad.data)\n    p.grad.data.zero_()\n",
    "numbers": "count = 0\nfor p in net.parameters():\n    bound = 1 / math.sqrt(p.size(0))\n    p.data.clamp_(-bound, bound)\n"
    "    count += p.numel()\nprint(count)\n",
    "names": "for n, p in net.named_parameters():\n    names.append(n)\n    print(n, p.shape)\n    p.data.mul_(2)\n",
    "an else": "for p in net.parameters():\n    p.data.mul_(2)\nelse:\n    print('done')\n",
    "counting": "i = 0\nwhile i < 2:\n    net.weight.data[i] = i\n    i += 1\n",
    "chosen": "for p in [q for q in net.parameters() if q.requires_grad]:\n    p.data.mul_(2)\n",
    "filtered": "for p in filter(lambda q: q.requires_grad, net.parameters()):\n    p.data.mul_(2)\n",
    "read": "for p in net.parameters():\n    d = p.grad.data\n    d.add_(p.data, alpha=0.1)\n    p.data.sub_(d)\n",
    "assigned": "for p in net.parameters():\n    p.data = p.data - 0.1\n",
    "a leaf": "for p in net.parameters():\n    if p.grad is not None:\n        p -= 0.1 * p.grad\n",
    "in a function": "def clip(c):\n    for p in net.parameters():\n        p.data.clamp_(-c, c)\n    return c\n\n\nclip(0.1)\n",
}
"""Loops behind the head that go into one block."""

ENTERED = {
    "a generator that computes": "for x in doubled(net.parameters()):\n    kept.append(x)\n    net.weight.data.mul_(2)\n",
    "one that is named": "xs = doubled(net.parameters())\nfor x in xs:\n    kept.append(x)\n    net.weight.data.mul_(2)\n",
    "an expression that computes": "for x in (p * 2 for p in net.parameters()):\n    kept.append(x)\n    net.bias.data.mul_(2)\n",
    "a method of one's own": "for p in Scaled().parameters():\n    p.data.mul_(2)\n",
    "what is mapped": "for x in map(torch.exp, net.parameters()):\n    kept.append(x)\n    net.bias.data.mul_(2)\n",
    "rows": "for row in net.weight:\n    kept.append(row)\n    net.bias.data.mul_(2)\n",
    "a sum": "total = 0\nfor p in net.parameters():\n    total = total + p.sum()\n    p.data.mul_(2)\n"
    "total.backward()\n",
    "a result that is kept": "for p in net.parameters():\n    kept.append(p * 2)\n    p.data.mul_(2)\n",
    "an else with a graph": "for p in net.parameters():\n    p.data.mul_(2)\nelse:\n    y = net(torch.ones(3)).sum()\n"
    "y.backward()\n",
    "training": "for _ in range(2):\n    net(torch.ones(3)).sum().backward()\n    net.weight.data.sub_(0.1 * net.weight.grad)\n",
    "a walrus": "for p in (ps := list(net.parameters())):\n    p.data.mul_(2)\nkept.append(ps[0] * 2)\n",
    "a function that keeps": "for p in net.parameters():\n    f(p)\n    net.bias.data.mul_(2)\n",
    "a condition that keeps": "for p in net.parameters():\n    if f(p):\n        net.bias.data.mul_(2)\n",
    "an attribute": "for p in net.parameters():\n    net.half_of_it = p / 2\n    p.data.mul_(2)\nnet.half_of_it.sum().backward()\n",
    "the mode": "for p in net.parameters():\n    print(torch.is_grad_enabled())\n    p.data.mul_(2)\n",
    "a mode of its own": "for p in net.parameters():\n    with torch.enable_grad():\n        kept.append(p * 2)\n    p.data.mul_(2)\n",
    "a new flag": "for p in net.parameters():\n    p.requires_grad_(False)\n    net.bias.data.mul_(2)\n",
    "a yield": "def each():\n    for p in net.parameters():\n        yield p\n        p.data.mul_(2)\n\n\n"
    "for p in each():\n    kept.append(p * 2)\n",
    "a function inside": "for p in net.parameters():\n    def g():\n        return p * 2\n    p.data.mul_(2)\n    kept.append(g())\n",
    "what is tried": "for p in net.parameters():\n    try:\n        kept.append(p * 2)\n    except ValueError:\n        pass\n"
    "    p.data.mul_(2)\n",
    "a write with a graph": "y = torch.zeros(2)\nfor p in net.parameters():\n    y[0] = p.sum()\n    p.data.mul_(2)\ny.sum().backward()\n",
    "a sum in place": "y = torch.zeros(())\nfor p in net.parameters():\n    y += p.sum()\n    p.data.mul_(2)\ny.backward()\n",
    "what is printed": "for p in net.parameters():\n    print(p.norm())\n    p.data.mul_(2)\n",
    "a wrapper": "for p in net.parameters():\n    kept.append(Variable(p * 2, requires_grad=True))\n    p.data.mul_(2)\n",
    "layers": "def init_weights(m):\n    for l in m.modules():\n        if isinstance(l, nn.Linear):\n"
    "            l.weight.data.normal_(0, 1)\n            l.bias.data[0] = 1\n\n\ninit_weights(net)\n",
}
"""Those of which only what writes does."""


BRANCHES = {
    "two": "if kept is not None:\n    net.weight.data.copy_(torch.ones(2, 3))\nelse:\n    net.weight.data[0] = 2\n",
    "with what is computed": "if names:\n    net.weight.data.copy_(torch.ones(2, 3))\n"
    "else:\n    net.weight.data.copy_(torch.from_numpy(rows(2, 3)))\n",
    "three": "if len(names) == 1:\n    net.weight.data.mul_(2)\nelif names:\n    print('none')\nelse:\n    # the rest\n"
    "    n = 3\n    net.weight.data.mul_(n)\n    # and so on\n",
    "on one line": "if names: net.weight.data.mul_(2)\nelse: net.bias.data.mul_(2)\n",
    "in a function": "def g(c):\n    if c:\n        net.weight.data.clamp_(-c, c)\n        return 1\n    else:\n"
    "        net.bias.data.zero_().add_(2)\n    return c\n\n\ng(0.1)\ng(0)\n",
    "below what is not": "if f(net.weight):\n    y = net(torch.ones(3))\n    if names:\n        net.weight.data.mul_(2)\n"
    "    else:\n        net.weight.data.mul_(3)\n",
}
"""Such an ``if``."""

APART = {
    "one branch": (1, "if not names:\n    net.weight.data.mul_(2)\n    net.bias.data.mul_(2)\n"),
    "one of two": (1, "if names:\n    print('no')\nelse:\n    net.weight.data.mul_(2)\n"),
    "a gradient": (1, "if names:\n    net.weight.grad.data.zero_()\nelse:\n    net.weight.data.mul_(2)\n"),
    "what is used below": (
        2,
        "if names:\n    y = net.weight * 2\n    net.weight.data[0] = 2\nelse:\n    y = net.weight * 3\n"
        "    net.weight.data[0] = 3\ny.sum().backward()\n",
    ),
    "what is global": (
        2,
        "def g(c):\n    global y\n    if c:\n        y = net.weight * 2\n        net.weight.data[0] = 2\n    else:\n"
        "        net.weight.data[0] = 3\n\n\ng(1)\ny.sum().backward()\n",
    ),
    "training": (
        2,
        "if names:\n    net.weight.data[0] = 2\nelse:\n    net(torch.ones(3)).sum().backward()\n"
        "    net.weight.data[0] = 3\n",
    ),
    "a test that keeps": (2, "if f(net.weight):\n    net.weight.data[0] = 2\nelse:\n    net.weight.data[0] = 3\n"),
    "a test that names": (
        2,
        "if (y := net.weight * 2) is not None:\n    net.weight.data[0] = 2\nelse:\n    net.weight.data[0] = 3\n"
        "kept.append(y)\n",
    ),
    "a test of the mode": (
        2,
        "if torch.is_grad_enabled():\n    net.weight.data[0] = 2\nelse:\n    net.weight.data[0] = 3\n",
    ),
}
"""Those that stay outside, and how many blocks they get."""


@pytest.mark.parametrize("what", BRANCHES)
def test_an_if_goes_in_as_a_whole(what: str) -> None:
    fixed = _fixed(HEAD + BRANCHES[what])
    assert fixed.count("no_grad():") == 1
    assert "no_grad():\nif" in fixed.replace("    ", "")


@pytest.mark.parametrize("what", APART)
def test_an_if_that_stays_outside(what: str) -> None:
    blocks, text = APART[what]
    fixed = _fixed(HEAD + text)
    assert "no_grad():\nif" not in fixed.replace("    ", "")
    assert fixed.count("no_grad():") == blocks


@pytest.mark.parametrize("what", HELD)
def test_a_loop_goes_in_as_a_whole(what: str) -> None:
    fixed = _fixed(HEAD + HELD[what])
    assert fixed.count("no_grad():") == 1
    assert "no_grad():\n    for" in fixed.replace("        for", "    for") or "no_grad():\n    while" in fixed


@pytest.mark.parametrize("what", ENTERED)
def test_what_may_need_a_graph_stays_outside(what: str) -> None:
    fixed = _fixed(HEAD + ENTERED[what])
    assert "no_grad():\n    for" not in fixed
    assert fixed.count("no_grad():") == 1


def _fixed(text: str) -> str:
    outcome = check_text(text, "x.py", CODES, Fixing.UNSAFE)
    assert outcome.problems == ()
    assert check_text(outcome.text, "x.py", CODES, Fixing.UNSAFE).text == outcome.text
    safe = check_text(text, "x.py", CODES, Fixing.SAFE).text
    later = check_text(safe, "x.py", CODES, Fixing.UNSAFE).text
    assert later.replace(".detach()", "") == outcome.text.replace(".detach()", "")
    before = run(text)
    for each in (safe, outcome.text) if before.error is None else ():
        assert not rough_differences(before, run(each))
    return outcome.text
