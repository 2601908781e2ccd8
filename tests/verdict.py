"""What fixing makes of one program: it is run as it stands, after safe fixes and after all."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from once import checked

from torchlint.diagnostic import Fixing
from torchlint.file.check import Outcome
from torchlint.rules import catalogue
from torchlint.testing.execution import ProgramRun, differences, rough_differences, run
from torchlint.testing.programs import KEEPS_NO_GRAPH

ALL = frozenset(catalogue())


@dataclass
class Verdict:
    """One program, judged."""

    found: Counter[str] = field(default_factory=Counter)
    """Findings by code."""
    safe: Counter[str] = field(default_factory=Counter)
    """Safe fixes applied, by code."""
    unsafe: Counter[str] = field(default_factory=Counter)
    """Fixes applied with unsafe ones allowed, beyond the safe ones."""
    ran: bool = False
    mended: bool = False
    """It raised as it stands, and runs after safe fixes."""
    wrong: list[str] = field(default_factory=list)
    """What must not be: a safe fix that changes something, a text that does not compile, a second run that fixes."""
    culprits: set[str] = field(default_factory=set)
    """The codes whose safe fixes alone change something."""
    deviates: list[str] = field(default_factory=list)
    """What unsafe fixes have changed."""
    deviating: set[str] = field(default_factory=set)
    """The codes whose fixes do that alone."""


def judge(text: str) -> Verdict:
    """Fix a program and run it before and after."""
    verdict = Verdict(found=Counter(d.code for d in checked(text, "program.py", ALL).diagnostics))
    before = run(text)
    verdict.ran = before.error is None
    safe = _fixed(text, Fixing.SAFE, ALL, verdict)
    unsafe = _fixed(text, Fixing.UNSAFE, ALL, verdict)
    verdict.safe, verdict.unsafe = Counter(dict(safe.fixed)), Counter(dict(unsafe.fixed))
    verdict.unsafe.subtract(verdict.safe)
    if safe.text != text:
        wrong = _changed_by_safe_fixes(text, before, safe, verdict)
        verdict.wrong += wrong
        if wrong and verdict.ran:
            verdict.culprits = {code for code in verdict.safe if _is_changed(text, before, code)}
    if unsafe.text != safe.text and verdict.ran:
        verdict.deviates = rough_differences(before, run(unsafe.text))
        if verdict.deviates:
            verdict.deviating = {code for code in verdict.unsafe if _deviates(text, before, code)}
    return verdict


def _fixed(text: str, fixing: Fixing, codes: frozenset[str], verdict: Verdict) -> Outcome:
    outcome = checked(text, "program.py", codes, fixing)
    verdict.wrong += [problem.message for problem in outcome.problems]
    if outcome.text != text:
        try:
            compile(outcome.text, "program.py", "exec", dont_inherit=True)
        except SyntaxError as error:
            verdict.wrong.append(f"{fixing.value} fixes leave what does not compile: {error}")
        again = checked(outcome.text, "program.py", codes, fixing).text
        if again != outcome.text:
            verdict.wrong.append(f"a second run with {fixing.value} fixes changes it again")
    return outcome


def _changed_by_safe_fixes(text: str, before: ProgramRun, safe: Outcome, verdict: Verdict) -> list[str]:
    after = run(safe.text)
    if before.error is not None:
        verdict.mended = after.error is None
        nonsense = isinstance(after.error, (SyntaxError, NameError)) and type(after.error) is not type(before.error)
        return [f"raised {before.error!r}, and now {after.error!r}"] if nonsense else []
    if KEEPS_NO_GRAPH not in verdict.safe:
        return differences(before, after)
    others = checked(text, "program.py", ALL - {KEEPS_NO_GRAPH}, Fixing.SAFE)
    return differences(before, after, may_detach=True) or differences(before, run(others.text))


def _is_changed(text: str, before: ProgramRun, code: str) -> bool:
    outcome = checked(text, "program.py", frozenset((code,)), Fixing.SAFE)
    return bool(differences(before, run(outcome.text), may_detach=code == KEEPS_NO_GRAPH))


def _deviates(text: str, before: ProgramRun, code: str) -> bool:
    outcome = checked(text, "program.py", frozenset((code,)), Fixing.UNSAFE)
    return bool(rough_differences(before, run(outcome.text)))
