"""What a process keeps of files that it is done with: nothing that grows with their number."""

from __future__ import annotations

import functools
import gc
import itertools
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from torchlint.api import Linter
from torchlint.system.memory import give_back
from torchlint.system.stack import COLLECT, look_for_garbage_as_usual

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
    found = (each for each in gc.get_objects() if type(each) is functools._lru_cache_wrapper)
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


MODULE = "import torch\nfrom net{0} import Net{0}\n\n\nclass Net{1}(Net{0}):\n    def forward(self, x):\n        return x.data\n"
FIRST = (
    "import torch\n\n\nclass Net0(torch.nn.Module):\n    def forward(self, x: torch.Tensor):\n        return x.data\n"
)


def test_what_is_known_of_a_project_is_gone_with_it(write: Write, tmp_path: Path) -> None:
    """At once: no garbage has to be found, of which the next project would have to be made beside."""
    write({f"{size}/net0.py": FIRST for size in (2, 12)})
    write({f"{size}/net{n}.py": MODULE.format(n - 1, n) for size in (2, 12) for n in range(1, size)})
    garbage = {}
    for size in (12, 2, 12):
        gc.collect()
        gc.disable()
        try:
            assert sum(len(report.findings) for report in Linter(isolated=True).check(tmp_path / str(size))) == size
            garbage[size] = gc.collect()
        finally:
            gc.enable()
    assert garbage[12] < garbage[2] + 12 * 50


def test_free_memory_goes_back(write: Write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """When all reports have been taken, or nobody wants the rest."""
    given = []
    monkeypatch.setattr("torchlint.api.give_back", lambda: given.append(True))
    write({"a/x.py": FIRST, "a/y.py": FIRST})
    reports = Linter().check(tmp_path)
    assert next(reports).path
    assert not given
    assert len(list(reports)) == 1
    assert len(given) == 1
    reports = Linter().check(tmp_path)
    next(reports)
    del reports
    gc.collect()
    assert len(given) == 2
    give_back()


ENDING = """
import gc, os, sys
from torchlint.cli import main

def leave(code):
    print(*gc.get_threshold(), file=sys.stderr)
    os._exit(code)

main._leave = leave
main.main()
"""


def test_nothing_is_looked_for_when_a_run_is_over(write: Write, tmp_path: Path) -> None:
    write({"a.py": "import torch\nw = torch.ones(3, requires_grad=True)\nw.data.add_(1)\n"})
    command = [sys.executable, "-c", ENDING, "check", "--isolated", "--no-cache", "-j1", str(tmp_path)]
    ran = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (ran.returncode, ran.stderr.splitlines()[-1]) == (1, " ".join(map(str, COLLECT)))


def test_who_lives_on_looks_as_usual() -> None:
    look_for_garbage_as_usual()  # a test before this one may have left it otherwise
    usual = gc.get_threshold()
    gc.set_threshold(*COLLECT)
    look_for_garbage_as_usual()
    assert gc.get_threshold() == usual != COLLECT
