"""Autograd functions in the style of before 0.4, rewritten with static methods.

An instance kept what it was made with, and was called: ``Scale(2)(x)``. What its constructor stored goes into
``forward`` as further inputs, which have no gradients: ``Scale.apply(x, 2)``.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

import libcst as cst

from torchlint import edit
from torchlint.model import Kind, Model
from torchlint.model.syntax import dotted, has_stars
from torchlint.rule import Anchor, Edit
from torchlint.rules.api.renames import literals

_METHODS = ("__init__", "forward", "backward")


def rewritten(cls: cst.ClassDef, model: Model) -> tuple[Edit, ...]:
    """The edits that make the methods of a class static, and apply it where it is called; none where that is unsure."""
    return model.remember(_rewritten, cls)


def _rewritten(model: Model, cls: cst.ClassDef) -> tuple[Edit, ...]:
    methods = _methods(cls)
    if methods is None or len(cls.bases) != 1 or cls.keywords or cls.decorators:
        return ()
    forward, backward, constructor = methods["forward"], methods["backward"], methods.get("__init__")
    stored = _stored(constructor, model) if constructor is not None else ()
    given = _plain_parameters(constructor)[1:] if constructor is not None else []
    inputs = _plain_parameters(forward)[1:]
    if stored is None or not inputs or any(param.default is not None for param in inputs):
        return ()
    uses = [use for each in (forward, backward) for use in model.tree.within(each, cst.Name)]
    if not _can_be_renamed(forward, backward, model) or not {param.name.value for param in given}.isdisjoint(
        use.value for use in uses if not _is_attribute(use, model)
    ):
        return ()
    ends = _ends(backward, len(inputs), len(given), model)
    calls = _calls(cls, constructor, model)
    if ends is None or calls is None:
        return ()
    applied = [_applied(call, inputs, given, model) for call in calls]
    if not all(applied) or model.taker(cls.name.value) is not None:
        return ()
    edits = [*_into_static(forward, model), *_into_static(backward, model), *ends]
    edits += [new for each in applied for new in each]
    if given:
        edits.append(edit.insert_after(inputs[-1], "".join(f", {_written(each, model)}" for each in given)))
    if stored:
        first = forward.body.body[_has_docstring(forward)]
        indent = f"{model.tree.source.newline}{model.tree.indentation(first)}"
        edits.append(edit.insert_before(first, "".join(f"{line}{indent}" for line in stored)))
    if constructor is not None:
        edits = _without_constructor(cls, constructor, edits)
    return tuple(edits)


def _methods(cls: cst.ClassDef) -> dict[str, cst.FunctionDef] | None:
    """The methods by name, if there are no others and nothing else is in the class."""
    found: dict[str, cst.FunctionDef] = {}
    for statement in cls.body.body:
        match statement:
            case cst.FunctionDef(name=cst.Name(value=name), decorators=[], asynchronous=None) if name in _METHODS:
                found[name] = statement
            case cst.SimpleStatementLine(body=[cst.Expr(value=cst.BaseString())]):
                continue
            case _:
                return None
    is_whole = "forward" in found and "backward" in found
    return found if is_whole and all(_plain_parameters(method) for method in found.values()) else None


def _plain_parameters(method: cst.FunctionDef) -> list[cst.Param]:
    """The parameters of a method of which the first is ``self``; none if some are given in another way."""
    params = method.params
    others = (params.kwonly_params, params.posonly_params, params.star_kwarg)
    is_plain = not any(others) and not isinstance(params.star_arg, cst.Param) and bool(params.params)
    is_closed = is_plain and not isinstance(params.params[-1].comma, cst.Comma)
    return list(params.params) if is_closed and params.params[0].name.value == "self" else []


def _written(param: cst.Param, model: Model) -> str:
    name, code = param.name.value, model.tree.code
    if param.annotation is None:
        return name if param.default is None else f"{name}={code(param.default)}"
    annotated = f"{name}: {code(param.annotation.annotation)}"
    return annotated if param.default is None else f"{annotated} = {code(param.default)}"


def _stored(constructor: cst.FunctionDef, model: Model) -> tuple[str, ...] | None:
    """What a constructor stores, as statements of ``forward``; None if it does anything else."""
    if not isinstance(constructor.body, cst.IndentedBlock) or _has_comments(constructor.body, model):
        return None
    stored = []
    for statement in constructor.body.body:
        match statement:
            case cst.SimpleStatementLine(body=[cst.Pass()]):
                continue
            case cst.SimpleStatementLine(
                body=[cst.Expr(value=cst.Call(func=cst.Attribute(attr=cst.Name("__init__"))))]
            ):
                continue
            case cst.SimpleStatementLine(
                body=[cst.Assign(targets=[cst.AssignTarget(target=cst.Attribute() as target)], value=value)]
            ) if dotted(target) == f"self.{target.attr.value}":
                if any(name.value == "self" for name in model.tree.within(value, cst.Name)):
                    return None
                if any(quotes in model.tree.code(value) for quotes in ("'''", '"""')):
                    return None  # what such a text has on further lines begins where it begins
                stored.append(f"ctx.{target.attr.value} = {_below(value, statement, model)}")
            case _:
                return None
    return tuple(stored)


def _below(value: cst.BaseExpression, statement: cst.BaseStatement, model: Model) -> str:
    """The code of a value whose further lines stand below the first one, which begins a place further left now."""
    newline, indent = model.tree.source.newline, model.tree.indentation(statement)
    first, *others = model.tree.code(value).split(newline)
    return newline.join((first, *(f"{indent}{each.removeprefix(' ')}" for each in others)))


def _has_comments(block: cst.IndentedBlock, model: Model) -> bool:
    """Whether comments stand in a block of simple statements or behind its header; in a first look there are none."""
    statements = [each for each in block.body if isinstance(each, cst.SimpleStatementLine)]
    lines = [line for each in statements for line in getattr(each, "leading_lines", ())]
    lines += [getattr(block, "header", None), *getattr(block, "footer", ())]
    if any(line is not None and line.comment is not None for line in lines):
        return True
    return any(edit.has_comment(each) or "#" in model.tree.code(small) for each in statements for small in each.body)


def _is_attribute(name: cst.Name, model: Model) -> bool:
    parent = model.tree.parent(name)
    return isinstance(parent, cst.Attribute) and parent.attr is name


def _can_be_renamed(forward: cst.FunctionDef, backward: cst.FunctionDef, model: Model) -> bool:
    """Whether of ``self`` only attributes are asked for, none of them a method, and no name is in the way."""
    for method in (forward, backward):
        for name in model.tree.within(method.body, cst.Name):
            if name.value == "ctx":
                return False
            parent = model.tree.parent(name)
            if name.value == "self" and not (
                isinstance(parent, cst.Attribute) and parent.value is name and parent.attr.value not in _METHODS
            ):
                return False
    return True


def _into_static(method: cst.FunctionDef, model: Model) -> Iterator[Edit]:
    newline = f"{model.tree.source.newline}{model.tree.indentation(method)}"
    yield edit.insert_before(method, f"@staticmethod{newline}")
    yield edit.replace(method.params.params[0].name, "ctx")
    yield from (edit.replace(use, "ctx") for use in model.tree.within(method.body, cst.Name) if use.value == "self")


def _ends(backward: cst.FunctionDef, inputs: int, given: int, model: Model) -> list[Edit] | None:
    """``None`` for each further input, behind the gradients that are returned; None where those cannot be counted."""
    returned = [each for each in model.tree.within(backward, cst.Return) if model.scopes.scope_of(each) is backward]
    edits, more = [], ", None" * given
    for each in returned:
        match each.value:
            case cst.Tuple(elements=elements) if elements and not any(
                isinstance(part, cst.StarredElement) for part in elements
            ):
                edits.append(edit.insert_after(elements[-1].value, more))
            case cst.BaseExpression() as value if inputs == 1 and not value.lpar and not _may_be_several(value, model):
                edits.append(edit.insert_after(value, more))
            case _:
                return None
    return (edits if given else []) if edits else None


def _may_be_several(value: cst.BaseExpression, model: Model) -> bool:
    return bool(model.value(value).kind & Kind.CONTAINER) or isinstance(value, (cst.Tuple, cst.Lambda, cst.Yield))


def _calls(cls: cst.ClassDef, constructor: cst.FunctionDef | None, model: Model) -> list[cst.Call] | None:
    """All calls of instances, where the class is used for nothing else; None if it is."""
    found = []
    for use in model.all_called(cls.name.value):
        if constructor is not None and model.tree.is_inside(use, constructor):
            continue
        made = model.tree.parent(use)
        call = model.tree.parent(made) if isinstance(made, cst.Call) and made.func is use else None
        if not isinstance(call, cst.Call) or call.func is not made or model.value(use).node is not cls:
            return None
        found.append(call)
    # a text may be the name that a class is looked up by
    return found if cls.name.value not in model.remember(literals) else None


def _applied(call: cst.Call, inputs: Sequence[cst.Param], given: Sequence[cst.Param], model: Model) -> tuple[Edit, ...]:
    """``F.apply(x, a)`` for ``F(a)(x)``; nothing where the arguments cannot be put into that order."""
    made = call.func
    if not isinstance(made, cst.Call) or has_stars((*call.args, *made.args)) or "#" in model.tree.code(call):
        return ()
    if len(call.args) != len(inputs) or any(arg.keyword is not None for arg in call.args):
        return ()
    names = [param.name.value for param in given]
    values = {arg.keyword.value if arg.keyword is not None else name: arg.value for arg, name in _matched(made, names)}
    if len(values) != len(made.args) or not values.keys() <= set(names):
        return ()
    last = max((index for index, name in enumerate(names) if name in values), default=-1)
    arguments = [values.get(param.name.value, param.default) for param in given[: last + 1]]
    if None in arguments or any(param.default is None for param in given[last + 1 :]):
        return ()
    written = "".join(f", {model.tree.code(each)}" for each in arguments if each is not None)
    ends = [edit.insert_after(call.args[-1].value, written)] if written else []
    return edit.replace_after(made.func, made, ".apply"), *ends


def _matched(made: cst.Call, names: Sequence[str]) -> Iterator[tuple[cst.Arg, str]]:
    """The arguments of a call, each with the name that its place stands for."""
    for index, arg in enumerate(made.args):
        yield arg, names[index] if index < len(names) else ""


def _has_docstring(function: cst.FunctionDef) -> bool:
    match function.body.body[0]:
        case cst.SimpleStatementLine(body=[cst.Expr(value=cst.BaseString())]):
            return True
    return False


def _without_constructor(cls: cst.ClassDef, constructor: cst.FunctionDef, edits: list[Edit]) -> list[Edit]:
    """The edits, and the constructor removed: with what stands between it and the next method, or the one before."""
    for one, following in pairwise(cls.body.body):
        if one is constructor:
            start = next(each for each in edits if each.start == each.end == Anchor(following, False))
            whole = Edit(Anchor(constructor, False), Anchor(following, False), start.text)
            return [whole if each is start else each for each in edits]
    before = next(one for one, following in pairwise(cls.body.body) if following is constructor)
    return [*edits, Edit(Anchor(before, True), Anchor(constructor, True), "")]
