"""What all calls in a project give integers needs no detach in the function; one other use of it, and that is not known."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Write = Callable[[dict[str, str]], Any]
Torchlint = Callable[..., Any]

METRICS = """\
import torch


def hits(pred, gold, n):
    pred = pred[n]
    pred = pred.cpu().data.numpy()
    return (pred == gold.data.cpu().numpy()).sum()
"""
PLAIN = METRICS.replace(".data", "")
DETACHED = METRICS.replace("pred.cpu().data", "pred.detach().cpu()").replace("gold.data", "gold.detach()")
MAIN = """\
import torch
from metrics import hits

out = torch.rand(2, 3)
_, tag = torch.max(out, 1)
print(hits(tag, out.argmax(1).bool(), [0]))
"""
OTHERS = {
    "nobody else": ("", PLAIN),
    "a call with integers": ("import metrics\n\nmetrics.hits(gold=out.long(), n=0, pred=out > 0)\n", PLAIN),
    "another function": ("def hits(x):\n    return x.data\n\n\nhits(out)\nprint(hits)\n", PLAIN),
    "a method": ("print(open('x').hits)\n", DETACHED),
    "a call with floats": ("import metrics\n\nmetrics.hits(out, out.float(), 0)\n", DETACHED),
    "a star": ("from metrics import *\n\nprint(list(map(hits, [out])))\n", DETACHED),
    "another name": ("from metrics import hits as h\n\nh(out, out.float(), 0)\n", DETACHED),
    "handed on": ("import metrics\n\nf = metrics.hits\n", DETACHED),
    "in a text": ("import metrics\n\ngetattr(metrics, 'hits')(out, out, 0)\n", DETACHED),
    "with a star": ("import metrics\n\nmetrics.hits(*[out, out, 0])\n", DETACHED),
}


@pytest.mark.parametrize("name", OTHERS)
def test_integers_that_all_calls_give(name: str, write: Write, torchlint: Torchlint) -> None:
    other, wanted = OTHERS[name]
    text = f"import torch\n\nout = torch.rand(2, 3)\n{other}"
    write({"pyproject.toml": "", "metrics.py": METRICS, "main.py": MAIN, "other.py": text})
    torchlint("check", "--isolated", "--no-cache", "--fix", "--select", "TL101,TL105", "metrics.py")
    assert Path("metrics.py").read_text(encoding="utf-8") == wanted


def test_what_is_bound_to_something_else_before(write: Write, torchlint: Torchlint) -> None:
    bound = METRICS.replace("pred[n]", "pred * n").replace("gold.data", "gold.data")
    write({"pyproject.toml": "", "metrics.py": bound, "main.py": MAIN})
    torchlint("check", "--isolated", "--no-cache", "--fix", "--select", "TL101,TL105", "metrics.py")
    found = Path("metrics.py").read_text(encoding="utf-8")
    assert "pred.detach().cpu().numpy()" in found
    assert "gold.cpu().numpy()" in found


def test_integers_of_something_that_may_be_no_tensor(write: Write, torchlint: Torchlint) -> None:
    text = "import torch\nfrom unseen import net\n\n\ndef f(x: torch.Tensor):\n    out = net(x)\n    return out[0].max(0)[1].byte().cpu().data\n"
    write({"pyproject.toml": "", "main.py": text})
    torchlint("check", "--isolated", "--no-cache", "--fix", "--unsafe-fixes", "--select", "TL101,TL105", "main.py")
    assert "    return out[0].max(0)[1].byte().cpu()\n" in Path("main.py").read_text(encoding="utf-8")
