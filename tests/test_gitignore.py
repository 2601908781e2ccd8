"""Patterns are those of git: compared with git itself and with pathspec, and bounded in what they cost."""

from __future__ import annotations

import contextlib
import re
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pathspec import GitIgnoreSpec

from torchlint.project import gitignore
from torchlint.project.discovery import discover
from torchlint.project.gitignore import BadPattern, PathPattern, Patterns, parse
from torchlint.project.project import Project

Write = Callable[[dict[str, str]], None]

NAMES = st.text("ab.]-", min_size=1, max_size=4).filter(lambda name: set(name) != {"."})
PATHS = st.lists(NAMES, min_size=1, max_size=4).map("/".join)
PARTS = (
    "a",
    "b",
    ".",
    "*",
    "**",
    "?",
    "/",
    "/**/",
    "[ab]",
    "[!a]",
    "[a-b]",
    "[]-]",
    "[^]a]",
    "\\*",
    "\\a",
    "***",
    "]",
    "-",
)
PATTERNS = (
    st.lists(st.sampled_from(PARTS), min_size=1, max_size=7)
    .map("".join)
    # git takes what is plain at the beginning away and forgets that it was there, so here `**/` is for any folders to it
    .filter(lambda text: not re.search(r"[^/*]\*\*+/", text))
)
KNOWN_TO_DIFFER = re.compile(r"//|\*\*\*|\*\*/$|\[[!^]")
"""In pathspec three stars are none, files are directories behind `**`, and a slash is in `[!a]`; in git they are not."""


def covers(pattern: str, path: str) -> bool:
    try:
        return parse(pattern).covers(path.split("/"))
    except BadPattern:
        return False


def usable(text: str) -> Iterator[PathPattern]:
    for _, line in gitignore.lines(text):
        with contextlib.suppress(BadPattern):
            yield parse(line)


@settings(max_examples=500, deadline=None)
@given(PATTERNS.filter(lambda text: not KNOWN_TO_DIFFER.search(text)), PATHS)
def test_as_pathspec(pattern: str, path: str) -> None:
    try:
        expected = GitIgnoreSpec.from_lines([pattern]).match_file(path)
    except (ValueError, re.error):
        return
    assert covers(pattern, path) is expected


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("repository")
    subprocess.run(["git", "init", "-q"], cwd=path, check=True)
    return path


@settings(max_examples=40, deadline=None)
@given(st.lists(PATTERNS, min_size=1, max_size=4), st.lists(PATHS, min_size=10, max_size=40, unique=True))
def test_as_git(repository: Path, patterns: list[str], paths: list[str]) -> None:
    (repository / ".gitignore").write_text("\n".join(patterns), encoding="utf-8")
    command = ["git", "-c", "core.excludesFile=", "check-ignore", "--no-index", "--stdin", "-z"]
    given_ = "\0".join(paths).encode()
    ran = subprocess.run(command, cwd=repository, input=given_, capture_output=True, check=False)
    assert ran.returncode in (0, 1), ran.stderr
    ignored = set(ran.stdout.decode().split("\0")) - {""}
    ours = Patterns("/r", usable("\n".join(patterns)))

    def is_ignored(path: str) -> bool:
        names = path.split("/")
        ends = range(1, len(names) + 1)
        return any(ours.verdict("/r/" + "/".join(names[:end]), end < len(names)) for end in ends)

    assert {path for path in paths if is_ignored(path)} == ignored


# pattern, path, whether it speaks of the path or a folder that it is in: what the generated ones have not
WRITTEN = [
    ("[[:digit:]]x.py", "1x.py", True),
    ("[[:digit:]]x.py", "ax.py", False),
    ("[^[:alpha:]_]", "-", True),
    ("[[:nonsense:]]", "n", False),
    ("[a", "[a", False),
    ("a\\", "a\\", False),
    ("x[z-a]", "xz", True),
    ("x[z-a]", "xa", False),
    ("\\!a", "!a", True),
    ("é?", "éü", True),
    ("a?b", "a/b", False),
    ("a[/]b", "a/b", False),
    ("a/**", "a", False),
    ("a/**", "a/b/c", True),
    ("**/a/**/b", "x/a/b", True),
    ("a//b", "a/b", False),
    ("", "a", False),
]


@pytest.mark.parametrize(("pattern", "path", "expected"), WRITTEN)
def test_written(pattern: str, path: str, expected: bool) -> None:
    assert covers(pattern, path) is expected


def test_lines() -> None:
    text = "\ufeffa\r\n#b\n\n\\#c\n d \ne\\ \nf\\\\  \n"
    assert list(gitignore.lines(text)) == [(1, "a"), (4, "\\#c"), (5, " d"), (6, "e\\ "), (7, "f\\\\")]


HOSTILE = {
    "stars": ("*a" * 60 + "b", "a" * 250),
    "stars and any characters": ("*a?" * 40 + "b", "a" * 250),
    "stars and sets": ("*[ab]a" * 40 + "c", "a" * 250),
    "folders": ("**/" + "a/**/" * 60 + "b", "/".join("a" * 120)),
    "folders with stars": ("**/*a*a*/" * 30 + "b", "/".join(["aaaa"] * 60)),
}


@pytest.mark.parametrize(("pattern", "path"), HOSTILE.values(), ids=HOSTILE)
def test_a_path_is_searched_once(pattern: str, path: str, monkeypatch: pytest.MonkeyPatch) -> None:
    calls = 0
    find = gitignore._Piece.find

    def counting(piece: gitignore._Piece, name: str, start: int, end: int) -> int:
        nonlocal calls
        calls += 1
        return find(piece, name, start, end)

    monkeypatch.setattr(gitignore._Piece, "find", counting)
    assert not parse(pattern).matches(path.split("/"), False)
    assert calls <= 2 * len(pattern) + 4 * len(path)


def test_long_lists_are_looked_up(monkeypatch: pytest.MonkeyPatch) -> None:
    lines = [f"/data/{number}/x.py\ncache{number}\n*.e{number}\n" for number in range(2_000)]
    patterns = Patterns("/r", usable("".join(lines)))
    calls = 0
    matches = PathPattern.matches

    def counting(pattern: PathPattern, path: list[str], is_directory: bool) -> bool:
        nonlocal calls
        calls += 1
        return matches(pattern, path, is_directory)

    monkeypatch.setattr(PathPattern, "matches", counting)
    assert patterns.verdict("/r/data/7/x.py", False)
    assert patterns.verdict("/r/data/cache7", False)
    assert patterns.verdict("/r/data/y.e7", False)
    assert patterns.verdict("/r/data/y.py", False) is None
    assert calls == 3


def test_too_many_wildcards(write: Write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(gitignore, "MOST", 2)
    lines = "plain.py\n*.pyc\na*.py\n# so\nb*.py\nc*.py\nd*.py\n"
    write({".gitignore": lines, "plain.py": "", "bx.py": "", "cx.py": "", "sub/.gitignore": "e*.py\n", "sub/ex.py": ""})
    found = discover(["."], Project())
    assert [file.path for file in found.files] == ["cx.py", "sub/ex.py"]
    assert found.warnings == [
        ".gitignore:6: more than 2 patterns to compare with, the rest is not used",
        "sub/.gitignore:1: more than 2 patterns to compare with, the rest is not used",
    ]
