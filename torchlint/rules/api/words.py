"""The words that the table's rows are found by, and the places of a text in which they count.

``data/gate.json`` has them for each rule. A file with none of them where it counts is not parsed.
"""

from __future__ import annotations

import functools
import json
import re
import sys
from collections.abc import Iterator, Mapping, Sequence

from torchlint.file.text.tokens import MODULES, is_of_word, words
from torchlint.rules.api import table

Specs = tuple[tuple[str, ...], ...]


@functools.cache
def _gates() -> Mapping[str, Mapping[str, list[list[str]]]]:
    loaded: dict[str, dict[str, list[list[str]]]] = json.loads((table.DATA / "gate.json").read_text(encoding="utf-8"))
    return loaded


@functools.cache
def _gate(rules: frozenset[str]) -> Mapping[bytes, Specs]:
    """The words of some rules, each with the ways in which it counts."""
    found: dict[bytes, dict[tuple[str, ...], None]] = {}
    for rule in sorted(rules):
        for word, specs in _gates().get(rule, {}).items():
            found.setdefault(word.encode(), {}).update(dict.fromkeys(tuple(spec) for spec in specs))
    return {word: tuple(specs) for word, specs in found.items()}


def can_match(data: bytes, rules: frozenset[str]) -> bool:
    """Whether a text has one of the words that the rows of these rules are found by, and in a place where it counts."""
    return next(places(data, rules), None) is not None


def places(data: bytes, rules: frozenset[str]) -> Iterator[tuple[int, int]]:
    """Where such words stand: the first byte and the one behind the last."""
    gate = _gate(rules)
    hits = gate.keys() & words(data)
    if hits:
        text = _text(data)
        for word in hits:
            yield from text.places(word, gate[word])


@functools.lru_cache(maxsize=1)
def _text(data: bytes) -> _Text:
    return _Text(data)


_RENAMED = re.compile(rb"(?:import|,)(?:[ \t]|\\\r?\n)*((?:torch|functorch)[\w.]*)[ \t]+as[ \t]+(\w+)")


_RENAMED_FROM = re.compile(rb"(\w+)[ \t\\]+as[ \t\\]+(\w+)")


_ASSIGNED = re.compile(rb"= ?((?:torch|functorch)[\w.]*)[ \t]*[\r\n;#]")


_STAR = re.compile(rb"import[ \t]*\*")
_STAR_FROM = re.compile(rb"from[ \t]+([\w.]+)[ \t]*import[ \t]*\*")


_FROM = re.compile(
    rb"from[ \t]+(?:torch|functorch)[\w.]*[ \t]+import[ \t]*(\((?:[^)#]|#[^\n]*)*|(?:[^\n(\\]|\\\r?\n)*)"
)


_FROM_ANY = re.compile(rb"from[ \t]+([\w.]+)[ \t]*import[ \t]*(\((?:[^)#]|#[^\n]*)*|(?:[^\n(\\]|\\\r?\n)*)")
_MODULES = frozenset(name.encode() for name in MODULES)


def _may_be_of_project(module: bytes) -> bool:
    """Whether what stands behind ``from`` may be a file of the project, as far as its name tells."""
    root = module.partition(b".")[0].decode(errors="replace")
    return root not in sys.stdlib_module_names and root not in ("torch", "functorch", "torchvision", "torchaudio")


_OF_TORCH = re.compile(rb"(?<![\w.])torch(?:\.\w+)*\.\Z")


class _Text:
    """A text that is searched for words in their places."""

    def __init__(self, data: bytes) -> None:
        self.data, self.words = data, words(data)

    @functools.cached_property
    def renamed(self) -> Mapping[bytes, frozenset[str]]:
        """Names of the file's own for modules of torch, with the last parts of what they can stand for."""
        found: dict[bytes, set[str]] = {}
        pairs = [match.groups() for match in _RENAMED.finditer(self.data)]
        pairs += [pair for match in _FROM.finditer(self.data) for pair in _RENAMED_FROM.findall(match[1])]
        for match in _ASSIGNED.finditer(self.data):
            target = re.search(rb"(\w+)[ \t]*$", self.data[max(0, match.start() - 80) : match.start()])
            if target is not None:
                pairs.append((match[1], target[1]))
        pairs += [pair for names in self.from_project for pair in _RENAMED_FROM.findall(names) if pair[0] in _MODULES]
        for path, name in pairs:
            found.setdefault(name, set()).add(path.rpartition(b".")[2].decode(errors="replace"))
        return {name: frozenset(lasts) for name, lasts in found.items()}

    @functools.cached_property
    def has_star(self) -> bool:
        """Whether all names of some module are imported."""
        return _STAR.search(self.data) is not None

    @functools.cached_property
    def has_star_of_project(self) -> bool:
        """Whether all names of a module are imported that may be a file of the project: modules of torch among them."""
        return any(_may_be_of_project(match[1]) for match in _STAR_FROM.finditer(self.data))

    @functools.cached_property
    def from_project(self) -> Sequence[bytes]:
        """What is imported by its name from what may be a file of the project."""
        return [match[2] for match in _FROM_ANY.finditer(self.data) if _may_be_of_project(match[1])]

    @functools.cached_property
    def imported_from_project(self) -> frozenset[bytes]:
        """All words in that."""
        return frozenset(word for names in self.from_project for word in _WORD.findall(names))

    @functools.cached_property
    def imported(self) -> frozenset[bytes]:
        """All words in the imports from packages of ours."""
        return frozenset(word for match in _FROM.finditer(self.data) for word in _WORD.findall(match[1]))

    def places(self, word: bytes, specs: Specs) -> Iterator[tuple[int, int]]:
        """Where a word stands in one of these ways."""
        specs = tuple(spec for spec in specs if self._is_possible(spec))
        at = self.data.find(word) if specs else -1
        while at >= 0:
            end = at + len(word)
            if not _is_part(self.data, at - 1) and not _is_part(self.data, end):
                if any(self._counts(spec, at, end) for spec in specs):
                    yield at, end
            at = self.data.find(word, end)

    def _is_possible(self, spec: tuple[str, ...]) -> bool:
        """Whether the text has the other words that are needed."""
        match spec[0]:
            case "in" | "flag":
                return spec[1].encode() in self.words
            case "with":
                return any(name.encode() in self.words for name in spec[1:])
        return True

    def _counts(self, spec: tuple[str, ...], at: int, end: int) -> bool:
        match spec[0]:
            case "in":
                return len(spec) == 2 or self._is_named(at, spec[2:])
            case "name":
                return self._is_named(at, spec[1:])
            case "called":
                return self.data[end : end + 1] != b"." and self._is_named(at, spec[1:])
            case "method":
                return self._is_attribute(at) and _OF_TORCH.search(self.data, max(0, at - 80), at) is None
            case "flag":
                return _FLAG.match(self.data, end) is not None
            case "made":
                return self._may_be_called(end) or _AS.match(self.data, end) is not None
            case "with" | "given":
                inside = self._arguments(end)
                if inside is None and self._imported(at) is not None and _AS.match(self.data, end) is None:
                    return False  # wherever it is called by that name is another place
                where = self.data if inside is None else inside
                if spec[0] == "given":
                    return _is_given(where, spec[1].encode(), spec[2].encode())
                return any(_is_given(where, name.encode()) for name in spec[1:])
            case "without":
                return self._is_named(at, spec[3:]) and self._lacks(end, spec[1].encode(), int(spec[2]), at)
            case "numbers":
                if not self._counts(("method",), at, end):
                    return False
                inside = self._arguments(end)
                if inside is None:
                    return self._may_be_called(end)
                given = _positional(inside)
                return len(given) >= int(spec[1]) and not any(map(_TEXT.match, given))
            case "several":
                if not (self._is_named(at, spec[2:]) if len(spec) > 2 else self._is_attribute(at)):
                    return False
                inside = self._arguments(end)
                if inside is None:
                    return self._may_be_called(end)
                return len(_positional(inside)) >= int(spec[1])
        return True

    def _before(self, at: int) -> bytes:
        """The code in front of a place, without what may stand between two tokens there."""
        before = self.data[max(0, at - 160) : at].rstrip(_BLANKS)
        while (comment := _LAST_COMMENT.search(before)) is not None:
            before = before[: comment.start()].rstrip(_BLANKS)
        return before

    def _is_attribute(self, at: int) -> bool:
        return self._before(at)[-1:] == b"."

    def _is_named(self, at: int, bases: Sequence[str]) -> bool:
        """Whether a name of a module stands here: behind the module, in an import from it, or by itself."""
        before = self._before(at)
        if before[-1:] == b".":
            match = _OWNER.search(before)
            if match is None:
                return not bases
            known = self.renamed.get(match[1], frozenset())
            is_base = match[1].decode(errors="replace") in bases or not known.isdisjoint(bases)
            return not bases or is_base or (self.has_star_of_project and self._is_first(before, match.start()))
        if before[-1:] in (b"'", b'"') and b"getattr" in before:
            return True
        imported = self._imported(at)
        if imported is not None:
            return not bases or not {imported, "torch"}.isdisjoint(bases) or self._is_of_project(at)
        return self.has_star or (bool(bases) and (self._word(at) in self.imported or self._is_of_project(at)))

    def _is_of_project(self, at: int) -> bool:
        return self._word(at) in self.imported_from_project

    def _is_first(self, before: bytes, at: int) -> bool:
        """Whether a name is not behind a dot, and not what methods call their object."""
        return before[:at].rstrip(_BLANKS)[-1:] != b"." and before[at : at + 5] != b"self."

    def _word(self, at: int) -> bytes:
        match = _WORD.match(self.data, at)
        return match.group() if match is not None else b""

    def _imported(self, at: int) -> str | None:
        """The last part of the module that a name is imported from here; None if this is no import."""
        before = self.data[max(0, at - 1500) : at]
        start = before.rfind(b"import")
        if start < 0:
            return None
        inside = _APART.sub(b"", before[start + 6 :])
        is_open = inside.lstrip()[:1] == b"(" and b")" not in inside
        if b";" in inside or not (is_open or b"\n" not in inside):
            return None
        match = re.search(rb"(\w+)\s*$", before[:start])
        return match[1].decode(errors="replace") if match is not None else ""

    def _arguments(self, end: int) -> bytes | None:
        """What stands between the brackets behind a name; None where there are none, or that cannot be told."""
        opening = _ON_LINE.match(self.data, end)
        if opening is None:
            return None
        start = opening.end() - 1
        depth = 0
        for match in _BRACKET.finditer(self.data, start, start + 4000):
            depth += 1 if match.group() == b"(" else -1
            if depth == 0:
                return _APART.sub(b" ", self.data[start + 1 : match.start()])
        return None

    def _may_be_called(self, end: int) -> bool:
        """Whether brackets may belong to a name, as far as lines and brackets around it can tell."""
        return _OPENING.match(self.data, end) is not None

    def _lacks(self, end: int, name: bytes, position: int, at: int) -> bool:
        """Whether a call leaves out an argument; what is given another name may be called elsewhere."""
        inside = self._arguments(end)
        if inside is None:
            is_assigned = re.search(rb"=[ \t]*[\w.]*$", self.data[max(0, at - 80) : at]) is not None
            return is_assigned or _AS.match(self.data, end) is not None or self._may_be_called(end)
        flat = _flat(inside)
        if re.search(rb"\b%s\s*=" % name, flat) or b"**" in flat:
            return False
        return position < 0 or len(_positional(inside)) <= position


def _positional(inside: bytes) -> list[bytes]:
    """The arguments between two brackets that have no keyword."""
    return [part for part in _flat(inside).split(b",") if part.strip() and not re.match(rb"\s*\w+\s*=[^=]", part)]


_WORD = re.compile(rb"\w+")


_BLANKS = b" \t\r\n\\"
_LAST_COMMENT = re.compile(rb"#[^\n]*\Z")
_OWNER = re.compile(rb"(\w+)[\s)\\]*\.\Z")
"""What a name behind a dot is taken from, where that is a name or ends with one."""
_ON_LINE = re.compile(rb"[ \t)]*(?:\\\r?\n[ \t)]*)*\(")
"""The opening bracket of a call, on the same line as what is called."""
_OPENING = re.compile(rb"(?:[\s)\\]|#[^\n]*\n)*\(")
"""The same on whatever line."""


_TEXT = re.compile(rb"\s*(?:\w{0,2}[\x22']|lambda\b)")
"""What no argument of arithmetic begins with, but those of ``re.sub``."""


_APART = re.compile(rb"#[^\r\n]*|\\\r?\n")
"""Comments, and where a line goes on."""


_AS = re.compile(rb"[ \t\\]+as[ \t\\]")


_FLAG = re.compile(rb"(?:[\s)\\]|#[^\n]*\n)*\((?:[\s(\\]|#[^\n]*\n)*(?:True|False)\b")


_BRACKET = re.compile(rb"[()]")


_NESTED = re.compile(rb"\([^()]*\)|\[[^\[\]]*\]|\{[^{}]*\}")


def _flat(inside: bytes) -> bytes:
    """Arguments without what stands in brackets of their own."""
    while (shorter := _NESTED.sub(b"0", inside)) != inside:
        inside = shorter
    return inside


@functools.lru_cache(maxsize=64)
def _is_given(data: bytes, name: bytes, value: bytes = b"") -> bool:
    """Whether an argument is given by a name, or by one that ends like it; the literal, if one is named."""
    given = rb"[\s\\(\[]*[\x22']?%s" % value if value else b"[^=]"
    return re.search(rb"%s[\s\\]*=%s" % (name, given), data) is not None


def _is_part(data: bytes, at: int) -> bool:
    """Whether there is a character of a name at an index."""
    return 0 <= at < len(data) and is_of_word(data[at])
