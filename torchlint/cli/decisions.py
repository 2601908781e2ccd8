"""What ``torchlint check`` is to do: what its options say, else the settings of the working directory."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING

from torchlint.cli.add_ignore import check_reason
from torchlint.cli.outputs import Outputs, wanted
from torchlint.cli.report import Style
from torchlint.cli.report.terminal import columns, wants_color
from torchlint.diagnostic import Confidence, Fixing, Severity
from torchlint.project import baseline
from torchlint.project.baseline import Baseline
from torchlint.project.project import Project
from torchlint.project.selection import Selection, SettingsError, listed
from torchlint.project.settings import Settings, check_size, check_version, given

if TYPE_CHECKING:
    from torchlint.project.changes import GitChanges

STDIN = "-"

TELLS_NEW = "sarif"
"""The format that says of each finding whether the baseline has it."""


@dataclass(frozen=True, slots=True)
class CheckOptions:
    """The options of ``torchlint check``, as given."""

    paths: tuple[str, ...]
    select: tuple[str, ...]
    ignore: tuple[str, ...]
    extend_select: tuple[str, ...]
    extend_ignore: tuple[str, ...]
    fix: bool | None
    """None where nothing is said, so that the settings decide; as for the next three."""
    unsafe_fixes: bool | None
    fix_only: bool | None
    show_fixes: bool | None
    fixable: tuple[str, ...]
    unfixable: tuple[str, ...]
    extend_fixable: tuple[str, ...]
    diff: bool
    interactive: bool
    output_format: tuple[str, ...]
    output_file: str | None
    add_ignore: str | None
    since: str | None
    staged: bool
    statistics: bool
    profile_rules: bool
    exit_zero: bool
    exit_non_zero_on_fix: bool
    fail_on: str | None
    max_warnings: int | None
    min_confidence: str | None
    no_suppressions: bool
    exclude: tuple[str, ...]
    extend_exclude: tuple[str, ...]
    config: tuple[str, ...]
    isolated: bool
    no_cache: bool
    cache_dir: str | None
    baseline: str | None
    no_baseline: bool
    fix_baselined: bool
    stdin_filename: str | None
    docs: bool | None
    show_files: bool
    force_exclude: bool
    target_torch: str | None
    max_file_size: str | None
    jobs: int
    quiet: bool
    silent: bool
    verbose: bool
    color: str


@dataclass(frozen=True, slots=True)
class Decisions:
    """What is to be done about findings."""

    reason: str | None
    """Why they are silenced by comments; None if they are not to be."""
    changes: GitChanges | None
    """What has changed, where only that is asked for."""
    style: Style
    outputs: Outputs
    fix: bool
    fix_only: bool
    fixing: Fixing
    """What is fixed without a question."""
    show_fixes: bool | None
    """Whether to list them; None where nobody says so."""
    fail_on: Severity
    baseline: Baseline | None


def project_for(options: CheckOptions) -> Project:
    """The settings for all files, with what the options say on top.

    Raises:
        SettingsError: the options make no sense.
    """
    selection = Selection(
        listed(options.select, "--select") or None,
        listed(options.extend_select, "--extend-select"),
        (*listed(options.ignore, "--ignore"), *listed(options.extend_ignore, "--extend-ignore")),
    )
    if options.target_torch is not None:
        check_version(options.target_torch, "--target-torch")
    fixable = Selection(
        listed(options.fixable, "--fixable") or None,
        listed(options.extend_fixable, "--extend-fixable"),
        listed(options.unfixable, "--unfixable"),
    )
    size = check_size(options.max_file_size, "--max-file-size") if options.max_file_size is not None else None
    confidence = Confidence(options.min_confidence) if options.min_confidence is not None else None
    return Project(
        selection,
        options.isolated,
        options.target_torch,
        fixable,
        size,
        min_confidence=confidence,
        heeds_comments=not options.no_suppressions,
        given=given(options.config, options.exclude, options.extend_exclude),
        docs=options.docs,
    )


def decide(options: CheckOptions, project: Project) -> Decisions:
    """What the options say, else the settings of the working directory.

    Raises:
        SettingsError: they make no sense, or not together.
    """
    reason = check_reason(options.add_ignore) if options.add_ignore is not None else None
    if reason is not None and (options.fix or options.fix_only or options.diff or STDIN in options.paths):
        raise SettingsError("--add-ignore goes with neither --fix, nor --diff, nor standard input")
    changes = _changes(options)
    if options.interactive and (options.diff or reason is not None or changes or STDIN in options.paths):
        others = "--diff, nor --add-ignore, nor --since, nor --staged, nor standard input"
        raise SettingsError(f"--interactive goes with neither {others}")
    if options.diff and options.show_fixes:
        raise SettingsError("--diff and --show-fixes cannot be given together")
    settings = project.settings(os.path.dirname(os.path.abspath(options.stdin_filename or STDIN)))
    if reason == "" and settings.require_reason:
        raise SettingsError("--add-ignore: the settings require a reason: write `--add-ignore=REASON`")
    never = options.diff or reason is not None or changes is not None
    fix_only = _decided(options.fix_only, settings.fix_only and options.fix is not False) and not never
    fix = (_decided(options.fix, settings.fix) or fix_only) and not never
    unsafe = _decided(options.unsafe_fixes, settings.unsafe_fixes)
    style = Style(wants_color(options.color), unsafe, columns())
    outputs = wanted(options.output_format, options.output_file, settings, only_files=options.silent)
    here = project.settings(os.getcwd())
    outputs.keep_off([baseline.file_for(options.baseline, here)], "the baseline")
    show_fixes = settings.show_fixes if options.show_fixes is None else options.show_fixes
    fixing = Fixing.NONE
    if (fix or options.diff) and not options.interactive:
        fixing = Fixing.UNSAFE if unsafe else Fixing.SAFE
    return Decisions(
        reason,
        changes,
        style,
        outputs,
        fix,
        fix_only,
        fixing,
        show_fixes=False if options.silent else show_fixes,
        fail_on=Severity(options.fail_on) if options.fail_on is not None else settings.fail_on,
        baseline=_baseline(options, here, outputs),
    )


def _decided(option: bool | None, setting: bool) -> bool:
    return setting if option is None else option


def _changes(options: CheckOptions) -> GitChanges | None:
    """What has changed, where only that is asked for."""
    if options.since is None and not options.staged:
        return None
    which = "--staged" if options.staged else "--since"
    if options.since is not None and options.staged:
        raise SettingsError("--since and --staged cannot be given together")
    if options.fix or options.fix_only or options.diff or STDIN in options.paths:
        raise SettingsError(f"{which} goes with neither --fix, nor --diff, nor standard input")
    if options.staged and options.add_ignore is not None:
        raise SettingsError("--staged and --add-ignore cannot be given together: what is staged is not in the files")
    from torchlint.project import changes

    return changes.staged() if options.since is None else changes.since(options.since)


def _baseline(options: CheckOptions, settings: Settings, outputs: Outputs) -> Baseline | None:
    """The baseline, if there is one and it is wanted, were it for a report of everything that says what is new."""
    given, everything = options.baseline, options.no_baseline
    if (everything and not outputs.have(TELLS_NEW)) or (options.isolated and given is None):
        return None
    found = baseline.of_project(given, settings, must_exist=not everything)
    return found if found.entries else None
