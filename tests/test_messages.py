"""What rules say is short, and in words that need no explanation."""

from __future__ import annotations

import re

import pytest

from torchlint.file.check import check_text
from torchlint.rules import catalogue
from torchlint.testing.examples import examples

WIDTH = 100
"""Characters of a message, each piece of code in it counted as `code`."""

FIGURATIVE = re.compile(r"\b(?:alive|anew|behind|feet|nobody|without a word)\b")

OF_THE_TABLE = ("TL3", "TL9")
"""Rules whose messages are put together from rows: their names and replacements are as long as torch made them."""


@pytest.mark.parametrize("code", sorted(catalogue()))
def test_messages_of_the_examples(code: str) -> None:
    info = catalogue()[code]
    assert not FIGURATIVE.search(info.doc.partition("\n")[0])
    for example in examples(info.doc):
        for found in check_text(example.before, "x.py", frozenset((code,))).diagnostics:
            said = re.sub("`[^`]*`", "`code`", found.message)
            assert not FIGURATIVE.search(said), found.message
            if not code.startswith(OF_THE_TABLE):
                assert len(said) <= WIDTH, found.message


@pytest.mark.parametrize(
    ("written", "advice"),
    [
        ("p.data - 1", "`with torch.no_grad(): ….copy_(…)`"),
        ("q", "`with torch.no_grad(): ….copy_(…)`"),
        ("p.data.half()", "`.to(…)`"),
        ("p.data.to(device)", "`.to(…)`"),
        ("p.data.squeeze()", "`nn.Parameter`"),
        ("(q.view(2, -1).t())", "`nn.Parameter`"),
    ],
)
def test_what_is_advised_for_an_assignment_to_data(written: str, advice: str) -> None:
    text = f"from torch import nn\ndef f(net: nn.Module, q, device):\n    for p in net.parameters():\n        p.data = {written}\n"
    [found] = check_text(text, "x.py", frozenset(("TL103",))).diagnostics
    assert found.message.endswith(advice)
