"""What something is made of that was wrapped by `Variable`: what a function was given, or what was read or stored.

No network has computed that, as far as its file shows. Before PyTorch 0.4 tensors and variables did not mix either:
what was made of one tensor was made of tensors alone.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import libcst as cst

from torchlint.model import Kind, Model, Tri
from torchlint.model.bindings import bound_value, owner, unpacked_from
from torchlint.model.codebase.exports import setter
from torchlint.model.handed_graphs import gives_graph, is_handed_graph
from torchlint.model.scopes import target_names
from torchlint.model.syntax import assignment_of, call_of, last_name, loops_of, parameters
from torchlint.model.torch import library
from torchlint.rules.shared import gradients
from torchlint.rules.shared.lifetimes import OF_THE_OBJECT, is_bound
from torchlint.rules.shared.memory import TRANSFERS, is_compared, is_inplace
from torchlint.rules.shared.resized import RESIZING

_FAR = 5
"""How many names are gone back through."""
_LONG = 8
"""How many methods that are called one on the other are gone back through."""
_MANY = 24
"""A name with more bindings is not followed."""
_PARAMETER = re.compile(r"(^|_)(weights?|bias|param(eter)?s?|hidden|hx|cx|hs?|hc)\d*$", re.IGNORECASE)
"""Names of what has a graph, where anything has."""
_GIVING = re.compile(
    r"^(?:next|sample|load|read|fetch|augment|transform|preprocess|collate|cast)|batch|data$|^enumerate$|^zip$|^tqdm$"
    r"|^iter$|^to_|device|cuda|gpu",
    re.IGNORECASE,
)
"""Names of functions that give what was read or made before, and nothing that a network has computed."""
_READ = re.compile(r"data|load|batch|iter|sampl|bar$", re.IGNORECASE)
"""Names of what is gone through for that."""
_COMPUTING = re.compile(
    r"(?<![a-z])(?:net|model|encoder|decoder|generator|discriminator|critic|actor|policy|layer|module)|(?:net|model)\d*$",
    re.IGNORECASE,
)
"""Names of what has tensors of its own, and of what has computed others."""
_Pursued = frozenset[tuple[int, str]]
"""The names that are being asked about, each with the ``id`` of its function: what is made of one adds nothing."""


def is_uncomputed(node: cst.BaseExpression, model: Model, seen: _Pursued = frozenset()) -> bool:
    """Whether an expression is made of nothing but what a function was given, or what was read, stored or cut."""
    for _ in range(_LONG):
        if _has_no_graph(node, model) or is_compared(node, model):
            return True
        match node:
            case cst.Name():
                return _is_given(node, model, seen)
            case cst.Attribute(attr=cst.Name("data")):
                return True
            case cst.Attribute(attr=cst.Name("grad")):
                return not gradients.may_have_graph(node, model)
            case cst.Attribute():
                return _is_stored(node, model, seen)
            case cst.Call(func=cst.Attribute(attr=cst.Name("detach")), args=[]):
                return True
            case cst.Call(func=cst.Attribute(value=inner, attr=cst.Name(value=name)) as func) if _gives_another(
                name
            ) and not model.qualified(func):
                node = inner
            case cst.Subscript(value=inner):
                node = inner
            case cst.UnaryOperation(operator=cst.Minus() | cst.Plus() | cst.BitInvert(), expression=inner):
                node = inner
            case cst.BinaryOperation(left=left, right=right):
                return _are_operands((left, right), model, seen)
            case cst.Call(func=cst.Attribute(value=owner, attr=cst.Name("reset" | "step"))):
                return last_name(owner).startswith("env")
            case cst.Call():
                return _is_made_of_given(node, model, seen)
            case _:
                break
    return False


def _gives_another(method: str) -> bool:
    """Whether a method gives a tensor that is made of one, or written to: with nothing that had a graph."""
    return method not in OF_THE_OBJECT - RESIZING and (
        is_inplace(method) or method in TRANSFERS or library.method(method) is not None
    )


def _is_made_of_given(call: cst.Call, model: Model, seen: _Pursued) -> bool:
    """Whether a function of torch's or of the project's, or one that casts, makes something of what was handed on."""
    given = [arg.value for arg in call.args if not arg.star]
    if len(given) < len(call.args) or not given:
        return False
    if model.value(given[0]).kind == Kind.NDARRAY or (_is_read(call, model) and is_uncomputed(given[0], model, seen)):
        return True
    several = [part for each in given for part in _parts(each) if _may_be_tensor(part, model)]
    if several and not _COMPUTING.search(last_name(call.func)) and all(_is_cut(each, model) for each in several):
        return True  # no network took what was no variable
    called = model.value(call.func)
    is_function = called.kind == Kind.FUNCTION and isinstance(called.node, cst.FunctionDef)
    if not is_function and re.fullmatch(r"torch\.\w+", model.qualified(call.func) or "") is None:
        return False
    if is_function and model.ask(gives_graph, call):
        return False
    parts = [part for each in given for part in _parts(each)]
    return _are_operands(parts, model, seen)


def _parts(node: cst.BaseExpression) -> Sequence[cst.BaseExpression]:
    """The elements of a list that is written out, else the expression itself."""
    return [each.value for each in node.elements] if isinstance(node, (cst.Tuple, cst.List)) else [node]


def _are_operands(nodes: Sequence[cst.BaseExpression], model: Model, seen: _Pursued) -> bool:
    """Whether expressions that something is made of were handed on: one at least, and no other one was computed."""
    several = [node for node in nodes if _may_be_tensor(node, model)]
    handed = [is_uncomputed(node, model, seen) for node in several]
    return any(handed) and all(
        is_handed or _is_of_another(node, model) for node, is_handed in zip(several, handed, strict=True)
    )


def _is_of_another(node: cst.BaseExpression, model: Model) -> bool:
    """Whether an expression is an attribute that the file sets nowhere: beside a tensor it was one, or a number."""
    while isinstance(node, cst.Subscript):
        node = node.value
    return isinstance(node, cst.Attribute) and not _targets(node, model) and not _may_compute(node)


def _may_compute(node: cst.Attribute) -> bool:
    """Whether an attribute is a parameter, or of what has some, by the names."""
    is_parameter = _PARAMETER.search(node.attr.value) is not None or node.attr.value == "grad"
    return is_parameter or _COMPUTING.search(last_name(node.value)) is not None


def _targets(node: cst.Attribute, model: Model) -> list[cst.Attribute]:
    """Where the file binds an attribute of that name, of whatever object."""
    uses = model.tree.attributes(node.attr.value)
    return [use for use in uses if model.is_target(use) and not isinstance(model.tree.parent(use), cst.Subscript)]


def _is_stored(node: cst.Attribute, model: Model, seen: _Pursued) -> bool:
    """Whether an attribute holds nothing but what was handed on, as far as the file shows, or is one of that."""
    name = node.attr.value
    key = (0, name)
    if key in seen:
        return True
    if len(seen) >= _FAR or _PARAMETER.search(name):
        return False
    targets = _targets(node, model)
    if not targets:
        return not _may_compute(node) and is_uncomputed(node.value, model, seen)
    if len(targets) > _MANY or model.ask(setter, name) is not None:
        return False
    uses = model.tree.attributes(name)
    return all(_is_put(each, model, seen | {key}) for each in targets) and _holds_given(uses, model, seen | {key})


def _is_put(target: cst.Attribute, model: Model, seen: _Pursued) -> bool:
    """Whether an attribute is plainly assigned what was handed on, nothing yet, or something to put that into."""
    assign = assignment_of(target, model.tree)
    if assign is None:
        return isinstance(model.tree.parent(target), cst.AugAssign)  # no variable could be added to a tensor
    return _is_begun(assign.value, model) or _is_plainly(assign.value, model, seen)


def _is_begun(node: cst.BaseExpression, model: Model) -> bool:
    """Whether an expression is nothing yet: None, a number, an empty list or dictionary."""
    match node:
        case cst.List(elements=[]) | cst.Dict(elements=[]) | cst.Call(func=cst.Name("list" | "dict"), args=[]):
            return True
    return not model.value(node).kind & ~(Kind.NONE | Kind.NUMBER)


def _holds_given(uses: Sequence[cst.BaseExpression], model: Model, seen: _Pursued) -> bool:
    """Whether nothing but what was handed on is put into a list or dictionary by the names that are seen."""
    return all(_is_filled(use, model, seen) for use in uses)


def _is_filled(use: cst.BaseExpression, model: Model, seen: _Pursued) -> bool:
    """Whether what is put into something at one of its uses was handed on; most uses put in nothing."""
    place, up = use, model.tree.parent(use)
    while isinstance(up, cst.Subscript) and up.value is place:
        place, up = up, model.tree.parent(up)
    match up:
        case cst.AssignTarget() if place is not use:
            assign = model.tree.parent(up)
            return isinstance(assign, cst.Assign) and (
                _is_begun(assign.value, model) or _is_plainly(assign.value, model, seen)
            )
        case cst.Attribute(attr=cst.Name("append")):
            call = call_of(up, model.tree)
            return call is not None and len(call.args) == 1 and _is_plainly(call.args[0].value, model, seen)
        case cst.Attribute(attr=cst.Name("extend" | "insert" | "update" | "setdefault")):
            return False
    return True


def _is_plainly(node: cst.BaseExpression, model: Model, seen: _Pursued) -> bool:
    unwrapped = _unwrapped(node)
    is_nothing = model.value(unwrapped).kind == Kind.NONE
    return is_nothing or is_uncomputed(unwrapped, model, seen) or _is_read(unwrapped, model)


def _is_given(name: cst.Name, model: Model, seen: _Pursued) -> bool:
    """Whether a name stands for nothing but what a function is given or a loop goes through, or is made of that."""
    looped = _loop_over(name, model)
    if looped is not None:
        return _is_source(looped, model, seen)
    scope = model.scopes.scope_of(name)
    key = (id(scope), name.value)
    if key in seen:
        return True
    if len(seen) >= _FAR or _PARAMETER.search(name.value) or model.ask(owner, name) is not scope:
        return False
    targets = [each for each in _reaching(name, model) if is_bound(each, model)]
    if len(targets) > _MANY or model.scopes.rebinders(scope, name.value):
        return False
    is_parameter = isinstance(scope, cst.FunctionDef) and any(p.name.value == name.value for p in parameters(scope))
    if not targets and (not is_parameter or name.value in ("self", "cls")):
        return False
    if isinstance(scope, cst.FunctionDef) and is_parameter and model.ask(is_handed_graph, scope, name.value):
        return False
    return all(_is_bound_to_given(each, model, seen | {key}) for each in targets)


def _reaching(name: cst.Name, model: Model) -> list[cst.Name]:
    """Where a name is bound that may have that value: the loop around it that binds it does so anew in each round."""
    targets = [*model.targets(name.value, model.scopes.scope_of(name))]
    for up in model.tree.ancestors(name):
        if isinstance(up, cst.For) and name.value in target_names(up.target):
            order = model.tree.order
            return [each for each in targets if model.tree.is_inside(each, up) and order(each) < order(name)]
        if isinstance(up, (cst.For, cst.While, cst.FunctionDef)):
            break
    return targets


def _loop_over(name: cst.Name, model: Model) -> cst.BaseExpression | None:
    """What a comprehension goes through that binds a name where it stands."""
    for up in model.tree.ancestors(name):
        if isinstance(up, cst.BaseComp):
            for part in loops_of(up):
                if name.value in target_names(part.target):
                    return part.iter
        if isinstance(up, (cst.BaseStatement, cst.Lambda)):
            break
    return None


def _is_bound_to_given(target: cst.Name, model: Model, seen: _Pursued) -> bool:
    """Whether a name is bound by a loop, or plainly to what was given, or to what is read from somewhere."""
    loop = model.tree.enclosing(target, cst.For)
    if isinstance(loop, cst.For) and (loop.target is target or model.tree.is_inside(target, loop.target)):
        return _is_source(loop.iter, model, seen)
    made = bound_value(target, model.tree) or unpacked_from(target, model.tree)
    if made is None:
        return False
    several = mapped(made)
    if several is not None:
        return all(is_uncomputed(each, model, seen) for each in several)
    return _is_plainly(made, model, seen)


def _may_be_tensor(node: cst.BaseExpression, model: Model) -> bool:
    return bool(model.value(node).kind & (Kind.TENSOR | Kind.UNKNOWN))


def _is_cut(node: cst.BaseExpression, model: Model) -> bool:
    return _has_no_graph(node, model) or (isinstance(node, cst.Attribute) and node.attr.value == "data")


def _has_no_graph(node: cst.BaseExpression, model: Model) -> bool:
    value = model.value(node)
    if not value.is_tensor or value.grad != Tri.NO or value.is_parameter:
        return False
    return not isinstance(node, cst.Attribute) or model.ask(setter, node.attr.value) is None


def _unwrapped(node: cst.BaseExpression) -> cst.BaseExpression:
    """``x.cuda()`` of ``Variable(x.cuda())``, which is bound to the name of `x` perhaps."""
    if isinstance(node, cst.Call) and last_name(node.func) == "Variable" and node.args:
        return node.args[0].value
    return node


def _is_read(node: cst.BaseExpression, model: Model) -> bool:
    """Whether an expression is a call that gives what was read, by the name of what is called."""
    if not isinstance(node, cst.Call) or _GIVING.search(last_name(node.func)) is None:
        return False
    return not model.ask(gives_graph, node)


def _is_source(node: cst.BaseExpression, model: Model, seen: _Pursued) -> bool:
    """Whether a loop goes through what was given or read: ``enumerate(loader)``, ``zip(xs, ys)``, ``batch``."""
    match node:
        case cst.Name() | cst.Attribute() if _READ.search(last_name(node)):
            return True
        case cst.Call(func=cst.Name("enumerate" | "zip" | "tqdm" | "iter" | "reversed"), args=args):
            return bool(args) and all(_is_source(arg.value, model, seen) for arg in args if arg.keyword is None)
    return is_uncomputed(node, model, seen) or _is_read(node, model)


def mapped(node: cst.CSTNode) -> list[cst.Name] | None:
    """The names in ``map(Variable, (x, y))``."""
    match node:
        case cst.Call(
            func=cst.Name("map"),
            args=[cst.Arg(value=wrapper, star="", keyword=None), cst.Arg(value=cst.Tuple() | cst.List() as several)],
        ) if last_name(wrapper) == "Variable":
            names = [each.value for each in several.elements if isinstance(each.value, cst.Name)]
            return names if len(names) == len(several.elements) else None
    return None
