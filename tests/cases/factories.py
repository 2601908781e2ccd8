# run
"""Tensors that are made in one place or dtype and copied to another."""
import numpy as np
import torch
from torch import zeros as nothing

device = torch.device("cpu")
name = "cpu"

a = nothing(2, 3).to(device)  # TL603`to`
b = torch.full((2,), 1.5, dtype=torch.double).to(device=name)  # TL603`to`
c = torch.linspace(0, 1, steps=4).to("cpu").sum()  # TL603`to`
d = torch.empty(0).to(a.device)  # TL603`to`
e = torch.tensor([[1, 2], [3, 4]]).float()  # TL604`float`
f = torch.zeros(
    2,
    3,
).to(torch.int64)  # TL604`to`
g = torch.eye(3).bool()  # TL604`bool`
h = torch.arange(2, 9, 3).float().mean()  # TL604`float`
i = torch.tensor([-1.5, 2]).float()  # TL604`float`

j = torch.ones(2).to(a)
k = torch.ones(2, device=device).to(device)
m = torch.from_numpy(np.ones(2)).to(device)
n = torch.zeros_like(a).to(device)
o = torch.ones(2).to(device, torch.half)
p = torch.tensor([0.1]).double()
q = torch.tensor([1.7]).long()
r = torch.arange(0, 1, 0.25).double()
s = torch.ones(2, dtype=torch.half).float()
t = torch.ones(2, requires_grad=True).to(device)
u = torch.arange(5).int()
v = torch.tensor(a).double() if len(b) > 1 else a.double()  # TL302`torch.tensor`
