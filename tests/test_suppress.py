from __future__ import annotations

from pathlib import Path

import pytest
from conftest import Torchlint

from torchlint.diagnostic import Diagnostic, Fixing, Position
from torchlint.file.check import check_text
from torchlint.file.comments.suppressions import Suppressions


def finding(rows: tuple[int, int], row: int | None = None, code: str = "TL101", name: str = "data-read") -> Diagnostic:
    at = row or rows[0]
    return Diagnostic(code, name, "", Position(at, 5), Position(at, 9), rows)


LINE = {
    "ignore[TL101]": True,
    "ignore[TL101] because it is so": True,
    "ignore[TL1]": True,
    "ignore[TL]": True,
    "ignore[tl101]": True,
    "ignore[TL999, TL101]": True,
    "ignore [TL101]": True,
    "ignore[data-read]": True,
    "ignore": True,
    "ignore because it is so": True,
    "ignore[TL102]": False,
    "ignore[TL1011]": False,
    "ignore[data]": False,
    "ignore[]": False,
    "ignore[TL101": False,
    "ignored": False,
    "ignore-file": False,
    "file-ignore": True,
    "file-ignore[TL101]": True,
    "file-ignore[TL2]": False,
    "noqa": False,
}


@pytest.mark.parametrize(("directive", "silenced"), LINE.items())
def test_own_comment_after_code(directive: str, silenced: bool) -> None:
    for comment in (f"# torchlint: {directive}", f"#torchlint:{directive}", f"# type: ignore # torchlint: {directive}"):
        assert bool(Suppressions(f"a = x.data  {comment}\n").silencing(finding((1, 1)))) is silenced


NOQA = {
    "# noqa": True,
    "#noqa": True,
    "# NOQA": True,
    "# noqa - it is so": True,
    "# noqa: TL101": True,
    "# noqa:TL101": True,
    "# noqa : TL101": True,
    "# noqa: tl101": True,
    "# noqa: E501, TL101": True,
    "# noqa: E501 TL101": True,
    "# noqa: TL1": True,
    "# noqa: TL101 it is so": True,
    "# a word # noqa": True,
    "# noqa: E501": False,
    "# noqa: E501,TL2": False,
    "# noqa: it is so": False,
    "# noqa:": False,
    "# noqa_not": False,
    "# noqa-not": False,
    "# nope": False,
    "# ruff: noqa": False,
    "# flake8: noqa": False,
    "# say noqa": False,
}


@pytest.mark.parametrize(("comment", "silenced"), NOQA.items())
def test_noqa(comment: str, silenced: bool) -> None:
    assert bool(Suppressions(f"a = x.data  {comment}\n").silencing(finding((1, 1)))) is silenced


# Each line that ends in `<<<` is where a finding stands; `1-3` before it are the rows of its statement. A `!` means silenced.
PLACES = {
    "another line": "a = x.data  #1-1 <<<\nb = 1  # noqa\n",
    "first line of the statement": "a = (  # noqa\n    x.data #1-3 ! <<<\n)\n",
    "last line of the statement": "a = (\n    x.data #1-3 ! <<<\n)  # torchlint: ignore[TL101]\n",
    "the line itself": "a = (\n    x.data  # noqa #1-3 ! <<<\n)\n",
    "some other line of the statement": "a = (\n    x.data,  #1-4 <<<\n    1,  # noqa\n)\n",
    "the line before": "# torchlint: ignore[TL101]\na = x.data  #2-2 ! <<<\n",
    "the line before, which is for one line": "# torchlint: ignore\na = 1\nb = x.data  #3-3 <<<\n",
    "the line before, with blanks and comments": "# torchlint: ignore\n\n    # so\n    a = x.data  #4-4 ! <<<\n",
    "the line before a statement": "# torchlint: ignore\na = (\n    x.data  #2-4 ! <<<\n)\n",
    "the line before, inside a statement": "a = (\n    # torchlint: ignore\n    x.data,  #1-4 ! <<<\n    y)\n",
    "the line before, for the next part only": "a = (\n    # torchlint: ignore\n    y,\n    x.data  #1-5 <<<\n)\n",
    "the line before, last of all": "a = x.data  #1-1 <<<\n# torchlint: ignore",
    "the line before, twice": "# torchlint: ignore[TL2]\n# torchlint: ignore[TL101]\na = x.data  #3-3 ! <<<\n",
    "the line before, after a string": "'''\n'''\n# torchlint: ignore\na = x.data  #4-4 ! <<<\n",
    "the line before, which is a string": "# torchlint: ignore\n'a'; x.data  #2-2 ! <<<\n",
    "noqa on the line before": "# noqa\na = x.data  #2-2 <<<\n",
    "the file, anywhere": "a = x.data  #1-1 ! <<<\nif 1:\n    pass\n    # torchlint: file-ignore[TL101] so\n",
    "inside a string": "a = x.data, '# noqa'  #1-1 <<<\n",
    "inside a long string": "a = x.data, '''  #1-3 <<<\n# torchlint: file-ignore\n# noqa'''\n",
    "inside a raw string": "a = x.data, r'\\'# noqa'  #1-1 <<<\n",
    "after a string with quotes": "a = x.data, 'a\\'b', \"'\"  # noqa #1-1 ! <<<\n",
    "after a string that does not end": "b = 'abc\na = x.data  # noqa #2-2 ! <<<\n",
    "after a long string": "a = x.data, '''  #1-2 ! <<<\n'''  # noqa\n",
    "after CR": "a = 1\rb = x.data  # noqa #2-2 ! <<<\rc = 1\r",
    "after CRLF": "a = 1\r\nb = x.data  # noqa #2-2 ! <<<\r\nc = 1\r\n",
    "after a form feed": "\fa = 1\n\f# torchlint: ignore\n\fb = x.data  #3-3 ! <<<\n",
    "after a separator that is no newline": "a = '\u2028'\nb = x.data  # noqa #2-2 ! <<<\n",
}


@pytest.mark.parametrize("text", PLACES.values(), ids=PLACES)
def test_places(text: str) -> None:
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    (row,) = [number for number, line in enumerate(lines, 1) if line.rstrip().endswith("<<<")]
    expected = lines[row - 1].rpartition("#")[2].split()
    first, last = map(int, expected[0].split("-"))
    assert bool(Suppressions(text).silencing(finding((first, last), row))) is ("!" in expected)


CONTINUED = (
    '"\\\n"',
    '"a\\\n\\\nb"',
    "'\\\n'",
    '"""\\\n"""',
    'b"\\\n"',
    'r"\\\n"',
    'f"{0}\\\n"',
    '"a" "\\\n"',
    '"\\\\" "\\\n"',
)
"""Strings that go on on the next line."""


@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"], ids=["LF", "CRLF", "CR"])
@pytest.mark.parametrize("string", CONTINUED)
def test_after_a_string_that_goes_on(string: str, newline: str) -> None:
    """Whatever ends its lines, a comment speaks for the line that it is on."""
    text = f"a = {string}\nb = x.data  # torchlint: ignore[TL101]\nc = x.data  # noqa: TL101\nd = x.data\n"
    row = 2 + string.count("\n")
    silencing = Suppressions(text.replace("\n", newline)).silencing
    assert [bool(silencing(finding((each, each)))) for each in range(row - 1, row + 3)] == [False, True, True, False]


CODE = """\
import torch
w = torch.ones(3, requires_grad=True)
print(w.data)
"""


def test_suppressed_code_is_neither_reported_nor_fixed() -> None:
    codes = frozenset({"TL101"})
    assert check_text(CODE, "x.py", codes).diagnostics
    quiet = CODE.replace("data)", "data)  # torchlint: ignore[TL101]")
    outcome = check_text(quiet, "x.py", codes, Fixing.UNSAFE)
    assert (outcome.diagnostics, outcome.suppressed, outcome.text) == ((), 1, quiet)


def test_unused() -> None:
    text = """\
a = x.data  # torchlint: ignore[TL101]
b = 1  # torchlint: ignore[TL101]
c = 1  # noqa: TL101
d = 1  # torchlint: ignore[TL2]
e = 1  # torchlint: ignore[data-read, TL2]
f = 1  # torchlint: ignore
"""
    suppressions = Suppressions(text)
    assert suppressions.silencing(finding((1, 1)))
    found = [(d.code, d.start, d.end) for d in suppressions.unused({"TL101"})]
    assert found == [
        ("TL002", Position(2, 8), Position(2, 34)),
        ("TL002", Position(5, 8), Position(5, 43)),
        ("TL002", Position(6, 8), Position(6, 27)),
    ]


# A comment that stands where `@` is, and whether it silences what `w.data` is on.
HEADERS = {
    "for x in zip(  @\n    w.data,\n    w,\n):\n    pass\n": True,
    "for x in zip(\n    w.data,  @\n    w,\n):\n    pass\n": True,
    "for x in zip(\n    w.data,\n    w,\n):  @\n    pass\n": True,
    "for x in zip(\n    w.data,\n    w,\n): pass  @\n": True,
    "for x in zip(\n    w.data,\n    w,  @\n):\n    pass\n": False,
    "for x in zip(\n    w.data,\n    w,\n):\n    pass  @\n": False,
    "if a:\n    pass\nelif (\n    w.data.sum()\n    > 1\n):  @\n    pass\n": True,
    "if a:\n    pass\nelif (\n    w.data.sum()\n    > 1\n):\n    pass\nelse:  @\n    pass\n": False,
    "while (w.data.sum()\n       > 1):  @\n    # more\n    pass\n": True,
    "def f(\n    x=w.data,\n    y=1,\n) -> None:  @\n    pass\n": True,
    "@f(w.data,\n   1)\ndef f(\n    x=1,\n) -> None:  @\n    pass\n": False,
    "with f(w.data,\n       1), g(\n):  @\n    pass\n": True,
}


@pytest.mark.parametrize("header", HEADERS)
@pytest.mark.parametrize("comment", ["# torchlint: ignore[TL101]", "# noqa: TL101"])
def test_the_last_line_of_a_header(header: str, comment: str) -> None:
    start = "import torch\nw = torch.ones(3, requires_grad=True)\n"
    plain = check_text(start + header.replace("  @", ""), "x.py", frozenset({"TL101"}))
    assert [d.code for d in plain.diagnostics] == ["TL101"]
    outcome = check_text(start + header.replace("  @", f"  {comment}"), "x.py", frozenset({"TL101"}))
    assert (outcome.suppressed == 1) is HEADERS[header]
    assert (outcome.diagnostics == ()) is HEADERS[header]


# Each line that ends in `<<<` is where a finding of TL101 stands; a `!` means silenced.
RANGES = {
    "between": "# torchlint: disable[TL101]\na = x.data  # ! <<<\n# torchlint: enable[TL101]\n",
    "behind": "# torchlint: disable[TL101]\nb = 1\n# torchlint: enable[TL101]\na = x.data  # <<<\n",
    "before": "a = x.data  # <<<\n# torchlint: disable[TL101]\nb = 1\n# torchlint: enable[TL101]\n",
    "on the first line": "b = (  # torchlint: disable[TL101]\n    x.data  # ! <<<\n)\n# torchlint: enable[TL101]\n",
    "on the last line": "# torchlint: disable\nb = (\n    x.data  # torchlint: enable ! <<<\n)\n",
    "with a reason": "# torchlint: disable[TL101] as it is so\na = x.data  # ! <<<\n# torchlint: enable[TL101] again\n",
    "by name and by group": "# torchlint: disable[data-read, security]\na = x.data  # ! <<<\n# torchlint: enable\n",
    "another rule": "# torchlint: disable[TL102]\na = x.data  # <<<\n# torchlint: enable\n",
    "everything": "# torchlint: disable\na = x.data  # ! <<<\n# torchlint: enable\n",
    "an end of everything": "# torchlint: disable[TL101]\n# torchlint: enable\na = x.data  # <<<\n",
    "an end of something else": "# torchlint: disable[TL101]\n# torchlint: enable[TL102]\na = x.data  # ! <<<\n# torchlint: enable\n",
    "an end of a part": "# torchlint: disable[TL101, TL102]\n# torchlint: enable[TL101]\na = x.data  # ! <<<\n# torchlint: enable\n",
    "in another order": "# torchlint: disable[TL101, TL102]\n# torchlint: enable[TL102, TL101]\na = x.data  # <<<\n",
    "without an end": "b = 1\n# torchlint: disable[TL101]\nif b:\n    pass\na = x.data  # ! <<<\n",
    "one in another": "# torchlint: disable[TL101]\n# torchlint: disable[TL1]\n# torchlint: enable[TL1]\n"
    "a = x.data  # ! <<<\n# torchlint: enable[TL101]\n",
    "twice": "# torchlint: disable[TL101]\n# torchlint: disable[TL101]\n# torchlint: enable[TL101]\na = x.data  # <<<\n",
    "in a string": "b = '''\n# torchlint: disable\n'''\na = x.data  # <<<\n",
    "malformed": "# torchlint: disable=TL101\na = x.data  # <<<\n",
}


@pytest.mark.parametrize("text", RANGES.values(), ids=RANGES)
def test_ranges(text: str) -> None:
    lines = text.split("\n")
    (row,) = [number for number, line in enumerate(lines, 1) if line.endswith("<<<")]
    assert bool(Suppressions(text).silencing(finding((row, row)))) is ("! <<<" in text)


def test_what_is_wrong_with_ranges() -> None:
    text = "# torchlint: disable[TL1]\n# torchlint: disable[TL1]\n# torchlint: enable[TL2]\n# torchlint: enable[TL1]\n"
    found = {d.start.row: d.message for d in Suppressions(text).malformed()}
    assert found == {
        2: "`disable[TL1]` holds already since line 1",
        3: "no `disable[TL2]` stands before it",
    }
    (alone,) = check_text("# torchlint: disable\n", "x.py", frozenset({"TL004"})).diagnostics
    assert alone.message == "no `enable` ends it, so it holds to the end of the file, as `file-ignore` does"


def test_a_range_is_left_alone_by_fixes() -> None:
    quiet = CODE.replace("print", "# torchlint: disable[TL101]\nprint") + "# torchlint: enable[TL101]\nprint(w.data)\n"
    outcome = check_text(quiet, "x.py", frozenset({"TL101", "TL002"}), Fixing.UNSAFE)
    assert (outcome.diagnostics, outcome.suppressed) == ((), 1)
    assert outcome.text == quiet.removesuffix("print(w.data)\n") + "print(w.detach())\n"


HEAD = "import torch\nw = torch.ones(3, requires_grad=True)\n"

# what is removed from comments that silence nothing
UNUSED = {
    "all of it": ("b = 1  # torchlint: ignore[TL101] as it is so\n", "b = 1\n"),
    "on a line of its own": (
        "if w is None:\n    # torchlint: ignore[TL101]\n    b = 1\n",
        "if w is None:\n    b = 1\n",
    ),
    "one of two rules": (
        "print(w.data)  # torchlint: ignore[TL101, TL107] so\n",
        "print(w.data)  # torchlint: ignore[TL101] so\n",
    ),
    "a name and a group": (
        "print(w.data)  # torchlint: ignore[data-inplace,migration,security]\n",
        "print(w.data)  # torchlint: ignore[migration]\n",
    ),
    "not what is another tool's": (
        "b = 1  # type: ignore # torchlint: ignore why # noqa: E501\n",
        "b = 1  # type: ignore # noqa: E501\n",
    ),
    "for a file": ("# torchlint: file-ignore[TL107]\nb = 1", "b = 1"),
    "a range": (
        "# torchlint: disable[TL107]\nb = 1  # so\n# torchlint: enable[TL107] why\nprint(1)\n",
        "b = 1  # so\nprint(1)\n",
    ),
    "a part of a range": (
        "# torchlint: disable[TL107, TL101]\nprint(w.data)\n# torchlint: enable[TL107, TL101]\n",
        "# torchlint: disable[TL101]\nprint(w.data)\n# torchlint: enable[TL101]\n",
    ),
    "not the end of others": (
        "# torchlint: disable[TL101]\n# torchlint: disable[TL107]\nprint(w.data)\n# torchlint: enable\n",
        "# torchlint: disable[TL101]\nprint(w.data)\n# torchlint: enable\n",
    ),
    "CRLF": ("b = 1\r\n# torchlint: ignore\r\nc = 1  # torchlint: ignore\r\n", "b = 1\r\nc = 1\r\n"),
    "none": ("print(w.data)  # torchlint: ignore[TL1] so\n", "print(w.data)  # torchlint: ignore[TL1] so\n"),
    "nothing of rules that are off": ("b = 1  # torchlint: ignore[TL203]\n", "b = 1  # torchlint: ignore[TL203]\n"),
    "noqa": ("b = 1  # noqa: TL101\n", "b = 1  # noqa: TL101\n"),
}


@pytest.mark.parametrize(("before", "after"), UNUSED.values(), ids=UNUSED)
def test_what_silences_nothing_is_removed(before: str, after: str) -> None:
    codes = frozenset({"TL002", "TL101", "TL102", "TL107", "TL701"})
    outcome = check_text(HEAD + before, "x.py", codes, Fixing.SAFE)
    assert outcome.text == HEAD + after
    assert (outcome.diagnostics, outcome.problems) == ((), ())


def test_a_part_is_named() -> None:
    text = f"{HEAD}print(w.data)  # torchlint: ignore[TL101, TL107, data-inplace]\n"
    (found,) = check_text(text, "x.py", frozenset({"TL002", "TL101", "TL102", "TL107"})).diagnostics
    assert found.message == "`TL107`, `data-inplace` silence nothing"
    assert found.fix is not None
    assert found.fix.message == "Remove `TL107`, `data-inplace`"


def test_no_suppressions(torchlint: Torchlint, tmp_path: Path) -> None:
    text = f"# torchlint: file-ignore[TL107]\n{HEAD}print(w.data)  # noqa\nprint(w.data)  # torchlint: ignore[TL101]\n"
    (tmp_path / "x.py").write_text(text, encoding="utf-8")
    for _ in range(2):
        assert torchlint("check").out == "No findings in 1 file (2 suppressed).\n"
        ran = torchlint("check", "--no-suppressions", "--extend-select", "TL002", "--output-format", "concise")
        assert [line.partition(" ")[0] for line in ran.out.splitlines()[:-2]] == ["x.py:4:9:", "x.py:5:9:"]
    assert (tmp_path / "x.py").read_text(encoding="utf-8") == text


def test_many_ranges_cost_what_there_are_of_them() -> None:
    pair = "# torchlint: disable[TL101]\na = x.data\n# torchlint: enable[TL101]\n"
    suppressions = Suppressions(pair * 2_000)
    looked = sum(map(len, suppressions._open))
    assert looked == 2_000
    for row in range(2, 6_000, 3):
        assert suppressions.silencing(finding((row, row)))
