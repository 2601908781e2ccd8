# run
"""`Variable`, wherever it can stand."""
import numpy as np
import torch
import torch.autograd as autograd
from torch.autograd import Variable  # TL201

x = torch.ones(2, 3)
w = Variable(torch.ones(3), requires_grad=True)  # TL201`Variable`
a = Variable(x)  # TL201
b = autograd.Variable(x)  # TL201`autograd.Variable`
c = torch.autograd.Variable(x)  # TL201`torch.autograd.Variable`
d = Variable(x.data)  # TL201`Variable` TL101`data`
e = Variable(w * 2)  # TL201
f = Variable(w)  # TL201
g = Variable(torch.from_numpy(np.ones(3)))  # TL201
h = Variable(torch.from_numpy(np.ones(3)).float(), requires_grad=True)  # TL201
i = Variable(torch.ones(3), volatile=True)  # TL201`Variable` TL202`volatile`
j = Variable(x, requires_grad=False)  # TL201
k = Variable(torch.LongTensor([1, 2]))  # TL201 TL307
l = Variable(data=x)  # TL201
m = Variable(
    torch.zeros(3),  # the start
    requires_grad=True,
)
# ^^^^ TL201`Variable`
n = [Variable(t) for t in (x, w)]  # TL201
o = Variable(Variable(x))  # TL201`Variable(Variable` TL201`Variable(x)`
p = Variable(x), Variable(w)  # TL201`Variable(x)` TL201`Variable(w)`
q = (Variable(x) + Variable(w * 2)).sum()  # TL201`Variable(x)` TL201`Variable(w * 2)`
r = isinstance(x, Variable)  # TL201
s = isinstance(x, (Variable, list))  # TL201
t = isinstance(x, (torch.Tensor, Variable))  # TL201
u = Variable(w.data, requires_grad=True)  # TL201`Variable` TL101`data`
v = -Variable(w * 2)  # TL201
y = Variable(w if len(w) else x)  # TL201
z = Variable(w * 2)[0]  # TL201
aa = Variable(torch.randn(2, 2).fill_(1))  # TL201


def f1(t: Variable, n: "int" = 3) -> Variable:  # TL201`Variable, n` TL201`Variable:`
    return t * n


def f2(t=Variable(torch.ones(1))):  # TL201
    return t


def repackage_hidden(h):
    """Cuts hidden states from their history."""
    if isinstance(h, Variable):  # TL201
        return Variable(h.data)  # TL201`Variable` TL101`data`
    else:
        return tuple(repackage_hidden(v) for v in h)


bb = repackage_hidden((w * 2, w * 3))
cc = f1(w), f2()
with torch.no_grad():
    dd = Variable(w)  # TL201
(w * w).sum().backward()
ee = Variable(w.grad)  # TL201


def of_bytes(p, n):
    phi = (Variable(2.0 * torch.rand(n) - 1.0) ).view(-1, 1)  # TL201
    return phi, type(p.grad.data) == torch.FloatTensor  # TL101
