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


@pytest.mark.parametrize("line", ["vutils.save_image(fake.data, 'x.png')", "best = torch.max(fake.data, 1)[0].cpu()"])
def test_what_takes_tensors_says_what_has_such_data(line: str) -> None:
    text = f"import torch\nimport torchvision.utils as vutils\n\n\ndef f(fake):\n    {line}\n"
    found = check_text(text, "x.py", frozenset(("TL101",))).diagnostics
    assert [each.fix.applicability for each in found if each.fix is not None] == [Applicability.SAFE]


WRITING = ("grid = make_grid(x.data)\n    grid.zero_()", "unknown(x.data)", "writer.put('x', x.data)")


@pytest.mark.parametrize("line", WRITING)
def test_what_may_write_is_not(line: str) -> None:
    found = check_text(f"{HEAD}    {line}\n", "x.py", frozenset(("TL101",))).diagnostics
    assert [each.fix.applicability for each in found if each.fix is not None] == [Applicability.UNSAFE]


SAVING = """\
import torch
from torch import nn


def f(net: nn.Linear, x: torch.Tensor, **how):
    {}
    loss = (x * net.weight.data).sum()
    loss.backward()
"""


@pytest.mark.parametrize(
    ("line", "is_safe"),
    [
        ("nn.utils.clip_grad_norm_([x], max_norm=1.0)", True),
        ("words = nn.Embedding(3, 2, max_norm=None)", True),
        ("words = nn.Embedding(3, 2, max_norm=1.0)", False),
        ("words = nn.Embedding(3, 2, None, 1.0)", False),
        ("words = nn.EmbeddingBag(3, 2, **how)", False),
        ("words = nn.Embedding.from_pretrained(x, True, None, 1.0)", False),
        ("words = Words(max_norm=1.0)", False),
    ],
)
def test_an_embedding_with_a_norm_writes(line: str, is_safe: bool) -> None:
    found = check_text(SAVING.format(line), "x.py", frozenset(("TL101",))).diagnostics
    assert [each.fix is not None and each.fix.applicability is Applicability.SAFE for each in found] == [is_safe]


@pytest.mark.parametrize(
    ("function", "is_safe"),
    [
        ("def joined(xs):\n    return torch.cat([x.view(-1) for x in xs])\n", True),
        ("def joined(xs):\n    return torch.cat(xs).view(-1)\n", False),
        ("def joined(xs):\n    out = xs[0].exp()\n    xs.append(out)\n    return out\n", False),
        ("def joined(xs):\n    return joined(xs).view(-1)\n", False),
    ],
)
def test_what_a_function_makes_anew_is_safe(function: str, is_safe: bool) -> None:
    text = f"import torch\n\n\n{function}\n\ndef f(xs: list[torch.Tensor], use):\n    y = joined(xs).data\n    use(y)\n"
    found = check_text(text, "x.py", frozenset(("TL101",))).diagnostics
    safe = [each.fix is not None and each.fix.applicability is Applicability.SAFE for each in found]
    assert safe == [is_safe] or (not safe and not is_safe)


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
