"""Only regular files are read, and no more of them than is wanted."""

from __future__ import annotations

import ast
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from conftest import Torchlint

from torchlint.project import target
from torchlint.session.cache import Cache, Known, Seen
from torchlint.system import reading, states, writing
from torchlint.system.reading import NotOwn, NotRegular, TooLarge, read, read_own

Write = Callable[[dict[str, Any]], None]

PACKAGE = Path(__file__).parents[1] / "torchlint"
CODE = "import torch\nprint(torch.ones(3, requires_grad=True).data)\n"

OWN_FILES = {
    "session/cache.py",
    "rules/__init__.py",
    "rules/index.py",
    "rules/plugins.py",
    "rules/api/table.py",
    "rules/api/words.py",
    "model/torch/data.py",
}
"""Modules that open files of this very package."""


def test_nothing_else_opens_files_to_read_them() -> None:
    """Of the modules, all but those that read the package itself go by way of one function."""
    found = set()
    for path in PACKAGE.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_bytes())):
            if not isinstance(node, ast.Call):
                continue
            name = ast.unparse(node.func)
            modes = [arg.value for arg in node.args[1:] if isinstance(arg, ast.Constant)]
            writes = any(isinstance(mode, str) and {"w", "x", "+"} & set(mode) for mode in modes)
            if (name in ("open", "io.open") and not writes) or name.endswith((".read_text", ".read_bytes")):
                found.add(path.relative_to(PACKAGE).as_posix())
    assert found == OWN_FILES


def sparse(path: Path, size: int = 1 << 40) -> None:
    with open(path, "wb") as file:
        file.truncate(size)


def piped(path: Path) -> None:
    os.mkfifo(path.with_name("pipe"))
    path.symlink_to("pipe")


# how to make it; what is raised; its state
SPECIAL: dict[str, tuple[Callable[[Path], object], type[OSError], str]] = {
    "a pipe": (os.mkfifo, NotRegular, states.SPECIAL),
    "a link to a pipe": (
        piped,
        NotRegular,
        states.SPECIAL,
    ),
    "a link to an endless device": (lambda path: path.symlink_to("/dev/zero"), NotRegular, states.SPECIAL),
    "a link to a terminal": (lambda path: path.symlink_to("/dev/tty"), NotRegular, states.SPECIAL),
    "a link to itself": (lambda path: path.symlink_to(path), OSError, ""),
    "nothing": (lambda path: None, FileNotFoundError, ""),
    "a folder": (Path.mkdir, IsADirectoryError, states.FOLDER),
    "a file without end": (sparse, TooLarge, states.LARGE),
}


@pytest.mark.parametrize(("make", "error", "state"), SPECIAL.values(), ids=SPECIAL)
def test_what_is_not_read(make: Callable[[Path], object], error: type[OSError], state: str, tmp_path: Path) -> None:
    path = tmp_path / "x"
    make(path)
    with pytest.raises(error):
        read(str(path))
    with pytest.raises(OSError):  # noqa: PT011 -- a link is one too many here
        read_own(str(path))
    assert states.state(str(path)) == state


def test_says_why(tmp_path: Path) -> None:
    (tmp_path / "x").write_bytes(b"12345")
    assert read(str(tmp_path / "x"), 5) == b"12345"
    with pytest.raises(TooLarge) as error:
        read(str(tmp_path / "x"), 4)
    assert error.value.strerror == "larger than 4 bytes"
    assert NotRegular().strerror == "not a regular file"


def test_never_more_than_one_byte_too_many(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a file that grows while it is read, or whose size is not what it is said to be."""
    (tmp_path / "x").write_bytes(b"x")
    taken = 0

    def endless(descriptor: int, size: int) -> bytes:
        nonlocal taken
        taken += size
        return b"x" * size

    monkeypatch.setattr(os, "read", endless)
    with pytest.raises(TooLarge):
        read(str(tmp_path / "x"), 100_000)
    assert taken == 100_001


def test_a_file_that_becomes_a_pipe_before_it_is_opened(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    os.mkfifo(tmp_path / "x")
    regular = os.stat(__file__)
    monkeypatch.setattr(os, "stat", lambda *arguments, **more: regular)
    with pytest.raises(NotRegular):
        read(str(tmp_path / "x"))


def test_of_another_user(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "x").touch()
    assert read_own(str(tmp_path / "x"))[1] == b""
    other = os.geteuid() + 1
    monkeypatch.setattr(os, "geteuid", lambda: other)
    with pytest.raises(NotOwn):
        read_own(str(tmp_path / "x"))


# ------------------------------------------------------------------------------------------ what the user hears

PIPES_BY_NAME = ["x.py", "-v x.py", "--fix x.py", "--diff x.py"]


@pytest.mark.parametrize("arguments", PIPES_BY_NAME)
def test_a_named_file(arguments: str, torchlint: Torchlint, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "x.py")
    ran = torchlint("check", *arguments.split())
    assert ran.code == 3
    assert "error: x.py: not a regular file\n" in ran.err


@pytest.mark.parametrize("command", ["check", "infer"])
def test_a_named_file_that_is_too_large(command: str, torchlint: Torchlint, tmp_path: Path) -> None:
    sparse(tmp_path / "x.py")
    ran = torchlint(command, "x.py")
    said = {
        "check": "not checked: it has more bytes than `max-file-size` allows (2M)",
        "infer": "larger than 50,000,000 bytes",
    }
    assert (ran.code, ran.err) == (3, f"error: x.py: {said[command]}\n")


def test_standard_input_that_does_not_end(torchlint: Torchlint, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("torchlint.cli.check.read_stream", lambda stream: reading.read_stream(stream, 10))
    ran = torchlint("check", "-", stdin=b"x" * 100)
    assert (ran.code, ran.err) == (3, "error: -: larger than 10 bytes\n")


@pytest.mark.parametrize("command", ["check", "check --no-cache", "check x.py", "clean"])
@pytest.mark.parametrize("content", ["a pipe", "too large"])
def test_a_settings_file(content: str, command: str, torchlint: Torchlint, write: Write, tmp_path: Path) -> None:
    write({"x.py": CODE})
    kinds: dict[str, tuple[Callable[[Path], object], str]] = {
        "a pipe": (os.mkfifo, "not a regular file"),
        "too large": (sparse, "larger than 4,000,000 bytes"),
    }
    make, said = kinds[content]
    make(tmp_path / "pyproject.toml")
    ran = torchlint(*command.split())
    assert ran.code == 2
    assert ran.err == f"error: {tmp_path / 'pyproject.toml'}: {said}\n"


@pytest.mark.parametrize("folder", [".", ".."])
def test_patterns_to_ignore(
    folder: str, torchlint: Torchlint, write: Write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write({".git/HEAD": "x", "sub/x.py": CODE, "sub/y.py": CODE})
    os.mkfifo(tmp_path / "sub" / ".." / ("sub" if folder == "." else ".") / ".gitignore")
    monkeypatch.chdir(tmp_path / "sub")
    ran = torchlint("check", ".", str(tmp_path / "sub"))
    assert ran.code == 3  # files that are ignored may have been checked
    assert ran.err.count("not a regular file; what it ignores is not known\n") == 1
    assert "2 files" in ran.out


def test_patterns_above_that_do_not_count(
    torchlint: Torchlint, write: Write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without a repository nobody above has a say."""
    write({"sub/x.py": CODE})
    os.mkfifo(tmp_path / ".gitignore")
    monkeypatch.chdir(tmp_path / "sub")
    ran = torchlint("check")
    assert (ran.code, ran.err) == (1, "")


@pytest.mark.parametrize("name", ["requirements.txt", "setup.py", "setup.cfg", "uv.lock", "environment.yml"])
def test_requirements(name: str, torchlint: Torchlint, write: Write, tmp_path: Path) -> None:
    write({"x.py": CODE})
    os.mkfifo(tmp_path / name)
    target._around.cache_clear()
    ran = torchlint("check", "x.py")
    assert (ran.code, ran.err) == (1, "")
    assert f"torchlint: {tmp_path / name}: not a regular file\n" in torchlint("check", "-v", "x.py").err


IMPORTED: dict[str, tuple[Callable[[Path], object], str]] = {
    "a pipe": (os.mkfifo, "not a regular file, so not imported"),
    "a link to a device": (lambda path: path.symlink_to("/dev/zero"), "not a regular file, so not imported"),
    "too large": (sparse, "too large to be read for what imports it"),
}


@pytest.mark.parametrize(("make", "said"), IMPORTED.values(), ids=IMPORTED)
@pytest.mark.parametrize("jobs", ["-j1", "-j2"])
def test_an_imported_file(
    jobs: str,
    make: Callable[[Path], object],
    said: str,
    torchlint: Torchlint,
    write: Write,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("torchlint.session.scheduler.WORTH_A_POOL", 0)
    use = "import torch\nfrom pkg.net import make\n\nw = make()\nprint(w.data)\n"
    write({"pkg/__init__.py": "", "pkg/use.py": use, "pkg/other.py": CODE})
    make(tmp_path / "pkg" / "net.py")
    arguments = ("check", jobs, "pkg/use.py", "pkg/other.py")
    first = torchlint(*arguments)
    assert (first.code, first.err) == (1, "")
    assert torchlint(*arguments) == first
    assert torchlint("check", "-v", "--no-cache", *arguments[1:]).err.count(f"{tmp_path}/pkg/net.py: {said}\n") == 1
    (tmp_path / "pkg" / "net.py").unlink()
    write({"pkg/net.py": "import torch\n\n\ndef make():\n    return torch.ones(3, requires_grad=True)\n"})
    assert "pkg/use.py:5" in torchlint(*arguments, "--output-format", "concise").out  # not what was known


@pytest.mark.parametrize("make", [os.mkfifo, sparse, None])
@pytest.mark.parametrize("after", [os.mkfifo, sparse, None])
def test_what_rests_on_it(
    make: Callable[[Path], object] | None, after: Callable[[Path], object] | None, tmp_path: Path
) -> None:
    other = tmp_path / "net.py"
    if make is not None:
        make(other)
    known = Known(is_gated=True)
    store = Cache(str(tmp_path / "c"))
    old = [1, 10**9, 10**9, 7]
    store.put("/x.py", "all", Seen(old, "digest"), known, {str(other): states.state(str(other))})
    assert store.save() is None
    other.unlink(missing_ok=True)
    if after is not None:
        after(other)
    assert (Cache(str(tmp_path / "c")).unchanged("/x.py", "all", old) == known) is (make is after)


def test_a_file_that_becomes_a_pipe_before_it_is_written(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "x.py")
    with pytest.raises(writing.NotWritten, match="not a regular file"):
        writing.write(str(tmp_path / "x.py"), b"new", b"old")
    assert os.listdir(tmp_path) == ["x.py"]


def test_a_cache_that_is_a_pipe(torchlint: Torchlint, write: Write, tmp_path: Path) -> None:
    write({"x.py": CODE})
    first = torchlint("check")
    (file,) = tmp_path.rglob("*.json")
    file.unlink()
    os.mkfifo(file)
    assert torchlint("check") == first
    assert file.is_file()
