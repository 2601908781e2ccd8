"""Fixes that somebody chooses, and checks that are repeated when a file changes."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from forked import python
from notebooks import notebook

from torchlint.cli import watch
from torchlint.cli.commands import check
from torchlint.cli.decisions import CheckOptions

ROOT = Path(__file__).parents[1]

TEXT = """\
import torch
from torch.autograd import Variable


def f(x: torch.Tensor):
    x.add(1)
    y = Variable(x)
    return y.sum().data[0], x.data
"""
BODY = TEXT.partition("Tensor):\n")[2]


def torchlint(*arguments: str, cwd: Path, said: str = "") -> subprocess.CompletedProcess[str]:
    return python(["-m", "torchlint", *arguments], cwd, {"PYTHONPATH": str(ROOT)}, said)


def run(answers: str, *arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    said = "".join(f"{answer}\n" for answer in answers.split())
    return torchlint("check", "--no-cache", "--interactive", *arguments, cwd=cwd, said=said)


def body(*changes: tuple[str, str]) -> str:
    """The body of the function after changes."""
    text = BODY
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    return text


ASSIGN, REMOVE = ("x.add(1)", "x = x.add(1)"), ("    x.add(1)\n", "")
DETACH, ITEM, READ = ("Variable(x)", "x.detach()"), ("data[0]", "item()"), ("x.data", "x.detach()")
IGNORE = ("Variable(x)", "Variable(x)  # torchlint: ignore[TL201]")

# the answers; what they make of the body; how many are fixed
ANSWERS = {
    "all, one by one": ("y y y y y", body(ASSIGN, DETACH, ITEM, READ), 5),
    "all at once, but what is not safe": ("n a n", body(DETACH, ITEM), 3),
    "no": ("n n n n n", BODY, 0),
    "an alternative": ("1 d", body(REMOVE), 1),
    "there is no such alternative": ("2 0 9 q", BODY, 0),
    "a comment": ("n i n n", body(IGNORE), 0),
    "what was applied stays": ("y q", body(ASSIGN), 1),
    "and so it does where nobody answers any more": ("y", body(ASSIGN), 1),
    "taken back": ("y u n y u y q", body(DETACH), 1),
    "nothing to take back": ("u u y q", body(ASSIGN), 1),
    "all of a rule": ("n r q", body(DETACH), 2),
    "none of a rule": ("n s y n q", body(ITEM), 1),
    "the rest is left": ("y d", body(ASSIGN), 1),
    "what is meant is said": ("? huh ! y q", body(ASSIGN), 1),
}


@pytest.mark.parametrize(("answers", "expected", "count"), ANSWERS.values(), ids=ANSWERS)
def test_answers(answers: str, expected: str, count: int, tmp_path: Path) -> None:
    path = tmp_path / "x.py"
    path.write_text(TEXT, encoding="utf-8")
    done = run(answers, "--fix", "x.py", cwd=tmp_path)
    assert done.stderr == ""
    assert path.read_text(encoding="utf-8").partition("Tensor):\n")[2] == expected, done.stdout
    assert f"Fixed {count} finding" in done.stdout
    assert done.returncode == (0 if done.stdout.endswith("\n0 findings left.\n") else 1)


def test_an_import_goes_when_its_uses_have(tmp_path: Path) -> None:
    path = tmp_path / "x.py"
    path.write_text(TEXT, encoding="utf-8")
    done = run("y y y y y y", "x.py", cwd=tmp_path)
    assert "Variable" not in path.read_text(encoding="utf-8")
    assert done.stdout.index("Remove the import") > done.stdout.index("Use `.detach()`")


def test_what_is_not_safe_is_applied_unseen_only_if_told(tmp_path: Path) -> None:
    path = tmp_path / "x.py"
    path.write_text(TEXT, encoding="utf-8")
    done = run("a", "--unsafe-fixes", "x.py", cwd=tmp_path)
    assert "x = x.add(1)" in path.read_text(encoding="utf-8")
    assert done.stdout.count("Apply this fix") == 1


def test_several_files(tmp_path: Path) -> None:
    for name in "abc":
        (tmp_path / f"{name}.py").write_text(TEXT, encoding="utf-8")
    run("n d y q", cwd=tmp_path)
    texts = [(tmp_path / f"{name}.py").read_text(encoding="utf-8").partition("Tensor):\n")[2] for name in "abc"]
    assert texts == [BODY, body(ASSIGN), BODY]


def test_a_notebook_and_markdown(tmp_path: Path) -> None:
    text = notebook("import torch\nx = torch.ones(3)", "x.sum().data[0]\n'ö'")
    (tmp_path / "x.ipynb").write_text(text, encoding="utf-8")
    page = "ö\r\n```python\r\nx = torch.ones(3).sum().data[0]\r\n```\r\n"
    (tmp_path / "x.md").write_bytes(page.encode())
    done = run("y y", "--docs", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert (tmp_path / "x.ipynb").read_text(encoding="utf-8") == text.replace("data[0]", "item()")
    assert (tmp_path / "x.md").read_bytes().decode() == page.replace("data[0]", "item()")
    assert json.loads(text)


def test_what_is_typed_may_be_no_text(tmp_path: Path) -> None:
    (tmp_path / "x.py").write_text(TEXT, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-m", "torchlint", "check", "--no-cache", "--interactive", "x.py"],
        cwd=tmp_path,
        env={"PYTHONPATH": str(ROOT), "PYTHONIOENCODING": "utf-8:strict"},
        input=b"y\n\xff\xfe\nq\n",
        capture_output=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (1, b"")
    assert b"Fixed 1 finding.\n" in done.stdout


def test_a_file_that_cannot_be_written(tmp_path: Path) -> None:
    path = tmp_path / "x.py"
    path.write_text(TEXT, encoding="utf-8")
    path.chmod(0o444)
    done = run("y q", cwd=tmp_path)
    assert (done.returncode, path.read_text(encoding="utf-8")) == (3, TEXT)
    assert "x.py: not fixed: the file is read-only" in done.stderr
    assert "Fixed 0 findings." in done.stdout


@pytest.mark.parametrize("other", [["--diff"], ["--add-ignore"], ["-"], ["--watch"]])
def test_what_it_does_not_go_with(other: list[str], tmp_path: Path) -> None:
    done = run("", *other, cwd=tmp_path)
    assert done.returncode == 2
    assert re.match("error: --(interactive|watch) goes with neither", done.stderr)


# ---------------------------------------------------------------------- watching


class Interrupted(Exception):
    """Somebody has seen enough."""


Step = Callable[[], object]


def watched(steps: list[Step], capsys: pytest.CaptureFixture[str], *arguments: str) -> list[str]:
    """What is printed before each step, and after the last one: counts and errors. Steps happen between two looks."""
    steps, seen = list(steps), list[str]()

    def wait(seconds: float) -> None:
        if not watch.PAUSE <= seconds < watch.SETTLED_TO_FIX:  # something has changed; is that all?
            return
        out = capsys.readouterr()
        said = out.out + "".join(line for line in out.err.splitlines(True) if "error" in line)
        seen.append(", ".join(re.findall(r"(?:Found|Fixed|No) (?:\d+ )?findings?|error", said)))
        if not steps:
            raise Interrupted
        steps.pop(0)()

    options = check.make_context("check", ["--no-cache", "--output-format", "concise", *arguments]).params
    del options["watch"]
    with pytest.raises(Interrupted):
        watch.watch(CheckOptions(**options), wait)
    return seen


def test_changes_are_seen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.chdir(tmp_path)
    path, settings = tmp_path / "x.py", tmp_path / "torchlint.toml"
    path.write_text(TEXT, encoding="utf-8")
    steps: list[Step] = [
        lambda: path.write_text(TEXT + "\n\nz = torch.ones(2).data\n", encoding="utf-8"),
        lambda: None,
        lambda: (tmp_path / "y.py").write_text(TEXT, encoding="utf-8"),
        lambda: settings.write_text("ignore = ['ALL'\n", encoding="utf-8"),
        lambda: settings.write_text("select = ['TL201']\n", encoding="utf-8"),
        path.unlink,
    ]
    assert watched(steps, capsys) == [
        "Found 5 findings",
        "Found 6 findings",
        "",
        "Found 11 findings",
        "error",
        "Found 4 findings",
        "Found 2 findings",
    ]


def test_changes_of_what_is_not_checked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A file in the place of one of the same size and time; what is excluded; a baseline; settings for several."""
    monkeypatch.chdir(tmp_path)
    path, twin, extended = tmp_path / "x.py", tmp_path / "twin", tmp_path / "shared" / "all.toml"
    extended.parent.mkdir()
    path.write_text(TEXT, encoding="utf-8")
    extended.write_text("", encoding="utf-8")
    (tmp_path / "torchlint.toml").write_text("extend = 'shared/all.toml'\nexclude = ['left']\n", encoding="utf-8")
    clean = "#" * len(TEXT)

    def put() -> None:
        twin.write_text(clean, encoding="utf-8")
        status = path.stat()
        os.utime(twin, ns=(status.st_atime_ns, status.st_mtime_ns))
        os.replace(twin, path)

    def exclude() -> None:
        (tmp_path / "left").mkdir()
        (tmp_path / "left" / "y.py").write_text(TEXT, encoding="utf-8")

    steps: list[Step] = [
        put,
        lambda: path.write_text(TEXT, encoding="utf-8"),
        exclude,
        lambda: extended.write_text("select = ['TL201']\n", encoding="utf-8"),
        lambda: torchlint("baseline", "write", cwd=tmp_path),
    ]
    found = "Found 5 findings"
    assert watched(steps, capsys) == [found, "No findings", found, "", "Found 2 findings", "No findings"]


def test_fixing_while_watching(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """What is fixed is told once, and is no change that somebody has made."""
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "x.py"
    path.write_text("import torch\n\nprint(torch.ones(2).data)\n", encoding="utf-8")
    steps: list[Step] = [
        lambda: None,
        lambda: path.write_text("import torch\n\nx = torch.ones(2).data\nprint(x)\n", encoding="utf-8"),
        lambda: path.write_text(path.read_text(encoding="utf-8") + "# more\n", encoding="utf-8"),
    ]
    fixed = "Fixed 1 finding, No findings"
    assert watched(steps, capsys, "--fix") == [fixed, "", fixed, "No findings"]


@pytest.mark.parametrize("cache", ["--no-cache", "--cache-dir=cache"])
def test_what_a_file_imports_is_looked_at_too(
    cache: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """What lies beside it is nothing to it."""
    project = tmp_path / "project"
    (project / "sub").mkdir(parents=True)
    monkeypatch.chdir(project)
    imported, user = project / "net.py", project / "user.py"
    (project / "pyproject.toml").write_text("", encoding="utf-8")
    imported.write_text("X = 3\n", encoding="utf-8")
    (project / "x.py").write_text("import torch\nfrom net import X\nprint(X.data)\n", encoding="utf-8")
    tensor = "import torch\nX = torch.ones(3, requires_grad=True)\n"
    steps: list[Step] = [
        lambda: imported.write_text(tensor, encoding="utf-8"),
        lambda: None,
        lambda: user.write_text("import os\n", encoding="utf-8"),
        lambda: (project / "notes.txt").write_text("torch", encoding="utf-8"),
        lambda: imported.write_text("X = 3\n", encoding="utf-8"),
        lambda: imported.write_text(tensor, encoding="utf-8"),
        lambda: (project / "x.py").write_text("import torch\n", encoding="utf-8"),
        lambda: None,
        lambda: imported.write_text("X = 3\n", encoding="utf-8"),
    ]
    found, none = "Found 1 finding", "No findings"
    expected = [none, found, "", "", "", none, found, none, "", ""]
    assert watched(steps, capsys, cache, "--select", "TL101", "x.py") == expected


def test_what_is_just_being_written_is_not_fixed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Who fixes the first piece of a file puts another file in its place, and the second piece goes nowhere."""
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "x.py"
    path.write_text("", encoding="utf-8")
    pieces = ["import torch\n", "x = torch.ones(2).data\n", "print(x)\n"]
    looks = 0
    with open(path, "a", encoding="utf-8") as file:

        def wait(seconds: float) -> None:
            nonlocal looks
            looks += 1
            if pieces:
                file.write(pieces.pop(0))
                file.flush()
            elif looks > 10:
                raise Interrupted

        options = check.make_context("check", ["--no-cache", "--fix"]).params
        del options["watch"]
        with pytest.raises(Interrupted):
            watch.watch(CheckOptions(**options), wait)
    assert path.read_text(encoding="utf-8") == "import torch\nx = torch.ones(2)\nprint(x)\n"


def test_options_that_make_no_sense_end_it(tmp_path: Path) -> None:
    done = torchlint("check", "--watch", "--select", "NOPE", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert "unknown rule `NOPE`" in done.stderr


@pytest.mark.skipif(os.name == "nt", reason="a directory that is in use stays there")
def test_without_a_working_directory(tmp_path: Path) -> None:
    folder = tmp_path / "gone"
    for arguments in (["check"], ["check", str(tmp_path)], ["baseline", "show"], ["rule", "TL101"]):
        folder.mkdir()
        run = "import os, sys; os.rmdir(os.getcwd()); from torchlint.cli import main; sys.exit(main.run())"
        done = subprocess.run(
            [sys.executable, "-c", run, *arguments],
            cwd=folder,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
            capture_output=True,
            text=True,
            check=False,
        )
        assert (done.returncode, done.stdout) == (2, "")
        assert done.stderr == "error: the working directory does not exist any more\n"


def test_watching_ends_with_an_interrupt(tmp_path: Path) -> None:
    (tmp_path / "x.py").write_text(TEXT, encoding="utf-8")
    process = subprocess.Popen(
        [sys.executable, "-m", "torchlint", "check", "--watch", "--no-cache"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stderr is not None
    while "Waiting for changes" not in process.stderr.readline():
        pass
    process.send_signal(2)
    out, err = process.communicate(timeout=60)
    assert "Found 5 findings" in out
    assert (process.returncode, err) == (130, "")
