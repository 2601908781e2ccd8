"""Random notebooks: fixing one is fixing its program, and nothing but code changes in the file."""

from __future__ import annotations

import itertools
import json
import re

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from notebooks import METADATA, cell, prose

from torchlint.diagnostic import Fixing, TextEdit
from torchlint.file.check import check_text
from torchlint.file.notebook.container import code_cells
from torchlint.file.notebook.keeping import kept
from torchlint.file.notebook.magics import in_place_of, masked
from torchlint.file.notebook.program import read_notebook
from torchlint.file.text.edits import composed, splice

CODES = frozenset(("TL101", "TL102", "TL201", "TL203", "TL403"))

HEAD = "import torch\nfrom torch.autograd import Variable\nw = torch.ones(2, requires_grad=True)\nx = Variable(torch.ones(2))"

STATEMENTS = (
    *("a = w.data", "w.data.add_(1)", "w.data.add_(2);  # é", "w.data", "x.add(1)", "x.add(1);", "b = Variable(x)"),
    *("c = w.sum().data[0]", "if a is None:\n    !pip install \\\n    b\n    w.data.zero_()", "%time a = w.data + 1"),
    *(
        "%matplotlib inline",
        "f = !ls",
        "w?",
        "# é \U0001f600",
        "",
        "s = '''\n%x\n'''",
        "def f(p):\n    p.data.mul_(2)\n    return p.data",
    ),
    *("print 1", "(", "await f", "a.data = w.data  # torchlint: ignore", "from torch.autograd import Variable as V"),
)

CELLS = st.lists(
    st.one_of(
        st.lists(st.sampled_from(STATEMENTS), max_size=4).map("\n".join),
        st.lists(st.sampled_from(STATEMENTS), max_size=3).map(lambda lines: "\n".join(["%%time", *lines, ""])),
        st.just("%%bash\nw.data"),
    ),
    max_size=5,
)


def written(cells: list[str], how: list[int], indent: int | None, is_ascii: bool, newline: str) -> str:
    """A notebook, its cells written in several ways."""
    made = [prose("é")]
    for number, code in enumerate([HEAD, *cells]):
        way = how[number % len(how)]
        made.append(cell(code if way == 0 else re.findall(r"(?s).{1,9}", code)) if way < 2 else cell("", source=code))
    content = {"cells": made, "metadata": METADATA, "nbformat": 4, "nbformat_minor": 5}
    return json.dumps(content, indent=indent, ensure_ascii=is_ascii).replace("\n", newline)


def without_code(text: str) -> list[str]:
    """What stands around the code."""
    pieces, last = [], 0
    for each in code_cells(text):
        pieces.append(text[last : each.start])
        last = each.end
    return [*pieces, text[last:]]


@settings(max_examples=60, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck), database=None)
@given(
    CELLS,
    st.lists(st.integers(0, 2), min_size=1, max_size=3),
    st.sampled_from([None, 1]),
    st.booleans(),
    st.sampled_from(["\n", "\r\n"]),
    st.sampled_from([Fixing.SAFE, Fixing.UNSAFE]),
)
def test_fixing_a_notebook_is_fixing_its_program(
    cells: list[str], how: list[int], indent: int | None, is_ascii: bool, newline: str, fixing: Fixing
) -> None:
    text = written(cells, how, indent, is_ascii, newline)
    notebook = read_notebook(text.encode()).without_bad_cells()
    assert len(notebook.text) == len(notebook.shown)
    done = check_text(notebook.text, "n.ipynb", CODES, fixing, revised=lambda text, found: kept(notebook, text, found))
    after = notebook.after(done.rounds)
    fixed = read_notebook(after.encode()).without_bad_cells()
    assert fixed.holds(done.text)
    assert without_code(after) == without_code(text)
    foreign = re.compile("[ǂ]+")
    assert foreign.findall(fixed.text) == foreign.findall(notebook.text)
    if done.text == notebook.text:
        assert after == text
    again = check_text(fixed.text, "n.ipynb", CODES, fixing, revised=lambda text, found: kept(fixed, text, found))
    assert again.text == fixed.text


@settings(max_examples=300, deadline=None, derandomize=True, database=None)
@given(
    st.text("ab", max_size=12),
    st.lists(
        st.lists(st.tuples(st.integers(0, 15), st.integers(0, 3), st.text("xy", max_size=3)), max_size=4), max_size=4
    ),
)
def test_rounds_of_edits_are_one(text: str, rounds: list[list[tuple[int, int, str]]]) -> None:
    now, made = text, []
    for each in rounds:
        edits, last = [], -1
        for start, length, content in sorted(each):
            end = min(start + length, len(now))
            if last < start <= end:
                edits.append(TextEdit(start, end, content))
                last = end
        made.append(edits)
        now = splice(now, edits)
    one = composed(made, len(text))
    assert splice(text, one) == now
    assert all(first.end < second.start for first, second in itertools.pairwise(one))


@settings(max_examples=300, deadline=None, derandomize=True, database=None)
@given(st.text("a%!?=\\\n\r \"'(#;x", max_size=20))
def test_every_character_keeps_its_place(source: str) -> None:
    code = masked(source)
    if code is not None:
        assert len(code.text) == len(source)
        assert re.findall(r"\r\n|\r|\n", code.text) == re.findall(r"\r\n|\r|\n", source)
        assert all(mine == other or mine in "ǂ#;=x " for mine, other in zip(code.text, source, strict=True))
    assert len(in_place_of(source)) == len(source)


@pytest.mark.parametrize("size", [2_000, 20_000])
def test_outputs_are_not_looked_at(size: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """However large they are, the same steps are taken."""
    from torchlint.file.notebook import container

    steps = [0]
    inner = container._Reader._entries

    def counted(*arguments: object) -> int:
        steps[0] += 1
        return inner(*arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(container._Reader, "_entries", counted)
    outputs = [{"data": {"image/png": "A" * 100}, "metadata": {}, "output_type": "display_data"}] * size
    content = {"cells": [cell("x = 1", outputs=outputs)], "metadata": METADATA, "nbformat": 4}
    assert len(code_cells(json.dumps(content))) == 1
    assert steps[0] == 4  # the notebook, its cells, the cell, its lines
