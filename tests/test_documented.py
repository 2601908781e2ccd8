"""The commands on the pages for users are run, one after the other, and print what the pages say."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from forked import python

ROOT = Path(__file__).parents[1]
PAGES = (
    "adopting.md",
    "baseline.md",
    "suppressions.md",
    "output.md",
    "notebooks.md",
    "settings.md",
    "assistants.md",
    "code-in-text.md",
    "upgrading.md",
)


def commands(page: str) -> list[tuple[str, str]]:
    """The commands of a page, each with what it prints."""
    found = []
    for _, block in re.findall(r"^(`{3,})console\n(.*?)^\1$", page, re.MULTILINE | re.DOTALL):
        for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            line, _, output = part.partition("\n")
            found.append((line, output))
    return found


def pattern(expected: str) -> str:
    """What a command may print, with the very numbers; a date is any date.

    ``...`` stands for anything, and on a line of its own for any lines.
    """
    escaped = re.sub(r"^\\\.\\\.\\\.\\\n", "(?:.*\\n)*", re.escape(expected), flags=re.MULTILINE)
    escaped = re.sub(r"[0-9]{4}\\-[0-9]{2}\\-[0-9]{2}", r"[0-9]{4}-[0-9]{2}-[0-9]{2}", escaped)
    return escaped.replace(r"\.\.\.", ".*")


def shell(line: str, folder: Path, environment: dict[str, str]) -> subprocess.CompletedProcess[str]:
    """Run a line; one that is nothing but a call of the program needs no shell."""
    if re.fullmatch(r"torchlint [\w ./:=,-]+", line):
        return python(["-m", *line.split()], folder, environment)
    command = ["/bin/sh", "-c", line]
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)


@pytest.mark.parametrize("name", PAGES)
@pytest.mark.skipif(os.name == "nt", reason="the commands are those of a shell")
def test_a_page(name: str, tmp_path: Path) -> None:
    project = tmp_path / "project"
    shutil.copytree(ROOT / "examples" / "legacy", project, ignore=shutil.ignore_patterns("__pycache__", ".*"))
    tool = tmp_path / "bin" / "torchlint"
    tool.parent.mkdir()
    tool.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -m torchlint "$@"\n', encoding="utf-8")
    tool.chmod(0o755)
    plain = {key: value for key, value in os.environ.items() if not key.startswith(("GIT_", "TORCHLINT_"))}
    environment = {
        **plain,
        "PATH": f"{tool.parent}{os.pathsep}{os.environ['PATH']}",
        "PYTHONPATH": str(ROOT),
        "GIT_CONFIG_GLOBAL": str(tmp_path / "gitconfig"),
        "GIT_CONFIG_NOSYSTEM": "1",
    }
    (tmp_path / "gitconfig").write_text("[user]\n\tname = x\n\temail = x@y\n", encoding="utf-8")
    subprocess.run(["git", "init", "--quiet", "."], cwd=project, env=environment, check=True)
    ran = 0
    for line, expected in commands((ROOT / "docs" / name).read_text(encoding="utf-8")):
        done = shell(line, project, environment)
        assert done.stderr == "", line
        assert re.fullmatch(pattern(expected), done.stdout), f"{line}\n{done.stdout}"
        ran += 1
    assert ran >= 3


def options_there_are() -> set[str]:
    """The options of all commands."""
    from torchlint.cli.commands import cli

    groups = [each.commands for each in cli.commands.values() if hasattr(each, "commands")]
    found = [command for commands in (cli.commands, *groups) for command in commands.values()]
    return {name for command in found for option in command.params for name in (*option.opts, *option.secondary_opts)}


def test_options_for_those_who_know_pylint_exist() -> None:
    text = (ROOT / "docs" / "pylint.md").read_text(encoding="utf-8")
    ours = "\n".join(re.findall(r"^\| .*? \| (.*) \|$", text, re.MULTILINE))
    options = set(re.findall(r"(?<!-)--[a-z][a-z-]+", ours))
    assert len(options) > 5
    assert options <= options_there_are()


def test_options_and_settings_that_are_documented_exist() -> None:
    from torchlint.project.keys import BY_NAME

    known = options_there_are()
    for page in PAGES:
        text = (ROOT / "docs" / page).read_text(encoding="utf-8")
        options = set(re.findall(r"(?<!-)--[a-z][a-z-]+", text)) - {"--all", "--quiet", "--message"}
        assert options <= known, page
        for block in re.findall(r"^```toml\n(.*?)^```$", text, re.MULTILINE | re.DOTALL):
            assert set(re.findall(r"^([a-z-]+) = ", block, re.MULTILINE)) <= set(BY_NAME), page
