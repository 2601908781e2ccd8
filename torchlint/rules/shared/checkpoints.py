"""What a project puts into its checkpoints beside weights: by the keys of the dicts that it saves, wherever it does."""

from __future__ import annotations

import re
from collections.abc import Iterator

import libcst as cst

from torchlint.model import Model, bindings
from torchlint.model.calls_elsewhere import files_with
from torchlint.model.syntax import last_name, literal_key
from torchlint.rules.shared.saved import Content, content_of

_SAVING = re.compile(r"(?<!un)save(?!_?(?:path|dir|name))", re.IGNORECASE)
"""What functions are called that save what they are given: `torch.save`, `save_checkpoint`, of another file too."""
_SAVES = re.compile(rb"save\w*\s*\(")


def holds_objects(keys: frozenset[str], model: Model) -> bool:
    """Whether a file of the project saves a dict with these keys, and in it what `weights_only=True` refuses."""
    return bool(keys) and model.remember(_holds_objects, keys)


def _holds_objects(model: Model, keys: frozenset[str]) -> bool:
    if _saves_objects(keys, model):
        return True
    return any(_saves_objects(keys, model.home(module)) for module in model.ask(files_with, _SAVES))


def _saves_objects(keys: frozenset[str], model: Model) -> bool:
    return any(keys <= saved and content_of(value, model) is Content.OBJECT for saved, value in model.remember(_saved))


def _saved(model: Model) -> tuple[tuple[frozenset[str], cst.BaseExpression], ...]:
    """The dicts that a file gives to what saves, with their keys."""
    calls = (call for call in model.tree.all(cst.Call) if _SAVING.search(last_name(call.func)))
    dicts = ((_keys(arg.value, model), arg.value) for call in calls for arg in call.args)
    return tuple((keys, value) for keys, value in dicts if keys)


def _keys(value: cst.BaseExpression, model: Model) -> frozenset[str]:
    """The keys of a dict that is written out, there or where its name is bound; none of all else."""
    made = model.ask(bindings.made, value) if isinstance(value, cst.Name) else value
    return frozenset(_written(made)) if made is not None else frozenset()


def _written(value: cst.BaseExpression) -> Iterator[str]:
    match value:
        case cst.Dict(elements=pairs):
            keys = (literal_key(pair.key) for pair in pairs if isinstance(pair, cst.DictElement))
            yield from (key for key in keys if isinstance(key, str))
        case cst.Call(func=cst.Name("dict"), args=args):
            yield from (arg.keyword.value for arg in args if arg.keyword is not None)
