"""`.data[0]` of what certainly has more than one element is an element, whatever it is called: never `.item()`."""

from __future__ import annotations

import pytest
import torch

from torchlint.diagnostic import Fixing
from torchlint.file.check import check_text
from torchlint.rules import catalogue
from torchlint.testing.execution import run

CODES = frozenset(catalogue())
HEAD = """\
import torch
import torch.nn.functional as F
from torch import nn

x = torch.rand(3, 4)
t = torch.tensor([0, 1, 2])
"""
SEVERAL = [
    "x.sum(axis=1)",
    "x.sum(1)",
    "x.mean(dim=1)",
    "x.norm(2, 1)",
    "x.norm(2, dim=1)",
    "x.mean(-1)",
    "x.sum(dim=-1)",
    "x.max(1)[0]",
    "x.std(1)",
    "x.prod(-2)",
    "x.argmax(1)",
    "x.logsumexp(1)",
    "torch.sum(x, 1)",
    "torch.norm(x, 2, 1)",
    "torch.max(x, 1)[0]",
    "torch.max(x, dim=1).values",
    "x.median(1)[0]",
    "nn.CrossEntropyLoss(reduce=False)(x, t)",
    "nn.CrossEntropyLoss(reduction='none')(x, t)",
    "nn.MSELoss(reduction='none')(x, x)",
    "F.cross_entropy(x, t, reduction='none')",
    "F.nll_loss(x, t, reduce=False)",
    "F.mse_loss(x, x, reduce=False)",
]


@pytest.mark.parametrize("expression", SEVERAL)
def test_an_element(expression: str) -> None:
    for name in ("loss", "err"):
        text = f"{HEAD}{name} = {expression}\nfirst = {name}.data[0]\n"
        fixed = check_text(text, "x.py", CODES, Fixing.UNSAFE).text
        assert "item()" not in fixed
        assert fixed != text
        before, after = run(text), run(fixed)
        assert before.error is after.error is None
        assert torch.equal(before.variables["first"], after.variables["first"])


@pytest.mark.parametrize("made", ["nn.MSELoss(reduction='none')", "nn.CrossEntropyLoss(reduce=False)"])
def test_a_criterion_of_a_module(made: str) -> None:
    text = f"""\
import torch
from torch import nn

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.criterion = {made}

    def forward(self, x, t):
        loss = self.criterion(x, t)
        return loss.data[0]
"""
    assert check_text(text, "x.py", CODES, Fixing.UNSAFE).text.endswith("return loss.detach()[0]\n")


@pytest.mark.parametrize(
    "expression", ["x.sum()", "F.mse_loss(x, x)", "x.norm(2)", "x.max()", "F.mse_loss(x, x).sum(0)"]
)
def test_a_number(expression: str) -> None:
    text = f"{HEAD}loss = {expression}\nfirst = loss.data[0]\n"
    assert "loss.item()" in check_text(text, "x.py", CODES, Fixing.UNSAFE).text
