"""What a benchmark found: rows of costs, kept as JSON beside what they were measured with."""

from __future__ import annotations

import json
import os
import platform
import statistics
import subprocess
import sys
from dataclasses import asdict, dataclass, field, replace
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]

RESULTS = ROOT / "benchmarks" / "results"

OURS, RUFF, FLAKE8, TORCHFIX, PYLINT, FIXIT = "torchlint", "ruff", "flake8", "torchfix", "pylint", "fixit"

BUSY = 0.1
"""The share of the machine that others may have taken while figures were made that are kept."""

COLD, WARM = "cold", "warm"
"""Without a cache, and with one that an earlier run filled."""


@dataclass(frozen=True, slots=True)
class Row:
    """What one tool cost on one thing, in one or several runs."""

    tool: str
    state: str
    version: str
    command: str
    measured: str
    """The day."""
    wall: list[float] = field(default_factory=list)
    """Seconds, one a run; so the next."""
    processor: list[float] = field(default_factory=list)
    peak: float = 0.0
    """The largest resident set of any process in any of the runs, in MB."""
    others: float = 0.0
    """The share of the machine that all else took meanwhile, in the run where that was most: 0 to 1."""
    findings: int | None = None
    over: float | None = None
    """The limit in seconds at which it was stopped, if it was."""
    note: str = ""
    """Why there are no figures, or what is wrong with them."""
    reused: bool = False
    """Whether this is from an earlier run of the benchmark."""

    @property
    def least_wall(self) -> float | None:
        return min(self.wall, default=None)

    @property
    def least_processor(self) -> float | None:
        return min(self.processor, default=None)

    @property
    def median_wall(self) -> float | None:
        return statistics.median(self.wall) if self.wall else None


@dataclass(frozen=True, slots=True)
class Run:
    """All tools on one wheel (or on small things: ``subject`` says what)."""

    subject: str
    files: int
    megabytes: float
    measured: str
    machine: dict[str, Any]
    commit: str | None
    """Of torchlint."""
    rows: list[Row]

    def row(self, tool: str, state: str = COLD) -> Row | None:
        return next((row for row in self.rows if (row.tool, row.state) == (tool, state)), None)


def save(run: Run, path: Path) -> None:
    """Keep a run."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(asdict(run), indent=1) + "\n", encoding="utf-8")


def load(path: Path) -> Run:
    """A run that was kept."""
    kept = json.loads(path.read_text(encoding="utf-8"))
    return Run(**{**kept, "rows": [Row(**row) for row in kept["rows"]]})


def reusable(earlier: Run, subject: str, row: Row) -> Row | None:
    """The earlier figures of the same tool, version and command on the same files and the same kind of machine.

    Not those of a machine that was busy with other things: nobody wants to keep them.
    """
    if earlier.subject != subject or earlier.machine != machine():
        return None
    old = earlier.row(row.tool, row.state)
    if old is None or (old.version, old.command) != (row.version, row.command):
        return None
    others = old.others if old.wall else max(each.others for each in earlier.rows)  # not known if stopped
    if others > BUSY or not (old.wall or old.over):
        return None
    return replace(old, reused=True)


def machine() -> dict[str, Any]:
    """What it runs on, without names."""
    return {
        "processor": _processor(),
        "cores": cores(),
        "memory_gb": round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 1e9),
        "system": f"{platform.system()} {platform.machine()}",
        "python": f"{platform.python_implementation()} {platform.python_version()}",
    }


def described(machine: dict[str, Any], commit: str | None, day: str) -> str:
    """What was measured on what and when, in a line."""
    return (
        f"{machine['processor']}, {machine['cores']} cores, {machine['memory_gb']} GB, {machine['system']}, "
        f"{machine['python']}; torchlint {commit or 'of unknown commit'}; {day}"
    )


def cores() -> int:
    """How many cores there are for us."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _processor() -> str:
    if sys.platform == "darwin":
        return _said("sysctl", "-n", "machdep.cpu.brand_string") or platform.processor()
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor()
    models = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(models, platform.processor())


def today() -> str:
    return datetime.now(timezone.utc).date().isoformat()


def commit() -> str | None:
    """Of the torchlint beside this; with a word if it has been changed since."""
    head = _said("git", "-C", str(ROOT), "rev-parse", "--short=12", "HEAD")
    changed = _said("git", "-C", str(ROOT), "status", "--porcelain", "--", "torchlint")
    return f"{head} with changes" if head and changed else head


def _said(*command: str) -> str | None:
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return None
    return done.stdout.strip() or None
