"""No trigger is narrower than its rule: without triggers, nothing more is found, however a program is written.

The programs are the examples of every rule and the case files, whole and with one finding left, and each of them
written in other ways (:mod:`variations`).
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from variations import WAYS, alone, in_a_function, varied

from torchlint.file.check import check_text
from torchlint.file.triggers.gate import possible_rules
from torchlint.rules import catalogue
from torchlint.system.layers import Layer, without
from torchlint.testing.examples import examples

CASES = sorted((Path(__file__).parent / "cases").rglob("*.py"))
CODES = frozenset(catalogue())


def found(text: str, codes: frozenset[str]) -> list[tuple[str, int, str]]:
    return [(each.code, each.start.row, each.message) for each in check_text(text, "x.py", codes).diagnostics]


def without_triggers(text: str, codes: frozenset[str]) -> list[tuple[str, int, str]]:
    with without(Layer.TRIGGERS):
        return found(text, codes)


def narrow(text: str, codes: frozenset[str]) -> Iterator[str]:
    """What is found without triggers only, in a text and in others that say the same.

    Of those the gate is asked first, which takes no time.
    """
    flagged = {row for _, row, _ in without_triggers(text, codes)}
    if not flagged:
        return
    for whole in (in_a_function(text, is_called=called) for called in (False, True)):
        if whole is not None and (missed := unlike(whole, codes)):
            yield f"{missed}\n{whole}"
    for lonely in (text, *alone(text, flagged)):
        for other in (lonely, *(varied(lonely, way) for way in WAYS)):
            if other is not None and not possible_rules(other.encode(), codes):
                if expected := without_triggers(other, codes):
                    yield f"{expected}\n{other}"


def unlike(text: str, codes: frozenset[str]) -> str:
    """How what is found with and without triggers differs."""
    expected, got = without_triggers(text, codes), found(text, codes)
    return "" if got == expected else f"{set(expected) ^ set(got)}"


@pytest.mark.parametrize("code", sorted(CODES))
def test_examples(code: str) -> None:
    wrong = [each for example in examples(catalogue()[code].doc) for each in narrow(example.before, frozenset((code,)))]
    assert not wrong, "\n\n".join(wrong)


@pytest.mark.parametrize("path", CASES, ids=lambda path: path.stem)
def test_case_files(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    codes = sorted({code for code, _, _ in without_triggers(text, CODES)} & CODES)
    wrong = [each for code in codes for each in narrow(text, frozenset((code,)))]
    assert not wrong, "\n\n".join(wrong)
