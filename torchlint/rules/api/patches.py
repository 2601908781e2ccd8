"""What a file puts in the place of torch's own: what it assigns, deletes or mocks there is its own from then on."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import libcst as cst

from torchlint.model import Model
from torchlint.model.names import REPLACING
from torchlint.model.syntax import keyword, last_name
from torchlint.model.torch import library
from torchlint.rules.api import names
from torchlint.rules.api.table import Row


def is_patched(row: Row, model: Model) -> bool:
    """Whether a file assigns, deletes or mocks what a row is about, or what it would be replaced by."""
    return any(is_replaced(name, model) for name in (row.name, row.replacement) if name)


def is_replaced(name: str, model: Model) -> bool:
    """Whether a file puts something of its own in the place of a name of torch."""
    return model.remember(_is_replaced, name)


def _is_replaced(model: Model, name: str) -> bool:
    last = name.rpartition(".")[2]
    if any(model.is_target(node) and _owns(node.value, name, model) for node in model.tree.attributes(last)):
        return True
    return any(_replaces(call, name, model) for call in model.remember(_patching))


def _patching(model: Model) -> list[cst.Call]:
    found = [
        up
        for word in sorted(REPLACING)
        for node in model.tree.names(word)
        for up in (model.tree.parent(node), model.tree.parent(model.tree.parent(node) or node))
        if isinstance(up, cst.Call) and last_name(up.func) == word and up.args
    ]
    return list({id(call): call for call in found}.values())


def _replaces(call: cst.Call, name: str, model: Model) -> bool:
    """Whether a call replaces an attribute of torch: ``setattr(F, "tanh", f)``, ``patch("torch.tanh")``."""
    owner, _, last = name.rpartition(".")
    first, *rest = call.args
    target = first.value
    if isinstance(target, cst.SimpleString):
        said = target.raw_value
        return library.canonical(said) == name or said == name or (said == owner and _is_keyword(rest, last))
    if not _owns(target, name, model):
        return False
    if last_name(call.func) == "multiple":
        return _is_keyword(rest, last)
    match rest:
        case [cst.Arg(value=cst.SimpleString() as literal), *_]:
            return literal.raw_value == last
    return bool(rest)  # any name


def _is_keyword(args: Sequence[cst.Arg], name: str) -> bool:
    return keyword(args, name) is not None or any(arg.star == "**" for arg in args)


def _owns(node: cst.BaseExpression, name: str, model: Model) -> bool:
    """Whether an expression is the module or class that a name is in."""
    return name in _spelled(node, name.rpartition(".")[2], model)


def _spelled(node: cst.BaseExpression, last: str, model: Model) -> Iterator[str]:
    found = names.resolve(node, model) if isinstance(node, (cst.Name, cst.Attribute)) else None
    for owner in found or ():
        yield f"{owner}.{last}"
        yield library.canonical(f"{owner}.{last}")
