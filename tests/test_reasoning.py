"""The worked examples of ``docs/reasoning.md`` are run, and print exactly what the page says."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

from conftest import Torchlint
from test_cli import Write
from test_documented import commands

PAGE = (Path(__file__).parents[1] / "docs" / "reasoning.md").read_text(encoding="utf-8")


def test_the_worked_examples(write: Write, torchlint: Torchlint) -> None:
    programs = re.findall(r"^```python\n(# (\S+\.py)\n.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
    write({name: program for program, name in programs})
    ran = commands(PAGE)
    assert len(ran) >= len(programs) >= 6
    for line, expected in ran:
        program, *arguments = shlex.split(line)
        assert program == "torchlint"
        done = torchlint(*arguments)
        assert (done.out, done.err) == (expected, ""), line


def test_each_program_is_asked_about() -> None:
    asked = {name for line, _ in commands(PAGE) for name in re.findall(r"\S+\.py", line)}
    told = set(re.findall(r"^# (\S+\.py)$", PAGE, re.MULTILINE))
    assert asked == told - {"app/networks.py"}  # which the program beside it imports
