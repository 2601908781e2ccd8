"""A bar that says how far a long run is: on a terminal only, after a second, and gone when the run is over."""

from __future__ import annotations

import contextlib
import os
import time
from typing import TextIO

PATIENCE = 1.0
"""Seconds before it appears."""

PAUSE = 0.1
"""Seconds between two looks of it."""

WIDTH = 30


class Progress:
    """One bar. Where none is wanted it does nothing."""

    def __init__(self, stream: TextIO, wanted: bool = True) -> None:
        self._stream = stream
        self._wanted = wanted and _takes_one(stream)
        self._next = time.monotonic() + PATIENCE
        self._shown = 0
        """How long the line is that has to be wiped out."""

    def __call__(self, done: int, total: int) -> None:
        """So many of so many files are done."""
        if not self._wanted or time.monotonic() < self._next:
            return
        self._next = time.monotonic() + PAUSE
        self._draw(line(done, total))

    def end(self) -> None:
        """Take it away."""
        if self._shown:
            self._draw("")
            self._draw("")  # back to the beginning of the line

    def _draw(self, text: str) -> None:
        with contextlib.suppress(OSError, ValueError):  # a terminal that has gone away is no reason to stop
            self._stream.write(f"\r{text:<{self._shown}}")
            self._stream.flush()
        self._shown = len(text)


def line(done: int, total: int) -> str:
    """What is shown."""
    full = WIDTH * done // total
    return f"[{'#' * full}{'-' * (WIDTH - full)}] {done}/{total} files"


def _takes_one(stream: TextIO) -> bool:
    """Whether somebody is looking: at a terminal that can go back to the beginning of a line, and not in CI."""
    return stream.isatty() and os.environ.get("TERM") != "dumb" and not os.environ.get("CI")
