r"""A context manager that is never entered has no effect.

`torch.no_grad()` makes an object that turns gradients off between entering and leaving it. As a statement it is made
and dropped: autograd goes on recording, autocast stays off, DDP synchronises after each `backward()`. It needs a
`with`, or an `@` above a function.

```diff run
 import torch
 from torch import nn

 net = nn.Linear(2, 2)
!torch.no_grad()
 y = net(torch.ones(2))
 assert y.requires_grad
!torch.autocast("cpu", dtype=torch.bfloat16)
 assert net(torch.ones(2)).dtype == torch.float32
!torch.device("meta")
 assert torch.ones(2).device.type == "cpu"
```

`with torch.no_grad:` enters the class itself, which raises:

```diff run-after
 import torch

 w = torch.ones(2, requires_grad=True)
-with torch.no_grad:
+with torch.no_grad():
     y = w * 2
```

`with A and B:` enters only `B`, and `with A or B:` only `A`, for a context is true. A comma enters both:

```diff run-differs
 import torch

 flag = True
 w = torch.ones(2, requires_grad=True)
~with torch.no_grad() and torch.autocast("cpu", dtype=torch.bfloat16):
+with torch.no_grad(), torch.autocast("cpu", dtype=torch.bfloat16):
     y = w * 2
~with torch.autocast("cpu", dtype=torch.bfloat16) or torch.no_grad():
+with torch.autocast("cpu", dtype=torch.bfloat16), torch.no_grad():
     z = w * 2
~with torch.enable_grad() and (torch.no_grad() if flag else torch.enable_grad()) as mode:
+with torch.enable_grad(), (torch.no_grad() if flag else torch.enable_grad()) as mode:
     z = w * 3
!with (torch.autocast("cpu") and torch.no_grad()):
     z = w * 3
!with torch.autocast("cpu", dtype=torch.bfloat16) or torch.no_grad() as context:
     z = w * 3
 with flag and torch.no_grad():
     z = w * 3

 def run(context=None):
     with context or torch.no_grad():
         return w * 3

 graphs = [y.requires_grad, z.requires_grad, run().requires_grad]
```

Above a method the `@` is missing:

```diff
 import torch
 from torch import nn

 class Net(nn.Module):
~    torch.no_grad()
+    @torch.no_grad()
     def sample(self, x):
         return self(x)
```

It belongs directly above `def`: below `@property` and the like, which it cannot decorate. A coroutine runs after it:

```diff run-differs
 import asyncio
 import functools

 import torch

 class Net:
     w = torch.ones(2, requires_grad=True)

~    torch.no_grad()
~    @staticmethod
+    @staticmethod
+    @torch.no_grad()
     def double(x):
         return x * 2

~    torch.no_grad()
~    @classmethod
+    @classmethod
+    @torch.no_grad()
     def make(cls):
         return cls.w * 2

~    torch.inference_mode()
~    @functools.cached_property
+    @functools.cached_property
+    @torch.inference_mode()
     def half(self):
         return self.w / 2

!    torch.no_grad()
     async def later(self):
         return self.w * 2

!    torch.device("meta")
     def on_no_device(self):
         return self.w * 2

 net = Net()
 graphs = [net.double(net.w).requires_grad, net.make().requires_grad, asyncio.run(net.later()).requires_grad]
```

What acts at once, and what is entered, kept, passed on or only tried is left alone:

```diff
 import contextlib
 import torch

 torch.set_grad_enabled(False)
 torch.autograd.set_detect_anomaly(True)

 @torch.no_grad()
 def f(x):
     context = torch.enable_grad()
     with contextlib.ExitStack() as stack:
         stack.enter_context(torch.inference_mode())
     with context, torch.autocast("cuda"):
         return x

 @torch.no_grad
 def g(name):
     try:
         torch.device(name)
     except RuntimeError:
         return torch.no_grad()
```

## When the fix is unsafe

Above a method, and where contexts are joined by `and` or `or`: a program that ran does something else then. Brackets
after `with` are safe, for that raises today. For a statement there is no fix: what it was to cover, only the author
knows. Nor is there above `async def`, where a decorator has no effect, for contexts that cannot decorate
(`torch.device`), or where contexts stand in brackets, which Python before 3.9 takes for a tuple.

`torch.no_grad`: <https://docs.pytorch.org/docs/stable/generated/torch.no_grad.html>.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

import libcst as cst

from torchlint import edit
from torchlint.model import Model
from torchlint.rule import Applicability, Edit, Finding, Fix, Group, Severity, all_of, any_of, on, pattern, word
from torchlint.rules.api import names
from torchlint.rules.shared.statements import is_probed

GROUP = Group.CORRECTNESS
SEVERITY = Severity.ERROR

_WITHOUT_ARGUMENTS = frozenset(
    (
        "torch.no_grad",
        "torch.inference_mode",
        "torch.enable_grad",
        "torch.autograd.detect_anomaly",
        "torch.random.fork_rng",
        "torch.cuda.amp.autocast",
        "torch.cpu.amp.autocast",
    )
)
"""Contexts that can be made without arguments."""

_CONTEXTS = _WITHOUT_ARGUMENTS | frozenset(
    (
        "torch.autocast",
        "torch.device",
        "torch.cuda.device",
        "torch.cuda.device_of",
        "torch.cuda.stream",
        "torch.autograd.graph.save_on_cpu",
        "torch.autograd.graph.saved_tensors_hooks",
        "torch.autograd.profiler.record_function",
        "torch.profiler.record_function",
    )
)
_DECORATING = _WITHOUT_ARGUMENTS - {"torch.autograd.detect_anomaly"} | {
    *("no_sync", "torch.autocast", "torch.autograd.profiler.record_function", "torch.profiler.record_function"),
}
"""Contexts that can be called with a function; the others raise above one."""
_LAST_NAMES = frozenset(name.rpartition(".")[2] for name in _CONTEXTS)
_MAKING = _LAST_NAMES | {"no_sync"}

_WRAPPERS = ("DistributedDataParallel", "FullyShardedDataParallel")
"""Modules that have a `no_sync()`."""

_NAMED = any_of(
    all_of(word("no_grad"), pattern(r"\bno_grad\b(?!\s*\()")),
    all_of(word("inference_mode"), pattern(r"\binference_mode\b(?!\s*\()")),
    all_of(word("enable_grad"), pattern(r"\benable_grad\b(?!\s*\()")),
    all_of(word("autocast"), pattern(r"\bautocast\b(?!\s*\()")),
)
"""Contexts that are written without a call."""

_STATEMENT = any_of(
    pattern(r"\bno_grad\b(?<!@no_grad)(?<!@torch\.no_grad)(?!\(\):)"),
    pattern(r"\binference_mode\b(?<!@torch\.inference_mode)(?!\(\):)"),
    pattern(r"\benable_grad\b(?<!@torch\.enable_grad)(?!\(\):)"),
    pattern(r"\bautocast\b(?<!with\sautocast)(?<!with\storch\.autocast)(?<!with\storch\.cuda\.amp\.autocast)"),
    pattern(r"\bautocast\b(?=\s*:)"),
    word("detect_anomaly"),
    word("fork_rng"),
    word("no_sync"),
    word("save_on_cpu"),
    word("saved_tensors_hooks"),
    pattern(r"\brecord_function\b(?<!with\srecord_function)(?<!with\storch\.profiler\.record_function)"),
    pattern(
        r"\bdevice\b(?<![=,(\[]torch\.device)(?<![=,\w(:+][\t\x20]torch\.device)(?<!with\storch\.cuda\.device)(?= \()"
    ),
    pattern(r"\bdevice\b(?=\) \()"),
    word("device_of"),
    pattern(r"\bstream\b(?<!with\storch\.cuda\.stream)(?= \()"),
    _NAMED,
    all_of(word("record_function"), pattern(r"\brecord_function\s+as\b")),
    all_of(word("device"), pattern(r"\bdevice\s+as\b")),
    all_of(word("stream"), pattern(r"\bstream\s+as\b")),
)


@on(cst.Expr, trigger=_STATEMENT)
def check_statement(node: cst.Expr, model: Model) -> Finding | None:
    """Report a statement that makes a context and does not enter it."""
    made = node.value
    func = made.func if isinstance(made, cst.Call) else made
    if not isinstance(func, (cst.Name, cst.Attribute)):
        return None
    name = _name(func, made, model)
    if name is None or is_probed(node, model):
        return None
    said = f"`{name}` is made and never entered, so it has no effect; use it in a `with` statement"
    return Finding(func, said, _decorator(node, model) if name in _DECORATING else None)


def _name(func: cst.Name | cst.Attribute, made: cst.BaseExpression, model: Model) -> str | None:
    """What context a statement makes, or only names; None if none."""
    if not names.may_be_called(func, _MAKING, model):
        return None
    last = names.called_name(func, model)
    if last == "no_sync" and isinstance(func, cst.Attribute) and made is not func:
        wrapper = model.value(func.value).ref or ""
        return "no_sync" if wrapper.startswith("torch.") and wrapper.endswith(_WRAPPERS) else None
    if last not in _LAST_NAMES:
        return None
    ref = model.qualified(func)
    return ref if ref in _CONTEXTS else None


def _decorator(node: cst.Expr, model: Model) -> Fix | None:
    """An `@` in front, where a method comes next; what runs later than it is called needs another one."""
    line = model.tree.parent(node)
    if not isinstance(line, cst.SimpleStatementLine) or len(line.body) > 1 or not isinstance(node.value, cst.Call):
        return None
    body, index = model.tree.siblings(line)
    after = body[index + 1] if index + 1 < len(body) else None
    is_in_class = isinstance(model.tree.enclosing(line, cst.ClassDef, cst.FunctionDef), cst.ClassDef)
    if not is_in_class or not isinstance(after, cst.FunctionDef) or after.leading_lines or node.value.lpar:
        return None
    edits = _below(line, after, node.value, model) if after.decorators else _at_once(after, node.value)
    if edits is None or after.asynchronous is not None:
        return None
    return Fix("Decorate the method", edits).doubted("the method runs in the context now, which had no effect so far")


def _at_once(method: cst.FunctionDef, made: cst.Call) -> tuple[Edit, ...]:
    return edit.insert_before(made, "@"), edit.insert_before(method, "")


def _below(
    line: cst.SimpleStatementLine, method: cst.FunctionDef, made: cst.Call, model: Model
) -> tuple[Edit, ...] | None:
    """The line as the lowest decorator: a context makes a function of what it decorates, which a property is none."""
    last = method.decorators[-1]
    match method:
        case cst.FunctionDef(lines_after_decorators=[_, *_]):
            return None
    if edit.has_comment(line) or edit.has_comment(last):
        return None
    remove, text = edit.remove_statement(model.tree, line.body[0]), model.tree.code(made)
    if remove is None or "\n" in text:
        return None
    start = f"{model.tree.source.newline}{model.tree.indentation(line)}"
    return remove, edit.insert_after(last.decorator, f"{start}@{text}")


_ENTERED = any_of(
    _NAMED,
    all_of(word("detect_anomaly"), pattern(r"\bdetect_anomaly\b(?!\s*\()")),
    all_of(word("fork_rng"), pattern(r"\bfork_rng\b(?!\s*\()")),
)


@on(cst.With, trigger=_ENTERED)
def check_with(node: cst.With, model: Model) -> Iterator[Finding]:
    """Report `with torch.no_grad:`."""
    for item in node.items:
        func = item.item
        if isinstance(func, (cst.Name, cst.Attribute)) and names.is_called(func, _LAST_NAMES, model):
            ref = model.qualified(func)
            if ref in _CONTEXTS and ref != "torch.device" and not is_probed(node, model):
                fix = Fix("Call it", (edit.insert_after(func, "()"),)) if ref in _WITHOUT_ARGUMENTS else None
                yield Finding(func, f"`{ref}` is not called: `with` raises", fix, severity=Severity.ERROR)


_CHOSEN = all_of(
    pattern(r"\) (?:and|or)\b"),
    word("with"),
    any_of(
        word("no_grad"),
        word("inference_mode"),
        word("enable_grad"),
        word("set_grad_enabled"),
        word("detect_anomaly"),
        word("autocast"),
        word("fork_rng"),
        word("device"),
        word("device_of"),
        word("stream"),
        word("save_on_cpu"),
        word("saved_tensors_hooks"),
        word("record_function"),
        word("profile"),
    ),
)

_TRUE_CONTEXTS = _CONTEXTS | frozenset(
    (
        "torch.set_grad_enabled",
        "torch.autograd.set_grad_enabled",
        "torch.autograd.profiler.profile",
        "torch.profiler.profile",
    )
)
"""What has no truth of its own: of `A and B` it is never the one that is entered."""


@on(cst.With, trigger=_CHOSEN)
def check_chosen(node: cst.With, model: Model) -> Iterator[Finding]:
    """Report `with torch.no_grad() and torch.autocast("cuda"):`."""
    for item in node.items:
        match item.item:
            case cst.BooleanOperation(operator=cst.And()) as both:
                operands = list(_operands(both, cst.And))
                known, lost, what = operands[:-1], operands[0], "`and` gives the last one"
            case cst.BooleanOperation(operator=cst.Or()) as both:
                known = operands = list(_operands(both, cst.Or))
                lost, what = operands[1], "`or` gives the first one"
            case _:
                continue
        if all(_made_context(each, model) for each in known) and not is_probed(node, model):
            said = f"`{_made_context(lost, model)}` is never entered, for {what}; write a comma between contexts"
            yield Finding(lost, said, _joined(node, item, operands))


def _operands(node: cst.BaseExpression, operator: type[cst.BaseBooleanOp]) -> Iterator[cst.BaseExpression]:
    """What is joined by `and`, or by `or`."""
    if isinstance(node, cst.BooleanOperation) and isinstance(node.operator, operator):
        yield from _operands(node.left, operator)
        yield from _operands(node.right, operator)
    else:
        yield node


def _made_context(node: cst.BaseExpression, model: Model) -> str | None:
    """The context of torch that a call makes."""
    ref = model.qualified(node.func) if isinstance(node, cst.Call) else None
    return ref if ref in _TRUE_CONTEXTS else None


def _joined(node: cst.With, item: cst.WithItem, operands: Sequence[cst.BaseExpression]) -> Fix | None:
    """Commas between contexts, where `as` names the same one and no brackets are around, which few versions take."""
    match item:
        case cst.WithItem(item=cst.BooleanOperation(operator=cst.Or()), asname=cst.AsName()):
            return None
    if isinstance(node.lpar, cst.LeftParen) or _has_brackets(item.item):
        return None
    edits = tuple(edit.replace_between(left, right, ", ") for left, right in pairwise(operands))
    return Fix("Enter all of them", edits, Applicability.UNSAFE, risk="all of them are entered now, where only one was")


def _has_brackets(node: cst.BaseExpression) -> bool:
    """Whether brackets are around operands that are joined."""
    if not isinstance(node, cst.BooleanOperation):
        return False
    return bool(node.lpar) or _has_brackets(node.left) or _has_brackets(node.right)
