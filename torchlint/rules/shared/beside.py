"""What stands beside a `.data` of something unknown, or is made of it, and says that it is that of a tensor."""

from __future__ import annotations

import re
from collections.abc import Sequence

import libcst as cst

from torchlint.model import Evidence, Kind, Model, Strength
from torchlint.model.codebase import holders
from torchlint.model.names import BOXES
from torchlint.model.syntax import chain, dotted, last_name
from torchlint.model.torch import library
from torchlint.model.torch.schema import TensorResult

_FEW = 8
"""Arguments of a call that are looked at for a tensor."""
_COMPARING = re.compile(r"assert|equal|close", re.IGNORECASE)
_COMPUTING = (cst.Add, cst.Subtract, cst.Multiply, cst.Divide, cst.MatrixMultiply)


def evidence_of(node: cst.Attribute, model: Model) -> Evidence | None:
    """What the tensors around ``x.data`` say of ``x``: no proof, for it may be something that holds one."""
    if _is_given_beside_one(node, model):
        return Evidence(Strength.NAME, "the data of a tensor is given beside its own", node.value)
    if _is_given_as_one_is(node, model):
        return Evidence(Strength.NAME, "what takes its data is given that of a tensor, too", node.value)
    if _is_computed_with_one(node, model) and not model.ask(holders.are_there):
        return Evidence(Strength.NAME, "a tensor is computed with its data", node.value)
    if _makes_one(node, model) and not model.ask(holders.are_there):
        return Evidence(Strength.NAME, "what is made of its data is used as a tensor", node.value)
    return None


def among_tensors(node: cst.Attribute, model: Model) -> Evidence | None:
    """Evidence for what may hold a tensor by its name, ``match(masks.data, boxes.data)``, where nothing else does."""
    if not BOXES.search(last_name(node.value)) or model.ask(holders.are_there):
        return None
    if not _is_given_beside_one(node, model):
        return None
    return Evidence(Strength.NAME, "the data of a tensor is given beside its own", node.value)


def _makes_one(node: cst.Attribute, model: Model) -> bool:
    """Whether a name is assigned what methods of tensors make, and used as a tensor: ``y = x.data.clone()``.

    What has such methods beside tensors is not used as they are.
    """
    whole: cst.CSTNode = node
    for name, outer in chain(node, model.tree):
        if not isinstance(outer, cst.Call) or not isinstance(library.method(name), TensorResult):
            return False
        whole = outer
    match model.tree.parent(whole):
        case cst.Assign(targets=[cst.AssignTarget(target=cst.Name())]):
            return isinstance(node.value, cst.Name) and model.is_tensor(whole)
    return False


def _is_given_beside_one(node: cst.Attribute, model: Model) -> bool:
    """Whether a call is given the `.data` of a name and that of a tensor: ``decode(scores.data, mask.data)``."""
    arg = model.tree.parent(node)
    path = dotted(node.value)
    if path is None or path.startswith("self."):  # what an object keeps may be anything
        return False
    call = model.tree.parent(arg) if isinstance(arg, cst.Arg) else None
    if not isinstance(call, cst.Call) or _COMPARING.search(last_name(call.func)):  # it may be told from what holds one
        return False
    return any(_is_data_of_name(each.value, model) for each in call.args[:_FEW] if each is not arg)


def _is_given_as_one_is(node: cst.Attribute, model: Model) -> bool:
    """Whether a function takes the `.data` of a tensor in the same place: ``rows(a.data), rows(b.data)``."""
    arg = model.tree.parent(node)
    call = model.tree.parent(arg) if isinstance(arg, cst.Arg) and arg.keyword is None else None
    scope = model.scopes.scope_of(node)
    if not isinstance(call, cst.Call) or dotted(node.value) is None or not isinstance(scope, cst.FunctionDef):
        return False
    name = _taker(call)
    taken = model.remember(_taken, scope) if name is not None else frozenset()
    return any(each is arg and (name, at) in taken for at, each in enumerate(call.args[:_FEW]))


def _taker(call: cst.Call) -> str | None:
    """The name of a function that tells no kinds of things apart."""
    match call.func:
        case cst.Name(value=name) if not _COMPARING.search(name) and name not in _BUILTINS:
            return name
    return None


_BUILTINS = frozenset(("print", "len", "type", "isinstance", "id", "repr", "str", "hasattr", "getattr", "iter", "list"))


def _taken(model: Model, scope: cst.FunctionDef) -> frozenset[tuple[str, int]]:
    """The functions that are given the `.data` of a tensor in a scope, and in which place."""
    calls = ((_taker(call), call.args[:_FEW]) for call in model.tree.within(scope, cst.Call))
    return frozenset((name, at) for name, args in calls if name is not None for at in _places(args, model))


def _places(args: Sequence[cst.Arg], model: Model) -> list[int]:
    return [
        at for at, arg in enumerate(args) if arg.keyword is None and not arg.star and _is_data_of_name(arg.value, model)
    ]


def _is_data_of_name(node: cst.BaseExpression, model: Model) -> bool:
    match node:
        case cst.Attribute(value=cst.Name() as name, attr=cst.Name("data")):
            return _is_one(name, model)
        case cst.Call(func=cst.Attribute(value=cst.Name() as name, attr=cst.Name("detach"))):
            return _is_one(name, model)
    return False


def _is_one(name: cst.Name, model: Model) -> bool:
    """Whether a name stands for a tensor, or for None where it was left out, and more than its name says so."""
    value = model.value(name)
    if value.is_tensor:
        return True
    is_known = value.evidence is not None and value.evidence.strength > Strength.NAME
    return is_known and bool(value.kind & Kind.TENSOR) and not value.kind & ~(Kind.TENSOR | Kind.NONE | Kind.UNKNOWN)


def _is_computed_with_one(node: cst.Attribute, model: Model) -> bool:
    """Whether a tensor is an operand beside the `.data` of a name: ``scale * x.data``."""
    match model.tree.parent(node):
        case cst.BinaryOperation(left=left, operator=operator, right=right) if isinstance(operator, _COMPUTING):
            other = right if left is node else left
            return isinstance(node.value, cst.Name) and model.is_tensor(other)
    return False
