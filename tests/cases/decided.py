"""The details that were decided, one by one."""
import torch
import torch.nn as nn
import torch.autograd as ag
from torch.autograd import Variable as V  # TL201
from torch.utils.data import DataLoader

__all__ = ["V", "net"]
net = nn.Linear(3, 2)
criterion = nn.MSELoss()
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
x, y = torch.ones(4, 3), torch.zeros(4, 2)

# what is detached for nothing but the fact that nothing requires grad
for batch, target in DataLoader([(x, y)]):  # TL601
    a = batch.detach()
b = (net(x) > 0).detach()
c = net(x).sum().cpu().item()

# references that are no calls
made = list(map(V, [x]))  # TL201`V, [x]`
same = type(x) == V  # TL201`V`
engine = ag.Variable._execution_engine
engine.queue_callback(print)


class Wrapped(V):  # TL201
    pass


def annotated(t: "V", u: V = None) -> "ag.Variable":  # TL201`V = None`
    return t


# gradients
loss = criterion(net(x), y)
grads = torch.autograd.grad(loss, net.parameters(), create_graph=True)
d = grads[0].numpy()  # TL104
plain = torch.autograd.grad(criterion(net(x), y), net.parameters())
e = plain[0].numpy()
f = net.weight.grad.numpy()


# sums
class Trainer:
    def __init__(self):
        self.total = 0
        self.seen = 0

    def add(self, x, y):
        for part in x:
            self.total += criterion(net(part), y)

    def finish(self):
        self.total.backward()

    def count(self, x):
        for part in x:
            self.seen += len(part)


def listed(batches):
    losses = []
    for x, y in batches:
        losses.append(criterion(net(x), y))
    for loss in losses:
        loss.backward()


def returned(batches):
    total = 0
    for x, y in batches:
        loss = criterion(net(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += loss  # TL107
    return total / len(batches)


def counted(batches):
    correct = 0
    for x, y in batches:
        loss = criterion(net(x), y)
        loss.backward()
        correct += (net(x).argmax(1) == y.argmax(1)).sum()
    return correct


def per_parameter(batches):
    for x, y in batches:
        total = 0
        for p in net.parameters():
            total = total + p.norm()  # TL309
        (criterion(net(x), y) + total).backward()


# scalars of unknown rank
def report(loss_D, pg_loss, outputs):
    print(loss_D.data[0], -pg_loss.data[0])  # TL203 TL203
    print(outputs.backward(), outputs.data[0][1], outputs.data[:25])  # TL101 TL101


# initialisation by name, and by use
def init_weights(model):
    for m in model.modules():
        if isinstance(m, nn.Linear):
            m.weight.data.fill_(1)  # TL102


def prepare(m):
    if isinstance(m, nn.Linear):
        m.bias.data.zero_()  # TL102


net.apply(prepare)


# under no_grad, by decorator, by context and by a decorator of one's own
def no_grad_wrapper(function):
    def inner(*args):
        with torch.no_grad():
            return function(*args)

    return inner


@no_grad_wrapper
def infer(x):
    return net(x).numpy()


class Model(nn.Module):
    def forward(self, x):
        return x * 2

    @torch.inference_mode()
    def predict(self, x):
        return self(x).numpy()

    def probabilities(self, x):
        with torch.no_grad():
            out = self(x)
        return out.numpy()

    def embed(self, x):
        return net(x).numpy()  # TL104

    def shown_by_nobody(self, x):
        return net(x).numpy()


Model().embed(x)
