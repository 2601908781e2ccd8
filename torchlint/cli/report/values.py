"""What was inferred of an expression, in words."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from torchlint.diagnostic import LocatedEvidence

if TYPE_CHECKING:
    from torchlint.file.inferred import Inferred

_SILENT = frozenset((("ndim", "any"), ("dtype", "any"), ("leaf", "maybe"), ("role", "plain")))
"""What says nothing of a tensor."""


def value_in_words(item: Inferred, line_of: Callable[[int], str]) -> str:
    """What an expression can be, why that is believed, and what makes it require grad; ``line_of`` names a row."""
    said = {key: word for key, word in item.dimensions.items() if (key, word) not in _SILENT}
    if said.get("grad") == "no":
        said.pop("leaf", None)  # which is no news
    words = [item.kind, item.cls or item.name or "", *(f"{key}={word}" for key, word in said.items())]
    words += [f"requires={item.requires}"] if item.requires is not None else []
    return f"{' '.join(filter(None, words))}{_because(item.evidence, line_of)}{_graph(item, line_of)}"


def _because(evidence: LocatedEvidence | None, line_of: Callable[[int], str]) -> str:
    if evidence is None:
        return ""
    return f" ({evidence.message}{f', {line_of(evidence.row)}' if evidence.row is not None else ''})"


def _graph(item: Inferred, line_of: Callable[[int], str]) -> str:
    """What makes a tensor require grad, and by whose calls autograd records."""
    said = [f"by {', '.join(item.sources)}"] if item.sources else []
    for mode, how in (("yes", "with grad"), ("no", "without grad"), ("maybe", "with or without grad")):
        rows = [line_of(row) for row, called in item.callers if called == mode]
        listed = ", ".join([*rows[:1], *(row.removeprefix("line ") for row in rows[1:])])
        said += [f"called {how}: {listed}"] if rows else []
    return f" [{'; '.join(said)}]" if said else ""
