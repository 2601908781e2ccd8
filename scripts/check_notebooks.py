"""Fixes all notebooks of some folders, in a copy, and says whether anything went wrong. Prints a Markdown table.

python scripts/check_notebooks.py FOLDER...

What comes out is read by ``json`` and compared apart from the code that edits: only the code of cells may differ,
and what stands in the files around the code has to be the same to the byte.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from torchlint.diagnostic import Fixing
from torchlint.file.notebook.container import code_cells
from torchlint.project.discovery import NOTEBOOK, File, discover
from torchlint.project.project import Project
from torchlint.session.scheduler import Run, RunOptions


def without_code(data: bytes) -> tuple[Any, list[str]]:
    """What a notebook holds but for its code: as JSON, and the text between the code of two cells."""
    content = json.loads(data)
    cells = content["cells"] if "cells" in content else [c for sheet in content["worksheets"] for c in sheet["cells"]]
    for cell in cells:
        if cell["cell_type"] == "code":
            cell.pop("source" if "source" in cell else "input")
    text, pieces, last = data.decode("utf-8-sig"), list[str](), 0
    for each in code_cells(text):
        pieces.append(text[last : each.start])
        last = each.end
    return content, [*pieces, text[last:]]


def account(files: list[File], fixing: Fixing) -> Iterator[tuple[str, object]]:
    """What came of fixing some notebooks twice, which are as before afterwards."""
    first = Run(Project(isolated=True), RunOptions(fixing)).files(files)
    again = Run(Project(isolated=True), RunOptions(fixing)).files(files)
    changed = [result for result in first if result.after is not None]
    yield "notebooks", len(first)
    yield "not read (TL003)", sum(found.code == "TL003" for result in first for found in result.diagnostics)
    yield "cells that are no Python (TL001)", sum(f.code == "TL001" for result in first for f in result.diagnostics)
    yield "notebooks changed", len(changed)
    yield "fixes", sum(count for result in first for _, count in result.fixed)
    yield "findings left", sum(len(result.diagnostics) for result in first)
    yield "changed by a second run", sum(result.after is not None for result in again)
    spoilt = [each for each in changed if without_code(each.before) != without_code(each.after or b"")]
    yield "changed outside of code", len(spoilt)
    yield "problems", sum(len(result.problems) for result in first)
    for result in first:
        for problem in result.problems:
            print(problem, file=sys.stderr)
        if result.after is not None:
            Path(result.file.location).write_bytes(result.before)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="+", type=Path)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as directory:
        for number, folder in enumerate(given.folders):
            shutil.copytree(folder, os.path.join(directory, str(number)), symlinks=True)
        found = discover([directory], Project(isolated=True)).files
        files = [file for file in found if file.path.endswith(NOTEBOOK)]
        safe, unsafe = (list(account(files, fixing)) for fixing in (Fixing.SAFE, Fixing.UNSAFE))
    print("| | `--fix` | `--fix --unsafe-fixes` |\n|---|---|---|")
    for (name, one), (_, other) in zip(safe, unsafe, strict=True):
        print(f"| {name} | {one:,} | {other:,} |")
    return 0


if __name__ == "__main__":
    sys.exit(main())
