"""Fixes against the programs of ``tests/attacks``, each of which one of them has broken once."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

import pytest
from several_files import wrong

from torchlint.diagnostic import Fixing
from torchlint.file.check import check_text
from torchlint.rules import catalogue

ATTACKS = Path(__file__).parent / "attacks"
BLOCK = re.compile(r"^## (?P<name>[^\n]+)\n+```python\n(?P<text>.*?)^```$", re.MULTILINE | re.DOTALL)
OTHER = re.compile(r"^# file: (\S+)\n", re.MULTILINE)


def programs(page: str) -> dict[str, Mapping[str, str]]:
    found: dict[str, Mapping[str, str]] = {}
    for block in BLOCK.finditer((ATTACKS / page).read_text(encoding="utf-8")):
        first, *others = OTHER.split(block["text"])
        found[block["name"]] = {"program.py": first, **dict(zip(others[::2], others[1::2], strict=True))}
    return found


@pytest.mark.parametrize("files", programs("safe.md").values(), ids=programs("safe.md"))
def test_it_does_the_same_after_safe_fixes(files: Mapping[str, str]) -> None:
    found = wrong(files, frozenset(catalogue()))
    assert found is not None, "it does not run as it stands"
    differing, fixed = found
    assert not differing, fixed


@pytest.mark.parametrize("files", programs("unsafe.md").values(), ids=programs("unsafe.md"))
def test_it_does_the_same_after_all_fixes_or_raises(files: Mapping[str, str]) -> None:
    found = wrong(files, frozenset(catalogue()), Fixing.UNSAFE)
    assert found is not None, "it does not run as it stands"
    differing, fixed = found
    assert not differing, fixed


def test_methods_that_nothing_overrides_keep_their_safe_fixes() -> None:
    path = Path(__file__).parent / "cases" / "overrides.py"
    fixed = check_text(path.read_text(encoding="utf-8"), path.name, frozenset(("TL201",)), Fixing.SAFE).text
    plain = ("self.start()", "self.other()", "noise(2) * 2", "known(2) * 2")
    assert all(f" {each}\n" in fixed.replace("  # TL201", "") for each in plain), fixed
