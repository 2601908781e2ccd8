"""The program in a terminal."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path


def in_terminal(columns: int, folder: Path, *arguments: str) -> list[str]:
    """What a terminal of some width is given."""
    import pty
    import struct
    import termios
    from fcntl import ioctl

    ours, theirs = pty.openpty()
    ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 40, columns, 0, 0))
    environment = {**os.environ, "NO_COLOR": "1", "PYTHONPATH": str(Path(__file__).parents[1])}
    environment.pop("COLUMNS", None)
    command = [sys.executable, "-m", "torchlint", "check", "--no-cache", *arguments]
    with subprocess.Popen(command, cwd=folder, stdout=theirs, stderr=subprocess.DEVNULL, env=environment):
        os.close(theirs)
        data = b""
        while True:
            try:
                more = os.read(ours, 1 << 16)
            except OSError:  # how Linux says that the other end is closed
                break
            if not more:
                break
            data += more
    os.close(ours)
    return data.decode().splitlines()
