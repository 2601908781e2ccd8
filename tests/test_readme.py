"""The README says what is so."""

from __future__ import annotations

import re
from pathlib import Path

from torchlint.cli.commands import cli
from torchlint.diagnostic import Fixing
from torchlint.file.check import check_text
from torchlint.rules import catalogue

ROOT = Path(__file__).resolve().parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")


def test_before_and_after() -> None:
    (block,) = re.findall(r"^```diff\n(.*?)^```", README, re.MULTILINE | re.DOTALL)
    lines = block.splitlines(keepends=True)
    before = "".join(line[1:] or "\n" for line in lines if line[:1] != "+")
    after = "".join(line[1:] or "\n" for line in lines if line[:1] != "-")
    assert check_text(before, "readme.py", frozenset(catalogue()), Fixing.SAFE).text == after


def test_ci_runs_the_test_command_of_the_readme() -> None:
    commands = re.findall(r"^```sh\n(python3 -m venv .*?)\n```", README, re.MULTILINE)
    assert len(commands) == 2
    assert commands[1] in (ROOT / ".ci" / "run").read_text(encoding="utf-8").splitlines()


def test_every_command_is_named() -> None:
    (block,) = re.findall(r"^## Use it\n\n```sh\n(.*?)^```", README, re.MULTILINE | re.DOTALL)
    assert set(re.findall(r"^torchlint ([\w-]+)", block, re.MULTILINE)) == set(cli.commands)
