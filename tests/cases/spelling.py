# run
"""However it is written: `.data` in this docstring, `w.data` there, and in code as the grammar allows."""
import torch
from torch import nn

w = torch.ones(3, requires_grad=True)
v = torch.ones(3, requires_grad=True)
a = w . data * 2  # TL101`data`
b = (
    w
    .data  # TL101`data`
    * 2
)
c = w \
    .data \
    .sum()
# ^^ TL101`data`
d = (w  # the tensor
     # and its
     .data.mul(2)  # TL101`data`
     # doubled
     .sum())
e, f = w.data * 1, v.data * 2  # TL101`data * 1` TL101`data * 2`
g = (lambda t: t.data * 2)(w)  # TL101
h = [t.data.sum() for t in (w, v)]  # TL101
i = {k: t.data.sum() for k, t in zip("ab", (w, v))}  # TL101
j = sum(t.data.sum() for t in (w, v) if t.data.max() > 0)  # TL101`data.sum` TL101`data.max`
k = w.data.sum() if v.data.sum() > 0 else w.data.max()  # TL101`data.sum() if` TL101`data.sum() > 0` TL101`data.max`
l = f"{w.data.sum()} größer {v.data.max():.3f}"  # TL101`data.sum` TL101`data.max`
m = "größer", w.data * 2  # TL101`data`
n = "w.data" + 'v.data' + """
w.data
"""
if w.data.sum() > 0: o = w.data * 3  # TL101`data.sum` TL101`data * 3`
p = 1; q = w.data * 2; r = 3  # TL101
s = (w.data) * 2  # TL101
t = -w.data  # TL101
u = not w.data.sum()  # TL101
x = w.data[0:2], w.data[-1], (w * v).data[1:]  # TL101`data[0:2]` TL101`data[-1]` TL101`data[1:]`
y = torch.cat([w.data, v.data])  # TL101`data, v` TL101
z = nn.functional.mse_loss(input=w, target=v.data)  # TL101


def default(t=w.data.sum()):  # TL101
    return t


def nested(t: torch.Tensor):
    def inner():
        return t.data * 2  # TL101

    return inner


class Holder:
    scale = w.data * 2  # TL101

    def __init__(self, t: torch.Tensor):
        self.t = t

    @property
    def doubled(self):
        return self.t.data * 2  # TL101


aa = nested(w)()
bb = Holder(v).doubled
while (n1 := w.data.sum()) > 100:  # TL101
    pass
assert w.data.sum() > 0, w.data  # TL101`data.sum` TL101`data  #`
größe = torch.ones(2, requires_grad=True)
maß = größe.data * 2  # TL101
match w.data.sum().item():  # TL101
    case 3.0:
        cc = w.data + 1  # TL101
    case _:
        cc = None
try:
    dd = w.data + 2  # TL101
except ValueError:
    dd = None
finally:
    ee = w.data + 3  # TL101
ff = [*w.data.unbind()]  # TL101
gg = dict(data=w)
print(w.data.sum(), v.data.sum(), sep="\t", end="\n")  # TL101`data.sum(), v` TL101`data.sum(), sep`
