"""``torchlint check --profile-rules``: which rules take how much of the time."""

from __future__ import annotations

import itertools
import re
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from conftest import Torchlint
from test_plugins import CODE, Place

from torchlint.cli import profile
from torchlint.cli.report import Style
from torchlint.session import scheduler
from torchlint.system.profile import Profile, measured, profiling

Write = Callable[[dict[str, str | bytes]], None]

READ = "import torch\nx = torch.ones(3, requires_grad=True)\nprint(x.data)\n"


def test_each_rule_is_counted_in_each_file(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where it raises."""
    clock = itertools.count()
    monkeypatch.setattr(time, "process_time", lambda: float(next(clock)))
    with measured("TL101", "unseen.py"):
        pass
    with profiling() as found:
        for code, path in (("TL101", "a.py"), ("TL101", "b.py"), ("TL101", "a.py")):
            with measured(code, path):
                time.process_time()
        with pytest.raises(ValueError, match="x"), measured("TL102", "a.py"):
            raise ValueError("x")
    with measured("TL101", "unseen.py"):
        pass
    assert found.seconds == {("TL101", "a.py"): 4.0, ("TL101", "b.py"): 2.0, ("TL102", "a.py"): 1.0}


def test_the_table() -> None:
    seconds = {("TL102", "a.py"): 1.0, ("TL101", "a.py"): 1.5, ("TL101", "b.py"): 2.5, ("TL201", "a.py"): 0.01}
    assert list(profile.table(Profile(seconds | {("TL202", "a.py"): 0.02}), 10.0, Style())) == [
        "  time  share  files  rule",
        " 4.00s    40%      2  TL101  data-read  (most: 2.50s in b.py)",
        " 1.00s    10%      1  TL102  data-inplace",
        " 0.03s     0%         2 other rules",
        " 4.97s    50%         all else: starting, reading, parsing, reporting, fixing",
        "What several rules ask of the model counts for the one that asks first. One process, no cache.",
    ]
    assert len(list(profile.table(Profile(), 0.0, Style()))) == 3


def test_a_run(torchlint: Torchlint, write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    """It says what it says without; every file is looked at, whatever is in the cache."""
    monkeypatch.setattr(profile, "LEAST", 0.0)
    write({f"{name}.py": READ for name in "abc"})
    plain = torchlint("check")
    for arguments in ((), ("-j4",), ("-q",)):
        ran = torchlint("check", "--profile-rules", *arguments)
        assert ran.code == 1
        assert ran.out == torchlint("check", *arguments).out
        lines = ran.err.splitlines()
        assert lines[0] == "  time  share  files  rule"
        assert [line for line in lines if re.match(r" *\d+\.\d\ds +\d+% +3  TL101  data-read", line)]
    assert plain.err == ""
    assert torchlint("check", "--profile-rules", "-", stdin=READ.encode()).err.startswith("  time  share")


def test_all_of_a_run_happens_in_one_process(
    torchlint: Torchlint, write: Write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was there before a change is looked at, too."""
    write({"x.py": READ})
    for arguments in (("init", "-q"), ("add", "-A"), ("commit", "-q", "-m", "x")):
        identity = ("-c", "user.name=x", "-c", "user.email=x@y", "-c", "commit.gpgsign=false")
        subprocess.run(["git", *identity, *arguments], cwd=tmp_path, check=True)
    write({"x.py": READ.replace("import torch", "import torch, math")})
    processes, execute = list[int](), scheduler.execute

    def counted(jobs: Any, sizes: Any, count: int, *rest: Any) -> Any:
        processes.append(count)
        return execute(jobs, sizes, count, *rest)

    monkeypatch.setattr(scheduler, "execute", counted)
    assert torchlint("check", "--profile-rules", "-j4", "--since", "HEAD").code == 0
    assert processes == [1, 1]


def test_a_rule_of_another_package(tmp_path: Path) -> None:
    place = Place(tmp_path)
    place.install()
    place.write(x=CODE * 3)
    ran = place.run("check", "--select", "HR", "--profile-rules", "--output-format", "json")
    assert ran.returncode == 1
    assert ran.stdout.startswith("[")
    assert re.search(r"^ *\d+\.\d\ds +\d+% +1  HR001  no-item \[house 1\.2\]$", ran.stderr, re.MULTILINE), ran.stderr
