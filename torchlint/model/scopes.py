"""Definitions of a file without running it: classes with their methods and attributes, and who calls what."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property

import libcst as cst

from torchlint.model.names import GROWING
from torchlint.tree import Tree

Function = cst.FunctionDef | cst.Lambda

_NO_GRAD_NAME = re.compile(r"no_?grad|inference_?mode", re.IGNORECASE)


def dotted(node: cst.CSTNode) -> str | None:
    """``a.b.c`` of names and attributes, None for all else."""
    parts: list[str] = []
    while isinstance(node, cst.Attribute):
        parts.append(node.attr.value)
        node = node.value
    if not isinstance(node, cst.Name):
        return None
    parts.append(node.value)
    return ".".join(reversed(parts))


def root(node: cst.CSTNode) -> cst.Name | None:
    """``a`` of ``a[b][c]``."""
    while isinstance(node, cst.Subscript):
        node = node.value
    return node if isinstance(node, cst.Name) else None


def sounds_like_no_grad(node: cst.BaseExpression) -> bool:
    """Whether a context manager or decorator is called something like ``no_grad`` or ``smart_inference_mode``."""
    while isinstance(node, cst.Call):
        node = node.func
    name = dotted(node)
    return bool(name and _NO_GRAD_NAME.search(name.rpartition(".")[2]))


def parameters(function: Function) -> list[cst.Param]:
    """All parameters of a function, in order, with the starred ones."""
    p = function.params
    params = [*p.posonly_params, *p.params]
    if isinstance(p.star_arg, cst.Param):
        params.append(p.star_arg)
    params += p.kwonly_params
    if p.star_kwarg is not None:
        params.append(p.star_kwarg)
    return params


def decorator_names(function: cst.FunctionDef) -> list[str]:
    """Last names of the decorators: ``property``, ``setter``, ``no_grad`` …"""
    names = []
    for decorator in function.decorators:
        node = decorator.decorator
        while isinstance(node, cst.Call):
            node = node.func
        name = dotted(node)
        if name:
            names.append(name.rpartition(".")[2])
    return names


_TARGETS: dict[type[cst.CSTNode], str] = {
    cst.AssignTarget: "target",
    cst.AnnAssign: "target",
    cst.AugAssign: "target",
    cst.For: "target",
    cst.NamedExpr: "target",
    cst.AsName: "name",
    cst.FunctionDef: "name",
    cst.ClassDef: "name",
}
_OWN_SCOPE = frozenset(
    (cst.Lambda, cst.ListComp, cst.SetComp, cst.DictComp, cst.GeneratorExp, cst.FunctionDef, cst.ClassDef)
)


def bound_names(function: cst.FunctionDef, tree: Tree) -> frozenset[str]:
    """Names that are local to a function: its parameters and all it binds."""
    names = {p.name.value for p in parameters(function)}
    body = function.body
    for cls, field_ in _TARGETS.items():
        for node in tree.within(body, cls):
            if _is_directly_in(body, node, tree):
                names.update(target_names(getattr(node, field_)))
    return frozenset(names)


def _is_directly_in(body: cst.CSTNode, node: cst.CSTNode, tree: Tree) -> bool:
    """Whether no other scope lies between a node and a function's body."""
    up = tree.parent(node)
    while up is not None and up is not body:
        if type(up) in _OWN_SCOPE:
            return False
        up = tree.parent(up)
    return True


def target_names(target: cst.CSTNode) -> list[str]:
    """The names that an assignment to a target binds."""
    match target:
        case cst.Name(value=name):
            return [name]
        case cst.Tuple(elements=elements) | cst.List(elements=elements):
            return [name for e in elements for name in target_names(e.value)]
        case cst.StarredElement(value=value):
            return target_names(value)
    return []


@dataclass(eq=False)
class ClassInfo:
    """A class of this file."""

    node: cst.ClassDef
    methods: dict[str, cst.FunctionDef] = field(default_factory=dict)
    assigned: dict[str, list[tuple[cst.FunctionDef, cst.CSTNode]]] = field(default_factory=lambda: defaultdict(list))
    """``self.x = …``: for each attribute the methods and the target nodes."""
    grown: dict[str, list[tuple[cst.FunctionDef, cst.CSTNode]]] = field(default_factory=lambda: defaultdict(list))
    """``self.x.append(…)``, ``self.x[k] = …``: for each attribute the methods and the nodes of ``self.x``."""
    declared: dict[str, cst.AnnAssign] = field(default_factory=dict)
    """Annotated in the class body, as in a dataclass or NamedTuple."""
    used: dict[str, dict[str, cst.CSTNode]] = field(default_factory=lambda: defaultdict(dict))
    """``self.x.y``: for each attribute the names accessed on it."""
    registered: dict[str, list[tuple[str, cst.Call, cst.FunctionDef]]] = field(
        default_factory=lambda: defaultdict(list)
    )
    """``self.register_buffer("x", …)`` and ``register_parameter``."""

    @property
    def name(self) -> str:
        """The name of the class."""
        return self.node.name.value

    @property
    def bases(self) -> list[cst.BaseExpression]:
        """Base classes as written."""
        return [arg.value for arg in self.node.bases if not arg.star]


_LABELLED = frozenset((cst.FunctionDef, cst.ClassDef, cst.ImportAlias, cst.Param, cst.AsName))


class Scopes:
    """Index of the definitions of a file."""

    def __init__(self, tree: Tree) -> None:
        self.tree = tree
        self._classes: dict[int, ClassInfo] = {}
        self._locals: dict[int, frozenset[str]] = {}

    def locals_of(self, function: cst.FunctionDef) -> frozenset[str]:
        """Names that a function binds itself."""
        names = self._locals.get(id(function))
        if names is None:
            names = self._locals[id(function)] = bound_names(function, self.tree)
        return names

    def hidden_at(self, node: cst.CSTNode) -> frozenset[str]:
        """Names that mean something else at ``node`` than in the module."""
        names: set[str] = set()
        child = node
        for up in self.tree.ancestors(node):
            match up:
                case cst.FunctionDef() if child is up.body:
                    names |= self.locals_of(up) - self._declared_global(up)
                case cst.Lambda() if child is up.body:
                    names.update(p.name.value for p in up.params.params)
                case cst.ListComp() | cst.SetComp() | cst.GeneratorExp() | cst.DictComp():
                    targets = [each.target for each in self.tree.within(up, cst.CompFor)]
                    names.update(name for target in targets for name in target_names(target))
            child = up
        return frozenset(names)

    def _declared_global(self, function: cst.FunctionDef) -> set[str]:
        return {item.name.value for each in self.tree.within(function, cst.Global) for item in each.names}

    def info(self, node: cst.ClassDef) -> ClassInfo:
        """Methods and attributes of a class."""
        info = self._classes.get(id(node))
        if info is None:
            info = self._classes[id(node)] = self._collect(node)
        return info

    def _collect(self, node: cst.ClassDef) -> ClassInfo:
        info = ClassInfo(node)
        for statement in node.body.body:
            if isinstance(statement, cst.FunctionDef):
                if not {"setter", "overload"} & set(decorator_names(statement)):
                    info.methods[statement.name.value] = statement
                self._collect_method(info, statement)
            elif isinstance(statement, cst.SimpleStatementLine):
                for small in statement.body:
                    if isinstance(small, cst.AnnAssign) and isinstance(small.target, cst.Name):
                        info.declared[small.target.value] = small
            elif isinstance(statement, cst.If):  # methods defined under `if torch_version …:`
                for inner in statement.body.body:
                    if isinstance(inner, cst.FunctionDef):
                        info.methods.setdefault(inner.name.value, inner)
                        self._collect_method(info, inner)
        return info

    def _collect_method(self, info: ClassInfo, method: cst.FunctionDef) -> None:
        params = parameters(method)
        if not params:
            return
        me = params[0].name.value
        for node in self.tree.within(method.body, cst.Attribute):
            if not isinstance(node.value, cst.Name) or node.value.value != me:
                continue
            name, parent = node.attr.value, self.tree.parent(node)
            if _grows(self.tree, node):
                info.grown[name].append((method, node))
            if isinstance(parent, cst.Attribute):
                info.used[name].setdefault(parent.attr.value, parent)
            elif _is_target(self.tree, node):
                info.assigned[name].append((method, node))
            elif isinstance(parent, cst.Call) and parent.func is node and name.startswith("register_"):
                _register(info, parent, name, method)

    @cached_property
    def calls(self) -> dict[str, list[cst.CSTNode]]:
        """References to a name, plain or as an attribute, except its definition: ``f``, ``self.f``, ``m.f``."""
        found: dict[str, list[cst.CSTNode]] = defaultdict(list)
        parent_of = self.tree.parent
        for name in self.tree.all(cst.Name):
            parent = parent_of(name)
            cls = type(parent)  # a `match` asks the abstract classes of nodes, which takes ten times as long
            if cls is cst.Attribute:
                found[name.value].append(parent if parent.attr is name else name)  # type: ignore[union-attr, arg-type]
            elif not (cls in _LABELLED or (cls is cst.Arg and parent.keyword is name)):  # type: ignore[union-attr]
                found[name.value].append(name)
        return found

    @cached_property
    def assigned_attributes(self) -> dict[str, list[cst.Attribute]]:
        """All ``….x = …`` of the file, by the name of the attribute."""
        found: dict[str, list[cst.Attribute]] = defaultdict(list)
        targets = [node.target for node in self.tree.all(cst.AssignTarget)]
        targets += [node.target for node in self.tree.all(cst.AugAssign)]
        targets += [node.target for node in self.tree.all(cst.AnnAssign)]
        for target in targets:
            if isinstance(target, cst.Attribute):
                found[target.attr.value].append(target)
        return found

    def is_set_outside(self, cls: cst.ClassDef, attribute: str) -> bool:
        """Whether a subclass or anything that is no class assigns to an attribute of that name."""
        return any(self._may_be_of(cls, site) for site in self.assigned_attributes.get(attribute, ()))

    def _may_be_of(self, cls: cst.ClassDef, site: cst.Attribute) -> bool:
        """Whether an attribute that is assigned from outside a class may be one of its instances."""
        around = self.tree.enclosing(site, cst.ClassDef)
        if around is cls:
            return False
        is_own = isinstance(around, cst.ClassDef) and isinstance(site.value, cst.Name) and site.value.value == "self"
        return not is_own or any(dotted(base) == cls.name.value for base in self.info(around).bases)  # type: ignore[arg-type]

    @cached_property
    def rebinders(self) -> dict[int, dict[str, dict[int, cst.FunctionDef]]]:
        """For each scope its names that functions inside it rebind, or whose containers they grow."""
        found: dict[int, dict[str, dict[int, cst.FunctionDef]]] = defaultdict(lambda: defaultdict(dict))
        for function, name in self._rebinding():
            outer = self.scope_of(function)
            while isinstance(outer, cst.FunctionDef) and name not in self.locals_of(outer):
                outer = self.scope_of(outer)
            found[id(outer)][name][id(function)] = function
        return found

    def _rebinding(self) -> Iterator[tuple[cst.FunctionDef, str]]:
        """Functions with the names of others that they rebind or grow."""
        own: dict[int, frozenset[str]] = {}
        declarations: list[cst.Global | cst.Nonlocal] = [*self.tree.all(cst.Global), *self.tree.all(cst.Nonlocal)]
        for node in declarations:
            function = self.scope_of(node)
            if isinstance(function, cst.FunctionDef):
                yield from ((function, item.name.value) for item in node.names)
        for place in self._grown_names():
            function = self.scope_of(place)
            if isinstance(function, cst.FunctionDef):
                if id(function) not in own:
                    own[id(function)] = self.locals_of(function)
                if place.value not in own[id(function)]:
                    yield function, place.value

    def _grown_names(self) -> Iterator[cst.Name]:
        """Names of containers that something is put into."""
        for attribute in self.tree.all(cst.Attribute):
            if attribute.attr.value in GROWING and isinstance(attribute.value, cst.Name | cst.Subscript):
                node = root(attribute.value)
                if node is not None and _grows(self.tree, attribute.value):
                    yield node
        for target in self.tree.all(cst.AssignTarget):
            if isinstance(target.target, cst.Subscript) and (node := root(target.target)) is not None:
                yield node

    def declares(self, attribute: str) -> bool:
        """Whether a class of this file has that attribute, or a named tuple that field."""
        for node in self.tree.all(cst.ClassDef):
            info = self.info(node)
            if attribute in info.assigned or attribute in info.declared or attribute in info.methods:
                return True
        for call in self.tree.all(cst.Call):
            if (dotted(call.func) or "").rpartition(".")[2] in ("namedtuple", "NamedTuple", "make_dataclass"):
                fields = re.findall(r"\w+", " ".join(self.tree.code(arg.value) for arg in call.args[1:]))
                if attribute in fields:
                    return True
        return False

    def scope_of(self, node: cst.CSTNode) -> cst.FunctionDef | cst.Module:
        """The function whose flow evaluates ``node``, or the module.

        Lambdas, comprehensions and class bodies are part of what surrounds them; decorators, defaults and annotations
        of a function belong to the outside.
        """
        child = node
        for up in self.tree.ancestors(node):
            if type(up) is cst.FunctionDef and child is up.body:
                return up
            child = up
        return self.tree.module


def _is_target(tree: Tree, node: cst.CSTNode) -> bool:
    child: cst.CSTNode = node
    for up in tree.ancestors(node):
        match up:
            case cst.AssignTarget() | cst.For() | cst.AsName():
                return getattr(up, "target", None) is child or getattr(up, "name", None) is child
            case cst.AnnAssign() | cst.AugAssign() | cst.NamedExpr() | cst.CompFor():
                return up.target is child
            case cst.Tuple() | cst.List() | cst.Element() | cst.StarredElement():
                child = up
            case _:
                return False
    return False


def _grows(tree: Tree, node: cst.CSTNode) -> bool:
    """Whether something is put into a container, or into one that is in it."""
    child, up = node, tree.parent(node)
    while isinstance(up, cst.Subscript) and up.value is child:
        if _is_target(tree, up):
            return True
        child, up = up, tree.parent(up)
    if not isinstance(up, cst.Attribute) or up.attr.value not in GROWING:
        return False
    call = tree.parent(up)
    return isinstance(call, cst.Call) and call.func is up


def _register(info: ClassInfo, call: cst.Call, how: str, method: cst.FunctionDef) -> None:
    if not call.args or how not in ("register_buffer", "register_parameter"):
        return
    name = call.args[0].value
    if isinstance(name, cst.SimpleString):
        info.registered[name.raw_value].append((how, call, method))
