"""States and modules that are kept while training goes on, and what only looks like it."""
import copy
from collections import OrderedDict
from copy import deepcopy

import torch
import torch.nn as nn
import torch.optim as optim


def train_model(model, criterion, optimizer, dataloaders, num_epochs=25):
    best_model_wts = model.state_dict()  # TL412`state_dict`
    best_acc = 0.0
    for epoch in range(num_epochs):
        for phase in ["train", "val"]:
            if phase == "train":
                model.train()
            else:
                model.eval()
            for inputs, labels in dataloaders[phase]:
                optimizer.zero_grad()
                outputs = model(inputs)
                loss = criterion(outputs, labels)
                if phase == "train":
                    loss.backward()
                    optimizer.step()
            acc = outputs.argmax(1).eq(labels).float().mean().item()
            if phase == "val" and acc > best_acc:
                best_acc = acc
                best_model_wts = model.state_dict()  # TL412`state_dict`
    model.load_state_dict(best_model_wts)
    return model


def copied(model, optimizer, batches):
    best = copy.deepcopy(model.state_dict())
    backup = {k: v.clone() for k, v in model.state_dict().items()}
    for x in batches:
        model.train()
        optimizer.zero_grad()
        model(x).sum().backward()
        optimizer.step()
        if x.sum() > 3:
            best = deepcopy(model.state_dict())
    model.load_state_dict(best)
    return backup


def train_one_epoch(net, batches, opt):
    for x in batches:
        opt.zero_grad()
        net(x).sum().backward()
        opt.step()


def with_helpers(batches, score):
    net = nn.Linear(3, 1)
    opt = optim.Adam(net.parameters())
    best = None
    start = dict(net.state_dict())  # TL412`state_dict`
    snapshots = []
    for epoch in range(10):
        train_one_epoch(net, batches, opt)
        if score(net) > 0.5:
            best = {"epoch": epoch, "state": net.state_dict()}  # TL412`state_dict`
            snapshots.append(net.state_dict())  # TL412`state_dict`
            kept = {"epoch": epoch, "state": {"net": net.state_dict()}}
            torch.save(kept, "kept.pt")
            found = {"score": 0.5, "state": net.state_dict()}  # TL412`state_dict`
            saved = dict(epoch=epoch)
            saved["state"] = net.state_dict()
            torch.save(saved, "saved.pt")
        torch.save(net.state_dict(), f"{epoch}.pt")
        current = net.state_dict()
        torch.save(current, "last.pt")
    final = net.state_dict()  # TL412`state_dict`
    torch.save(best, "best.pt")
    net.load_state_dict(start)
    last = net.state_dict()
    print("best epoch", kept["epoch"], "of", saved["epoch"], "with", saved["epoch"] + 1)
    other = found["state"]
    return final, last, snapshots, kept["epoch"], saved["epoch"], other


def averaged(net: nn.Module, ema: nn.Module, evaluate):
    backup = net.state_dict()  # TL412`state_dict`
    net.load_state_dict(ema.state_dict())
    result = evaluate(net)
    net.load_state_dict(backup)
    return result


def in_place(net: nn.Module):
    state = net.state_dict()
    for name in state:
        state[name] = state[name] * 2
    net.load_state_dict(state)
    renamed = OrderedDict((k.removeprefix("module."), v) for k, v in net.state_dict().items())
    return renamed


def until_good(net: nn.Module, optimizer: optim.Optimizer, batches):
    for x in batches:
        optimizer.zero_grad()
        net(x).sum().backward()
        optimizer.step()
        if x.sum() > 3:
            best = net.state_dict()
            break
    else:
        return None
    return best


def folds(batches):
    states = []
    best = None
    for fold in range(5):
        net = nn.Linear(3, 1)
        opt = optim.SGD(net.parameters(), lr=0.1)
        train_one_epoch(net, batches, opt)
        if fold > 2:
            best = net
            states.append(net.state_dict())
    return states, best


def modules(net: nn.Module, optimizer: optim.Optimizer, batches):
    best_model = net
    for x in batches:
        optimizer.zero_grad()
        net(x).sum().backward()
        optimizer.step()
        if x.sum() > 3:
            best_model = net  # TL412`net`
        if x.sum() > 5:
            best_loss = x
    return best_model, best_loss


class Stopper:
    def __init__(self, net: nn.Module):
        self.net = net
        self.initial = self.net.state_dict()  # TL412`state_dict`
        self.written = self.net.state_dict()
        self.copied = copy.deepcopy(net.state_dict())

    def reset(self):
        self.net.load_state_dict(self.initial)
        self.net.load_state_dict(self.copied)

    def save(self):
        torch.save(self.written, "net.pt")


def test_load(net: nn.Module, states):
    before = net.state_dict()
    net.load_state_dict(states)
    for one, other in zip(before.values(), states.values()):
        assert one.equal(other)


class Wrapped:
    def __init__(self, optimizer):
        self.optimizer = optimizer
        self.initial = self.optimizer.state_dict()

    def restart(self):
        self.optimizer.load_state_dict(self.initial)

    def update(self):
        self.optimizer.zero_grad()
        self.optimizer.step()


def load_old(net: nn.Module, old):
    new = net.state_dict()
    if all(k in new for k in old):
        net.load_state_dict(old)
        return
    for k in new:
        new[k] = old[k.upper()]
    net.load_state_dict(new)


def filled(net: nn.Module, values):
    state = net.state_dict()
    state = values.fill(state)
    net.load_state_dict(state)
    return {"net": state}


def of_each_client(net: nn.Module, clients):
    state = net.state_dict()  # TL412`state_dict`
    for client in clients:
        net.load_state_dict(state)
        train_one_epoch(net, client, optim.SGD(net.parameters(), lr=0.1))


def of_copies(net: nn.Module, clients):
    state = net.state_dict()
    for client in clients:
        local = deepcopy(net)
        local.load_state_dict(state)
        train_one_epoch(local, client, optim.SGD(local.parameters(), lr=0.1))


def of_the_last(net: nn.Module, clients):
    state = net.state_dict()
    for client in clients:
        net.load_state_dict(state)
        train_one_epoch(net, client, optim.SGD(net.parameters(), lr=0.1))
        state = deepcopy(net.state_dict())


class Fitting:
    def __init__(self, net: nn.Module):
        self.net = net
        self.optimizer = optim.Adam(net.parameters())
        self.state = self.net.state_dict()
        self.kept = self.net.state_dict()  # TL412`state_dict`
        self.weights = None

    def fit(self, batches):
        for x in batches:
            self.optimizer.zero_grad()
            self.net(x).sum().backward()
            self.optimizer.step()
            if x.sum() > 3:
                self.weights = self.net.state_dict()  # TL412`state_dict`
        self.net.load_state_dict(self.weights)

    def reset(self):
        self.net.load_state_dict(self.kept)

    def receive(self, values):
        for tensor, value in zip(self.state.values(), values):
            tensor.copy_(value)
        self.net.load_state_dict(self.state)


class Rules:
    def __init__(self, net: nn.Module):
        self.net = net

    def attribute(self):
        self._original = self.net.state_dict()
        self.net.weight.set_(self.net.weight.detach().clamp(min=0))
        self.restore()

    def restore(self):
        self.net.load_state_dict(self._original)


class Parts(nn.Module):
    def load_part(self, state, part):
        current = self.state_dict()
        if part == "all":
            self.load_state_dict(state)
        elif part == "first":
            current.update({k: v for k, v in state.items() if k.startswith("first")})
            self.load_state_dict(current)
        else:
            current.update(state)
            self.load_state_dict(current)


def optimizer_states(net: nn.Module, optimizer: optim.Optimizer, is_first, get_optimizer_state, constrain):
    state = net.state_dict()
    if is_first:
        found = get_optimizer_state(net, optimizer)
        constrain(net)
    return {"net": state, "optimizer": found}


def snapshots(net: nn.Module, optimizer: torch.optim.Optimizer, batches):
    for epoch, x in enumerate(batches):
        net(x).sum().backward()
        optimizer.step()
        optimizer.zero_grad()
        if epoch == 50:
            states = {"epoch": epoch, "state_dict": net.state_dict()}
            torch.save(states, "50.pt")
        if epoch % 200 == 199:
            states = {"epoch": epoch, "state_dict": net.state_dict()}
            torch.save(states, "last.pt")
        if epoch == 300:
            kept = {"state_dict": net.state_dict()}  # TL412`state_dict`
        if epoch == 400:
            torch.save(kept, "300.pt")
