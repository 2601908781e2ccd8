"""A fix may put one tensor in the place of another only where the program cannot tell which of the two it has."""

from __future__ import annotations

import pytest
from verdict import judge

from torchlint.diagnostic import Fixing
from torchlint.file.check import check_text
from torchlint.rules import catalogue

GRADIENT = """\
import torch

w = torch.ones(3, requires_grad=True)
(w * w).sum().backward()
"""

# What is done with `.grad.data`, by which it can be told from `.grad`; `answer` is how it is told.
GRADIENTS = {
    "requires_grad_": "g = w.grad.data\ng.requires_grad_()\nanswer = w.grad.requires_grad\n",
    "at once": "w.grad.data.requires_grad_()\nanswer = w.grad.requires_grad\n",
    "flag": "g = w.grad.data\ng.requires_grad = True\nanswer = w.grad.requires_grad\n",
    "attribute": "g = w.grad.data\ng.seen = 1\nanswer = hasattr(w.grad, 'seen')\n",
    "hook": "g = w.grad.data.requires_grad_()\ng.register_hook(print)\nanswer = w.grad.requires_grad\n",
    "is": "g = w.grad.data\nanswer = g is w.grad\n",
    "is not": "answer = w.grad.data is not w.grad\n",
    "id": "g = w.grad.data\nanswer = id(g) == id(w.grad)\n",
    "set": "seen = {w.grad.data}\nanswer = w.grad in seen\n",
    "key": "names = {w.grad.data: 'g'}\nanswer = names.get(w.grad)\n",
    "result of a write": "g = w.grad.data.mul_(2)\nanswer = g is w.grad\n",
}


@pytest.mark.parametrize("text", GRADIENTS.values(), ids=GRADIENTS)
def test_a_gradient_is_another_tensor_than_its_data(text: str) -> None:
    verdict = judge(GRADIENT + text)
    assert verdict.ran
    assert verdict.found
    assert not verdict.wrong


OTHERS = """\
import torch
from torch.autograd import Variable

buffer = torch.zeros(2)


def batches(loader):
    for x, _ in loader:
        buffer.resize_(x.size()).copy_(x)
        v = Variable(x)
        noise = Variable(torch.randn(2))
        mask = Variable((buffer > 0).float())
        kept = Variable(buffer)
        print(v + noise, mask, kept)
"""


def test_what_is_changed_elsewhere_is_no_reason_to_detach_all() -> None:
    fixed = check_text(OTHERS, "x.py", frozenset(catalogue()), Fixing.SAFE).text
    assert "v = x\n" in fixed
    assert "noise = torch.randn(2)\n" in fixed
    assert "mask = (buffer > 0).float()\n" in fixed
    assert "kept = buffer.detach()\n" in fixed


def test_nor_does_what_is_used_up_by_its_name() -> None:
    text = """\
import torch


def step(p, average: torch.Tensor, v: torch.Tensor):
    v.requires_grad_()
    g = p.grad.data
    average.mul_(0.9).add_(g, alpha=0.1)
    return g.norm() + (g * 2).sum()


def kept(p, v: torch.Tensor):
    h = p.grad.data
    print(h is v)
    return h.norm()
"""
    fixed = check_text(text, "x.py", frozenset(catalogue()), Fixing.SAFE).text
    assert "g = p.grad\n" in fixed
    assert "h = p.grad.detach()\n" in fixed


@pytest.mark.parametrize(
    ("read", "fixed"),
    {
        "w.grad.data.norm()": "w.grad.norm()",
        "w.grad.data * 2": "w.grad * 2",
        "w.grad.data[0] + 1": "w.grad[0] + 1",
        "torch.norm(w.grad.data)": "torch.norm(w.grad)",
    }.items(),
)
def test_what_is_used_up_on_the_spot_needs_no_tensor_of_its_own(read: str, fixed: str) -> None:
    text = f"{GRADIENT}v = torch.ones(3)\nv.requires_grad_()\nanswer = {read}\n"
    outcome = check_text(text, "x.py", frozenset(catalogue()), Fixing.SAFE)
    assert outcome.text == text.replace(read, fixed)


WRAPPED = """\
import torch
from torch.autograd import Variable

a = torch.ones(3)
"""

# How a program finds out that `Variable(a)` is another tensor than `a`.
WRAPPERS = {
    "set": "b = Variable(a)\nseen = {a}\nanswer = b in seen\n",
    "set of both": "answer = len({a, Variable(a)})\n",
    "comprehension": "answer = len({t for t in (a, Variable(a))})\n",
    "added": "seen = set()\nseen.add(a)\nseen.add(Variable(a))\nanswer = len(seen)\n",
    "made a set": "answer = len(set([a, Variable(a)]))\n",
    "made a set later": "both = [a, Variable(a)]\nanswer = len(frozenset(both))\n",
    "key": "names = {a: 1}\nb = Variable(a)\nanswer = names.get(b)\n",
    "assigned key": "b = Variable(a)\nnames = {}\nnames[b] = 1\nanswer = len([k for k in names if k is a])\n",
    "looked for": "b = Variable(a)\nnames = dict()\nnames[a] = 1\nanswer = names.pop(b, None)\n",
    "keys": "b = Variable(a)\nnames = {t: 1 for t in (a, b)}\nanswer = len(names)\n",
    "is": "b = Variable(a)\nanswer = a is b\n",
}


@pytest.mark.parametrize("text", WRAPPERS.values(), ids=WRAPPERS)
def test_a_wrapper_is_another_tensor_than_what_is_wrapped(text: str) -> None:
    verdict = judge(WRAPPED + text)
    assert verdict.ran
    assert verdict.safe["TL201"]
    assert not verdict.wrong


def test_a_dictionary_of_tensors_by_name_tells_none_apart() -> None:
    text = WRAPPED + "sums = {}\nb = Variable(a)\nsums['b'] = b.sum()\nanswer = sums.get('b')\n"
    outcome = check_text(text, "x.py", frozenset(catalogue()), Fixing.SAFE)
    assert "Variable" not in outcome.text
    assert "detach" not in outcome.text


# what is wrapped, and what is left of it: somewhere else in the file other tensors change their shape
BATCHES = {
    "a batch": ("for x, y in train_loader:\n        x = Variable(x)\n        model(x)", "x = "),
    "moved": ("for x, y in train_loader:\n        if y:\n            x = x.cuda()\n        v = Variable(x)\n        model(v)", "v = x\n"),
    "by its key": ("for i, s in enumerate(train_loader):\n        v = Variable(s['x'].cuda())\n        model(v)", "v = s['x'].cuda()\n"),
    "a new one": ("m = torch.zeros(3)\n    m = Variable(m)\n    return m * 2", "    return m * 2\n"),
    "from NumPy": ("v = Variable(torch.from_numpy(a).long())\n    return model(v)", "v = torch.from_numpy(a).long()\n"),
}  # fmt: skip
RESHAPED = """\
import torch
from torch.autograd import Variable


def accuracy(out: torch.Tensor):
    _, pred = out.max(1)
    pred.squeeze_()
    mask = out.new().resize_as_(out).fill_(0)
    return pred * mask


def train(train_loader, model, a):
    {}
"""


@pytest.mark.parametrize("name", BATCHES)
def test_what_changes_its_shape_is_another_tensor(name: str) -> None:
    body, after = BATCHES[name]
    fixed = check_text(RESHAPED.format(body), "x.py", frozenset(catalogue()), Fixing.SAFE).text
    assert "Variable" not in fixed
    assert ".detach()" not in fixed
    assert (after in fixed) == after.endswith("\n"), fixed


@pytest.mark.parametrize("change", ["x.squeeze_()", "x.requires_grad_()", "v.requires_grad_()", "v.resize_(3)"])
def test_but_not_what_is_wrapped(change: str) -> None:
    body = f"for x, y in train_loader:\n        v = Variable(x)\n        {change}\n        model(x, v)"
    assert "v = x.detach()" in check_text(RESHAPED.format(body), "x.py", frozenset(catalogue()), Fixing.SAFE).text


def test_what_has_no_graph_needs_no_detach() -> None:
    text = (
        "import torch\n\n\n@torch.no_grad()\ndef f(x: torch.Tensor):\n    out = torch.exp(x)\n"
        "    a = out.data.view(-1).cpu().numpy()\n    return a, out.data.max(1)[1].sum().item()\n"
    )
    fixed = check_text(text, "x.py", frozenset(catalogue()), Fixing.SAFE).text
    assert "a = out.view(-1).cpu().numpy()" in fixed
    assert "out.max(1)[1]" in fixed
