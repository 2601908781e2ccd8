"""What only reads a tensor is known, so reading `.data` for it has a safe fix."""

from __future__ import annotations

import pytest

from torchlint.diagnostic import Applicability, Fixing
from torchlint.file.check import check_text
from torchlint.rules import catalogue
from torchlint.testing.execution import differences, run

HEAD = """\
import json
import matplotlib.pyplot as plt
import torch
import torchvision.utils as vutils
from torch import nn
from torchvision.utils import make_grid, save_image


def accuracy(output, target, topk=(1,)):
    _, pred = output.topk(max(topk), 1, True, True)
    correct = pred.t().eq(target.view(1, -1).expand_as(pred.t()))
    return [correct[:k].reshape(-1).float().sum(0).mul_(100.0 / target.size(0)) for k in topk]


def show(x: torch.Tensor, y: torch.Tensor, writer, ax):
    x = x.float()
"""
READING = (
    "vutils.save_image(x.data, 'x.png', normalize=True)",
    "save_image(x.data[:3], 'x.png')",
    "writer.add_image('x', x.data, 1)",
    "writer.add_embedding(x.data, metadata=y.data)",
    "ax.imshow(x.data[0])",
    "plt.plot(x.data)",
    "print('{} {}'.format(x.data, json.dumps(x.data.tolist())))",
    "torch.testing.assert_close(x.data, y.data)",
)


@pytest.mark.parametrize("line", READING)
def test_what_reads_is_safe(line: str) -> None:
    found = check_text(f"{HEAD}    {line}\n    x.zero_()\n", "x.py", frozenset(catalogue()) - {"TL309"}).diagnostics
    fixes = [each.fix for each in found if each.code in ("TL101", "TL106")]
    assert fixes
    assert all(fix is not None and fix.applicability is Applicability.SAFE for fix in fixes)


def test_the_helper_of_the_imagenet_example_reads() -> None:
    found = check_text(f"{HEAD}    return accuracy(x.data, y.data)[0]\n", "x.py", frozenset(("TL101",))).diagnostics
    assert [each.fix.applicability for each in found if each.fix is not None] == [Applicability.SAFE] * 2


WRITING = ("grid = make_grid(x.data)\n    grid.zero_()", "unknown(x.data)", "writer.put('x', x.data)")


@pytest.mark.parametrize("line", WRITING)
def test_what_may_write_is_not(line: str) -> None:
    found = check_text(f"{HEAD}    {line}\n", "x.py", frozenset(("TL101",))).diagnostics
    assert [each.fix.applicability for each in found if each.fix is not None] == [Applicability.UNSAFE]


EMBEDDING = """\
import numpy as np
import torch
from torch import nn


class Words(nn.Module):
    def __init__(self):
        super().__init__()
        self.words = nn.Embedding(3, 2)
        self.words.weight.data.copy_(torch.from_numpy(self.values()))

    def values(self):
        return {}


made = Words()
"""


@pytest.mark.parametrize(
    ("values", "is_safe"),
    [("np.random.uniform(-1, 1, (3, 2))", True), ("self.compute(torch.is_grad_enabled())", False)],
)
def test_what_is_called_for_an_initial_value_may_be_seen(values: str, is_safe: bool) -> None:
    text = EMBEDDING.format(values)
    fixed = check_text(text, "x.py", frozenset(catalogue()), Fixing.SAFE).text
    assert ("with torch.no_grad():" in fixed) is is_safe
    if is_safe:
        assert not differences(run(text), run(fixed))
