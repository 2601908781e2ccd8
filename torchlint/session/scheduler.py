"""Many files: look up, read, gate, check (in this process or in several), write back.

The order of results is the order of the files given, however the work was done.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

from torchlint.diagnostic import Diagnostic, Fixing, Problem
from torchlint.file.text import source
from torchlint.project.discovery import File
from torchlint.project.project import Project
from torchlint.session.cache import Cache, Known, Seen, stamp
from torchlint.session.cachedir import Unusable
from torchlint.system import states, writing
from torchlint.system.reading import read_with_status
from torchlint.system.stack import with_big_stack

if TYPE_CHECKING:
    from torchlint.session.worker import Job, JobResult

WORTH_A_POOL = 200_000
"""So many bytes to parse (a third of a second) justify starting processes."""

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
        self, project: Project, options: RunOptions = RunOptions(), watch: OnDone = lambda done, all_: None
    ) -> None:
        self.project, self.options = project, options
        self.counts = Counts()
        self.unsaved: str | None = None
        """Why the cache could not be written."""
        self.refused: str | None = None
        """Why there must not be a cache where it was wanted."""
        self.notes: set[str] = set()
        """What was not read of what files import, for ``--verbose``."""
        self._watch = watch
        self._cache: Cache | None = None

    def files(self, files: Iterable[File]) -> list[FileResult]:
        """Check files, and fix them if that is wanted."""
        if self.options.cache_directory is not None:
            try:
                self._cache = Cache(self.options.cache_directory, self.project.identity)
            except Unusable as error:
                self.refused = str(error)
        found = [self._looked_up(file) for file in files]
        new = iter(self._checked([each for each in found if isinstance(each, _New)]))
        results = self._with_findings_of_unwritten([next(new) if isinstance(each, _New) else each for each in found])
        if self._cache is not None:
            self.unsaved = self._cache.save()
        return results

    def text(self, file: File, data: bytes) -> FileResult:
        """Check what was read from standard input as if it were a file; nothing is written."""
        self.options = replace(self.options, write=False)
        return self._checked([_New(file, len(data), data)])[0]

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
        if any(found.fix is not None and self.options.fixing.applies(found.fix) for found in known.diagnostics):
            return None
        self.counts.cached += 1
        text = source.decode(data).text if known.diagnostics else ""
        return FileResult(file, known.diagnostics, text, suppressed=known.suppressed)

    def _is_thorough(self, file: File) -> bool:
        """Whether a file must parse even if no rule could find anything in it: it, or TL001, was asked for by name."""
        return file.named or self.project.named(file.location, "TL001")

    # ------------------------------------------------------------------ what is not

    def _checked(self, files: Sequence[_New]) -> list[FileResult]:
        if not files:
            return []
        jobs = [self._job(each) for each in files]
        answers = execute(jobs, [each.size for each in files], self.options.jobs, self._watch)
        return [self._finished(*each) for each in zip(files, jobs, answers, strict=True)]

    def _job(self, new: _New) -> Job:
        thorough = self._is_thorough(new.file)
        return job_for(self.project, new.file, self.options.fixing, thorough=thorough, data=new.data)

    def _finished(self, new: _New, job: Job, answer: JobResult) -> FileResult:
        file = new.file
        self.counts.checked += answer.was_checked
        self.notes.update(answer.notes)
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
            answer.diagnostics,
            answer.text,
            answer.problems,
            answer.fixed,
            answer.suppressed,
            answer.before,
            answer.after,
            answer.unwritten,
        )

    def _remember(self, job: Job, answer: JobResult) -> None:
        """Put into the cache what holds for what is in the file now."""
        if self._cache is None or answer.problems or answer.seen is None:
            return
        if answer.after is not None and not self.options.write:
            return
        known = Known(answer.diagnostics, answer.suppressed, answer.is_gated, job.thorough)
        seen = answer.seen if answer.after is None else Seen([], states.digest(answer.after))
        self._cache.put(job.location, self.project.variant(job.location), seen, known, answer.rests_on)

    def _with_findings_of_unwritten(self, results: list[FileResult]) -> list[FileResult]:
        """Where fixed text could not be written, the findings are still there: look for them once more."""
        unwritten = [_New(old.file, len(old.before), old.before) for old in results if old.unwritten]
        checker = Run(self.project, replace(self.options, fixing=Fixing.NONE))
        found = iter(checker._checked(unwritten))
        return [next(found)._replace(problems=old.problems) if old.unwritten else old for old in results]


def job_for(project: Project, file: File, fixing: Fixing, *, thorough: bool = False, data: bytes | None = None) -> Job:
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
    )


class _New(NamedTuple):
    """A file of which nothing is known."""

    file: File
    size: int
    data: bytes | None = None
    """Its content, where that is not to be read from the file."""


def execute(jobs: Sequence[Job], sizes: Sequence[int], processes: int, watch: OnDone) -> list[JobResult]:
    """Do jobs, in this process or, where it is worth it, in several; answers in the order of the jobs."""
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
        codebase = known_codebase()
        for number in rest:
            answers[number] = answer(jobs[number], codebase)
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
