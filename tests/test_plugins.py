"""Rules in other packages: found by an entry point, selected, silenced, cached and fixed as ours are."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from forked import python

ROOT = Path(__file__).parents[1]

RULE = '''"""`item()` waits for the GPU.

```diff run
 import torch
 x = torch.ones(1)
-y = x.item()
+y = x.detach()
 z = x.sum()
```
"""

import libcst as cst

from {package}.words import MESSAGE
from torchlint import edit
from torchlint.model import Model
from torchlint.rule import Finding, Fix, attribute, on


@on(cst.Attribute, trigger=attribute("item"))
def check(node: cst.Attribute, model: Model) -> Finding | None:
    """Report `item()` of a tensor."""
    if node.attr.value != "item" or not model.is_tensor(node.value):
        return None
    return Finding(node.attr, MESSAGE, Fix("Keep the tensor", (edit.replace(node.attr, "detach"),)))
'''
CODE = "import torch\nx = torch.ones(1)\ny = x.item()\n"
OURS = "import torch\nx = torch.ones(1, requires_grad=True)\nz = x.data * 2\ny = x.item()\n"


class Place:
    """A folder to install packages in, and one to check."""

    def __init__(self, root: Path) -> None:
        self.site, self.project = root / "site", root / "project"
        self.project.mkdir()

    def install(
        self,
        name: str = "house",
        prefix: str = "HR",
        package: str = "house_rules",
        files: dict[str, str] | None = None,
        version: str = "1.2",
        into: Path | None = None,
    ) -> None:
        site = into or self.site
        metadata = site / f"{name}-{version}.dist-info"
        metadata.mkdir(parents=True)
        metadata.joinpath("METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")
        metadata.joinpath("entry_points.txt").write_text(f"[torchlint.rules]\n{prefix} = {package}\n")
        usual = {f"{prefix.lower()}001_no_item.py": RULE, "words.py": 'MESSAGE = "it waits"\n', "__init__.py": ""}
        for file, text in (usual if files is None else files).items():
            path = site.joinpath(*package.split("."), file)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text.replace("{package}", package))

    def write(self, **files: str) -> None:
        for name, text in files.items():
            (self.project / f"{name}.py").write_text(text)

    def environment(self) -> dict[str, str]:
        return {**os.environ, "PYTHONPATH": os.pathsep.join((str(ROOT), str(self.site)))}

    def run(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        return python(["-m", "torchlint", *arguments], self.project, self.environment())

    def codes(self, *arguments: str) -> list[str]:
        ran = self.run("check", "--output-format", "json", *arguments)
        assert ran.returncode in (0, 1), ran.stderr
        return sorted(f"{Path(found['filename']).stem} {found['code']}" for found in json.loads(ran.stdout))


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


def test_they_are_on_and_selected_as_ours_are(place: Place) -> None:
    place.install()
    place.write(a=OURS, b=CODE)
    both = ["a HR001", "a TL101", "b HR001"]
    assert place.codes("--no-cache") == both
    assert place.codes("--no-cache", "-j", "2") == both
    assert place.codes("--no-cache", "--select", "HR") == ["a HR001", "b HR001"]
    assert place.codes("--no-cache", "--select", "no-item,TL1") == both
    assert place.codes("--no-cache", "--ignore", "HR001") == ["a TL101"]
    place.project.joinpath("torchlint.toml").write_text('per-file-ignores = {"b.py" = ["HR"]}\n')
    assert place.codes("--no-cache") == ["a HR001", "a TL101"]


@pytest.mark.parametrize(
    "comment",
    ["# torchlint: ignore[HR001]", "# torchlint: ignore[no-item]", "# noqa: HR001", "# torchlint: ignore[HR]"],
)
def test_they_are_silenced_as_ours_are(comment: str, place: Place) -> None:
    place.install()
    place.write(a=CODE.replace("item()", f"item()  {comment}"), b="import torch\n")
    assert place.codes("--no-cache", "--extend-select", "TL002") == []


def test_a_malformed_comment_about_one_is_reported(place: Place) -> None:
    place.install()
    place.write(a=CODE.replace("item()", "item()  # torchlint: ignore HR001"))
    ran = place.run("check", "--no-cache", "--output-format", "concise", "-q")
    assert "write `# torchlint: ignore[HR001]`" in ran.stdout
    assert "HR001 [" not in ran.stdout, "it silences what it names"


def test_they_are_fixed(place: Place) -> None:
    place.install()
    place.write(a=OURS)
    assert place.run("check", "--fix", "--no-cache").returncode == 0
    fixed = OURS.replace("x.item()", "x.detach()").replace("x.data", "x.detach()")
    assert place.project.joinpath("a.py").read_text() == fixed


def test_they_are_explained(place: Place) -> None:
    place.install()
    assert "-y = x.item()" in place.run("rule", "no-item").stdout
    assert "HR001 no-item (house 1.2)" in place.run("rule", "--all").stdout
    entry = json.loads(place.run("rule", "HR001", "--output-format", "json").stdout)
    assert (entry["name"], entry["summary"], entry["url"]) == ("no-item", "`item()` waits for the GPU.", None)


def test_one_in_an_inner_package_is_off_if_it_says_so(place: Place) -> None:
    rule = RULE.replace("\n\n@on", "\n\nBY_DEFAULT = False\n\n\n@on")
    place.install(package="company.checks.torch", files={"hr007_no_item.py": rule, "words.py": "MESSAGE = 'm'\n"})
    place.write(a=CODE)
    assert place.codes("--no-cache") == []
    assert place.codes("--no-cache", "--select", "HR007") == ["a HR007"]


# --------------------------------------------------------------------- what is wrong with them


def one_wrong(place: Place, returncode: int) -> str:
    """What the only message says."""
    place.write(a=OURS, b=OURS)
    ran = place.run("check", "--no-cache", "-q", "--output-format", "concise")
    assert ran.returncode == returncode, ran.stderr
    assert ran.stderr.count("error: ") == 1, ran.stderr
    assert ("TL101" in ran.stdout) == (returncode == 3), "other rules find what they find"
    return ran.stderr


CLASHES: dict[str, Callable[[Place], None]] = {
    "house 1.2 and other 1.2 both have rules": lambda place: place.install("other", package="others"),
    "house 1.2 and other 1.2 both have rules, with the prefixes `HR` and `HRX`": lambda place: place.install(
        "other", "HRX", "others"
    ),
    "house 1.2 and other 1.2 both have a rule with the name `no-item`": lambda place: place.install(
        "other", "XY", "others"
    ),
    "torchlint and other 1.2 both have a rule with the name `data-read`": lambda place: place.install(
        "other", "XY", "others", {"__init__.py": "", "xy001_data_read.py": RULE}
    ),
    "other 1.2: the prefix `TLX` of its rules begins with `TL`": lambda place: place.install("other", "TLX", "others"),
    "other 1.2: the prefix `xy` of its rules must be": lambda place: place.install("other", "xy", "others"),
}


@pytest.mark.parametrize("message", CLASHES)
def test_clashes(message: str, place: Place) -> None:
    place.install()
    CLASHES[message](place)
    assert message in one_wrong(place, 2)
    explained = place.run("rule", "--all")
    assert (explained.returncode, explained.stdout) == (2, "")
    assert message in explained.stderr


FAULTS = {
    "there is no package `house_rules`": None,
    "in `house_rules` is no rule": {"__init__.py": "", "no_item.py": RULE},
    "`hr001_no_item.py` cannot be read, so its findings are missing": {
        "__init__.py": "",
        "hr001_no_item.py": RULE.replace('attribute("item")', '".item"'),
    },
}


@pytest.mark.parametrize("message", FAULTS)
def test_faults_cost_only_their_own_findings(message: str, place: Place) -> None:
    files = FAULTS[message]
    place.install(files=files or {})
    assert f"house 1.2: {message}" in one_wrong(place, 3)


@pytest.mark.parametrize(
    ("file", "text", "message"),
    [
        ("hr1_other.py", RULE, "`hr1_other.py` is not taken for a rule: its name is not like hr001_name.py"),
        ("HR002_other.py", RULE, "`HR002_other.py` is not taken for a rule"),
        ("hr002_other.py", "def f(:\n", "`hr002_other.py` cannot be read, so its findings are missing: "),
        ("hr002_other.py", "x = 1\n", "`hr002_other.py` cannot be read, so its findings are missing: "),
    ],
)
def test_a_wrong_file_costs_nothing_of_the_others(file: str, text: str, message: str, place: Place) -> None:
    place.install()
    place.site.joinpath("house_rules", file).write_text(text)
    assert f"house 1.2: {message}" in one_wrong(place, 3)
    assert "HR001" in place.run("check", "--no-cache", "-q").stdout


BROKEN = {
    "ModuleNotFoundError": "import no_such_module\n",
    "SyntaxError": "def f(:\n",
    "ZeroDivisionError": "1 / 0\n",
    "SystemExit": "raise SystemExit(1)\n",
}


@pytest.mark.parametrize("what", BROKEN)
def test_one_that_cannot_be_loaded_costs_only_its_own_findings(what: str, place: Place) -> None:
    place.install(files={"__init__.py": "", "hr001_no_item.py": RULE, "words.py": BROKEN[what]})
    message = one_wrong(place, 3)
    assert "house 1.2: HR001 cannot be loaded, so its findings are missing" in message
    assert what in message
    assert "error: house" in place.run("check", "--no-cache", "-j", "2").stderr
    verbose = place.run("check", "--no-cache", "-v", "--select", "HR").stderr
    assert verbose.count("Traceback") == 1
    place.site.joinpath("house_rules/words.py").write_text('MESSAGE = "mended"\n')
    assert place.codes() == ["a HR001", "a TL101", "b HR001", "b TL101"]


def test_one_that_raises_does_too(place: Place) -> None:
    place.install(
        files={"__init__.py": "", "hr001_no_item.py": RULE.replace("    if node.attr", "    1 / 0\n    if node.attr")}
        | {"words.py": "MESSAGE = ''\n"}
    )
    place.write(a=OURS)
    ran = place.run("check", "--no-cache", "-q", "--output-format", "concise")
    assert (ran.returncode, "TL101" in ran.stdout) == (3, True)
    assert "a.py:2: HR001 raised ZeroDivisionError: division by zero (house_rules/hr001_no_item.py:" in ran.stderr
    assert "please report it to the authors of house" in ran.stderr


# --------------------------------------------------------------------- the cache, and what is read when


def test_the_cache_follows_their_files(place: Place) -> None:
    place.install()
    place.write(a=CODE)

    def cached() -> bool:
        ran = place.run("check", "-v", "--output-format", "concise")
        assert ran.returncode == 1, ran.stderr
        return "1 known from the cache" in ran.stderr

    assert [cached(), cached()] == [False, True]
    words = place.site / "house_rules" / "words.py"
    words.write_text('MESSAGE = "it waits long"\n')  # as an editable package changes: the version stays
    assert "it waits long" in place.run("check", "--output-format", "concise").stdout
    assert cached()
    (place.site / "house_rules" / "inner").mkdir()
    (place.site / "house_rules" / "inner" / "table.toml").write_text("a = 1\n")
    assert [cached(), cached()] == [False, True]
    (place.site / "house-1.2.dist-info" / "METADATA").write_text("Metadata-Version: 2.1\nName: house\nVersion: 1.3\n")
    assert [cached(), cached()] == [False, True]
    (place.site / "house-1.2.dist-info" / "entry_points.txt").unlink()
    assert place.run("check").returncode == 0


def imported(ran: subprocess.CompletedProcess[str]) -> set[str]:
    return {line.rpartition("|")[2].strip() for line in ran.stderr.splitlines() if line.startswith("import time:")}


@pytest.mark.parametrize("arguments", ["--version", "check --help", "check clean.py", "check flagged.py"])
def test_they_are_imported_when_they_could_find_something(arguments: str, place: Place) -> None:
    place.install()
    place.write(clean="import torch\nx = torch.ones(1)\n", flagged=CODE)
    command = [sys.executable, "-X", "importtime", "-m", "torchlint", *arguments.split()]
    names = imported(
        subprocess.run(command, cwd=place.project, env=place.environment(), capture_output=True, text=True, check=False)
    )
    assert "torchlint" in names
    assert ("house_rules.words" in names) == ("flagged" in arguments)
    assert ("importlib.metadata" in names) == arguments.endswith(".py")


def test_nothing_of_the_working_directory_is_taken(place: Place) -> None:
    """`python -m torchlint` looks there for modules; what is checked may hold anything."""
    place.install(into=place.project)
    place.write(a=CODE)
    assert place.codes("--no-cache", "a.py") == []


def test_their_docstrings_are_tested_as_ours_are(place: Place) -> None:
    place.install()
    test = (
        "import pytest\nfrom torchlint.testing import checks\n"
        "@pytest.mark.parametrize('check', checks('HR'), ids=str)\ndef test_rules(check):\n    check()\n"
    )
    place.write(test_rules=test)
    command = [sys.executable, "-m", "pytest", "-q", "--tb=line", "-p", "no:cacheprovider"]
    ran = subprocess.run(
        command, cwd=place.project, env=place.environment(), capture_output=True, text=True, check=False
    )
    assert "1 failed, 3 passed" in ran.stdout, ran.stdout
    assert "requires_grad" not in ran.stdout
    assert "type 'float' became 'Tensor'" in ran.stdout, "what the fix changes is shown"


def test_a_file_that_cannot_be_read_fails_their_tests(place: Place) -> None:
    place.install()
    place.site.joinpath("house_rules", "hr002_other.py").write_text("def f(:\n")
    ran = python(["-c", "from torchlint.testing import checks; checks('HR')"], place.project, place.environment())
    assert ran.returncode == 1
    assert "LookupError: house 1.2: `hr002_other.py` cannot be read, so its findings are missing: " in ran.stderr
