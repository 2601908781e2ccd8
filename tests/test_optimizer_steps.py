"""``step()`` of an optimizer gets a decorator where blocks would be several, and the weights are what they were."""

from __future__ import annotations

from pathlib import Path

import pytest

from torchlint.diagnostic import Fixing
from torchlint.file.check import check_text
from torchlint.rules import catalogue
from torchlint.testing.execution import rough_differences, run

CODES = frozenset(catalogue())

HEAD = """\
import torch
from torch.optim import Optimizer


class Descent(Optimizer):
    def __init__(self, params, lr=0.1):
        super().__init__(params, dict(lr=lr))

"""
LOOP = """\
        for group in self.param_groups:
            for p in group["params"]:
                p.data.mul_(0.99)
                grad = p.grad.data
                p.data.add_(-group["lr"], grad)
                if group["lr"] > 0.01:
                    p.data = p.data - 0.1 * p.data
"""
FIXED = """\
        for group in self.param_groups:
            for p in group["params"]:
                p.mul_(0.99)
                grad = p.grad
                p.add_(grad, alpha=-group["lr"])
                if group["lr"] > 0.01:
                    p.copy_(p - 0.1 * p)
"""
CLOSURE = "        loss = None\n        if closure is not None:\n            loss = closure()\n"
CLOSED = (
    "        loss = None\n        if closure is not None:\n            with torch.enable_grad():\n"
    "                loss = closure()\n"
)
TRAINED = """

torch.manual_seed(0)
net = torch.nn.Linear(3, 2)
optimizer = Descent(net.parameters())


def closure():
    optimizer.zero_grad()
    loss = net(torch.ones(1, 3)).pow(2).sum()
    loss.backward()
    return loss


for _ in range(3):
    value = optimizer.step(closure)
del closure
"""

# what stands in the class, and what becomes of it
STEPS = {
    "with a closure": (
        f"    def step(self, closure=None):\n{CLOSURE}{LOOP}        return loss\n",
        f"    @torch.no_grad()\n    def step(self, closure=None):\n{CLOSED}{FIXED}        return loss\n",
    ),
    "on the line of the condition": (
        "    def step(self, closure=None):\n        '''One step.'''\n        loss = None\n"
        f"        if closure: loss = closure()\n{LOOP}        return loss\n",
        "    @torch.no_grad()\n    def step(self, closure=None):\n        '''One step.'''\n        loss = None\n"
        f"        if closure:\n            with torch.enable_grad():\n                loss = closure()\n{FIXED}        return loss\n",
    ),
    "in an expression": (
        f"    def step(self, f):\n        loss = float(f())\n{LOOP}        return loss\n",
        "    @torch.no_grad()\n    def step(self, f):\n        with torch.enable_grad():\n"
        f"            loss = float(f())\n{FIXED}        return loss\n",
    ),
}
KEPT = {
    "with a graph of its own": LOOP + "        closure().backward()\n",
    "given on": LOOP + "        return self.again(closure)\n",
    "called twice": "        closure()\n" + LOOP + "        return closure()\n",
    "with a mode of its own": "        with torch.enable_grad():\n            loss = closure()\n" + LOOP,
    "with a function inside": "        def later():\n            return closure()\n"
    + LOOP
    + "        return later()\n",
}


@pytest.mark.parametrize("what", STEPS)
def test_a_step_is_decorated(what: str) -> None:
    before, after = STEPS[what]
    text = HEAD + before + TRAINED
    outcome = check_text(text, "x.py", CODES, Fixing.UNSAFE)
    assert (outcome.text, outcome.problems) == (HEAD + after + TRAINED, ())
    assert not rough_differences(
        run(text.replace("(-group", "(grad, alpha=-group").replace(", grad)\n", ")\n")), run(outcome.text)
    )
    safe = check_text(text, "x.py", CODES, Fixing.SAFE).text
    assert "no_grad" not in safe
    assert "p.data.mul_(0.99)" in safe


READS = """\
        for group in self.param_groups:
            for p in group["params"]:
                state = self.state[p]
                state["old"] = p.data.clone()
                state["kept"] = p.data
                norm = p.data.norm()
                p.data.mul_(0.99)
                if p.data.sum() > norm:
                    p.data.add_(-0.1 * p.data, alpha=group["lr"])
"""


def test_reads_in_a_decorated_step_need_nothing() -> None:
    text = f"{HEAD}    def step(self):\n{READS}{TRAINED.replace('(closure)', '()')}"
    fixed = check_text(text, "x.py", CODES, Fixing.UNSAFE).text
    expected = READS.replace('"kept"] = p.data', '"kept"] = p.detach()').replace("p.data", "p")
    assert f"    @torch.no_grad()\n    def step(self):\n{expected}" in fixed
    assert not rough_differences(run(text), run(fixed))
    safe = check_text(text, "x.py", CODES, Fixing.SAFE).text
    assert check_text(safe, "x.py", CODES, Fixing.UNSAFE).text == fixed


@pytest.mark.parametrize("what", KEPT)
def test_what_needs_graphs_gets_blocks(what: str) -> None:
    fixed = check_text(f"{HEAD}    def step(self, closure=None):\n{KEPT[what]}", "x.py", CODES, Fixing.UNSAFE).text
    assert "@torch.no_grad()" not in fixed
    assert fixed.count("with torch.no_grad():") == 1
    assert "        with torch.no_grad():\n            for group in" in fixed


def test_one_block_is_left_a_block() -> None:
    step = "    def step(self):\n        for p in self.ps:\n            p.data.mul_(2)\n            p.data.add_(1)\n"
    fixed = check_text(HEAD + step, "x.py", CODES, Fixing.UNSAFE).text
    assert "@" not in fixed
    assert fixed.count("with torch.no_grad():") == 1


def test_each_fix_says_what_can_change() -> None:
    text = HEAD + STEPS["with a closure"][0]
    found = check_text(text, "x.py", CODES).diagnostics
    risks = {each.fix.risk for each in found if each.fix is not None and "decorate" in each.fix.message}
    assert len(risks) == 1
    assert "all of `step` runs under `no_grad`" in risks.pop()


def test_bases_in_other_files(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").touch()
    (tmp_path / "base.py").write_text("from torch.optim import Optimizer\n\n\nclass Base(Optimizer):\n    pass\n")
    text = f"import torch\nfrom base import Base\n\n\nclass Mine(Base):\n    def step(self):\n{LOOP}"
    other = text.replace("(Base)", "(Stranger)").replace("import Base", "import Stranger")
    for each, expected in ((text, 1), (other, 0)):
        path = tmp_path / "x.py"
        path.write_text(each)
        fixed = check_text(each, "x.py", CODES, Fixing.UNSAFE, location=str(path)).text
        assert fixed.count("@torch.no_grad()\n    def step") == expected
