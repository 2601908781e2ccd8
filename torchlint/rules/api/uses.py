"""Where a file writes the names that the table is about: in expressions, in imports, in ``getattr``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import libcst as cst

from torchlint.model import Model
from torchlint.model.names import PACKAGES
from torchlint.model.syntax import bound_name, call_of, dotted, keyword, last_name
from torchlint.model.torch import library
from torchlint.rules.api import guards, names, table
from torchlint.rules.api.table import Row


@dataclass(frozen=True, slots=True)
class Use:
    """A place where a row of the table is named."""

    node: cst.CSTNode
    row: Row
    alias: cst.ImportAlias | None = None
    """The import it is part of, if it is one."""
    statement: cst.ImportFrom | None = None


def of_rule(model: Model, rule: str) -> Iterator[Use]:
    """Where the names are written that a rule is about, in document order; not what is guarded by a version check."""
    found = [
        use
        for use in _uses(model, rule)
        if use.row.concerns(model.target) and not _is_guarded(use, model) and not _is_silenced(use, model)
    ]
    return iter(sorted(found, key=lambda use: model.tree.order(use.node)))


def of_row(row: Row, model: Model) -> Iterator[Use]:
    """Where the name is written that a row is about, guarded or not."""
    return (use for use in _uses(model, row.rule) if use.row is row)


def _is_guarded(use: Use, model: Model) -> bool:
    """Whether a version is checked around a use, or a `try` has another name or may do without.

    Who does without a name that is still there never does; who imports it in a `try` may find another one later.
    """
    if use.alias is not None or use.row.is_removed(model.target):
        return guards.is_guarded(use.node, model)
    return guards.has_other_way(use.node, model)


def _is_silenced(use: Use, model: Model) -> bool:
    """Whether a class is made with `_internal=True`, which is how torch's own code does it without a warning.

    An import is it where that is all that is done with the name.
    """
    if use.row.last != "TypedStorage":
        return False
    if use.alias is None:
        return _is_internal(use.node, model)
    bound = bound_name(use.alias)
    scope = model.tree.enclosing(use.node, cst.FunctionDef) or model.tree.module
    users = [user for user in model.tree.within(scope, cst.Name) if user.value == bound and names.is_read(user, model)]
    return bool(users) and all(_is_internal(user, model) for user in users)


def _is_internal(node: cst.CSTNode, model: Model) -> bool:
    call = call_of(node, model.tree)
    return call is not None and keyword(call.args, "_internal") is not None


def _uses(model: Model, rule: str) -> Iterator[Use]:
    rows = table.by_name(rule)
    lasts = {name.rpartition(".")[2] for name in rows}
    tree = model.tree
    for attribute in tree.all(cst.Attribute):
        if attribute.attr.value in lasts and names.is_read(attribute, model):
            yield from _named(attribute, rows, model)
    wanted = lasts | names.of_last_names(lasts, model)
    for name in tree.all(cst.Name):
        if name.value in wanted and names.is_read(name, model):
            yield from _named(name, rows, model)
    for call in tree.all(cst.Call):
        yield from _got(call, rows, model)
    for from_ in tree.all(cst.ImportFrom):
        yield from _imported(from_, rows)
    for import_ in tree.all(cst.Import):
        for alias in import_.names:
            yield from _module_named(alias.name, rows)


def at(node: cst.Name, rule: str, model: Model) -> Iterator[Use]:
    """What a rule says of a name at one place, a version check or not."""
    return _named(node, table.by_name(rule), model) if names.is_read(node, model) else iter(())


def _named(node: cst.Name | cst.Attribute, rows: Mapping[str, Sequence[Row]], model: Model) -> Iterator[Use]:
    found = names.resolve(node, model)
    if found is None:
        return
    for name in dict.fromkeys(found):
        for row in rows.get(name, ()):
            if row.kind == "module" and (isinstance(node, cst.Name) or name != found[0]):
                continue  # its import is what is reported
            if row.rule == "TL306" and isinstance(node, cst.Name) and row.fix != "rename":
                continue
            yield Use(node, row)
            return


def _got(call: cst.Call, rows: Mapping[str, Sequence[Row]], model: Model) -> Iterator[Use]:
    """``getattr(torch, "symeig")``; with a default it asks whether there is such a thing."""
    match call:
        case cst.Call(
            func=cst.Name("getattr"), args=[cst.Arg(value=base), cst.Arg(value=cst.SimpleString() as literal)]
        ):
            module = names.resolve(base, model) if isinstance(base, (cst.Name, cst.Attribute)) else None
            for row in rows.get(f"{module[0]}.{literal.raw_value}", ()) if module is not None else ():
                yield Use(literal, row)


def _imported(node: cst.ImportFrom, rows: Mapping[str, Sequence[Row]]) -> Iterator[Use]:
    if node.module is None or node.relative:
        return
    module = names.module_of(node)
    if module.partition(".")[0] not in PACKAGES:
        return
    found = list(_module_named(node.module, rows))
    if isinstance(node.names, cst.ImportStar):
        yield from found
        return
    for alias in node.names:
        written = f"{module}.{last_name(alias.name)}"
        for name in dict.fromkeys((written, library.canonical(written))):
            if name in rows and (name.startswith(module) or rows[name][0].kind != "module"):
                yield Use(alias.name, rows[name][0], alias, node)
                found = []  # the name says more than its module
                break
    yield from found


def imported_as(alias: cst.ImportAlias, rule: str, model: Model) -> Iterator[Use]:
    """What a rule says of a name where it is imported, a version check or not."""
    statement = model.tree.parent(alias)
    if isinstance(statement, cst.ImportFrom):
        yield from (use for use in _imported(statement, table.by_name(rule)) if use.alias is alias)


def _module_named(node: cst.BaseExpression, rows: Mapping[str, Sequence[Row]]) -> Iterator[Use]:
    """A module of the table in the dotted name of an import, or one above it."""
    at = node
    while True:
        for row in rows.get(dotted(at) or "", ()):
            if row.kind == "module":
                yield Use(at, row)
                return
        if not isinstance(at, cst.Attribute):
            return
        at = at.value
