"""What keeps programs from before PyTorch 0.4 from running, form by form, and what fixes make of it."""

from __future__ import annotations

import pytest

from torchlint.diagnostic import Fixing
from torchlint.file.check import check_text
from torchlint.rules import catalogue

CODES = frozenset(catalogue())

# a text, the text after safe fixes, and after all fixes where that is another one
FORMS: dict[str, tuple[str, str | None] | tuple[str, str | None, str]] = {
    "names of torchvision": (
        "from torchvision import transforms\nt = transforms.Scale(8), transforms.RandomSizedCrop(size=8)\n",
        None,
        "from torchvision import transforms\nt = transforms.Resize(8), transforms.RandomResizedCrop(size=8)\n",
    ),
    "an iterator of something that is given": (
        "import torch\ndef f(loader, other):\n    it = iter(loader)\n    return it.next(), iter(other).next()\n",
        "import torch\ndef f(loader, other):\n    it = iter(loader)\n    return next(it), next(iter(other))\n",
    ),
    "an iterator that is asked for by its method, or counts": (
        "import torch\ndef f(loader, other):\n    i, x = enumerate(loader, 0).next()\n    return x, other.__iter__().next()\n",
        "import torch\ndef f(loader, other):\n    i, x = next(enumerate(loader, 0))\n    return x, next(iter(other))\n",
    ),
    "an iterator of a file, by its method": ("import torch\nfirst = open('x').__iter__().next()\n", None),
    "a number behind copies and wider types": (
        "import torch.nn.functional as F\nimport torch\ndef f():\n    a = F.mse_loss(torch.ones(3), torch.zeros(3))\n"
        "    return a.cpu().data[0], a.data.double().numpy()[0], a.data.int().numpy()[0]\n",
        "import torch.nn.functional as F\nimport torch\ndef f():\n    a = F.mse_loss(torch.ones(3), torch.zeros(3))\n"
        "    return a.item(), a.item(), a.int().numpy()[0]\n",
    ),
    "a mean on one path, which is given on": (
        "import torch\ndef f(r: torch.Tensor, log, seen, w):\n    mean = torch.zeros(1)\n    x = w.sort()\n    if seen:\n        mean = r.mean()\n"
        "    log(mean.data[0], x.data[0])\n",
        None,
        "import torch\ndef f(r: torch.Tensor, log, seen, w):\n    mean = torch.zeros(1)\n    x = w.sort()\n    if seen:\n        mean = r.mean()\n"
        "    log(mean.item(), x.data[0])\n",
    ),
    "a mean that is scaled": (
        "import torch\ndef error(x):\n    return torch.norm(x, 2, 1).mean()\ndef f(x, args, meter, y):\n"
        "    e, d = args.scale * error(x), args.scale * y\n    meter.update(e.data[0], 3)\n    meter.update(d.data[0], 3)\n",
        None,
        "import torch\ndef error(x):\n    return torch.norm(x, 2, 1).mean()\ndef f(x, args, meter, y):\n"
        "    e, d = args.scale * error(x), args.scale * y\n    meter.update(e.item(), 3)\n    meter.update(d.data[0], 3)\n",
    ),
    "a sum that begins as a number": (
        "import torch\ndef f(net, xs):\n    a = b = 0.0\n    for x in xs:\n        r, s = net(x), x.clamp(0)\n        a += r.cpu().data[0]\n"
        "        b += s.cpu().data[0]\n    return a, b\n",
        "import torch\ndef f(net, xs):\n    a = b = 0.0\n    for x in xs:\n        r, s = net(x), x.clamp(0)\n        a += r.cpu().data[0]\n"
        "        b += s.cpu().data[0]\n    return a, b\n",
        "import torch\ndef f(net, xs):\n    a = b = 0.0\n    for x in xs:\n        r, s = net(x), x.clamp(0)\n        a += r.item()\n"
        "        b += s.item()\n    return a, b\n",
    ),
    "an iterator of a class that is the project's own": (
        "import torch\nclass It:\n    def next(self):\n        return 1\n    def __next__(self):\n        return 2\n"
        "def f(loader):\n    return iter(loader).next()\n",
        None,
    ),
    "an iterator of a list": ("import torch\nfirst = iter([1, 2]).next()\n", None),
    "a range of indices": (
        "import torch\nx = torch.ones(3)\nn = x.size(0)\ni = torch.range(0, n - 1).long()\nj = torch.range(1, len(x))\n"
        "k = torch.range(0, 2 * n - 1, device='cpu').long()\nm = torch.range(2, 0, -1).long()\n",
        "import torch\nx = torch.ones(3)\nn = x.size(0)\ni = torch.arange(0, n)\n"
        "j = torch.arange(1, len(x) + 1, dtype=torch.get_default_dtype())\n"
        "k = torch.arange(0, 2 * n, device='cpu').long()\nm = torch.arange(2, -1, -1)\n",
    ),
    "a range up to a number that is not known": (
        "import torch\ndef f(n, m):\n    m = m - 1\n    return torch.range(0, n - 1).long(), torch.range(0, n * 2, m), torch.range(0, m)\n",
        None,
        "import torch\ndef f(n, m):\n    m = m - 1\n    return torch.arange(0, n).long(), torch.range(0, n * 2, m), "
        "torch.arange(0, m + 1, dtype=torch.get_default_dtype())\n",
    ),
    "a loss that was sent back": (
        "import torch\ndef f(closs, x, y):\n    loss = closs(x, y)\n    loss.backward(retain_graph=True)\n    if x:\n"
        "        print('%f' % loss.data[0])\n    return loss.data[0]\n",
        "import torch\ndef f(closs, x, y):\n    loss = closs(x, y)\n    loss.backward(retain_graph=True)\n    if x:\n"
        "        print('%f' % loss.item())\n    return loss.item()\n",
    ),
    "a loss that is another one when it is read": (
        "import torch\ndef f(closs, x):\n    loss = closs(x)\n    loss.backward()\n    loss = closs(x)\n    print(loss.data[0])\n",
        None,
        "import torch\ndef f(closs, x):\n    loss = closs(x)\n    loss.backward()\n    loss = closs(x)\n    print(loss.item())\n",
    ),
    "a loss that is another one in the next round": (
        "import torch\ndef f(closs, x):\n    loss = closs(x)\n    loss.backward()\n    for y in x:\n        print(loss.data[0])\n"
        "        loss = closs(y)\n",
        None,
        "import torch\ndef f(closs, x):\n    loss = closs(x)\n    loss.backward()\n    for y in x:\n        print(loss.item())\n"
        "        loss = closs(y)\n",
    ),
    "a loss that may have been sent back": (
        "import torch\ndef f(closs, x):\n    loss = closs(x)\n    if x:\n        loss.backward()\n    print(loss.data[0])\n",
        None,
        "import torch\ndef f(closs, x):\n    loss = closs(x)\n    if x:\n        loss.backward()\n    print(loss.item())\n",
    ),
    "a loss that was sent back with a gradient": (
        "import torch\ndef f(closs, x, g):\n    loss = closs(x)\n    loss.backward(g)\n    print(loss.data[0])\n",
        None,
        "import torch\ndef f(closs, x, g):\n    loss = closs(x)\n    loss.backward(g)\n    print(loss.item())\n",
    ),
    "a loss of one dimension that was sent back": (
        "import torch\ndef f(x: torch.Tensor):\n    loss = x.sum().view(1)\n    loss.backward()\n    print(loss.data[0])\n",
        "import torch\ndef f(x: torch.Tensor):\n    loss = x.sum().view(1)\n    loss.backward()\n    print(loss.detach()[0])\n",
    ),
    "a gradient of one dimension for a loss of none": (
        "import torch\none = torch.ones(1)\nmone = one.mul(-1)\none, mone = one.cuda(), mone.cuda()\n"
        "def f(x: torch.Tensor):\n    loss = x.mean()\n    loss.backward(one)\n    loss.backward(gradient=-mone)\n"
        "    loss.backward(torch.FloatTensor([1]), create_graph=True)\n    x.mean(0).backward(one)\n",
        "import torch\none = torch.ones(1)\nmone = one.mul(-1)\none, mone = one.cuda(), mone.cuda()\n"
        "def f(x: torch.Tensor):\n    loss = x.mean()\n    loss.backward(one)\n    loss.backward(gradient=-mone)\n"
        "    loss.backward(create_graph=True)\n    x.mean(0).backward(one)\n",
        "import torch\none = torch.ones(1)\nmone = one.mul(-1)\none, mone = one.cuda(), mone.cuda()\n"
        "def f(x: torch.Tensor):\n    loss = x.mean()\n    loss.backward(one[0])\n    loss.backward(gradient=(-mone)[0])\n"
        "    loss.backward(create_graph=True)\n    x.mean(0).backward(one)\n",
    ),
    "a gradient of a loss that may have several elements": (
        "import torch\none = torch.ones(1)\ndef f(x: torch.Tensor, one, w):\n    x.mean().backward(one)\n"
        "    g = torch.ones(1) if w else torch.ones(3)\n    x.mean().backward(g)\n"
        "def g(x: torch.Tensor):\n    x.mean().backward(h)\nh = torch.ones(1)\nh *= torch.ones(4)\n",
        None,
    ),
    "a label for a batch": (
        "import torch\nimport torch.nn.functional as F\nfrom torch import nn\nloss = nn.CrossEntropyLoss()\n"
        "def f(x: torch.Tensor):\n    t = torch.tensor([1, 2])\n    for i in range(2):\n"
        "        loss(x.view(1, -1), t[i])\n        loss(x, t[i])\n        F.nll_loss(x.view(-1), t[i])\n"
        "        loss(x.view(1, -1), t[i:])\n",
        None,
        "import torch\nimport torch.nn.functional as F\nfrom torch import nn\nloss = nn.CrossEntropyLoss()\n"
        "def f(x: torch.Tensor):\n    t = torch.tensor([1, 2])\n    for i in range(2):\n"
        "        loss(x.view(1, -1), t[i].unsqueeze(0))\n        loss(x, t[i])\n        F.nll_loss(x.view(-1), t[i])\n"
        "        loss(x.view(1, -1), t[i:])\n",
    ),
    "an error that is formatted, compared or added to": (
        "import torch\ndef f(err, errD, cost, x: torch.Tensor, y: torch.Tensor, page, n):\n"
        "    print('[%d] %s %.4f' % (n, err.data[0], errD.data[0]), 'at {0:>5}, {1:.2f}'.format(n, cost.data[0]))\n"
        "    if err.data[0] > 0.5 or x.data[0] > 1:\n        n = 1 + cost.data[0]\n"
        "    return f'{errD.data[0]:6.3f} {x.data[0]:.1f} {y.data[0]:.1f} {y.data[1]:.1f} {page.data[0]:.1f}'\n",
        "import torch\ndef f(err, errD, cost, x: torch.Tensor, y: torch.Tensor, page, n):\n"
        "    print('[%d] %s %.4f' % (n, err.data[0], errD.data[0]), 'at {0:>5}, {1:.2f}'.format(n, cost.data[0]))\n"
        "    if err.data[0] > 0.5 or x.data[0] > 1:\n        n = 1 + cost.data[0]\n"
        "    return f'{errD.data[0]:6.3f} {x.data[0]:.1f} {y.detach()[0]:.1f} {y.detach()[1]:.1f} {page.data[0]:.1f}'\n",
        "import torch\ndef f(err, errD, cost, x: torch.Tensor, y: torch.Tensor, page, n):\n"
        "    print('[%d] %s %.4f' % (n, err.item(), errD.item()), 'at {0:>5}, {1:.2f}'.format(n, cost.item()))\n"
        "    if err.item() > 0.5 or x.item() > 1:\n        n = 1 + cost.item()\n"
        "    return f'{errD.item():6.3f} {x.item():.1f} {y.detach()[0]:.1f} {y.detach()[1]:.1f} {page.data[0]:.1f}'\n",
    ),
    "another function of that name": ("import torch\ndef f(x, iter):\n    return iter(x).next()\n", None),
}


@pytest.mark.parametrize("what", FORMS)
def test_forms(what: str) -> None:
    text, safe, *rest = FORMS[what]
    safe = text if safe is None else safe
    for fixing, expected in ((Fixing.SAFE, safe), (Fixing.UNSAFE, rest[0] if rest else safe)):
        outcome = check_text(text, "x.py", CODES, fixing)
        assert (outcome.text, outcome.problems) == (expected, ()), fixing
