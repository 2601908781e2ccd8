"""Whether a file keeps the memory of a tensor while `.data` of it is assigned other memory: then it has the old values.

``backup[n] = p.data; p.data = p.data + noise; …; p.data = backup[n]`` is right because the second statement writes
nowhere. Written in place, it changes the backup.
"""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from torchlint.model import Kind, Model, Role, Strength, Tri, bindings
from torchlint.model.aliasing.kept_results import gives_kept
from torchlint.model.imports import imported_path
from torchlint.model.syntax import assignment_of, call_of, dotted, last_name
from torchlint.rules.shared import memory
from torchlint.rules.shared.outlasting import DISPLAYS, PARTS, SHARING, outlasts, with_views

_COPYING = frozenset(("list", "tuple", "dict", "set", "OrderedDict"))


def is_kept(assigned: cst.Attribute, model: Model) -> bool:
    """Whether what a `.data` has before it is assigned may still be read from somewhere else in the file."""
    role = _role(assigned.value, model)
    kept = (node for node, other in model.remember(_keepers) if not (role and other) or role & other)
    return any(outlasts(node, assigned, model) for node in kept)


def is_put_back_later(assigned: cst.Attribute, model: Model) -> bool:
    """Whether a tensor gets its memory again later: ``old = p.data; p.data = q; p.data = old``."""
    owner, scope = dotted(assigned.value), model.scopes.scope_of(assigned)
    back = model.remember(_put_back).get((owner, scope), 0) if owner is not None else 0
    return back > model.tree.order(assigned)


def _put_back(model: Model) -> dict[tuple[str, cst.CSTNode], int]:
    """Where `.data` is last assigned what is kept of it, by the name of the tensor and the function."""
    found: dict[tuple[str, cst.CSTNode], int] = {}
    for node in model.tree.attributes("data"):
        assign, owner = assignment_of(node, model.tree), dotted(node.value)
        if assign is None or owner is None or not isinstance(assign.value, cst.Name):
            continue
        scope = model.scopes.scope_of(node)
        made = model.ask(bindings.all_assigned, assign.value.value, scope)
        if any(each is not None and _is_of(each, owner) for each in made):
            found[owner, scope] = max(model.tree.order(node), found.get((owner, scope), 0))
    return found


def _is_of(node: cst.BaseExpression, owner: str) -> bool:
    """Whether an expression gives the memory that a tensor has: ``p.data``, ``p.detach()``."""
    match node:
        case cst.Call(func=cst.Attribute(value=inner, attr=cst.Name("detach"))):
            return dotted(inner) == owner
        case cst.Attribute(value=inner, attr=cst.Name("data")):
            return dotted(inner) == owner
    return False


def _role(node: cst.BaseExpression, model: Model) -> Role:
    """What a tensor is for its module; what is a tensor by its use only may be a parameter all the same."""
    value = model.value(node)
    is_known = value.role != Role.PLAIN or (value.strength or Strength.NAME) > Strength.USE
    return value.role if is_known else Role.NEITHER


def is_exchanged(node: cst.Attribute, model: Model) -> bool:
    """Whether a `.data` is kept that the file writes in place and gives another tensor: `view.copy_(x); p.data = view`.

    The memory is meant, whichever tensor has it then. Autograd is told by `.detach()` that the first one has changed.
    """
    given = model.remember(_given_when_written)
    whole = _whole(node, model) if given else None
    if whole is None:
        return False
    scope = model.scopes.scope_of(node)
    here = [(each, name) for each, name in given if model.scopes.scope_of(each) is scope]
    match model.tree.parent(whole):
        case cst.Assign(targets=[cst.AssignTarget(target=cst.Name(value=kept))]):
            return any(name == kept and dotted(each.value) != dotted(node.value) for each, name in here)
    return any(outlasts(whole, each, model) for each, name in here if _is_taken_out(name, scope, model))


def gives_exchanged(assigned: cst.Attribute, model: Model) -> bool:
    """Whether a `.data` is assigned such memory."""
    if all(each is not assigned for each, _ in model.remember(_given_when_written)):
        return False
    scope = model.scopes.scope_of(assigned)
    reads = (node for node in model.tree.attributes("data") if model.scopes.scope_of(node) is scope)
    return any(is_exchanged(node, model) for node in reads)


def _is_taken_out(name: str, scope: cst.FunctionDef | cst.Module, model: Model) -> bool:
    """Whether a name is bound by a loop or a function's caller: what it is was in something before."""
    return None in model.ask(bindings.all_assigned, name, scope)


def _given_when_written(model: Model) -> tuple[tuple[cst.Attribute, str], ...]:
    """The `.data` that are assigned what is written in place by its name, each with that name."""
    return tuple(
        (node, assign.value.value)
        for node in model.tree.attributes("data")
        if (assign := assignment_of(node, model.tree)) is not None
        and isinstance(assign.value, cst.Name)
        and _is_written(assign.value, model)
    )


def _is_written(name: cst.Name, model: Model) -> bool:
    for use in model.references(name.value, model.scopes.scope_of(name)):
        match model.tree.parent(use):
            case cst.Attribute(attr=cst.Name(value=method)) as called if memory.is_inplace(method):
                if call_of(called, model.tree) is not None:
                    return True
    return False


def may_be_anothers(assigned: cst.Attribute, model: Model) -> bool:
    """Whether what a name has before its `.data` is assigned may be part of something else: `x = img.detach()`.

    So may be what a function is given, but for parameters.
    """
    source = assigned.value
    if not isinstance(source, cst.Name):
        return False
    scope = model.ask(bindings.owner, source)
    made = model.ask(bindings.all_assigned, source.value, scope) if scope is not None else ()
    return not made or not all(each is not None and _is_made(each, model) for each in made)


def is_of_others(node: cst.BaseExpression, model: Model) -> bool:
    """Whether others can come by a tensor in an expression: what an object holds, what a function gives back again."""
    if any(_is_of_object(each, model) for each in model.tree.within(node, cst.Attribute)):
        return True
    functions = (model.value(call.func).node for call in model.tree.within(node, cst.Call))
    return any(isinstance(each, cst.FunctionDef) and model.ask(gives_kept, each) for each in functions)


def _is_of_object(node: cst.Attribute, model: Model) -> bool:
    return model.value(node).may_be_tensor and not model.value(node.value).may_be_tensor


def _is_made(node: cst.BaseExpression, model: Model) -> bool:
    """Whether an expression makes a tensor that nothing else has."""
    match node:
        case cst.Call(func=cst.Attribute(value=inner, attr=cst.Name(value=name))) if name in _SAME:
            return _is_made(inner, model)
        case cst.Call(func=func, args=[cst.Arg(value=inner), *_]) if last_name(func) in _WRAPPING:
            return _is_made(inner, model)
    return memory.is_new(node, model)


_SAME = frozenset((*SHARING, "requires_grad_")) - {"numpy"}
_WRAPPING = ("Variable", "Parameter")


def _keepers(model: Model) -> tuple[tuple[cst.BaseExpression, Role], ...]:
    """The expressions by which a file gets at memory, `p.data`, `p.detach()`, `net.state_dict()`, and what has it."""
    reads = [*model.tree.attributes("data"), *model.tree.attributes("detach"), *model.tree.attributes("state_dict")]
    found = ((_whole(node, model), _role(_source(node, model), model)) for node in reads if _is_got_at(node, model))
    kept = [(whole, role) for whole, role in found if whole is not None]
    return (*kept, *((call, Role.NEITHER) for call in _calls_elsewhere(model) if _gives_memory(call, model)))


def _calls_elsewhere(model: Model) -> Iterator[cst.Call]:
    """The calls of what the file imports."""
    calls = (call for call in model.tree.all(cst.Call) if call.args)
    return (call for call in calls if model.ask(imported_path, call.func) is not None)


def _gives_memory(call: cst.Call, model: Model) -> bool:
    """Whether a function of another file is called that returns memory others have: `[p.detach() for p in ps]`."""
    function = model.value(call.func).node
    if not isinstance(function, cst.FunctionDef) or (home := model.home(function)) is model:
        return False
    return any(
        home.scopes.scope_of(node) is function and _is_returned(node, home) for node, _ in home.remember(_keepers)
    )


def _is_returned(node: cst.BaseExpression, model: Model) -> bool:
    """Whether an expression is returned as it is, or in a list or tuple."""
    for up in model.tree.ancestors(node):
        if isinstance(up, cst.Return):
            return True
        if not isinstance(up, (*DISPLAYS, *PARTS, cst.Arg)):
            return isinstance(up, cst.Call) and last_name(up.func) in _COPYING
    return False


def _source(node: cst.Attribute, model: Model) -> cst.BaseExpression:
    """The tensor whose memory is got at: ``p`` of ``p.data``, ``p.detach()`` and ``torch.detach(p)``."""
    call = call_of(node, model.tree)
    if call is not None and call.args and model.qualified(node) == "torch.detach":
        return call.args[0].value
    return node.value


def _is_got_at(node: cst.Attribute, model: Model) -> bool:
    """Whether an attribute is read of what may be a leaf, or of a module; not of a gradient."""
    source = _source(node, model)
    if node.attr.value == "state_dict":
        return True
    if last_name(source) == "grad":
        return False
    value = model.value(source)
    if value.may_be_tensor:
        return value.leaf != Tri.NO
    if not value.kind & Kind.UNKNOWN:
        return False
    return node.attr.value == "detach" or model.remember(_are_put_back)


def _are_put_back(model: Model) -> bool:
    """Whether the file gives some tensor memory that it has from elsewhere: ``p.data = saved[i]``."""
    assigns = (assignment_of(node, model.tree) for node in model.tree.attributes("data"))
    return any(each is not None and isinstance(each.value, _NAMING) for each in assigns)


_NAMING = (cst.Name, cst.Attribute, cst.Subscript)


def _whole(node: cst.Attribute, model: Model) -> cst.BaseExpression | None:
    """The expression that has the memory, with the views behind it; None where it is copied, used or written."""
    got: cst.CSTNode = node if node.attr.value == "data" else call_of(node, model.tree) or node
    whole = with_views(got, model)
    return whole if isinstance(whole, cst.BaseExpression) and not model.is_target(whole) else None
