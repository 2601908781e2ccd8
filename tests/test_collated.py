"""What a data set of another file yields, as it comes out of a loader: arrays and numbers are tensors then."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Write = Callable[[dict[str, str]], Any]
Torchlint = Callable[..., Any]

DATA = """\
import numpy as np
from skimage import io
from torch.utils.data import Dataset


class Images(Dataset):
    def __init__(self, names, transform=None):
        self.names, self.transform = names, transform

    def __getitem__(self, i):
        image = {}
        sample = {{"image": image, "label": np.zeros(image.shape[:2])}}
        if self.transform:
            sample = self.transform(sample)
        return sample
"""
TRAIN = """\
import torch
from data import Images
from torch.autograd import Variable
from torch.utils.data import DataLoader, Dataset

for data in DataLoader(Images(["a"]), batch_size=2):
    inputs, labels = data["image"], data["label"]
    inputs = inputs.type(torch.FloatTensor)
    x, y = Variable(inputs.cuda(), requires_grad=False), Variable(labels.cuda(), requires_grad=False)
    print(x, y)
"""
SINGLE = TRAIN.replace('DataLoader(Images(["a"]), batch_size=2)', 'Images(["a"])')


def fixed(image: str, train: str, write: Write, torchlint: Torchlint) -> str:
    write({"pyproject.toml": "", "data.py": DATA.format(image), "train.py": train})
    torchlint("check", "--isolated", "--no-cache", "--select=TL201", "--fix", "train.py")
    return Path("train.py").read_text(encoding="utf-8")


@pytest.mark.parametrize("image", ["np.zeros((3, 2))", "io.imread(self.names[i])", "io.imread(self.names[i])[:, :, 0]"])
def test_arrays_are_tensors_in_a_batch(image: str, write: Write, torchlint: Torchlint) -> None:
    after = fixed(image, TRAIN, write, torchlint)
    assert "    x, y = inputs.cuda(), labels.cuda()\n" in after
    assert "import Variable" not in after


def test_a_sample_is_as_it_was_read(write: Write, torchlint: Torchlint) -> None:
    assert "Variable(inputs.cuda(), requires_grad=False)" in fixed("np.zeros((3, 2))", SINGLE, write, torchlint)


EITHER = """\
import torch
from torch.utils.data import Dataset


class Images(Dataset):
    def __init__(self, names, read, paths=False):
        self.names, self.read, self.paths = names, read, paths
        self.scale = torch.nn.Parameter(torch.ones(3))

    def __getitem__(self, i):
        image = self.read(self.names[i])
        if self.paths:
            return {}, self.names[i]
        return image
"""
ZIPPED = """\
import torch
from data import Images
from torch.autograd import Variable
from torch.utils.data import DataLoader

loader = DataLoader(Images(["a"], open), batch_size=2)
for i, ((image, path), other) in enumerate(zip(loader, [1])):
    x = Variable(image.cuda())
    print(x)
for image in loader:
    y = Variable(image)
    print(y)
"""


@pytest.mark.parametrize(("image", "is_new"), [("image", True), ("self.scale * 2", False)])
def test_a_sample_is_a_tuple_or_something_unknown(image: str, is_new: bool, write: Write, torchlint: Torchlint) -> None:
    write({"pyproject.toml": "", "data.py": EITHER.format(image), "train.py": ZIPPED})
    torchlint("check", "--isolated", "--no-cache", "--select=TL201", "--fix", "train.py")
    after = Path("train.py").read_text(encoding="utf-8")
    assert ("    x = image.cuda()\n" in after, "    y = image\n" in after) == (is_new, is_new)


MISSING = """\
import torch
from torch.autograd import Variable
from torch.utils.data import DataLoader, Dataset


class Images(Dataset):
    def __init__(self, names, read):
        self.names, self.read = names, read

    def __getitem__(self, i):
        if self.names[i] is None:
            return None
        return self.read(self.names[i]), 3


for image, label in DataLoader(Images(["a"], open)):
    x, y = Variable(image.cuda()), Variable(label.cuda())
    print(x, y)
"""


def test_no_batch_is_made_of_none(write: Write, torchlint: Torchlint) -> None:
    write({"pyproject.toml": "", "train.py": MISSING})
    torchlint("check", "--isolated", "--no-cache", "--select=TL201", "--fix", "train.py")
    assert "    x, y = image.cuda(), label.cuda()\n" in Path("train.py").read_text(encoding="utf-8")
