r"""A default that warns, has changed, or is gone.

`softmax` without `dim` picks one by the number of dimensions, the default of `indexing` of `meshgrid` will change,
`grid_sample` without `align_corners` did so in 1.3, `stft` needs to be told about complex numbers. Say what is meant.

```diff run
 import torch
 import torch.nn.functional as F
 from torch.utils.checkpoint import checkpoint

 a, b = torch.rand(3), torch.rand(4)
-x, y = torch.meshgrid(a, b)
+x, y = torch.meshgrid(a, b, indexing='ij')
 image, theta = torch.rand(1, 2, 4, 4), torch.rand(1, 2, 3)
-grid = F.affine_grid(theta, (1, 2, 4, 4))
+grid = F.affine_grid(theta, (1, 2, 4, 4), align_corners=False)
-warped = F.grid_sample(image, grid)
+warped = F.grid_sample(image, grid, align_corners=False)
-p = F.softmax(torch.rand(2, 5))
+p = F.softmax(torch.rand(2, 5), dim=1)
 linear = torch.nn.Linear(5, 5)
 x = torch.rand(2, 3, 5)
-each = F.log_softmax(F.relu(x))
+each = F.log_softmax(F.relu(x), dim=0)
 x = x.view(-1, 5)
 x = F.dropout(F.relu(linear(x)), training=False)
-p = F.log_softmax(x)
+p = F.log_softmax(x, dim=1)
 w = torch.rand(3, requires_grad=True)
-s = F.softmax(w.sum())
+s = F.softmax(w.sum(), dim=0)
~c = checkpoint(torch.sin, w)
+c = checkpoint(torch.sin, w, use_reentrant=True)
-s = torch.stft(torch.ones(64), 16, window=torch.ones(16), return_complex=False)
+s = torch.view_as_real(torch.stft(torch.ones(64), 16, window=torch.ones(16), return_complex=True))
 q = F.softmax(w, dim=0)
```

```diff run-after
 import torch

-steps = torch.linspace(0, 1)
+steps = torch.linspace(0, 1, steps=100)
 same = torch.linspace(0, 1, 100)
```

```diff
 import torch
 import torch.nn.functional as F
 from torch import nn

 def f(x, **options):
     F.softmax(x, **options)
!    F.softmax(x)
     for _ in range(2):
!        F.softmax(x)
         x = x.view(2, 3, 4)
     x = x.unsqueeze(0)
!    return F.softmax(x)

!head = nn.LogSoftmax()
!loss = nn.KLDivLoss()
~spec = torch.stft(torch.ones(64), 16)
+spec = torch.view_as_real(torch.stft(torch.ones(64), 16, return_complex=True))
!axis = torch.cross(torch.eye(3), torch.eye(3))
```

## When the fix is unsafe

What the default is today is written out, so the fix is safe; if something else was meant, it has to be changed by
hand. `use_reentrant=True` is the default today, but one that torch discourages: to write it down is a decision, so that
is unsafe, and `use_reentrant=False` is offered beside it. `dim=` of `softmax` is written where the number of dimensions
is plain to see (`x.view(-1, 10)`, also through linear layers, activations and dropout), else there is no fix.
`torch.stft` of a complex tensor gives a complex one also without being told, so the fix that restores the old layout is
unsafe.

`softmax`: <https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.softmax.html>.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

import libcst as cst

from torchlint import edit
from torchlint.model import Kind, Model, Ndim
from torchlint.model.syntax import keyword
from torchlint.rule import Applicability, Finding, Fix, Group, Severity, listed, on
from torchlint.rules.api import calls, findings, names, table
from torchlint.rules.api.table import Row

GROUP = Group.DEPRECATED


@on(cst.Module, trigger=listed("TL305"))
def check(node: cst.Module, model: Model) -> Iterator[Finding]:
    """Report calls that leave out what they should say."""
    rows = table.of_kinds("TL305", ("default", "argument"), model.target)
    for call, func, args in calls.candidates(model, rows):
        if args is not call.args or any(arg.star == "**" for arg in args):
            continue
        candidates = [row for row in rows.get(names.called_name(func, model), ()) if _is_left_out(row, args, model)]
        row = calls.callee(func, candidates, model) if candidates else None
        if row is not None:
            yield _finding(row, call, model)


def _is_left_out(row: Row, args: Sequence[cst.Arg], model: Model) -> bool:
    given = keyword(args, row.argument)
    if row.kind == "argument":
        return given is not None and model.tree.code(given.value) == row.literal
    if given is not None or any(keyword(args, name) for name in ("size_average", "reduce")):
        return False
    if row.position is None:
        return True
    return not any(arg.star for arg in args) and sum(arg.keyword is None for arg in args) <= row.position


def _finding(row: Row, call: cst.Call, model: Model) -> Finding:
    name = f"`{findings.short(row.name)}`"
    what = f"{name} without `{row.argument}=`" if row.kind == "default" else f"`{row.argument}={row.literal}` of {name}"
    fix = _fix(row, call, model) if row.is_fixable(model.target) else None
    severity = Severity.ERROR if row.is_removed(model.target) else None
    at = call.func.attr if isinstance(call.func, cst.Attribute) and "Tensor." in row.name else call.func
    return Finding(at, findings.message(row, model, what), calls.judged(fix, call, row, model), severity=severity)


def _fix(row: Row, call: cst.Call, model: Model) -> Fix | None:
    match row.fix:
        case "add-argument":
            return _add(row, call)
        case "softmax-dim":
            return _softmax(row, call, model)
        case "stft":
            return _stft(row, call, model)
    return None


_RECOMMENDED = {"use_reentrant=True": "use_reentrant=False"}
"""What torch recommends in place of a default that it discourages."""


def _add(row: Row, call: cst.Call) -> Fix:
    """Say what the default is today; where torch discourages it, the other value is an alternative."""
    fix = Fix(f"Add `{row.text}`", (edit.add_argument(call, row.text),), row.applicability)
    other = _RECOMMENDED.get(row.text)
    if other is None:
        return fix
    recommended = Fix(f"Add `{other}`, which torch recommends", (edit.add_argument(call, other),)).doubted(
        "`backward()` raises where what is computed again has other shapes or dtypes"
    )
    return replace(fix, alternatives=(recommended,))


def _softmax(row: Row, call: cst.Call, model: Model) -> Fix | None:
    """The dimension that is taken today, where the number of dimensions is plain to see."""
    if not call.args or row.name.rpartition(".")[2][0].isupper():
        return None
    ndim = dimensions(call.args[0].value, model)
    if ndim is None:
        return None
    text = f"dim={0 if ndim in (0, 1, 3) else 1}"
    return Fix(f"Add `{text}`", (edit.add_argument(call, text),), row.applicability)


_FACTORIES = frozenset(f"torch.{name}" for name in ("rand", "randn", "zeros", "ones", "empty"))
_FIXED = {"mm": 2, "addmm": 2, "bmm": 3, "baddbmm": 3}
"""Functions whose results always have so many dimensions."""
_KEEPING = frozenset("relu leaky_relu elu selu gelu tanh sigmoid softplus dropout linear".split())  # noqa: SIM905
_KEEPING_METHODS = frozenset(
    "relu tanh sigmoid exp log abs float double half clone contiguous detach cpu cuda to type_as".split()  # noqa: SIM905
)
_ACTIVATIONS = "ReLU LeakyReLU ELU SELU GELU Tanh Sigmoid Softplus".split()  # noqa: SIM905
_KEEPING_MODULES = frozenset(
    f"torch.nn.{name}" for name in ("Linear", "Dropout", "LayerNorm", "BatchNorm1d", "Identity", *_ACTIVATIONS)
)
_RESIZES = re.compile(r"\b(?:un)?squeeze_\(|\bresize(?:_as)?_\(|\.set_\(|\.data = ")
"""What gives a tensor other dimensions without giving it a name."""


def dimensions(node: cst.BaseExpression, model: Model) -> int | None:
    """The number of dimensions of a tensor, where expressions say it plainly: ``self.linear(x.view(-1, 10))``."""
    match node:
        case cst.Name():
            value = _last_value(node, model)
            if value is not None:
                return dimensions(value, model)
            return 0 if _is_scalar(node, model) else None
        case cst.Call(func=cst.Attribute(value=base, attr=cst.Name("view" | "reshape"))) if model.is_tensor(base):
            return _count(node.args)
        case cst.Call(func=func) if isinstance(func, (cst.Name, cst.Attribute)):
            found = _called(func, node.args, model)
            return found if found is not None else 0 if _is_scalar(node, model) else None
    return None


def _is_scalar(node: cst.BaseExpression, model: Model) -> bool:
    value = model.value(node)
    return value.kind == Kind.TENSOR and value.ndim == Ndim.ZERO


def _called(func: cst.Name | cst.Attribute, args: Sequence[cst.Arg], model: Model) -> int | None:
    """The number of dimensions of what a function, method or module returns."""
    resolved = names.resolve(func, model)
    first = args[0].value if args and not args[0].star and args[0].keyword is None else None
    if resolved is not None:
        package, _, name = resolved[1].rpartition(".")
        if resolved[1] in _FACTORIES:
            return _count([arg for arg in args if arg.keyword is None])
        if package == "torch" and name in _FIXED:
            return _FIXED[name]
        is_kept = package in ("torch", "torch.nn.functional") and name in _KEEPING
        return dimensions(first, model) if is_kept and first is not None else None
    value = model.value(func)
    if value.kind == Kind.MODULE:
        return dimensions(first, model) if value.ref in _KEEPING_MODULES and first is not None else None
    if isinstance(func, cst.Attribute) and func.attr.value in _KEEPING_METHODS and model.is_tensor(func.value):
        return dimensions(func.value, model)
    return None


def _last_value(node: cst.Name, model: Model) -> cst.BaseExpression | None:
    """What a name was assigned last, on the way to a place that leads nowhere else."""
    elsewhere = [item.name.value for each in model.tree.all(cst.Global) for item in each.names]
    elsewhere += [item.name.value for each in model.tree.all(cst.Nonlocal) for item in each.names]
    if node.value in elsewhere or model.mentions(_RESIZES):
        return None
    at = model.tree.statement(node)
    if _is_bound_inside(node, model):
        return None
    while True:
        block = model.tree.parent(at)
        if isinstance(block, (cst.IndentedBlock, cst.Module)):
            before = block.body[: next(index for index, other in enumerate(block.body) if other is at)]
            for other in reversed(before):
                if _binds(other, node.value, model):
                    return _plain_value(other)
        elif block is not None and _binds(block, node.value, model):
            return None  # in a loop, by `with … as x` or `except … as x`
        if block is None or isinstance(block, (cst.FunctionDef, cst.ClassDef, cst.Module)):
            return None
        at = block


def _is_bound_inside(node: cst.Name, model: Model) -> bool:
    """Whether a name is a variable of a lambda or comprehension around it, or bound in the very statement by ``:=``."""
    statement = model.tree.statement(node)
    for up in model.tree.ancestors(node):
        if up is statement:
            break
        if isinstance(up, cst.Lambda):
            return True
        if isinstance(up, (cst.ListComp, cst.SetComp, cst.DictComp, cst.GeneratorExp)) and _binds(
            up, node.value, model
        ):
            return True
    named = model.tree.within(statement, cst.NamedExpr)
    return any(isinstance(each.target, cst.Name) and each.target.value == node.value for each in named)


def _binds(node: cst.CSTNode, name: str, model: Model) -> bool:
    """Whether a name is bound anywhere in a statement."""
    if isinstance(node, (cst.FunctionDef, cst.ClassDef)):
        return node.name.value == name
    return any(use.value == name and not _is_only_read(use, model) for use in model.tree.within(node, cst.Name))


def _is_only_read(use: cst.Name, model: Model) -> bool:
    parent = model.tree.parent(use)
    is_label = isinstance(parent, cst.Attribute) and parent.attr is use
    return is_label or (names.is_read(use, model) and not model.is_target(use))


def _plain_value(statement: cst.CSTNode) -> cst.BaseExpression | None:
    match statement:
        case cst.SimpleStatementLine(body=[cst.Assign(targets=[cst.AssignTarget(target=cst.Name())], value=value)]):
            return value
    return None


def _count(sizes: Sequence[cst.Arg]) -> int | None:
    """How many sizes are given, one by one or as a tuple."""
    if not sizes or any(arg.star or arg.keyword is not None for arg in sizes):
        return None
    if len(sizes) > 1:
        return len(sizes)
    match sizes[0].value:
        case cst.Tuple(elements=elements) | cst.List(elements=elements):
            return len(elements) if all(isinstance(e, cst.Element) for e in elements) else None
        case cst.Integer():
            return 1
    return None


def _stft(row: Row, call: cst.Call, model: Model) -> Fix | None:
    spelled = names.spell("torch.view_as_real", call, model)
    if spelled is None or any(arg.star for arg in call.args):
        return None
    given = keyword(call.args, "return_complex")
    if given is not None:
        inner, applicability = edit.replace(given.value, "True"), row.applicability
    else:
        inner, applicability = edit.add_argument(call, "return_complex=True"), Applicability.UNSAFE
    edits = (edit.insert_before(call, f"{spelled[0]}("), inner, edit.insert_after(call, ")"))
    return Fix("Ask for complex numbers, and view them as real ones", edits, applicability, spelled[1])
