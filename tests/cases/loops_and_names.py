# run
"""The memory of a `.data` under other names, in loops and in functions: whether somebody writes to it."""
import torch
import torch.nn as nn

w = torch.ones(3, requires_grad=True)
net = nn.Linear(3, 3)
y = w * w
z = net(w).sum()

only_read = w.data  # TL101
copied = only_read * 2
view = w.data.view(1, 3)  # TL101
view[0, 1] = 3.0
alias = w.data  # TL101
alias2 = alias
alias2.mul_(2)
pair = [w.data, y.data]  # TL101`data, y` TL101
pair[0].add_(1)
first, second = w.data, y.data  # TL101`data, y` TL101
first.add_(1)
for row in net.weight.data:  # TL101
    row.zero_()
for t in (w.data, net.bias.data):  # TL101`data, net` TL101
    t.clamp_(-1, 1)


def write(t):
    t.add_(1)
    return t


def read(t):
    return t * 2


written = write(w.data)  # TL101
doubled = read(w.data)  # TL101
chosen = w.data if len(w) else y.data  # TL101`data if` TL101
chosen[0] = 7.0


class Ema:
    def __init__(self, model):
        self.shadow = {name: p.data.clone() for name, p in model.named_parameters()}  # TL101
        self.backup = {}

    def update(self, model):
        for name, p in model.named_parameters():
            self.shadow[name] = 0.9 * self.shadow[name] + 0.1 * p.data  # TL101

    def apply(self, model):
        for name, p in model.named_parameters():
            self.backup[name] = p.data  # TL101
            p.data = self.shadow[name]  # TL103


ema = Ema(net)
ema.update(net)
ema.apply(net)
with torch.no_grad():
    frozen = net.weight.data  # TL101
    mixed = frozen * 2
(w * w).sum().backward()
g = w.grad.data  # TL101
g.mul_(2)
h = w.grad.data * 2  # TL101
