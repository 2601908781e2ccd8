"""Images that can be told apart: each class has a bright patch of its own."""

from __future__ import annotations

from typing import Any

import numpy
import torch
from PIL import Image

COUNT = 64


class Patches(torch.utils.data.Dataset):
    """`COUNT` images of ten classes, as `PIL` images like those torchvision yields."""

    size, mode = 32, "RGB"

    def __init__(self, root: str = "", train: bool = True, transform: Any = None, **_: Any) -> None:
        self.transform, self.seed = transform, 0 if train else 1

    def __len__(self) -> int:
        return COUNT

    def __getitem__(self, index: int) -> tuple[Any, int]:
        random, label = numpy.random.RandomState(1000 * self.seed + index), index % 10
        pixels = random.randint(0, 60, (self.size, self.size, 3))
        side = self.size // 4
        top, left = side * (label // 4), side * (label % 4)
        pixels[top : top + side, left : left + side] += 190
        image = Image.fromarray(pixels.astype("uint8")).convert(self.mode)
        return (self.transform(image) if self.transform else image), label


class CIFAR10(Patches):
    pass


class MNIST(Patches):
    size, mode = 28, "L"


class FakeData(Patches):
    def __init__(self, image_size: tuple[int, ...] = (3, 64, 64), transform: Any = None, **_: Any) -> None:
        super().__init__(transform=transform)
        self.size = image_size[-1]
