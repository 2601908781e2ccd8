from __future__ import annotations

import io
import itertools
import os
import re
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from torchlint.cli.progress import Progress, line

Write = Callable[[dict[str, Any]], None]


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True

    def lines(self) -> list[str]:
        """What could be seen, one look after the other."""
        return [text.rstrip() for text in self.getvalue().split("\r")]


@pytest.fixture(autouse=True)
def terminal(monkeypatch: pytest.MonkeyPatch) -> Terminal:
    monkeypatch.delenv("CI", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    return Terminal()


def ticking(monkeypatch: pytest.MonkeyPatch, seconds: float) -> None:
    clock = itertools.count(0.0, seconds)
    monkeypatch.setattr(time, "monotonic", lambda: next(clock))


def shown(stream: Terminal, wanted: bool = True) -> list[str]:
    progress = Progress(stream, wanted)
    for number in range(1, 5):
        progress(number, 4)
    progress.end()
    return stream.lines()


def test_appears_late_and_goes(terminal: Terminal, monkeypatch: pytest.MonkeyPatch) -> None:
    ticking(monkeypatch, 0.3)  # a look at the clock costs so much
    assert shown(terminal) == ["", line(4, 4), "", ""]


def test_a_short_run_shows_nothing(terminal: Terminal, monkeypatch: pytest.MonkeyPatch) -> None:
    ticking(monkeypatch, 0.1)
    assert shown(terminal) == [""]


def test_a_longer_line_is_wiped_out(terminal: Terminal, monkeypatch: pytest.MonkeyPatch) -> None:
    ticking(monkeypatch, 2)
    progress = Progress(terminal)
    progress(100, 100)
    progress(1, 2)
    progress.end()
    looks = terminal.getvalue().split("\r")
    assert [look.rstrip() for look in looks] == ["", line(100, 100), line(1, 2), "", ""]
    assert len(looks[2]) == len(line(100, 100))
    assert len(looks[3]) == len(line(1, 2))


@pytest.mark.parametrize("variable", [("CI", "true"), ("TERM", "dumb")])
def test_nobody_looks(variable: tuple[str, str], terminal: Terminal, monkeypatch: pytest.MonkeyPatch) -> None:
    ticking(monkeypatch, 2)
    assert shown(Terminal(), wanted=False) == [""]
    monkeypatch.setenv(*variable)
    assert shown(terminal) == [""]


def test_no_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    ticking(monkeypatch, 2)
    stream = io.StringIO()
    progress = Progress(stream)
    progress(1, 2)
    progress.end()
    assert stream.getvalue() == ""


CODE = "import torch\nprint(torch.ones(3, requires_grad=True).data)\n"
IMPATIENT = "import torchlint.cli.progress; torchlint.cli.progress.PATIENCE = torchlint.cli.progress.PAUSE = 0"


def on_a_terminal(directory: Path, *arguments: str) -> tuple[bytes, str]:
    """Standard output, and what a terminal as standard error gets."""
    pty = pytest.importorskip("pty")
    ours, theirs = pty.openpty()
    start = f"import sys; sys.argv = ['torchlint', 'check', '--no-cache', *{list(arguments)!r}]\n{IMPATIENT}\nfrom torchlint.cli.main import main; main()"
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[1])}
    child = subprocess.Popen(
        [sys.executable, "-c", start], cwd=directory, env=environment, stdout=subprocess.PIPE, stderr=theirs
    )
    os.close(theirs)
    out = child.communicate(timeout=60)[0]
    got = b""
    while True:
        try:
            more = os.read(ours, 4096)
        except OSError:  # the other end is closed
            more = b""
        if not more:
            break
        got += more
    os.close(ours)
    return out, got.decode()


@pytest.mark.parametrize("jobs", ["-j1", "-j2"])
def test_on_a_terminal(jobs: str, write: Write, tmp_path: Path) -> None:
    write({f"{number}.py": CODE + "#" * 20_000 for number in range(12)})
    out, err = on_a_terminal(tmp_path, jobs)
    assert out.count(b"TL101") == 12
    assert re.search(r"\r\[#*-*\] \d+/12 files", err)
    assert "12/12 files" in err
    assert re.search(r"\r *\r$", err)
    for arguments in (("-q",), ("--output-format", "json")):
        assert on_a_terminal(tmp_path, jobs, *arguments)[1] == ""
