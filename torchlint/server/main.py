"""``torchlint server``: begins with the client's first message, and ends with its last."""

from __future__ import annotations

import logging
import os
import sys
from typing import BinaryIO, cast

from torchlint import DOCS
from torchlint.server.features import register
from torchlint.server.server import Server
from torchlint.system.stack import look_for_garbage_as_usual

log = logging.getLogger(__name__)

LONGEST = 1 << 30
"""Bytes of a message."""


def serve(*, verbose: bool = False) -> int:
    """Speak with a client over standard input and output until it ends that.

    The exit code: 0 if the client has said that it will ask no more, 1 if it was just gone.
    """
    logging.basicConfig(stream=sys.stderr, level=logging.INFO if verbose else logging.WARNING, format="%(message)s")
    if not verbose:  # what it says of a message that makes no sense is a traceback of its own code
        logging.getLogger("pygls").setLevel(logging.CRITICAL)
    look_for_garbage_as_usual()
    server = Server()
    register(server)
    if sys.stdin.isatty():
        sys.stderr.write(f"torchlint server is started by editors and reads their messages; see {DOCS}/editors.md\n")
    try:
        server.start_io(cast("BinaryIO", _Input(sys.stdin.buffer)), _own_output())
    finally:
        server.desk.end()
    return 0 if server.is_over else 1


class _Input:
    """Standard input for messages of a length that memory allows."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream
        self.readline = stream.readline

    def read(self, size: int) -> bytes:
        """The next bytes; none, which ends the conversation, where nobody can mean to send so many."""
        if size > LONGEST:
            log.error("a message of %d bytes is announced: the conversation ends", size)
            return b""
        return self._stream.read(size)


def _own_output() -> BinaryIO:
    """Standard output for messages alone: what rules of other packages print goes to standard error."""
    output = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    return output
