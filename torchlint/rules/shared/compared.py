"""Whether a file asks which of several tensors one is: by ``is`` or ``id``, in a set, or as the key of a dictionary."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain

import libcst as cst

from torchlint.model import Kind, Model
from torchlint.model.syntax import call_of, last_name
from torchlint.model.values import held


def are_asked_about(model: Model) -> bool:
    """Whether anything depends on which of several tensors one is."""
    return any(_asked_about(model))


def names_asked_about(model: Model) -> frozenset[str]:
    """The names in all of which that is asked."""
    asked = list(_asked_about(model))
    return frozenset(name.value for node in asked for name in model.tree.within(node, cst.Name))


_OF_THE_IDENTITY = frozenset(("setattr", "id", "hash", "vars"))
"""Builtins that tell, or change, which of two tensors with the same elements one is."""


def _asked_about(model: Model) -> Iterator[cst.BaseExpression]:
    """The tensors of which anything depends on which of several they are."""
    nodes = chain(
        (node.value for node in model.tree.attributes("__dict__")), _compared(model), _elements(model), _keys(model)
    )
    yield from (node for node in nodes if can_be_tensor(node, model))
    for call in model.tree.all(cst.Call):
        if last_name(call.func) in ("set", "frozenset", "fromkeys") and call.args:
            item = held(model.value(call.args[0].value))
            if item is not None and item.kind & Kind.TENSOR:
                yield call.args[0].value


def _compared(model: Model) -> Iterator[cst.BaseExpression]:
    """What it is asked of which of several things it is, or whether it is among some."""
    for call in model.tree.all(cst.Call):
        if isinstance(call.func, cst.Name) and call.func.value in _OF_THE_IDENTITY and call.args:
            yield call.args[0].value
    for comparison in model.tree.all(cst.Comparison):
        left = comparison.left
        for target in comparison.comparisons:
            match target.operator:
                case cst.Is() | cst.IsNot():
                    yield target.comparator
                case cst.In() | cst.NotIn():
                    yield left
            left = target.comparator


def _elements(model: Model) -> Iterator[cst.BaseExpression]:
    """What is put into a set, or is the key of a dictionary: each tensor is equal to itself alone there."""
    yield from (each.value for display in model.tree.all(cst.Set) for each in display.elements)
    yield from (each.elt for each in model.tree.all(cst.SetComp))
    yield from (
        each.key
        for display in model.tree.all(cst.Dict)
        for each in display.elements
        if isinstance(each, cst.DictElement)
    )
    yield from (each.key for each in model.tree.all(cst.DictComp))


def _keys(model: Model) -> Iterator[cst.BaseExpression]:
    """What goes into, or is looked for in, what a file makes as a set or a dictionary."""
    made = {
        last_name(target.target)
        for assign in model.tree.all(cst.Assign)
        if isinstance(assign.value, (cst.Set, cst.Dict, cst.SetComp, cst.DictComp))
        or (isinstance(assign.value, cst.Call) and last_name(assign.value.func) in _KEYED)
        for target in assign.targets
    } - {""}
    for name in sorted(made):
        for node in model.all_called(name):
            parent = model.tree.parent(node)
            match parent:
                case cst.Subscript(slice=[cst.SubscriptElement(slice=cst.Index(value=key))]) if parent.value is node:
                    yield key
                case cst.Attribute(attr=cst.Name(value=method)) if method in _BY_KEY:
                    call = call_of(parent, model.tree)
                    yield from [call.args[0].value] if call is not None and call.args else []


_KEYED = frozenset(("set", "dict", "defaultdict", "OrderedDict", "Counter", "WeakKeyDictionary", "WeakSet"))
_BY_KEY = frozenset(("add", "discard", "remove", "get", "setdefault", "pop"))


def can_be_tensor(node: cst.BaseExpression, model: Model) -> bool:
    """Whether an expression is a tensor, or may be one among other things that are known."""
    return bool(model.value(node).kind & Kind.TENSOR)
