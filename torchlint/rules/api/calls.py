"""Calls of what the table knows: what is called, and the arguments by the names of the parameters."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import libcst as cst

from torchlint.model import Model
from torchlint.model.syntax import last_name, root
from torchlint.rule import Fix
from torchlint.rules.api import guards, methods, names, namespaces, patches
from torchlint.rules.api.table import Row


def candidates(
    model: Model,
    rows: Mapping[str, Sequence[Row]],
    is_left_alone: Callable[[cst.CSTNode, Model], bool] = guards.is_guarded,
) -> Iterator[tuple[cst.Call, cst.BaseExpression, Sequence[cst.Arg]]]:
    """Calls of what may be one of these functions, by its name or by a name that was given to it."""
    wanted = names.imports(model).aliases.union(rows) | names.of_last_names(rows, model)
    for call in model.tree.all(cst.Call):
        func: cst.BaseExpression = call.func
        args: Sequence[cst.Arg] = call.args
        if last_name(func) == "partial":
            func, args = arguments_before(call, model)
        if last_name(func) in wanted and not is_left_alone(call, model):
            yield call, func, args


def arguments_before(call: cst.Call, model: Model) -> tuple[cst.BaseExpression, Sequence[cst.Arg]]:
    """What a call calls, with which arguments: of ``partial(f, x)`` this is ``f``, with ``x``."""
    if call.args and last_name(call.func) == "partial" and not call.args[0].star and call.args[0].keyword is None:
        if model.qualified(call.func) == "functools.partial":
            return call.args[0].value, call.args[1:]
    return call.func, call.args


def callee(func: cst.BaseExpression, rows: Sequence[Row], model: Model) -> Row | None:
    """The first of some rows that is about what is called: a function, a class, or a method of an object of torch.

    None where the file puts something of its own in its place.
    """
    row = _called(func, rows, model)
    return row if row is not None and not patches.is_replaced(row.name, model) else None


def judged(fix: Fix | None, call: cst.Call, row: Row, model: Model) -> Fix | None:
    """A fix of a call: unsafe where what is called may be something that the project puts in torch's place."""
    if fix is None:
        return None
    func, _ = arguments_before(call, model)
    return namespaces.judged(fix, root(func), (row.name,), model)


def _called(func: cst.BaseExpression, rows: Sequence[Row], model: Model) -> Row | None:
    by_name = {row.name: row for row in rows}
    if isinstance(func, (cst.Name, cst.Attribute)):
        found = names.resolve(func, model)
        for name in dict.fromkeys(found or ()):
            if name in by_name:
                return by_name[name]
        if found is not None:
            return None
        ref = model.qualified(func) if isinstance(func, cst.Name) or root(func) == "self" else None
        if ref is not None:  # `f = nn.MSELoss`, `self.loss = nn.MSELoss`
            return by_name.get(ref)
    if isinstance(func, cst.Attribute):
        return methods.row_of(func, rows, model)
    return None


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter in the column ``signature``."""

    name: str
    default: str | None


def parameters(signature: str) -> list[Parameter]:
    """The parameters of a signature: ``input, upper=True``."""
    found = []
    for part in filter(None, map(str.strip, signature.split(","))):
        name, _, default = part.partition("=")
        found.append(Parameter(name, default or None))
    return found


def bind(args: Sequence[cst.Arg], given: Sequence[Parameter]) -> dict[str, cst.BaseExpression] | None:
    """The arguments by the names of the parameters; None if they cannot be told, or do not fit."""
    bound: dict[str, cst.BaseExpression] = {}
    names = [parameter.name for parameter in given]
    for index, arg in enumerate(args):
        if arg.star:
            return None
        name = arg.keyword.value if arg.keyword is not None else names[index] if index < len(names) else None
        if name is None or name not in names or name in bound:
            return None
        bound[name] = arg.value
    required = [parameter.name for parameter in given if parameter.default is None]
    return bound if all(name in bound for name in required) else None
