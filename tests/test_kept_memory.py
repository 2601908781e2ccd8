"""An assignment to `.data` is not written in place where the file keeps the old memory (TL103)."""

from __future__ import annotations

import pytest

from torchlint.diagnostic import Fixing
from torchlint.file.check import check_text
from torchlint.rules import catalogue

CODES = frozenset(catalogue())
HEAD = """\
from collections import namedtuple

import torch
from torch import nn

class Holder:
    def __init__(self, t):
        self.t = t


def same(t):
    return t


def norm(t):
    return t.norm() + 1


def halve(t):
    t.mul_(0.5)


def keep(t):
    kept[0] = t


class Store:
    def keep(self, t):
        self.t = t


Pair = namedtuple("Pair", "a b")
store = Store()
net = nn.Linear(3, 2)
kept, saved, total = {}, [], 0
for p in net.parameters():
    before
    p.data = p.data * 2
    after
"""
KEEPING = {
    ("kept[p] = p.data", "pass"),
    ("kept['w'] = p.detach().view(-1)", "pass"),
    ("old = p.data", "print(old)"),
    ("old, n = p.data, 1", "p.data = old"),
    ("kept.update(w=p.data.numpy())", "pass"),
    ("best = net.state_dict()", "net.load_state_dict(best)"),
    ("kept.setdefault('w', [(p.data, 1)])", "pass"),
    ("kept = [q.data for q in net.parameters()]", "print(kept)"),
    ("if p.dim() > 1: first = p.detach()", "print(p - first)"),
    ("net.bias.data = p.data[0]", "pass"),
    ("with torch.no_grad(): old = p.data", "print(old)"),
    ("keep(p.data)", "pass"),
    ("store.keep(p.data)", "pass"),
    ("kept[p] = Pair(p.data, 1)", "pass"),
    ("kept[p] = same(p.data)", "pass"),
    ("kept[p] = same(t=p.data).view(-1)", "pass"),
    ("kept[p] = Holder(p.data)", "pass"),
    ("kept[p] = nn.Parameter(p.data)", "pass"),
    ("kept[p] = torch.flatten(p.data)", "pass"),
    ("kept[p] = torch.as_tensor(p.data)", "pass"),
    ("kept[p] = torch.detach(p)", "pass"),
    ("kept[p] = len(kept) and p.data", "pass"),
    ("kept[p] = (old := p.data)", "pass"),
    ("old = p.data; kept[p] = old", "pass"),
    ("old = p.data; other = old; kept[p] = [other]", "pass"),
    ("saved += [p.data]", "pass"),
    ("saved = saved + [p.data]", "print(saved)"),
    ("saved = list(zip([p], [p.data]))", "print(saved)"),
    ("kept.__setitem__(p, p.data)", "pass"),
    ("setattr(net, 'old', p.data)", "pass"),
    ("kept[p] = lambda t=p.data: t", "pass"),
    ("kept[p] = (lambda t: t)(p.data)", "pass"),
}
LETTING_GO = {
    ("kept[p] = p.data.clone()", "pass"),
    ("kept[p] = p.grad.data", "pass"),
    ("norm = p.data.norm()", "print(norm)"),
    ("old = p.data; n = old.norm()", "print(n)"),
    ("kept.update(w=p.data * 2)", "pass"),
    ("torch.save(net.state_dict(), 'w.pt')", "pass"),
    ("print(p.data)", "pass"),
    ("kept[0] = net(torch.ones(1, 3)).detach()", "pass"),
    ("kept[p] = norm(p.data)", "pass"),
    ("halve(p.data)", "pass"),
    ("kept[p] = len(p.data) + 1", "pass"),
    ("total += p.data.sum()", "print(total)"),
    ("total = total + p.data", "print(total)"),
    ("old = p.data; kept[p] = old.clone()", "pass"),
    ("kept[p] = torch.abs(p.data)", "pass"),
    ("for row in p.data: print(row)", "pass"),
}


def _is_fixed(before: str, after: str) -> bool:
    text = HEAD.replace("before", before).replace("after", after)
    found = check_text(text, "x.py", CODES).diagnostics
    [written] = [each for each in found if each.code == "TL103" and each.start.row == HEAD.count("\n") - 1]
    return written.fix is not None


@pytest.mark.parametrize(("before", "after"), sorted(KEEPING))
def test_what_is_kept_keeps_its_values(before: str, after: str) -> None:
    assert not _is_fixed(before, after)


@pytest.mark.parametrize(("before", "after"), sorted(LETTING_GO))
def test_what_is_only_read_before_is_no_reason(before: str, after: str) -> None:
    assert _is_fixed(before, after)


MADE = {
    "x = img.detach()": False,
    "x = Variable(img, requires_grad=True)": False,
    "x = img": False,
    "x = img.view(-1)": False,
    "x = img[0]": False,
    "x = Variable(img + 1, requires_grad=True)": True,
    "x = img.clone().detach().requires_grad_()": True,
    "x = torch.zeros_like(img, requires_grad=True)": True,
    "x = nn.Parameter(torch.zeros(3))": True,
}


@pytest.mark.parametrize("made", MADE)
def test_what_a_function_is_given_is_not_written_to(made: str) -> None:
    head = "import torch\nfrom torch import nn\nfrom torch.autograd import Variable\n\n\n"
    text = f"{head}def f(img: torch.Tensor):\n    {made}\n    x.data = x.data + 0.1\n    return x\n"
    found = check_text(text, "x.py", CODES).diagnostics
    [written] = [each for each in found if each.code == "TL103"]
    assert (written.fix is not None) == MADE[made]


BACKUPS = {
    "read in a comprehension": "self.saved = [p.data for p in ps]",
    "detached": "self.saved = [p.detach() for p in ps]",
    "in a loop": "self.saved = []\n        for p in ps:\n            self.saved.append(p.data)",
}
BINARIZED = """\
import torch


class Binary:
    def __init__(self, ps):
        self.ps = ps
        kept

    def binarize(self):
        for i in range(len(self.ps)):
            size = self.ps[i].data.size()
            mean = self.ps[i].data.abs().mean()
            self.ps[i].data = self.ps[i].data.sign().mul(mean.expand(size))

    def restore(self):
        for i in range(len(self.ps)):
            self.ps[i].data = self.saved[i]
"""


@pytest.mark.parametrize("name", BACKUPS)
def test_a_backup_of_what_is_a_parameter_by_its_use_only(name: str) -> None:
    text = BINARIZED.replace("kept", BACKUPS[name])
    for fixing in Fixing:
        assert ".mul(mean.expand(size))" in (after := check_text(text, "x.py", CODES, fixing).text)
        assert "copy_" not in after


def test_the_values_of_a_backup_that_is_a_copy() -> None:
    text = BINARIZED.replace("kept", "self.saved = [p.data.clone() for p in ps]")
    assert (
        "self.ps[i].copy_(self.ps[i].sign().mul(mean.expand(size)))"
        in check_text(text, "x.py", CODES, Fixing.UNSAFE).text
    )


SIZES = {
    "m.expand(p.size())": True,
    "m.expand(p.data.shape)": True,
    "m.expand_as(p)": True,
    "p.data.sign().mul(m.expand(n))": True,
    "m.expand(2, 3)": False,
    "m.expand(k)": False,
    "m.expand_as(m)": False,
    "torch.zeros(p.size(), out=m)": False,
}


@pytest.mark.parametrize("written", SIZES)
def test_what_is_expanded_to_the_size(written: str) -> None:
    text = f"def f(net, m, k):\n    for p in net.parameters():\n        n = p.data.size()\n        p.data = {written}\n"
    [found] = [each for each in check_text(f"import torch\n{text}", "x.py", CODES).diagnostics if each.code == "TL103"]
    assert (found.fix is not None) is SIZES[written]


GRADIENTS = {
    "m * 2": True,
    "m.mul(3)": True,
    "m.mul(n)": False,
    "m": False,
    "m.view(-1)": False,
    "net(m)": False,
    "(p * 2).abs()": False,
}


@pytest.mark.parametrize("written", GRADIENTS)
def test_gradients_that_are_computed(written: str) -> None:
    text = f"import torch\ndef f(net, n):\n    for p in net.parameters():\n        m = p.data.abs()\n        p.grad.data = {written}\n"
    [found] = [each for each in check_text(text, "x.py", CODES).diagnostics if each.code == "TL103"]
    assert (found.fix is not None) is GRADIENTS[written]


EXCHANGED = """\
import torch
from torch import nn


def swap(left: nn.Parameter, right: nn.Parameter):
    fast = left.data
    left.data = right.detach().cpu()
    fast.copy_(right)
    right.data = fast
"""


def test_exchanged_memory_has_no_fix() -> None:
    found = check_text(EXCHANGED, "swap.py", CODES, Fixing.NONE).diagnostics
    said = [(each.code, each.start.row, each.fix is None) for each in found if "exchange memory" in each.message]
    assert said == [("TL101", 6, True), ("TL103", 9, True)]


def test_memory_that_is_put_back_where_it_was_has_a_fix() -> None:
    text = EXCHANGED.replace("right.data = fast", "left.data = fast")
    found = check_text(text, "swap.py", CODES, Fixing.NONE).diagnostics
    assert [each.fix is None for each in found if each.code == "TL101"] == [False]
