"""What a fix leaves looks as if it had been written that way: aligned lines, empty lines, indentation."""

from __future__ import annotations

import pytest

from torchlint.diagnostic import Fixing
from torchlint.file.check import check_text
from torchlint.rules import catalogue

CODES = frozenset(catalogue())
HEAD = "import torch\nfrom torch.autograd import Variable\n"
LINES = {
    "aligned to a bracket": (
        "h = Variable(torch.zeros(2,\n                         3).view(6))\n",
        "h = torch.zeros(2,\n                3).view(6)\n",
    ),
    "aligned to two": (
        "h = Variable(torch.zeros([2,\n                          3],\n                         dtype=None))\n",
        "h = torch.zeros([2,\n                 3],\n                dtype=None)\n",
    ),
    "further in than what is aligned": (
        "h = Variable(torch.zeros(2,\n                         f(\n                             3)))\n",
        "h = torch.zeros(2,\n                f(\n                    3))\n",
    ),
    "not aligned": ("h = Variable(torch.zeros(2,\n    3))\n", "h = torch.zeros(2,\n    3)\n"),
    "aligned to what stays": ("h = f(Variable(torch.zeros(2)),\n      3)\n", "h = f(torch.zeros(2),\n      3)\n"),
    "in a string": (
        'h = Variable(torch.zeros(f("""\n                         """)))\n',
        'h = torch.zeros(f("""\n                         """))\n',
    ),
    "with tabs": ("h = Variable(torch.zeros(2,\n\t\t3))\n", "h = torch.zeros(2,\n\t\t3)\n"),
    "a longer name": (
        "torch.nn.init.normal(w,\n                     3)\n",
        "torch.nn.init.normal_(w,\n                      3)\n",
    ),
    "on one line with another": (
        "a, b = Variable(torch.ones(1)), Variable(torch.zeros(2,\n                                                     3))\n",
        "a, b = torch.ones(1), torch.zeros(2,\n                                  3)\n",
    ),
}


def fixed(text: str, fixing: Fixing = Fixing.SAFE) -> str:
    outcome = check_text(text, "x.py", CODES, fixing)
    assert not outcome.problems
    return outcome.text


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
@pytest.mark.parametrize("name", LINES)
def test_what_is_aligned_stays_so(name: str, newline: str) -> None:
    before, after = (text.replace("\n", newline) for text in LINES[name])
    assert fixed(f"{HEAD}{before}".replace("\r\n", "\n").replace("\n", newline)).endswith(
        f"import torch{newline}{after}"
    )


# the lines around an import, and what of them stays when it goes
IMPORTS = {
    "the first line": ("from torch.autograd import Variable\n\nimport torch\n", "import torch\n"),
    "alone": ("import os\n\nfrom torch.autograd import Variable\n\nimport sys\n", "import os\n\nimport sys\n"),
    "before a class": (
        "import os\n\nfrom torch.autograd import Variable\n\n\nclass A:\n    pass\n",
        "import os\n\n\nclass A:\n    pass\n",
    ),
    "the last": ("import os\nfrom torch.autograd import Variable\n\nx = 1\n", "import os\n\nx = 1\n"),
    "below a comment": (
        "# mine\nfrom torch.autograd import Variable\n\nimport os\n",
        "# mine\n\nimport os\n",
    ),
    "the first of a block": (
        "import torch\n\n\ndef f(x):\n    from torch.autograd import Variable\n\n    return Variable(torch.ones(x))\n",
        "import torch\n\n\ndef f(x):\n    return torch.ones(x)\n",
    ),
}


@pytest.mark.parametrize("name", IMPORTS)
def test_no_empty_lines_are_left_of_an_import(name: str) -> None:
    before, after = IMPORTS[name]
    assert fixed(before) == after


def test_a_block_is_as_far_in_as_what_is_around_it() -> None:
    text = """\
import torch


def f(x):
  return x


class A(torch.nn.Module):
    def clip(self):
        self.weight = torch.nn.Parameter(torch.ones(3))
        self.weight.data.clamp_(-1, 1)
"""
    assert "        with torch.no_grad():\n            self.weight.clamp_(-1, 1)\n" in fixed(text, Fixing.UNSAFE)


@pytest.mark.parametrize("quote", ["'", '"'])
def test_strings_are_in_the_quotes_of_the_file(quote: str) -> None:
    text = f"import torch\n\nname = {quote}a{quote}\nq, r = torch.qr(torch.eye(2), False)\n"
    assert f"mode={quote}complete{quote}" in fixed(text)


def test_but_not_in_a_string() -> None:
    text = 'import torch\n\nname = "a"\nprint(f"{torch.qr(torch.eye(2), False)[0]} {\'b\'}")\n'
    assert "mode='complete'" in fixed(text)
