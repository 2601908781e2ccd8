"""A safe fix rests on what is proved: the receiver, the order of evaluation, where tensors are made."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch

from torchlint.diagnostic import Fixing
from torchlint.file.check import check_text
from torchlint.model.codebase.modules import Codebase
from torchlint.rules import catalogue

Write = Callable[[dict[str, str]], Any]
Torchlint = Callable[..., Any]

CODES = frozenset(catalogue())

BOX = """\
import torch


class Box:
    def detach(self):
        self.count = 1
        return self

    def add_(self, a, b):
        return self

    def zero_(self):
        return self


"""

# What stands after it, and what kinds of fixes its findings have where a class like Box is known, and where none is.
RECEIVERS = {
    "def f(b):\n    return b.to('cpu').detach()\n": ("unsafe", "safe"),
    "def f(b):\n    return b.cpu().detach()\n": ("unsafe", "safe"),
    "def f(m):\n    return m.detach().item()\n": ("unsafe", "safe"),
    "def f(m):\n    return m.detach().detach()\n": ("unsafe", "safe"),
    "def f(m):\n    return m.detach().cpu().numpy().tolist()\n": ("unsafe", "safe"),
    "def f(q):\n    q.add_(1, 2)\n": ("unsafe", "safe"),
    "def f(q):\n    q.detach()\n    return q.data.sum()\n": ("unsafe", "safe"),
    "class M:\n    def f(self):\n        return self.m.detach().item()\n": ("unsafe", "safe"),
    "b = Box()\nc = b.to('cpu').detach()\n": ("", None),
    "def f(m: torch.Tensor):\n    return m.detach().item()\n": ("safe", "safe"),
    "def f(b):\n    b.backward()\n    return b.to('cpu').detach()\n": ("safe", "safe"),
    "m = torch.ones(3, requires_grad=True)\nn = m.detach().tolist()\n": ("safe", "safe"),
    "m = torch.ones(3)\nm.add_(1, 2)\n": ("safe", "safe"),
}


def kinds(text: str, location: Path | None = None) -> str:
    at = None if location is None else str(location)
    outcome = check_text(text, "x.py", CODES, location=at, codebase=Codebase())
    return " ".join(d.fix.applicability.value for d in outcome.diagnostics if d.fix is not None)


@pytest.mark.parametrize("text", RECEIVERS)
def test_a_class_of_the_project_with_that_method(text: str, tmp_path: Path) -> None:
    known, unknown = RECEIVERS[text]
    assert kinds(BOX + text) == known
    (tmp_path / "pyproject.toml").touch()
    (tmp_path / "boxes.py").write_text(BOX, encoding="utf-8")
    assert kinds(f"import torch\nfrom boxes import Box\n{text}", tmp_path / "x.py") == known
    if unknown is not None:
        assert kinds(f"import torch\n{text}") == unknown


# Calls whose arguments a fix puts into another order.
ORDER = {
    "x.add_(1, x)": "safe",
    "x.add_(2 * n, x)": "safe",
    "x.add_(f(), x)": "safe",
    "x.add_(f(), g())": "unsafe",
    "torch.add(x, f(), g())": "unsafe",
    "torch.addmm(f(), x, 2, x, g())": "unsafe",
    "torch.addmm(1, x, 2, x, f())": "safe",
}


@pytest.mark.parametrize("call", ORDER)
def test_calls_are_made_in_their_order(call: str) -> None:
    assert kinds(f"import torch\nx = torch.ones(3)\n{call}\n") == ORDER[call]


# Where a tensor is made, and whether that is where it was made before.
PLACES = {
    "a = torch.FloatTensor([1, 2])": "safe",
    "with torch.device('meta'):\n    a = torch.FloatTensor([1, 2])": "unsafe",
    "with torch.no_grad(), torch.device('meta'):\n    a = torch.FloatTensor([1, 2])": "unsafe",
    "d = torch.device('meta')\nwith d:\n    a = torch.FloatTensor([1, 2])": "unsafe",
    "def f(d):\n    with d:\n        return torch.FloatTensor([1, 2])": "unsafe",
    "def f():\n    return torch.FloatTensor([1, 2])\nwith torch.device('meta'):\n    f()": "unsafe",
    "torch.set_default_device('meta')\na = torch.FloatTensor([1, 2])": "unsafe",
    "with torch.no_grad():\n    a = torch.FloatTensor([1, 2])": "safe",
    "with open('x') as file:\n    a = torch.FloatTensor([1, 2])": "safe",
}


@pytest.mark.parametrize("text", PLACES)
def test_a_default_device(text: str) -> None:
    assert kinds(f"import torch\n{text}\n") == PLACES[text]


ENDS = (
    "\n\n \n",
    "\n\n\t\r\n",
    "\n\n #c",
    "\n \t",
    "\n\t\n  \n",
    " \t",
    "\n\n # c\n\t# d\n \n",
    "\r\n\r\n  \r\n",
)


@pytest.mark.parametrize("end", ENDS)
@pytest.mark.parametrize("head", ["", "if 1:\n    ", "def f():\n\t"])
def test_a_file_that_ends_in_blanks(head: str, end: str) -> None:
    text = f"import torch\nfrom torch.autograd import Variable\n{head}y = Variable(torch.ones(3)){end}"
    outcome = check_text(text, "x.py", CODES, Fixing.SAFE)
    assert outcome.problems == ()
    assert outcome.text == f"import torch\n{head}y = torch.ones(3){end}"


def test_a_string_at_the_end_is_no_comment() -> None:
    text = 'import torch\ny = torch.ones(3, requires_grad=True).data, """\n # c\n # d"""\n'
    assert check_text(text, "x.py", CODES, Fixing.SAFE).text == text.replace(".data", ".detach()")


@pytest.mark.parametrize(
    ("caught", "is_safe"),
    {"IndexError": False, "(TypeError, IndexError)": False, "Exception": True, "ValueError": True}.items(),
)
def test_an_error_that_is_waited_for(caught: str, is_safe: bool) -> None:
    text = (
        "import torch\n\nw = torch.ones(3, requires_grad=True)\ntry:\n    a = w.sum().data[0]\n"
        f"except {caught}:\n    a = None\n"
    )
    assert kinds(text) == ("safe" if is_safe else "unsafe")


@pytest.mark.parametrize("caught", ["IndexError", "Exception"])
def test_a_new_way_in_the_handler_is_a_fallback(caught: str) -> None:
    text = (
        "import torch\n\nw = torch.ones(3, requires_grad=True)\ntry:\n    a = w.sum().data[0]\n"
        f"except {caught}:\n    a = w.sum().item()\n"
    )
    assert kinds(text) == ""


def _fixed(name: str, files: dict[str, str], write: Write, torchlint: Torchlint, folder: Path) -> str:
    """What safe fixes make of one of the files of a project."""
    write(files)
    torchlint("check", "--fix", name)
    return (folder / name).read_text(encoding="utf-8")


HOLDER = """\
import torch
from torch.autograd import Variable


class Holder:
    def __init__(self):
        self.value = torch.zeros(3)

    def twice(self):
        return Variable(self.value) * 2

    def wrapped(self):
        try:
            return Variable(self.value)
        except TypeError:
            return torch.from_numpy(self.value)

    def numbers(self):
        return self.value.data

    def thrice(self):
        return self.value.data * 3
"""
TRIED = "            return Variable(self.value)\n"


@pytest.mark.parametrize(
    ("elsewhere", "twice"),
    [
        ("", "self.value"),
        ("from holder import Holder\n\nf(Holder().value, key=1)\n", "self.value"),
        ("from holder import Holder\n\nHolder().value += given\n", "self.value.detach()"),
        ("from holder import Holder\n\nHolder().value = given\n", "self.value.detach()"),
    ],
)
def test_what_another_file_sets_may_have_a_graph(
    elsewhere: str, twice: str, write: Write, torchlint: Torchlint, tmp_path: Path
) -> None:
    fixed = _fixed(
        "holder.py", {"holder.py": HOLDER, "main.py": f"import torch\n{elsewhere}"}, write, torchlint, tmp_path
    )
    assert f"        return {twice} * 2\n" in fixed
    assert f"        return {twice} * 3\n" in fixed
    assert TRIED in fixed  # an attribute may be set to what is no tensor, for which the handler is


def test_what_the_file_sets_to_an_array_is_no_tensor(write: Write, torchlint: Torchlint, tmp_path: Path) -> None:
    text = f"import numpy as np\n{HOLDER}\n\nholder = Holder()\nholder.value = np.zeros(3)\n"
    fixed = _fixed("holder.py", {"holder.py": text}, write, torchlint, tmp_path)
    assert TRIED in fixed
    assert "        return self.value.data\n" in fixed


STEP = """\
import torch


class Descent(torch.optim.Optimizer):
    def step(self):
        for group in self.param_groups:
            for p in group["params"]:
                grad = p.grad.data
                self.state[p]["average"] = grad * 0.1
"""


@pytest.mark.parametrize(
    ("call", "read"),
    [
        ("loss.backward()", "p.grad"),
        ("loss.backward(create_graph=False)", "p.grad"),
        ("loss.backward(create_graph=True)", "p.grad.detach()"),
        ("loss.backward(create_graph=second)", "p.grad.detach()"),
        ("loss.backward(None, True)", "p.grad"),
        ("loss.backward(None, True, True)", "p.grad.detach()"),
        ("loss.backward(None, True, False)", "p.grad"),
        ("loss.backward(**{'create_graph': second})", "p.grad.detach()"),
        ("torch.autograd.backward(loss, create_graph=True)", "p.grad.detach()"),
        ("torch.autograd.backward(loss, None, None, True)", "p.grad.detach()"),
        ("g = torch.autograd.grad(loss, second, create_graph=True)", "p.grad"),
        ("g = torch.autograd.grad(loss, second, None, None, True)", "p.grad"),
        ("second.grad, = torch.autograd.grad(loss, second, create_graph=True)", "p.grad.detach()"),
        ("second.grad.copy_(torch.autograd.grad(loss, second, create_graph=True)[0])", "p.grad.detach()"),
        ("second.grad.zero_(); torch.autograd.grad(loss, second, create_graph=True)", "p.grad"),
        ("torch.autograd.functional.hessian(loss, second, create_graph=True)", "p.grad"),
        ("helper(loss, create_graph=True)", "p.grad.detach()"),
        ("loss.save_for_backward(loss, second, loss)", "p.grad"),
        ("def optimizer_zero_grad(self, epoch, batch, optimizer, *_): pass", "p.grad"),
        ("def _backward(self, reward, terminal): pass", "p.grad"),
    ],
)
def test_another_file_may_keep_the_graph_of_gradients(
    call: str, read: str, write: Write, torchlint: Torchlint, tmp_path: Path
) -> None:
    files = {"descent.py": STEP, "train.py": f"import torch\n\n\ndef train(loss, second=False):\n    {call}\n"}
    fixed = _fixed("descent.py", files, write, torchlint, tmp_path)
    assert f"                grad = {read}\n" in fixed


SENT_BACK = {
    "loss.backward()": False,
    "loss.backward(None, True)": False,
    "loss.backward(create_graph=True)": True,
    "loss.backward(None, None, True)": True,
    "loss.backward(inputs=[w], create_graph=True)": True,
    "torch.autograd.backward(loss, create_graph=True)": True,
    "torch.autograd.backward(loss, None, None, True)": True,
    "torch.autograd.grad(loss, w, create_graph=True)[0].pow(2).sum().backward()": False,
    "w.grad, = torch.autograd.grad(loss, w, create_graph=True)": True,
    "w.register_hook(lambda g: g * w); loss.backward()": False,
    "(w ** 3).backward(torch.ones(3, requires_grad=True))": False,
    "w.backward(w * 2)": False,
    "torch.autograd.functional.hessian(lambda v: v.sum(), w, create_graph=True); loss.backward()": False,
}


@pytest.mark.parametrize(
    ("line", "read"),
    [
        ("g = torch.autograd.grad(p.sum(), p, create_graph=True)", "p.grad"),
        ("g = torch.autograd.grad(p.sum(), p, create_graph=create_graph)", "p.grad"),
        ("if create_graph: g = torch.autograd.grad(p.sum(), p, create_graph=create_graph)", "p.grad"),
        ("if create_graph: p.sum().backward(create_graph=create_graph)", "p.grad.detach()"),
        ("if graph(create_graph): pass", "p.grad.detach()"),
        ("p.sum().backward(create_graph=create_graph)", "p.grad.detach()"),
        ("p.grad, = torch.autograd.grad(p.sum(), p, create_graph=True)", "p.grad.detach()"),
        ("p.grad.copy_(graph(p, create_graph=False))", "p.grad.detach()"),
        ("p.grad.copy_(torch.autograd.grad(p.sum(), p, create_graph=True)[0])", "p.grad.detach()"),
        ("p.grad, q = 2 * p, 1", "p.grad.detach()"),
        ("q = [p.grad, p.grad[0]]", "p.grad"),
    ],
)
def test_a_file_may_keep_the_graph_of_gradients(line: str, read: str) -> None:
    text = f"{STEP}\n\ndef more(p, graph, create_graph=False):\n    {line}\n    return p\n"
    outcome = check_text(text, "x.py", CODES, Fixing.SAFE)
    assert f"                grad = {read}\n" in outcome.text


@pytest.mark.filterwarnings("ignore:Using backward")
@pytest.mark.parametrize("call", SENT_BACK)
def test_which_calls_leave_a_graph_in_gradients(call: str) -> None:
    w = torch.ones(3, requires_grad=True)
    exec(call, {"torch": torch, "w": w, "loss": (w**3).sum()})
    assert w.grad is not None
    assert w.grad.requires_grad is SENT_BACK[call]


SET = """\
import torch
from torch.autograd import Variable

w = torch.ones(3, requires_grad=True)
a = Variable(torch.zeros_like(w).set_(w))
b = torch.zeros(3).set_(w * 2).data
"""


def test_what_is_set_to_the_memory_of_a_tensor_has_its_graph(
    write: Write, torchlint: Torchlint, tmp_path: Path
) -> None:
    fixed = _fixed("main.py", {"main.py": SET}, write, torchlint, tmp_path)
    assert "a = torch.zeros_like(w).set_(w).detach()\n" in fixed
    assert "b = torch.zeros(3).set_(w * 2).detach()\n" in fixed
