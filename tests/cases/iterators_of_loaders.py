"""Iterators of loaders, which have no `next` any more, wherever they are kept; and others that have one."""
import torch
from torch.utils.data import DataLoader


def in_lists(data, more):
    several = [iter(DataLoader(each, num_workers=1)) for each in data]
    loaders = [DataLoader(each, num_workers=1) for each in more]
    others = [iter(loader) for loader in loaders]
    named = {"train": iter(loaders[0])}
    return several[0].next(), others[1].next(), named["train"].next()  # TL301`next` TL301`next` TL301`next`


class Kept:
    def __init__(self, data):
        self.batches = iter(DataLoader(data, num_workers=1))
        self.all = [iter(DataLoader(data, num_workers=1))]
        self.cursors = [Cursor()]

    def step(self):
        return self.batches.next(), self.all[0].next(), self.cursors[0].next()  # TL301`next` TL301`next`


class Cursor:
    def next(self):
        return 1


def unknown(items, kept):
    cursors = [iter(items)]
    mixed = [iter(items), kept]
    return cursors[0].next(), mixed[1].next(), kept[0].next()


def together(data):
    first, second = iter(DataLoader(data, num_workers=1)), iter(DataLoader(data, num_workers=1))
    return first.next(), second.next()  # TL301`next` TL301`next`
