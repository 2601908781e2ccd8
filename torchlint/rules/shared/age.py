"""What `Variable` was given in a file from before PyTorch 0.4: tensors had no graph then, and variables it refused.

So in such a file ``Variable(x)`` is ``x``, unless a caller is seen to hand over what has a graph: that caller has been
written since. That the file has not been changed since is nothing that a safe fix may rest on.
"""

from __future__ import annotations

import re

import libcst as cst

from torchlint.model import Kind, Model, Role, Tri, Value
from torchlint.model.bindings import bound_value, owner, unpacked_from
from torchlint.model.handed_graphs import gives_graph, is_handed_graph
from torchlint.model.scopes import target_names
from torchlint.model.syntax import last_name, loops_of, parameters
from torchlint.model.torch import library
from torchlint.rules.shared.identity import are_told_apart, is_changed
from torchlint.rules.shared.lifetimes import is_bound, targets_of
from torchlint.rules.shared.memory import TRANSFERS, is_inplace
from torchlint.rules.shared.without_graph import stays_without_graph

_OF_THAT_TIME = re.compile(
    r"\bvolatile\s*=|\.data\[0\](?!\s*\[)|\basync\s*=\s*True\b|\bclip_grad_norm\("
    r"|\binit\.(?:(?:xavier|kaiming)_(?:uniform|normal)|uniform|normal|constant|orthogonal)\("
)
"""What is hardly written since: it has no effect, raises for a 0-dim tensor, does not parse, or has another name."""
_NEVER_THEN = re.compile(r"\bno_grad\b|\bset_grad_enabled\b|\.item\(\)|\btorch\.device\b")
"""What there was none of: a file that has both has been changed since."""
_FAR = 5
"""How many names are gone back through."""
_LONG = 8
"""How many methods that are called one on the other are gone back through."""
_MANY = 24
"""A name with more bindings is not followed."""
_PARAMETER = re.compile(r"(^|_)(weights?|bias|param(eter)?s?|hidden|hx|cx|hs?|hc)\d*$", re.IGNORECASE)
"""Names of what has a graph, where anything has."""
_GIVING = re.compile(
    r"^(?:next|sample|load|read|fetch|augment|transform|preprocess|collate|cast)|batch|data$|^enumerate$|^zip$|^tqdm$|^iter$",
    re.IGNORECASE,
)
"""Names of functions that give what was read or made before, and nothing that a network has computed."""
_READ = re.compile(r"data|load|batch|iter|sampl|bar$", re.IGNORECASE)
"""Names of what is gone through for that."""
_Pursued = frozenset[tuple[int, str]]
"""The names that are being asked about, each with the ``id`` of its function: what is made of one adds nothing."""


def is_plain_tensor(call: cst.Call, inner: cst.BaseExpression, model: Model) -> bool:
    """Whether what is wrapped had to be a tensor without a graph when the file was written, and it is only used."""
    return not _is_changed(call, model) and not _is_all_of_suite(call, model) and was_plain(inner, model)


def was_plain(inner: cst.BaseExpression, model: Model) -> bool:
    """Whether an expression had to be a tensor without a graph when the file was written, or `Variable` refused it."""
    if not model.remember(_is_of_that_time) or is_changed(inner, model) or are_told_apart(model):
        return False
    value = model.value(inner)
    if not value.kind & (Kind.TENSOR | Kind.UNKNOWN) or not _may_be_plain(value):
        return False
    if value.is_tensor and stays_without_graph(inner, model):
        return True
    return _is_handed_on(inner, model, frozenset())


def _is_of_that_time(model: Model) -> bool:
    """Whether the file, as it was before any fix, is from before PyTorch 0.4 throughout."""
    text = model.original
    return _OF_THAT_TIME.search(text) is not None and _NEVER_THEN.search(text) is None


def _is_all_of_suite(call: cst.Call, model: Model) -> bool:
    """Whether a branch does nothing but bind a name to the wrapper of it: it would be empty."""
    assign = model.tree.parent(call)
    line = model.tree.parent(assign) if isinstance(assign, cst.Assign) else None
    suite = model.tree.parent(line) if line is not None else None
    return isinstance(suite, cst.IndentedBlock) and len(suite.body) == 1


def _is_changed(call: cst.Call, model: Model) -> bool:
    """Whether a wrapper, or what is wrapped, is changed beyond its elements."""
    return any(is_changed(each, model) for each in (call, *targets_of(call, model)))


def _may_be_plain(value: Value) -> bool:
    return value.grad != Tri.YES and not value.is_parameter and not value.role & (Role.PARAMETER | Role.GRADIENT)


def _is_handed_on(node: cst.BaseExpression, model: Model, seen: _Pursued) -> bool:
    """Whether an expression is made by methods and indices of a name that stands for what the function was given."""
    for _ in range(_LONG):
        match node:
            case cst.Name():
                return _is_given(node, model, seen)
            case cst.Call(func=cst.Attribute(value=inner, attr=cst.Name(value=name))):
                if is_inplace(name) or (name not in TRANSFERS and library.method(name) is None):
                    return False
                node = inner
            case cst.Subscript(value=inner):
                node = inner
            case cst.Call(func=cst.Name(), args=[cst.Arg(value=inner, star="", keyword=None), *_]):
                if not _is_read(node, model):
                    return False
                node = inner
            case _:
                break
    return False


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
        return all(_is_handed_on(each, model, seen) for each in several)
    unwrapped = _unwrapped(made)
    return _is_handed_on(unwrapped, model, seen) or _is_read(unwrapped, model) or _has_no_graph(unwrapped, model)


def _has_no_graph(node: cst.BaseExpression, model: Model) -> bool:
    return model.value(node).is_tensor and stays_without_graph(node, model)


def _unwrapped(node: cst.BaseExpression) -> cst.BaseExpression:
    """``x.cuda()`` of ``Variable(x.cuda())``, which is bound to the name of `x` perhaps."""
    if isinstance(node, cst.Call) and last_name(node.func) == "Variable" and node.args:
        return node.args[0].value
    return node


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
    return _is_handed_on(node, model, seen) or _is_read(node, model)
