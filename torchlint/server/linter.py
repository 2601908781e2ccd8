"""What the command line does for files, done for texts in an editor by a process that remembers what it found out.

Settings, and what is known of the other files of a project, are kept until :meth:`EditorLinter.forget` is called: when
something was saved. Everything here happens in one thread at a time.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from torchlint.diagnostic import Fixing, Position
from torchlint.file.tree.fast.long_modules import Parts, remembering
from torchlint.project import baseline, target
from torchlint.project.discovery import File, is_excluded
from torchlint.project.project import Project
from torchlint.server.documents import Snapshot
from torchlint.server.options import EditorOptions
from torchlint.session.content import FileContent, data_of, read_content
from torchlint.session.scheduler import FileResult, Run, RunOptions
from torchlint.session.worker import known_codebase
from torchlint.system.stack import with_big_stack

if TYPE_CHECKING:
    from torchlint.file.inferred import Inferred


@dataclass(slots=True)
class _LastCheck:
    """What saves time when a document is checked again that was checked last."""

    uri: str
    parts: Parts = field(default_factory=dict)
    found_something: bool = False


class EditorLinter:
    """The rules, and what they know of a workspace."""

    def __init__(self, options: EditorOptions) -> None:
        self._options = options
        self.forget()

    def forget(self) -> None:
        """Read settings and files anew when they are needed again."""
        options = self._options
        target.forget()
        self._project = Project(
            options.selection, options.isolated, options.target_torch, min_confidence=options.min_confidence
        )
        self._codebase = known_codebase()
        self._last = _LastCheck("")

    def check(self, snapshot: Snapshot) -> FileResult:
        """What there is to say of a document.

        Raises:
            SettingsError: the settings of its project make no sense.
        """
        return self._run(snapshot, Fixing.NONE)

    def fixed(self, snapshot: Snapshot) -> FileResult:
        """A document after all fixes that the settings let be applied.

        Raises:
            SettingsError: the settings of its project make no sense.
        """
        settings = self._project.settings(os.path.dirname(snapshot.location))
        unsafe = settings.unsafe_fixes if self._options.unsafe_fixes is None else self._options.unsafe_fixes
        return self._run(snapshot, Fixing.UNSAFE if unsafe else Fixing.SAFE)

    def _run(self, snapshot: Snapshot, fixing: Fixing) -> FileResult:
        project = self._project
        file = File(snapshot.name, snapshot.name, named=True)  # opening it is asking for it
        if not self._options.enable or is_excluded(file.location, project):
            return FileResult(file)
        settings = project.settings(os.path.dirname(file.location))
        known = baseline.of_project(None, settings) if settings.file is not None else None
        if self._last.uri != snapshot.uri:
            self._last = _LastCheck(snapshot.uri)
        options = RunOptions(
            fixing,
            write=False,
            baseline=known if known is not None and known.entries else None,
            is_promising=self._last.found_something,
        )
        with remembering(self._last.parts):
            result = Run(project, options, codebase=self._codebase).text(file, snapshot.content)
        if all(found.code != "TL001" for found in result.diagnostics):  # else somebody is in the middle of a statement
            self._last.found_something = bool(result.diagnostics)
        return result

    def value_at(self, snapshot: Snapshot, content: FileContent, at: Position) -> Inferred | None:
        """What the innermost expression around a place of a program can be; None if there is nothing to say."""
        from torchlint.file.inferred import infer
        from torchlint.file.parse.invalid import NotUnderstood, Unparsed
        from torchlint.model.budget import Budget

        budget = Budget(self._project.limits(snapshot.name).budget)

        def asked() -> Inferred | None:
            values = infer(content.text, snapshot.name, snapshot.name, self._codebase(), budget, at=at)
            return next(iter(values), None)

        try:
            found = with_big_stack(asked)
        except (Unparsed, NotUnderstood, RecursionError):
            return None
        return None if found is None or found.is_literal else found


def content_of(snapshot: Snapshot) -> FileContent:
    """A document as it is checked.

    Raises:
        Undecodable: it could not be saved in the encoding that it declares.
    """
    return read_content(snapshot.name, data_of(snapshot.name, snapshot.content)).without_bad_cells()
