"""``torchlint stats``: how many findings of which rules are new and in the baseline, and how that has become so."""

from __future__ import annotations

import json
import os
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from torchlint.cli.baseline import loaded, told
from torchlint.cli.exit_codes import CLEAN, USAGE
from torchlint.cli.report import BOLD, GREEN, RED, Style, counted, is_fixable
from torchlint.cli.report.statistics import by_rule
from torchlint.cli.report.terminal import printable, wants_color
from torchlint.diagnostic import Severity
from torchlint.project import history
from torchlint.project.discovery import discover
from torchlint.project.history import Revision
from torchlint.project.project import Project
from torchlint.project.selection import SettingsError, group_of, known_names
from torchlint.project.settings import given
from torchlint.session.cachedir import directory_for
from torchlint.session.scheduler import FileResult, Run, RunOptions

_SHORT = 9
"""So much of the hash of a commit is shown."""


@dataclass(frozen=True, slots=True)
class StatsOptions:
    """The options of ``torchlint stats``, as given."""

    paths: tuple[str, ...]
    history: bool
    baseline: str | None
    output_format: str
    config: tuple[str, ...]
    jobs: int
    verbose: bool


def stats(options: StatsOptions) -> int:
    """Print the numbers; the exit code.

    Raises:
        SettingsError: the settings make no sense, or there is no history.
    """
    project = Project(given=given(options.config))
    style = Style(wants_color("auto"))
    known, name = loaded(project, options.baseline)
    if options.history:
        paths = options.paths
        revisions = history.of(known, lambda then, entry: not paths or any(then.is_at(entry, path) for path in paths))
        if history.is_cut_off(known):
            print("warning: this clone is shallow; `git fetch --unshallow` brings what was before", file=sys.stderr)
        if not revisions or (paths and not any(each.findings for each in revisions)):
            if not revisions:
                way_out = "`torchlint baseline write` makes it, and its commits are the history"
                raise SettingsError(f"there is no baseline {name}, in no commit of this branch either: {way_out}")
            raise SettingsError(f"{name} has nothing of {', '.join(paths)}, in no commit of this branch")
        print(_json(map(_as_json, revisions)) if options.output_format == "json" else _past(revisions, style))
        return CLEAN
    found = discover(options.paths or (".",), project)
    cache = directory_for(None, project.settings(os.getcwd()))
    run = Run(project, RunOptions(jobs=options.jobs, cache_directory=cache, baseline=known if known.entries else None))
    results = run.files(found.files)
    rows = list(_rows(results))
    print(_json(row.as_json() for row in rows) if options.output_format == "json" else _now(rows, results, style))
    code = told(project, found, results, options.verbose)
    return USAGE if found.is_wrong(options.paths) else code


# ---------------------------------------------------------------------- now


@dataclass(frozen=True, slots=True)
class _Row:
    """The findings of a rule."""

    code: str
    new: int
    baselined: int
    fixable: int
    """How many of all these have a safe fix."""

    def as_json(self) -> dict[str, object]:
        group = group_of(self.code)
        return {
            "code": self.code,
            "name": known_names()[self.code],
            "group": group.value if group is not None else None,
            "new": self.new,
            "baselined": self.baselined,
            "fixable": self.fixable,
        }


def _rows(results: Sequence[FileResult]) -> Iterator[_Row]:
    """The rules that found something, the most frequent first."""
    new = Counter(found.code for result in results for found in result.diagnostics)
    baselined = Counter(found.code for result in results for found in result.baselined)
    fixable = Counter(found.code for result in results for found in result.all_found if is_fixable(found, False))
    for code in sorted(new | baselined, key=lambda code: (-new[code] - baselined[code], code)):
        yield _Row(code, new[code], baselined[code], fixable[code])


def _now(rows: Sequence[_Row], results: Sequence[FileResult], style: Style) -> str:
    new, baselined = sum(row.new for row in rows), sum(row.baselined for row in rows)
    fixable, silenced = sum(row.fixable for row in rows), sum(result.suppressed for result in results)
    lines = []
    if rows:
        lines.append(style.paint("  new  baseline  fixable  rule", *BOLD))
        for row in rows:
            name = f"{style.paint(row.code, *RED)}  {known_names()[row.code]}"
            lines.append(f"{row.new:>5}  {row.baselined:>8}  {row.fixable:>7}  {name}")
        lines.append("")
    levels = Counter(found.severity for result in results for found in result.all_found)
    bad = ", ".join(counted(levels[level], level.value) for level in Severity if levels[level])
    total = f"{counted(new + baselined, 'finding')} in {counted(len(results), 'file')}"
    lines.append(f"{total}: {new} new, {baselined} in the baseline, {fixable} with a safe fix; {silenced} silenced.")
    return "\n".join((*lines, *([f"{bad}."] if bad else [])))


# ---------------------------------------------------------------------- then


def _past(revisions: Sequence[Revision], style: Style) -> str:
    """A line for each commit that changed the baseline."""
    width = max(len(str(each.findings)) for each in revisions)
    lines = []
    for before, each in zip((None, *revisions), revisions, strict=False):
        sign, change = _change(before, each, style) if before is not None else (" " * 6, "")
        where = f"{each.date or 'now':<10}  {each.commit[:_SHORT]:<{_SHORT}}"
        what = printable(each.subject if each.commit else "(not committed)")
        lines.append(f"{where}  {each.findings:>{width}}  {sign}  {what}{change}")
    first, last = revisions[0].findings, revisions[-1].findings
    if len(revisions) > 1:
        share = f" ({(last - first) / first:+.0%})" if first else ""
        lines += ["", f"From {counted(first, 'finding')} to {last} in {counted(len(revisions), 'revision')}{share}."]
    return "\n".join(lines)


def _change(before: Revision, after: Revision, style: Style) -> tuple[str, str]:
    """How many more there are, and which rules found less and more."""
    difference = after.findings - before.findings
    color = RED if difference > 0 else GREEN if difference < 0 else ()
    fewer, more = before.rules - after.rules, after.rules - before.rules
    parts = [f"{by_rule(counts.items())} {word}" for counts, word in ((fewer, "gone"), (more, "new")) if counts]
    return style.paint(f"{difference:>+6}", *color), f"  [{'; '.join(parts)}]" if parts else ""


def _as_json(revision: Revision) -> dict[str, object]:
    return {
        "commit": revision.commit or None,
        "date": revision.date or None,
        "subject": revision.subject,
        "findings": revision.findings,
        "rules": dict(sorted(revision.rules.items())),
    }


def _json(entries: Iterator[dict[str, object]]) -> str:
    return json.dumps(list(entries), indent=2)
