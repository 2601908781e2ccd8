"""Comments for all that was found: they silence it, and nothing else changes."""

from __future__ import annotations

import ast
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from conftest import Torchlint

from torchlint.file.check import check_text
from torchlint.file.comments import adding
from torchlint.file.comments.adding import silenced
from torchlint.rules import catalogue

Write = Callable[[dict[str, Any]], None]

HEAD = "import torch\nw = torch.ones(3, requires_grad=True)\n"

# code, and with comments
ADDED = {
    "a line": ("print(w.data)\n", "print(w.data)  # torchlint: ignore[TL101]\n"),
    "no newline at the end": ("print(w.data)", "print(w.data)  # torchlint: ignore[TL101]"),
    "blanks at the end": ("print(w.data)  \t\n", "print(w.data)  # torchlint: ignore[TL101]\n"),
    "two on a line": (
        "print(w.data, w.sum().data[0])\n",
        "print(w.data, w.sum().data[0])  # torchlint: ignore[TL101, TL203]\n",
    ),
    "a comment of somebody else": (
        "print(w.data)  # so\n",
        "print(w.data)  # so  # torchlint: ignore[TL101]\n",
    ),
    "a comment of ours": (
        "print(w.data)  # torchlint: ignore[TL107] so\n",
        "print(w.data)  # torchlint: ignore[TL107, TL101] so\n",
    ),
    "a comment of ours that is malformed": (
        "print(w.data)  # torchlint: ignore TL107\n",
        "print(w.data)  # torchlint: ignore TL107  # torchlint: ignore[TL101]\n",
    ),
    "several lines": (
        "print(\n    w.data,\n    1,\n)\n",
        "print(\n    w.data,\n    1,\n)  # torchlint: ignore[TL101]\n",
    ),
    "a string to the end": (
        "print(w.data, '''\n''' '''\n''')\n",
        "print(w.data, '''\n''' '''\n''')  # torchlint: ignore[TL101]\n",
    ),
    "a header": (
        "if (w.data > 1).any():\n    pass\n",
        "if (w.data > 1).any():  # torchlint: ignore[TL101]\n    pass\n",
    ),
    "a header on a line with its body": (
        "if w.data.sum(): print(w.data)\n",
        "if w.data.sum(): print(w.data)  # torchlint: ignore[TL101]\n",
    ),
    "a backslash": ("x = w.data + \\\n    1\n", "x = w.data + \\\n    1  # torchlint: ignore[TL101]\n"),
    "CRLF": ("print(w.data)\r\n", "print(w.data)  # torchlint: ignore[TL101]\r\n"),
    "in a block": (
        "def f():\n\treturn w.data\n",
        "def f():\n\treturn w.data  # torchlint: ignore[TL101]\n",
    ),
    "a lambda in a list": (
        "x = [\n    lambda: w.data,  # one\n    lambda: w.data,\n]\n",
        "x = [\n    lambda: w.data,  # one\n    lambda: w.data,\n]  # torchlint: ignore[TL101]\n",
    ),
    "a decorator": (
        "@f(w.data)\ndef f():\n    pass\n",
        "@f(w.data)  # torchlint: ignore[TL101]\ndef f():\n    pass\n",
    ),
    "on one line": (
        "a = w.data; b = w.data\n",
        "a = w.data; b = w.data  # torchlint: ignore[TL101]\n",
    ),
}


@pytest.mark.parametrize(("before", "after"), ADDED.values(), ids=ADDED)
def test_where_comments_go(before: str, after: str) -> None:
    codes = frozenset({"TL101", "TL203"})
    text = HEAD.replace("\n", "\r\n") + before if "\r" in before else HEAD + before
    found = check_text(text, "x.py", codes).diagnostics
    assert found
    done = silenced(text, found, "")
    assert done.text == text.removesuffix(before) + after
    assert not done.left
    again = check_text(done.text, "x.py", codes)
    assert (again.diagnostics, again.suppressed) == ((), len(found))
    assert ast.dump(ast.parse(done.text)) == ast.dump(ast.parse(text))


def test_above_where_a_line_cannot_take_one() -> None:
    text = HEAD + "def f():\n    return w.data, '''\n''' + \\\n        \"\"\"\n\"\"\"; print(1)\n"
    found = check_text(text, "x.py", frozenset({"TL101"})).diagnostics
    done = silenced(text, found, "why")
    again = check_text(done.text, "x.py", frozenset({"TL101"}))
    assert (again.diagnostics, again.suppressed) == ((), 1)
    assert ast.dump(ast.parse(done.text)) == ast.dump(ast.parse(text))


@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"], ids=["LF", "CRLF", "CR"])
@pytest.mark.parametrize("string", ['"\\\n"', "'\\\n'", '"""\\\n"""', 'b"\\\n"', 'r"\\\n"', 'f"\\\n"', '"a" "\\\n"'])
def test_after_a_string_that_goes_on(string: str, newline: str) -> None:
    text = f"{HEAD}s = {string}\nx = w.data + \\\n    1\nprint(w.data)\n".replace("\n", newline)
    found = check_text(text, "x.py", frozenset({"TL101"})).diagnostics
    done = silenced(text, found, "why")
    assert (len(done.silenced), done.left) == (2, ())
    again = check_text(done.text, "x.py", frozenset({"TL101"}))
    assert (again.diagnostics, again.suppressed) == ((), 2)
    assert ast.dump(ast.parse(done.text)) == ast.dump(ast.parse(text))


@pytest.mark.parametrize(
    "code",
    ["print(w.data, '''\n''' + \\\n    '''\n'''); print(1)\n", "print(w.data, '''\na\n''')\n"],
    ids=["would not parse", "would be another string"],
)
def test_nothing_is_written_that_is_another_program(
    code: str, write: Write, torchlint: Torchlint, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever mistake is made about where comments can stand."""
    monkeypatch.setattr(adding._Writer, "place", lambda self, found: adding._NewComment(4, is_above=False))
    monkeypatch.setattr(adding, "_are_silenced", lambda *_: True)
    write({"x.py": HEAD + code})
    ran = torchlint("check", "--add-ignore")
    assert ran.out.splitlines()[-1] == "1 finding cannot be silenced by a comment."
    assert ran.code == 1
    assert (tmp_path / "x.py").read_text(encoding="utf-8") == HEAD + code


@pytest.mark.parametrize("path", sorted((Path(__file__).parent / "cases").glob("*.py")), ids=lambda path: path.stem)
def test_all_cases(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    codes = frozenset(catalogue())
    found = [each for each in check_text(text, str(path), codes).diagnostics if not each.code.startswith("TL0")]
    done = silenced(text, found, "kept as it is")
    assert not done.left
    again = check_text(done.text, str(path), codes)
    assert not [each for each in again.diagnostics if not each.code.startswith("TL0")]


def test_on_the_command_line(write: Write, torchlint: Torchlint, tmp_path: Path) -> None:
    write(
        {"x.py": HEAD + "print(w.data)\nprint(w.data)\n", "y.py": b"\xef\xbb\xbf" + HEAD.encode() + b"print(w.data)\n"}
    )
    ran = torchlint("check", "--add-ignore", "x.py")
    assert ran.out == "x.py: 2 findings silenced\nWrote comments for 2 findings in 1 file.\n"
    assert ran.code == 0
    assert (tmp_path / "x.py").read_text(encoding="utf-8").count("  # torchlint: ignore[TL101]\n") == 2
    ran = torchlint("check", "--add-ignore=old code")
    assert ran.out == "y.py: 1 finding silenced\nWrote comments for 1 finding in 1 file.\n"
    assert (tmp_path / "y.py").read_bytes().startswith(b"\xef\xbb\xbfimport")
    assert b"# torchlint: ignore[TL101] old code\n" in (tmp_path / "y.py").read_bytes()
    assert torchlint("check").out == "No findings in 2 files (3 suppressed).\n"
    assert torchlint("check", "--add-ignore").out == "Wrote comments for 0 findings in 0 files.\n"


def test_settings_that_fix_do_not_fix_then(write: Write, torchlint: Torchlint, tmp_path: Path) -> None:
    write({"x.py": HEAD + "print(w.data)\n", "torchlint.toml": "fix = true\n"})
    assert torchlint("check", "--add-ignore").code == 0
    assert "ignore[TL101]" in (tmp_path / "x.py").read_text(encoding="utf-8")


def test_what_has_no_place_for_a_comment(write: Write, torchlint: Torchlint, tmp_path: Path) -> None:
    write({"x.py": HEAD + "print w.data\n", "y.py": b"\xff.data torch"})
    ran = torchlint("check", "--add-ignore")
    assert ran.code == 1
    assert ran.out.splitlines()[-1] == "2 findings cannot be silenced by a comment."
    assert (tmp_path / "x.py").read_text(encoding="utf-8") == HEAD + "print w.data\n"


def test_what_a_baseline_has_gets_no_comment(write: Write, torchlint: Torchlint, tmp_path: Path) -> None:
    write({"x.py": HEAD + "print(w.data)\n"})
    torchlint("baseline", "write")
    write({"x.py": HEAD + "print(w.data)\nprint(w.data + 1)\n"})
    torchlint("check", "--add-ignore")
    assert (tmp_path / "x.py").read_text(encoding="utf-8") == (
        HEAD + "print(w.data)\nprint(w.data + 1)  # torchlint: ignore[TL101]\n"
    )


@pytest.mark.parametrize("options", ["--add-ignore=#1", "--add-ignore --fix", "--add-ignore --diff", "--add-ignore -"])
def test_what_cannot_be_meant(options: str, torchlint: Torchlint) -> None:
    ran = torchlint("check", *options.split())
    assert ran.code == 2
    assert "--add-ignore" in ran.err
