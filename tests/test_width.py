"""A fix makes no line longer than those that the file has, where it can write what it adds below."""

from __future__ import annotations

import pytest

from torchlint.diagnostic import Fixing
from torchlint.file.check import check_text

LONG = 'net.load_state_dict(torch.load("checkpoints/%s/generator_of_epoch_%d.pth" % (a, b)))'

# Calls that get `weights_only=True`, and what is made of them.
CALLS = {
    'net.load_state_dict(torch.load("a.pt"))': 'net.load_state_dict(torch.load("a.pt", weights_only=True))',
    LONG: 'net.load_state_dict(torch.load("checkpoints/%s/generator_of_epoch_%d.pth" % (a, b),\n'
    "                               weights_only=True))",
    LONG + "  # the best": 'net.load_state_dict(torch.load("checkpoints/%s/generator_of_epoch_%d.pth" % (a, b),\n'
    "                               weights_only=True))  # the best",
    'net.load_state_dict(torch.load(\n\t"checkpoints/%s/generator_of_epoch_%d.pth" % (the_name, the_epoch)))': (
        'net.load_state_dict(torch.load(\n\t"checkpoints/%s/generator_of_epoch_%d.pth" % (the_name, the_epoch),\n'
        "\tweights_only=True))"
    ),
}


def fixed(text: str) -> str:
    return check_text(text, "x.py", frozenset(("TL701",)), Fixing.UNSAFE).text


@pytest.mark.parametrize("call", CALLS)
def test_an_argument_goes_below_where_the_line_would_be_too_long(call: str) -> None:
    start = "import torch\n\nnet = torch.nn.Linear(2, 2)\n"
    assert fixed(f"{start}{call}\n") == f"{start}{CALLS[call]}\n"


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_what_the_file_has_is_not_too_long(newline: str) -> None:
    lines = ["import torch", "# " + "-" * 118, "net = torch.nn.Linear(2, 2)", LONG, ""]
    assert fixed(newline.join(lines)).count(newline) == 4
    assert fixed(newline.join([lines[0], *lines[2:]])).count(newline) == 4
