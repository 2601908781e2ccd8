from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from conftest import Torchlint

from torchlint import __version__
from torchlint.project.selection import known_names
from torchlint.session import scheduler

Write = Callable[[dict[str, Any]], None]

SAFE = "import torch\nprint(torch.ones(3, requires_grad=True).data)\n"
FIXED = SAFE.replace(".data", ".detach()")
UNSAFE = "import torch\n\n\ndef f(loss):\n    return torch.sigmoid(loss).sum() + loss.data[0]\n"
CLEAN = "import torch\nprint(torch.ones(3))\n"


# files, arguments, exit code
EXIT_CODES = {
    "clean": ({"x.py": CLEAN}, "", 0),
    "findings": ({"x.py": SAFE}, "", 1),
    "findings, exit zero": ({"x.py": SAFE}, "--exit-zero", 0),
    "findings, not selected": ({"x.py": SAFE}, "--select TL2", 0),
    "findings, selected": ({"x.py": SAFE}, "--select TL2,TL101", 1),
    "findings, selected twice": ({"x.py": SAFE}, "--select TL2 --select data-read", 1),
    "findings, ignored": ({"x.py": SAFE}, "--ignore data-read", 0),
    "findings, selected as well": ({"x.py": SAFE}, "--select TL2 --extend-select TL1", 1),
    "all fixed": ({"x.py": SAFE}, "--fix", 0),
    "all fixed, non-zero": ({"x.py": SAFE}, "--fix --exit-non-zero-on-fix", 1),
    "nothing to fix, non-zero": ({"x.py": CLEAN}, "--fix --exit-non-zero-on-fix", 0),
    "some left": ({"x.py": SAFE, "y.py": UNSAFE}, "--fix", 1),
    "patch": ({"x.py": SAFE}, "--diff", 1),
    "empty patch": ({"x.py": UNSAFE}, "--diff", 0),
    "patch, unsafe": ({"x.py": UNSAFE}, "--diff --unsafe-fixes", 1),
    "patch, exit zero": ({"x.py": SAFE}, "--diff --exit-zero", 0),
    "no files": ({}, "", 0),
    "no files where there should be": ({"a/x.txt": ""}, "a", 2),
    "no files, excluded": ({"build/x.py": SAFE}, "--force-exclude build/x.py", 0),
    "missing": ({"x.py": CLEAN}, "x.py y.py", 2),
    "missing, exit zero": ({"x.py": CLEAN}, "x.py y.py --exit-zero", 2),
    "settings": ({"x.py": SAFE, "pyproject.toml": "[tool.torchlint]\nselect = ['TL2']"}, "", 0),
    "settings, isolated": ({"x.py": SAFE, "pyproject.toml": "[tool.torchlint]\nselect = ['TL2']"}, "--isolated", 1),
    "bad settings": ({"x.py": CLEAN, "pyproject.toml": "[tool.torchlint]\nx = 1"}, "", 2),
    "bad settings, isolated": ({"x.py": CLEAN, "pyproject.toml": "[tool.torchlint]\nx = 1"}, "--isolated", 0),
    "bad selector": ({"x.py": CLEAN}, "--select TL9999", 2),
    "bad option": ({"x.py": CLEAN}, "--nonsense", 2),
    "bad format": ({"x.py": CLEAN}, "--output-format xml", 2),
    "bad version": ({"x.py": CLEAN}, "--target-torch new", 2),
    "good version": ({"x.py": CLEAN}, "--target-torch 2.6", 0),
    "bad number of jobs": ({"x.py": CLEAN}, "-j 0", 2),
    "no number of jobs": ({"x.py": CLEAN}, "-j many", 2),
    "jobs in digits of another script": ({"x.py": CLEAN}, "-j \u0663", 2),
    "more jobs than any machine has": ({"x.py": CLEAN}, f"-j {10**30}", 2),
    "number of jobs": ({"x.py": CLEAN}, "-j 3", 0),
    "jobs for all processors": ({"x.py": CLEAN}, "-j auto", 0),
    "a file and standard input": ({"x.py": CLEAN}, "- x.py", 2),
}


@pytest.mark.parametrize(("files", "arguments", "code"), EXIT_CODES.values(), ids=EXIT_CODES)
def test_exit_code(files: dict[str, str], arguments: str, code: int, write: Write, torchlint: Torchlint) -> None:
    write(files)
    ran = torchlint("check", *arguments.split())
    assert ran.code == code, ran.out + ran.err
    assert ran.code != 2 or ran.err


def test_errors_go_to_standard_error_with_a_suggestion(write: Write, torchlint: Torchlint) -> None:
    write({"pyproject.toml": "[tool.torchlint]\nslect = []", "x.py": SAFE})
    ran = torchlint("check")
    assert ran.out == ""
    assert ran.err.startswith("error: ")
    assert "pyproject.toml" in ran.err
    assert ran.err.endswith("[tool.torchlint]: unknown key `slect` (did you mean `select`?)\n")
    assert "did you mean `data-read`" in torchlint("check", "--isolated", "--select", "data-raed").err


def test_report_with_summary(write: Write, torchlint: Torchlint) -> None:
    write({"x.py": SAFE, "y.py": UNSAFE, "z.py": SAFE.replace("data)", "data)  # noqa")})
    ran = torchlint("check", "--output-format", "concise")
    assert [line.rpartition(" TL")[0] for line in ran.out.splitlines()[:-2]] == ["x.py:2:41:", "y.py:5:45:"]
    assert ran.out.splitlines()[-2:] == [
        "Found 2 findings in 2 files (1 suppressed).",
        "[*] 1 fixable with `--fix` (1 more with `--fix --unsafe-fixes`).",
    ]
    assert ran.err == ""
    quiet = torchlint("check", "--output-format", "concise", "-q").out
    assert quiet == "".join(ran.out.splitlines(keepends=True)[:-2])


def test_full_is_the_default(write: Write, torchlint: Torchlint) -> None:
    write({"x.py": SAFE})
    assert torchlint("check").out == torchlint("check", "--output-format", "full").out
    assert " --> x.py:2:41\n" in torchlint("check").out


def test_json_is_nothing_but_json(write: Write, torchlint: Torchlint) -> None:
    write({"x.py": SAFE})
    ran = torchlint("check", "--output-format", "json")
    assert [entry["code"] for entry in json.loads(ran.out)] == ["TL101"]
    assert ran.err == ""
    assert json.loads(torchlint("check", "--output-format", "json", "--fix").out) == []


def test_positions_are_those_of_the_fixed_text(write: Write, torchlint: Torchlint, tmp_path: Path) -> None:
    text = "from torch.autograd import Variable\nimport torch\n\n\ndef f(x):\n    x = Variable(torch.ones(3))\n    y = torch.relu(x)\n    y.data = x\n    return y\n"
    write({"x.py": text})
    entries = json.loads(torchlint("check", "--fix", "--output-format", "json").out)
    lines = (tmp_path / "x.py").read_text(encoding="utf-8").splitlines()
    assert [entry["code"] for entry in entries] == ["TL103"]
    location = entries[0]["location"]
    assert lines[location["row"] - 1][location["column"] - 1 :] == "data = x"


def test_statistics(write: Write, torchlint: Torchlint) -> None:
    write({"x.py": SAFE, "y.py": UNSAFE})
    table = torchlint("check", "--statistics").out.splitlines()
    assert table[0] == "1  TL101  [*] data-read"
    assert table[1] == "1  TL203  [ ] legacy-scalar-index"
    assert table[2] == "Found 2 findings in 2 files."
    entries = json.loads(torchlint("check", "--statistics", "--output-format", "json").out)
    assert [entry["code"] for entry in entries] == ["TL101", "TL203"]


def test_fix(write: Write, torchlint: Torchlint, tmp_path: Path) -> None:
    write({"x.py": SAFE, "y.py": UNSAFE})
    ran = torchlint("check", "--fix", "--show-fixes", "--output-format", "concise")
    assert ran.code == 1
    first, *rest = ran.out.splitlines()
    assert first.startswith("y.py:5:45: TL203 ")
    assert rest == [
        "Fixed 1 finding:",
        "- x.py:",
        "    1 × TL101 (data-read)",
        "",
        "Found 1 finding in 1 file (1 fixed).",
        "1 fixable with `--fix --unsafe-fixes`.",
    ]
    assert (tmp_path / "x.py").read_text(encoding="utf-8") == FIXED
    assert (tmp_path / "y.py").read_text(encoding="utf-8") == UNSAFE
    assert torchlint("check", "--fix", "--unsafe-fixes").code == 0
    assert (tmp_path / "y.py").read_text(encoding="utf-8") == UNSAFE.replace("data[0]", "item()")


@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"], ids=repr)
def test_patch_does_what_fix_does(newline: str, write: Write, torchlint: Torchlint, tmp_path: Path) -> None:
    text = f"# é\n{SAFE}{UNSAFE}# the end".replace("\n", newline)
    files: dict[str, str | bytes] = {
        "x.py": text,
        "sub dir/y.py": text.rstrip(),
        "latin.py": b"# coding: latin-1\n# \xe9\n" + SAFE.encode(),
    }
    write(files)
    ran = torchlint("check", "--diff", "--unsafe-fixes")
    assert ran.code == 1
    assert ran.err == "Would fix 5 findings.\n"
    assert b"# \xe9\n" in ran.raw
    for name, content in files.items():  # nothing was written
        assert (tmp_path / name).read_bytes() == (content if isinstance(content, bytes) else content.encode())
    subprocess.run(["git", "apply", "--check", "-"], input=ran.raw, cwd=tmp_path, check=True)
    assert torchlint("check", "--fix", "--unsafe-fixes").code == 0
    fixed = {name: (tmp_path / name).read_bytes() for name in files}
    write(files)
    subprocess.run(["git", "apply", "-"], input=ran.raw, cwd=tmp_path, check=True)
    assert {name: (tmp_path / name).read_bytes() for name in files} == fixed


def test_patch_of_nothing(write: Write, torchlint: Torchlint) -> None:
    write({"x.py": CLEAN})
    ran = torchlint("check", "--diff")
    assert (ran.code, ran.out, ran.err) == (0, "", "Nothing to fix.\n")
    assert torchlint("check", "--diff", "-q").err == ""


def test_stdin(torchlint: Torchlint, tmp_path: Path) -> None:
    ran = torchlint("check", "-", "--output-format", "concise", stdin=SAFE.encode())
    assert (ran.code, ran.out.startswith("-:2:41: TL101 [*] ")) == (1, True)
    named = torchlint("check", "-", "--stdin-filename", "a/x.py", "--output-format", "json", stdin=SAFE.encode())
    assert [entry["filename"] for entry in json.loads(named.out)] == [str(tmp_path / "a" / "x.py")]
    assert torchlint("check", "-", stdin=b"").code == 0
    assert torchlint("check", "-", stdin=b"def f(:").code == 1


def test_stdin_fixed(torchlint: Torchlint, write: Write, tmp_path: Path) -> None:
    write({"x.py": CLEAN})
    data = b"# coding: latin-1\r\n# \xe9\r\n" + (SAFE + UNSAFE).replace("\n", "\r\n").encode()
    ran = torchlint(
        "check", "-", "--stdin-filename", "x.py", "--fix", "--show-fixes", "--output-format", "concise", stdin=data
    )
    assert ran.raw == data.replace(b"requires_grad=True).data", b"requires_grad=True).detach()")
    assert ran.err.startswith("x.py:9:45: TL203 ")
    assert "1 × TL101 (data-read)" in ran.err
    assert ran.code == 1
    assert (tmp_path / "x.py").read_text(encoding="utf-8") == CLEAN
    same = torchlint("check", "-", "--fix", stdin=CLEAN.encode())
    assert (same.code, same.out) == (0, CLEAN)
    broken = torchlint("check", "-", "--fix", stdin=b"def f(:")
    assert (broken.code, broken.out, "TL001" in broken.err) == (1, "def f(:", True)


def test_stdin_patch(torchlint: Torchlint) -> None:
    ran = torchlint("check", "-", "--stdin-filename", "a/x.py", "--diff", stdin=SAFE.encode())
    assert ran.code == 1
    assert ran.out.startswith("--- a/a/x.py\n+++ b/a/x.py\n@@ -1,2 +1,2 @@\n")


def test_stdin_follows_the_settings_of_its_name(torchlint: Torchlint, write: Write) -> None:
    write({"a/pyproject.toml": "[tool.torchlint]\nignore = ['TL101']\nexclude = ['b']"})
    assert torchlint("check", "-", "--stdin-filename", "a/x.py", stdin=SAFE.encode()).code == 0
    assert torchlint("check", "-", "--stdin-filename", "x.py", stdin=SAFE.encode()).code == 1
    for name, output in (("a/b/x.py", SAFE), ("b/x.py", FIXED)):
        ran = torchlint("check", "-", "--stdin-filename", name, "--force-exclude", "--fix", stdin=SAFE.encode())
        assert (ran.code, ran.out) == (0, output)


def test_show_files(torchlint: Torchlint, write: Write, tmp_path: Path) -> None:
    write({"b.py": SAFE, "a/x.py": "def f(:", "build/x.py": "", "c.txt": ""})
    ran = torchlint("check", "--show-files")
    assert (ran.code, ran.out) == (0, f"{tmp_path}/a/x.py\n{tmp_path}/b.py\n")
    assert torchlint("check", "--show-files", "b.py", "d.py").code == 2


def test_verbose(torchlint: Torchlint, write: Write, tmp_path: Path) -> None:
    write({"x.py": SAFE, "y.py": "", "pyproject.toml": "[tool.torchlint]"})
    (tmp_path / "z.py").symlink_to("nothing")
    ran = torchlint("check", "-v")
    assert f"torchlint: settings: {tmp_path}/pyproject.toml\n" in ran.err
    assert "torchlint: z.py: a broken link, skipped\n" in ran.err
    assert ": 1 checked, 0 known from the cache, 1 not parsed, for they hold nothing that a rule looks for\n" in ran.err
    again = torchlint("check", "-v")
    assert (
        ": 0 checked, 1 known from the cache, 1 not parsed, for they hold nothing that a rule looks for\n" in again.err
    )
    assert again.out == ran.out


# arguments, environment, whether there are colours where standard output is no terminal
COLORS = [
    ("", {}, False),
    ("--color always", {}, True),
    ("--color always", {"NO_COLOR": "1"}, True),
    ("--color never", {"FORCE_COLOR": "1"}, False),
    ("", {"FORCE_COLOR": "1"}, True),
    ("", {"FORCE_COLOR": "0"}, False),
    ("", {"FORCE_COLOR": ""}, False),
    ("", {"CLICOLOR_FORCE": "1"}, True),
    ("", {"FORCE_COLOR": "1", "NO_COLOR": "1"}, False),
    ("", {"FORCE_COLOR": "1", "NO_COLOR": ""}, True),
]


@pytest.mark.parametrize(("arguments", "environment", "colored"), COLORS)
def test_color(
    arguments: str,
    environment: dict[str, str],
    colored: bool,
    torchlint: Torchlint,
    write: Write,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    write({"x.py": SAFE})
    for command in ("check", "check --diff", "check --statistics", "rule TL101"):
        assert ("\x1b[" in torchlint(*command.split(), *arguments.split()).out) is colored


@pytest.mark.parametrize(("terminal", "colored"), [("xterm", True), ("dumb", False)])
def test_color_on_a_terminal(terminal: str, colored: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    from torchlint.cli.report.terminal import wants_color

    for name in ("NO_COLOR", "FORCE_COLOR", "CLICOLOR_FORCE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("TERM", terminal)
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True, raising=False)
    assert wants_color("auto") is colored


def test_kinds_of_fixes_are_those_of_the_examples() -> None:
    from torchlint.diagnostic import Applicability
    from torchlint.project.pages import documentation, kinds_of_fixes
    from torchlint.rules import catalogue
    from torchlint.testing.examples import examples

    for code in catalogue():
        kinds = {mark.applicability for example in examples(documentation(code)) for mark in example.marks}
        words = [kind.value for kind in (Applicability.SAFE, Applicability.UNSAFE) if kind in kinds]
        assert kinds_of_fixes(code) == words + ["sometimes none"] * (None in kinds and bool(words)), code


def test_rule(torchlint: Torchlint) -> None:
    by_code, by_name = torchlint("rule", "TL101"), torchlint("rule", "data-read")
    assert by_code.code == 0
    assert by_code.out == by_name.out == torchlint("rule", "tl101").out
    title, traits, page, blank, text = by_code.out.split("\n", 4)
    assert (title, blank) == ("TL101 data-read", "")
    severity = "Severity: warning, where a finding does not say otherwise."
    assert traits == f"Group: migration. {severity} Fix: safe, unsafe, sometimes none."
    assert page.endswith("/docs/rules/data-read.md")
    assert text.count("In the examples: `-` a finding with a safe fix") == 1
    assert text.index("In the examples") < text.index("\n    -")
    assert "```" not in text
    assert "\n    -" in text  # the examples are there
    entry = json.loads(torchlint("rule", "TL101", "--output-format", "json").out)
    assert entry["summary"] == text.partition("\n")[0]
    assert entry.keys() == {"code", "name", "group", "severity", "default", "fixes", "summary", "explanation", "url"}
    assert entry["fixes"] == ["safe", "unsafe", "sometimes none"]


def test_all_rules(torchlint: Torchlint) -> None:
    entries = json.loads(torchlint("rule", "--all", "--output-format", "json").out)
    assert {entry["code"]: entry["name"] for entry in entries} == known_names()
    assert all(entry["summary"] for entry in entries)
    text = torchlint("rule", "--all").out
    for code, name in known_names().items():
        assert f"{code} {name}\n" in text


def test_rules_in_markdown_are_their_pages(torchlint: Torchlint) -> None:
    pages = {
        path.stem: path.read_text(encoding="utf-8")
        for path in (Path(__file__).parents[1] / "docs" / "rules").glob("*-*.md")
    }
    for name in ("data-read", "syntax-error"):
        shown = torchlint("rule", name, "--output-format", "markdown").out
        assert shown == pages[name].replace(" [All rules](README.md)", "")
    text = torchlint("rule", "--all", "--output-format", "markdown").out
    assert [f"# {name} ({code})\n" in text for code, name in known_names().items()] == [True] * len(known_names())


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("TL998", "unknown rule `TL998`"),
        ("data-raed", "did you mean `data-read`?"),
        ("TL1O1", "did you mean `TL101`?"),
        ("", "--all"),
        ("TL101 --all", "--all"),
    ],
)
def test_rule_misused(arguments: str, message: str, torchlint: Torchlint) -> None:
    ran = torchlint("rule", *arguments.split())
    assert (ran.code, ran.out) == (2, "")
    assert message in ran.err


@pytest.mark.parametrize("option", ["--version", "-V"])
def test_version(option: str, torchlint: Torchlint) -> None:
    ran = torchlint(option)
    assert (ran.code, ran.out) == (0, f"torchlint {__version__}\n")


@pytest.mark.parametrize("arguments", ["--help", "-h", "check --help", "rule --help", "clean --help"])
def test_help(arguments: str, torchlint: Torchlint) -> None:
    ran = torchlint(*arguments.split())
    assert ran.code == 0
    assert ran.out.startswith("Usage: torchlint")


def project(write: Write, count: int = 12) -> None:
    write({f"{number % 3}/x{number}.py": "\n" * number + SAFE + UNSAFE * (number % 4) for number in range(count)})
    write({"bad.py": f"{SAFE}def f(:\n", "worse.py": b"\xe9"})


@pytest.mark.parametrize("format_", ["full", "concise", "json", "github"])
def test_output_is_the_same_for_any_number_of_processes(
    format_: str, write: Write, torchlint: Torchlint, monkeypatch: pytest.MonkeyPatch
) -> None:
    project(write)
    monkeypatch.setattr(scheduler, "WORTH_A_POOL", 0)
    runs = [torchlint("check", "--no-cache", "--output-format", format_, "-j", jobs) for jobs in ("1", "2", "5")]
    assert runs[0].code == 1
    assert runs[0].out.count("TL101") >= 12
    assert runs[0] == runs[1] == runs[2]
    if format_ == "concise":
        places = [line.split(":")[:3] for line in runs[0].out.splitlines() if line[0] in "012bw"]
        keys = [(path, int(row), int(column)) for path, row, column in places]
        assert keys == sorted(keys)
        assert len(keys) > 20


def test_fixes_are_the_same_for_any_number_of_processes(
    write: Write, torchlint: Torchlint, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(scheduler, "WORTH_A_POOL", 0)
    after = []
    for jobs in ("1", "3"):
        project(write)
        ran = torchlint("check", "--no-cache", "--fix", "-j", jobs)
        after.append((ran, {path: path.read_bytes() for path in sorted(tmp_path.rglob("*.py"))}))
    assert after[0] == after[1]


def environment(**more: str) -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(Path(__file__).parents[1]), **more}


COMMAND = [sys.executable, "-m", "torchlint", "check"]


def test_nobody_reads_the_output(write: Write, tmp_path: Path) -> None:
    write({"x.py": "import torch\n" + "print(torch.ones(3).data)\n" * 2_000})
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen(COMMAND, cwd=tmp_path, env=environment(), **pipes) as child:  # type: ignore[call-overload]
        child.stdout.read(10)
        child.stdout.close()
        assert child.stderr.read() == b""
        assert child.wait() == 141


READING = """
import sys, torchlint.cli.check
usual = torchlint.cli.check.read_stream
def read(stream):
    print("now", flush=True)
    return usual(stream)
torchlint.cli.check.read_stream = read
sys.argv = ["torchlint", "check", "-"]
from torchlint.cli.main import main; main()
"""


def test_interrupt(tmp_path: Path) -> None:
    """While standard input is read."""
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    line = [sys.executable, "-c", READING]
    with subprocess.Popen(line, cwd=tmp_path, env=environment(), **pipes) as child:  # type: ignore[call-overload]
        assert child.stdout.readline() == b"now\n"
        child.send_signal(signal.SIGINT)
        assert child.wait(timeout=60) == 130
        assert (child.stdout.read(), child.stderr.read()) == (b"", b"")


def test_unusual_characters_on_a_terminal_that_has_none(write: Write, tmp_path: Path) -> None:
    write({"ü\udce9.py": SAFE + "# 日本\n", "y.py": "s = '\\u00e9', é(\n"})
    ascii_only = environment(PYTHONIOENCODING="ascii")
    ran = subprocess.run(
        [*COMMAND, "--fix", "--show-fixes", ".", "y.py"], cwd=tmp_path, env=ascii_only, capture_output=True, check=False
    )
    assert ran.returncode == 1
    assert ran.stderr == b""
    assert b"- \\xfc\\udce9.py:\n    1 \\xd7 TL101 (data-read)\n" in ran.stdout


# ---------------------------------------------------------------------- what newcomers write

NEWCOMERS = {
    "a file": (["x.py"], "there is no command `x.py`: to check files write `torchlint check x.py`"),
    "a file that is not there": (["y.py"], "there is no command `y.py`: to check files write `torchlint check y.py`"),
    "a folder": (["."], "there is no command `.`: to check files write `torchlint check .`"),
    "misspelt": (["chekc"], "there is no command `chekc` (did you mean `check`?)"),
    "fixing": (["fix", "."], "there is no command `fix`: write `torchlint check --fix`"),
    "help": (["help"], "there is no command `help`: write `torchlint --help`"),
    "rules with blanks": (
        ["check", "--select", "TL101", "TL201", "x.py"],
        "TL201: No such file or directory (several rules are written with commas: `TL101,TL201`)",
    ),
    "beginnings of codes with blanks": (
        ["check", "--select", "TL1", "TL2", "x.py"],
        "TL2: No such file or directory (several rules are written with commas: `TL101,TL2`)",
    ),
    "a rule of ruff": (["rule", "F401"], "unknown rule `F401` (this is ruff's; "),
    "an option that there is not": (["--select", "TL1"], "No such option"),
}


@pytest.mark.parametrize(("arguments", "said"), NEWCOMERS.values(), ids=NEWCOMERS)
def test_newcomers_are_told_what_to_write(
    arguments: list[str], said: str, torchlint: Torchlint, write: Callable[[dict[str, str]], None]
) -> None:
    write({"x.py": "import torch\n"})
    ran = torchlint(*arguments)
    assert ran.code == 2
    assert said in ran.err


def test_pages_that_help_names_can_be_opened_without_the_repository(torchlint: Torchlint) -> None:
    from torchlint import DOCS
    from torchlint.cli.commands import cli

    named = set[str]()
    for command in cli.commands:
        text = torchlint(command, "--help").out
        pages = set(re.findall(r"[\w-]+\.md", text))
        assert pages == set(re.findall(rf"{re.escape(DOCS)}/([\w-]+\.md)", text))
        named |= pages
    assert len(named) > 3
    assert all((Path(__file__).parents[1] / "docs" / page).exists() for page in named)


def test_help_of_commands_is_not_cut(torchlint: Torchlint) -> None:
    assert "..." not in torchlint("--help").out.partition("Commands:")[2]


def test_options_are_in_sections(torchlint: Torchlint) -> None:
    from torchlint.cli.commands import cli
    from torchlint.cli.help import SECTIONS

    shown = torchlint("check", "--help").out
    options = [name for option in cli.commands["check"].params for name in option.opts if name.startswith("--")]
    listed = [name for names in SECTIONS.values() for name in names]
    assert len(set(listed)) == len(listed)
    assert set(listed) <= set(options)
    for name in options:
        assert len(re.findall(rf"^  (?:-\w, )?{name}\b(?!-)", shown, re.MULTILINE)) == 1, name
    assert [line for line in shown.splitlines() if line.endswith(":") and not line.startswith(" ")] == [
        *(f"{title}:" for title in SECTIONS),
        "Other options:",
    ]
