"""How a process ends that somebody wants to end: what it has begun is taken back first, and its workers end with it.

SIGINT is an exception in Python already. SIGTERM and SIGHUP end a process where it stands, which is right nearly
everywhere: nothing is half done. Where something is, they become an exception as well, until it is taken back.
"""

from __future__ import annotations

import contextlib
import os
import signal
import threading
from collections.abc import Iterator
from types import FrameType

_NAMES = ("SIGTERM", "SIGHUP")
_KILLED = 128
"""What a shell adds to the number of the signal that ended a process."""


class _Ended(BaseException):
    """A signal that ends the process has come."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.number = number


@contextlib.contextmanager
def in_order() -> Iterator[None]:
    """What is begun here is taken back by its own ``finally`` before SIGTERM or SIGHUP ends the process.

    Only in the main thread, which gets the signals, and not for a signal that somebody else has seen to, as ``nohup``.
    """
    numbers = [getattr(signal, name) for name in _NAMES if hasattr(signal, name)]
    ours = [number for number in numbers if signal.getsignal(number) is signal.SIG_DFL]
    if threading.current_thread() is not threading.main_thread():
        ours = []

    def end(number: int, frame: FrameType | None) -> None:
        for each in ours:  # once is enough: what is taken back must not be left in the middle either
            signal.signal(each, signal.SIG_IGN)
        raise _Ended(number)

    try:
        try:
            for number in ours:
                signal.signal(number, end)
            yield
        finally:
            for number in ours:
                signal.signal(number, signal.SIG_DFL)
    except _Ended as ended:
        os.kill(os.getpid(), ended.number)
        os._exit(_KILLED + ended.number)  # the first process of a container is not ended by a signal


@contextlib.contextmanager
def later() -> Iterator[None]:
    """Signals that end a run wait until this is over, where the system knows how."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, _ending())
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def at_once() -> None:
    """In a process that another one has just started and ends: every signal does what it does to any process.

    But SIGINT, which a terminal sends to both.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    for name in _NAMES:
        if hasattr(signal, name) and callable(signal.getsignal(getattr(signal, name))):
            signal.signal(getattr(signal, name), signal.SIG_DFL)
    if hasattr(signal, "pthread_sigmask"):
        signal.pthread_sigmask(signal.SIG_UNBLOCK, _ending())


def _ending() -> set[signal.Signals]:
    return {signal.SIGINT, *(getattr(signal, name) for name in _NAMES)}
