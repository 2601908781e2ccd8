"""What initialises parameters because `apply` of a module is given it, in the same file or in another one."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from torchlint.diagnostic import Applicability
from torchlint.file.check import check_text
from torchlint.model.codebase.modules import Codebase

Write = Callable[[dict[str, str]], None]

MADE = """import torch
from torch import nn


def uniform(scale):
    def f(m):
        if isinstance(m, nn.Linear):
            m.bias.data.fill_(scale)

    return f
"""
GIVEN = "def f(m):\n    if isinstance(m, nn.Linear):\n        m.bias.data.fill_(0.0)\n"
PLAIN = f"import torch\nfrom torch import nn\n\n\n{GIVEN}"
HIDDEN = MADE.replace("return f", "f(nn.Linear(2, 2))\n    return scale")
NET = "from torch import nn\n{0}\n\nnet = nn.Sequential(nn.Linear(2, 2))\n{1}\n"

# the file that is checked, another one, and whether the write is safely replaced
PROJECTS = {
    "made and given in the file": (MADE + "\n\nnn.Linear(2, 2).apply(uniform(0.1))\n", "", True),
    "made and given elsewhere": (MADE, NET.format("import tools", "net.apply(tools.uniform(1.0))"), True),
    "made elsewhere by name": (MADE, NET.format("from tools import uniform", "net[0].apply(uniform(scale=1.0))"), True),
    "made elsewhere by another name": (MADE, NET.format("from tools import uniform as u", "net.apply(u(1.0))"), False),
    "given elsewhere": (PLAIN, NET.format("from tools import f", "net.apply(f)"), True),
    "what makes it is given": (MADE, NET.format("import tools", "net.apply(tools.uniform)"), False),
    "called elsewhere": (MADE, NET.format("import tools", "tools.uniform(1.0)(net[0])"), False),
    "another one of that name is given": (PLAIN, NET.format(f"import tools\n\n\n{GIVEN}", "net.apply(f)"), False),
    "not what is returned": (HIDDEN, NET.format("import tools", "net.apply(tools.uniform(1.0))"), False),
    "an autograd function": (
        PLAIN,
        "import torch\nfrom tools import f\n\n\ntorch.autograd.Function.apply(1, f)\n",
        False,
    ),
    "nobody": (MADE, "", False),
}


@pytest.mark.parametrize("name", PROJECTS)
def test_what_is_given_to_apply_initialises(name: str, write: Write, tmp_path: Path) -> None:
    text, other, is_safe = PROJECTS[name]
    write({"pyproject.toml": "", "tools.py": text, "main.py": other})
    at = str(tmp_path / "tools.py")
    outcome = check_text(text, "tools.py", frozenset(("TL102",)), location=at, codebase=Codebase())
    (found,) = outcome.diagnostics
    assert found.fix is not None
    assert (found.fix.applicability is Applicability.SAFE) is is_safe
    assert ("nn.init" in found.fix.message) is is_safe
