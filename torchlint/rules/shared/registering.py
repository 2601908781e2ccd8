"""A plain list or dict of a module in a container of torch's: where that can do all that is asked of it."""

from __future__ import annotations

import libcst as cst

from torchlint import edit
from torchlint.model import Kind, Model, Tri
from torchlint.model.calls_elsewhere import uses_elsewhere
from torchlint.model.syntax import assignment_of, call_of, has_stars, is_none, last_name
from torchlint.model.torch import library
from torchlint.rule import Fix
from torchlint.rules.api import names
from torchlint.rules.shared import collected, memory, unregistered
from torchlint.rules.shared.displays import elements
from torchlint.rules.shared.unregistered import KeptPlain

_TELLING = ("isinstance", "type")
"""Functions that tell a container of torch's from a list or dict."""
_RISK = "what is in it gets into `parameters()` and the state dict, and state dicts that were saved before lack it"
_ADDING_ONE = ("append", "insert", "__setitem__")
_ADDING_SEVERAL = ("extend", "update", "__iadd__")
_TAKING_ITERABLES = ("builtins.", "torch.optim.", "torch.nn.utils.", "torch.autograd.")
"""Where functions are that go through what they are given; other functions of torch want a list or tuple of tensors."""


def wrapped(kept: KeptPlain, of: str, model: Model) -> Fix | None:
    """What puts a display into the list or dict of torch that registers what it holds: ``Module`` or ``Parameter``."""
    name = _container(kept.value, of) if kept.added is None else None
    if name is None or not _holds_only(kept.value, of, model) or not _serves(kept.value, name, of, model):
        return None
    if _comes_too_early(kept.value, model) or collected.is_by_hand(kept.value, of, model):
        return None
    spelled = names.spell(name, kept.value, model)
    if spelled is None:
        return None
    edits = (edit.insert_before(kept.value, f"{spelled[0]}("), edit.insert_after(kept.value, ")"))
    return Fix(f"Use `{name.removeprefix('torch.')}`", edits, imports=spelled[1]).doubted(_RISK)


def is_never_another(target: cst.Attribute, model: Model) -> bool:
    """Whether an attribute can be a parameter wherever it is named: it is assigned no other tensor, nor written."""
    name = target.attr.value
    if not all(use is target for use in model.remember(_leaving_none, name)):
        return False
    cls = model.tree.enclosing(target, cst.ClassDef)
    elsewhere = model.ask(uses_elsewhere, cls, name) if isinstance(cls, cst.ClassDef) else ()
    return all(_leaves_parameter(use, model.home(use)) for use in elsewhere)


def _leaving_none(model: Model, name: str) -> list[cst.Attribute]:
    """The attributes of that name that may not be parameters afterwards."""
    return [use for use in model.tree.attributes(name) if not _leaves_parameter(use, model)]


def _leaves_parameter(use: cst.Attribute, model: Model) -> bool:
    match model.tree.parent(use):
        case cst.AugAssign(target=target):
            return target is not use or model.grad_enabled(use) == Tri.NO
        case cst.Attribute(attr=cst.Name(value=name)):
            return not memory.is_inplace(name) or model.grad_enabled(use) == Tri.NO
    if not model.is_target(use):
        return True
    assign = assignment_of(use, model.tree)
    if assign is None or _is_taken(assign.value, "Parameter", model):
        return assign is not None
    return any(last_name(call.func) == "Parameter" for call in model.tree.within(assign.value, cst.Call))


def _comes_too_early(value: cst.BaseExpression, model: Model) -> bool:
    """Whether an attribute is assigned before the constructor of `Module` is called, which makes room for modules."""
    function = model.tree.enclosing(value, cst.FunctionDef)
    if not isinstance(function, cst.FunctionDef) or function.name.value != "__init__":
        return False
    called = [model.tree.order(each) for each in model.tree.attributes("__init__", function)]
    return bool(called) and model.tree.order(value) < min(called)


def _container(value: cst.BaseExpression, of: str) -> str | None:
    """The class of torch that takes what is in a display."""
    match value:
        case cst.List() | cst.ListComp() | cst.BinaryOperation():
            return f"torch.nn.{of}List"
        case cst.Dict(elements=parts) if all(_has_name_as_key(each, f"torch.nn.{of}Dict") for each in parts):
            return f"torch.nn.{of}Dict"
    return None


def _has_name_as_key(element: cst.BaseDictElement, container: str) -> bool:
    """Whether an element of a dict has a key that can be the name of a child: no dot is in it, nothing else has it."""
    match element:
        case cst.DictElement(key=cst.SimpleString(evaluated_value=str(key))):
            return bool(key) and "." not in key and key not in library.attributes_of(container)
    return False


def _holds_only(value: cst.BaseExpression, of: str, model: Model) -> bool:
    """Whether all that is in a display is known to be something that the container takes: None is."""
    return all(_is_taken(each, of, model) for each in elements(value))


def _is_taken(node: cst.BaseExpression, of: str, model: Model) -> bool:
    value = model.value(node)
    if of == "Parameter":
        return value.is_parameter or is_none(node)
    return bool(value.kind) and not value.kind & ~(Kind.MODULE | Kind.NONE)


def _serves(value: cst.BaseExpression, container: str, of: str, model: Model) -> bool:
    """Whether a container can do all that the file does with the attribute that a display is assigned to."""
    statement = model.tree.enclosing(value, cst.Assign, cst.AnnAssign)
    match statement:
        case cst.Assign(targets=[cst.AssignTarget(target=cst.Attribute() as target)]):
            pass
        case cst.AnnAssign(target=cst.Attribute() as target):
            pass
        case _:
            return False
    name = target.attr.value
    if not model.remember(_is_always_served, name, container, of) or not _serves_others(target, container, of, model):
        return False
    return all(
        _is_gone_at(target, other, model) for other in model.remember(_not_taken, name, of) if other is not target
    )


def _serves_others(target: cst.Attribute, container: str, of: str, model: Model) -> bool:
    """Whether a container can do all that other files do with the attribute, which know it by that name."""
    cls = model.tree.enclosing(target, cst.ClassDef)
    if not isinstance(cls, cst.ClassDef):
        return False
    for use in model.ask(uses_elsewhere, cls, target.attr.value):
        home = model.home(use)
        if not _is_served(use, container, of, home) or not _may_be_assigned(assignment_of(use, home.tree), of, home):
            return False
    return True


def _is_always_served(model: Model, name: str, container: str, of: str) -> bool:
    """Whether a container can do all that the file does with attributes of that name."""
    return all(_is_served(use, container, of, model) for use in model.tree.attributes(name))


def _not_taken(model: Model, name: str, of: str) -> list[cst.Attribute]:
    """The attributes of that name that are assigned something that may not take the place of a module."""
    return [
        use for use in model.tree.attributes(name) if not _may_be_assigned(assignment_of(use, model.tree), of, model)
    ]


def _may_be_assigned(assign: cst.Assign | None, of: str, model: Model) -> bool:
    """Whether what is assigned is a module or parameter, or a display of new ones that gets a container as well."""
    if assign is None or _is_taken(assign.value, of, model):
        return True
    value = assign.value
    if not _is_filled(value) or _container(value, of) is None or not _holds_only(value, of, model):
        return False
    is_new = any(isinstance(each, cst.Call) for each in elements(value))
    return is_new and all(unregistered.is_own(each.target) for each in assign.targets)


def _is_filled(value: cst.BaseExpression) -> bool:
    is_display = isinstance(value, (cst.List, cst.ListComp, cst.Dict))
    return is_display and next(elements(value), None) is not None


def _is_gone_at(target: cst.Attribute, other: cst.Attribute, model: Model) -> bool:
    """Whether what an attribute was assigned is gone when a display is assigned: it stands before, and may be empty."""
    assign = assignment_of(other, model.tree)
    if assign is not None and _is_filled(assign.value):
        return False
    is_before = model.tree.order(other) < model.tree.order(target)
    return is_before and model.scopes.scope_of(other) is model.scopes.scope_of(target)


def _is_served(use: cst.BaseExpression, container: str, of: str, model: Model) -> bool:
    """Whether a container of torch's can do what is done with a list or dict where it is named."""
    known = library.attributes_of(container)
    match model.tree.parent(use):
        case cst.Attribute(attr=cst.Name(value=name)) as method:
            call = call_of(method, model.tree)
            return name in known and (call is None or _takes(name, call, container, of, model))
        case cst.BinaryOperation(left=left, operator=cst.Add()) as both:
            return left is use and "__add__" in known and _is_served(both, container, of, model)
        case cst.AugAssign(target=target, operator=cst.AddAssign(), value=value):
            return target is not use or ("__iadd__" in known and _adds(value, of, model))
        case cst.BinaryOperation() | cst.AugAssign():
            return False
        case (
            cst.Comparison(comparisons=[cst.ComparisonTarget(operator=operator)])
            | cst.ComparisonTarget(operator=operator)
        ):
            return isinstance(operator, (cst.In, cst.NotIn, cst.Is, cst.IsNot))
        case cst.Arg() as arg:
            if _is_told_by(arg, model) or not _is_served_where_given(arg, container, of, model):
                return False
            return of == "Module" or _goes_through(arg, model)
        case cst.Subscript(value=value) as element if value is use:
            assign = assignment_of(element, model.tree)
            if assign is not None:
                return _is_taken(assign.value, of, model)
            return not _is_slice(element) or _is_served(element, container, of, model)
        case (cst.IfExp() | cst.BooleanOperation() | cst.NamedExpr()) as outer:
            return _is_served(outer, container, of, model)
        case cst.Return() | cst.Yield() | cst.Element() | cst.DictElement() | cst.Lambda():
            return of == "Module"  # what takes a list of tensors may get it there
        case cst.Assign(targets=targets):
            return all(_is_served_as(each.target, container, of, model) for each in targets)
    return True


def _is_served_where_given(arg: cst.Arg, container: str, of: str, model: Model) -> bool:
    """Whether a function of the project that gets a list or dict does nothing at once that the container cannot do."""
    call = model.tree.parent(arg)
    function = model.value(call.func).node if isinstance(call, cst.Call) else None
    if not isinstance(function, cst.FunctionDef) or not isinstance(call, cst.Call) or has_stars(call.args):
        return True
    named = arg.keyword.value if arg.keyword is not None else None
    names_ = [param.name.value for param in function.params.params]
    at = names_.index(named) if named in names_ else call.args.index(arg) + (names_[:1] == ["self"])
    home = model.home(function)
    uses = home.references(names_[at], function) if at < len(names_) else []
    return all(
        _is_served(use, container, of, home)
        for use in uses
        if isinstance(parent := home.tree.parent(use), _AT_ONCE)
        and not (isinstance(parent, cst.BinaryOperation) and isinstance(parent.operator, cst.Add))
    )


_AT_ONCE = (cst.Attribute, cst.BinaryOperation, cst.AugAssign, cst.Comparison, cst.ComparisonTarget)


def _is_served_as(target: cst.BaseAssignTargetExpression, container: str, of: str, model: Model) -> bool:
    """The same of a local name that stands for the attribute."""
    if not isinstance(target, cst.Name):
        return False
    uses = model.references(target.value, model.scopes.scope_of(target))
    return all(model.is_target(use) or not isinstance(model.tree.parent(use), cst.Assign) for use in uses) and all(
        _is_served(use, container, of, model) for use in uses
    )


def _takes(name: str, call: cst.Call, container: str, of: str, model: Model) -> bool:
    """Whether a method of a container takes what that of a list or dict is given."""
    given = [arg.value for arg in call.args]
    if name in _ADDING_ONE:
        return bool(given) and _is_taken(given[-1], of, model)
    if name in _ADDING_SEVERAL:
        return len(given) == 1 and _adds(given[0], of, model)
    if name != "pop":
        return True
    return len(given) == 1 or (len(given) == 2 and "setdefault" in library.attributes_of(container))


def _adds(value: cst.BaseExpression, of: str, model: Model) -> bool:
    """Whether a display holds what a container takes, and something of it."""
    return next(elements(value), None) is not None and _holds_only(value, of, model)


def _is_told_by(arg: cst.Arg, model: Model) -> bool:
    call = model.tree.parent(arg)
    return isinstance(call, cst.Call) and isinstance(call.func, cst.Name) and call.func.value in _TELLING


def _goes_through(arg: cst.Arg, model: Model) -> bool:
    """Whether what takes an argument only goes through it: functions of tensors take lists and tuples of them only."""
    call = model.tree.parent(arg)
    if arg.star or not isinstance(call, cst.Call):
        return bool(arg.star)
    name = model.qualified(call.func)
    if name is not None:
        return name.startswith(_TAKING_ITERABLES)
    return isinstance(call.func, cst.Attribute) and call.func.attr.value == "extend"


def _is_slice(element: cst.Subscript) -> bool:
    return any(isinstance(each.slice, cst.Slice) for each in element.slice)
