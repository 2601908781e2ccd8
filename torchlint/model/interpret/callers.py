"""What the callers in the same file say of a function's parameters, where nothing else is known of them.

It is evidence, no proof: others may call it differently. So it is only asked for when the value of an expression is not
known without it, and it never becomes part of what a function returns.
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING

import libcst as cst

from torchlint.model.classes import class_of
from torchlint.model.functions import bind
from torchlint.model.interpret import interpreter
from torchlint.model.interpret.environment import Env
from torchlint.model.interpreted import seen
from torchlint.model.modes import start_grad
from torchlint.model.module_uses import calls_of_modules
from torchlint.model.parameters import start_of
from torchlint.model.possibilities import Dtype, Kind, Ndim, Tri
from torchlint.model.running import may_run
from torchlint.model.standing import stands
from torchlint.model.syntax import decorator_names, dotted, parameters
from torchlint.model.values import UNKNOWN, Argument, Evidence, Strength, Value, join
from torchlint.system.records import replace

if TYPE_CHECKING:
    from torchlint.model.context import Context

_FAR = 3
"""How many callers of callers to ask."""


class Callers:
    """Interprets functions of one file once more with what their callers give them."""

    def __init__(self, context: Context) -> None:
        self.context = context
        self.tree = context.tree
        self._values: dict[tuple[int, int], dict[int, Value]] = {}
        self._objects: dict[tuple[int, int], Env] = {}
        """By class and how far it was asked, what is known of the attributes of its objects."""
        self._references: dict[str, dict[int, list[cst.CSTNode]]] = {}
        """By name, all that refers to each function or class of that name."""

    def value(self, node: cst.CSTNode, function: cst.FunctionDef, far: int = _FAR) -> Value | None:
        """What an expression in a function is if its callers are believed; None if they say nothing of it."""
        key = (id(function), far)
        if key not in self._values:
            self._values[key] = {}  # what a function says of itself does not count
            self._values[key] = self._interpreted(function, far)
        return self._values[key].get(id(node))

    def _interpreted(self, function: cst.FunctionDef, far: int) -> dict[int, Value]:
        given, believed = self._given(function, far), self._attributes(function, far)
        if not given and not believed:
            return {}
        frame = interpreter.new_frame(self.context, function)
        frame.believed = believed
        start = start_of(self.context, function, frame)
        known = {name: value for name, value in given.items() if start[name].kind & Kind.UNKNOWN}
        if (known or believed) and self.context.budget.allows():
            interpreter.run(frame, start | known, start_grad(self.context, function))
        return frame.values

    def _attributes(self, method: cst.FunctionDef, far: int) -> Env:
        """The attributes of the object a method belongs to, by path, where callers of the constructor give them."""
        cls = class_of(self.context, method)
        constructor = self.context.scopes.info(cls).methods.get("__init__") if cls is not None else None
        if cls is None or constructor is None or constructor is method or not method.params.params:
            return {}
        if not self._untold(constructor):
            return {}
        owner = method.params.params[0].name.value
        if (id(cls), far) not in self._objects:
            self._objects[id(cls), far] = self._stored(cls, constructor, far)
        return {f"{owner}.{name}": value for name, value in self._objects[id(cls), far].items()}

    def _stored(self, cls: cst.ClassDef, constructor: cst.FunctionDef, far: int) -> Env:
        """What attributes of a class are, of which it does not say so itself, if its callers are believed."""
        found: Env = {}
        for assigned in self.tree.within(constructor.body, cst.AssignTarget):
            target = assigned.target
            if isinstance(target, cst.Attribute) and dotted(target) == f"self.{target.attr.value}":
                value = self._once_stored(cls, target, constructor, far)
                if value is not None:
                    found[target.attr.value] = value
        return found

    def _once_stored(
        self, cls: cst.ClassDef, target: cst.Attribute, constructor: cst.FunctionDef, far: int
    ) -> Value | None:
        """What an attribute is that nothing but one assignment of the constructor sets; None if that is not known."""
        scopes, name = self.context.scopes, target.attr.value
        if len(scopes.attribute(cls, name).assigned) != 1 or scopes.is_set_outside(cls, name):
            return None
        if not seen(self.context, target).kind & Kind.UNKNOWN:
            return None
        value = self.value(target, constructor, far)
        if value is None or value.kind not in (Kind.TENSOR, Kind.MODULE):
            return None
        if value.kind == Kind.MODULE or value.evidence is None:
            return value
        weaker = replace(value.evidence, strength=Strength.NAME)  # subclasses and other files may give something else
        return replace(value, kind=Kind.TENSOR | Kind.UNKNOWN, evidence=weaker)

    def _given(self, function: cst.FunctionDef, far: int) -> dict[str, Value]:
        """The values of parameters, as far as all callers give one."""
        untold = self._untold(function)
        calls = self._calls(function) if untold else []
        if not calls:
            return {}
        bound = [bind(self.context, function, None, self._arguments(call, far)) for call in calls]
        given: dict[str, Value] = {}
        for param in untold:
            name = param.name.value
            default = UNKNOWN if param.default is None else seen(self.context, param.default)
            values = [each.get(name, default) for each in bound]
            if any(value.kind & Kind.UNKNOWN for value in values):
                continue
            given[name] = _believed(functools.reduce(join, values), _called(self.context, function), calls[0])
        return given

    def _untold(self, function: cst.FunctionDef) -> list[cst.Param]:
        """The parameters that callers may say something of. Without one, no caller has to be interpreted."""
        is_bound = class_of(self.context, function) is not None and "staticmethod" not in decorator_names(function)
        return [each for each in parameters(function)[is_bound:] if not each.star and each.annotation is None]

    def _calls(self, function: cst.FunctionDef) -> list[cst.Call]:
        """All calls of a function in this file; none if it is also used in other ways."""
        cls, name = class_of(self.context, function), _called(self.context, function)
        wanted = cls if cls is not None and function.name.value == "__init__" else function
        if cls is not None and name == "forward":
            return calls_of_modules(self.context, cls)
        if name.startswith("__") or not stands(self.context, wanted):
            return []
        calls = []
        if name not in self._references:
            self._references[name] = self._referring(name)
        for node in self._references[name].get(id(wanted), ()):
            call = self.tree.parent(node)
            if isinstance(call, cst.Call) and call.func is node:
                calls += [call] if may_run(self.context, call) else []
            elif wanted is function:
                return []
        return calls

    def _referring(self, name: str) -> dict[int, list[cst.CSTNode]]:
        found: dict[int, list[cst.CSTNode]] = {}
        for node in self.context.scopes.calls(name):
            found.setdefault(id(seen(self.context, node).node), []).append(node)
        return found

    def _arguments(self, call: cst.Call, far: int) -> list[Argument]:
        scope = self.context.scopes.scope_of(call)
        arguments = []
        for arg in call.args:
            value = seen(self.context, arg.value)
            if value.kind & Kind.UNKNOWN and far and isinstance(scope, cst.FunctionDef):
                value = self.value(arg.value, scope, far - 1) or value
            arguments.append(Argument(arg.keyword.value if arg.keyword else None, value, arg.value, arg.star))
        return arguments


def _called(context: Context, function: cst.FunctionDef) -> str:
    """By which name a function is called: a constructor by that of its class."""
    cls = class_of(context, function)
    return cls.name.value if cls is not None and function.name.value == "__init__" else function.name.value


def _believed(value: Value, name: str, call: cst.Call) -> Value:
    """A value as it is believed on a caller's word: what it is, but not that it never requires grad."""
    if value.items is not None:
        value = replace(value, items=tuple(_believed(item, name, call) for item in value.items))
    if value.item is not None:
        value = replace(value, item=_believed(value.item, name, call))
    if not value.kind & Kind.TENSOR:
        return replace(value, symbols=())
    evidence = Evidence(Strength.USE, f"`{name}(...)` is given a tensor", call)
    return replace(
        value,
        grad=value.grad | Tri.MAYBE if value.grad != Tri.YES else Tri.YES,
        ndim=Ndim.ANY,
        dtype=Dtype.ANY,
        leaf=Tri.MAYBE,
        evidence=evidence,
        symbols=(),
    )
