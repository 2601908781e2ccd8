"""What a block of ``torch.no_grad()`` may take in without changing what the statements in it do for others."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator

import libcst as cst

from torchlint.model import Kind, Model, Tri
from torchlint.model.names import GROWING
from torchlint.model.overriding import COMPUTED, overriding
from torchlint.model.syntax import chain, decorator_names, last_name, parameters, root


def is_by_hand(model: Model, line: cst.CSTNode) -> bool:
    """Whether lines of their own for the statements of a line are left to the author: one spreads over several."""
    match line:
        case cst.SimpleStatementLine(body=body) if len(body) == 1:
            return False
    return "\n" in model.tree.code(line).strip()


def may_hold(statement: cst.CSTNode, model: Model) -> bool:
    """Whether nothing in a statement takes the mode along, or keeps what was computed in it.

    ``yield`` and ``await`` hand the mode to whoever runs meanwhile; what ``:=`` binds is used later, with its graph.
    """
    leaving = (cst.Yield, cst.Await, cst.NamedExpr)
    return not any(runs_with(node, statement, model) for cls in leaving for node in model.tree.within(statement, cls))


def may_be_moved(statement: cst.CSTNode, model: Model) -> bool:
    """Whether a statement does the same in a block: it needs no graph, and leaves none behind."""
    return may_hold(statement, model) and not differentiates(model, statement) and not keeps_graph(model, statement)


_DIFFERENTIATING = frozenset(
    (
        *("grad", "backward", "grad_and_value"),
        *("jacobian", "hessian", "jvp", "vjp", "hvp", "vhp", "jacrev", "jacfwd"),
    )
)
_FAR = 3
"""How many calls away what needs a graph is looked for."""


def differentiates(model: Model, node: cst.CSTNode, far: int = _FAR) -> bool:
    """Whether gradients are computed in a statement or in functions of the project that it calls: it needs a graph.

    Not so if they are those of a loss that was made before the statement: ``grad(loss, w)``.
    """
    for call in model.tree.within(node, cst.Call):
        if last_name(call.func) in _DIFFERENTIATING and (far < _FAR or not all(map(_is_made_before, call.args))):
            return True
    return far > 0 and any(home.remember(differentiates, body, far - 1) for home, body in _bodies_run_by(model, node))


def keeps_graph(model: Model, node: cst.CSTNode, far: int = _FAR) -> bool:
    """Whether a function of the project that a statement calls keeps what may carry a graph where others find it."""
    if far == 0:
        return False
    for home, body in _bodies_run_by(model, node):
        function = home.tree.parent(body)
        if isinstance(function, cst.FunctionDef) and not _CACHING.isdisjoint(decorator_names(function)):
            return True
        if home.remember(_keeps, body) or home.remember(keeps_graph, body, far - 1):
            return True
    return False


_CACHING = frozenset(("lru_cache", "cache", "cached_property", "lazy_property"))
"""Decorators that keep what a function returns."""


def _keeps(model: Model, body: cst.CSTNode) -> bool:
    """Whether what may carry a graph is put by a function into what outlives the call."""
    function = model.tree.parent(body)
    assert isinstance(function, cst.FunctionDef)
    is_constructor = function.name.value == "__init__"
    outer = {item.name.value for each in model.tree.within(body, cst.Global) for item in each.names}
    outer |= {item.name.value for each in model.tree.within(body, cst.Nonlocal) for item in each.names}
    stored = [(each.target, assign.value) for assign in model.tree.within(body, cst.Assign) for each in assign.targets]
    stored += [(assign.target, assign.value) for assign in model.tree.within(body, cst.AugAssign)]
    for target, value in () if is_constructor else stored:
        if _outlives(target, outer, function, model) and _may_carry_graph(value, model):
            return True
    for call in model.tree.within(body, cst.Call):
        match call:
            case cst.Call(func=cst.Attribute(value=owner, attr=cst.Name(name))) if name in GROWING:
                if not _is_made_in(owner, function, model):
                    if any(_may_carry_graph(each.value, model) for each in call.args):
                        return True
    return False


def _outlives(target: cst.BaseExpression, outer: set[str], function: cst.FunctionDef, model: Model) -> bool:
    match target:
        case cst.Tuple(elements=elements) | cst.List(elements=elements):
            return any(_outlives(each.value, outer, function, model) for each in elements)
        case cst.Attribute() | cst.Subscript():
            return not _is_made_in(target, function, model)
        case cst.Name(value=name):
            return name in outer
    return False


def _is_made_in(node: cst.BaseExpression, function: cst.FunctionDef, model: Model) -> bool:
    """Whether an expression begins with a name that a function binds itself: what is put into that goes with it."""
    name = root(node)
    return name in model.scopes.locals_of(function) and name not in {each.name.value for each in parameters(function)}


def _may_carry_graph(node: cst.BaseExpression, model: Model) -> bool:
    value = model.value(node)
    if value.kind == Kind.TENSOR:
        return value.grad != Tri.NO
    return bool(value.kind & (Kind.UNKNOWN | Kind.TENSOR | Kind.CONTAINER))


def _bodies_run_by(model: Model, node: cst.CSTNode) -> Iterator[tuple[Model, cst.CSTNode]]:
    """The bodies of functions of the project that a statement runs, by calling them or handing them on as arguments,
    of methods that override these, and of properties that it reads.
    """
    for function in _run_by(model, node):
        home = model.home(function)
        yield home, function.body
        for other in home.ask(overriding, function).methods:
            yield home.home(other.function), other.function.body


def _run_by(model: Model, node: cst.CSTNode) -> Iterator[cst.FunctionDef]:
    for call in model.tree.within(node, cst.Call):
        yield from called(call.func, model)
        given = (model.value(arg.value) for arg in call.args if isinstance(arg.value, (cst.Name, cst.Attribute)))
        yield from (each.node for each in given if isinstance(each.node, cst.FunctionDef))
    for read in model.tree.within(node, cst.Attribute):
        cls = model.value(read.value).node
        method = model.find_method(cls, read.attr.value) if isinstance(cls, cst.ClassDef) else None
        if method is not None and not COMPUTED.isdisjoint(decorator_names(method)):
            yield method


def called(func: cst.BaseExpression, model: Model) -> Iterator[cst.FunctionDef]:
    """The functions that are run where something is called: those of a class as well."""
    whole = model.value(func)
    for value in whole.choices or (whole,):
        if isinstance(value.node, cst.FunctionDef):
            yield value.node
        elif isinstance(value.node, cst.ClassDef):
            is_object = not value.kind & Kind.FUNCTION
            names = ("__call__", "forward") if is_object else ("__init__",)
            yield from filter(None, (model.find_method(value.node, name) for name in names))


def _is_made_before(arg: cst.Arg) -> bool:
    return isinstance(arg.value, (cst.Name, cst.Attribute))


def runs_with(node: cst.CSTNode, statement: cst.CSTNode, model: Model) -> bool:
    """Whether a node runs when the statement around it does."""
    for up in model.tree.ancestors(node):
        if isinstance(up, (cst.Lambda, cst.GeneratorExp, cst.FunctionDef, cst.ClassDef)):
            return False
        if up is statement:
            return True
    return True


def block_before(model: Model, statement: cst.CSTNode) -> cst.With | None:
    """The plain ``with torch.no_grad():`` block right before a statement, which could take it in."""
    match model.tree.sibling_before(statement):
        case (
            cst.With(
                items=[cst.WithItem(item=cst.Call(func=func, args=[]), asname=None)], body=cst.IndentedBlock()
            ) as block
        ) if model.qualified(func) == "torch.no_grad":
            return block
    return None


def own_statement(write: cst.CSTNode, model: Model) -> cst.BaseSmallStatement | None:
    """The statement that a write is, if its result is not used."""
    small = small_statement(write, model)
    line = model.tree.parent(small) if small is not None else None
    if not isinstance(line, (cst.SimpleStatementLine, cst.SimpleStatementSuite)) or model.remember(is_by_hand, line):
        return None
    match small:
        case cst.Expr(value=value):
            is_it = value is write or any(value is outer for _, outer in chain(write, model.tree))
            if is_it and not model.tree.is_shown(small):
                return small
        case cst.Assign(targets=[target]) if target is write:
            return small
        case cst.AugAssign() if small is write:
            return small
    return None


def small_statement(node: cst.CSTNode, model: Model) -> cst.BaseSmallStatement | None:
    """The simple statement that a node is part of, or is; None if it stands in a header."""
    line = model.tree.statement(node)
    if not isinstance(line, (cst.SimpleStatementLine, cst.SimpleStatementSuite)):
        return None
    place = bisect_right(line.body, model.tree.order(node), key=model.tree.order)
    return line.body[place - 1] if place else None
