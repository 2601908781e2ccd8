"""What `volatile=True` meant is written with `--unsafe-fixes`; the safe fix only drops the keyword."""

from __future__ import annotations

from torchlint.diagnostic import Fixing
from torchlint.engine import check_text
from torchlint.rules import catalogue

EVALUATION = """\
import torch
from torch import nn
from torch.autograd import Variable

net = nn.Linear(3, 1)


def evaluate(batches):
    total = 0
    for x, y in batches:
        x = Variable(x, volatile=True)

        # the error of a batch
        out = net(x)
        total += (out - y).pow(2).sum().data[0]
    return total
"""
IN_A_BLOCK = """\
import torch
from torch import nn

net = nn.Linear(3, 1)


def evaluate(batches):
    total = 0
    for x, y in batches:
        x = x.detach()

        # the error of a batch
        with torch.no_grad():
            out = net(x)
            total += (out - y).pow(2).sum().item()
    return total
"""
TRAINING = """\
import torch
from torch import nn
from torch.autograd import Variable

generator, critic = nn.Linear(2, 3), nn.Linear(3, 1)


def step(noise):
    noise = Variable(noise, volatile=True)
    fake = generator(noise).detach()
    loss = critic(fake).mean()
    loss.backward()
"""


def fixed(text: str, fixing: Fixing) -> str:
    outcome = check_text(text, "x.py", frozenset(catalogue()), fixing)
    assert not outcome.problems
    assert check_text(outcome.text, "x.py", frozenset(catalogue()), fixing).text == outcome.text
    return outcome.text


def test_evaluation_goes_into_a_block() -> None:
    assert fixed(EVALUATION, Fixing.UNSAFE) == IN_A_BLOCK


def test_safe_fixes_drop_the_keyword() -> None:
    text = fixed(EVALUATION, Fixing.SAFE)
    assert "volatile" not in text
    assert "Variable" not in text
    assert "no_grad" not in text


def test_what_trains_stays_outside() -> None:
    text = fixed(TRAINING, Fixing.UNSAFE)
    assert "    with torch.no_grad():\n        fake = generator(noise).detach()\n    loss = critic(fake)" in text
