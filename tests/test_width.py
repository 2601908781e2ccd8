"""An argument that is added stands where the others do, and makes no line longer than those that the file has."""

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


def test_a_line_that_keeps_to_no_width_gets_longer() -> None:
    call = LONG.replace("the_", "a_").replace("%s", "x" * 60)
    assert fixed(f"import torch\n\nnet = torch.nn.Linear(2, 2)\n{call}\n").count("\n") == 4


# What stands in the brackets of a call, and what does with a further argument.
LAYOUTS = {
    '\n    "a.pt",\n    map_location="cpu",\n': '\n    "a.pt",\n    map_location="cpu",\n    weights_only=True,\n',
    '\n    "a.pt",\n    map_location="cpu"\n': '\n    "a.pt",\n    map_location="cpu",\n    weights_only=True\n',
    '\n\t"a.pt",\n\tmap_location=dict(\n\t\ta="b",\n\t),\n': '\n\t"a.pt",\n\tmap_location=dict(\n\t\ta="b",\n\t),'
    "\n\tweights_only=True,\n",
    '\n    f="a.pt",\n': '\n    f="a.pt",\n    weights_only=True,\n',
    '\n    "a.pt"\n': '\n    "a.pt", weights_only=True\n',
    '\n    "a.pt", map_location="cpu",\n': '\n    "a.pt", map_location="cpu", weights_only=True,\n',
    '\n    "a.pt",\n    map_location="cpu",  # first\n': '\n    "a.pt",\n    map_location="cpu", weights_only=True,  # first\n',
    '"a.pt",\n    map_location="cpu",\n': '"a.pt",\n    map_location="cpu", weights_only=True,\n',
}


@pytest.mark.parametrize("given", LAYOUTS)
@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_an_argument_has_a_line_of_its_own_where_the_others_have(given: str, newline: str) -> None:
    text = f"import torch\n\nnet = torch.nn.Linear(2, 2)\nnet.load_state_dict(torch.load({given}))\n"
    wanted = text.replace(given, LAYOUTS[given])
    assert fixed(text.replace("\n", newline)) == wanted.replace("\n", newline)


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_what_the_file_has_is_not_too_long(newline: str) -> None:
    lines = ["import torch", "# " + "-" * 118, "net = torch.nn.Linear(2, 2)", LONG, ""]
    assert fixed(newline.join(lines)).count(newline) == 4
    assert fixed(newline.join([lines[0], *lines[2:]])).count(newline) == 4


@pytest.mark.parametrize(
    ("given", "left"),
    [
        ('optimizer,\n    verbose=True, mode="max"', 'optimizer,\n    mode="max"'),
        ("optimizer, patience=3,  # few\n    verbose=True, eps=1", "optimizer, patience=3,  # few\n    eps=1"),
        ("optimizer,\n    verbose=True", "optimizer"),
        ("optimizer,\n    verbose=True,\n    eps=1", "optimizer,\n    eps=1"),
        ("optimizer, verbose=True,\n    eps=1", "optimizer,\n    eps=1"),
    ],
)
def test_what_stands_behind_an_argument_that_goes_stays_on_its_line(given: str, left: str) -> None:
    text = "from torch.optim.lr_scheduler import ReduceLROnPlateau\n\nReduceLROnPlateau({})\n"
    outcome = check_text(text.format(given), "x.py", frozenset(("TL301", "TL302", "TL303")), Fixing.UNSAFE)
    assert outcome.text == text.format(left)
