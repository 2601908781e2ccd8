"""The import of ``torch.autograd`` goes with the last ``autograd.Variable``, if nothing else needs it."""

from __future__ import annotations

from pathlib import Path

import pytest

from torchlint.diagnostic import Fixing
from torchlint.file.check import check_text
from torchlint.rules import catalogue
from torchlint.testing.execution import differences, run

CODES = frozenset(catalogue())
USES = """\


def zeros(n):
    return autograd.Variable(torch.zeros(n)).long()


def twice(x):
    x = autograd.Variable(x * 2)
    return autograd.Variable(autograd.Variable(torch.ones(3))) + x


made = [zeros(3), twice(torch.ones(3))]
"""

# how `autograd` is imported and used, and whether some name is still imported after all fixes
FILES = {
    "a module": ("import torch.autograd as autograd\n" + USES, False),
    "by another name": ("import torch.autograd as ag\n" + USES.replace("autograd", "ag"), False),
    "from torch": ("from torch import autograd\n" + USES, False),
    "beside another": ("from torch import nn, autograd\n" + USES + "net = nn.Linear(3, 2)\n", False),
    "in a check, too": (
        "from torch import autograd\n" + USES + "print(isinstance(made[0], autograd.Variable))\n",
        False,
    ),
    "once": ("from torch import autograd\nx = autograd.Variable(torch.ones(2))\n", False),
    "used otherwise": ("from torch import autograd\n" + USES + "print(autograd.Function)\n", True),
    "kept otherwise": ("from torch import autograd\n" + USES + "ag = autograd\n", True),
    "named": ("from torch import autograd\n__all__ = ['autograd']\n" + USES, True),
    "by text": ("from torch import autograd\n" + USES + "print(eval('autograd'))\n", True),
    "with a comment": ("from torch import autograd  # noqa\n" + USES, True),
    "in a doctest": ("from torch import autograd\n" + USES + '"""\n>>> autograd.grad\n"""\n', True),
    "tried": ("try:\n    from torch import autograd\nexcept ImportError:\n    autograd = None\n" + USES, True),
    "twice": ("from torch import autograd\nimport torch.autograd as autograd\n" + USES, True),
    "bound again": ("from torch import autograd\n" + USES + "autograd = 3\n", True),
    "what is left": ("from torch import autograd\n" + USES + "kinds = {autograd.Variable: 1}\n", True),
    "nobody's": ("from torch import autograd\nx = torch.ones(2)\n", True),
}


@pytest.mark.parametrize("what", FILES)
def test_the_import(what: str) -> None:
    text, stays = FILES[what]
    text = f"import torch\n{text}"
    for fixing in (Fixing.SAFE, Fixing.UNSAFE):
        fixed = check_text(text, "x.py", CODES, fixing).text
        assert ("autograd" in fixed or " ag" in fixed) == stays
        assert check_text(fixed, "x.py", CODES, fixing).text == fixed
        assert not differences(run(text), run(fixed))


def test_another_file_may_take_it(tmp_path: Path) -> None:
    text = "import torch\nfrom torch import autograd\n" + USES
    (tmp_path / "pyproject.toml").touch()
    (tmp_path / "a.py").write_text(text, encoding="utf-8")
    (tmp_path / "b.py").write_text("import a\nprint(a.autograd.grad)\n", encoding="utf-8")
    fixed = check_text(text, "a.py", CODES, Fixing.SAFE, location=str(tmp_path / "a.py")).text
    assert "import autograd" in fixed
    (tmp_path / "b.py").write_text("import a\n", encoding="utf-8")
    fixed = check_text(text, "a.py", CODES, Fixing.SAFE, location=str(tmp_path / "a.py")).text
    assert "autograd" not in fixed
