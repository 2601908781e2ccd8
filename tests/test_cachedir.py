"""Where a cache may be, and that nothing else is written or removed."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from conftest import Torchlint

from torchlint import __version__
from torchlint.project.selection import SettingsError
from torchlint.project.settings import Settings
from torchlint.session import cachedir
from torchlint.session.cachedir import NAME, OpenFolder, Unusable, clean, directory_for, made, opened

Write = Callable[[dict[str, Any]], None]

CODE = "import torch\nprint(torch.ones(3, requires_grad=True).data)\n"
MARK = "Signature: 8a477f597d28d172789f06886806bc55\n# Made by torchlint, can be deleted.\n"
"""As every version has written it."""
THEIRS = "Signature: 8a477f597d28d172789f06886806bc55\n# This file is a cache directory tag created by another tool.\n"
CONTENT = "0123abcd.json"


def tree(directory: Path) -> dict[str, str]:
    """All there is, links not followed."""
    found: dict[str, str] = {}
    for folder, folders, names in os.walk(directory):
        for name in (*folders, *names):
            path = Path(folder, name)
            if path.is_symlink():
                found[str(path.relative_to(directory))] = f"-> {os.readlink(path)}"
            elif path.is_file():
                found[str(path.relative_to(directory))] = path.read_text(encoding="utf-8")
            else:
                found[str(path.relative_to(directory))] = "folder"
    return found


def cached(directory: Path) -> bool:
    """Whether a run has left a cache."""
    return bool(list(directory.glob("*/*.json"))) and (directory / "CACHEDIR.TAG").read_text("utf-8") == MARK


# ------------------------------------------------------------------------------------------ settings


OUTSIDE = [".", "./", "a/..", "..", "../x", "a/../../x", "~", "~/x", "{tmp}/elsewhere", "out", "out/x"]
"""Each below the test's directory: no test names a place that a program with a mistake must not touch."""


@pytest.mark.parametrize("place", OUTSIDE)
@pytest.mark.parametrize("command", ["check", "clean"])
def test_settings_cannot_point_out_of_their_project(
    command: str, place: str, torchlint: Torchlint, write: Write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = tmp_path / "home"
    monkeypatch.setenv("HOME", str(home))
    settings = f"[tool.torchlint]\ncache-dir = '{place.format(tmp=tmp_path)}'\n"
    write({"p/x.py": CODE, "p/pyproject.toml": settings, "p/.git/HEAD": "x", "p/a/y.py": "", "elsewhere/z": "z"})
    write({"home/.profile": "x"})
    (tmp_path / "p" / "out").symlink_to(tmp_path / "elsewhere")
    monkeypatch.chdir(tmp_path / "p")
    before = tree(tmp_path)
    ran = torchlint(command)
    assert ran.code == 2
    assert "`cache-dir` must be a directory inside of the project" in ran.err
    assert tree(tmp_path) == before


def test_the_command_line_and_the_environment_may(
    torchlint: Torchlint, write: Write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write({"p/x.py": CODE, "p/pyproject.toml": "[tool.torchlint]\ncache-dir = '../a'\n"})
    monkeypatch.chdir(tmp_path / "p")
    assert torchlint("check", "--no-cache").code == 1
    assert torchlint("check", "--cache-dir", "../b").code == 1
    assert cached(tmp_path / "b")
    monkeypatch.setenv("TORCHLINT_CACHE_DIR", str(tmp_path / "c"))
    assert torchlint("check").code == 1
    assert cached(tmp_path / "c")
    assert not (tmp_path / "a").exists()
    monkeypatch.setenv("TORCHLINT_CACHE_DIR", "")  # as if it was not set
    assert torchlint("check").code == 2


def test_of_several_projects_those_of_the_working_directory_count(
    torchlint: Torchlint, write: Write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write({"pyproject.toml": "[tool.torchlint]\ncache-dir = '.cache/torchlint'\n", "x.py": CODE})
    write({"sub/pyproject.toml": "[tool.torchlint]\ncache-dir = '../shared'\n", "sub/y.py": CODE})
    assert torchlint("check").code == 1
    assert cached(tmp_path / ".cache" / "torchlint")
    assert sorted(path.name for path in tmp_path.iterdir()) == [".cache", "pyproject.toml", "sub", "x.py"]
    monkeypatch.chdir(tmp_path / "sub")
    assert torchlint("check").code == 2


NO_DIRECTORY: dict[str, tuple[Callable[[Path], object], str]] = {
    "a file": (lambda path: path.touch(), "is not a directory"),
    "a pipe": (os.mkfifo, "is not a directory"),
}


@pytest.mark.parametrize(("make", "said"), NO_DIRECTORY.values(), ids=NO_DIRECTORY)
@pytest.mark.parametrize("command", ["check", "clean"])
def test_bad_option(
    command: str, make: Callable[[Path], object], said: str, torchlint: Torchlint, write: Write, tmp_path: Path
) -> None:
    write({"x.py": CODE})
    make(tmp_path / "c")
    ran = torchlint(command, "--cache-dir", "c")
    assert (ran.code, ran.err) == (2, f"error: --cache-dir: c {said}\n")
    assert torchlint(command, "--cache-dir", "").code == 2
    assert sorted(os.listdir(tmp_path)) == ["c", "x.py"]


# ------------------------------------------------------------------------------------------ what is there already

FOREIGN: dict[str, dict[str, str]] = {
    "work": {"paper.tex": "x", ".git/HEAD": "x"},
    "another tool's cache": {"CACHEDIR.TAG": THEIRS, "0.1.0/0123abcd.json": "{}"},
    "a tag of nobody": {"CACHEDIR.TAG": MARK.splitlines()[0]},
    "a tag that begins as ours": {"CACHEDIR.TAG": MARK + "more\n", "x": ""},
    "looks like ours": {".gitignore": "*\n", f"{__version__}/{CONTENT}": "{}"},
}


@pytest.mark.parametrize("content", FOREIGN.values(), ids=FOREIGN)
@pytest.mark.parametrize("by", ["settings", "option", "default"])
def test_what_is_not_ours_stays_as_it_is(
    by: str, content: dict[str, str], torchlint: Torchlint, write: Write, tmp_path: Path
) -> None:
    place = tmp_path / (NAME if by == "default" else "mine")
    write({"x.py": CODE, **{f"{place.name}/{name}": text for name, text in content.items()}})
    if by == "settings":
        write({"pyproject.toml": "[tool.torchlint]\ncache-dir = 'mine'\n"})
    arguments = ("--cache-dir", "mine") if by == "option" else ()
    before, plain = tree(tmp_path), torchlint("check", "--no-cache", "x.py")
    ran = torchlint("check", "x.py", *arguments)
    said = f"warning: the cache is not used: {place} has files in it and was not made by torchlint\n"
    assert (ran.code, ran.out, ran.err) == (plain.code, plain.out, said)
    assert torchlint("check", "--quiet", "x.py", *arguments).err == said
    assert torchlint("check", "--silent", "x.py", *arguments).err == ""
    ran = torchlint("clean", *arguments)
    assert (ran.code, ran.err) == (2, f"error: nothing was removed: {place} was not made by torchlint\n")
    assert tree(tmp_path) == before


@pytest.mark.parametrize("command", ["check", "clean"])
def test_a_link_is_not_followed(command: str, torchlint: Torchlint, write: Write, tmp_path: Path) -> None:
    write({"x.py": CODE})
    (tmp_path / "empty").mkdir()
    (tmp_path / NAME).symlink_to("empty")
    before = tree(tmp_path)
    ran = torchlint(command)
    assert f"{tmp_path / NAME} is a symbolic link" in ran.err
    assert ran.code == (1 if command == "check" else 2)
    assert tree(tmp_path) == before


def test_the_root_of_the_file_system_is_asked_about_only(tmp_path: Path) -> None:
    root = os.path.abspath(os.sep)
    with pytest.raises(SettingsError, match="inside of the project"):
        directory_for(None, Settings(str(tmp_path), cache_dir=root))
    with pytest.raises(Unusable):
        opened(root)


@pytest.mark.parametrize("place", [".", "..", "~"])
def test_never_where_somebody_works(
    place: str, torchlint: Torchlint, write: Write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home, here = tmp_path / "home", tmp_path / "p" / "q"
    home.mkdir()
    here.mkdir(parents=True)
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.chdir(here)
    write({"x.py": CODE})
    before = tree(tmp_path)
    ran = torchlint("check", "--cache-dir", os.path.expanduser(place), str(tmp_path / "x.py"))
    assert ran.code == 1
    assert "warning: the cache is not used: " in ran.err
    assert tree(tmp_path) == before


def test_an_empty_directory_becomes_a_cache(torchlint: Torchlint, write: Write, tmp_path: Path) -> None:
    write({"x.py": CODE})
    (tmp_path / "c").mkdir()
    (tmp_path / "c" / f"CACHEDIR.TAG.{'a' * 16}.tmp").touch()  # a run was killed
    assert torchlint("check", "--cache-dir", "c").err == ""
    assert cached(tmp_path / "c")
    assert (tmp_path / "c" / ".gitignore").read_text(encoding="utf-8") == "*\n"


@pytest.mark.skipif(not hasattr(os, "geteuid"), reason="there are no owners")
def test_the_directory_of_another_user(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made(str(tmp_path / "c")).__exit__()
    other = os.geteuid() + 1
    monkeypatch.setattr(os, "geteuid", lambda: other)
    with pytest.raises(Unusable, match="belongs to another user"):
        opened(str(tmp_path / "c"))


# ------------------------------------------------------------------------------------------ removing


def test_clean(torchlint: Torchlint, write: Write, tmp_path: Path) -> None:
    write({"x.py": CODE})
    assert torchlint("clean").err == "There is no cache here\n"
    torchlint("check")
    assert torchlint("clean").err == f"Removed {tmp_path / NAME}\n"
    assert not (tmp_path / NAME).exists()
    assert torchlint("clean").code == 0


def test_clean_removes_what_it_made_and_says_what_it_left(torchlint: Torchlint, write: Write, tmp_path: Path) -> None:
    """As the version before would mark a repository."""
    ours = {
        "CACHEDIR.TAG": MARK,
        ".gitignore": "*\n",
        f"CACHEDIR.TAG.{'0' * 16}.tmp": "",
        "0.1.0/0123abcd.json": "",
        f"0.1.0/0123abcd.json.{'f' * 16}.tmp": "",
        "0.2.0.dev1/00000000.json": "",
    }
    theirs = {
        ".git/HEAD": "x",
        "x.py": CODE,
        "notes.json": "",
        "0123abcd.json": "",
        "1.0/notes.txt": "",
        "0.1.0/notes.json": "",
        "0.1.0/sub/0123abcd.json": "",
        "data/0123abcd.json": "",
    }
    write(
        {**{f"p/{name}": text for name, text in ours.items()}, **{f"p/{name}": text for name, text in theirs.items()}}
    )
    ran = torchlint("clean", "--cache-dir", "p")
    left = ".git, 0.1.0, 0123abcd.json, 1.0, data, notes.json, x.py"
    assert ran.err == f"Removed the cache from {tmp_path / 'p'}, and left what is not its own: {left}\n"
    assert ran.code == 0
    assert {name: text for name, text in tree(tmp_path / "p").items() if text != "folder"} == theirs


def test_clean_leaves_what_others_ignore(tmp_path: Path) -> None:
    made(str(tmp_path / "c")).__exit__()
    (tmp_path / "c" / ".gitignore").write_text("*\n!kept\n", encoding="utf-8")
    assert clean(str(tmp_path / "c")) == [".gitignore"]


def test_clean_follows_no_links(tmp_path: Path, write: Write) -> None:
    made(str(tmp_path / "c")).__exit__()
    write({f"work/{CONTENT}": "x", "c/2.0/x": ""})
    links = {"1.0": tmp_path / "work", f"2.0/{CONTENT}": tmp_path / "work" / CONTENT, "loop": Path("loop")}
    for name, target in links.items():
        (tmp_path / "c" / name).symlink_to(target)
    assert clean(str(tmp_path / "c")) == ["1.0", "2.0", "loop"]
    assert tree(tmp_path / "work") == {CONTENT: "x"}
    assert all((tmp_path / "c" / name).is_symlink() for name in links)


@pytest.mark.skipif(not cachedir._HAS_DESCRIPTORS, reason="directories cannot be held open")
def test_a_directory_that_becomes_a_link_meanwhile(
    tmp_path: Path, write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    with made(str(tmp_path / "c")) as folder, folder.folder("1.0", make=True) as inner:
        inner.write(CONTENT, b"")
    write({f"work/{CONTENT}": "x"})
    usual = OpenFolder.folder

    def swapped(self: OpenFolder, name: str, make: bool = False) -> OpenFolder:
        shutil.rmtree(tmp_path / "c" / name)
        (tmp_path / "c" / name).symlink_to(tmp_path / "work")
        return usual(self, name, make)

    monkeypatch.setattr(OpenFolder, "folder", swapped)
    assert clean(str(tmp_path / "c")) == ["1.0"]
    assert tree(tmp_path / "work") == {CONTENT: "x"}


@pytest.mark.skipif(not cachedir._HAS_DESCRIPTORS, reason="directories cannot be held open")
def test_a_cache_that_is_moved_away_meanwhile(tmp_path: Path) -> None:
    (tmp_path / "work").mkdir()
    with made(str(tmp_path / "c")) as folder:
        (tmp_path / "c").rename(tmp_path / "d")
        (tmp_path / "c").symlink_to(tmp_path / "work")
        folder.write(CONTENT, b"x")
    assert tree(tmp_path / "work") == {}
    assert CONTENT in tree(tmp_path / "d")


def test_where_directories_cannot_be_held_open(
    torchlint: Torchlint, write: Write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cachedir, "_HAS_DESCRIPTORS", False)
    write({"x.py": CODE, "work/0123abcd.json": "x"})
    assert torchlint("check").err == ""
    assert cached(tmp_path / NAME)
    assert "1 known from the cache" in torchlint("check", "-v").err
    (tmp_path / NAME / "1.0").symlink_to(tmp_path / "work")
    assert torchlint("clean").err.endswith("and left what is not its own: 1.0\n")
    assert tree(tmp_path / "work") == {CONTENT: "x"}
    ran = torchlint("check", "--cache-dir", "work")
    assert ran.err.endswith("work has files in it and was not made by torchlint\n")


def test_clean_says_what_cannot_be_removed(
    torchlint: Torchlint, write: Write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write({"x.py": CODE})
    torchlint("check")

    def refuse(*arguments: object, **more: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(os, "unlink", refuse)
    ran = torchlint("clean")
    assert (ran.code, ran.err) == (3, f"error: {tmp_path / NAME}: Permission denied\n")
    assert cached(tmp_path / NAME)
