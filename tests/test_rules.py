"""Every rule against the blocks of its own docstring, and all rules together against ``tests/cases``."""

from __future__ import annotations

import difflib
import functools
import re
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
from once import once

from torchlint import edit
from torchlint.diagnostic import Applicability, Diagnostic, Fixing
from torchlint.file.check import check_text
from torchlint.file.dispatch import dispatch
from torchlint.model import Model
from torchlint.project.pages import kinds_of_fixes
from torchlint.rule import Finding, Result, load
from torchlint.rules import catalogue
from torchlint.testing import BadExample, Check, Mark, check_documentation, checks, examples, lint
from torchlint.testing.linting import compiles, same_text

ROOT = Path(__file__).parent.parent
CASES = sorted((ROOT / "tests" / "cases").glob("*.py"))
ALL = frozenset(catalogue())
CODES = sorted(ALL)


# --------------------------------------------------------------------- docstrings


per_rule = pytest.mark.parametrize("code", CODES)


@pytest.mark.parametrize("check", checks("TL"), ids=str)
def test_examples(check: Check) -> None:
    check()


@per_rule
def test_documentation(code: str) -> None:
    doc = catalogue()[code].doc
    check_documentation(doc)
    rest = doc.partition("\n")[2]
    assert re.search(r"\bunsafe\b", rest), "it does not say when the fix is unsafe (or that it never is)"
    assert re.search(r"https://((docs\.)?pytorch\.org|github\.com)/", rest), (
        "no link to torch's documentation or source"
    )


@per_rule
def test_triggers(code: str) -> None:
    info = catalogue()[code]
    rule = load(info.module)
    assert rule.checks, "no function is registered"
    assert info.trigger == rule.trigger
    assert (info.code, info.name) == (rule.code, rule.name)
    assert all(check.types for check in rule.checks)


def test_codes_and_names() -> None:
    names = Counter(info.name for info in catalogue().values())
    assert max(names.values()) == 1
    for code, info in catalogue().items():
        assert re.fullmatch(r"TL[1-9]\d\d", code)
        assert re.fullmatch(r"[a-z]+(-[a-z]+)*", info.name)


def test_the_format_of_a_block() -> None:
    doc = "T.\n\n```diff run\n import torch\n+import new\n\n-a\n-b\n+c\n-d\n~e\n+f\n!g\n```\n```diff\n x\n```\n"
    first, second = examples(doc)
    assert first.before == "import torch\n\na\nb\nd\ne\ng\n"
    assert first.after_safe == "import torch\nimport new\n\nc\ne\ng\n"
    assert first.after_unsafe == "import torch\nimport new\n\nc\nf\ng\n"
    assert first.marks == (
        Mark((3, 4), Applicability.SAFE),
        Mark((5,), Applicability.SAFE),
        Mark((6,), Applicability.UNSAFE),
        Mark((7,), None),
    )
    assert (first.options, first.row, first.silent) == (frozenset({"run"}), 3, 1)
    assert (second.before, second.marks, second.options, second.row) == ("x\n", (), frozenset(), 15)


@pytest.mark.parametrize("doc", ["```diff\n x\n", "```diff fast\n x\n```\n", "```diff\nx\n```\n"])
def test_a_bad_block(doc: str) -> None:
    with pytest.raises(BadExample, match=r"line [12]:"):
        list(examples(doc))


# --------------------------------------------------------------------- tests/cases


linted = functools.cache(once()(lint))
"""The same text is looked at by several tests."""

EXPECTED = re.compile(r"#\s*(\^*)\s*((?:TL\d{3}(?:`[^`]*`)?\s*)+)$")
EACH = re.compile(r"(TL\d{3})(?:`([^`]*)`)?")


@dataclass(frozen=True, order=True)
class Expectation:
    row: int
    code: str
    text: str = ""
    """What the finding's range begins with; empty: anything."""


def expectations(text: str) -> list[Expectation]:
    wanted = []
    for row, line in enumerate(re.split(r"\r\n|\r|\n", text), 1):
        match = EXPECTED.search(line)
        if match:
            at = row - len(match[1])
            wanted += [Expectation(at, code, begins) for code, begins in EACH.findall(match[2])]
    return wanted


def begins(text: str, diagnostic: Diagnostic) -> str:
    line = re.split(r"\r\n|\r|\n", text)[diagnostic.start.row - 1]
    return line[diagnostic.start.column - 1 :]


def read(path: Path) -> str:
    return path.read_bytes().decode("utf-8")


per_case = pytest.mark.parametrize("path", CASES, ids=lambda path: path.stem)
per_fixing = pytest.mark.parametrize("fixing", [Fixing.SAFE, Fixing.UNSAFE], ids=lambda fixing: fixing.value)


def test_the_kinds_of_fixes_of_a_page_are_all_that_are_seen() -> None:
    """A reader decides by them whether `--fix` touches what a rule finds."""
    shown, missing = {code: {each.removeprefix("sometimes ") for each in kinds_of_fixes(code)} for code in CODES}, set()
    for path in (*CASES, *sorted((ROOT / "examples").rglob("*.py"))):
        for found in linted(read(path), ALL).diagnostics:
            kind = found.fix.applicability.value if found.fix is not None else "none"
            if found.code in shown and kind not in (shown[found.code] or {"none"}):
                missing.add(f"{found.code}: no example has a fix that is {kind}, as {path.name}:{found.start.row} has")
    assert not missing, "\n" + "\n".join(sorted(missing))


@per_case
def test_findings_of_a_case(path: Path) -> None:
    text = read(path)
    found = list(linted(text, ALL).diagnostics)
    problems = []
    for wanted in expectations(text):
        here = [d for d in found if (d.start.row, d.code) == (wanted.row, wanted.code)]
        match = next((d for d in here if begins(text, d).startswith(wanted.text)), None)
        if match is None:
            places = f", only at {[begins(text, d) for d in here]}" if here else ""
            problems.append(f"{path.name}:{wanted.row}: no {wanted.code}({wanted.text}){places}")
        else:
            found.remove(match)
    problems += [f"{path.name}:{d.start.row}: {d.code} at {begins(text, d)!r} is not expected" for d in found]
    assert not problems, "\n" + "\n".join(problems)


@per_fixing
@per_case
def test_fixes_of_a_case(path: Path, fixing: Fixing) -> None:
    text = read(path)
    fixed = linted(text, ALL, fixing)
    compiles(fixed.text)
    again = linted(fixed.text, ALL, fixing)
    same_text(again.text, fixed.text)
    assert not again.fixed


@per_fixing
@per_case
def test_only_statements_with_findings_change(path: Path, fixing: Fixing) -> None:
    """Others may only move into a new block, by one step, and an import may go with the last use of what it binds."""
    text = read(path)
    checked, fixed = linted(text, ALL), linted(text, ALL, fixing)
    allowed = {row for d in checked.diagnostics for row in range(d.rows[0], d.rows[1] + 1)}
    lines, new = text.split("\n"), fixed.text.split("\n")
    for tag, first, last, new_first, new_last in difflib.SequenceMatcher(
        None, lines, new, autojunk=False
    ).get_opcodes():
        if tag in ("replace", "delete"):
            changed = [row for row in range(first + 1, last + 1) if row not in allowed and lines[row - 1].strip()]
            if fixed.text.count("with torch.no_grad():") > text.count("with torch.no_grad():"):
                changed = [row for row in changed if "    " + lines[row - 1] not in new]
            changed = [row for row in changed if lines[row - 1] != "import torch.autograd as autograd"]
            assert not changed, f"{path.name}:{changed[0]}: {lines[changed[0] - 1]!r} has no finding and changed"
        elif tag == "insert":
            added = "\n".join(new[new_first:new_last])
            assert {first, first + 1} & allowed or added.startswith("import "), f"{path.name}:{first}: {added!r} is new"


VARIANTS: dict[str, Callable[[str], str]] = {
    "crlf and form feeds": lambda text: re.sub(r"(?m)^(class |def )", "\f\\1", text).replace("\n", "\r\n"),
    "cr, and no newline at the end": lambda text: text.replace("\n", "\r").rstrip("\r"),
    "tabs": lambda text: re.sub(r"(?m)^(?:    )+", lambda match: "\t" * (len(match.group()) // 4), text),
}


@pytest.mark.parametrize("variant", VARIANTS)
@per_case
def test_the_bytes_between_edits_stay(path: Path, variant: str) -> None:
    """To change a file's newlines or indentation and to fix it: the order does not matter."""
    text = read(path)
    change = str if re.search(r"[\r\f\t]", text) else VARIANTS[variant]  # str: already such a file
    for fixing in (Fixing.SAFE, Fixing.UNSAFE):
        same_text(linted(change(text), ALL, fixing).text, change(linted(text, ALL, fixing).text))


BRACKETS = """
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(3, 3))
        (self.weight.data).fill_(2)
        (self.weight.data.fill_)(2)
        (self.weight.data.fill_(2))
        self.weight.data @= torch.eye(3)
        self.weight.data.detach_()


w = torch.ones(3)
a = (w.cpu().detach)().numpy()
b = (w.detach)().tolist()
c = (((w.data)))[0]
d = ((w.cpu()).detach())
"""


def test_brackets_anywhere_in_a_chain() -> None:
    outcome = check_text(BRACKETS, "brackets.py", ALL, Fixing.UNSAFE)
    assert not outcome.problems
    compile(outcome.text, "brackets.py", "exec")
    assert "(nn.init.constant_(self.weight, 2))" in outcome.text
    assert "self.weight.data @= torch.eye(3)" in outcome.text


def test_a_fix_that_breaks_the_syntax_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    rule = load("torchlint.rules.tl105_transfer_before_detach")
    function = rule.checks[0].function

    def breaks(node: Any, model: Model) -> Result:
        found = function(node, model)
        if not isinstance(found, Finding) or found.fix is None:
            return found
        return replace(found, fix=replace(found.fix, edits=(edit.insert_after(found.node, ")"),)))

    broken = replace(rule, checks=(replace(rule.checks[0], function=breaks),))
    monkeypatch.setattr(dispatch, "rules_of", lambda codes: (broken, load("torchlint.rules.tl106_redundant_detach")))
    text = "import torch\nw = torch.ones(1, requires_grad=True)\na = w.cpu().detach()\nb = w.detach().item()\n"
    outcome = check_text(text, "x.py", frozenset(("TL105", "TL106")), Fixing.SAFE)
    assert outcome.text == text.replace(".detach().item()", ".item()")
    assert [problem.row for problem in outcome.problems] == [3]
