"""What `volatile=True` meant is written with `--unsafe-fixes`; until then the keyword stays where it means something."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from volatile import IMPORT, as_it_was, differences

from torchlint.diagnostic import Fixing
from torchlint.file.check import check_text
from torchlint.rules import catalogue
from torchlint.testing.execution import run

EVALUATION = """\
import torch
from torch import nn
from torch.autograd import Variable

net = nn.Linear(3, 1)


def evaluate(batches):
    total = 0
    for x, y in batches:
        x = Variable(x, volatile=True)

        # the error of a batch
        out = net(x)
        total += (out - y).pow(2).sum().data[0]
    return total
"""
IN_A_BLOCK = """\
import torch
from torch import nn

net = nn.Linear(3, 1)


def evaluate(batches):
    total = 0
    for x, y in batches:
        # the error of a batch
        with torch.no_grad():
            out = net(x)
            total += (out - y).pow(2).sum().item()
    return total
"""
TRAINING = """\
import torch
from torch import nn
from torch.autograd import Variable

generator, critic = nn.Linear(2, 3), nn.Linear(3, 1)


def step(noise):
    noise = Variable(noise, volatile=True)
    fake = generator(noise).detach()
    loss = critic(fake).mean()
    loss.backward()
"""


def fixed(text: str, fixing: Fixing) -> str:
    outcome = check_text(text, "x.py", frozenset(catalogue()), fixing)
    assert not outcome.problems
    assert check_text(outcome.text, "x.py", frozenset(catalogue()), fixing).text == outcome.text
    return outcome.text


def test_evaluation_goes_into_a_block() -> None:
    assert fixed(EVALUATION, Fixing.UNSAFE) == IN_A_BLOCK


def test_safe_fixes_leave_what_the_block_is_known_by() -> None:
    text = fixed(EVALUATION, Fixing.SAFE)
    assert "Variable(x, volatile=True)" in text
    assert "import Variable" in text
    assert "no_grad" not in text
    assert fixed(text, Fixing.UNSAFE) == IN_A_BLOCK


def test_what_trains_stays_outside() -> None:
    text = fixed(TRAINING, Fixing.UNSAFE)
    assert "    with torch.no_grad():\n        fake = generator(noise).detach()\n    loss = critic(fake)" in text


TARGETS = """\
import torch
from torch import nn
from torch.autograd import Variable

net, target, mse = nn.Linear(3, 1), nn.Linear(3, 1), nn.MSELoss()
x = torch.ones(2, 3)


def step():
    after = Variable(x, volatile=True)
    wanted = target(after) * 0.9
    given = net(Variable(x))
    {sent}


step()
assert net.weight.grad is not None
"""


@pytest.mark.parametrize(
    "sent",
    [
        "loss = mse(given, wanted)\n    loss.backward()",
        "loss = mse(given, wanted)\n    (loss / 2).backward()",
        "loss = mse(given, wanted)\n    total = loss + given.pow(2).mean()\n    total.backward()",
        "(given - wanted).pow(2).mean().backward()",
        "loss = (given - wanted).pow(2).mean()\n    torch.autograd.backward(loss)",
    ],
)
def test_a_loss_that_is_sent_back_stays_outside(sent: str) -> None:
    """PyTorch 0.3 raised there: the graph is wanted all the same."""
    text = fixed(TARGETS.format(sent=sent), Fixing.UNSAFE)
    assert "    with torch.no_grad():\n        wanted = target(after) * 0.9\n    given = net(x)\n" in text
    assert run(text).error is None


PRELUDE = f"""\
import torch
from torch import nn
{IMPORT}
torch.manual_seed(0)
net, head = nn.Linear(3, 3), nn.Linear(3, 3)
x, w = torch.ones(2, 3), torch.ones(2, 3)


class Box:
    pass


box = Box()
"""

# a program, and how many blocks come of it; None: the keyword stays, for one has to be written by hand
PROGRAMS = {
    "cut by .data": ("v = Variable(x, volatile=True)\na = net(v)\nb = head(Variable(a.data))\n", 1),
    "cut by .detach()": ("a = net(Variable(x, volatile=True))\nb = head(a.detach())\n", 1),
    "returned": (
        "def get(ids):\n    src = net(Variable(ids, volatile=True))\n    out = head(Variable(src.data))\n"
        "    return out\n\n\na = get(x)\n",
        1,
    ),
    "cut and computed with in one statement": ("a = head(Variable(net(Variable(x, volatile=True)).data))\n", None),
    "nothing, or volatile": (
        "def f(given):\n    if len(given) > 2:\n        parts = [e if e is None else Variable(e, volatile=True) for e in given[:2]]\n"
        "    else:\n        parts = [Variable(e, volatile=True) if e is not None else e for e in given[:2]]\n"
        "    both = net(parts[0]), parts[1]\n    del parts\n    return both[0].data.cpu()\n\n\n"
        "a, b = f([x, None]), f([x, None, w])\n",
        1,
    ),
    "cut in a list": ("a = [Variable(net(Variable(x, volatile=True)).data), head(x)]\n", None),
    "a generator of a GAN": (
        "opt = torch.optim.SGD(head.parameters(), lr=0.1)\nfor i in range(2):\n    opt.zero_grad()\n"
        "    noisev = Variable(x, volatile=True)\n    fake = Variable(net(noisev).data)\n    inputv = fake\n"
        "    errD = head(inputv).mean()\n    errD.backward()\n    opt.step()\n",
        1,
    ),
    "a graph in between": (
        "v = Variable(x, volatile=True)\na = net(v)\nb = head(w)\nc = net(a)\nb.sum().backward()\n",
        2,
    ),
    "nothing needs a graph in between": (
        'v = Variable(x, volatile=True)\na = net(v)\nn = len(x)\nprint("%d" % n)\nc = head(a) / n\n',
        1,
    ),
    "decided by a branch": (
        "def f(x, train):\n    if train:\n        x = Variable(x)\n    else:\n        x = Variable(x, volatile=True)\n"
        "    return net(x)\n\n\na, b = f(x, True), f(x, False)\n",
        None,
    ),
    "in one branch": (
        "def f(x, train):\n    if train:\n        return net(Variable(x))\n    v = Variable(x, volatile=True)\n"
        "    out = net(v)\n    return out\n\n\na, b = f(x, True), f(x, False)\n",
        1,
    ),
    "in all branches": (
        "if len(x) > 1:\n    v = Variable(x, volatile=True)\nelse:\n    v = Variable(w, volatile=True)\na = net(v)\nb = head(w)\n",
        1,
    ),
    "training and evaluation in one loop": (
        "for i in range(4):\n    if i % 2:\n        a = net(Variable(x))\n        a.sum().backward()\n    else:\n"
        "        v = Variable(x, volatile=True)\n        b = net(v)\n        c = b.sum()\n",
        1,
    ),
    "from the round before": (
        "kept = None\nfor i in range(2):\n    if kept is not None:\n        b = head(kept)\n    v = Variable(x, volatile=True)\n"
        "    kept = net(v)\n",
        None,
    ),
    "try and finally": (
        "try:\n    v = Variable(x, volatile=True)\n    a = net(v)\nfinally:\n    b = head(w)\n",
        1,
    ),
    "an early return": (
        "def f(x):\n    v = Variable(x, volatile=True)\n    a = net(v)\n    if a.sum() > 100:\n        return None\n"
        "    b = head(w)\n    return a, b\n\n\na = f(x)\n",
        1,
    ),
    "a nested function": (
        "def f(x):\n    v = Variable(x, volatile=True)\n\n    def inner():\n        return net(v)\n\n    return inner()\n\n\na = f(x)\n",
        None,
    ),
    "a lambda": ("v = Variable(x, volatile=True)\nf = lambda: net(v)\na = f()\ndel f\n", None),
    "a generator": (
        "def f(xs):\n    for x in xs:\n        v = Variable(x, volatile=True)\n        yield net(v)\n\n\na = list(f([x]))\n",
        None,
    ),
    "a generator expression": ("v = Variable(x, volatile=True)\nf = (net(t) for t in v)\na = list(f)\ndel f\n", None),
    "gone through at once": ("v = Variable(x, volatile=True)\na = sum(net(t) for t in v)\n", 1),
    "a walrus": (
        "v = Variable(x, volatile=True)\na = net(v) + (b := head(w))\nb.sum().backward()\n",
        None,
    ),
    "a walrus of its own": ("v = Variable(x, volatile=True)\na = (b := net(v)) * 2\n", 1),
    "stored in an object": (
        "box.v = Variable(x, volatile=True)\nbox.a = net(box.v)\nbox.b = head(w)\n",
        1,
    ),
    "computed with by a method": (
        "class M:\n    def set(self, x):\n        self.v = Variable(x, volatile=True)\n        self.run()\n\n"
        "    def run(self):\n        self.a, self.b = net(self.v), head(w)\n\n\nm = M()\nm.set(x)\n",
        None,
    ),
    "stored for others": (
        "class M:\n    def set(self, x):\n        self.v = Variable(x, volatile=True)\n\n    def run(self):\n"
        "        self.a, self.b = net(self.v), head(w)\n\n\nm = M()\nm.set(x)\nm.run()\n",
        None,
    ),
    "in a list": (
        "vs = []\nfor i in range(2):\n    vs.append(Variable(x, volatile=True))\na = net(torch.cat(vs))\nb = head(w)\n",
        1,
    ),
    "in a list with others": (
        "vs = [w]\nvs.append(Variable(x, volatile=True))\na = [net(t) for t in vs]\n",
        None,
    ),
    "trained with afterwards": (
        "a = net(Variable(x, volatile=True))\nloss = head(Variable(a.data)).sum()\nloss.backward()\n",
        1,
    ),
    "requires_grad is changed": (
        "v = Variable(x, volatile=True)\na = net(v)\nb = Variable(a.data)\nb.requires_grad = True\nc = (b * 2).sum()\n",
        1,
    ),
    "volatile no longer": (
        "v = Variable(x, volatile=True)\na = net(v)\nb = Variable(w)\nb = head(b)\n",
        1,
    ),
    "under a block of another kind": (
        "with torch.autograd.profiler.record_function('f'):\n    v = Variable(x, volatile=True)\n    a = net(v)\nb = head(w)\n",
        1,
    ),
    "a function that cuts": (
        "def get(v):\n    h = net(v)\n    return head(Variable(h.data))\n\n\na = get(Variable(x, volatile=True))\n",
        None,
    ),
    "a module that cuts": (
        "class M(nn.Module):\n    def forward(self, v):\n        return head(net(v).detach())\n\n\nm = M()\n"
        "v = Variable(x, volatile=True)\na = m(v)\n",
        None,
    ),
    "a function that does not": (
        "def get(v):\n    h = net(v) * head(w)\n    return h\n\n\na = get(Variable(x, volatile=True))\n",
        1,
    ),
    "forward, called by its name": ("a = nn.Identity().forward(net(Variable(x, volatile=True)))\nb = head(w)\n", 1),
    "two of them": (
        "v, u = Variable(x, volatile=True), Variable(w, volatile=True)\na = net(v)\nb = (head(u) - a).sum()\nc = head(w)\n",
        1,
    ),
    "one of two": (
        "v, u = Variable(x, volatile=True), Variable(w)\na = net(v)\nb = head(u)\n",
        1,
    ),
    "moved first": (
        "a = net(Variable(x, volatile=True).type(torch.FloatTensor)).data.max(1)[1].view(2, 1)\nb = head(w)\n",
        1,
    ),
    "by position": ("v = Variable(x, False, True)\na = net(v)\nb = head(w)\n", 1),
    "a loss that adds up": (
        "total = 0\nfor i in range(2):\n    v = Variable(x, volatile=True)\n    total += net(v).sum()\nmean = total / 2\nb = head(w)\n",
        1,
    ),
    "into a loss with a graph": (
        "loss = head(w).sum()\nloss = loss + net(Variable(x, volatile=True)).data.sum()\nloss.backward()\n",
        None,
    ),
    "in the head of a loop": (
        "for t in net(Variable(x, volatile=True)):\n    b = head(Variable(t.data))\n",
        None,
    ),
    "a condition": ("if net(Variable(x, volatile=True)).data.sum() > 0:\n    n = 1\nb = head(w)\n", 1),
    "a condition for training": ("if net(Variable(x, volatile=True)).data.sum() < 100:\n    b = head(w)\n", None),
    "returned as it is": ("def f(x):\n    return Variable(x, volatile=True)\n\n\na = net(f(x))\n", None),
    "taken on for one loop only": (
        "v = Variable(x, volatile=True)\nfor layer in (net, head):\n    v = layer(v)\nb = head(w)\n",
        1,
    ),
    "a match": (
        "v = Variable(x, volatile=True)\nmatch len(x):\n    case 2:\n        a = net(v)\n    case _:\n        a = head(w)\nb = a\n",
        1,
    ),
    "a star": ("v = Variable(x, volatile=True)\nargs = (v,)\na = net(*args)\nb = head(w)\n", 1),
    "given together": (
        "pair = nn.Bilinear(3, 3, 3)\n\n\ndef f(x):\n    v, h = Variable(x, volatile=True), head(w)\n    row = (h, v)\n"
        "    a = pair(*row)\n    return a, h\n\n\na, b = f(x)\n",
        1,
    ),
    "the other one of two": (
        "def first(xs):\n    return net(xs[0])\n\n\ndef f(x):\n    v, h = Variable(x, volatile=True), head(w)\n"
        "    row = (h, v)\n    a = first(row)\n    return a, h, net(v)\n\n\na, b, c = f(x)\n",
        None,
    ),
    "the other one of two arguments": (
        "def first(x, y):\n    return net(x)\n\n\ndef f(x):\n    v, h = Variable(x, volatile=True), head(w)\n"
        "    a = first(h, v)\n    return a, h, net(v)\n\n\na, b, c = f(x)\n",
        None,
    ),
    "a dictionary": ("d = {'v': Variable(x, volatile=True)}\na = net(d['v'])\nb = head(w)\n", 1),
    "map": ("v = Variable(x, volatile=True)\nm = map(net, [v])\na = list(m)\ndel m\n", None),
    "a closure over a loop": (
        "fs = []\nv = Variable(x, volatile=True)\nfs.append(lambda: net(v))\na = fs[0]()\ndel fs\n",
        None,
    ),
    "in a class": ("class C:\n    v = Variable(x, volatile=True)\n\n\na = net(C.v)\ndel C\n", None),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_only_what_was_volatile_loses_its_graph(name: str) -> None:
    body, blocks = PROGRAMS[name]
    text = PRELUDE + body
    after = fixed(text, Fixing.UNSAFE)
    assert not differences(as_it_was(text), run(after), is_complete="Variable" not in after), after
    if blocks is None:
        assert "volatile" in after, after
    else:
        assert "Variable(" not in after, after
        assert after.count("with torch.no_grad():") == blocks, after


def test_nothing_is_detached_in_a_block_that_was_just_made() -> None:
    text = PRELUDE + "fake = Variable(head(Variable(torch.randn(2, 3), volatile=True)).data)\n"
    assert "    fake = head(torch.randn(2, 3))\n" in fixed(text, Fixing.UNSAFE)


def test_what_is_read_behind_a_block_waits_for_it_beside_other_arguments() -> None:
    text = (
        PRELUDE + "def f(log, x):\n    out = net(Variable(x, volatile=True))\n    log('out', out.data[0].numpy(), 3)\n"
    )
    assert "    log('out', out[0].numpy(), 3)\n" in fixed(text, Fixing.UNSAFE)


@pytest.mark.parametrize("name", PROGRAMS)
def test_the_order_of_modes_does_not_matter(name: str) -> None:
    text = PRELUDE + PROGRAMS[name][0]
    safe = fixed(text, Fixing.SAFE)
    assert "no_grad" not in safe
    assert "olatile=True" in safe or "False, True" in safe
    twice, once = fixed(safe, Fixing.UNSAFE), fixed(text, Fixing.UNSAFE)
    assert twice.replace(".detach()", "") == once.replace(".detach()", "")  # safe, a wrapper leaves that of it


BEFORE = """\
import torch
from torch import nn
from torch.autograd import Variable

net = nn.Linear(3, 2)


def run(train_loader, valid_loader):
    hits = 0
    for x, y in train_loader:
        out = net(x)
        hits += out.data.max(1)[1].eq(y).sum()
    for x, y in valid_loader:
        x = Variable(x, volatile=True)
        out = net(x)
        hits += out.data.max(1)[1].eq(y).sum()
    return hits
"""


def test_what_runs_before_waits_for_no_block() -> None:
    safe = fixed(BEFORE, Fixing.SAFE)
    assert safe.count("out.max(1)[1]") == 1
    assert fixed(safe, Fixing.UNSAFE) == fixed(BEFORE, Fixing.UNSAFE)


HELPER = """\
import numpy as np
import torch
from torch.autograd import Variable


def accuracy(output, target):
    _, pred = output.topk(1, 1)
    correct = pred.t().eq(target.view(1, -1))
    res = []
    res.append(correct[:1].reshape(-1).float().sum(0))
    {}return res
"""
USING = """\
import torch
from torch import nn
from torch.autograd import Variable
from helper import accuracy

net = nn.Linear(3, 2)


def evaluate(loader, meter):
    for x, y in loader:
        x = Variable(x, volatile=True)
        out = net(x)
        meter.update(accuracy(out, y)[0].data[0])
"""


KEPT = {
    "": True,
    "seen.extend(res)\n    ": False,
    "rows = []\n    rows.append(target)\n    rows = np.concatenate(rows, 0) if rows else None\n    ": True,
    "rows = seen\n    rows.append(target)\n    rows = np.concatenate(rows, 0)\n    ": False,
    "filled = Variable(torch.zeros(3)).cuda()\n    filled[0] = target[0]\n    ": True,
    "filled = Variable(target).cuda()\n    filled[0] = target[0]\n    ": False,
}


@pytest.mark.parametrize(("kept", "is_block"), KEPT.items())
def test_a_helper_of_another_file_that_fills_its_own_list(
    write: Callable[[dict[str, str]], Any], torchlint: Callable[..., Any], kept: str, is_block: bool
) -> None:
    write({"pyproject.toml": "", "helper.py": HELPER.format(kept), "use.py": USING})
    torchlint("check", "--isolated", "--no-cache", "--fix", "--unsafe-fixes", ".")
    assert ("with torch.no_grad():\n            out = net(x)" in Path("use.py").read_text(encoding="utf-8")) is is_block


GIVEN = """\
import torch
from torch.autograd import Variable
from helper import both


def go(h, x):
    v = Variable(x, volatile=True)
    return both(h, v)
"""
BOTH = {
    "return h * 2": False,
    "return h * v": True,
    "y = h + v\n    return y.sum()": True,
    "y = h * 2\n    return y.sum()": False,
    "if v.sum() > 0:\n        return h\n    return h * v": False,
}


@pytest.mark.parametrize(("body", "is_block"), BOTH.items())
def test_a_helper_of_another_file_that_computes_with_one_of_two(
    write: Callable[[dict[str, str]], Any], torchlint: Callable[..., Any], body: str, is_block: bool
) -> None:
    write({"pyproject.toml": "", "helper.py": f"def both(h, v):\n    {body}\n", "use.py": GIVEN})
    torchlint("check", "--isolated", "--no-cache", "--fix", "--unsafe-fixes", ".")
    assert ("with torch.no_grad():" in Path("use.py").read_text(encoding="utf-8")) is is_block


TOGETHER = """\
import torch
from torch import nn
from torch.autograd import Variable

net, other, losses = nn.Linear(3, 2), nn.Linear(2, 2), []


def score(p):
    losses.append(other(torch.ones(1, 2)).sum())
    return p.sum()


def evaluate(x, y):
    x, y = Variable(x, volatile=True), Variable(y, volatile=True)
    total = score(x)
    out = other(y)
    return total.data + out.sum().data
"""


def test_two_of_one_statement_are_done_with_together() -> None:
    assert fixed(TOGETHER, Fixing.UNSAFE).count("volatile=True") == 2
    apart = TOGETHER.replace("Variable(x, volatile=True), Variable(y, volatile=True)", "x, Variable(y, volatile=True)")
    assert "with torch.no_grad():\n        out = other(y)" in fixed(apart, Fixing.UNSAFE)


# what is called keeps something that has nothing to do with the volatile tensor, and is trained later
KEEPING = {
    "a function": "losses = []\ndef score(p):\n    losses.append(other(torch.ones(1, 3)).sum())\n    return p.sum()\nx = Variable(torch.ones(2, 3), volatile=True)\ns = score(net(x))\nloss = sum(losses) + net(torch.ones(1, 3)).sum()\n",
    "a module": "class M(nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.l = nn.Linear(3, 1)\n    def forward(self, x):\n        self.penalty = self.l.weight.norm()\n        return self.l(x)\nm = M()\nx = Variable(torch.ones(2, 3), volatile=True)\no = m(x)\nloss = other(torch.ones(1, 3)).sum() + m.penalty\n",
    "a method, through another one": "class T:\n    def __init__(self):\n        self.loss = 0\n    def add(self):\n        self.loss = self.loss + other(torch.ones(1, 3)).sum()\n    def metric(self, p):\n        self.add()\n        return p.sum()\n    def run(self, x):\n        x = Variable(x, volatile=True)\n        return self.metric(net(x))\nt = T()\ns = t.run(torch.ones(2, 3))\nloss = t.loss\n",
}


@pytest.mark.parametrize("program", KEEPING.values(), ids=KEEPING)
def test_what_a_call_keeps_has_its_graph(program: str) -> None:
    head = "import torch\nfrom torch import nn\nfrom torch.autograd import Variable\n\nnet, other = nn.Linear(3, 1), nn.Linear(3, 1)\n"
    text = f"{head}{program}loss.backward()\ngradients = [p.grad for p in (*net.parameters(), *other.parameters())]\n"
    fixed = check_text(text, "x.py", frozenset(catalogue()), Fixing.UNSAFE).text
    before, after = run(text), run(fixed)
    assert after.error is None
    kept = [[gradient is not None for gradient in each.variables["gradients"]] for each in (before, after)]
    assert kept[0] == kept[1]
    assert any(kept[0])


FLAG = """\
import torch
from torch.autograd import Variable


def score(net, x, volatile=False):
    x = Variable(x, volatile=volatile)
    return net(x)
"""


@pytest.mark.parametrize("fixing", Fixing)
def test_a_flag_stays_until_there_is_a_block(fixing: Fixing) -> None:
    assert fixed(FLAG, fixing) == FLAG
    messages = [d.message for d in check_text(FLAG, "x.py", frozenset(catalogue())).diagnostics if d.code == "TL202"]
    assert "`with torch.set_grad_enabled(not volatile):`" in messages[0]
    assert "nothing else uses the parameter `volatile` of `score`" in messages[0]


WRAPPING = """\
import torch
from torch.autograd import Variable


def to_var(x, cuda: bool = False, volatile=False, *, grad=False):
    if cuda:
        return Variable(x.cpu(), requires_grad=grad, volatile=volatile)
    return Variable(x, volatile=volatile)


print(to_var(torch.ones(2), grad=True), to_var(torch.ones(2), True))
"""


def fixed_in_project(
    text: str, write: Callable[[dict[str, str]], Any], torchlint: Callable[..., Any], *options: str
) -> str:
    write({"pyproject.toml": "", "use.py": text})
    torchlint("check", "--isolated", "--no-cache", "--fix", *options, ".")
    return Path("use.py").read_text(encoding="utf-8")


def test_a_flag_that_nobody_gives_goes_with_its_parameter(
    write: Callable[[dict[str, str]], Any], torchlint: Callable[..., Any]
) -> None:
    after = fixed_in_project(WRAPPING, write, torchlint, "--unsafe-fixes")
    assert "def to_var(x, cuda: bool = False, *, grad=False):\n" in after
    assert "volatile" not in after
    assert run(after).error is None


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("torch.ones(2), True", "torch.ones(2), True, True"),
        ("torch.ones(2), True", "torch.ones(2), volatile=True"),
        ("torch.ones(2), True", "*[torch.ones(2)]"),
        ("torch.ones(2), True", "torch.ones(2), **{}"),
        ("print(", "print(map(to_var, []), "),
        ("volatile=False", "volatile=True"),
        ("    return", "    volatile = len(x) > 3\n    return"),
        ("    return Variable(x,", "    print(volatile)\n    return Variable(x,"),
        ("    return Variable(x,", "    print(lambda: volatile)\n    return Variable(x,"),
        ("print(to_var", "globals()['to_var'](torch.ones(2), volatile=True)\nprint(to_var"),
    ],
)
def test_a_flag_that_somebody_may_give_stays(
    old: str, new: str, write: Callable[[dict[str, str]], Any], torchlint: Callable[..., Any]
) -> None:
    text = WRAPPING.replace(old, new)
    assert text != WRAPPING
    assert "volatile=volatile" in fixed_in_project(text, write, torchlint, "--unsafe-fixes")
    assert "volatile=volatile" in fixed_in_project(WRAPPING, write, torchlint)


def test_a_flag_that_another_file_gives_stays(
    write: Callable[[dict[str, str]], Any], torchlint: Callable[..., Any]
) -> None:
    write({"other.py": "from use import to_var\n\nto_var(x, volatile=True)\n"})
    assert "volatile=volatile" in fixed_in_project(WRAPPING, write, torchlint, "--unsafe-fixes")


@pytest.mark.parametrize("block", ["torch.set_grad_enabled(not volatile)", "torch.no_grad()"])
def test_a_flag_goes_where_there_is_a_block(block: str) -> None:
    text = FLAG.replace("    return net(x)", f"    with {block}:\n        return net(x)")
    assert "    x = x.detach()\n" in fixed(text, Fixing.SAFE)


@pytest.mark.parametrize("flag", ["self.volatile", "opt.volatile", "not self.args.volatile"])
@pytest.mark.parametrize("fixing", [Fixing.SAFE, Fixing.UNSAFE])
def test_a_flag_of_that_name_is_no_tensors(flag: str, fixing: Fixing) -> None:
    text = (
        f"{IMPORT}\nclass Blob:\n    def __init__(self, volatile):\n        self.volatile = volatile\n\n"
        f"    def reduce(self, opt):\n        self.images = Variable(torch.stack(self.rows), volatile={flag})\n"
    )
    outcome = check_text(text, "x.py", frozenset(("TL201", "TL202")), fixing)
    assert outcome.text == text
    assert any("set_grad_enabled(" in each.message for each in outcome.diagnostics)
