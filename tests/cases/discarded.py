"""Tensors that are computed and dropped, and what only looks like it."""
import time

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.nn.parallel import DataParallel
from torch.utils.data import DataLoader, TensorDataset


class Net(nn.Module):
    def __init__(self, mask: torch.Tensor):
        super().__init__()
        self.fc = nn.Linear(3, 3)
        self.scale = torch.ones(3)
        self.register_buffer("mask", mask)

    def move(self, device):
        self.to(device)
        self.fc.cuda()
        self.scale.to(device)  # TL403`to`
        self.mask.cpu()  # TL403`cpu`
        return self

    def forward(self, x):
        x = torch.relu(x)
        x.masked_fill(x > 1, 1.0)  # TL403`masked_fill`
        x.masked_fill_(x > 1, 1.0)
        F.dropout(x, 0.5, self.training)  # TL403`F.dropout`
        F.relu(x, inplace=True)
        F.relu_(x)
        return self.fc(x)


def train(net: nn.Module, device):
    data = TensorDataset(torch.ones(4, 3), torch.ones(4))
    loader = DataLoader(data, batch_size=2)  # TL601
    DataParallel(net)  # TL403`DataParallel`
    for inputs, targets in loader:
        inputs.to(device)  # TL403`to`
        targets.long().to(device)  # TL403`to`
        inputs.to(device), targets.to(device)  # TL403`to` TL403`to`
        targets.to(device), print(targets)  # TL403`to`
        targets.type(torch.float32)  # TL403`type`
        targets.type()
        out = net(inputs)
        loss = F.mse_loss(out.squeeze(1), targets)
        loss.backward()
        loss.detach()  # TL403`detach`
        if loss.item() > 3: loss.clamp(0, 3)  # TL403`clamp`


def train_unknown(model, train_loader, device):
    for inputs, targets in train_loader:
        inputs.cuda()  # TL403`cuda`
        model(inputs).sum().backward()
    for batch in train_loader:
        batch.to(device)
        model(batch).sum().backward()


def functions(x: torch.Tensor, net: nn.Module, xs: list[torch.Tensor]):
    torch.cat(xs)  # TL403`torch.cat`
    torch.clamp(x, 0, 1)  # TL403`torch.clamp`
    torch.clamp(x, 0, 1, out=x)
    nn.functional.softmax(x, dim=1)  # TL403`nn.functional.softmax`
    torch.compile(net)  # TL403`torch.compile`
    nn.init.zeros_(x)
    torch.manual_seed(0)
    torch.rand(3)
    torch.nn.utils.clip_grad_norm_(net.parameters(), 1.0)
    nn.SyncBatchNorm.convert_sync_batchnorm(net)
    net.compile()
    x.item()
    x.backward()
    x.requires_grad_()
    x.record_stream(torch.cuda.current_stream())
    x[0].add(1)  # TL403`add`
    x.data.clamp(-1, 1)  # TL403`clamp` TL101
    (x).unsqueeze(0)  # TL403`unsqueeze`
    x.unsqueeze(0).expand(3, -1)  # TL403`expand`
    y = x.to("cpu")
    return y, x.double(), [x.half() for _ in range(2)]


class Boxes:
    def __init__(self, data: torch.Tensor):
        self.data = data

    def to(self, device):
        self.data = self.data.to(device)
        return self

    def clamp(self, low, high, inplace=False):
        return self


def objects(boxes: Boxes, batch, graph, x: torch.Tensor, seen: set, names: list):
    boxes.to("cuda")
    boxes.clamp(0, 1, inplace=True)
    batch.to("cuda")
    graph.x.to("cuda")
    seen.add(3)
    names.sort()
    try:
        x.cuda()
    except RuntimeError:
        pass
    return seen


def timed(x: torch.Tensor):
    for _ in range(10):
        x.log()
    start = time.time()
    for _ in range(10):
        x.exp()
    print(time.time() - start)


def test_that_it_runs(x: torch.Tensor):
    x.to("cpu")


torch.zeros(1, device="cuda")
torch.zeros(1).cuda()  # TL603


class MicroBenchmark:
    def __init__(self, x: torch.Tensor):
        self.x = x

    def run(self, x: torch.Tensor):
        x.clone()


def in_containers(batch: dict[str, torch.Tensor], pair: tuple[torch.Tensor, torch.Tensor], device):
    batch["x"].to(device)  # TL403`to`
    first, second = pair
    first.cuda()  # TL403`cuda`
    for name, value in batch.items():
        value.to(device)  # TL403`to`
    return batch, first, second


def measured(a: torch.Tensor, b: torch.Tensor, n: int):
    for _ in range(3):
        torch.mm(a, b)
        a.exp()
    torch.mm(a, b)
    torch.relu(a)  # TL403`torch.relu`
    for t in [a, b]:
        t.to("cuda")  # TL403`to`
    torch.cuda.synchronize()
    start = time.perf_counter()
    for _ in range(n):
        torch.mm(a, b)
    seconds = time.perf_counter() - start
    b.sqrt()  # TL403`sqrt`
    return seconds


def outside():
    h = torch.zeros(3)

    def inner():
        h.detach()  # TL403`detach`
        return h + 1

    return inner()


def first_run(a: torch.Tensor, b: torch.Tensor, timed):
    torch.matmul(a, b)
    once = timed(lambda: torch.matmul(a, b))
    torch.matmul(a, b) * 2
    torch.add(a, b)  # TL403
    a * 2  # TL403
    return once, timed(lambda: torch.matmul(a, b) * 2)
