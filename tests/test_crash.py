"""An exception that nobody expected is told on one line, with what to report, and never ends in the code for findings."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import Torchlint

from torchlint import __version__
from torchlint.cli import check
from torchlint.cli.report import full
from torchlint.file.check import Outcome
from torchlint.file.text import source
from torchlint.file.triggers import gate
from torchlint.project import discovery, project, selection
from torchlint.system.crash import FRAMES, described, traceback_of

Write = Callable[[dict[str, str]], None]

CODE = "import torch\nx = torch.ones(3).data\n"


class Unprintable(Exception):
    """Its text fails, too."""

    def __str__(self) -> str:
        raise ZeroDivisionError


class Panic(BaseException):
    """What libcst's parser raises when it panics is no ``Exception`` either."""


ERRORS = {
    "an exception": (ZeroDivisionError("of a kind"), "ZeroDivisionError: of a kind ("),
    "no text": (KeyError(), "KeyError ("),
    "hostile text": (ValueError("\x1b[31m\n\u202e"), "ValueError: \\x1b[31m\\n\\u202e ("),
    "no text to be had": (Unprintable(), "Unprintable: its text cannot be had ("),
    "a long text": (ValueError("x" * 10_000), f"ValueError: {'x' * 200}… ("),
    "no memory": (MemoryError(), "MemoryError ("),
    "recursion": (RecursionError("too deep"), "RecursionError: too deep ("),
    "a panic": (Panic("at the parser"), "Panic: at the parser ("),
}

# command, what of the program raises
PLACES = {
    "check": ("check", check, "discover"),
    "a report": ("check", full, "lines"),
    "settings": ("check", project, "load"),
    "the walk": ("check", discovery, "is_excluded"),
    "infer": ("infer x.py", discovery, "_take"),
    "upgrade": ("upgrade --from 1.0 x.py", discovery, "_take"),
    "rule": ("rule TL101", selection, "known_names"),
    "clean": ("clean", project, "load"),
}


def fail_with(error: BaseException) -> Callable[..., None]:
    def fail(*given: object, **more: object) -> None:
        raise error

    return fail


@pytest.mark.parametrize(("command", "module", "name"), PLACES.values(), ids=PLACES)
@pytest.mark.parametrize(("error", "said"), ERRORS.values(), ids=ERRORS)
def test_anywhere(
    error: BaseException,
    said: str,
    command: str,
    module: object,
    name: str,
    write: Write,
    torchlint: Torchlint,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    write({"x.py": CODE})
    arguments = [*command.split(), *(["--force-exclude", "x.py"] if name == "is_excluded" else [])]
    monkeypatch.setattr(module, name, fail_with(error))
    ran = torchlint(*arguments)
    assert ran.code == 3
    (line,) = ran.err.splitlines()
    assert line.startswith(f"error: {said}")
    assert f"torchlint {__version__}" in line
    assert "please report" in line
    assert torchlint(*arguments, "-v").err.startswith("Traceback (most recent call last):\n")


def test_the_place_is_named() -> None:
    with pytest.raises(TypeError) as caught:
        gate.possible_rules(None, None)  # type: ignore[arg-type]
    assert "(file/triggers/gate.py:" in described(caught.value)
    assert "(outside of torchlint, " in described(ValueError())


def test_a_traceback_is_not_endless() -> None:
    def deeper() -> None:
        deeper()

    with pytest.raises(RecursionError) as caught:
        deeper()
    assert traceback_of(caught.value).count("deeper") <= 3 * FRAMES


@pytest.mark.parametrize(("error", "said"), ERRORS.values(), ids=ERRORS)
def test_a_file_costs_itself_only(
    error: BaseException, said: str, write: Write, torchlint: Torchlint, monkeypatch: pytest.MonkeyPatch
) -> None:
    usual = source.decode

    def decode(data: bytes) -> object:
        if b"bad" in data:
            raise error
        return usual(data)

    monkeypatch.setattr(source, "decode", decode)
    write({"a.py": f"{CODE}# bad\n", "b.py": CODE})
    ran = torchlint("check", "--output-format", "concise", "--no-cache", "-q")
    assert (ran.code, ran.out.partition(":")[0]) == (3, "b.py")
    (line,) = ran.err.splitlines()
    assert line.startswith(f"error: a.py: could not be checked: {said}")
    assert "Traceback (most recent" in torchlint("check", "--no-cache", "-v").err


def test_in_a_worker(write: Write, torchlint: Torchlint, monkeypatch: pytest.MonkeyPatch) -> None:
    from torchlint.file import check
    from torchlint.session import scheduler

    usual = check.check_text

    def check_text(text: str, path: str, *more: object, **where: object) -> Outcome:
        if path == "bad.py":
            raise Panic("\x1b[31m")
        return usual(text, path, *more, **where)  # type: ignore[arg-type]

    monkeypatch.setattr(check, "check_text", check_text)
    monkeypatch.setattr(scheduler, "WORTH_A_POOL", 1)
    write({"bad.py": CODE, "good.py": CODE})
    ran = torchlint("check", "--output-format", "concise", "-q", "-j", "2")
    assert (ran.code, ran.out.partition(":")[0]) == (3, "good.py")
    (line,) = ran.err.splitlines()
    assert line.startswith("error: bad.py: could not be checked: Panic: \\x1b[31m (")


def test_a_worker_that_cannot_go_on(write: Write, torchlint: Torchlint, monkeypatch: pytest.MonkeyPatch) -> None:
    from torchlint.session import pool, scheduler

    monkeypatch.setattr(pool, "answer", fail_with(MemoryError()))
    monkeypatch.setattr(scheduler, "WORTH_A_POOL", 1)
    write({"a.py": CODE, "b.py": CODE})
    ran = torchlint("check", "-q", "-j", "2")
    assert ran.code == 3
    assert [line.partition(" (")[0] for line in ran.err.splitlines()] == [
        f"error: {name}: the process checking it died" for name in ("a.py", "b.py")
    ]
    assert all("MemoryError" in line for line in ran.err.splitlines())


def test_nothing_to_write_to(write: Write, tmp_path: Path) -> None:
    write({"x.py": CODE})
    command = f'"{sys.executable}" -m torchlint check x.py'
    environment = {**os.environ, "PYTHONPATH": str(Path(check.__file__).parents[2])}
    for redirection, code in ((">&-", 1), (">&- 2>&-", 1), ("> /dev/full", 3)):
        ran = subprocess.run(
            ["sh", "-c", f"{command} {redirection}"], cwd=tmp_path, env=environment, capture_output=True, check=False
        )
        assert ran.returncode == code
        assert b"Traceback" not in ran.stderr
