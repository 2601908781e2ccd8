"""What is asked of a large project costs each file the same, however many files there are."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import Torchlint

from torchlint.model.codebase import heirs, importers, python_trees
from torchlint.model.codebase.modules import Codebase
from torchlint.model.codebase.python_trees import PythonTrees

Write = Callable[[dict[str, str]], Path]

BASE = """\
import torch
from torch import nn


class Base(nn.Module):
    def state(self):
        return torch.zeros(3)

    def forward(self, x):
        h = self.state()
        return x + h.data
"""
HEIR = """\
from base import Base


class Heir{0}(Base):
    def extra{0}(self, x):
        return x
"""


@pytest.mark.parametrize(("heirs", "fixed"), [(60, "return x + h\n"), (200, "return x + h.data\n")])
def test_classes_that_derive_from_one(
    heirs: int, fixed: str, write: Write, torchlint: Torchlint, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []
    member = Codebase.member

    def counted(self: Codebase, path: str, *rest: object) -> object:
        asked.append(path)
        return member(self, path, *rest)  # type: ignore[arg-type]

    monkeypatch.setattr(Codebase, "member", counted)
    files = {f"heir{number}.py": HEIR.format(number) for number in range(heirs)}
    write({"pyproject.toml": "[tool.torchlint]\n", "base.py": BASE, **files})
    torchlint("check", "--fix", "--no-cache", "-j1", "base.py")
    assert fixed in (tmp_path / "base.py").read_text()
    assert len(set(asked)) <= 64


def test_trees_are_kept_while_there_is_room(write: Write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(python_trees, "_ROOM", 40)
    write({f"a{number}.py": "x = 1\n" * 3 for number in range(5)})
    paths = [str(tmp_path / f"a{number}.py") for number in range(5)]
    trees = PythonTrees()
    first, last = trees.of(paths[0]), [trees.of(path) for path in paths][-1]
    assert trees.of(paths[-1]) is last
    assert trees.of(paths[0]) is not first
    assert trees.of(str(tmp_path / "a.txt")) is None


NESTED = """\
import torch
from torch import nn
from base import Base


def main():
    class Nested(Base):
        def state(self):
            return nn.Linear(3, 3)(torch.ones(3))

    return Nested()(torch.ones(3))
"""
USING = """\
from torch.autograd import Variable
from base import Base


def use(base: Base):
    return Variable(base.state())
"""


def test_a_class_in_a_function_of_another_file(write: Write, torchlint: Torchlint, tmp_path: Path) -> None:
    using = {f"use{number}.py": USING for number in range(3)}
    write({"pyproject.toml": "[tool.torchlint]\n", "base.py": BASE, "nested.py": NESTED, **using})
    ran = torchlint("check", "--fix", "--no-cache", "-j1", "--exit-zero")
    assert (ran.code, ran.err) == (0, "")
    for name in using:
        assert "return base.state().detach()\n" in (tmp_path / name).read_text()


OPEN = """\
from base import Base
from torch import nn


def mixed(parent):
    class Mixed(parent):
        def state(self):
            return nn.Linear(3, 3)(super().state())

    return Mixed


mixed({0})
"""


def test_what_is_given_to_something_is_found_once_for_all_classes(
    write: Write, torchlint: Torchlint, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    read: list[bytes] = []
    handed_over = heirs.handed_over

    def counted(data: bytes) -> set[bytes]:
        read.append(data)
        return handed_over(data)

    monkeypatch.setattr(importers, "handed_over", counted)
    names = [f"C{number}" for number in range(20)]
    many = BASE + "".join(BASE[BASE.index("\n\n") :].replace("Base", name) for name in names)
    write({"pyproject.toml": "[tool.torchlint]\n", "base.py": many, "open.py": OPEN.format("C7")})
    torchlint("check", "--fix", "--no-cache", "-j1", "base.py")
    fixed = (tmp_path / "base.py").read_text()
    assert (fixed.count("return x + h\n"), fixed.count("return x + h.data\n")) == (20, 1)
    assert 0 < len(read) <= 2
