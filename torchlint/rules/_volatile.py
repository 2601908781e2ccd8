"""Which statements `volatile=True` switched autograd off for: they go under `with torch.no_grad():`.

It spread with the values: whatever a volatile tensor took part in had no graph, until `.data` was read. So where the
rest of the suite does not train, it is evaluation as a whole; where it does, only the statements are that compute with
volatile values, and only if they stand together.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

import libcst as cst

from torchlint.model import Model, Tri, torch_api
from torchlint.rule import Applicability, Block, Fix
from torchlint.rules import _no_grad

VARIABLE = "torch.autograd.Variable"

_CUTS = frozenset(("data", "detach", "item", "tolist", "numpy", "volatile", "size", "shape", "dim", "requires_grad"))
"""What comes out of these is not volatile."""

_MOVES = frozenset(("cuda", "cpu", "to", "float", "long", "contiguous", "unsqueeze", "view"))

_TRAINING = frozenset(("zero_grad", "requires_grad_", "grad"))
_SOUNDS_LIKE_TRAINING = re.compile(r"train|(?:^|_)fit|optimi[sz]e|learn")


def keyword(call: cst.Call) -> cst.Arg | None:
    """The argument ``volatile=`` of a call."""
    return next((arg for arg in call.args if arg.keyword is not None and arg.keyword.value == "volatile"), None)


def block(call: cst.Call, model: Model) -> Fix | None:
    """The fix that puts the evaluation of a volatile input under ``torch.no_grad()``; None where there is none.

    The keyword stays: it goes in the next round, when the block is there, or with `Variable`.
    """
    if not _is_volatile(call) or model.grad_enabled(call) == Tri.NO:
        return None
    lines = _evaluation(call, model)
    if not lines or not all(_can_move(line, model) for line in lines):
        return None
    name, missing = model.spelling("torch.no_grad", lines[0])
    if not name or _is_no_grad(lines[0], model):
        return None
    return Fix(
        "Put the evaluation into a `torch.no_grad()` block",
        (),
        Applicability.UNSAFE,
        imports=("torch",) if missing else (),
        block=Block(f"with {name}():", lines[0], lines[-1]),
    )


def _is_volatile(call: cst.Call) -> bool:
    arg = keyword(call)
    return arg is not None and torch_api.literal_bool(arg.value) is True


def _is_no_grad(statement: cst.CSTNode, model: Model) -> bool:
    match statement:
        case cst.With(items=[cst.WithItem(item=cst.Call(func=func, args=[]))]):
            return model.qualified(func) == "torch.no_grad"
    return False


def _can_move(line: cst.CSTNode, model: Model) -> bool:
    """Whether a statement can go into a block."""
    if isinstance(line, cst.SimpleStatementLine) and len(line.body) > 1:
        return False
    return _no_grad.may_hold(line, model)


def _evaluation(call: cst.Call, model: Model) -> Sequence[cst.BaseStatement]:
    """The statements that evaluate with a volatile input, in one row; none if there is no such row."""
    tree = model.tree
    statement = tree.statement(call)
    suite = tree.parent(statement)
    if not isinstance(suite, (cst.IndentedBlock, cst.Module)) or isinstance(tree.parent(suite), cst.ClassDef):
        return ()
    if isinstance(statement, (cst.FunctionDef, cst.ClassDef)) or not _no_grad.runs_with(call, statement, model):
        return ()
    at = next(index for index, other in enumerate(suite.body) if other is statement)
    rest = suite.body[at:]
    names = set[str]()
    if _is_input(call, model):
        assign = tree.enclosing(call, cst.Assign)
        if not isinstance(assign, cst.Assign) or not all(isinstance(n, cst.Name) for n in _target_nodes(assign)):
            return ()
        names = _names_of(call, assign, model)
        rest = rest[1:]
    whole = _whole_if(suite, model)
    if whole is not None and names and not _users(rest, names, model)[0]:
        suite = tree.parent(whole)
        assert isinstance(suite, (cst.IndentedBlock, cst.Module))
        at = next(index for index, other in enumerate(suite.body) if other is whole)
        rest = suite.body[at + 1 :]
    using, computing = _users(rest, names, model)
    if not computing:
        return ()
    if _is_all_evaluation(rest, isinstance(suite, cst.Module), model):
        return rest[using[0] :]
    row = range(computing[0], computing[-1] + 1)
    if not set(row) <= set(using) or any(_trains(rest[index], model) for index in row):
        return ()
    return [rest[index] for index in row]


def _whole_if(suite: cst.CSTNode, model: Model) -> cst.If | None:
    """The `if` that a suite is a branch of, if each of its branches makes a volatile tensor: what follows is theirs."""
    above = model.tree.parent(suite)
    if isinstance(above, cst.Else):
        above = model.tree.parent(above)
    if not isinstance(above, cst.If):
        return None
    while isinstance(up := model.tree.parent(above), cst.If):
        above = up
    branch: cst.If | cst.Else | None = above
    while branch is not None:
        if not any(_is_volatile(call) for call in model.tree.within(branch.body, cst.Call)):
            return None
        if isinstance(branch, cst.Else):
            return above
        branch = branch.orelse
    return None


def _is_input(call: cst.Call, model: Model) -> bool:
    """Whether a statement makes a volatile tensor, at most moved to a device, and does not compute with it."""
    child: cst.CSTNode = call
    for up in model.tree.ancestors(call):
        match up:
            case cst.Call(func=func) if func is not child:
                return False
            case cst.BinaryOperation() | cst.UnaryOperation() | cst.Comparison() | cst.AugAssign() | cst.Expr():
                return False
            case cst.Assign() | cst.Return():
                return True
            case cst.BaseCompoundStatement():
                return False
            case cst.Attribute(attr=cst.Name(value=name)):
                if name not in _MOVES:
                    return False
        child = up
    return False


def _names_of(call: cst.Call, assign: cst.Assign, model: Model) -> set[str]:
    """The names that a volatile tensor is given: of ``x, y = Variable(x, volatile=True), y`` the first."""
    for target in assign.targets:
        match target.target, assign.value:
            case cst.Tuple(elements=targets), cst.Tuple(elements=values) if len(targets) == len(values):
                return {
                    t.value.value
                    for t, v in zip(targets, values, strict=True)
                    if isinstance(t.value, cst.Name) and (v.value is call or model.is_inside(call, v.value))
                }
    return {n.value for n in _target_nodes(assign) if isinstance(n, cst.Name)}


def _is_all_evaluation(lines: Sequence[cst.CSTNode], is_module: bool, model: Model) -> bool:
    for line in lines:
        if _trains(line, model) or _revives(line):
            return False
        if isinstance(line, (cst.FunctionDef, cst.ClassDef)):
            return False
        if is_module and model.tree.within(line, cst.ImportFrom) + model.tree.within(line, cst.Import):
            return False
    return True


def _users(lines: Sequence[cst.CSTNode], names: set[str], model: Model) -> tuple[list[int], list[int]]:
    """Which statements use volatile values, and which of them compute with those."""
    using, computing = [], []
    for index, line in enumerate(lines):
        names = names - _revives(line)
        sources = list(_sources(line, names, model))
        if not sources:
            names = names - _rebound(line)
            continue
        using.append(index)
        if any(_computes(source, line, model) for source in sources):
            computing.append(index)
        names = names | _volatile_names(line, names, model)
    return using, computing


def _computes(source: cst.CSTNode, line: cst.CSTNode, model: Model) -> bool:
    """Whether more is done with a value than to name, move or return it."""
    child = source
    for up in model.tree.ancestors(source):
        match up:
            case cst.Call(func=func) if func is not child:
                return model.qualified(func) != VARIABLE
            case cst.Attribute(attr=cst.Name(value=name)) if name not in _MOVES:
                return True
            case cst.BinaryOperation() | cst.UnaryOperation() | cst.AugAssign():
                return True
        if up is line:
            return False
        child = up
    return False


def _trains(line: cst.CSTNode, model: Model) -> bool:
    """Whether a statement computes gradients, or calls what does."""
    if model.calls_backward(line):
        return True
    trainers = model.remember(_trainers)
    for call in model.tree.within(line, cst.Call):
        match call.func:
            case cst.Name(value=name) if name in trainers or _SOUNDS_LIKE_TRAINING.search(name):
                return True
            case cst.Attribute(attr=cst.Name(value=name)):
                if name in trainers or name in _TRAINING or (name != "train" and _SOUNDS_LIKE_TRAINING.search(name)):
                    return True
    return any(
        isinstance(target.target, cst.Attribute) and target.target.attr.value == "requires_grad"
        for target in model.tree.within(line, cst.AssignTarget)
    )


def _trainers(model: Model) -> frozenset[str]:
    """Names of functions and methods of this file that compute gradients themselves."""
    return frozenset(f.name.value for f in model.tree.all(cst.FunctionDef) if model.calls_backward(f))


def _revives(line: cst.CSTNode) -> set[str]:
    """Names that are volatile no longer: ``x.volatile = False``."""
    match line:
        case cst.SimpleStatementLine(
            body=[cst.Assign(targets=[cst.AssignTarget(target=cst.Attribute(cst.Name(name), cst.Name("volatile")))])]
        ):
            return {name}
    return set()


def _rebound(line: cst.CSTNode) -> set[str]:
    match line:
        case cst.SimpleStatementLine(body=[cst.Assign() as assign]):
            return {n.value for n in _target_nodes(assign) if isinstance(n, cst.Name)}
    return set()


def _sources(node: cst.CSTNode, names: set[str], model: Model) -> Iterator[cst.CSTNode]:
    """Where a volatile value is used below a node, not only ``.data`` of it."""
    for call in model.tree.within(node, cst.Call):
        if _is_volatile(call) and model.qualified(call.func) == VARIABLE and not _is_input(call, model):
            if model.tree.statement(call) is model.tree.statement(node):
                yield call
    for name in model.tree.within(node, cst.Name):
        if name.value in names and not model.is_target(name):
            match model.tree.parent(name):
                case cst.Attribute(value=value, attr=cst.Name(value=attr)) if value is not name or attr in _CUTS:
                    continue
                case cst.Arg(keyword=label) if label is name:
                    continue
            yield name


def _volatile_names(line: cst.CSTNode, names: set[str], model: Model) -> set[str]:
    """Names that are volatile after a statement, because what they are bound to is."""
    found = set[str]()
    statements: list[cst.Assign | cst.AugAssign] = [
        *model.tree.within(line, cst.Assign),
        *model.tree.within(line, cst.AugAssign),
    ]
    for assign in statements:
        if any(not _is_cut(source, assign, model) for source in _sources(assign.value, names | found, model)):
            found.update(name for node in _target_nodes(assign) if (name := _root(node)))
    return found


def _is_cut(source: cst.CSTNode, statement: cst.CSTNode, model: Model) -> bool:
    for up in model.tree.ancestors(source):
        if up is statement:
            return False
        if isinstance(up, cst.Attribute) and up.attr.value in _CUTS:
            return True
    return False


def _target_nodes(assign: cst.Assign | cst.AugAssign) -> Iterator[cst.BaseExpression]:
    nodes: list[cst.BaseExpression] = (
        [assign.target] if isinstance(assign, cst.AugAssign) else [t.target for t in assign.targets]
    )
    while nodes:
        node = nodes.pop()
        if isinstance(node, (cst.Tuple, cst.List)):
            nodes += [e.value for e in node.elements]
        else:
            yield node


def _root(node: cst.CSTNode) -> str | None:
    """The name that is written to: ``x`` of ``x[mask] = …``."""
    while isinstance(node, cst.Subscript):
        node = node.value
    return node.value if isinstance(node, cst.Name) else None
