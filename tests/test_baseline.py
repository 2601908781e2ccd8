"""The baseline: what it keeps quiet, what it follows, and what it never loses."""

from __future__ import annotations

import errno
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from conftest import Torchlint
from notebooks import notebook

from torchlint.cli import exit_codes
from torchlint.file.locate.sites import statement_hash
from torchlint.project import baseline
from torchlint.project.baseline import NAME, Baseline, BaselineEntry
from torchlint.session import scheduler

Write = Callable[[dict[str, str | bytes]], None]

HEAD = "import torch\n"
READ = "x = torch.ones(3, requires_grad=True).data\n"
OTHER = "y = torch.zeros(3, requires_grad=True).data\n"
FUNCTION = """\


class Net:
    def forward(self, x: torch.Tensor):
        total = x.relu().data + 1
        total = x.relu().data + 1
        return total
"""


def codes(torchlint: Torchlint, *arguments: str) -> list[tuple[str, str, int]]:
    """What `check` reports: file, code, row."""
    ran = torchlint("check", "--output-format", "json", *arguments)
    return [(os.path.basename(each["filename"]), each["code"], each["location"]["row"]) for each in json.loads(ran.out)]


def entries(folder: Path) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads((folder / NAME).read_text(encoding="utf-8"))["findings"]
    return found


def test_what_is_there_is_quiet_and_what_is_new_is_not(write: Write, torchlint: Torchlint, tmp_path: Path) -> None:
    write({"x.py": HEAD + READ})
    ran = torchlint("baseline", "write")
    assert (ran.code, ran.out.splitlines()[0]) == (0, f"Wrote 1 finding in 1 file to {NAME}.")
    ran = torchlint("check")
    assert (ran.code, ran.out) == (0, "No findings in 1 file (1 baselined).\n")
    write({"x.py": HEAD + "\n\n" + OTHER + READ})
    assert codes(torchlint) == [("x.py", "TL101", 4)]
    assert len(codes(torchlint, "--no-baseline")) == 2
    assert len(codes(torchlint, "--isolated")) == 2
    assert len(entries(tmp_path)) == 1, "`check` writes nothing"


def test_a_line_for_each_entry(write: Write, torchlint: Torchlint, tmp_path: Path) -> None:
    write({"b.py": HEAD + OTHER + FUNCTION, "a/c.py": HEAD + READ + "# 模型\n" + READ.replace("x", "模\u200b型"[:1])})
    torchlint("baseline", "write")
    lines = (tmp_path / NAME).read_text(encoding="utf-8").splitlines()
    listed = [line for line in lines if line.startswith("    {")]
    assert len(listed) == len(entries(tmp_path)) == 4
    assert [each["path"] for each in entries(tmp_path)] == ["a/c.py", "a/c.py", "b.py", "b.py"]
    assert entries(tmp_path)[-1] == {
        "path": "b.py",
        "rule": "TL101",
        "in": "Net.forward",
        "statement": entries(tmp_path)[-1]["statement"],
        "count": 2,
        "source": "total = x.relu().data + 1",
    }
    assert any("模 = torch" in line for line in lines)


# what a formatter or an editor may do to a statement
SAME = {
    "line breaks": ("x = f(a, b).data", "x = f(\n    a,\n    b,\n).data"),
    "CRLF": ("x = [\n  a,\n  b\n].data", "x = [\r\n  a,\r\n  b\r\n].data"),
    "brackets": ("x = a if b else c", "x = (\n    a\n    if b\n    else c\n)"),
    "a backslash": ("x = a + \\\n  b", "x = (\n  a\n  + b\n)"),
    "quotes": ("x = f('it')", 'x = f("it")'),
    "quotes in quotes": ("x = f('say \"it\\'s\"')", 'x = f("say \\"it\'s\\"")'),
    "quotes of three": ("x = f('''a\nb''')", 'x = f("""a\nb""")'),
    "prefixes": ("x = f(u'a', B'b')", "x = f('a', b'b')"),
    "formatted strings": ("x = f'{a}b'", 'x = f"{a}b"'),
    "comments": ("x = f(  # why\n    a)", "x = f(a)  # why not"),
    "numbers": ("x = 0XAB + 1E5", "x = 0xab + 1e5"),
    "indentation": ("x = f(a,\n      b)", "x = f(a,\n          b)"),
}
DIFFERENT = {
    "a name": ("x = a.data", "x = b.data"),
    "a string": ("x = f('a')", "x = f('b')"),
    "blanks in a string": ("x = f('a b')", "x = f('ab')"),
    "words": ("x = not a", "x = nota"),
    "a comma": ("x = f(a, b)", "x = f(a b)"),
    "an f-string": ("x = 'a{b}'", "x = f'a{b}'"),
}


@pytest.mark.parametrize(("one", "other"), SAME.values(), ids=SAME)
def test_formatting_is_no_change(one: str, other: str) -> None:
    assert statement_hash(one) == statement_hash(other)


@pytest.mark.parametrize(("one", "other"), DIFFERENT.values(), ids=DIFFERENT)
def test_everything_else_is(one: str, other: str) -> None:
    assert statement_hash(one) != statement_hash(other)


def test_a_hash_is_the_same_for_ever() -> None:
    assert statement_hash('x = f("a", 0XF)  # b\n') == "e82a3ac3b3a3"


FOLLOWED = {
    "lines above": lambda text: text.replace(HEAD, HEAD + "\n\nimport os\n"),
    "newlines": lambda text: text.replace("\n", "\r\n"),
    "a byte order mark": lambda text: "\ufeff" + text,
    "order": lambda text: HEAD + text.removeprefix(HEAD + READ) + "\n\n" + READ,
    "a block": lambda text: text.replace(READ, "if True:\n    " + READ),
    "formatting": lambda text: text.replace(
        "x.relu().data + 1", "(\n            x.relu().data\n            + 1\n        )"
    ),
    "the name of a class": lambda text: text.replace("Net", "Network"),
    "the name of a function": lambda text: text.replace("forward", "step"),
    "out of a class": lambda text: (
        HEAD
        + READ
        + "\n\ndef forward(x: torch.Tensor):\n    total = x.relu().data + 1\n    total = x.relu().data + 1\n    return total\n"
    ),
}


@pytest.mark.parametrize("change", FOLLOWED.values(), ids=FOLLOWED)
def test_code_that_moves_is_followed(
    change: Callable[[str], str], write: Write, torchlint: Torchlint, tmp_path: Path
) -> None:
    text = HEAD + READ + FUNCTION
    write({"x.py": text})
    torchlint("baseline", "write")
    write({"x.py": change(text)})
    assert codes(torchlint) == []
    ran = torchlint("baseline", "check")
    assert ran.code == 0, ran.out
    torchlint("baseline", "prune")
    assert sum(each["count"] for each in entries(tmp_path)) == 3
    assert codes(torchlint) == []


def test_a_third_statement_that_is_equal_is_new(write: Write, torchlint: Torchlint) -> None:
    write({"x.py": HEAD + FUNCTION})
    torchlint("baseline", "write")
    line = "        total = x.relu().data + 1\n"
    write({"x.py": HEAD + FUNCTION.replace(line + line, line * 3)})
    assert codes(torchlint) == [("x.py", "TL101", 8)]
    write({"x.py": HEAD + FUNCTION.replace(line + line, line)})
    ran = torchlint("baseline", "check")
    assert (ran.code, ran.out.splitlines()[0]) == (1, "x.py: TL101 in `Net.forward`, 1 gone: total = x.relu().data + 1")
    assert torchlint("baseline", "prune").code == 0
    write({"x.py": HEAD + FUNCTION})
    assert codes(torchlint) == [("x.py", "TL101", 7)]


def test_a_file_that_is_renamed(write: Write, torchlint: Torchlint, tmp_path: Path) -> None:
    write({"old.py": HEAD + READ + FUNCTION, "a.py": HEAD + READ})
    torchlint("baseline", "write")
    (tmp_path / "old.py").rename(tmp_path / "new.py")
    assert codes(torchlint) == []
    assert codes(torchlint, "new.py") == [], "the old one is not there, so nothing else can have it"
    ran = torchlint("baseline", "prune")
    assert ran.out == f"Nothing is gone, 3 moved; 4 findings left in {NAME}.\n"
    assert {each["path"] for each in entries(tmp_path)} == {"a.py", "new.py"}
    write({"copy.py": (tmp_path / "new.py").read_text(encoding="utf-8")})
    assert codes(torchlint, "--select", "TL101") == [("copy.py", "TL101", row) for row in (2, 7, 8)]


def test_a_function_that_goes_to_another_file(write: Write, torchlint: Torchlint) -> None:
    write({"a.py": HEAD + READ + FUNCTION, "b.py": HEAD})
    torchlint("baseline", "write")
    write({"a.py": HEAD + READ, "b.py": HEAD + FUNCTION})
    assert codes(torchlint) == []
    assert codes(torchlint, "a.py", "b.py") == []
    assert len(codes(torchlint, "b.py")) == 2, "without a.py nobody knows that it is not there any more"


def test_whoever_is_checked_first_the_same_is_found(write: Write, torchlint: Torchlint, tmp_path: Path) -> None:
    write({f"{name}.py": HEAD + READ + FUNCTION for name in "abcd"})
    torchlint("baseline", "write", "a.py", "b.py")
    (tmp_path / "a.py").unlink()
    (tmp_path / "b.py").unlink()
    write({"e.py": HEAD + READ})
    found = [codes(torchlint, *paths.split()) for paths in (".", "e.py d.py c.py", "c.py e.py d.py")]
    assert found[0] == found[1] == found[2] == [("e.py", "TL101", 2)]


def test_fixing_leaves_alone_what_is_in_it(write: Write, torchlint: Torchlint, tmp_path: Path) -> None:
    write({"x.py": HEAD + READ})
    torchlint("baseline", "write")
    write({"x.py": HEAD + READ + OTHER, "y.py": HEAD + OTHER})
    assert torchlint("check", "--diff").out.count("\n-y") == 2
    ran = torchlint("check", "--fix")
    assert (ran.code, ran.out) == (
        0,
        "Fixed 2 findings in 2 files: 2 × TL101.\nNo findings in 2 files (2 fixed, 1 baselined).\n",
    )
    fixed = OTHER.replace(".data", ".detach()")
    assert (tmp_path / "x.py").read_text(encoding="utf-8") == HEAD + READ + fixed
    assert (tmp_path / "y.py").read_text(encoding="utf-8") == HEAD + fixed
    ran = torchlint("check", "--fix", "--fix-baselined")
    assert (ran.code, ran.out) == (0, "Fixed 1 finding in 1 file: 1 × TL101.\nNo findings in 2 files (1 fixed).\n")
    assert torchlint("baseline", "prune").out == f"Removed 1 finding that is gone; 0 findings left in {NAME}.\n"


def test_nothing_accepted_becomes_new_where_something_beside_it_is_fixed(
    write: Write, torchlint: Torchlint, tmp_path: Path
) -> None:
    text = (
        "import torch\nfrom torch import autograd, nn\nnet = nn.Linear(3, 2)\n\n\ndef f(x):\n"
        "    return net(autograd.Variable(x)).data\n\n\ndef g(x: torch.Tensor):\n    return torch.range(0, 2), x.data.sum()\n"
    )
    write({"x.py": text})
    torchlint("baseline", "write")
    assert torchlint("check", "--fix", "--fix-baselined").code == 0
    assert torchlint("check").code == 0
    assert torchlint("check", "--fix", "--unsafe-fixes", "--fix-baselined").code == 0
    assert torchlint("check").code == 0
    assert (tmp_path / "x.py").read_text(encoding="utf-8") != text


def test_what_shares_a_statement_with_it_is_not_offered_to_be_fixed(
    write: Write, torchlint: Torchlint, tmp_path: Path
) -> None:
    text = HEAD + "x = torch.ones(3, requires_grad=True).data.detach().detach()\n"
    write({"x.py": text})
    torchlint("baseline", "write", "--select", "TL106")
    before = torchlint("check", "--no-baseline").out
    assert "TL106" in before
    write({"x.py": text.replace("3, ", "3, dtype=torch.float, ").replace(".detach().detach()", ".detach()")})
    torchlint("check", "--fix")
    write(
        {
            "x.py": HEAD
            + "x = torch.ones(3, requires_grad=True).data; w = torch.ones(2, requires_grad=True).cpu().detach()\n"
        }
    )
    (tmp_path / NAME).unlink()
    torchlint("baseline", "write", "--select", "TL101")
    ran = torchlint("check")
    assert "TL105" in ran.out
    assert "[*]" not in ran.out
    shared = (tmp_path / "x.py").read_bytes()
    assert torchlint("check", "--fix").code == 1
    assert (tmp_path / "x.py").read_bytes() == shared


def test_an_import_stays_for_what_stays(write: Write, torchlint: Torchlint, tmp_path: Path) -> None:
    text = "import torch\nfrom torch.autograd import Variable\n\nx = Variable(torch.ones(3))\n"
    write({"x.py": text})
    torchlint("baseline", "write")
    write({"x.py": text + "y = Variable(torch.zeros(3))\n"})
    torchlint("check", "--fix")
    assert (tmp_path / "x.py").read_text(encoding="utf-8") == text + "y = torch.zeros(3)\n"


def test_comments_go_first(write: Write, torchlint: Torchlint) -> None:
    write({"x.py": HEAD + READ})
    torchlint("baseline", "write")
    write({"x.py": HEAD + READ.replace("\n", "  # torchlint: ignore[TL101]\n")})
    assert torchlint("check").out == "No findings in 1 file (1 suppressed).\n"
    assert torchlint("baseline", "check").code == 1


BROKEN = "print x.data\n"


def test_what_could_not_be_looked_at_is_not_gone(write: Write, torchlint: Torchlint, tmp_path: Path) -> None:
    write({"x.py": HEAD + READ, "y.py": HEAD + BROKEN})
    assert torchlint("baseline", "write").out.startswith("Wrote 2 findings in 2 files")
    assert torchlint("check").code == 0
    write({"x.py": HEAD + READ + BROKEN})
    assert codes(torchlint) == [("x.py", "TL001", 3)]
    before = entries(tmp_path)
    assert torchlint("baseline", "prune").code == 0
    assert entries(tmp_path) == before
    write({"x.py": b"\xff" + READ.encode()})
    torchlint("baseline", "prune")
    assert entries(tmp_path) == before


def stays(torchlint: Torchlint, folder: Path, code: int = 0) -> str:
    """What is said on standard error while nothing of a baseline is called gone, nor pruned, nor found elsewhere."""
    before = (folder / NAME).read_bytes()
    checked, pruned = torchlint("baseline", "check"), torchlint("baseline", "prune")
    assert (checked.code, pruned.code) == (code, code)
    assert "none of them gone" in checked.out
    assert pruned.out.startswith("Nothing is gone")
    assert (folder / NAME).read_bytes() == before
    assert checked.err == pruned.err
    return checked.err


@pytest.mark.skipif(not hasattr(os, "geteuid"), reason="folders can always be read")
def test_what_is_in_a_folder_that_cannot_be_read_is_not_gone(
    write: Write, torchlint: Torchlint, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write({"p/x.py": HEAD + READ, "q/deep/y.py": HEAD + OTHER})
    torchlint("baseline", "write")
    below = str(tmp_path / "q")

    def refusing(function: Callable[..., Any]) -> Callable[..., Any]:  # an administrator may read everything
        def called(path: Any, *rest: Any, **named: Any) -> Any:
            if str(path).startswith(below + "/" * (function is os.lstat)):
                raise PermissionError(errno.EACCES, "Permission denied", path)
            return function(path, *rest, **named)

        return called

    monkeypatch.setattr(os, "lstat", refusing(os.lstat))
    monkeypatch.setattr(os, "scandir", refusing(os.scandir))
    assert stays(torchlint, tmp_path, exit_codes.INCOMPLETE) == "error: q: Permission denied\n"
    write({"p/x.py": HEAD + READ + OTHER})
    assert codes(torchlint) == [("x.py", "TL101", 3)], "it did not come from where nobody could look"


@pytest.mark.parametrize("target", ["q", "nowhere"])
def test_what_is_behind_a_link_that_leads_nowhere_is_not_gone(
    write: Write, torchlint: Torchlint, tmp_path: Path, target: str
) -> None:
    write({"p/x.py": HEAD + READ, "q/deep/y.py": HEAD + OTHER})
    torchlint("baseline", "write")
    shutil.rmtree(tmp_path / "q")
    (tmp_path / "q").symlink_to(target)
    stays(torchlint, tmp_path)
    (tmp_path / "q").unlink()
    (tmp_path / "q").write_text("")
    assert torchlint("baseline", "check").code == 1, "below a file there is nothing"


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Run git in a repository with a baseline of two folders."""
    for name in [name for name in os.environ if name.startswith("GIT_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", os.devnull)
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")

    def git(*arguments: str) -> None:
        identity = ("-c", "user.name=x", "-c", "user.email=x@y", "-c", "protocol.file.allow=always")
        subprocess.run(["git", *identity, *arguments], cwd=tmp_path, capture_output=True, check=True)

    git("init", "-q")
    return git


def test_what_is_not_checked_out_is_not_gone(
    repository: Callable[..., None], write: Write, torchlint: Torchlint, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write({"p/x.py": HEAD + READ, "q/deep/y.py": HEAD + OTHER})
    torchlint("baseline", "write")
    repository("add", "-A")
    repository("commit", "-q", "-m", "x")
    repository("sparse-checkout", "set", "p")
    assert not (tmp_path / "q").exists()
    assert stays(torchlint, tmp_path) == ""
    write({"p/x.py": HEAD + READ + OTHER})
    assert codes(torchlint) == [("x.py", "TL101", 3)], "it did not come from what is still there"
    write({"p/x.py": HEAD})
    torchlint("baseline", "prune")
    assert [each["path"] for each in entries(tmp_path)] == ["q/deep/y.py"]
    repository("rm", "-r", "-q", "--sparse", "q")
    torchlint("baseline", "prune")
    assert entries(tmp_path) == []


def test_what_is_in_a_submodule_that_is_not_there_is_not_gone(
    repository: Callable[..., None], write: Write, torchlint: Torchlint, tmp_path: Path
) -> None:
    write({"x.py": HEAD + OTHER})
    repository("add", "-A")
    repository("commit", "-q", "-m", "x")
    repository("submodule", "add", "-q", "./", "sub")
    torchlint("baseline", "write")
    assert [each["path"] for each in entries(tmp_path)] == ["sub/x.py", "x.py"]
    repository("submodule", "deinit", "-q", "--force", "sub")
    assert stays(torchlint, tmp_path) == ""


def test_without_git_nobody_knows_what_is_not_checked_out(
    repository: Callable[..., None], write: Write, torchlint: Torchlint, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write({"x.py": HEAD + READ, "y.py": HEAD + OTHER})
    torchlint("baseline", "write")
    (tmp_path / "y.py").unlink()
    monkeypatch.setenv("PATH", "")
    said = stays(torchlint, tmp_path, exit_codes.INCOMPLETE)
    assert said.startswith("error: y.py: not there; whether it is gone or only not checked out cannot be told: git ")
    monkeypatch.undo()
    monkeypatch.chdir(tmp_path)
    assert torchlint("baseline", "check").code == 1


def test_rules_that_are_off_lose_nothing(write: Write, torchlint: Torchlint, tmp_path: Path) -> None:
    write({"x.py": HEAD + READ})
    torchlint("baseline", "write")
    write({"x.py": HEAD, "torchlint.toml": 'ignore = ["TL101"]'})
    torchlint("baseline", "prune")
    assert len(entries(tmp_path)) == 1
    write({"torchlint.toml": 'exclude = ["x.py"]'})
    torchlint("baseline", "prune")
    assert len(entries(tmp_path)) == 1
    write({"torchlint.toml": ""})
    torchlint("baseline", "prune")
    assert not entries(tmp_path)


def test_what_settings_hide_is_not_gone(write: Write, torchlint: Torchlint, tmp_path: Path) -> None:
    write({"x.py": HEAD + "\n\ndef f(loss):\n    return loss.data[0]\n"})
    torchlint("baseline", "write")
    write({"torchlint.toml": 'min-confidence = "high"\n'})
    assert torchlint("check").out == "No findings in 1 file.\n"
    assert torchlint("baseline", "check").code == 0
    torchlint("baseline", "prune")
    assert len(entries(tmp_path)) == 1


def test_one_that_is_there_is_only_extended(write: Write, torchlint: Torchlint, tmp_path: Path) -> None:
    write({"x.py": HEAD + READ, "y.py": HEAD + READ + OTHER})
    torchlint("baseline", "write", "x.py")
    ran = torchlint("baseline", "write")
    assert ran.code == 2
    assert "only shrinks" in ran.err
    assert torchlint("baseline", "write", "--extend", "--select", "TL2").out == "No new findings: nothing to write.\n"
    assert torchlint("baseline", "write", "--extend").out.startswith("Wrote 2 findings in 1 file")
    assert sum(each["count"] for each in entries(tmp_path)) == 3
    write({"x.py": HEAD + READ + READ})
    torchlint("baseline", "write", "--extend")
    assert sum(each["count"] for each in entries(tmp_path)) == 4
    assert torchlint("check").code == 0


FOREIGN = {
    "nothing": b"",
    "text": b"hello",
    "a list": b"[]",
    "another tool's": b'{"findings": []}',
    "a later version": b'{"tool": "torchlint", "baseline": 2, "findings": []}',
    "no findings": b'{"tool": "torchlint", "baseline": 1}',
    "half an entry": b'{"tool": "torchlint", "baseline": 1, "findings": [{"path": "x.py"}]}',
    "true for one": b'{"tool": "torchlint", "baseline": 1, "findings": [{"path": "x.py", "rule": "TL101", "in": "",'
    b' "statement": "", "count": true, "source": ""}]}',
    "less than nothing": b'{"tool": "torchlint", "baseline": 1, "findings": [{"path": "x.py", "rule": "TL101",'
    b' "in": "", "statement": "", "count": -1, "source": ""}]}',
    "brackets": b"[" * 100_000,
    "no UTF-8": b"\xff\xfe",
}


@pytest.mark.parametrize("content", FOREIGN.values(), ids=FOREIGN)
def test_what_is_no_baseline_is_left_as_it_is(
    content: bytes, write: Write, torchlint: Torchlint, tmp_path: Path
) -> None:
    write({"x.py": HEAD + READ, NAME: content})
    for arguments in (("check",), ("baseline", "write"), ("baseline", "write", "--extend"), ("baseline", "prune")):
        ran = torchlint(*arguments)
        assert (ran.code, ran.out) == (2, ""), arguments
        assert "is not a baseline of torchlint" in ran.err or "is a baseline of version 2," in ran.err
    assert (tmp_path / NAME).read_bytes() == content


def test_a_folder_or_a_source_file_in_its_place(write: Write, torchlint: Torchlint, tmp_path: Path) -> None:
    write({"x.py": HEAD + READ})
    (tmp_path / NAME).mkdir()
    assert torchlint("baseline", "write").code == 2
    assert torchlint("baseline", "write", "--baseline", "x.py", "--extend").code == 2
    assert (tmp_path / "x.py").read_text(encoding="utf-8") == HEAD + READ
    assert torchlint("baseline", "write", "--baseline", "no/such/folder.json").code == 3


def test_where_it_is(write: Write, torchlint: Torchlint, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write({"a/x.py": HEAD + READ, "pyproject.toml": "[tool.torchlint]\n"})
    monkeypatch.chdir(tmp_path / "a")
    torchlint("baseline", "write")
    assert [each["path"] for each in entries(tmp_path)] == ["a/x.py"]
    assert torchlint("check").code == 0
    monkeypatch.chdir(tmp_path)
    assert torchlint("check").code == 0
    write({"pyproject.toml": '[tool.torchlint]\nbaseline = "ci/known.json"\n'})
    ran = torchlint("check")
    assert (ran.code, "torchlint baseline write" in ran.err) == (2, True)
    (tmp_path / "ci").mkdir()
    torchlint("baseline", "write")
    assert [entry.path for entry in baseline.load(str(tmp_path / "ci" / "known.json")).entries] == ["../a/x.py"]
    assert torchlint("check", "a/x.py").code == 0
    assert torchlint("check", "--baseline", "nothing.json").code == 2


def test_without_settings_it_is_at_the_root_of_the_repository(
    write: Write, torchlint: Torchlint, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write({"a/x.py": HEAD + READ, ".git/HEAD": ""})
    monkeypatch.chdir(tmp_path / "a")
    torchlint("baseline", "write")
    assert [each["path"] for each in entries(tmp_path)] == ["a/x.py"]
    assert torchlint("check").code == 0


def test_standard_input_is_held_to_it(write: Write, torchlint: Torchlint) -> None:
    write({"x.py": HEAD + READ})
    torchlint("baseline", "write")
    text = (HEAD + READ + OTHER).encode()
    assert torchlint("check", "-", stdin=text).out.count("TL101 ") == 2
    assert torchlint("check", "-", "--stdin-filename", "x.py", stdin=text).out.count("TL101 ") == 1
    fixed = torchlint("check", "-", "--stdin-filename", "x.py", "--fix", stdin=text)
    assert fixed.out == HEAD + READ + OTHER.replace(".data", ".detach()")


def test_cache_and_processes_make_no_difference(
    write: Write, torchlint: Torchlint, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(scheduler, "WORTH_A_POOL", 1)
    write({f"{name}.py": HEAD + READ + FUNCTION for name in "abcd"})
    torchlint("baseline", "write", "--select", "TL101")
    write({f"{name}.py": HEAD + "\n" + READ + FUNCTION + OTHER for name in "abc"})
    runs = [torchlint("check", *more) for more in (("--no-cache",), (), (), ("-j", "2"), ("-j", "2", "--no-cache"))]
    assert {ran.out for ran in runs} == {runs[0].out}
    assert runs[0].out.endswith("Found 3 findings in 3 files (12 baselined).\n[*] 3 fixable with `--fix`.\n")
    assert ": 4 checked, 0 known" in torchlint("check", "--no-cache", "-v", "--diff").err
    assert torchlint("check", "--fix", "-j", "2").code == 0
    assert torchlint("check").out == torchlint("check", "--no-cache").out


def test_what_two_branches_leave_is_read(tmp_path: Path) -> None:
    def entry(times: int, path: str = "x.py") -> BaselineEntry:
        return BaselineEntry(path, "TL101", "f", "0" * 12, times, "x.data")

    file = tmp_path / NAME
    file.write_text(baseline.text_of([entry(1), entry(2), entry(1, "a.py")]), encoding="utf-8")
    assert baseline.load(str(file)).entries == (entry(1, "a.py"), entry(2))


def test_what_was_changed_by_somebody_else_is_not_overwritten(tmp_path: Path) -> None:
    file = tmp_path / NAME
    empty = Baseline(str(file))
    file.write_text("mine", encoding="utf-8")
    with pytest.raises(OSError, match="exists"):
        baseline.save(empty, [])
    assert file.read_text(encoding="utf-8") == "mine"
    with pytest.raises(OSError, match="changed"):
        baseline.save(Baseline(str(file), content=b"yours"), [])
    assert file.read_text(encoding="utf-8") == "mine"


def test_names_that_are_no_text(tmp_path: Path) -> None:
    entry = BaselineEntry(os.fsdecode(b"\xff.py"), "TL101", "", "0" * 12, 1, "x = '\u202e'")
    file = tmp_path / NAME
    file.write_bytes(baseline.text_of([entry]).encode())
    assert file.read_text(encoding="utf-8").isascii()
    assert baseline.load(str(file)).entries == (entry,)


def test_paths_of_windows(monkeypatch: pytest.MonkeyPatch) -> None:
    known = Baseline("C:\\code\\" + NAME)
    monkeypatch.setattr(os, "sep", "\\")
    monkeypatch.setattr(os.path, "dirname", lambda path: path.rpartition("\\")[0])
    assert known.path_of("C:\\code\\a\\x.py") == "a/x.py"


def test_an_empty_folder_writes_nothing(torchlint: Torchlint, tmp_path: Path) -> None:
    ran = torchlint("baseline", "write")
    assert (ran.code, ran.out) == (0, "No findings: nothing to write.\n")
    assert ran.err.count("no Python files found") == 1
    assert not (tmp_path / NAME).exists()
    assert torchlint("baseline", "check").code == exit_codes.USAGE


def test_a_baseline_in_a_folder_without_python(write: Write, torchlint: Torchlint) -> None:
    write(
        {"x.py": HEAD + "y = torch.load('x')\n", "ci/readme.txt": "", "torchlint.toml": 'baseline = "ci/known.json"\n'}
    )
    for command in ("write", "check", "prune"):
        ran = torchlint("baseline", command)
        assert (ran.code, ran.err) == (0, ""), command


def test_it_survives_a_real_formatter(write: Write, torchlint: Torchlint, tmp_path: Path) -> None:
    text = (
        HEAD
        + "def f(x: torch.Tensor, some_name, another_name):\n"
        + "    values = x.relu().data, {'first': some_name, 'second': another_name, 'third': some_name + another_name + 1}\n"
        + "    if x.relu().data.sum() > some_name and another_name > some_name and another_name is not some_name: return x\n"
        + "    return x.relu().data + some_name + another_name + some_name + another_name + some_name + another_name\n"
    )
    write({"x.py": text})
    torchlint("baseline", "write")
    ran = subprocess.run(
        [sys.executable, "-m", "ruff", "format", "--isolated", "x.py"], cwd=tmp_path, capture_output=True, check=False
    )
    if ran.returncode:
        pytest.skip("there is no formatter")
    assert (tmp_path / "x.py").read_text(encoding="utf-8") != text
    assert torchlint("check").out == "No findings in 1 file (3 baselined).\n"


def test_what_is_in_it_is_shown(write: Write, torchlint: Torchlint, tmp_path: Path) -> None:
    write({"a/x.py": HEAD + READ + FUNCTION, "b.py": HEAD + OTHER})
    torchlint("baseline", "write")
    write({"a/x.py": "this is (", "b.py": ""})
    ran = torchlint("baseline", "show")
    assert (ran.code, ran.err) == (0, "")
    assert ran.out.splitlines() == [
        "a/x.py: TL101: x = torch.ones(3, requires_grad=True).data",
        "a/x.py: TL101 in `Net.forward`, 2 times: total = x.relu().data + 1",
        "b.py: TL101: y = torch.zeros(3, requires_grad=True).data",
        f"4 findings in 2 files in {NAME}: 4 × TL101.",
    ]
    (tmp_path / "a" / "x.py").unlink()
    for asked in (["b.py"], ["./b.py", str(tmp_path / "b.py")]):
        assert torchlint("baseline", "show", *asked).out.splitlines()[1:] == [
            f"1 finding in 1 file in {NAME}: 1 × TL101."
        ]
    assert torchlint("baseline", "show", "a/x.py").out == torchlint("baseline", "show", "a").out, "a file that is gone"
    (tmp_path / "ab").mkdir()
    assert torchlint("baseline", "show", "ab").out == f"0 findings in 0 files in {NAME}.\n"
    ran = torchlint("baseline", "show", "c.py")
    assert (ran.code, ran.err) == (2, f"error: c.py: there is no such path, and {NAME} has nothing of it\n")
    ran = torchlint("baseline", "show", "--baseline", "other.json")
    assert (ran.code, ran.err.split(":")[:2]) == (2, ["error", " there is no baseline other.json"])


def test_sarif_says_what_is_new(write: Write, torchlint: Torchlint) -> None:
    def states(*arguments: str) -> list[tuple[str, str, str | None]]:
        log = json.loads(torchlint("check", "--output-format", "sarif", *arguments).out)
        return [
            (location["artifactLocation"]["uri"], each["ruleId"], each.get("baselineState"))
            for each in log["runs"][0]["results"]
            for location in (each["locations"][0]["physicalLocation"],)
        ]

    write({"a.py": HEAD + READ + OTHER, "n.ipynb": notebook(HEAD, READ)})
    assert {state for *_, state in states()} == {None}
    torchlint("baseline", "write")
    write({"a.py": HEAD + READ + READ + OTHER, "b.py": HEAD + READ, "n.ipynb": notebook(HEAD, OTHER, READ)})
    new = [("a.py", "TL101", "new"), ("b.py", "TL101", "new"), ("n.ipynb", "TL101", "new")]
    assert states() == new, "code scanning shows all that it is given, so the others are not among them"
    assert states("--no-baseline") == [
        ("a.py", "TL101", "unchanged"),
        ("a.py", "TL101", "new"),
        ("a.py", "TL101", "unchanged"),
        ("b.py", "TL101", "new"),
        ("n.ipynb", "TL101", "new"),
        ("n.ipynb", "TL101", "unchanged"),
    ]
    assert {state for *_, state in states("--no-baseline", "--isolated")} == {None}


def test_everything_is_what_it_is_without_a_baseline(write: Write, torchlint: Torchlint, tmp_path: Path) -> None:
    write({"a.py": HEAD + READ + OTHER})
    torchlint("baseline", "write")
    write({"a.py": HEAD + READ + READ + OTHER})
    plain = torchlint("check", "--no-baseline", "--output-format", "concise")
    ran = torchlint("check", "--no-baseline", "--output-format", "concise", "--output-format", "sarif:out.sarif")
    assert ran == plain
    assert "3 findings" in plain.out
    ran = torchlint("check", "--no-baseline", "--fix", "--output-format", "sarif:out.sarif")
    assert ran.out.splitlines()[-1] == "No findings in 1 file (3 fixed)."
    assert ".data" not in (tmp_path / "a.py").read_text(encoding="utf-8")


def test_a_baseline_that_cannot_be_written_is_not_there(
    write: Write, torchlint: Torchlint, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write({"x.py": HEAD + READ})

    def full(descriptor: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(os, "fsync", full)
        ran = torchlint("baseline", "write")
    assert (ran.code, ran.out) == (3, "")
    assert ran.err == f"error: {NAME} could not be written: No space left on device\n"
    assert not (tmp_path / NAME).exists()
    assert torchlint("baseline", "write").code == 0
