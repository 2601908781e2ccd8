"""A quick tree is libcst's tree without white space, comments and brackets, and it shows what that tree shows."""

from __future__ import annotations

import ast
import dataclasses
import functools
import sys
from collections.abc import Iterator
from pathlib import Path

import libcst as cst
import pytest

from torchlint.diagnostic import Fixing
from torchlint.file import check
from torchlint.file.check import Outcome
from torchlint.file.dispatch.subject import Subject
from torchlint.file.first_look import first_look
from torchlint.file.parse.invalid import syntax_error
from torchlint.file.tree.fast import quick
from torchlint.file.tree.fast.quick_expressions import NoQuickTree
from torchlint.file.tree.nodes import is_trivia
from torchlint.file.tree.tree import Tree
from torchlint.model.codebase.modules import Codebase
from torchlint.rules import catalogue
from torchlint.testing.examples import examples

ROOT = Path(__file__).parents[1]
FILES = [
    *sorted(ROOT.glob("torchlint/**/*.py")),
    *sorted(ROOT.glob("tests/*.py")),
    *sorted(ROOT.glob("examples/**/*.py")),
    Path(ast.__file__).with_name("argparse.py"),
]
CODES = frozenset(catalogue())

ODD = '''\
import torch
from torch.autograd import Variable as V


class Net(torch.nn.Module):
  """Indented by two."""

  # a comment

  def __init__(
      self, n=3,  # how many
  ):  # the end of the header
      # before the first statement
      super().__init__()
      self.weights = [torch.nn.Parameter(torch.ones(n)) for _ in range(n)]
      self.text = """
  def not_a_function():
      pass
"""
      # after the last statement
        # and one further in

  async def unused(self):
    """Only a docstring, and long enough that it would not be parsed with the rest of the file if nobody asked for it.

    And one more line.
    """

  @staticmethod
  @torch.no_grad()
  def decorated(x): return x

  class Inner:
    def first(self, x):
        y = V(x)
        if x:
            pass
        # a comment at the end
        return y.data[0] + sum(len(each) for each in ("aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", "bbbbbbbbbbbbbb"))

    def second(self, x): \\
        return x; y = 1


def outer(loss, total=0):
    @torch.no_grad()
    def inner():
        total = loss.data.cpu().numpy() + 1000000000000000000000000000000000000000000000000000000000000000000000000000000
        return total
    def grow():
        found.append(loss.data)
    found = []; found.append(1)
    grow()
    return inner() + found[0]
'''


def unlike(node: object, other: object) -> str:
    """Where two nodes, or those below them, first say something else; of an f-string, the expressions in it."""
    pairs: Iterator[tuple[str, object, object]]
    if isinstance(node, (list, tuple)) and isinstance(other, (list, tuple)) and len(node) == len(other):
        pairs = zip(map(str, range(len(node))), node, other, strict=True)
    elif is_formatted(node) and is_formatted(other):
        return unlike(list(formatted(node)), list(formatted(other)))
    elif isinstance(node, cst.CSTNode) and type(node) is type(other):
        pairs = ((name, getattr(node, name), getattr(other, name)) for name in _shown(type(node)))
    else:
        return "" if type(node) is type(other) and node == other else f": {node!r:.200} and {other!r:.200}"
    return next((f".{name}{found}" for name, one, two in pairs if (found := unlike(one, two))), "")


@functools.cache
def _shown(cls: type[cst.CSTNode]) -> list[str]:
    """The fields of a node that say something."""
    names = (field.name for field in dataclasses.fields(cls))
    return [name for name in names if not is_trivia(name) and not name.endswith("_colon")]


def is_formatted(node: object) -> bool:
    match node:
        case cst.ConcatenatedString():
            return is_formatted(node.left) or is_formatted(node.right)
    return isinstance(node, cst.FormattedString)


def formatted(node: object) -> Iterator[cst.BaseExpression]:
    """The expressions in an f-string, or in one of several literals in a row."""
    match node:
        case cst.ConcatenatedString():
            yield from formatted(node.left)
            yield from formatted(node.right)
        case cst.FormattedStringExpression():
            yield node.expression
            for part in node.format_spec or ():
                yield from formatted(part)
        case cst.FormattedString():
            for part in node.parts:
                yield from formatted(part)


def assert_same(text: str) -> None:
    assert not unlike(Tree(text, is_quick=True).module.body, cst.parse_module(text).body)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_a_quick_tree_has_the_nodes_that_libcst_makes(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    if quick.is_possible(text) and syntax_error(text, path.name) is None:
        assert_same(text)


@pytest.mark.parametrize(
    "text",
    [
        "x[1], x[1:2, ...], x[(1, 2)], x[()], x[1,], x[*y], x[(1), (2)], x[:, None], x[a:b:c]\n",
        "f(*a, b, *c, k=1, **d)\nf(k=1, *a)\nf(x for x in y)\nclass C(A, *B, metaclass=M, **kw): x = 1; y = 2\n",
        "a and b and c or d and not e\na < b <= c is not d not in e\n-a ** ~b @ c // d % e\n",
        "'a' \"b\" '''c\nd'''\nb'x' b'y'\n('a'  # 'no'\n 'b')\nr'\\\\'\n'' ''\n",
        "0x10, 1_000, 00, 1e5, .5, 1., 3j, True, None, ...\n",
        "def f(a, b=1, /, c: int = 2, *, d, e=3, **k) -> int: return a\ndef g(*args: int): pass\nlambda *a, b=1, **k: 0\n",
        "a = b = c\na: int\na: int = 1\na += 1; b @= 2; c >>= 3\ndel a, b\ndel (a)\n*a, b = c\n",
        "if a: pass\nelif b:\n  pass\nelse:\n  if c: x; y\n  else:\n    pass\nif a:\n  pass\nelse:\n  if b:\n    pass\n",
        "for x in *a, b:\n  break\nelse:\n  continue\nwhile (y := f()): pass\n",
        "with a as b, c as (d, e):\n  pass\nwith (a as b, c): pass\n",
        "try:\n  pass\nexcept (A, B) as e:\n  raise X from e\nexcept C: raise\nelse:\n  pass\nfinally:\n  pass\n",
        "async def f():\n  async with a as b: pass\n  async for x in y: await z\n  return [x async for x in y if a if b]\n",
        "from . import a\nfrom .. import b as c\nfrom .x.y import (d, e as f)\nfrom z import *\nimport a.b.c as d, e\n",
        "def f():\n  global a, b\n  def g():\n    nonlocal c\n  yield\n  yield 1, 2\n  x = yield from y\n",
        "match x:\n  case [1, *_]: pass\n  case A(b=c) | {'k': v}:\n    pass\n  case _: pass\n",
        '@a\n@b.c(d)\nclass A:\n  """Doc."""\n  @property\n  def f(self): \'doc\'; return 1\n',
        "f'{a!r:>{w}} {b}' 'c' f\"{d['e']}\"\nf'{{}}'\nassert a, f'{b}'\n",
        "{**a, 'b': 1}, {1, *b}, {k: v for k, v in x}, {x for x in y for z in x}, (x for x in y)\n",
        "x = 'ä'; y = \"ö\", z.ü[1]\n",
        ODD,
        "def f():  # a \\\n  x\ndef g(): \\\n  x\n",
    ],
)
def test_all_that_can_be_written(text: str) -> None:
    if sys.version_info < (3, 11) and "x[*y]" in text:
        text = text.replace("x[*y], ", "")
    assert_same(text)
    assert rows(text, is_quick=True) == rows(text, is_quick=False)


def rows(text: str, *, is_quick: bool) -> list[tuple[str, int]]:
    """The calls of a text, and where they begin."""
    tree = Tree(text, is_quick=is_quick)
    return [(tree.code(call.func), tree.row(call)) for call in tree.all(cst.Call)]


def test_rows_of_what_libcst_parsed() -> None:
    """Also inside a statement that a quick tree has not, and in one that it began to make and gave up."""
    text = """\
a()
match b():
    case 1:
        c(
            d(),
            (
                e()),
        )


def f():
    g(); h()
    try:
        i()
    except* j():
        k()
    for x in y: l(*m(), n=(
        o()))
    match p:
        case q():
            @r()
            def s():
                t()
"""
    if sys.version_info < (3, 11):
        text = text.replace("except*", "except")
    assert rows(text, is_quick=True) == rows(text, is_quick=False)


@pytest.mark.parametrize(
    "text", ["x = 1  # type: int\n", "x = 1\f\n", "x = 1\ry = 2\n", "x = (\n", "try: x\nexcept: y\nexcept A: z\n"]
)
def test_what_has_no_quick_tree(text: str) -> None:
    with pytest.raises(NoQuickTree):
        Tree(text, is_quick=True)


def test_a_comment_that_means_nothing() -> None:
    assert_same("x = 1  # type: ignore\n")


def test_code() -> None:
    tree = Tree("f(a . b,  *c, d and  e and f, 'ä' , x, k = 1)\n", is_quick=True)
    (call,) = tree.all(cst.Call)
    assert [tree.code(arg) for arg in call.args] == ["a . b", "*c", "d and  e and f", "'ä'", "x", "k = 1"]
    assert [tree.code(arg.value) for arg in call.args] == ["a . b", "c", "d and  e and f", "'ä'", "x", "1"]
    assert tree.code(tree.all(cst.BooleanOperation)[1]) == "d and  e"
    assert tree.code(Tree("f(b, a = 1 , c=2)\n").all(cst.Arg)[1]) == "a = 1"


SMALL = [ODD, *(example.before for info in catalogue().values() for example in examples(info.doc))]
"""A text with all that is odd, and the examples of all rules."""
CASES = [*SMALL, *(path.read_text(encoding="utf-8") for path in sorted(ROOT.glob("tests/cases/**/*.py")))]


@pytest.mark.parametrize("number", range(len(SMALL)))
def test_a_first_look_changes_nothing(number: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nor in case files, which are looked at without quick trees where all layers are switched off in turn."""
    text = SMALL[number]

    def checked() -> Outcome:
        return check.check_text(text, "x.py", CODES, Fixing.UNSAFE, codebase=Codebase())

    quick = checked()
    monkeypatch.setattr(check, "first_look", lambda *_: None)
    assert quick == checked()


QUICK = [text for text in CASES if quick.is_possible(text) and syntax_error(text, "x.py") is None]


@pytest.mark.parametrize("number", range(len(QUICK)))
def test_a_first_look_shows_the_rules_that_find_something(number: int) -> None:
    text = QUICK[number]
    look = first_look(text, CODES, Subject("x.py", CODES, codebase=Codebase()))
    found = check.check_text(text, "x.py", CODES - {"TL002"}, codebase=Codebase())
    assert look is not None
    assert {diagnostic.code for diagnostic in found.diagnostics} <= look.codes
