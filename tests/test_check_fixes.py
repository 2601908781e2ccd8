"""The script that fixes whole folders sees what goes wrong."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent
SCRIPT = ROOT / "scripts" / "check_fixes.py"
CODE = "import torch\nx = torch.ones(3, requires_grad=True)\nprint(x.data)\ny = 1\n"


def table(folder: Path, before: str = "") -> tuple[int, dict[str, list[int]]]:
    """Exit code and rows of the script, which runs after some statements."""
    start = f"import sys; sys.path.insert(0, {str(ROOT)!r}); sys.argv = ['x', '-j1', {str(folder)!r}]\n{before}\n"
    start += f"import runpy; runpy.run_path({str(SCRIPT)!r}, run_name='__main__')"
    ran = subprocess.run([sys.executable, "-c", start], capture_output=True, text=True, check=False)
    assert ran.stderr == ""
    rows = re.findall(r"^\| ([^|`]+) \| (\d+) \| (\d+) \|$", ran.stdout, re.MULTILINE)
    return ran.returncode, {name: [int(safe), int(unsafe)] for name, safe, unsafe in rows}


def test_nothing_goes_wrong() -> None:
    code, rows = table(ROOT / "examples")
    assert code == 0
    assert rows["files changed"][0] > 0
    assert rows["did not parse before and do now"][0] > 0
    for name in ("compile failures", "changed by a second run", "bytes changed outside edits", "conflicts unresolved"):
        assert rows[name] == [0, 0]


def test_a_byte_too_many(tmp_path: Path) -> None:
    (tmp_path / "x.py").write_text(CODE, encoding="utf-8")
    assert table(tmp_path)[1]["bytes changed outside edits"] == [0, 0]
    worse = "from torchlint.file.fix import rounds; usual = rounds.splice; rounds.splice = lambda *a: usual(*a) + '#'"
    code, rows = table(tmp_path, worse)
    assert code == 1
    assert rows["bytes changed outside edits"][0] > 0


def test_statements_that_share_a_block(tmp_path: Path) -> None:
    """What was written is one block, though each finding has a fix with one of its own."""
    text = "from torch import nn\n\n\ndef shrink(head: nn.Linear, by):\n"
    text += "    head.weight.data.mul_(by)\n    head.bias.data.mul_(by)\n"
    (tmp_path / "x.py").write_text(text, encoding="utf-8")
    rows = table(tmp_path)[1]
    assert rows["fixes"] == [0, 2]
    assert rows["bytes changed outside edits"] == [0, 0]
