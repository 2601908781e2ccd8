"""The files of facts about torch: where they stand, and how a script writes or compares one."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from pathlib import Path

DATA = Path(__file__).resolve().parent.parent.parent / "torchlint" / "model" / "torch" / "data"


def write_or_compare(path: Path, generate: Callable[[], str], description: str) -> int:
    """Write a file; with ``--check``, only say whether it is up to date. Returns the exit code."""
    options = argparse.ArgumentParser(description=description.partition("\n")[0])
    options.add_argument("--check", action="store_true", help="only say whether the file is up to date")
    is_check = options.parse_args().check
    text = generate()
    if not is_check:
        path.write_text(text, encoding="utf-8", newline="\n")
        return 0
    is_same = path.exists() and path.read_text(encoding="utf-8") == text
    print(f"{path.name} is up to date" if is_same else f"{path.name} is out of date: run {Path(sys.argv[0]).name}")
    return int(not is_same)
