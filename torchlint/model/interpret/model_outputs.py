"""What networks of ``transformers`` give: an object that has its tensors as attributes, by their names and by numbers.

https://huggingface.co/docs/transformers/main_classes/output
"""

from __future__ import annotations

import re

import libcst as cst

from torchlint.file.tree.tree import Tree
from torchlint.model.certainty import Certainty
from torchlint.model.possibilities import Dtype, Kind, Tri
from torchlint.model.syntax import keyword
from torchlint.model.values import Evidence, Value, container, tensor

_REF = "transformers.utils.ModelOutput"
_MADE_BY = re.compile(r"transformers\..*")
_SEVERAL = re.compile(r"(?:\w+_)?(?:hidden_states|attentions)")
"""Tuples of tensors, one of each layer."""
_ONE = re.compile(
    r"loss|(?:\w+_)?logits|logits_per_\w+|(?:\w+_)?last_hidden_state|pooler_output|pred_boxes|predicted_depth|"
    r"(?:\w+_)?embeds|reconstruction"
)


def is_made_by(ref: str | None) -> bool:
    """Whether a network was made by ``transformers``, by the name of what made it."""
    return ref is not None and _MADE_BY.fullmatch(ref) is not None


def output(tree: Tree, node: cst.Call, grad: Tri, certainty: Certainty, evidence: Evidence) -> Value:
    """What a call of such a network gives: a tuple where one is asked for, or taken apart."""
    item = tensor(grad, dtype=Dtype.FLOAT, certainty=certainty, evidence=evidence)
    asked = keyword(node.args, "return_dict")
    if asked is not None and isinstance(asked.value, cst.Name) and asked.value.value == "False":
        return container(item)
    match tree.parent(node):
        case cst.Assign(targets=[cst.AssignTarget(target=cst.Tuple() | cst.List())]):
            return container(item)
    return Value(Kind.OBJECT, ref=_REF, item=item)


def attribute(value: Value, name: str) -> Value | None:
    """An attribute of that; None if it is none, or no tensor."""
    if value.ref != _REF or value.item is None:
        return None
    if _SEVERAL.fullmatch(name):
        return container(value.item)
    return value.item if _ONE.fullmatch(name) else None
