"""What fixes must not do, and what happens when a rule does it all the same."""

from __future__ import annotations

import ast
from collections.abc import Callable

import libcst as cst
import pytest
from conftest import Torchlint

from torchlint import edit
from torchlint.diagnostic import Applicability, Fixing, TextEdit
from torchlint.file import check
from torchlint.file.check import Outcome, check_text
from torchlint.file.dispatch import dispatch
from torchlint.file.fix import rounds
from torchlint.file.fix.verify import BREAKS, CHANGES, Guard
from torchlint.file.text.edits import splice
from torchlint.file.tree.placeholders import MAX_DEPTH, MAX_PARTS, PLACEHOLDER, without_async, without_chains
from torchlint.rule import Edit, Finding, Fix, NodeCheck, Rule
from torchlint.system.stack import with_big_stack
from torchlint.trigger import word

Write = Callable[[dict[str, str | bytes]], None]

CODE = """\
import torch


def f(x, y):
    if x.data:
        a = x.data; b = y
        c = y
    else:
        d = y
    for i in y:
        e = "é", x.data
    return a


@decorated(1)
class C:
    def g(self): return self.data

    try:
        pass
    except E:
        pass
    finally:
        z = 1
"""

WITH = "with torch.no_grad():\n            "

# what is replaced by what (each once), and what is said to it: nothing, the syntax, or the line that changes
EDITS: dict[str, tuple[list[tuple[str, str]], str | int | None]] = {
    "inside a statement": ([("a = x.data", "a = x.detach()")], None),
    "one of two on a line": ([("; b = y", "; b = y.detach()")], None),
    "inside a header": ([("if x.data", "if x.detach()")], None),
    "behind other characters": ([('"é", x.data', '"é", x.detach()')], None),
    "a decorator": ([("decorated(1)", "decorated(2)")], None),
    "a body on the line of its header": ([("return self.data", "return self.detach()")], None),
    "a block around a statement": ([("        c = y", f"        {WITH}c = y")], None),
    "a block around two": (
        [("        c = y\n    else:\n        d", f"        {WITH}c = y\n    else:\n        d")],
        None,
    ),
    "an import": ([("import torch\n", "import torch\nimport numpy\n")], None),
    "a line less": ([("        c = y\n", "")], None),
    "a line less and one more": ([("        c = y\n", ""), ("import torch", "import os\nimport torch")], None),
    "nothing": ([], None),
    "no Python": ([("a = x.data", "a = x.data)")], BREAKS),
    "no block": ([("        d = y\n", "")], BREAKS),
    "what only the compiler sees": ([("    return a\n", ""), ("z = 1", "return 1")], BREAKS),
    "a future import in the wrong place": (
        [("import torch\n", "import torch\nfrom __future__ import division\n")],
        BREAKS,
    ),
    "the next statement swallowed": (
        [("        c = y\n", "        c = '''y\n"), ("        d = y", "'''\n        d = y")],
        5,
    ),
    "an else and all that is in it": ([("    else:\n        d = y\n", "")], None),
    "an else around a statement": ([("        c = y\n    else:\n", "        c = y\n")], 5),
    "the next statement in the block": ([("    return a", "        return a")], None),
    "a header that takes what follows": ([("import torch\n\n\n", "import torch\nif torch:\n  ")], 4),
    "a block that ends early": ([("        e = ", "        pass\n    e = ")], None),
}


def edits(text: str, changes: list[tuple[str, str]]) -> list[TextEdit]:
    """Edits as small as rules make them: without what old and new text begin and end with in common."""
    found = []
    for old, new in changes:
        assert text.count(old) == 1, old
        start, end = text.index(old), text.index(old) + len(old)
        while old and new and old[0] == new[0]:
            old, new, start = old[1:], new[1:], start + 1
        while old and new and old[-1] == new[-1]:
            old, new, end = old[:-1], new[:-1], end - 1
        found.append(TextEdit(start, end, new))
    return found


@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"], ids=repr)
@pytest.mark.parametrize(("changes", "expected"), EDITS.values(), ids=EDITS)
def test_objections(changes: list[tuple[str, str]], expected: str | int | None, newline: str) -> None:
    text = CODE.replace("\n", newline)
    changes = [(old.replace("\n", newline), new.replace("\n", newline)) for old, new in changes]
    made = edits(text, changes)
    found = Guard(text, text).objection(made, splice(text, made))
    if isinstance(expected, int):
        assert found is not None
        assert f"line {expected if newline != chr(13) else 1} " in found
    else:
        assert found == expected


# whole texts before and after one edit at the given place: an edit that says it is about less than it changes
LIES = {
    "another statement": ("a = 1\nb = 2\n", TextEdit(0, 5, "a = 1\nc = 3"), None),
    "indented": ("if a:\n    b = 1\nc = 2\n", TextEdit(18, 18, "    "), None),
    "a comment sign before a statement": ("a = 1; b = 2\n", TextEdit(5, 5, " #"), "line 1 "),
    "a backslash": ("a = 1\n-b\n", TextEdit(5, 5, " \\"), "line 2 "),
    "an open bracket closed later": ("a = 1\n(b)\n", TextEdit(5, 6, ""), "line 2 "),
    "a string that eats a line": ("a = 1\nb = 2\nc = 3\n", TextEdit(4, 5, "'''"), BREAKS),
    "a dedent": ("if a:\n    b = 1\n    c = 2\n", TextEdit(16, 16, "d = 1\n"), BREAKS),
    "an else of another if": ("if a:\n  if b:\n    c\nelse:\n  d\n", TextEdit(20, 26, "  else:\n  "), "line 1 "),
}


@pytest.mark.parametrize(("text", "made", "expected"), LIES.values(), ids=LIES)
def test_lies(text: str, made: TextEdit, expected: str | None) -> None:
    found = Guard(text, text).objection([made], splice(text, [made]))
    assert (found is None) if expected is None else (found is not None and expected in found), found


def test_a_statement_in_another_block() -> None:
    text = "if a:\n  b\n  c\n"
    under = [TextEdit(9, 9, "\nif z:\n  y")]
    assert Guard(text, text).objection(under, splice(text, under)) == CHANGES.format(3)
    beside = [TextEdit(3, 4, "z"), TextEdit(9, 9, "\nelse:\n  y")]
    assert Guard(text, text).objection(beside, splice(text, beside)) == CHANGES.format(3)


def test_a_statement_that_appears() -> None:
    text = "a = '''\nb\n'''\nc\n"
    made = [TextEdit(4, 7, "1"), TextEdit(10, 13, "")]
    assert splice(text, made) == "a = 1\nb\n\nc\n"
    assert Guard(text, text).objection(made, splice(text, made)) == CHANGES.format(2)


def test_what_did_not_parse_for_async_must_parse_only_when_all_of_it_is_fixed() -> None:
    text = "a.cuda(async=True)\nb.cuda(async=True)\nc = 1\n"
    guard = Guard(text, without_async(text))
    first = TextEdit(7, 12, "non_blocking")
    after = splice(text, [first])
    assert guard.objection([first], without_async(after)) is None
    broken = TextEdit(len(text) - 2, len(text) - 1, "(")
    assert guard.objection([broken], without_async(splice(text, [broken]))) == BREAKS
    plain = Guard("c = 1\n", "c = 1\n")
    assert plain.objection([TextEdit(4, 5, "f(async=1)")], without_async("c = f(async=1)\n")) == BREAKS


def test_what_this_python_cannot_parse_is_not_judged() -> None:
    text = "x = = 1\n"
    assert Guard(text, text).objection([TextEdit(4, 5, "")], "x =  = 1\n") is None


# ------------------------------------------------------------------------------------------ rules that do it


TEXT = "import torch\nx = torch.ones(3)\ngood.one\nbad.two; y = 1\ngood.two\n"

Made = Callable[[cst.Attribute], tuple[Edit, ...]]


def rule(code: str, name: str, made: Made, applicability: Applicability = Applicability.SAFE) -> Rule:
    def check(node: cst.Attribute, model: object) -> Finding | None:
        if not isinstance(node.value, cst.Name) or node.value.value != name:
            return None
        return Finding(node.attr, "it is so", Fix("Do it", made(node), applicability))

    return Rule(code, code.lower(), "", (NodeCheck(check, (cst.Attribute,), word("torch")),))


def lint(monkeypatch: pytest.MonkeyPatch, *rules: Rule, text: str = TEXT, fixing: Fixing = Fixing.SAFE) -> Outcome:
    monkeypatch.setattr(dispatch, "rules_of", lambda codes: rules)
    monkeypatch.setattr(check, "possible_rules", lambda data, codes: codes)
    return check_text(text, "x.py", frozenset(("TL101", "TL201")), fixing)


def good(node: cst.Attribute) -> tuple[Edit, ...]:
    return (edit.replace(node.value, "fine"),)


BAD: dict[str, tuple[Made, str]] = {
    "syntax": (lambda node: (edit.replace(node.attr, ")"),), BREAKS),
    "the rest of the line": (lambda node: (edit.insert_after(node, " #"),), "would change line 4 too"),
}


@pytest.mark.parametrize("fixing", [Fixing.SAFE, Fixing.UNSAFE])
@pytest.mark.parametrize(("made", "reason"), BAD.values(), ids=BAD)
def test_only_what_is_wrong_is_left_out(
    made: Made, reason: str, fixing: Fixing, monkeypatch: pytest.MonkeyPatch
) -> None:
    outcome = lint(monkeypatch, rule("TL101", "bad", made), rule("TL201", "good", good), fixing=fixing)
    assert outcome.text.count("fine.") == 2
    assert "; y = 1\n" in outcome.text
    ast.parse(outcome.text)
    assert dict(outcome.fixed)["TL201"] == 2
    left = [d for d in outcome.diagnostics if d.code == "TL101"]
    assert [(d.start.row, d.fix) for d in left] == [(4, None)]
    messages = [problem.message for problem in outcome.problems]
    assert len(messages) == 1
    assert messages[0].startswith(f"the fix of TL101 {reason}")


def test_fixes_that_break_only_together(monkeypatch: pytest.MonkeyPatch) -> None:
    text = "import torch\nif a.b:\n    b.c\n    good.one\n"

    def nothing(node: cst.Attribute) -> tuple[Edit, ...]:
        return (edit.replace(node, "0 if b else 1"),)

    def opened(node: cst.Attribute) -> tuple[Edit, ...]:
        return (edit.replace(node, "'''" if node.attr.value == "c" else "''''''"),)

    outcome = lint(
        monkeypatch, rule("TL101", "b", opened), rule("TL201", "a", nothing), rule("TL201", "good", good), text=text
    )
    assert outcome.text == "import torch\nif 0 if b else 1:\n    b.c\n    fine.one\n"
    assert [problem.row for problem in outcome.problems] == [3]


def test_fixes_that_undo_each_other_cost_no_others(monkeypatch: pytest.MonkeyPatch) -> None:
    text = "import torch\nred.x\ngood.x\n"
    there = rule("TL101", "red", lambda node: (edit.replace(node.value, "blue"),))
    back = rule("TL101", "blue", lambda node: (edit.replace(node.value, "red"),))
    outcome = lint(monkeypatch, there, back, rule("TL201", "good", good), text=text)
    assert outcome.text == "import torch\nred.x\nfine.x\n"
    assert outcome.fixed == (("TL201", 1),)
    assert [p.message for p in outcome.problems] == ["the fixes of TL101 did not come to an end: left out"]
    assert [(d.code, d.fix) for d in outcome.diagnostics] == [("TL101", None)]


def test_fixes_that_never_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rounds, "MAX_ROUNDS", 20)
    text = "import torch\ngrow.x\ngood.x\n"
    longer = rule("TL101", "grow", lambda node: (edit.insert_after(node, ".x"),))
    outcome = lint(monkeypatch, longer, rule("TL201", "good", good), text=text)
    assert outcome.text == "import torch\ngrow.x\nfine.x\n"
    assert [p.message for p in outcome.problems] == ["the fixes of TL101 did not come to an end: left out"]


@pytest.mark.parametrize(("characters", "most"), [(10, 3), (200, 20)])
def test_a_large_text_takes_fewer_rounds(characters: int, most: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rounds, "FEW_ROUNDS", 3)
    monkeypatch.setattr(rounds, "MAX_CHARACTERS", characters)
    lengths = []

    def grown(node: cst.Attribute) -> tuple[Edit, ...]:
        lengths.append(len(cst.Module([]).code_for_node(node)))
        return (edit.insert_after(node, ".x"),)

    outcome = lint(monkeypatch, rule("TL101", "grow", grown), text="import torch\ngrow.x\n")
    assert [p.message for p in outcome.problems] == ["the fixes of TL101 did not come to an end: left out"]
    assert max(lengths) <= len("grow.x") + most * len(".x")


def test_overlapping_fixes_wait_for_the_next_round(monkeypatch: pytest.MonkeyPatch) -> None:
    text = "import torch\nouter.f(inner.x)\n"
    whole = Rule("TL101", "whole", "", (NodeCheck(_renamed, (cst.Call,), word("torch")),))
    outcome = lint(monkeypatch, whole, rule("TL201", "inner", good), text=text)
    assert outcome.text == "import torch\ndone(fine.x)\n"
    assert outcome.problems == ()


def _renamed(node: cst.Call, model: object) -> Finding | None:
    if not isinstance(node.func, cst.Attribute):
        return None
    text = f"done({cst.Module([]).code_for_node(node.args[0].value)})"
    return Finding(node, "it is so", Fix("Do it", (edit.replace(node, text),)))


def test_what_is_left_out_is_in_nobodys_way(monkeypatch: pytest.MonkeyPatch) -> None:
    text = "import torch\nouter.f(inner.x)\n"
    for content, message in (
        (")", "the fix of TL101 would leave"),
        ("outer.f(inner.x, 1)", "the fixes of TL101 did not"),
    ):
        monkeypatch.setattr(rounds, "MAX_ROUNDS", 20)

        def check(node: cst.Call, model: object, content: str = content) -> Finding:
            return Finding(node, "it is so", Fix("Do it", (edit.replace(node, content),)))

        whole = Rule("TL101", "whole", "", (NodeCheck(check, (cst.Call,), word("torch")),))
        outcome = lint(monkeypatch, whole, rule("TL201", "inner", good), text=text)
        assert outcome.text == "import torch\nouter.f(fine.x)\n"
        assert [problem.message[: len(message)] for problem in outcome.problems] == [message]


def test_the_run_says_so(write: Write, torchlint: Torchlint, monkeypatch: pytest.MonkeyPatch, tmp_path: object) -> None:
    broken = rule("TL101", "bad", BAD["syntax"][0])
    monkeypatch.setattr(dispatch, "rules_of", lambda codes: (broken, rule("TL201", "good", good)))
    monkeypatch.setattr(check, "possible_rules", lambda data, codes: codes)
    write({"x.py": "import torch\nbad.data\ngood.Variable\n"})
    ran = torchlint("check", "--fix", "-j1", "--output-format", "concise")
    assert ran.code == 3
    assert ran.err == "error: x.py:2: the fix of TL101 would leave code that does not parse: left out\n"
    assert ran.out.splitlines() == [
        "x.py:2:5: TL101 it is so",
        "Fixed 1 finding in 1 file: 1 × TL201.",
        "Found 1 finding in 1 file (1 fixed).",
        "1 file could not be checked completely.",
    ]


# ------------------------------------------------------------------------------------------ long expressions

ENDLESS = {
    "sum": "y = " + "+".join(["x.data"] * 5_000),
    "sum over lines": "y = (" + "\n    + ".join(["x.data"] * 5_000) + ")  # a",
    "continued lines": "y = x.data" + " + \\\n    x.data" * 2_000,
    "behind a keyword": "def f(): return(x)" + "+x" * 2_000,
    "without a space": "def f(): return'a'" + "+x" * 2_000,
    "calls": "x" + ".f()" * 1_000,
    "in a header": f"while {'+'.join(['x.data'] * 2_000)}:\n    pass",
    "in an argument": f"f({'+'.join(['(x.data)'] * 2_000)}, x)",
    "async": f"x.cuda(async=True, a={'+'.join(['x.data'] * 2_000)})",
    "characters": "é, y = 'é', " + "+".join(["'é'", *["x.data"] * 2_000]),
}


@pytest.mark.parametrize("line", ENDLESS.values(), ids=ENDLESS)
def test_an_expression_that_is_too_long_costs_nothing_else(line: str, write: Write, torchlint: Torchlint) -> None:
    head, tail = "import torch\nx = torch.ones(3, requires_grad=True)\na = x.data\n", "\nb = x.data\n"
    write({"x.py": head + line + tail})
    rows = (3, head.count("\n") + line.count("\n") + 2)
    ran = torchlint("check", "--output-format", "concise", "-j1", "--select", "TL101")
    assert ran.code == 3
    assert ran.err == f"error: x.py:4: an expression is nested more than {MAX_DEPTH:,} deep and was skipped\n"
    found = [int(each.split(":")[1]) for each in ran.out.splitlines() if " TL101 " in each]
    assert found == list(rows)
    fixed = torchlint("check", "--fix", "-j1", "--select", "TL101,TL204", "--show-fixes")
    assert "2 × TL101" in fixed.out
    assert PLACEHOLDER not in fixed.out


def test_long_literals_are_no_problem(write: Write, torchlint: Torchlint) -> None:
    write({"x.py": "import torch\nx = torch.ones(3).data\ny = " + "+".join(["'a'"] * 5_000)})
    ran = torchlint("check", "--output-format", "concise", "-j1")
    assert (ran.code, ran.err) == (1, "")


def test_characters_keep_their_places() -> None:
    long = "+\n".join(["'é' if x else 1"] * 2_000)
    text = f"é = ({long})  # é\nz = 1\n"
    short, (chain,) = without_chains(text, text)
    assert len(short) == len(text)
    assert text[chain.start : chain.end] == long
    assert short.replace(" ", "") == f"é=({PLACEHOLDER})#é\nz=1\n"
    assert without_chains("a + b\n" * 10_000, "") == ("a + b\n" * 10_000, ())


HEAD, TAIL = "import torch\nx = torch.ones(3)\na = x.data\n", "b = x.data\n"


def test_many_long_expressions_cost_no_more_than_a_few() -> None:
    """Each of them is allowed, and takes libcst's parser half a second."""
    text = HEAD + f"y = {' + '.join(['x'] * 900)}\n\n" * 40 + TAIL
    outcome = with_big_stack(lambda: check_text(text, "x.py", frozenset({"TL101"})))
    assert [each.start.row for each in outcome.diagnostics] == [3, 84]
    assert {each.message for each in outcome.problems} == {
        "an expression is nested more than 100 deep, as are others before it, and was skipped"
    }
    assert [each.row for each in outcome.problems] == [4 + 2 * number for number in range(6, 40)]


@pytest.mark.parametrize(("element", "matters"), [("f(g(1)), ", True), ("1, ", False)])
def test_a_huge_list_costs_nothing_else(element: str, matters: bool) -> None:
    text = f"{HEAD}y = [{element * (MAX_PARTS // element.count(' ') // (4 if matters else 1) + 1)}]\n{TAIL}"
    outcome = with_big_stack(lambda: check_text(text, "x.py", frozenset({"TL101"})))
    assert [each.start.row for each in outcome.diagnostics] == [3, 5]
    told = [(each.row, each.message) for each in outcome.problems]
    assert told == ([(4, "an expression has more than 200,000 parts and was skipped")] if matters else [])
