"""Files whose names are no UTF-8, or that the system takes for something else, are checked and fixed like any other."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from urllib.parse import quote

import pytest
from forked import ROOT, python

if os.name != "posix":
    pytest.skip("names of files are text here", allow_module_level=True)

USUAL: dict[str, str] = {"PYTHONUTF8": "1"}
LEGACY = {"PYTHONUTF8": "0", "LC_ALL": "C", "PYTHONCOERCECLOCALE": "0"}
"""Settings under which Python takes names of files for ASCII."""

CODE = b"import torch\nfrom torch.autograd import Variable\n\n\ndef f(x):\n    return Variable(x)\n"
FIXED = b"import torch\n\n\ndef f(x):\n    return x.detach()\n"
NAMES = (b"good.py", b"n\xc3\xa9.py", b"bad\xff.py", b"d\xc3\xa9\xff/in.py")


@pytest.fixture(params=[USUAL, LEGACY], ids=["usual", "legacy"])
def environment(request: pytest.FixtureRequest) -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(ROOT), **request.param}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("torchlint.toml").touch()
    try:
        for name in NAMES:
            os.makedirs(os.path.dirname(name) or b".", exist_ok=True)
            put(name, CODE)
    except OSError as error:
        pytest.skip(f"the file system takes no such name: {error}")
    return tmp_path


def put(name: bytes, data: bytes) -> None:
    with open(name, "wb") as file:
        file.write(data)


def content(name: bytes) -> bytes:
    with open(name, "rb") as file:
        return file.read()


def ran(environment: dict[str, str], *arguments: str | bytes) -> tuple[int, bytes]:
    """The exit code and what was printed; no error may be."""
    done = python(["-m", "torchlint", *map(os.fsdecode, arguments)], Path.cwd(), environment)
    assert "error" not in done.stderr.lower()
    return done.returncode, os.fsencode(done.stdout)


def git(*arguments: str) -> None:
    subprocess.run(["git", "-c", "user.name=a", "-c", "user.email=a", *arguments], check=True, capture_output=True)


@pytest.mark.parametrize("options", [(), ("--no-cache",), ("-j2", "--no-cache")], ids=" ".join)
def test_all_are_checked_alike(options: tuple[str, ...], folder: Path, environment: dict[str, str]) -> None:
    for _ in range(2):  # the second time from the cache, if there is one
        code, printed = ran(environment, "check", "--output-format", "json", *options)
        found: dict[str, list[str]] = {}
        for each in json.loads(printed):
            found.setdefault(each["filename"], []).append(each["code"])
        assert code == 1
        assert list(found.values()) == [["TL201", "TL201"]] * len(NAMES)


def test_fixes(folder: Path, environment: dict[str, str]) -> None:
    assert ran(environment, "check", "--fix")[0] == 0
    assert {content(name) for name in NAMES} == {FIXED}


def test_a_patch_has_the_names(folder: Path, environment: dict[str, str]) -> None:
    code, patch = ran(environment, "check", "--diff")
    assert code == 1
    git("init", "-q")
    subprocess.run(["git", "apply"], input=patch, check=True)
    assert {content(name) for name in NAMES} == {FIXED}


def test_comments(folder: Path, environment: dict[str, str]) -> None:
    assert ran(environment, "check", "--add-ignore")[0] == 0
    assert {content(name).count(b"ignore[TL201]") for name in NAMES} == {2}
    assert ran(environment, "check")[0] == 0


def test_a_baseline(folder: Path, environment: dict[str, str]) -> None:
    for arguments in (["baseline", "write"], ["check"], ["baseline", "check"], ["baseline", "show"], ["stats"]):
        assert ran(environment, *arguments)[0] == 0
    for name in NAMES:
        put(name, FIXED)
    assert ran(environment, "baseline", "prune")[0] == 0
    assert json.loads(content(b".torchlint-baseline.json"))["findings"] == []


def test_what_git_knows(folder: Path, environment: dict[str, str]) -> None:
    git("init", "-q")
    git("add", "-A")
    git("commit", "-qm", "a")
    for name in NAMES:
        put(name, CODE + b"torch.load(x)\n")
    code, printed = ran(environment, "check", "--since", "HEAD", "--output-format", "concise")
    assert (code, printed.count(b"TL701"), printed.count(b"TL201")) == (1, len(NAMES), 0)
    git("add", "-A")
    code, printed = ran(environment, "check", "--staged", "--output-format", "concise")
    assert (code, printed.count(b"TL701"), printed.count(b"TL201")) == (1, len(NAMES), 0)


def test_other_commands(folder: Path, environment: dict[str, str]) -> None:
    for name in NAMES:
        assert b"x:" in ran(environment, "infer", name + b":6")[1]
        assert ran(environment, "check", "--output-format", "concise", name)[0] == 1
    assert ran(environment, "clean")[0] == 0


@pytest.mark.parametrize("importer", [b"other.py", b"bad\xfe.py", b"other.ipynb"])
def test_what_others_take_stays(importer: bytes, folder: Path, environment: dict[str, str]) -> None:
    """Also where one of the two has a name that the system takes for another one."""
    line = "from né import Variable"
    cell: dict[str, object] = {
        "cell_type": "code",
        "metadata": {},
        "execution_count": None,
        "outputs": [],
        "source": [line],
    }
    notebook = json.dumps({"cells": [cell], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}, ensure_ascii=False)
    put(importer, (notebook if importer.endswith(b"ipynb") else f"{line}\n").encode())
    ran(environment, "check", "--fix", "--no-cache")
    assert b"import Variable" in content("né.py".encode())
    assert content(b"good.py") == FIXED


def test_what_is_ignored(folder: Path, environment: dict[str, str]) -> None:
    git("init", "-q")
    put(b".gitignore", b"n\xc3\xa9.py\nbad\xff.py\n")
    ran(environment, "check", "--fix")
    assert [content(name) for name in NAMES] == [FIXED, CODE, CODE, FIXED]


SERVED = r"""
import sys
from torchlint.server.locations import location_of
from torchlint.system.importable import module_name as _stem
location = location_of(sys.argv[1], "/")
open(location, "rb").close()
print(ascii(_stem(location)), ascii(_stem("/n\u00e9.py")), ascii(_stem("/n\ud83d.py")))
"""


def test_what_an_editor_names(folder: Path, environment: dict[str, str]) -> None:
    for name in NAMES:
        uri = f"file://{quote(os.fsencode(folder) + b'/' + name)}"
        done = subprocess.run([sys.executable, "-c", SERVED, uri], check=True, capture_output=True, env=environment)
        stem = os.path.basename(name).partition(b".")[0].decode(errors="surrogateescape")
        assert done.stdout.decode().split() == [ascii(stem), ascii("né"), ascii("n\udced\udca0\udcbd")]
