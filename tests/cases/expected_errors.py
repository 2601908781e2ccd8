"""What a test waits for to raise, and what is tried to see whether it does."""
import contextlib
import unittest

import numpy as np
import pytest
import torch

w = torch.ones(3, requires_grad=True)
x = torch.randn(2, 3)
total = w.sum()

with pytest.raises(RuntimeError):
    w.numpy()
with pytest.raises(RuntimeError, match="requires grad"):
    np.asarray(w)
with pytest.raises(IndexError):
    total.data[0]
with pytest.raises(RuntimeError):
    torch.symeig(x)
with contextlib.suppress(RuntimeError):
    w.numpy()
pytest.raises(RuntimeError, lambda: w.numpy())
pytest.raises(RuntimeError, w.numpy)
with pytest.raises(ValueError) as raised, torch.no_grad():
    size = w.data.size(0)  # TL101
    x.view(size, -1).t().view(-1)
w.numpy()  # TL104


class Refused(unittest.TestCase):
    def test_it(self):
        def convert():
            return w.numpy()

        def write():
            w.add_(1)

        def both():
            w.add_(1)  # TL108
            return w.numpy()  # TL104

        self.assertRaises(RuntimeError, convert)
        with self.assertRaisesRegex(RuntimeError, "leaf"):
            write()
        self.assertRaises(RuntimeError, both)
        both()


try:
    w.numpy()
except RuntimeError:
    print("refused")

try:
    size = len(w)
    array = w.numpy()
except Exception:
    array = w.detach().numpy().copy()

try:
    size = len(w)
    array = w.numpy()  # TL104
except RuntimeError as error:
    print(error)

try:
    array = w.numpy()  # TL104
except RuntimeError:
    print("why?")
    raise

try:
    array = w.numpy()  # TL104
except KeyboardInterrupt:
    pass
