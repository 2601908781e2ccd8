from __future__ import annotations

import codecs
import os
import stat
from pathlib import Path

import pytest
from forked import ROOT, python

from torchlint.file.text import source
from torchlint.system import writing

BOM = codecs.BOM_UTF8

DECODABLE = {
    "empty": (b"", "", "utf-8"),
    "utf-8": ("é = '日本'\n".encode(), "é = '日本'\n", "utf-8"),
    "byte order mark": (BOM + b"x = 1\n", "x = 1\n", "utf-8"),
    "byte order mark and cookie": (BOM + b"# coding: utf8\n", "# coding: utf8\n", "utf-8"),
    "latin-1": (b"# -*- coding: latin-1 -*-\nx = '\xe9'\n", "# -*- coding: latin-1 -*-\nx = 'é'\n", "iso8859-1"),
    "cookie on line 2": (b"#!/bin/python\n# vim: set fileencoding=cp1252 :\n#\x80", None, "cp1252"),
    "cookie on line 2 after CR": (b"\r# coding: cp1252\r#\x80", None, "cp1252"),
    "cookie on line 3 is none": (b"#\n#\n# coding: cp1252\n", None, "utf-8"),
    "cookie after code is none": (b"x = 1\n# coding: cp1252\n", None, "utf-8"),
    "cookie in code is none": (b"coding = 'x'\ncoding: int = 1\n", None, "utf-8"),
    "newlines of all kinds": (b"a\r\nb\rc\nd\x0c\x0b\x1ce", "a\r\nb\rc\nd\x0c\x0b\x1ce", "utf-8"),
    "how an editor says it": (
        b"# -*- coding: utf-8-unix -*-\nx = 1\n",
        "# -*- coding: utf-8-unix -*-\nx = 1\n",
        "utf-8",
    ),
    "how an editor says another one": (b"# coding: Latin_1-dos\nx = '\xe9'\n", None, "iso8859-1"),
    "two bytes a character": ("# coding: shift_jis\nx = '日本'\n".encode("shift_jis"), None, "shift_jis"),
}


@pytest.mark.parametrize(("data", "text", "encoding"), DECODABLE.values(), ids=DECODABLE)
def test_decodes_and_gives_the_same_bytes_back(data: bytes, text: str | None, encoding: str) -> None:
    decoded = source.decode(data)
    assert decoded.encoding == encoding
    assert text is None or decoded.text == text
    assert decoded.encode(decoded.text) == data


def test_a_text_becomes_bytes_that_become_the_same_text() -> None:
    for data, *_ in DECODABLE.values():
        text = source.decode(data).bom.decode() + source.decode(data).text
        assert source.encoded(text) == data


UNENCODABLE = {
    "a character of others": ("x = 1\n# coding: latin-1\ry = 'é€'", None),
    "that the encoding has not": ("# coding: latin-1\r\ny = 'é€'", (2, 7, "'€' cannot be written in iso8859-1")),
    "a surrogate": ("\ud800", (1, 1, "'\\ud800' cannot be written in utf-8")),
    "that the encoding makes another one of": ("# coding: idna\nTrue = 'ẞ'\n", (1, 1, "cannot be written in idna")),
    "an encoding that there is not": ("\n# coding: no-such\n", (2, 1, "unknown encoding")),
}


@pytest.mark.parametrize(("text", "expected"), UNENCODABLE.values(), ids=UNENCODABLE)
def test_no_text_becomes_bytes_of_another(text: str, expected: tuple[int, int, str] | None) -> None:
    if expected is None:
        assert source.decode(source.encoded(text)).text == text
        return
    with pytest.raises(source.Undecodable) as raised:
        source.encoded(text)
    row, column, reason = expected
    assert (raised.value.row, raised.value.column) == (row, column)
    assert reason in raised.value.reason


UNDECODABLE = {
    "no utf-8": (b"x = 1\ny = 'ab\xe9'\n", 2, 8, "cannot decode byte 0xe9 as utf-8"),
    "after a byte order mark": (BOM + b"y\xff", 1, 2, "0xff as utf-8"),
    "after wide characters": ("'日本'".encode() + b"\xff", 1, 5, "0xff"),
    "after CR": (b"a\rb\r\nc\xff", 3, 2, "0xff"),
    "a surrogate": (b"'\xed\xa0\x80'", 1, 2, "0xed"),
    "utf-16": ("x = 1".encode("utf-16"), 1, 1, "UTF-16"),
    "no such encoding with its newlines": (b"# coding: klingon-unix\n", 1, 1, "unknown encoding: klingon-unix"),
    "no such encoding": (b"#\n# coding: klingon\n", 2, 1, "unknown encoding: klingon"),
    "no text encoding": (b"# coding: rot13\n", 1, 1, "unknown encoding: rot13"),
    "contradiction": (BOM + b"# coding: latin-1\n", 1, 1, "declares latin-1"),
    "not what it declares": (b"# coding: ascii\nx = '\xe9'", 2, 6, "cannot decode byte 0xe9 as ascii"),
}


@pytest.mark.parametrize(("data", "row", "column", "reason"), UNDECODABLE.values(), ids=UNDECODABLE)
def test_says_what_cannot_be_decoded_and_where(data: bytes, row: int, column: int, reason: str) -> None:
    with pytest.raises(source.Undecodable) as error:
        source.decode(data)
    assert reason in error.value.reason
    assert (error.value.row, error.value.column) == (row, column)


@pytest.mark.parametrize("data", [data for data, *_ in UNDECODABLE.values()], ids=UNDECODABLE)
def test_has_something_to_show_of_what_cannot_be_decoded(data: bytes) -> None:
    assert source.decode_leniently(data).strip()


def names(directory: Path) -> list[str]:
    return sorted(os.listdir(directory))


def test_replaces_content_and_keeps_the_mode(tmp_path: Path) -> None:
    path = tmp_path / "x.py"
    path.write_bytes(b"old")
    path.chmod(0o751)
    writing.write(str(path), b"new", b"old")
    assert path.read_bytes() == b"new"
    assert stat.S_IMODE(path.stat().st_mode) == 0o751
    assert names(tmp_path) == ["x.py"]


def test_writes_through_a_link(tmp_path: Path) -> None:
    (tmp_path / "target").mkdir()
    target, link = tmp_path / "target" / "x.py", tmp_path / "link.py"
    target.write_bytes(b"old")
    link.symlink_to(Path("target", "x.py"))
    writing.write(str(link), b"new", b"old")
    assert link.is_symlink()
    assert target.read_bytes() == b"new"


def test_keeps_files_of_two_names_together(tmp_path: Path) -> None:
    path, other = tmp_path / "x.py", tmp_path / "y.py"
    path.write_bytes(b"older")
    other.hardlink_to(path)
    writing.write(str(path), b"new", b"older")
    assert other.read_bytes() == b"new"
    assert names(tmp_path) == ["x.py", "y.py"]


def test_leaves_alone_what_has_changed(tmp_path: Path) -> None:
    path = tmp_path / "x.py"
    path.write_bytes(b"edited meanwhile")
    with pytest.raises(writing.NotWritten, match="has changed"):
        writing.write(str(path), b"new", b"old")
    assert path.read_bytes() == b"edited meanwhile"
    assert names(tmp_path) == ["x.py"]


def test_leaves_alone_what_is_read_only(tmp_path: Path) -> None:
    path = tmp_path / "x.py"
    path.write_bytes(b"old")
    path.chmod(0o444)
    with pytest.raises(writing.NotWritten, match="read-only"):
        writing.write(str(path), b"new", b"old")
    assert path.read_bytes() == b"old"


def test_a_failure_leaves_the_old_bytes_and_nothing_else(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "x.py"
    path.write_bytes(b"old")

    def full(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(writing.NotWritten, match="No space left"):
        writing.write(str(path), b"new", b"old")
    assert path.read_bytes() == b"old"
    assert names(tmp_path) == ["x.py"]


def test_an_interrupt_leaves_the_old_bytes_and_nothing_else(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "x.py"
    path.write_bytes(b"old")

    def interrupted(old: str, new: str) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "replace", interrupted)
    with pytest.raises(KeyboardInterrupt):
        writing.write(str(path), b"new", b"old")
    assert path.read_bytes() == b"old"
    assert names(tmp_path) == ["x.py"]


OLD, NEW = b"x = 1\n" * 1_000, b"y = 2\n" * 2_000


ENDED = """
import itertools, os, pathlib, signal, sys
from torchlint.system import writing

number = 0

def line(frame, event, argument):
    global number
    if frame.f_code.co_filename != writing.__file__:
        return None
    number -= event == "line"
    if number == 0 and event == "line":
        os.kill(os.getpid(), signal.Signals[{by!r}])
    return line

for number in itertools.count(1):
    path = pathlib.Path(str(number), "x.py")
    path.parent.mkdir()
    path.write_bytes({old!r})
    if {names} == 2:
        os.link(path, path.with_name("y.py"))
    child = os.fork()
    if child == 0:
        try:
            sys.settrace(line)
            writing.write(str(path), {new!r}, {old!r})
            os._exit(0)
        finally:
            os._exit(1)
    if os.waitpid(child, 0)[1] == 0:
        break
"""
"""Writes a file in a process that gets a signal at the first line of the module, the second, ..., until none is left."""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="a process of its own is killed")
@pytest.mark.parametrize("names", [1, 2])
@pytest.mark.parametrize("by", ["SIGINT", "SIGTERM", "SIGHUP", "SIGKILL"])
def test_ended_at_each_line_of_writing(by: str, names: int, tmp_path: Path) -> None:
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    ran = python(["-c", ENDED.format(by=by, names=names, old=OLD, new=NEW)], tmp_path, environment)
    assert ran.returncode == 0, ran.stderr
    seen, whole = set(), []
    for folder in tmp_path.iterdir():
        path = folder / "x.py"
        seen.add(path.read_bytes())
        writing.write(str(path), OLD, path.read_bytes())  # a later run
        whole += [each.read_bytes() for each in set(folder.iterdir()) - {path, folder / "y.py"}]
    assert len(os.listdir(tmp_path)) > 20
    assert seen == {OLD, NEW}
    assert set(whole) == ({NEW} if names == 2 and by == "SIGKILL" else set())
