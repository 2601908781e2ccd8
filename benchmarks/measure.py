"""Run a command once and say what it cost: wall time, processor time, peak memory.

Wall time is from just before the process starts to its end. Processor time is user and system time of the process and
of all processes it started and waited for. Peak memory is the largest resident set that any one of these processes had
at any time: the system's own high-water mark (``ru_maxrss``), not a sample; processes are not added up, and pages that
two of them share count in both.

The system counts memory that a new process has of its parent before it runs its own program, so a command is started
by a small process of its own: this file, run as a program. That process has some 10 MB, and nothing less is seen.
"""

from __future__ import annotations

import os
import sys
import time

# Only what is cheap, for this is also the small process: the rest is imported where it is used.

LINUX_UNIT, MACOS_UNIT = 1024, 1


class Cost:
    """What one run cost, and how it ended."""

    def __init__(self, wall: float, processor: float, peak: int, code: int, others: float = 0.0) -> None:
        self.wall, self.processor, self.peak, self.code = wall, processor, peak, code
        """Seconds, seconds, bytes, exit code (negative: the signal that ended it)."""
        self.others = others
        """Processor time that all else on the machine took meanwhile; not known (0) but on Linux."""


class TookTooLong(Exception):
    """A run was stopped at its limit."""


def measure(
    command: list[str],
    output: str = os.devnull,
    errors: str = os.devnull,
    environment: dict[str, str] | None = None,
    folder: str | None = None,
    limit: float | None = None,
) -> Cost:
    """Run a command with its output in a file.

    Raises:
        TookTooLong: it was not done after ``limit`` seconds; it and all it started are ended.
        OSError: it cannot be run.
    """
    import signal
    import subprocess

    small = [sys.executable, "-I", "-S", os.path.abspath(__file__), output, errors, *command]
    process = subprocess.Popen(
        small, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, env=environment, cwd=folder, start_new_session=True
    )
    try:
        answer = process.communicate(timeout=limit)[0].decode()
    except BaseException as error:  # an interrupt must not leave them running, either
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        if isinstance(error, subprocess.TimeoutExpired):
            raise TookTooLong(f"not done after {limit:.0f} s") from None
        raise
    if process.returncode != 0:
        raise OSError(f"cannot run {command[0]}")
    wall, processor, peak, code, busy = answer.split()
    return Cost(float(wall), float(processor), int(peak), int(code), max(0.0, float(busy) - float(processor)))


def _run(output: str, errors: str, *command: str) -> None:
    """What the small process does."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC
    redirections = [(os.POSIX_SPAWN_OPEN, 1, output, flags, 0o644), (os.POSIX_SPAWN_OPEN, 2, errors, flags, 0o644)]
    busy, start = _busy(), time.perf_counter()
    process = os.posix_spawnp(command[0], command, os.environ, file_actions=redirections)
    _, status, usage = os.wait4(process, 0)
    wall = time.perf_counter() - start
    busy = _busy() - busy
    unit = MACOS_UNIT if sys.platform == "darwin" else LINUX_UNIT
    code = os.waitstatus_to_exitcode(status)
    print(wall, usage.ru_utime + usage.ru_stime, usage.ru_maxrss * unit, code, busy)


def _busy() -> float:
    """Processor time that was not idle since the machine started; 0 where the system does not tell."""
    try:
        with open("/proc/stat", encoding="ascii") as file:
            _, user, nice, system, _, _, *others = file.readline().split()[:9]
    except (OSError, ValueError):
        return 0.0
    return sum(map(int, (user, nice, system, *others))) / os.sysconf("SC_CLK_TCK")


if __name__ == "__main__":
    _run(*sys.argv[1:])
