"""How certain it is that a value requires grad."""

from __future__ import annotations

import enum


class Certainty(enum.IntEnum):
    """How it is known that a value requires grad, if autograd records where it is made: said of ``grad=YES`` alone."""

    SUPPOSED = 0
    """By convention: what something called like a loss gives, what a module gives of which nothing is known."""
    EXPECTED = 1
    """It comes from a module that has parameters, on a way that cannot be followed in all."""
    PROVED = 2
    """It is a parameter, was asked to require grad, or is computed from such a value by what torch documents."""
