"""Fixes are judged by running the program before and after: never skipped, nothing mocked, real torch."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from programs import programs
from verdict import judge

from torchlint.diagnostic import Fixing
from torchlint.file.check import check_text
from torchlint.rules import catalogue
from torchlint.testing.examples import examples
from torchlint.testing.execution import differences, rough_differences, run
from torchlint.testing.programs import Program

CASES = sorted((Path(__file__).parent / "cases").glob("*.py"))
ALL = frozenset(catalogue())
RUNNABLE = ("run", "run-after")


def _programs() -> list[Program]:
    found = []
    for code, info in sorted(catalogue().items()):
        for example in examples(info.doc):
            if not example.options:
                continue
            found.append(Program.of(f"{code}-line{example.row}-all-rules", example, ALL))
    for path in CASES:
        text = path.read_bytes().decode("utf-8")
        first = text.partition("\n")[0].strip().removeprefix("#").strip()
        if first in RUNNABLE:
            found.append(Program(f"cases-{path.stem}", text, ALL, first == "run-after", unsafe_only=True))
    return found


JUDGED = int(os.environ.get("TORCHLINT_JUDGED", "200"))
"""How many generated programs are judged: more where there is time."""

PRELUDE = """
import numpy as np
import torch
from torch import nn
w = torch.ones(3, requires_grad=True)
n = nn.Linear(3, 3)
"""
PROGRAMS = _programs()
per_program = pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.name)


@per_program
def test_safe_fixes_change_nothing(program: Program) -> None:
    program.check_safe_fixes()


@per_program
def test_unsafe_fixes_run(program: Program) -> None:
    program.check_unsafe_fixes()


@settings(max_examples=JUDGED, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
@given(programs())
def test_generated_programs(text: str) -> None:
    """Safe fixes change nothing, unsafe ones leave what compiles, and fixing again does nothing.

    Here some hundreds; ``scripts/judge_fixes.py`` judges as many as one likes.
    """
    verdict = judge(text)
    assert not verdict.wrong, "\n".join(("", *verdict.wrong, "", text))


COUNTEREXAMPLES = {
    "TL105: x.cpu() is x, and what is written later shares its counter": "a = w * w\nk = w.cpu().data\nk.add_(1)",
    "TL201: Variable(x.data) has its own counter": "a = w * w\nk = Variable(w.data)\nk[0] = 3.0",
    "TL101: given to a function that map() calls": "a = w * w\nlist(map(lambda t: t.mul_(2), [w.data]))",
    "TL201: a view under no_grad requires grad": "with torch.no_grad():\n    k = Variable(w.view(3))",
    "TL201: what is returned is written by the caller": (
        "class K:\n    def __getitem__(self, i): return Variable(w.data)\n    @property\n    def v(self): return Variable(w.data)\n"
        "a = w * w\nk = K()\nt = k.v\nt += 1\nk[0].add_(1)\ndel k, K"
    ),
    "TL201: what forward returns is written by the next module": (
        "class D(nn.Module):\n    def forward(self, x): return Variable(x.data)\n"
        "h = w * 2\na = h * h\nb = nn.Sequential(D(), nn.ReLU(inplace=True))(h)\ndel D"
    ),
    "TL101: a parameter of the same memory": (
        "a = w * w\nq = nn.Parameter(w.data)\nwith torch.no_grad():\n    q.mul_(2)"
    ),
    "TL101: stored by setattr": ("class C: pass\nc = C()\na = w * w\nsetattr(c, 'x', w.data)\nc.x.add_(1)\ndel c, C"),
    "TL101: a function that writes": "a = w * w\nb = nn.functional.relu(w.data, inplace=True) * 2",
    "TL101: a module that returns what it is given": "a = w * w\nb = nn.Identity()(w.data)\nb.add_(1)",
    "TL101: its source is written where it is counted": "a = w.data * w\nwith torch.no_grad():\n    w.add_(1)",
    "TL101: a text under no_grad": "with torch.no_grad():\n    a = '%s' % w.data",
    "TL101: a text that shows the code": "a = f'{w.data=}'\nb = f'{w.sum().data.item()=}'",
    "TL101: a gradient with a graph": "(w ** 3).sum().backward(None, True, True)\na = w.grad.data.clone()",
    "TL101: a default": "a = w * w\ndef f(t=w.data):\n    return t\nk = f()\nk.add_(1)",
    "TL101: a repeated list": "a = w * w\nk = [w.data] * 2\nk[1].add_(1)",
    "TL101: taken out of a mapping": "a = w * w\nk = {'t': w.data}\nk.get('t').add_(1)",
    "TL101: a list of an outer scope": (
        "a = w * w\nkept = []\ndef keep(t):\n    kept.append(t.data)\nkeep(w)\nkept[0].add_(1)"
    ),
    "TL102: a gradient with a graph": "(w ** 3).sum().backward(None, True, True)\nw.grad.data.zero_()",
    "TL102: a property that cannot be set": (
        "class M(nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.fc = nn.Linear(3, 3)\n"
        "        self.weight.data *= 2\n    @property\n    def weight(self):\n        return self.fc.weight\n"
        "m = M()\ndel M"
    ),
    "TL101: its source is written by an optimizer": (
        "a = w.data * w\nw.grad = torch.ones(3)\ntorch.optim.SGD([w], lr=0.1).step()"
    ),
    "TL101: an optimizer writes to a parameter of the same memory": (
        "a = w * w\nq = nn.Parameter(w.data)\nq.grad = torch.ones(3)\ntorch.optim.SGD([q], lr=0.1).step()"
    ),
    "TL101: a caller writes to what it gives": (
        "def f(x, y):\n    return x.data * y\na = f(w, w)\nwith torch.no_grad():\n    w.add_(1)"
    ),
    "TL102: a block with another indentation": (
        "def f():\n\treturn w\nwith torch.no_grad():\n    w.add_(1)\nw.data[...] = 2.0\ndel f"
    ),
    "TL101: its source is written under another name": ("k = w\na = k.data * k\nwith torch.no_grad():\n    w.add_(1)"),
    "TL101: its source is written, and looped over": (
        "b = torch.ones(3)\na = sum(t.data * t for t in (b, w))\ntorch.optim.SGD([w], lr=0.1).zero_grad()\n"
        "with torch.no_grad():\n    w.add_(1)"
    ),
    "TL101: its source is written, and unpacked from a list that is looped over": (
        "b = torch.ones(3)\na = 0\nfor k, t in enumerate([b, w.view(3)]):\n    a = a + t.data * t\n"
        "with torch.no_grad():\n    w.add_(1)"
    ),
    "TL201: made to be optimised in a condition": (
        "k = torch.ones(3)\nk.requires_grad_() if k.is_leaf else None\na = Variable(k * 2)"
    ),
    "TL101: a caller writes to what it gives in a tuple": (
        "def f(h):\n    return h[0].data\nx = torch.ones(3)\na = f((x, x)) * w\nx.add_(1)"
    ),
    "TL201: made to be optimised under another name": (
        "def f(x):\n    return x\nx = torch.ones(3)\nk = f(x)\nk.requires_grad_()\na = Variable(x.clone())"
    ),
    "TL201: an array is no tensor": (
        "def f(x):\n    try:\n        return Variable(x)\n    except TypeError:\n        return Variable(torch.from_numpy(x))\n"
        "a = f(np.ones(3)), f(w)"
    ),
    "TL201: a number is no tensor": (
        "def f(x):\n    try:\n        x = Variable(x)\n    except (TypeError, ValueError):\n        x = None\n    return x\n"
        "a = f(3), f([1.0]), f(w)"
    ),
    "TL201: nothing at all": "def f(x=None):\n    return Variable(x)\na = f()\nb = Variable(None)",
    "TL201: a parameter that is not learnt": (
        "p = nn.Parameter(torch.ones(3), requires_grad=False)\na = Variable(p)\nb = isinstance(a, nn.Parameter)\n"
        "c = Variable(nn.Parameter(torch.ones(2), requires_grad=False))"
    ),
    "TL201: a parameter that is not learnt, asked to be": (
        "a = Variable(nn.Parameter(torch.ones(2), requires_grad=False), requires_grad=True)"
    ),
    "TL201: a subclass": (
        "class Sub(torch.Tensor):\n    pass\nx = torch.ones(3).as_subclass(Sub)\na = type(Variable(x)) is Sub\n"
        "b = isinstance(Variable(x * 2), Sub)\ndel x, Sub"
    ),
    "TL104: an array": (
        "def f(x):\n    if len(x) > 2:\n        x = n(x)\n    else:\n        x = np.ones(2)\n    try:\n        return np.asarray(x)\n"
        "    except RuntimeError:\n        return None\na = f(torch.ones(2))\nn(w).sum().backward()"
    ),
    "TL105: an operator by its name": "a = w * w\nk = w.cpu().data\nk.__iadd__(1)",
    "TL201: torch is another thing here": ("def f(x, torch=None):\n    return isinstance(x, Variable)\na = f(w)"),
    "TL201: the shape of the wrapper": "x = torch.ones(3)\nv = Variable(x)\nv.unsqueeze_(0)",
    "TL201: the wrapper is to be optimised": "x = torch.ones(3)\nv = Variable(x)\nv.requires_grad_()",
    "TL201: what is wrapped is to be optimised": "x = torch.ones(3)\nv = Variable(x)\nx.requires_grad_()",
    "TL201: a graph comes in": "x = torch.ones(3)\nv = Variable(x)\nv += w",
    "TL201: one of two": "x = torch.ones(3)\nv = Variable(x)\nk = v is x",
    "TL201: written by a lambda": "a = w * w\nwrite = lambda t: t.add_(1)\nwrite(Variable(w.data))",
    "TL201: written by who is given it": ("a = w * w\ndef f(h):\n    return Variable(h.data)\nk = f(w)\nk.add_(1)"),
    "TL201: written by a method": (
        "class C:\n    def __init__(self, t):\n        self.t = t\n    def write(self):\n        self.t.add_(1)\n"
        "a = w * w\nc = C(Variable(w.data))\nc.write()\ndel c, C"
    ),
    "TL101: the version itself": "w.data.add_(1)\nv = w.data._version",
    "TL102: how often it was written": (
        "def init(m):\n    m.bias.data.zero_()\nm = nn.Linear(3, 3)\nm.apply(init)\nv = m.bias._version"
    ),
    "TL102: a name of an outer scope": "def init_weights():\n    w.data *= 5\ninit_weights()\ndel init_weights",
    "TL102: the shape of a view": (
        "class M(nn.Module):\n    def __init__(self):\n        super().__init__()\n"
        "        self.w = nn.Parameter(torch.ones(2, 3))\n        self.w.data.t_()\nm = M()\nshape = m.w.shape\ndel m, M"
    ),
    "TL102: what is computed for it": (
        "class M(nn.Module):\n    def __init__(self):\n        super().__init__()\n"
        "        self.w = nn.Parameter(torch.ones(3))\n        self.w.data[0] = self.f()\n"
        "    def f(self):\n        self.c = self.w * 2\n        return self.c.sum().item()\n"
        "m = M()\ngrad = m.c.requires_grad\ndel m, M"
    ),
}
"""What generated programs have found, and is mended."""

EXCEPTION = "a = n.bias.data * n.bias\nn.bias.grad = torch.ones(3)\ntorch.optim.SGD(n.parameters(), lr=0.1).step()"
"""The one way in which reading `.data` and `.detach()` differ: what was read is saved for backward, and its source is
written before that. The gradients were silently wrong, now it raises. The contract of TL101 calls reads safe, and they
are called so unless the file itself writes to the source."""


@pytest.mark.parametrize("what", COUNTEREXAMPLES)
def test_counterexamples(what: str) -> None:
    _assert_same(COUNTEREXAMPLES[what])


@pytest.mark.xfail(strict=True, reason="the contract calls reads safe")
def test_exception() -> None:
    _assert_same(EXCEPTION)


def _assert_same(program: str) -> None:
    text = f"from torch.autograd import Variable\n{PRELUDE}{program}\n"
    outcome = check_text(text, "program.py", ALL, Fixing.SAFE)
    assert not differences(run(text), run(outcome.text))


def test_generated_programs_are_worth_running() -> None:
    """Most run, and in most there is something to fix: else the test above says nothing."""
    ran = fixed = total = 0

    @settings(max_examples=60, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck), database=None)
    @given(programs())
    def count(text: str) -> None:
        nonlocal ran, fixed, total
        total += 1
        ran += run(text).error is None
        fixed += check_text(text, "program.py", ALL, Fixing.SAFE).text != text

    count()
    assert ran > total / 2, f"{ran} of {total} run"
    assert fixed > total / 2, f"{fixed} of {total} are fixed"


# --------------------------------------------------------------------- the judge itself


CHANGES = {
    "value": ("a = w * 2", "a = w * 3"),
    "dtype": ("a = w * 2", "a = (w * 2).double()"),
    "shape": ("a = w * 2", "a = (w * 2)[None]"),
    "requires_grad": ("a = w.data", "a = w"),
    "graph": ("a = w * w", "a = w * w.detach()"),
    "no graph": ("a = w * w", "a = w.detach() * w.detach()"),
    "leaf gradient": ("w.sum().backward()", "(w * 2).sum().backward()"),
    "parameter": ("", "nn.init.zeros_(n.bias)"),
    "memory": ("a = w.data", "a = w.detach().clone()"),
    "array": ("a = np.ones(2)", "a = np.ones(2, dtype=np.float32)"),
    "array memory": ("a = w.data.numpy()", "a = w.data.numpy().copy()"),
    "type": ("a = w.sum().data", "a = w.sum().item()"),
    "random numbers": ("", "torch.randn(1)"),
    "output": ("", "print(w)"),
    "version": ("a = w * w\nw.data.add_(1)", "a = w * w\nwith torch.no_grad():\n    w.add_(1)"),
    "missing": ("a = 1", ""),
    "container": ("a = [w.sum(), {'x': w * 2}]", "a = [w.sum(), {'x': w * 3}]"),
    "strides": ("a = torch.ones(2, 3).t()", "a = torch.ones(3, 2)"),
    "leaf": ("a = torch.ones(2, requires_grad=True)", "a = torch.ones(2, requires_grad=True) * 1"),
    "memory of a gradient": ("w.sum().backward()\na = w.grad", "w.sum().backward()\na = w.grad.clone()"),
    "attribute of a tensor": ("a = w * 2\na.mark = 1", "a = w * 2"),
    "retained gradient": ("a = w * 2\na.retain_grad()", "a = w * 2"),
    "set": ("a = {1, 2}", "a = {1, 3}"),
    "mode": ("", "torch.set_grad_enabled(False)"),
    "default dtype": ("", "torch.set_default_dtype(torch.float64)"),
    "text": ("a = str(w.data)", "a = str(w)"),
    "number": ("a = 1", "a = True"),
    "one object": ("a = [w * 2]\nb = a[0]", "a = [w * 2]\nb = a[0].clone()"),
    "double backward": (
        "a = torch.autograd.grad((w ** 3).sum(), w, create_graph=True)[0]",
        "a = torch.autograd.grad((w ** 3).sum(), w)[0]",
    ),
    "object": ("class C: pass\na = C()\na.x = w * 2", "class C: pass\na = C()\na.x = w * 3"),
}


@pytest.mark.parametrize("what", CHANGES)
def test_the_judge_sees_a_change(what: str) -> None:
    one, other = (PRELUDE + text for text in CHANGES[what])
    assert differences(run(one), run(other))
    assert not differences(run(one), run(one))


def test_the_judge_starts_afresh() -> None:
    left = run(PRELUDE + "a = w * 2\na.register_hook(lambda g: torch.set_default_dtype(torch.float64))\nb = a * 2")
    assert not differences(left, left)
    assert run("import torch\na = torch.ones(1)").variables["a"].dtype.itemsize == 4


def test_the_judge_lets_equal_programs_pass() -> None:
    one = "import math\na = w.data\nb = w.grad\nc = torch.full((2,), math.nan)\no = torch.optim.Adam([w])\n(w * w).sum().backward()\no.step()"
    other = one.replace("w.data", "w.detach()").replace("import math\n", "import math, os\n")
    assert not differences(run(PRELUDE + one), run(PRELUDE + other))
    assert not differences(run(PRELUDE + "a = w * 2"), run(PRELUDE + "a = (w * 2).detach()"), may_detach=True)
    sub = "torch.ones(3).as_subclass(type('Sub', (torch.Tensor,), {})).requires_grad_()"
    subclasses = f"{PRELUDE}a = {sub}\nb = {sub}\nc = a * 2\nd = b * 2"
    assert not differences(run(subclasses), run(subclasses))
    assert not rough_differences(run(PRELUDE + "a = w.sum().data"), run(PRELUDE + "a = w.sum().item()"))
