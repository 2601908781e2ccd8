"""Which modules other code may have reworked, so that their parameters are no leaves, or none that require grad.

A function of another file makes them and freezes what it makes, or prunes what it is given; so may a base class or a
decorator. Like in :mod:`torchlint.model.freezing`, only syntax is looked at.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

import libcst as cst

from torchlint.model import reexports
from torchlint.model.freezing import FREEZING, frozen, given_elsewhere, home_of
from torchlint.model.syntax import dotted, last_name

if TYPE_CHECKING:
    from torchlint.model.context import Context

_REWORKING = re.compile(
    r"\bprune\b|weight_norm\b|spectral_norm\b|\bparametri[sz]\w*|\b_parameters\b|\b(?:set|del)attr *\("
)
"""What puts something else in the place of parameters."""
_IN_NAME = re.compile(r"\bprune\b|weight_norm\b|spectral_norm\b|\bparametri[sz]")
_FAR = 4
"""How many base classes one above the other are looked at."""


def may_be_reworked(context: Context, module: cst.CSTNode) -> bool:
    """Whether the parameters of the module that an expression names may be something else, by what other code does."""
    names = (dotted(module) or "").split(".")
    if any(context.remember(_is_made_or_given_elsewhere, name) for name in names):
        return True
    cls = context.tree.enclosing(module, cst.ClassDef)
    return isinstance(cls, cst.ClassDef) and names[0] == "self" and _is_reworked_by_class(context, cls, names)


def _is_made_or_given_elsewhere(context: Context, name: str) -> bool:
    if name in context.remember(_given_here):
        return True
    if any(_does(context, function, _REWORKING) for function in context.remember(given_elsewhere).get(name, ())):
        return True
    makers = context.remember(_makers).get(name, ())
    return any(_does(context, each, FREEZING) or _does(context, each, _REWORKING) for each in makers)


def _given_here(context: Context) -> frozenset[str]:
    """The last names of all that this file itself prunes, or normalises the weights of."""
    if not _IN_NAME.search(context.tree.source.text):
        return frozenset()
    calls = (each for each in context.tree.all(cst.Call) if _IN_NAME.search(dotted(each.func) or ""))
    return frozenset(last_name(arg.value) for call in calls for arg in call.args[:1])


def _makers(context: Context) -> dict[str, list[str]]:
    """By name, the functions of other files by whose calls it is bound: ``net = load()``."""
    imported, found = reexports.imported(context), dict[str, list[str]]()
    for assign in context.tree.all(cst.Assign) if imported else ():
        path = dotted(assign.value.func) if isinstance(assign.value, cst.Call) else None
        if path is not None and path.partition(".")[0] in imported:
            for each in assign.targets:
                found.setdefault(last_name(each.target), []).append(path)
    return found


def _does(context: Context, function: str, what: re.Pattern[str]) -> bool:
    """Whether in a function that another file defines something is written."""
    home = home_of(context, function)
    if home is None or what.search(home.tree.source.text) is None:
        return False
    return any(each.name.value == function.rpartition(".")[2] for each in home.tree.all(cst.FunctionDef))


def _is_reworked_by_class(context: Context, cls: cst.ClassDef, names: list[str]) -> bool:
    """Whether a decorator of a class, or one of its bases that another file defines, freezes what it names."""
    for decorator in cls.decorators:
        node = decorator.decorator.func if isinstance(decorator.decorator, cst.Call) else decorator.decorator
        path = dotted(node) or ""
        if path.partition(".")[0] in reexports.imported(context) and any(
            _does(context, path, what) for what in (FREEZING, _REWORKING)
        ):
            return True
    return any(not found.isdisjoint((*names, "*")) for found in _frozen_by_bases(context, cls, _FAR))


def _frozen_by_bases(context: Context, cls: cst.ClassDef, far: int) -> Iterator[frozenset[str]]:
    """The last names of what the base classes of a class freeze that other files define."""
    for base in cls.bases if far else ():
        path = dotted(base.value) or ""
        home = home_of(context, path) if path and not path.startswith(("torch.", "nn.")) else None
        if home is not None:
            yield home.remember(frozen)
            for above in home.tree.all(cst.ClassDef):
                if above.name.value == path.rpartition(".")[2]:
                    yield from _frozen_by_bases(home, above, far - 1)
