# run
"""Reading `.data`: of what, and what for."""
import copy
import math

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

net = nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 2))
x = torch.ones(5, 3)
out = net(x)
loss = F.mse_loss(out, torch.zeros(5, 2))
loss.backward()

# metadata
rows = out.data.size(0)  # TL101
shape = out.data.shape  # TL101
kind = out.data.dtype, out.data.device, out.data.is_cuda  # TL101`data.dtype` TL101`data.device` TL101`data.is_cuda`
count = out.data.numel() + out.data.dim() + len(out.data)  # TL101`data.numel` TL101`data.dim` TL101
zeros = torch.zeros_like(out.data)  # TL101
wide = torch.ones(1, 2).expand_as(out.data)  # TL101
viewed = torch.ones(10).view_as(out.data)  # TL101
cast = torch.ones(2).type_as(out.data)  # TL101
name = type(net[0].weight.data).__name__  # TL101
same = type(net[0].weight.data) is type(net[0].bias.data)  # TL101 TL101

# parameters and gradients
norm = sum(p.data.norm() ** 2 for p in net.parameters())  # TL101 TL309
total = 0.0
for p in net.parameters():
    if p.grad is not None:
        total += p.grad.data.norm(2).item() ** 2  # TL101 TL309
    saved = p.data.clone()  # TL101
    gradient = p.grad.data.clone()  # TL101
clip = math.sqrt(total)
weights = {k: v.data.cpu() for k, v in net.named_parameters()}  # TL101
backup = copy.deepcopy([p.data for p in net.parameters()])  # TL101
state = {k: v.clone() for k, v in net.state_dict().items()}

# predictions
_, predicted = torch.max(out.data, 1)  # TL101
best = out.data.max(1, keepdim=True)[1]  # TL101
correct = (predicted == torch.zeros(5).long().data).sum()  # TL101 TL604
scores = F.softmax(out, dim=1).data  # TL101
array = out.data.cpu().numpy()  # TL101
other = out.data.numpy()  # TL101
first = out[0].data  # TL101
listed = [o.data for o in (out, loss)]  # TL101
called = net(x).data * 2  # TL101
fake = net(x.data).mean()  # TL101
again = np.mean(out.data.numpy())  # TL101

# initialisers
nn.init.xavier_uniform_(net[0].weight.data)  # TL101
nn.init.constant_(net[0].bias.data, 0.1)  # TL101
nn.init.normal_(tensor=net[2].weight.data, mean=0.0, std=0.02)  # TL101

# already under no_grad
with torch.no_grad():
    moved = 0.9 * net[0].weight.data + 0.1 * net[0].weight  # TL101
    kept = net[0].weight.data  # TL101


@torch.no_grad()
def evaluate(batch):
    return net(batch).data.sum()  # TL101


result = evaluate(x)
