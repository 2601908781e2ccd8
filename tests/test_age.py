"""In a file from before PyTorch 0.4 `Variable` was given tensors without a graph, so it just goes; not by a safe fix."""

from __future__ import annotations

from pathlib import Path

import pytest

from torchlint.diagnostic import Fixing
from torchlint.file.check import check_text

HEAD = "import torch\nfrom torch.autograd import Variable\n\n\n"
OLD = "\n\ndef shown(loss):\n    print(loss.data[0])\n"
"""What tells the age of a file."""

FORMS = {
    "parts of parameters": (
        "def f(self, x, y, rows):\n    images = Variable(x[rows])\n    return self.net(images, Variable(y['label']).cuda())\n",
        "def f(self, x, y, rows):\n    images = x[rows]\n    return self.net(images, y['label'].cuda())\n",
    ),
    "a parameter that is bound anew": (
        "def f(self, x, y):\n    x = x.transpose(0, 1).cuda()\n    x = Variable(x)\n    return self.net(x)\n",
        "def f(self, x, y):\n    x = x.transpose(0, 1).cuda()\n    return self.net(x)\n",
    ),
    "what a loop goes through": (
        "def f(net, dataset):\n    for i, item in enumerate(dataset):\n"
        "        a, b = Variable(item['a']), Variable(item['b'].cuda())\n        net(a, b)\n",
        "def f(net, dataset):\n    for i, item in enumerate(dataset):\n"
        "        a, b = item['a'], item['b'].cuda()\n        net(a, b)\n",
    ),
    "what a list is made of": (
        "def f(net, xs):\n    return net([Variable(x) for x in xs], [Variable(x.cuda()) for x in xs])\n",
        "def f(net, xs):\n    return net(list(xs), [x.cuda() for x in xs])\n",
    ),
    "what a part of a list is made of": (
        "def f(net, xs):\n    return net([Variable(x) for x in xs[:3]], [x if x is None else Variable(x) for x in xs[3:]])\n",
        "def f(net, xs):\n    return net(list(xs[:3]), list(xs[3:]))\n",
    ),
    "either way the same": (
        "def f(net, x, y, flag):\n    y = y if y is None else Variable(y)\n    return(net(x[0] if flag else Variable(x[0]), y))\n",
        "def f(net, x, y, flag):\n    return(net(x[0], y))\n",
    ),
    "either way the same, in brackets": (
        "def f(x, flag):\n    return(Variable(x) if not flag else\n           x)\n",
        "def f(x, flag):\n    return(x)\n",
    ),
    "what is asked of other things": (
        "def f(net, x, flag):\n    return net(x if flag() else Variable(x), x if x else Variable(x))\n",
        "def f(net, x, flag):\n    return net(x if flag() else x, x if x else x)\n",
    ),
    "what was read": (
        "def f(self, n):\n    a, b = self.memory.sample(n)\n    a, b = Variable(a), Variable(b)\n    return self.net(a, b)\n",
        "def f(self, n):\n    a, b = self.memory.sample(n)\n    return self.net(a, b)\n",
    ),
}

FORMS["what a function gave that only casts"] = (
    "def f(self, item, kind):\n    return self.net(Variable(cast(item[0], kind)), Variable(sample(item)))\n",
    "def f(self, item, kind):\n    return self.net(cast(item[0], kind), sample(item))\n",
)

FORMS["a name that a later loop binds, too"] = (
    "def f(net, loader, logs):\n    for x, y in loader:\n        net(Variable(x['a']))\n"
    "        for x in net.shown(logs):\n            print(x)\n",
    "def f(net, loader, logs):\n    for x, y in loader:\n        net(x['a'])\n"
    "        for x in net.shown(logs):\n            print(x)\n",
)

FORMS["what an object keeps"] = (
    "def f(self, x):\n    x = x.unsqueeze(0)\n    self.seen = None\n    self.seen = torch.cat((self.seen, x.data.clone()))\n"
    "    return self.net(Variable(self.seen[:2]))\n",
    "def f(self, x):\n    x = x.unsqueeze(0)\n    self.seen = None\n    self.seen = torch.cat((self.seen, x.detach().clone()))\n"
    "    return self.net(self.seen[:2])\n",
)

FORMS["what an object keeps in a list"] = (
    "def f(self, i, x):\n    self.kept = {}\n    self.kept[i] = []\n    self.kept[i].append(x.data.clone().pow(2))\n"
    "    return self.net(Variable(self.kept[i][0]))\n",
    "def f(self, i, x):\n    self.kept = {}\n    self.kept[i] = []\n    self.kept[i].append(x.detach().clone().pow(2))\n"
    "    return self.net(self.kept[i][0])\n",
)

FORMS["what an environment shows"] = (
    "def f(self, env, cell):\n    self.state = env.reset()\n    self.state = cast(self.state)\n"
    "    return cell(Variable(self.state.unsqueeze(0)))\n",
    "def f(self, env, cell):\n    self.state = env.reset()\n    self.state = cast(self.state)\n"
    "    return cell(self.state.unsqueeze(0))\n",
)

FORMS["what is computed of that"] = (
    "def f(self, player, r):\n    r = r.unsqueeze(0)\n    return r * Variable(player.gain[0] + self.gamma * r.data)\n",
    "def f(self, player, r):\n    r = r.unsqueeze(0)\n    return r * (player.gain[0] + self.gamma * r.detach())\n",
)

FORMS["what a function of the file makes of that"] = (
    "def one_hot(x, n):\n    return x.new(n).zero_()\n\n\ndef f(self, x, wide):\n    x = x.unsqueeze(0)\n    if wide:\n"
    "        y = Variable(one_hot(x.data, 4))\n        self.net(y)\n",
    "def one_hot(x, n):\n    return x.new(n).zero_()\n\n\ndef f(self, x, wide):\n    x = x.unsqueeze(0)\n    if wide:\n"
    "        y = one_hot(x, 4)\n        self.net(y)\n",
)

FORMS["what compares, and is put together"] = (
    "def same(x):\n    return x if x.is_contiguous() else x.contiguous()\n\n\ndef f(x, seq):\n    mask = (seq > 0).float()\n"
    "    mask = same(torch.cat([mask.new(len(mask), 1).fill_(1), mask[:, :-1]], 1)).view(-1)\n"
    "    return x * Variable(mask)\n",
    "def same(x):\n    return x if x.is_contiguous() else x.contiguous()\n\n\ndef f(x, seq):\n    mask = (seq > 0).float()\n"
    "    mask = same(torch.cat([mask.new(len(mask), 1).fill_(1), mask[:, :-1]], 1)).view(-1)\n"
    "    return x * mask\n",
)

FORMS["in each of two branches"] = (
    "def f(self, x):\n    if self.gpus:\n        y = Variable(x.cuda())\n    else:\n        y = Variable(x)\n    return y\n",
    "def f(self, x):\n    if self.gpus:\n        y = x.cuda()\n    else:\n        y = x\n    return y\n",
)

FORMS["all that an else does"] = (
    "def f(self, x, y):\n    if self.gpus:\n        x, y = Variable(x).cuda(), y.cuda()\n    else:\n        x = Variable(x)\n"
    "    return self.net(x, y)\n",
    "def f(self, x, y):\n    if self.gpus:\n        x, y = x.cuda(), y.cuda()\n    return self.net(x, y)\n",
)

_ROUND = (
    "def f(net, loader, x):\n    for y in loader:\n        x.resize_(len(y)).fill_(1)\n        v = {}\n        net(v)\n"
    "        v = {}\n        net(v)\n"
)
FORMS["what gets another size before it is wrapped, in each round"] = (
    _ROUND.format("Variable(x)", "Variable(x.fill_(0))"),
    _ROUND.format("x", "x.fill_(0)"),
)

FORMS["an attribute that is put back"] = (
    "def f(self, x):\n    self.grid = cast(x)\n    self.grid = Variable(self.grid)\n    return self.net(self.grid)\n",
    "def f(self, x):\n    self.grid = cast(x)\n    return self.net(self.grid)\n",
)

FORMS["what a function of torch makes of what is kept"] = (
    "def f(self, x):\n    self.var = torch.zeros(3)\n    self.var = torch.clamp(self.var / self.n, min=0.1)\n"
    "    return self.net(x / Variable(torch.sqrt(self.var).unsqueeze(0).expand_as(x)))\n",
    "def f(self, x):\n    self.var = torch.zeros(3)\n    self.var = torch.clamp(self.var / self.n, min=0.1)\n"
    "    return self.net(x / torch.sqrt(self.var).unsqueeze(0).expand_as(x))\n",
)

FORMS["what something makes of a new tensor"] = (
    "def f(self, x):\n    return self.net(Variable(self.moved(torch.zeros(3))))\n",
    "def f(self, x):\n    return self.net(self.moved(torch.zeros(3)))\n",
)

FORMS["what nothing may stand for"] = (
    "def f(net, memory, new):\n    x = None\n    if new:\n        x = memory.sample(3)\n    return net(Variable(x[0].cuda()))\n",
    "def f(net, memory, new):\n    x = None\n    if new:\n        x = memory.sample(3)\n    return net(x[0].cuda())\n",
)

FORMS["what was written to in place"] = (
    "def f(net, x, n):\n    noise = x.new(n).uniform_()\n    noise.add_(TINY).log_()\n    return net(x * Variable(noise))\n",
    "def f(net, x, n):\n    noise = x.new(n).uniform_()\n    noise.add_(TINY).log_()\n    return net(x * noise)\n",
)

FORMS["what shall require grad"] = (
    "def f(net, a, x, g):\n    return net(Variable(a * x.cuda() + (1 - a) * g.cuda(), requires_grad=True))\n",
    "def f(net, a, x, g):\n    return net((a * x.cuda() + (1 - a) * g.cuda()).requires_grad_())\n",
)

LEFT = {
    "an attribute of the class, which becomes the object's": (
        "def f(self):\n    self.grid = Variable(self.grid)\n    return self.net(self.grid)\n\n\n"
        "class A(object):\n    grid = torch.zeros(3)\n    f = f\n",
        "def f(self):\n    self.grid = self.grid\n    return self.net(self.grid)\n\n\n"
        "class A(object):\n    grid = torch.zeros(3)\n    f = f\n",
    ),
    "what a network makes of a new tensor": (
        "def f(self):\n    return Variable(self.net(torch.zeros(3)))\n",
        "def f(self):\n    return self.net(torch.zeros(3)).detach()\n",
    ),
    "what gets another size before its wrapper is used": (
        "def f(net, loader, x):\n    v = Variable(x)\n    for y in loader:\n        x.resize_(len(y))\n        net(v)\n",
        "def f(net, loader, x):\n    v = x.detach()\n    for y in loader:\n        x.resize_(len(y))\n        net(v)\n",
    ),
    "what gets another size while its wrapper is still used": (
        "def f(net, loader, x):\n    for y in loader:\n        v = Variable(x)\n        x.resize_(len(y))\n        net(v)\n",
        "def f(net, loader, x):\n    for y in loader:\n        v = x.detach()\n        x.resize_(len(y))\n        net(v)\n",
    ),
    "an attribute that holds what was computed": (
        "def f(self, x):\n    self.out = self.net(x)\n    return self.net(Variable(self.out[0]))\n",
        "def f(self, x):\n    self.out = self.net(x)\n    return self.net(self.out[0].detach())\n",
    ),
    "a list into which was put what was computed": (
        "def f(self, x):\n    self.outs = []\n    self.outs.append(self.net(x))\n    return Variable(self.outs[0])\n",
        "def f(self, x):\n    self.outs = []\n    self.outs.append(self.net(x))\n    return self.outs[0].detach()\n",
    ),
    "a dictionary into which was put what was computed": (
        "def f(self, x):\n    self.outs = {}\n    self.outs[0] = self.net(x)\n    return Variable(self.outs[0])\n",
        "def f(self, x):\n    self.outs = {}\n    self.outs[0] = self.net(x)\n    return self.outs[0].detach()\n",
    ),
    "something that is kept, with what was computed": (
        "def f(self, x):\n    self.sum = torch.zeros(2)\n    return Variable(self.sum + self.net(x))\n",
        "def f(self, x):\n    self.sum = torch.zeros(2)\n    return (self.sum + self.net(x)).detach()\n",
    ),
    "several of which one was computed": (
        "def f(self, x):\n    return Variable(torch.cat((x, self.net(x))))\n",
        "def f(self, x):\n    return torch.cat((x, self.net(x))).detach()\n",
    ),
    "an attribute of a network": (
        "def f(self, net):\n    return Variable(net.last_output)\n",
        "def f(self, net):\n    return net.last_output.detach()\n",
    ),
    "a name that the loop around binds anew": (
        "def f(net, rows, logs):\n    for x in rows:\n        for _ in logs:\n            net(Variable(x['a']))\n"
        "            for x in net.shown(logs):\n                print(x)\n",
        "def f(net, rows, logs):\n    for x in rows:\n        for _ in logs:\n            net(x['a'].detach())\n"
        "            for x in net.shown(logs):\n                print(x)\n",
    ),
    "what another function tells to require grad": (
        "def leaf(v):\n    v.requires_grad_()\n    return v * 2\n\n\ndef f(x):\n    return leaf(Variable(x))\n",
        "def leaf(v):\n    v.requires_grad_()\n    return v * 2\n\n\ndef f(x):\n    return leaf(x.detach())\n",
    ),
    "what is given a gradient": (
        "class A(object):\n    def set(self, x):\n        self.v = Variable(x)\n        self.v.grad = torch.ones(2)\n",
        "def set(self, x):\n        self.v = x.detach()\n        self.v.grad = torch.ones(2)\n",
    ),
    "what is asked which it is": (
        "def f(x):\n    return Variable(x) is x\n",
        "def f(x):\n    return x.detach() is x\n",
    ),
    "what something computed, cast": (
        "def f(self, x):\n    return Variable(cast(self.net(x)))\n",
        "def f(self, x):\n    return cast(self.net(x)).detach()\n",
    ),
    "what something computed": (
        "def f(net, x):\n    h = net(x)\n    return Variable(h), Variable(net.head(x))\n",
        "def f(net, x):\n    h = net(x)\n    return h.detach(), net.head(x).detach()\n",
    ),
    "what something computed in an earlier round": (
        "def f(net, x):\n    for _ in range(3):\n        x = net(Variable(x))\n    return x\n",
        "def f(net, x):\n    for _ in range(3):\n        x = net(x.detach())\n    return x\n",
    ),
    "what something computed, taken apart": (
        "def f(net, x):\n    a, b = net(x)\n    return Variable(a), Variable(b[0])\n",
        "def f(net, x):\n    a, b = net(x)\n    return a.detach(), b[0].detach()\n",
    ),
    "what is asked to require grad": (
        "def f(net, x):\n    v = Variable(x)\n    v.requires_grad = True\n    return net(v)\n",
        "def f(net, x):\n    v = x.detach()\n    v.requires_grad = True\n    return net(v)\n",
    ),
    "what gets another shape": (
        "def f(net, x):\n    v = Variable(x)\n    v.unsqueeze_(0)\n    return net(v, x)\n",
        "def f(net, x):\n    v = x.detach()\n    v.unsqueeze_(0)\n    return net(v, x)\n",
    ),
    "the data of something": (
        "def f(net, h):\n    return Variable(h.data), Variable(h.data.cuda())\n",
        "def f(net, h):\n    return h.detach(), h.detach().cuda()\n",
    ),
    "all that a branch does": (
        "def f(net, x, wrapped):\n    if wrapped:\n        x = Variable(x)\n    return net(x)\n",
        "def f(net, x, wrapped):\n    if wrapped:\n        x = x.detach()\n    return net(x)\n",
    ),
    "parameters": (
        "def f(net, weight, m):\n    return Variable(weight), Variable(m.weight), Variable(net.conv.bias)\n",
        "def f(net, weight, m):\n    return weight.detach(), m.weight.detach(), net.conv.bias.detach()\n",
    ),
    "outputs that a loop goes through": (
        "def f(net, x):\n    outs = net(x)\n    return [Variable(out) for out in outs]\n",
        "def f(net, x):\n    outs = net(x)\n    return [out.detach() for out in outs]\n",
    ),
    "a name of the function around": (
        "def f(net, x):\n    def g():\n        return Variable(x)\n    x = net(x)\n    return g()\n",
        "def f(net, x):\n    def g():\n        return x.detach()\n    x = net(x)\n    return g()\n",
    ),
}


def _fixed(text: str, fixing: Fixing, age: str = OLD) -> str:
    outcome = check_text(HEAD + text + age, "x.py", frozenset({"TL101", "TL105", "TL201", "TL202"}), fixing)
    assert not outcome.problems
    return outcome.text.partition("def ")[1] + outcome.text.partition("def ")[2].removesuffix(age)


@pytest.mark.parametrize("what", FORMS)
def test_it_goes(what: str) -> None:
    text, wanted = FORMS[what]
    assert _fixed(text, Fixing.UNSAFE) == wanted


def test_a_list_that_is_waited_for_stays() -> None:
    text = "async def f(net, xs):\n    return net([Variable(x) async for x in xs])\n"
    assert "net([x async for x in xs])" in _fixed(text, Fixing.UNSAFE)


@pytest.mark.parametrize("what", FORMS)
def test_a_safe_fix_rests_on_no_age(what: str) -> None:
    text, wanted = FORMS[what]
    fixed = _fixed(text, Fixing.SAFE)
    assert fixed != wanted
    assert ".detach()" in fixed
    assert fixed == _fixed(text, Fixing.UNSAFE, "")


@pytest.mark.parametrize("later", ["torch.no_grad()", "loss.item()", "torch.device('cpu')"])
def test_a_file_that_was_changed_since(later: str) -> None:
    text, _ = FORMS["parts of parameters"]
    assert _fixed(text, Fixing.UNSAFE, f"{OLD}    print({later})\n") == _fixed(text, Fixing.SAFE)


@pytest.mark.parametrize("what", LEFT)
def test_it_stays_cut(what: str) -> None:
    text, wanted = LEFT[what]
    assert _fixed(text, Fixing.UNSAFE) == wanted


MAPPED = {
    "def f(net, x, y):\n    x, y = map(Variable, (x, y))\n    return net(x, y)\n": "def f(net, x, y):\n    return net(x, y)\n",
    "def f(net, loader):\n    for x, y in loader:\n        x, a, b = mixup_data(x, y)\n"
    "        x, a, b = map(Variable, (x, a, b))\n        net(x, a, b)\n": (
        "def f(net, loader):\n    for x, y in loader:\n        x, a, b = mixup_data(x, y)\n        net(x, a, b)\n"
    ),
    "def f(net, x, y):\n    y, x = map(Variable, (x, y))\n    return net(x, y)\n": None,
    "def f(net, x, y):\n    x, y = map(Variable, (net(x), y))\n    return x\n": None,
    "def f(net, x, y):\n    x = net(x)\n    x, y = map(Variable, (x, y))\n    return x\n": None,
    "def f(net, x, y):\n    x, y = map(Variable, (x, y))\n    x.requires_grad = True\n    return net(x, y)\n": None,
}


@pytest.mark.parametrize("text", MAPPED)
def test_names_that_are_mapped_to_their_wrappers(text: str) -> None:
    assert _fixed(text, Fixing.UNSAFE) == (MAPPED[text] or text)
    assert _fixed(text, Fixing.SAFE) == text


WRITTEN = {
    "y = Variable(torch.LongTensor(1))\n    y.data.fill_(self.index(x))": "y = torch.LongTensor(1)\n    y.fill_(self.index(x))",
    "y = Variable(torch.zeros(2))\n    y.data.copy_(x)": "y = torch.zeros(2)\n    y.copy_(x)",
    "y = Variable(torch.zeros(2))\n    y.data.copy_(self.net(x))": (
        "y = torch.zeros(2)\n    with torch.no_grad():\n        y.copy_(self.net(x))"
    ),
    "y = Variable(torch.zeros(2))\n    y.data.fill_(self.net(x).sum().exp_())": (
        "y = torch.zeros(2)\n    with torch.no_grad():\n        y.fill_(self.net(x).sum().exp_())"
    ),
}


@pytest.mark.parametrize("text", WRITTEN)
def test_what_is_written_to_a_new_tensor(text: str) -> None:
    head, rest = f"{HEAD}def f(self, x):\n    ", "\n    return self.net(y)\n"
    rules = frozenset(("TL102", "TL201"))
    old = check_text(head + text + rest + OLD, "x.py", rules, Fixing.UNSAFE).text
    assert WRITTEN[text] in old
    for fixing, age in ((Fixing.SAFE, OLD), (Fixing.UNSAFE, "")):
        assert "\n    y.fill_(" not in check_text(head + text + rest + age, "x.py", rules, fixing).text
        assert "\n    y.copy_(" not in check_text(head + text + rest + age, "x.py", rules, fixing).text


_UNTOLD = f"{HEAD}def f(self, x):\n    x = x.unsqueeze(0)\n    return self.net(Variable(x))\n"
"""A file that does not tell its age."""


@pytest.mark.parametrize(
    ("others", "goes"),
    [
        ({"main.py": "print(loss.data[0])\n"}, True),
        ({"main.py": "print(loss)\n"}, False),
        ({"main.py": "resized = transforms.Scale(3)\n"}, True),
        ({"main.py": "print(loss.data[0])\n", "eval.py": "with torch.no_grad():\n    pass\n"}, False),
    ],
)
def test_the_other_files_of_a_project_tell_its_age(others: dict[str, str], goes: bool, tmp_path: Path) -> None:
    for name, text in {"pyproject.toml": "", "net.py": _UNTOLD, **others}.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    at, rules = str(tmp_path / "net.py"), frozenset(("TL201",))
    fixed = {fixing: check_text(_UNTOLD, "net.py", rules, fixing, location=at).text for fixing in Fixing}
    assert fixed[Fixing.UNSAFE].endswith("self.net(x)\n" if goes else "self.net(x.detach())\n")
    assert fixed[Fixing.SAFE].endswith("self.net(x.detach())\n")
