"""``torchlint check --watch``: once more whenever a file has changed, until somebody interrupts it.

Files are looked at, for no system tells of changes everywhere; never for more than a small part of the time.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterable

from torchlint.cli.check import CheckCommand, CheckOptions
from torchlint.cli.report.terminal import printable
from torchlint.project import target
from torchlint.project.discovery import discover
from torchlint.project.project import Project
from torchlint.project.selection import SettingsError
from torchlint.project.settings import FILES

PAUSE = 0.5
"""Seconds between two looks, at least."""

SHARE = 20
"""So many times as long as a look takes is the pause behind it, at least."""

Stamps = dict[str, tuple[int, int]]
"""When files were written, and how large they are."""


def watch(options: CheckOptions, wait: Callable[[float], None] = time.sleep) -> int:
    """Check, and check again after each change; ends with an interrupt."""
    if options.interactive or options.add_ignore is not None or "-" in options.paths:
        raise SettingsError("--watch goes with neither --interactive, nor --add-ignore, nor standard input")
    while True:
        seen = _stamps(options)
        if sys.stdout.isatty():
            sys.stdout.write("\x1b[2J\x1b[H")  # clears the screen
        _check(options)
        sys.stdout.flush()
        print(f"[{time.strftime('%H:%M:%S')}] Waiting for changes; Ctrl-C ends this.", file=sys.stderr, flush=True)
        pause = PAUSE
        while True:
            wait(pause)
            begun = time.perf_counter()
            now = _stamps(options)
            if now != seen:
                break
            pause = max(PAUSE, SHARE * (time.perf_counter() - begun))


def _check(options: CheckOptions) -> None:
    target.forget()
    try:
        CheckCommand(options).run()
    except SettingsError as error:  # somebody is just writing them
        print(f"error: {printable(str(error))}", file=sys.stderr)


def _stamps(options: CheckOptions) -> Stamps:
    """The files that are checked, and those that say how."""
    project = Project(isolated=options.isolated, docs=options.docs)
    paths = options.paths or (".",)
    try:
        locations = [file.location for file in discover(paths, project, options.force_exclude).files]
    except SettingsError:
        locations = []
    folders = {os.path.dirname(each) for each in locations} | {os.path.abspath(path) for path in paths}
    return dict(_stamped([*locations, *_settings_of(folders)]))


def _settings_of(folders: Iterable[str]) -> Iterable[str]:
    """Where settings can be that hold for some folders, or for those who want to know which torch is supported."""
    above = set[str]()
    for folder in folders:
        while folder not in above:
            above.add(folder)
            folder = os.path.dirname(folder)
    return [os.path.join(folder, name) for folder in above for name in {*FILES, *target.FILES, ".gitignore"}]


def _stamped(locations: Iterable[str]) -> Iterable[tuple[str, tuple[int, int]]]:
    for location in locations:
        try:
            status = os.stat(location)
        except OSError:
            continue
        yield location, (status.st_mtime_ns, status.st_size)
