"""Which methods of its own object a method calls."""

from __future__ import annotations

import libcst as cst

from torchlint.model import Model


def called_by(cls: cst.ClassDef, method: str, model: Model) -> frozenset[str]:
    """The methods that a method of a class calls on its object, and those that these call."""
    return model.remember(_called_by, cls, method)


def _called_by(model: Model, cls: cst.ClassDef, first: str) -> frozenset[str]:
    found: set[str] = set()
    waiting = [first]
    while waiting:
        method = model.find_method(cls, waiting.pop())
        if method is None:
            continue
        for call in model.home(method).tree.within(method.body, cst.Call):
            match call.func:
                case cst.Attribute(value=cst.Name("self"), attr=cst.Name(value=name)) if name not in found:
                    found.add(name)
                    waiting.append(name)
    return frozenset(found)
