"""Says whether what is known of an expression depends on which files were looked at before. Prints a Markdown table.

python scripts/check_order.py FOLDER...

Every expression of every file is asked for, as ``torchlint infer`` does: with nothing known of other files, then with
what was kept of them, in several orders, with all the room there is and with little. All have to say the same.
"""

from __future__ import annotations

import argparse
import os
import random
import sys
import time
import zlib
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from torchlint.file.inferred import infer
from torchlint.file.parse.invalid import Unparsed
from torchlint.file.text import source
from torchlint.file.tree.given import NotRoundTripped
from torchlint.model.codebase import modules
from torchlint.model.codebase.modules import Codebase
from torchlint.project.discovery import discover
from torchlint.project.project import Project
from torchlint.system.stack import with_big_stack

LITTLE = 100_000
"""Characters of other files to keep, where there is little room."""

Values = dict[str, list[int]]
"""Of each file a number for each of its expressions, which stands for all that is known of it."""


def shuffled(files: list[str]) -> list[str]:
    """In an order that is the same every time."""
    return random.Random(0).sample(files, len(files))


ORDERS: dict[str, tuple[Callable[[list[str]], list[str]], bool, int]] = {
    "nothing kept": (list, False, modules._ROOM),
    "sorted": (list, True, modules._ROOM),
    "backwards": (lambda files: files[::-1], True, modules._ROOM),
    "shuffled": (shuffled, True, modules._ROOM),
    "shuffled, little room": (shuffled, True, LITTLE),
}
"""The order of the files, whether anything is kept from one to the next, and for how many characters there is room."""


def values(files: list[str], name: str) -> tuple[Values, float]:
    """What is known in one of the orders, and the seconds it took."""
    order, is_kept, modules._ROOM = ORDERS[name]  # processes are used again
    kept, started = Codebase(), time.perf_counter()
    found = {path: list(_numbers(path, kept if is_kept else Codebase())) for path in order(files)}
    return found, time.perf_counter() - started


def _numbers(path: str, known: Codebase) -> Iterator[int]:
    try:
        for inferred in infer(source.decode(Path(path).read_bytes()).text, path, path, known):
            yield zlib.crc32(repr(inferred).encode(errors="surrogatepass"))
    except (Unparsed, NotRoundTripped, RecursionError, source.Undecodable):
        return


def in_order(files: list[str], name: str) -> tuple[Values, float]:
    """The same with a stack that deeply nested code needs."""
    return with_big_stack(lambda: values(files, name))


def first_place(path: str, one: list[int], other: list[int]) -> str:
    """The first expression of a file of which two orders say different things."""
    index = next((i for i, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))
    found = list(infer(source.decode(Path(path).read_bytes()).text, path, path))
    return f"{path}:{found[index].start.row} {found[index].expression[:60]!r}" if index < len(found) else path


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("-j", "--jobs", type=int, default=os.cpu_count() or 1)
    given = parser.parse_args()
    found = discover([str(folder) for folder in given.folders], Project(isolated=True)).files
    files = sorted(os.path.abspath(file.location) for file in found)
    with ProcessPoolExecutor(given.jobs) as pool:
        answers = dict(zip(ORDERS, pool.map(partial(in_order, files), ORDERS), strict=True))
    alone, _ = answers["nothing kept"]
    print(f"{len(files)} files, {sum(map(len, alone.values()))} expressions\n")
    print("| | files that differ | expressions that differ | seconds |\n|---|---|---|---|")
    wrong = []
    for name, (known, seconds) in answers.items():
        differ = [path for path in files if known[path] != alone[path]]
        count = sum(a != b for path in differ for a, b in zip(alone[path], known[path], strict=False))
        print(f"| {name} | {len(differ)} | {count} | {seconds:.0f} |")
        wrong += [f"{name}: {first_place(path, alone[path], known[path])}" for path in differ]
    print("\n".join(["", *wrong]) if wrong else "")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
