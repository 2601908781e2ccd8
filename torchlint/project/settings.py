"""Settings files: what ``[tool.torchlint]`` says, read and checked."""

from __future__ import annotations

import codecs
import os
import re
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from enum import Enum
from typing import Any, NamedTuple, TypeVar

from torchlint.diagnostic import Confidence, Severity
from torchlint.project import gitignore
from torchlint.project.globs import Globs
from torchlint.project.selection import NOTHING_SAID, Selection, SettingsError, check_selectors, did_you_mean
from torchlint.system.limits import BUDGET, FILE_SIZE, USUAL, Limits, parse_size
from torchlint.system.reading import SETTINGS, read
from torchlint.versions import parse as parse_target

E = TypeVar("E", bound=Enum)

DEFAULT_EXCLUDE = (
    *(".bzr", ".direnv", ".eggs", ".git", ".hg", ".ipynb_checkpoints", ".mypy_cache", ".nox", ".pants.d", ".pyenv"),
    *(".pytest_cache", ".pytype", ".ruff_cache", ".svn", ".torchlint_cache", ".tox", ".venv", ".vscode"),
    *("__pycache__", "__pypackages__", "_build", "buck-out", "build", "dist", "node_modules", "site-packages", "venv"),
)


SHARED = "pyproject.toml"
"""The settings file that is others' as well: there the settings are in a table of ours."""

FILES = (".torchlint.toml", "torchlint.toml", SHARED)
"""Settings files; of those in one directory the first that has settings counts."""


class Doubt(NamedTuple):
    """Why something in a settings file will do nothing."""

    message: str
    about: str
    """The pattern, as it is written in the file."""


@dataclass(frozen=True, slots=True)
class Settings:
    """The settings of one file, or the defaults."""

    root: str
    """The directory that patterns are relative to."""
    file: str | None = None
    selection: Selection = NOTHING_SAID
    exclude: tuple[str, ...] = DEFAULT_EXCLUDE
    per_file_ignores: tuple[tuple[str, tuple[str, ...]], ...] = ()
    target_torch: str | None = None
    fixable: Selection = NOTHING_SAID
    """Rules whose fixes may be applied: ``fixable``, ``extend-fixable``, ``unfixable``."""
    extend_safe_fixes: tuple[str, ...] = ()
    extend_unsafe_fixes: tuple[str, ...] = ()
    fix: bool = False
    unsafe_fixes: bool = False
    fix_only: bool = False
    show_fixes: bool = False
    docs: bool = False
    """Whether code in Markdown and docstrings is looked at."""
    cache_dir: str | None = None
    baseline: str | None = None
    """The file of the baseline, from the folder of the settings on."""
    severity: tuple[tuple[str, Severity], ...] = ()
    """How bad findings are, by what selects their rules."""
    fail_on: Severity = Severity.INFO
    min_confidence: Confidence = Confidence.LOW
    output_format: tuple[str, ...] = ()
    """Formats as ``--output-format`` takes them."""
    doubts: tuple[Doubt, ...] = ()
    limits: Limits = USUAL


def load(file: str) -> Settings | None:
    """Read one settings file; None if there is none, or it is a ``pyproject.toml`` that says nothing about torchlint.

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
        table: object = _toml(data)
    except ValueError as error:  # not TOML, or not UTF-8
        raise SettingsError(f"{file}: {error}") from error
    except RecursionError:
        raise SettingsError(f"{file}: brackets are nested too deeply") from None
    for key in ("tool", "torchlint") if is_shared else ():
        table = table.get(key) if isinstance(table, dict) else None
    if table is None:
        return None
    text = _text(data)
    try:
        settings = parse(table, file)
    except SettingsError as error:
        raise SettingsError(_placed(str(error), error.about, file, text)) from None
    doubts = (doubt._replace(message=_placed(*doubt, file, text)) for doubt in settings.doubts)
    return replace(settings, doubts=tuple(doubts))


def _placed(message: str, about: str, file: str, text: str) -> str:
    """A message with the line that it is about."""
    return message.replace(file, f"{file}{_row(text, about)}", 1)


def _row(text: str, about: str) -> str:
    """``:4`` where the fourth line of a settings file is what an error is about; nothing if that is not found."""
    start = re.search(r"tool\s*\.\s*torchlint|\[\s*tool\s*\]", text)
    quoted = re.escape(about).replace(r"\\", r"\\{1,2}")  # in a basic string a backslash is written twice
    places = (rf"[\"']{quoted}[\"']", rf"(?m)(?:^|[.\s{{,]){quoted}\s*=")
    found = [re.compile(place).search(text, start.end() if start else 0) for place in places] if about else []
    offsets = [match.end() for match in found if match]
    return f":{text.count(chr(10), 0, min(offsets)) + 1}" if offsets else ""


def _text(data: bytes) -> str:
    """The text of a settings file; a byte order mark, as some editors write it, says nothing (TOML 1.1)."""
    return data.removeprefix(codecs.BOM_UTF8).decode("utf-8")


def _toml(data: bytes) -> dict[str, Any]:
    if sys.version_info >= (3, 11):
        import tomllib
    else:
        import tomli as tomllib
    text = _text(data)
    if any(line.count(".") > _MOST_DOTS for line in text.splitlines()):  # memory with the square of that
        raise ValueError("a key has too many parts")
    return tomllib.loads(text)


_MOST_DOTS = 1_000
"""In a line of settings."""


def parse(table: object, file: str) -> Settings:
    """Settings from the table ``[tool.torchlint]`` of a ``pyproject.toml``, or from all of another file."""
    is_shared = os.path.basename(file) == SHARED
    where = f"{file}: [tool.torchlint]" if is_shared else file
    globs, doubts = Globs(os.path.dirname(file)), list[Doubt]()

    def pattern(written: str, about: str) -> str:
        try:
            glob = globs.read(written)
        except gitignore.BadPattern as error:
            raise SettingsError(f"{about}: bad pattern `{written}`: {error}", written) from None
        if glob.doubt:
            doubts.append(Doubt(f"{about}: `{written}` matches nothing: {glob.doubt}", written))
        return glob.pattern

    if not isinstance(table, dict):
        raise SettingsError(f"{where} is not a table")
    values: dict[str, Any] = {}
    for key, value in table.items():
        if key not in _KEYS:
            here = f" (the keys of `[tool.torchlint]` stand at the top of {os.path.basename(file)})"
            hint = here if key == "tool" else did_you_mean(key, _KEYS)
            raise SettingsError(f"{where}: unknown key `{key}`{hint}", key)
        try:
            values[key] = _value(key, value, f"{where}: `{key}`", pattern)
        except SettingsError as error:
            raise SettingsError(str(error), error.about or key) from None
    selection = Selection(values.get("select"), values.get("extend-select", ()), values.get("ignore", ()))
    exclude = (*values.get("exclude", DEFAULT_EXCLUDE), *values.get("extend-exclude", ()))
    return Settings(
        os.path.dirname(file),
        file,
        selection,
        exclude,
        values.get("per-file-ignores", ()),
        values.get("target-torch"),
        Selection(values.get("fixable"), values.get("extend-fixable", ()), values.get("unfixable", ())),
        values.get("extend-safe-fixes", ()),
        values.get("extend-unsafe-fixes", ()),
        fix=values.get("fix", False),
        unsafe_fixes=values.get("unsafe-fixes", False),
        fix_only=values.get("fix-only", False),
        show_fixes=values.get("show-fixes", False),
        docs=values.get("docs", False),
        cache_dir=values.get("cache-dir"),
        baseline=values.get("baseline"),
        severity=values.get("severity", ()),
        fail_on=values.get("fail-on", Severity.INFO),
        min_confidence=values.get("min-confidence", Confidence.LOW),
        output_format=values.get("output-format", ()),
        doubts=tuple(doubts),
        limits=Limits(values.get("max-file-size", FILE_SIZE), values.get("model-budget", BUDGET)),
    )


def _value(key: str, value: object, about: str, pattern: Callable[[str, str], str]) -> Any:
    """The value of a key, checked; ``pattern`` reads one for paths, which is empty if it means nothing."""
    checked = _KEYS[key](value, about)
    if _KEYS[key] is _strings:
        return tuple(filter(None, (pattern(each, about) for each in checked)))
    if _KEYS[key] is _per_file:
        pairs = ((pattern(each, about), codes) for each, codes in checked)
        return tuple(pair for pair in pairs if pair[0])
    return checked


def _strings(value: object, where: str) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        raise SettingsError(f'{where} must be a list of strings, as in ["TL101"]')
    return tuple(value)


def _flag(value: object, where: str) -> bool:
    if not isinstance(value, bool):
        raise SettingsError(f"{where} must be true or false")
    return value


def _path(value: object, where: str) -> str:
    if not isinstance(value, str) or not value:
        raise SettingsError(f"{where} must be the name of a directory")
    return value


def _file(value: object, where: str) -> str:
    if not isinstance(value, str) or not value:
        raise SettingsError(f"{where} must be the name of a file")
    return value


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
    return check_selectors(_strings(value, where), where)


def _per_file(value: object, where: str) -> tuple[tuple[str, tuple[str, ...]], ...]:
    if not isinstance(value, dict):
        raise SettingsError(f'{where} must be a table of patterns, as in "tests/**" = ["TL101"]')
    return tuple((pattern, _selectors(codes, f'{where}: "{pattern}"')) for pattern, codes in value.items())


def _severities(value: object, where: str) -> tuple[tuple[str, Severity], ...]:
    if not isinstance(value, dict):
        raise SettingsError(f'{where} must be a table of rules, as in TL101 = "info"')
    check_selectors(value, where)
    return tuple((selector, _level(level, f"{where}: `{selector}`")) for selector, level in value.items())


def _formats(value: object, where: str) -> tuple[str, ...]:
    return (value,) if isinstance(value, str) else _strings(value, where)


def _level(value: object, where: str) -> Severity:
    return _member(Severity, value, where)


def _confidence(value: object, where: str) -> Confidence:
    return _member(Confidence, value, where)


def _member(kind: type[E], value: object, where: str) -> E:
    for member in kind:
        if member.value == value:
            return member
    listed = ", ".join(f'"{member.value}"' for member in kind)
    raise SettingsError(f"{where} must be one of {listed}")


def check_version(value: object, where: str) -> str:
    """A torch version such as ``2.6``, or SettingsError."""
    one = r"(>=|>|<=|<|==|~=)?\s*[0-9]+\.[0-9]+(\.[0-9]+)?"
    if not isinstance(value, str) or not re.fullmatch(rf"{one}(\s*,\s*{one})*", value):
        raise SettingsError(f'{where} must be a version, as in "2.6", or a range, as in ">=1.13,<2.5"')
    target = parse_target(value)
    if target is not None and target.oldest and target.newest and target.oldest > target.newest:
        raise SettingsError(f"{where}: no version is in the range `{value}`")
    return value


_KEYS: Mapping[str, Callable[[object, str], Any]] = {
    "select": _selectors,
    "ignore": _selectors,
    "extend-select": _selectors,
    "exclude": _strings,
    "extend-exclude": _strings,
    "per-file-ignores": _per_file,
    "target-torch": check_version,
    "fixable": _selectors,
    "extend-fixable": _selectors,
    "unfixable": _selectors,
    "extend-safe-fixes": _selectors,
    "extend-unsafe-fixes": _selectors,
    "fix": _flag,
    "unsafe-fixes": _flag,
    "fix-only": _flag,
    "show-fixes": _flag,
    "docs": _flag,
    "cache-dir": _path,
    "baseline": _file,
    "severity": _severities,
    "fail-on": _level,
    "min-confidence": _confidence,
    "output-format": _formats,
    "max-file-size": check_size,
    "model-budget": _count,
}
