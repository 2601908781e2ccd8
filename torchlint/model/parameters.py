"""What the parameters of a function are before it is called: annotations, comments, conventions."""

from __future__ import annotations

from typing import TYPE_CHECKING

import libcst as cst

from torchlint.model.annotations import annotation, annotation_text, comments_of, construct
from torchlint.model.applied import applied_to_modules
from torchlint.model.classes import class_kind, class_of
from torchlint.model.hooks import given_to_hook, is_differentiated
from torchlint.model.interpret import loaders
from torchlint.model.interpret.environment import Env
from torchlint.model.possibilities import Kind, Tri
from torchlint.model.symbols import Origin, Symbol
from torchlint.model.syntax import decorator_names, parameters
from torchlint.model.values import NONE, NUMBER, Evidence, Strength, Value, container, join, tensor, unknown
from torchlint.system.records import replace

if TYPE_CHECKING:
    from torchlint.model.context import Context
    from torchlint.model.interpret.frame import Frame


def start_of(context: Context, function: cst.FunctionDef, frame: Frame, of: cst.ClassDef | None = None) -> Env:
    """What the parameters of a function are; ``of``: the class whose objects an inherited method is called on."""
    cls = class_of(context, function)
    decorators = decorator_names(function)
    env: Env = {}
    params = parameters(function)
    for index, param in enumerate(params):
        name = param.name.value
        if index == 0 and cls is not None and "staticmethod" not in decorators:
            me = self_value(context, of or cls, "classmethod" in decorators)
            env[name] = replace(me, symbols=(Symbol(Origin.PARAMETER, id(function), name),))
        elif param.star in ("*", "**"):
            given = container(_annotated(context, param, frame))
            env[name] = replace(given, symbols=(Symbol(Origin.PARAMETER, id(function), name),))
        else:
            env[name] = _param(context, function, cls, param, frame)
    return env


def _annotated(context: Context, param: cst.Param, frame: Frame) -> Value | None:
    if param.annotation is not None:
        return annotation(context, param.annotation.annotation, frame)
    text = comments_of(context, frame.scope).get(param.name.value)
    return annotation_text(context, text, frame) if text is not None else None


def _param(
    context: Context, function: cst.FunctionDef, cls: cst.ClassDef | None, param: cst.Param, frame: Frame
) -> Value:
    name = param.name.value
    symbol = Symbol(Origin.PARAMETER, id(function), name)
    value = _annotated(context, param, frame)
    if value is not None:
        value = replace(value, symbols=(symbol,))
        if isinstance(param.default, cst.Name) and param.default.value == "None":
            return join(value, NONE)
        return value
    if cls is not None and (given := _given_by_torch(context, function, cls, param)) is not None:
        return replace(given, symbols=(symbol,))
    convention = _convention(context, function, cls, param)
    if convention is None:
        convention = given_to_hook(context, function, name, is_method=cls is not None)
    if convention is not None:
        return replace(convention, kind=convention.kind | Kind.UNKNOWN, symbols=(symbol,))
    if applied_to_modules(context, function):
        evidence = Evidence(Strength.CONVENTION, f"`{function.name.value}` is given to `apply()`", function)
        return Value(Kind.MODULE, evidence=evidence)
    return unknown(symbol)


def _given_by_torch(context: Context, function: cst.FunctionDef, cls: cst.ClassDef, param: cst.Param) -> Value | None:
    """What a data loader gives to a data set, and Lightning to its hooks."""
    name = param.name.value
    match function.name.value:
        case "__getitem__" if class_kind(context, cls) == "dataset":
            return NUMBER
        case "training_step" | "validation_step" | "test_step" | "predict_step" if name == "batch":
            return loaders.BATCH if class_kind(context, cls) == "module" else None
    return None


def _convention(
    context: Context, function: cst.FunctionDef, cls: cst.ClassDef | None, param: cst.Param
) -> Value | None:
    name = param.name.value
    if cls is None or _is_plain(param.default):
        return None
    kind = class_kind(context, cls)
    if kind == "module" and function.name.value == "forward" and name not in ("kwargs", "args", "mode"):
        evidence = Evidence(Strength.CONVENTION, f"`{name}` is an argument of `forward`", function)
        return tensor(evidence=evidence)
    if kind == "function" and function.name.value in ("forward", "backward") and name != "ctx":
        evidence = Evidence(Strength.CONVENTION, f"`{name}` is an argument of an autograd function", function)
        is_recorded = function.name.value == "backward" and is_differentiated(context, function)
        return tensor(Tri.MAYBE if is_recorded else Tri.NO, evidence=evidence)
    return None


def _is_plain(default: cst.BaseExpression | None) -> bool:
    """Whether the default of a parameter is a number or a truth value, as it is of what is no tensor."""
    if isinstance(default, cst.Name):
        return default.value in ("True", "False")
    return isinstance(default, (cst.Float, cst.Integer))


def self_value(context: Context, cls: cst.ClassDef, is_class: bool = False) -> Value:
    """``self`` in the methods of a class (``cls`` in its class methods)."""
    if is_class:
        return Value(Kind.FUNCTION, node=cls)
    return construct(context, cls)
