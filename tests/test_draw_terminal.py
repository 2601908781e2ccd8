"""The picture in the README is of a real run, and the same whatever the terminal is that it is drawn in."""

from __future__ import annotations

import html
import re
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "scripts"))

import draw_terminal  # noqa: E402

PICTURE = (ROOT / "docs" / "terminal.svg").read_text(encoding="utf-8")


def test_it_is_current_in_any_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    settings = {"COLUMNS": "40", "NO_COLOR": "1", "TERM": "dumb", "TORCHLINT_OUTPUT_FORMAT": "json", "LC_ALL": "C"}
    for name, value in settings.items():
        monkeypatch.setenv(name, value)
    assert draw_terminal.svg() == PICTURE


def test_it_shows_the_commands_and_a_finding() -> None:
    text = html.unescape(re.sub(r"<[^>]+>", "", PICTURE))
    assert [f"$ torchlint {command}" in text for command in draw_terminal.COMMANDS] == [True] * len(
        draw_terminal.COMMANDS
    )
    assert "error TL203" in text
    assert "loss.item()" in text


def test_it_needs_nothing_from_elsewhere() -> None:
    assert set(re.findall(r"https?://[^\"\s]+", PICTURE)) == {"http://www.w3.org/2000/svg"}


def test_lines_are_broken_as_a_terminal_does() -> None:
    line = [("a" * 90, ""), ("b" * 120, "31")]
    rows = list(draw_terminal.wrapped(line))
    assert ["".join(text for text, _ in row) for row in rows] == ["a" * 90 + "b" * 10, "b" * 100, "b" * 10]
    assert rows[1] == [("b" * 100, "31")]


def test_what_looks_alike() -> None:
    runs = list(draw_terminal.runs("x \x1b[1;31merror\x1b[0m <y>"))
    assert runs == [("x ", ""), ("error", "1;31"), (" <y>", "")]
    assert draw_terminal.tspan(*runs[2]) == "<tspan> &lt;y&gt;</tspan>"
