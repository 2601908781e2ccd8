"""What exists only for speed, and can be switched off: by tests that compare, and by benchmarks that measure.

With and without each of these layers, findings and fixes are the same. ``TORCHLINT_WITHOUT=triggers,quick-trees``
leaves some out for a run, :func:`without` for a part of one. ``benchmarks/layers.py`` measures what each of them saves;
"saves 2.1 (timm), 1.3 (allennlp)" below means that the processor time without it was 2.1 times that with all of them,
on timm 1.0.31, allennlp 0.5.0 and transformers 5.23.0, on a busy machine. One that saves less than 1.2 times on all of
transformers is not worth its code.
"""

from __future__ import annotations

import contextlib
import enum
import os
from collections.abc import Iterator


class Layer(str, enum.Enum):
    """One of them."""

    TRIGGERS = "triggers"
    """Only rules that could find something look at a file (:mod:`torchlint.file.triggers`).
    Saves more than 4 (transformers), 2.1 (timm), 1.3 (allennlp)."""
    QUICK_TREES = "quick-trees"
    """A first look at a file, and what others define, need no libcst (:mod:`torchlint.file.tree.fast.quick`).
    Saves 1.3 (transformers), 1.6 (timm), 1.04 (allennlp)."""
    LONG_MODULES = "long-modules"
    """Long modules are parsed some statements at a time (:mod:`torchlint.file.tree.fast.long_modules`). That is for
    memory: a file of 500,000 short statements (2 MB) takes 1.8 GB at its peak, and 4.4 GB without."""
    LONG_LISTS = "long-lists"
    """Long lists are parsed in pieces (:mod:`torchlint.file.tree.fast.long_lists`). That is for memory: the tree of a
    list of 20,000 calls (0.9 MB) takes 139 MB at its peak, and 676 MB without; a file may have 5 MB."""


VARIABLE = "TORCHLINT_WITHOUT"
"""The environment variable that leaves layers out: their names, with commas between."""


def unknown() -> list[str]:
    """What the variable names that is no layer."""
    return [name for name in _named() if name not in {layer.value for layer in Layer}]


def _named() -> list[str]:
    return [name.strip() for name in os.environ.get(VARIABLE, "").split(",") if name.strip()]


_off = {layer for layer in Layer if layer.value in _named()}


def is_on(layer: Layer) -> bool:
    """Whether a layer is used."""
    return layer not in _off


@contextlib.contextmanager
def without(*layers: Layer) -> Iterator[None]:
    """Leave layers out, in this process; what was found out before may be kept somewhere."""
    left_out = set(layers) - _off
    _off.update(left_out)
    try:
        yield
    finally:
        _off.difference_update(left_out)
