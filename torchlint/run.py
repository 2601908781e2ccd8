"""Many files: read, gate, look up, check (in this process or in several), write back.

The order of results is the order of the files given, however the work was done.
"""

from __future__ import annotations

import contextlib
import gc
import signal
import sys
import threading
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeVar, cast

from torchlint import source
from torchlint.cache import Cache
from torchlint.config import OWN, Project
from torchlint.diagnostic import AS_RULES_SAY, Diagnostic, Policy, Position, Problem
from torchlint.engine import TOO_DEEP, Fixing, Outcome, can_match, check_text, syntax_error
from torchlint.files import File
from torchlint.suppress import mentioned
from torchlint.target import ANY, Target

if TYPE_CHECKING:
    from multiprocessing.connection import Connection
    from multiprocessing.context import BaseContext
    from multiprocessing.process import BaseProcess

    from torchlint.model.codebase import Codebase

T = TypeVar("T")

STACK_SIZES = tuple(megabytes << 20 for megabytes in (512, 256, 64, 16))
"""libcst's parser recurses on the C stack. The largest the system grants is taken; untouched pages cost nothing."""

RECURSION_LIMIT = 20_000

WORTH_A_POOL = 200_000
"""So many bytes to parse (a third of a second) justify starting processes."""


@dataclass(frozen=True, slots=True)
class Options:
    """How to go about it."""

    fixing: Fixing = Fixing.NONE
    write: bool = True
    """Whether fixed text goes to the files (``--diff`` only wants to know it)."""
    jobs: int = 1
    cache_directory: str | None = None


@dataclass(frozen=True, slots=True)
class Result:
    """What became of one file."""

    file: File
    diagnostics: tuple[Diagnostic, ...] = ()
    text: str = ""
    """The text that the diagnostics speak of (left empty where there are none)."""
    problems: tuple[Problem, ...] = ()
    fixed: tuple[tuple[str, int], ...] = ()
    suppressed: int = 0
    before: bytes = b""
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


@dataclass(frozen=True, slots=True)
class Job:
    """One text to check; what a worker process is sent."""

    text: str
    path: str
    codes: frozenset[str]
    fixing: Fixing = Fixing.NONE
    location: str | None = None
    """Where the file is: what it imports is looked for around it."""
    policy: Policy = AS_RULES_SAY
    target: Target = ANY
    """The versions of torch it is written for."""


@dataclass(frozen=True, slots=True)
class _Task:
    """One file on its way."""

    file: File
    data: bytes
    source: source.Source
    codes: frozenset[str]
    policy: Policy
    target: Target

    def job(self, fixing: Fixing) -> Job:
        return Job(self.source.text, self.file.path, self.codes, fixing, self.file.location, self.policy, self.target)


class Run:
    """One run over some files."""

    def __init__(self, project: Project, options: Options = Options()) -> None:
        self.project, self.options = project, options
        self.counts = Counts()
        self._cache = Cache(options.cache_directory) if options.cache_directory else None

    def files(self, files: Iterable[File]) -> list[Result]:
        """Check files, and fix them if that is wanted."""
        return self._run([self._read(file) for file in files])

    def text(self, file: File, data: bytes) -> Result:
        """Check what was read from standard input as if it were a file; nothing is written."""
        self.options = replace(self.options, write=False)
        return self._run([self._prepare(file, data)])[0]

    def _run(self, prepared: Sequence[Result | _Task]) -> list[Result]:
        tasks = [task for task in prepared if isinstance(task, _Task)]
        outcomes = execute([task.job(self.options.fixing) for task in tasks], self.options.jobs)
        self.counts.checked += len(tasks)
        finished = map(self._finish, tasks, outcomes)
        results = [next(finished) if isinstance(item, _Task) else item for item in prepared]
        return self._with_findings_of_unwritten(results)

    def _read(self, file: File) -> Result | _Task:
        if file.path.endswith(".ipynb"):
            return Result(file, problems=(Problem(file.path, "notebooks are not supported yet"),))
        try:
            with open(file.location, "rb") as handle:
                data = handle.read()
        except OSError as error:
            return Result(file, problems=(Problem(file.path, error.strerror or str(error)),))
        return self._prepare(file, data)

    def _prepare(self, file: File, data: bytes) -> Result | _Task:
        """Decide whether a file has to be checked, or its result is already known."""
        codes = self.project.codes(file.location)
        try:
            decoded = source.decode(data)
        except source.Undecodable as error:
            found = (_unreadable(error),) if "TL003" in codes else ()
            return Result(file, found, source.decode_leniently(data), before=data)
        location = file.location
        task = _Task(file, data, decoded, codes, self.project.policy(location), self.project.target(location))
        if not self._needs_check(task):
            self.counts.skipped += 1
            return Result(file, before=data)
        return self._remembered(task) or task

    def _needs_check(self, task: _Task) -> bool:
        """Whether there may be anything to report.

        That a file parses is verified where a rule looks at it, where it was named, or where TL001 was asked for; not
        for all the files that have nothing to do with torch.
        """
        if can_match(task.data, task.codes):
            return True
        if "TL002" in task.codes and mentioned(task.source.text):
            return True
        if "TL001" not in task.codes:
            return False
        if not task.file.named and not self.project.named(task.file.location, "TL001"):
            return False
        return syntax_error(task.source.text, task.file.path) is not None

    def _key(self, task: _Task, data: bytes) -> str:
        assert self._cache is not None
        return self._cache.key(data, task.codes, str(task.target), task.file.location, task.policy.key)

    def _remembered(self, task: _Task) -> Result | None:
        """The cached result, unless there is something in it to fix."""
        entry = self._cache.get(self._key(task, task.data)) if self._cache else None
        if entry is None:
            return None
        diagnostics, suppressed = entry
        if any(found.fix is not None and self.options.fixing.applies(found.fix) for found in diagnostics):
            return None
        self.counts.cached += 1
        text = task.source.text if diagnostics else ""
        return Result(task.file, diagnostics, text, suppressed=suppressed, before=task.data)

    def _finish(self, task: _Task, outcome: Outcome) -> Result:
        diagnostics = tuple(found for found in outcome.diagnostics if found.code in task.codes)
        after = None
        try:
            if outcome.text != task.source.text:
                after = _encoded(task, outcome.text)
                if self.options.write:
                    source.write(task.file.location, after, task.data)
        except source.NotWritten as error:
            problem = Problem(task.file.path, f"not fixed: {error}")
            return Result(task.file, problems=(problem,), before=task.data, unwritten=True)
        if self._cache and not outcome.problems:
            key = self._key(task, task.data if after is None else after)
            self._cache.put(key, diagnostics, outcome.suppressed, outcome.rests_on)
        text = outcome.text if diagnostics else ""
        return Result(
            task.file, diagnostics, text, outcome.problems, outcome.fixed, outcome.suppressed, task.data, after
        )

    def _with_findings_of_unwritten(self, results: list[Result]) -> list[Result]:
        """Where fixed text could not be written, the findings are still there: look for them once more."""
        checker = Run(self.project, replace(self.options, fixing=Fixing.NONE))
        unwritten = [result for result in results if result.unwritten]
        found = iter(checker._run([checker._prepare(old.file, old.before) for old in unwritten]) if unwritten else [])
        return [replace(next(found), problems=old.problems) if old.unwritten else old for old in results]


def _unreadable(error: source.Undecodable) -> Diagnostic:
    start, end = Position(error.row, error.column), Position(error.row, error.column + 1)
    return Diagnostic("TL003", OWN["TL003"], error.reason, start, end, (error.row, error.row), severity="error")


def _encoded(task: _Task, text: str) -> bytes:
    try:
        if task.source.encode(task.source.text) != task.data:  # some old encodings write one character in several ways
            raise source.NotWritten(f"{task.source.encoding} would not give the same bytes back")
        return task.source.encode(text)
    except UnicodeEncodeError as error:
        character = error.object[error.start]
        raise source.NotWritten(f"{character!r} cannot be written in {task.source.encoding}") from None


def execute(jobs: Sequence[Job], processes: int) -> list[Outcome]:
    """Check texts, in this process or, where it is worth it, in several; outcomes in the order of the jobs."""
    if not jobs:
        return []
    if min(processes, len(jobs)) > 1 and sum(len(job.text) for job in jobs) >= WORTH_A_POOL:
        with contextlib.suppress(OSError):  # no more processes for us: do it here
            return _in_processes(jobs, min(processes, len(jobs)))
    return with_big_stack(lambda: _checked(jobs))


def _checked(jobs: Iterable[Job]) -> list[Outcome]:
    from torchlint.model.codebase import Codebase

    codebase = Codebase()
    return [_check(job, codebase) for job in jobs]


def _check(job: Job, codebase: Codebase) -> Outcome:
    try:
        return check_text(
            job.text,
            job.path,
            job.codes,
            job.fixing,
            location=job.location,
            codebase=codebase,
            policy=job.policy,
            target=job.target,
        )
    except RecursionError:
        return Outcome((), job.text, problems=(Problem(job.path, TOO_DEEP),))
    except Exception as error:  # whatever it is, it must not cost more than this file
        message = f"could not be checked: {type(error).__name__}: {error}"
        return Outcome((), job.text, problems=(Problem(job.path, message),))


def with_big_stack(function: Callable[[], T]) -> T:
    """Call a function in a thread that has room for deep recursion."""
    results: list[T] = []
    errors: list[BaseException] = []

    def body() -> None:
        try:
            results.append(function())
        except BaseException as error:
            errors.append(error)

    recursion_limit, thresholds = sys.getrecursionlimit(), gc.get_threshold()
    try:
        sys.setrecursionlimit(max(recursion_limit, RECURSION_LIMIT))
        gc.set_threshold(100_000, *thresholds[1:])  # syntax trees are large, and hold no garbage
        _started(body).join()
    finally:
        sys.setrecursionlimit(recursion_limit)
        gc.set_threshold(*thresholds)
    if errors:
        raise errors[0]
    return results[0]


def _started(body: Callable[[], None]) -> threading.Thread:
    """A running thread with as much stack as the system grants."""
    usual = threading.stack_size()
    try:
        for size in STACK_SIZES:
            thread = threading.Thread(target=body, daemon=True)
            try:
                threading.stack_size(size)
                thread.start()
            except (ValueError, RuntimeError):  # not a size for this system, or more than it can give now
                continue
            return thread
    finally:
        threading.stack_size(usual)
    thread = threading.Thread(target=body, daemon=True)
    thread.start()
    return thread


def _in_processes(jobs: Sequence[Job], count: int) -> list[Outcome]:
    """Hand out the jobs one by one, the largest first.

    A pool of our own, for a process that dies must not cost more than the file it was at: ``concurrent.futures`` gives
    up all that is under way, and cannot say whose fault it was.
    """
    from multiprocessing.connection import wait

    context = _context()
    if context.get_start_method() == "fork":
        codes = frozenset[str]().union(*(job.codes for job in jobs))
        with_big_stack(lambda: check_text("", "", codes))  # imports libcst and the rules once for all
    waiting = iter(sorted(range(len(jobs)), key=lambda number: -len(jobs[number].text)))
    outcomes: dict[int, Outcome] = {}
    busy: dict[Connection, tuple[_Worker, int]] = {}
    workers: list[_Worker] = []

    def give(worker: _Worker | None) -> None:
        """Give the next job to this worker, or to a new one."""
        number = next(waiting, None)
        if number is None:
            if worker is not None:
                worker.stop()
            return
        if worker is None:
            worker = _Worker(context)
            workers.append(worker)
            worker.start()
        busy[worker.connection] = (worker, number)
        worker.send(jobs[number])

    try:
        for _ in range(count):
            give(None)
        while busy:
            for connection in wait(list(busy)):
                worker, number = busy.pop(cast("Connection", connection))
                outcome = worker.receive()
                outcomes[number] = outcome or _died(jobs[number], worker)
                give(worker if outcome else None)
    finally:
        for worker in workers:
            worker.kill()
    return [outcomes[number] for number in range(len(jobs))]


def _context() -> BaseContext:
    """Fork where that is safe: it shares what is already imported."""
    import multiprocessing

    safe = sys.platform == "linux" and threading.active_count() == 1
    return multiprocessing.get_context("fork" if safe else "spawn")


def _died(job: Job, worker: _Worker) -> Outcome:
    return Outcome((), job.text, problems=(Problem(job.path, f"the process checking it died ({worker.end()})"),))


class _Worker:
    """A process that checks one text after the other."""

    def __init__(self, context: BaseContext) -> None:
        self.connection, self._theirs = context.Pipe()
        ends = (self._theirs, self.connection)
        self.process: BaseProcess = context.Process(target=_serve, args=ends, daemon=True)  # type: ignore[attr-defined]

    def start(self) -> None:
        """Let it begin."""
        with source.uninterrupted():  # until it ignores interrupts itself
            self.process.start()
        self._theirs.close()  # so that its death is our end of file

    def send(self, job: Job) -> None:
        with contextlib.suppress(OSError):  # it is dead, which receive() will notice
            self.connection.send(job)

    def receive(self) -> Outcome | None:
        """The outcome of the job it has; None if it died of it."""
        try:
            outcome: Outcome = self.connection.recv()
        except (EOFError, OSError):
            return None
        return outcome

    def stop(self) -> None:
        """Let it end by itself."""
        self.connection.send(None)
        self.process.join()
        self.connection.close()

    def kill(self) -> None:
        """End it, if it has not ended."""
        if self.process.pid is not None:
            self.process.kill()
            self.process.join()
        self.connection.close()

    def end(self) -> str:
        """What it died of."""
        self.process.join()
        code = self.process.exitcode or 0
        return signal.Signals(-code).name if code < 0 else f"exit code {code}"


def _serve(connection: Connection, theirs: Connection) -> None:
    """The life of a worker process."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent gets it too, and ends us
    source.interruptible()
    theirs.close()  # so that the parent's death is our end of file
    gc.freeze()
    with_big_stack(lambda: _answer(connection))


def _answer(connection: Connection) -> None:
    from torchlint.model.codebase import Codebase

    codebase = Codebase()
    with contextlib.suppress(EOFError, OSError):
        while (job := connection.recv()) is not None:
            connection.send(_check(job, codebase))
