"""Programs made by combination (`combinations.py`) do after safe fixes what they did before."""

from __future__ import annotations

import itertools
import os

import pytest
import several_files
from combinations import HEADER, Combination, combinations, crossed
from rule_combinations import each_operation

from torchlint.diagnostic import Fixing
from torchlint.file.check import check_text
from torchlint.rules import catalogue
from torchlint.testing.execution import differences, run

ALL = frozenset(catalogue())
CROSSED = list(crossed())
DRAWN = int(os.environ.get("TORCHLINT_COMBINED", "200"))
"""How many programs are drawn beyond those of each form: more where there is time."""


def wrong(program: Combination) -> list[str] | None:
    """How safe fixes change what a program does; None if it does not run."""
    before = run(program.text)
    if before.error is not None:
        return None
    outcome = check_text(program.text, "program.py", ALL, Fixing.SAFE)
    assert not outcome.problems, outcome.problems
    return [] if outcome.text == program.text else differences(before, run(outcome.text))


@pytest.mark.parametrize("part", range(20))
def test_each_form(part: int) -> None:
    _judge(CROSSED[part::20])


def test_drawn() -> None:
    _judge(itertools.islice(combinations(seed=1), DRAWN))


def _judge(programs: itertools.islice[Combination] | list[Combination]) -> None:
    for program in programs:
        found = wrong(program)
        assert not found, "\n".join((*found, program.text))


def test_most_run_and_what_only_reads_is_fixed() -> None:
    """Else the tests above say nothing."""
    ran = sum(run(program.text).error is None for program in CROSSED[::9])
    assert ran > 0.9 * len(CROSSED[::9])
    readers = [program for program in CROSSED if program.is_reader and not program.is_source]
    safe = [program for program in readers if _is_fixed(program)]
    assert len(safe) > 0.9 * len(readers), [program.write for program in readers if program not in safe]


def _is_fixed(program: Combination) -> bool:
    body = check_text(program.text, "program.py", ALL, Fixing.SAFE).text.removeprefix(HEADER)
    return ".data" not in body


OPERATIONS = list(each_operation())[::3]
"""A third: ``scripts/judge_combinations.py`` runs all of them."""


@pytest.mark.parametrize("part", range(5))
def test_the_old_form_of_each_rule(part: int) -> None:
    for program in OPERATIONS[part::5]:
        found = several_files.wrong(program.files)
        assert not found or not found[0], "\n".join((*found[0], *program.files.values()))
