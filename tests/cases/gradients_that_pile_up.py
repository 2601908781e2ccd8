"""Loops that never clear the gradients, with scalers and new tensors in them; and what clears them unseen."""
import torch
from torch import nn


def go_back(scaler, loss):
    scaler.scale(loss).backward()


def without_scaler(loss):
    loss.backward()


def scaled(net: nn.Module, loader, criterion):
    optimizer = torch.optim.AdamW(net.parameters())
    scaler = torch.amp.GradScaler("cuda")
    for x, y in loader:
        go_back(scaler, criterion(net(x), y))
        scaler.unscale_(optimizer)
        nn.utils.clip_grad_norm_(net.parameters(), 1.0)
        scaler.step(optimizer)  # TL408
        scaler.update()


def scaled_and_cleared(net: nn.Module, loader, criterion):
    optimizer = torch.optim.AdamW(net.parameters())
    scaler = torch.amp.GradScaler("cuda")
    for x, y in loader:
        scaler.scale(criterion(net(x), y)).backward()
        scaler.step(optimizer)
        scaler.update()
        optimizer.zero_grad(set_to_none=True)


def with_new_tensors(net: nn.Module, n: int):
    optimizer = torch.optim.Adam(net.parameters())
    for _ in range(n):
        hidden = torch.zeros(1, 3)
        target = torch.zeros_like(hidden)
        without_scaler((net(hidden) - target).pow(2).mean())
        optimizer.step()  # TL408


def by_another_name(net: nn.Module, loader):
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    clear = optimizer.zero_grad
    for x in loader:
        clear()
        net(x).sum().backward()
        optimizer.step()


def by_name_of_attribute(net: nn.Module, loader):
    optimizer = torch.optim.Adam(net.parameters())
    for x in loader:
        net(x).sum().backward()
        optimizer.step()
        for p in net.parameters():
            setattr(p, "grad", None)


class WithCallbacks:
    def __init__(self, net: nn.Module, callbacks):
        self.net = net
        self.optimizer = torch.optim.Adam(net.parameters())
        self.callbacks = callbacks

    def fit(self, loader):
        for x in loader:
            for callback in self.callbacks:
                callback.before_batch(self)
            self.net(x).sum().backward()
            self.optimizer.step()


def in_one_round(net: nn.Module, x):
    optimizer = torch.optim.Adam(net.parameters())
    for _ in range(1):
        net(x).sum().backward()
        optimizer.step()


class Cleared:
    def __init__(self, net: nn.Module):
        self.net = net
        self.optimizer = torch.optim.Adam(net.parameters())

    def backward(self, loss):
        self.optimizer.zero_grad()
        loss.backward()

    def clear(self):
        for p in self.net.parameters():
            p.grad.data.zero_()  # TL102

    def prepare(self):
        self.clear()

    def fit(self, loader):
        for x in loader:
            self.backward(self.net(x).sum())
            self.optimizer.step()
        for x in loader:
            self.prepare()
            self.net(x).sum().backward()
            self.optimizer.step()


class NotCleared:
    def __init__(self, net: nn.Module):
        self.net = net
        self.optimizer = torch.optim.Adam(net.parameters())
        self.seen = []

    def reset(self):
        self.seen.clear()

    def backward(self, loss):
        loss.backward()

    def fit(self, loader):
        for x in loader:
            self.reset()
            self.backward(self.net(x).sum()); self.optimizer.step()  # TL408


class LossOf:
    def __init__(self, optimizer):
        self.optimizer = optimizer

    def backward(self, loss):
        self.optimizer.zero_grad()
        loss.backward()


def by_an_object(net: nn.Module, loader):
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    loss = LossOf(optimizer)
    for x in loader:
        loss.backward(net(x).sum())
        optimizer.step()


def emptied(policy: nn.Module, env, memory: list, meter, n: int, wrapped):
    optimizer = torch.optim.Adam(policy.parameters())
    helper = wrapped(optimizer)
    for _ in range(n):
        state = env.reset()
        memory.clear()
        meter.reset()
        torch.cuda.reset_peak_memory_stats()
        policy(state).sum().backward(); optimizer.step()  # TL408
    for _ in range(n):
        helper.reset()
        policy(env).sum().backward()
        optimizer.step()
    for _ in range(n):
        policy.reset()
        policy(env).sum().backward()
        optimizer.step()
    for _ in range(n):
        meter(env).backward()
        optimizer.step()
        meter.clear()


def not_called(net: nn.Module, loader):
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    for x in loader:
        optimizer.zero_grad  # TL401
        net(x).sum().backward()
        optimizer.step()


def filled(net: nn.Module, loader):
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    for x in loader:
        net(x).sum().backward()
        optimizer.step()
        for p in net.parameters():
            p.grad.fill_(0)


def several_steps(net: nn.Module, loader, k: int):
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    for x in loader:
        net(x).sum().backward()
        optimizer.step()  # TL408
        net(-x).sum().backward()
        optimizer.step()
    for i, x in enumerate(loader):
        net(x).sum().backward()
        if i % k:
            continue
        optimizer.step()  # TL408
