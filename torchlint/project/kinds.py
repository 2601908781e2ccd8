"""What the value of a setting can be: how it is read from TOML, how a JSON Schema says it, what a page calls it."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Generic, TypeVar

from torchlint.diagnostic import OWN_PREFIX, Confidence, Severity
from torchlint.project.formats import AUTO, FORMATS
from torchlint.project.selection import GROUPS, SettingsError, check_selectors, known_names
from torchlint.system.limits import BUDGET, parse_size
from torchlint.versions import OLDEST_KNOWN, text, version
from torchlint.versions import parse as parse_target

T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)
E = TypeVar("E", bound=Enum)

Schema = Mapping[str, object]
"""A JSON Schema, or a part of one."""


@dataclass(frozen=True, slots=True, eq=False)
class ValueKind(Generic[T_co]):
    """What a value can be."""

    name: str
    """For people."""
    read: Callable[[object, str], T_co]
    """The value that TOML's means; raises SettingsError, with a sentence about the place that is given."""
    schema: Callable[[], Schema]
    is_list: bool = False
    """Whether a text with commas is a list, where it stands on the command line."""
    is_text: bool = False
    """Whether a number on the command line is its digits."""
    items: ValueKind[object] | None = None
    """What the values of a table can be."""


def _strings(value: object, where: str, what: str) -> tuple[str, ...]:
    """The strings of a list; ``what`` says what it should be, with an example."""
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        raise SettingsError(f"{where} must be {what}")
    return tuple(value)


def _patterns(value: object, where: str) -> tuple[str, ...]:
    return _strings(value, where, 'a list of patterns, as in ["third_party", "*_pb2.py"]')


def _flag(value: object, where: str) -> bool:
    if not isinstance(value, bool):
        raise SettingsError(f"{where} must be true or false")
    return value


def _without_null(name: str, where: str) -> str:
    """A name, if there can be a file of it."""
    if "\0" in name:
        raise SettingsError(f"{where} has a null character in it")
    return name


def _named(what: str) -> Callable[[object, str], str]:
    def read(value: object, where: str) -> str:
        if not isinstance(value, str) or not value:
            raise SettingsError(f"{where} must be the name of a {what}")
        return _without_null(value, where)

    return read


def check_size(value: object, where: str) -> int:
    """The bytes of a size such as ``5M``, or SettingsError."""
    size = parse_size(str(value)) if isinstance(value, str | int) and not isinstance(value, bool) else None
    if size is None:
        raise SettingsError(f'{where} must be a number of bytes, as in 300000, "300K" or "5M" (0: no limit but 50 MB)')
    return size


def _count(value: object, where: str) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        raise SettingsError(f"{where} must be a number of expressions, as in {BUDGET} (0: no limit)")
    return value


def _selectors(value: object, where: str) -> tuple[str, ...]:
    return check_selectors(_strings(value, where, 'a list of strings, as in ["TL101"]'), where)


def _items(table: Mapping[str, object], read: Callable[[str, object], T]) -> tuple[tuple[str, T], ...]:
    """The items of a table; what is wrong with one of them is said of this one."""

    def item(key: str, value: object) -> T:
        try:
            return read(key, value)
        except SettingsError as error:
            raise SettingsError(str(error), key, *error.about) from None

    return tuple((key, item(key, value)) for key, value in table.items())


def _per_file(value: object, where: str) -> tuple[tuple[str, tuple[str, ...]], ...]:
    if not isinstance(value, dict):
        raise SettingsError(f'{where} must be a table of patterns, as in "tests/**" = ["TL101"]')
    return _items(value, lambda pattern, codes: _selectors(codes, f'{where}: "{pattern}"'))


def _versions_per_file(value: object, where: str) -> tuple[tuple[str, str], ...]:
    if not isinstance(value, dict):
        raise SettingsError(f'{where} must be a table of patterns, as in "legacy/**" = ">=1.13"')
    return _items(value, lambda pattern, version: check_version(version, f'{where}: "{pattern}"'))


def _severities(value: object, where: str) -> tuple[tuple[str, Severity], ...]:
    if not isinstance(value, dict):
        raise SettingsError(f'{where} must be a table of rules, as in TL101 = "info"')
    check_selectors(value, where)
    return _items(value, lambda selector, level: _member(Severity)(level, f"{where}: `{selector}`"))


def _formats(value: object, where: str) -> tuple[str, ...]:
    what = 'a format, or a list of formats, as in "concise" or ["concise", "sarif:torchlint.sarif"]'
    formats = (value,) if isinstance(value, str) else _strings(value, where, what)
    return tuple(_without_null(each, where) for each in formats)


def _member(kind: type[E]) -> Callable[[object, str], E]:
    def read(value: object, where: str) -> E:
        for member in kind:
            if member.value == value:
                return member
        listed = ", ".join(f'"{member.value}"' for member in kind)
        raise SettingsError(f"{where} must be one of {listed}")

    return read


_ONE_VERSION = r"(>=|>|<=|<|==|~=)?\s*[0-9]+\.[0-9]+(\.[0-9]+)?"
_VERSIONS = rf"{_ONE_VERSION}(\s*,\s*{_ONE_VERSION})*"


def _why_no_version(text: str) -> str:
    """The end of a message about what is nearly a version; nothing of what is none."""
    for part in re.split(r"\s*,\s*", text.strip()):
        if re.fullmatch(r"(>=|>|<=|<|==|~=)?\s*[0-9]+", part):
            return f" (`{part}` has no minor number)"
        if re.fullmatch(rf"{_ONE_VERSION}\+\w+", part):
            return f" (without `{part[part.index('+') :]}`, which names the build)"
        if re.match(r"(!=|===)\s*[0-9]", part):
            return f" (`{part[:2] if part[2] != '=' else part[:3]}` is not taken)"
    return ""


def check_version(value: object, where: str) -> str:
    """A torch version such as ``2.6``, or SettingsError."""
    if not isinstance(value, str) or not re.fullmatch(_VERSIONS, value):
        said = f'{where} must be a version, as in "2.6", or a range, as in ">=1.13,<2.5"'
        raise SettingsError(said + _why_no_version(str(value)))
    target = parse_target(value)
    if target is not None and target.oldest and target.newest and target.oldest > target.newest:
        raise SettingsError(f"{where}: no version is in the range `{value}`")
    for named in re.findall(r"[0-9.]+", value):
        if version(named) < OLDEST_KNOWN:
            raise SettingsError(
                f"{where}: `{named}` is before {text(OLDEST_KNOWN)}, the oldest version that is known of"
            )
    return value


def _list_of(items: Schema) -> Schema:
    return {"type": "array", "items": items}


def _selector_schema() -> Schema:
    """The codes, names and groups there are; codes of rules in other packages, too, which are not known here."""
    names = known_names()
    ours = [code for code in names if code.startswith(OWN_PREFIX)]
    beginnings = {code[:end] for code in ours for end in range(1, len(code) + 1)}
    words = ["ALL", *GROUPS, *sorted(beginnings), *sorted(names[code] for code in ours)]
    others = {"pattern": f"^(?!{OWN_PREFIX})[A-Z]{{2,8}}[0-9]{{0,3}}$", "description": "of another package"}
    return {"type": "string", "anyOf": [{"enum": words}, others]}


SELECTOR = "selector"
"""What schemas call the words that mean rules; they are defined once for all."""

DEFINITIONS: Mapping[str, Callable[[], Schema]] = {SELECTOR: _selector_schema}
"""What the schemas of kinds refer to."""

_SELECTOR: Schema = {"$ref": f"#/definitions/{SELECTOR}"}
_PATTERN: Schema = {"type": "string", "description": "A pattern as in a .gitignore, from the folder of the settings on"}
_NAME: Schema = {"type": "string", "minLength": 1}


def _one_of(kind: type[Enum]) -> Schema:
    return {"enum": [member.value for member in kind]}


def _size_schema() -> Schema:
    number = {"type": "integer", "minimum": 0, "maximum": 999_999_999_999_999}
    return {"anyOf": [number, {"type": "string", "pattern": r"^\s*[0-9]{1,15}[KkMm]?\s*$"}]}


def _formats_schema() -> Schema:
    one = {"type": "string", "pattern": f"^(({'|'.join(FORMATS)})(:.+)?|{AUTO})$"}
    return {"anyOf": [one, _list_of(one)]}


def _version_schema() -> Schema:
    return {"type": "string", "pattern": f"^{_VERSIONS}$"}


FLAG = ValueKind("true or false", _flag, lambda: {"type": "boolean"})
FILE = ValueKind("name of a file", _named("file"), lambda: _NAME, is_text=True)
FOLDER = ValueKind("name of a directory", _named("directory"), lambda: _NAME, is_text=True)
SIZE = ValueKind("bytes, as in `300000`, `300K` or `5M`", check_size, _size_schema)
COUNT = ValueKind("number", _count, lambda: {"type": "integer", "minimum": 0})
VERSION = ValueKind(
    "version, or a range, as in `>=1.13,<2.5`",
    check_version,
    _version_schema,
    is_text=True,
)
RULES = ValueKind("list of rules", _selectors, lambda: _list_of(_SELECTOR), is_list=True)
PATTERNS = ValueKind("list of patterns", _patterns, lambda: _list_of(_PATTERN), is_list=True)
FORMAT_LIST = ValueKind("format, or list of formats", _formats, _formats_schema, is_list=True)
LEVEL = ValueKind("`error`, `warning` or `info`", _member(Severity), lambda: _one_of(Severity), is_text=True)
CONFIDENCE = ValueKind("`high`, `medium` or `low`", _member(Confidence), lambda: _one_of(Confidence), is_text=True)
PER_FILE = ValueKind(
    "table: lists of rules by pattern",
    _per_file,
    lambda: {"type": "object", "additionalProperties": _list_of(_SELECTOR)},
    items=RULES,
)
VERSION_PER_FILE = ValueKind(
    "table: versions, or ranges, by pattern",
    _versions_per_file,
    lambda: {"type": "object", "additionalProperties": _version_schema()},
    items=VERSION,
)
SEVERITIES = ValueKind(
    "table: severities by rules",
    _severities,
    lambda: {"type": "object", "propertyNames": _SELECTOR, "additionalProperties": _one_of(Severity)},
    items=LEVEL,
)

BY_PATTERN = (PER_FILE, VERSION_PER_FILE)
"""Tables whose keys are patterns."""
TABLES = (*BY_PATTERN, SEVERITIES)
