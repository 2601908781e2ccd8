"""Random numbers in workers of loaders: the same in each epoch, or in each worker; and what is right."""
import random

import numpy as np
import torch
from numpy.random import RandomState
from torch.utils import data
from torch.utils.data import DataLoader

SEED = 42


def constant(worker):
    np.random.seed(SEED)


def numbered(worker_id):
    worker_seed = SEED + worker_id
    np.random.seed(worker_seed)
    random.seed(worker_seed)


def with_torch(worker):
    torch.manual_seed(worker)
    np.random.seed(worker)


def from_torch(worker):
    seed = torch.initial_seed() % 2**32
    np.random.seed(seed)


def from_state(worker):
    np.random.seed(np.random.get_state()[1][0] + worker)


def from_epoch(worker):
    np.random.seed(epoch * 1000 + worker)


def threads(worker):
    torch.set_num_threads(1)


def make(dataset, args, workers):
    a = DataLoader(dataset, 4, shuffle=True, num_workers=4, worker_init_fn=constant)  # TL803`worker_init_fn`
    b = data.DataLoader(dataset, shuffle=True, num_workers=workers, worker_init_fn=numbered)  # TL803`worker_init_fn`
    c = DataLoader(dataset, shuffle=True, num_workers=2, worker_init_fn=with_torch)  # TL803`worker_init_fn`
    d = DataLoader(
        dataset,
        shuffle=True,
        num_workers=2,
        worker_init_fn=lambda i: np.random.seed(args.seed + i),  # TL803`worker_init_fn`
    )
    return a, b, c, d


def make_well(dataset, workers, given):
    a = DataLoader(dataset, shuffle=True, num_workers=2, worker_init_fn=from_torch)
    b = DataLoader(dataset, shuffle=True, num_workers=2, worker_init_fn=from_state)
    c = DataLoader(dataset, shuffle=True, num_workers=2, worker_init_fn=from_epoch)
    d = DataLoader(dataset, shuffle=True, num_workers=2, worker_init_fn=threads)
    e = DataLoader(dataset, shuffle=True, num_workers=2, worker_init_fn=given)
    f = DataLoader(dataset, shuffle=False, num_workers=2, worker_init_fn=constant)
    g = DataLoader(dataset, shuffle=True, num_workers=2, worker_init_fn=constant, persistent_workers=True)
    h = DataLoader(dataset, shuffle=True, num_workers=0, worker_init_fn=constant)  # TL601
    return a, b, c, d, e, f, g, h
