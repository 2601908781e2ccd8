"""Which parameter of a function of the project an argument is for."""

from __future__ import annotations

import libcst as cst

from torchlint.model import Model
from torchlint.model.syntax import decorator_names, positional_parameters


def parameter_of(call: cst.Call, arg: cst.Arg, model: Model) -> tuple[cst.FunctionDef, str] | None:
    """The function of the project that an argument is given to, and what it is called there."""
    called = model.value(call.func).node
    function = model.find_method(called, "__init__") if isinstance(called, cst.ClassDef) else called
    if not isinstance(function, cst.FunctionDef) or arg.star:
        return None
    if arg.keyword is not None:
        return function, arg.keyword.value
    names = [each.name.value for each in positional_parameters(function)]
    if isinstance(called, cst.ClassDef) or (isinstance(call.func, cst.Attribute) and _is_bound(function, model)):
        names = names[1:]
    at = call.args.index(arg)
    if at >= len(names) or any(each.star for each in call.args[:at]):
        return None
    return function, names[at]


def _is_bound(function: cst.FunctionDef, model: Model) -> bool:
    """Whether a function has its object as the first argument already."""
    return model.home(function).class_of(function) is not None and "staticmethod" not in decorator_names(function)
