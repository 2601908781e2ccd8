r"""What goes into a loss went through softmax or sigmoid already, or lacks it.

`cross_entropy` takes logits and does `log_softmax` itself: with probabilities, the gradients are small, and a confident
network cannot get its loss near zero. `binary_cross_entropy_with_logits` does the sigmoid itself. `nll_loss` and
`kl_div` take *log*-probabilities: with probabilities, they compute something else altogether.

```diff run-differs
 import torch
 import torch.nn.functional as F
 from torch import nn

 torch.manual_seed(0)
 x, y = torch.randn(4, 3), torch.tensor([0, 1, 2, 0])
~a = F.cross_entropy(F.softmax(x, dim=1), y)
+a = F.cross_entropy(x, y)
~b = F.nll_loss(torch.softmax(x, 1), y)
+b = F.nll_loss(torch.log_softmax(x, 1), y)
~c = F.kl_div(x.softmax(1), torch.full((4, 3), 1 / 3), reduction="batchmean")
+c = F.kl_div(x.log_softmax(1), torch.full((4, 3), 1 / 3), reduction="batchmean")
!d = nn.BCEWithLogitsLoss()(torch.sigmoid(x), torch.ones(4, 3))
```

Through names, `nn.Sequential` and the `forward` of a module:

```diff
 import torch
 from torch import nn

 class Net(nn.Module):
     def __init__(self):
         super().__init__()
         self.fc = nn.Linear(3, 3)
         self.softmax = nn.Softmax(dim=1)

     def forward(self, x):
         return self.softmax(self.fc(x))

 def train(x, y):
     criterion = nn.CrossEntropyLoss()
     net = Net()
     outputs = net(x)
!    loss = criterion(outputs, y)
     head = nn.Sequential(nn.Linear(3, 1), nn.Sigmoid())
     probabilities = head(x).squeeze(1)
!    loss += nn.functional.binary_cross_entropy_with_logits(probabilities, y)
     return loss
```

Logits and log-probabilities are what is wanted; a network that applies softmax in evaluation only gives logits in
training, and `nll_loss` without a reduction is a way to read off a probability:

```diff
 import torch
 import torch.nn.functional as F
 from torch import nn

 class Net(nn.Module):
     def __init__(self):
         super().__init__()
         self.fc = nn.Linear(3, 3)

     def forward(self, x):
         x = self.fc(x)
         if not self.training:
             x = x.softmax(1)
         return x

 def f(x: torch.Tensor, y):
     a = F.cross_entropy(Net()(x), y)
     b = F.nll_loss(F.log_softmax(x, 1), y)
     c = F.cross_entropy(F.log_softmax(x, 1), y)
     d = F.nll_loss(F.softmax(x, 1), y, reduction="none")
     e = F.binary_cross_entropy(torch.sigmoid(x), y)
     g = F.cross_entropy(x, F.softmax(y, 1))
     h = F.kl_div(F.softmax(x, 1).log(), y)
     return a, b, c, d, e, g, h
```

## When the fix is unsafe

Always: another loss is computed. There is no fix for a softmax with a `dtype=`, or over another dimension than the loss
takes for that of the classes.

`torch.nn.CrossEntropyLoss`: <https://docs.pytorch.org/docs/stable/generated/torch.nn.CrossEntropyLoss.html>.
"""

from __future__ import annotations

import libcst as cst

from torchlint import edit
from torchlint.model import Kind, Model, Ndim, activations, bindings
from torchlint.model.activations import Activation
from torchlint.model.syntax import integer, keyword, last_name
from torchlint.rule import Applicability, Edit, Finding, Fix, Group, Severity, all_of, any_of, on, pattern, word
from torchlint.rules.shared import losses

GROUP = Group.CORRECTNESS
SEVERITY = Severity.ERROR

_LOSSES = {
    "torch.nn.functional.cross_entropy": "cross_entropy",
    "torch.nn.CrossEntropyLoss": "cross_entropy",
    "torch.nn.functional.binary_cross_entropy_with_logits": "binary_cross_entropy_with_logits",
    "torch.binary_cross_entropy_with_logits": "binary_cross_entropy_with_logits",
    "torch.nn.BCEWithLogitsLoss": "binary_cross_entropy_with_logits",
    "torch.nn.functional.nll_loss": "nll_loss",
    "torch.nn.NLLLoss": "nll_loss",
    "torch.nn.functional.kl_div": "kl_div",
    "torch.nn.KLDivLoss": "kl_div",
}
_LAST_NAMES = frozenset(name.rpartition(".")[2] for name in _LOSSES)

_FILE = any_of(word("CrossEntropyLoss"), word("BCEWithLogitsLoss"), word("NLLLoss"), word("KLDivLoss"))


@on(
    cst.Call,
    trigger=any_of(
        word("cross_entropy"),
        word("binary_cross_entropy_with_logits"),
        word("nll_loss"),
        word("kl_div"),
        all_of(pattern(r"\w \("), _FILE),
    ),
)
def check(node: cst.Call, model: Model) -> Finding | None:
    """Report a loss that is given probabilities."""
    given = keyword(node.args, "input") or (node.args[0] if node.args and node.args[0].keyword is None else None)
    if given is None or given.star or len(node.args) < 2 or not losses.may_be_one_of(node.func, _LAST_NAMES, model):
        return None
    activation = model.ask(activations.activation, given.value)
    if activation not in (Activation.SOFTMAX, Activation.SIGMOID):
        return None
    loss = _loss(node.func, model)
    if loss is None:
        return None
    if loss == "nll_loss" and _is_unreduced(node):
        return None
    if loss in ("nll_loss", "kl_div"):
        said = f"`{loss}` takes the logarithm of probabilities, not the output of {activation.value}"
    else:
        applied = "softmax" if loss == "cross_entropy" else "a sigmoid"
        said = f"`{loss}` applies {applied} itself; give it logits, not the output of {activation.value}"
    return Finding(given.value, said, _fix(loss, given.value, activation, model))


def _loss(func: cst.BaseExpression, model: Model) -> str | None:
    """The loss that is computed, by its function; the default where another one may be given."""
    value = model.value(func)
    if value.kind == Kind.MODULE:
        return _LOSSES.get(value.ref or "") if not isinstance(value.node, cst.ClassDef) else None
    ref = model.qualified(func)
    if ref is not None:
        return _LOSSES.get(ref) if not ref.endswith("Loss") else None
    match model.ask(bindings.made, func):
        case cst.BooleanOperation(operator=cst.Or(), left=cst.Name(), right=cst.Call() as default):
            return _loss(default, model)
        case (
            cst.IfExp(body=cst.Call() as default, orelse=cst.Name())
            | cst.IfExp(body=cst.Name(), orelse=cst.Call() as default)
        ):
            return _loss(default, model)
    return None


def _is_unreduced(node: cst.Call) -> bool:
    made = node.func if isinstance(node.func, cst.Call) else node
    reduction = keyword(made.args, "reduction") or keyword(made.args, "reduce")
    return reduction is not None and last_name(reduction.value) != "True" and '"mean"' not in _text(reduction)


def _text(arg: cst.Arg) -> str:
    return arg.value.value.replace("'", '"') if isinstance(arg.value, cst.SimpleString) else ""


def _fix(loss: str, given: cst.BaseExpression, activation: Activation, model: Model) -> Fix | None:
    if activation is not Activation.SOFTMAX or not isinstance(given, cst.Call):
        return None
    func = given.func
    if last_name(func) != "softmax" or not isinstance(func, cst.Attribute):
        return None
    is_method = model.qualified(func) is None
    if loss in ("nll_loss", "kl_div"):
        edits: tuple[Edit, ...] = (edit.replace(func.attr, "log_softmax"),)
        return Fix("Use `log_softmax`", edits, Applicability.UNSAFE, risk="the loss has other values and gradients")
    if loss != "cross_entropy" or not (is_method or given.args) or keyword(given.args, "dtype") is not None:
        return None  # it may be there for the range that the logits lack
    risk = _risk_of_dimension(given, is_method, model)
    if risk is None:
        return None
    if is_method:
        edits = (edit.replace_after(func.value, given),)
    elif given.args and given.args[0].keyword is None and not given.args[0].star:
        inner = given.args[0].value
        edits = (edit.replace_before(given, inner), edit.replace_after(inner, given))
    else:
        return None
    return Fix("Give it the logits", edits, Applicability.UNSAFE, risk=risk)


def _risk_of_dimension(softmax: cst.Call, is_method: bool, model: Model) -> str | None:
    """What can change if a softmax goes over another dimension than the loss does; None if it surely is another.

    That is the second one, or of one dimension the only one.
    """
    func = softmax.func
    tensor = func.value if is_method and isinstance(func, cst.Attribute) else softmax.args[0].value
    plain = [arg.value for arg in softmax.args if arg.keyword is None]
    dim = keyword(softmax.args, "dim")
    given = dim.value if dim is not None else plain[0 if is_method else 1] if len(plain) > (not is_method) else None
    number = 1 if given is None else integer(given)
    ndim = model.value(tensor).ndim
    if number == 1 or (number == -1 and not ndim & ~(Ndim.ONE | Ndim.TWO)) or (number == 0 and ndim == Ndim.ONE):
        return _RISK
    if number not in (None, -1) or (number == -1 and ndim == Ndim.MANY):
        return None
    return f"{_RISK}, and is another loss if the softmax is not over the classes, dimension 1"


_RISK = "the loss of the logits has other values and gradients"
