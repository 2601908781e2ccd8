"""Nodes whose class is tested as that of any other object.

libcst's classes are abstract ones, so ``isinstance`` and each pattern of ``match`` ask a function that is written in
Python whether somebody has registered a class as a virtual subclass. Nobody has, and a run asks some ten million times.
"""

from __future__ import annotations

import abc

import libcst as cst

from torchlint.system.layers import Layer, is_on


class PlainABCMeta(abc.ABCMeta):
    """What abstract classes are of that have no virtual subclasses."""

    __instancecheck__ = type.__instancecheck__
    __subclasscheck__ = type.__subclasscheck__

    def register(cls, subclass: type) -> type:
        """Refuse what would not be seen."""
        raise TypeError(f"{cls.__name__} has no virtual subclasses, so {subclass.__name__} cannot be one")


def make_plain() -> None:
    """Let libcst's classes of nodes be tested quickly."""
    waiting: list[type] = [cst.CSTNode] if is_on(Layer.PLAIN_CLASSES) else []
    while waiting:
        cls = waiting.pop()
        waiting += cls.__subclasses__()
        if type(cls) is abc.ABCMeta:
            cls.__class__ = PlainABCMeta
