"""What gets no `.detach()` that does nothing: form by form, and what comes of it."""

from __future__ import annotations

import pytest

from torchlint.diagnostic import Fixing
from torchlint.file.check import check_text
from torchlint.rules import catalogue

CODES = frozenset(catalogue())
HEAD = "import torch\nfrom torch.autograd import Variable\nfrom tqdm import tqdm\n\n\n"

# a function, and what all fixes make of it
FORMS = {
    "compared by torch": (
        "def f(x: torch.Tensor, y):\n    return torch.equal(x.data, y), x.data.allclose(y)\n",
        "def f(x: torch.Tensor, y):\n    return torch.equal(x, y), x.allclose(y)\n",
    ),
    "asserted to be close": (
        "def f(x: torch.Tensor, y):\n    torch.testing.assert_close(x.data, y)\n",
        "def f(x: torch.Tensor, y):\n    torch.testing.assert_close(x, y)\n",
    ),
    "formatted as a number": (
        "def f(x: torch.Tensor):\n    return '{:.3f} {}'.format(x.sum().data, x.mean().data), f'{x.std().data:.3f}'\n",
        "def f(x: torch.Tensor):\n    return '{:.3f} {}'.format(x.sum(), x.mean().detach()), f'{x.std():.3f}'\n",
    ),
    "of values and indices, the indices": (
        "def f(x: torch.Tensor):\n    _, a = torch.max(x.data, 1)\n    _, b = x.data.topk(3)\n    v, c = x.data.sort()\n"
        "    return a, b, c, v\n",
        "def f(x: torch.Tensor):\n    _, a = torch.max(x, 1)\n    _, b = x.topk(3)\n    v, c = x.detach().sort()\n"
        "    return a, b, c, v\n",
    ),
    "values that are used after all": (
        "def f(x: torch.Tensor):\n    _, a = torch.max(x.data, 1)\n    return _\n",
        "def f(x: torch.Tensor):\n    _, a = torch.max(x.detach(), 1)\n    return _\n",
    ),
    "values that other files may use": (
        "x = torch.ones(3, 3)\nw = x.requires_grad_() * 2\n_, a = torch.max(w.data, 1)\n",
        "x = torch.ones(3, 3)\nw = x.requires_grad_() * 2\n_, a = torch.max(w.detach(), 1)\n",
    ),
    "between brackets": (
        "def f(m, x: torch.Tensor, i: torch.Tensor, seen):\n    m[[0, 1], i.data] = 1\n    return x[i.data], seen[i.data]\n",
        "def f(m, x: torch.Tensor, i: torch.Tensor, seen):\n    m[[0, 1], i] = 1\n    return x[i], seen[i.detach()]\n",
    ),
    "a batch that is not taken apart": (
        "def f(loader, net):\n    for batch in tqdm(loader):\n        x = Variable(batch)\n        net(x)\n        print(batch[0])\n",
        "def f(loader, net):\n    for batch in tqdm(loader):\n        x = batch\n        net(x)\n        print(batch[0])\n",
    ),
    "in a file with hooks and other shapes": (
        "def f(loader, net, out):\n    for x, y in loader:\n        x = Variable(x).cuda()\n        out(net(x)).register_hook(out)\n\n\n"
        "def g(x: torch.Tensor):\n    x = x * 2\n    return x.data.squeeze_(0)\n",
        "def f(loader, net, out):\n    for x, y in loader:\n        x = x.cuda()\n        out(net(x)).register_hook(out)\n\n\n"
        "def g(x: torch.Tensor):\n    x = x * 2\n    return x.data.squeeze_(0)\n",
    ),
    "a batch in a file with other shapes": (
        "def f(loader, net):\n    for x, y in loader:\n        x = Variable(x).cuda()\n        y.squeeze_(1)\n        net(x)\n",
        "def f(loader, net):\n    for x, y in loader:\n        x = x.cuda()\n        y.squeeze_(1)\n        net(x)\n",
    ),
    "a view of a new tensor": (
        "def f(n, net):\n    x = Variable(torch.transpose(torch.ones(n, 3), 0, 1))\n    return net(x)\n",
        "def f(n, net):\n    x = torch.transpose(torch.ones(n, 3), 0, 1)\n    return net(x)\n",
    ),
    "a new tensor that was filled": (
        "def f(n, net):\n    x = torch.zeros(n, 3)\n    x.fill_(1)\n    x = Variable(x)\n    return net(x)\n",
        "def f(n, net):\n    x = torch.zeros(n, 3)\n    x.fill_(1)\n    return net(x)\n",
    ),
    "a new tensor that somebody has": (
        "def f(n, net):\n    x = torch.zeros(n, 3)\n    net(x)\n    x = Variable(x)\n    return net(x)\n",
        "def f(n, net):\n    x = torch.zeros(n, 3)\n    net(x)\n    x = x.detach()\n    return net(x)\n",
    ),
    "numbers of two tensors at once": (
        "def f(x):\n    low, high = x.min(), x.max()\n    return float(high.data.cpu().numpy()[0])\n",
        "def f(x):\n    low, high = x.min(), x.max()\n    return float(high.item())\n",
    ),
}


@pytest.mark.parametrize("what", FORMS)
def test_forms(what: str) -> None:
    text, expected = FORMS[what]
    outcome = check_text(HEAD + text, "x.py", CODES, Fixing.UNSAFE)
    assert (outcome.text.partition("\n\n\n")[2].lstrip("\n"), outcome.problems) == (expected, ())
