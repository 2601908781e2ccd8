"""What holds for a file of a project: the nearest settings, the rules that are on, the versions of torch."""

from __future__ import annotations

import functools
import os
from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace

from torchlint.diagnostic import Confidence, Diagnostic, Policy, Severity
from torchlint.project import gitignore
from torchlint.project.gitignore import relative
from torchlint.project.selection import NOTHING_SAID, Selection, SettingsError, fixable, known_names, ranks, selected
from torchlint.project.settings import FILES, NOTHING_GIVEN, FileTarget, Given, Settings, load, load_as_given
from torchlint.project.target import may_require, of_project
from torchlint.project.target import unread as unread_of_project
from torchlint.system.importable import MARKERS
from torchlint.system.limits import Limits
from torchlint.versions import ANY, Target
from torchlint.versions import parse as parse_target


def policy(
    settings: Settings, command_line: Selection = NOTHING_SAID, min_confidence: Confidence | None = None
) -> Policy:
    """What settings mean for findings and fixes; the command line gives fixability and confidence."""
    safe, unsafe = set(), set()
    for code, name in known_names().items():
        trusted = max(ranks(settings.extend_safe_fixes, code, name), default=-1)
        doubted = max(ranks(settings.extend_unsafe_fixes, code, name), default=-1)
        if trusted > doubted:
            safe.add(code)
        elif doubted >= 0:
            unsafe.add(code)
    off = known_names().keys() - fixable([*settings.fixable, command_line])
    return Policy(frozenset(off), frozenset(safe), frozenset(unsafe), min_confidence or settings.min_confidence)


def severities(settings: Settings) -> dict[str, Severity]:
    """How bad the findings of some rules are, as the settings want it: the more exact selector wins, then the later."""
    found: dict[str, tuple[int, Severity]] = {}
    for selector, severity in settings.severity:
        for code, name in known_names().items():
            for rank in ranks((selector,), code, name):
                if code not in found or rank >= found[code][0]:
                    found[code] = (rank, severity)
    return {code: severity for code, (_, severity) in found.items()}


class Project:
    """Finds the settings that hold for a file: those of the nearest settings file that has any, upwards."""

    def __init__(
        self,
        command_line: Selection = NOTHING_SAID,
        isolated: bool = False,
        target: str | None = None,
        fixable: Selection = NOTHING_SAID,
        max_file_size: int | None = None,
        *,
        min_confidence: Confidence | None = None,
        heeds_comments: bool = True,
        given: Given = NOTHING_GIVEN,
        docs: bool | None = None,
    ) -> None:
        """Take what holds for all files.

        Raises:
            SettingsError: a settings file is named, and there are to be none.
        """
        if isolated and given.file is not None:
            raise SettingsError("--isolated and a settings file after --config cannot be given together")
        self.command_line = command_line
        self.max_file_size = max_file_size
        self.fixable = fixable
        self.min_confidence = min_confidence
        self.heeds_comments = heeds_comments
        self.isolated = isolated
        self.given = given
        self.asked_docs = docs
        self.asked_target = target
        self._settings: dict[str, Settings | None] = {}
        self._codes: dict[tuple[Settings, tuple[str, ...]], frozenset[str]] = {}
        self._policies: dict[Settings, Policy] = {}
        self._severities: dict[Settings, Mapping[str, Severity]] = {}
        self._named: dict[tuple[str, str], bool] = {}
        self._targets: dict[str, Target] = {}
        self._marked: dict[str, tuple[str, ...]] = {}
        self._variants: dict[tuple[str, frozenset[str], str], str] = {}
        self._shared: dict[str, str] = {}
        """The same for directories in which it is that of every file."""
        self._names: dict[str, Collection[str]] = {}

    @property
    def identity(self) -> tuple[object, ...]:
        """What tells runs apart that have little to say to each other."""
        return (
            self.settings(os.getcwd()).root,
            self.command_line,
            self.isolated,
            self.asked_target,
            self.fixable,
            self.min_confidence,
            self.heeds_comments,
            self.given.key,
            self.asked_docs,
        )

    def learn(self, directory: str, names: Collection[str]) -> None:
        """Take over the names that are in a directory from somebody who has just looked."""
        self._names[directory] = names

    def settings(self, directory: str) -> Settings:
        """Settings for the files of a directory (absolute path).

        Raises:
            SettingsError: there are some, and they make no sense.
        """
        is_found = self.given.file is None and not self.isolated
        return (self._nearest(directory) if is_found else None) or self._defaults

    @property
    def _defaults(self) -> Settings:
        """What holds where there is no settings file, or one is given for all."""
        found = self._settings.get("")
        if found is None:
            file = self.given.file
            found = self.given.on(load_as_given(file) if file is not None else Settings(os.getcwd()))
            self._settings[""] = found
        return found

    def _nearest(self, directory: str) -> Settings | None:
        if directory not in self._settings:
            parent = os.path.dirname(directory)
            there = self._names.get(directory, FILES)
            loaded = (load(os.path.join(directory, name)) for name in FILES if name in there)
            here = next(filter(None, loaded), None)
            here = self.given.on(here) if here is not None else None
            self._settings[directory] = here or (self._nearest(parent) if parent != directory else None)
        return self._settings[directory]

    @property
    def unread(self) -> list[str]:
        """What could not be read of what projects require."""
        return sorted({message for directory in self._targets for message in unread_of_project(directory)})

    @property
    def sources(self) -> list[str]:
        """The settings files in use so far."""
        layers = (layer for settings in self._settings.values() if settings for layer in settings.layers)
        return sorted({layer.name for layer in layers if layer.text is not None})

    @property
    def doubts(self) -> list[str]:
        """What is doubtful in the settings files in use so far."""
        return sorted({doubt.message for settings in self._settings.values() if settings for doubt in settings.doubts})

    def codes(self, path: str) -> frozenset[str]:
        """Codes of the rules that are on for a file (absolute path)."""
        settings = self.settings(os.path.dirname(path))
        ignored = tuple(
            code
            for root, pattern, codes in settings.per_file_ignores
            if _matches(pattern, root, path)
            for code in codes
        )
        key = (settings, ignored)
        if key not in self._codes:
            needed = (Selection(extend_select=("TL005",)),) if settings.require_reason else ()
            on = selected([*settings.selections, *needed, self.command_line])
            off = {code for code, name in known_names().items() for rank in ranks(ignored, code, name)}
            self._codes[key] = on - off
        return self._codes[key]

    def named(self, path: str, code: str) -> bool:
        """Whether a rule was asked for by its own code or name."""
        key = (os.path.dirname(path), code)
        if key not in self._named:
            asked = {code, known_names()[code]}
            self._named[key] = any(
                not asked.isdisjoint({*(layer.select or ()), *layer.extend_select})
                for layer in (*self.settings(key[0]).selections, self.command_line)
            )
        return self._named[key]

    def policy(self, path: str) -> Policy:
        """What the settings that hold for a file say about fixes."""
        settings = self.settings(os.path.dirname(path))
        if settings not in self._policies:
            said = policy(settings, self.fixable, self.min_confidence)
            self._policies[settings] = replace(said, heeds_comments=self.heeds_comments)
        return self._policies[settings]

    def graded(self, path: str, found: Iterable[Diagnostic]) -> tuple[Diagnostic, ...]:
        """Findings in a file, as bad as its settings say."""
        settings = self.settings(os.path.dirname(path))
        if not settings.severity:
            return tuple(found)
        if settings not in self._severities:
            self._severities[settings] = severities(settings)
        wanted = self._severities[settings]
        return tuple(replace(each, severity=wanted.get(each.code, each.severity)) for each in found)

    def docs(self, directory: str) -> bool:
        """Whether code in the documentation of a directory (absolute path) is looked at."""
        return self.settings(directory).docs if self.asked_docs is None else self.asked_docs

    def limits(self, path: str) -> Limits:
        """What a file may cost."""
        limits = self.settings(os.path.dirname(path)).limits
        return limits if self.max_file_size is None else replace(limits, file_size=self.max_file_size)

    def own_target(self, path: str) -> FileTarget | None:
        """What settings say of the torch versions for files like this one: of several patterns the last one counts."""
        said = self.settings(os.path.dirname(path)).per_file_target_torch
        return next((each for each in reversed(said) if _matches(each.pattern, each.root, path)), None)

    def target(self, path: str) -> Target:
        """The versions of torch a file is written for: as said, else as the project around it requires."""
        own = self.own_target(path) if self.asked_target is None else None
        return self._target_in(os.path.dirname(path)) if own is None else parse_target(own.version) or ANY

    def _target_in(self, directory: str) -> Target:
        """The same for files of a directory that settings do not say more of."""
        if directory not in self._targets:
            said = self.asked_target or self.settings(directory).target_torch
            if said is not None:
                self._targets[directory] = parse_target(said) or ANY
            else:
                self._targets[directory] = ANY if self.isolated else self._required(directory)
        return self._targets[directory]

    def _required(self, directory: str) -> Target:
        parent, names = os.path.dirname(directory), self._names.get(directory, (".git",))
        is_plain = parent in self._names and ".git" not in names and not may_require(names)
        if is_plain and not os.path.islink(directory):  # most of them
            return self._target_in(parent)
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
        codes, target = self.codes(path), str(self.target(path))
        key = (directory, codes, target)
        if key not in self._variants:
            limits = self.limits(path)
            others = (limits.file_size, limits.budget, self.docs(directory))
            parts = (sorted(codes), self.policy(path).key, target, self.marked(directory), others)
            self._variants[key] = repr(parts)
        settings = self.settings(directory)
        if not settings.per_file_ignores and not settings.per_file_target_torch:
            self._shared[directory] = self._variants[key]
        return self._variants[key]


def _matches(pattern: str, root: str, path: str) -> bool:
    below = relative(path, root)
    if below is None:
        return False
    wanted = not pattern.startswith("!")
    return _pattern(pattern.removeprefix("!")).covers(below.split("/")) is wanted


_pattern = functools.cache(gitignore.parse)
