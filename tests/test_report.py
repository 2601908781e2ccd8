from __future__ import annotations

import difflib
import json
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from torchlint.cli.report import FileFindings, Style, format_named, statistics
from torchlint.cli.report.full import WIDTH, _cut
from torchlint.cli.report.patch import patch
from torchlint.cli.report.terminal import printable
from torchlint.diagnostic import Applicability, Diagnostic, LocatedEvidence, LocatedFix, Position, Severity, TextEdit
from torchlint.file.text.lines import Lines

SAFE, UNSAFE = Applicability.SAFE, Applicability.UNSAFE


def finding(
    text: str,
    what: str,
    *edits: tuple[str, str],
    applicability: Applicability = SAFE,
    code: str = "TL101",
    **more: Any,
) -> Diagnostic:
    """A finding on the first ``what`` in the text; edits replace the first occurrence of one text by another."""
    lines = Lines(text)
    start = text.index(what)
    first, last = lines.position(start), lines.position(start + len(what))
    located = [TextEdit(text.index(old), text.index(old) + len(old), new) for old, new in edits]
    fix = LocatedFix("Do it like that", applicability, tuple(sorted(located, key=lambda e: e.start))) if edits else None
    more.setdefault("rows", (first.row, last.row))
    return Diagnostic(code, "data-read", "this is old", first, last, fix=fix, **more)


PLAIN = Style()


def report(name: str, text: str, *found: Diagnostic, path: str = "x.py", style: Style = PLAIN) -> str:
    lines = format_named(name)([FileFindings(path, f"/abs/{path}", text, found)], style)
    return "".join(f"{line}\n" for line in lines)


FULL: dict[str, tuple[str, list[Any], str]] = {
    "context without blank lines at its ends": (
        "import torch\n\na = x.data\n\n\nb = 1\n",
        ["data"],
        """\
warning TL101 this is old
 --> x.py:3:7
  |
1 | import torch
2 |
3 | a = x.data
  |       ^^^^
  |
""",
    ),
    "first and last line, no newline": (
        "a = x.data",
        ["data"],
        """\
warning TL101 this is old
 --> x.py:1:7
  |
1 | a = x.data
  |       ^^^^
  |
""",
    ),
    "a fix": (
        "a = 1\nb = x.data\nc = 1\n",
        ["data", (".data", ".detach()")],
        """\
warning TL101 [*] this is old
 --> x.py:2:7
  |
1 | a = 1
2 | b = x.data
  |       ^^^^
3 | c = 1
  |
help: Do it like that
  |
1 | a = 1
2 - b = x.data
2 + b = x.detach()
3 | c = 1
  |
""",
    ),
    "numbers grow wider": (
        "\n" * 8 + "a = 1\nb = x.data\n",
        ["data", (".data", ".detach()")],
        """\
warning TL101 [*] this is old
  --> x.py:10:7
   |
 9 | a = 1
10 | b = x.data
   |       ^^^^
   |
help: Do it like that
   |
 9 | a = 1
10 - b = x.data
10 + b = x.detach()
   |
""",
    ),
    "a fix in two places": (
        "import os\n\n\na = 1\nb = x.data\n",
        ["data", ("import os\n", "import os\nimport torch\n"), ("b = x.data", "with g():\n    b = x")],
        """\
warning TL101 [*] this is old
 --> x.py:5:7
  |
4 | a = 1
5 | b = x.data
  |       ^^^^
  |
help: Do it like that
  |
1 | import os
2 + import torch
...
5 | a = 1
5 - b = x.data
6 + with g():
7 +     b = x
  |
""",
    ),
    "a line that goes": (
        "import a\nfrom b import c\nd = 1\n",
        ["c", ("from b import c\n", "")],
        """\
warning TL101 [*] this is old
 --> x.py:2:15
  |
1 | import a
2 | from b import c
  |               ^
3 | d = 1
  |
help: Do it like that
  |
1 | import a
2 - from b import c
2 | d = 1
  |
""",
    ),
    "the whole text goes": (
        "import a\n",
        ["a", ("import a\n", "")],
        """\
warning TL101 [*] this is old
 --> x.py:1:8
  |
1 | import a
  |        ^
  |
help: Do it like that
  |
1 - import a
  |
""",
    ),
    "several lines": (
        "a = f(\n    x,\n\n)\n",
        ["f(\n    x,\n\n)"],
        """\
warning TL101 this is old
 --> x.py:1:5
  |
1 | a = f(
  |     ^^
2 |     x,
  |     ^^
3 |
  | ^
4 | )
  | ^
  |
""",
    ),
    "many lines": (
        "f(\n" + "    x,\n" * 9 + ")\n",
        ["f(\n" + "    x,\n" * 9 + ")"],
        """\
warning TL101 this is old
  --> x.py:1:1
   |
 1 | f(
   | ^^
 2 |     x,
   |     ^^
...
11 | )
   | ^
   |
""",
    ),
    "tabs": (
        "if 1:\n\ta =\tx.data\n",
        ["data"],
        """\
warning TL101 this is old
 --> x.py:2:8
  |
1 | if 1:
2 |     a =    x.data
  |              ^^^^
  |
""",
    ),
    "wide, combining and unusual characters": (
        "s = '日本é\x1b\u202e\u00a0'; x.data\n",
        ["data"],
        """\
warning TL101 this is old
 --> x.py:1:17
  |
1 | s = '日本é\\x1b\\u202e\u00a0'; x.data
  |                           ^^^^
  |
""",
    ),
}


def built(text: str, how: list[Any]) -> Diagnostic:
    what, *edits = how
    return finding(text, what, *edits)


@pytest.mark.parametrize(("text", "how", "expected"), FULL.values(), ids=FULL)
def test_full(text: str, how: list[Any], expected: str) -> None:
    assert report("full", text, built(text, how)) == expected + "\n"


def test_full_gives_reasons_and_warns_of_unsafe_fixes() -> None:
    text = "b = x.data\n"
    evidence = LocatedEvidence("use", "it is used as a tensor", 7)
    found = finding(text, "data", ("data", "detach()"), applicability=UNSAFE, evidence=evidence)
    lines = report("full", text, found).splitlines()
    assert lines[0] == "warning TL101 this is old"
    assert lines[6] == "why: it is used as a tensor (line 7)"
    assert lines[7] == "help: Do it like that"
    assert lines[-2].startswith("note: this fix is unsafe: ")
    assert report("full", text, found, style=Style(unsafe_fixes=True)).startswith("warning TL101 [*] this is old\n")


def test_full_cuts_long_lines_around_what_matters() -> None:
    text = f"a = [{'1, ' * 500}x.data, {'2, ' * 500}]\n"
    output = report("full", text, finding(text, "data", ("data", "detach()")))
    assert max(map(len, output.splitlines())) < 130
    source, carets = output.splitlines()[3:5]
    assert source[carets.index("^") : carets.rindex("^") + 1] == "data"
    assert source[4] == source[-1] == "…"
    assert "x.data" in output.partition("help")[2]
    assert "x.detach()" in output.partition("help")[2]


def test_full_stands_colours() -> None:
    text = "a = 1\nb = x.data\nc = 1\n"
    import re

    found = finding(
        text, "data", ("data", "detach()"), applicability=UNSAFE, evidence=LocatedEvidence("use", "so", None)
    )
    for style in (Style(True), Style(True, True)):
        colored = report("full", text, found, style=style)
        assert "\x1b[" in colored
        plain = report("full", text, found, style=Style(False, style.unsafe_fixes))
        assert re.sub(r"\x1b\[[\d;]+m", "", colored).replace(" \n", "\n") == plain


def test_concise() -> None:
    text = "a = x.data\n"
    found = [finding(text, "data", ("data", "detach()")), finding(text, "x", code="TL203", severity=Severity.ERROR)]
    assert report("concise", text, *found) == "x.py:1:7: TL101 [*] this is old\nx.py:1:5: TL203 this is old\n"


def test_json() -> None:
    text = "a = 1\r\nb = '🦊', x.data\r\n"
    evidence = LocatedEvidence("signature", "torch.ones returns it", None)
    found = [
        finding(text, "data", ("x.data", "x"), evidence=evidence, rows=(2, 3)),
        finding(text, "b", applicability=UNSAFE, severity=Severity.ERROR),
    ]
    fixed, plain = json.loads(report("json", text, *found))
    assert fixed == {
        "cell": None,
        "code": "TL101",
        "end_location": {"column": 16, "row": 2},
        "evidence": {"kind": "signature", "message": "torch.ones returns it", "row": None},
        "filename": "/abs/x.py",
        "fix": {
            "alternatives": [],
            "applicability": "safe",
            "edits": [
                {
                    "content": "x",
                    "end_location": {"column": 16, "row": 2},
                    "location": {"column": 10, "row": 2},
                }
            ],
            "message": "Do it like that",
            "risk": None,
        },
        "location": {"column": 12, "row": 2},
        "message": "this is old",
        "name": "data-read",
        "noqa_row": 3,
        "severity": "warning",
        "confidence": "high",
        "group": "migration",
        "url": "https://github.com/torchlint/torchlint/blob/main/docs/rules/data-read.md",
    }
    assert plain.keys() == fixed.keys()
    assert (plain["fix"], plain["evidence"], plain["severity"]) == (None, None, "error")


def test_json_of_nothing_is_an_empty_list() -> None:
    assert json.loads("\n".join(format_named("json")([], Style()))) == []


def test_github() -> None:
    text = "a = x.data\nf(\n)\n"
    found = [
        finding(text, "data", ("data", "detach()")),
        finding(text, "f(\n)", severity=Severity.ERROR),
        Diagnostic("TL101", "data-read", "100%: a, b\r\nc", Position(1, 1), Position(1, 2), (1, 1)),
    ]
    assert report("github", text, *found, path="a,b:c%.py").splitlines() == [
        "::error title=torchlint (TL101),file=a%2Cb%3Ac%25.py,line=2,endLine=3::a,b:c%25.py:2:1: TL101 this is old",
        "::warning title=torchlint (TL101),file=a%2Cb%3Ac%25.py,line=1,endLine=1,col=7,endColumn=11"
        "::a,b:c%25.py:1:7: TL101 this is old%0A  help: Do it like that",
        "::warning title=torchlint (TL101),file=a%2Cb%3Ac%25.py,line=1,endLine=1,col=1,endColumn=2"
        "::a,b:c%25.py:1:1: TL101 100%25: a, b\\r\\nc",
    ]


@pytest.mark.parametrize("name", ["full", "concise"])
def test_file_names_cannot_break_a_report(name: str) -> None:
    text = "a = x.data\n"
    output = report(name, text, finding(text, "data"), path="a\nb\x1b\udce9.py")
    assert r"a\nb\x1b" in output
    assert "\udce9" in output  # left to the stream, which writes it with a backslash


def test_printable() -> None:
    assert printable("a b\u00e9日\t\u2028") == r"a bé日\t\u2028"


def test_statistics() -> None:
    text = "a = x.data\n"
    fix = ("data", "detach()")
    found = [
        *[finding(text, "data", fix)] * 9,
        finding(text, "data"),
        finding(text, "data", fix, code="TL102"),
        finding(text, "data", fix, code="TL103", applicability=UNSAFE),
    ]
    files = [FileFindings("x.py", "/x.py", text, tuple(found))]
    assert list(statistics.lines(files, Style())) == [
        "10  TL101  [-] data-read",
        " 1  TL102  [*] data-read",
        " 1  TL103  [ ] data-read",
    ]
    assert list(statistics.lines(files, Style(unsafe_fixes=True)))[-1] == " 1  TL103  [*] data-read"
    entries = json.loads("\n".join(statistics.json_lines(files, Style())))
    assert entries[0] == {
        "code": "TL101",
        "name": "data-read",
        "count": 10,
        "fixable": False,
        "fixable_count": 9,
        "group": "migration",
    }
    assert [entry["fixable"] for entry in entries] == [False, True, False]


FIX = ("data", "detach()")
# findings (with a safe fix, with an unsafe one, with none), suppressed, fixed, with --unsafe-fixes: summary
SUMMARIES = [
    ((0, 0, 0), 0, 0, False, "No findings in 3 files.\n"),
    ((0, 0, 0), 2, 1, False, "No findings in 3 files (1 fixed, 2 suppressed).\n"),
    ((0, 0, 1), 0, 0, False, "Found 1 finding in 1 file.\n"),
    ((1, 0, 1), 1, 0, False, "Found 2 findings in 1 file (1 suppressed).\n[*] 1 fixable with `--fix`.\n"),
    (
        (2, 1, 0),
        0,
        0,
        False,
        "Found 3 findings in 1 file.\n[*] 2 fixable with `--fix` (1 more with `--fix --unsafe-fixes`).\n",
    ),
    ((0, 2, 0), 0, 0, False, "Found 2 findings in 1 file.\n2 fixable with `--fix --unsafe-fixes`.\n"),
    ((2, 1, 0), 0, 0, True, "Found 3 findings in 1 file.\n[*] 3 fixable with `--fix --unsafe-fixes` (1 unsafe).\n"),
]


@pytest.mark.parametrize(("counts", "suppressed", "fixed", "unsafe", "expected"), SUMMARIES)
def test_summary(counts: tuple[int, int, int], suppressed: int, fixed: int, unsafe: bool, expected: str) -> None:
    text = "a = x.data\n"
    kinds = (finding(text, "data", FIX), finding(text, "data", FIX, applicability=UNSAFE), finding(text, "data"))
    found = tuple(kind for kind, count in zip(kinds, counts, strict=True) for _ in range(count))
    files = [FileFindings("x.py", "/x.py", text, found)] if found else []
    totals = statistics.Totals(3, suppressed, (("x.py", (("TL101", fixed),)),) if fixed else ())
    assert "".join(f"{line}\n" for line in statistics.summary(files, totals, Style(unsafe_fixes=unsafe))) == expected


def test_fixes_name_file_and_rule() -> None:
    totals = statistics.Totals(2, fixed=(("a.py", (("TL101", 2), ("TL201", 1))), ("b.py", (("TL101", 1),))))
    names = {"TL101": "data-read", "TL201": "variable-wrapper"}
    assert list(statistics.fixes(totals, names, Style())) == [
        "Fixed 4 findings:",
        "- a.py:",
        "    2 × TL101 (data-read)",
        "    1 × TL201 (variable-wrapper)",
        "- b.py:",
        "    1 × TL101 (data-read)",
    ]
    assert list(statistics.fixes(statistics.Totals(2), names, Style())) == []


PATCHES = {
    "one line": (b"a\nb\nc\n", b"a\nB\nc\n"),
    "no newline at the end": (b"a\nb", b"a\nB"),
    "a newline more at the end": (b"a\nb", b"a\nb\n"),
    "a newline less at the end": (b"a\nb\n", b"a\nb"),
    "CRLF": (b"a\r\nb\r\nc\r\n", b"a\r\nB\r\nB2\r\nc\r\n"),
    "CR": (b"a\rb\rc\r", b"a\rB\rc\r"),
    "mixed": (b"a\rb\nc\r\nd\x0ce\x0bf\n", b"a\rb\nC\r\nd\x0ce\x0bf\n"),
    "latin-1": (b"# coding: latin-1\nx = '\xe9'\ny\n", b"# coding: latin-1\nx = '\xe8'\ny\n"),
    "separators": ("a = '\u2028\u0085'\nb\n".encode(), "a = '\u2028\u0085'\nB\n".encode()),
    "byte order mark": (b"\xef\xbb\xbfa\nb\n", b"\xef\xbb\xbfA\nb\n"),
    "far apart": (b"a\n" + b"x\n" * 20 + b"b\n", b"A\n" + b"x\n" * 20 + b"B\n"),
    "emptied": (b"a\n", b""),
}
NAMES = [
    "x.py",
    "sub/x.py",
    "a b.py",
    "q'.py",
    'q".py',
    "back\\slash.py",
    "ü.py",
    "tab\t.py",
    "new\nline.py",
    "\udce9.py",
]


def git_apply(directory: Path, lines: Iterator[bytes]) -> None:
    subprocess.run(["git", "apply", "-"], input=b"".join(lines), cwd=directory, check=True)


@pytest.mark.parametrize(("before", "after"), PATCHES.values(), ids=PATCHES)
def test_git_takes_the_patch(before: bytes, after: bytes, tmp_path: Path) -> None:
    file = tmp_path / "x.py"
    file.write_bytes(before)
    git_apply(tmp_path, patch("x.py", before, after, Style()))
    assert (file.read_bytes() if file.exists() else b"") == after


@pytest.mark.parametrize("name", NAMES, ids=ascii)
def test_git_takes_the_name(name: str, tmp_path: Path) -> None:
    file = tmp_path / name
    file.parent.mkdir(exist_ok=True)
    file.write_bytes(b"a\n")
    git_apply(tmp_path, patch(name, b"a\n", b"b\n", Style()))
    assert file.read_bytes() == b"b\n"


@pytest.mark.parametrize("content", ["", "\n", "a", "a\n", "a\n\nb", "\n\na\n", "é\x0c\x85\u2028\nb"])
def test_lines_are_the_same_whatever_ends_them(content: str) -> None:
    text, other = Lines(content), Lines(content + "\r")
    assert text.ends == other.ends[:-1]
    assert text.starts == other.starts[:-1]
    assert [text.line(row) for row in range(1, 5)] == [other.line(row) for row in range(1, 5)]


@given(st.text(st.characters(codec="ascii"), max_size=150), st.integers(0, 160), st.integers(0, 160))
def test_short_lines_are_cut_as_others_are(line: str, start: int, end: int) -> None:
    def careful(line: str) -> tuple[str, int, int]:
        return _cut(f"{line}é", min(start, len(line)), min(max(start, end), len(line)), WIDTH)

    shown, offset, width = _cut(line, start, max(start, end), WIDTH)
    if len(line) < WIDTH and line.isprintable():
        assert (f"{shown}é", offset, width) == careful(line)


def test_no_line_of_a_long_file_is_replaced_by_itself() -> None:
    often = "x = x.cuda()\n"
    before = ("a = 1\n" + often) * 120 + f"y = wrap(x)\n{often}\nz = wrap(x)\n{often}" + "end\n" * 5
    after = before.replace("wrap(x)", "x")
    shown = [part.decode() for part in patch("x.py", before.encode(), after.encode(), Style())]
    assert shown == [
        "--- a/x.py\n",
        "+++ b/x.py\n",
        "@@ -238,10 +238,10 @@\n",
        f" {often}",
        " a = 1\n",
        f" {often}",
        "-y = wrap(x)\n",
        "+y = x\n",
        f" {often}",
        " \n",
        "-z = wrap(x)\n",
        "+z = x\n",
        f" {often}",
        " end\n",
        " end\n",
    ]
    assert not list(patch("x.py", before.encode(), before.encode(), Style()))


def test_thousands_of_equal_lines_are_not_compared_pair_by_pair(monkeypatch: pytest.MonkeyPatch) -> None:
    compared: list[int] = []
    find = difflib.SequenceMatcher.find_longest_match

    def counted(self: difflib.SequenceMatcher[str], *places: int) -> difflib.Match:
        compared.append(places[1] - places[0])
        return find(self, *places)

    monkeypatch.setattr(difflib.SequenceMatcher, "find_longest_match", counted)
    before, after = (f"y = x.{name}\ng(y)\n".encode() * 1000 for name in ("data", "detach()"))
    assert b"+y = x.detach()\n" in b"".join(patch("x.py", before, after, Style()))
    assert len(compared) < 10
