"""Tensors that are read to Python numbers: one finding for one site, and what is needless goes in one step."""

from __future__ import annotations

import pytest

from torchlint.diagnostic import Fixing
from torchlint.file.check import check_text
from torchlint.rules import catalogue

CODES = frozenset(catalogue())


def checked(body: str, fixing: Fixing = Fixing.NONE) -> tuple[list[tuple[str, str]], str]:
    """The findings in a function about a tensor `x`, and its text after fixes."""
    outcome = check_text(f"import torch\n\n\ndef f(x: torch.Tensor, xs):\n    {body}\n", "x.py", CODES, fixing)
    kinds = [(d.code, d.fix.applicability.value if d.fix is not None else "") for d in outcome.diagnostics]
    return kinds, outcome.text.rpartition("xs):\n    ")[2].removesuffix("\n")


# What is returned, which rules speak of it, and what safe fixes make of it.
READ = {
    "x.cpu().numpy().tolist()": ([], "x.cpu().numpy().tolist()"),
    "x.numpy().tolist()": ([], "x.numpy().tolist()"),
    "x.cpu().item()": ([], "x.cpu().item()"),
    "x.detach().cpu().item()": (["TL106"], "x.item()"),
    "x.detach().cpu().tolist()": (["TL106"], "x.tolist()"),
    "x.data.cpu().item()": (["TL106"], "x.item()"),
    "x.detach().cpu().numpy().tolist()": (["TL106"], "x.tolist()"),
    "x.detach().cuda().item()": (["TL106"], "x.cuda().item()"),
    "x.detach().to('cpu', torch.int).cpu().item()": (["TL106"], "x.to('cpu', torch.int).cpu().item()"),
    "x.cpu().detach().item()": (["TL106"], "x.cpu().item()"),
    "x.cpu().detach().numpy()": (["TL105"], "x.detach().cpu().numpy()"),
    "x.detach().cpu().numpy().item()": (["TL106"], "x.item()"),
    "x.detach().cpu().numpy().item(0)": ([], "x.detach().cpu().numpy().item(0)"),
}


@pytest.mark.parametrize("read", READ)
def test_one_finding_and_one_fix(read: str) -> None:
    codes, fixed = READ[read]
    assert [code for code, _ in checked(f"return {read}")[0]] == codes
    assert checked(f"return {read}", Fixing.SAFE)[1] == f"return {fixed}"


@pytest.mark.parametrize("read", ["x.detach().data.detach()", "x.detach().data.detach().detach()"])
def test_as_many_fixes_as_are_announced(read: str) -> None:
    text = f"import torch\n\n\ndef f(x: torch.Tensor):\n    return {read}\n"
    announced = check_text(text, "x.py", CODES).diagnostics
    outcome = check_text(text, "x.py", CODES, Fixing.UNSAFE)
    assert "return x.detach()\n" in outcome.text
    assert sum(count for _, count in outcome.fixed) == len([each for each in announced if each.fix is not None])


# Where the first element is made a number: whether a 0-dim tensor is meant.
NUMBERS = {
    "return int(x.data[0])": True,
    "return float(x.data[0])": True,
    "return int(x[0].data[0])": True,
    "return float(x.data.cpu()[0])": True,
    "return [float(t.data[0]) for t in x]": True,
    "return int(x.data[0]), int(x.data[1])": False,
    "return int(x.data[0]), x[1:]": False,
    "return int(x.data[0]), len(x)": False,
    "return int(x.data[0]), [t.sum() for t in x]": False,
    "_, best = torch.max(x, 1)\n    return int(best.data[0])": False,
    "return int(x.data[0][1])": False,
    "return str(x.data[0])": False,
}


@pytest.mark.parametrize("body", NUMBERS)
def test_a_first_element_that_is_made_a_number(body: str) -> None:
    kinds = checked(body)[0]
    if NUMBERS[body]:
        assert kinds == [("TL203", "unsafe")]
        assert ".item()" in checked(body, Fixing.UNSAFE)[1]
    else:
        assert {code for code, _ in kinds} == {"TL101"}
