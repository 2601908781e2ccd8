"""The gate: what a file must hold, and where, before a rule looks at it."""

from __future__ import annotations

import ast
import io
import re
import tokenize
import warnings
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from torchlint.file.triggers import gate, outline
from torchlint.file.triggers.prose import without_prose
from torchlint.rules import catalogue

CODES = frozenset(catalogue())


def around(text: str) -> list[str]:
    """The words that open the blocks around ``HERE``."""
    data = text.encode()
    found, words = outline.around(data, data.index(b"HERE")), []
    while found is not None:
        words.append(found.word.decode())
        found = found.rest
    return words


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
        ("TL104", "import torch\ndef f(x):\n    return x.numpy()\n", True),
        ("TL104", "import torch\ndef f(x):\n    return np.mean(x)\n", True),
        ("TL104", "import torch\ndef f(x):\n    plt.plot(x)\n", True),
        ("TL104", "import torch\ny = x.numpy()\n", True),
        ("TL104", "import torch\ndef f(x):\n    x.backward()\ndef g(x):\n    return x.numpy()\n", True),
        ("TL104", "import torch\ndef f(x):\n    return np.array(x)\n", True),
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
        ("TL105", "import torch\nx.to(a(b), c).detach()\n", True),
        ("TL105", "import torch\nx.to(a)\ny.detach()\n", False),
        ("TL105", "import torch\nx.to(\n    a,  # not (b\n).detach()\n", True),
        ("TL105", "import torch\n(x.to(a)).detach()\n", True),
        ("TL105", "import torch\nx.to(a(b(c(d(e))))).detach()\n", True),
        ("TL105", "import torch\ny = (\n    x.cuda()  # there\n    .detach()\n)\n", True),
        ("TL106", "import torch\n(x.detach()).cpu()\n", True),
        ("TL107", "import torch\nfor y in x:\n    total += (\n        y.loss\n    )\n", True),
        ("TL302", "import torch\n(torch.cuda.amp).autocast()\n", True),
        ("TL302", "import torch\ntorch.cuda.amp \\\n    . autocast()\n", True),
        ("TL304", "import torch\n(x.sub)(2, y)\n", True),
        ("TL305", "import torch\n(torch.meshgrid)(\n    a, b)\n", True),
        ("TL310", "import torch\ny = -(f(a) > b)\n", True),
        ("TL310", "import torch\ny = 1 - (\n    a\n    > b\n)\n", True),
        ("TL302", "import torch\ntorch.autocast('cuda')\n", False),
        ("TL302", "import torch\ntorch.cuda.amp.autocast()\n", True),
        ("TL302", "import os, torch.cuda.amp as a\na.autocast()\n", True),
        ("TL302", "from torch.cuda import (\n    jit as j, amp as a)\na.autocast()\n", True),
        ("TL302", "from torch.cuda import (  # a) and b)\n    amp as a\n)\na.autocast()\n", True),
        ("TL302", "import torch\ntorch.fft.rfft(x)\n", False),
        ("TL302", "import torch\ntorch.rfft(x, 1)\n", True),
        ("TL302", "import torch\nx.rfft(1)\n", True),
        ("TL303", "import torch\noptimizer.step()\n", False),
        ("TL303", "import torch\nscheduler.step(3)\n", True),
        ("TL303", "import torch\nscheduler.step(epoch=3)\n", True),
        ("TL303", "from torch.nn.functional import mse_loss\nf(reduction='mean')\n", False),
        ("TL303", "import torch.nn.functional as F\nF.mse_loss(a, b, reduction='mean')\n", False),
        ("TL303", "import torch.nn.functional as F\nF.mse_loss(a, b, reduction=('elementwise_mean'))\n", True),
        ("TL304", "import re, torch\nre.sub(a, '', b)\n", False),
        ("TL304", "import torch\nx.sub(2, y)\n", True),
        ("TL304", "import torch\ntorch.add(x, y)\n", False),
        ("TL304", "import torch\ntorch.add(x, 2, y)\n", True),
        ("TL308", "import torch\nclass MyFunction(Enum): pass\n", False),
        ("TL310", "import torch\ny = 1 - mask\n", True),
        ("TL310", "import torch\ny = (1-self.a.mask_of) * x\n", True),
        ("TL310", "import torch\ny = 1 - mask.float()\n", False),
        ("TL310", "import torch\ny = 1 - mask\n(z)\n", True),
        ("TL310", "import torch\ny = [-(a > f(b)), c]\n", True),
        ("TL310", "import torch\ny = x[0] - (a > b)\n", False),
        ("TL310", "import torch\ny = -(a > b).sum()\n", False),
        ("TL902", "import torchvision\nfrom torch.nn import functional as F\nF.interpolate(x)\n", False),
        ("TL902", "import torchvision\nfrom torchvision.ops import misc as m\nm.interpolate(x)\n", True),
        ("TL101", "import torch\nx = 1  # y.data\n", False),
        ("TL101", "import torch\n'''\ny.data\n'''\n", False),
        ("TL101", "'''\nimport torch\n'''\ny.data\n", True),
        ("TL101", "import torch\nf'''\n{y.data}\n'''\n", True),
    ],
)
def test_the_gate(code: str, text: str, expected: bool) -> None:
    rules = frozenset((code,))
    assert bool(gate.possible_rules(text.encode(), rules)) is expected
    assert gate.can_match(text.encode(), rules) or not expected


# ---------------------------------------------------------------------- prose


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("x = 1  # x.data\n", "x = 1  #\n"),
        ("x = 1  # type: Variable\n", "x = 1  # type: Variable\n"),
        ('"""A.\n\nx.data\n"""\ny\n', '"" \n\n \n \ny\n'),
        ("r'''a\\\n# b''' + c\n", 'r"" \n  + c\n'),
        ("f'''a\n# {x.data}'''\n", "f'''a\n# {x.data}'''\n"),
        ("rF'''a\n# {x.data}'''\n", "rF'''a\n# {x.data}'''\n"),
        ("x = 'a # b' # c\n", "x = 'a # b' #\n"),
        ("x = 'a \\' # b' # c\n", "x = 'a \\' # b' #\n"),
        ("x = 'a \\\n# b' # c\n", 'x = "" \n  #\n'),
        ("x = ''  # c\ny = '''\n'''\n", "x = ''  #\ny = \"\" \n \n"),
        ("x = ''''a''' # ' b\n", "x = ''''a''' #\n"),
        ("a # b\r\nc # d\re # f", "a #\r\nc #\re #"),
        ("'''a\rb\nc'''", '"" \r \n '),
        ("\r# b\na", "\r#\na"),
        ("f'{{'  # c\n", "f'{{'  #\n"),
        ("f'{x['a']}'  # c\n", "f'{x['a']}'  # c\n"),
        ("f'''{x['''a''']}''' + '''\nx.data\n'''\n", "f'''{x['''a''']}''' + '''\nx.data\n'''\n"),
        ("f'{'\n'}' # c\n", "f'{'\n'}' # c\n"),
        ("x = 'a\n# b\n", "x = 'a\n# b\n"),
    ],
)
def test_prose_is_left_out(text: str, left: str) -> None:
    assert without_prose(text.encode()) == left.encode()


def code_by_row(text: str) -> list[str]:
    """The code of each line, without blanks and comments that are no types; strings of several lines are empty."""
    rows = [""] * (text.count("\n") + 2)
    for token in tokenize.generate_tokens(io.StringIO(text, newline="").readline):
        is_long = token.start[0] != token.end[0]
        if is_long and "f" in token.string[:2].lower():
            for row, line in enumerate(token.string.split("\n"), token.start[0]):
                rows[row] += line
        elif token.type != tokenize.COMMENT or re.match(r"#[ \t]*type:", token.string):
            rows[token.start[0]] += re.sub(r"(?s)[\"'].*", '""', token.string) if is_long else token.string
    return [re.sub(r"[\s\\]", "", row) for row in rows[1:-1]]


def sources() -> list[Path]:
    library = Path(ast.__file__).parent
    some = [path for name in ("email", "json", "unittest", "importlib") for path in (library / name).rglob("*.py")]
    return sorted([*Path(gate.__file__).parent.rglob("*.py"), *library.glob("*.py"), *some])


def test_code_is_left_alone() -> None:
    texts = [path.read_text(encoding="utf-8", errors="replace") for path in sources()[::3]]
    pairs = [(text, without_prose(text.encode()).decode()) for text in texts]
    told = [(text, left.split("\n")[:-1]) for text, left in pairs if left != text]
    assert len(told) > 0.9 * len(pairs)
    for text, left in told:
        assert [re.sub(r"#$|[\s\\]", "", line) for line in left] == code_by_row(text)[: len(left)]


PIECES = [*"abf'\"#\\\n\r (){}[].+=", "'''", '"""', "f'", 'f"""', "{x}", "r'", "# type: ", "x.data", "\r\n", "    "]


@given(st.lists(st.sampled_from(PIECES), max_size=40).map("".join))
@settings(max_examples=500, deadline=None)
def test_code_of_any_text_is_left_alone(text: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            tree = ast.parse(text)
        except (SyntaxError, ValueError):
            return
    rows = re.split("\r\n|\r|\n", without_prose(text.encode()).decode())
    for node in ast.walk(tree):
        if isinstance(node, ast.Name):
            assert node.id in rows[node.lineno - 1]


@pytest.mark.parametrize("path", sorted((Path(__file__).parent / "cases").glob("*.py")), ids=lambda path: path.stem)
def test_lines_end_in_three_ways(path: Path) -> None:
    data = path.read_bytes()
    possible = gate.possible_rules(data, CODES)
    for newline in (b"\r", b"\r\n"):
        other = data.replace(b"\n", newline)
        assert gate.possible_rules(other, CODES) == possible
        assert gate.can_match(other, CODES) == gate.can_match(data, CODES)


def test_a_comment_ends_where_its_line_does() -> None:
    text = "import torch\nx = torch.ones(3)  # three\ny = x.new(4, 4)\n"
    for newline in ("\n", "\r\n", "\r"):
        assert gate.possible_rules(text.replace("\n", newline).encode(), frozenset(("TL307",)))


@pytest.mark.parametrize("name", ["mxnet", "paddle", "tensorflow"])
def test_other_libraries_have_tensors_of_the_same_methods(name: str) -> None:
    text = "def f(loss, total):\n    loss.backward()\n    return total + loss\n"
    assert gate.is_ours(text.encode())
    assert not gate.is_ours(f"from {name} import autograd\n{text}".encode())
    assert gate.is_ours(f"import torch\nfrom {name} import autograd\n{text}".encode())
    assert gate.is_ours(f"import {name}\nload(x, trust_remote_code=True)\n".encode())


@pytest.mark.parametrize(
    ("text", "is_ours"),
    [
        ("m.weight.data.normal_(0, 1)\n", True),
        ("for p, q in zip(net.parameters(), old):\n    p.data += q.data\n", True),
        ("for _, p in net.named_parameters():\n    p.data = q\n", True),
        ("for p in signature(f).parameters:\n    p.data += 1\n", False),
        ("print(p.grad.norm().data[0])\n", True),
        ("p.grad.zero_()\n", True),
        ("p.data -= p.grad.data\n", True),
        ("response.data.sort()\n", False),
        ("jax.grad(f)(x).data\n", False),
        ("self.data._replace(x=3)\n", False),
        ("self.data.items_\n", False),
    ],
)
def test_what_is_only_done_to_tensors(text: str, is_ours: bool) -> None:
    assert gate.is_ours(text.encode()) is is_ours
