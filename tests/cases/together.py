# run-after
"""Rules that meet on one line, and fixes that make room for each other."""
import torch
import torch.nn as nn
from torch.autograd import Variable  # TL201

net = nn.Linear(3, 1)
mse = nn.MSELoss()
x = Variable(torch.ones(2, 3), volatile=True)  # TL201`Variable` TL202`volatile`
y = Variable(torch.zeros(2, 1)).cpu().data  # TL201`Variable` TL105`data`
total = 0
for i in range(2):
    loss = mse(net(Variable(x.data)), Variable(y))  # TL201`Variable(x` TL101`data` TL201`Variable(y`
    loss.backward()
    total += loss.data[0]  # TL203
    for p in net.parameters():
        p.data.add_(p.grad.data, alpha=-0.1)  # TL102`data.add_` TL101`data, alpha`
        p.grad.data.zero_()  # TL102
a = Variable(net(x).data).cpu().numpy()  # TL201`Variable` TL101`data`
b = Variable(torch.ones(3)).data.cpu().numpy()[0]  # TL201`Variable` TL101`data`
c = Variable(net(x)).data.sum().item()  # TL201`Variable` TL101`data`
d = Variable(Variable(net(x)).data).data  # TL201`Variable(Variable` TL201`Variable(net` TL101`data` TL101`data`
e = [Variable(p.data.clone()) for p in net.parameters()]  # TL201`Variable` TL101`data`
