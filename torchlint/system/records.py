"""Records that are made by the million: frozen dataclasses that are made as quickly as plain ones.

A frozen dataclass sets each field with ``object.__setattr__``, which takes three times as long as an assignment. Types
are checked before a program runs, so nothing is lost if nobody watches while it does: :func:`quick` leaves all as it is
but for that. ``replace`` is that of :mod:`dataclasses`; of a quick record it copies the fields instead of asking for
each of them.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

from torchlint.system.layers import Layer, is_on

T = TypeVar("T")

_copies: dict[type, Callable[[Any], Any]] = {}
"""For each quick record what makes one with the same fields."""


def quick(cls: type[T]) -> type[T]:
    """Let a frozen dataclass with slots be made quickly: written above ``@dataclass``, and above that of its bases."""
    if not is_on(Layer.QUICK_RECORDS):
        return cls
    made: dict[str, Any] = {"cls": cls, "new": object.__new__}
    exec(_source(cls, made), made)
    del cls.__setattr__, cls.__delattr__
    cls.__init__ = made["__init__"]  # type: ignore[method-assign]
    _copies[cls] = made["copy"]
    return cls


def _source(cls: type, defaults: dict[str, Any]) -> str:
    """What makes and copies a record, as a program; what fields are by default is added to its names."""
    parameters, assigned, copied = [], [], []
    is_behind_a_star = False
    has_post_init = hasattr(cls, "__post_init__")
    for field in dataclasses.fields(cls):
        name = field.name
        copied.append(f"    made.{name} = self.{name}")
        if not field.init:
            copied = copied[:-1] if has_post_init else copied
            continue
        value = name
        if field.kw_only and not is_behind_a_star:
            parameters.append("*")
            is_behind_a_star = True
        if field.default_factory is not dataclasses.MISSING:
            defaults[f"_{name}"] = field.default_factory
            value = f"_{name}() if {name} is cls else {name}"
            parameters.append(f"{name}=cls")
        elif field.default is not dataclasses.MISSING:
            defaults[f"_{name}"] = field.default
            parameters.append(f"{name}=_{name}")
        else:
            parameters.append(name)
        assigned.append(f"    self.{name} = {value}")
    assigned += ["    self.__post_init__()"] if has_post_init else []
    head = f"def __init__(self, {', '.join(parameters)}):"
    return "\n".join((head, *assigned, "def copy(self):", "    made = new(cls)", *copied, "    return made"))


if TYPE_CHECKING:
    from dataclasses import replace
else:

    def replace(record, /, **changes):
        """A record with some of its fields changed."""
        copy = _copies.get(record.__class__)
        if copy is None:
            return dataclasses.replace(record, **changes)
        made = copy(record)
        for name, value in changes.items():
            setattr(made, name, value)
        try:
            finish = made.__post_init__
        except AttributeError:
            return made
        finish()
        return made


__all__ = ["quick", "replace"]
