"""Checks each Python file of some folders by itself, and says which took longest and most. Prints a Markdown table.

python scripts/slowest.py FOLDER... [--all] [-j N] [--fix]

Processor seconds and peak memory are those of the worker process; a worker ends after some files, so that what one file
took does not count for all that follow. ``--all`` selects every rule, ``--fix`` fixes (in memory) as well.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import sys
import time
from dataclasses import dataclass
from functools import partial
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from torchlint.diagnostic import Fixing
from torchlint.project.discovery import File, discover
from torchlint.project.project import Project
from torchlint.project.selection import Selection
from torchlint.session.worker import Job, answer, known_codebase
from torchlint.system.stack import with_big_stack

LIFE = 25
"""Batches of files after which a worker is replaced."""

BATCH = 20
"""Files that one worker checks in a row, with what it knows of other files kept, as in a run."""


@dataclass(frozen=True)
class Cost:
    """What a file cost, and what was said of it."""

    path: str
    size: int
    seconds: float
    peak: int
    findings: int
    problems: tuple[str, ...]


def costs(files: list[File], select_all: bool, fixing: Fixing) -> list[Cost]:
    """Check some files in this process."""
    return with_big_stack(lambda: [_cost(file, select_all, fixing) for file in files])


_codebase = known_codebase()


def _cost(file: File, select_all: bool, fixing: Fixing) -> Cost:
    import resource

    project = Project(Selection(select=("ALL",)) if select_all else Selection(), isolated=True)
    job = Job(file.path, project.codes(file.location), fixing, file.location)
    started = time.process_time()
    result = answer(job, _codebase)
    seconds = time.process_time() - started
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // (1 if sys.platform == "darwin" else 1024)
    problems = tuple(problem.message for problem in result.problems)
    return Cost(file.path, os.path.getsize(file.location), seconds, peak, len(result.diagnostics), problems)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="+")
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--fix", action="store_true")
    parser.add_argument("-j", "--jobs", type=int, default=os.cpu_count() or 1)
    given = parser.parse_args()
    files = discover(given.folders, Project(isolated=True)).files
    batches = [files[start : start + BATCH] for start in range(0, len(files), BATCH)]
    one = partial(costs, select_all=given.all, fixing=Fixing.UNSAFE if given.fix else Fixing.NONE)
    found: list[Cost] = []
    with multiprocessing.get_context("spawn").Pool(given.jobs, maxtasksperchild=LIFE) as pool:
        for batch in pool.imap_unordered(one, batches):
            found += batch
    print(
        f"{len(found):,} files, {sum(c.size for c in found) / 1e6:.1f} MB, {sum(c.findings for c in found):,} findings"
    )
    print(f"peak memory of a process: {max(c.peak for c in found)} MB")
    print("\n| seconds | size (kB) | file |\n|---|---|---|")
    for cost in sorted(found, key=lambda cost: -cost.seconds)[:10]:
        print(f"| {cost.seconds:.2f} | {cost.size // 1000} | {cost.path} |")
    problems = sorted(f"{cost.path}: {problem}" for cost in found for problem in cost.problems)
    print("\n".join(["", *problems]))
    return 0


if __name__ == "__main__":
    sys.exit(main())
