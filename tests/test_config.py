from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import Torchlint

from torchlint.project.project import Project
from torchlint.project.selection import OWN, Selection, SettingsError, selected
from torchlint.project.settings import DEFAULT_EXCLUDE, Excluded, FileIgnore, FileTarget, Settings, load
from torchlint.rules import catalogue
from torchlint.versions import ANY, Target

Write = Callable[[dict[str, str]], None]

EVERY = frozenset(catalogue())
ALL = frozenset(code for code, info in catalogue().items() if info.by_default)
ON = frozenset({"TL001", "TL003", "TL004"})


def group(prefix: str) -> frozenset[str]:
    return frozenset(code for code in ALL if code.startswith(prefix))


def layer(select: str | None = None, extend: str = "", ignore: str = "") -> Selection:
    return Selection(None if select is None else tuple(select.split()), tuple(extend.split()), tuple(ignore.split()))


# settings file, command line, rules that are on (beside those that are always on)
SELECTED = {
    "everything": (layer(), layer(), ALL),
    "ALL": (layer(), layer("ALL"), EVERY),
    "TL": (layer(), layer("TL"), EVERY),
    "a group": (layer("TL1"), layer(), group("TL1")),
    "a name": (layer("data-read"), layer(), {"TL101"}),
    "the command line selects anew": (layer("TL1", ignore="TL201"), layer("TL2"), group("TL2")),
    "the command line adds": (layer("TL101"), layer(extend="TL2"), {"TL101"} | group("TL2")),
    "adding to everything": (layer(), layer(extend="TL2"), ALL),
    "ignored in the file": (layer(ignore="TL1"), layer(), ALL - group("TL1")),
    "ignored on the command line": (layer("TL1"), layer(ignore="TL101"), group("TL1") - {"TL101"}),
    "the exact one wins": (layer("TL101", ignore="TL1"), layer(), {"TL101"}),
    "a name is exact": (layer("TL1", ignore="data-read"), layer(), group("TL1") - {"TL101"}),
    "ignore wins if equal": (layer("TL1", ignore="TL1"), layer(), frozenset()),
    "the command line wins if equal": (layer(ignore="TL101"), layer(extend="TL101"), ALL),
    "ignore ALL": (layer(), layer(ignore="ALL"), frozenset()),
    "ALL but one": (layer("ALL", ignore="TL101"), layer(), EVERY - {"TL101"}),
    "TL002 on request": (layer(), layer(extend="TL002"), ALL | {"TL002"}),
    "TL002 on request alone": (layer(), layer("TL002"), {"TL002"}),
    "the tool's own": (layer(), layer("TL0"), {"TL002", "TL005"}),
}


@pytest.mark.parametrize(("file", "command_line", "expected"), SELECTED.values(), ids=SELECTED)
def test_selection(file: Selection, command_line: Selection, expected: frozenset[str]) -> None:
    assert selected([file, command_line]) == expected | ON


@pytest.mark.parametrize("selector", ["TL001", "TL00", "syntax-error"])
def test_own_diagnostics_can_only_be_ignored_by_name(selector: str) -> None:
    assert "TL001" not in selected([layer(ignore=selector)])
    assert selected([layer("TL101")]) == {"TL101"} | ON


def test_default_rules_are_all_but_the_opt_in() -> None:
    assert selected([layer()]) == ALL | OWN.keys() - {"TL002", "TL005"}


WRONG = {
    "unknown key": ("slect = []", ["`slect`", "did you mean `select`?"]),
    "unknown key, nothing like it": ("zzz = []", ["unknown key `zzz`"]),
    "no list": ('select = "TL101"', ["`select`", "list of strings"]),
    "no list of strings": ("ignore = [1]", ["`ignore`", "list of strings"]),
    "unknown code": ('select = ["XY999"]', ["`select`", "unknown rule `XY999`", "torchlint rule --all"]),
    "unknown name": ('ignore = ["data-raed"]', ["`ignore`", "`data-raed`", "did you mean `data-read`?"]),
    "wrong case": ('extend-select = ["tl101"]', ["`extend-select`", "did you mean `TL101`?"]),
    "no selector": ('select = [""]', ["unknown rule ``"]),
    "bad pattern": ('exclude = ["!"]', ["`exclude`", "bad pattern `!`"]),
    "bad version": ('target-torch = "new"', ["`target-torch`", '"2.6"']),
    "version as number": ("target-torch = 2.6", ["`target-torch`", '"2.6"']),
    "no table of ignores": ('per-file-ignores = ["a"]', ["`per-file-ignores`", "table"]),
    "bad ignores": ('per-file-ignores = {"a" = "TL101"}', ["`per-file-ignores`", '"a"', "list of strings"]),
    "unknown code of a file": ('per-file-ignores = {"a" = ["X1"]}', ['"a"', "unknown rule `X1`"]),
    "no TOML": ("select = [", ["pyproject.toml: "]),
}


@pytest.mark.parametrize(("toml", "parts"), WRONG.values(), ids=WRONG)
def test_says_what_is_wrong(tmp_path: Path, toml: str, parts: list[str]) -> None:
    file = tmp_path / "pyproject.toml"
    file.write_text(f"[tool.torchlint]\n{toml}\n", encoding="utf-8")
    with pytest.raises(SettingsError) as error:
        load(str(file))
    for part in [str(file), *parts]:
        assert part in str(error.value)


@pytest.mark.parametrize(
    "content",
    [
        b"[tool.ruff]\n",
        b'[project]\ndependencies = ["torchlint"]\n',
        b"tool = 1 # torchlint\n",
        b"this is [ not TOML\n",
        b"\xff\xfe\n",
    ],
)
def test_files_that_do_not_concern_us_are_no_settings(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "pyproject.toml").write_bytes(content)
    assert load(str(tmp_path / "pyproject.toml")) is None
    assert load(str(tmp_path / "missing.toml")) is None


def test_tool_has_to_be_a_table(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text("tool.torchlint = 1", encoding="utf-8")
    with pytest.raises(SettingsError, match="not a table"):
        load(str(tmp_path / "pyproject.toml"))


def test_all_keys(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text(
        """
        [tool.torchlint]
        select = ["TL1"]
        extend-select = ["TL201"]
        ignore = ["TL103"]
        exclude = ["a"]
        extend-exclude = ["b/*.py"]
        per-file-ignores = { "tests/**" = ["TL2", "data-read"] }
        target-torch = "2.6"
        per-file-target-torch = { "old/**" = "1.4" }
        """,
        encoding="utf-8",
    )
    assert load(str(tmp_path / "pyproject.toml")) == Settings(
        root=str(tmp_path),
        file=str(tmp_path / "pyproject.toml"),
        selections=(Selection(("TL1",), ("TL201",), ("TL103",)),),
        excluded=(Excluded(str(tmp_path), ("a",)), Excluded(str(tmp_path), ("b/*.py",))),
        per_file_ignores=(FileIgnore(str(tmp_path), "tests/**", ("TL2", "data-read")),),
        target_torch="2.6",
        per_file_target_torch=(FileTarget(str(tmp_path), "old/**", "1.4"),),
        fixable=(Selection(),),
    )


def test_extend_exclude_adds_to_the_defaults(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text('[tool.torchlint]\nextend-exclude = ["b"]', encoding="utf-8")
    settings = load(str(tmp_path / "pyproject.toml"))
    assert settings is not None
    assert settings.excluded == (Excluded("", DEFAULT_EXCLUDE), Excluded(str(tmp_path), ("b",)))


def test_the_nearest_settings_hold(tmp_path: Path, write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    write(
        {
            "pyproject.toml": '[tool.torchlint]\nselect = ["TL101"]',
            "near/pyproject.toml": '[tool.torchlint]\nselect = ["TL201"]\ntarget-torch = "2.1"',
            "other/pyproject.toml": "[tool.other]",
        }
    )
    monkeypatch.chdir(tmp_path)
    project = Project()
    for directory, code in {"": "TL101", "near": "TL201", "near/x/y": "TL201", "other": "TL101"}.items():
        assert project.codes(os.path.join(tmp_path, directory, "x.py")) == {code} | ON
    assert project.target(str(tmp_path / "near" / "x.py")) == Target((2, 1))
    assert project.target(str(tmp_path / "x.py")) == ANY
    assert project.sources == [str(tmp_path / "near" / "pyproject.toml"), str(tmp_path / "pyproject.toml")]
    assert Project(isolated=True).codes(str(tmp_path / "x.py")) == ALL | ON
    assert Project(Selection(("TL2",))).codes(str(tmp_path / "x.py")) == group("TL2") | ON


# pattern, file, whether the ignores hold for it
PER_FILE = [
    ("tests/**", "tests/a/b.py", True),
    ("tests", "tests/a/b.py", True),
    ("tests", "src/tests/b.py", True),
    ("/tests", "src/tests/b.py", False),
    ("__init__.py", "a/b/__init__.py", True),
    ("__init__.py", "a/b/init.py", False),
    ("a/*.py", "a/b.py", True),
    ("a/*.py", "a/b/c.py", False),
    ("!src/**", "tests/a.py", True),
    ("!src/**", "src/a.py", False),
]


@pytest.mark.parametrize(("pattern", "path", "holds"), PER_FILE)
def test_per_file_ignores(tmp_path: Path, pattern: str, path: str, holds: bool) -> None:
    table = f'[tool.torchlint]\nselect = ["TL1"]\nper-file-ignores = {{ "{pattern}" = ["TL101"] }}'
    (tmp_path / "pyproject.toml").write_text(table, encoding="utf-8")
    codes = Project().codes(os.path.join(tmp_path, path))
    assert codes == (group("TL1") - {"TL101"} if holds else group("TL1")) | ON


@pytest.mark.parametrize(("pattern", "path", "holds"), PER_FILE)
def test_versions_per_file(tmp_path: Path, pattern: str, path: str, holds: bool) -> None:
    table = f'target-torch = "2.6"\nper-file-target-torch = {{ "{pattern}" = "1.4" }}'
    (tmp_path / "torchlint.toml").write_text(table, encoding="utf-8")
    location = os.path.join(tmp_path, path)
    assert Project().target(location) == Target((1, 4) if holds else (2, 6))
    assert Project(target="==2.1").target(location) == Target((2, 1), (2, 1))
    assert Project(isolated=True).target(location) == ANY


def test_of_several_versions_for_a_file_the_last_one_counts(tmp_path: Path) -> None:
    table = '[per-file-target-torch]\n"*.py" = "1.4"\n"/a" = ">=2.1,<2.5"\n"b/x.py" = "2.6"\n'
    (tmp_path / "base.toml").write_text(table, encoding="utf-8")
    nearest = 'extend = "base.toml"\nper-file-target-torch = {"/b" = "1.13"}'
    (tmp_path / "torchlint.toml").write_text(nearest, encoding="utf-8")
    found = {path: Project().target(os.path.join(tmp_path, path)).as_range for path in ("x.py", "a/x.py", "b/x.py")}
    assert found == {"x.py": ">=1.4", "a/x.py": ">=2.1,<=2.4", "b/x.py": ">=1.13"}


def test_a_version_for_some_files_is_none_for_what_is_beside_them(tmp_path: Path) -> None:
    """Directories have no names that a pattern could match."""
    (tmp_path / "torchlint.toml").write_text('per-file-target-torch = { "x" = "1.4" }', encoding="utf-8")
    (tmp_path / "requirements.txt").write_text("torch>=2.1\n", encoding="utf-8")
    project = Project()
    project.learn(str(tmp_path), ["torchlint.toml", "requirements.txt", "a"])
    project.learn(str(tmp_path / "a"), ["y.py"])
    assert project.target(str(tmp_path / "a" / "y.py")) == Target((2, 1))


def test_ignores_of_several_patterns_add_up(tmp_path: Path) -> None:
    table = (
        '[tool.torchlint]\nper-file-ignores = { "a" = ["TL1"], "*.py" = ["variable-wrapper", "TL001"], "b" = ["ALL"] }'
    )
    (tmp_path / "pyproject.toml").write_text(table, encoding="utf-8")
    assert Project().codes(str(tmp_path / "a" / "x.py")) == ALL - group("TL1") - {"TL201"} | ON - {"TL001"}


@pytest.mark.parametrize("asked", [">=2.5,<1.13", "==2.1,<2.0", "٣.١"])
def test_versions_that_none_can_be(asked: str, write: Write, torchlint: Torchlint) -> None:
    write({"x.py": ""})
    ran = torchlint("check", "--target-torch", asked)
    assert (ran.code, ran.out) == (2, "")
    assert "--target-torch" in ran.err
