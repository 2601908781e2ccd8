"""What a comment silences stays what it is, and silenced, through all rounds of fixing."""

from __future__ import annotations

from collections import Counter

import pytest

from torchlint.diagnostic import Fixing
from torchlint.file.check import check_text
from torchlint.rules import catalogue

CODES = frozenset(catalogue())

START = """\
import torch
from torch.autograd import Variable
w = torch.nn.Parameter(torch.ones(3))
v = torch.nn.Parameter(torch.ones(3))
"""

# What is checked (after START), and what `--fix --unsafe-fixes` makes of it; None where nothing is to change.
SHAPES: dict[str, tuple[str, str | None]] = {
    "a block over the statement": (
        "w.data.add_(v.data)  # torchlint: ignore[TL101]\n",
        "with torch.no_grad():\n    w.add_(v.data)  # torchlint: ignore[TL101]\n",
    ),
    "a block over the statement, the comment above": (
        "# torchlint: ignore[TL101]\nw.data.add_(v.data)\n",
        "with torch.no_grad():\n    # torchlint: ignore[TL101]\n    w.add_(v.data)\n",
    ),
    "the comment above, the first in a function": (
        "def f():\n    # torchlint: ignore[TL101]\n    w.data.add_(v.data)\n",
        "def f():\n    with torch.no_grad():\n        # torchlint: ignore[TL101]\n        w.add_(v.data)\n",
    ),
    "the comment above, with others and blank lines": (
        "# one\n# torchlint: ignore[TL101]\n\n# two\nw.data.add_(v.data)\n",
        "# one\nwith torch.no_grad():\n    # torchlint: ignore[TL101]\n\n    # two\n    w.add_(v.data)\n",
    ),
    "the comment above, not as far in": (
        "if w is v:\n    pass\n# torchlint: ignore[TL101]\n    w.data.add_(v.data)\n",
        None,
    ),
    "lines that end with CRLF": (
        "if w is v:\r\n    # torchlint: ignore[TL101]\r\n    w.data.add_(v.data)\r\n",
        "if w is v:\r\n    with torch.no_grad():\r\n        # torchlint: ignore[TL101]\r\n        w.add_(v.data)\r\n",
    ),
    "one block for several": (
        "w.data.add_(1)\n# torchlint: ignore[TL101]\nv.data.add_(w.data)  # so\n",
        None,
    ),
    "two statements on the line": ("a = v.data; v.data.add_(1)  # torchlint: ignore[TL101]\n", None),
    "two statements on the line, the other way round": (
        "v.data.add_(1); a = v.data  # torchlint: ignore[TL101]\n",
        "with torch.no_grad():\n    v.add_(1)\na = v.data  # torchlint: ignore[TL101]\n",
    ),
    "two statements on the line, the comment above": ("# torchlint: ignore[TL101]\nv.data.add_(1); a = v.data\n", None),
    "behind a header": ("if w is v: a = v.data; v.data.add_(1)  # torchlint: ignore[TL101]\n", None),
    "several lines, on the first": (
        "w.data.add_(  # torchlint: ignore[TL101]\n    v.data\n)\n",
        "with torch.no_grad():\n    w.add_(  # torchlint: ignore[TL101]\n        v.data\n    )\n",
    ),
    "several lines, in the middle": (
        "w.data.add_(\n    v.data  # torchlint: ignore[TL101]\n)\n",
        "with torch.no_grad():\n    w.add_(\n        v.data  # torchlint: ignore[TL101]\n    )\n",
    ),
    "several lines, in the middle above": (
        "w.data.add_(\n    # torchlint: ignore[TL101]\n    v.data\n)\n",
        "with torch.no_grad():\n    w.add_(\n        # torchlint: ignore[TL101]\n        v.data\n    )\n",
    ),
    "several lines, on the last": (
        "w.data.add_(\n    v.data\n)  # noqa: TL101\n",
        "with torch.no_grad():\n    w.add_(\n        v.data\n    )  # noqa: TL101\n",
    ),
    "what another fix would rewrite": ("a = Variable(v.data)  # torchlint: ignore[TL101]\n", None),
    "what another fix would rewrite, anywhere": ("a = Variable(v.data)\n# torchlint: file-ignore[TL101]\n", None),
    "what another fix would remove": ("a = Variable(v, volatile=True)  # torchlint: ignore[TL202]\n", None),
    "what is around a fix": (
        "a = Variable(v.data)  # torchlint: ignore[TL201]\n",
        "a = Variable(v.detach())  # torchlint: ignore[TL201]\n",
    ),
    "a comment that a fix would move": ("a = Variable(  # torchlint: ignore[TL101]\n    v.data)\n", None),
    "a comment that a fix would remove": ("a = Variable(v.data  # torchlint: ignore[TL101]\n    )\n", None),
    "an import that is still needed": (
        "a = Variable(v)\nb = Variable(v)  # torchlint: ignore[TL201]\n",
        "a = v.detach()\nb = Variable(v)  # torchlint: ignore[TL201]\n",
    ),
    "an import that is still needed, noqa": ("b = Variable(v)  # noqa\n", None),
    "an import that is still needed, in the file": ("b = Variable(v)\n# torchlint: file-ignore[TL201]\n", None),
    "in a header": (
        "for x in zip(  # torchlint: ignore[TL101]\n    w.cpu().detach(), v.data):\n    pass\n",
        "for x in zip(  # torchlint: ignore[TL101]\n    w.detach().cpu(), v.data):\n    pass\n",
    ),
    "in a block that a fix makes": (
        "def f(net: torch.nn.Module, x: torch.Tensor):\n    x = Variable(x, volatile=True)\n    y = net(x).data  # noqa: TL101\n    return y\n",
        None,
    ),
    "in a block that a fix makes, the comment above": (
        "def f(net: torch.nn.Module, x: torch.Tensor):\n    x = Variable(x, volatile=True)\n    # torchlint: ignore[TL101]\n    y = net(x).data\n    return y\n",
        None,
    ),
    "a part of what is silenced": (
        "total = 0\nfor i in range(3):\n    loss = (w * v).sum()\n    loss.backward()\n"
        "    total += loss * w.cpu().detach().sum()  # torchlint: ignore[TL107]\n",
        "total = 0\nfor i in range(3):\n    loss = (w * v).sum()\n    loss.backward()\n"
        "    total += loss * w.detach().cpu().sum()  # torchlint: ignore[TL107]\n",
    ),
}  # fmt: skip
AS_OTHERS_DECIDE = {
    "one block for several",
    "in a block that a fix makes",
    "in a block that a fix makes, the comment above",
}
"""Shapes of which only is asked that what is silenced stays so."""


def whole(shape: str) -> str:
    given = SHAPES[shape][0]
    return (START.replace("\n", "\r\n") if "\r" in given else START) + given


@pytest.mark.parametrize("fixing", [Fixing.SAFE, Fixing.UNSAFE])
@pytest.mark.parametrize("shape", SHAPES)
def test_what_is_silenced_stays_so(shape: str, fixing: Fixing) -> None:
    text = whole(shape)
    before, after = check_text(text, "x.py", CODES), check_text(text, "x.py", CODES, fixing)
    assert before.suppressed == after.suppressed > 0
    assert after.problems == ()
    announced = Counter(d.code for d in before.diagnostics if d.fix is not None and fixing.applies(d.fix))
    assert Counter(dict(after.fixed)) == announced
    again = check_text(after.text, "x.py", CODES, fixing)
    assert (again.text, again.diagnostics, again.suppressed) == (after.text, after.diagnostics, after.suppressed)


@pytest.mark.parametrize("shape", sorted(SHAPES.keys() - AS_OTHERS_DECIDE))
def test_what_becomes_of_the_rest(shape: str) -> None:
    given, expected = SHAPES[shape]
    after = check_text(whole(shape), "x.py", CODES, Fixing.UNSAFE)
    lines = (START.replace("\n", "\r\n") if "\r" in given else START).splitlines(keepends=True)
    rest = "".join(line for line in after.text.splitlines(keepends=True) if line not in lines)
    assert rest == (given if expected is None else expected)


def test_an_import_is_announced_as_its_uses_are() -> None:
    def found(line: str) -> list[str]:
        text = f"import torch\nfrom torch.autograd import Variable\n{line}\n"
        alone = [d for d in check_text(text, "x.py", CODES).diagnostics if d.start.row == 2]
        return [d.fix.applicability.value if d.fix is not None else "none" for d in alone]

    assert found("def f(x):\n    return Variable(x)") == ["safe"]
    assert found("def f(x):\n    return Variable(x)  # noqa") == ["none"]
