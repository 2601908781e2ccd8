"""What is in a file (Python, a notebook, prose), as it is checked, and as it is written when that has been fixed."""

from __future__ import annotations

import functools
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from torchlint.diagnostic import Diagnostic, Problem, TextEdit
from torchlint.file.text import source
from torchlint.project.discovery import NOTEBOOK, PROSE, RST
from torchlint.system import writing

if TYPE_CHECKING:
    from torchlint.file.dispatch.subject import Revise
    from torchlint.file.docs.embedded import Embedded
    from torchlint.file.notebook.cells import Cells
    from torchlint.file.notebook.program import Notebook


@dataclass(frozen=True, slots=True)
class FileContent:
    """What was read."""

    data: bytes
    source: source.Source
    """The text of the file."""
    notebook: Notebook | None = None
    embedded: Embedded | None = None
    """The code in it, where the file is no Python as a whole."""

    @property
    def _program(self) -> Notebook | None:
        return self.embedded.notebook if self.embedded is not None else self.notebook

    @property
    def text(self) -> str:
        """What is checked: the file, or the program that is made of the code in it."""
        return self.source.text if self._program is None else self._program.text

    @property
    def code(self) -> bytes:
        """The same as bytes."""
        return self.data if self._program is None else self._program.text.encode(errors="surrogatepass")

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
        """What changes the findings where not all is code."""
        if self.embedded is not None:
            return self.embedded.revised
        if self.notebook is None:
            return None
        from torchlint.file.notebook.keeping import kept

        return functools.partial(kept, self.notebook)

    def without_bad_cells(self) -> FileContent:
        """The same, of a notebook without the cells that are no Python."""
        return self if self.notebook is None else replace(self, notebook=self.notebook.without_bad_cells())

    def placed(self, problem: Problem) -> Problem:
        """A problem in what is checked, with the cell it is in."""
        if self.embedded is not None:
            return replace(problem, row=None)
        if self.notebook is None or problem.row is None or not self.notebook.parts:
            return problem
        cell, row = self.notebook.cells.place_of_row(problem.row)
        return replace(problem, path=f"{problem.path}:cell {cell}", row=row)

    def after(self, text: str, rounds: Iterable[Iterable[TextEdit]]) -> FileContent:
        """What is to be written when what is checked has become ``text`` by some rounds of edits.

        Raises:
            NotWritten: that cannot be.
        """
        if self.embedded is not None:
            return self._embedded_after(self.embedded, text, rounds)
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

    def _embedded_after(self, embedded: Embedded, text: str, rounds: Iterable[Iterable[TextEdit]]) -> FileContent:
        from torchlint.file.notebook.cells import NotInCell

        try:
            after = embedded.after(rounds)
        except NotInCell:
            after = self.source.text
        source_ = replace(self.source, text=after)
        again = embedded.reader(source_)
        if again is None or not again.notebook.holds(text):
            raise writing.NotWritten("the blocks would not hold what was checked")
        return FileContent(_encoded(self, after), source_, embedded=again)

    def in_file(self, found: tuple[Diagnostic, ...]) -> tuple[Diagnostic, ...]:
        """What was found in what is checked, with places in the file where all of that is shown."""
        return found if self.embedded is None else self.embedded.in_file(found)


def read_content(path: str, data: bytes) -> FileContent:
    """What was read of a file; its name says whether it is a notebook.

    Raises:
        Undecodable: it is no text, or no notebook.
    """
    if path.endswith(PROSE):
        from torchlint.file.docs.embedded import of_markdown, of_rst

        text = source.decode_utf8(data)
        return FileContent(data, text, embedded=(of_rst if path.endswith(RST) else of_markdown)(text))
    if not path.endswith(NOTEBOOK):
        text = source.decode(data)
        return FileContent(data, text, embedded=_script(text))
    from torchlint.file.notebook.program import read_notebook

    notebook = read_notebook(data)
    return FileContent(data, notebook.source, notebook)


def data_of(path: str, text: str) -> bytes:
    """What is in a file of this name that holds a text.

    Raises:
        Undecodable: its encoding does not have all characters of the text.
    """
    return source.encoded_utf8(text) if path.endswith((NOTEBOOK, *PROSE)) else source.encoded(text)


def _script(text: source.Source) -> Embedded | None:
    """The code of a script with magics."""
    if "%%" not in text.text and "In[" not in text.text:  # nearly all
        return None
    from torchlint.file.docs.embedded import of_script

    return of_script(text)


def documentation_in(data: bytes) -> FileContent | None:
    """The code in the docstrings of a file of Python; None if there is none."""
    from torchlint.file.docs.embedded import of_docstrings

    text = source.decode(data)
    found = of_docstrings(text)
    return FileContent(data, text, embedded=found) if found is not None else None


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
