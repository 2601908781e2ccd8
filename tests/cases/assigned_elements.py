"""What data is assigned to elements of a tensor says that its owner is a tensor, as `copy_` does."""

import copy

import torch
from torch import Tensor


class Client:
    def __init__(self):
        self.prototypes = None

    def take(self, prototypes):
        self.prototypes = copy.deepcopy(prototypes)

    def step(self, features: Tensor, labels):
        wanted = features.detach().clone()
        for i, label in enumerate(labels):
            wanted[i, :] = self.prototypes[label.item()].data  # TL101`data`
        return wanted


def fill(wanted: Tensor, rows):
    for i, row in enumerate(rows):
        wanted[i] = row.data  # TL101`data`


def fill_from_results(wanted: Tensor, results, batch, array):
    wanted[0] = results.data
    wanted[1] = batch.data
    wanted[2] = results.boxes.data


def fill_unknown(wanted, rows):
    for i, row in enumerate(rows):
        wanted[i] = row.data


def fill_list(rows):
    wanted = [torch.zeros(1)]
    wanted[0] = rows.data
    return wanted
