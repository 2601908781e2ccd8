"""`torch.rfft` and its kin, gone since 1.8: what the fix writes is what their last documentation says."""

from __future__ import annotations

import itertools
import math

import pytest
import torch

from torchlint.diagnostic import Fixing
from torchlint.file.check import check_text

RULES = frozenset(("TL301",))
NDIMS = (1, 2, 3)
FLAGS = (None, False, True)


def dft(z: torch.Tensor, ndim: int, sign: int) -> torch.Tensor:
    """The transform of the last dimensions by its definition, without a factor."""
    for dim in range(-ndim, 0):
        size = z.shape[dim]
        k = torch.arange(size, dtype=torch.float64)
        angle = sign * 2 * math.pi * torch.outer(k, k) / size
        matrix = torch.polar(torch.ones_like(angle), angle)
        z = torch.tensordot(z.transpose(dim, -1), matrix, dims=1).transpose(dim, -1)
    return z


def factor(shape: torch.Size, ndim: int, normalized: bool | None, inverse: bool) -> float:
    count = math.prod(shape[-ndim:])
    return 1 / math.sqrt(count) if normalized else 1 / count if inverse else 1.0


def fixed(call: str, z: torch.Tensor | None = None) -> torch.Tensor:
    """What the fixed call gives."""
    head = "import torch\n\nz, x = torch.rand(1), torch.rand(1)\n"
    after = check_text(f"{head}y = {call}\n", "x.py", RULES, Fixing.SAFE).text
    assert call not in after
    result = eval(after.partition("y = ")[2], {"torch": torch, "x": X, "z": Z if z is None else z})
    assert isinstance(result, torch.Tensor)
    return result


torch.manual_seed(0)
X = torch.rand(2, 3, 4, 5, dtype=torch.float64)
Z = torch.rand(2, 3, 4, 5, 2, dtype=torch.float64)


def given(**flags: object) -> str:
    return "".join(f", {name}={value}" for name, value in flags.items() if value is not None)


@pytest.mark.parametrize(("ndim", "normalized", "onesided"), [*itertools.product(NDIMS, FLAGS, FLAGS)])
def test_rfft(ndim: int, normalized: bool | None, onesided: bool | None) -> None:
    wanted = dft(X.to(torch.complex128), ndim, -1) * factor(X.shape, ndim, normalized, False)
    if onesided is not False:
        wanted = wanted[..., : X.shape[-1] // 2 + 1]
    arguments = given(normalized=normalized, onesided=onesided)
    for call in (f"torch.rfft(x, {ndim}{arguments})", f"x.rfft({ndim}{arguments})"):
        assert torch.allclose(fixed(call), torch.view_as_real(wanted))


@pytest.mark.parametrize(("name", "ndim", "normalized"), [*itertools.product(("fft", "ifft"), NDIMS, FLAGS)])
def test_of_complex_numbers(name: str, ndim: int, normalized: bool | None) -> None:
    z = torch.view_as_complex(Z)
    wanted = dft(z, ndim, 1 if name == "ifft" else -1) * factor(z.shape, ndim, normalized, name == "ifft")
    arguments = given(normalized=normalized)
    for call in (f"torch.{name}(z, signal_ndim={ndim}{arguments})", f"z.{name}({ndim}{arguments})"):
        assert torch.allclose(fixed(call), torch.view_as_real(wanted))


@pytest.mark.parametrize(("ndim", "normalized", "sized"), [*itertools.product(NDIMS, FLAGS, (False, True))])
def test_irfft_is_the_inverse(ndim: int, normalized: bool | None, sized: bool) -> None:
    size = 5 if sized else 4
    x = X[..., :size]
    half = torch.view_as_real(dft(x.to(torch.complex128), ndim, -1)[..., : size // 2 + 1])
    scale = factor(x.shape, ndim, normalized, True) * math.prod(x.shape[-ndim:])
    sizes = str(tuple(x.shape[-ndim:])) if sized else None
    arguments = given(normalized=normalized, signal_sizes=sizes)
    for call in (f"torch.irfft(z, {ndim}{arguments})", f"z.irfft({ndim}{arguments})"):
        assert torch.allclose(fixed(call, half.contiguous()), x * scale)


@pytest.mark.parametrize("call", ["torch.rfft(x, n)", "torch.rfft(x, 1, flag)", "torch.irfft(z, 1, onesided=False)"])
def test_what_cannot_be_seen_has_no_fix(call: str) -> None:
    text = f"import torch\ny = {call}\n"
    outcome = check_text(text, "x.py", RULES, Fixing.UNSAFE)
    assert outcome.text == text
    assert outcome.diagnostics


def test_the_message_says_what_two_sides_are() -> None:
    (found,) = check_text("import torch\ny = torch.rfft(x, n, onesided=False)\n", "x.py", RULES).diagnostics
    assert "torch.fft.fft(x)" in found.message
