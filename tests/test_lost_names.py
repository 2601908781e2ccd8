"""A fix that takes names away (`weight_g` of `weight_norm`) is none where a file of the project has one of them."""

from __future__ import annotations

from pathlib import Path

import pytest
from torch import nn

from torchlint.diagnostic import Fixing
from torchlint.file.check import check_text
from torchlint.rules.api import table

NORMS = {"weight_norm": "TL302", "spectral_norm": "TL309"}
OTHERS = {
    "by name": "def freeze(m):\n    m.{}.requires_grad_(False)\n",
    "by a text": "def strip(state):\n    return {{k: v for k, v in state.items() if '{}' not in k}}\n",
    "by its end": "def strip(net):\n    return [p for n, p in net.named_parameters() if not n.endswith('{end}')]\n",
    "taken away": "from torch.nn.utils import remove_{norm}\n\n\ndef strip(m):\n    return remove_{norm}(m)\n",
}
HARMLESS = "def strip(state):\n    return {k: v for k, v in state.items() if k != 'weight' and k != '_go'}\n"


def fixed(folder: Path, norm: str, other: str) -> bool:
    (folder / "pyproject.toml").touch()
    (folder / "other.py").write_text(other)
    text = f"from torch import nn\n\nlayer = nn.utils.{norm}(nn.Linear(2, 2))\n"
    (folder / "layers.py").write_text(text)
    rules = frozenset((NORMS[norm],))
    return check_text(text, "layers.py", rules, Fixing.UNSAFE, location=str(folder / "layers.py")).text != text


def names_of(norm: str) -> tuple[str, ...]:
    return next(row.lost for row in table.of_rule(NORMS[norm])[norm] if row.lost)


@pytest.mark.parametrize("norm", NORMS)
@pytest.mark.parametrize("how", OTHERS)
def test_another_file_has_one_of_them(how: str, norm: str, tmp_path: Path) -> None:
    parameter = names_of(norm)[0]
    other = OTHERS[how].format(parameter, end=parameter.removeprefix("weight"), norm=norm)
    assert not fixed(tmp_path, norm, other)


@pytest.mark.parametrize("norm", NORMS)
def test_another_file_has_none_of_them(norm: str, tmp_path: Path) -> None:
    assert fixed(tmp_path, norm, HARMLESS)


@pytest.mark.filterwarnings("ignore::FutureWarning")
@pytest.mark.parametrize("norm", NORMS)
def test_they_are_what_is_lost(norm: str) -> None:
    old = getattr(nn.utils, norm)(nn.Linear(2, 2)).state_dict().keys()
    new = getattr(nn.utils.parametrizations, norm)(nn.Linear(2, 2)).state_dict().keys()
    lost = old - new
    assert lost
    for name in lost:
        assert name in names_of(norm)
        assert name.removeprefix("weight") in names_of(norm)
