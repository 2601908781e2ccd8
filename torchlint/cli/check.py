"""``torchlint check``: from the options to the exit code."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, TextIO

from torchlint.cli.add_ignore import add
from torchlint.cli.decisions import STDIN, CheckOptions, decide, project_for
from torchlint.cli.exit_codes import CLEAN, FINDINGS, INCOMPLETE, USAGE
from torchlint.cli.patches import print_patches, write_text
from torchlint.cli.progress import Progress
from torchlint.cli.report import FOR_PEOPLE, counted, format_named
from torchlint.cli.report.terminal import printable, printable_lines
from torchlint.cli.shown import findings, shown, would_fix
from torchlint.diagnostic import Problem, Severity
from torchlint.project.discovery import File, Found, discover, is_excluded
from torchlint.project.selection import SettingsError, known_names, means
from torchlint.rules import faults
from torchlint.session.accounts import UNCHECKED
from torchlint.session.cachedir import directory_for
from torchlint.session.scheduler import Counts, FileResult, Run, RunOptions
from torchlint.system import leftovers
from torchlint.system.reading import TooLarge, read_stream

if TYPE_CHECKING:
    from torchlint.project.changes import GitChanges

STREAMED = "json-lines"
"""The format that is printed while the run goes on."""

_SHOWN = 10
"""So many places are listed at most."""


class CheckCommand:
    """One ``torchlint check``."""

    def __init__(self, options: CheckOptions) -> None:
        self.options = options
        self.project = project_for(options)
        self.decided = decide(options, self.project)
        self.elsewhere = 0
        """Findings that what has changed did not bring."""
        self.caused: list[str] = []
        """Places of findings that it brought to lines which are as they were."""
        self.failed = 0
        """Paths that could not even be opened."""
        self.unwritten: list[str] = []
        """Reports that could not be written."""
        self.written: dict[str, bytes] = {}
        """What fixed files hold now."""
        self.rests_on: Callable[[], set[str]] = set
        """The other files that what was found rests on (:meth:`torchlint.session.scheduler.Run.rests_on`)."""
        self.started = time.perf_counter()

    def run(self) -> int:
        """Check, report, and say how it went."""
        if not self.options.profile_rules:
            return self._run()
        from torchlint.cli import profile
        from torchlint.system.profile import profiling

        start = time.process_time()
        with profiling() as measured:
            code = self._run()
        sys.stdout.flush()
        self._print(profile.table(measured, time.process_time() - start, self.decided.style), sys.stderr)
        return code

    def _run(self) -> int:
        paths = self.options.paths or (".",)
        if STDIN not in paths:
            return self._paths(paths)
        if len(paths) > 1:
            raise SettingsError("`-` and other paths cannot be given together")
        return self._stdin()

    def _paths(self, paths: tuple[str, ...]) -> int:
        found = self._found(paths)
        files = found.files
        self._keep_reports_off(files)
        if self.decided.changes is not None:
            from torchlint.session import scope

            files = scope.changed(files, self.decided.changes)
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
                changes = self.decided.changes
                results = run.files(files) if changes is None else self._brought(run, files, changes)
        finally:
            progress.end()
        if run.refused is not None:
            self._doubt(f"the cache is not used: {run.refused}")
        self.rests_on = lambda: run.rests_on(files)
        self.failed = len(found.missing) + len(found.problems)
        if self.decided.fix:
            swept = leftovers.sweep(found.leftovers)
            self._verbose(*(f"removed {path}, which a killed run had left" for path in swept.removed))
            self.written = {each.file.location: each.after for each in results if each.after is not None}
        if self.decided.reason is not None:
            return self._add_ignores(found, results, self.decided.reason)
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

    def _found(self, paths: tuple[str, ...]) -> Found:
        changes, force_exclude = self.decided.changes, self.options.force_exclude
        if changes is None or changes.index is None:
            return discover(paths, self.project, force_exclude)
        from torchlint.project.staged import staged_files

        return staged_files(paths, changes, self.project, force_exclude)

    @property
    def _is_streamed(self) -> bool:
        """Whether findings are printed as they come: each on a line, and nothing else has to be known for it."""
        options, decided = self.options, self.decided
        waits = options.diff or options.interactive or options.statistics or decided.fix_only
        is_plain = decided.changes is None and decided.baseline is None and decided.reason is None
        return decided.outputs.here == STREAMED and is_plain and not waits

    def _streamed(self, results: Iterable[FileResult]) -> Iterator[FileResult]:
        """Results that are printed now, without what is needed for no other report."""
        for result in results:
            self._print(format_named(STREAMED)(shown([result]), self.decided.style), sys.stdout)
            sys.stdout.flush()
            yield result if self.decided.outputs.are_in_files else result._replace(text="", before=b"", cells=None)

    def _brought(self, run: Run, files: list[File], changes: GitChanges) -> list[FileResult]:
        """The results without what changes have not brought."""
        from torchlint.session import scope

        before = Run(self.project, RunOptions(jobs=self._jobs))
        found = scope.brought(scope.checked(run, files, changes), changes, before)
        self.elsewhere = found.elsewhere
        self.caused = [f"{result.file.path}:{findings(result, ()).place(each.start)}" for result, each in found.caused]
        return found.results

    def _chosen(self, results: list[FileResult]) -> list[FileResult]:
        """The results when somebody has chosen what is fixed."""
        from torchlint.cli.interactive import Dialogue
        from torchlint.session.worker import known_codebase

        everything = self.options.no_baseline
        options = RunOptions(baseline=self.decided.baseline, fix_baselined=everything, report_baselined=everything)
        codebase = known_codebase()

        def check(result: FileResult, data: bytes) -> FileResult:
            return Run(self.project, options, codebase=codebase).text(result.file, data)

        dialogue = Dialogue(self.decided.style, check)
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
        for warning in (*self.project.doubts, *found.warnings):
            self._doubt(warning)
        for empty in map(str, found.empty):
            if self._nothing_to_do(found):  # it is why the command fails
                _tell(f"error: {printable(empty)}")
            else:
                self._doubt(empty)

    def _exit_code_of_paths(self, found: Found, results: list[FileResult]) -> int:
        if found.missing or self._nothing_to_do(found):
            return USAGE
        return self._exit_code(results, bool(found.problems))

    def _nothing_to_do(self, found: Found) -> bool:
        """Whether paths were given and hold nothing to check, which nobody means."""
        if found.files or found.missing or found.problems:
            return False
        return bool(self.options.paths) and not self.options.force_exclude and not self.options.staged

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
            if self.decided.fix:
                write_text(data)
            return CLEAN
        file = File(name, location, named=True)
        self._keep_reports_off([file])
        result = self._new_run(Progress(sys.stderr, wanted=False)).text(file, data)
        if self.decided.fix:
            write_text(data if result.after is None else result.after)
            self._print(self._findings([result]), sys.stderr)
            self._write_files([result])
        else:
            self._report([result])
        self._complain([], [result])
        return self._exit_code([result], False)

    def _keep_reports_off(self, files: Sequence[File]) -> None:
        """See that no report is written over what is checked, or what says how."""
        outputs = self.decided.outputs
        outputs.keep_off((file.location for file in files), "one of the files that are checked")
        for file in files if outputs.are_in_files else ():
            self.project.settings(os.path.dirname(file.location))
        outputs.keep_off(self.project.sources, "a settings file")

    def _new_run(self, progress: Progress) -> Run:
        options = RunOptions(
            self.decided.fixing,
            not self.options.diff,
            self._jobs,
            self._cache(),
            self.decided.baseline,
            self.options.fix_baselined or self.options.no_baseline,
            self.options.no_baseline,
        )
        return Run(self.project, options, progress)

    @property
    def _jobs(self) -> int:
        """The number of processes; what is measured must happen in this one."""
        return 1 if self.options.profile_rules else self.options.jobs

    def _cache(self) -> str | None:
        if self.options.no_cache or self.options.profile_rules:
            return None
        return directory_for(self.options.cache_dir, self.project.settings(os.getcwd()))

    def _report(self, results: list[FileResult], are_printed: bool = False) -> None:
        if not self.options.diff:
            if not are_printed:
                self._print(self._findings(results), sys.stdout)
            self._write_files(results)
            return
        base = print_patches(results, self.decided.style)
        if base != os.getcwd():
            self._say(f"The paths of the patch start at {printable(base)}.")
        self._print(format_named("concise")(shown(results, only=UNCHECKED), self.decided.style), sys.stderr)
        self._say(would_fix(results))

    def _write_files(self, results: list[FileResult]) -> None:
        """The reports that go to files: all findings, unless only fixing was wanted."""
        only = UNCHECKED if self.decided.fix_only else None
        files = shown(results, only, has_baseline=self.decided.baseline is not None)
        self.unwritten = self.decided.outputs.write(files)
        for message in self.unwritten:
            _tell(f"error: {printable(message)}")

    def _findings(self, results: list[FileResult]) -> Iterator[str]:
        from torchlint.cli.report import statistics

        decided = self.decided
        files = shown(results, has_baseline=decided.baseline is not None)
        format_ = decided.outputs.here
        if decided.fix_only:
            self._print(format_named("concise")(shown(results, only=UNCHECKED), decided.style), sys.stderr)
        elif self.options.statistics:
            yield from (statistics.json_lines if format_ == "json" else statistics.lines)(files, decided.style)
        elif format_ is not None:
            yield from format_named(format_)(files, decided.style)
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
        are_listed = decided.show_fixes
        if are_listed is None:
            are_listed = decided.style.columns is not None and not self.options.quiet and statistics.are_few(totals)
        if are_listed:
            fixes = list(statistics.fixes(totals, known_names(), decided.style))
            yield from (*fixes, "") if fixes else ()
        elif not self.options.quiet and not decided.fix_only:
            yield from statistics.fixed_line(totals, decided.style)
        if not self.options.quiet:
            if decided.fix_only:
                yield from statistics.fixes_only(files, totals, decided.style, are_listed=are_listed)
            else:
                yield from statistics.summary(files, totals, decided.style, are_counted=self.options.statistics)
            if self.caused:
                places = ", ".join(self.caused[:_SHOWN]) + ", …" * (len(self.caused) > _SHOWN)
                yield printable(f"On lines that did not change, but brought by the change: {places}")

    @property
    def _is_for_people(self) -> bool:
        """Whether what goes to standard output is for people, or at least the summary is."""
        return self.decided.outputs.here is None or self.decided.outputs.here in FOR_PEOPLE

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
            failed = not self.decided.fix_only and self._are_too_bad(results)
        if self.options.exit_non_zero_on_fix and any(result.fixed for result in results):
            failed = True
        return FINDINGS if failed else CLEAN

    def _are_too_bad(self, results: list[FileResult]) -> bool:
        left, most = [found.severity for each in results for found in each.diagnostics], self.options.max_warnings
        if most is not None and left.count(Severity.WARNING) > most:
            return True
        return any(severity.rank <= self.decided.fail_on.rank for severity in left)

    def _account(self, counts: Counts, files: int) -> Iterator[str]:
        yield from (f"settings: {file}" for file in self.project.sources)
        seconds = time.perf_counter() - self.started
        yield (
            f"{counted(files, 'file')} in {seconds:.2f} s: {counts.checked} checked, "
            f"{counts.cached} known from the cache, "
            f"{counts.skipped} not parsed, for they hold nothing that a rule looks for"
        )

    def _say(self, message: str) -> None:
        if message and not self.options.quiet:
            _tell(message)

    def _doubt(self, message: str) -> None:
        if not self.options.silent:
            _tell(f"warning: {printable(message)}")

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
