# run-after
"""What programs from before PyTorch 0.4 needed by hand once."""
import torch
import torch.nn as nn
from torch.autograd import Variable  # TL201
from torch.distributions import Categorical
from torch.utils.data import DataLoader

torch.manual_seed(0)
net = nn.Sequential()
for i in range(2):
    net.add_module("block.%d.fc" % i, nn.Linear(3, 3))  # TL303`"block.%d.fc" % i`
    net.add_module("block.{}-{:.0f}".format(i, 1), nn.ReLU())  # TL303
    net.add_module("act" + str(i), nn.ReLU())
    net.add_module(f"drop.{i}", nn.Identity())  # TL303
net.register_buffer("mean.x", torch.zeros(3))  # TL303
net.register_buffer("mean", torch.zeros(3))
names = sorted(net._modules)

criterion = nn.CrossEntropyLoss()
criterion.size_average = False  # TL303`size_average`
loader = DataLoader([(torch.ones(3), 1), (torch.zeros(3), 2)], batch_size=1)  # TL601
batches = iter(loader)
first, _ = batches.next()  # TL301`next`


def begin(batches, given: list):
    steps = iter(batches)
    return steps.next(), iter(batches).next(), iter(given)  # TL301`next` TL301`next`


second, third, _ = begin(loader, [])
correct = 0
for inputs, targets in loader:
    inputs, targets = Variable(inputs), Variable(targets)  # TL201 TL201
    loss = criterion(net(inputs), targets)
    loss.backward()
    correct += net(inputs).max(1)[1].eq(targets).sum()
for inputs, targets in loader:
    inputs, targets = Variable(inputs, volatile=True), Variable(targets)  # TL201 TL202`volatile` TL201
    total = criterion(net(inputs), targets).data[0]  # TL203
accuracy = round(100 * correct / len(loader), 2)  # TL203`100`
exact = round(loss / 2 + 1, 1)  # TL203`loss / 2`
is_exact = round(loss.item())
error = round(1 - 0.5, 1)


def select_action(state):
    m = Categorical(net(state).softmax(-1))
    action = m.sample()
    several = m.sample((2,)).data[0]  # TL101
    return action.data[0]  # TL203`data[0]`


chosen = select_action(torch.ones(3))
