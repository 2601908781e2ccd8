"""The directory of a cache: which one may be it, and what is written there and removed again.

It is the user's disk. So a directory is used only if it is new, empty, or marked as ours; what is removed are files
that we make, by their names; and no link is followed, for a tree that is checked may have been made to mislead.
"""

from __future__ import annotations

import contextlib
import os
import re
import stat
from collections.abc import Iterator
from pathlib import Path

from torchlint.project import keys
from torchlint.project.selection import SettingsError
from torchlint.project.settings import Settings
from torchlint.system.reading import is_own, read_own

NAME = ".torchlint_cache"

_TAG = "CACHEDIR.TAG"
_MARK = b"Signature: 8a477f597d28d172789f06886806bc55\n# Made by torchlint, can be deleted.\n"
"""What marks a directory as a cache for backup programs (https://bford.info/cachedir/), and which program's it is."""

_IGNORE = b"*\n"
_FRAME = ((_TAG, _MARK), (".gitignore", _IGNORE))

_TEMPORARY = r"\.[0-9a-f]{16}\.tmp"
_FRAME_TEMPORARY = re.compile(rf"(?:CACHEDIR\.TAG|\.gitignore){_TEMPORARY}")
_VERSION = re.compile(r"\d+(?:\.\d+)+[\w.+-]*")
_CONTENT = re.compile(rf"[0-9a-f]{{8}}\.json(?:{_TEMPORARY})?")

_HAS_DESCRIPTORS = os.open in os.supports_dir_fd and os.scandir in os.supports_fd
_DIRECTORY = os.O_RDONLY | getattr(os, "O_DIRECTORY", 0) | getattr(os, "O_NOFOLLOW", 0)


class Unusable(ValueError):
    """A directory that is no cache and must not become one; the message names it and the reason."""


def directory_for(asked: str | None, settings: Settings) -> str:
    """Where the cache of a project is: as asked for, as its settings say, else in its root.

    Raises:
        SettingsError: what is said cannot be meant, or settings point out of their project.
    """
    if asked is not None:
        if not asked:
            raise SettingsError("--cache-dir: no directory is given")
        if os.path.exists(asked) and not os.path.isdir(asked):
            raise SettingsError(f"--cache-dir: {asked} is not a directory")
        return os.path.abspath(asked)
    if settings.cache_dir is None:
        return os.path.join(settings.root, NAME)
    directory = os.path.normpath(os.path.join(settings.root, os.path.expanduser(settings.cache_dir)))
    root = os.path.realpath(settings.root)
    if not all(Path(root) in Path(place).parents for place in (_resolved(directory), os.path.realpath(directory))):
        raise SettingsError(
            f"{settings.where(keys.CACHE_DIR)} must be a directory inside of the project, which `{settings.cache_dir}` "
            f"is not (for one elsewhere use --cache-dir or TORCHLINT_CACHE_DIR)"
        )
    return directory


def _resolved(path: str) -> str:
    """A path without links, but for its own name."""
    return os.path.join(os.path.realpath(os.path.dirname(path)), os.path.basename(path))


def is_temporary(name: str) -> bool:
    """Whether a file of this name holds content that somebody has not finished writing."""
    return _CONTENT.fullmatch(name) is not None and name.endswith(".tmp")


class OpenFolder:
    """A directory that is held open: what is done in it is done there, whatever becomes of its name.

    Where the system cannot hold one open, its path has to do.
    """

    def __init__(self, path: str, name: str | None = None, inside: OpenFolder | None = None) -> None:
        self.path = path
        self._descriptor: int | None = None
        if _HAS_DESCRIPTORS:
            self._descriptor = os.open(name or path, _DIRECTORY, dir_fd=inside._descriptor if inside else None)
        elif not stat.S_ISDIR(os.lstat(path).st_mode) or _is_reparsed(path):
            raise NotADirectoryError(f"{path} is not a directory")

    def __enter__(self) -> OpenFolder:
        return self

    def __exit__(self, *error: object) -> None:
        if self._descriptor is not None:
            os.close(self._descriptor)

    def _place(self, name: str) -> str:
        return name if self._descriptor is not None else os.path.join(self.path, name)

    @property
    def status(self) -> os.stat_result:
        """What the file system says of it."""
        return os.stat(self.path if self._descriptor is None else self._descriptor)

    def entries(self) -> Iterator[os.DirEntry[str]]:
        """What is in it."""
        with os.scandir(self.path if self._descriptor is None else self._descriptor) as entries:
            yield from entries

    def folder(self, name: str, make: bool = False) -> OpenFolder:
        """A directory in it."""
        if make:
            with contextlib.suppress(FileExistsError):
                os.mkdir(self._place(name), dir_fd=self._descriptor)
        return OpenFolder(os.path.join(self.path, name), name, self)

    def read(self, name: str, limit: int) -> tuple[os.stat_result, bytes]:
        """What the file system says of a file of the user's in it, and the content."""
        return read_own(self._place(name), limit, self._descriptor)

    def write(self, name: str, data: bytes) -> None:
        """Make or replace a file as a whole."""
        temporary = f"{name}.{os.urandom(8).hex()}.tmp"
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
        try:
            with open(os.open(self._place(temporary), flags, 0o666, dir_fd=self._descriptor), "wb") as file:
                file.write(data)
            there = self._descriptor
            os.replace(self._place(temporary), self._place(name), src_dir_fd=there, dst_dir_fd=there)
        except BaseException:
            with contextlib.suppress(FileNotFoundError):
                self.remove(temporary)
            raise

    def remove(self, name: str) -> None:
        """Remove a file; of a link, the link."""
        os.unlink(self._place(name), dir_fd=self._descriptor)

    def remove_folder(self, name: str) -> bool:
        """Remove a directory, if it is empty."""
        try:
            os.rmdir(self._place(name), dir_fd=self._descriptor)
        except OSError:
            return False
        return True


def _is_reparsed(path: str) -> bool:
    """Whether Windows leads from a directory to another one: by a link or a junction."""
    tag: int = getattr(os.lstat(path), "st_reparse_tag", 0)
    return tag != 0


def opened(directory: str) -> OpenFolder:
    """The directory of a cache, to be closed by whoever asked.

    Raises:
        Unusable: there is something that must not become a cache.
        OSError: there is nothing, or it cannot be opened.
    """
    _check_place(directory)
    folder = _held(directory)
    try:
        if not is_own(folder.status):
            raise Unusable(f"{directory} belongs to another user")
        # asked twice: another run may be marking it just now
        if not (_is_marked(folder) or _is_new(folder) or _is_marked(folder)):
            raise Unusable(f"{directory} has files in it and was not made by torchlint")
    except BaseException:
        folder.__exit__()
        raise
    return folder


def made(directory: str) -> OpenFolder:
    """The same of one that is made and marked if need be."""
    os.makedirs(directory, exist_ok=True)
    folder = opened(directory)
    try:
        for name, content in _FRAME:
            if _content(folder, name) is None:
                folder.write(name, content)
    except BaseException:
        folder.__exit__()
        raise
    return folder


def _check_place(directory: str) -> None:
    """Raise Unusable for a directory that nobody can mean: the working directory or home, or what these are in."""
    real = Path(os.path.realpath(directory))
    for inner, what in ((os.getcwd(), "the working directory"), (os.path.expanduser("~"), "the home directory")):
        place = Path(os.path.realpath(inner))
        if place == real or real in place.parents:
            raise Unusable(f"{directory} is {what}" if place == real else f"{what} is inside of {directory}")


def _held(directory: str) -> OpenFolder:
    if os.path.islink(directory):
        raise Unusable(f"{directory} is a symbolic link")
    try:
        return OpenFolder(directory)
    except NotADirectoryError:
        raise Unusable(f"{directory} is not a directory") from None


def _content(folder: OpenFolder, name: str) -> bytes | None:
    """What is in a small file; something else than we write if it is none, None if there is none."""
    try:
        return folder.read(name, len(_MARK))[1]
    except FileNotFoundError:
        return None
    except OSError:
        return b""


def _is_marked(folder: OpenFolder) -> bool:
    return _content(folder, _TAG) == _MARK


def _is_new(folder: OpenFolder) -> bool:
    """Whether there is nothing in it, but perhaps what a run that has just begun, or was killed, is writing."""
    return all(_FRAME_TEMPORARY.fullmatch(entry.name) for entry in folder.entries())


# ------------------------------------------------------------------ removing


def clean(directory: str) -> list[str] | None:
    """Remove what is ours from a cache, and the directory if nothing else is in it; the names that are left.

    None if there is no cache at all.

    Raises:
        Unusable: what is there is not a cache of ours.
        OSError: something of ours cannot be removed.
    """
    try:
        folder = _held(directory)
    except FileNotFoundError:
        return None
    with folder:
        if not _is_marked(folder):
            if _is_new(folder):
                return None
            raise Unusable(f"{directory} was not made by torchlint")
        for entry in list(folder.entries()):
            if _VERSION.fullmatch(entry.name) and entry.is_dir(follow_symlinks=False):
                _clean_version(folder, entry.name)
            elif _FRAME_TEMPORARY.fullmatch(entry.name) and entry.is_file(follow_symlinks=False):
                folder.remove(entry.name)
        if _content(folder, ".gitignore") == _IGNORE:
            folder.remove(".gitignore")
        folder.remove(_TAG)
        left = sorted(entry.name for entry in folder.entries())
    if not left:
        os.rmdir(directory)
    return left


def _clean_version(folder: OpenFolder, name: str) -> None:
    try:
        inner = folder.folder(name)
    except OSError:  # it has become something else meanwhile
        return
    with inner:
        for entry in list(inner.entries()):
            if _CONTENT.fullmatch(entry.name) and entry.is_file(follow_symlinks=False):
                inner.remove(entry.name)
    folder.remove_folder(name)
