"""What is only named and not called: renamed by an unsafe fix, and by none where a file replaces it itself."""

from __future__ import annotations

import pytest

from torchlint.diagnostic import Applicability, Fixing
from torchlint.file.check import check_text
from torchlint.rules import catalogue

CODES = frozenset(catalogue())
HEAD = """\
import torch
import torch.nn.functional as F
from torch import nn
from torch.nn.init import xavier_normal
from torch.utils.data._utils.collate import default_collate
from unittest import mock
"""


def fixes(text: str, word: str) -> set[Applicability | None]:
    """How far the fixes of the findings on the lines with a word can be trusted."""
    lines = text.splitlines()
    outcome = check_text(text, "x.py", CODES)
    assert not outcome.problems
    found = [each for each in outcome.diagnostics if word in lines[each.start.row - 1]]
    return {each.fix.applicability if each.fix is not None else None for each in found}


NAMED = [
    "saved = F.upsample",
    "saved: object = F.tanh",
    'registry = {"tanh": F.tanh}',
    "functions = [torch.ger]",
    "apply(F.sigmoid, x)",
    "def apply(f=F.tanh): ...",
    "apply = lambda f=F.tanh: f",
    "class A:\n    act = F.tanh",
    'saved = getattr(F, "upsample")',
    "for f in (F.tanh, F.sigmoid): ...",
    "same = F.tanh is saved",
    "text = nn.init.constant.__doc__",
    "first = F.tanh if a else F.sigmoid",
    "class Loss(nn.NLLLoss2d): ...",
]


@pytest.mark.parametrize("text", NAMED)
def test_named_only(text: str) -> None:
    word = text.splitlines()[-1]
    assert fixes(f"{HEAD}{text}\n", word) == {Applicability.UNSAFE}


def test_what_is_imported_by_its_name_is_reported_at_the_import() -> None:
    assert fixes(f"{HEAD}made = [xavier_normal for _ in x]\n", "import xavier_normal") == {Applicability.UNSAFE}
    assert fixes(f"{HEAD}made = [xavier_normal for _ in x]\n", "made") == set()


def test_what_each_function_imports_is_reported_at_its_import() -> None:
    body = "    from torch.nn.init import xavier_uniform\n\n    xavier_uniform(w)\n"
    text = f"def f(w):\n{body}\n\ndef g(w):\n{body}\n\ndef h(w, xavier_uniform):\n    xavier_uniform(w)\n"
    outcome = check_text(text, "x.py", CODES)
    assert [each.start.row for each in outcome.diagnostics] == [2, 8]


CALLED = [
    "y = F.tanh(x)",
    'y = getattr(F, "upsample")(x)',
    "y = (F.tanh if a else F.sigmoid)(x)",
    "@torch.cuda.amp.custom_fwd\ndef f(ctx): ...",
    "def f(loss: nn.NLLLoss2d): ...",
    "xavier_normal(x)",
    "loader = make(collate_fn=default_collate)",
    "op = torch.distributed.reduce_op.SUM",
]


@pytest.mark.parametrize("text", CALLED)
def test_called_or_the_same_object(text: str) -> None:
    assert Applicability.SAFE in fixes(f"{HEAD}{text}\n", text.splitlines()[0]) | fixes(f"{HEAD}{text}\n", "import")
    assert not {None, Applicability.UNSAFE} & fixes(f"{HEAD}{text}\n", text.splitlines()[0])


PATCHED = [
    "F.tanh = wrap(F.tanh)",
    "F.tanh, other = wrap, 1",
    "del F.tanh",
    "F.tanh: object = wrap",
    "torch.tanh = wrap",
    'setattr(F, "tanh", wrap)',
    "for name in names: setattr(F, name, wrap)",
    'mock.patch.object(F, "tanh")',
    'mock.patch("torch.nn.functional.tanh")',
    'mock.patch.multiple("torch.nn.functional", tanh=wrap)',
    "mock.patch.multiple(F, tanh=wrap)",
    "def test(monkeypatch): monkeypatch.setattr(F, 'tanh', wrap)",
    "def test(monkeypatch): monkeypatch.setattr('torch.nn.functional.tanh', wrap)",
    "def patch():\n    F.tanh = wrap",
]


def test_what_no_file_replaces() -> None:
    """Else the two tests below say nothing."""
    for call in ("F.tanh(x)", "F.mse_loss(x, x, size_average=False)", "torch.autograd.Variable(x)"):
        assert fixes(f"{HEAD}y = {call}\n", "y = ") == {Applicability.SAFE}
    assert fixes(f"{HEAD}y = torch.ones(2).ger(torch.ones(2))\n", "y = ") == {Applicability.SAFE}
    assert fixes(f"{HEAD}saved = F.tanh\n", "saved") == {Applicability.UNSAFE}


@pytest.mark.parametrize("text", PATCHED)
def test_what_a_file_replaces_itself(text: str) -> None:
    assert fixes(f"{HEAD}{text}\ny = F.tanh(x)\n", "y = ") <= {None}
    assert fixes(f"{HEAD}{text}\nsaved = F.tanh\n", "saved") <= {None}


def test_arguments_and_methods_of_what_a_file_replaces() -> None:
    assert not fixes(f"{HEAD}F.mse_loss = wrap\ny = F.mse_loss(x, x, size_average=False)\n", "y = ")
    text = f"{HEAD}torch.Tensor.ger = wrap\ny = torch.ones(2).ger(torch.ones(2))\n"
    assert fixes(text, "y = ") <= {None}
    assert fixes(f"{HEAD}torch.autograd.Variable = wrap\ny = torch.autograd.Variable(x)\n", "y = ") <= {None}


def test_something_else_of_that_name_is_assigned() -> None:
    text = f"{HEAD}self.tanh = wrap\nmine.tanh = wrap\nF.relu = wrap\nsetattr(mine, 'tanh', wrap)\ny = F.tanh(x)\n"
    assert fixes(text, "y = ") == {Applicability.SAFE}


@pytest.mark.parametrize(
    "text",
    [
        "from torch.autograd import Variable\n\ndef f(x, cls=Variable):\n    return isinstance(x, cls)\n",
        "from torch.nn.init import xavier_normal\n\ndef f(x, init=xavier_normal):\n    return init(x)\n",
        "from torch.autograd import Variable\n\nf = lambda x, cls=Variable: isinstance(x, cls)\n",
    ],
)
def test_a_default_is_a_use_of_an_import(text: str) -> None:
    assert check_text(text, "x.py", CODES).diagnostics
    assert check_text(text, "x.py", CODES, Fixing.SAFE).text == text


@pytest.mark.parametrize(
    "text",
    [
        "import torch.autograd.variable\n\ntorch.autograd.variable.Variable._execution_engine.queue_callback(print)\n",
        "from torch.autograd import Variable\n\nVariable._execution_engine.queue_callback(print)\n",
        "from torch.autograd.variable import Variable\n\nengine = Variable._execution_engine\n",
    ],
)
def test_the_engine_is_reached_through_variable(text: str) -> None:
    assert check_text(text, "x.py", CODES).diagnostics == ()


def test_the_engine_beside_other_uses() -> None:
    head, end = (
        "import torch\nfrom torch.autograd import Variable\n\n",
        "Variable._execution_engine.queue_callback(print)\n",
    )
    text = f"{head}x = Variable(torch.ones(3))\n{end}"
    assert [found.start.row for found in check_text(text, "x.py", CODES).diagnostics] == [2, 4]
    after = check_text(text, "x.py", CODES, Fixing.SAFE)
    assert after.text == f"{head}x = torch.ones(3)\n{end}"
    assert after.diagnostics == ()
