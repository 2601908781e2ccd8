"""`parameters()` of a class of the project, which may be gone through as often as one likes."""
import torch.nn as nn
from torch.nn.utils import clip_grad_norm_
from torch.optim import SGD


class Own(nn.Module):
    def parameters(self, recurse=True):
        return list(super().parameters())


def train(own: Own, agent):
    params = own.parameters()
    clip_grad_norm_(params, 1.0)
    given = agent.parameters()
    clip_grad_norm_(given, 1.0)
    return SGD(params, lr=0.1), SGD(given, lr=0.1)
