"""A short-time Fourier transform, by torch."""

from __future__ import annotations

from typing import Any

import numpy
import torch


def stft(y: Any, n_fft: int, hop_length: int, win_length: int, window: Any) -> Any:
    spectrum = torch.stft(
        torch.from_numpy(numpy.ascontiguousarray(y)).float(),
        n_fft,
        hop_length,
        win_length,
        torch.hamming_window(win_length),
        return_complex=True,
    )
    return spectrum.numpy()


def magphase(spectrum: Any) -> tuple[Any, Any]:
    return numpy.abs(spectrum), numpy.angle(spectrum)
