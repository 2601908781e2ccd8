"""The values of samples and batches: what a data set has, and what it yields, collated."""

from __future__ import annotations

import libcst as cst

from torchlint.model.names import DATA_SET_NAME
from torchlint.model.possibilities import Dtype, Kind, Ndim, Tri
from torchlint.model.symbols import Origin, Symbol
from torchlint.model.syntax import ending_name
from torchlint.model.values import STRING, UNKNOWN, Evidence, Strength, Value, changed, container, held, tensor
from torchlint.system.records import replace

BATCH = Value(Kind.UNKNOWN, grad=Tri.NO)
"""Some batch: nobody knows what it looks like, but no tensor in it carries a graph."""

FROM_LOADER = "it comes from a data set"
"""What is said as the evidence for it, and by which it is told."""


def is_data_set(value: Value, node: cst.CSTNode) -> bool:
    """Whether something is a data set of torchvision, or is not known and called like a data set."""
    if value.kind == Kind.OBJECT and (value.ref or "").startswith("torchvision.datasets."):
        return True
    is_named = isinstance(node, (cst.Name, cst.Attribute)) and DATA_SET_NAME.search(ending_name(node)) is not None
    return is_named and not value.kind & ~(Kind.UNKNOWN | Kind.REFERENCE)


def of_data_set(node: cst.CSTNode) -> Value:
    """What is taken from a data set at a node: a sample, or all samples, which carry no graph by convention."""
    return replace(BATCH, symbols=(Symbol(Origin.BATCH, id(node)),))


def is_batch(value: Value) -> bool:
    """Whether a value is a batch of a loader, or what was collated, and no more is known of it."""
    return value.kind == Kind.UNKNOWN and value.grad == Tri.NO


def is_from_loader(value: Value) -> bool:
    """Whether a tensor comes out of a loop over a loader: nobody else has to do with it, by convention."""
    is_tensor = value.kind & Kind.TENSOR and not value.kind & ~(Kind.TENSOR | Kind.UNKNOWN)
    return bool(is_tensor) and value.grad == Tri.NO and is_part_of_batch(value)


def is_part_of_batch(value: Value) -> bool:
    """Whether a value comes out of a loop over a loader, whatever else it may be."""
    if any(symbol.origin is Origin.BATCH for symbol in value.symbols):
        return True
    return value.evidence is not None and value.evidence.text == FROM_LOADER


def part_of_batch(node: cst.CSTNode) -> Value:
    """An element of a batch, taken from it at a node: a tensor by convention."""
    return tensor(Tri.NO, evidence=Evidence(Strength.CONVENTION, FROM_LOADER, node))


def collated(sample: Value, node: cst.CSTNode) -> Value:
    """What ``default_collate`` makes of samples for the loader made at a node.

    Numbers and arrays become tensors, containers stay what they are. An object of another library is an array of it
    (what an image is read as), or something that holds such: all else raises, None too.
    """
    if sample.kind & Kind.NONE and sample.kind != Kind.NONE:
        sample = replace(sample, kind=sample.kind & ~Kind.NONE)
    if sample.kind & Kind.CONTAINER:
        if sample.kind & Kind.UNKNOWN and sample.keys is None and not _may_have_graph(sample):
            return BATCH  # on one path it is a tuple, on another a tensor perhaps: its uses tell which is asked for
        return changed(sample, lambda part: collated(part, node))
    if sample.kind & Kind.UNKNOWN or (sample.kind & Kind.OBJECT and sample.node is None):
        return BATCH
    if sample.kind == Kind.STRING:
        return container(STRING)
    if sample.kind & (Kind.TENSOR | Kind.NUMBER | Kind.NDARRAY):
        return _stacked(sample, node)
    return replace(sample, symbols=())


def _may_have_graph(sample: Value) -> bool:
    """Whether anything in a sample may be a tensor with a graph."""
    if sample.kind & Kind.TENSOR:
        return sample.grad != Tri.NO
    parts = (sample.item, *(sample.items or ()))
    return any(_may_have_graph(part) for part in parts if part is not None)


def _stacked(sample: Value, node: cst.CSTNode) -> Value:
    is_tensor = sample.kind == Kind.TENSOR
    grad = Tri.MAYBE if is_tensor and sample.grad == Tri.YES else Tri.NO
    kind = sample.kind & ~(Kind.NUMBER | Kind.NDARRAY) | Kind.TENSOR
    dtype = sample.dtype if is_tensor else Dtype.ANY
    evidence = Evidence(Strength.CONVENTION, FROM_LOADER, node)
    return replace(tensor(grad, Ndim.MORE, dtype, evidence=evidence), kind=kind)


def subset(dataset: Value) -> Value:
    """Part of a data set: it yields the same."""
    return Value(Kind.OBJECT, ref="torch.utils.data.Subset", item=held(dataset))


def of_tensors(tensors: list[Value]) -> Value:
    """What a ``TensorDataset`` yields: a row of each."""
    rows = [
        tensor(t.grad, Ndim.ANY, t.dtype, evidence=t.evidence) if t.kind & Kind.TENSOR else UNKNOWN for t in tensors
    ]
    return container(items=tuple(rows))
