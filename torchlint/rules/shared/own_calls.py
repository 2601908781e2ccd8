"""Which methods of its own object a method calls, and which properties it reads."""

from __future__ import annotations

import libcst as cst

from torchlint.model import Model
from torchlint.model.syntax import call_of, decorator_names


def called_by(cls: cst.ClassDef, method: str, model: Model) -> frozenset[str]:
    """The methods and properties that a method of a class calls or reads on its object, and those that these do."""
    return model.remember(_called_by, cls, method)


def _called_by(model: Model, cls: cst.ClassDef, first: str) -> frozenset[str]:
    found: set[str] = set()
    waiting = [first]
    while waiting:
        method = model.find_method(cls, waiting.pop())
        if method is None:
            continue
        tree = model.home(method).tree
        for use in tree.within(method.body, cst.Attribute):
            match use:
                case cst.Attribute(value=cst.Name("self"), attr=cst.Name(value=name)) if name not in found:
                    if call_of(use, tree) is not None or _is_property(cls, name, model):
                        found.add(name)
                        waiting.append(name)
    return frozenset(found)


def _is_property(cls: cst.ClassDef, name: str, model: Model) -> bool:
    method = model.find_method(cls, name)
    return method is not None and "property" in decorator_names(method)
