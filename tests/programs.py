"""A grammar of small PyTorch programs, of the kind that was written before 0.4.

Vectors have three elements, so nearly everything can be combined with everything; the drawing keeps track of which
names hold what, so most programs run. What they compute makes no sense, which is the point.

Two things they do not do, for there the contract of the rules calls safe what a program can tell. They do not compute
with `w.data` and then write to `w` where autograd sees it (`w.detach().add_(1)`) before `backward()`, nor initialise a
parameter again after they have computed with it. The originals have silently wrong gradients there, and what they are
fixed to raises.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from hypothesis import strategies as st

HEADER = """\
import copy
import functools

import numpy as np
import torch
import torch.autograd as autograd
import torch.nn as nn
import torch.nn.functional as F
from torch.autograd import Variable

torch.manual_seed(0)
"""

Choose = Callable[[Sequence[str]], str]

# In a form stands
#     $a $b $c   a vector          $w $v   a leaf          $s   a scalar that may carry a graph       $m   a module
#     $n $k ...  a new name        «x|y»   one of several, which may hold more of them
#     $block     one to three simple statements, as far in as it stands itself
# A name that a form makes (`$n`) can be used by later statements as what its kind of statement makes.

LEAVES = r"""
$n = torch.randn(3, requires_grad=True)
$n = torch.ones(3).requires_grad_()
$n = Variable(torch.«randn|rand|zeros|ones»(3), requires_grad=True)
$n = Variable(torch.«randn|ones»(«3|(3,)|[3]»), «True|requires_grad=bool(1)|volatile=False, requires_grad=True»)
$n = Variable(torch.«full((3,), 2.0)|arange(3.0)|linspace(0, 1, 3)|tensor([1.0, 2.0, 3.0])», requires_grad=True)
$n = Variable(torch.randn(3)«.cpu()|.float()|.to("cpu")|.mul_(2)|.double().float()|[:]|.clone()», requires_grad=True)
$n = Variable(torch.«FloatTensor|Tensor»(«[1, 2, 3]|3»).«fill_(0.5)|zero_()|normal_()», requires_grad=True)
$n = Variable(torch.from_numpy(np.ones(3, dtype=np.float32)), requires_grad=True)
$n = Variable($a.data, requires_grad=True)
$n = Variable($a, requires_grad=True)
$n = Variable($a.data.clone(), requires_grad=True)
$n = Variable($a * 2, requires_grad=True)
$n = Variable(torch.randn(3))\n$n.requires_grad = True
$n = Variable(torch.zeros_like($a), requires_grad=True)
$n = Variable(torch.randn(  # noise\n    3,  # elements\n), requires_grad=True)
$n = Variable(\n    torch.randn(3),  # noise\n    requires_grad=True,  # to be learnt\n)
$n = nn.Parameter(torch.randn(3))
$n = nn.Parameter(«$a.data|$a.data.clone()|Variable($a)|torch.zeros(3).copy_($a.data)»)
$n = torch.randn(3, requires_grad=True) if $a.data.sum() > 0 else Variable(torch.ones(3), requires_grad=True)
"""

CONSTANTS = r"""
$n = torch.randn(3)
$n = torch.arange(3.0)
$n = torch.FloatTensor([1, 2, 3])
$n = torch.from_numpy(np.arange(3, dtype=np.float32))
$n = Variable(torch.randn(3)«|, False|, False, True|, requires_grad=False|, volatile=True»)
$n = «autograd|torch.autograd».Variable(torch.Tensor([1.0, 2.0, 3.0]))
$n = Variable(data=torch.ones(3))
$n = Variable(torch.LongTensor([0, 1, 2])).float()
$n = Variable(torch.ones(3).byte()).float()
$n = torch.ones(3) * Variable(torch.ones(1))
FloatTensor = torch.cuda.FloatTensor if torch.cuda.is_available() else torch.FloatTensor\n$n = Variable(FloatTensor(3).fill_(1.0))
"""

WRAPPED = r"""
$n = Variable($a)
$n = Variable($a.data)
$n = Variable(«$a, requires_grad=False|$a, volatile=True|$a.data, volatile=True»)
$n = «torch.autograd|autograd».Variable($a * 2)
$n = Variable($a.clone())
$n = Variable($a if $a.data.sum() > 0 else $b)
$n = (Variable($a) + Variable($b.data)) * $c
$n = -Variable($a * 2)
$n = Variable(Variable($a))
$n = Variable($a).cpu()«|.data|.detach()»
$n = Variable($a«[:]|.view(3)|.view(-1)|.squeeze()|.t()|.expand(3)|.contiguous()|.float()»)
$n = [Variable(t) for t in ($a, $b)][0]
$n, $k = map(Variable, ($a, $b))
$n = Variable($a * 1  # comment\n    + $b)
$n = Variable(  # wrapped\n    $a)
$n = (lambda t: Variable(t))($a)
$n = Variable($k := torch.ones(3)) + $k
$n = $a\n$n = Variable($n)
$n = $a; $n = Variable($n)
$n = Variable($a)[:]
$n = Variable(F.relu($a))
$n = torch.cat((Variable($a[:1]), Variable($b.data[1:])))
"""

VOLATILE = r"""
v$k = Variable($a, volatile=True)\n$n = $m(v$k)\n$k = $m(«Variable($n.data)|$n.detach()|$a»)\n«$k.sum().backward(retain_graph=True)|pass»
$n = Variable($m(Variable($a, volatile=True)).data)
$n = $m(Variable($m(Variable($a«|.data», volatile=True)).data))
v$k = Variable($a, volatile=True)\n$n = $m(v$k)\nprint($n.data.sum())\n$n = $n * 2 + $b
v$k = Variable($a, volatile=True)\n$n = $m(v$k)\n($w * $b.data).sum().backward()\n$n = $m($n)
def f$k(x, flag):\n    x = Variable(x, volatile=«flag|not flag|True»)\n    return $m(x)\n$n = f$k($a, «True|False»)
def f$k(x, flag):\n    if flag:\n        x = Variable(x, volatile=True)\n    else:\n        x = Variable(x)\n    return $m(x)\n$n = f$k($a, «True|False»)
def f$k(x, flag):\n    if flag:\n        return $m(Variable(x))\n    v = Variable(x, volatile=True)\n    return $m(v)\n$n = f$k($a, «True|False»)
def f$k(x):\n    v = Variable(x, volatile=True)\n    for i in range(2):\n        v = $m(v)\n    return v«|.data|.detach()»\n$n = f$k($a)
def f$k(xs):\n    for x in xs:\n        v = Variable(x, volatile=True)\n        yield $m(v)\n$n = next(f$k([$a]))
try:\n    v$k = Variable($a, volatile=True)\n    $n = $m(v$k)\nfinally:\n    $k = $m($b)
class Box$k: pass\nbox$k = Box$k()\nbox$k.x = Variable($a, volatile=True)\nbox$k.y = $m(box$k.x)\n$n = $m(Variable(box$k.y.data))
vs$k = []\nfor i in range(2):\n    vs$k.append(Variable($a, volatile=True))\n$n = $m(sum(vs$k))\n$k = $m($b)
v$k = Variable($a, volatile=True)\n$n = $m(v$k) + ($k := $m($b)).data\n$k.sum().backward(retain_graph=True)
f$k = lambda t: $m(Variable(t, volatile=True))\n$n = f$k($a)
"""
"""Programs that say of some values that they need no graph."""

NO_TENSORS = r"""
def f$k(x):\n    try:\n        return Variable(x)\n    except TypeError:\n        return Variable(torch.from_numpy(x))\n$n = f$k(«np.ones(3, dtype=np.float32)|$a»)
def f$k(x):\n    try:\n        return Variable(x)\n    except «Exception|(TypeError, AttributeError)|TypeError»:\n        return Variable(torch.ones(3))\n$n = f$k(«$a|3|[1.0]|np.ones(3)|"x"»)
def f$k(x=None):\n    return Variable(x)\n$k = f$k(«|$a|None»)\n$n = $a * 1
$k = Variable(None)\n$n = $a * 1
$n = Variable(nn.Parameter(torch.ones(3)«|, requires_grad=False»)«|, requires_grad=True»)
$k = nn.Parameter(torch.ones(3), requires_grad=False)\n$n = Variable($k)\nkind$k = isinstance($n, nn.Parameter), type($n)
class Sub$k(torch.Tensor): pass\n$k = torch.ones(3).as_subclass(Sub$k)\nkind$k = type(Variable($k)) is Sub$k, isinstance(Variable($k * 2), Sub$k)\n$k = 0\n$n = $a * 1
"""
"""Wrapped is what is no tensor, or more than one."""

IDENTITY = r"""
$n = Variable($x)\n«$n.requires_grad_()|$n.requires_grad = True|$n.mark = 1|$n.unsqueeze_(0).squeeze_(0)|$n.add_(1)|$n += 1»
$n = Variable($x)\n«$n[0] = 3.0|$n.mul_($w)|$n += $w|$n.copy_($w * 2)|$n.data = torch.zeros(3)|$n.grad = torch.ones(3)»
$n = Variable($x)\n$x«.requires_grad_()|.requires_grad = True|.add_(1)|.mul_($w)|.unsqueeze_(0)|[0] = 3.0|.mark = 1|.data = torch.zeros(3)»
$n = Variable($x)\n$k = $n is $x
$n = Variable($x)\n($n * $n).sum()\n$n.requires_grad_()\n($n * $n).sum().backward()
$n = Variable($x)\n$k = [$n]\n«$k[0].requires_grad_()|$k[0].add_(1)|$k[0].unsqueeze_(0)»\n$n = $n.view(3)
def f$k(t):\n    «t.requires_grad_()|t.unsqueeze_(0)|t += 1|return t.requires_grad_()|return t»\n$n = $x\nr$k = f$k(Variable($x))
def f$k(t):\n    return Variable(t)\n$n = f$k($x)\n«$n.requires_grad_()|$n.unsqueeze_(0).squeeze_(0)|$n.mul_($w)»
$n = Variable($x)\nwith torch.no_grad():\n    «$n.add_(1)|$x.add_(1)»
class Box$k: pass\nbox$k = Box$k()\nbox$k.t = Variable($x)\n«box$k.t.requires_grad_()|box$k.t.unsqueeze_(0)|box$k.t += $w»\n$n = $x.view(3)
$n = Variable(torch.ones(3))\n$k = $n\n$n.requires_grad_()
$x = Variable($x)\n$n = $x
$n = $x\n$x = Variable($x)\n$x«.requires_grad_()|.mul_($w)»
$n = {"x": $x}\n$x = Variable($x)\n$x.«requires_grad_()|unsqueeze_(0).squeeze_(0)»\n$n = $n["x"].view(3)
"""
"""Programs in which it matters whether the tensor that is wrapped is the one that comes out."""

ARITHMETIC = r"""
$n = $a * $b
$n = $a + $b.data
$n = $a - $b
$n = $a.data * $b
$n = $a / ($b * $b + 1)
$n = torch.sigmoid($a)
$n = F.relu($a«|.data») * 2
$n = $a.exp()
$n = torch.where($a.data > 0, $a, $b)
$n = -$a.data
$n = $a * 2 if $a.data.sum() > 0 else $b * 3
$n = $a.clone()
$n = ($a.data + $b.data).mul_(0.5)
$n = $a * $b.data.size(0) + $b.data.dim()
$n = sum(t.data * t for t in ($a, $b))
$n = torch.stack([t.data for t in ($a, $b)]).mean(0) * $c
$n = $a * ($b.data > 0).float()
$n = ($a\n    .data  # its values\n    .mul(2)  # doubled\n    ) * $b
$n = torch.cat([$a[:1], $b.data[1:]]) * $c
$n = $a.data.new($b.data.tolist()) * $b
$n = torch.zeros(3).type_as($a.data).copy_($a)
"""

VIEWS = r"""
$n = $a
$n = $a[:]
$n = $a.view(«3|-1»)
$n = $a.view_as($b.data)
$n = $a.data
$n = $a.detach()
$n = $a.data.view(-1)
$n = $a.detach()«.data|.detach()|.cpu().detach()»
$n = $a.data«.detach()|.data|.cpu()|.to("cpu")|.squeeze()|[:]|.float()|.t()»
$n = $a.cpu()«.detach()|.data|.data.cpu()|.to("cpu").detach()»
$n = $a«.float()|.cpu().float()|.contiguous()|.double()».data.float()
$n = $a.expand_as($b.data)
$n = ($a * 1).data
$n = ($a  # first\n    .cpu()  # to the host\n    .detach())
$n = ($a.to(  # a transfer\n    "cpu"\n).detach())
$n = getattr($a, "data")
$n, *$k = $a.data, $b.data
$n = «$a.data or $b|$a.data if True else $b|($a.data, $b)[0]|[$a.data][0]|{"x": $a.data}["x"]|next(iter([$a.data]))»
"""

READS = r"""
$n = $a.data«.size(0)|.size()|.shape|.dim()|.numel()|.dtype|.is_cuda|.type()|.stride()|.device|.requires_grad|.is_leaf»
$n = $a.data«.numpy()|.cpu().numpy()|.numpy().copy()|.tolist()|.cpu().numpy().tolist()»
$n = $a.«cpu().data|detach().cpu()|cpu().detach()».numpy()
$n = np.«asarray|array»($a.data)
$n = $a.«data.max(0)|data.sum()|data.topk(1)|data.sort()|data.norm()|data.var()»
$n = $a.«sum().data.item()|sum().detach().cpu().item()|sum().data.cpu().item()|mean().data|detach().tolist()»
$n = «[$a.data, $b.data]|($a.data, $b)|{"a": $a.data, "b": $b.data.clone()}|[t.data.sum() for t in [$a, $b]]»
$n = (lambda t: t.data * 2)($a)
$n = torch.«zeros_like|ones_like|numel|is_tensor»($a.data)
$n = $a.new($b.data.size()).zero_()
$n = isinstance($a, «Variable|(Variable, list)|(torch.Tensor, Variable)|autograd.Variable»)
$n = type($a.data).__name__«| == "Tensor"»
$n = len($a.data)
$n = copy.«deepcopy|copy»($a.data)
$n = torch.cat([$a.data, $b.data])
$n = $a.data.«equal($b.data)|eq($b).all()|allclose($b)|expand_as($b)»
$n = $a.data is «$a|$a.data»
$n = '«%.3f|%s|%r»' % $a.data.sum()
$n = '«%s|%r»' % ($a.data,)
$n = «str|repr|float|bool»($a.data.sum())
$n = «str|repr»($a.data)
$n = «"{}"|"{:.2f}"».format($a.data.sum())
$n = f"«{$a.data}|{$a.data=}|{$a.data.sum():.3f}|{$a.data.sum()=}|{$a.sum().data.item()=}|{Variable($a)=}|{$a.cpu().detach()=!r:>20}»"
print($a.data, «$b.data.sum()|$b.data.size()|Variable($b)|f"{$b.data=}"»)
$n = $a.data[0]«|.item()| * 2»
$n = float($a.data[0])
$n = $a.data«[0] > 0|.sum() > 0|.max() == $b.data.max()»
$n = $a.data.«sum().numpy()|sum().cpu().numpy()»
$n = $a.cpu().numpy() if not $a.requires_grad else $a.data.cpu().numpy()
$n = hash($a.data) == hash($a)
$n = $a.data.sum() in [«0|1»]
$n = id($a.data) == id($a)
if $a.data.sum() > «0|100»: $n = $b.data * 2
$n = 1; $k = $a.data * 2; $n = 2
$n = [x.data[0] for x in ($a, $b) if x.data.sum() > 0]
$n = max($a.data, key=lambda t: t.item())
assert $a.data.size(0) == 3, $a.data
"""

INPLACE = r"""
$a.data.«add_(1)|mul_($b.data)|copy_($b.data)|copy_($b)|zero_()|clamp_(-1, 1)|normal_(0, 0.02)|uniform_(-1, 1)|fill_(0.5)»
$a.data[«0|1:|:|...»] = «2.0|$b.data[0]|$b[0]»
$a.data «+=|-=|*=» «1|0.1 * $b.data|0.1 * $b»
$a.data = «$b.data|$b.data.clone()|$b|$a.data - 0.1|$a.data.clone()|$a.data.mul(2).clamp(-1, 1)»
nn.init.«normal_($a.data)|constant_($a.data, 0.5)|uniform_(tensor=$a.data)»
$n = nn.init.zeros_($a.data)
torch.«add($a.data, 1, out=$a.data)|mul($a.data, $b.data, out=$a.data)»
$a.data.add_(1); $a.data.mul_(2)
if $a.data.sum() > 0: $a.data.clamp_(-1, 1)
for i in range(2): $a.data[i] = $b.data[i]  # copied
$a.data.mul_(0.9).add_($b.data, alpha=0.1)
$a.data.add_(  # a step\n    $b.data,\n    alpha=-0.1,  # its length\n)
$a.data.view(3)[0] = 1.0
$a.data[0].fill_(1)
$n = $a.data.«add_(1)|zero_()»
"""

KEPT = r"""
$n = $a.data«|[:]|.view(3)| if $a.dim() else $a|.squeeze()|.cpu()|.t()|.data|.expand(3)|.contiguous()|.float()»\n$write
$n = «[$a.data][0]|Variable($a.data)|Variable($a)|$a.cpu().data|$a.detach().data|torch.as_tensor($a.data)|Variable($a.cpu())»\n$write
$n, $k = «$a.data, 1|[$a.data, 1]|($a.cpu().data, 2)»\n$write
$n = None\nif $a is not None:\n    $n = $a.data\n$write
$n = $b.data.clone()\nfor i in range(2):\n    «$n.add_(1)|pass»\n    $n = $a.data
def f$k():\n    return $a.data\n$n = f$k()\n$write
def f$k(t=$a.data):\n    return t\n$n = f$k()\n$write
def f$k():\n    yield $a.data\n$n = next(f$k())\n$write
f$k = lambda: $a.data\n$n = f$k()\n$write
try:\n    $n = $a.data\nexcept ValueError:\n    $n = $b\n$write
with torch.no_grad():\n    $n = «$a.data|Variable($a)|Variable($a.view(3))|$a.data.view(3)»\n$write
"""
"""A read of `.data` that is written to afterwards."""

WRITES = r"""
$n.«add_(1)|mul_($a)|zero_()|t_()|requires_grad_()|detach_()|data.add_(1)|view(3).add_(1)»
$n[0] = 3.0
$n «+=|*=» «1|$a»
$n = $n + 1
$k = $n; $k.add_(1)
$n.view(3)[0] = 1.0
for row in $n:\n    row.mul_(2)
torch.add($n, 1, out=$n)
$n.requires_grad = True
setattr($n, "mark", 1)
nn.init.zeros_($n)
$n.__iadd__(1)
torch.Tensor.add_($n, 1)
$n.numpy()[0] = 7.0
F.relu($n, inplace=True)
torch.relu_($n)
if $n.sum() > 0:\n    $n.mul_(2)
while $n.sum() > 10:\n    $n.sub_(5)
def g$k():\n    $n.add_(1)\ng$k()
def g$k():\n    global $n\n    $n += 1\ng$k()
[t.add_(1) for t in [$n]]
$k = {"t": $n}\n$k["t"].add_(1)
torch._foreach_add_([$n], 1)
del $n\n$n = $b
"""

AT_ONCE = r"""
for row in $a.data:\n    row.mul_(2)
for t in ($a.data, $b.data):\n    t.add_(1)
for i, t in enumerate([$a.data]):\n    t[i] = 1.0
list($a.data)[0].add_(1)
[t.zero_() for t in [$a.data]]
(lambda t: t.add_(1))($a.data)
$a.data.numpy()[0] = 5.0
np.add($a.data.numpy(), 1, out=$a.data.numpy())
$n = list(map(lambda t: t.mul_(2), [$a.data]))
$n = {"t": $a.data}\n$n["t"].add_(1)
$n = dict(t=$a.data)\n$n["t"].add_(1)
$n = []\n$n.append(«$a.data|$a.cpu().data|Variable($a.data)»)\n«$n[0].add_(1)|$n[-1][0] = 1.0|for t in $n: t.add_(1)»
$n = [$a.data] * 2\n$n[1].add_(1)
class Box$k: pass\n$n = Box$k()\n$n.t = $a.data\n$n.t.add_(1)
class Box$k:\n    def __init__(self, t):\n        self.t = t\n    def write(self):\n        self.t.add_(1)\n$n = Box$k(«$a.data|Variable($a)|$a.cpu().data»)\n$n.write()
class Box$k:\n    def __init__(self, t):\n        self.p = t\n    @property\n    def t(self):\n        return self.p.data\n$n = Box$k($a)\n$n.t.add_(1)
class Box$k:\n    def write(self, t):\n        t.add_(1)\n        return t\n$n = Box$k().write(«$a.data|Variable($a.data)|$a.cpu().data») * 2
def write$k(t):\n    t.add_(1)\nwrite$k(«$a.data|t=$a.data|*[$a.data]|Variable($a.data)|$a.cpu().data»)
def write$k(t):\n    t[0] = 1.0\n    return t\n$n = write$k(«$a.data|$a.cpu().data|Variable($a.data)») * 2
def write$k(t):\n    t.add_(1)\ndef pass_on$k(t):\n    write$k(t)\npass_on$k($a.data)
def write$k(*ts, **kw):\n    for t in ts:\n        t.add_(1)\n    for t in kw.values():\n        t.add_(1)\nwrite$k(«$a.data|x=$a.data|$a.data, x=$b.data»)
def keep$k(t, kept=[]):\n    kept.append(t)\n    kept[0].add_(1)\nkeep$k($a.data)
def write$k(t):\n    def inner():\n        t.add_(1)\n    inner()\nwrite$k($a.data)
def write$k(t):\n    u = t.view(3)\n    u.add_(1)\nwrite$k($a.data)
write$k = functools.partial(torch.Tensor.add_, other=1)\nwrite$k($a.data)
write$k = lambda t: t.add_(1)\nwrite$k(«$a.data|Variable($a.data)»)
for f$k in [torch.Tensor.zero_]:\n    f$k($a.data)
torch.Tensor.«add_($a.data, 1)|zero_($a.data)|__setitem__($a.data, 0, 1.0)»
$a.data.«chunk(3)[0].add_(1)|unbind()[0].add_(1)|split(1)[0].zero_()|view(3, 1)[0].add_(1)|narrow(0, 0, 1).add_(1)»
$n, $k, $l = $a.data\n$n.add_(1)
getattr($a, "data").add_(1)
$n = nn.Parameter($a.data)\nwith torch.no_grad():\n    $n.add_(1)
$n = nn.Parameter($a.data)\n$n.sum().backward()\ntorch.optim.SGD([$n], lr=0.1).step()
$n = nn.Linear(1, 3)\n$n.bias.data = $a.data\n«$n.bias.data.add_(1)|nn.init.zeros_($n.bias)»
$n = nn.Linear(1, 3)\n$n.load_state_dict({"weight": torch.ones(3, 1), "bias": $a.data})
torch._foreach_add_([$a.data], 1)
torch.nn.utils.vector_to_parameters($b.data, [$w])
$n = torch.nn.utils.parameters_to_vector([$w.data])
torch.nn.utils.clip_grad_norm_([$w], 1.0)
$n = torch.«broadcast_tensors($a.data)[0]|atleast_1d($a.data)|as_tensor($a.data)|ravel($a.data)|squeeze($a.data)»\n$n[0].add_(1)
$n = F.dropout($a.data, training=False)\n$n.add_(1)
$n = nn.«Identity()|Flatten(0)|Sequential()|Dropout(0.0)|ReLU(inplace=True)»($a.data)\n$n.add_(1)
"""
"""A write to memory that `.data` gave, in ways that are hard to see."""

LOSSES = r"""
$n = ($a * $b).sum()
$n = $a.pow(2).mean()
$n = F.mse_loss($a, «$b.data|Variable($b)|$b.detach()»)
$n = nn.«MSELoss|L1Loss|SmoothL1Loss»()($a, «$b.detach()|Variable($b.data)»)
$n = ($a - $b.data).abs().max()
$n = F.cross_entropy($a[None], Variable(torch.LongTensor([1])))
$n = sum((t * t).sum() for t in ($a, $b.data))
$n = F.nll_loss(F.log_softmax($a[None], dim=1), Variable(torch.LongTensor([0])), «reduction="sum"|size_average=True»)
"""

BACKWARD = r"""
(«$s|$s * 2» + $w.sum()).backward(retain_graph=True)
($a * $w).sum().backward(retain_graph=True)
($w * $a.data).sum().backward()
($w * $w).sum().backward(«|None|None, True|None, True, False|None, True, True»)
($w * $w).backward(torch.ones(3))
torch.autograd.backward([($w * $w).sum()])
$n = autograd.grad(($w * $w * $w).sum(), $w«|, create_graph=True»)[0].data
($w ** 3).sum().backward(«create_graph=True|None, True, True»)\n$n = $w.grad«.data|.data.clone()|.data * 2|.data.sum()| * $a»
($w ** 3).sum().backward(«create_graph=True|None, True, True»)\n$w.grad.data.«zero_()|clamp_(-1, 1)|mul_(2)»
"""

STEPS = r"""
($w * $w).sum().backward()\n$w.data.add_(«$w.grad.data|$w.grad|-0.1 * $w.grad.data», alpha=-0.1)\n$zero
($w * $w).sum().backward()\n$w.data -= 0.1 * $w.grad«.data|»\n$zero
($w * $w).sum().backward()\n$w.data = $w.data - 0.1 * $w.grad«.data|»\n$zero
($w * $w).sum().backward()\n$n = $w.grad.data«|.clone()|.norm()|.view(3)|.size()|.numpy()|.cpu()|[0]|.abs().max()»\n$zero
($w * $w).sum().backward()\n$w.grad.data.«clamp_(-1, 1)|mul_(0.5)|add_($w.data, alpha=0.1)|add_($w, alpha=0.1)|copy_($a)»\n$zero
($w * $w).sum().backward()\n$w.grad.data «+=|*=» «0.1|$a.data|$a»\n$zero
($w * $w).sum().backward()\n$w.grad.data[0] = «1.0|$a.data[0]|$a[0]»\n$zero
($w * $w).sum().backward()\n$w.grad.data = «torch.zeros(3)|$w.grad.data * 2»\n$zero
for $n in [$w]:\n    ($n * $n).sum().backward()\n    $n.data.add_($n.grad.data, alpha=-0.1)  # step\n    $n.grad.data.zero_()
$k = [torch.zeros(3)]\nfor $n, buf in zip([$w], $k):\n    ($n * $n).sum().backward()\n    buf.mul_(0.9).add_($n.grad.data)\n    $n.data.sub_(0.1 * buf)\n    $n.grad = None
$n = torch.optim.SGD([$w], lr=0.1)\n$n.zero_grad()\n($w * $w).sum().backward()\n$w.grad.data.clamp_(-1, 1)\n$n.step()
($w * $w).sum().backward()\nif $w.grad is not None: $w.grad.data.zero_()
($w * $w).sum().backward()\nif $w.grad.data.norm() > 1: $w.data.mul_(0.9)
($w * $w).sum().backward()\n$n = sum(p.grad.data.norm() ** 2 for p in [$w]) ** 0.5
"""

ACCUMULATIONS = r"""
$n = «0|0.0|torch.zeros(1)|Variable(torch.zeros(1))»\nfor i in range(3):\n    loss = ($w * $w * i + $a.data).sum()\n    loss.backward()\n    $add\n«mean$k = $n / 3|pass»
$n = 0\nfor i in range(3):\n    loss = ($w * $w * i + $a.data).sum()\n    $add\n    loss.backward()«|\n    $w.data.add_($w.grad.data, alpha=-0.01)|\n    $w.grad.data.zero_()»
$n = 0\nfor i in range(3):\n    loss = ($w * $w * i + $a.data).sum()\n    $add\n«$n.backward()|mean$k = $n / 3|float($n)|print($n)»
$n = 0\nfor i in range(3):\n    loss = ($w * $w * i).sum()\n    loss.backward(retain_graph=True)\n    $n «+=|-=» loss\n«($n * $w.sum()).backward()|$n = $n * 2|$n = float($n)|$n = '%.2f' % $n»
$n = []\nfor i in range(3):\n    loss = ($w * $w).sum() * i\n    «loss.backward()|pass»\n    $n.append(«loss|loss.data|loss.item()|loss.detach()|loss.data.clone()|loss.data.item()»)\nmean$k = sum($n) / len($n)
$n = []\nfor i in range(3):\n    loss = ($w * $w).sum() * i\n    $n.append(loss)\n«torch.stack($n).sum().backward()|sum($n).backward()|print(len($n))»
class Meter$k:\n    def __init__(self):\n        self.sum = 0\n    def update(self, v):\n        self.sum += v\n$n = Meter$k()\nfor i in range(3):\n    loss = ($w * $w).sum()\n    loss.backward()\n    $n.update(«loss.data|loss|loss.item()|loss.detach()»)
def train$k(total=0):\n    for i in range(3):\n        loss = ($w * $w * i).sum()\n        loss.backward()\n        total += «loss|loss.data|loss * 2»\n    return total\n$n = train$k()
"""

ADDITIONS = r"""
$n += loss«|.data|.item()|.data.item()| * 2|.detach()|.data.sum()»
$n = $n + «loss|loss.data»
$n += float(loss.data)
$n += (loss«|.data»)
"""

SCALARS = r"""
def report$k(loss):\n    return «loss.data[0]|loss.data[:1]|loss.data.cpu().numpy()[0]»\n$n = report$k($a)
def compute$k(x, reduction):\n    return F.mse_loss(x, x.data + 1, «reduction=reduction|None, None, reduction»)\n$n = compute$k($a, "none")\n$k = «$n.data[0]|$n.data.cpu()[0]|$n[0]»
def compute$k(x, reduce):\n    return F.mse_loss(x, x.data + 1, «reduce=reduce|None, reduce»)\n$n = compute$k($a, False)\n$k = «$n.data[0]|$n.data.cpu()[0]»
def compute$k(x, criterion):\n    loss = criterion(x, x.data + 1)\n    return loss.data[0]\n$n = compute$k($a, nn.MSELoss(«reduction="none"|None, None, "none"|reduce=False»))
class Criterion$k(nn.Module):\n    def __init__(self, reduction="mean"):\n        super().__init__()\n        self.crit = nn.MSELoss(reduction=reduction)\n    def forward(self, x):\n        loss = self.crit(x, x.data + 1)\n        return loss.data[0]\n$n = Criterion$k("none")($a)
$n = «F.mse_loss|F.l1_loss»($a, $b.data, «None, None, "none"|None, False|False, False|reduce=False»)\n$k = $n.data[0]
$n = $s.«data|detach()|data.cpu()»
"""

RAISING = r"""
$n = «|-|2 * »$s.data«[0]|.cpu()[0]|.cpu().numpy()[0]|.cpu()[0].item()»
$n = [«F.mse_loss|F.l1_loss»($a, $b.data).data[0], $s.data[0]]
$n = 0\nfor i in range(2):\n    $n += ($w * $w).sum().data[0]
$n = 0\nfor i in range(2):\n    $n += ($w * $w).sum().data\n$k = $n[0]
$n = (lambda loss: loss.data[0])(nn.MSELoss()($a, $b.detach()))
$n = ($w * 2)«.numpy()|.cpu().numpy()|.view(3).numpy()|.cpu().float().numpy()»
$n = «np.asarray|np.array»($w)
print("loss: %.3f" % $s.data[0])
"""
"""What raises today: the last statement of some programs."""

MODULES = r"""
$n = «nn.Linear(3, 3)|nn.Sequential(nn.Linear(3, 3), nn.Tanh(), nn.Linear(3, 3))»$after
$n = nn.Linear(3, 3)\ndef init$n(m):\n    if isinstance(m, nn.Linear):\n        m.weight.data.«normal_(0.0, 0.02)|uniform_(-1, 1)|copy_(torch.eye(3))|fill_(0.1)|zero_()|mul_(0.5)|clamp_(-0.1, 0.1)»\n        m.bias.data.«zero_()|fill_(0)|normal_()|fill_(float("0.5"))»  # no offset\n$n.apply(init$n)
$n = nn.Linear(3, 3)\ndef init$n(m):\n    m.weight.data[0] = 1.0\n    m.weight.data[1].zero_()  # the second\n\n    # the third\n    m.weight.data[2] *= 2; m.bias.data.zero_()\n    if m.bias is not None: m.bias.data.fill_(1)\n$n.apply(init$n)
$n = nn.Linear(3, 3)\ndef weights_init$n(m):\n    nn.init.«xavier_uniform_(m.weight.data)|normal_(m.weight.data, 0, 0.1)|constant_(m.bias.data, 0)|orthogonal_(tensor=m.weight.data)»\nweights_init$n($n)
$n = nn.Linear(3, 3)\nfor name, p in $n.named_parameters():\n    if "bias" in name: p.data.fill_(0)\n    else:\n        p.data.uniform_(-0.1, 0.1)
$n = nn.Linear(3, 3)\nwith torch.no_grad():\n    $n.weight.data.«mul_(0.5)|copy_(torch.eye(3))|normal_()»\n    $n.bias.data «*= 0.5|= torch.zeros(3)|-= $n.weight.data.sum()»
$n = torch.nn.utils.parametrizations.weight_norm(nn.Linear(3, 3))\n$n.weight.data.«fill_(1.0)|mul_(2)»
$n = nn.Linear(3, 3)\n$k = nn.Linear(3, 3)\nfor p, q in zip($n.parameters(), $k.parameters()):\n    p.data.«copy_(q.data)|mul_(0.9).add_(q.data, alpha=0.1)|copy_(q)»
"""

AFTER = r"""
\nfor m in $n.modules():\n    if isinstance(m, nn.Linear):\n        m.weight.data.normal_(0.0, 0.02)\n        m.bias.data.fill_(0)
\nfor p in $n.parameters():\n    p.data.uniform_(-0.1, 0.1)
\nfor p in $n.parameters():\n    nn.init.normal_(p.data)
\nsizes = [p.data.size() for p in $n.parameters()]
\nsaved = {k: v.data.clone() for k, v in $n.state_dict().items()}
\nnorm = sum(p.data.norm() ** 2 for p in $n.parameters()) ** 0.5
\nflat = torch.cat([p.data.view(-1) for p in $n.parameters()])
\n$n.load_state_dict({k: v.data * 0.5 for k, v in $n.state_dict().items()})
\nparts = [p.data for p in $n.parameters()]\nparts[0].mul_(0.5)
\nprint([p.data for p in $n.parameters()][-1])
"""

NETWORKS = r"""
class $C(nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.fc = nn.Linear(3, 3)\n        self.scale = nn.Parameter(torch.ones(3))\n        self.register_buffer("mean", torch.zeros(3))\n        $init\n\n    def forward(self, x):\n        return $out\n\n$n = $C()
class $C(nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.fc = nn.Linear(3, 3)\n        self.scale = nn.Parameter(torch.Tensor(3))\n        self.register_buffer("mean", torch.zeros(3))\n        self.reset_parameters()\n\n    def reset_parameters(self):\n        self.scale.data.fill_(1)\n        $init\n\n    def forward(self, x):\n        h = $out\n        return h\n\n$n = $C()
class $C(nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.fc = nn.Linear(3, 3)\n        self.scale = nn.Parameter(torch.ones(3))\n        self.mean = Variable(torch.zeros(3)«|, requires_grad=True|, volatile=True»)\n        self.hidden = None\n\n    def forward(self, x: "Variable") -> Variable:\n        if self.hidden is not None:\n            x = x + «self.hidden.data|Variable(self.hidden)|Variable(self.hidden.data)|self.hidden.detach().data»\n        self.hidden = $out\n        return self.hidden\n\n$n = $C()
"""

INITIALISATIONS = r"""
self.fc.weight.data.normal_(«|0, 0.1|mean=0.0, std=0.1|0.0, std=0.1»)
self.fc.weight.data.uniform_(-0.1, 0.1)\n        self.fc.bias.data.zero_()
nn.init.xavier_uniform_(self.fc.weight.data)
self.fc.bias.data.fill_(«1|self.scale.data.sum()|self.scale.sum().item()|float(2)|True»)
self.fc.weight.data = torch.eye(3)
self.fc.weight.data.copy_(torch.eye(3))
self.scale.data.«mul_(self.fc.bias)|copy_(self.fc.bias * 2)|add_(self.fc.bias.data)|clamp_(0, 1)|t_()|resize_(3)|unsqueeze_(0)»
self.scale.data[1:] = «0|self.fc.bias[1:]|self.fc.bias.data[1:]|(self.fc.bias * 2)[1:]»
self.scale.data «*= 2|-= self.fc.bias|+= self.fc(torch.ones(3))»  # scaled
self.mean.data.«fill_(0.5)|add_(1)|copy_(torch.ones(3))»
self.kept = self.fc(torch.ones(3)); self.scale.data.fill_(1)
self.view = self.scale.data\n        self.view.mul_(2)
for p in self.parameters():\n            p.data.«clamp_(-1, 1)|uniform_(-0.1, 0.1)»
"""

OUTPUTS = r"""
self.fc(x)
self.fc(x) * self.scale.data
self.fc(Variable(x))
self.fc(x).clone() + self.mean.data
torch.tanh(self.fc(x.data)) + x
self.fc(x) + F.linear(x, self.fc.weight.data)
self.fc(x) * Variable(self.scale.data.clone())
self.fc(x) - self.fc(x).data
self.fc(x) * Variable(torch.ones(x.data.size(-1)), requires_grad=False)
"""

USES = r"""
$n = $m($a)
$n = $m($a)\n$n.sum().backward(retain_graph=True)\nfor p in $m.parameters():\n    if p.grad is not None:\n        p.data.add_(p.grad.data, alpha=-0.1)
$n = $m($a)\n$n.sum().backward(retain_graph=True)\nfor p in $m.parameters():\n    if p.grad is not None:\n        p.grad.data.zero_()
$n = $m($a)\nfor p in $m.parameters():\n    p.data.«clamp_(-0.5, 0.5)|mul_(0.9)|add_(p.data)»
$n = $m($a)\n$k = $n.data\npred = $n.data.max(0)[1]
$n = $m($a)\n$n = Variable($n.data, requires_grad=True)
$n = $m($a)\n$k = Variable($n.data)
$n = $m(Variable($a.data«|, volatile=True»))
$n = $m($a).data«|.cpu()|.view(3)|.clone()» * $a
$n = F.linear($a, torch.eye(3), next(iter($m.parameters())).data[0])
"""

BLOCKS = r"""
with torch.no_grad():\n    $block
with torch.enable_grad():\n    $block
with torch.set_grad_enabled(«True|False»):\n    $block
for step in range(2):\n    $block
if torch.is_grad_enabled():\n    $block
if $a.data.sum() > 0:\n    $block\nelse:\n    $block
try:\n    $block\nfinally:\n    $block
with torch.no_grad():\n    for step in range(2):\n        $block
def helper$k():\n    $block\nhelper$k()
@torch.no_grad()\ndef helper$k():\n    $block\nhelper$k()
def helper$k():\n\t$tabbed\nhelper$k()
"""

FUNCTIONS = r"""
def f$k(x, y):\n    «return x.data|return x.data * y|return Variable(x.data)|return x.cpu().data + y|return Variable(x) * y»\n$n = f$k($a, $b)
def f$k(x: Variable, y: "Variable") -> "Variable":\n    «return x.data|return x.data * y|return Variable(x.data)»\n$n = f$k($a, $b)
def f$k(x, y):\n    y = x.data\n    y.add_(1)\n    return x\n$n = f$k($a, $b)
def f$k(x, y):\n    if isinstance(x, Variable):\n        return x.data\n    return y\n$n = f$k($a, $b)
def f$k(x, y):\n    x.data.mul_(2)\n    return x * y\n$n = f$k($a, $b)
def f$k(x, y):\n    x = x.detach()\n    x += 1\n    return x\n$n = f$k($a, $b)
def f$k(x, y):\n    return tuple(Variable(v.data) for v in (x, y))[0]\n$n = f$k($a, $b)
def f$k(h):\n    if isinstance(h, torch.Tensor):\n        return Variable(h.data)\n    return tuple(f$k(v) for v in h)\n$n = f$k(($a, $b))[0]\n«$n.add_(1)|pass»
def f$k(x, torch):\n    return x.data * torch\n$n = f$k($a, 2)
def f$k(x, torch=None, nn=None):\n    x.data.mul_(2)\n    return isinstance(x, Variable)\nf$k($a)
def f$k(x, y):\n    out = []\n    for v in (x, y):\n        out.append(v.data)\n    return out\n$n = f$k($a, $b)[0]\n«$n.add_(1)|pass»
class A$k(autograd.Function):\n    @staticmethod\n    def forward(ctx, x):\n        ctx.save_for_backward(x)\n        return x.«data|detach()|data.clone()» * 2\n    @staticmethod\n    def backward(ctx, g):\n        x, = ctx.saved_tensors\n        return g«|.data» * 2 + x.data * 0\n$n = A$k.apply($a)
def f$k(n):\n    w = Variable(torch.zeros(n), requires_grad=True)\n    def inner():\n        return w.data + 1\n    «w.data.add_(1)|w.data[0] = 2.0|w.data += 1»\n    return inner()\n$n = f$k(3)
def f$k(x, flag=«True|False»):\n    if flag:\n        x = Variable(x)\n    return x\n$n = f$k(«torch.ones(3)|$a»)\n«$n.requires_grad_() if $n.is_leaf else None|pass»
def f$k(w):\n    def set_():\n        «nonlocal w\n        |»w.data += 1\n    set_()\n    return w\n$n = f$k($a)
"""


def _forms(text: str) -> tuple[str, ...]:
    return tuple(line.replace("\\n", "\n").replace("\\t", "\t") for line in text.strip("\n").split("\n"))


@dataclass(frozen=True)
class Statement:
    """A kind of statement: what ``$n`` holds after it, and the forms it can take."""

    makes: str
    forms: tuple[str, ...]
    is_simple: bool = True
    """It may stand in a block."""


STATEMENTS = {
    "leaf": Statement("leaf", _forms(LEAVES)),
    "constant": Statement("constant", _forms(CONSTANTS)),
    "wrapped": Statement("vector", _forms(WRAPPED)),
    "volatile": Statement("vector", _forms(VOLATILE), is_simple=False),
    "no tensor": Statement("vector", _forms(NO_TENSORS), is_simple=False),
    "identity": Statement("", _forms(IDENTITY), is_simple=False),
    "arithmetic": Statement("vector", _forms(ARITHMETIC)),
    "view": Statement("vector", _forms(VIEWS)),
    "read": Statement("", _forms(READS)),
    "inplace": Statement("", _forms(INPLACE)),
    "kept": Statement("vector", _forms(KEPT)),
    "at once": Statement("", _forms(AT_ONCE), is_simple=False),
    "loss": Statement("scalar", _forms(LOSSES)),
    "backward": Statement("", _forms(BACKWARD)),
    "step": Statement("", _forms(STEPS)),
    "accumulation": Statement("", _forms(ACCUMULATIONS), is_simple=False),
    "scalar": Statement("", _forms(SCALARS), is_simple=False),
    "module": Statement("module", _forms(MODULES), is_simple=False),
    "network": Statement("module", _forms(NETWORKS), is_simple=False),
    "use": Statement("vector", _forms(USES), is_simple=False),
    "block": Statement("", _forms(BLOCKS), is_simple=False),
    "function": Statement("vector", _forms(FUNCTIONS), is_simple=False),
}
KINDS = sorted(STATEMENTS)
STATEMENTS["raising"] = Statement("", _forms(RAISING), is_simple=False)
SIMPLE = sorted(name for name, statement in STATEMENTS.items() if statement.is_simple)
PARTS = {
    "write": _forms(WRITES),
    "add": _forms(ADDITIONS),
    "after": ("", *_forms(AFTER)),
    "init": _forms(INITIALISATIONS),
    "out": _forms(OUTPUTS),
    "zero": ("$w.grad.data.zero_()", "$w.grad.zero_()", "$w.grad = None", "pass"),
}
"""What a form is made of, by the name it has there."""

_CHOICE = re.compile("«([^«»]*)»")
_NAME = re.compile(r"\$([a-zA-Z]+)")


@dataclass
class State:
    """Names by what they hold."""

    choose: Choose
    vectors: list[str] = field(default_factory=list)
    leaves: list[str] = field(default_factory=list)
    constants: list[str] = field(default_factory=list)
    scalars: list[str] = field(default_factory=list)
    modules: list[str] = field(default_factory=list)
    count: int = 0

    def new(self, prefix: str) -> str:
        self.count += 1
        return f"{prefix}{self.count}"

    def inner(self) -> State:
        """What a block sees; what it binds stays there, for it may not run."""
        return replace(
            self,
            vectors=[*self.vectors],
            leaves=[*self.leaves],
            constants=[*self.constants],
            scalars=[*self.scalars],
            modules=[*self.modules],
        )

    def named(self, what: str) -> str:
        """A name for a placeholder."""
        match what:
            case "a" | "b" | "c":
                return self.choose(self.vectors)
            case "w" | "v":
                return self.choose(self.leaves)
            case "x":
                return self.choose(self.constants)
            case "s":
                return self.choose(self.scalars) if self.scalars else f"{self.choose(self.vectors)}.sum()"
            case "m":
                return self.choose(self.modules)
        return self.new("Net" if what == "C" else "n" if what == "n" else "q")

    def keep(self, name: str, makes: str) -> None:
        """Remember what a new name holds."""
        if makes in ("vector", "leaf", "constant"):
            self.vectors.append(name)
        if makes == "leaf":
            self.leaves.append(name)
        if makes == "constant":
            self.constants.append(name)
        if makes == "scalar":
            self.scalars.append(name)
        if makes == "module":
            self.modules.append(name)


def _chosen(form: str, choose: Choose) -> str:
    """A form with one of the options everywhere, the innermost first."""
    while (match := _CHOICE.search(form)) is not None:
        form = form[: match.start()] + choose(match.group(1).split("|")) + form[match.end() :]
    return form


def statement(state: State, kind: str) -> str:
    """A statement of a kind, as text."""
    if kind in ("use", "volatile") and not state.modules:
        kind = "module"
    rule = STATEMENTS[kind]
    form = state.choose(rule.forms)
    names: dict[str, str] = {}
    while (match := re.search(r"\$(write|add|after|init|out|zero)\b", form)) is not None:
        part = _chosen(state.choose(PARTS[match.group(1)]), state.choose)
        form = form[: match.start()] + part + form[match.end() :]
    form = _chosen(form, state.choose)
    while (match := re.search(r"( *)\$block\b", form)) is not None:
        form = form[: match.start()] + _block(state, match.group(1)) + form[match.end() :]
    if "$tabbed" in form:
        form = form.replace("\t$tabbed", _block(state, "\t").replace("    ", "\t"))

    def name(match: re.Match[str]) -> str:
        what = match.group(1)
        if what not in names:
            names[what] = state.named(what)
        return names[what]

    text = _NAME.sub(name, form)
    if "n" in names and rule.makes:
        state.keep(names["n"], rule.makes)
    return text


def _block(state: State, indent: str) -> str:
    inner = state.inner()
    lines = []
    for _ in range(int(state.choose("123"))):
        lines += statement(inner, state.choose(SIMPLE)).split("\n")
    state.count = inner.count
    return "\n".join(indent + line for line in lines)


def generate(choose: Choose) -> list[str]:
    """A program of four to nine statements, each with all its lines."""
    state = State(choose, ["x0", "w0"], ["w0"], ["x0"])
    made = choose(("Variable(torch.randn(3), requires_grad=True)", "nn.Parameter(torch.randn(3))"))
    first = ["x0 = torch.randn(3)", f"w0 = {made}"]
    middle = [statement(state, choose(KINDS)) for _ in range(int(choose("456789")))]
    last = [statement(state, "raising")] if choose("0123456789") == "9" else []
    return [*first, *middle, *last]


def text_of(statements: Sequence[str]) -> str:
    """The whole program."""
    return HEADER + "\n" + "\n".join(statements) + "\n"


@st.composite
def programs(draw: st.DrawFn) -> str:
    """Programs for hypothesis to draw."""
    return text_of(generate(lambda options: draw(st.sampled_from(options))))


def random_program(seed: int) -> list[str]:
    """The statements of the program of a seed."""
    return generate(random.Random(seed).choice)
