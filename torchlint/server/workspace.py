"""What is open, what was found in it, and the one thread in which that is found out."""

from __future__ import annotations

import asyncio
import logging
import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from torchlint.diagnostic import Problem
from torchlint.project.selection import SettingsError
from torchlint.server.checked import Checked
from torchlint.server.documents import Documents, OpenDocument, Snapshot, snapshot
from torchlint.server.linter import EditorLinter
from torchlint.server.locations import location_of
from torchlint.server.options import EditorOptions
from torchlint.session.scheduler import FileResult
from torchlint.system.crash import INTENDED, described

T = TypeVar("T")

log = logging.getLogger(__name__)

_Key = tuple[int, int]
"""The revision of a document, and how often something was saved until then."""


class Workspace:
    """What a client has opened, with what is known of it."""

    def __init__(self, documents: Documents, tell: Callable[[str], None]) -> None:
        self.documents = documents
        self.options = EditorOptions()
        self.linter = EditorLinter(self.options)
        self.folder = os.getcwd()
        """Where files are going to be that were never saved."""
        self.epoch = 0
        """How often something was saved, so that all has to be looked at again."""
        self._tell = tell
        self._told: str | None = None
        self._logged: set[Problem] = set()
        self._thread = ThreadPoolExecutor(1, "torchlint")
        self._checks: dict[str, tuple[_Key, asyncio.Task[Checked]]] = {}

    def configure(self, given: EditorOptions) -> None:
        """Use other settings of the editor from now on."""
        self.options = given
        self.linter = EditorLinter(given)
        self.forget()

    def complain(self, message: str) -> None:
        """Tell the person at the editor, once."""
        if message != self._told:
            self._told = message
            self._tell(message)

    def forget(self) -> None:
        """Look again at settings and files: some may have changed."""
        self.epoch += 1
        self.linter.forget()

    def closed(self, uri: str) -> None:
        """Nobody asks about a document any more."""
        if (known := self._checks.pop(uri, None)) is not None:
            known[1].cancel()

    def snapshot(self, document: OpenDocument) -> Snapshot | None:
        """A document as it is now; None if it is none to check."""
        location = location_of(document.uri, self.folder)
        return snapshot(document, location) if location is not None else None

    async def checked(self, document: OpenDocument) -> Checked | None:
        """What is found in a document as it is now; None if it is none to check.

        One check is made of each version, however many ask for it.
        """
        key, known = (document.revision, self.epoch), self._checks.get(document.uri)
        if known is None or known[0] != key or known[1].cancelled():
            if known is not None:
                known[1].cancel()  # if it has not begun; it is not wanted any more
            now = self.snapshot(document)
            if now is None:
                return None
            known = self._checks[document.uri] = key, asyncio.create_task(self._check(now))
        return await asyncio.shield(known[1])

    async def fixed(self, now: Snapshot) -> FileResult | None:
        """A document after all fixes; None if that cannot be had."""
        return await self.in_thread(lambda: self.linter.fixed(now))

    async def in_thread(self, work: Callable[[], T]) -> T | None:
        """Do something that asks the linter. Whatever it raises is told, and costs no more than the answer."""
        try:
            return await asyncio.get_running_loop().run_in_executor(self._thread, work)
        except SettingsError as error:
            self.complain(f"torchlint: {error}")
        except INTENDED:
            raise
        except asyncio.CancelledError:
            raise
        except BaseException as error:  # a panic of libcst's parser is no `Exception`
            log.error("%s", described(error), exc_info=error)
        return None

    async def _check(self, now: Snapshot) -> Checked:
        result = await self.in_thread(lambda: self.linter.check(now))
        if result is None:
            return Checked(now, self.documents.encoding)
        for problem in {*result.problems} - self._logged:
            self._logged.add(problem)
            log.warning("%s", problem)
        return Checked(now, self.documents.encoding, result.diagnostics, result.cells, result.problems)

    def end(self) -> None:
        """Do nothing more."""
        self._thread.shutdown(wait=False, cancel_futures=True)
