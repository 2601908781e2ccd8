"""The processor time that the server for editors takes to answer a keystroke in an open file.

python benchmarks/keystroke.py FILE...

Each file is opened as an editor opens it; then a statement is typed in the middle of it, a character at a time, and
after each character its findings are asked for. What a server takes that is only started and asked once is subtracted.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests"))

from lsp import PULLS, Client

TYPED = "kept_here = 1"


def main(paths: list[str]) -> None:
    """A line for each file."""
    for path in (Path(each).resolve() for each in paths):
        text = path.read_text(encoding="utf-8")
        least, _ = server_time(path, text, "")
        most, findings = server_time(path, text, TYPED)
        each = (most - least) / len(TYPED) * 1000
        print(f"{each:4.0f} ms a keystroke: {path} ({text.count(chr(10))} lines, {findings} findings)")


def server_time(path: Path, text: str, typed: str) -> tuple[float, int]:
    """Seconds of processor time of a server in which some characters were typed, and how much it finds in the end."""
    before = os.times()
    with Client() as client:
        client.begin(path.parent, **PULLS)
        uri, line = path.as_uri(), place(text)
        client.open(uri, text)
        found = client.found(uri)
        client.edit(uri, 2, ((line, 0), (line, 0), "\n"))
        found = client.found(uri)
        for number, character in enumerate(typed):
            client.edit(uri, 3 + number, ((line, number), (line, number), character))
            found = client.found(uri)
        client.end()
    after = os.times()
    spent = after.children_user + after.children_system - before.children_user - before.children_system
    return spent, len(found)


def place(text: str) -> int:
    """A line in the middle of a text above which a statement can be written."""
    lines = text.splitlines()
    tops = [
        n for n, line in enumerate(lines) if line.startswith(("def ", "class ")) and not lines[n - 1].startswith("@")
    ]
    return min(tops, key=lambda n: abs(n - len(lines) // 2))


if __name__ == "__main__":
    main(sys.argv[1:])
