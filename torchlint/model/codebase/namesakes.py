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


def is_shared(evidence: Evidence, model: Model) -> bool:
    """Whether all that makes a value a tensor is a method that a class has that is defined or imported here."""
    return next(_having(model.context, evidence), None) is not None


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
    node = evidence.node.func if isinstance(evidence.node, cst.Call) else evidence.node
    if evidence.strength > Strength.USE or not isinstance(node, cst.Attribute):
        return
    name = node.attr.value
    if re.search(rf"`\.{name}[`(]", evidence.text) is None:
        return
    for cls in context.remember(_by_method).get(name, ()):
        method = context.home(cls).scopes.info(cls).methods[name]
        if not isinstance(evidence.node, cst.Call) or _takes(method, evidence.node):
            yield cls


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
    scopes = context.home(cls).scopes
    info = scopes.info(cls)
    return "data" in {*info.methods, *info.declared, *info.assigned} or bool(scopes.attribute(cls, "data").assigned)
