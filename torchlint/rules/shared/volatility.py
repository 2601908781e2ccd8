"""How `volatile=True` spread through a scope: what is computed with volatile values, and what without.

Whatever a volatile tensor took part in had no graph and was volatile itself, until `.data` was read. All else kept its
graph. So of each statement two things are asked: does it compute with a volatile value anything that would be recorded
today, and does it compute anything else of which the graph may be wanted?
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import libcst as cst

from torchlint.file.tree.tree import children
from torchlint.model import Kind, Model, Tri, Value
from torchlint.model.syntax import dotted, parameters
from torchlint.model.torch import returned
from torchlint.model.values import held as element

VARIABLE = "torch.autograd.Variable"

VOLATILE = 1
FREE = 2
"""It carries no graph anyhow: a number, data, what has been cut."""
GRAPH = 4
"""It may carry a graph; nobody knows."""


@dataclass(frozen=True, slots=True)
class Held:
    """What an expression can be, as a set of the three, and from which volatile inputs (by ``id``) it comes."""

    bits: int
    sources: frozenset[int] = frozenset()

    def __or__(self, other: Held) -> Held:
        return Held(self.bits | other.bits, self.sources | other.sources)

    @property
    def is_volatile(self) -> bool:
        """Is volatile whatever happens."""
        return self.bits == VOLATILE

    @property
    def may_be_volatile(self) -> bool:
        """Is volatile on some path."""
        return bool(self.bits & VOLATILE)


EMPTY, NO_GRAPH, UNKNOWN = Held(0), Held(FREE), Held(GRAPH)


@dataclass(frozen=True, slots=True)
class Called:
    """What a function does that is called with volatile arguments."""

    returned: Held
    keeps_graph: bool
    """Whether it keeps what may carry a graph where somebody else finds it: a block would take that graph away."""


NOTHING = Called(EMPTY, False)


@dataclass(slots=True)
class Deed:
    """What a statement does with volatile values; of a compound one, with all that is in it."""

    recording: dict[int, cst.CSTNode] = field(default_factory=dict)
    """What is computed with a volatile input and would be recorded, by the input."""
    computes: bool = False
    """Whether it does more with volatile values than to name or move them."""
    wants_graph: bool = False
    """Whether it computes something else, which may need its graph."""
    suspends: bool = False
    """Whether others run before it has ended: a block would take its mode along to them."""

    def absorb(self, other: Deed) -> None:
        """Add what a part of the statement does."""
        self.recording = {**other.recording, **self.recording}
        self.computes |= other.computes
        self.wants_graph |= other.wants_graph
        self.suspends |= other.suspends


def keyword(call: cst.Call) -> cst.Arg | None:
    """The argument `volatile` of a call of `Variable`."""
    for index, arg in enumerate(call.args):
        if arg.star:
            return None
        if (arg.keyword.value == "volatile") if arg.keyword is not None else (index == 2):
            return arg
    return None


def is_input(call: cst.Call, model: Model) -> bool:
    """Whether a call makes a volatile tensor, or may."""
    arg = keyword(call)
    return arg is not None and returned.literal_bool(arg.value) is not False and model.qualified(call.func) == VARIABLE


_CUTS = frozenset(("data", "detach", "item", "tolist", "numpy", "volatile", "requires_grad", "is_cuda", "grad_fn"))
_METADATA = frozenset(("size", "shape", "dim", "ndimension", "numel", "nelement", "dtype", "device", "type", "stride"))
_MOVES = frozenset(("cuda", "cpu", "to", "float", "long", "contiguous", "unsqueeze", "squeeze", "view"))

_READERS = frozenset(
    ["print", "format", "update", "add_scalar", "add_scalars", "info", "debug", "warning", "write", "set_description"]
)
"""Callables that read what they are given, and no more."""
_GROWING = frozenset(("append", "extend", "add", "insert", "appendleft"))
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
_ENABLING = frozenset(("torch.enable_grad", "torch.set_grad_enabled", "torch.autograd.enable_grad"))

_MAX_ROUNDS = 12
_MAX_CALLS = 2

Env = dict[str, Held]


class Flow:
    """One scope, gone through in the order in which it runs."""

    def __init__(
        self, model: Model, scope: cst.FunctionDef | cst.Module, given: Mapping[str, Held] | None = None, depth: int = 0
    ) -> None:
        self.model, self.scope, self.depth = model, scope, depth
        self.env: Env = dict(given or {})
        self.deeds: dict[int, Deed] = {}
        """What each statement does, by ``id``."""
        self.headers: dict[int, Deed] = {}
        """What the head of a compound statement does, by ``id``."""
        self.done: set[int] = set()
        """Volatile inputs that something is computed with where autograd is off."""
        self.leaves: set[int] = set()
        """Volatile inputs that go to where nobody follows them."""
        self.inputs: set[int] = set()
        """Those that were met."""
        self.returned = EMPTY
        self.keeps_graph = False
        """Whether something that may carry a graph is kept where it outlives the call."""
        self._deed = Deed()
        self._is_off = False
        self._ever: Env = {}
        self._jumps: list[Env] = []
        listed = [item for each in model.tree.within(scope, cst.Global) for item in each.names]
        listed += [item for each in model.tree.within(scope, cst.Nonlocal) for item in each.names]
        self._outer = {item.name.value for item in listed}
        body = scope.body
        self._suite(body if isinstance(body, Sequence) else body.body)
        self._follow_captured()

    # ------------------------------------------------------------------ statements

    def _suite(self, lines: Iterable[cst.CSTNode]) -> bool:
        """Go through some statements; whether their end is reached."""
        goes_on = True
        for line in lines:
            goes_on = self._line(line) and goes_on
        return goes_on

    def _line(self, line: cst.CSTNode) -> bool:
        outer, self._deed = self._deed, Deed()
        was_off = self._is_off
        if not isinstance(line, cst.If) or not isinstance(self.model.tree.parent(line), cst.If):  # no `elif`
            self._is_off = self.model.grad_enabled(line) == Tri.NO
        goes_on = True
        match line:
            case cst.SimpleStatementLine(body=parts):
                for part in parts:
                    goes_on = self._small(part) and goes_on
            case cst.BaseSmallStatement():
                goes_on = self._small(line)
            case _:
                goes_on = self._compound(line)
        self.deeds[id(line)] = self._deed
        self._deed, self._is_off = outer, was_off
        return goes_on

    def _compound(self, line: cst.CSTNode) -> bool:
        match line:
            case cst.If(test=test, body=body, orelse=orelse):
                self._header(line, [test])
                return self._branches(line, [body, orelse])
            case cst.For(target=target, iter=iterated, body=body, orelse=orelse):
                self._header(line, [iterated])
                self._loop(body, lambda: self._assign(target, self._held(iterated)))
                return self._branches(line, [orelse]) if orelse is not None else True
            case cst.While(test=test, body=body, orelse=orelse):
                self._header(line, [])
                self._loop(body, lambda: self._header(line, [test]))
                return self._branches(line, [orelse]) if orelse is not None else True
            case cst.With(items=items, body=body):
                self._header(line, [item.item for item in items])
                for item in items:
                    if item.asname is not None:
                        self._assign(item.asname.name, UNKNOWN)
                    if isinstance(item.item, cst.Call) and self.model.qualified(item.item.func) in _ENABLING:
                        self._deed.wants_graph = True
                return self._body(line, body)
            case (
                cst.Try(body=body, handlers=handlers, orelse=orelse, finalbody=last)
                | cst.TryStar(body=body, handlers=handlers, orelse=orelse, finalbody=last)
            ):
                self._header(line, [])
                return self._try(line, body, orelse, [handler.body for handler in handlers], last)
            case cst.Match(subject=subject, cases=cases):
                self._header(line, [subject])
                return self._branches(line, [*(case.body for case in cases), None])
            case cst.FunctionDef(name=name) | cst.ClassDef(name=name):
                self.env.pop(name.value, None)
                self._deed.wants_graph = True  # it stays where it is
        return True

    def _header(self, line: cst.CSTNode, expressions: Iterable[cst.BaseExpression]) -> None:
        outer, self._deed = self._deed, Deed()
        for expression in expressions:
            self._held(expression)
        self.headers[id(line)] = self._deed
        outer.absorb(self._deed)
        self._deed = outer

    def _body(self, line: cst.CSTNode, body: cst.BaseSuite) -> bool:
        goes_on = self._suite(body.body)
        for each in body.body:
            self._deed.absorb(self.deeds[id(each)])
        return goes_on

    def _try(
        self,
        line: cst.CSTNode,
        body: cst.BaseSuite,
        orelse: cst.Else | None,
        handlers: Sequence[cst.BaseSuite],
        last: cst.Finally | None,
    ) -> bool:
        before = dict(self.env)
        goes_on = self._body(line, body) and (orelse is None or self._body(line, orelse.body))
        after = self.env
        ends = [after] if goes_on else []
        for handler in handlers:
            self.env = _joined(before, after)
            if self._body(line, handler):
                ends.append(self.env)
        self.env = _joined(*ends) if ends else after
        return (last is None or self._body(line, last.body)) and bool(ends)

    def _branches(self, line: cst.CSTNode, branches: Sequence[cst.CSTNode | None]) -> bool:
        """Go through bodies of which one runs; whether what follows is reached."""
        before, after = dict(self.env), list[Env]()
        for branch in branches:
            self.env = dict(before)
            match branch:
                case cst.BaseSuite():
                    goes_on = self._body(line, branch)
                case cst.If():
                    goes_on = self._line(branch)
                    self._deed.absorb(self.deeds[id(branch)])
                case cst.Else(body=body):
                    goes_on = self._body(line, body)
                case _:
                    goes_on = True
            if goes_on:
                after.append(self.env)
        self.env = _joined(*after) if after else before
        return bool(after)

    def _loop(self, body: cst.BaseSuite, begin: Callable[[], None]) -> None:
        outer, self._jumps = self._jumps, []
        for _ in range(_MAX_ROUNDS):
            before = dict(self.env)
            begin()
            goes_on = self._suite(body.body)
            self.env = _joined(before, *self._jumps, *([self.env] if goes_on else ()))
            if self.env == before:
                break
        for each in body.body:
            self._deed.absorb(self.deeds[id(each)])
        self._jumps = outer

    def _small(self, part: cst.CSTNode) -> bool:
        """Go through a simple statement; whether what follows it is reached."""
        match part:
            case cst.Assign(targets=targets, value=value):
                held = self._held(value)
                for target in targets:
                    self._assign(target.target, held, value)
            case cst.AnnAssign(target=target, value=value) if value is not None:
                self._assign(target, self._held(value), value)
            case cst.AugAssign(target=target, value=value):
                operands = [self._held(target), self._held(value)]
                self._assign(target, self._operate(part, operands, knows=True))
            case cst.Return(value=value):
                if value is not None:
                    held = self._held(value)
                    self.returned |= held
                    self.leaves |= held.sources
                return False
            case cst.Raise():
                self._each_child(part)
                return False
            case cst.Break() | cst.Continue():
                self._jumps.append(dict(self.env))
                return False
            case cst.Del(target=target):
                for name in [dotted(target)] if dotted(target) else []:
                    self.env.pop(name or "", None)
            case cst.Import() | cst.ImportFrom() | cst.Global() | cst.Nonlocal():
                self._deed.wants_graph = True  # it stays where it is
            case _:
                self._each_child(part)
        return True

    def _assign(self, target: cst.BaseExpression, held: Held, value: cst.BaseExpression | None = None) -> None:
        match target, value:
            case (cst.Tuple(elements=targets), cst.Tuple(elements=values)) if len(targets) == len(values):
                given = [self._quietly(v.value) for v in values]
                for each, one in zip(targets, given, strict=True):
                    self._assign(each.value, one)
            case (cst.Tuple(elements=targets) | cst.List(elements=targets), _):
                for each in targets:
                    self._assign(each.value, held)
            case (cst.StarredElement(value=inner), _):
                self._assign(inner, held)
            case (cst.Attribute(value=owner, attr=cst.Name("volatile")), _) if (path := dotted(owner)) is not None:
                is_true = value is not None and returned.literal_bool(value) is True
                self._bind(path, Held(VOLATILE) if is_true else UNKNOWN)
            case (cst.Attribute(attr=cst.Name("requires_grad")), _):
                self._deed.wants_graph = True
            case (cst.Subscript(value=owner), _):
                self._each_child(target)
                root: cst.BaseExpression = owner
                while isinstance(root, cst.Subscript):
                    root = root.value
                self._grow(root, held)
            case (cst.Name() | cst.Attribute(), _):
                path = dotted(target)
                if path is None or "." in path or path in self._outer:
                    self._keep(held)
                if path is not None:
                    self._bind(path, held)

    def _bind(self, path: str, held: Held) -> None:
        for other in [name for name in self.env if name.startswith(f"{path}.")]:
            del self.env[other]
        self.env[path] = held
        self._ever[path] = self._ever.get(path, EMPTY) | held

    def _grow(self, owner: cst.BaseExpression, held: Held) -> None:
        """Something is put into a container, or written to a part of a tensor."""
        path = dotted(owner)
        if path is None or "." in path or path in self._outer or path not in self.env:
            self._keep(held)
        if path is not None:
            self._bind(path, self._quietly(owner) | held)

    def _keep(self, held: Held) -> None:
        """Something goes to where it stays when the scope is left."""
        self.leaves |= held.sources
        self.keeps_graph |= bool(held.bits & GRAPH)

    def _follow_captured(self) -> None:
        """What functions and the like take from here, they compute with elsewhere."""
        tree = self.model.tree
        volatile = {path for path, held in self._ever.items() if held.may_be_volatile and "." not in path}
        functions = (
            [*tree.within(self.scope, cst.FunctionDef), *tree.within(self.scope, cst.Lambda)] if volatile else []
        )
        for function in functions if volatile else ():
            if function is not self.scope:
                for use in tree.within(function, cst.Name):
                    if use.value in volatile:
                        self.leaves |= self._ever[use.value].sources

    # ------------------------------------------------------------------ expressions

    def _quietly(self, node: cst.CSTNode) -> Held:
        """What an expression is, where what it does has been seen already."""
        outer, self._deed = self._deed, Deed()
        held = self._held(node)
        self._deed = outer
        return held

    def _each_child(self, node: cst.CSTNode) -> Held:
        found = EMPTY
        for child in children(node):
            found |= self._held(child)
        return found

    def _held(self, node: cst.CSTNode) -> Held:
        match node:
            case cst.Name() | cst.Attribute():
                return self._named(node)
            case cst.Call():
                return self._call(node)
            case cst.BinaryOperation() | cst.UnaryOperation():
                operands = [self._held(child) for child in children(node)]
                return self._operate(node, [each for each in operands if each.bits], knows=True)
            case cst.Comparison():
                found = self._each_child(node)
                self._deed.computes |= found.may_be_volatile
                return NO_GRAPH
            case cst.Subscript(value=value):
                base = self._held(value)
                for part in node.slice:
                    self._held(part)
                return base if base.may_be_volatile or base.bits == FREE else self._known(node)
            case cst.IfExp(test=test, body=body, orelse=orelse):
                self._held(test)
                return self._held(body) | self._held(orelse)
            case cst.NamedExpr(target=target, value=value):
                held = self._held(value)
                self._assign(target, held, value)
                return held
            case cst.Lambda():
                self._run_later(node)
                return UNKNOWN
            case cst.GeneratorExp():
                self._run_later(node)
                return self._comprehension(node)
            case cst.ListComp() | cst.SetComp() | cst.DictComp():
                return self._comprehension(node)
            case cst.Yield() | cst.Await():
                self._deed.suspends = True
                self.leaves |= self._each_child(node).sources
                return UNKNOWN
            case cst.FormattedString() | cst.Tuple() | cst.List() | cst.Set() | cst.Dict() | cst.BooleanOperation():
                found = self._each_child(node)
                return NO_GRAPH if isinstance(node, cst.FormattedString) else found
            case cst.DictElement(key=key, value=value):
                self._held(key)
                return self._held(value)
            case cst.BaseNumber() | cst.BaseString():
                return NO_GRAPH
            case cst.BaseExpression() | cst.BaseElement() | cst.BaseDictElement() | cst.Arg():
                return self._each_child(node)
        return self._each_child(node)

    def _known(self, node: cst.CSTNode) -> Held:
        return NO_GRAPH if _carries_no_graph(self.model.value(node)) else UNKNOWN

    def _named(self, node: cst.Name | cst.Attribute) -> Held:
        path = dotted(node)
        if path in self.env:
            return self.env[path or ""]
        found = self._known(node)
        if isinstance(node, cst.Attribute):
            base = self._held(node.value)
            if node.attr.value in _CUTS or node.attr.value in _METADATA:
                return NO_GRAPH if base.may_be_volatile or base.bits == FREE else found
            if base.may_be_volatile and (path is None or dotted(node.value) in self.env):
                return base
        for other, held in self.env.items():  # an object that holds a volatile value
            if held.may_be_volatile and other.startswith(f"{path}."):
                found |= held
        return found

    def _comprehension(self, node: cst.CSTNode) -> Held:
        outer = dict(self.env)
        part = getattr(node, "for_in", None)
        while isinstance(part, cst.CompFor):
            self._assign(part.target, self._held(part.iter))
            for condition in part.ifs:
                self._held(condition.test)
            part = part.inner_for_in
        found = EMPTY
        for name in ("elt", "key", "value"):
            if isinstance(element_ := getattr(node, name, None), cst.CSTNode):
                found |= self._held(element_)
        self.env = outer
        return found

    def _run_later(self, node: cst.CSTNode) -> None:
        """What is in a lambda or a generator runs somewhere else."""
        for name in self.model.tree.within(node, cst.Name):
            held = self.env.get(name.value, EMPTY)
            if held.may_be_volatile:
                self._record(node, held)
                self._deed.wants_graph = True
        for call in self.model.tree.within(node, cst.Call):
            if is_input(call, self.model):
                self._record(node, Held(VOLATILE, frozenset((id(call),))))
                self._deed.wants_graph = True

    # ------------------------------------------------------------------ calls

    def _call(self, call: cst.Call) -> Held:
        ref = self.model.qualified(call.func) or ""
        if ref == VARIABLE:
            return self._wrapper(call)
        arguments = self._arguments(call, ref)
        if self._is_training(call):
            self._deed.wants_graph = True
        match call.func:
            case cst.Attribute(value=owner, attr=cst.Name(value=name)) if not ref:
                return self._method(call, owner, name, arguments)
        name = call.func.value if isinstance(call.func, cst.Name) else ""
        if ref in _HANDING_ON:
            found = EMPTY
            for each in arguments:
                found |= each
            return found
        if name in _READERS:
            return NO_GRAPH
        if ref in _LATER and any(each.may_be_volatile for each in arguments):
            self._deed.wants_graph = True
        knows = returned.is_function(ref) or (ref.startswith(_LIBRARIES) and ref not in _LATER)
        return self._operate(call, arguments, knows=knows)

    def _arguments(self, call: cst.Call, ref: str) -> list[Held]:
        """What a call is given; what is in a display counts by itself."""
        found = []
        for arg in call.args:
            match arg.value:
                case cst.Tuple(elements=elements) | cst.List(elements=elements):
                    found += [self._held(each.value) for each in elements]
                case cst.GeneratorExp() as generator if ref in _AT_ONCE:
                    found.append(self._comprehension(generator))
                case value:
                    found.append(self._held(value))
        return [each for each in found if each.bits]

    def _method(self, call: cst.Call, owner: cst.BaseExpression, name: str, arguments: Sequence[Held]) -> Held:
        receiver = self._held(owner)
        is_own = self._callee(call) is not None
        if name in _GROWING and not receiver.is_volatile and not is_own:
            for each in arguments:
                self._grow(owner, each)
            return NO_GRAPH
        casts = name == "type" and bool(call.args)
        if receiver.may_be_volatile and (name in _CUTS or name in _METADATA) and not casts:
            return NO_GRAPH
        if name in _MODES or (name in _READERS and not receiver.is_volatile and not is_own):
            return NO_GRAPH
        knows = not receiver.bits & GRAPH or self.model.value(owner).is_tensor
        moves = (name in _MOVES or casts) and receiver.is_volatile
        return self._operate(call, [receiver, *arguments], knows=knows, moves=moves)

    def _wrapper(self, call: cst.Call) -> Held:
        for arg in call.args:
            self._held(arg.value)
        if is_input(call, self.model):
            self.inputs.add(id(call))
            asked = keyword(call)
            is_certain = asked is not None and returned.literal_bool(asked.value) is True
            return Held(VOLATILE if is_certain else VOLATILE | GRAPH, frozenset((id(call),)))
        return self._known(call)

    def _is_training(self, call: cst.Call) -> bool:
        """Whether a call computes gradients, by what it is called or by what it does."""
        if self.model.calls_backward(call):
            return True
        trainers = self.model.remember(_trainers)
        match call.func:
            case cst.Name(value=name):
                return name in trainers or bool(_SOUNDS_LIKE_TRAINING.search(name))
            case cst.Attribute(attr=cst.Name(value=name)):
                sounds = name not in _MODES and bool(_SOUNDS_LIKE_TRAINING.search(name))
                return name in trainers or name in _TRAINING or sounds
        return False

    def _operate(self, node: cst.CSTNode, operands: Sequence[Held], *, knows: bool, moves: bool = False) -> Held:
        """The result of an operation; ``knows``: it has no tensors but its operands."""
        sources = frozenset[int]().union(*(each.sources for each in operands))
        bits = 0
        for each in operands:
            bits |= each.bits
        has_others = bool(bits & GRAPH) or not knows
        if not bits & VOLATILE:
            self.keeps_graph |= not knows and not self._is_off and self._followed(node).keeps_graph
            if self._is_off or (knows and not has_others) or _carries_no_graph(self.model.value(node)):
                return NO_GRAPH
            self._deed.wants_graph = True
            return UNKNOWN
        self._deed.computes |= not moves
        if has_others:
            self._record(node, Held(VOLATILE, sources))
        if any(each.is_volatile for each in operands):
            called = NOTHING if knows else self._followed(node)
            self.keeps_graph |= called.keeps_graph
            begins_graph = bool(called.returned.bits & GRAPH)
            self._deed.wants_graph |= called.keeps_graph or begins_graph
            return Held(VOLATILE | GRAPH if begins_graph else VOLATILE, sources)
        self._deed.wants_graph |= has_others
        return Held(bits | (GRAPH if has_others else 0), sources)

    def _record(self, node: cst.CSTNode, held: Held) -> None:
        if self._is_off:
            self.done |= held.sources
        else:
            self._deed.recording.update({source: node for source in held.sources if source not in self._deed.recording})

    def _followed(self, node: cst.CSTNode) -> Called:
        """What a function of the project does with volatile arguments: it may cut them, and begin graphs of its own."""
        function = self._callee(node) if isinstance(node, cst.Call) else None
        if function is None or self.depth >= _MAX_CALLS:
            return NOTHING
        if self.model.home(function) is not self.model:
            return self.model.remember(_called_elsewhere, function)
        return self.model.remember(_called, function, self.depth + 1)

    def _callee(self, call: cst.Call) -> cst.FunctionDef | None:
        value = self.model.value(call.func)
        function = value.node
        if isinstance(function, cst.ClassDef):
            if not value.kind & Kind.MODULE:
                return None
            function = self.model.find_method(function, "forward")
        return function if isinstance(function, cst.FunctionDef) else None


def _called(model: Model, function: cst.FunctionDef, depth: int) -> Called:
    names = [param.name.value for param in parameters(function)]
    given = {name: Held(VOLATILE) for name in names if name not in ("self", "cls")}
    flow = Flow(model, function, given, depth)
    return Called(flow.returned, flow.keeps_graph)


def _called_elsewhere(model: Model, function: cst.FunctionDef) -> Called:
    """The same of a function of another file: whatever it keeps may carry a graph."""
    tree = model.home(function).tree
    targets: list[cst.CSTNode] = [each.target for each in tree.within(function.body, cst.AssignTarget)]
    targets += [each.target for each in tree.within(function.body, cst.AugAssign)]
    keeps = any(isinstance(target, (cst.Attribute, cst.Subscript)) for target in targets)
    keeps |= bool(tree.within(function.body, cst.Global) + tree.within(function.body, cst.Nonlocal))
    for call in tree.within(function.body, cst.Call):
        keeps |= isinstance(call.func, cst.Attribute) and call.func.attr.value in _GROWING
    return Called(EMPTY, keeps)


def _joined(*paths: Env) -> Env:
    """What names can hold where paths meet."""
    found: Env = {}
    for name in {name for path in paths for name in path}:
        for path in paths:
            found[name] = found.get(name, EMPTY) | path.get(name, UNKNOWN)
    return found


def _carries_no_graph(value: Value) -> bool:
    """Whether a value is known, and no tensor with a graph, nor anything that holds or makes one."""
    if not value.kind or value.kind & ~(
        Kind.TENSOR | Kind.NUMBER | Kind.STRING | Kind.NONE | Kind.NDARRAY | Kind.CONTAINER
    ):
        return False
    if value.kind & Kind.TENSOR and value.grad != Tri.NO:
        return False
    if value.kind & Kind.CONTAINER:
        inner = element(value)
        return inner is not None and _carries_no_graph(inner)
    return True


def _trainers(model: Model) -> frozenset[str]:
    """Names of functions and methods of this file that compute gradients themselves."""
    return frozenset(f.name.value for f in model.tree.all(cst.FunctionDef) if model.calls_backward(f))
