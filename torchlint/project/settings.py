"""Settings: what ``[tool.torchlint]`` and the command line say, and which rules that selects for a file."""

from __future__ import annotations

import codecs
import functools
import os
import re
import sys
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from torchlint.diagnostic import Policy
from torchlint.model.torch.versions import ANY, Target
from torchlint.model.torch.versions import parse as parse_target
from torchlint.project import gitignore
from torchlint.project.gitignore import relative
from torchlint.project.globs import Globs
from torchlint.project.target import may_require, of_project
from torchlint.project.target import unread as unread_of_project
from torchlint.rules import catalogue
from torchlint.system.limits import BUDGET, FILE_SIZE, USUAL, Limits, parse_size
from torchlint.system.reading import SETTINGS, read

OWN = {
    "TL001": "syntax-error",
    "TL002": "unused-suppression",
    "TL003": "unreadable-file",
    "TL004": "malformed-suppression",
}
"""The tool's own diagnostics. They are never selected by ALL or TL, and only TL002 has to be selected at all."""

ALWAYS_ON = ("TL001", "TL003", "TL004")

DEFAULT_EXCLUDE = (
    *(".bzr", ".direnv", ".eggs", ".git", ".hg", ".ipynb_checkpoints", ".mypy_cache", ".nox", ".pants.d", ".pyenv"),
    *(".pytest_cache", ".pytype", ".ruff_cache", ".svn", ".torchlint_cache", ".tox", ".venv", ".vscode"),
    *("__pycache__", "__pypackages__", "_build", "buck-out", "build", "dist", "node_modules", "site-packages", "venv"),
)


SHARED = "pyproject.toml"
"""The settings file that is others' as well: there the settings are in a table of ours."""

FILES = (".torchlint.toml", "torchlint.toml", SHARED)
"""Settings files; of those in one directory the first that has settings counts."""

MARKERS = (SHARED, "setup.py", "setup.cfg", ".git")
"""What stands in the root of a project for those who look for what is imported (``model.codebase``). A settings file of
ours does not: it may stand in a folder of tests that imports from above."""


class SettingsError(ValueError):
    """Settings that cannot be meant; the message names the place and the way out."""

    def __init__(self, message: str, about: str = "") -> None:
        super().__init__(message)
        self.about = about
        """The selector or key that is wrong, as it is written in the file."""


@dataclass(frozen=True, slots=True)
class Selection:
    """One layer of selecting rules: a file's, or the command line's."""

    select: tuple[str, ...] | None = None
    extend_select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()


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
    selection: Selection = Selection()
    exclude: tuple[str, ...] = DEFAULT_EXCLUDE
    per_file_ignores: tuple[tuple[str, tuple[str, ...]], ...] = ()
    target_torch: str | None = None
    fixable: Selection = Selection()
    """Rules whose fixes may be applied: ``fixable``, ``extend-fixable``, ``unfixable``."""
    extend_safe_fixes: tuple[str, ...] = ()
    extend_unsafe_fixes: tuple[str, ...] = ()
    fix: bool = False
    unsafe_fixes: bool = False
    fix_only: bool = False
    show_fixes: bool = False
    cache_dir: str | None = None
    doubts: tuple[Doubt, ...] = ()
    limits: Limits = USUAL


@functools.cache
def known_names() -> dict[str, str]:
    """Names of all rules by code, the tool's own diagnostics included."""
    return dict(sorted((OWN | {code: info.name for code, info in catalogue().items()}).items()))


def check_selectors(selectors: Iterable[str], where: str) -> tuple[str, ...]:
    """The selectors, if each selects something.

    Raises:
        SettingsError: one is neither a rule's code, nor the beginning of one, nor its name.
    """
    names, checked = known_names(), tuple(selectors)
    for selector in checked:
        if selector == "ALL" or any(_specificity(selector, code, name) for code, name in names.items()):
            continue
        meant = did_you_mean(selector, [*names, *names.values(), "ALL"]) or " (`torchlint rule --all` explains all)"
        raise SettingsError(f"{where}: unknown rule `{selector}`{meant}", selector)
    return checked


def _specificity(selector: str, code: str, name: str) -> int:
    """How exactly a selector means a rule; 0 if it does not."""
    if selector == name:
        return len(code)
    return len(selector) if selector and code.startswith(selector) else 0


def selected(layers: Sequence[Selection]) -> frozenset[str]:
    """The rules that are on.

    The more exact selector wins (``select = ["TL1"]``, ``ignore = ["TL101"]``), at the same exactness the later layer,
    within a layer ``ignore``. A ``select`` starts afresh: earlier layers don't count.
    """
    first = max((number for number, layer in enumerate(layers) if layer.select is not None), default=0)
    layers = layers[first:]
    return frozenset(code for code, name in known_names().items() if _is_on(code, name, layers))


def _is_on(code: str, name: str, layers: Sequence[Selection]) -> bool:
    rule = catalogue().get(code)
    by_default = layers[0].select is None and rule is not None and rule.by_default
    votes = [((-1, 0), by_default or code in ALWAYS_ON)]
    for number, layer in enumerate(layers):
        for selectors, on in ((layer.select or (), True), (layer.extend_select, True), (layer.ignore, False)):
            votes += (((rank, number), on) for rank in _ranks(selectors, code, name))
    return max(votes, key=lambda vote: (vote[0], not vote[1]))[1]


def _ranks(selectors: Iterable[str], code: str, name: str) -> Iterator[int]:
    for selector in selectors:
        if code in OWN and selector in ("ALL", "T", "TL"):  # too wide to mean the tool's own diagnostics
            continue
        if selector == "ALL":
            yield 0
        elif rank := _specificity(selector, code, name):
            yield rank


def fixable(layers: Iterable[Selection]) -> frozenset[str]:
    """The rules whose fixes may be applied: all, unless settings say otherwise.

    What a later layer says of a rule counts, whatever an earlier one says. Within a layer the more exact selector wins,
    at the same exactness ``unfixable``.
    """
    names = known_names()
    on = set(names)
    for layer in layers:
        if layer.select is not None:
            on.clear()
        for code, name in names.items():
            yes = max(_ranks((*(layer.select or ()), *layer.extend_select), code, name), default=-1)
            no = max(_ranks(layer.ignore, code, name), default=-1)
            if yes > no:
                on.add(code)
            elif no >= 0:
                on.discard(code)
    return frozenset(on)


def policy(settings: Settings, command_line: Selection = Selection()) -> Policy:
    """What settings, and the fixability that the command line gives, mean for the fixes of each rule."""
    safe, unsafe = set(), set()
    for code, name in known_names().items():
        trusted = max(_ranks(settings.extend_safe_fixes, code, name), default=-1)
        doubted = max(_ranks(settings.extend_unsafe_fixes, code, name), default=-1)
        if trusted > doubted:
            safe.add(code)
        elif doubted >= 0:
            unsafe.add(code)
    off = known_names().keys() - fixable([settings.fixable, command_line])
    return Policy(frozenset(off), frozenset(safe), frozenset(unsafe))


class Project:
    """Finds the settings that hold for a file: those of the nearest settings file that has any, upwards."""

    def __init__(
        self,
        command_line: Selection = Selection(),
        isolated: bool = False,
        target: str | None = None,
        fixable: Selection = Selection(),
        max_file_size: int | None = None,
    ) -> None:
        self.command_line = command_line
        self.max_file_size = max_file_size
        self.fixable = fixable
        self.isolated = isolated
        self.asked_target = target
        self._settings: dict[str, Settings | None] = {}
        self._codes: dict[tuple[Settings, tuple[str, ...]], frozenset[str]] = {}
        self._policies: dict[Settings, Policy] = {}
        self._named: dict[tuple[str, str], bool] = {}
        self._targets: dict[str, Target] = {}
        self._marked: dict[str, tuple[str, ...]] = {}
        self._variants: dict[tuple[str, frozenset[str]], str] = {}
        self._shared: dict[str, str] = {}
        """The same for directories in which it is that of every file."""
        self._names: dict[str, Collection[str]] = {}

    @property
    def identity(self) -> tuple[object, ...]:
        """What tells runs apart that have little to say to each other."""
        return (self.settings(os.getcwd()).root, self.command_line, self.isolated, self.asked_target, self.fixable)

    def learn(self, directory: str, names: Collection[str]) -> None:
        """Take over the names that are in a directory from somebody who has just looked."""
        self._names[directory] = names

    def settings(self, directory: str) -> Settings:
        """Settings for the files of a directory (absolute path).

        Raises:
            SettingsError: there are some, and they make no sense.
        """
        found = None if self.isolated else self._nearest(directory)
        return found or self._defaults

    @functools.cached_property
    def _defaults(self) -> Settings:
        return Settings(os.getcwd())

    def _nearest(self, directory: str) -> Settings | None:
        if directory not in self._settings:
            parent = os.path.dirname(directory)
            there = self._names.get(directory, FILES)
            loaded = (load(os.path.join(directory, name)) for name in FILES if name in there)
            here = next(filter(None, loaded), None)
            self._settings[directory] = here or (self._nearest(parent) if parent != directory else None)
        return self._settings[directory]

    @property
    def unread(self) -> list[str]:
        """What could not be read of what projects require."""
        return sorted({message for directory in self._targets for message in unread_of_project(directory)})

    @property
    def sources(self) -> list[str]:
        """The settings files in use so far."""
        return sorted({settings.file for settings in self._settings.values() if settings and settings.file})

    @property
    def doubts(self) -> list[str]:
        """What is doubtful in the settings files in use so far."""
        return sorted({doubt.message for settings in self._settings.values() if settings for doubt in settings.doubts})

    def codes(self, path: str) -> frozenset[str]:
        """Codes of the rules that are on for a file (absolute path)."""
        settings = self.settings(os.path.dirname(path))
        ignored = tuple(
            code
            for pattern, codes in settings.per_file_ignores
            if _matches(pattern, settings.root, path)
            for code in codes
        )
        key = (settings, ignored)
        if key not in self._codes:
            on = selected([settings.selection, self.command_line])
            off = {code for code, name in known_names().items() for rank in _ranks(ignored, code, name)}
            self._codes[key] = on - off
        return self._codes[key]

    def named(self, path: str, code: str) -> bool:
        """Whether a rule was asked for by its own code or name."""
        key = (os.path.dirname(path), code)
        if key not in self._named:
            asked = {code, known_names()[code]}
            self._named[key] = any(
                not asked.isdisjoint({*(layer.select or ()), *layer.extend_select})
                for layer in (self.settings(key[0]).selection, self.command_line)
            )
        return self._named[key]

    def policy(self, path: str) -> Policy:
        """What the settings that hold for a file say about fixes."""
        settings = self.settings(os.path.dirname(path))
        if settings not in self._policies:
            self._policies[settings] = policy(settings, self.fixable)
        return self._policies[settings]

    def limits(self, path: str) -> Limits:
        """What a file may cost."""
        limits = self.settings(os.path.dirname(path)).limits
        return limits if self.max_file_size is None else replace(limits, file_size=self.max_file_size)

    def target_torch(self, path: str) -> str | None:
        """The torch version a file is written for, if anyone said so."""
        return self.asked_target or self.settings(os.path.dirname(path)).target_torch

    def target(self, path: str) -> Target:
        """The versions of torch a file is written for: as said, else as the project around it requires."""
        directory = os.path.dirname(path)
        if directory not in self._targets:
            said = self.target_torch(path)
            if said is not None:
                self._targets[directory] = parse_target(said) or ANY
            else:
                self._targets[directory] = ANY if self.isolated else self._required(directory)
        return self._targets[directory]

    def _required(self, directory: str) -> Target:
        parent, names = os.path.dirname(directory), self._names.get(directory, (".git",))
        is_plain = parent in self._names and ".git" not in names and not may_require(names)
        if is_plain and not os.path.islink(directory):  # most of them
            return self.target(os.path.join(parent, "x"))
        return of_project(directory)

    def marked(self, directory: str) -> tuple[str, ...]:
        """The directories at and above one in which a project has its root: imports are looked for below these."""
        if directory not in self._marked:
            parent, names = os.path.dirname(directory), self._names.get(directory)
            is_root = any(
                marker in names if names is not None else os.path.exists(os.path.join(directory, marker))
                for marker in MARKERS
            )
            above = self.marked(parent) if parent != directory else ()
            self._marked[directory] = (*above, directory) if is_root else above
        return self._marked[directory]

    def variant(self, path: str) -> str:
        """All that findings in a file follow from but contents and the program."""
        directory = os.path.dirname(path)
        shared = self._shared.get(directory)
        if shared is not None:
            return shared
        codes = self.codes(path)
        if (directory, codes) not in self._variants:
            limits = self.limits(path)
            others = (limits.file_size, limits.budget)
            parts = (sorted(codes), self.policy(path).key, str(self.target(path)), self.marked(directory), others)
            self._variants[directory, codes] = repr(parts)
        if not self.settings(directory).per_file_ignores:
            self._shared[directory] = self._variants[directory, codes]
        return self._variants[directory, codes]


def _matches(pattern: str, root: str, path: str) -> bool:
    below = relative(path, root)
    if below is None:
        return False
    wanted = not pattern.startswith("!")
    return _pattern(pattern.removeprefix("!")).covers(below.split("/")) is wanted


_pattern = functools.cache(gitignore.parse)


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
        about = f"{where}: `{key}`"
        try:
            values[key] = _KEYS[key](value, about)
            if _KEYS[key] is _strings:
                values[key] = tuple(filter(None, (pattern(each, about) for each in values[key])))
            elif _KEYS[key] is _per_file:
                pairs = ((pattern(each, about), codes) for each, codes in values[key])
                values[key] = tuple(pair for pair in pairs if pair[0])
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
        cache_dir=values.get("cache-dir"),
        doubts=tuple(doubts),
        limits=Limits(values.get("max-file-size", FILE_SIZE), values.get("model-budget", BUDGET)),
    )


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


def check_size(value: object, where: str) -> int:
    """The bytes of a size such as ``5M``, or SettingsError."""
    size = parse_size(str(value)) if isinstance(value, str | int) and not isinstance(value, bool) else None
    if size is None:
        raise SettingsError(f'{where} must be a number of bytes, as in 300000, "300K" or "5M" (0: no limit)')
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


def check_version(value: object, where: str) -> str:
    """A torch version such as ``2.6``, or SettingsError."""
    one = r"(>=|>|<=|<|==|~=)?\s*\d+\.\d+(\.\d+)?"
    if not isinstance(value, str) or not re.fullmatch(rf"{one}(\s*,\s*{one})*", value):
        raise SettingsError(f'{where} must be a version, as in "2.6", or a range, as in ">=1.13,<2.5"')
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
    "cache-dir": _path,
    "max-file-size": check_size,
    "model-budget": _count,
}


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """The end of a message about an unknown word: the known one that looks most like it."""
    import difflib

    known = list(known)
    close = difflib.get_close_matches(word, known, 1) or difflib.get_close_matches(word.upper(), known, 1)
    return f" (did you mean `{close[0]}`?)" if close else ""
