"""``torchlint check``: from the options to the exit code."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, TextIO

from torchlint.cli.add_ignore import add, check_reason
from torchlint.cli.exit_codes import CLEAN, FINDINGS, INCOMPLETE, USAGE
from torchlint.cli.outputs import wanted
from torchlint.cli.patches import print_patches, write_text
from torchlint.cli.progress import Progress
from torchlint.cli.report import FOR_PEOPLE, Style, counted, format_named
from torchlint.cli.report.terminal import columns, printable, printable_lines, wants_color
from torchlint.cli.shown import findings, shown, would_fix
from torchlint.diagnostic import Confidence, Fixing, Problem, Severity
from torchlint.project import baseline
from torchlint.project.baseline import Baseline
from torchlint.project.discovery import File, Found, discover, is_excluded
from torchlint.project.project import Project
from torchlint.project.selection import Selection, SettingsError, known_names, listed, means
from torchlint.project.settings import check_size, check_version, given
from torchlint.rules import faults
from torchlint.session.accounts import UNCHECKED
from torchlint.session.cachedir import directory_for
from torchlint.session.scheduler import Counts, FileResult, Run, RunOptions
from torchlint.system.reading import TooLarge, read_stream

if TYPE_CHECKING:
    from torchlint.project.changes import GitChanges

STDIN = "-"

STREAMED = "json-lines"
"""The format that is printed while the run goes on."""

TELLS_NEW = "sarif"
"""The format that says of each finding whether the baseline has it."""

_SHOWN = 10
"""So many places are listed at most."""


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


class CheckCommand:
    """One ``torchlint check``."""

    def __init__(self, options: CheckOptions) -> None:
        self.options = options
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
        self.project = Project(
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
        self._decide()
        self.baseline = self._baseline()
        self.failed = 0
        """Paths that could not even be opened."""
        self.unwritten: list[str] = []
        """Reports that could not be written."""
        self.written: dict[str, bytes] = {}
        """What fixed files hold now."""
        self.rests_on: Callable[[], set[str]] = set
        """The other files that what was found rests on (:meth:`torchlint.session.scheduler.Run.rests_on`)."""
        self.started = time.perf_counter()

    def _decide(self) -> None:
        """What to do about fixes: what the options say, else the settings of the working directory."""
        options = self.options
        self.reason = check_reason(options.add_ignore) if options.add_ignore is not None else None
        """Why findings are silenced by comments; None if they are not to be."""
        if self.reason is not None and (options.fix or options.fix_only or options.diff or STDIN in options.paths):
            raise SettingsError("--add-ignore goes with neither --fix, nor --diff, nor standard input")
        self.changes = self._changes()
        self.elsewhere = 0
        """Findings that what has changed did not bring."""
        self.caused: list[str] = []
        """Places of findings that it brought to lines which are as they were."""
        if options.interactive and (options.diff or self.reason is not None or self.changes or STDIN in options.paths):
            others = "--diff, nor --add-ignore, nor --since, nor --staged, nor standard input"
            raise SettingsError(f"--interactive goes with neither {others}")
        if options.diff and options.show_fixes:
            raise SettingsError("--diff and --show-fixes cannot be given together")
        settings = self.project.settings(os.path.dirname(os.path.abspath(options.stdin_filename or STDIN)))

        if self.reason == "" and settings.require_reason:
            raise SettingsError("--add-ignore: the settings require a reason: write `--add-ignore=REASON`")

        def decided(option: bool | None, setting: bool) -> bool:
            return setting if option is None else option

        unsafe = decided(options.unsafe_fixes, settings.unsafe_fixes)
        self.style = Style(wants_color(options.color), unsafe, columns())
        self.fix_only = decided(options.fix_only, settings.fix_only and options.fix is not False) and not options.diff
        never = options.diff or self.reason is not None or self.changes is not None
        self.fix_only = self.fix_only and not never
        self.fix = (decided(options.fix, settings.fix) or self.fix_only) and not never
        self.outputs = wanted(options.output_format, options.output_file, settings, only_files=options.silent)
        self.fail_on = Severity(options.fail_on) if options.fail_on is not None else settings.fail_on
        self.show_fixes = decided(options.show_fixes, settings.show_fixes) and not options.silent
        self.fixing = Fixing.NONE
        if (self.fix or options.diff) and not options.interactive:
            self.fixing = Fixing.UNSAFE if unsafe else Fixing.SAFE

    def _changes(self) -> GitChanges | None:
        """What has changed, where only that is asked for."""
        options = self.options
        if options.since is None and not options.staged:
            return None
        which = "--staged" if options.staged else "--since"
        if options.since is not None and options.staged:
            raise SettingsError("--since and --staged cannot be given together")
        if options.fix or options.fix_only or options.diff or STDIN in options.paths:
            raise SettingsError(f"{which} goes with neither --fix, nor --diff, nor standard input")
        if options.staged and options.add_ignore is not None:
            raise SettingsError(
                "--staged and --add-ignore cannot be given together: what is staged is not in the files"
            )
        from torchlint.project import changes

        return changes.staged() if options.since is None else changes.since(options.since)

    def _baseline(self) -> Baseline | None:
        """The baseline, if there is one and it is wanted, were it for a report of everything that says what is new."""
        given, everything = self.options.baseline, self.options.no_baseline
        settings = self.project.settings(os.getcwd())
        if (everything and not self.outputs.have(TELLS_NEW)) or (self.options.isolated and given is None):
            return None
        found = baseline.load(baseline.file_for(given, settings))
        if not everything and found.content is None and (given is not None or settings.baseline is not None):
            raise SettingsError(f"there is no baseline {found.file}: `torchlint baseline write` makes it")
        return found if found.entries else None

    def run(self) -> int:
        """Check, report, and say how it went."""
        paths = self.options.paths or (".",)
        if STDIN not in paths:
            return self._paths(paths)
        if len(paths) > 1:
            raise SettingsError("`-` and other paths cannot be given together")
        return self._stdin()

    def _paths(self, paths: tuple[str, ...]) -> int:
        found = discover(paths, self.project, self.options.force_exclude)
        files = found.files
        if self.changes is not None:
            from torchlint.session import scope

            files = scope.changed(files, self.changes)
        for message in found.missing:
            _tell(f"error: {printable(message)}{_rule_for_a_path(message)}")
        if self.options.show_files:
            for file in files:
                print(printable(file.location))
            self._complain(found.problems, [])
            self._warn(found)
            return self._exit_code_of_paths(found, [])
        self._verbose(*found.notes)
        progress = Progress(sys.stderr, not self.options.quiet and self._is_for_people)
        run = self._new_run(progress)
        try:
            if self._is_streamed:
                results = list(self._streamed(run.stream(files)))
            else:
                results = run.files(files) if self.changes is None else self._brought(run, files, self.changes)
        finally:
            progress.end()
        if run.refused is not None:
            self._say(f"warning: the cache is not used: {printable(run.refused)}")
        self.rests_on = lambda: run.rests_on(files)
        self.failed = len(found.missing) + len(found.problems)
        self.written = {each.file.location: each.after for each in results if each.after is not None and self.fix}
        if self.reason is not None:
            return self._add_ignores(found, results, self.reason)
        if self.options.interactive:
            results = self._chosen(results)
        else:
            self._report(results, self._is_streamed)
        self._complain(found.problems, results)
        self._warn(found)
        if run.unsaved is not None:
            self._verbose(f"the cache could not be written: {run.unsaved}")
        self._verbose(*sorted(run.notes), *self.project.unread)
        self._verbose(*self._account(run.counts, len(results)))
        return self._exit_code_of_paths(found, results)

    @property
    def _is_streamed(self) -> bool:
        """Whether findings are printed as they come: each on a line, and nothing else has to be known for it."""
        options = self.options
        waits = options.diff or options.interactive or options.statistics or self.fix_only or self.reason is not None
        return self.outputs.here == STREAMED and self.changes is None and self.baseline is None and not waits

    def _streamed(self, results: Iterable[FileResult]) -> Iterator[FileResult]:
        """Results that are printed now, without what is needed for no other report."""
        for result in results:
            self._print(format_named(STREAMED)(shown([result]), self.style), sys.stdout)
            sys.stdout.flush()
            yield result if self.outputs.are_in_files else result._replace(text="", before=b"", cells=None)

    def _brought(self, run: Run, files: list[File], changes: GitChanges) -> list[FileResult]:
        """The results without what changes have not brought."""
        from torchlint.session import scope

        before = Run(self.project, RunOptions(jobs=self.options.jobs))
        found = scope.brought(scope.checked(run, files, changes), changes, before)
        self.elsewhere = found.elsewhere
        self.caused = [f"{result.file.path}:{findings(result, ()).place(each.start)}" for result, each in found.caused]
        return found.results

    def _chosen(self, results: list[FileResult]) -> list[FileResult]:
        """The results when somebody has chosen what is fixed."""
        from torchlint.cli.interactive import Dialogue
        from torchlint.session.worker import known_codebase

        everything = self.options.no_baseline
        options = RunOptions(baseline=self.baseline, fix_baselined=everything, report_baselined=everything)
        codebase = known_codebase()

        def check(result: FileResult, data: bytes) -> FileResult:
            return Run(self.project, options, codebase=codebase).text(result.file, data)

        dialogue = Dialogue(self.style, check)
        left = list(dialogue.run(results))
        count = sum(len(result.diagnostics) for result in left)
        self._print([dialogue.summary, f"{counted(count, 'finding')} left."], sys.stdout)
        return left

    def _add_ignores(self, found: Found, results: list[FileResult], reason: str) -> int:
        """Silence what was found by comments, instead of a report."""
        added = add(results, reason)
        if not self.options.quiet:
            self._print(added.lines, sys.stdout)
        self._complain([*found.problems, *added.problems], results)
        self._warn(found)
        silenced = [result._replace(diagnostics=()) for result in results]
        code = self._exit_code(silenced, bool(found.problems or added.problems))
        return FINDINGS if code == CLEAN and added.left and not self.options.exit_zero else code

    def _warn(self, found: Found) -> None:
        for warning in (*self.project.doubts, *found.warnings, *map(str, found.empty)):
            self._say(f"warning: {printable(warning)}")

    def _exit_code_of_paths(self, found: Found, results: list[FileResult]) -> int:
        if found.missing or self._nothing_to_do(found):
            return USAGE
        return self._exit_code(results, bool(found.problems))

    def _nothing_to_do(self, found: Found) -> bool:
        """Whether paths were given and hold nothing to check, which nobody means."""
        if found.files or found.missing or found.problems:
            return False
        return bool(self.options.paths) and not self.options.force_exclude

    def _stdin(self) -> int:
        name = self.options.stdin_filename or STDIN
        location = os.path.abspath(name)
        if sys.stdin is None:
            self._complain([Problem(name, "standard input is closed")], [])
            return INCOMPLETE
        try:
            data = read_stream(sys.stdin.buffer)
        except TooLarge as error:
            self._complain([Problem(name, str(error.strerror))], [])
            return INCOMPLETE
        if self.options.stdin_filename and self.options.force_exclude and is_excluded(location, self.project):
            if self.fix:
                write_text(data)
            return CLEAN
        run = self._new_run(Progress(sys.stderr, wanted=False))
        result = run.text(File(name, location, named=True), data)
        if self.fix:
            write_text(data if result.after is None else result.after)
            self._print(self._findings([result]), sys.stderr)
            self._write_files([result])
        else:
            self._report([result])
        self._complain([], [result])
        return self._exit_code([result], False)

    def _new_run(self, progress: Progress) -> Run:
        options = RunOptions(
            self.fixing,
            not self.options.diff,
            self.options.jobs,
            self._cache(),
            self.baseline,
            self.options.fix_baselined or self.options.no_baseline,
            self.options.no_baseline,
        )
        return Run(self.project, options, progress)

    def _cache(self) -> str | None:
        if self.options.no_cache:
            return None
        return directory_for(self.options.cache_dir, self.project.settings(os.getcwd()))

    def _report(self, results: list[FileResult], are_printed: bool = False) -> None:
        if not self.options.diff:
            if not are_printed:
                self._print(self._findings(results), sys.stdout)
            self._write_files(results)
            return
        base = print_patches(results, self.style)
        if base != os.getcwd():
            self._say(f"The paths of the patch start at {printable(base)}.")
        self._print(format_named("concise")(shown(results, only=UNCHECKED), self.style), sys.stderr)
        self._say(would_fix(results))

    def _write_files(self, results: list[FileResult]) -> None:
        """The reports that go to files: all findings, unless only fixing was wanted."""
        only = UNCHECKED if self.fix_only else None
        files = shown(results, only, has_baseline=self.baseline is not None)
        self.unwritten = self.outputs.write(files, (result.file.location for result in results))
        for message in self.unwritten:
            _tell(f"error: {printable(message)}")

    def _findings(self, results: list[FileResult]) -> Iterator[str]:
        from torchlint.cli.report import statistics

        files = shown(results, has_baseline=self.baseline is not None)
        format_ = self.outputs.here
        if self.fix_only:
            self._print(format_named("concise")(shown(results, only=UNCHECKED), self.style), sys.stderr)
        elif self.options.statistics:
            yield from (statistics.json_lines if format_ == "json" else statistics.lines)(files, self.style)
        elif format_ is not None:
            yield from format_named(format_)(files, self.style)
        if not self._is_for_people:
            return
        complete = sum(not result.problems for result in results)
        totals = statistics.Totals(
            complete,
            sum(result.suppressed for result in results),
            tuple((result.file.path, result.fixed) for result in results if result.fixed),
            self.failed + len(results) - complete,
            sum(len(result.baselined) for result in results) * (not self.options.no_baseline),
            self.elsewhere,
        )
        if self.show_fixes:
            fixes = list(statistics.fixes(totals, known_names(), self.style))
            yield from (*fixes, "") if fixes else ()
        elif not self.options.quiet and not self.fix_only:
            yield from statistics.fixed_line(totals, self.style)
        if not self.options.quiet:
            if self.fix_only:
                yield from statistics.fixes_only(files, totals, self.style, are_listed=self.show_fixes)
            else:
                yield from statistics.summary(files, totals, self.style, are_counted=self.options.statistics)
            if self.caused:
                places = ", ".join(self.caused[:_SHOWN]) + ", …" * (len(self.caused) > _SHOWN)
                yield printable(f"On lines that did not change, but brought by the change: {places}")

    @property
    def _is_for_people(self) -> bool:
        """Whether what goes to standard output is for people, or at least the summary is."""
        return self.outputs.here is None or self.outputs.here in FOR_PEOPLE

    def _complain(self, problems: Iterable[Problem], results: list[FileResult]) -> None:
        """Say what could not be done, each thing once."""
        for fault in faults():
            _tell(f"error: {printable(fault)}")
        of_files = (problem for result in results for problem in result.problems)
        for problem in dict.fromkeys((*problems, *of_files)):  # a rule that cannot be loaded is a problem of each file
            if problem.details and self.options.verbose:
                _tell(printable_lines(problem.details.rstrip()))
            _tell(f"error: {printable(str(problem))}")

    def _exit_code(self, results: list[FileResult], incomplete: bool) -> int:
        if incomplete or faults() or self.unwritten or any(result.problems for result in results):
            return INCOMPLETE
        if self.options.exit_zero:
            return CLEAN
        if self.options.diff:
            failed = any(result.after is not None for result in results) or bool(shown(results, only=UNCHECKED))
        else:
            failed = not self.fix_only and self._are_too_bad(results)
        if self.options.exit_non_zero_on_fix and any(result.fixed for result in results):
            failed = True
        return FINDINGS if failed else CLEAN

    def _are_too_bad(self, results: list[FileResult]) -> bool:
        left, most = [found.severity for each in results for found in each.diagnostics], self.options.max_warnings
        if most is not None and left.count(Severity.WARNING) > most:
            return True
        return any(severity.rank <= self.fail_on.rank for severity in left)

    def _account(self, counts: Counts, files: int) -> Iterator[str]:
        yield from (f"settings: {file}" for file in self.project.sources)
        seconds = time.perf_counter() - self.started
        yield (
            f"{files} files in {seconds:.2f} s: {counts.checked} checked, {counts.cached} known from the cache, "
            f"{counts.skipped} not parsed, for they hold nothing that a rule looks for"
        )

    def _say(self, message: str) -> None:
        if message and not self.options.quiet:
            _tell(message)

    def _verbose(self, *messages: str) -> None:
        if self.options.verbose:
            for message in messages:
                _tell(f"torchlint: {printable(message)}")

    def _print(self, lines: Iterable[str], stream: TextIO) -> None:
        stream.writelines(f"{line}\n" for line in lines)


def _tell(message: str) -> None:
    """Everything that is no finding goes to standard error."""
    print(message, file=sys.stderr)


def _rule_for_a_path(message: str) -> str:
    """What to add to a message about a missing path that is a rule, as in ``--select TL101 TL102``."""
    word = message.partition(":")[0]
    is_rule = word == "ALL" or any(means(word, code, name) for code, name in known_names().items())
    return f" (several rules are written with commas: `TL101,{word}`)" if is_rule else ""
