"""Segmentation of images with one bright disc."""

from pathlib import Path

import numpy
from drive import Program
from PIL import Image


def write_images() -> None:
    """Images of twice the size that is trained on, with masks."""
    for folder in ("data/train", "data/train_masks", "checkpoints"):
        Path(folder).mkdir(parents=True, exist_ok=True)
    random = numpy.random.RandomState(0)
    rows, columns = numpy.mgrid[:64, :96]
    for index in range(24):
        centre = random.randint(15, 45), random.randint(20, 70)
        disc = (rows - centre[0]) ** 2 + (columns - centre[1]) ** 2 < 14**2
        image = random.randint(0, 60, (64, 96, 3)) + 180 * disc[..., None]
        Image.fromarray(image.astype("uint8")).save(f"data/train/{index}.jpg")
        Image.fromarray(disc.astype("uint8"), mode="L").save(f"data/train_masks/{index}_mask.gif")


PROGRAM = Program("train.py", arguments="-e 3 -b 4 -l 0.02", steps=18, prepare=write_images)
