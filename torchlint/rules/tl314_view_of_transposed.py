r"""A transposed tensor, or a slice, has no view of fewer dimensions.

`view` needs memory in the order of the dimensions. Behind `t()`, `transpose` or `permute` it is in another order, so
flattening raises, whatever the sizes are, as long as they are not one. Results of comparisons keep that order since
PyTorch 1.5, so the `correct[:k].view(-1)` of many training scripts raises as well. A slice of a dimension that is not
the first one has gaps in memory, so it cannot be flattened with those before it. `reshape` copies where it has to.

```diff run-after
 import torch

 x = torch.rand(2, 3, 4)
-a = x.transpose(1, 2).view(-1)
+a = x.transpose(1, 2).reshape(-1)
-b = x.permute(0, 2, 1).view(2, -1)
+b = x.permute(0, 2, 1).reshape(2, -1)
 c = x.permute(0, 2, 1).view(2, 4, 3, 1)
 d = x.transpose(1, 2).contiguous().view(-1)

 scores, labels = torch.rand(5, 10), torch.arange(5)
 _, best = scores.topk(3)
 best = best.t()
 correct = best.eq(labels.view(1, -1).expand_as(best))
-top = correct[:3].view(-1).float().sum()
+top = correct[:3].reshape(-1).float().sum()
 first = correct[:1].view(-1).float().sum()

 column = scores.argmax(1, keepdim=True)
 e = column.t().view(-1), scores.unsqueeze(1).transpose(1, 2).view(-1)
```

```diff run-after
 import torch

 x, targets = torch.rand(4, 5, 6), torch.zeros(4, 5)
-a = targets[:, 1:].view(-1)
+a = targets[:, 1:].reshape(-1)
-b = x[:, :-1].view(-1, x.size(-1))
+b = x[:, :-1].reshape(-1, x.size(-1))
 shifted = x[:, 1:, :]
-c = shifted.view(-1)
+c = shifted.reshape(-1)
 d = shifted.view(4, -1), x[1:].view(-1), x[0, 1:].view(-1), x[:, :].view(-1), x[:, [1, 2]].view(-1)
 e = (x[:, 1:] * 2).view(-1), x[:, 1:].contiguous().view(-1), x[:, :, 1:].view(-1, 5)
```

```diff
 import numpy as np
 import torch

 def f(x: torch.Tensor, h, w, size, flip):
     image = x.transpose(1, 2).view(len(x), -1, h, w)
     heads = x.permute(1, 0, 2, 3).view(h, len(x), -1)
     sized = x.t().view(size)
     if flip:
         x = x.t()
     return x.view(-1), x.t().view(torch.int32)

 n = np.ones((2, 3)).transpose(1, 0).view(-1)
```

## When the fix is unsafe

Never: `reshape` is a view wherever `view` did not raise.

`Tensor.view`: <https://docs.pytorch.org/docs/stable/generated/torch.Tensor.view.html>.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

import libcst as cst

from torchlint import edit
from torchlint.model import Kind, Model, Ndim
from torchlint.model.bindings import last_assigned
from torchlint.model.syntax import assigned_value, integer
from torchlint.rule import Finding, Fix, Group, Severity, all_of, any_of, on, pattern
from torchlint.rules.shared import sizes, slices
from torchlint.rules.shared.statements import is_probed

GROUP = Group.CORRECTNESS
SEVERITY = Severity.ERROR

_FAR = 3
"""How many names are gone back."""
_KEEPING = frozenset(
    """
    eq ne lt le gt ge float double half long int bool byte abs neg exp log sigmoid tanh relu detach clone cpu cuda to
    """.split()  # noqa: SIM905
)
"""Methods whose results have their memory in the order of what they are called on."""


_IN_ORDER = frozenset(
    """
    contiguous reshape view flatten unflatten cat stack matmul bmm mm addmm baddbmm einsum
    """.split()  # noqa: SIM905
)
"""What makes a tensor in the order of its dimensions, whatever the order of what it is given."""

_TRANSPOSING = frozenset(("t", "transpose", "swapaxes", "swapdims", "permute"))


@on(
    cst.Call,
    trigger=all_of(
        pattern(r"\. view \("),
        any_of(
            pattern(r"\. t \( \)"),
            pattern(r"\btranspose \("),
            pattern(r"\bpermute \("),
            pattern(r"\bswap(?:axes|dims) \("),
            pattern(r", (?:-? \d\w* )?:"),
        ),
    ),
)
def check(node: cst.Call, model: Model) -> Finding | None:
    """Report `x.t().view(-1)` and `x[:, 1:].view(-1)`."""
    if not isinstance(node.func, cst.Attribute) or node.func.attr.value != "view":
        return None
    count = _dimensions(node.args)
    if count is None:
        return None
    is_transposed = _breaks(node.func.value, model) >= count
    if not is_transposed and not _is_cut(node, count, model):
        return None
    value = model.value(node.func.value)
    if not value.is_tensor or value.ndim == Ndim.ONE or is_probed(node, model):
        return None
    what = "a transposed tensor" if is_transposed else "a slice with gaps in memory"
    said = f"{what} cannot be viewed in fewer dimensions: this mostly raises; use `reshape`"
    fix = Fix("Use `reshape`", (edit.replace(node.func.attr, "reshape"),))
    return Finding(node.func.attr, said, fix, receiver=node.func.value)


def _dimensions(args: Sequence[cst.Arg]) -> int | None:
    """How many dimensions a view is to have; None if that is not seen."""
    if any(arg.star or arg.keyword is not None for arg in args):
        return None
    if len(args) == 1:
        return 1 if integer(args[0].value) is not None else None
    return len(args) or None


def _is_cut(view: cst.Call, count: int, model: Model) -> bool:
    """Whether a view of so many dimensions is one of a slice that has too many gaps in memory for that."""
    assert isinstance(view.func, cst.Attribute)
    taken: cst.BaseExpression | None = view.func.value
    if isinstance(taken, cst.Name):
        taken = model.ask(last_assigned, taken)
    if not isinstance(taken, cst.Subscript):
        return False
    single = sizes.single(taken.value, model)
    gaps = slices.gaps(taken, single) if single is not None and min(single, default=0) >= 0 else 0
    if not gaps or count <= gaps:
        return bool(gaps)
    last = view.args[-1].value
    return count - 1 <= gaps and (integer(last) == 1 or slices.is_last_size(last, taken, model))


def _breaks(node: cst.BaseExpression, model: Model) -> int:
    """How many neighbouring dimensions at least are no neighbours in memory, by how an expression is written."""
    found = _order(node, model)
    if found is None or not found.exchanged:
        return 0
    order, single = found.exchanged, sizes.single(found.source, model)
    if single is None or any((each < 0) != (max(order) < 0) for each in single):
        return 0
    dimensions = range(min(0, *order) if max(order) < 0 else 0, max(order) + 1)
    places = [place for each in dimensions if (place := order.get(each, each)) not in single]
    ranks = {place: rank for rank, place in enumerate(sorted(places))}
    return sum(ranks[b] != ranks[a] + 1 for a, b in pairwise(places))


class _Order(NamedTuple):
    """How the dimensions of a tensor lie in memory."""

    exchanged: dict[int, int]
    """Which dimension of the source those are that were exchanged."""
    source: cst.BaseExpression
    """What is transposed: made by anything else, it counts as made in the order of its dimensions."""


def _order(node: cst.BaseExpression, model: Model, far: int = _FAR) -> _Order | None:
    """Which dimension in memory those of a tensor are that were exchanged; None if that is not known."""
    match node:
        case cst.Call(func=layer) if model.value(layer).kind == Kind.MODULE:
            return _made(node, None, model, far)  # whatever its name is
        case cst.Call(func=cst.Attribute(value=inner, attr=cst.Name(value=name)), args=args) if name in _KEEPING:
            return _order(args[0].value if sizes.is_module(inner) and args else inner, model, far)
        case cst.Call(func=cst.Attribute(value=inner, attr=cst.Name(value=name)), args=args):
            exchanged = _exchanged(name, [integer(arg.value) for arg in args])
            if exchanged == {}:
                return _made(node, name, model, far)
            before = _order(inner, model, far) if exchanged is not None else None
            composed = _composed(before.exchanged, exchanged) if before is not None and exchanged is not None else None
            return _Order(composed, before.source) if before is not None and composed is not None else None
        case cst.Comparison(left=left):
            return _order(left, model, far)
        case cst.Subscript(value=inner, slice=[cst.SubscriptElement(slice=cst.Slice(step=None) as taken)]):
            return None if slices.only(taken) is not None else _order(inner, model, far)
        case cst.Name() if far:
            assigned = model.ask(last_assigned, node)
            if assigned is not None:
                return _order(assigned, model, far - 1)
            first = model.remember(_first_transposed, node.value, model.scopes.scope_of(node))
            is_before = first is None or model.tree.order(model.tree.statement(node)) < first
            return _Order({}, node) if is_before else None
        case cst.Call(func=cst.Name(value=name)):
            return _made(node, name, model, far)
        case cst.BinaryOperation():
            return _made(node, None, model, far)
    return _Order({}, node)


def _made(node: cst.Call | cst.BinaryOperation, name: str | None, model: Model, far: int) -> _Order | None:
    """The order of what an operation makes: that of its operands, as much of torch does, so only if they are in order.

    Convolutions, pooling and `interpolate` keep the order of channels, arithmetic that of any dimensions.
    """
    if name in _IN_ORDER:
        return _Order({}, node)
    given = [arg.value for arg in node.args] if isinstance(node, cst.Call) else [node.left, node.right]
    if isinstance(node, cst.Call) and isinstance(node.func, cst.Attribute):
        given.append(node.func.value)
    orders = (_order(each, model, far) for each in given)
    return _Order({}, node) if all(each is not None and not each.exchanged for each in orders) else None


def _exchanged(name: str, dimensions: list[int | None]) -> dict[int, int] | None:
    """The dimensions that a method exchanges: none if it is another one, None if they are not written there."""
    if name == "t":
        return {0: 1, 1: 0}
    if name not in _TRANSPOSING:
        return {}
    known = [each for each in dimensions if each is not None]
    if len(known) < len(dimensions) or not known:
        return None
    if name == "permute":
        return dict(enumerate(known)) if min(known) >= 0 else None
    return {known[0]: known[-1], known[-1]: known[0]} if (min(known) < 0) == (max(known) < 0) else None


def _composed(before: dict[int, int], exchanged: dict[int, int]) -> dict[int, int] | None:
    """The order behind two transpositions; None where only one of them counts dimensions from the end."""
    if before and (min(before) < 0) != (min(exchanged, default=0) < 0):
        return None
    return {**before, **{to: before.get(each, each) for to, each in exchanged.items()}}


def _first_transposed(model: Model, name: str, scope: cst.FunctionDef | cst.Module) -> int | None:
    """Where a name is first assigned a transposed tensor in its scope."""
    for target in model.targets(name, scope):
        value = assigned_value(target, model.tree)
        calls = model.tree.within(value, cst.Call) if value is not None else []
        if any(isinstance(call.func, cst.Attribute) and call.func.attr.value in _TRANSPOSING for call in calls):
            return model.tree.order(target)
    return None
