"""Writes down all that torchlint says of some code, so that a change that should say the same can be held to it.

python scripts/snapshot.py write FILE [--wheels NAME==VERSION ...] [--short]
python scripts/snapshot.py compare FILE FILE

The code is the case files, the examples in the documentation of the rules, the example project, and the Python files of
some wheels of fixed versions, which come from the package index. Of each the findings of all rules are written down
(with message, evidence and fixes), the texts after safe and after all fixes, what the command line prints beside them,
and what each expression of the case files is known to be. ``compare`` prints the differences; the exit code is 1 if
there are any. Only the command line is used, so the script outlives any change of what is behind it.
"""

from __future__ import annotations

import argparse
import difflib
import os
import re
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Iterator, Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

WHEELS = ("pytorch-pretrained-bert==0.6.2", "skorch==0.2.0", "allennlp==0.5.0", "kornia==0.6.0", "timm==1.0.31")
"""Three of old code, two of new."""

RUNS = {
    "findings": ("check", "--isolated", "--no-cache", "--select", "ALL", "--output-format", "json", "."),
    "safe fixes": ("check", "--isolated", "--no-cache", "--select", "ALL", "--diff", "."),
    "all fixes": ("check", "--isolated", "--no-cache", "--select", "ALL", "--diff", "--unsafe-fixes", "."),
}
"""What is asked of each folder."""

VALUES = {"values": ("infer", ".")}
"""And of the case files, where it says much in little room."""


def examples(page: str) -> Iterator[str]:
    """The code before fixing of each ``diff`` block of a page."""
    for match in re.finditer(r"^```diff[^\n]*\n(.*?)^```", page, re.MULTILINE | re.DOTALL):
        yield "".join(line[1:] or "\n" for line in match[1].splitlines(keepends=True) if line[0] != "+")


def lay_out(folder: Path, wheels: Sequence[str], scratch: Path) -> None:
    """Put the code into folders below ``folder``."""
    shutil.copytree(ROOT / "tests" / "cases", folder / "cases", ignore=shutil.ignore_patterns("*.md", "__pycache__"))
    shutil.copytree(ROOT / "examples", folder / "examples", ignore=shutil.ignore_patterns("__pycache__"))
    documented = folder / "rules"
    documented.mkdir()
    for page in sorted((ROOT / "docs" / "rules").glob("*.md")):
        for number, code in enumerate(examples(page.read_text(encoding="utf-8"))):
            (documented / f"{page.stem.replace('-', '_')}_{number}.py").write_text(code, encoding="utf-8")
    if wheels:
        options = ("--quiet", "--no-deps", "--only-binary=:all:", "--disable-pip-version-check")
        subprocess.run([sys.executable, "-m", "pip", "download", *options, "-d", str(scratch), *wheels], check=True)
    for wheel in sorted(scratch.glob("*.whl")):
        with zipfile.ZipFile(wheel) as archive:
            names = [name for name in archive.namelist() if name.endswith((".py", ".pyi"))]
            archive.extractall(folder / wheel.name.split("-")[0], names)


def said(arguments: Sequence[str], folder: Path) -> str:
    """What a run prints, without what depends on where the folder is."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "NO_COLOR": "1", "COLUMNS": "120"}
    command = [sys.executable, "-m", "torchlint", *arguments]
    ran = subprocess.run(command, cwd=folder, env=environment, capture_output=True, check=False)
    text = f"exit code {ran.returncode}\n{os.fsdecode(ran.stdout)}\n{os.fsdecode(ran.stderr)}"
    return text.replace(f"{os.path.realpath(folder)}{os.sep}", "")


def write(target: Path, wheels: Sequence[str]) -> None:
    """Write a snapshot."""
    with tempfile.TemporaryDirectory() as directory:
        folder, scratch = Path(directory, "code"), Path(directory, "wheels")
        folder.mkdir()
        scratch.mkdir()
        lay_out(folder, wheels, scratch)
        with open(target, "w", encoding="utf-8", errors="surrogateescape", newline="\n") as file:
            for place in sorted(folder.iterdir()):
                for title, arguments in (RUNS | (VALUES if place.name == "cases" else {})).items():
                    file.write(f"==== {place.name}: {title}\n{said(arguments, place)}")


def compare(before: Path, after: Path) -> int:
    """Print how two snapshots differ."""
    old, new = (path.read_text(encoding="utf-8", errors="surrogateescape").split("\n") for path in (before, after))
    if old == new:
        print(f"the same, {len(old)} lines")
        return 0
    for line in difflib.unified_diff(old, new, str(before), str(after), n=12, lineterm=""):
        print(line.encode(errors="backslashreplace").decode())
    return 1


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    writing = commands.add_parser("write")
    writing.add_argument("file", type=Path)
    writing.add_argument("--wheels", nargs="*", default=WHEELS)
    writing.add_argument("--short", action="store_true", help="without wheels")
    comparing = commands.add_parser("compare")
    comparing.add_argument("before", type=Path)
    comparing.add_argument("after", type=Path)
    given = parser.parse_args()
    if given.command == "compare":
        return compare(given.before, given.after)
    write(given.file, () if given.short else given.wheels)
    return 0


if __name__ == "__main__":
    sys.exit(main())
