"""Rules in other packages, which say so by an entry point in the group ``torchlint.rules``.

Its name is the prefix of their codes, its value the package that their files are in:

.. code-block:: toml

    [project.entry-points."torchlint.rules"]
    XY = "house_rules"

A file ``xy001_some_name.py`` of that package is a rule as the files of this one are. Nothing of the package is imported
to find that out, and ``importlib.metadata`` only where some package says that it has rules: most runs do without.
"""

from __future__ import annotations

import functools
import os
import re
import sys
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, NamedTuple

from torchlint.diagnostic import OWN_PREFIX

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

GROUP = "torchlint.rules"

_PREFIX = re.compile(r"[A-Z]{2,8}")
_RESERVED = (OWN_PREFIX, "ALL")
"""What no prefix may begin with: selectors could not tell the codes apart."""


class Clash(ValueError):
    """Packages whose rules cannot be told apart, or from ours; the message names them, and what to do."""


class Plugin(NamedTuple):
    """A package with rules."""

    prefix: str
    """What their codes begin with."""
    distribution: str
    """Name and version of what was installed."""
    package: str
    """Its full name."""
    folder: str
    """Where the files of its rules are."""
    root: str
    """The folder of all that may decide about findings: the outermost package that it is part of."""


class Installed(NamedTuple):
    """What is installed."""

    plugins: tuple[Plugin, ...] = ()
    faults: tuple[str, ...] = ()
    """Why packages that say they have rules have none, each with the name of what was installed."""


@functools.cache
def installed() -> Installed:
    """The packages with rules that are installed, by prefix.

    Raises:
        Clash: a prefix is not one, or two packages have the same.
    """
    plugins: list[Plugin] = []
    faults: list[str] = []
    for distribution, entry in sorted(_entry_points(), key=lambda found: (found[1].name, found[0])):
        check_prefix(entry.name, distribution, plugins)
        where = _located(entry.value)
        if where is None:
            faults.append(f"{distribution}: there is no package `{entry.value}` to take its rules from")
        else:
            plugins.append(Plugin(entry.name, distribution, entry.value, *where))
    return Installed(tuple(plugins), tuple(faults))


def check_prefix(prefix: str, distribution: str, others: Iterable[Plugin] = ()) -> None:
    """Whether codes can begin like that, beside those of other packages.

    Raises:
        Clash: they cannot, and why.
    """
    if not _PREFIX.fullmatch(prefix):
        raise Clash(f"{distribution}: the prefix `{prefix}` of its rules must be two to eight capital letters")
    for reserved in _RESERVED:
        if prefix.startswith(reserved):
            raise Clash(f"{distribution}: the prefix `{prefix}` of its rules begins with `{reserved}`, which is taken")
    for other in others:
        if prefix.startswith(other.prefix) or other.prefix.startswith(prefix):
            raise Clash(
                f"{other.distribution} and {distribution} both have rules, with the prefixes `{other.prefix}` and "
                f"`{prefix}`, which selectors cannot tell apart: uninstall one of them"
            )


def _entry_points() -> Iterator[tuple[str, EntryPoint]]:
    """What was installed, with an entry point of the group. Of one that is there twice the first counts."""
    seen: set[str] = set()
    for folder in _metadata_folders():
        from importlib.metadata import Distribution
        from pathlib import Path

        found = Distribution.at(Path(folder))
        name = found.metadata["Name"]
        if name not in seen:
            seen.add(name)
            for entry in found.entry_points.select(group=GROUP):
                yield f"{name} {found.version}", entry


def _metadata_folders() -> Iterator[str]:
    """The folders with metadata of what is installed in which the group is mentioned.

    Not those in the working directory, where ``python -m`` looks as well: nothing of what is checked is executed.
    """
    here = os.path.realpath(os.getcwd())
    for path in dict.fromkeys(sys.path):
        if not path or os.path.realpath(path) == here:
            continue
        try:
            names = sorted(os.listdir(path))
        except OSError:
            continue
        for name in names:
            if name.endswith((".dist-info", ".egg-info")) and _mentions(os.path.join(path, name, "entry_points.txt")):
                yield os.path.join(path, name)


def _mentions(file: str) -> bool:
    try:
        with open(file, "rb") as opened:
            return GROUP.encode() in opened.read()
    except OSError:
        return False


def _located(package: str) -> tuple[str, str] | None:
    """The folder of a package, and that of the outermost one around it; nothing of them is imported."""
    import importlib.util

    outermost, *inner = package.split(".")
    try:
        spec = importlib.util.find_spec(outermost)
    except (ImportError, ValueError):
        return None
    folders = list(spec.submodule_search_locations or ()) if spec is not None else []
    there = (os.path.join(folder, *inner) for folder in folders)
    folder = next(filter(os.path.isdir, there), None)
    return None if folder is None else (folder, _outermost(folder, len(inner)))


def _outermost(folder: str, depth: int) -> str:
    """The outermost package around a folder: those without ``__init__.py`` are shared with others."""
    for _ in range(depth):
        above = os.path.dirname(folder)
        if not os.path.exists(os.path.join(above, "__init__.py")):
            break
        folder = above
    return folder
