r"""Arguments that torch renamed, removed or ignores.

A renamed argument warns at every call until it raises a `TypeError`. `size_average=` and `reduce=` of the losses became
`reduction=` in 0.4; `verbose=` of the schedulers is gone since 2.7. Where a call takes `**kwargs`, only the arguments
that are written out are looked at. The attributes `size_average` and `reduce` of a loss are silently ignored, and
the name of a module, parameter or buffer must not have a dot any more.

```diff run
 import torch
 import torch.nn.functional as F
 from torch import nn

 a, b = torch.rand(3, 4, requires_grad=True), torch.rand(3, 4)
-loss = nn.MSELoss(size_average=False)(a, b)
+loss = nn.MSELoss(reduction='sum')(a, b)
-each = F.l1_loss(a, b, reduce=False)
+each = F.l1_loss(a, b, reduction='none')
-mean = F.l1_loss(a, b, size_average=True)
+mean = F.l1_loss(a, b)
-by_position = nn.MSELoss(False)(a, b)
+by_position = nn.MSELoss(reduction='sum')(a, b)
-ignored = nn.NLLLoss(None, False, 1)
+ignored = nn.NLLLoss(None, reduction='sum', ignore_index=1)
-each = F.l1_loss(a, b, True, False)
+each = F.l1_loss(a, b, reduction='none')
-sharp = F.mse_loss(a, b, reduction='elementwise_mean')
+sharp = F.mse_loss(a, b, reduction='mean')
-clipped = nn.Hardtanh(min_value=-2)(a)
+clipped = nn.Hardtanh(min_val=-2)(a)
-torch.autograd.backward([loss], grad_variables=[torch.ones(())])
+torch.autograd.backward([loss], grad_tensors=[torch.ones(())])
 flags = {}
 other = F.mse_loss(a, b, **flags)
```

```diff run-after
 import torch

 w = torch.ones(2, requires_grad=True)
 optimizer = torch.optim.SGD([w], lr=0.1)
-scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 1, verbose=True)
+scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 1)
-w.sum().backward(retain_variables=True)
+w.sum().backward(retain_graph=True)
 w.sum().backward(retain_graph=True)
-torch.autograd.backward(variables=[w.sum()], grad_variables=[torch.ones(())])
+torch.autograd.backward(tensors=[w.sum()], grad_tensors=[torch.ones(())])
```

```diff
 import functools
 import torch
 from torch import nn

 make = nn.CrossEntropyLoss
-loss = make(size_average=False)
+loss = make(reduction='sum')
-later = functools.partial(nn.MSELoss, reduce=False)
+later = functools.partial(nn.MSELoss, reduction='none')
!unknown = nn.MSELoss(size_average=flag)
!unknown = nn.MSELoss(flag)
~mean = nn.MSELoss("sum")
+mean = nn.MSELoss(reduction='sum')
 nothing = nn.NLLLoss(None, None, -1)
~loss.size_average = False
+loss.reduction = 'sum'
 loss.reduction = 'none'

 net = nn.Sequential()
~net.add_module('norm.1', nn.BatchNorm2d(3))
+net.add_module('norm_1', nn.BatchNorm2d(3))
 net.add_module('norm{:.0f}'.format(2.0), nn.BatchNorm2d(3))

 class MSELoss:
     def __init__(self, size_average): ...

 own = MSELoss(size_average=False)
```

`@torch.no_grad` without parentheses is reported where a version before 2.1 is supported: there it takes no function.

`torch.distributed.launch` passes `--local-rank` since 2.0, and `torchrun` passes nothing; a script that knows only
`--local_rank` stops at once:

```diff
 import argparse
 import torch.distributed as dist

 parser = argparse.ArgumentParser()
~parser.add_argument("--local_rank", type=int, default=0)
+parser.add_argument("--local-rank", "--local_rank", type=int, default=0)
 parser.add_argument("--local-rank", "--local_rank", type=int, default=0)
 dist.init_process_group("nccl")
```

## When the fix is unsafe

Renames are safe, and so is dropping what has no effect or is gone. `pin_memory(device)` has an unsafe fix: the device
said where to pin. Who sets an attribute of a loss gets what was asked for, where it was the mean until then. A name
without dots means other keys in the `state_dict`. A `size_average=` that is not a literal has no fix: write
`reduction='mean' if flag else 'sum'`. `nn.MSELoss("sum")` takes the mean: the word is a true `size_average`. What was
meant changes the number, so that is unsafe.

`reduction`: <https://docs.pytorch.org/docs/stable/generated/torch.nn.MSELoss.html>.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import libcst as cst

from torchlint import edit
from torchlint.model import Kind, Model
from torchlint.model.codebase.exports import is_mentioned
from torchlint.model.syntax import has_stars, is_none, keyword, last_name, positional
from torchlint.model.torch.arguments import literal_bool
from torchlint.rule import Applicability, Edit, Finding, Fix, Group, Severity, any_of, listed, on, pattern
from torchlint.rules.api import calls, findings, guards, names, table
from torchlint.rules.api.table import Row
from torchlint.rules.shared import names_with_dots

GROUP = Group.DEPRECATED

_MODES = frozenset(("torch.no_grad", "torch.enable_grad", "torch.inference_mode"))
_DISTRIBUTED = re.compile(
    r"\btorch\s*\.\s*distributed\b|\bimport\s+distributed\b|init_process_group|DistributedDataParallel"
)
_OTHER_LAUNCHERS = re.compile(r"deepspeed|horovod|apex\.parallel\.multiproc", re.IGNORECASE)
"""What still passes `--local_rank`, or nothing."""
_OF_LOSSES = ("size_average", "reduce")
_REGISTER = ("add_module", "register_parameter", "register_buffer")
_TRIGGER = any_of(
    pattern(r"\badd_module \( (?:name = )?[rRuUfF]?[\x22'][^\x22',]{0,200}\."),
    pattern(r"\badd_module \( (?:name = )?[^,]{0,200}\+"),
    pattern(r"\bregister_parameter \( (?:name = )?[rRuUfF]?[\x22'][^\x22',]{0,200}\."),
    pattern(r"\bregister_parameter \( (?:name = )?[^,]{0,200}\+"),
    pattern(r"\bregister_buffer \( (?:name = )?[rRuUfF]?[\x22'][^\x22',]{0,200}\."),
    pattern(r"\bregister_buffer \( (?:name = )?[^,]{0,200}\+"),
)


@on(cst.Module, trigger=listed("TL303"))
def check(node: cst.Module, model: Model) -> Iterator[Finding]:
    """Report arguments of the table in calls that have them."""
    rows = table.of_kinds("TL303", ("argument",), model.target)
    for call, func, args in calls.candidates(model, rows):
        candidates = [row for row in rows.get(names.called_name(func, model), ()) if _given(row, call, args)]
        while candidates:
            row = calls.callee(func, candidates, model)
            if row is None:
                break
            yield from _findings(row, call, args, model)
            candidates = [other for other in candidates if other is not row]


@on(cst.ClassDef, trigger=listed("TL303"))
def check_class(node: cst.ClassDef, model: Model) -> Iterator[Finding]:
    """Report `super().__init__(data_source)` in a sampler: there is nothing to give any more."""
    rows = table.of_kinds("TL303", ("behaviour",), model.target).get("__init__", ())
    if not rows or not _is_sampler(node, model):
        return
    for call in model.tree.within(node.body, cst.Call):
        match call.func:
            case cst.Attribute(value=cst.Call(func=cst.Name("super")), attr=cst.Name("__init__")) if call.args:
                function = model.tree.enclosing(call, cst.FunctionDef)
                if function is not None and model.class_of(function) is node and len(call.args) == 1:
                    arg = call.args[0]
                    fix = Fix("Drop the argument", (edit.remove_argument(call, arg),))
                    what = "`data_source` of `Sampler.__init__`"
                    yield Finding(arg, findings.message(rows[0], model, what), fix, severity=Severity.ERROR)


@on(cst.Assign, trigger=any_of(pattern(r"\. size_average ="), pattern(r"\. reduce =")))
def check_attribute(node: cst.Assign, model: Model) -> Finding | None:
    """Report `loss.size_average = False`: what counts is `loss.reduction`."""
    match node.targets:
        case [cst.AssignTarget(target=cst.Attribute(value=loss, attr=cst.Name(value=name)) as target)]:
            pass
        case _:
            return None
    if name not in _OF_LOSSES or not _is_loss(loss, model) or guards.is_guarded(node, model):
        return None
    if name not in table.of_kinds("TL303", ("behaviour",), model.target):
        return None
    said = f"`{name}` of a loss has no effect since PyTorch 0.4; set `reduction`"
    given = literal_bool(node.value)
    if given is None or model.remember(_assigned).issuperset(_OF_LOSSES):
        return Finding(target.attr, said)
    word = "mean" if given else "sum" if name == "size_average" else "none"
    edits = edit.replace(target.attr, "reduction"), edit.replace(node.value, f"'{word}'")
    fix = Fix(f"Set `reduction` to `'{word}'`", edits)
    return Finding(target.attr, said, fix.doubted("the loss has other values: what was set had no effect"))


@on(cst.Decorator, trigger=pattern(r"@ (?:\w+ \. )*(?:no_grad|enable_grad|inference_mode)\b(?! \()"))
def check_decorator(node: cst.Decorator, model: Model) -> Finding | None:
    """Report `@torch.no_grad`, which raises before 2.1."""
    if model.target.has((2, 1)) or not isinstance(node.decorator, (cst.Name, cst.Attribute)):
        return None
    ref = model.qualified(node.decorator)
    if ref not in _MODES or guards.is_guarded(node, model):
        return None
    name = model.tree.code(node.decorator)
    fix = Fix("Call it", (edit.insert_after(node.decorator, "()"),))
    said = f"`@{name}` without parentheses raises before PyTorch 2.1; write `@{name}()`"
    return Finding(node.decorator, said, fix, severity=Severity.ERROR)


@on(cst.Call, trigger=pattern(r"[\x22']--local_rank[\x22']"))
def check_option(node: cst.Call, model: Model) -> Finding | None:
    """Report `--local_rank` in a script for `torch.distributed`, without the spelling that its launcher uses."""
    match node:
        case cst.Call(func=cst.Attribute(attr=cst.Name("add_argument")), args=[cst.Arg(value=first), *_]):
            spelled = [arg.value for arg in node.args if isinstance(arg.value, cst.SimpleString) and not arg.keyword]
        case _:
            return None
    names_of = [each.evaluated_value for each in spelled]
    if "--local_rank" not in names_of or "--local-rank" in names_of or not model.target.reaches((2, 0)):
        return None
    if not model.mentions(_DISTRIBUTED) or model.mentions(_OTHER_LAUNCHERS):
        return None
    option = spelled[names_of.index("--local_rank")]
    quote = option.quote
    fix = Fix("Accept both spellings", (edit.insert_before(first, f"{quote}--local-rank{quote}, "),)).doubted(
        "a list of the spellings of options has one more"
    )
    said = "`torch.distributed.launch` passes `--local-rank` since PyTorch 2.0, which is not known here"
    return Finding(option, said, fix)


def _is_loss(node: cst.BaseExpression, model: Model) -> bool:
    """Whether an expression is one of torch's losses that had `size_average`."""
    value = model.value(node)
    rows = table.of_kinds("TL303", ("argument",), model.target)
    return value.kind == Kind.MODULE and any(
        row.name == value.ref and "size_average" in row.argument
        for row in rows.get((value.ref or "").rpartition(".")[2], ())
    )


@on(cst.Call, trigger=_TRIGGER)
def check_name(node: cst.Call, model: Model) -> Finding | None:
    """Report names of modules, parameters and buffers that have a dot in them."""
    match node:
        case cst.Call(
            func=cst.Attribute(value=owner, attr=cst.Name(value=method)),
            args=[cst.Arg(value=name, keyword=None | cst.Name("name"), star=""), *_],
        ) if method in _REGISTER:
            new = names_with_dots.rewritten(name, model.tree.code(name))
        case _:
            return None
    if new is None or model.value(owner).kind != Kind.MODULE:
        return None
    row = calls.callee(node.func, table.of_kinds("TL303", ("behaviour",), model.target).get(method, ()), model)
    if row is None or guards.is_guarded(node, model):
        return None
    edits = tuple(edit.replace(part, text) for part, text in new.items())
    fix = Fix("Write `_` for the dots", edits).doubted(
        "state dicts that were saved before 0.4 have the name with the dot"
    )
    said = "a name with a dot raises `KeyError` since PyTorch 0.4; write `_` for the dot"
    return Finding(name, said, None if _is_elsewhere(new, model) else fix, severity=Severity.ERROR)


def _assigned(model: Model) -> frozenset[str]:
    return frozenset(last_name(each.target) for each in model.tree.all(cst.AssignTarget))


def _is_elsewhere(new: Mapping[cst.CSTNode, str], model: Model) -> bool:
    """Whether an old name or its new form stands in another place of a file, too: something is found by it."""
    others = model.remember(_other_texts)
    return any(text in others for part, now in new.items() for text in (now, model.tree.code(part)))


def _other_texts(model: Model) -> frozenset[str]:
    """The literals of a file, but for those with a dot that name a module, parameter or buffer."""
    naming = {
        id(part)
        for call in model.tree.all(cst.Call)
        if call.args and last_name(call.func) in _REGISTER
        for part in names_with_dots.rewritten(call.args[0].value, model.tree.code(call.args[0].value)) or ()
    }
    return frozenset(text.value for text in model.tree.all(cst.SimpleString) if id(text) not in naming)


def _is_sampler(node: cst.ClassDef, model: Model) -> bool:
    """Whether the one base of a class is torch's sampler itself."""
    match node.bases:
        case [cst.Arg(value=base)]:
            base = base.value if isinstance(base, cst.Subscript) else base
            found = names.resolve(base, model)
            return found is not None and "torch.utils.data.Sampler" in (
                found[1],
                found[0].replace("data.sampler.", "data."),
            )
    return False


_OVERRIDDEN = "who calls what `partial` gives with a `reduction` gets that one"


def _names(row: Row) -> list[str]:
    return [part.strip() for part in row.argument.split(",")]


def _given(row: Row, call: cst.Call, args: Sequence[cst.Arg]) -> list[cst.Arg]:
    """The arguments that a row is about."""
    if row.fix == "reduction":
        return [arg for _, arg in _flags(row, call, args)]
    found = [arg for name in _names(row) if (arg := keyword(args, name)) is not None]
    if not found and row.position is not None and (arg := positional(args, row.position)) is not None:
        found = [arg]
    return found


def _flags(row: Row, call: cst.Call, args: Sequence[cst.Arg]) -> list[tuple[str, cst.Arg]]:
    """`size_average` and `reduce` among the arguments, by keyword or by position.

    By position only where the function is called by its own name, and `None` there is no reason to speak.
    """
    is_direct = args is call.args and last_name(call.func) == row.last
    order = [parameter.name for parameter in calls.parameters(row.signature)]
    found = []
    for name in _names(row):
        arg = keyword(args, name)
        if arg is None and is_direct:
            arg = positional(args, order.index(name))
            arg = None if arg is None or is_none(arg.value) else arg
        if arg is not None:
            found.append((name, arg))
    return found


def _findings(row: Row, call: cst.Call, args: Sequence[cst.Arg], model: Model) -> Iterator[Finding]:
    found = _given(row, call, args)
    if row.literal and any(model.tree.code(arg.value).replace('"', "'") != row.literal for arg in found):
        return
    fix = _fix(row, call, args, found, model) if row.is_fixable(model.target) else None
    arg = found[0]
    name = arg.keyword.value if arg.keyword is not None else _names(row)[0]
    if row.fix == "reduction":
        name = _flags(row, call, args)[0][0]
    what = f"`{name}={row.literal}`" if row.literal else f"`{name}=`"
    said = findings.message(row, model, f"{what} of `{findings.short(row.name)}`")
    severity = Severity.ERROR if row.is_removed(model.target) else None
    yield Finding(arg.keyword or arg, said, calls.judged(fix, call, row, model), severity=severity)


def _fix(row: Row, call: cst.Call, args: Sequence[cst.Arg], found: Sequence[cst.Arg], model: Model) -> Fix | None:
    arg = found[0]
    safe = row.applicability
    match row.fix:
        case "rename-argument" if arg.keyword is not None and keyword(args, row.to) is None:
            return Fix(f"Rename to `{row.to}`", (edit.replace(arg.keyword, row.to),), safe)
        case "drop-argument":
            return Fix(f"Drop `{_names(row)[0]}`", (edit.remove_argument(call, arg),), safe)
        case "replace-value":
            return Fix(f"Use {row.text}", (edit.replace(arg.value, row.text),), safe)
        case "reduction":
            fix = _reduction(row, call, args)
            if fix is not None and args is not call.args and _is_given_reduction(call, model):
                return replace(fix, applicability=Applicability.UNSAFE, risk=_OVERRIDDEN)
            return fix
    return None


def _is_given_reduction(call: cst.Call, model: Model) -> bool:
    """Whether what ``partial`` gives is called with a `reduction` by the name that it is bound to."""
    match model.tree.parent(call):
        case cst.Assign(targets=[cst.AssignTarget(target=target)]):
            name = re.escape(last_name(target))
            return bool(name) and model.ask(is_mentioned, rf"\b{name}\s*\([^()]*\breduction\s*=")
    return False


def _reduction(row: Row, call: cst.Call, args: Sequence[cst.Arg]) -> Fix | None:
    """`size_average` and `reduce` to `reduction`: without a sum or a mean where nothing is reduced."""
    flags = _flags(row, call, args)
    if keyword(args, "reduction") is not None or has_stars(args):
        return None
    if all(arg.keyword is None for _, arg in flags):
        return _positional_reduction(row, call, args, flags)
    if any(arg.keyword is None for _, arg in flags):
        return None
    word = _word(flags)
    if word is None:
        return None
    found = [arg for _, arg in flags]
    first, *rest = found
    edits: list[Edit] = []
    if word == "mean":
        if len(found) > 1 and len(args) == len(found):
            return None  # to remove both takes more than two edits that touch
        edits = [edit.remove_argument(call, arg) for arg in found]
    else:
        assert first.keyword is not None
        edits = [edit.replace(first.keyword, "reduction"), edit.replace(first.value, f"'{word}'")]
        edits += [edit.remove_argument(call, arg) for arg in rest]
    said = "Drop it: the mean is the default" if word == "mean" else f"Use `reduction='{word}'`"
    return Fix(said, tuple(edits))


def _word(flags: Sequence[tuple[str, cst.Arg]]) -> str | None:
    """What the two flags come to, if they are literals."""
    values = {name: True if is_none(arg.value) else literal_bool(arg.value) for name, arg in flags}
    if None in values.values():
        return None
    if not values.get("reduce", True):
        return "none"
    return "mean" if values.get("size_average", True) else "sum"


def _positional_reduction(
    row: Row, call: cst.Call, args: Sequence[cst.Arg], flags: Sequence[tuple[str, cst.Arg]]
) -> Fix | None:
    """By position: what stands behind the flags needs its keyword then."""
    order = [parameter.name for parameter in calls.parameters(row.signature)]
    plain = [arg for arg in args if arg.keyword is None]
    if len(plain) > order.index("reduce") + 1:
        return None  # with a `reduction`, which has no say beside a flag
    first = flags[0][1]
    word, applicability = _word(flags), Applicability.SAFE
    if word is None and len(flags) == 1:  # `nn.MSELoss("sum")` takes the word for `size_average`, and the mean
        word = _meant(first.value)
        applicability = Applicability.SAFE if word == "mean" else Applicability.UNSAFE
    if word is None:
        return None
    behind = list(zip(plain, order, strict=False))[plain.index(first) + 1 :]
    if word == "mean" and not behind:
        return Fix("Drop it: the mean is the default", (edit.remove_argument(call, first),), applicability)
    edits = [edit.replace(first.value, f"reduction='{word}'")]
    for arg, name in behind:
        is_flag = name in ("size_average", "reduce")
        edits.append(edit.remove_argument(call, arg) if is_flag else edit.insert_before(arg.value, f"{name}="))
    risk = "" if applicability is Applicability.SAFE else "the loss has other values: the word was taken for a flag"
    return Fix(f"Use `reduction='{word}'`", tuple(edits), applicability, risk=risk)


def _meant(node: cst.BaseExpression) -> str | None:
    """The word for a reduction that is given where a flag is expected."""
    word = node.raw_value if isinstance(node, cst.SimpleString) else None
    return word if word in ("mean", "sum", "none") else None
