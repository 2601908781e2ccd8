"""Where a tensor of indices or a mask has to stand: integers and booleans, which have no graph."""

from __future__ import annotations

from itertools import takewhile

import libcst as cst

from torchlint.model import Kind, Model
from torchlint.model.aliasing.here import only_metadata
from torchlint.model.bindings import declares
from torchlint.model.codebase.exports import is_mentioned, patcher
from torchlint.model.overriding import is_replaced
from torchlint.model.syntax import chain, has_stars, last_name
from torchlint.model.torch import library
from torchlint.rules.api import patches
from torchlint.rules.shared import criteria, memory
from torchlint.rules.shared.arguments import parameter_of

_TAKING_INDEX = frozenset(
    (
        *("gather", "scatter", "scatter_", "scatter_add", "scatter_add_", "index_select", "index_add", "index_add_"),
        *("index_copy", "index_copy_", "index_fill", "index_fill_"),
    )
)
"""Methods of which the second argument is a tensor of indices."""
TAKING_MASK = frozenset(("masked_fill", "masked_fill_", "masked_select", "masked_scatter", "masked_scatter_"))
"""Methods of which the first argument is a tensor of booleans."""

_FUNCTIONS = {
    **{f"torch.{name}": (2, "index") for name in ("gather", "scatter", "scatter_add", "index_select", "index_add")},
    **{f"torch.{name}": (2, "index") for name in ("index_copy", "index_fill")},
    "torch.take": (1, "index"),
    "torch.masked_select": (1, "mask"),
    "torch.nn.functional.embedding": (0, "input"),
    "torch.nn.functional.multi_margin_loss": (1, "target"),
    "torch.nn.functional.nll_loss": (1, "target"),
    "torch.nn.functional.one_hot": (0, "tensor"),
}
"""Functions of torch that raise for floats in one place, with that place. `cross_entropy` takes probabilities, too."""
_MODULES = {"Embedding": (0, "input"), "MultiMarginLoss": (1, "target"), "NLLLoss": (1, "target")}
"""Modules of torch of which the same is true."""
_HOOKS = (
    r"register_(?:module_)?forward_pre_hook|(?<!\bself)\.forward\s*=(?!=)"
    r"|(?:named_children|named_modules|_modules)\b[\s\S]{0,400}?\bsetattr\s*\([^,\n]{1,100},\s*[A-Za-z_]"
)
"""What changes what a module is given or does, or puts another one in its place."""


def taker(node: cst.BaseExpression, model: Model) -> str | None:
    """The method that takes a tensor (``x.data``), a view or copy of it, as indices or as a mask; None if none does."""
    whole = _whole(node, model)
    if whole is None:
        return None
    if _is_between_brackets(whole, model):
        return "__getitem__"
    arg = model.tree.parent(whole)
    call = model.tree.parent(arg) if isinstance(arg, cst.Arg) else None
    if not isinstance(arg, cst.Arg) or not isinstance(call, cst.Call):
        return None
    match call.func:
        case cst.Attribute(value=owner, attr=cst.Name(value=name)) if _is_given(arg, call, _place(name)):
            if model.value(owner).may_be_tensor:
                return name
    return _function(arg, call, model)


def _whole(node: cst.BaseExpression, model: Model) -> cst.CSTNode | None:
    """What stands somewhere as a tensor, a view or a copy of it; None where something else is made of it."""
    whole: cst.CSTNode = node
    for name, whole in chain(node, model.tree):
        if name != "[]" and name not in memory.TRANSFERS and not memory.shares(name, whole):
            return None
    return whole


def is_handed_to_index(node: cst.BaseExpression, model: Model) -> bool:
    """Whether a function of the project does nothing with a tensor but to put it between the brackets of another one.

    It does that whenever it is called, so it would raise for floats.
    """
    whole = _whole(node, model)
    arg = model.tree.parent(whole) if whole is not None else None
    call = model.tree.parent(arg) if isinstance(arg, cst.Arg) else None
    if not isinstance(arg, cst.Arg) or not isinstance(call, cst.Call) or not isinstance(call.func, cst.Name):
        return False
    found = parameter_of(call, arg, model)
    if found is None or found[0].decorators or found[0].asynchronous is not None:
        return False
    function, name = found
    return model.home(function).remember(_only_indexes, function, name)


def _only_indexes(model: Model, function: cst.FunctionDef, name: str) -> bool:
    if model.ask(is_replaced, function) or model.targets(name, function):
        return False
    if model.tree.within(function, cst.Yield):
        return False  # nothing has been done yet when it has been called
    uses = model.references(name, function)
    others = [use for use in uses if not _is_index_of_tensor(use, model)]
    if len(others) == len(uses) or not all(model.ask(only_metadata, use) for use in others):
        return False
    return any(_is_always_run(use, function, model) for use in uses if use not in others)


def _is_index_of_tensor(node: cst.Name, model: Model) -> bool:
    subscript = model.tree.enclosing(node, cst.Subscript)
    is_tensor = isinstance(subscript, cst.Subscript) and model.is_tensor(subscript.value)
    return is_tensor and _is_between_brackets(node, model)


def _is_always_run(node: cst.CSTNode, function: cst.FunctionDef, model: Model) -> bool:
    """Whether a node is evaluated whenever a function comes to its end: in no branch, and behind no way out."""
    statement = model.tree.statement(node)
    if model.tree.parent(statement) is not function.body:
        return False
    around = takewhile(lambda up: up is not statement, model.tree.ancestors(node))
    if any(isinstance(up, (cst.Lambda, cst.BaseComp, cst.IfExp, cst.BooleanOperation)) for up in around):
        return False
    before = takewhile(lambda each: each is not statement, function.body.body)
    return not any(model.tree.within(each, cst.Return) for each in before)


def takes_only(node: cst.BaseExpression, model: Model) -> bool:
    """Whether a tensor is nothing but the indices or the mask that torch takes: so it has no graph."""
    name = taker(node, model)
    if name is None or name == "__getitem__" or not isinstance(model.tree.parent(node), cst.Arg):
        return False
    return "." in name or is_method(name, model)


def is_method(name: str, model: Model) -> bool:
    """Whether a method of that name that takes indices or a mask is that of a tensor, whatever has it."""
    return name in library.tensor_only() and not model.ask(declares, name)


def _place(method: str) -> tuple[int, str]:
    """Where a method takes a tensor of indices or a mask: by position, and by keyword."""
    return (1, "index") if method in _TAKING_INDEX else (0, "mask") if method in TAKING_MASK else (-1, "")


def _is_given(arg: cst.Arg, call: cst.Call, place: tuple[int, str]) -> bool:
    """Whether an argument of a call stands in a place, and none has a star."""
    position, keyword = place
    if arg.keyword is not None:
        is_there = arg.keyword.value == keyword
    else:
        is_there = 0 <= position < len(call.args) and call.args[position] is arg
    return is_there and not has_stars(call.args)


def _function(arg: cst.Arg, call: cst.Call, model: Model) -> str | None:
    """The function or module of torch that takes an argument as integers, by its qualified name."""
    ref = model.qualified(call.func) or ""
    if ref in _FUNCTIONS:
        return ref if _is_given(arg, call, _FUNCTIONS[ref]) and not _is_replaced(ref, model) else None
    if not any(_is_given(arg, call, place) for place in _MODULES.values()):
        return None
    called = model.value(call.func)
    kind = (called.ref or "").removeprefix("torch.nn.")
    if called.kind != Kind.MODULE or called.node is not None or called.choices or kind not in _MODULES:
        return None
    if not _is_given(arg, call, _MODULES[kind]) or _may_be_another(call.func, kind, model):
        return None
    return called.ref if not _is_replaced(called.ref or "", model) else None


def _is_replaced(ref: str, model: Model) -> bool:
    """Whether this file or another one of the project puts something in the place of what has a name in torch."""
    return patches.is_replaced(ref, model) or model.ask(patcher, ref) is not None


def _may_be_another(func: cst.BaseExpression, kind: str, model: Model) -> bool:
    """Whether something else than a module of that kind may be called, or it may be given something else by a hook."""
    name = last_name(func)
    if model.ask(is_mentioned, _HOOKS):
        return True
    cls = model.tree.enclosing(func, cst.ClassDef) if isinstance(func, cst.Attribute) else None
    owner = cls if isinstance(cls, cst.ClassDef) else None
    return model.remember(criteria.is_set_elsewhere, name, owner, kind)


def _is_between_brackets(node: cst.CSTNode, model: Model) -> bool:
    """Whether an expression stands between the brackets of what is no mapping: ``x[i.data]``, ``x[[0], i.data]``."""
    index = model.tree.parent(node)
    element = model.tree.parent(index) if isinstance(index, cst.Index) else None
    subscript = model.tree.parent(element) if element is not None else None
    if not isinstance(subscript, cst.Subscript):
        return False
    others = (each.slice for each in subscript.slice if each is not element)
    return any(map(_is_no_key, others)) or model.value(subscript.value).is_tensor


def _is_no_key(index: cst.BaseSlice) -> bool:
    """Whether what stands between brackets cannot be part of a key."""
    return isinstance(index, cst.Slice) or (
        isinstance(index, cst.Index) and isinstance(index.value, (cst.List, cst.ListComp, cst.Ellipsis))
    )
