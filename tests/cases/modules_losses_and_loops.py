"""What is done to modules, losses and loops, and what looks like it: shared and frozen layers, reports, schedulers."""
import json
from json import dumps as written

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.optim import lr_scheduler
from torch.optim.lr_scheduler import StepLR


class Sub(nn.Module):
    def __init__(self):
        super().__init__()
        self.backbone = nn.Linear(3, 3)
        self.head = nn.Linear(3, 3)
        self.scale = nn.Parameter(torch.ones(3))
        self.backbone.requires_grad = False  # TL508
        self.scale.requires_grad = False
        self.layers = nn.ModuleList([nn.Linear(3, 3)] * 4)  # TL510
        self.pair = nn.Sequential(*(nn.Linear(3, 3), nn.ReLU()) * 2)  # TL510
        self.acts = nn.ModuleList([nn.ReLU()] * 4)
        self.one = nn.ModuleList([nn.Linear(3, 3)] * 1)
        layer = nn.Linear(3, 3)
        self.tied = nn.ModuleList([layer] * 4)
        self.own = nn.ModuleList([nn.Linear(3, 3) for _ in range(4)])

    def freeze(self, n):
        for name, child in self.named_children():
            child.requires_grad = False  # TL508
        for p in self.parameters():
            p.requires_grad = False
        for m in self.modules():
            if isinstance(m, nn.BatchNorm2d):
                m.requires_grad = False  # TL508
                m.weight.requires_grad = False
        self.head.weight.requires_grad, self.head.bias.requires_grad = True, True
        self.head.requires_grad = n > 2  # TL508
        return self.head.requires_grad_(False)


class Switch(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Linear(3, 3)

    @property
    def requires_grad(self):
        return self.net.weight.requires_grad

    @requires_grad.setter
    def requires_grad(self, value):
        self.net.requires_grad_(value)


def switched(net):
    switch = Switch()
    switch.requires_grad = False
    net.requires_grad = False
    model = Sub().eval()
    model.requires_grad = False  # TL508
    blocks = 3 * [nn.Conv2d(3, 3, 1)]  # TL510
    drops = [nn.Dropout(0.1)] * 3
    made = [Sub()] * 2  # TL510
    losses = [nn.MSELoss()] * 2
    sizes = [3] * 4 + [len([1])] * 2
    return blocks, drops, made, losses, sizes


def recurrent(n, p, k):
    a = nn.LSTM(3, 4, dropout=0.5)  # TL512`dropout`
    b = nn.GRU(3, 4, 1, dropout=0.1)  # TL512`dropout`
    c = nn.RNN(3, 4, num_layers=1, dropout=0.2, batch_first=True)  # TL512`dropout`
    d = nn.LSTM(3, 4, 1, True, False, 0.3)  # TL512`0.3`
    e = nn.LSTM(3, 4, 2, dropout=0.5), nn.LSTM(3, 4, n, dropout=0.5), nn.LSTM(3, 4, dropout=p)
    f = nn.LSTM(3, 4, dropout=0.0), nn.LSTM(3, 4, dropout=0), nn.LSTMCell(3, 4), nn.LSTM(3, 4, **k)
    return a, b, c, d, e, f


def reports(loss: torch.Tensor, net, data, path):
    loss = F.mse_loss(net(data), data)
    first = json.dumps({"loss": loss})  # TL206
    second = json.dumps({"losses": [loss, 1.0]})  # TL206
    third = written([loss.detach()])  # TL206
    with open(path, "w") as file:
        json.dump({"loss": loss}, file)  # TL206
        json.dump({"loss": loss.item(), "all": loss.tolist()}, file)
        json.dump({"loss": loss}, file, default=float)
    fourth = json.dumps({"loss": float(loss), "n": len(data), "s": str(loss), "shape": loss.shape})
    fifth = json.dumps(loss.item())
    record = {"loss": loss}
    sixth = json.dumps(record)  # TL206
    read = json.loads(sixth)
    return first, second, third, fourth, fifth, sixth, json.dumps(read)


def scheduled(net: nn.Module, batches):
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    scheduler = StepLR(optimizer, 3)
    plateau = lr_scheduler.ReduceLROnPlateau(optimizer)
    for epoch in range(3):
        scheduler.step()  # TL409
        for x in batches:
            optimizer.zero_grad()
            loss = net(x).sum()
            loss.backward()
            optimizer.step()
    for epoch in range(3):
        for x in batches:
            optimizer.zero_grad()
            net(x).sum().backward()
            optimizer.step()
        scheduler.step()
    for epoch in range(3):
        if epoch > 0:
            scheduler.step()
        for x in batches:
            optimizer.zero_grad()
            net(x).sum().backward()
            optimizer.step()
    for epoch in range(3):
        plateau.step(epoch)
        scheduler.step(epoch)  # TL303
        for x in batches:
            optimizer.zero_grad()
            net(x).sum().backward()
            optimizer.step()
    for x in batches:
        optimizer.zero_grad()
        net(x).sum().backward()
        scheduler.step()
        optimizer.step()
    for x in batches:
        scheduler.step()


def scheduled_in_each_round(net: nn.Module, batches):
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    scheduler = StepLR(optimizer, 3)
    for x in batches:
        optimizer.zero_grad()
        net(x).sum().backward()
        scheduler.step()  # TL409
        optimizer.step()


class Returned(nn.Module):
    def train(self, mode: bool = True):
        super().train(mode)
        self.bn.eval()
        return self


class Same(nn.Module):
    def train(self, mode=True):
        return self


class Flagged(nn.Module):
    def train(self, mode=True):  # TL513`train`
        self.training = mode
        return self


class Halfway(nn.Module):
    def train(self, mode=True):  # TL513`train`
        super().train(mode)
        if mode:
            return self


class Loops(nn.Module):
    def train(self, loader, epochs):
        for x in loader:
            self(x)


class Raises(nn.Module):
    def train(self, mode=True):
        raise NotImplementedError


class NoModule:
    def train(self, mode=True):
        self.training = mode


def targets(net: nn.Module, xs: torch.Tensor, ys: torch.Tensor):
    criterion = nn.CrossEntropyLoss()
    losses = []
    for x, y in zip(xs, ys):
        losses.append(criterion(net(x), y))
    loss = torch.stack(losses).mean()
    loss.backward(torch.ones(1))  # TL205`torch.ones`
    scores = torch.rand(4, 3)
    labels = torch.tensor([0, 1, 2, 0])
    bad = criterion(scores, labels[0])  # TL205`labels[0]`
    good = criterion(scores, labels), criterion(scores[0], labels[0]), criterion(scores[:1], labels[0:1])
    worse = F.nll_loss(scores, labels[1])  # TL205`labels[1]`
    summed = scores.sum()
    summed.backward(torch.ones(1))  # TL205`torch.ones`
    scores.backward(torch.ones(4, 3))
    summed.backward(torch.tensor(1.0))
    return bad, good, worse


def clipped(net: nn.Module, batches, scaler):
    optimizer = torch.optim.Adam(net.parameters())
    for x in batches:
        optimizer.zero_grad()
        net(x).sum().backward()
        optimizer.step()
        nn.utils.clip_grad_norm_(net.parameters(), 1.0)  # TL406
    for x in batches:
        optimizer.zero_grad()
        nn.utils.clip_grad_value_(net.parameters(), 1.0)  # TL406
        net(x).sum().backward()
        optimizer.step()
    for x in batches:
        optimizer.zero_grad()
        net(x).sum().backward()
        nn.utils.clip_grad_norm_(net.parameters(), 1.0)
        optimizer.step()
    for x in batches:
        optimizer.zero_grad()
        net(x).sum().backward()
        optimizer.step()
        norm = nn.utils.clip_grad_norm_(net.parameters(), float("inf"))
        print(norm)
    for i, x in enumerate(batches):
        net(x).sum().backward()
        if i % 4 == 3:
            nn.utils.clip_grad_norm_(net.parameters(), 1.0)
            optimizer.step()
            optimizer.zero_grad()


def piled(net: nn.Module, batches, other):
    optimizer = torch.optim.Adam(net.parameters())
    for x in batches:
        net(x).sum().backward(); optimizer.step()  # TL408
    for x in batches:
        net.zero_grad()
        net(x).sum().backward()
        optimizer.step()
    for x in batches:
        for p in net.parameters():
            p.grad = None
        net(x).sum().backward()
        optimizer.step()
    for x in batches:
        net(x).sum().backward()
    optimizer.step()
    while other():
        loss = net(torch.ones(3)).sum()
        loss.backward(); optimizer.step()  # TL408
    for x in batches:
        mine = torch.optim.SGD([x.requires_grad_()], lr=0.1)
        x.sum().backward()
        mine.step()


class Wrapped(nn.Linear):
    def train(self, mode=True): nn.Linear.train(self, mode)  # TL513`train`

    def eval(self): nn.Linear.eval(self)  # TL513`eval`


class EvaluatesItself(nn.Module):
    def __init__(self, batches, judge):
        super().__init__()
        self.batches, self.judge = batches, judge

    def eval(self):
        self.judge.eval()
        for batch in self.batches:
            print(self.judge(batch))


class Returns(nn.Module):
    def eval(self):
        self.ready = True
        return super().eval()


def reports_of_batches(batches: list[dict[str, torch.Tensor]], first: dict[str, torch.Tensor], rows: list[torch.Tensor]):
    for batch in batches:
        image, info = batch["image"], batch["info"]
        for i in range(image.shape[0]):
            yield json.dumps(info[i]), json.dumps(first["names"]), json.dumps({"names": batch.get("names")})
            yield json.dumps(rows[i])  # TL206
            yield json.dumps(first["image"].mean())  # TL206
