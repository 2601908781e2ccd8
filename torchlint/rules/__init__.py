"""One file a rule; this package finds them by file name. No list, no registry, and no import of libcst."""

from __future__ import annotations

import functools
import importlib
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from torchlint.rules import index
from torchlint.rules.declared import DeclarationError
from torchlint.trigger import Trigger, together

if TYPE_CHECKING:
    from torchlint.rule import Rule

FOLDER = os.path.dirname(__file__)


@dataclass(frozen=True, slots=True)
class RuleInfo:
    """What can be known of a rule without importing it."""

    code: str
    name: str
    module: str
    """The full name of the module that it is in."""
    path: str
    trigger: Trigger
    """What a file must hold for it, as its ``@on`` decorators have it."""
    by_default: bool = True
    """Whether it is on unless something else is selected (``BY_DEFAULT = False`` in the rule's source: it is not)."""

    @property
    def doc(self) -> str:
        """The rule's documentation: the docstring of its file."""
        import ast

        return ast.get_docstring(ast.parse(source(self.path)), clean=True) or ""

    def load(self) -> Rule:
        """Import the rule.

        Raises:
            DeclarationError: it has another trigger than its source says.
        """
        from torchlint.rule import Rule, checks_of

        loaded = importlib.import_module(self.module)
        checks = checks_of(loaded)
        if not checks or together(check.trigger for check in checks) != self.trigger:
            raise DeclarationError(f"{self.path}: the trigger is another one than the source says")
        return Rule(self.code, self.name, loaded.__doc__ or "", checks)


def source(path: str) -> str:
    """The source of a rule."""
    with open(path, encoding="utf-8") as file:
        return file.read()


def modules() -> Iterator[tuple[str, str]]:
    """The modules of this package that are rules, with their paths, in order."""
    for name in sorted(os.listdir(FOLDER)):
        if re.match(r"tl\d{3}_\w+\.py$", name):
            yield name.removesuffix(".py"), os.path.join(FOLDER, name)


def _info(module: str, path: str, known: dict[str, index.Entry]) -> RuleInfo:
    """``tl101_data_read`` is TL101, ``data-read``."""
    code, _, name = module.partition("_")
    found = index.lookup(known, module, source(path), path)
    return RuleInfo(code.upper(), name.replace("_", "-"), f"{__name__}.{module}", path, found.trigger, found.by_default)


@functools.cache
def catalogue() -> dict[str, RuleInfo]:
    """All rules by code, in order.

    Raises:
        DeclarationError: one of them declares what it looks for in a way that cannot be read.
    """
    known = index.read()
    return {info.code: info for info in (_info(module, path, known) for module, path in modules())}
