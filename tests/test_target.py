"""The versions of torch that a project supports, and what follows for findings and fixes."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import Torchlint

from torchlint.file.check import Outcome, check_text
from torchlint.project import target
from torchlint.project.target import of_project, of_text
from torchlint.rules import catalogue
from torchlint.versions import ANY, Target, parse

Write = Callable[[dict[str, str | bytes]], None]


@pytest.mark.parametrize(
    ("specifier", "expected"),
    [
        ("2.6", Target((2, 6), None)),
        ("2.6.1", Target((2, 6), None)),
        (">=1.13", Target((1, 13), None)),
        (">=1.13,<2.5", Target((1, 13), (2, 4))),
        (">=1.8, <=2.1", Target((1, 8), (2, 1))),
        ("<2", Target(None, (1, 99))),
        ("<2.0.1", Target(None, (2, 0))),
        ("==1.13.1", Target((1, 13), (1, 13))),
        ("==2.*", Target((2, 0), (2, 99))),
        ("~=2.1", Target((2, 1), (2, 99))),
        ("~=2.1.0", Target((2, 1), (2, 1))),
        ("^2.0", Target((2, 0), (2, 99))),
        (">1.4,!=1.7", Target((1, 4), None)),
        ("==2.4.0+cu121", Target((2, 4), (2, 4))),
        ("", None),
        ("latest", None),
    ],
)
def test_specifiers(specifier: str, expected: Target | None) -> None:
    assert parse(specifier) == expected


@pytest.mark.parametrize(
    ("name", "content", "expected"),
    [
        ("pyproject.toml", '[project]\ndependencies = ["numpy", "torch>=1.13,<2.5"]\n', Target((1, 13), (2, 4))),
        ("pyproject.toml", '[tool.poetry.dependencies]\ntorch = "^2.1"\n', Target((2, 1), (2, 99))),
        (
            "pyproject.toml",
            '[tool.poetry.dependencies]\ntorch = {version = ">=2.0", optional = true}\n',
            Target((2, 0)),
        ),
        ("pyproject.toml", '[project]\ndependencies = ["torchvision>=0.15", "torch"]\n', None),
        ("requirements.txt", "numpy\ntorch==1.8.1  # pinned\ntorchvision==0.9\n", Target((1, 8), (1, 8))),
        ("requirements-dev.txt", "torch>=2.1; python_version > '3.8'\n", Target((2, 1))),
        ("setup.cfg", "[options]\ninstall_requires =\n    torch>=1.6\n", Target((1, 6))),
        ("setup.py", 'setup(install_requires=["torch>=1.10,<3"])\n', Target((1, 10), (2, 99))),
        ("environment.yml", "dependencies:\n  - pytorch=1.12\n  - numpy\n", Target((1, 12), (1, 12))),
        ("environment.yml", "dependencies:\n  - pip:\n    - torch==2.3.0\n", Target((2, 3), (2, 3))),
        ("poetry.lock", '[[package]]\nname = "torch"\nversion = "2.4.1"\n', Target((2, 4), (2, 4))),
        ("Pipfile.lock", '{"default": {"torch": {"hashes": [], "version": "==2.2.0"}}}', Target((2, 2), (2, 2))),
        ("requirements.txt", "torchmetrics>=1.0\n", None),
    ],
)
def test_files(name: str, content: str, expected: Target | None) -> None:
    assert of_text(name, content) == expected


def test_the_nearest_project_counts(tmp_path: Path, write: Write) -> None:
    write({"requirements.txt": "torch==1.8\n", "near/pyproject.toml": '[project]\ndependencies = ["torch>=2.0"]\n'})
    write({"near/pkg/a.py": "", "far/a.py": "", "own/.git/HEAD": "", "own/a.py": ""})
    target._around.cache_clear()
    assert of_project(str(tmp_path / "near" / "pkg")) == Target((2, 0))
    assert of_project(str(tmp_path / "far")) == Target((1, 8), (1, 8))
    assert of_project(str(tmp_path / "own")) == ANY


def lint(text: str, versions: Target) -> Outcome:
    outcome = check_text(text, "x.py", frozenset(catalogue()), target=versions)
    assert not outcome.problems
    return outcome


QR = "import torch\nq, r = torch.qr(torch.eye(2))\n"
AUTOCAST = "import torch\nwith torch.cuda.amp.autocast():\n    pass\n"
SYMEIG = "import torch\ne, v = torch.symeig(torch.eye(2), eigenvectors=True)\n"
GATHER = "import torch\ntorch.distributed.all_gather_into_tensor(1, 2)\n"
NO_GRAD = "import torch\n\n@torch.no_grad\ndef f(x):\n    return x\n"
NEXT = "import torch\ndef first(loader):\n    return iter(loader).next()\n"
LOAD = 'import torch\nstate = torch.load("x.pt").unsqueeze(0)\n'


@pytest.mark.parametrize(
    ("text", "versions", "code", "fixable"),
    [
        (QR, ANY, "TL302", True),
        (QR, Target((1, 7), (1, 7)), None, False),
        (QR, Target((1, 9), (1, 13)), "TL302", True),
        (SYMEIG, Target((1, 9), (1, 13)), "TL302", True),
        (SYMEIG, Target((1, 9), None), "TL301", True),
        (SYMEIG, Target((1, 6), None), "TL301", False),
        (AUTOCAST, Target((2, 4), None), "TL302", True),
        (AUTOCAST, Target((1, 8), None), None, False),
        (AUTOCAST, Target((1, 8), (2, 3)), None, False),
        (GATHER, Target((2, 13), None), "TL302", True),
        (GATHER, Target((2, 4), None), None, False),
        (NO_GRAD, ANY, None, False),
        (NO_GRAD, Target((2, 1), None), None, False),
        (NO_GRAD, Target((1, 13), None), "TL303", True),
        (NO_GRAD.replace("no_grad", "no_grad()"), Target((1, 13), None), None, False),
        (NO_GRAD.replace("no_grad", "inference_mode"), Target((2, 0), (2, 0)), "TL303", True),
        (NEXT, Target((1, 13), (1, 13)), "TL301", True),
        (NEXT, Target((1, 12), (1, 12)), None, False),
        (LOAD, ANY, "TL701", True),
        (LOAD, Target((2, 6), None), None, False),
        (LOAD, Target((1, 8), None), "TL701", False),
    ],
)
def test_findings_follow_the_versions(text: str, versions: Target, code: str | None, fixable: bool) -> None:
    found = lint(text, versions).diagnostics
    assert [each.code for each in found] == ([code] if code else [])
    assert all((each.fix is not None) is fixable for each in found)


def test_the_message_says_why_there_is_no_fix() -> None:
    (found,) = lint(SYMEIG, Target((1, 6), None)).diagnostics
    assert "removed in PyTorch 2.0" in found.message
    assert "since 1.8" in found.message
    assert "1.6" in found.message


def test_the_command_line(torchlint: Torchlint, write: Write) -> None:
    write({"a.py": AUTOCAST})
    target._around.cache_clear()
    assert "TL302" in torchlint("check", "a.py", "--no-cache").out
    assert torchlint("check", "a.py", "--no-cache", "--target-torch", ">=1.8,<2.3").code == 0
    assert torchlint("check", "a.py", "--no-cache", "--target-torch", "new").code == 2


def test_versions_of_some_files(torchlint: Torchlint, write: Write) -> None:
    """With the cache: what is known of one file says nothing of another in its folder, or under other settings."""
    write({"a.py": AUTOCAST, "b.py": AUTOCAST, "torchlint.toml": 'per-file-target-torch = { "b.py" = ">=1.8,<2.3" }'})

    def names(*arguments: str) -> list[str]:
        lines = torchlint("check", "--output-format", "concise", "-q", *arguments).out.splitlines()
        return [line.partition(":")[0] for line in lines]

    assert names() == names() == ["a.py"]
    assert names("--target-torch", "2.4") == ["a.py", "b.py"]
    assert names("--config", 'per-file-target-torch."a.py"="2.0,<2.3"') == []
    write({"torchlint.toml": 'per-file-target-torch = { "!b.py" = ">=1.8,<2.3" }'})
    assert names() == names() == ["b.py"]


def test_requirements_of_the_project(torchlint: Torchlint, write: Write) -> None:
    write({"a.py": AUTOCAST, "requirements.txt": "torch==2.1.0\n"})
    target._around.cache_clear()
    assert torchlint("check", "a.py", "--no-cache").code == 0
    assert torchlint("check", "a.py", "--no-cache", "--isolated").code == 1
    assert torchlint("check", "a.py", "--no-cache", "--target-torch", "2.4").code == 1


def test_upgrade(torchlint: Torchlint, write: Write, tmp_path: Path) -> None:
    write({"a.py": QR + SYMEIG, "b.py": QR + AUTOCAST})
    ran = torchlint("upgrade", "--from", "1.13", "--to", "2.13", ".")
    assert ran.code == 1
    new, _, known = ran.out.partition("Known to PyTorch 1.13 already:")
    assert "torch.symeig" in new
    assert "torch.cuda.amp.autocast" in new
    assert "2 in 2 files  TL302  `torch.qr`" in known
    assert "4 places" in known
    assert torchlint("upgrade", "--from", "2.13", "--to", "1.13", ".").code == 2
    assert torchlint("upgrade", "--from", "1.13", "--to", "2.13", "--fix", ".").code == 0
    assert (tmp_path / "a.py").read_text().count("torch.linalg") == 2


def test_what_only_a_torch_before_variables_went_can_run_is_no_target(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    for required, expected in (
        ("==0.2.0", Target()),
        (">=0.2", Target((0, 2))),
        ("<0.4", Target()),
        ("==0.4.1", Target((0, 4), (0, 4))),
    ):
        (tmp_path / "requirements.txt").write_text(f"torch{required}\n", encoding="utf-8")
        target.forget()
        assert of_project(str(tmp_path)) == expected
