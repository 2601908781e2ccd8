r"""Losses and elements have no dimension since PyTorch 0.4; what goes with them must have none, or be given one.

Before 0.4 a loss had one dimension, and so had the gradient that some programs give to `backward`. An element of a
tensor of labels had one as well, and was the batch of one for a loss. And binary cross entropy took a target with
fewer dimensions than what is judged, as long as it had as many elements. All that raises today.

```diff run-after
 import torch
 from torch import nn

 net = nn.Linear(3, 1)
 one = torch.FloatTensor([1])
 mone = one * -1
~net(torch.ones(4, 3)).mean().backward(one)
+net(torch.ones(4, 3)).mean().backward(one[0])
 loss = net(torch.zeros(4, 3)).mean()
~loss.backward(mone, retain_graph=True)
+loss.backward(mone[0], retain_graph=True)
-loss.backward(torch.ones(1))
+loss.backward()
 kept = net(torch.zeros(4, 3)).mean(0)
 kept.backward(mone)
```

```diff run-after
 import torch
 import torch.nn.functional as F
 from torch import nn

 scores, labels = torch.randn(3, 1, 4), torch.LongTensor([1, 3, 0])
 criterion = nn.CrossEntropyLoss()
 loss = 0
 for i in range(3):
~    loss += criterion(scores[i].view(1, -1), labels[i])
+    loss += criterion(scores[i].view(1, -1), labels[i].unsqueeze(0))
     loss += criterion(scores[i].view(-1), labels[i])
     batch = labels[i : i + 1]
     loss += criterion(scores[i].view(1, -1), batch)
~    loss += F.nll_loss(F.log_softmax(scores[i].view(1, -1), 1), labels[i])
+    loss += F.nll_loss(F.log_softmax(scores[i].view(1, -1), 1), labels[i].unsqueeze(0))
```

```diff run-after
 import torch
 from torch import nn

 inputs, labels = torch.eye(4), torch.LongTensor([1, 3, 0, 2])
 cell = nn.RNN(4, 4, batch_first=True)
 criterion = nn.CrossEntropyLoss()
 loss = 0
 for x, label in zip(inputs, labels):
     out, _ = cell(x.view(1, 1, 4))
~    loss += criterion(out.view(-1, 4), label)
+    loss += criterion(out.view(-1, 4), label.unsqueeze(0))
```

```diff run-after
 import torch
 import torch.nn.functional as F
 from torch import nn

 net = nn.Sequential(nn.Linear(3, 2), nn.LeakyReLU(0.2), nn.Linear(2, 1), nn.Sigmoid())
 criterion = nn.BCELoss()
 images = torch.rand(4, 9)
 images = images[:, :3].contiguous().view(images.size(0), -1)
 real, fake = torch.ones(images.size(0)), torch.zeros(4, 1)
 outputs = net(images)
~loss = criterion(outputs, real)
+loss = criterion(outputs, real.reshape_as(outputs))
~loss += criterion(outputs, torch.zeros(4))
+loss += criterion(outputs, torch.zeros(4).reshape_as(outputs))
 loss += criterion(outputs, fake) + criterion(outputs.squeeze(1), real) + criterion(outputs.view(-1), real)
~loss += F.binary_cross_entropy_with_logits(outputs, target=1 - real)
+loss += F.binary_cross_entropy_with_logits(outputs, target=(1 - real).reshape_as(outputs))
~loss += criterion(net(images).view(-1), fake)
+loss += criterion(net(images).view(-1), fake.reshape(-1))
```

A gradient with several elements for one loss is no gradient of that time; it has no fix:

```diff
 import torch

 def f(x: torch.Tensor, weights):
     loss = x.sum()
!    loss.backward(torch.ones(2))
     loss.backward(torch.ones_like(loss))
     loss.backward(weights)
     loss.backward(None)
```

## When the fix is unsafe

Always but where a gradient of one is left out: dimensions are known as far as it is seen what happens to the tensor,
and a function that is given it may change them in place. In a `try` there is no finding.

Migration guide of 0.4: <https://pytorch.org/blog/pytorch-0_4_0-migration-guide/>.
"""

from __future__ import annotations

from collections.abc import Sequence

import libcst as cst

from torchlint import edit
from torchlint.model import Kind, Model, Ndim, Strength
from torchlint.model.syntax import keyword
from torchlint.rule import (
    Applicability,
    Edit,
    Finding,
    Fix,
    Group,
    Severity,
    all_of,
    any_of,
    attribute,
    on,
    pattern,
    word,
)
from torchlint.rules.shared import losses, one_element
from torchlint.rules.shared.statements import is_probed

GROUP = Group.MIGRATION
SEVERITY = Severity.ERROR

_OF_CLASSES = frozenset(
    (
        "torch.nn.CrossEntropyLoss",
        "torch.nn.NLLLoss",
        "torch.nn.functional.cross_entropy",
        "torch.nn.functional.nll_loss",
    )
)
"""Losses whose target is the number of a class for each row of the input."""
_OF_SHAPES = frozenset(
    (
        "torch.nn.BCELoss",
        "torch.nn.BCEWithLogitsLoss",
        "torch.nn.functional.binary_cross_entropy",
        "torch.nn.functional.binary_cross_entropy_with_logits",
    )
)
"""Losses whose target has the shape of the input, else they raise."""


def _last_names(losses: frozenset[str]) -> frozenset[str]:
    return frozenset(name.rpartition(".")[2] for name in losses)


_NAMES_OF_CLASSES = _last_names(_OF_CLASSES)
_NAMES_OF_SHAPES = _last_names(_OF_SHAPES)


@on(cst.Call, trigger=attribute("backward"))
def check_gradient(node: cst.Call, model: Model) -> Finding | None:
    """Report `loss.backward(torch.ones(1))` of a loss without a dimension."""
    match node:
        case cst.Call(func=cst.Attribute(value=loss, attr=cst.Name("backward")), args=[first, *rest]):
            given = first if first.keyword is None else keyword(node.args, "gradient")
        case _:
            return None
    if given is None or given.star or not _has_none(loss, model) or not _has_dimensions(given.value, model):
        return None
    if is_probed(node, model):
        return None
    said = "a loss has no dimension since PyTorch 0.4, and its gradient must have none: this raises"
    return Finding(given, said, _gradient_fix(node, given, rest, model), receiver=loss)


def _gradient_fix(node: cst.Call, given: cst.Arg, rest: Sequence[cst.Arg], model: Model) -> Fix | None:
    if one_element.is_one(given.value) and all(arg.keyword is not None for arg in rest):
        return Fix("Remove it: the gradient of a loss is one", (edit.remove_argument(node, given),))
    if not one_element.is_made_of_one(given.value, model):
        return None
    return _risky("Pass the element, without its dimension", edit.append(given.value, "[0]"))


@on(
    cst.Call,
    trigger=any_of(
        word("cross_entropy"),
        word("nll_loss"),
        all_of(pattern(r"\w \("), any_of(word("CrossEntropyLoss"), word("NLLLoss"))),
    ),
)
def check_target(node: cst.Call, model: Model) -> Finding | None:
    """Report `criterion(scores, labels[i])` where the scores are those of a batch."""
    pair = _judged(node)
    if pair is None or not losses.may_be_one_of(node.func, _NAMES_OF_CLASSES, model):
        return None
    scores, label = pair
    if isinstance(label, cst.Call) or _loss(node, model) not in _OF_CLASSES:
        return None
    if not _has_none(label, model) or not _is_batch(scores, model):
        return None
    if is_probed(node, model):
        return None
    said = "a batch of scores takes a batch of labels, and this element has no dimension: this raises; add one"
    return Finding(label, said, _risky("Add `.unsqueeze(0)`", edit.append(label, ".unsqueeze(0)")), receiver=label)


@on(
    cst.Call,
    trigger=any_of(
        word("binary_cross_entropy"),
        word("binary_cross_entropy_with_logits"),
        all_of(pattern(r"\w \("), any_of(word("BCELoss"), word("BCEWithLogitsLoss"))),
    ),
)
def check_shape(node: cst.Call, model: Model) -> Finding | None:
    """Report `criterion(outputs, target)` where the target has another number of dimensions."""
    pair = _judged(node)
    if pair is None or not losses.may_be_one_of(node.func, _NAMES_OF_SHAPES, model):
        return None
    outputs, target = pair
    if _loss(node, model) not in _OF_SHAPES or is_probed(node, model):
        return None
    given, wanted = _dimensions(target, model), _dimensions(outputs, model)
    if not given or not wanted or given & wanted:
        return None
    said = "the target has another number of dimensions than what is judged: this raises; give it that shape"
    if wanted == Ndim.ONE:
        added = ".reshape(-1)"
    elif isinstance(outputs, cst.Name):
        added = f".reshape_as({outputs.value})"
    else:
        return Finding(target, said, receiver=target)
    return Finding(target, said, _risky(f"Add `{added}`", edit.append(target, added)), receiver=target)


def _risky(message: str, edits: tuple[Edit, ...]) -> Fix:
    """A fix that rests on a number of dimensions, which a function that was given the tensor may change in place."""
    return Fix(message, edits, Applicability.UNSAFE, risk="it raises if a function has changed the dimensions in place")


def _judged(node: cst.Call) -> tuple[cst.BaseExpression, cst.BaseExpression] | None:
    """What a loss judges, and the target that it is given."""
    match node.args:
        case [
            cst.Arg(value=scores, keyword=None, star=""),
            cst.Arg(value=target, star="", keyword=None | cst.Name("target")),
            *_,
        ]:
            return scores, target
    return None


def _loss(node: cst.Call, model: Model) -> str | None:
    """The qualified name of the loss that is called."""
    value = model.value(node.func)
    return value.ref if value.kind == Kind.MODULE else model.qualified(node.func)


def _dimensions(node: cst.BaseExpression, model: Model) -> Ndim:
    """How many dimensions a tensor has, at least one; NEITHER if that is not known."""
    value = model.value(node)
    is_known = value.kind == Kind.TENSOR and (value.strength or 0) > Strength.NAME and not value.ndim & Ndim.ZERO
    return value.ndim if is_known else Ndim.NEITHER


def _has_none(node: cst.BaseExpression, model: Model) -> bool:
    """Whether an expression is a tensor of no dimension, for certain."""
    value = model.value(node)
    return value.is_tensor and value.ndim == Ndim.ZERO and (value.strength or 0) > Strength.NAME


def _has_dimensions(node: cst.BaseExpression, model: Model) -> bool:
    value = model.value(node)
    return value.is_tensor and not value.ndim & Ndim.ZERO


def _is_batch(node: cst.BaseExpression, model: Model) -> bool:
    value = model.value(node)
    return value.is_tensor and not value.ndim & ~Ndim.SEVERAL
