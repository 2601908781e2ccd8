"""What modules keep without registering it, what only looks like it, losses that are leaves, and modes that end early."""
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.nn import Linear, Parameter


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(3, 3)


class Wrapper(nn.Module):
    def __init__(self, inner):
        super().__init__()
        self.inner = inner


class Lists(nn.Module):
    def __init__(self, n: int, names, given):
        super().__init__()
        self.blocks = [Block() for _ in range(n)]  # TL503`[Block`
        self.pair = (Linear(3, 3), nn.ReLU())  # TL503`Linear`
        self.norms: list = [nn.BatchNorm1d(3)]  # TL503`[nn`
        self.by_name = {name: nn.Linear(3, 3) for name in names}  # TL503`{name`
        self.grown = []
        self.grown.append(nn.LSTM(3, 3))  # TL503`self.grown.append`
        self.mapped = {}
        for name in names:
            self.mapped[name] = nn.Linear(3, 3)  # TL503`nn.Linear`
        local = []
        for _ in range(n):
            local.append(nn.Linear(3, 3))
        self.local = local  # TL503`local`
        stacked = []
        for _ in range(n):
            stacked.append(nn.Linear(3, 3))
        self.stacked = nn.Sequential(*stacked)
        self.acts = [nn.ReLU(), nn.Identity(), nn.CrossEntropyLoss()]
        self.good = nn.ModuleList([nn.Linear(3, 3) for _ in range(n)])
        self.good.append(nn.Linear(3, 3))
        self.given = [given, given]
        self.same = [self.stacked, self.good]
        self._hidden = [nn.Linear(3, 3)]
        self.later = [nn.Linear(3, 3)]
        self.all_later = nn.ModuleList(self.later)
        self.by_hand = [nn.Linear(3, 3)]
        self.given_on = [nn.Linear(3, 3)]
        self.wrapped = Wrapper(inner=self.given_on[0])
        self.sizes = [3, 4]
        self.functions = [F.relu, torch.tanh]

    def to_device(self, device):
        self.by_hand[0].to(device)


class Registers(nn.Module):
    def __init__(self, n: int):
        super().__init__()
        self.layers = [nn.Linear(3, 3) for _ in range(n)]
        for i, layer in enumerate(self.layers):
            self.add_module(f"layer{i}", layer)


class Factory:
    def __init__(self):
        self.layers = [nn.Linear(3, 3)]
        self.weight = nn.Parameter(torch.ones(3)).cuda()


class Parameters(nn.Module):
    def __init__(self, device):
        super().__init__()
        self.a = nn.Parameter(torch.zeros(3)).cuda()  # TL504`nn.Parameter`
        self.b = Parameter(torch.zeros(3), requires_grad=True).to(device)  # TL504`Parameter`
        self.c = 0.1 * nn.Parameter(torch.randn(3))  # TL504`0.1`
        self.d = {"w": nn.Parameter(torch.zeros(3))}  # TL504`{`
        self.e = []
        self.e.append(nn.Parameter(torch.zeros(3)))  # TL504`self.e.append`
        self.f = nn.Parameter(torch.zeros(3).cuda())  # TL603
        self.g = nn.ParameterList([nn.Parameter(torch.zeros(3))])
        self.same = nn.Parameter(torch.ones(3)).float()
        self.h = nn.Parameter(torch.zeros(3)).requires_grad_(False)
        local = nn.Parameter(torch.zeros(3)).cuda()
        self.register_buffer("i", local)
        nn.init.zeros_(self.f)


def losses(net: nn.Module, x: torch.Tensor, y: torch.Tensor):
    loss = F.cross_entropy(net(x).argmax(dim=1).float(), y)
    loss.requires_grad_(True)  # TL411`requires_grad_`
    loss.backward()
    accuracy = (net(x).argmax(1) == y).float().mean()
    accuracy.requires_grad = True  # TL411`requires_grad`
    accuracy.backward()
    total = torch.tensor(loss.item() * 2, requires_grad=True)  # TL411`torch.tensor`
    total.backward()
    torch.tensor(y.sum(), requires_grad=True).backward()  # TL411`torch.tensor`
    w = torch.tensor([1.0, 2.0], requires_grad=True)
    (w * x).sum().backward()
    x.requires_grad_()
    net(x).sum().backward()
    v = torch.zeros(3)
    v.requires_grad_()
    v = v * 2
    v.sum().backward()
    for sigma, step in zip(optimizer.param_groups[0]["params"], x, strict=True):
        sigma.requires_grad = True
        sigma.backward(step * torch.exp(sigma))
    mse = F.mse_loss(net(x), y)
    mse.requires_grad = True
    return mse


class Half(nn.Module):
    def train(self, mode: bool = True):  # TL513`train`
        if mode:
            return super().train(mode)
        self.eval()


class Flag(nn.Module):
    def train(self, mode=True):  # TL513`train`
        self.training = mode


class Whole(nn.Module):
    def train(self, mode=True):
        if mode:
            return super().train(True)
        else:
            return super().train(False)


class Trains(nn.Module):
    def train(self, loader, optimizer):
        for x in loader:
            optimizer.zero_grad()
            self(x).sum().backward()
            optimizer.step()


class NoModule:
    def train(self, mode=True):
        self.training = mode


class AddedInOtherWays(nn.Module):
    def __init__(self, sizes, n: int):
        super().__init__()
        self.convs = []
        for size in sizes:
            conv = nn.Conv1d(3, 3, size)
            nn.init.zeros_(conv.bias)
            self.convs.append(conv)  # TL503`self.convs.append`
        self.grown = []
        self.grown += [nn.Linear(2, 2)]  # TL503`self.grown`
        self.extended = []
        self.extended.extend([nn.Linear(2, 2), nn.ReLU()])  # TL503`self.extended.extend`
        self.pairs = [(nn.Linear(2, 2), nn.ReLU()) for _ in range(n)]  # TL503`[`
        self.nested = {"encoders": [nn.Linear(2, 2)], "decoders": []}  # TL503`{`
        self.called = dict(a=nn.Linear(2, 2), b=nn.Linear(2, 3))  # TL503`dict`
        self.listed = list(nn.Linear(2, 2) for _ in range(n))  # TL503`list`
        self.built = [self.build() for _ in range(n)]  # TL503`[`
        self.norms = [nn.InstanceNorm2d(3) for _ in range(n)]
        self.flat = []
        self.flat += [nn.ReLU(), nn.Flatten()]

    def build(self):
        return nn.Linear(3, 3)


class AddedAndRegistered(nn.Module):
    def __init__(self, n: int):
        super().__init__()
        self.all = []
        self.first = first = nn.Linear(2, 2)
        self.all.append(first)
        second = nn.Linear(2, 2)
        self.second = second
        self.all.append(second)
        third = nn.Linear(2, 2)
        self.all.append(third)
        self.body = nn.Sequential(third)


class ComputedParameters(nn.Module):
    def __init__(self):
        super().__init__()
        self.negative = -nn.Parameter(torch.ones(3))  # TL504`-`
        self.size = nn.Parameter(torch.zeros(2)).numel()
        self.start = nn.Parameter(torch.zeros(2)).detach()


class WithCleaning(nn.Module):
    def train(self, mode=True):
        try:
            return super().train(mode)
        finally:
            self.cache = None


class WithoutResult(nn.Module):
    def train(self, mode=True):  # TL513`train`
        try:
            super().train(mode)
        finally:
            self.cache = None


def only_where_there_is_no_graph(net: nn.Module, x: torch.Tensor):
    loss = sum(part.mean() for part in net(x))
    if not loss.requires_grad:
        loss.requires_grad_(True)
    loss.backward()


def test_that_a_loss_goes_back(build, x):
    loss, _ = build().losses(x)
    loss.requires_grad_(True)
    loss.backward()


class GivesAway(nn.Module):
    def __init__(self, names):
        super().__init__()
        self.scalers = {name: nn.Linear(1, 3) for name in names}
        self.selection = _Selection(names, scalers=self.scalers)
        self.others = {name: nn.Linear(1, 3) for name in names}  # TL503`{`
        self.count = len(self.others)


class _Selection(nn.Module):
    def __init__(self, names, scalers):
        super().__init__()
        self.scalers = nn.ModuleDict(scalers)


class Stacks(nn.Module):
    """Layers that are made to be taken apart, and kept no longer than that."""

    def __init__(self, n):
        super().__init__()
        self.pair = (nn.Linear(2, 2), nn.Linear(2, 2))
        self.stacked = nn.Parameter(torch.stack([each.weight for each in self.pair], dim=0))
        del self.pair
        self.first, self.second = [], []
        for _ in range(n):
            self.first.append(nn.Linear(2, 2))
        self.scales = [nn.Parameter(torch.ones(2)) for _ in range(n)]
        self.scale = nn.Parameter(torch.stack(self.scales))
        self.by_name = {"a": nn.Linear(2, 2)}
        self.collect()
        del self.first, self.scales
        self.kept = [nn.Linear(2, 2) for _ in range(n)]  # TL503`[`

    def collect(self):
        self.a = self.by_name["a"].weight.mean()
        delattr(self, "by_name")

    def shorten(self):
        del self.kept[0]


class Rebuilds(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.rebuild(n)

    def rebuild(self, n):
        if hasattr(self, "layers"):
            del self.layers
        self.layers = [nn.Linear(2, 2) for _ in range(n)]  # TL503`[`
