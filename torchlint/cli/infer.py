"""``torchlint infer``: from the arguments to the exit code."""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from torchlint.cli.exit_codes import CLEAN, INCOMPLETE, USAGE
from torchlint.cli.report.terminal import printable, printable_lines
from torchlint.cli.report.values import value_in_words
from torchlint.diagnostic import Position, Problem
from torchlint.file.inferred import KINDS, Inferred, infer
from torchlint.file.locate.evidence import shortened
from torchlint.file.parse.invalid import NOT_UNDERSTOOD, TOO_DEEP, NotUnderstood, Unparsed
from torchlint.file.text.lines import Lines
from torchlint.file.text.source import Undecodable
from torchlint.file.tree.placeholders import PLACEHOLDER, SHOWN
from torchlint.model.budget import Budget
from torchlint.project.discovery import File, discover
from torchlint.project.project import Project
from torchlint.project.selection import SettingsError, did_you_mean
from torchlint.project.settings import given
from torchlint.session.content import FileContent, read_content
from torchlint.system.crash import INTENDED, described, traceback_of
from torchlint.system.limits import TOO_MUCH
from torchlint.system.reading import read
from torchlint.system.stack import with_big_stack

if TYPE_CHECKING:
    from torchlint.file.notebook.cells import Cells

WIDTH = 60
"""Characters shown of an expression."""

_PLACE = re.compile(
    r"(?P<path>.+?)(?::cell (?P<cell>[0-9]{1,9}))?:(?P<row>[0-9]{1,9})(?::(?P<column>[0-9]{1,9}))?", re.DOTALL
)


@dataclass(frozen=True, slots=True)
class InferOptions:
    """The options of ``torchlint infer``, as given."""

    paths: tuple[str, ...]
    output_format: str
    kind: tuple[str, ...]
    every: bool
    config: tuple[str, ...]
    isolated: bool
    verbose: bool


class Failure(Exception):
    """Why nothing can be said of a file or of a place in it."""

    def __init__(self, message: str, row: int | None = None, code: int = USAGE, details: str = "") -> None:
        super().__init__(message)
        self.row, self.code, self.details = row, code, details


@dataclass(frozen=True, slots=True)
class Place:
    """A line, or a column of it."""

    row: int
    column: int | None = None
    cell: int | None = None
    """The number of the cell, in a notebook."""

    def path_in(self, file: File) -> str:
        """The file as messages name it, with the cell."""
        return file.path if self.cell is None else f"{file.path}:cell {self.cell}"

    def select(self, found: Sequence[Inferred]) -> list[Inferred]:
        """Of a line what begins on it; of a column what begins there, else the innermost expression around it."""
        if self.column is None:
            return [item for item in found if item.start.row == self.row]
        here = Position(self.row, self.column)
        around = [item for item in found if item.start <= here < item.end]
        last = max((item.start for item in around), default=here)
        inner = [item for item in around if item.start == last]
        return inner if last == here else inner[:1]

    def in_program(self, cells: Cells | None) -> Place:
        """The same in the text of a whole notebook."""
        if cells is None and self.cell is None:
            return self
        if cells is None or self.cell is None:
            said = "only notebooks have cells" if cells is None else "name the cell, too, as in `n.ipynb:cell 3:1`"
            raise Failure(said, self.row)
        rows = next((cells.rows(cell.row) for cell in cells.cells if cell.written.number == self.cell), None)
        if rows is None:
            raise Failure("this cell has no Python")
        if not 0 < self.row <= rows[1] - rows[0] + 1:
            raise Failure(f"there is no such line, the last is {rows[1] - rows[0] + 1}", self.row)
        return Place(rows[0] + self.row - 1, self.column)

    def check(self, text: Lines) -> None:
        """Raise where there is no such place in a text."""
        if self.row == 0 or self.column == 0:
            raise Failure("lines and columns count from 1", self.row)
        if self.row > text.rows:
            raise Failure(f"there is no such line, the last is {text.rows}", self.row)
        width = len(text.line(self.row))
        if self.column is not None and self.column > width + 1:
            raise Failure(f"there is no column {self.column}, the line has {width}", self.row)


def split(argument: str) -> tuple[str, Place | None]:
    """``x.py:3:7`` as path and place. A file that has such a name is meant as a whole."""
    match = None if os.path.lexists(argument) else _PLACE.fullmatch(argument)
    if match is None:
        return argument, None
    column, cell = (int(match[name]) if match[name] is not None else None for name in ("column", "cell"))
    return match["path"], Place(int(match["row"]), column, cell)


class Reveal:
    """One ``torchlint infer``."""

    def __init__(self, options: InferOptions) -> None:
        for kind in options.kind:
            if kind not in KINDS:
                raise SettingsError(f"unknown kind `{kind}` in --kind{did_you_mean(kind, KINDS)}")
        self.options, self.project = options, Project(isolated=options.isolated, given=given(options.config))
        self.codes: set[int] = set()
        self.warnings: list[str] = []
        self.empty: list[Problem] = []

    def run(self) -> int:
        """Print the values, and say what could not be had."""
        entries: list[dict[str, Any]] = []
        for file, places in self._files():
            shown = self._of_file(file, places)
            if self.options.output_format == "json":
                entries += map(shown.entry, shown.found)
            else:
                sys.stdout.writelines(f"{shown.line(item)}\n" for item in shown.found)
        if self.options.output_format == "json":
            print(json.dumps(entries, indent=2))
        for warning in (*self.project.doubts, *self.warnings):
            print(f"warning: {printable(warning)}", file=sys.stderr)
        return min(self.codes, default=CLEAN)

    def _files(self) -> list[tuple[File, list[Place]]]:
        """The files to look at and the places in them; no places: the whole file."""
        places: dict[str, list[Place]] = {}
        whole, parts = [], []
        for path, place in map(split, self.options.paths):
            if place is None:
                whole.append(path)
            elif os.path.isdir(path):
                self._complain(path, Failure("a directory has no lines"))
            else:
                parts.append(path)
                places.setdefault(os.path.realpath(path), []).append(place)
        found = {os.path.realpath(file.location): (file, list[Place]()) for file in self._discovered(whole)}
        for file in self._discovered(parts):
            real = os.path.realpath(file.location)
            found.setdefault(real, (file, places[real]))
        if found or self.codes:
            self.warnings += map(str, self.empty)
        else:
            for empty in self.empty:
                self._complain(empty.path, Failure(empty.message))
        return sorted(found.values(), key=lambda pair: pair[0].path)

    def _discovered(self, paths: Iterable[str]) -> list[File]:
        found = discover(paths, self.project)
        self.warnings += found.warnings
        self.empty += found.empty
        for path, _, message in (missing.rpartition(": ") for missing in found.missing):
            self._complain(path, Failure(message))
        for problem in found.problems:
            self._complain(problem.path, Failure(problem.message, problem.row, INCOMPLETE))
        return found.files

    def _of_file(self, file: File, places: Sequence[Place]) -> _Shown:
        """What is to be shown of a file."""
        try:
            content = _read(file)
            budget = Budget(self.project.limits(file.location).budget)
            found = _inferred(content.text, file, budget)
        except Failure as failure:
            self._complain(file.path, failure)
            return _Shown(file, None, [])
        return _Shown(file, content.cells, self._chosen(file, content, found, places, budget))

    def _chosen(
        self, file: File, content: FileContent, found: list[Inferred], places: Sequence[Place], budget: Budget
    ) -> list[Inferred]:
        """What of a file is asked for."""
        if content.notebook is not None:
            found = [item for item in found if not any(letter in item.expression for letter in (PLACEHOLDER, SHOWN))]
        if budget.is_spent:
            self._complain(file.path, Failure(TOO_MUCH, code=INCOMPLETE))
        bad = _bad_cells(content)
        if not places:
            self.warnings += (
                str(Problem(f"{file.path}:cell {number}", said, row)) for number, (said, row) in bad.items()
            )
            return [item for item in found if self._is_wanted(item)]
        lines, cells, chosen = Lines(content.shown), content.cells, set[int]()
        for place in places:
            exactly, path = place.column is not None, place.path_in(file)
            try:
                if place.cell is not None and place.cell in bad:
                    raise Failure(*bad[place.cell])
                within = place.in_program(cells)
                within.check(lines)
            except Failure as failure:
                self._complain(path, failure)
                continue
            selected = within.select(found)
            wanted = [item for item in selected if self._is_wanted(item, exactly)]
            if not wanted and self.options.output_format != "json":
                self.warnings.append(str(Problem(path, self._why_nothing(selected), place.row)))
            chosen.update(map(id, wanted))
        return [item for item in found if id(item) in chosen]

    def _is_wanted(self, item: Inferred, exactly: bool = False) -> bool:
        """Whether to show an expression, which was asked for by its very place or not."""
        kinds = item.kind.split("|")
        if self.options.kind and not set(self.options.kind) & set(kinds):
            return False
        if exactly or self.options.every or self.options.output_format == "json":
            return True
        return kinds != ["unknown"] and not item.is_literal

    def _why_nothing(self, selected: Sequence[Inferred]) -> str:
        """Why nothing is printed for a place."""
        if not selected:
            return "no expression begins here"
        return "nothing here is of that kind" if self.options.kind else "nothing is known of what is here; see `--all`"

    def _complain(self, path: str, failure: Failure) -> None:
        if failure.details and self.options.verbose:
            print(printable_lines(failure.details.rstrip()), file=sys.stderr)
        print(f"error: {printable(str(Problem(path, str(failure), failure.row)))}", file=sys.stderr)
        self.codes.add(failure.code)


def _read(file: File) -> FileContent:
    try:
        content = read_content(file.path, read(file.location)).without_bad_cells()
    except OSError as error:
        raise Failure(error.strerror or str(error), code=INCOMPLETE) from error
    except Undecodable as error:
        raise Failure(error.reason, error.row) from error
    if content.embedded is not None:
        raise Failure("only Python and notebooks are analysed")
    return content


def _bad_cells(content: FileContent) -> Mapping[int, tuple[str, int]]:
    """The cells of a notebook that are no Python, by their numbers: why not, and the row in them."""
    notebook = content.notebook
    if notebook is None:
        return {}
    return {notebook.parts[at][0].number: (found.message, found.start.row) for at, found in notebook.bad.items()}


def _inferred(text: str, file: File, budget: Budget) -> list[Inferred]:
    try:
        return with_big_stack(lambda: list(infer(text, file.path, file.location, budget=budget)))
    except Unparsed as error:
        raise Failure(error.diagnostic.message, error.diagnostic.start.row) from error
    except RecursionError as error:
        raise Failure(TOO_DEEP, code=INCOMPLETE) from error
    except NotUnderstood as error:
        raise Failure(NOT_UNDERSTOOD, code=INCOMPLETE) from error
    except INTENDED:
        raise
    except BaseException as error:  # whatever it is, it must not cost more than this file
        message = f"could not be analysed: {described(error)}"
        raise Failure(message, code=INCOMPLETE, details=traceback_of(error)) from error


@dataclass(frozen=True, slots=True)
class _Shown:
    """What is shown of a file."""

    file: File
    cells: Cells | None
    found: list[Inferred]

    def line(self, item: Inferred) -> str:
        """An expression for people."""
        cell, at = self._where(item.start)
        place = f"{self.file.path}:{'' if cell is None else f'cell {cell}:'}{at.row}:{at.column}"
        return printable(f"{place}: {shortened(item.expression, WIDTH)}: {value_in_words(item, self._line_of)}")

    def entry(self, item: Inferred) -> dict[str, Any]:
        """An expression for programs."""
        cell, start = self._where(item.start)
        in_cell = {"cell": cell} if cell is not None else {}
        placed = replace(item, start=start, end=self._where(item.end)[1])
        callers = [{**self._entry_of(row), "grad_mode": mode} for row, mode in item.callers]
        evidence = item.evidence
        because = None
        if evidence is not None:
            row = self._entry_of(evidence.row) if evidence.row is not None else {"line": None}
            because = {"strength": evidence.kind, "text": evidence.message, **row}
        return _entry(self.file, placed, in_cell, because, callers)

    def _line_of(self, row: int) -> str:
        cell, at = self._where(Position(row, 1))
        return f"line {at.row}" if cell is None else f"cell {cell} line {at.row}"

    def _entry_of(self, row: int) -> dict[str, Any]:
        cell, at = self._where(Position(row, 1))
        return {"line": at.row} if cell is None else {"line": at.row, "cell": cell}

    def _where(self, position: Position) -> tuple[int | None, Position]:
        return (None, position) if self.cells is None else self.cells.place(position)


_TENSOR_OR_PLAIN = {"tensor", "number", "string", "none", "unknown"}


def _entry(
    file: File,
    item: Inferred,
    in_cell: Mapping[str, int],
    because: Mapping[str, Any] | None,
    callers: Sequence[Mapping[str, Any]],
) -> dict[str, Any]:
    return {
        "filename": file.location,
        **in_cell,
        "location": _location(item.start),
        "end_location": _location(item.end),
        "expression": item.expression,
        "value": {
            "kind": _headline(item.kind),
            "may_be": item.kind.split("|"),
            "requires_grad": item.dimensions.get("grad"),
            **{key: item.dimensions.get(key) for key in ("ndim", "dtype", "leaf", "role")},
            "class": item.cls,
            "name": item.name,
            "evidence": because,
            "certainty": item.requires,
            "requires_grad_by": list(item.sources),
            "grad_mode": item.mode,
            "callers": callers,
        },
    }


def _headline(kind: str) -> str:
    """``tensor`` for what is one wherever it has a tensor's methods, on whatever evidence; else all it may be."""
    words = set(kind.split("|"))
    return "tensor" if "tensor" in words and words <= _TENSOR_OR_PLAIN else kind


def _location(position: Position) -> dict[str, int]:
    return {"row": position.row, "column": position.column}
