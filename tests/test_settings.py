"""Settings that extend others, settings on the command line, who says what, and the schema of settings files."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import Torchlint

from torchlint.project import foreign, keys, stated
from torchlint.project.schema import schema, text
from torchlint.project.selection import SettingsError, check_selectors
from torchlint.project.settings import load, parse
from torchlint.project.stated import toml

Write = Callable[[dict[str, str]], None]

READ, WRAPPED = "TL101", "TL201"
CODE = """\
import torch
from torch.autograd import Variable

def f(net: torch.nn.Module):
    x = Variable(torch.ones(3))
    return net.weight.data.sum()
"""


def found(torchlint: Torchlint, *arguments: str) -> set[str]:
    ran = torchlint("check", "--output-format", "json", *arguments)
    assert ran.err == ""
    return {f"{Path(each['filename']).parent.name}:{each['code']}" for each in json.loads(ran.out)}


# ---------------------------------------------------------------------- extend

# settings files, what is found in a/b/x.py
EXTENDED = {
    "nothing of its own": ({"torchlint.toml": 'select = ["TL201"]', "a/torchlint.toml": ""}, {WRAPPED}),
    "ignores add up": ({"torchlint.toml": 'ignore = ["TL201"]', "a/torchlint.toml": 'ignore = ["TL101"]'}, set()),
    "select begins anew": (
        {"torchlint.toml": 'select = ["TL1"]\nignore = ["TL201"]', "a/torchlint.toml": 'select = ["TL201"]'},
        {WRAPPED},
    ),
    "the nearer one counts": (
        {"torchlint.toml": 'ignore = ["TL2"]', "a/torchlint.toml": 'extend-select = ["TL2"]'},
        {
            READ,
            WRAPPED,
        },
    ),
    "ignored by the name of ruff": ({"torchlint.toml": "", "a/torchlint.toml": 'extend-ignore = ["TL2"]'}, {READ}),
    "a pyproject.toml": ({"a/torchlint.toml": "", "torchlint.toml": ""}, {READ, WRAPPED}),
    "per file": (
        {"torchlint.toml": 'per-file-ignores = {"/a/b/*" = ["TL101"]}', "a/torchlint.toml": ""},
        {WRAPPED},
    ),
    "per file from where it is written": (
        {"torchlint.toml": 'per-file-ignores = {"/b/*" = ["TL101"]}', "a/torchlint.toml": ""},
        {READ, WRAPPED},
    ),
    "tables add up": (
        {
            "torchlint.toml": 'per-file-ignores = {"/a/b/*" = ["TL101"]}',
            "a/torchlint.toml": 'per-file-ignores = {"/b/*" = ["TL201"]}',
        },
        set(),
    ),
    "exclude of the other": (
        {"torchlint.toml": 'extend-exclude = ["/a/b/x.py"]', "a/b/y.py": "", "a/torchlint.toml": ""},
        set(),
    ),
    "exclude anew": (
        {"torchlint.toml": 'exclude = ["/a/b"]', "a/torchlint.toml": 'exclude = ["c"]'},
        {READ, WRAPPED},
    ),
    "taken back": (
        {"torchlint.toml": 'extend-exclude = ["b"]', "a/torchlint.toml": 'extend-exclude = ["!b"]'},
        {READ, WRAPPED},
    ),
}


@pytest.mark.parametrize(("files", "expected"), EXTENDED.values(), ids=EXTENDED)
def test_extend(files: dict[str, str], expected: set[str], write: Write, torchlint: Torchlint) -> None:
    write({"a/b/x.py": CODE, **files})
    extending = 'extend = "../torchlint.toml"\n' + files["a/torchlint.toml"]
    write({"a/torchlint.toml": extending})
    for path in (".", "a"):
        assert found(torchlint, path) == {f"b:{code}" for code in expected}


def test_a_chain(write: Write, torchlint: Torchlint) -> None:
    write({"x.py": CODE, "torchlint.toml": 'extend = "c/1.toml"\n', "c/1.toml": 'extend = "d/pyproject.toml"'})
    write({"c/d/pyproject.toml": '[tool.torchlint]\nignore = ["TL2"]\nfail-on = "error"\n'})
    ran = torchlint("check", "-v")
    assert (ran.code, "TL201" in ran.out, "TL101" in ran.out) == (0, False, True)
    assert all(f"settings: {Path.cwd() / name}\n" in ran.err for name in ("c/1.toml", "c/d/pyproject.toml"))


CHAINS = {
    "itself": ({"torchlint.toml": 'extend = "torchlint.toml"'}, "torchlint.toml:1: `extend`: "),
    "each other": (
        {"torchlint.toml": 'extend = "b.toml"', "b.toml": '\nextend = "torchlint.toml"'},
        "b.toml:2: `extend`: ",
    ),
    "nothing": ({"torchlint.toml": 'extend = "none.toml"'}, "none.toml is not there"),
    "somebody else's": (
        {"torchlint.toml": 'extend = "a/pyproject.toml"', "a/pyproject.toml": "[tool.ruff]"},
        "says nothing about torchlint",
    ),
    "a wrong one": ({"torchlint.toml": 'extend = "b.toml"', "b.toml": "\nfix = 1\n"}, "b.toml:2: `fix` must be"),
    "no name": ({"torchlint.toml": "extend = 1"}, "torchlint.toml:1: `extend` must be the name of a file"),
    "too many": (
        {"torchlint.toml": 'extend = "0.toml"'} | {f"{n}.toml": f'extend = "{n + 1}.toml"' for n in range(20)},
        "more than 8 files extend each other",
    ),
}


@pytest.mark.parametrize(("files", "message"), CHAINS.values(), ids=CHAINS)
def test_what_cannot_be_extended(files: dict[str, str], message: str, write: Write, torchlint: Torchlint) -> None:
    write({**files, "x.py": ""})
    ran = torchlint("check")
    assert (ran.code, ran.out) == (2, "")
    assert message in ran.err


@pytest.mark.parametrize("content", ["password = 1\n", 'select = ["password"]\n', "password", "\xff", "", None])
@pytest.mark.parametrize("has_link", [False, True])
def test_what_stands_outside_of_the_project_is_not_told(
    content: str | None,
    has_link: bool,
    write: Write,
    torchlint: Torchlint,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    name = "../other.toml" if not has_link else "link.toml"
    write({"project/torchlint.toml": f'extend = "{name}"\n', "project/x.py": CODE, "project/.git/HEAD": ""})
    if has_link:
        (tmp_path / "project" / "link.toml").symlink_to(tmp_path / "other.toml")
    if content is not None:
        write({"other.toml": content})
    monkeypatch.chdir(tmp_path / "project")
    ran = torchlint("check")
    if content == "":
        assert (ran.code, ran.err) == (1, "")
        return
    assert (ran.code, ran.out) == (2, "")
    assert "password" not in ran.err
    assert "outside of the project, is no settings file of torchlint" in ran.err


def test_settings_outside_of_the_project_hold(
    write: Write, torchlint: Torchlint, monkeypatch: pytest.MonkeyPatch
) -> None:
    write({"shared.toml": 'ignore = ["ALL"]', "p/torchlint.toml": 'extend = "../shared.toml"', "p/.git/HEAD": ""})
    write({"p/x.py": CODE})
    assert torchlint("check", "p").code == 0


# ---------------------------------------------------------------------- the command line

FILE = 'select = ["TL101"]\nextend-exclude = ["c"]\n'

# arguments, what is found in a, b and c
GIVEN = {
    "nothing": ([], {"a:TL101", "b:TL101"}),
    "TOML": (["--config", 'select = ["TL201"]'], {"a:TL201", "b:TL201"}),
    "a word": (["--config", "select=TL201"], {"a:TL201", "b:TL201"}),
    "words": (["--config", "select=TL201, data-read"], {"a:TL101", "a:TL201", "b:TL101", "b:TL201"}),
    "several": (["--config", "select=ALL", "--config", "ignore=correctness,TL1,TL2"], set()),
    "a table": (["--config", 'per-file-ignores = {"a/*" = ["TL101"]}'], {"b:TL101"}),
    "in a table": (["--config", 'per-file-ignores."b/*"=["ALL"]'], {"a:TL101"}),
    "options go before it": (["--config", "select=TL201", "--select", "TL101"], {"a:TL101", "b:TL101"}),
    "a file": (["--config", "ci/other.toml"], {"b:TL201", "c:TL201"}),
    "a file and a key": (["--config", "ci/other.toml", "--config", "select=TL101"], {"b:TL101", "c:TL101"}),
    "exclude": (["--exclude", "b"], {"a:TL101"}),
    "exclude anew": (["--config", "exclude=a", "--config", "extend-exclude=!c"], {"b:TL101", "c:TL101"}),
    "exclude more": (["--extend-exclude", "/a", "--extend-exclude", "x.pyi"], {"b:TL101"}),
    "isolated": (["--isolated", "--config", "select=TL201"], {"a:TL201", "b:TL201", "c:TL201"}),
    "ignored": (["--extend-ignore", "TL101"], set()),
    "version": (["--config", "target-torch=2.6"], {"a:TL101", "b:TL101"}),
}


@pytest.mark.parametrize(("arguments", "expected"), GIVEN.values(), ids=GIVEN)
def test_settings_on_the_command_line(
    arguments: list[str], expected: set[str], write: Write, torchlint: Torchlint
) -> None:
    write({f"{name}/x.py": CODE for name in "abc"} | {"torchlint.toml": FILE})
    write({"ci/other.toml": 'select = ["TL201"]\nexclude = ["/a"]\n'})
    for _ in range(2):  # the second time from the cache
        assert found(torchlint, *arguments) == expected


WRONG = {
    "an unknown key": ("selekt=TL1", "--config: unknown key `selekt` (did you mean `select`?)"),
    "a bad value": ("fix=maybe", "--config: `fix` must be true or false"),
    "no key": ("nothing", "--config: `nothing` is neither a settings file nor `KEY=VALUE`"),
    "no key either": ("=1", "--config: before the `=` of `=1` a key is missing"),
    "a key without a name": ('""=1', "--config: unknown key ``"),
    "an item of what is no table": ("select.x=TL1", "--config: unknown key `select.x` (did you mean `select`?)"),
    "several lines": ("select=TL1\nfix=true", "--config: `select`: unknown rule `TL1\\nfix=true`"),
    "a bad pattern": ("exclude=[ab", "--config: `exclude`: bad pattern `[ab`: its `[` is never closed"),
    "extend": ("extend=x.toml", "--config: `extend` stands in settings files"),
    "a file that says nothing": ("pyproject.toml", "pyproject.toml says nothing about torchlint"),
}


@pytest.mark.parametrize(("config", "message"), WRONG.values(), ids=WRONG)
@pytest.mark.parametrize("command", [("check",), ("baseline", "write"), ("config", "--explain", "x.py")])
def test_wrong_settings_on_the_command_line(
    command: tuple[str, ...], config: str, message: str, write: Write, torchlint: Torchlint
) -> None:
    write({"x.py": "", "pyproject.toml": ""})
    ran = torchlint(*command, "--config", config)
    assert (ran.code, ran.out) == (2, "")
    assert ran.err.startswith("error: ")
    assert message in ran.err


# what is given, as it is written in a settings file
SHORT = {
    "target-torch=1.10": 'target-torch = "1.10"',
    "select=TL101, data-read": 'select = ["TL101", "data-read"]',
    "select='TL101'": 'select = ["TL101"]',
    '"select"=TL1': 'select = ["TL1"]',
    'exclude="a,b"': 'exclude = ["a,b"]',
    'exclude="a,b",c': 'exclude = ["\\"a", "b\\"", "c"]',
    "exclude=3": 'exclude = ["3"]',
    "output-format=concise,json:x": 'output-format = ["concise", "json:x"]',
    "output-format=json": 'output-format = ["json"]',
    "severity.TL101=error": 'severity = { TL101 = "error" }',
    "severity.performance='error'": 'severity = { performance = "error" }',
    'per-file-target-torch."a.py"=1.10': 'per-file-target-torch = { "a.py" = "1.10" }',
    "per-file-target-torch.a.py=1.10": 'per-file-target-torch = { "a.py" = "1.10" }',
    "per-file-target-torch.b/*.py=>=1.10,<2.5": 'per-file-target-torch = { "b/*.py" = ">=1.10,<2.5" }',
    "per-file-target-torch.'a=b'='2.1'": 'per-file-target-torch = { "a=b" = "2.1" }',
    'per-file-ignores."*"=TL1': 'per-file-ignores = { "*" = ["TL1"] }',
    "per-file-ignores.*=TL1,TL2": 'per-file-ignores = { "*" = ["TL1", "TL2"] }',
    'per-file-ignores.!src/**=["TL1"]': 'per-file-ignores = { "!src/**" = ["TL1"] }',
    'per-file-ignores={"*" = ["TL1"]}': 'per-file-ignores = { "*" = ["TL1"] }',
    "fix=true": "fix = true",
    "max-file-size=5M": 'max-file-size = "5M"',
}


@pytest.mark.parametrize(("option", "file"), SHORT.items())
def test_quotes_and_brackets_may_be_left_out(option: str, file: str, tmp_path: Path) -> None:
    expected = stated.parse(stated.toml(file), "torchlint.toml", str(tmp_path)).values
    assert stated.of_option("--config", option, str(tmp_path)).values == expected


def test_two_files_for_all(write: Write, torchlint: Torchlint) -> None:
    write({"a.toml": "", "b.toml": "", "x.py": ""})
    assert "a.toml and b.toml cannot both hold" in torchlint("check", "--config", "a.toml", "--config", "b.toml").err
    assert torchlint("check", "--isolated", "--config", "a.toml").code == 2


def test_a_baseline_by_given_settings(write: Write, torchlint: Torchlint) -> None:
    write({"x.py": CODE})
    assert torchlint("baseline", "write", "--config", "select=TL101").out.startswith("Wrote 1 finding ")
    assert found(torchlint) == {f"{Path.cwd().name}:TL201"}


# ---------------------------------------------------------------------- who says so


def test_each_value_has_an_origin(write: Write, torchlint: Torchlint) -> None:
    write(
        {
            "pyproject.toml": '[project]\ndependencies = ["torch>=1.13,<2.5"]\n',
            "base.toml": '# shared\nignore = ["TL2"]\nfail-on = "error"\n[severity]\nTL101 = "info"\n',
            "a/torchlint.toml": 'extend = "../base.toml"\nignore = ["TL103"]\nfail-on = "warning"\nexclude = ["gen"]\n',
            "a/gen/x.py": "",
        }
    )
    ran = torchlint("config", "--explain", "a/gen/x.py", "--config", "fix=true", "--output-format", "json")
    assert (ran.code, ran.err) == (0, "")
    said = json.loads(ran.out)
    assert said["file"] == os.path.join("a", "gen", "x.py")
    assert (said["excluded"], said["ignored"]) == (True, False)
    assert {"TL001", "TL101"} <= set(said["rules"])
    assert {"TL201", "TL103"}.isdisjoint(said["rules"])
    base, own = "base.toml", os.path.join("a", "torchlint.toml")
    values = [(each["key"], each["value"], each["origin"]) for each in said["settings"] if each["origin"] != "default"]
    assert values == [
        ("extend", "../base.toml", f"{own}:1"),
        ("ignore", ["TL2"], f"{base}:2"),
        ("ignore", ["TL103"], f"{own}:2"),
        ("severity", {"TL101": "info"}, f"{base}:4"),
        ("fail-on", "warning", f"{own}:3"),
        ("target-torch", ">=1.13,<=2.4", "pyproject.toml"),
        ("exclude", ["gen"], f"{own}:4"),
        ("fix", True, "--config"),
    ]
    assert {each["key"] for each in said["settings"]} == set(keys.BY_NAME)
    lines = torchlint("config", "--explain", "a/gen/x.py").out.splitlines()
    assert re.sub(" +", " ", lines[3]) == f'ignore ["TL2"] ({base}:2)'
    assert lines[-1] == f"{os.path.join('a', 'gen', 'x.py')} is excluded: it is checked only if it is given by name."


def test_the_version_for_a_file_has_an_origin(write: Write, torchlint: Torchlint) -> None:
    of_files = '[per-file-target-torch]\n"old/*" = "1.4"\n"new.py" = ">=2.1,<2.5"\n'
    write({"torchlint.toml": f'target-torch = "2.0"\n{of_files}', "old/x.py": "", "new.py": "", "y.py": ""})
    said = {}
    for name in ("old/x.py", "new.py", "y.py"):
        lines = (re.sub(" +", " ", line) for line in torchlint("config", "--explain", name).out.splitlines())
        said[name] = next(line for line in lines if line.startswith("target-torch"))
    assert said == {
        "old/x.py": 'target-torch "1.4" (torchlint.toml:2: per-file-target-torch)',
        "new.py": 'target-torch ">=2.1,<2.5" (torchlint.toml:2: per-file-target-torch)',
        "y.py": 'target-torch "2.0" (torchlint.toml:1)',
    }


@pytest.mark.parametrize(
    ("file", "message"),
    [
        ("y.py", "y.py: no such file"),
        ("a/x.py/z.py", "a/x.py/z.py: no such file"),
        ("a", "a: is a directory; name a file"),
    ],
)
def test_what_is_no_file_is_not_explained(file: str, message: str, write: Write, torchlint: Torchlint) -> None:
    write({"a/x.py": ""})
    ran = torchlint("config", "--explain", file)
    assert (ran.code, ran.out) == (2, "")
    assert ran.err.startswith(f"error: --explain: {message}")


def test_what_git_ignores_is_said(write: Write, torchlint: Torchlint) -> None:
    write({".git/HEAD": "", ".gitignore": "gen/\n", "gen/a/x.py": "", "y.py": ""})
    lines = torchlint("config", "--explain", "gen/a/x.py").out.splitlines()
    name = os.path.join("gen", "a", "x.py")
    assert lines[-1] == f"{name} is ignored by git: it is checked only if it is given by name."
    assert "ignored" not in torchlint("config", "--explain", "y.py").out


def test_keys_are_explained(torchlint: Torchlint) -> None:
    assert [line.split()[0] for line in torchlint("config").out.splitlines()] == list(keys.BY_NAME)
    shown = torchlint("config", "fail-on").out
    assert "Value: error, warning or info\n" in shown
    assert 'Default: "info"\n' in shown
    entries = json.loads(torchlint("config", "--output-format", "json").out)
    assert [entry["key"] for entry in entries] == list(keys.BY_NAME)
    ran = torchlint("config", "fial-on")
    assert (ran.code, ran.err) == (2, "error: unknown key `fial-on` (did you mean `fail-on`?)\n")
    assert torchlint("config", "fix", "--schema").code == 2


@pytest.mark.parametrize("key", keys.ALL, ids=lambda key: key.name)
def test_examples_and_defaults_can_be_written(key: keys.SettingKey[object]) -> None:
    parse(toml(f"{key.name} = {key.example}") | {"extend": "x"}, "torchlint.toml")
    table = schema()["properties"]
    assert isinstance(table, dict)
    if "default" in table[key.name]:
        parse(toml(f"{key.name} = {key.default}"), "torchlint.toml")


# ---------------------------------------------------------------------- other tools


def test_keys_of_ruff_are_known() -> None:
    """All there are, but those that mean the same here."""
    asked = [[sys.executable, "-m", "ruff", "config", *section] for section in ([], ["lint"])]
    told = [subprocess.run(command, capture_output=True, text=True, check=True).stdout for command in asked]
    theirs = set(re.findall(r"^([a-z0-9-]+)", "\n".join(told), re.MULTILINE))
    plugins = {name for name in theirs if name.startswith("flake8-")}
    assert len(theirs) > 40
    assert [
        name for name in theirs - plugins - set(keys.BY_NAME) if not foreign.about_key(name, "torchlint.toml")
    ] == []


def test_codes_of_ruff_are_known() -> None:
    command = [sys.executable, "-m", "ruff", "rule", "--all", "--output-format", "json"]
    told = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    codes = [rule["code"] for rule in json.loads(told) if rule["code"]]
    assert len(codes) > 800
    assert [code for code in codes if "ruff" not in foreign.about_selector(code)] == []
    with pytest.raises(SettingsError, match="unknown rule `NPY002` \\(this is ruff's"):
        check_selectors(["NPY002"], "--select")


def test_codes_of_torchfix_are_known() -> None:
    page = (Path(__file__).parents[1] / "docs" / "torchfix.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| (TOR[^|]*) \|[^|]*\| (.*) \|$", page, re.MULTILINE)
    told = {code: tuple(re.findall(r"TL\d+", here)) for codes, here in rows for code in codes.split(", ")}
    assert told == foreign.TORCHFIX
    assert (
        foreign.about_selector("TOR102")
        == " (this is TorchFix's; here: TL701, see https://github.com/torchlint/torchlint/blob/main/docs/torchfix.md)"
    )


ANSWERS = {
    "line-length = 100": "unknown key `line-length` (this is ruff's)",
    "[tool.torchlint.lint]\nselect = []": "unknown key `lint` (a table of ruff's; here all settings stand directly in",
    'target-version = "py310"': "(this is ruff's; `target-torch` is the version of torch here)",
    'per-file-target-version = {"a" = "py310"}': "(this is ruff's; `per-file-target-torch` says it of the version of",
    'disable = ["TL101"]': "unknown key `disable` (write `ignore`)",
}


@pytest.mark.parametrize(("said", "answer"), ANSWERS.items())
def test_keys_of_others_are_answered(said: str, answer: str, write: Write, torchlint: Torchlint) -> None:
    write({"pyproject.toml": f"[tool.torchlint]\n{said}\n", "x.py": ""})
    ran = torchlint("check")
    assert ran.code == 2
    assert answer in ran.err


# ---------------------------------------------------------------------- the schema

GOOD = [
    "",
    *(f"{key.name} = {key.example}" for key in keys.ALL),
    'select = ["ALL", "TL", "TL1", "TL101", "data-read", "security", "HR001", "HR"]',
    'output-format = "sarif:out.sarif"',
    "max-file-size = 0\nmodel-budget = 0",
    'target-torch = ">= 1.13, < 2.5"',
]
BAD = [
    "unknown = 1",
    'select = "TL101"',
    'select = ["TL999"]',
    'ignore = ["data-raed"]',
    "fix = 1",
    'fail-on = "fatal"',
    'severity = { TL101 = "bad" }',
    'severity = { TL999 = "info" }',
    'per-file-ignores = { "a" = "TL101" }',
    'target-torch = "new"',
    'per-file-target-torch = { "a" = "new" }',
    'per-file-target-torch = { "a" = ["2.1"] }',
    'per-file-target-torch = "2.1"',
    'max-file-size = "5G"',
    "max-file-size = -1",
    "model-budget = -1",
    "extend = 1",
    'baseline = ""',
]


def is_read(written: str) -> bool:
    try:
        parse(toml(written), "torchlint.toml")
    except SettingsError as error:
        # rules of other packages that are not installed here
        return "`HR" in str(error)
    return True


@pytest.mark.parametrize("written", [*GOOD, *BAD])
def test_the_schema_says_what_the_program_does(written: str) -> None:
    jsonschema = pytest.importorskip("jsonschema")
    jsonschema.Draft7Validator.check_schema(schema())
    validator = jsonschema.Draft7Validator(schema())
    assert validator.is_valid(json.loads(json.dumps(toml(written)))) is is_read(written) is (written in GOOD)


def test_the_schema_that_is_kept(torchlint: Torchlint) -> None:
    kept = (Path(__file__).parents[1] / "docs" / "torchlint.schema.json").read_text(encoding="utf-8")
    assert text() == kept == torchlint("config", "--schema").out


def test_settings_of_this_project_are_as_the_schema_wants_them() -> None:
    jsonschema = pytest.importorskip("jsonschema")
    file = Path(__file__).parents[1] / "pyproject.toml"
    said = toml(file.read_text(encoding="utf-8"))["tool"]
    assert isinstance(said, dict)
    jsonschema.validate(said["torchlint"], schema())
    assert load(str(file)) is not None
