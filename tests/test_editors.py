"""The extension for VS Code and the page about editors say what the server understands."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import Any

import pytest

from torchlint import __version__

pytest.importorskip("pygls.lsp.server", reason="the extra `lsp` is not installed")

from torchlint.server.options import KEYS

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs" / "editors.md").read_text(encoding="utf-8")
EXTENSION = ROOT / "editors" / "vscode"
PACKAGE: dict[str, Any] = json.loads((EXTENSION / "package.json").read_text(encoding="utf-8"))

OF_THE_EXTENSION = {"interpreter", "trace.server"}
"""Settings that the extension keeps to itself."""


def test_the_extension_is_of_this_version() -> None:
    assert PACKAGE["version"] == __version__
    locked = json.loads((EXTENSION / "package-lock.json").read_text(encoding="utf-8"))
    assert (locked["version"], locked["packages"][""]["dependencies"]) == (__version__, PACKAGE["dependencies"])


def test_the_extension_has_the_settings_of_the_server() -> None:
    settings = {name.removeprefix("torchlint.") for name in PACKAGE["contributes"]["configuration"]["properties"]}
    assert settings - OF_THE_EXTENSION == {*KEYS}
    source = (EXTENSION / "src" / "extension.ts").read_text(encoding="utf-8")
    sent = source.partition("FOR_SERVER = [")[2].partition("]")[0]
    assert set(re.findall(r'"(\w+)"', sent)) == {*KEYS}


def test_the_page_names_the_settings_of_the_server() -> None:
    table = PAGE.partition("## Settings")[2].partition("\n## ")[0]
    named = {name for row in re.findall(r"^\| (`.*?) \|", table, re.MULTILINE) for name in re.findall(r"`(\w+)`", row)}
    assert named == {*KEYS}


@pytest.mark.parametrize(("language", "parse"), [("json", json.loads), ("toml", tomllib.loads)], ids=["json", "toml"])
def test_what_is_to_be_copied_parses(language: str, parse: Any) -> None:
    blocks = re.findall(rf"^```{language}\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
    assert blocks
    for block in blocks:
        assert parse(block)


def test_fix_on_save_names_the_kind_of_the_action() -> None:
    from torchlint.server.actions import FIX_ALL, FIX_ALL_OF_NOTEBOOK

    assert set(re.findall(r"(?:notebook\.)?source\.fixAll\.\w+", PAGE)) == {FIX_ALL, FIX_ALL_OF_NOTEBOOK}
