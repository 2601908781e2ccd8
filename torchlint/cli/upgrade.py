"""``torchlint upgrade``: what a project meets on the way from one version of torch to another, by symbol.

The files are checked twice, as code for the one version and as code for the other. What is only found for the newer
one, or is worse there (removed where it was deprecated), is what the way brings.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass

from torchlint.cli.exit_codes import CLEAN, FINDINGS, INCOMPLETE, USAGE
from torchlint.cli.report.statistics import by_rule
from torchlint.cli.report.terminal import printable, printable_lines
from torchlint.diagnostic import Fixing, Position, Problem
from torchlint.project import changes
from torchlint.project.discovery import Found, discover, shown
from torchlint.project.project import Project
from torchlint.project.selection import Selection, SettingsError
from torchlint.project.settings import check_version, given
from torchlint.session.scheduler import FileResult, Run, RunOptions
from torchlint.versions import version

_SHOWN = 5
"""So many names of files are listed at most."""

RULES = ("TL204", "TL3", "TL7", "TL9")
"""What is about torch's API: three groups, and an argument that is a keyword of Python now."""


@dataclass(frozen=True, slots=True)
class UpgradeOptions:
    """The options of ``torchlint upgrade``, as given."""

    paths: tuple[str, ...]
    oldest: str
    newest: str
    fix: bool
    unsafe_fixes: bool
    allow_dirty: bool
    config: tuple[str, ...]
    jobs: int
    verbose: bool


def run(options: UpgradeOptions) -> int:
    """Check the paths for both versions, and print what was found by symbol."""
    _check_versions(options.oldest, options.newest)
    if options.fix and not options.allow_dirty:
        _check_clean(options)
    before = _found(options, options.oldest, Fixing.NONE)[2]
    fixing = Fixing.NONE if not options.fix else Fixing.UNSAFE if options.unsafe_fixes else Fixing.SAFE
    project, found, results = _found(options, options.newest, Fixing.NONE)
    for line in summary(results, {place for result in before for place in _places(result)}, options):
        print(printable(line))
    if fixing is not Fixing.NONE:
        project, found, results = _found(options, options.newest, fixing)
        fixed = sum(number for result in results for _, number in result.fixed)
        rules = f" ({by_rule(each for result in results for each in result.fixed)})" if fixed else ""
        print(f"Fixed {fixed}{rules}, {sum(len(result.diagnostics) for result in results)} left.")
    for warning in (*project.doubts, *found.warnings, *map(str, found.empty)):
        print(f"warning: {printable(warning)}", file=sys.stderr)
    for problem in (*found.missing, *found.problems, *(problem for result in results for problem in result.problems)):
        if isinstance(problem, Problem) and problem.details and options.verbose:
            print(printable_lines(problem.details.rstrip()), file=sys.stderr)
        print(f"error: {printable(str(problem))}", file=sys.stderr)
    if found.is_wrong(options.paths):
        return USAGE
    if found.problems or any(result.problems for result in results):
        return INCOMPLETE
    return FINDINGS if any(result.diagnostics for result in results) else CLEAN


def _check_clean(options: UpgradeOptions) -> None:
    """Whether all that may be written to can be had back from git, where there is a repository."""
    files = discover(options.paths or (".",), Project(given=given(options.config)), False).files
    dirty = changes.uncommitted(file.location for file in files)
    if dirty:
        names = ", ".join(printable(shown(location)) for location in dirty[:_SHOWN]) + ", …" * (len(dirty) > _SHOWN)
        raise SettingsError(
            f"--fix: there are changes that are not committed ({names}): commit or stash them, or write --allow-dirty"
        )


def _found(options: UpgradeOptions, version: str, fixing: Fixing) -> tuple[Project, Found, list[FileResult]]:
    """What is found in code for one version."""
    project = Project(Selection(select=RULES), target=f"=={version}", given=given(options.config))
    found = discover(options.paths or (".",), project, False)
    return project, found, Run(project, RunOptions(fixing, True, options.jobs, None)).files(found.files)


Spot = tuple[str, str, Position]


def _places(result: FileResult) -> Iterator[Spot]:
    """Where in a file something was found, and of which rule."""
    return ((result.file.path, found.code, found.start) for found in result.diagnostics)


def _check_versions(oldest: str, newest: str) -> None:
    for value, option in ((oldest, "--from"), (newest, "--to")):
        check_version(value, option)
        if not value[0].isdecimal() or "," in value:
            raise SettingsError(f"{option} must be one version")
    if version(oldest) > version(newest):
        raise SettingsError("--from is newer than --to")


def summary(results: Iterable[FileResult], known: Collection[Spot], options: UpgradeOptions) -> Iterator[str]:
    """Counts by symbol, the most frequent first: what is new on the way, and what was there before."""
    new: dict[tuple[str, str], list[str]] = {}
    old: dict[tuple[str, str], list[str]] = {}
    fixable: Counter[str] = Counter()
    for result in results:
        for found, place in zip(result.diagnostics, _places(result), strict=True):
            side = old if place in known else new
            side.setdefault((found.code, found.message), []).append(result.file.path)
            if found.fix is not None:
                fixable[found.fix.applicability.value] += 1
    way = f"from PyTorch {options.oldest} to {options.newest}"
    for title, side in ((f"New {way}:", new), (f"Known to PyTorch {options.oldest} already:", old)):
        if side:
            yield title
            for (code, message), paths in sorted(side.items(), key=lambda item: (-len(item[1]), item[0])):
                count = f"{len(paths)} in {len(set(paths))} file{'s' * (len(set(paths)) != 1)}"
                yield f"{count:>18}  {code}  {message}"
            yield ""
    total = sum(len(paths) for side in (new, old) for paths in side.values())
    said = f"{total} place{'s' * (total != 1)} to look at {way}"
    yield f"{said}; {fixable['safe']} with a safe fix, {fixable['unsafe']} with an unsafe one"
    if total:
        yield f"Where they are: torchlint check --select {','.join(RULES)} --target-torch '=={options.newest}'"
