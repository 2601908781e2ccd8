"""TL107 against programs, ``tests/kept_graphs/*.md``; ``tests/kept_graphs/README.md`` documents the format."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from torchlint.diagnostic import Diagnostic, Fixing
from torchlint.file.check import Outcome, check_text
from torchlint.testing.execution import differences, run

FILES = sorted(path for path in (Path(__file__).parent / "kept_graphs").glob("*.md") if path.name != "README.md")
BLOCK = re.compile(r"^## (?P<name>[^\n]+)\n+```python(?P<run> run)?\n(?P<text>.*?)^```$", re.MULTILINE | re.DOTALL)
OTHER = re.compile(r"^# file: (\S+)\n", re.MULTILINE)
MARK = re.compile(r"# TL107(?: (safe|unsafe|unfixed))?$")
CODES = frozenset(("TL107",))
TRAIN = """\
import torch
from torch import nn

torch.manual_seed(0)
net = nn.Linear(3, 1)
criterion = nn.MSELoss()
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
batches = [(torch.full((2, 3), float(i)), torch.ones(2, 1)) for i in range(3)]
"""


@dataclass(frozen=True)
class Kept:
    """A program, and what the rule must find in it."""

    name: str
    text: str
    others: tuple[tuple[str, str], ...]
    runs: bool

    def __str__(self) -> str:
        return self.name

    def wanted(self) -> dict[int, str | None]:
        """The rows with a finding, and what becomes of each."""
        rows = enumerate(self.text.split("\n"), 1)
        return {row: match[1] for row, line in rows if (match := MARK.search(line))}

    def check(self, folder: Path, fixing: Fixing = Fixing.NONE) -> Outcome:
        """What the rule finds in a program that stands in a folder with its other files."""
        (folder / "pyproject.toml").touch()
        for name, text in (("main.py", self.text), *self.others):
            (folder / name).write_text(text, encoding="utf-8")
        return check_text(self.text, "main.py", CODES, fixing, location=str(folder / "main.py"))


def programs() -> Iterator[Kept]:
    for path in FILES:
        for block in BLOCK.finditer(path.read_text(encoding="utf-8")):
            text, *others = OTHER.split(block["text"])
            pairs = tuple(zip(others[::2], others[1::2], strict=True))
            yield Kept(f"{path.stem}: {block['name']}", text.replace("$train\n", TRAIN), pairs, bool(block["run"]))


PROGRAMS = list(programs())
per_program = pytest.mark.parametrize("program", PROGRAMS, ids=str)


def what_becomes(diagnostic: Diagnostic) -> str:
    return "unfixed" if diagnostic.fix is None else diagnostic.fix.applicability.value


def test_all_blocks_are_programs() -> None:
    blocks = sum(path.read_text(encoding="utf-8").count("\n```python") for path in FILES)
    assert len(PROGRAMS) == blocks
    assert len({program.name for program in PROGRAMS}) == blocks


@per_program
def test_findings(program: Kept, tmp_path: Path) -> None:
    wanted = program.wanted()
    found = {d.start.row: what_becomes(d) for d in program.check(tmp_path).diagnostics}
    assert {row: found[row] if how is None and row in found else how for row, how in wanted.items()} == found


@per_program
def test_fixed_programs_compile_and_stay(program: Kept, tmp_path: Path) -> None:
    for fixing in (Fixing.SAFE, Fixing.UNSAFE):
        outcome = program.check(tmp_path, fixing)
        assert not outcome.problems
        compile(outcome.text, "main.py", "exec")
        again = check_text(outcome.text, "main.py", CODES, fixing, location=str(tmp_path / "main.py"))
        assert again.text == outcome.text


@pytest.mark.parametrize("program", [program for program in PROGRAMS if program.runs], ids=str)
def test_safe_fixes_change_nothing_but_graphs(program: Kept, tmp_path: Path) -> None:
    before = run(program.text)
    assert before.error is None, before.error
    fixed = program.check(tmp_path, Fixing.SAFE).text
    assert not differences(before, run(fixed), may_detach=True)
