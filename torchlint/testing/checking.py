"""What the docstring of a rule has to hold: each check is one thing that is wrong with it, or nothing."""

from __future__ import annotations

import contextlib
import importlib.util
import unittest
from collections.abc import Callable
from dataclasses import dataclass

from torchlint.diagnostic import Applicability, Fixing
from torchlint.file.triggers.gate import can_match
from torchlint.rules import catalogue, faults
from torchlint.testing.examples import Example, examples
from torchlint.testing.linting import applicability, compiles, lint, same_text, show
from torchlint.testing.triggers import missed_in

NEEDED_TO_RUN = ("torch", "numpy")
"""What programs are run and compared with."""


@dataclass(frozen=True)
class Check:
    """One thing that is asked of a rule; to be called, and it raises ``AssertionError`` if the answer is no."""

    code: str
    kind: str
    ask: Callable[[str, Example], None]
    example: Example

    def __str__(self) -> str:
        return f"{self.code}-line{self.example.row}-{self.kind}"

    def __call__(self) -> None:
        """Ask it.

        Raises:
            AssertionError: what is wrong.
            unittest.SkipTest: there is no torch to run a program with.
        """
        self.ask(self.code, self.example)


def checks(selector: str = "") -> list[Check]:
    """What is asked of the blocks of all rules whose code begins like that, in order.

    Raises:
        LookupError: there is no such rule, so nothing would be tested, or a rule of an installed package is missing.
    """
    if missing := faults():
        raise LookupError("; ".join(missing))
    rules = [(code, info.doc) for code, info in catalogue().items() if code.startswith(selector)]
    if not rules:
        raise LookupError(f"no rule has a code that begins with {selector}: is the package with the rules installed?")
    return [Check(code, *each, block) for code, doc in rules for block in examples(doc) for each in _asked(block)]


def check_rule(code: str) -> None:
    """Ask everything of one rule. Programs are left out where there is no torch to run them with.

    Raises:
        AssertionError: what is wrong first.
        LookupError: there is no such rule.
    """
    asked = checks(code)
    check_documentation(catalogue()[code].doc)
    for check in asked:
        with contextlib.suppress(unittest.SkipTest):
            check()


def check_documentation(doc: str) -> None:
    """Whether a docstring has a title, lines with findings and lines without, and executes its safe fixes.

    Raises:
        AssertionError: what is missing.
    """
    title, _, rest = doc.partition("\n")
    assert title.endswith("."), "the first line is a sentence: the rule's title"
    assert not rest.split("\n", 1)[0], "a blank line follows the title"
    blocks = list(examples(doc))
    assert blocks, "there is no diff block"
    assert any(block.marks for block in blocks), "no line has a finding"
    assert any(block.silent for block in blocks), "no line stays silent"
    kinds = {mark.applicability for block in blocks for mark in block.marks}
    if Applicability.SAFE in kinds:
        assert any(block.options for block in blocks), "a safe fix is not executed: no block is marked run or run-after"


def _asked(block: Example) -> list[tuple[str, Callable[[str, Example], None]]]:
    asked: list[tuple[str, Callable[[str, Example], None]]] = [
        ("findings", _findings),
        ("fixes", _fixes),
        ("trigger", _trigger),
    ]
    if block.options:
        asked.append(("execution", _execution))
    return asked


def _findings(code: str, example: Example) -> None:
    """Findings start on the marked lines and on no others, and have the fixes that the marks say."""
    found = lint(example.before, frozenset((code,))).diagnostics
    details = show(example.before, found)
    assert {d.code for d in found} <= {code}, details
    marked = {row: mark for mark in example.marks for row in mark.rows}
    for diagnostic in found:
        mark = marked.get(diagnostic.start.row)
        assert mark is not None, f"a finding on line {diagnostic.start.row}, which is to stay silent{details}"
        assert applicability(diagnostic) is mark.applicability, f"line {diagnostic.start.row}{details}"
        assert diagnostic.start < diagnostic.end, (
            f"the finding on line {diagnostic.start.row} is about nothing{details}"
        )
        assert diagnostic.message, f"the finding on line {diagnostic.start.row} has no message{details}"
    rows = {d.start.row for d in found}
    for mark in example.marks:
        assert rows & set(mark.rows), f"no finding on line {mark.rows[0]}{details}"


def _fixes(code: str, example: Example) -> None:
    """Fixes write what the ``+`` lines say, it compiles, and a second run changes nothing."""
    codes = frozenset((code,))
    for fixing, wanted in ((Fixing.SAFE, example.after_safe), (Fixing.UNSAFE, example.after_unsafe)):
        fixed = lint(example.before, codes, fixing)
        same_text(fixed.text, wanted)
        compiles(fixed.text)
        again = lint(fixed.text, codes, fixing)
        same_text(again.text, fixed.text)
        assert again.diagnostics == fixed.diagnostics, "a second run finds something else"
    assert lint(example.before, codes).text == example.before


def _trigger(code: str, example: Example) -> None:
    """The trigger lets the block in, and keeps nothing in it from the rule."""
    codes = frozenset((code,))
    if example.marks:
        assert can_match(example.before.encode(), codes), "the trigger would leave out a file like this one"
    rows = sorted({row for row, _ in missed_in(example.before, codes)})
    assert not rows, f"only the trigger keeps the rule from a finding on line {rows[0]}: it is narrower than the rule"


def _execution(code: str, example: Example) -> None:
    """Run before and after, the program does the same."""
    if missing := [name for name in NEEDED_TO_RUN if importlib.util.find_spec(name) is None]:
        raise unittest.SkipTest(f"there is no {' and no '.join(missing)} to run it with")
    from torchlint.testing.programs import Program

    program = Program.of(f"{code}-line{example.row}", example, frozenset((code,)))
    program.check_safe_fixes()
    program.check_unsafe_fixes()
