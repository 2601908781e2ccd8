"""The rules as commands of libcst's codemod runner, one for each group of rules.

``python -m libcst.tool codemod -x --no-format torchlint.codemods.Data PATHS`` writes what
``torchlint check --fix --select TL1 PATHS`` writes: the runner hands over a module, its text goes the way that every
text goes (:mod:`torchlint.session.worker`), and the fixed text is parsed again for the runner.
"""

from __future__ import annotations

import argparse
import functools
import os
from abc import ABC
from collections.abc import Callable
from typing import ClassVar, TypeVar

import libcst as cst
from libcst.codemod import CodemodCommand, CodemodContext, SkipFile

from torchlint.diagnostic import Fixing
from torchlint.file.text import source
from torchlint.model.codebase.modules import Codebase
from torchlint.project.discovery import File, is_excluded, shown
from torchlint.project.project import Project
from torchlint.project.selection import Selection, SettingsError, listed
from torchlint.project.settings import check_version
from torchlint.session.scheduler import job_for
from torchlint.session.worker import JobResult, answer, known_codebase
from torchlint.system.reading import read
from torchlint.system.stack import with_big_stack

T = TypeVar("T")

__all__ = ["All", "Api", "Data", "Domain", "Effects", "Modules", "Numerics", "Security", "Speed", "Variable"]


class Command(CodemodCommand, ABC):
    """Applies the fixes of some rules as ``torchlint check --fix`` does, settings and suppressing comments included.

    It says in warnings what ``check`` says on standard error, and skips what the settings exclude and what libcst does
    not give back byte for byte.
    """

    SELECT: ClassVar[tuple[str, ...]] = ()
    """The selectors of the rules; empty for those that the settings select."""

    def __init__(
        self,
        context: CodemodContext,
        *,
        select: tuple[str, ...] = (),
        ignore: tuple[str, ...] = (),
        unsafe_fixes: bool | None = None,
        isolated: bool = False,
        target_torch: str | None = None,
    ) -> None:
        super().__init__(context)
        selection = Selection(select or self.SELECT or None, ignore=ignore)
        self._project = _project(selection, isolated, target_torch)
        self._unsafe_fixes = unsafe_fixes

    @classmethod
    def add_args(cls, arg_parser: argparse.ArgumentParser) -> None:
        """Add the options, which mean what those of ``torchlint check`` mean."""
        if not cls.SELECT:
            arg_parser.add_argument(
                "--select", type=_rules, default=(), metavar="RULES", help="Rules to use: codes, prefixes, names, ALL."
            )
        arg_parser.add_argument("--ignore", type=_rules, default=(), metavar="RULES", help="Rules not to use.")
        arg_parser.add_argument(
            "--unsafe-fixes", action=argparse.BooleanOptionalAction, default=None, help="Apply unsafe fixes too."
        )
        arg_parser.add_argument("--isolated", action="store_true", help="Ignore all settings files of torchlint.")
        arg_parser.add_argument(
            "--target-torch", type=_version, metavar="VERSION", help="The oldest torch version, or a range of versions."
        )

    def transform_module_impl(self, tree: cst.Module) -> cst.Module:
        """The module with the fixed text.

        Raises:
            SkipFile: the settings exclude the file, or libcst would write something else than its text.
        """
        name = self.context.filename
        data = tree.bytes
        if name is not None:
            if is_excluded(os.path.abspath(name), self._project):
                raise SkipFile("the settings of torchlint exclude it")
            if not _is_given_back(name, data):
                raise SkipFile("libcst does not give it back byte for byte; `torchlint check --fix` does")
        if not _is_text_of(data, tree.code):
            raise SkipFile("its text is not in the encoding that it declares")
        result = self._answer(name, data)
        for problem in result.problems:
            self.warn(str(problem))
        if result.after is None:
            return tree
        fixed = cst.parse_module(result.after, tree.config_for_parsing)
        if fixed.bytes != result.after:
            raise SkipFile("libcst does not give the fixed text back byte for byte; `torchlint check --fix` does")
        return fixed

    def _answer(self, name: str | None, data: bytes) -> JobResult:
        location = os.path.abspath(name or "-")
        file = File(shown(location) if name is not None else "-", location)
        job = job_for(self._project, file, self._fixing, data=data)
        return with_big_stack(lambda: answer(job, _codebase()))

    @property
    def _fixing(self) -> Fixing:
        """Which fixes: as the option says, else as the settings of the working directory do."""
        unsafe = self._unsafe_fixes
        if unsafe is None:
            unsafe = self._project.settings(os.getcwd()).unsafe_fixes
        return Fixing.UNSAFE if unsafe else Fixing.SAFE


class All(Command):
    """All rules that the settings select."""

    DESCRIPTION = "Apply the fixes of all rules of torchlint that the settings select."


def _group(name: str, code: str, what: str) -> type[Command]:
    """The command for the rules whose codes begin with ``code``; the runner finds it in this module, by its name."""
    said = f"{code}: {what}."
    return type(name, (Command,), {"__module__": __name__, "__doc__": said, "SELECT": (code,), "DESCRIPTION": said})


Data = _group("Data", "TL1", "replace `.data`, late and needless `.detach()`, and what keeps graphs alive")
Variable = _group(
    "Variable", "TL2", "replace what was written before PyTorch 0.4: `Variable`, `volatile`, `loss.data[0]`"
)
Api = _group("Api", "TL3", "replace removed, renamed and deprecated API of torch")
Effects = _group("Effects", "TL4", "give an effect to what has none: methods not called, contexts not entered")
Modules = _group("Modules", "TL5", "correct the definitions of models")
Speed = _group("Speed", "TL6", "remove what costs time for nothing")
Security = _group("Security", "TL7", "load and store without executing what others wrote")
Numerics = _group("Numerics", "TL8", "compute what loses precision in another way")
Domain = _group("Domain", "TL9", "replace removed and deprecated API of torchvision, torchaudio and the like")


def _is_given_back(name: str, data: bytes) -> bool:
    """Whether libcst gives back what is in a file, of which it has made ``data``, or another command has."""
    try:
        original = read(name)
    except OSError:
        return True  # the module does not come from there
    return original == data or cst.parse_module(original).bytes == original


def _is_text_of(data: bytes, text: str) -> bool:
    """Whether bytes are a text by what they declare, which a text that was not read from bytes need not have."""
    try:
        return source.decode(data).text == text.removeprefix("\ufeff")
    except source.Undecodable:
        return False


@functools.cache
def _project(selection: Selection, isolated: bool, target: str | None) -> Project:
    """The settings, read once by a process: the runner makes a command for each file."""
    return Project(selection, isolated, target)


@functools.cache
def _codebase() -> Callable[[], Codebase]:
    """What this process knows of other files: as in ``check --fix``, what they were at first."""
    return known_codebase()


def _rules(value: str) -> tuple[str, ...]:
    return _usable(lambda: listed((value,), "the rules"))


def _version(value: str) -> str:
    return _usable(lambda: check_version(value, "the version"))


def _usable(read: Callable[[], T]) -> T:
    """The value of an option, with the words of torchlint where it cannot be meant."""
    try:
        return read()
    except SettingsError as error:
        raise argparse.ArgumentTypeError(str(error)) from None
