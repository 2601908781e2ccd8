"""What a file must hold before a rule looks at it, as values that can be had without libcst.

.. code-block:: python

    @on(cst.Attribute, trigger=attribute("data"))
    @on(cst.Call, trigger=any_of(word("volatile"), word("Variable")))
    @on(cst.Call, trigger=all_of(attribute("numpy"), part("backward")))

Triggers decide which files are parsed at all, so they must never be narrower than the rule. What stands in comments, or
in strings of several lines, does not count.

They are read from the source of a rule without importing it (:mod:`torchlint.rules.declared`), so they are written with
these functions and literal strings, at the decorator or as a constant of the module.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Union

BETWEEN = r"(?:[\r\n\f\v\\()]|[\x20\t]+(?![\x20\t])|#[^\n]*\n){0,100}"
"""A pattern of what may stand between two tokens of an expression: white space, continued lines, comments, brackets.

It has an end, for it is tried at each of many places: else a file of brackets, or of comments, would take hours.
"""
_BETWEEN_AND_BRACKET = BETWEEN.replace("()]", ")]") + r"\("
"""The same before an opening bracket, which is the first one there is: so there is one way to find it."""


class TriggerError(ValueError):
    """A trigger is none: it says nothing, or what it says can never be in a text."""


@dataclass(frozen=True, slots=True)
class Word:
    """A whole identifier, whatever it stands for."""

    name: str


@dataclass(frozen=True, slots=True)
class Attribute:
    """An attribute of that name, however it is spaced; not in an import."""

    name: str


@dataclass(frozen=True, slots=True)
class Part:
    """A piece of an identifier."""

    text: str


@dataclass(frozen=True, slots=True)
class Pattern:
    """A regular expression, in which a space stands for whatever may stand between two tokens,
    brackets around one of them included.

    It should begin with something literal, which `re` finds a hundred times faster; ``\\b`` in front of a word is put
    behind it for that.
    """

    regex: str


@dataclass(frozen=True, slots=True)
class Listed:
    """What the table of torch's API lists for a rule, where it stands in a place that counts."""

    code: str


@dataclass(frozen=True, slots=True)
class AnyOf:
    """One of several."""

    triggers: tuple[Trigger, ...]


@dataclass(frozen=True, slots=True)
class AllOf:
    """One that only counts where others are somewhere in the file, too."""

    first: Trigger
    others: tuple[Trigger, ...]


@dataclass(frozen=True, slots=True)
class InLoops:
    """One that only counts in loops."""

    trigger: Trigger


Trigger = Union[Word, Attribute, Part, Pattern, Listed, AnyOf, AllOf, InLoops]  # noqa: UP007
KINDS = (Word, Attribute, Part, Pattern, Listed, AnyOf, AllOf, InLoops)


def word(name: str) -> Trigger:
    """An identifier: a variable, a keyword argument, an import, or an attribute of that name."""
    return Word(_identifier(name))


def attribute(name: str) -> Trigger:
    """An attribute: ``attribute("data")`` is in ``x.data`` and ``x . data``, but not in ``import torch.utils.data``."""
    return Attribute(_identifier(name))


def part(text: str) -> Trigger:
    """A piece of an identifier: ``part("loss")`` is in ``total_loss``."""
    _require(f"_{_string(text)}".isidentifier() and bool(text), f"`{text}` is in no identifier")
    return Part(text)


def pattern(regex: str) -> Trigger:
    r"""A regular expression in which a space stands for any white space: ``pattern(r"\blog \(")``."""
    try:
        compiled = re.compile(spelled(_string(regex)))
    except re.error as error:
        raise TriggerError(f"`{regex}` is no regular expression: {error}") from None
    _require(compiled.groups == 0, f"`{regex}` has groups that nobody asks for: write `(?:…)`")
    _require(compiled.match("") is None, f"`{regex}` is found in every text")
    return Pattern(regex)


def spelled(regex: str) -> str:
    """The regular expression of a pattern, with what may stand between two tokens for each space in it."""
    return regex.replace(r" \(", _BETWEEN_AND_BRACKET).replace(" ", BETWEEN)


def listed(code: str) -> Trigger:
    """The words that the table of torch's API has for a rule."""
    return Listed(_string(code))


def any_of(*triggers: Trigger) -> Trigger:
    """One of several triggers."""
    _require(bool(triggers), "`any_of` takes one at least")
    return AnyOf(tuple(map(_trigger, triggers)))


def all_of(first: Trigger, *others: Trigger) -> Trigger:
    """The first one, in files that have all the others as well."""
    _require(bool(others), "`all_of` takes two at least")
    return AllOf(_searched(first), tuple(map(_searched, others)))


def in_loops(trigger: Trigger) -> Trigger:
    """A trigger that only counts in ``for`` and ``while``; in doubt it counts."""
    return InLoops(_searched(trigger))


def together(triggers: Iterable[Trigger]) -> Trigger:
    """One of several triggers, each of them once: that of a rule, from those of its functions."""
    each, *more = dict.fromkeys(triggers)
    return AnyOf((each, *more)) if more else each


FUNCTIONS: Mapping[str, Callable[..., Trigger]] = {
    each.__name__: each for each in (word, attribute, part, pattern, listed, any_of, all_of, in_loops)
}
"""What triggers are written with, by name."""


def _require(holds: bool, message: str) -> None:
    if not holds:
        raise TriggerError(message)


def _string(value: str) -> str:
    _require(isinstance(value, str), f"a string is wanted, not {value!r}")
    return value


def _identifier(name: str) -> str:
    _require(_string(name).isidentifier(), f"`{name}` is no identifier")
    return name


def _trigger(value: Trigger) -> Trigger:
    _require(isinstance(value, KINDS), f"a trigger is wanted, not {value!r}: write `word({value!r})`, say")
    return value


def _searched(value: Trigger) -> Trigger:
    """A trigger that is searched for on its own; the table's words are found in another way."""
    parts = [_trigger(value)]
    for each in parts:
        _require(not isinstance(each, Listed), "`listed` stands alone, or in `any_of`")
        parts += each.triggers if isinstance(each, AnyOf) else ()
    return value
