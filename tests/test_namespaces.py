"""Files that bind or read their names by a text: what a name means in them is not to be seen."""

from __future__ import annotations

import pytest

from torchlint.diagnostic import Fixing
from torchlint.file.check import check_text
from torchlint.rules import catalogue

CODES = frozenset(catalogue())
USES = {
    "a function": "import torch.nn.functional as F\n{}\ny = F.sigmoid(x)\n",
    "an imported function": "from torch.nn.init import normal\n{}\nnormal(w)\n",
    "Variable": "import torch\nfrom torch.autograd import Variable\n{}\ny = Variable(torch.ones(3))\n",
}
WRITING = {
    "exec": "exec(code)",
    "globals": "globals()[name] = f",
    "the names": "globals()['F'] = globals()['normal'] = globals()['Variable'] = f",
    "update": "globals().update(names)",
    "given away": "inject(globals())",
    "kept": "g = globals()",
    "the module": "import sys\nsetattr(sys.modules[__name__], name, f)",
    "its dictionary": "import sys\nsys.modules[__name__].__dict__.update(names)",
    "vars": "vars()[name] = f",
}
NOT_WRITING = {
    "nothing": "",
    "another name": "globals()['version'] = 1",
    "a method": "net.eval()",
    "another function": "def f():\n    return '%s' % locals()",
    "an attribute": "setattr(net, name, f)",
}
READING = {
    "eval": "eval('normal(w)')",
    "globals": "globals()[name](w)",
    "getattr": "import sys\ngetattr(sys.modules[__name__], name)",
}


def fixed(text: str, fixing: Fixing) -> str:
    return check_text(text, "x.py", CODES, fixing).text


@pytest.mark.parametrize("use", USES)
@pytest.mark.parametrize("doubt", WRITING)
def test_a_name_that_may_be_bound_by_a_text(use: str, doubt: str) -> None:
    text = USES[use].format(WRITING[doubt])
    assert fixed(text, Fixing.SAFE) == text
    assert fixed(text, Fixing.UNSAFE) != text


@pytest.mark.parametrize("use", USES)
@pytest.mark.parametrize("clear", NOT_WRITING)
def test_a_name_that_is_bound_once(use: str, clear: str) -> None:
    text = USES[use].format(NOT_WRITING[clear])
    assert fixed(text, Fixing.SAFE) != text


@pytest.mark.parametrize("doubt", READING)
def test_an_import_that_may_be_used_by_a_text(doubt: str) -> None:
    for use in ("an imported function", "Variable"):
        text = USES[use].format(READING[doubt])
        assert fixed(text, Fixing.UNSAFE) != text
        assert text.split("\n{}")[0].splitlines()[1 if use == "Variable" else 0] in fixed(text, Fixing.SAFE)
