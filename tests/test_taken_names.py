"""What a fix writes by a name that stands for something else where it would be: then there is none."""

from __future__ import annotations

import re

import pytest
from several_files import wrong

from torchlint.diagnostic import Fixing
from torchlint.file.check import check_text

KEEPING = """{}import torch
{}from torch import nn

net = nn.Linear(2, 1)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)


def fit():
    best = net.state_dict()
    for i in range(3):
        optimizer.zero_grad()
        net(torch.ones(1, 2)).sum().backward()
        optimizer.step()
        if i == 1:
            best = net.state_dict()
    net.load_state_dict(best)


{}fit()
"""
ABOVE = {
    "": "copy.deepcopy(",
    "import copy\n": "copy.deepcopy(",
    "import copy as c\n": "c.deepcopy(",
    "from copy import deepcopy\n": "deepcopy(",
    "import copy\nfrom copy import deepcopy as copy_of\n": "copy_of(",
    "import typing\nif typing.TYPE_CHECKING:\n    import copy\n": "copy.deepcopy(",
    "from torch import *\n": "copy.deepcopy(",
    "class Box:\n    def copy(self): return self\n": "copy.deepcopy(",
    "from copy import copy\n": None,
    "from shutil import copy\n": None,
    "from numpy import *\n": None,
    "import copy\nfrom numpy import *\n": None,
    "def copy(x): return x\n": None,
}
"""What stands before the import of torch, and how `copy.deepcopy` is written then."""


@pytest.mark.parametrize("above", ABOVE)
@pytest.mark.parametrize("place", ["first", "below"])
def test_deepcopy_is_written_where_it_can_only_be_that(above: str, place: str) -> None:
    text = KEEPING.format(*((above, "", "") if place == "first" else ("", above, "")))
    found = check_text(text, "x.py", frozenset(("TL412",)))
    fixed = check_text(text, "x.py", frozenset(("TL412",)), Fixing.UNSAFE).text
    assert found.diagnostics
    written = ABOVE[above]
    assert fixed == text if written is None else fixed.count(f"best = {written}net.state_dict())") == 2, fixed


@pytest.mark.parametrize("below", ["import copy\n", "import copy\ndel copy\n", "copy = None\n"])
def test_an_import_of_copy_behind_the_call_does_not_help(below: str) -> None:
    fixed = check_text(KEEPING.format("", "", below), "x.py", frozenset(("TL412",)), Fixing.UNSAFE).text
    assert fixed.startswith("import copy\n") or "copy.deepcopy" not in fixed


DELETED = (
    "import torch\n{}net = torch.nn.Linear(2, 1)\n{}w = net.weight\nw.data.mul_(2)\n\ndef f():\n    w.data.mul_(2)\n{}"
)


@pytest.mark.parametrize(
    ("first", "then", "last", "blocks"),
    [
        ("", "", "", ["torch", "torch"]),
        ("", "", "del torch\n", ["torch"]),
        ("", "del torch\n", "", []),
        ("", "", "    def torch(): pass\n    del torch\n", ["torch"]),
        ("import torch as t\n", "del torch\n", "", ["t", "t"]),
        ("import torch as t, os\n", "del (os, torch)\n", "", ["t", "t"]),
    ],
)
def test_what_is_deleted_is_not_written_below(first: str, then: str, last: str, blocks: list[str]) -> None:
    text = DELETED.format(first, then, last)
    fixed = check_text(text, "x.py", frozenset(("TL102", "TL103")), Fixing.UNSAFE).text
    assert re.findall(r"with (\w+)\.no_grad", fixed) == blocks


BUILTINS = {
    "TL413": "{}net = nn.Linear(2, 1)\n{}p = net.parameters()\n{}norms = [q.norm() for q in p], [q.norm() for q in p]\n",
    "TL510": "{}{}layers = [nn.Linear(2, 2)] * 3\n{}",
}
NAMES = {"TL413": "list", "TL510": "range"}


@pytest.mark.parametrize("code", BUILTINS)
@pytest.mark.parametrize(
    ("before", "has_fix"),
    {
        "": True,
        "class Own:\n    def NAME(self): pass\n": True,
        "def own(NAME): pass\n": True,
        "def NAME(x): return 3\n": False,
        "from other import NAME\n": False,
        "def own():\n    global NAME\n": False,
    }.items(),
)
def test_a_builtin_is_written_where_it_can_only_be_that(code: str, before: str, has_fix: bool) -> None:
    text = "import torch\nfrom torch import nn\n" + BUILTINS[code].format(before.replace("NAME", NAMES[code]), "", "")
    (found,) = check_text(text, "x.py", frozenset((code,))).diagnostics
    assert (found.fix is not None) == has_fix


@pytest.mark.parametrize("code", BUILTINS)
def test_nor_where_a_parameter_has_its_name(code: str) -> None:
    name = NAMES[code]
    text = f"import torch\nfrom torch import nn\ndef make({name}):\n    " + BUILTINS[code].format("", "    ", "    ")
    (found,) = check_text(text, "x.py", frozenset((code,))).diagnostics
    assert found.fix is None


def test_nor_where_another_file_brings_it_by_a_star() -> None:
    text = (
        "import torch\nfrom torch import nn\nfrom other import *\nlayers = [nn.Linear(2, 2)] * 3\nprint(len(layers))\n"
    )
    files = {"program.py": text, "other.py": "def range(n): return [n]\n"}
    found = wrong(files, frozenset(("TL510",)), Fixing.UNSAFE)
    assert found is not None
    assert not found[0]
