"""One file: read it, see whether a rule could find anything in it, and check it.

What is done here can be done in any process; what a job and an answer hold can be sent.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, TypeVar

from torchlint.diagnostic import AS_RULES_SAY, Diagnostic, FindingKey, Fixing, Policy, Position, Problem, Severity
from torchlint.file.text import source
from torchlint.file.text.density import excess
from torchlint.project.discovery import NOTEBOOK, PYTHON
from torchlint.project.selection import OWN
from torchlint.session.cache import Seen, Stamp, stamp
from torchlint.session.content import FileContent, data_of, read_content
from torchlint.system import states, writing
from torchlint.system.crash import INTENDED, described, traceback_of
from torchlint.system.limits import USUAL, Limits, size_of
from torchlint.system.reading import LIMIT, TooLarge, read_with_status
from torchlint.versions import ANY, Target

if TYPE_CHECKING:
    from torchlint.file.check import Outcome
    from torchlint.file.notebook.cells import Cells
    from torchlint.model.codebase.modules import Codebase

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Job:
    """One file to check."""

    path: str
    """For messages."""
    codes: frozenset[str]
    fixing: Fixing = Fixing.NONE
    location: str = ""
    """Where it is; what it imports is looked for around it."""
    policy: Policy = AS_RULES_SAY
    target: Target = ANY
    """The versions of torch it is written for."""
    thorough: bool = False
    """Whether to verify that it parses even if no rule could find anything in it."""
    data: bytes | str | None = None
    """Its content, where that is not to be read from the file."""
    limits: Limits = USUAL
    """What it may cost."""
    accepted: Mapping[FindingKey, int] = field(default_factory=dict)
    """Findings that are left alone and not reported, with how many of each there may be."""
    is_promising: bool = False
    """Whether rules found something in it a moment ago."""
    docs: bool = False
    """Whether code in docstrings is looked at."""

    @property
    def has_documentation(self) -> bool:
        """Whether there can be docstrings to look at."""
        return self.docs and self.path.endswith(PYTHON)


@dataclass(frozen=True, slots=True)
class JobResult:
    """What became of a job."""

    diagnostics: tuple[Diagnostic, ...] = ()
    text: str = ""
    """The text that the diagnostics speak of (left empty where there are none)."""
    cells: Cells | None = None
    """Where its lines are in a notebook."""
    problems: tuple[Problem, ...] = ()
    fixed: tuple[tuple[str, int], ...] = ()
    suppressed: int = 0
    accepted: tuple[Diagnostic, ...] = ()
    """What there is of the findings that are left alone."""
    rests_on: Mapping[str, str] = field(default_factory=dict)
    before: bytes = b""
    """What was read (left empty where nothing follows from it)."""
    after: bytes | None = None
    """The fixed content, where it differs."""
    unwritten: bool = False
    """Whether there is fixed content and it cannot be written."""
    is_gated: bool = False
    """Whether a rule could find something; if not, it was at most parsed."""
    seen: Seen | None = None
    """What was read; None if it could not be read or decoded."""
    unread: tuple[str, ...] = ()
    """What is to be said of blocks that are no Python."""

    @property
    def notes(self) -> Iterator[str]:
        """What is to be said of blocks, and of the files that it imports, for those who want to know."""
        yield from self.unread
        yield from (
            f"{path}: {states.UNREAD[state]}" for path, state in self.rests_on.items() if state in states.UNREAD
        )

    @property
    def was_checked(self) -> bool:
        """Whether more was done than to read it."""
        return self.is_gated or bool(self.seen and self.diagnostics)


@dataclass(frozen=True, slots=True)
class Opened:
    """A file that has to be checked."""

    job: Job
    content: FileContent
    is_gated: bool
    seen: Seen
    is_wanted: bool = True
    """Whether the content itself is to be checked, and not only the code in its docstrings."""


def answer(job: Job, codebase: Callable[[], Codebase]) -> JobResult:
    """Do all of a job. Never raises for what is in a file."""
    opened = open_(job)
    return opened if isinstance(opened, JobResult) else check(opened, codebase())


def known_codebase() -> Callable[[], Codebase]:
    """What is known of other files in one process, begun when it is asked for first."""
    known: list[Codebase] = []

    def codebase() -> Codebase:
        if not known:
            from torchlint.model.codebase.modules import Codebase

            known.append(Codebase())
        return known[0]

    return codebase


@contextlib.contextmanager
def passing_codebase() -> Iterator[Callable[[], Codebase]]:
    """The same until it is left: then it is gone at once, and nobody has to look for garbage."""
    known: list[Codebase] = []
    get = known_codebase()

    def codebase() -> Codebase:
        if not known:
            known.append(get())
        return known[0]

    try:
        yield codebase
    finally:
        for each in known:
            each.close()


def open_(job: Job) -> Opened | JobResult:
    """Read a file; what is to be said of it, unless it has to be checked. Never raises for what is in it."""
    return _guarded(job, lambda: _open(job))


def check(opened: Opened, codebase: Codebase) -> JobResult:
    """Check what was read. Never raises for what is in it."""
    return _guarded(opened.job, lambda: _check(opened, codebase))


def _guarded(job: Job, function: Callable[[], T]) -> T | JobResult:
    """What a function returns. Whatever it raises must not cost more than this file."""
    try:
        return function()
    except INTENDED:
        raise
    except BaseException as error:
        problem = Problem(job.path, f"could not be checked: {described(error)}", details=traceback_of(error))
        return JobResult(problems=(problem,))


def _open(job: Job) -> Opened | JobResult:
    now: Stamp = []
    data: bytes | None = None
    limit = 0 if job.path.endswith(NOTEBOOK) else job.limits.file_size  # of a notebook only the code counts
    try:
        data = data_of(job.path, job.data) if isinstance(job.data, str) else job.data
        if data is None:
            status, data = read_with_status(job.location, min(limit or LIMIT, LIMIT))
            now = stamp(status)
        elif limit and len(data) > limit:
            return _failed(job, _too_large(job.limits))
        content = read_content(job.path, data)
    except source.Undecodable as error:
        found = (_unreadable(error),) if "TL003" in job.codes else ()
        return JobResult(found, job.data if isinstance(job.data, str) else source.decode_leniently(data or b""))
    except TooLarge as error:
        is_ours = not limit or limit > LIMIT  # which settings cannot lift
        return _failed(job, f"not checked: {error.strerror}" if is_ours else _too_large(job.limits))
    except OSError as error:
        return _failed(job, error.strerror or str(error))
    seen = Seen(now, states.digest(data))
    if content.notebook is not None and not job.limits.allows(len(content.code)):
        return _failed(job, _too_large(job.limits))
    is_gated = _is_gated(content.code, content.text, job.codes)
    unread = _unread(content, job)
    is_wanted = is_gated or _is_broken(content.text, job)
    if not is_wanted and not job.has_documentation:
        return JobResult(seen=seen, unread=unread)
    if is_gated and (more := excess(content.text, job.limits)) is not None:
        return _failed(job, f"not checked: it has more than {more}; a larger `max-file-size` allows more")
    return Opened(job, content.without_bad_cells(), is_gated, seen, is_wanted)


def _is_gated(data: bytes, text: str, codes: frozenset[str]) -> bool:
    from torchlint.file.comments.suppressions import is_malformed, mentioned
    from torchlint.file.triggers.gate import can_match

    is_about_comments = not codes.isdisjoint(("TL002", "TL005")) and mentioned(text)
    return can_match(data, codes) or is_about_comments or ("TL004" in codes and is_malformed(text))


def _is_broken(text: str, job: Job) -> bool:
    """Whether a file does not parse, where that is asked: not for all those that have nothing to do with torch."""
    if not job.thorough or "TL001" not in job.codes or excess(text, job.limits) is not None:
        return False
    from torchlint.file.parse.invalid import syntax_error

    return syntax_error(text, job.path) is not None


def _check(opened: Opened, codebase: Codebase) -> JobResult:
    if not opened.job.has_documentation or opened.content.embedded is not None:
        return _checked(opened, codebase)
    from torchlint.session.documentation import with_documentation

    return with_documentation(opened, lambda opened: _checked(opened, codebase))


def _checked(opened: Opened, codebase: Codebase) -> JobResult:
    """Check what is a program."""
    job = opened.job
    if not opened.is_wanted:
        return JobResult(seen=opened.seen)
    outcome = _outcome(opened, codebase)
    if isinstance(outcome, str):
        return _failed(job, outcome)
    content = opened.content
    try:
        fixed = content.after(outcome.text, outcome.rounds) if outcome.text != content.text else content
    except writing.NotWritten as error:
        return replace(_failed(job, f"not fixed: {error}"), before=content.data, unwritten=True)
    found = fixed.in_file(tuple(diagnostic for diagnostic in outcome.diagnostics if diagnostic.code in job.codes))
    result = JobResult(
        found,
        fixed.shown if found else "",
        fixed.cells if found else None,
        tuple(map(content.placed, outcome.problems)),
        outcome.fixed,
        outcome.suppressed,
        outcome.accepted,
        outcome.rests_on,
        is_gated=opened.is_gated,
        seen=opened.seen,
        unread=_unread(content, job),
    )
    return result if fixed is content else replace(result, before=content.data, after=fixed.data)


def _unread(content: FileContent, job: Job) -> tuple[str, ...]:
    """What is to be said of blocks that are no Python, and of a notebook without any."""
    if content.notebook is not None and not content.notebook.parts:
        return (f"{job.path}: no cell of this notebook is Python, so nothing in it is checked",)
    if content.embedded is None:
        return ()
    return tuple(
        f"{job.path}:{at.row}: this block is no Python, so it is not checked" for at in content.embedded.unread
    )


def _outcome(opened: Opened, codebase: Codebase) -> Outcome | str:
    from torchlint.file.check import check_text
    from torchlint.file.parse.invalid import TOO_DEEP

    job = opened.job
    try:
        return check_text(
            opened.content.text,
            job.path,
            job.codes,
            job.fixing,
            location=job.location or None,
            codebase=codebase,
            policy=job.policy,
            target=job.target,
            budget=job.limits.budget,
            accepted=job.accepted,
            revised=opened.content.revised,
            is_promising=job.is_promising,
        )
    except RecursionError:
        return TOO_DEEP


def _too_large(limits: Limits) -> str:
    return f"not checked: it has more bytes than `max-file-size` allows ({size_of(limits.file_size)})"


def _failed(job: Job, message: str) -> JobResult:
    return JobResult(problems=(Problem(job.path, message),))


def _unreadable(error: source.Undecodable) -> Diagnostic:
    start, end = Position(error.row, error.column), Position(error.row, error.column + 1)
    return Diagnostic("TL003", OWN["TL003"], error.reason, start, end, (error.row, error.row), severity=Severity.ERROR)
