"""The import of ``torch.autograd``, which goes with the last ``autograd.Variable`` if nothing else of it is used.

An import that nobody uses says nothing of why it is there, so it goes in the same fix: that of the last use, which
waits until the others are gone.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

import libcst as cst

from torchlint import edit
from torchlint.model import Model
from torchlint.model.syntax import bound_name, dotted
from torchlint.rule import Edit, Fix
from torchlint.rules.api import namespaces


def with_import(fix: Fix, call: cst.Call, model: Model) -> Fix:
    """A fix of ``autograd.Variable(…)`` by which the import of ``autograd`` goes, too, if it is the last use of it."""
    match call.func:
        case cst.Attribute(value=cst.Name(value=name) as use) if not fix.deferred:
            found = model.remember(_import_for_variable, name)
            if found is None or found.last is not use:
                return fix
            if found.others:
                return replace(fix, after=(*fix.after, *found.others))
            removed = replace(fix, edits=(*fix.edits, found.removed))
            judged = namespaces.without_import(removed, name, model)
            return judged if judged.applicability is fix.applicability else fix
    return fix


@dataclass(frozen=True)
class _Import:
    """An import that is there for ``Variable`` only."""

    removed: Edit
    last: cst.Name
    """The last that is called."""
    others: tuple[cst.Name, ...]


def _import_for_variable(model: Model, name: str) -> _Import | None:
    """The import by which ``torch.autograd`` has a name, if it is used for ``Variable`` only and may go."""
    imports = model.remember(_imports)
    if len(imports) != 1 or imports[0][0] != name or model.tree.is_package:
        return None
    uses = model.references(name, model.tree.module)
    calls = [use for use in uses if _is_called(use, model)]
    if not calls or not all(_is_for_variable(use, model) for use in uses):
        return None
    if model.taker(name) is not None or _is_written_elsewhere(name, model):
        return None
    return _Import(imports[0][1], calls[-1], tuple(use for use in uses if use is not calls[-1]))


def _imports(model: Model) -> list[tuple[str, Edit]]:
    """The names that a module has for `torch.autograd`, and what removes their imports."""
    found = []
    for line in model.tree.module.body:
        if not isinstance(line, cst.SimpleStatementLine) or edit.has_comment(line):
            continue
        match line.body[0]:
            case cst.Import(names=[cst.ImportAlias(asname=cst.AsName()) as alias]) as statement:
                is_it = dotted(alias.name) == "torch.autograd"
                removed = edit.remove_statement(model.tree, statement) if is_it else None
            case cst.ImportFrom(module=cst.Name("torch"), names=[*names], relative=[]) as statement:
                alias = next((each for each in names if dotted(each.name) == "autograd"), names[0])
                is_it = dotted(alias.name) == "autograd"
                removed = edit.remove_import_alias(model.tree, statement, alias) if is_it else None
            case _:
                continue
        if removed is not None:
            found.append((bound_name(alias), removed))
    return found


def _is_called(use: cst.Name, model: Model) -> bool:
    owner = model.tree.parent(use)
    call = model.tree.parent(owner) if owner is not None else None
    return isinstance(call, cst.Call) and call.func is owner


def _is_for_variable(use: cst.Name, model: Model) -> bool:
    owner = model.tree.parent(use)
    return isinstance(owner, cst.Attribute) and owner.value is use and owner.attr.value == "Variable"


def _is_written_elsewhere(name: str, model: Model) -> bool:
    """Whether a text or a comment for type checkers has the name: then it may be used where that is not seen."""
    mention = re.compile(rf"(?<![\w.]){re.escape(name)}\.\w")
    texts = model.tree.all(cst.SimpleString)
    if any(each.raw_value == name or mention.search(each.value) is not None for each in texts):
        return True
    return re.search(rf"#\s*type:.*\b{re.escape(name)}\b", model.tree.source.text) is not None
