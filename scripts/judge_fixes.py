"""Fixes generated programs, runs them before and after, and prints a table of what came out.

    python scripts/judge_fixes.py [--programs 10000] [--seed 0] [--jobs N] [--show 3]

The programs are those of the seeds SEED, SEED + 1, … (``tests/programs.py``); ``torchlint.testing.execution``
compares them.
A program in which a safe fix changes anything is cut down to the statements that it takes, and shown. The exit code
says whether there is one.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from multiprocessing import get_context
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "tests")]

import torch  # noqa: E402
from programs import random_program, text_of  # noqa: E402
from verdict import ALL, Verdict, judge  # noqa: E402

from torchlint.diagnostic import Fixing  # noqa: E402
from torchlint.file.check import check_text  # noqa: E402


@dataclass
class Row:
    """Programs in which a rule had something to say."""

    programs: int = 0
    safe: int = 0
    """Safe fixes applied."""
    unsafe: int = 0
    """Unsafe fixes applied."""
    equal: int = 0
    """Programs that ran, with a safe fix of this rule, and nothing changed."""
    wrong: int = 0
    """Programs in which a safe fix of this rule changed something."""
    ran: int = 0
    """Programs that ran, with an unsafe fix of this rule."""
    deviating: int = 0
    """Of these, those in which an unsafe fix of this rule changed something."""


@dataclass
class Table:
    """What came out of all programs."""

    total: Counter[str] = field(default_factory=Counter)
    rows: dict[str, Row] = field(default_factory=dict)
    wrong: list[tuple[int, list[str]]] = field(default_factory=list)

    def add(self, seed: int, verdict: Verdict) -> None:
        """Count one program."""
        self.total.update(
            {
                "generated": 1,
                "running": verdict.ran,
                "with findings": bool(verdict.found),
                "with safe fixes": bool(verdict.safe),
                "compared": bool(verdict.safe) and verdict.ran,
                "equal": bool(verdict.safe) and verdict.ran and not verdict.wrong,
                "wrong": bool(verdict.wrong),
                "mended": verdict.mended,
                "with unsafe fixes": bool(+verdict.unsafe) and verdict.ran,
                "close": bool(+verdict.unsafe) and verdict.ran and not verdict.deviates,
                "raising": bool(verdict.deviates) and verdict.deviates[0].startswith("raises"),
            }
        )
        if verdict.wrong:
            self.wrong.append((seed, verdict.wrong))
        for code in verdict.found.keys() | verdict.safe.keys():
            row = self.rows.setdefault(code, Row())
            row.programs += 1
            row.safe += verdict.safe[code]
            row.unsafe += max(verdict.unsafe[code], 0)
            if verdict.ran:
                row.equal += verdict.safe[code] > 0 and code not in verdict.culprits
                row.wrong += code in verdict.culprits
                row.ran += verdict.unsafe[code] > 0
                row.deviating += code in verdict.deviating

    def lines(self) -> Iterator[str]:
        """The table, in Markdown."""
        of = self.total
        yield "| programs | |"
        yield "|---|---|"
        for name in ("generated", "running", "with findings", "with safe fixes"):
            yield f"| {name} | {of[name]:,} |"
        yield f"| running, and compared after safe fixes | {of['compared']:,} |"
        yield f"| … equal | {of['equal']:,} |"
        yield f"| … or anything else wrong, in any program | {of['wrong']:,} |"
        yield f"| raising as they stand, running after safe fixes | {of['mended']:,} |"
        yield f"| running, and run after unsafe fixes | {of['with unsafe fixes']:,} |"
        yield f"| … with the same values | {of['close']:,} |"
        yield f"| … raising | {of['raising']:,} |"
        yield ""
        yield "| rule | programs | safe fixes | programs equal | changed | unsafe fixes | programs run | changed |"
        yield "|---|---|---|---|---|---|---|---|"
        for code in sorted(self.rows):
            r = self.rows[code]
            yield (
                f"| {code} | {r.programs:,} | {r.safe:,} | {r.equal:,} | {r.wrong:,} "
                f"| {r.unsafe:,} | {r.ran:,} | {r.deviating:,} |"
            )


def judged(seed: int) -> tuple[int, Verdict]:
    """The verdict on the program of a seed."""
    return seed, judge(text_of(random_program(seed)))


def shrunk(seed: int) -> list[str]:
    """The statements of a program that it takes for something to be wrong."""
    statements = random_program(seed)
    index = len(statements) - 1
    while index >= 0:
        fewer = statements[:index] + statements[index + 1 :]
        if judge(text_of(fewer)).wrong:
            statements = fewer
        index -= 1
    return statements


def main() -> int:
    """Judge, print the table, and show what is wrong."""
    options = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    options.add_argument("--programs", type=int, default=10_000)
    options.add_argument("--seed", type=int, default=0, help="of the first program")
    options.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    options.add_argument("--show", type=int, default=3, help="how many programs to show that came out wrong")
    given = options.parse_args()
    table = Table()
    with get_context("spawn").Pool(given.jobs, torch.set_num_threads, (1,)) as pool:
        for seed, verdict in pool.imap_unordered(judged, range(given.seed, given.seed + given.programs), 20):
            table.add(seed, verdict)
    print("\n".join(table.lines()))
    for seed, _ in sorted(table.wrong)[: given.show]:
        text = text_of(shrunk(seed))
        verdict = judge(text)
        print(f"\n# seed {seed}: {sorted(verdict.culprits)}", *verdict.wrong, sep="\n# ")
        print(text, "became", check_text(text, "program.py", ALL, Fixing.SAFE).text, sep="\n")
    return bool(table.wrong)


if __name__ == "__main__":
    sys.exit(main())
