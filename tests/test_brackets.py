"""Commas, comments and brackets around what a fix takes out of a call, or out of its arguments."""

from __future__ import annotations

import ast
from collections.abc import Iterator

import pytest

from torchlint import edit
from torchlint.diagnostic import Fixing
from torchlint.file.check import check_text
from torchlint.rules import catalogue

CODES = frozenset(catalogue())

START = """\
import torch
from torch.autograd import Variable
import torch.nn as nn
import torch.nn.functional as F
w = torch.ones(3, requires_grad=True)
f = lambda: w
"""

# What is wrapped, and what becomes of it in `y = …`, with safe fixes.
WRAPPED = {
    "Variable(\n    torch.ones(2),  # c\n)": "(\n    torch.ones(2)  # c\n)",
    "Variable(  # c\n    torch.ones(2),\n)": "(  # c\n    torch.ones(2)\n)",
    "Variable(\n    torch.ones(2)  # c\n    , # d\n    # e\n)": "(\n    torch.ones(2)  # c\n     # d\n    # e\n)",
    "Variable(torch.ones(2),)": "torch.ones(2)",
    "Variable(w * 2,  # c, d\n)": "(w * 2  # c, d\n).detach()",
    "(Variable)(torch.ones(2), # c\n)": "(torch.ones(2) # c\n)",
    "Variable(x := torch.ones(2))": "(x := torch.ones(2))",
    "Variable((x := torch.ones(2)))": "(x := torch.ones(2))",
    "Variable(x := f())": "(x := f()).detach()",
    "Variable(x := torch.ones(2),  # c\n)": "(x := torch.ones(2)  # c\n)",
    "f(Variable(x := torch.ones(2)))": "f((x := torch.ones(2)).detach())",
    "dict(a=Variable(x := torch.ones(2)))": "dict(a=(x := torch.ones(2)))",
    "torch.ones(3)[Variable(x := torch.arange(2))]": "torch.ones(3)[(x := torch.arange(2))]",
    "Variable(w if f else f(),  # c\n)": "(w if f else f()  # c\n).detach()",
    "Variable(sum(t for t in [w]), # c\n)": "(sum(t for t in [w]) # c\n).detach()",
    "-Variable(-w, # c\n) ** 2": "-(-w # c\n).detach() ** 2",
    "[Variable(torch.ones(2), # c\n), w]": "[(torch.ones(2) # c\n), w]",
    "w[Variable(torch.arange(2), # c\n)]": "w[(torch.arange(2) # c\n)]",
    "Variable(Variable(w, # c\n), # d\n)": "((w # c\n).detach() # d\n)",
    "Variable(torch.ones(2) \\\n    + 1)": "(torch.ones(2) \\\n    + 1)",
    "Variable \\\n    (torch.ones(2))": "torch.ones(2)",
    "Variable(w # c\n    .sum())": "(w # c\n    .sum()).detach()",
    "Variable(*[w], # c\n)": "Variable(*[w], # c\n)",
}  # fmt: skip


@pytest.mark.parametrize("code", WRAPPED)
def test_what_is_unwrapped(code: str) -> None:
    outcome = check_text(f"{START}y = {code}\n", "x.py", CODES, Fixing.SAFE)
    assert outcome.problems == ()
    assert outcome.text.partition("\ny = ")[2] == f"{WRAPPED[code]}\n"


@pytest.mark.parametrize("code", ["await f()", "(await f())", "(yield w)", "(yield)"])
@pytest.mark.parametrize("comma", ["", ",", ",  # c\n    "])
def test_in_a_function_that_waits(code: str, comma: str) -> None:
    outcome = check_text(f"{START}async def g():\n    y = Variable({code}{comma})\n", "x.py", CODES, Fixing.SAFE)
    assert outcome.problems == ()
    made = ast.parse(outcome.text).body[-1]
    assert isinstance(made, ast.AsyncFunctionDef)
    assert ast.unparse(made.body[0]) == f"y = ({code.strip('()') + ('()' if 'f' in code else '')}).detach()"


# Calls of which a fix takes away an argument, or the call itself.
CALLS = (
    *("F.mse_loss(w, w, size_average=True)", "nn.MSELoss(size_average=True)", "nn.MSELoss(True)"),
    *("nn.MSELoss(size_average=False)", "nn.CrossEntropyLoss(None, False)", "F.cross_entropy(w, w, None, True)"),
    *("F.cross_entropy(w, w, size_average=False, reduce=True)", "Variable(w * 2, volatile=True)"),
    *("torch.add(w, 2, w)", "w.add_(2, w)", "torch.addmm(1, w, 2, w, w)", "torch.FloatTensor([1, 2])"),
    *("torch.log(torch.sum(torch.exp(w), 0))", "torch.log(1 + w)"),
    *("F.tanh(w)", "nn.init.normal(w, 0, 1)", "torch.ger(w, w)"),
)


def written(call: str) -> Iterator[str]:
    """A call with commas and comments in different places."""
    inside, first = call[:-1], call.index("(") + 1
    for end in (",", ",  # c\n", "  # c\n", "\n  # c\n", "  # c\n  ,"):
        yield f"{inside}{end})"
    yield f"{call[:first]}  # c\n{call[first:]}"
    before, comma, last = inside.rpartition(", ")
    if comma:
        yield f"{before},  # c\n  {last})"
        yield f"{before}  # c\n  , {last})"
        yield f"{before},  # c\n  {last},  # d\n)"
        yield f"{before}, \\\n  {last})"


@pytest.mark.parametrize("call", CALLS)
def test_commas_and_comments_change_nothing(call: str) -> None:
    def fixed(code: str) -> str:
        outcome = check_text(f"{START}y = {code}\n", "x.py", CODES, Fixing.UNSAFE)
        assert outcome.problems == (), code
        return ast.unparse(ast.parse(outcome.text).body[-1])

    expected = fixed(call)
    assert expected != f"y = {call}"
    for other in written(call):
        assert fixed(other) == expected, other


@pytest.mark.parametrize("end", ["", ",", ",  # c\n"])
def test_the_argument_of_the_base(end: str) -> None:
    text = f"{START}class D(torch.utils.data.Sampler):\n    def __init__(self, d):\n        super().__init__(d{end})\n"
    outcome = check_text(text, "x.py", CODES, Fixing.UNSAFE)
    assert outcome.problems == ()
    assert ast.unparse(ast.parse(outcome.text)).endswith("super().__init__()")


@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"], ids=["LF", "CRLF", "CR"])
@pytest.mark.parametrize(
    ("code", "is_broken"),
    [
        ("a + b", False),
        ("a + \\\n b", True),
        ("f(a,\n b)", False),
        ("f(a)\n.b", True),
        ('"\\\n"', False),
        ("r'\\\n' + b", False),
        ('"""\n"""', False),
        ("a[  # (\n]", False),
    ],
)
def test_lines_broken_outside_brackets(code: str, is_broken: bool, newline: str) -> None:
    assert edit.breaks_line(code.replace("\n", newline)) is is_broken
