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
    "hash": "if True:\n    c = a > 0\n    b = Variable(c)\n    answer = hash(b) == hash(c)\n",
    "attributes": "if True:\n    c = a > 0\n    b = Variable(c)\n    b.__dict__['tag'] = 1\n    answer = vars(c).get('tag')\n",
    "vars": "if True:\n    c = a > 0\n    b = Variable(c)\n    vars(b)['tag'] = 1\n    answer = vars(c).get('tag')\n",
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


NETWORK = """\
import torch
from torch import nn
from torch.autograd import Variable

cuda = torch.cuda.is_available()
Tensor = torch.cuda.FloatTensor if cuda else torch.Tensor
w = torch.ones(2, requires_grad=True)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        layers = [nn.LeakyReLU(0.2, inplace=True), nn.Linear(2, 2)]
        self.layers = nn.Sequential(*layers)

    def forward(self, x):
        return self.layers(x)


net = Net()


def train(loader):
    for i, (x, y) in enumerate(loader):
        {}
"""

# What is done with a wrapped batch, by code that writes to it; whether the batch can stand for the wrapper.
WRITES = {
    "v = Variable(x.type(Tensor))\n        net(v).sum().backward()": True,
    "v = Variable(x)\n        v.mul_(2)\n        net(v).sum().backward()": True,
    "v = Variable(x)\n        v[0] = 1.0\n        v += y.float()\n        net(v).sum().backward()": True,
    "v = Variable(x)\n        torch.relu_(v)\n        net(v).sum().backward()": True,
    "v = Variable(x)\n        with torch.no_grad():\n            v.mul_(w)\n        net(v).sum().backward()": True,
    "v = Variable(x)\n        v.mul_(w)\n        v.sum().backward()": False,
    "v = Variable(x)\n        v += w\n        v.sum().backward()": False,
    "v = Variable(x)\n        v[0] = w\n        v.sum().backward()": False,
    "v = Variable(x)\n        nn.functional.relu(v, inplace=True).mul_(w)\n        v.sum().backward()": False,
    "v = Variable(x)\n        v.unsqueeze_(0)\n        net(v).sum().backward()": False,
}


@pytest.mark.parametrize("body", WRITES)
def test_elements_that_are_written_tell_nothing_apart(body: str) -> None:
    fixed = check_text(NETWORK.format(body), "x.py", frozenset(catalogue()), Fixing.SAFE).text
    assert "Variable" not in fixed
    assert (".detach()" not in fixed) == WRITES[body], fixed


@pytest.mark.parametrize("body", [body for body in WRITES if "unsqueeze_" not in body])
def test_a_batch_in_place_of_its_wrapper_computes_the_same(body: str) -> None:
    text = NETWORK.format(body) + "\n\ntrain([(torch.ones(3, 2), torch.ones(3, 2))])\ngrad = w.grad\n"
    verdict = judge(text)
    assert verdict.ran
    assert verdict.safe["TL201"]
    assert not verdict.wrong


@pytest.mark.parametrize(
    ("wrapped", "left"),
    {
        "Variable(Tensor(3, 2).fill_(1.0))": "Tensor(3, 2).fill_(1.0)",
        "Variable(Tensor([[1.0]]), requires_grad=False)": "Tensor([[1.0]])",
        "Variable(torch.zeros(x.size(0), 1).add_(1))": "torch.zeros(x.size(0), 1).add_(1)",
        "net(Variable(x))": "net(x)",
        "torch.cat((x.data, y.data), 0)": "torch.cat((x, y), 0)",
    }.items(),
)
def test_a_new_tensor_and_one_that_is_used_up_on_the_spot(wrapped: str, left: str) -> None:
    text = NETWORK.format(f"v = {wrapped}\n        x.mul_(w)\n        print(v)")
    text += "\n\nfrozen = torch.ones(3)\nfrozen.requires_grad = False\n" if "zeros" in wrapped else ""
    assert f"v = {left}\n" in check_text(text, "x.py", frozenset(catalogue()), Fixing.SAFE).text


def test_a_batch_that_is_read_no_more_may_go_wherever_it_is_sent() -> None:
    text = NETWORK.format(
        "if i:\n            send(Variable(x), x.size(0))\n        else:\n            keep(Variable(x))"
    )
    fixed = check_text(text + "        print(y)\n", "x.py", frozenset(catalogue()), Fixing.SAFE).text
    assert "send(x, x.size(0))" in fixed
    assert "keep(x)" in fixed


# A function before and after safe fixes.
ALONE = {
    "moved before": (
        "t = torch.zeros(len(s)).long()\n    if cuda:\n        t = t.cuda()\n    return Variable(t)",
        "t = torch.zeros(len(s)).long()\n    if cuda:\n        t = t.cuda()\n    return t",
    ),
    "held by a list": (
        "t = torch.zeros(3)\n    s.append(t.view(-1))\n    return Variable(t)",
        "t = torch.zeros(3)\n    s.append(t.view(-1))\n    return t.detach()",
    ),
    "its flag is set": (
        "t = torch.zeros(3)\n    v = Variable(t)\n    t.requires_grad = True\n    return v * t",
        "t = torch.zeros(3)\n    v = t.detach()\n    t.requires_grad = True\n    return v * t",
    ),
    "replaced by one that requires grad": (
        "t = torch.FloatTensor([1]).view(1, 1)\n    t = Variable(t, requires_grad=True)\n    return t * 2",
        "t = torch.FloatTensor([1]).view(1, 1)\n    t = t.requires_grad_()\n    return t * 2",
    ),
    "replaced, and seen before": (
        "t = torch.zeros(3)\n    s.append(t)\n    t = Variable(t, requires_grad=True)\n    return t * 2",
        "t = torch.zeros(3)\n    s.append(t)\n    t = t.detach().requires_grad_()\n    return t * 2",
    ),
    "only asked for its type": (
        "w = net.weight.data\n    return w.new(3).zero_(), Variable(w.new(len(s)).zero_())",
        "w = net.weight\n    return w.new(3).zero_(), w.new(len(s)).zero_()",
    ),
    "asked for its type, and given away": (
        "w = net.weight.data\n    s.append(w)\n    return w.new(3)",
        "w = net.weight.data\n    s.append(w)\n    return w.new(3)",
    ),
    "compared with": (
        "pred = net(s).data.max(1)[1]\n    return pred.eq(s.unsqueeze(0).data.view_as(pred)).sum()",
        "pred = net(s).max(1)[1]\n    return pred.eq(s.unsqueeze(0).view_as(pred)).sum()",
    ),
}


@pytest.mark.parametrize("name", ALONE)
def test_a_tensor_that_nobody_else_holds_stands_for_its_wrapper(name: str) -> None:
    before, after = ALONE[name]
    text = (
        "import torch\nfrom torch import nn\nfrom torch.autograd import Variable\n\n"
        "net = nn.Linear(2, 2)\ncuda = torch.cuda.is_available()\n\n\ndef f(s):\n    "
    )
    codes = frozenset(("TL101", "TL201"))
    assert check_text(text + before + "\n", "x.py", codes, Fixing.SAFE).text.endswith(f"    {after}\n")


# What is written in a loop over a loader, and what is left of it.
READ_OF_BATCHES = {
    "x = Variable(x, requires_grad=False)\n        seen.append(x.data.cpu())": "seen.append(x.cpu())",
    "v = Variable(x)\n        seen.append(v.data)": "seen.append(v)",
    "v = Variable(x, requires_grad=True)\n        seen.append(v.data)": "seen.append(v.detach())",
}


@pytest.mark.parametrize("body", READ_OF_BATCHES)
def test_a_wrapped_batch_is_a_batch(body: str) -> None:
    text = NETWORK.format(f"seen = []\n        {body}")
    fixed = check_text(text, "x.py", frozenset(("TL101", "TL201")), Fixing.UNSAFE).text
    assert f"        {READ_OF_BATCHES[body]}\n" in fixed


# What indices and masks are taken from needs no graph; the fix is safe as long as what autograd keeps is not written.
INDICES = {
    "out.gather(1, y.data.view(-1, 1))": "out.gather(1, y.view(-1, 1))",
    "out.detach().scatter_(1, y.data.unsqueeze(1), 0.9)": "out.detach().scatter_(1, y.unsqueeze(1), 0.9)",
    "out.masked_fill(y.data, 0.0)": "out.masked_fill(y, 0.0)",
    "out.add(y.data)": "out.add(y.detach())",
    "out.scatter(1, y.bool(), y.data)": "out.scatter(1, y.bool(), y.detach())",
}


@pytest.mark.parametrize("read", INDICES)
def test_indices_and_masks_carry_no_graph(read: str) -> None:
    text = f"import torch\n\n\ndef f(out: torch.Tensor, y: torch.Tensor):\n    return {read}\n"
    codes = frozenset(("TL101",))
    assert check_text(text, "x.py", codes, Fixing.SAFE).text == text.replace(read, INDICES[read])
    later = text.replace("return", "out =") + "    y.add_(1)\n    return out\n"
    assert (check_text(later, "x.py", codes, Fixing.SAFE).text == later) == ("scatter_" not in read)


def test_what_a_volatile_wrapper_reads_waits_for_the_wrapper() -> None:
    text = (
        "import torch\nfrom torch.autograd import Variable\n\n\ndef f(z: torch.Tensor):\n"
        "    z.requires_grad_()\n    return Variable(z.data, volatile=True)\n"
    )
    assert check_text(text, "x.py", frozenset(catalogue()), Fixing.UNSAFE).text == text
