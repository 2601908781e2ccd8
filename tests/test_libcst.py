"""What is taken from libcst beyond its documented interface does what it is taken for.

``scripts/check_libcst.py`` runs this with the oldest version of libcst that is supported, and with the newest one.
"""

from __future__ import annotations

import re
from pathlib import Path

import libcst as cst
import pytest
from libcst.metadata import CodePosition, MetadataWrapper, PositionProvider

from torchlint.file.tree.internals import Recorder, Verbatim, parse_module, set_class, set_field, slot

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "torchlint"
INTERNALS = PACKAGE / "file" / "tree" / "internals.py"
CASES = [path for path in sorted((ROOT / "tests" / "cases").glob("*.py")) if path.stem != "async_keyword"]

PRIVATE = re.compile(
    r"libcst\._|libcst\.native|\bCodegenState\b|\._?codegen\w*\(|\b_codegen\w*|[\.\"]__post_init__|object\.__setattr__\((?!self\b)|"
    r"vars\(cst\."
)


def test_private_parts_stand_in_one_module() -> None:
    for path in PACKAGE.rglob("*.py"):
        if path != INTERNALS:
            assert not PRIVATE.search(path.read_text(encoding="utf-8")), path


@pytest.mark.parametrize("path", CASES, ids=lambda path: path.stem)
def test_parsing_without_validation_gives_the_same_tree(path: Path) -> None:
    text = path.read_bytes().decode("utf-8").replace("\f", "")
    assert parse_module(text).deep_equals(cst.parse_module(text))


def test_parsing_leaves_validation_as_it_was() -> None:
    with pytest.raises(cst.ParserSyntaxError):
        parse_module("x = = 1\n")
    with pytest.raises(cst.CSTValidationError):
        cst.Name("")


@pytest.mark.parametrize("path", CASES, ids=lambda path: path.stem)
def test_recorded_places_are_those_of_libcst(path: Path) -> None:
    text = path.read_bytes().decode("utf-8").replace("\f", "").replace("\r\n", "\n")
    wrapper = MetadataWrapper(cst.parse_module(text), unsafe_skip_copy=True)
    positions = wrapper.resolve(PositionProvider)
    wanted = {
        id(node): node for node in positions if isinstance(node, (cst.Name, cst.Call, cst.BaseStatement, cst.Arg))
    }
    recorder = Recorder(wrapper.module, dict(wanted))
    recorder.run()
    assert "".join(recorder.tokens) == wrapper.module.code
    offsets = [0]
    for token in recorder.tokens:
        offsets.append(offsets[-1] + len(token))
    starts = [0, *(match.end() for match in re.finditer("\n", text))]

    def place(position: CodePosition) -> int:
        return starts[position.line - 1] + position.column

    for key, node in wanted.items():
        first, last = recorder.inner[key]
        expected = positions[node]
        assert (offsets[first], offsets[last]) == (place(expected.start), place(expected.end)), node


def test_fields_can_be_written() -> None:
    name = cst.Name("x")
    with pytest.raises(AttributeError):
        name.value = "y"  # type: ignore[misc]
    set_field(name, "value", "y")
    assert name.value == "y"
    made = object.__new__(cst.Name)
    slot(cst.Name, "value").__set__(made, "z")
    assert made.value == "z"


class Shouted(Verbatim):
    __slots__ = ()  # type: ignore[misc]

    @property
    def verbatim(self) -> str:
        return "    return 'SHOUTED'\n"


def test_a_block_can_write_a_text_and_be_a_block_again() -> None:
    module = cst.parse_module("def f():\n    return 1\n")
    block = cst.ensure_type(module.body[0], cst.FunctionDef).body
    set_class(block, Shouted)
    assert module.code == "def f():\n    return 'SHOUTED'\n"
    assert isinstance(block, cst.IndentedBlock)
    set_class(block, cst.IndentedBlock)
    assert module.code == "def f():\n    return 1\n"
