"""Where tensors are made that say nothing of a device: a default decides of new functions, and not of old ones."""

from __future__ import annotations

import re

import libcst as cst

from torchlint.model import Kind, Model
from torchlint.model.codebase.exports import is_mentioned

_DEFAULTS = re.compile(
    r"\bset_default_device\b|\b(?:with\b|enter_context\()[^\n]*\bdevice\b"
    r"|\bset_default_tensor_type\b(?!\(\s*[\"']?torch\.(?:Float|Double|Half|BFloat16)Tensor\b)"
)
"""What makes the new functions, and not the old constructors, put tensors elsewhere, anywhere in the file."""
_OF_ANY_FILE = (
    r"\bset_default_device\b(?!\(\s*(?:None\b|[\"']cpu))"
    r"|\b(?:with\s|enter_context\()[^\n]*(?:\btorch\.|\s|\()device\s*\((?!\s*[\"']cpu)|\bwith\s[^\n]*\bdevice\s*[:,]"
    r"|\bset_default_tensor_type\(\s*[\"']?torch\.cuda\."
)
"""The same in another file, as far as it is written out there, or a device has its name."""


def may_be_default(node: cst.CSTNode, model: Model) -> bool:
    """Whether a default of the file or the project, or a block around, may say where tensors are made."""
    return model.mentions(_DEFAULTS) or _is_under_device(node, model) or model.remember(_is_set_by_project)


def _is_set_by_project(model: Model) -> bool:
    return model.ask(is_mentioned, _OF_ANY_FILE)


def _is_under_device(node: cst.CSTNode, model: Model) -> bool:
    """Whether a block around a call may be one of `torch.device`, by any name."""
    up = model.tree.enclosing(node, cst.With) if model.tree.all(cst.With) else None
    while isinstance(up, cst.With):
        for item in up.items:
            value = model.value(item.item)
            if value.ref == "torch.device" or (isinstance(item.item, cst.Name) and value.kind & Kind.UNKNOWN):
                return True
        up = model.tree.enclosing(up, cst.With)
    return False
