"""What the installed torch says of its own API, against the table: names it marks as deprecated that no row is about.

python scripts/mine_torch_api.py            print what is new, and what has gone
python scripts/mine_torch_api.py --all      print everything that is found, as rows to start from

Found are: ``@deprecated`` decorators, ``warnings.warn`` with a deprecation category in a function, and names of the
table that torch no longer has, or has again.
"""

from __future__ import annotations

import ast
import importlib
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))
sys.path.insert(0, str(ROOT / "scripts"))

import build_api  # noqa: E402
import torch  # noqa: E402

CATEGORIES = ("FutureWarning", "DeprecationWarning")
SKIPPED = ("testing/_internal", "_vendor", "_inductor", "_dynamo/polyfills", "_refs")


@dataclass(frozen=True)
class Mark:
    """A place where torch says that something is deprecated."""

    name: str
    text: str
    is_whole: bool
    """The whole function or class (a decorator), or something in it (a warning)."""


def marks() -> Iterator[Mark]:
    """All marks in the Python sources of the installed torch."""
    package = Path(torch.__file__).parent
    for path in sorted(package.rglob("*.py")):
        place = path.relative_to(package).as_posix()
        if place.startswith(SKIPPED) or any(part in place for part in SKIPPED):
            continue
        text = path.read_text(encoding="utf-8", errors="replace")
        if "eprecat" not in text and "FutureWarning" not in text:
            continue
        module = ".".join(["torch", *path.relative_to(package).with_suffix("").parts]).removesuffix(".__init__")
        yield from _in(ast.parse(text), module)


def _in(node: ast.AST, name: str) -> Iterator[Mark]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            inner = f"{name}.{child.name}"
            for decorator in child.decorator_list:
                if isinstance(decorator, ast.Call) and ast.unparse(decorator.func).endswith("deprecated"):
                    yield Mark(inner, _text(decorator), True)
            yield from _in(child, inner)
        else:
            if isinstance(child, ast.Call) and ast.unparse(child.func).endswith("warn"):
                if any(category in ast.unparse(child) for category in CATEGORIES):
                    yield Mark(name, _text(child), False)
            yield from _in(child, name)


def _text(call: ast.Call) -> str:
    literals = [each.value for each in ast.walk(call) if isinstance(each, ast.Constant) and isinstance(each.value, str)]
    return " ".join(" ".join(literals).split())


def exists(name: str) -> bool:
    """Whether a name can be reached in the installed torch."""
    parts = name.split(".")
    for split in range(len(parts), 0, -1):
        try:
            found = importlib.import_module(".".join(parts[:split]))
        except ImportError:
            continue
        try:
            for part in parts[split:]:
                found = getattr(found, part)
        except AttributeError:
            return False
        return True
    return False


def main() -> int:
    """Print what the table does not know."""
    rows = build_api.rows()
    known = {row["name"].rpartition(".")[2] for row in rows} | {row["name"].split(".")[-2] for row in rows}
    found = list(marks())
    new = [mark for mark in found if mark.name.split(".")[-1].removesuffix("__init__") not in known]
    for mark in found if "--all" in sys.argv[1:] else new:
        print(f"{mark.name}{'' if mark.is_whole else ' (in it)'}: {mark.text[:160]}")
    for row in rows:
        if row["kind"] not in ("function", "class", "attribute", "module") or row["status"] == "not-run":
            continue
        if "removed" not in row and not exists(row["name"]):
            print(f"gone: {row['name']}")
    whole = sum(mark.is_whole for mark in found)
    print(f"torch {torch.__version__}: {whole} decorators, {len(found) - whole} warnings; {len(new)} not in the table")
    return 0


if __name__ == "__main__":
    sys.exit(main())
