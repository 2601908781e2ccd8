"""Runs what depends on libcst with the oldest version of it that is supported, and with the newest one.

    python scripts/check_libcst.py [TESTS ...]

Each gets a virtual environment of its own, so this takes the network and a minute. The exit code says whether all went
well. Without arguments the tests are those of the tree, of the codemods and of the documentation of the rules.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TESTS = (
    "test_libcst_private.py",
    "test_long_lists.py",
    "test_quick.py",
    "test_codemods.py",
)
NEEDED = ("pytest", "hypothesis", "click")


def oldest() -> str:
    """The oldest version that ``pyproject.toml`` allows."""
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    found = re.search(r'"libcst>=([\d.]+)"', text)
    assert found is not None, "pyproject.toml says nothing of libcst"
    return found[1] if found[1].count(".") > 1 else f"{found[1]}.0"


def passes(requirement: str, tests: list[str]) -> bool:
    """Whether tests pass with a version of libcst."""
    with tempfile.TemporaryDirectory() as folder:
        venv.create(folder, with_pip=True)
        python = str(Path(folder) / ("Scripts" if sys.platform == "win32" else "bin") / "python")
        pip = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", requirement, *NEEDED]
        if subprocess.run(pip, check=False).returncode:
            return False
        shown = "import importlib.metadata; print('libcst', importlib.metadata.version('libcst'), flush=True)"
        subprocess.run([python, "-c", shown], check=True)
        paths = [str(ROOT / "tests" / name) for name in tests]
        ran = subprocess.run([python, "-m", "pytest", "-q", "-p", "no:cacheprovider", *paths], cwd=ROOT, check=False)
        return ran.returncode == 0


def main() -> int:
    tests = sys.argv[1:] or list(TESTS)
    results = [passes(requirement, tests) for requirement in (f"libcst=={oldest()}", "libcst")]
    return 0 if all(results) else 1


if __name__ == "__main__":
    sys.exit(main())
