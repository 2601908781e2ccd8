"""One file a rule; this package finds them by file name. No list, no registry, and no import of libcst."""

from __future__ import annotations

import ast
import functools
import os
import re
from dataclasses import dataclass

_NEEDLE = re.compile(r"^@on\(.*?needle=(_[A-Z_]+|\(.*?\)|r?\"[^\n]*?\")\)$", re.MULTILINE | re.DOTALL)
_CONSTANT = re.compile(r"^(_(?:[A-Z]+_)?NEEDLES?) = (\(.*?^\)|\(.*?\)$|r?\"[^\n]*\"$)", re.MULTILINE | re.DOTALL)
"""Needles are read from the source, so that the gate runs without importing a rule, and with it libcst. A test compares
them with what the loaded rule says."""


@dataclass(frozen=True, slots=True)
class RuleInfo:
    """What can be known of a rule without importing it."""

    code: str
    name: str
    module: str
    needles: tuple[str, ...]
    """The tokens one of which a file must contain (read from the ``@on`` decorators in the rule's source)."""
    by_default: bool = True
    """Whether it is on unless something else is selected (``BY_DEFAULT = False`` in the rule's source: it is not)."""

    @property
    def doc(self) -> str:
        """The rule's documentation: the docstring of its file."""
        return ast.get_docstring(ast.parse(_source(self.module)), clean=True) or ""


def _source(module: str) -> str:
    with open(os.path.join(os.path.dirname(__file__), f"{module}.py"), encoding="utf-8") as file:
        return file.read()


def _info(module: str) -> RuleInfo:
    code, _, name = module.partition("_")
    needles: set[str] = set()
    source = _source(module)
    constants = dict(_CONSTANT.findall(source))
    for literal in _NEEDLE.findall(source):
        value = ast.literal_eval(constants.get(literal, literal))
        needles.update([value] if isinstance(value, str) else value)
    return RuleInfo(
        code.upper(), name.replace("_", "-"), module, tuple(sorted(needles)), "\nBY_DEFAULT = False\n" not in source
    )


@functools.cache
def catalogue() -> dict[str, RuleInfo]:
    """All rules by code, in order."""
    names = sorted(os.listdir(os.path.dirname(__file__)))
    modules = [name.removesuffix(".py") for name in names if re.match(r"tl\d{3}_\w+\.py$", name)]
    return {info.code: info for info in map(_info, modules)}
