"""``torchlint baseline ...``: the commands about the baseline, as click wants them."""

from __future__ import annotations

from typing import Any

import click

from torchlint.cli.options import F, config_option, jobs_option, rules_option, settings_can_be_wrong, verbose_option


@click.group(short_help="Accept what there is, and report what is new.")
def baseline() -> None:
    """Live with the findings there are, and report new ones only.

    More: https://github.com/torchlint/torchlint/blob/main/docs/baseline.md
    """


_file_option = click.option(
    "--baseline", metavar="FILE", type=click.Path(), help="The baseline, if it has another name or place."
)


def _baseline(function: F) -> F:
    """The options that the commands share which check files."""
    return _file_option(jobs_option(verbose_option()(config_option(function))))


@baseline.command("write", short_help="Write all findings into a baseline.")
@click.argument("paths", nargs=-1, type=click.Path(readable=False))
@rules_option("--select", "Rules to use: codes, prefixes, names, groups, ALL.")
@rules_option("--ignore", "Rules not to use.")
@rules_option("--extend-select", "Rules to use as well.")
@click.option("--extend", is_flag=True, help="Add what is new to a baseline that exists.")
@_baseline
def write_baseline(**given: Any) -> int:
    """Write all findings into a baseline: `torchlint check` reports them no more.

    Exit code: 0 it is written, 2 bad usage or settings, or there is one already, 3 not all could be checked or written.
    """
    from torchlint.cli import baseline as command

    with settings_can_be_wrong():
        return command.write(command.BaselineWriteOptions(**given))


@baseline.command("show", short_help="Print what is in the baseline.")
@click.argument("paths", nargs=-1, type=click.Path(readable=False))
@_file_option
@config_option
@verbose_option(expose_value=False)
def show_baseline(**given: Any) -> int:
    """Print what is in the baseline (of all files, or of those at or below some paths). No file is checked.

    Exit code: 0 it is printed, 2 bad usage or settings.
    """
    from torchlint.cli import baseline as command

    with settings_can_be_wrong():
        return command.show(command.BaselineShowOptions(**given))


@baseline.command("check")
@_baseline
def check_baseline(**given: Any) -> int:
    """Say what of the baseline is gone. What is new `torchlint check` says.

    Exit code: 0 nothing is, 1 something is, 2 bad usage or settings, 3 something could not be checked.
    """
    from torchlint.cli import baseline as command

    with settings_can_be_wrong():
        return command.check(command.BaselineOptions(**given))


@baseline.command("prune")
@_baseline
def prune_baseline(**given: Any) -> int:
    """Remove what is gone from the baseline.

    Exit code: 0 nothing is left of that, 2 bad usage or settings, 3 not all could be checked or written.
    """
    from torchlint.cli import baseline as command

    with settings_can_be_wrong():
        return command.prune(command.BaselineOptions(**given))
