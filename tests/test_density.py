"""Files of small dense statements cost more than their size says: how many there may be is limited as well."""

from __future__ import annotations

from pathlib import Path

import pytest
from conftest import Torchlint

from torchlint.file.text.density import excess
from torchlint.system.limits import FILE_SIZE, PARTS, STATEMENTS, Limits

HEAD = "import torch\nb = torch.rand(3)\nx = b.data\n"
SMALL = Limits(file_size=FILE_SIZE)

TEXTS = {
    "statements": ("a = 1\n" * 3, 3, 6),
    "on one line": ("a = 1; b = 2; c\n", 3, 5),
    "without a last newline": ("a = 1\nb", 1, 3),
    "empty lines and comments": ("a\n\n\n  # b = 1; c\n\nd\n", 2, 2),
    "over lines": ("a = [\n  1,\n  2,\n]\n", 1, 4),
    "strings": ('"""a\nb; c\n"""\nx = "a;b" \'\\\'\'\n', 2, 4),
    "brackets": ("f(a)[b]{}\n", 1, 6),
    "that are not closed": ("f((\na\n", 0, 4),
    "that are not opened": ("a))\nb\n", 2, 2),
}


@pytest.mark.parametrize("name", TEXTS)
def test_what_is_counted(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    text, statements, parts = TEXTS[name]
    for given, is_too_many in ((statements, False), (statements - 1, True)):
        monkeypatch.setattr("torchlint.system.limits.STATEMENTS", given)
        assert (excess(text, SMALL) is not None) == is_too_many or given < 0
    monkeypatch.setattr("torchlint.system.limits.STATEMENTS", STATEMENTS)
    for given, is_too_many in ((parts, False), (parts - 1, True)):
        monkeypatch.setattr("torchlint.system.limits.PARTS", given)
        assert (excess(text, SMALL) is not None) == is_too_many


DENSE = {
    "statements": (HEAD + "x=1\n" * STATEMENTS, "20,000 statements"),
    "statements on a line": (HEAD + "x=1;" * STATEMENTS, "20,000 statements"),
    "a list": (HEAD + f"x=[{'f(1),' * (PARTS // 3)}]\n", "350,000 names, literals and brackets"),
}


@pytest.mark.parametrize("kind", DENSE)
def test_a_file_that_is_too_dense_is_named(kind: str, torchlint: Torchlint, tmp_path: Path) -> None:
    text, what = DENSE[kind]
    (tmp_path / "dense.py").write_text(text)
    (tmp_path / "small.py").write_text(HEAD)
    ran = torchlint("check", "--output-format", "concise")
    assert ran.code == 3
    assert "small.py:3:" in ran.out
    assert "dense.py" not in ran.out
    assert ran.err.count(f"dense.py: not checked: it has more than {what}; a larger `max-file-size` allows more") == 1
    assert torchlint("check", "--fix").code == 3
    assert (tmp_path / "dense.py").read_text() == text


def test_larger_files_may_have_more_and_no_limit_takes_from_them() -> None:
    text = "x\n" * (STATEMENTS + 1)
    assert excess(text, Limits(2 * FILE_SIZE)) is None
    assert excess(text, Limits(0)) is None
    assert excess(text, Limits(FILE_SIZE)) is not None
    assert excess("x\n" * STATEMENTS, Limits(1 << 10)) is None


def test_files_without_torch_are_not_counted(torchlint: Torchlint, tmp_path: Path) -> None:
    (tmp_path / "dense.py").write_text("x = 1\n" * (STATEMENTS + 1))
    assert torchlint("check", "dense.py").code == 0


def test_of_what_is_imported_nothing_is_known(torchlint: Torchlint, tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text("")
    (tmp_path / "use.py").write_text("import torch\nfrom made import value\nx = value().data\n")
    made = "import torch\ndef value():\n    return torch.rand(3)\n"
    for more, code in (("", 1), ("x\n" * STATEMENTS, 0)):
        (tmp_path / "made.py").write_text(made + more)
        assert torchlint("check", "use.py", "--no-cache").code == code
