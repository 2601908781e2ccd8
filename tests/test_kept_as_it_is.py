"""Programs that a fix would change: no fix, or none that is safe."""

from __future__ import annotations

import pytest

from torchlint.diagnostic import Fixing
from torchlint.file.check import check_text
from torchlint.rules import catalogue
from torchlint.testing.execution import differences, run

CODES = frozenset(catalogue())
HEAD = "import torch\nimport torch.nn.functional as F\n"


def fixed(text: str, fixing: Fixing) -> str:
    outcome = check_text(text, "x.py", CODES, fixing)
    assert not outcome.problems
    return outcome.text


NO_FIX = {
    "metadata through .data of a gradient": "w.grad.data.t_()",
    "storage through .data of a gradient": "w.grad.data.resize_(3)",
    "metadata through .data": "w.data.squeeze_()",
    "storage through .data of an input that may require grad": "class F(torch.autograd.Function):\n    @staticmethod\n    def forward(ctx, x):\n        return torch.bmm(x.data.resize_(4, 3, 1), x.data.resize_(4, 1, 3))",
    "a weight that is written in each call": "class M(torch.nn.Linear):\n    def forward(self, x):\n        self.weight.data *= 2\n        return super().forward(x)",
    "a weight that is written by what each call calls": "class M(torch.nn.Linear):\n    def clip(self):\n        self.weight.data.clamp_(-1, 1)\n    def forward(self, x):\n        self.clip()\n        return super().forward(x)",
    "half of an assignment": "def f(p: torch.Tensor, q: torch.Tensor):\n    p.data = q.data.clone()",
    "half of an assignment to two": "def f(p: torch.Tensor, q: torch.Tensor):\n    p.data, a = q.data, p.data",
    "await in a block": "async def f(p: torch.Tensor, q):\n    p.data.add_(await q)",
    "yield in a block": "def f(p: torch.Tensor, q):\n    p.data.add_((yield q))",
    "a name that is bound in a block": "def f(p: torch.Tensor, q):\n    p.data.add_((y := q * 2))\n    return y",
    "a variable of a comprehension": "x = torch.rand(2, 3)\nps = [F.softmax(x) for x in xs]",
    "a variable of a lambda": "x = torch.rand(2, 3)\np = lambda x: F.softmax(x)",
    "a variable of a block": "x = torch.rand(2, 3)\nwith f() as x:\n    F.softmax(x)",
    "a variable of a handler": "x = torch.rand(2, 3)\ntry: pass\nexcept ValueError as x:\n    F.softmax(x)",
    "a name that is bound before": "x = torch.rand(2, 3)\ny = (x := torch.rand(2, 3, 4)), F.softmax(x)",
    "a name of another scope": "class A:\n    x = torch.rand(2, 3)\n    def f(self):\n        return F.softmax(x)",
    "sizes, or a list": "x = torch.FloatTensor(*sizes)",
    "numbers with a star": "x = torch.FloatTensor(*[1, 2])",
    "numbers with a star, of a method": "x = torch.ones(1).new(*[1, 2])",
}


@pytest.mark.parametrize("text", NO_FIX.values(), ids=NO_FIX)
def test_no_fix(text: str) -> None:
    before = f"{HEAD}{text}\n"
    assert check_text(before, "x.py", CODES).diagnostics
    assert fixed(before, Fixing.UNSAFE) == before


SAME = {
    "a gradient that is saved": """\
w, x = torch.ones(3, requires_grad=True), torch.ones(3, requires_grad=True)
(w ** 2).sum().backward()
loss = (w.grad * x).sum()
w.grad.data.zero_()
loss.backward()
""",
    "a gradient that is saved under another name": """\
w, x = torch.ones(3, requires_grad=True), torch.ones(3, requires_grad=True)
(w ** 2).sum().backward()
g = w.grad
loss = torch.dot(g, x)
w.grad.data.zero_()
loss.backward()
""",
    "a gradient of a class of one's own": """\
class Slot:
    def __init__(self, value):
        self.grad = value

def clear(slot, x):
    y = slot.grad * x
    slot.grad.data.zero_()
    return y

w, x = torch.ones(3), torch.ones(3, requires_grad=True)
loss = clear(Slot(w), x).sum()
loss.backward()
""",
    "a parameter that is saved, and loaded later": """\
layer = torch.nn.Linear(3, 1)
kept = layer.weight.data
loss = (kept * layer.weight).sum()
layer.load_state_dict({"weight": torch.zeros(1, 3), "bias": torch.zeros(1)})
loss.backward()
""",
    "losses with hooks, in a list that NumPy refuses": """\
import numpy as np
w, losses = torch.ones(3, requires_grad=True), []
for i in range(3):
    loss = (w ** 2).sum()
    losses.append(loss)
    losses[-1].register_hook(lambda grad: grad * 2)
    loss.backward()
try:
    np.array(losses)
except RuntimeError:
    pass
""",
    "losses that are scaled in a list that NumPy refuses": """\
import numpy as np
w, losses = torch.ones(3, requires_grad=True), []
for i in range(3):
    loss = (w ** 2).sum()
    losses.append(loss)
    losses[-1] /= 2
    loss.backward()
try:
    np.array(losses)
except RuntimeError:
    pass
""",
    "a list by two names, one of which is converted": """\
import numpy as np
w, bag = torch.ones(3, requires_grad=True), []
losses = bag
for i in range(3):
    losses.append((w ** 2).sum())
sum(bag).backward()
try:
    first = losses[0]
    np.array(losses)
except RuntimeError:
    pass
""",
    "a gradient and its shape": """\
w = torch.ones(2, 3, requires_grad=True)
w.sum().backward()
w.grad.data.t_()
w.grad.data.mul_(2)
""",
}


@pytest.mark.parametrize("text", SAME.values(), ids=SAME)
def test_safe_fixes_change_nothing(text: str) -> None:
    before = HEAD + text
    assert check_text(before, "x.py", CODES).diagnostics
    assert not differences(run(before), run(fixed(before, Fixing.SAFE)))


def test_a_gradient_that_is_only_read_needs_no_data() -> None:
    text = """\
w = torch.ones(3, requires_grad=True)
(w ** 2).sum().backward()
print(w.grad)
step = 0.1 * w.grad
w.grad.data.zero_()
"""
    assert "w.grad.zero_()" in fixed(HEAD + text, Fixing.SAFE)
