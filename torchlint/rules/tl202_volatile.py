r"""`volatile` was removed in PyTorch 0.4 and has no effect: the graph is built.

`Variable(x, volatile=True)` once switched autograd off for all that followed. Today it warns and records everything, so
evaluation needs the memory of training. Put `with torch.no_grad():` around the evaluation.

```diff run
 import torch
 from torch.autograd import Variable

-x = Variable(torch.ones(3), volatile=True)
+x = Variable(torch.ones(3))
-y = Variable(torch.ones(3), requires_grad=False, volatile=True)
+y = Variable(torch.ones(3), requires_grad=False)
!x.volatile = True
 z = Variable(torch.ones(3))
```

A function in the function runs when a block around its definition is left:

```diff
 import torch
 from torch import nn
 from torch.autograd import Variable

 net = nn.Linear(2, 2)

 def evaluate(x):
!    v = Variable(x, volatile=True)
     print(net(v).sum())

     def later():
         return net(v)

     return later()

 def evaluate_by_name(x):
!    v = Variable(x, volatile=True)
     print(net(v).sum())
     return map(lambda layer: layer(v), [net])
```

## When the fix is unsafe

Removing the keyword is safe where it means nothing: nothing is computed from the tensor, or under `no_grad` already,
and no other tensor of the function needs a block. Where the tensor is made outside of such a block and read in it only,
the keyword goes with its wrapper, and takes `--unsafe-fixes`.
Else it alone tells where a `torch.no_grad()` block belongs, and stays (`Variable` with it) until that is there. The
block changes what is computed, so it takes `--unsafe-fixes`:

```python
def evaluate(batches):
    total = 0
    for x, y in batches:
        x = Variable(x, volatile=True)
        out = net(x)
        total += (out - y).pow(2).sum().item()
    return total
```

```python
def evaluate(batches):
    total = 0
    for x, y in batches:
        with torch.no_grad():
            out = net(x)
            total += (out - y).pow(2).sum().item()
    return total
```

```diff
 import torch
 from torch.autograd import Variable

 net = torch.nn.Linear(3, 3)
~x = Variable(torch.ones(3), volatile=True)
~y = net(x)
+x = Variable(torch.ones(3))
+with torch.no_grad():
+    y = net(x)
```

`volatile=True` spread with the values: whatever a volatile tensor took part in had no graph, until it was cut by
`.data` or `.detach()`. So a block takes in the statements that compute with volatile values, and what stands between
them and needs no graph; what is computed with a graph ends it. There is no fix where one statement does both, where the
tensor goes to where nobody can follow it (it is returned, or kept or taken by other functions), and in generators: the
message names what belongs under `no_grad`. Where a flag decides (`volatile=evaluation`) there is no fix either; the
keyword stays until what is computed stands under `with torch.set_grad_enabled(not evaluation):`, or under `no_grad`.
The message names parameters that nothing else uses: who gives them wants that block. A parameter that no call in the
project gives goes with the keyword. Setting the attribute has no fix.
Nor is there a block around a call of a function of the project that keeps what it computes (`self.cache = …`,
`losses.append(…)`): what is kept may need its graph.

What asks for the `volatile` of another tensor, `Variable(torch.zeros(2), volatile=x.volatile)`, asks for nothing today:
the block is around what was made from `x`.

Where gradients are sent back through what is computed from a volatile tensor, the code trains since 0.4, as it does
when the keyword is gone. So it may in the `forward` of a module, and in functions of the file that this calls: an index
or a mask loses the keyword there, and for any other tensor there is no fix.

```diff run
 import torch
 from torch import nn
 from torch.autograd import Variable

 net = nn.Linear(2, 1)
-x = Variable(torch.ones(1, 2), volatile=True)
+x = Variable(torch.ones(1, 2))
 loss = net(x).sum()
 loss.backward()
 print(net.weight.grad)
```

Migration guide of 0.4: <https://pytorch.org/blog/pytorch-0_4_0-migration-guide/>.
"""

from __future__ import annotations

from dataclasses import replace

import libcst as cst

from torchlint import edit
from torchlint.model import Kind, Model
from torchlint.model.bindings import own_references
from torchlint.model.given_everywhere import is_never_given
from torchlint.model.syntax import parameters
from torchlint.model.torch.arguments import literal_bool
from torchlint.rule import Applicability, Finding, Fix, Group, any_of, attribute, on, word
from torchlint.rules.shared.unrecorded_inputs import is_unrecorded_input, volatile_argument
from torchlint.rules.shared.variables import VARIABLE
from torchlint.rules.shared.volatile import blocks
from torchlint.rules.shared.volatile.blocks import Need, Wanted
from torchlint.rules.shared.volatile.values import is_of_another

GROUP = Group.MIGRATION

_NO_EFFECT = "`volatile` has no effect since PyTorch 0.4"
_MESSAGE = f"{_NO_EFFECT}; put the evaluation under `with torch.no_grad():`"
_HALF = "it goes with the others of the function, for which a `torch.no_grad()` block is made"
_WITH_WRAPPER = "it goes with the wrapper, which the block makes needless"
_WIDTH = 40
"""Characters shown of what belongs into a block."""


@on(cst.Call, trigger=any_of(word("volatile"), word("Variable")))
def check_keyword(node: cst.Call, model: Model) -> Finding | None:
    """Report `volatile` in a call of `Variable`."""
    arg = volatile_argument(node)
    if arg is None or model.qualified(node.func) != VARIABLE:
        return None
    wanted = blocks.wanted(node, model)
    remove = Fix("Remove `volatile`", (edit.remove_argument(node, arg),))
    if is_of_another(arg.value, model):
        asked = model.tree.code(arg.value)
        return Finding(arg, f"{_NO_EFFECT}, and `{asked}` is always False; remove it{_idle(arg, model)}", remove)
    match wanted.need:
        case Need.NOTHING if wanted.place is not None:
            sent = _shown(wanted.place, model)
            return Finding(arg, f"{_NO_EFFECT}; it is trained through `{sent}`, so remove `volatile`", remove)
        case Need.NOTHING if blocks.is_half(node, model):
            remove = replace(remove, applicability=Applicability.UNSAFE, risk=_HALF)
            return Finding(arg, _MESSAGE + _idle(arg, model), remove)
        case Need.NOTHING if is_unrecorded_input(node, model):
            remove = replace(remove, applicability=Applicability.UNSAFE, risk=_WITH_WRAPPER)
            return Finding(arg, _MESSAGE + _idle(arg, model), remove)
        case Need.NOTHING:
            return Finding(arg, _MESSAGE + _idle(arg, model), remove)
        case Need.BLOCK:
            return Finding(arg, _MESSAGE, blocks.block(node, model))
        case Need.DECISION:
            undecided = _without_flag(arg, model)
            if undecided is not None:
                return Finding(arg, f"{_NO_EFFECT}, and nobody asks for it here; remove it", undecided)
            return Finding(arg, f"{_decided(arg, model)}{_idle(arg, model)}")
    return Finding(arg, _by_hand(wanted, model))


def _by_hand(wanted: Wanted, model: Model) -> str:
    """What to do where there is no fix."""
    if wanted.place is None:
        return f"{_NO_EFFECT}; put what uses this tensor under `with torch.no_grad():`"
    shown = _shown(wanted.place, model)
    return f"{_NO_EFFECT}; put `{shown}` under `with torch.no_grad():`, without what needs a graph"


def _shown(node: cst.CSTNode, model: Model) -> str:
    code = " ".join(model.tree.code(node).split())
    return code if len(code) <= _WIDTH else f"{code[: _WIDTH - 1]}…"


def _decided(arg: cst.Arg, model: Model) -> str:
    flag = model.tree.code(arg.value)
    negated = f"not {flag}" if isinstance(arg.value, (cst.Name, cst.Attribute, cst.Call)) else f"not ({flag})"
    return (
        f"`volatile={flag}` has no effect since PyTorch 0.4; put what uses this tensor under "
        f"`with torch.set_grad_enabled({negated}):`"
    )


def _without_flag(arg: cst.Arg, model: Model) -> Fix | None:
    """Remove the parameter that decides, which is False unless it is given and never is, and all that asks for it."""
    function = model.scopes.scope_of(arg)
    if not isinstance(arg.value, cst.Name) or not isinstance(function, cst.FunctionDef):
        return None
    name, items = arg.value.value, function.params.params
    flag = next((each for each in items if each.name.value == name), None)
    if flag is None or flag.default is None or literal_bool(flag.default) is not False:
        return None
    uses = [use for use in model.ask(own_references, name, function) if use is not flag.name]
    given = [model.tree.parent(use) for use in uses]
    calls = [(model.tree.parent(each), each) for each in given if isinstance(each, cst.Arg)]
    asking = [(call, each) for call, each in calls if isinstance(call, cst.Call) and volatile_argument(call) is each]
    if len(asking) < len(uses) or any(model.qualified(call.func) != VARIABLE for call, _ in asking):
        return None
    removal = edit.remove_parameter(items, flag)
    if removal is None or not model.ask(is_never_given, function, name):
        return None
    edits = (removal, *(edit.remove_argument(call, each) for call, each in asking))
    risk = f"a call of `{function.name.value}` from outside of the project that gives `{name}` raises"
    return Fix(f"Remove `volatile` and the parameter `{name}`", edits, Applicability.UNSAFE, risk=risk)


def _idle(arg: cst.Arg, model: Model) -> str:
    """The parameters that nothing but `volatile` asks for."""
    scope = model.scopes.scope_of(arg)
    if not isinstance(scope, cst.FunctionDef):
        return ""
    given = {param.name.value for param in parameters(scope)} - {"self", "cls"}
    names = dict.fromkeys(name.value for name in model.tree.within(arg.value, cst.Name) if name.value in given)
    idle = [name for name in names if all(_is_in_volatile(use, model) for use in model.references(name, scope))]
    if not idle:
        return ""
    listed = " and ".join(f"`{name}`" for name in idle)
    return f"; nothing else uses the parameter{'s' if len(idle) > 1 else ''} {listed} of `{scope.name.value}`"


def _is_in_volatile(use: cst.Name, model: Model) -> bool:
    arg = model.tree.enclosing(use, cst.Arg)
    while isinstance(arg, cst.Arg):
        if arg.keyword is not None and arg.keyword.value == "volatile":
            return True
        arg = model.tree.enclosing(arg, cst.Arg)
    return False


@on(cst.Attribute, trigger=attribute("volatile"))
def check_attribute(node: cst.Attribute, model: Model) -> Finding | None:
    """Report `.volatile` of a tensor."""
    if node.attr.value != "volatile":
        return None
    value = model.value(node.value)
    if not value.kind & Kind.TENSOR or value.kind & ~(Kind.TENSOR | Kind.UNKNOWN | Kind.NONE | Kind.NUMBER):
        return None
    arg = model.tree.parent(node)
    if isinstance(arg, cst.Arg) and arg.keyword is not None and arg.keyword.value == "volatile":
        return None  # it goes with the argument
    return Finding(node.attr, _MESSAGE, receiver=node.value)
