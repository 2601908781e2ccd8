"""What a module does in its first call alone: it sets parameters by the first batch, behind a flag of its own."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import libcst as cst

from torchlint.file.tree.tree import Tree
from torchlint.model import Model
from torchlint.model.syntax import dotted, is_target


def is_alone(node: cst.CSTNode, model: Model) -> bool:
    """Whether a method writes at a place in the first call of its module alone: a flag says so, and is set then.

    ``if not self.is_set: self.start(x); self.is_set = True``, in ``forward`` or in the method itself.
    """
    function = model.tree.enclosing(node, cst.FunctionDef)
    cls = model.class_of(function) if isinstance(function, cst.FunctionDef) else None
    if cls is None or not isinstance(function, cst.FunctionDef):
        return False
    forward = model.find_method(cls, "forward")
    if forward is None:
        return False
    tree = model.home(forward).tree  # it may be inherited from a class of another file
    changed = _changed(forward, tree) | _changed(function, model.tree)
    if not changed.isdisjoint(_asked_around(node, function, model.tree)):
        return True
    called = f"self.{function.name.value}"
    calls = [call for call in tree.within(forward, cst.Call) if dotted(call.func) == called]
    return bool(calls) and all(not changed.isdisjoint(_asked_around(call, forward, tree)) for call in calls)


def _asked_around(node: cst.CSTNode, function: cst.FunctionDef, tree: Tree) -> set[str]:
    """The attributes of the module that decide if a place in a function is reached."""
    tests = [up.test for up in tree.ancestors(node) if isinstance(up, cst.If) and tree.is_inside(up, function)]
    tests += [each.test for each in _leaving(function.body.body) if tree.order(each) < tree.order(node)]
    return {name for test in tests for name in _own(tree.within(test, cst.Attribute))} - {"training"}


def _leaving(statements: Sequence[cst.CSTNode]) -> Iterator[cst.If]:
    """The conditions at the top of a body behind which it returns."""
    for each in statements:
        match each:
            case cst.If(body=cst.IndentedBlock(body=[*_, cst.SimpleStatementLine(body=[*_, cst.Return()])])):
                yield each
            case cst.If(body=cst.SimpleStatementSuite(body=[*_, cst.Return()])):
                yield each


def _own(attributes: Sequence[cst.Attribute]) -> Iterator[str]:
    for each in attributes:
        match each:
            case cst.Attribute(value=cst.Name("self"), attr=cst.Name(value=name)):
                yield name


def _changed(function: cst.FunctionDef, tree: Tree) -> set[str]:
    """The attributes of its object that a function sets, or writes in place: `self.is_set.fill_(1)`."""
    found = set()
    for each in tree.within(function, cst.Attribute):
        match each:
            case cst.Attribute(value=cst.Name("self"), attr=cst.Name(value=name)) if is_target(tree, each):
                found.add(name)
            case cst.Attribute(value=owner, attr=cst.Name(value=method)) if method.endswith("_") and method[0] != "_":
                path = (dotted(owner) or "").split(".")
                found.update(path[1:2] if path[0] == "self" else ())
    return found
