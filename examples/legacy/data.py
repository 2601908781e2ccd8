"""Synthetic data: no download, no files."""
import math

import torch
from torch.utils.data import Dataset


class Waves(object):
    """Noisy sine waves of one frequency and many phases, cut into pieces of `bptt` steps."""

    def __init__(self, batch_size, length, bptt, seed=0):
        generator = torch.manual_seed(seed)
        phase = torch.rand(batch_size) * 2 * math.pi
        steps = torch.arange(0, length).float()
        self.bptt = bptt
        self.data = torch.sin(steps.unsqueeze(1) * 0.3 + phase.unsqueeze(0))
        self.data += torch.randn(length, batch_size) * 0.05
        self.seed = generator.initial_seed()

    def __len__(self):
        return (self.data.size(0) - 1) // self.bptt

    def __iter__(self):
        for start in range(0, len(self) * self.bptt, self.bptt):
            source = self.data[start:start + self.bptt]
            target = self.data[start + 1:start + 1 + self.bptt]
            yield source.unsqueeze(2), target.unsqueeze(2)


class Ring(Dataset):
    """Points on a circle."""

    def __init__(self, size, seed=0):
        torch.manual_seed(seed)
        angle = torch.rand(size) * 2 * math.pi
        self.data = torch.stack([torch.cos(angle), torch.sin(angle)], 1) + torch.randn(size, 2) * 0.05

    def __getitem__(self, index):
        return self.data[index], 1.0

    def __len__(self):
        return len(self.data)
