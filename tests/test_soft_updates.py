"""Soft updates of parameters become ``lerp_``, which gives the same up to rounding."""

from __future__ import annotations

import pytest

from torchlint.diagnostic import Fixing
from torchlint.file.check import check_text
from torchlint.rules import catalogue
from torchlint.testing.execution import rough_differences, run

CODES = frozenset(catalogue())

HEAD = """\
import torch
from torch import nn

torch.manual_seed(0)
tau, decay = 0.1, 0.9
net, target = nn.Linear(3, 2), nn.Linear(3, 2)
for t, p in zip(target.parameters(), net.parameters()):
    """

# a statement, and what becomes of it; None where it is no average of two parameters
UPDATES = {
    "t.data.copy_(tau * p.data + (1 - tau) * t.data)": "t.lerp_(p, tau)",
    "t.data.copy_(t.data * (1.0 - tau) + p.data * tau)": "t.lerp_(p, tau)",
    "t.data.copy_(t * (1 - tau) + p * tau)": "t.lerp_(p, tau)",
    "t.data.copy_(\n            t.data * (1.0 - tau)\n            + p.data * tau)": "t.lerp_(p, tau)",
    "t.data.mul_(decay).add_(\n            p.data, alpha=1 - decay\n        )": "t.lerp_(p, 1 - decay)",
    "t.data.copy_(decay * t.data + (1 - decay) * p.data)": "t.lerp_(p, 1 - decay)",
    "t.data.copy_(0.9 * t.data + 0.1 * p.data)": "t.lerp_(p, 0.1)",
    "t.data.mul_(1 - tau).add_(tau * p.data)": "t.lerp_(p, tau)",
    "t.data.mul_(decay).add_(p.data, alpha=1 - decay)": "t.lerp_(p, 1 - decay)",
    "t.data = tau * p.data + (1 - tau) * t.data": "t.lerp_(p, tau)",
    "t.data.copy_(tau * p.data + (1 - decay) * t.data)": None,
    "t.data.copy_(tau * p.data + (2 - tau) * t.data)": None,
    "t.data.copy_(0.9 * t.data + 0.2 * p.data)": None,
    "t.data.copy_(tau * p.data - (1 - tau) * t.data)": None,
    "t.data.copy_(tau * t.data + (1 - tau) * t.data)": None,
    "t.data.copy_(tau * p.data.abs() + (1 - tau) * t.data)": None,
    "t.data.copy_(tau * torch.ones_like(t) + (1 - tau) * t.data)": None,
    "t.data.mul_(decay).add_(p.data, alpha=decay)": None,
    "t.data.mul_(decay).sub_(p.data, alpha=1 - decay)": None,
    "t.data.copy_(torch.tensor(0.5) * p.data + (1 - torch.tensor(0.5)) * t.data)": None,
}


@pytest.mark.parametrize("update", UPDATES)
def test_updates(update: str) -> None:
    text, expected = f"{HEAD}{update}\n", UPDATES[update]
    outcome = check_text(text, "x.py", CODES, Fixing.UNSAFE)
    assert not outcome.problems
    assert "lerp_" not in check_text(text, "x.py", CODES, Fixing.SAFE).text
    if expected is None:
        assert "lerp_" not in outcome.text
    else:
        above, loop = HEAD.rstrip().rsplit("\n", 1)
        assert outcome.text == f"{above}\nwith torch.no_grad():\n    {loop}\n        {expected}\n"
    assert not rough_differences(run(text), run(outcome.text))


def test_what_can_change_is_said() -> None:
    found = check_text(f"{HEAD}t.data.copy_(tau * p.data + (1 - tau) * t.data)\n", "x.py", CODES).diagnostics
    risks = [each.fix.risk for each in found if each.fix is not None and "lerp_" in each.fix.message]
    assert len(risks) == 1
    assert "rounds the last digit differently" in risks[0]


@pytest.mark.parametrize("given", ["t, p: torch.Tensor", "t, p", "t: nn.BatchNorm1d, p: nn.BatchNorm1d"])
def test_no_two_parameters(given: str) -> None:
    names = ("t.num_batches_tracked", "p.num_batches_tracked") if "Norm" in given else ("t", "p")
    update = "{0}.data.copy_(tau * {1}.data + (1 - tau) * {0}.data)".format(*names)
    text = f"import torch\nfrom torch import nn\n\n\ndef f({given}, tau):\n    {update}\n"
    assert "lerp_" not in check_text(text, "x.py", CODES, Fixing.UNSAFE).text


CONVERSIONS = {
    "target.double()": False,
    "net.bfloat16(); net.float()": False,
    "net.to(dtype=torch.float32)": False,
    "net.to('cpu')": True,
    "x = torch.ones(2).float()": True,
}


@pytest.mark.parametrize("conversion", CONVERSIONS)
def test_two_dtypes_are_averaged_as_they_were(conversion: str) -> None:
    text = f"{HEAD}t.data.copy_(tau * p.data + (1 - tau) * t.data)\n".replace("for t", f"{conversion}\nfor t")
    outcome = check_text(text, "x.py", CODES, Fixing.UNSAFE)
    assert ("lerp_" in outcome.text) == CONVERSIONS[conversion]
    assert not rough_differences(run(text), run(outcome.text))
