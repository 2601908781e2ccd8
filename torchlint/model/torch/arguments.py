"""The arguments of calls: found by keyword or position, and what they literally are."""

from __future__ import annotations

from collections.abc import Sequence

import libcst as cst

from torchlint.model.values import UNKNOWN, Argument

UNSEEN = (Argument(None, UNKNOWN, cst.Name("_"), "*"), Argument(None, UNKNOWN, cst.Name("_"), "**"))
"""Arguments of which nothing is known."""


def literal_bool(node: cst.BaseExpression) -> bool | None:
    """The value of ``True`` and ``False``, None for all else."""
    match node:
        case cst.Name("True"):
            return True
        case cst.Name("False"):
            return False
    return None


def by_keyword(arguments: Sequence[Argument], name: str) -> Argument | None:
    """The argument given by that keyword."""
    return next((a for a in arguments if a.keyword == name), None)


def given_argument(arguments: Sequence[Argument], name: str, at: object) -> Argument | None:
    """The argument of that name, or at that position."""
    found = by_keyword(arguments, name)
    if found is not None or not isinstance(at, int):
        return found
    positional = [a for a in arguments if a.keyword is None][: at + 1]
    return positional[at] if len(positional) > at and not any(a.star for a in positional) else None


def given_bool(arguments: Sequence[Argument], name: str, at: object, default: bool) -> bool | None:
    """A literal that is given, or the default; None if it is not known."""
    argument = given_argument(arguments, name, at)
    if argument is not None:
        return literal_bool(argument.node)
    return None if any(a.star for a in arguments) else default
