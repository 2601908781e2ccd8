from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from torchlint.project.discovery import discover
from torchlint.project.project import Project

Write = Callable[[dict[str, str]], None]


def tree(text: str) -> dict[str, str]:
    """Empty files by name; ``name: content`` for one with content, ``|`` for its newlines."""
    pairs = (line.strip().partition(": ") for line in text.strip().splitlines())
    return {name: content.replace("|", "\n") for name, _, content in pairs}


TOML = "pyproject.toml: [tool.torchlint]|"

# files, paths on the command line, files to be found
CASES = {
    "Python files, sorted": (
        "b.py\na.py\nc.pyi\nd.txt\nE.PY\nf.ipynb\ng.pyw\nz/y.py\nz.py",
        ".",
        "a.py b.py c.pyi f.ipynb z.py z/y.py",
    ),
    "several paths": ("a/x.py\nb/y.py\nc/z.py", "b c/z.py", "b/y.py c/z.py"),
    "overlapping paths": ("a/x.py\na/y.py", "a a/x.py . ./a/../a/x.py", "a/x.py a/y.py"),
    "any file by its name": ("script\nnotes.txt", "script notes.txt", "notes.txt script"),
    "default excludes": (
        "a.py\n.git/x.py\n.venv/x.py\nvenv/x.py\nbuild/x.py\nnode_modules/x.py\nb/__pycache__/x.py\nb/dist/x.py",
        ".",
        "a.py",
    ),
    "a file is not excluded by a directory's name": ("a/build.py\nvenv.py", ".", "a/build.py venv.py"),
    "a virtual environment of any name": ("env/x.py\nmine/pyvenv.cfg\nmine/x.py", ".", "env/x.py"),
    "an excluded file by its name": ("build/x.py", "build/x.py", "build/x.py"),
    "an excluded directory by its name": ("build/x.py\nbuild/dist/y.py", "build", "build/x.py"),
    "below an excluded directory": ("site-packages/torch/x.py", "site-packages/torch", "site-packages/torch/x.py"),
    "gitignore": (".gitignore: *_pb2.py|/out/\na_pb2.py\nb/c_pb2.py\nout/x.py\nb/out/x.py", ".", "b/out/x.py"),
    "gitignore below": ("a/.gitignore: x.py\na/x.py\na/b/x.py\nx.py", ".", "x.py"),
    "gitignore takes back": (".gitignore: *.py|!keep.py\na.py\nkeep.py", ".", "keep.py"),
    "gitignore below takes back": (".gitignore: x.py\na/.gitignore: !x.py\na/x.py\nb/x.py", ".", "a/x.py"),
    "no way back into a left-out directory": (".gitignore: a/|!a/x.py\na/x.py\nb.py", ".", "b.py"),
    "gitignore above": (".git/HEAD\n.gitignore: x.py\na/b/x.py\na/b/y.py", "a/b", "a/b/y.py"),
    "gitignore above, no repository": (".gitignore: x.py\na/b/x.py", "a/b", "a/b/x.py"),
    "gitignore above another repository": (".git/HEAD\n.gitignore: x.py\na/.git: gitdir\na/x.py\nx.py", ".", "a/x.py"),
    "an ignored directory by its name": (".git/HEAD\n.gitignore: out/|x.py\nout/x.py\nout/y.py", "out", "out/y.py"),
    "an ignored file by its name": (".git/HEAD\n.gitignore: x.py\nx.py", "x.py", "x.py"),
    "bad lines of a gitignore": (".gitignore: # so||!|[z-a]|x.py\nx.py\ny.py", ".", "y.py"),
    "exclude": (
        TOML + 'exclude = ["a", "b/*.py", "!b/y.py"]\na/x.py\nb/x.py\nb/y.py\nc/a/x.py\nbuild/x.py',
        ".",
        "b/y.py build/x.py",
    ),
    "extend-exclude": (TOML + 'extend-exclude = ["a"]\na/x.py\nbuild/x.py\nx.py', ".", "x.py"),
    "exclude a path": (TOML + 'exclude = ["/a/b"]\na/b/x.py\na/c/x.py\nc/a/b/x.py', ".", "a/c/x.py c/a/b/x.py"),
    "an excluded directory of the settings by its name": (
        TOML + 'exclude = ["a/", "y.py"]\na/x.py\na/y.py',
        "a",
        "a/x.py",
    ),
    "exclude of nested settings": (
        "x.py\na/" + TOML + 'exclude = ["x.py"]\na/x.py\na/build/y.py\nbuild/y.py',
        ".",
        "a/build/y.py x.py",
    ),
    "names of all kinds": ("a b.py\n-dash.py\nq'\".py\nü.py", ".", "-dash.py|a b.py|q'\".py|ü.py"),
}


@pytest.mark.parametrize(("files", "paths", "expected"), CASES.values(), ids=CASES)
def test_finds(
    files: str, paths: str, expected: str, tmp_path: Path, write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tree(files))
    monkeypatch.chdir(tmp_path)
    found = discover(paths.split(), Project())
    assert [file.path for file in found.files] == expected.split("|" if "|" in expected else None)
    assert [file.location for file in found.files] == [str(tmp_path / file.path) for file in found.files]
    assert (found.missing, found.problems) == ([], [])


FORCED = {
    "default": ("build/x.py\nx.py", "build/x.py x.py", "x.py"),
    "deep": ("a/node_modules/b/x.py", "a/node_modules/b/x.py", ""),
    "settings": (
        TOML + 'exclude = ["a/b", "*_pb2.py"]\na/b/c/x.py\na/x.py\na/y_pb2.py',
        "a/b/c/x.py a/x.py a/y_pb2.py",
        "a/x.py",
    ),
}


@pytest.mark.parametrize(("files", "paths", "expected"), FORCED.values(), ids=FORCED)
def test_force_exclude(
    files: str, paths: str, expected: str, tmp_path: Path, write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tree(files))
    monkeypatch.chdir(tmp_path)
    assert [file.path for file in discover(paths.split(), Project(), force_exclude=True).files] == expected.split()
    assert len(discover(paths.split(), Project()).files) == len(paths.split())


def test_files_elsewhere_are_shown_with_their_whole_path(
    tmp_path: Path, write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tree("a/x.py\nb/y.py"))
    monkeypatch.chdir(tmp_path / "b")
    assert [file.path for file in discover(["../a", "."], Project()).files] == [str(tmp_path / "a" / "x.py"), "y.py"]


def test_links(tmp_path: Path, write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tree("real/x.py\nreal/y.py\nelsewhere.txt"))
    (tmp_path / "real" / "a_link.py").symlink_to("x.py")
    (tmp_path / "real" / "loop").symlink_to("..")
    (tmp_path / "linked").symlink_to("real")
    (tmp_path / "real" / "broken.py").symlink_to("nothing")
    (tmp_path / "real" / "self.py").symlink_to("self.py")
    (tmp_path / "real" / "text.py").symlink_to("../elsewhere.txt")
    monkeypatch.chdir(tmp_path)

    found = discover(["."], Project())
    assert [file.path for file in found.files] == ["real/text.py", "real/x.py", "real/y.py"]
    assert sorted(found.notes) == [f"real/{name}: a broken link, skipped" for name in ("broken.py", "self.py")]
    # what was named keeps its name
    assert [file.path for file in discover(["linked"], Project()).files] == [
        "linked/text.py",
        "linked/x.py",
        "linked/y.py",
    ]
    assert [file.path for file in discover([".", "real/a_link.py"], Project()).files] == [
        "real/a_link.py",
        "real/text.py",
        "real/y.py",
    ]
    assert [file.named for file in discover([".", "real/x.py"], Project()).files] == [False, True, False]


def test_special_files_are_not_opened(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.py")
    found = discover([str(tmp_path)], Project())
    assert found.files == []
    assert [note.partition(": ")[2] for note in found.notes] == ["not a regular file, skipped"]


@pytest.mark.parametrize("path", ["missing.py", "missing/", "x.py/y.py", "broken.py", "a\0b"])
def test_missing(path: str, tmp_path: Path, write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tree("x.py"))
    (tmp_path / "broken.py").symlink_to("nothing")
    monkeypatch.chdir(tmp_path)
    found = discover([path, "x.py"], Project())
    assert len(found.missing) == 1
    assert found.missing[0].startswith(f"{path}: ")
    assert [file.path for file in found.files] == ["x.py"]


def test_a_directory_that_cannot_be_read(tmp_path: Path, write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tree("a/x.py\nb/y.py"))
    monkeypatch.chdir(tmp_path)
    scandir = os.scandir

    def refusing(path: str) -> object:
        if os.path.basename(path) == "a":
            raise PermissionError(13, "Permission denied")
        return scandir(path)

    monkeypatch.setattr(os, "scandir", refusing)
    found = discover(["."], Project())
    assert [file.path for file in found.files] == ["b/y.py"]
    assert [(problem.path, problem.message) for problem in found.problems] == [("a", "Permission denied")]
