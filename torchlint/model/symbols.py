"""Where what is not known comes from: a parameter, an attribute, a call. Learning of it later settles both."""

from __future__ import annotations

import enum
from typing import NamedTuple


class Origin(enum.IntEnum):
    """Where an unknown value comes from."""

    PARAMETER = enum.auto()
    """The parameter ``name`` of the function ``node``."""
    SELF = enum.auto()
    """The attribute ``name`` of the objects of the class ``node``."""
    GLOBAL = enum.auto()
    """The name ``name`` of the module or of a builtin."""
    UNBOUND = enum.auto()
    """The name ``name`` in the scope ``node`` where nothing has bound it."""
    CALL = enum.auto()
    METHOD = enum.auto()
    """The special method ``name``, which the syntax of ``node`` calls."""
    OPERATION = enum.auto()
    ATTRIBUTE = enum.auto()
    """The attribute or element ``name`` of another origin; of what has none the node of the attribute."""
    MEMBER = enum.auto()
    """An attribute of an object whose class is known, without that attribute."""
    ITEM = enum.auto()
    """What is behind an index or a key."""
    KEY = enum.auto()
    ELEMENT = enum.auto()
    """What iterating yields."""
    LIKELY_ELEMENT = enum.auto()
    """The same of what is a tensor by convention."""
    BATCH = enum.auto()
    """What a data loader yields."""
    PART = enum.auto()
    """What stands at ``name`` in a container of another origin, or what a target in a tuple is bound to."""
    CONTEXT = enum.auto()
    """What ``with`` binds."""
    MATCH = enum.auto()
    """What a pattern of ``match`` binds."""
    ISINSTANCE = enum.auto()
    """What has passed a test of its class."""


class Symbol(NamedTuple):
    """Names the origin of an unknown value, so that what is learnt from its use reaches all places it flows to."""

    origin: Origin
    node: int = 0
    """The identity of the node that it comes from."""
    name: str | int = ""
    of: Symbol | None = None
    depth: int = 0
    """In how many containers, one in the other, it stands."""

    def part(self, at: str | int) -> Symbol:
        """The origin of what stands at an index or key of a container with this origin."""
        return Symbol(Origin.PART, name=at, of=self, depth=self.depth + 1)
