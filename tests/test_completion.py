"""Shells complete commands, options, rules and paths."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from click.shell_completion import get_completion_class
from conftest import Torchlint

from torchlint.rules import catalogue

COMPLETE = "_TORCHLINT_COMPLETE"
PACKAGE = Path(__file__).parents[1]

# what stands on the line so far, some of what may be next
WORDS = [
    ("c", {"check", "clean"}),
    ("check --out", {"--output-format"}),
    ("check --output-format ", {"full", "concise", "json", "github"}),
    ("check --select TL10", {"TL101", "TL107"}),
    ("check --select=tl10", {"TL101", "TL107"}),
    ("check --ignore TL203,data-r", {"TL203,data-read"}),
    ("check --unfixable TL70", {"TL701"}),
    ("rule ", {*catalogue(), "TL001", "data-read"}),
    ("rule data-", {"data-read", "data-inplace"}),
]


@pytest.mark.parametrize(("line", "expected"), WORDS)
@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_words(
    shell: str, line: str, expected: set[str], torchlint: Torchlint, monkeypatch: pytest.MonkeyPatch
) -> None:
    words = f"torchlint {line}"
    monkeypatch.setenv(COMPLETE, f"{shell}_complete")
    monkeypatch.setenv("COMP_WORDS", words)
    monkeypatch.setenv("COMP_CWORD", words.rpartition(" ")[2] if shell == "fish" else str(words.count(" ")))
    ran = torchlint()
    assert (ran.code, ran.err) == (0, "")
    lines = ran.out.splitlines()
    if shell == "zsh":
        found = set(lines[1::3])
    else:
        found = {each.partition(",")[2].partition("\t")[0] for each in lines}
    assert expected <= found
    asked = line.replace("=", " ").rpartition(" ")[2]
    assert all(word.lower().startswith(asked.lower()) for word in found)


@pytest.mark.parametrize(
    ("words", "at", "expected"),
    [("--select = TL10", 4, "plain,TL101"), ("--select =", 3, "plain,TL101"), ("--color = al", 4, "plain,always")],
)
def test_words_as_bash_divides_them(
    words: str, at: int, expected: str, torchlint: Torchlint, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(COMPLETE, "bash_complete")
    monkeypatch.setenv("COMP_WORDS", f"torchlint check {words}")
    monkeypatch.setenv("COMP_CWORD", str(at))
    assert expected in torchlint().out.splitlines()


def test_paths_are_left_to_the_shell(torchlint: Torchlint, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(COMPLETE, "bash_complete")
    monkeypatch.setenv("COMP_WORDS", "torchlint check tr")
    monkeypatch.setenv("COMP_CWORD", "2")
    assert torchlint().out == "file,tr\n"


@pytest.mark.parametrize("shell", ["zsh", "fish"])
def test_the_script_of_a_shell(shell: str, torchlint: Torchlint, monkeypatch: pytest.MonkeyPatch) -> None:
    ran = torchlint("completion", shell)
    monkeypatch.setenv(COMPLETE, f"{shell}_source")
    assert (ran.code, ran.out) == (0, torchlint().out)
    monkeypatch.delenv(COMPLETE)
    assert torchlint("completion", "tcsh").code == 2


def test_powershell_needs_a_click_that_knows_it(torchlint: Torchlint) -> None:
    ran = torchlint("completion", "powershell")
    if get_completion_class("powershell") is None:
        assert (ran.code, ran.out) == (2, "")
        assert ran.err == "error: completion for powershell needs a newer click: pip install --upgrade click\n"
    else:
        assert (ran.code, ran.err) == (0, "")
        assert "Register-ArgumentCompleter -Native -CommandName torchlint" in ran.out


def test_a_shell_that_an_older_click_does_not_know(torchlint: Torchlint, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("click.shell_completion.get_completion_class", lambda shell: None)
    ran = torchlint("completion", "powershell")
    assert (ran.code, ran.out) == (2, "")
    assert "newer click" in ran.err


def test_unknown_shell(torchlint: Torchlint, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(COMPLETE, "tcsh_source")
    ran = torchlint()
    assert (ran.code, ran.out) == (2, "")
    assert "bash_source" in ran.err


@pytest.mark.skipif(shutil.which("bash") is None, reason="there is no bash")
@pytest.mark.parametrize("script", ["torchlint completion bash", f"{COMPLETE}=bash_source torchlint"])
def test_bash(script: str, tmp_path: Path) -> None:
    program = tmp_path / "bin" / "torchlint"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m torchlint "$@"\n', encoding="utf-8")
    program.chmod(0o755)
    environment = {
        **os.environ,
        "PATH": os.pathsep.join((str(program.parent), os.environ["PATH"])),
        "PYTHONPATH": str(PACKAGE),
    }
    commands = f"""
        eval "$({script})"
        COMP_WORDS=(torchlint check --select TL10) COMP_CWORD=3
        _torchlint_completion torchlint
        printf '%s\\n' "${{COMPREPLY[@]}}"
    """
    ran = subprocess.run(["bash", "-c", commands], env=environment, capture_output=True, text=True, check=True)
    assert {"TL101", "TL102", "TL107"} <= set(ran.stdout.split())
