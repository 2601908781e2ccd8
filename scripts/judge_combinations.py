"""Runs programs made by combination before and after safe fixes, and prints those that differ.

    python scripts/judge_combinations.py [--programs 20000] [--seed 0] [--jobs N] [--show 10]

Half of the programs are about memory that is written under another name (``tests/combinations.py``), half about the old
form of each rule and what could tell it from the new one, some in several files (``tests/rule_combinations.py``).
"""

from __future__ import annotations

import argparse
import itertools
import os
import sys
from collections.abc import Iterator, Mapping
from multiprocessing import get_context
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "tests")]

import torch  # noqa: E402
from combinations import combinations, crossed  # noqa: E402
from rule_combinations import each_operation, rule_programs  # noqa: E402
from several_files import wrong  # noqa: E402

Files = Mapping[str, str]


def programs(count: int, seed: int) -> Iterator[Files]:
    """Each form once, and so many drawn at random."""
    fixed = [{"program.py": each.text} for each in crossed()] + [each.files for each in each_operation()]
    yield from fixed
    drawn = max(0, count - len(fixed))
    for memory, rule in itertools.islice(zip(combinations(seed), rule_programs(seed), strict=False), drawn // 2):
        yield {"program.py": memory.text}
        yield rule.files


def judged(files: Files) -> tuple[Files, list[str] | None, Files]:
    """How safe fixes change a program, with the fixed one."""
    found = wrong(files)
    return (files, None, files) if found is None else (files, *found)


def main() -> int:
    """Judge, count, and show what differs."""
    options = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    options.add_argument("--programs", type=int, default=20_000)
    options.add_argument("--seed", type=int, default=0)
    options.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    options.add_argument("--show", type=int, default=10, help="how many programs to show that differ")
    given = options.parse_args()
    ran = changed = total = 0
    differing: list[tuple[Files, list[str], Files]] = []
    with get_context("spawn").Pool(given.jobs, torch.set_num_threads, (1,)) as pool:
        for files, found, fixed in pool.imap_unordered(judged, programs(given.programs, given.seed), 20):
            total += 1
            if found is None:
                continue
            ran += 1
            changed += fixed != files
            if found:
                differing.append((files, found, fixed))
                if len(differing) <= given.show:
                    print("\n".join(f"# {name}\n{text}" for name, text in files.items()))
                    print("\n".join(f"# fixed {name}\n{text}" for name, text in fixed.items() if text != files[name]))
                    print(*found, sep="\n", flush=True)
    print(f"{total:,} programs: {ran:,} run, {changed:,} of them are changed by safe fixes, {len(differing):,} differ")
    return bool(differing)


if __name__ == "__main__":
    sys.exit(main())
