"""Logarithms of what exponentials have computed; and of other things."""
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch import log as ln
from torch.nn.functional import softmax


class Head(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(3, 3)
        self.softmax = nn.Softmax(dim=-1)
        self.sigmoid = nn.Sigmoid()

    def forward(self, x, labels, eps=1e-8):
        logits = self.fc(x)
        a = torch.log(self.softmax(logits))  # TL802`torch.log`
        b = self.sigmoid(logits).log()  # TL802`log()`
        p = torch.sigmoid(logits)
        loss = -(labels * torch.log(p + eps) + (1 - labels) * torch.log(1 - p + eps))  # TL802 TL802
        c = ln(softmax(logits, dim=1))  # TL802`ln`
        d = nn.Softmax(dim=1)(logits)[:, 0].log()  # TL802`log()`
        e = logits.sigmoid().log()  # TL802`log()`
        f = torch.log(1.0 - F.sigmoid(logits))  # TL309`F.sigmoid` TL802`torch.log`
        return a, b, loss, c, d, e, f

    def right(self, x):
        p = F.softmax(self.fc(x), dim=1)
        q = torch.sigmoid(x)
        g = torch.log(p.mean(0)) + torch.log(q.clamp_min(1e-6)) + torch.log(q / 2) + torch.log1p(x)
        one = torch.log(1 + q) + torch.log(q + 1.0)  # TL801 TL801
        h = torch.log(x) + F.log_softmax(x, 1) + F.logsigmoid(x) + torch.log(1 - p)
        if x.ndim:
            p = x
        return g, h, one, torch.log(0x2 - q), torch.log(p)


class Logger:
    def log(self, value):
        return value


def report(logger, x: torch.Tensor):
    logger.log(torch.softmax(x, 1))
    Logger().log(torch.softmax(x, 1))
