"""Where in the file system a document is, by its URI."""

from __future__ import annotations

import os
import re
from urllib.parse import unquote, unquote_to_bytes, urlsplit


def location_of(uri: str, folder: str) -> str | None:
    """The absolute path of a document; of one that was never saved, what it would be in ``folder``.

    None for what is no file and is not going to be one: the old version of a file beside the new one, say.
    """
    parts = urlsplit(uri)
    if parts.scheme == "file":
        path = path_of(parts.netloc, parts.path, is_windows=os.name == "nt")
        return os.path.abspath(path) if path else None
    if parts.scheme == "untitled":
        return os.path.join(folder, os.path.basename(unquote(parts.path)) or "untitled")
    return None


def path_of(host: str, path: str, *, is_windows: bool) -> str:
    """The path in a URI, whichever of its characters are escaped: some editors write ``file:///c%3A/x.py``."""
    path = unquote(path, errors="surrogateescape") if is_windows else os.fsdecode(unquote_to_bytes(path))
    if host not in ("", "localhost"):
        path = f"//{host}{path}"
    if not is_windows:
        return path
    if re.match("/[A-Za-z]:", path):
        path = path[1:]
    return path.replace("/", "\\")
