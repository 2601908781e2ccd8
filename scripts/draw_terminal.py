"""Draws what a terminal shows of a real run over the example project, for ``docs/terminal.svg``.

``scripts/build_docs.py`` writes the picture, and its check compares it with what a run gives now.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from html import escape
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

COMMANDS = ("check --select TL101,TL203 explore.ipynb", "check --fix --fix-only")
UNSEEN = ("--color=always", "--isolated", "--no-cache", "--no-baseline")
"""What else the commands are given, so that they do the same on each machine."""

COLUMNS = 100
CHARACTER, LINE, SIZE, MARGIN = 8.4, 19, 14, 16
"""Pixels."""

COLORS = {"31": "#ff7b72", "32": "#7ee787", "33": "#e3b341", "34": "#79c0ff", "36": "#56d4dd"}
STYLE = "font-family:ui-monospace,SFMono-Regular,Menlo,Consolas,'DejaVu Sans Mono',monospace;white-space:pre"

ESCAPE = re.compile(r"\x1b\[([0-9;]*)m")
Run = tuple[str, str]
"""Some text, and the codes of how it looks."""


def session() -> Iterator[str]:
    """The commands and what they print, with escapes for colours."""
    outside = ("TORCHLINT_", "NO_COLOR", "FORCE_COLOR", "CLICOLOR", "COLUMNS", "LINES")
    plain = {name: value for name, value in os.environ.items() if not name.startswith(outside)}
    environment = {**plain, "PYTHONPATH": str(ROOT), "PYTHONIOENCODING": "utf-8"}
    with tempfile.TemporaryDirectory() as temporary:
        project = Path(temporary) / "legacy"
        shutil.copytree(ROOT / "examples" / "legacy", project, ignore=shutil.ignore_patterns("__pycache__", ".*"))
        for command in COMMANDS:
            yield f"\x1b[1m$ torchlint {command}\x1b[0m"
            called = [sys.executable, "-m", "torchlint", *command.split(), *UNSEEN]
            ran = subprocess.run(called, cwd=project, env=environment, capture_output=True, check=False)
            yield from ran.stdout.decode().splitlines()
            yield ""


def runs(line: str) -> Iterator[Run]:
    """A line in parts that look alike."""
    codes = ""
    for number, part in enumerate(ESCAPE.split(line)):
        if number % 2:
            codes = "" if part in ("", "0") else part
        elif part:
            yield part, codes


def wrapped(line: list[Run]) -> Iterator[list[Run]]:
    """A line as a terminal breaks it."""
    row: list[Run] = []
    left = COLUMNS
    for text, codes in line:
        while len(text) > left:
            yield [*row, (text[:left], codes)]
            row, text, left = [], text[left:], COLUMNS
        row.append((text, codes))
        left -= len(text)
    yield row


def tspan(text: str, codes: str) -> str:
    """Some text as it looks."""
    wanted = [f' fill="{COLORS[code]}"' for code in codes.split(";") if code in COLORS]
    bold = ' font-weight="bold"' if "1" in codes.split(";") else ""
    return f"<tspan{''.join(wanted)}{bold}>{escape(text, quote=False)}</tspan>"


def svg() -> str:
    """The picture."""
    rows = [row for line in session() for row in wrapped(list(runs(line)))][:-1]
    width, height = round(COLUMNS * CHARACTER) + 2 * MARGIN, len(rows) * LINE + 2 * MARGIN
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}"'
        ' role="img">',
        "<title>torchlint in a terminal</title>",
        f'<rect width="{width}" height="{height}" rx="8" fill="#0d1117"/>',
        f'<g fill="#e6edf3" font-size="{SIZE}" style="{STYLE}">',
    ]
    for number, row in enumerate(rows):
        characters = sum(len(text) for text, _ in row)
        if characters:
            place = f'x="{MARGIN}" y="{MARGIN + number * LINE + SIZE}" xml:space="preserve"'
            length = f'textLength="{characters * CHARACTER:.1f}" lengthAdjust="spacingAndGlyphs"'
            lines.append(f"<text {place} {length}>{''.join(tspan(*run) for run in row)}</text>")
    return "\n".join([*lines, "</g>", "</svg>", ""])
