# run
"""Sums of losses: those that keep their graphs for nothing, and those that need them."""
import torch
import torch.nn as nn

torch.manual_seed(1)
net = nn.Linear(3, 1)
criterion = nn.MSELoss()
optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
batches = [(torch.randn(4, 3), torch.randn(4, 1)) for _ in range(3)]


def train():
    running_loss = 0.0
    history = []
    for x, y in batches:
        loss = criterion(net(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        running_loss += loss  # TL107`running_loss`
        history.append(loss)  # TL107`history`
    print(running_loss / len(history))


def train_twice():
    total = 0
    for x, y in batches:
        loss = criterion(net(x), y)
        loss.backward()
        total = total + loss  # TL107`total`
    return float(total)


def fine():
    total, legacy, numbers = 0, 0, []
    for x, y in batches:
        loss = criterion(net(x), y)
        loss.backward()
        total += loss.item()
        legacy += loss.data  # TL101
        numbers.append(loss.detach())
    return total, legacy, numbers


def summed():
    total = 0
    for x, y in batches:
        total += criterion(net(x), y)
    total.backward()


def collected():
    losses = []
    for x, y in batches:
        losses.append(criterion(net(x), y))
    torch.stack(losses).mean().backward()


def objective():
    total = 0
    for x, y in batches:
        total = total + criterion(net(x), y)
    return total


def within():
    for x, y in batches:
        loss = 0
        for part in (x, x * 2):
            loss += criterion(net(part), y)
        loss.backward()


@torch.no_grad()
def evaluate():
    total = 0
    for x, y in batches:
        total += criterion(net(x), y)
    return total


class Multi(nn.Module):
    def __init__(self):
        super().__init__()
        self.heads = nn.ModuleList([nn.Linear(3, 1), nn.Linear(3, 1)])

    def forward(self, x, y):
        loss = 0
        for head in self.heads:
            loss += criterion(head(x), y)
        return loss


train()
a = train_twice()
b = fine()
summed()
collected()
c = objective()
within()
d = evaluate()
e = Multi()(*batches[0])
