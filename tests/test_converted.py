"""TL104 against programs of several files, ``tests/converted/*.md``; the README beside them documents the format."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

from torchlint.diagnostic import Diagnostic, Fixing
from torchlint.file.check import check_text
from torchlint.testing.execution import ProgramRun, run

FILES = sorted(path for path in (Path(__file__).parent / "converted").glob("*.md") if path.name != "README.md")
BLOCK = re.compile(
    r"^## (?P<name>[^\n]+)\n+```python(?P<raises> raises)?\n(?P<text>.*?)^```$", re.MULTILINE | re.DOTALL
)
OTHER = re.compile(r"^# file: (\S+)\n", re.MULTILINE)
MARK = re.compile(r"# TL104(?: (safe|unsafe|unfixed))?$")
CODES = frozenset(("TL104",))
NET = """\
import torch
from torch import nn

net = nn.Linear(3, 1)
x = torch.ones(2, 3)
loss = net(x).mean()
loss.backward()
"""


@dataclass(frozen=True)
class Converted:
    """A program, and what the rule must find in its files."""

    name: str
    files: Mapping[str, str]
    raises: bool

    def __str__(self) -> str:
        return self.name

    def wanted(self) -> dict[tuple[str, int], str | None]:
        """The places with a finding, and what becomes of each."""
        lines = ((name, row, line) for name, text in self.files.items() for row, line in enumerate(text.split("\n"), 1))
        return {(name, row): match[1] for name, row, line in lines if (match := MARK.search(line))}

    def written(self, folder: Path) -> Path:
        (folder / "pyproject.toml").touch()
        for name, text in self.files.items():
            (folder / name).write_text(text, encoding="utf-8")
        return folder


def programs() -> Iterator[Converted]:
    for path in FILES:
        for block in BLOCK.finditer(path.read_text(encoding="utf-8")):
            text, *others = OTHER.split(block["text"])
            files = dict(zip(others[::2], others[1::2], strict=True))
            files["main.py"] = text.replace("$net\n", NET)
            yield Converted(f"{path.stem}: {block['name']}", files, bool(block["raises"]))


PROGRAMS = list(programs())
per_program = pytest.mark.parametrize("program", PROGRAMS, ids=str)


def what_becomes(diagnostic: Diagnostic) -> str:
    return "unfixed" if diagnostic.fix is None else diagnostic.fix.applicability.value


def executed(files: Mapping[str, str], folder: Path, monkeypatch: pytest.MonkeyPatch) -> ProgramRun:
    for name, text in files.items():
        (folder / name).write_text(text, encoding="utf-8")
        monkeypatch.delitem(sys.modules, name.removesuffix(".py"), raising=False)
    monkeypatch.syspath_prepend(str(folder))
    try:
        return run(files["main.py"])
    finally:
        for name in files:
            sys.modules.pop(name.removesuffix(".py"), None)


def test_all_blocks_are_programs() -> None:
    blocks = sum(path.read_text(encoding="utf-8").count("\n```python") for path in FILES)
    assert len(PROGRAMS) == blocks
    assert len({program.name for program in PROGRAMS}) == blocks


@per_program
def test_findings(program: Converted, tmp_path: Path) -> None:
    program.written(tmp_path)
    wanted = program.wanted()
    outcomes = {
        name: check_text(text, name, CODES, location=str(tmp_path / name)) for name, text in program.files.items()
    }
    assert [problem for outcome in outcomes.values() for problem in outcome.problems] == []
    found = {(name, d.start.row): what_becomes(d) for name, outcome in outcomes.items() for d in outcome.diagnostics}
    assert {at: found[at] if how is None and at in found else how for at, how in wanted.items()} == found


@per_program
def test_they_raise_or_run(program: Converted, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    error = executed(program.files, tmp_path, monkeypatch).error
    assert ("requires grad" in str(error)) if program.raises else (error is None), error


@pytest.mark.parametrize("program", [each for each in PROGRAMS if each.raises], ids=str)
def test_fixed_programs_run(program: Converted, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program.written(tmp_path)
    if "unfixed" in program.wanted().values():
        return
    fixed = {
        name: check_text(text, name, CODES, Fixing.UNSAFE, location=str(tmp_path / name)).text
        for name, text in program.files.items()
    }
    assert executed(fixed, tmp_path, monkeypatch).error is None


def test_the_reason_names_the_caller(tmp_path: Path) -> None:
    program = next(each for each in PROGRAMS if each.name == "raises: a loss that was sent back")
    text = (program.written(tmp_path) / "utils.py").read_text(encoding="utf-8")
    [found] = check_text(text, "utils.py", CODES, location=str(tmp_path / "utils.py")).diagnostics
    assert found.evidence is not None
    assert "`main.py:10`" in found.evidence.message


def test_a_notebook_that_calls(tmp_path: Path) -> None:
    cells = ["%matplotlib inline\n", NET, "!ls\nfrom plots import plot\nplot([loss])"]
    content = {"cells": [{"cell_type": "code", "source": [cell], "outputs": [], "metadata": {}} for cell in cells]}
    text = "import numpy as np\n\n\ndef plot(values):\n    return np.array(values)\n"
    (tmp_path / "pyproject.toml").touch()
    (tmp_path / "plots.py").write_text(text, encoding="utf-8")
    (tmp_path / "show.ipynb").write_text(json.dumps(content), encoding="utf-8")
    [found] = check_text(text, "plots.py", CODES, location=str(tmp_path / "plots.py")).diagnostics
    assert found.evidence is not None
    assert "`show.ipynb`" in found.evidence.message
