"""The code of a notebook as one text, in the order of its cells.

Behind each cell stands a line with a name of letters that nobody writes. Such names stand for magics as well, and
comments of these letters for cells that do not parse. So it can be told what in a text is not code of the notebook,
whatever has been fixed in it (:mod:`.keeping`).
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from torchlint.diagnostic import Diagnostic, Position, TextEdit
from torchlint.file.notebook.cells import Cell, Cells
from torchlint.file.notebook.container import NoNotebook, WrittenCell, code_cells
from torchlint.file.notebook.magics import Masked, in_place_of, masked, without_indentation, words_needed
from torchlint.file.parse.invalid import no_python, syntax_error, unparsable
from torchlint.file.text.edits import splice
from torchlint.file.text.lines import NEWLINE
from torchlint.file.text.python import parsed
from torchlint.file.text.source import Source, decode_utf8
from torchlint.file.text.tokens import TOKENS
from torchlint.file.tree.placeholders import PLACEHOLDER, SHOWN, without_async
from torchlint.file.tree.python_tree import python_tree

LETTERS = (PLACEHOLDER, SHOWN[0])
"""Letters that nobody writes: of the names for magics and bad cells, and of those behind cells."""

ENDS = (SHOWN, SHOWN[0] + PLACEHOLDER)
"""The lines behind cells: where the value of the last statement is shown, and where a semicolon says otherwise."""

_NO_FILE = "<cell>"
"""What Python is told that a cell is called: of a file with that name it would look up the lines."""

_RUN_HERE = re.compile(r"^[ \t]*%run[ \t]+(?:-\w+[ \t]+)*-\w*i\b", re.MULTILINE)
"""See https://ipython.readthedocs.io/en/stable/interactive/magics.html#magic-run."""

CellCode = tuple[WrittenCell, Masked]
"""A cell, and what it is as Python."""


@dataclass(frozen=True, slots=True)
class Notebook:
    """A notebook that was read."""

    source: Source
    """The file."""
    parts: tuple[CellCode, ...]
    """The cells of the program."""
    bad: Mapping[int, Diagnostic] = field(default_factory=dict)
    """What is wrong with those that are no Python, with positions in the cell."""
    text: str = ""
    """The program, as all other stages see it."""
    shown: str = ""
    """The same as it is written: every character is in the same place."""
    cells: Cells = field(default_factory=lambda: Cells("", ()))
    left_out: frozenset[str] = frozenset()
    """The words in code that is no part of the program, and may rest on it."""

    @property
    def words(self) -> frozenset[str]:
        """The words in what is not code of the program."""
        found = (code.words for _, code in self.parts)
        return self.left_out.union(*found, *(re.findall(r"\w+", self.parts[number][0].source) for number in self.bad))

    @property
    def runs_files(self) -> bool:
        """Whether it runs files that see its names: ``%run -i train.py``."""
        return any(_RUN_HERE.search(cell.source) is not None for cell, _ in self.parts)

    def without_bad_cells(self) -> Notebook:
        """The same without the cells that are no Python."""
        if _are_apart(self.text, len(self.parts)) and all(cell.is_text for cell, _ in self.parts):
            return self
        found = {
            number: _error(code.text) if cell.is_text else no_python(Position(1, 1), "the code of this cell is no text")
            for number, (cell, code) in enumerate(self.parts)
        }
        bad = {number: error for number, error in found.items() if error is not None}
        return replace(assembled(self.source, self.parts, bad), left_out=self.left_out)

    def holds(self, text: str) -> bool:
        """Whether this is the program, but for a statement that has become the last of its cell."""
        return self.text.replace(*ENDS[::-1]) == text.replace(*ENDS[::-1])

    def after(self, rounds: Iterable[Iterable[TextEdit]]) -> str:
        """The JSON after edits of the program, one round after the other.

        Raises:
            NotInCell: one of them reaches out of its cell.
        """
        return splice(self.source.text, self.cells.edited(rounds))


def read_notebook(data: bytes) -> Notebook:
    """The notebook that a file is. All its cells are taken for Python.

    Raises:
        Undecodable: it is no notebook, or no text.
    """
    source = decode_utf8(data)
    cells = code_cells(source.text)
    for cell in cells:
        if any(letter in cell.source for letter in LETTERS):
            raise NoNotebook(f"cell {cell.number} has one of the letters {' '.join(LETTERS)}, which have to be free")
    read = [(cell, masked(cell.source)) for cell in cells]
    parts = tuple((cell, without_indentation(code)) for cell, code in read if code is not None)
    left_out = (words_needed(cell.source) for cell, code in read if code is None)
    return replace(assembled(source, parts, {}), left_out=frozenset().union(*left_out))


def assembled(source: Source, parts: tuple[CellCode, ...], bad: Mapping[int, Diagnostic]) -> Notebook:
    """The program of some cells, of which ``bad`` ones are no Python."""
    texts, shown, cells = list[str](), list[str](), list[Cell]()
    start, row = 0, 1
    for number, (written, code) in enumerate(parts):
        as_written = written.source
        is_line = bool(as_written) or not written.is_text
        end = "\n" * is_line + f"{ENDS[_is_silent(code.text)]}\n"
        texts += (in_place_of(as_written, is_comment=True) if number in bad else code.text, end)
        shown += (as_written, end)
        cells.append(Cell(written, start, len(as_written), row, rows := len(NEWLINE.findall(as_written)) + is_line))
        start, row = start + len(as_written) + len(end), row + rows + 1
    return Notebook(source, parts, bad, "".join(texts), "".join(shown), Cells(source.text, tuple(cells)))


def _is_silent(code: str) -> bool:
    """Whether a cell ends with a semicolon, before which no value is shown."""
    end = len(code)
    for comment in reversed([match for match in TOKENS.finditer(code) if match.group().startswith("#")]):
        if code[comment.end() : end].strip():
            break
        end = comment.start()
    return code[:end].rstrip().endswith(";")


def _are_apart(text: str, cells: int) -> bool:
    """Whether the lines behind cells are statements: then each cell parses, and no two are taken for one."""
    tree = parsed(without_async(text))
    return tree is not None and cells == sum(
        isinstance(each, ast.Expr) and isinstance(each.value, ast.Name) and each.value.id in ENDS for each in tree.body
    )


def _error(code: str) -> Diagnostic | None:
    """What is wrong with a cell, with the place in it."""
    found = unparsable(code)
    if found is None and python_tree(repaired := without_async(code)) is None:
        found = syntax_error(repaired, _NO_FILE, part="cell") or syntax_error(repaired, _NO_FILE, 0, part="cell")
        return found or no_python(Position(1, 1), "this cell cannot be parsed")
    return found
