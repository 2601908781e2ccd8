"""The table of torch's API: its columns, each row under torch, and that its rule finds and fixes the row's example."""

from __future__ import annotations

import importlib
import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import torch

from torchlint.diagnostic import Fixing
from torchlint.file.check import check_text
from torchlint.file.triggers.gate import can_match
from torchlint.rules import catalogue
from torchlint.rules.api import table
from torchlint.rules.api.calls import parameters
from torchlint.rules.api.table import Row

ROOT = Path(__file__).parent.parent

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

TABLE: dict[str, Any] = tomllib.loads((table.DATA / "api.toml").read_text(encoding="utf-8"))
ROWS: list[dict[str, Any]] = TABLE["api"]
EXECUTED = [row for row in ROWS if row["status"] != "not-run"]

KINDS = {
    "function", "class", "attribute", "module", "method", "argument", "default", "positional", "behaviour", "context",
    "iterator", "old-style", "called-module",
}  # fmt: skip
TEXTS = {
    "name", "kind", "rule", "lost", "argument", "deprecated", "removed", "replacement", "since", "advice", "fix", "to", "text",
    "literal", "signature", "fields", "condition", "status", "source", "note", "setup", "before", "after",
}  # fmt: skip
TIMELESS = {"drop-argument", "rename-method", "next", "super-init", "import", "builtin"}
"""Fixes that write what there always was."""
VERSION = re.compile(r"\d+\.\d+")


def label(row: dict[str, Any]) -> str:
    argument = f"({row['argument']})" if "argument" in row else ""
    literal = f"={row['literal']}" if "literal" in row else ""
    return f"{row['name']}{argument}{literal}-{row['kind']}"


per_row = pytest.mark.parametrize("row", ROWS, ids=label)


# --------------------------------------------------------------------- columns


@per_row
def test_columns(row: dict[str, Any]) -> None:
    for key in ("name", "kind", "rule", "deprecated", "status", "source", "before"):
        assert row.get(key), f"{key} is missing"
    for key, value in row.items():
        if key in TEXTS:
            assert isinstance(value, str), key
        else:
            assert key in ("position", "safe", "same", "equal", "cases", "keywords"), f"unknown column {key}"
    assert row["kind"] in KINDS
    assert row["rule"] in catalogue()
    assert row["status"] in ("raises", "warns", "silent", "not-run")
    for key in ("deprecated", "removed", "since"):
        assert key not in row or VERSION.fullmatch(row[key]), key
    parsed = table.row(row)
    assert parsed.removed is None or parsed.deprecated <= parsed.removed
    if parsed.fix:
        assert parsed.since is not None or parsed.fix in TIMELESS, "since when?"
        assert "after" in row or not parsed.safe, "a safe fix without an example"
    assert parsed.instead or parsed.removed, "nothing to say"
    assert not parsed.replacement or parsed.since is not None
    if row["status"] == "not-run":
        assert not parsed.safe, "safe is what is executed"
    if parsed.kind in ("argument", "default"):
        assert parsed.argument
    if parsed.signature:
        names = {parameter.name for parameter in parameters(parsed.signature)}
        for case in parsed.cases:
            assert set(re.findall(r"\{(\w+)", case.write)) <= names
            assert set(re.findall(r"(\w+)=", case.when)) <= names


def test_no_row_twice() -> None:
    keys = [(row["name"], row.get("argument"), row["kind"], row.get("literal")) for row in ROWS]
    assert len(keys) == len(set(keys))


def test_how_many() -> None:
    assert len(EXECUTED) >= 300


def test_the_files_for_run_time_are_in_step() -> None:
    command = [sys.executable, "scripts/build_api.py", "--check"]
    ran = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stdout
    assert len(table.rows()) == len(ROWS)


# --------------------------------------------------------------------- torch


def results() -> dict[str, tuple[dict[str, Any], dict[str, Any] | None]]:
    """What the examples of all rows do, before and after."""
    jobs: list[dict[str, str]] = []
    places: list[tuple[str, int]] = []
    for row in EXECUTED:
        for at, key in enumerate(("before", "after")):
            if key in row:
                jobs.append({"setup": row.get("setup", ""), "code": row[key]})
                places.append((label(row), at))
    found: dict[str, list[dict[str, Any] | None]] = {label(row): [None, None] for row in EXECUTED}
    for (name, at), result in zip(places, executed(jobs, share=40), strict=True):
        found[name][at] = result
    again = [
        row for row in EXECUTED if problems(row, *found[label(row)])
    ]  # on its own: others may have come in between
    alone = {row_job: None for row in again for row_job in ((label(row), 0), (label(row), 1)) if row_job in places}
    wanted = [place for place in places if place in alone]
    for (name, at), result in zip(wanted, executed([jobs[places.index(place)] for place in wanted], 1), strict=True):
        found[name][at] = result
    return {name: (before, after) for name, (before, after) in found.items() if before is not None}


def executed(jobs: list[dict[str, str]], share: int) -> list[dict[str, Any]]:
    asked = json.dumps({"prelude": TABLE["prelude"], "jobs": jobs, "share": share})
    command = [sys.executable, str(Path(__file__).with_name("api_rows.py"))]
    ran = subprocess.run(command, input=asked, capture_output=True, text=True, check=True)
    results: list[dict[str, Any]] = json.loads(ran.stdout)
    return results


def problems(row: dict[str, Any], before: dict[str, Any] | None, after: dict[str, Any] | None) -> list[str]:
    """Where what torch does is not what a row says."""
    assert before is not None
    for result in (before, after):
        if result is not None and "setup" in result:
            return [f"the example cannot be set up: {result['setup']}"]
    found = []
    if row["status"] == "raises":
        if not before["error"]:
            found.append("it does not raise")
        if "removed" not in row:
            found.append("it raises, and is not said to be removed")
    else:
        if "removed" in row:
            found.append("it is said to be removed")
        if before["error"] is not None and not before["warnings"]:
            found.append(f"it raises {before['error']}")
        if bool(before["warnings"]) is not (row["status"] == "warns"):
            found.append(f"it warns {before['warnings']}")
    if after is None:
        return found
    if after["error"] is not None:  # what both need is not there: an accelerator, a process group
        if before["error"] is None or before["error"].partition(":")[0] != after["error"].partition(":")[0]:
            found.append(f"what replaces it raises {after['error']}")
    elif before["error"] is None and (before["value"] == after["value"]) is not row.get("equal", False):
        found.append(f"the values are {before['value']} and {after['value']}")
    if row.get("safe") and before["error"] is None and not row["equal"]:
        found.append("a safe fix changes the value")
    return found


def test_what_they_do_on_this_torch() -> None:
    done = results()
    wrong = {label(row): found for row in EXECUTED if (found := problems(row, *done[label(row)]))}
    assert not wrong


@pytest.mark.parametrize("row", [row for row in EXECUTED if "replacement" in row], ids=label)
def test_the_replacement_exists(row: dict[str, Any]) -> None:
    parts = row["replacement"].split(".")
    for split in range(len(parts), 0, -1):
        try:
            found = importlib.import_module(".".join(parts[:split]))
        except ImportError:
            continue
        for part in parts[split:]:
            found = getattr(found, part)
        return
    raise AssertionError("nothing of it can be imported")


def test_torch() -> None:
    assert torch.__version__.startswith("2.13"), "the table says what torch 2.13 does"


def named(path: str) -> object:
    """What a dotted name stands for."""
    module, _, name = path.rpartition(".")
    return getattr(importlib.import_module(module), name)


@pytest.mark.parametrize("row", [row for row in ROWS if row.get("same")], ids=label)
def test_it_is_the_same_object(row: dict[str, Any]) -> None:
    assert named(row["name"]) is named(row["replacement"])


# --------------------------------------------------------------------- rules


def program(row: dict[str, Any], code: str) -> str:
    """The example as a file."""
    try:
        compile(code, "row", "eval")
    except SyntaxError:
        text = code
    else:
        text = f"result = {code}"
    return f"{TABLE['prelude']}\n{row.get('setup', '')}\n{text}\n"


def rule_of(row: dict[str, Any]) -> str:
    parsed: Row = table.row(row)
    return "TL301" if parsed.rule == "TL302" and parsed.removed is not None else parsed.rule


@per_row
def test_its_rule_finds_and_fixes_it(row: dict[str, Any]) -> None:
    text, code = program(row, row["before"]), rule_of(row)
    assert can_match(text.encode(), frozenset((code,))), "the gate is closed"
    outcome = check_text(text, "row.py", frozenset((code,)))
    assert not outcome.problems, outcome.problems
    start = len(program(row, "0").splitlines())
    found = [each for each in outcome.diagnostics if each.start.row >= start]
    assert found, "nothing is found"
    if not row.get("fix"):
        return
    fixing = Fixing.SAFE if row.get("safe") else Fixing.UNSAFE
    fixed = check_text(text, "row.py", frozenset((code,)), fixing)
    assert not fixed.problems, fixed.problems
    if "after" in row:
        wanted = program(row, row["after"]).splitlines()
        assert normal(fixed.text).endswith(normal("\n".join(wanted[start - 2 :])))


def normal(code: str) -> str:
    """Code without blanks and kinds of quotes."""
    return re.sub(r"\s", "", code).replace('"', "'")
