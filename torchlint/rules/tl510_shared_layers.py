r"""`[nn.Linear(3, 3)] * n` is one layer, n times.

Multiplying a list copies references. The layer is made once, so all places in the network have the same weights: it has
a fraction of the parameters that were meant, and says nothing about it.

```diff run-differs
 import torch
 from torch import nn

~net = nn.Sequential(*[nn.Linear(3, 3)] * 4)
+net = nn.Sequential(*[nn.Linear(3, 3) for _ in range(4)])
~layers = nn.ModuleList([nn.Sequential(nn.Linear(3, 3), nn.ReLU())] * 2)
+layers = nn.ModuleList([nn.Sequential(nn.Linear(3, 3), nn.ReLU()) for _ in range(2)])
 size = sum(p.numel() for p in net.parameters()) + sum(p.numel() for p in layers.parameters())
```

A layer that has a name is shared on purpose, and one without parameters may be:

```diff
 import copy

 import torch
 from torch import nn

 class Block(nn.Module):
     def __init__(self):
         super().__init__()
         self.fc = nn.Linear(3, 3)

 head = nn.Linear(3, 3)
 shared = nn.ModuleList([head] * 3)
 acts = [nn.ReLU()] * 3
 one = [nn.Linear(3, 3)] * 1
 sizes = [3] * 4
!pairs = [nn.Linear(3, 3), nn.ReLU()] * 4
~blocks = 2 * [Block()]
+blocks = [Block() for _ in range(2)]
 copies = [copy.deepcopy(each) for each in [nn.Linear(3, 3)] * 2]
 others = list(map(copy.deepcopy, [nn.Linear(3, 3)] * 2))
```

In the body of a class a comprehension does not see what the class binds, and what is multiplied twice is left as it is:

```diff run
 from torch import nn

 class Net(nn.Module):
     size = 3
!    layers = [nn.Linear(size, size)] * 2

 n = 2
!rest = [nn.Linear(3, 3)] * n * 2
 count = len(rest)
```

## When the fix is unsafe

Always: it makes other networks, with more parameters. There is none for a list of several, whose order is to be kept.

`nn.ModuleList`: <https://docs.pytorch.org/docs/stable/generated/torch.nn.ModuleList.html>.
"""

from __future__ import annotations

import libcst as cst

from torchlint.model import Model
from torchlint.model.made_modules import makes_parameters
from torchlint.model.syntax import integer, last_name
from torchlint.rule import Anchor, Edit, Finding, Fix, Group, Severity, any_of, on, pattern
from torchlint.rules.api import names

GROUP = Group.CORRECTNESS
SEVERITY = Severity.ERROR


@on(
    cst.BinaryOperation,
    trigger=any_of(
        pattern(r"\) \] \*"),
        pattern(r"\) , \] \*"),
        pattern(r"\* \[ \w"),
        pattern(r"\)[\s\\]*\) \*"),
        pattern(r"\) , \) \*"),
        pattern(r"\* \("),
    ),
)
def check(node: cst.BinaryOperation, model: Model) -> Finding | None:
    """Report a list with a new layer that is multiplied."""
    if not isinstance(node.operator, cst.Multiply):
        return None
    display, count = node.left, node.right
    if not isinstance(display, (cst.List, cst.Tuple)):
        display, count = node.right, node.left
    if not isinstance(display, (cst.List, cst.Tuple)) or integer(count) == 1:
        return None
    layers = [each.value for each in display.elements if model.ask(makes_parameters, each.value)]
    if not layers or _is_copied(node, model):
        return None
    said = "this is one layer several times, with the same parameters; make them in a comprehension"
    return Finding(node, said, _fix(node, display, count, model))


def _is_copied(node: cst.BinaryOperation, model: Model) -> bool:
    """Whether a list is only gone through, and each of its elements copied: `[deepcopy(m) for m in [layer()] * n]`."""
    match model.tree.parent(node):
        case cst.CompFor(target=cst.Name(value=name), iter=iterated) as loop if iterated is node:
            made = model.tree.parent(loop) or loop
        case cst.Arg() as arg:
            call = model.tree.parent(arg)
            return isinstance(call, cst.Call) and "deepcopy" in [last_name(each.value) for each in call.args]
        case _:
            return False
    uses = [use for use in model.tree.within(made, cst.Name) if use.value == name and use is not loop.target]
    return bool(uses) and all(_is_argument_of_deepcopy(use, model) for use in uses)


def _is_argument_of_deepcopy(name: cst.Name, model: Model) -> bool:
    arg = model.tree.parent(name)
    call = model.tree.parent(arg) if isinstance(arg, cst.Arg) else None
    return isinstance(call, cst.Call) and last_name(call.func) == "deepcopy"


def _can_be_comprehension(node: cst.BinaryOperation, element: cst.BaseElement, model: Model) -> bool:
    """Whether a comprehension does the same there: nothing around is multiplied, and it sees the names it needs.

    In the body of a class it does not see what the class binds.
    """
    outer: cst.CSTNode | None = model.tree.parent(node)
    while isinstance(outer, (cst.Element, cst.List, cst.Tuple)):
        outer = model.tree.parent(outer)
    if isinstance(outer, cst.BinaryOperation) and isinstance(outer.operator, cst.Multiply):
        return False
    around = model.tree.enclosing(node, cst.ClassDef, cst.FunctionDef, cst.Lambda)
    names = (name.value for name in model.tree.within(element, cst.Name))
    return not isinstance(around, cst.ClassDef) and "_" not in names


def _fix(
    node: cst.BinaryOperation, display: cst.List | cst.Tuple, count: cst.BaseExpression, model: Model
) -> Fix | None:
    if not names.is_builtin("range", node, model):
        return None
    if not isinstance(display, cst.List) or len(display.elements) != 1 or "\n" in model.tree.code(node):
        return None
    element, size = display.elements[0], model.tree.code(count)
    if not _can_be_comprehension(node, element, model) or next(iter(model.tree.within(node, cst.NamedExpr)), None):
        return None
    ending = f" for _ in range({size})]"
    if display is node.left:
        edits: tuple[Edit, ...] = (Edit(Anchor(element.value, True), Anchor(node, True, inside=True), ending),)
    else:
        edits = (
            Edit(Anchor(node, False, inside=True), Anchor(element.value, False), "["),
            Edit(Anchor(element.value, True), Anchor(node, True, inside=True), ending),
        )
    return Fix("Make a layer for each place", edits).doubted(
        "there are more weights: training takes another way, and other state dicts fit"
    )
