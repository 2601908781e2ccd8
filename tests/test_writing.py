"""A file that is written stays whose it is and what it is, and is old or new as a whole whatever happens."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import stat
import struct
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from conftest import Torchlint

from torchlint.system import attributes, leftovers, writing

Write = Callable[[dict[str, str | bytes]], None]

OLD, NEW = b"old", b"newer"
NOBODY, SOMEBODY = 65534, 1
CODE = "import torch\nx = torch.ones(3).data\n"

has_attributes = pytest.mark.skipif(
    not hasattr(os, "setxattr"), reason="Python reads extended attributes on Linux only"
)
is_root = pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="files of others are needed")


def given(path: Path, name: str, value: bytes) -> None:
    try:
        os.setxattr(path, name, value)
    except OSError as error:
        pytest.skip(f"the file system has no {name}: {error}")


def access_list(mode: int) -> bytes:
    """An access list as Linux keeps it: of user and others as ``mode`` says, and one user more."""
    entries = [(1, 6, -1), (2, 6, NOBODY), (4, mode >> 3 & 7, -1), (0x10, 6, -1), (0x20, mode & 7, -1)]
    return struct.pack("<I", 2) + b"".join(struct.pack("<HHi", *entry) for entry in entries)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "x.py"
    path.write_bytes(OLD)
    return path


@pytest.fixture
def shared() -> Iterator[Path]:
    """A folder in which everybody may do everything, and a file of somebody."""
    folder = Path(tempfile.mkdtemp())
    folder.chmod(0o777)
    path = folder / "x.py"
    path.write_bytes(OLD)
    os.chown(path, SOMEBODY, SOMEBODY)
    yield path
    shutil.rmtree(folder)


@contextlib.contextmanager
def as_nobody() -> Iterator[None]:
    groups = os.getgroups()
    os.setgroups([])
    os.setegid(NOBODY)
    os.seteuid(NOBODY)
    try:
        yield
    finally:
        os.seteuid(0)
        os.setegid(0)
        os.setgroups(groups)


def names(path: Path) -> list[str]:
    return sorted(os.listdir(path.parent))


@has_attributes
def test_extended_attributes_stay(file: Path) -> None:
    given(file, "user.origin", b"x\0y")
    given(file, "user.empty", b"")
    writing.write(str(file), NEW, OLD)
    assert file.read_bytes() == NEW
    assert {name: os.getxattr(file, name) for name in os.listxattr(file)} == {"user.origin": b"x\0y", "user.empty": b""}


@has_attributes
def test_access_lists_stay(file: Path) -> None:
    given(file, "system.posix_acl_access", access_list(0o644))
    mode = file.stat().st_mode
    writing.write(str(file), NEW, OLD)
    assert file.read_bytes() == NEW
    assert os.getxattr(file, "system.posix_acl_access") == access_list(0o644)
    assert file.stat().st_mode == mode


@has_attributes
def test_what_a_folder_gives_to_new_files_is_not_given_to_this_one(file: Path) -> None:
    given(file.parent, "system.posix_acl_default", access_list(0o644))
    writing.write(str(file), NEW, OLD)
    assert file.read_bytes() == NEW
    assert os.listxattr(file) == []


@has_attributes
@pytest.mark.parametrize("function", ["getxattr", "setxattr", "listxattr"])
def test_in_place_where_attributes_cannot_be_kept(function: str, file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    given(file, "user.origin", b"x")
    before = file.stat()

    def refuse(*_: object) -> None:
        raise PermissionError(1, "Operation not permitted")

    with monkeypatch.context() as patched:
        patched.setattr(os, function, refuse)
        writing.write(str(file), NEW, OLD)
    assert (file.read_bytes(), os.getxattr(file, "user.origin")) == (NEW, b"x")
    assert file.stat().st_ino == before.st_ino
    assert names(file) == ["x.py"]


def test_where_there_are_no_attributes(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = file.stat()
    for name in ("listxattr", "getxattr", "setxattr", "removexattr", "chown"):
        monkeypatch.delattr(os, name, raising=False)
    writing.write(str(file), NEW, OLD)
    assert file.read_bytes() == NEW
    assert file.stat().st_ino != before.st_ino


def test_in_place_where_the_mode_cannot_be_kept(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As where a file system takes another one than it is given, and says nothing."""
    file.chmod(0o644)
    before = file.stat()
    monkeypatch.setattr(os, "chmod", lambda *_: None)
    writing.write(str(file), NEW, OLD)
    after = file.stat()
    assert (file.read_bytes(), after.st_ino, after.st_mode) == (NEW, before.st_ino, before.st_mode)


def kept(path: Path) -> tuple[int, ...]:
    """What stays of a file that is not written; that it was read may count."""
    found = path.stat()
    return found.st_ino, found.st_mode, found.st_uid, found.st_gid, found.st_size, found.st_mtime_ns, found.st_ctime_ns


@is_root
@pytest.mark.parametrize("mode", [0o644, 0o600, 0o755])
def test_a_file_that_this_user_may_not_write(mode: int, shared: Path) -> None:
    """Though it could be replaced by whoever may write to its folder."""
    shared.chmod(mode)
    before = kept(shared)
    with as_nobody(), pytest.raises(writing.NotWritten, match="Permission denied"):
        writing.write(str(shared), NEW, OLD)
    assert shared.read_bytes() == OLD
    assert kept(shared) == before
    assert names(shared) == ["x.py"]


@is_root
def test_in_place_where_the_owner_cannot_be_kept(shared: Path) -> None:
    shared.chmod(0o666)
    before = shared.stat()
    with as_nobody():
        writing.write(str(shared), NEW, OLD)
    after = shared.stat()
    assert shared.read_bytes() == NEW
    assert (after.st_ino, after.st_uid, after.st_gid, after.st_mode) == (
        *(before.st_ino, SOMEBODY, SOMEBODY),
        before.st_mode,
    )
    assert names(shared) == ["x.py"]


@is_root
def test_in_place_where_the_group_cannot_be_kept(shared: Path) -> None:
    os.chown(shared, NOBODY, SOMEBODY)
    before = shared.stat()
    with as_nobody():
        writing.write(str(shared), NEW, OLD)
    after = shared.stat()
    assert shared.read_bytes() == NEW
    assert (after.st_ino, after.st_uid, after.st_gid) == (before.st_ino, NOBODY, SOMEBODY)


@is_root
def test_the_administrator_keeps_the_owner(shared: Path) -> None:
    shared.chmod(0o4755)
    before = shared.stat()
    writing.write(str(shared), NEW, OLD)
    after = shared.stat()
    assert shared.read_bytes() == NEW
    assert after.st_ino != before.st_ino
    assert (after.st_uid, after.st_gid, after.st_mode) == (SOMEBODY, SOMEBODY, before.st_mode)


@is_root
def test_refused_where_neither_way_is_open(shared: Path) -> None:
    """In a folder where no file can be made, what is to be in this one cannot be kept in another meanwhile."""
    shared.chmod(0o666)
    shared.parent.chmod(0o755)
    with as_nobody(), pytest.raises(writing.NotWritten, match="Permission denied"):
        writing.write(str(shared), NEW, OLD)
    assert (shared.read_bytes(), names(shared)) == (OLD, ["x.py"])


def test_nothing_is_left_where_it_cannot_be_opened(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As where a policy forbids what the mode allows."""
    os.link(file, file.with_name("y.py"))

    def refuse(path: str | int, mode: str, **options: Any) -> Any:
        if mode == "r+b":
            raise PermissionError(13, "Permission denied")
        return open(path, mode, **options)

    monkeypatch.setattr(writing, "open", refuse, raising=False)
    with pytest.raises(writing.NotWritten, match=r"^Permission denied$"):
        writing.write(str(file), NEW, OLD)
    assert (file.read_bytes(), names(file)) == (OLD, ["x.py", "y.py"])


def test_what_the_user_reads_of_it(
    write: Write, torchlint: Torchlint, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write({"x.py": CODE, "y.py": CODE})

    def check(target: str) -> None:
        if target.endswith("x.py"):
            raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(writing, "_check_permission", check)
    ran = torchlint("check", "--fix", "--output-format", "concise")
    assert ran.code == 3
    assert ran.err == "error: x.py: not fixed: Permission denied\n"
    assert (tmp_path / "x.py").read_text(encoding="utf-8") == CODE
    assert ".data" not in (tmp_path / "y.py").read_text(encoding="utf-8")


KILLED = """
import os, signal, sys
from torchlint.system import writing
path, last = sys.argv[1], int(sys.argv[2])
count = 0

def step(event, arguments):
    global count
    if not event.startswith(("open", "os.")):
        return
    count += 1
    if count == last + 1:
        os.kill(os.getpid(), signal.SIGKILL)

usual = os.fsync
os.fsync = lambda descriptor: (step("os.fsync", ()), usual(descriptor))
sys.addaudithook(step)
writing.write(path, b"newer", b"old")
"""

WAYS: dict[str, Callable[[Path], object]] = {
    "another in its place": lambda path: None,
    "another in its place, of another owner": lambda path: os.chown(path, SOMEBODY, SOMEBODY),
    "in place": lambda path: os.link(path, path.with_name("y.py")),
}


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="nothing can be killed so")
@pytest.mark.parametrize("way", WAYS)
def test_killed_at_any_step(way: str, tmp_path: Path) -> None:
    """The file is old or new; what is left beside it goes with the next one, or holds all there is."""
    if "owner" in way and os.geteuid() != 0:
        pytest.skip("files of others are needed")
    found: list[bytes] = []
    for last in range(100):
        path = tmp_path / str(last) / "x.py"
        path.parent.mkdir()
        path.write_bytes(OLD)
        WAYS[way](path)
        mine = names(path)
        ran = subprocess.run([sys.executable, "-c", KILLED, path, str(last)], check=False)
        found.append(path.read_bytes())
        if ran.returncode == 0:
            break
        assert ran.returncode == -signal.SIGKILL
        whole = [path.with_name(name) for name in names(path) if name.endswith(leftovers.WHOLE)]
        assert found[-1] in (OLD, NEW) or [each.read_bytes() for each in whole] == [NEW]
        assert not whole or way == "in place"
        leftovers.sweep_folder.cache_clear()
        writing.write(str(path), b"next", found[-1])
        assert [name for name in names(path) if not name.endswith(leftovers.WHOLE)] == mine
    assert (ran.returncode, found[0], found[-1]) == (0, OLD, NEW)
    assert len(found) > 8


@is_root
def test_the_administrator_removes_what_was_given_to_others(tmp_path: Path) -> None:
    with subprocess.Popen([sys.executable, "-c", ""]) as process:
        process.wait()
    path = tmp_path / leftovers.new_name().replace(f"-{os.getpid()}-", f"-{process.pid}-")
    path.write_bytes(b"x")
    os.chown(path, SOMEBODY, SOMEBODY)
    assert leftovers.sweep([str(path)]).removed == [str(path)]


def test_a_copy_has_all_or_says_that_it_has_not(tmp_path: Path) -> None:
    one, two = tmp_path / "one", tmp_path / "two"
    for path, mode in ((one, 0o751), (two, 0o600)):
        path.write_bytes(b"")
        path.chmod(mode)
    assert attributes.copied(str(one), str(two))
    assert stat.S_IMODE(two.stat().st_mode) == 0o751
    assert not attributes.copied(str(one), str(tmp_path / "three"))
