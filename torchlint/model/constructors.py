"""What the constructors of a class keep of what they are given, those of its bases included.

``class Trainer(Base)``: an object of it keeps what ``Base.__init__`` does, whether ``Trainer`` has a constructor that
calls that one or none. What they hold is asked of a call (:mod:`torchlint.model.kept_attributes`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator
from typing import TYPE_CHECKING, NamedTuple

import libcst as cst

from torchlint.model.classes import class_of, find_method
from torchlint.model.expressions import value_of
from torchlint.model.freezing import is_frozen
from torchlint.model.lineage import lineage_of
from torchlint.model.overriding import heirs
from torchlint.model.syntax import dotted, is_none, last_name

if TYPE_CHECKING:
    from torchlint.model.context import Context

_MOST = 16
"""Where more classes than these derive from one, only objects of its own are looked at."""
_MOVING = frozenset(("cpu", "cuda", "double", "eval", "float", "half", "to", "train"))
"""Methods of networks that give the network itself."""


class KeptAttribute(NamedTuple):
    """What a constructor keeps under a name, and where it is assigned."""

    name: str
    target: cst.Attribute


class BaseCall(NamedTuple):
    """The constructor of a base that another one calls, and with what: ``super().__init__(model)``."""

    constructor: cst.FunctionDef
    call: cst.Call


def constructor_of(context: Context, cls: cst.ClassDef) -> cst.FunctionDef | None:
    """The constructor that a call of a class runs, its own or one that it inherits."""
    return find_method(context, cls, "__init__")


def kept_by(context: Context, constructor: cst.FunctionDef) -> list[KeptAttribute]:
    """The attributes that a constructor itself sets."""
    found = []
    for assigned in context.tree.within(constructor.body, cst.AssignTarget):
        target = assigned.target
        if isinstance(target, cst.Attribute) and dotted(target) == f"self.{target.attr.value}":
            found.append(KeptAttribute(target.attr.value, target))
    return found


def calls_of_bases(context: Context, constructor: cst.FunctionDef) -> Iterator[BaseCall]:
    """The constructors of bases that a constructor calls whatever it is given."""
    block = constructor.body
    for line in block.body if isinstance(block, cst.IndentedBlock) else ():
        match line:
            case cst.SimpleStatementLine(
                body=[cst.Expr(value=cst.Call(func=cst.Attribute(attr=cst.Name("__init__"))) as call)]
            ):
                function = value_of(context, call.func).node
                if isinstance(function, cst.FunctionDef) and function is not constructor:
                    yield BaseCall(function, call)


def kept_names(context: Context, cls: cst.ClassDef) -> frozenset[str]:
    """The attributes that one constructor sets, of a class or of its bases, and nothing else does."""
    lineage = list(lineage_of(context, cls).classes())
    assigned: Counter[str] = Counter()
    kept: set[str] = set()
    for home, each in lineage:
        constructor = home.scopes.info(each).methods.get("__init__")
        for name, _ in home.remember(kept_by, constructor) if constructor is not None else ():
            kept.add(name)
    for home, each in lineage:
        assigned.update({name: home.remember(_times_set, each, name) for name in kept})
    return frozenset(
        name
        for name in kept
        if assigned[name] == 1 and not any(home.scopes.is_set_outside(each, name) for home, each in lineage)
    )


def _times_set(context: Context, cls: cst.ClassDef, name: str) -> int:
    """How often a class gives an attribute something else than what it has: ``self.net = self.net.eval()``."""
    count = 0
    for target in context.scopes.attribute(cls, name).assigned:
        assign = context.tree.enclosing(target, cst.Assign, cst.FunctionDef)
        count += not (isinstance(assign, cst.Assign) and (is_none(assign.value) or _is_moved(assign.value, name)))
    return count


def _is_moved(node: cst.BaseExpression, name: str) -> bool:
    """Whether something is what an attribute is already, elsewhere or in another mode: ``self.net.to(device)``."""
    while isinstance(node, cst.Call) and isinstance(node.func, cst.Attribute) and node.func.attr.value in _MOVING:
        node = node.func.value
    return isinstance(node, cst.Attribute) and dotted(node) == f"self.{name}"


def heirs_with(context: Context, method: cst.FunctionDef) -> list[cst.ClassDef]:
    """The class of a method, and those that derive from it, which may inherit it (:func:`has_method`)."""
    cls = class_of(context, method)
    return [] if cls is None else [cls, *(heir for _, heir in heirs(context, cls)[:_MOST])]


def may_keep(context: Context, cls: cst.ClassDef, names: Collection[str]) -> bool:
    """Whether a constructor of a class itself sets one of some attributes, as far as its text tells."""
    home = context.home(cls)
    constructor = home.scopes.info(cls).methods.get("__init__")
    return constructor is not None and any(each.name in names for each in home.remember(kept_by, constructor))


def has_method(home: Context, heir: cst.ClassDef, method: cst.FunctionDef, cls: cst.ClassDef) -> bool:
    """Whether a class has a method of another one, which may have been read twice: so names are compared."""
    other = find_method(home, heir, method.name.value)
    owner = class_of(home.home(other), other) if other is not None else None
    return other is method or (owner is not None and owner.name.value == cls.name.value)


def is_frozen_by_any(context: Context, cls: cst.ClassDef, target: cst.Attribute) -> bool:
    """Whether a class or one of its bases freezes what is kept under a name."""
    return any(is_frozen(home, target) for home, _ in lineage_of(context, cls).classes())


def calls_by_bases(context: Context, method: cst.FunctionDef) -> Iterator[tuple[Context, cst.Call]]:
    """Where bases of the class of a method call it, which may know nothing of it: ``self.evaluate(x)``."""
    cls, name = class_of(context, method), method.name.value
    if cls is None:
        return
    for home, base in lineage_of(context, cls).classes():
        if base is not cls and any(last_name(each.func) == name for each in home.tree.within(base, cst.Call)):
            yield from _own_calls(context, home, base, name)


def _own_calls(context: Context, home: Context, base: cst.ClassDef, name: str) -> Iterator[tuple[Context, cst.Call]]:
    whole = home
    if home.is_part and home.path is not None:
        found = context.codebase.whole(home.path, context) if home.path != context.path else context
        if found is None:
            return
        whole = found
    for each in whole.scopes.all_classes():
        if each.name.value == base.name.value:
            for call in whole.tree.within(each, cst.Call):
                if dotted(call.func) == f"self.{name}":
                    yield whole, call
