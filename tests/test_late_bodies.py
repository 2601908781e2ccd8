"""What is parsed later changes nothing: with and without it, findings and fixes are the same."""

from __future__ import annotations

from pathlib import Path

import libcst as cst
import pytest

from torchlint.diagnostic import Fixing
from torchlint.file import check
from torchlint.file.check import Outcome, check_text
from torchlint.file.tree.fast import late_bodies
from torchlint.file.tree.placeholders import without_async
from torchlint.file.tree.tree import Tree
from torchlint.file.triggers.sites import sites
from torchlint.model.codebase.modules import Codebase
from torchlint.rules import catalogue

ROOT = Path(__file__).parent.parent
CODES = frozenset(catalogue())
FILES = sorted([*ROOT.glob("examples/**/*.py"), *ROOT.glob("tests/cases/**/*.py"), *ROOT.glob("torchlint/**/*.py")])

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


@pytest.fixture(autouse=True)
def leave_small_ones_too(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have every body left unread, however small."""
    monkeypatch.setattr(late_bodies, "MIN_SIZE", 0)


def texts() -> list[str]:
    """Files of this repository, and one text with all that is odd."""
    return [ODD, *(without_async(path.read_text(encoding="utf-8")) for path in FILES)]


def nothing(first: int, end: int) -> bool:
    return False


@pytest.mark.parametrize("number", range(len(texts())))
def test_what_is_read_later_is_the_same_tree(number: int) -> None:
    text = texts()[number]
    whole, sparse = Tree(text), Tree(text, nothing)
    assert sparse.module.code == text
    for cls in (cst.Name, cst.Attribute, cst.Call, cst.FunctionDef, cst.IndentedBlock, cst.SimpleStatementLine):
        expected = whole.all(cls)
        found = sparse.all(cls)
        assert [whole.code(node) for node in expected] == [sparse.code(node) for node in found]
        assert list(map(whole.spans(expected).get, map(id, expected))) == list(
            map(sparse.spans(found).get, map(id, found))
        )
    assert sparse.module.code == text
    nodes, others = list(whole.walk(whole.module)), list(sparse.walk(sparse.module))
    assert list(map(type, nodes)) == list(map(type, others))
    orders = [sparse.order(node) for node in others]
    assert orders == sorted(orders)
    for node, other in zip(nodes, others, strict=True):
        assert type(whole.parent(node)) is type(sparse.parent(other))


def test_something_is_left_unread() -> None:
    sparse = late_bodies.without_bodies(ODD, nothing)
    assert sparse is not None
    text, bodies = sparse
    assert "super().__init__" not in text
    assert [body is not None for body in bodies] == [True, True, False, True, False, True]


def test_reading_one_body_leaves_the_others() -> None:
    tree = Tree(ODD, nothing)
    assert not tree.parsed_names("found")
    assert [type(node) for node in tree.names("not_a_function")] == []
    assert len(tree.names("weights")) == 1
    assert not tree.parsed_names("found")
    assert len(tree.names("found")) == 4


@pytest.mark.parametrize("fixing", [Fixing.NONE, Fixing.UNSAFE])
@pytest.mark.parametrize("number", range(len(texts())))
def test_findings_and_fixes_are_the_same(number: int, fixing: Fixing, monkeypatch: pytest.MonkeyPatch) -> None:
    text = texts()[number]

    def checked() -> Outcome:
        return check_text(text, "x.py", CODES, fixing, codebase=Codebase())

    monkeypatch.setattr(check, "first_look", lambda *_: None)
    sparse = checked()
    monkeypatch.setattr(check, "sites", lambda data, codes: None)
    assert sparse == checked()


@pytest.mark.parametrize(
    "text",
    ["def f():\r\n    return 1\r\n", "def f():\n\f    return 1\n", "def f(:\n    pass\n", "x = 1", "x = 1\n"],
)
def test_what_is_parsed_as_a_whole(text: str) -> None:
    assert late_bodies.without_bodies(text, nothing) is None


def test_what_libcst_refuses_is_parsed_as_a_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(check, "first_look", lambda *_: None)
    text = f"import torch\n\n\ndef f(x):\n    return x.data\n\n\ndef g(x):\n    y = {'x + ' * 60}x\n    f(y)\n    return y\n"
    expected = check_text(text, "x.py", CODES)
    asked = []

    def refuse(raw: str, around: str, parse: object) -> None:
        asked.append(raw)
        raise late_bodies.Unreadable("no")

    monkeypatch.setattr(late_bodies, "parsed_body", refuse)
    assert check_text(text, "x.py", CODES) == expected
    assert asked


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("from torch.autograd import Variable as V\ndef f(x):\n  return V(x)\ndef g(x):\n  return x\n", [True, False]),
        ("import torch\nold = torch.symeig\ndef f(x):\n  return old(x)\ndef g(x):\n  return x\n", [True, False]),
        ("import torch\ndef f(x):\n  y = x.data\ndef g(x):\n  return x[0]\ndef h(x):\n  y = x\n", [True, True, False]),
        ("from torch import (\n  symeig,\n)\ndef f(x):\n  return symeig(x)\ndef g(x):\n  return x\n", [True, False]),
    ],
)
def test_sites(text: str, wanted: list[bool]) -> None:
    is_wanted = sites(text.encode(), CODES)
    lines = text.split("\n")
    rows = [row for row, line in enumerate(lines) if line.startswith("def ")]
    ends = [*rows[1:], len(lines)]
    assert [is_wanted(first, end) for first, end in zip(rows, ends, strict=True)] == wanted
