"""Diagnostics that are sent unasked: to clients that do not ask, and for notebooks, for which none does."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from lsprotocol import types

from torchlint.server.diagnostics import diagnostics
from torchlint.server.documents import OpenDocument
from torchlint.server.workspace import Workspace

DELAY = 0.15
"""Seconds without a keystroke after which a text is looked at."""


class Publisher:
    """Sends what is found in documents, some time after they have changed."""

    def __init__(self, workspace: Workspace, send: Callable[[types.PublishDiagnosticsParams], None]) -> None:
        self.client_asks = False
        """Whether the client asks for diagnostics of files."""
        self._workspace, self._send = workspace, send
        self._waiting: dict[str, asyncio.Task[None]] = {}
        self._sent: dict[str, set[str]] = {}
        """For each document the texts for which something was sent that is still shown."""

    def schedule(self, document: OpenDocument, delay: float = 0) -> None:
        """Send what is found in a document, unless it changes before."""
        if self.client_asks and not document.is_notebook:
            return
        if (waiting := self._waiting.get(document.uri)) is not None:
            waiting.cancel()
        self._waiting[document.uri] = asyncio.create_task(self._publish(document, delay))

    def closed(self, uri: str) -> None:
        """Take back what was sent for a document."""
        if (waiting := self._waiting.pop(uri, None)) is not None:
            waiting.cancel()
        for text in self._sent.pop(uri, ()):
            self._send(types.PublishDiagnosticsParams(text, []))

    async def _publish(self, document: OpenDocument, delay: float) -> None:
        await asyncio.sleep(delay)
        checked = await self._workspace.checked(document)
        if checked is None or checked.snapshot.revision != document.revision:
            return
        found, versions = diagnostics(checked), checked.snapshot.versions
        shown = self._sent.get(document.uri, set())
        for gone in shown - found.keys():
            self._send(types.PublishDiagnosticsParams(gone, []))
        for uri, its in found.items():
            if its or uri in shown or not document.is_notebook:  # most cells have none, and had none
                self._send(types.PublishDiagnosticsParams(uri, its, versions[uri]))
        self._sent[document.uri] = {uri for uri, its in found.items() if its}
