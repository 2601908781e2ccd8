"""Loaders that restart in each iteration of a loop; and those that may."""
import torch
from torch.utils import data
from torch.utils.data import DataLoader


def train(dataset, model):
    loader = DataLoader(dataset, 4, num_workers=2)
    shuffled = data.DataLoader(dataset, batch_size=4, shuffle=True, num_workers=2)
    for step in range(100):
        x, y = next(iter(loader))  # TL605`next`
        if step % 10 == 0:
            batch = next(iter(shuffled))  # TL605`next`
    while True:
        x = next(iter(loader), None)  # TL605`next`
        if x is None:
            break
    for epoch in range(3):
        inner = DataLoader(dataset, 4, num_workers=2)
        for _ in range(10):
            next(iter(inner))[0]  # TL605`next`


def given(loader: DataLoader, loaders: list[DataLoader], items):
    first = next(iter(loader))
    batches = iter(loader)
    for _ in range(3):
        batch = next(batches)
        key = next(iter({"a": 1}))
        item = next(iter(items))
    for loader in loaders:
        x = next(iter(loader))
    for name in ("train", "test"):
        loader = DataLoader(items[name], num_workers=2)
        x = next(iter(loader))
    for _ in range(3):
        x = next(iter(loader))  # TL605`next`
        print(x)
    for _ in range(3):
        x = next(iter(loader))
        break

    def draw():
        return next(iter(loader))

    several = [next(iter(loader)) for _ in range(3)]  # TL605`next`
    of_each = {name: next(iter(loader)) for name, loader in zip(items, loaders)}
    once = [x for x in next(iter(loader))]
    late = [lambda: next(iter(loader)) for _ in range(3)]
    return [draw() for _ in range(3)], several, of_each, once, late


class Trainer:
    def __init__(self, dataset):
        self.loader = DataLoader(dataset, 4, num_workers=2)

    def fit(self):
        for _ in range(10):
            x = next(iter(self.loader))  # TL605`next`
            self.seen = x
        for dataset in (1, 2):
            self.now = DataLoader(dataset, num_workers=2)
            x = next(iter(self.now))
