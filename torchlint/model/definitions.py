"""What names stand for that a scope does not bind itself: outer scopes, builtins, other files of the project."""

from __future__ import annotations

import builtins
from collections.abc import Iterator
from typing import TYPE_CHECKING

import libcst as cst

from torchlint.model.codebase.exports import is_put_elsewhere, rebinder
from torchlint.model.doubts import leads_somewhere, perhaps_with
from torchlint.model.imports import module_of, only_import
from torchlint.model.interpreted import bound_in, interpreted, is_settled, outside
from torchlint.model.names import GROWING, is_foreign
from torchlint.model.possibilities import Kind
from torchlint.model.symbols import Origin, Symbol
from torchlint.model.syntax import dotted
from torchlint.model.torch import library
from torchlint.model.torch.named import named
from torchlint.model.values import NONE, NUMBER, UNKNOWN, Value, join, reference, unknown
from torchlint.system.records import replace

if TYPE_CHECKING:
    from torchlint.model.context import Context
    from torchlint.model.interpret.frame import Frame

_NOT_OURS = frozenset(("torch", "builtins", "numpy", "typing", ""))

MAX_REEXPORTS = 8
"""How many files may hand a name on to each other."""

_MAX_REBINDERS = 4

_USUAL = {
    "torch": "torch",
    "nn": "torch.nn",
    "F": "torch.nn.functional",
    "np": "numpy",
    "plt": "matplotlib.pyplot",
}
"""What everybody calls some modules."""

_CONSTANTS = {"None": NONE, "True": NUMBER, "False": NUMBER}


def free(context: Context, name: str, frame: Frame) -> Value:
    """A name that a scope does not bind itself: from the enclosing functions, the module, builtins."""
    scope = frame.scope
    while scope is not context.tree.module:
        scope = context.scopes.scope_of(scope)
        bindings = bound_in(context, scope)
        if name in bindings:
            return _as_rebound(context, bindings[name], name, scope, frame.scope)
    if context.is_part and (found := _elsewhere_in_file(context, name)) is not None:
        return found
    if hasattr(builtins, name):
        return _CONSTANTS.get(name) or Value(Kind.REFERENCE, ref=f"builtins.{name}")
    for module in reversed(context.stars):  # the last one that has it binds it
        value = named(f"{module}.{name}")
        if value.ref and _is_known(value.ref):
            return value
        found = definition(context, f"{module}.{name}")
        if found is not None and context.codebase.exports(module, name, context):
            return found
    path = usual(context, name)
    return named(path) if path is not None else unknown(Symbol(Origin.GLOBAL, name=name))


def usual(context: Context, name: str) -> str | None:
    """What a name stands for that only a star of a module can bring that is not seen: ``from fastai.vision import *``.

    Nobody calls anything else `torch`; `nn` may be that of another framework where nothing is called so.
    """
    return context.remember(_usual, name) if name in _USUAL else None


def is_only_bound_here(context: Context, name: str) -> bool:
    """Whether a name that a module binds has no other meaning in it: neither a builtin, nor what a star may bring."""
    if context.is_part or hasattr(builtins, name):
        return False
    modules = context.remember(_starred)
    return not modules or not context.codebase.is_brought_unseen(name, modules, context)


def _usual(context: Context, name: str) -> str | None:
    path, modules = _USUAL[name], context.remember(_starred)
    if not modules or (path.startswith("torch.") and not context.tree.names("torch")):
        return None
    return path if context.codebase.is_brought_unseen(name, modules, context) else None


def _starred(context: Context) -> tuple[str, ...]:
    """The modules that may be files of the project and whose names a file imports with a star."""
    nodes = (each for each in context.tree.all(cst.ImportFrom) if isinstance(each.names, cst.ImportStar))
    return tuple(module for node in nodes if is_ours(module := module_of(context, node)))


def _as_rebound(
    context: Context, value: Value, name: str, scope: cst.FunctionDef | cst.Module, asker: cst.FunctionDef | cst.Module
) -> Value:
    """A name of an outer scope as a function sees it: what other functions rebind it to, if those are few.

    What they put into a container counts where something of that may be called; elsewhere what is seen of it goes on.
    """
    functions = context.scopes.rebinders(scope, name)
    if value.kind & Kind.CONTAINER:
        if not leads_somewhere(value):
            return value
        if is_put_elsewhere(context, name) or context.remember(_is_handed_on, name, scope):
            return perhaps_with(value)
    if not functions or value.kind & Kind.FUNCTION:
        return value
    if len(functions) > _MAX_REBINDERS:
        return join(value, UNKNOWN)
    for function in functions.values():
        left = interpreted(context, function) if function is not asker else None
        if left is not None and name in left.bindings:
            value = join(value, left.bindings[name])
    return value


def _is_handed_on(context: Context, name: str, scope: cst.FunctionDef | cst.Module) -> bool:
    """Whether a list or mapping gets another name, or is given to what may fill it: ``plug(parts, other)``."""
    return any(_goes_on(context, use) for use in context.tree.names(name, scope))


def _goes_on(context: Context, use: cst.Name) -> bool:
    match parent := context.tree.parent(use):
        case cst.Assign(value=value) | cst.NamedExpr(value=value) | cst.Return(value=value):
            return value is use
        case cst.Arg(star="", value=value) if value is use:
            call = context.tree.parent(parent)
            return isinstance(call, cst.Call) and dotted(call.func) not in _ONLY_READING
        case cst.Attribute(attr=cst.Name(value=method)) if method in GROWING:
            return not isinstance(context.tree.parent(parent), cst.Call)
    return False


_ONLY_READING = frozenset(
    (
        *("len", "enumerate", "zip", "reversed", "sorted", "list", "tuple", "dict", "set", "iter", "next", "sum"),
        *("any", "all", "min", "max", "print", "isinstance", "str", "repr", "nn.ModuleList", "nn.Sequential"),
    )
)
"""What only reads a list that it is given, or makes another one of it."""


def rebound(context: Context, name: str, frame: Frame) -> Value | None:
    """What the functions in a scope that are defined by now bind to a name of it."""
    result: Value | None = None
    functions = context.scopes.rebinders(frame.scope, name)
    if len(functions) > 4 * _MAX_REBINDERS:
        return UNKNOWN
    for function in functions.values():
        if _outermost(context, function, frame.scope).name.value not in frame.env:
            continue
        left = interpreted(context, function)
        value = left.bindings.get(name) if left is not None else None
        if value is not None:
            result = value if result is None else join(result, value)
    return result


def _outermost(
    context: Context, function: cst.FunctionDef, scope: cst.FunctionDef | cst.Module
) -> cst.FunctionDef | cst.ClassDef:
    """The definition in a scope that a function is part of."""
    found: cst.FunctionDef | cst.ClassDef = function
    for up in context.tree.ancestors(function):
        if up is scope:
            break
        if isinstance(up, (cst.FunctionDef, cst.ClassDef)):
            found = up
    return found


def _elsewhere_in_file(context: Context, name: str) -> Value | None:
    """What another part of the file binds to a name."""
    known = context.memo.table(_elsewhere_in_file)
    if name in known:
        return known[name]
    assert context.path is not None
    part = context.codebase.member(context.path, name, context)
    if part is None and (found := context.codebase.through_stars(context.path, (name,), context)) is not None:
        part = found[0]
    if part is None or part is context:
        known[name] = None
        return None
    value = bound_in(part, part.tree.module).get(name)
    if is_settled(part, part.tree.module):
        known[name] = value
    return value


def definition(context: Context, ref: str) -> Value | None:
    """What a qualified name stands for, if it is defined in a file of the same project."""
    known = context.memo.table(definition)
    if ref in known:
        return known[ref]
    if not is_ours(ref):
        return None
    value, is_final = _definition(context, ref)
    if is_final:
        known[ref] = value
    return value


def is_ours(ref: str) -> bool:
    """Whether a qualified name may lead to a file of the project."""
    root = ref.partition(".")[0]
    return root not in _NOT_OURS and not is_foreign(root)


def _definition(context: Context, ref: str) -> tuple[Value | None, bool]:
    """What a name stands for, and whether that will not change any more."""
    asker, is_final = context, True
    beside: Value | None = None
    for _ in range(MAX_REEXPORTS):
        found = context.codebase.definition(ref, asker)
        if found is None:
            return None, is_final
        home, name, rest = found
        handed_on = home.remember(only_import, name) if home.is_part and not rest else None
        if handed_on is not None:  # nothing has to be interpreted to know that
            value = named(handed_on)
        else:
            value = bound_in(home, home.tree.module).get(name, UNKNOWN)
            is_final = is_final and not rest and is_settled(home, home.tree.module)
            if value.kind & _HELD and home.remember(_is_put_there, name):
                value = replace(value, kind=value.kind | Kind.UNKNOWN)
        for attribute in rest:
            value = home.interpreter.attribute(outside(home), value, attribute, home.tree.module)
        target = reference(value)
        if target is None or target.partition(".")[0] in _NOT_OURS:
            return value if beside is None else join(beside, value), is_final
        if target == ref:
            return beside, is_final
        if others := value.kind & ~(Kind.REFERENCE | Kind.NONE):  # it is imported here and bound again there
            bound = replace(value, kind=others, ref=None)
            beside = bound if beside is None else join(beside, bound)
        asker, ref = home, target
    return beside, is_final


_HELD = Kind.MODULE | Kind.OBJECT | Kind.REFERENCE
"""What a name of a module may hold, and be given another one of: it is no definition."""


def _is_put_there(context: Context, name: str) -> bool:
    """Whether a function of a file gives a name of the module something else, or another file does."""
    module = context.tree.module
    return bool(context.scopes.rebinders(module, name)) or rebinder(context, name) is not None


def follow(context: Context, value: Value) -> Value:
    """A value; for something imported from a file of the project what it is there."""
    ref = reference(value)
    return value if ref is None else definition(context, ref) or value


def imported_classes(context: Context) -> Iterator[cst.ClassDef]:
    """The classes of the project that this file imports by their names."""
    for value in bound_in(context, context.tree.module).values():
        if reference(value) is not None and isinstance(cls := follow(context, value).node, cst.ClassDef):
            yield cls


def is_defined(context: Context, ref: str) -> bool:
    """Whether it is known for good what a qualified name stands for in this project, if it does."""
    return ref in context.memo.table(definition) or not is_ours(ref)


def _is_known(ref: str) -> bool:
    """Whether torch has something of that name."""
    return library.is_function(ref) or library.class_kind(ref) is not None or ref == "torch.autograd.Variable"
