"""A grammar of small PyTorch programs, of the kind that was written before 0.4, for hypothesis to draw from.

Vectors have three elements, so nearly everything can be combined with everything; the drawing keeps track of which
names hold what, so most programs run. What they compute makes no sense, which is the point.

One thing they do not do: compute with `w.data` and then write to `w` where autograd sees it (`w.detach().add_(1)`)
before `backward()`. The original has silently wrong gradients there, and with `w.detach()` instead it raises.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from hypothesis import strategies as st

HEADER = """\
import copy

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.autograd import Variable

torch.manual_seed(0)
"""

Draw = Callable[[st.SearchStrategy[str]], str]


@dataclass
class State:
    """Names by what they hold."""

    draw: Draw
    vectors: list[str] = field(default_factory=list)
    leaves: list[str] = field(default_factory=list)
    scalars: list[str] = field(default_factory=list)
    modules: list[str] = field(default_factory=list)
    lists: list[str] = field(default_factory=list)
    count: int = 0

    def new(self, prefix: str) -> str:
        self.count += 1
        return f"{prefix}{self.count}"

    def one(self, *options: str) -> str:
        return self.draw(st.sampled_from(options))

    def vector(self) -> str:
        return self.one(*self.vectors)

    def leaf(self) -> str:
        return self.one(*self.leaves)

    def scalar(self) -> str:
        return self.one(*self.scalars) if self.scalars else f"{self.vector()}.sum()"

    def module(self) -> str:
        return self.one(*self.modules)

    def inner(self) -> State:
        """What a block sees; what it binds stays there, for it may not run."""
        return State(
            self.draw, [*self.vectors], [*self.leaves], [*self.scalars], [*self.modules], [*self.lists], self.count
        )


def leaf(s: State) -> list[str]:
    name = s.new("w")
    line = s.one(
        "torch.randn(3, requires_grad=True)",
        "torch.ones(3).requires_grad_()",
        "Variable(torch.randn(3), requires_grad=True)",
        "Variable(torch.from_numpy(np.ones(3, dtype=np.float32)), requires_grad=True)",
        f"Variable({s.vector()}.data, requires_grad=True)",
        f"Variable({s.vector()}.data.clone(), requires_grad=True)",
        "nn.Parameter(torch.randn(3))",
        f"nn.Parameter({s.vector()}.data.clone())",
    )
    s.vectors.append(name)
    s.leaves.append(name)
    return [f"{name} = {line}"]


def constant(s: State) -> list[str]:
    name = s.new("x")
    line = s.one(
        "torch.randn(3)",
        "torch.arange(3.0)",
        "torch.FloatTensor([1, 2, 3])",
        "torch.from_numpy(np.arange(3, dtype=np.float32))",
        "Variable(torch.randn(3))",
        "Variable(torch.ones(3), volatile=True)",
        "Variable(torch.Tensor([1.0, 2.0, 3.0]))",
    )
    s.vectors.append(name)
    return [f"{name} = {line}"]


def wrapped(s: State) -> list[str]:
    name, x = s.new("v"), s.vector()
    line = s.one(
        f"Variable({x})",
        f"Variable({x}.data)",
        f"Variable({x}, requires_grad=False)",
        f"Variable({x}, volatile=True)",
        f"torch.autograd.Variable({x} * 2)",
        f"Variable({x}.clone())",
    )
    s.vectors.append(name)
    return [f"{name} = {line}"]


def arithmetic(s: State) -> list[str]:
    name, a, b = s.new("y"), s.vector(), s.vector()
    line = s.one(
        f"{a} * {b}",
        f"{a} + {b}.data",
        f"{a} - {b}",
        f"{a}.data * {b}",
        f"{a} / ({b} * {b} + 1)",
        f"torch.sigmoid({a})",
        f"F.relu({a}) * 2",
        f"{a}.exp()",
        f"torch.where({a}.data > 0, {a}, {b})",
        f"-{a}.data",
        f"{a} * 2 if {a}.data.sum() > 0 else {b} * 3",
        f"{a}.clone()",
    )
    s.vectors.append(name)
    return [f"{name} = {line}"]


def view(s: State) -> list[str]:
    name, a, b = s.new("z"), s.vector(), s.vector()
    line = s.one(
        f"{a}",
        f"{a}[:]",
        f"{a}.view(3)",
        f"{a}.view_as({b}.data)",
        f"{a}.data",
        f"{a}.detach()",
        f"{a}.data.view(-1)",
        f"{a}.detach().data",
        f"{a}.data.detach()",
        f"{a}.cpu().detach()",
        f"{a}.cpu().data",
        f"{a}.float().data",
        f"{a}.expand_as({b}.data)",
        f"{a}.data[:]",
        f"({a} * 1).data",
    )
    s.vectors.append(name)
    return [f"{name} = {line}"]


def read(s: State) -> list[str]:
    name, a, b = s.new("n"), s.vector(), s.vector()
    line = s.one(
        f"{a}.data.size(0)",
        f"{a}.data.shape",
        f"{a}.data.numpy()",
        f"{a}.data.cpu().numpy()",
        f"{a}.cpu().data.numpy()",
        f"{a}.detach().cpu().numpy()",
        f"{a}.cpu().detach().numpy()",
        f"np.asarray({a}.data)",
        f"{a}.data.numpy().copy()",
        f"{a}.data.tolist()",
        f"{a}.data.max(0)",
        f"{a}.data.sum()",
        f"{a}.sum().data.item()",
        f"{a}.sum().detach().cpu().item()",
        f"{a}.mean().data",
        f"[{a}.data, {b}.data]",
        f"{{'a': {a}.data, 'b': {b}.data.clone()}}",
        f"[t.data.sum() for t in [{a}, {b}]]",
        f"(lambda t: t.data * 2)({a})",
        f"torch.zeros_like({a}.data)",
        f"{a}.new({b}.data.size()).zero_()",
        f"isinstance({a}, Variable)",
        f"type({a}.data).__name__",
        f"len({a}.data)",
        f"{a}.data.type()",
        f"copy.deepcopy({a}.data)",
        f"torch.cat([{a}.data, {b}.data])",
        f"{a}.data.equal({b}.data)",
        f"{a}.data is {a}",
        f"'%.3f' % {a}.data.sum()",
        f"float({a}.data[0])",
        f"{a}.data[0]",
        f"{a}.data.requires_grad",
    )
    return [f"{name} = {line}"]


def inplace(s: State) -> list[str]:
    a, b = s.vector(), s.vector()
    return [
        s.one(
            f"{a}.data.add_(1)",
            f"{a}.data.mul_({b}.data)",
            f"{a}.data.copy_({b}.data)",
            f"{a}.data.zero_()",
            f"{a}.data.clamp_(-1, 1)",
            f"{a}.data[0] = 2.0",
            f"{a}.data[1:] = {b}.data[1:]",
            f"{a}.data += 1",
            f"{a}.data -= 0.1 * {b}.data",
            f"{a}.data.normal_(0, 0.02)",
            f"{a}.data.uniform_(-1, 1)",
            f"{a}.data.fill_(0.5)",
            f"{a}.data = {b}.data",
            f"{a}.data = {b}.data.clone()",
            f"nn.init.normal_({a}.data)",
            f"nn.init.constant_({a}.data, 0.5)",
            f"torch.add({a}.data, 1, out={a}.data)",
        )
    ]


def kept_and_written(s: State) -> list[str]:
    """A read of `.data` that is written to afterwards."""
    name, a = s.new("k"), s.vector()
    first = s.one(
        f"{name} = {a}.data",
        f"{name} = {a}.data[:]",
        f"{name} = {a}.data.view(3)",
        f"{name} = {a}.data if {a}.dim() else {a}",
        f"{name}, rest = {a}.data, 1",
        f"{name} = [{a}.data][0]",
        f"{name} = Variable({a}.data)",
        f"{name} = Variable({a})",
        f"{name} = {a}.data.squeeze()",
        f"{name} = {a}.cpu().data",
    )
    second = s.one(
        f"{name}.add_(1)",
        f"{name}[0] = 3.0",
        f"{name} += 1",
        f"{name}.mul_({a})",
        f"{name} = {name} + 1",
        f"other = {name}; other.add_(1)",
        f"{name}.view(3)[0] = 1.0",
        f"for row in {name}:\n    row.mul_(2)",
        f"torch.add({name}, 1, out={name})",
        f"{name}.requires_grad = True",
        f"{name}.requires_grad_()",
        f"setattr({name}, 'mark', 1)",
        f"nn.init.zeros_({name})",
    )
    s.vectors.append(name)
    return [first, *second.split("\n")]


def written_at_once(s: State) -> list[str]:
    """A write to memory that `.data` gave, without a name."""
    a, b = s.vector(), s.vector()
    return s.one(
        f"for row in {a}.data:\n    row.mul_(2)",
        f"for t in ({a}.data, {b}.data):\n    t.add_(1)",
        f"list({a}.data)[0].add_(1)",
        f"[t.zero_() for t in [{a}.data]]",
        f"(lambda t: t.add_(1))({a}.data)",
        f"{a}.data.numpy()[0] = 5.0",
        f"np.add({a}.data.numpy(), 1, out={a}.data.numpy())",
        f"map_ = list(map(lambda t: t.mul_(2), [{a}.data]))",
        f"table = {{'t': {a}.data}}\ntable['t'].add_(1)",
        f"class Box: pass\nbox = Box()\nbox.t = {a}.data\nbox.t.add_(1)",
        f"def write(t):\n    t.add_(1)\nwrite({a}.data)",
        f"def write(t):\n    t[0] = 1.0\n    return t\nz = write({a}.data) * 2",
        f"torch.nn.utils.clip_grad_norm_([{a}], 1.0)\n{a}.data.chunk(3)[0].add_(1)",
        f"{a}.data.unbind()[0].add_(1)",
        f"p, q, r = {a}.data\np.add_(1)",
        f"getattr({a}, 'data').add_(1)",
    ).split("\n")


def loss(s: State) -> list[str]:
    name, a, b = s.new("loss"), s.vector(), s.vector()
    line = s.one(
        f"({a} * {b}).sum()",
        f"{a}.pow(2).mean()",
        f"F.mse_loss({a}, {b}.data)",
        f"nn.MSELoss()({a}, {b}.detach())",
        f"({a} - {b}.data).abs().max()",
    )
    s.scalars.append(name)
    return [f"{name} = {line}"]


def backward(s: State) -> list[str]:
    """Of a scalar that depends on a leaf, so that it can run."""
    loss_, a, w = s.scalar(), s.vector(), s.leaf()
    return [
        s.one(
            f"({loss_} + {w}.sum()).backward(retain_graph=True)",
            f"({a} * {w}).sum().backward(retain_graph=True)",
            f"({w} * {a}.data).sum().backward()",
            f"({w} * {w}).sum().backward()",
        )
    ]


def step(s: State) -> list[str]:
    w = s.leaf()
    backward_ = f"({w} * {w}).sum().backward()"
    update = s.one(
        f"{w}.data.add_({w}.grad.data, alpha=-0.1)",
        f"{w}.data -= 0.1 * {w}.grad.data",
        f"{w}.data = {w}.data - 0.1 * {w}.grad.data",
        f"g = {w}.grad.data",
        f"g = {w}.grad.data.clone()",
        f"g = {w}.grad.data.norm()",
        f"{w}.grad.data.clamp_(-1, 1)",
        f"{w}.grad.data.mul_(0.5)",
    )
    zero = s.one(f"{w}.grad.data.zero_()", f"{w}.grad.zero_()", f"{w}.grad = None", "pass")
    return [backward_, update, zero]


def accumulate(s: State) -> list[str]:
    total, w, x = s.new("total"), s.leaf(), s.vector()
    start = s.one("0", "0.0", "torch.zeros(1)", "Variable(torch.zeros(1))")
    add = s.one(
        f"{total} += loss",
        f"{total} = {total} + loss",
        f"{total} += loss.data",
        f"{total} += loss.item()",
        f"{total} += loss.data.item()",
        f"{total} += loss * 2",
        f"{total} += float(loss.data)",
    )
    then = s.one(
        "loss.backward()",
        f"loss.backward()\n    {w}.data.add_({w}.grad.data, alpha=-0.01)",
        f"loss.backward()\n    {w}.grad.data.zero_()",
        "pass",
    )
    end = s.one(f"mean = {total} / 3", f"{total}.backward()" if "backward" not in then else "pass", "pass")
    start_ = "0" if "item" in add or "float" in add else start
    lines = [f"{total} = {start_}", "for i in range(3):", f"    loss = ({w} * {w} * i + {x}.data).sum()"]
    lines += [f"    {line}" for line in (then, add)] if s.one("", "late") else [f"    {line}" for line in (add, then)]
    return [*lines, end]


def collect(s: State) -> list[str]:
    losses, w = s.new("losses"), s.leaf()
    added = s.one("loss", "loss.data", "loss.item()", "loss.detach()", "loss.data.clone()")
    end = s.one(
        f"mean = sum({losses}) / len({losses})",
        f"torch.stack({losses}).sum().backward()" if added == "loss" else "pass",
        "pass",
    )
    then = "pass" if "backward" in end else s.one("loss.backward()", "pass")
    s.lists.append(losses)
    lines = [f"{losses} = []", "for i in range(3):", f"    loss = ({w} * {w}).sum() * i"]
    return [*lines, f"    {then}", f"    {losses}.append({added})", end]


def module(s: State) -> list[str]:
    name = s.new("net")
    lines = [f"{name} = {s.one('nn.Linear(3, 3)', 'nn.Sequential(nn.Linear(3, 3), nn.Tanh(), nn.Linear(3, 3))')}"]
    lines += s.one(
        "",
        f"for m in {name}.modules():\n    if isinstance(m, nn.Linear):\n        m.weight.data.normal_(0.0, 0.02)\n        m.bias.data.fill_(0)",
        f"for p in {name}.parameters():\n    p.data.uniform_(-0.1, 0.1)",
        f"for p in {name}.parameters():\n    nn.init.normal_(p.data)",
        f"def init{name}(m):\n    if isinstance(m, nn.Linear):\n        m.weight.data.normal_(0.0, 0.02)\n        m.bias.data.zero_()\n{name}.apply(init{name})",
        f"sizes = [p.data.size() for p in {name}.parameters()]",
        f"saved = {{k: v.data.clone() for k, v in {name}.state_dict().items()}}",
        f"total_norm = sum(p.data.norm() ** 2 for p in {name}.parameters()) ** 0.5",
    ).split("\n")
    s.modules.append(name)
    return [line for line in lines if line]


def network(s: State) -> list[str]:
    """A class with initialisation in it."""
    name, net = s.new("Net"), s.new("net")
    init = s.one(
        "self.fc.weight.data.normal_(0, 0.1)",
        "self.fc.weight.data.uniform_(-0.1, 0.1)\n        self.fc.bias.data.zero_()",
        "nn.init.xavier_uniform_(self.fc.weight.data)",
        "self.fc.bias.data.fill_(1)",
        "self.fc.weight.data = torch.eye(3)",
        "self.fc.weight.data.copy_(torch.eye(3))",
    )
    out = s.one(
        "self.fc(x)",
        "self.fc(x) * self.scale.data",
        "self.fc(Variable(x))",
        "self.fc(x).clone()",
        "torch.tanh(self.fc(x.data)) + x",
    )
    s.modules.append(net)
    return [
        f"class {name}(nn.Module):",
        "    def __init__(self):",
        "        super().__init__()",
        "        self.fc = nn.Linear(3, 3)",
        "        self.scale = nn.Parameter(torch.ones(3))",
        f"        {init}",
        "",
        "    def forward(self, x):",
        f"        return {out}",
        "",
        f"{net} = {name}()",
    ]


def use_module(s: State) -> list[str]:
    if not s.modules:
        return module(s)
    net, x, name = s.module(), s.vector(), s.new("out")
    s.vectors.append(name)
    call = f"{name} = {net}({x})"
    rest = s.one(
        "",
        f"{name}.sum().backward(retain_graph=True)\nfor p in {net}.parameters():\n    p.data.add_(p.grad.data, alpha=-0.1)",
        f"{name}.sum().backward(retain_graph=True)\nfor p in {net}.parameters():\n    p.grad.data.zero_()",
        f"for p in {net}.parameters():\n    p.data.clamp_(-0.5, 0.5)",
        f"{name}_data = {name}.data\npred = {name}.data.max(0)[1]",
        f"{name} = Variable({name}.data, requires_grad=True)",
        f"hidden = Variable({name}.data)",
    ).split("\n")
    return [call, *(line for line in rest if line)]


def block(s: State) -> list[str]:
    head = s.one(
        "with torch.no_grad():", "for step in range(2):", "if torch.is_grad_enabled():", "with torch.enable_grad():"
    )
    inner = s.inner()
    lines: list[str] = []
    for _ in range(int(s.one("1", "2", "3"))):
        kind = s.one(*SIMPLE)
        lines += SIMPLE[kind](inner)
    s.count = inner.count
    return [head, *("    " + line.replace("\n", "\n    ") for line in lines)]


def function(s: State) -> list[str]:
    name, out, a, b = s.new("f"), s.new("r"), s.vector(), s.vector()
    body = s.one(
        "return x.data",
        "return x.data * y",
        "y = x.data\n    y.add_(1)\n    return x",
        "h = Variable(x)\n    return h * y",
        "return Variable(x.data)",
        "if isinstance(x, Variable):\n        return x.data\n    return y",
        "x.data.mul_(2)\n    return x * y",
        "return x.cpu().data + y",
        "x = x.detach()\n    x += 1\n    return x",
        "return tuple(Variable(v.data) for v in (x, y))[0]",
    )
    s.vectors.append(out)
    return [f"def {name}(x, y):", f"    {body}", "", f"{out} = {name}({a}, {b})"]


SIMPLE: dict[str, Callable[[State], list[str]]] = {
    f.__name__: f
    for f in (
        leaf,
        constant,
        wrapped,
        arithmetic,
        view,
        read,
        inplace,
        kept_and_written,
        written_at_once,
        loss,
        backward,
        step,
    )
}
STATEMENTS = {
    **SIMPLE,
    **{f.__name__: f for f in (accumulate, collect, module, network, use_module, block, function)},
}


@st.composite
def programs(draw: st.DrawFn) -> str:
    """A program of four to nine statements."""
    state = State(draw)
    state.vectors, state.leaves = ["x0", "w0"], ["w0"]
    lines = ["x0 = torch.randn(3)", "w0 = Variable(torch.randn(3), requires_grad=True)"]
    for kind in draw(st.lists(st.sampled_from(sorted(STATEMENTS)), min_size=4, max_size=9)):
        lines += STATEMENTS[kind](state)
    return HEADER + "\n" + "\n".join(lines) + "\n"
