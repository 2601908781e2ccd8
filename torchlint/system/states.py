"""What is in a file in short, for who wants to know later whether it has changed."""

from __future__ import annotations

from torchlint.system.reading import IMPORTED, NotRegular, TooLarge, read

FOLDER = "folder"
LARGE = "too large"
SPECIAL = "special"

UNREAD = {LARGE: "too large to be read for what imports it", SPECIAL: "not a regular file, so not imported"}
"""States of what is there and is not read, and what to say of it."""


def state(path: str) -> str:
    """The content of a file in short, or one of the other states; nothing if there is nothing that could be read."""
    try:
        return digest(read(path, IMPORTED))
    except (OSError, ValueError) as error:
        return state_after(error)


def state_after(error: OSError | ValueError) -> str:
    """The state of a file that could not be read for what imports it."""
    kinds = {IsADirectoryError: FOLDER, TooLarge: LARGE, NotRegular: SPECIAL}
    return kinds.get(type(error), "")


def digest(data: bytes) -> str:
    """A content in short."""
    import hashlib  # brings OpenSSL with it, and most runs do without

    return hashlib.sha256(data).hexdigest()
