"""Whole programs that fixes are judged by: each runs under torch as it stands, and again when it is fixed."""

from __future__ import annotations

from dataclasses import dataclass

from torchlint.diagnostic import Fixing
from torchlint.file.check import Outcome
from torchlint.testing.examples import Example
from torchlint.testing.execution import ProgramRun, differences, rough_differences, run
from torchlint.testing.linting import lint

KEEPS_NO_GRAPH = "TL107"
"""The rule whose fix is to let go of graphs: what was kept has the same values, and no gradient."""


@dataclass(frozen=True)
class Program:
    """Something to run before and after a fix."""

    name: str
    text: str
    codes: frozenset[str]
    """The rules that fix it."""
    raises: bool
    """Before it is fixed."""
    unsafe_only: bool = False
    """Only with unsafe fixes does it run."""
    differs: bool = False
    """What it computes is wrong before unsafe fixes."""

    @classmethod
    def of(cls, name: str, example: Example, codes: frozenset[str]) -> Program:
        """The program that a block is which is marked ``run``, ``run-after`` or ``run-differs``."""
        unsafe_only = example.after_safe != example.after_unsafe
        raises, differs = "run-after" in example.options, "run-differs" in example.options
        return cls(name, example.before, codes, raises, unsafe_only, differs)

    def check_safe_fixes(self) -> None:
        """Safe fixes change nothing that the program does, or it ends no longer with an exception.

        Raises:
            AssertionError: they change something, and what.
        """
        before = self._before()
        outcome = self._fixed(Fixing.SAFE)
        after = run(outcome.text, self.name)
        if self.raises:
            assert after.error is None or self.unsafe_only, f"{after.error!r}\n{outcome.text}"
            return
        found = differences(before, after, may_detach=KEEPS_NO_GRAPH in dict(outcome.fixed))
        assert not found, "\n".join((*found, outcome.text))

    def check_unsafe_fixes(self) -> None:
        """With unsafe fixes the program runs, and the values are close, or others where they are wrong before.

        Raises:
            AssertionError: it does not, or they are not.
        """
        outcome = self._fixed(Fixing.UNSAFE)
        after = run(outcome.text, self.name)
        found = rough_differences(self._before(), after)
        if self.differs:
            assert after.error is None, f"{after.error!r}\n{outcome.text}"
            assert found, f"the fix changes nothing that is computed\n{outcome.text}"
            return
        assert not found, "\n".join((*found, outcome.text))

    def _before(self) -> ProgramRun:
        """What the program does as it stands: it runs, or raises, as it says."""
        ran = run(self.text, self.name)
        if self.raises:
            assert ran.error is not None, "it is to raise before it is fixed"
        else:
            assert ran.error is None, f"it is to run before it is fixed: {ran.error!r}"
        return ran

    def _fixed(self, fixing: Fixing) -> Outcome:
        return lint(self.text, self.codes, fixing)
