"""What can be done about findings: their fixes with all alternatives, comments that silence them, all fixes at once."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from lsprotocol import types

from torchlint.diagnostic import Applicability, Diagnostic, LocatedFix, TextEdit
from torchlint.file.comments.adding import silenced
from torchlint.file.fix.combine import edits_of
from torchlint.file.notebook.cells import NotInCell
from torchlint.file.text.source import Undecodable
from torchlint.project.selection import OWN
from torchlint.server.checked import Checked, Edits
from torchlint.server.diagnostics import diagnostic
from torchlint.server.linter import content_of

FIX_ALL = "source.fixAll.torchlint"
FIX_ALL_OF_NOTEBOOK = f"notebook.{FIX_ALL}"
"""The same for all cells. Editors ask for the other kind cell by cell, and would apply all fixes once for each."""
FIX_ALL_TITLE = "torchlint: apply all fixes"

KINDS = (types.CodeActionKind.QuickFix.value, FIX_ALL, FIX_ALL_OF_NOTEBOOK)


def is_wanted(kind: str, only: Iterable[types.CodeActionKind | str] | None) -> bool:
    """Whether a client asks for actions of a kind: it may name the kinds above it, or none at all."""
    if only is None:
        return True
    named = [each.value if isinstance(each, types.CodeActionKind) else each for each in only]
    return any(each in ("", kind) or kind.startswith(f"{each}.") for each in named)


class _QuickFix(NamedTuple):
    """Something to be done about a finding."""

    title: str
    edits: Sequence[TextEdit]
    is_safe: bool = False


def fix_all(checked: Checked, only: Iterable[types.CodeActionKind | str] | None) -> types.CodeAction | None:
    """The action that fixes all of a document, without its edits; None if it is not wanted, or there are no fixes."""
    kind = FIX_ALL_OF_NOTEBOOK if checked.snapshot.is_notebook else FIX_ALL
    if not is_wanted(kind, only) or all(each.fix is None for each in checked.diagnostics):
        return None
    return types.CodeAction(FIX_ALL_TITLE, kind, data=checked.snapshot.uri)


def quick_fixes(checked: Checked, uri: str, within: types.Range, *, versioned: bool) -> Iterator[types.CodeAction]:
    """What can be done about the findings in a part of a text: fixes first."""
    here = list(checked.found_at(uri, within))
    offered = [(fix, found, at) for found, at in here for fix in _fixes(found, checked)]
    statements = {(found.code, found.rows): (found, at) for found, at in reversed(here) if found.code not in OWN}
    offered += [(_suppression(found, checked), found, at) for found, at in reversed(statements.values())]
    for fix, found, at in offered:
        edit = _edit(fix, checked, versioned=versioned)
        if edit is not None:
            about = [diagnostic(found, at, checked)]
            kind, is_preferred = types.CodeActionKind.QuickFix, fix.is_safe or None
            yield types.CodeAction(fix.title, kind, about, is_preferred=is_preferred, edit=edit)


def _edit(fix: _QuickFix, checked: Checked, *, versioned: bool) -> types.WorkspaceEdit | None:
    """What a quick fix edits; None if that is nothing, or more than code."""
    if not fix.edits:
        return None
    try:
        return workspace_edit(checked, checked.edits(fix.edits), versioned=versioned)
    except NotInCell:
        return None


def _fixes(found: Diagnostic, checked: Checked) -> Iterator[_QuickFix]:
    """The fix of a finding and its alternatives.

    One that waits for other fixes cannot be had alone; the halves of a statement are fixed together.
    """
    fix = found.fix
    if fix is None or fix.deferred:
        return
    halves = [found]
    if found.half_of is not None:
        halves = [each for each in checked.diagnostics if each.half_of == found.half_of]
    yield _QuickFix(_title(found, fix), edits_of(halves), fix.applicability is Applicability.SAFE)
    for other in fix.alternatives:
        yield _QuickFix(_title(found, other), other.edits)


def _title(found: Diagnostic, fix: LocatedFix) -> str:
    doubt = "" if fix.applicability is Applicability.SAFE else f" (unsafe{f': {fix.risk}' if fix.risk else ''})"
    return f"torchlint ({found.code}): {fix.message}{doubt}"


def _suppression(found: Diagnostic, checked: Checked) -> _QuickFix:
    """A comment for a finding; without edits if it cannot be silenced by one."""
    title = f"torchlint: ignore {found.code} ({found.name}) here"
    try:
        content = content_of(checked.snapshot)
    except Undecodable:
        return _QuickFix(title, ())
    is_program = content.embedded is None  # else findings speak of the file, and not of what is checked
    return _QuickFix(title, silenced(content.text, [found], reason="").edits if is_program else ())


def workspace_edit(checked: Checked, edits: Edits, *, versioned: bool) -> types.WorkspaceEdit:
    """Edits of a document as it was checked. With versions a client refuses them if it has changed."""
    if not versioned:
        return types.WorkspaceEdit(changes={uri: list(its) for uri, its in edits.items()})
    versions = checked.snapshot.versions
    return types.WorkspaceEdit(
        document_changes=[
            types.TextDocumentEdit(types.OptionalVersionedTextDocumentIdentifier(uri, versions[uri]), list(its))
            for uri, its in edits.items()
        ]
    )
