"""Who may import whom, and what a quick start must not import."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[1] / "torchlint"

ARROWS = {
    "__main__": {"cli"},
    "cli": {"", "commands", "crash", "report"},
    "commands": {"", "cachedir", "check", "config", "explain", "report", "reveal", "upgrade"},
    "upgrade": {"config", "diagnostic", "engine", "files", "report", "run", "target"},
    "check": {
        "",
        "cachedir",
        "config",
        "diagnostic",
        "files",
        "gitignore",
        "progress",
        "reading",
        "report",
        "run",
        "source",
    },
    "reveal": {
        "config",
        "crash",
        "diagnostic",
        "engine",
        "files",
        "infer",
        "model",
        "reading",
        "report",
        "source",
        "work",
    },
    "infer": {"diagnostic", "engine", "lines", "model", "tree"},
    "explain": {"config", "report", "rules"},
    "run": {"", "cache", "cachedir", "config", "diagnostic", "files", "pool", "reading", "source", "work"},
    "progress": set(),
    "crash": {""},
    "pool": {"", "crash", "diagnostic", "ending", "engine", "work"},
    "work": {
        "",
        "cache",
        "config",
        "crash",
        "diagnostic",
        "engine",
        "gate",
        "limits",
        "model",
        "reading",
        "source",
        "stack",
        "suppress",
        "target",
    },
    "files": {"config", "diagnostic", "gitignore", "reading"},
    "gitignore": set(),
    "globs": {"gitignore"},
    "config": {"diagnostic", "gitignore", "globs", "limits", "reading", "rules", "target"},
    "cache": {"", "cachedir", "diagnostic", "ending", "project", "secret", "source"},
    "project": {"reading"},
    "ending": set(),
    "secret": {"reading"},
    "cachedir": {"config", "reading"},
    "reading": set(),
    "source": {"ending", "reading"},
    "gate": {"api", "rules", "source"},
    "engine": {
        "announce",
        "blocks",
        "choice",
        "crash",
        "diagnostic",
        "edit",
        "gate",
        "guard",
        "limits",
        "lines",
        "model",
        "rule",
        "rules",
        "silenced",
        "sketch",
        "source",
        "standin",
        "suppress",
        "target",
        "tree",
        "unread",
    },
    "suppress": {"diagnostic", "directive", "lines", "rules"},
    "directive": {"config"},
    "silenced": {"diagnostic", "lines"},
    "announce": {"diagnostic", "lines"},
    "lines": {"diagnostic"},
    "report": {"diagnostic", "report"},
    "rules": {"api", "rule", "edit", "model", "rules", "standin", "target", "tree"},
    "edit": {"rule", "tree"},
    "choice": {"diagnostic"},
    "blocks": {"choice", "diagnostic", "lines", "rule", "source", "suppress", "tree"},
    "examples": {"diagnostic"},
    "rule": {"diagnostic", "model"},
    "model": {"limits", "model", "project", "reading", "sketch", "source", "stack", "target", "tree"},
    "tree": {"displays", "nodes", "sketch", "standin", "unread"},
    "displays": {"nodes", "source", "unread"},
    "sketch": {"nodes", "unread"},
    "unread": set(),
    "nodes": set(),
    "limits": set(),
    "stack": set(),
    "standin": set(),
    "guard": {"diagnostic", "lines", "standin"},
    "target": {"reading"},
    "api": {"source", "target"},
    "diagnostic": set(),
    "": set(),
}
"""For each module or package (``""`` is ``torchlint`` itself) what of torchlint it may import."""


def modules() -> Iterator[tuple[str, Path]]:
    for path in sorted(PACKAGE.rglob("*.py")):
        yield ".".join(path.relative_to(PACKAGE).with_suffix("").parts).removesuffix("__init__").rstrip("."), path


def imported(path: Path) -> Iterator[str]:
    """Modules of torchlint that a file imports anywhere, as ``rules._data``."""
    for node in ast.walk(ast.parse(path.read_bytes())):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "absolute imports only"
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        else:
            continue
        for name in names:
            first, _, rest = name.partition(".")
            if first == "torchlint":
                yield rest


def part(name: str) -> str:
    """The layer of an import: a name of ``torchlint`` itself belongs to the package."""
    first = name.partition(".")[0]
    return first if (PACKAGE / f"{first}.py").exists() or (PACKAGE / first / "__init__.py").exists() else ""


@pytest.mark.parametrize(("module", "path"), list(modules()), ids=[name for name, _ in modules()])
def test_arrows_go_one_way(module: str, path: Path) -> None:
    targets = set(imported(path))
    assert {part(target) for target in targets} <= ARROWS[part(module) if module else ""]
    if part(module) == "rules" and module != "rules":  # a rule knows no other rule
        shared = [target for target in targets if part(target) == "rules"]
        assert all(target.split(".")[1].startswith("_") for target in shared)


def test_torch_is_never_imported() -> None:
    for _, path in modules():
        for node in ast.walk(ast.parse(path.read_bytes())):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            assert not any(name.partition(".")[0] == "torch" for name in names), path


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
    "infer --help": {"libcst", "pathspec", "torchlint.file.check", "torchlint.session.scheduler", "torch"},
    "rule TL101": {"libcst", "pathspec", "torchlint.file.check", "torch"},
    "check clean.py": {"libcst", "pathspec", "multiprocessing", "torchlint.session.pool", "torch"},
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
