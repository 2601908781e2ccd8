"""Patterns of settings, as people write them."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import Torchlint

from torchlint.project import gitignore
from torchlint.project.globs import of_settings

Write = Callable[[dict[str, str]], None]

# what is written in the settings of /r, as git has it
MEANT = [
    ("build", "build"),
    ("build/", "build/"),
    ("*_pb2.py ", "*_pb2.py"),
    ("/pkg", "/pkg"),
    ("./pkg", "/pkg"),
    ("./pkg/sub/", "/pkg/sub/"),
    ("!./pkg/x.py", "!/pkg/x.py"),
    ("pkg/./sub//x", "pkg/sub/x"),
    ("pkg/../other", "/other"),
    (r"pkg\sub", "pkg/sub"),
    ("pkg\\sub\\", "pkg/sub/"),
    (r".\pkg\x_1.py", "/pkg/x_1.py"),
    (r"\#a\ b\[1]", r"\#a\ b\[1]"),
    (r"a\\b", r"a\\b"),
    ("/r/pkg/*.py", "/pkg/*.py"),
    ("/r/x.py", "/x.py"),
    ("!/r/x.py", "!/x.py"),
]


@pytest.mark.skipif(os.name == "nt", reason="absolute paths are others")
@pytest.mark.parametrize(("written", "pattern"), MEANT)
def test_meant(written: str, pattern: str) -> None:
    assert of_settings(written, "/r") == (pattern, "")


DOUBTFUL = [
    ("", "it is empty"),
    (".", "the folder of the settings itself"),
    ("./", "the folder of the settings itself"),
    ("/r/", "the folder of the settings itself"),
    ("../x", "outside of /r"),
    ("a/../../x", "outside of /r"),
    (r"C:\project\x.py", "outside of /r"),
    ("/usr/lib/x.py", "no `usr`"),
    ("{a,b}.py", "braces"),
    (r"pkg\*.py", "write `/`"),
]


@pytest.mark.skipif(os.name == "nt", reason="absolute paths are others")
@pytest.mark.parametrize(("written", "doubt"), DOUBTFUL)
def test_doubtful(written: str, doubt: str) -> None:
    assert doubt in of_settings(written, "/r").doubt


def test_too_many(write: Write, torchlint: Torchlint, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gitignore, "MOST", 2)
    write({"torchlint.toml": "exclude = ['a*b', 'c', 'd/e',\n'*.f', 'g*h',\n'i*j']\n", "x.py": ""})
    ran = torchlint("check")
    assert ran.code == 2
    assert "torchlint.toml:3: `exclude`: bad pattern `i*j`: there are more than 2 patterns" in ran.err


SPELLINGS = ("pkg/sub", "./pkg/sub", "pkg\\sub", "pkg/sub/", "./pkg/sub/", "{root}/pkg/sub", "{root}/pkg/sub/")
CODE = "import torch\nx = torch.ones(3).data\n"


@pytest.mark.parametrize("spelling", SPELLINGS)
@pytest.mark.parametrize(
    "key", ["exclude = ['{}']", "extend-exclude = ['{}']", "per-file-ignores = {{ '{}' = ['TL101'] }}"]
)
def test_spellings(key: str, spelling: str, write: Write, torchlint: Torchlint, tmp_path: Path) -> None:
    setting = key.format(spelling.format(root=tmp_path))
    write({"pyproject.toml": f"[tool.torchlint]\n{setting}\n", "pkg/sub/x.py": CODE, "pkg/y.py": CODE})
    ran = torchlint("check", "--output-format", "concise", "--quiet")
    assert [line.partition(":")[0] for line in ran.out.splitlines()] == [os.path.join("pkg", "y.py")]
    assert ran.err == ""


def test_what_matches_nothing_is_a_warning_with_its_line(write: Write, torchlint: Torchlint, tmp_path: Path) -> None:
    toml = "[tool.torchlint]\nper-file-ignores = { '../x' = ['TL101'] }\nextend-exclude = [\n  '{a,b}.py',\n]\n"
    write({"pyproject.toml": toml, "x.py": ""})
    file = tmp_path / "pyproject.toml"
    for command in ("check", "infer .", "upgrade --from 1.0"):
        ran = torchlint(*command.split())
        assert ran.code == 0
        assert ran.err.splitlines() == [
            f"warning: {file}:2: [tool.torchlint]: `per-file-ignores`: `../x` matches nothing: "
            f"it is outside of {tmp_path}, where patterns begin",
            f"warning: {file}:4: [tool.torchlint]: `extend-exclude`: `{{a,b}}.py` matches nothing: "
            "braces mean themselves; write one pattern for each alternative",
        ]
    assert torchlint("check", "--quiet").err == torchlint("check").err
    assert torchlint("check", "--silent").err == ""
