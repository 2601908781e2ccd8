"""Forward interpretation of one function: what every expression in it can be.

One environment maps names (and ``self.x`` paths) to values; it is copied at branches, joined at merges, and loops run
until nothing changes. A function is interpreted when something in it is first asked about. What is learnt from the use
of an unknown value (``x.unsqueeze(0)``: a tensor) holds from where the value came from, so the function is run again
when something was learnt.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import libcst as cst

from torchlint.model.interpret import containers, loaders
from torchlint.model.interpret.env import Changes, Env, Names, Watch
from torchlint.model.interpret.patterns import Patterns, is_irrefutable
from torchlint.model.interpret.state import Result, Trace, is_opaque, truth
from torchlint.model.names import GRAD_CONTEXTS, SET_GRAD
from torchlint.model.scopes import sounds_like_no_grad
from torchlint.model.syntax import (
    decorator_names,
    dotted,
    enters_no_grad,
    has_break,
    last_name,
    parameters,
    root,
    type_comment,
)
from torchlint.model.torch import returned
from torchlint.model.values import (
    NDARRAY,
    NONE,
    OBJECT,
    UNKNOWN,
    Evidence,
    Kind,
    Strength,
    Tri,
    Value,
    container,
    held,
    iterated,
    join,
)

if TYPE_CHECKING:
    from torchlint.model import Model

_MAX_LOOPS = 3
"""Rounds of a loop before what it binds has to do."""
_MAX_NESTED_LOOPS = _MAX_LOOPS**2
"""Rounds of a loop in all rounds of those around it; from then on each of these means one round of it."""


class Flow(Patterns):
    """One interpretation of one scope."""

    def __init__(self, model: Model, scope: cst.FunctionDef | cst.Module, trace: Trace | None = None) -> None:
        super().__init__(model, scope, trace)
        self._solutions: dict[int, Changes] = {}
        """What each loop was found to bind."""
        self._rounds = Counter[int]()
        """How often each loop went round."""

    def run(self, start: Env, grad: int) -> Result:
        """Interpret the scope, again if the uses of unknown values taught something."""
        for _ in range(3):
            self.dead, self.returns, self.paths, self._solutions, self._rounds = False, [], {}, {}, Counter()
            self.grad = grad
            self.uses, self.supposed = {}, set()
            self.bindings = {name: self._resolve(value) for name, value in start.items()}
            self.env = Names(self.bindings)
            self.block(self.scope.body if isinstance(self.scope, cst.Module) else self.scope.body.body)
            if not self._learn() or not self.budget.allows():
                break
        returns: Value | None = None
        for value in self.returns:
            returns = value if returns is None else join(returns, value)
        return Result(self.bindings, returns, self.trace)

    def _learn(self) -> bool:
        """Draw conclusions from how unknown values were used; whether there are new ones that change anything."""
        rejected = self.rejected | {s for s, use in self.uses.items() if use.other}
        solved, hinted = dict(self.solved), dict(self.hinted)
        for symbol, use in self.uses.items():
            if use.tensor:
                solved.setdefault(symbol, Evidence(Strength.USE, *use.tensor))
            elif use.hint:
                hinted.setdefault(symbol, Evidence(Strength.NAME, *use.hint))
        solved = {s: evidence for s, evidence in solved.items() if s not in rejected}
        hinted = {s: evidence for s, evidence in hinted.items() if s not in rejected and s not in solved}
        has_learnt = (solved.keys(), hinted.keys()) != (self.solved.keys(), self.hinted.keys())
        has_learnt = has_learnt or not self.supposed.isdisjoint(rejected - self.rejected)
        self.solved, self.hinted, self.rejected = solved, hinted, rejected
        return has_learnt

    def block(self, statements: Sequence[cst.CSTNode]) -> None:
        """Run statements one after the other; those that are not reached too, so that they have values."""
        for statement in statements:
            self.statement(statement)

    def body(self, suite: cst.BaseSuite) -> None:
        """The statements of an indented block or of a one-line suite."""
        if isinstance(suite, cst.SimpleStatementSuite):
            self.modes[id(suite)] = self.grad
        self.block(suite.body)

    def statement(self, node: cst.CSTNode) -> None:
        """Run one statement and remember the grad mode it runs in."""
        self.modes[id(node)] = self.grad
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
        match value:
            case cst.Call(func=cst.Attribute(attr=cst.Name("enter_context")), args=[argument]):
                self.grad = self.grad_context(argument.value) or self.grad
            case cst.Call(func=func) if self.model.reference(self.values.get(id(func))) in SET_GRAD:
                self.grad = self.values[id(value)].grad

    def _assign(self, node: cst.Assign) -> None:
        value = self.eval(node.value)
        if says_nothing(value) and (comment := type_comment(self.tree.parent(node))) is not None:
            value = self._declared(self.model.annotation_text(comment, self), value)
        for target in node.targets:
            self.assign(target.target, value, node.value)
            self.remember_test(target.target, node.value)
            if value.kind == Kind.CONTAINER and root(node.value) and root(target.target):
                self.alias(target.target, node.value)

    def _ann_assign(self, node: cst.AnnAssign) -> None:
        declared = self.annotation(node.annotation.annotation)
        if declared is not None and isinstance(node.target, cst.Name):
            self.declared[node.target.value] = declared
        if node.value is None:
            if declared is not None:
                self.assign(node.target, declared, None)
            return
        value = self.eval(node.value)
        if last_name(node.annotation.annotation) == "TypeAlias":
            value = Value(Kind.REFERENCE, ref="typing.TypeAlias", node=node.value)
        self.assign(node.target, self._declared(declared, value), node.value)

    @staticmethod
    def _declared(declared: Value | None, value: Value) -> Value:
        """A value that was declared, as far as it is not known better."""
        if declared is None or not says_nothing(value):
            return value
        if value.kind & Kind.CONTAINER and not declared.kind & Kind.CONTAINER:
            return value
        if value.kind & declared.kind & Kind.TENSOR:
            return replace(value, kind=declared.kind, evidence=declared.evidence, symbols=())
        return declared

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
                if name in self.declared:
                    value = self._declared(self.declared[name], value)
                self.values[id(target)] = value
                self.bind(name, value)
            case cst.Tuple(elements=elements) | cst.List(elements=elements):
                self.values[id(target)] = value
                self._unpack(elements, value, source)
            case cst.Attribute():
                base = self.eval(target.value)
                self.use(base, target.attr.value, target)
                self.values[id(target)] = value
                if target.attr.value == "requires_grad" and base.kind & Kind.TENSOR:
                    literal = returned.literal_bool(source) if source is not None else None
                    self.refine(target.value, replace(base, grad=truth(literal)))
                path = dotted(target)
                if path is not None:
                    self.bind(path, value)
            case cst.Subscript():
                base = self.eval(target.value)
                self._slices(target)
                self.values[id(target)] = value
                if base.kind & Kind.TENSOR and self.grad != Tri.NO:
                    self.write_through(target, returned.grad_of_inputs([value]))
                if containers.holds(base):
                    key, each = self.key_of(target)
                    self.store(target.value, containers.put(base, key, each, value))
            case cst.StarredElement():
                self.assign(target.value, container(iterated(value)), None)

    def _unpack(self, elements: Sequence[cst.BaseElement], value: Value, source: cst.BaseExpression | None) -> None:
        items = containers.spread(value.items, [isinstance(e, cst.StarredElement) for e in elements])
        for index, element in enumerate(elements):
            if items is not None:
                part = self._resolve(items[index])
            elif (item := iterated(value)) is not None and value.kind == Kind.CONTAINER:
                part = self._resolve(item)
            elif loaders.is_batch(value):
                part = self.likely(loaders.part_of_batch(), ("part", id(element)))
            elif value.kind == Kind.OBJECT and isinstance(value.node, cst.ClassDef):
                part = self._part_of_object(value, element)
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
            if isinstance(element, cst.StarredElement) and items is None:
                part = container(part)
            self.assign(element.value, part, None)

    def _part_of_object(self, value: Value, element: cst.BaseElement) -> Value:
        """What an object of the file gives where it is taken apart."""
        part = self.iterate(value, element.value)
        return self.unknown(("part", id(element))) if part.kind == Kind.UNKNOWN else part

    def _delete(self, node: cst.Del) -> None:
        targets = [e.value for e in node.target.elements] if isinstance(node.target, cst.Tuple) else [node.target]
        for target in targets:
            if isinstance(target, cst.Name):
                self.values[id(target)] = self.env.get(target.value) or UNKNOWN
                self.env.unbind(target.value)
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
        if self.loops and not self.dead:
            entry, exits = self.loops[-1]
            exits.append(self.env.changes(entry))
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
        module = dotted(node.module) or "" if node.module else ""
        if node.relative:
            absolute = self.model.codebase.absolute(len(node.relative), module, self.model)
            module = absolute or "." * len(node.relative) + module
        if isinstance(node.names, cst.ImportStar):
            if module not in self.model.stars:
                self.model.stars.append(module)
            return
        for alias in node.names:
            name = dotted(alias.name) or ""
            bound = alias.asname.name if alias.asname is not None else alias.name
            if isinstance(bound, cst.Name):
                self.bind(bound.value, self.model.named(f"{module}.{name}"))

    def _function_def(self, node: cst.FunctionDef) -> None:
        if not self.model.is_part:  # of other files nobody asks what stands in the head of a function
            self._head(node)
        if "overload" not in decorator_names(node):  # those have no body; what they overload follows
            self.bind(node.name.value, Value(Kind.FUNCTION, node=node))

    def _head(self, node: cst.FunctionDef) -> None:
        for decorator in node.decorators:
            self.eval(decorator.decorator)
        for param in parameters(node):
            if param.default is not None:
                self.eval(param.default)
            if param.annotation is not None:
                self._annotation_names(param.annotation.annotation)
        if node.returns is not None:
            self._annotation_names(node.returns.annotation)

    def _class_def(self, node: cst.ClassDef) -> None:
        for decorator in () if self.model.is_part else node.decorators:
            self.eval(decorator.decorator)
        for arg in (*node.bases, *node.keywords):
            self.eval(arg.value)
        self.model.lineages.defines(node)
        if not self.model.is_part:  # there it is left to who asks for it
            self.trace.bodies[id(node)] = self.class_body(node)
        self.bind(node.name.value, Value(Kind.FUNCTION, node=node))

    def class_body(self, node: cst.ClassDef) -> Env:
        """What the statements in a class bind."""
        outer, bindings = self.env, self.bindings
        self.env, self.bindings = outer.branch(), {}
        self.body(node.body)
        bound = self.bindings
        self.env, self.bindings = outer, bindings
        return bound

    def _annotation_names(self, node: cst.BaseExpression) -> None:
        """Record what the names in an annotation refer to, for rules that look at them."""
        if isinstance(node, (cst.Name, cst.Attribute, cst.Subscript, cst.BinaryOperation, cst.Tuple, cst.List)):
            self.eval(node)

    def _if(self, node: cst.If) -> None:
        """All branches of ``if``, ``elif`` and ``else`` side by side: each in the one before would cost far more."""
        before, grad, after = self.env, self.grad, Tri.NEITHER
        ends: list[Changes] = []
        self.eval(node.test)
        otherwise = before.branch()
        while True:
            self.env, self.dead, self.grad = otherwise.branch(), False, grad
            self.narrow(node.test, True)
            self.body(node.body)
            after |= self._end(before, ends)
            self.env, self.dead, self.grad = otherwise, False, grad
            self.narrow(node.test, False)
            if not isinstance(node.orelse, cst.If):
                break
            node = node.orelse
            self.modes[id(node)] = grad
            self.eval(node.test)
        if node.orelse is not None:
            self.body(node.orelse.body)
        after |= self._end(before, ends)
        self.env, self.grad, self.dead = before, after or grad, not ends
        before.meet_from_last(ends)

    def _end(self, before: Names, ends: list[Changes]) -> int:
        """Take down what a way has changed; the grad mode at its end, none if it does not get there."""
        if self.dead:
            return Tri.NEITHER
        ends.append(self.env.changes(before))
        return self.grad

    def _branches(self, runs: Sequence[Callable[[], None]]) -> None:
        grad, after = self.grad, Tri.NEITHER
        ends = []
        for run in runs:
            self.grad = grad
            end = self.branch(run)
            if end is not None:
                ends.append(end)
                after |= self.grad
        self.grad = after or grad
        self.merge(ends)

    def _loop(self, head: Callable[[], None], body: cst.BaseSuite, orelse: cst.Else | None) -> None:
        entry, grad = self.env, self.grad
        entry.meet([{}, self._solutions.get(id(body), {})])  # where an outer loop has come round
        for _ in range(_MAX_LOOPS):
            self._rounds[id(body)] += 1
            watch = Watch()
            self.env, self.dead, self.grad = entry.branch(watch), False, grad
            self.loops.append((entry, []))
            head()
            self.body(body)
            ends = self.loops.pop()[1]
            if not self.dead:
                ends.append(self.env.changes(entry))
            self.env = entry
            if not watch.is_concerned(entry.meet([{}, *ends])) and self.grad | grad == grad:
                break
            grad |= self.grad
            if self._rounds[id(body)] >= _MAX_NESTED_LOOPS or not self.budget.allows():
                break
        self._solutions[id(body)] = {name: entry.get(name) for end in ends for name in end}
        self.dead, self.grad = False, grad
        if orelse is not None:
            self.body(orelse.body)

    def _for(self, node: cst.For) -> None:
        iterable = self.eval(node.iter)
        comment = type_comment(node)
        declared = self.model.annotation_text(comment, self) if comment is not None else None

        def head() -> None:
            self.assign(node.target, self._declared(declared, self.iterate(iterable, node.iter)), None)

        self._loop(head, node.body, node.orelse)

    def _while(self, node: cst.While) -> None:
        def head() -> None:
            self.eval(node.test)
            self.narrow(node.test, True)

        self._loop(head, node.body, node.orelse)
        if has_break(node.body):
            return
        self.dead = isinstance(node.test, cst.Name) and node.test.value == "True"
        self.narrow(node.test, False)

    def _with(self, node: cst.With) -> None:
        outer = self.grad
        for item in node.items:
            value = self.eval(item.item)
            mode = self.grad_context(item.item)
            if mode is not None:
                self.grad = mode
            if item.asname is not None:
                self.assign(item.asname.name, self.entered(value, item), None)
        self.body(node.body)
        self.grad = outer

    def grad_context(self, node: cst.BaseExpression) -> int | None:
        """What a context manager or decorator does to the grad mode; None if nothing is known of it."""
        if isinstance(node, cst.IfExp):
            modes = [self.grad_context(side) for side in (node.body, node.orelse)]
            return (modes[0] or self.grad) | (modes[1] or self.grad) if any(modes) else None
        made = self.values.get(id(node), UNKNOWN)
        if made.kind & Kind.OBJECT and made.grad and (made.ref in GRAD_CONTEXTS or made.ref in SET_GRAD):
            return made.grad if made.kind == Kind.OBJECT else made.grad | self.grad
        if made.kind == Kind.OBJECT and made.ref == "contextlib.nullcontext":
            return made.grad if made.grad == Tri.MAYBE else None
        value = self.model.follow(self.values.get(id(node.func), UNKNOWN) if isinstance(node, cst.Call) else made)
        ref = self.model.reference(value)
        if ref in GRAD_CONTEXTS:
            return GRAD_CONTEXTS[ref]
        if value.kind == Kind.REFERENCE and ref is None and value.grad:  # one of several
            return value.grad | self.grad
        if isinstance(value.node, cst.FunctionDef) and enters_no_grad(value.node):
            return Tri.NO
        return Tri.NO if sounds_like_no_grad(node) else None

    def _try(self, node: cst.Try | cst.TryStar) -> None:
        before, ends = self.env, []
        self.env, self.dead = before.branch(), False
        is_test = any(_catches_wrong_type(handler) for handler in node.handlers)
        self.tests_of_type += is_test
        self.body(node.body)
        self.tests_of_type -= is_test
        broken_off = before.branch()
        broken_off.meet([{}, dict(self.env.changes(before))])
        if not self.dead and node.orelse is not None:
            self.body(node.orelse.body)
        if not self.dead:
            ends.append(self.env.changes(before))
        for handler in node.handlers:
            self.env, self.dead = broken_off.branch(), False
            if handler.type is not None:
                self.eval(handler.type)
            if handler.name is not None:
                self.assign(handler.name.name, OBJECT, None)
            self.body(handler.body)
            if not self.dead:
                ends.append(self.env.changes(before))
        self.env = before
        self.merge(ends)
        dead = self.dead
        if node.finalbody is not None:
            if dead:
                self.env = broken_off
            self.dead = False
            self.body(node.finalbody.body)
            self.dead = self.dead or dead

    def _match(self, node: cst.Match) -> None:
        subject = self.eval(node.subject)
        is_total = any(is_irrefutable(case) for case in node.cases)
        runs: list[Callable[[], None]] = [] if is_total else [lambda: None]
        for case in node.cases:

            def run(case: cst.MatchCase = case) -> None:
                matched = self.match(case.pattern, subject)
                if matched is not subject:
                    self.refine(node.subject, matched)
                if case.guard is not None:
                    self.eval(case.guard)
                    self.narrow(case.guard, True)
                self.body(case.body)

            runs.append(run)
        self._branches(runs)

    def annotation(self, node: cst.BaseExpression) -> Value | None:
        """What an annotation says; None if nothing that is of use."""
        return self.model.annotation(node, self)


def _catches_wrong_type(handler: cst.ExceptHandler | cst.ExceptStarHandler) -> bool:
    """``except TypeError``"""
    match handler.type:
        case cst.Tuple(elements=elements):
            names = [last_name(element.value) for element in elements]
        case cst.Name() | cst.Attribute() as type_:
            names = [last_name(type_)]
        case _:
            return False
    return "TypeError" in names


def says_nothing(value: Value) -> bool:
    """Whether a declaration says more than a value: that is not known, or is an empty container."""
    return bool(value.kind & Kind.UNKNOWN) or (value.kind == Kind.CONTAINER and held(value) is None)


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
