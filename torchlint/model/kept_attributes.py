"""What an object keeps whose constructor is given something: networks, and what requires grad."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

import libcst as cst

from torchlint.model import trainable
from torchlint.model.calls_elsewhere import asking
from torchlint.model.certainty import Certainty
from torchlint.model.chosen_by_call import Handed, decided
from torchlint.model.classes import class_of
from torchlint.model.constructors import calls_of_bases, constructor_of, is_frozen_by_any, kept_by, kept_names
from torchlint.model.expressions import value_of
from torchlint.model.handed_networks import is_trained_network
from torchlint.model.interpret.summary import Trace
from torchlint.model.possibilities import Dtype, Kind, Tri
from torchlint.model.syntax import dotted, last_name, parameters
from torchlint.model.values import Value, held

if TYPE_CHECKING:
    from torchlint.model.context import Context

_FAR = 3
"""How many constructors that call each other to follow."""


class _Constructed(NamedTuple):
    """One call of a constructor."""

    context: Context
    constructor: cst.FunctionDef
    handed: dict[str, Handed]
    trace: Trace


def kept_of(
    context: Context, constructor: cst.FunctionDef, handed: dict[str, Handed], paths: dict[str, Value], far: int = _FAR
) -> dict[str, Value]:
    """What an object keeps whose constructor is given this, by the names of its attributes and of theirs.

    Those of bases count whose constructors this one calls, and those of objects that it makes itself.
    """
    with asking(context):
        run = _Constructed(context, constructor, handed, run_with(context, constructor, handed, paths))
    cls = class_of(context, constructor)
    found: dict[str, Value] = {}
    for each in calls_of_bases(context, constructor) if far else ():
        found |= _kept_by_call(run, each.constructor, each.call, far - 1)
    for name, target in context.remember(kept_by, constructor):
        value = run.trace.value(target)
        if cls is None or not _is_telling(context, value) or is_frozen_by_any(context, cls, target):
            continue
        found[name] = value
        written = _written(context, target)
        given = f"{dotted(written) if written is not None else None}."
        known = {path.removeprefix(given): each for path, each in paths.items() if path.startswith(given)}
        if far and isinstance(written, cst.Call) and isinstance(value.node, cst.ClassDef):
            known |= _kept_by_part(run, value.node, written, far - 1)
        found.update({f"{name}.{rest}": each for rest, each in known.items()})
    return found


def run_with(context: Context, function: cst.FunctionDef, handed: dict[str, Handed], paths: dict[str, Value]) -> Trace:
    """What is seen in a function that is called so, with what is known to be under some paths there."""
    given = {name: each.value for name, each in handed.items()}
    return context.interpreter.called_with(context, function, given, paths, decided(context, function, handed))


def add_defaults(context: Context, function: cst.FunctionDef, handed: dict[str, Handed]) -> None:
    """Add what a call leaves out."""
    for param in parameters(function):
        if param.name.value not in handed and param.default is not None:
            handed[param.name.value] = Handed(value_of(context, param.default), param.default)


def is_refused(value: Value) -> bool:
    """Whether a value is a tensor that NumPy refuses."""
    is_proved = value.grad == Tri.YES and value.certainty > Certainty.SUPPOSED
    return value.kind == Kind.TENSOR and is_proved and bool(value.dtype & Dtype.FLOAT)


def is_list_of_refused(value: Value) -> bool:
    """Whether a value is a list of such tensors."""
    if value.kind == Kind.CONTAINER and value.items is not None:
        return any(map(is_refused, value.items))
    element = held(value) if value.kind == Kind.CONTAINER and not value.is_mapping else None
    return element is not None and is_refused(element)


def _is_telling(context: Context, value: Value) -> bool:
    """Whether something that an object keeps requires grad, is a network to be trained, or may hold one of these."""
    if value.kind == Kind.OBJECT:
        return isinstance(value.node, cst.ClassDef) and not trainable.freezes(context.home(value.node), value.node)
    if value.kind == Kind.CONTAINER and (element := held(value)) is not None and is_trained_network(context, element):
        return True
    return is_refused(value) or is_list_of_refused(value) or is_trained_network(context, value)


def _kept_by_part(run: _Constructed, cls: cst.ClassDef, call: cst.Call, far: int) -> dict[str, Value]:
    """What an object keeps that a constructor makes by a call: ``self.agent = Agent(net)``."""
    home = run.context.home(cls)
    constructor = constructor_of(home, cls)
    if constructor is None or constructor is run.constructor:
        return {}
    names = run.context.remember(kept_names, cls)
    own = _kept_by_call(run, constructor, call, far) if names else {}
    return {path: each for path, each in own.items() if path.partition(".")[0] in names}


def _kept_by_call(run: _Constructed, constructor: cst.FunctionDef, call: cst.Call, far: int) -> dict[str, Value]:
    """What a constructor keeps that another one calls, with what this is given itself."""
    home = run.context.home(constructor)
    arguments = list(_arguments(run, call))
    plain = [param.name.value for param in parameters(constructor)[1:] if not param.star]
    given: dict[str, Handed] = {}
    for index, (keyword, handed) in enumerate(arguments):
        name = keyword if keyword is not None else plain[index] if index < len(plain) else None
        if handed is None or name is None:
            return {}
        given[name] = handed
    given = {name: each for name, each in given.items() if name in plain}
    add_defaults(home, constructor, given)
    return kept_of(home, constructor, given, {}, far)


def _arguments(run: _Constructed, call: cst.Call) -> Iterator[tuple[str | None, Handed | None]]:
    """What a call in a constructor hands over, without the object itself; None of what is not known.

    What the constructor has collected is handed on one by one: ``super().__init__(*args, **kwargs)``.
    """
    names_object = isinstance(call.func, cst.Attribute) and not isinstance(call.func.value, cst.Call)
    names_object = names_object and last_name(call.func) == "__init__"  # Base.__init__(self, net)
    for arg in call.args[1:] if names_object else call.args:
        given = run.handed.get(arg.value.value) if isinstance(arg.value, cst.Name) else None
        if not arg.star:
            keyword = arg.keyword.value if arg.keyword is not None else None
            yield keyword, Handed(run.trace.value(arg.value), given.node if given is not None else arg.value)
        elif given is None:
            yield from () if _collects(run.constructor, arg.value) else ((None, None),)
        elif given.value.keys is not None:
            yield from ((str(key), Handed(value, None)) for key, value in given.value.keys.known.items())
        else:
            yield from ((None, Handed(value, None)) for value in given.value.items or ())


def _collects(constructor: cst.FunctionDef, node: cst.BaseExpression) -> bool:
    """Whether a name stands for what a constructor was given beside its other arguments, here nothing."""
    return any(isinstance(node, cst.Name) and p.star and p.name.value == node.value for p in parameters(constructor))


def _written(context: Context, target: cst.Attribute) -> cst.CSTNode | None:
    """What an attribute is assigned."""
    assign = context.tree.enclosing(target, cst.Assign)
    return assign.value if isinstance(assign, cst.Assign) else None
