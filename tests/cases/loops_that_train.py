"""Loops that train: gradients that pile up, schedulers that come too early, losses of probabilities; and what is right."""
import torch
import torch.nn as nn
import torch.nn.functional as F
import torch.optim as optim
from torch.optim import lr_scheduler


class Softmaxed(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(3, 3), nn.ReLU(), nn.Linear(3, 3), nn.Softmax(dim=1))

    def forward(self, x):
        return self.net(x)


class Logits(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(3, 3)

    def forward(self, x):
        return self.fc(x)

    def probabilities(self, x):
        return torch.softmax(self.fc(x), dim=1)


class Mixed(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(3, 3)

    def forward(self, x, raw=False):
        if raw:
            return self.fc(x)
        return self.fc(x).softmax(1)


class Trainer:
    def __init__(self, net):
        self.net = Logits()
        self.optimizer = optim.Adam(self.net.parameters())
        self.scheduler = lr_scheduler.ExponentialLR(self.optimizer, 0.9)
        self.criterion = nn.CrossEntropyLoss()

    def batch(self, x, y):
        loss = self.criterion(self.net(x), y)
        loss.backward()
        return loss.item()

    def run(self, batches):
        for x, y in batches:
            self.batch(x, y)
            self.optimizer.step()  # TL408`self.optimizer.step`

    def run_well(self, batches):
        for x, y in batches:
            self.clear()
            self.batch(x, y)
            self.optimizer.step()

    def clear(self):
        for p in self.net.parameters():
            p.grad = None

    def epochs(self, batches):
        for _ in range(3):
            self.scheduler.step()  # TL409`self.scheduler.step`
            self.run_well(batches)
        for _ in range(3):
            self.run_well(batches)
            self.scheduler.step()


def given(net, optimizer, loader):
    for x in loader:
        loss = net(x).sum()
        loss.backward()
        optimizer.step()  # TL408`optimizer.step`
    for x in loader:
        net(x).sum().backward()
        optimizer.step()
        optimizer.zero_grad()


def unknown(net, loader, make_optimizer, accelerator):
    optimizer = make_optimizer(net)
    own = optim.SGD(net.parameters(), lr=0.1)
    for x in loader:
        net(x).sum().backward()
        optimizer.step()
    for x in loader:
        accelerator.backward(net(x).sum())
        own.step()
    for x in loader:
        net(x).sum().backward()
        zero_everything(own)
        own.step()


def zero_everything(optimizer):
    optimizer.zero_grad(set_to_none=True)


def accumulated(net: nn.Module, loader):
    optimizer = optim.SGD(net.parameters(), lr=0.1)
    warmup = lr_scheduler.LinearLR(optimizer)
    for i, x in enumerate(loader):
        net(x).sum().backward()
        if (i + 1) % 4 == 0:
            optimizer.step()
            optimizer.zero_grad()
            warmup.step()


def losses(x: torch.Tensor, y: torch.Tensor, weights):
    criterion = nn.CrossEntropyLoss(weight=weights)
    bce = nn.BCEWithLogitsLoss()
    nll = nn.NLLLoss()
    net, logits, mixed = Softmaxed(), Logits(), Mixed()
    out = net(x)
    a = criterion(out, y)  # TL410`out`
    both, logits = torch.softmax(x, 1), x
    a = a + criterion(both, y) + criterion(logits, y)  # TL410`both`
    b = criterion(logits(x), y)
    c = criterion(logits.probabilities(x), y)
    d = criterion(mixed(x), y)
    p = F.softmax(logits(x), dim=-1)
    e = F.cross_entropy(p.view(-1, 3), y)  # TL410`p.view`
    f = bce(torch.sigmoid(x), y)  # TL410`torch.sigmoid`
    g = nll(nn.LogSoftmax(dim=1)(x), y)
    h = nll(nn.Softmax(dim=1)(x), y)  # TL410`nn.Softmax`
    i = F.nll_loss(torch.log(torch.softmax(x, 1)), y)  # TL802
    j = F.kl_div(F.log_softmax(x, 1), F.softmax(y, 1), reduction="batchmean")
    q = logits(x)
    if weights is None:
        q = q.softmax(1)
    k = criterion(q, y)
    r = x.softmax(1)
    r = logits(r)
    m = criterion(r, y)
    return a, b, c, d, e, f, g, h, i, j, k, m


class Wrapped:
    def __init__(self, device):
        self.model = nn.DataParallel(Softmaxed())
        self.criterion = nn.CrossEntropyLoss().to(device)

    def loss(self, x, y):
        return self.criterion(self.model(x), y)  # TL410`self.model(x)`


def distributed(x, y):
    net = Softmaxed().cuda()
    net = nn.parallel.DistributedDataParallel(net, device_ids=[0])
    other = nn.DataParallel(Logits())
    return F.cross_entropy(net(x), y) + F.cross_entropy(other(x), y)  # TL410`net(x)`
