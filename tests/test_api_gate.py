"""The gate of the table lets through what its rules find, under whatever name a file knows a symbol."""

from __future__ import annotations

import re
from typing import Any
from unittest import mock

import pytest
from test_api_table import ROWS, label

from torchlint.file import check
from torchlint.file.check import check_text
from torchlint.file.triggers.gate import possible_rules

NAMED = [
    row for row in ROWS if row["kind"] not in ("module", "method") and not row["name"].split(".")[-2:-1][0][0].isupper()
]
FORMS = {
    "import": "from {package} import {last} as renamed",
    "assignment": "import {top}\nrenamed = {name}",
    "assigned module": "import {top}\nmodule = {package}\n",
    "module": "import {package} as module",
    "second module": "import os as system, {package} as module",
    "second import": "from {above} import (  # all of it\n    autograd,\n    {module} as module,\n)",
}


def spelled(row: dict[str, Any], form: str) -> str | None:
    """The row's example with its symbol by another name; None where the example does not name it."""
    package, _, last = row["name"].rpartition(".")
    name = "renamed" if form in ("import", "assignment") else f"module.{last}"
    before, count = re.subn(rf"\b(?:\w+\.)*{last}\b(?=\()", name, row["before"])
    if not count or not package:
        return None
    above, _, module = package.rpartition(".")
    if form == "second import" and not above:
        return None
    top = package.partition(".")[0]
    head = FORMS[form].format(package=package, last=last, name=row["name"], top=top, above=above, module=module)
    return f"{head}\n{before}\n"


@pytest.mark.parametrize("form", FORMS)
def test_the_gate_is_not_narrower_than_the_rule(form: str) -> None:
    """One test for all rows: each takes a tenth of what a test of its own costs."""
    narrower = [f"{label(row)}:\n{text}" for row in NAMED if (text := spelled(row, form)) and is_left_out(text, row)]
    assert not narrower, "\n".join(narrower)


def is_left_out(text: str, row: dict[str, Any]) -> bool:
    """Whether the gate keeps a text from the rule that finds something in it."""
    codes = frozenset((row["rule"],))
    if possible_rules(text.encode(), codes):
        return False
    with mock.patch.object(check, "possible_rules", lambda data, codes: codes):
        return any(found.code in codes for found in check_text(text, "x.py", codes).diagnostics)


def test_most_rows_are_spelled() -> None:
    """Else the test above says nothing."""
    assert all(sum(spelled(row, form) is not None for row in NAMED) > len(NAMED) / 2 for form in FORMS)
