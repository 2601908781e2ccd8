"""What replaces a function that returns a named tuple returns another one: safe is only what takes it apart."""

from __future__ import annotations

import pytest
from verdict import judge

# What a function does with the result of `torch.qr`, and whether its fix is safe.
USES = {
    "q, r = torch.qr(a)\n    return q @ r": True,
    "_, r = torch.qr(a)\n    return r": True,
    "return torch.qr(a)[0]": True,
    "return torch.qr(a).R": True,
    "return torch.matmul(*torch.qr(a))": True,
    "out = torch.qr(a)\n    return out.Q @ out[1]": True,
    "out = torch.qr(a)\n    q, r = out\n    return q @ r": True,
    "out = torch.qr(a)\n    out = out\n    return out.Q": True,
    "return type(torch.qr(a)).__name__": False,
    "return repr(torch.qr(a)).partition('(')[0]": False,
    "out = torch.qr(a)\n    return isinstance(out, torch.return_types.qr)": False,
    "out = torch.qr(a)\n    both = out\n    return type(both).__name__": False,
    "both = {'qr': torch.qr(a)}\n    return type(both['qr']).__name__": False,
}


@pytest.mark.parametrize(("use", "is_safe"), USES.items())
def test_a_named_tuple_of_another_type(use: str, is_safe: bool) -> None:
    text = "import torch\n\na = torch.arange(9.0).reshape(3, 3) + torch.eye(3)\n\n\n"
    verdict = judge(f"{text}def f(a):\n    {use}\n\n\nanswer = f(a)\n")
    assert verdict.ran
    assert verdict.found["TL302"] == 1
    assert not verdict.wrong
    assert bool(verdict.safe["TL302"]) is is_safe
    assert bool(verdict.unsafe["TL302"]) is not is_safe
