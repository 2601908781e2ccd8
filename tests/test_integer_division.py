"""What TL312 calls an index or a size raises when it is given a quotient, and takes the one of `//`."""

from __future__ import annotations

import pytest
import torch
import torch.nn.functional as F

from torchlint.file.check import check_text
from torchlint.rules import tl312_integer_division as rule

RULES = frozenset(("TL312",))
REST = {
    "gather": "", "index_select": "", "take": "", "bincount": "", "index_fill": ", 0.0", "index_fill_": ", 0.0",
    "index_add": ", y", "index_add_": ", y", "index_copy": ", y", "index_copy_": ", y", "scatter": ", y",
    "scatter_": ", y", "scatter_add": ", y", "scatter_add_": ", y",
}  # fmt: skip
METHODS = [f"x.{name}({'0, ' * at}whole / 2{REST[name]})" for name, at in rule._INDEX.items() if name != "bincount"]
FUNCTIONS = [
    f"torch.{name}(x, 0, whole / 2{REST[name]})" for name in ("gather", "index_select", "scatter", "index_add")
]
CALLS = [
    *METHODS,
    *FUNCTIONS,
    "torch.take(x, whole / 2)",
    "whole.bincount()[whole / 2]",
    *(f"x.{name}(one / 2)" for name in sorted(rule._SIZES) if name.startswith("new")),
    "x.view(one / 2, -1)",
    "x.reshape(-1, one / 2)",
    "x.expand(one / 2, 6)",
    "x[whole / 2]",
    "x[: one / 2]",
    "[i for i in range(one / 2)]",
    "F.embedding(whole / 2, torch.rand(3, 2))",
    "F.one_hot(whole / 2)",
]


def value(code: str) -> object:
    space = {"torch": torch, "F": F, "x": torch.rand(6), "y": torch.rand(6)}
    return eval(code, space | {"whole": torch.arange(6), "one": torch.tensor(12).sum()})


@pytest.mark.parametrize("call", CALLS)
def test_it_raises_and_is_found(call: str) -> None:
    with pytest.raises((IndexError, RuntimeError, TypeError)):
        value(call)
    value(call.replace(" / ", " // "))
    head = "import torch\nimport torch.nn.functional as F\nx = torch.rand(6)\ny = torch.rand(6)\n"
    head += "whole = torch.arange(6)\none = torch.tensor(12).sum()\n"
    assert [found.code for found in check_text(f"{head}z = {call}\n", "x.py", RULES).diagnostics] == ["TL312"]


@pytest.mark.parametrize("call", ["torch.arange(one / 2)", "x.split(one / 2)", "x * (whole / 2)", "x.mul(whole / 2)"])
def test_it_runs_and_is_silent(call: str) -> None:
    value(call)
    head = "import torch\nx = torch.rand(6)\nwhole = torch.arange(6)\none = torch.tensor(12).sum()\n"
    assert not check_text(f"{head}z = {call}\n", "x.py", RULES).diagnostics
