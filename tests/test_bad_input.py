"""Whatever is wrong with a file: it is named, with the line, the exit code says so, and the other files are reported."""

from __future__ import annotations

import os
import re
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from conftest import Torchlint

from torchlint.diagnostic import Problem
from torchlint.file import check as checking
from torchlint.file.check import Outcome
from torchlint.file.dispatch import dispatch
from torchlint.file.parse.invalid import NOT_UNDERSTOOD
from torchlint.rule import NodeCheck, Rule
from torchlint.session import scheduler
from torchlint.session.worker import Job, JobResult
from torchlint.system.limits import FILE_SIZE
from torchlint.trigger import attribute

Write = Callable[[dict[str, Any]], None]

GOOD = "import torch\nprint(torch.ones(3, requires_grad=True).data)\n"
GOOD_LINE = "good.py:2:41: TL101 [*] "
BROKEN = "import torch\nx = torch.ones(3).data\n"
"""What a broken file begins with, so that it is of interest."""

FINDINGS = {
    "syntax error": (f"{BROKEN}def f(:\n", "bad.py:3:7: TL001 invalid syntax"),
    "never closed": (f"{BROKEN}f(\n", "bad.py:3:2: TL001 '(' was never closed"),
    "block missing": (f"{BROKEN}if x:\n", "bad.py:3:6: TL001 expected an indented block"),
    "Python 2": (f'{BROKEN}print "x"\n', "bad.py:3:1: TL001 Missing parentheses in call to 'print'"),
    "Python 2 raise": (f"{BROKEN}raise E, 'e'\n", "bad.py:3:8: TL001 invalid syntax"),
    "inconsistent tabs": (f"{BROKEN}if x:\n\ta\n        b\n", "bad.py:5:"),
    "handlers in the wrong order": (
        f"{BROKEN}try:\n    f()\nexcept:\n    pass\nexcept A:\n    pass\n",
        "bad.py:5:1: TL001 default 'except:' must be last",
    ),
    "bytes beside text": (f"{BROKEN}b'a' 'c'\n", "bad.py:3:"),
    "null byte": (f"{BROKEN}\0\n", "bad.py:3:1: TL001 source code cannot contain null bytes"),
    "invalid UTF-8": (BROKEN.encode() + b"s = '\xe9'\n", "bad.py:3:6: TL003 cannot decode byte 0xe9 as utf-8"),
    "invalid in a file of no interest": (b"s = '\xe9'\n", "bad.py:1:6: TL003 cannot decode byte 0xe9 as utf-8"),
    "UTF-16": (BROKEN.encode("utf-16"), "bad.py:1:1: TL003 this file is UTF-16"),
    "unknown encoding": (b"# coding: klingon\n", "bad.py:1:1: TL003 unknown encoding: klingon"),
    "10,000 brackets": (
        f"{BROKEN}y = {'(' * 10_000}{')' * 10_000}\n",
        "bad.py:3:205: TL001 too many nested parentheses",
    ),
    "2,000 calls": (f"{BROKEN}y = {'f(' * 2_000}{')' * 2_000}\n", "bad.py:3:406: TL001 too many nested parentheses"),
    "10,000 open brackets": (f"{BROKEN}y = {'[' * 10_000}\n", "bad.py:3:205: TL001 too many nested parentheses"),
}


@pytest.mark.parametrize("arguments", [(), ("--fix",), ("--select", "TL101"), ("-j", "2")], ids=" ".join)
@pytest.mark.parametrize(("content", "line"), FINDINGS.values(), ids=FINDINGS)
def test_finding(
    content: str | bytes, line: str, arguments: tuple[str, ...], write: Write, torchlint: Torchlint, tmp_path: Path
) -> None:
    write({"bad.py": content, "good.py": GOOD})
    ran = torchlint("check", "--output-format", "concise", "--no-cache", *arguments)
    assert ran.code == 1
    assert line in ran.out
    assert (GOOD_LINE in ran.out) == ("--fix" not in arguments)
    assert ran.err == ""
    data = content if isinstance(content, bytes) else content.encode()
    assert (tmp_path / "bad.py").read_bytes() == data


@pytest.mark.parametrize(("content", "line"), FINDINGS.values(), ids=FINDINGS)
def test_finding_in_full(content: str | bytes, line: str, write: Write, torchlint: Torchlint) -> None:
    write({"bad.py": content})
    ran = torchlint("check", "--no-cache")
    place, code, _ = line.split(" ", 2) if line.count(" ") > 1 else (line, "TL001", "")
    assert code in ran.out
    assert place.removesuffix(":") in ran.out


@pytest.mark.parametrize(
    "arguments", [("--diff",), ("--diff", "--quiet"), ("--fix", "--diff", "--exit-zero")], ids=" ".join
)
def test_a_patch_does_not_hide_what_could_not_be_read(
    arguments: tuple[str, ...], write: Write, torchlint: Torchlint
) -> None:
    write({"bad.py": f"{BROKEN}def f(:\n"})
    ran = torchlint("check", "--no-cache", *arguments)
    assert (ran.code, ran.out) == ("--exit-zero" not in arguments, "")
    assert "bad.py:3:7: TL001" in ran.err


def test_a_syntax_error_is_reported_where_somebody_cares(write: Write, torchlint: Torchlint) -> None:
    write({"bad.py": "def f(:\n"})
    assert torchlint("check", "--no-cache").code == 0  # nothing to do with torch
    assert torchlint("check", "--no-cache", "bad.py").code == 1  # named
    assert torchlint("check", "--no-cache", "--extend-select", "TL001").code == 1  # asked for
    assert torchlint("check", "--no-cache", "--ignore", "TL001", "bad.py").code == 0  # not wanted


HARMLESS = {
    "empty": b"",
    "blank": b"\n\n",
    "a comment": b"# torch",
    "byte order mark only": b"\xef\xbb\xbf",
    "byte order mark": b"\xef\xbb\xbfimport torch\n",
    "form feeds": b"import torch\n\x0c\nx = torch.ones(3)\n",
    "CR": b"import torch\rx = torch.ones(3)\r",
    "no newline": b"import torch",
    "150 brackets": b"import torch\nx = " + b"(" * 150 + b")" * 150,
    "brackets in strings": b"import torch\nx = '" + b"(" * 1000 + b"'\n",
    "quotes and brackets": b"import torch\n" + b"f('(', \"[\", '''{''')\n" * 300,
}


@pytest.mark.parametrize("content", HARMLESS.values(), ids=HARMLESS)
def test_harmless(content: bytes, write: Write, torchlint: Torchlint) -> None:
    write({"x.py": content})
    ran = torchlint("check", "--no-cache", "x.py")
    assert (ran.code, ran.out, ran.err) == (0, "No findings in 1 file.\n", "")


def test_missing_path(write: Write, torchlint: Torchlint) -> None:
    write({"good.py": GOOD})
    ran = torchlint("check", "--output-format", "concise", "--select", "TL1", "nothing.py", "good.py")
    assert ran.code == 2
    assert ran.err == "error: nothing.py: No such file or directory\n"
    assert GOOD_LINE in ran.out


def test_unreadable_file(write: Write, torchlint: Torchlint, monkeypatch: pytest.MonkeyPatch) -> None:
    write({"bad.py": GOOD, "good.py": GOOD})
    usual = os.open

    def refusing(file: Any, *arguments: Any, **more: Any) -> int:  # the administrator may read anything
        if os.path.basename(str(file)) == "bad.py":
            raise PermissionError(13, "Permission denied")
        return usual(file, *arguments, **more)

    monkeypatch.setattr(os, "open", refusing)
    for arguments in ((), ("--exit-zero",)):
        ran = torchlint("check", "--output-format", "concise", *arguments)
        assert ran.code == 3
        assert ran.err == "error: bad.py: Permission denied\n"
        assert GOOD_LINE in ran.out
        assert "bad.py" not in ran.out


def test_named_directory_that_ends_in_py(write: Write, torchlint: Torchlint) -> None:
    write({"x.py/good.py": GOOD})
    assert GOOD_LINE in torchlint("check", "--output-format", "concise", "x.py").out


def test_no_notebook_is_not_passed_silently(write: Write, torchlint: Torchlint) -> None:
    write({"x.ipynb": "{}"})
    ran = torchlint("check", "--output-format", "concise", "-q", "x.ipynb")
    assert (ran.code, ran.out) == (1, "x.ipynb:1:1: TL003 this is no notebook: it has no list of cells\n")


@pytest.fixture
def raising_rule(monkeypatch: pytest.MonkeyPatch) -> None:
    import libcst as cst

    def check(node: cst.Attribute, model: object) -> None:
        if node.attr.value == "boom":
            raise ZeroDivisionError("of a kind")

    rule = Rule("TL101", "data-read", "", (NodeCheck(check, (cst.Attribute,), attribute("data")),))
    usual = dispatch.rules_of
    monkeypatch.setattr(dispatch, "rules_of", lambda codes: (*usual(codes), rule))


@pytest.mark.usefixtures("raising_rule")
@pytest.mark.raising_rules
def test_rule_that_raises(write: Write, torchlint: Torchlint) -> None:
    write({"bad.py": f"{GOOD}\nx.boom\n", "good.py": GOOD})
    for arguments in ((), ("--exit-zero",), ()):  # the last would find a cached result, were there one
        ran = torchlint("check", "--output-format", "concise", *arguments)
        assert ran.code == 3
        (line,) = ran.err.splitlines()
        assert line.startswith("error: bad.py:4: TL101 raised ZeroDivisionError: of a kind (file/dispatch/dispatch.py:")
        assert GOOD_LINE in ran.out
        assert GOOD_LINE.replace("good.py", "bad.py") in ran.out  # the findings of others stay


def test_engine_that_raises(write: Write, torchlint: Torchlint, monkeypatch: pytest.MonkeyPatch) -> None:
    usual = checking.check_text

    def check_text(text: str, path: str, *more: Any, **where: Any) -> Outcome:
        if path == "bad.py":
            raise MemoryError
        return usual(text, path, *more, **where)

    monkeypatch.setattr(checking, "check_text", check_text)
    write({"bad.py": GOOD, "good.py": GOOD})
    ran = torchlint("check", "--output-format", "concise", "-j", "1")
    assert ran.code == 3
    (line,) = ran.err.splitlines()
    assert line.startswith("error: bad.py: could not be checked: MemoryError (session/worker.py:")
    assert GOOD_LINE in ran.out


class Deadly(frozenset[str]):
    """Codes that end the process that receives them."""

    def __reduce__(self) -> tuple[Callable[[int], object], tuple[int]]:
        return os._exit, (7,)


def test_process_that_dies_costs_its_file_only(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scheduler, "WORTH_A_POOL", 0)
    codes = frozenset({"TL101"})
    jobs = [
        Job(f"{number}.py", Deadly(codes) if number in (1, 4) else codes, data=GOOD.encode()) for number in range(6)
    ]
    done: list[tuple[int, int]] = []
    answers = scheduler.execute(jobs, [len(GOOD)] * 6, 2, lambda *counts: done.append(counts))
    for number, answer in enumerate(answers):
        if number in (1, 4):
            message = "the process checking it died (exit code 7)"
            assert answer == JobResult(problems=(Problem(f"{number}.py", message),))
        else:
            assert [found.code for found in answer.diagnostics] == ["TL101"]
    assert done[-1] == (6, 6)


LONG = {
    "chain": "x.data" + ".f()" * 450,
    "sum": "+".join(["x.data"] * 900),
}
HAS_ROOM = sys.version_info[:2] != (3, 12)
"""3.12 limits recursion through C whatever the stack is."""


@pytest.mark.parametrize("content", LONG.values(), ids=LONG)
def test_long_expressions(content: str, write: Write, torchlint: Torchlint) -> None:
    write({"long.py": f"import torch\nx = torch.ones(3)\n{content}\n", "good.py": GOOD})
    ran = torchlint("check", "--output-format", "concise")
    assert GOOD_LINE in ran.out
    if HAS_ROOM:
        assert "long.py:3:3: TL101" in ran.out
    else:
        assert (ran.code, ran.err) == (3, "error: long.py: an expression is nested too deeply to be analysed\n")


def test_what_only_python_parses_is_no_syntax_error(write: Write, torchlint: Torchlint) -> None:
    """libcst's parser gives up where thousands of strings stand in a row."""
    strings = "\n".join(f"  'line {number}'" for number in range(3_200))
    write({"long.py": f"import torch\nS = (\n{strings}\n)\ny = torch.ones(3).data\n", "good.py": GOOD})
    ran = torchlint("check", "--output-format", "concise")
    assert ran.code == 3
    assert ran.err == f"error: long.py: {NOT_UNDERSTOOD}\n"
    assert "TL001" not in ran.out
    assert torchlint("infer", "long.py").code == 3


def test_long_expressions_beside_a_syntax_error(
    write: Write, torchlint: Torchlint, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Python cannot say where they are then, and libcst's parser would take minutes to find the error."""
    monkeypatch.setattr("libcst.parse_module", None)
    write({"long.py": f"import torch\nx = {' + '.join(['t.data'] * 3000)}\ny = = 1\n"})
    ran = torchlint("check", "--output-format", "concise")
    assert (ran.code, ran.out.splitlines()[0]) == (1, "long.py:3:5: TL001 invalid syntax")


READ_ONLY = f"{GOOD}print(torch.ones(3, requires_grad=True).data)\n"


def test_read_only_file_is_reported_and_left(write: Write, torchlint: Torchlint, tmp_path: Path) -> None:
    write({"bad.py": READ_ONLY, "good.py": GOOD})
    (tmp_path / "bad.py").chmod(0o444)
    ran = torchlint("check", "--output-format", "concise", "--fix", "--show-fixes")
    assert ran.code == 3
    assert ran.err == "error: bad.py: not fixed: the file is read-only\n"
    assert "bad.py:2:41: TL101 [*] " in ran.out
    assert "bad.py:3:41: TL101 [*] " in ran.out
    assert "- good.py:\n    1 × TL101 (data-read)" in ran.out
    assert "- bad.py" not in ran.out
    assert (tmp_path / "bad.py").read_text(encoding="utf-8") == READ_ONLY
    assert (tmp_path / "good.py").read_text(encoding="utf-8") != GOOD


def test_file_that_changes_meanwhile_is_left(
    write: Write, torchlint: Torchlint, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write({"bad.py": GOOD})
    usual = checking.check_text

    def check_text(*arguments: Any, **where: Any) -> Outcome:
        (tmp_path / "bad.py").write_text("# edited\n", encoding="utf-8")
        return usual(*arguments, **where)

    monkeypatch.setattr(checking, "check_text", check_text)
    ran = torchlint("check", "--fix", "-j", "1")
    assert ran.code == 3
    assert ran.err == "error: bad.py: not fixed: the file has changed since it was read\n"
    assert (tmp_path / "bad.py").read_text(encoding="utf-8") == "# edited\n"


def test_a_file_with_two_names_is_fixed_once(write: Write, torchlint: Torchlint, tmp_path: Path) -> None:
    write({"one.py": GOOD})
    os.link(tmp_path / "one.py", tmp_path / "two.py")
    ran = torchlint("check", "--fix")
    assert (ran.code, ran.err) == (0, "")
    assert (tmp_path / "two.py").samefile(tmp_path / "one.py")


ENCODED = {
    "byte order mark": b"\xef\xbb\xbf" + GOOD.encode(),
    "CRLF": GOOD.replace("\n", "\r\n").encode(),
    "CR": GOOD.replace("\n", "\r").encode(),
    "mixed newlines": GOOD.replace("\n", "\r\n", 1).encode() + b"\r# a\r\n\n",
    "latin-1": b"# coding: latin-1\n# \xe9\n" + GOOD.encode(),
    "shift_jis": "# coding: shift_jis\n# 日本\n".encode("shift_jis") + GOOD.encode(),
    "form feed": b"\x0c# a\n\x0c\n" + GOOD.encode(),
    "no newline at the end": GOOD.rstrip("\n").encode(),
    "separators": "# \u2028 \u0085 \x1c\n".encode() + GOOD.encode(),
}


@pytest.mark.parametrize("before", ENCODED.values(), ids=ENCODED)
def test_fixing_changes_the_edited_bytes_only(
    before: bytes, write: Write, torchlint: Torchlint, tmp_path: Path
) -> None:
    write({"x.py": before})
    assert torchlint("check", "--fix").code == 0
    after = (tmp_path / "x.py").read_bytes()
    old, new = b"torch.ones(3, requires_grad=True).data", b"torch.ones(3, requires_grad=True).detach()"
    assert after == before.replace(old, new)
    assert torchlint("check", "--fix").code == 0
    assert (tmp_path / "x.py").read_bytes() == after


def test_encoding_that_does_not_give_its_bytes_back(write: Write, torchlint: Torchlint, tmp_path: Path) -> None:
    data = b"# coding: utf-7\n# +AGE-\n" + GOOD.encode()  # utf-7 would write a plain `a`
    write({"x.py": data})
    ran = torchlint("check", "--fix")
    assert (ran.code, (tmp_path / "x.py").read_bytes()) == (3, data)
    assert ran.err == "error: x.py: not fixed: utf-7 would not give the same bytes back\n"


def test_encoding_that_cannot_write_what_it_read(write: Write, torchlint: Torchlint, tmp_path: Path) -> None:
    data = b"# coding: idna\n# a\n\n" + GOOD.encode() + b"x = ...\n"  # a name of a host has no empty labels
    write({"x.py": data})
    ran = torchlint("check", "--fix")
    assert (ran.code, (tmp_path / "x.py").read_bytes()) == (3, data)
    assert ran.err.startswith("error: x.py: not fixed: cannot be written in idna: ")


# ------------------------------------------------------------------------------------------ interrupted runs

MANY = "import torch\n" + "".join(f"x{n} = torch.ones(3, requires_grad=True)\nprint(x{n}.data)\n" for n in range(900))


def command(*arguments: str, wrapper: str = "") -> list[str]:
    """The program, after some statements that change how it works."""
    start = f"import sys; sys.argv = ['torchlint', *{list(arguments)!r}]\n{wrapper}\nfrom torchlint.cli.main import main; main()"
    return [sys.executable, "-c", start]


def started(directory: Path, line: list[str]) -> subprocess.Popen[bytes]:
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[1])}
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    return subprocess.Popen(line, cwd=directory, env=environment, start_new_session=True, **pipes)  # type: ignore[call-overload, no-any-return]


PARSING = """
import os, libcst
usual = libcst.parse_module
def slow(text, *more):
    if "x899" in text:
        os.write(1, b"now\\n")
        for _ in range(200): usual(text)
    return usual(text, *more)
libcst.parse_module = slow
class Late:
    def __del__(self, sleep=__import__("time").sleep): sleep(1)
late = Late()
"""
"""Says when the parser is at work in the large file, keeps it there, and makes shutting down the interpreter slow."""


@pytest.mark.parametrize("jobs", ["-j1", "-j2"])
def test_interrupted_while_parsing(jobs: str, write: Write, tmp_path: Path) -> None:
    """The interpreter must not be shut down below native code: that aborts it (exit code 134)."""
    files: dict[str, str | bytes] = {"0.py": MANY, **{f"{n}.py": MANY.replace("x899", "y") for n in range(1, 6)}}
    write(files)
    child = started(tmp_path, command("check", "--fix", "--no-cache", jobs, wrapper=PARSING))
    assert child.stdout is not None
    assert child.stdout.readline() == b"now\n"
    os.killpg(child.pid, signal.SIGINT)
    out, err = child.communicate(timeout=60)
    assert (child.returncode, out, err) == (130, b"", b"")
    assert {path.name: path.read_text(encoding="utf-8") for path in tmp_path.iterdir()} == files
    for _ in range(100):
        try:
            os.killpg(child.pid, 0)
        except ProcessLookupError:
            return
        time.sleep(0.1)
    pytest.fail("a process of the group is left")


BUSY = PARSING.replace("for _ in range(200): usual(text)", "usual(text * 60)")
"""Keeps the parser at work for a minute, in one call of native code."""


@pytest.mark.parametrize("text", ["import os\n", "import torch\nx = torch.ones(3).data\n", ""])
def test_a_second_byte_order_mark(text: str, torchlint: Torchlint, tmp_path: Path) -> None:
    data = f"\ufeff\ufeff{text}".encode()
    (tmp_path / "x.py").write_bytes(data)
    with pytest.raises(SyntaxError):
        compile(data, "x.py", "exec")
    for options in ((), ("--fix", "--unsafe-fixes")):
        ran = torchlint("check", "--output-format", "concise", *options, "x.py")
        assert (ran.code, ran.out.splitlines()[0]) == (1, "x.py:1:1: TL001 invalid non-printable character U+FEFF")
    assert (tmp_path / "x.py").read_bytes() == data


@pytest.mark.parametrize("name", ["torchlint.toml", "pyproject.toml"])
def test_settings_with_a_byte_order_mark(name: str, torchlint: Torchlint, write: Write, tmp_path: Path) -> None:
    write({"x.py": "import torch\nx = torch.ones(3).data\n"})
    table = "[tool.torchlint]\n" if name == "pyproject.toml" else ""
    (tmp_path / name).write_bytes(f'\ufeff{table}ignore = ["TL101"]\n'.encode())
    assert torchlint("check").code == 0


@pytest.mark.skipif(sys.platform != "linux", reason="workers are ended by what only Linux has")
@pytest.mark.parametrize("way", ["fork", "spawn"])
@pytest.mark.parametrize("by", [signal.SIGTERM, signal.SIGHUP, signal.SIGKILL], ids=lambda by: by.name)
def test_workers_end_with_the_program(by: signal.Signals, way: str, write: Write, tmp_path: Path) -> None:
    write({f"{n}.py": MANY for n in range(6)})
    start = f"import multiprocessing\nfrom torchlint.session import pool\npool._context = lambda: multiprocessing.get_context({way!r})"
    (tmp_path / "busy.py").write_text(BUSY, encoding="utf-8")
    wrapper = f"import sys; sys.path.insert(0, {str(tmp_path)!r}); import busy\n{start}"
    if way == "spawn":  # there the parser is not at work, but nothing else is different
        wrapper = f"{start}\nusual = pool._Worker.receive\ndef receive(self):\n    print('now', flush=True)\n    return usual(self)\npool._Worker.receive = receive"
    child = started(
        tmp_path, command("check", "--no-cache", "-j2", "--isolated", *(f"{n}.py" for n in range(6)), wrapper=wrapper)
    )
    assert child.stdout is not None
    assert child.stdout.readline() == b"now\n"
    child.send_signal(by)
    child.communicate(timeout=20)  # until nobody can write to the pipes any more
    assert child.returncode == -by


@pytest.mark.parametrize(("by", "code"), [("TERM", 143), ("HUP", 129)])
def test_what_a_shell_says_of_it(by: str, code: int, write: Write, tmp_path: Path) -> None:
    write({f"{n}.py": MANY for n in range(6)})
    line = [sys.executable, "-c", command("check", "--no-cache", "-j2", wrapper=BUSY)[-1]]
    shell = f"{shlex.join(line)} & until test -e go; do sleep 0.1; done; kill -{by} $!; wait $!; echo $?"
    child = started(tmp_path, ["sh", "-c", shell])
    assert child.stdout is not None
    assert child.stdout.readline() == b"now\n"
    (tmp_path / "go").touch()
    out, _ = child.communicate(timeout=20)
    assert out.split()[-1] == str(code).encode()


WRITING = """
import os
import re
usual = {function}
count = 0
def slow(*arguments):
    global count
    count += 1
    if count == 2:
        print("now", flush=True)
        import time; time.sleep(60)
    return usual(*arguments)
{function} = slow
"""


@pytest.mark.parametrize("function", ["os.fsync", "os.chmod", "os.replace", "os.unlink"])
@pytest.mark.parametrize("by", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGKILL], ids=lambda by: by.name)
def test_ended_while_writing(function: str, by: signal.Signals, write: Write, tmp_path: Path) -> None:
    files = {f"{n}.py": READ_ONLY for n in range(4)}
    write(dict(files))
    wrapper = WRITING.format(function=function)
    child = started(tmp_path, command("check", "--fix", "--no-cache", "-j1", wrapper=wrapper))
    assert child.stdout is not None
    assert child.stdout.readline() == b"now\n"
    child.send_signal(by)
    _, err = child.communicate(timeout=60)
    assert child.returncode == (130 if by is signal.SIGINT else -by)
    if by is signal.SIGINT:
        assert re.fullmatch(rb"interrupted: [1-4] files? had been fixed by then\n", err), err
    after = {path.name: path.read_text(encoding="utf-8") for path in tmp_path.glob("*.py")}
    fixed = READ_ONLY.replace(".data", ".detach()")
    assert after.keys() == files.keys()
    assert set(after.values()) == {READ_ONLY, fixed}  # each is whole, and the run had begun to write
    left = [path.name for path in tmp_path.iterdir() if path.suffix != ".py"]
    if by is not signal.SIGKILL and function != "os.unlink":
        assert left == []
    for name in left:
        os.utime(tmp_path / name, (0, 0))  # nobody is writing to it any more
    again = started(tmp_path, command("check", "--fix", "--no-cache", "-j1"))
    again.communicate(timeout=60)
    if function != "os.unlink":  # there all files had been written, and nothing was left to do
        assert [path.name for path in tmp_path.iterdir() if path.suffix != ".py"] == []
    assert {path.read_text(encoding="utf-8") for path in tmp_path.glob("*.py")} == {fixed}


TOO_LARGE = "#" * (FILE_SIZE + 1)

# files, arguments, standard output, exit code
FAILED: dict[str, tuple[dict[str, str], str, str, int]] = {
    "nothing else": ({"x.py": TOO_LARGE}, "x.py", "1 file could not be checked completely.\n", 3),
    "another file": (
        {"x.py": TOO_LARGE, "y.py": "import torch\n"},
        "x.py y.py",
        "No findings in 1 file.\n1 file could not be checked completely.\n",
        3,
    ),
    "a missing one": (
        {"y.py": "import torch\n"},
        "x.py y.py",
        "No findings in 1 file.\n1 file could not be checked completely.\n",
        2,
    ),
    "only a missing one": ({}, "x.py", "1 file could not be checked completely.\n", 2),
}


@pytest.mark.parametrize(("files", "arguments", "output", "code"), FAILED.values(), ids=FAILED)
def test_a_failed_run_does_not_say_that_all_is_well(
    files: dict[str, str | bytes], arguments: str, output: str, code: int, write: Write, torchlint: Torchlint
) -> None:
    write(files)
    ran = torchlint("check", *arguments.split())
    assert (ran.out, ran.code) == (output, code)
