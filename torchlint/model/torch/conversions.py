"""Functions that turn tensors into arrays, and so refuse those that require grad."""

from __future__ import annotations

import functools
from typing import Literal

from torchlint.model.torch.data import conversions

Form = Literal["tensor", "list"]
AXES = "matplotlib.axes.Axes"
SPARSE = "scipy.sparse"
SPARSE_FORMS = ("bsr", "coo", "csc", "csr", "dia", "dok", "lil")
"""What sparse matrices and arrays of SciPy are called by the way they are stored."""
_PATCHES = "matplotlib.patches."
_PYLAB = ("matplotlib.pylab.", "pylab.")
"""Modules that have all of ``matplotlib.pyplot``."""


@functools.cache
def converting() -> frozenset[str]:
    """The last names of all such functions."""
    return frozenset(name.rpartition(".")[2] for name in conversions())


def is_patch(name: str) -> bool:
    """Whether something is a shape that is drawn when it has been put into axes."""
    return f"{_PATCHES}{name.rpartition('.')[2]}" in conversions()


def refuses(name: str, position: int, form: Form) -> bool:
    """Whether a function refuses a tensor that requires grad, or a list of them, as that positional argument."""
    for module in _PYLAB:
        if name.startswith(module):
            name = f"matplotlib.pyplot.{name.removeprefix(module)}"
    places = conversions().get(name, ())
    return position < len(places) and form in places[position]
