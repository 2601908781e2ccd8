"""What is done with `.data` makes a tensor of what has it, unless the project has other things that hold tensors there."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest
from conftest import Torchlint

from torchlint.diagnostic import Applicability, Fixing
from torchlint.file.check import check_text
from torchlint.rules import catalogue
from torchlint.testing.execution import differences, run

Write = Callable[[dict[str, str | bytes]], None]

CODES = frozenset(catalogue())

FUNCTIONS = """\
import torch
{}

def summed(x):
    return x.data.view(-1, 1).cpu().numpy().sum()


def spread(x, w):
    return torch.min(x.data.view(-1, 1).expand_as(w), w)


def sized(x, w):
    n = x.size(0)
    return n * x.data.view(-1, 1).expand_as(w).sum()
"""
CALLS = """

w = torch.ones(3, 2, requires_grad=True)
a = summed(w)
b = spread(w.sum(1), w.detach())
c = sized(w.sum(1), w)
"""


def _applicabilities(text: str) -> list[Applicability | None]:
    found = check_text(text, "x.py", CODES, Fixing.NONE).diagnostics
    return [each.fix.applicability if each.fix is not None else None for each in found if each.code == "TL101"]


def test_what_is_made_of_data_by_methods_of_tensors() -> None:
    assert _applicabilities(FUNCTIONS.format("")) == [Applicability.SAFE] * 3
    text = FUNCTIONS.format("") + CALLS
    fixed = check_text(text, "x.py", CODES, Fixing.SAFE).text
    assert ".data" not in fixed
    assert run(text).error is None
    assert differences(run(text), run(fixed)) == []


PACKED = "from torch.nn.utils.rnn import pack_padded_sequence\n"


def test_a_packed_sequence_has_such_data_and_is_no_tensor() -> None:
    unsafe, safe = Applicability.UNSAFE, Applicability.SAFE
    assert _applicabilities(FUNCTIONS.format(PACKED)) == [
        unsafe,
        unsafe,
        safe,
    ]  # the last one is used as a tensor itself


@pytest.mark.parametrize(
    "chain",
    [
        "x.data[0].view(-1, 1).expand_as(w)",  # of a list each element has that
        "x.data.frame.view(-1).expand_as(w)",
        "x.data.render(-1).expand_as(w)",
    ],
)
def test_what_shows_nothing(chain: str) -> None:
    assert (
        _applicabilities(f"import torch\n\n\ndef f(x, w):\n    return torch.min({chain}, w)\n").count(
            Applicability.SAFE
        )
        == 0
    )


BATCH = "import torch\n\n\nclass Batch:\n    def __init__(self, data):\n        self.data = data\n"


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        ({"other.py": "import torch\n"}, ["safe", "safe", "safe"]),
        ({"other.py": PACKED}, ["unsafe", "unsafe", "safe"]),
        ({"batches.py": BATCH, "x.py": FUNCTIONS.format("from batches import Batch\n")}, ["unsafe", "unsafe", "safe"]),
    ],
    ids=["nothing", "packs", "imports"],
)
def test_in_other_files(files: dict[str, str | bytes], expected: list[str], write: Write, torchlint: Torchlint) -> None:
    write({"pyproject.toml": "", "x.py": FUNCTIONS.format(""), **files})
    for _ in range(2):  # the second time from the cache
        entries = json.loads(torchlint("check", "--select", "TL101", "--output-format", "json", "x.py").out)
        assert [entry["fix"]["applicability"] for entry in entries] == expected


def test_an_object_is_given_such_data() -> None:
    text = (
        FUNCTIONS.format("") + "\n\nclass Holder:\n    pass\n\n\nh = Holder()\nh.data = torch.ones(2)\na = summed(h)\n"
    )
    fixed = check_text(text, "x.py", CODES, Fixing.SAFE).text
    assert differences(run(text), run(fixed)) == []
