"""Settings in ``torchlint.toml``, and which file holds."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import Torchlint

Write = Callable[[dict[str, str]], None]

CODE = "import torch\nx = torch.ones(3).data\n"
NONE, ALL = 'select = ["TL2"]\n', 'select = ["TL1"]\n'
TABLE = "[tool.torchlint]\n"

# settings files, whether the finding in a/x.py is reported
FILES = {
    "torchlint.toml": ({"torchlint.toml": NONE}, False),
    "hidden": ({".torchlint.toml": NONE}, False),
    "hidden before the other": ({".torchlint.toml": NONE, "torchlint.toml": ALL}, False),
    "before pyproject.toml": ({"torchlint.toml": NONE, "pyproject.toml": TABLE + ALL}, False),
    "hidden before pyproject.toml": ({".torchlint.toml": NONE, "pyproject.toml": TABLE + ALL}, False),
    "nearer": ({"torchlint.toml": NONE, "a/pyproject.toml": TABLE + ALL}, True),
    "nearest": ({"pyproject.toml": TABLE + ALL, "a/torchlint.toml": NONE}, False),
    "empty": ({"pyproject.toml": TABLE + NONE, "a/torchlint.toml": ""}, True),
    "somebody else's between": ({"torchlint.toml": NONE, "a/pyproject.toml": "[tool.other]\n"}, False),
    "without the word": ({"torchlint.toml": 'per-file-ignores = { "./a/*" = ["TL101"] }\n'}, False),
    "a folder": ({"torchlint.toml/x": "", "pyproject.toml": TABLE + NONE}, False),
}


@pytest.mark.parametrize(("files", "is_reported"), FILES.values(), ids=FILES)
@pytest.mark.parametrize("path", [".", "a", "a/x.py"])
def test_settings_files(
    files: dict[str, str], is_reported: bool, path: str, write: Write, torchlint: Torchlint
) -> None:
    write({**files, "a/x.py": CODE})
    for _ in range(2):  # the second time from the cache
        assert torchlint("check", path).code == is_reported


def test_a_settings_file_that_comes_and_goes(write: Write, torchlint: Torchlint, tmp_path: Path) -> None:
    write({"x.py": CODE, "pyproject.toml": TABLE})
    assert torchlint("check").code == 1
    write({"torchlint.toml": NONE})
    assert torchlint("check").code == 0
    (tmp_path / "torchlint.toml").unlink()
    assert torchlint("check").code == 1


def test_the_cache_is_beside_the_settings(
    write: Write, torchlint: Torchlint, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write({"a/b/x.py": CODE, "torchlint.toml": "", "a/torchlint.toml": ""})
    monkeypatch.chdir(tmp_path / "a" / "b")
    assert torchlint("check").code == 1
    assert (tmp_path / "a" / ".torchlint_cache").is_dir()
    assert torchlint("clean").err == f"Removed {tmp_path / 'a' / '.torchlint_cache'}\n"


WRONG = {
    "an unknown key": ('selekt = ["TL1"]\n', "torchlint.toml:1: unknown key `selekt` (did you mean `select`?)"),
    "a table of pyproject.toml": (
        "[tool.torchlint]\n",
        "torchlint.toml:1: unknown key `tool` (the keys of `[tool.torchlint]` stand at the top of torchlint.toml)",
    ),
    "a bad value": ("\n\nfix = 1\n", "torchlint.toml:3: `fix` must be true or false"),
    "a bad pattern": (
        'exclude = [\n  "a",\n  "b[c",\n]\n',
        "torchlint.toml:3: `exclude`: bad pattern `b[c`: its `[` is never closed",
    ),
    "a key without a name": ('fix = true\n"" = 3\n', "torchlint.toml:2: unknown key ``"),
    "no list of patterns": (
        'exclude = "x"\n',
        'torchlint.toml:1: `exclude` must be a list of patterns, as in ["third_party", "*_pb2.py"]',
    ),
    "no format": (
        "\noutput-format = 3\n",
        "torchlint.toml:2: `output-format` must be a format, or a list of formats, "
        'as in "concise" or ["concise", "sarif:torchlint.sarif"]',
    ),
    "no name of a directory": ('cache-dir = "\\u0000"\n', "torchlint.toml:1: `cache-dir` has a null character in it"),
    "no name of a file": ('baseline = "\\u0000"\n', "torchlint.toml:1: `baseline` has a null character in it"),
    "no settings": ('extend = "\\u0000"\n', "torchlint.toml:1: `extend` has a null character in it"),
    "no report": (
        'output-format = "json:\\u0000"\n',
        "torchlint.toml:1: `output-format` has a null character in it",
    ),
    "an item of a table": (
        '[severity]\nTL101 = "info"\n# TL102\nTL102 = "bad"\n',
        'torchlint.toml:4: `severity`: `TL102` must be one of "error", "warning", "info"',
    ),
    "a dotted key": (
        'severity.TL101 = "info"\nseverity.TL102 = "bad"\n',
        'torchlint.toml:2: `severity`: `TL102` must be one of "error", "warning", "info"',
    ),
    "a version for a pattern": (
        'exclude = ["y"]\n[per-file-target-torch]\n"x" = "2.6"\n"y" = "abc"\n',
        'torchlint.toml:4: `per-file-target-torch`: "y" must be a version, as in "2.6", or a range, as in ">=1.13,<2.5"',
    ),
    "rules for a pattern": (
        '[per-file-ignores]\n"a" = ["TL101"]\n"b" = "TL101"\n',
        'torchlint.toml:3: `per-file-ignores`: "b" must be a list of strings, as in ["TL101"]',
    ),
    "a rule for a pattern": (
        'select = ["TL101"] # not "TL103456"\n[per-file-ignores]\n"b" = [\n  "TL103456",\n]\n',
        'torchlint.toml:4: `per-file-ignores`: "b": unknown rule `TL103456` (did you mean `TL103`?)',
    ),
    "no TOML": ("x\n", "torchlint.toml: Expected '=' after a key in a key/value pair (at line 1, column 2)"),
}


@pytest.mark.parametrize(("toml", "message"), WRONG.values(), ids=WRONG)
def test_wrong_settings_files(toml: str, message: str, write: Write, torchlint: Torchlint, tmp_path: Path) -> None:
    write({"torchlint.toml": toml, "x.py": ""})
    ran = torchlint("check")
    assert (ran.code, ran.err) == (2, f"error: {tmp_path}/{message}\n")


def test_settings_below_do_not_cut_imports_from_above(write: Write, torchlint: Torchlint) -> None:
    write({"lib/make.py": "import torch\ndef make(): return torch.ones(3)\n", "tests/torchlint.toml": ""})
    write({"tests/x.py": "import torch\nfrom lib.make import make\ny = make().data\n"})
    assert torchlint("check", "-q").code == 1


# a line of settings, and what is said of it when it is used
UNUSABLE = {
    'output-format = "xml"': "`output-format`: unknown format `xml`",
    'output-format = ["json:"]': "`output-format`: after the colon of `json:` a file is missing",
    'output-format = ["auto:x"]': "`output-format`: `auto` is for standard output",
    'output-format = ["json:x.py"]': "`output-format`: a report is not written to `x.py`",
    'output-format = ["json", "sarif"]': "`output-format`: 2 formats for standard output (json, sarif)",
    'output-format = ["json:a", "sarif:a"]': "`output-format`: two formats for one file",
    'cache-dir = ".."': "`cache-dir` must be a directory inside of the project, which `..` is not",
    'baseline = "x.py"': "`baseline`: {here}/x.py is not a baseline of torchlint (it is no JSON)",
    'baseline = "."': "`baseline`: the baseline {here} cannot be read: Is a directory",
    'baseline = "missing.json"': "`baseline`: there is no baseline {here}/missing.json",
}


@pytest.mark.parametrize(("line", "message"), UNUSABLE.items())
@pytest.mark.parametrize("file", ["torchlint.toml", "pyproject.toml"])
def test_settings_that_cannot_be_used(
    line: str, message: str, file: str, write: Write, torchlint: Torchlint, tmp_path: Path
) -> None:
    start = "# settings\n" if file == "torchlint.toml" else f"[tool.other]\n{line}\n[tool.torchlint]\n"
    write({"x.py": "", file: f"{start}{line}\n"})
    said = f"error: {tmp_path / file}:{start.count(chr(10)) + 1}: {message.format(here=tmp_path)}"
    checked, explained = torchlint("check"), torchlint("config", "--explain", "x.py")
    assert (checked.code, checked.err.startswith(said)) == (2, True), checked.err
    assert (explained.code, explained.err) == (2, checked.err)
    assert explained.out, "what holds is said nevertheless"
    (tmp_path / file).write_text("[tool.torchlint]" if file == "pyproject.toml" else "", encoding="utf-8")
    ran = torchlint("check", "--config", line)
    assert (ran.code, ran.err.startswith(f"error: --config: {message.format(here=tmp_path)}")) == (2, True), ran.err


def test_where_a_pattern_is_empty(write: Write, torchlint: Torchlint, tmp_path: Path) -> None:
    write({"x.py": "", "torchlint.toml": '# empty\nper-file-target-torch = { "" = "2.0" }\n'})
    said = f"{tmp_path / 'torchlint.toml'}:2: `per-file-target-torch`: `` matches nothing: it is empty"
    assert torchlint("check").err == f"warning: {said}\n"
