"""``torchlint/model/torch/data/writers.json`` is what the installed torch does."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest
import torch

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "scripts"))

import generate_writers as script
from torch_facts.generated import DATA
from torch_facts.naming import resolve

data: dict[str, Any] = json.loads(script.OUTPUT.read_text(encoding="utf-8"))


@pytest.mark.filterwarnings("ignore")
def test_modules_and_methods_are_those_of_the_installed_torch() -> None:
    assert data["modules"] == script.modules(), "run scripts/generate_writers.py"
    assert data["methods"] == script.methods(), "run scripts/generate_writers.py"
    assert data["refusing"] == script.refusing(), "run scripts/generate_writers.py"


@pytest.mark.filterwarnings("ignore")
def test_functions_with_such_an_argument_are_there() -> None:
    """All functions of torch that have an argument called ``inplace`` or ``max_norm``, without running them."""
    results = json.loads((DATA / "torch.json").read_text(encoding="utf-8"))["functions"]
    for name in results:
        names = [p.name for p in script.parameters_of(resolve(name))]
        if name.startswith("torch.nn.functional.") and {"inplace", "max_norm"} & set(names):
            assert name in data["functions"] or script.is_named_after_writing(name), name


@pytest.mark.parametrize("name", data["functions"])
def test_functions_have_these_arguments(name: str) -> None:
    names = [p.name for p in script.parameters_of(resolve(name))]
    for which, position, asking, at in data["functions"][name]:
        assert names[position] == which
        assert asking is None or names[at] == asking


def test_functions_that_write() -> None:
    ones = torch.ones(2, 3)
    assert script.written(torch.nn.functional.relu, (ones, True), {}) == [0]
    assert script.written(torch.nn.functional.relu, (ones,), {}) == []
    assert script.written(torch.add, (ones, 1), {"out": torch.ones(2, 3)}) == ["out"]
