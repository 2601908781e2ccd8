"""Long modules that are parsed in parts: the tree is the one that libcst makes of the whole text."""

from __future__ import annotations

from pathlib import Path

import libcst as cst
import pytest

from torchlint.file.tree.fast import long_lists, long_modules
from torchlint.file.tree.libcst_private import parse_module
from torchlint.file.tree.tree import Tree

TEXTS = {
    "statements": "import torch\nx = 1\ny = 2; z = 3\nx.data\n",
    "without a last newline": "x = 1\n\n\ny = 2",
    "what a module begins and ends with": '# coding: utf-8\n\n"""Text."""\n\n# a\n\nx = 1\n\n# the end\n\n',
    "comments": "# a\nx = 1  # b\n# c\n\n# d\nif x:  # e\n    y = 1\n    # f\n\n    # g\n# h\n\ny = 2\n",
    "a comment that belongs to nothing": "if x:\n    y = 1\n  # a\ny = 2\n# b\nz = 3\n",
    "decorators": "@f\n# a\n@g(\n    1\n)\ndef h(): pass\n\n# b\n@f\nclass A: pass\nclass B(A): x = 1\n",
    "two spaces": "x = 1\nif x:\n  y = 1\nz = 2\nif z:\n  y = 2\n",
    "tabs": "x = 1\nif x:\n\ty = 1\nz = 2\nif z:\n\ty = 2\n",
    "several indentations": "if x:\n  y = 1\nz = 2\nif z:\n    y = 2\nif z:\n\ty = 2\n",
    "continued lines": "x = \\\n  1\ny = 1 \\\n\nz = 2; \\\nw = 3\nif x: \\\n  y\n",
    "strings over lines": 'x = """\n# a\ny = 2\n"""\ny = """\\\n"""\nz = (\n\n# b\n1)\n',
    "all that is compound": (
        "for x in y:\n    pass\nelse:\n    pass\nwhile x: pass\nwith x: pass\ntry:\n    pass\nfinally:\n    pass\n"
        "async def f():\n    async with x: pass\n\n\nmatch x:\n    case 1: pass\n\nif x: pass\nelif y: pass\nelse: pass\n"
    ),
    "blanks in an empty line": "x = 1\n   \ny = 2\n\t\nz = 3\n",
    "not ASCII": "ä = 'é'\nx = ä; y = '\u2028'\nz = 3\n",
}


@pytest.fixture(autouse=True)
def small_ones_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(long_modules, "LONG", 1)
    monkeypatch.setattr(long_modules, "PART", 1)


@pytest.mark.parametrize("name", TEXTS)
def test_the_tree_is_the_same(name: str) -> None:
    text = TEXTS[name]
    parsed = long_modules.parse(text)
    assert parsed.code == text
    assert parsed.deep_equals(parse_module(text))


def test_real_files_are_the_same() -> None:
    for path in sorted(Path(long_lists.__file__).parents[3].rglob("*.py"))[::8]:
        text = path.read_text(encoding="utf-8")
        assert long_modules.parse(text).deep_equals(parse_module(text)), path


def test_they_are_parsed_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    """What libcst is given at a time stays small, however many statements there are."""
    monkeypatch.undo()
    sizes = []

    def parsed(text: str) -> cst.Module:
        sizes.append(len(text))
        return parse_module(text)

    monkeypatch.setattr(long_lists, "parse_module", parsed)
    text = "import torch\n" + "x = f(torch).data\n" * 8_000
    assert Tree(text).module.code == text
    assert len(text) > long_modules.LONG
    assert max(sizes) < 2 * long_modules.PART


def test_what_is_typed_above_a_long_class_does_not_change_it(monkeypatch: pytest.MonkeyPatch) -> None:
    parsed = []

    def parse(text: str) -> cst.Module:
        parsed.append(len(text))
        return parse_module(text)

    monkeypatch.undo()
    monkeypatch.setattr(long_lists, "parse_module", parse)
    text = "class C:\n" + "    x = 1\n" * 3_000
    remembered: long_modules.Parts = {}
    for typed in ("", "a", "a = 1"):
        parsed.clear()
        whole = f"import torch\n\n{typed}\n\n{text}"
        with long_modules.remembering(remembered):
            assert long_modules.parse(whole).code == whole
    assert max(parsed) < 100


def test_what_is_no_python_is_not_divided() -> None:
    with pytest.raises(cst.ParserSyntaxError):
        long_modules.parse("x = 1\n" * 100 + "x = 1 2\n")
