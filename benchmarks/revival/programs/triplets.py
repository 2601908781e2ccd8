"""Digits of one kind are to be nearer to each other than to those of another."""

from pathlib import Path

import torch
from drive import Program


def write_digits() -> None:
    """What the program makes of its download."""
    from torchvision.datasets import MNIST

    folder = Path("../data/processed")
    folder.mkdir(parents=True, exist_ok=True)
    for name, train in (("training", True), ("test", False)):
        digits = MNIST(train=train)
        images, labels = zip(*(digits[index] for index in range(len(digits))), strict=True)
        pixels = [torch.tensor(list(image.tobytes()), dtype=torch.uint8).view(28, 28) for image in images]
        torch.save((torch.stack(pixels), torch.tensor(labels)), folder / f"{name}.pt")
        rows = [f"{i} {(i + 10) % 60} {(i + 3) % 60}" for i in range(60)]
        (folder / f"{name.removesuffix('ing')}_triplets.txt").write_text("\n".join(rows) + "\n")


PROGRAM = Program("train.py", folder="run", arguments="--batch-size 16 --epochs 20", steps=40, prepare=write_digits)
