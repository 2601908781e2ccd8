"""``torchlint baseline``: from the arguments to the exit code."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import chain

from torchlint.cli.exit_codes import CLEAN, FINDINGS, INCOMPLETE, USAGE
from torchlint.cli.report import counted
from torchlint.cli.report.statistics import by_rule
from torchlint.cli.report.terminal import printable, printable_lines
from torchlint.diagnostic import Confidence, Diagnostic, Problem
from torchlint.project import baseline
from torchlint.project.baseline import Baseline, BaselineEntry
from torchlint.project.discovery import Found, discover, shown
from torchlint.project.project import Project
from torchlint.project.selection import Selection, SettingsError, listed
from torchlint.project.settings import given
from torchlint.session.accounts import Accounts
from torchlint.session.cachedir import directory_for
from torchlint.session.scheduler import FileResult, Run, RunOptions


@dataclass(frozen=True, slots=True)
class BaselineOptions:
    """What the commands that check files share."""

    baseline: str | None
    config: tuple[str, ...]
    jobs: int
    verbose: bool


@dataclass(frozen=True, slots=True)
class BaselineShowOptions:
    """The options of ``torchlint baseline show``, as given."""

    paths: tuple[str, ...]
    baseline: str | None
    config: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class BaselineWriteOptions(BaselineOptions):
    """The options of ``torchlint baseline write``, as given."""

    paths: tuple[str, ...]
    select: tuple[str, ...]
    ignore: tuple[str, ...]
    extend_select: tuple[str, ...]
    extend: bool


def write(options: BaselineWriteOptions) -> int:
    """Write all findings into a baseline that is not there yet, or add what is new to one."""
    project = Project(
        Selection(
            listed(options.select, "--select") or None,
            listed(options.extend_select, "--extend-select"),
            listed(options.ignore, "--ignore"),
        ),
        given=given(options.config),
    )
    known, name = loaded(project, options.baseline)
    if known.content is not None and not options.extend:
        raise SettingsError(
            f"{name} exists, and a baseline only shrinks (`torchlint baseline prune`); `--extend` adds what is new"
        )
    found = discover(options.paths, project) if options.paths else _everything(project, known)
    results = _run(project, options, known).files(found.files)
    new = {known.path_of(result.file.location): result.diagnostics for result in results if result.diagnostics}
    count = sum(map(len, new.values()))
    if count:
        if not _is_saved(known, _with(known, new), name):
            return INCOMPLETE
        total = f"; it has {counted(known.findings + count, 'finding')} now" if known.entries else ""
        print(f"Wrote {counted(count, 'finding')} in {counted(len(new), 'file')} to {printable(name)}{total}.")
        print("Commit it: `torchlint check` reports what is new from here on.")
    else:
        print(f"No {'new ' * bool(known.entries)}findings: nothing to write.")
    code = told(project, found, results, options.verbose)
    return USAGE if found.is_wrong(options.paths) else code


def show(options: BaselineShowOptions) -> int:
    """Print what is in the baseline, of all files or of those at some paths; no file is checked for it."""
    known, name = existing(Project(given=given(options.config)), options.baseline)
    below = {path: [entry for entry in known.entries if known.is_at(entry, path)] for path in options.paths}
    for path, found in below.items():
        if not found and not os.path.lexists(path):
            raise SettingsError(f"{path}: there is no such path, and {name} has nothing of it")
    entries = baseline.merged(chain.from_iterable(below.values())) if below else known.entries
    for entry in entries:
        print(printable(_line(entry, f", {entry.times} times" if entry.times > 1 else "")))
    count, files = sum(entry.times for entry in entries), len({entry.path for entry in entries})
    rules = f": {by_rule((entry.code, entry.times) for entry in entries)}" if entries else ""
    print(f"{counted(count, 'finding')} in {counted(files, 'file')} in {printable(name)}{rules}.")
    return CLEAN


def check(options: BaselineOptions) -> int:
    """Print what of the baseline is gone."""
    known, name, accounts, code = _accounts(options)
    for entry in known.entries:
        count = accounts.gone[entry.path, entry.key]
        if count:
            print(printable(_line(entry, f", {count} gone")))
    gone = sum(accounts.gone.values())
    if gone:
        print(
            f"{gone} of {counted(known.findings, 'finding')} in {printable(name)} are gone: `torchlint baseline prune`"
        )
    else:
        print(f"{counted(known.findings, 'finding')} in {printable(name)}, none of them gone.")
    return code or (FINDINGS if gone else CLEAN)


def prune(options: BaselineOptions) -> int:
    """Remove what is gone from the baseline, and note where the rest is now."""
    known, name, accounts, code = _accounts(options)
    left = baseline.merged(accounts.left_of(known.entries))
    if left != known.entries and not _is_saved(known, left, name):
        return INCOMPLETE
    gone, moved = sum(accounts.gone.values()), sum(accounts.moved.values())
    done = f"Removed {counted(gone, 'finding')} that {'is' if gone == 1 else 'are'} gone" if gone else "Nothing is gone"
    aside = f", {moved} moved" if moved else ""
    print(f"{done}{aside}; {counted(known.findings - gone, 'finding')} left in {printable(name)}.")
    return code


def loaded(project: Project, file: str | None) -> tuple[Baseline, str]:
    """The baseline, and its name for messages."""
    known = baseline.of_project(file, project.settings(os.getcwd()))
    return known, shown(known.file)


def existing(project: Project, file: str | None) -> tuple[Baseline, str]:
    """The same of one that must be there."""
    known, name = loaded(project, file)
    if known.content is None:
        raise SettingsError(f"there is no baseline {name}: `torchlint baseline write` makes it")
    return known, name


def _line(entry: BaselineEntry, aside: str) -> str:
    """An entry for people to read."""
    where = f" in `{entry.scope}`" if entry.scope else ""
    return f"{entry.path}: {entry.code}{where}{aside}: {entry.source}"


def _everything(project: Project, known: Baseline) -> Found:
    """All of the project, and all that the baseline may be about."""
    found = discover(dict.fromkeys((baseline.home(project.settings(os.getcwd())), known.root)), project)
    if found.files:  # nobody named a folder that could be meant otherwise
        found.empty = []
    return found


def _accounts(options: BaselineOptions) -> tuple[Baseline, str, Accounts, int]:
    """The baseline with its name, and what became of it in all of its folder."""
    project = Project(min_confidence=Confidence.LOW, given=given(options.config))  # what settings hide is not gone
    known, name = existing(project, options.baseline)
    found = _everything(project, known)
    run = _run(project, options, known)
    results = run.files(found.files)
    accounts = run.accounts or Accounts()
    found.problems.extend(accounts.problems)
    return known, name, accounts, told(project, found, results, options.verbose)


def _run(project: Project, options: BaselineOptions, known: Baseline) -> Run:
    cache = directory_for(None, project.settings(os.getcwd()))
    return Run(project, RunOptions(jobs=options.jobs, cache_directory=cache, baseline=known))


def _with(known: Baseline, new: dict[str, tuple[Diagnostic, ...]]) -> Iterator[BaselineEntry]:
    """The entries of a baseline with those of new findings."""
    counts = {(entry.path, entry.key): entry.times for entry in known.entries}
    yield from known.entries
    for entry in baseline.counted(new):
        yield entry._replace(times=entry.times + counts.get((entry.path, entry.key), 0))


def _is_saved(known: Baseline, entries: Iterable[BaselineEntry], name: str) -> bool:
    """Write entries to the file of a baseline; if they cannot be written, say why."""
    try:
        baseline.save(known, baseline.merged(entries))
    except OSError as error:
        print(f"error: {printable(name)} could not be written: {error.strerror or error}", file=sys.stderr)
        return False
    return True


def told(project: Project, found: Found, results: list[FileResult], verbose: bool) -> int:
    """Say what could not be done; the exit code that follows from it."""
    for warning in (*project.doubts, *found.warnings, *map(str, found.empty)):
        print(f"warning: {printable(warning)}", file=sys.stderr)
    problems = [*found.problems, *(problem for result in results for problem in result.problems)]
    for problem in (*found.missing, *dict.fromkeys(problems)):
        if isinstance(problem, Problem) and problem.details and verbose:
            print(printable_lines(problem.details.rstrip()), file=sys.stderr)
        print(f"error: {printable(str(problem))}", file=sys.stderr)
    return INCOMPLETE if problems else CLEAN
