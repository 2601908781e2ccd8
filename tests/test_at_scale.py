"""The recipe for many repositories, run as the page has it."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

for name in ("dask.bag", "pyarrow", "duckdb"):
    pytest.importorskip(name)

ROOT = Path(__file__).parents[1]
CODE = "import torch\nw = torch.ones(3, requires_grad=True)\nprint(w.data)\n"


def test_the_recipe(write: Callable[[dict[Any, Any]], None], tmp_path: Path) -> None:
    page = (ROOT / "docs" / "at-scale.md").read_text(encoding="utf-8")
    program, query = re.findall(r"^```python\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    write({"at_scale.py": program, "query.py": query})
    write({"repositories/a/x.py": CODE, "repositories/a/sub/y.py": CODE, "repositories/b/z.py": CODE})
    write({"repositories/clean/x.py": "", "repositories/a/torchlint.toml": 'ignore = ["ALL"]\n'})
    write({"repositories/b/large.py": "import torch\n" + "#" * (3 << 20)})
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}

    def run(*arguments: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-W", "ignore", *arguments]
        return subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=True)

    ran = run("at_scale.py", "findings", *(f"repositories/{name}" for name in ("a", "b", "clean")))
    assert "large.py: not checked" in ran.stderr
    assert sorted(path.name for path in (tmp_path / "findings").iterdir()) == [
        "a.parquet",
        "b.parquet",
        "clean.parquet",
    ]
    (tmp_path / "findings" / "a.parquet").unlink()
    assert run("at_scale.py", "findings", "repositories/a", "repositories/b").stderr == "", "only `a` was left"
    assert (tmp_path / "findings" / "a.parquet").exists()
    assert run("at_scale.py", "findings", "repositories/b").stderr == "", "nothing was left"
    assert re.findall(r"TL\d+ +│ +\d+ │ +\d+", run("query.py").stdout) == ["TL101   │        3 │            2"]
