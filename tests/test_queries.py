"""What is asked for inside itself, how often it is computed, and what is kept of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import libcst as cst
import pytest
from made_up import File

from torchlint.file.check import check_text
from torchlint.model import interpreted
from torchlint.model.budget import Budget
from torchlint.model.codebase.modules import Codebase
from torchlint.model.context import Context
from torchlint.model.interpret.keys import AttributeKey, ScopeKey
from torchlint.model.interpret.queries import Queries
from torchlint.model.interpret.summary import Summary
from torchlint.model.values import NONE, NUMBER, STRING, UNKNOWN, Value, join


@dataclass
class Program:
    """Attributes that are each the join of a value of their own and of other attributes, which they ask for."""

    attributes: Mapping[str, tuple[Value, str]]
    home: File = field(default_factory=File)
    queries: Queries = field(default_factory=Queries)
    computed: Counter[str] = field(default_factory=Counter)

    def ask(self, name: str, budget: Budget | None = None, is_far: bool = False, counts: bool = False) -> Value | None:
        def compute(_: int) -> Value | None:
            self.computed[name] += 1
            found, others = self.attributes[name]
            for other in others:
                value = self.ask(other, budget, is_far, counts)
                found = found if value is None else join(found, value)
            return found

        return self.queries.ask(
            AttributeKey(0, name), compute, None, self.home, budget=budget, is_far=is_far, counts=counts
        )


ALONE = {"a": (NUMBER, "")}
LINE = {"a": (NUMBER, "b"), "b": (STRING, "c"), "c": (NONE, "")}
ITSELF = {"a": (NUMBER, "a")}
CIRCLE = {"a": (NUMBER, "b"), "b": (STRING, "c"), "c": (NONE, "a")}

ALL = join(join(NUMBER, STRING), NONE)


@pytest.mark.parametrize(("attributes", "value"), [(ALONE, NUMBER), (LINE, ALL), (ITSELF, NUMBER), (CIRCLE, ALL)])
def test_answers(attributes: dict[str, tuple[Value, str]], value: Value) -> None:
    assert Program(attributes).ask("a") == value


def test_an_answer_that_rests_on_nothing_open_is_found_once() -> None:
    program = Program(LINE)
    for name in ("a", "b", "c", "a"):
        program.ask(name)
    assert program.computed == {"a": 2, "b": 2, "c": 2}  # in two rounds each
    assert len(program.home.answers) == 3


def test_what_rests_on_something_open_is_not_kept_for_good() -> None:
    program = Program(CIRCLE)
    program.ask("a")
    kept = {key.name for key in program.home.answers if isinstance(key, AttributeKey)}
    assert kept == {"a"}
    assert program.ask("b") == ALL  # asked for by itself, it is not what was seen while `a` was open


def test_another_file_that_is_checked_knows_nothing_of_what_was_open() -> None:
    program = Program(CIRCLE)
    program.ask("a")
    program.queries.begin()
    again = Program(CIRCLE, queries=program.queries)
    assert again.ask("c") == ALL


@pytest.mark.parametrize(("start", "value"), [("a", ALL), ("b", join(join(STRING, NONE), UNKNOWN))])
def test_functions_of_other_files_wait_for_each_other_only_so_far(start: str, value: Value) -> None:
    """Three of them, from wherever it was asked; what the fourth one gives is not known."""
    attributes = {**LINE, "c": (NONE, "d"), "d": (UNKNOWN, "")}
    assert Program(attributes, File(is_part=True)).ask(start, is_far=True, counts=True) == value


def test_nothing_is_begun_when_the_budget_is_spent() -> None:
    budget = Budget(1)
    budget.used = 2
    program = Program(ALONE)
    assert program.ask("a", budget) is None
    assert not program.computed
    assert not program.home.answers


def test_nothing_is_computed_inside_itself() -> None:
    node, queries = cst.Name("f"), Queries()
    seen: list[str] = []

    def compute() -> str:
        seen.append(queries.once(node, compute, "inside itself"))
        return "done"

    assert (queries.once(node, compute, "inside itself"), seen) == ("done", ["inside itself"])
    assert queries.once(node, lambda: "again", "inside itself") == "again"


def test_what_raises_is_not_open_any_more() -> None:
    program = Program({"a": (NUMBER, "x")})
    for _ in range(2):
        with pytest.raises(KeyError):
            program.ask("a")
        assert not program.queries.is_open(AttributeKey(0, "a"))


@pytest.mark.parametrize("many", [5, 20])
def test_a_constructor_that_goes_round_in_circles_is_not_interpreted_for_each_attribute(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, many: int
) -> None:
    """From one function further away it comes out differently, but the same for each."""
    names = [f"self.a{index}" for index in range(many)]
    constructor = ["def same(v): return v", "self.y = same(x)", *(f"{name} = x" for name in names)]
    body = ["class Trainer:", "    def __init__(self, x):", *(f"        {line}" for line in constructor)]
    body += ["    def generate(self):", f"        self.y = ({', '.join(names)})"]
    (tmp_path / "trainer.py").write_text("\n".join([*body, ""]), encoding="utf-8")
    (tmp_path / "pyproject.toml").touch()
    began: Counter[str] = Counter()
    interpret = interpreted._interpret

    def counting(
        context: Context, scope: cst.FunctionDef | cst.Module, key: ScopeKey, cls: cst.ClassDef | None
    ) -> Summary:
        began[scope.name.value if isinstance(scope, cst.FunctionDef) else ""] += 1
        return interpret(context, scope, key, cls)

    monkeypatch.setattr(interpreted, "_interpret", counting)
    text = "import torch\nfrom trainer import Trainer\nt = Trainer(torch.ones(3))\nz = t.y.data\n"
    check_text(text, "use.py", frozenset(("TL101",)), location=str(tmp_path / "use.py"), codebase=Codebase())
    assert began["__init__"] == 2
