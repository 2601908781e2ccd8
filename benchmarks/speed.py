"""torchlint beside other linters, on the same files in the same run.

    python benchmarks/speed.py [--wheels transformers==X timm==Y …] [--peers ruff flake8 …] [--reuse] [--docs]

Needs the Python that torchlint's dependencies are installed for, and the network: the wheels come from the package
index, and so do the other linters, each into an environment of its own in a scratch folder (or ``--ruff PATH`` and so
on name what is installed). What is measured, and how, is in ``docs/speed.md``; ``--docs`` writes the tables there.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import re
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import report
import synthetic
from measure import Cost, TookTooLong, measure
from results import (
    COLD,
    FIXIT,
    FLAKE8,
    OURS,
    PYLINT,
    RESULTS,
    ROOT,
    RUFF,
    TORCHFIX,
    WARM,
    Row,
    Run,
    commit,
    cores,
    load,
    machine,
    reusable,
    save,
    today,
)

WHEELS = ("transformers==5.23.0", "diffusers==0.42.1", "timm==1.0.31", "accelerate==1.15.0", "lightning==2.6.6")

PINS: Mapping[str, tuple[str, ...]] = {
    RUFF: ("ruff==0.17.6",),
    FLAKE8: ("flake8==7.5.0", "torchfix==0.7.0", "libcst==1.5.1"),
    TORCHFIX: ("flake8==7.5.0", "torchfix==0.7.0", "libcst==1.5.1"),
    PYLINT: ("pylint==4.1.4", "astroid==4.3.4"),
    FIXIT: ("fixit==2.2.1", "libcst==1.9.0"),
}
"""What is installed for each peer."""

USUAL_PEERS = (RUFF, FLAKE8, PYLINT, FIXIT)

LONG = 30.0
"""Seconds after which a command is not run again."""

FEW = "few rules"
"""ruff with what were its default rules for long: it has less to print, and its cache is only of use for files without
findings.
"""

START = "start"
"""The name of the result about small things."""


@dataclass(frozen=True, slots=True)
class Tool:
    """How a linter is run."""

    name: str
    state: str
    arguments: str
    """``{files}``, ``{cache}`` and ``{jobs}`` stand for those."""
    fine: Collection[int] = (0, 1)
    """Exit codes of a run that did its work."""
    incomplete: Collection[int] = ()
    """And of one that could not look at some of the files."""

    def command(self, start: Sequence[str], files: str, cache: str) -> list[str]:
        words = (word.format(files=files, cache=cache, jobs=cores()) for word in self.arguments.split())
        return [*start, *words]

    @property
    def shown(self) -> str:
        """The command, as it is written down."""
        return f"{self.name} {self.arguments.format(files='FILES', cache='CACHE', jobs=cores())}"


TOOLS = (
    Tool(
        OURS,
        COLD,
        "check --isolated --no-cache --output-format=concise -j{jobs} {files}",
        incomplete=(3,),
    ),
    Tool(
        OURS,
        WARM,
        "check --isolated --cache-dir={cache} --output-format=concise -j{jobs} {files}",
        incomplete=(3,),
    ),
    Tool(RUFF, COLD, "check --isolated --no-cache --output-format=concise {files}"),
    Tool(RUFF, WARM, "check --isolated --cache-dir={cache} --output-format=concise {files}"),
    Tool(RUFF, f"{FEW}, {COLD}", "check --isolated --no-cache --select=E4,E7,E9,F --output-format=concise {files}"),
    Tool(
        RUFF,
        f"{FEW}, {WARM}",
        "check --isolated --cache-dir={cache} --select=E4,E7,E9,F --output-format=concise {files}",
    ),
    Tool(FLAKE8, COLD, "--isolated --select=TOR0,TOR1,TOR2,TOR4,TOR9 -j{jobs} {files}"),
    Tool(TORCHFIX, COLD, "--select=ALL -j{jobs} {files}"),
    Tool(
        PYLINT,
        COLD,
        f"--rcfile={os.devnull} --errors-only --persistent=n --recursive=y -j{{jobs}} {{files}}",
        fine=range(32),
    ),
    Tool(FIXIT, COLD, "lint {files}", incomplete=(2, 3)),
)

FINDING = re.compile(r"^\S.*?[:@]\d+:\d+:? \S", re.MULTILINE)
"""One finding in what any of them prints."""


class Bench:
    """One session: a scratch folder, the installed peers, and how to run them."""

    def __init__(self, scratch: Path, executables: Mapping[str, str], limit: float, repeat: int) -> None:
        self.scratch, self.limit, self.repeat = scratch, limit, repeat
        self.executables = dict(executables)
        self.environment = {key: value for key, value in os.environ.items() if not key.startswith("PYTHON")}
        self.environment |= {"PYLINTHOME": str(scratch / "pylint"), "PYTHONPATH": str(ROOT), "NO_COLOR": "1"}

    def start(self, tool: str) -> list[str]:
        """How the command of a tool begins."""
        if tool == OURS:
            return [sys.executable, "-m", "torchlint"]
        if tool not in self.executables:
            self.executables[tool] = str(self._install(tool))
        return [self.executables[tool]]

    def _install(self, tool: str) -> Path:
        folder = self.scratch / f"env-{tool}"
        if not (folder / "bin" / tool).exists():
            print(f"installing {' '.join(PINS[tool])}", flush=True)
            subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True)
            subprocess.run([str(folder / "bin" / "pip"), "install", "--quiet", *PINS[tool]], check=True)
        return folder / "bin" / tool

    def version(self, tool: str) -> str:
        """What a tool says it is. This also compiles its modules, so that no measured run has to."""
        command = [*self.start(tool), "--version"]
        said = subprocess.run(command, capture_output=True, text=True, check=True, env=self.environment_of(tool)).stdout
        first = said.strip().splitlines()[0].partition(" CPython ")[0]
        return first if first.lower().startswith(tool) else f"{tool} {first.removeprefix('fixit, version ')}"

    def environment_of(self, tool: str) -> dict[str, str]:
        """Only torchlint is run from its sources."""
        if tool == OURS:
            return self.environment
        return {key: value for key, value in self.environment.items() if key != "PYTHONPATH"}

    def once(self, tool: Tool, files: str, output: Path) -> Cost:
        """One run.

        Raises:
            TookTooLong: it was stopped.
            RuntimeError: it failed.
        """
        cache = self.scratch / f"cache-{tool.name}"
        command = tool.command(self.start(tool.name), files, str(cache))
        errors = output.with_suffix(".err")
        cost = measure(command, str(output), str(errors), self.environment_of(tool.name), str(self.scratch), self.limit)
        if cost.code not in (*tool.fine, *tool.incomplete):
            said = errors.read_text(errors="replace").strip().splitlines()
            raise RuntimeError(f"exit code {cost.code}: {said[-1] if said else 'nothing said'}")
        return cost


class Measurement:
    """All runs of one tool on one thing."""

    def __init__(self, bench: Bench, tool: Tool, row: Row, files: str) -> None:
        self.bench, self.tool, self.row, self.files = bench, tool, row, files
        self.done = False

    def again(self) -> None:
        """Run it once more, unless it is known to be slow or broken."""
        if self.done:
            return
        output = self.bench.scratch / f"output-{self.tool.name}-{self.tool.state}"
        print(f"  {self.tool.shown}", flush=True)
        try:
            if "{cache}" in self.tool.arguments and not self.row.wall:  # the first run fills it
                self.bench.once(self.tool, self.files, output)
            cost = self.bench.once(self.tool, self.files, output)
        except TookTooLong:
            self.row, self.done = replace(self.row, over=self.bench.limit), True
            return
        except (RuntimeError, OSError) as error:
            self.row, self.done = replace(self.row, wall=[], processor=[], note=f"failed: {error}"), True
            return
        self.done = cost.wall > LONG
        self.row = added(self.row, cost, self.tool, output.read_text(errors="replace"))


def added(row: Row, cost: Cost, tool: Tool, output: str) -> Row:
    """A row with one more run in it."""
    return replace(
        row,
        wall=[*row.wall, round(cost.wall, 4)],
        processor=[*row.processor, round(cost.processor, 4)],
        peak=round(max(row.peak, cost.peak / 1e6), 1),
        others=max(row.others, share_of_others(cost)),
        findings=len(FINDING.findall(output)),
        note="could not look at some files" if cost.code in tool.incomplete else row.note,
    )


def share_of_others(cost: Cost) -> float:
    """What all else took of the machine. The system counts in hundredths of a second: short runs say nothing."""
    return round(cost.others / cost.wall / (os.cpu_count() or 1), 2) if cost.wall >= 0.2 else 0.0


def fetch(wheel: str, scratch: Path) -> tuple[str, Path]:
    """Download a wheel and unpack its Python files: its name with the version, and the folder."""
    archives = scratch / "wheels" / wheel
    if not list(archives.glob("*.whl")):
        command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary", ":all:"]
        subprocess.run([*command, "--dest", str(archives), wheel], check=True)
    (archive,) = archives.glob("*.whl")
    name, version = archive.name.split("-")[:2]
    files = scratch / "files" / f"{name}-{version}"
    with zipfile.ZipFile(archive) as opened:
        opened.extractall(files, [member for member in opened.namelist() if member.endswith(".py")])
    (files / "fixit.toml").write_text("[tool.fixit]\nroot = true\n")  # it looks for settings in all folders above
    return f"{name}=={version}", files


def compare(bench: Bench, subject: str, files: Path, tools: Sequence[Tool], earlier: Run | None = None) -> Run:
    """All tools on the files of a folder, taking turns, so that what else the machine does is shared fairly."""
    paths = list(files.rglob("*.py"))
    megabytes = sum(len(path.read_bytes()) for path in paths) / 1e6  # and now they are all in memory
    _warn_of_files_not_seen(bench, files, len(paths), tools)
    measurements = []
    for tool in tools:
        row = Row(tool.name, tool.state, bench.version(tool.name), tool.shown, today())
        measurements.append(Measurement(bench, tool, row, str(files)))
        old = reusable(earlier, subject, row) if earlier and tool.name not in (OURS, RUFF) else None
        if old is not None:
            measurements[-1].row, measurements[-1].done = old, True
    for _ in range(bench.repeat):
        for measurement in measurements:
            measurement.again()
    rows = [measurement.row for measurement in measurements]
    return Run(subject, len(paths), round(megabytes, 2), today(), machine(), commit(), rows)


def _warn_of_files_not_seen(bench: Bench, files: Path, count: int, tools: Sequence[Tool]) -> None:
    """Both leave out folders such as ``build`` by default; then the comparison with others would be wrong."""
    for name in sorted({tool.name for tool in tools} & {OURS, RUFF}):
        command = [*bench.start(name), "check", "--isolated", "--show-files", str(files)]
        said = subprocess.run(command, capture_output=True, text=True, check=True, env=bench.environment_of(name))
        seen = len(said.stdout.splitlines())
        if seen != count:
            print(f"warning: {name} looks at {seen} of {count} files")


def start_up(bench: Bench) -> Run:
    """Small things, where starting is what costs."""
    small, large = bench.scratch / "small.py", bench.scratch / "large.py"
    small.write_text(synthetic.module(20))
    large.write_text(synthetic.module(5000))
    check = "check --isolated --no-cache --output-format=concise"
    python = [sys.executable, "-c"]
    commands: list[tuple[str, str, list[str]]] = [
        ("python", "python -c pass", [*python, "pass"]),
        ("python", "python -c 'import click'", [*python, "import click"]),
        (OURS, "torchlint --version", [*bench.start(OURS), "--version"]),
        (RUFF, "ruff --version", [*bench.start(RUFF), "--version"]),
        (OURS, "torchlint check SMALL", [*bench.start(OURS), *check.split(), str(small)]),
        (RUFF, "ruff check SMALL", [*bench.start(RUFF), *check.split(), str(small)]),
        (OURS, "torchlint check LARGE", [*bench.start(OURS), *check.split(), str(large)]),
        (RUFF, "ruff check LARGE", [*bench.start(RUFF), *check.split(), str(large)]),
    ]
    versions = {OURS: bench.version(OURS), RUFF: bench.version(RUFF), "python": ""}
    rows = [Row(name, COLD, versions[name], shown, today()) for name, shown, _ in commands]
    output = bench.scratch / "output-start"
    for _ in range(2 * bench.repeat):
        for number, (name, shown, command) in enumerate(commands):
            cost = measure(command, str(output), environment=bench.environment_of(name), folder=str(bench.scratch))
            if cost.code not in (0, 1):
                raise RuntimeError(f"{shown}: exit code {cost.code}")
            rows[number] = added(rows[number], cost, TOOLS[0], output.read_text(errors="replace"))
    size = round((small.stat().st_size + large.stat().st_size) / 1e6, 2)
    return Run(START, 2, size, today(), machine(), commit(), rows)


@contextlib.contextmanager
def scratch_folder(given: Path | None) -> Iterator[Path]:
    """The folder given, which stays, or one that goes."""
    if given is not None:
        given.mkdir(parents=True, exist_ok=True)
        yield given.resolve()
        return
    with tempfile.TemporaryDirectory() as folder:
        yield Path(folder).resolve()


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure, print, keep."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else None)
    parser.add_argument("--wheels", nargs="*", default=WHEELS, metavar="NAME==VERSION")
    parser.add_argument("--peers", nargs="*", default=USUAL_PEERS, choices=sorted(PINS), help="beside torchlint")
    parser.add_argument("--repeat", type=int, default=5, help=f"runs (one, if it takes over {LONG:.0f} s)")
    parser.add_argument("--limit-seconds", type=float, default=3600.0, help="when a run is stopped")
    parser.add_argument("--out", type=Path, default=RESULTS, help="folder of the results")
    parser.add_argument("--scratch", type=Path, help="folder for wheels and environments, kept for the next time")
    parser.add_argument("--reuse", action="store_true", help="keep figures of slow peers from the results, if the same")
    parser.add_argument("--docs", action="store_true", help="write tables and plot to the documentation")
    for peer in PINS:
        parser.add_argument(f"--{peer}", metavar="PATH", help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    given = {peer: getattr(options, peer) for peer in PINS if getattr(options, peer)}
    tools = [tool for tool in TOOLS if tool.name in (OURS, *options.peers)]
    with scratch_folder(options.scratch) as scratch:
        bench = Bench(scratch, given, options.limit_seconds, options.repeat)
        for wheel in options.wheels:
            subject, files = fetch(wheel, scratch)
            kept = options.out / f"{subject.partition('==')[0]}.json"
            print(f"{subject}", flush=True)
            run = compare(bench, subject, files, tools, load(kept) if options.reuse and kept.exists() else None)
            save(run, kept)
            print(report.text(run), flush=True)
        if RUFF in options.peers:
            run = start_up(bench)
            save(run, options.out / f"{START}.json")
            print(report.text(run), flush=True)
    if options.docs:
        report.write(options.out)


if __name__ == "__main__":
    main()
