"""Triggers are read from the source of a rule, and are what the rule has when it is imported; or it is an error."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest

from torchlint.file.dispatch import loading
from torchlint.file.text.tokens import GAP
from torchlint.file.triggers.gate import possible_rules
from torchlint.file.triggers.search import searches
from torchlint.rules import BUILT_IN, catalogue, index, source, stems
from torchlint.rules.declared import DeclarationError, declared
from torchlint.trigger import (
    Attribute,
    Trigger,
    TriggerError,
    all_of,
    any_of,
    attribute,
    in_loops,
    listed,
    part,
    pattern,
    spelled,
    word,
)

HEAD = (
    '"""Doc."""\nimport libcst as cst\nfrom torchlint.rule import all_of, any_of, attribute, on, part, pattern, word\n'
)
CHECK = "def check(node, model): ...\n"


def of(text: str, head: str = HEAD) -> Trigger:
    return declared(head + text, "rule.py").trigger


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("@on(cst.Name, trigger=word('self'))\n", word("self")),
        ('@on(cst.Name, trigger=word("self",))\n', word("self")),
        ("@on(\n    cst.Name,\n    trigger=word(\n        'se' 'lf'\n    ),\n)\n", word("self")),
        ("_T = attribute('data')\n@on(cst.Name, cst.Call, trigger=_T)\n", attribute("data")),
        (
            "_T: object = r'.'\n_A = word('a')\n@on(cst.Name, trigger=any_of(_A, word('b')))\n",
            any_of(word("a"), word("b")),
        ),
        (
            "@other\n@on(cst.Name, trigger=all_of(part('x'), pattern(r'\\bx \\(')))\n",
            all_of(part("x"), pattern(r"\bx \(")),
        ),
    ],
)
def test_however_it_is_written(text: str, expected: Trigger) -> None:
    assert of(text + CHECK) == expected


@pytest.mark.parametrize(
    "head",
    [
        "import torchlint.rule as r\nfrom torchlint.trigger import word as w\n",
        "from torchlint import rule as r\nfrom torchlint.rule import word as w\n",
    ],
)
def test_under_whatever_name(head: str) -> None:
    assert of("@r.on(cst.Name, trigger=w('x'))\n" + CHECK, head) == word("x")


def test_several_functions_and_what_is_off() -> None:
    text = f"BY_DEFAULT = False\n@on(cst.Name, trigger=word('a'))\n{CHECK}@on(cst.Call, trigger=word('b'))\n{CHECK}"
    found = declared(HEAD + text, "rule.py")
    assert found[:2] == (any_of(word("a"), word("b")), False)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("@on(cst.Name, trigger='self')\n" + CHECK, "rule.py:4: a trigger is wanted, written as `word(…)`"),
        ("@on(cst.Name, trigger=['self'])\n" + CHECK, "rule.py:4: a trigger is wanted"),
        ("@on(cst.Name, trigger=(word('a'), word('b')))\n" + CHECK, "rule.py:4: a trigger is wanted"),
        ("@on(cst.Name, trigger=word('a' + 'b'))\n" + CHECK, "rule.py:4: a trigger is wanted"),
        ("@on(cst.Name, trigger=word(f'a'))\n" + CHECK, "rule.py:4: a trigger is wanted"),
        ("@on(cst.Name, trigger=word(name='a'))\n" + CHECK, "triggers take no keyword arguments"),
        ("@on(cst.Name, trigger=any_of(*all))\n" + CHECK, "a trigger is wanted"),
        ("@on(cst.Name, trigger=made('a'))\n" + CHECK, "a trigger is wanted, with one of `word`, "),
        ("@on(cst.Name, trigger=word('a', 'b'))\n" + CHECK, "rule.py:4: word() takes 1 positional argument"),
        ("@on(cst.Name, trigger=word('a b'))\n" + CHECK, "`a b` is no identifier"),
        ("@on(cst.Name, trigger=any_of('a'))\n" + CHECK, "a trigger is wanted, not 'a': write `word('a')`, say"),
        ("@on(cst.Name, trigger=any_of())\n" + CHECK, "`any_of` takes one at least"),
        ("@on(cst.Name, trigger=pattern('('))\n" + CHECK, "`(` is no regular expression"),
        ("@on(cst.Name)\n" + CHECK, "`on` takes node types and `trigger=`"),
        ("@on(cst.Name, needle='a')\n" + CHECK, "`on` takes node types and `trigger=`"),
        (
            "_T = word('a')\n_T = word('b')\n@on(cst.Name, trigger=_T)\n" + CHECK,
            "rule.py:6: `_T` has more than one value",
        ),
        ("@on(cst.Name, trigger=_T)\n" + CHECK, "a trigger is wanted"),
        (
            "class A:\n    @on(cst.Name, trigger=word('a'))\n    def check(self): ...\n",
            "decorators of functions at the top",
        ),
        ("register = on\n@register(cst.Name, trigger=word('a'))\n" + CHECK, "decorators of functions at the top"),
        ("BY_DEFAULT = not True\n@on(cst.Name, trigger=word('a'))\n" + CHECK, "`BY_DEFAULT` is True or False"),
        (CHECK, "rule.py: no function is registered"),
    ],
)
def test_what_cannot_be_read_is_an_error(text: str, message: str) -> None:
    with pytest.raises(DeclarationError, match=re.escape(message)):
        declared(HEAD + text, "rule.py")


@pytest.mark.parametrize(
    "make",
    [
        lambda: attribute("a.b"),
        lambda: part(""),
        lambda: part("-"),
        lambda: pattern("a*"),
        lambda: pattern("(a)"),
        lambda: all_of(word("a")),
        lambda: all_of(listed("TL302"), word("a")),
        lambda: in_loops(any_of(word("a"), listed("TL302"))),
        lambda: in_loops("a"),  # type: ignore[arg-type]
        lambda: word(1),  # type: ignore[arg-type]
    ],
)
def test_what_is_no_trigger(make: object) -> None:
    assert callable(make)
    with pytest.raises(TriggerError):
        make()


# that what is read is what an imported rule has, test_rules.py says of every rule


def test_a_rule_of_another_trigger_is_not_loaded() -> None:
    info = replace(catalogue()["TL101"], trigger=word("x"))
    with pytest.raises(DeclarationError, match="the trigger is another one than its source says"):
        loading._load(info)


def test_the_index_is_believed_of_this_code_only() -> None:
    known = index.read()
    for module in stems(BUILT_IN):
        path = f"{BUILT_IN.folder}/{module}.py"
        text = source(path)
        assert index.lookup(known, module, text, path) == declared(text, path)
        mark = known[module][0]
        docs, _, code = text.partition('"""')[2].partition('"""')
        for changed, is_known in ((f'r"""{docs} More."""{code}', True), (f"{text}\n# more\n", False)):
            found = index.lookup(
                {module: (mark, True, ["word", "kept"], "info", "security", False)}, module, changed, path
            )
            assert (found.trigger == word("kept")) is is_known


def test_an_index_that_is_gone_or_damaged(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(index, "PATH", str(tmp_path / "index.json"))
    assert index.read() == {}
    (tmp_path / "index.json").write_text("{", encoding="utf-8")
    assert index.read() == {}
    for stem in stems(BUILT_IN):
        path = f"{BUILT_IN.folder}/{stem}.py"
        found = index.lookup(index.read(), stem, source(path), path)
        assert found.trigger == catalogue()[stem[:5].upper()].trigger


def test_packing() -> None:
    triggers = [info.trigger for info in catalogue().values()]
    assert [index.unpacked(index.packed(each)) for each in triggers] == triggers
    assert any(isinstance(each, Attribute) for info in triggers for each in getattr(info, "triggers", ()))


_UNLIMITED = re.compile(r"(?<!\\)(?:\[\^(?:\\.|[^\]\\])*\](?:\|[^)]*\))?|\.)[*+]")
"""A class of all but some characters that is repeated without a limit, alone or as one of several."""


@pytest.mark.parametrize("code", sorted(catalogue()))
def test_no_trigger_goes_on_for_ever(code: str) -> None:
    """A pattern is tried at each of many places in a text, so what it may look through from one has an end."""
    for search in searches(frozenset((code,))).own:
        regex = search.pattern.pattern.decode()
        for gap in (GAP, spelled(" "), spelled(r" \(")):
            regex = regex.replace(gap, " ")
        assert regex.startswith("(?m)(?:^|") or not _UNLIMITED.search(regex), regex  # once a line is often enough


HOSTILE = {
    "brackets": "x_" + ")" * 3_000,
    "opening brackets": "m.register_buffer" + "(" * 3_000,
    "comments": "x.\n" + "#.\n" * 3_000,
    "blanks": "x." + " " * 3_000 + ".",
}


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_what_stands_between_tokens_is_looked_at_for_a_while(text: str) -> None:
    assert possible_rules(f"import torch\nx.data\n{text}\n".encode(), frozenset(catalogue()))
