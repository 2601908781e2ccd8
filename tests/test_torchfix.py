"""What TorchFix reports is reported, what it is documented to miss as well, and what breaks it breaks nothing."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from torchlint.file.check import check_text
from torchlint.rules import catalogue

ALL = frozenset(catalogue())
PAGE = (Path(__file__).parent.parent / "docs" / "torchfix.md").read_text(encoding="utf-8")

REPORTED = {
    "TOR001": ("import torch\nw, v = torch.symeig(m)\n", ["TL301"]),
    "TOR004": ("from torch import solve\n", ["TL301"]),
    "TOR101": ("import torch\nq, r = torch.qr(m)\n", ["TL302"]),
    "TOR103": ("from torch.testing import assert_allclose\n", ["TL302"]),
    "TOR002": ("import torch\nw = torch.ones(2)\nw.require_grad = flag\n", ["TL501"]),
    "TOR003": ("from torch.utils.checkpoint import checkpoint\ny = checkpoint(block, x)\n", ["TL305"]),
    "TOR102": ("import torch\nstate = torch.load(path)\n", ["TL701"]),
    "TOR104": ("import torch\nb = torch.utils.data._utils.collate.default_collate(items)\n", ["TL306"]),
    "TOR105": ("from torch.utils.data._utils.collate import default_convert\n", ["TL306"]),
    "TOR106": ("import torch\ny = torch.log(1.0 + x)\n", ["TL801"]),
    "TOR107": ("import torch\ny = 2 * (torch.exp(x) - 1.0)\n", ["TL801"]),
    "TOR108": ("import torch\ny = torch.log(torch.sum(torch.exp(x / 2), 1, keepdim=True))\n", ["TL801"]),
    "TOR201": ("from torchvision import models\nnet = models.vgg11(True)\n", ["TL901"]),
    "TOR202": ("from torchvision.transforms import v2\nt = v2.ToTensor()\n", ["TL902"]),
    "TOR401": ("import torch\nd = torch.utils.data.DataLoader(items, 4)\n", ["TL601"]),
    "TOR402": (
        "import torch\noptimizer = torch.optim.SGD(ps, 0.1)\noptimizer.zero_grad(set_to_none=False)\n",
        ["TL602"],
    ),
}
MISSED = {
    "a method: exp": ("import torch\nx = torch.rand(3)\ny = x.exp() - 1\n", ["TL801"]),
    "the other way round": ("import torch\ny = -1 + torch.exp(x)\n", ["TL801"]),
    "a method: log": ("import torch\nx = torch.rand(3)\ny = (1 + x).log()\n", ["TL801"]),
    "a method: qr": ("import torch\nm = torch.eye(2)\nm.qr()\n", ["TL302"]),
    "a name it was assigned": ("import torch\nmake = torch.nn.UpsamplingNearest2d\nup = make()\n", ["TL309"]),
    "assigned load": ("import torch\nread = torch.load\nstate = read(path)\n", ["TL701"]),
    "partial": ("import functools\nimport torch\nf = functools.partial(torch.symeig, eigenvectors=True)\n", ["TL301"]),
    "only mentioned": ("import torch\nfound = list(map(torch.symeig, matrices))\n", ["TL301"]),
    "getattr": ("import torch\nf = getattr(torch, 'lstsq')\n", ["TL301"]),
    "star": ("from torch import *\nlstsq(a, b)\n", ["TL301"]),
    "where it is defined": ("import torch\nstate = torch.serialization.load(path)\n", ["TL701"]),
    "loader where it is defined": ("import torch\nd = torch.utils.data.dataloader.DataLoader(items)\n", ["TL601"]),
    "decorator without a call": ("import torch\n@torch.cuda.amp.custom_bwd\ndef f(ctx, g): ...\n", ["TL302"]),
    "download": ("import torch\ns = torch.hub.load_state_dict_from_url(url)\n", ["TL702"]),
    "augmented": ("import torch\nw = torch.ones(2)\nw.require_grad |= True\n", ["TL501"]),
    "annotated": ("import torch\nw = torch.ones(2)\nw.require_grad: bool = True\n", ["TL501"]),
    "several targets": (
        "import torch\na, b = torch.ones(2), torch.ones(2)\na.require_grad = b.require_grad = True\n",
        ["TL501", "TL501"],
    ),
    "segments": ("from torch.utils.checkpoint import checkpoint_sequential as c\ny = c(layers, 2, x)\n", ["TL305"]),
    "quantised": ("import torchvision\nn = torchvision.models.quantization.resnet18(pretrained=True)\n", ["TL901"]),
    "any model": ("from torchvision import models\nn = models.__dict__[arch](pretrained=True)\n", ["TL901"]),
    "not in its table": ("import torch\nw, v = torch.eig(m)\n", ["TL301"]),
}
BREAKS_IT = {
    "pretrained": (
        "import torchvision\nf = torchvision.models.resnet18\nf(pretrained=a.b)\nf(pretrained=not c)\nf(pretrained=1)\n",
        ["TL901", "TL901", "TL901"],
    ),
    "range": ("from torch import range as r\nr(0, 3)\n", ["TL302"]),
    "cholesky": ("import torch\ntorch.cholesky(m, upper=self.up)\ntorch.cholesky()\n", ["TL302", "TL302"]),
    "qr": ("import torch\ntorch.qr(m, some=not full)\ntorch.qr(m, some=1)\n", ["TL302", "TL302"]),
}
WRONG = {
    "rebound": "import torch\ntorch = Other()\ntorch.load(path)\n",
    "two numbers": "import torch\ny = torch.log(1 + 1)\n",
    "options": (
        "import torch\nimport torchvision\nfrom torch.utils.checkpoint import checkpoint\n"
        "def f(x, **k):\n    torchvision.models.resnet18(**k)\n    torch.load(x, **k)\n    checkpoint(f, x, **k)\n"
        "    torch.utils.data.DataLoader(x, **k)\n"
    ),
    "over all dimensions": "import torch\ny = torch.log(torch.sum(torch.exp(x), None, keepdim=True))\n",
    "another sum": "import torch\ny = torch.log(torch.sum(torch.exp(x) + 2, 1))\n",
    "somebody decided": "import torch\nstate = torch.load(path, weights_only=False)\n",
    "spelled right": "import torch\nw = torch.ones(2)\nw.requires_grad = True\nrequire_grad = False\n",
}


def codes(text: str) -> list[str]:
    outcome = check_text(text, "x.py", ALL)
    assert not outcome.problems
    return [found.code for found in outcome.diagnostics]


@pytest.mark.parametrize(("text", "expected"), [*REPORTED.values(), *MISSED.values(), *BREAKS_IT.values()])
def test_it_is_reported(text: str, expected: list[str]) -> None:
    assert codes(text) == expected


@pytest.mark.parametrize("text", WRONG.values(), ids=WRONG)
def test_it_is_silent(text: str) -> None:
    assert codes(text) == []


def test_the_page_says_the_same() -> None:
    """Every code that is reported stands in the table with ours, and whether that one is on."""
    rows = [row.split("|")[1:4] for row in PAGE.splitlines() if row.startswith("| TOR")]
    said = {tor: here for tors, _, here in rows for tor in re.findall(r"TOR\d+", tors)}
    for tor, (_, expected) in REPORTED.items():
        assert expected[0] in said[tor]
    for here in said.values():
        for code, off in re.findall(r"(TL\d+)( \(off\))?", here):
            assert catalogue()[code].by_default != bool(off), code


@pytest.mark.parametrize(
    ("call", "weights"),
    {
        "resnet18(False)": "weights=None",
        "resnet18(True)": 'weights="IMAGENET1K_V1"',
        "resnet18(pretrained=False)": "weights=None",
        "resnet18(pretrained=flag)": 'weights="IMAGENET1K_V1"',
    }.items(),
)
def test_message_and_fix_name_the_same_weights(call: str, weights: str) -> None:
    (found,) = check_text(f"from torchvision.models import resnet18\nnet = {call}\n", "x.py", ALL).diagnostics
    assert found.fix is not None
    assert any(edit.content.startswith(weights) for edit in found.fix.edits)
    assert f"use `{weights}`" in found.message
