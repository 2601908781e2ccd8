"""Many files: look up, read, gate, check (in this process or in several), write back.

The order of results is the order of the files given, however the work was done.
"""

from __future__ import annotations

import contextlib
import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

from torchlint.diagnostic import Diagnostic, FindingKey, Fixing, Problem
from torchlint.project.baseline import Baseline
from torchlint.project.discovery import File
from torchlint.project.project import Project
from torchlint.session.cache import Cache, Known, Seen, stamp
from torchlint.session.cachedir import Unusable
from torchlint.session.content import read_content
from torchlint.system import states, writing
from torchlint.system.reading import read_with_status
from torchlint.system.stack import with_big_stack

if TYPE_CHECKING:
    from torchlint.file.notebook.cells import Cells
    from torchlint.model.codebase.modules import Codebase
    from torchlint.session.accounts import Accounts
    from torchlint.session.worker import Job, JobResult

WORTH_A_POOL = 200_000
"""So many bytes to parse (a third of a second) justify starting processes."""

FIRST_WINDOW, LAST_WINDOW = 64, 1024
"""So many files are checked before results are given, where they are wanted as they come: at first, and at most."""

WORTH_GATING_APART = 20_000_000
"""So many bytes to read do as well, even if nothing of them was to be parsed."""


@dataclass(frozen=True, slots=True)
class RunOptions:
    """How to go about it."""

    fixing: Fixing = Fixing.NONE
    write: bool = True
    """Whether fixed text goes to the files (``--diff`` only wants to know it)."""
    jobs: int = 1
    cache_directory: str | None = None
    baseline: Baseline | None = None
    """What is known and neither reported nor fixed."""
    fix_baselined: bool = False
    """Whether it is fixed all the same."""
    report_baselined: bool = False
    """Whether it is reported all the same."""
    is_promising: bool = False
    """Whether rules found something in the files a moment ago, as an editor knows it."""


class FileResult(NamedTuple):
    """What became of one file."""

    file: File
    diagnostics: tuple[Diagnostic, ...] = ()
    text: str = ""
    """The text that the diagnostics speak of (left empty where there are none)."""
    problems: tuple[Problem, ...] = ()
    fixed: tuple[tuple[str, int], ...] = ()
    suppressed: int = 0
    before: bytes = b""
    """What was in it (left empty where nothing follows from that)."""
    after: bytes | None = None
    """The fixed content, where it differs."""
    unwritten: bool = False
    """Whether there is fixed content and it could not be written."""
    baselined: tuple[Diagnostic, ...] = ()
    """What was found and is in the baseline."""
    cells: Cells | None = None
    """Where in a notebook the lines of the text are."""

    @property
    def all_found(self) -> list[Diagnostic]:
        """All findings, those of the baseline included, in the order of every report."""
        return sorted((*self.diagnostics, *self.baselined), key=lambda found: found.sort_key)


@dataclass(slots=True)
class Counts:
    """How the files were dealt with, for ``--verbose``."""

    skipped: int = 0
    """No rule could find anything in them."""
    cached: int = 0
    checked: int = 0


OnDone = Callable[[int, int], None]
"""Is told how many files of how many are done."""


class Run:
    """One run over some files."""

    def __init__(
        self,
        project: Project,
        options: RunOptions = RunOptions(),
        watch: OnDone = lambda done, all_: None,
        codebase: Callable[[], Codebase] | None = None,
    ) -> None:
        self.project, self.options = project, options
        self.counts = Counts()
        self.unsaved: str | None = None
        """Why the cache could not be written."""
        self.refused: str | None = None
        """Why there must not be a cache where it was wanted."""
        self.notes: set[str] = set()
        """What was not read of what files import, for ``--verbose``."""
        self._others: set[str] = set()
        self.accounts: Accounts | None = None
        """What became of the baseline, if there is one."""
        self._watch = watch
        self._codebase = codebase
        """What is known of other files, where that is kept from one run to the next."""
        self._fixing = options.fixing
        """What is applied in the pass that is under way."""
        self._cache: Cache | None = None

    def files(self, files: Iterable[File]) -> list[FileResult]:
        """Check files, and fix them if that is wanted."""
        with self._caching():
            return self._results(files, self._looked_up)

    def stream(self, files: Sequence[File]) -> Iterator[FileResult]:
        """The same, but results come while other files are still to be checked; a few at first, then more at a time.

        Only where there is no baseline: what of that is still there is known when all files have been looked at.
        """
        if self.options.baseline is not None:
            yield from self.files(files)
            return
        with contextlib.ExitStack() as stack:
            if self._codebase is None and self._fixing is Fixing.NONE:
                from torchlint.session.worker import passing_codebase

                self._codebase = stack.enter_context(passing_codebase())  # the same for all that comes
            stack.enter_context(self._caching())
            start, size = 0, FIRST_WINDOW
            while start < len(files):
                yield from self._results(files[start : start + size], self._looked_up)
                start, size = start + size, min(2 * size, LAST_WINDOW)

    @contextlib.contextmanager
    def _caching(self) -> Iterator[None]:
        """With the cache, if there is to be one; it is saved if all went well."""
        if self.options.cache_directory is not None:
            try:
                self._cache = Cache(self.options.cache_directory, self.project.identity)
            except Unusable as error:
                self.refused = str(error)
        yield
        if self._cache is not None:
            self.unsaved = self._cache.save()

    def text(self, file: File, content: bytes | str) -> FileResult:
        """Check what was read from standard input as if it were a file; nothing is written.

        Of a text it is reported if the encoding that it declares does not have all of its characters.
        """
        return self.texts([(file, content)])[0]

    def texts(self, given: Sequence[tuple[File, bytes | str]]) -> list[FileResult]:
        """The same of several."""
        self.options = replace(self.options, write=False)
        contents = dict(given)
        return self._results(contents, lambda file: _New(file, len(contents[file]), contents[file]))

    def _results(self, files: Iterable[File], look_up: Callable[[File], FileResult | _New]) -> list[FileResult]:
        baseline = self.options.baseline
        if baseline is None:
            return self._done([look_up(file) for file in files])
        self._fixing = Fixing.NONE
        found = [look_up(file) for file in files]
        return self._beyond(baseline, found, self._done(found))

    def _done(self, found: Sequence[FileResult | _New]) -> list[FileResult]:
        """The results of files of which some are known."""
        new = iter(self._checked([each for each in found if isinstance(each, _New)]))
        return self._with_findings_of_unwritten([next(new) if isinstance(each, _New) else each for each in found])

    def rests_on(self, files: Iterable[File]) -> set[str]:
        """The other files that what was found in some files rests on, some of which may not exist.

        A path that ends in :data:`torchlint.system.importable.ALL` stands for all files of a project.
        """
        known = self._cache.rests_on(file.location for file in files) if self._cache is not None else ()
        return self._others.union(known)

    # ------------------------------------------------------------------ what the baseline has

    def _beyond(
        self, baseline: Baseline, looked_up: Sequence[FileResult | _New], first: Sequence[FileResult]
    ) -> list[FileResult]:
        """The results of a pass without fixing, without what the baseline has; and fixed, if that is wanted.

        Which finding is the one in the baseline, if a function went to another file, is known only when all files have
        been looked at.
        """
        from torchlint.file.suppress.suppress import parted
        from torchlint.session.accounts import Looked, settled

        project, files = self.project, [result.file for result in first]
        paths = [baseline.path_of(file.location) for file in files]
        self.accounts = settled(
            baseline,
            [
                Looked(path, result.diagnostics, project.codes(result.file.location), not result.problems)
                for path, result in zip(paths, first, strict=True)
            ],
            lambda path, code: code in project.codes(baseline.location_of(path)),
        )
        self._fixing = self.options.fixing
        accepted = [self.accounts.accepted[path] for path in paths]
        again: list[FileResult | _New] = []
        for was, result, known in zip(looked_up, first, accepted, strict=True):
            data = was.data if isinstance(was, _New) else None
            leave = self._unfixable(parted(result.diagnostics, known)[1]) if self.options.fix_baselined else known
            is_settled = not self._may_change(parted(result.diagnostics, leave)[0], bool(leave))
            again.append(result if is_settled else _New(result.file, len(result.text), data, leave))
        results, counts = [], replace(self.counts)
        second = self._done(again)
        self.counts = counts  # of files, however often one is looked at
        for result, known in zip(second, accepted, strict=True):
            new, baselined = parted(result.all_found, known)
            reported = result.all_found if self.options.report_baselined else new
            results.append(result._replace(diagnostics=tuple(reported), baselined=tuple(baselined)))
        return results

    def _unfixable(self, accepted: Iterable[Diagnostic]) -> Counter[FindingKey]:
        """What of the baseline stays as it is, with its statement: if that was changed, it would be new."""
        stays = (each for each in accepted if each.fix is None or not self._fixing.applies(each.fix))
        return Counter(each.key for each in stays)

    def _may_change(self, new: Iterable[Diagnostic], is_beside_others: bool) -> bool:
        """Whether one of these findings is to be fixed, or may not be, for something beside it is to be left alone."""
        return any(found.fix is not None and (is_beside_others or self._fixing.applies(found.fix)) for found in new)

    # ------------------------------------------------------------------ what is known already

    def _looked_up(self, file: File) -> FileResult | _New:
        """What is known of a file that has not changed."""
        try:
            status = os.stat(file.location)
        except OSError:
            return _New(file, 0)
        new, now = _New(file, status.st_size), stamp(status)
        if self._cache is None or not now:
            return new
        variant = self.project.variant(file.location)
        known = self._cache.unchanged(file.location, variant, now)
        if known is not None and not known.diagnostics:  # most of them
            return self._known(file, known, b"") or new
        if known is None and not self._cache.has(file.location, variant):
            return new
        try:
            status, data = read_with_status(file.location)
            now_too = stamp(status)
        except OSError:
            return new
        if known is None or now_too != now:
            known = self._cache.same(file.location, variant, Seen(now_too, states.digest(data)))
        return (self._known(file, known, data) if known is not None else None) or new

    def _known(self, file: File, known: Known, data: bytes) -> FileResult | None:
        """What is known as a result, unless it is not enough, or there is something in it to fix."""
        thorough = self._is_thorough(file)
        if not known.answers(thorough):
            return None
        if not known.is_gated and not (thorough and known.diagnostics):
            self.counts.skipped += 1
            return FileResult(file)
        if any(found.fix is not None and self._fixing.applies(found.fix) for found in known.diagnostics):
            return None
        self.counts.cached += 1
        found = self.project.graded(file.location, known.diagnostics)
        if not found:
            return FileResult(file, suppressed=known.suppressed)
        content = read_content(file.path, data)
        return FileResult(file, found, content.shown, suppressed=known.suppressed, cells=content.cells)

    def _is_thorough(self, file: File) -> bool:
        """Whether a file must parse even if no rule could find anything in it: it, or TL001, was asked for by name."""
        return file.named or self.project.named(file.location, "TL001")

    # ------------------------------------------------------------------ what is not

    def _checked(self, files: Sequence[_New]) -> list[FileResult]:
        if not files:
            return []
        jobs = [self._job(each) for each in files]
        answers = execute(jobs, [each.size for each in files], self.options.jobs, self._watch, self._codebase)
        results = list[FileResult]()
        try:
            for each in zip(files, jobs, answers, strict=True):
                results.append(self._finished(*each))
        except KeyboardInterrupt as interrupt:
            number = sum(result.after is not None for result in results) if self.options.write else 0
            if number:
                raise KeyboardInterrupt(f"{number} file{'s' * (number != 1)} had been fixed by then") from interrupt
            raise
        return results

    def _job(self, new: _New) -> Job:
        thorough = self._is_thorough(new.file)
        job = job_for(self.project, new.file, self._fixing, thorough=thorough, data=new.data)
        if new.accepted or self.options.is_promising:
            job = replace(job, accepted=new.accepted, is_promising=self.options.is_promising)
        return job

    def _finished(self, new: _New, job: Job, answer: JobResult) -> FileResult:
        file = new.file
        self.counts.checked += answer.was_checked
        self.notes.update(answer.notes)
        self._others.update(answer.rests_on)
        self.counts.skipped += not answer.was_checked and answer.seen is not None
        if answer.after is not None and self.options.write:
            try:
                writing.write(file.location, answer.after, answer.before)
            except writing.NotWritten as error:
                problem = Problem(file.path, f"not fixed: {error}")
                return FileResult(file, problems=(problem,), before=answer.before, unwritten=True)
        if new.data is None:
            self._remember(job, answer)
        return FileResult(
            file,
            self.project.graded(file.location, answer.diagnostics),
            answer.text,
            answer.problems,
            answer.fixed,
            answer.suppressed,
            answer.before,
            answer.after,
            answer.unwritten,
            self.project.graded(file.location, answer.accepted),
            answer.cells,
        )

    def _remember(self, job: Job, answer: JobResult) -> None:
        """Put into the cache what holds for what is in the file now."""
        if self._cache is None or answer.problems or answer.seen is None or job.accepted:
            return
        if answer.after is not None and not self.options.write:
            return
        known = Known(answer.diagnostics, answer.suppressed, answer.is_gated, job.thorough)
        seen = answer.seen if answer.after is None else Seen([], states.digest(answer.after))
        self._cache.put(job.location, self.project.variant(job.location), seen, known, answer.rests_on)

    def _with_findings_of_unwritten(self, results: list[FileResult]) -> list[FileResult]:
        """Where fixed text could not be written, the findings are still there: look for them once more."""
        unwritten = [_New(old.file, len(old.before), old.before) for old in results if old.unwritten]
        checker = Run(self.project, replace(self.options, fixing=Fixing.NONE), codebase=self._codebase)
        found = iter(checker._checked(unwritten))
        return [next(found)._replace(problems=old.problems) if old.unwritten else old for old in results]


def job_for(
    project: Project, file: File, fixing: Fixing, *, thorough: bool = False, data: bytes | str | None = None
) -> Job:
    """What is to be done about a file, as its project has it; for ``thorough`` and ``data`` see :class:`Job`."""
    from torchlint.session.worker import Job

    location = file.location
    return Job(
        file.path,
        project.codes(location),
        fixing,
        location,
        project.policy(location),
        project.target(location),
        thorough,
        data,
        project.limits(location),
        docs=project.docs(os.path.dirname(location)),
    )


class _New(NamedTuple):
    """A file of which nothing is known."""

    file: File
    size: int
    data: bytes | str | None = None
    """Its content, where that is not to be read from the file."""
    accepted: Mapping[FindingKey, int] = {}
    """The findings to be left alone."""


def execute(
    jobs: Sequence[Job],
    sizes: Sequence[int],
    processes: int,
    watch: OnDone,
    codebase: Callable[[], Codebase] | None = None,
) -> list[JobResult]:
    """Do jobs, in this process or, where it is worth it, in several; answers in the order of the jobs.

    ``codebase`` gives what is known of other files in this process, if that is not to begin with nothing.
    """
    from torchlint.session.worker import answer, known_codebase

    answers: dict[int, JobResult] = {}

    ready = 0

    def done(more: int) -> None:
        nonlocal ready
        ready += more
        watch(ready, len(jobs))

    processes = min(processes, len(jobs))
    if processes > 1 and sum(sizes) >= WORTH_A_POOL:
        worth, preload = _begun(jobs, sizes, answers)
        done(len(answers))
        rest = [number for number in range(len(jobs)) if number not in answers]
        if worth:
            with contextlib.suppress(OSError):  # no more processes for us: do it here
                from torchlint.session import pool

                found = pool.answers(
                    [jobs[n] for n in rest], [sizes[n] for n in rest], processes, done, preload=preload
                )
                answers |= zip(rest, found, strict=True)
    rest = [number for number in range(len(jobs)) if number not in answers]

    def here() -> None:
        known = codebase or known_codebase()
        for number in rest:
            answers[number] = answer(jobs[number], known)
            done(1)

    if rest:
        with_big_stack(here)
    return [answers[number] for number in range(len(jobs))]


def _begun(jobs: Sequence[Job], sizes: Sequence[int], answers: dict[int, JobResult]) -> tuple[bool, bool]:
    """Open files, the largest first, until it is clear that processes are worth starting, and that they will parse.

    Files that turn out to be of no interest are answered thereby.
    """
    from torchlint.session.worker import Opened, open_

    read = to_parse = 0
    for number in sorted(range(len(jobs)), key=lambda number: -sizes[number]):
        opened = open_(jobs[number])
        read += sizes[number]
        if isinstance(opened, Opened):
            to_parse += sizes[number]
        else:
            answers[number] = opened
        if to_parse >= WORTH_A_POOL or read >= WORTH_GATING_APART:
            return True, to_parse > 0
    return False, to_parse > 0
