"""Other names for functions, classes and modules, with the imports that go along."""

from __future__ import annotations

from dataclasses import replace

import libcst as cst

from torchlint import edit
from torchlint.model import Model
from torchlint.model.syntax import bound_name, call_of, dotted, is_global, last_name
from torchlint.rule import Edit, Fix
from torchlint.rules.api import guards, names, patches
from torchlint.rules.api.table import Row
from torchlint.rules.api.uses import Use


def of_name(use: Use, model: Model) -> Fix | None:
    """Write the name that replaces another one, and the names of arguments that have others with it."""
    fix = _of_name(use, model)
    return _with_keywords(fix, use, model) if fix is not None and use.row.keywords else fix


def _with_keywords(fix: Fix, use: Use, model: Model) -> Fix:
    """A fix that also writes the new names of keywords, in all calls where an import is renamed."""
    renamed = dict(each.split("=") for each in use.row.keywords.split())
    users: list[cst.CSTNode] = [use.node]
    if use.alias is not None and use.statement is not None:
        users += model.references(bound_name(use.alias), model.scopes.scope_of(use.statement))
    elif isinstance(use.node, cst.Name) and import_of(use.node, model) is not None:
        users += model.references(use.node.value, model.scopes.scope_of(use.node))
    calls = {id(call): call for user in users if (call := call_of(user, model.tree)) is not None}
    args = [arg for call in calls.values() for arg in call.args]
    edits = [
        edit.replace(arg.keyword, renamed[arg.keyword.value])
        for arg in args
        if arg.keyword is not None and arg.keyword.value in renamed
    ]
    renamed_fix = replace(fix, edits=(*fix.edits, *edits))
    is_known = all(arg.star != "**" for arg in args)
    return renamed_fix if is_known else renamed_fix.doubted("what `**` hands on may have the old keyword")


def _of_name(use: Use, model: Model) -> Fix | None:
    row = use.row
    said = f"Use `{row.replacement}`"
    if use.alias is not None and use.statement is not None:
        return _rename_import(use.alias, use.statement, row, model)
    node = use.node
    if isinstance(node, cst.SimpleString):
        same = row.replacement.rpartition(".")[0] == row.name.rpartition(".")[0]
        return (
            Fix(said, (edit.replace(node, f'"{row.replacement.rpartition(".")[2]}"'),), row.applicability)
            if same
            else None
        )
    if not isinstance(node, (cst.Name, cst.Attribute)):
        return None
    found = names.resolve(node, model)
    if found is None:
        return None
    package, _, name = row.replacement.rpartition(".")
    if isinstance(node, cst.Attribute) and found[0].rpartition(".")[0] == package:
        return Fix(said, (edit.replace(node.attr, name),), row.applicability)
    if isinstance(node, cst.Name):
        together = import_of(node, model)
        if together is not None:
            fix = _rename_import(*together, row, model)
            if fix is not None:
                return fix
    spelled = names.spell(row.replacement, node, model)
    if spelled is None:
        return None
    return Fix(said, (edit.replace(node, spelled[0]),), row.applicability, spelled[1])


def is_renamed_with_import(use: Use, model: Model) -> bool:
    """Whether an import brings a name here, and gives it its new name: it is said there."""
    if use.row.fix != "rename" or not isinstance(use.node, cst.Name) or use.alias is not None:
        return False
    together = import_of(use.node, model)
    if together is None or guards.is_guarded(together[0].name, model) or patches.is_patched(use.row, model):
        return False
    fix = _rename_import(*together, use.row, model)
    if fix is None or not use.row.is_fixable(model.target):
        return False
    return together[0].asname is not None or any(each.start.node is use.node for each in fix.edits)


def import_of(node: cst.Name, model: Model) -> tuple[cst.ImportAlias, cst.ImportFrom] | None:
    """The one import that binds a name in the scope it is of."""
    by_scope = model.remember(_imports_by_name).get(node.value, {})
    scope = model.scopes.scope_of(node)
    while id(scope) not in by_scope:
        if isinstance(scope, cst.Module) or node.value in model.scopes.locals_of(scope):
            return None
        scope = model.scopes.scope_of(scope)
    here = by_scope[id(scope)]
    return here[0] if len(here) == 1 else None


def _imports_by_name(model: Model) -> dict[str, dict[int, list[tuple[cst.ImportAlias, cst.ImportFrom]]]]:
    """The imports that bind a name, by the ``id`` of the scope they bind it in."""
    found: dict[str, dict[int, list[tuple[cst.ImportAlias, cst.ImportFrom]]]] = {}
    for statement in model.tree.all(cst.ImportFrom):
        scope = id(model.scopes.scope_of(statement))
        for alias in statement.names if not isinstance(statement.names, cst.ImportStar) else ():
            found.setdefault(bound_name(alias), {}).setdefault(scope, []).append((alias, statement))
    return found


def literals(model: Model) -> frozenset[str]:
    """The texts that are written in a file: a name among them may be exported."""
    return frozenset(each.raw_value for each in model.tree.all(cst.SimpleString))


def _rename_import(alias: cst.ImportAlias, statement: cst.ImportFrom, row: Row, model: Model) -> Fix | None:
    """Import the new name from where the old one comes from, and use it everywhere: one fix."""
    package, _, new = row.replacement.rpartition(".")
    old, said = last_name(alias.name), f"Use `{row.replacement}`"
    if model.tree.is_package or isinstance(statement.names, cst.ImportStar) or statement.module is None:
        return None
    moves: list[Edit] = []
    if names.module_of(statement) != package:
        if len(statement.names) > 1 or not package:
            return None
        moves = [edit.replace(statement.module, package)]
    here = [] if new == old else [edit.replace(alias.name, new)]
    if alias.asname is not None or not here:
        return Fix(said, (*moves, *here), row.applicability)
    users = model.references(old, model.scopes.scope_of(statement))
    if (
        old in model.remember(literals)
        or new in names.imports(model).paths
        or names.is_bound(new, model)
        or names.is_bound(old, model)
    ):
        return None
    if is_global(statement, model.tree) and model.taker(old) is not None:
        return None
    return Fix(said, (*moves, *here, *(edit.replace(user, new) for user in users)), row.applicability)


def of_module(use: Use, model: Model) -> Fix | None:
    """Write the module that replaces another one, where it is imported and where its members are reached by it."""
    row, node = use.row, use.node
    said = f"Use `{row.replacement}`"
    if use.alias is not None and use.statement is not None:
        return _rename_imported_module(use.alias, use.statement, row, said)
    if not isinstance(node, (cst.Name, cst.Attribute)):
        return None
    parent = model.tree.parent(node)
    is_import = model.tree.enclosing(node, cst.Import, cst.ImportFrom) is not None
    if not is_import:
        spelled = names.spell(row.replacement, node, model)
        imported = any(
            dotted(alias.name) in (row.name, row.replacement)
            for import_ in model.tree.all(cst.Import)
            for alias in import_.names
        )
        if spelled is None or not (imported or row.name == "torch.quantization"):  # torch imports that by itself
            return None
        return Fix(said, (edit.replace(node, spelled[0]),), row.applicability, spelled[1])
    if isinstance(parent, cst.ImportAlias) and parent.asname is None and row.replacement.split(".")[0] != row.package:
        return None
    return Fix(said, (edit.replace(node, row.replacement),), row.applicability)


def _rename_imported_module(alias: cst.ImportAlias, statement: cst.ImportFrom, row: Row, said: str) -> Fix | None:
    """``from torch import quantization``: the module comes from elsewhere, and is called as before."""
    package, _, name = row.replacement.rpartition(".")
    if isinstance(statement.names, cst.ImportStar) or len(statement.names) > 1 or statement.module is None:
        return None
    old = last_name(alias.name)
    text = name if name == old or alias.asname is not None else f"{name} as {old}"
    return Fix(said, (edit.replace(statement.module, package), edit.replace(alias.name, text)), row.applicability)


def of_import(use: Use, model: Model) -> Fix | None:
    """Another statement that binds the same name, where the old one has no other names: ``from math import inf``."""
    alias, statement = use.alias, use.statement
    if alias is None or statement is None or isinstance(statement.names, cst.ImportStar):
        return None
    if len(statement.names) > 1 or alias.asname is not None:
        return None
    return Fix(f"Use `{use.row.text}`", (edit.replace(statement, use.row.text),), use.row.applicability)
