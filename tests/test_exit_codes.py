"""What cannot be looked at, and the exit code for it: the table of the README, for each command that takes paths."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import Torchlint
from notebooks import notebook

from torchlint.system.limits import FILE_SIZE

Write = Callable[[dict[str, str]], None]

FINDING = "import torch\nx = torch.ones(3).data\n"
COMMANDS = ("check", "stats", "infer", "upgrade --from 1.0")
README = Path(__file__).parents[1] / "README.md"

# paths, what is said of them after "error: ", exit code
PATHS = {
    "a missing file": ("gone.py clean.py", "gone.py: No such file or directory", 2),
    "a missing folder": ("gone/ clean.py", "gone/: No such file or directory", 2),
    "below a file": ("clean.py/x.py clean.py", "clean.py/x.py: Not a directory", 2),
    "a broken link": ("broken.py clean.py", "broken.py: No such file or directory", 2),
    "a link to itself": ("loop.py clean.py", "loop.py: Too many levels of symbolic links", 3),
    "an unreadable file": ("secret.py clean.py", "secret.py: Permission denied", 3),
    "an unreadable folder": ("closed clean.py", "closed: Permission denied", 3),
    "a file in one that may not be entered": ("dark/x.py clean.py", "dark/x.py: Permission denied", 3),
    "an unreadable file below": ("a clean.py", "a/secret.py: Permission denied", 3),
    "an unreadable folder below": ("b clean.py", "b/closed: Permission denied", 3),
    "a missing and an unreadable one": ("secret.py gone.py", "gone.py: No such file or directory", 2),
}


@pytest.fixture
def tree(write: Write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Files and folders that may not be read: to the administrator nothing is forbidden, so it is made up."""
    write(dict.fromkeys(("clean.py", "secret.py", "closed/x.py", "dark/x.py", "a/secret.py", "b/closed/x.py"), ""))
    (tmp_path / "broken.py").symlink_to("nothing")
    (tmp_path / "loop.py").symlink_to("loop.py")

    def refusing(module: object, name: str, pattern: str) -> None:
        usual = getattr(module, name)

        def refuse(path: str, *more: object, **named: object) -> object:
            if re.search(pattern, str(path)):
                raise PermissionError(13, "Permission denied")
            return usual(path, *more, **named)

        monkeypatch.setattr(module, name, refuse)

    refusing(os, "scandir", r"closed$")
    refusing(os, "stat", r"\bdark\b.x\.py$")
    refusing(os, "open", r"secret\.py$")


@pytest.mark.usefixtures("tree")
@pytest.mark.parametrize(("paths", "message", "code"), PATHS.values(), ids=PATHS)
@pytest.mark.parametrize("command", COMMANDS)
def test_what_cannot_be_looked_at(command: str, paths: str, message: str, code: int, torchlint: Torchlint) -> None:
    ran = torchlint(*command.split(), *paths.split())
    assert ran.code == code, ran
    assert f"error: {message}" in ran.err.splitlines()
    assert "Permission" not in ran.out


@pytest.mark.usefixtures("tree")
@pytest.mark.parametrize("case", [case for case in PATHS if "unreadable file" not in case], ids=str)
def test_listing_files_says_what_checking_them_says(case: str, torchlint: Torchlint) -> None:
    paths, message, code = PATHS[case]
    ran = torchlint("check", "--show-files", *paths.split())
    assert ran.code == code, ran
    assert f"error: {message}" in ran.err.splitlines()


def test_a_finding_beside_it_changes_nothing(write: Write, torchlint: Torchlint) -> None:
    write({"x.py": FINDING, "n.py": "#" * (FILE_SIZE + 1)})
    assert torchlint("check", "x.py").code == 1
    assert torchlint("check", "x.py", "n.py").code == 3
    assert torchlint("check", "x.py", "n.py", "gone.py").code == 2
    assert torchlint("check", "--exit-zero", "x.py", "n.py", "gone.py").code == 2


# files, paths, what is said of folders without Python, exit code
FOLDERS = {
    "nothing": ({"e/x.txt": ""}, "e", "e: no Python files found", 2),
    "the working directory": ({}, ".", ".: no Python files found", 2),
    "a notebook": ({"e/x.ipynb": notebook("x = 1")}, "e", "", 0),
    "a copy of a notebook": ({"e/.ipynb_checkpoints/y.ipynb": ""}, "e", "e: no Python files found", 2),
    "one of two": ({"e/x.txt": "", "a/x.py": ""}, "a e", "e: no Python files found", 0),
}


@pytest.mark.parametrize(("files", "paths", "message", "code"), FOLDERS.values(), ids=FOLDERS)
@pytest.mark.parametrize("command", [*COMMANDS, "check --show-files"])
def test_folders_without_python(
    command: str, files: dict[str, str], paths: str, message: str, code: int, write: Write, torchlint: Torchlint
) -> None:
    write(files)
    ran = torchlint(*command.split(), *paths.split())
    level = "error" if code and command.startswith(("infer", "check")) else "warning"
    assert ran.err == (f"{level}: {message}\n" if message else "")
    assert ran.code == code


def test_the_table_has_all_codes() -> None:
    codes = re.findall(r"^\| (\d+)(?:, (\d+))? \|", README.read_text(encoding="utf-8"), re.MULTILINE)
    assert [int(code) for pair in codes for code in pair if code] == [0, 1, 2, 3, 130, 141]


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="there is no disk that is always full")
def test_an_output_without_room(tmp_path: Path) -> None:
    (tmp_path / "x.py").write_text("import torch\ntorch.load(x)\n", encoding="utf-8")
    with open("/dev/full", "wb") as full:
        ran = subprocess.run(
            [sys.executable, "-m", "torchlint", "check", "--isolated"],
            stdout=full,
            stderr=subprocess.PIPE,
            cwd=tmp_path,
            check=False,
        )
    assert ran.returncode == 3
    assert ran.stderr == b"error: the output could not be written: No space left on device\n"
