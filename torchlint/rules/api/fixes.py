"""The fix that a row of the table describes, for a place where its name or method stands."""

from __future__ import annotations

import itertools
import re
from dataclasses import replace

import libcst as cst

from torchlint import edit
from torchlint.model import Model
from torchlint.model.codebase.exports import is_mentioned
from torchlint.model.syntax import bound_name, call_of, has_stars, is_global, root
from torchlint.rule import Edit, Fix
from torchlint.rules.api import guards, mentions, names, namespaces, patches, recipes, renames, rewrites, uses
from torchlint.rules.api.table import Row
from torchlint.rules.api.uses import Use


def of_use(use: Use, model: Model) -> Fix | None:
    """The fix for a place where a row is named; None if there is none there."""
    row = use.row
    if not row.fix or not row.is_fixable(model.target) or patches.is_patched(row, model):
        return None
    if model.remember(_has_any, row.lost):
        return None
    found = _written_there(use, model)
    if found is None:
        return None
    name = _name_of(use)
    found = namespaces.judged(mentions.judged(found, use, model), name, (row.name, row.replacement), model)
    is_imported = use.alias is not None or isinstance(use.node, cst.Name)
    return namespaces.without_import(found, name, model) if is_imported else found


def _has_any(model: Model, words: tuple[str, ...]) -> bool:
    """Whether any of some words stands in the project, in a text too: `state["weight_g"]`, `name.endswith("_g")`."""
    if not words:
        return False
    ends = "|".join(re.escape(word) for word in words if word.startswith("_"))
    whole = "|".join(re.escape(word) for word in words if not word.startswith("_"))
    return model.ask(is_mentioned, rf"{whole}|[\"'](?:{ends})[\"']" if ends else whole)


def _name_of(use: Use) -> str:
    """The name by which a file has what a row is about."""
    if use.alias is not None:
        return bound_name(use.alias)
    return root(use.node) if isinstance(use.node, cst.BaseExpression) else ""


def _written_there(use: Use, model: Model) -> Fix | None:
    if use.row.fix == "rename":
        return renames.of_name(use, model) or _with_all_uses(use, model) or _removal(use, model)
    if use.row.fix == "rename-module":
        return renames.of_module(use, model)
    if use.row.fix == "import":
        return renames.of_import(use, model)
    if use.alias is not None:
        return _with_all_uses(use, model) or _removal(use, model)
    call = call_of(use.node, model.tree)
    if call is not None and (fixer := recipes.CALLS.get(use.row.fix)) is not None:
        return fixer(call, use.row, model)
    other = recipes.NAMES.get(use.row.fix)
    return other(use, model) if other is not None else None


def is_said_at_import(use: Use, model: Model) -> bool:
    """Whether what a use says is said where its name is imported: the fix is there, or at neither place."""
    if use.alias is not None or not isinstance(use.node, cst.Name):
        return False
    if renames.is_renamed_with_import(use, model):
        return True
    together = renames.import_of(use.node, model)
    if together is None or guards.is_guarded(together[0].name, model):
        return False
    if use.row not in model.remember(_rows_at, together[0]):
        return False
    return model.remember(_is_fixed_at_import, together[0]) or of_use(use, model) is None


def _is_fixed_at_import(model: Model, alias: cst.ImportAlias) -> bool:
    """Whether one fix replaces all uses of an imported name, and removes the import: for others it may have to stay."""
    at_import = (use for rule in _NAME_RULES for use in uses.imported_as(alias, rule, model))
    return any(_with_all_uses(use, model) is not None for use in at_import)


def _rows_at(model: Model, alias: cst.ImportAlias) -> tuple[Row, ...]:
    """What the rules about names say of an imported one."""
    return tuple(use.row for rule in _NAME_RULES for use in uses.imported_as(alias, rule, model))


def _with_all_uses(use: Use, model: Model) -> Fix | None:
    """Replace every use of an imported name and remove the import, in one fix; None where not all can be."""
    removal = _removal(use, model)
    if removal is None or use.alias is None or use.statement is None or not removal.waits_for:
        return None
    together = model.remember(_fix_of_uses, bound_name(use.alias), model.scopes.scope_of(use.statement))
    if together is None:
        return None
    return replace(together, edits=(*removal.edits, *together.edits))


def _fix_of_uses(model: Model, name: str, scope: cst.FunctionDef | cst.Module) -> Fix | None:
    """The fixes of all uses of a name imported in a scope as one; None if they are not trusted alike, or overlap."""
    fixes = model.remember(_fixes_of_uses, name, scope)
    if not fixes or len({fix.applicability for fix in fixes}) > 1 or _are_nested(model, name, scope):
        return None
    if any(fix.block is not None or fix.deferred or fix.alternatives for fix in fixes):
        return None
    said = " and ".join(dict.fromkeys(fix.message.removeprefix("Use ") for fix in fixes))
    imports = tuple(dict.fromkeys(each for fix in fixes for each in fix.imports))
    return Fix(f"Use {said}", tuple(each for fix in fixes for each in fix.edits), fixes[0].applicability, imports)


def _are_nested(model: Model, name: str, scope: cst.FunctionDef | cst.Module) -> bool:
    """Whether a name is used in the arguments of a call of what it stands for."""
    users = model.references(name, scope)
    calls = {id(call) for user in users if (call := call_of(user, model.tree)) is not None}
    outer = (up for user in users for up in itertools.islice(model.tree.ancestors(user), 1, None))
    return any(id(up) in calls for up in outer)


def _removal(use: Use, model: Model) -> Fix | None:
    """Remove an import whose last use has gone; until then the fix waits. None where a name stands elsewhere."""
    alias, statement = use.alias, use.statement
    if alias is None or statement is None:
        return None
    name = bound_name(alias)
    if name in model.remember(renames.literals) or model.tree.is_package or isinstance(statement.names, cst.ImportStar):
        return None
    scope = model.scopes.scope_of(statement)
    users = model.references(name, scope)
    if users and model.remember(_fixes_of_uses, name, scope) is None:
        return None
    if is_global(statement, model.tree) and model.taker(name) is not None:
        return None
    removed = edit.remove_import_alias(model.tree, statement, alias)
    if removed is None:
        return None
    return Fix("Remove the import", (removed,), deferred=bool(users), waits_for=tuple(users))


def _as_next(call: cst.Call, iterator: cst.BaseExpression, model: Model) -> tuple[Edit, ...]:
    """Write `next(…)` for `iterator.next()`, and `next(iter(x))` where that is `x.__iter__()`."""
    match iterator:
        case cst.Call(func=cst.Attribute(value=iterated, attr=cst.Name("__iter__"))) if not iterator.lpar:
            if names.is_builtin("iter", call, model):
                return edit.insert_before(call, "next(iter("), edit.replace_after(iterated, call, "))")
    return edit.insert_before(call, "next("), edit.replace_after(iterator, call, ")")


def _fixes_of_uses(model: Model, name: str, scope: cst.FunctionDef | cst.Module) -> tuple[Fix, ...] | None:
    """The fixes of all uses of a name imported in a scope; None if one has none."""
    found = []
    for user in model.references(name, scope):
        here = [use for rule in _NAME_RULES for use in uses.at(user, rule, model)]
        fix = of_use(here[0], model) if here and not guards.is_guarded(user, model) else None
        if fix is None:
            return None
        found.append(fix)
    return tuple(found)


_NAME_RULES = ("TL302", "TL306", "TL307", "TL309", "TL311", "TL902", "TL903")
"""The rules that are about names as such."""


def of_method(node: cst.Attribute, row: Row, model: Model) -> Fix | None:
    """The fix for a method or attribute of an object."""
    if not row.is_fixable(model.target) or patches.is_patched(row, model):
        return None
    fix = _of_method(node, row, model)
    return None if fix is None else namespaces.as_torch_has(fix, (row.name, f"torch.Tensor.{row.to}"), model)


def _of_method(node: cst.Attribute, row: Row, model: Model) -> Fix | None:
    if row.fix == "rename-method":
        return Fix(f"Use `.{row.to}`", (edit.replace(node.attr, row.to),), row.applicability)
    call = call_of(node, model.tree)
    if call is None:
        return None
    if row.fix == "call":
        return rewrites.rewrite(call, row, model)
    if row.fix == "next" and names.is_builtin("next", node, model):
        return Fix("Use `next(…)`", _as_next(call, node.value, model), row.applicability)
    if row.fix == "sample-n" and len(call.args) == 1 and not has_stars(call.args):
        size = call.args[0].value
        found = (edit.replace(node.attr, "sample"), edit.replace(call.args[0], f"({model.tree.code(size)},)"))
        return Fix("Use `.sample((n,))`", found, row.applicability)
    if row.fix == "untyped-storage" and not call.args:
        outer = model.tree.parent(call)
        if isinstance(outer, cst.Attribute) and outer.attr.value in (
            "data_ptr",
            "device",
            "is_cuda",
            "nbytes",
            "is_shared",
        ):
            return Fix("Use `.untyped_storage()`", (edit.replace(node.attr, "untyped_storage"),), row.applicability)
    return None
