"""What is asked for before something is interpreted, read or searched for, since it costs less."""

from __future__ import annotations

import ast
from pathlib import Path
from unittest import mock

import libcst as cst
import pytest

from torchlint.file.check import check_text
from torchlint.file.tree.tree import Tree
from torchlint.file.triggers.search import searches
from torchlint.model import Model, calls_elsewhere
from torchlint.model.codebase import modules
from torchlint.model.codebase.modules import Codebase
from torchlint.model.codebase.outline import outlined
from torchlint.model.context import Context
from torchlint.model.interpret.forward import ForwardInterpreter
from torchlint.model.interpret.frame import Frame
from torchlint.model.interpret.keys import ScopeKey
from torchlint.model.interpret.summary import Trace

TL104 = frozenset(("TL104",))


@pytest.mark.parametrize(
    ("parameters", "method", "are_asked"),
    [("x: A", "x", True), ("x: A", "x: int", False), ("*x", "**x", False), ("x", "x: int", True)],
)
def test_callers_are_interpreted_for_what_annotations_leave_open(parameters: str, method: str, are_asked: bool) -> None:
    tree = Tree(
        f"class A:\n    def __init__(self, {parameters}):\n        self.x = x\n"
        f"    def g(self, {method}):\n        return self.y.wanted\n\ndef f(a, b):\n    A(a).g(b)\n"
    )
    model = Model(tree)
    model.value(tree.attributes("wanted")[0])
    caller = tree.all(cst.FunctionDef)[-1]
    assert (ScopeKey(id(caller)) in model.context.answers) == are_asked


def test_files_are_read_once_however_much_is_forgotten(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text("")
    (tmp_path / "a.py").write_text("import torch\n\ndef f(x):\n    return x.detach()\n")
    text = "from a import f\n\ndef g(x):\n    return f(x).numpy()\n"
    known = Codebase()
    with mock.patch.object(modules, "_ROOM", 0), mock.patch.object(modules, "outlined", wraps=outlined) as made:
        for name in ("b.py", "c.py"):
            check_text(text, name, TL104, location=str(tmp_path / name), codebase=known)
    assert made.call_count == 1


@pytest.mark.parametrize("size", [4, 12])
def test_attributes_that_depend_on_each_other_have_their_method_interpreted_once(size: int, tmp_path: Path) -> None:
    body = "".join(f"        self.a{n} = self.f(self.a{(n + 1) % size})\n" for n in range(size))
    head = "class A:\n    def __init__(self, x):\n        self.f = x\n\n    def put(self):\n"
    (tmp_path / "b.py").write_text(f"import torch\n\n{head}{body}")
    reads = "".join(f"    a.a{n}.numpy()\n" for n in range(size))
    text = f"from b import A\n\ndef g(a: A):\n{reads}"
    begun: list[str] = []
    begin = ForwardInterpreter.begin

    def counting(
        self: ForwardInterpreter, context: Context, scope: cst.FunctionDef | cst.Module, trace: Trace | None = None
    ) -> Frame:
        begun.extend([scope.name.value] if isinstance(scope, cst.FunctionDef) else [])
        return begin(self, context, scope, trace)

    with mock.patch.object(ForwardInterpreter, "begin", counting):
        check_text(text, "c.py", TL104, location=str(tmp_path / "c.py"), codebase=Codebase())
    assert begun.count("put") == 1


def test_calls_of_libraries_are_no_calls_of_the_project(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text("")
    caller = "import torch.nn.functional as F\nfrom b import Padder\n\ndef f(p, x):\n"
    caller += "    x.requires_grad_()\n    return F.pad(x, (1, 1)), p.pad(x)\n"
    (tmp_path / "a.py").write_text(caller)
    text = "import torch\n\nclass Padder:\n    def pad(self, x):\n        return x.numpy()\n"
    functions: list[str] = []

    def is_called(caller: Context, call: cst.Call, *_: object) -> bool:
        functions.append(caller.tree.code(call.func))
        return False

    with mock.patch.object(calls_elsewhere, "_is_called", is_called):
        check_text(text, "b.py", TL104, location=str(tmp_path / "b.py"), codebase=Codebase())
    assert functions == ["p.pad"]


def test_words_are_known_of_patterns_that_begin_with_one_of_several() -> None:
    (found,) = searches(frozenset(("TL501",))).own
    assert {b"require_grad", b"requires_gradients"} <= found.any_word
    assert any({b"mul_", b"clamp_min_"} <= each.any_word for each in searches(frozenset(("TL313",))).own)


@pytest.mark.parametrize(
    ("text", "listed"),
    [
        ("__all__ = ['f']\nf = g = 1\n", {"f"}),
        ("__\uff41ll__ = ['f']\nf = g = 1\n", {"f"}),
        ("f = g = 1\n", None),
        ("__all__ = ['f']\n__all__ += ['g']\n", None),
    ],
)
def test_what_a_file_lists(text: str, listed: set[str] | None) -> None:
    assert outlined(text, ast.parse(text)).listed == listed


MODULE = (
    "from torch import nn\n\nclass Part(nn.Module):\n    pass\n\nclass Net(nn.Module):\n    def __init__(self, n):\n"
)


@pytest.mark.parametrize(
    ("imported", "called", "is_interpreted"),
    [
        ("", "Part(n)", False),
        ("", "float(n)", False),
        ("", "made(n)", True),
        ("from parts import Part\n", "Part(n)", True),
        ("from parts import *\n", "list(n)", True),
    ],
)
def test_what_only_a_class_or_builtin_can_be_is_not_interpreted(
    imported: str, called: str, is_interpreted: bool
) -> None:
    begun: list[cst.CSTNode] = []
    begin = ForwardInterpreter.begin

    def noted(
        self: ForwardInterpreter, context: Context, scope: cst.FunctionDef | cst.Module, trace: Trace | None = None
    ) -> Frame:
        begun.append(scope)
        return begin(self, context, scope, trace)

    with mock.patch.object(ForwardInterpreter, "begin", noted):
        check_text(imported + MODULE + f"        self.x = {called}\n", "x.py", frozenset(("TL503",)))
    assert bool(begun) == is_interpreted
