"""A file in Python 2 does not parse: it is said that nothing in it was checked, and what to do."""

from __future__ import annotations

import pytest

from torchlint.file.check import check_text
from torchlint.file.parse.invalid import syntax_error

PYTHON_2 = (
    'print "loss", x\n',
    "print x\n",
    "raise ValueError, 'no'\n",
    "if a <> b:\n    pass\n",
    "exec 'a = 1'\n",
    "mode = 0755\n",
    "n = 10L\n",
)


@pytest.mark.parametrize("text", PYTHON_2)
def test_python_2_says_that_nothing_was_checked_and_what_to_do(text: str) -> None:
    (found,) = check_text(f"import torch\n{text}", "x.py", frozenset(("TL001", "TL101"))).diagnostics
    assert found.message.endswith(
        "; this is Python 2, and nothing in the file was checked: convert it (`fissix -w FILE`)"
    )


@pytest.mark.parametrize(
    "text",
    [
        "make(1, async=True)\n",
        "def make(x, async=True):\n    pass\n",
        "async = True\n",
        "from lib import async\n",
        "lib.async(1)\n",
        "async (1)\n",
        "class async:\n    pass\n",
    ],
)
def test_a_name_that_has_become_a_keyword_is_named(text: str) -> None:
    found = syntax_error(f"import torch\n{text}", "x.py")
    assert found is not None
    assert found.message == "invalid syntax: `async` is a keyword since Python 3.7"


@pytest.mark.parametrize(
    "text", ["async def f(:\n    pass\n", "x = 'async' 1\n", "make(asynchronous=)\n", "f(x=, a.async)\n"]
)
def test_async_that_is_no_mistake_is_not_named(text: str) -> None:
    found = syntax_error(f"import torch\n{text}", "x.py")
    assert found is not None
    assert "async" not in found.message


@pytest.mark.parametrize("text", ["x = (1\n", "def f(:\n    pass\n", "print('a'\n", "raise ValueError('no'\n"])
def test_other_mistakes_are_no_python_2(text: str) -> None:
    (found,) = check_text(f"import torch\n{text}", "x.py", frozenset(("TL001",))).diagnostics
    assert "Python 2" not in found.message


@pytest.mark.parametrize(
    "text",
    [
        "def f(x):\n        y = x\n\treturn y\n",
        "class A:\n    def f(self):\n        x = 1\n\treturn x\n",
        "def f(x):\n        print x\n\treturn x\n",
    ],
)
def test_mixed_tabs_and_spaces_say_that_nothing_was_checked_and_what_to_do(text: str) -> None:
    (found,) = check_text(f"import torch\n{text}", "x.py", frozenset(("TL001", "TL101"))).diagnostics
    assert "nothing in the file was checked" in found.message
    if "print" not in text:
        assert found.message == (
            "inconsistent use of tabs and spaces in indentation; nothing in the file was checked: "
            "indent with spaces alone (for Python 2 a tab went on to the next 8th column: `expand -t 8 FILE` prints that)"
        )


def test_mixed_tabs_and_spaces_of_a_cell() -> None:
    found = syntax_error("if x:\n        y = x\n\tz = y\n", "x.ipynb", part="cell")
    assert found is not None
    assert found.message.endswith("; nothing in the cell was checked: indent with spaces alone")
