"""Methods that are named and not called, and what only looks like it."""
import contextlib
import inspect

import torch
import torch.nn as nn
import torch.optim as optim
from torch.cuda import is_available
from torch.cuda import is_available as has_gpu
from torch.optim import lr_scheduler
from torch.optim.lr_scheduler import StepLR


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(3, 3)

    def forward(self, x):
        return self.fc(x)

    @property
    def half(self):
        return self.fc.weight.half()


class Trainer:
    def __init__(self, lr):
        self.net = Net()
        self.optimizer = optim.Adam(self.net.parameters(), lr=lr)
        self.scheduler = StepLR(self.optimizer, 10)
        self.scaler = torch.amp.GradScaler()

    def epoch(self, batches):
        self.net.train  # TL401`train`
        for x, y in batches:
            self.optimizer.zero_grad  # TL401`zero_grad`
            loss = nn.functional.mse_loss(self.net(x), y)
            self.scaler.scale(loss).backward  # TL401`backward`
            self.scaler.step(self.optimizer)
            self.scaler.update  # TL401`update`
        self.scheduler.step  # TL401`step`

    def save(self, path):
        torch.save({"net": self.net.state_dict, "state": {"opt": self.optimizer.state_dict}}, path)  # TL401`state_dict` TL401`state_dict`
        checkpoint = {
            "epoch": 1,
            "net": self.net.state_dict,  # TL401`state_dict`
        }
        torch.save(checkpoint, path)
        self.net.half


class GivenTrainer:
    def __init__(self, model, optimizer, env, data):
        self.model, self.optimizer, self.env, self.data = model, optimizer, env, data
        self.clipped = list(self.model.parameters())

    def epoch(self, x):
        self.model.train  # TL401`train`
        self.model(x).sum().backward()
        self.optimizer.step  # TL401`step`
        self.optimizer.zero_grad()
        self.env.step
        self.data.train


def nested(device):
    net = Net()

    def train_one(x):
        optimizer = torch.optim.SGD(net.parameters(), 0.1)
        loss = net(x).sum()
        loss.backward  # TL401`backward`
        (optimizer.step)  # TL401`step`
        if True: optimizer.zero_grad; loss.backward()  # TL401`zero_grad`
        x.requires_grad_
        net.fc.weight.requires_grad_  # TL401`requires_grad_`
        net.fc.weight.grad.zero_  # TL401`zero_`

    return train_one


def conditions(args, fn=None):
    device = "cuda" if torch.cuda.is_available else "cpu"  # TL401`is_available`
    if not is_available:  # TL401`is_available`
        device = "cpu"
    use_cuda = args.cuda and torch.cuda.is_available  # TL401`is_available`
    use_gpu = not args.no_cuda and has_gpu  # TL401`has_gpu`
    while torch.distributed.is_initialized:  # TL401`is_initialized`
        break
    assert torch.backends.mps.is_available, "no"  # TL401`is_available`
    names = [n for n in args.names if torch.cuda.is_available]  # TL401`is_available`
    check = fn or torch.cuda.is_available
    if check():
        device = "cuda"
    probe = torch.cuda.is_available
    if probe is not None and torch.cuda.is_available() and is_available():
        pass
    if args.is_available and torch.is_tensor(args.x):
        pass
    return device, use_cuda, use_gpu, names


def optimizers(net: nn.Module, checkpoint, other):
    a = optim.SGD(net.parameters, lr=0.1)  # TL401`parameters`
    b = torch.optim.Adam(params=net.parameters, lr=0.1)  # TL401`parameters`
    net.load_state_dict(other.state_dict)
    Net().load_state_dict(net.state_dict)  # TL401`state_dict`
    net.load_state_dict(checkpoint["state_dict"])
    register(net.parameters, a.step)
    signature = inspect.signature(net.forward).parameters
    return a, b, signature


def register(*methods):
    return {method.__name__: method for method in methods}


def probes(optimizer: torch.optim.Optimizer, net: nn.Module, x: torch.Tensor):
    try:
        optimizer.step
    except AttributeError:
        return None
    with contextlib.suppress(AttributeError):
        net.eval
    stepping = optimizer.step
    x.is_cuda
    x.grad
    x.data  # TL101`data`
    net.training
    return stepping == optimizer.step, net.eval


class Warm(lr_scheduler.LRScheduler):
    def get_lr(self):
        return [0.1]


def own_scheduler(optimizer: torch.optim.Optimizer):
    warm = Warm(optimizer)
    optimizer.step()
    warm.step  # TL401`step`
    warm.get_lr()
