"""``torchlint config``: which settings there are, and which hold for a file, each with who says so."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Mapping
from enum import Enum
from typing import NamedTuple

from torchlint.cli.outputs import of_settings
from torchlint.cli.report import BOLD, CYAN, Style
from torchlint.cli.report.terminal import printable
from torchlint.project import baseline, keys, kinds
from torchlint.project import target as requirements
from torchlint.project.discovery import is_excluded, is_ignored, shown
from torchlint.project.keys import SettingKey
from torchlint.project.project import Project
from torchlint.project.selection import SettingsError, did_you_mean
from torchlint.project.settings import Given, Settings
from torchlint.project.stated import Stated
from torchlint.session.cachedir import directory_for

DEFAULT = "default"
"""Who says what no one says."""

Json = Mapping[str, object]


class KeySaid(NamedTuple):
    """What somebody says of a key."""

    key: str
    value: object
    """As JSON has it; for a default that is none, words."""
    origin: str
    is_default: bool = False


def key_named(name: str) -> SettingKey[object]:
    """A key.

    Raises:
        SettingsError: there is none of that name.
    """
    if name not in keys.BY_NAME:
        hint = did_you_mean(name, keys.BY_NAME) or " (`torchlint config` lists all)"
        raise SettingsError(f"unknown key `{name}`{hint}")
    return keys.BY_NAME[name]


def listed() -> Iterator[str]:
    """All keys, a line each, with the kinds of their values."""
    width = max(map(len, keys.BY_NAME))
    return (f"{key.name:<{width}}  {_plain(key.kind.name)}" for key in keys.ALL)


def described(key: SettingKey[object], style: Style) -> Iterator[str]:
    """All there is to say of a key."""
    yield style.paint(key.name, *BOLD)
    yield ""
    yield _plain(key.text)
    yield ""
    yield f"Value: {_plain(key.kind.name)}"
    yield f"Default: {_plain(key.default)}"
    yield f"Example: {key.name} = {key.example}"


def as_json(key: SettingKey[object]) -> Json:
    """The same as a JSON object."""
    return {
        "key": key.name,
        "type": _plain(key.kind.name),
        "default": key.default,
        "description": key.text,
        "example": f"{key.name} = {key.example}",
        "schema": key.kind.schema(),
    }


class Explained(NamedTuple):
    """The settings that hold for a file."""

    path: str
    said: list[KeySaid]
    rules: list[str]
    """The rules that are on for it."""
    is_excluded: bool
    is_ignored: bool
    """Whether a ``.gitignore`` leaves it out."""
    wrong: list[str]
    """What cannot be meant once it is used."""

    def as_json(self) -> Json:
        """As a JSON object."""
        settings = [{"key": each.key, "value": each.value, "origin": each.origin} for each in self.said]
        left_out = {"excluded": self.is_excluded, "ignored": self.is_ignored}
        return {"file": self.path, **left_out, "rules": self.rules, "settings": settings}

    def lines(self, style: Style) -> Iterator[str]:
        """For people: each value with who says so."""
        width = max(len(each.key) for each in self.said)
        for each in self.said:
            value = str(each.value) if each.is_default else json.dumps(each.value, ensure_ascii=False)
            yield f"{each.key:<{width}}  {value}  {style.paint(f'({each.origin})', *CYAN)}"
        yield ""
        yield f"{len(self.rules)} rules are on for {self.path}: {', '.join(self.rules)}"
        if self.is_excluded or self.is_ignored:
            by = "excluded" if self.is_excluded else "ignored by git"
            yield f"{self.path} is {by}: it is checked only if it is given by name."


def explained(file: str, given: Given) -> Explained:
    """The settings that hold for a file.

    Raises:
        SettingsError: some of them make no sense, or there is no such file.
    """
    location = os.path.abspath(file)
    if not os.path.isfile(location):
        what = "is a directory; name a file in it" if os.path.isdir(location) else "no such file"
        raise SettingsError(f"--explain: {file}: {what}")
    project = Project(given=given)
    settings = project.settings(os.path.dirname(location))
    said = [each for key in keys.ALL for each in _said(key, settings)]
    versions = _of_this_file(location, project, settings)
    if versions is None and settings.target_torch is None:
        versions = _required(location, project)
    if versions is not None:
        said = [versions if each.key == keys.TARGET_TORCH.name else each for each in said]
    rules = sorted(project.codes(location))
    left_out = is_excluded(location, project), is_ignored(location)
    return Explained(printable(shown(location)), said, rules, *left_out, _wrong(settings))


def _wrong(settings: Settings) -> list[str]:
    """What of settings can be read and not be used."""
    uses: tuple[Callable[[], object], ...] = (
        lambda: of_settings(settings),
        lambda: directory_for(None, settings),
        lambda: baseline.of_project(None, settings, must_exist=True),
    )
    return [message for use in uses if (message := _complaint(use))]


def _complaint(use: Callable[[], object]) -> str:
    try:
        use()
    except SettingsError as error:
        return str(error)
    return ""


def _said(key: SettingKey[object], settings: Settings) -> Iterator[KeySaid]:
    """Who says what counts of a key: one, or several where what they say adds up."""
    layers = list(settings.said(key))
    if not layers:
        yield KeySaid(key.name, _plain(key.default), DEFAULT, is_default=True)
        return
    for layer in layers if _adds_up(key) else layers[-1:]:
        yield KeySaid(key.name, _jsonable(layer.get(key), key), _origin(layer, key))


def _adds_up(key: SettingKey[object]) -> bool:
    is_table = key.kind in kinds.TABLES
    return is_table or key.name.startswith("extend") or key in (keys.IGNORE, keys.UNFIXABLE)


def _origin(layer: Stated, key: SettingKey[object]) -> str:
    place = layer.place(key.name)
    return printable(place if layer.text is None else shown(place))


def _of_this_file(location: str, project: Project, settings: Settings) -> KeySaid | None:
    """The versions of torch that settings name for files like this one."""
    own, key = project.own_target(location), keys.PER_FILE_TARGET_TORCH
    if own is None:
        return None
    said = (own.pattern, own.version)
    layers = [each for each in settings.said(key) if each.root == own.root and said in (each.get(key) or ())]
    return KeySaid(keys.TARGET_TORCH.name, own.version, f"{_origin(layers[-1], key)}: {key.name}")


def _required(location: str, project: Project) -> KeySaid:
    """The version of torch, by what the project requires."""
    file = requirements.told_by(os.path.dirname(location))
    if file is None:
        return KeySaid(keys.TARGET_TORCH.name, "any version", DEFAULT, is_default=True)
    return KeySaid(keys.TARGET_TORCH.name, project.target(location).as_range, printable(shown(file)))


def _jsonable(value: object, key: SettingKey[object]) -> object:
    """A value as JSON has it."""
    if isinstance(value, Enum):
        return value.value
    if not isinstance(value, tuple):
        return value
    if key.kind in kinds.TABLES:
        return {name: _jsonable(item, keys.SELECT) for name, item in value}
    return list(value)


def _plain(markdown: str) -> str:
    """A text for a terminal."""
    return markdown.replace("`", "")
