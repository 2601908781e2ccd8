"""``torchlint/model/torch/data/conversions.json`` is what the installed libraries do."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from torchlint.model.torch import conversions

pytest.importorskip("matplotlib")
sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "scripts"))

import generate_conversions as script

table: dict[str, list[list[str]]] = json.loads(script.OUTPUT.read_text(encoding="utf-8"))
tried = dict(script.functions())


@pytest.mark.parametrize("name", sorted(tried))
def test_what_is_refused(name: str) -> None:
    assert table.get(name, []) == script.rows_of(name, tried[name]), "run scripts/generate_conversions.py"


def test_the_file_holds_nothing_else() -> None:
    assert {name for name in table if name not in tried} == {
        *script.operators(),
        *script.sparse_operators(),
    }
    assert script.OUTPUT.read_text(encoding="utf-8") == script.render(table)


def test_questions() -> None:
    assert conversions.refuses("numpy.mean", 0, "list")
    assert not conversions.refuses("numpy.mean", 0, "tensor")  # that raises, but not for the graph
    assert conversions.refuses("matplotlib.pyplot.plot", 1, "tensor")
    assert not conversions.refuses("matplotlib.pyplot.plot", 2, "tensor")
    assert not conversions.refuses("pandas.DataFrame", 0, "list")
    assert conversions.refuses("matplotlib.pylab.plot", 0, "tensor")
    assert conversions.refuses("scipy.sparse.__matmul__", 0, "tensor")
    assert not conversions.refuses("scipy.sparse.__add__", 0, "tensor")  # that raises, whatever requires grad
    assert {"plot", "array"} <= conversions.converting()
