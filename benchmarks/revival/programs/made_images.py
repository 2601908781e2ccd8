"""More of the made-up images, for programs with large batches."""

from __future__ import annotations


def hundreds() -> None:
    """As many as several batches of a hundred take."""
    from torchvision import datasets

    datasets.COUNT = 700
