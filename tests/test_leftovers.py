"""What a killed run leaves beside files is removed by a later one; never anything else."""

from __future__ import annotations

import io
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from conftest import Torchlint

from torchlint.system import leftovers, writing

Write = Callable[[dict[str, str | bytes]], None]

CODE = "import torch\n\nx = torch.ones(3, requires_grad=True)\ny = x.cpu().detach()\n"
CLEAN_CODE = "import torch\n"
HERE = leftovers._machine()
ELSEWHERE = "0" * 8
RANDOM = "0123456789abcdef"
A_DAY = 86_400

LOOK_ALIKES = (
    ".torchlint-notes.tmp",
    ".torchlint-abcdefgh.tmp",
    f"torchlint-{HERE}-7-{RANDOM}.tmp",
    f".torchlint-{HERE}-7-{RANDOM}.tmp.py",
    f".torchlint-{HERE}-7-{RANDOM}.tmp~",
    f".torchlint-{HERE}-7-{RANDOM.upper()}.tmp",
    f".torchlint-{HERE}-7-{RANDOM[1:]}.tmp",
    f".torchlint-{HERE}-07-{RANDOM}.tmp",
    f".torchlint-{HERE}-x-{RANDOM}.tmp",
    f".torchlint-{HERE.upper()}x-7-{RANDOM}.tmp",
    f".torchlint-{HERE}-7-{RANDOM}.py",
)
"""Names that resemble those of leftovers."""


@pytest.fixture
def dead() -> int:
    """The number of a process that is no more."""
    with subprocess.Popen([sys.executable, "-c", ""]) as process:
        process.wait()
    return process.pid


def named(process: int, machine: str = HERE, ending: str = leftovers.UNFINISHED) -> str:
    return f".torchlint-{machine}-{process}-{RANDOM}.{ending}"


def aged(path: Path, seconds: int) -> None:
    then = time.time() - seconds
    os.utime(path, (then, then), follow_symlinks=False)


def test_names_are_recognised() -> None:
    assert leftovers.is_leftover(leftovers.new_name())
    assert leftovers.is_leftover(leftovers.new_name(leftovers.WHOLE))
    assert leftovers.new_name() != leftovers.new_name()
    others = (*LOOK_ALIKES, ".torchlint-baseline.json", f"{named(7)}\n", f"x{named(7)}")
    assert not [name for name in others if leftovers.is_leftover(name)]


@pytest.mark.skipif(os.name != "posix", reason="no process can be asked for by its number")
def test_of_a_dead_process_at_once(tmp_path: Path, dead: int) -> None:
    path = tmp_path / named(dead)
    path.write_bytes(b"x")
    assert leftovers.sweep([str(path)]).removed == [str(path)]
    assert not path.exists()


@pytest.mark.parametrize("machine", [HERE, ELSEWHERE])
def test_of_a_process_that_may_be_running(tmp_path: Path, machine: str) -> None:
    """Only when it is so old that nobody is writing any more."""
    path = tmp_path / named(os.getpid(), machine)
    path.write_bytes(b"x")
    for age, removed in ((0, []), (A_DAY - 60, []), (A_DAY + 60, [str(path)])):
        aged(path, age)
        assert leftovers.sweep([str(path)]).removed == removed


def test_of_a_process_of_another_machine_whose_number_nobody_has_here(tmp_path: Path, dead: int) -> None:
    path = tmp_path / named(dead, ELSEWHERE)
    path.write_bytes(b"x")
    assert leftovers.sweep([str(path)]) == ([], [], [])


@pytest.mark.parametrize("name", LOOK_ALIKES)
def test_look_alikes_stay(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    path.write_bytes(b"x")
    aged(path, 10 * A_DAY)
    assert leftovers.sweep([str(path)]) == ([], [], [])
    assert path.read_bytes() == b"x"


def test_what_is_no_plain_file_of_ours_stays(tmp_path: Path, dead: int, monkeypatch: pytest.MonkeyPatch) -> None:
    work = tmp_path / "work.py"
    work.write_bytes(b"x")
    place = tmp_path / named(dead)
    for make in (os.symlink, os.link, lambda _, name: os.mkdir(name)):
        make(work, place)
        aged(place, 10 * A_DAY)
        assert leftovers.sweep([str(place)]) == ([], [], [])
        assert place.exists()
        place.rmdir() if place.is_dir() else place.unlink()
    place.write_bytes(b"x")
    monkeypatch.setattr(leftovers, "_is_of_user", lambda status: False)
    assert leftovers.sweep([str(place)]) == ([], [], [])
    assert work.read_bytes() == place.read_bytes() == b"x"


def test_what_holds_all_there_is_stays(tmp_path: Path, dead: int) -> None:
    path = tmp_path / named(dead, ending=leftovers.WHOLE)
    path.write_bytes(b"x")
    aged(path, 10 * A_DAY)
    assert leftovers.sweep([str(path)]).kept == [str(path)]
    assert path.read_bytes() == b"x"


def test_a_file_that_can_be_written_over_only_in_part(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As on a disk that is full: what was to be in it is not lost."""
    path = tmp_path / "x.py"
    path.write_bytes(b"OLD")
    os.link(path, tmp_path / "y.py")
    usual, written = os.write, list[int]()

    class Full(io.FileIO):
        def write(self, data: Any) -> int:
            if written:
                raise OSError(28, "No space left on device")
            written.append(usual(self.fileno(), data[:1]))
            return 1

    def full(file: str | int, mode: str, **options: Any) -> Any:
        return Full(file, "r+") if mode == "r+b" else open(file, mode, **options)

    monkeypatch.setattr(writing, "open", full, raising=False)
    with pytest.raises(writing.NotWritten, match="holds all of it") as error:
        writing.write(str(path), b"new", b"OLD")
    assert path.read_bytes() == b"nLD"
    (whole,) = {each.name for each in tmp_path.iterdir()} - {"x.py", "y.py"}
    assert whole in str(error.value)
    assert (tmp_path / whole).read_bytes() == b"new"


SLOW = """
import os, sys, time
import torchlint.cli.main
os.fsync = lambda descriptor: (print("written", flush=True), time.sleep(60))
sys.argv = ["torchlint", "check", "--fix", "--no-cache", "x.py"]
torchlint.cli.main.run()
"""


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="nothing can be killed so")
def test_a_run_that_is_killed(torchlint: Torchlint, write: Write, tmp_path: Path) -> None:
    write({"x.py": CODE, "y.py": CLEAN_CODE, "sub/y.py": CLEAN_CODE, **dict.fromkeys(LOOK_ALIKES, "mine")})
    own = set(os.listdir(tmp_path))
    with subprocess.Popen([sys.executable, "-c", SLOW], cwd=tmp_path, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"written\n"
        (left,) = set(os.listdir(tmp_path)) - own
        assert torchlint("check", "--fix", "y.py").code == 0
        assert torchlint("clean").code == 0
        assert left in os.listdir(tmp_path), "it is still being written"
        process.kill()
        process.wait()
    assert (tmp_path / "x.py").read_text() == CODE
    for arguments in (["check"], ["check", "--diff"], ["check", "sub"], ["check", "--fix", "sub"]):
        torchlint(*arguments, "--no-cache")
        assert left in os.listdir(tmp_path)
    ran = torchlint("check", "--fix", "--no-cache", "-v", "--ignore", "ALL")
    assert f"removed {tmp_path / left}, which a killed run had left" in ran.err
    assert set(os.listdir(tmp_path)) == own
    assert all((tmp_path / name).read_text() == "mine" for name in LOOK_ALIKES)


def test_clean_says_what_it_removed_and_what_not(
    torchlint: Torchlint, write: Write, tmp_path: Path, dead: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    unfinished, whole = named(dead), named(dead, ending=leftovers.WHOLE)
    write({f"sub/{unfinished}": "x", f"sub/{whole}": "x", "sub/x.py": CODE, **dict.fromkeys(LOOK_ALIKES, "mine")})
    for name in (unfinished, whole):
        aged(tmp_path / "sub" / name, 10 * A_DAY)
    with monkeypatch.context() as patched:

        def refuse(path: str) -> None:
            raise PermissionError(13, "Permission denied")

        patched.setattr(os, "unlink", refuse)
        ran = torchlint("clean")
        assert ran.code == 3
        assert f"error: {Path('sub', unfinished)}: Permission denied\n" in ran.err
    ran = torchlint("clean")
    assert ran.err.splitlines()[1:] == [
        f"Removed 1 file of killed runs: {Path('sub', unfinished)}",
        "Left for you to look at: a run was killed while it wrote over a file, and all of that is in "
        f"{Path('sub', whole)}",
    ]
    assert ran.code == 0
    assert sorted(os.listdir(tmp_path / "sub")) == [whole, "x.py"]
    assert all((tmp_path / name).read_text() == "mine" for name in LOOK_ALIKES)
