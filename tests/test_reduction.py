"""`size_average` and `reduce` of every loss of the table, by position: what the fix writes is what torch does today."""

from __future__ import annotations

import ast
import inspect
import itertools
import warnings
from typing import Any

import pytest
import torch
from test_api_table import ROWS, TABLE

from torchlint.diagnostic import Fixing
from torchlint.file.check import check_text
from torchlint.file.triggers.gate import can_match

LOSSES = [row for row in ROWS if row.get("fix") == "reduction" and "signature" in row]
RULES = frozenset(("TL303",))
FLAGS = [
    flags for flags in itertools.product((None, True, False), (None, True, False)) if any(f is not None for f in flags)
]


def space() -> dict[str, Any]:
    found: dict[str, Any] = {}
    torch.manual_seed(0)
    exec(TABLE["prelude"], found)
    return found


def by_position(row: dict[str, Any], size_average: bool | None, reduce: bool | None) -> str:
    """The row's example, with its flags by position, and whatever stands before them as it is by default."""
    outer = ast.parse(row["before"], mode="eval").body
    assert isinstance(outer, ast.Call)
    call = outer.func if isinstance(outer.func, ast.Call) else outer
    parameters = list(inspect.signature(eval(row["name"])).parameters.values())
    flags = {"size_average": size_average, "reduce": reduce}
    call.keywords = []
    for parameter in parameters[len(call.args) : [p.name for p in parameters].index("reduce") + 1]:
        call.args.append(ast.Constant(flags.get(parameter.name, parameter.default)))
    return ast.unparse(outer)


@pytest.mark.parametrize("row", LOSSES, ids=lambda row: str(row["name"]))
def test_positional_flags(row: dict[str, Any]) -> None:
    for flags in FLAGS:
        before = by_position(row, *flags)
        head = "import torch\nimport torch.nn.functional as F\nfrom torch import nn\n"
        text = f"{head}value = {before}\n"
        assert can_match(text.encode(), RULES)
        outcome = check_text(text, "x.py", RULES, fixing=Fixing.SAFE)
        after = outcome.text.removeprefix(f"{head}value = ").strip()
        assert after != before
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            old = eval(before, space())
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            warnings.filterwarnings("error", ".*size_average")
            new = eval(after, space())
        assert torch.equal(old, new), (before, after)
        assert not check_text(outcome.text, "x.py", RULES).diagnostics


@pytest.mark.parametrize("row", LOSSES, ids=lambda row: str(row["name"]))
def test_signature(row: dict[str, Any]) -> None:
    names = [part.strip() for part in row["signature"].split(",")]
    assert names == list(inspect.signature(eval(row["name"])).parameters)[: len(names)]


SILENT = [
    "nn.CrossEntropyLoss(w, None, 5)",
    "nn.MultiMarginLoss(2, 1.0)",
    "F.cross_entropy(x, y, w)",
    "F.mse_loss(x, y)",
    "F.mse_loss(*both)",
    "F.l1_loss(x, y, reduction='sum')",
    "MSELoss(False)",
]


@pytest.mark.parametrize("call", SILENT)
def test_silent(call: str) -> None:
    text = f"import torch.nn.functional as F\nfrom torch import nn\nv = {call}\n"
    assert not check_text(text, "x.py", RULES).diagnostics


@pytest.mark.parametrize(("call", "expected"), [("Loss(size_average=False)", ["TL303"]), ("Loss(False)", [])])
def test_an_alias_is_looked_up_for_keywords(call: str, expected: list[str]) -> None:
    """The gate does not see how many arguments the calls of a name of the file's own have: so nobody looks at them."""
    text = f"from torch.nn import MSELoss as Loss\nv = {call}\n"
    assert [found.code for found in check_text(text, "x.py", RULES).diagnostics] == expected
    assert can_match(text.encode(), RULES) == bool(expected)
