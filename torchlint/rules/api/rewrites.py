"""Calls that are written anew after a template of the table, as far as they have to be."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import libcst as cst

from torchlint import edit
from torchlint.model import Model
from torchlint.rule import Edit, Fix
from torchlint.rules.api import calls, names
from torchlint.rules.api.table import Case, Row


def _holds(condition: str, bound: Mapping[str, cst.BaseExpression], model: Model) -> bool:
    """Whether the arguments are as the column ``when`` says."""
    for part in filter(None, map(str.strip, condition.split(","))):
        name, _, wanted = part.partition("=")
        value = bound.get(name)
        code = "absent" if value is None else model.tree.code(value)
        if code not in wanted.split("|"):
            return False
    return True


_PLACE = re.compile(r"\{(\w+)(?::([^{}]*))?\}")


_OPTIONAL = re.compile(r"\[([^\[\]]*\{\w+\}[^\[\]]*)\]")


def _filled(template: str, bound: Mapping[str, cst.BaseExpression], model: Model) -> str | None:
    """What a template becomes with these arguments; None if it has no place for one that it is not told of."""

    def optional(match: re.Match[str]) -> str:
        names = [name for name, _ in _PLACE.findall(match[1])]
        return match[1] if all(name in bound for name in names) else ""

    template = re.sub(r"\(, ", "(", _OPTIONAL.sub(optional, template))
    missing = [name for name, default in _PLACE.findall(template) if name not in bound and not default]
    if missing:
        return None
    return _PLACE.sub(lambda match: _argument(bound[match[1]], model) if match[1] in bound else match[2], template)


def _argument(node: cst.BaseExpression, model: Model) -> str:
    """An expression as an argument of its own."""
    code = model.tree.code(node)
    if not node.lpar and (isinstance(node, (cst.GeneratorExp, cst.NamedExpr, cst.Yield)) or edit.breaks_line(code)):
        return f"({code})"
    return code


@dataclass(frozen=True, slots=True)
class Taken:
    """What is taken of the result of a call."""

    call: cst.Call
    node: cst.BaseExpression
    """What stands for it: the call, ``call[0]``, ``call.solution``."""
    field: int | None = None
    edits: tuple[Edit, ...] = ()


def _taken(call: cst.Call, fields: Sequence[str], model: Model) -> Taken:
    """What is taken of a result that has these fields: one of them, or all."""
    parent = model.tree.parent(call)
    match parent:
        case cst.Subscript(slice=[cst.SubscriptElement(slice=cst.Index(value=cst.Integer(value=index)))]):
            if parent.value is call and index.isdecimal() and int(index) < len(fields):
                return Taken(call, parent, int(index))
        case cst.Attribute(attr=cst.Name(value=name)) if parent.value is call and name in fields:
            return Taken(call, parent, fields.index(name))
        case cst.Assign(targets=[cst.AssignTarget(target=cst.Tuple(elements=elements) as target)]):
            names = [e.value for e in elements if isinstance(e, cst.Element)]
            wanted = [at for at, name in enumerate(names) if not _is_dropped(name, model)]
            if len(names) == len(fields) and len(wanted) == 1:
                kept = names[wanted[0]]
                return Taken(call, call, wanted[0], (edit.replace(target, model.tree.code(kept)),))
    return Taken(call, call)


def _is_taken_apart(
    node: cst.BaseExpression, fields: Sequence[str], model: Model, followed: frozenset[str] = frozenset()
) -> bool:
    """Whether a result with these fields goes nowhere as a whole: who gets it could see that it has another type."""
    parent = model.tree.parent(node)
    match parent:
        case cst.Subscript():
            return parent.value is node
        case cst.Attribute(attr=cst.Name(value=name)):
            return name in fields
        case cst.Arg(star="*"):
            return True
        case cst.Expr():
            return not model.tree.is_shown(parent)
        case cst.Assign(targets=[cst.AssignTarget(target=cst.Tuple() | cst.List())]):
            return True
        case cst.Assign(targets=[cst.AssignTarget(target=cst.Name(value=name) as target)]):
            scope = model.scopes.scope_of(target)
            if not isinstance(scope, cst.FunctionDef) or name in followed:
                return name in followed  # what a module has others may import
            uses = [use for use in model.references(name, scope) if not model.is_target(use)]
            return all(_is_taken_apart(use, fields, model, followed | {name}) for use in uses)
    return False


def _is_dropped(node: cst.BaseExpression, model: Model) -> bool:
    """Whether nobody reads a name that a field is assigned to."""
    if not isinstance(node, cst.Name):
        return False
    scope = model.scopes.scope_of(node)
    uses = model.references(node.value, scope)
    return bool(re.fullmatch(r"_+", node.value)) and all(model.is_target(use) for use in uses)


def rewrite(call: cst.Call, row: Row, model: Model) -> Fix | None:
    """Rewrite a call of a function as the first case says whose conditions hold."""
    receiver = None
    if row.kind == "method" and isinstance(call.func, cst.Attribute):
        receiver = call.func.value
    given = calls.parameters(row.signature)
    bound = calls.bind(call.args, given[1:] if receiver is not None else given)
    if bound is None:
        return _prefixed(call, row, model) if receiver is None else None
    if receiver is not None:
        bound = {given[0].name: receiver, **bound}
    fields = [name.strip() for name in row.fields.split(",")] if row.fields else []
    result = _taken(call, fields, model)
    for case in row.cases:
        if not _fits(case, result, model) or not _holds(case.when, bound, model):
            continue
        if case.field is not None:
            return _written(row, case, result, bound, model)
        fix = _written(row, case, Taken(call, call), bound, model)
        is_told = fields and not row.is_removed(model.target) and not _is_taken_apart(call, fields, model)
        return fix.doubted("the result is of another type") if fix is not None and is_told else fix
    return None


_PREFIX = re.compile(r"([\w.]+)\(('\w+')((?:\[, (\w+)=\{\4\}\])*)\)")


def _prefixed(call: cst.Call, row: Row, model: Model) -> Fix | None:
    """A call with keywords only, some of which cannot be seen, where nothing but a first argument is new."""
    match = _PREFIX.fullmatch(row.cases[0].write) if len(row.cases) == 1 else None
    if match is None or not call.args or any(arg.keyword is None and arg.star != "**" for arg in call.args):
        return None
    spelled = names.spell(match[1], call, model)
    if spelled is None:
        return None
    edits = (edit.replace(call.func, spelled[0]), edit.insert_before(call.args[0], f"{match[2]}, "))
    return Fix(f"Use `{match[1]}`", edits, row.applicability, spelled[1])


def _fits(case: Case, result: Taken, model: Model) -> bool:
    return (case.field is None or case.field == result.field) and model.target.has(case.since)


def _written(row: Row, case: Case, result: Taken, bound: Mapping[str, cst.BaseExpression], model: Model) -> Fix | None:
    told = {name for name, _ in _PLACE.findall(case.write)} | set(re.findall(r"(\w+)=", case.when))
    text = _filled(case.write, bound, model)
    if text is None or not bound.keys() <= told:
        return None
    said = f"Use `{case.write.partition('(')[0]}`"
    call = result.call
    spelled = names.spell_all(text, call, model)
    if spelled is None:
        return None
    text, imports = spelled
    fix = Fix(said, (*_smallest(call, result, text, model), *result.edits), row.applicability, imports)
    return fix.doubted(calls.REORDERED) if _is_reordered(call, case.write, bound, model) else fix


def _smallest(call: cst.Call, result: Taken, text: str, model: Model) -> tuple[Edit, ...]:
    """Edits that write a text over a call, and leave its arguments alone where those stay as they are."""
    if result.node is call and text.endswith(")"):
        name, _, rest = text[:-1].partition("(")
        code = ", ".join(model.tree.code(arg) for arg in call.args)
        if rest == code:
            return (edit.replace(call.func, name),)
        if call.args and rest.endswith(code) and rest[: -len(code)].endswith(", "):
            return edit.replace(call.func, name), edit.insert_before(call.args[0], rest[: -len(code)])
        if call.args and rest.startswith(code + ", "):
            last = call.args[-1]
            return edit.replace(call.func, name), edit.insert_after(last.value, rest[len(code) :])
    return (edit.replace(result.node, text),)


def _is_reordered(call: cst.Call, template: str, bound: Mapping[str, cst.BaseExpression], model: Model) -> bool:
    """Whether several arguments that do something are evaluated in another order."""
    busy = [name for name, node in bound.items() if _does_something(node, model)]
    if len(busy) < 2:
        return False
    order = [name for name, _ in _PLACE.findall(template) if name in busy]
    written = sorted(busy, key=lambda name: model.tree.order(bound[name]))
    return order != written


def _does_something(node: cst.BaseExpression, model: Model) -> bool:
    return any(isinstance(each, (cst.Call, cst.NamedExpr, cst.Await, cst.Yield)) for each in model.tree.walk(node))
