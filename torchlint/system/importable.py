"""The files of a project that may import from one another: which there are, and whether any of them has changed."""

from __future__ import annotations

import os
from typing import NamedTuple

from torchlint.system.reading import read

MARKERS = ("pyproject.toml", "setup.py", "setup.cfg", ".git")
"""What stands in the folder of a project; imports are not looked for above it. A settings file of ours does not: it may
stand in a folder of tests that imports from above."""
MAX_ABOVE = 3
"""How far above the top-level package to look for others where no folder is marked."""
INSTALLED = frozenset(("site-packages", "dist-packages"))

ALL = "**"
"""Stands for all files below a folder, as the last part of a path."""
STATE = "files "
"""What the state of all files begins with."""

NOTEBOOK = ".ipynb"

_SUFFIXES = (".py", ".pyi", ".pyx", NOTEBOOK)
_SKIPPED = INSTALLED | {"__pycache__", "node_modules"}
_MAX_FILES, _MAX_FOLDERS = 20_000, 20_000
_FEW = 10
"""By how much less to look at where no folder is marked: it may be anybody's home."""
_MAX_BELOW = 3
"""How deep to look there."""
_MAX_SIZE = 5_000_000
"""Bytes up to which a file is read."""


def module_name(path: str) -> str:
    """The last part of a module's name, as sources write it: in UTF-8, whatever the system takes names of files for."""
    folder, name = os.path.split(path)
    stem = name.partition(".")[0]
    stem = os.path.basename(folder) if stem == "__init__" else stem
    try:
        return os.fsencode(stem).decode(errors="surrogateescape")
    except UnicodeEncodeError:  # no file can have this name
        return stem.encode(errors="surrogatepass").decode(errors="surrogateescape")


class Folder(NamedTuple):
    """The folder of a project."""

    path: str
    is_marked: bool


def is_marked(folder: str) -> bool:
    """Whether a folder is the root of a project."""
    return any(os.path.exists(os.path.join(folder, marker)) for marker in MARKERS)


def folder_of(package: str) -> Folder:
    """The project that the folder above a top-level package, or of a script, belongs to."""
    up = package
    for _ in range(1 + MAX_ABOVE):
        if is_marked(up):
            return Folder(up, True)
        if os.path.dirname(up) == up or os.path.basename(up) in INSTALLED:
            break
        up = os.path.dirname(up)
    above = os.path.dirname(package)
    return Folder(above if _has_sources(above) else package, False)


def _has_sources(folder: str) -> bool:
    try:
        return any(name.endswith(".py") for name in os.listdir(folder))
    except OSError:
        return False


def files(folder: Folder) -> list[str]:
    """The files of a project that may import something, in order; all are listed before any of them is read.

    Raises:
        OverflowError: there are too many to look at.
    """
    share = 1 if folder.is_marked else _FEW
    listed: list[str] = []
    for number, (path, folders, names) in enumerate(os.walk(folder.path)):
        depth = os.path.relpath(path, folder.path).count(os.sep) + (path != folder.path)
        if not folder.is_marked and depth >= _MAX_BELOW:
            folders.clear()
        if "pyvenv.cfg" in names:
            folders.clear()
            continue
        folders[:] = sorted(each for each in folders if each not in _SKIPPED and not each.startswith("."))
        listed += (os.path.join(path, name) for name in sorted(names) if name.endswith(_SUFFIXES))
        if len(listed) > _MAX_FILES // share or number > _MAX_FOLDERS // share:
            raise OverflowError(f"too many files below {folder.path}")
    return listed


class State:
    """The state of all files of a project, while it is made up."""

    def __init__(self) -> None:
        import hashlib  # brings OpenSSL with it, and most runs do without

        self._digest = hashlib.blake2b(digest_size=16)

    def add(self, path: str, data: bytes) -> None:
        """Take a file in, in order."""
        self._digest.update(b"%s\0%d\0" % (path.encode(errors="surrogatepass"), len(data)))
        self._digest.update(data)

    def __str__(self) -> str:
        return STATE + self._digest.hexdigest()


def state(path: str) -> str:
    """The state of the files that a path ending in :data:`ALL` stands for."""
    made = State()
    try:
        for each in files(_folder_at(path)):
            made.add(each, content(each))
    except OverflowError:
        return ""
    return str(made)


def stamp(path: str) -> list[int]:
    """What the file system says of these files, as one; empty if there are too many.

    A number that stands for all of it, and the latest time of each kind.
    """
    import hashlib

    made = hashlib.blake2b(digest_size=7)
    latest = [0, 0]
    try:
        for each in files(_folder_at(path)):
            status = os.stat(each)
            said = f"{each}\0{status.st_size} {status.st_mtime_ns} {status.st_ctime_ns} {status.st_ino}\0"
            made.update(said.encode(errors="surrogatepass"))
            latest = [max(latest[0], status.st_mtime_ns), max(latest[1], status.st_ctime_ns)]
    except (OSError, OverflowError):
        return []
    return [int.from_bytes(made.digest(), "big"), *latest]


def _folder_at(path: str) -> Folder:
    folder = os.path.dirname(path)
    return Folder(folder, is_marked(folder))


def code_of(path: str, data: bytes) -> bytes:
    """What of a file's content is code: of a notebook its cells of code, and neither text nor what was printed.

    What does not look like a notebook is left as it is.
    """
    if not path.endswith(NOTEBOOK):
        return data
    import json

    try:
        content = json.loads(data)
        sheets = content.get("worksheets", [content])  # which there were until 2015
        cells = [each for sheet in sheets for each in sheet["cells"] if each["cell_type"] == "code"]
        sources = [each["source"] if "source" in each else each["input"] for each in cells]
        return "\n".join("".join(source) for source in sources).encode(errors="surrogatepass")
    except (ValueError, TypeError, LookupError, AttributeError, RecursionError):
        return data


def content(path: str) -> bytes:
    """What is in a file; nothing if it cannot be read, or is huge."""
    try:
        return read(path, _MAX_SIZE)
    except OSError:
        return b""
