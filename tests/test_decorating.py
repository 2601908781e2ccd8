"""Which contexts of torch can stand above a function, against torch itself (TL402)."""

from __future__ import annotations

import warnings

import pytest
import torch

from torchlint.rules import tl402_unentered_context as rule

GIVEN = {
    "torch.autocast": ("cpu",),
    "torch.device": ("cpu",),
    "torch.cuda.device": (0,),
    "torch.cuda.device_of": (torch.ones(1),),
    "torch.cuda.stream": (None,),
    "torch.autograd.graph.saved_tensors_hooks": (abs, abs),
    "torch.autograd.profiler.record_function": ("name",),
    "torch.profiler.record_function": ("name",),
}


@pytest.mark.parametrize("name", sorted(rule._CONTEXTS))
def test_a_context_is_written_above_a_function_if_it_can_be_called_with_one(name: str) -> None:
    made = torch
    for part in name.split(".")[1:]:
        made = getattr(made, part)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert callable(made)
        context = made(*GIVEN.get(name, ()))
    assert callable(context) == (name in rule._DECORATING)
