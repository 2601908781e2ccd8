"""Whether somebody waits for the error that an old form raises today, in a ``try`` around it."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from torchlint.model import Kind, Model, Role
from torchlint.model.syntax import call_of, last_name, parameters
from torchlint.rules.api.guards import is_raised
from torchlint.rules.shared import initialised
from torchlint.rules.shared.statements import LEFT_BY_ERRORS

_FAR = 3
"""How many callers of callers are asked."""


def is_awaited(error: str, node: cst.CSTNode, model: Model, far: int = _FAR) -> bool:
    """Whether a handler names an error, ``except (TypeError, IndexError)``, in the function or around its calls."""
    child: cst.CSTNode = node
    for up in model.tree.ancestors(node):
        if isinstance(up, (cst.Try, cst.TryStar)) and child is up.body:
            if any(_names(handler, error, model) for handler in up.handlers):
                return True
        if isinstance(up, cst.With) and child is up.body:
            if any(_suppresses(item.item, error, model) for item in up.items):
                return True
        if isinstance(up, cst.FunctionDef):
            return far > 0 and model.remember(_is_called_so, up.name.value, error, far - 1)
        if isinstance(up, cst.Lambda):
            return False
        child = up
    return False


def _is_called_so(model: Model, name: str, error: str, far: int) -> bool:
    """Whether the file calls something of a name where a handler names an error."""
    if not model.remember(_is_mentioned, error):
        return False
    calls = (call for use in model.scopes.calls(name) if (call := call_of(use, model.tree)) is not None)
    return any(is_awaited(error, call, model, far) for call in calls)


def _is_mentioned(model: Model, error: str) -> bool:
    return error in model.tree.source.text


def _suppresses(manager: cst.BaseExpression, error: str, model: Model) -> bool:
    match manager:
        case cst.Call(func=func, args=args) if last_name(func) in LEFT_BY_ERRORS:
            return any(model.qualified(arg.value) == f"builtins.{error}" for arg in args)
    return False


def _names(handler: cst.ExceptHandler | cst.ExceptStarHandler, error: str, model: Model) -> bool:
    match handler.type:
        case None:
            return False
        case cst.Tuple(elements=elements):
            return any(model.qualified(element.value) == f"builtins.{error}" for element in elements)
        case caught:
            return model.qualified(caught) == f"builtins.{error}"


def is_question(error: str, node: cst.CSTNode, ways: frozenset[str], model: Model) -> bool:
    """Whether a statement is tried to see whether it raises an error, or has another way where it does.

    So nothing else is tried, or the handler names one of the ways. In a longer ``try`` the error is met by chance.
    """
    child: cst.CSTNode = node
    for up in model.tree.ancestors(node):
        if isinstance(up, (cst.FunctionDef, cst.ClassDef, cst.Lambda)):
            return False
        if isinstance(up, (cst.Try, cst.TryStar)) and child is up.body:
            handlers = [each for each in up.handlers if _catches_all(each, model) or _names(each, error, model)]
            others = [each for each in handlers if not is_raised(each.body)]
            if any(_is_alone(up.body) or _does_otherwise(each, ways, model) for each in others):
                return True
        child = up
    return False


def _is_alone(block: cst.BaseSuite) -> bool:
    """Whether a block is one simple statement."""
    match block:
        case cst.IndentedBlock(body=[cst.SimpleStatementLine(body=[_])]) | cst.SimpleStatementSuite(body=[_]):
            return True
    return False


def _does_otherwise(handler: cst.ExceptHandler | cst.ExceptStarHandler, ways: frozenset[str], model: Model) -> bool:
    return any(name.value in ways for name in model.tree.within(handler.body, cst.Name))


def keeps_error_of_none(node: cst.Attribute, model: Model) -> bool:
    """Whether ``x.data`` of what may be None is waited for to raise: without `.data` it is None, or a `TypeError`.

    A method that is called on it raises the same then as before, ``p.grad.data.norm()``, and so does `nn.init`.
    """
    is_asked = isinstance(model.tree.parent(node), cst.Attribute) or initialised.is_read(node, model)
    if is_asked or not _may_be_none(node.value, model):
        return False
    function = model.tree.enclosing(node, cst.FunctionDef)
    if isinstance(function, cst.FunctionDef) and function.name.value in model.remember(_run_where_caught):
        return True
    return any(_catches(each, model) for each in _around(node, model))


_ERROR = "AttributeError"


def _may_be_none(source: cst.BaseExpression, model: Model) -> bool:
    """Whether None may stand in the place of a tensor: a gradient before `backward()`, the bias of a layer."""
    value = model.value(source)
    return isinstance(source, cst.Attribute) or value.role == Role.GRADIENT or value.kind != Kind.TENSOR


def _around(node: cst.CSTNode, model: Model) -> Iterator[cst.CSTNode]:
    """The compound statements of the same function in whose body something stands, from the inside."""
    child = node
    for up in model.tree.ancestors(node):
        if isinstance(up, (cst.FunctionDef, cst.Lambda)):
            return
        if child is getattr(up, "body", None):
            yield up
        child = up


def _catches(statement: cst.CSTNode, model: Model) -> bool:
    match statement:
        case cst.With():
            return _is_quiet(statement, model)
        case cst.Try(handlers=handlers) | cst.TryStar(handlers=handlers):
            return any(_catches_all(each, model) or _names(each, _ERROR, model) for each in handlers)
    return False


def _catches_all(handler: cst.ExceptHandler | cst.ExceptStarHandler, model: Model) -> bool:
    return handler.type is None or model.qualified(handler.type) in ("builtins.Exception", "builtins.BaseException")


def _is_quiet(block: cst.With, model: Model) -> bool:
    """Whether a block is left where something has no attribute: ``with contextlib.suppress(AttributeError):``."""
    return any(_suppresses(item.item, error, model) for item in block.items for error in (_ERROR, "Exception"))


def _run_where_caught(model: Model) -> frozenset[str]:
    """The names of functions that are called, by way of others too, where a handler of the file names the error."""
    tries: list[cst.Try | cst.TryStar] = [*model.tree.all(cst.Try), *model.tree.all(cst.TryStar)]
    bodies: list[cst.CSTNode] = [
        each.body for each in tries if any(_names(handler, _ERROR, model) for handler in each.handlers)
    ]
    bodies += [block.body for block in model.tree.all(cst.With) if _is_quiet(block, model)]
    bodies += [call for body in bodies for call in _calls_giving_functions(body, model)]
    functions: dict[str, list[cst.FunctionDef]] = {}
    for function in model.tree.all(cst.FunctionDef) if bodies else ():
        functions.setdefault(function.name.value, []).append(function)
    found = set[str]()
    while bodies:
        names = {name.value for name in model.tree.within(bodies.pop(), cst.Name)} & functions.keys() - found
        found |= names
        bodies += [function.body for name in names for function in functions[name]]
    return frozenset(found)


def _calls_giving_functions(body: cst.CSTNode, model: Model) -> Iterator[cst.CSTNode]:
    """The calls of a function with what it calls by the name of a parameter: ``def quietly(f): try: f() ...``."""
    function = model.tree.enclosing(body, cst.FunctionDef)
    if not isinstance(function, cst.FunctionDef):
        return
    given = {param.name.value for param in parameters(function)}
    if any(isinstance(call.func, cst.Name) and call.func.value in given for call in model.tree.within(body, cst.Call)):
        parents = map(model.tree.parent, model.all_called(function.name.value))
        yield from (each for each in parents if isinstance(each, cst.Call))
