"""What torchlint relies on in libcst that libcst does not promise: each with a test that fails where it is not so."""

from __future__ import annotations

import inspect

import libcst as cst
import pytest
from libcst._nodes.internal import CodegenState

from torchlint.file.tree.libcst_private import parse_module, recorded

TEXT = "def f(a,  b = (1)):  # c\n    return (a . b)\n\nx = 1"


def test_validation_is_in_post_init_and_back_afterwards() -> None:
    assert parse_module(TEXT).deep_equals(cst.parse_module(TEXT))
    with pytest.raises(cst.CSTValidationError):
        cst.Name("")
    with pytest.raises(cst.ParserSyntaxError):
        parse_module("(")
    with pytest.raises(cst.CSTValidationError):
        cst.Name("")


def test_what_is_written_is_the_text_and_nodes_stand_where_they_stand() -> None:
    module = parse_module(TEXT)
    function, line = module.body
    assert isinstance(function, cst.FunctionDef)
    returned = function.body.body[0]
    assert isinstance(returned, cst.SimpleStatementLine)
    assert isinstance(returned.body[0], cst.Return)
    value = returned.body[0].value
    assert value is not None
    written = recorded(module, [function, value, line])
    assert written.code == TEXT
    start, end, inner, inner_end = written.places[id(value)]
    assert (TEXT[start:end], TEXT[inner:inner_end]) == ("(a . b)", "a . b")
    start, end, *_ = written.places[id(line)]
    assert TEXT[start:end] == "x = 1"


def test_the_names_that_are_overridden() -> None:
    assert {"before_codegen", "after_codegen", "record_syntactic_position"} <= set(dir(CodegenState))
    assert list(inspect.signature(CodegenState.before_codegen).parameters) == ["self", "node"]
