"""Each unsafe fix says what can change in its place, in a line that reports show."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from conftest import Torchlint

from torchlint.diagnostic import Applicability, Fixing, LocatedFix
from torchlint.file.check import check_text
from torchlint.rules import catalogue
from torchlint.rules.api.table import DATA
from torchlint.testing import examples

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

Write = Callable[[dict[str, str | bytes]], None]

CASES = sorted(Path(__file__).parent.glob("cases/*.py"))


def _unsafe(text: str) -> Iterator[LocatedFix]:
    """The unsafe fixes of a text, as they are and as alternatives."""
    for found in check_text(text, "x.py", frozenset(catalogue()), Fixing.NONE).diagnostics:
        if found.fix is not None:
            yield from (
                each for each in (found.fix, *found.fix.alternatives) if each.applicability is Applicability.UNSAFE
            )


def _silent(text: str) -> list[str]:
    """The unsafe fixes of a text that do not say what they can change, or not in a line."""
    return [fix.message for fix in _unsafe(text) if not 0 < len(fix.risk) <= 160]


@pytest.mark.parametrize("path", CASES, ids=[path.stem for path in CASES])
def test_each_says_what_can_change(path: Path) -> None:
    assert _silent(path.read_text()) == []


@pytest.mark.parametrize("code", sorted(catalogue()))
def test_each_of_a_page_says_what_can_change(code: str) -> None:
    assert [silent for example in examples(catalogue()[code].doc) for silent in _silent(example.before)] == []


def test_each_of_the_table_says_what_can_change() -> None:
    table = tomllib.loads((DATA / "api.toml").read_text(encoding="utf-8"))
    texts = [f"{table['prelude']}{row.get('setup', '')}\n{row.get('before', '')}\n" for row in table["api"]]
    assert {silent for text in texts for silent in _silent(text)} == set()


HALF = """\
import torch
from torch import nn

m = nn.Linear(2, 2)


@torch.no_grad()
def average(new: nn.Linear, tau: float) -> None:
    m.weight.data = tau * new.weight.data + (1 - tau) * m.weight.data
"""


def test_halves_have_the_reason_of_the_other_half() -> None:
    assert {fix.risk for fix in _unsafe(HALF)} == {
        "`lerp_` rounds the last digit differently and wants one dtype, and if autograd has saved the old values, "
        "`backward()` raises now"
    }


def test_in_json(write: Write, torchlint: Torchlint) -> None:
    write(
        {
            "x.py": "import torch\n\nx = torch.ones(2, requires_grad=True)\ny = x.data\ny[0] = 1\nprint(f'{x.data=}', x.data)\n"
        }
    )
    for _ in range(2):  # the second time from the cache
        entries = json.loads(torchlint("check", "--select", "TL101", "--output-format", "json").out)
        assert [(entry["fix"]["applicability"], entry["fix"]["risk"]) for entry in entries] == [
            ("unsafe", "what is read is written to in place, and `backward()` may raise for that now"),
            ("unsafe", "the program prints this code"),
            ("safe", None),
        ]
