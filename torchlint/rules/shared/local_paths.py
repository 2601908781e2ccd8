"""Which expressions are the path of a folder on this machine, and no name of something to download."""

from __future__ import annotations

import re
from collections.abc import Iterator

import libcst as cst

from torchlint.model import Model, bindings
from torchlint.model.syntax import call_of, dotted, literal_key, parameters

_FAR = 8
"""How many names and parts of expressions are gone back."""
_LOCAL = re.compile(r"\.{0,2}[/\\]|~|[A-Za-z]:[/\\]|\.{1,2}$")
"""How the path of a folder begins."""
_PATHS = ("os.path.", "os.getcwd", "pathlib.", "tempfile.", "glob.")
"""What of Python gives paths, and objects that have them."""
_SAME = frozenset(f"builtins.{name}" for name in ("str", "sorted", "max", "min", "next", "iter", "list")) | {
    "os.fspath"
}
"""What gives a path when it is given one, or several."""
_WRITERS = frozenset(("save_pretrained", "save_to_disk", "save_model", "makedirs", "mkdir"))
"""What makes the folder that it is given."""


def is_local(node: cst.BaseExpression, model: Model, far: int = _FAR) -> bool:
    """Whether an expression is seen to be the path of a folder, on every way that leads there."""
    if not far:
        return False
    match node:
        case cst.SimpleString():
            text = literal_key(node)
            return isinstance(text, str) and _LOCAL.match(text) is not None
        case cst.FormattedString(parts=[cst.FormattedStringText(value=text), *_]):
            return _LOCAL.match(text) is not None
        case cst.FormattedString(parts=[cst.FormattedStringExpression(expression=inner), *_]):
            return is_local(inner, model, far - 1)
        case (
            cst.ConcatenatedString(left=inner)
            | cst.BinaryOperation(left=inner, operator=cst.Divide() | cst.Add() | cst.Modulo())
        ):
            return is_local(inner, model, far - 1)
        case cst.IfExp(body=one, orelse=other) | cst.BooleanOperation(left=one, right=other):
            return is_local(one, model, far - 1) and is_local(other, model, far - 1)
        case cst.Call():
            return _is_made_local(node, model, far)
        case cst.Subscript(value=inner):
            return is_local(inner, model, far - 1)
        case cst.Name() | cst.Attribute():
            return _is_named_local(node, model, far)
    return False


def _is_made_local(node: cst.Call, model: Model, far: int) -> bool:
    """Whether what a call gives is a path: by a function for paths, or by a method of one."""
    ref = model.qualified(node.func) or ""
    if ref.startswith(_PATHS):
        return True
    if ref in _SAME:
        return bool(node.args) and is_local(node.args[0].value, model, far - 1)
    return isinstance(node.func, cst.Attribute) and not ref and is_local(node.func.value, model, far - 1)


def _is_named_local(node: cst.Name | cst.Attribute, model: Model, far: int) -> bool:
    """Whether a name or attribute stands for a path, has a part of one, or was written to before."""
    if dotted(node) == "__file__" or (model.value(node).ref or "").startswith("pathlib."):
        return True
    if _is_written_to(node, model):
        return True
    if isinstance(node, cst.Name):
        sources = list(_sources(node, model))
        is_seen = bool(sources) and all(each is not None and is_local(each, model, far - 1) for each in sources)
        return is_seen or _is_annotated(node, model)
    made = model.ask(bindings.made, node)
    return is_local(node.value if made is None else made, model, far - 1)


def _is_annotated(name: cst.Name, model: Model) -> bool:
    """Whether an annotation says that a parameter is a path."""
    scope = model.ask(bindings.owner, name)
    given = parameters(scope) if isinstance(scope, cst.FunctionDef) else ()
    annotations = [each.annotation for each in given if each.name.value == name.value and each.annotation is not None]
    return any((model.qualified(each.annotation) or "").startswith("pathlib.") for each in annotations)


def _is_written_to(node: cst.Name | cst.Attribute, model: Model) -> bool:
    """Whether something is saved to that path before, in the same function."""
    written = model.remember(_written_paths).get((dotted(node), id(model.scopes.scope_of(node))))
    return written is not None and written < model.tree.order(node)


def _written_paths(model: Model) -> dict[tuple[str | None, int], int]:
    """The paths that are given to what makes folders, with their scope: the place of the first time."""
    found: dict[tuple[str | None, int], int] = {}
    for method in (each for name in _WRITERS for each in model.tree.attributes(name)):
        call = call_of(method, model.tree)
        for arg in call.args if call is not None else ():
            key, place = (dotted(arg.value), id(model.scopes.scope_of(arg.value))), model.tree.order(arg.value)
            if key[0] is not None:
                found[key] = min(found.get(key, place), place)
    return found


def _sources(name: cst.Name, model: Model) -> Iterator[cst.BaseExpression | None]:
    """What a name is ever bound to, by an assignment, a loop or `with`; None for what is not seen."""
    last = model.ask(bindings.last_target, name)
    scope = model.ask(bindings.owner, name)
    if last is not None or scope is None:
        yield _given(last, model) if last is not None else None
        return
    assigned = model.ask(bindings.all_assigned, name.value, scope)
    bound = [each for each in model.targets(name.value, scope) if model.scopes.scope_of(each) is scope]
    yield from assigned[: len(assigned) - len(bound)]
    yield from (_given(target, model) for target in bound)


def _given(target: cst.Name, model: Model) -> cst.BaseExpression | None:
    """What an assignment, a loop or `with` binds a name to, or an element of it."""
    value = bindings.bound_value(target, model.tree)
    if value is not None:
        return value
    match model.tree.parent(target):
        case cst.For(iter=source) | cst.CompFor(iter=source):
            return source
        case cst.AsName() as bound if isinstance(item := model.tree.parent(bound), cst.WithItem):
            return item.item
    return None
