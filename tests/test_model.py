"""The model against its specification, ``tests/model/*.md``; ``tests/model/README.md`` documents the format."""

from __future__ import annotations

import ast
import io
import re
import sys
import tokenize
import warnings
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Any, cast
from unittest import mock

import libcst as cst
import numpy as np
import pytest
import torch
from torch.optim.optimizer import register_optimizer_step_pre_hook

from torchlint.file.text.lines import Lines
from torchlint.file.tree.given import Span
from torchlint.file.tree.tree import Tree
from torchlint.model import Certainty, Dtype, Kind, Model, Ndim, Role, Tri, Value
from torchlint.model.possibilities import Possibilities
from torchlint.model.syntax import is_label
from torchlint.model.torch.ndims import ndim_by
from torchlint.model.training import TrainingEvent, What
from torchlint.model.values import tensor
from torchlint.rules.shared.paths import Facts, Paths

SPECS = sorted(path for path in (Path(__file__).parent / "model").glob("*.md") if path.name != "README.md")

TODO = re.compile(r"\s*\(todo\)$")
KEYS = ("grad", "ndim", "dtype", "leaf", "role", "evidence", "requires")
REQUIRES = {None: "no", Certainty.SUPPOSED: "possible", Certainty.EXPECTED: "expected", Certainty.PROVED: "proved"}


class BadSpec(Exception):
    """The specification does not follow its format."""


@dataclass(frozen=True)
class Spec:
    """What is said of one expression."""

    kind: str
    """``tensor``, ``likely tensor``, ``not tensor``, ``is``, ``grad mode``, or kinds joined by ``|``."""
    of: str = ""
    """The qualified name after ``is``; the grad mode."""
    keys: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class Expectation:
    file: str
    line: int
    """In the Markdown file."""
    block: str
    row: int
    """In the block."""
    expression: str
    spec: str
    runs: bool

    def __str__(self) -> str:
        return f"{self.file}:{self.line}-{self.expression}"

    @property
    def is_todo(self) -> bool:
        return bool(TODO.search(self.spec))

    def parsed(self) -> Spec:
        return parse(TODO.sub("", self.spec))


def parse(spec: str) -> Spec:
    """``tensor grad=yes ndim=0`` and its like."""
    words = spec.split()
    if words[:1] == ["is"] and len(words) == 2:
        return Spec("is", words[1])
    if words[:2] == ["not", "tensor"] and len(words) == 2:
        return Spec("not tensor")
    is_likely = words[:2] == ["likely", "tensor"]
    kind, *rest = ["likely tensor", *words[2:]] if is_likely else words or [""]
    if kind in members(Tri):
        return Spec("grad mode", kind)
    if not is_likely and not set(kind.split("|")) <= members(Kind).keys():
        raise BadSpec(f"unknown kind {kind!r}")
    keys = []
    for word in rest:
        key, equals, value = word.partition("=")
        if key not in KEYS or not equals:
            raise BadSpec(f"unknown key {word!r}")
        keys.append((key, value))
    return Spec(kind, "", tuple(keys))


def blocks(text: str) -> Iterator[tuple[int, bool, str]]:
    """The Python blocks of a Markdown text: line of the fence, whether it is marked ``run``, source."""
    lines = text.split("\n")
    at = 0
    while at < len(lines):
        fence = lines[at].split()
        at += 1
        if fence[:1] != ["```python"]:
            continue
        start = at
        while lines[at] != "```":
            at += 1
        yield start, fence[1:] == ["run"], "\n".join(lines[start:at]) + "\n"


def expectations(path: Path) -> Iterator[Expectation]:
    for start, runs, block in blocks(path.read_text(encoding="utf-8")):
        for token in tokenize.generate_tokens(io.StringIO(block).readline):
            if token.type != tokenize.COMMENT or ": " not in token.string or token.string.startswith("# type: "):
                continue
            row = token.start[0]
            for part in token.string.lstrip("#").split("; "):
                expression, _, spec = part.rpartition(": ")
                yield Expectation(path.name, start + row, block, row, expression.strip(), spec.strip(), runs)


EXPECTATIONS = [expectation for path in SPECS for expectation in expectations(path)]


@cache
def model_of(block: str) -> tuple[Model, Lines, dict[int, Span]]:
    tree = Tree(block)
    nodes = [
        n
        for ns in tree.nodes.values()
        for n in ns
        if isinstance(n, (cst.BaseExpression, cst.BaseStatement, cst.BaseSmallStatement))
    ]
    return Model(tree), Lines(block), tree.spans(nodes)


def is_target(tree: Tree, node: cst.CSTNode) -> bool:
    """Whether a node is what an assignment, a loop, a with or a walrus binds."""
    parent = tree.parent(node)
    match parent:
        case cst.AssignTarget() | cst.AnnAssign() | cst.AugAssign() | cst.For() | cst.CompFor() | cst.NamedExpr():
            return parent.target is node
        case cst.AsName():
            return True
        case cst.Element() | cst.StarredElement():
            up = tree.parent(parent)
            return up is not None and is_target(tree, up)
        case cst.Tuple() | cst.List():
            return is_target(tree, parent)
    return False


def find(expectation: Expectation) -> cst.BaseExpression:
    """The expression of that text that starts on the line: what is bound there, else the last."""
    model, lines, spans = model_of(expectation.block)
    tree = model.tree
    found = []
    for nodes in tree.nodes.values():
        for node in nodes:
            if isinstance(node, cst.BaseExpression) and lines.position(spans[id(node)][0]).row == expectation.row:
                if tree.code(node).strip() == expectation.expression and not is_label(tree, node):
                    found.append(node)
    if not found:
        raise BadSpec(f"there is no expression `{expectation.expression}` on line {expectation.line}")
    found.sort(key=tree.order)
    return next((node for node in found if is_target(tree, node)), found[-1])


def statement_on(expectation: Expectation) -> cst.CSTNode:
    model, lines, spans = model_of(expectation.block)
    for cls, nodes in model.tree.nodes.items():
        if issubclass(cls, cst.BaseSmallStatement):
            for node in nodes:
                if lines.position(spans[id(node)][0]).row == expectation.row:
                    return node
    raise BadSpec(f"there is no simple statement on line {expectation.line}")


EVENTS = ("training", "so far")
"""What is said of a line in place of an expression, about what trains."""


def shown(event: TrainingEvent) -> str:
    """An event as the specification spells it."""
    path = f" {event.path}" if event.path else ""
    doubt = "" if event.is_proved or event.what is What.UNKNOWN else "?"
    return f"{event.what.name.lower()}{path}{doubt}" + (f" by {event.by}" if event.by else "")


def row_of(expectation: Expectation, node: cst.CSTNode) -> int:
    _, lines, spans = model_of(expectation.block)
    tree = model_of(expectation.block)[0].tree
    outer = next(each for each in (node, *tree.ancestors(node)) if id(each) in spans)
    return lines.position(spans[id(outer)][0]).row


def training_on(expectation: Expectation) -> list[str]:
    """What the calls and assignments of a line do that trains."""
    model = model_of(expectation.block)[0]
    events = model.training_events(model.scopes.scope_of(statement_on(expectation)))
    return [shown(event) for event in events if row_of(expectation, event.node) == expectation.row]


def before(expectation: Expectation) -> list[str]:
    """What may have been done before a line in the same round."""
    model = model_of(expectation.block)[0]
    statement = statement_on(expectation)
    scope = model.scopes.scope_of(statement)
    found: list[str] = []

    def see(event: TrainingEvent, facts: Facts[TrainingEvent]) -> None:
        if event.node is statement:
            found.extend(sorted(facts))
        else:
            facts[shown(event)] = event

    marks = [(event.node, event) for event in model.training_events(scope)]
    marks.insert(0, (statement, TrainingEvent(What.UNKNOWN, statement, "")))
    Paths(model, marks, see).follow(scope)
    return found


def members(flags: type) -> dict[str, int]:
    """The members of one of the model's sets, as the specification spells them."""
    found = {name.lower(): value for name, value in vars(flags).items() if not name.startswith("_")}
    return {"0" if name == "zero" else name: value for name, value in found.items()}


if TYPE_CHECKING:  # what is possible in one dimension is nothing in another one; these would be unused if it were
    tensor(Tri.NO, Dtype.INT)  # type: ignore[arg-type]
    tensor(dtype=Ndim.ZERO)  # type: ignore[arg-type]
    Kind.TENSOR | Role.BUFFER  # type: ignore[operator]


def names(flags: type, value: Possibilities) -> str:
    """``yes``, ``no``, ``maybe``; where a set has no name, its members'."""
    wanted = cast("int", value)
    exact = next((name for name, member in members(flags).items() if member == wanted), None)
    return exact or "|".join(name for name, member in members(flags).items() if member & wanted)


def bits(flags: type, text: str) -> int:
    known, result = members(flags), 0
    for part in text.split("|"):
        if part not in known:
            raise BadSpec(f"unknown value {part!r}")
        result |= known[part]
    return result


FLAGS: dict[str, type] = {"grad": Tri, "leaf": Tri, "ndim": Ndim, "dtype": Dtype, "role": Role}


def wrong(value: Value, spec: Spec) -> list[str]:
    """What of a value is not as specified."""
    found = []
    if spec.kind == "not tensor":
        if value.may_be_tensor:
            found.append(f"kind is {names(Kind, value.kind)}")
    elif spec.kind == "tensor":
        if not value.is_tensor:
            found.append(f"kind is {names(Kind, value.kind)}")
    elif spec.kind == "likely tensor":
        if not value.is_tensor and value.kind != Kind.TENSOR | Kind.UNKNOWN:
            found.append(f"kind is {names(Kind, value.kind)}")
    elif spec.kind == "unknown":
        if not value.kind & Kind.UNKNOWN or value.may_be_tensor:
            found.append(f"kind is {names(Kind, value.kind)}")
    elif cast("int", value.kind) != bits(Kind, spec.kind):
        found.append(f"kind is {names(Kind, value.kind)}")
    for key, wanted in spec.keys:
        if key == "evidence":
            kind = value.evidence.kind if value.evidence else "none"
            if kind != wanted:
                found.append(f"evidence is {kind}" + (f" ({value.evidence.text})" if value.evidence else ""))
        elif key in FLAGS and getattr(value, key) != bits(FLAGS[key], wanted):
            found.append(f"{key} is {names(FLAGS[key], getattr(value, key))}")
    return found


@pytest.mark.parametrize(
    "expectation",
    [
        pytest.param(e, id=str(e), marks=[pytest.mark.xfail(strict=True, raises=AssertionError)] if e.is_todo else [])
        for e in EXPECTATIONS
    ],
)
def test_expectation(expectation: Expectation) -> None:
    model, _, _ = model_of(expectation.block)
    where = f"tests/model/{expectation.file}:{expectation.line}"
    if expectation.expression in EVENTS:
        done = training_on(expectation) if expectation.expression == "training" else before(expectation)
        said = ", ".join(done) or "nothing"
        assert said == TODO.sub("", expectation.spec), f"{where}: {expectation.expression} is {said}"
        return
    spec = expectation.parsed()
    if expectation.expression == "grad mode":
        mode = names(Tri, model.grad_enabled(statement_on(expectation)))
        assert mode == spec.of, f"{where}: the grad mode is {mode}, not {spec.of}"
        return
    node = find(expectation)
    if spec.kind == "is":
        name = model.qualified(node)
        assert name == spec.of, f"{where}: `{expectation.expression}` is {name}, not {spec.of}"
        return
    found = wrong(model.value(node), spec)
    if (wanted := dict(spec.keys).get("requires")) is not None:
        requires = REQUIRES[model.requires_grad(node)]
        found += [f"requires is {requires}"] if requires != wanted else []
    assert not found, f"{where}: `{expectation.expression}` is to be {expectation.spec}, but {', '.join(found)}"


def test_there_are_many() -> None:
    assert len(EXPECTATIONS) >= 2000


# --------------------------------------------------------------------- the specification against torch


class _Probes(ast.NodeTransformer):
    """Wraps the expressions of the expectations of a block in calls that record their values."""

    def __init__(self, block: str, wanted: list[Expectation]) -> None:
        self.block, self.wanted = block, wanted
        self.placed: set[int] = set()

    def visit(self, node: ast.AST) -> Any:
        targets = self._targets(node)
        new = self.generic_visit(node)
        after: list[ast.stmt] = []
        if isinstance(node, ast.expr) and isinstance(getattr(node, "ctx", ast.Load()), ast.Load):
            for number in self._matching(node):
                if number not in self.placed:
                    new = self._see(number, new)  # type: ignore[arg-type]
        for target in targets:
            for number in self._matching(target):
                self.placed.add(number)
                load = ast.parse(ast.unparse(target), mode="eval").body
                after.append(ast.Expr(self._see(number, load)))
        if isinstance(node, (ast.For, ast.AsyncFor, ast.With, ast.AsyncWith)):
            node.body[:0] = after
        elif after:
            return [new, *after]
        return new

    def _targets(self, node: ast.AST) -> list[ast.expr]:
        match node:
            case ast.Assign():
                found = list(node.targets)
            case ast.AugAssign() | ast.For() | ast.AsyncFor() | ast.AnnAssign():
                found = [node.target]
            case ast.With() | ast.AsyncWith():
                found = [item.optional_vars for item in node.items if item.optional_vars]
            case _:
                found = []
        flat: list[ast.expr] = []
        while found:
            target = found.pop()
            if isinstance(target, (ast.Tuple, ast.List)):
                found = [*found, *target.elts]
            if isinstance(target, ast.Starred):
                target = target.value
            flat.append(target)
        for target in flat:  # the target is what the expectation means, not a use of the name on the same line
            self.placed.update(self._matching(target))
        return flat

    def _matching(self, node: ast.expr) -> list[int]:
        text = ast.get_source_segment(self.block, node)
        return [n for n, e in enumerate(self.wanted) if e.row == node.lineno and e.expression in (text, f"({text})")]

    @staticmethod
    def _see(number: int, node: ast.expr) -> ast.Call:
        return ast.Call(ast.Name("__see__", ast.Load()), [ast.Constant(number), node], [])


RUNNABLE = sorted({(e.file, e.block) for e in EXPECTATIONS if e.runs})


@pytest.mark.parametrize(("file", "block"), RUNNABLE, ids=[f"{file}-{n}" for n, (file, _) in enumerate(RUNNABLE)])
def test_the_specification_is_true(file: str, block: str) -> None:
    """Blocks marked ``run`` are run, and what is said of their expressions is compared with what they are."""
    wanted = [e for e in EXPECTATIONS if e.file == file and e.block == block]
    evaluated: set[int] = set()
    problems: list[str] = []

    done = Recorded(file)

    def see(number: int, value: Any) -> Any:
        expectation = wanted[number]
        evaluated.add(number)
        problem = contradicts(value, expectation.parsed())
        if problem:
            problems.append(f"tests/model/{file}:{expectation.line}: `{expectation.expression}` {problem}")
        return value

    tree = ast.fix_missing_locations(_Probes(block, wanted).visit(ast.parse(block)))
    torch.manual_seed(0)
    with warnings.catch_warnings(), done.recording():
        warnings.simplefilter("ignore")
        exec(compile(tree, file, "exec", dont_inherit=True), {"__name__": "__main__", "__see__": see})
    problems += [problem for e in wanted if e.expression == "training" for problem in done.contradictions(e)]
    assert not problems, "\n".join(problems)
    of_lines = ("grad mode", *EVENTS)
    missed = [e for n, e in enumerate(wanted) if n not in evaluated and e.expression not in of_lines]
    assert not missed, f"never evaluated: {', '.join(map(str, missed))}"


class Recorded:
    """What trains while a block runs, by the lines that are under way then."""

    def __init__(self, file: str) -> None:
        self.file = file
        self.done: dict[int, set[str]] = {}

    def saw(self, what: str) -> None:
        frame: FrameType | None = sys._getframe(1)
        while frame is not None:
            if frame.f_code.co_filename == self.file:
                self.done.setdefault(frame.f_lineno, set()).add(what)
            frame = frame.f_back

    @contextmanager
    def recording(self) -> Iterator[None]:
        """Replace what trains by what records that first."""
        optim, scheduler, utils = torch.optim.Optimizer, torch.optim.lr_scheduler.LRScheduler, torch.nn.utils
        places = [
            (torch.Tensor, "backward", "backward"),
            (optim, "zero_grad", "clear"),
            (torch.nn.Module, "zero_grad", "clear"),
            (torch.nn.Module, "load_state_dict", "load"),
            (scheduler, "step", "schedule"),
            (torch.amp.GradScaler, "unscale_", "unscale"),
            (utils, "clip_grad_norm_", "clip"),
            (utils, "clip_grad_value_", "clip"),
        ]
        with ExitStack() as stack:
            hook = register_optimizer_step_pre_hook(lambda *_: self.saw("step"))
            stack.callback(hook.remove)
            for owner, name, what in places:
                stack.enter_context(mock.patch.object(owner, name, self._seeing(getattr(owner, name), what)))
            yield

    def _seeing(self, function: Callable[..., object], what: str) -> Callable[..., object]:
        def replaced(*args: object, **kwargs: object) -> object:
            self.saw(what)
            return function(*args, **kwargs)

        return replaced

    def contradictions(self, expectation: Expectation) -> Iterator[str]:
        """How what happened on a line is not what is said; gradients that are cleared by hand are not recorded."""
        events = TODO.sub("", expectation.spec).split(", ")
        said = {event.split()[0] for event in events} - {"nothing", "unknown"}
        happened = self.done.get(expectation.row, set())
        by_hand = {"clear"} if "clear" in events else set()
        if said - by_hand != happened - by_hand:
            yield f"tests/model/{self.file}:{expectation.line}: {sorted(happened)} happen, not {sorted(said)}"


RUNTIME_KINDS: dict[str, tuple[type, ...]] = {
    "tensor": (torch.Tensor, int, float, type(None), str),
    "likely tensor": (torch.Tensor,),
    "number": (int, float, complex, np.number, np.bool_),
    "string": (str, bytes),
    "none": (type(None),),
    "ndarray": (np.ndarray, np.generic),
    "module": (torch.nn.Module,),
    "optimizer": (torch.optim.Optimizer,),
    "loader": (torch.utils.data.DataLoader,),
    "packed": (torch.nn.utils.rnn.PackedSequence,),
}


def contradicts(value: Any, spec: Spec) -> str:
    """How an actual value is not what the specification says; empty if it is."""
    if spec.kind == "is":
        return ""
    kinds = spec.kind.split("|")
    is_tensor = isinstance(value, torch.Tensor)
    if spec.kind == "not tensor" or not {"tensor", "likely tensor", "unknown"} & set(kinds):
        if is_tensor:
            return "is a tensor"
    known = [RUNTIME_KINDS.get(kind) for kind in kinds]
    types = tuple(cls for classes in known if classes for cls in classes)
    if spec.kind != "not tensor" and all(known) and not isinstance(value, types):
        return f"is a {type(value).__name__}"
    if not is_tensor:
        return ""
    for key, said in spec.keys:
        said_bits = bits(FLAGS[key], said) if key in FLAGS else 0
        actual: Possibilities
        match key:
            case "grad":
                actual = Tri.YES if value.requires_grad else Tri.NO
            case "leaf":
                actual = Tri.YES if value.is_leaf else Tri.NO
            case "ndim":
                actual = ndim_by(value.ndim)
            case "dtype":
                is_float = value.is_floating_point() or value.is_complex()
                actual = Dtype.FLOAT if is_float else Dtype.BOOL if value.dtype == torch.bool else Dtype.INT
            case "requires" if said in ("no", "proved"):
                if value.requires_grad is (said == "no"):
                    return f"has requires_grad={value.requires_grad}"
                continue
            case "role" if isinstance(value, torch.nn.Parameter):
                actual = Role.PARAMETER
            case _:
                continue
        if not cast("int", actual) & said_bits:
            return f"has {key}={names(FLAGS[key], actual)}"
    return ""
