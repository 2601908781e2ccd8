"""Tables of results: for the terminal, and in the documentation between markers.

python benchmarks/report.py [RESULTS]      # what `speed.py --docs` does: write tables and plot again
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from results import COLD, FIXIT, FLAKE8, OURS, PYLINT, RESULTS, ROOT, RUFF, TORCHFIX, WARM, Row, Run, described, load

NAMES = {
    OURS: "torchlint",
    RUFF: "ruff",
    FLAKE8: "flake8 with TorchFix",
    TORCHFIX: "TorchFix's own command",
    PYLINT: "pylint, errors only",
    FIXIT: "Fixit",
}

NONE = "–"

MARK = "†"

QUIET = 0.05
"""The share of the machine that others may take without being mentioned."""

SPEED = ROOT / "docs" / "speed.md"

README = ROOT / "README.md"

PLOT = ROOT / "docs" / "speed"

START, SCALING, STAGES = "start", "scaling", "stages"
"""Results that are not about a wheel."""

Table = list[list[str]]
"""Rows of cells, the first with the titles."""


def text(run: Run) -> str:
    """A run for the terminal."""
    return "\n".join([title(run), "", *aligned(table(run)), "", *(f"  {line}" for line in verdicts(run)), ""])


def title(run: Run) -> str:
    """What was measured on what."""
    what = described(run.machine, run.commit, run.measured)
    others = max((row.others for row in run.rows), default=0.0)
    busy = f"; all else on the machine took up to {others:.0%} of it meanwhile" if others > QUIET else ""
    subject = "made-up files" if run.subject == START else run.subject
    return f"{subject}: {run.files} files, {run.megabytes} MB of Python; {what}{busy}"


def table(run: Run) -> Table:
    """The rows of a run, with their ratio to ruff without a cache."""
    if run.subject == START:
        return start_table(run)
    base = run.row(RUFF)
    titles = ["tool", "wall s", "median", "processor s", "peak MB", "findings", "wall ÷ ruff", "processor ÷ ruff"]
    return [titles, *([label(row), *figures(row, base)] for row in run.rows)]


def label(row: Row) -> str:
    """What a row is called: of ours and ruff's also the state, of an old one the day."""
    return f"{plain_label(row)} (measured {row.measured})" if row.reused else plain_label(row)


def plain_label(row: Row) -> str:
    name = NAMES.get(row.tool, row.tool)
    return f"{name}, {row.state}" if row.tool in (OURS, RUFF) else name


def short_label(row: Row) -> str:
    """The same where there is little room: an old one has a mark."""
    return f"{plain_label(row)}{MARK}" if row.reused else plain_label(row)


def remark(run: Run) -> str:
    """What the mark means, if there is one."""
    return f"{MARK} measured earlier" if any(row.reused for row in shown_in_short(run)) else ""


def figures(row: Row, base: Row | None) -> list[str]:
    """The cells of a row after its name. A limit gives a lower bound."""
    if row.over is not None:
        ratio = f">{seconds(row.over / base.least_wall)}" if base and base.least_wall else NONE
        return [f">{row.over:.0f}", NONE, NONE, NONE, NONE, ratio, NONE]
    wall, processor, median = row.least_wall, row.least_processor, row.median_wall
    if wall is None or processor is None or median is None:
        return [row.note or NONE, *[NONE] * 6]
    ratios = [NONE, NONE]
    if base and base.least_wall and base.least_processor:
        ratios = [seconds(wall / base.least_wall), seconds(processor / base.least_processor)]
    found = NONE if row.findings is None else f"{row.findings}{' (incomplete)' if row.note else ''}"
    return [seconds(wall), seconds(median), seconds(processor), f"{row.peak:.0f}", found, *ratios]


def seconds(value: float) -> str:
    """Three digits, more or less."""
    return f"{value:.0f}" if value >= 100 else f"{value:.1f}" if value >= 10 else f"{value:.2f}"


def start_table(run: Run) -> Table:
    titles = ["command", "wall s", "median", "processor s", "peak MB"]
    return [titles, *([f"`{row.command}`", *figures(row, None)[:4]] for row in run.rows)]


def verdicts(run: Run) -> Iterator[str]:
    """What was aimed at, and what there is."""
    if run.subject == START:
        yield from start_verdicts(run)
        return
    cold, warm, fix = run.row(OURS), run.row(OURS, WARM), run.row(FLAKE8)
    pairs = (
        ("wall time without a cache ÷ ruff's", cold, run.row(RUFF), 3.0),
        ("wall time with a cache ÷ ruff's", warm, run.row(RUFF, WARM), 1.0),
    )
    for name, ours, theirs, aim in pairs:
        if ours and theirs and ours.least_wall and theirs.least_wall:
            yield verdict(name, ours.least_wall / theirs.least_wall, aim)
    if cold and fix and cold.least_processor and fix.least_processor:
        name = "processor time without a cache ÷ that of flake8 with TorchFix"
        yield verdict(name, cold.least_processor / fix.least_processor, 0.01)
    peaks = [row.peak for row in (cold, warm) if row and row.peak]
    if peaks:
        yield verdict("peak memory of a process, in MB", max(peaks), 300)


def start_verdicts(run: Run) -> Iterator[str]:
    wall = {row.command: row.least_wall for row in run.rows}
    version, click = wall.get("torchlint --version"), wall.get("python -c 'import click'")
    if version and click:
        yield verdict("`torchlint --version` ÷ Python that imports click", version / click, 1.5)
    for command, what, aim in (("SMALL", "a small file", 0.4), ("LARGE", "a file of 5,000 lines", 1.5)):
        needed = wall.get(f"torchlint check {command}")
        if needed:
            yield verdict(f"seconds for {what} without a cache", needed, aim)


def verdict(name: str, value: float, aim: float) -> str:
    """One line: what there is, and whether that is what was aimed at."""
    digits = f"{value:.4f}" if aim < 0.1 else f"{value:.0f}" if aim >= 100 else f"{value:.2f}"
    return f"{name}: {digits} (aim: at most {aim:g}; {'met' if value <= aim else 'missed'})"


def aligned(rows: Table) -> Iterator[str]:
    """A table for the terminal."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        yield "  ".join([row[0].ljust(widths[0]), *(c.rjust(w) for c, w in zip(row[1:], widths[1:], strict=True))])


def markdown(rows: Table) -> str:
    """A table for a page."""
    lines = ["| " + " | ".join(row) + " |" for row in rows]
    lines.insert(1, "|---|" + "---:|" * (len(rows[0]) - 1))
    return "\n".join(lines)


def runs(folder: Path) -> list[Run]:
    """The runs on wheels, the largest first."""
    found = [load(path) for path in sorted(folder.glob("*.json")) if path.stem not in (START, SCALING, STAGES)]
    return sorted(found, key=lambda run: -run.megabytes)


def page(folder: Path) -> str:
    """All tables, as the documentation has them."""
    parts = [section(run, f"### {run.subject}") for run in runs(folder)]
    start, scaling, stages = (folder / f"{name}.json" for name in (START, SCALING, STAGES))
    if start.exists():
        parts.append(section(load(start), "### Starting, and single files"))
    if stages.exists():
        parts.append(stages_section(json.loads(stages.read_text(encoding="utf-8"))))
    if scaling.exists():
        parts.append(scaling_section(json.loads(scaling.read_text(encoding="utf-8"))))
    return "\n\n".join(parts)


def section(run: Run, heading: str) -> str:
    """One run, as the documentation has it."""
    versions = ", ".join(dict.fromkeys(row.version for row in run.rows if row.version))
    lines = [heading, "", f"{title(run)}.", "", f"Versions: {versions}.", "", markdown(table(run)), ""]
    lines += [f"- {line}" for line in verdicts(run)]
    if run.subject != START:
        lines += ["", "Commands:", "", *(f"- `{row.command}`" for row in run.rows)]
    return "\n".join(lines).rstrip()


def stages_section(kept: dict[str, Any]) -> str:
    """The stage profile, as the documentation has it."""
    return "\n".join(["### Where the time goes", "", f"{kept['title']}.", "", markdown(kept["table"])])


def scaling_section(kept: dict[str, Any]) -> str:
    """The scaling run, as the documentation has it."""
    parts = ["### How it grows", f"{kept['title']}."]
    for series in kept["series"]:
        rows = [[series["unit"], "MB", "processor s", "s per MB", "peak MB"]]
        for point in series["points"]:
            rate = point["processor"] / point["megabytes"]
            cells = [seconds(point["processor"]), seconds(rate), f"{point['peak']:.0f}"]
            rows.append([str(point["size"]), f"{point['megabytes']:.2f}", *cells])
        fitted = NONE if series["exponent"] is None else f"{series['exponent']:.2f}"
        parts.append(f"**{series['name']}**: exponent {fitted}\n\n{markdown(rows)}")
    return "\n\n".join(parts)


def sentence(folder: Path) -> str:
    """The README's: the largest wheel."""
    found = runs(folder)
    if not found:
        return ""
    run = found[0]
    told = [
        f"{short_label(row)}: {'over ' if row.over else ''}{seconds(row.over or row.least_wall or 0)} s"
        for row in shown_in_short(run)
    ]
    return (
        f"All of {run.subject.replace('==', ' ')} ({run.files} files, {run.megabytes} MB of Python) on "
        f"{run.machine['cores']} cores, wall time: {'; '.join(told)}.{f' ({remark(run)})' if remark(run) else ''}"
    )


def shown_in_short(run: Run) -> list[Row]:
    """The rows with figures, without variants of a tool."""
    return [row for row in run.rows if (row.over or row.wall) and row.state in (COLD, WARM)]


def between(page_: str, name: str, content: str) -> str:
    """A page with something new between its markers.

    Raises:
        ValueError: it has no such markers.
    """
    pattern = re.compile(rf"(<!-- {name}:start -->\n).*?(<!-- {name}:end -->)", re.DOTALL)
    if not pattern.search(page_):
        raise ValueError(f"no markers {name}:start and {name}:end")
    return pattern.sub(lambda match: f"{match[1]}{content}\n{match[2]}", page_, count=1)


def pages(folder: Path) -> Iterator[tuple[Path, str]]:
    """The documents with tables in them, as they should be."""
    for path, content in ((SPEED, page(folder)), (README, sentence(folder))):
        yield path, between(path.read_text(encoding="utf-8"), "speed", content)


def write(folder: Path = RESULTS) -> None:
    """Write tables and plot to the documentation."""
    for path, content in pages(folder):
        path.write_text(content, encoding="utf-8")
    found = runs(folder)
    if not found:
        return
    try:
        import chart
    except ImportError:
        print("no plot: matplotlib is not installed (pip install '.[bench]')", file=sys.stderr)
        return
    chart.draw(found[0], PLOT)


def bars(run: Run) -> Sequence[tuple[str, float, bool]]:
    """What is drawn: name, seconds, and whether it took even longer; the fastest first."""
    found = [(short_label(row), row.over or row.least_wall or 0.0, row.over is not None) for row in shown_in_short(run)]
    return sorted(found, key=lambda bar: bar[1])


if __name__ == "__main__":
    write(*map(Path, sys.argv[1:2]))
