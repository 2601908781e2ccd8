"""What no report is written over, whoever names it: anything but an earlier report."""

from __future__ import annotations

import os
import re

from torchlint.project import baseline
from torchlint.project.selection import SettingsError
from torchlint.system.creating import descriptor_of
from torchlint.system.reading import LIMIT, TooLarge, read

_SOURCES = (
    *(".py", ".pyi", ".pyw", ".pyx", ".ipynb", ".toml", ".rst", ".cfg", ".ini", ".yaml", ".yml", ".sh"),
    *(".c", ".cc", ".cpp", ".cu", ".h", ".hpp"),
)
"""Files that nobody means to be written over by a report."""

_MARKDOWN = (".md", ".markdown")
_TITLE = b"### torchlint: "
"""What a report in Markdown begins with."""

_MARK = re.compile(rb"\b[A-Z]{2,8}[0-9]{3}\b|\"torchlint\"")
"""What is in a report of any other format that has something to tell: a code, of a rule in another package too."""


def refuse(file: str, where: str) -> None:
    """See that a report may be written to a file which ``where`` names.

    Raises:
        SettingsError: it may not, with the reason.
    """
    if descriptor_of(file) is not None:  # it is added to what is there
        return
    real = os.path.realpath(file)
    about = f"{where}: a report is not written to `{file}`"
    if any(name.lower().endswith(_SOURCES) for name in (file, real)):
        raise SettingsError(f"{about}, which looks like a source file")
    if baseline.NAME in {os.path.basename(file), os.path.basename(real)}:
        raise SettingsError(f"{about}, which is called as baselines are")
    try:
        data = read(real, LIMIT)
    except TooLarge as error:
        raise SettingsError(f"{about}, which is {error.strerror}: delete it first if it is not needed") from error
    except (OSError, ValueError):  # nothing is there, or nothing that could be lost
        return
    if baseline.begins_one(data):
        raise SettingsError(f"{where}: {file} is a baseline: no report is written to it")
    if data.startswith(b"#!"):
        raise SettingsError(f"{about}, which is a script")
    if _is_no_report(real, data):
        raise SettingsError(f"{about}, which is no earlier report: delete it first if it is not needed")


def _is_no_report(file: str, data: bytes) -> bool:
    """Whether a file holds what somebody else has written; reports that have nothing to tell are empty, or say `[]`."""
    if not data.strip() or data.strip() == b"[]":
        return False
    if file.lower().endswith(_MARKDOWN):
        return not data.startswith(_TITLE)
    return _MARK.search(data) is None
