r"""A tensor is computed and dropped: methods without an underscore return a new one.

`x.to(device)` does not move `x`, `x.clamp(0, 1)` does not clamp it: the result is another tensor, and as a statement it
is dropped. Only methods that end in `_` change the tensor itself, and only a module is moved in place by `.to()`.

```diff run-differs
 import torch
 import torch.nn.functional as F

 x = torch.tensor([-1.0, 2.0])
~x.clamp(0, 1)
+x = x.clamp(0, 1)
~x.unsqueeze(0)
+x = x.unsqueeze(0)
!F.relu(x)
!torch.cat([x, x])
 x.add_(1)
 F.relu(x, inplace=True)
 torch.sub(x, 1, out=x)
```

What is moved in a loop over a loader, and a network that is wrapped or compiled, but not by that name:

```diff
 import torch
 from torch import nn
 from torch.utils.data import DataLoader

 def train(net: nn.Module, loader: DataLoader, device):
     net.to(device)
!    nn.DataParallel(net)
!    torch.compile(net)
     for images, labels in loader:
~        images.to(device)
+        images = images.to(device)
~        labels.to(device, non_blocking=True)
+        labels = labels.to(device, non_blocking=True)
         (net(images) - labels).sum().backward()
```

A parameter is changed in place, and a name of a scope around is not assigned here: there is no fix.

```diff
 import torch
 from torch import nn

 mask = torch.zeros(3)

 class Net(nn.Module):
     def __init__(self):
         super().__init__()
         self.scale = nn.Parameter(torch.ones(3))
         self.shift = torch.zeros(3)

     def constrain(self, device):
!        self.scale.clamp(0, 1)
~        self.shift.clamp(0, 1)
+        self.shift = self.shift.clamp(0, 1)
!        mask.to(device)

 def clip(critic: nn.Module):
     with torch.no_grad():
         for p in critic.parameters():
!            p.clamp(-0.01, 0.01)
         for name, q in critic.named_parameters():
!            q.data.clamp(-0.01, 0.01)

 class Decaying(torch.optim.Optimizer):
     def step(self, closure=None):
         for group in self.param_groups:
             for p in group["params"]:
!                p.data.add(p.data, alpha=-group["lr"])
```

Nor is there one where several tensors come out, where a leaf is to stay one, for a property, and where nothing would
read what is assigned: a loop binds its variable anew, and what it goes through stays as it is.

```diff run-differs
 import torch

 def best(x: torch.Tensor):
!    x.max(1)
!    x.sort()
!    x.chunk(2)
~    x.max()
+    x = x.max()
     return x + 1

 class Holder:
     @property
     def value(self):
         return torch.ones(2)

     def double(self):
!        self.value.mul(2)

 w = torch.ones(3, requires_grad=True)
!w.mul(2)
 optimizer = torch.optim.SGD([w], lr=0.1)
 best(torch.ones(2, 2))
 Holder().double()
 xs = [torch.ones(2), torch.zeros(2)]
 for x in xs:
!    x.add(1)
 for x in xs:
~    x.add(1)
+    x = x.add(1)
     print(x)
```

What is not known to be a tensor may be moved in place. What is only tried, timed or run to warm a device up, is done
for something else than its result:

```diff
 import time
 import torch
 import torch.nn.functional as F

 def move(batch, model, device):
     batch.to(device)
     model.to(device)
     batch.boxes.clamp(0, 1)

 def probe(x: torch.Tensor):
     try:
         x.cuda()
     except RuntimeError:
         return False
     for _ in range(10):
         F.relu(x)
     start = time.perf_counter()
     for _ in range(100):
         F.relu(x)
     return time.perf_counter() - start

 torch.zeros(1, device="cuda")
 torch.ones(1).cuda()
 torch.rand(10)
```

Arithmetic is dropped as well. What is meant, `x = x * 2` or another name, is not known:

```diff run
 import torch

 def scale(x: torch.Tensor, low, high):
     x = x / x.std()
!    x * 0.2
!    x.mean() - torch.log(x.abs())
     if len(x) > 1: y = 1
!    if len(x) > 1: x[0] + 1
     low * high
     low >> high
     for _ in range(3):
         x @ x
     try:
         x @ x
     except RuntimeError:
         x = x.unsqueeze(0)
     return (
         x
         + 1
     )

 def load(x: torch.Tensor):
     x * x

 value = scale(torch.tensor([1.0, 2.0]), 1, 2)
```

A test may do no more than call something. What it moves and goes on with, and what is only compiled when it is called,
is a mistake there, too:

```diff
 import pytest
 import torch

 def test_layer(layer):
     x, y = torch.ones(2, 2), torch.ones(2, 3)
~    x.cuda()
+    x = x.cuda()
!    torch.compile(layer)
     torch.inverse(x)
     x.sum()
     x * 2
     with pytest.raises(RuntimeError):
         y.cuda()
     out = layer(x)
     assert out.shape == y.shape
     out.cuda()
```

## When the fix is unsafe

Always: the program goes on with another tensor then, which is what was meant, or the line was needless. For a function
there is no fix, for what is to be done with the result is not known.

In-place and out-of-place: <https://docs.pytorch.org/docs/stable/tensors.html>.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

import libcst as cst

from torchlint import edit
from torchlint.model import Evidence, Kind, Model, Role, Strength, Tri, Value
from torchlint.model.bindings import owner
from torchlint.model.interpret.loaders import is_from_loader
from torchlint.model.syntax import dotted, keyword, last_name, root
from torchlint.model.torch import library
from torchlint.model.torch.schema import (
    OverloadResult,
    PlainResult,
    SeveralResults,
    TensorResult,
    TorchResult,
    TupleResult,
)
from torchlint.model.torch.writers import function_writes
from torchlint.rule import Applicability, Finding, Fix, Group, Severity, all_of, any_of, on, pattern, word
from torchlint.rules.shared import gradients
from torchlint.rules.shared.displays import is_display
from torchlint.rules.shared.read_after import is_read_after
from torchlint.rules.shared.run_only import is_in_test, is_load, is_run_only

GROUP = Group.CORRECTNESS
SEVERITY = Severity.ERROR

_STATEMENT = pattern(
    r"(?m)(?:^|[\r;]|(?:^|\r)(?![\t\x20]*[\"'])[^\r\n{]*:)[\t\x20(]*"
    r"(?:\w+\b (?:\[[^\]\n]*\] )*\. )*(?=\w+ \()(?#names)(?:"
    r"abs|absolute|acos|add|addcdiv|addcmul|addmm|all|amax|amin|any|argmax|argmin|argsort|asin|as_strided|atan|atan2|"
    r"avg_pool2d|baddbmm|bernoulli|bfloat16|binary_cross_entropy|binary_cross_entropy_with_logits|bitwise_and|"
    r"bitwise_not|bitwise_or|bitwise_xor|bmm|bool|broadcast_to|byte|cat|ceil|char|chunk|clamp|clamp_max|clamp_min|clip|"
    r"clone|coalesce|compile|concat|concatenate|conj|contiguous|conv1d|conv2d|copysign|cos|cosh|cosine_similarity|cpu|"
    r"cross_entropy|cuda|cummax|cumprod|cumsum|DataParallel|detach|diag|diagonal|DistributedDataParallel|div|divide|"
    r"double|dropout|dropout1d|dropout2d|dropout3d|einsum|elu|embedding|eq|erf|exp|expand|expand_as|expm1|fill|flatten|"
    r"flip|float|floor|floor_divide|fmod|from_numpy|full|gather|ge|gelu|grid_sample|gt|half|hardtanh|index_add|"
    r"index_copy|index_fill|index_put|index_select|int|interpolate|inverse|kl_div|l1_loss|layer_norm|le|leaky_relu|"
    r"lerp|linear|log|log10|log1p|log2|log_softmax|logical_and|logical_not|logical_or|logsigmoid|logsumexp|long|lt|"
    r"masked_fill|masked_scatter|masked_select|matmul|max|max_pool2d|maximum|mean|median|min|minimum|mish|mm|movedim|"
    r"mse_loss|mul|multiply|nan_to_num|narrow|ne|neg|negative|nll_loss|nonzero|norm|normalize|ones|one_hot|pad|permute|"
    r"pin_memory|pow|prod|reciprocal|relu|relu6|remainder|renorm|repeat|repeat_interleave|reshape|reshape_as|roll|rot90|"
    r"round|rsqrt|scatter|scatter_add|scatter_reduce|select|selu|short|sigmoid|sign|silu|sin|sinh|smooth_l1_loss|"
    r"softmax|softmin|softplus|sort|sparse_mask|split|sqrt|square|squeeze|stack|std|sub|subtract|sum|swapaxes|swapdims|"
    r"t|take|tan|tanh|tensor|threshold|tile|to|to_dense|to_sparse|topk|transpose|tril|triu|true_divide|trunc|type|"
    r"type_as|unbind|unflatten|unfold|unique|unsqueeze|var|view|view_as|vstack|where|zeros|zeros_like)\b \("
)
"""A statement that begins with the call of one of these."""

_NAMES = frozenset(re.findall(r"\w+", str(_STATEMENT).partition("(?#names)(?:")[2].partition(")")[0]))

_WRAPPERS = frozenset(
    (
        "torch.compile",
        "torch.nn.DataParallel",
        "torch.nn.parallel.DataParallel",
        "torch.nn.parallel.DistributedDataParallel",
    )
)
"""What gives another network."""

_YIELDING = frozenset(("parameters", "named_parameters", "buffers", "named_buffers"))

_MOVING = frozenset(
    """
    bfloat16 bool byte char cpu cuda double float half int long short to type
    """.split()  # noqa: SIM905
)
"""What gives the same numbers on another device or in another dtype."""

_ARITHMETIC = all_of(
    pattern(
        r"(?m)(?:^|[\r;]|(?:^|\r)(?![\t\x20]*[\"'])[^\r\n{]*:)[\t\x20(]*"
        r"(?:\w+\b (?:\[[^\]\n]*\] )*\. )*\w+ (?:\[[^\]\n]*\] )*(?:\*\*|//|<<|>>|[-+*/@%&|^])(?!=)"
    ),
    word("torch"),
)
"""A statement that may begin with a name, or a part of what it stands for, and an operator."""


@on(cst.Expr, trigger=_STATEMENT)
def check(node: cst.Expr, model: Model) -> Iterator[Finding]:
    """Report statements that compute tensors."""
    match node.value:
        case cst.Call() as call:
            calls = [call]
        case cst.Tuple(elements=elements):
            calls = [each.value for each in elements if isinstance(each.value, cst.Call)]
            calls = calls if len(calls) == len(elements) else []
        case _:
            calls = []
    for call in calls:
        found = _finding(node, call, model)
        if found is not None:
            yield found


@on(cst.Expr, trigger=any_of(_ARITHMETIC, _STATEMENT))
def check_arithmetic(node: cst.Expr, model: Model) -> Finding | None:
    """Report arithmetic with tensors that nothing is done with: `x * 2`."""
    computed = node.value
    if not isinstance(computed, cst.BinaryOperation) or not _begins_with_an_operand(computed, model):
        return None
    if model.tree.is_shown(node) or is_run_only(node, model) or is_in_test(node, model):
        return None
    if not model.is_tensor(computed) or is_load(node, model):
        return None
    operator = model.tree.code(type(computed.operator)()).strip()  # as it is written usually
    return Finding(computed, f"`{operator}` computes a new tensor, which is dropped")


def _begins_with_an_operand(node: cst.BinaryOperation, model: Model) -> bool:
    """Whether what stands first is a name, a path, a part of one, or a call that is looked for."""
    first: cst.BaseExpression = node
    while isinstance(first, cst.BinaryOperation):
        first = first.left
    if isinstance(first, cst.Call):
        return _begins_with_a_name(first, model)
    return "\n" not in model.tree.code(first) and root(first) != ""


def _finding(node: cst.Expr, call: cst.Call, model: Model) -> Finding | None:
    """What is to be said of a call whose result a statement drops."""
    func = call.func
    if not isinstance(func, (cst.Name, cst.Attribute)):
        return None
    if last_name(func) not in _NAMES or not _begins_with_a_name(call, model) or model.tree.is_shown(node):
        return None
    if isinstance(func, cst.Attribute) and is_display(func.value, model):
        return None  # a set has `add`, and a list `sort`
    ref = model.qualified(func)
    if ref is not None:
        if not _gives_tensor(ref, call) or is_run_only(node, model):
            return None
        if is_in_test(node, model) and ref != "torch.compile":  # that compiles nothing before it is called
            return None
        return Finding(func, f"the result of `{ref}` is dropped")
    if not isinstance(func, cst.Attribute) or not _is_method(func, call, model) or _is_factory(func.value, model):
        return None
    if is_run_only(node, model) or (is_in_test(node, model) and not _prepares(func, model)):
        return None
    name = func.attr.value
    given = "a new tensor, which is" if _gives_one(call, func, model) else "new tensors, which are"
    said = f"`.{name}()` returns {given} dropped; the old one stays as it is"
    return Finding(func.attr, said, _fix(node, call, func, model), receiver=func.value)


def _begins_with_a_name(call: cst.Call, model: Model) -> bool:
    """Whether the first call of a chain is one of those that are looked for, on a name or path."""
    node: cst.BaseExpression = call
    while isinstance(node, (cst.Call, cst.Attribute, cst.Subscript)):
        if isinstance(node, cst.Call):
            call, node = node, node.func
        elif isinstance(node, cst.Subscript):
            if re.search(r"[\]\n]", model.tree.code(node)[:-1].rpartition("[")[2]):
                return False
            node = node.value
        else:
            node = node.value
    return isinstance(node, cst.Name) and last_name(call.func) in _NAMES


def _gives_tensor(ref: str, call: cst.Call) -> bool:
    """Whether a function of torch computes tensors and does nothing else."""
    if ref in _WRAPPERS:
        return bool(call.args)
    result = library.function(ref)
    if not _is_tensor_result(result) or ref.endswith("_") or ref.startswith(("torch.nn.init.", "torch.nn.utils.")):
        return False
    if keyword(call.args, "device") is not None or keyword(call.args, "out") is not None:
        return False
    return not any(function_writes(ref, arg, call, ()) for arg in call.args)


def _is_tensor_result(result: TorchResult | None) -> bool:
    match result:
        case None | PlainResult():
            return False
        case TensorResult():
            return not result.is_input
        case TupleResult(items=items):
            return all(map(_is_tensor_result, items))
        case SeveralResults(item=item):
            return _is_tensor_result(item)
        case OverloadResult(cases=cases):
            return all(map(_is_tensor_result, cases.values()))


def _is_method(func: cst.Attribute, call: cst.Call, model: Model) -> bool:
    """Whether a method of a proven tensor is called that gives another tensor."""
    is_cast = func.attr.value == "type" and bool(call.args)  # without an argument it gives a string
    if not is_cast and not _is_tensor_result(library.method(func.attr.value)):
        return False
    if any(keyword(call.args, name) is not None for name in ("out", "inplace")):
        return False
    return _is_proved(model.value(func.value)) or _is_proved(model.value(_without_data(func.value)))


def _prepares(func: cst.Attribute, model: Model) -> bool:
    """Whether a tensor is moved or cast, and used afterwards: the call is not what is tested."""
    return func.attr.value in _MOVING and isinstance(func.value, cst.Name) and is_read_after(func.value, model)


def _without_data(node: cst.BaseExpression) -> cst.BaseExpression:
    """`p` of `p.data`, which is a tensor where `p` is one."""
    return node.value if isinstance(node, cst.Attribute) and node.attr.value == "data" else node


def _is_proved(value: Value) -> bool:
    """Whether a value is a tensor by an annotation, by what torch says, or because a loader gives it."""
    if value.kind != Kind.TENSOR:
        return is_from_loader(value) or (value.kind == Kind.TENSOR | Kind.UNKNOWN and _comes_from_loader(value))
    if (value.strength or Strength.NAME) >= Strength.ANNOTATION or is_from_loader(value):
        return True
    return value.role == Role.PARAMETER or _is_of_module(value)


def _is_of_module(value: Value) -> bool:
    """Whether a value is what a module yields as its parameters or buffers, or was made of that."""
    match value.evidence:
        case Evidence(node=cst.Call(func=func)):
            return last_name(func) in _YIELDING
    return False


def _comes_from_loader(value: Value) -> bool:
    return value.evidence is not None and "data loader" in value.evidence.text


def _is_factory(node: cst.BaseExpression, model: Model) -> bool:
    """Whether a tensor is made on the spot, so that it is its device that is wanted."""
    if not isinstance(node, cst.Call) or not isinstance(node.func, (cst.Name, cst.Attribute)):
        return False
    result = library.function(model.qualified(node.func))
    return isinstance(result, TensorResult) and result.grad in ("factory", "never")


def _fix(node: cst.Expr, call: cst.Call, func: cst.Attribute, model: Model) -> Fix | None:
    """`x = x.to(d)` of a name or an attribute of `self`; the other way is to do without the line.

    A gradient is written in place, `p.grad.clamp_(-1, 1)`.
    """
    in_place = f"{func.attr.value}_"
    if node.value is call and gradients.is_gradient(model.value(func.value), func.value, model):
        if library.method(in_place) is not None and not library.is_always_view(func.attr.value):
            written = (edit.replace(func.attr, in_place),)
            risk = "the gradient changes now, which stayed as it was"
            return Fix(f"Write in place, with `.{in_place}(…)`", written, Applicability.UNSAFE, risk=risk)
    path = dotted(func.value) if node.value is call else None
    if path is None or path.count(".") > path.startswith("self.") or call.lpar or func.lpar or func.value.lpar:
        return None
    if not _gives_one(call, func, model) or not _may_be_assigned(func.value, model):
        return None
    if isinstance(func.value, cst.Name) and not is_read_after(func.value, model):
        return None
    remove = edit.remove_statement(model.tree, node)
    assigned = Fix("Assign it", (edit.insert_before(call, f"{path} = "),)).doubted(
        "what follows uses the result, which was dropped so far"
    )
    if remove is None:
        return assigned
    removed = Fix("Remove the line, if the result is not wanted", (remove,))
    return replace(assigned, alternatives=(removed.doubted("an error that the line raises is no longer raised"),))


def _gives_one(call: cst.Call, func: cst.Attribute, model: Model) -> bool:
    """Whether a method gives one tensor, called like this: `x.max(1)`, `x.sort()` and `x.chunk(2)` give several."""
    result = library.method(func.attr.value)
    return isinstance(result, TensorResult) or (func.attr.value == "type") or model.value(call).kind == Kind.TENSOR


def _may_be_assigned(node: cst.BaseExpression, model: Model) -> bool:
    """Whether a tensor may be assigned to what names another one: not to a parameter, nor to a name of a scope around.

    A module takes nothing but parameters where it has one, an optimizer nothing but leaves, and a property may take
    nothing. A name that a function assigns is its own in all of it.
    """
    value = model.value(node)
    if value.role == Role.PARAMETER or (value.grad == Tri.YES and value.leaf != Tri.NO):
        return False
    if isinstance(node, cst.Name):
        return model.ask(owner, node) is model.scopes.scope_of(node)
    cls = model.tree.enclosing(node, cst.ClassDef)
    return not isinstance(cls, cst.ClassDef) or model.find_method(cls, last_name(node)) is None
