"""What registries give: ``MODELS.get(name)`` one of what is in them, ``MODELS.build(cfg)`` what that makes."""

from __future__ import annotations

import libcst as cst

from torchlint.model import chosen
from torchlint.model.interpret.frame import Frame
from torchlint.model.possibilities import Kind
from torchlint.model.syntax import last_name
from torchlint.model.values import UNKNOWN, Argument, Value

GIVEN = (Argument(None, UNKNOWN, cst.Name("_"), "**"),)
"""What a registry makes something with: all that is in the configuration."""
_GIVING = frozenset(("get", "build", "create", "make"))
_BUILDERS = frozenset(("build_from_cfg",))
"""Functions that are given a registry behind the configuration."""


def is_building(node: cst.Call) -> bool:
    """Whether what is called makes something of what is in the registry, and does not only give it."""
    return last_name(node.func) != "get"


def chosen_by(frame: Frame, node: cst.Call, value: Value) -> Value | None:
    """What a registry may choose in a call of which nothing is known yet."""
    if value.kind & ~(Kind.UNKNOWN | Kind.OBJECT | Kind.NONE) or not node.args:
        return None
    if (registry := _registry(node)) is None:
        return None
    return chosen.of_table(frame.context, frame.values.get(id(registry), UNKNOWN), registry)


def _registry(node: cst.Call) -> cst.BaseExpression | None:
    """What is asked as a registry would be. (Each call is looked at, so this asks nothing that is slow.)"""
    func, args = node.func, node.args
    if type(func) is cst.Attribute and func.attr.value in _GIVING:
        return func.value
    if len(args) > 1 and not args[1].star and last_name(func) in _BUILDERS:
        return args[1].value
    return None
