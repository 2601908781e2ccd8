"""One file while somebody chooses what is fixed in it: what is to be asked next, and the file after the answers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from torchlint.diagnostic import Diagnostic, TextEdit
from torchlint.file.comments.adding import silenced
from torchlint.file.fix.combine import edits_of
from torchlint.file.notebook.cells import NotInCell
from torchlint.file.text.edits import moved, splice
from torchlint.file.text.lines import Lines
from torchlint.project.selection import OWN
from torchlint.session.content import FileContent, read_content
from torchlint.session.scheduler import FileResult
from torchlint.system import writing

_Asked = tuple[str, int]
"""The rule of a finding, and where in the text it begins."""


@dataclass(frozen=True, slots=True)
class _State:
    """A file after some answers."""

    data: bytes
    result: FileResult
    asked: frozenset[_Asked] = frozenset()


class Choosing:
    """A file that is fixed step by step. It is looked at again after each."""

    def __init__(self, result: FileResult, data: bytes, check: Callable[[bytes], FileResult]) -> None:
        self.before = data
        self._check = check
        self._states = [_State(data, result)]

    @property
    def data(self) -> bytes:
        """What is in the file after the answers so far."""
        return self._states[-1].data

    @property
    def result(self) -> FileResult:
        """What is found in it then."""
        return self._states[-1].result

    def next(self) -> Diagnostic | None:
        """The first finding with a fix that nobody was asked about; None if there is none.

        A fix that waits for others is asked about when they have been made.
        """
        state = self._states[-1]
        lines = Lines(state.result.text)
        for each in state.result.diagnostics:
            if each.fix is None or each.fix.deferred or not each.fix.edits:
                continue
            if (each.code, lines.offset(each.start)) not in state.asked:
                return each
        return None

    def leave(self, found: Diagnostic) -> None:
        """Ask no more about a finding."""
        state = self._states[-1]
        at = Lines(state.result.text).offset(found.start)
        self._states.append(replace(state, asked=state.asked | {(found.code, at)}))

    def fix(self, found: Diagnostic, number: int = 0) -> bool:
        """Apply the fix of a finding, or an alternative by its number; whether that could be done.

        The halves of a statement are fixed together.
        """
        if found.fix is None:
            return False
        if number:
            return self._edit(found.fix.alternatives[number - 1].edits)
        others = self.result.diagnostics if found.half_of is not None else ()
        return self._edit(edits_of([found, *(each for each in others if each.half_of == found.half_of)]))

    def silence(self, found: Diagnostic) -> bool:
        """Write a comment that silences a finding; whether that could be done."""
        content = self._content()
        if found.code in OWN or content.embedded is not None:
            return False
        done = silenced(content.text, [found], reason="")
        return bool(done.silenced) and self._edit(done.edits)

    def undo(self) -> bool:
        """Take the last answer back; whether there was one."""
        if len(self._states) == 1:
            return False
        self._states.pop()
        return True

    def _content(self) -> FileContent:
        return read_content(self.result.file.path, self.data).without_bad_cells()

    def _edit(self, edits: Sequence[TextEdit]) -> bool:
        """Edit the text that findings speak of, if what comes of it is still a program."""
        state = self._states[-1]
        try:
            data = _edited(self._content(), edits)
        except (NotInCell, writing.NotWritten):
            return False
        result = self._check(data)
        if result.problems or any(each.code == "TL001" for each in result.diagnostics):
            return False
        still = moved((at for _, at in state.asked), edits)
        asked = frozenset((code, still[at]) for code, at in state.asked if at in still)
        self._states.append(_State(data, result, asked))
        return True


def _edited(content: FileContent, edits: Sequence[TextEdit]) -> bytes:
    """A file after edits of the text that findings in it speak of.

    Raises:
        NotWritten: that cannot be.
    """
    if content.embedded is not None:  # there findings speak of the file
        return content.source.encode(splice(content.source.text, edits))
    return content.after(splice(content.text, edits), [edits]).data
