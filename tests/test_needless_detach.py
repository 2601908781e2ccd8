"""What gets no `.detach()` that does nothing: form by form, and what comes of it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import torch

from torchlint.diagnostic import Fixing
from torchlint.file.check import check_text
from torchlint.rules import catalogue
from torchlint.rules.shared.integers import SOURCES

CODES = frozenset(catalogue())
HEAD = "import torch\nfrom torch.autograd import Variable\nfrom tqdm import tqdm\n\n\n"

# a function, and what all fixes make of it
FORMS = {
    "compared behind functions": (
        "def f(x: torch.Tensor):\n    assert torch.min(x.data) >= -1\n    return torch.abs(x.data) > 0, torch.abs(x.data)\n",
        "def f(x: torch.Tensor):\n    assert torch.min(x) >= -1\n    return torch.abs(x) > 0, torch.abs(x.detach())\n",
    ),
    "given to a loss or a layer with weights, without autograd": (
        "loss, top, act = torch.nn.CrossEntropyLoss(), torch.nn.Linear(3, 4), torch.nn.ReLU()\n\n\n@torch.no_grad()\n"
        "def f(x: torch.Tensor, t):\n    return loss(x.data.view(-1, 3), t), top(x.data), act(x.data)\n",
        "loss, top, act = torch.nn.CrossEntropyLoss(), torch.nn.Linear(3, 4), torch.nn.ReLU()\n\n\n@torch.no_grad()\n"
        "def f(x: torch.Tensor, t):\n    return loss(x.view(-1, 3), t), top(x), act(x.detach())\n",
    ),
    "given integers, by torch alone": (
        "def f(net, seq: torch.Tensor, prob, places):\n    if places is None:\n        it = seq[:, 0]\n    else:\n"
        "        it = seq[:, 0].data.clone()\n"
        "        it.index_copy_(0, places, torch.multinomial(prob, 1).view(-1).index_select(0, places))\n"
        "        it = Variable(it)\n    at = seq[:, 1].data.clone()\n    at.index_copy_(0, places, prob)\n"
        "    return net(it, at)\n",
        "def f(net, seq: torch.Tensor, prob, places):\n    if places is None:\n        it = seq[:, 0]\n    else:\n"
        "        it = seq[:, 0].clone()\n"
        "        it.index_copy_(0, places, torch.multinomial(prob, 1).view(-1).index_select(0, places))\n"
        "    at = seq[:, 1].detach().clone()\n    at.index_copy_(0, places, prob)\n"
        "    return net(it, at)\n",
    ),
    "looked up behind another branch": (
        "emb = torch.nn.Embedding(3, 2)\n\n\ndef f(seq: torch.Tensor, at, teach):\n    if teach:\n"
        "        it = seq[:, 0].data\n    else:\n        it = at\n    return emb(it), it\n\n\n"
        "def g(seq: torch.Tensor, at, teach):\n    it = seq[:, 0].data\n    if teach:\n        it = at\n    return emb(it), it\n",
        "emb = torch.nn.Embedding(3, 2)\n\n\ndef f(seq: torch.Tensor, at, teach):\n    if teach:\n"
        "        it = seq[:, 0]\n    else:\n        it = at\n    return emb(it), it\n\n\n"
        "def g(seq: torch.Tensor, at, teach):\n    it = seq[:, 0].detach()\n    if teach:\n        it = at\n    return emb(it), it\n",
    ),
    "given to a layer without autograd": (
        "class Net(torch.nn.Module):\n    def __init__(self):\n        super().__init__()\n"
        "        self.top, self.drop = torch.nn.Linear(3, 3), torch.nn.Dropout()\n\n    def forward(self, x):\n"
        "        return self.top(Variable(x, volatile=True).cuda())\n\n    def other(self, x):\n"
        "        return self.drop(Variable(x, volatile=True))\n",
        "class Net(torch.nn.Module):\n    def __init__(self):\n        super().__init__()\n"
        "        self.top, self.drop = torch.nn.Linear(3, 3), torch.nn.Dropout()\n\n    def forward(self, x):\n"
        "        with torch.no_grad():\n            return self.top(x.cuda())\n\n    def other(self, x):\n"
        "        with torch.no_grad():\n            return self.drop(x)\n",
    ),
    "put together round by round": (
        "def f(loader, read):\n    rest = None\n    for i, (x, y) in enumerate(loader):\n        y = y.cuda()\n        if i == 0:\n"
        "            ys = y\n        else:\n            ys = torch.cat((ys, y), 0)\n"
        "        rest = x if rest is None else torch.cat((rest, x))\n"
        "    return read(ys.data.cpu().numpy()), read(rest.data.cpu().numpy())\n\n\n"
        "net = torch.nn.Linear(2, 2)\n\n\ndef g(loader, read):\n    for i, (x, y) in enumerate(loader):\n        if i > 0:\n"
        "            xs = torch.cat((xs, last))\n        else:\n            xs = x\n        last = net(x)\n"
        "    return read(xs.data.cpu().numpy())\n",
        "def f(loader, read):\n    rest = None\n    for i, (x, y) in enumerate(loader):\n        y = y.cuda()\n        if i == 0:\n"
        "            ys = y\n        else:\n            ys = torch.cat((ys, y), 0)\n"
        "        rest = x if rest is None else torch.cat((rest, x))\n"
        "    return read(ys.cpu().numpy()), read(rest.cpu().numpy())\n\n\n"
        "net = torch.nn.Linear(2, 2)\n\n\ndef g(loader, read):\n    for i, (x, y) in enumerate(loader):\n        if i > 0:\n"
        "            xs = torch.cat((xs, last))\n        else:\n            xs = x\n        last = net(x)\n"
        "    return read(xs.detach().cpu().numpy())\n",
    ),
    "kept on the way from another device": (
        "def f(loader, net):\n    outs = []\n    for x, _ in loader:\n        y = net(Variable(x, volatile=True))\n"
        "        outs.append(y.cpu().data)\n    return outs\n",
        "def f(loader, net):\n    outs = []\n    for x, _ in loader:\n        with torch.no_grad():\n            y = net(x)\n"
        "        outs.append(y.cpu())\n    return outs\n",
    ),
    "attributes of a batch": (
        "net = torch.nn.Linear(2, 2)\n\n\ndef f(train_loader, model):\n    for batch in train_loader:\n"
        "        model(Variable(batch.src.data), batch.places.cpu().data.numpy())\n        batch.emb = net(batch.src)\n\n\n"
        "def g(train_loader, model):\n    for batch in train_loader:\n        model(Variable(batch.emb.data))\n",
        "net = torch.nn.Linear(2, 2)\n\n\ndef f(train_loader, model):\n    for batch in train_loader:\n"
        "        model(batch.src, batch.places.cpu().numpy())\n        batch.emb = net(batch.src)\n\n\n"
        "def g(train_loader, model):\n    for batch in train_loader:\n        model(batch.emb.detach())\n",
    ),
    "batches of torchtext, by their name": (
        "import torchtext\n\nnet = torch.nn.Linear(2, 2)\n\n\ndef f(batch, model):\n    batch.emb = net(batch.src)\n\n\n"
        "def g(batch, other, model):\n    model(Variable(batch.src.data), batch.indices.cpu().data.numpy())\n"
        "    model(Variable(batch.emb.data), Variable(other.src.data), Variable(batch.data))\n",
        "import torchtext\n\nnet = torch.nn.Linear(2, 2)\n\n\ndef f(batch, model):\n    batch.emb = net(batch.src)\n\n\n"
        "def g(batch, other, model):\n    model(batch.src, batch.indices.cpu().numpy())\n"
        "    model(batch.emb.detach(), other.src.detach(), batch.data.detach())\n",
    ),
    "batches by a name that says nothing": (
        "def g(batch, model):\n    model(Variable(batch.src.data), batch.indices.cpu().data.numpy())\n",
        "def g(batch, model):\n    model(batch.src.detach(), batch.indices.detach().cpu().numpy())\n",
    ),
    "given to what makes nothing but indices of it": (
        "def accuracy(out, y, topk=(1,)):\n    _, pred = out.topk(max(topk), 1, True, True)\n    return pred.t().eq(y.view(1, -1)).float().sum() / out.size(0)\n\n\n"
        "def best(out, y):\n    value, at = out.max(1)\n    return value\n\n\ndef all_of(out):\n    _, at = out.max(1)\n    return locals()\n\n\n"
        "net = torch.nn.Linear(3, 3)\n\n\ndef f(x, y):\n    out = net(x)\n    return accuracy(out.data, y), best(out.data, y), all_of(out.data)\n",
        "def accuracy(out, y, topk=(1,)):\n    _, pred = out.topk(max(topk), 1, True, True)\n    return pred.t().eq(y.view(1, -1)).float().sum() / out.size(0)\n\n\n"
        "def best(out, y):\n    value, at = out.max(1)\n    return value\n\n\ndef all_of(out):\n    _, at = out.max(1)\n    return locals()\n\n\n"
        "net = torch.nn.Linear(3, 3)\n\n\ndef f(x, y):\n    out = net(x)\n    return accuracy(out, y), best(out.detach(), y), all_of(out.detach())\n",
    ),
    "names that say that something is wrapped": (
        "def train(train_loader, model, criterion, optimizer):\n    for i, (input, target) in enumerate(train_loader):\n        target = target.cuda(non_blocking=True)\n        input_var = torch.autograd.Variable(input)\n        target_var = torch.autograd.Variable(target)\n\n        # compute output\n        output = model(input_var)\n        loss = criterion(output, target_var)\n        loss.backward()\n        losses.update(loss.data[0], input.size(0))\n\n\ndef validate(val_loader, model, criterion):\n    for i, (input, target) in enumerate(val_loader):\n        target = target.cuda()\n        input_var = torch.autograd.Variable(input, volatile=True)\n        target_var = torch.autograd.Variable(target, volatile=True)\n\n        # compute output\n        output = model(input_var)\n        loss = criterion(output, target_var)\n        print(loss.data[0], output.data)\n",
        "def train(train_loader, model, criterion, optimizer):\n    for i, (input, target) in enumerate(train_loader):\n        target = target.cuda(non_blocking=True)\n\n        # compute output\n        output = model(input)\n        loss = criterion(output, target)\n        loss.backward()\n        losses.update(loss.item(), input.size(0))\n\n\ndef validate(val_loader, model, criterion):\n    for i, (input, target) in enumerate(val_loader):\n        target = target.cuda()\n\n        # compute output\n        with torch.no_grad():\n            output = model(input)\n            loss = criterion(output, target)\n        print(loss.item(), output)\n",
    ),
    "names that say so, of which something else is asked": (
        'def a(loader, f):\n    for x in loader:\n        x_var = Variable(x)\n        x = x + 1\n        f(x_var, x)\n\n\ndef b(loader, f):\n    for x in loader:\n        x_var = Variable(x)\n        f([x_var for x in range(3)], lambda: x_var)\n\n\ndef c(loader, f):\n    for x in loader:\n        if f:\n            x_var = Variable(x)\n        f(x_var)\n\n\ndef d(loader, f):\n    for x in loader:\n        x_var = Variable(x)\n        x_var = x_var * 2\n        f(x_var)\n\n\ndef e(loader, f):\n    for x in loader:\n        x_var = Variable(x)\n        print(f"{x_var=}")\n\n\ndef g(loader, f):\n    for x in loader:\n        if f:\n            f(x_var)\n        x_var = Variable(x)\n\n\ndef h(loader, f):\n    for x in loader:\n        x_var = Variable(x)\n        x_var += 1\n        f(x_var, x_var=x_var)\n\n\ndef k(loader, f):\n    for x in loader:\n        x_var = Variable(x)\n        del x_var\n\n\ndef m(loader, f):\n    for x in loader:\n        x_var = Variable(x)\n        del x\n        f(x_var=x_var)\n\n\ndef n(loader, f):\n    global x\n    for x in loader:\n        x_var = Variable(x)\n        f(x_var)\n\n\ndef o(loader, f):\n    for x in loader:\n        x_var = Variable(x)\n        f(locals(), x_var)\n\n\ndef p(loader, f):\n    for x in loader:\n        real = Variable(x)\n        f(real, [x_var for x_var in real])\n\n\ndef q(loader, f):\n    def change():\n        nonlocal x\n        x = 2\n    for x in loader:\n        x_var = Variable(x)\n        change()\n        f(x_var)\n',
        'def a(loader, f):\n    for x in loader:\n        x_var = x\n        x = x + 1\n        f(x_var, x)\n\n\ndef b(loader, f):\n    for x in loader:\n        x_var = x\n        f([x_var for x in range(3)], lambda: x_var)\n\n\ndef c(loader, f):\n    for x in loader:\n        if f:\n            x_var = x\n        f(x_var)\n\n\ndef d(loader, f):\n    for x in loader:\n        x_var = x\n        x_var = x_var * 2\n        f(x_var)\n\n\ndef e(loader, f):\n    for x in loader:\n        x_var = x\n        print(f"{x_var=}")\n\n\ndef g(loader, f):\n    for x in loader:\n        if f:\n            f(x_var)\n        x_var = x\n\n\ndef h(loader, f):\n    for x in loader:\n        x_var = x\n        x_var += 1\n        f(x_var, x_var=x_var)\n\n\ndef k(loader, f):\n    for x in loader:\n        x_var = x\n        del x_var\n\n\ndef m(loader, f):\n    for x in loader:\n        x_var = x\n        del x\n        f(x_var=x_var)\n\n\ndef n(loader, f):\n    global x\n    for x in loader:\n        x_var = x\n        f(x_var)\n\n\ndef o(loader, f):\n    for x in loader:\n        x_var = x\n        f(locals(), x_var)\n\n\ndef p(loader, f):\n    for x in loader:\n        real = x\n        f(real, [x_var for x_var in real])\n\n\ndef q(loader, f):\n    def change():\n        nonlocal x\n        x = 2\n    for x in loader:\n        x_var = x.detach()\n        change()\n        f(x_var)\n',
    ),
    "sorted without autograd": (
        "from nets import net\n\nwith torch.no_grad():\n    out = net(torch.ones(2, 3))\n"
        "    _, predicted = torch.max(out.data, 1)\n    a, b = torch.sort(out.data)\n",
        "from nets import net\n\nwith torch.no_grad():\n    out = net(torch.ones(2, 3))\n"
        "    _, predicted = torch.max(out, 1)\n    a, b = torch.sort(out)\n",
    ),
    "multiplied by what is a number by its use": (
        "def f(n, w, x: torch.Tensor):\n    shift = (torch.ones(3).random_(2 * w) - w / 2).float()\n"
        "    if x.is_cuda:\n        shift = shift.cuda()\n    shift = Variable(shift)\n"
        "    return shift, Variable(w * torch.eye(3)), Variable(n * torch.eye(3))\n",
        "def f(n, w, x: torch.Tensor):\n    shift = (torch.ones(3).random_(2 * w) - w / 2).float()\n"
        "    if x.is_cuda:\n        shift = shift.cuda()\n"
        "    return shift, w * torch.eye(3), (n * torch.eye(3)).detach()\n",
    ),
    "filled by parts": (
        "def f(x, n):\n    mask, other = torch.zeros(x.size()), torch.zeros(2)\n    mask[0][n[0] - 1].fill_(1)\n    mask[1][2] = 3\n"
        "    mask = Variable(mask)\n    row = other[0].fill_(1)\n    other = Variable(other)\n    return x * mask, other, row\n",
        "def f(x, n):\n    mask, other = torch.zeros(x.size()), torch.zeros(2)\n    mask[0][n[0] - 1].fill_(1)\n    mask[1][2] = 3\n"
        "    row = other[0].fill_(1)\n    other = other.detach()\n    return x * mask, other, row\n",
    ),
    "filled through a view, or of a size that is given later": (
        "def f(x: torch.Tensor, rows, k):\n    m, v = torch.zeros(2, 3), torch.zeros(3)\n    m.view(-1)[rows] = 1\n    m.t()[0].fill_(2)\n"
        "    m = Variable(m)\n    n = v.view(-1)\n    n.fill_(2)\n    v = Variable(v)\n"
        "    return x * m, Variable(x.data.new().resize_(2, 3).fill_(1)), v, n\n",
        "def f(x: torch.Tensor, rows, k):\n    m, v = torch.zeros(2, 3), torch.zeros(3)\n    m.view(-1)[rows] = 1\n    m.t()[0].fill_(2)\n"
        "    n = v.view(-1)\n    n.fill_(2)\n    v = v.detach()\n"
        "    return x * m, x.new_empty(0).resize_(2, 3).fill_(1), v, n\n",
    ),
    "the name of a type": (
        "def f(net):\n    return [(torch.typename(p.data), p.data.size()) for p in net.parameters()]\n",
        "def f(net):\n    return [(torch.typename(p), p.size()) for p in net.parameters()]\n",
    ),
    "put back as an attribute": (
        "class Net(torch.nn.Module):\n    def __init__(self, n):\n        super().__init__()\n"
        "        self.conv = torch.nn.Conv2d(1, 1, 3)\n        self.kernel = torch.ones(n, n)\n"
        "        self.kernel = Variable(self.kernel, requires_grad=False)\n",
        "class Net(torch.nn.Module):\n    def __init__(self, n):\n        super().__init__()\n"
        "        self.conv = torch.nn.Conv2d(1, 1, 3)\n        self.kernel = torch.ones(n, n)\n",
    ),
    "put back as an attribute, turned": (
        "class Net(torch.nn.Module):\n    def __init__(self, n):\n        super().__init__()\n        if n > 3:\n"
        "            self.grid = torch.ones(n, 3)\n        else:\n            self.grid = torch.zeros(n, 3)\n"
        "        self.grid = Variable(self.grid.t().contiguous())\n",
        "class Net(torch.nn.Module):\n    def __init__(self, n):\n        super().__init__()\n        if n > 3:\n"
        "            self.grid = torch.ones(n, 3)\n        else:\n            self.grid = torch.zeros(n, 3)\n"
        "        self.grid = self.grid.t().contiguous()\n",
    ),
    "put back, and written": (
        "def f(net: torch.nn.Module, d, n):\n    out = torch.zeros(n, 3)\n    if d.is_cuda:\n        out = out.cuda()\n"
        "    out = Variable(out)\n    for i in range(n):\n        out[i] = net(d)\n    return out\n",
        "def f(net: torch.nn.Module, d, n):\n    out = torch.zeros(n, 3)\n    if d.is_cuda:\n        out = out.cuda()\n"
        "    for i in range(n):\n        out[i] = net(d)\n    return out\n",
    ),
    "compared by torch": (
        "def f(x: torch.Tensor, y):\n    return torch.equal(x.data, y), x.data.allclose(y)\n",
        "def f(x: torch.Tensor, y):\n    return torch.equal(x, y), x.allclose(y)\n",
    ),
    "asked for its dtype and device": (
        "def f(x: torch.Tensor, y: torch.Tensor, net: torch.nn.Module):\n    net.to(y.data)\n    return x.to(y.data, non_blocking=True)\n",
        "def f(x: torch.Tensor, y: torch.Tensor, net: torch.nn.Module):\n    net.to(y)\n    return x.to(y, non_blocking=True)\n",
    ),
    "given to what may keep it": (
        "class Net(torch.nn.Module):\n    def to(self, other):\n        self.kept = other\n\n\n"
        "def f(x, y: torch.Tensor, net: Net):\n    net.to(y.data)\n    return x.to(y.data)\n",
        "class Net(torch.nn.Module):\n    def to(self, other):\n        self.kept = other\n\n\n"
        "def f(x, y: torch.Tensor, net: Net):\n    net.to(y.detach())\n    return x.to(y.detach())\n",
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
    "assigned to itself beside another": (
        "def f(loader, net):\n    for x, y in loader:\n        x, y = Variable(x), Variable(y[:, 0])\n        net(x, y)\n",
        "def f(loader, net):\n    for x, y in loader:\n        y = y[:, 0]\n        net(x, y)\n",
    ),
    "assigned to itself in a tuple of one more": (
        "def f(loader, net):\n    for x, y, z in loader:\n        (x, y, z) = (Variable(x), y.cuda(), Variable(z))\n        net(x, y, z)\n",
        "def f(loader, net):\n    for x, y, z in loader:\n        (y) = (y.cuda())\n        net(x, y, z)\n",
    ),
    "assigned to itself before a comma": (
        "def f(loader, net):\n    for x, y in loader:\n        x, y, = Variable(x), net(y)\n        net(x, y)\n",
        "def f(loader, net):\n    for x, y in loader:\n        x, y, = x, net(y)\n        net(x, y)\n",
    ),
    "replaced with others in one statement": (
        "def f(loader, step):\n    for x, y in loader:\n        x, y = x.cuda().float(), y.cuda()\n        x, y = Variable(x), Variable(y)\n"
        "        step(x[0].add_(1), y)\n",
        "def f(loader, step):\n    for x, y in loader:\n        x, y = x.cuda().float(), y.cuda()\n        step(x[0].add_(1), y)\n",
    ),
    "kept beside what replaces it": (
        "def f(net):\n    x = torch.ones(3)\n    x, old = Variable(x), x\n    net(x, old)\n",
        "def f(net):\n    x = torch.ones(3)\n    x, old = x.detach(), x\n    net(x, old)\n",
    ),
    "a new tensor whose name is not used any more": (
        "def f(net):\n    x = torch.zeros(2, 3)\n    x[:, 0] = 1\n    x.mul_(2)\n    v = Variable(x)\n    net(v)\n    return v.t_()\n",
        "def f(net):\n    x = torch.zeros(2, 3)\n    x[:, 0] = 1\n    x.mul_(2)\n    v = x\n    net(v)\n    return v.t_()\n",
    ),
    "a new tensor in each round": (
        "def f(net, images):\n    for image in images:\n        x = torch.from_numpy(image)\n        x = ((x / 255 - 0.5) / 0.5).cuda()\n"
        "        v = Variable(x)\n        net(v)\n",
        "def f(net, images):\n    for image in images:\n        x = torch.from_numpy(image)\n        x = ((x / 255 - 0.5) / 0.5).cuda()\n"
        "        v = x\n        net(v)\n",
    ),
    "a new tensor of which the next round has the name": (
        "def f(net, images):\n    x = torch.ones(3)\n    for image in images:\n        net(x)\n        x = torch.ones(3)\n        v = Variable(x)\n"
        "        net(v)\n",
        "def f(net, images):\n    x = torch.ones(3)\n    for image in images:\n        net(x)\n        x = torch.ones(3)\n        v = x.detach()\n"
        "        net(v)\n",
    ),
    "a new tensor that another name has": (
        "def f(net):\n    x = torch.ones(3)\n    kept = [x]\n    v = Variable(x)\n    net(v)\n    return kept\n",
        "def f(net):\n    x = torch.ones(3)\n    kept = [x]\n    v = x.detach()\n    net(v)\n    return kept\n",
    ),
    "a new tensor that a function inside has": (
        "def f(net):\n    x = torch.ones(3)\n    def g():\n        return x\n    v = Variable(x)\n    net(v)\n    return g\n",
        "def f(net):\n    x = torch.ones(3)\n    def g():\n        return x\n    v = x.detach()\n    net(v)\n    return g\n",
    ),
    "a new tensor on one path": (
        "def f(net, x, new):\n    if new:\n        x = torch.ones(3)\n    v = Variable(x)\n    net(v)\n",
        "def f(net, x, new):\n    if new:\n        x = torch.ones(3)\n    v = x.detach()\n    net(v)\n",
    ),
    "computed in the block that is made": (
        "def f(net, criterion, x, y):\n    x = Variable(x, volatile=True)\n    out = net(x)\n    loss = criterion(out, y)\n    print(len(y))\n"
        "    out = out.data.squeeze().cpu()\n    return loss.data[0], torch.exp(out)\n",
        "def f(net, criterion, x, y):\n    with torch.no_grad():\n        out = net(x)\n        loss = criterion(out, y)\n"
        "    print(len(y))\n    out = out.squeeze().cpu()\n    return loss.item(), torch.exp(out)\n",
    ),
    "views of integers": (
        "def f(net, rows):\n    x = torch.LongTensor(rows)\n    a = Variable(x.transpose(0, 1)).cuda()\n    b = Variable(x[0])\n"
        "    c = Variable(x.contiguous())\n    net(a, b, c)\n    return x\n",
        "def f(net, rows):\n    x = torch.LongTensor(rows)\n    a = x.transpose(0, 1).cuda()\n    b = x[0]\n"
        "    c = x.contiguous()\n    net(a, b, c)\n    return x\n",
    ),
    "views of what may be written to with a graph": (
        "def f(net, rows):\n    x = torch.FloatTensor(rows)\n    a = Variable(x.transpose(0, 1)).cuda()\n    net(a)\n    return x\n",
        "def f(net, rows):\n    x = torch.FloatTensor(rows)\n    a = x.transpose(0, 1).detach().cuda()\n    net(a)\n    return x\n",
    ),
    "samples and attributes of data sets": (
        "def f(loader, train_set, net, i, rows):\n    x, y = train_set[i]\n    net(Variable(x), Variable(y, volatile=True))\n"
        "    return Variable(loader.dataset.data_tensor).cuda(), Variable(rows[i])\n",
        "def f(loader, train_set, net, i, rows):\n    x, y = train_set[i]\n    with torch.no_grad():\n        net(x, y)\n"
        "    return loader.dataset.data_tensor.cuda(), rows[i]\n",
    ),
    "samples of data sets by name": (
        "def f(dataset, net):\n    net(Variable(dataset['train']), Variable(dataset.get()))\n",
        "def f(dataset, net):\n    net(dataset['train'].detach(), dataset.get().detach())\n",
    ),
    "a data set of torchvision": (
        "import torchvision\ndef f(net):\n    test = torchvision.datasets.MNIST('.', train=False)\n"
        "    x = Variable(torch.unsqueeze(test.test_data, dim=1)).type(torch.FloatTensor)[:200] / 255\n    return x\n",
        "import torchvision\ndef f(net):\n    test = torchvision.datasets.MNIST('.', train=False)\n"
        "    x = torch.unsqueeze(test.test_data, dim=1).type(torch.FloatTensor)[:200] / 255\n    return x\n",
    ),
    "what a function of the file has just made": (
        "def one_hot(i, n):\n    if n == 0:\n        return torch.zeros(1)\n    target = torch.zeros(1, n)\n    target[0, i] = 1\n    return target\n\n\n"
        "def f(net, i):\n    v = Variable(one_hot(i, 3))\n    net(v)\n",
        "def one_hot(i, n):\n    if n == 0:\n        return torch.zeros(1)\n    target = torch.zeros(1, n)\n    target[0, i] = 1\n    return target\n\n\n"
        "def f(net, i):\n    v = one_hot(i, 3)\n    net(v)\n",
    ),
    "what a function of the file may have made before": (
        "known = {}\n\n\ndef one_hot(i, n):\n    target = torch.zeros(1, n)\n    known[i] = target\n    return target\n\n\n"
        "def f(net, i):\n    v = Variable(one_hot(i, 3))\n    net(v)\n",
        "known = {}\n\n\ndef one_hot(i, n):\n    target = torch.zeros(1, n)\n    known[i] = target\n    return target\n\n\n"
        "def f(net, i):\n    v = one_hot(i, 3).detach()\n    net(v)\n",
    ),
    "what a function with a decorator makes": (
        "import functools\n@functools.lru_cache\ndef zeros(n):\n    return torch.zeros(n)\n\n\ndef f(net):\n    net(Variable(zeros(3)))\n",
        "import functools\n@functools.lru_cache\ndef zeros(n):\n    return torch.zeros(n)\n\n\ndef f(net):\n    net(zeros(3).detach())\n",
    ),
    "given to a method that is there to be overridden": (
        "class Initializer:\n    def __call__(self, module):\n        self.on_weight(module.weight.data)\n\n    def on_weight(self, tensor):\n"
        "        return self.on_tensor(tensor)\n\n    def on_tensor(self, tensor):\n        raise NotImplementedError\n",
        "class Initializer:\n    def __call__(self, module):\n        self.on_weight(module.weight.detach())\n\n    def on_weight(self, tensor):\n"
        "        return self.on_tensor(tensor)\n\n    def on_tensor(self, tensor):\n        raise NotImplementedError\n",
    ),
    "given to a method that is overridden by what writes": (
        "class A:\n    def run(self, module):\n        self.use(module.weight.data)\n\n    def use(self, tensor):\n        return tensor.size()\n\n\n"
        "class B(A):\n    pass\n\n\nclass C(B):\n    def use(self, tensor):\n        tensor.zero_()\n",
        "class A:\n    def run(self, module):\n        self.use(module.weight.detach())\n\n    def use(self, tensor):\n        return tensor.size()\n\n\n"
        "class B(A):\n    pass\n\n\nclass C(B):\n    def use(self, tensor):\n        tensor.zero_()\n",
    ),
    "given to a method that only looks, beside another of that name": (
        "class A:\n    def run(self, module):\n        self.use(module.weight.data)\n\n    def use(self, tensor):\n        return tensor.size()\n\n\n"
        "class C:\n    def use(self, tensor):\n        tensor.zero_()\n",
        "class A:\n    def run(self, module):\n        self.use(module.weight)\n\n    def use(self, tensor):\n        return tensor.size()\n\n\n"
        "class C:\n    def use(self, tensor):\n        tensor.zero_()\n",
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
    "in a branch of which nothing is left": (
        "def f(loader, net, gpu):\n    for x, y in loader:\n        if gpu:\n            x, y = Variable(x.cuda()), Variable(y.cuda())\n"
        "        else:\n            x, y = Variable(x), Variable(y)\n\n        net(x, y)\n",
        "def f(loader, net, gpu):\n    for x, y in loader:\n        if gpu:\n            x, y = x.cuda(), y.cuda()\n\n        net(x, y)\n",
    ),
    "in a branch with a comment": (
        "def f(loader, net, gpu):\n    for x, y in loader:\n        if gpu:\n            y = y.cuda()\n        else:\n            # here\n"
        "            x = Variable(x)\n        net(x, y)\n",
        "def f(loader, net, gpu):\n    for x, y in loader:\n        if gpu:\n            y = y.cuda()\n        else:\n            # here\n"
        "            pass\n        net(x, y)\n",
    ),
    "a new tensor in a file in which another one is optimised": (
        "def f(net, gpu):\n    x = torch.randn(3)\n    if gpu:\n        x = x.cuda()\n    v = Variable(x, volatile=True)\n    return net(v)\n\n\n"
        "def g(net, x):\n    x = Variable(x, requires_grad=True)\n    net(x)\n",
        "def f(net, gpu):\n    x = torch.randn(3)\n    if gpu:\n        x = x.cuda()\n    v = x\n    with torch.no_grad():\n        return net(v)\n\n\n"
        "def g(net, x):\n    x = x.detach().requires_grad_()\n    net(x)\n",
    ),
    "indices and masks": (
        "def f(q, i, mask, x):\n    return q.gather(1, Variable(i)).masked_fill(Variable(mask), 0) + Variable(x)\n",
        "def f(q, i, mask, x):\n    return q.gather(1, i).masked_fill(mask, 0) + x.detach()\n",
    ),
    "indices for a method of the file": (
        "class Pool:\n    def gather(self, n, x):\n        self.x = x\n\n\ndef f(pool, i):\n    return pool.gather(1, Variable(i))\n",
        "class Pool:\n    def gather(self, n, x):\n        self.x = x\n\n\ndef f(pool, i):\n    return pool.gather(1, i.detach())\n",
    ),
    "rows of a batch in another order": (
        "def f(loader, net):\n    for x, n in loader:\n        n, order = n.view(-1).sort(0)\n        x = x[order]\n        x = Variable(x)\n        net(x)\n",
        "def f(loader, net):\n    for x, n in loader:\n        n, order = n.view(-1).sort(0)\n        x = x[order]\n        net(x)\n",
    ),
    "a row of a tensor that others have": (
        "def f(net, xs):\n    x = torch.ones(3, 3)\n    xs.append(x)\n    v = x[torch.tensor(0)]\n    v = Variable(v)\n    v.mul_(net.weight)\n",
        "def f(net, xs):\n    x = torch.ones(3, 3)\n    xs.append(x)\n    v = x[torch.tensor(0)]\n    v = v.detach()\n    v.mul_(net.weight)\n",
    ),
    "a new tensor that is replaced, or else its copy": (
        "def f(net, gpu):\n    y = torch.zeros(3, 4)\n    y.fill_(1)\n    if gpu:\n        z, y = Variable(torch.zeros(3)), Variable(y.cuda())\n"
        "    else:\n        z, y = Variable(torch.rand(3)), Variable(y)\n    net(z, y)\n",
        "def f(net, gpu):\n    y = torch.zeros(3, 4)\n    y.fill_(1)\n    if gpu:\n        z, y = torch.zeros(3), y.cuda()\n"
        "    else:\n        z = torch.rand(3)\n    net(z, y)\n",
    ),
    "made volatile for the block that is made": (
        "def f(net, criterion, x, y, order):\n    for b in order:\n        v = Variable(x[b], volatile=True)\n        w = Variable(y[b].cuda(), volatile=True).float()\n"
        "        print(v.size())\n        out = net(v)\n        print(criterion(out, w).data[0])\n",
        "def f(net, criterion, x, y, order):\n    for b in order:\n        v = x[b]\n        w = y[b].cuda().float()\n"
        "        print(v.size())\n        with torch.no_grad():\n            out = net(v)\n            print(criterion(out, w).item())\n",
    ),
    "made volatile, both of two": (
        "def f(net, xs, ys):\n    for x, y in zip(xs, ys):\n        x, y = Variable(x, volatile=True), Variable(y, volatile=True)\n        net(x, y)\n",
        "def f(net, xs, ys):\n    for x, y in zip(xs, ys):\n        with torch.no_grad():\n            net(x, y)\n",
    ),
    "made volatile, and used outside of the block, too": (
        "def f(net, x, keep):\n    v = Variable(x, volatile=True)\n    net(v)\n    return v.cpu()\n",
        "def f(net, x, keep):\n    v = x\n    with torch.no_grad():\n        net(v)\n    return v.cpu()\n",
    ),
    "made volatile of what has a graph": (
        "def f(net, x: torch.Tensor):\n    w = (x.requires_grad_() * 2)\n    v = Variable(w, volatile=True)\n    net(v)\n    return w\n",
        "def f(net, x: torch.Tensor):\n    w = (x.requires_grad_() * 2)\n    v = w.detach()\n    with torch.no_grad():\n        net(v)\n    return w\n",
    ),
    "made volatile, and told to require grad in the block": (
        "def f(net, x):\n    v = Variable(x, volatile=True)\n    with torch.no_grad():\n        net(v.requires_grad_())\n",
        "def f(net, x):\n    v = x.detach()\n    with torch.no_grad():\n        net(v.requires_grad_())\n",
    ),
    "in a file that changes parameters only": (
        "def f(net, loader):\n    for p in net.parameters():\n        p.detach_()\n    for x, y in loader:\n        v = Variable(x)\n        net(v, x)\n",
        "def f(net, loader):\n    for p in net.parameters():\n        p.detach_()\n    for x, y in loader:\n        v = x\n        net(v, x)\n",
    ),
    "in a file that changes others": (
        "def f(net, loader, ps):\n    for p in ps:\n        p.detach_()\n    for x, y in loader:\n        v = Variable(x)\n        net(v, x)\n",
        "def f(net, loader, ps):\n    for p in ps:\n        p.detach_()\n    for x, y in loader:\n        v = x.detach()\n        net(v, x)\n",
    ),
    "detached before it is wrapped": (
        "def f(ms, net, done, s: torch.Tensor):\n    for i in range(3):\n        ms[i] = Variable(ms[i].data.clone())\n    r = torch.zeros(1)\n"
        "    if not done:\n        _, v = net(s)\n        r = v.data\n    r = Variable(r)\n    ms.append(r)\n",
        "def f(ms, net, done, s: torch.Tensor):\n    for i in range(3):\n        ms[i] = ms[i].detach().clone()\n    r = torch.zeros(1)\n"
        "    if not done:\n        _, v = net(s)\n        r = v.detach()\n    ms.append(r)\n",
    ),
    "floats made of integers": (
        "def f(n):\n    x = torch.LongTensor(n)\n    x.fill_(1)\n    return Variable(x.float()), Variable(x.long())\n",
        "def f(n):\n    x = torch.LongTensor(n)\n    x.fill_(1)\n    return x.float(), x.long()\n",
    ),
    "of an array, on either device": (
        "def f(net, a, gpu):\n    x = torch.from_numpy(a)\n    x = x.type(torch.FloatTensor)\n    if gpu:\n        v = Variable(x.cuda())\n"
        "    else:\n        v = Variable(x)\n    return net(v)\n",
        "def f(net, a, gpu):\n    x = torch.from_numpy(a)\n    x = x.type(torch.FloatTensor)\n    if gpu:\n        v = x.cuda()\n"
        "    else:\n        v = x\n    return net(v)\n",
    ),
    "of an array that somebody else has": (
        "def f(net, a, gpu, kept):\n    x = torch.from_numpy(a)\n    kept.append(x)\n    if gpu:\n        v = Variable(x.cuda())\n"
        "    else:\n        v = Variable(x)\n    return net(v)\n",
        "def f(net, a, gpu, kept):\n    x = torch.from_numpy(a)\n    kept.append(x)\n    if gpu:\n        v = x.cuda().detach()\n"
        "    else:\n        v = x.detach()\n    return net(v)\n",
    ),
    "of an array, and used again": (
        "def f(net, a, gpu):\n    x = torch.from_numpy(a)\n    if gpu:\n        v = Variable(x)\n        net(v.requires_grad_())\n    return net(x)\n",
        "def f(net, a, gpu):\n    x = torch.from_numpy(a)\n    if gpu:\n        v = x.detach()\n        net(v.requires_grad_())\n    return net(x)\n",
    ),
    "a view of what another one has": (
        "def f(net, a):\n    w = torch.ones(3)\n    net(w)\n    x = w.view(-1)\n    v = Variable(x)\n    return v.mul_(net.weight)\n",
        "def f(net, a):\n    w = torch.ones(3)\n    net(w)\n    x = w.view(-1)\n    v = x.detach()\n    return v.mul_(net.weight)\n",
    ),
    "what a function makes of a batch alone": (
        "def turn(x):\n    back = torch.arange(x.size(0) - 1, -1, -1)\n    turned = x.index_select(0, back)\n    return turned\n\n\n"
        "def f(net, loader):\n    for x, y in loader:\n        for i in range(2):\n            if i:\n                x = turn(x)\n            v = Variable(x.cuda())\n            net(v)\n",
        "def turn(x):\n    back = torch.arange(x.size(0) - 1, -1, -1)\n    turned = x.index_select(0, back)\n    return turned\n\n\n"
        "def f(net, loader):\n    for x, y in loader:\n        for i in range(2):\n            if i:\n                x = turn(x)\n            v = x.cuda()\n            net(v)\n",
    ),
    "what a function makes of a batch and of a global": (
        "scale = torch.ones(3, requires_grad=True)\n\n\ndef turn(x):\n    return x.index_select(0, torch.arange(2)) * scale\n\n\n"
        "def f(net, loader):\n    for x, y in loader:\n        for i in range(2):\n            if i:\n                x = turn(x)\n            v = Variable(x.cuda())\n            net(v)\n",
        "scale = torch.ones(3, requires_grad=True)\n\n\ndef turn(x):\n    return x.index_select(0, torch.arange(2)) * scale\n\n\n"
        "def f(net, loader):\n    for x, y in loader:\n        for i in range(2):\n            if i:\n                x = turn(x)\n            v = x.detach().cuda()\n            net(v)\n",
    ),
    "what a function makes of a batch by another one": (
        "def turn(x):\n    return other(x.index_select(0, torch.arange(2))) * 2\n\n\n"
        "def f(net, loader):\n    for x, y in loader:\n        for i in range(2):\n            if i:\n                x = turn(x)\n            v = Variable(x.cuda())\n            net(v)\n",
        "def turn(x):\n    return other(x.index_select(0, torch.arange(2))) * 2\n\n\n"
        "def f(net, loader):\n    for x, y in loader:\n        for i in range(2):\n            if i:\n                x = turn(x)\n            v = x.detach().cuda()\n            net(v)\n",
    ),
    "what a function makes of a batch and asks to require grad": (
        "def turn(x):\n    y = torch.ones(3, requires_grad=True)\n    return x * y\n\n\n"
        "def f(net, loader):\n    for x, y in loader:\n        for i in range(2):\n            if i:\n                x = turn(x)\n            v = Variable(x.cuda())\n            net(v)\n",
        "def turn(x):\n    y = torch.ones(3, requires_grad=True)\n    return x * y\n\n\n"
        "def f(net, loader):\n    for x, y in loader:\n        for i in range(2):\n            if i:\n                x = turn(x)\n            v = x.detach().cuda()\n            net(v)\n",
    ),
    "of a comparison": (
        "def f(a, b, x):\n    return (a < b).data.cpu().numpy(), (a != b).cpu().data.numpy(), (x.abs() >= b).data.sum(), (a + b).data.cpu().numpy()\n",
        "def f(a, b, x):\n    return (a < b).cpu().numpy(), (a != b).cpu().numpy(), (x.abs() >= b).sum(), (a + b).detach().cpu().numpy()\n",
    ),
    "of a comparison that a class computes": (
        "class Soft:\n    def __lt__(self, other):\n        return torch.sigmoid(other.x - self.x)\n\n\ndef f(a, b):\n    return (a < b).data.cpu().numpy(), (a > b).data.cpu().numpy()\n",
        "class Soft:\n    def __lt__(self, other):\n        return torch.sigmoid(other.x - self.x)\n\n\ndef f(a, b):\n    return (a < b).detach().cpu().numpy(), (a > b).detach().cpu().numpy()\n",
    ),
    "handed to what takes it for indices": (
        "def rows(i, n):\n    y = torch.eye(n)\n    print(i.size())\n    return y[i]\n\n\n"
        "def f(a: torch.Tensor, b: torch.Tensor):\n    return rows(a.data.cpu(), 3), rows(b.data, 3)\n",
        "def rows(i, n):\n    y = torch.eye(n)\n    print(i.size())\n    return y[i]\n\n\n"
        "def f(a: torch.Tensor, b: torch.Tensor):\n    return rows(a.cpu(), 3), rows(b, 3)\n",
    ),
    "handed to what may take it for indices": (
        "def rows(i, n):\n    if n > 3:\n        return 0\n    return torch.eye(n)[i]\n\n\n"
        "def later(i):\n    yield torch.eye(3)[i]\n\n\ndef keyed(i, keys):\n    return keys[i]\n\n\n"
        "def scaled(i):\n    return torch.eye(3)[i] * i\n\n\n"
        "def f(a: torch.Tensor):\n    return rows(a.data, 3), later(a.data), keyed(a.data, {}), scaled(a.data)\n",
        "def rows(i, n):\n    if n > 3:\n        return 0\n    return torch.eye(n)[i]\n\n\n"
        "def later(i):\n    yield torch.eye(3)[i]\n\n\ndef keyed(i, keys):\n    return keys[i]\n\n\n"
        "def scaled(i):\n    return torch.eye(3)[i] * i\n\n\n"
        "def f(a: torch.Tensor):\n    return rows(a.detach(), 3), later(a.detach()), keyed(a.detach(), {}), scaled(a.detach())\n",
    ),
    "a place in a matrix": (
        "def f(x: torch.Tensor, n, rows):\n    for i in range(n):\n        print(x[i, 0].data[0], x[i][i].data[0], x[i, :].data[0], x[rows, i].data[0])\n",
        "def f(x: torch.Tensor, n, rows):\n    for i in range(n):\n        print(x[i, 0].item(), x[i][i].item(), x[i, :].detach()[0], x[rows, i].detach()[0])\n",
    ),
    "counted where compared": (
        "def f(batch, y):\n    n = (batch.x != 1).sum(-1).cpu().data.numpy()\n    return n, (y != 1).sum(-1).data.cpu().numpy()\n",
        "def f(batch, y):\n    n = (batch.x != 1).sum(-1).cpu().numpy()\n    return n, (y != 1).sum(-1).cpu().numpy()\n",
    ),
    "compared by a class of its own, and summed": (
        "class Soft:\n    def __lt__(self, other):\n        return torch.sigmoid(other.x - self.x)\n\n\ndef f(a, b):\n    return (a < b).sum(0).data.cpu().numpy()\n",
        "class Soft:\n    def __lt__(self, other):\n        return torch.sigmoid(other.x - self.x)\n\n\ndef f(a, b):\n    return (a < b).sum(0).detach().cpu().numpy()\n",
    ),
    "compared, and multiplied": (
        "def f(a, b, w):\n    return (a < b).float().mul(w).data.cpu().numpy()\n",
        "def f(a, b, w):\n    return (a < b).float().mul(w).detach().cpu().numpy()\n",
    ),
    "indices on another device": (
        "def f(x, y, i):\n    x.scatter_(1, i.unsqueeze(1).data.cpu(), 1)\n    return x.gather(1, i.data.to(torch.long)), y.add(i.data.cpu())\n",
        "def f(x, y, i):\n    x.scatter_(1, i.unsqueeze(1).cpu(), 1)\n    return x.gather(1, i.to(torch.long)), y.add(i.cpu())\n",
    ),
    "wrapped for a graph, from the block that is made": (
        "def f(G, D, z):\n    z = Variable(z, volatile=True)\n    fake = Variable(G(z).data)\n    other = fake\n    other.mul_(2)\n    return D(fake)\n",
        "def f(G, D, z):\n    with torch.no_grad():\n        fake = G(z)\n    other = fake\n    other.mul_(2)\n    return D(fake)\n",
    ),
    "compared with what is certain, both": (
        "def f(net, x, y):\n    out = net(x)\n    return (out.data.max(1)[1] != y.data).float().sum()\n",
        "def f(net, x, y):\n    out = net(x)\n    return (out.max(1)[1] != y).float().sum()\n",
    ),
    "places that are not zero": (
        "def f(mask):\n    mask.detach_()\n    return mask.data.nonzero()[:, 0].float()\n",
        "def f(mask):\n    mask.detach_()\n    return mask.nonzero()[:, 0].float()\n",
    ),
    "added to a gradient where step is decorated": (
        "class Descent(torch.optim.Optimizer):\n    def step(self):\n        for group in self.param_groups:\n            for p in group['params']:\n"
        "                grad = p.grad.data\n                if group['decay']:\n                    grad = grad.add(p.data, alpha=group['decay'])\n"
        "                self.state[p]['mean'].mul_(0.9).add_(grad)\n                p.data.sub_(self.state[p]['mean'])\n",
        "class Descent(torch.optim.Optimizer):\n    @torch.no_grad()\n    def step(self):\n        for group in self.param_groups:\n            for p in group['params']:\n"
        "                grad = p.grad\n                if group['decay']:\n                    grad = grad.add(p, alpha=group['decay'])\n"
        "                self.state[p]['mean'].mul_(0.9).add_(grad)\n                p.sub_(self.state[p]['mean'])\n",
    ),
    "a number by another name": (
        "def f(k, x: torch.Tensor):\n    k = k + x.abs().sum()\n    k = k.data[0]\n    return min(max(k, 0), 1)\n",
        "def f(k, x: torch.Tensor):\n    k = k + x.abs().sum()\n    k = k.item()\n    return min(max(k, 0), 1)\n",
    ),
    "brought to a device that is not seen": (
        "def f(x):\n    return Variable(torch.randn(3).cuda(x.get_device()))\n",
        "def f(x):\n    return torch.randn(3, device=x.get_device())\n",
    ),
    "of a size that is spread out": (
        "def f(*shape):\n    return Variable(torch.zeros(*shape))\n",
        "def f(*shape):\n    return torch.zeros(*shape)\n",
    ),
    "of a factory that may be asked for a gradient": (
        "def f(**how):\n    return Variable(torch.zeros(3, **how))\n",
        "def f(**how):\n    return torch.zeros(3, **how).detach()\n",
    ),
    "out of two loaders": (
        "def f(net, loader_a, loader_b):\n    for i, (a, b) in enumerate(zip(loader_a, loader_b)):\n        a = Variable(a.cuda())\n        net(a.sum(), b)\n",
        "def f(net, loader_a, loader_b):\n    for i, (a, b) in enumerate(zip(loader_a, loader_b)):\n        a = a.cuda()\n        net(a.sum(), b)\n",
    ),
    "made anew before it is replaced": (
        "def f(net, loader):\n    for batch in loader:\n        x, _ = batch\n        x = torch.bernoulli(x)\n        x = Variable(x.cuda())\n        net(x)\n",
        "def f(net, loader):\n    for batch in loader:\n        x, _ = batch\n        x = torch.bernoulli(x)\n        x = x.cuda()\n        net(x)\n",
    ),
    "made anew on one path before it is replaced": (
        "def f(net, x, drop):\n    if drop:\n        x = torch.bernoulli(x)\n    x = Variable(x.cuda())\n    net(x)\n",
        "def f(net, x, drop):\n    if drop:\n        x = torch.bernoulli(x)\n    x = x.detach().cuda()\n    net(x)\n",
    ),
    "kept by another before it is replaced": (
        "def f(net, seen):\n    x = torch.rand(3)\n    x = torch.bernoulli(x)\n    seen.append(x)\n    x = Variable(x.cuda())\n    net(x)\n",
        "def f(net, seen):\n    x = torch.rand(3)\n    x = torch.bernoulli(x)\n    seen.append(x)\n    x = x.cuda().detach()\n    net(x)\n",
    ),
    "gradients that are asked for, where others are assigned": (
        "def f(loss, ws: list[torch.Tensor], mean: torch.Tensor):\n    for w, g in zip(ws, torch.autograd.grad(loss, ws)):\n        mean.copy_(g.data)\n        w.grad = g.data - mean\n",
        "def f(loss, ws: list[torch.Tensor], mean: torch.Tensor):\n    for w, g in zip(ws, torch.autograd.grad(loss, ws)):\n        mean.copy_(g)\n        w.grad = g - mean\n",
    ),
    "what comes next out of a loader": (
        "def f(net, loader):\n    for i in range(3):\n        x, y = next(iter(loader))\n        x = Variable(x).cuda()\n        net.resize(x.resize_(3))\n",
        "def f(net, loader):\n    for i in range(3):\n        x, y = next(iter(loader))\n        x = x.cuda()\n        net.resize(x.resize_(3))\n",
    ),
    "what comes next out of a loader, and is kept": (
        "def f(net, loader, seen):\n    for i in range(3):\n        x, y = next(iter(loader))\n        seen.append(x)\n        x = Variable(x).cuda()\n        net.resize(x.resize_(3))\n",
        "def f(net, loader, seen):\n    for i in range(3):\n        x, y = next(iter(loader))\n        seen.append(x)\n        x = x.detach().cuda()\n        net.resize(x.resize_(3))\n",
    ),
    "a transformed image": (
        "from PIL import Image\nfrom torchvision import transforms\ndef f(net, path):\n    t = transforms.Compose([transforms.ToTensor()])\n    net(Variable(t(Image.open(path)).unsqueeze(0).cuda()))\n",
        "from PIL import Image\nfrom torchvision import transforms\ndef f(net, path):\n    t = transforms.Compose([transforms.ToTensor()])\n    net(t(Image.open(path)).unsqueeze(0).cuda())\n",
    ),
    "a transformed tensor": (
        "from torchvision import transforms\ndef f(net, x: torch.Tensor):\n    t = transforms.Compose([transforms.Resize(3)])\n    net(Variable(t(x).unsqueeze(0).cuda()))\n",
        "from torchvision import transforms\ndef f(net, x: torch.Tensor):\n    t = transforms.Compose([transforms.Resize(3)])\n    net(t(x).unsqueeze(0).detach().cuda())\n",
    ),
    "used for the last time": (
        "def f(k):\n    w = torch.randn(k).mul_(1e-3)\n    return Variable(w.cuda(), requires_grad=True)\n",
        "def f(k):\n    w = torch.randn(k).mul_(1e-3)\n    return w.cuda().requires_grad_()\n",
    ),
    "given away before it is used for the last time": (
        "def f(k, use):\n    w = torch.randn(k)\n    use(w)\n    return Variable(w.cuda(), requires_grad=True)\n",
        "def f(k, use):\n    w = torch.randn(k)\n    use(w)\n    return w.cuda().detach().requires_grad_()\n",
    ),
    "initialised and assigned": (
        "from torch import nn\ndef init(m):\n    if isinstance(m, nn.Linear):\n        m.weight.data = nn.init.xavier_uniform(m.weight.data, gain=2)\n"
        "        m.bias.data = nn.init.constant_(m.bias.data, 0)\n",
        "from torch import nn\ndef init(m):\n    if isinstance(m, nn.Linear):\n        nn.init.xavier_uniform_(m.weight, gain=2)\n"
        "        nn.init.constant_(m.bias, 0)\n",
    ),
    "noise of a sign, in a file of that time": (
        "def f(x, net):\n    eps = 1e-20\n    u = x.data.new(*x.size()).uniform_()\n    net(Variable(x, volatile=True))\n"
        "    return x + Variable(-torch.log(-torch.log(u + eps) + eps))\n",
        "def f(x, net):\n    eps = 1e-20\n    u = x.new_empty(*x.size()).uniform_()\n    with torch.no_grad():\n        net(x)\n"
        "    return x + (-torch.log(-torch.log(u + eps) + eps))\n",
    ),
    "a measure of what was cut, in a file of that time": (
        "def f(x, w, y: torch.Tensor, model, measure):\n    out = x @ w\n    print(out.sum().data[0])\n"
        "    return Variable(measure(out.data, y.data, topk=(1,))[0]), Variable(model(out.data)), Variable(measure(topk=(1,)))\n",
        "def f(x, w, y: torch.Tensor, model, measure):\n    out = x @ w\n    print(out.sum().item())\n"
        "    return measure(out.detach(), y.detach(), topk=(1,))[0], model(out.detach()).detach(), measure(topk=(1,)).detach()\n",
    ),
    "handed out of a block": (
        "def f(x, net, group):\n    x = Variable(x.data, volatile=True)\n    o = net(x)\n    g = group(o)\n    return Variable(o.data), [Variable(v.data) for v in [o, g]]\n",
        "def f(x, net, group):\n    x = x.detach()\n    with torch.no_grad():\n        o = net(x)\n        g = group(o)\n    return o, [o, g]\n",
    ),
    "used where autograd does not record, and elsewhere": (
        "def f(net, source, path):\n    x = source.load(path)\n    x = Variable(x)\n    y = Variable(source.load(path))\n"
        "    with torch.no_grad():\n        out = net(x, y)\n    return out, y\n",
        "def f(net, source, path):\n    x = source.load(path)\n    y = source.load(path).detach()\n"
        "    with torch.no_grad():\n        out = net(x, y)\n    return out, y\n",
    ),
    "a part that is assigned beside": (
        "def f(net, n):\n    conv = torch.nn.Conv2d(n, 64, 7)\n    if n == 1:\n        conv.weight.data = net.conv1.weight.data[:, 0:1]\n"
        "    elif n == 4:\n        conv.weight.data[:, :3] = net.conv1.weight.data\n        conv.weight.data[:, 3:4] = net.conv1.weight.data[:, 0:1]\n"
        "    return conv\n",
        "def f(net, n):\n    conv = torch.nn.Conv2d(n, 64, 7)\n    if n == 1:\n        conv.weight.data = net.conv1.weight.data[:, 0:1]\n"
        "    elif n == 4:\n        with torch.no_grad():\n            conv.weight[:, :3] = net.conv1.weight\n            conv.weight[:, 3:4] = net.conv1.weight[:, 0:1]\n"
        "    return conv\n",
    ),
    "filled, and wrapped in one of two cases, or as one of two": (
        "def f(n, cuda):\n    y, z = torch.zeros(2 * n), torch.zeros(n)\n    y[:n] = 0.1\n    z[0].fill_(2)\n"
        "    y = Variable(y.cuda()) if cuda else Variable(y)\n    z = Variable(z.cuda() if cuda else z)\n    return y * 2, z\n",
        "def f(n, cuda):\n    y, z = torch.zeros(2 * n), torch.zeros(n)\n    y[:n] = 0.1\n    z[0].fill_(2)\n"
        "    y = y.cuda() if cuda else y\n    z = z.cuda() if cuda else z\n    return y * 2, z\n",
    ),
    "wrapped as one of two that somebody has": (
        "def f(n, cuda, kept, w):\n    y, z = torch.zeros(n), torch.zeros(n)\n    kept.append(y)\n    z[0] = w\n"
        "    return Variable(y.cuda() if cuda else y), Variable(z.cuda()) if cuda else Variable(z)\n",
        "def f(n, cuda, kept, w):\n    y, z = torch.zeros(n), torch.zeros(n)\n    kept.append(y)\n    z[0] = w\n"
        "    return (y.cuda() if cuda else y).detach(), z.detach().cuda() if cuda else z.detach()\n",
    ),
    "a gradient that processes exchange": (
        "import torch.distributed as dist\n\ndef f(net):\n    for p in net.parameters():\n"
        "        dist.all_reduce(p.grad.data, op=dist.ReduceOp.SUM)\n        p.grad.data /= dist.get_world_size()\n"
        "        dist.broadcast(p.data, 0)\n",
        "import torch.distributed as dist\n\ndef f(net):\n    for p in net.parameters():\n"
        "        dist.all_reduce(p.grad, op=dist.ReduceOp.SUM)\n        p.grad /= dist.get_world_size()\n"
        "        dist.broadcast(p.detach(), 0)\n",
    ),
    "asked for dtype and device by what is not known": (
        "def f(x, w: torch.Tensor, move):\n    move(w.data)\n    return x.to(w.data), move.to(w.data, True)\n",
        "def f(x, w: torch.Tensor, move):\n    move(w.detach())\n    return x.to(w), move.to(w.detach(), True)\n",
    ),
    "the longest of lengths": (
        "def f(lengths, other: torch.Tensor, longest=None):\n    if longest is None:\n        longest = lengths.data.max()\n    least = other.data.max()\n"
        "    n = lengths.size(0)\n    at = torch.arange(0, longest).long().unsqueeze(0).expand(n, longest)\n"
        "    return at < lengths.unsqueeze(1).expand_as(at), least\n",
        "def f(lengths, other: torch.Tensor, longest=None):\n    if longest is None:\n        longest = lengths.max()\n    least = other.detach().max()\n"
        "    n = lengths.size(0)\n    at = torch.arange(0, longest).long().unsqueeze(0).expand(n, longest)\n"
        "    return at < lengths.unsqueeze(1).expand_as(at), least\n",
    ),
    "boxes beside a tensor": (
        "def f(match, boxes, rows: torch.Tensor):\n    return match(rows.data, boxes.data), boxes.data\n",
        "def f(match, boxes, rows: torch.Tensor):\n    return match(rows.detach(), boxes.detach()), boxes.detach()\n",
    ),
    "given to a function that is a method, too": (
        "def f(e, a):\n    return torch.nonzero(e[:, a, :].data).size()\n",
        "def f(e, a):\n    return torch.nonzero(e[:, a, :]).size()\n",
    ),
    "a mask that is made, and named": (
        "class Drop(torch.nn.Module):\n    def forward(self, x, p=0.5):\n"
        "        m = x.data.new(1, x.size(1), x.size(2)).bernoulli_(1 - p)\n"
        "        return x * Variable(m, requires_grad=False) / (1 - p)\n\n\n"
        "def f(x, w, p=0.1):\n    m = x.data.new(1, x.size(1)).bernoulli_(1 - p)\n    m = m.expand_as(w)\n    m = m / (1 - p)\n"
        "    n = torch.bernoulli(x.data.new(x.size()).fill_(p))\n    mask = Variable(m)\n"
        "    return x * mask, Variable(n.div_(1 - p)), Variable(x.data.new(x.size()).bernoulli_(p).expand_as(w))\n",
        "class Drop(torch.nn.Module):\n    def forward(self, x, p=0.5):\n"
        "        m = x.new_empty(1, x.size(1), x.size(2)).bernoulli_(1 - p)\n"
        "        return x * m / (1 - p)\n\n\n"
        "def f(x, w, p=0.1):\n    m = x.new_empty(1, x.size(1)).bernoulli_(1 - p)\n    m = m.expand_as(w)\n    m = m / (1 - p)\n"
        "    n = torch.bernoulli(x.new_empty(x.size()).fill_(p))\n    mask = m\n"
        "    return x * mask, n.div_(1 - p), x.new_empty(x.size()).bernoulli_(p).expand_as(w)\n",
    ),
    "a mask that others have, or that may have a graph": (
        "def f(x: torch.Tensor, w, q, p=0.1):\n    m = x.data.new(1, 2).bernoulli_(p)\n    n, o = x.data.new(1, 2).bernoulli_(p), w\n"
        "    for i in range(3):\n        x = x * Variable(m)\n    k = x.data.new(1, 2).bernoulli_(p)\n    k.mul_(q)\n"
        "    return x, Variable(k), n, Variable(n), Variable(x.data.new(1, 2).bernoulli_(p) * q)\n",
        "def f(x: torch.Tensor, w, q, p=0.1):\n    m = x.new_empty(1, 2).bernoulli_(p)\n    n, o = x.new_empty(1, 2).bernoulli_(p), w\n"
        "    for i in range(3):\n        x = x * m.detach()\n    k = x.new_empty(1, 2).bernoulli_(p)\n    k.mul_(q)\n"
        "    return x, k.detach(), n, n.detach(), (x.new_empty(1, 2).bernoulli_(p) * q).detach()\n",
    ),
    "gradients that processes exchange": (
        "import torch.distributed as dist\n\ndef f(net, group):\n    for p in net.parameters():\n"
        "        dist.all_reduce(p.grad.data, group=group)\n        dist.broadcast(p.data, 0)\n",
        "import torch.distributed as dist\n\ndef f(net, group):\n    for p in net.parameters():\n"
        "        dist.all_reduce(p.grad, group=group)\n        dist.broadcast(p.detach(), 0)\n",
    ),
    "moved behind a block that is made": (
        "def f(net, save, n):\n    noise = torch.randn(n, 3)\n    noisev = Variable(noise, volatile=True)\n    out = net(noisev)\n"
        "    out = out.view(3, n)\n    out = out.cpu().data.numpy()\n    save(out)\n",
        "def f(net, save, n):\n    noise = torch.randn(n, 3)\n    with torch.no_grad():\n        out = net(noise)\n"
        "    out = out.view(3, n)\n    out = out.cpu().numpy()\n    save(out)\n",
    ),
    "a comment about what is not trained": (
        "def f(gen, net, noise):\n    z = Variable(noise, volatile=True)  # totally freeze gen\n    fake = Variable(gen(z).data)\n"
        "    return net(fake)\n\n\ndef g(gen, net, noise):\n    z = Variable(noise, volatile=True)  # batch x 3\n"
        "    fake = Variable(gen(z).data)\n    return net(fake)\n",
        "def f(gen, net, noise):\n    z = noise\n    # totally freeze gen\n    with torch.no_grad():\n        fake = gen(z)\n"
        "    return net(fake)\n\n\ndef g(gen, net, noise):\n    z = noise  # batch x 3\n    with torch.no_grad():\n"
        "        fake = gen(z)\n    return net(fake)\n",
    ),
    "given on where it is there": (
        "def f(net, loader, flag):\n    for x, c, g, h in loader:\n        c = Variable(c) if c is not None else None\n"
        "        g = None if g is None else Variable(g)\n        h = Variable(h) if flag else None\n        net(x, c, g, h)\n",
        "def f(net, loader, flag):\n    for x, c, g, h in loader:\n        h = h if flag else None\n        net(x, c, g, h)\n",
    ),
    "new on either arm of an expression": (
        "def f(shape, cuda, flag):\n    z = torch.randn(shape).float() if cuda else torch.randn(shape)\n"
        "    o = torch.randn(shape) if cuda else flag\n    return Variable(z, flag), Variable(o, flag)\n",
        "def f(shape, cuda, flag):\n    z = torch.randn(shape).float() if cuda else torch.randn(shape)\n"
        "    o = torch.randn(shape) if cuda else flag\n    return z.requires_grad_(flag), o.detach().requires_grad_(flag)\n",
    ),
    "a length, by which something is cut": (
        "def f(y: torch.Tensor, sizes: torch.Tensor, i, df):\n    n = sizes[i].data.cpu().numpy()[0]\n"
        "    a = y[i].data.cpu().numpy()[:n]\n    k = sizes[i].data\n    for j in range(k):\n        a[j] = 1\n"
        "    m = sizes[i].data.cpu().numpy()[0]\n    return a, df[:m]\n",
        "def f(y: torch.Tensor, sizes: torch.Tensor, i, df):\n    n = sizes[i].cpu().numpy()[0]\n"
        "    a = y[i].detach().cpu().numpy()[:n]\n    k = sizes[i]\n    for j in range(k):\n        a[j] = 1\n"
        "    m = sizes[i].detach().cpu().numpy()[0]\n    return a, df[:m]\n",
    ),
    "a new layer with further arguments": (
        "def f(n, weights, **kwargs):\n    m = torch.nn.Conv2d(n, n, 3, **kwargs)\n    m.weight.data.fill_(1.0 / n)\n"
        "    m.bias.data.zero_()\n    return m\n\n\ndef g(n, **kwargs):\n    m = torch.nn.Embedding(n, n, **kwargs)\n"
        "    m.weight.data.fill_(1.0 / n)\n    return m\n",
        "def f(n, weights, **kwargs):\n    m = torch.nn.Conv2d(n, n, 3, **kwargs)\n    torch.nn.init.constant_(m.weight, 1.0 / n)\n"
        "    torch.nn.init.zeros_(m.bias)\n    return m\n\n\ndef g(n, **kwargs):\n    m = torch.nn.Embedding(n, n, **kwargs)\n"
        "    with torch.no_grad():\n        m.weight.fill_(1.0 / n)\n    return m\n",
    ),
}


@pytest.mark.parametrize("what", FORMS)
def test_forms(what: str) -> None:
    text, expected = FORMS[what]
    outcome = check_text(HEAD + text, "x.py", CODES, Fixing.UNSAFE)
    assert (outcome.text.partition("\n\n\n")[2].lstrip("\n"), outcome.problems) == (expected, ())


PAGE = Path(__file__).parent / "attacks" / "plain.md"
BLOCKS = dict(
    re.findall(r"^## ([^\n]+)\n+```diff\n(.*?)^```$", PAGE.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
)


@pytest.mark.parametrize("what", BLOCKS)
def test_files_with_safe_fixes(what: str) -> None:
    lines = BLOCKS[what].splitlines(keepends=True)
    before, after = ("".join(line[1:] or line for line in lines if line[0] != sign) for sign in "+-")
    outcome = check_text(before, "x.py", CODES, Fixing.SAFE)
    assert (outcome.text, outcome.problems) == (after, ())


@pytest.mark.parametrize("count", [0, 1])
@pytest.mark.parametrize("method", SOURCES)
def test_torch_puts_no_integers_into_floats(method: str, count: int) -> None:
    places, source = torch.zeros(count, dtype=torch.long), torch.ones(count, dtype=torch.long)
    given = {"masked_scatter_": (torch.tensor([count > 0, False]),), "index_put_": ((places,),)}
    with pytest.raises(RuntimeError):
        getattr(torch.zeros(2), method)(*given.get(method, (0, places)), source)
