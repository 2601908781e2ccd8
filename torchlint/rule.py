"""The whole interface of a rule.

A rule is one file in ``torchlint/rules``, ``tl101_data_read.py`` say. The file name gives code and name, the
docstring is the documentation and the test, and functions registered with :func:`on` look at nodes:

.. code-block:: python

    @on(cst.Attribute, needle=".data")
    def check(node: cst.Attribute, model: Model) -> Finding | None: ...
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import libcst as cst

from torchlint.diagnostic import Applicability

if TYPE_CHECKING:
    from torchlint.model import Model
    from torchlint.model.values import Evidence

__all__ = ["Anchor", "Applicability", "Block", "Check", "Edit", "Finding", "Fix", "Rule", "load", "on"]


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
    block: Block | None = None
    """A block that statements are put into, beside the edits."""
    alternatives: tuple[Fix, ...] = ()
    """Other modern forms, reported with their edits: which one is meant, only the author knows. None is applied."""


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
    severity: str = "warning"
    receiver: cst.CSTNode | None = None


Result = Finding | Iterable[Finding] | None
CheckFunction = Callable[[Any, "Model"], Result]
F = TypeVar("F", bound=Callable[..., Any])


@dataclass(frozen=True, slots=True)
class Check:
    """One function of a rule with the node types it wants to see and the tokens a file must contain."""

    function: CheckFunction
    types: tuple[type[cst.CSTNode], ...]
    needles: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Rule:
    """A rule as loaded from its file."""

    code: str
    name: str
    doc: str
    checks: tuple[Check, ...]


def on(*types: type[cst.CSTNode], needle: str | tuple[str, ...]) -> Callable[[F], F]:
    """Register a function for every node of the given types in files that contain one of the needles.

    A needle is a token: ``Variable`` matches that word, ``.data`` an attribute of that name however it is spaced,
    ``*loss*`` any identifier that contains it; ``re:`` starts a regular expression in which a space stands for whatever
    may stand between two tokens, and that ``\\b`` makes begin with a whole word; ``beside:.data:`` starts one that only
    counts where there is a ``.data`` in the file, ``outside:`` one that only counts outside of functions, ``loop:`` one
    that only counts in loops. What stands in comments or strings of several lines does not count.
    The needles decide which files are parsed at all, and which of their functions, so they must never be narrower than
    the check: a finding stands in a function that one of them is in, or another name for what one of them names.
    """
    needles = (needle,) if isinstance(needle, str) else needle

    def register(function: F) -> F:
        function.check = Check(function, types, needles)  # type: ignore[attr-defined]
        return function

    return register


def load(module: str) -> Rule:
    """Import the file of a rule by the full name of its module.

    Raises:
        Exception: whatever importing it raises.
    """
    loaded = importlib.import_module(module)
    code, _, name = module.rpartition(".")[2].partition("_")
    checks = tuple(
        f.check for f in vars(loaded).values() if getattr(f, "check", None) and f.__module__ == loaded.__name__
    )
    return Rule(code.upper(), name.replace("_", "-"), loaded.__doc__ or "", checks)
