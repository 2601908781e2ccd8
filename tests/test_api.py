"""Checking and fixing from Python gives what the command line gives; findings come while a run goes on."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from conftest import Torchlint

from torchlint import api
from torchlint.api import Applicability, Confidence, Linter, SettingsError, Severity
from torchlint.model.codebase import modules
from torchlint.project.discovery import File
from torchlint.session import scheduler

Write = Callable[[dict[Any, Any]], None]

ROOT = Path(__file__).parents[1]
CODE = "import torch\nw = torch.ones(3, requires_grad=True)\nprint(w.data)\nprint(w.sum().data[0])\n"
TOLD = "`.data` gives a tensor whose changes autograd does not notice; use `.detach()`"
FIXED = CODE.replace(".data[0]", ".item()").replace(".data", ".detach()")


def notebook(*cells: str) -> str:
    made = [{"cell_type": "code", "metadata": {}, "outputs": [], "source": cell.splitlines(True)} for cell in cells]
    return json.dumps({"cells": made, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}, indent=1)


def test_paths_give_what_the_command_line_gives(write: Write, torchlint: Torchlint) -> None:
    write({"a/x.py": CODE, "a/clean.py": "import torch\n", "b.ipynb": notebook(CODE), "broken.py": "torch.\n"})
    write({"torchlint.toml": 'severity = { TL101 = "error" }\n'})
    reports = list(Linter().check("."))
    assert [report.path for report in reports] == [str(Path("a/clean.py")), str(Path("a/x.py")), "b.ipynb", "broken.py"]
    given = [entry for report in reports for entry in report.as_json()]
    assert given == json.loads(torchlint("check", "--output-format", "json", ".").out)
    found = reports[1].findings[0]
    assert (found.code, found.name, found.row, found.column, found.cell) == ("TL101", "data-read", 3, 9, None)
    assert (found.end_row, found.end_column, found.fix) == (3, 13, Applicability.SAFE)
    assert (found.severity, found.confidence) == (Severity.ERROR, Confidence.HIGH)
    assert reports[2].findings[0].cell == 1
    assert reports[0].findings == ()


def test_files_are_fixed(write: Write, torchlint: Torchlint, tmp_path: Path) -> None:
    write({"x.py": CODE, "y.py": CODE})
    first, second = Linter(ignore=["TL203"]).fix("x.py", tmp_path / "y.py")
    assert first.fixed == {"TL101": 1}
    assert second.findings == ()  # of the rules that are on
    assert (tmp_path / "x.py").read_text(encoding="utf-8") == FIXED.replace(".item()", ".data[0]")
    assert [report.fixed for report in Linter().fix(".")] == [{"TL203": 1}, {"TL203": 1}]
    assert (tmp_path / "y.py").read_text(encoding="utf-8") == FIXED


# text, its name, the fixed text
TEXTS = {
    "a text": (CODE, "-", FIXED),
    "bytes": (CODE.encode(), "x.py", FIXED),
    "newlines": (CODE.replace("\n", "\r\n"), "-", FIXED.replace("\n", "\r\n")),
    "another encoding": (f"# coding: latin-1\n# é\n{CODE}", "-", f"# coding: latin-1\n# é\n{FIXED}"),
    "an encoding that cannot hold it": (f"# coding: ascii\n{CODE}", "-", f"# coding: ascii\n{FIXED}"),
    "a notebook": (notebook(CODE), "a.ipynb", notebook(FIXED)),
    "nothing to fix": ("x = 1", "-", "x = 1"),
    "nothing": ("", "-", ""),
}


@pytest.mark.parametrize(("text", "name", "fixed"), TEXTS.values(), ids=TEXTS)
def test_texts(text: str | bytes, name: str, fixed: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    linter = Linter()
    checked, report = linter.check_text(text, name), linter.fix_text(text, name)
    is_old = fixed != (text if isinstance(text, str) else text.decode())
    assert [found.code for found in checked.findings] == ["TL101", "TL203"] * is_old
    assert report.text == fixed
    assert report.findings == ()
    assert dict(report.fixed) == ({"TL101": 1, "TL203": 1} if is_old else {})
    assert list(tmp_path.iterdir()) == []


def test_what_cannot_be_checked(write: Write, torchlint: Torchlint) -> None:
    write({"large.py": CODE, "torchlint.toml": "max-file-size = 10\n"})
    (report,) = Linter().check("large.py")
    assert "max-file-size" in report.errors[0]
    (report,) = Linter().check("missing.py")
    assert report == api.FileReport("missing.py", (), ("missing.py: No such file or directory",))
    assert [found.code for found in Linter().check_text("def f(:\n").findings] == ["TL001"]
    assert [found.code for found in Linter().check_text(b"# \xff\n").findings] == ["TL003"]


WRONG: dict[str, dict[str, Any]] = {
    "a rule": {"select": ["TL999"]},
    "a version": {"target_torch": "new"},
    "a key": {"config": ["selekt=TL1"]},
}


@pytest.mark.parametrize("options", WRONG.values(), ids=WRONG)
def test_wrong_options(options: dict[str, Any]) -> None:
    with pytest.raises(SettingsError):
        Linter(**options)


OPTIONS: dict[str, tuple[dict[str, Any], list[str]]] = {
    "nothing": ({}, ["TL203"]),
    "isolated": ({"isolated": True}, ["TL101", "TL203"]),
    "selected": ({"select": ["TL1"]}, ["TL101"]),
    "selected nothing": ({"select": []}, []),
    "config": ({"config": ["ignore=TL203"]}, []),
    "confidence": ({"isolated": True, "min_confidence": Confidence.HIGH}, ["TL101", "TL203"]),
}


@pytest.mark.parametrize(("options", "codes"), OPTIONS.values(), ids=OPTIONS)
def test_options(
    options: dict[str, Any], codes: list[str], write: Write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    write({"torchlint.toml": 'ignore = ["TL101"]\n'})
    assert [found.code for found in Linter(**options).check_text(CODE).findings] == codes


def test_what_is_public_is_there() -> None:
    assert all(hasattr(api, name) for name in api.__all__)
    page = (ROOT / "docs" / "python.md").read_text(encoding="utf-8")
    assert set(re.findall(r"^\| `(\w+)`", page, re.MULTILINE)) == set(api.__all__)


def test_the_page(write: Write, torchlint: Torchlint) -> None:
    page = (ROOT / "docs" / "python.md").read_text(encoding="utf-8")
    (program,) = re.findall(r"^```python\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    write({"src/a.py": CODE, "train.py": CODE})
    lines: list[str] = []
    exec(program, {"print": lambda *told: lines.append(" ".join(map(str, told)))})
    assert lines == [
        f"{Path('src/a.py')} 3 TL101 info {TOLD}",
        f"train.py 3 TL101 info {TOLD}",
        f"{Path('src/a.py')} {{'TL101': 1}}",
        "import torch\nx = torch.ones(3).shape\n",
    ]


def test_nothing_heavy_is_imported() -> None:
    program = "import sys, torchlint.api; print({'torch', 'libcst', 'click'} & set(sys.modules))"
    ran = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True)
    assert ran.stdout == "set()\n"


# ---------------------------------------------------------------------- as they come


def test_reports_come_while_the_run_goes_on(
    write: Write, torchlint: Torchlint, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(scheduler, "FIRST_WINDOW", 2)
    checked: list[str] = []
    job_for = scheduler.job_for

    def counted(project: Any, file: File, *arguments: Any, **options: Any) -> Any:
        checked.append(file.path)
        return job_for(project, file, *arguments, **options)

    monkeypatch.setattr(scheduler, "job_for", counted)
    write({f"{number:02}.py": CODE for number in range(12)})
    seen = [(report.path, len(checked)) for report in Linter().check(".")]
    assert seen == [(f"{n:02}.py", 2 if n < 2 else 6 if n < 6 else 12) for n in range(12)]


def test_other_files_are_read_once_for_all_reports(
    write: Write, torchlint: Torchlint, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[object] = []

    class Counted(modules.Codebase):
        def __init__(self, *arguments: Any, **options: Any) -> None:
            made.append(self)
            super().__init__(*arguments, **options)

    monkeypatch.setattr(modules, "Codebase", Counted)
    monkeypatch.setattr(scheduler, "FIRST_WINDOW", 1)
    write({"shared.py": CODE} | {f"{number}.py": f"from shared import w\n{CODE}" for number in range(9)})
    assert sum(len(report.findings) for report in Linter().check(".")) == 20
    assert len(made) == 1


@pytest.mark.parametrize("options", [[], ["--output-format", "sarif:out.sarif"], ["--exit-zero"], ["--fix"], ["-j2"]])
def test_lines_are_printed_as_they_come(
    options: list[str], write: Write, torchlint: Torchlint, monkeypatch: pytest.MonkeyPatch
) -> None:
    write({f"{number}.py": CODE for number in range(9)} | {"nb.ipynb": notebook(CODE), "z.py": "import torch\n"})
    if "--fix" not in options:
        expected = json.loads(torchlint("check", "--output-format", "json").out)
    else:
        expected = []
    monkeypatch.setattr(scheduler, "FIRST_WINDOW", 2)
    ran = torchlint("check", "--output-format", "json-lines", *options)
    assert [json.loads(line) for line in ran.out.splitlines()] == expected
    assert ran.code == (1 if expected and "--exit-zero" not in options else 0)
    if "sarif:out.sarif" in options:
        (run,) = json.loads(Path("out.sarif").read_text(encoding="utf-8"))["runs"]
        assert len(run["results"]) == len(expected)


@pytest.mark.parametrize("options", [["-"], ["--statistics"], ["--diff"], ["--fix-only"]])
def test_what_is_not_printed_as_it_comes(options: list[str], write: Write, torchlint: Torchlint) -> None:
    write({"x.py": CODE})
    ran = torchlint("check", "--output-format", "json-lines", *options, stdin=CODE.encode())
    if options == ["-"]:
        assert [json.loads(line)["code"] for line in ran.out.splitlines()] == ["TL101", "TL203"]
    else:
        assert '"code"' not in ran.out


@pytest.mark.parametrize("name", ["-", "x.ipynb"])
@pytest.mark.parametrize(
    "text", [f"# coding: latin-1\n# €é\n{CODE}", f"s = '\ud800'\n{CODE}", f"\ufeff# coding: latin-1\n{CODE}"]
)
def test_a_text_that_its_encoding_does_not_have_is_as_it_was(text: str, name: str) -> None:
    assert Linter(isolated=True).fix_text(text, name, unsafe=True).text == text


@pytest.mark.parametrize("given", [f"\ufeff{CODE}", f"\ufeff{CODE}".encode()])
def test_a_byte_order_mark_stays(given: str | bytes) -> None:
    assert Linter(isolated=True).fix_text(given).text == f"\ufeff{FIXED}"
