"""What `torch.load` is told: only weights where weights are used, anything where an object is."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path

import pytest
import torch
from conftest import Torchlint

from torchlint.diagnostic import Fixing, LocatedFix
from torchlint.file.check import check_text

RULES = frozenset(("TL701",))
HEAD = "import argparse\nimport enum\nimport numpy as np\nimport torch\nfrom torch import nn\n"

WEIGHTS = [
    "if gpu:\n    state = torch.load(p)\nelif p:\n    state = {}\nnet.load_state_dict(state)",
    "def save(info, optim):\n    torch.save(optim, p)\n\nsave(1, net.state_dict())\nstate = torch.load(p)",
    "def save(info, optim):\n    torch.save(optim, p)\n\ndef f(opt):\n    opt.load_state_dict(torch.load(p))",
    "net.load_state_dict(torch.load(p))",
    "state: dict[str, torch.Tensor] = torch.load(p)\nnet.load_state_dict(state)",
    "x = torch.load(p)\ny = x.unsqueeze(0)",
    "torch.save(net.state_dict(), p)\nx = torch.load(p)",
    "for epoch in range(3):\n    torch.save({'n': net.state_dict(), 'epoch': epoch + 1, 'loss': l.item()}, p)\nx = torch.load(p)['n']",
    "state = dict(n=net.state_dict())\nlosses = []\nlosses.append(l.item())\nstate['l'] = losses\ntorch.save(state, p)\n"
    "x = torch.load(p)",
    "def save(step: int, config=None):\n    torch.save({'n': net.state_dict(), 'step': step}, p)\n\nx = torch.load(p)",
    "model = torch.load(p)\nnet.load_state_dict(model)\nmodel = nn.Linear(1, 1)\nmodel.eval()",
]
OBJECT = [
    "if gpu:\n    model = torch.load(p)\nelse:\n    model = make()\nmodel.eval()",
    "def save(info, optim):\n    torch.save(info, p)\n\nsave({'a': np.ones(3)}, optim=1)\nstate = torch.load(p)",
    "model = torch.load(p)\nmodel.eval()",
    "if isinstance(p, str):\n    model = torch.load(p)\n    model.eval()",
    "model = torch.load(p)\ny = model(x)",
    "model: nn.Linear = torch.load(p)\nmodel.eval()",
    "class A:\n    def __init__(self):\n        self.net: nn.Module = torch.load(p)\n    def f(self, x):\n        return self.net(x)",
    "ckpt: dict = torch.load(p)\nmodel = ckpt['model'].float()",
    "ckpt = torch.load(p)\nmodel = ckpt['model'].float()",
    "model = torch.load(p)['model'].float().fuse().eval()",
    "agent = torch.load(p)\nagent._policy.act(x)",
    "class A:\n    def __init__(self):\n        self.net = torch.load(p)\n    def f(self, x):\n        return self.net(x)",
    "ckpt = torch.load(p)\nnet.load_state_dict(ckpt['net'])\nlr = ckpt['args'].lr",
    "torch.save(nn.Linear(1, 1), p)\nx = torch.load(p)",
    "torch.save({'a': np.ones(3)}, p)\nx = torch.load(p)",
    "torch.save({'a': np.mean(xs)}, p)\nx = torch.load(p)",
    "optimizer = torch.optim.SGD(ws)\ntorch.save({'o': optimizer}, p)\nx = torch.load(p)",
    "def f(args):\n    torch.save({'args': args, 'lr': args.lr}, p)\n    return torch.load(p)",
    "def main(args):\n    torch.save({'args': args}, p)\n    return torch.load(p)\n\nmain(argparse.ArgumentParser().parse_args())",
    "state = {}\nstate['loss'] = np.mean(xs)\ntorch.save(state, p)\nnet.load_state_dict(torch.load(p)['net'])",
    "q = 'x.pt'\nloss = np.mean(xs)\ntorch.save({'n': net.state_dict(), 'loss': loss}, q)\nnet.load_state_dict(torch.load('x.pt')['n'])",
    "class Own: ...\ntorch.save([Own()], 'x.pt')\nx = torch.load('x.pt')",
]
UNKNOWN = [
    "def f(args):\n    state = {'net': net.state_dict(), 'args': args}\n    torch.save(state, p)\n    return torch.load(p)",
    "def save(config: dict, p):\n    torch.save({'net': net.state_dict(), 'config': config}, p)\n\ndef f(p):\n    c = torch.load(p)\n"
    "    net.load_state_dict(c['net'])",
    "def save(history: dict[str, list[float]], p):\n    torch.save({'history': history}, p)\n\nc = torch.load(p)['history']",
    "def save(loss: float):\n    torch.save({'n': net.state_dict(), 'loss': loss}, p)\n\nnet.load_state_dict(torch.load(p)['n'])",
    "torch.save({'n': net.state_dict(), 'loss': loss}, p)\nnet.load_state_dict(torch.load(p)['n'])",
    "torch.save({'n': net.state_dict(), 'loss': round(np.mean(xs), 2)}, p)\nnet.load_state_dict(torch.load(p)['n'])",
    "torch.save(np.ones(3), p)\ntorch.save(net.state_dict(), p)\nnet.load_state_dict(torch.load(p))",
    "torch.save(net.state_dict(), p)\nmodel = torch.load(p)\nmodel.eval()",
    "best = 0.0\nif xs:\n    best = np.mean(xs)\ntorch.save({'n': net.state_dict(), 'best': best}, p)\nx = torch.load(p)",
    "class E(enum.Enum):\n    A = 1\n\ntorch.save({'e': E.A}, p)\nx = torch.load(p)",
    "names = torch.load(p)\nnames.append(1)",
    "ckpt = torch.load(p)\nnet.load_state_dict(ckpt.get('state_dict'))",
    "state = torch.load(p)['model']\nnet.load_state_dict(state)",
    "ckpt = torch.load(p)\nnet.load_state_dict(ckpt['state_dict'])\nbest = ckpt['best']",
    "x = torch.load(p)",
    "def save(model, optim):\n    torch.save(optim, p)\n\ndef load():\n    return torch.load(p)",
    "torch.save(self._wrapped_model.anchor_generator, f)\nx = torch.load(f)",
    "def f(p):\n    return torch.load(p)",
    "torch.save(np.ones(3), q)\nx = torch.load(p)",
    "state = torch.load(p)\nif isinstance(state, nn.Module):\n    state = state.state_dict()",
    "def of(state):\n    return state.float().eval() if hasattr(state, 'eval') else state\n\nmodel = of(torch.load(p))",
]

SAVED = [
    "{'a': 1, 'b': 1.5, 'c': None, 'd': 'x', 'e': (1, [2]), 'f': True}",
    "net.state_dict()",
    "torch.optim.SGD(net.parameters(), lr=0.1).state_dict()",
    "np.mean([1.0]).item()",
    "np.ones(2).tolist()",
    "float(np.mean([1.0]))",
    "{'best': np.inf, 'nan': float('nan')}",
    "{'a': not net, 'b': net is None, 'c': 1 + 2 * len('x'), 'd': f'{net}'}",
    "dict(a=list((1, 2)), b=max(1, 2), c=round(1.5, 1))",
    "[torch.ones(2) for _ in range(2)]",
    "nn.Parameter(torch.ones(2))",
]
REFUSED = [
    "{'loss': np.mean([1.0])}",
    "{'loss': np.mean([1.0]) * 2}",
    "{'loss': -np.ones(2).max()}",
    "[np.ones(2)]",
    "np.float32(1)",
    "net",
    "[torch.optim.SGD(net.parameters(), lr=0.1)]",
    "{'args': argparse.Namespace(a=1)}",
    "argparse.ArgumentParser().parse_args([])",
]
LEFT_ALONE = [
    "try:\n    x = torch.load(p)\nexcept TypeError:\n    x = None",
    "try:\n    x = torch.load(p)\nexcept Exception:\n    x = torch.load(p, encoding='latin1')",
    "try:\n    x = torch.jit.load(p)\nexcept RuntimeError:\n    x = torch.load(p)",
    "try:\n    x = torch.load(p, weights_only=True)\nexcept TypeError:\n    x = torch.load(p)",
    "try:\n    x = torch.load(p)\nexcept Exception:\n    with open(p, 'rb') as f:\n        x = pickle.load(f)",
    "if torch.__version__ < '2':\n    x = torch.load(p)",
]
REPORTED = [
    "try:\n    x = torch.load(p)\nexcept:\n    print('start new training')",
    "try:\n    x = torch.load(p)\nexcept Exception as e:\n    logging.error('failed to load: %s', e)",
    "def f():\n    try:\n        return torch.load(p)\n    except Exception:\n        return None",
    "try:\n    x = torch.load(p)\nexcept RuntimeError:\n    download(p)",
    "try:\n    print(1)\nexcept Exception:\n    x = torch.load(p)",
    "try:\n    net.load_state_dict(torch.load(p))\nexcept Exception:\n    net.load_state_dict(other, strict=False)",
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


@pytest.mark.parametrize(
    ("saved", "is_allowed"), [*((each, True) for each in SAVED), *((each, False) for each in REFUSED)]
)
def test_what_is_saved_is_loaded_as_is_said(saved: str, is_allowed: bool, tmp_path: Path) -> None:
    _, message = found(f"net = nn.Linear(2, 2)\ntorch.save({saved}, p)\nx = torch.load(p)")
    assert ("which is enough here" in message) is is_allowed
    assert ("raises since" in message) is not is_allowed
    path = tmp_path / "x.pt"
    exec(f"{HEAD}net = nn.Linear(2, 2)\ntorch.save({saved}, p)\n", {"p": path})
    with nullcontext() if is_allowed else pytest.raises(pickle.UnpicklingError):
        torch.load(path, weights_only=True)


@pytest.mark.parametrize("text", LEFT_ALONE)
def test_another_way_to_load(text: str) -> None:
    assert not check_text(f"{HEAD}{text}\n", "x.py", RULES).diagnostics


@pytest.mark.parametrize("text", REPORTED)
def test_a_handler_that_knows_no_other_way(text: str) -> None:
    assert check_text(f"{HEAD}{text}\n", "x.py", RULES).diagnostics


def test_an_annotation_of_another_file_is_read(
    torchlint: Torchlint, write: Callable[[dict[str, str | bytes]], None]
) -> None:
    """It is of another tree, whose text this file does not have."""
    step = "class Step:\n    def __init__(self, count: int, rate: float) -> None:\n        self.count, self.rate = count, rate\n"
    saved = (
        "import torch\nfrom step import Step\n\ns = Step(1, 2.0)\ntorch.save({'a': [s.count], 'b': s.rate}, 'p.pt')\n"
    )
    write({"step.py": step, "use.py": f"{saved}x = torch.load('p.pt')\n"})
    ran = torchlint("check", "--isolated", "--no-cache", "--select=TL701", "--output-format=concise", "use.py")
    assert ran.code == 1, ran.err
    assert "pass `weights_only=True`, or `False` if you trust it" in ran.out


SAVING = "import torch\n\n\ndef save(net, args, path):\n    torch.save({'net': net.state_dict(), 'args': args, 'n': args.n}, path)\n"
HELPED = (
    "import argparse\n\nfrom files import save_checkpoint\n\nargs = argparse.ArgumentParser().parse_args()\n\n\n"
    "def end(net):\n    save_checkpoint({'net': net.state_dict(), 'args': args}, True)\n"
)
PLAIN = "import torch\n\n\ndef save(net, n, path):\n    torch.save({'net': net.state_dict(), 'n': len(n)}, path)\n"
USING = "class Build:\n    def __init__(self, saved, width=1):\n        self.width = saved['config'].width\n"
READ = "import torch\n\n\ndef load(net, path):\n    saved = torch.load(path)\n    net.load_state_dict(saved['net'])\n"
HANDED = "import torch\nfrom other import Build\n\n\ndef load(path):\n    saved = torch.load(path)\n    return Build(width=2, saved=saved)\n"


@pytest.mark.parametrize(
    ("other", "text", "said"),
    [
        (SAVING, READ, "pass `weights_only=False` if you trust it, or use"),
        (HELPED, READ, "pass `weights_only=False` if you trust it, or use"),
        (PLAIN, READ, "pass `weights_only=True`, or `False` if you trust it"),
        (USING, HANDED, "pass `weights_only=False` if you trust it, or use"),
        (USING.replace(".width\n", "\n"), HANDED, "pass `weights_only=True`, or `False` if you trust it"),
        (SAVING, READ.replace("'net'", "'model'"), "pass `weights_only=True`, or `False` if you trust it"),
    ],
)
def test_other_files_say_what_is_in_it(
    other: str, text: str, said: str, torchlint: Torchlint, write: Callable[[dict[str, str | bytes]], None]
) -> None:
    write({"pyproject.toml": "", "other.py": other, "use.py": text})
    ran = torchlint("check", "--isolated", "--no-cache", "--select=TL701", "--output-format=concise", "use.py")
    assert said in ran.out


FROM_URL = "from torch.hub import load_state_dict_from_url\n\n\ndef load(url, net, x):\n    saved = load_state_dict_from_url(url, map_location='cpu')\n"


@pytest.mark.parametrize(
    ("used", "is_fixed"),
    [
        ("net.load_state_dict(saved)", True),
        ("net.load_state_dict({k: v for k, v in saved['net'].items() if k in saved['net'].keys()})", True),
        ("return saved['epoch'], saved['best'].item(), saved['mean'].to(x.device).float(), saved['w'].cuda()", True),
        ("return type(net)(**saved['config'].options)", False),
        ("config = saved['config']\n    return config.width", False),
        ("return saved['net'](x)", False),
        ("return saved.get('config').width", False),
        ("return width(saved)\n\n\ndef width(checkpoint):\n    return checkpoint['config'].width", False),
    ],
)
def test_what_is_downloaded(used: str, is_fixed: bool) -> None:
    text = f"{FROM_URL}    {used}\n"
    outcome = check_text(text, "x.py", frozenset(("TL702",)), Fixing.UNSAFE)
    assert ("weights_only=True" in outcome.text) is is_fixed
    assert bool(outcome.diagnostics) is not is_fixed


@pytest.mark.parametrize(
    ("setting", "is_forced"),
    [
        ('os.environ["{}"] = "1"', True),
        ("os.environ.setdefault('{}', 'True')", True),
        ('os.putenv("{}", "yes")', True),
        ('os.environ.update({{"{}": "1"}})', True),
        ('os.environ.update({}="1")', True),
        ('os.environ |= {{"{}": "1"}}', True),
        ('# os.environ["{}"] = "1"', False),
        ('"""Where needed: `os.environ["{}"] = "1"`."""', False),
        ('defaults["{}"] = "1"', False),
        ('os.environ.update({{"{}": "0"}})', False),
        ('os.environ["{}"] = "0"', False),
        ('if os.environ.get("{}", "1") == "1":\n    print("set")', False),
    ],
)
def test_a_variable_that_lets_everything_be_loaded(
    setting: str, is_forced: bool, torchlint: Torchlint, write: Callable[[dict[str, str | bytes]], None]
) -> None:
    """The package sets it when it is imported: nothing raises then, and 2.6 changes nothing."""
    setting = setting.format("TORCH_FORCE_NO_WEIGHTS_ONLY_LOAD")
    text = "import torch\n\nmodel = torch.load('model.pt')\nmodel.eval()\n"
    write({"pyproject.toml": "", "p/__init__.py": f"import os\n\n{setting}\n", "p/load.py": text})
    for target in ("1.8", "2.6"):
        ran = torchlint("check", "--isolated", "--no-cache", "--select=TL701", f"--target-torch={target}", "p")
        assert ("`TORCH_FORCE_NO_WEIGHTS_ONLY_LOAD` is set" in ran.out) is is_forced
        assert ("raises since PyTorch 2.6" in ran.out) is (not is_forced and target == "1.8")
