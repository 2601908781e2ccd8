# run-after
"""`loss.data[0]`, and what looks like it."""
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

net = nn.Linear(3, 2)
criterion = nn.CrossEntropyLoss()
x, y = torch.ones(4, 3), torch.zeros(4, dtype=torch.long)
out = net(x)
loss = criterion(out, y)
a = loss.data[0]  # TL203`data[0]`
b = out.sum().data[0]  # TL203`data[0]`
c = -loss.data[0]  # TL203`data[0]`
d = loss.data.cpu()[0]  # TL203`data.cpu()[0]`
e = loss.data.cpu().numpy()[0]  # TL203`data.cpu().numpy()[0]`
f = F.cross_entropy(out, y).data[0]  # TL203
g = out.max().data[0] + out.norm().data[0]  # TL203`data[0] +` TL203`data[0]  #` TL309
h = "%.3f" % loss.data[0]  # TL203
i = f"{loss.data[0]:.3f}"  # TL203
whole = loss.data[0].item() + loss.data.cpu()[0].item()  # TL203`data[0].` TL203`data.cpu()[0]`
n = loss.data[0x0] + loss.data[0_0]  # TL203`data[0x0]` TL203`data[0_0]`
o = loss.data[False]  # TL203
total = 0.0
for _ in range(2):
    loss = criterion(net(x), y)
    total += loss.data[0] * x.size(0)  # TL203
print(total / 2)

correct = 0
pred = out.data.max(1)[1]  # TL101
correct += pred.eq(y.data).cpu().sum()  # TL101
j = out.data[0]  # TL101
k = out.data[0][1]  # TL101
l = out.data[:2]  # TL101
m = out.data[0, 1]  # TL101


def log(loss, epoch):
    print(epoch, loss.data[0])  # TL203


log(torch.ones(1), 3)


def hits(predict, batches, k):
    correct = 0
    for x, y in batches:
        correct += (predict(x) == y).sum().data[0]  # TL203
        correct += (x - k).float().mean().cpu().data[0]  # TL203
    table = batches.sum(0).data[0]
    return correct, table


def balanced(l1, recon, x, fake, y, gamma):
    real_loss = l1(recon, x)
    fake_loss = l1(fake, y)
    (real_loss - fake_loss).backward()
    k = 0.1 + (gamma * real_loss - fake_loss).data[0]  # TL203
    return k, (real_loss * x).data, "%.3f" % (-real_loss / 2).data[0]  # TL203


def weighted(batches):
    total = 0
    rows = 0
    for x, y, n in batches:
        total += n * criterion(net(x), y).data  # TL101
        rows += n * torch.ones(3).data  # TL101
    return total[0] / len(batches), rows[0] + rows[1]  # TL203


weights = weighted([(x, y, 4)])[0]


def shown(measure, writer, meter, step):
    gap = measure(torch.ones(3))
    print("gap %.3f" % gap.data[0])  # TL203
    print("gap", gap.data[0])  # TL203
    near, far = measure(torch.ones(3), step)
    writer.add_scalar("near", near.data[0], step)  # TL203
    far_value, both = far.data[0], near.data[0]  # TL203 TL203
    print("far {:.2f}".format(far_value))
    mean = measure(torch.ones(2))
    meter.update(mean.data[0], 2)  # TL203
    rows = measure(torch.ones(2))
    row = rows.data[0]  # TL101
    curve, others = [], []
    for _ in range(step):
        away = measure(torch.ones(4))
        curve.append(away.data[0])  # TL203
        apart = net(torch.ones(3))
        others.append(apart.data[0])  # TL101
    place = measure(step)
    print("%.3f" % place.data[0])
    return row, both, np.mean(curve), torch.stack(others)
