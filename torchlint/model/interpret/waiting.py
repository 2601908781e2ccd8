"""What is made in one grad mode and may run in another: generators, lambdas, coroutines, and the stacks of contexts."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import libcst as cst

from torchlint.file.tree.tree import Tree
from torchlint.model.context import Context
from torchlint.model.imports import imported_path
from torchlint.model.interpret.frame import Frame
from torchlint.model.possibilities import Tri
from torchlint.model.syntax import dotted, last_name

_DRAWING = frozenset(
    ("all", "any", "dict", "frozenset", "list", "max", "min", "next", "set", "sorted", "sum", "tuple", "extend", "join")
)
"""Builtins, and methods of lists and strings, that draw from what they are given before they give anything back."""
_PASSING_ON = frozenset(("enumerate", "filter", "iter", "map", "zip"))
"""Builtins that draw only when they are drawn from."""
_ENTERING = frozenset(("enter_context", "callback", "push", "__enter__"))
"""Methods of a stack of contexts that leave none of them."""


@contextmanager
def later(frame: Frame, *, is_at_once: bool = False) -> Iterator[None]:
    """Evaluate what may run when autograd records again, unless it runs at once."""
    before = frame.grad
    if before == Tri.NO and not is_at_once:
        frame.grad = Tri.MAYBE
    try:
        yield
    finally:
        frame.grad = before


def is_drawn_at_once(frame: Frame, node: cst.CSTNode) -> bool:
    """Whether all that an iterator or coroutine gives is drawn from it on the spot."""
    parent = frame.tree.parent(node)
    match parent:
        case cst.For(iter=drawn) | cst.CompFor(iter=drawn):
            return drawn is node and not _is_of_generator(frame.tree, parent)
        case cst.Await() | cst.StarredElement():
            return True
        case cst.Arg(star=star):
            call = frame.tree.parent(parent)
            return bool(star) or (isinstance(call, cst.Call) and _draws(frame, call))
    return False


def _is_of_generator(tree: Tree, node: cst.CSTNode) -> bool:
    displays = (cst.GeneratorExp, cst.ListComp, cst.SetComp, cst.DictComp)
    return isinstance(node, cst.CompFor) and isinstance(tree.enclosing(node, *displays), cst.GeneratorExp)


def _draws(frame: Frame, call: cst.Call) -> bool:
    name = last_name(call.func)
    if isinstance(call.func, cst.Name) and name in _PASSING_ON:
        return is_drawn_at_once(frame, call)
    path = imported_path(frame.context, call.func) or ""
    return name in _DRAWING or path.startswith(("torch.", "numpy."))


def is_run_later(context: Context, function: cst.FunctionDef) -> bool:
    """Whether a call of a function only makes a generator or a coroutine."""
    return function.asynchronous is not None or is_generator(context, function)


def is_generator(context: Context, function: cst.FunctionDef) -> bool:
    """Whether a function has a ``yield`` of its own."""
    return context.remember(_yields, function)


def _yields(context: Context, function: cst.FunctionDef) -> bool:
    tree = context.tree
    return any(
        tree.enclosing(each, cst.FunctionDef, cst.Lambda) is function for each in tree.within(function.body, cst.Yield)
    )


def is_never_left(context: Context, stack: cst.BaseExpression) -> bool:
    """Whether a stack of contexts keeps what it has entered as long as its block lasts, by all that is done with it."""
    return dotted(stack) is not None and context.remember(_only_enters, last_name(stack))


def _only_enters(context: Context, name: str) -> bool:
    return all(_keeps(context.tree, use) for use in context.tree.names(name))


def _keeps(tree: Tree, use: cst.Name) -> bool:
    parent: cst.CSTNode | None = tree.parent(use)
    node: cst.CSTNode = use
    if isinstance(parent, cst.Attribute) and parent.attr is use:
        node, parent = parent, tree.parent(parent)
    match parent:
        case cst.Attribute(value=owner, attr=cst.Name(name)):
            return owner is node and name in _ENTERING
        case cst.AssignTarget() | cst.AsName() | cst.WithItem() | cst.AnnAssign():
            return True
    return False
