"""``torchlint infer``, and the function it prints the answers of."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from conftest import Torchlint
from notebooks import notebook
from test_cli import Write

from torchlint.cli import infer as command
from torchlint.cli.infer import Place, split
from torchlint.file.inferred import KINDS, Inferred, infer
from torchlint.file.parse.invalid import Unparsed
from torchlint.model.budget import Budget
from torchlint.system.stack import with_big_stack

ROOT = Path(__file__).parent.parent

TEXT = """\
import torch
from torch import nn

net = nn.Linear(3, 1)
out = net(torch.ones(2, 3))
loss = out.sum()
loss.backward()
best = loss.data[0]
"""


def of(text: str, expression: str) -> Inferred:
    """The last expression of that spelling."""
    return [item for item in infer(text, "x.py") if item.expression == expression][-1]


# --------------------------------------------------------------------- text


def test_a_line(write: Write, torchlint: Torchlint) -> None:
    write({"x.py": TEXT})
    ran = torchlint("infer", "x.py:6")
    because = "(it comes from the module `net`, line 5) [by parameters of `net`]"
    assert ran.out.splitlines() == [
        f"x.py:6:1: loss: tensor grad=yes ndim=0 dtype=float leaf=no requires=proved {because}",
        f"x.py:6:8: out: tensor grad=yes ndim=two dtype=float leaf=no requires=proved {because}",
        "x.py:6:8: out.sum: reference",
        f"x.py:6:8: out.sum(): tensor grad=yes ndim=0 dtype=float leaf=no requires=proved {because}",
    ]
    assert (ran.code, ran.err) == (0, "")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("x.py:2",), "x.py:2: no expression begins here"),
        (("x.py:1",), "x.py:1: nothing is known of what is here; see `--all`"),
        (("x.py:1", "--kind", "tensor"), "x.py:1: nothing here is of that kind"),
    ],
)
def test_a_line_of_which_nothing_is_shown(
    arguments: tuple[str, ...], message: str, write: Write, torchlint: Torchlint
) -> None:
    write({"x.py": "x = f(3)\npass\n"})
    ran = torchlint("infer", *arguments)
    assert (ran.code, ran.out, ran.err) == (0, "", f"warning: {message}\n")


def test_a_column(write: Write, torchlint: Torchlint) -> None:
    write({"x.py": TEXT})

    def shown(place: str) -> list[str]:
        return [line.split(": ")[1] for line in torchlint("infer", place).out.splitlines()]

    assert shown("x.py:8:8") == ["loss", "loss.data", "loss.data[0]"]  # all that begin there
    assert shown("x.py:8:10") == ["loss"]  # the innermost around it
    assert shown("x.py:8:13") == shown("x.py:8:16") == ["loss.data"]
    assert shown("x.py:8:17") == ["loss.data[0]"]
    assert shown("x.py:8:18") == ["0"]  # what was pointed at is shown, literal or not
    assert shown("x.py:8:6") == shown("x.py:8:20") == []
    assert shown("x.py:8:5") == []  # it is over where it ends


def test_a_file(write: Write, torchlint: Torchlint) -> None:
    write({"x.py": TEXT})
    lines = torchlint("infer", "x.py").out.splitlines()
    assert "x.py:4:1: net: module torch.nn.Linear (`torch.nn.Linear` returns it, line 4)" in lines
    assert "x.py:4:7: nn.Linear: reference torch.nn.Linear" in lines
    assert not any(line.startswith(("x.py:1:", "x.py:2:")) for line in lines)
    assert [line for line in lines if ":4:17:" in line] == []
    places = [tuple(map(int, line.split(":")[1:3])) for line in lines]
    assert places == sorted(places)


def test_all(write: Write, torchlint: Torchlint) -> None:
    write({"x.py": "x = f(3)\n"})
    assert torchlint("infer", "x.py").out == ""
    assert torchlint("infer", "x.py", "--all").out.splitlines() == [
        "x.py:1:1: x: unknown",
        "x.py:1:5: f: unknown",
        "x.py:1:5: f(3): unknown",
        "x.py:1:7: 3: number",
    ]


def test_kinds(write: Write, torchlint: Torchlint) -> None:
    write({"x.py": TEXT})
    lines = torchlint("infer", "x.py", "--kind", "tensor", "--kind", "module").out.splitlines()
    kinds = {line.split(": ")[2].split()[0] for line in lines}
    assert kinds == {"tensor", "module"}
    ran = torchlint("infer", "x.py", "--kind", "tensro")
    assert (ran.code, ran.err) == (2, "error: unknown kind `tensro` in --kind (did you mean `tensor`?)\n")


def test_long_expressions_are_cut_in_text_only(write: Write, torchlint: Torchlint) -> None:
    call = "torch.cat([\n" + "    torch.ones(3),\n" * 20 + "])"
    write({"x.py": f"import torch\nx = {call}\n"})
    lines = torchlint("infer", "x.py:2", "--kind", "tensor").out.splitlines()
    assert lines[-1] == (
        "x.py:2:5: torch.cat([ torch.ones(3), torch.ones(3), torch.ones(3), to…: "
        "tensor grad=no ndim=more dtype=float (`torch.cat` returns it, line 2)"
    )
    entries = json.loads(torchlint("infer", "x.py:2", "--output-format", "json").out)
    assert call in [entry["expression"] for entry in entries]


GRADS = """\
import torch
from torch import nn

net = nn.Linear(3, 1)
w = torch.ones(3, requires_grad=True)


def step(x):
    y = net(x)
    z = y * w
    return z


def unseen(x):
    return net(x)


step(torch.ones(3))
with torch.no_grad():
    step(torch.ones(3))
"""


def test_what_makes_a_tensor_require_grad_and_who_decides_the_mode() -> None:
    y, z, unseen = (of(GRADS, each) for each in ("y", "z", "net(x)"))
    assert (y.requires, y.sources, y.mode) == ("proved", ("parameters of `net`",), "yes")
    assert (z.requires, set(z.sources)) == ("proved", {"`w`", "parameters of `net`"})
    assert y.callers == z.callers == ((18, "yes"), (20, "no"))
    assert (unseen.requires, unseen.callers) == ("expected", ())
    assert of(GRADS, "x").requires is None


def test_that_is_shown_behind_the_evidence(write: Write, torchlint: Torchlint) -> None:
    write({"x.py": GRADS})
    assert torchlint("infer", "x.py:9:5").out == (
        "x.py:9:5: y: tensor grad=yes ndim=more leaf=no requires=proved (it comes from the module `net`, line 9) "
        "[by parameters of `net`; called with grad: line 18; called without grad: line 20]\n"
    )


def test_settings_can_be_given(write: Write, torchlint: Torchlint) -> None:
    write({"a/x.py": TEXT, "b/y.py": TEXT, "torchlint.toml": "fix = true\n"})
    shown = torchlint("infer", ".", "--kind", "optimizer", "--kind", "module", "--config", "exclude=b").out
    assert {line.partition(":")[0] for line in shown.splitlines()} == {str(Path("a", "x.py"))}
    ran = torchlint("infer", "a", "--isolated", "--config", "torchlint.toml")
    assert (ran.code, ran.out) == (2, "")
    assert ran.err == "error: --isolated and a settings file after --config cannot be given together\n"


# --------------------------------------------------------------------- JSON


def test_json(write: Write, torchlint: Torchlint, tmp_path: Path) -> None:
    write({"x.py": TEXT})
    name, attribute, item = json.loads(torchlint("infer", "x.py:8:8", "--output-format", "json").out)
    evidence = {"strength": "signature", "text": "it comes from the module `net`", "line": 5}
    assert attribute == {
        "filename": str(tmp_path / "x.py"),
        "location": {"row": 8, "column": 8},
        "end_location": {"row": 8, "column": 17},
        "expression": "loss.data",
        "value": {
            "kind": "tensor",
            "may_be": ["tensor"],
            "requires_grad": "no",
            "ndim": "0",
            "dtype": "float",
            "leaf": "yes",
            "role": "plain",
            "class": None,
            "name": None,
            "evidence": evidence,
            "certainty": None,
            "requires_grad_by": [],
            "grad_mode": None,
            "callers": [],
        },
    }
    assert name["value"] == attribute["value"] | {
        "requires_grad": "yes",
        "leaf": "no",
        "certainty": "proved",
        "requires_grad_by": ["parameters of `net`"],
        "grad_mode": "yes",
    }
    assert item["end_location"]["column"] == 20


def test_json_calls_tensor_what_is_one_if_it_is_anything(write: Write, torchlint: Torchlint) -> None:
    write({"x.py": "import torch\n\n\ndef f(c):\n    x = torch.ones(3) if c else None\n    return x\n"})
    entries = json.loads(torchlint("infer", "x.py:6:12", "--output-format", "json").out)
    assert [(entry["value"]["kind"], entry["value"]["may_be"]) for entry in entries] == [("tensor", ["tensor", "none"])]


def test_json_holds_what_is_not_known(write: Write, torchlint: Torchlint) -> None:
    write({"x.py": "x = f(3)\n"})
    entries = json.loads(torchlint("infer", "x.py", "--output-format", "json").out)
    assert [entry["expression"] for entry in entries] == ["x", "f", "f(3)", "3"]
    assert entries[0]["value"] == {
        "kind": "unknown",
        "may_be": ["unknown"],
        **dict.fromkeys(("requires_grad", "ndim", "dtype", "leaf", "role", "class", "name", "evidence")),
        **dict.fromkeys(("certainty", "grad_mode")),
        "requires_grad_by": [],
        "callers": [],
    }
    assert json.loads(torchlint("infer", "x.py:2", "--output-format", "json").out) == []


CLASSES = """\
import torch
from torch import nn


class Net(nn.Module):
    pass


class Plain:
    pass


net, plain, linear = Net(), Plain(), nn.Linear(1, 1)
adam = torch.optim.Adam(net.parameters())
groups = adam.param_groups
"""


@pytest.mark.parametrize(
    ("expression", "kind", "cls", "name"),
    [
        ("net", "module", "Net", None),
        ("plain", "object", "Plain", None),
        ("linear", "module", "torch.nn.Linear", None),
        ("adam", "optimizer", "torch.optim.Adam", None),
        ("groups", "container", None, None),
        ("nn.Linear", "reference", None, "torch.nn.Linear"),
        ("Net", "function", None, None),
        ("net.parameters", "reference", None, None),
    ],
)
def test_classes(expression: str, kind: str, cls: str | None, name: str | None) -> None:
    item = of(CLASSES, expression)
    assert (item.kind, item.cls, item.name) == (kind, cls, name)


def test_several_kinds() -> None:
    text = "import torch\nif f():\n    x = None\nelse:\n    x = torch.ones(3)\nprint(x)\n"
    assert of(text, "x").kind == "tensor|none"
    assert of(text.replace("None", "f()"), "x").kind == "tensor|unknown"
    assert "unknown" in KINDS


# --------------------------------------------------------------------- positions


def spans(text: str) -> dict[tuple[int, int, int, int], str]:
    found = with_big_stack(lambda: list(infer(text, "x.py")))
    return {(item.start.row, item.start.column, item.end.row, item.end.column): item.expression for item in found}


def python_spans(text: str) -> Iterator[tuple[int, int, int, int]]:
    """Where Python's own parser sees expressions, but for annotations and the inside of f-strings."""
    rows = text.split("\n")

    def column(row: int, offset: int) -> int:
        return len(rows[row - 1].encode()[:offset].decode()) + 1

    stack: list[ast.AST] = [ast.parse(text)]
    while stack:
        node = stack.pop()
        is_index = isinstance(node, ast.Tuple) and getattr(node, "is_index", False)
        if isinstance(node, ast.expr) and not isinstance(node, (ast.Slice, ast.Starred)) and not is_index:
            end_row, end_offset = node.end_lineno or 0, node.end_col_offset or 0
            yield node.lineno, column(node.lineno, node.col_offset), end_row, column(end_row, end_offset)
        if isinstance(node, ast.Subscript):
            node.slice.is_index = True  # type: ignore[attr-defined]
        for name, value in ast.iter_fields(node):
            if name not in ("annotation", "returns") and not isinstance(node, ast.JoinedStr):
                stack += [
                    child for child in (value if isinstance(value, list) else [value]) if isinstance(child, ast.AST)
                ]


FORMS = """\
a = (x)
b = ((x.data))
c = (x, y), ((x, y)), x
d = sum(x for x in y) + sum((x for x in y)) + f  (  # why
    x for x in y)
e = ( (x)  .data [0] )
f = [x for x in y if (x)], {x: y for x, y in z}, {*x, y}, {**x}
g = lambda x, *y, z=(1): (x if y else z)
(h := (1))
if not (x and y or z): pass
print(*x, **y, sep=(""), end="a" "b")
assert (yield), -(-1) ** ~x
x[1:2, ..., (y)] += (await_, (3,), ())[0]
for (x, y) in z, z: del (x), y[0]
with (open(x)) as y, z as (a, b): "é"; é.data
match x:
    case a.b(c=1) | [2, *_] if (z): pass
async def f(x=(1)): return await (x)
@(x.y)
class A((B), metaclass=C): x: D = (E)
try: pass
except (F, G): raise (H) from I
"""


def test_positions_are_those_of_python() -> None:
    assert spans(FORMS).keys() == set(python_spans(FORMS))


@pytest.mark.parametrize("path", sorted((ROOT / "tests" / "cases").glob("*.py")), ids=lambda path: path.stem)
def test_positions_in_a_case(path: Path) -> None:
    text = path.read_bytes().decode().replace("\r\n", "\n").replace("\r", "\n").replace("\f", "")
    try:
        wanted = set(python_spans(text))
    except SyntaxError:
        pytest.skip("Python does not parse it any more")
    assert wanted <= spans(text).keys()


@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"], ids=repr)
@pytest.mark.parametrize("end", ["", "\n"], ids=repr)
def test_rows_and_columns(newline: str, end: str, write: Write, torchlint: Torchlint) -> None:
    text = f"\ufeffimport torch\n\f\nif 1:\n\tgröße, 𝑥 = '日本', torch.ones(3){end}".replace("\n", newline)
    write({"x.py": text.encode()})
    lines = torchlint("infer", "x.py:4", "--all").out.splitlines()
    places = {line.split(": ")[1]: line.split(":")[2] for line in lines}
    assert places["größe"] == "2"
    assert places["𝑥"] == "9"
    assert places["torch.ones"] == places["torch.ones(3)"] == "19"
    assert torchlint("infer", "x.py:4:19", "--kind", "tensor").out.split(": ")[1] == "torch.ones(3)"


def test_what_is_no_expression() -> None:
    text = """\
import a.b as c
from d import e
def f(g: h.i, *, j: "k" = l) -> m[n]: global o
class P(metaclass=q): r: s
u.v(w=x)
"""
    assert set(spans(text).values()) == {"l", "q", "r", "u", "u.v", "u.v(w=x)", "x"}


def test_async_as_a_keyword() -> None:
    assert of("import torch\nx = torch.ones(3).cuda(async=True)\n", "x").kind == "tensor"


# --------------------------------------------------------------------- files


def test_directories(write: Write, torchlint: Torchlint) -> None:
    write({"a/x.py": "print(1)\n", "a/build/y.py": "print(1)\n", "b.py": "print(1)\nprint(2)\n"})

    def shown(*paths: str) -> list[str]:
        lines = torchlint("infer", *paths, "--all").out.splitlines()
        return [line.split(": ")[0] for line in lines if line.split(": ")[1].endswith(")")]

    assert shown(".") == ["a/x.py:1:1", "b.py:1:1", "b.py:2:1"]
    assert shown("b.py:2", "a") == ["a/x.py:1:1", "b.py:2:1"]
    assert shown("b.py:2", "b.py:1", "b.py:2") == ["b.py:1:1", "b.py:2:1"]
    assert shown("b.py:2", "b.py") == shown("b.py:2", ".")[1:] == ["b.py:1:1", "b.py:2:1"]


@pytest.mark.parametrize(
    ("argument", "path", "place"),
    [
        ("x.py", "x.py", None),
        ("x.py:3", "x.py", Place(3)),
        ("x.py:3:7", "x.py", Place(3, 7)),
        (r"C:\x.py", r"C:\x.py", None),
        (r"C:\x.py:3", r"C:\x.py", Place(3)),
        (r"C:\x.py:3:7", r"C:\x.py", Place(3, 7)),
        ("x.py:", "x.py:", None),
        ("x.py:a", "x.py:a", None),
        (":3", ":3", None),
    ],
)
def test_places(argument: str, path: str, place: Place | None) -> None:
    assert split(argument) == (path, place)


def test_a_name_with_colons(write: Write, torchlint: Torchlint) -> None:
    write({"x.py:1": "print(1)\n"})
    assert torchlint("infer", "x.py:1", "--all").out.startswith("x.py:1:1:1: print: ")
    assert torchlint("infer", "x.py:1:1:1").out.startswith("x.py:1:1:1: print: ")


BAD_NOTEBOOK = "error: n.ipynb:1: this is no notebook: it has no list of cells\n"

BAD: dict[str, tuple[Any, int, str]] = {
    "y.py": ("x = 1\n", 2, "error: y.py: No such file or directory\n"),
    "y.py:3": ("x = 1\n", 2, "error: y.py: No such file or directory\n"),
    "x.py": ("x = 1\nx = (\n", 2, "error: x.py:2: '(' was never closed\n"),
    "x.py:3": ("x = 1\n", 2, "error: x.py:3: there is no such line, the last is 1\n"),
    "x.py:0": ("x = 1\n", 2, "error: x.py:0: lines and columns count from 1\n"),
    "x.py:1:0": ("x = 1\n", 2, "error: x.py:1: lines and columns count from 1\n"),
    "x.py:1:7": ("x = 1\n", 2, "error: x.py:1: there is no column 7, the line has 5\n"),
    "x.py:1": (b"\n\xe9 = 1\n", 2, "error: x.py:2: cannot decode byte 0xe9 as utf-8\n"),
    "sub:3": ("x = 1\n", 2, "error: sub: a directory has no lines\n"),
    "n.ipynb": ("x = 1\n", 2, BAD_NOTEBOOK),
    "m.ipynb:1": ("x = 1\n", 2, "error: m.ipynb:1: name the cell, too, as in `n.ipynb:cell 3:1`\n"),
    "m.ipynb:cell 2:1": ("x = 1\n", 2, "error: m.ipynb:cell 2: this cell has no Python\n"),
    "m.ipynb:cell 1:2": ("x = 1\n", 2, "error: m.ipynb:cell 1:2: there is no such line, the last is 1\n"),
    "x.py:cell 1:1": ("x = 1\n", 2, "error: x.py:cell 1:1: only notebooks have cells\n"),
    ".": (f"x = {'(' * 300}{')' * 300}\n", 2, f"{BAD_NOTEBOOK}error: x.py:1: too many nested parentheses\n"),
}


@pytest.mark.parametrize("argument", BAD)
def test_bad_input(argument: str, write: Write, torchlint: Torchlint) -> None:
    content, code, message = BAD[argument]
    write({"x.py": content, "sub/z.py": "print(1)\n", "n.ipynb": "{}", "m.ipynb": notebook("y")})
    ran = torchlint("infer", argument, "sub/z.py")
    assert (ran.code, ran.err) == (code, message)
    assert ran.out.startswith("sub/z.py:1:1: print: ")  # the others are there
    alone = torchlint("infer", argument, "--output-format", "json")
    assert (alone.code, alone.err) == (code, message)
    assert json.loads(alone.out) == [] or argument == "."


def test_usage(torchlint: Torchlint, write: Write) -> None:
    assert torchlint("infer").code == 2
    ran = torchlint("infer", ".")
    assert (ran.code, ran.err) == (2, "error: .: no Python files found\n")
    write({"x.py": TEXT, "pyproject.toml": "[tool.torchlint]\nx = 1"})
    assert torchlint("infer", ".").code == 2
    assert torchlint("infer", "--isolated", ".").code == 0


def test_a_budget_that_is_spent(write: Write, torchlint: Torchlint) -> None:
    write(
        {
            "a.py": "".join(f"def f{n}(x):\n    return x + {n}\n" for n in range(50)),
            "torchlint.toml": "model-budget = 20",
        }
    )
    ran = torchlint("infer", "a.py")
    assert (ran.code, ran.err) == (3, "error: a.py: there is more to interpret than `model-budget` allows\n")


def test_what_raises_costs_its_file_only(write: Write, torchlint: Torchlint, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(text: str, path: str, location: str, budget: Budget) -> Iterator[Inferred]:
        if path == "a.py":
            raise KeyError("a")
        return infer(text, path, location, budget=budget)

    write({"a.py": "print(1)\n", "b.py": "print(1)\n"})
    monkeypatch.setattr(command, "infer", fails)
    ran = torchlint("infer", ".")
    assert (ran.code, len(ran.err.splitlines())) == (3, 1)
    assert ran.err.startswith("error: a.py: could not be analysed: KeyError: 'a' (cli/infer.py:")
    assert ran.out.startswith("b.py:1:1: print: ")


def test_as_a_function() -> None:
    with pytest.raises(Unparsed) as raised:
        list(infer("x = (", "x.py"))
    assert raised.value.diagnostic.start.row == 1
    assert list(infer("", "x.py")) == []


def test_cells_that_are_no_python_are_named(write: Write, torchlint: Torchlint) -> None:
    sources: list[object] = [None, ["import torch\n", "x = torch.ones(3)"], "a ="]
    cells: list[dict[str, Any]] = [
        {"cell_type": "code", "source": each, "metadata": {}, "outputs": []} for each in sources
    ]
    write({"x.ipynb": json.dumps({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5})})
    ran = torchlint("infer", "x.ipynb")
    no_text, wrong = ran.err.splitlines()
    assert no_text == "warning: x.ipynb:cell 1:1: the code of this cell is no text"
    assert wrong.startswith("warning: x.ipynb:cell 3:1: ")
    assert (ran.code, ran.out.splitlines()[0].partition(" tensor")[0]) == (0, "x.ipynb:cell 2:2:1: x:")
    ran = torchlint("infer", "x.ipynb:cell 1:1", "x.ipynb:cell 2:1")
    nothing = "warning: x.ipynb:cell 2:1: no expression begins here\n"
    assert (ran.code, ran.err) == (2, f"error: {no_text.removeprefix('warning: ')}\n{nothing}")


def test_the_first_example_of_the_page(write: Write, torchlint: Torchlint) -> None:
    page = (Path(__file__).parents[1] / "docs" / "infer.md").read_text(encoding="utf-8")
    [program] = re.findall(r"^```python\n(.*?)^```$", page.partition("it prints:")[0], re.MULTILINE | re.DOTALL)
    [expected] = re.findall(r"^\$ torchlint infer train.py:6\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    write({"train.py": program})
    assert torchlint("infer", "train.py:6").out == expected
