"""The benchmark of old training programs: its list and its small parts. Running it takes checkouts and torch."""

from __future__ import annotations

import importlib.util
import json
import re
from pathlib import Path
from types import ModuleType

import pytest

FOLDER = Path(__file__).parents[1] / "benchmarks" / "revival"
PROGRAMS = json.loads((FOLDER / "programs.json").read_text())["programs"]


def runner() -> ModuleType:
    """`run.py` as a module."""
    spec = importlib.util.spec_from_file_location("revival_run", FOLDER / "run.py")
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_each_program_has_a_driver_and_each_driver_a_program() -> None:
    drivers = {path.stem for path in (FOLDER / "programs").glob("*.py") if not path.stem.startswith("made_")}
    assert {program["name"] for program in PROGRAMS} == drivers


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program["name"])
def test_entries_are_complete(program: dict[str, object]) -> None:
    assert re.fullmatch(r"[0-9a-f]{40}", str(program["commit"]))
    assert str(program["date"]) < "2018-04-24", "PyTorch 0.4 came out then"
    edits = program["edits"]
    assert isinstance(edits, list)
    for edit in edits:
        assert edit.keys() == {"file", "lines", "pattern", "to", "about", "why"}
        re.compile(edit["pattern"])


def test_edits_apply_to_their_lines_only(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("x = f()\nx = f()\n")
    runner().apply_edits(tmp_path, [{"file": "a.py", "lines": [2], "pattern": r"f\(\)", "to": "g(1)"}])
    assert (tmp_path / "a.py").read_text() == "x = f()\nx = g(1)\n"


def test_another_commit_is_noticed(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("x = f()\n")
    with pytest.raises(SystemExit, match="is it the right commit"):
        runner().apply_edits(tmp_path, [{"file": "a.py", "lines": [1], "pattern": "h", "to": ""}])


def test_summary_tells_falling_from_rising() -> None:
    found = runner().summary({"series": [5.0, 4.0, 3.0, 2.0, 1.0]})
    assert (found["first"], found["last"], found["falls"]) == (5.0, 1.0, True)
    assert not runner().summary({"series": [1.0, 2.0]})["falls"]
    assert "falls" not in runner().summary({"series": []})


def test_the_tables() -> None:
    edit = {"file": "a.py", "lines": [1, 2], "about": "torch", "why": "it is gone"}
    program = {"name": "net", "kind": "GAN", "repository": "ada/net", "commit": "0123456789", "edits": [edit, edit]}
    ran = {"fixed": 3, "left": {"TL201": 1}, "first": 2.0, "last": 1.0, "falls": True}
    before = {"error": "KeyError: \x1b[1ma|b\x1b[0m (You can do something else)"}
    results = {"net": {"before": before, "safe": ran, "after": {**ran, **before}, "by hand": ran, "needed": [1]}}
    text = runner().markdown([program], results)
    assert "Of 1 programs 0 run before, 1 after `--fix`, 0 after all fixes, 1 with the edits by hand; of these" in text
    error = "`KeyError: a\\|b`"
    assert f"| GAN | ada/net `0123456` (net) | {error} | runs | 3 of 4 | {error} | 2 + 0 | runs | 2 → 1 |" in text
    assert text.count("| net | a.py | 2 | it is gone |") == 1
