"""What is known of a file does not depend on which files were checked before, nor on what was kept of them."""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from unittest import mock

from hypothesis import given, settings
from hypothesis import strategies as st

from torchlint.file.inferred import Inferred, infer
from torchlint.model.codebase import modules as codebase
from torchlint.model.codebase.modules import Codebase

FILES = ("m0", "m1", "m2", "m3")
LITTLE = 200
"""Characters; less room than any of the projects below needs."""

# functions and methods of the files call each other (`f()`, `A()`), and go round in circles: with `x` a parameter
EXPRESSIONS = """
x
x + 1
torch.ones(3)
x.unsqueeze(0)
f(x)
f(f(x))
A(x)
A(x).a
A(x).b
A(x).g(x)
A(x).p
A(x)(x)
[x, f(x)]
f(x)[0]
(f(x), A(x).a)
B.made(x)
""".strip().splitlines()

OF_SELF = """
self.a
self.b
self.g(x)
self.h(x)
self.p
self.a + self.b
self.a.b
self.g(x).a
""".strip().splitlines()

STATEMENTS = """
self.a = E
self.b = E
self.a += E
self.a = [E]; self.a.append(E)
if x.sum() > 0: self.b = E
x = E
x = (E).mul(2)
for x in E: self.b = x
set_up = lambda: E
with torch.no_grad(): x = E
""".strip().splitlines()


@st.composite
def modules(draw: st.DrawFn, name: str) -> str:
    """The text of a file that uses the others, and itself."""

    def one_of(forms: Sequence[str]) -> str:
        return re.sub(r"\b(?:f\(|A\(|B\.)", lambda use: f"{draw(others)}.{use[0]}", draw(st.sampled_from(forms)))

    def statements(depth: int) -> list[str]:
        forms = [draw(st.sampled_from(STATEMENTS)) for _ in range(draw(st.integers(0, 2)))]
        return [" " * depth + form.replace("E", one_of([*EXPRESSIONS, *OF_SELF]), 1) for form in forms]

    def returned(depth: int) -> str:
        return " " * depth + "return " + one_of([*EXPRESSIONS, *OF_SELF] if depth > 4 else EXPRESSIONS)

    others = st.sampled_from(FILES)
    base = draw(st.sampled_from(["object", "torch.nn.Module", *(f"{other}.A" for other in FILES if other < name)]))
    lines = ["import torch", *(f"import {other}" for other in FILES)]
    lines += ["def f(x):", returned(4)]
    lines += [f"class A({base}):"]
    for head in ("__init__(self, x)", "g(self, x)", "h(self, x)", "forward(self, x)"):
        nested = draw(st.booleans())
        lines += [f"    def {head}:", *(["        def inner():"] if nested else [])]
        lines += [*statements(12 if nested else 8), "            pass" if nested else "        pass"]
        lines += [*(["        inner()"] if nested else []), *([returned(8)] if head != "__init__(self, x)" else [])]
    lines += ["    @property", "    def p(self):", "        x = self.b", returned(8)]
    lines += [
        "class B(A):",
        "    @classmethod",
        "    def made(cls, x):",
        f"        return {one_of(('cls(x)', 'f(x)'))}",
    ]
    lines += ["    def h(self, x):", *statements(8), returned(8)]
    if draw(st.booleans()):
        lines += [f"value = {one_of(EXPRESSIONS).replace('x', 'torch.ones(3)', 1)}"]
    return "\n".join(lines) + "\n"


projects = st.tuples(*(modules(name) for name in FILES))


def values(folder: Path, names: Sequence[str], known: Codebase | None = None) -> dict[str, list[Inferred]]:
    """What every expression is, the files being asked about one after the other."""
    found = {}
    for name in names:
        path = folder / f"{name}.py"
        found[name] = list(infer(path.read_text(encoding="utf-8"), name, str(path), known or Codebase()))
    return found


def write(folder: Path, files: Sequence[str]) -> None:
    (folder / "pyproject.toml").write_text("", encoding="utf-8")
    for name, text in zip(FILES, files, strict=True):
        (folder / f"{name}.py").write_text(text, encoding="utf-8")


@given(files=projects, order=st.permutations(FILES))
@settings(max_examples=60, deadline=None)
def test_values_do_not_depend_on_what_was_asked_before(files: Sequence[str], order: Sequence[str]) -> None:
    with tempfile.TemporaryDirectory() as name:
        write(Path(name), files)
        alone = values(Path(name), FILES)
        assert values(Path(name), order, Codebase()) == alone
        with mock.patch.object(codebase, "_ROOM", LITTLE):
            assert values(Path(name), order, Codebase()) == alone


def test_the_script_that_asks_about_real_files() -> None:
    root = Path(__file__).parent.parent
    command = [sys.executable, str(root / "scripts" / "check_order.py"), "-j1", str(root / "examples")]
    ran = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (ran.returncode, ran.stderr) == (0, "")
    assert len(re.findall(r"^\| [a-z, ]+ \| 0 \| 0 \| \d+ \|$", ran.stdout, re.MULTILINE)) == 5
