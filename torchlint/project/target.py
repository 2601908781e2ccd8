"""Which versions of torch a project supports: what was asked for, or what its own requirements say."""

from __future__ import annotations

import functools
import os
import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from torchlint.system.reading import SETTINGS, read
from torchlint.versions import ANY, Target, parse

FILES = (
    "pyproject.toml",
    "setup.cfg",
    "setup.py",
    "requirements.txt",
    "environment.yml",
    "environment.yaml",
    "Pipfile",
    "uv.lock",
    "poetry.lock",
    "pdm.lock",
    "Pipfile.lock",
)
"""Where a project says what it needs, the most telling first."""


_OLDEST_KEPT = (0, 4)
"""The oldest version for which anything is written: tensors without `Variable`, `.item()` and `no_grad` came with it.

A project that requires an older one is on its way to a newer one when it is fixed, so what it requires says nothing."""


def of_project(directory: str) -> Target:
    """What the nearest project around a directory says of torch; :data:`ANY` if it says nothing."""
    return _around(os.path.realpath(directory)).target


def told_by(directory: str) -> str | None:
    """The file that says it; None if none does."""
    return _around(os.path.realpath(directory)).file


def unread(directory: str) -> tuple[str, ...]:
    """What is to be said of files that might have said it and could not be read."""
    return _around(os.path.realpath(directory)).unread


def forget() -> None:
    """Read anew what projects say: it may have changed."""
    _around.cache_clear()


class _Required(NamedTuple):
    """What a project requires of torch."""

    target: Target = ANY
    file: str | None = None
    """Where that is said."""
    unread: tuple[str, ...] = ()


@functools.lru_cache(maxsize=1_000)  # a process may look at thousands of projects
def _around(directory: str) -> _Required:
    unread: tuple[str, ...] = ()
    for name in _candidates(directory):
        path = os.path.join(directory, name)
        try:
            content = read(path, SETTINGS).decode("utf-8", "replace").replace("\r\n", "\n").replace("\r", "\n")
        except OSError as error:
            unread += (f"{path}: {error.strerror or error}",)
            continue
        found = of_text(os.path.basename(name), content)
        if found is not None and not found.is_before(_OLDEST_KEPT):
            return _Required(found, path, unread)
    parent = os.path.dirname(directory)
    if parent == directory or os.path.exists(os.path.join(directory, ".git")):
        return _Required(unread=unread)
    above = _around(parent)
    return above._replace(unread=unread + above.unread)


def may_require(names: Iterable[str]) -> bool:
    """Whether files of these names may say something of torch."""
    return bool(_candidates_among(names))


def _candidates(directory: str) -> list[str]:
    try:
        return _candidates_among(os.listdir(directory))
    except OSError:
        return []


def _candidates_among(listed: Iterable[str]) -> list[str]:
    names = set(listed)
    requirements = (name for name in names if name.startswith("requirements"))
    more = sorted(name for name in requirements if re.fullmatch(r"requirements[\w.-]*\.(txt|in|lock)", name))
    more = [name for name in more if name != "requirements.txt"]
    return [name for name in FILES if name in names] + more


def of_text(name: str, content: str) -> Target | None:
    """What the text of one of :data:`FILES` says of torch."""
    if "torch" not in content:
        return None
    if name.endswith(".lock"):
        return _locked(content)
    if name == "setup.py":
        return _first(re.findall(r"[\"']torch\s*((?:\[\w+\])?[<>=!~][^\"';]*)[\"']", content))
    if name.startswith("environment"):
        lines = re.findall(r"(?m)^\s*-\s*[\"']?(?:[\w-]+::)?(?:py)?torch\s*([<>=!~][^\"'#\n;]*)", content)
        return _first(line if re.match(r"[<>!~]|==", line) else "=" + line for line in lines)
    if name in ("pyproject.toml", "Pipfile"):
        return _first(_of_toml(content))
    return _first(re.findall(r"(?m)^\s*torch\s*(?:\[\w+\])?\s*\(?([<>=!~][^#;\n)]*)", content))


def _of_toml(content: str) -> Iterator[str]:
    """Specifiers of torch in a list of requirements, or in a table of Poetry's or Pipenv's."""
    yield from re.findall(r"[\"']torch\s*(?:\[\w+\])?\s*\(?([<>=!~][^\"';)]*)", content)
    yield from re.findall(r"(?m)^\s*torch\s*=\s*[\"']([^\"']*)[\"']", content)
    yield from re.findall(r"(?m)^\s*torch\s*=\s*\{[^}\n]*version\s*=\s*[\"']([^\"']*)[\"']", content)


def _first(specifiers: Iterable[str]) -> Target | None:
    """What the first specifier that says anything says."""
    return next((found for specifier in specifiers if (found := parse(specifier)) is not None), None)


def _locked(content: str) -> Target | None:
    match = re.search(r"name = \"torch\"\s*\nversion = \"([^\"]*)\"", content)
    match = match or re.search(r"\"torch\": \{[^}]*\"version\": \"==([^\"]*)\"", content)
    return parse(f"=={match[1]}") if match else None
