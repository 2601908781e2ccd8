"""What an expression is. Rules ask this layer and nothing else; it knows no rule.

    model.value(expr)         the abstract value: kind, grad, ndim, dtype, role, and the evidence for it
    model.is_tensor(expr)     a tensor, on evidence of the wanted strength
    model.qualified(expr)     ``torch.nn.functional.relu`` whatever it was imported as
    model.grad_enabled(node)  whether autograd records there

Asked, not computed ahead: a function is interpreted when something in it is first asked about
(:mod:`torchlint.model.interpret`), every answer is remembered. ``tests/model/*.md`` specify what comes out.
"""

from __future__ import annotations

import builtins
import functools
import itertools
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Concatenate, ParamSpec, TypeVar

import libcst as cst

from torchlint.file.tree.tree import Tree
from torchlint.model import graph
from torchlint.model.budget import Budget
from torchlint.model.codebase.modules import Codebase
from torchlint.model.imports import Imports
from torchlint.model.interpret import attributes, containers, contexts, interpreter, learning, loaders, statements
from torchlint.model.interpret.callers import Callers
from torchlint.model.interpret.environment import Env, Names
from torchlint.model.interpret.frame import Frame
from torchlint.model.interpret.queries import Answers, AttributeKey, BodyKey, ScopeKey
from torchlint.model.interpret.summary import NOTHING_SEEN, Summary, Trace
from torchlint.model.lineage import Lineage, Lineages
from torchlint.model.names import GRAD_CONTEXTS, NOT_TORCH
from torchlint.model.scopes import Scopes, sounds_like_no_grad
from torchlint.model.sources import Sources
from torchlint.model.syntax import decorator_names, dotted, is_stub, last_name, parameters, signature_comments
from torchlint.model.torch import returned
from torchlint.model.torch.returned import Argument
from torchlint.model.usage import Follower
from torchlint.model.values import (
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
    Usage,
    Value,
    changed,
    container,
    instance,
    join,
    mapping,
    parameter,
    tensor,
    unknown,
)
from torchlint.system.limits import BUDGET
from torchlint.system.stack import deeper
from torchlint.versions import ANY

__all__ = ["Dtype", "Evidence", "Kind", "Model", "Ndim", "Role", "Strength", "Tri", "Usage", "Value"]

T = TypeVar("T")
N = TypeVar("N", bound=cst.CSTNode)
P = ParamSpec("P")

_NOT_OURS = frozenset(("torch", "builtins", "numpy", "typing", ""))
_MAX_REEXPORTS = 8
_MAX_REBINDERS = 4


def _at_home(method: Callable[Concatenate[Model, N, P], T]) -> Callable[Concatenate[Model, N, P], T]:
    """Ask the model of the file that a class or function is defined in."""

    @functools.wraps(method)
    def asked(self: Model, node: N, /, *args: P.args, **kwargs: P.kwargs) -> T:
        return method(self.home(node), node, *args, **kwargs)

    return asked


_TENSOR_NAME = re.compile(r"(^|Opt|Optional|Long|Float|Bool|Int|Half|Double|Byte)(Tensor|Variable)$")
_CONTAINERS = frozenset(
    [
        "list",
        "List",
        "tuple",
        "Tuple",
        "dict",
        "Dict",
        "set",
        "Set",
        "frozenset",
        "Sequence",
        "Iterable",
        "Iterator",
        "Mapping",
        "MutableMapping",
        "MutableSequence",
        "Collection",
        "Generator",
        "OrderedDict",
        "DefaultDict",
        "defaultdict",
        "Deque",
        "deque",
    ]
)
_BUILTIN_INSTANCES = {
    "int": NUMBER,
    "float": NUMBER,
    "bool": NUMBER,
    "complex": NUMBER,
    "str": STRING,
    "bytes": STRING,
    "list": container(),
    "tuple": container(),
    "dict": mapping(UNKNOWN),
    "set": container(),
    "frozenset": container(),
}
_ARRAYS = frozenset(
    f"numpy.{name}"
    for name in ("ndarray", "array", "typing.NDArray", "generic", "number", "floating", "integer", "bool_")
)
_CLASS_KINDS = {
    "module": Value(Kind.MODULE),
    "optimizer": Value(Kind.OPTIMIZER),
    "dataloader": Value(Kind.LOADER),
    "packed": Value(Kind.PACKED),
    "size": container(NUMBER),
}
_LIGHTNING_NO_GRAD = frozenset(
    f"{prefix}{stage}_{suffix}"
    for prefix, suffixes in (
        ("", ("step", "epoch_end", "step_end")),
        ("on_", ("epoch_end", "batch_end", "epoch_start")),
    )
    for stage in ("validation", "test", "predict")
    for suffix in suffixes
)
"""Lightning runs these hooks under ``torch.no_grad()``: lightning.ai/docs, "Trainer", `Trainer.validate`."""


class Model:
    """Answers about the expressions of one file."""

    def __init__(
        self,
        tree: Tree,
        path: str | None = None,
        codebase: Codebase | None = None,
        *,
        scopes: Scopes | None = None,
        is_part: bool = False,
    ) -> None:
        """``path`` says where the file is, without which nothing that it imports is looked for.

        A model of a part of a file (``is_part``) takes what it does not define itself from the file's other parts.
        """
        self.tree = tree
        self.path = path
        self.codebase = codebase or Codebase()
        self.is_part = is_part
        self.target = ANY
        """The versions of torch that the file is written for."""
        self.budget = Budget(BUDGET)
        """How much of the file is interpreted before the rest of it counts as not known."""
        self.scopes = scopes or Scopes(tree)
        self.imports = Imports(tree)
        self.stars: list[str] = []
        self.answers: Answers = {}
        """What was found out about scopes and classes and holds for good."""
        self._kept: list[cst.CSTNode] = []
        self._assigns: dict[tuple[int, str], frozenset[str]] = {}
        self._quiet: dict[int, bool] = {}
        self._definitions: dict[str, Value | None] = {}
        self._neighbours: dict[str, Value | None] = {}
        self.lineages = Lineages(self)
        self._references: dict[int, dict[str, list[cst.Name]]] = {}
        self.usages: dict[tuple[bool, bool], dict[tuple[int, str], Usage]] = {}
        """The worst uses of names, by how they are followed."""
        self._remembered: dict[tuple[object, ...], Any] = {}
        self._callers = Callers(self)

        if not is_part:
            self.codebase.adopt(self)

    def close(self) -> dict[str, str]:
        """Nothing more will be asked: the other files that were looked at, with their state."""
        rests_on = self.codebase.rests_on()
        self.codebase.release()
        self.__dict__.clear()  # it is full of cycles; without them nobody has to look for garbage
        return rests_on

    # ------------------------------------------------------------------ questions

    def value(self, node: cst.CSTNode) -> Value:
        """What an expression can be."""
        path = self.imports.path(node)
        if path is not None:
            return self.follow(self.named(path))
        scope = self.scopes.scope_of(node)
        value = self.follow(self.trace(scope).value(node))
        if value.kind & Kind.UNKNOWN and isinstance(scope, cst.FunctionDef):
            return self._callers.value(node, scope) or value
        return value

    def qualified(self, node: cst.CSTNode) -> str | None:
        """The canonical qualified name of something imported; None for all else."""
        return self.reference(self.value(node))

    def is_tensor(self, node: cst.CSTNode, at_least: Strength = Strength.USE) -> bool:
        """Whether an expression is a tensor wherever it has a tensor's methods, on evidence of that strength."""
        value = self.value(node)
        return value.is_tensor and (value.strength or Strength.USE) >= at_least

    def grad_enabled(self, node: cst.CSTNode) -> int:
        """Whether autograd records where ``node`` is evaluated."""
        within = self.tree.enclosing(node, cst.Lambda, cst.GeneratorExp, cst.FunctionDef)
        if isinstance(within, (cst.Lambda, cst.GeneratorExp)):
            return Tri.YES  # it runs later, and nobody knows where
        usual = Tri.MAYBE if self.budget.is_spent else Tri.YES
        return self.trace(self.scopes.scope_of(node)).modes.get(id(self.tree.statement(node)), usual)

    def spelling(self, qualified: str, node: cst.CSTNode | None = None) -> tuple[str, bool]:
        """How to write a name of torch in this file, and whether ``import torch`` has to be added for it.

        Empty where it cannot be written: something else at ``node`` is called ``torch``, or the file can be imported
        without torch, which an import at its top would change.
        """
        hidden = self.scopes.hidden_at(node) if node is not None else frozenset()
        for name, spelled in self.remember(_spellings, qualified):
            if name not in hidden:
                return spelled, False
        root, bindings = qualified.partition(".")[0], self._bindings(self.tree.module)
        if node is not None and self._imports_before(root, node):
            return qualified, False
        if root in hidden or root in bindings or not self.remember(_needs, root):
            return "", False
        return qualified, True

    def _imports_before(self, root: str, node: cst.CSTNode) -> bool:
        """Whether a function around a node has imported a package by its own name before."""
        function = self.tree.enclosing(node, cst.FunctionDef)
        while isinstance(function, cst.FunctionDef):
            for statement in self.tree.within(function.body, cst.Import):
                is_here = self.scopes.scope_of(statement) is function and self.tree.order(statement) < self.tree.order(
                    node
                )
                names = [dotted(alias.name) for alias in statement.names if alias.asname is None]
                if is_here and any(name is not None and name.partition(".")[0] == root for name in names):
                    return True
            function = self.tree.enclosing(function, cst.FunctionDef)
        return False

    def remember(self, compute: Callable[Concatenate[Model, P], T], *args: P.args, **kwargs: P.kwargs) -> T:
        """What a function says of this file and of its arguments, computed once.

        The function itself is the key, so no two questions can share one: it is defined in a module, never on the spot.
        """
        key = (compute, args, *kwargs.items())
        if key not in self._remembered:
            self._remembered[key] = compute(self, *args, **kwargs)
        return self._remembered[key]  # type: ignore[no-any-return]

    def mentions(self, pattern: re.Pattern[str]) -> bool:
        """Whether anything in the text of this file matches, wherever it stands."""
        return self.remember(_mentions, pattern)

    def declares(self, attribute: str) -> bool:
        """Whether a class or named tuple of this file has an attribute of that name."""
        return self.remember(_declares, attribute)

    def taker(self, name: str) -> str | None:
        """Another file of the project that may have a name of this module from here; None if there is none.

        The path is relative to the project, empty if it is not known.
        """
        return self.codebase.taker(self, name, with_stars=not name.startswith("_") and not self._lists_exports())

    def _lists_exports(self) -> bool:
        """Whether ``__all__`` is a plain list, so that a star takes nothing else."""
        uses = self.tree.names("__all__")
        targets = [self.tree.parent(use) for use in uses]
        assigns = [self.tree.parent(target) for target in targets if isinstance(target, cst.AssignTarget)]
        return len(uses) == 1 and any(
            isinstance(each, cst.Assign) and isinstance(each.value, (cst.List, cst.Tuple)) for each in assigns
        )

    def is_target(self, node: cst.CSTNode) -> bool:
        """Whether an expression is assigned to, deleted or bound by a loop."""
        return Follower(self).is_target(node)

    def usage(self, node: cst.CSTNode) -> Usage:
        """The worst that happens to the memory an expression evaluates to."""
        return Follower(self).usage(node)

    def is_written(self, node: cst.CSTNode) -> bool:
        """Whether what an expression holds may be written in place where a version counter counts it."""
        match node:
            case cst.Name(value=name):
                return self.remember(_is_name_written, name, self.scopes.scope_of(node))
            case cst.Attribute(attr=cst.Name(value=name)):
                return self.remember(_is_attribute_written, name)
        return Sources(self).is_written(node)

    def only_metadata(self, node: cst.CSTNode) -> bool:
        """Whether nothing but metadata is read of an expression, on the spot."""
        return Follower(self, through_names=False).usage(node) is Usage.METADATA

    def references(self, name: str, scope: cst.FunctionDef | cst.Module) -> list[cst.Name]:
        """All occurrences of a name in a scope and in the functions inside it, in document order."""
        if isinstance(scope, cst.Module):
            return self.remember(_named, name)
        table = self._references.get(id(scope))
        if table is None:
            table = self._references[id(scope)] = {}
            for node in self.tree.within(scope.body, cst.Name):
                if not _is_label(self.tree, node):
                    table.setdefault(node.value, []).append(node)
        return table.get(name, [])

    def all_called(self, name: str) -> list[cst.BaseExpression]:
        """All names and attributes that are called ``name``, wherever in the file."""
        return self.remember(_called, name)

    def no_grad_block_before(self, statement: cst.CSTNode) -> cst.With | None:
        """The plain ``with torch.no_grad():`` block right before a statement, which could take it in."""
        match self.tree.sibling_before(statement):
            case (
                cst.With(
                    items=[cst.WithItem(item=cst.Call(func=func, args=[]), asname=None)], body=cst.IndentedBlock()
                ) as block
            ) if self.qualified(func) == "torch.no_grad":
                return block
        return None

    def reaches_backward(self, name: str, node: cst.CSTNode) -> bool:
        """Whether anything computed from ``name`` around ``node`` is given to ``backward``, or may be."""
        return graph.reaches_backward(self, name, node)

    def calls_backward(self, area: cst.CSTNode) -> bool:
        """Whether ``backward`` is called below a node."""
        return self.remember(graph.calls_backward, area)

    def backwarded(self, area: cst.CSTNode) -> set[str]:
        """Names and paths on which ``backward()`` is called below a node."""
        return self.remember(graph.backwarded, area)

    def leaves_function(self, name: str, node: cst.CSTNode) -> bool:
        """Whether ``name``, or what is computed from it, leaves the function around ``node``."""
        return graph.leaves_function(self, name, node)

    def without_backward(self, node: cst.CSTNode) -> bool:
        """Whether nothing in this file trains: no ``backward`` anywhere, so grad may be off in whoever calls."""
        return self.scopes.scope_of(node) is not self.tree.module and not self.remember(_trains)

    def is_inside(self, node: cst.CSTNode, area: cst.CSTNode) -> bool:
        """Whether a node lies below another."""
        return self.tree.is_inside(node, area)

    def is_inside_inner_loop(self, name: str, site: cst.CSTNode, loop: cst.CSTNode) -> bool:
        """Whether inside ``loop`` the name is set up before an inner loop that goes on using it."""
        block = self.tree.parent(self.tree.statement(site))
        for use in self.references(name, self.scopes.scope_of(site)):
            inner = self.tree.enclosing(use, cst.For, cst.While)
            if inner is not None and inner is not loop and block is not None and not self.is_inside(site, inner):
                if self.is_inside(inner, loop) and self.is_inside(inner, block):
                    return True
        return False

    def bindings_of(self, name: str, node: cst.CSTNode) -> list[cst.Name]:
        """Where a name is plainly assigned in the scope of ``node``: ``x = …``, not ``x += …``."""
        return self.remember(_bindings_of, name, self.scopes.scope_of(node))

    # ------------------------------------------------------------------ interpretation

    def result(self, scope: cst.FunctionDef | cst.Module, cls: cst.ClassDef | None = None) -> Summary | None:
        """What a scope leaves behind, interpreted once; None while that is going on further up, and if it is too much.

        A method that is inherited is interpreted once for each class (``cls``) whose objects it is called on.
        """
        key = ScopeKey(id(scope), None if cls is None else id(cls))
        is_far = self.is_part and not isinstance(scope, cst.Module)
        return self.codebase.queries.ask(
            key,
            lambda _: self._interpreted(scope, key, cls),
            None,
            self if cls is None else self.home(cls),
            before=self._surroundings(scope),
            budget=None if self.is_part else self.budget,
            is_far=is_far,
            counts=is_far,
        )

    def _surroundings(self, scope: cst.FunctionDef | cst.Module) -> Callable[[], object] | None:
        """Interprets what surrounds a function as a whole before."""
        if isinstance(scope, cst.Module):
            return None
        outer = self.scopes.scope_of(scope)
        return None if self.is_part and isinstance(outer, cst.Module) else partial(self.result, outer)

    def _interpreted(
        self, scope: cst.FunctionDef | cst.Module, key: ScopeKey, cls: cst.ClassDef | None
    ) -> Summary | None:
        frame = interpreter.new_frame(self, scope)
        with self.codebase.queries.running(key, frame):
            start = {} if isinstance(scope, cst.Module) else self.start(scope, frame, cls)
            grad = Tri.YES if isinstance(scope, cst.Module) else self.start_grad(scope)
            return deeper(lambda: interpreter.run(frame, start, grad))

    def new_budget(self) -> Budget:
        """What an interpretation may use: what is left for the file; of another file each function has its own."""
        return Budget(BUDGET) if self.is_part else self.budget

    def trace(self, scope: cst.FunctionDef | cst.Module) -> Trace:
        """What was seen in a scope, so far if it is being interpreted."""
        result = self.result(scope)
        if result is not None:
            return result.trace
        running = self.codebase.queries.frame(ScopeKey(id(scope)))
        return running.trace if running is not None else NOTHING_SEEN  # too far away

    def seen(self, node: cst.CSTNode) -> Value:
        """What an expression was where it was evaluated; for something imported from the project its name."""
        return self.trace(self.scopes.scope_of(node)).value(node)

    def is_settled(self, scope: cst.FunctionDef | cst.Module) -> bool:
        """Whether what a scope binds is known for good, however far away it is asked for."""
        known = self.answers.get(ScopeKey(id(scope)))
        return known is not None and not (self.is_part and (known.trail.height or known.trail.is_circular))

    def free(self, name: str, flow: Frame) -> Value:
        """A name that a scope does not bind itself: from the enclosing functions, the module, builtins."""
        scope = flow.scope
        while scope is not self.tree.module:
            scope = self.scopes.scope_of(scope)
            bindings = self._bindings(scope)
            if name in bindings:
                return self._as_rebound(bindings[name], name, scope, flow.scope)
        if self.is_part and (found := self._elsewhere_in_file(name)) is not None:
            return found
        if hasattr(builtins, name):
            return (
                NONE
                if name == "None"
                else NUMBER
                if name in ("True", "False")
                else Value(Kind.REFERENCE, ref=f"builtins.{name}")
            )
        for module in self.stars:
            value = self.named(f"{module}.{name}")
            if value.ref and (
                returned.is_function(value.ref) or returned.class_kind(value.ref) or _is_variable(value.ref)
            ):
                return value
            if (found := self.definition(f"{module}.{name}")) is not None:
                return found
        return unknown(("global", name))

    def _as_rebound(
        self, value: Value, name: str, scope: cst.FunctionDef | cst.Module, asker: cst.FunctionDef | cst.Module
    ) -> Value:
        """A name of an outer scope as a function sees it: what other functions rebind it to, if those are few."""
        functions = self.scopes.rebinders(scope, name)
        if not functions or value.kind & (Kind.CONTAINER | Kind.FUNCTION):
            return value
        if len(functions) > _MAX_REBINDERS:
            return join(value, UNKNOWN)
        for function in functions.values():
            left = self.result(function) if function is not asker else None
            if left is not None and name in left.bindings:
                value = join(value, left.bindings[name])
        return value

    def rebound(self, name: str, flow: Frame) -> Value | None:
        """What the functions in a scope that are defined by now bind to a name of it."""
        result: Value | None = None
        functions = self.scopes.rebinders(flow.scope, name)
        if len(functions) > 4 * _MAX_REBINDERS:
            return UNKNOWN
        for function in functions.values():
            if self._outermost(function, flow.scope).name.value not in flow.env:
                continue
            left = self.result(function)
            value = left.bindings.get(name) if left is not None else None
            if value is not None:
                result = value if result is None else join(result, value)
        return result

    def _outermost(
        self, function: cst.FunctionDef, scope: cst.FunctionDef | cst.Module
    ) -> cst.FunctionDef | cst.ClassDef:
        """The definition in a scope that a function is part of."""
        found: cst.FunctionDef | cst.ClassDef = function
        for up in self.tree.ancestors(function):
            if up is scope:
                break
            if isinstance(up, (cst.FunctionDef, cst.ClassDef)):
                found = up
        return found

    @_at_home
    def assigns(self, function: cst.FunctionDef, name: str) -> frozenset[str]:
        """The attributes of a parameter that a function assigns, by methods of the same class too."""
        key = (id(function), name)
        known = self._assigns.get(key)
        if known is None:
            found: set[str] = set()
            self._find_assigned(function, name, found, set())
            known = frozenset(found)
            cls = self.class_of(function)
            lineage = self.lineages.known(cls) if cls is not None else None
            if cls is None or (lineage is not None and lineage.is_final):
                self._assigns[key] = known
        return known

    @_at_home
    def _find_assigned(self, function: cst.FunctionDef, name: str, found: set[str], seen: set[int]) -> None:
        seen.add(id(function))
        cls = self.class_of(function)
        for node in self.tree.within(function.body, cst.Attribute):
            if not isinstance(node.value, cst.Name) or node.value.value != name:
                continue
            if self.is_target(node):
                found.add(node.attr.value)
            elif cls is not None and (method := self.find_method(cls, node.attr.value)) is not None:
                params = parameters(method)
                if params and id(method) not in seen:
                    deeper(partial(self._find_assigned, method, params[0].name.value, found, seen))

    def _elsewhere_in_file(self, name: str) -> Value | None:
        """What another part of the file binds to a name."""
        if name in self._neighbours:
            return self._neighbours[name]
        assert self.path is not None
        part = self.codebase.member(self.path, name)
        if part is None and (found := self.codebase.through_stars(self.path, (name,))) is not None:
            part = found[0]
        if part is None or part is self:
            self._neighbours[name] = None
            return None
        value = part._bindings(part.tree.module).get(name)
        if part.is_settled(part.tree.module):
            self._neighbours[name] = value
        return value

    def _bindings(self, scope: cst.FunctionDef | cst.Module) -> Env:
        result = self.result(scope)
        if result is not None:
            return result.bindings
        running = self.codebase.queries.frame(ScopeKey(id(scope)))
        return running.bindings if running is not None else {}  # too far away

    # ------------------------------------------------------------------ other files of the project

    def definition(self, ref: str) -> Value | None:
        """What a qualified name stands for, if it is defined in a file of the same project."""
        if ref in self._definitions:
            return self._definitions[ref]
        if not self._is_ours(ref):
            return None
        value, is_final = self._definition(ref)
        if is_final:
            self._definitions[ref] = value
        return value

    def _is_ours(self, ref: str) -> bool:
        root = ref.partition(".")[0]
        return root not in _NOT_OURS and not self.is_foreign(root)

    def _definition(self, ref: str) -> tuple[Value | None, bool]:
        """What a name stands for, and whether that will not change any more."""
        asker, is_final = self, True
        for _ in range(_MAX_REEXPORTS):
            found = self.codebase.definition(ref, asker)
            if found is None:
                return None, is_final
            model, name, rest = found
            value = model._bindings(model.tree.module).get(name, UNKNOWN)
            is_final = is_final and not rest and model.is_settled(model.tree.module)
            for attribute in rest:
                value = attributes.attribute(model.outside(), value, attribute, model.tree.module)
            target = self.reference(value)
            if target is None or target.partition(".")[0] in _NOT_OURS:
                return value, is_final
            if target == ref:
                return None, is_final
            asker, ref = model, target
        return None, is_final

    def follow(self, value: Value) -> Value:
        """A value; for something imported from a file of the project what it is there."""
        ref = self.reference(value)
        return value if ref is None else self.definition(ref) or value

    def imported_classes(self) -> Iterator[cst.ClassDef]:
        """The classes of the project that this file imports by their names."""
        for value in self._bindings(self.tree.module).values():
            if self.reference(value) is not None and isinstance(cls := self.follow(value).node, cst.ClassDef):
                yield cls

    def home(self, node: cst.CSTNode) -> Model:
        """The model of the file that a class or function is defined in."""
        return self.codebase.home(node, self)

    def outside(self) -> Frame:
        """An interpretation that sees what the module has bound."""
        flow = interpreter.new_frame(self, self.tree.module)
        flow.env = Names(self._bindings(self.tree.module))
        return flow

    # ------------------------------------------------------------------ where a function starts

    def start(self, function: cst.FunctionDef, flow: Frame, of: cst.ClassDef | None = None) -> Env:
        """What the parameters of a function are; ``of``: the class whose objects an inherited method is called on."""
        cls = self.class_of(function)
        decorators = decorator_names(function)
        env: Env = {}
        params = parameters(function)
        for index, param in enumerate(params):
            name = param.name.value
            if index == 0 and cls is not None and "staticmethod" not in decorators:
                me = self.self_value(of or cls, "classmethod" in decorators)
                env[name] = replace(me, symbols=(("param", id(function), name),))
            elif param.star in ("*", "**"):
                env[name] = container(self._annotated(param, flow))
            else:
                env[name] = self._param(function, cls, param, flow)
        return env

    def _annotated(self, param: cst.Param, flow: Frame) -> Value | None:
        if param.annotation is not None:
            return self.annotation(param.annotation.annotation, flow)
        text = self._comments(flow.scope).get(param.name.value)
        return self.annotation_text(text, flow) if text is not None else None

    def _comments(self, function: cst.CSTNode) -> dict[str, str]:
        """The ``# type:`` comments of a function's signature."""
        if not isinstance(function, cst.FunctionDef) or not self.remember(_has_type_comments):
            return {}
        return signature_comments(function)

    def _param(self, function: cst.FunctionDef, cls: cst.ClassDef | None, param: cst.Param, flow: Frame) -> Value:
        name = param.name.value
        symbol = ("param", id(function), name)
        value = self._annotated(param, flow)
        if value is not None:
            value = replace(value, symbols=(symbol,))
            if isinstance(param.default, cst.Name) and param.default.value == "None":
                return join(value, NONE)
            return value
        if cls is not None and (given := self._given_by_torch(function, cls, param)) is not None:
            return replace(given, symbols=(symbol,))
        convention = self._convention(function, cls, name)
        if convention is not None:
            return replace(convention, kind=convention.kind | Kind.UNKNOWN, symbols=(symbol,))
        if self.applied_to_modules(function):
            evidence = Evidence(Strength.CONVENTION, f"`{function.name.value}` is given to `apply()`", function)
            return Value(Kind.MODULE, evidence=evidence)
        return unknown(symbol)

    def _given_by_torch(self, function: cst.FunctionDef, cls: cst.ClassDef, param: cst.Param) -> Value | None:
        """What a data loader gives to a data set, and Lightning to its hooks."""
        name = param.name.value
        match function.name.value:
            case "__getitem__" if self.class_kind(cls) == "dataset":
                return NUMBER
            case "training_step" | "validation_step" | "test_step" | "predict_step" if name == "batch":
                return loaders.BATCH if self.class_kind(cls) == "module" else None
        return None

    def _convention(self, function: cst.FunctionDef, cls: cst.ClassDef | None, name: str) -> Value | None:
        if cls is None:
            return None
        kind = self.class_kind(cls)
        if kind == "module" and function.name.value == "forward" and name not in ("kwargs", "args", "mode"):
            evidence = Evidence(Strength.CONVENTION, f"`{name}` is an argument of `forward`", function)
            return tensor(evidence=evidence)
        if kind == "function" and function.name.value in ("forward", "backward") and name != "ctx":
            evidence = Evidence(Strength.CONVENTION, f"`{name}` is an argument of an autograd function", function)
            return tensor(Tri.NO, evidence=evidence)
        return None

    def applied_to_modules(self, function: cst.FunctionDef) -> bool:
        """Whether a function is given to ``net.apply(...)`` somewhere in this file."""
        if self.is_part:
            return False
        for node in self.scopes.given_to_apply(function.name.value):
            arg = self.tree.parent(node)
            call = self.tree.parent(arg) if isinstance(arg, cst.Arg) else None
            if isinstance(call, cst.Call) and isinstance(call.func, cst.Attribute) and call.func.attr.value == "apply":
                return len(call.args) == 1
        return False

    def self_value(self, cls: cst.ClassDef, is_class: bool = False) -> Value:
        """``self`` in the methods of a class (``cls`` in its class methods)."""
        if is_class:
            return Value(Kind.FUNCTION, node=cls)
        return self.construct(cls)

    def class_of(self, function: cst.CSTNode) -> cst.ClassDef | None:
        """The class whose method a function is."""
        for up in self.tree.ancestors(function):
            if isinstance(up, cst.ClassDef):
                return up
            if isinstance(up, (cst.FunctionDef, cst.Lambda)):
                return None
        return None

    def start_grad(self, function: cst.FunctionDef) -> int:
        """Whether autograd records when a function begins."""
        if function.decorators and (mode := self._decorated_grad(function)) is not None:
            return mode
        cls = self.class_of(function)
        if cls is not None:
            kind = self.class_kind(cls)
            if kind == "function" and function.name.value in ("forward", "backward"):
                return Tri.NO
            if kind == "module" and function.name.value in _LIGHTNING_NO_GRAD:
                return Tri.NO
        return Tri.NO if self._only_without_grad(function) else Tri.YES

    def _decorated_grad(self, function: cst.FunctionDef) -> int | None:
        """The grad mode that a decorator says a function runs in; None if none does."""
        outer = self.scopes.scope_of(function)
        at = self.outside() if self.is_part else interpreter.new_frame(self, outer, self.trace(outer))
        for decorator in function.decorators:
            if self.is_part:
                at.value(decorator.decorator)
            mode = contexts.grad_context(at, decorator.decorator)
            if mode is not None:
                return mode
        return None

    def _only_without_grad(self, function: cst.FunctionDef) -> bool:
        """Whether all that this file does with a function is to call it where autograd does not record."""
        if self.is_part:  # its callers are elsewhere
            return False
        key = id(function)
        known = self._quiet.get(key)
        if known is not None:
            return known
        self._quiet[key] = False
        name = function.name.value
        if name.startswith("__") or name in ("forward", "training_step", "main"):
            return False
        if not self.remember(_turns_grad_off):
            return False
        if not all(self._called_without_grad(node) for node in self.scopes.parsed_calls(name)):
            return False  # there may be others, but this is enough
        references = self.scopes.calls(name)
        self._quiet[key] = bool(references) and all(self._called_without_grad(node) for node in references)
        return self._quiet[key]

    def _called_without_grad(self, node: cst.CSTNode) -> bool:
        call = self.tree.parent(node)
        if not isinstance(call, cst.Call) or call.func is not node:
            return False
        child: cst.CSTNode = call
        for up in self.tree.ancestors(call):
            if isinstance(up, cst.With) and child is up.body:
                if any(sounds_like_no_grad(item.item) or _disables(item.item) for item in up.items):
                    return True
            if isinstance(up, cst.FunctionDef) and child is up.body:
                decorated = any(sounds_like_no_grad(d.decorator) for d in up.decorators)
                return decorated or deeper(partial(self._only_without_grad, up))
            child = up
        return False

    # ------------------------------------------------------------------ names, classes, calls

    @staticmethod
    def reference(value: Value | None) -> str | None:
        """The qualified name of something imported."""
        if value is None or not value.kind & Kind.REFERENCE or value.receiver is not None or value.bound:
            return None
        return value.ref

    @staticmethod
    def named(name: str) -> Value:
        """Something imported, by its qualified name."""
        ref = returned.canonical(name)
        return Value(Kind.REFERENCE, GRAD_CONTEXTS.get(ref, Tri.NEITHER), ref=ref)

    @staticmethod
    def is_foreign(root: str) -> bool:
        """Whether a top-level package has nothing to do with torch: its objects are no tensors."""
        return root in sys.stdlib_module_names or root in NOT_TORCH

    @_at_home
    def _bases(self, cls: cst.ClassDef) -> tuple[Value, ...]:
        """What the bases of a class are."""
        return self.lineages.bases(cls)

    def is_defined(self, ref: str) -> bool:
        """Whether it is known for good what a qualified name stands for in this project, if it does."""
        return ref in self._definitions or not self._is_ours(ref)

    @_at_home
    def _lineage(self, cls: cst.ClassDef) -> Lineage:
        """A class and those of this project that it derives from, in the order in which attributes are looked up."""
        return self.lineages.of(cls)

    @_at_home
    def class_kind(self, cls: cst.ClassDef) -> str:
        """``module``, ``optimizer``, ``function`` (of autograd), ``tensor``, …, ``unknown`` or ``other``."""
        lineage = self._lineage(cls)
        if lineage.kind is None and lineage.has_unknown:
            return "module" if lineage.has_forward else "unknown"
        return lineage.kind or "other"

    def kinds_of_bases(self, cls: cst.ClassDef) -> Iterator[str]:
        """What the bases that are not defined in this project are."""
        for value in self._bases(cls):
            if isinstance(value.node, cst.ClassDef):
                continue
            ref = self.reference(value)
            if ref is None:
                yield "unknown"
            elif ref in ("torch.autograd.Function", "torch.autograd.function.Function"):
                yield "function"
            elif (known := returned.class_kind(ref)) is not None:
                yield known
            elif self.is_foreign(ref.partition(".")[0]) or ref.startswith("builtins."):
                yield "other"
            else:
                yield "module" if ref.endswith("Module") else "unknown"

    @_at_home
    def construct(
        self, cls: cst.ClassDef, node: cst.CSTNode | None = None, arguments: Sequence[Argument] = ()
    ) -> Value:
        """An instance of a class of this file."""
        match self.class_kind(cls):
            case "module":
                return Value(Kind.MODULE, node=cls, ref=self._lineage(cls).torch_base)
            case "optimizer":
                return Value(Kind.OPTIMIZER, node=cls)
            case "dataloader":
                return Value(Kind.LOADER, node=cls)
            case "tensor" | "parameter":
                return tensor().because(Strength.SIGNATURE, f"`{cls.name.value}` is a class of tensors", node)
            case "distribution":
                return instance(cls, self._lineage(cls).torch_base)
        return self._record(cls) or instance(cls)

    def _record(self, cls: cst.ClassDef) -> Value | None:
        """An instance of a ``NamedTuple`` or a ``TypedDict``; None if the class is neither."""
        bases = {(self.reference(value) or "").rpartition(".")[2] for value in self._bases(cls)}
        if not bases & {"NamedTuple", "TypedDict"}:
            return None
        declared = self._declared_fields(cls)
        if "TypedDict" in bases:
            return containers.literal(declared)
        return replace(instance(cls), items=tuple(declared.values()))

    def _declared_fields(self, cls: cst.ClassDef) -> dict[str | int, Value]:
        """What the annotations in a class body say; of a class that mentions itself nothing."""

        def fields() -> dict[str | int, Value]:
            frame, declared = self.outside(), self.scopes.info(cls).declared
            return {
                name: self.annotation(node.annotation.annotation, frame) or UNKNOWN for name, node in declared.items()
            }

        return self.codebase.queries.once(cls, fields, {})

    def instance_of(self, value: Value, node: cst.BaseExpression) -> Value | None:
        """An instance of the class that ``value`` is; None if that is not known."""
        if isinstance(value.node, cst.ClassDef) and value.kind & Kind.FUNCTION:
            return self.construct(value.node, node)
        ref = self.reference(value)
        if ref is None:
            name = (dotted(node) or "").rpartition(".")[2]
            return tensor() if _TENSOR_NAME.search(name) else None
        if ref.startswith("builtins."):
            return _BUILTIN_INSTANCES.get(ref.removeprefix("builtins."))
        if ref in ("torch.Tensor", "torch.autograd.Variable"):
            return tensor()
        kind = returned.class_kind(ref)
        if kind == "parameter":
            return parameter()
        if (found := self.definition(ref)) is not None and isinstance(found.node, cst.ClassDef):
            return self.construct(found.node, node)
        if kind == "tensor" or (ref.startswith("torch.") and ref.endswith("Tensor")):
            return tensor(dtype=returned.dtype_named(ref) if kind else Dtype.ANY)
        if kind is not None:
            return replace(_CLASS_KINDS.get(kind, OBJECT), ref=ref)
        if ref in _ARRAYS:
            return NDARRAY
        name = ref.rpartition(".")[2]
        if _TENSOR_NAME.search(name) and not self.is_foreign(ref.partition(".")[0]):
            return tensor()
        if ref.startswith("typing.") or name in ("Any", "object", "Self") or len(name) < 2:
            if name in _CONTAINERS:
                return mapping(UNKNOWN) if _is_mapping(name) else container()
            return None
        return Value(Kind.OBJECT, ref=None if self.is_foreign(ref.partition(".")[0]) else ref)

    def find_method(self, cls: cst.ClassDef, name: str) -> cst.FunctionDef | None:
        """A method of a class or of its bases in this file."""
        for home, each in self._lineage(cls).classes():
            method = home.scopes.info(each).methods.get(name)
            if method is not None:
                return method
        return None

    def class_attribute(self, cls: cst.ClassDef, name: str, flow: Frame, base: Value | None = None) -> Value:
        """``base.name`` where ``base`` is an instance of a class of this project (or the class itself)."""
        for home, each in self._lineage(cls).classes():
            found = home._own_attribute(each, name, flow, base)
            if found is not None:
                is_other_too = found.kind == Kind.NONE and home.scopes.is_set_outside(each, name)
                return join(found, UNKNOWN) if is_other_too else found
        return UNKNOWN

    def _own_attribute(self, cls: cst.ClassDef, name: str, flow: Frame, base: Value | None) -> Value | None:
        """An attribute that a class itself defines."""
        info = self.scopes.info(cls)
        method = info.methods.get(name)
        if method is not None:
            if {"property", "cached_property", "lazy_property"} & set(decorator_names(method)):
                return self.call_function(method, base, method, (), flow)
            return Value(Kind.FUNCTION, node=method, receiver=base)
        found: Value | None = None
        used = self.scopes.attribute(cls, name)
        if used.assigned or used.registered:
            found = self._assigned(cls, name)
        declared = info.declared.get(name)
        if declared is not None and (found is None or found.kind & Kind.UNKNOWN):
            found = self.annotation(declared.annotation.annotation, flow) or found
        return found if found is not None else self.class_body(cls).bindings.get(name)

    @_at_home
    def class_body(self, cls: cst.ClassDef) -> Summary:
        """What the statements in a class leave behind."""
        if not self.is_part:
            trace = self.trace(self.scopes.scope_of(cls))
            return Summary(trace.body(cls), trace=trace)
        return self.codebase.queries.ask(BodyKey(id(cls)), lambda _: self._interpreted_body(cls), Summary(), self)

    def _interpreted_body(self, cls: cst.ClassDef) -> Summary:
        frame = self.outside()
        return Summary(statements.class_body(frame, cls), trace=frame.trace)

    @_at_home
    def _assigned(self, cls: cst.ClassDef, name: str) -> Value | None:
        """An attribute assigned through ``self`` anywhere in a class: the join of its assignments.

        Joined twice: the first time attributes that depend on each other are unknown, the second time they are not.
        """
        return self.codebase.queries.ask(
            AttributeKey(id(cls), name),
            lambda number: self._join_assigned(cls, name, number == 0),
            None,
            self,
            is_far=self.is_part,  # the methods that assign it would be
        )

    def _join_assigned(self, cls: cst.ClassDef, name: str, is_first: bool) -> Value | None:
        """The attribute; None if all its assignments are of what is not known yet."""
        used = self.scopes.attribute(cls, name)
        found: Value | None = None
        for target in used.assigned:
            scope = self.scopes.scope_of(target)
            value = self.trace(scope).value(target)
            if value.kind == Kind.UNKNOWN and isinstance(self.tree.parent(target), cst.AugAssign):
                if is_first or self.codebase.queries.is_open(ScopeKey(id(scope))):
                    continue  # what it is increased from is not known yet
            found = value if found is None else join(found, value)
        if found is not None and containers.holds(found):
            for place in used.grown:
                found = join(found, self.trace(self.scopes.scope_of(place)).after(place) or found)
        for how, call in used.registered:
            value = self._registered(how, call)
            found = value if found is None else join(found, value)
        if found is None:
            return None
        if found.kind & Kind.UNKNOWN and (evidence := self.class_use(cls, name)) is not None:
            if found.kind & Kind.TENSOR:
                found = replace(found, kind=found.kind & ~Kind.UNKNOWN, evidence=found.evidence or evidence)
            else:
                found = replace(tensor(evidence=evidence), kind=found.kind & ~Kind.UNKNOWN | Kind.TENSOR)
        elif found.kind & Kind.UNKNOWN:
            found = replace(found, symbols=(("self", id(cls), name),))
        return found

    def _registered(self, how: str, call: cst.Call) -> Value:
        given = self.seen(call.args[1].value) if len(call.args) > 1 else NONE
        if given.kind == Kind.NONE:
            return NONE
        name = f"`{how}`"
        if how == "register_parameter":
            return parameter(Evidence(Strength.SIGNATURE, f"it was given to {name}", call))
        evidence = Evidence(Strength.SIGNATURE, f"it was given to {name}", call)
        return tensor(Tri.NO, given.ndim or Ndim.ANY, given.dtype or Dtype.ANY, role=Role.BUFFER, evidence=evidence)

    @_at_home
    def class_use(self, cls: cst.ClassDef, name: str) -> Evidence | None:
        """What the whole class does with ``self.name``, if that is what only a tensor can do."""
        found = self.scopes.attribute(cls, name)
        used = found.used
        wrapping = next((c for c in found.given if last_name(c.func) == "Variable"), None)
        if not used and wrapping is None:
            return None
        only = returned.tensor_only()
        if any(u not in returned.tensor_names() and not u.startswith("_") for u in used):
            return None
        for attribute, node in used.items():
            if attribute in only:
                text = f"`.{attribute}` is used on `self.{name}`, which only tensors have"
                return Evidence(Strength.USE, text, node)
        if wrapping is not None and self.qualified(wrapping.func) == "torch.autograd.Variable":
            text = f"`Variable(...)` is called with `self.{name}`, which takes only tensors"
            return Evidence(Strength.USE, text, wrapping)
        return None

    @_at_home
    def call_function(
        self,
        function: cst.FunctionDef,
        receiver: Value | None,
        node: cst.CSTNode,
        arguments: Sequence[Argument],
        flow: Frame,
    ) -> Value:
        """The value of calling a function of this file, from its summary."""
        result = self.result(function, self._inheriting(function, receiver))
        if result is None:
            return unknown(("call", id(node)))
        if result.returns is not None:
            given = self.bind(function, receiver, arguments)
            value = _substitute(result.returns, id(function), given, ("call", id(node)))
        elif is_stub(function) and self.class_of(function) is not None:
            value = unknown(("call", id(node)))
        else:
            return NONE
        if function.returns is not None and value.kind & Kind.UNKNOWN:
            value = self._declared(function.returns.annotation, value, receiver, flow)
        elif value.kind & Kind.UNKNOWN and (text := self._comments(function).get("return")) is not None:
            value = self.annotation_text(text, flow) or value
        if flow.grad == Tri.NO:
            value = _without_grad(value)
        return learning.resolve(flow, value)

    def _inheriting(self, function: cst.FunctionDef, receiver: Value | None) -> cst.ClassDef | None:
        """The class of an object whose method is inherited from another one."""
        decorators = decorator_names(function)
        if receiver is None or not isinstance(receiver.node, cst.ClassDef) or "staticmethod" in decorators:
            return None
        if receiver.kind & Kind.FUNCTION and "classmethod" not in decorators:
            return None
        return receiver.node if receiver.node is not self.class_of(function) else None

    def _declared(self, node: cst.BaseExpression, value: Value, receiver: Value | None, flow: Frame) -> Value:
        """What a function returns, where a part of that is not known and an annotation tells."""
        if receiver is not None and last_name(node) == "Self":
            return self.construct(receiver.node) if isinstance(receiver.node, cst.ClassDef) else receiver
        declared = self.annotation(node, flow)
        if declared is None:
            return value
        if value.kind & ~Kind.UNKNOWN & ~declared.kind:
            return value
        if value.kind & declared.kind & Kind.TENSOR:
            return replace(value, kind=declared.kind, symbols=())
        return declared

    def bind(
        self, function: cst.FunctionDef, receiver: Value | None, arguments: Sequence[Argument]
    ) -> dict[str, Value]:
        """The parameters of a function with what a call gives them."""
        names = [p.name.value for p in parameters(function) if p.star not in ("*", "**")]
        given: dict[str, Value] = {}
        decorators = decorator_names(function)
        is_bound = receiver is None or not receiver.kind & Kind.FUNCTION or "classmethod" in decorators
        if is_bound and self.class_of(function) is not None and "staticmethod" not in decorators and names:
            given[names[0]] = receiver or UNKNOWN
            names = names[1:]
        positional = [a for a in arguments if a.keyword is None]
        for name, argument in zip(names, positional, strict=False):
            if argument.star:
                break
            given[name] = argument.value
        given.update({a.keyword: a.value for a in arguments if a.keyword is not None})
        return given

    def super_value(self, node: cst.Call, flow: Frame) -> Value:
        """``super()``: the object, seen as an instance of the base."""
        cls = self.class_of(flow.scope)
        if cls is None:
            return unknown(("call", id(node)))
        for base in self._bases(cls):
            if isinstance(base.node, cst.ClassDef):
                return self.construct(base.node)
            ref = self.reference(base)
            if ref is not None and returned.class_kind(ref) == "module":
                return Value(Kind.MODULE, ref=ref)
        return unknown(("call", id(node)))

    # ------------------------------------------------------------------ annotations

    def annotation(self, node: cst.BaseExpression, flow: Frame) -> Value | None:
        """An instance of what an annotation names; None if that says nothing."""
        value = self._annotation(node, flow if flow.model is self else self.outside(), 0)
        if value is None or value.evidence is not None:
            return value
        return value.because(Strength.ANNOTATION, "an annotation says so", node)

    def annotation_text(self, text: str, flow: Frame) -> Value | None:
        """What the text of an annotation says."""
        node = self._parsed(text)
        return self.annotation(node, flow) if node is not None else None

    def _parsed(self, text: str) -> cst.BaseExpression | None:
        try:
            parsed = cst.parse_expression(text)
        except (cst.ParserSyntaxError, cst.CSTValidationError):
            return None
        self._kept.append(parsed)  # values are keyed by id
        return parsed

    def _annotation(self, node: cst.BaseExpression, flow: Frame, depth: int) -> Value | None:
        if depth > 6:
            return None
        match node:
            case cst.SimpleString() | cst.ConcatenatedString():
                text = node.evaluated_value
                parsed = self._parsed(text if isinstance(text, str) else "")
                return self._annotation(parsed, flow, depth + 1) if parsed is not None else None
            case cst.Name("None"):
                return NONE
            case cst.BinaryOperation(left=left, operator=cst.BitOr(), right=right):
                return self._union([left, right], flow, depth)
            case cst.Subscript():
                return self._generic(node, flow, depth)
            case cst.Name() | cst.Attribute():
                value = flow.value(node)
                stands_for = self._alias(value)
                if stands_for is not None:
                    return self._annotation(stands_for, flow, depth + 1)
                return self.instance_of(value, node)
        return None

    def _alias(self, value: Value) -> cst.BaseExpression | None:
        """The annotation that a name of this file stands for: an alias, a ``NewType``, a bound ``TypeVar``."""
        if value.node is None or self.tree.parent(value.node) is None:
            return None
        match value.node:
            case cst.Call(func=func, args=[_, cst.Arg(value=of), *_]) if last_name(func) == "NewType":
                return of
            case cst.Call(func=func, args=args) if last_name(func) == "TypeVar":
                return next((a.value for a in args if a.keyword is not None and a.keyword.value == "bound"), None)
            case cst.Subscript() | cst.SimpleString() | cst.BinaryOperation() if value.kind == Kind.REFERENCE:
                return value.node
        return None

    def _union(self, nodes: Sequence[cst.BaseExpression], flow: Frame, depth: int) -> Value | None:
        result: Value | None = None
        for node in nodes:
            value = self._annotation(node, flow, depth + 1)
            if value is None:
                return None
            result = value if result is None else join(result, value)
        return result

    def _generic(self, node: cst.Subscript, flow: Frame, depth: int) -> Value | None:
        flow.value(node.value)
        name = (dotted(node.value) or "").rpartition(".")[2]
        arguments = [e.slice.value for e in node.slice if isinstance(e.slice, cst.Index)]
        if not arguments:
            return None
        if name == "Optional":
            return self._union([arguments[0], cst.Name("None")], flow, depth)
        if name == "Union":
            return self._union(arguments, flow, depth)
        if name in ("Annotated", "Final", "ClassVar", "Required", "NotRequired"):
            return self._annotation(arguments[0], flow, depth + 1)
        if name in ("tuple", "Tuple") and not any(isinstance(a, cst.Ellipsis) for a in arguments):
            items = [self._annotation(a, flow, depth + 1) or UNKNOWN for a in arguments]
            return container(items=tuple(items))
        if name == "Callable":
            result = self._annotation(arguments[-1], flow, depth + 1)
            return Value(Kind.FUNCTION, item=result) if result is not None else None
        if name in _CONTAINERS:
            element = self._annotation(arguments[-1] if _is_mapping(name) else arguments[0], flow, depth + 1)
            if _is_mapping(name):
                return mapping(self._annotation(arguments[0], flow, depth + 1) or UNKNOWN, element)
            return container(element)
        if name == "TensorType":
            return tensor()
        first = self._annotation(arguments[0], flow, depth + 1)
        if first is not None and first.kind in (Kind.TENSOR, Kind.NDARRAY):
            return _shaped(first, name, arguments[1:])
        return self.instance_of(flow.value(node.value), node.value)


_DTYPES = {"Float": Dtype.FLOAT, "Int": Dtype.INT, "UInt": Dtype.INT, "Integer": Dtype.INT, "Bool": Dtype.BOOL}


def _shaped(base: Value, name: str, arguments: Sequence[cst.BaseExpression]) -> Value:
    """What jaxtyping's ``Float[Tensor, "batch dim"]`` says."""
    if base.kind != Kind.TENSOR:
        return base
    dtype = _DTYPES.get(name, base.dtype)
    shape = arguments[0].raw_value.split() if arguments and isinstance(arguments[0], cst.SimpleString) else ["..."]
    is_fixed = any(not axis.startswith(("*", "...", "#*")) for axis in shape)
    ndim = Ndim.MORE if is_fixed else Ndim.ANY if shape else Ndim.ZERO
    return replace(base, dtype=dtype, ndim=ndim, grad=base.grad if dtype & Dtype.FLOAT else Tri.NO)


_NO_GRAD = ("no_grad", "nograd", "inference_mode", "inferencemode", "set_grad_enabled")
"""What some code runs under if a function is only called where autograd does not record, in small letters."""


def _turns_grad_off(model: Model) -> bool:
    text = model.tree.source.text.lower()
    return any(name in text for name in _NO_GRAD)


def _has_type_comments(model: Model) -> bool:
    return "type:" in model.tree.source.text


def _named(model: Model, name: str) -> list[cst.Name]:
    return [node for node in model.tree.names(name) if not _is_label(model.tree, node)]


def _called(model: Model, name: str) -> list[cst.BaseExpression]:
    return [*model.tree.attributes(name), *model.remember(_named, name)]


def _bindings_of(model: Model, name: str, scope: cst.FunctionDef | cst.Module) -> list[cst.Name]:
    found = []
    for use in model.references(name, scope):
        parent = model.tree.parent(use)
        if model.is_target(use) and not isinstance(parent, (cst.AugAssign, cst.Subscript)):
            assign = model.tree.parent(parent) if isinstance(parent, cst.AssignTarget) else parent
            if isinstance(assign, cst.Assign) and any(
                isinstance(n, cst.Name) and n.value == name for n in model.tree.walk(assign.value)
            ):
                continue
            found.append(use)
    return found


def _is_name_written(model: Model, name: str, scope: cst.FunctionDef | cst.Module) -> bool:
    return Sources(model).is_name_written(name, scope)


def _is_attribute_written(model: Model, name: str) -> bool:
    return Sources(model).is_attribute_written(name)


def _spellings(model: Model, qualified: str) -> list[tuple[str, str]]:
    """Names of the module by which something of torch can be written, with that, those that say the most first."""
    found: list[tuple[str, str, str]] = []
    for name, value in model._bindings(model.tree.module).items():
        # `try: import torch` … `except ImportError: torch = None` is torch where a fix is wanted
        ref = model.reference(replace(value, kind=value.kind & ~Kind.NONE))
        if ref is None or value.kind & ~(Kind.REFERENCE | Kind.NONE):
            continue
        if qualified == ref or qualified.startswith(ref + "."):
            found.append((ref, name, name + qualified[len(ref) :]))
    found.sort(key=lambda each: -len(each[0]))
    return [(name, spelled) for _, name, spelled in found]


def _needs(model: Model, root: str) -> bool:
    """Whether a file cannot be imported without a package: a statement at its top level imports something of it."""
    bindings = model._bindings(model.tree.module)
    ours = {name for name, value in bindings.items() if (model.reference(value) or "").partition(".")[0] == root}
    for line in model.tree.module.body:
        for small in line.body if isinstance(line, cst.SimpleStatementLine) else ():
            match small:
                case cst.Import(names=aliases):
                    if any((dotted(alias.name) or "").partition(".")[0] == root for alias in aliases):
                        return True
                case cst.ImportFrom(names=cst.ImportStar()):
                    if ours:
                        return True
                case cst.ImportFrom(names=[*aliases]):
                    bound = (alias.asname.name if alias.asname is not None else alias.name for alias in aliases)
                    if any(isinstance(name, cst.Name) and name.value in ours for name in bound):
                        return True
    return False


def _mentions(model: Model, pattern: re.Pattern[str]) -> bool:
    return pattern.search(model.tree.source.text) is not None


def _declares(model: Model, attribute: str) -> bool:
    return model.scopes.declares(attribute)


def _is_mapping(name: str) -> bool:
    return "dict" in name.lower() or "mapping" in name.lower()


def _is_label(tree: Tree, node: cst.Name) -> bool:
    """Whether a Name node is no variable: an attribute's name, a keyword, the name of a definition or import."""
    parent = tree.parent(node)
    match parent:
        case cst.AsName():
            return isinstance(tree.parent(parent), cst.ImportAlias)
        case cst.Attribute():
            return parent.attr is node
        case cst.Arg():
            return parent.keyword is node
        case cst.FunctionDef() | cst.ClassDef() | cst.Param():
            return parent.name is node
        case cst.ImportAlias() | cst.NameItem():
            return True
    return False


def _trains(model: Model) -> bool:
    return graph.calls_backward(model, model.tree.module)


def _is_variable(ref: str) -> bool:
    return ref == "torch.autograd.Variable"


def _disables(node: cst.BaseExpression) -> bool:
    match node:
        case cst.Call(func=func, args=[cst.Arg(value=cst.Name("False"))]):
            return (dotted(func) or "").endswith("set_grad_enabled")
    return False


def _substitute(value: Value, function: int, given: dict[str, Value], fresh: Symbol) -> Value:
    """A returned value as the caller sees it: parameters that are passed through are the caller's arguments."""
    number = itertools.count()
    value = changed(value, lambda part: _substitute(part, function, given, (*fresh, next(number))))
    if not value.symbols:
        return replace(value, symbols=(fresh,)) if value.kind == Kind.UNKNOWN else value
    passed = [s for s in value.symbols if s[0] == "param" and s[1] == function]
    if len(passed) == len(value.symbols) == 1:
        argument = given.get(passed[0][2])
        if argument is not None:
            if argument.kind == Kind.UNKNOWN and value.kind & Kind.TENSOR:
                return replace(value, symbols=argument.symbols)
            return argument
    return replace(value, symbols=(fresh,) if value.kind & Kind.UNKNOWN else ())


def _without_grad(value: Value) -> Value:
    value = changed(value, _without_grad)
    if value.kind & Kind.TENSOR and value.role == Role.PLAIN:
        return replace(value, grad=Tri.NO)
    return value
