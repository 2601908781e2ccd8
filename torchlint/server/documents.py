"""What is open in the editor, as the editor has it: nothing is read from files, and nothing is written to them.

The library that speaks the protocol keeps documents, too, but ends lines wherever ``str.splitlines`` does: at form
feeds, say, where neither editors nor Python do so.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from lsprotocol import types

from torchlint.diagnostic import TextEdit
from torchlint.file.text import source
from torchlint.file.text.edits import splice
from torchlint.file.text.lines import Lines
from torchlint.project.discovery import NOTEBOOK
from torchlint.server.encoding import Encoding

PYTHON = "python"
"""What editors call the language."""

_revisions = itertools.count(1)


class UnknownDocument(KeyError):
    """The client speaks of a document that it has not opened."""


@dataclass(slots=True)
class TextDocument:
    """A text that is open: a file, or a cell of a notebook."""

    uri: str
    language: str
    version: int | None
    text: str


@dataclass(slots=True)
class OpenDocument:
    """What is checked as a whole: a file, or a notebook with all of its cells."""

    uri: str
    parts: list[TextDocument]
    """The file, or the cells with code in their order."""
    is_notebook: bool = False
    revision: int = field(default_factory=lambda: next(_revisions))
    """Another one after each change."""


@dataclass(frozen=True, slots=True)
class Snapshot:
    """A document as it is at one time."""

    uri: str
    revision: int
    location: str
    """Where it is, or would be."""
    parts: Mapping[str, Lines]
    """What is in each of its texts, in their order."""
    versions: Mapping[str, int | None]
    is_notebook: bool = False

    @property
    def name(self) -> str:
        """What its file is called: a notebook is told by its name, and Python in an editor's text is no notebook."""
        if self.location.endswith(NOTEBOOK) == self.is_notebook:
            return self.location
        return self.location + (NOTEBOOK if self.is_notebook else ".py")

    @property
    def content(self) -> str:
        """What would be in its file if it was saved now. Of a notebook that is no more than the code."""
        if not self.is_notebook:
            return next(iter(self.parts.values())).text
        cells = [
            {"cell_type": "code", "metadata": {}, "outputs": [], "source": part.text} for part in self.parts.values()
        ]
        return json.dumps({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5})

    def texts_in(self, data: bytes) -> Iterator[tuple[str, str]]:
        """The texts of the document in what would be in its file."""
        if self.is_notebook:
            cells = json.loads(data)["cells"]
            yield from zip(self.parts, (cell["source"] for cell in cells), strict=True)
        else:
            yield self.uri, source.decode(data).text


class Documents:
    """All that is open."""

    def __init__(self) -> None:
        self.encoding = Encoding()
        self._texts: dict[str, TextDocument] = {}
        """Of notebooks the cells, prose included."""
        self._notebooks: dict[str, types.NotebookDocument] = {}
        self._open: dict[str, OpenDocument] = {}
        self._open_notebooks: dict[str, OpenDocument] = {}
        """What is open as a notebook. It may be open as a text, too, which nobody is told of then."""

    def __iter__(self) -> Iterator[OpenDocument]:
        return iter(list({**self._open, **self._open_notebooks}.values()))

    def of(self, uri: str) -> OpenDocument | None:
        """The document that a text is, or is a cell of."""
        found = self._open_notebooks.get(uri) or self._open.get(uri)
        return found or next((each for each in self if any(part.uri == uri for part in each.parts)), None)

    def is_current(self, snapshot: Snapshot) -> bool:
        """Whether a document is as it was; if not, edits of what it was are wrong, and not all clients would notice."""
        document = self.of(snapshot.uri)
        return document is not None and document.revision == snapshot.revision

    # ------------------------------------------------------------------ texts

    def open(self, item: types.TextDocumentItem) -> None:
        """The client has opened a text."""
        self._texts[item.uri] = text = TextDocument(item.uri, item.language_id, item.version, item.text)
        self._open[item.uri] = OpenDocument(item.uri, [text])

    def change(
        self, document: types.VersionedTextDocumentIdentifier, changes: Iterable[types.TextDocumentContentChangeEvent]
    ) -> None:
        """The client has changed a text.

        Raises:
            UnknownDocument: it is not open.
        """
        self._changed(document, changes)
        self._open[document.uri].revision = next(_revisions)

    def close(self, uri: str) -> None:
        """The client has closed a text."""
        self._texts.pop(uri, None)
        self._open.pop(uri, None)

    def _changed(
        self, document: types.VersionedTextDocumentIdentifier, changes: Iterable[types.TextDocumentContentChangeEvent]
    ) -> None:
        text = self._texts.get(document.uri)
        if text is None:
            raise UnknownDocument(document.uri)
        for change in changes:
            if isinstance(change, types.TextDocumentContentChangePartial):
                lines = Lines(text.text)
                start = self.encoding.offset(lines, change.range.start)
                end = max(start, self.encoding.offset(lines, change.range.end))
                text.text = splice(text.text, [TextEdit(start, end, change.text)])
            else:
                text.text = change.text
        text.version = document.version

    # ------------------------------------------------------------------ notebooks

    def open_notebook(self, notebook: types.NotebookDocument, texts: Iterable[types.TextDocumentItem]) -> None:
        """The client has opened a notebook."""
        self._add_cells(texts)
        self._notebooks[notebook.uri] = notebook
        self._open_notebooks[notebook.uri] = OpenDocument(notebook.uri, self._code(notebook.cells), is_notebook=True)

    def change_notebook(self, uri: str, change: types.NotebookDocumentChangeEvent) -> None:
        """The client has changed a notebook.

        Raises:
            UnknownDocument: it is not open, or one of its cells is not.
        """
        notebook = self._notebooks.get(uri)
        if notebook is None:
            raise UnknownDocument(uri)
        cells = list(notebook.cells)
        if change.cells is not None:
            if (structure := change.cells.structure) is not None:
                array = structure.array
                cells[array.start : array.start + array.delete_count] = array.cells or ()
                self._add_cells(structure.did_open or ())
                for closed in structure.did_close or ():
                    self._texts.pop(closed.uri, None)
            data = {each.document: each for each in change.cells.data or ()}
            cells = [data.get(each.document, each) for each in cells]
            for content in change.cells.text_content or ():
                self._changed(content.document, content.changes)
        notebook.cells = cells
        document = self._open_notebooks[uri]
        document.parts, document.revision = self._code(cells), next(_revisions)

    def close_notebook(self, uri: str, texts: Iterable[types.TextDocumentIdentifier]) -> None:
        """The client has closed a notebook."""
        self._notebooks.pop(uri, None)
        self._open_notebooks.pop(uri, None)
        for text in texts:
            self._texts.pop(text.uri, None)

    def _add_cells(self, texts: Iterable[types.TextDocumentItem]) -> None:
        for item in texts:
            self._texts[item.uri] = TextDocument(item.uri, item.language_id, item.version, item.text)

    def _code(self, cells: Sequence[types.NotebookCell]) -> list[TextDocument]:
        """The cells with code, in their order."""
        texts = (self._texts.get(cell.document) for cell in cells if cell.kind == types.NotebookCellKind.Code)
        return [text for text in texts if text is not None and text.language == PYTHON]


def snapshot(document: OpenDocument, location: str) -> Snapshot | None:
    """A document as it is now; None if there is no Python in it.

    Nor is there an answer about a text with its byte order mark, which is no character of the program: nearly all
    clients keep that to themselves.
    """
    if not document.is_notebook:
        text = document.parts[0]
        if text.language != PYTHON or text.text.startswith(source.MARK):
            return None
    return Snapshot(
        document.uri,
        document.revision,
        location,
        {part.uri: Lines(part.text) for part in document.parts},
        {part.uri: part.version for part in document.parts},
        document.is_notebook,
    )
