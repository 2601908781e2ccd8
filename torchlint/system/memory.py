"""Memory that a process is done with goes back to the system."""

from __future__ import annotations

import contextlib
import sys


def give_back() -> None:
    """Have the C library give back what is free, where it keeps that for later: glibc does, and for good.

    A process that goes on after a large file or project would otherwise look as if it still needed as much.
    """
    if sys.platform != "linux":
        return
    import ctypes

    with contextlib.suppress(OSError, AttributeError):  # there are others than glibc
        ctypes.CDLL(None).malloc_trim(0)
