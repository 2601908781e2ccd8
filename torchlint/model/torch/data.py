"""Reads the data on torch; nothing else opens the files. A record is made of an entry when it is asked for."""

from __future__ import annotations

import functools
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from importlib import resources
from typing import Any, Generic, TypeVar

from torchlint.model.torch.schema import (
    Asked,
    DistributionInfo,
    Flag,
    ModuleInfo,
    OverloadResult,
    PlainResult,
    Registering,
    SeveralResults,
    TensorResult,
    TorchResult,
    TupleResult,
    Writers,
    Writing,
)

T = TypeVar("T")


class Section(Generic[T]):
    """The records of one part of the data, by name; each is made once."""

    def __init__(self, raw: Mapping[str, Any], parse: Callable[[Any], T]) -> None:
        self._raw = raw
        self._parse = parse
        self._parsed: dict[str, T] = {}

    def get(self, name: str | None) -> T | None:
        """The record of that name; None if there is none."""
        if name is None or name not in self._raw:
            return None
        found = self._parsed.get(name)
        if found is None:
            found = self._parsed[name] = self._parse(self._raw[name])
        return found

    def __contains__(self, name: str) -> bool:
        return name in self._raw

    def __iter__(self) -> Iterator[str]:
        return iter(self._raw)

    def items(self) -> Iterator[tuple[str, T]]:
        """All records, with their names."""
        for name in self._raw:
            if (found := self.get(name)) is not None:
                yield name, found


class Library:
    """All that is known of torch."""

    def __init__(self, raw: Mapping[str, Any]) -> None:
        self.functions: Section[TorchResult] = Section(raw["functions"], _result)
        self.methods: Section[TorchResult] = Section(raw["methods"], _result)
        """Those of tensors."""
        self.attributes: Section[TorchResult] = Section(raw["attributes"], _result)
        """Those of tensors."""
        self.operators: Section[TorchResult] = Section(raw["operators"], _result)
        """Special methods of tensors."""
        self.distribution: Section[TorchResult] = Section(raw["distribution"], _result)
        """Methods and attributes of distributions."""
        self.distributions = Section(raw["distributions"], _distribution)
        self.modules = Section(raw["modules"], _module)
        self.classes: Mapping[str, str] = raw["classes"]
        """What kind of class each is."""
        self.aliases: Mapping[str, str] = raw["aliases"]
        """The shortest public name of what else has a name."""
        self.dtypes: Mapping[str, str] = raw["dtypes"]
        self.tensor_only = frozenset[str](raw["tensor_only"])
        """Methods and attributes that no other common object has."""
        self.tensor_or_module = frozenset[str](raw["tensor_or_module"])
        self.gives_module = frozenset[str](raw["gives_module"])
        """Functions that give back the module that they are given, and may have changed its parameters."""


@functools.cache
def data() -> Library:
    """The data on torch, read once."""
    return Library(_read("torch.json"))


@functools.cache
def writers() -> Writers:
    """What of torch writes to the memory it is given, read once."""
    raw = _read("writers.json")
    modules = raw["modules"].items()
    return Writers(
        {name: tuple(map(_writing, rows)) for name, rows in raw["functions"].items()},
        frozenset(raw["methods"]),
        frozenset(raw["refusing"]),
        {name: Asked(*entry["input"]) for name, entry in modules if "input" in entry},
        {name: Asked(*entry["own"]) for name, entry in modules if "own" in entry},
    )


@functools.cache
def registering() -> Registering:
    """What containers of modules have, and which views overlap, read once."""
    raw = _read("registering.json")
    return Registering(
        {name: frozenset(names) for name, names in raw["attributes"].items()}, frozenset(raw["overlapping"])
    )


@functools.cache
def conversions() -> Mapping[str, tuple[frozenset[str], ...]]:
    """What of NumPy and matplotlib refuses what requires grad: by name, for each position in which forms."""
    return {name: tuple(map(frozenset, rows)) for name, rows in _read("conversions.json").items()}


def _writing(row: Sequence[Any]) -> Writing:
    argument, position, name, at = row
    return Writing(argument, position, Asked(name, at) if name is not None else None)


def _read(name: str) -> Mapping[str, Any]:
    text = resources.files("torchlint.model.torch").joinpath(f"data/{name}").read_text(encoding="utf-8")
    loaded: dict[str, Any] = json.loads(text)
    return loaded


def _result(raw: Any) -> TorchResult:
    if isinstance(raw, str):
        return PlainResult(raw)
    match raw:
        case {"k": "tuple", "items": items}:
            return TupleResult(tuple(map(_result, items)), tuple(raw.get("names", ())))
        case {"k": "tuple_of" | "list_of", "item": item}:
            return SeveralResults(_result(item), raw.get("each", False))
        case {"k": "overload", "cases": cases}:
            return OverloadResult({name: _result(case) for name, case in cases.items()}, raw.get("at", {}))
    return TensorResult(**{_FIELDS.get(key, key): value for key, value in raw.items() if key != "k"})


_FIELDS = {"self": "is_input"}
"""What is called differently in a record than in the data."""


def _module(raw: Mapping[str, Any]) -> ModuleInfo:
    trainable = raw.get("trainable", False)
    return ModuleInfo(
        tuple(raw["params"]),
        tuple(raw["buffers"]),
        tuple(raw["attributes"]),
        _result(output) if (output := raw.get("output", "any")) != "any" else None,
        Flag(*trainable) if isinstance(trainable, list) else trainable,
    )


def _distribution(raw: Mapping[str, Any]) -> DistributionInfo:
    free = {name: tuple(names) for name, names in raw.get("free", {}).items()}
    return DistributionInfo(tuple(raw["parameters"]), free, tuple(raw.get("integers", ())))
