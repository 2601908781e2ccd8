"""Modules of modules: what a container or a wrapper holds, and how it grows."""

from __future__ import annotations

import re
from collections.abc import Sequence

from torchlint.model.interpret import containers
from torchlint.model.possibilities import Kind
from torchlint.model.syntax import literal_key
from torchlint.model.torch import library
from torchlint.model.values import (
    MAX_KEYS,
    MODULE,
    STRING,
    Argument,
    Evidence,
    Keys,
    Method,
    Owner,
    Strength,
    Value,
    held,
    iterated,
    mapping,
    parameter,
)
from torchlint.system.records import replace

SEQUENTIAL = "torch.nn.Sequential"
_LISTS = frozenset(("torch.nn.ModuleList", "torch.nn.ParameterList"))
_DICTS = frozenset(("torch.nn.ModuleDict", "torch.nn.ParameterDict"))
WRAPPERS = frozenset(f"torch.nn.{name}" for name in ("DataParallel", "parallel.DistributedDataParallel"))
_GROWING = frozenset(("append", "extend", "insert", "add_module", "register_module", "update"))
_VIEWS = frozenset(("items", "values", "keys"))
_NUMERIC = re.compile(
    r"(in|out|num|embedding|embed|hidden|input|head)_(features|channels|size|dim|layers|heads|groups)|p|eps"
)


def built(module: Value, arguments: Sequence[Argument]) -> Value:
    """A container or a wrapper of modules with what it is given."""
    ref = module.ref or ""
    if ref == SEQUENTIAL:
        return _sequential(module, arguments)
    if not arguments:
        return replace(module, items=()) if ref in _LISTS else module
    first = arguments[0].value
    if ref in WRAPPERS:
        return replace(module, item=first) if first.kind == Kind.MODULE else module
    if first.kind != Kind.CONTAINER or arguments[0].star:
        return module
    if ref in _LISTS:
        return replace(module, item=first.item, items=first.items)
    if ref in _DICTS:
        given = containers.of_pairs(first)
        return replace(module, item=given.item, keys=given.keys)
    return module


def _sequential(module: Value, arguments: Sequence[Argument]) -> Value:
    if not any(a.star or a.value.kind == Kind.CONTAINER for a in arguments):
        return replace(module, items=tuple(a.value for a in arguments)) if len(arguments) <= MAX_KEYS else module
    given = arguments[0].value
    if len(arguments) != 1 or given.kind != Kind.CONTAINER:
        return module
    if given.keys is None:
        return replace(module, item=given.item, items=given.items)
    if not containers.is_complete(given):
        return replace(module, item=given.item)
    known = given.keys.known
    return replace(module, items=tuple(known.values()), keys=Keys(None, known))


def reworked(ref: str, given: Value, evidence: Evidence) -> Value:
    """A module as ``weight_norm`` and the like give it back: its parameters are not those that its class says."""
    return Value(Kind.MODULE, ref=ref, item=given if given.kind == Kind.MODULE else None, evidence=evidence)


def stands_for_inner(module: Value) -> bool:
    """Whether a call of a module calls the one that is in it."""
    return module.ref in WRAPPERS or library.gives_module(module.ref or "")


def holds_modules(module: Value) -> bool:
    """Whether all that is in a module is modules, for its class takes nothing else."""
    return module.ref in (SEQUENTIAL, "torch.nn.ModuleList", "torch.nn.ModuleDict")


def element(module: Value) -> Value | None:
    """What indexing a container of modules gives, behind any index."""
    known = held(module)
    if known is None and (module.ref or "").startswith("torch.nn.Parameter"):
        return parameter(Evidence(Strength.SIGNATURE, f"it comes from a `{module.ref}`"))
    return known


def looped(module: Value) -> Value | None:
    """What a loop over a container of modules binds."""
    return STRING if module.ref in _DICTS else element(module)


def attribute(module: Value, name: str) -> Value | None:
    """An attribute of a container, of a wrapper, or a number that a module was made with."""
    ref = module.ref or ""
    if name == "module" and ref in WRAPPERS:
        return module.item or MODULE
    if module.keys is not None and name in module.keys.known:
        return module.keys.known[name]
    if name in _VIEWS and ref in _DICTS:
        keys = module.keys or Keys(STRING)
        receiver = replace(mapping(iterated(module) or STRING, element(module) or MODULE), keys=keys)
        return Value(Kind.REFERENCE, inner=Method(Owner.PLAIN, name), receiver=receiver)
    if name in _GROWING and (ref == SEQUENTIAL or ref in _LISTS or ref in _DICTS):
        return Value(Kind.REFERENCE, inner=Method(Owner.MODULES, name), receiver=module)
    return None


def is_number(name: str) -> bool:
    """Whether an attribute of torch's modules is a number by its name."""
    return name == "training" or _NUMERIC.fullmatch(name) is not None


def grown(module: Value, name: str, arguments: Sequence[Argument]) -> Value:
    """A container of modules after ``append``, ``add_module`` and the like."""
    last = arguments[-1]
    match name:
        case "add_module" | "register_module" if len(arguments) == 2:
            key = literal_key(arguments[0].node)
            keys = module.keys or Keys(None if module.ref == SEQUENTIAL else STRING)
            if key is not None:
                keys = replace(keys, known={**keys.known, key: last.value})
            return replace(containers.added(replace(module, keys=None), last.value), keys=keys)
        case "append":
            return containers.added(module, last.value)
        case "insert":
            return containers.added(module, last.value, at_end=False)
        case "extend" if (more := iterated(last.value)) is not None:
            return containers.extended(module, more)
        case "update" if last.value.kind == Kind.CONTAINER and last.value.is_mapping:
            merged = containers.merged(module, last.value)
            return replace(module, item=merged.item, keys=merged.keys)
    return replace(module, item=None, items=None, keys=None)
