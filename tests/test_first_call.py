"""Parameters that a module sets by its first batch, behind a flag of its own: a fix, and an unsafe one (TL102)."""

from __future__ import annotations

import pytest

from torchlint.diagnostic import Applicability, Fixing
from torchlint.file.check import check_text

MODULE = """\
import torch
from torch import nn


class Norm(nn.Module):
    def __init__(self):
        super().__init__()
        self.scale = nn.Parameter(torch.ones(3))
        self.register_buffer("is_set", torch.tensor(False))

"""

ALONE = {
    "a flag around the call": """\
    def start(self, x):
        with torch.no_grad():
            self.scale.data.copy_(1 / x.std(0))

    def forward(self, x):
        if not self.is_set.item():
            self.start(x)
            self.is_set.fill_(True)
        return x * self.scale
""",
    "a flag around the write": """\
    def forward(self, x):
        if not self.is_set:
            with torch.no_grad():
                self.scale.data.copy_(1 / x.std(0))
            self.is_set = torch.tensor(True)
        return x * self.scale
""",
    "a flag that leaves": """\
    def start(self, x):
        if self.is_set or not self.training:
            return
        with torch.no_grad():
            self.scale.data.copy_(1 / x.std(0))
            self.is_set.data.copy_(torch.tensor(True))

    def forward(self, x):
        self.start(x)
        return x * self.scale
""",
    "without a block": """\
    def forward(self, x):
        if self.is_set.item() == 0:
            self.scale.data.copy_(1 / x.std(0))
            self.is_set.fill_(True)
        return x * self.scale
""",
}

EACH_TIME = {
    "no flag": """\
    def forward(self, x):
        with torch.no_grad():
            self.scale.data.copy_(1 / x.std(0))
        return x * self.scale
""",
    "a flag that nobody sets": """\
    def forward(self, x):
        if not self.is_set:
            with torch.no_grad():
                self.scale.data.copy_(1 / x.std(0))
        return x * self.scale
""",
    "in training": """\
    def forward(self, x):
        if self.training:
            with torch.no_grad():
                self.scale.data.copy_(1 / x.std(0))
            self.training = True
        return x * self.scale
""",
    "called a second time": """\
    def start(self, x):
        with torch.no_grad():
            self.scale.data.copy_(1 / x.std(0))

    def forward(self, x):
        if not self.is_set:
            self.start(x)
            self.is_set.fill_(True)
        self.start(x)
        return x * self.scale
""",
}


def _fixes(body: str) -> list[Applicability | None]:
    found = check_text(MODULE + body, "x.py", frozenset(("TL102",)), Fixing.NONE).diagnostics
    return [each.fix.applicability if each.fix else None for each in found if "scale" in str(each.evidence)]


@pytest.mark.parametrize("body", ALONE.values(), ids=ALONE)
def test_a_first_call_alone_has_an_unsafe_fix(body: str) -> None:
    assert _fixes(body) == [Applicability.UNSAFE]


@pytest.mark.parametrize("body", EACH_TIME.values(), ids=EACH_TIME)
def test_each_call_has_none(body: str) -> None:
    assert _fixes(body) == [None]
