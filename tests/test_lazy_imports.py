"""A file that can be imported without torch can be after it is fixed; imports inside functions are used and removed."""

from __future__ import annotations

import pytest

from torchlint.diagnostic import Fixing
from torchlint.file.check import check_text
from torchlint.rules import catalogue

CODES = frozenset(catalogue())

FIXED = {
    "the function imports torch": (
        "def f(x):\n    import torch\n    return isinstance(x, torch.autograd.Variable)\n",
        "def f(x):\n    import torch\n    return isinstance(x, torch.Tensor)\n",
    ),
    "the function around it does": (
        "def f():\n    import torch.autograd\n\n    def g(x):\n        return isinstance(x, torch.autograd.Variable)\n    return g\n",
        "def f():\n    import torch.autograd\n\n    def g(x):\n        return isinstance(x, torch.Tensor)\n    return g\n",
    ),
    "the top of the file imports something of it": (
        "from torch import nn\nfrom torch.autograd import Variable\n\n\ndef f(x):\n    return isinstance(x, Variable)\n",
        "import torch\nfrom torch import nn\n\n\ndef f(x):\n    return isinstance(x, torch.Tensor)\n",
    ),
    "a blank line behind an import in a function": (
        "import torch\n\n\ndef f(x):\n    from torch.autograd import Variable\n\n    return isinstance(x, Variable)\n",
        "import torch\n\n\ndef f(x):\n    return isinstance(x, torch.Tensor)\n",
    ),
}

AS_IT_IS = {
    "no name for torch in the function": "def f(x):\n    from torch.autograd import Variable\n\n    return isinstance(x, Variable)\n",
    "imported behind it": "def f(x):\n    from torch.autograd import Variable\n    y = isinstance(x, Variable)\n    import torch as t\n    return y, t\n",
    "the top of the file does without": "try:\n    from torch.autograd import Variable\nexcept ImportError:\n    Variable = ()\n\n\ndef f(x):\n    return isinstance(x, Variable)\n",
}


@pytest.mark.parametrize(("before", "after"), FIXED.values(), ids=FIXED)
def test_fixed(before: str, after: str) -> None:
    outcome = check_text(before, "x.py", CODES, Fixing.UNSAFE)
    assert (outcome.text, outcome.problems) == (after, ())


@pytest.mark.parametrize("before", AS_IT_IS.values(), ids=AS_IT_IS)
def test_as_it_is(before: str) -> None:
    outcome = check_text(before, "x.py", CODES, Fixing.UNSAFE)
    assert (outcome.text, outcome.problems) == (before, ())
    assert outcome.diagnostics
