"""``torchlint stats``: what is new and what is in the baseline, and how that has become so."""

from __future__ import annotations

import json
import os
import re
import subprocess
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest
from conftest import Torchlint

from torchlint.project import git as git_run
from torchlint.project import history

Write = Callable[[dict[str, str | bytes]], None]
Git = Callable[..., None]

READ = "import torch\nnet = torch.nn.Linear(1, 1)\nx = net.weight.data.sum()\n"
LOAD = "import torch\nstate = torch.load('x')\n"
ENVIRONMENT = {
    **{key: value for key, value in os.environ.items() if not key.startswith("GIT_")},
    **{f"GIT_{who}_{what}": "x@y" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")},
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_NOSYSTEM": "1",
}


@pytest.fixture
def git(tmp_path: Path) -> Git:
    def run(*arguments: str) -> None:
        subprocess.run(["git", *arguments], cwd=tmp_path, env=ENVIRONMENT, check=True, capture_output=True)

    run("init", "--quiet", "--initial-branch=main", ".")
    return run


def plain(lines: str) -> list[str]:
    """Without days, hashes and blanks."""
    lines = re.sub(r"^\d{4}-\d\d-\d\d +[0-9a-f]{9} ", "", lines, flags=re.MULTILINE)
    return [re.sub(" +", " ", line).strip() for line in lines.splitlines()]


def test_now(torchlint: Torchlint, write: Write) -> None:
    write({"a.py": READ})
    assert torchlint("baseline", "write").code == 0
    write({"b.py": LOAD + "y = torch.load('y')  # torchlint: ignore[TL701] mine\n", "c.py": READ})
    ran = torchlint("stats")
    assert (ran.code, ran.err) == (0, "")
    assert plain(ran.out) == [
        "new baseline fixable rule",
        "1 1 2 TL101 data-read",
        "1 0 0 TL701 unsafe-load",
        "",
        "3 findings in 3 files: 2 new, 1 in the baseline, 2 with a safe fix; 1 silenced.",
        "1 warning, 2 infos.",
    ]
    told = json.loads(torchlint("stats", "--output-format", "json", "c.py").out)
    assert told == [
        {"code": "TL101", "name": "data-read", "group": "migration", "new": 1, "baselined": 0, "fixable": 1}
    ]
    clean = torchlint("stats", "--config", 'select=["TL4"]')
    assert clean.out == "0 findings in 3 files: 0 new, 0 in the baseline, 0 with a safe fix; 0 silenced.\n"


def test_history(torchlint: Torchlint, write: Write, git: Git, tmp_path: Path) -> None:
    git("commit", "--allow-empty", "--message", "begin")
    ran = torchlint("stats", "--history")
    assert (ran.code, ran.out) == (2, "")
    way_out = "`torchlint baseline write` makes it, and its commits are the history"
    no_baseline = "there is no baseline .torchlint-baseline.json, in no commit of this branch either"
    assert ran.err == f"error: {no_baseline}: {way_out}\n"
    write({"a.py": READ, "sub/b.py": LOAD + READ.replace("x =", "y ="), ".gitignore": ".torchlint_cache\n"})
    torchlint("baseline", "write")
    assert plain(torchlint("stats", "--history").out)[0] == "now 3 (not committed)"
    git("add", ".")
    git("commit", "--message", "adopt \x1b[31m it")
    write({"a.py": ""})
    torchlint("baseline", "prune")
    git("checkout", "--quiet", "-b", "side")
    git("commit", "--all", "--message", "mend a")
    git("checkout", "--quiet", "main")
    git("commit", "--allow-empty", "--message", "beside it")
    git("merge", "--no-ff", "--message", "merge", "side")
    file = tmp_path / ".torchlint-baseline.json"
    content = file.read_bytes()
    file.write_bytes(b"no JSON")
    git("commit", "--all", "--message", "break it")
    file.write_bytes(content)
    git("commit", "--all", "--message", "mend it")
    write({"c.py": LOAD})
    torchlint("baseline", "write", "--extend")
    ran = torchlint("stats", "--history")
    assert (ran.code, ran.err) == (0, "")
    assert plain(ran.out) == [
        r"3 adopt \x1b[31m it",
        "2 -1 merge [1 × TL101 gone]",
        "now 3 +1 (not committed) [1 × TL701 new]",
        "",
        "From 3 findings to 3 in 3 revisions (+0%).",
    ]
    assert plain(torchlint("stats", "--history", "sub", "a.py").out)[:2] == [
        r"3 adopt \x1b[31m it",
        "2 -1 merge [1 × TL101 gone]",
    ]
    (revision,) = json.loads(torchlint("stats", "--history", "sub", "--output-format", "json").out)
    assert len(revision.pop("commit")) == 40
    assert re.fullmatch(r"\d{4}-\d\d-\d\d", revision.pop("date"))
    assert revision == {"subject": "adopt \x1b[31m it", "findings": 2, "rules": {"TL101": 1, "TL701": 1}}
    assert torchlint("stats", "--history", "nowhere").code == 2
    file.unlink()
    git("commit", "--all", "--message", "no more")
    assert plain(torchlint("stats", "--history").out)[-3:] == [
        "0 -2 no more [1 × TL101, 1 × TL701 gone]",
        "",
        "From 3 findings to 0 in 3 revisions (-100%).",
    ]


def test_history_of_a_baseline_of_another_name(torchlint: Torchlint, write: Write, git: Git) -> None:
    write(
        {"ci/known [1] findings.json": "", "x.py": READ, "torchlint.toml": 'baseline = "ci/known [1] findings.json"\n'}
    )
    Path("ci/known [1] findings.json").unlink()
    torchlint("baseline", "write")
    git("add", ".")
    git("commit", "--message", "adopt")
    assert plain(torchlint("stats", "--history").out)[0] == "1 adopt"


def test_history_of_a_baseline_that_had_other_names(
    torchlint: Torchlint, write: Write, git: Git, tmp_path: Path
) -> None:
    write({"x.py": READ, "sub/y.py": READ})
    torchlint("baseline", "write", "x.py", "--baseline", "first.json")
    git("add", ".")
    git("commit", "--message", "adopt")
    torchlint("baseline", "write", "--extend", "--baseline", "first.json")
    git("commit", "--all", "--message", "extend")
    write({"other.json": "{}", "torchlint.toml": 'baseline = "ci/known.json"\n'})
    git("add", ".")
    git("commit", "--message", "beside it")
    (tmp_path / "ci").mkdir()
    git("checkout", "--quiet", "-b", "side")
    (tmp_path / "first.json").unlink()
    (tmp_path / "other.json").unlink()
    torchlint("baseline", "write")  # all of its paths are others
    git("add", ".")
    git("commit", "--message", "move")
    git("checkout", "--quiet", "main")
    git("merge", "--no-ff", "--message", "merge", "side")
    expected = ["1 adopt", "2 +1 extend [1 × TL101 new]", "", "From 1 finding to 2 in 2 revisions (+100%)."]
    assert plain(torchlint("stats", "--history").out) == expected
    git("config", "log.diffMerges", "combined")
    git("config", "log.follow", "true")
    assert plain(torchlint("stats", "--history").out) == expected
    assert plain(torchlint("stats", "--history", "sub").out) == ["1 extend"]


def test_history_in_a_shallow_clone(torchlint: Torchlint, write: Write, git: Git, tmp_path: Path) -> None:
    write({"x.py": READ})
    torchlint("baseline", "write")
    git("add", ".")
    git("commit", "--message", "adopt")
    git("commit", "--allow-empty", "--message", "more")
    assert torchlint("stats", "--history").err == ""
    git("clone", "--quiet", "--depth=1", f"file://{tmp_path}", "clone")
    os.chdir(tmp_path / "clone")
    ran = torchlint("stats", "--history")
    assert (ran.code, plain(ran.out)[0]) == (0, "1 more")
    assert ran.err.startswith("warning: this clone is shallow")


def test_a_long_history_is_read_part_by_part(
    torchlint: Torchlint, write: Write, git: Git, monkeypatch: pytest.MonkeyPatch
) -> None:
    write({f"{number}.py": READ for number in range(5)})
    for number in range(5):
        torchlint("baseline", "write", *["--extend"][: number > 0], f"{number}.py")
        git("add", ".")
        git("commit", "--message", str(number))
    asked, contents = list[int](), git_run.contents

    def counted(root: str, blobs: Mapping[str, bytes]) -> dict[str, bytes]:
        asked.append(len(blobs))
        return contents(root, blobs)

    monkeypatch.setattr(history, "_AT_ONCE", 2)
    monkeypatch.setattr(git_run, "contents", counted)
    assert len(plain(torchlint("stats", "--history").out)) == 7
    assert asked == [2, 2, 1]


def test_why_git_fails(torchlint: Torchlint, write: Write, git: Git, monkeypatch: pytest.MonkeyPatch) -> None:
    write({"x.py": READ})
    git("config", "core.autocrlf", "true")
    monkeypatch.setenv("LANGUAGE", "de")
    ran = torchlint("check", "--since", "HEAD~3", "x.py")
    assert ran.err == "error: --since: `HEAD~3` is no commit\n"
    git("add", "x.py")
    git("commit", "--message", "x")
    write({"bin/git": "#!/bin/sh\necho 'warning: x' >&2; echo 'fatal: y' >&2; echo 'and z' >&2; exit 128\n"})
    Path("bin/git").chmod(0o755)
    monkeypatch.setenv("PATH", os.path.abspath("bin"), prepend=os.pathsep)
    assert torchlint("check", "--since", "HEAD").err == "error: this is no git repository: fatal: y\n"


def test_settings_of_a_repository_run_nothing(torchlint: Torchlint, write: Write, git: Git, tmp_path: Path) -> None:
    write({"x.py": READ})
    torchlint("baseline", "write")
    git("add", ".")
    git("commit", "--message", "adopt")
    for key, value in {"log.showSignature": "true", "gpg.program": "touch ran", "core.fsmonitor": "touch ran"}.items():
        git("config", key, value)
    assert plain(torchlint("stats", "--history").out)[0] == "1 adopt"
    assert not (tmp_path / "ran").exists()


def test_without_a_repository(torchlint: Torchlint, write: Write) -> None:
    write({"x.py": READ})
    torchlint("baseline", "write")
    ran = torchlint("stats", "--history")
    assert ran.code == 2
    assert ran.err.startswith("error: this is no git repository")
