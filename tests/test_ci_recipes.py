"""What the page on CI says is run: the action by a shell, lintrunner by itself, the commands of the recipes."""

from __future__ import annotations

import configparser
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import textwrap
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
from conftest import Torchlint

from torchlint import lintrunner
from torchlint.project.stated import toml

Write = Callable[[dict[Any, Any]], None]

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs" / "ci.md").read_text(encoding="utf-8")
CODE = "import torch\nw = torch.ones(3, requires_grad=True)\nprint(w.data)\n"
FIXED = CODE.replace(".data", ".detach()")
MANUAL = "import torch\np = torch.ones(3)\np.data = torch.zeros(3)\n"

posix = pytest.mark.skipif(os.name == "nt", reason="it is a script for bash")


def blocks(kind: str) -> list[str]:
    return [textwrap.dedent(block) for block in re.findall(rf"^```{kind}\n(.*?)^```$", PAGE, re.M | re.S)]


# ---------------------------------------------------------------------- GitHub's action


def action() -> Any:
    return yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))


@posix
@pytest.mark.parametrize(
    ("inputs", "code", "expected"),
    [
        ({}, 1, "pipx run --spec torchlint torchlint check"),
        ({"version": "==0.1.0", "args": "--exit-zero x.py"}, 0, "pipx run --spec torchlint==0.1.0 torchlint check"),
        ({"sarif": "out.sarif", "args": "--select TL2"}, 0, "--output-format sarif:out.sarif --select TL2"),
    ],
)
def test_the_action(inputs: dict[str, str], code: int, expected: str, write: Write, tmp_path: Path) -> None:
    (step,) = action()["runs"]["steps"]
    given = {name: inputs.get(name, known["default"]) for name, known in action()["inputs"].items()}
    values = {
        name: re.sub(r"\$\{\{ inputs\.(\w+) \}\}", lambda match: given[match[1]], value)
        for name, value in step["env"].items()
    }
    write(
        {
            "project/x.py": CODE,
            "bin/pipx": f'#!/bin/sh\necho "pipx $*" >&2\nshift 4\nexec {sys.executable} -m torchlint "$@"\n',
        }
    )
    (tmp_path / "bin" / "pipx").chmod(0o755)
    environment = {
        **os.environ,
        **values,
        "PATH": f"{tmp_path / 'bin'}{os.pathsep}{os.environ['PATH']}",
        "PYTHONPATH": str(ROOT),
        "GITHUB_STEP_SUMMARY": str(tmp_path / "summary.md"),
    }
    ran = subprocess.run(
        ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]],
        cwd=tmp_path / "project", env=environment, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert ran.returncode == code, ran.stderr
    assert expected in ran.stderr
    assert (tmp_path / "summary.md").read_text(encoding="utf-8").startswith("### torchlint: ")
    assert (tmp_path / "project" / "out.sarif").exists() is ("sarif" in inputs)
    assert ran.stdout.startswith("::") is ("TL2" not in given["args"])


# ---------------------------------------------------------------------- recipes


def test_workflows_give_the_action_what_it_takes() -> None:
    known = set(action()["inputs"])
    used = [yaml.safe_load(block) for block in blocks("yaml")]
    steps = [step for each in used if "jobs" in each for job in each["jobs"].values() for step in job["steps"]]
    steps += [step for each in used if isinstance(each, list) for step in each]
    asked = [step["with"] for step in steps if step["uses"].startswith("torchlint/")]
    assert len(asked) == 2
    assert all(set(each) <= known for each in asked)


def test_hooks_are_those_there_are() -> None:
    (config,) = (each for block in blocks("yaml") if "repos" in (each := yaml.safe_load(block)))
    manifest = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8"))
    asked = [hook["id"] for repo in config["repos"] for hook in repo["hooks"]]
    assert set(asked) == {hook["id"] for hook in manifest}


def commands() -> list[str]:
    """What recipes have run, as it is written after the name of the program."""
    (tox,) = blocks("ini")
    parser = configparser.ConfigParser()
    parser.read_string(tox)
    found = [parser["testenv:torchlint"]["commands"].replace("{posargs:.}", ".")]
    (gitlab,) = (each for block in blocks("yaml") if "torchlint" in (each := yaml.safe_load(block)))
    found += [line for line in gitlab["torchlint"]["script"] if "check" in line]
    (azure,) = (each for block in blocks("yaml") if "steps" in (each := yaml.safe_load(block)))
    found += [step["script"] for step in azure["steps"] if "check" in step["script"]]
    found += [
        line.split("run ")[-1].split("uvx ")[-1]
        for block in blocks("sh")
        for line in block.splitlines()
        if "check" in line
    ]
    return [line.removeprefix("torchlint ") for line in found]


@pytest.mark.parametrize("command", commands())
def test_commands(command: str, write: Write, torchlint: Torchlint) -> None:
    write({"x.py": CODE})
    ran = torchlint(*shlex.split(command))
    assert (ran.code, ran.err) == (1, "")


def test_all_recipes_are_looked_at() -> None:
    assert len(commands()) == 5


def test_nox_runs_its_recipe(write: Write, torchlint: Torchlint) -> None:
    (recipe,) = blocks("python")
    ran: list[tuple[str, ...]] = []

    class Session:
        posargs: tuple[str, ...] = ()

        def install(self, *names: str) -> None:
            assert names == ("torchlint",)

        def run(self, program: str, *arguments: str) -> None:
            ran.append(arguments)

    scope: dict[str, Any] = {}
    exec(recipe.replace("import nox", "").replace("@nox.session", ""), scope)
    scope["torchlint"](Session())
    write({"x.py": CODE})
    assert torchlint(*ran[0]).code == 1


# ---------------------------------------------------------------------- lintrunner


def test_messages_for_lintrunner(write: Write, torchlint: Torchlint, tmp_path: Path) -> None:
    write(
        {
            "x.py": CODE,
            "y.py": MANUAL,
            "old.py": f"# coding: latin-1\n# é\n{CODE}".encode("latin-1"),
            "gen/z.py": CODE,
            "torchlint.toml": 'extend-exclude = ["gen"]\n',
        }
    )
    found = list(lintrunner.messages(["x.py", "y.py", "old.py", "gen/z.py", "missing.py"], 1))
    assert [(each["path"], each["line"], each["severity"], each["name"]) for each in found] == [
        ("missing.py", None, "error", "not-checked"),
        ("old.py", 5, "advice", "data-read"),
        ("x.py", None, "advice", "safe-fixes"),
        ("y.py", 3, "warning", "data-assign"),
    ]
    assert (found[2]["original"], found[2]["replacement"]) == (CODE, FIXED)
    keys = ["path", "line", "char", "code", "severity", "name", "original", "replacement", "description"]
    assert all(list(each) == keys for each in found)


LINTRUNNER = shutil.which("lintrunner", path=str(Path(sys.executable).parent))


@posix
@pytest.mark.skipif(LINTRUNNER is None, reason="lintrunner is not installed")
def test_lintrunner_runs_its_recipe(write: Write, tmp_path: Path) -> None:
    (recipe,) = blocks("toml")
    config: Any = toml(recipe)
    (linter,) = config["linter"]
    linter["command"][0] = sys.executable
    lines = [f"{key} = {json.dumps(value)}" for key, value in linter.items() if key != "init_command"]
    write({"x.py": CODE, "y.py": MANUAL, ".lintrunner.toml": "\n".join(["[[linter]]", *lines])})
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}

    def run(*arguments: str) -> subprocess.CompletedProcess[str]:
        command = [str(LINTRUNNER), "--data-path", str(tmp_path / ".data"), *arguments, "x.py", "y.py"]
        return subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)

    subprocess.run(["git", "init", "--quiet", "."], cwd=tmp_path, check=True)
    subprocess.run(["git", "add", "."], cwd=tmp_path, check=True)
    subprocess.run(["git", "-c", "user.name=x", "-c", "user.email=x@y", "commit", "-qm", "x"], cwd=tmp_path, check=True)
    ran = run("--output", "json")
    told = [json.loads(line) for line in ran.stdout.splitlines()]
    assert sorted((Path(each["path"]).name, each["name"]) for each in told) == [
        ("x.py", "safe-fixes"),
        ("y.py", "data-assign"),
    ]
    run("--apply-patches")
    assert (tmp_path / "x.py").read_text(encoding="utf-8") == FIXED
    assert (tmp_path / "y.py").read_text(encoding="utf-8") == MANUAL
