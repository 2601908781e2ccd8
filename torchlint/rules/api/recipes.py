"""Fixes that no template of the table can say: one function for each such word in its column ``fix``."""

from __future__ import annotations

import re
from collections.abc import Callable

import libcst as cst

from torchlint import edit
from torchlint.diagnostic import Applicability
from torchlint.model import Kind, Model
from torchlint.model.codebase.exports import is_mentioned
from torchlint.model.syntax import assignment_of, has_stars, integer, keyword
from torchlint.rule import Anchor, Edit, Fix
from torchlint.rules.api import calls, names, places, rewrites
from torchlint.rules.api.calls import Parameter
from torchlint.rules.api.table import Row
from torchlint.rules.api.uses import Use


def _multi_dot(call: cst.Call, row: Row, model: Model) -> Fix | None:
    """``chain_matmul(a, b)`` to ``multi_dot([a, b])``."""
    plain = [arg for arg in call.args if arg.keyword is None]
    out = [arg for arg in call.args if arg.keyword is not None]
    if any(arg.star == "**" or (arg.keyword is not None and arg.keyword.value != "out") for arg in call.args):
        return None
    if len(plain) < 2 and not any(arg.star for arg in plain):
        return None
    spelled = names.spell(row.replacement, call, model)
    if spelled is None or call.args[len(plain) - 1] is not plain[-1] or out != list(call.args[len(plain) :]):
        return None
    found = (
        edit.replace(call.func, spelled[0]),
        Edit(Anchor(plain[0], False), Anchor(plain[0], False), "["),
        Edit(Anchor(plain[-1].value, True), Anchor(plain[-1].value, True), "]"),
    )
    fix = Fix("Use `torch.linalg.multi_dot`", found, row.applicability, spelled[1])
    return fix.doubted("of a single matrix it raises") if any(arg.star for arg in plain) else fix


def _arange(call: cst.Call, row: Row, model: Model) -> Fix | None:
    """``range(a, b)``, which is a float and includes its end, to ``arange``."""
    order = [Parameter("start", "0"), Parameter("end", ""), Parameter("step", "1")]
    kept = [arg for arg in call.args if arg.keyword is not None and arg.keyword.value in ("device", "requires_grad")]
    dtype = keyword(call.args, "dtype")
    plain = [arg for arg in call.args if arg not in kept and arg is not dtype]
    bound = calls.bind(plain, order)
    if bound is None or "end" not in bound:
        return None
    step = integer(bound["step"]) if "step" in bound else 1
    stop = _one_further(bound["end"], step, model) if step else None
    if stop is None or ("start" in bound and _is_broken(bound["start"])):
        return None
    given = [] if "start" not in bound else [model.tree.code(bound["start"])]
    if not given and "step" in bound:
        given = ["0"]
    given += [stop] + ([model.tree.code(bound["step"])] if "step" in bound else [])
    is_whole = all(_is_whole(node, model) for node in bound.values())
    replaced: cst.Call = call
    cast = _cast_to(("long",), call, model)
    if cast is not None and is_whole and not kept:
        replaced = cast
    elif dtype is not None or not _is_cast(call, kept, model):
        given += [model.tree.code(dtype) if dtype is not None else "dtype=torch.get_default_dtype()"]
    given += [model.tree.code(arg) for arg in kept]
    spelled = names.spell_all(f"torch.arange({', '.join(given)})", call, model)
    if spelled is None:
        return None
    edits = (edit.replace(replaced, spelled[0]),)
    said = "Use `torch.arange` with an end that is larger by one step"
    if any("get_default_dtype" in each for each in given) and model.remember(_is_scripted):
        risk = "TorchScript knows no `torch.get_default_dtype()`"
        return Fix(said, edits, Applicability.UNSAFE, spelled[1], risk=risk)
    if keyword(call.args, "device") is None and places.may_be_default(call, model):
        risk = "it is made on the default device, which `torch.range` ignores"
        return Fix(said, edits, Applicability.UNSAFE, spelled[1], risk=risk)
    if is_whole:
        return Fix(said, edits, row.applicability, spelled[1])
    return Fix(
        said, edits, Applicability.UNSAFE, spelled[1], risk="a bound that is no whole number gives other elements"
    )


def _is_broken(node: cst.BaseExpression) -> bool:
    """Whether something is plain to see to be no whole number: the last element is not the end then."""
    match node:
        case cst.UnaryOperation(expression=inner):
            return _is_broken(inner)
        case cst.Float():
            return not float(node.evaluated_value).is_integer()
    return False


def _is_scripted(model: Model) -> bool:
    """Whether the project makes TorchScript of something."""
    return model.ask(is_mentioned, r"\bjit\.script|\bscript_method\b|\bScriptModule\b|\btorch\.jit\s+import\b")


def _one_further(end: cst.BaseExpression, step: int | None, model: Model) -> str | None:
    """The end that is not included any more: ``n`` for ``n - 1``."""
    number = integer(end)
    if step and number is not None:
        return str(number + (1 if step > 0 else -1))
    match end:
        case cst.BinaryOperation(left=left, operator=cst.Subtract(), right=cst.Integer(value="1")) if step == 1:
            return model.tree.code(left)
        case cst.Name() | cst.Attribute() | cst.Call() | cst.Subscript() if step == 1:
            return f"{model.tree.code(end)} + 1"
    return None


def _is_cast(call: cst.Call, kept: list[cst.Arg], model: Model) -> bool:
    """Whether the integers of ``arange`` are cast on the spot; to require grad they would have to be floats."""
    is_leaf = keyword(kept, "requires_grad") is not None
    return not is_leaf and _cast_to(("long", "float", "double", "half"), call, model) is not None


def _cast_to(names: tuple[str, ...], call: cst.Call, model: Model) -> cst.Call | None:
    """``torch.range(…).long()``, of which the range is part, where the cast is one of these."""
    attribute = model.tree.parent(call)
    match attribute, model.tree.parent(attribute) if attribute is not None else None:
        case cst.Attribute(attr=cst.Name(value=name)), cst.Call(args=[], func=func) as cast if func is attribute:
            return cast if name in names else None
    return None


_COUNTS = frozenset(("size", "numel", "nelement", "dim", "ndimension", "__len__"))


_FAR = 3
"""How many names are followed to what they are bound to."""


def _is_whole(node: cst.BaseExpression, model: Model, far: int = _FAR) -> bool:
    """Whether an expression is a whole number: a literal, a length or size, or computed of these."""
    match node:
        case cst.Call(func=cst.Name("len") as func):
            return model.qualified(func) == "builtins.len"
        case cst.Call(func=cst.Attribute(value=tensor, attr=cst.Name(value=name))) if name in _COUNTS:
            return model.value(tensor).is_tensor
        case cst.Subscript(value=cst.Attribute(value=tensor, attr=cst.Name("shape"))):
            return model.value(tensor).is_tensor
        case cst.BinaryOperation(left=left, operator=cst.Add() | cst.Subtract() | cst.Multiply(), right=right):
            return _is_whole(left, model, far) and _is_whole(right, model, far)
        case cst.Name(value=name) if far:
            bound = [assignment_of(target, model.tree) for target in model.bindings_of(name, node)]
            is_plain = len(model.targets(name, model.scopes.scope_of(node))) == len(bound) == 1
            values = [each.value for each in bound if each is not None]
            return is_plain and bool(values) and _is_whole(values[0], model, far - 1)
    return integer(node) is not None


def _default_dtype(call: cst.Call, row: Row, model: Model) -> Fix | None:
    """The dtype of a type of tensors on the CPU."""
    if len(call.args) != 1 or call.args[0].star:
        return None
    value = call.args[0].value
    if isinstance(value, cst.SimpleString):
        name = value.raw_value
    else:
        name = (names.resolve(value, model) or ("", ""))[1] if isinstance(value, (cst.Name, cst.Attribute)) else ""
    match = re.fullmatch(r"torch\.(\w+)", name)
    if match is None or match[1] not in _DTYPES:
        return None
    function = names.spell("torch.set_default_dtype", call, model)
    dtype = names.spell(f"torch.{_DTYPES[match[1]]}", call, model)
    if function is None or dtype is None:
        return None
    edits = (edit.replace(call.func, function[0]), edit.replace(value, dtype[0]))
    return Fix("Use `torch.set_default_dtype`", edits, row.applicability, (*function[1], *dtype[1]))


def _with_device_type(use: Use, model: Model) -> Fix | None:
    """``custom_fwd`` with the device: as a decorator without a call, called with a function, or with keywords."""
    row, node = use.row, use.node
    if not isinstance(node, (cst.Name, cst.Attribute)):
        return None
    spelled = names.spell(row.replacement, node, model)
    if spelled is None:
        return None
    name, device = edit.replace(node, spelled[0]), "device_type='cuda'"
    said = f"Use `{row.replacement}(…, {device})`"
    parent = model.tree.parent(node)
    match parent:
        case cst.Decorator():
            edits: tuple[Edit, ...] = (edit.replace(node, f"{spelled[0]}({device})"),)
        case cst.Call() if parent.func is node and not has_stars(parent.args):
            edits = (name, edit.add_argument(parent, device))
        case _:
            return None
    return Fix(said, edits, row.applicability, spelled[1])


def _asked(use: Use, model: Model) -> Fix | None:
    """``torch.has_mps`` to a call."""
    if not isinstance(use.node, (cst.Name, cst.Attribute)):
        return None
    spelled = names.spell_all(use.row.text, use.node, model)
    if spelled is None:
        return None
    return Fix(f"Use `{use.row.text}`", (edit.replace(use.node, spelled[0]),), use.row.applicability, spelled[1])


def _builtin(use: Use, model: Model) -> Fix | None:
    if names.is_shadowed(use.row.to, use.node, model):
        return None
    return Fix(f"Use `{use.row.to}`", (edit.replace(use.node, use.row.to),), use.row.applicability)


def _sparse(call: cst.Call, row: Row, model: Model) -> Fix | None:
    """``sparse.FloatTensor(indices, values)`` to ``sparse_coo_tensor``, which takes no numbers as sizes."""
    kinds = [model.value(arg.value).kind for arg in call.args]
    if Kind.NUMBER in kinds:
        return None
    fix = rewrites.rewrite(call, row, model)
    is_told = any(not kind & (Kind.NUMBER | Kind.UNKNOWN) for kind in kinds)
    return fix if fix is None or is_told else fix.doubted("two or three numbers were the sizes of an empty tensor")


_DTYPES = {
    "FloatTensor": "float32",
    "DoubleTensor": "float64",
    "HalfTensor": "float16",
    "BFloat16Tensor": "bfloat16",
}


CALLS: dict[str, Callable[[cst.Call, Row, Model], Fix | None]] = {
    "call": rewrites.rewrite,
    "multi-dot": _multi_dot,
    "arange": _arange,
    "sparse": _sparse,
    "default-dtype": _default_dtype,
}
"""Words in the column ``fix`` that rewrite a call."""


NAMES: dict[str, Callable[[Use, Model], Fix | None]] = {
    "custom-fwd": _with_device_type,
    "call-attribute": _asked,
    "builtin": _builtin,
}
"""Words in the column ``fix`` that rewrite a name."""
