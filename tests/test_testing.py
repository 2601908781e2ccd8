"""What `torchlint.testing` says of docstrings that are wrong."""

from __future__ import annotations

import dataclasses
import unittest
from pathlib import Path

import pytest

from torchlint.file.dispatch import dispatch
from torchlint.file.triggers import search
from torchlint.rule import load
from torchlint.rules import RuleInfo, catalogue
from torchlint.testing import (
    Check,
    check_documentation,
    check_rule,
    checking,
    checks,
    examples,
    linting,
    missed,
    programs,
)
from torchlint.trigger import word


def block(code: str, text: str) -> dict[str, Check]:
    """The checks of the only block of a docstring, by kind."""
    (example,) = examples(text)
    return {kind: Check(code, kind, ask, example) for kind, ask in checking._asked(example)}


GOOD = """Reads.

```diff run
 import torch
 w = torch.ones(3, requires_grad=True)
-x = w.data * 2
+x = w.detach() * 2
 y = 1
```
"""

WRONG = {
    "a line that stays silent": (
        GOOD.replace("-x", " x").replace("+x = w.detach() * 2\n", ""),
        "findings",
        "to stay silent",
    ),
    "a line without a finding": (GOOD.replace(" y = 1", "!y = 1"), "findings", "no finding on line 4"),
    "a fix that is not safe": (GOOD.replace("-x", "~x"), "findings", "line 3"),
    "another text": (GOOD.replace("detach()", "clone()"), "fixes", r"-x = w\.clone"),
    "a file that the gate leaves out": ("```diff\n!x = y.data\n```\n", "trigger", "would leave out"),
    "a program that raises": (GOOD.replace(" y = 1", " y = 1 / 0"), "execution", "it is to run before"),
    "a program that runs": (GOOD.replace("diff run", "diff run-after"), "execution", "it is to raise before"),
    "a program that does the same": (GOOD.replace("diff run", "diff run-differs"), "execution", "changes nothing"),
}


@pytest.mark.parametrize("what", WRONG)
def test_a_wrong_block(what: str) -> None:
    text, kind, message = WRONG[what]
    with pytest.raises(AssertionError, match=message):
        block("TL101", text)[kind]()


def test_a_trigger_that_is_narrower_than_its_rule(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Today's rules have none, so one is given to TL101: a word that the file does not have."""
    body = "    x = w.data * 2\n" + "    print(x, x, x, x, x)\n" * 20
    text = f"import torch\nw = torch.ones(3, requires_grad=True)\n\n\ndef f():\n{body}"
    path = tmp_path / "case.py"
    path.write_text(text, encoding="utf-8")
    assert missed("TL101", str(tmp_path)) == []
    narrow: dict[str, RuleInfo] = {"TL101": dataclasses.replace(catalogue()["TL101"], trigger=word("elsewhere"))}
    monkeypatch.setattr(search, "catalogue", lambda: narrow)
    search.searches.cache_clear()
    try:
        assert missed("TL101", str(tmp_path)) == [f"{path}:6:11"]
    finally:
        search.searches.cache_clear()


def test_a_right_block() -> None:
    asked = block("TL101", GOOD)
    assert [str(check) for check in asked.values()] == [
        f"TL101-line3-{kind}" for kind in ("findings", "fixes", "trigger", "execution")
    ]
    for check in asked.values():
        check()


def test_a_fix_that_changes_the_program(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody has such a rule, so what it would write is put in its place."""
    program = GOOD.replace(" y = 1", " y = torch.rand(1)")
    asked = block("TL101", program)
    asked["execution"]()
    lint = linting.lint
    monkeypatch.setattr(
        programs, "lint", lambda *given: dataclasses.replace(lint(*given), text="import torch\nx = torch.ones(3)\n")
    )
    with pytest.raises(AssertionError, match="w is gone"):
        asked["execution"]()


@pytest.mark.raising_rules
def test_a_rule_that_raises_is_told() -> None:
    """A rule that is not asked gives the reason, and where it raised."""
    rule = load("torchlint.rules.tl101_data_read")

    def raises(node: object, model: object) -> None:
        raise ZeroDivisionError("here")

    broken = dataclasses.replace(rule, checks=(dataclasses.replace(rule.checks[0], function=raises),))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(dispatch, "rules_of", lambda codes: (broken,))
        with pytest.raises(AssertionError, match=r"(?s)TL101 raised ZeroDivisionError.*Traceback"):
            block("TL101", GOOD)["findings"]()


def test_without_torch_programs_are_skipped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checking, "NEEDED_TO_RUN", ("torch", "no_such_package"))
    with pytest.raises(unittest.SkipTest, match="no no_such_package"):
        block("TL101", GOOD)["execution"]()
    check_rule("TL106")  # it leaves out what it skips


def test_nothing_to_test_is_a_mistake() -> None:
    with pytest.raises(LookupError, match="begins with XY"):
        checks("XY")
    with pytest.raises(LookupError, match="begins with TL999"):
        check_rule("TL999")


@pytest.mark.parametrize(
    ("doc", "missing"),
    [
        ("No sentence\n", "a sentence"),
        ("Title.\nMore.\n", "a blank line"),
        ("Title.\n\nProse.\n", "no diff block"),
        ("Title.\n\n```diff\n x = 1\n```\n", "no line has a finding"),
        ("Title.\n\n```diff\n!x = 1\n```\n", "no line stays silent"),
        ("Title.\n\n```diff\n x = 1\n-y = 1\n```\n", "is not executed"),
    ],
)
def test_documentation_that_lacks_something(doc: str, missing: str) -> None:
    with pytest.raises(AssertionError, match=missing):
        check_documentation(doc)
