"""Definitions of a file without running it: classes with their methods and attributes, and who calls what."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

import libcst as cst

from torchlint.file.tree.tree import Tree
from torchlint.model.names import GROWING
from torchlint.model.syntax import decorator_names, dotted, is_bound, is_given_plainly, parameters

_NO_GRAD_NAME = re.compile(r"no_?grad|inference_?mode", re.IGNORECASE)


def sounds_like_no_grad(node: cst.BaseExpression) -> bool:
    """Whether a context manager or decorator is called something like ``no_grad`` or ``smart_inference_mode``."""
    while isinstance(node, cst.Call):
        node = node.func
    name = dotted(node)
    return bool(name and _NO_GRAD_NAME.search(name.rpartition(".")[2]))


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
_OWN_SCOPE = (cst.Lambda, cst.ListComp, cst.SetComp, cst.DictComp, cst.GeneratorExp, cst.FunctionDef, cst.ClassDef)


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
    return tree.enclosing(node, *_OWN_SCOPE) is tree.parent(body)


_COMPREHENSIONS = (cst.ListComp, cst.SetComp, cst.GeneratorExp, cst.DictComp)


def _hides(node: cst.CSTNode, parent: cst.CSTNode) -> bool:
    """Whether what a node is in can have names of its own."""
    if isinstance(parent, (cst.FunctionDef, cst.Lambda)):
        return node is parent.body
    return isinstance(parent, _COMPREHENSIONS)


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


def bound_by(node: cst.CSTNode | None) -> set[str]:
    """The names that an assignment binds, be it a statement or an expression; none of what is no assignment."""
    match node:
        case cst.Assign(targets=targets):
            return {name for each in targets for name in target_names(each.target)}
        case cst.AnnAssign(target=target) | cst.NamedExpr(target=target):
            return set(target_names(target))
    return set()


@dataclass(eq=False)
class ClassInfo:
    """A class of this file: what can be told without looking into its methods."""

    node: cst.ClassDef
    methods: dict[str, cst.FunctionDef] = field(default_factory=dict)
    bodies: list[cst.FunctionDef] = field(default_factory=list)
    """All its methods, those that share a name, too."""
    by_node: dict[int, cst.FunctionDef] = field(default_factory=dict)
    """The same by identity."""
    declared: dict[str, cst.AnnAssign] = field(default_factory=dict)
    """Annotated in the class body, as in a dataclass or NamedTuple."""
    assigned: set[str] = field(default_factory=set)
    """Names that are assigned in the class body: ``data = property(…)``."""

    @property
    def name(self) -> str:
        """The name of the class."""
        return self.node.name.value

    @property
    def bases(self) -> list[cst.BaseExpression]:
        """Base classes as written."""
        return [arg.value for arg in self.node.bases if not arg.star]


@dataclass(eq=False)
class Uses:
    """What the methods of a class do to one attribute of ``self``."""

    assigned: list[cst.Attribute] = field(default_factory=list)
    """The targets of ``self.x = …``."""
    grown: list[cst.Attribute] = field(default_factory=list)
    """``self.x`` of ``self.x.append(…)`` and ``self.x[k] = …``."""
    used: dict[str, cst.CSTNode] = field(default_factory=dict)
    """``self.x.y``: the names accessed on it."""
    given: list[cst.Call] = field(default_factory=list)
    """``f(self.x)``: the calls whose first argument it is."""
    registered: list[tuple[str, cst.Call]] = field(default_factory=list)
    """``self.register_buffer("x", …)`` and ``register_parameter``."""


class Scopes:
    """Index of the definitions of a file."""

    def __init__(self, tree: Tree) -> None:
        self.tree = tree
        self._classes: dict[int, ClassInfo] = {}
        self._attributes: dict[tuple[int, str], Uses] = {}
        self._settings: dict[tuple[str, bool], tuple[set[int], dict[str, set[int]]]] = {}
        self._calls: dict[str, list[cst.CSTNode]] = {}
        self._rebinders: dict[tuple[int, str], dict[int, cst.FunctionDef]] = {}
        self._rebound: dict[str, dict[int, dict[int, cst.FunctionDef]]] = {}
        self._nests: dict[int, bool] = {}
        self._locals: dict[int, frozenset[str]] = {}
        self._hidden: dict[int, frozenset[str]] = {}
        self._declares: dict[str, bool] = {}
        self._around = tree.nearest(_is_in_body)
        self._hiding = tree.nearest(_hides)

    def locals_of(self, function: cst.FunctionDef) -> frozenset[str]:
        """Names that a function binds itself."""
        names = self._locals.get(id(function))
        if names is None:
            names = self._locals[id(function)] = bound_names(function, self.tree)
        return names

    def hidden_at(self, node: cst.CSTNode) -> frozenset[str]:
        """Names that mean something else at ``node`` than in the module."""
        hiding = self._hiding.of(node)
        if hiding is None:
            return frozenset()
        names = self._hidden.get(id(hiding))
        if names is None:
            names = self._hidden[id(hiding)] = self._hidden_by(hiding) | self.hidden_at(hiding)
        return names

    def _hidden_by(self, node: cst.CSTNode) -> frozenset[str]:
        match node:
            case cst.FunctionDef():
                return self.locals_of(node) - self._declared_global(node)
            case cst.Lambda():
                return frozenset(p.name.value for p in parameters(node))
        targets = [each.target for each in self.tree.within(node, cst.CompFor)]
        return frozenset(name for target in targets for name in target_names(target))

    def is_of_expression(self, name: cst.Name) -> bool:
        """Whether a lambda or comprehension around a name binds it, so that it is none of its scope."""
        for up in self.tree.ancestors(name):
            match up:
                case cst.BaseSmallStatement() | cst.BaseCompoundStatement():
                    return False
                case cst.Lambda() | cst.BaseComp() if name.value in self._hidden_by(up):
                    return True
        return False

    def _declared_global(self, function: cst.FunctionDef) -> set[str]:
        return {item.name.value for each in self.tree.within(function, cst.Global) for item in each.names}

    def info(self, node: cst.ClassDef) -> ClassInfo:
        """Methods and declarations of a class."""
        info = self._classes.get(id(node))
        if info is None:
            info = self._classes[id(node)] = _class_info(node)
            info.by_node = {id(method): method for method in info.bodies}
        return info

    def attribute(self, cls: cst.ClassDef, name: str) -> Uses:
        """What the methods of a class do to one of its attributes."""
        key = (id(cls), name)
        found = self._attributes.get(key)
        if found is None:
            found = self._attributes[key] = self._collected(cls, name)
        return found

    def _collected(self, cls: cst.ClassDef, name: str) -> Uses:
        found = Uses()
        for node in self._of_self(cls, name):
            parent = self.tree.parent(node)
            if _grows(self.tree, node):
                found.grown.append(node)
            if isinstance(parent, cst.Attribute):
                found.used.setdefault(parent.attr.value, parent)
            elif is_bound(self.tree, node):
                found.assigned.append(node)
            elif isinstance(parent, cst.Arg) and isinstance(call := self.tree.parent(parent), cst.Call):
                if call.args and call.args[0] is parent and not parent.star:
                    found.given.append(call)
        for how in ("register_buffer", "register_parameter"):
            for node in self._of_self(cls, how):
                call = self.tree.parent(node)
                if isinstance(call, cst.Call) and call.func is node and _registers(call, name):
                    found.registered.append((how, call))
        found.registered.sort(key=lambda each: self.tree.order(each[1]))
        return found

    def _of_self(self, cls: cst.ClassDef, name: str) -> Iterator[cst.Attribute]:
        """``self.x`` in the methods of a class."""
        methods = self.info(cls).by_node
        for node in self.tree.names(name, below=cls):
            attribute = self.tree.parent(node)
            if (
                isinstance(attribute, cst.Attribute)
                and attribute.attr is node
                and isinstance(attribute.value, cst.Name)
            ):
                method = methods.get(id(self._outermost(attribute, cls)))
                params = parameters(method) if method is not None else []
                if params and params[0].name.value == attribute.value.value:
                    yield attribute

    def _outermost(self, node: cst.CSTNode, cls: cst.ClassDef) -> cst.CSTNode | None:
        """The function next to a class in whose body a node is."""
        found, child = None, node
        for up in self.tree.ancestors(node):
            if up is cls:
                break
            if isinstance(up, cst.FunctionDef):
                found = up if child is up.body else None
            child = up
        return found

    def calls(self, name: str) -> list[cst.CSTNode]:
        """References to a name, plain or as an attribute, except its definition: ``f``, ``self.f``, ``m.f``."""
        found = self._calls.get(name)
        if found is None:
            found = self._calls[name] = list(self._references(self.tree.names(name)))
        return found

    def _references(self, names: Iterable[cst.Name]) -> Iterator[cst.CSTNode]:
        for node in names:
            parent = self.tree.parent(node)
            match parent:
                case cst.Attribute():
                    yield parent if parent.attr is node else node
                case cst.FunctionDef() | cst.ClassDef() | cst.ImportAlias() | cst.Param() | cst.AsName():
                    pass
                case cst.Arg() if parent.keyword is node:
                    pass
                case _:
                    yield node

    def is_set_outside(self, cls: cst.ClassDef, attribute: str, *, is_called: bool = False) -> bool:
        """Whether a subclass or anything that is no class assigns to an attribute of that name.

        ``is_called``: only what may be called counts.
        """
        key = (attribute, is_called)
        if key not in self._settings:
            self._settings[key] = self._collected_settings(attribute, is_called)
        by_anybody, by_heirs = self._settings[key]
        heirs = by_heirs.get(cls.name.value, set())
        return any(len(found) > (id(cls) in found) for found in (by_anybody, heirs))

    def calls_assigned(self, attribute: str) -> Iterator[tuple[int, cst.Call]]:
        """The calls whose results an attribute of that name is assigned, each with the class that does so for its own
        objects, by identity; 0 for all others.
        """
        for site in self._assigned(attribute):
            assign = self.tree.parent(self.tree.parent(site) or site)
            if isinstance(assign, cst.Assign) and isinstance(assign.value, cst.Call):
                around = self.tree.enclosing(site, cst.ClassDef)
                yield id(around) if around is not None and dotted(site.value) == "self" else 0, assign.value

    def _collected_settings(self, attribute: str, is_called: bool) -> tuple[set[int], dict[str, set[int]]]:
        """In which classes an attribute of any object is assigned, and for each base which classes assign their own."""
        by_anybody = set[int]()
        by_heirs: dict[str, set[int]] = {}
        for site in self._assigned(attribute):
            if is_called and is_given_plainly(self.tree, site):
                continue
            around = self.tree.enclosing(site, cst.ClassDef)
            if not isinstance(around, cst.ClassDef) or dotted(site.value) != "self":
                by_anybody.add(id(around))
                continue
            for base in self.info(around).bases:
                by_heirs.setdefault(dotted(base) or "", set()).add(id(around))
        return by_anybody, by_heirs

    def _assigned(self, attribute: str) -> Iterator[cst.Attribute]:
        """All ``….x = …`` of the file."""
        for node in self.tree.attributes(attribute):
            match self.tree.parent(node):
                case cst.AssignTarget(target=target) | cst.AugAssign(target=target) | cst.AnnAssign(target=target):
                    if target is node:
                        yield node

    def rebinders(self, scope: cst.FunctionDef | cst.Module, name: str) -> dict[int, cst.FunctionDef]:
        """The functions inside a scope that rebind a name of it, or grow its container."""
        key = (id(scope), name)
        if key not in self._rebinders:
            found: dict[int, cst.FunctionDef] = {}
            if self._has_functions(scope):
                found = self._rebinding(name).get(id(scope), {})
            self._rebinders[key] = found
        return self._rebinders[key]

    def _has_functions(self, scope: cst.FunctionDef | cst.Module) -> bool:
        if isinstance(scope, cst.Module):
            return True
        known = self._nests.get(id(scope))
        if known is None:
            known = self._nests[id(scope)] = bool(self.tree.within(scope.body, cst.FunctionDef))
        return known

    def owner(self, name: str, node: cst.CSTNode) -> cst.FunctionDef | cst.Module:
        """The scope that a name is of where ``node`` is evaluated; of a function, around it."""
        outer = self.scope_of(node)
        while isinstance(outer, cst.FunctionDef) and name not in self.locals_of(outer):
            outer = self.scope_of(outer)
        return outer

    def _rebinding(self, name: str) -> dict[int, dict[int, cst.FunctionDef]]:
        """For each scope around them the functions that rebind or grow what is called ``name`` in it."""
        known = self._rebound.get(name)
        if known is None:
            known = self._rebound[name] = {}
            for function in self._find_rebinding(name):
                known.setdefault(id(self.owner(name, function)), {})[id(function)] = function
        return known

    def _find_rebinding(self, name: str) -> list[cst.FunctionDef]:
        found: list[tuple[int, int, cst.FunctionDef]] = []
        for node in self.tree.names(name):
            how = self._how_rebound(node)
            function = self.scope_of(node) if how is not None else None
            if how is None or not isinstance(function, cst.FunctionDef):
                continue
            if how in (_GLOBAL, _NONLOCAL) or name not in self.locals_of(function):
                found.append((how, len(found), function))
        return [function for _, _, function in sorted(found, key=lambda each: each[:2])]

    def _how_rebound(self, node: cst.Name) -> int | None:
        parent = self.tree.parent(node)
        if isinstance(parent, cst.NameItem):
            return _GLOBAL if isinstance(self.tree.parent(parent), cst.Global) else _NONLOCAL
        place: cst.CSTNode = node
        while isinstance(parent, cst.Subscript) and parent.value is place:
            place, parent = parent, self.tree.parent(parent)
        match parent:
            case cst.Attribute(attr=cst.Name(value=method), value=value) if value is place and method in GROWING:
                return _BY_METHOD if _grows(self.tree, place) else None
            case cst.AssignTarget() if place is not node:
                return _BY_ITEM
        return None

    def all_classes(self) -> list[cst.ClassDef]:
        """All classes of this file."""
        return self.tree.all(cst.ClassDef)

    def declares(self, attribute: str) -> bool:
        """Whether a class of this file has that attribute, or a named tuple that field."""
        known = self._declares.get(attribute)
        if known is None:
            known = self._declares[attribute] = self._finds_declared(attribute)
        return known

    def _finds_declared(self, attribute: str) -> bool:
        around = [self.tree.enclosing(node, cst.ClassDef) for node in self._assigned_anyhow(attribute)]
        assigning = {id(cls): cls for cls in around if isinstance(cls, cst.ClassDef)}
        if any(self.attribute(cls, attribute).assigned for cls in assigning.values()):
            return True
        for node in self.all_classes():
            info = self.info(node)
            if attribute in info.declared or attribute in info.methods:
                return True
        for call in self.tree.all(cst.Call):
            if (dotted(call.func) or "").rpartition(".")[2] in ("namedtuple", "NamedTuple", "make_dataclass"):
                fields = re.findall(r"\w+", " ".join(self.tree.code(arg.value) for arg in call.args[1:]))
                if attribute in fields:
                    return True
        return False

    def _assigned_anyhow(self, attribute: str) -> Iterator[cst.Attribute]:
        return (node for node in self.tree.attributes(attribute) if is_bound(self.tree, node))

    def scope_of(self, node: cst.CSTNode) -> cst.FunctionDef | cst.Module:
        """The function whose flow evaluates ``node``, or the module.

        Lambdas, comprehensions and class bodies are part of what surrounds them; decorators, defaults and annotations
        of a function belong to the outside.
        """
        function = self._around.of(node)
        return function if type(function) is cst.FunctionDef else self.tree.module


def _is_in_body(node: cst.CSTNode, parent: cst.CSTNode) -> bool:
    return type(parent) is cst.FunctionDef and node is parent.body


_GLOBAL, _NONLOCAL, _BY_METHOD, _BY_ITEM = range(4)
"""How a function rebinds or grows what is another scope's, in the order in which it counts."""


def _class_info(node: cst.ClassDef) -> ClassInfo:
    info = ClassInfo(node)
    for statement in node.body.body:
        if isinstance(statement, cst.FunctionDef):
            if not {"setter", "overload"} & set(decorator_names(statement)):
                info.methods[statement.name.value] = statement
            info.bodies.append(statement)
        elif isinstance(statement, cst.SimpleStatementLine):
            for small in statement.body:
                if isinstance(small, cst.AnnAssign) and isinstance(small.target, cst.Name):
                    info.declared[small.target.value] = small
                elif isinstance(small, cst.Assign):
                    info.assigned.update(name for each in small.targets for name in target_names(each.target))
        elif isinstance(statement, cst.If):  # methods defined under `if torch_version …:`
            for inner in statement.body.body:
                if isinstance(inner, cst.FunctionDef):
                    info.methods.setdefault(inner.name.value, inner)
                    info.bodies.append(inner)
    return info


def _grows(tree: Tree, node: cst.CSTNode) -> bool:
    """Whether something is put into a container, or into one that is in it."""
    child, up = node, tree.parent(node)
    while isinstance(up, cst.Subscript) and up.value is child:
        if is_bound(tree, up):
            return True
        child, up = up, tree.parent(up)
    if not isinstance(up, cst.Attribute) or up.attr.value not in GROWING:
        return False
    call = tree.parent(up)
    return isinstance(call, cst.Call) and call.func is up


def _registers(call: cst.Call, name: str) -> bool:
    """Whether a call of ``register_buffer`` is about the attribute of that name."""
    first = call.args[0].value if call.args else None
    return isinstance(first, cst.SimpleString) and first.raw_value == name
