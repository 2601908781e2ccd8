"""What each layer that exists only for speed saves: processor time without it, divided by that with all of them.

    python benchmarks/layers.py FOLDER [FOLDER ...] [--times N]

A run is one ``torchlint check --no-cache -j1`` in a process of its own; the least of N runs counts. Run it on code of
several ages: a layer that saves less than 1.2 times on a large modern library is not worth its code.
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from results import ROOT

sys.path.insert(0, str(ROOT))

from report import aligned

from torchlint.system.layers import VARIABLE, Layer


def seconds(folder: Path, without: str, times: int) -> float:
    """Processor seconds of a run without a layer."""
    command = [sys.executable, "-m", "torchlint", "check", "--isolated", "--no-cache", "-j1", "-q", "--exit-zero"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT), VARIABLE: without}
    found = []
    for _ in range(times):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run([*command, str(folder)], env=environment, capture_output=True, check=False)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        found.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return min(found)


def table(folders: Sequence[Path], times: int) -> list[list[str]]:
    """A row for each layer, a column for each folder."""
    rows = [["without", *(folder.name for folder in folders)]]
    whole = [seconds(folder, "", times) for folder in folders]
    rows.append(["nothing, in s", *(f"{each:.2f}" for each in whole)])
    for layer in Layer:
        ratios = (seconds(folder, layer.value, times) / most for folder, most in zip(folders, whole, strict=True))
        rows.append([layer.value, *(f"{ratio:.2f}" for ratio in ratios)])
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--times", type=int, default=3)
    options = parser.parse_args()
    print("\n".join(aligned(table(options.folders, options.times))))


if __name__ == "__main__":
    main()
