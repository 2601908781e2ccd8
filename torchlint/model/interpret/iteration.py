"""What loops and indices take out of a value."""

from __future__ import annotations

import libcst as cst

from torchlint.model.doubts import perhaps
from torchlint.model.interpret import learning, loaders, module_containers, special_methods
from torchlint.model.interpret.frame import Frame
from torchlint.model.names import DATA_NAME, LOADER_NAME
from torchlint.model.possibilities import Kind, Ndim, Tri
from torchlint.model.symbols import Origin, Symbol
from torchlint.model.syntax import ending_name, last_name
from torchlint.model.torch.ndims import without_one
from torchlint.model.values import MODULE, NDARRAY, Evidence, Strength, Value, is_opaque, iterated, tensor
from torchlint.system.records import replace


def iterate(frame: Frame, value: Value, node: cst.BaseExpression) -> Value:
    """What a loop over ``value`` binds."""
    item = iterated(value)
    if value.kind & Kind.CONTAINER and item is not None:
        return learning.resolve(frame, perhaps(item) if value.kind & Kind.UNKNOWN else item)
    if value.kind & Kind.TENSOR:
        row = element(frame, value)
        return (
            learning.likely(frame, row, Symbol(Origin.LIKELY_ELEMENT, id(node))) if value.kind & Kind.UNKNOWN else row
        )
    if (own := _iterate_object(frame, value, node)) is not None:
        return own
    if value.kind & Kind.LOADER:
        return batch(frame, value, node)
    if value.kind & Kind.OBJECT and item is not None:
        return item
    if value.kind & Kind.MODULE:
        return module_containers.looped(value) or likely_module(value, node)
    if value.kind == Kind.NDARRAY:
        return replace(NDARRAY, kind=Kind.NDARRAY | Kind.NUMBER)
    if value.kind == Kind.STRING or is_opaque(value):
        return value
    if loaders.is_batch(value):
        return learning.likely(frame, loaders.part_of_batch(node), Symbol(Origin.ELEMENT, id(node)))
    if value.kind in (Kind.UNKNOWN, Kind.REFERENCE) and (LOADER_NAME.search(_name(node)) or _is_one_of_loaders(node)):
        return batch(frame, Value(Kind.LOADER), node)
    return learning.unknown(frame, Symbol(Origin.ELEMENT, id(node)))


def _name(node: cst.BaseExpression) -> str:
    """What is looped over is called; of what is wrapped (``tqdm(loader)``) the name of that."""
    match node:
        case cst.Call(func=func, args=[cst.Arg(value=inner, keyword=None, star=""), *_]) if last_name(func) in _SHOWING:
            return ending_name(inner)
    return ending_name(node)


def _is_one_of_loaders(node: cst.BaseExpression) -> bool:
    """Whether what is looped over is taken from several loaders or parts of the data by its name: ``data["train"]``."""
    match node:
        case cst.Call(func=func, args=[cst.Arg(value=inner, keyword=None, star=""), *_]) if last_name(func) in _SHOWING:
            return _is_one_of_loaders(inner)
        case cst.Subscript(value=owner, slice=[cst.SubscriptElement(slice=cst.Index(value=key))]):
            name = last_name(owner)
            if LOADER_NAME.search(name.removesuffix("s")):
                return True
            is_part = isinstance(key, cst.SimpleString) and key.raw_value.lower() in _PARTS
            return is_part and DATA_NAME.search(name) is not None
    return False


_PARTS = frozenset(("train", "training", "test", "testing", "val", "valid", "validation", "dev", "eval"))
"""What parts of the data are called."""
_SHOWING = frozenset(("tqdm", "trange", "tqdm_notebook", "track", "Bar"))
"""What shows how far a loop has come, and yields what it is given."""


def _iterate_object(frame: Frame, value: Value, node: cst.BaseExpression) -> Value | None:
    """What an object yields by its own ``__iter__``, ``__next__`` or ``__getitem__``."""
    if (iterator := special_methods.by_method(frame, value, "iter", node)) is not None:
        following = special_methods.by_method(frame, iterator, "next", node)
        if following is not None:
            return following
        return iterate(frame, iterator, node) if iterator.kind & (Kind.CONTAINER | Kind.TENSOR) else None
    following = special_methods.by_method(frame, value, "next", node)
    return following if following is not None else special_methods.by_method(frame, value, "getitem", node)


def batch(frame: Frame, loader: Value, node: cst.BaseExpression) -> Value:
    """What a data loader yields: no tensor in it carries a graph; what is not known in it may be one."""
    if loader.item is None:
        return learning.resolve(frame, replace(loaders.BATCH, symbols=(Symbol(Origin.BATCH, id(node)),)))
    return _batched(frame, loader.item, Symbol(Origin.BATCH, id(node)), node)


def _batched(frame: Frame, part: Value, symbol: Symbol, node: cst.CSTNode) -> Value:
    if part.kind & Kind.CONTAINER:
        keys = part.keys
        if keys is not None:
            known = {key: _batched(frame, v, symbol.part(key), node) for key, v in keys.known.items()}
            keys = replace(keys, known=known)
        items = part.items and tuple(_batched(frame, v, symbol.part(i), node) for i, v in enumerate(part.items))
        item = part.item and _batched(frame, part.item, symbol.part("[]"), node)
        return replace(part, item=item, items=items, keys=keys)
    return learning.likely(frame, loaders.part_of_batch(node), symbol) if loaders.is_batch(part) else part


def likely_module(base: Value, node: cst.CSTNode) -> Value:
    """What indexing or iterating over a module gives: where none is known to hold modules only, perhaps a parameter."""
    strength = Strength.CONVENTION if module_containers.holds_modules(base) else Strength.NAME
    return replace(MODULE, evidence=Evidence(strength, "a module of a container module", node))


def element(frame: Frame, base: Value, ndim: Ndim | None = None) -> Value:
    """A part of a tensor with so many dimensions; with one less if nothing else is said."""
    if ndim is None:
        ndim = without_one(base.ndim) if base.kind == Kind.TENSOR else Ndim.ANY
    leaf = Tri.NO if base.grad == frame.grad == Tri.YES else Tri.MAYBE
    return tensor(base.grad, ndim, base.dtype, leaf=leaf, certainty=base.certainty, evidence=base.evidence)
