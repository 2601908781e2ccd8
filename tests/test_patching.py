"""What a text says of the names that it puts something in the place of, before it is parsed."""

from __future__ import annotations

import ast

import pytest

from torchlint.model.codebase.patching import _ASSIGNED, _BY_SETATTR, _BY_TEXT, Patching

NEAR = {
    "F.relu = mine": ["relu"],
    "nn.functional.relu = mine": ["relu"],
    "a.b, c.d = 1, 2": ["b"],
    "self.module.relu = mine": ["relu"],
    "self.relu = mine": [],
    "x = [0.5, 1.25, y]; z = 1": [],
    "F.relu == mine": [],
    "cls.relu = mine": ["relu"],
    "myself.relu = mine": ["relu"],
    "x[0].relu = mine": ["relu"],
    "f().relu = mine": ["relu"],
    "F.relu, F.elu = mine": ["relu"],
}
BY_TEXT = {
    "setattr(F, 'relu', mine)": ["relu"],
    'monkeypatch.delattr(torch.nn, "ReLU")': ["ReLU"],
    "patch('torch.tanh')": ["tanh"],
    'patch("torch.nn.functional.relu", mine)': ["relu"],
    "patch('mytorch.tanh')": [],
    "torch.tanh": [],
}


@pytest.mark.parametrize("text", NEAR)
def test_names_that_are_assigned_to(text: str) -> None:
    assert [name.decode() for name in _ASSIGNED.findall(text.encode())] == NEAR[text]


@pytest.mark.parametrize("text", BY_TEXT)
def test_names_that_a_text_names(text: str) -> None:
    found = [name for pattern in (_BY_SETATTR, _BY_TEXT) for name in pattern.findall(text.encode())]
    assert [name.decode() for name in found] == BY_TEXT[text]


def test_a_long_line_is_not_looked_through_for_each_attribute_on_it() -> None:
    behind = "c, " * 1000
    assert _ASSIGNED.search(f"a.b, {behind} d = 1".encode()) is None


def test_a_file_is_gone_through_once_for_all_that_is_asked() -> None:
    """A file with many names that others may replace asks as often as it uses them."""
    text = "import torch\ntorch.relu = torch.tanh = setattr(torch, 'ones', f)\nx.data = 1\n"
    parsed: list[str] = []

    def parse(path: str) -> ast.Module:
        parsed.append(path)
        return ast.parse(text)

    patching = Patching(parse)
    patching.add("other.py", text.encode())
    asked = ("torch.relu", "torch.tanh", "torch.ones", "torch.nn.functional.relu", "torch.sigmoid")
    assert [patching.patcher("x.py", name) for name in asked] == ["other.py"] * 3 + [None] * 2
    assert patching.setter("x.py", "data") == "other.py"
    assert parsed == ["other.py"]
