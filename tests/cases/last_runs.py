# run-after
"""What a network keeps of its last run carries a graph only if autograd recorded then."""
import torch
import torch.nn.functional as F
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(2, 2)
        self.made = self.layer(torch.ones(2)) * 2
        self.count = 0

    def forward(self, x):
        self.hidden = torch.sigmoid(self.layer(x))
        return self.hidden

    def embed(self, x):
        return self(x)

    def reset(self):
        self.count = 0


class Holder:
    def __init__(self, net):
        self.net = Net()
        self.given = net

    def seen(self, x):
        with torch.no_grad():
            self.net(x)
        return self.net.hidden.numpy()

    def recorded(self, x):
        self.net(x)
        return self.net.hidden.numpy()  # TL104

    @torch.no_grad()
    def refresh(self, x):
        self.given(x)


torch.manual_seed(0)
net = Net()
loader = [(torch.ones(1, 2), torch.zeros(1, 2))]
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for x, y in loader:
    loss = F.mse_loss(net(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
trained = net.hidden.numpy()  # TL104
with torch.no_grad():
    out = net(x)
net.reset()
net.eval()
first = net.hidden[:, 0].cpu().numpy()
doubled = (2 * net.hidden).numpy()
kept = net.hidden
again = kept.numpy()
from_the_start = net.made.numpy()  # TL104
weighted = net.hidden * net.layer.weight
mixed = weighted.numpy()  # TL104
out = net.embed(x)
second = net.hidden[:, 1].numpy()  # TL104
with torch.no_grad():
    out = net.embed(x)
third = net.hidden[:, 1].numpy()
seen = Holder(net).seen(x)
recorded = Holder(net).recorded(x)
