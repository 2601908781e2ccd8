"""The little of torchvision that old training programs ask for, with made-up images instead of downloads."""

from . import datasets, models, transforms, utils

__all__ = ["datasets", "models", "transforms", "utils"]
