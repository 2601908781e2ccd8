"""Time torchlint beside other linters on the same files: ``python benchmarks/compare.py [wheel ...]``.

Each wheel (default: transformers) is downloaded from the package index and unpacked. Every tool runs over it in one
session; user and system time of the whole process tree and wall time are printed, and their ratio to torchlint's. ruff
is the measure; TorchFix (``pip install torchfix`` in an environment of its own, ``--torchfix PATH``) takes minutes.
"""

from __future__ import annotations

import argparse
import resource
import subprocess
import sys
import tempfile
import time
import zipfile
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Timing:
    """Seconds of one run."""

    processor: float
    wall: float


def fetch(wheel: str, folder: Path) -> Path:
    """Download a wheel and unpack it; the folder with its files."""
    target = folder / wheel
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary", ":all:"]
    subprocess.run([*command, "--dest", str(folder), wheel], check=True)
    (archive,) = folder.glob(f"{wheel.replace('-', '_')}-*.whl")
    with zipfile.ZipFile(archive) as opened:
        opened.extractall(target)
    return target


def measure(command: list[str]) -> Timing:
    """Run a command to its end; findings are no failure."""
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
    wall, after = time.perf_counter() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
    return Timing(after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime, wall)


def main() -> None:
    """Run all tools on all wheels and print a table for each."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else None)
    parser.add_argument("wheels", nargs="*", default=["transformers"])
    parser.add_argument("--torchfix", help="path of a torchfix executable")
    options = parser.parse_args()
    python = [sys.executable, "-m"]
    tools = {
        "torchlint": [*python, "torchlint", "check", "--isolated", "--no-cache"],
        "torchlint -j1": [*python, "torchlint", "check", "--isolated", "--no-cache", "-j1"],
        "ruff --no-cache": [*python, "ruff", "check", "--isolated", "--no-cache"],
    }
    if options.torchfix:
        tools["torchfix"] = [options.torchfix, "--select=ALL", "-j2"]
    with tempfile.TemporaryDirectory() as folder:
        for wheel in options.wheels:
            files = fetch(wheel, Path(folder))
            size = sum(path.stat().st_size for path in files.rglob("*.py")) / 1e6
            print(f"{wheel}: {size:.1f} MB of Python")
            base: Timing | None = None
            for name, command in tools.items():
                timing = measure([*command, str(files)])
                base = base or timing
                ratio = f"{timing.processor / base.processor:8.2f} {timing.wall / base.wall:8.2f}"
                print(f"  {name:18} {timing.processor:8.1f} s processor {timing.wall:8.1f} s wall   x {ratio}")


if __name__ == "__main__":
    main()
