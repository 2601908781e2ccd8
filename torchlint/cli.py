"""The way in: what must be quick or must not fail happens here, the commands are in :mod:`torchlint.commands`."""

from __future__ import annotations

import contextlib
import os
import sys
from typing import NoReturn

from torchlint import __version__

INTERRUPTED = 130
BROKEN_PIPE = 141
"""What the shell reports for a process that SIGINT or SIGPIPE ended."""


def main() -> NoReturn:
    """Run the command line and end the process."""
    _leave(run())


def run() -> int:
    """Run the command line; the exit code."""
    if sys.argv[1:] in (["--version"], ["-V"]):  # before click is imported: tools ask for it all the time
        print(f"torchlint {__version__}")
        return 0
    try:
        code = _invoke()
        sys.stdout.flush()
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:
        _discard_stdout()
        return BROKEN_PIPE
    return code


def _invoke() -> int:
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):  # a name or a message must not fail for the terminal's encoding
            stream.reconfigure(errors="backslashreplace")
    import click

    from torchlint.commands import cli

    try:  # not by way of `cli.main()`, which has ideas of its own about interrupts and broken pipes
        with cli.make_context("torchlint", sys.argv[1:]) as context:
            return int(cli.invoke(context) or 0)
    except click.exceptions.Exit as exit_:
        return exit_.exit_code
    except click.ClickException as error:
        error.show()
        return error.exit_code


def _leave(code: int) -> NoReturn:
    """End at once. For the interpreter to shut down takes up to a tenth of the time there is: it looks for garbage.

    And after an interrupt the thread with the large stack may be inside libcst's parser, and would not survive it:
    Python unwinds its stack, and native code aborts the process for it.
    """
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError, ValueError):
            stream.flush()
    os._exit(code)


def _discard_stdout() -> None:
    """What is left is for nobody: it must not be flushed into the broken pipe."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
