"""Programs made by combination, over all rules with a safe fix: an operand, an operation, what is done with it, a place.

`combinations.py` is about memory that is written under another name; here the old form of each rule stands beside all
that could tell it from the new one. A place can be another file, imported in one of several ways.
"""

from __future__ import annotations

import itertools
import random
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass

from combinations import HEADER, forms

OPERANDS = """\
w
w * 2
w.detach()
w.view(3)
w[:2]
(w * w).sum()
w.sum().detach()
torch.tensor([1.0, 2.0, 3.0])
torch.ones(3)
torch.arange(3)
torch.tensor(2.5)
torch.ones(1, requires_grad=True)
w > 0
w.max(0)[1]
nn.Linear(3, 2)(w)
nn.Parameter(torch.ones(3))
nn.Linear(3, 1).bias.data
w.clone()
torch.from_numpy(np.ones(3))
F.mse_loss(w, torch.zeros(3))
[w, w * 2][1]
{"x": w * 2}["x"]
types.SimpleNamespace(x=w * 3).x
(lambda v: v * 2)(w)
torch.ones(3).as_subclass(type("Marked", (torch.Tensor,), {}))
(w * 2).as_subclass(type("Marked", (torch.Tensor,), {}))
next(iter(torch.utils.data.DataLoader(torch.ones(2, 3))))[0]
torch.autograd.grad((w * w).sum(), w)[0]
nn.LSTM(3, 2)(w.view(1, 1, 3))[0].view(-1)
type("Box", (), {"x": w * 2}).x
functools.partial(torch.mul, w, 2)()
[u for u in (w * 2).view(1, 3)][0]
torch.ones(3, dtype=torch.double, requires_grad=True)
torch.ones(0)
torch.tensor([True, False, True])
torch.tensor([1 + 2j, 0j, 1j])
nn.BatchNorm1d(3).running_mean
F.dropout(w, 0.0)
w if w.sum() > 100 else w.detach()
checkpoint.checkpoint(torch.sin, w, use_reentrant=False)
"""

# The old forms: `$x` is the operand's name, `y` the result. A second line is another statement.
OPERATIONS = """\
y = Variable($x)
y = Variable($x, requires_grad=False)
y = Variable($x.detach(), requires_grad=True)
y = Variable(data=$x)
y = autograd.Variable($x«|.float()|.view(-1)|.sum()»)
y = Variable($x * 2)
y = Variable($x.data«|.clone()|.view(-1)|[0:1]»)
y = isinstance($x, Variable)
y = isinstance($x.data, «torch.Tensor|(list, torch.Tensor)|Variable|torch.FloatTensor|nn.Parameter»)
y, z = Variable($x), Variable($x.data)
y = [Variable(u) for u in ($x, $x.data)]
$x = Variable($x)\\ny = $x
y = $x.data
y = $x.data«.max()|.size()|.dim()|.type()|.tolist()|.requires_grad|.shape|.is_leaf|.clone()|.sum()|.numpy()»
y = ($x.data > 0)«|.float()|.sum()|.data»
y = $x.data.view(1, -1)«.max(1)[1]|.topk(1)[1]|.sort(1)[1]|.argmax(1)|.eq(0)|.sum(1)|.max(1)[0]»
y = torch.max($x.data.view(1, -1), 1)«[1]|[0]»
y = torch.zeros_like($x.data)
y = $x«.cpu().detach()|.to("cpu").detach()|.cpu().data|.cpu().float().detach()|.cpu().clamp(0, 1).data»
y = $x.cpu()«.view(-1).detach()|.detach().numpy()|.data.numpy()|.float().data[0:1].numpy()|.mul(2).detach()»
y = $x«.detach().detach()|.data.detach()|.detach().data|.detach().tolist()|.data.tolist()|.detach().cpu().tolist()»
y = $x.sum()«.detach().item()|.data.item()|.detach().cpu().item()|.cpu().detach().item()|.data.cpu().numpy()»
y = $x.detach()«.cpu().numpy().tolist()|.numpy().tolist()|.view(-1).detach()»
y = $x.sum().data«[0]|.cpu()[0]|[0x0]|.cpu().numpy()[0]»
y = F.«tanh|sigmoid|relu»($x.float())
y = torch.«sigmoid|tanh»($x.float())
y = F.«softmax|log_softmax|softmin»($x.float().view(1, -1))
y = F.«softmax|log_softmax»($x.float().view(-1))
y = nn.«Softmax|LogSoftmax»()($x.float().view(1, -1))
y = «nn.MSELoss|nn.L1Loss|nn.SmoothL1Loss»(«size_average=False|size_average=True|reduce=False|reduce=True|size_average=False, reduce=True|False»)($x.float(), torch.zeros_like($x.float()))
y = F.«mse_loss|l1_loss»($x.float(), torch.zeros_like($x.float()), «size_average=False|reduce=False|size_average=True, reduce=True»)
y = torch.ger($x.float().view(-1), torch.ones(2))
y = torch.norm($x.float()«|, 2|, p=1»)
y = $x.float().norm(«|2|p=1»)
y = torch.qr($x.float().view(-1, 1))«|[0]»
q, r = torch.qr($x.float().view(-1, 1))
y = torch.cholesky(torch.eye(2) * $x.float().detach().abs().sum())
y = torch.chain_matmul($x.float().view(1, -1), $x.float().view(-1, 1))
y = torch.«FloatTensor|LongTensor|Tensor|DoubleTensor|ByteTensor»(«[1, 2]|2).fill_(1|2, 3).zero_(|[[1], [2]]|()»)
y = torch.range(0, 3)
y = torch.nn.utils.clip_grad_norm([w], 1)
y = nn.init.«normal|uniform|constant|xavier_uniform|kaiming_normal»(torch.empty(2, 2)«|, 1»)
y = F.upsample($x.float().view(1, 1, -1), scale_factor=2«|, mode="linear"|, mode="nearest"»)
y = F.«upsample_nearest|upsample_bilinear»(torch.ones(1, 1, 2, 2), scale_factor=2)
y = torch.stft(torch.arange(16.0), 8, return_complex=True)
y = torch.meshgrid($x.view(-1), torch.arange(2))
y = torch.addmm(torch.ones(2, 2), torch.ones(2, 2), torch.ones(2, 2))
y = torch.ones(3).add(«2, torch.ones(3)|torch.ones(3), alpha=2»)
y = torch.ones(3).masked_select(torch.tensor([1, 0, 1]).«byte|bool»())
y = torch.div($x.float(), 2)
y = torch.log($x.float().abs() + 1)«|.exp()»
y = torch.log(1 + $x.float().abs())
y = torch.exp($x.float()) - 1
y = torch.log(torch.exp($x.float()).sum())
y = torch.from_numpy(np.ones(2)).type(torch.FloatTensor)
y = np.«asarray|array|mean|sum»($x.detach())
y = $x.detach().numpy()
y = nn.Linear(3, 2)\\ny.weight.data.«normal_(0, 1)|fill_(1)|zero_()|uniform_(-1, 1)|mul_(2)|copy_(torch.ones(2, 3))|clamp_(0, 1)»
y = nn.Linear(3, 2)\\ny(torch.ones(1, 3)).sum().backward()\\ny.weight.grad.data.«zero_()|mul_(2)|clamp_(-1, 1)|norm()|clone()»
y = nn.Linear(3, 2)\\ny.weight.requires_grad = False\\ny.bias.data += 1
y = nn.Linear(3, 2)\\nnn.init.«normal_|zeros_|xavier_uniform_»(y.weight.data)
total = 0\\nfor u in range(2):\\n    total += $x.float().sum()\\ny = float(total)
y = []\\nfor u in range(2):\\n    y.append(($x.float() * u).sum())
y = torch.zeros(2, 3).«long()|double()|half()|float()|bool()|to(torch.int8)|byte()|to("cpu")|to(dtype=torch.long)|cpu()|type(torch.LongTensor)»
y = torch.«ones(2, device="cpu")|zeros(*[2])|rand(2)|eye(2)|full((2,), 1.5)|full((2,), 3)|linspace(0, 1, 5)».«long()|double()|to("cpu")|float()|bool()»
y = torch.tensor(«[1, 2]|[True]|[300]|[-1]|[1.5]|[2**40 + 1]|[1e300]|2|[]|np.ones(2)|[0.1]|[float("nan")]|[1 + 0j]|$x.detach().tolist()»).«long()|double()|byte()|float()|half()|bool()»
y = torch.arange(«5|-3, 3|0, 300|0, 1, 0.25|2.5|2**31, 2**31 + 2»).«long()|double()|byte()|float()|half()|bool()|to("cpu")|int()»
y = torch.arange(len($x.view(-1))).float()«| / 2|.to("cpu")|.double()»
torch.set_default_dtype(torch.float64)\\ny = torch.«ones(2).double()|arange(3).float()|tensor([1.5]).double()|FloatTensor([1, 2])|zeros(2).to("cpu")|Tensor(2).zero_()»
with torch.device("meta"):\\n    y = torch.«ones(2).to("cpu")|arange(3).float()|FloatTensor([1, 2])» if $x is None else $x
y = torch.ones(2, 3, requires_grad=True).«double()|to("cpu")|float()»
y = torch.ones(2, out=torch.empty(2)).«double()|to("cpu")»
y = $x.float().view(1, -1).«t()|transpose(0, 1)|permute(1, 0)».view(«-1|1, -1|-1, 1»)
y = torch.rand(2, 3, 4).«transpose(1, 2)|permute(0, 2, 1)|transpose(0, 0)».view(«2, 4, 3|2, 4, 3, 1|(2, 4, 3)|torch.int32»)
y = torch.rand(2, 1, 3).«transpose(1, 2)|permute(1, 0, 2)».view(«-1|6|2, 3»)
y = $x.float()[($x.detach().abs() > 0).«byte()|byte().bool()|to(torch.uint8)»]
u = ($x.detach().abs() > 0).byte()\\ny = $x.float()[u]«|\\nu.fill_(2)|\\nz = u + 255|\\nu += 1|\\nz = u.dtype|\\nz = ~u|\\nz = -u|\\nz = u * 3»
y = torch.where(($x.detach().abs() > 0).byte(), $x, $x * 2)
u = $x.detach().abs() > 0\\ny = «1 - u.byte()|u.byte() ^ 1|u ^ True|u.byte() & 1|~u|u + u|u.float()»
y = torch.zeros(3)\\ny«.add_(1)|[0] = 1.0| += 1|.view(3).mul_(2)|[y > 9] = 2»
y = torch.zeros(3)\\nif $x is None:\\n    y.requires_grad_()\\ny.add_(1)
y = nn.Parameter(torch.ones(3), requires_grad=False)\\ny«.add_(1)|[0] = 1.0| += 1»
layer = nn.Linear(3, 2)«.requires_grad_(False)|\\nfor u in layer.parameters():\\n    u.requires_grad = False|\\nlayer.weight.requires_grad = False|\\nlayer.weight.requires_grad_(False)»\\nlayer.weight«.add_(1)|[0] = 1.0|.copy_(torch.ones(2, 3))»\\ny = layer.weight
layer = nn.Linear(3, 2)\\nwith torch.no_grad():\\n    layer.weight«.add_(1)|[0] = 1.0»\\ny = layer.weight
layer = nn.Linear(3, 2)\\ny = layer.weight * 2\\ny«.add_(1)|[0] = 1.0| *= 2»
y = $x * 1\\ny«.add_(1)|[0] = 1.0| += 1|.view(-1).mul_(2)»
y = (w * 2).requires_grad_()\\ny.add_(1)
layer = nn.Linear(3, 2)\\nopt = torch.optim.SGD(layer.parameters(), lr=0.1)\\ndef closure():\\n    opt.zero_grad()\\n    u = layer(torch.ones(3)).sum()\\n    u.backward()\\n    return u\\ny = opt.step(closure)
layer = nn.Linear(3, 2)\\nopt = torch.optim.SGD(layer.parameters(), lr=0.1)\\nlayer(torch.ones(3)).sum().backward()\\nopt.step()\\nopt.zero_grad()\\nsched = torch.optim.lr_scheduler.StepLR(opt, 1«|, 0.5|, 0.1, -1»)\\ny = sched.get_last_lr()
box = types.SimpleNamespace(parameters=[nn.Parameter(torch.ones(3))], state_dict={})\\nopt = torch.optim.SGD(box.parameters, lr=0.1)\\nnn.Identity().load_state_dict(box.state_dict)\\ny = len(opt.param_groups)
layer = nn.Linear(3, 2)\\ny = «layer.eval|layer.state_dict|torch.cuda.is_available» is not None
@torch.no_grad«()|»\\ndef double(u):\\n    return u * 2\\ny = double($x)
class Layer(nn.Module):\\n    def __init__(self):\\n        self.start()\\n        self.fc = nn.Linear(3, 2)\\n    def start(self):\\n        nn.Module.__init__(self)\\ny = Layer().fc.bias.shape
class Layer(nn.Module):\\n    def __new__(cls):\\n        made = object.__new__(cls)\\n        nn.Module.__init__(made)\\n        return made\\n    def __init__(self):\\n        self.fc = nn.Linear(3, 2)\\ny = Layer().fc.bias.shape
class Layer(nn.Module):\\n    def __init__(self):\\n        «super(Layer, self).__init__()|super().__init__()|nn.Module.__init__(self)»\\n        self.fc = nn.Linear(3, 2)\\ny = Layer().fc.bias.shape
class Layer(nn.Identity):\\n    def train(self, mode=True):\\n        super().train(«mode|False»)\\n        return self\\ny = Layer().train()
class Layer(nn.Identity):\\n    def train(self, mode=True):\\n        nn.Module.train(self, mode)\\n        self.mode = mode\\nlayer = Layer()\\nlayer.train(False)\\ny = layer.mode
class Double(torch.autograd.Function):\\n    @staticmethod\\n    def forward(ctx, u):\\n        «ctx.save_for_backward(u)|ctx.u = u|ctx.u = u.data»\\n        return u«.data|.clone()| * 2|.data * 2»\\n    @staticmethod\\n    def backward(ctx, grad):\\n        return grad«.data| * 2|.data.clone()»\\ny = Double.apply($x)
y = F.«gelu|selu|elu|leaky_relu|hardshrink»($x.float())
y = torch.«linspace(0, 1, 5)|logspace(0, 1, 3)|full((2,), 1)|tensor($x.detach())|bartlett_window(4)|hann_window(4)»
y = F.grid_sample(torch.ones(1, 1, 2, 2), torch.zeros(1, 2, 2, 2)«|, mode="nearest"|, padding_mode="border"»)
y = F.affine_grid(torch.ones(1, 2, 3), (1, 1, 2, 2))
y = F.interpolate(torch.ones(1, 1, 2, 2), scale_factor=2«|, mode="bilinear"»)
y = nn.«Upsample(scale_factor=2)|Upsample(scale_factor=2, mode="bilinear")|UpsamplingNearest2d(scale_factor=2)»(torch.ones(1, 1, 2, 2))
y = checkpoint.checkpoint(torch.sin, $x.float())
y = torch.nn.utils.«clip_grad_norm_([w], 1)|weight_norm(nn.Linear(3, 2))|parameters_to_vector([w])|spectral_norm(nn.Linear(3, 2))»
y = torch.«svd($x.float().view(-1, 1))[1]|lu(torch.eye(2))[0]|symeig|lstsq|matrix_rank|triangular_solve(torch.ones(2, 1), torch.eye(2))[0]»
y = torch.«is_tensor($x)|typename($x)|is_storage($x)|is_complex($x)|set_printoptions()|get_default_dtype()»
y = $x.«type()|is_cuda|storage().size()|storage().data_ptr() == w.data_ptr()|new(2).zero_()|new([1, 2])|new_tensor([1, 2])|type_as(w)|nelement()|data.nelement()»
y = $x.«expand_as(w)|reinforce|view_as(w)|t()|cpu().data.storage().size()|data.new(2, 3).fill_(1)|new(2, 3).normal_()»
y = [u.data for u in ($x, $x * 2)]
y = {"u": $x.data}
y = ($x.data,)
y = lambda: $x.data\\ny = y()
y = sum(u.data.sum() for u in ($x, $x))
y = torch.cat([$x.data.view(-1), $x.data.view(-1)])
y = $x.data if $x.requires_grad else $x
y = ($x.data or None) if $x.numel() == 1 else $x.data
y = "%s" % $x.data.sum()
y = f"{$x.data.sum():.2f}"
y = $x.data is $x.data
y = $x.data == $x.data
y = not $x.data.sum()
y = $x.data.«numpy().copy()|numpy()|cpu().numpy()|clone().add_(1)|squeeze()|expand(3)|new(2).zero_()|unbind()|chunk(1)»
layer = nn.Linear(3, 2)\\nfor u in layer.parameters():\\n    u.data.«normal_(0, 1)|fill_(1)|mul_(0.5).add_(1)|sub_(0.1 * u.data)|copy_(u.data * 2)|clamp_(0, 1)»\\ny = layer.bias
layer = nn.Linear(3, 2)\\nother = nn.Linear(3, 2)\\nfor u, v in zip(layer.parameters(), other.parameters()):\\n    u.data.copy_(«v.data|v|0.9 * u.data + 0.1 * v.data|v.data * 2»)\\ny = layer.bias
layer = nn.Linear(3, 2)\\nlayer.apply(lambda m: m.weight.data.fill_(1))\\ny = layer.weight
def init(m):\\n    m.weight.data.«normal_(0, 1)|fill_(1)|uniform_(-1, 1)»\\n    m.bias.data.zero_()\\nlayer = nn.Linear(3, 2)\\nlayer.apply(init)\\ny = layer.bias
def init(m):\\n    m.bias.data.zero_()\\nlayer = nn.Linear(3, 2)\\nz = (layer(torch.ones(3)) ** 2).sum()\\ninit(layer)\\ny = layer.bias
layer = nn.Linear(3, 2)\\nlayer.register_forward_hook(lambda m, a, b: b.data«.mul_(2)|.clone()|»)\\ny = layer(w)
layer = nn.Linear(3, 2)\\nlayer.register_forward_pre_hook(lambda m, a: (a[0].data,))\\ny = layer(w)
"""

AFTERWARDS = """\
pass
y.add_(1)
y[0] = 1.0
y += 1
z = y is $x
z = y == $x
z = id(y) == id($x)
z = y in [$x]
z = {y: 1}.get($x)
y.requires_grad_()
y.requires_grad = True
y.tag = 1\\nz = hasattr($x, "tag")
y.resize_(0)
y.unsqueeze_(0)
y.t_()
y.detach_()
y.register_hook(print)
$x.unsqueeze_(0)
z = $x * y\\nz.sum().backward()
z = w * y\\ny = None
z = (w * y).sum()\\nwith torch.no_grad():\\n    $x.zero_()
z = (w * y).sum()\\nwith torch.no_grad():\\n    w.zero_()
z = [y]\\nz[0].add_(1)
z = {"y": y}\\nz["y"].zero_()
keep.append(y)
keep.append(y)\\nkeep[0].mul_(2)
z = type(y).__name__
z = str(y)
z = copy.deepcopy(y)
z = y.sum()\\nz.backward()
z = y.numpy()
z = y.numpy()\\nz[0] = 9
z = float(y.sum())
z = torch.is_tensor(y)
z = y.is_leaf, y.requires_grad, y.grad_fn is None
z = y.data_ptr() == $x.data_ptr()
z = y.grad
z = torch.stack([y, y])
z = [u for u in y]
assert y is not None
print(y)
with torch.no_grad():\\n    y *= 2
global_y = y
z = F.relu(y, inplace=True)
z = nn.ReLU(True)(y)
z = getattr(y, "shape")
z = y.view(-1)\\nz.add_(1)
z = y._version
y.retain_grad()\\n(w * y).sum().backward()
h = w.register_hook(lambda g: g * 2)\\n(w * y).sum().backward()
z = torch.autograd.grad((w * y).sum(), w)
z = copy.copy(y)\\nz.add_(1)
z = isinstance(y, nn.Parameter), type(y) is type($x)
z = list(map(id, [y, $x]))[0] == id($x)
z = $x in (y,)
z = dict(y=y)\\nz["y"] *= 2
y.grad = torch.ones_like(y)\\nz = $x.grad
setattr(y, "requires_grad", True)
setattr(y, "tag", 1)\\nz = getattr($x, "tag", 0)
y.__dict__["tag"] = 1\\nz = vars($x).get("tag")
z = nn.Sequential(nn.ReLU(True), nn.Identity())(y)
z = nn.Sequential(nn.Identity(), nn.Dropout(0.5, True))(y)
def later():\\n    y.add_(1)\\nlater()
def later(u=y):\\n    u.zero_()\\nlater()
class Held:\\n    v = y\\nHeld.v.mul_(2)
class Held(nn.Module):\\n    def __init__(self):\\n        super().__init__()\\n        self.register_buffer("v", y)\\nz = Held()\\nz.v.zero_()
class Held(nn.Module):\\n    def forward(self, u):\\n        u.add_(1)\\n        return u\\nz = Held()(y)
class Held(nn.ReLU):\\n    pass\\nz = Held(inplace=True)(y)
z = torch.from_numpy(y.detach().numpy())\\nz.zero_()
z = np.asarray(y.detach())
z = y.detach()\\nz.add_(1)
z = y.untyped_storage().data_ptr() == $x.untyped_storage().data_ptr()
z = y.set_(torch.zeros(2))
y.copy_(torch.zeros_like(y))
y.data = torch.zeros(2)
$x.data = torch.zeros(2)
$x.data.add_(1)
$x.resize_(1).fill_(1)
with torch.no_grad():\\n    $x.copy_($x * 2)
z = torch.nn.utils.parameters_to_vector([y])
z = nn.Parameter(y)\\nwith torch.no_grad():\\n    z.add_(1)
opt = torch.optim.SGD([y], lr=0.1)
(w * y).sum().backward()\\nopt = torch.optim.SGD([w], lr=0.1)\\nopt.step()
z = threading.Thread(target=y.detach().zero_)\\nz.start()\\nz.join()\\ndel z
z = contextlib.nullcontext(y).__enter__()\\nz.add_(1)
z = next(u for u in [y])\\nz.add_(1)
z = y.clone()\\nz.sum().backward()
z = torch.save
z = repr(y)
z = "%.3f" % float(y.sum())
z = hash(y) == hash($x)
z = {y}\\nz = $x in z
del $x\\ny.add_(1)
y = y\\ny.mul_(2)
z, y = y, 1\\nz.add_(1)
(w * 2 * y).sum().backward()\\nz = w.grad
w.grad = None\\n(w * y).sum().backward(retain_graph=True)\\nz = w.grad.clone()
return_value = [y, $x]\\nreturn_value[1].detach().zero_()
"""

PLACES = {
    "module": "keep = []\n$outer\n",
    "function": "keep = []\n\n\ndef run(w):\n    z = None\n$inner\n    return y, z\n\n\ny, z = run(w)\n",
    "operand given": "keep = []\n\n\ndef run(x):\n    z = None\n$given\n    return y, z, x\n\n\ngiven = $operand\ny, z, x = run(given)\n",
    "method": "keep = []\n\n\nclass Runner:\n    def run(self, w):\n        z = None\n$deep\n        return y, z\n\n\ny, z = Runner().run(w)\n",
    "module of torch": (
        "keep = []\n\n\nclass Net(nn.Module):\n    def forward(self, w):\n        z = None\n$deep\n        return y, z\n\n\n"
        "y, z = Net()(w)\n"
    ),
    "loop": "keep = []\nfor step in range(2):\n$inner\n",
    "no_grad": "keep = []\nwith torch.no_grad():\n$inner\n",
    "try": "keep = []\ntry:\n$inner\nexcept (TypeError, IndexError):\n    y = None\n",
    "branch": "keep = []\nif w is not None:\n$inner\n",
    "one line": "keep = []\n$line\n",
    "caller without grad": "keep = []\n\n\ndef run(w):\n    z = None\n$inner\n    return y, z\n\n\nwith torch.no_grad():\n    y, z = run(w)\n",
    "decorated": "keep = []\n\n\n@torch.no_grad()\ndef run(w):\n    z = None\n$inner\n    return y, z\n\n\ny, z = run(w)\n",
    "called twice": "keep = []\n\n\ndef run(w):\n    z = None\n$inner\n    return y, z\n\n\nfirst = run(w)\nwith torch.no_grad():\n    y, z = run(w)\n",
    "closure": "keep = []\n\n\ndef run(w):\n    z = None\n    def inner():\n$deep\n        return y, z\n    return inner()\n\n\ny, z = run(w)\n",
    "class body": "keep = []\n\n\nclass Runner:\n    z = None\n$inner\n\n\ny, z = Runner.y, Runner.z\n",
    "generator": "keep = []\n\n\ndef run(w):\n    z = None\n$inner\n    yield y\n    yield z\n\n\ny, z = run(w)\n",
    "property": "keep = []\n\n\nclass Runner:\n    @property\n    def both(self):\n        z = None\n$deep\n        return y, z\n\n\ny, z = Runner().both\n",
    "constructor": "keep = []\n\n\nclass Runner:\n    def __init__(self, w):\n        z = None\n$deep\n        self.y, self.z = y, z\n\n\ny, z = Runner(w).y, Runner(w).z\n",
    "coroutine": "import asyncio\nkeep = []\n\n\nasync def run(w):\n    z = None\n$inner\n    return y, z\n\n\ny, z = asyncio.run(run(w))\n",
    "before an inplace module": (
        "keep = []\n\n\nclass Net(nn.Module):\n    def forward(self, w):\n        z = None\n$deep\n        return y\n\n\n"
        "y = nn.Sequential(Net(), nn.ReLU(True))(w)\n"
    ),
    "written by the caller": "keep = []\n\n\ndef run(w):\n    z = None\n$inner\n    return y\n\n\na = w * w\nwith torch.no_grad():\n    y = run(w)\n    y.add_(1)\n",
    "hook": (
        "keep = []\n\n\ndef hook(module, given, w):\n    z = None\n$inner\n    return y\n\n\n"
        "layer = nn.Linear(3, 3)\nlayer.register_forward_hook(hook)\ny = layer(w)\n"
    ),
    "hook of a gradient": (
        "keep = []\nu = w * 3\n\n\ndef hook(w):\n    z = None\n$inner\n    keep.append((y, z))\n\n\n"
        "u.register_hook(hook)\nu.sum().backward()\n"
    ),
    "function of autograd": (
        "keep = []\n\n\nclass Op(torch.autograd.Function):\n    @staticmethod\n    def forward(ctx, w):\n        z = None\n$deep\n"
        "        return y\n\n    @staticmethod\n    def backward(ctx, grad):\n        return grad\n\n\ny = Op.apply(w * 1)\n"
    ),
}
HELPERS = {
    "from helper import run": "run(w)",
    "import helper": "helper.run(w)",
    "import helper as h": "h.run(w)",
    "from helper import *": "run(w)",
    "from helper import run as go, Variable": "go(w)",
    "from kit.helper import run": "run(w)",
    "from kit import run": "run(w)",
    "import kit": "kit.run(w)",
    "from kit import *": "run(w)",
    "import kit.helper as h": "h.run(w)",
}
"""How a file imports the function of another one, and calls it."""
KIT = "from kit import helper\nfrom kit.helper import *\nfrom kit.helper import run\n"
"""What the package says that a helper is in."""
SPLIT = {
    "overridden in another file": (
        "keep = []\n\n\nclass Base:\n    def run(self, w):\n        z = None\n$deep\n        self.touch(y)\n        return y, z\n\n"
        "    def touch(self, u):\n        pass\n",
        "class Mine(helper.Base):\n    def touch(self, u):\n        u.mul_(2)\n\n\na = w * w\nwith torch.no_grad():\n    y, z = Mine().run(w)\n",
    ),
    "written in another file": (
        "keep = []\n\n\ndef run(w):\n    z = None\n$inner\n    return y, z\n",
        "a = w * w\nwith torch.no_grad():\n    y, z = helper.run(w)\n    y.add_(1)\n",
    ),
    "written by what is given": (
        "keep = []\n\n\ndef run(w, write):\n    z = None\n$inner\n    write(y)\n    return y, z\n",
        "a = w * w\nwith torch.no_grad():\n    y, z = helper.run(w, torch.Tensor.zero_)\n",
    ),
    "kept for another file": (
        "keep = {}\n\n\ndef run(w):\n    z = None\n$inner\n    keep['y'] = y\n".replace("keep.append", "keep.get"),
        "a = w * w\nhelper.run(w)\nwith torch.no_grad():\n    helper.keep['y'].add_(1)\ny = helper.keep['y']\n",
    ),
}
"""The text of a helper, and of the program that uses it."""
IMPORTS = "from torch import autograd\nfrom torch.utils import checkpoint\n"


@dataclass(frozen=True)
class RuleProgram:
    """One program, by what it is made of."""

    operand: str
    operation: str
    afterwards: str
    place: str

    @property
    def files(self) -> dict[str, str]:
        """The files by name; ``program.py`` is the one that runs."""
        if self.place in HELPERS:
            text = PLACES["function"].partition("\n\n\ny, z")[0] + "\n"
            return self._with_helper(text, self.place, f"y, z = {HELPERS[self.place]}\nkeep = helper.keep\n")
        if self.place in SPLIT:
            text, rest = SPLIT[self.place]
            return self._with_helper(text, "import torch", rest)
        place = PLACES[self.place]
        place = place.replace("$outer", self._body(0)).replace("$inner", self._body(4)).replace("$deep", self._body(8))
        place = place.replace("$given", self._body(4, "x")).replace("$operand", self.operand)
        body = self._body(0).split("\n")
        is_one_line = not any(line.startswith((" ", "for ", "with ")) for line in body)
        return {"program.py": HEADER + IMPORTS + place.replace("$line", ("; " if is_one_line else "\n").join(body))}

    def _with_helper(self, text: str, imports: str, rest: str) -> dict[str, str]:
        """A program that gets its function from another file, or from a package that has it from another file."""
        text = HEADER + IMPORTS + text.replace("$inner", self._body(4)).replace("$deep", self._body(8))
        if "kit" in imports:
            program = f"{imports}\nfrom kit import helper\nw = helper.w\n{rest}"
            return {"kit/__init__.py": KIT, "kit/helper.py": text, "program.py": program}
        return {"helper.py": text, "program.py": f"import helper\nw = helper.w\n{imports}\n{rest}"}

    def _body(self, indent: int, given: str = "") -> str:
        name = given or "x"
        lines = "" if given else f"x = {self.operand}\n"
        lines += f"{self.operation}\n{self.afterwards}"
        return textwrap.indent(lines.replace("$x", name), " " * indent)


OPERAND_FORMS, OPERATION_FORMS, AFTERWARDS_FORMS = map(forms, (OPERANDS, OPERATIONS, AFTERWARDS))
PLACE_NAMES = [*PLACES, *HELPERS, *SPLIT]


def each_operation() -> Iterator[RuleProgram]:
    """Each operation once with each of a few partners, so that all kinds are there."""
    others = itertools.cycle(itertools.product(AFTERWARDS_FORMS[::5], PLACE_NAMES, OPERAND_FORMS[::3]))
    for operation in OPERATION_FORMS:
        afterwards, place, operand = next(others)
        yield RuleProgram(operand, operation, afterwards, place)
    for afterwards, place in zip(AFTERWARDS_FORMS, itertools.cycle(PLACE_NAMES)):
        yield RuleProgram("w * 2", "y = Variable($x.data)", afterwards, place)
    for operand, place in zip(OPERAND_FORMS, itertools.cycle(PLACE_NAMES)):
        yield RuleProgram(operand, "y = Variable($x)", "z = y is $x", place)


def rule_programs(seed: int) -> Iterator[RuleProgram]:
    """Programs drawn at random, without end."""
    draw = random.Random(seed)
    while True:
        yield RuleProgram(
            *(draw.choice(table) for table in (OPERAND_FORMS, OPERATION_FORMS, AFTERWARDS_FORMS, PLACE_NAMES))
        )
