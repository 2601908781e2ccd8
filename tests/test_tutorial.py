"""The tutorial on writing rules is followed literally: its files are written, its commands run, its output compared."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs" / "writing-a-rule.md").read_text(encoding="utf-8")

STEP = re.compile(
    r"(?:`(?P<file>[\w./]+)`:\n\n)?^(?P<fence>`{3,4})(?P<kind>\w+)\n(?P<text>.*?)^(?P=fence)$", re.M | re.S
)


class Command(NamedTuple):
    """A line of a console, with what is printed."""

    line: str
    output: str


def commands(text: str) -> Iterator[Command]:
    """The commands of a console, each with the lines up to the next one."""
    for part in re.split(r"^\$ ", text, flags=re.M)[1:]:
        line, _, output = part.partition("\n")
        yield Command(line, output)


class Reader:
    """Follows the page."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.site = directory / "site"
        self.ran: list[str] = []
        self.written: list[str] = []

    def write(self, name: str, text: str) -> None:
        path = self.directory / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        self.written.append(name)

    def run(self, command: Command) -> None:
        """Run a command as far as there is no network in it."""
        words = shlex.split(command.line)
        self.ran.append(command.line)
        if words[0] == "mkdir":
            (self.directory / words[1]).mkdir()
        elif words[0] == "cd":
            self.directory /= words[1]
        elif words[:3] == ["python", "-m", "pip"] and "-e" in words:
            self.install()
        elif words[0] in ("python", "torchlint") and words[:3] not in (
            ["python", "-m", "venv"],
            ["python", "-m", "pip"],
        ):
            arguments = ["-m", "torchlint", *words[1:]] if words[0] == "torchlint" else words[1:]
            self.compare(command, arguments)

    def compare(self, command: Command, arguments: list[str]) -> None:
        path = os.pathsep.join((str(ROOT), str(self.site), str(self.directory)))
        environment = {**os.environ, "PYTHONPATH": path, "XDG_STATE_HOME": str(self.site)}
        ran = subprocess.run(
            [sys.executable, *arguments],
            cwd=self.directory,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
            timeout=300,
        )
        assert ran.returncode in (0, 1), f"{command.line}: {ran.stderr}"
        assert not ran.stderr, f"{command.line}: {ran.stderr}"
        if not command.output:
            return
        if "pytest" in arguments:
            assert re.search(rf"^{re.escape(command.output.strip())} in ", ran.stdout, re.M), ran.stdout
        else:
            assert ran.stdout == command.output, command.line

    def install(self) -> None:
        """What `pip install -e` leaves behind of `pyproject.toml`, for nothing is to come over the network."""
        project = tomllib.loads((self.directory / "pyproject.toml").read_text(encoding="utf-8"))["project"]
        metadata = self.site / f"{project['name']}-{project['version']}.dist-info"
        metadata.mkdir(parents=True)
        about = f"Metadata-Version: 2.1\nName: {project['name']}\nVersion: {project['version']}\n"
        (metadata / "METADATA").write_text(about, encoding="utf-8")
        groups = project["entry-points"].items()
        lines = [f"[{group}]\n" + "".join(f"{k} = {v}\n" for k, v in entries.items()) for group, entries in groups]
        (metadata / "entry_points.txt").write_text("\n".join(lines), encoding="utf-8")


def test_followed_literally(tmp_path: Path) -> None:
    reader = Reader(tmp_path)
    for step in STEP.finditer(PAGE):
        if step["kind"] == "console":
            for command in commands(step["text"]):
                reader.run(command)
        elif step["file"]:
            reader.write(step["file"], step["text"])
        elif step["kind"] == "toml":
            assert step["text"] in (reader.directory / "pyproject.toml").read_text(encoding="utf-8")
    assert reader.written == ["house_rules/hr001_len_of_shape.py", "train.py", "house_rules/hr002_one_name_for_cat.py"]
    assert len(reader.ran) >= 15
    fixed = (reader.directory / "train.py").read_text(encoding="utf-8")
    assert "x.dim() == 3" in fixed
    assert "torch.cat([x, y], dim=1)" in fixed


def test_what_packages_may_import_is_there() -> None:
    import importlib

    sentence = re.search(r"What packages may import: (.*?)\. Everything else", PAGE, re.S)
    assert sentence is not None
    for name in re.findall(r"`([\w.]+)`", sentence[1]):
        module, _, attribute = name.rpartition(".")
        assert hasattr(importlib.import_module(module), attribute) or importlib.import_module(name)


def test_the_triggers_are_there() -> None:
    from torchlint.trigger import FUNCTIONS

    table = PAGE[PAGE.index("| trigger |") : PAGE.index("**The finding**")]
    named = set(re.findall(r"`(\w+)\(", table.partition("\n\n")[0]))
    assert named == set(FUNCTIONS) - {"listed"}, "`listed` is for what torchlint has in a table of its own"


def test_the_edits_are_there() -> None:
    from torchlint import edit

    named = set(re.findall(r"`edit\.(\w+)\(", PAGE))
    assert named
    assert all(callable(getattr(edit, name)) for name in named)
