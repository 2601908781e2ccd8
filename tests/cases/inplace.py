# run
"""Writing through `.data`: initialisation, updates, gradients."""
import math

import torch
import torch.nn as nn


class Net(nn.Module):
    def __init__(self, bias=True):
        super(Net, self).__init__()
        self.fc1 = nn.Linear(3, 4)
        self.fc2 = nn.Linear(4, 2)
        self.scale = nn.Parameter(torch.Tensor(4))  # TL307
        self.emb = nn.Embedding(5, 3)
        self.fc1.weight.data.normal_(0, 0.02)  # TL102
        self.fc1.bias.data.zero_()  # TL102
        self.fc2.weight.data.uniform_(-0.1, 0.1)  # TL102
        self.fc2.bias.data.fill_(0)  # TL102
        self.emb.weight.data.copy_(torch.zeros(5, 3))  # TL102
        self.emb.weight.data[0] = 0  # TL102
        self.reset_parameters()

    def reset_parameters(self):
        stdv = 1.0 / math.sqrt(self.scale.size(0))
        self.scale.data.uniform_(-stdv, stdv)  # TL102
        for weight in self.parameters():
            weight.data.clamp_(-1, 1)  # TL102
        for m in self.modules():
            if isinstance(m, nn.Linear):
                n = m.weight.data.size(0)  # TL101
                m.weight.data.normal_(0, math.sqrt(2.0 / n))  # TL102
                if m.bias is not None:
                    m.bias.data.zero_()  # TL102

    def forward(self, x):
        return self.fc2(self.fc1(x) * self.scale)


def weights_init(m):
    classname = m.__class__.__name__
    if classname.find("Linear") != -1:
        m.weight.data.normal_(0.0, 0.02)  # TL102
        m.bias.data.fill_(0)  # TL102
    elif classname.find("Embedding") != -1:
        m.weight.data.fill_(1.0)  # TL102


net = Net()
net.apply(weights_init)
y = net(torch.ones(2, 3)).sum()
y.backward()

for p in net.parameters():
    if p.grad is None:
        continue
    p.grad.data.clamp_(-1, 1)  # TL102
    p.data.add_(p.grad.data, alpha=-0.1)  # TL102`data.add_` TL101`data, alpha`
    p.data -= 0.1 * p.grad.data  # TL102`data -=` TL101`data  #`
    p.data.sub_(0.1 * p.grad)  # TL102
    p.data = p.data - 0.1 * p.grad.data  # TL103`data =` TL101`data - 0` TL101`data  #`
    p.data.clamp_(-0.5, 0.5)  # TL102
    p.grad.data.zero_()  # TL102

with torch.no_grad():
    for p in net.parameters():
        p.data.mul_(0.9)  # TL102
        p.data += 0.1  # TL102
        p.mul_(0.9)

w = torch.ones(3, requires_grad=True)
w.data[1] = 5.0  # TL102
w.data[1:] = w.data[1:] * 2  # TL102`data[1:] =` TL101`data[1:] * 2`
torch.add(w.data, 1, out=w.data)  # TL101`data, 1` TL102`data`


class Cell(nn.Module):
    def __init__(self):
        super(Cell, self).__init__()
        self.lstm = nn.LSTM(3, 2)
        self.lstm.bias_ih_l0.data.chunk(4)[1].fill_(1)  # TL102
        self.lstm.bias_hh_l0.data.split(2)[1].zero_()  # TL102
        self.lstm.weight_hh_l0.data.chunk(4, 0)[0][1].uniform_(1, 1)  # TL102
        self.lstm.bias_hh_l0.data.view(4, -1).unbind()[2].fill_(3)  # TL102


cell = Cell()
gates = cell.lstm.bias_ih_l0, cell.lstm.bias_hh_l0, cell.lstm.weight_hh_l0[1]
hidden = cell.lstm(torch.ones(1, 1, 3))[0].sum()
hidden.backward()
cell.lstm.bias_ih_l0.data.chunk(4)[2].fill_(0)  # TL102
parts = cell.lstm.bias_ih_l0.data.chunk(4)  # TL101
parts[3].fill_(2)
