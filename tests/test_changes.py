"""What changes in a repository have brought: on their lines, and elsewhere in the file."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from conftest import Torchlint
from notebooks import cell, notebook

from torchlint.project.changes import ChangedFile, _parsed

Write = Callable[[dict[Any, Any]], None]

HEAD = "import torch\nw = torch.ones(3, requires_grad=True)\n"
OLD = HEAD + "print(w.data)\nprint(1)\n"


@pytest.fixture
def git(tmp_path: Path, torchlint: Torchlint, monkeypatch: pytest.MonkeyPatch) -> Callable[..., str]:
    """Run git in a repository."""
    for name in list(os.environ):
        if name.startswith("GIT_"):
            monkeypatch.delenv(name)
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", os.devnull)
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")

    def run(*arguments: str) -> str:
        identity = (
            "-c",
            "user.name=x",
            "-c",
            "user.email=x@y",
            "-c",
            "commit.gpgsign=false",
            "-c",
            "core.autocrlf=false",
        )
        ran = subprocess.run(["git", *identity, *arguments], cwd=tmp_path, capture_output=True, text=True, check=True)
        return ran.stdout

    run("init", "-q", "-b", "main")
    return run


def commit(git: Callable[..., str], message: str = "x") -> None:
    git("add", "-A")
    git("commit", "-q", "--allow-empty", "-m", message)


def codes(torchlint: Torchlint, *arguments: str) -> list[tuple[str, str, int]]:
    ran = torchlint("check", "--output-format", "json", *arguments)
    assert ran.code in (0, 1), ran.err
    return [(os.path.basename(e["filename"]), e["code"], e["location"]["row"]) for e in json.loads(ran.out)]


def test_only_changed_lines(git: Callable[..., str], write: Write, torchlint: Torchlint) -> None:
    write({"x.py": OLD, "y.py": OLD})
    commit(git)
    assert codes(torchlint, "--since", "HEAD") == []
    assert torchlint("check", "--since", "HEAD").out == "No findings in 0 files.\n"
    write({"x.py": OLD + "print(w.data, 2)\n", "z.py": OLD})
    assert codes(torchlint, "--since", "HEAD") == [("x.py", "TL101", 5), ("z.py", "TL101", 3)]
    ran = torchlint("check", "--since", "HEAD", "--output-format", "concise")
    assert ran.out.splitlines()[-2:] == [
        "Found 2 findings in 2 files (1 elsewhere).",
        "[*] 2 fixable with `--fix`.",
    ]
    assert ran.code == 1
    assert codes(torchlint, "--since", "HEAD", "z.py") == [("z.py", "TL101", 3)]


def test_since_the_branch_was_left(git: Callable[..., str], write: Write, torchlint: Torchlint) -> None:
    write({"x.py": OLD})
    commit(git)
    git("checkout", "-q", "-b", "mine")
    write({"x.py": OLD + "print(w.data, 2)\n"})
    commit(git)
    git("checkout", "-q", "main")
    write({"y.py": OLD})
    commit(git)
    git("checkout", "-q", "mine")
    assert codes(torchlint, "--since", "main") == [("x.py", "TL101", 5)]
    assert codes(torchlint, "--since", "main~1") == [("x.py", "TL101", 5)]


def test_a_statement_that_a_change_touches(git: Callable[..., str], write: Write, torchlint: Torchlint) -> None:
    text = HEAD + "print(\n    w.data,\n    1,\n)\n"
    write({"x.py": text})
    commit(git)
    write({"x.py": text.replace("1,", "2,")})
    assert codes(torchlint, "--since", "HEAD") == [("x.py", "TL101", 4)]


def test_what_a_change_brings_elsewhere(git: Callable[..., str], write: Write, torchlint: Torchlint) -> None:
    text = "import torch\n\n\ndef f(w):\n    return w.data\n\n\nprint(f(1))\n"
    write({"x.py": text})
    commit(git)
    assert codes(torchlint) == []
    write({"x.py": text.replace("f(w)", "f(w: torch.Tensor)")})
    ran = torchlint("check", "--since", "HEAD")
    assert ran.out.endswith("\nOn lines that did not change, but brought by the change: x.py:5:14\n")
    assert codes(torchlint, "--since", "HEAD") == [("x.py", "TL101", 5)]


def test_lines_that_move_are_not_changed(git: Callable[..., str], write: Write, torchlint: Torchlint) -> None:
    write({"old.py": OLD + "print(2)\n" * 20})
    commit(git)
    write({"old.py": "'''Says what it does.'''\n\n" + OLD + "print(2)\n" * 20})
    assert codes(torchlint, "--since", "HEAD") == []
    git("mv", "old.py", "new.py")
    assert codes(torchlint, "--since", "HEAD") == []


def test_names_that_git_quotes(git: Callable[..., str], write: Write, torchlint: Torchlint) -> None:
    names = ["a b.py", "ü.py", 'q"\t.py', os.fsdecode(b"\xff.py")]
    write(dict.fromkeys(names, OLD))
    commit(git)
    write(dict.fromkeys(names, OLD + "print(w.data, 2)\n"))
    assert len(codes(torchlint, "--since", "HEAD")) == 4
    git("add", "-A")
    assert len(codes(torchlint, "--staged")) == 4


def test_what_is_staged(git: Callable[..., str], write: Write, torchlint: Torchlint, tmp_path: Path) -> None:
    write({"x.py": OLD})
    git("add", "-A")
    assert codes(torchlint, "--staged") == [("x.py", "TL101", 3)], "before the first commit all is new"
    commit(git)
    write({"x.py": OLD + "print(w.data, 2)\n", "y.py": OLD})
    assert codes(torchlint, "--staged") == []
    git("add", "x.py")
    write({"x.py": OLD + "print(3)\n" + "print(w.data, 4)\n"})
    assert codes(torchlint, "--staged") == [("x.py", "TL101", 5)]
    (tmp_path / "x.py").unlink()
    git("rm", "-q", "--cached", "x.py")
    assert codes(torchlint, "--staged") == []


def away(path: Path) -> Path:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink()
    return path


def test_files_in_conflict_are_named(git: Callable[..., str], write: Write, torchlint: Torchlint) -> None:
    write({"p/x.py": OLD, "y.py": "import torch\n", "n.txt": "1\n"})
    commit(git)
    git("checkout", "-q", "-b", "other")
    write({"p/x.py": OLD + "print(w.data, 2)\n", "n.txt": "2\n"})
    commit(git)
    git("checkout", "-q", "main")
    write({"p/x.py": OLD + "print(w.data, 3)\n", "n.txt": "3\n"})
    commit(git)
    with pytest.raises(subprocess.CalledProcessError):
        git("merge", "-q", "other")
    write({"y.py": OLD})
    git("add", "y.py")
    said = f"error: {os.path.join('p', 'x.py')}: in conflict: nothing of it is staged to be checked before `git add`\n"
    for paths in ((), ("p", "y.py"), ("p/x.py", "y.py")):
        ran = torchlint("check", "--staged", "--output-format", "concise", *paths)
        assert (ran.code, ran.err) == (3, said), paths
        assert ran.out.startswith("y.py:3:")
        assert "1 file could not be checked" in ran.out
    assert codes(torchlint, "--staged", "y.py") == [("y.py", "TL101", 3)]
    write({"torchlint.toml": 'exclude = ["p"]\n'})
    assert codes(torchlint, "--staged") == [("y.py", "TL101", 3)]
    assert codes(torchlint, "--staged", "p/x.py", "--force-exclude") == []


# what becomes of a file in a folder after it has been staged
SINCE_STAGED: dict[str, Callable[[Path], object]] = {
    "nothing": lambda path: None,
    "it is deleted": away,
    "it is a link": lambda path: os.symlink("../other.py", away(path)),
    "it is a broken link": lambda path: os.symlink("nowhere", away(path)),
    "it is a folder": lambda path: os.mkdir(away(path)),
    "it is a pipe": lambda path: os.mkfifo(away(path)),
    "it is ignored": lambda path: (path.parent / ".gitignore").write_text("*.py\n"),
    "its folder is deleted": lambda path: away(path.parent),
    "its folder is a link": lambda path: os.symlink(".", away(path.parent)),
    "its folder is a broken link": lambda path: os.symlink("nowhere", away(path.parent)),
    "its folder is a file": lambda path: away(path.parent).write_text(""),
}


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no pipes with names")
@pytest.mark.parametrize("later", SINCE_STAGED.values(), ids=SINCE_STAGED)
def test_what_is_staged_is_checked_whatever_stands_in_its_place(
    later: Callable[[Path], object], git: Callable[..., str], write: Write, torchlint: Torchlint, tmp_path: Path
) -> None:
    write({"other.py": "import torch\n"})
    commit(git)
    write({"p/x.py": OLD})
    git("add", "-A")
    later(tmp_path / "p" / "x.py")
    for paths in ([], ["."], ["p"], ["p/x.py"], [str(tmp_path / "p" / "x.py")], ["p/../p/x.py", "p"]):
        assert codes(torchlint, "--staged", *paths) == [("x.py", "TL101", 3)], paths
    assert torchlint("check", "--staged", "--show-files").out == f"{tmp_path / 'p' / 'x.py'}\n"
    assert codes(torchlint, "--staged", "other.py") == []
    git("commit", "-q", "-m", "y")
    assert codes(torchlint, "--staged") == []


def test_paths_and_settings_hold_for_what_is_staged(
    git: Callable[..., str], write: Write, torchlint: Torchlint, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write({"a/x.py": OLD, "b/y.py": OLD, "venv1/pyvenv.cfg": "", "venv1/z.py": OLD, "s/script": OLD, "s/link.py": ""})
    away(tmp_path / "s" / "link.py").symlink_to("script")
    git("add", "-A")
    for name in ("a", "b", "s"):
        shutil.rmtree(tmp_path / name)
    write({"torchlint.toml": 'exclude = ["b", "*.tmp"]\n'})
    assert codes(torchlint, "--staged") == [("x.py", "TL101", 3)]
    assert codes(torchlint, "--staged", "b") == [("y.py", "TL101", 3)], "a folder that is named is looked into"
    assert codes(torchlint, "--staged", "b/y.py", "s/script") == [("y.py", "TL101", 3), ("script", "TL101", 3)]
    assert codes(torchlint, "--staged", "b/y.py", "--force-exclude") == []
    monkeypatch.chdir(tmp_path / "venv1")
    assert codes(torchlint, "--staged") == [("z.py", "TL101", 3)]
    ran = torchlint("check", "--staged", "../a", "../c", "")
    assert (ran.code, ran.err.count("neither here nor staged")) == (2, 2)


def test_what_git_does_not_call_a_text_is_looked_at(
    git: Callable[..., str], write: Write, torchlint: Torchlint
) -> None:
    write({".gitattributes": "*.py binary\n", "x.py": OLD})
    commit(git)
    git("config", "diff.interHunkContext", "9")
    write({"x.py": OLD.replace("print(1)\n", "print(w.data, 2)\n").replace(HEAD, HEAD + "print(3)\n")})
    assert codes(torchlint, "--since", "HEAD") == [("x.py", "TL101", 5)]
    git("add", "-A")
    assert codes(torchlint, "--staged") == [("x.py", "TL101", 5)]


def test_together_with_a_baseline_and_comments(git: Callable[..., str], write: Write, torchlint: Torchlint) -> None:
    write({"x.py": OLD})
    torchlint("baseline", "write")
    commit(git)
    new = "print(w.data, 2)\n"
    write({"x.py": OLD + new})
    ran = torchlint("check", "--since", "HEAD", "-q", "--output-format", "concise")
    assert ran.out.count("TL101") == 1
    torchlint("check", "--since", "HEAD", "--add-ignore")
    assert torchlint("check", "--no-baseline").out.splitlines()[-2] == "Found 1 finding in 1 file (1 suppressed)."


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("--since nothing", "--since: `nothing` is no commit"),
        ("--since -x", "no commit"),
        ("--since HEAD --staged", "cannot be given together"),
        ("--since HEAD --fix", "--since goes with neither --fix"),
        ("--staged --diff", "--staged goes with neither --fix"),
        ("--staged -", "nor standard input"),
        ("--staged --add-ignore", "cannot be given together"),
    ],
)
def test_what_cannot_be_meant(
    options: str, message: str, git: Callable[..., str], write: Write, torchlint: Torchlint
) -> None:
    write({"x.py": OLD})
    commit(git)
    ran = torchlint("check", *options.split())
    assert (ran.code, ran.out) == (2, "")
    assert message in ran.err


def test_outside_of_a_repository(write: Write, torchlint: Torchlint, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GIT_DIR", "/nowhere")
    write({"x.py": OLD})
    ran = torchlint("check", "--since", "HEAD")
    assert ran.code == 2
    assert "this is no git repository" in ran.err
    monkeypatch.setenv("PATH", "")
    assert "git cannot be run" in torchlint("check", "--staged").err


def test_settings_of_the_repository_run_nothing(
    git: Callable[..., str], write: Write, torchlint: Torchlint, tmp_path: Path
) -> None:
    write({"x.py": OLD, ".gitattributes": "*.py diff=evil\n"})
    commit(git)
    for key in ("core.fsmonitor", "diff.external", "diff.evil.command", "diff.evil.textconv", "core.pager"):
        git("config", key, "touch evil; false")
    git("config", "diff.noprefix", "true")
    git("config", "diff.mnemonicPrefix", "true")
    git("config", "color.ui", "always")
    write({"x.py": OLD + "print(w.data, 2)\n"})
    assert codes(torchlint, "--since", "HEAD") == [("x.py", "TL101", 5)]
    assert not (tmp_path / "evil").exists()


def test_lines_that_look_like_heads_of_a_patch(git: Callable[..., str], write: Write, torchlint: Torchlint) -> None:
    text = OLD + "a = '''\n++ b/y.py\n@@ -1 +1 @@\n'''\n"
    write({"x.py": text})
    commit(git)
    write({"x.py": text.replace("++ b", "++ c").replace("'''\n++", "'''\n-- a/x.py\n++") + "print(w.data, 2)\n"})
    assert codes(torchlint, "--since", "HEAD") == [("x.py", "TL101", 10)]


def test_a_patch() -> None:
    patch = b"diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1,0 +2,3 @@ f\n+a\n+b\n+c\n@@ -7 +9,0 @@\n-q\n@@ -9 +10 @@\n-a\n+b\n"
    found = _parsed(os.sep, patch)
    assert found == {os.path.join(os.sep, "x"): ChangedFile("x", [(2, 4), (10, 10)])}


# ---------------------------------------------------------------------- notebooks

READ = "print(w.data)\n"
OUTPUT = [{"output_type": "stream", "name": "stdout", "text": [READ]}]

# what a notebook becomes, and the cells in which findings are new
REWRITTEN: dict[str, tuple[str, list[int]]] = {
    "run": (notebook(cell(HEAD, execution_count=1), cell(READ, outputs=OUTPUT, execution_count=2)), []),
    "indented in another way": (notebook(HEAD, READ, indent=4), []),
    "on one line": (notebook(HEAD, READ, indent=None), []),
    "with escapes and other keys first": (notebook(HEAD, READ, ensure_ascii=True, sort_keys=True), []),
    "a new cell": (notebook(HEAD, READ, "v = w.data.sum()\n"), [3]),
    "a new cell before": (notebook(HEAD, "v = w.data.sum()\n", READ), [2]),
    "a new cell on one line": (notebook(HEAD, READ, "v = w.data.sum()\n", indent=None), [3]),
    "the same again": (notebook(HEAD, READ, READ), [3]),
    "cells in another order": (notebook(HEAD, "x = 1\n", READ, indent=None), []),
    "another statement in the cell": (notebook(HEAD, f"{READ}v = w.data.sum()\n"), [2]),
    "a comment": (notebook(HEAD, f"# new\n{READ}"), []),
}


@pytest.mark.parametrize(("text", "cells"), REWRITTEN.values(), ids=REWRITTEN)
@pytest.mark.parametrize("before", [None, 1], ids=["from one line", "from many lines"])
@pytest.mark.parametrize("option", ["--since", "--staged"])
def test_what_is_new_in_a_notebook(
    option: str,
    before: int | None,
    text: str,
    cells: list[int],
    git: Callable[..., str],
    write: Write,
    torchlint: Torchlint,
) -> None:
    write({"x.ipynb": notebook(HEAD, READ, indent=before), "same.ipynb": notebook(HEAD, READ)})
    commit(git)
    write({"x.ipynb": text})
    git("add", "-A")
    arguments = ["--since", "HEAD"] if option == "--since" else ["--staged"]
    ran = torchlint("check", "--output-format", "json", *arguments)
    found = json.loads(ran.out)
    assert [(Path(entry["filename"]).name, entry["cell"]) for entry in found] == [("x.ipynb", cell) for cell in cells]


def test_all_of_a_new_notebook_is_new(git: Callable[..., str], write: Write, torchlint: Torchlint) -> None:
    commit(git)
    write({"x.ipynb": notebook(HEAD, READ, READ, indent=None)})
    assert len(codes(torchlint, "--since", "HEAD")) == 2
    git("add", "-A")
    assert len(codes(torchlint, "--staged")) == 2


@pytest.mark.parametrize("indent", [1, 4, None])
@pytest.mark.parametrize("newline", ["\n", "\r\n"])
@pytest.mark.parametrize("end", ["", "\n"])
def test_git_applies_the_patch_of_a_notebook(
    indent: int | None, newline: str, end: str, git: Callable[..., str], write: Write, torchlint: Torchlint
) -> None:
    text = notebook(HEAD, f"# ü\n{READ}", "!ls\n", READ.rstrip(), indent=indent).rstrip() + end
    write({"sub/x.ipynb": text.replace("\n", newline)})
    commit(git)
    patch = torchlint("check", "--diff")
    Path("p.patch").write_bytes(patch.raw)
    git("apply", "p.patch")
    fixed = Path("sub/x.ipynb").read_bytes()
    assert fixed == text.replace("w.data", "w.detach()").replace("\n", newline).encode()
    git("checkout", "sub/x.ipynb")
    assert torchlint("check", "--fix").code == 0
    assert Path("sub/x.ipynb").read_bytes() == fixed
