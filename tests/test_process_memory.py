"""What a process keeps of files that it is done with: nothing that grows with their number."""

from __future__ import annotations

import functools
import gc
import itertools
from collections.abc import Callable
from pathlib import Path

from torchlint.api import Linter

Write = Callable[[dict[str, str]], None]

LINES = (
    "a = w.data\n",
    "b = torch.load('x')\n",
    "c = torch.qr(w)\n",
    "d = Variable(w)\n",
    "e = w.cpu().detach()\n",
    "for x in loader: total += loss\n",
    "nn.Dropout(0.5)(w)\n",
    "torch.manual_seed(0)\n",
)
"""Each has other rules look at a file."""


def kept() -> dict[str, int]:
    """How many results are kept, by the functions that keep any number of them."""
    found = (each for each in gc.get_objects() if isinstance(each, functools._lru_cache_wrapper))
    ours = (each for each in found if str(each.__module__).startswith("torchlint."))
    return {
        f"{each.__module__}.{each.__name__}": each.cache_info().currsize
        for each in ours
        if each.cache_info().maxsize is None
    }


def test_projects_leave_nothing(write: Write, tmp_path: Path) -> None:
    head = "import torch\nfrom torch import nn\nfrom torch.autograd import Variable\nw = torch.ones(3)\n"
    write({f"all/{name}.py": head + line for name, line in enumerate((*LINES, "".join(LINES)))})
    pairs = enumerate(itertools.combinations(LINES, 2))
    write({f"{name}/src/x{name}.py": head + "".join(lines) for name, lines in pairs})
    assert list(Linter().check(tmp_path / "all"))
    before, found = kept(), 0
    assert len(before) > 20
    for name in range(28):
        found += sum(len(report.findings) for report in Linter().check(tmp_path / str(name)))
    assert found > 28
    assert {name: number for name, number in kept().items() if number != before.get(name, number)} == {}
