"""The protocol as the library has it, with documents of our own, and with an answer to each request, good or bad."""

from __future__ import annotations

import logging
from collections.abc import Generator, Iterator
from typing import Any

from cattrs import Converter
from lsprotocol import types
from pygls.exceptions import (
    JsonRpcException,
    JsonRpcInvalidParams,
    JsonRpcInvalidRequest,
    JsonRpcServerNotInitialized,
)
from pygls.lsp.server import LanguageServer
from pygls.protocol import JsonRPCNotification, LanguageServerProtocol, lsp_method

from torchlint.server.documents import Documents

log = logging.getLogger(__name__)

_VERSION = "2.0"
_NOTHING = "$/torchlint/nothing"
"""The method of what stands for a message that cannot be understood, which nobody listens to."""


class Protocol(LanguageServerProtocol):
    """What is done with messages."""

    def __init__(self, server: LanguageServer, converter: Converter) -> None:
        self.documents = Documents()
        self.is_over = False
        """Whether the client has said that it will ask no more."""
        super().__init__(server, converter)

    # ------------------------------------------------------------------ messages that are not as they should be

    def structure_message(self, data: dict[str, Any]) -> object:
        """A message as an object. A request that makes no sense is answered by an error, all else is passed over."""
        try:
            return super().structure_message(data)
        except JsonRpcException as error:
            if "id" in data and "method" in data:
                self._refuse(data["id"], JsonRpcInvalidParams(f"{data['method']}: these parameters make no sense"))
            else:
                log.warning("a message that makes no sense was passed over: %s", error)
            return JsonRPCNotification(_NOTHING, _VERSION, None)

    def handle_message(self, message: Any) -> None:
        """Do what a message says. Requests that come too early, or too late, are answered by an error."""
        method, number = getattr(message, "method", None), getattr(message, "id", None)
        if method is not None and number is not None:
            if self._workspace is None and method != types.INITIALIZE:
                return self._refuse(number, JsonRpcServerNotInitialized("`initialize` has to come first"))
            if self._workspace is not None and method == types.INITIALIZE:
                return self._refuse(number, JsonRpcInvalidRequest("`initialize` has come already"))
            if self.is_over:
                return self._refuse(number, JsonRpcInvalidRequest("`shutdown` has come already"))
        elif self._workspace is None and method != types.EXIT:
            return None
        if hasattr(message, "jsonrpc"):
            super().handle_message(message)
        else:
            log.warning("a message that is none of JSON-RPC was passed over")
        return None

    def _refuse(self, number: str | int, error: JsonRpcException) -> None:
        self._send_response(number, None, error.to_response_error())

    @lsp_method(types.SHUTDOWN)
    def lsp_shutdown(self, *args: Any) -> Generator[Any, Any, None]:
        """The client asks no more."""
        self.is_over = True
        yield from super().lsp_shutdown(*args)

    # ------------------------------------------------------------------ documents

    @lsp_method(types.TEXT_DOCUMENT_DID_OPEN)
    def lsp_text_document__did_open(self, params: types.DidOpenTextDocumentParams) -> Iterator[Any]:
        """Keep a text."""
        self.documents.open(params.text_document)
        yield from self._handed_on(types.TEXT_DOCUMENT_DID_OPEN, params)

    @lsp_method(types.TEXT_DOCUMENT_DID_CHANGE)
    def lsp_text_document__did_change(self, params: types.DidChangeTextDocumentParams) -> Iterator[Any]:
        """Change a text."""
        self.documents.change(params.text_document, params.content_changes)
        yield from self._handed_on(types.TEXT_DOCUMENT_DID_CHANGE, params)

    @lsp_method(types.TEXT_DOCUMENT_DID_CLOSE)
    def lsp_text_document__did_close(self, params: types.DidCloseTextDocumentParams) -> Iterator[Any]:
        """Forget a text."""
        self.documents.close(params.text_document.uri)
        yield from self._handed_on(types.TEXT_DOCUMENT_DID_CLOSE, params)

    @lsp_method(types.NOTEBOOK_DOCUMENT_DID_OPEN)
    def lsp_notebook_document__did_open(self, params: types.DidOpenNotebookDocumentParams) -> Iterator[Any]:
        """Keep a notebook."""
        self.documents.open_notebook(params.notebook_document, params.cell_text_documents)
        yield from self._handed_on(types.NOTEBOOK_DOCUMENT_DID_OPEN, params)

    @lsp_method(types.NOTEBOOK_DOCUMENT_DID_CHANGE)
    def lsp_notebook_document__did_change(self, params: types.DidChangeNotebookDocumentParams) -> Iterator[Any]:
        """Change a notebook."""
        self.documents.change_notebook(params.notebook_document.uri, params.change)
        yield from self._handed_on(types.NOTEBOOK_DOCUMENT_DID_CHANGE, params)

    @lsp_method(types.NOTEBOOK_DOCUMENT_DID_CLOSE)
    def lsp_notebook_document__did_close(self, params: types.DidCloseNotebookDocumentParams) -> Iterator[Any]:
        """Forget a notebook."""
        self.documents.close_notebook(params.notebook_document.uri, params.cell_text_documents)
        yield from self._handed_on(types.NOTEBOOK_DOCUMENT_DID_CLOSE, params)

    def _handed_on(self, method: str, params: object) -> Iterator[Any]:
        """To what else is done about a message."""
        if (handler := self.fm.features.get(method)) is not None:
            yield handler, (params,), None
