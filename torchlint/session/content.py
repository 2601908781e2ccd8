"""What is in a file of Python or a notebook, as it is checked, and as it is written when that has been fixed."""

from __future__ import annotations

import functools
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from torchlint.diagnostic import Problem, TextEdit
from torchlint.file.text import source
from torchlint.project.discovery import NOTEBOOK
from torchlint.system import writing

if TYPE_CHECKING:
    from torchlint.file.dispatch.subject import Revise
    from torchlint.file.notebook.cells import Cells
    from torchlint.file.notebook.program import Notebook


@dataclass(frozen=True, slots=True)
class FileContent:
    """What was read."""

    data: bytes
    source: source.Source
    """The text of the file."""
    notebook: Notebook | None = None

    @property
    def text(self) -> str:
        """What is checked: the file, or the program that a notebook is."""
        return self.source.text if self.notebook is None else self.notebook.text

    @property
    def code(self) -> bytes:
        """The same as bytes."""
        return self.data if self.notebook is None else self.notebook.text.encode(errors="surrogatepass")

    @property
    def shown(self) -> str:
        """What findings are shown in."""
        return self.source.text if self.notebook is None else self.notebook.shown

    @property
    def cells(self) -> Cells | None:
        """Where the lines of that are in a notebook."""
        return self.notebook.cells.without_rest() if self.notebook is not None else None

    @property
    def revised(self) -> Revise | None:
        """What changes the findings in a notebook."""
        if self.notebook is None:
            return None
        from torchlint.file.notebook.keeping import kept

        return functools.partial(kept, self.notebook)

    def without_bad_cells(self) -> FileContent:
        """The same, of a notebook without the cells that are no Python."""
        return self if self.notebook is None else replace(self, notebook=self.notebook.without_bad_cells())

    def placed(self, problem: Problem) -> Problem:
        """A problem in what is checked, with the cell it is in."""
        if self.notebook is None or problem.row is None or not self.notebook.parts:
            return problem
        cell, row = self.notebook.cells.place_of_row(problem.row)
        return replace(problem, path=f"{problem.path}:cell {cell}", row=row)

    def after(self, text: str, rounds: Iterable[Iterable[TextEdit]]) -> FileContent:
        """What is to be written when what is checked has become ``text`` by some rounds of edits.

        Raises:
            NotWritten: that cannot be.
        """
        if self.notebook is None:
            return FileContent(_encoded(self, text), replace(self.source, text=text))
        from torchlint.file.notebook.cells import NotInCell

        try:
            data = self.source.encode(self.notebook.after(rounds))
            fixed = read_content(NOTEBOOK, data).without_bad_cells()
        except (NotInCell, source.Undecodable, UnicodeEncodeError):
            fixed = self
        if fixed.notebook is None or not fixed.notebook.holds(text):
            raise writing.NotWritten("the cells would not hold what was checked")
        return fixed


def read_content(path: str, data: bytes) -> FileContent:
    """What was read of a file; its name says whether it is a notebook.

    Raises:
        Undecodable: it is no text, or no notebook.
    """
    if not path.endswith(NOTEBOOK):
        return FileContent(data, source.decode(data))
    from torchlint.file.notebook.program import read_notebook

    notebook = read_notebook(data)
    return FileContent(data, notebook.source, notebook)


def _encoded(content: FileContent, text: str) -> bytes:
    encoding = content.source.encoding
    try:
        if content.source.encode(content.source.text) != content.data:  # some write a character in several ways
            raise writing.NotWritten(f"{encoding} would not give the same bytes back")
        return content.source.encode(text)
    except UnicodeEncodeError as error:
        character = error.object[error.start]
        raise writing.NotWritten(f"{character!r} cannot be written in {encoding}") from None
    except UnicodeError as error:  # `idna` and its like say no more
        raise writing.NotWritten(f"cannot be written in {encoding}: {error}") from None
