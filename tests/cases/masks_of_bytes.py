"""Masks of bytes by several names, and bytes that are no masks."""
import torch
import torch.nn as nn
from torch import uint8


def by_names(x: torch.Tensor, target: torch.Tensor):
    positive = (x > 0.5).byte()  # TL310`byte`
    kept = positive
    y = x[kept]
    large, small = (x > 0.9), (x < 0.1).byte()
    both = (x > 0.9).byte() | (x < 0.1).byte()  # TL310`byte` TL310`byte`
    z = torch.where(both, x, -x)
    either = (x > 0.9).to(torch.uint8)  # TL310`torch.uint8`
    either |= target.eq(1).type(torch.uint8)
    neither = (x > 0.9).to(torch.uint8)  # TL310`torch.uint8`
    neither &= target != 1
    u = x[neither]
    x.masked_fill_(either.unsqueeze(1).expand_as(x), 0)
    ones = torch.triu(torch.ones(4, 4, dtype=torch.uint8), diagonal=1)  # TL310`torch.uint8`
    scores = x.masked_fill(mask=ones, value=float("-inf"))
    empty = torch.zeros(4, dtype=uint8)  # TL310`uint8`
    empty[0] = 1
    w = x[empty, 1:]
    causal = x.new_empty(4, 4).byte().fill_(1).triu_(1)  # TL310`byte`
    scores.masked_fill_(causal, 0)
    none = (x > 0.5).byte()  # TL310`byte`
    v = x[1 - none]
    return u, y, z, scores, w, v, large, small


def one_after_the_other(x: torch.Tensor, flag):
    mask = (x > 0.5).byte()
    total = mask.sum()
    mask = (x > 0.7).byte()  # TL310`byte`
    y = x.masked_select(mask)
    mask = x > 0.2
    z = x[mask]
    if flag:
        mask = mask.byte()  # TL310`byte`
    return x[mask], total, y, z


class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("causal", torch.tril(torch.ones(4, 4)).byte())  # TL310`byte`
        self.ignored = torch.zeros(4, dtype=torch.uint8)  # TL310`torch.uint8`
        self.picture = torch.zeros(4, dtype=torch.uint8)

    def forward(self, x):
        x = x.masked_fill(self.causal[:2, :2] == 0, 0)
        x = torch.where(self.causal, x, x * 2)
        return x[self.ignored], self.picture.float()


def pictures(x: torch.Tensor, palette):
    image = (x * 255).byte()
    colours = palette[image.long()]
    flat = torch.zeros(4, dtype=torch.uint8) ^ 255
    bits = x.byte() & 3
    return image, colours, flat, x[bits > 1], (image == 7).sum()
