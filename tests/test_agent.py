"""The report for coding assistants; reports in terminals of several widths."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from conftest import Torchlint
from terminal import in_terminal

Write = Callable[[dict[Any, Any]], None]

CODE = """\
import torch
from torch import nn

class Net(nn.Module):
    def freeze(self, w: torch.Tensor, v: torch.Tensor):
        print(w.data, v.data)
        if True:
            self.weight = nn.Parameter(w).cuda()
        return w.data.mean()
"""


def test_findings_for_assistants(write: Write, torchlint: Torchlint) -> None:
    write({"x.py": CODE, "clean.py": "import torch\n"})
    ran = torchlint("check", "--output-format", "agent", "--select", "TL101")
    assert (ran.code, ran.err) == (1, "")
    assert ran.out.startswith("x.py:\n6:17, 6:25, 9:18 info TL101 [*] `.data` gives a tensor")
    assert ran.out.count(" why: ") == 2
    assert ran.out.count(" fix: ") == 1
    assert ran.out.endswith("Found 3 findings in 1 file.\n[*] 3 fixable with `--fix`.\n")


def test_what_is_not_fixed_is_written_out(write: Write, torchlint: Torchlint) -> None:
    write({"x.py": CODE})
    ran = torchlint("check", "-q", "--output-format", "agent", "--select", "TL504")
    assert ran.out.splitlines()[2:] == [
        " unsafe fix: Do it inside of the parameter",
        " -self.weight = nn.Parameter(w).cuda()",
        " +self.weight = nn.Parameter(w.cuda())",
        " risk: it gets into `parameters()` and the state dict, and state dicts that were saved before lack it",
    ]
    ran = torchlint("check", "-q", "--output-format", "agent", "--select", "TL504", "--unsafe-fixes")
    assert ran.out.splitlines()[2:] == [" fix: Do it inside of the parameter"]


def test_it_is_shorter(write: Write, torchlint: Torchlint) -> None:
    example = Path(__file__).parents[1] / "examples" / "legacy" / "gan.py"
    write({"gan.py": example.read_text(encoding="utf-8")})
    full, agent = (torchlint("check", "-q", "--output-format", name).out for name in ("full", "agent"))
    assert len(agent.split()) * 3 < len(full.split())


def test_no_findings(write: Write, torchlint: Torchlint) -> None:
    write({"x.py": "import torch\n"})
    assert torchlint("check", "--output-format", "agent").out == "No findings in 1 file.\n"


# ---------------------------------------------------------------------- the width of a terminal

LONG = f"import torch\nw = torch.ones(3, requires_grad=True)\nx = [{'1, ' * 60}w.data, {'2, ' * 60}]\n"
WIDE = f"import torch\nw = torch.ones(3, requires_grad=True)\nx = ['{'数' * 70}', w.data, '{'字' * 70}']\n"


@pytest.mark.skipif(os.name == "nt", reason="there are no such terminals")
@pytest.mark.parametrize("columns", [60, 100, 160])
@pytest.mark.parametrize("code", [LONG, WIDE], ids=["long", "wide"])
def test_lines_fit_into_the_terminal(code: str, columns: int, write: Write, tmp_path: Path) -> None:
    from unicodedata import east_asian_width

    def width(line: str) -> int:
        return sum(2 if east_asian_width(character) in "WF" else 1 for character in line)

    write({"x.py": code})
    shown = [line for line in in_terminal(columns, tmp_path) if line[:1] in "123 " and "|" in line]
    source = next(line for line in shown if "w.data" in line)
    carets = shown[shown.index(source) + 1]
    assert all(width(line) <= columns for line in shown)
    assert width(source) > columns - 6
    before = source[: source.index("data")]
    assert (carets.index("^"), carets.count("^")) == (width(before), 4)


@pytest.mark.parametrize("accent", ["e\u0301", "\u2764\ufe0f", "\u0e01\u0e34"])
def test_what_takes_no_column(accent: str, write: Write, torchlint: Torchlint) -> None:
    write({"x.py": f"import torch\nw = torch.ones(3)\nx = '{accent}', w.data\n"})
    lines = torchlint("check").out.splitlines()
    source = next(line for line in lines if "w.data" in line and line.startswith("3"))
    carets = lines[lines.index(source) + 1]
    assert carets.index("^") == source.index("data") - len(accent) + 1
