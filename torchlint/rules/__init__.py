"""One file a rule; this package finds them by file name. No list, no registry, and no import of libcst.

Rules of other packages are found by their file names, too (:mod:`torchlint.rules.plugins`).
"""

from __future__ import annotations

import ast
import functools
import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from torchlint.diagnostic import OWN_PREFIX, Group, Severity
from torchlint.rules import index
from torchlint.rules.plugins import Clash, Plugin, installed
from torchlint.trigger import Trigger

BUILT_IN = Plugin(OWN_PREFIX, "torchlint", __name__, os.path.dirname(__file__), os.path.dirname(__file__))
"""The rules of this package, described as those of others are."""


@dataclass(frozen=True, slots=True)
class RuleInfo:
    """What can be known of a rule without importing it."""

    code: str
    name: str
    module: str
    """The full name of its module."""
    file: str
    trigger: Trigger
    """What a file must hold for it, as its ``@on`` decorators have it."""
    by_default: bool = True
    """Whether it is on unless something else is selected (``BY_DEFAULT = False`` in the rule's source: it is not)."""
    distribution: str = BUILT_IN.distribution
    """What was installed that it comes with."""
    severity: Severity = Severity.WARNING
    """How bad its findings are where they do not say it themselves."""
    group: Group = Group.CORRECTNESS
    without_torch: bool = False
    """Whether it looks at files in which nothing of torch stands (``WITHOUT_TORCH = True``)."""

    @property
    def doc(self) -> str:
        """The rule's documentation: the docstring of its file."""
        return ast.get_docstring(ast.parse(source(self.file)), clean=True) or ""


def source(file: str) -> str:
    """The text of the file of a rule."""
    with open(file, encoding="utf-8") as opened:
        return opened.read()


def _info(plugin: Plugin, stem: str, known: Mapping[str, index.IndexEntry]) -> RuleInfo:
    """What the file of a rule says, ``tl101_data_read`` say; ``known`` is what was read from the rules before.

    Raises:
        OSError, ValueError: it cannot be read.
        DeclarationError: it does not say what it looks for in a way that can be read.
    """
    code, _, name = stem.partition("_")
    file = os.path.join(plugin.folder, f"{stem}.py")
    found = index.lookup(known, stem, source(file), file)
    return RuleInfo(
        code.upper(),
        name.replace("_", "-"),
        f"{plugin.package}.{stem}",
        file,
        found.trigger,
        found.by_default,
        plugin.distribution,
        found.severity,
        found.group,
        found.without_torch,
    )


def stems(plugin: Plugin) -> Iterator[str]:
    """The names of the files of a package that are rules."""
    for name in sorted(os.listdir(plugin.folder)):
        if re.fullmatch(rf"{plugin.prefix.lower()}\d{{3}}_[a-z0-9_]+\.py", name):
            yield name.removesuffix(".py")


@functools.cache
def _found() -> tuple[dict[str, RuleInfo], tuple[str, ...]]:
    """All rules by code, and why some are missing that others have installed."""
    known = index.read()
    rules = {info.code: info for info in (_info(BUILT_IN, stem, known) for stem in stems(BUILT_IN))}
    faults = [*installed().faults]
    for plugin in installed().plugins:
        for result in _rules_of(plugin):
            if isinstance(result, str):
                faults.append(f"{plugin.distribution}: {result}")
            else:
                _add(result, rules)
    return dict(sorted(rules.items())), tuple(faults)


def _rules_of(plugin: Plugin) -> Iterator[RuleInfo | str]:
    """The rules of another package, and what is wrong with what may have been meant for one."""
    named = f"{plugin.prefix.lower()}001_name.py"
    known = frozenset(stems(plugin))
    almost = re.compile(rf"{plugin.prefix}_?\d\w*\.py", re.IGNORECASE)
    for name in sorted(os.listdir(plugin.folder)):
        stem = name.removesuffix(".py")
        if stem in known:
            try:
                yield _info(plugin, stem, {})
            except (OSError, ValueError, SyntaxError) as error:
                yield f"`{name}` cannot be read, so its findings are missing: {error}"
        elif almost.fullmatch(name):
            yield f"`{name}` is not taken for a rule: its name is not like {named}"
    if not known:
        yield f"in `{plugin.package}` is no rule, a file named like {named}"


def _add(info: RuleInfo, rules: dict[str, RuleInfo]) -> None:
    for other in rules.values():
        if info.code == other.code or info.name == other.name:
            what = f"code {info.code}" if info.code == other.code else f"name `{info.name}`"
            raise Clash(f"{other.distribution} and {info.distribution} both have a rule with the {what}")
    rules[info.code] = info


def catalogue() -> dict[str, RuleInfo]:
    """All rules by code, in order.

    Raises:
        Clash: packages with rules are installed that cannot be told apart.
    """
    return _found()[0]


def faults() -> tuple[str, ...]:
    """Why rules are missing that are installed, a sentence for each package."""
    return _found()[1]
