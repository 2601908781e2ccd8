"""Programs made by combination: a read, a way to another name of the same memory, a write, and a place for it all.

Each reads a tensor, computes with it so that autograd keeps it for ``backward()``, and writes to its memory, mostly
under another name. With `.data` such a program computes wrong gradients and says nothing; where a fix makes the
version counter shared, ``backward()`` raises. So a safe fix must leave them alone, however the write is spelled.

Two kinds: what was read is written while its source is kept (``VALUE``), and the source is written while what was
read is kept (``SOURCE``).
"""

from __future__ import annotations

import itertools
import random
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass

HEADER = """\
import collections
import contextlib
import copy
import dataclasses
import functools
import itertools
import operator
import queue
import threading
import types

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.autograd import Variable

torch.manual_seed(0)
w = torch.tensor([1.0, -2.0, 3.0], requires_grad=True)
"""

# In a form stands `$r` for what is given, `$t` for the new name, `$g` for a name of the module (functions, classes).
# Variants of one line stand in «|».

READS = """\
$w.data
Variable($w.data)
$w.cpu().data
$w.detach().data
$w.data.detach()
$w.data.view(3)
Variable($w)
$w.data if True else None
"""

ALIASES = r"""
$t = $r
$t = u = $r
u = $t = $r
$t, u = $r, 1
$t, *u = $r, 1, 2
*u, $t = 1, 2, $r
*$t, u = $r, 1\n$t = $t[0]
[$t, u] = [$r, 1]
(u, ($t, v)) = 1, ($r, 2)
u = ($r, 1)\n$t, v = u
if ($t := $r) is not None:\n    pass
d = {"x": $r}\n$t = d«["x"]|.get("x")|.pop("x")|.setdefault("x", None)|.popitem()[1]|.copy()["x"]|.__getitem__("x")»
d = {"x": $r}\n«for $t in d.values():|for u, $t in d.items():»\n    pass
d = {}\nd["x"] = $r\n$t = d["x"]
d = dict(x=$r)\n$t = d["x"]
d = {}\nd.«update(x=$r)|update({"x": $r})|setdefault("x", $r)|__setitem__("x", $r)»\n$t = d["x"]
d = {**{"x": $r}}\n$t = d["x"]
d = {} | {"x": $r}\n$t = d["x"]
d = {}\nd |= {"x": $r}\n$t = d["x"]
d = {k: $r for k in "x"}\n$t = d["x"]
d = {"x": {"y": [$r]}}\n$t = d["x"]["y"][0]
xs = [$r]\n$t = xs«[0]|[-1]|.pop()|.copy()[0]|[:][0]»
xs = []\nxs.«append($r)|extend([$r])|insert(0, $r)|__iadd__([$r])»\n$t = xs[0]
xs = []\nxs += [$r]\n$t = xs[0]
xs = []\nput = xs.append\nput($r)\n$t = xs[0]
xs = [] + [$r]\n$t = xs[0]
xs = [$r] * 2\n$t = xs[1]
xs = [*[$r]]\n$t = xs[0]
xs = [None]\nxs«[0] = $r|[:] = [$r]»\n$t = xs[0]
xs = [[]]\nxs[0].append($r)\n$t = xs[0][0]
for $t in «[$r]|($r,)|reversed([$r])|itertools.chain([$r])|iter([$r])|filter(None.__ne__, [$r])»:\n    pass
for u, $t in «enumerate([$r])|zip([1], [$r])|[(1, $r)]|{"x": $r}.items()»:\n    pass
for xs in [[$r]]:\n    for $t in xs:\n        pass
$t = «next(iter([$r]))|[u for u in [$r]][0]|list([$r])[0]|tuple([$r])[0]|sorted([$r], key=len)[0]|max([$r], key=len)»
$t = «(lambda u: u)($r)|($r, 1)[0]|$r if True else None|None or $r|copy.copy([$r])[0]|operator.itemgetter(0)([$r])»
$t = $r«.view(3)|[:]|[...]|.reshape(3)|.expand(3)|.squeeze()|.unsqueeze(0)[0]|.chunk(1)[0]|.split(3)[0]|.narrow(0, 0, 3)»
$t = $r«.T|.real|.contiguous()|.float()|.to("cpu")|.type(torch.float32)|.cpu()|.view_as($r)|.flatten()|.ravel()|.detach()»
$t = torch.«squeeze($r)|as_tensor($r)|atleast_1d($r)|chunk($r, 1)[0]|split($r, 3)[0]|broadcast_tensors($r)[0]|ravel($r)»
$t = torch.«Tensor.view($r, 3)|unbind($r.view(1, 3))[0]|asarray($r)|reshape($r, (3,))|flatten(input=$r)|hsplit($r, 1)[0]»
$t, = «$r.chunk(1)|[$r]|($r,)|torch.split($r, 3)|$r.view(1, 3).unbind()|$r.view(1, 3)»
for $t in «$r.view(1, 3)|$r.chunk(1)|$r.view(1, 3).unbind(0)|torch.unbind($r.view(1, 3))|zip($r.view(1, 3))»:\n    pass\n$t = $t[0] if isinstance($t, tuple) else $t
$t = getattr($r, «"T"|"real"|"data"|"mT".replace("m", "")»)
view = $r.view\n$t = view(3)
box = types.SimpleNamespace(x=$r)\n$t = box.x
box = types.SimpleNamespace()\nbox.x = $r\n$t = box.x
box = types.SimpleNamespace()\nsetattr(box, «"x"|"".join("x")», $r)\n$t = «box.x|getattr(box, "x")|vars(box)["x"]»
box = types.SimpleNamespace()\n«box.__dict__["x"]|vars(box)["x"]» = $r\n$t = box.x
box = types.SimpleNamespace()\nbox.__dict__.update(x=$r)\n$t = box.x
box = types.SimpleNamespace(xs=[])\nbox.xs.append($r)\n$t = box.xs[0]
class $g:\n    x = $r\n$t = $g.x
class $g:\n    xs = [$r]\n$t = $g().xs[0]
class $g:\n    def __init__(self, x):\n        self.x = x\n$t = $g(«$r|x=$r|*[$r]|**{"x": $r}»).x
class $g:\n    def put(self, x):\n        self.x = x\n        return self\n$t = $g().put($r).x
class $g:\n    def __init__(self, x):\n        self.__dict__.update(x=x)\n$t = $g($r).x
class $g:\n    def __init__(self, x):\n        self.y = x\n    @property\n    def x(self):\n        return self.y\n$t = $g($r).x
class $g:\n    def __init__(self, x):\n        self.y = x\n    def __getitem__(self, i):\n        return self.y\n$t = $g($r)[0]
class $g:\n    def __init__(self, x):\n        self.y = x\n    def __iter__(self):\n        yield self.y\nfor $t in $g($r):\n    pass
class $g:\n    def __init__(self, x):\n        self.y = x\n    def __call__(self):\n        return self.y\n$t = $g($r)()
class $g:\n    def __setitem__(self, i, x):\n        self.y = x\nbox = $g()\nbox[0] = $r\n$t = box.y
class $g:\n    def __lshift__(self, x):\n        self.y = x\nbox = $g()\nbox << $r\n$t = box.y
class $g:\n    @staticmethod\n    def same(x):\n        return x\n$t = $g.same($r)
@dataclasses.dataclass\nclass $g:\n    x: object\n$t = $g($r).x
$t = collections.namedtuple("P", "x")($r).x
$t, = collections.namedtuple("P", "x")($r)
def $g(u):\n    return u\n$t = $g(«$r|u=$r|*[$r]|**{"u": $r}|*($r,)»)
def $g(*us, **named):\n    return «(us or tuple(named.values()))[0]»\n$t = $g(«$r|u=$r|*[$r]|**{"u": $r}»)
def $g(u, v=None):\n    return [u]\n$t = $g($r)[0]
def $g(u):\n    return u.view(3)\n$t = $g($r)
def $g(u):\n    v = u\n    return v if v is not None else u\n$t = $g($r)
def $g(u):\n    yield u\n«$t = next($g($r))|for $t in $g($r): pass|[$t] = $g($r)|$t = list($g($r))[0]|$t, = [u for u in $g($r)]»
def $g(u):\n    yield from [u]\n$t = list($g($r))[0]
@contextlib.contextmanager\ndef $g(u):\n    yield u\nwith $g($r) as $t:\n    pass
def $g(u=$r):\n    return u\n$t = $g()
def $g(*, u=$r):\n    return u\n$t = $g()
def $g(u, kept=[]):\n    kept.append(u)\n    return kept\n$t = $g($r)[0]
def $g(u, xs):\n    xs.append(u)\nxs = []\n$g($r, xs)\n$t = xs[0]
def $g(u, d):\n    d["x"] = u\nd = {}\n$g($r, d)\n$t = d["x"]
def $g(u, box):\n    box.x = u\nbox = types.SimpleNamespace()\n$g($r, box)\n$t = box.x
def $g(u):\n    def inner():\n        return u\n    return inner\n$t = $g($r)()
$g = lambda: u\nu = $r\n$t = $g()
$t = functools.partial(lambda u: u, $r)()
$t = functools.reduce(lambda u, v: u, [$r, 1])
$t = list(map(lambda u: u, [$r]))[0]
$t, = map(«torch.Tensor.detach|torch.squeeze|lambda u: u», [$r])
match $r:\n    case $t:\n        pass
match $r:\n    case torch.Tensor() as $t:\n        pass
match [$r]:\n    case [$t]:\n        pass
match {"x": $r}:\n    case {"x": $t}:\n        pass
match [1, $r]:\n    case [_, *u]:\n        $t = u[0]
with contextlib.nullcontext($r) as $t:\n    pass
with contextlib.ExitStack() as stack:\n    $t = stack.enter_context(contextlib.nullcontext($r))
try:\n    raise ValueError($r)\nexcept ValueError as error:\n    $t = error.args[0]
items = queue.Queue()\nitems.put($r)\n$t = items.get()
items = collections.deque()\nitems.append($r)\n$t = items.popleft()
items = collections.defaultdict(list)\nitems["x"].append($r)\n$t = items["x"][0]
$t = nn.«Identity()|Flatten(0)|Sequential()|Sequential(nn.Identity())|Dropout(0.0).eval()»($r)
$t = F.dropout($r, 0.5, False)
$t = nn.Parameter($r«|, requires_grad=False|, False»)
holder = nn.Module()\nholder.register_buffer("x", $r)\n$t = holder.x
holder = nn.Linear(1, 3)\nholder.bias.data = $r\n$t = holder.bias.data
holder = nn.ParameterList([nn.Parameter($r)])\n$t = holder[0].data
"""

WRITES = r"""
$t.«add_(1)|mul_(2)|zero_()|fill_(3)|copy_(torch.zeros(3))|clamp_(0, 1)|normal_()|relu_()|exp_()|masked_fill_($t > 0, 5.0)»
$t«[0] = 1.0|[:] = 7.0|[$t > 0] = 5.0|[...] = 2.0|[0:2] += 1»
$t[0], u = 1.0, 2
for $t[0] in [5.0]:\n    pass
$t «+=|-=|*=|/=|**=» 2
$t.«__iadd__(1)|__setitem__(0, 1.0)|__imul__(2)|__ipow__(2)»
$t.«view(3).add_(1)|view(3)[0] = 1.0|chunk(3)[0].zero_()|unbind()[0].add_(1)|narrow(0, 0, 1).fill_(4)|T.add_(1)|real.add_(1)»
$t.«index_fill_(0, torch.tensor([0]), 9.0)|scatter_(0, torch.tensor([0]), 9.0)|squeeze().mul_(3)|reshape(3).add_(1)»
write = $t.add_\nwrite(1)
write = $t.view(3).add_\nwrite(1)
write = $t.__setitem__\nwrite(0, 1.0)
[$t.add_][0](1)
list(map($t.add_, [1, 2]))
getattr($t, «"add_"|"ad" + "d_"|f"{'add'}_"»)(1)
name = "add_"\ngetattr($t, name)(1)
torch.Tensor.«add_($t, 1)|zero_($t)|__setitem__($t, 0, 1.0)|__iadd__($t, 1)|copy_($t, torch.zeros(3))»
write = torch.Tensor.add_\nwrite($t, 1)
operator.«iadd($t, 1)|setitem($t, 0, 1.0)|imul($t, 2)|methodcaller("add_", 1)($t)|attrgetter("add_")($t)(1)»
torch.«add($t, 1, out=$t)|mul($t, 2, out=$t)|relu_($t)|exp(torch.ones(3), out=$t)|sigmoid_($t)|dropout_($t, 0.5, True)»
options = {"out": $t}\ntorch.add(torch.ones(3), 1, **options)
functools.partial(torch.add, out=$t)(torch.ones(3), 1)
torch.max(torch.ones(1, 3), 0, out=($t, torch.empty(3, dtype=torch.long)))
F.«relu($t, inplace=True)|relu($t, True)|relu(input=$t, inplace=True)|relu_($t)|elu($t, 1.0, True)|leaky_relu($t, 0.1, True)»
F.«dropout($t, 0.5, True, True)|hardtanh($t, -1.0, 1.0, True)|threshold($t, 0.1, 20, True)|normalize($t, dim=0, out=$t)»
flag = True\nF.relu($t, «inplace=flag|flag|**{"inplace": flag}»)
nn.«ReLU(inplace=True)|ReLU(True)|ELU(1.0, True)|Dropout(0.5, True)|Hardtanh(-1.0, 1.0, True)|SiLU(inplace=bool(1))»($t)
nn.Sequential(«nn.ReLU(True)|nn.Identity(), nn.ReLU(True)|nn.Sequential(nn.ReLU(inplace=True))», nn.Linear(3, 3))($t)
nn.Sequential(*[nn.ReLU(True)])($t)
nn.Sequential(collections.OrderedDict(act=nn.ReLU(True)))($t)
layers = [nn.ReLU(True), nn.Tanh()]\nu = $t\nfor layer in layers:\n    u = layer(u)
layers = nn.ModuleList([nn.ReLU(True), nn.Tanh()])\nu = $t\nfor layer in layers:\n    u = layer(u)
layers = nn.Sequential()\nlayers.add_module("act", nn.ReLU(True))\nlayers($t)
layers = nn.Sequential(nn.Tanh())\nlayers[0] = nn.ReLU(True)\nlayers($t)
layers = {"relu": nn.ReLU(True), "tanh": nn.Tanh()}\nlayers["relu"]($t)
layer = nn.ReLU()\nlayer.inplace = True\nlayer($t)
act = nn.ReLU(True) if torch.is_grad_enabled else nn.Tanh()\nact($t)
nn.ReLU(True).forward($t)
act = functools.partial(nn.ReLU, inplace=True)\nact()($t)
act = functools.partial(F.relu, inplace=True)\nact($t)
def $g(name):\n    return nn.ReLU(True) if name else nn.Tanh()\n$g("relu")($t)
class $g(nn.Module):\n    def forward(self, x):\n        «x.add_(1)|x[0] = 1.0|return F.relu(x, inplace=True)|x += 1|y = x.view(3)\n        y.zero_()»\n$g()($t)
class $g(nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.act = nn.ReLU(«inplace=True|True»)\n    def forward(self, x):\n        return self.act(x)\n$g()($t)
class $g(nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.net = nn.Sequential(nn.ReLU(True), nn.Linear(3, 3))\n    def forward(self, x):\n        return self.net(x)\n«$g()($t)|nn.Sequential($g())($t)|nn.DataParallel($g())($t)»
class $g(nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.layers = nn.ModuleList([nn.ReLU(True)])\n    def forward(self, x):\n        for layer in self.layers:\n            x = layer(x)\n        return x\n$g()($t)
class $g(nn.Sequential):\n    pass\n$g(nn.ReLU(True))($t)
class $g(nn.Sequential):\n    def __init__(self):\n        super().__init__(nn.ReLU(True), nn.Linear(3, 3))\n$g()($t)
class $g(nn.ReLU):\n    pass\n$g(inplace=True)($t)
class $g(nn.Module):\n    def __init__(self, act=nn.ReLU(True)):\n        super().__init__()\n        self.act = act\n    def forward(self, x):\n        return self.act(x)\n$g()($t)
torch._foreach_«add_([$t], 1)|mul_([$t], 2)|zero_([$t])|copy_([$t], [torch.zeros(3)])»
nn.init.«zeros_|ones_|normal_|uniform_»($t)
$t.numpy()[0] = 1.0
np.add($t.numpy(), 1, out=$t.numpy())
$t.numpy().«fill(3)|sort()»
array = np.asarray($t)\narray[0] = 2.0
torch.from_numpy($t.numpy()).add_(1)
$t.«untyped_storage().fill_(0)|data.add_(1)|detach().add_(1)|cpu().data.zero_()|set_(torch.zeros(3))»
for row in «$t|$t.view(1, 3)|$t.chunk(3)|$t.unbind()|torch.split($t, 1)»:\n    row.mul_(2)
for row, v in zip($t, [1, 2, 3]):\n    row.fill_(v)
for i, row in enumerate($t):\n    row.add_(i)
first, *rest = «$t|$t.unbind()|$t.split(1)»\n«first.zero_()|rest[0].add_(1)|for one in rest: one.zero_()»
[row.zero_() for row in $t]
all(row.zero_() == 0 for row in $t)
u = v = $t\nv.add_(1)
(u := $t).add_(1)
d = {"x": $t}\nd["x"].add_(1)
d = {"x": $t}\nd["x"] += 1
d = {"x": $t}\nfor u in d.values():\n    u.zero_()
d = {"x": $t}\nfor u, v in d.items():\n    d[u].zero_()
xs = [1]\nxs += [$t]\nxs[1].zero_()
xs = [$t]\nxs[0] *= 2
xs = [$t]\nfor i in range(1):\n    xs[i].add_(1)
box = types.SimpleNamespace(x=$t)\nbox.x.add_(1)
box = types.SimpleNamespace()\nbox.x = $t\nbox.x += 1
box = types.SimpleNamespace()\nsetattr(box, "x", $t)\ngetattr(box, "x").zero_()
def $g(u):\n    «u.add_(1)|u[0] = 1.0|u += 1|torch.relu_(u)|v = u.view(3)\n    v.zero_()»\n$g(«$t|u=$t|*[$t]|**{"u": $t}»)
def $g(*us, **named):\n    for u in (*us, *named.values()):\n        u.zero_()\n$g(«$t|u=$t|*[$t]|**{"u": $t}»)
def $g(v, /, *us):\n    us[0].zero_()\n$g(1, $t)
def $g(us):\n    for u in us:\n        u.zero_()\n$g([$t])
def $g(u):\n    u["x"].zero_()\n$g({"x": $t})
def $g(u):\n    yield u.zero_()\n«next($g($t))|list($g($t))»
def $g(u, write):\n    write(u)\n$g($t, torch.Tensor.zero_)
def $g(u, name):\n    getattr(u, name)()\n$g($t, "zero_")
def $g(u):\n    def inner():\n        u.zero_()\n    inner()\n$g($t)
def $g(u):\n    def inner():\n        u.zero_()\n    return inner\n$g($t)()
def $g(u):\n    return u\n$g($t).zero_()
def $g(u):\n    u.zero_()\n«list(map($g, [$t]))|functools.partial($g, $t)()|write = $g\nwrite($t)|[$g][0]($t)|{"f": $g}["f"]($t)|[f($t) for f in [$g]]»
def $g(u):\n    with torch.no_grad():\n        u.zero_()\nthread = threading.Thread(target=$g, args=($t,))\nthread.start()\nthread.join()\ndel thread
def $g(f):\n    def inner(u):\n        u.zero_()\n        return f(u)\n    return inner\n@$g\ndef wrapped(u):\n    return None\nwrapped($t)
def $g(u):\n    u.zero_()\nfor f in [$g]:\n    f($t)
def $g(u):\n    u.zero_()\nholder = nn.Identity()\nholder.register_forward_pre_hook(lambda m, xs: $g(xs[0]))\nholder($t)
def later(u=$t):\n    u.add_(1)\nlater()
def later():\n    $t.zero_()\nlater()
later = lambda: $t.zero_()\nlater()
(lambda u: u.zero_())($t)
write = lambda u: u.zero_()\nwrite($t)
list(map(«torch.Tensor.zero_|lambda u: u.zero_()|torch.relu_», [$t]))
[f($t) for f in («torch.Tensor.zero_|torch.relu_»,)]
functools.partial(torch.Tensor.add_, $t)(1)
functools.partial($t.add_, 1)()
functools.reduce(torch.Tensor.add_, [1, 2], $t)
collections.deque(map(torch.Tensor.zero_, [$t]))
class $g:\n    def __init__(self, x):\n        self.x = x\n    def write(self):\n        self.x.zero_()\n$g($t).write()
class $g:\n    def __init__(self, x):\n        x.zero_()\n$g(«$t|x=$t|*[$t]»)
class $g:\n    def __call__(self, x):\n        x.zero_()\n$g()($t)
class $g:\n    def write(self, x):\n        x.zero_()\n«$g().write($t)|$g().write(x=$t)|$g.write(None, $t)|write = $g().write\nwrite($t)»
class $g:\n    @«staticmethod\n    def write(|classmethod\n    def write(cls, »x):\n        x.zero_()\n$g.write($t)
class $g:\n    def __init__(self, x):\n        self.x = x\n    def __enter__(self):\n        return self.x\n    def __exit__(self, *a):\n        self.x.zero_()\nwith $g($t):\n    pass
class $g:\n    def __setattr__(self, name, x):\n        x.zero_()\nbox = $g()\nbox.x = $t
class $g:\n    def __radd__(self, x):\n        x.zero_()\n        return 0\n$t.__class__.__name__ + "" and $g().__radd__($t)
class $g:\n    def __contains__(self, x):\n        x.zero_()\n        return True\n$t in $g()
class $g:\n    def __getitem__(self, x):\n        x.zero_()\n$g()[$t]
class $g(torch.autograd.Function):\n    @staticmethod\n    def forward(ctx, x):\n        x.zero_()\n        ctx.mark_dirty(x)\n        return x\nwith torch.no_grad():\n    $g.apply($t)
match $t:\n    case u:\n        u.add_(1)
match [$t]:\n    case [u, *_]:\n        u.add_(1)
with contextlib.nullcontext($t) as u:\n    u.add_(1)
q = nn.Parameter($t)\nq.grad = torch.ones(3)\ntorch.optim.«SGD([q], lr=0.1)|Adam([q])|SGD([{"params": [q]}], lr=0.1)|SGD(params=[q], lr=0.1)».step()
holder = nn.Linear(1, 3)\nholder.bias = nn.Parameter($t)\nholder.load_state_dict({"weight": torch.ones(3, 1), "bias": torch.ones(3)})
holder = nn.Linear(1, 3)\nholder.bias.data = $t\n«holder.load_state_dict({"weight": torch.ones(3, 1), "bias": torch.ones(3)})|nn.init.zeros_(holder.bias)|holder.bias.data.zero_()|holder.reset_parameters()»
holder = nn.Module()\nholder.register_buffer("x", $t)\nholder.x.zero_()
holder = nn.Module()\nholder.x = $t\nholder.x.zero_()
holder = nn.BatchNorm1d(3)\nholder.running_mean = $t\nholder(torch.randn(2, 3))
F.batch_norm(torch.randn(2, 3), $t, torch.ones(3), training=True)
F.batch_norm(torch.randn(2, 3), torch.ones(3), running_var=$t, training=True)
F.instance_norm(torch.randn(2, 3, 4), $t, torch.ones(3))
F.embedding(torch.tensor([0, 1]), $t.view(3, 1), max_norm=0.1)
F.embedding(torch.tensor([0, 1]), $t.view(3, 1), None, 0.1)
F.embedding_bag(torch.tensor([[0, 1]]), $t.view(3, 1), max_norm=0.1)
nn.Embedding.from_pretrained($t.view(3, 1), max_norm=0.1)(torch.tensor([0, 1]))
nn.Embedding(3, 1, max_norm=0.1, _weight=$t.view(3, 1))(torch.tensor([0, 1]))
nn.utils.vector_to_parameters(torch.zeros(3), [nn.Parameter($t)])
"""

READERS = r"""
print($t)
k = «$t + 1|$t.sum()|$t.max(0)|str($t)|f"{$t}"|$t.tolist()|$t.numpy().copy()|$t.clone()|$t > 0|$t.topk(1)|len($t)|list($t)»
k = «torch.cat([$t, $t])|torch.stack([$t])|F.relu($t)|nn.Linear(3, 3)($t)|nn.ReLU()($t)|copy.deepcopy($t)|$t.size(0)»
def $g(u):\n    return u.sum()\nk = $g($t)
for row in $t:\n    k = row.item()
k = "%s" % $t.sum()
k = {"x": $t.norm()}
k = torch.zeros(3).copy_($t)
k = 0\nk += $t.sum()
"""
"""What only reads: fixes are to stay safe there, so that not everything is called unsafe."""

KEEPS = r"""
a = «w * r|r * w|w / r|r ** w|w @ r|-r * w|w * r if True else w»
a = torch.«mul(w, r)|mul(input=r, other=w)|dot(r, w)|addcmul(torch.zeros(3), r, w)|einsum("i,i->i", r, w)|lerp(w, torch.ones(3), r)»
a = torch.«einsum("i,i->i", [r, w])|linalg.multi_dot([r.view(1, 3), w.view(3, 1)])|mul(*[r, w])|mul(*(r, w))|mul(**{"input": r, "other": w})»
xs = [r, w]\na = torch.«mul(*xs)|einsum("i,i->", xs)|einsum("i,i->", *xs)|stack(xs).prod(0)|cat(xs).prod()»
a = w.«mul(r)|mul(other=r)|dot(r)|lerp(torch.ones(3), weight=r)|div(r)|float_power(r)|expand_as(r) * r»
a = torch.zeros(3).«addcmul(r, w)|addcmul(tensor1=r, tensor2=w)|addmv(r.view(1, 3).expand(3, 3), w)|lerp(w, r)»
a = F.«linear(r, w.view(1, 3))|linear(w, r.view(1, 3))|bilinear(r, w, torch.ones(1, 3, 3))|mse_loss(w, r)|cosine_similarity(w, r, 0)»
a = «sum([u * v for u, v in zip([r], [w])])|functools.reduce(torch.mul, [r, w])|operator.mul(r, w)|list(map(torch.mul, [r], [w]))[0]»
u = r.requires_grad_() if r.is_leaf else r\na = w + u.«exp()|topk(2)[0].prod()|sum(0) * w|softmax(0)»
def product(u, v):\n    return «u * v|torch.mul(u, v)|v.mul(u)|torch.einsum("i,i->i", [u, v])|u.view(3) * v|u.sort()[0] * u * v»\na = product(r, w)
def larger(u, k):\n    return u.«topk(k)[0]|sum(k - 2)|softmax(k - 2)|cumsum(k - 2)»\na = larger(r, 2) * w.sum()
def scaled(u, k):\n    u = u * k\n    return u.«topk(2)[0]|exp()|prod(0)|std(0)|logsumexp(0)»\na = scaled(r, w)
def given(u, v):\n    v = u\n    return v.«exp()|prod(0)»\na = given(r, w) * w + given(w, r)
a = nn.«Bilinear(3, 3, 1)(r, w)|Linear(3, 1)(r)|LayerNorm(3)(r)|PReLU()(r)|CosineSimilarity(0)(r, w)» * w.sum()
"""
"""What autograd keeps of what was read, or keeps not: a fix may be safe where it does not."""

SCOPES = {
    "module": "a = w * w\n$outer",
    "function": "def $f(w):\n    a = w * w\n    k = None\n$inner\n    return a, k\na, k = $f(w)",
    "method": "class $F:\n    def __init__(self, w):\n        self.w = w\n    def run(self):\n        w = self.w\n        a = w * w\n        k = None\n$deep\n        return a, k\na, k = $F(w).run()",
    "nested": "def $f(w):\n    a = w * w\n    k = None\n    def inner():\n        nonlocal k\n$deep\n    inner()\n    return a, k\na, k = $f(w)",
    "loop": "a = w * w\nk = None\nfor step in range(1):\n$inner",
    "branch": "a = w * w\nk = None\nif a is not None:\n$inner\nelse:\n    pass",
    "try": "a = w * w\nk = None\ntry:\n$inner\nfinally:\n    pass",
}
"""Where the read, the alias and the write stand; ``w`` is what is read."""


def forms(text: str) -> list[str]:
    """The forms of a table, one for each variant."""
    return [form for line in text.strip("\n").split("\n") for form in _variants(line.replace("\\n", "\n"))]


def _variants(form: str) -> Iterator[str]:
    start, end = form.find("«"), form.find("»")
    if start < 0:
        yield form
        return
    for option in form[start + 1 : end].split("|"):
        yield from _variants(form[:start] + option + form[end + 1 :])


@dataclass(frozen=True)
class Combination:
    """One program, by what it is made of."""

    read: str
    alias: str
    write: str
    scope: str
    is_source: bool
    """The source is written and what was read is kept, not the other way round."""
    is_reader: bool = False
    """Nothing is written after all."""
    keep: str = "a = w * r"
    """What is computed with what was read, if the source is written."""

    @property
    def text(self) -> str:
        """The whole program."""
        return HEADER + self._placed() + "\n"

    def _body(self) -> str:
        if self.is_source:
            kept = f"r = {self.read}\n{self.keep}\n".replace("$w", "w")
            alias = self.alias.replace("$r", "w").replace("$t", "t").replace("$g", "alias_of")
            write = self.write.replace("$t", "t").replace("$g", "write_to")
            return kept + "with torch.no_grad():\n" + textwrap.indent(f"{alias}\n{write}", "    ")
        alias = self.alias.replace("$r", self.read).replace("$w", "w").replace("$t", "t").replace("$g", "alias_of")
        return alias + "\n" + self.write.replace("$t", "t").replace("$g", "write_to")

    def _placed(self) -> str:
        body = self._body()
        scope = SCOPES[self.scope].replace("$f", "run").replace("$F", "Runner")
        if self.is_source:
            scope = scope.replace("w * w", "w * 2").replace("nonlocal k", "nonlocal a, k")
        inner, deep = textwrap.indent(body, "    "), textwrap.indent(body, "        ")
        return scope.replace("$outer", body).replace("$inner", inner).replace("$deep", deep)


READ_FORMS, ALIAS_FORMS, WRITE_FORMS, READER_FORMS, KEEP_FORMS = (
    forms(text) for text in (READS, ALIASES, WRITES, READERS, KEEPS)
)


def crossed() -> Iterator[Combination]:
    """Each form once, with a plain partner."""
    for is_source in (False, True):
        for alias in ALIAS_FORMS:
            yield Combination("$w.data", alias, "$t.add_(1)", "module", is_source)
        for write in WRITE_FORMS:
            yield Combination("$w.data", "$t = $r", write, "module", is_source)
        for write in READER_FORMS:
            yield Combination("$w.data", "$t = $r", write, "module", is_source, is_reader=True)
    for keep in KEEP_FORMS:
        yield Combination("$w.data", "$t = $r", "$t.add_(1)", "module", is_source=True, keep=keep)
    for read, scope in itertools.product(READ_FORMS, SCOPES):
        yield Combination(read, "$t = $r", "$t.add_(1)", scope, is_source=False)


def combinations(seed: int) -> Iterator[Combination]:
    """Combinations drawn at random, without end."""
    draw = random.Random(seed)
    while True:
        is_reader = draw.random() < 0.1
        write = draw.choice(READER_FORMS if is_reader else WRITE_FORMS)
        read, alias, scope = draw.choice(READ_FORMS), draw.choice(ALIAS_FORMS), draw.choice(list(SCOPES))
        yield Combination(read, alias, write, scope, draw.random() < 0.4, is_reader, draw.choice(KEEP_FORMS))
