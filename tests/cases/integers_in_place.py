"""Fractions that are put into tensors of integers in place; and what fits in."""
import torch
from torch import LongTensor


def raises(n):
    ids = torch.arange(10)
    ids.div_(n)  # TL313`ids.div_`
    ids /= n  # TL313`ids /=`
    ids.clamp_(0, 2.5)  # TL313`ids.clamp_`
    ids *= -0.5  # TL313`ids *=`
    ids.clamp_(min=0.0)  # TL313`ids.clamp_`
    torch.div(ids, 3, out=ids)  # TL313`torch.div`
    torch.true_divide(ids, n, out=ids)  # TL313`torch.true_divide`
    ids.exp_()  # TL313`ids.exp_`
    return ids


def inside_of_a_picture(targets: torch.Tensor, rows: LongTensor):
    gain = torch.ones(7)
    cells = (targets[:, 2:4] - 0.5).long()
    cells.clamp_(0, gain[3] - 1)  # TL313`cells.clamp_`
    cells.clamp_(0, targets[0] - 1)
    rows.true_divide_(2)  # TL313`rows.true_divide_`
    return cells, rows


def fits(x: torch.Tensor, n: int):
    best = x.argmax(1)
    best += 1
    best //= 2
    best.add_(n)
    best.clamp_(0, n)
    best.copy_(x[:, 0])
    best.fill_(0.5)
    best.div_(2, rounding_mode="trunc")
    torch.div(best, 2, rounding_mode="floor", out=best)
    best = best.float()
    best /= 3
    best *= 0.5
    count = len(x)
    count /= 2
    total = torch.zeros(1)
    total += (x > 1).sum()
    total /= 5
    try:
        n = torch.arange(3)
        n /= 2
    except RuntimeError:
        n = None
    return best, count, total, n
