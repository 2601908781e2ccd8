"""The box above long tables of the documentation, run by node on a page that is made up."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[1]
NODE = shutil.which("node")

FEW = [f"torch.few{number} | warns" for number in range(5)]
MANY = [f"torch.Many{number} | removed" for number in range(50)]
TABLES: list[dict[str, Any]] = [
    {"name": "api", "inside": None, "rows": []},
    {"name": "few", "inside": "api", "rows": FEW},
    {"name": "many", "inside": "api", "rows": MANY},
]


def shown(sections: list[dict[str, Any]], *typed: str, address: str = "") -> dict[str, Any]:
    """Where the box is, and what is shown at first and after each typing.

    Services that run tests have node: there it is an error if it is not found, so that the tests cannot pass unseen.
    """
    if NODE is None and not os.environ.get("CI"):
        pytest.skip("node is not installed")
    assert NODE is not None, "node is not installed"
    page = {"sections": sections, "typed": typed, "address": address}
    command = [NODE, str(ROOT / "tests" / "filter_page.js"), str(ROOT / "docs" / "_static" / "filter.js")]
    ran = subprocess.run(command, input=json.dumps(page), capture_output=True, text=True, check=False, timeout=60)
    assert ran.stderr == ""
    found: dict[str, Any] = json.loads(ran.stdout)
    return found


def test_rows_with_all_the_words_stay() -> None:
    found = shown(TABLES, "TORCH.many1 removed", "  ", "few2", "many few", "|")
    first, many, blank, few, nothing, every = found["states"]
    assert found["placed"] == ["after the heading"]
    assert first["rows"] == blank["rows"] == every["rows"] == FEW + MANY
    assert first["count"] == "55 of 55 rows"
    assert many["rows"] == [row for row in MANY if "Many1" in row]
    assert many["count"] == "11 of 55 rows"
    assert many["sections"] == ["api", "many"]
    assert few["sections"] == ["api", "few"]
    assert nothing["rows"] == []
    assert nothing["count"] == "0 of 55 rows"


def test_a_section_with_rows_around_others_stays_while_they_do() -> None:
    outer: list[dict[str, Any]] = [{"name": "api", "inside": None, "rows": ["first"]}, *TABLES[1:]]
    assert shown(outer, "few1")["states"][1]["sections"] == ["api", "few"]


def test_words_from_the_address() -> None:
    (first,) = shown(TABLES, address="?filter=torch.few3+warns")["states"]
    assert first["rows"] == [FEW[3]]


def test_where_the_box_is() -> None:
    assert shown([{"name": "one", "inside": None, "rows": MANY}])["placed"] == ["before the table of one"]
    assert shown([{"name": "one", "inside": None, "rows": MANY[:40]}]) == {"placed": [], "states": []}
