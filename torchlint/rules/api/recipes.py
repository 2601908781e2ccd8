"""Fixes that no template of the table can say: one function for each such word in its column ``fix``."""

from __future__ import annotations

import re
from collections.abc import Callable

import libcst as cst

from torchlint import edit
from torchlint.diagnostic import Applicability
from torchlint.model import Model
from torchlint.model.syntax import has_stars, integer, keyword
from torchlint.rule import Anchor, Edit, Fix
from torchlint.rules.api import calls, names, rewrites
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
    safe = row.applicability if not any(arg.star for arg in plain) else Applicability.UNSAFE
    return Fix("Use `torch.linalg.multi_dot`", found, safe, spelled[1])


def _arange(call: cst.Call, row: Row, model: Model) -> Fix | None:
    """``range(a, b)``, which is a float and includes its end, to ``arange``."""
    order = [Parameter("start", "0"), Parameter("end", ""), Parameter("step", "1")]
    kept = [arg for arg in call.args if arg.keyword is not None and arg.keyword.value in ("device", "requires_grad")]
    dtype = keyword(call.args, "dtype")
    plain = [arg for arg in call.args if arg not in kept and arg is not dtype]
    bound = calls.bind(plain, order)
    if bound is None or "end" not in bound:
        return None
    numbers = {name: integer(node) for name, node in bound.items()}
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
    spelled = names.spell_all(f"torch.arange({', '.join(given)})", call, model)
    if spelled is None:
        return None
    return Fix("Use `torch.arange`, one further", (edit.replace(call, spelled[0]),), row.applicability, spelled[1])


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
    "default-dtype": _default_dtype,
}
"""Words in the column ``fix`` that rewrite a call."""


NAMES: dict[str, Callable[[Use, Model], Fix | None]] = {
    "custom-fwd": _with_device_type,
    "call-attribute": _asked,
    "builtin": _builtin,
}
"""Words in the column ``fix`` that rewrite a name."""
