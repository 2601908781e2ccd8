"""Settings: what the layers say that hold for a directory, the nearer one first where they disagree."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, TypeVar

from torchlint.diagnostic import Confidence, Severity
from torchlint.project import keys, stated
from torchlint.project.gitignore import relative
from torchlint.project.keys import DEFAULT_EXCLUDE, SettingKey
from torchlint.project.kinds import check_size, check_version
from torchlint.project.repository import repository
from torchlint.project.selection import Selection, SettingsError
from torchlint.project.stated import SHARED, Doubt, Stated
from torchlint.system.limits import BUDGET, FILE_SIZE, USUAL, Limits

__all__ = ["DEFAULT_EXCLUDE", "FILES", "Given", "Settings", "check_size", "check_version", "given", "load", "parse"]

T = TypeVar("T")

RulesKey = SettingKey[tuple[str, ...]]

FILES = (".torchlint.toml", "torchlint.toml", SHARED)
"""Settings files; of those in one directory the first that has settings counts."""

_MOST_EXTENDED = 8
"""Files that may extend each other."""


class Excluded(NamedTuple):
    """Patterns for what is not checked."""

    root: str
    """The directory that they are relative to."""
    patterns: tuple[str, ...]


class FileIgnore(NamedTuple):
    """Rules that are off in some files."""

    root: str
    """The directory that the pattern is relative to."""
    pattern: str
    rules: tuple[str, ...]


class FileTarget(NamedTuple):
    """The versions of torch that some files are written for."""

    root: str
    """The directory that the pattern is relative to."""
    pattern: str
    version: str
    """One, or a range."""


@dataclass(frozen=True, slots=True)
class Settings:
    """The settings that hold for a directory, or the defaults."""

    root: str
    """The directory that the cache and the baseline are in."""
    file: str | None = None
    selections: tuple[Selection, ...] = ()
    """What is selected, what is extended first."""
    excluded: tuple[Excluded, ...] = (Excluded("", DEFAULT_EXCLUDE),)
    per_file_ignores: tuple[FileIgnore, ...] = ()
    target_torch: str | None = None
    per_file_target_torch: tuple[FileTarget, ...] = ()
    fixable: tuple[Selection, ...] = ()
    """Rules whose fixes may be applied: ``fixable``, ``extend-fixable``, ``unfixable``."""
    extend_safe_fixes: tuple[str, ...] = ()
    extend_unsafe_fixes: tuple[str, ...] = ()
    fix: bool = False
    unsafe_fixes: bool = False
    fix_only: bool = False
    show_fixes: bool | None = None
    docs: bool = False
    """Whether code in Markdown, reStructuredText and docstrings is looked at."""
    cache_dir: str | None = None
    baseline: str | None = None
    """The file of the baseline; its absolute path."""
    severity: tuple[tuple[str, Severity], ...] = ()
    """How bad findings are, by what selects their rules."""
    fail_on: Severity = Severity.INFO
    min_confidence: Confidence = Confidence.LOW
    require_reason: bool = False
    """Whether comments that silence findings have to say why."""
    output_format: tuple[str, ...] = ()
    """Formats as ``--output-format`` takes them."""
    doubts: tuple[Doubt, ...] = ()
    limits: Limits = USUAL
    layers: tuple[Stated, ...] = field(default=(), compare=False)
    """Who says all that, what is extended first."""

    def said(self, key: SettingKey[object]) -> Iterator[Stated]:
        """The layers that say something of a key, the one that counts most last."""
        return (each for each in self.layers if key.name in each.values)

    def where(self, key: SettingKey[object]) -> str:
        """What a message about a key begins with: who says what counts of it, with the line, and the key."""
        said = list(self.said(key))
        return f"{said[-1].place(key.name)}: `{key.name}`" if said else f"`{key.name}`"


def load(file: str) -> Settings | None:
    """Read a settings file with all that it extends; None if it says nothing about torchlint, or there is none.

    Raises:
        SettingsError: one of the files cannot be read or makes no sense.
    """
    nearest = stated.load(file)
    return combined(_extended(nearest), os.path.dirname(file), file) if nearest is not None else None


def parse(table: object, file: str) -> Settings:
    """The settings that a table means which stands in a file."""
    return combined([stated.parse(table, file)], os.path.dirname(file), file)


def _extended(nearest: Stated) -> list[Stated]:
    """A layer behind those that it extends."""
    layers = [nearest]
    while (name := layers[0].get(keys.EXTEND)) is not None:
        here = layers[0]
        file = os.path.normpath(os.path.join(os.path.dirname(here.name), os.path.expanduser(name)))
        about = f"{here.place('extend')}: `extend`"
        if any(os.path.realpath(file) == os.path.realpath(each.name) for each in layers):
            itself = "a file cannot extend itself" if os.path.realpath(file) == os.path.realpath(here.name) else ""
            raise SettingsError(f"{about}: {itself or f'{file} extends this file, which cannot extend it, too'}")
        if len(layers) == _MOST_EXTENDED:
            raise SettingsError(f"{about}: more than {_MOST_EXTENDED} files extend each other")
        layers.insert(0, _base(file, about, _project_of(nearest.name)))
    return layers


def _base(file: str, about: str, project: str) -> Stated:
    """The file that another one extends.

    What is wrong with one outside of the project is not told: a tree that nobody trusts could find out what is there.
    """
    is_outside = relative(os.path.realpath(file), project) is None
    try:
        base = stated.load(file)
    except SettingsError:
        if not is_outside:
            raise
        base = None
    if base is not None:
        return base
    if is_outside:
        way_out = f"`torchlint check --config {file}` says more"
        raise SettingsError(f"{about}: {file}, outside of the project, is no settings file of torchlint ({way_out})")
    raise SettingsError(f"{about}: {file} {'says nothing about torchlint' if os.path.isfile(file) else 'is not there'}")


def _project_of(file: str) -> str:
    """The root of the repository that a file is in; its directory if it is in none."""
    start = os.path.realpath(os.path.dirname(file))
    return repository(start) or start


def combined(layers: Sequence[Stated], root: str, file: str | None = None) -> Settings:
    """What layers say together, each one on top of those before it."""

    def last(key: SettingKey[T], default: T) -> T:
        return next((value for each in reversed(layers) if (value := each.get(key)) is not None), default)

    def every(key: SettingKey[tuple[T, ...]]) -> tuple[T, ...]:
        return tuple(item for each in layers for item in each.get(key) or ())

    return Settings(
        root,
        file,
        tuple(_selection(each, keys.SELECT, keys.EXTEND_SELECT, keys.IGNORE, keys.EXTEND_IGNORE) for each in layers),
        tuple(_excluded(layers)),
        tuple(
            FileIgnore(each.root, pattern, rules)
            for each in layers
            for pattern, rules in each.get(keys.PER_FILE_IGNORES) or ()
        ),
        last(keys.TARGET_TORCH, None),
        tuple(
            FileTarget(each.root, pattern, version)
            for each in layers
            for pattern, version in each.get(keys.PER_FILE_TARGET_TORCH) or ()
        ),
        tuple(_selection(each, keys.FIXABLE, keys.EXTEND_FIXABLE, keys.UNFIXABLE) for each in layers),
        every(keys.EXTEND_SAFE_FIXES),
        every(keys.EXTEND_UNSAFE_FIXES),
        fix=last(keys.FIX, False),
        unsafe_fixes=last(keys.UNSAFE_FIXES, False),
        fix_only=last(keys.FIX_ONLY, False),
        show_fixes=last(keys.SHOW_FIXES, None),
        docs=last(keys.DOCS, False),
        cache_dir=last(keys.CACHE_DIR, None),
        baseline=_located(layers, keys.BASELINE),
        severity=every(keys.SEVERITY),
        fail_on=last(keys.FAIL_ON, Severity.INFO),
        min_confidence=last(keys.MIN_CONFIDENCE, Confidence.LOW),
        require_reason=last(keys.REQUIRE_REASON, False),
        output_format=last(keys.OUTPUT_FORMAT, ()),
        doubts=tuple(doubt for each in layers for doubt in each.doubts),
        limits=Limits(last(keys.MAX_FILE_SIZE, FILE_SIZE), last(keys.MODEL_BUDGET, BUDGET)),
        layers=tuple(layers),
    )


def _selection(said: Stated, select: RulesKey, more: RulesKey, *less: RulesKey) -> Selection:
    """What a layer selects by some keys."""
    ignored = tuple(selector for key in less for selector in said.get(key) or ())
    return Selection(said.get(select), said.get(more) or (), ignored)


def _excluded(layers: Iterable[Stated]) -> Iterator[Excluded]:
    """What is not checked: by the last ``exclude``, else by the defaults, and by each ``extend-exclude``."""
    layers = list(layers)
    anew = next((each for each in reversed(layers) if each.get(keys.EXCLUDE) is not None), None)
    yield Excluded("", DEFAULT_EXCLUDE) if anew is None else Excluded(anew.root, anew.get(keys.EXCLUDE) or ())
    for each in layers:
        if more := each.get(keys.EXTEND_EXCLUDE):
            yield Excluded(each.root, more)


def _located(layers: Iterable[Stated], key: SettingKey[str]) -> str | None:
    """The file that layers name, from where the last one of them stands."""
    named = [(each.root, name) for each in layers if (name := each.get(key)) is not None]
    return os.path.normpath(os.path.join(*named[-1])) if named else None


@dataclass(frozen=True, slots=True)
class Given:
    """What options of the command line say of settings."""

    file: str | None = None
    """A settings file that holds for all files (absolute path)."""
    layers: tuple[Stated, ...] = ()
    """What goes before all settings files."""
    key: tuple[str, ...] = ()
    """All of it as it was given."""

    def on(self, settings: Settings) -> Settings:
        """Some settings, with what was given on top."""
        if not self.layers:
            return settings
        return combined((*settings.layers, *self.layers), settings.root, settings.file)


NOTHING_GIVEN = Given()


def given(config: Sequence[str], exclude: Sequence[str] = (), extend_exclude: Sequence[str] = ()) -> Given:
    """What ``--config``, ``--exclude`` and ``--extend-exclude`` say; the paths in it begin at the working directory.

    Raises:
        SettingsError: it makes no sense.
    """
    here = os.getcwd()
    files = [each for each in config if "=" not in each or os.path.isfile(each)]
    if len(files) > 1:
        raise SettingsError(f"--config: {files[0]} and {files[1]} cannot both hold")
    if files and not os.path.isfile(files[0]):
        raise SettingsError(f"--config: `{files[0]}` is neither a settings file nor `KEY=VALUE`")
    layers = [stated.of_option("--config", each, here) for each in config if each not in files]
    for each in layers:
        if each.get(keys.EXTEND) is not None:
            raise SettingsError("--config: `extend` stands in settings files; `--config FILE` names one for all files")
    for key, patterns in ((keys.EXCLUDE, exclude), (keys.EXTEND_EXCLUDE, extend_exclude)):
        if patterns:
            layers.append(stated.of_patterns(f"--{key.name}", key, patterns, here))
    said = (*config, *(f"exclude {each}" for each in exclude), *(f"extend-exclude {each}" for each in extend_exclude))
    return Given(os.path.abspath(files[0]) if files else None, tuple(layers), said)


def load_as_given(file: str) -> Settings:
    """The settings of a file that was named for all files: patterns and paths in it begin at the working directory.

    Raises:
        SettingsError: there is nothing in it, or it makes no sense.
    """
    nearest = stated.load(file, os.getcwd())
    if nearest is None:
        raise SettingsError(f"--config: {file} says nothing about torchlint")
    return combined(_extended(nearest), os.getcwd(), file)
