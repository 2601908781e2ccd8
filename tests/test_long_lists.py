"""Long lists that are parsed in groups: the tree is the one that libcst makes of the whole text."""

from __future__ import annotations

from pathlib import Path

import libcst as cst
import pytest

from torchlint.file.tree.fast import long_lists
from torchlint.file.tree.libcst_private import parse_module
from torchlint.file.tree.tree import Tree

CALLS = "".join(f"    torch.tensor({i}),\n" for i in range(40))
TABLE = "".join(f'    "k{i}": ({i}, [{i}, -{i}], "a"),  # row {i}\n' for i in range(40))

TEXTS = {
    "calls": f"import torch\n\nxs = [\n{CALLS}]\nxs[0].data\n",
    "table": f"T: dict = {{\n{TABLE}}}\n\n\ndef f():\n    return [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15]\n",
    "on one line": f"x = {list(range(60))!r}; y = {set(range(60))!r}\n",
    "without a last comma": "x = [\n    f(a),  # why\n    f(b)\n    # the end\n]\n",
    "brackets": "x = [ (1), ((2)) , (3, 4) # a\n , ( # b\n (5) ) , *y, ( # c\n 6 ) ]\n",
    "stars": "x = {**a, 1: (2), # a\n  3: [\n 4, 5, 6, 7, 8, 9,\n\n # b\n 10 ] , **(b), }\ny = {*a, *(b), 3 , }\n",
    "inside": "f(a, *[1, 2, 3, 4, 5, 6], k=g([\n  7,\n\n  # c\n  8, 9, 10, 11, 12\n])[0]).h({1: 2, 3: 4, 5: 6, 7: 8})\n",
    "in each other": "x = [[1, 2, [3, 4, {5: [6, 7, 8, 9, 10, 11, 12]}]], [[13, 14, 15, 16, 17, 18, 19, 20, 21]]]\n",
    "one of many": f"x = [[{', '.join(map(str, range(100)))}]]\n",
    "a small one and a large one": f"x = [1, [{', '.join(map(str, range(100)))}]]\n",
    "not ASCII": "x = ['é', 'ü' , # ä\n  'ß', ('ø'),\n 'ñ', 'ç', 'å', 'æ']; y = ['é', [ñ, 'ü', 3, 4, 5, 6]]\n",
    "targets": "[a, b, c, d, e, f, g, h] = x = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]\n",
    "in a block": "if x:\n    y = [\n        1, 2, 3,\n        4, 5, 6, 7, 8, 9, 10,\n    ]\n",
    "in a string": "x = f'{[1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13]}'\n",
    "strings with brackets": "x = [']', '#', ')' ',' \"\"\"],\n\"\"\", 1, 2, 3, 4, '[[', 5]\n",
    "comprehension": "x = [[i for i in [1, 2, 3, 4, 5, 6, 7, 8]], lambda: [1, 2, 3, 4, 5, 6, 7, 8, 9]]\n",
}


@pytest.mark.parametrize("group", [1, 8, 12])
@pytest.mark.parametrize("name", TEXTS)
def test_the_tree_is_the_same(name: str, group: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(long_lists, "LONG", 24)
    monkeypatch.setattr(long_lists, "_GROUP", group)
    text = TEXTS[name]
    parsed = long_lists.parse(text)
    assert parsed.code == text
    assert parsed.deep_equals(parse_module(text))


def test_they_are_parsed_in_groups(monkeypatch: pytest.MonkeyPatch) -> None:
    """What libcst is given at a time stays small, however long the list is."""
    sizes = []

    def parsed(text: str) -> cst.Module:
        sizes.append(len(text))
        return parse_module(text)

    monkeypatch.setattr(long_lists, "parse_module", parsed)
    text = "import torch\n\nxs = [\n" + CALLS * 400 + "]\nxs[0].data\n"
    assert Tree(text).module.code == text
    assert len(text) > 3 * long_lists.LONG
    assert max(sizes) < long_lists.LONG / 10


def test_real_files_are_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(long_lists, "LONG", 50)
    monkeypatch.setattr(long_lists, "_GROUP", 20)
    for path in sorted(Path(long_lists.__file__).parent.rglob("*.py"))[::4]:
        text = path.read_text(encoding="utf-8")
        assert long_lists.parse(text).deep_equals(parse_module(text)), path


def test_what_is_no_python_is_not_divided() -> None:
    with pytest.raises(cst.ParserSyntaxError):
        long_lists.parse("x = [\n" + "    1,\n" * 20_000 + "    1 2\n]\n")
