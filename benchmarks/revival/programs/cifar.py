"""Classification of images."""

import io
import os

from drive import Program


def give_a_terminal() -> None:
    """The progress bar asks the terminal for its size."""
    os.popen = lambda *_: io.StringIO("24 80")  # type: ignore[assignment, return-value]


PROGRAM = Program("main.py", arguments="--lr 0.02", paths=["models"], steps=14, prepare=give_a_terminal)
