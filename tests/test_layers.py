"""What exists only for speed changes nothing else: without each layer, findings and fixes are byte for byte the same."""

from __future__ import annotations

import functools
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import Torchlint

from torchlint.diagnostic import Fixing
from torchlint.file.check import Outcome, check_text
from torchlint.file.tree.fast import long_lists, long_modules
from torchlint.model.codebase.modules import Codebase
from torchlint.rules import catalogue
from torchlint.system.layers import VARIABLE, Layer, is_on, without

ROOT = Path(__file__).parent.parent
CODES = frozenset(catalogue())
FILES = sorted([*ROOT.glob("tests/cases/**/*.py"), *ROOT.glob("examples/**/*.py")])


@pytest.fixture(autouse=True)
def small_ones_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(long_lists, "LONG", 50)
    monkeypatch.setattr(long_lists, "_GROUP", 20)
    monkeypatch.setattr(long_modules, "LONG", 100)
    monkeypatch.setattr(long_modules, "PART", 50)


def fixed(path: Path) -> Outcome:
    return check_text(path.read_text(encoding="utf-8"), path.name, CODES, Fixing.UNSAFE, codebase=Codebase())


with_all = functools.cache(fixed)


def test_a_layer_that_does_not_exist(torchlint: Torchlint, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, "triggers,nothing")
    ran = torchlint("check")
    assert (ran.code, ran.out) == (2, "")
    assert ran.err.startswith(f"error: {VARIABLE}: no such layer: nothing (there are triggers, quick-trees, ")


@pytest.mark.parametrize("layer", list(Layer))
@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_nothing_changes_without(path: Path, layer: Layer) -> None:
    expected = with_all(path)
    with without(layer):
        assert fixed(path) == expected


def test_switches() -> None:
    with without(Layer.TRIGGERS):
        with without(Layer.TRIGGERS, Layer.QUICK_TREES):
            assert not is_on(Layer.QUICK_TREES)
        assert not is_on(Layer.TRIGGERS)
        assert is_on(Layer.QUICK_TREES)
    assert is_on(Layer.TRIGGERS)


@pytest.mark.parametrize(("value", "left_out"), [("", []), ("triggers, quick-trees", ["triggers", "quick-trees"])])
def test_the_environment(value: str, left_out: list[str]) -> None:
    code = "from torchlint.system.layers import *; print([each.value for each in Layer if not is_on(each)])"
    environment = {VARIABLE: value, "PYTHONPATH": str(ROOT)}
    ran = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
    assert ran.stdout == f"{left_out}\n"
