"""What commands share: options and their completion, and how bad settings end."""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, TypeVar

import click

from torchlint.cli.exit_codes import USAGE
from torchlint.cli.report.terminal import printable
from torchlint.diagnostic import Confidence, Severity
from torchlint.project.formats import AUTO, FORMATS

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

F = TypeVar("F", bound=Callable[..., Any])

LEVELS = [severity.value for severity in Severity]
CONFIDENCES = [confidence.value for confidence in Confidence]


class UsageError(click.ClickException):
    """Bad settings end the program as bad options do."""

    exit_code = USAGE

    def show(self, file: Any = None) -> None:
        """Print the message."""
        click.echo(f"error: {printable(self.format_message())}", file=file, err=True)


@contextlib.contextmanager
def settings_can_be_wrong() -> Iterator[None]:
    """End with a word on settings that make no sense, and not as if the program had failed."""
    from torchlint.project.selection import SettingsError
    from torchlint.rules.plugins import Clash

    try:
        yield
    except (SettingsError, Clash) as error:
        raise UsageError(str(error)) from error


def _jobs(context: click.Context, parameter: click.Parameter, value: str) -> int:
    if value == "auto":
        return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    if re.fullmatch("0*[1-9][0-9]{0,5}", value):
        return int(value)
    raise click.BadParameter(f"{value!r} is neither a number from 1 to 999999 nor `auto`")


jobs_option = click.option(
    "-j", "--jobs", callback=_jobs, default="auto", show_default=True, help="Number of processes."
)


def verbose_option(expose_value: bool = True) -> Callable[[F], F]:
    """The option that also shows where an unexpected exception comes from, which :mod:`torchlint.cli.main` sees to."""
    text = "Say more on standard error."
    return click.option("-v", "--verbose", is_flag=True, expose_value=expose_value, help=text)


def rules_option(option: str, help: str) -> Callable[[F], F]:
    """An option that takes rules."""
    return click.option(option, multiple=True, metavar="RULES", help=help, shell_complete=completed_rules)


def patterns_option(option: str, help: str) -> Callable[[F], F]:
    """An option that takes patterns for paths."""
    return click.option(option, multiple=True, metavar="PATTERN", help=help)


config_option = click.option(
    "--config",
    multiple=True,
    metavar="KEY=VALUE|FILE",
    help="A setting that goes before those in files; or a settings file that holds for all.",
)


def completed_rules(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """The codes and names of rules that begin like the last one of a list."""
    from click.shell_completion import CompletionItem

    from torchlint.project.selection import GROUPS, known_names

    before, comma, last = incomplete.rpartition(",")
    words = [*known_names().items(), *((name, code) for code, name in known_names().items())]
    words += [(group, "a group of rules") for group in GROUPS]
    return [
        CompletionItem(f"{before}{comma}{word}", help=other)
        for word, other in words
        if word.startswith((last, last.upper()))
    ]


def completed_formats(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """The names of formats that begin so."""
    from click.shell_completion import CompletionItem

    return [CompletionItem(name) for name in (*FORMATS, AUTO) if name.startswith(incomplete)]
