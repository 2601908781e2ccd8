# run-after
"""Out of the graph and into NumPy."""
import numpy as np
import torch
import torch.nn as nn

net = nn.Linear(3, 2)
x = torch.ones(1, 3)
out = net(x)
a = out.numpy()  # TL104`numpy()`
b = out.cpu().numpy()  # TL104`numpy()`
c = np.asarray(out)  # TL104
d = np.array(net.weight)  # TL104
e = net(x)[0].numpy()  # TL104
f = out.squeeze().cpu().numpy()  # TL104
g = (out + 1).numpy()  # TL104
h = [o.numpy() for o in out]  # TL104
i = out.cpu().detach().numpy()  # TL105`detach()`
j = out.to("cpu").detach()  # TL105`detach()`
k = out.cpu().data.numpy()  # TL105`data`
l = out.data.cpu().numpy()  # TL101
m = out.sum().detach().cpu().item()  # TL106`detach()`
n = out.sum().data.item()  # TL106`data`
o = out.detach().data  # TL106`data`
p = out.data.detach()  # TL106
q = out.detach().detach()  # TL106`detach()`
r = out.detach().tolist()  # TL106`detach()`

# fine as it is
s = out.detach().cpu().numpy()
t = x.numpy()
u = out.argmax(1).numpy()
v = (out > 0).numpy()
w = out.numpy(force=True)
y = net.state_dict()["weight"].numpy()
z = torch.from_numpy(np.ones(3)).numpy()
with torch.no_grad():
    aa = net(x).numpy()
    bb = np.asarray(net(x))


@torch.no_grad()
def predict(batch):
    return net(batch).cpu().numpy()


def to_numpy(t):
    if t.requires_grad:
        return t.detach().numpy()
    return t.numpy()


def safe(t):
    return t.detach().numpy() if t.requires_grad else t.numpy()


cc = predict(x), to_numpy(out), safe(out)
out.sum().backward()
dd = net.weight.grad.numpy()
ee = out.sum().cpu().item()
