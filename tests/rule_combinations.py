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
y.resize_(1)
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
}
HELPERS = {
    "from helper import run": "run(w)",
    "import helper": "helper.run(w)",
    "import helper as h": "h.run(w)",
    "from helper import *": "run(w)",
    "from helper import run as go, Variable": "go(w)",
}
"""How a file imports the function of another one, and calls it."""
IMPORTS = "from torch import autograd\n"


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
            helper = HEADER + IMPORTS + PLACES["function"].partition("\n\n\ny, z")[0].replace("$inner", self._body(4))
            first = f"import helper\nw = helper.w\n{self.place}\n" if "helper as" in self.place else ""
            first = first or f"{self.place}\nimport helper\nw = helper.w\n"
            return {
                "helper.py": helper + "\n",
                "program.py": f"{first}y, z = {HELPERS[self.place]}\nkeep = helper.keep\n",
            }
        place = PLACES[self.place]
        place = place.replace("$outer", self._body(0)).replace("$inner", self._body(4)).replace("$deep", self._body(8))
        place = place.replace("$given", self._body(4, "x")).replace("$operand", self.operand)
        body = self._body(0).split("\n")
        is_one_line = not any(line.startswith((" ", "for ", "with ")) for line in body)
        return {"program.py": HEADER + IMPORTS + place.replace("$line", ("; " if is_one_line else "\n").join(body))}

    def _body(self, indent: int, given: str = "") -> str:
        name = given or "x"
        lines = "" if given else f"x = {self.operand}\n"
        lines += f"{self.operation}\n{self.afterwards}"
        return textwrap.indent(lines.replace("$x", name), " " * indent)


OPERAND_FORMS, OPERATION_FORMS, AFTERWARDS_FORMS = map(forms, (OPERANDS, OPERATIONS, AFTERWARDS))
PLACE_NAMES = [*PLACES, *HELPERS]


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
