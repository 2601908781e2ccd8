from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from conftest import Ran, Torchlint

from torchlint import __version__
from torchlint.diagnostic import Applicability, Diagnostic, LocatedEvidence, LocatedFix, Position, Severity, TextEdit
from torchlint.file import check
from torchlint.project import target
from torchlint.session import cache, cachedir, scheduler, worker
from torchlint.session.cache import Cache, Known, Seen, stamp
from torchlint.session.secret import sign
from torchlint.system.states import FOLDER, state

Write = Callable[[dict[str, Any]], None]

CODE = "import torch\nprint(torch.ones(3, requires_grad=True).data)\n"
CLEAN = "import torch\nprint(torch.ones(3))\n"
PLAIN = Diagnostic("TL101", "data-read", "old", Position(1, 2), Position(1, 4), (1, 1), severity=Severity.ERROR)
ANOTHER = LocatedFix("o", Applicability.SAFE, (TextEdit(3, 4, ""),))
RICH = Diagnostic(
    "TL201",
    "variable-wrapper",
    "é",
    Position(1, 2),
    Position(3, 4),
    (1, 3),
    LocatedFix("m", Applicability.UNSAFE, (TextEdit(0, 1, "a"), TextEdit(2, 2, "b")), True, (ANOTHER,)),
    LocatedEvidence("use", "so", None),
)
KNOWN = Known((PLAIN, RICH), 3, is_gated=True)
YOUNG: list[int] = [1, time.time_ns() + 10**15]
OLD = [1, 10**9, 10**9, 7]


def files(directory: Path) -> list[Path]:
    return sorted(directory.rglob("*.json"))


@pytest.fixture
def trusting(monkeypatch: pytest.MonkeyPatch) -> None:
    """Files that were written just now are known by their times already."""
    monkeypatch.setattr(cache, "MARGIN", -(10**18))


# ------------------------------------------------------------------------------------------ one cache


def stored(directory: Path, known: Known = KNOWN, rests_on: dict[str, str] | None = None, now: Any = OLD) -> None:
    store = Cache(str(directory))
    store.put("/x.py", "all", Seen(now, "digest"), known, rests_on or {})
    assert store.save() is None


def test_gives_back_what_was_put(tmp_path: Path) -> None:
    assert Cache(str(tmp_path)).unchanged("/x.py", "all", OLD) is None
    stored(tmp_path)
    assert Cache(str(tmp_path)).unchanged("/x.py", "all", OLD) == KNOWN
    assert Cache(str(tmp_path)).same("/x.py", "all", Seen([], "digest")) == KNOWN
    assert Cache(str(tmp_path)).has("/x.py", "all")


@pytest.mark.parametrize("known", [Known(is_parsed=True), Known(), Known((PLAIN,), 0, is_parsed=True)])
def test_gives_back_what_is_known_of_a_file_that_is_not_ours(known: Known, tmp_path: Path) -> None:
    stored(tmp_path, known)
    assert Cache(str(tmp_path)).unchanged("/x.py", "all", OLD) == known


def test_what_does_not_count(tmp_path: Path) -> None:
    stored(tmp_path)
    store = Cache(str(tmp_path))
    for changed in ([2, *OLD[1:]], [1, 10**9 + 1, *OLD[2:]], [*OLD[:3], 8], []):
        assert store.unchanged("/x.py", "all", changed) is None
    assert store.unchanged("/x.py", "other rules", OLD) is None
    assert store.unchanged("/y.py", "all", OLD) is None
    assert store.same("/x.py", "other rules", Seen(OLD, "digest")) is None
    assert store.same("/x.py", "all", Seen(OLD, "other")) is None
    assert not store.has("/x.py", "other rules")
    assert Cache(str(tmp_path), "other options").unchanged("/x.py", "all", OLD) is None


def test_a_young_file_is_known_by_its_content_only(tmp_path: Path) -> None:
    stored(tmp_path, now=YOUNG)
    assert Cache(str(tmp_path)).unchanged("/x.py", "all", YOUNG) is None
    again = Cache(str(tmp_path))
    assert again.same("/x.py", "all", Seen(OLD, "digest")) == KNOWN  # now it is old enough
    again.save()
    assert Cache(str(tmp_path)).unchanged("/x.py", "all", OLD) == KNOWN


def test_the_program_is_part_of_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    package = tmp_path / "torchlint"
    (package / "rules").mkdir(parents=True)
    (package / "cache.py").write_text("", encoding="utf-8")
    rule = package / "rules" / "tl101_x.py"
    rule.write_text("a", encoding="utf-8")
    monkeypatch.setattr(cache, "PACKAGE", str(package))
    monkeypatch.setattr(os.path, "exists", lambda path: True)  # nothing is forgotten
    stored(tmp_path / "c")
    assert Cache(str(tmp_path / "c")).unchanged("/x.py", "all", OLD) == KNOWN
    rule.write_text("a", encoding="utf-8")  # installed anew
    os.utime(rule, (1, 1))
    again = Cache(str(tmp_path / "c"))
    assert again.unchanged("/x.py", "all", OLD) == KNOWN
    monkeypatch.undo()
    monkeypatch.setattr(cache, "PACKAGE", str(package))
    rule.write_text("b", encoding="utf-8")
    assert Cache(str(tmp_path / "c")).unchanged("/x.py", "all", OLD) is None


def test_libcst_is_part_of_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "libcst").mkdir()
    version = tmp_path / "libcst" / "_version.py"
    version.write_text("1.8.1", encoding="utf-8")
    monkeypatch.setattr(cache, "_origin", lambda package: str(version.with_name("__init__.py")))
    looks, content = cache._Program().both
    assert cache._Program().both == (looks, content)
    version.write_text("1.8.2", encoding="utf-8")
    assert cache._Program().looks != looks
    assert cache._Program().content != content


# what happens to the other file; whether what rests on it still counts
OTHERS: dict[str, tuple[Callable[[Path], object], bool]] = {
    "nothing": (lambda path: None, True),
    "touched": (lambda path: os.utime(path, (1, 1)), True),
    "written anew": (lambda path: path.write_text("x = 1", encoding="utf-8"), True),
    "changed": (lambda path: path.write_text("x = 2", encoding="utf-8"), False),
    "gone": (lambda path: path.unlink(), False),
    "another of the same size": (
        lambda path: (path.rename(path.with_suffix(".old")), path.write_text("y = 1", encoding="utf-8")),
        False,
    ),
}


@pytest.mark.parametrize(("change", "counts"), OTHERS.values(), ids=OTHERS)
@pytest.mark.parametrize("margin", [2 * 10**9, -(10**18)], ids=["young", "old"])
def test_other_files(
    margin: int, change: Callable[[Path], object], counts: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cache, "MARGIN", margin)
    other, missing, folder = tmp_path / "other.py", tmp_path / "missing.py", tmp_path / "folder"
    other.write_text("x = 1", encoding="utf-8")
    folder.mkdir()
    stored(tmp_path / "c", rests_on={str(path): state(str(path)) for path in (other, missing, folder)})
    change(other)
    assert (Cache(str(tmp_path / "c")).unchanged("/x.py", "all", OLD) == KNOWN) is counts


def test_other_files_that_appear(tmp_path: Path) -> None:
    for number, (path, then) in enumerate([("new.py", ""), ("folder", FOLDER)]):
        stored(tmp_path / str(number), rests_on={str(tmp_path / path): then})
    (tmp_path / "new.py").write_text("", encoding="utf-8")
    assert Cache(str(tmp_path / "0")).unchanged("/x.py", "all", OLD) is None
    assert Cache(str(tmp_path / "1")).unchanged("/x.py", "all", OLD) is None
    (tmp_path / "folder").mkdir()
    assert Cache(str(tmp_path / "1")).unchanged("/x.py", "all", OLD) == KNOWN


def test_runs_side_by_side_take_over_what_the_others_wrote(tmp_path: Path) -> None:
    places = [tmp_path / f"{number}.py" for number in range(3)]
    for place in places:
        place.touch()
    stores = [Cache(str(tmp_path / "c")) for _ in places]
    for number, (store, place) in enumerate(zip(stores, places, strict=True)):
        rests_on = {f"/{other}": "" for other in range(5 - number)}
        store.put(str(place), f"variant {number}", Seen(OLD, "d"), KNOWN._replace(suppressed=number), rests_on)
    for store in stores:
        assert store.save() is None
    merged = Cache(str(tmp_path / "c"))
    for number, place in enumerate(places):
        known = merged.unchanged(str(place), f"variant {number}", OLD)
        assert known == KNOWN._replace(suppressed=number)


def test_files_that_are_gone_are_forgotten(tmp_path: Path) -> None:
    for name in "xyz":
        (tmp_path / name).touch()
    store = Cache(str(tmp_path / "c"))
    for name in "xy":
        store.put(str(tmp_path / name), name, Seen(OLD, "d"), KNOWN, {f"/nothing/{name}": ""})
    store.save()
    (tmp_path / "x").unlink()
    again = Cache(str(tmp_path / "c"))
    again.put(str(tmp_path / "z"), "z", Seen(OLD, "d"), KNOWN, {})
    again.save()
    (file,) = files(tmp_path / "c")
    packed = json.loads(file.read_bytes().partition(b"\n")[2])[2]
    assert packed["files"].keys() == {str(tmp_path / "y"), str(tmp_path / "z")}
    assert packed["variants"] == ["y", "z"]
    assert packed["others"] == [["/nothing/y", ""]]


# ------------------------------------------------------------------------------------------ in use


def wrapped(body: bytes) -> bytes:
    return b"torchlint cache 2 %s\n%s" % (sign(body, make=True), body)


PROGRAM = json.dumps(cache._Program().both).encode()[1:-1]
DAMAGED: dict[str, Callable[[], bytes]] = {
    "empty": lambda: b"",
    "something else": lambda: b"\xff\x00",
    "cut off": lambda: b"torchlint cache 2 00000000\n[",
    "of another version": lambda: b"torchlint cache 1 00000000\n[",
    "no JSON": lambda: wrapped(b"{"),
    "deep": lambda: wrapped(b"[" * 100_000),
    "another shape": lambda: wrapped(b"{}"),
    "nothing in it": lambda: wrapped(b"[%s, {}]" % PROGRAM),
    "other files": lambda: wrapped(b'[%s, {"variants": [], "others": [1], "files": {}}]' % PROGRAM),
    "another program": lambda: wrapped(b'["a", "b", {"variants": [], "others": [], "files": {}}]'),
}


@pytest.mark.parametrize("content", DAMAGED.values(), ids=DAMAGED)
def test_a_damaged_file_counts_as_absent(
    content: Callable[[], bytes], torchlint: Torchlint, write: Write, tmp_path: Path
) -> None:
    write({"x.py": CODE})
    first = torchlint("check")
    (file,) = files(tmp_path)
    sound = file.read_bytes()
    file.write_bytes(content())
    assert torchlint("check") == first
    assert file.read_bytes() == sound  # and is mended


def spoil(entry: list[Any], position: int, value: object) -> list[Any]:
    return [value if number == position else old for number, old in enumerate(entry)]


@pytest.mark.usefixtures("trusting")
@pytest.mark.parametrize("position", range(7))
@pytest.mark.parametrize("value", [None, "x", 10**6, [1], [[]], {}], ids=str)
def test_entries_of_another_shape_count_as_absent(
    position: int, value: object, torchlint: Torchlint, write: Write, tmp_path: Path
) -> None:
    write({"x.py": CODE})
    first = torchlint("check")
    (file,) = files(tmp_path)
    looks, content, packed = json.loads(file.read_bytes().partition(b"\n")[2])
    packed["files"] = {location: spoil(entry, position, value) for location, entry in packed["files"].items()}
    file.write_bytes(wrapped(json.dumps([looks, content, packed]).encode()))
    ran = torchlint("check", "--output-format", "concise")
    assert ran.code in (0, 1)  # whatever a wrong entry says, it does no harm
    assert ran.err == ""
    assert first.code == 1


TREE = {
    "found.py": CODE,
    "clean.py": CLEAN,
    "silenced.py": CODE.replace("data)", "data)  # noqa"),
    "other.py": "x = 1\n",
    "broken.py": "import torch\nx = torch.ones(3).data\ndef f(:\n",
    "not_ours.py": "def f(:\n",
    "undecodable.py": b"import torch\ns = '\xe9'\n",
    "latin.py": b"# coding: latin-1\n# \xe9\n" + CODE.encode(),
    "crlf.py": CODE.replace("\n", "\r\n").encode(),
    "pkg/__init__.py": "",
    "pkg/net.py": "import torch\n\n\ndef make():\n    return torch.ones(3, requires_grad=True)\n",
    "pkg/use.py": "from pkg.net import make\n\nw = make()\nprint(w.data)\n",
    "pkg/unsafe.py": "import torch\n\n\ndef f(loss):\n    return torch.sigmoid(loss).sum() + loss.data[0]\n",
    "pkg/variable.py": "from torch.autograd import Variable\nimport torch\n\nx = Variable(torch.ones(3))\nprint(x)\n",
}

FORMATS = [
    ("--output-format", "full"),
    ("--output-format", "concise"),
    ("--output-format", "json"),
    ("--output-format", "github"),
    ("--statistics",),
    ("--extend-select", "TL002", "--output-format", "concise"),
    ("--select", "TL001", "--output-format", "concise"),
    ("--diff",),
    ("--diff", "--unsafe-fixes"),
]


@pytest.mark.usefixtures("trusting")
@pytest.mark.parametrize("arguments", FORMATS, ids=" ".join)
def test_the_same_with_and_without(arguments: tuple[str, ...], torchlint: Torchlint, write: Write) -> None:
    write(TREE)
    plain = torchlint("check", *arguments, "--no-cache")
    assert plain.out
    for paths in ((), ("pkg", "found.py"), ("not_ours.py", "other.py"), (), ("not_ours.py",)):
        expected = torchlint("check", *arguments, "--no-cache", *paths)
        assert [torchlint("check", *arguments, *paths) for _ in range(3)] == [expected] * 3
    assert torchlint("check", *arguments) == plain


@pytest.mark.usefixtures("trusting")
def test_an_unchanged_tree_is_not_read(
    torchlint: Torchlint, write: Write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write({"x.py": CLEAN, "y.py": "x = 1\n", "pkg/__init__.py": "", "z.py": TREE["pkg/use.py"], "w.py": "# noqa"})
    first = torchlint("check")
    usual = os.open

    def refusing(file: Any, *arguments: Any, **more: Any) -> int:
        assert not str(file).startswith(str(tmp_path)) or not str(file).endswith(".py"), file
        return usual(file, *arguments, **more)

    monkeypatch.setattr(os, "open", refusing)
    before = {path: path.stat().st_mtime_ns for path in files(tmp_path)}
    assert torchlint("check") == first
    assert {path: path.stat().st_mtime_ns for path in files(tmp_path)} == before  # nor is the cache written


def test_nothing_is_checked_again(torchlint: Torchlint, write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    write({"x.py": CODE, "y.py": "import torch\nx = torch.ones(3).data  # noqa\n"})
    first = torchlint("check")
    assert "1 suppressed" in first.out

    def check_text(*arguments: object) -> None:
        raise AssertionError("not looked up")

    monkeypatch.setattr(check, "check_text", check_text)
    assert torchlint("check") == first
    assert torchlint("check", "--no-cache").code == 3


# what happens to one of two files; how many are checked again
CHANGES: dict[str, tuple[Callable[[Path], object], int]] = {
    "nothing": (lambda path: None, 0),
    "touched": (lambda path: os.utime(path, (1, 1)), 0),
    "changed": (lambda path: path.write_text(CODE + CODE, encoding="utf-8"), 1),
    "changed, same size": (lambda path: path.write_text(CODE.replace("ones", "rand"), encoding="utf-8"), 1),
    "moved": (lambda path: path.rename(path.with_name("z.py")), 1),
    "gone": (lambda path: path.unlink(), 0),
    "a project of its own": (lambda path: (path.parent / "setup.py").touch(), 2),
    "other rules": (lambda path: (path.parent / "pyproject.toml").write_text("[tool.torchlint]\nignore = ['TL2']"), 2),
    "another target": (lambda path: (path.parent / "requirements.txt").write_text("torch==2.1\n"), 2),
}


@pytest.mark.parametrize("margin", [2 * 10**9, -(10**18)], ids=["young", "old"])
@pytest.mark.parametrize(("change", "checked"), CHANGES.values(), ids=CHANGES)
def test_what_is_checked_again(
    change: Callable[[Path], object],
    checked: int,
    margin: int,
    torchlint: Torchlint,
    write: Write,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(cache, "MARGIN", margin)
    write({"x.py": CODE, "y.py": CODE})
    assert "2 checked, 0 known" in torchlint("check", "-v").err
    change(tmp_path / "x.py")
    target._around.cache_clear()
    assert f" {checked} checked" in torchlint("check", "-v").err
    assert " 0 checked" in torchlint("check", "-v").err


def coarse(status: os.stat_result) -> list[int]:
    """A file system whose clock stands still."""
    return [status.st_size, NOW]


NOW = time.time_ns()


@pytest.mark.parametrize(("margin", "code"), [(2 * 10**9, 1), (-(10**18), 0)], ids=["careful", "careless"])
def test_a_second_change_within_one_tick_is_noticed(
    margin: int, code: int, torchlint: Torchlint, write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cache, "MARGIN", margin)
    monkeypatch.setattr(time, "time_ns", lambda: NOW)
    for module in (cache, scheduler, worker):
        monkeypatch.setattr(module, "stamp", coarse)
    write({"x.py": CODE.replace("data", "date")})
    assert torchlint("check").code == 0
    write({"x.py": CODE})
    assert torchlint("check").code == code  # without care it would go unnoticed


def test_a_change_that_hides_its_time_is_noticed(torchlint: Torchlint, write: Write, tmp_path: Path) -> None:
    if os.name == "nt":
        pytest.skip("there is no other time")
    write({"x.py": CODE.replace("data", "date")})
    status = (tmp_path / "x.py").stat()
    entry = stamp(status)
    write({"x.py": CODE})
    os.utime(tmp_path / "x.py", ns=(status.st_atime_ns, status.st_mtime_ns))
    now = stamp((tmp_path / "x.py").stat())
    assert now[:2] == entry[:2]
    assert now != entry


def test_fixing_looks_at_what_can_be_fixed_only(torchlint: Torchlint, write: Write, tmp_path: Path) -> None:
    write({"x.py": CODE, "y.py": CODE.replace("data)", "data)  # noqa")})
    torchlint("check")
    ran = torchlint("check", "--fix", "-v")
    assert "1 checked, 1 known from the cache" in ran.err
    assert ".detach()" in (tmp_path / "x.py").read_text(encoding="utf-8")
    assert "0 checked, 2 known from the cache" in torchlint("check", "-v").err


def test_a_patch_leaves_the_cache_as_it_is(torchlint: Torchlint, write: Write) -> None:
    write({"x.py": CODE})
    torchlint("check")
    assert ".detach()" in torchlint("check", "--diff").out
    assert "0 checked, 1 known from the cache" in torchlint("check", "-v").err


def test_standard_input_is_not_remembered(torchlint: Torchlint, tmp_path: Path) -> None:
    torchlint("check", "-", "--stdin-filename", "x.py", stdin=CODE.encode())
    assert files(tmp_path) == []


# ------------------------------------------------------------------------------------------ where it is


def test_where_it_is(torchlint: Torchlint, write: Write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write({"x.py": CODE, "pyproject.toml": "[tool.torchlint]", "sub/y.py": CODE + "\n"})
    torchlint("check", "--no-cache")
    assert not (tmp_path / cachedir.NAME).exists()
    torchlint("check", "--cache-dir", str(tmp_path / "elsewhere"), "x.py")
    assert len(files(tmp_path / "elsewhere")) == 1
    monkeypatch.chdir(tmp_path / "sub")
    torchlint("check")
    assert not (tmp_path / "sub" / cachedir.NAME).exists()
    assert len(files(tmp_path / cachedir.NAME / __version__)) == 1
    assert (
        (tmp_path / cachedir.NAME / "CACHEDIR.TAG")
        .read_text(encoding="utf-8")
        .startswith("Signature: 8a477f597d28d172")
    )
    assert (tmp_path / cachedir.NAME / ".gitignore").read_text(encoding="utf-8") == "*\n"


def test_who_says_where_it_is(
    torchlint: Torchlint, write: Write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write({"x.py": CODE, "pyproject.toml": "[tool.torchlint]\ncache-dir = 'a/b'", "sub/y.py": CODE})
    monkeypatch.chdir(tmp_path / "sub")
    torchlint("check")
    assert len(files(tmp_path / "a" / "b")) == 1
    monkeypatch.setenv("TORCHLINT_CACHE_DIR", str(tmp_path / "c"))
    torchlint("check")
    assert len(files(tmp_path / "c")) == 1
    torchlint("check", "--cache-dir", "d")
    assert len(files(tmp_path / "sub" / "d")) == 1
    assert torchlint("clean", "--cache-dir", "d").err == f"Removed {tmp_path / 'sub' / 'd'}\n"
    assert torchlint("clean").err == f"Removed {tmp_path / 'c'}\n"
    monkeypatch.delenv("TORCHLINT_CACHE_DIR")
    assert torchlint("clean").err == f"Removed {tmp_path / 'a' / 'b'}\n"
    assert files(tmp_path) == []


@pytest.mark.parametrize("value", ["1", "''", "['a']"])
def test_bad_place(value: str, torchlint: Torchlint, write: Write) -> None:
    write({"pyproject.toml": f"[tool.torchlint]\ncache-dir = {value}"})
    ran = torchlint("check")
    assert ran.code == 2
    assert ran.err.endswith("[tool.torchlint]: `cache-dir` must be the name of a directory\n")


def test_options_do_not_push_each_other_out(torchlint: Torchlint, write: Write) -> None:
    write({"x.py": CODE})
    for _ in range(2):
        ran = [torchlint("check", "-v"), torchlint("check", "-v", "--select", "TL1")]
    assert all("0 checked, 1 known from the cache" in each.err for each in ran)


# ------------------------------------------------------------------------------------------ where it cannot be


def failing(number: int) -> Callable[..., None]:
    def fail(*arguments: object, **more: object) -> None:
        raise OSError(number, os.strerror(number))

    return fail


def test_where_it_cannot_be_it_is_done_without(torchlint: Torchlint, write: Write, tmp_path: Path) -> None:
    write({"x.py": CODE, cachedir.NAME: "a file"})
    ran = torchlint("check")
    place = tmp_path / cachedir.NAME
    assert (ran.code, ran.err) == (1, f"warning: the cache is not used: {place} is not a directory\n")
    assert place.read_text(encoding="utf-8") == "a file"


@pytest.mark.parametrize("function", ["replace", "makedirs", "mkdir", "scandir"])
@pytest.mark.parametrize("number", [28, 30], ids=["full disk", "read-only disk"])
def test_a_disk_that_takes_nothing(
    number: int, function: str, torchlint: Torchlint, write: Write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write({"x.py": CODE})
    expected = torchlint("check", "--no-cache", "x.py")
    usual = getattr(os, function)

    def fail(path: str | int, *more: Any, **named: Any) -> Any:
        is_cache = cachedir.NAME in str(path) or not os.path.isabs(str(path))  # a descriptor, or a name in one
        return failing(number)() if is_cache else usual(path, *more, **named)

    monkeypatch.setattr(os, function, fail)
    assert torchlint("check", "x.py") == expected
    assert "the cache could not be written: " in torchlint("check", "-v", "x.py").err
    monkeypatch.setattr(os, function, usual)
    assert list(tmp_path.rglob("*.tmp")) == []


def run_apart(directory: Path, *arguments: str, before: str = "") -> subprocess.Popen[bytes]:
    start = f"import sys; sys.argv = ['torchlint', *{list(arguments)!r}]\n{before}\nfrom torchlint.cli.main import main; main()"
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[1])}
    return subprocess.Popen(
        [sys.executable, "-c", start], cwd=directory, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )


def test_no_room(torchlint: Torchlint, write: Write, tmp_path: Path) -> None:
    resource = pytest.importorskip("resource")
    assert resource
    write(TREE)
    expected = torchlint("check", "--no-cache")
    limit = "import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))"
    child = run_apart(tmp_path, "check", before=limit)
    out, err = child.communicate(timeout=60)
    assert Ran(child.returncode, out, err.decode()) == expected
    assert (files(tmp_path), list(tmp_path.rglob("*.tmp"))) == ([], [])


def test_killed_while_writing(torchlint: Torchlint, write: Write, tmp_path: Path) -> None:
    write({"x.py": CODE})
    expected = torchlint("check", "--no-cache")
    child = run_apart(
        tmp_path, "check", before="import os; os.replace = lambda *paths, **more: os.kill(os.getpid(), 9)"
    )
    child.communicate(timeout=60)
    assert child.returncode == -9
    (left,) = tmp_path.rglob("*.tmp")
    assert torchlint("check") == expected
    assert "0 checked, 1 known" in torchlint("check", "-v").err
    folder = files(tmp_path)[0].parent
    ours = f"{'0' * 8}.json."
    young, old, theirs = (folder / f"{name}.tmp" for name in (ours + "a" * 16, ours + "b" * 16, "c"))
    for path in (young, old, theirs):
        path.touch()
    for path in (old, theirs):
        os.utime(path, (1, 1))
    write({"x.py": CODE + "\n"})
    torchlint("check")
    assert (young.exists(), old.exists(), theirs.exists()) == (True, False, True)
    assert left.parent in (folder, folder.parent)


def test_many_runs_at_once(torchlint: Torchlint, write: Write, tmp_path: Path) -> None:
    write({f"{name}/{number}.py": CODE + "\n" * number for name in "abcd" for number in range(5)})
    expected = torchlint("check", "--no-cache", "--output-format", "concise")
    children = [run_apart(tmp_path, "check", "--output-format", "concise", *paths) for paths in ("ab", "cd", "bc", ".")]
    ends = [(child.communicate(timeout=120), child.returncode) for child in children]
    assert [end[1] for end in ends] == [1] * 4
    assert ends[-1][0] == (expected.raw, b"")
    assert torchlint("check", "--output-format", "concise") == expected
    assert " 0 checked" in torchlint("check", "-v").err
    assert list(tmp_path.rglob("*.tmp")) == []
