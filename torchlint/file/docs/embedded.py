"""Code inside of other text as one program, in its order, as the cells of a notebook are; and the way back."""

from __future__ import annotations

import ast
import bisect
import functools
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from torchlint.diagnostic import Diagnostic, LocatedEvidence, LocatedFix, Position, TextEdit
from torchlint.file.docs.blocks import CodeBlock, CodeLine, in_docstrings, in_markdown, in_rst, may_hold_code
from torchlint.file.notebook.cells import NotInCell
from torchlint.file.notebook.container import CellString, WrittenCell
from torchlint.file.notebook.keeping import kept
from torchlint.file.notebook.magics import Masked, masked
from torchlint.file.notebook.program import ENDS, LETTERS, CellCode, Notebook, assembled
from torchlint.file.text.edits import splice
from torchlint.file.text.lines import NEWLINE, Lines
from torchlint.file.text.python import parsed
from torchlint.file.text.source import Source
from torchlint.file.tree.placeholders import without_async

_IMPORT = re.compile(r"[ \t]*(?:from|import)[ \t]+torch\b", re.MULTILINE)
_END = re.compile(rf"^(?:{'|'.join(map(re.escape, ENDS))})$", re.MULTILINE)
_MARKER = re.compile(r"^[ \t]*#[ \t]*(?:%%|In\[)", re.MULTILINE)
"""What begins a cell of a script."""
_MAGIC = re.compile(r"^[ \t]*[%!]", re.MULTILINE)


Reader = Callable[[Source], "Embedded | None"]


@dataclass(frozen=True, slots=True)
class Embedded:
    """The code in a text."""

    source: Source
    """The text."""
    blocks: tuple[CodeBlock, ...]
    """The blocks of the program; the first can be one without lines, which nobody has written."""
    notebook: Notebook
    """The program, a block a cell."""
    reader: Reader = field(compare=False)
    """What reads a later version of the text."""
    unread: tuple[Position, ...] = ()
    """Where blocks begin that are no Python."""

    # ------------------------------------------------------------------ what is found

    def revised(self, text: str, found: tuple[Diagnostic, ...]) -> tuple[Diagnostic, ...]:
        """What is found in the program, with the fixes that may be in a block, and without what nobody has written."""
        ends, lines = [end.start() for end in _END.finditer(text)], Lines(text)
        shown = [each for each in found if self._block(ends, lines.offset(each.start)).lines]
        fixable = (replace(each, fix=self._fix(each.fix, ends, text)) if each.fix else each for each in shown)
        return kept(self.notebook, text, tuple(fixable))

    def _fix(self, fix: LocatedFix, ends: Sequence[int], text: str) -> LocatedFix | None:
        if not all(self._may_be(edit, ends, text) for edit in fix.edits):
            return None
        others = (self._fix(other, ends, text) for other in fix.alternatives)
        return replace(fix, alternatives=tuple(other for other in others if other is not None))

    def _may_be(self, edit: TextEdit, ends: Sequence[int], text: str) -> bool:
        block = self._block(ends, edit.start)
        if not block.lines:
            return False
        if block.is_in_string and any(each in edit.content for each in ("\\", '"""', "'''")):
            return False
        return not block.is_example or "\n" not in edit.content + text[edit.start : edit.end]

    def _block(self, ends: Sequence[int], offset: int) -> CodeBlock:
        """The block that a place in the program is in; ``ends`` are the places of the lines behind blocks."""
        return self.blocks[min(bisect.bisect_left(ends, offset), len(self.blocks) - 1)]

    # ------------------------------------------------------------------ the way back

    def in_file(self, found: Iterable[Diagnostic]) -> tuple[Diagnostic, ...]:
        """What is found in the program with its places in the text."""
        way = _WayBack(self)
        return tuple(way.diagnostic(each) for each in found)

    def after(self, rounds: Iterable[Iterable[TextEdit]]) -> str:
        """The text after edits of the program, one round after the other.

        Raises:
            NotInCell: one of them reaches out of its block.
        """
        return splice(self.source.text, _WayBack(self).edits(rounds))


class _WayBack:
    """From the program to the text."""

    def __init__(self, embedded: Embedded) -> None:
        self._embedded, self._cells = embedded, embedded.notebook.cells
        self._text = embedded.source.text
        self._lines, self._program = Lines(self._text), Lines(embedded.notebook.text)
        first = NEWLINE.search(self._text)
        self._newline = first.group() if first is not None else "\n"

    def diagnostic(self, found: Diagnostic) -> Diagnostic:
        """A finding."""
        return replace(
            found,
            start=self.position(found.start),
            end=self.position(found.end),
            rows=(self._row(found.rows[0]), self._row(found.rows[1])),
            fix=self._fix(found.fix) if found.fix is not None else None,
            evidence=self._evidence(found.evidence) if found.evidence is not None else None,
        )

    def position(self, at: Position) -> Position:
        """A place."""
        number, place = self._cells.place(at)
        lines = self._embedded.blocks[number - 1].lines
        line = lines[min(place.row, len(lines)) - 1]
        end = place.column - 1 if place.row <= len(lines) else line.end - line.start
        return self._lines.position(min(line.start + end, line.end))

    def _row(self, row: int) -> int:
        return self.position(Position(row, 1)).row

    def _evidence(self, evidence: LocatedEvidence) -> LocatedEvidence:
        if evidence.row is None:
            return evidence
        number, _ = self._cells.place_of_row(evidence.row)
        is_written = bool(self._embedded.blocks[number - 1].lines)
        return replace(evidence, row=self._row(evidence.row) if is_written else None)

    def _fix(self, fix: LocatedFix) -> LocatedFix:
        try:
            edits = tuple(self.edits([fix.edits]))
        except NotInCell:
            edits = ()
        return replace(fix, edits=edits, alternatives=tuple(map(self._fix, fix.alternatives)), block=None)

    def edits(self, rounds: Iterable[Iterable[TextEdit]]) -> list[TextEdit]:
        """Edits, in the order of the text."""
        found = [
            self._edit(edit, self._embedded.blocks[cell.written.number - 1], Lines(cell.written.source))
            for cell, edits in self._cells.sources_edited(rounds)
            for edit in edits
        ]
        return sorted(found, key=lambda edit: (edit.start, edit.end))

    def _edit(self, edit: TextEdit, block: CodeBlock, code: Lines) -> TextEdit:
        """An edit of the code of a block: lines that are new get what stands before the others."""
        if not block.lines:
            raise NotInCell
        start, end = (self._offset(block, code.position(offset)) for offset in (edit.start, edit.end))
        content = re.sub(r"\n(?!\n|\Z)", f"{self._newline}{block.prefix}", edit.content)
        content = re.sub(r"(?<!\r)\n", self._newline, content)
        row = self._lines.position(start).row
        is_bare = start - self._lines.starts[row - 1] < len(block.prefix)
        if edit.content.endswith("\n"):
            content += block.prefix  # what follows had it before
        return TextEdit(start, end, block.prefix + content if is_bare and content.strip() else content)

    def _offset(self, block: CodeBlock, at: Position) -> int:
        line = block.lines[min(at.row, len(block.lines)) - 1]
        return min(line.start + at.column - 1, line.end)


# ---------------------------------------------------------------------- reading


def of_markdown(source: Source) -> Embedded:
    """The code in Markdown. Where nothing in it imports torch, it is as if something before it did."""
    return _of_prose(source, in_markdown)


def of_rst(source: Source) -> Embedded:
    """The code in reStructuredText, likewise."""
    return _of_prose(source, in_rst)


def _of_prose(source: Source, blocks_of: Callable[[str], Iterable[CodeBlock]]) -> Embedded:
    has_import = any(_IMPORT.search(block.source(source.text)) for block in blocks_of(source.text))
    return _with_preamble(source, blocks_of, "" if has_import else "import torch")


def _with_preamble(source: Source, blocks_of: Callable[[str], Iterable[CodeBlock]], preamble: str) -> Embedded:
    reader = functools.partial(_with_preamble, blocks_of=blocks_of, preamble=preamble)
    return _embedded(source, blocks_of(source.text), preamble, reader)


def of_docstrings(source: Source) -> Embedded | None:
    """The code in the docstrings of a module, for which its own imports of torch hold; None if there is none."""
    if not may_hold_code(source.text):
        return None
    tree = parsed(source.text)
    blocks = list(in_docstrings(source.text, tree)) if tree is not None else []
    if tree is None or not blocks:
        return None
    imports = [each for each in tree.body if isinstance(each, ast.Import | ast.ImportFrom)]
    of_torch = [line for line in map(ast.unparse, imports) if _IMPORT.match(line)]
    return _embedded(source, blocks, "\n".join(of_torch) or "import torch", of_docstrings)


def of_script(source: Source) -> Embedded | None:
    """A script of cells (``# %%``) with magics in it; None for all other texts, and for one that is Python."""
    text = source.text
    if not _MAGIC.search(text) or not _MARKER.search(text) or any(letter in text for letter in LETTERS):
        return None
    code = masked(text) if parsed(text) is None else None
    if code is None or parsed(without_async(code.text)) is None:
        return None
    lines = Lines(text)
    block = CodeBlock(tuple(CodeLine(*span) for span in zip(lines.starts, lines.ends, strict=True)))
    return _of_blocks(source, [(block, Masked(NEWLINE.sub("\n", code.text), code.words))], of_script)


def _embedded(source: Source, blocks: Iterable[CodeBlock], preamble: str, reader: Reader) -> Embedded:
    text = source.text
    parts: list[tuple[CodeBlock, Masked]] = []
    unread, words = list[int](), set[str]()
    for block in blocks:
        code = _python(block, text)
        if code is None:
            unread.append(block.lines[0].start)
            words.update(re.findall(r"\w+", block.source(text)))
        else:
            parts.append((block, code))
    if parts and preamble:
        parts.insert(0, (CodeBlock(()), Masked(preamble, frozenset())))
    lines = Lines(text)
    read = _of_blocks(source, parts, reader)
    notebook = replace(read.notebook, left_out=frozenset(words))
    return replace(read, notebook=notebook, unread=tuple(map(lines.position, unread)))


def _python(block: CodeBlock, text: str) -> Masked | None:
    """The code of a block as Python; None if it is none."""
    written = block.source(text)
    if any(letter in written for letter in LETTERS):
        return None
    code = Masked(written, frozenset()) if block.is_example else masked(written)
    return code if code is not None and parsed(without_async(code.text)) is not None else None


def _of_blocks(source: Source, parts: Sequence[tuple[CodeBlock, Masked]], reader: Reader) -> Embedded:
    program = assembled(source, tuple(_cells(source.text, parts)), {})
    return Embedded(source, tuple(block for block, _ in parts), program, reader)


def _cells(text: str, parts: Iterable[tuple[CodeBlock, Masked]]) -> Iterator[CellCode]:
    """The blocks as cells of a notebook."""
    for number, (block, code) in enumerate(parts, 1):
        written = block.source(text) if block.lines else code.text
        start, end = (block.lines[0].start, block.lines[-1].end) if block.lines else (0, 0)
        yield WrittenCell(number, start, end, False, (CellString(start, end, written),)), code
