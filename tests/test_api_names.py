"""How names of torch are found: under which spellings a symbol is reported, and under which nothing is."""

from __future__ import annotations

import pytest

from torchlint.diagnostic import Fixing
from torchlint.file.check import check_text
from torchlint.rules import catalogue

CODES = frozenset(code for code in catalogue() if code >= "TL3")


def codes(text: str) -> list[str]:
    outcome = check_text(text, "x.py", CODES)
    assert not outcome.problems
    return [found.code for found in outcome.diagnostics]


FOUND = {
    "alias": "import torch as th\nth.symeig(a)\n",
    "from import": "from torch import symeig\n",
    "use of a from import": "from torch import qr as f\nf(a)\n",
    "star": "from torch import *\nqr(a)\n",
    "assigned module": "import torch\nth = torch\nth.symeig(a)\n",
    "assigned function": "import torch\nf = torch.symeig\n",
    "bare reference": "import torch\nlist(map(torch.symeig, xs))\n",
    "partial": "import torch, functools\nf = functools.partial(torch.symeig, eigenvectors=True)\n",
    "getattr": 'import torch\nf = getattr(torch, "symeig")\n',
    "decorator": "import torch\n@torch.cuda.amp.custom_fwd\ndef f(ctx, x): ...\n",
    "re-export": "import torch\ntorch.functional.chain_matmul(a, b)\n",
    "re-export of a module": "from torch.nn.utils.clip_grad import clip_grad_norm\n",
    "module in between": "from torch.nn import init\ninit.constant(w, 0)\n",
    "method": "import torch\na = torch.eye(2)\na.qr()\n",
    "method of a call": "import torch\ntorch.eye(2).symeig()\n",
    "argument through a name": "from torch import nn\nmake = nn.MSELoss\nmake(size_average=False)\n",
    "argument in partial": "from functools import partial\nfrom torch import nn\npartial(nn.MSELoss, reduce=False)\n",
    "argument in partial, renamed": (
        "from functools import partial\nfrom torch.nn import MSELoss as Loss; partial(Loss, reduce=False)\n"
    ),
    "from several lines": "from torch import (  # a) and b)\n    nn,\n    symeig,\n)\n",
    "from a continued line": "from torch import nn, \\\n    symeig\n",
    "argument of an attribute": (
        "from torch import nn\nclass A:\n    def __init__(self):\n        self.make = nn.MSELoss\n"
        "    def f(self):\n        return self.make(size_average=True)\n"
    ),
    "inside a function": "def f():\n    import torch\n    return torch.symeig(a)\n",
    "solve": "import torch\na = torch.eye(2)\nx, lu = a.solve(a)\n",
    "a tensor or nothing": (
        "import torch\nfrom torch import Tensor\ndef f(a: Tensor | None, b: torch.FloatTensor | Tensor):\n"
        "    return a.cholesky(), b.qr()\n"
    ),
    "storage": "from torch.storage import TypedStorage\n",
    "storage made outside": "import torch\ns = torch.TypedStorage(3)\n",
    "left only sometimes": (
        "import torch\ndef f(a):\n    if version >= (1, 9):\n        if a:\n            return a\n    return torch.symeig(a)\n"
    ),
    "download that is tried": (
        "from torch.hub import load_state_dict_from_url\ntry:\n    s = load_state_dict_from_url(u)\n"
        "except OSError:\n    s = None\n"
    ),
    "load": "import torch\ntorch.serialization.load('x')\n",
}
SILENT = {
    "rebound": "import torch\ntorch = Other()\ntorch.symeig(a)\n",
    "parameter": "import torch\ndef f(torch):\n    return torch.symeig(a)\n",
    "own function": "import torch\ndef symeig(a): ...\nsymeig(torch.eye(2))\n",
    "own method": "import torch\nclass A:\n    def symeig(self): ...\nA().symeig()\n",
    "other library": "import torch\nimport numpy as np\nnp.linalg.qr(a)\nnp.linalg.norm(a)\n",
    "two imports": "try:\n    from torch import symeig\nexcept ImportError:\n    from mine import symeig\nsymeig(a)\n",
    "hasattr": "import torch\nif hasattr(torch, 'symeig'):\n    torch.symeig(a)\n",
    "version": "import torch\nif torch.__version__ < '1.9':\n    e = torch.symeig(a)\nelse:\n    e = torch.linalg.eigh(a)\n",
    "version, then return": (
        "import torch\ndef f(a):\n    if version >= (1, 9):\n        return torch.linalg.eigh(a)\n    return torch.symeig(a)\n"
    ),
    "getattr with a default": 'import torch\nf = getattr(torch, "symeig", None)\n',
    "keywords that cannot be seen": (
        "import torch\nimport torch.nn.functional as F\ndef f(x, **k):\n"
        "    F.softmax(x, **k)\n    torch.load(x, **k)\n    torch.meshgrid(x, **k)\n    F.mse_loss(x, x, **k)\n"
    ),
    "given by position": "import torch.nn.functional as F\ny = F.softmax(x, 1)\n",
    "plateau": (
        "import torch\ns = torch.optim.lr_scheduler.ReduceLROnPlateau(torch.optim.SGD(ps, 1.0))\ns.step(loss)\n"
    ),
    "warm restarts": (
        "import torch\ns = torch.optim.lr_scheduler.CosineAnnealingWarmRestarts(torch.optim.SGD(ps, 1.0), 3)\ns.step(0.5)\n"
    ),
    "warm restarts by a check": (
        "from torch.optim import lr_scheduler\ndef f(s, epoch):\n"
        "    if isinstance(s, lr_scheduler.CosineAnnealingWarmRestarts):\n        s.step(epoch + 0.5)\n"
    ),
    "relative": "from .torch import symeig\nsymeig(a)\n",
    "string": "import torch\nprint('torch.symeig')  # torch.symeig(a)\n",
    "storage made inside": (
        "from torch.storage import TypedStorage\ndef f(u):\n    return TypedStorage(wrap_storage=u, _internal=True)\n"
    ),
    "solve of something else": (
        "import torch\na = torch.eye(2)\nb = a.solve(torch.ones(2, 1)).squeeze(-1)\nc = a.solve(b)\n"
    ),
    "a tensor or something else": (
        "import torch\nfrom torch import Tensor\ndef f(a: Tensor | Operator | None):\n    return a.cholesky()\n"
    ),
    "any scheduler": (
        "from torch.optim.lr_scheduler import LRScheduler\ndef f(s: LRScheduler, metric):\n    s.step(metric)\n"
    ),
    "asserted": "import torch\nassert hasattr(torch, 'symeig')\ntorch.symeig(a)\n",
    "version in a setting, then always left": (
        "import torch\ndef f(path):\n    if typing.WITH_PT24:\n        try:\n            with open(path, 'rb') as f:\n"
        "                return torch.load(f, weights_only=True)\n        except ValueError:\n            raise\n"
        "    return torch.load(path)\n"
    ),
    "weights_only where it is known": (
        "from torch.hub import load_state_dict_from_url as load\ntry:\n    s = load(u, weights_only=True)\n"
        "except TypeError:\n    s = load(u)\n"
    ),
    "storage of something else": "import torch\ndef forward(self, adj: torch.Tensor):\n    return adj.storage.value()\n",
}


@pytest.mark.parametrize("case", FOUND)
def test_it_is_found(case: str) -> None:
    assert codes(FOUND[case])


@pytest.mark.parametrize("case", SILENT)
def test_it_is_silent(case: str) -> None:
    assert codes(SILENT[case]) == []


FIXED = {
    "from import": (
        "from torch.nn.utils import clip_grad_norm\nclip_grad_norm(ps, 1)\n",
        "from torch.nn.utils import clip_grad_norm_\nclip_grad_norm_(ps, 1)\n",
    ),
    "from import, module moves": (
        "from torch.cuda.amp import autocast\nwith autocast():\n    pass\n",
        "import torch\nwith torch.amp.autocast('cuda'):\n    pass\n",
    ),
    "module by another name": (
        "import torch.cuda.amp as amp\nwith amp.autocast(True):\n    pass\n",
        "import torch\nimport torch.cuda.amp as amp\nwith torch.amp.autocast('cuda', enabled=True):\n    pass\n",
    ),
    "module from a package": (
        "from torch.cuda import amp\nscaler = amp.GradScaler(**options)\n",
        "import torch\nfrom torch.cuda import amp\nscaler = torch.amp.GradScaler('cuda', **options)\n",
    ),
    "result unpacked": (
        "import torch\nx, _ = torch.solve(b, a)\ny = torch.solve(b, a).solution\n",
        "import torch\nx = torch.linalg.solve(a, b)\ny = torch.linalg.solve(a, b)\n",
    ),
    "both results are used": ("import torch\nx, lu = torch.solve(b, a)\n", None),
    "not a literal": ("import torch\nq, r = torch.qr(a, some=flag)\n", None),
    "arguments that cannot be seen": ("import torch\nq, r = torch.qr(*args)\n", None),
    "the name is taken": (
        "import torch as th\ntorch = 1\nw = th.chain_matmul(a, b)\n",
        "import torch as th\ntorch = 1\nw = th.linalg.multi_dot([a, b])\n",
    ),
    "out is kept": (
        "import torch\ntorch.cholesky(a, True, out=o)\n",
        "import torch\ntorch.linalg.cholesky(a, upper=True, out=o)\n",
    ),
    "a variable end": ("import torch\ns = torch.range(0, n)\n", None),
    "exported": ("from torch.nn.utils import clip_grad_norm\n__all__ = ['clip_grad_norm']\n", None),
}


@pytest.mark.parametrize("case", FIXED)
def test_fixes(case: str) -> None:
    before, after = FIXED[case]
    outcome = check_text(before, "x.py", CODES, Fixing.SAFE)
    assert not outcome.problems
    assert outcome.text == (before if after is None else after)


def test_order_of_evaluation() -> None:
    text = "import torch\nx = torch.solve(torch.rand(2, 2), torch.rand(2, 2))[0]\n"
    assert check_text(text, "x.py", CODES, Fixing.SAFE).text == text
    assert "torch.linalg.solve" in check_text(text, "x.py", CODES, Fixing.UNSAFE).text


ONCE = {
    "call": ("from torch import symeig\ne = symeig(a)[0]\nf = symeig(b)[0]\n", ["1:symeig"]),
    "by another name": ("from torch import symeig as s\ne, v = s(a, True)\nf = s(b)[0]\n", ["1:symeig"]),
    "with": ("from torch.cuda.amp import autocast\nwith autocast():\n    pass\n", ["1:autocast"]),
    "no fix": ("from torch import eig\ne = eig(a)\nf = eig(b)\n", ["1:eig"]),
    "one of two has a fix": (
        "from torch import symeig\ne = symeig(a)[0]\nf = symeig(a, flag)\n",
        ["1:symeig", "2:symeig"],
    ),
    "module": ("import torch\ne = torch.symeig(a)[0]\n", ["2:torch.symeig"]),
}


@pytest.mark.parametrize("case", ONCE)
def test_a_name_is_reported_once(case: str) -> None:
    text, expected = ONCE[case]
    lines = text.splitlines()
    found = check_text(text, "x.py", CODES).diagnostics
    assert [f"{d.start.row}:{lines[d.start.row - 1][d.start.column - 1 : d.end.column - 1]}" for d in found] == expected


USED_TWICE = "from torch.cuda.amp import autocast\nwith autocast():\n    pass\n\nwith autocast(False):{}\n    pass\n"


def test_uses_go_with_their_import() -> None:
    outcome = check_text(USED_TWICE.format(""), "x.py", CODES, Fixing.SAFE)
    assert "autocast(False)" not in outcome.text
    assert outcome.text.startswith("import torch\nwith torch.amp.autocast('cuda'):")
    assert outcome.fixed == (("TL302", 1),)


@pytest.mark.parametrize("comment", ["  # torchlint: ignore[TL302]", "  # noqa: TL302"])
def test_a_use_that_is_silenced_stays(comment: str) -> None:
    text = USED_TWICE.format(comment)
    outcome = check_text(text, "x.py", CODES | {"TL002"}, Fixing.UNSAFE)
    assert outcome.text == text
    assert [each.code for each in outcome.diagnostics] == ["TL302"]
