"""The way in: what must be quick or must not fail happens here, the commands are in :mod:`torchlint.cli.commands`."""

from __future__ import annotations

import contextlib
import errno
import io
import os
import sys
from typing import TYPE_CHECKING, NoReturn

from torchlint import __version__
from torchlint.cli.exit_codes import INCOMPLETE, USAGE
from torchlint.system.stack import look_for_garbage_rarely

if TYPE_CHECKING:
    import click

INTERRUPTED = 130
BROKEN_PIPE = 141
"""What the shell reports for a process that SIGINT or SIGPIPE ended."""

_NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
"""What an output fails with that goes to a full disk."""

VERBOSE = ("-v", "-qv", "-vq", "--verbose")
"""Known here, for what fails may be the reading of options."""


def main() -> NoReturn:
    """Run the command line and end the process."""
    look_for_garbage_rarely()
    _leave(run())


def run() -> int:
    """Run the command line; the exit code."""
    if sys.argv[1:] in (["--version"], ["-V"]):  # before click is imported: tools ask for it all the time
        print(f"torchlint {__version__}")
        return 0
    try:
        _open_streams()
        code = _invoke()
        sys.stdout.flush()
    except KeyboardInterrupt as interrupt:
        if interrupt.args:
            print(f"interrupted: {interrupt}", file=sys.stderr)
        return INTERRUPTED
    except BrokenPipeError:
        _discard_stdout()
        return BROKEN_PIPE
    except FileNotFoundError as error:
        if _is_somewhere():
            _tell_of(error)
            return INCOMPLETE
        return _wrong("the working directory does not exist any more")
    except BaseException as error:  # a panic of libcst's parser is no `Exception`
        if isinstance(error, OSError) and error.errno in _NO_ROOM and error.filename is None:  # a stream has no name
            _discard_stdout()
            _wrong(f"the output could not be written: {error.strerror}")
            return INCOMPLETE
        _tell_of(error)
        return INCOMPLETE
    return code


def _open_streams() -> None:
    """Make sure that something can be written, whatever the program was started with."""
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None:  # it was closed
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115
        elif hasattr(stream, "reconfigure"):  # a name or a message must not fail for the terminal's encoding
            stream.reconfigure(errors="backslashreplace")
    if hasattr(sys.stdin, "reconfigure"):  # what is typed may be no text, and is no answer then
        sys.stdin.reconfigure(errors="replace")


def _invoke() -> int:
    import click

    from torchlint.cli.commands import COMPLETE, cli
    from torchlint.system import layers

    if unknown := layers.unknown():
        return _wrong(f"{layers.VARIABLE}: no such layer: {', '.join(unknown)} (there are {', '.join(layers.Layer)})")
    if COMPLETE in os.environ:
        return _complete(cli, os.environ[COMPLETE])
    try:  # not by way of `cli.main()`, which has ideas of its own about interrupts and broken pipes
        with cli.make_context("torchlint", sys.argv[1:]) as context:
            return int(cli.invoke(context) or 0)
    except click.exceptions.Exit as exit_:
        return exit_.exit_code
    except click.ClickException as error:
        _show(error)
        return error.exit_code


def _complete(cli: click.Command, instruction: str) -> int:
    """What a shell asks for: a script that has words completed, or the words."""
    from click.shell_completion import shell_complete

    from torchlint.cli.commands import COMPLETE

    if instruction == "bash_complete":
        _join_values()
    if shell_complete(cli, {}, "torchlint", COMPLETE, instruction) == 0:
        return 0
    return _wrong(f"{COMPLETE} must be bash_source, zsh_source or fish_source")


def _join_values() -> None:
    """Take `--select = TL1` as `--select TL1`: bash makes three words of `--select=TL1`, and completes the last one."""
    import shlex

    from click.shell_completion import split_arg_string

    words = split_arg_string(os.environ.get("COMP_WORDS", ""))
    at = int(os.environ.get("COMP_CWORD", "0"))
    os.environ["COMP_WORDS"] = shlex.join(word for word in words if word != "=")
    os.environ["COMP_CWORD"] = str(at - words[:at].count("="))


def _is_somewhere() -> bool:
    """Whether there is a working directory: it may have been removed, before or while something was checked in it."""
    try:
        os.getcwd()
    except OSError:
        return False
    return True


def _wrong(message: str) -> int:
    """Say that something in the environment is not what it may be."""
    from torchlint.cli.report.terminal import printable

    sys.stderr.write(f"error: {printable(message)}\n")
    return USAGE


def _show(error: click.ClickException) -> None:
    """What click says of bad usage, which repeats what was given."""
    from torchlint.cli.report.terminal import printable

    shown = io.StringIO()
    error.show(shown)
    sys.stderr.writelines(f"{printable(line)}\n" for line in shown.getvalue().split("\n")[:-1])


def _tell_of(error: BaseException) -> None:
    """Say what to report of an exception that nobody expected."""
    with contextlib.suppress(Exception):  # there may be no memory left, or nobody to tell
        from torchlint.cli.report.terminal import printable
        from torchlint.system.crash import described, traceback_of

        if any(argument in VERBOSE for argument in sys.argv[1:]):
            sys.stderr.writelines(f"{printable(line)}\n" for line in traceback_of(error).splitlines())
        sys.stderr.write(f"error: {printable(described(error))}\n")


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
