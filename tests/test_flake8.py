"""torchlint as a plugin of flake8, run by flake8 itself."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from torchlint import __version__
from torchlint.project.stated import toml

pytest.importorskip("flake8")

Write = Callable[[dict[Any, Any]], None]

ROOT = Path(__file__).parents[1]
HEAD = "import torch\nw = torch.ones(3, requires_grad=True)\n"


@pytest.fixture
def flake8(tmp_path: Path) -> Callable[..., tuple[int, list[str], str]]:
    """Run flake8 where torchlint is installed as its ``pyproject.toml`` says, and nothing else stands in the way."""
    project = toml((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert isinstance(project, dict)
    entry_points = project["entry-points"]["flake8.extension"]
    metadata = tmp_path / "site" / f"torchlint-{__version__}.dist-info"
    metadata.mkdir(parents=True)
    (metadata / "METADATA").write_text(f"Metadata-Version: 2.1\nName: torchlint\nVersion: {__version__}\n")
    listed = "\n".join(f"{name} = {value}" for name, value in entry_points.items())
    (metadata / "entry_points.txt").write_text(f"[flake8.extension]\n{listed}\n")
    paths = os.pathsep.join((str(tmp_path / "site"), str(ROOT)))

    def run(*arguments: str, stdin: str = "") -> tuple[int, list[str], str]:
        command = [sys.executable, "-m", "flake8", "--isolated", "--select", "TL,E9", "-j1", *arguments]
        environment = {**os.environ, "PYTHONPATH": paths}
        ran = subprocess.run(
            command, cwd=tmp_path, env=environment, input=stdin, capture_output=True, text=True, check=False
        )
        return ran.returncode, ran.stdout.splitlines(), ran.stderr

    return run


Flake8 = Callable[..., tuple[int, list[str], str]]

TOLD = "TL101 `.data` gives a tensor whose changes autograd does not notice; use `.detach()`"

FILES = {
    "a finding": (f"{HEAD}print(w.data)\n", [f"./x.py:3:9: {TOLD}"]),
    "silenced for flake8": (f"{HEAD}print(w.data)  # noqa: TL101\nprint(w.data)  # noqa\n", []),
    "silenced for torchlint": (f"{HEAD}print(w.data)  # torchlint: ignore[TL101]\n", []),
    "wide characters": (f"{HEAD}print('数', w.data)\n", [f"./x.py:3:14: {TOLD}"]),
    "another encoding": (f"# coding: latin-1\n{HEAD}print('é', w.data)\n".encode("latin-1"), [f"./x.py:4:14: {TOLD}"]),
    "a byte order mark": (b"\xef\xbb\xbf" + f"{HEAD}print(w.data)\n".encode(), [f"./x.py:3:9: {TOLD}"]),
    "nothing": ("import torch\n", []),
    "empty": ("", []),
}


@pytest.mark.parametrize(("code", "expected"), FILES.values(), ids=FILES)
def test_files(code: str | bytes, expected: list[str], flake8: Flake8, write: Write) -> None:
    write({"x.py": code})
    assert flake8("--exclude", "site", ".") == (int(bool(expected)), expected, "")


def test_what_does_not_parse_is_for_flake8(flake8: Flake8, write: Write) -> None:
    write({"x.py": "import torch\ntorch.ones(3).cuda(async=True)\n"})
    _, lines, _ = flake8("x.py")
    assert [line.split()[1] for line in lines] == ["E999"]


def test_settings(flake8: Flake8, write: Write) -> None:
    code = f"{HEAD}print(w.data, w.sum().data[0])\n"
    write({"x.py": code, "gen/y.py": code, "torchlint.toml": 'ignore = ["TL203"]\nextend-exclude = ["gen"]\n'})
    assert flake8("x.py", "gen/y.py") == (1, [f"x.py:3:9: {TOLD}"], "")
    assert flake8("--extend-ignore", "TL1", "x.py") == (0, [], "")
    assert flake8("-", stdin=code) == (1, [f"stdin:3:9: {TOLD}"], "")


def test_flake8_knows_it(flake8: Flake8) -> None:
    _, lines, _ = flake8("--version")
    assert f"torchlint: {__version__}" in " ".join(lines)


def test_wrong_settings_are_told(flake8: Flake8, write: Write) -> None:
    write({"x.py": HEAD, "torchlint.toml": "selekt = 1\n"})
    code, _, err = flake8("x.py")
    assert code == 1
    assert "unknown key `selekt`" in err
