"""What one source says of settings, read and checked: a settings file, or an option of the command line."""

from __future__ import annotations

import codecs
import os
import re
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple, TypeVar, cast

from torchlint.project import gitignore, keys, kinds
from torchlint.project.foreign import about_key
from torchlint.project.globs import Globs
from torchlint.project.keys import SettingKey
from torchlint.project.selection import SettingsError, did_you_mean
from torchlint.system.reading import SETTINGS, read

T = TypeVar("T")

SHARED = "pyproject.toml"
"""The settings file that is others' as well: there the settings are in a table of ours."""


class Doubt(NamedTuple):
    """Why something in a settings file will do nothing."""

    message: str
    about: tuple[str, ...]
    """The key and the pattern, as they are written in the file."""


@dataclass(frozen=True, slots=True, eq=False)
class Stated:
    """What one source says."""

    name: str
    """The settings file (its absolute path), or the option."""
    root: str
    """The directory that patterns and names of files are relative to."""
    values: Mapping[str, object] = field(default_factory=dict)
    text: str | None = None
    """What is in the file; None for an option."""
    doubts: tuple[Doubt, ...] = ()

    def get(self, key: SettingKey[T]) -> T | None:
        """What it says of a key; None if it says nothing."""
        return cast("T | None", self.values.get(key.name))

    def place(self, about: str) -> str:
        """Where it says something: the file, and the line if that is found."""
        return f"{self.name}{_row(self.text or '', (about,), self.name)}"


def load(file: str, root: str | None = None) -> Stated | None:
    """Read one settings file; None if there is none, or it is a ``pyproject.toml`` that says nothing about torchlint.

    ``root`` is where its patterns begin, if that is not its directory.

    Raises:
        SettingsError: it cannot be read or makes no sense.
    """
    try:
        data = read(file, SETTINGS)
    except (FileNotFoundError, NotADirectoryError, IsADirectoryError):
        return None
    except OSError as error:
        raise SettingsError(f"{file}: {error.strerror}") from error
    is_shared = os.path.basename(file) == SHARED
    if is_shared and b"torchlint" not in data:  # somebody else's, which may be broken: not our concern
        return None
    try:
        text = _text(data)
        table: object = toml(text)
    except ValueError as error:  # not TOML, or not UTF-8
        raise SettingsError(f"{file}: {error}") from error
    except RecursionError:
        raise SettingsError(f"{file}: brackets are nested too deeply") from None
    for key in ("tool", "torchlint") if is_shared else ():
        table = table.get(key) if isinstance(table, dict) else None
    if table is None:
        return None
    try:
        layer = parse(table, file, root)
    except SettingsError as error:
        raise SettingsError(_placed(str(error), error.about, file, text)) from None
    doubts = (doubt._replace(message=_placed(doubt.message, doubt.about, file, text)) for doubt in layer.doubts)
    return replace(layer, doubts=tuple(doubts), text=text)


def parse(table: object, file: str, root: str | None = None) -> Stated:
    """What the table ``[tool.torchlint]`` of a ``pyproject.toml`` says, or all of another file."""
    is_shared = os.path.basename(file) == SHARED
    where = f"{file}: [tool.torchlint]" if is_shared else file
    return _layer(table, file, os.path.dirname(file) if root is None else root, where)


def of_option(option: str, text: str, root: str) -> Stated:
    """What an option of the command line says by ``KEY=VALUE``.

    The value is TOML. Quotes and brackets may be left out where it is a word, or words with commas between them, and
    quotes around the key in a table: shells take quotes away.

    Raises:
        SettingsError: it makes no sense.
    """
    written = _ASSIGNMENT.fullmatch(text)
    if written is None:
        raise SettingsError(f"{option}: `{text}` is neither a settings file nor `KEY=VALUE`")
    key, item, value = ((written[part] or "").strip() for part in ("key", "item", "value"))
    if not key:
        raise SettingsError(f"{option}: before the `=` of `{text}` a key is missing")
    key = _unquoted(key)
    kind = keys.BY_NAME[key].kind if key in keys.BY_NAME else None
    if kind is not None and kind.items is not None and item:
        return _layer({key: {_unquoted(item): _value(value, kind.items)}}, option, root, option)
    table = {f"{key}.{item}" if item else key: value if kind is None else _value(value, kind)}
    return _layer(table, option, root, option)


_STRING = r"""(?:"(?:[^"\\]|\\.)*"|'[^']*')"""
_ASSIGNMENT = re.compile(
    rf"(?P<key>\s*{_STRING}\s*|[^=.\"']*)(?:\.(?P<item>\s*{_STRING}\s*|[^=]*))?=(?P<value>.*)", re.DOTALL
)
"""How an option says something of a key, or of one item of a table."""


def _value(text: str, kind: kinds.ValueKind[object]) -> object:
    """What is written after an equals sign on the command line."""
    value = _by_itself(text)
    if value is None:
        return _words(text) if kind.is_list else text
    if isinstance(value, list | dict):
        return value
    if kind.is_list:
        return [value] if isinstance(value, str) else _words(text)
    return text if kind.is_text and not isinstance(value, str) else value


def _words(text: str) -> list[str]:
    return [_unquoted(part.strip()) for part in text.split(",") if part.strip()]


def _unquoted(text: str) -> str:
    """What a string of TOML says; anything else says itself."""
    value = _by_itself(text)
    return value if isinstance(value, str) else text


def _by_itself(text: str) -> object:
    """A value of TOML; None for what is none."""
    try:
        table = toml(f"value = {text}")
    except (ValueError, RecursionError):
        return None
    return table["value"] if len(table) == 1 else None


def of_patterns(option: str, key: SettingKey[tuple[str, ...]], patterns: Sequence[str], root: str) -> Stated:
    """What an option says that takes patterns.

    Raises:
        SettingsError: one of them makes no sense.
    """
    return _layer({key.name: list(patterns)}, option, root, option)


def _layer(table: object, name: str, root: str, where: str) -> Stated:
    globs, doubts = Globs(root), list[Doubt]()

    def pattern(written: str, key: str) -> str:
        """What a pattern means for git; nothing if it matches nothing."""
        about = f"{where}: `{key}`"
        try:
            glob = globs.read(written)
        except gitignore.BadPattern as error:
            raise SettingsError(f"{about}: bad pattern `{written}`: {error}", written) from None
        if glob.doubt:
            doubts.append(Doubt(f"{about}: `{written}` matches nothing: {glob.doubt}", (key, written)))
        return glob.pattern

    if not isinstance(table, dict):
        raise SettingsError(f"{where} is not a table")
    values: dict[str, object] = {}
    for key, value in table.items():
        if key not in keys.BY_NAME:
            hint = about_key(key, name) or did_you_mean(key, keys.BY_NAME)
            raise SettingsError(f"{where}: unknown key `{key}`{hint}", key)
        try:
            checked = keys.BY_NAME[key].kind.read(value, f"{where}: `{key}`")
            if keys.BY_NAME[key].kind is kinds.PATTERNS:
                written = cast("tuple[str, ...]", checked)
                checked = tuple(filter(None, (pattern(each, key) for each in written)))
            elif keys.BY_NAME[key].kind in kinds.BY_PATTERN:
                pairs = cast("tuple[tuple[str, object], ...]", checked)
                read_ = ((pattern(each, key), said) for each, said in pairs)
                checked = tuple(pair for pair in read_ if pair[0])
        except SettingsError as error:
            raise SettingsError(str(error), key, *error.about) from None
        values[key] = checked
    return Stated(name, root, values, doubts=tuple(doubts))


def _placed(message: str, about: Sequence[str], file: str, text: str) -> str:
    """A message with the line that it is about."""
    return message.replace(file, f"{file}{_row(text, about, file)}", 1) if about else message


def _row(text: str, about: Sequence[str], file: str) -> str:
    """``:4`` where the fourth line of a settings file has what an error is about; nothing if no part of it is found.

    Each part is looked for behind those around it.
    """
    text = _COMMENT.sub(lambda found: found[1] or " " * len(found[0]), text)
    is_shared = os.path.basename(file) == SHARED
    start = re.search(r"tool\s*\.\s*torchlint|\[\s*tool\s*\]", text) if is_shared else None
    at, is_found = start.end() if start else 0, False
    for part in about:
        end = _end_of(part, text, at)
        if end is not None:
            at, is_found = end, True
    return f":{text.count(chr(10), 0, at) + 1}" if is_found else ""


_COMMENT = re.compile(rf"(\"\"\"(?s:.*?)\"\"\"|'''(?s:.*?)'''|{_STRING})|#[^\n]*")
"""A string (the group), or a comment."""


def _end_of(word: str, text: str, start: int) -> int | None:
    """Where a word ends that is a key or a string of TOML, from some place on; None if it is not there."""
    quoted = re.escape(word).replace(r"\\", r"\\{1,2}")  # in a basic string a backslash is written twice
    places = (rf"[\"']{quoted}[\"']", rf"(?m)(?:^|[.\s{{,\[]){quoted}(?=\s*[=.\]])")
    found = (re.compile(place).search(text, start) for place in places[: 1 + bool(word)])
    return min((match.end() for match in found if match), default=None)


def _text(data: bytes) -> str:
    """The text of a settings file; a byte order mark, as some editors write it, says nothing (TOML 1.1)."""
    return data.removeprefix(codecs.BOM_UTF8).decode("utf-8")


def toml(text: str) -> dict[str, object]:
    """What TOML says; raises ValueError."""
    if sys.version_info >= (3, 11):
        import tomllib
    else:
        import tomli as tomllib
    if any(line.count(".") > _MOST_DOTS for line in text.splitlines()):  # memory with the square of that
        raise ValueError("a key has too many parts")
    return tomllib.loads(text)


_MOST_DOTS = 1_000
"""In a line of settings."""
