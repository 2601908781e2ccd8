"""Files whose indentation is of tabs and spaces: Python takes them, libcst does not."""

from __future__ import annotations

import ast

import pytest

from torchlint.diagnostic import Fixing
from torchlint.file.check import check_text

HEAD = "import torch\n\n\ndef f(x: torch.Tensor, m: torch.nn.Linear):\n"
BODIES = {
    "deeper with both": "\t  y = x.data\n\t  if y.sum():\n\t\t    z = x.data.sum()\n\t  return y\n",
    "deeper with tabs": "  \ty = x.data\n  \tif y.sum():\n  \t\tz = x.data.sum()\n  \treturn y\n",
    "with a string": '\t  s = """\n\t  text\n\t  """\n\t  if s:\n\t\t  z = x.data.sum()\n\t  return s\n',
}


@pytest.mark.parametrize("name", BODIES)
def test_all_of_it_is_checked_and_only_findings_change(name: str) -> None:
    text = HEAD + BODIES[name]
    ast.parse(text)
    found = check_text(text, "x.py", frozenset(("TL101",))).diagnostics
    lines = text.split("\n")
    assert found
    assert all(".data" in lines[each.start.row - 1] for each in found)
    assert len(found) == text.count(".data")
    fixed = check_text(text, "x.py", frozenset(("TL101",)), Fixing.SAFE).text
    assert fixed.replace(".detach()", ".data") == text
    ast.parse(fixed)


def test_a_block_that_a_fix_adds_is_python() -> None:
    text = HEAD + "\t  if x.sum():\n\t\t    m.weight.data.add_(1)\n\t  return m\n"
    for fixing in (Fixing.SAFE, Fixing.UNSAFE):
        ast.parse(check_text(text, "x.py", frozenset(("TL102",)), fixing).text)
