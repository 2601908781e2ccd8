"""Fixing a whole project for a newer version: only where git can give back what was there. What a run has fixed."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from conftest import Torchlint

Write = Callable[[dict[Any, Any]], None]

OLD = "import torch\nq, r = torch.qr(torch.ones(3, 3))\n"
UPGRADE = ("upgrade", "--from", "1.4", "--fix")


@pytest.fixture
def git(tmp_path: Path) -> Callable[..., None]:
    """Run git in the directory of the test, which is a repository."""

    def run(*arguments: str) -> None:
        user = ["-c", "user.name=x", "-c", "user.email=x@y"]
        subprocess.run(["git", *user, *arguments], cwd=tmp_path, check=True, capture_output=True)

    run("init", "--quiet", ".")
    return run


# what is done after everything was committed, and which files are named
DIRTY: dict[str, tuple[dict[str, str], list[str]]] = {
    "a file to fix": ({"x.py": f"# new\n{OLD}"}, ["x.py"]),
    "another file": ({"README": "new"}, ["README"]),
    "a new file to fix": ({"y.py": OLD}, ["y.py"]),
    "several": ({"y.py": OLD, "x.py": "", "sub/a b.py": OLD}, ["sub/a b.py", "x.py", "y.py"]),
    "many": ({f"{n}.py": "" for n in range(9)}, ["0.py", "1.py", "2.py", "3.py", "4.py", "…"]),
}


@pytest.mark.parametrize(("files", "named"), DIRTY.values(), ids=DIRTY)
def test_a_dirty_tree_is_left_alone(
    files: dict[str, str], named: list[str], git: Callable[..., None], write: Write, torchlint: Torchlint
) -> None:
    write({"x.py": OLD, "README": ""})
    git("add", "-A")
    git("commit", "--message", "x")
    write(files)
    before = {path: path.read_bytes() for path in Path().rglob("*.py")}
    ran = torchlint(*UPGRADE)
    assert (ran.code, ran.out) == (2, "")
    assert f"changes that are not committed ({', '.join(named)}): " in ran.err
    assert {path: path.read_bytes() for path in Path().rglob("*.py")} == before
    assert torchlint(*UPGRADE, "--allow-dirty").code in (0, 1)
    assert {path: path.read_bytes() for path in Path().rglob("*.py")} != before


def test_a_clean_tree_is_fixed(git: Callable[..., None], write: Write, torchlint: Torchlint) -> None:
    write({"x.py": OLD, ".gitignore": "ignored.py\n"})
    git("add", "-A")
    git("commit", "--message", "x")
    write({"notes.txt": "new, and nothing that is fixed", "ignored.py": OLD})
    ran = torchlint(*UPGRADE)
    assert ran.out.endswith("Fixed 1 (1 × TL302), 0 left.\n")
    assert "linalg.qr" in Path("x.py").read_text(encoding="utf-8")
    write({"y.py": OLD})
    assert torchlint(*UPGRADE[:-1]).code == 1  # nothing is written, so nothing is refused


def test_what_is_in_no_repository_is_fixed(write: Write, torchlint: Torchlint) -> None:
    write({"x.py": OLD})
    assert "Fixed 1 " in torchlint(*UPGRADE).out


def test_a_line_says_what_was_fixed(write: Write, torchlint: Torchlint) -> None:
    code = "import torch\nw = torch.ones(3, requires_grad=True)\n"
    write({"x.py": f"{code}print(w.data)\nprint(w.sum().data[0])\n", "y.py": f"{code}print(w.data)\n"})
    ran = torchlint("check", "--fix", "--select", "TL101,TL203")
    assert ran.out == "Fixed 3 findings in 2 files: 2 × TL101, 1 × TL203.\nNo findings in 2 files (3 fixed).\n"
    assert torchlint("check", "--fix").out == "No findings in 2 files.\n"
    write({"x.py": f"{code}print(w.data)\n"})
    assert torchlint("check", "--fix", "--quiet").out == ""


def test_settings_can_be_given(write: Write, torchlint: Torchlint) -> None:
    write({"x.py": OLD, "gen/y.py": OLD})
    assert "2 in 2 files" in torchlint(*UPGRADE[:3]).out
    assert "1 in 1 file " in torchlint(*UPGRADE[:3], "--config", "extend-exclude=gen").out
    assert torchlint(*UPGRADE, "--config", "unfixable=TL302").out.endswith("Fixed 0, 2 left.\n")
    assert Path("x.py").read_text(encoding="utf-8") == OLD
    assert torchlint(*UPGRADE[:3], "--config", "fixx=1").code == 2


def test_an_argument_that_is_a_keyword_is_no_syntax_error(torchlint: Torchlint, write: Write) -> None:
    write({"x.py": "import torch\nx = torch.ones(3).cuda(async=True)\n"})
    lines = torchlint("upgrade", "--from", "1.4", "--to", "2.13", ".").out.splitlines()
    assert [line.split()[4] for line in lines if line.startswith(" ")] == ["TL204"]
    assert lines[-1] == "Where they are: torchlint check --select TL204,TL3,TL7,TL9 --target-torch '==2.13'"
