r"""`.numpy()` on a tensor that requires grad raises.

NumPy knows no graph, so PyTorch refuses to hand over a tensor that has one. `x.detach().cpu().numpy()` is what is
meant; the detach comes first, so that nothing else is recorded.

```diff run-after
 import numpy as np
 import torch
 from torch import nn

 net = nn.Linear(3, 2)
 out = net(torch.ones(1, 3))
-a = out.numpy()
+a = out.detach().numpy()
-b = out.cpu().numpy()
+b = out.detach().cpu().numpy()
-c = net.weight.cpu().float().numpy()
+c = net.weight.detach().cpu().float().numpy()
 e = out.argmax(1).numpy()
 f = out.detach().cpu().numpy()
 g = net.weight.numpy(force=True)
 with torch.no_grad():
     h = net(torch.ones(1, 3)).numpy()
 i = torch.from_numpy(a).numpy()
```

NumPy's and matplotlib's functions convert what they are given, one tensor or a list of them, and so do the numbers of
shapes that are put into axes, of texts and of limits (`ax.add_patch(plt.Rectangle((x, y), w, h))`):

```diff run-after
 import numpy as np
 import torch
 from torch import nn

 net = nn.Linear(3, 2)
 y = net(torch.ones(1, 3))[0]
-a = np.sqrt(np.abs(y))
+a = np.sqrt(np.abs(y.detach()))
-b = np.array([y[0], y[1]])
+b = np.array([y[0].detach(), y[1].detach()])
-c = np.mean([v * 2 for v in y])
+c = np.mean([(v * 2).detach() for v in y])
```

So does arithmetic with an array after the tensor, or with a sparse matrix of SciPy before it. Whether the graph is
meant is not known, so there is no fix: `torch.as_tensor(a)` keeps it, `x.detach()` does without.

```python
weight = net.weight * np.ones(3)
graph = scipy.sparse.csr_matrix(edges) @ net.weight
```

A list that was filled before is reported where it is converted; what is put into it is detached there, where the list
serves for nothing else (here `losses.append(loss.detach())`):

```python
losses = []
for x, y in loader:
    loss = criterion(model(x), y)
    loss.backward()
    optimizer.step()
    losses.append(loss)
plt.plot(losses)
```

Lists and losses that a function of the project gives in a dictionary are followed by their keys
(`history = train(net)`, then `plt.plot(history["loss"])`), unless the key is given something else.

## What is known of the graph

A finding rests on a proof: the tensor is a parameter, was made with `requires_grad=True`, `backward()` is called on it,
or it is computed from such a one. Where it only comes from a module that has parameters, and in functions for all that
is no parameter, it must also be shown that autograd records: by a call of `backward()` in the function, or by a caller
(a script, a test, `main`) that does not turn it off, in this file or in another one of the project. Where only another
file shows it, networks that the function or its object is given count if that file shows which ones they are, and does
not freeze them. Modules that the file freezes, wherever it does, are no evidence.

```diff
 import torch
 from torch import nn

 net = nn.Linear(3, 2)

 def called(x):
-    return net(x).numpy()
+    return net(x).detach().numpy()

 def called_by_nobody(x):
     return net(x).numpy()

 called(torch.ones(3))
```

A function that converts what it is given is reported where a caller in the project, in this file or another one, hands
it such a tensor while autograd records: the reason names the file and the line. What it asks of its arguments counts
(`isinstance(x, np.ndarray)`, `if as_numpy:`), and so does a `detach()` on the way. What is tried is left alone where
nothing else is tried, or the handler converts in another way, and so is what a test expects to raise.

```python
# plots.py
def plot(losses):
    plt.plot(losses)

# train.py
from plots import plot

plot([criterion(net(x), y) for x, y in batches])
```

So is what an object does with a network that it was made with (`Trainer(Net()).report(x)`, where `report` converts
`self.model(x)`), whichever class of the project keeps that, and what a function converts from whose result a caller
sends gradients back (`loss = step(x)`, then `loss.backward()`).

## When the fix is unsafe

The fix is safe: the original raises, or the tensor has no graph and detaching it is nothing. `np.asarray(x)` takes
arrays, too: where `x` may be one there is no fix, and where it is not known to be a tensor on every path the fix is
unsafe; so it is where only a caller shows that it requires grad, for others may give the function something else,
unless an annotation says that it is a tensor. Where gradients are sent back through the result, there is none either: a
detached tensor has none to send.

```diff
 import numpy as np
 import torch

 def save(x):
~    np.save('x', x)
+    np.save('x', x.detach())

 save(torch.nn.Linear(3, 3)(torch.ones(3)))
```

```diff
 import numpy as np
 import torch
 from torch import nn

 net, criterion = nn.Linear(3, 2), nn.MSELoss()
 x, y = torch.ones(4, 3), torch.ones(4, 2)
!loss = np.sum([criterion(net(x), y), criterion(net(x), y)])
 loss.backward()
!one = np.sum([criterion(net(x), y)])
!two = np.sum([criterion(net(x), y)])
 both = one + 0.05 * two
 both.backward()
```

`Tensor.numpy`: <https://docs.pytorch.org/docs/stable/generated/torch.Tensor.numpy.html>.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

import libcst as cst

from torchlint import edit
from torchlint.model import Certainty, Evidence, Fate, Kind, Model, Strength, lists
from torchlint.model.by_object import appended_requires_grad_by_object, requires_grad_by_object
from torchlint.model.expressions import own_value
from torchlint.model.graphs.fate import fate_of_name
from torchlint.model.graphs.shown import are_elements_told_apart
from torchlint.model.handed import (
    Witness,
    holds_grad_by_call,
    is_no_tensor_by_call,
    proved_by_call,
    requires_grad_by_call,
)
from torchlint.model.imports import imported_path
from torchlint.model.recording_elsewhere import records
from torchlint.model.scopes import bound_by, target_names
from torchlint.model.syntax import assigned_value, bound_name, dotted, last_name, parameters, root
from torchlint.model.torch import conversions
from torchlint.rule import Edit, Finding, Fix, Group, Severity, any_of, attribute, on, part, pattern
from torchlint.rules.shared.drawn import is_added
from torchlint.rules.shared.sent_back import is_sent_back
from torchlint.rules.shared.tried import is_question

GROUP = Group.CORRECTNESS
SEVERITY = Severity.ERROR
WITHOUT_TORCH = True

_WAYS = frozenset(("numpy", "detach", "data", "tolist", "item", "asarray", "array"))
"""How a handler may convert what could not be converted."""
_BEFORE_NUMPY = frozenset(("cpu", "cuda", "to", "float", "double", "half", "contiguous", "squeeze", "view", "reshape"))
_OPERATORS: dict[type[cst.BaseBinaryOp], str] = {
    cst.Add: "add",
    cst.FloorDivide: "floordiv",
    cst.MatrixMultiply: "matmul",
    cst.Modulo: "mod",
    cst.Multiply: "mul",
    cst.Power: "pow",
    cst.Subtract: "sub",
    cst.Divide: "truediv",
}
_MAKING_ARRAYS = frozenset(
    f"numpy.{name}"
    for name in (
        *(
            "arange",
            "array",
            "asarray",
            "concatenate",
            "empty",
            "eye",
            "full",
            "hstack",
            "identity",
            "linspace",
            "ones",
        ),
        *("ones_like", "random.rand", "random.randn", "stack", "tile", "vstack", "zeros", "zeros_like"),
    )
)
_MAKING_SPARSE = frozenset(
    (
        *(f"scipy.sparse.{form}_{kind}" for form in conversions.SPARSE_FORMS for kind in ("array", "matrix")),
        *(f"scipy.sparse.{name}" for name in ("diags", "eye", "identity", "load_npz", "random", "rand")),
    )
)
_LIBRARIES = ("numpy", "matplotlib", "pylab", "scipy")
_NUMPY = re.compile("numpy")
_SPARSE = re.compile(r"scipy.*sparse")
_MATPLOTLIB = re.compile("matplotlib")
_AXES = re.compile(r"(?:.*_)?(?:ax|axs|axes|axis)\d*(?:_.*)?")
"""What axes of matplotlib are called."""
_FIRST = ("a", "object")
"""What the first argument of NumPy's functions is called, where it has one of these names."""

_TRIGGER = any_of(
    attribute("numpy"),
    pattern(r"\b(?:np|numpy|linalg) \. \w+ \( [^\s)]"),
    pattern(r"import numpy(?:\.\w+)* as (?!np\b)"),
    pattern(r"from (?:numpy|matplotlib)(?:\.\w+)* import"),
    pattern(r"\. (?:plot|scatter|hist|hist2d|bar|barh|imshow|matshow|semilogx|semilogy|loglog|stem|step|errorbar) \("),
    pattern(r"\. (?:contourf?|fill|fill_betweenx?|pcolor|pcolormesh|pie|boxplot|violinplot|eventplot|stackplot) \("),
    pattern(r"\. (?:annotate|arrow|ax[hv]line|ax[hv]span|axline|hexbin|[hv]lines|quiver|text) \("),
    pattern(r"\. (?:set_[xy]lim|set_[xy]ticks|[xy]lim|[xy]ticks) \("),
    pattern(r"\. (?:add_patch|add_artist) \("),
)


@on(cst.Call, trigger=_TRIGGER)
def check(node: cst.Call, model: Model) -> Finding | None:
    """Report a conversion to NumPy of what requires grad."""
    found = _converted(node, model)
    if found is None or is_question("RuntimeError", node, _WAYS, model):
        return None
    if not is_sent_back(node, model):
        return found
    said = "NumPy's functions raise for tensors that require grad; use torch's, which `backward()` needs"
    return replace(found, message=said, fix=None)


def _converted(node: cst.Call, model: Model) -> Finding | None:
    match node:
        case cst.Call(func=cst.Attribute(value=tensor, attr=cst.Name("numpy") as name), args=[]):
            if _is_refused(tensor, node, model):
                return _finding(tensor, name, node, model)
            return _handed(tensor, name, node, model)
    if not node.args or not _may_convert(node.func, model):
        return None
    function = _function(node.func, model)
    if not function or (conversions.is_patch(function) and not is_added(node, model)):
        return None
    for position, arg in enumerate(node.args):
        if arg.star or (arg.keyword is not None and (position or arg.keyword.value not in _FIRST)):
            return None
        if conversions.refuses(function, position, "tensor"):
            if _is_refused(arg.value, node, model):
                return _finding(arg.value, node.func, node, model)
            if (found := _handed(arg.value, node.func, node, model)) is not None:
                return found
        if conversions.refuses(function, position, "list") and (found := _of_list(arg.value, node, model)):
            return found
    return None


@on(cst.BinaryOperation, trigger=any_of(part("numpy"), part("scipy")))
def check_operator(node: cst.BinaryOperation, model: Model) -> Finding | None:
    """Report arithmetic of a tensor that requires grad with an array."""
    name = _OPERATORS.get(type(node.operator))
    if name is None or not (model.mentions(_NUMPY) or model.mentions(_SPARSE)):
        return None
    for side, tensor, array in (("", node.left, node.right), ("r", node.right, node.left)):
        if not conversions.refuses(f"torch.Tensor.__{side}{name}__", 0, "tensor"):
            continue
        if _is_made_by(_MAKING_ARRAYS, array, model) and _is_refused(tensor, node, model):
            said = "arithmetic of a tensor that requires grad with an array raises; use `torch.as_tensor` for the array"
            return Finding(tensor, said, receiver=tensor)
    if model.mentions(_SPARSE) and conversions.refuses(f"{conversions.SPARSE}.__{name}__", 0, "tensor"):
        if _is_made_by(_MAKING_SPARSE, node.left, model) and _is_refused(node.right, node, model):
            said = (
                "a sparse matrix of SciPy times a tensor that requires grad raises; use `torch.sparse` for the matrix"
            )
            return Finding(node.right, said, receiver=node.right)
    return None


_Makers = frozenset[str]
"""Functions that give an array or matrix of one kind: what others give may be a number, or act as one."""


def _is_made_by(makers: _Makers, node: cst.BaseExpression, model: Model) -> bool:
    """Whether an expression can only be what one of these functions gives."""
    if isinstance(node, cst.Call):
        return bool(node.args) and _numeric(node.func, model) in makers
    return isinstance(node, cst.Name) and node.value in model.remember(_made_by, makers, model.scopes.scope_of(node))


def _made_by(model: Model, makers: _Makers, scope: cst.FunctionDef | cst.Module) -> frozenset[str]:
    """The names that a scope binds to what these functions give, and to nothing else."""
    found: set[str] = set()
    for call in model.tree.within(scope.body if isinstance(scope, cst.FunctionDef) else scope, cst.Call):
        binding = model.tree.parent(call)
        if model.scopes.scope_of(call) is scope and _is_made_by(makers, call, model):
            found.update(bound_by(binding))
    others = {each.name.value for each in parameters(scope)} if isinstance(scope, cst.FunctionDef) else set()
    return frozenset(name for name in found - others if _is_bound_to_nothing_else(makers, name, scope, model))


def _is_bound_to_nothing_else(makers: _Makers, name: str, scope: cst.FunctionDef | cst.Module, model: Model) -> bool:
    bound = model.targets(name, scope)
    values = (assigned_value(each, model.tree) for each in bound)
    made = [each for each in values if isinstance(each, cst.Call) and _is_made_by(makers, each, model)]
    return len(made) == len(bound)


def _may_convert(function: cst.BaseExpression, model: Model) -> bool:
    """Whether a function has a name that the table knows, or another one for it: ``from numpy import array as A``."""
    name = last_name(function)
    imported = model.ask(imported_path, function) if isinstance(function, cst.Name) else None
    return (imported.rpartition(".")[2] if imported is not None else name) in conversions.converting()


def _function(node: cst.BaseExpression, model: Model) -> str:
    """The name under which the table may have a function; methods of what is called like axes are those of axes."""
    if (name := _numeric(node, model)) is not None:
        return name
    if not isinstance(node, cst.Attribute) or not model.mentions(_MATPLOTLIB):
        return ""
    owner = node.value.value if isinstance(node.value, cst.Subscript) else node.value
    if not _AXES.fullmatch(last_name(owner)) or model.value(owner).kind & ~(Kind.OBJECT | Kind.UNKNOWN | Kind.NDARRAY):
        return ""
    return f"{conversions.AXES}.{node.attr.value}"


def _numeric(node: cst.BaseExpression, model: Model) -> str | None:
    """The qualified name of what can be of NumPy or matplotlib by the name it begins with.

    Tensors have methods of the same names: to ask what each of them is called on would interpret every function.
    """
    is_possible = root(node) in model.remember(_numeric_names)
    if not is_possible and isinstance(node, cst.Name):
        is_possible = model.remember(_has_star)
    return model.qualified(node) if is_possible else None


def _numeric_names(model: Model) -> frozenset[str]:
    """The names that imports of NumPy and matplotlib bind, those they are assigned to, and their usual ones."""
    found = {"np", "plt", *_LIBRARIES}
    for plain in model.tree.all(cst.Import):
        found.update(bound_name(alias) for alias in plain.names if root(alias.name) in _LIBRARIES)
    for each in model.tree.all(cst.ImportFrom):
        if each.module is not None and root(each.module) in _LIBRARIES and not isinstance(each.names, cst.ImportStar):
            found.update(bound_name(alias) for alias in each.names)
    for assign in model.tree.all(cst.Assign):
        values = (assign.value.body, assign.value.orelse) if isinstance(assign.value, cst.IfExp) else (assign.value,)
        if any(isinstance(value, (cst.Name, cst.Attribute)) and root(value) in found for value in values):
            found.update(name for each in assign.targets for name in target_names(each.target))
    return frozenset(found)


def _has_star(model: Model) -> bool:
    """Whether the file imports all of one of the libraries."""
    stars = (each for each in model.tree.all(cst.ImportFrom) if isinstance(each.names, cst.ImportStar))
    return any(each.module is not None and root(each.module) in _LIBRARIES for each in stars)


def _is_refused(tensor: cst.BaseExpression, call: cst.BaseExpression, model: Model) -> bool:
    """Whether a tensor is converted that requires grad, where autograd records."""
    if any(_counts(certainty, call, model) for certainty in model.ask(lists.certainties, tensor)):
        return True
    return _counts(model.ask(requires_grad_by_object, tensor), call, model)


def _counts(certainty: Certainty | None, call: cst.BaseExpression, model: Model) -> bool:
    if certainty not in (Certainty.EXPECTED, Certainty.PROVED) or not model.may_record(call):
        return False
    return certainty == Certainty.PROVED or model.ask(records, call)


def _doubted(fix: Fix) -> Fix:
    return fix.doubted("what is no tensor has no `.detach()`")


def _finding(tensor: cst.BaseExpression, start: cst.CSTNode, call: cst.Call, model: Model) -> Finding:
    message = "converting a tensor that requires grad to NumPy raises; use `.detach()` first"
    fix = Fix("Insert `.detach()`", _detached(tensor))
    kind = model.value(tensor).kind
    if start is call.func and kind != Kind.TENSOR:  # NumPy's functions take arrays and numbers, too
        is_open = not kind & ~(Kind.TENSOR | Kind.UNKNOWN)
        fix_or_none = _doubted(fix) if is_open else None
        return Finding(start, message, fix_or_none, call, receiver=tensor)
    is_open = start is call.func and bool(model.ask(own_value, tensor).kind & Kind.UNKNOWN)  # it may be an array
    is_supposed = kind != Kind.TENSOR and (
        model.requires_grad(tensor) == Certainty.EXPECTED or model.ask(requires_grad_by_object, tensor) is not None
    )
    if is_open or is_supposed:  # what a function gives here may be overridden
        fix = _doubted(fix)
    return Finding(start, message, fix, call, receiver=tensor)


def _handed(tensor: cst.BaseExpression, start: cst.CSTNode, call: cst.Call, model: Model) -> Finding | None:
    """A tensor that the function is given by a caller who lets it require grad.

    Others may give it something else, so that the fix is safe only where it can be nothing but a tensor.
    """
    witness = _witness(tensor, call, model)
    if witness is None:
        return None
    found = replace(_finding(tensor, start, call, model), evidence=_evidence(witness, call))
    value = model.value(tensor)
    is_certain = start is not call.func and value.kind == Kind.TENSOR
    is_certain = is_certain and (value.strength or Strength.NAME) > Strength.CONVENTION
    if found.fix is None or is_certain:
        return found
    is_other = start is call.func and model.ask(is_no_tensor_by_call, tensor, call)  # a list has no `detach()`
    return replace(found, fix=None if is_other else _doubted(found.fix))


def _witness(tensor: cst.BaseExpression, call: cst.Call, model: Model) -> Witness | None:
    """A call that lets a tensor in the function require grad, by what it hands over or does with what it gets."""
    found = model.ask(requires_grad_by_call, tensor, call)
    return model.ask(proved_by_call, tensor, call) if found is None else found


def _evidence(witness: Witness, call: cst.Call) -> Evidence:
    """Which caller lets it require grad."""
    here = "a call in this file" if not witness.place else f"`{witness.place}`"
    said = "sends gradients back from what it gets" if witness.sends_back else "gives one that requires grad"
    return Evidence(Strength.USE, f"{here} {said}", call if witness.place else witness.call)


def _detached(tensor: cst.BaseExpression) -> tuple[Edit, ...]:
    source = tensor
    while isinstance(source, cst.Call) and isinstance(source.func, cst.Attribute):
        if source.func.attr.value not in _BEFORE_NUMPY:
            break
        source = source.func.value
    return edit.append(source, ".detach()")


def _of_list(node: cst.BaseExpression, call: cst.Call, model: Model) -> Finding | None:
    """A list of tensors, which NumPy converts one by one."""
    message = "converting a list of tensors that require grad to NumPy raises; use `.detach()` on its elements"
    elements = list(_elements(node))
    refused = [each for each in elements if _is_refused(each, call, model)]
    if refused:
        tensors = [each for each in elements if model.value(each).kind == Kind.TENSOR]
        edits = tuple(e for each in tensors for e in _detached(each))
        fix = Fix("Insert `.detach()`", edits) if len(tensors) == len(elements) else None
        return Finding(call.func, message, fix, call, receiver=refused[0])
    for each in elements:
        if (witness := _witness(each, call, model)) is not None:
            return Finding(call.func, message, None, call, _evidence(witness, call), receiver=each)
    if elements or not isinstance(node, (cst.Name, cst.Attribute, cst.Subscript, cst.Call)):
        return None
    if _counts(model.ask(lists.elements_require_grad, node), call, model):
        return Finding(call.func, message, _before_the_list(node, call, model), call, receiver=node)
    if _counts(model.ask(appended_requires_grad_by_object, node), call, model):
        return Finding(call.func, message, None, call, receiver=node)
    if (witness := model.ask(holds_grad_by_call, node, call)) is not None:
        return Finding(call.func, message, None, call, _evidence(witness, call), receiver=node)
    return None


def _before_the_list(node: cst.BaseExpression, call: cst.Call, model: Model) -> Fix | None:
    """Detach what is put into a list, if nothing else is done with the list than reading it here."""
    name = dotted(node)
    if name is None or "." in name or model.ask(fate_of_name, name, call) != Fate.READ:
        return None
    added = [each for each in model.ask(lists.appended, node) if model.requires_grad(each) == Certainty.PROVED]
    if not added or any(model.value(each).kind & ~(Kind.TENSOR | Kind.UNKNOWN) for each in added):
        return None
    if any(model.ask(are_elements_told_apart, each) for each in added):
        return None
    return Fix("Add `.detach()` where it is put into the list", tuple(e for each in added for e in _detached(each)))


def _elements(node: cst.BaseExpression) -> Iterator[cst.BaseExpression]:
    """The expressions that a written list or comprehension is made of."""
    match node:
        case cst.List(elements=elements) | cst.Tuple(elements=elements):
            yield from (each.value for each in elements if isinstance(each, cst.Element))
        case cst.ListComp(elt=element):
            yield element
