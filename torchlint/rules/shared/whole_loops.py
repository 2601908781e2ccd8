"""Loops and ``if`` statements that go into a block of ``torch.no_grad()`` as a whole.

Else each round of a loop enters one anew, and each branch of an ``if`` has its own.
"""

from __future__ import annotations

import enum
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice

import libcst as cst

from torchlint.model import Kind, Model, Tri
from torchlint.model.names import GROWING
from torchlint.model.scopes import target_names
from torchlint.model.syntax import without_brackets, without_subscripts
from torchlint.rules.shared import data_sites, gradients, memory, no_grad, unrecorded
from torchlint.rules.shared.gone_through import GIVING, gives_existing, may_be_unknown
from torchlint.rules.shared.new_graphs import is_new, may_be_computed, may_carry_graph

_LONG = 20
"""Simple statements from which on a loop stays where it is: each fix in it would move them all."""
_MANY = 6
"""Writes up to which a loop goes in as a whole, for the same reason."""
_FAR = 30
"""How far up is looked from a statement: each `elif` stands in the one before."""


class Hold(enum.IntEnum):
    """Whether a block may hold a loop."""

    NEVER = 0
    """Something in it may need a graph, or leave one behind."""
    LIKELY = 1
    """Something in it is known by its name only."""
    SURE = 2
    """All that is called in it is known."""


def around(statement: cst.CSTNode, model: Model, at_least: Hold) -> _Whole | None:
    """The outermost loop or ``if`` around a statement that a block may hold; None if there is none.

    Each loop on the way to it has to be such a one: nothing but what writes where autograd does not record, what only
    decides, counts and looks things up. An ``if`` is one if several of its branches would get a block.
    """
    found: _Whole | None = None
    for up in islice(model.tree.ancestors(statement), _FAR):
        match up:
            case cst.For() | cst.While():
                if model.remember(_hold, up) < at_least:
                    return found
                found = up
            case cst.If() if not isinstance(model.tree.parent(up), cst.If):
                found = up if model.remember(_hold, up) >= at_least else found
            case cst.IndentedBlock() | cst.If() | cst.Else() | cst.SimpleStatementLine() | cst.SimpleStatementSuite():
                pass
            case _:
                return found
    return found


_Whole = cst.For | cst.While | cst.If


def _hold(model: Model, loop: _Whole) -> Hold:
    """Whether a block may hold a statement with all that stands in it."""
    if len(model.tree.within(loop, cst.SimpleStatementLine)) > _LONG:
        return Hold.NEVER
    content = model.remember(_of_if, loop) if isinstance(loop, cst.If) else model.remember(_content, loop)
    if content is None or content.writes > _MANY or content.made & content.kept:
        return Hold.NEVER
    if isinstance(loop, cst.If) and not content.in_several:
        return Hold.NEVER  # the one branch has it
    if not no_grad.may_be_moved(loop, model):
        return Hold.NEVER
    if any(_is_used_outside(name, loop, model) for name in content.made):
        return Hold.NEVER
    return Hold.SURE if content.is_sure else Hold.LIKELY


@dataclass(frozen=True)
class _Content:
    """What stands in a loop that a block may hold."""

    made: frozenset[str] = frozenset()
    """The names of what is computed there and might have a graph: nothing outside may use them."""
    kept: frozenset[str] = frozenset()
    """The names of what is shown, or put where others find it: none of what is computed there."""
    is_sure: bool = True
    writes: int = 0
    has_block: bool = False
    """Whether something is written to where autograd may record: that gets a block."""
    in_several: bool = False
    """Of an ``if``, whether more than one of its branches has such a write."""


def _content(model: Model, loop: cst.For | cst.While) -> _Content | None:
    """What a loop consists of; None if anything in it may need a graph."""
    match loop:
        case cst.For(asynchronous=None, iter=iterated):
            if not gives_existing(iterated, model) or not _is_known(iterated, model):
                return None
            is_sure = _is_sure(iterated, model) and not may_be_unknown(iterated, model)
        case cst.While(test=test):
            if not _is_known(test, model):
                return None
            is_sure = _is_sure(test, model)
        case _:
            return None
    bodies = [loop.body, *([loop.orelse.body] if loop.orelse is not None else [])]
    return _together([_Content(is_sure=is_sure), *_of_suites(bodies, model)])


def _together(parts: Iterable[_Content | None]) -> _Content | None:
    made, kept, is_sure, writes, has_block = set[str](), set[str](), True, 0, False
    for part in parts:
        if part is None:
            return None
        made |= part.made
        kept |= part.kept
        is_sure = is_sure and part.is_sure
        writes += part.writes
        has_block = has_block or part.has_block
    return _Content(frozenset(made), frozenset(kept), is_sure, writes, has_block)


def _of_suites(suites: Iterable[cst.BaseSuite], model: Model) -> Iterator[_Content | None]:
    for suite in suites:
        for line in suite.body:
            match line:
                case cst.SimpleStatementLine(body=body):
                    yield from (_of_small(small, model) for small in body)
                case cst.BaseSmallStatement():
                    yield _of_small(line, model)
                case cst.For() | cst.While():
                    yield model.remember(_content, line)
                case cst.If():
                    yield model.remember(_of_if, line)
                case _:
                    yield None


def _of_if(model: Model, line: cst.If) -> _Content | None:
    """The content of an `if` with its other branches."""
    tests = [_of_expressions([branch.test], model) for branch in _branches(line) if isinstance(branch, cst.If)]
    bodies = [_together(_of_suites([branch.body], model)) for branch in _branches(line)]
    whole = _together([*tests, *bodies])
    in_several = sum(body is not None and body.has_block for body in bodies) > 1
    return whole and replace(whole, in_several=in_several)


def _branches(line: cst.If) -> Iterator[cst.If | cst.Else]:
    branch: cst.If | cst.Else | None = line
    while branch is not None:
        yield branch
        branch = branch.orelse if isinstance(branch, cst.If) else None


def _of_expressions(nodes: Sequence[cst.CSTNode], model: Model) -> _Content | None:
    if not all(_is_known(node, model) for node in nodes):
        return None
    return _Content(is_sure=all(_is_sure(node, model) for node in nodes))


def _of_small(small: cst.BaseSmallStatement, model: Model) -> _Content | None:
    """What a simple statement is: a write, or something that leaves no graph behind."""
    is_sure = _is_sure(small, model)
    written = _written_data(small, model)
    if written is not None:
        has_block = not _is_plain_data(written, model) and not _is_given_part(small)
        return None if _initialises(written, model) else _Content(is_sure=is_sure, writes=1, has_block=has_block)
    if not _is_known(small, model):
        return None
    match small:
        case cst.Pass() | cst.Continue() | cst.Break() | cst.Raise() | cst.Assert() | cst.Del():
            return _Content(is_sure=is_sure)
        case cst.Return(value=value):
            return _keeping([value] if value is not None else [], is_sure, model)
        case cst.Expr(value=cst.SimpleString() | cst.ConcatenatedString() | cst.Ellipsis()):
            return _Content()
        case cst.Expr(value=cst.Call() as call):
            return _of_call(call, is_sure, model)
        case cst.Assign(targets=targets, value=value):
            return _bound([each.target for each in targets], value, is_sure, model)
        case cst.AnnAssign(target=target, value=value) if value is not None:
            return _bound([target], value, is_sure, model)
        case cst.AugAssign(
            target=target, operator=cst.AddAssign() | cst.SubtractAssign(), value=cst.Integer() | cst.Float()
        ):
            is_sure = is_sure and not isinstance(
                target, cst.Subscript
            )  # a `defaultdict` may compute what is there first
            return _Content(is_sure=is_sure)  # whatever it is written to keeps its graph
        case cst.AugAssign(target=target, value=value):
            is_plain = not may_carry_graph(value, model) and not may_carry_graph(target, model)
            is_trained = _is_trained(target, model)
            return _Content(is_sure=is_sure, writes=1, has_block=is_trained) if is_plain or is_trained else None
    return None


def _keeping(values: Sequence[cst.BaseExpression], is_sure: bool, model: Model) -> _Content | None:
    """What puts some values where others find them; None if one of them is made there and may have a graph."""
    if any(is_new(value, model) or may_be_computed(value, model) for value in values):
        return None
    names = (name.value for value in values for name in model.tree.within(value, cst.Name))
    return _Content(kept=frozenset(names), is_sure=is_sure)


def _written_data(small: cst.BaseSmallStatement, model: Model) -> cst.Attribute | None:
    """The `.data` that a statement writes to, or through."""
    for node in model.tree.within(small, cst.Attribute):
        if node.attr.value == "data":
            if isinstance(model.tree.parent(node), cst.AssignTarget):
                return node
            write = memory.write_through(node, model)
            if write is not None and no_grad.own_statement(write, model) is small:
                return node
    return None


def _is_plain_data(node: cst.Attribute, model: Model) -> bool:
    """Whether `.data` is taken from what has no graph, or is a gradient: it only goes then."""
    value = model.value(node.value)
    return (value.is_tensor and value.grad == Tri.NO) or gradients.is_gradient(value, node.value, model)


def _is_given_part(small: cst.BaseSmallStatement) -> bool:
    """Whether `.data` is assigned a part of something, which is of another shape than it was: that stays as it is."""
    match small:
        case cst.Assign(targets=[cst.AssignTarget(target=cst.Attribute(attr=cst.Name("data")))], value=value):
            while isinstance(value, (cst.Attribute, cst.Call)):  # ``w[:1].data.clone()``
                value = value.value if isinstance(value, cst.Attribute) else value.func
            return isinstance(value, cst.Subscript)
    return False


def _initialises(node: cst.Attribute, model: Model) -> bool:
    """Whether what is written to `.data` becomes `nn.init`, which needs no block: a loop over layers stays as it is."""
    match memory.write_through(node, model):
        case cst.Call(func=cst.Attribute(value=owner, attr=cst.Name(value=name))) if owner is node and name in _OF_INIT:
            return data_sites.initialises(node, model.value(node.value), model)
    return False


_OF_INIT = ("normal_", "uniform_", "fill_", "zero_")
"""What `nn.init` has under another name."""


def _bound(
    targets: Sequence[cst.BaseExpression], value: cst.BaseExpression, is_sure: bool, model: Model
) -> _Content | None:
    """What binds names to something, or puts it elsewhere; None if that is computed and may have a graph."""
    is_made = is_new(value, model)
    made = set[str]()
    kept = _Content(is_sure=is_sure)
    for target in targets:
        match target:
            case cst.Name() if names := target_names(target):
                made.update(names if is_made or may_be_computed(value, model) else ())
                continue
            case cst.Tuple() | cst.List() if names := target_names(target):
                is_literal = isinstance(without_brackets(value), (cst.Tuple, cst.List))
                made.update(names if is_made or not (is_literal or not may_carry_graph(value, model)) else ())
                continue
            case cst.Subscript(slice=places) if any(isinstance(each.slice, cst.Slice) for each in places) and (
                model.value(target.value).kind == Kind.CONTAINER
            ):
                return None
            case cst.Subscript(value=owner) if model.value(owner).kind != Kind.CONTAINER:
                if not _is_trained(owner, model):
                    return None
                continue
            case cst.Attribute() | cst.Subscript():
                stored = _keeping([value], is_sure, model)
            case _:
                return None
        if stored is None:
            return None
        kept = stored
    writes = sum(isinstance(target, cst.Subscript) for target in targets)
    return _Content(frozenset(made), kept.kept, is_sure, writes, writes > 0)


def _of_call(call: cst.Call, is_sure: bool, model: Model) -> _Content | None:
    """What a statement is that is a call: a write that autograd does not record, or what says or keeps something."""
    name = model.qualified(call.func)
    values = [arg.value for arg in call.args]
    if name == "builtins.print" or (name or "").startswith(("logging.", "warnings.")):
        return _keeping(values, is_sure, model)
    match call.func:
        case cst.Attribute(value=owner, attr=cst.Name(value=method)) if name is None or model.is_tensor(owner):
            if memory.is_inplace(method) and method != "detach_":
                if not _is_unrecorded_write(owner, values, model):
                    return None
                return _Content(is_sure=is_sure, writes=1, has_block=_is_trained(owner, model))
            if method in _UNPACKING and any(model.value(each).kind & Kind.TENSOR for each in values):
                return None
            if method in _LOGGING or (method in GROWING and not model.is_tensor(owner)):
                return _keeping(values, is_sure, model)
    return None


_UNPACKING = ("extend", "extendleft", "update")
"""Methods that go through what they are given, row by row if it is a tensor."""
_LOGGING = ("debug", "info", "warning", "warn", "log")


def _is_unrecorded_write(owner: cst.BaseExpression, values: Sequence[cst.BaseExpression], model: Model) -> bool:
    """Whether autograd records nothing when a method writes to its tensor, wherever that runs."""
    value = model.value(owner)
    if not value.is_tensor:
        return False
    is_plain = value.grad == Tri.NO and not any(may_carry_graph(each, model) for each in values)
    return is_plain or _is_trained(owner, model)


def _is_trained(node: cst.BaseExpression, model: Model) -> bool:
    """Whether something is a leaf that requires grad, or a part of one: writing raises where autograd records."""
    value = model.value(without_subscripts(node))
    return value.is_tensor and value.leaf == Tri.YES and value.grad == Tri.YES


_KNOWN_METHODS = GIVING | frozenset(
    (
        *("startswith", "endswith", "find", "index", "format", "replace", "lower", "upper", "join", "strip", "rsplit"),
        *("rstrip", "lstrip", "get", "copy", "count", "isdigit", "size", "dim", "numel", "nelement", "item", "type"),
        *("is_floating_point", "get_device", "stride", "ndimension", "data_ptr", "__contains__"),
        *_LOGGING,
        *GROWING,
    )
)
"""Methods that compute nothing that could have a graph, by their names."""


def _is_known(part: cst.CSTNode, model: Model) -> bool:
    """Whether all that is called in a part of a loop is known, by its name at least, and nothing there is recorded."""
    if any(_is_recorded(node, model) for cls in _COMPUTING for node in model.tree.within(part, cls)):
        return False
    return all(_is_known_call(call, model) for call in model.tree.within(part, cst.Call))


_COMPUTING = (cst.Call, cst.BinaryOperation, cst.UnaryOperation)


def _is_recorded(node: cst.BaseExpression, model: Model) -> bool:
    """Whether something computed is known to be a tensor that may have a graph."""
    return model.is_tensor(node) and model.value(node).grad != Tri.NO and is_new(node, model)


def _is_known_call(call: cst.Call, model: Model) -> bool:
    name = model.qualified(call.func) or ""
    if name in ("torch.autograd.Variable", "torch.autograd.variable.Variable"):
        return True  # it becomes `.detach()`
    if "grad" in name or name.startswith(("torch.nn.", "torch.optim", "torch.func", "torch.inference", "torch.save")):
        return False
    if not unrecorded.is_unknown_call(call, model) or name.startswith(("builtins.", "itertools.")):
        return True
    match call.func:
        case cst.Attribute(attr=cst.Name(value=method)) if method in _KNOWN_METHODS:
            return not any(no_grad.called(call.func, model))
    return False


def _is_sure(part: cst.CSTNode, model: Model) -> bool:
    """Whether nothing in a part of a loop could compute something else under ``no_grad``."""
    for node in model.tree.walk(part):
        if unrecorded.is_unknown_call(node, model):
            return False
        if isinstance(node, cst.Attribute) and isinstance(model.tree.parent(node), cst.AssignTarget):
            if node.attr.value not in ("data", "grad"):  # what a class does then is not known
                return False
    return True


def _is_used_outside(name: str, loop: _Whole, model: Model) -> bool:
    scope = model.scopes.scope_of(loop)
    if isinstance(scope, cst.Module) and model.taker(name) is not None:
        return True
    if isinstance(scope, cst.FunctionDef) and name not in model.scopes.locals_of(scope):
        return True  # `global`
    return any(not model.tree.is_inside(use, loop) for use in model.references(name, scope))
