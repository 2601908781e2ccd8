"""The files of a new rule: a rule that works, and nothing that is there already is touched."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import Torchlint

from torchlint.cli.new_rule import _RULE
from torchlint.testing import check_documentation

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

Write = Callable[[dict[str, str]], None]


def files(where: Path) -> list[str]:
    return sorted(path.relative_to(where).as_posix() for path in where.rglob("*") if path.is_file())


def test_a_package_of_its_own(torchlint: Torchlint, tmp_path: Path) -> None:
    ran = torchlint("new-rule", "HR001", "no-item", "--package", "house_rules")
    assert (ran.code, ran.err) == (0, "")
    made = ["house_rules/__init__.py", "house_rules/hr001_no_item.py", "pyproject.toml", "tests/test_rules.py"]
    assert files(tmp_path) == made
    assert sorted(line.removeprefix("Made ") for line in ran.out.splitlines()[:-1]) == made
    project = tomllib.loads((tmp_path / "pyproject.toml").read_text(encoding="utf-8"))
    assert project["project"]["entry-points"] == {"torchlint.rules": {"HR": "house_rules"}}
    for file in made:
        if file.endswith(".py"):
            compile((tmp_path / file).read_text(encoding="utf-8"), file, "exec")
    assert torchlint("new-rule", "HR002", "no-print").code == 0
    assert files(tmp_path) == sorted([*made, "house_rules/hr002_no_print.py"])


def test_the_package_is_called_as_the_folder(torchlint: Torchlint, tmp_path: Path) -> None:
    assert torchlint("new-rule", "HR001", "no-item").code == 0
    name = tomllib.loads((tmp_path / "pyproject.toml").read_text(encoding="utf-8"))["project"]["entry-points"]
    package = name["torchlint.rules"]["HR"]
    assert package.isidentifier()
    assert (tmp_path / package / "hr001_no_item.py").exists()


@pytest.mark.parametrize("folder", ["company/checks", "src/company/checks"])
def test_a_project_that_is_there(folder: str, torchlint: Torchlint, tmp_path: Path, write: Write) -> None:
    settings = '[project.entry-points."torchlint.rules"]\nHR = "company.checks"\n'
    write({"pyproject.toml": settings, f"{folder}/hr001_no_item.py": ""})
    assert torchlint("new-rule", "HR002", "no-print").code == 0
    assert files(tmp_path) == sorted([f"{folder}/hr001_no_item.py", f"{folder}/hr002_no_print.py", "pyproject.toml"])


def test_a_rule_of_this_program(torchlint: Torchlint, tmp_path: Path, write: Write) -> None:
    write({"torchlint/rules/__init__.py": "", "pyproject.toml": "[project]\n"})
    ran = torchlint("new-rule", "TL499", "no-item")
    assert ran.code == 0
    assert "tests/test_rules.py -k TL499" in ran.out
    assert files(tmp_path)[-1] == "torchlint/rules/tl499_no_item.py"


WRONG = {
    "no digits": (("HR1", "no-item"), "is no code"),
    "small letters": (("hr001", "no-item"), "capital letters"),
    "one letter": (("H001", "no-item"), "two to eight capital letters"),
    "no prefix": (("0001", "no-item"), "is no code"),
    "too short": (("HR", "no-item"), "is no code"),
    "what is taken": (("TLX001", "no-item"), "begins with `TL`"),
    "no name": (("HR001", "NoItem"), "is no name"),
    "a path": (("HR001", "../no-item"), "is no name"),
    "a keyword": (("HR001", "import"), "is no name"),
    "a name of ours": (("HR001", "data-read"), "TL101 (data-read) is a rule of torchlint"),
    "a code of ours": (("TL101", "no-item"), "TL101 (data-read) is a rule of torchlint"),
    "elsewhere": (("TL499", "no-item"), "root of its repository"),
    "no package": (("HR001", "no-item", "--package", "house-rules"), "is no name of a package"),
}


@pytest.mark.parametrize("what", WRONG)
def test_what_cannot_be(what: str, torchlint: Torchlint, tmp_path: Path) -> None:
    arguments, message = WRONG[what]
    ran = torchlint("new-rule", *arguments)
    assert ran.code == 2
    assert message in ran.err
    assert files(tmp_path) == []


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ("[project]\nname = 'x'\n", 'write [project.entry-points."torchlint.rules"] and HR = "name_of_the_package"'),
        ('[project.entry-points."torchlint.rules"]\nHR = "nowhere"\n', "neither a folder nowhere nor src/nowhere"),
        ("[project\n", "pyproject.toml: "),
        ("project = 1\n", "says nothing of rules with HR"),
    ],
)
def test_a_project_without_such_rules(
    settings: str, message: str, torchlint: Torchlint, tmp_path: Path, write: Write
) -> None:
    write({"pyproject.toml": settings})
    ran = torchlint("new-rule", "HR001", "no-item")
    assert (ran.code, files(tmp_path)) == (2, ["pyproject.toml"])
    assert message in ran.err


def test_nothing_is_overwritten(torchlint: Torchlint, tmp_path: Path, write: Write) -> None:
    write({"tests/test_rules.py": "mine\n"})
    ran = torchlint("new-rule", "HR001", "no-item", "--package", "house_rules")
    assert (ran.code, files(tmp_path)) == (2, ["tests/test_rules.py"])
    assert "tests/test_rules.py is there already" in ran.err


def test_what_is_written_is_a_page() -> None:
    text = _RULE.substitute(method="no_item")
    check_documentation(text.partition('"""')[2].partition('"""')[0])
