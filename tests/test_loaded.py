"""What `torch.load` is told: only weights where weights are used, anything where an object is."""

from __future__ import annotations

import pytest

from torchlint.diagnostic import Fixing, LocatedFix
from torchlint.file.check import check_text

RULES = frozenset(("TL701",))
HEAD = "import argparse\nimport numpy as np\nimport torch\nfrom torch import nn\n"

WEIGHTS = [
    "def save(info, optim):\n    torch.save(optim, p)\n\nsave(1, net.state_dict())\nstate = torch.load(p)",
    "def save(info, optim):\n    torch.save(optim, p)\n\ndef f(opt):\n    opt.load_state_dict(torch.load(p))",
    "net.load_state_dict(torch.load(p))",
    "ckpt = torch.load(p)\nnet.load_state_dict(ckpt['state_dict'])\nbest = ckpt['best']",
    "state = torch.load(p)['model']\nnet.load_state_dict(state)",
    "ckpt = torch.load(p)\nnet.load_state_dict(ckpt.get('state_dict'))",
    "x = torch.load(p)\ny = x.unsqueeze(0)",
    "torch.save(net.state_dict(), p)\nx = torch.load(p)",
    "model = torch.load(p)\nnet.load_state_dict(model)\nmodel = nn.Linear(1, 1)\nmodel.eval()",
]
OBJECT = [
    "def save(info, optim):\n    torch.save(info, p)\n\nsave({'a': np.ones(3)}, optim=1)\nstate = torch.load(p)",
    "model = torch.load(p)\nmodel.eval()",
    "model = torch.load(p)\ny = model(x)",
    "ckpt = torch.load(p)\nmodel = ckpt['model'].float()",
    "model = torch.load(p)['model'].float().fuse().eval()",
    "agent = torch.load(p)\nagent._policy.act(x)",
    "class A:\n    def __init__(self):\n        self.net = torch.load(p)\n    def f(self, x):\n        return self.net(x)",
    "ckpt = torch.load(p)\nnet.load_state_dict(ckpt['net'])\nlr = ckpt['args'].lr",
    "torch.save(nn.Linear(1, 1), p)\nx = torch.load(p)",
    "torch.save({'a': np.ones(3)}, p)\nx = torch.load(p)",
    "torch.save({'a': np.mean(xs)}, p)\nx = torch.load(p)",
    "optimizer = torch.optim.SGD(ws)\ntorch.save({'o': optimizer}, p)\nx = torch.load(p)",
    "def f(args):\n    state = {'net': net.state_dict(), 'args': args}\n    torch.save(state, p)\n    return torch.load(p)",
    "class Own: ...\ntorch.save([Own()], 'x.pt')\nx = torch.load('x.pt')",
]
UNKNOWN = [
    "x = torch.load(p)",
    "def save(model, optim):\n    torch.save(optim, p)\n\ndef load():\n    return torch.load(p)",
    "torch.save(self._wrapped_model.anchor_generator, f)\nx = torch.load(f)",
    "def f(p):\n    return torch.load(p)",
    "torch.save(np.ones(3), q)\nx = torch.load(p)",
]


def found(text: str) -> tuple[LocatedFix, str]:
    outcome = check_text(f"{HEAD}{text}\n", "x.py", RULES)
    (diagnostic,) = outcome.diagnostics
    assert diagnostic.fix is not None
    return diagnostic.fix, diagnostic.message


@pytest.mark.parametrize("text", WEIGHTS)
def test_weights(text: str) -> None:
    fix, _ = found(text)
    assert "weights_only=True" in fix.message
    assert not fix.alternatives


@pytest.mark.parametrize("text", OBJECT)
def test_an_object(text: str) -> None:
    fix, message = found(text)
    assert "weights_only=False" in fix.message
    assert "weights_only=False" in message
    assert "add_safe_globals" in message
    (other,) = fix.alternatives
    assert "add_safe_globals" in other.message
    after = check_text(f"{HEAD}{text}\n", "x.py", RULES, Fixing.UNSAFE).text
    assert "weights_only=False" in after
    assert "weights_only=True" not in after


@pytest.mark.parametrize("text", UNKNOWN)
def test_nothing_says(text: str) -> None:
    (diagnostic,) = check_text(f"{HEAD}{text}\n", "x.py", RULES).diagnostics
    assert diagnostic.fix is None
    assert "pass `weights_only=True`, or `False` if you trust it" in diagnostic.message
