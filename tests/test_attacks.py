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


SAFE = {**programs("safe.md"), **programs("called.md")}


@pytest.mark.parametrize("files", SAFE.values(), ids=SAFE)
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


KEPT = {
    "program.py": """import torch
from base import Base
from torch import nn


class Net(Base):
    def __init__(self):
        super().__init__()
        self.state = torch.zeros(2)
        self.seen = torch.zeros(2)
        self.register_buffer("count", torch.zeros(2))
        for i in range(3):
            setattr(self, f"layer{i}", nn.Linear(2, 2))

    def forward(self, x):
        self.keep(x)
        return self.state.data * 1 + self.seen.data * 1 + self.count.data * 2


print(Net()(torch.ones(2, requires_grad=True)))
""",
    "base.py": """import torch
from torch import nn


class Base(nn.Module):
    def keep(self, x):
        self.seen = x.detach()
        self.state = torch.zeros(2)
        with torch.no_grad():
            self.count.add_(1)
        state = x * 2
        return state
""",
}


def test_attributes_that_nothing_gives_a_graph_are_read_plainly() -> None:
    found = wrong(KEPT, frozenset(("TL101",)))
    assert found is not None
    differing, fixed = found
    assert not differing
    assert "self.state * 1 + self.seen * 1 + self.count * 2" in fixed["program.py"]
