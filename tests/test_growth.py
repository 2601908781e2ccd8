"""What a file costs grows with its length and no faster, whatever it is full of: counted, not timed (``growth.py``)."""

from __future__ import annotations

import textwrap
from collections.abc import Callable

import libcst as cst
import pytest
from growth import growing

from torchlint.diagnostic import Fixing
from torchlint.file.check import check_text
from torchlint.rules import catalogue
from torchlint.rules.shared import identity
from torchlint.testing.examples import examples

Program = Callable[[int], str]

TORCH = "import torch\n"
NET = "import torch\nfrom torch import nn\nnet = nn.Linear(3, 2)\n"
FUNCTION = "import torch\ndef f(x: torch.Tensor, k):\n"
VARIABLE = "import torch\nfrom torch import nn\nfrom torch.autograd import Variable\nnet = nn.Linear(3, 2)\n"


def lines(head: str, line: str, tail: str = "") -> Program:
    """A head, and lines with their number in place of ``@``."""
    return lambda size: head + "".join(line.replace("@", str(index)) for index in range(size)) + tail


def joined(head: str, part: str, between: str, tail: str) -> Program:
    """A head, and parts on one line with their number in place of ``@``."""
    return lambda size: head + between.join(part.replace("@", str(index)) for index in range(size)) + tail


SHAPES: dict[str, Program] = {
    "branches": lambda size: lines(  # of a few, more is looked at than of many
        FUNCTION + "    if k == 0:\n        pass\n", "    elif k == @:\n        y = x.data.cpu().numpy()\n"
    )(2 * size),
    "branches with old names": lines(
        FUNCTION + "    if k == 0:\n        pass\n",
        "    elif k == @:\n        y = torch.range(0, @)\n        x.addcmul_(1, x, x)\n",
    ),
    "conditions": lines(FUNCTION, "    if k == @:\n        y = x.data\n"),
    "version checks": lines(
        FUNCTION, "    if torch.__version__ > '@':\n        y = torch.range(0, @)\n    else:\n        y = x.data\n"
    ),
    "handlers": lines(
        FUNCTION, "    try:\n        y = torch.range(0, @)\n    except ValueError:\n        y = x.data\n"
    ),
    "a block": lines(NET + "for p in net.parameters():\n", "    p.data.add_(@)\n"),
    "loops in blocks": lines(
        NET,
        "for p in net.parameters():\n    k = net.scale[@] * 2\n    if k > 1:\n        p.data.add_(@)\n    p.data.mul_(k)\n",
    ),
    "a loop around loops": lines(
        NET + "for i in range(3):\n",
        "    for p in net.parameters():\n        k = p.size(0)\n        p.data.add_(k)\n        p.data.mul_(k)\n        p.data.div_(k)\n",
    ),
    "two branches that write": lines(
        NET, "if net is @:\n    net.weight.data.add_(1)\nelse:\n    net.weight.data.add_(@)\n# @\n"
    ),
    "comments in a block": lines(NET, "net.weight.data.add_(@)\n# a\n# b\n# c\n"),
    "comments between two writes": lines(NET + "net.weight.data.add_(1)\n", "# @\n", "net.weight.data.add_(2)\n"),
    "variables of autograd": lines(
        "import torch\nfrom torch import autograd\n", "x@ = autograd.Variable(torch.ones(@))\n"
    ),
    "names of autograd": lines(
        "import torch\n", "import torch.autograd as a@\nx@ = a@.Variable(torch.ones(@))\ny = 'a@'\n"
    ),
    "a block of parts of a line": joined(NET + "p = net.weight\n", "p.data.add_(@)", "; ", "\n"),
    "blocks that are there": lines(
        NET + "p = net.weight\n", "with torch.no_grad():\n    p.add_(1)\np.data.add_(@)\np.data.add_(x.data)\n"
    ),
    "initialisation": lines(NET + "def init_weights(m):\n", "    m.weight.data.normal_(0, @)\n"),
    "a list": joined(FUNCTION + "    return [", "x.data", ", ", "]\n"),
    "a list over lines": joined(FUNCTION + "    return [\n", "        x.data", ",\n", "\n    ]\n"),
    "a mapping": joined(FUNCTION + "    return {", "'@': x.data", ", ", "}\n"),
    "findings of which every other one is suppressed": lines(
        FUNCTION, "    y@ = x.data  # torchlint: ignore[TL101]\n    z@ = x.data\n"
    ),
    "comments for all of a file": lines(
        "import torch\n",
        "# torchlint: file-ignore[TL101]\n# torchlint: file-ignore[TL6]\n\ndef f@(x: torch.Tensor):\n    return x.data\n\n",
    ),
    "comments for one line": lambda size: (
        FUNCTION + "    # torchlint: ignore[TL101]\n" * size + "    " + "y = x.data; " * size + "\n"
    ),
    "attributes of attributes": lambda size: f"{FUNCTION}    y = x.data\n    return k{'.a' * 5 * size}\n",
    "data of data": lambda size: f"{FUNCTION}    return x{'.data' * 5 * size}\n",
    "subscripts of subscripts": lambda size: f"{FUNCTION}    y = x.data\n    return k, y{'[0]' * 5 * size}\n",
    "methods of results": lambda size: f"{FUNCTION}    return x{'.data.view(3)' * 5 * size}\n",
    "conditional expressions in each other": lambda size: (
        f"{FUNCTION}    return {'x.data if k else ' * 5 * size}x, {'(x.data if k else ' * 4 * size}x{')' * 4 * size}\n"
    ),
    "alternatives of conditional expressions": lambda size: (
        f"{FUNCTION}    y = {'(' * 4 * size}x{'.data if k else k or x.data)' * 4 * size}\n    return y\n"
    ),
    "a name that branches bind again": lines(
        VARIABLE + "def f(x, c):\n    x = torch.ones(3)\n",
        "    if c[@]:\n        x = x.data\n    else:\n        x = Variable(x)\n",
        "    return x\n",
    ),
    "suppressed findings": lines(TORCH, "def f@(x: torch.Tensor):\n    return x.data  # torchlint: ignore[TL101]\n\n"),
    "arguments": joined(FUNCTION + "    return g(", "a@=x.data", ", ", ")\n"),
    "lambdas called on the spot": lambda size: (
        TORCH + "g = " + "".join(f"(lambda x{i}: " for i in range(size)) + "torch.ones(3).data" + ")(1)" * size + "\n"
    ),
    "a sum": joined(FUNCTION + "    return ", "x.data", " + ", "\n"),
    "a line of statements": joined(FUNCTION + "    ", "y@ = x.data", "; ", "\n"),
    "the same name": lines(FUNCTION, "    x = x.data\n"),
    "many names": lines(FUNCTION, "    a@ = x * @\n    b@ = a@.data\n"),
    "names of the module": lines(NET, "a@ = net.weight\na@.data.add_(1)\nb@ = a@.data\n"),
    "scalars": lines(NET, "loss@ = net.weight.sum()\nprint(loss@.data[0])\n"),
    "strings": lines(FUNCTION, "    print('a', f'{x.data} {x.data=}')\n"),
    "comments": lines(FUNCTION, '    # it\'s about x.data\n    y@ = x.data  # and "this"\n'),
    "comprehensions": lines(
        "import torch\ndef f(xs: list[torch.Tensor]):\n", "    y@ = [x.data for x in xs if x.data.sum() > 0]\n"
    ),
    "lambdas that are given together": lines(
        "import numpy as np\nimport torch\ndef f(call, xs):\n    total = 0\n",
        "    y = call(lambda x: np.sum(x), lambda x: x.sum(), xs)\n    y.backward()\n    total += y\n    np.sum(y)\n",
    ),
    "lambdas": lines(FUNCTION, "    y@ = lambda: x.data\n"),
    "functions": lines(TORCH, "def f@(x: torch.Tensor):\n    return x.data\n\n"),
    "functions of one name": lines(TORCH, "def f(x: torch.Tensor):\n    return x.data\n\n"),
    "functions with documentation": lines(
        TORCH, 'def f@(x: torch.Tensor):\n    """It\'s x.data.\n\n    More of it.\n    """\n    return x.data\n'
    ),
    "functions that write": lines(TORCH, "def f@(w):\n    a = w.data\n    w.add_(1)\n    return a\n"),
    "methods": lines(
        NET + "class A(nn.Module):\n",
        "    def m@(self, x: torch.Tensor):\n        self.a@ = x.data\n        return self.a@.data\n\n",
    ),
    "masks of bytes": lines(FUNCTION, "    m@ = (x > @).byte()\n    y = x[m@ & m0], 1 - m@\n"),
    "a mask that is made anew": lines(FUNCTION, "    m = (x > @).byte()\n    y = x[m], 1 - m\n"),
    "classes with masks": lines(
        NET,
        "class N@(nn.Module):\n    def __init__(self, x: torch.Tensor):\n        self.mask = (x > @).byte()\n"
        "    def forward(self, x):\n        return x[self.mask], 1 - self.mask\n",
    ),
    "views of slices": lines(FUNCTION, "    y@ = x[:, @:]\n    z = y@.view(-1), x[:, 1:].view(-1, x.size(-1))\n"),
    "lengths on a device": lines(
        "import torch\nfrom torch.nn.utils.rnn import pack_padded_sequence\ndef f(x: torch.Tensor, k, device):\n",
        "    k = torch.tensor([@]).to(device)\n    y = pack_padded_sequence(x, k + 1)\n",
    ),
    "modules made of modules": lines(
        NET,
        "class M@(nn.Module):\n    def forward(self, x):\n        return x\n"
        "class N@(nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.part = M@()\n"
        "    def forward(self, x):\n        return torch.relu(x)\n"
        "def f@(x: torch.Tensor):\n    net = N@()\n    y = net(x)\n    return y.data, y.numpy()\n",
    ),
    "classes": lines(
        NET,
        "class A@(nn.Module):\n    def __init__(self):\n        self.w = nn.Parameter(torch.ones(3))\n"
        "        self.w.data.fill_(0)\n    def forward(self, x):\n        return self.w.data + x\n\n",
    ),
    "imports in functions": lines(
        TORCH, "def f@(x):\n    from torch.autograd import Variable\n    return Variable(x)\n\n"
    ),
    "an import of many names": lambda size: (
        f"import torch\nfrom torch.nn.functional import {', '.join(f'n{i}' for i in range(size))}, upsample\n"
        "def f(x: torch.Tensor):\n    return x.data, upsample(x)\n"
    ),
    "imports that may fail": lines(
        TORCH, "try:\n    from torch.nn import n@\nexcept ImportError:\n    n@ = torch.ones(3).data\n"
    ),
    "old names": lines(
        "import torch\nimport torch.nn.functional as F\ndef f(x: torch.Tensor):\n",
        "    y = F.upsample(x)\n    torch.addcmul(x, 1, x, x)\n",
    ),
    "conversions": lines(
        "import torch\nimport numpy as np\ndef f():\n    x = torch.ones(3, requires_grad=True)\n",
        "    y@ = x.cpu().numpy()\n    z@ = x.cpu().detach().numpy()\n",
    ),
    "one sum of losses": lines(
        NET + "def f(loader, opt):\n    total = 0\n    for x in loader:\n        loss = net(x).sum()\n",
        "        total += loss\n",
        "        loss.backward()\n        opt.step()\n    return total\n",
    ),
    "dictionaries of losses": lines(
        NET + "def f(loader, opt, rows):\n    for x in loader:\n        loss = net(x).sum()\n        loss.backward()\n",
        "        row@ = {'n': 1}\n        row@['loss'] = loss\n        rows.append(row@)\n",
    ),
    "a dictionary of many losses": lines(
        NET
        + "def f(loader, opt, rows):\n    for x in loader:\n        loss, row = net(x).sum(), {}\n        loss.backward()\n",
        "        row['@'] = loss\n",
        "        rows.append(row)\n",
    ),
    "a meter with many conditions": lines(
        NET + "class Meter:\n    def update(self, values):\n        x = 0\n",
        "        if torch.is_tensor(values):\n            return\n",
        "        self.s += values['a']\ndef f(loader, opt):\n    meter = Meter()\n    for x in loader:\n"
        "        loss = net(x).sum()\n        loss.backward()\n        meter.update({'a': loss})\n",
    ),
    "loops with sums of losses": lines(
        NET + "def f(loader, opt):\n",
        "    t@ = 0\n    for x in loader:\n        loss = net(x).sum()\n        t@ += loss\n"
        "        loss.backward()\n        opt.step()\n",
    ),
    "volatile inputs of functions": lines(
        VARIABLE, "def f@(x):\n    x = Variable(x, volatile=True)\n    out = net(x)\n    return out.data[0]\n\n"
    ),
    "volatile inputs of one function": lambda size: lines(  # here, too
        VARIABLE + "def f(x):\n", "    x@ = Variable(x, volatile=True)\n    out@ = net(x@)\n"
    )(2 * size),
    "async": lines(FUNCTION, "    x.cuda(async=True)\n    y@ = x.data\n"),
    "Windows newlines": lambda size: (FUNCTION + "    y = x.data; z = 1\n" * size).replace("\n", "\r\n"),
    "bare CR": lambda size: (FUNCTION + "    y = x.data\n" * size).replace("\n", "\r"),
    "form feeds": lambda size: TORCH + "\f\ndef f(x: torch.Tensor):\n    return x.data\n" * size,
    "comments of other tools": lines(TORCH + "x = torch.ones(3).data\n", "y@ = 1  # noqa: E501\n"),
    "classes one below the other": lambda size: (
        NET
        + "class A0(nn.Module):\n    def m(self, x):\n        return self.w.data\n"
        + "".join(
            f"class A{i}(A{i - 1}):\n    def m(self, x):\n        self.w = super().m(x)\n        return self.w.data\n"
            for i in range(1, size)
        )
    ),
    "loops in loops": lambda size: (
        FUNCTION
        + "    a = b = c = x\n"
        + "".join("    " * (depth + 1) + f"for i{depth} in k:\n" for depth in range(4))
        + "".join(f"                    a, b, c = b + {i}, c.data, a\n" for i in range(size))
    ),
    "functions in a ring": lambda size: (
        TORCH
        + "".join(
            f"def f{i}(x: torch.Tensor):\n    y = f{(i + 1) % size}(x)\n    return y.data\n\n" for i in range(size)
        )
    ),
    "methods in a ring that each set an attribute": lambda size: (
        NET
        + "class Net(nn.Module):\n"
        + "".join(
            f"    def m{i}(self, x):\n        self.a{i} = x\n        self.b{i} = self.m{(i + 1) % size}(self.a{i})\n"
            f"        return self.b{(i + 1) % size}\n\n"
            for i in range(size)
        )
    ),
    "functions of which each calls the one before": lambda size: (
        TORCH
        + "def f0(x: torch.Tensor):\n    return x.data\n\n"
        + "".join(f"def f{i}(x: torch.Tensor):\n    y = f{i - 1}(x)\n    return y.data\n\n" for i in range(1, size))
    ),
    "functions of which each calls the one before twice": lambda size: (
        TORCH
        + "def f0(x):\n    return x.data\n\n"
        + "".join(
            f"def f{i}(x: torch.Tensor):\n    y = f{i - 1}(f{i - 1}(x))\n    return y.data\n\n" for i in range(1, size)
        )
    ),
    "calls of what gives back what it is given": lambda size: (
        TORCH
        + "def f(x):\n    if x is None:\n        return x\n    return x\n\n"
        + f"def g(x: torch.Tensor):\n    return {'f(' * size}x.data{')' * size}\n"
    ),
    "modules that give back what they are given": lambda size: (
        NET
        + "class A(nn.Module):\n    def forward(self, x):\n        return x\n\n"
        + "net = nn.Sequential(A(), A(), A())\n"
        + f"def g(x: torch.Tensor):\n    return {'net(' * size}x.data{')' * size}\n"
    ),
    "calls in what is called": lambda size: (
        TORCH
        + ("def h(x):\n" + "    torch.relu(x)\n" * 4 * size)
        + ("def g(x):\n" + "    h(x)\n" * 4 * size)
        + ("def f(x: torch.Tensor):\n" + "    g(x.data)\n" * 4 * size)
    ),
    "containers of containers": lines(
        FUNCTION + "    a = x.data\n", "    a = {'a': a, 'b': a, 'c': [a, a, a]}\n", "    return a['a']\n"
    ),
    "one of many": joined(FUNCTION + "    return ", "k[@]", " or ", " or x.data\n"),
    "a chain of comparisons": joined(FUNCTION + "    return ", "x.data", " == ", "\n"),
    "a chain of comparisons of other things": joined(FUNCTION + "    x = x.data\n    return ", "k[@]", " < ", "\n"),
    "strings that are one": joined(FUNCTION + "    x = x.data\n    return ", "'@'", " ", "\n"),
    "all of many": joined(FUNCTION + "    return ", "x.data is k[@]", " and ", "\n"),
    "tests of which one holds": joined(
        FUNCTION + "    if ", "isinstance(k[@], torch.Tensor)", " or ", ":\n        return x.data\n"
    ),
    "a name that is assigned again and again": lines(
        FUNCTION + "    i = torch.tensor([1, 2])\n", "    y = i / 2\n    m = (x > @).byte()\n    z = x[m]\n"
    ),
    "classes in diamonds": lambda size: (
        NET
        + "class A0(nn.Module):\n    def m(self, x: torch.Tensor):\n        return x.data\n"
        + "".join(
            f"class {name}(nn.Module, {bases}):\n    def m(self, x: torch.Tensor):\n        return x.data\n"
            for i in range(1, size)
            for name, bases in ((f"B{i}", f"A{i - 1}"), (f"C{i}", f"A{i - 1}"), (f"A{i}", f"B{i}, C{i}"))
        )
    ),
}

SIZE = 8


@pytest.mark.parametrize("program", SHAPES.values(), ids=SHAPES)
def test_a_shape(program: Program) -> None:
    assert growing(program, SIZE, Fixing.UNSAFE) == []


def test_branches_that_write() -> None:
    """How far up a block is looked for from each has an end: so not from the first lines on."""
    program = lines(NET + "if net is 0:\n    net.weight.data.add_(1)\n", "elif net is @: net.weight.data.add_(@)\n")
    assert growing(program, 5 * SIZE, Fixing.UNSAFE) == []


def test_modules_of_modules() -> None:
    """Each line doubles what a module is made of, which is cut at some size: so not from the first lines on."""
    program = lines(NET, "net = nn.Sequential(net, net)\n", "x = net(torch.ones(3)).data\n")
    assert growing(program, 5 * SIZE, Fixing.UNSAFE) == []


def test_a_state_that_is_kept_again_and_again() -> None:
    """What is near is looked at, and with fewer lines all is near."""
    program = lines(
        NET + "optimizer = torch.optim.SGD(net.parameters(), lr=0.1)\n",
        "for i in range(3):\n    if i:\n        best = net.state_dict()\n    optimizer.step()\nnet.load_state_dict(best)\n\n",
    )
    assert growing(program, 3 * SIZE, Fixing.NONE, frozenset(("TL412",))) == []


def test_what_is_known_of_a_name_is_not_copied_for_each_read_of_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a set operator copies is neither a line nor a character."""
    copied = []

    class Counting(frozenset[int]):
        def __sub__(self, other: object) -> frozenset[int]:
            copied.append(len(self))
            return super().__sub__(other)  # type: ignore[operator]

    def counting(*given: object) -> tuple[tuple[cst.Name, ...], frozenset[int]]:
        uses, written = original(*given)  # type: ignore[arg-type]
        assert len(uses) <= 2
        return uses, Counting(written)

    original = identity._uses
    monkeypatch.setattr(identity, "_uses", counting)
    text = "import torch\nb = torch.rand(3)\n" + "a = b.data\n" * SIZE
    assert len(check_text(text, "x.py", frozenset(("TL101",))).diagnostics) == SIZE
    assert copied == []


@pytest.mark.parametrize(
    "code",
    [code for code, info in sorted(catalogue().items()) if info.doc],
)
def test_the_examples_of_a_rule(code: str) -> None:
    texts = [example.before for example in examples(catalogue()[code].doc) if "import *" not in example.before]

    def repeated(size: int) -> str:
        functions = (f"def f{i}_{k}():\n{textwrap.indent(t, '    ')}" for i in range(size) for k, t in enumerate(texts))
        return "\n\n".join(("import torch\n", *functions))

    size = max(1, LEAST // sum(map(len, texts)))
    found = growing(repeated, size, Fixing.UNSAFE, frozenset((code,)))
    if found and size == 1:  # a class that stands there once may be treated otherwise than two of one name
        found = growing(repeated, 2, Fixing.UNSAFE, frozenset((code,)))
    assert found == []


LEAST = 1_000
"""Characters that the shortest program has at least: what is looked for close to a place is never far from it."""


def test_what_grows_too_fast_is_named() -> None:
    found = growing(lambda size: "import torch\n" + "x = x.data\n" * size**2, SIZE, Fixing.NONE)
    assert any(" _found: " in line for line in found)
