"""What becomes of a value in the expression that it stands in, as far as that gives it no name."""

from __future__ import annotations

from typing import TYPE_CHECKING

import libcst as cst

from torchlint.model.aliasing.how import How
from torchlint.model.aliasing.uses import Follower
from torchlint.model.values import Usage

if TYPE_CHECKING:
    from torchlint.model.context import Context


def usage_here(context: Context, node: cst.CSTNode) -> Usage:
    """The worst that happens to the memory an expression evaluates to; what gets a name counts as what leaves."""
    return Follower(context, How(through_names=False)).usage(node)


def usage_of_object_here(context: Context, node: cst.CSTNode) -> Usage:
    """The same of the one object: what changes its flags, hooks or attributes writes to it."""
    return Follower(context, How(through_names=False, of_object=True)).usage(node)


def usage_of_object(context: Context, node: cst.CSTNode) -> Usage:
    """The same by the names that it is given, too."""
    return Follower(context, How(of_object=True)).usage(node)


def only_metadata(context: Context, node: cst.CSTNode) -> bool:
    """Whether nothing but metadata is read of an expression."""
    return usage_here(context, node) is Usage.METADATA
