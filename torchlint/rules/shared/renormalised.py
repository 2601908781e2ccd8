"""Whether an embedding writes to its weights where they are looked up: it has a `max_norm`."""

from __future__ import annotations

import libcst as cst

from torchlint.model import Model
from torchlint.model.syntax import call_of, is_none
from torchlint.model.torch import writers


def are_renormalised(model: Model) -> bool:
    """Whether some embedding of a file may have a `max_norm`."""
    return model.remember(_are_renormalised)


def _are_renormalised(model: Model) -> bool:
    given = (model.tree.parent(node) for node in model.tree.names("max_norm"))
    if any(isinstance(each, cst.Arg) and _is_for_embedding(each, model) for each in given):
        return True
    return any(_may_be_asked_to(node, model) for name in _EMBEDDINGS for node in model.tree.names(name))


_EMBEDDINGS = ("Embedding", "EmbeddingBag")


def _is_for_embedding(arg: cst.Arg, model: Model) -> bool:
    """Whether `max_norm=` is not that of a function of torch that clips, as ``clip_grad_norm_`` has it.

    What is not of torch may be a subclass of an embedding, or hand on to one what it is given.
    """
    call = model.tree.parent(arg)
    if arg.keyword is None or is_none(arg.value) or not isinstance(call, cst.Call):
        return False
    ref = model.qualified(call.func) or ""
    return not ref.startswith("torch.") or "embedding" in ref.lower()


def _may_be_asked_to(node: cst.Name, model: Model) -> bool:
    """Whether an embedding is made with a `max_norm` by its place, or with arguments that are not seen."""
    made: cst.CSTNode = node
    while isinstance(outer := model.tree.parent(made), cst.Attribute):
        made = outer
    call = call_of(made, model.tree)
    ref = (model.qualified(made) or "").removesuffix(".from_pretrained")  # which has it at the same place
    return call is not None and writers.writes_to_itself(ref, call)
