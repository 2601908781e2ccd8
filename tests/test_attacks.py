"""Safe fixes against the programs of ``tests/attacks/safe.md``, each of which one of them has broken once."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

import pytest
from several_files import wrong

from torchlint.rules import catalogue

PAGE = Path(__file__).parent / "attacks" / "safe.md"
BLOCK = re.compile(r"^## (?P<name>[^\n]+)\n+```python\n(?P<text>.*?)^```$", re.MULTILINE | re.DOTALL)
OTHER = re.compile(r"^# file: (\S+)\n", re.MULTILINE)


def programs() -> dict[str, Mapping[str, str]]:
    found: dict[str, Mapping[str, str]] = {}
    for block in BLOCK.finditer(PAGE.read_text(encoding="utf-8")):
        first, *others = OTHER.split(block["text"])
        found[block["name"]] = {"program.py": first, **dict(zip(others[::2], others[1::2], strict=True))}
    return found


@pytest.mark.parametrize("files", programs().values(), ids=programs())
def test_it_does_the_same_after_safe_fixes(files: Mapping[str, str]) -> None:
    found = wrong(files, frozenset(catalogue()))
    assert found is not None, "it does not run as it stands"
    differing, fixed = found
    assert not differing, fixed
