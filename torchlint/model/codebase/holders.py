"""Objects that hold a tensor in `.data` and are none: what is done with their data does not make them one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from torchlint.model.codebase.importers import PACKING
from torchlint.model.codebase.namesakes import classes_here

if TYPE_CHECKING:
    from torchlint.model.context import Context


def are_there(context: Context) -> bool:
    """Whether the project packs sequences, or a class that is defined or imported here has an attribute ``data``."""
    return context.remember(_are_there)


def _are_there(context: Context) -> bool:
    if PACKING.search(context.tree.source.text.encode(errors="replace")) is not None:
        return True
    if any(_declares(context.home(cls)) for cls in classes_here(context)):
        return True
    return context.codebase.packer(context) is not None


def _declares(home: Context) -> bool:
    return home.scopes.declares("data")
