"""How the work that a text costs grows with it, in counts that are the same on every machine.

Counted are the lines that are run of torchlint and of libcst, function by function, with those of comprehensions and
generators; and the characters that are looked through by regular expressions, by methods of strings, and by parsers,
which count no lines. So a function that looks at everything for everything is named, however fast it is.
"""

from __future__ import annotations

import builtins
import functools
import importlib
import math
import pkgutil
import re
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from types import CodeType, FrameType, ModuleType
from typing import Any

import pytest

import torchlint
from torchlint.diagnostic import Fixing
from torchlint.file.check import check_text
from torchlint.file.triggers import search
from torchlint.rules import catalogue
from torchlint.system.stack import with_big_stack

Counts = Counter[str]
"""Lines that were run by function, characters that were looked through by what did that."""

_SCANNING = ("count", "find", "index", "partition", "replace", "rfind", "rindex", "rpartition", "split", "splitlines")
_ALL = ("encode", "lower", "upper", "casefold", "translate", "isascii", "__contains__", "strip")


def counts(text: str, fixing: Fixing, codes: frozenset[str] | None = None) -> Counts:
    """The work of checking a text, or of fixing it."""
    counted = Counts()
    with pytest.MonkeyPatch.context() as patch:
        _count_characters(patch, counted)
        with_big_stack(lambda: _traced(lambda: _run(Text(text, counted), fixing, codes), counted))
    return counted


def _run(text: str, fixing: Fixing, codes: frozenset[str] | None) -> None:
    outcome = check_text(text, "x.py", frozenset(catalogue()) if codes is None else codes, fixing)
    assert outcome.problems == ()


def _traced(run: Callable[[], None], counted: Counts) -> None:
    """Count the lines of a run, each piece of code with a function of its own: a table would be asked for each line."""
    totals: list[tuple[CodeType, Callable[[], int]]] = []
    tracers: dict[int, _Tracer | None] = {}

    def call(frame: FrameType, event: str, arg: object) -> object:
        code = frame.f_code
        try:
            tracer = tracers[id(code)]
        except KeyError:
            tracer, total = _counting()
            totals.append((code, total))  # which keeps it, so that no other one comes to have its number
            tracers[id(code)] = tracer = tracer if _is_counted(code) else None
        return tracer and tracer(frame, event, arg)

    sys.settrace(call)  # type: ignore[arg-type]
    try:
        run()
    finally:
        sys.settrace(None)
    for code, total in totals:
        if number := total():
            counted[_name(code)] += number


_Tracer = Callable[[FrameType, str, object], object]


def _counting() -> tuple[_Tracer, Callable[[], int]]:
    """What counts how often it is called, and what says how often that was."""
    number = 0

    def line(frame: FrameType, event: str, arg: object) -> object:
        nonlocal number
        number += 1
        return line

    return line, lambda: number


def _is_counted(code: CodeType) -> bool:
    return "torchlint" in code.co_filename or "libcst" in code.co_filename


def _name(code: CodeType) -> str:
    module = re.split(r"[/\\]", code.co_filename)[-1]
    return f"{module}:{code.co_firstlineno} {code.co_name}"


# ---------------------------------------------------------------------- characters


class Text(str):
    """A text whose methods say how much of it they look through."""

    counted: Counts
    __slots__ = ("counted",)

    def __new__(cls, text: str, counted: Counts) -> Text:
        self = super().__new__(cls, text)
        self.counted = counted
        return self

    def encode(self, *args: Any, **kwargs: Any) -> Data:
        """The same for the bytes of it."""
        self.counted["str.encode"] += len(self)
        return Data(str.encode(self, *args, **kwargs), self.counted)


class Data(bytes):
    """The same for bytes."""

    counted: Counts

    def __new__(cls, data: bytes, counted: Counts) -> Data:
        self = super().__new__(cls, data)
        self.counted = counted
        return self


def _scanned(cls: Any, base: type, method: str) -> Callable[..., Any]:
    original = getattr(base, method)

    def counting(self: Any, *args: Any) -> Any:
        result = original(self, *args)
        span = args[1:3] if method in ("count", "find", "index", "rfind", "rindex") else ()
        start, end, _ = slice(*(*span, None, None)[:2]).indices(len(self))
        if method in ("find", "index") and result >= 0:
            end = result
        if method in ("rfind", "rindex") and result >= 0:
            start = result
        self.counted[f"{base.__name__}.{method}"] += max(0, end - start)
        return result

    return counting


def _sliced(base: Any) -> Callable[..., Any]:
    def counting(self: Any, key: Any) -> Any:
        result = base.__getitem__(self, key)
        if isinstance(key, slice):
            self.counted[f"{base.__name__}.slice"] += len(result)
        return result

    return counting


for _class, _base in ((Text, str), (Data, bytes)):
    for _method in (*_SCANNING, *_ALL):
        if hasattr(_base, _method) and _method not in vars(_class):
            setattr(_class, _method, _scanned(_class, _base, _method))
    setattr(_class, "__getitem__", _sliced(_base))  # noqa: B010


class Pattern:
    """A regular expression that says how much of a text it looks through."""

    def __init__(self, pattern: re.Pattern[Any], counted: Counts) -> None:
        self._pattern, self._counted = pattern, counted

    def __getattr__(self, name: str) -> Any:
        return getattr(self._pattern, name)

    def _count(self, text: Any, start: int, end: int) -> None:
        self._counted[f"re {self._pattern.pattern!r:.60}"] += max(0, min(end, len(text)) - start)

    def _once(self, method: str, text: Any, pos: int = 0, endpos: int = sys.maxsize) -> re.Match[Any] | None:
        match: re.Match[Any] | None = getattr(self._pattern, method)(text, pos, endpos)
        end = match.end() if match is not None else endpos if method == "search" else pos
        self._count(text, pos, end)
        return match

    def search(self, text: Any, *span: int) -> re.Match[Any] | None:
        """As ``re``."""
        return self._once("search", text, *span)

    def match(self, text: Any, *span: int) -> re.Match[Any] | None:
        """As ``re``."""
        return self._once("match", text, *span)

    def fullmatch(self, text: Any, *span: int) -> re.Match[Any] | None:
        """As ``re``."""
        return self._once("fullmatch", text, *span)

    def finditer(self, text: Any, pos: int = 0, endpos: int = sys.maxsize) -> Iterator[re.Match[Any]]:
        """As ``re``."""
        at = pos
        for match in self._pattern.finditer(text, pos, endpos):
            self._count(text, at, match.end())
            at = match.end()
            yield match
        self._count(text, at, endpos)

    def findall(self, text: Any, *span: int) -> list[Any]:
        """As ``re``."""
        self._count(text, 0, len(text))
        return self._pattern.findall(text, *span)

    def split(self, text: Any, maxsplit: int = 0) -> list[Any]:
        """As ``re``."""
        self._count(text, 0, len(text))
        return self._pattern.split(text, maxsplit)

    def sub(self, new: Any, text: Any, count: int = 0) -> Any:
        """As ``re``, but for that a text in which there is nothing to replace stays the very same."""
        self._count(text, 0, len(text))
        return self._pattern.sub(new, text, count) if self._pattern.search(text) is not None else text


class _Re(ModuleType):
    """``re`` whose patterns count."""

    def __init__(self, counted: Counts) -> None:
        super().__init__("re")
        self._counted = counted

    def __getattr__(self, name: str) -> Any:
        return getattr(re, name)

    def compile(self, pattern: Any, flags: int = 0) -> Pattern:
        """As ``re``."""
        return Pattern(re.compile(pattern, flags), self._counted)


for _function in ("search", "match", "fullmatch", "finditer", "findall", "split", "sub"):

    def _of_module(self: _Re, pattern: Any, *args: Any, _name: str = _function, **kwargs: Any) -> Any:
        return getattr(self.compile(pattern, kwargs.pop("flags", 0)), _name)(*args, **kwargs)

    setattr(_Re, _function, _of_module)


def _count_characters(patch: pytest.MonkeyPatch, counted: Counts) -> None:
    regex = _Re(counted)
    for module in _modules():
        for name, value in list(vars(module).items()):
            if isinstance(value, re.Pattern):
                patch.setattr(module, name, Pattern(value, counted))
            elif value is re:
                patch.setattr(module, name, regex)
    for cache in (search.searches, search._searches, search._has, search.occurs):  # they hold patterns
        cache.cache_clear()
    original = builtins.compile

    def compiled(source: Any, *args: Any, **kwargs: Any) -> Any:
        counted["compile"] += len(source) if isinstance(source, (str, bytes)) else 0
        return original(source, *args, **kwargs)

    patch.setattr(builtins, "compile", compiled)
    for module in _modules():
        if "parse_module" in vars(module):
            patch.setattr(module, "parse_module", _parsing(vars(module)["parse_module"], counted))


def _parsing(parse: Callable[[str], Any], counted: Counts) -> Callable[[str], Any]:
    def parsed(text: str) -> Any:
        counted["parse_module"] += len(text)
        return parse(text)

    return parsed


@functools.cache
def _modules() -> list[ModuleType]:
    names = [info.name for info in pkgutil.walk_packages(torchlint.__path__, "torchlint.")]
    return [importlib.import_module(name) for name in names if not name.endswith("__main__")]


# ---------------------------------------------------------------------- growth

EXPONENT = 1.2
NOISE = 50
"""Lines or characters that count for nothing."""
ONCE = 4
"""How often a text may be looked through, whatever its size."""


def growing(make: Callable[[int], str], size: int, fixing: Fixing, codes: frozenset[str] | None = None) -> list[str]:
    """What grows faster than the text does, from programs of one, two and four times a size.

    The exponent is that of what one has more than the other: what each file costs, however short, is left out, and so
    is what is only done in a text of some length.
    """
    texts = [make(factor * size) for factor in (1, 2, 4)]
    with_big_stack(lambda: _run(f"{texts[0]}\n", fixing, codes))  # what is done once in a process is not counted
    sizes = [counts(text, fixing, codes) for text in texts]
    found = []
    for name in sizes[2]:
        small, middle, large = (each[name] for each in sizes)
        is_once = name.startswith(("re ", "str.", "bytes.")) and large <= ONCE * len(texts[2])
        if not small or middle - small < NOISE or is_once:
            continue
        exponent = math.log2(max(large - middle - NOISE, 1) / (middle - small))
        if exponent > EXPONENT:
            found.append(f"{name}: {small}, {middle}, {large}: exponent {exponent:.2f}")
    return sorted(found)
