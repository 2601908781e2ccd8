"""Each limit of what the model keeps apart: what is known at the limit, and what is left of that one step beyond.

The numbers stand here again, so a limit that is changed fails here and not in a rule.
"""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import libcst as cst
import pytest

from torchlint.file.inferred import infer
from torchlint.model import values
from torchlint.model.certainty import Certainty
from torchlint.model.interpret.forward import ForwardInterpreter
from torchlint.model.interpret.frame import Frame
from torchlint.model.interpret.summary import Summary
from torchlint.model.possibilities import Dtype, Kind, Ndim, Role, Tri
from torchlint.model.symbols import Origin, Symbol

HEAD = "import torch\n"


def kind(text: str, path: str | None = None) -> str:
    """What ``it`` is where it is last mentioned."""
    return [each.kind for each in infer(text, path or "x.py", path) if each.expression == "it"][-1]


def names(name: str, count: int) -> str:
    return ", ".join(f"{name}{i}" for i in range(count))


# ---------------------------------------------------------------------- joins


def origins(count: int) -> str:
    """A value that comes from one of several parameters; what is learnt from its use holds for the first of them."""
    chosen = " if c else ".join(f"p{i}" for i in range(count))
    return f"{HEAD}def f(c, {names('p', count)}):\n    x = {chosen}\n    x.unsqueeze(0)\n    it = p{count - 1}\n"


def nested(count: int) -> str:
    """Two lists in lists, joined."""
    opened, closed, taken = "[" * count, "]" * count, "[0]" * count
    one, other = f"{opened}torch.ones(3){closed}", f"{opened}torch.arange(3){closed}"
    return f"{HEAD}def f(c):\n    x = {one} if c else {other}\n    it = x{taken}\n"


# ---------------------------------------------------------------------- containers


def keys(count: int) -> str:
    """A dictionary that is written out."""
    others = ", ".join(f"'k{i}': 'text'" for i in range(1, count))
    return f"{HEAD}def f():\n    x = {{'k0': torch.ones(3), {others}}}\n    it = x['k0']\n"


def updated_keys(count: int) -> str:
    """A dictionary that is made by ``dict``."""
    others = ", ".join(f"k{i}='text'" for i in range(1, count))
    return f"{HEAD}def f():\n    x = dict(k0=torch.ones(3), {others})\n    it = x['k0']\n"


def layers(count: int) -> str:
    """A sequence of modules."""
    others = ", ".join("torch.nn.ReLU()" for _ in range(1, count))
    return (
        f"{HEAD}def f(x):\n    net = torch.nn.Sequential(torch.nn.LSTM(3, 3), {others})\n    _, (it, _) = net[0](x)\n"
    )


def elements(count: int) -> str:
    """A list that is written out."""
    return f"{HEAD}def f():\n    x = [torch.ones(3), {', '.join(['None'] * (count - 1))}]\n    it = x[0]\n"


def appended(count: int) -> str:
    """A list that grows."""
    lines = "    x.append(None)\n" * (count - 1)
    return f"{HEAD}def f():\n    x = [torch.ones(3)]\n{lines}    it = x[0]\n"


def aliases(count: int) -> str:
    """Names for one list; what is put into it is found behind each of them."""
    lines = "".join(f"    y{i} = x\n" for i in range(count))
    return f"{HEAD}def f():\n    x = []\n{lines}    x.append(torch.ones(3))\n    it = y{count - 1}[0]\n"


# ---------------------------------------------------------------------- loops and runs


def carried(count: int) -> str:
    """A tensor that is handed on by one name in each round of a loop."""
    shifted = "".join(f"        v{i} = v{i - 1}\n" for i in range(count, 0, -1))
    empty = " = ".join(f"v{i}" for i in range(1, count + 1))
    return (
        f"{HEAD}def f(xs):\n    v0 = torch.ones(3)\n    {empty} = None\n    for _ in xs:\n{shifted}    it = v{count}\n"
    )


def carried_far(count: int) -> str:
    """The same in the innermost of three loops; there is a tensor only after its first round."""
    empty = " = ".join(f"v{i}" for i in range(count + 1))
    shifted = "".join(f"                v{i} = v{i - 1}\n" for i in range(count, 0, -1))
    loops = "    for _ in xs:\n        for _ in xs:\n            for _ in xs:\n"
    return f"{HEAD}def f(xs):\n    {empty} = None\n{loops}{shifted}            v0 = torch.ones(3)\n    it = v{count}\n"


def learnt(_: int) -> str:
    """What only a fourth run would learn: ``x`` is no tensor, so ``a`` is one, so ``u`` may be, so ``it`` is one."""
    return f"""{HEAD}
class Net(torch.nn.Module):
    def forward(self, x):
        x.items()
        for a in x:
            a.unsqueeze(0)
            for b in a:
                u = self.model(b)
                for it in u:
                    it.unsqueeze(0)
"""


def parts(count: int) -> str:
    """What is learnt of an attribute of something that a function gives back in lists in lists."""
    return f"""{HEAD}
def g(): return {"[" * count}thing(){"]" * count}
def f():
    x = g(){"[0]" * count}
    x.of_mine.unsqueeze(0)
    it = x.of_mine
"""


# ---------------------------------------------------------------------- functions


def callers(count: int) -> str:
    """A parameter that is handed through several functions."""
    lines = "".join(f"def f{i}(x): f{i - 1}(x)\n" for i in range(1, count))
    return f"{HEAD}def f0(it):\n    it\n{lines}f{count - 1}(torch.ones(3))\n"


def rebinding(count: int) -> str:
    """Functions that bind a name of the module."""
    return "x = None\n" + "".join(f"def set{i}():\n    global x\n    x = torch.ones(3)\n" for i in range(count))


def rebound(count: int) -> str:
    return f"{HEAD}{rebinding(count)}def f():\n    it = x\n"


def rebound_in_place(count: int) -> str:
    return f"{HEAD}{rebinding(count)}it = x\n"


# shape, the limit, what `it` is there, and what it is one step beyond
LIMITS: list[tuple[Callable[[int], str], int, str, str]] = [
    (origins, 4, "tensor", "unknown"),
    (nested, 4, "tensor", "unknown"),
    (keys, 32, "tensor", "tensor|string"),
    (updated_keys, 32, "tensor", "tensor|string"),
    (layers, 32, "tensor", "tensor|unknown"),
    (elements, 8, "tensor", "tensor|none"),
    (appended, 8, "tensor", "tensor|none"),
    (aliases, 8, "tensor", "unknown"),
    (carried, 3, "tensor|none", "tensor|none|unknown"),
    (carried_far, 14, "tensor|none", "none"),
    (learnt, 3, "tensor|unknown", "tensor|unknown"),
    (parts, 5, "tensor", "unknown"),
    (callers, 4, "tensor", "unknown"),
    (rebound, 4, "tensor|none", "none|unknown"),
    (rebound_in_place, 16, "tensor|none", "none|unknown"),
]


@pytest.mark.parametrize(("shape", "limit", "at", "beyond"), LIMITS, ids=[row[0].__name__ for row in LIMITS])
def test_what_is_kept_apart(shape: Callable[[int], str], limit: int, at: str, beyond: str) -> None:
    assert (kind(shape(limit)), kind(shape(limit + 1))) == (at, beyond)


def through_files(folder: Path, count: int) -> str:
    """What a function returns that another file defines, by way of functions of further files."""
    (folder / "__init__.py").touch()
    for number in range(1, count + 1):
        is_last = number == count
        head = HEAD if is_last else f"from pkg.m{number + 1} import f{number + 1}\n"
        given = "torch.ones(3)" if is_last else f"f{number + 1}()"
        (folder / f"m{number}.py").write_text(f"{head}def f{number}():\n    return {given}\n", encoding="utf-8")
    return "from pkg.m1 import f1\nit = f1()\n"


def imported_again(folder: Path, count: int) -> str:
    """A tensor of another file that is imported from one file to the next."""
    (folder / "__init__.py").touch()
    for number in range(1, count):
        (folder / f"m{number}.py").write_text(f"from pkg.m{number + 1} import x\n", encoding="utf-8")
    (folder / f"m{count}.py").write_text(f"{HEAD}x = torch.ones(3)\n", encoding="utf-8")
    return "from pkg.m1 import x\nit = x\n"


FILES: list[tuple[Callable[[Path, int], str], int, str, str]] = [
    (through_files, 3, "tensor", "unknown"),
    (imported_again, 8, "tensor", "reference"),
]


@pytest.mark.parametrize(("shape", "limit", "at", "beyond"), FILES, ids=[row[0].__name__ for row in FILES])
def test_how_far_other_files_are_followed(
    shape: Callable[[Path, int], str], limit: int, at: str, beyond: str, tmp_path: Path
) -> None:
    found = []
    for name, count in (("at", limit), ("beyond", limit + 1)):
        folder = tmp_path / name / "pkg"
        folder.mkdir(parents=True)
        found.append(kind(shape(folder, count), str(folder / "m0.py")))
    assert found == [at, beyond]


@pytest.mark.parametrize(("count", "most"), [(2, 2), (4, 3), (6, 3)])
def test_how_often_functions_that_call_each_other_are_run(
    count: int, most: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each of them calls all others, so what one rests on is hardly ever finished."""
    runs: Counter[int] = Counter()
    run = ForwardInterpreter.run

    def counted(self: ForwardInterpreter, frame: Frame, cls: cst.ClassDef | None) -> Summary:
        runs[id(frame.scope)] += 1
        return run(self, frame, cls)

    monkeypatch.setattr(ForwardInterpreter, "run", counted)
    bodies = ("".join(f"    f{other}(x)\n" for other in range(count) if other != each) for each in range(count))
    kind(HEAD + "".join(f"def f{each}(x):\n{body}    it = x\n" for each, body in enumerate(bodies)))
    assert max(runs.values()) == most


def test_other_evidence_is_all_that_changes() -> None:
    """What ``because`` copies is written out, as that is faster: a new field must not be forgotten."""
    one = values.NUMBER
    full = values.Value(
        kind=Kind.TENSOR,
        grad=Tri.YES,
        certainty=Certainty.PROVED,
        ndim=Ndim.ZERO,
        dtype=Dtype.INT,
        leaf=Tri.YES,
        role=Role.BUFFER,
        ref="torch.ones",
        inner=values.Fields(("x",)),
        node=cst.Name("x"),
        choices=(one, one),
        is_exact=True,
        receiver=one,
        item=one,
        items=(one,),
        keys=values.Keys(one),
        bound=(values.Argument(None, one, cst.Name("y")),),
        symbols=(Symbol(Origin.CALL, 1),),
        evidence=values.Evidence(values.Strength.NAME, "its name"),
    )
    empty, other = values.Value(Kind.UNKNOWN), full.because(values.Strength.USE, "its use")
    for field in dataclasses.fields(values.Value):
        was, now = getattr(full, field.name), getattr(other, field.name)
        assert was != getattr(empty, field.name), f"give `{field.name}` something here, too"
        assert (now == was) is (field.name != "evidence"), field.name
