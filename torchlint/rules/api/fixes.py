"""How what the table says of a row becomes edits: renamed names, rewritten calls."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import libcst as cst

from torchlint import edit
from torchlint.model import Model
from torchlint.rule import Anchor, Applicability, Edit, Fix
from torchlint.rules.api import mentions, sites
from torchlint.rules.api.sites import Use, applicability
from torchlint.rules.api.table import Case, Row


def fix(use: Use, model: Model) -> Fix | None:
    """The fix for a place where a row is named; None if there is none there."""
    if mentions.is_patched(use.row, model):
        return None
    found = _written_there(use, model)
    return mentions.judged(found, use, model) if found is not None else None


def _written_there(use: Use, model: Model) -> Fix | None:
    if use.row.fix == "rename":
        return sites.rename(use, model)
    if use.row.fix == "rename-module":
        return _rename_module(use, model)
    if use.row.fix == "import":
        return _other_import(use, model)
    if use.alias is not None and use.statement is not None:
        return sites.removal(use.alias, use.statement, model)
    call = model.tree.parent(use.node)
    if isinstance(call, cst.Call) and call.func is use.node and (fixer := CALLS.get(use.row.fix)) is not None:
        return fixer(call, use.row, model)
    other = NAMES.get(use.row.fix)
    return other(use, model) if other is not None else None


# ---------------------------------------------------------------------- modules


def _rename_module(use: Use, model: Model) -> Fix | None:
    row, node = use.row, use.node
    said = f"Use `{row.replacement}`"
    if use.alias is not None and use.statement is not None:
        return _rename_imported_module(use.alias, use.statement, row, said)
    if not isinstance(node, (cst.Name, cst.Attribute)):
        return None
    parent = model.tree.parent(node)
    is_import = model.tree.enclosing(node, cst.Import, cst.ImportFrom) is not None
    if not is_import:
        spelled = sites.spell(row.replacement, node, model)
        imported = any(
            sites.dotted(alias.name) in (row.name, row.replacement)
            for import_ in model.tree.all(cst.Import)
            for alias in import_.names
        )
        if spelled is None or not (imported or row.name == "torch.quantization"):  # torch imports that by itself
            return None
        return Fix(said, (edit.replace(node, spelled[0]),), applicability(row), spelled[1])
    if isinstance(parent, cst.ImportAlias) and parent.asname is None and row.replacement.split(".")[0] != row.package:
        return None
    return Fix(said, (edit.replace(node, row.replacement),), applicability(row))


def _rename_imported_module(alias: cst.ImportAlias, statement: cst.ImportFrom, row: Row, said: str) -> Fix | None:
    """``from torch import quantization``: the module comes from elsewhere, and is called as before."""
    package, _, name = row.replacement.rpartition(".")
    if isinstance(statement.names, cst.ImportStar) or len(statement.names) > 1 or statement.module is None:
        return None
    old = sites.last(alias.name)
    text = name if name == old or alias.asname is not None else f"{name} as {old}"
    return Fix(said, (edit.replace(statement.module, package), edit.replace(alias.name, text)), applicability(row))


def _other_import(use: Use, model: Model) -> Fix | None:
    """Another statement that binds the same name, where the old one has no other names: ``from math import inf``."""
    alias, statement = use.alias, use.statement
    if alias is None or statement is None or isinstance(statement.names, cst.ImportStar):
        return None
    if len(statement.names) > 1 or alias.asname is not None:
        return None
    return Fix(f"Use `{use.row.text}`", (edit.replace(statement, use.row.text),), applicability(use.row))


# ---------------------------------------------------------------------- calls


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter in the column ``signature``."""

    name: str
    default: str | None


def parameters(signature: str) -> list[Parameter]:
    """The parameters of a signature: ``input, upper=True``."""
    found = []
    for part in filter(None, map(str.strip, signature.split(","))):
        name, _, default = part.partition("=")
        found.append(Parameter(name, default or None))
    return found


def bind(args: Sequence[cst.Arg], given: Sequence[Parameter]) -> dict[str, cst.BaseExpression] | None:
    """The arguments by the names of the parameters; None if they cannot be told, or do not fit."""
    bound: dict[str, cst.BaseExpression] = {}
    names = [parameter.name for parameter in given]
    for index, arg in enumerate(args):
        if arg.star:
            return None
        name = arg.keyword.value if arg.keyword is not None else names[index] if index < len(names) else None
        if name is None or name not in names or name in bound:
            return None
        bound[name] = arg.value
    required = [parameter.name for parameter in given if parameter.default is None]
    return bound if all(name in bound for name in required) else None


def holds(condition: str, bound: Mapping[str, cst.BaseExpression], model: Model) -> bool:
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


def written(template: str, bound: Mapping[str, cst.BaseExpression], model: Model) -> str | None:
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


def taken(call: cst.Call, fields: Sequence[str], model: Model) -> Taken:
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
    given = parameters(row.signature)
    bound = bind(call.args, given[1:] if receiver is not None else given)
    if bound is None:
        return _prefixed(call, row, model) if receiver is None else None
    if receiver is not None:
        bound = {given[0].name: receiver, **bound}
    fields = [name.strip() for name in row.fields.split(",")] if row.fields else []
    result = taken(call, fields, model)
    for case in row.cases:
        if not _fits(case, result, model) or not holds(case.when, bound, model):
            continue
        whole = result if case.field is not None else Taken(call, call)
        return _written(row, case, whole, bound, model)
    return None


_PREFIX = re.compile(r"([\w.]+)\(('\w+')((?:\[, (\w+)=\{\4\}\])*)\)")


def _prefixed(call: cst.Call, row: Row, model: Model) -> Fix | None:
    """A call with keywords only, some of which cannot be seen, where nothing but a first argument is new."""
    match = _PREFIX.fullmatch(row.cases[0].write) if len(row.cases) == 1 else None
    if match is None or not call.args or any(arg.keyword is None and arg.star != "**" for arg in call.args):
        return None
    spelled = sites.spell(match[1], call, model)
    if spelled is None:
        return None
    edits = (edit.replace(call.func, spelled[0]), edit.insert_before(call.args[0], f"{match[2]}, "))
    return Fix(f"Use `{match[1]}`", edits, applicability(row), spelled[1])


def _fits(case: Case, result: Taken, model: Model) -> bool:
    return (case.field is None or case.field == result.field) and model.target.has(case.since)


def _written(row: Row, case: Case, result: Taken, bound: Mapping[str, cst.BaseExpression], model: Model) -> Fix | None:
    told = {name for name, _ in _PLACE.findall(case.write)} | set(re.findall(r"(\w+)=", case.when))
    text = written(case.write, bound, model)
    if text is None or not bound.keys() <= told:
        return None
    said = f"Use `{case.write.partition('(')[0]}`"
    call = result.call
    spelled = spell_all(text, call, model)
    if spelled is None:
        return None
    text, imports = spelled
    fix = Fix(said, (*_smallest(call, result, text, model), *result.edits), applicability(row), imports)
    if _is_reordered(call, case.write, bound, model):
        fix = Fix(said, fix.edits, Applicability.UNSAFE, imports)
    return fix


_TORCH_NAME = re.compile(r"(?<![\w.\"'])torch(?:\.\w+)+")


def spell_all(text: str, node: cst.CSTNode, model: Model) -> tuple[str, tuple[str, ...]] | None:
    """A text with the names of torch as this file spells them, and the imports that it needs."""
    needed: dict[str, None] = {}
    pieces, at = [], 0
    for match in _TORCH_NAME.finditer(text):
        spelled = sites.spell(match.group(), node, model)
        if spelled is None:
            return None
        pieces += [text[at : match.start()], spelled[0]]
        needed |= dict.fromkeys(spelled[1])
        at = match.end()
    return "".join(pieces) + text[at:], tuple(needed)


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


def keywords(call: cst.Call, names: Sequence[str], row: Row, said: str) -> Fix | None:
    """Give positional arguments by keyword."""
    found = []
    for arg, name in zip(call.args, names, strict=False):
        if arg.star or arg.keyword is not None:
            break
        found.append(edit.insert_before(arg.value, f"{name}="))
    return Fix(said, tuple(found), applicability(row)) if found else None


def add_argument(call: cst.Call, text: str) -> Edit:
    """Append an argument to a call."""
    if not call.args:
        return Edit(Anchor(call.func, True), Anchor(call, True, inside=True), f"({text})")
    last = call.args[-1].value
    if isinstance(last, cst.GeneratorExp) and not last.lpar:
        return Edit(Anchor(last, True), Anchor(last, True), f"), {text}")
    return edit.insert_after(last, f", {text}")


def _multi_dot(call: cst.Call, row: Row, model: Model) -> Fix | None:
    """``chain_matmul(a, b)`` to ``multi_dot([a, b])``."""
    plain = [arg for arg in call.args if arg.keyword is None]
    out = [arg for arg in call.args if arg.keyword is not None]
    if any(arg.star == "**" or (arg.keyword is not None and arg.keyword.value != "out") for arg in call.args):
        return None
    if len(plain) < 2 and not any(arg.star for arg in plain):
        return None
    spelled = sites.spell(row.replacement, call, model)
    if spelled is None or call.args[len(plain) - 1] is not plain[-1] or out != list(call.args[len(plain) :]):
        return None
    found = (
        edit.replace(call.func, spelled[0]),
        Edit(Anchor(plain[0], False), Anchor(plain[0], False), "["),
        Edit(Anchor(plain[-1].value, True), Anchor(plain[-1].value, True), "]"),
    )
    safe = applicability(row) if not any(arg.star for arg in plain) else Applicability.UNSAFE
    return Fix("Use `torch.linalg.multi_dot`", found, safe, spelled[1])


def _arange(call: cst.Call, row: Row, model: Model) -> Fix | None:
    """``range(a, b)``, which is a float and includes its end, to ``arange``."""
    names = [Parameter("start", "0"), Parameter("end", ""), Parameter("step", "1")]
    kept = [arg for arg in call.args if arg.keyword is not None and arg.keyword.value in ("device", "requires_grad")]
    dtype = sites.keyword(call.args, "dtype")
    plain = [arg for arg in call.args if arg not in kept and arg is not dtype]
    bound = bind(plain, names)
    if bound is None or "end" not in bound:
        return None
    numbers = {name: _integer(node) for name, node in bound.items()}
    step = numbers.get("step", 1)
    end = numbers["end"]
    if any(number is None for number in numbers.values()) or not step or end is None:
        return None
    stop = end + (1 if step > 0 else -1)
    given = [] if "start" not in bound else [model.tree.code(bound["start"])]
    if not given and "step" in bound:
        given = ["0"]
    given += [str(stop)] + ([model.tree.code(bound["step"])] if "step" in bound else [])
    default = "dtype=torch.get_default_dtype()"
    given += [model.tree.code(dtype) if dtype is not None else default]
    given += [model.tree.code(arg) for arg in kept]
    spelled = spell_all(f"torch.arange({', '.join(given)})", call, model)
    if spelled is None:
        return None
    return Fix("Use `torch.arange`, one further", (edit.replace(call, spelled[0]),), applicability(row), spelled[1])


def _integer(node: cst.BaseExpression) -> int | None:
    match node:
        case cst.Integer(value=value) if value.isdecimal():
            return int(value)
        case cst.UnaryOperation(operator=cst.Minus(), expression=cst.Integer(value=value)) if value.isdecimal():
            return -int(value)
    return None


def _with_device_type(use: Use, model: Model) -> Fix | None:
    """``custom_fwd`` with the device: as a decorator without a call, called with a function, or with keywords."""
    row, node = use.row, use.node
    if not isinstance(node, (cst.Name, cst.Attribute)):
        return None
    spelled = sites.spell(row.replacement, node, model)
    if spelled is None:
        return None
    name, device = edit.replace(node, spelled[0]), "device_type='cuda'"
    said = f"Use `{row.replacement}(…, {device})`"
    parent = model.tree.parent(node)
    match parent:
        case cst.Decorator():
            edits: tuple[Edit, ...] = (edit.replace(node, f"{spelled[0]}({device})"),)
        case cst.Call() if parent.func is node and not sites.is_open(parent.args):
            edits = (name, add_argument(parent, device))
        case _:
            return None
    return Fix(said, edits, applicability(row), spelled[1])


def _asked(use: Use, model: Model) -> Fix | None:
    """``torch.has_mps`` to a call."""
    if not isinstance(use.node, (cst.Name, cst.Attribute)):
        return None
    spelled = spell_all(use.row.text, use.node, model)
    if spelled is None:
        return None
    return Fix(f"Use `{use.row.text}`", (edit.replace(use.node, spelled[0]),), applicability(use.row), spelled[1])


def _builtin(use: Use, model: Model) -> Fix | None:
    if sites.is_shadowed(use.row.to, use.node, model):
        return None
    return Fix(f"Use `{use.row.to}`", (edit.replace(use.node, use.row.to),), applicability(use.row))


_DTYPES = {
    "FloatTensor": "float32",
    "DoubleTensor": "float64",
    "HalfTensor": "float16",
    "BFloat16Tensor": "bfloat16",
}


def _default_dtype(call: cst.Call, row: Row, model: Model) -> Fix | None:
    """The dtype of a type of tensors on the CPU."""
    if len(call.args) != 1 or call.args[0].star:
        return None
    value = call.args[0].value
    if isinstance(value, cst.SimpleString):
        name = value.raw_value
    else:
        name = (sites.resolve(value, model) or ("", ""))[1] if isinstance(value, (cst.Name, cst.Attribute)) else ""
    match = re.fullmatch(r"torch\.(\w+)", name)
    if match is None or match[1] not in _DTYPES:
        return None
    function = sites.spell("torch.set_default_dtype", call, model)
    dtype = sites.spell(f"torch.{_DTYPES[match[1]]}", call, model)
    if function is None or dtype is None:
        return None
    edits = (edit.replace(call.func, function[0]), edit.replace(value, dtype[0]))
    return Fix("Use `torch.set_default_dtype`", edits, applicability(row), (*function[1], *dtype[1]))


CALLS: dict[str, Callable[[cst.Call, Row, Model], Fix | None]] = {
    "call": rewrite,
    "multi-dot": _multi_dot,
    "arange": _arange,
    "default-dtype": _default_dtype,
}
"""Words in the column ``fix`` that rewrite a call."""

NAMES: dict[str, Callable[[Use, Model], Fix | None]] = {
    "custom-fwd": _with_device_type,
    "call-attribute": _asked,
    "builtin": _builtin,
}
"""Words in the column ``fix`` that rewrite a name."""


# ---------------------------------------------------------------------- methods


def of_method(node: cst.Attribute, row: Row, model: Model) -> Fix | None:
    """The fix for a method or attribute of an object."""
    if mentions.is_patched(row, model):
        return None
    call = model.tree.parent(node)
    is_called = isinstance(call, cst.Call) and call.func is node
    if row.fix == "rename-method":
        return Fix(f"Use `.{row.to}`", (edit.replace(node.attr, row.to),), applicability(row))
    if not is_called or not isinstance(call, cst.Call):
        return None
    if row.fix == "call":
        return rewrite(call, row, model)
    if row.fix == "next" and not sites.is_shadowed("next", node, model):
        found = (edit.insert_before(call, "next("), edit.replace_after(node.value, call, ")"))
        return Fix("Use `next(…)`", found, applicability(row))
    if row.fix == "sample-n" and len(call.args) == 1 and not sites.is_open(call.args):
        size = call.args[0].value
        found = (edit.replace(node.attr, "sample"), edit.replace(call.args[0], f"({model.tree.code(size)},)"))
        return Fix("Use `.sample((n,))`", found, applicability(row))
    if row.fix == "untyped-storage" and not call.args:
        outer = model.tree.parent(call)
        if isinstance(outer, cst.Attribute) and outer.attr.value in (
            "data_ptr",
            "device",
            "is_cuda",
            "nbytes",
            "is_shared",
        ):
            return Fix("Use `.untyped_storage()`", (edit.replace(node.attr, "untyped_storage"),), applicability(row))
    return None
