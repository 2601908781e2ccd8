"""libcst's codemod runner writes what `torchlint check --fix` writes, or says that it does not."""

from __future__ import annotations

import functools
import inspect
import os
import subprocess
import sys
from pathlib import Path

import libcst as cst
import pytest
from libcst.codemod import CodemodContext, CodemodTest, TransformSkip, TransformSuccess, transform_module

from torchlint import codemods
from torchlint.diagnostic import Fixing
from torchlint.file.check import check_text
from torchlint.model.codebase.modules import Codebase
from torchlint.project.selection import OWN
from torchlint.rules import catalogue

ROOT = Path(__file__).parent.parent
CASES = sorted((ROOT / "tests" / "cases").glob("*.py"))
PARSED = [path for path in CASES if path.stem != "async_keyword"]
"""The other one is no Python, which libcst's runner refuses by itself."""

around = functools.cache(Codebase)
"""The files around, read once for all the cases, as the commands do."""

OLD = "import torch\nw = torch.ones(3, requires_grad=True)\nx = w.data * 2\n"
NEW = OLD.replace(".data", ".detach()")
GROUPS = [
    command
    for _, command in inspect.getmembers(codemods, inspect.isclass)
    if issubclass(command, codemods.Command) and command.SELECT
]


class TestData(CodemodTest):  # type: ignore[misc, unused-ignore]
    """As those who write codemods test theirs."""

    TRANSFORM = codemods.Data

    def test_a_read(self) -> None:
        self.assertCodemod(OLD, NEW, context_override=CodemodContext())

    def test_unsafe_fixes(self) -> None:
        before = "import torch\nw = torch.ones(3, requires_grad=True)\nw.data.mul_(2)\n"
        self.assertCodemod(before, before)
        after = before.replace("w.data.mul_(2)", "with torch.no_grad():\n    w.mul_(2)")
        self.assertCodemod(before, after, unsafe_fixes=True)

    def test_another_group(self) -> None:
        before = f"{OLD}y = torch.qr(w)\n"
        self.assertCodemod(before, before.replace(".data", ".detach()"))

    def test_without_some_rules(self) -> None:
        self.assertCodemod(OLD, OLD, ignore=("TL101",))


def test_each_rule_is_in_one_group() -> None:
    for code in catalogue():
        own = [command for command in GROUPS if any(code.startswith(selector) for selector in command.SELECT)]
        assert len(own) == 1, code
    assert {selector for command in GROUPS for selector in command.SELECT} == {code[:3] for code in catalogue()}
    assert {command.__name__ for command in GROUPS} | {"All"} == set(codemods.__all__)


@pytest.mark.parametrize("unsafe", [False, True])
@pytest.mark.parametrize("path", PARSED, ids=lambda path: path.stem)
def test_the_text_is_that_of_check(path: Path, unsafe: bool) -> None:
    text = path.read_bytes().decode("utf-8")
    command = codemods.All(CodemodContext(), unsafe_fixes=unsafe, isolated=True)
    result = transform_module(command, text)
    assert isinstance(result, TransformSuccess), result
    codes = frozenset(code for code, rule in catalogue().items() if rule.by_default) | frozenset(OWN)
    fixing = Fixing.UNSAFE if unsafe else Fixing.SAFE
    checked = check_text(text, "-", codes, fixing, location=os.path.abspath("-"), codebase=around())
    assert result.code == checked.text
    assert not result.warning_messages


def test_a_text_in_another_encoding_than_it_declares_is_skipped() -> None:
    result = transform_module(codemods.Data(CodemodContext(), isolated=True), f"# coding: latin-1\n{OLD}s = 'é'\n")
    assert isinstance(result, TransformSkip)
    assert "encoding" in result.skip_description


def test_what_another_command_has_changed_is_fixed(tmp_path: Path) -> None:
    """The file on the disk is asked only for whether libcst gives it back."""
    path = tmp_path / "x.py"
    path.write_text("import torch\n", encoding="utf-8")
    command = codemods.Data(CodemodContext(filename=str(path)), isolated=True)
    assert command.transform_module(cst.parse_module(OLD)).code == NEW


# --------------------------------------------------------------------- the command line

FILES: dict[str, bytes] = {
    "pyproject.toml": b'[tool.torchlint]\nextend-exclude = ["left"]\nper-file-ignores = {"kept.py" = ["TL101"]}\n',
    "plain.py": OLD.encode(),
    "carriage_returns.py": OLD.replace("\n", "\r\n").encode(),
    "mark.py": b"\xef\xbb\xbf" + OLD.encode(),
    "latin.py": f"# coding: latin-1\ns = 'é'\n{OLD}".encode("latin-1"),
    "no_newline.py": OLD.rstrip("\n").encode(),
    "kept.py": OLD.encode(),
    "silenced.py": OLD.replace("* 2", "* 2  # torchlint: ignore[TL101]").encode(),
    "left/out.py": OLD.encode(),
    "pkg/__init__.py": b"",
    "pkg/names.py": b"import torch\nw = torch.ones(3, requires_grad=True)\n",
    "pkg/use.py": b"from pkg.names import w\nx = w.data * 2\n",
    "old_api.py": b"import torch\nq, r = torch.qr(torch.ones(3, 3))\nx = torch.ger(r, r)\n",
}
NOT_GIVEN_BACK = b"\x0c" + OLD.encode()
NO_PYTHON = b"import torch\nx.cuda(async=True)\n"


def codemod(where: Path, *arguments: str, stdin: bytes | None = None) -> subprocess.CompletedProcess[bytes]:
    command = [sys.executable, "-m", "libcst.tool", "codemod", "-x", *arguments]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    return subprocess.run(command, cwd=where, env=environment, input=stdin, capture_output=True, check=False)


def written(where: Path, files: dict[str, bytes] = FILES) -> Path:
    for name, data in files.items():
        path = where / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    return where


def contents(where: Path) -> dict[str, bytes]:
    return {str(path.relative_to(where)): path.read_bytes() for path in where.rglob("*.py")}


@pytest.mark.parametrize(
    ("name", "options"),
    [("All", []), ("Data", ["--select", "TL1"]), ("Api", ["--select", "TL3"]), ("All", ["--unsafe-fixes"])],
)
def test_files_are_those_of_check(name: str, options: list[str], tmp_path: Path) -> None:
    ours, theirs = written(tmp_path / "ours"), written(tmp_path / "theirs")
    command = [sys.executable, "-m", "torchlint", "check", "--fix", "--no-cache", *options, "."]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    subprocess.run(command, cwd=ours, env=environment, capture_output=True, check=False)
    unsafe = [option for option in options if option == "--unsafe-fixes"]
    ran = codemod(theirs, f"torchlint.codemods.{name}", "--no-format", "-j", "2", *unsafe, ".")
    assert ran.returncode == 0, ran.stderr
    assert contents(theirs) == contents(ours)
    assert contents(ours)["plain.py"] == (OLD if name == "Api" else NEW).encode()
    assert b"out.py: the settings of torchlint exclude it" in ran.stderr
    again = codemod(theirs, f"torchlint.codemods.{name}", "--no-format", *unsafe, "-u", "-j", "1", ".")
    assert (again.returncode, again.stdout) == (0, b"")


def test_what_libcst_loses_is_left_alone(tmp_path: Path) -> None:
    written(tmp_path, {"feed.py": NOT_GIVEN_BACK, "broken.py": NO_PYTHON, "good.py": OLD.encode()})
    ran = codemod(tmp_path, "torchlint.codemods.All", "--no-format", "-j", "1", "--isolated", ".")
    assert ran.returncode == 1
    assert b"feed.py: libcst does not give it back byte for byte" in ran.stderr
    assert b"Failed to codemod" in ran.stderr
    assert contents(tmp_path) == {"feed.py": NOT_GIVEN_BACK, "broken.py": NO_PYTHON, "good.py": NEW.encode()}


def test_standard_input(tmp_path: Path) -> None:
    ran = codemod(tmp_path, "torchlint.codemods.Data", "--no-format", "-", stdin=OLD.encode())
    assert (ran.returncode, ran.stdout.decode().replace("\r\n", "\n")) == (0, f"{NEW}\n")


def test_an_unknown_rule_is_bad_usage(tmp_path: Path) -> None:
    ran = codemod(tmp_path, "torchlint.codemods.All", "--select", "TL999", ".")
    assert ran.returncode == 2
    assert b"unknown rule `TL999`" in ran.stderr


def test_they_are_listed(tmp_path: Path) -> None:
    (tmp_path / ".libcst.codemod.yaml").write_text("modules:\n- torchlint\n", encoding="utf-8")
    written(tmp_path, {"x.py": OLD.encode()})
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-m", "libcst.tool", "list"]
    listed = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert listed.returncode == 0, listed.stderr
    assert [line.partition(" ")[0] for line in listed.stdout.splitlines()] == [
        f"codemods.{name}" for name in sorted(codemods.__all__)
    ]
    run = [sys.executable, "-m", "libcst.tool", "codemod", "codemods.Data", "--no-format", "x.py"]
    assert subprocess.run(run, cwd=tmp_path, env=environment, capture_output=True, check=False).returncode == 0
    assert contents(tmp_path) == {"x.py": NEW.encode()}


def test_the_documentation_names_all_commands() -> None:
    page = (ROOT / "docs" / "codemods.md").read_text(encoding="utf-8")
    for name in codemods.__all__:
        command = getattr(codemods, name)
        selected = f"`--select {','.join(command.SELECT)}`" if command.SELECT else "no selection"
        assert f"| `torchlint.codemods.{name}` | {selected}" in page
