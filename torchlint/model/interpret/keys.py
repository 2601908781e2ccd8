"""What can be asked of the interpretation of scopes, by keys, and what the answers to it rest on."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar, Generic, Protocol, TypeVar

from torchlint.model.interpret.summary import Summary
from torchlint.model.values import Value
from torchlint.system.records import frozen_dataclass

T_co = TypeVar("T_co", covariant=True)


@frozen_dataclass(frozen=True, slots=True)
class Key(Generic[T_co]):
    """What is asked for, by the identity of a node; each subclass says what the answer is."""

    rounds: ClassVar[int] = 1
    """How often the answer is computed: again where it may rest on itself, with what the round before found."""

    node: int


@frozen_dataclass(frozen=True, slots=True)
class ScopeKey(Key[Summary | None]):
    """What a function or module leaves behind."""

    cls: int | None = None
    """The class whose objects an inherited method is called on."""


@frozen_dataclass(frozen=True, slots=True)
class BodyKey(Key[Summary]):
    """What the statements of a class leave behind."""


@frozen_dataclass(frozen=True, slots=True)
class AttributeKey(Key[Value | None]):
    """What the methods of a class assign to an attribute."""

    rounds: ClassVar[int] = 2

    name: str


@dataclass(eq=False, slots=True)
class Trail:
    """What it took to find something out, by which one can tell where it would be found anew."""

    is_circular: bool = False
    """Whether something was seen that was not finished then, be it itself."""
    is_cut: bool = False
    """Whether something was not looked at because it is too far away."""
    height: int = 0
    """How many functions of other files had to be looked at one inside the other."""
    asked: set[Key[object]] = field(default_factory=set)
    """Everything that was asked for on the way, itself included."""


@frozen_dataclass(frozen=True, slots=True)
class Answer(Generic[T_co]):
    """What was found out, and how."""

    value: T_co
    trail: Trail


Answers = dict[Key[object], Answer[object]]
"""Each answer has the type that its key says."""


class Home(Protocol):
    """The file that a question is about."""

    @property
    def answers(self) -> Answers:
        """The answers to whole questions, which hold for good."""

    @property
    def is_part(self) -> bool:
        """Whether it is another file than the one being checked."""
