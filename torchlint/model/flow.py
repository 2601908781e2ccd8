"""Forward interpretation of one function: what every expression in it can be.

One environment maps names (and ``self.x`` paths) to values; it is copied at branches, joined at merges, and loops run
until nothing changes. A function is interpreted when something in it is first asked about. What is learnt from the use
of an unknown value (``x.unsqueeze(0)``: a tensor) holds from where the value came from, so the function is run again
when something was learnt.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import libcst as cst

from torchlint.model import torch_api
from torchlint.model.scopes import dotted, parameters, sounds_like_no_grad
from torchlint.model.torch_api import Argument
from torchlint.model.values import (
    MODULE,
    NDARRAY,
    NONE,
    NUMBER,
    OBJECT,
    STRING,
    UNKNOWN,
    Dtype,
    Evidence,
    Kind,
    Ndim,
    Role,
    Strength,
    Symbol,
    Tri,
    Value,
    container,
    iterated,
    join,
    parameter,
    tensor,
    unknown,
)

if TYPE_CHECKING:
    from torchlint.model import Model

Env = dict[str, Value]

_MAX_LOOPS = 3
_LOSS_NAME = re.compile(r"criterion|(^|_)loss(es)?(_|$|\d)|loss(_?fn|_?func|_?function)?$|Loss$", re.IGNORECASE)
_MODULE_NAME = re.compile(
    r"net|model|module|encoder|decoder|critic|actor|polic|generator|discriminator|cnn|rnn|gan|lstm|gru|forward|layer|"
    r"^(G|D|E|enc|dec|gen|disc)\d*$|^(enc|dec|gen|disc)_"
)
_CLASS_NAME = re.compile(r"^_?[A-Z]+[a-z][a-z]|^[A-Z]{3}")
_INPLACE = re.compile(r"[a-z0-9]_$")
_GRAD_CONTEXTS = {
    "torch.no_grad": Tri.NO,
    "torch.inference_mode": Tri.NO,
    "torch.autograd.no_grad": Tri.NO,
    "torch.autograd.inference_mode": Tri.NO,
    "torch.enable_grad": Tri.YES,
    "torch.autograd.enable_grad": Tri.YES,
}
_SET_GRAD = ("torch.set_grad_enabled", "torch.autograd.set_grad_enabled")
_NUMBERS = frozenset(("int", "float", "bool", "len", "abs", "round", "hash", "id", "ord", "isinstance", "issubclass"))
_NUMBERS |= frozenset(("callable", "hasattr", "all", "any", "complex", "pow", "divmod", "range"))
_STRINGS = frozenset(("str", "repr", "format", "chr", "hex", "bin", "input", "ascii"))
_NOT_TORCH = frozenset(
    [
        "scipy",
        "pandas",
        "tensorflow",
        "tf",
        "jax",
        "flax",
        "sklearn",
        "skimage",
        "matplotlib",
        "cv2",
        "PIL",
        "requests",
        "tqdm_logging",
        "chainer",
        "mxnet",
        "paddle",
        "theano",
        "keras",
        "caffe",
        "caffe2",
        "casadi",
        "sympy",
        "tkinter",
        "yaml",
        "nltk",
        "spacy",
        "h5py",
        "lmdb",
        "gym",
        "gymnasium",
        "networkx",
        "google",
        "argparse",
        "simplejson",
        "omegaconf",
        "hydra",
        "absl",
        "fire",
        "wandb",
        "tensorboardX",
        "pytest",
        "attr",
        "pyarrow",
        "polars",
        "torchtext",
    ]
)


@dataclass(slots=True)
class Use:
    """How an unknown value is used: as only a tensor can be, or as a tensor cannot."""

    tensor: tuple[str, cst.CSTNode] | None = None
    other: bool = False


@dataclass(slots=True)
class Result:
    """What an interpreted function left behind."""

    bindings: Env = field(default_factory=dict)
    """Every name of the scope with the join of all that was bound to it: what closures see."""
    returns: Value | None = None
    grad_mode: int = Tri.YES


class Flow:
    """One interpretation of one scope."""

    def __init__(self, model: Model, scope: cst.FunctionDef | cst.Module) -> None:
        self.model = model
        self.tree = model.tree
        self.scope = scope
        self.values = model.values
        self.env: Env = {}
        self.dead = False
        self.bindings: Env = {}
        self.returns: list[Value] = []
        self.globals: set[str] = set()
        self.grad = Tri.YES
        self.uses: dict[Symbol, Use] = {}
        self.solved: dict[Symbol, Evidence] = {}
        self.rejected: set[Symbol] = set()
        self.loop_exits: list[list[Env]] = []
        self.locals = model.locals_of(scope) if isinstance(scope, cst.FunctionDef) else None

    # ------------------------------------------------------------------ running

    def run(self, start: Env, grad: int) -> Result:
        """Interpret the scope, again if the uses of unknown values taught something."""
        for _ in range(3):
            self.env, self.dead, self.bindings, self.returns = dict(start), False, dict(start), []
            self.grad = grad
            self.uses = {}
            self.env = {name: self._resolve(value) for name, value in start.items()}
            self.bindings = dict(self.env)
            self.block(self.scope.body if isinstance(self.scope, cst.Module) else self.scope.body.body)
            rejected = self.rejected | {s for s, use in self.uses.items() if use.other}
            learnt = {s: self._evidence(use) for s, use in self.uses.items() if use.tensor and s not in self.solved}
            solved = {s: evidence for s, evidence in (self.solved | learnt).items() if s not in rejected}
            if solved.keys() == self.solved.keys() and rejected == self.rejected:
                break
            self.solved, self.rejected = solved, rejected
        returns: Value | None = None
        for value in self.returns:
            returns = value if returns is None else join(returns, value)
        return Result(self.bindings, returns, grad)

    @staticmethod
    def _evidence(use: Use) -> Evidence:
        assert use.tensor is not None
        return Evidence(Strength.USE, use.tensor[0], use.tensor[1])

    def _resolve(self, value: Value) -> Value:
        """A value with what the uses of its symbols have taught."""
        if not value.symbols or not value.kind & Kind.UNKNOWN:
            return value
        if value.kind & Kind.TENSOR and any(s in self.rejected for s in value.symbols):
            return Value(Kind.UNKNOWN, symbols=value.symbols)
        for symbol in value.symbols:
            evidence = self.solved.get(symbol)
            if evidence is not None:
                if value.kind & Kind.TENSOR:
                    if value.evidence is not None and value.evidence.strength > Strength.USE:
                        evidence = value.evidence
                    return replace(value, kind=value.kind & ~Kind.UNKNOWN, evidence=evidence)
                return replace(
                    tensor(evidence=evidence), kind=value.kind & ~Kind.UNKNOWN | Kind.TENSOR, symbols=value.symbols
                )
        return value

    def unknown(self, symbol: Symbol) -> Value:
        """An unknown value of that origin, or the tensor that its uses make it."""
        return self._resolve(unknown(symbol))

    def likely(self, value: Value, symbol: Symbol) -> Value:
        """A tensor by convention: one unless its uses say otherwise."""
        return self._resolve(replace(value, kind=value.kind | Kind.UNKNOWN, symbols=frozenset((symbol,))))

    def use(self, value: Value, name: str, node: cst.CSTNode) -> None:
        """Learn from ``value.name``."""
        if not value.symbols or name.startswith("__"):
            return
        if name in torch_api.tensor_only():
            text = f"`.{name}` is used on it, which only tensors have"
            for symbol in value.symbols:
                use = self.uses.setdefault(symbol, Use())
                if use.tensor is None:
                    use.tensor = (text, node)
        elif name not in torch_api.tensor_names() and not name.startswith("_"):
            for symbol in value.symbols:
                self.uses.setdefault(symbol, Use()).other = True

    # ------------------------------------------------------------------ environments

    def bind(self, name: str, value: Value) -> None:
        """Bind a name or a path in the current environment."""
        self.env[name] = value
        if name in self.bindings:
            self.bindings[name] = join(self.bindings[name], value)
        else:
            self.bindings[name] = value
        prefix = name + "."
        for path in [p for p in self.env if p.startswith(prefix)]:
            del self.env[path]

    def merge(self, envs: Iterable[Env]) -> None:
        """Continue where several paths meet; none of them: nothing below is reached."""
        live = list(envs)
        if not live:
            self.dead = True
            return
        merged = dict(live[0])
        for env in live[1:]:
            for name, value in env.items():
                if name in merged:
                    merged[name] = join(merged[name], value)
                elif "." not in name:  # a path that only one side knows is what it was before on the other
                    merged[name] = value
            for name in [n for n in merged if "." in n and n not in env]:
                del merged[name]
        self.env, self.dead = merged, False

    def branch(self, run: Callable[[], None], env: Env) -> Env | None:
        """Run from a copy of ``env``; the environment at its end, None if it does not get there."""
        self.env, self.dead = dict(env), False
        run()
        return None if self.dead else self.env

    # ------------------------------------------------------------------ statements

    def block(self, statements: Sequence[cst.CSTNode]) -> None:
        """Run statements one after the other; those that are not reached too, so that they have values."""
        for statement in statements:
            self.statement(statement)

    def body(self, suite: cst.BaseSuite) -> None:
        """The statements of an indented block or of a one-line suite."""
        if isinstance(suite, cst.SimpleStatementSuite):
            self.model.modes[id(suite)] = self.grad
        self.block(suite.body)

    def statement(self, node: cst.CSTNode) -> None:
        """Run one statement and remember the grad mode it runs in."""
        self.model.modes[id(node)] = self.grad
        if isinstance(node, cst.SimpleStatementLine):
            for small in node.body:
                self.statement(small)
            return
        handler = _STATEMENTS.get(type(node))
        if handler is not None:
            handler(self, node)

    def _expr(self, node: cst.Expr) -> None:
        value = node.value
        self.eval(value)
        if isinstance(value, cst.Call) and self.model.reference(self.values.get(id(value.func))) in _SET_GRAD:
            self.grad = self._set_grad(value)

    def _assign(self, node: cst.Assign) -> None:
        value = self.eval(node.value)
        for target in node.targets:
            self.assign(target.target, value, node.value)

    def _ann_assign(self, node: cst.AnnAssign) -> None:
        declared = self.annotation(node.annotation.annotation)
        if node.value is None:
            if declared is not None:
                self.assign(node.target, declared, None)
            return
        value = self.eval(node.value)
        if declared is not None and value.kind & Kind.UNKNOWN:
            value = declared
        self.assign(node.target, value, node.value)

    def _aug_assign(self, node: cst.AugAssign) -> None:
        left, right = self.eval(node.target), self.eval(node.value)
        result = self.arithmetic(node, left, right)
        if left.kind == Kind.CONTAINER and right.kind & Kind.CONTAINER:
            result = join(left, right)
        self.assign(node.target, result, None)

    def assign(self, target: cst.CSTNode, value: Value, source: cst.BaseExpression | None) -> None:
        """Bind a target of any form."""
        match target:
            case cst.Name(value=name):
                self.values[id(target)] = value
                self.bind(name, value)
            case cst.Tuple(elements=elements) | cst.List(elements=elements):
                self.values[id(target)] = value
                self._unpack(elements, value, source)
            case cst.Attribute():
                base = self.eval(target.value)
                self.use(base, target.attr.value, target)
                self.values[id(target)] = value
                if target.attr.value == "requires_grad" and base.kind & Kind.TENSOR and source is not None:
                    self._refine(target.value, replace(base, grad=_truth(torch_api.literal_bool(source))))
                path = dotted(target)
                if path is not None:
                    self.bind(path, value)
            case cst.Subscript():
                base = self.eval(target.value)
                self._slices(target)
                self.values[id(target)] = value
                if base.kind & Kind.TENSOR and value.kind & Kind.TENSOR and self.grad != Tri.NO:
                    self._refine(
                        target.value, replace(base, grad=Tri.YES if value.grad == Tri.YES else base.grad | value.grad)
                    )
                if base.kind == Kind.CONTAINER and isinstance(target.value, cst.Name):
                    grown = iterated(base)
                    item = value if grown is None else join(grown, value)
                    self.bind(target.value.value, replace(base, item=item, items=None))
            case cst.StarredElement():
                self.assign(target.value, container(iterated(value)), None)

    def _unpack(self, elements: Sequence[cst.BaseElement], value: Value, source: cst.BaseExpression | None) -> None:
        items = value.items
        starred = [i for i, e in enumerate(elements) if isinstance(e, cst.StarredElement)]
        for index, element in enumerate(elements):
            if (items is not None and not starred and len(items) == len(elements)) or (
                items is not None and starred and index < starred[0] and index < len(items)
            ):
                part = items[index]
            elif (item := iterated(value)) is not None and value.kind == Kind.CONTAINER:
                part = item
            elif value.kind == Kind.TENSOR:
                part = self.element(value, element)
            elif value.kind == Kind.TENSOR | Kind.UNKNOWN:
                part = self.likely(replace(self.element(value, element), kind=Kind.TENSOR), ("part", id(element)))
            elif value.kind == Kind.NDARRAY:
                part = replace(NDARRAY, kind=Kind.NDARRAY | Kind.NUMBER)
            elif is_opaque(value) or value.kind == Kind.STRING:
                part = OBJECT
            else:
                part = self.unknown(("part", id(element)))
            if isinstance(element, cst.StarredElement):
                self.assign(element.value, container(part), None)
            else:
                self.assign(element.value, part, None)

    def _delete(self, node: cst.Del) -> None:
        targets = [e.value for e in node.target.elements] if isinstance(node.target, cst.Tuple) else [node.target]
        for target in targets:
            if isinstance(target, cst.Name):
                self.values[id(target)] = self.env.get(target.value, UNKNOWN)
                self.env.pop(target.value, None)
            else:
                self.eval(target)

    def _return(self, node: cst.Return) -> None:
        self.returns.append(self.eval(node.value) if node.value is not None else NONE)
        self.dead = True

    def _raise(self, node: cst.Raise) -> None:
        if node.exc is not None:
            self.eval(node.exc)
        self.dead = True

    def _jump(self, node: cst.CSTNode) -> None:
        if self.loop_exits and not self.dead:
            self.loop_exits[-1].append(dict(self.env))
        self.dead = True

    def _assert(self, node: cst.Assert) -> None:
        self.eval(node.test)
        if node.msg is not None:
            self.eval(node.msg)
        self.narrow(node.test, True)

    def _global(self, node: cst.Global | cst.Nonlocal) -> None:
        for item in node.names:
            self.globals.add(item.name.value)

    def _import(self, node: cst.Import) -> None:
        for alias in node.names:
            name = dotted(alias.name) or ""
            if alias.asname is not None and isinstance(alias.asname.name, cst.Name):
                self.bind(alias.asname.name.value, self.model.named(name))
            else:
                self.bind(name.partition(".")[0], self.model.named(name.partition(".")[0]))

    def _import_from(self, node: cst.ImportFrom) -> None:
        module = "." * len(node.relative) + (dotted(node.module) or "" if node.module else "")
        if isinstance(node.names, cst.ImportStar):
            self.model.stars.append(module)
            return
        for alias in node.names:
            name = dotted(alias.name) or ""
            bound = alias.asname.name if alias.asname is not None else alias.name
            if isinstance(bound, cst.Name):
                self.bind(bound.value, self.model.named(f"{module}.{name}"))

    def _function_def(self, node: cst.FunctionDef) -> None:
        for decorator in node.decorators:
            self.eval(decorator.decorator)
        for param in parameters(node):
            if param.default is not None:
                self.eval(param.default)
            if param.annotation is not None:
                self._annotation_names(param.annotation.annotation)
        if node.returns is not None:
            self._annotation_names(node.returns.annotation)
        self.bind(node.name.value, Value(Kind.FUNCTION, node=node))

    def _class_def(self, node: cst.ClassDef) -> None:
        for decorator in node.decorators:
            self.eval(decorator.decorator)
        for arg in (*node.bases, *node.keywords):
            self.eval(arg.value)
        outer, bindings = self.env, self.bindings
        self.env, self.bindings = dict(outer), {}
        self.body(node.body)
        self.model.class_bindings[id(node)] = self.bindings
        self.env, self.bindings = outer, bindings
        self.bind(node.name.value, Value(Kind.FUNCTION, node=node))

    def _annotation_names(self, node: cst.BaseExpression) -> None:
        """Record what the names in an annotation refer to, for rules that look at them."""
        if isinstance(node, (cst.Name, cst.Attribute, cst.Subscript, cst.BinaryOperation, cst.Tuple, cst.List)):
            self.eval(node)

    def _if(self, node: cst.If) -> None:
        self.eval(node.test)
        before = self.env

        def then() -> None:
            self.narrow(node.test, True)
            self.body(node.body)

        def otherwise() -> None:
            self.narrow(node.test, False)
            if isinstance(node.orelse, cst.If):
                self.statement(node.orelse)
            elif node.orelse is not None:
                self.body(node.orelse.body)

        self._branches(before, [then, otherwise])

    def _branches(self, before: Env, runs: Sequence[Callable[[], None]]) -> None:
        grad = self.grad
        ends = []
        for run in runs:
            self.grad = grad
            end = self.branch(run, before)
            if end is not None:
                ends.append(end)
        self.grad = grad
        self.merge(ends)
        if self.dead:
            self.env = dict(before)

    def _loop(self, head: Callable[[], None], body: cst.BaseSuite, orelse: cst.Else | None) -> None:
        entry = dict(self.env)
        exits: list[Env] = []
        for _ in range(_MAX_LOOPS):
            self.loop_exits.append([])
            self.env, self.dead = dict(entry), False
            head()
            self.body(body)
            exits = self.loop_exits.pop()
            ends = exits + ([self.env] if not self.dead else [])
            self.merge([entry, *ends])
            if self.env == entry:
                break
            entry = dict(self.env)
        self.dead = False
        if orelse is not None:
            self.body(orelse.body)

    def _for(self, node: cst.For) -> None:
        iterable = self.eval(node.iter)

        def head() -> None:
            self.assign(node.target, self.iterate(iterable, node.iter), None)

        self._loop(head, node.body, node.orelse)

    def _while(self, node: cst.While) -> None:
        def head() -> None:
            self.eval(node.test)
            self.narrow(node.test, True)

        self._loop(head, node.body, node.orelse)
        if isinstance(node.test, cst.Name) and node.test.value == "True" and not _has_break(node.body):
            self.dead = True

    def _with(self, node: cst.With) -> None:
        outer = self.grad
        for item in node.items:
            value = self.eval(item.item)
            mode = self.grad_context(item.item)
            if mode is not None:
                self.grad = mode
            if item.asname is not None:
                entered = value if value.kind & (Kind.OBJECT | Kind.MODULE) else self.unknown(("with", id(item)))
                self.assign(item.asname.name, entered, None)
        self.body(node.body)
        self.grad = outer

    def grad_context(self, node: cst.BaseExpression) -> int | None:
        """What a context manager or decorator does to the grad mode; None if nothing is known of it."""
        callee = node.func if isinstance(node, cst.Call) else node
        ref = self.model.reference(self.values.get(id(callee)))
        if ref in _SET_GRAD and isinstance(node, cst.Call):
            return self._set_grad(node)
        if ref in _GRAD_CONTEXTS:
            return _GRAD_CONTEXTS[ref]
        value = self.values.get(id(callee))
        if value is not None and isinstance(value.node, cst.FunctionDef) and _enters_no_grad(self.tree, value.node):
            return Tri.NO
        return Tri.NO if sounds_like_no_grad(node) else None

    @staticmethod
    def _set_grad(call: cst.Call) -> int:
        return _truth(torch_api.literal_bool(call.args[0].value) if call.args else None)

    def _try(self, node: cst.Try | cst.TryStar) -> None:
        before = dict(self.env)
        body_end = self.branch(lambda: self.body(node.body), before)
        middle = dict(before)
        for name, value in (body_end or self.env).items():
            middle[name] = join(middle[name], value) if name in middle else value
        ends = []
        if body_end is not None:
            if node.orelse is not None:
                body_end = self.branch(lambda: self.body(node.orelse.body), body_end)  # type: ignore[union-attr]
            if body_end is not None:
                ends.append(body_end)
        for handler in node.handlers:

            def handle(handler: cst.ExceptHandler | cst.ExceptStarHandler = handler) -> None:
                if handler.type is not None:
                    self.eval(handler.type)
                if handler.name is not None:
                    self.assign(handler.name.name, OBJECT, None)
                self.body(handler.body)

            end = self.branch(handle, middle)
            if end is not None:
                ends.append(end)
        self.merge(ends)
        dead = self.dead
        if node.finalbody is not None:
            if dead:
                self.env = dict(middle)
            self.dead = False
            self.body(node.finalbody.body)
            self.dead = self.dead or dead

    def _match(self, node: cst.Match) -> None:
        self.eval(node.subject)
        before = dict(self.env)
        runs: list[Callable[[], None]] = [lambda: None]
        for case in node.cases:

            def run(case: cst.MatchCase = case) -> None:
                for name in _pattern_names(self.tree, case.pattern):
                    self.assign(name, self.unknown(("match", id(name))), None)
                if case.guard is not None:
                    self.eval(case.guard)
                self.body(case.body)

            runs.append(run)
        self._branches(before, runs)

    # ------------------------------------------------------------------ narrowing

    def narrow(self, test: cst.BaseExpression, truth: bool) -> None:
        """Use what a condition says about names and paths."""
        match test:
            case cst.UnaryOperation(operator=cst.Not(), expression=inner):
                self.narrow(inner, not truth)
            case cst.BooleanOperation(left=left, operator=cst.And(), right=right) if truth:
                self.narrow(left, True)
                self.narrow(right, True)
            case cst.BooleanOperation(left=left, operator=cst.Or(), right=right) if not truth:
                self.narrow(left, False)
                self.narrow(right, False)
            case cst.BooleanOperation(left=left, operator=cst.Or(), right=right) if truth:
                self._narrow_either(left, right)
            case cst.Comparison(left=left, comparisons=[cst.ComparisonTarget(operator=op, comparator=right)]):
                self._narrow_comparison(left, op, right, truth)
            case cst.Call(func=func, args=args):
                self._narrow_call(func, args, truth)
            case cst.Attribute(value=value, attr=cst.Name("requires_grad")):
                known = self.values.get(id(value), UNKNOWN)
                if known.kind & Kind.TENSOR:
                    self._refine(value, replace(known, grad=Tri.YES if truth else Tri.NO))

    def _refine(self, place: cst.BaseExpression, value: Value) -> None:
        path = dotted(place)
        if path is not None:
            self.env[path] = value

    def _narrow_either(self, left: cst.BaseExpression, right: cst.BaseExpression) -> None:
        before = self.env
        ends = []
        for side in (left, right):
            self.env = dict(before)
            self.narrow(side, True)
            ends.append(self.env)
        self.merge(ends)

    def _narrow_comparison(
        self, left: cst.BaseExpression, op: cst.BaseCompOp, right: cst.BaseExpression, truth: bool
    ) -> None:
        known = self.values.get(id(left), UNKNOWN)
        match op, right:
            case (cst.Is() | cst.Equal(), cst.Name("None")) | (cst.IsNot() | cst.NotEqual(), cst.Name("None")):
                is_none = truth is isinstance(op, (cst.Is, cst.Equal))
                if is_none:
                    self._refine(left, NONE)
                elif known.kind & Kind.NONE and known.kind != Kind.NONE:
                    self._refine(left, replace(known, kind=known.kind & ~Kind.NONE))
            case (cst.Equal() | cst.NotEqual(), cst.Integer("0")) if truth is isinstance(op, cst.Equal):
                self._narrow_zero_dim(left)

    def _narrow_zero_dim(self, left: cst.BaseExpression) -> None:
        match left:
            case (
                cst.Call(func=cst.Attribute(value=value, attr=cst.Name("dim" | "ndimension")))
                | cst.Attribute(value=value, attr=cst.Name("ndim"))
            ):
                known = self.values.get(id(value), UNKNOWN)
                if known.kind & Kind.TENSOR:
                    self._refine(value, replace(known, ndim=Ndim.ZERO))

    def _narrow_call(self, func: cst.BaseExpression, args: Sequence[cst.Arg], truth: bool) -> None:
        ref = self.model.reference(self.values.get(id(func)))
        if ref in ("torch.is_tensor", "torch.overrides.is_tensor_like") and args:
            self._narrow_to(args[0].value, tensor(), truth)
        elif ref == "builtins.isinstance" and len(args) == 2:
            known = [self.class_instance(c) for c in _classes(args[1].value)]
            if known and all(v is not None for v in known):
                joined = known[0]
                for value in known[1:]:
                    joined = join(joined, value)  # type: ignore[arg-type]
                self._narrow_to(args[0].value, joined, truth)  # type: ignore[arg-type]
            elif truth and dotted(args[0].value):
                value = self.values.get(id(args[0].value), UNKNOWN)
                if value.kind & Kind.TENSOR and value.kind & Kind.UNKNOWN:
                    self._refine(args[0].value, unknown(("isinstance", id(args[1]))))

    def _narrow_to(self, place: cst.BaseExpression, value: Value, truth: bool) -> None:
        known = self.values.get(id(place), UNKNOWN)
        if truth:
            if known.kind & Kind.TENSOR and value.kind == Kind.TENSOR:
                role = value.role if value.role != Role.PLAIN else known.role
                narrowed = replace(known, kind=Kind.TENSOR, role=role, symbols=frozenset())
            elif known.kind == value.kind and known.kind != Kind.TENSOR:
                narrowed = known if known.ref or known.node else value
            else:
                narrowed = value
            self._refine(place, narrowed.because(Strength.ANNOTATION, "an isinstance check", place))
        elif known.kind & ~value.kind and not value.kind & Kind.CONTAINER:
            rest = known.kind & ~value.kind
            if rest != known.kind:
                kept = Value(rest) if rest & Kind.UNKNOWN else replace(known, kind=rest)
                self._refine(place, kept)

    def class_instance(self, node: cst.BaseExpression) -> Value | None:
        """An instance of the class that an expression names; None if it is not known."""
        value = self.values.get(id(node))
        if value is None:
            value = self.eval(node)
        return self.model.instance_of(value, node)

    def annotation(self, node: cst.BaseExpression) -> Value | None:
        """What an annotation says; None if nothing that is of use."""
        return self.model.annotation(node, self)

    # ------------------------------------------------------------------ expressions

    def eval(self, node: cst.CSTNode) -> Value:
        """The value of an expression; remembered."""
        handler = _EXPRESSIONS.get(type(node))
        value = handler(self, node) if handler is not None else self._other(node)
        self.values[id(node)] = value
        return value

    def _other(self, node: cst.CSTNode) -> Value:
        return UNKNOWN

    def _name(self, node: cst.Name) -> Value:
        name = node.value
        value = self.env.get(name)
        if value is not None:
            return value
        if self.locals is not None and name in self.locals and name not in self.globals:
            return self.unknown(("unbound", id(self.scope), name))
        return self.model.free(name, self)

    def _attribute(self, node: cst.Attribute) -> Value:
        base = self.eval(node.value)
        name = node.attr.value
        path = dotted(node)
        if path is not None and path in self.env:
            self.use(base, name, node)
            return self.env[path]
        return self.attribute(base, name, node)

    def attribute(self, base: Value, name: str, node: cst.CSTNode) -> Value:
        """``base.name``."""
        if base.kind & Kind.REFERENCE and base.ref is not None and not base.kind & ~(Kind.REFERENCE | Kind.NONE):
            if base.receiver is not None:
                return unknown(("attribute", id(node)))
            return self.model.named(f"{base.ref}.{name}")
        self.use(base, name, node)
        result = self._tensor_attribute(base, name, node) if base.kind & Kind.TENSOR else None
        others: list[Value] = [result] if result is not None else []
        if base.kind & (Kind.MODULE | Kind.OBJECT):
            others.append(self._member(base, name, node))
        if base.kind & Kind.OPTIMIZER:
            others.append(self._optimizer_attribute(base, name))
        if (
            base.kind & (Kind.NDARRAY | Kind.CONTAINER | Kind.PACKED | Kind.LOADER | Kind.STRING | Kind.NUMBER)
            and not others
        ):
            others.append(self._plain_attribute(base, name, node))
        if base.kind & Kind.FUNCTION and isinstance(base.node, cst.ClassDef) and name == "apply":
            if self.model.class_kind(base.node) == "function":
                return Value(Kind.REFERENCE, ref="torch.autograd.Function.apply")
        if base.kind & Kind.FUNCTION and isinstance(base.node, cst.ClassDef):
            others.append(self.model.class_attribute(base.node, name, self))
        if base.kind & Kind.UNKNOWN and not others:
            others.append(self._unknown_attribute(base, name, node))
        if not others:
            return unknown(("attribute", id(node)))
        value = others[0]
        for other in others[1:]:
            value = join(value, other)
        return value

    def _tensor_attribute(self, base: Value, name: str, node: cst.CSTNode) -> Value | None:
        if name == "grad":
            gradient = tensor(Tri.NO, base.ndim, base.dtype, role=Role.GRADIENT)
            return gradient.because(Strength.SIGNATURE, "`.grad` of a tensor", node)
        if name == "data":
            role = base.role if base.role == Role.GRADIENT else Role.PLAIN
            return replace(tensor(Tri.NO, base.ndim, base.dtype, role=role), evidence=base.evidence)
        data = torch_api.data()
        if name in data["methods"]:
            return Value(Kind.REFERENCE, ref=f"torch.Tensor.{name}", receiver=base)
        if name in data["attributes"]:
            evidence = Evidence(Strength.SIGNATURE, f"`.{name}` of a tensor", node)
            return torch_api.apply(data["attributes"][name], base, (), self.grad, evidence)
        return None

    def _member(self, base: Value, name: str, node: cst.CSTNode) -> Value:
        if isinstance(base.node, cst.ClassDef):
            found = self.model.class_attribute(base.node, name, self, base)
            if found is not None and found.kind != Kind.UNKNOWN:
                return found
        if base.kind & Kind.MODULE:
            member = self._module_attribute(base, name, node)
            if member is not None:
                return member
        if isinstance(base.node, cst.ClassDef):
            return self._self_unknown(base.node, name, node)
        if base.ref is not None and base.ref.startswith("torch.distributions."):
            return self._distribution_attribute(base, name, node)
        if base.kind & Kind.MODULE or base.ref is not None:
            return self.unknown(("member", id(node)))
        return Value(Kind.OBJECT)

    def _distribution_attribute(self, base: Value, name: str, node: cst.CSTNode) -> Value:
        if name in ("mean", "variance", "stddev", "mode", "probs", "logits", "loc", "scale", "concentration", "rate"):
            return tensor(base.grad or Tri.MAYBE).because(Strength.SIGNATURE, "a statistic of a distribution", node)
        return Value(Kind.REFERENCE, ref=f"torch.distributions.Distribution.{name}", receiver=base)

    def _self_unknown(self, cls: cst.ClassDef, name: str, node: cst.CSTNode) -> Value:
        """An attribute of this class that nothing is known of: what the whole class does with it may tell."""
        evidence = self.model.class_use(cls, name)
        if evidence is not None:
            return tensor(evidence=evidence)
        return unknown(("self", id(cls), name))

    def _module_attribute(self, base: Value, name: str, node: cst.CSTNode) -> Value | None:
        if base.ref is not None:
            evidence = Evidence(Strength.SIGNATURE, f"`{name}` is a parameter or buffer of `{base.ref}`", node)
            found = torch_api.member(torch_api.module_info(base.ref), name, evidence)
            if found is not None:
                return found
        if name in ("forward", "__call__"):
            return base
        if name in _MODULE_METHODS:
            return Value(Kind.REFERENCE, ref=f"torch.nn.Module.{name}", receiver=base)
        if name in ("weight", "bias", "weight_hh_l0", "weight_ih_l0", "in_proj_weight"):
            evidence = Evidence(Strength.CONVENTION, f"`{name}` of a module", node)
            return self.likely(parameter(evidence), ("member", id(node)))
        return None

    def _optimizer_attribute(self, base: Value, name: str) -> Value:
        if name == "param_groups":
            return container(_PARAM_GROUP)
        if isinstance(base.node, cst.ClassDef):
            return self.model.class_attribute(base.node, name, self, base) or UNKNOWN
        return OBJECT

    def _plain_attribute(self, base: Value, name: str, node: cst.CSTNode) -> Value:
        if base.kind & Kind.PACKED and name == "data":
            return tensor().because(Strength.SIGNATURE, "`.data` of a PackedSequence", node)
        if base.kind & Kind.CONTAINER and base.items is not None:
            for index, field_name in ((0, "values"), (1, "indices")):
                if name == field_name and index < len(base.items):
                    return base.items[index]
        return Value(Kind.REFERENCE, ref=f"<plain>.{name}", receiver=base)

    def _unknown_attribute(self, base: Value, name: str, node: cst.CSTNode) -> Value:
        if name == "param_groups":
            return container(_PARAM_GROUP)
        if name in ("weight", "bias"):
            value = parameter(Evidence(Strength.NAME, f"it is called `{name}`", node))
            key = sorted(base.symbols, key=repr)[:1]
            return self.likely(value, ("attr", *key, name) if key and len(key[0]) < 8 else ("attribute", id(node)))
        if name == "grad" and base.symbols:
            value = tensor(Tri.NO, role=Role.GRADIENT).because(Strength.CONVENTION, "`.grad` of something", node)
            return self.likely(value, ("attr", *sorted(base.symbols, key=repr)[:1], name))
        if base.symbols:
            symbols = [("attr", symbol, name) for symbol in sorted(base.symbols, key=repr)[:2] if len(symbol) < 8]
            value = self._resolve(unknown(*symbols)) if symbols else unknown(("attribute", id(node)))
        else:
            value = self.unknown(("attribute", id(node)))
        return replace(value, receiver=base, ref=f"?.{name}")

    def _subscript(self, node: cst.Subscript) -> Value:
        base = self.eval(node.value)
        self._slices(node)
        path = dotted(node.value)
        index = node.slice[0].slice if len(node.slice) == 1 else None
        literal = _integer(index.value) if isinstance(index, cst.Index) else None
        if isinstance(index, cst.Index) and isinstance(index.value, cst.SimpleString) and base.items is None:
            if index.value.raw_value == "params" and (base.ref == "param_group" or (path or "").endswith("group")):
                return container(_OPTIMISED)
        if base.kind & Kind.TENSOR:
            return self.element(base, node)
        if base.kind & Kind.CONTAINER:
            if base.items is not None and literal is not None and -len(base.items) <= literal < len(base.items):
                return base.items[literal]
            if isinstance(index, cst.Slice):
                return container(iterated(base))
            item = iterated(base)
            return item if item is not None else self.unknown(("item", id(node)))
        if base.kind == Kind.NDARRAY:
            return replace(NDARRAY, kind=Kind.NDARRAY | Kind.NUMBER)
        if is_opaque(base) or base.kind == Kind.STRING:
            return base
        if base.kind & Kind.MODULE:
            return self.likely_module(node)
        if base.kind & Kind.REFERENCE:
            return base
        if base.symbols:
            key = f"[{literal}]" if literal is not None else "[]"
            return self._resolve(unknown(*[("attr", s, key) for s in sorted(base.symbols, key=repr)[:1] if len(s) < 8]))
        return self.unknown(("item", id(node)))

    def likely_module(self, node: cst.CSTNode) -> Value:
        """What indexing or iterating over a module gives."""
        return replace(MODULE, evidence=Evidence(Strength.CONVENTION, "a module of a container module", node))

    def element(self, base: Value, node: cst.CSTNode) -> Value:
        """An element or slice of a tensor."""
        return replace(
            tensor(base.grad, Ndim.ANY, base.dtype, leaf=Tri.MAYBE if base.grad != Tri.NO else Tri.YES),
            evidence=base.evidence,
        )

    def _slices(self, node: cst.Subscript) -> None:
        for element in node.slice:
            match element.slice:
                case cst.Index(value=value):
                    self.eval(value)
                case cst.Slice(lower=lower, upper=upper, step=step):
                    for part in (lower, upper, step):
                        if part is not None:
                            self.eval(part)

    def _binary(self, node: cst.BinaryOperation) -> Value:
        return self.arithmetic(node, self.eval(node.left), self.eval(node.right))

    def arithmetic(self, node: cst.CSTNode, left: Value, right: Value) -> Value:
        """A binary operation of two values."""
        if Kind.STRING in (left.kind, right.kind):
            return STRING
        tensors = [v for v in (left, right) if v.kind & Kind.TENSOR]
        if tensors:
            certain = [v for v in tensors if not v.kind & Kind.UNKNOWN]
            best = max(certain or tensors, key=lambda v: v.evidence.strength if v.evidence else 0)
            result = {"k": "tensor", "ndim": "broadcast"}
            arguments = [Argument(None, right, cst.Name("_"))]
            evidence = best.evidence or Evidence(Strength.USE, "arithmetic with a tensor", node)
            value = torch_api.apply(result, left, arguments, self.grad, evidence)
            if not certain:
                return self.likely(value, ("result", id(node)))
            return value
        if Kind.NDARRAY in (left.kind, right.kind):
            return NDARRAY
        if left.kind & Kind.CONTAINER and right.kind & Kind.CONTAINER:
            return join(left, right)
        if left.kind == Kind.CONTAINER and right.kind == Kind.NUMBER:
            return container(iterated(left))
        if left.kind == Kind.NUMBER and right.kind == Kind.NUMBER:
            return NUMBER
        if is_opaque(left) and (is_opaque(right) or right.kind == Kind.NUMBER):
            return OBJECT
        return self.unknown(("result", id(node)))

    def _comparison(self, node: cst.Comparison) -> Value:
        values = [self.eval(node.left), *(self.eval(t.comparator) for t in node.comparisons)]
        identity = (cst.Is, cst.IsNot, cst.In, cst.NotIn)
        if any(isinstance(t.operator, identity) for t in node.comparisons):
            return NUMBER
        if any(v.kind & Kind.TENSOR and not v.kind & Kind.UNKNOWN for v in values):
            evidence = Evidence(Strength.SIGNATURE, "a comparison of tensors", node)
            return tensor(Tri.NO, torch_api.broadcast(values), Dtype.BOOL, evidence=evidence)
        if any(v.kind & Kind.NDARRAY for v in values):
            return NDARRAY
        if any(v.kind & Kind.UNKNOWN for v in values):
            return self.unknown(("result", id(node)))
        return NUMBER

    def _unary(self, node: cst.UnaryOperation) -> Value:
        value = self.eval(node.expression)
        if isinstance(node.operator, cst.Not):
            return NUMBER
        if value.kind & Kind.TENSOR:
            evidence = value.evidence or Evidence(Strength.USE, "arithmetic with a tensor", node)
            result = torch_api.apply({"k": "tensor", "ndim": "keep"}, value, (), self.grad, evidence)
            return self.likely(result, ("result", id(node))) if value.kind & Kind.UNKNOWN else result
        return self.unknown(("result", id(node))) if value.kind & Kind.UNKNOWN else value

    def _boolean(self, node: cst.BooleanOperation) -> Value:
        left = self.eval(node.left)
        before = dict(self.env)
        self.narrow(node.left, isinstance(node.operator, cst.And))
        right = self.eval(node.right)
        self.env = before
        if isinstance(node.operator, cst.Or) and left.kind & Kind.NONE and left.kind != Kind.NONE:
            left = replace(left, kind=left.kind & ~Kind.NONE)
        return join(left, right)

    def _if_exp(self, node: cst.IfExp) -> Value:
        self.eval(node.test)
        before = dict(self.env)
        self.narrow(node.test, True)
        then = self.eval(node.body)
        self.env = dict(before)
        self.narrow(node.test, False)
        otherwise = self.eval(node.orelse)
        self.env = before
        return join(then, otherwise)

    def _sequence(self, node: cst.Tuple | cst.List | cst.Set) -> Value:
        values, starred = [], False
        for element in node.elements:
            value = self.eval(element.value)
            if isinstance(element, cst.StarredElement):
                starred = True
                value = iterated(value) or UNKNOWN
            values.append(value)
        if isinstance(node, cst.Tuple) and not starred:
            return container(items=tuple(values))
        if not values:
            return container()
        item = values[0]
        for value in values[1:]:
            item = join(item, value)
        if len(values) <= 8 and not starred and isinstance(node, cst.List):
            return container(items=tuple(values))
        return container(item)

    def _dict(self, node: cst.Dict) -> Value:
        item: Value | None = None
        for element in node.elements:
            if isinstance(element, cst.DictElement):
                self.eval(element.key)
                value = self.eval(element.value)
            else:
                value = iterated(self.eval(element.value)) or UNKNOWN
            item = value if item is None else join(item, value)
        return container(item)

    def _named_expr(self, node: cst.NamedExpr) -> Value:
        value = self.eval(node.value)
        self.assign(node.target, value, node.value)
        return value

    def _comprehension(self, node: cst.ListComp | cst.SetComp | cst.GeneratorExp) -> Value:
        outer, bindings = dict(self.env), self.bindings
        self.bindings = {}
        self._comp_for(node.for_in)
        item = self.eval(node.elt)
        self.env, self.bindings = outer, bindings
        return container(item)

    def _dict_comprehension(self, node: cst.DictComp) -> Value:
        outer, bindings = dict(self.env), self.bindings
        self.bindings = {}
        self._comp_for(node.for_in)
        self.eval(node.key)
        item = self.eval(node.value)
        self.env, self.bindings = outer, bindings
        return container(item)

    def _comp_for(self, node: cst.CompFor) -> None:
        iterable = self.eval(node.iter)
        self.assign(node.target, self.iterate(iterable, node.iter), None)
        for condition in node.ifs:
            self.eval(condition.test)
            self.narrow(condition.test, True)
        if node.inner_for_in is not None:
            self._comp_for(node.inner_for_in)

    def _lambda(self, node: cst.Lambda) -> Value:
        self.lambda_body(node, ())
        return Value(Kind.FUNCTION, node=node)

    def lambda_body(self, node: cst.Lambda, given: Sequence[Value]) -> Value:
        """The value of a lambda's body for the given arguments."""
        outer, bindings = dict(self.env), self.bindings
        self.bindings = {}
        for index, param in enumerate(parameters(node)):
            if param.default is not None:
                self.eval(param.default)
            value = given[index] if index < len(given) else self.unknown(("param", id(node), param.name.value))
            self.assign(param.name, value, None)
        value = self.eval(node.body)
        self.env, self.bindings = outer, bindings
        return value

    def _await(self, node: cst.Await) -> Value:
        return self.eval(node.expression)

    def _yield(self, node: cst.Yield) -> Value:
        if isinstance(node.value, cst.From):
            value = self.eval(node.value.item)
            self.returns.append(container(iterated(value)))
        elif node.value is not None:
            self.returns.append(container(self.eval(node.value)))
        return UNKNOWN

    def _formatted(self, node: cst.FormattedString) -> Value:
        for part in node.parts:
            if isinstance(part, cst.FormattedStringExpression):
                self.eval(part.expression)
                for inner in part.format_spec or ():
                    if isinstance(inner, cst.FormattedStringExpression):
                        self.eval(inner.expression)
        return STRING

    def _concatenated(self, node: cst.ConcatenatedString) -> Value:
        self.eval(node.left)
        self.eval(node.right)
        return STRING

    # ------------------------------------------------------------------ iteration and calls

    def iterate(self, value: Value, node: cst.BaseExpression) -> Value:
        """What a loop over ``value`` binds."""
        item = iterated(value)
        if value.kind & Kind.CONTAINER and item is not None:
            return item
        if value.kind & Kind.TENSOR:
            return self.element(value, node)
        if value.kind & Kind.LOADER:
            return self.batch(node)
        if value.kind & Kind.MODULE and value.ref == "torch.nn.ParameterList":
            return parameter(Evidence(Strength.SIGNATURE, "it comes from a ParameterList", node))
        if value.kind & Kind.MODULE:
            return self.likely_module(node)
        if value.kind == Kind.NDARRAY:
            return replace(NDARRAY, kind=Kind.NDARRAY | Kind.NUMBER)
        if value.kind == Kind.STRING or is_opaque(value):
            return value
        if value.kind & Kind.UNKNOWN:
            name = (dotted(node) or "").rpartition(".")[2].lower()
            if name.endswith("loader"):
                return self.batch(node)
        return self.unknown(("element", id(node)))

    def batch(self, node: cst.BaseExpression) -> Value:
        """What a data loader yields: unknown in shape, but no tensor in it carries a graph."""
        return self._resolve(replace(unknown(("batch", id(node))), grad=Tri.NO))

    def _call(self, node: cst.Call) -> Value:
        func = self.eval(node.func)
        arguments = self._arguments(node)
        return self.call(func, node, arguments)

    def _arguments(self, node: cst.Call) -> list[Argument]:
        arguments = []
        for arg in node.args:
            value = self.eval(arg.value)
            arguments.append(Argument(arg.keyword.value if arg.keyword else None, value, arg.value, arg.star))
        return arguments

    def call(self, func: Value, node: cst.Call, arguments: Sequence[Argument]) -> Value:
        """The value of a call."""
        results: list[Value] = []
        if func.kind & Kind.REFERENCE and func.ref is not None:
            results.append(self._call_reference(func, node, arguments))
        if func.kind & Kind.FUNCTION and func.node is not None:
            results.append(self._call_local(func, node, arguments))
        if func.kind & Kind.MODULE:
            results.append(self._call_module(func, node, arguments))
        if func.kind & Kind.OBJECT and not results:
            results.append(self._call_object(func, node, arguments))
        if not results:
            return self._call_unknown(func, node, arguments)
        value = results[0]
        for other in results[1:]:
            value = join(value, other)
        return value

    def _call_object(self, func: Value, node: cst.Call, arguments: Sequence[Argument]) -> Value:
        if isinstance(func.node, cst.ClassDef):
            method = self.model.find_method(func.node, "__call__")
            if method is not None:
                return self.model.call_function(method, func, node, arguments, self)
        return OBJECT if is_opaque(func) else self._call_unknown(func, node, arguments)

    def _call_module(self, func: Value, node: cst.Call, arguments: Sequence[Argument]) -> Value:
        text = f"`{self.tree.code(node.func)}` is a module" if _short(node.func) else "it is what a module returns"
        evidence = Evidence(Strength.CONVENTION, text, node)
        if isinstance(func.node, cst.ClassDef):
            method = self.model.find_method(func.node, "forward")
            if method is not None:
                value = self.model.call_function(method, func, node, arguments, self)
                if value.kind != Kind.UNKNOWN:
                    return self._through_module(value)
        if func.ref is not None:
            output = torch_api.module_info(func.ref).get("output")
            if output is not None and output != "any":
                value = torch_api.apply(output, None, arguments, self.grad, Evidence(Strength.SIGNATURE, text, node))
                if func.ndim != Ndim.NEITHER and value.kind == Kind.TENSOR:  # a loss with its own reduction
                    value = replace(value, ndim=func.ndim)
                if torch_api.module_info(func.ref).get("params"):
                    value = self._through_module(value, weighted=True)
                return value
        grad = Tri.NO if self.grad == Tri.NO else Tri.YES
        return self.likely(tensor(grad, evidence=evidence), ("call", id(node)))

    def _through_module(self, value: Value, weighted: bool = False) -> Value:
        """An output of a module: it carries a graph where autograd records and nothing says otherwise.

        ``weighted``: the module has parameters that every output depends on.
        """
        if value.items is not None:
            return replace(value, items=tuple(self._through_module(v, weighted) for v in value.items))
        if not value.kind & Kind.TENSOR or not value.dtype & Dtype.FLOAT or value.grad == Tri.YES:
            return value
        if self.grad == Tri.NO:
            return replace(value, grad=Tri.NO)
        if self.grad == Tri.YES and (weighted or value.grad == Tri.MAYBE):
            return replace(value, grad=Tri.YES, leaf=Tri.NO)
        return value

    def _call_local(self, func: Value, node: cst.Call, arguments: Sequence[Argument]) -> Value:
        target = func.node
        if isinstance(target, cst.ClassDef):
            return self.model.construct(target, node, arguments)
        if isinstance(target, cst.Lambda):
            return self.lambda_body(target, [a.value for a in arguments if a.keyword is None and not a.star])
        if isinstance(target, cst.FunctionDef):
            return self.model.call_function(target, func.receiver, node, arguments, self)
        return UNKNOWN

    def _call_unknown(self, func: Value, node: cst.Call, arguments: Sequence[Argument]) -> Value:
        name = _last_name(node.func)
        if isinstance(node.func, cst.Attribute):
            known = self._method_of_unknown(func, name, node, arguments)
            if known is not None:
                return known
        if name and _LOSS_NAME.search(name) and not name[0].isupper() and arguments:
            grad = Tri.NO if self.grad == Tri.NO else Tri.YES
            evidence = Evidence(Strength.NAME, f"`{name}(...)` sounds like a loss", node)
            return self.likely(tensor(grad, dtype=Dtype.FLOAT, evidence=evidence), ("call", id(node)))
        if self._is_given_tensors(func, node, arguments):
            grad = Tri.NO if self.grad == Tri.NO else Tri.MAYBE
            evidence = Evidence(Strength.NAME, f"`{name}(...)` is given tensors", node)
            return self.likely(tensor(grad, evidence=evidence), ("call", id(node)))
        return self.unknown(("call", id(node)))

    @staticmethod
    def _is_given_tensors(func: Value, node: cst.Call, arguments: Sequence[Argument]) -> bool:
        """Whether something that could be a module by what it is or is called, is called with nothing but tensors."""
        if isinstance(node.func, cst.Attribute):
            owner = node.func.value
            if not _MODULE_NAME.search(_last_name(owner)) and not _MODULE_NAME.search(node.func.attr.value):
                return False
        elif func.kind & Kind.REFERENCE and not _MODULE_NAME.search(_last_name(node.func)):
            return False
        positional = [a for a in arguments if a.keyword is None and not a.star]
        return bool(positional) and all(_holds_tensors(a.value) for a in positional)

    def _method_of_unknown(self, func: Value, name: str, node: cst.Call, arguments: Sequence[Argument]) -> Value | None:
        """Methods whose name says what comes out, whatever they are called on."""
        assert isinstance(node.func, cst.Attribute)
        receiver = self.values.get(id(node.func.value), UNKNOWN)
        if name in _MODULE_METHODS:
            value = self._module_method(name, receiver, node)
            if value is not None:
                return value
        if name in ("cuda", "cpu", "to", "float", "half", "double", "train", "eval") and receiver.symbols:
            return replace(receiver, evidence=receiver.evidence)
        if name == "size" and receiver.symbols and arguments:
            for symbol in receiver.symbols:
                use = self.uses.setdefault(symbol, Use())
                use.tensor = use.tensor or ("`.size(...)` is called on it with a dimension", node)
            return NUMBER
        if name in ("append", "extend", "update", "add", "insert") and receiver.kind == Kind.UNKNOWN:
            return NONE if name != "add" else None
        if name in ("items", "values", "keys", "split", "join", "format", "strip", "read", "readlines"):
            return None
        return None

    def _module_method(self, name: str, receiver: Value, node: cst.Call) -> Value | None:
        known = _MODULE_METHODS[name]
        text = f"it comes from `{name}()`"
        evidence = Evidence(Strength.CONVENTION, text, node)
        param = parameter(evidence)
        buffer = tensor(Tri.NO, role=Role.BUFFER, evidence=evidence)
        module = replace(MODULE, evidence=evidence)
        match known:
            case "parameters":
                return container(param)
            case "named_parameters":
                return container(container(items=(STRING, param)))
            case "buffers":
                return container(buffer)
            case "named_buffers":
                return container(container(items=(STRING, buffer)))
            case "state_dict":
                return (
                    container(buffer)
                    if receiver.kind & Kind.MODULE
                    else container(replace(buffer, kind=Kind.TENSOR | Kind.UNKNOWN))
                )
            case "modules":
                return container(module)
            case "named_modules":
                return container(container(items=(STRING, module)))
            case "self":
                return receiver if receiver.kind != Kind.UNKNOWN else None
        return None

    def _call_reference(self, func: Value, node: cst.Call, arguments: Sequence[Argument]) -> Value:
        ref = func.ref or ""
        if func.receiver is not None:
            return self._call_method(func, ref, node, arguments)
        if ref.startswith("builtins."):
            return self._call_builtin(ref.removeprefix("builtins."), node, arguments)
        if ref == "torch.autograd.Variable":
            return self._call_variable(node, arguments)
        if ref.startswith(("torch.", "pytorch.")) or ref == "torch":
            return self._call_torch(ref, func, node, arguments)
        return self._call_external(ref, func, node, arguments)

    def _call_variable(self, node: cst.Call, arguments: Sequence[Argument]) -> Value:
        grad = Tri.NO
        for argument in arguments[1:]:
            if argument.keyword == "requires_grad" or argument.keyword is None:
                literal = torch_api.literal_bool(argument.node)
                grad = Tri.MAYBE if literal is None else Tri.YES if literal else grad
        wrapped = arguments[0].value if arguments else UNKNOWN
        known = wrapped.kind & Kind.TENSOR
        evidence = Evidence(Strength.SIGNATURE, "`Variable(...)` returns a tensor", node)
        return tensor(
            grad,
            wrapped.ndim if known else Ndim.ANY,
            wrapped.dtype if known else Dtype.ANY,
            leaf=Tri.YES,
            evidence=evidence,
        )

    def _call_torch(self, ref: str, func: Value, node: cst.Call, arguments: Sequence[Argument]) -> Value:
        data = torch_api.data()
        evidence = Evidence(Strength.SIGNATURE, f"`{ref}` returns it", node)
        if arguments and not arguments[0].star and arguments[0].keyword is None:
            self._tensor_argument(ref, arguments[0], node)
        result = data["functions"].get(ref)
        if isinstance(result, dict) and result.get("names", [])[:2] == ["data", "batch_sizes"]:
            return Value(Kind.PACKED, ref="torch.nn.utils.rnn.PackedSequence", evidence=evidence)
        if ref == "torch.autograd.Function.apply":
            return torch_api.apply({"k": "tensor"}, None, arguments, self.grad, evidence)
        if ref == "torch.autograd.grad":
            graph = torch_api.keyword(arguments, "create_graph")
            grad = Tri.NO if graph is None or torch_api.literal_bool(graph.node) is False else Tri.YES
            return container(tensor(grad, evidence=evidence))
        if result is not None:
            value = torch_api.apply(result, None, arguments, self.grad, evidence)
            return value if value.kind != Kind.UNKNOWN else self.unknown(("call", id(node)))
        kind = torch_api.class_kind(ref)
        if kind is None and ref.startswith("torch.Tensor."):
            return self._unbound_method(ref, node, arguments)
        if kind is not None:
            return self._construct_torch(ref, kind, node, arguments, evidence)
        if ref.endswith("Tensor"):
            return self._construct_torch(ref, "tensor", node, arguments, evidence)
        return self.unknown(("call", id(node)))

    def _tensor_argument(self, ref: str, argument: Argument, node: cst.Call) -> None:
        """Learn from being the input of a function that takes tensors only."""
        if argument.value.symbols and ref.startswith("torch.nn.functional.") and torch_api.takes_tensor(ref):
            for symbol in argument.value.symbols:
                use = self.uses.setdefault(symbol, Use())
                use.tensor = use.tensor or (f"it is given to `{ref}`", node)

    def _unbound_method(self, ref: str, node: cst.Call, arguments: Sequence[Argument]) -> Value:
        if not arguments:
            return UNKNOWN
        method = Value(Kind.REFERENCE, ref=ref, receiver=arguments[0].value)
        return self._call_method(method, ref, node, arguments[1:])

    def _construct_torch(
        self, ref: str, kind: str, node: cst.Call, arguments: Sequence[Argument], evidence: Evidence
    ) -> Value:
        match kind:
            case "module":
                ndim = Ndim.NEITHER
                output = torch_api.module_info(ref).get("output")
                if isinstance(output, dict) and output.get("ndim") in ("loss", "zero"):
                    ndim = torch_api.loss_ndim(arguments)
                item = None
                if ref in ("torch.nn.ModuleList", "torch.nn.Sequential", "torch.nn.ModuleDict"):
                    item = None
                return Value(Kind.MODULE, ref=ref, ndim=ndim, item=item, evidence=evidence)
            case "parameter":
                literal = torch_api.keyword(arguments, "requires_grad")
                value = parameter(evidence)
                if arguments and arguments[0].value.kind & Kind.TENSOR:
                    value = replace(value, ndim=arguments[0].value.ndim)
                if literal is not None and torch_api.literal_bool(literal.node) is not True:
                    value = replace(value, grad=Tri.MAYBE if torch_api.literal_bool(literal.node) is None else Tri.NO)
                return value
            case "tensor":
                dtype = torch_api.dtype_named(ref) if ref != "torch.Tensor" else Dtype.FLOAT
                grad = Tri.NO
                if arguments and arguments[0].value.kind & Kind.TENSOR:
                    grad = arguments[0].value.grad
                return tensor(grad, Ndim.MORE, dtype, evidence=evidence)
            case "optimizer":
                return Value(Kind.OPTIMIZER, ref=ref, evidence=evidence)
            case "dataloader":
                return Value(Kind.LOADER, ref=ref, evidence=evidence)
            case "packed":
                return Value(Kind.PACKED, ref=ref, evidence=evidence)
            case "distribution":
                return Value(
                    Kind.OBJECT,
                    ref=ref,
                    evidence=evidence,
                    grad=torch_api._grad_of_inputs([a.value for a in arguments]),
                )
        return Value(Kind.OBJECT, ref=ref, evidence=evidence)

    def _call_method(self, func: Value, ref: str, node: cst.Call, arguments: Sequence[Argument]) -> Value:
        receiver = func.receiver
        assert receiver is not None
        name = ref.rpartition(".")[2]
        if ref.startswith("torch.Tensor."):
            return self._call_tensor_method(receiver, name, node, arguments)
        if ref.startswith("torch.distributions."):
            return self._call_distribution(receiver, name, node)
        if ref.startswith("torch.nn.Module."):
            value = self._module_method(name, receiver, node)
            if name == "apply" and arguments:
                self._apply_to_modules(arguments[0])
            return value if value is not None else self.unknown(("call", id(node)))
        return self._call_plain_method(receiver, name, node, arguments)

    def _call_distribution(self, receiver: Value, name: str, node: cst.Call) -> Value:
        evidence = Evidence(Strength.SIGNATURE, f"`{name}` of a distribution", node)
        if name in ("sample", "sample_n", "enumerate_support"):
            return tensor(Tri.NO, evidence=evidence)
        if name in ("rsample", "log_prob", "entropy", "cdf", "icdf", "perplexity"):
            grad = Tri.NO if self.grad == Tri.NO else receiver.grad or Tri.MAYBE
            return tensor(grad, evidence=evidence)
        return self.unknown(("call", id(node)))

    def _call_tensor_method(self, receiver: Value, name: str, node: cst.Call, arguments: Sequence[Argument]) -> Value:
        result = torch_api.data()["methods"].get(name)
        if name == "requires_grad_":
            value = replace(receiver, grad=_truth(torch_api.literal_bool(arguments[0].node) if arguments else True))
            self._rebind(node, value)
            return value
        evidence = receiver.evidence or Evidence(Strength.USE, f"`.{name}` of a tensor", node)
        if evidence.strength < Strength.SIGNATURE and receiver.kind == Kind.TENSOR:
            evidence = Evidence(evidence.strength, evidence.text, evidence.node)
        value = torch_api.apply(result, receiver, arguments, self.grad, evidence)
        if receiver.kind & Kind.UNKNOWN and value.kind & Kind.TENSOR:
            if name in torch_api.data()["tensor_or_module"]:
                return replace(value, kind=receiver.kind, symbols=receiver.symbols)
            if name not in torch_api.tensor_only():
                return self.likely(value, ("call", id(node)))
        if _INPLACE.search(name) and value.kind == Kind.TENSOR and value.grad != receiver.grad:
            self._rebind(node, value)
        return value

    def _rebind(self, node: cst.Call, value: Value) -> None:
        """A method changed what its receiver is: ``x.requires_grad_()``, ``x.add_(y)``."""
        if isinstance(node.func, cst.Attribute):
            path = dotted(node.func.value)
            if path is not None and path in self.env:
                self.bind(path, value)

    def _apply_to_modules(self, argument: Argument) -> None:
        if isinstance(argument.node, cst.Lambda):
            evidence = Evidence(Strength.CONVENTION, "`apply` calls it with modules", argument.node)
            self.lambda_body(argument.node, (replace(MODULE, evidence=evidence),))

    def _call_plain_method(self, receiver: Value, name: str, node: cst.Call, arguments: Sequence[Argument]) -> Value:
        item = iterated(receiver)
        if receiver.kind & Kind.CONTAINER:
            return self._container_method(receiver, item, name, node, arguments)
        if receiver.kind & Kind.NDARRAY:
            return NUMBER if name in ("item", "tolist") else NDARRAY
        if receiver.kind & Kind.STRING:
            return container(STRING) if name in ("split", "splitlines", "rsplit") else STRING
        if receiver.kind & Kind.PACKED and name in ("cuda", "cpu", "to"):
            return receiver
        return OBJECT

    def _container_method(
        self, receiver: Value, item: Value | None, name: str, node: cst.Call, arguments: Sequence[Argument]
    ) -> Value:
        if name in ("append", "add", "insert", "extend", "appendleft") and arguments:
            added = arguments[-1].value
            if name == "extend":
                added = iterated(added) or UNKNOWN
            grown = added if item is None else join(item, added)
            self._rebind(node, replace(receiver, item=grown, items=None))
            return NONE
        if name in ("items",):
            return container(container(items=(self.unknown(("key", id(node))), item))) if item else container()
        if name in ("values",):
            return container(item)
        if name in ("keys",):
            return container(STRING)
        if name in ("pop", "get", "setdefault", "popleft", "popitem"):
            return item if item is not None else self.unknown(("item", id(node)))
        if name == "copy":
            return receiver
        return OBJECT if name in ("index", "count", "sort", "update", "clear") else self.unknown(("call", id(node)))

    def _call_builtin(self, name: str, node: cst.Call, arguments: Sequence[Argument]) -> Value:
        first = arguments[0].value if arguments else UNKNOWN
        if name in ("abs", "round", "pow") and first.kind & Kind.TENSOR:
            return torch_api.apply(
                {"k": "tensor", "ndim": "keep"}, first, (), self.grad, first.evidence or _NO_EVIDENCE
            )
        if name == "range":
            return container(NUMBER)
        if name in ("abs", "round", "pow") and first.kind & Kind.UNKNOWN:
            return self.unknown(("call", id(node)))
        if name in _NUMBERS:
            return NUMBER
        if name in _STRINGS:
            return STRING
        if name in ("list", "tuple", "set", "sorted", "iter", "frozenset", "reversed"):
            if not arguments:
                return container()
            if first.items is not None and name in ("list", "tuple"):
                return container(items=first.items)
            return container(self.iterate(first, arguments[0].node))
        if name == "enumerate" and arguments:
            return container(container(items=(NUMBER, self.iterate(first, arguments[0].node))))
        if name == "zip" and not any(a.star for a in arguments):
            return container(container(items=tuple(self.iterate(a.value, a.node) for a in arguments)))
        if name == "next" and arguments:
            return self.iterate(first, arguments[0].node)
        if name == "sum" and arguments:
            return self._sum(first, arguments, node)
        if name in ("max", "min") and arguments:
            several = sum(a.keyword is None for a in arguments) > 1
            value = first if several else self.iterate(first, arguments[0].node)
            for argument in arguments[1:]:
                if argument.keyword is None:
                    value = join(value, argument.value)
            return value
        if name in ("map", "filter") and len(arguments) > 1:
            return self._map(name, arguments, node)
        if name == "dict":
            item: Value | None = None
            for argument in arguments:
                if argument.keyword:
                    item = argument.value if item is None else join(item, argument.value)
            return container(item if item is not None else iterated(first) if first.kind & Kind.CONTAINER else None)
        if name == "super":
            return self.model.super_value(node, self)
        if name == "print":
            return NONE
        if name == "open":
            return OBJECT
        if name == "getattr" and len(arguments) >= 2 and isinstance(arguments[1].node, cst.SimpleString):
            return self.attribute(first, str(arguments[1].node.raw_value), node)
        return self.unknown(("call", id(node)))

    def _sum(self, first: Value, arguments: Sequence[Argument], node: cst.Call) -> Value:
        item = self.iterate(first, arguments[0].node)
        if item.kind & Kind.TENSOR:
            return torch_api.apply({"k": "tensor", "ndim": "keep"}, item, (), self.grad, item.evidence or _NO_EVIDENCE)
        return item if item.kind != Kind.UNKNOWN else self.unknown(("call", id(node)))

    def _map(self, name: str, arguments: Sequence[Argument], node: cst.Call) -> Value:
        items = [self.iterate(a.value, a.node) for a in arguments[1:]]
        if name == "filter":
            return container(items[0])
        function = arguments[0]
        if isinstance(function.node, cst.Lambda):
            return container(self.lambda_body(function.node, items))
        given = [Argument(None, item, a.node) for item, a in zip(items, arguments[1:], strict=True)]
        return container(self.call(function.value, node, given))

    @staticmethod
    def _made_by(ref: str) -> Value | None:
        """An instance of an imported class, which its name tells: ``Boxes(x)``, ``Boxes.from_tensor(x)``."""
        parts = ref.split(".")
        for index in (len(parts) - 1, len(parts) - 2):
            name = parts[index] if index >= 0 else ""
            if _CLASS_NAME.search(name) and not name.endswith(("Tensor", "Variable", "Parameter")):
                return Value(Kind.OBJECT, ref=".".join(parts[: index + 1]))
        return None

    def _call_external(self, ref: str, func: Value, node: cst.Call, arguments: Sequence[Argument]) -> Value:
        root = ref.partition(".")[0]
        last = ref.rpartition(".")[2]
        if root in ("numpy", "np"):
            return NDARRAY
        if ref in ("copy.deepcopy", "copy.copy") and arguments:
            return arguments[0].value
        if ref == "math." + last:
            return NUMBER
        if ref == "functools.partial" and arguments:
            return arguments[0].value
        if ref.startswith("itertools.") and arguments:
            item: Value | None = None
            for argument in arguments:
                each = self.iterate(argument.value, argument.node)
                item = each if item is None else join(item, each)
            return container(item)
        if ref in ("collections.OrderedDict", "collections.deque", "collections.defaultdict", "collections.Counter"):
            return container()
        if (
            ref in ("tqdm.tqdm", "tqdm.auto.tqdm", "tqdm.notebook.tqdm", "tqdm.trange", "tqdm.tqdm_notebook")
            and arguments
        ):
            return arguments[0].value
        if self.model.is_foreign(root):
            return OBJECT
        made = self._made_by(ref)
        if made is not None:
            return made
        if last in ("tqdm", "progress_bar", "ProgressBar") and arguments:
            return arguments[0].value
        return self._call_unknown(func, node, arguments)


def is_opaque(value: Value) -> bool:
    """Whether a value is an object of which nothing but that is known: what comes out of it is none of ours either."""
    return value.kind == Kind.OBJECT and value.ref is None and value.node is None


_NO_EVIDENCE = Evidence(Strength.NAME, "")
_OPTIMISED = parameter(Evidence(Strength.CONVENTION, "it comes from an optimizer's `param_groups`"))
_PARAM_GROUP = Value(Kind.CONTAINER | Kind.OBJECT, ref="param_group")
_MODULE_METHODS = {
    "parameters": "parameters",
    "named_parameters": "named_parameters",
    "buffers": "buffers",
    "named_buffers": "named_buffers",
    "state_dict": "state_dict",
    "modules": "modules",
    "children": "modules",
    "named_modules": "named_modules",
    "named_children": "named_modules",
    "cuda": "self",
    "cpu": "self",
    "to": "self",
    "float": "self",
    "half": "self",
    "double": "self",
    "train": "self",
    "eval": "self",
    "apply": "self",
    "requires_grad_": "self",
    "share_memory": "self",
}


def _holds_tensors(value: Value) -> bool:
    """Whether a value is a tensor or a tuple with one."""
    return value.kind == Kind.TENSOR or any(v.kind == Kind.TENSOR for v in value.items or ())


def _truth(literal: bool | None) -> int:
    return Tri.MAYBE if literal is None else Tri.YES if literal else Tri.NO


def _last_name(node: cst.BaseExpression) -> str:
    return (dotted(node) or (node.attr.value if isinstance(node, cst.Attribute) else "")).rpartition(".")[2]


def _short(node: cst.BaseExpression) -> bool:
    return dotted(node) is not None


def _integer(node: cst.BaseExpression) -> int | None:
    match node:
        case cst.Integer(value=digits):
            return int(digits.replace("_", ""), 0)
        case cst.UnaryOperation(operator=cst.Minus(), expression=cst.Integer(value=digits)):
            return -int(digits.replace("_", ""), 0)
    return None


def _classes(node: cst.BaseExpression) -> list[cst.BaseExpression]:
    match node:
        case cst.Tuple(elements=elements):
            return [e.value for e in elements]
        case cst.BinaryOperation(left=left, operator=cst.BitOr(), right=right):
            return [*_classes(left), *_classes(right)]
    return [node]


def _has_break(suite: cst.BaseSuite) -> bool:
    stack: list[cst.CSTNode] = list(suite.body)
    while stack:
        node = stack.pop()
        if isinstance(node, cst.Break):
            return True
        if isinstance(node, cst.SimpleStatementLine):
            stack += node.body
        elif isinstance(node, (cst.If, cst.With, cst.Try, cst.Else, cst.ExceptHandler, cst.Finally)):
            stack += node.body.body
            for name in ("orelse", "handlers", "finalbody"):
                more = getattr(node, name, None)
                stack += more if isinstance(more, (list, tuple)) else [more] if more is not None else []
    return False


def _pattern_names(tree: object, pattern: cst.CSTNode) -> list[cst.Name]:
    names: list[cst.Name] = []
    stack: list[cst.CSTNode] = [pattern]
    while stack:
        node = stack.pop()
        if isinstance(node, (cst.MatchAs, cst.MatchStar)) and node.name is not None:
            names.append(node.name)
        if isinstance(node, cst.MatchMapping) and node.rest is not None:
            names.append(node.rest)
        stack += [c for c in node.children if not isinstance(c, (cst.BaseParenthesizableWhitespace, cst.Comma))]
    return names


def _enters_no_grad(tree: object, function: cst.FunctionDef) -> bool:
    """Whether a home-made decorator or context manager runs things under ``no_grad``."""
    stack: list[cst.CSTNode] = [function.body]
    from torchlint.tree import children

    while stack:
        node = stack.pop()
        if isinstance(node, (cst.Name, cst.Attribute)):
            name = node.value if isinstance(node, cst.Name) else node.attr.value
            if name in ("no_grad", "inference_mode"):
                return True
        stack += children(node)
    return False


def bound_names(function: cst.FunctionDef) -> frozenset[str]:
    """Names that are local to a function: its parameters and all it binds."""
    from torchlint.tree import children

    names = {p.name.value for p in parameters(function)}
    stack: list[cst.CSTNode] = [function.body]
    while stack:
        node = stack.pop()
        match node:
            case cst.FunctionDef() | cst.ClassDef():
                names.add(node.name.value)
                continue
            case cst.Lambda() | cst.ListComp() | cst.SetComp() | cst.DictComp() | cst.GeneratorExp():
                continue
            case cst.AssignTarget(target=target) | cst.AnnAssign(target=target) | cst.AugAssign(target=target):
                names.update(_target_names(target))
            case cst.For(target=target):
                names.update(_target_names(target))
            case cst.AsName(name=target):
                names.update(_target_names(target))
            case cst.NamedExpr(target=target):
                names.update(_target_names(target))
        stack += children(node)
    return frozenset(names)


def _target_names(target: cst.CSTNode) -> list[str]:
    match target:
        case cst.Name(value=name):
            return [name]
        case cst.Tuple(elements=elements) | cst.List(elements=elements):
            return [name for e in elements for name in _target_names(e.value)]
        case cst.StarredElement(value=value):
            return _target_names(value)
    return []


_STATEMENTS: dict[type[cst.CSTNode], Callable[[Flow, cst.CSTNode], None]] = {
    cst.Expr: Flow._expr,  # type: ignore[dict-item]
    cst.Assign: Flow._assign,  # type: ignore[dict-item]
    cst.AnnAssign: Flow._ann_assign,  # type: ignore[dict-item]
    cst.AugAssign: Flow._aug_assign,  # type: ignore[dict-item]
    cst.Del: Flow._delete,  # type: ignore[dict-item]
    cst.Return: Flow._return,  # type: ignore[dict-item]
    cst.Raise: Flow._raise,  # type: ignore[dict-item]
    cst.Break: Flow._jump,
    cst.Continue: Flow._jump,
    cst.Assert: Flow._assert,  # type: ignore[dict-item]
    cst.Global: Flow._global,  # type: ignore[dict-item]
    cst.Nonlocal: Flow._global,  # type: ignore[dict-item]
    cst.Import: Flow._import,  # type: ignore[dict-item]
    cst.ImportFrom: Flow._import_from,  # type: ignore[dict-item]
    cst.FunctionDef: Flow._function_def,  # type: ignore[dict-item]
    cst.ClassDef: Flow._class_def,  # type: ignore[dict-item]
    cst.If: Flow._if,  # type: ignore[dict-item]
    cst.For: Flow._for,  # type: ignore[dict-item]
    cst.While: Flow._while,  # type: ignore[dict-item]
    cst.With: Flow._with,  # type: ignore[dict-item]
    cst.Try: Flow._try,  # type: ignore[dict-item]
    cst.TryStar: Flow._try,  # type: ignore[dict-item]
    cst.Match: Flow._match,  # type: ignore[dict-item]
}
_EXPRESSIONS: dict[type[cst.CSTNode], Callable[[Flow, cst.CSTNode], Value]] = {
    cst.Name: Flow._name,  # type: ignore[dict-item]
    cst.Attribute: Flow._attribute,  # type: ignore[dict-item]
    cst.Subscript: Flow._subscript,  # type: ignore[dict-item]
    cst.Call: Flow._call,  # type: ignore[dict-item]
    cst.BinaryOperation: Flow._binary,  # type: ignore[dict-item]
    cst.UnaryOperation: Flow._unary,  # type: ignore[dict-item]
    cst.BooleanOperation: Flow._boolean,  # type: ignore[dict-item]
    cst.Comparison: Flow._comparison,  # type: ignore[dict-item]
    cst.IfExp: Flow._if_exp,  # type: ignore[dict-item]
    cst.Tuple: Flow._sequence,  # type: ignore[dict-item]
    cst.List: Flow._sequence,  # type: ignore[dict-item]
    cst.Set: Flow._sequence,  # type: ignore[dict-item]
    cst.Dict: Flow._dict,  # type: ignore[dict-item]
    cst.NamedExpr: Flow._named_expr,  # type: ignore[dict-item]
    cst.ListComp: Flow._comprehension,  # type: ignore[dict-item]
    cst.SetComp: Flow._comprehension,  # type: ignore[dict-item]
    cst.GeneratorExp: Flow._comprehension,  # type: ignore[dict-item]
    cst.DictComp: Flow._dict_comprehension,  # type: ignore[dict-item]
    cst.Lambda: Flow._lambda,  # type: ignore[dict-item]
    cst.Await: Flow._await,  # type: ignore[dict-item]
    cst.Yield: Flow._yield,  # type: ignore[dict-item]
    cst.FormattedString: Flow._formatted,  # type: ignore[dict-item]
    cst.ConcatenatedString: Flow._concatenated,  # type: ignore[dict-item]
    cst.Integer: lambda flow, node: NUMBER,
    cst.Float: lambda flow, node: NUMBER,
    cst.Imaginary: lambda flow, node: NUMBER,
    cst.SimpleString: lambda flow, node: STRING,
}
