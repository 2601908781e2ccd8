"""Objects of the project's own that have methods of tensors, and tensors whose methods are the project's own: silence."""

from __future__ import annotations

from pathlib import Path

import pytest
from conftest import Torchlint

OWN = """\
import torch
from types import MethodType


def as_list(x: torch.Tensor) -> list:
    return x.data.tolist()


def given(x: torch.Tensor) -> torch.Tensor:
    x.tolist = MethodType(as_list, x)
    return x
"""
OF_A_CLASS = """\
import torch


class Lazy(torch.Tensor):
    def tolist(self) -> list:
        return self.made().tolist()


def as_list(x: torch.Tensor) -> list:
    return x.detach().tolist() + x.data.tolist()
"""
COLLECTION = """\
class Collection:
    def roll(self, n):
        return self

    def rename_(self, *names):
        return self

    def values(self):
        return self.parts.values()

    @property
    def names(self):
        return self._names

    def sum(self, dim):
        return self
"""
OF_COLLECTIONS = """\
import torch
from kept import Collection


def rolled(td, names):
    td = td.roll(1)
    td.rename_(*names)
    return td.names


def total(td: torch.Tensor | Collection):
    return sum(td.sum("feature").values())
"""
DISTRIBUTION = """\
from torch import distributions as D


class Composite(D.Distribution):
    def log_prob(self, sample) -> dict:
        return {key: value for key, value in sample.items()}
"""
OF_DISTRIBUTIONS = """\
from kept import Composite
from torch import distributions as D


class Policy:
    def made(self) -> D.Distribution: ...

    def log_prob(self, x, dist: D.Distribution | None = None):
        if dist is None:
            dist = self.made()
        if isinstance(dist, Composite):
            return sum(dist.log_prob(x))
        return dist.log_prob(x)
"""

PROJECTS = {
    "a method that an object is given": {"x.py": OWN},
    "a method of a class of tensors": {"x.py": OF_A_CLASS},
    "methods of a class of another file": {"kept.py": COLLECTION, "x.py": OF_COLLECTIONS},
    "a method of a subclass, seen by isinstance": {"kept.py": DISTRIBUTION, "x.py": OF_DISTRIBUTIONS},
}


@pytest.mark.parametrize("files", PROJECTS.values(), ids=PROJECTS)
def test_silence(files: dict[str, str], torchlint: Torchlint, tmp_path: Path) -> None:
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    assert torchlint("check", ".", "--select", "TL106,TL301,TL606", "--no-cache", "-q").out == ""
