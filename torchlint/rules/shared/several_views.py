"""Views that must not be written to where autograd notices: of an operation with several results, or made unrecorded.

Torch raises when such a view is used after it, or anything of its memory, was written to in place, under `no_grad` as
well: "Output 0 of SplitBackward0 is a view and is being modified inplace". A write through `.data` is not noticed.
`tensor_split`, `hsplit` and the like are made of slices, which may be written to.
"""

from __future__ import annotations

import libcst as cst

from torchlint.model import Model, Tri
from torchlint.model.aliasing.origins import bound_to_target
from torchlint.model.names import VIEWING
from torchlint.model.syntax import chain, dotted, last_name, without_brackets
from torchlint.model.torch import library
from torchlint.model.torch.schema import may_alias
from torchlint.rules.shared.memory import PARTING

_PASSING_ON = frozenset(("iter", "next", "list", "tuple", "reversed", "enumerate", "zip", "sorted"))
_MAX_STEPS = 6
"""How many views and names are gone back."""


def raises_later(node: cst.BaseExpression, model: Model) -> bool:
    """Whether a tensor may be such a view, or may have given some, so that using one raises after it was written to."""
    root = _before_views(node, model)
    whole = _gone_through(root, model) if isinstance(root, cst.Name) else None
    if whole is not None and model.remember(_has_only_data, last_name(root), model.scopes.scope_of(root)):
        return _has_given_parts(whole, model)  # of the parts themselves nothing is left
    return _is_part(node, model) or _has_given_parts(root, model) or _is_used_recorded(root, model)


def _before_views(node: cst.BaseExpression, model: Model) -> cst.BaseExpression:
    """``x`` of ``x[0].t()[:, 1]``."""
    at: cst.BaseExpression | None = node
    while at is not None:
        node, at = at, _viewed(without_brackets(at), model)
    return without_brackets(node)


def _viewed(node: cst.BaseExpression, model: Model) -> cst.BaseExpression | None:
    """What an expression is a view of, or an element."""
    match node:
        case cst.Subscript(value=inner):
            return inner
        case cst.Attribute(value=inner, attr=cst.Name(value=name)) if name in VIEWING:
            return inner
        case cst.Call(func=cst.Attribute(value=inner, attr=cst.Name(value=name))) if model.qualified(node.func) is None:
            return inner if may_alias(library.method(name)) and name not in PARTING else None
        case cst.Call(func=func, args=[cst.Arg(value=first), *_]):
            result = library.function(model.qualified(func))
            return first if result is not None and may_alias(result) and not _parted(node, model) else None
    return None


def _parted(node: cst.CSTNode | None, model: Model) -> cst.BaseExpression | None:
    """``x`` of ``x.chunk(2)`` and of ``torch.unbind(x)``."""
    match node:
        case cst.Call(func=cst.Attribute(value=owner, attr=cst.Name(value=name)), args=args) if name in PARTING:
            if model.qualified(node.func) == f"torch.{name}":
                return args[0].value if args else None
            return owner
    return None


def _is_part(node: cst.BaseExpression, model: Model, steps: int = _MAX_STEPS) -> bool:
    """Whether an expression is one of several views, a view of one, or holds some."""
    node = _before_views(node, model)
    if _parted(node, model) is not None:
        return True
    if steps <= 0:
        return False
    match node:
        case cst.Name(value=name):
            return model.remember(_is_name_part, name, model.scopes.scope_of(node), steps - 1)
        case cst.Call(func=cst.Name(value=name), args=args) if name in _PASSING_ON:
            return any(_are_parts(arg.value, model, steps - 1) for arg in args)
        case cst.Tuple(elements=elements) | cst.List(elements=elements):
            return any(_is_part(each.value, model, steps - 1) for each in elements)
        case cst.ListComp(elt=elt) | cst.GeneratorExp(elt=elt):
            return _is_part(elt, model, steps - 1)
    return False


def _is_name_part(model: Model, name: str, scope: cst.FunctionDef | cst.Module, steps: int) -> bool:
    """Whether a name is bound to one of several views, by taking something apart or by going through it."""
    for target in model.targets(name, scope):
        is_alone = isinstance(model.tree.parent(target), (cst.AssignTarget, cst.AnnAssign, cst.NamedExpr))
        for value in model.ask(bound_to_target, target):
            if _is_part(value, model, steps) if is_alone else _are_parts(value, model, steps):
                return True
    return False


def _are_parts(node: cst.BaseExpression, model: Model, steps: int) -> bool:
    """Whether what is gone through, or taken apart, gives views: the rows of a tensor are some."""
    return model.value(node).is_tensor or _is_part(node, model, steps)


def _has_only_data(model: Model, name: str, scope: cst.FunctionDef | cst.Module) -> bool:
    """Whether of a name nothing is read but its `.data`."""
    return all(model.is_target(each) or _has_data(each, model) for each in model.references(name, scope))


def _gone_through(name: cst.Name, model: Model) -> cst.BaseExpression | None:
    """``x`` of ``for name in x.unbind(0)``, and of ``for name in x`` where that is a tensor."""
    targets = model.targets(name.value, model.scopes.scope_of(name))
    loop = model.tree.parent(targets[0]) if len(targets) == 1 else None
    if not isinstance(loop, cst.For) or not model.tree.is_inside(name, loop.body):
        return None
    return _parted(loop.iter, model) or (loop.iter if model.value(loop.iter).is_tensor else None)


def _has_data(name: cst.Name, model: Model) -> bool:
    parent = model.tree.parent(name)
    return isinstance(parent, cst.Attribute) and parent.attr.value == "data"


def _has_given_parts(node: cst.BaseExpression, model: Model) -> bool:
    """Whether a tensor is taken apart in this function, and the parts are kept by names: ``h, c = x.chunk(2)``."""
    path = dotted(node)
    return path is not None and (model.scopes.scope_of(node), path) in model.remember(_taken_apart)


def _taken_apart(model: Model) -> frozenset[tuple[cst.FunctionDef | cst.Module, str]]:
    """What of which the parts are kept, by the function and by how it is written there."""
    found = set()
    for each in (attribute for name in sorted(PARTING) for attribute in model.tree.attributes(name)):
        call = model.tree.parent(each)
        owner = _parted(call, model)
        if call is None or owner is None or isinstance(model.tree.parent(call), cst.For) or _is_let_go(call, model):
            continue
        path = dotted(_before_views(owner, model))
        if path is not None:
            found.add((model.scopes.scope_of(owner), path))
    return frozenset(found)


def _is_let_go(call: cst.CSTNode, model: Model) -> bool:
    """Whether nobody has the parts behind the statement: ``bias.chunk(4)[1].fill_(1)``."""
    last = next(reversed([outer for _, outer in chain(call, model.tree)]), call)
    return isinstance(model.tree.parent(last), cst.Expr)


def _is_used_recorded(node: cst.BaseExpression, model: Model) -> bool:
    """Whether a name of what was made where autograd does not record is used where it does."""
    if not isinstance(node, cst.Name) or model.grad_enabled(node) != Tri.NO:
        return False
    return model.remember(_is_view_recorded, node.value, model.scopes.scope_of(node))


def _is_view_recorded(model: Model, name: str, scope: cst.FunctionDef | cst.Module) -> bool:
    bound = (value for target in model.targets(name, scope) for value in model.ask(bound_to_target, target))
    if not any(_viewed(without_brackets(value), model) is not None for value in bound):
        return False
    return any(model.grad_enabled(each) != Tri.NO for each in model.references(name, scope))
