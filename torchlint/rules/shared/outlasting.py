"""Whether the memory of a tensor is still had by somebody when its `.data` is assigned other memory."""

from __future__ import annotations

import itertools

import libcst as cst

from torchlint.model import Model
from torchlint.model.aliasing.calls import PASSING_ON
from torchlint.model.aliasing.handed_over import Handover, outcome
from torchlint.model.bindings import owner
from torchlint.model.syntax import chain, last_name
from torchlint.model.torch import library
from torchlint.model.torch.schema import may_alias
from torchlint.rules.shared import memory
from torchlint.rules.shared.no_grad import small_statement

SHARING = frozenset(("contiguous", "cpu", "cuda", "detach", "double", "float", "half", "numpy", "to"))
"""What gives the memory itself, or may."""
DISPLAYS = (cst.List, cst.Tuple, cst.Set, cst.Dict, cst.ListComp, cst.SetComp, cst.DictComp, cst.GeneratorExp)
PARTS = (cst.Element, cst.StarredElement, cst.DictElement, cst.StarredDictElement, cst.IfExp)
_THROUGH = (*DISPLAYS, *PARTS, cst.Arg, cst.BooleanOperation, cst.From)
_KEEPING = frozenset(
    """
    add append appendleft extend extendleft insert put put_nowait send setdefault update __setitem__ __setattr__
    setattr heappush register_buffer
    """.split()  # noqa: SIM905
)
"""Functions and methods that put what they are given into something."""
_PASSING = PASSING_ON | frozenset(("filter", "map", "chain", "partial", "copy", "asarray", "as_tensor", "from_dlpack"))
"""Functions whose result holds, or is, what they are given."""
_NamesSeen = set[tuple[int, str]]
"""The names that have been followed, each with the ``id`` of its scope."""


def with_views(node: cst.CSTNode, model: Model) -> cst.CSTNode | None:
    """An expression that has some memory, with the views of it that follow; None where it is copied or used there."""
    whole = node
    for name, outer in chain(node, model.tree):
        is_same = isinstance(outer, cst.Call) and (name in SHARING or name == "requires_grad_")
        if name != "[]" and not memory.shares(name, outer) and not is_same:
            return None
        whole = outer
    return whole


def outlasts(node: cst.BaseExpression, assigned: cst.Attribute, model: Model, seen: _NamesSeen | None = None) -> bool:
    """Whether an expression stands where its memory outlasts the assignment."""
    seen = set() if seen is None else seen
    at: cst.CSTNode = node
    while (up := model.tree.parent(at)) is not None:
        match up:
            case cst.Call(func=func):
                if func is at or not isinstance(at, cst.Arg):
                    return False
                found = _given(at, up, model)
                if found is not Handover.RETURNED:
                    return found is Handover.KEPT
                if (whole := with_views(up, model)) is None:
                    return False
                at = whole
                continue
            case cst.Return() | cst.Yield() | cst.Param():
                return True
            case cst.Assign() | cst.AnnAssign():
                return any(_is_read_later(target, assigned, model, seen) for target in _targets(up))
            case cst.NamedExpr(target=target):
                if _is_read_later(target, assigned, model, seen):
                    return True
            case cst.AugAssign():
                return at is not node  # of a list, what it held
            case cst.BinaryOperation() if at is node:
                return False
            case cst.BinaryOperation() | cst.UnaryOperation(operator=cst.Plus()):
                pass
            case _ if not isinstance(up, _THROUGH):
                return False
        at = up
    return False


def _given(arg: cst.Arg, call: cst.Call, model: Model) -> Handover:
    """What becomes of memory that a call is given. A function that is not seen is taken to read it."""
    name = last_name(call.func)
    if name in _KEEPING and (isinstance(call.func, cst.Attribute) or name in ("setattr", "heappush")):
        return Handover.KEPT
    if name in _PASSING or (name == "sum" and len(call.args) > 1):
        return Handover.RETURNED
    found = model.ask(outcome, arg, call)
    if found is not None:
        return found
    called = model.value(call.func)
    if isinstance(called.node, (cst.ClassDef, cst.Lambda)) or _is_class_by_name(name) or _may_be_view(call, model):
        return Handover.RETURNED
    return Handover.READ


def _is_class_by_name(name: str) -> bool:
    """Whether something is called as classes are, of which an object may hold what it is made with."""
    return name[:1].isupper()


def _may_be_view(call: cst.Call, model: Model) -> bool:
    """Whether a function of torch may give the memory that it is given: ``torch.flatten(x)``."""
    ref = model.qualified(call.func) or ""
    return ref.startswith("torch.") and may_alias(library.function(ref))


def _targets(node: cst.Assign | cst.AnnAssign) -> list[cst.BaseExpression]:
    if not isinstance(node, cst.Assign):
        return [node.target]
    found: list[cst.BaseExpression] = []
    for target in node.targets:
        match target.target:
            case cst.Tuple(elements=parts) | cst.List(elements=parts):
                found += [part.value for part in parts]
            case single:
                found.append(single)
    return found


def _is_read_later(target: cst.BaseExpression, assigned: cst.Attribute, model: Model, seen: _NamesSeen) -> bool:
    """Whether what is bound here can be read once `.data` is assigned: what is no name of a function, always."""
    tree = model.tree
    if not isinstance(target, cst.Name):
        return target is not assigned
    if isinstance(assigned.value, cst.Name) and assigned.value.value == target.value:
        return False  # it is the tensor itself
    if isinstance(tree.enclosing(target, cst.ClassDef, cst.FunctionDef), cst.ClassDef):
        return True
    scope = model.scopes.scope_of(target)
    if model.ask(owner, target) is not scope:
        return True
    reads = [use for use in model.references(target.value, scope) if not model.is_target(use)]
    if scope is not model.scopes.scope_of(assigned):
        return any(_is_put_back(use, model) for use in reads)
    loops = [up for up in tree.ancestors(assigned) if isinstance(up, (cst.For, cst.While))]
    around = itertools.takewhile(lambda loop: not tree.is_inside(target, loop), loops)
    after = min(tree.order(node) for node in (assigned, *around))
    statement = small_statement(assigned, model)
    if any(tree.order(use) > after and small_statement(use, model) is not statement for use in reads):
        return True
    key = (id(scope), target.value)
    if key in seen:
        return False
    seen.add(key)
    others = (with_views(use, model) for use in reads if small_statement(use, model) is not statement)
    return any(isinstance(each, cst.BaseExpression) and outlasts(each, assigned, model, seen) for each in others)


def _is_put_back(use: cst.Name, model: Model) -> bool:
    """Whether a name is assigned to a `.data`, as it is or as what it holds: `p.data = old[n]`."""
    for up in model.tree.ancestors(use):
        match up:
            case cst.Subscript():
                continue
            case cst.Assign(targets=targets):
                return any(
                    isinstance(each.target, cst.Attribute) and each.target.attr.value == "data" for each in targets
                )
        return False
    return False
