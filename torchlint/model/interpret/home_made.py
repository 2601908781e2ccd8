"""What decorators and context managers of the project do to the grad mode, by how they are written."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from torchlint.file.tree.tree import Tree
from torchlint.model.possibilities import Tri
from torchlint.model.scopes import sounds_like_no_grad
from torchlint.model.syntax import dotted, last_name, parameters

_OFF = ("no_grad", "inference_mode")
_ON = ("enable_grad", "set_grad_enabled")


def grad_mode_of(tree: Tree, function: cst.FunctionDef) -> Tri | None:
    """The mode in which a function runs what it decorates or surrounds; None if it has nothing to do with that.

    NO only if that is done under ``no_grad`` wherever it is done: that the word is in it is no proof.
    """
    if not any(map(_may_set, tree.within(function.body, cst.Name))):
        return None
    places = [_is_off(tree, function, node) for node in _runs(tree, function)]
    return Tri.NO if places and all(places) else Tri.MAYBE


def may_turn_on(tree: Tree, node: cst.FunctionDef | cst.ClassDef) -> bool:
    """Whether autograd may be turned on by what a function or class surrounds something with."""
    return any(name.value in _ON for name in tree.within(node.body, cst.Name))


def may_set_mode(tree: Tree, cls: cst.ClassDef) -> bool:
    """Whether objects of a class may turn autograd off where they are entered: something in it is called so."""
    return any(map(_may_set, tree.within(cls, cst.Name)))


def _may_set(name: cst.Name) -> bool:
    return sounds_like_no_grad(name) or name.value == "set_grad_enabled"


def _runs(tree: Tree, function: cst.FunctionDef) -> Iterator[cst.CSTNode]:
    """Where what is decorated is called, where a context manager yields, and what is returned instead of either."""
    inner = [function, *tree.within(function.body, cst.FunctionDef)]
    given = {param.name.value for each in inner for param in parameters(each)}
    for call in tree.within(function.body, cst.Call):
        if isinstance(call.func, cst.Name) and call.func.value in given:
            yield call
    yield from tree.within(function.body, cst.Yield)
    for node in tree.within(function.body, cst.Return):
        if node.value is not None and _is_no_grad(node.value):
            yield node


def _is_off(tree: Tree, function: cst.FunctionDef, node: cst.CSTNode) -> bool:
    if isinstance(node, cst.Return):
        return True
    child = node
    for up in tree.ancestors(node):
        if isinstance(up, cst.With) and child is up.body and any(_is_no_grad(item.item) for item in up.items):
            return True
        if isinstance(up, cst.FunctionDef) and any(_is_no_grad(each.decorator) for each in up.decorators):
            return True
        if up is function:
            break
        child = up
    return False


def _is_no_grad(node: cst.BaseExpression) -> bool:
    """``torch.no_grad()``, and ``torch.no_grad()(f)``."""
    while isinstance(node, cst.Call):
        if last_name(node.func) == "set_grad_enabled":
            return [dotted(arg.value) for arg in node.args] == ["False"]
        if node.args and not isinstance(node.func, cst.Call):
            return False
        node = node.func
    return last_name(node) in _OFF
