"""Programs of several files: run as they stand and after safe fixes, and compared."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

from torchlint.diagnostic import Fixing
from torchlint.file.check import check_text
from torchlint.rules import catalogue
from torchlint.testing.execution import ProgramRun, differences, run

ALL = frozenset(catalogue()) - {"TL107"}
"""All rules but the one whose fix is meant to change something: a total no longer requires grad."""


def wrong(
    files: Mapping[str, str], rules: frozenset[str] = ALL, fixing: Fixing = Fixing.SAFE
) -> tuple[list[str], Mapping[str, str]] | None:
    """How fixes change what ``program.py`` does, and the fixed files; None if it does not run as it stands.

    Unsafe ones may also raise.
    """
    before = _run(files)
    if before.error is not None:
        return None
    fixed = _fixed(files, rules, fixing)
    if fixed == files:
        return [], fixed
    after = _run(fixed)
    may_raise = fixing is Fixing.UNSAFE and after.error is not None
    return ([] if may_raise else differences(before, after)), fixed


def _run(files: Mapping[str, str]) -> ProgramRun:
    with tempfile.TemporaryDirectory() as folder:
        _write(files, Path(folder))
        sys.path.insert(0, folder)
        try:
            return run(files["program.py"])
        finally:
            sys.path.remove(folder)
            for name in files:
                sys.modules.pop(name.removesuffix(".py").removesuffix("/__init__").replace("/", "."), None)


def _fixed(files: Mapping[str, str], rules: frozenset[str], fixing: Fixing) -> dict[str, str]:
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder).resolve()
        _write({**files, "pyproject.toml": ""}, root)  # here the project ends
        outcomes = {
            name: check_text(text, name, rules, fixing, location=str(root / name)) for name, text in files.items()
        }
    problems = [problem for outcome in outcomes.values() for problem in outcome.problems]
    assert not problems, problems
    return {name: outcome.text for name, outcome in outcomes.items()}


def _write(files: Mapping[str, str], folder: Path) -> None:
    for name, text in files.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
