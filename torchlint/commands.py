"""The commands: options in, exit code out. What they do is done elsewhere."""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, TextIO

import click

from torchlint import __version__, cache, explain
from torchlint.config import (
    Project,
    Selection,
    SettingsError,
    check_selectors,
    check_version,
    did_you_mean,
    known_names,
)
from torchlint.diagnostic import Problem
from torchlint.engine import Fixing
from torchlint.files import File, Found, discover, is_excluded
from torchlint.report import FOR_PEOPLE, FORMATS, FileFindings, Style, format_named, printable, statistics
from torchlint.report.concise import lines as concise
from torchlint.report.patch import patch
from torchlint.run import Counts, Result, Run, default_jobs
from torchlint.run import Options as RunOptions

CLEAN, FINDINGS, USAGE, INCOMPLETE = range(4)
"""Exit codes."""

UNCHECKED = ("TL001", "TL003")
"""Findings that say a file could not be looked at, which a patch must not hide."""

STDIN = "-"


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, "-V", "--version", message="torchlint %(version)s")
def cli() -> None:
    """Find PyTorch code that is wrong, dangerous or out of date, and rewrite it."""


@dataclass(frozen=True, slots=True)
class Options:
    """The options of ``torchlint check``, as given."""

    paths: tuple[str, ...]
    select: tuple[str, ...]
    ignore: tuple[str, ...]
    extend_select: tuple[str, ...]
    fix: bool
    unsafe_fixes: bool
    diff: bool
    output_format: str
    statistics: bool
    exit_zero: bool
    exit_non_zero_on_fix: bool
    isolated: bool
    no_cache: bool
    cache_dir: str | None
    stdin_filename: str | None
    show_files: bool
    force_exclude: bool
    target_torch: str | None
    jobs: int
    quiet: bool
    verbose: bool
    color: str


def _jobs(context: click.Context, parameter: click.Parameter, value: str) -> int:
    if value == "auto":
        return default_jobs()
    if value.isdecimal() and int(value) > 0:
        return int(value)
    raise click.BadParameter(f"{value!r} is neither a positive number nor `auto`")


@cli.command()
@click.argument("paths", nargs=-1, type=click.Path())
@click.option("--select", multiple=True, metavar="RULES", help="Rules to use: codes, prefixes, names, ALL.")
@click.option("--ignore", multiple=True, metavar="RULES", help="Rules not to use.")
@click.option("--extend-select", multiple=True, metavar="RULES", help="Rules to use as well.")
@click.option("--fix", is_flag=True, help="Apply safe fixes.")
@click.option("--unsafe-fixes", is_flag=True, help="With --fix or --diff, apply unsafe fixes too.")
@click.option("--diff", is_flag=True, help="Show what --fix would change, as a patch.")
@click.option("--output-format", type=click.Choice(list(FORMATS)), default="full", show_default=True)
@click.option("--statistics", is_flag=True, help="Count the findings of each rule.")
@click.option("--exit-zero", is_flag=True, help="Exit with 0 even if there are findings.")
@click.option("--exit-non-zero-on-fix", is_flag=True, help="Exit with 1 if anything was fixed.")
@click.option("--isolated", is_flag=True, help="Ignore all settings files.")
@click.option("--no-cache", is_flag=True, help="Neither use nor write the cache.")
@click.option("--cache-dir", type=click.Path(file_okay=False), help="Where the cache is.")
@click.option("--stdin-filename", metavar="NAME", help="The name of what is read from standard input (-).")
@click.option("--show-files", is_flag=True, help="List the files that would be checked.")
@click.option("--force-exclude", is_flag=True, help="Apply excludes to files given by name, too.")
@click.option("--target-torch", metavar="VERSION", help="The oldest torch version the code has to run with.")
@click.option("-j", "--jobs", callback=_jobs, default="auto", show_default=True, help="Number of processes.")
@click.option("-q", "--quiet", is_flag=True, help="Print findings only.")
@click.option("-v", "--verbose", is_flag=True, help="Say more on standard error.")
@click.option("--color", type=click.Choice(["auto", "always", "never"]), default="auto", show_default=True)
def check(**given: Any) -> int:
    """Check files and directories (default: the current one; - reads standard input).

    Exit code: 0 nothing found, 1 findings, 2 bad usage or settings, 3 something could not be checked.
    """
    options = Options(**given)
    try:
        return _Check(options).run()
    except SettingsError as error:
        click.echo(f"error: {error}", err=True)
        return USAGE


class _Check:
    """One ``torchlint check``."""

    def __init__(self, options: Options) -> None:
        self.options = options
        self.style = Style(wants_color(options.color), options.unsafe_fixes)
        selection = Selection(
            _listed(options.select, "--select") or None,
            _listed(options.extend_select, "--extend-select"),
            _listed(options.ignore, "--ignore"),
        )
        if options.target_torch is not None:
            check_version(options.target_torch, "--target-torch")
        self.project = Project(selection, options.isolated, options.target_torch)
        self.started = time.perf_counter()

    def run(self) -> int:
        """Check, report, and say how it went."""
        paths = self.options.paths or (".",)
        if STDIN not in paths:
            return self._paths(paths)
        if len(paths) > 1:
            raise click.UsageError("`-` stands alone")
        return self._stdin()

    def _paths(self, paths: tuple[str, ...]) -> int:
        found = discover(paths, self.project, self.options.force_exclude)
        for message in found.missing:
            click.echo(f"error: {printable(message)}", err=True)
        if self.options.show_files:
            for file in found.files:
                print(printable(file.location))
            return USAGE if found.missing else CLEAN
        self._verbose(*found.notes)
        run = self._new_run()
        results = run.files(found.files)
        self._report(results)
        self._complain(found.problems, results)
        self._verbose(*self._account(run.counts, len(results)))
        if found.missing or self._nothing_to_do(found):
            return USAGE
        return self._exit_code(results, bool(found.problems))

    def _nothing_to_do(self, found: Found) -> bool:
        """Whether paths were given and hold nothing to check, which nobody means."""
        if found.files or found.missing or found.problems:
            return False
        self._say("warning: no Python files found")
        return bool(self.options.paths) and not self.options.force_exclude

    def _stdin(self) -> int:
        name = self.options.stdin_filename or STDIN
        location = os.path.abspath(name)
        data = sys.stdin.buffer.read()
        if self.options.stdin_filename and self.options.force_exclude and is_excluded(location, self.project):
            if self.options.fix and not self.options.diff:
                _write([data])
            return CLEAN
        run = self._new_run()
        result = run.text(File(name, location, named=True), data)
        if self.options.fix and not self.options.diff:
            _write([data if result.after is None else result.after])
            self._print(self._findings([result]), sys.stderr)
        else:
            self._report([result])
        self._complain([], [result])
        return self._exit_code([result], False)

    def _new_run(self) -> Run:
        return Run(self.project, RunOptions(self._fixing(), not self.options.diff, self.options.jobs, self._cache()))

    def _fixing(self) -> Fixing:
        if not (self.options.fix or self.options.diff):
            return Fixing.NONE
        return Fixing.UNSAFE if self.options.unsafe_fixes else Fixing.SAFE

    def _cache(self) -> str | None:
        if self.options.no_cache:
            return None
        return self.options.cache_dir or default_cache(self.project)

    def _report(self, results: list[Result]) -> None:
        if not self.options.diff:
            self._print(self._findings(results), sys.stdout)
            return
        for result in results:
            if result.after is not None:
                _write(patch(result.file.path, result.before, result.after, self.style))
        self._print(concise(_shown(results, only=UNCHECKED), self.style), sys.stderr)
        self._say(_would_fix(results))

    def _findings(self, results: list[Result]) -> Iterator[str]:
        files = _shown(results)
        format_ = self.options.output_format
        if self.options.statistics:
            yield from (statistics.json_lines if format_ == "json" else statistics.lines)(files, self.style)
        else:
            yield from format_named(format_)(files, self.style)
        if format_ not in FOR_PEOPLE or self.options.quiet:
            return
        totals = statistics.Totals(
            len(results),
            sum(result.suppressed for result in results),
            tuple((result.file.path, result.fixed) for result in results if result.fixed),
        )
        fixes = list(statistics.fixes(totals, known_names(), self.style))
        yield from (*fixes, "") if fixes else ()
        yield from statistics.summary(files, totals, self.style)

    def _complain(self, problems: Iterable[Problem], results: list[Result]) -> None:
        """Say what could not be done."""
        for problem in (*problems, *(problem for result in results for problem in result.problems)):
            row = f":{problem.row}" if problem.row is not None else ""
            click.echo(f"error: {printable(problem.path)}{row}: {printable(problem.message)}", err=True)

    def _exit_code(self, results: list[Result], incomplete: bool) -> int:
        if incomplete or any(result.problems for result in results):
            return INCOMPLETE
        if self.options.exit_zero:
            return CLEAN
        if self.options.diff:
            failed = any(result.after is not None for result in results) or bool(_shown(results, only=UNCHECKED))
        else:
            failed = any(result.diagnostics for result in results)
        if self.options.exit_non_zero_on_fix and any(result.fixed for result in results):
            failed = True
        return FINDINGS if failed else CLEAN

    def _account(self, counts: Counts, files: int) -> Iterator[str]:
        yield from (f"settings: {file}" for file in self.project.sources)
        seconds = time.perf_counter() - self.started
        yield (
            f"{files} files in {seconds:.2f} s: {counts.checked} checked, {counts.cached} known from the cache, "
            f"{counts.skipped} without anything to look at"
        )

    def _say(self, message: str) -> None:
        if message and not self.options.quiet:
            click.echo(message, err=True)

    def _verbose(self, *messages: str) -> None:
        if self.options.verbose:
            for message in messages:
                click.echo(f"torchlint: {printable(message)}", err=True)

    def _print(self, lines: Iterable[str], stream: TextIO) -> None:
        stream.writelines(f"{line}\n" for line in lines)


def _shown(results: Iterable[Result], only: Collection[str] | None = None) -> list[FileFindings]:
    """Results as reports want them: files with findings (of some codes)."""
    files = []
    for result in results:
        diagnostics = tuple(found for found in result.diagnostics if only is None or found.code in only)
        if diagnostics:
            files.append(FileFindings(result.file.path, result.file.location, result.text, diagnostics))
    return files


def _would_fix(results: Iterable[Result]) -> str:
    count = sum(number for result in results for _, number in result.fixed)
    return f"Would fix {count} finding{'s' * (count != 1)}." if count else "Nothing to fix."


def _write(chunks: Iterable[bytes]) -> None:
    """Bytes to standard output: a patch has the encodings and newlines of the files it is for."""
    sys.stdout.flush()
    sys.stdout.buffer.writelines(chunks)
    sys.stdout.buffer.flush()


def _listed(values: Iterable[str], option: str) -> tuple[str, ...]:
    """The selectors of an option that can be repeated and takes comma-separated lists."""
    selectors = [part.strip() for value in values for part in value.split(",")]
    return check_selectors(filter(None, selectors), option)


def wants_color(choice: str) -> bool:
    """Whether to write colours: what the option says, then the environment, then the terminal."""
    if choice != "auto":
        return choice == "always"
    if os.environ.get("NO_COLOR"):
        return False
    if any(os.environ.get(name, "0") not in ("", "0") for name in ("FORCE_COLOR", "CLICOLOR_FORCE")):
        return True
    return sys.stdout.isatty() and os.environ.get("TERM") != "dumb"


def default_cache(project: Project) -> str:
    """The cache of the project in the working directory."""
    return os.path.join(project.settings(os.getcwd()).root, cache.NAME)


@cli.command()
@click.argument("rule", required=False, metavar="[CODE|NAME]")
@click.option("--all", "every", is_flag=True, help="Explain all rules.")
@click.option("--output-format", type=click.Choice(["text", "json"]), default="text", show_default=True)
@click.option("--color", type=click.Choice(["auto", "always", "never"]), default="auto", show_default=True)
def rule(rule: str | None, every: bool, output_format: str, color: str) -> int:
    """Explain a rule."""
    if (rule is None) is not every:
        raise click.UsageError("give the code or the name of a rule, or --all")
    codes = list(known_names()) if rule is None else [_code(rule)]
    if output_format == "json":
        entries = [explain.as_json(code) for code in codes]
        print(json.dumps(entries if every else entries[0], indent=2))
        return CLEAN
    print("\n\n".join(explain.as_text(code, Style(wants_color(color))) for code in codes))
    return CLEAN


def _code(asked: str) -> str:
    names = [*known_names(), *known_names().values()]
    for code, name in known_names().items():
        if asked.upper() == code or asked == name:
            return code
    raise click.UsageError(f"unknown rule `{asked}`{did_you_mean(asked, names)}")


@cli.command()
def clean() -> int:
    """Remove the cache of the project in the working directory."""
    try:
        directory = default_cache(Project())
    except SettingsError as error:
        click.echo(f"error: {error}", err=True)
        return USAGE
    click.echo(f"Removed {directory}" if cache.clean(directory) else "There is no cache here", err=True)
    return CLEAN
