"""What is said of a place that the table is about: the message, how bad it is, and the fix."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from torchlint.model import Model
from torchlint.rule import Finding, Severity
from torchlint.rules.api import fixes, uses
from torchlint.rules.api.table import Row
from torchlint.rules.api.uses import Use
from torchlint.versions import text


def message(row: Row, model: Model, what: str = "") -> str:
    """What is wrong, since when, and what to write instead."""
    subject = what or f"`{short(row.name)}`"
    said = f"{subject} {row.since_when(model.target)}"
    if not row.instead:
        return said
    said = f"{said}; {row.advice}" if row.advice.startswith("remove it") else f"{said}; use {row.instead}"
    if row.fix and not row.is_fixable(model.target) and row.since is not None:
        oldest = f"torch {text(model.target.oldest)}" if model.target.oldest else "the oldest torch that is supported"
        said += f" (there since {text(row.since)}, and not yet in {oldest})"
    return said


def short(name: str) -> str:
    """A name for people: methods of tensors by their own name."""
    return name.replace("torch.Tensor.", "Tensor.").replace("torch.nn.functional.", "F.")


def uses_of(model: Model, rule: str) -> Iterator[Use]:
    """Where the names that a rule is about are reported: an imported one once, where its fix is."""
    return (use for use in uses.of_rule(model, rule) if not fixes.is_said_at_import(use, model))


def of_use(use: Use, model: Model) -> Finding:
    """A finding about a name."""
    severity = Severity.ERROR if use.row.is_removed(model.target) else None
    return Finding(use.node, message(use.row, model), fixes.of_use(use, model), severity=severity)


def of_method(node: cst.Attribute, row: Row, model: Model) -> Finding:
    """A finding about a method or attribute of an object."""
    fix = fixes.of_method(node, row, model)
    severity = Severity.ERROR if row.is_removed(model.target) else None
    receiver = node.value if row.name.startswith("torch.Tensor.") else None
    return Finding(node.attr, message(row, model), fix, severity=severity, receiver=receiver)
