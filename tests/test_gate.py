"""The gate: what a file must hold, and where, before a rule looks at it."""

from __future__ import annotations

import pytest

from torchlint import gate
from torchlint.rules import catalogue


def around(text: str) -> list[str]:
    """The words that open the blocks around ``HERE``."""
    data = text.encode()
    return [word.decode() for word in gate._around(data, data.index(b"HERE"))]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("HERE\n", []),
        ("def f():\n    pass\nHERE\n", []),
        ("if a:\n    HERE\n", ["if"]),
        ("def f():\n    a\n\n  # odd\n    HERE\n", ["def"]),
        ("class A:\n    async def f(self):\n        for x in y:\n            HERE\n", ["for", "def", "class"]),
        ("for x in y:\n    pass\nelse:\n    HERE\n", ["else", "for"]),
        ("for x in y: HERE\n", ["for"]),
        ("def f(\n    a,\n) -> int:\n    HERE\n", ["def"]),
        ("for x in zip(\n    a\n):\n    HERE\n", ["for"]),
        ("x = f(\n    HERE\n)\n", []),
        ("def f(a):\n    x = f(\n        HERE\n    )\n", ["def"]),
        ("def f(a):\n    '''A.'''\n    b = '''c\nd\n'''\n    HERE\n", ["?"]),
        ("def f(a=HERE): pass\n", ["?"]),
        ("def f(\n    a=HERE,\n):\n    pass\n", ["?"]),
        ("@a(HERE)\ndef f(): pass\n", ["?"]),
        ("if a:\n    x = '''\n  def f():\n      '''\n    HERE\n", ["?"]),
        ("for a in b:\n\tHERE\n", ["?"]),
        ("a\rfor a in b:\r    HERE\r", ["?"]),
        ("def f():\n    'a'\n    x = 1 + \\\n  2\n    HERE\n", ["?"]),
    ],
)
def test_the_blocks_around_a_place(text: str, expected: list[str]) -> None:
    assert around(text) == expected


@pytest.mark.parametrize(
    ("code", "text", "expected"),
    [
        ("TL104", "import torch\ndef f(x):\n    return x.numpy()\n", False),
        ("TL104", "import torch\ny = x.numpy()\n", True),
        ("TL104", "import torch\ndef f(x):\n    x.backward()\ndef g(x):\n    return x.numpy()\n", True),
        ("TL104", "import torch\ndef f(x):\n    optimizer.step()\n    return np.array(x)\n", True),
        ("TL107", "import torch\ndef f(x):\n    loss += x.loss\n", False),
        ("TL107", "import torch\ndef f(x):\n    for y in x:\n        loss += y.loss\n", True),
        ("TL107", "import torch\nloss.backward()\n", True),
        ("TL702", "import torch\nfrom .utils.hub import load\nhub = 1\n", False),
        ("TL702", "from torch.hub import load\n", True),
        ("TL702", "from torch import (\n    hub,\n)\nhub.load(x)\n", True),
        ("TL702", "import torch.hub as h\nh.load(x)\n", True),
        ("TL702", "import torch as t\nload = t.hub.load\n", True),
        ("TL203", "import torch\nx.data\nround(x)\n", True),
        ("TL203", "import torch\nround(x)\n", False),
    ],
)
def test_the_gate(code: str, text: str, expected: bool) -> None:
    assert gate.can_match(text.encode(), frozenset((code,))) is expected


def test_a_needle_beside_another_one_says_where() -> None:
    text = "import torch\ndef f(x):\n    x.data\ndef g(x):\n    round(x)\ndef h(x):\n    x\n"
    is_wanted = gate.sites(text.encode(), frozenset(("TL203",)))
    assert [is_wanted(1, 3), is_wanted(3, 5), is_wanted(5, 7)] == [True, True, False]


def test_every_needle_can_be_read() -> None:
    texts = [text for info in catalogue().values() for text in info.needles if not text.startswith("table:")]
    assert all(gate._parsed(text).pattern.groups == 0 for text in texts)
