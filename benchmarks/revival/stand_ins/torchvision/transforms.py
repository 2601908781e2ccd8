"""Transforms of `PIL` images and tensors."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from typing import Any

import numpy
import torch
from PIL import Image, ImageOps


class Compose:
    def __init__(self, transforms: Sequence[Callable[[Any], Any]]) -> None:
        self.transforms = transforms

    def __call__(self, image: Any) -> Any:
        for transform in self.transforms:
            image = transform(image)
        return image


class ToTensor:
    def __call__(self, image: Any) -> torch.Tensor:
        pixels = numpy.array(image, dtype="float32") / 255
        return torch.from_numpy(numpy.atleast_3d(pixels).transpose(2, 0, 1).copy())


class Normalize:
    def __init__(self, mean: Sequence[float], std: Sequence[float]) -> None:
        self.mean, self.std = torch.tensor(mean).view(-1, 1, 1), torch.tensor(std).view(-1, 1, 1)

    def __call__(self, image: torch.Tensor) -> torch.Tensor:
        count = len(image)  # of one channel only the first number counts, as it did then
        return (image - self.mean[:count]) / self.std[:count]


class Scale:
    def __init__(self, size: int) -> None:
        self.size = size

    def __call__(self, image: Any) -> Any:
        return image.resize((self.size, self.size), Image.Resampling.BILINEAR)


class RandomCrop:
    def __init__(self, size: int, padding: int = 0) -> None:
        self.size, self.padding = size, padding

    def __call__(self, image: Any) -> Any:
        image = ImageOps.expand(image, self.padding)
        left, top = (random.randint(0, length - self.size) for length in image.size)
        return image.crop((left, top, left + self.size, top + self.size))


class RandomHorizontalFlip:
    def __call__(self, image: Any) -> Any:
        return ImageOps.mirror(image) if random.random() < 0.5 else image


Resize = Scale
