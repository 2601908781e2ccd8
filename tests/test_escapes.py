"""Nothing that is in a file, in its name or in the settings reaches a terminal as something that it obeys."""

from __future__ import annotations

import io
import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import Torchlint

from torchlint.cli.report.terminal import printable, printable_lines

Write = Callable[[dict[str, str | bytes]], None]

CONTROLS = "\x00\x07\x1b\x7f\x85\x9b\u061c\u200b\u200e\u200f\u2028\u202a\u202e\u2066\u2069\ufeff\U000e0001"
OBEYED = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2066-\u2069\ufeff]")

HOSTILE = "a\x1b[31m\u202e\x9b.py"
CODE = "import torch\nx = torch.ones(3).data  # \x1b]0;t\x07 \u2066\u061c\x9b\n"


def test_printable() -> None:
    assert printable("a b\u00e9日\t\u2028") == r"a bé日\t\u2028"
    assert [printable(c) for c in CONTROLS] == [c.encode("unicode_escape").decode() for c in CONTROLS]
    assert printable_lines("a\tb\r\n\x1bc\n") == "a\tb\n\\x1bc\n"


COMMANDS = (
    "check",
    "check --output-format concise",
    "check --output-format json",
    "check --output-format github",
    "check --statistics",
    "check --show-files",
    "check -v",
    "check --fix --show-fixes",
    "check --fix-only",
    "infer .",
    "infer --output-format json .",
    "upgrade --from 1.0",
)


@pytest.mark.skipif(os.name == "nt", reason="no such names")
@pytest.mark.parametrize("command", COMMANDS)
def test_findings(command: str, write: Write, torchlint: Torchlint) -> None:
    write({HOSTILE: CODE, "b\x1b.py": "x = (\x1b\n", "c\x1b[1m.ipynb": "", "d\u202e.py": b"# coding: \x1b[31m\n\xff"})
    os.symlink("nothing", "e\x1b.py")
    ran = (
        torchlint(*command.split(), "--color", "never") if command.startswith("check") else torchlint(*command.split())
    )
    assert not OBEYED.search(ran.out + ran.err)
    assert ran.code in (0, 1, 2)
    if "json" in command:
        assert json.loads(ran.out)


COMPLAINTS: dict[str, tuple[dict[str, str | bytes], list[str], int]] = {
    "a key": ({"pyproject.toml": '[tool.torchlint]\n"a\\u001b[31m\\u202e" = 1\n'}, ["check"], 2),
    "a value": ({"torchlint.toml": 'target-torch = "\\u009b"\nselect = ["\\u001b"]'}, ["check"], 2),
    "a pattern": ({"torchlint.toml": 'exclude = ["../\\u001b\\u202e"]', "x.py": ""}, ["check"], 0),
    "a missing path": ({}, ["check", HOSTILE], 2),
    "a missing path to infer": ({}, ["infer", HOSTILE], 2),
    "an option": ({}, ["check", "--\x1b[31m\u202e\x9b"], 2),
    "a command": ({}, ["\x1b[31m\u202e\x9b"], 2),
    "a rule": ({}, ["rule", "\u202e\x9b"], 2),
    "a value of an option": ({}, ["check", "-j", "\u202e\x9b"], 2),
    "a folder": ({"\x1b\u202e/x.txt": ""}, ["check", "\x1b\u202e"], 2),
    "a patch from above": ({".git/x": "", "a\x1b\u202e/x.py": CODE}, ["check", "--diff", "-q", "../a\x1b\u202e"], 1),
}


@pytest.mark.skipif(os.name == "nt", reason="no such names")
@pytest.mark.parametrize(("files", "command", "code"), COMPLAINTS.values(), ids=COMPLAINTS)
def test_complaints(
    files: dict[str, str | bytes], command: list[str], code: int, write: Write, torchlint: Torchlint
) -> None:
    write(files)
    if command[-1].startswith("../"):
        os.mkdir("below")
        os.chdir("below")
    ran = torchlint(*command)
    assert ran.code == code
    assert ran.err or code < 2
    assert not OBEYED.search(ran.err)


@pytest.mark.parametrize("depth", [100_000, 400, 5_000])
@pytest.mark.parametrize("brackets", ["[", "{a="])
def test_settings_nested_deeply(depth: int, brackets: str, write: Write, torchlint: Torchlint, tmp_path: Path) -> None:
    write({"pyproject.toml": f"[tool.torchlint]\nx = {brackets * depth}\n", "x.py": ""})
    ran = torchlint("check")
    assert ran.code == 2
    assert ran.err.startswith(f"error: {tmp_path / 'pyproject.toml'}: ")
    assert ran.err.count("\n") == 1


class Terminal(io.TextIOWrapper):
    """Standard output that somebody looks at."""

    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize("command", [["--diff"], ["--diff", "--color", "always"], ["--fix", "-"]], ids=" ".join)
def test_on_a_terminal(command: list[str], write: Write, torchlint: Torchlint, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setenv("CI", "1")
    if "-" not in command:
        write({"x.py": CODE.replace("\n", "\r\n")})
    terminal = Terminal(io.BytesIO(), encoding="utf-8", write_through=True)
    monkeypatch.setattr(sys, "stdout", terminal)
    torchlint("check", *command, stdin=CODE.encode())
    shown = terminal.buffer.getvalue().decode()  # type: ignore[attr-defined]
    assert "x = torch.ones(3)  # \\x1b]0;t\\x07 \\u2066\\u061c\\x9b" in shown
    assert not OBEYED.search(re.sub(r"\x1b\[[\d;]+m", "", shown) if "always" in command else shown)


def test_a_patch_that_is_no_picture_stays_as_it_is(write: Write, torchlint: Torchlint, tmp_path: Path) -> None:
    write({"x.py": CODE})
    patch = torchlint("check", "--diff").raw
    assert b"\x1b]0;t\x07 \xe2\x81\xa6" in patch
    subprocess.run(["git", "apply", "-"], input=patch, cwd=tmp_path, check=True)
    assert (tmp_path / "x.py").read_bytes() == CODE.replace(".data", "").encode()


def test_carets_stand_where_they_belong(write: Write, torchlint: Torchlint) -> None:
    write({"x.py": "import torch\ns = '\x1b[31m\u202e\u3000\t'; y = torch.ones(3).data\n"})
    lines = torchlint("check").out.splitlines()
    source, carets = lines[4:6]
    assert source == "2 | s = '\\x1b[31m\\u202e\u3000    '; y = torch.ones(3).data"
    wide = source.index("data") + 1  # one character of it takes two columns
    assert (carets.index("^"), carets.count("^")) == (wide, 4)
