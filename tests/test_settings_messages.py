"""What is said of versions, selections and baselines that are nearly right names what is wrong with them."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from conftest import Torchlint

from torchlint.api import Linter
from torchlint.project.baseline import NAME
from torchlint.project.selection import SettingsError

Write = Callable[[dict[str, str | bytes]], None]


@pytest.mark.parametrize(
    ("version", "why"),
    [
        ("99", "`99` has no minor number"),
        (">=3,<2", "`>=3` has no minor number"),
        ("2.6.1+cu118", "without `+cu118`, which names the build"),
        (">2.1, !=2.3", "`!=` is not taken"),
        ("===2.1", "`===` is not taken"),
        ("new", ""),
    ],
)
def test_why_a_version_is_none(version: str, why: str, write: Write, torchlint: Torchlint) -> None:
    write({"x.py": "import torch\n"})
    ran = torchlint("check", "--target-torch", version)
    said = 'must be a version, as in "2.6", or a range, as in ">=1.13,<2.5"'
    assert (ran.code, ran.err.rstrip("\n").partition(said)[2]) == (2, f" ({why})" if why else "")


@pytest.mark.parametrize("given", ["0.1", "0.2.1", ">=0.2,<2.5", "<0.2"])
def test_a_version_before_all_that_are_known(given: str, write: Write, torchlint: Torchlint) -> None:
    write({"x.py": "import torch\n"})
    ran = torchlint("check", "--target-torch", given)
    assert (ran.code, "is before 0.3, the oldest version that is known of" in ran.err) == (2, True), ran.err


@pytest.mark.parametrize("given", ["0.3", "0.3.1", ">=0.4,<2.5", "2.30"])
def test_a_version_that_may_be_meant(given: str, write: Write, torchlint: Torchlint) -> None:
    write({"x.py": "import torch\n"})
    assert torchlint("check", "--target-torch", given).code == 0


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (
            '{\n<<<<<<< HEAD\n"tool": 1}\n',
            "is not a baseline of torchlint (line 2 begins a conflict that git has marked)",
        ),
        ('{"tool": "torchlint",\n', "is not a baseline of torchlint (it is no JSON, see line 2)"),
        ('{"tool": "torchlint", "baseline": 99}', "is a baseline of version 99, and this program knows version 1,"),
    ],
)
def test_why_a_baseline_is_not_read(content: str, why: str, write: Write, torchlint: Torchlint) -> None:
    write({"x.py": "import torch\n", NAME: content})
    ran = torchlint("check")
    assert (ran.code, why in ran.err) == (2, True), ran.err


def test_a_file_that_extends_itself(write: Write, torchlint: Torchlint) -> None:
    write({"x.py": "import torch\n", "torchlint.toml": 'extend = "torchlint.toml"\n'})
    ran = torchlint("check")
    assert (ran.code, "a file cannot extend itself" in ran.err) == (2, True), ran.err


@pytest.mark.parametrize("option", ["select", "extend_select", "ignore"])
def test_a_text_is_no_list_of_rules(option: str) -> None:
    with pytest.raises(SettingsError, match=rf'^{option} must be a list of rules, as in \["TL1"\]$'):
        Linter(**{option: "TL1"})  # type: ignore[arg-type]


def test_what_is_open_in_an_editor_must_parse() -> None:
    from torchlint.server.documents import OpenDocument, TextDocument, snapshot
    from torchlint.server.linter import EditorLinter
    from torchlint.server.options import EditorOptions

    document = OpenDocument("file:///x.py", [TextDocument("file:///x.py", "python", 1, "import torch\ndef f(:\n")])
    taken = snapshot(document, "/x.py")
    assert taken is not None
    assert [found.code for found in EditorLinter(EditorOptions()).check(taken).diagnostics] == ["TL001"]


@pytest.mark.parametrize("options", [(), ("--quiet",), ("--silent",)])
def test_why_a_command_fails_is_always_said(options: tuple[str, ...], write: Write, torchlint: Torchlint) -> None:
    write({"empty/x.txt": ""})
    ran = torchlint("check", *options, "empty")
    assert (ran.code, ran.err) == (2, "error: empty: no Python files found\n")
