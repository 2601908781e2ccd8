"""The samples that data sets yield, and the batches that data loaders make of them."""

from __future__ import annotations

from collections.abc import Sequence

import libcst as cst

from torchlint.model.interpret import iteration, loaders, special_methods
from torchlint.model.interpret.calls import lambdas
from torchlint.model.interpret.frame import Frame
from torchlint.model.possibilities import Kind
from torchlint.model.torch.arguments import by_keyword
from torchlint.model.values import Argument, Value, container, held


def sample_of_torch(frame: Frame, ref: str, arguments: Sequence[Argument]) -> Value | None:
    """A sample of one of torch's own data sets, from the arguments it is made with; None if it is not known."""
    if not arguments or any(a.star for a in arguments):
        return None
    match ref.rpartition(".")[2]:
        case "TensorDataset":
            return loaders.of_tensors([a.value for a in arguments])
        case "Subset":
            return sample_of(frame, arguments[0].value, arguments[0].node)
        case "ConcatDataset" | "ChainDataset":
            inner = iteration.iterate(frame, arguments[0].value, arguments[0].node)
            return sample_of(frame, inner, arguments[0].node)
    return None


def sample_of(frame: Frame, dataset: Value, node: cst.BaseExpression) -> Value | None:
    """A sample of a data set: an element of a container, or what its ``__getitem__`` returns; None if not known."""
    if not dataset.kind & (Kind.OBJECT | Kind.CONTAINER) or dataset.kind & (Kind.UNKNOWN | Kind.MODULE):
        return None
    if dataset.item is not None or dataset.items is not None:
        return held(dataset)
    own = special_methods.by_method(frame, dataset, "getitem", node)
    if own is None:
        own = iteration.iterate(frame, dataset, node) if isinstance(dataset.node, cst.ClassDef) else None
    return own if own is not None and own.kind != Kind.UNKNOWN else None


def batch_of(frame: Frame, node: cst.Call, arguments: Sequence[Argument]) -> Value | None:
    """A batch of the ``DataLoader`` that a call makes; None if it is not known."""
    dataset = next((a for a in arguments if a.keyword in (None, "dataset")), None)
    if dataset is None or dataset.star or any(a.star for a in arguments):
        return None
    sample = sample_of(frame, dataset.value, dataset.node)
    collate = by_keyword(arguments, "collate_fn")
    if collate is not None and collate.value.kind != Kind.NONE:
        value = lambdas.call_argument(frame, collate, [container(sample)], node)
        return value if value.kind != Kind.UNKNOWN else None
    size = by_keyword(arguments, "batch_size")
    is_single = size is not None and size.value.kind & Kind.NONE
    return loaders.collated(sample, node) if sample is not None and not is_single else None
