"""Where reports go: formats for standard output and for files."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from torchlint.cli.overwriting import refuse
from torchlint.cli.report import FileFindings, Style, format_named
from torchlint.project import keys
from torchlint.project.formats import AUTO, FORMATS
from torchlint.project.selection import SettingsError, did_you_mean
from torchlint.project.settings import Settings
from torchlint.system.creating import create

VARIABLE = "TORCHLINT_OUTPUT_FORMAT"
"""Says what ``--output-format`` says, for programs that are called by others."""

DEFAULT = "full"

_SERVICES = {"GITHUB_ACTIONS": "github", "TF_BUILD": "azure"}
"""The formats for what is printed there, by a variable that says `true`."""


class Output(NamedTuple):
    """A report to write."""

    format: str
    file: str | None = None
    """None for standard output."""


class Outputs:
    """All reports of a run: at most one of them goes to standard output."""

    def __init__(self, outputs: Iterable[Output], where: str) -> None:
        """Take outputs as ``where`` names them.

        Raises:
            SettingsError: two go to the same place.
        """
        self._outputs = tuple(outputs)
        here = [each.format for each in self._outputs if each.file is None]
        if len(here) > 1:
            several = f"{len(here)} formats for standard output ({', '.join(here)})"
            raise SettingsError(f"{where}: {several}: name files, as in `{here[-1]}:report.txt`")
        files = [os.path.realpath(each.file) for each in self._outputs if each.file is not None]
        if len(set(files)) < len(files):
            raise SettingsError(f"{where}: two formats for one file")
        self.here = here[0] if here else None
        """The format of what goes to standard output; None if nothing but the summary does."""
        self.are_in_files = bool(files)
        """Whether there are others."""

    def have(self, format: str) -> bool:
        """Whether there is a report of this format."""
        return any(each.format == format for each in self._outputs)

    def keep_off(self, locations: Iterable[str], what: str) -> None:
        """See that no report is written over some files.

        Raises:
            SettingsError: one is to be; it says of the file ``what`` it is.
        """
        known = tuple(locations) if self.are_in_files else ()
        for each in self._outputs:
            if each.file is not None and _is_one_of(each.file, known):
                raise SettingsError(f"{each.file} is {what}: no report is written to it")

    def write(self, files: Sequence[FileFindings]) -> list[str]:
        """Write the reports that go to files; what went wrong, a sentence for each."""
        failed = []
        for each in self._outputs:
            if each.file is None:
                continue
            lines = format_named(each.format)(files, Style())
            data = "".join(f"{line}\n" for line in lines).encode(errors="backslashreplace")
            try:
                create(each.file, data)
            except OSError as error:
                failed.append(f"{each.file} could not be written: {error.strerror or error}")
        return failed


def wanted(formats: Sequence[str], file: str | None, settings: Settings, *, only_files: bool = False) -> Outputs:
    """What options ask for, else the environment, else the settings; ``file`` is for the first format without one.

    Nothing is for standard output if there are to be ``only_files``.

    Raises:
        SettingsError: one is unknown, or they cannot go together.
    """
    where = "--output-format"
    if not formats and (said := os.environ.get(VARIABLE)):
        formats, where = said.split(), VARIABLE
    if not formats and settings.output_format:
        formats, where = settings.output_format, settings.where(keys.OUTPUT_FORMAT)
    outputs = [_parsed(each, where) for each in formats] or [Output(DEFAULT)]
    if file is not None:
        without = next((number for number, each in enumerate(outputs) if each.file is None), None)
        if without is None:
            raise SettingsError("--output-file: each format has a file of its own")
        refuse(file, "--output-file")
        outputs[without] = outputs[without]._replace(file=file)
    return Outputs((each for each in outputs if each.file is not None or not only_files), where)


def of_settings(settings: Settings) -> Outputs:
    """What settings ask for, whatever options and the environment say; raises SettingsError as :func:`wanted` does."""
    where = settings.where(keys.OUTPUT_FORMAT)
    return Outputs((_parsed(each, where) for each in settings.output_format), where)


def _parsed(text: str, where: str) -> Output:
    name, colon, file = text.partition(":")
    if name == AUTO:
        if colon:
            raise SettingsError(f"{where}: `{AUTO}` is for standard output, and has no file")
        said = (each for variable, each in _SERVICES.items() if os.environ.get(variable, "").lower() == "true")
        return Output(next(said, DEFAULT))
    if name not in FORMATS:
        meant = did_you_mean(name, (*FORMATS, AUTO)) or f" (there are {', '.join(FORMATS)}, and {AUTO})"
        raise SettingsError(f"{where}: unknown format `{name}`{meant}")
    if colon and not file:
        raise SettingsError(f"{where}: after the colon of `{text}` a file is missing")
    if file:
        refuse(file, where)
    return Output(name, file or None)


def _is_one_of(file: str, locations: Iterable[str]) -> bool:
    """Whether a file is one of some others, were it not there yet; links lead to it, and it can have several names."""
    try:
        status = os.stat(file)
    except (OSError, ValueError):
        real = os.path.realpath(file)
        name = os.path.basename(real)
        return any(os.path.basename(each) == name and os.path.realpath(each) == real for each in locations)
    return any(_is_same(status, location) for location in locations)


def _is_same(status: os.stat_result, location: str) -> bool:
    try:
        return os.path.samestat(status, os.stat(location))
    except (OSError, ValueError):
        return False
