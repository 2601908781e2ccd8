"""``torchlint check --profile-rules``: which rules take how much of the time."""

from __future__ import annotations

from collections.abc import Iterator

from torchlint.cli.report import BOLD, RED, Style
from torchlint.cli.report.terminal import printable
from torchlint.project.selection import known_names
from torchlint.rules import BUILT_IN, catalogue
from torchlint.system.profile import Profile

LEAST = 0.01
"""Our own rules with less than this share of the time are in one line."""


def table(profile: Profile, seconds: float, style: Style) -> Iterator[str]:
    """A line for each rule that takes a noticeable share of some seconds of processor time."""
    rules: dict[str, dict[str, float]] = {}
    for (code, path), spent in profile.seconds.items():
        rules.setdefault(code, {})[path] = spent
    yield style.paint("  time  share  files  rule", *BOLD)
    rest, others = 0.0, 0
    for code, files in sorted(rules.items(), key=lambda item: (-sum(item[1].values()), item[0])):
        spent = sum(files.values())
        if spent < LEAST * seconds and not _package(code):
            rest, others = rest + spent, others + 1
            continue
        path, most = max(files.items(), key=lambda item: (item[1], item[0]))
        aside = f"  (most: {_time(most).strip()} in {printable(path)})" if len(files) > 1 else ""
        name = f"{style.paint(code, *RED)}  {known_names()[code]}{_package(code)}"
        yield f"{_time(spent)}  {_share(spent, seconds)}  {len(files):>5}  {name}{aside}"
    if others:
        yield f"{_time(rest)}  {_share(rest, seconds)}         {others} other rules"
    other = seconds - sum(profile.seconds.values())
    yield f"{_time(other)}  {_share(other, seconds)}         all else: starting, reading, parsing, reporting, fixing"
    yield "What several rules ask of the model counts for the one that asks first. One process, no cache."


def _package(code: str) -> str:
    """Whose rule it is, if it is not ours."""
    distribution = catalogue()[code].distribution
    return "" if distribution == BUILT_IN.distribution else f" [{printable(distribution)}]"


def _time(seconds: float) -> str:
    return f"{seconds:5.2f}s"


def _share(seconds: float, all_: float) -> str:
    return f"{seconds / all_ if all_ > 0 else 0:>5.0%}"
