"""Detection: a VGG network with many heads, on images with one bright box."""

from pathlib import Path

import cv2
import numpy
import torch
from drive import Program

XML = """<annotation><object><name>{name}</name><difficult>0</difficult><bndbox><xmin>{box[0]}</xmin>
<ymin>{box[1]}</ymin><xmax>{box[2]}</xmax><ymax>{box[3]}</ymax></bndbox></object></annotation>"""
LAYERS = [3, 64, 64, 0, 128, 128, 0, 256, 256, 256, 0, 512, 512, 512, 0, 512, 512, 512, 0]


def write_images() -> None:
    """Two years of two images, laid out as the challenge did, and weights to start from."""
    random = numpy.random.RandomState(0)
    for year in ("VOC2007", "VOC2012"):
        for part in ("Annotations", "JPEGImages", "ImageSets/Main"):
            Path("made", year, part).mkdir(parents=True, exist_ok=True)
        for index in range(4):
            image, left, top = random.randint(0, 40, (120, 140, 3)), *random.randint(10, 60, 2)
            box = (left, top, left + 50, top + 45)
            image[box[1] : box[3], box[0] : box[2]] += 200
            cv2.imwrite(f"made/{year}/JPEGImages/{index}.jpg", image.astype("uint8"))
            Path(f"made/{year}/Annotations/{index}.xml").write_text(XML.format(name="car", box=box))
        Path(f"made/{year}/ImageSets/Main/trainval.txt").write_text("\n".join("0123") + "\n")
    Path("weights").mkdir(exist_ok=True)
    torch.save(vgg_weights(), "weights/vgg16_reducedfc.pth")


def vgg_weights() -> dict[str, torch.Tensor]:
    """Random weights of the base network, scaled so that signals keep their size."""
    state, place, last = {}, 0, 3
    for size in [*LAYERS[1:-1], -1, 1024, 1024]:
        if size <= 0:
            place += 1
            continue
        kernel = 1 if last == 1024 else 3
        state[f"{place}.weight"] = torch.randn(size, last, kernel, kernel) * (2 / (last * kernel**2)) ** 0.5
        state[f"{place}.bias"] = torch.zeros(size)
        place, last = place + 2, size
    state["0.weight"] /= 100  # pixels go up to 255
    return state


PROGRAM = Program(
    "train.py",
    arguments="--cuda False --batch_size 2 --num_workers 0 --voc_root made --lr 0.0005",
    steps=16,
    prepare=write_images,
)
