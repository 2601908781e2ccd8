"""The script that compares a project's tests before and after fixing, on projects of a few lines."""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

SCRIPT = Path(__file__).parents[1] / "scripts" / "compare_test_suites.py"
CODE = (
    "import torch.nn as nn\n\n\ndef init(m):\n    if isinstance(m, nn.Linear):\n        m.weight.data.normal_(0, 1)\n"
)
HARMLESS = "def test_sum():\n    assert 1 + 1 == 2\n"
# Broken by any fix of the file above: fails by itself, too, and only afterwards.
READS_SOURCE = "from pathlib import Path\n\ndef test_source():\n    assert '.data' in (Path(__file__).parent / 'network.py').read_text()\n"
# Fails in every process but the first that comes by: what is called flaky.
ONLY_ONCE = (
    "from pathlib import Path\n\ndef test_once():\n    mark = Path({mark!r})\n    seen = mark.exists()\n"
    "    mark.touch()\n    assert not seen\n"
)


@pytest.fixture(autouse=True)
def plain_pytest(monkeypatch: pytest.MonkeyPatch) -> None:
    """The runs of pytest that are compared load no plugins, which takes longer than such tests."""
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")


def script() -> ModuleType:
    """The script as a module."""
    spec = importlib.util.spec_from_file_location("compare_test_suites", SCRIPT)
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def project(folder: Path, **files: str) -> Path:
    """A folder with `network.py` and the given files."""
    checkout = folder / "checkout"
    checkout.mkdir()
    (checkout / "network.py").write_text(CODE)
    for name, text in files.items():
        (checkout / f"{name}.py").write_text(text)
    return checkout


def test_nothing_breaks(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    checkout = project(tmp_path, test_a=HARMLESS)
    assert script().main([str(checkout), "--json", str(tmp_path / "out.json")]) == 0
    found = json.loads((tmp_path / "out.json").read_text())
    assert found["changed_files"] == ["network.py"]
    assert found["findings_fixed"] == 1
    assert (found["before"], found["after"], found["broken"]) == ({"passed": 1}, {"passed": 1}, [])
    assert (checkout / "network.py").read_text() == CODE, "the checkout itself is left alone"
    assert "imported none of the changed files" in capsys.readouterr().out


def test_a_broken_test_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    checkout = project(tmp_path, test_a=HARMLESS, test_b=READS_SOURCE)
    assert script().main([str(checkout)]) == 1
    output = capsys.readouterr().out
    assert "BROKEN test_b.py::test_source" in output
    assert "1 tests that passed before fail" in output


def test_a_flaky_test_does_not_count(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    checkout = project(tmp_path, test_a=ONLY_ONCE.format(mark=str(tmp_path / "mark")))
    assert script().main([str(checkout)]) == 0
    assert "not steady" in capsys.readouterr().out


def test_what_was_imported_is_known_after_a_crash(tmp_path: Path) -> None:
    crash = "import os\n\nimport network\n\n\ndef test_a():\n    assert network\n\n\ndef test_b():\n    os._exit(1)\n"
    assert script().main([str(project(tmp_path, test_a=crash)), "--json", str(tmp_path / "out.json")]) == 0
    found = json.loads((tmp_path / "out.json").read_text())
    assert found["imported_changed_files"] == ["network.py"]
    assert found["before"] == {"passed": 1}


def test_a_run_is_cut_off() -> None:
    assert script().wait(subprocess.Popen([sys.executable, "-c", ""]), 60)
    assert not script().wait(subprocess.Popen(["sleep", "600"]), 0.1)


def test_a_run_that_was_cut_off_says_so(capsys: pytest.CaptureFixture[str]) -> None:
    module = script()
    found = module.Comparison([], [], 0, {}, {}, {}, [], [], (9.0, 9.0), (True, False))
    module.report(found, module.Run())
    output = capsys.readouterr().out
    assert "the run before was cut off" in output
    assert "the run after was cut off" not in output


def test_nothing_collected(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert script().main([str(project(tmp_path))]) == 2
    assert "pytest found no test" in capsys.readouterr().err


def test_everything_fails_before(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    checkout = project(tmp_path, test_a="import no_such_module\n")
    assert script().main([str(checkout)]) == 2
    assert "none of which passes" in capsys.readouterr().err


def test_arguments_reach_pytest(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    checkout = project(tmp_path, test_a=HARMLESS, test_b=READS_SOURCE)
    assert script().main([str(checkout), "--", "-k", "sum"]) == 0
    assert script().main([str(checkout), "--", "no_such_file.py"]) == 2
    assert "no_such_file.py" in capsys.readouterr().err


def test_who_is_run_again() -> None:
    before = {"a": "passed", "b": "passed", "c": "failed", "d": "passed", "e": "skipped"}
    after = {"a": "passed", "b": "failed", "c": "failed", "e": "failed", "f": "failed", "g": "passed"}
    assert script().suspects(before, after) == ["b", "d", "f"]
