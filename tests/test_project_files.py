"""Files for services and for those who take part: valid for who reads them, and true."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from torchlint import __version__
from torchlint.project.stated import toml

ROOT = Path(__file__).parents[1]
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
PAGES = [ROOT / name for name in ("CONTRIBUTING.md", "SECURITY.md", "README.md", "action.yml")]
PAGES += sorted((ROOT / "docs").glob("*.md"))

GITLAB = re.search(
    r"^```yaml\n(# \.gitlab-ci\.yml\n.*?)^```$", (ROOT / "docs" / "ci.md").read_text("utf-8"), re.M | re.S
)

VALID = [
    ("vendor.github-workflows", [path.relative_to(ROOT).as_posix() for path in WORKFLOWS]),
    ("vendor.github-actions", ["action.yml"]),
    ("vendor.gitlab-ci", ["gitlab.yml"]),
    ("vendor.citation-file-format", ["CITATION.cff"]),
]


@pytest.mark.parametrize(("schema", "files"), VALID, ids=[schema for schema, _ in VALID])
def test_files_are_valid(schema: str, files: list[str], tmp_path: Path) -> None:
    pytest.importorskip("check_jsonschema")
    assert GITLAB is not None
    (tmp_path / "gitlab.yml").write_text(GITLAB[1], encoding="utf-8")
    paths = [str(path) for name in files for path in (ROOT / name, tmp_path / name) if path.exists()]
    assert len(paths) == len(files)
    command = [sys.executable, "-m", "check_jsonschema", "--default-filetype", "yaml", "--builtin-schema", schema]
    ran = subprocess.run([*command, *paths], capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stdout + ran.stderr


def test_workflows_run_what_python_is_supported() -> None:
    (tests,) = (path for path in WORKFLOWS if path.stem == "test")
    matrix = yaml.safe_load(tests.read_text(encoding="utf-8"))["jobs"]["test"]["strategy"]["matrix"]
    project = toml((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert isinstance(project, dict)
    told = re.findall(r"Python :: (3\.\d+)", "\n".join(project["classifiers"]))
    assert matrix["python"] == told
    assert {system.partition("-")[0] for system in matrix["os"]} == {"ubuntu", "macos", "windows"}


@pytest.mark.parametrize("workflow", WORKFLOWS, ids=lambda path: path.name)
def test_workflows_may_do_no_more_than_they_need(workflow: Path) -> None:
    said = yaml.safe_load(workflow.read_text(encoding="utf-8"))
    assert said["permissions"] == {"contents": "read"}
    scripts = [step["run"] for job in said["jobs"].values() for step in job["steps"] if "run" in step]
    assert not any("${{" in script for script in scripts)  # what others write is no part of a script


def test_the_citation_is_of_this_version() -> None:
    said = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    assert said["version"] == __version__
    assert {"cff-version", "message", "title", "authors"} <= set(said)


@pytest.mark.parametrize("page", PAGES, ids=lambda path: path.name)
def test_links_lead_somewhere(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    for target, anchor in re.findall(r"\]\(([^)#\s]*)#?([^)\s]*)\)", text):
        if target.startswith("https://") or re.search(r"```[^`]*\]\(" + re.escape(target), text):
            continue
        file = page.parent / target if target else page
        assert file.exists(), target
        if anchor and file.suffix == ".md":
            heads = re.findall(r"^#+ (.*)$", file.read_text(encoding="utf-8"), re.MULTILINE)
            assert anchor in {re.sub(r"[^\w -]", "", head.lower()).replace(" ", "-") for head in heads}, anchor


def test_scripts_that_are_named_exist() -> None:
    # with a line number it is a place in another repository
    texts = [path.read_text(encoding="utf-8") for path in (*PAGES, *WORKFLOWS)]
    named = [name for text in texts for name in re.findall(r"\bscripts/\w+\.py\b(?!:\d)", text)]
    assert named
    assert [name for name in named if not (ROOT / name).exists()] == []
