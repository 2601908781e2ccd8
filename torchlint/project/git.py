"""git, run for what it knows of a repository."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping

from torchlint.project.selection import SettingsError

_QUIET = (
    *("-c", "core.fsmonitor=false", "-c", "core.quotepath=false", "-c", "color.ui=false"),
    *("-c", "log.diffMerges=separate", "-c", "log.follow=false"),
)
"""Settings of a repository that make git run programs, or write in another way, do not hold here."""


def root(directory: str | None = None, about: str = "this is no git repository") -> str:
    """The root of the repository that a directory is in; for what if there is none, see :func:`run`."""
    found = run(directory or os.getcwd(), "rev-parse", "--show-toplevel", about=about)
    return os.path.realpath(os.fsdecode(found.removesuffix(b"\n").removesuffix(b"\r"))) if found else ""


def run(directory: str, *arguments: str, about: str | None = None, given: bytes = b"") -> bytes:
    """What git prints; if it fails, nothing where ``about`` is empty, else an error that says what it is about."""
    try:
        ran = subprocess.run(
            ["git", *_QUIET, *arguments],
            cwd=directory,
            env={**os.environ, "LANGUAGE": "en"},  # so that it is known which line of a message says why
            input=given,
            capture_output=True,
            check=False,
        )
    except OSError as error:
        raise SettingsError(f"git cannot be run: {error.strerror or error}") from error
    if ran.returncode == 0:
        return ran.stdout
    if about == "":
        return b""
    said = _reason(ran.stderr.decode(errors="replace"))
    raise SettingsError(": ".join(filter(None, (about or f"git {arguments[0]}", said))))


def _reason(said: str) -> str:
    """Why git failed: what stands above that may be a warning about something else."""
    lines = said.strip().splitlines() or [""]
    return next((line for begin in ("fatal:", "error:") for line in lines if line.startswith(begin)), lines[0])


def contents(root: str, blobs: Mapping[str, bytes]) -> dict[str, bytes]:
    """What is in the objects of some files."""
    given = b"".join(blob + b"\n" for blob in blobs.values())
    printed, at, found = run(root, "cat-file", "--batch", given=given), 0, {}
    for location in blobs:
        end = printed.index(b"\n", at)
        head = printed[at:end].split()
        if len(head) != 3 or head[1] != b"blob":  # a submodule
            at = end + 1
            continue
        size = int(head[2])
        found[location] = printed[end + 1 : end + 1 + size]
        at = end + 1 + size + 1
    return found
