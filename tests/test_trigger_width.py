"""No trigger is narrower than its rule: without triggers, nothing more is found, however a program is written.

The programs are the examples of every rule and the case files, whole and with one finding left, and each of them
written in other ways (:mod:`variations`).
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest
from variations import forms, in_a_function

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
    flagged = [(code, row) for code, row, _ in without_triggers(text, codes) if code in codes]
    if not flagged:
        return
    for whole in (in_a_function(text, is_called=called) for called in (False, True)):
        if whole is not None and (missed := unlike(whole, codes)):
            yield f"{missed}\n{whole}"
    for rows, other in forms(text, {row for _, row in flagged}):
        wanted = frozenset(code for code, row in flagged if rows is None or row in rows)
        closed = wanted - possible_rules(other.encode(), wanted)
        if closed and is_python(other) and (expected := without_triggers(other, closed)):
            yield f"{expected}\n{other}"


def is_python(text: str) -> bool:
    try:
        ast.parse(text)
    except SyntaxError:
        return False
    return True


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
    wrong = list(narrow(text, CODES))
    assert not wrong, "\n\n".join(wrong)
