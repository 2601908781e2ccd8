"""Autograd functions in the old style: which are rewritten, and that they compute then what was meant."""

from __future__ import annotations

from pathlib import Path

import pytest

from torchlint.diagnostic import Fixing
from torchlint.file.check import check_text
from torchlint.testing.execution import run

CODES = frozenset(("TL308",))
HEAD = "import torch\nfrom torch import autograd\nfrom torch.autograd import Function\n\n\n"
CHECK = "\nw = torch.tensor([1.0, 2.0], dtype=torch.float64, requires_grad=True)\nassert torch.autograd.gradcheck(use, (w,))\ny = use(w)\n"

# a class, and a function that uses it: both raise today, and run when they are rewritten
REWRITTEN = {
    "nothing is stored": (
        "class F(Function):\n    def forward(self, x):\n        self.save_for_backward(x)\n        return x * x\n\n"
        "    def backward(self, grad):\n        (x,) = self.saved_tensors\n        return 2 * x * grad\n\n\n"
        "def use(x):\n    return F()(x)\n"
    ),
    "defaults and keywords": (
        "class F(autograd.Function):\n    '''What it does.'''\n\n    def __init__(self, a, b=1, c=2):\n        super(F, self).__init__()\n"
        "        self.a = a\n        self.b = b + c\n\n    def forward(self, x):\n        '''Scales.'''\n        return self.a * x + self.b\n\n"
        "    def backward(self, grad):\n        return self.a * grad\n\n\n"
        "def use(x):\n    return F(3)(x) + F(b=2, a=4)(x) + F(2, c=5)(x * 2)\n"
    ),
    "several inputs": (
        "class F(Function):\n    def __init__(self, k):\n        Function.__init__(self)\n        self.k = k\n\n"
        "    def forward(self, x, y):\n        self.save_for_backward(x, y)\n        return x * y * self.k\n\n"
        "    def backward(self, grad):\n        x, y = self.saved_tensors\n        if not self.needs_input_grad[1]:\n"
        "            return grad * y * self.k, None\n        return (grad * y * self.k, grad * x * self.k)\n\n\n"
        "def use(x):\n    return F(3)(x, x + 1) + F(2)(x, torch.ones(2, dtype=torch.float64))\n"
    ),
    "the constructor comes last": (
        "class F(Function):\n    def forward(self, x):\n        self.size = x.size()\n        return x.sum(0, keepdim=True) * self.k\n\n"
        "    def backward(self, grad):\n        return grad.expand(self.size) * self.k if grad.dim() else None\n\n"
        "    def __init__(self, k):\n        super().__init__()\n        self.k = k\n\n\n"
        "def use(x):\n    return F(3)(x)\n"
    ),
    "a comment above the next method": (
        "class F(Function):\n    def __init__(self, k):\n        super().__init__()\n        self.k = k\n\n"
        "    def forward(self, x):\n        return x * self.k\n\n    # the gradient\n    def backward(self, grad):\n"
        "        return grad * self.k\n\n\ndef use(x):\n    return F(3)(x)\n"
    ),
}


def fixed(text: str) -> str:
    outcome = check_text(text, "x.py", CODES, Fixing.UNSAFE)
    assert not outcome.problems
    return outcome.text


@pytest.mark.parametrize("program", REWRITTEN.values(), ids=REWRITTEN)
def test_what_raised_runs(program: str) -> None:
    text = HEAD + program + CHECK
    before, after = run(text), run(fixed(text))
    assert before.error is not None
    assert after.error is None, after.error
    assert not check_text(fixed(text), "x.py", CODES).diagnostics


def test_safe_fixes_leave_it() -> None:
    text = HEAD + REWRITTEN["defaults and keywords"]
    assert check_text(text, "x.py", CODES, Fixing.SAFE).text == text


def test_comments_stay() -> None:
    assert "    # the gradient\n    @staticmethod\n" in fixed(HEAD + REWRITTEN["a comment above the next method"])


def test_lines_that_stand_below_one_another_do_so_still() -> None:
    stored = "self.k = max(1,\n                     k)"
    found = fixed(HEAD + PLAIN.replace("self.k = k", stored) + "y = F(3)(torch.ones(2))\n")
    assert "        ctx.k = max(1,\n                    k)\n" in found


PLAIN = (
    "class F(Function):\n    def __init__(self, k):\n        super().__init__()\n        self.k = k\n\n"
    "    def forward(self, x):\n        return x * self.k\n\n    def backward(self, grad):\n        return grad * self.k\n\n\n"
)
# what is put in place of a part of that, or behind it: then nobody can tell how it would have to be written
LEFT = {
    "a text over several lines": (("self.k = k", "self.k = len('''a\n          b''')"), "y = F(3)(torch.ones(2))\n"),
    "an instance is kept": (None, "f = F(3)\ny = f(torch.ones(2))\n"),
    "the class is given on": (None, "y = F(3)(torch.ones(2))\nkinds = [F]\n"),
    "the class is asked for by its name": (None, "y = F(3)(torch.ones(2))\nkind = globals()['F']\n"),
    "a class derives from it": (None, "class G(F):\n    pass\n\n\ny = F(3)(torch.ones(2))\n"),
    "several arguments in one": (None, "y = F(*given)(torch.ones(2))\n"),
    "an input by its name": (None, "y = F(3)(x=torch.ones(2))\n"),
    "an argument is missing": (None, "y = F()(torch.ones(2))\n"),
    "an argument of another name": (None, "y = F(3, j=2)(torch.ones(2))\n"),
    "a method more": (
        ("        return x * self.k\n", "        return x * self.k\n\n    def more(self):\n        pass\n"),
        "",
    ),
    "an attribute of the class": (("    def __init__", "    scale = 2\n\n    def __init__"), ""),
    "the constructor computes": (("self.k = k\n", "self.k = k\n        print(k)\n"), ""),
    "the constructor asks itself": (("self.k = k\n", "self.k = k\n        self.j = self.k\n"), ""),
    "a comment in the constructor": (("self.k = k\n", "self.k = k  # why\n"), ""),
    "a name that is in the way": (("return x * self.k", "k = 2\n        return x * self.k * k"), ""),
    "another object is called so": (("return x * self.k", "ctx = 2\n        return x * self.k * ctx"), ""),
    "it is given on itself": (("return x * self.k", "print(self)\n        return x * self.k"), ""),
    "gradients that are not counted": (("return grad * self.k", "return tuple([grad * self.k])"), ""),
    "no gradient": (("return grad * self.k", "return"), ""),
    "inputs by star": (("forward(self, x)", "forward(self, *x)"), ""),
    "a decorator": (("    def backward", "    @once\n    def backward"), ""),
}


@pytest.mark.parametrize("what", LEFT)
def test_what_is_left(what: str) -> None:
    change, more = LEFT[what]
    text = HEAD + (PLAIN.replace(*change) if change is not None else PLAIN) + (more or "y = F(3)(torch.ones(2))\n")
    assert change is None or text != HEAD + PLAIN + "y = F(3)(torch.ones(2))\n"
    assert fixed(text) == text
    assert fixed(HEAD + PLAIN + "y = F(3)(torch.ones(2))\n") != HEAD + PLAIN + "y = F(3)(torch.ones(2))\n"


@pytest.mark.parametrize(
    "taken", ["from functions import F\n", "from functions import *\n", "import functions\ny = functions.F(3)\n"]
)
def test_what_another_file_may_have(tmp_path: Path, taken: str) -> None:
    text = HEAD + PLAIN + "y = F(3)(torch.ones(2))\n"
    file = tmp_path / "functions.py"
    file.write_text(text)
    (tmp_path / "pyproject.toml").write_text("[tool.torchlint]\n")
    alone = check_text(text, "functions.py", CODES, Fixing.UNSAFE, location=str(file)).text
    (tmp_path / "main.py").write_text(taken)
    assert check_text(text, "functions.py", CODES, Fixing.UNSAFE, location=str(file)).text == text != alone
