"""Patterns are those of git: compared with git itself and with pathspec, and bounded in what they cost."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pathspec import GitIgnoreSpec

from torchlint import gitignore
from torchlint.gitignore import BadPattern, Pattern, Patterns, parse

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


def usable(text: str) -> Iterator[Pattern]:
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
