"""What an expression holds, and what it does with volatile values on the way."""

from __future__ import annotations

import re
from collections.abc import Sequence

import libcst as cst

from torchlint.file.tree.nodes import children
from torchlint.model import Kind, Model
from torchlint.model.autograd import calls_backward
from torchlint.model.bindings import last_assigned
from torchlint.model.graphs.backward import statements_sent_back
from torchlint.model.syntax import dotted, has_stars, parameters, positional_parameters, without_subscripts
from torchlint.model.torch import library
from torchlint.model.torch.arguments import literal_bool
from torchlint.rules.shared import memory
from torchlint.rules.shared.unrecorded_inputs import volatile_argument
from torchlint.rules.shared.variables import VARIABLE
from torchlint.rules.shared.volatile.elsewhere import GROWING, called_elsewhere
from torchlint.rules.shared.volatile.frame import VolatileFrame
from torchlint.rules.shared.volatile.values import (
    EMPTY,
    FREE,
    GRAPH,
    NO_GRAPH,
    NOTHING,
    UNKNOWN,
    VOLATILE,
    Called,
    Deed,
    Held,
    carries_no_graph,
    is_input,
)

_CUTS = frozenset(("data", "detach", "item", "tolist", "numpy", "volatile", "requires_grad", "is_cuda", "grad_fn"))
_METADATA = frozenset(("size", "shape", "dim", "ndimension", "numel", "nelement", "dtype", "device", "type", "stride"))
_MOVES = frozenset(("cuda", "cpu", "to", "float", "long", "contiguous", "unsqueeze", "squeeze", "view"))
_READERS = frozenset(
    ["print", "format", "update", "add_scalar", "add_scalars", "info", "debug", "warning", "write", "set_description"]
)
"""Callables that read what they are given, and no more."""
_ASKING = frozenset(f"builtins.{name}" for name in ("isinstance", "len", "type", "hasattr", "id", "repr", "str"))
"""Functions that compute nothing of tensors."""
_HANDING_ON = frozenset(
    f"builtins.{name}" for name in ("zip", "enumerate", "list", "tuple", "sorted", "reversed", "iter", "next", "dict")
)
_AT_ONCE = frozenset(
    f"builtins.{name}" for name in ("sum", "list", "tuple", "max", "min", "any", "all", "set", "dict", "sorted")
)
"""Functions that go through a generator before they return."""
_LATER = frozenset(("builtins.map", "builtins.filter"))
_LIBRARIES = ("builtins.", "numpy.", "math.", "time.", "os.", "random.", "logging.")
_MODES = frozenset(("train", "eval"))
_TRAINING = frozenset(("zero_grad", "requires_grad_", "grad"))
_SOUNDS_LIKE_TRAINING = re.compile(r"train|(?:^|_)fit|optimi[sz]e|learn")
_MAX_CALLS = 2
"""How deep functions are followed that are called with volatile arguments."""


def evaluate(frame: VolatileFrame, node: cst.CSTNode) -> Held:
    """What an expression holds; what it does is noted in the frame."""
    match node:
        case cst.Name() | cst.Attribute():
            return _named(frame, node)
        case cst.Call():
            return _call(frame, node)
        case cst.BinaryOperation() | cst.UnaryOperation():
            operands = [evaluate(frame, child) for child in children(node)]
            return operate(frame, node, [each for each in operands if each.bits], knows=True)
        case cst.Comparison():
            found = evaluate_children(frame, node)
            frame.deed.computes |= found.may_be_volatile
            return NO_GRAPH
        case cst.Subscript(value=value):
            base = evaluate(frame, value)
            _cut(frame, node)
            if not base.bits and frame.model.remember(_is_filled_here, value, frame.scope):
                return EMPTY  # nothing was put into it on the way here
            return base if base.may_be_volatile or base.bits == FREE else _known(frame, node)
        case cst.IfExp(test=test, body=body, orelse=orelse):
            evaluate(frame, test)
            return evaluate(frame, body) | evaluate(frame, orelse)
        case cst.NamedExpr(target=target, value=value):
            held = evaluate(frame, value)
            assign(frame, target, held, value)
            return held
        case cst.Lambda():
            _run_later(frame, node)
            return UNKNOWN
        case cst.GeneratorExp():
            _run_later(frame, node)
            return _comprehension(frame, node)
        case cst.ListComp() | cst.SetComp() | cst.DictComp():
            return _comprehension(frame, node)
        case cst.Yield() | cst.Await():
            frame.deed.suspends = True
            frame.leaves |= evaluate_children(frame, node).sources
            return UNKNOWN
        case cst.FormattedString() | cst.Tuple() | cst.List() | cst.Set() | cst.Dict() | cst.BooleanOperation():
            found = evaluate_children(frame, node)
            return NO_GRAPH if isinstance(node, cst.FormattedString) else found
        case cst.DictElement(key=key, value=value):
            evaluate(frame, key)
            return evaluate(frame, value)
        case cst.BaseNumber() | cst.BaseString():
            return NO_GRAPH
    return evaluate_children(frame, node)


def _cut(frame: VolatileFrame, node: cst.Subscript) -> None:
    """Go through what stands between brackets: indices have no graph, whatever is added up for one."""
    wanted_graph = frame.deed.wants_graph
    for part in node.slice:
        evaluate(frame, part)
        if not frame.model.tree.within(part, cst.Call):
            frame.deed.wants_graph = wanted_graph
        wanted_graph = frame.deed.wants_graph


def evaluate_quietly(frame: VolatileFrame, node: cst.CSTNode) -> Held:
    """What an expression holds, where what it does has been noted already."""
    outer, frame.deed = frame.deed, Deed()
    held = evaluate(frame, node)
    frame.deed = outer
    return held


def evaluate_children(frame: VolatileFrame, node: cst.CSTNode) -> Held:
    """What any of the parts of a node holds."""
    found = EMPTY
    for child in children(node):
        found |= evaluate(frame, child)
    return found


def assign(
    frame: VolatileFrame, target: cst.BaseExpression, held: Held, value: cst.BaseExpression | None = None
) -> None:
    """Bind a target to what is assigned to it; ``value`` is the expression that this comes from, if it is one."""
    match target, value:
        case (cst.Tuple(elements=targets), cst.Tuple(elements=values)) if len(targets) == len(values):
            given = [evaluate_quietly(frame, v.value) for v in values]
            for each, one in zip(targets, given, strict=True):
                assign(frame, each.value, one)
        case (cst.Tuple(elements=targets) | cst.List(elements=targets), _):
            for each in targets:
                assign(frame, each.value, held)
        case (cst.StarredElement(value=inner), _):
            assign(frame, inner, held)
        case (cst.Attribute(value=owner, attr=cst.Name("volatile")), _) if (path := dotted(owner)) is not None:
            is_true = value is not None and literal_bool(value) is True
            frame.bind(path, Held(VOLATILE) if is_true else UNKNOWN)
        case (cst.Attribute(attr=cst.Name("requires_grad")), _):
            frame.deed.wants_graph = True
        case (cst.Subscript(value=owner), _):
            evaluate_children(frame, target)
            _grow(frame, without_subscripts(owner), held)
        case (cst.Name() | cst.Attribute(), _):
            path = dotted(target)
            if path is None or "." in path or path in frame.outer_names:
                frame.keep(held)
            if path is not None:
                frame.bind(path, held)


def _grow(frame: VolatileFrame, owner: cst.BaseExpression, held: Held) -> None:
    """Something is put into a container, or written to a part of a tensor."""
    path = dotted(owner)
    if path is None or "." in path or path in frame.outer_names or path not in frame.env:
        frame.keep(held)
    if path is not None:
        frame.bind(path, evaluate_quietly(frame, owner) | held)


def _is_filled_here(model: Model, node: cst.BaseExpression, scope: cst.FunctionDef | cst.Module) -> bool:
    """Whether a name stands for a list that its function begins empty and fills itself: nobody else is given it."""
    if not isinstance(node, cst.Name) or not isinstance(scope, cst.FunctionDef):
        return False
    uses = model.references(node.value, scope)
    if node.value not in model.scopes.locals_of(scope) or node.value in {each.name.value for each in parameters(scope)}:
        return False
    return all(_fills_or_reads(model, use) for use in uses)


def _fills_or_reads(model: Model, use: cst.Name) -> bool:
    """Whether one use of a list binds its name, puts something into it, or takes something out of it."""
    match model.tree.parent(use):
        case cst.AssignTarget() | cst.Return():
            return True
        case cst.Attribute(attr=cst.Name(value=name)) as method:
            return name in GROWING and isinstance(model.tree.parent(method), cst.Call)
        case cst.Subscript(value=value):
            return value is use
        case cst.Arg() as arg:
            call = model.tree.parent(arg)
            ref = model.qualified(call.func) or "" if isinstance(call, cst.Call) else ""
            return library.is_function(ref) or ref == "builtins.len"
    return False


def _known(frame: VolatileFrame, node: cst.CSTNode) -> Held:
    """What the model says of an expression, whatever was volatile."""
    return NO_GRAPH if carries_no_graph(frame.model.value(node)) else UNKNOWN


def _named(frame: VolatileFrame, node: cst.Name | cst.Attribute) -> Held:
    path = dotted(node)
    if path in frame.env:
        is_none = frame.model.value(node).kind == Kind.NONE  # `e if e is None else Variable(e, volatile=True)`
        return EMPTY if is_none else frame.env[path or ""]
    found = _known(frame, node)
    if isinstance(node, cst.Attribute):
        is_read = node.attr.value in _CUTS or node.attr.value in _METADATA
        owner = dotted(node.value)
        base = evaluate(frame, node.value) if is_read or owner is None or owner in frame.env else EMPTY
        if is_read:
            return NO_GRAPH if base.may_be_volatile or base.bits == FREE else found
        if base.may_be_volatile:
            return base
    for other in frame.inside.get(path or "", ()):  # an object that holds a volatile value
        if frame.env.get(other, EMPTY).may_be_volatile:
            found |= frame.env[other]
    return found


def _comprehension(frame: VolatileFrame, node: cst.CSTNode) -> Held:
    outer = dict(frame.env)
    part = getattr(node, "for_in", None)
    while isinstance(part, cst.CompFor):
        assign(frame, part.target, evaluate(frame, part.iter))
        for condition in part.ifs:
            evaluate(frame, condition.test)
        part = part.inner_for_in
    found = EMPTY
    for name in ("elt", "key", "value"):
        if isinstance(element := getattr(node, name, None), cst.CSTNode):
            found |= evaluate(frame, element)
    frame.env = outer
    return found


def _run_later(frame: VolatileFrame, node: cst.CSTNode) -> None:
    """What is in a lambda or a generator runs somewhere else."""
    for name in frame.model.tree.within(node, cst.Name):
        held = frame.env.get(name.value, EMPTY)
        if held.may_be_volatile:
            _record(frame, node, held)
            frame.deed.wants_graph = True
    for call in frame.model.tree.within(node, cst.Call):
        if is_input(call, frame.model):
            _record(frame, node, Held(VOLATILE, frozenset((id(call),))))
            frame.deed.wants_graph = True


def _call(frame: VolatileFrame, call: cst.Call) -> Held:
    ref = frame.model.qualified(call.func) or ""
    if ref == VARIABLE:
        return _wrapper(frame, call)
    arguments = _arguments(frame, call, ref)
    if _is_training(frame, call):
        frame.deed.wants_graph = True
        _send_back(frame, call)
    match call.func:
        case cst.Attribute(value=owner, attr=cst.Name(value=name)) if not ref:
            return _method(frame, call, owner, name, arguments)
    name = call.func.value if isinstance(call.func, cst.Name) else ""
    if ref in _HANDING_ON:
        found = EMPTY
        for each in arguments:
            found |= each
        return found
    if name in _READERS or ref in _ASKING:
        return NO_GRAPH
    if ref in _LATER and any(each.may_be_volatile for each in arguments):
        frame.deed.wants_graph = True
    knows = library.is_function(ref) or (ref.startswith(_LIBRARIES) and ref not in _LATER)
    return operate(frame, call, arguments, knows=knows)


def _arguments(frame: VolatileFrame, call: cst.Call, ref: str) -> list[Held]:
    """What a call is given; what is in a display counts by itself."""
    found = []
    is_known = _callee(frame, call) is not None
    for arg in call.args:
        match arg.value if is_known else _displayed(frame, arg.value):
            case cst.Tuple(elements=elements) | cst.List(elements=elements):
                found += [evaluate(frame, each.value) for each in elements]
            case cst.GeneratorExp() as generator if ref in _AT_ONCE:
                found.append(_comprehension(frame, generator))
            case value:
                found.append(evaluate(frame, value))
    return [each for each in found if each.bits]


def _displayed(frame: VolatileFrame, node: cst.BaseExpression) -> cst.BaseExpression:
    """The tuple or list of names that a name was assigned in the statement before; else the node itself."""
    model = frame.model
    made = model.ask(last_assigned, node) if isinstance(node, cst.Name) else None
    if not isinstance(made, (cst.Tuple, cst.List)) or not all(isinstance(e.value, cst.Name) for e in made.elements):
        return node
    body, at = model.tree.siblings(model.tree.statement(node))
    is_just_before = at > 0 and body[at - 1] is model.tree.statement(made)
    return made if is_just_before else node


def _method(
    frame: VolatileFrame, call: cst.Call, owner: cst.BaseExpression, name: str, arguments: Sequence[Held]
) -> Held:
    if name == "forward" and frame.model.value(owner).kind == Kind.MODULE:  # the same as the call of the module
        return operate(frame, call, arguments, knows=False)
    receiver = evaluate(frame, owner)
    is_own = _callee(frame, call) is not None
    if name in GROWING and not receiver.is_volatile and not is_own:
        for each in arguments:
            _grow(frame, owner, each)
        return NO_GRAPH
    casts = name == "type" and bool(call.args)
    if receiver.may_be_volatile and (name in _CUTS or name in _METADATA) and not casts:
        return NO_GRAPH
    if name in _MODES or (name in _READERS and not receiver.is_volatile and not is_own):
        return NO_GRAPH
    knows = not receiver.bits & GRAPH or frame.model.value(owner).is_tensor
    moves = (name in _MOVES or casts) and receiver.is_volatile
    return operate(frame, call, [receiver, *arguments], knows=knows, moves=moves)


def _wrapper(frame: VolatileFrame, call: cst.Call) -> Held:
    for arg in call.args:
        moved = memory.before_transfers(arg.value, frame.model)
        if moved is arg.value or evaluate(frame, moved).may_be_volatile:
            evaluate(frame, arg.value)  # else what a transfer records is cut here
    if is_input(call, frame.model):
        frame.inputs.add(id(call))
        asked = volatile_argument(call)
        is_certain = asked is not None and literal_bool(asked.value) is True
        if not is_certain:
            frame.flagged.add(id(call))
        return Held(VOLATILE if is_certain else VOLATILE | GRAPH, frozenset((id(call),)))
    return _known(frame, call)


def _send_back(frame: VolatileFrame, call: cst.Call) -> None:
    """Gradients are sent back by a call: what is volatile of it trains today."""
    if not frame.model.ask(calls_backward, call):
        return
    given = [arg.value for arg in call.args]
    for each in [*given, call.func.value] if isinstance(call.func, cst.Attribute) else given:
        frame.send_back(evaluate_quietly(frame, each), each)


def _is_training(frame: VolatileFrame, call: cst.Call) -> bool:
    """Whether a call computes gradients, by what it is called or by what it does."""
    if frame.model.ask(calls_backward, call):
        return True
    trainers = frame.model.remember(_trainers)
    match call.func:
        case cst.Name(value=name):
            return name in trainers or bool(_SOUNDS_LIKE_TRAINING.search(name))
        case cst.Attribute(attr=cst.Name(value=name)):
            sounds = name not in _MODES and bool(_SOUNDS_LIKE_TRAINING.search(name))
            return name in trainers or name in _TRAINING or sounds
    return False


def operate(
    frame: VolatileFrame, node: cst.CSTNode, operands: Sequence[Held], *, knows: bool, moves: bool = False
) -> Held:
    """The result of an operation; ``knows``: it has no tensors but its operands."""
    sources = frozenset[int]().union(*(each.sources for each in operands))
    bits = 0
    for each in operands:
        bits |= each.bits
    has_others = bool(bits & GRAPH) or not knows
    if not bits & VOLATILE:
        frame.keeps_graph |= not knows and not frame.is_off and _followed(frame, node).keeps_graph
        if frame.is_off or (knows and not has_others) or carries_no_graph(frame.model.value(node)):
            return NO_GRAPH
        frame.deed.wants_graph = True
        return UNKNOWN
    if bits & GRAPH and is_sent_back(frame, node):
        frame.deed.wants_graph = True
        return UNKNOWN
    frame.deed.computes |= not moves
    frame.deed.sources |= sources
    if has_others:
        _record(frame, node, Held(VOLATILE, sources))
    if any(each.is_volatile for each in operands):
        called = NOTHING if knows else _followed(frame, node)
        frame.keeps_graph |= called.keeps_graph
        begins_graph = bool(called.returned.bits & GRAPH)
        frame.deed.wants_graph |= called.keeps_graph or begins_graph
        return Held(VOLATILE | GRAPH if begins_graph else VOLATILE, sources)
    frame.deed.wants_graph |= has_others
    return Held(bits | (GRAPH if has_others else 0), sources)


def is_sent_back(frame: VolatileFrame, node: cst.CSTNode) -> bool:
    """Whether gradients are sent back in the scope through what a statement gives: `mse(output, target).backward()`."""
    model = frame.model
    return id(model.tree.statement(node)) in model.ask(statements_sent_back, frame.scope)


def _record(frame: VolatileFrame, node: cst.CSTNode, held: Held) -> None:
    if frame.is_off:
        frame.done |= held.sources
        return
    if frame.is_decided:
        frame.done |= held.sources & frame.flagged
    for source in held.sources - (frame.flagged if frame.is_decided else set()):
        frame.deed.recording.setdefault(source, node)


def _followed(frame: VolatileFrame, node: cst.CSTNode) -> Called:
    """What a function of the project does with volatile arguments: it may cut them, and begin graphs of its own."""
    function = _callee(frame, node) if isinstance(node, cst.Call) else None
    if function is None or not isinstance(node, cst.Call) or frame.depth >= _MAX_CALLS:
        return NOTHING
    if frame.model.home(function) is not frame.model:
        return frame.model.remember(called_elsewhere, function, _with_graphs(frame, node, function))
    return frame.model.remember(frame.run, function, frame.depth + 1, _with_graphs(frame, node, function))


def _with_graphs(frame: VolatileFrame, call: cst.Call, function: cst.FunctionDef) -> frozenset[str]:
    """The parameters of a function that a call gives what may have a graph of its own, and nothing volatile."""
    if has_stars(call.args):
        return frozenset()
    named = [param.name.value for param in positional_parameters(function)]
    named = named[1:] if named[:1] in (["self"], ["cls"]) else named
    given = dict(zip(named, (arg.value for arg in call.args if arg.keyword is None), strict=False))
    given |= {arg.keyword.value: arg.value for arg in call.args if arg.keyword is not None}
    return frozenset(name for name, value in given.items() if evaluate_quietly(frame, value).bits == GRAPH)


def _callee(frame: VolatileFrame, call: cst.Call) -> cst.FunctionDef | None:
    value = frame.model.value(call.func)
    function = value.node
    if isinstance(function, cst.ClassDef):
        if not value.kind & Kind.MODULE:
            return None
        function = frame.model.find_method(function, "forward")
    return function if isinstance(function, cst.FunctionDef) else None


def _trainers(model: Model) -> frozenset[str]:
    """Names of functions and methods of this file that compute gradients themselves."""
    return frozenset(f.name.value for f in model.tree.all(cst.FunctionDef) if model.ask(calls_backward, f))
