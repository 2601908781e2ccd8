"""``torchlint new-rule``: the files of a new rule, in this program or in a package of one's own.

What is written is a rule that works: it reports a method that has the rule's name, and its tests pass.
"""

from __future__ import annotations

import keyword
import os
import re
import sys
from dataclasses import dataclass
from string import Template

from torchlint.diagnostic import OWN_PREFIX
from torchlint.rules import BUILT_IN, catalogue
from torchlint.rules.plugins import GROUP, check_prefix
from torchlint.system.reading import SETTINGS, read

_RULE = Template('''\
"""`.$method()` is to be written in another way.

Say here in a sentence or two why that matters.

```diff
 import torch

 x = torch.ones(2)
!y = x.$method()
 z = $method(x)
```

## When the fix is unsafe

There is none yet. See <https://docs.pytorch.org/docs/stable/tensors.html>.
"""

from __future__ import annotations

import libcst as cst

from torchlint.model import Model
from torchlint.rule import Finding, attribute, on


@on(cst.Attribute, trigger=attribute("$method"))
def check(node: cst.Attribute, model: Model) -> Finding | None:
    """Report `.$method` of a tensor."""
    if node.attr.value != "$method" or not model.is_tensor(node.value):
        return None
    return Finding(node.attr, "`.$method()` is to be written in another way", receiver=node.value)
''')

_PROJECT = Template("""\
[build-system]
requires = ["hatchling"]
build-backend = "hatchling.build"

[project]
name = "$name"
version = "0.1.0"
requires-python = ">=3.10"
dependencies = ["torchlint"]

[project.optional-dependencies]
test = ["pytest"]

[project.entry-points."$group"]
$prefix = "$package"

[tool.hatch.build.targets.wheel]
packages = ["$package"]

[tool.pytest.ini_options]
testpaths = ["tests"]
""")

_TEST = Template('''\
"""The blocks in the docstrings of the rules, run as torchlint runs its own."""

import pytest

from torchlint.rules import catalogue
from torchlint.testing import Check, check_documentation, checks

CODES = [code for code in catalogue() if code.startswith("$prefix")]


@pytest.mark.parametrize("check", checks("$prefix"), ids=str)
def test_blocks(check: Check) -> None:
    check()


@pytest.mark.parametrize("code", CODES)
def test_documentation(code: str) -> None:
    check_documentation(catalogue()[code].doc)
''')


class NotMade(ValueError):
    """No file was written; the message says why, and what to do."""


@dataclass(frozen=True, slots=True)
class Made:
    """What was written, and what to do next."""

    files: tuple[str, ...]
    next: str


def make(code: str, name: str, directory: str, package: str | None = None) -> Made:
    """Write the files of a new rule below a directory, which has to be the root of a project, or empty.

    Raises:
        NotMade: the code or the name cannot be, or a file is there already.
        torchlint.rules.plugins.Clash: the code has a prefix that cannot be.
    """
    prefix, digits = code[:-3], code[-3:]
    if not digits.isdecimal() or not digits.isascii() or not prefix.isalpha():
        raise NotMade(f"`{code}` is no code: capital letters and three digits, as in HR001")
    if not re.fullmatch(r"[a-z][a-z0-9]*(-[a-z0-9]+)*", name) or keyword.iskeyword(name):
        raise NotMade(f"`{name}` is no name: words in lower case with hyphens between, as in no-item")
    for known in catalogue().values():
        if code == known.code or name == known.name:
            raise NotMade(f"{known.code} ({known.name}) is a rule of {known.distribution}")
    method = name.replace("-", "_")
    stem = f"{code.lower()}_{method}"
    rule = _RULE.substitute(method=method)
    if prefix == OWN_PREFIX:
        return _in_this_program(directory, stem, code, rule)
    check_prefix(prefix, directory)
    there = _package_of(directory, prefix)
    if there is not None:
        return _written(directory, {f"{there}/{stem}.py": rule}, "python -m pytest")
    name_ = package or re.sub(r"\W+", "_", os.path.basename(os.path.abspath(directory))).lower()
    if not name_.isidentifier():
        raise NotMade(f"`{name_}` is no name of a package: give another one with --package")
    values = {"name": name_.replace("_", "-"), "group": GROUP, "prefix": prefix, "package": name_}
    files = {
        "pyproject.toml": _PROJECT.substitute(values),
        f"{name_}/__init__.py": "",
        f"{name_}/{stem}.py": rule,
        "tests/test_rules.py": _TEST.substitute(values),
    }
    return _written(directory, files, 'python -m pip install -e ".[test]", then python -m pytest')


def _in_this_program(directory: str, stem: str, code: str, rule: str) -> Made:
    folder = os.path.join("torchlint", "rules")
    if not os.path.exists(os.path.join(directory, folder, "__init__.py")):
        raise NotMade(f"codes with {OWN_PREFIX} are rules of {BUILT_IN.distribution}: go to the root of its repository")
    then = f"python -m pytest tests/test_rules.py -k {code}, then python scripts/build_docs.py"
    return _written(directory, {f"torchlint/rules/{stem}.py": rule}, then)


def _package_of(directory: str, prefix: str) -> str | None:
    """The folder with the rules of a prefix, of the project in a directory; None if there is no project yet.

    Raises:
        NotMade: there is a project, and it has no such rules.
    """
    if sys.version_info >= (3, 11):
        import tomllib
    else:
        import tomli as tomllib
    try:
        project = tomllib.loads(read(os.path.join(directory, "pyproject.toml"), SETTINGS).decode("utf-8"))
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as error:
        raise NotMade(f"pyproject.toml: {error}") from None
    package: object = project
    for key in ("project", "entry-points", GROUP, prefix):
        package = package.get(key) if isinstance(package, dict) else None
    if not isinstance(package, str):
        lines = f'[project.entry-points."{GROUP}"] and {prefix} = "name_of_the_package"'
        raise NotMade(f"pyproject.toml says nothing of rules with {prefix}: write {lines}")
    folder = package.replace(".", "/")
    for candidate in (folder, f"src/{folder}"):
        if os.path.isdir(os.path.join(directory, candidate)):
            return candidate
    raise NotMade(f"there is neither a folder {folder} nor src/{folder}")


def _written(directory: str, files: dict[str, str], then: str) -> Made:
    for name in files:
        if os.path.exists(os.path.join(directory, name)):
            raise NotMade(f"{name} is there already")
    for name, text in files.items():
        path = os.path.join(directory, *name.split("/"))
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8", newline="\n") as file:
            file.write(text)
    return Made(tuple(files), then)
