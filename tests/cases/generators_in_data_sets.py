"""Generators that data sets keep; those of which each worker draws the same."""
import random
from random import Random

import numpy as np
import torch
from numpy.random import RandomState
from torchvision.datasets import ImageFolder
from torch.utils.data import Dataset, Sampler


class Cropped(Dataset):
    def __init__(self, images, seed=0):
        self.images = images
        self.rng = np.random.default_rng(seed)
        self.old = RandomState(seed)
        self.python = Random(seed)
        self.order = self.rng.permutation(len(images))

    def __len__(self):
        return len(self.images)

    def __getitem__(self, index):
        image = self.crop(self.images[self.order[index]])
        if self.python.random() < 0.5:  # TL804`self.python.random`
            image = image.flip(-1)
        return image + self.old.normal()  # TL804`self.old.normal`

    def crop(self, image):
        top = self.rng.integers(0, 8)  # TL804`self.rng.integers`
        return image[:, top:]

    def reshuffle(self):
        self.rng.shuffle(self.order)


class OfIndex(Dataset):
    def __init__(self):
        self.rng = None
        self.torch = torch.Generator()

    def __getitem__(self, index):
        self.rng = np.random.default_rng(index)
        rng = random.Random(index)
        return self.rng.normal() + rng.random()


class Given(Dataset):
    def __init__(self, rng):
        self.rng = rng

    def __getitem__(self, index):
        return self.rng.normal()


class Order(Sampler):
    def __init__(self):
        self.rng = np.random.default_rng(0)

    def __iter__(self):
        return iter(self.rng.permutation(4))

    def __getitem__(self, index):
        return self.rng.normal()


class Table:
    def __init__(self):
        self.rng = np.random.default_rng(0)

    def __getitem__(self, index):
        return self.rng.normal()


class Pictures(ImageFolder):
    def __init__(self, root):
        super().__init__(root)
        self.generator = np.random.default_rng(3)

    def __getitem__(self, index):
        picture, label = super().__getitem__(index)
        return picture, label, self.generator.choice(10)  # TL804`self.generator.choice`
