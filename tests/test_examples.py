"""The legacy projects under ``examples/``: as they stand they do not run, fixed they train."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
EXAMPLES = ROOT / "examples" / "legacy"
PROGRAMS = {"train.py": r"val loss ([\d.]+)", "gan.py": r"radius ([\d.]+)"}


def torchlint(*arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "torchlint", "check", "--isolated", "--no-cache", *arguments]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    return subprocess.run(command, cwd=cwd, capture_output=True, text=True, check=False, env=environment)


def python(program: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, program], cwd=cwd, capture_output=True, text=True, check=False, timeout=300)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    return Path(shutil.copytree(EXAMPLES, tmp_path / "legacy", ignore=shutil.ignore_patterns("__pycache__")))


@pytest.fixture(scope="module")
def fixed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    project = Path(shutil.copytree(EXAMPLES, tmp_path_factory.mktemp("examples") / "legacy"))
    run = torchlint("--fix", "--unsafe-fixes", ".", cwd=project)
    assert run.returncode == 0, run.stdout + run.stderr
    return project


@pytest.mark.parametrize("program", PROGRAMS)
def test_it_does_not_run_as_it_stands(program: str, project: Path) -> None:
    run = python(program, project)
    assert run.returncode == 1
    assert "SyntaxError" in run.stderr


@pytest.mark.parametrize("program", PROGRAMS)
def test_it_does_not_run_with_the_keyword_alone_repaired(program: str, project: Path) -> None:
    """`async=` is not all that is wrong."""
    for path in project.glob("*.py"):
        path.write_text(path.read_text(encoding="utf-8").replace("async=", "non_blocking="), encoding="utf-8")
    run = python(program, project)
    assert run.returncode == 1
    assert "IndexError" in run.stderr


@pytest.mark.parametrize("program", PROGRAMS)
def test_fixed_it_trains(program: str, fixed: Path) -> None:
    run = python(program, fixed)
    assert run.returncode == 0, run.stderr
    values = [float(number) for number in re.findall(PROGRAMS[program], run.stdout)]
    if program == "train.py":
        assert values[-1] < values[0] / 4, run.stdout
    else:  # a discriminator's loss says nothing; the points come closer to the ring of radius 1
        assert abs(values[-1] - 1) < abs(values[0] - 1), run.stdout


def test_what_is_found(project: Path) -> None:
    run = torchlint("--output-format", "json", ".", cwd=project)
    assert run.returncode == 1, run.stderr
    codes = {finding["code"] for finding in json.loads(run.stdout)}
    assert {"TL101", "TL102", "TL105", "TL201", "TL202", "TL203", "TL204"} <= codes
    assert "TL001" not in codes


def test_nothing_is_left(fixed: Path) -> None:
    run = torchlint(".", cwd=fixed)
    assert run.returncode == 0, run.stdout
    again = torchlint("--fix", "--unsafe-fixes", "--diff", ".", cwd=fixed)
    assert again.returncode == 0, again.stdout


def test_in_this_repository_they_are_judged_as_a_copy_of_them_is(tmp_path: Path) -> None:
    copy = Path(shutil.copytree(EXAMPLES.parent, tmp_path / "examples", ignore=shutil.ignore_patterns("__pycache__")))
    here, there = torchlint("examples", cwd=ROOT), torchlint("examples", cwd=copy.parent)
    assert here.stdout == there.stdout
    [fixable] = re.findall(r"^\[\*\] .*$", here.stdout, re.MULTILINE)
    assert fixable in (ROOT / "docs" / "adopting.md").read_text(encoding="utf-8")
