"""What a file does with its own names as texts: ``globals()["f"] = g``, ``exec(code)``, ``eval("f(x)")``.

What a name means there is not to be seen, and neither is whether it is used.
"""

from __future__ import annotations

import libcst as cst

from torchlint.model import Model
from torchlint.model.codebase.exports import patcher, rebinder
from torchlint.model.syntax import call_of, last_name
from torchlint.rule import Fix

_NAMESPACES = ("globals", "locals", "vars")
_CODE = ("exec", "eval", "execfile")
_READ_BY_TEXT = "the file may use the imported name by a text"
_READING = frozenset(("get", "keys", "values", "items", "copy", "__contains__", "__getitem__"))


def judged(fix: Fix, name: str, of_torch: tuple[str, ...], model: Model) -> Fix:
    """A fix that rests on a name of a file being what torch has under names of its own: unsafe if it may be another's.

    The file may bind the name by a text, and another file of the project may put something in torch's place.
    """
    written = model.remember(_written)
    if written is None or name in written:
        return fix.doubted("the file binds names by their text, and this may be one of them")
    if model.ask(rebinder, name) is not None:
        return fix.doubted("another file puts something of its own in the name's place")
    return as_torch_has(fix, of_torch, model)


def as_torch_has(fix: Fix, of_torch: tuple[str, ...], model: Model) -> Fix:
    """A fix that rests on torch having its own under some names: unsafe if another file puts something there."""
    is_patched = any(model.ask(patcher, each) is not None for each in of_torch if each)
    return fix.doubted("another file puts something of its own in torch's place") if is_patched else fix


def without_import(fix: Fix, name: str, model: Model) -> Fix:
    """A fix by which an imported name goes: unsafe where the file may use the name by a text."""
    return fix.doubted(_READ_BY_TEXT) if model.remember(_is_read_by_text, name) else fix


def _is_read_by_text(model: Model, name: str) -> bool:
    return any(_calls(word, model) for word in _CODE) or any(_key(n, model) in (None, name) for n in _namespaces(model))


def _key(namespace: cst.BaseExpression, model: Model) -> str | None:
    """The name that is looked up among the names of a module, or bound there; None if it may be any."""
    match model.tree.parent(namespace):
        case cst.Subscript(slice=[cst.SubscriptElement(slice=cst.Index(value=cst.SimpleString() as key))]):
            return key.raw_value
    return None


def _calls(word: str, model: Model) -> list[cst.Call]:
    """The calls of a builtin."""
    found = (call_of(name, model.tree) for name in model.tree.names(word))
    return [call for call in found if call is not None and isinstance(call.func, cst.Name)]


def _namespaces(model: Model) -> list[cst.BaseExpression]:
    """Expressions that are the names of this module: ``globals()``, ``vars()``, ``sys.modules[__name__]``."""
    calls = [call for word in _NAMESPACES for call in _calls(word, model) if not call.args]
    found: list[cst.BaseExpression] = [
        call
        for call in calls
        if last_name(call.func) == "globals" or model.tree.enclosing(call, cst.FunctionDef) is None
    ]
    for name in model.tree.names("__name__"):
        up = model.tree.enclosing(name, cst.Subscript)
        if isinstance(up, cst.Subscript) and last_name(up.value) == "modules":
            found.append(up)
    return found


def _written(model: Model) -> frozenset[str] | None:
    """The names that a file binds by a text; None if that may be any."""
    found = set[str]()
    if _calls("exec", model) or _calls("execfile", model):
        return None
    for namespace in _namespaces(model):
        name = _bound_in(namespace, model)
        if name is None:
            return None
        found.add(name)
    return frozenset(found)


def _bound_in(namespace: cst.BaseExpression, model: Model) -> str | None:
    """The name that is bound where the names of a module are at hand; empty if none is, None if it may be any."""
    up = model.tree.parent(namespace)
    match up:
        case cst.Subscript():
            return _key(namespace, model) if model.is_target(up) else ""
        case cst.Attribute(attr=cst.Name(value=name)):
            return "" if name in _READING else None
        case cst.ComparisonTarget() | cst.Comparison() | cst.For() | cst.CompFor():
            return ""
        case cst.Arg() if isinstance(call := model.tree.parent(up), cst.Call):
            return _bound_by(call, model)
    return None


def _bound_by(call: cst.Call, model: Model) -> str | None:
    """The same for a call that is given the names of a module."""
    match call:
        case cst.Call(func=cst.Name("setattr"), args=[_, cst.Arg(value=cst.SimpleString() as key), _]):
            return key.raw_value
        case cst.Call(func=cst.Name("getattr" | "hasattr" | "sorted" | "list" | "len" | "dict" | "eval" | "dir")):
            return ""
    return None
