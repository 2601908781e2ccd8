"""Questions to the model whose answers are kept."""

from __future__ import annotations

import ast
from pathlib import Path

from torchlint.file.check import check_text
from torchlint.file.tree.tree import Tree
from torchlint.model import Model
from torchlint.rules import catalogue

PACKAGE = Path(__file__).parents[1] / "torchlint"

TWO_QUESTIONS = """\
import torch


def first(p):
    p.grad = torch.ones(3)
    return p.grad.data


def second(q: torch.Tensor):
    return q.grad.data
"""


def test_what_a_rule_and_the_model_ask_about_graphs_are_two_questions() -> None:
    outcome = check_text(TWO_QUESTIONS, "x.py", frozenset(catalogue()))
    assert outcome.problems == ()
    assert [(d.code, d.start.row) for d in outcome.diagnostics] == [("TL101", 6), ("TL101", 10)]


def test_an_answer_is_of_a_function_and_its_arguments() -> None:
    model = Model(Tree("x = 1\n"))
    asked: list[int] = []

    def double(model: Model, number: int) -> int:
        asked.append(number)
        return 2 * number

    def negative(model: Model, number: int) -> int:
        return -number

    answers = [model.remember(double, 1), model.remember(negative, 1), model.remember(double, 2)]
    assert answers == [2, -1, 4]
    assert model.remember(double, 1) == 2
    assert asked == [1, 2]


def test_questions_are_asked_with_functions_of_a_module() -> None:
    """A lambda is a new function each time, so nothing would be kept."""
    for path in PACKAGE.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_bytes())):
            match node:
                case ast.Call(func=ast.Attribute(attr="remember"), args=[first, *_]):
                    assert isinstance(first, (ast.Name, ast.Attribute)), f"{path.name}:{node.lineno}"
