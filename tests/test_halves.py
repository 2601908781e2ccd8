"""What reads and what writes through `.data` in one statement is fixed together, or not at all."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from torchlint.diagnostic import Fixing
from torchlint.file.check import check_text
from torchlint.rules import catalogue

Write = Callable[[dict[str, str]], Any]
Torchlint = Callable[..., Any]

CODES = frozenset(catalogue())
HEAD = "import torch\n\n\ndef f(p: torch.Tensor, q: torch.Tensor, t):\n"
# a statement, and what comes of it with all fixes; with safe ones alone it stays
HALVES = {
    "a soft update": ("q.data.copy_(t * p.data + (1 - t) * q.data)", "q.copy_(t * p + (1 - t) * q)"),
    "a step": ("p.data.add_(p.grad.data)", "p.add_(p.grad)"),
    "an operator": ("p.data += q.data", "p += q"),
    "an element": ("p.data[0] = q.data[0]", "p[0] = q[0]"),
}


def fixed(text: str, fixing: Fixing) -> str:
    return check_text(text, "x.py", CODES, fixing).text


@pytest.mark.parametrize("name", HALVES)
def test_together_or_not_at_all(name: str) -> None:
    before, after = HALVES[name]
    text = f"{HEAD}    {before}\n"
    assert fixed(text, Fixing.SAFE) == text
    assert after in fixed(text, Fixing.UNSAFE)
    assert ".data" not in fixed(text, Fixing.UNSAFE)


def test_a_needless_half_waits_for_the_other_one() -> None:
    text = (
        "import torch\nfrom torch import nn\n\n\ndef f(net: nn.Module, other: nn.Module, m):\n"
        "    for p, q in zip(net.parameters(), other.parameters()):\n"
        "        p.data.mul_(m).add_((1 - m) * q.detach().data)\n        p.data.mul_(m).add_((1 - m) * q.cpu().data)\n"
    )
    assert fixed(text, Fixing.SAFE) == text
    assert ".data" not in fixed(text, Fixing.UNSAFE)


NET = "import torch\nfrom torch import nn\n{}\n\nnet = nn.Linear(3, 2)\nnet.weight.data = made(net.weight.data)\n"
MAKERS = {
    "in steps": "def made(w):\n    out = torch.randn(w.size())\n    out *= 2 / out.norm()\n    out.clamp_(-1, 1)\n    return out\n",
    "at once": "def made(w, s=0.1):\n    return torch.zeros_like(w) * s\n",
}
NO_MAKERS = {
    "itself": "def made(w):\n    return w\n",
    "itself, written": "def made(w):\n    w.normal_()\n    return w\n",
    "detached": "def made(w):\n    out = w.detach()\n    out.normal_()\n    return out\n",
    "another size": "def made(w):\n    return torch.zeros(2, 3)\n",
    "another shape": "def made(w):\n    out = torch.randn(w.size())\n    out.t_()\n    return out\n",
    "kept": "kept = []\n\n\ndef made(w):\n    out = torch.randn(w.size())\n    kept.append(out)\n    return out\n",
    "on one path": "def made(w):\n    out = torch.randn(w.size())\n    if w.dim() > 1:\n        out = w\n    return out\n",
    "decorated": "import functools\n\n\n@functools.cache\ndef made(w):\n    return torch.randn(w.size())\n",
    "not seen": "from elsewhere import made\n",
}


@pytest.mark.parametrize("maker", [*MAKERS.values(), *NO_MAKERS.values()])
def test_what_a_function_makes_in_the_size_of_a_tensor(maker: str) -> None:
    text = NET.format(maker)
    assert fixed(text, Fixing.SAFE) == text
    written = "    net.weight.copy_(made(net.weight))\n"
    assert fixed(text, Fixing.UNSAFE).endswith(written if maker in MAKERS.values() else text[-40:])


@pytest.mark.parametrize("name", MAKERS)
def test_a_function_of_another_file(name: str, write: Write, torchlint: Torchlint) -> None:
    write(
        {
            "pyproject.toml": "",
            "init.py": f"import torch\n\n\n{MAKERS[name]}",
            "net.py": NET.format("from init import made\n"),
        }
    )
    torchlint("check", "--isolated", "--no-cache", "--fix", "--unsafe-fixes", "net.py")
    assert Path("net.py").read_text(encoding="utf-8").endswith("    net.weight.copy_(made(net.weight))\n")


def test_metadata_is_no_half() -> None:
    text = f"{HEAD}    p.data.add_(t, alpha=p.data.size(0))\n"
    assert fixed(text, Fixing.SAFE) == text.replace("p.data.size", "p.size")


def test_what_an_assignment_reads_stays_as_it_does() -> None:
    text = f"{HEAD}    p.data = t(p.data.size())\n"
    assert fixed(text, Fixing.SAFE) == text


def test_a_gradient_needs_no_block() -> None:
    text = f"{HEAD}    p.grad.data += t\n"
    assert fixed(text, Fixing.SAFE) == text
    assert fixed(text, Fixing.UNSAFE) == f"{HEAD}    p.grad += t\n"


def test_a_gradient_that_gets_a_graph_needs_one() -> None:
    text = f"{HEAD}    p.grad.data += torch.ones(2, requires_grad=True) * 2\n"
    assert "with torch.no_grad():\n        p.grad += " in fixed(text, Fixing.UNSAFE)


def test_a_forward_of_another_file(write: Write, torchlint: Torchlint) -> None:
    base = "import torch\n\n\nclass Base(torch.nn.Module):\n    def forward(self, x):\n        self.clip()\n        return x\n"
    net = (
        "import torch\nfrom base import Base\n\n\nclass Net(Base):\n    def __init__(self):\n        super().__init__()\n"
        "        self.w = torch.nn.Parameter(torch.ones(3))\n\n    def {}(self):\n        self.w.data.clamp_(-1, 1)\n"
    )
    write({"pyproject.toml": "", "base.py": base, "net.py": net.format("clip"), "other.py": net.format("limit")})
    torchlint("check", "--isolated", "--no-cache", "--fix", "--unsafe-fixes", ".")
    assert "self.w.data.clamp_" in Path("net.py").read_text(encoding="utf-8")
    assert "self.w.data.clamp_" not in Path("other.py").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("call", "is_block"),
    [
        ("torch.autograd.grad(p, q, retain_graph=True, allow_unused=True)", False),
        ("p.backward(q, True)", False),
        ("p.backward(q, True, True)", True),
        ("torch.autograd.grad(p, q, None, True, True)", False),  # what it gives is no `.grad`
        ("torch.autograd.grad(p, q, create_graph=True)", False),  # what it gives is no `.grad`
        ("torch.autograd.grad(p, *q)", False),  # what it gives is no `.grad`
    ],
)
def test_a_gradient_needs_a_block_where_it_may_have_a_graph(call: str, is_block: bool) -> None:
    text = f"{HEAD}    {call}\n    p.grad.data += t\n"
    assert ("no_grad" in fixed(text, Fixing.UNSAFE)) is is_block


def test_a_half_alone_is_fixed_alone() -> None:
    text = f"{HEAD}    p.data.copy_(2 * q.data)\n"
    after = check_text(text, "x.py", frozenset(("TL101",)), Fixing.UNSAFE)
    assert "p.data.copy_(2 * q.detach())" in after.text
    assert dict(after.fixed) == {"TL101": 1}


def test_what_gets_the_data_of_a_tensor_is_one() -> None:
    text = "import torch\n\n\ndef f(module, mask, old):\n    weight = mask(module)\n    old.data = weight.data\n"
    assert fixed(text, Fixing.SAFE) == fixed(text, Fixing.UNSAFE) == text
    assert [each.code for each in check_text(text, "x.py", CODES).diagnostics] == ["TL103", "TL101"]


LOOP = "import torch\nfrom torch.autograd import Variable\n\n\ndef f(net, loader):\n    for x, y in loader:\n"


@pytest.mark.parametrize(
    "before",
    [
        "        x, y = Variable(x, volatile=True), Variable(y, volatile=True)\n",
        "        x = Variable(x, volatile=True)\n        y = Variable(y, volatile=True)\n",
    ],
)
def test_volatile_goes_from_all_tensors_of_a_function_or_from_none(before: str) -> None:
    text = f"{LOOP}{before}        print(net(x))\n"
    assert fixed(text, Fixing.SAFE) == text
    assert fixed(text, Fixing.UNSAFE).endswith(
        "    for x, y in loader:\n        with torch.no_grad():\n            print(net(x))\n"
    )


@pytest.mark.parametrize(
    ("before", "after", "fixing"),
    [
        ("x, y = Variable(x), Variable(y, requires_grad=False)", "", Fixing.SAFE),
        ("x, y = Variable(x, requires_grad=False), y * 2", "y = y * 2", Fixing.SAFE),
        ("x = Variable(x)\n        x = Variable(x.data)", "", Fixing.UNSAFE),
    ],
)
def test_nothing_is_assigned_to_itself(before: str, after: str, fixing: Fixing) -> None:
    left = f"        {after}\n" if after else ""
    text = f"{LOOP}        {before}\n        print(net(x, y))\n"
    assert fixed(text, fixing).endswith(f"    for x, y in loader:\n{left}        print(net(x, y))\n")


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("decode(scores.data, mask.data)", "decode(scores.detach(), mask.detach())"),
        ("decode(mask.data, scores.detach())", "decode(mask.detach(), scores.detach())"),
        ("decode(scores.data, batch.data)", "decode(scores.detach(), batch.data)"),
        ("decode(scores.data, config.data)", "decode(scores.detach(), config.data)"),
        ("decode(other.data, mask.data)", None),
        ("decode(scores, mask.data)", None),
        ("decode(scores.data, self.mask.data)", "decode(scores.detach(), self.mask.data)"),
        ("assert_close(scores.data, mask.data)", "assert_close(scores.detach(), mask.data)"),
    ],
)
def test_what_stands_beside_the_data_of_a_tensor(line: str, expected: str | None) -> None:
    """Half of a line would be read in another way than the rest; what is not known to be a tensor is unsafe."""
    text = (
        "import torch\nfrom torch import nn\n\n\ndef f(self, decode, assert_close, pack, config, other):\n    scores = nn.Linear(3, 2)"
        f"(torch.ones(3))\n    mask, batch = pack(config)\n    return {line}\n"
    )
    assert fixed(text, Fixing.UNSAFE) == text.replace(line, expected or line)
    if expected is not None and "mask.detach" in expected:
        safe = fixed(text, Fixing.SAFE)
        assert "mask.data" in safe
        assert fixed(safe, Fixing.UNSAFE) == text.replace(line, expected)


CONTINUED = {
    "a method": ("p.data = \\\n            p.data.clamp(-1, 1)", "p.clamp_(-1, 1)"),
    "an operator": ("p.data = \\\n            p.data * 0.5", "p.mul_(0.5)"),
    "a function": ("p.data = \\\n            torch.clamp(p.data, -1, 1)", "p.clamp_(-1, 1)"),
    "a gradient": ("p.grad.data = \\\n            p.grad.data.mul(0.5)", "p.grad = \\\n            p.grad.mul(0.5)"),
    "what goes on below": ("p.data = \\\n            p.data * 0.5 + \\\n            3", None),
}


@pytest.mark.parametrize("name", CONTINUED)
def test_an_assignment_that_is_continued_below(name: str) -> None:
    before, after = CONTINUED[name]
    text = f"import torch\nfrom torch import nn\n\nnet = nn.Linear(3, 2)\nfor p in net.parameters():\n    {before}\n"
    found = fixed(text, Fixing.UNSAFE)
    assert after is None or f"    {after}\n" in found
    assert fixed(found, Fixing.UNSAFE) == found
    compile(found, "x.py", "exec")
    assert (found == text) is (after is None)
