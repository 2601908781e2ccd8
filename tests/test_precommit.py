"""The published hooks, run by pre-commit itself on a small repository.

``language: python`` would have pre-commit build the package and fetch its dependencies, so the hooks run as local
ones of ``language: system``, in this environment; everything else about them is taken from the manifest.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).parents[1]
MANIFEST = ROOT / ".pre-commit-hooks.yaml"
HOOKS: dict[str, dict[str, Any]] = {hook["id"]: hook for hook in yaml.safe_load(MANIFEST.read_text(encoding="utf-8"))}

SAFE = "import torch\nprint(torch.ones(3, requires_grad=True).data)\n"
MANUAL = "import torch\np = torch.ones(3)\np.data = torch.zeros(3)\n"


class Repository:
    """A git repository with hooks in its configuration."""

    def __init__(self, path: Path, home: Path, *hooks: str, **settings: Any) -> None:
        self.path = path
        self.environment = {
            **os.environ,
            "PATH": os.pathsep.join([str(home / "bin"), str(Path(sys.executable).parent), os.environ["PATH"]]),
            "PYTHONPATH": str(ROOT),
            "PRE_COMMIT_HOME": str(home),
            "GIT_CONFIG_GLOBAL": os.devnull,
            "GIT_CONFIG_NOSYSTEM": "1",
        }
        for name in ("GIT_DIR", "GIT_INDEX_FILE", "GIT_WORK_TREE", "PRE_COMMIT"):
            self.environment.pop(name, None)
        (home / "bin").mkdir(parents=True)
        script = home / "bin" / "torchlint"  # as an installation would make it
        script.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m torchlint "$@"\n', encoding="utf-8")
        script.chmod(0o755)
        path.mkdir()
        self.git("init", "-q")
        local = [{**HOOKS[hook], "language": "system", **settings} for hook in hooks]
        for each in local:
            del each["additional_dependencies"]
        config = json.dumps({"repos": [{"repo": "local", "hooks": local}]})  # JSON is YAML
        self.write(".pre-commit-config.yaml", config)

    def git(self, *arguments: str) -> str:
        command = ["git", "-c", "user.name=A", "-c", "user.email=a@example.org", *arguments]
        ran = subprocess.run(command, cwd=self.path, env=self.environment, check=True, capture_output=True, text=True)
        return ran.stdout

    def write(self, name: str, content: str) -> None:
        file = self.path / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(content, encoding="utf-8")
        self.git("add", name)

    def hook(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "pre_commit", "run", "--color", "never", *arguments]
        return subprocess.run(command, cwd=self.path, env=self.environment, check=False, capture_output=True, text=True)


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "home"


def test_manifest_is_valid() -> None:
    command = [sys.executable, "-m", "pre_commit", "validate-manifest", str(MANIFEST)]
    ran = subprocess.run(command, check=False, capture_output=True, text=True)
    assert ran.returncode == 0, ran.stdout
    assert list(HOOKS) == ["torchlint", "torchlint-fix"]


def test_a_finding_fails_and_changes_nothing(tmp_path: Path, home: Path) -> None:
    repository = Repository(tmp_path / "repo", home, "torchlint")
    repository.write("train.py", SAFE)
    repository.write("README.md", SAFE)
    ran = repository.hook()
    assert ran.returncode == 1
    assert re.search(r"^torchlint\.+Failed$", ran.stdout, re.MULTILINE)
    assert " --> train.py:2:41\n" in ran.stdout
    assert "README.md" not in ran.stdout
    assert "files were modified" not in ran.stdout
    assert (repository.path / "train.py").read_text(encoding="utf-8") == SAFE


def test_clean_files_pass(tmp_path: Path, home: Path) -> None:
    repository = Repository(tmp_path / "repo", home, "torchlint")
    repository.write("train.py", "import torch\nprint(torch.ones(3))\n")
    repository.write("stub.pyi", "x: int\n")
    ran = repository.hook()
    assert (ran.returncode, "Passed" in ran.stdout) == (0, True)


def test_fix_changes_the_file_and_the_second_run_passes(tmp_path: Path, home: Path) -> None:
    repository = Repository(tmp_path / "repo", home, "torchlint-fix")
    repository.write("train.py", SAFE)
    first = repository.hook()
    assert first.returncode == 1
    assert "files were modified by this hook" in first.stdout
    assert "- train.py:\n    1 × TL101 (data-read)" in first.stdout
    assert (repository.path / "train.py").read_text(encoding="utf-8") == SAFE.replace(".data", ".detach()")
    repository.git("add", "train.py")
    second = repository.hook()
    assert (second.returncode, "Passed" in second.stdout) == (0, True)
    assert "+print(torch.ones(3, requires_grad=True).detach())" in repository.git("diff", "--cached", "--", "train.py")


def test_fix_leaves_what_it_cannot_fix_to_the_other_hook(tmp_path: Path, home: Path) -> None:
    repository = Repository(tmp_path / "repo", home, "torchlint-fix")
    repository.write("train.py", MANUAL)
    ran = repository.hook()
    assert (ran.returncode, "Passed" in ran.stdout) == (0, True)
    assert (repository.path / "train.py").read_text(encoding="utf-8") == MANUAL


def test_both_hooks_together_report_each_finding_once(tmp_path: Path, home: Path) -> None:
    repository = Repository(tmp_path / "repo", home, "torchlint-fix", "torchlint")
    repository.write("train.py", SAFE)
    repository.write("model.py", MANUAL)
    ran = repository.hook()
    assert ran.returncode == 1
    assert re.findall(r"\bTL\d+\b", ran.stdout) == ["TL101", "TL103"]  # fixed, left
    assert (repository.path / "train.py").read_text(encoding="utf-8") == SAFE.replace(".data", ".detach()")


def test_settings_and_arguments_hold(tmp_path: Path, home: Path) -> None:
    repository = Repository(tmp_path / "repo", home, "torchlint", args=["--ignore", "TL103"])
    repository.write("pyproject.toml", "[tool.torchlint]\nextend-exclude = ['old']\n")
    repository.write("old/train.py", SAFE)
    repository.write("train.py", MANUAL)
    ran = repository.hook("--all-files")
    assert (ran.returncode, "Passed" in ran.stdout) == (0, True), ran.stdout


def test_a_commit_is_stopped(tmp_path: Path, home: Path) -> None:
    repository = Repository(tmp_path / "repo", home, "torchlint")
    command = [sys.executable, "-m", "pre_commit", "install"]
    subprocess.run(command, cwd=repository.path, env=repository.environment, check=True, capture_output=True)
    repository.write("train.py", SAFE)
    with pytest.raises(subprocess.CalledProcessError) as error:
        repository.git("commit", "-m", "x")
    assert "TL101" in error.value.stderr + error.value.stdout
    repository.write("train.py", SAFE.replace(".data", ""))
    repository.git("commit", "-m", "x")
    assert repository.git("log", "--format=%s") == "x\n"
