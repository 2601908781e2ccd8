"""The server of one client: what it can, what the client can, and what is open."""

from __future__ import annotations

import logging

from lsprotocol import types
from pygls.exceptions import JsonRpcException, PyglsError
from pygls.lsp.server import LanguageServer

from torchlint import __version__
from torchlint.server.documents import PYTHON, Documents
from torchlint.server.protocol import Protocol
from torchlint.server.publisher import Publisher
from torchlint.server.workspace import Workspace

log = logging.getLogger(__name__)

_NOTEBOOKS = types.NotebookDocumentSyncOptions(
    [
        types.NotebookDocumentFilterWithNotebook(
            types.NotebookDocumentFilterNotebookType("jupyter-notebook"), [types.NotebookCellLanguage(PYTHON)]
        )
    ],
    save=True,
)


class Server(LanguageServer):
    """The library's server with what belongs to it."""

    protocol: Protocol

    def __init__(self) -> None:
        super().__init__(
            "torchlint",
            __version__,
            protocol_cls=Protocol,
            text_document_sync_kind=types.TextDocumentSyncKind.Incremental,
            notebook_document_sync=_NOTEBOOKS,
        )
        self.desk = Workspace(self.documents, self.tell)
        self.publisher = Publisher(self.desk, self.text_document_publish_diagnostics)

    @property
    def documents(self) -> Documents:
        """What is open."""
        return self.protocol.documents

    @property
    def is_over(self) -> bool:
        """Whether the client has said that it will ask no more."""
        return self.protocol.is_over

    def tell(self, message: str) -> None:
        """Show a message to the person at the editor."""
        self.window_show_message(types.ShowMessageParams(types.MessageType.Error, message))

    def report_server_error(self, error: Exception, source: type[PyglsError | JsonRpcException]) -> None:
        """Of a message that nothing could be done about the log tells; the person at the editor cannot mend it."""
        log.warning("%s: %s", source.__name__, error)
