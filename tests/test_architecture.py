"""Who may import whom, and what a quick start must not import."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "scripts"))

import layout  # noqa: E402

PACKAGE = ROOT / "torchlint"

LAYERS = (
    "__main__",
    "cli",
    "lintrunner",
    "api",
    "flake8_plugin",
    "server",
    "codemods",
    "testing",
    "cli.report",
    "session",
    "file",
    "file.docs",
    "file.notebook",
    *(f"file.{stage}" for stage in reversed(layout.STAGES)),
    "project",
    "rules",
    "rules.shared",
    "rules.api",
    "edit",
    "rule",
    "trigger",
    "model",
    "file.tree",
    "file.text",
    "versions",
    "diagnostic",
    "system",
    "",
)
"""The rooms from the top to the bottom: what stands in one imports from its own and from those below."""

LONGEST = 500
"""Lines of a module that people write."""


def test_arrows_go_down() -> None:
    upwards = [
        f"{room} imports {target}"
        for room, targets in layout.between_rooms().items()
        for target in targets
        if LAYERS.index(target) <= LAYERS.index(room)
    ]
    assert not upwards


def test_every_room_has_its_place() -> None:
    assert set(LAYERS) == {layout.room(module) for module in layout.modules()}


def test_no_module_imports_itself_by_way_of_others() -> None:
    assert layout.circles(layout.graph(for_types=False)) == []


def test_types_go_round_in_one_package_only() -> None:
    for circle in layout.circles(layout.graph(for_types=True)):
        assert len({module.partition(".")[0] for module in circle}) == 1, circle


def test_a_rule_knows_no_other_rule() -> None:
    for module, targets in layout.graph(for_types=True).items():
        if module.startswith("rules.tl"):
            assert not [target for target in targets if target.startswith("rules.tl")], module


@pytest.mark.parametrize("module", layout.modules())
def test_no_module_is_long(module: str) -> None:
    path = layout.modules()[module]
    assert len(path.read_text(encoding="utf-8").splitlines()) <= LONGEST


def test_the_picture_is_drawn_from_the_code() -> None:
    text = layout.PAGE.read_text(encoding="utf-8")
    assert layout.page(text) == text, "python scripts/layout.py"


EXECUTES = "testing.execution"
"""Runs programs under torch, which is no part of linting."""


def test_torch_is_never_imported() -> None:
    for module, path in layout.modules().items():
        if module == EXECUTES:
            continue
        for node in ast.walk(ast.parse(path.read_bytes())):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            assert not any(name.partition(".")[0] == "torch" for name in names), path
    users = {room for room, targets in layout.between_rooms().items() if "testing" in targets}
    assert users <= {"testing"}, "what lints has to do without"


# arguments, what is not imported for them
LAZY = {
    "--version": {"click", "libcst", "pathspec", "asyncio", "importlib.metadata", "torch"},
    "check --help": {
        "libcst",
        "pathspec",
        "torchlint.session.scheduler",
        "torchlint.file.check",
        "asyncio",
        "importlib.metadata",
        "torch",
    },
    "server --help": {"libcst", "pygls", "lsprotocol", "torchlint.file.check", "torch"},
    "infer --help": {"libcst", "pathspec", "torchlint.file.check", "torchlint.session.scheduler", "torch"},
    "rule TL101": {"libcst", "pathspec", "torchlint.file.check", "torch"},
    "check clean.py": {
        "libcst",
        "pathspec",
        "importlib.metadata",
        "multiprocessing",
        "torchlint.session.pool",
        "torch",
    },
    "check flagged.py": {"libcst.matchers", "libcst.codemod", "pathspec", "torch"},
}


@pytest.mark.parametrize(("arguments", "absent"), LAZY.items())
def test_start_up_imports(arguments: str, absent: set[str], tmp_path: Path) -> None:
    (tmp_path / "clean.py").write_text("import os\n", encoding="utf-8")
    (tmp_path / "flagged.py").write_text("import torch\nx = torch.ones(3).data\n", encoding="utf-8")
    command = [sys.executable, "-X", "importtime", "-m", "torchlint", *arguments.split()]
    ran = subprocess.run(
        command,
        capture_output=True,
        text=True,
        check=False,
        cwd=tmp_path,
        env={"PYTHONPATH": str(PACKAGE.parent), "HOME": str(tmp_path)},
    )
    assert ran.returncode == ("flagged" in arguments), ran.stderr
    loaded = {line.rpartition("|")[2].strip() for line in ran.stderr.splitlines() if line.startswith("import time:")}
    assert "torchlint" in loaded
    assert ("libcst" in loaded) == ("flagged" in arguments)
    assert not loaded & absent


def test_no_two_classes_share_a_name() -> None:
    """Neither do aliases of types: whoever reads a name in a signature has to know which is meant."""
    owners: dict[str, set[str]] = defaultdict(set)
    for module, path in layout.modules().items():
        tree = ast.parse(path.read_bytes())
        for node in ast.walk(tree):
            if isinstance(node, ast.ClassDef):
                owners[node.name].add(module)
        for statement in tree.body:
            for name in _assigned(statement):
                if _CLASS_NAME.fullmatch(name):
                    owners[name].add(module)
    assert {name: sorted(modules) for name, modules in owners.items() if len(modules) > 1} == {}


_CLASS_NAME = re.compile(r"_?[A-Z][a-z]\w*")


def _assigned(statement: ast.stmt) -> list[str]:
    targets = statement.targets if isinstance(statement, ast.Assign) else []
    targets = [*targets, statement.target] if isinstance(statement, ast.AnnAssign) else targets
    return [target.id for target in targets if isinstance(target, ast.Name)]
