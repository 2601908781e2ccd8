r"""`pretrained=` of torchvision's models is `weights=` since 0.13.

It says which weights, not only that there are some. `pretrained=True` always meant the first ones, `IMAGENET1K_V1` for
most models, never the best ones, `DEFAULT`.

```diff
 import torchvision
 from torchvision import models
 from torchvision.models.resnet import resnet50

~a = torchvision.models.resnet18(pretrained=True)
+a = torchvision.models.resnet18(weights="IMAGENET1K_V1")
~b = models.vgg16(pretrained=False)
+b = models.vgg16(weights=None)
~c = resnet50(True)
+c = resnet50(weights="IMAGENET1K_V1")
~d = models.detection.fasterrcnn_resnet50_fpn(pretrained=True, pretrained_backbone=False)
+d = models.detection.fasterrcnn_resnet50_fpn(weights="COCO_V1", weights_backbone=None)
~e = models.resnet18(pretrained=args.pretrained)
+e = models.resnet18(weights="IMAGENET1K_V1" if args.pretrained else None)
!f = getattr(models, args.arch)(pretrained=True)
 g = models.resnet18(weights="DEFAULT")

 def build(**options):
     return models.resnet18(**options)
```

```diff
 import timm
 from mylib import models

 a = timm.create_model("resnet18", pretrained=True)
 b = models.resnet18(pretrained=True)
```

## When the fix is unsafe

Always: which weights `pretrained=True` loads is read out of torchvision, but the tests here do not run torchvision. The
string needs no import; the enumeration (`ResNet18_Weights.IMAGENET1K_V1`) is the same.

Models: <https://docs.pytorch.org/vision/stable/models.html>.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import libcst as cst

from torchlint import edit
from torchlint.model import Model
from torchlint.model.syntax import keyword, last_name, positional
from torchlint.model.torch.arguments import literal_bool
from torchlint.rule import Anchor, Edit, Finding, Fix, Group, listed, on
from torchlint.rules.api import findings, guards, names, patches, table
from torchlint.rules.api.table import Row

GROUP = Group.DEPRECATED

_GROUPS = ("detection", "segmentation", "video", "optical_flow", "quantization")
_ARGUMENTS = ("pretrained", "pretrained_backbone")


@on(cst.Call, trigger=listed("TL901"))
def check(node: cst.Call, model: Model) -> Iterator[Finding]:
    """Report the old arguments of builders of models."""
    if any(arg.star == "*" for arg in node.args) or not _may_have_it(node):
        return
    name = _builder(node.func, model)
    if name is None or guards.is_guarded(node, model) or patches.is_replaced(name, model):
        return
    rows = [row for row in table.of_rule("TL901").get(name.rpartition(".")[2], ()) if row.name == name]
    if name.endswith(".__dict__"):
        for arg in node.args:
            if arg.keyword is not None and arg.keyword.value in _ARGUMENTS:
                said = f"`{arg.keyword.value}=` is deprecated since torchvision 0.13; use `weights=`"
                yield Finding(arg.keyword, said)
        return
    edits: list[tuple[cst.Arg, Row, Edit | None]] = []
    for row in rows:
        given = keyword(node.args, row.argument)
        if given is None and row.position is not None and last_name(node.func) == row.last:
            given = positional(node.args, row.position)
            given = given if given is not None and _is_flag(given.value) else None
        if given is not None:
            edits.append((given, row, _rewritten(given, row, node.args, model)))
    for arg, row, change in edits:
        what = f"`{row.argument}=` of `{row.name}`"
        fix = row.judged(Fix(f"Use `{row.to}=`", (change,), row.applicability)) if change is not None else None
        yield Finding(arg.keyword or arg, findings.message(_for_value(row, arg), model, what), fix)


def _for_value(row: Row, arg: cst.Arg) -> Row:
    """A row with the advice for what is given: without weights there is another one."""
    is_off = row.fix == "weights" and literal_bool(arg.value) is False
    return replace(row, advice=f"`{row.to}=None`") if is_off else row


def _may_have_it(node: cst.Call) -> bool:
    if any(arg.keyword is not None and arg.keyword.value in _ARGUMENTS for arg in node.args):
        return True
    return bool(node.args) and node.args[0].keyword is None and _is_flag(node.args[0].value)


def _is_flag(node: cst.BaseExpression) -> bool:
    return isinstance(node, cst.Name) and node.value in ("True", "False")


def _builder(func: cst.BaseExpression, model: Model) -> str | None:
    """The name of a builder of torchvision, without the module that it is defined in."""
    match func:
        case cst.Subscript(value=cst.Attribute(value=base, attr=cst.Name("__dict__"))) if isinstance(
            base, (cst.Name, cst.Attribute)
        ):
            found = names.resolve(base, model)
            return "torchvision.models.__dict__" if found and found[0].startswith("torchvision.models") else None
        case cst.Call(func=cst.Name("getattr"), args=[cst.Arg(value=base), _]) if isinstance(
            base, (cst.Name, cst.Attribute)
        ):
            found = names.resolve(base, model)
            return "torchvision.models.__dict__" if found and found[0].startswith("torchvision.models") else None
        case cst.Name() | cst.Attribute():
            found = names.resolve(func, model)
            name = found[0] if found is not None else model.qualified(func) or ""
        case _:
            return None
    if not name.startswith("torchvision.models."):
        return None
    parts = name.split(".")
    group = [parts[2]] if parts[2] in _GROUPS else []
    return ".".join(["torchvision.models", *group, parts[-1]])


def _rewritten(arg: cst.Arg, row: Row, args: Sequence[cst.Arg], model: Model) -> Edit | None:
    if row.fix != "weights" or keyword(args, row.to) is not None:
        return None
    weights = "None" if row.text == "None" else f'"{row.text}"'
    match arg.value:
        case cst.Name("True"):
            value = weights
        case cst.Name("False"):
            value = "None"
        case cst.Name() | cst.Attribute() | cst.Subscript():
            value = f"{weights} if {model.tree.code(arg.value)} else None" if weights != "None" else "None"
        case _:
            return None
    if arg.keyword is None:
        return edit.replace(arg.value, f"{row.to}={value}")
    return Edit(_start(arg), edit.replace(arg.value, "").end, f"{row.to}={value}")


def _start(arg: cst.Arg) -> Anchor:
    assert arg.keyword is not None
    return Anchor(arg.keyword, False)
