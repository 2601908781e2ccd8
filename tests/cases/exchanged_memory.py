"""Memory that is written by whoever has it at the moment: of what `.detach()` gives, `backward()` would raise."""

import torch
from torch import nn


def swap(out: nn.Module, back: nn.Module):
    jobs = []
    for left, right in zip(out.modules(), back.modules(), strict=True):
        if isinstance(left, nn.Linear):
            jobs.append((left, right, left.weight.data, right.weight.data))  # TL101`data` TL101`data`
    for left, right, fast, slow in jobs:
        left.weight.data = slow  # TL103`data`
        fast.copy_(slow)
        right.weight.data = fast  # TL103`data`


def swap_one(left: nn.Parameter, right: nn.Parameter):
    fast = left.data  # TL101`data`
    left.data = right.data.cpu()  # TL103`data` TL101`data`
    fast.copy_(right)
    right.data = fast  # TL103`data`


def view_only(net: nn.Linear, x: torch.Tensor):
    rows = net.weight.data  # TL101`data`
    rows[0] = x
    return net(x)


def kept_to_read(left: nn.Parameter):
    old = left.data  # TL101`data`
    left.data = torch.zeros(3)  # TL103`data`
    return old.mul_(2)


def clipped(net: nn.Linear):
    weight = net.weight.data  # TL101`data`
    weight.clamp_(-1, 1)
    net.weight.data = weight  # TL103`data`


def filled(net: nn.Linear, history: list):
    history.append(net.weight.data)  # TL101`data`
    fresh = torch.empty(2, 2)
    fresh.copy_(net.weight)
    net.weight.data = fresh  # TL103`data`
