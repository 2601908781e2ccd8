"""Room for deep recursion: a thread with a large stack, and another one where a stack is used up.

What a file says can be nested as deep as its author likes: a function calls the next one, five thousand times. Each
question about one asks about the next, so no limit for recursion is deep enough. Python counts frames for each thread;
so a question that comes when much of that is used up goes on in a thread of its own, and nobody notices.
"""

from __future__ import annotations

import gc
import sys
import threading
from collections.abc import Callable
from types import FrameType
from typing import TypeVar

T = TypeVar("T")

STACK_SIZES = tuple(megabytes << 20 for megabytes in (512, 256, 64, 16))
"""libcst's parser recurses on the C stack. The largest the system grants is taken; untouched pages cost nothing."""

RECURSION_LIMIT = 20_000

COLLECT = (2_000_000, 5, 5)
"""When to look for garbage (``gc.set_threshold``). Trees are large and mostly in use, so looking costs much; what
refers to itself is taken apart when it is done with, so never to look takes no more memory. This is for what is not."""

_USUALLY = gc.get_threshold()

_USED = 0.4
"""The part of the frames Python grants that may be in use where a question begins; one needs less than the rest."""


class _Place(threading.local):
    """Where on its stack a thread was when :func:`deeper` was last called."""

    frame: FrameType | None = None
    depth: int = 0


_place = _Place()


def deeper(question: Callable[[], T]) -> T:
    """Ask a question inside of another one, in a new thread if there is not enough room left for it in this one."""
    frame: FrameType | None = sys._getframe()
    last, steps = _place.frame, 0
    while frame is not None and frame is not last:
        frame, steps = frame.f_back, steps + 1
    above = _place.frame, _place.depth
    depth = steps + (_place.depth if frame is not None else 0)
    if depth > sys.getrecursionlimit() * _USED:
        return with_stack(question)
    _place.frame, _place.depth = sys._getframe(), depth
    try:
        return question()
    finally:
        _place.frame, _place.depth = above


def with_big_stack(function: Callable[[], T]) -> T:
    """Call a function in a thread that has room for deep recursion."""
    recursion_limit, thresholds = sys.getrecursionlimit(), gc.get_threshold()
    try:
        sys.setrecursionlimit(max(recursion_limit, RECURSION_LIMIT))
        gc.set_threshold(*COLLECT)
        return with_stack(function)
    finally:
        sys.setrecursionlimit(recursion_limit)
        gc.set_threshold(*thresholds)


def look_for_garbage_rarely() -> None:
    """For a process that ends when its work is done: else it begins to look through all there is at that moment."""
    gc.set_threshold(*COLLECT)


def look_for_garbage_as_usual() -> None:
    """For a process that lives on: what its work leaves behind is looked for when that is over."""
    gc.set_threshold(*_USUALLY)


def with_stack(function: Callable[[], T]) -> T:
    """Call a function in a thread that has as much stack as the system grants."""
    results: list[T] = []
    errors: list[BaseException] = []

    def body() -> None:
        try:
            results.append(function())
        except BaseException as error:
            errors.append(error)

    _started(body).join()
    if errors:
        raise errors[0]
    return results[0]


def _started(body: Callable[[], None]) -> threading.Thread:
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
