# run
"""Statements that are moved into blocks, and calls that are taken apart, however they are laid out."""
import torch
import torch.nn as nn
from torch.autograd import Variable  # TL201


class Scale(nn.Module):
    def __init__(self):
        super().__init__()
        self.w = nn.Parameter(torch.ones(3))
        self.b = nn.Parameter(torch.zeros(3))
        self.register_buffer("mean", torch.zeros(3))
        self.w.data[0] = 2.0; self.b.data[0] = 1.0  # TL102`data[0] = 2.0` TL102`data[0] = 1.0`
        if self.w.dim(): self.w.data[1] = 3.0  # TL102
        for i in range(2): self.b.data[i] += 1; self.w.data[i] *= 2  # TL102`data[i] +=` TL102`data[i] *=`
        # a comment of its own
        self.w.data[2] = 4.0  # and one at the end  # TL102
        self.w.data[0] = \
            self.b.size(0)
        # ^^ TL102`data`
        self.w.data[  # TL102`data[`
            1  # the second
        ] = 5.0
        self.mean.data.fill_(0.5)  # TL102
        self.w.data.normal_(  # TL102`data`
            0.0,  # mean
            0.1,  # spread
        )
        with torch.no_grad():
            self.b.data[0] = 7.0  # TL102
        self.b.data[1] = 8.0  # TL102
        try: self.half.data *= 2  # TL102
        finally: self.b.data[2] = 9.0  # TL102

    @property
    def half(self):
        return self.w[:1]


scale = Scale()
x = Variable(  # the noise  # TL201
    torch.ones(3)  # all of it
)
y = Variable(
    torch.ones(
        3,
    ),
    requires_grad=True,
)
# ^^^^^^ TL201`Variable`
z = Variable((torch.ones(3)), requires_grad=True)  # TL201
v = Variable(torch.ones(3) * 2, requires_grad=True)  # TL201
u = Variable(torch.ones(*x.size()), requires_grad=True)  # TL201
t = (y.cpu()  # to the host
     .detach()  # cut  # TL105`detach`
     .numpy())
s = (
    y
    .to(
        "cpu",  # the host
    )
    # then
    .detach()  # TL105`detach`
)
q = Variable(r := torch.ones(3)) + r  # TL201


def first(v: "Variable", n: "int" = 0) -> 'Variable':  # TL201`"Variable"` TL201`'Variable'`
    return v[n]


p = first(y)
