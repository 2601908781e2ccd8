"""Many files in several processes.

A pool of our own, for a process that dies must not cost more than the file it was at: ``concurrent.futures`` gives up
all that is under way, and cannot say whose fault it was.
"""

from __future__ import annotations

import contextlib
import gc
import multiprocessing
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from multiprocessing.connection import Connection, wait
from multiprocessing.context import BaseContext
from multiprocessing.process import BaseProcess
from typing import cast

from torchlint.diagnostic import Problem
from torchlint.session.batches import Batch, Batches
from torchlint.session.worker import Job, JobResult, answer, known_codebase
from torchlint.system import ending
from torchlint.system.crash import described
from torchlint.system.stack import look_for_garbage_rarely, with_big_stack

MOST_PROCESSES = 60 if sys.platform == "win32" else 1_000
"""Windows cannot wait for more than 63 at a time."""

_PR_SET_PDEATHSIG = 1
"""Of Linux's ``prctl``: the signal that a process gets when the one that started it ends."""


def answers(
    jobs: Sequence[Job], sizes: Sequence[int], count: int, done: Callable[[int], None], *, preload: bool
) -> list[JobResult]:
    """Do jobs in ``count`` processes, neighbours by the same; answers in the order of the jobs.

    ``preload``: whether something will have to be parsed for sure.
    """
    context = _context()
    if preload and context.get_start_method() == "fork":
        _preload(jobs)
    count = min(count, MOST_PROCESSES)
    waiting = Batches(sizes, count)
    found: dict[int, JobResult] = {}
    busy: dict[Connection, tuple[_Worker, int, Batch]] = {}
    workers: list[_Worker] = []

    def give(place: int, worker: _Worker | None) -> None:
        """Give the next jobs to this worker, or to a new one in its place."""
        if not waiting:
            if worker is not None:
                worker.stop()
            return
        numbers = waiting.next(place)
        if worker is None:
            worker = _Worker(context)
            workers.append(worker)
            worker.start()
        busy[worker.connection] = (worker, place, numbers)
        worker.send([jobs[number] for number in numbers])

    with ending.in_order(), _ended(workers):
        for place in range(count):
            give(place, None)
        while busy:
            for connection in wait(list(busy)):
                worker, place, numbers = busy.pop(cast("Connection", connection))
                received = worker.receive()
                if received is not None:
                    found.update(zip(numbers, received, strict=True))
                    done(len(numbers))
                elif len(numbers) == 1:
                    found[numbers[0]] = _died(jobs[numbers[0]], worker)
                    done(1)
                else:  # which of them was it?
                    waiting.one_by_one(place, numbers)
                give(place, worker if received is not None else None)
    return [found[number] for number in range(len(jobs))]


@contextlib.contextmanager
def _ended(workers: Sequence[_Worker]) -> Iterator[None]:
    """However this ends, no worker is left."""
    try:
        yield
    finally:
        for worker in workers:
            worker.kill()


def _preload(jobs: Sequence[Job]) -> None:
    """Import libcst and the rules once for all."""
    from torchlint.file.check import check_text

    codes = frozenset[str]().union(*{job.codes for job in jobs})
    with_big_stack(lambda: check_text("", "", codes))


def _context() -> BaseContext:
    """Fork where that is safe: it shares what is already imported."""
    safe = sys.platform == "linux" and threading.active_count() == 1
    return multiprocessing.get_context("fork" if safe else "spawn")


def _died(job: Job, worker: _Worker) -> JobResult:
    return JobResult(problems=(Problem(job.path, f"the process checking it died ({worker.end()})"),))


class _Worker:
    """A process that does one batch of jobs after the other."""

    def __init__(self, context: BaseContext) -> None:
        self._is_forked = context.get_start_method() == "fork"
        self.connection, self._theirs = context.Pipe()
        ends = (self._theirs, self.connection)
        self._last_words = ""
        self.process: BaseProcess = context.Process(target=_serve, args=ends, daemon=True)  # type: ignore[attr-defined]

    def start(self) -> None:
        """Let it begin."""
        with ending.later(), contextlib.nullcontext() if self._is_forked else _away_from_the_tree():
            self.process.start()  # interrupts wait until it ignores them itself
        self._theirs.close()  # so that its death is our end of file

    def send(self, jobs: list[Job]) -> None:
        with contextlib.suppress(OSError):  # it is dead, which receive() will notice
            self.connection.send(jobs)

    def receive(self) -> list[JobResult] | None:
        """The answers to the jobs it has; None if it died of one."""
        try:
            received: list[JobResult] | str = self.connection.recv()
        except (EOFError, OSError):
            return None
        if isinstance(received, str):
            self._last_words = received
            return None
        return received

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
        if self._last_words:
            return self._last_words
        code = self.process.exitcode or 0
        return signal.Signals(-code).name if code < 0 else f"exit code {code}"


@contextlib.contextmanager
def _away_from_the_tree() -> Iterator[None]:
    """A new interpreter looks for its modules in the working directory first, which may be a tree that is checked.

    A worker stays there: what it is given are absolute paths.
    """
    here = os.getcwd()
    os.chdir(os.path.dirname(os.__file__))
    try:
        yield
    finally:
        os.chdir(here)


def _serve(connection: Connection, theirs: Connection) -> None:
    """The life of a worker process."""
    ending.at_once()
    _end_with_parent()
    theirs.close()  # so that the parent's death is our end of file
    gc.freeze()
    look_for_garbage_rarely()
    try:
        with_big_stack(lambda: _answer(connection))
    except Exception as error:  # not about a file: there is no memory left, or the like
        with contextlib.suppress(Exception):
            connection.send(described(error))


def _end_with_parent() -> None:
    """End this process when the one that started it has ended, however that was, and whatever this one is doing."""
    parent = multiprocessing.parent_process()
    if parent is None:
        return
    if sys.platform == "linux":
        import ctypes

        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, int(signal.SIGKILL))  # even while native code is at work
        if os.getppid() != parent.pid:  # it was quicker
            os._exit(1)
    else:
        threading.Thread(target=_end_after, args=(parent,), daemon=True).start()


def _end_after(parent: BaseProcess) -> None:
    parent.join()
    os._exit(1)


def _answer(connection: Connection) -> None:
    codebase = known_codebase()
    with contextlib.suppress(EOFError, OSError):
        while (jobs := connection.recv()) is not None:
            connection.send([answer(job, codebase) for job in jobs])
