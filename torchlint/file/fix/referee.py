"""Which fixes of a round may be applied: a last line of defence against mistakes in rules."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from torchlint.diagnostic import Diagnostic
from torchlint.file.fix.combine import edits_of
from torchlint.file.fix.verify import BREAKS, Guard
from torchlint.file.text.edits import splice
from torchlint.file.tree.placeholders import without_async


class Referee:
    """Asks the guard of a text about its fixes, and finds out which are to blame for an objection."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._guard = Guard(text, without_async(text))
        self.refused: dict[Diagnostic, str] = {}
        """The findings whose fixes may not be applied, with the reasons."""

    def admitted(
        self, chosen: Sequence[Diagnostic], is_broken: Callable[[str], bool] | None = None
    ) -> list[Diagnostic]:
        """As many of these fixes as there can be without objection; the others are refused.

        With ``is_broken`` it is asked as well whether the text after some fixes is one that libcst cannot parse. The
        next round sees that anyway.
        """
        kept: list[Diagnostic] = []
        waiting = [list(chosen)]
        while waiting:
            group = waiting.pop()
            objection = self._objection([*kept, *group], is_broken)
            if objection is None:
                kept += group
            elif len(group) == 1:
                self.refused[group[0]] = objection
            else:
                middle = len(group) // 2
                waiting += (group[middle:], group[:middle])
        return kept

    def _objection(self, fixed: Iterable[Diagnostic], is_broken: Callable[[str], bool] | None) -> str | None:
        edits = edits_of(fixed)
        if not edits:
            return None
        text = splice(self._text, edits)
        objection = self._guard.objection(edits, without_async(text))
        return objection or (BREAKS if is_broken is not None and is_broken(text) else None)
