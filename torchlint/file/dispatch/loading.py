"""Rules are imported when a file is met in which they could find something."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, NamedTuple

from torchlint.diagnostic import Problem
from torchlint.rules import BUILT_IN, RuleInfo, catalogue
from torchlint.rules.declared import DeclarationError
from torchlint.system.crash import described_for, traceback_of

if TYPE_CHECKING:
    from torchlint.rule import Rule


class Loaded(NamedTuple):
    """Rules as they could be loaded."""

    rules: tuple[Rule, ...]
    problems: tuple[Problem, ...]
    """One for each rule of another package that cannot be: the same for all files, and said once."""


def loaded(codes: frozenset[str]) -> Loaded:
    """The rules of some codes, in order. One of another package that cannot be loaded costs only what it would find.

    Nothing is kept but the rules: there are about as many sets of codes as files, and what is kept from one file to
    the next keeps the memory around it from being given back.
    """
    rules: list[Rule] = []
    problems: list[Problem] = []
    for code, info in catalogue().items():
        if code in codes:
            result = _load(info)
            if isinstance(result, Problem):
                problems.append(result)
            else:
                rules.append(result)
    return Loaded(tuple(rules), tuple(problems))


@functools.cache
def _load(info: RuleInfo) -> Rule | Problem:
    from torchlint.rule import load

    if info.distribution == BUILT_IN.distribution:
        return _checked(load(info.module), info)
    try:
        return _checked(load(info.module), info)
    except (Exception, SystemExit) as error:
        message = (
            f"{info.code} cannot be loaded, so its findings are missing: {described_for(info.distribution, error)}"
        )
        return Problem(info.distribution, message, details=traceback_of(error))


def _checked(rule: Rule, info: RuleInfo) -> Rule:
    if rule.trigger != info.trigger:
        raise DeclarationError(f"{info.file}: the trigger is another one than its source says")
    return rule
