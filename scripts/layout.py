"""Draws the layout of the program from its code: the picture and the lists in ``docs/design.md``.

python scripts/layout.py           write
python scripts/layout.py --check   say whether it is out of date, and write nothing
"""

from __future__ import annotations

import ast
import functools
import sys
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "torchlint"
PAGE = ROOT / "docs" / "design.md"
START, END = "<!-- layout:start -->", "<!-- layout:end -->"

STAGES = ("triggers", "parse", "dispatch", "comments", "locate", "suppress", "fix")
"""The folders of the way of a file, in its order."""

APART = (
    "cli.report",
    "file.docs",
    "file.notebook",
    "file.text",
    "file.tree",
    *(f"file.{stage}" for stage in STAGES),
    "rules.api",
    "rules.shared",
)
"""Folders that others import which must not import the folder they stand in."""

Graph = Mapping[str, Collection[str]]


class Import(NamedTuple):
    """What a module imports of this program."""

    module: str
    is_for_types: bool
    """Whether it stands under ``if TYPE_CHECKING``, so that nothing is imported when the program runs."""


@functools.cache
def modules() -> dict[str, Path]:
    """All modules by their name below ``torchlint``; the package itself is ``""``."""
    return {
        ".".join(path.relative_to(PACKAGE).with_suffix("").parts).removesuffix("__init__").rstrip("."): path
        for path in sorted(PACKAGE.rglob("*.py"))
    }


def imports(path: Path) -> Iterator[Import]:
    """What a file imports, wherever in it that is done."""
    known = modules()
    tree = ast.parse(path.read_bytes())
    for_types = {
        id(node)
        for statement in ast.walk(tree)
        if isinstance(statement, ast.If) and ast.unparse(statement.test) == "TYPE_CHECKING"
        for inner in statement.body
        for node in ast.walk(inner)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        else:
            continue
        for name in names:
            first, _, rest = name.partition(".")
            if first == "torchlint":
                yield Import(rest if rest in known else rest.rpartition(".")[0], id(node) in for_types)


@functools.cache
def graph(*, for_types: bool) -> dict[str, set[str]]:
    """Which modules a module imports, with or without those that it imports for types alone."""
    found: dict[str, set[str]] = {}
    for module, path in modules().items():
        found[module] = {target for target, is_for_types in imports(path) if for_types or not is_for_types} - {module}
    return found


def circles(arrows: Graph) -> list[set[str]]:
    """Modules that lead to each other (Tarjan's strongly connected components of more than one)."""
    order: dict[str, int] = {}
    low: dict[str, int] = {}
    stack: list[str] = []
    found: list[set[str]] = []

    def visit(module: str) -> None:
        order[module] = low[module] = len(order)
        stack.append(module)
        for target in sorted(arrows.get(module, ())):
            if target not in order:
                visit(target)
                low[module] = min(low[module], low[target])
            elif target in stack:
                low[module] = min(low[module], order[target])
        if low[module] == order[module]:
            component = set(stack[stack.index(module) :])
            del stack[stack.index(module) :]
            if len(component) > 1:
                found.append(component)

    for module in sorted(arrows):
        if module not in order:
            visit(module)
    return found


def room(module: str) -> str:
    """The folder a module stands in, two deep; a module at the top is a room of its own, and so is all of the model."""
    first, _, rest = module.partition(".")
    inner = rest.partition(".")[0]
    is_folder = first != "model" and bool(inner) and (PACKAGE / first / inner).is_dir()
    return f"{first}.{inner}" if is_folder else first


def between_rooms() -> dict[str, set[str]]:
    """Which rooms a room imports from when the program runs."""
    found: dict[str, set[str]] = {}
    for module, targets in graph(for_types=False).items():
        found.setdefault(room(module), set()).update(room(target) for target in targets)
    return {name: {target for target in targets if target != name} for name, targets in found.items()}


def reduced(arrows: Mapping[str, set[str]]) -> dict[str, set[str]]:
    """The arrows that no way over other arrows replaces."""

    def reached(start: str) -> set[str]:
        seen: set[str] = set()
        waiting = [start]
        while waiting:
            for target in arrows.get(waiting.pop(), ()):
                if target not in seen:
                    seen.add(target)
                    waiting.append(target)
        return seen

    return {
        name: {
            target for target in targets if not any(target in reached(other) for other in targets if other != target)
        }
        for name, targets in arrows.items()
    }


def sentence(path: Path) -> str:
    """The first sentence of a module's docstring."""
    text = ast.get_docstring(ast.parse(path.read_bytes())) or ""
    return " ".join(text.split("\n\n")[0].split())


def picture() -> list[str]:
    """The rooms and what they import, for Mermaid; what other arrows imply is left out."""
    arrows = {name: targets - {""} for name, targets in between_rooms().items() if name}
    lines = ["```mermaid", "flowchart TD"]
    lines += [f'    {name.replace(".", "_")}["{name.replace(".", "/")}"]' for name in sorted(arrows)]
    lines += [
        f"    {name.replace('.', '_')} --> {target.replace('.', '_')}"
        for name, targets in sorted(reduced(arrows).items())
        for target in sorted(targets)
    ]
    return [*lines, "```"]


def rooms() -> Iterator[str]:
    """All modules by folder, each with what it says of itself; of the rules that find something only the folder."""
    folders: dict[Path, list[Path]] = {}
    for path in modules().values():
        folders.setdefault(path.parent, []).append(path)
    for folder, paths in folders.items():
        name = folder.relative_to(PACKAGE.parent).as_posix()
        yield ""
        yield f"**`{name}/`** {sentence(folder / '__init__.py')}"
        yield ""
        for path in paths:
            if path.name != "__init__.py" and not path.name.startswith("tl"):
                yield f"- `{path.name}`: {sentence(path)}"


def page(text: str) -> str:
    """The page of the design with the layout as it is."""
    before, _, rest = text.partition(START)
    _, _, after = rest.partition(END)
    return "\n".join([before + START, "", *picture(), *rooms(), "", END]) + after


def main() -> int:
    """Write the page, or say that it is out of date."""
    text = PAGE.read_text(encoding="utf-8")
    new = page(text)
    if "--check" not in sys.argv[1:]:
        PAGE.write_text(new, encoding="utf-8")
    elif text != new:
        print("docs/design.md is out of date: python scripts/layout.py")
        return 1
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
