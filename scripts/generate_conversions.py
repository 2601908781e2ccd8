"""Write ``torchlint/model/torch/data/conversions.json``: what of NumPy and matplotlib refuses a tensor with a graph.

``python scripts/generate_conversions.py`` rewrites the file, ``--check`` only says whether it is up to date. Everything
in it was seen: each function is called with tensors that require grad in each place where an array can be, and is
listed with the place and the form if it raises what ``Tensor.numpy()`` raises, and not if all is well with the same
tensors detached. By qualified name (methods of axes under ``matplotlib.axes.Axes``), one entry a position:

``tensor``
    One tensor, of none, of one and of two dimensions, raises.
``list``
    A list of tensors, of none and of one dimension, or of the two numbers of a point, raises.

What is converted only when it is drawn is drawn.

Operators stand under the methods of tensors that are given an array: ``__rtruediv__`` for ``array / tensor``. Those of
sparse matrices stand under ``scipy.sparse`` if no class of them takes such a tensor behind it. NumPy, matplotlib and
SciPy must be installed to write the file; without SciPy its rows are taken over.
"""

from __future__ import annotations

import contextlib
import importlib
import importlib.util
import io
import itertools
import json
import operator
import sys
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import matplotlib as mpl
import numpy as np
import torch

mpl.use("Agg")

from matplotlib import pyplot as plt
from torch_facts.generated import DATA, write_or_compare

from torchlint.model.torch.conversions import AXES, SPARSE, SPARSE_FORMS

OUTPUT = DATA / "conversions.json"
REFUSAL = "Can't call numpy() on Tensor that requires grad"
MORE: tuple[tuple[Any, ...], ...] = ((), (2,), (np.ones(3),), (np.ones((3, 3)),), ([3],), (1, 0))
"""What is given behind what is tried."""
PLACES = 2
NUMPY = """
    abs absolute acos acosh add all allclose amax amin any append arccos arccosh arcsin arcsinh arctan arctan2
    arctanh argmax argmin argpartition argsort argwhere around array array_equal array_equiv array_repr array_str
    asanyarray asarray asarray_chkfinite ascontiguousarray asfortranarray asin asinh asmatrix atan atan2 atanh
    atleast_1d atleast_2d atleast_3d average bincount broadcast_arrays broadcast_to cbrt ceil clip column_stack
    compress concat concatenate convolve copy copysign corrcoef correlate cos cosh count_nonzero cov cross cumprod
    cumsum cumulative_sum deg2rad degrees delete diag diagflat diagonal diff digitize divide divmod dot dsplit dstack
    ediff1d einsum empty_like equal exp exp2 expand_dims expm1 fabs fft.fft fft.fft2 fft.fftn fft.fftshift fft.ifft
    fft.ifft2 fft.ifftshift fft.irfft fft.rfft fix flatnonzero flip fliplr flipud float32 float64 float_power floor
    floor_divide fmax fmin fmod frexp full_like geomspace gradient greater greater_equal heaviside histogram
    histogram2d histogram_bin_edges hsplit hstack hypot imag inner insert interp intersect1d isclose isfinite isin
    isinf isnan isneginf isposinf isreal kron less less_equal lexsort linalg.cond linalg.det linalg.eig linalg.eigh
    linalg.eigvals linalg.eigvalsh linalg.inv linalg.lstsq linalg.matrix_norm linalg.matrix_power linalg.matrix_rank
    linalg.multi_dot linalg.norm linalg.pinv linalg.qr linalg.slogdet linalg.solve linalg.svd linalg.vector_norm
    linspace log log10 log1p log2 logaddexp logaddexp2 logical_and logical_not logical_or logspace matmul
    matrix_transpose max maximum mean median meshgrid min minimum mod modf moveaxis multiply nan_to_num nanargmax
    nanargmin nancumprod nancumsum nanmax nanmean nanmedian nanmin nanpercentile nanprod nanquantile nanstd nansum
    nanvar ndim negative nonzero norm not_equal ones_like outer pad partition percentile permute_dims piecewise poly
    polyadd polyder polyfit polyint polymul polysub polyval positive pow power prod ptp putmask quantile rad2deg
    radians ravel real reciprocal remainder repeat reshape resize rint roll roots rot90 round save savetxt savez
    savez_compressed searchsorted select setdiff1d setxor1d shape sign signbit sin sinc sinh sort sort_complex split
    sqrt square squeeze stack std subtract sum swapaxes take tan tanh tensordot tile trace transpose trapezoid tril
    trim_zeros triu true_divide trunc union1d unique unwrap vander var vdot vecdot vsplit vstack where zeros_like
"""
"""Functions of NumPy that take an array."""
PLOTTING = """
    bar barh boxplot eventplot fill hist hist2d imshow matshow pie plot semilogx semilogy loglog stackplot stem step
    violinplot
"""
"""Functions of ``matplotlib.pyplot`` that take an array; axes have methods of these names."""
_ROW, _GRID, _POINT = np.arange(1.0, 4.0), np.arange(1.0, 10.0).reshape(3, 3), (0.1, 0.2)
DRAWING: dict[str, tuple[Any, ...]] = {
    "annotate": ("a", _POINT, _POINT),
    "arrow": (0.1, 0.2, 0.3, 0.4),
    "axhline": (0.1,),
    "axhspan": (0.1, 0.2),
    "axis": ([0.1, 0.2, 0.3, 0.4],),
    "axline": (_POINT, (0.3, 0.4)),
    "axvline": (0.1,),
    "axvspan": (0.1, 0.2),
    "contour": (_GRID, _GRID, _GRID),
    "contourf": (_GRID, _GRID, _GRID),
    "errorbar": (_ROW, _ROW, _ROW),
    "fill_between": (_ROW, _ROW, _ROW),
    "fill_betweenx": (_ROW, _ROW, _ROW),
    "hexbin": (_ROW, _ROW, _ROW),
    "hlines": (0.1, 0.2, 0.3),
    "pcolor": (_GRID, _GRID, _GRID),
    "pcolormesh": (_GRID, _GRID, _GRID),
    "quiver": (_ROW, _ROW, _ROW, _ROW),
    "scatter": (_ROW, _ROW, _ROW, _ROW),
    "set_xlim": (0.1, 0.2),
    "set_xticks": (_ROW,),
    "set_ylim": (0.1, 0.2),
    "set_yticks": (_ROW,),
    "text": (0.1, 0.2, "a"),
    "vlines": (0.1, 0.2, 0.3),
    "xlim": (0.1, 0.2),
    "xticks": (_ROW,),
    "ylim": (0.1, 0.2),
    "yticks": (_ROW,),
}
"""Functions of ``matplotlib.pyplot`` and methods of axes, with arguments that work: what is tried replaces one."""
PATCHES: dict[str, tuple[Any, ...]] = {
    "Arc": (_POINT, 0.3, 0.4),
    "Arrow": (0.1, 0.2, 0.3, 0.4),
    "Circle": (_POINT, 0.3),
    "Ellipse": (_POINT, 0.3, 0.4),
    "FancyArrow": (0.1, 0.2, 0.3, 0.4),
    "FancyBboxPatch": (_POINT, 0.3, 0.4),
    "Polygon": ([_POINT, (0.3, 0.4), (0.5, 0.6)],),
    "Rectangle": (_POINT, 0.3, 0.4),
    "Wedge": (_POINT, 0.3, 0.4, 0.5),
}
"""Classes of ``matplotlib.patches``, some of which ``matplotlib.pyplot`` has, too, by such a call."""
DRAWN = ("annotate", "text")
"""What converts its arguments only when it is drawn."""


OPERATORS = "add floordiv matmul mod mul pow sub truediv"


def generate() -> dict[str, list[list[str]]]:
    """The table."""
    found = {}
    for name, function in functions():
        if rows := rows_of(name, function):
            found[name] = rows
    found |= {name: [["tensor"]] for name in (*operators(), *sparse_operators())}
    return dict(sorted(found.items()))


def rows_of(name: str, function: Callable[..., Any]) -> list[list[str]]:
    """The forms that a function refuses, place by place."""
    last = name.rpartition(".")[2]
    works = (DRAWING | PATCHES).get(last) if name.startswith("matplotlib.") else None
    places = PLACES if works is None else len(works)
    rows = [[form for form in ("tensor", "list") if refuses(function, place, form, works)] for place in range(places)]
    while rows and not rows[-1]:
        rows.pop()
    return rows


def sparse_operators() -> Iterator[str]:
    """The operators that sparse matrices refuse a tensor behind; those in the file if there is no SciPy."""
    if importlib.util.find_spec("scipy") is None:
        yield from (name for name in json.loads(OUTPUT.read_text(encoding="utf-8")) if name.startswith(SPARSE))
        return
    sparse = importlib.import_module("scipy.sparse")
    classes = [getattr(sparse, f"{form}_{kind}") for form in SPARSE_FORMS for kind in ("array", "matrix")]
    for name in OPERATORS.split():
        if all(_sparse_refuses(getattr(operator, name), made(np.eye(3))) for made in classes):
            yield f"{SPARSE}.__{name}__"


def _sparse_refuses(function: Callable[..., Any], matrix: Any) -> bool:
    """Whether an operator refuses what requires grad behind a sparse matrix, and takes the same without."""
    for value in values("tensor"):
        if _called(function, (matrix, value.detach())) is not None:
            return False
        if REFUSAL not in (_called(function, (matrix, value)) or ""):
            return False
    return True


def operators() -> Iterator[str]:
    """The operators of tensors that refuse an array."""
    for name, side in itertools.product(OPERATORS.split(), range(PLACES)):
        if _operator_refuses(getattr(operator, name), side):
            yield f"torch.Tensor.__{'r' * side}{name}__"


def _operator_refuses(function: Callable[..., Any], side: int) -> bool:
    """Whether an operator refuses what requires grad on one side of an array, and takes the same without."""
    array = np.ones((3, 3))
    value = values("tensor")[1]
    if _called(function, _sides(value.detach(), array, side)) is not None:
        return False
    return REFUSAL in (_called(function, _sides(value, array, side)) or "")


def _sides(value: Any, array: Any, side: int) -> tuple[Any, Any]:
    return (array, value) if side else (value, array)


def functions() -> Iterator[tuple[str, Callable[..., Any]]]:
    """All functions that are tried, by qualified name."""
    for name in NUMPY.split():
        module, _, last = f"numpy.{name}".rpartition(".")
        if hasattr(importlib.import_module(module), last):
            yield f"numpy.{name}", getattr(importlib.import_module(module), last)
    for name in (*PLOTTING.split(), *DRAWING):
        if hasattr(plt, name):
            yield f"matplotlib.pyplot.{name}", _drawn(getattr(plt, name)) if name in DRAWN else getattr(plt, name)
        if hasattr(mpl.axes.Axes, name):
            yield f"{AXES}.{name}", _drawn(_of_axes(name)) if name in DRAWN else _of_axes(name)
    for name, module in itertools.product(PATCHES, (mpl.patches, plt)):
        if hasattr(module, name):
            yield f"{module.__name__}.{name}", _added(getattr(module, name))


def _of_axes(name: str) -> Callable[..., Any]:
    def call(*args: Any) -> Any:
        return getattr(plt.gca(), name)(*args)

    return call


def _added(made: Callable[..., Any]) -> Callable[..., Any]:
    def call(*args: Any) -> Any:
        return plt.gca().add_patch(made(*args))

    return call


def _drawn(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function after which all is drawn, on a figure of its own: what is refused would stay in one for all."""

    def call(*args: Any) -> None:
        figure = plt.figure(figsize=(1, 1))
        try:
            function(*args)
            figure.canvas.draw()
        finally:
            plt.close(figure)

    return call


def refuses(function: Callable[..., Any], place: int, form: str, works: tuple[Any, ...] | None = None) -> bool:
    """Whether a function refuses what requires grad, in whatever shape it takes the same without."""
    around = _around(place) if works is None else [(works[:place], works[place + 1 :])]
    judged = [verdict for value in values(form) if (verdict := _judge(function, value, around)) is not None]
    plt.close("all")  # all calls drew into one figure: to make one takes as long as all of them
    return bool(judged) and all(judged)


def values(form: str) -> list[Any]:
    """What is tried."""
    leaf = (torch.arange(9.0).view(3, 3) / 10 + 0.1).requires_grad_()
    if form == "tensor":
        return [leaf[0, 0] * 1, leaf[0] * 1, leaf * 1]
    numbers = [leaf[0, 0] * 1, leaf[0, 1] * 1, leaf[0, 2] * 1]
    return [numbers, numbers[:2], [leaf[0] * 1, leaf[1] * 1, leaf[2] * 1]]


Around = tuple[tuple[Any, ...], tuple[Any, ...]]
"""What is given before and behind what is tried."""


def _around(place: int) -> list[Around]:
    fronts: tuple[tuple[Any, ...], ...] = ((np.arange(3.0),), (np.ones((3, 3)),), (2,), (io.BytesIO(),))
    return list(itertools.product(fronts if place else ((),), MORE))


def _judge(function: Callable[..., Any], value: Any, around: list[Around]) -> bool | None:
    """Whether a call raises because of the graph alone; None if it is no call that works."""
    detached = [each.detach() for each in value] if isinstance(value, list) else value.detach()
    for front, rest in around:
        if _called(function, (*front, detached, *rest)) is None:
            return REFUSAL in (_called(function, (*front, value, *rest)) or "")
    return None


def _called(function: Callable[..., Any], arguments: tuple[Any, ...]) -> str | None:
    """What a call raises."""
    try:
        with warnings.catch_warnings(), contextlib.redirect_stderr(io.StringIO()):
            warnings.simplefilter("ignore")
            function(*arguments)
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return None


def render(table: dict[str, list[list[str]]]) -> str:
    """The text of the file."""
    rows = (f"  {json.dumps(name)}: {json.dumps(rows)}" for name, rows in table.items())
    return "{\n" + ",\n".join(rows) + "\n}\n"


if __name__ == "__main__":
    sys.exit(write_or_compare(OUTPUT, lambda: render(generate()), __doc__ or ""))
