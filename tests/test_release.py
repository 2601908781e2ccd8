"""What is in the wheel, and what the package index will show of it."""

from __future__ import annotations

import re
import subprocess
import sys
import tarfile
from email import message_from_string
from email.message import Message
from pathlib import Path
from zipfile import ZipFile

import pytest

from torchlint import __version__

pytest.importorskip("hatchling")
pytest.importorskip("hatch_fancy_pypi_readme")

ROOT = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder with what is released, built without an environment of its own."""
    folder = tmp_path_factory.mktemp("dist")
    subprocess.run([sys.executable, "-m", "hatchling", "build", "-d", str(folder)], cwd=ROOT, check=True)
    return folder


@pytest.fixture
def wheel(built: Path) -> ZipFile:
    return ZipFile(built / f"torchlint-{__version__}-py3-none-any.whl")


def metadata(wheel: ZipFile) -> Message:
    return message_from_string(wheel.read(f"torchlint-{__version__}.dist-info/METADATA").decode())


def test_the_wheel_holds_what_runs_and_nothing_twice(wheel: ZipFile) -> None:
    names = [name for name in wheel.namelist() if ".dist-info/" not in name]
    there = [path.relative_to(ROOT).as_posix() for path in (ROOT / "torchlint").rglob("*") if path.is_file()]
    wanted = [name for name in there if "__pycache__" not in name and not name.endswith(".toml")]
    assert sorted(names) == sorted(wanted)
    assert {Path(name).suffix for name in names} == {".py", ".json", ".typed"}
    data = [wheel.read(name) for name in names if wheel.getinfo(name).file_size]
    assert len(set(data)) == len(data)


def test_the_source_distribution_has_all_that_tests_need(built: Path) -> None:
    with tarfile.open(built / f"torchlint-{__version__}.tar.gz") as opened:
        names = {name.partition("/")[2] for name in opened.getnames()}
    needed = (
        "tests/conftest.py",
        "benchmarks/revival/programs.json",
        ".pre-commit-hooks.yaml",
        "action.yml",
        "docs/ci.md",
    )
    assert names.issuperset(needed)
    assert not any(".git/" in name or "__pycache__" in name for name in names)


def test_metadata(wheel: ZipFile) -> None:
    said = metadata(wheel)
    assert (said["Name"], said["Version"], said["License-Expression"]) == ("torchlint", __version__, "MIT")
    required = [each for each in said.get_all("Requires-Dist", []) if "extra ==" not in each]
    assert [re.split(r"[<>=; ]", each)[0] for each in required] == ["click", "libcst", "tomli"]
    entries = wheel.read(f"torchlint-{__version__}.dist-info/entry_points.txt").decode()
    assert "torchlint = torchlint.cli.main:main" in entries
    assert "TL = torchlint.flake8_plugin:TorchlintPlugin" in entries


def test_links_lead_out_of_the_package_index(wheel: ZipFile) -> None:
    text = metadata(wheel).get_payload()
    assert isinstance(text, str)
    links = re.findall(r"\]\(([^)\s]+)\)", text)
    assert len(links) > 50
    assert all(link.startswith(("https://", "#")) for link in links)


def test_twine_is_content(built: Path) -> None:
    pytest.importorskip("twine")
    command = [sys.executable, "-m", "twine", "check", "--strict", *map(str, sorted(built.iterdir()))]
    assert subprocess.run(command, check=False, capture_output=True).returncode == 0
