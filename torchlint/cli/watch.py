"""``torchlint check --watch``: once more whenever a file has changed, until somebody interrupts it.

Files are looked at, for no system tells of changes everywhere; never for more than a small part of the time.
"""

from __future__ import annotations

import contextlib
import os
import stat
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping

from torchlint.cli.check import CheckCommand
from torchlint.cli.decisions import CheckOptions
from torchlint.cli.report.terminal import printable
from torchlint.project import baseline, target
from torchlint.project.discovery import discover
from torchlint.project.project import Project
from torchlint.project.selection import SettingsError
from torchlint.project.settings import FILES, given
from torchlint.system.reading import read
from torchlint.system.stack import look_for_garbage_as_usual

PAUSE = 0.5
"""Seconds between two looks, at least."""

SETTLED = 0.2
"""Seconds in which nothing more must change: some editors write a file piece by piece, and a fix of the first pieces
would replace the file that the others are still to be written to."""

SETTLED_TO_FIX = 1.0
"""The same where files are fixed: a program that waits longer between two pieces loses those that it writes later."""

SHARE = 20
"""So many times as long as a look takes is the pause behind it, at least."""

FileLook = tuple[int, ...]
FileLooks = dict[str, FileLook]
"""What tells one state of a file from the next without reading it, for all files that findings rest on."""


def watch(options: CheckOptions, wait: Callable[[float], None] = time.sleep) -> int:
    """Check, and check again after each change; ends with an interrupt.

    Raises:
        SettingsError: the options make no sense, or the settings do not when it begins.
    """
    if options.interactive or options.add_ignore is not None or options.staged or "-" in options.paths:
        raise SettingsError("--watch goes with neither --interactive, --add-ignore, --staged, nor standard input")
    CheckCommand(options)
    look_for_garbage_as_usual()
    others = set[str]()
    while True:
        seen = _looks(options, others)
        if sys.stdout.isatty():
            sys.stdout.write("\x1b[2J\x1b[H")  # clears the screen
        command = _check(options)
        if command is not None:
            before, others = others, command.rests_on()
            if dropped := before - others - _looks(options, ()).keys():  # what is imported no more
                seen = {path: look for path, look in seen.items() if path not in dropped}
            seen = {**dict(_looked(others)), **seen, **dict(_own(command.written))}
        sys.stdout.flush()
        print(f"[{time.strftime('%H:%M:%S')}] Waiting for changes; Ctrl-C ends this.", file=sys.stderr, flush=True)
        _until_changed(options, others, seen, wait)


def _check(options: CheckOptions) -> CheckCommand | None:
    """Check once; None if the settings make no sense just now."""
    target.forget()
    try:
        command = CheckCommand(options)
        command.run()
    except SettingsError as error:  # somebody is just writing them
        print(f"error: {printable(str(error))}", file=sys.stderr)
        return None
    return command


def _until_changed(
    options: CheckOptions, others: Iterable[str], seen: FileLooks, wait: Callable[[float], None]
) -> None:
    """Wait until something is no more as it was seen, and stays so."""
    last, pause = seen, PAUSE
    while True:
        wait(pause)
        begun = time.perf_counter()
        now = _looks(options, others)
        if now == last != seen:
            return
        least = PAUSE if now == last else SETTLED_TO_FIX if options.fix else SETTLED
        last, pause = now, max(least, SHARE * (time.perf_counter() - begun))


# ---------------------------------------------------------------------- what is looked at


def _looks(options: CheckOptions, others: Iterable[str]) -> FileLooks:
    """The files that are checked, those that say how, and others that findings rest on."""
    paths = options.paths or (".",)
    locations = list[str]()
    with contextlib.suppress(SettingsError):  # which are there again when the settings are
        added = given(options.config, options.exclude, options.extend_exclude)
        project = Project(isolated=options.isolated, docs=options.docs, given=added)
        locations += [file.location for file in discover(paths, project, options.force_exclude).files]
        known = baseline.file_for(options.baseline, project.settings(os.getcwd()))
        locations += [known, *project.sources]
    folders = {os.path.dirname(each) for each in locations} | {os.path.abspath(path) for path in paths}
    return dict(_looked([*others, *locations, *_settings_of(folders)]))


def _settings_of(folders: Iterable[str]) -> Iterable[str]:
    """Where settings can be that hold for some folders, or for those who want to know which torch is supported."""
    above = set[str]()
    for folder in folders:
        while folder not in above:
            above.add(folder)
            folder = os.path.dirname(folder)
    return [os.path.join(folder, name) for folder in above for name in {*FILES, *target.FILES, ".gitignore"}]


def _looked(locations: Iterable[str]) -> Iterator[tuple[str, FileLook]]:
    for location in locations:
        try:
            status = os.stat(location)
        except OSError:
            continue
        if stat.S_ISDIR(status.st_mode):  # what is put into it is no change
            continue
        # of a file that is put in the place of another one, size and time can be the same
        yield location, (status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns)


def _own(written: Mapping[str, bytes]) -> Iterator[tuple[str, FileLook]]:
    """How files look that hold what a run has written into them: that is no change that anybody else has made."""
    for location, data in written.items():
        looked = list(_looked([location]))  # before it is read: what is written after that looks different
        with contextlib.suppress(OSError):
            if read(location, len(data)) == data:
                yield from looked
