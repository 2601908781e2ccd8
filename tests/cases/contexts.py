"""Contexts that are made and not entered, and what only looks like it."""
import contextlib

import torch
import torch as T
import torch.nn as nn
from torch import autocast, no_grad
from torch import inference_mode as inference
from torch.cuda.amp import autocast as amp_autocast  # TL302
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.profiler import record_function


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(2, 2)
        self.guard = torch.no_grad()

    torch.no_grad()  # TL402`torch.no_grad`
    def predict(self, x):
        return self.fc(x)

    no_grad()  # TL402`no_grad`

    def other(self, x):
        torch.inference_mode()  # TL402`torch.inference_mode`
        with self.guard:
            return self.fc(x)

    @torch.no_grad()
    def decorated(self, x):
        return self.fc(x)

    @torch.inference_mode
    def bare(self, x):
        return self.fc(x)


def evaluate(net, loader):
    net.eval()
    T.no_grad()  # TL402`T.no_grad`
    for x in loader:
        inference()  # TL402`inference`
        net(x)
    with torch.no_grad:  # TL402`torch.no_grad`
        net(x)
    with no_grad, contextlib.suppress(ValueError):  # TL402`no_grad`
        net(x)
    with torch.autocast:  # TL402`torch.autocast`
        net(x)
    with inference as mode:  # TL402`inference`
        return net(x), mode


def train(net, loader, optimizer):
    ddp = DDP(net)
    torch.autograd.detect_anomaly()  # TL402`torch.autograd.detect_anomaly`
    torch.cuda.device(1)  # TL402`torch.cuda.device`
    torch.device("cuda:1")  # TL402`torch.device`
    for x in loader:
        ddp.no_sync()  # TL402`ddp.no_sync`
        if x is None: autocast("cuda"); continue  # TL402`autocast`
        amp_autocast()  # TL402`amp_autocast`
        torch.random.fork_rng()  # TL402`torch.random.fork_rng`
        record_function("forward")  # TL402`record_function`
        loss = ddp(x).sum()
        loss.backward()
    torch.no_grad  # TL402`torch.no_grad`


def fine(net, x, device, stream):
    torch.set_grad_enabled(False)
    torch.autograd.set_detect_anomaly(True)
    torch.cuda.set_device(1)
    context = torch.no_grad() if x is None else contextlib.nullcontext()
    with context, torch.autocast("cuda"), torch.device("cuda"), torch.cuda.stream(stream):
        y = net(x)
    guard = inference()
    guard.__enter__()
    with (
        torch.no_grad(),
        autocast("cuda"),
    ):
        y = net(x)
    device = torch.device(device)
    return run(torch.no_grad(), y, device=torch.device("cpu"))


def run(context, y, device):
    with context:
        return y.to(device)


def is_device(name):
    try:
        torch.device(name)
    except RuntimeError:
        return False
    with contextlib.suppress(RuntimeError):
        torch.device(name)
    return True


class Own:
    def no_grad(self):
        return self

    def no_sync(self):
        return self

    def use(self):
        self.no_grad()
        self.no_sync()


def local(net):
    def no_grad():
        net.requires_grad_(False)

    no_grad()
