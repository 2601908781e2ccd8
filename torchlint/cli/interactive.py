"""``torchlint check --fix --interactive``: one finding after the other, as ``git add --patch`` asks for each hunk."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace

from torchlint.cli.report import CYAN, FileFindings, Style, counted, full, is_fixable
from torchlint.cli.report.terminal import printable
from torchlint.diagnostic import Diagnostic, Problem
from torchlint.session.choosing import Choosing
from torchlint.session.scheduler import FileResult
from torchlint.system import writing
from torchlint.system.reading import read

ANSWERS = {
    "y": "apply this fix",
    "n": "leave it",
    "1, 2, …": "apply that alternative",
    "i": "leave it, and write a comment that silences it",
    "a": "apply this fix and all later ones in this file",
    "d": "leave this and all later ones in this file",
    "r": "apply this fix and all later ones of this rule",
    "s": "leave this and all later ones of this rule",
    "u": "take the last answer in this file back",
    "q": "leave this and all others; what was applied stays",
    "?": "say what the answers mean",
}


class Dialogue:
    """Asks which fixes to apply, file by file, and writes a file when all about it is answered."""

    def __init__(self, style: Style, check: Callable[[FileResult, bytes], FileResult]) -> None:
        self._style, self._check = style, check
        self._applied_rules, self._left_rules = set[str](), set[str]()
        self._is_over = False
        self.applied = self.silenced = 0

    def run(self, results: Iterable[FileResult]) -> Iterator[FileResult]:
        """What is left in each file."""
        for result in results:
            is_asked = not self._is_over and any(each.fix is not None for each in result.diagnostics)
            yield self._file(result) if is_asked else result

    @property
    def summary(self) -> str:
        """What was done."""
        more = f", silenced {counted(self.silenced, 'finding')}" if self.silenced else ""
        return f"Fixed {counted(self.applied, 'finding')}{more}."

    def _file(self, result: FileResult) -> FileResult:
        try:
            data = read(result.file.location)
        except OSError as error:
            return _with_problem(result, error)
        choosing = Choosing(self._check(result, data), data, lambda data: self._check(result, data))
        counts: list[tuple[int, int]] = []
        rest: str | None = None
        while not self._is_over and (found := choosing.next()) is not None:
            known = self._known_answer(found, rest)
            answer = known or self._ask(choosing, found)
            if answer == "u":
                if choosing.undo():
                    self.applied, self.silenced = counts.pop()
                continue
            counts.append((self.applied, self.silenced))
            rest = answer if known is None and answer in ("a", "d") else rest
            if not self._done(answer, choosing, found):
                counts.pop()
        if choosing.data != data:
            try:
                writing.write(result.file.location, choosing.data, data)
            except writing.NotWritten as error:
                self.applied, self.silenced = counts[0]
                return _with_problem(result, error)
        return choosing.result

    def _known_answer(self, found: Diagnostic, rest: str | None) -> str | None:
        """What was said of the rest of a file, or of all findings of a rule.

        A fix that is not safe is applied unseen only where ``--unsafe-fixes`` says so.
        """
        if rest == "d" or found.code in self._left_rules:
            return "d"
        is_wanted = rest == "a" or found.code in self._applied_rules
        return "y" if is_wanted and is_fixable(found, self._style.unsafe_fixes) else None

    def _done(self, answer: str, choosing: Choosing, found: Diagnostic) -> bool:
        """Do what was answered; whether anything has changed that could be taken back."""
        match answer:
            case "q":
                self._is_over = True
                return False
            case "n" | "d" | "s":
                if answer == "s":
                    self._left_rules.add(found.code)
                choosing.leave(found)
                return True
            case "i":
                is_done = choosing.silence(found)
                self.silenced += is_done
            case _:
                if answer == "r":
                    self._applied_rules.add(found.code)
                is_done = choosing.fix(found, int(answer) if answer.isdecimal() else 0)
                self.applied += is_done
        if not is_done:
            print("This cannot be done here; it is left.")
            choosing.leave(found)
        return True

    def _ask(self, choosing: Choosing, found: Diagnostic) -> str:
        """Show a finding until there is an answer to it. Where nobody answers any more, that is the end."""
        result, fix = choosing.result, found.fix
        others = len(fix.alternatives) if fix is not None else 0
        shown = replace(found, fix=replace(fix, alternatives=())) if fix is not None else found
        file = FileFindings(result.file.path, result.file.location, result.text, (shown,), result.cells)
        print()
        sys.stdout.writelines(f"{line}\n" for line in full.lines([file], self._style))
        if fix is not None:
            sys.stdout.writelines(f"{line}\n" for line in full.alternatives(file, fix, self._style))
        numbers = [str(number) for number in range(1, others + 1)]
        offered = ["y", "n", *numbers, *"iadrsuq", "?"]
        while True:
            print(self._style.paint(f"Apply this fix [{','.join(offered)}]? ", *CYAN), end="", flush=True)
            line = sys.stdin.readline() if sys.stdin is not None else ""
            if not line:
                print()
                return "q"
            answer = line.strip().lower()
            if answer in offered and answer != "?":
                return answer
            sys.stdout.writelines(f"{key} - {meaning}\n" for key, meaning in ANSWERS.items())


def _with_problem(result: FileResult, error: OSError) -> FileResult:
    """A file that is as it was."""
    message = f"not fixed: {error.strerror or error}"
    return result._replace(problems=(*result.problems, Problem(result.file.path, printable(message))))
