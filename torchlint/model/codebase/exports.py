"""What other files of the project may have from a file."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import libcst as cst

from torchlint.file.text.python import parsed
from torchlint.model.codebase.environment import values_set
from torchlint.model.codebase.second_order import asks_for_graphs
from torchlint.model.codebase.unwrapping import unwraps

if TYPE_CHECKING:
    from torchlint.model.context import Context


def taker(context: Context, name: str) -> str | None:
    """Another file of the project that may have a name of this module from here; None if there is none.

    The path is relative to the project, empty if it is not known.
    """
    with_stars = not name.startswith("_") and not _lists_exports(context)
    return context.codebase.taker(context, name, with_stars=with_stars)


def patcher(context: Context, name: str) -> str | None:
    """Another file of the project that puts something in the place of a name of torch's; None if there is none."""
    others = context.codebase.others(context)
    return None if others is None else others.patching.patcher(_asking(context), name)


def setter(context: Context, attribute: str) -> str | None:
    """Another file of the project that may assign an attribute of that name of any object; None if there is none."""
    others = context.codebase.others(context)
    return None if others is None else others.patching.setter(_asking(context), attribute)


def is_put_elsewhere(context: Context, attribute: str) -> bool | None:
    """Whether any file of the project may put another object into such an attribute, or into a part of it, other than
    by `self`; None if there is no project to look at.
    """
    others = context.codebase.others(context)
    return None if others is None else others.patching.is_put(attribute)


def rebinder(context: Context, name: str) -> str | None:
    """Another file of the project that may put something else under a name of this module; None if there is none."""
    others = context.codebase.others(context)
    return None if others is None else others.patching.rebinder(context.path or "", name)


def replacer(context: Context, method: str) -> str | None:
    """Another file of the project that may put something else in the place of a method; None if there is none."""
    others = context.codebase.others(context)
    return None if others is None else others.patching.replacer(_asking(context), method)


def _asking(context: Context) -> str:
    """The file that is seen anyhow; none if only some statements of it are."""
    return "" if context.is_part else context.path or ""


def teller(context: Context, name: str) -> str | None:
    """Another file of the project that may ask whether something is of a class of torch's; None if there is none."""
    others = context.codebase.others(context)
    return None if others is None else others.telling.teller(context.path or "", name)


def is_mentioned(context: Context, pattern: str) -> bool:
    """Whether anything in the text of this file, or in the code of another one of the project, matches."""
    return re.search(pattern, context.tree.source.text) is not None or is_mentioned_elsewhere(context, pattern)


def is_mentioned_elsewhere(context: Context, pattern: str) -> bool:
    """Whether anything in the code of another file of the project matches."""
    return bool(context.codebase.matching(context, re.compile(pattern.encode())))


def set_in_environment(context: Context, name: str) -> frozenset[str]:
    """What any file of the project sets a variable of the environment to."""
    return context.remember(_set_in_environment, name)


def _set_in_environment(context: Context, name: str) -> frozenset[str]:
    text = context.tree.source.text
    tree = parsed(text) if name in text else None
    here = frozenset[str]() if tree is None else frozenset(values_set(tree, name))
    others = context.codebase.others(context)
    return here if others is None else here | others.environment.values(context.path or "", name)


def is_unwrapped_by(context: Context, method: str) -> bool:
    """Whether a class of the project has a method of that name which gives the tensor that its object holds."""
    return context.remember(_is_unwrapped_by, method)


def _is_unwrapped_by(context: Context, method: str) -> bool:
    text = context.tree.source.text
    tree = parsed(text) if f"def {method}" in text else None
    if tree is not None and unwraps(tree, method):
        return True
    others = context.codebase.others(context)
    return others is not None and others.unwrapping.unwrapper(context.path or "", method) is not None


def packer(context: Context) -> str | None:
    """Another file of the project that packs sequences; None if there is none."""
    others = context.codebase.others(context)
    return None if others is None else next((path for path in others.packing if path != context.path), None)


def keeper(context: Context) -> str | None:
    """Another file of the project that may ask for gradients with a graph; None if there is none."""
    others = context.codebase.others(context)
    return None if others is None else others.patching.keeper(context.path or "")


def leaver(context: Context) -> str | None:
    """Another file of the project by which the `.grad` of a tensor may have a graph; None if there is none."""
    others = context.codebase.others(context)
    return None if others is None else others.patching.leaver(context.path or "")


def keeps_graphs(context: Context) -> bool:
    """Whether this file, or another one of the project, may ask for gradients with a graph."""
    return context.remember(_keeps_graphs)


def _keeps_graphs(context: Context) -> bool:
    return asks_for_graphs(context.tree.source.text.encode(errors="replace")) or keeper(context) is not None


def _lists_exports(context: Context) -> bool:
    """Whether ``__all__`` is a plain list, so that a star takes nothing else."""
    tree = context.tree
    uses = tree.names("__all__")
    targets = [tree.parent(use) for use in uses]
    assigns = [tree.parent(target) for target in targets if isinstance(target, cst.AssignTarget)]
    return len(uses) == 1 and any(
        isinstance(each, cst.Assign) and isinstance(each.value, (cst.List, cst.Tuple)) for each in assigns
    )
