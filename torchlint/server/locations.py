"""Where in the file system a document is, by its URI."""

from __future__ import annotations

import os
from pathlib import Path
from urllib.parse import unquote, urlsplit
from urllib.request import url2pathname


def location_of(uri: str, folder: str) -> str | None:
    """The absolute path of a document; of one that was never saved, what it would be in ``folder``.

    None for what is no file and is not going to be one: the old version of a file beside the new one, say.
    """
    parts = urlsplit(uri)
    if parts.scheme == "file":
        path = url2pathname(f"//{parts.netloc}{parts.path}" if parts.netloc not in ("", "localhost") else parts.path)
        return os.path.abspath(path) if path else None
    if parts.scheme == "untitled":
        return os.path.join(folder, os.path.basename(unquote(parts.path)) or "untitled")
    return None


def uri_of(location: str) -> str:
    """The URI of a file."""
    return Path(location).as_uri()
