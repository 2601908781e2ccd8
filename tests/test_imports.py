"""Names that can only stand for what one import binds."""

from __future__ import annotations

import libcst as cst
import pytest

from torchlint.file.check import check_text
from torchlint.file.tree.tree import Tree
from torchlint.model import Model
from torchlint.model.imports import imported_path
from torchlint.model.syntax import dotted


def imported(text: str, name: str) -> str | None:
    """What the last thing that is called ``name`` must stand for."""
    tree = Tree(text)
    nodes = [node for node in [*tree.all(cst.Name), *tree.all(cst.Attribute)] if dotted(node) == name]
    return imported_path(Model(tree).context, nodes[-1])


@pytest.mark.parametrize(
    ("text", "name", "expected"),
    [
        ("import torch\ntorch.ones(3)\n", "torch.ones", "torch.ones"),
        ("import torch.nn as nn\nnn.Linear\n", "nn.Linear", "torch.nn.Linear"),
        ("import torch.nn\ntorch.nn.Linear\n", "torch.nn.Linear", "torch.nn.Linear"),
        ("from torch import nn, Tensor as T\nT\n", "T", "torch.Tensor"),
        (
            "import torch\nimport torch.nn\nimport torch.cuda as c\ntorch.nn.Linear\n",
            "torch.nn.Linear",
            "torch.nn.Linear",
        ),
        ("import torch\n[torch.ones, torch][0]\n", "torch.ones", "torch.ones"),
        ("from torch import (\n    nn,\n    cuda\n)\ncuda\n", "cuda", "torch.cuda"),
        ("if a():\n    import torch\nf(torch, b)\n", "torch", "torch"),
        ("import torch\ntorch == a\n", "torch", "torch"),
        ("import torch\ndef f(torch): torch.ones\n", "torch.ones", None),
        ("import torch\ndef f(x,\n      torch\n): torch.ones\n", "torch.ones", None),
        ("import torch\ndef f(*torch): torch.ones\n", "torch.ones", None),
        ("try:\n    import torch\nexcept ImportError:\n    torch = None\ntorch.ones\n", "torch.ones", None),
        ("import torch\nfor torch in a: torch.ones\n", "torch.ones", None),
        ("import torch\nwith a as torch: torch.ones\n", "torch.ones", None),
        ("import torch\nx, torch = a\ntorch.ones\n", "torch.ones", None),
        ("import torch\ntorch += 1\ntorch.ones\n", "torch.ones", None),
        ("import torch\nif (torch := a): torch.ones\n", "torch.ones", None),
        ("import torch\ndef torch(): pass\ntorch.ones\n", "torch.ones", None),
        ("import torch\nclass torch: pass\ntorch.ones\n", "torch.ones", None),
        ("import torch\nimport a as torch\ntorch.ones\n", "torch.ones", None),
        ("import torch\ndef f():\n    global torch\n    torch.ones\n", "torch.ones", None),
        ("def f():\n    import torch\ntorch.ones\n", "torch.ones", None),
        ("class A:\n    import torch\ntorch.ones\n", "torch.ones", None),
        ("import torch\n[torch.ones for torch in a]\n", "torch.ones", None),
        ("import torch\nlambda torch: torch.ones\n", "torch.ones", None),
        ("import torch\ntorch.load = a\ntorch.load(b)\n", "torch.load", None),
        ("import torch\ntorch.hub.load = a\ntorch.hub\n", "torch.hub", "torch.hub"),
        ("import torch\ntorch.hub = a\ntorch.hub.load(b)\n", "torch.hub.load", None),
        ("import torch\ndef f(x: torch.Tensor = None): pass\n", "torch.Tensor", "torch.Tensor"),
        ("import pytorch, torch_x\npytorch = 1\nimport torch\ntorch.ones\n", "torch.ones", "torch.ones"),
        ("from . import torch\ntorch.ones\n", "torch.ones", None),
        ("from torch import *\nones\n", "ones", None),
        ("torch.ones\n", "torch.ones", None),
    ],
)
def test_what_only_an_import_binds(text: str, name: str, expected: str | None) -> None:
    assert imported(text, name) == expected


def test_the_path_of_an_import_is_not_a_use() -> None:
    text = "import torch\nfrom torch.distributed._tensor import A\nfrom torch.distributed._tensor.placement import B\n"
    found = check_text(text, "x.py", frozenset(("TL306",)))
    assert [(each.start.row, each.start.column) for each in found.diagnostics] == [(2, 6), (3, 6)]
