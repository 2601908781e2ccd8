"""What rules say is short, and in words that need no explanation."""

from __future__ import annotations

import re

import pytest

from torchlint.file.check import check_text
from torchlint.rules import catalogue
from torchlint.testing.examples import examples

WIDTH = 100
"""Characters of a message, each piece of code in it counted as `code`."""

FIGURATIVE = re.compile(r"\b(?:alive|anew|behind|feet|nobody|without a word)\b")

OF_THE_TABLE = ("TL3", "TL9")
"""Rules whose messages are put together from rows: their names and replacements are as long as torch made them."""


@pytest.mark.parametrize("code", sorted(catalogue()))
def test_messages_of_the_examples(code: str) -> None:
    info = catalogue()[code]
    assert not FIGURATIVE.search(info.doc.partition("\n")[0])
    for example in examples(info.doc):
        for found in check_text(example.before, "x.py", frozenset((code,))).diagnostics:
            said = re.sub("`[^`]*`", "`code`", found.message)
            assert not FIGURATIVE.search(said), found.message
            if not code.startswith(OF_THE_TABLE):
                assert len(said) <= WIDTH, found.message


@pytest.mark.parametrize(
    ("written", "advice"),
    [
        ("p.data - 1", "`with torch.no_grad(): ….copy_(…)`"),
        ("q", "`with torch.no_grad(): ….copy_(…)`"),
        ("p.data.half()", "`.to(…)`"),
        ("p.data.to(device)", "`.to(…)`"),
        ("p.data.squeeze()", "`nn.Parameter`"),
        ("(q.view(2, -1).t())", "`nn.Parameter`"),
        ("p.data.T", "`nn.Parameter`"),
        ("p.mT", "`nn.Parameter`"),
    ],
)
def test_what_is_advised_for_an_assignment_to_data(written: str, advice: str) -> None:
    text = f"from torch import nn\ndef f(net: nn.Module, q, device):\n    for p in net.parameters():\n        p.data = {written}\n"
    [found] = check_text(text, "x.py", frozenset(("TL103",))).diagnostics
    assert found.message.endswith(advice)


@pytest.mark.parametrize(
    ("code", "text", "said"),
    [
        (
            "TL102",
            "import torch\nfrom torch import nn\n@torch.no_grad()\ndef f(m: nn.Linear):\n    m.weight.data.mul_(2)\n",
            "remove `.data`: autograd does not record here",
        ),
        (
            "TL102",
            "import torch\nfrom torch import nn\ndef f(m: nn.Linear):\n    with torch.no_grad():\n        m.weight.data[0] = 3\n",
            "remove `.data`: autograd does not record here",
        ),
        (
            "TL102",
            "import torch\nfrom torch import nn\n@torch.no_grad()\ndef f(m: nn.Linear):\n    return m.weight.data.mul_(2).sum()\n",
            "remove `.data`: autograd does not record here",
        ),
        (
            "TL102",
            "import torch\ndef f():\n    x = torch.ones(3)\n    x.data.mul_(2)\n    return x\n",
            "remove `.data`: the tensor has no graph",
        ),
        (
            "TL102",
            "from torch import nn\ndef f(m: nn.Linear):\n    m.weight.data.mul_(2)\n",
            "use `torch.no_grad()`",
        ),
        (
            "TL102",
            "from torch import nn\ndef init(m: nn.Linear):\n    m.weight.data.normal_()\n",
            "use `nn.init`",
        ),
        (
            "TL105",
            "import torch\nw = torch.ones(3, requires_grad=True)\na = (w * 2).cpu().data\n",
            "`.data` comes after the transfer, so autograd records a copy that nothing needs; detach first",
        ),
        (
            "TL105",
            "import torch\nw = torch.ones(3, requires_grad=True)\na = (w * 2).cpu().detach()\n",
            "`.detach()` comes after the transfer, so autograd records a copy that nothing needs; detach first",
        ),
        (
            "TL102",
            "import torch\nfrom torch import nn\nnet = nn.Linear(2, 2)\ndef f(x):\n    y = net(x)\n    with torch.no_grad():\n        y.data.mul_(2)\n",
            "remove `.data`: autograd does not record here",
        ),
        (
            "TL305",
            "import torch\nfrom torch.utils.checkpoint import checkpoint\ndef f(w):\n    return checkpoint(torch.sin, w)\n",
            "use `use_reentrant=False`, or `use_reentrant=True` to keep today's default",
        ),
        (
            "TL102",
            "import torch\nfrom torch import nn\nclass Net(nn.Module):\n    def __init__(self):\n        super().__init__()\n"
            "        self.book = nn.Parameter(torch.ones(3))\n    def forward(self, x):\n        with torch.no_grad():\n"
            "            self.book.data.copy_(x.sum(0))\n        return self.book\n",
            "remove `.data`: autograd does not record here",
        ),
        (
            "TL102",
            "import torch\nfrom torch import nn\nclass Net(nn.Module):\n    def __init__(self):\n        super().__init__()\n"
            "        self.book = nn.Parameter(torch.ones(3))\n    def forward(self, x):\n"
            "        self.book.data.copy_(x.sum(0))\n        return self.book\n",
            "compute a new tensor",
        ),
        (
            "TL102",
            "import torch\nfrom torch import nn\nclass Net(nn.Module):\n    def __init__(self):\n        super().__init__()\n"
            "        self.flag = nn.Parameter(torch.tensor(0, dtype=torch.uint8), requires_grad=False)\n"
            "    def begin(self):\n        self.flag.data[...] = 1\n",
            "remove `.data`: the tensor has no graph",
        ),
    ],
)
def test_that_what_is_said_is_what_the_fix_does(code: str, text: str, said: str) -> None:
    [found] = check_text(text, "x.py", frozenset((code,))).diagnostics
    assert found.message.endswith(said)


@pytest.mark.parametrize(
    ("kept", "back", "said"),
    [
        ("net.weight.data", "net.weight.data", "keep a clone of the old values, and use `copy_`"),
        ("net.weight.detach()", "net.weight.data", "keep a clone of the old values, and use `copy_`"),
        ("net.weight.clone()", "net.weight.data", "`with torch.no_grad(): ….copy_(…)`"),
        ("other.weight.data", "net.weight.data", "`with torch.no_grad(): ….copy_(…)`"),
        ("net.weight.data", "other.weight.data", "`with torch.no_grad(): ….copy_(…)`"),
    ],
)
def test_memory_that_is_put_back(kept: str, back: str, said: str) -> None:
    """To write into it would change what is put back."""
    text = (
        "from torch import nn\ndef f(net: nn.Linear, other: nn.Linear, x, w):\n"
        f"    old = {kept}\n    net.weight.data = w\n    try:\n        return net(x)\n    finally:\n        {back} = old\n"
    )
    first, last = check_text(text, "x.py", frozenset(("TL103",))).diagnostics
    assert first.message.endswith(said)
    assert last.message.endswith("`with torch.no_grad(): ….copy_(…)`")
