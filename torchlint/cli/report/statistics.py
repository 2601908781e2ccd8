"""What was found and fixed, in numbers."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from torchlint.cli.report import BOLD, CYAN, RED, FileFindings, Style, counted, is_fixable
from torchlint.cli.report.terminal import printable
from torchlint.diagnostic import Diagnostic, Severity
from torchlint.project.selection import group_of

MANY = 50
"""More findings than these are counted by rule at the end, with what to do next."""

FEW = 20
"""Fixed files whose list leaves room for anything else on a terminal."""


def lines(files: Sequence[FileFindings], style: Style) -> Iterator[str]:
    """A table of the rules: how many findings, and whether all ``[*]``, some ``[-]`` or none ``[ ]`` can be fixed."""
    rows = list(_counted(files, style))
    width = max((len(str(count)) for _, _, count, _ in rows), default=0)
    for code, name, count, fixable in rows:
        mark = style.paint("*", *CYAN) if fixable == count else "-" if fixable else " "
        yield f"{style.paint(f'{count:>{width}}', *BOLD)}  {style.paint(code, *RED)}  [{mark}] {name}"


def json_lines(files: Sequence[FileFindings], style: Style) -> Iterator[str]:
    """The same as a JSON list."""
    entries = [
        {
            "code": code,
            "name": name,
            "count": count,
            "fixable": fixable == count,
            "fixable_count": fixable,
            "group": group.value if (group := group_of(code)) is not None else None,
        }
        for code, name, count, fixable in _counted(files, style)
    ]
    yield json.dumps(entries, indent=2)


def _counted(files: Sequence[FileFindings], style: Style) -> Iterator[tuple[str, str, int, int]]:
    """Code, name, number of findings and of fixable ones; the most frequent first."""
    found = [diagnostic for file in files for diagnostic in file.diagnostics]
    names = {diagnostic.code: diagnostic.name for diagnostic in found}
    counts = Counter(diagnostic.code for diagnostic in found)
    fixable = Counter(diagnostic.code for diagnostic in found if is_fixable(diagnostic, style.unsafe_fixes))
    for code in sorted(counts, key=lambda code: (-counts[code], code)):
        yield code, names[code], counts[code], fixable[code]


@dataclass(frozen=True, slots=True)
class Totals:
    """What the summary says beside the findings themselves."""

    files: int
    """How many were checked."""
    suppressed: int = 0
    fixed: tuple[tuple[str, tuple[tuple[str, int], ...]], ...] = ()
    """For each fixed file how often each rule was."""
    failed: int = 0
    """How many others could not be checked, or not wholly."""
    baselined: int = 0
    elsewhere: int = 0
    """How many others are not on the lines that were asked for."""


def are_few(totals: Totals) -> bool:
    """Whether a list of what was fixed is short enough for those who did not ask for it."""
    return len(totals.fixed) <= FEW


def fixes(totals: Totals, names: dict[str, str], style: Style) -> Iterator[str]:
    """Which files were fixed, and what in them."""
    if not totals.fixed:
        return
    count = _count(totals)
    yield style.paint(f"Fixed {counted(count, 'finding')}:", *BOLD)
    for path, codes in totals.fixed:
        yield f"- {style.paint(printable(path), *BOLD)}:"
        for code, number in codes:
            yield f"    {number} × {style.paint(code, *RED)} ({names[code]})"


def by_rule(counts: Iterable[tuple[str, int]]) -> str:
    """How often each rule was counted, the most frequent first: ``12 × TL101, 3 × TL201``."""
    all_ = Counter[str]()
    for code, number in counts:
        all_[code] += number
    ordered = sorted(all_.items(), key=lambda each: (-each[1], each[0]))
    return ", ".join(f"{number} × {code}" for code, number in ordered)


def fixed_line(totals: Totals, style: Style) -> Iterator[str]:
    """What was fixed, in a line."""
    if totals.fixed:
        where = counted(len(totals.fixed), "file")
        done = style.paint(f"Fixed {counted(_count(totals), 'finding')}", *BOLD)
        yield f"{done} in {where}: {by_rule(_counts(totals))}."


def summary(files: Sequence[FileFindings], totals: Totals, style: Style, *, are_counted: bool = False) -> Iterator[str]:
    """How much was found, and what can be done about it; if it is much, by rule, unless that was shown before it."""
    found = [diagnostic for file in files for diagnostic in file.diagnostics]
    fixed = _count(totals)
    asides = {
        "fixed": fixed,
        "suppressed": totals.suppressed,
        "baselined": totals.baselined,
        "elsewhere": totals.elsewhere,
    }
    rest = [f"{count} {what}" for what, count in asides.items() if count]
    aside = f" ({', '.join(rest)})" if rest else ""
    if not found:
        if totals.files or not totals.failed:
            yield f"No findings in {counted(totals.files, 'file')}{aside}."
        yield from _failed(totals)
        return
    if len(found) > MANY:
        yield from () if are_counted else lines(files, style)
        levels = Counter(diagnostic.severity for diagnostic in found)
        yield f"{', '.join(counted(levels[level], level.value) for level in Severity if levels[level])}."
    total = counted(len(found), "finding")
    where = counted(sum(bool(file.diagnostics) for file in files), "file")
    yield f"{style.paint(f'Found {total}', *BOLD)} in {where}{aside}."
    yield from _remedy(found, style)
    if len(found) > MANY:
        often = next(_counted(files, style))[0]
        yield "`torchlint baseline write` accepts all that is there, so that only what is new is reported."
        yield f"`torchlint rule {often}` explains a rule, `--select {often}` reports it alone."
    yield from _failed(totals)


def fixes_only(
    files: Sequence[FileFindings], totals: Totals, style: Style, *, are_listed: bool = False
) -> Iterator[str]:
    """How much was fixed, where nothing else is wanted; by rule, unless the fixes are listed before it."""
    found = [diagnostic for file in files for diagnostic in file.diagnostics]
    more = sum(is_fixable(diagnostic, True) and not is_fixable(diagnostic, False) for diagnostic in found)
    fixed = _count(totals)
    aside = ""
    if more and not style.unsafe_fixes:
        aside = f" ({counted(more, 'additional fix' if fixed else 'fix')} available with `--unsafe-fixes`)"
    done = f"Fixed {counted(fixed, 'finding')}" if fixed else "No findings fixed"
    rules = f": {by_rule(_counts(totals))}" if fixed and not are_listed else ""
    yield f"{style.paint(done, *BOLD)}{rules}{aside}."
    yield from _failed(totals)


def _counts(totals: Totals) -> Iterator[tuple[str, int]]:
    return (each for _, codes in totals.fixed for each in codes)


def _count(totals: Totals) -> int:
    return sum(number for _, number in _counts(totals))


def _failed(totals: Totals) -> Iterator[str]:
    if totals.failed:
        yield f"{counted(totals.failed, 'file')} could not be checked completely."


def _remedy(found: Sequence[Diagnostic], style: Style) -> Iterator[str]:
    safe = sum(is_fixable(diagnostic, False) for diagnostic in found)
    unsafe = sum(is_fixable(diagnostic, True) for diagnostic in found) - safe
    star = f"[{style.paint('*', *CYAN)}]"
    if style.unsafe_fixes and safe + unsafe:
        yield f"{star} {safe + unsafe} fixable with `--fix --unsafe-fixes` ({unsafe} unsafe)."
    elif safe:
        more = f" ({unsafe} more with `--fix --unsafe-fixes`)" if unsafe else ""
        yield f"{star} {safe} fixable with `--fix`{more}."
    elif unsafe:
        yield f"{unsafe} fixable with `--fix --unsafe-fixes`."
