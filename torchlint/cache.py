"""Findings of earlier runs: one small JSON file for each content that was checked.

The key is everything the findings follow from: the bytes of the file and where it is, the rules that were on, the
settings rules see, and the program itself; an entry counts as long as the other files that were looked at for it are
what they were. So nothing goes stale, and runs side by side at worst write the same file twice. Whatever is
wrong with an entry, it counts as absent.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import sys
from collections.abc import Iterable, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from torchlint import __version__
from torchlint.diagnostic import Applicability, Diagnostic, LocatedEvidence, LocatedFix, Position, TextEdit
from torchlint.source import state

NAME = ".torchlint_cache"
_TAG = "Signature: 8a477f597d28d172789f06886806bc55\n# Made by torchlint, can be deleted.\n"
"""What marks a directory as a cache for backup programs (https://bford.info/cachedir/)."""


class Cache:
    """The cache in one directory."""

    def __init__(self, directory: str) -> None:
        self.directory = directory
        self._program = _program()
        self._ready = False
        self._states: dict[str, str] = {}

    def key(self, data: bytes, codes: Iterable[str], *settings: object) -> str:
        """The name of the entry for these bytes under these rules and settings."""
        asked = json.dumps([self._program, sorted(codes), *settings])
        return hashlib.sha256(asked.encode() + b"\0" + data).hexdigest()

    def get(self, key: str) -> tuple[tuple[Diagnostic, ...], int] | None:
        """Findings, and how many were suppressed; None if that has to be found out."""
        try:
            with open(self._path(key), encoding="utf-8") as file:
                entry = json.load(file)
            if any(self._state(path) != then for path, then in entry["rests_on"].items()):
                return None
            return tuple(map(_diagnostic, entry["diagnostics"])), int(entry["suppressed"])
        except (OSError, ValueError, TypeError, KeyError, AttributeError, RecursionError):
            return None

    def put(self, key: str, diagnostics: Iterable[Diagnostic], suppressed: int, rests_on: Mapping[str, str]) -> None:
        """Remember findings, and the state of the other files they rest on, if that is possible."""
        found = [asdict(diagnostic) for diagnostic in diagnostics]
        entry = {"diagnostics": found, "suppressed": suppressed, "rests_on": dict(rests_on)}
        path = self._path(key)
        with contextlib.suppress(OSError, ValueError):
            self._prepare()
            os.makedirs(os.path.dirname(path), exist_ok=True)
            _write(path, json.dumps(entry))

    def _state(self, path: str) -> str:
        if path not in self._states:
            self._states[path] = state(path)
        return self._states[path]

    def _path(self, key: str) -> str:
        return os.path.join(self.directory, __version__, key[:2], f"{key[2:]}.json")

    def _prepare(self) -> None:
        if self._ready:
            return
        os.makedirs(self.directory, exist_ok=True)
        for name, content in (("CACHEDIR.TAG", _TAG), (".gitignore", "*\n")):
            path = os.path.join(self.directory, name)
            if not os.path.exists(path):
                _write(path, content)
        self._ready = True


def default_directory(root: str) -> str:
    """Where the cache of a project is."""
    return os.path.join(root, NAME)


def clean(directory: str) -> bool:
    """Remove a cache; nothing that is not one is touched."""
    tag = Path(directory, "CACHEDIR.TAG")
    if not tag.is_file() or tag.read_text(encoding="utf-8", errors="replace") != _TAG:
        return False
    import shutil

    shutil.rmtree(directory)
    return True


def _write(path: str, content: str) -> None:
    import tempfile

    handle, temporary = tempfile.mkstemp(dir=os.path.dirname(path))
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(content)
        os.replace(temporary, path)
    except BaseException:
        os.unlink(temporary)
        raise


def _program() -> str:
    """A fingerprint of all that turns bytes into findings: this package, libcst (not imported for it), Python."""
    digest = hashlib.sha256(f"{__version__} {sys.version}".encode())
    package = Path(__file__).parent
    for file in sorted(package.rglob("*")):
        if file.suffix in (".py", ".json"):
            digest.update(f"{file.relative_to(package)}\0".encode() + file.read_bytes())
    import importlib.util

    spec = importlib.util.find_spec("libcst")
    if spec is not None and spec.origin is not None:
        for file in sorted(Path(spec.origin).parent.glob("[!.]*")):
            status = file.stat()
            digest.update(f"{file.name} {status.st_size} {status.st_mtime_ns}\0".encode())
    return digest.hexdigest()


def _diagnostic(entry: dict[str, Any]) -> Diagnostic:
    first, last = entry["rows"]
    return Diagnostic(
        code=entry["code"],
        name=entry["name"],
        message=entry["message"],
        start=Position(**entry["start"]),
        end=Position(**entry["end"]),
        rows=(first, last),
        fix=_fix(entry["fix"]),
        evidence=LocatedEvidence(**entry["evidence"]) if entry["evidence"] else None,
        severity=entry["severity"],
    )


def _fix(entry: dict[str, Any] | None) -> LocatedFix | None:
    if entry is None:
        return None
    edits = tuple(TextEdit(**edit) for edit in entry["edits"])
    alternatives = tuple(fix for fix in map(_fix, entry["alternatives"]) if fix is not None)
    return LocatedFix(entry["message"], Applicability(entry["applicability"]), edits, entry["deferred"], alternatives)
