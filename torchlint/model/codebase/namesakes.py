"""Methods of the project's own classes that are called like a tensor's: what has them need not be a tensor."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from typing import TYPE_CHECKING

import libcst as cst

from torchlint.model.definitions import imported_classes
from torchlint.model.syntax import decorator_names, parameters
from torchlint.model.values import Evidence, Strength

if TYPE_CHECKING:
    from torchlint.model.context import Context
    from torchlint.model.facade import Model

_FILES = 8
"""How many other files with a method are looked at."""


def is_shared(evidence: Evidence, model: Model) -> bool:
    """Whether all that makes a value a tensor is a method that a class has that is defined or imported here.

    Or one that an object of another file has, which holds a tensor in its `data`: it can be handed over here.
    """
    context = model.context
    return next(_having(context, evidence), None) is not None or _is_of_holder_elsewhere(context, evidence)


def is_of_holder(context: Context, evidence: Evidence) -> bool:
    """Whether it is a method of a class that has an attribute `data` as well: an object of that is meant."""
    return any(_holds_data(context, cls) for cls in _having(context, evidence))


def has_own(context: Context, method: str) -> bool:
    """Whether a class that is defined or imported here has a method of that name."""
    return method in context.remember(_by_method)


def classes_here(context: Context) -> Iterator[cst.ClassDef]:
    """The classes that are defined in a file or imported into it."""
    yield from context.scopes.all_classes()
    yield from imported_classes(context)


def _having(context: Context, evidence: Evidence) -> Iterator[cst.ClassDef]:
    """The classes with the method that is all that makes a value a tensor."""
    name = _shown_by(evidence)
    for cls in context.remember(_by_method).get(name, ()) if name else ():
        if _may_be_called(context.home(cls).scopes.info(cls).methods[name], evidence):
            yield cls


def _is_of_holder_elsewhere(context: Context, evidence: Evidence) -> bool:
    name = _shown_by(evidence)
    methods = context.remember(_methods_of_holders_elsewhere, name) if name else []
    return any(_may_be_called(each, evidence) for each in methods)


def _methods_of_holders_elsewhere(context: Context, name: str) -> list[cst.FunctionDef]:
    """The methods of that name that classes of other files have whose objects have a `data` as well."""
    paths = context.codebase.matching(context, re.compile(rf"\bdef {name}\(".encode()))
    others = (context.codebase.whole(path, context) for path in paths[:_FILES])
    return [
        other.scopes.info(cls).methods[name]
        for other in filter(None, others)
        for cls in other.scopes.all_classes()
        if name in other.scopes.info(cls).methods and _holds_data(other, cls)
    ]


def _shown_by(evidence: Evidence) -> str:
    """The method that is all that makes a value a tensor; empty if there is more."""
    node = evidence.node.func if isinstance(evidence.node, cst.Call) else evidence.node
    if evidence.strength > Strength.USE or not isinstance(node, cst.Attribute):
        return ""
    name = node.attr.value
    return name if re.search(rf"`\.{name}[`(]", evidence.text) else ""


def _may_be_called(method: cst.FunctionDef, evidence: Evidence) -> bool:
    return not isinstance(evidence.node, cst.Call) or _takes(method, evidence.node)


def _by_method(context: Context) -> dict[str, list[cst.ClassDef]]:
    found: dict[str, list[cst.ClassDef]] = defaultdict(list)
    for cls in classes_here(context):
        for name in context.home(cls).scopes.info(cls).methods:
            found[name].append(cls)
    return dict(found)


def _takes(method: cst.FunctionDef, call: cst.Call) -> bool:
    """Whether a method can be called with as many arguments: ``def size(self)`` is no ``x.size(0)``."""
    params = method.params
    if isinstance(params.star_arg, cst.Param) or params.star_kwarg is not None:
        return True
    given = len(call.args) + ("staticmethod" not in decorator_names(method))
    return given <= len(parameters(method))


def _holds_data(context: Context, cls: cst.ClassDef) -> bool:
    """Whether the objects of a class of a file, or of one that it imports, have an attribute `data`."""
    scopes = context.home(cls).scopes
    info = scopes.info(cls)
    return "data" in {*info.methods, *info.declared, *info.assigned} or bool(scopes.attribute(cls, "data").assigned)
