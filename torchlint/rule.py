"""The whole interface of a rule.

A rule is one file in ``torchlint/rules``, ``tl101_data_read.py`` say. The file name gives code and name, the
docstring is the documentation and the test, and functions registered with :func:`on` look at nodes:

.. code-block:: python

    @on(cst.Attribute, trigger=attribute("data"))
    def check(node: cst.Attribute, model: Model) -> Finding | None: ...
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import libcst as cst

from torchlint.diagnostic import Applicability, Group, Severity
from torchlint.trigger import (
    KINDS,
    Trigger,
    all_of,
    any_of,
    attribute,
    in_loops,
    listed,
    part,
    pattern,
    together,
    word,
)

if TYPE_CHECKING:
    from torchlint.model import Model
    from torchlint.model.values import Evidence

__all__ = [
    "Anchor",
    "Applicability",
    "Block",
    "Edit",
    "Finding",
    "Fix",
    "Group",
    "NodeCheck",
    "Rule",
    "Severity",
    "Trigger",
    "all_of",
    "any_of",
    "attribute",
    "in_loops",
    "listed",
    "on",
    "part",
    "pattern",
    "word",
]


class Anchor(NamedTuple):
    """A place in the text: one of the two ends of a node."""

    node: cst.CSTNode
    at_end: bool
    inside: bool = False
    """Inside the expression's own brackets instead of outside."""


@dataclass(frozen=True, slots=True)
class Edit:
    """Replace what lies between two anchors by ``text``.

    Anchors instead of offsets keep rules free of positions: the engine asks for the spans of anchor nodes only, and
    only in files with findings. Use the builders in :mod:`torchlint.edit`.
    """

    start: Anchor
    end: Anchor
    text: str
    keeps_comments: bool = False
    """Comments at the start of what is replaced stay (they are inside brackets that stay too)."""
    below: cst.CSTNode | None = None
    """The first argument of a call that gets a further one; that may stand on a line of its own, below it."""


@dataclass(frozen=True, slots=True)
class Block:
    """Statements of one suite that go under a header of their own, ``with torch.no_grad():``.

    The engine writes the lines, and puts what stands together under one header. Nothing of it may be in the edits.
    """

    header: str
    first: cst.CSTNode
    """A statement: compound, or one of those on a line (``b`` of ``a; b``), which is divided then."""
    last: cst.CSTNode | None = None
    """The last statement of several."""
    into: cst.With | None = None
    """Such a block that stands directly before, and takes them in."""


@dataclass(frozen=True, slots=True)
class Fix:
    """Edits that belong together: all are applied, or none."""

    message: str
    edits: tuple[Edit, ...]
    applicability: Applicability = Applicability.SAFE
    imports: tuple[str, ...] = ()
    """Modules the new text needs (``torch``); the engine adds what is missing, once."""
    deferred: bool = False
    """Shown in reports, but not applied in this round: other fixes of this file have to come first."""
    waits_for: tuple[cst.CSTNode, ...] = ()
    """Of a deferred fix: what other fixes have to replace first. It is announced only if all of that is."""
    after: tuple[cst.CSTNode, ...] = ()
    """What other fixes may replace: if they do in a round, this one waits for the next, in which less may be needed."""
    block: Block | None = None
    """A block that statements are put into, beside the edits."""
    risk: str = ""
    """Of an unsafe fix, what can change here, as the end of a sentence; empty where that is not told apart."""
    alternatives: tuple[Fix, ...] = ()
    """Other modern forms, reported with their edits: which one is meant, only the author knows. None is applied."""

    def doubted(self, risk: str) -> Fix:
        """The fix as an unsafe one; what can change is what it says already, else ``risk``."""
        return replace(self, applicability=Applicability.UNSAFE, risk=self.risk or risk)


@dataclass(frozen=True, slots=True)
class Finding:
    """One finding. It stands on ``node``, or on everything from ``node`` to the end of ``end``.

    ``receiver`` is the expression it is about, ``x`` of ``x.data``: reports say why that is believed to be a tensor, on
    the evidence of the model, or on the ``evidence`` of a rule that knows more.
    """

    node: cst.CSTNode
    message: str
    fix: Fix | None = None
    end: cst.CSTNode | None = None
    evidence: Evidence | None = None
    severity: Severity | None = None
    """How bad it is, where that is not what the rule says of itself (``SEVERITY``)."""
    receiver: cst.CSTNode | None = None
    half_of: cst.CSTNode | None = None
    """The statement that this is half of: its other findings that say so are fixed in the same modes, or none is."""


Result = Finding | Iterable[Finding] | None
CheckFunction = Callable[[Any, "Model"], Result]
F = TypeVar("F", bound=Callable[..., Any])


@dataclass(frozen=True, slots=True)
class NodeCheck:
    """One function of a rule with the node types it wants to see and what a file must hold for it."""

    function: CheckFunction
    types: tuple[type[cst.CSTNode], ...]
    trigger: Trigger


@dataclass(frozen=True, slots=True)
class Rule:
    """A rule as loaded from its file."""

    code: str
    name: str
    doc: str
    checks: tuple[NodeCheck, ...]
    severity: Severity = Severity.WARNING
    """How bad its findings are where they do not say it themselves."""

    @property
    def trigger(self) -> Trigger:
        """What a file must hold for it."""
        return together(check.trigger for check in self.checks)


def on(*types: type[cst.CSTNode], trigger: Trigger) -> Callable[[F], F]:
    """Register a function for every node of the given types in files that have what the trigger says.

    The trigger is read from the source before the rule is imported, so it is written out here or as a constant of the
    module (:mod:`torchlint.trigger`).
    """
    if not types or not isinstance(trigger, KINDS):
        raise TypeError("`on` takes node types and a trigger: `@on(cst.Attribute, trigger=attribute('data'))`")

    def register(function: F) -> F:
        function.check = NodeCheck(function, types, trigger)  # type: ignore[attr-defined]
        return function

    return register


def load(module: str) -> Rule:
    """Import the file of a rule by the full name of its module.

    Raises:
        Exception: whatever importing it raises.
    """
    loaded = importlib.import_module(module)
    code, _, name = module.rpartition(".")[2].partition("_")
    functions = (each for each in vars(loaded).values() if getattr(each, "__module__", None) == loaded.__name__)
    checks = tuple(each.check for each in functions if isinstance(getattr(each, "check", None), NodeCheck))
    severity = getattr(loaded, "SEVERITY", Severity.WARNING)
    return Rule(code.upper(), name.replace("_", "-"), loaded.__doc__ or "", checks, severity)
