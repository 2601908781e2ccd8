"""Write ``torchlint/model/torch/data/registering.json``: what containers of modules have, and which views overlap.

``python scripts/generate_registering.py`` rewrites the file, ``--check`` only says whether it is up to date.

``attributes``
    For each container of ``torch.nn`` the names that an empty one has and not every object: what a list or dict has
    beyond these is lost where a container takes its place, and no child of a dict can be called like one of them.
``overlapping``
    Methods of tensors that were seen to give several elements one place in memory, so that no parameter can be made of
    what they give: an optimizer's step in place is refused.
"""

from __future__ import annotations

import contextlib
import json
import sys
import warnings
from collections.abc import Iterator
from typing import Any

import torch
from torch import nn
from torch_facts.generated import DATA, write_or_compare

from torchlint.model.torch import library
from torchlint.model.torch.data import data

OUTPUT = DATA / "registering.json"
CONTAINERS = (nn.ModuleList, nn.ModuleDict, nn.ParameterList, nn.ParameterDict)
TRIED = ((2, 3), (2, 1, 3), ((2, 3),), (torch.empty(2, 3),), (torch.empty(2, 1, 3),), (0, 2, 1), ((2, 2), (1, 1)), ())
"""Arguments that methods are tried with."""


def made() -> Iterator[torch.Tensor]:
    """Tensors whose elements have places of their own."""
    yield torch.arange(3.0)
    yield torch.arange(3.0)[None]
    yield torch.arange(6.0).view(2, 3)


def is_overlapping(tensor: torch.Tensor) -> bool:
    """Whether some elements of a tensor share their place."""
    places = torch.arange(int(tensor.storage_offset()) + tensor.untyped_storage().nbytes())
    seen = places.as_strided(tensor.size(), tensor.stride(), tensor.storage_offset()).flatten().tolist()
    return len(set(seen)) < len(seen)


def overlaps(name: str) -> bool:
    """Whether a method of tensors was seen to make a tensor that overlaps with itself."""
    for tensor in made():
        for arguments in TRIED:
            with contextlib.suppress(Exception):
                given = getattr(tensor, name)(*arguments)
                if isinstance(given, torch.Tensor) and is_overlapping(given):
                    return True
    return False


def generate() -> dict[str, Any]:
    """All of it."""
    names = {f"torch.nn.{cls.__name__}": sorted({*dir(cls())} - {*dir(object)}) for cls in CONTAINERS}
    views = sorted(name for name in data().methods if library.is_view(name))
    return {"attributes": names, "overlapping": [name for name in views if overlaps(name)]}


def render() -> str:
    """The text of the file."""
    warnings.simplefilter("ignore")
    return json.dumps(generate(), indent=0) + "\n"


if __name__ == "__main__":
    sys.exit(write_or_compare(OUTPUT, render, __doc__ or ""))
