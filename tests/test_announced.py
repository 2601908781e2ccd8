"""What is announced is what is fixed: the same number of findings, rule by rule."""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from conftest import Torchlint
from once import checked
from programs import random_program, text_of

from torchlint.diagnostic import Fixing
from torchlint.rules import catalogue
from torchlint.testing.examples import examples

ROOT = Path(__file__).parents[1]
CODES = frozenset(catalogue())
PROGRAMS = int(os.environ.get("TORCHLINT_JUDGED", "200")) // 4
"""How many generated programs are counted."""

HEAD = "import torch\nfrom torch.autograd import Variable\n\n\n"

# What is wrapped is a tensor, wherever else it is used: before and after it is fixed.
EVIDENCE = {
    "before": "def f(x):\n    a = Variable(x)\n    return a, x.data.sum()\n",
    "after": "def f(x):\n    b = x.data.sum()\n    return b, Variable(x, requires_grad=True)\n",
    "a result": "def f(net, x):\n    o = net(x)\n    z = o.data.sum()\n    return z, Variable(o)\n",
    "an attribute": "class A:\n    def f(self):\n        return Variable(self.x)\n\n    def g(self):\n        return self.x.data.sum()\n",
    "an attribute, by keyword": "class A:\n    def f(self):\n        return self.x.data.sum(), Variable(data=self.x)\n",
    "an element": "def f(xs):\n    return Variable(xs[0]), xs[0].data.sum()\n",
    "a value": "def f(xs):\n    return Variable(xs['a'], volatile=True), xs['a'].data.sum()\n",
    "a parameter": "def g(x):\n    return x.data.sum()\n\n\ndef f(x):\n    return g(Variable(x)), g(x)\n",
    "in a lambda": "def f(x):\n    w = lambda: Variable(x)\n    return w, x.data.sum()\n",
    "what a loop yields": "def f(m, x):\n    for a, b in m:\n        c = Variable(a).cuda(); d = a.data.sum()\n",
    "by another name": "V = Variable\n\n\ndef f(x):\n    return V(x), x.data.sum()\n",
    "its data": "def f(x):\n    return x.data, Variable(x.data)\n",
    "one of two": "def f(x, y):\n    return x.data, Variable(x if y else y), y.data\n",
    "one or the other": "def f(x, y):\n    return x.data.sum(), Variable(x or y), y.data\n",
}  # fmt: skip

# One fix does the work of another, leaves something to tidy up, or waits.
TOGETHER = {
    "in a function inside": "def f(x):\n    def g():\n        return Variable(x)\n    return g, x.data.sum()\n",
    "volatile goes with the wrapper": "def f(x):\n    return Variable(x, volatile=True)\n",
    "data goes with the wrapper": "a = Variable(torch.ones(3).data)\n",
    "a second detach": "w = torch.ones(3, requires_grad=True) * 2\na = Variable(w).data\n",
    "an import with a use that has no fix": "a = Variable\nb = Variable(torch.ones(3))\n",
    "an import with a use that has an unsafe fix": "def f(x):\n    return type(x) == Variable\n",
    "a block for one of two uses": "def f(net, x):\n    x = Variable(x, volatile=True)\n    a = net(x)\n    if net(a).data.sum() > 0:\n        net(torch.ones(1)).sum().backward()\n",
    "a block in a generator": "def f(net, x):\n    x = Variable(x, volatile=True)\n    for v in net(x):\n        y = net(v)\n        yield y\n",
    "a block around a loop": "def f(net, x):\n    x = Variable(x, volatile=True)\n    while net(x).sum() > 0:\n        x = net(x)\n",
    "volatile in a comprehension": "def f(net, xs):\n    return [net(Variable(x, volatile=True)) for x in xs]\n",
    "a flag": "def f(net, x, flag):\n    return net(Variable(x, volatile=flag)) + net(Variable(x))\n",
    "a default that is set": "torch.set_default_tensor_type(torch.DoubleTensor)\nx = torch.Tensor([1, 2])\ny = torch.FloatTensor(3)\n",
    "a default on a GPU": "torch.set_default_tensor_type('torch.cuda.FloatTensor')\nx = torch.Tensor([1, 2])\n",
    "an import with a use that is suppressed": "a = Variable(torch.ones(3))  # noqa\n",
}


EXAMPLES = {
    f"{code}-line{example.row}": example
    for code, info in sorted(catalogue().items())
    for example in examples(info.doc)
}  # fmt: skip


def texts() -> Iterator[tuple[str, str]]:
    for path in sorted([*ROOT.glob("tests/cases/*.py"), *ROOT.glob("examples/**/*.py")]):
        yield path.relative_to(ROOT).as_posix(), path.read_bytes().decode("utf-8")
    for name, example in EXAMPLES.items():
        yield name, example.before
    for kind, shapes in (("evidence", EVIDENCE), ("together", TOGETHER)):
        for name, text in shapes.items():
            yield f"{kind}, {name}", HEAD + text


TEXTS = dict(texts())


def assert_as_announced(text: str, fixing: Fixing) -> None:
    before, after = checked(text, "x.py", CODES), checked(text, "x.py", CODES, fixing)
    announced = Counter(d.code for d in before.diagnostics if d.fix is not None and fixing.applies(d.fix))
    assert Counter(dict(after.fixed)) == announced
    again = checked(after.text, "x.py", CODES, fixing)
    assert (again.text, again.fixed) == (after.text, ())


@pytest.mark.parametrize("fixing", [Fixing.SAFE, Fixing.UNSAFE])
@pytest.mark.parametrize("name", TEXTS)
def test_what_is_announced_is_fixed(name: str, fixing: Fixing) -> None:
    assert_as_announced(TEXTS[name], fixing)


def test_most_announce_something() -> None:
    """Else the test above says nothing; examples that nothing is changed in do not count."""
    unchanged = {name for name, example in EXAMPLES.items() if example.after_unsafe == example.before}
    changed = {name: text for name, text in TEXTS.items() if name not in unchanged}
    announcing = [
        name for name, text in changed.items() if any(d.fix for d in checked(text, "x.py", CODES).diagnostics)
    ]
    assert len(announcing) > 0.75 * len(changed)


@pytest.mark.parametrize("seed", range(PROGRAMS))
def test_in_generated_programs(seed: int) -> None:
    text = text_of(random_program(seed))
    for fixing in (Fixing.SAFE, Fixing.UNSAFE):
        assert_as_announced(text, fixing)


@pytest.mark.parametrize("name", EVIDENCE)
def test_the_evidence_is_there_before_the_fix(name: str) -> None:
    found = [d.code for d in checked(HEAD + EVIDENCE[name], "x.py", CODES).diagnostics]
    assert "TL101" in found


def test_what_is_tried_is_no_evidence() -> None:
    text = f"{HEAD}def f(x):\n    b = x.data.sum()\n    try:\n        Variable(x)\n    except TypeError:\n        pass\n    return b\n"
    assert "TL101" not in [d.code for d in checked(text, "x.py", CODES).diagnostics]


def test_every_way_to_count(torchlint: Torchlint, tmp_path: Path) -> None:
    path = tmp_path / "x.py"
    for name, text in TEXTS.items():
        if not name.startswith(("evidence", "together")):
            continue
        path.write_text(text, encoding="utf-8")
        found = json.loads(torchlint("check", "--no-cache", "--output-format", "json", "x.py").raw)
        count = sum(bool(each["fix"]) and each["fix"]["applicability"] == "safe" for each in found)
        said = torchlint("check", "--no-cache", "x.py").out
        assert (f"[*] {count} fixable with `--fix`" in said) is bool(count), name
        would = torchlint("check", "--no-cache", "--diff", "x.py").err
        assert f"Would fix {count} finding{'s' * (count != 1)}." in would if count else "Nothing to fix." in would, name
        done = torchlint("check", "--no-cache", "--fix", "--show-fixes", "x.py").out
        assert (f"Fixed {count} finding" in done) is bool(count), name
