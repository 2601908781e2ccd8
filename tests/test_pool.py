"""Several processes: the same output as one, however they are started."""

from __future__ import annotations

import itertools
import multiprocessing
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from conftest import Ran, Torchlint
from forked import python

from torchlint.session import batches, pool, scheduler
from torchlint.session.worker import Job

Write = Callable[[dict[str, Any]], None]

CODE = "import torch\nprint(torch.ones(3, requires_grad=True).data)\n"
TREE = {
    **{f"{number % 3}/x{number}.py": "\n" * number + CODE * (1 + number % 4) for number in range(40)},
    "pkg/__init__.py": "",
    "pkg/net.py": "import torch\n\n\ndef make():\n    return torch.ones(3, requires_grad=True)\n",
    "pkg/use.py": "from pkg.net import make\n\nw = make()\nprint(w.data)\n",
    "bad.py": f"{CODE}def f(:\n",
    "worse.py": b"\xe9",
    "deep.py": f"{CODE}y = {'(' * 300}{')' * 300}\n",
    "silenced.py": CODE.replace("data)", "data)  # noqa"),
    "empty.py": "",
}

WAYS = [("fork", "-j2"), ("spawn", "-j1"), ("spawn", "-j2"), ("spawn", "-j7")]
FULL, DIFF = ("--output-format", "full"), ("--diff",)
RUNS = [
    *(("fork", "-j2", arguments) for arguments in (FULL, DIFF)),
    *(("spawn", "-j2", arguments) for arguments in (FULL, DIFF)),
    ("spawn", "-j1", DIFF),
    ("spawn", "-j7", FULL),
]
WAY = """
import multiprocessing
from torchlint.session import batches, pool, scheduler
scheduler.WORTH_A_POOL = 0
pool._context = lambda: multiprocessing.get_context({way!r})
"""


def program(*arguments: str, before: str) -> str:
    return f"{before}\nimport sys; sys.argv = ['torchlint', *{list(arguments)!r}]\nfrom torchlint.cli.main import main; main()"


def environment() -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(Path(__file__).parents[1])}


def apart(directory: Path, *arguments: str, before: str) -> subprocess.Popen[bytes]:
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    return subprocess.Popen(  # type: ignore[call-overload, no-any-return]
        [sys.executable, "-c", program(*arguments, before=before)],
        cwd=directory,
        env=environment(),
        start_new_session=True,
        **pipes,
    )


@pytest.mark.parametrize(("way", "jobs", "arguments"), RUNS)
def test_same_bytes(
    way: str, jobs: str, arguments: tuple[str, ...], write: Write, torchlint: Torchlint, tmp_path: Path
) -> None:
    if way not in multiprocessing.get_all_start_methods():
        pytest.skip("not on this system")
    write(TREE)
    expected = torchlint("check", "--no-cache", "-j1", *arguments)
    assert expected.out.count("TL101") >= 40 or expected.out.count("+++") >= 40
    for more in (["--no-cache"], [], []):  # the last finds all in the cache
        text = program("check", jobs, *arguments, *more, before=WAY.format(way=way))
        ran = python(["-c", text], tmp_path, environment())
        assert Ran(ran.returncode, os.fsencode(ran.stdout), ran.stderr) == expected


@pytest.mark.parametrize("way", ["fork", "spawn"])
def test_interrupted(way: str, write: Write, tmp_path: Path) -> None:
    """Ctrl-C, which all processes get, ends all of them at once and without a word."""
    if way not in multiprocessing.get_all_start_methods():
        pytest.skip("not on this system")
    write({f"{number}.py": CODE + "#" * 60_000 for number in range(200)})
    before = WAY.format(way=way) + (
        "usual = pool._Worker.receive\n"
        "def receive(self):\n"
        "    print('now', flush=True)\n"
        "    return usual(self)\n"
        "pool._Worker.receive = receive\n"
    )
    child = apart(tmp_path, "check", "--no-cache", "-j2", before=before)
    assert child.stdout is not None
    assert child.stdout.readline() == b"now\n"
    os.killpg(child.pid, signal.SIGINT)
    out, err = child.communicate(timeout=60)  # until no process has the pipes any more
    assert child.returncode == 130
    assert out.replace(b"now\n", b"") == b""
    assert err == b""


@pytest.mark.parametrize("way", WAYS)
def test_no_module_of_the_tree_is_imported(way: tuple[str, str], write: Write, tmp_path: Path) -> None:
    """A new interpreter looks in the working directory first."""
    if way[0] not in multiprocessing.get_all_start_methods():
        pytest.skip("not on this system")
    bad = "open({0!r}, 'w').close()\n"
    names = ("pickle", "signal", "threading", "multiprocessing/__init__", "runpy", "libcst/__init__", "torch", "ctypes")
    trap = tmp_path / "imported"
    write({**{f"{name}.py": bad.format(str(trap)) for name in names}, "x.py": CODE, "y.py": CODE})
    before = f"import sys; sys.path.remove('')\n{WAY.format(way=way[0])}"  # as for the installed program
    child = apart(tmp_path, "check", way[1], "--no-cache", "x.py", "y.py", before=before)
    out, err = child.communicate(timeout=120)
    assert (child.returncode, err) == (1, b"")
    assert b"Found 2 findings" in out
    assert not trap.exists()


def handed_out(sizes: list[int], places: list[int]) -> dict[int, list[batches.Batch]]:
    """What is handed out to processes that are done in this order, again and again."""
    waiting = batches.Batches(sizes, max(places) + 1)
    found: dict[int, list[batches.Batch]] = {place: [] for place in places}
    for place in itertools.cycle(places):
        if not waiting:
            return found
        found[place].append(waiting.next(place))
    raise AssertionError


@pytest.mark.parametrize("places", [[0], [0, 1], [1, 0, 1, 1], [0, 1, 2, 3, 4, 5, 6], [0, 0, 0, 0, 0, 0, 3]])
def test_all_is_handed_out_once(places: list[int]) -> None:
    sizes = [10, 200_000, 3, 40_000, *[7] * 60, *[30_000] * 9, 300_000, 0]
    handed = [batch for each in handed_out(sizes, places).values() for batch in each]
    assert sorted(number for batch in handed for number in batch) == list(range(len(sizes)))
    assert max(map(len, handed)) == batches.MOST
    assert all(sum(sizes[number] for number in batch[:-1]) < batches.BATCH for batch in handed)


def test_neighbours_stay_together() -> None:
    handed = handed_out([batches.BATCH] * 20, [0, 1])
    assert handed == {0: [(number,) for number in range(10)], 1: [(number,) for number in range(10, 20)]}


def test_who_is_quicker_takes_over_half_of_the_rest() -> None:
    handed = handed_out([batches.BATCH] * 16, [0, 0, 0, 1])
    assert [number for (number,) in handed[0]] == [*range(8), 13, 14, 15, 12]
    assert [number for (number,) in handed[1]] == [8, 9, 10, 11]


def test_large_files_come_first() -> None:
    handed = handed_out([1, batches.LARGE, 1, batches.LARGE + 1, 1, batches.LARGE], [0, 1])
    assert [handed[0][0], handed[1][0], handed[0][1]] == [(5,), (3,), (1,)]


class Deadly(frozenset[str]):
    """Codes that end the process that receives them."""

    def __reduce__(self) -> tuple[Callable[[int], object], tuple[int]]:
        return os._exit, (7,)


def test_a_batch_that_kills_costs_one_file() -> None:
    codes = frozenset({"TL101"})
    jobs = [Job(f"{number}.py", Deadly(codes) if number == 5 else codes, data=CODE.encode()) for number in range(12)]
    counts: list[int] = []
    answers = pool.answers(jobs, [len(CODE)] * 12, 2, counts.append, preload=True)
    assert handed_out([len(CODE)] * 12, [0, 1])[0] == [tuple(range(12))]
    assert [len(answer.diagnostics) for answer in answers] == [1] * 5 + [0] + [1] * 6
    assert answers[5].problems[0].message == "the process checking it died (exit code 7)"
    assert sum(counts) == 12


# sizes of files, whether each is of interest; whether processes are started
WORTH = {
    "one file": ([300_000], [True], False),
    "small": ([50_000] * 3, [True] * 3, False),
    "large": ([150_000] * 3, [True] * 3, True),
    "of no interest": ([150_000] * 3, [False] * 3, False),
    "some of interest": ([150_000] * 3, [True, False, False], False),
    "many of no interest": ([5_000_000] * 5, [False] * 5, True),
}


@pytest.mark.parametrize(("sizes", "interesting", "expected"), WORTH.values(), ids=WORTH)
def test_when_processes_are_started(
    sizes: list[int], interesting: list[bool], expected: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    usual, started = pool.answers, []

    def answers(*arguments: Any, **more: Any) -> Any:
        started.append(arguments[2])
        return usual(*arguments, **more)

    monkeypatch.setattr(pool, "answers", answers)
    jobs = [
        Job(f"{n}.py", frozenset({"TL101"}), data=(CODE if wanted else "import os\n").encode())
        for n, wanted in enumerate(interesting)
    ]
    found = scheduler.execute(jobs, sizes, 4, lambda done, total: None)
    assert [bool(answer.diagnostics) for answer in found] == interesting
    assert bool(started) is expected
    assert not started or started == [min(4, len(jobs))]
