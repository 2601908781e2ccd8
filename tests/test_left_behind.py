"""What fixes leave behind: comments, branches, checks, brackets and empty lines that stood for what is gone."""

from __future__ import annotations

import pytest

from torchlint.diagnostic import Fixing
from torchlint.file.check import check_text
from torchlint.rules import catalogue

CODES = frozenset(catalogue())

HEAD = """\
import torch
import torch.nn.init as init
from torch import nn
from torch.autograd import Variable

"""

# what stands behind the imports, and what becomes of it with all fixes
TEXTS = {
    "a comment that only says that something is wrapped": (
        """\
for x, y in loader:
    # Convert torch tensors to Variables
    x, y = Variable(x.cuda()), Variable(y.cuda())
    # wrap it in a Variable
    z = Variable(torch.zeros(3))
    # now wrap them in torch Variables.
    x, y = Variable(x), Variable(y)

    print(x.volatile, y, z)
""",
        """\
for x, y in loader:
    x, y = x.cuda(), y.cuda()
    z = torch.zeros(3)

    print(x.volatile, y, z)
""",
    ),
    "such a comment with an empty line below it": (
        """\
def f(loader, net):
    for x, y in loader:
        # wrap them in Variables

        x, y = Variable(x), Variable(y)
        n = 1

        # convert to a Variable

        z = net(Variable(torch.zeros(3)), n)
        # wrap it in a Variable


        k = Variable(torch.zeros(3))
        print(x, y, z, k)
""",
        """\
def f(loader, net):
    for x, y in loader:
        n = 1

        z = net(torch.zeros(3), n)
        # wrap it in a Variable


        k = torch.zeros(3)
        print(x, y, z, k)
""",
    ),
    "what is None either way": (
        """\
for x, c, g, h in loader:
    c = Variable(c) if c is not None else None
    g = None if g is None else Variable(g)
    k = Variable(h) if h is not None else None
    m = Variable(h) if x is not None else None
    print(x.volatile, c, g, k, m)
""",
        """\
for x, c, g, h in loader:
    k = h
    m = h if x is not None else None
    print(x.volatile, c, g, k, m)
""",
    ),
    "a comment that says more": (
        """\
for x, y in loader:
    # convert numpy arrays to Variables
    x = Variable(torch.from_numpy(x))
    # the inputs
    # wrapped in Variables
    y = Variable(y.cuda())
    # move them to the GPU, wrap them in Variables and flatten them
    y = Variable(y.view(-1))
    print(x.volatile, y)
""",
        """\
for x, y in loader:
    # convert numpy arrays to Variables
    x = torch.from_numpy(x)
    # the inputs
    # wrapped in Variables
    y = y.cuda()
    # move them to the GPU, wrap them in Variables and flatten them
    y = y.view(-1)
    print(x.volatile, y)
""",
    ),
    "a branch of which nothing is left": (
        """\
def masked(x, y, wrap):
    mask = y.gt(0)
    if isinstance(x, Variable):
        mask = Variable(mask, volatile=x.volatile)

    if wrap and not isinstance(y, Variable):
        mask = Variable(mask)
    if wrap:
        mask = Variable(mask)
    else:
        print(mask)
    if print(y):
        mask = Variable(mask)
    return torch.masked_select(x, mask)
""",
        """\
def masked(x, y, wrap):
    mask = y.gt(0)
    if wrap:
        pass
    else:
        print(mask)
    if print(y):
        pass
    return torch.masked_select(x, mask)
""",
    ),
    "a check beside one for the same": (
        """\
def shown(x, y):
    if isinstance(x, Variable) or torch.is_tensor(x):
        print(x)
    elif torch.is_tensor(y[0]) or isinstance(y[0], Variable):
        print(y)
    elif isinstance(x, torch.Tensor) or isinstance(y, Variable):
        print(x, y)
""",
        """\
def shown(x, y):
    if torch.is_tensor(x):
        print(x)
    elif torch.is_tensor(y[0]):
        print(y)
    elif isinstance(x, torch.Tensor) or isinstance(y, torch.Tensor):
        print(x, y)
""",
    ),
    "a function that calls itself with what was wrapped": (
        """\
def uniform(tensor, a=0, b=1):
    if isinstance(tensor, Variable):
        uniform(tensor.data, a=a, b=b)
        return tensor
    return tensor.uniform_(a, b)


def shown(x):
    if isinstance(x, Variable):
        return other(x.data)
    return x
""",
        """\
def uniform(tensor, a=0, b=1):
    if isinstance(tensor, torch.Tensor) and tensor.requires_grad:
        uniform(tensor.detach(), a=a, b=b)
        return tensor
    return tensor.uniform_(a, b)


def shown(x):
    if isinstance(x, torch.Tensor):
        return other(x.detach())
    return x
""",
    ),
    "brackets around `x.data`": (
        """\
x = torch.ones(3)
print((x.data).size(), (x.data)[0], (x.data) * 2)
""",
        """\
x = torch.ones(3)
print(x.size(), x[0], (x) * 2)
""",
    ),
    "empty lines between lines that go": (
        """\
a, b, c = torch.zeros(1), torch.zeros(2), torch.zeros(3)


a = Variable(a)
b = Variable(b)

c = Variable(c)

print(a, b, c)
""",
        """\
a, b, c = torch.zeros(1), torch.zeros(2), torch.zeros(3)


print(a, b, c)
""",
    ),
    "an empty line where a block begins": (
        """\
for x, y in loader:
    # wrap them in Variables
    x, y = Variable(x), Variable(y)

    print(x, y)
""",
        """\
for x, y in loader:
    print(x, y)
""",
    ),
    "an empty line before `else:`": (
        """\
def made(n):
    if n:
        z = torch.zeros(3)
        print(z)

        z = Variable(z)
    else:
        z = n
    return z
""",
        """\
def made(n):
    if n:
        z = torch.zeros(3)
        print(z)
    else:
        z = n
    return z
""",
    ),
    "another way to write `nn.init` than the file has": (
        """\
def weights_init(m):
    if isinstance(m, nn.Conv3d):
        nn.init.kaiming_normal_(m.weight)
        m.bias.data.zero_()
""",
        """\
def weights_init(m):
    if isinstance(m, nn.Conv3d):
        nn.init.kaiming_normal_(m.weight)
        nn.init.zeros_(m.bias)
""",
    ),
}


def fixed(text: str) -> str:
    outcome = check_text(text, "x.py", CODES, Fixing.UNSAFE)
    assert not outcome.problems
    assert check_text(outcome.text, "x.py", CODES, Fixing.UNSAFE).text == outcome.text
    return outcome.text


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
@pytest.mark.parametrize(("before", "after"), TEXTS.values(), ids=TEXTS)
def test_nothing_is_left_behind(before: str, after: str, newline: str) -> None:
    head = HEAD.replace("from torch.autograd import Variable\n", "")
    assert fixed((HEAD + before).replace("\n", newline)) == (head + after).replace("\n", newline)


def test_the_comment_stays_with_a_wrapper_that_stays() -> None:
    text = f"{HEAD}def f(x, flag):\n    # wrap it in a Variable\n    x = Variable(x, volatile=flag)\n    return x * 2\n"
    assert "# wrap it in a Variable" in fixed(text)


EVALUATIONS = {
    "a slice whose bounds are computed": (
        """\
def embed(net, images, n):
    found = []
    for i in range(0, len(images), n):
        found.append(net(Variable(images[i:i + n], volatile=True)))
    return torch.cat(found, 0)
""",
        """\
def embed(net, images, n):
    found = []
    for i in range(0, len(images), n):
        with torch.no_grad():
            found.append(net(images[i:i + n]))
    return torch.cat(found, 0)
""",
    ),
    "a result that only some branches bind": (
        """\
class Encoder(nn.Module):
    def forward(self, x):
        out = self.lstm(x)
        if self.pool == "mean":
            emb = out.mean(0)
        elif self.pool == "max":
            emb = out.max(0)[0]
        return emb

    def encode(self, batches):
        for batch in batches:
            batch = Variable(self.loaded(batch), volatile=True)
            vectors = self.forward(batch)
            print(vectors)
""",
        """\
class Encoder(nn.Module):
    def forward(self, x):
        out = self.lstm(x)
        if self.pool == "mean":
            emb = out.mean(0)
        elif self.pool == "max":
            emb = out.max(0)[0]
        return emb

    def encode(self, batches):
        for batch in batches:
            batch = self.loaded(batch)
            with torch.no_grad():
                vectors = self.forward(batch)
            print(vectors)
""",
    ),
}


@pytest.mark.parametrize(("before", "after"), EVALUATIONS.values(), ids=EVALUATIONS)
def test_evaluations_get_their_block(before: str, after: str) -> None:
    head = HEAD.replace("from torch.autograd import Variable\n", "")
    assert fixed(HEAD + before) == head + after


def test_data_beside_that_of_tensors_is_fixed_with_it() -> None:
    text = f"""{HEAD}
class Net(nn.Module):
    def forward(self, x, truth=None):
        found = self.detector(x)
        self.assigned = assign(found.labels.data, truth.data)
        return truth[:, 1:].size()
"""
    assert "assign(found.labels.detach(), truth.detach())" in fixed(text)
