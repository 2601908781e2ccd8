"""How the cost grows with the size of one file, and with the number of files.

    python benchmarks/scaling.py [--lines 1000 2000 …] [--files 50 100 …] [--repeat 3] [--out FILE.json]

The code is made up (`synthetic.py`), the same in every run. Each point is the processor time of one `torchlint check
-j1` on it, the least of some runs, less that of one on a file of a few lines (start-up). The exponent is the slope of
a straight line through the points where both axes are logarithms: 1 is linear growth, 2 quadratic.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import synthetic
from measure import Cost, measure
from results import ROOT, commit, described, machine, today

LINES = (1000, 2000, 4000, 8000, 16000, 32000)

FILES = (50, 100, 200, 400, 800, 1600)

LINES_OF_EACH = 150
"""Lines of one of many files."""

NOISE = 0.05
"""Seconds below which a point says nothing."""

FINE = (0, 1)
"""Exit codes of a complete run."""


@dataclass(frozen=True, slots=True)
class Point:
    """What a size costs."""

    size: int
    """Lines, or files."""
    megabytes: float
    processor: float
    """Seconds, without start-up."""
    peak: float
    """Megabytes."""


@dataclass(frozen=True, slots=True)
class Series:
    """How the cost grows with something."""

    name: str
    unit: str
    points: list[Point]

    @property
    def exponent(self) -> float:
        """Slope of the logarithm of the cost over that of the size in bytes."""
        return exponent([(each.megabytes, each.processor) for each in self.points if each.processor >= NOISE])


def exponent(points: Sequence[tuple[float, float]]) -> float:
    """The exponent that fits best (least squares of the logarithms); not a number where there are too few points."""
    logarithms = [(math.log(x), math.log(y)) for x, y in points if x > 0 and y > 0]
    if len({x for x, _ in logarithms}) < 2:
        return math.nan
    mean_x, mean_y = (sum(column) / len(logarithms) for column in zip(*logarithms, strict=True))
    spread = sum((x - mean_x) ** 2 for x, _ in logarithms)
    return float(sum((x - mean_x) * (y - mean_y) for x, y in logarithms) / spread)


def cost(paths: Sequence[Path], repeat: int, *options: str) -> tuple[float, float]:
    """Processor time and peak memory (MB) of checking something: the least of some runs.

    Raises:
        RuntimeError: it was not checked completely.
    """
    command = [sys.executable, "-m", "torchlint", "check", "--isolated", "-j1", "--quiet", "--output-format=concise"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    runs: list[Cost] = []
    for _ in range(repeat):
        runs.append(measure([*command, *options, *map(str, paths)], environment=environment))
        if runs[-1].code not in FINE:
            raise RuntimeError(f"torchlint ended with exit code {runs[-1].code}")
    return min(run.processor for run in runs), min(run.peak for run in runs) / 1e6


def grown(
    name: str, unit: str, sizes: Sequence[int], make: Callable[[int], Path], repeat: int, warm: Path | None = None
) -> Series:
    """The costs of all sizes: ``make`` gives what is to be checked. With a folder for a cache, when it is filled."""
    series = Series(name, unit, [])
    start_up: float | None = None
    for size in sizes:
        path = make(size)
        options = ["--cache-dir", str(warm / str(size))] if warm else ["--no-cache"]
        if warm:
            cost([path], 1, *options)
        if start_up is None:
            start_up = cost([make(0)], max(repeat, 3), *options)[0]
        processor, peak = cost([path], repeat, *options)
        needed = max(processor - start_up, 0.0)
        series.points.append(Point(size, round(megabytes(path), 4), round(needed, 4), round(peak, 1)))
    return series


def megabytes(path: Path) -> float:
    """How much Python there is."""
    files = path.rglob("*.py") if path.is_dir() else [path]
    return sum(file.stat().st_size for file in files) / 1e6


def shown(series: Series) -> str:
    """A series as text."""
    lines = [f"{series.name}: exponent {series.exponent:.2f}"]
    lines.append(f"{series.unit:>8} {'MB':>8} {'s':>8} {'s/MB':>8} {'peak MB':>8}")
    for point in series.points:
        rate = point.processor / point.megabytes
        lines.append(f"{point.size:8} {point.megabytes:8.2f} {point.processor:8.2f} {rate:8.2f} {point.peak:8.0f}")
    return "\n".join(lines)


def keep(found: Sequence[Series], path: Path) -> None:
    """Write the figures to a file, with what they were measured on."""
    series = [{**asdict(each), "exponent": rounded(each.exponent)} for each in found]
    title = described(machine(), commit(), today())
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({"title": title, "series": series}, indent=1) + "\n", encoding="utf-8")


def rounded(value: float) -> float | None:
    """Two digits; JSON has no word for what is not a number."""
    return None if math.isnan(value) else round(value, 2)


def main(arguments: Sequence[str] | None = None) -> None:
    """Print all series, and keep them if that is wanted."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else None)
    parser.add_argument("--lines", nargs="*", type=int, default=LINES, help="sizes of the one file")
    parser.add_argument("--files", nargs="*", type=int, default=FILES, help="numbers of files")
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--out", type=Path, help="a JSON file to keep the figures in")
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)

        def one_file(lines: int) -> Path:
            path = folder / f"lines{lines}.py"
            path.write_text(synthetic.module(lines) if lines else "import torch\nx = torch.ones(3).data\n")
            return path

        def many_files(count: int) -> Path:
            path = folder / f"files{count}"
            if not path.exists():
                synthetic.package(path, max(count, 1), LINES_OF_EACH if count else 1)
            return path

        found = []
        for name, unit, sizes, make, warm in (
            ("one file", "lines", options.lines, one_file, None),
            ("many files", "files", options.files, many_files, None),
            ("many files, unchanged", "files", options.files, many_files, folder / "cache"),
        ):
            if sizes:
                found.append(grown(name, unit, sizes, make, options.repeat, warm))
                print(shown(found[-1]), flush=True)
    if options.out:
        keep(found, options.out)


if __name__ == "__main__":
    main()
