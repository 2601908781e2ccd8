"""What becomes of a value: is it only read, is it written in place, does it leave the function, does it reach backward.

Syntax is followed upwards from the expression as long as the memory stays the same (``view``, ``cpu``, a name, a list),
and from a name to all its uses in the scope.
"""

from __future__ import annotations

import enum
from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING

import libcst as cst

from torchlint.model import torch_api
from torchlint.model.scopes import parameters
from torchlint.model.values import Kind
from torchlint.stack import deeper

if TYPE_CHECKING:
    from torchlint.model import Model

_METADATA = frozenset(
    [
        "shape",
        "dtype",
        "device",
        "ndim",
        "is_cuda",
        "layout",
        "itemsize",
        "nbytes",
        "size",
        "dim",
        "ndimension",
        "numel",
        "nelement",
        "get_device",
        "is_contiguous",
        "stride",
        "element_size",
        "is_floating_point",
        "is_complex",
        "storage_offset",
        "data_ptr",
        "is_sparse",
        "names",
        "__len__",
    ]
)
"""What a tensor says of itself without reading its elements."""

_LIKE_METHODS = frozenset(["expand_as", "view_as", "type_as", "reshape_as", "resize_as", "resize_as_", "is_same_size"])

_METADATA_FUNCTIONS = frozenset(("builtins.len", "torch.is_floating_point", "torch.is_complex", "torch.numel"))

_PASSING_MODULES = frozenset(
    f"torch.nn.{name}" for name in ("Identity", "Flatten", "Unflatten", "Dropout", "Sequential", "DataParallel")
)
"""Modules that can return what they are given."""

_KEEPING = frozenset(("requires_grad_", "share_memory_"))
_OPERATORS = ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "and", "or", "xor", "lshift", "rshift")
_WRITING = frozenset(("__setitem__", *(f"__i{name}__" for name in _OPERATORS)))
"""Methods that write to their tensor, and are not called so."""

_PUTTING_IN = frozenset(("append", "appendleft", "extend", "insert", "add"))

_TAKING_OUT = frozenset(("pop", "popleft", "popitem", "get", "setdefault", "values", "items", "copy", "__getitem__"))
"""Methods of containers that give back what is in them."""

_PASSING_ON = frozenset(
    ("list", "tuple", "zip", "enumerate", "reversed", "iter", "next", "sorted", "filter", "map", "dict")
)
"""Builtins whose result holds what they are given."""


class Usage(enum.IntEnum):
    """The worst that happens to a value."""

    METADATA = 0
    READ = 1
    ESCAPES = 2
    """It leaves to code that is not seen here: returned, stored in an object, given to an unknown function."""
    WRITTEN = 3


class Follower:
    """Follows one value; a helper of :meth:`torchlint.model.Model.usage`."""

    def __init__(self, model: Model, through_names: bool = True, through_data: bool = True) -> None:
        self.through_names = through_names
        self.through_data = through_data
        self.model = model
        self.tree = model.tree
        self.seen: set[tuple[int, str]] = set()

    def usage(self, node: cst.CSTNode) -> Usage:
        """The worst use of the memory that ``node`` evaluates to."""
        parent = self.tree.parent(node)
        match parent:
            case cst.Attribute():
                return self._attribute(parent)
            case cst.Subscript() if parent.value is node:
                return Usage.WRITTEN if self.is_target(parent) else self.usage(parent)
            case cst.Arg():
                call = self.tree.parent(parent)
                return self._argument(parent, call) if isinstance(call, cst.Call) else Usage.READ
            case cst.IfExp() if parent.test is not node:
                return self.usage(parent)
            case cst.BooleanOperation():
                return self.usage(parent)
            case cst.BinaryOperation() if self.model.value(node).kind == Kind.CONTAINER:
                return self.usage(parent)  # `[x] * 2`, `xs + [x]`
            case cst.AugAssign() if parent.target is node:
                return Usage.WRITTEN
            case cst.Assign() | cst.AnnAssign() | cst.NamedExpr() if parent.value is node:
                return self._assigned(parent)
            case cst.For() | cst.CompFor() if parent.iter is node:
                return self._bound(parent.target)
            case cst.Return():
                return max(Usage.ESCAPES, self._returned(parent))
            case cst.Param():  # a default: whoever calls the function may get it
                function = self.tree.enclosing(parent, cst.FunctionDef, cst.Lambda)
                if not isinstance(function, cst.FunctionDef) or not self.through_names:
                    return Usage.ESCAPES
                return max(Usage.ESCAPES, self.name(parent.name.value, function))
            case cst.Yield() | cst.Lambda() | cst.From() | cst.Await():
                return Usage.ESCAPES
            case cst.Element() | cst.DictElement() | cst.StarredElement():
                return self._element(parent, node)
            case cst.ListComp() | cst.SetComp() | cst.GeneratorExp() | cst.DictComp():
                return self.usage(parent)
        return Usage.READ

    def _attribute(self, node: cst.Attribute) -> Usage:
        name = node.attr.value
        call = self.tree.parent(node)
        if isinstance(call, cst.Call) and call.func is node:
            return self._method(name, node, call)
        if name in _METADATA or (name == "data" and not self.through_data):
            return Usage.METADATA
        if name == "_version":  # the one number in which `.data` and `.detach()` differ
            return Usage.ESCAPES
        if self.is_target(node):
            return Usage.WRITTEN if name in ("data", "T", "real", "imag") else Usage.READ
        return self.usage(node) if name in ("data", "T", "mT", "H", "mH", "real", "imag") else Usage.READ

    def _method(self, name: str, node: cst.Attribute, call: cst.Call) -> Usage:
        if name in _METADATA or (name == "type" and not call.args) or name.startswith("new"):
            return Usage.METADATA
        if name in _TAKING_OUT and self.model.value(node.value).kind == Kind.CONTAINER:
            return max(Usage.READ, self.usage(call))
        result = torch_api.data()["methods"].get(name)
        if name in _WRITING or (name.endswith("_") and not name.endswith("__") and name not in _KEEPING):
            return Usage.WRITTEN
        # what NumPy writes no version counter counts: `.data` and `.detach()` are the same from here on
        return self.usage(call) if name != "numpy" and _may_alias(result) else Usage.READ

    def is_target(self, node: cst.CSTNode) -> bool:
        """Whether ``node`` is assigned to, deleted or bound by a loop."""
        parent = self.tree.parent(node)
        match parent:
            case cst.AssignTarget() | cst.Del():
                return True
            case cst.AugAssign() | cst.AnnAssign() | cst.For() | cst.CompFor() | cst.NamedExpr():
                return parent.target is node
            case cst.AsName():
                return True
            case cst.Element() | cst.StarredElement():
                sequence = self.tree.parent(parent)
                return isinstance(sequence, (cst.Tuple, cst.List)) and self.is_target(sequence)
            case cst.Subscript() if parent.value is node:
                return self.is_target(parent)
        return False

    def _argument(self, arg: cst.Arg, call: cst.Call) -> Usage:
        if arg.keyword is not None and arg.keyword.value == "out":
            return Usage.WRITTEN
        if isinstance(call.func, cst.Attribute):
            name = call.func.attr.value
            receiver = self.model.value(call.func.value)
            if receiver.kind & Kind.TENSOR:
                return Usage.METADATA if name in _LIKE_METHODS else Usage.READ
            if receiver.kind == Kind.CONTAINER and name in _PUTTING_IN:
                return self._kept_in(call.func.value)
            if name in _LIKE_METHODS:
                return Usage.METADATA
        function = self.model.value(call.func)
        ref = self.model.reference(function)
        if ref is not None:
            return self._given_to(ref, arg, call)
        if function.kind == Kind.REFERENCE and function.receiver is not None and "Tensor." in (function.ref or ""):
            return Usage.READ
        if function.kind & Kind.MODULE:
            return max(Usage.READ, self.usage(call)) if function.ref in _PASSING_MODULES else Usage.READ
        if isinstance(function.node, cst.FunctionDef):
            return self._parameter(function.node, arg, call)
        if isinstance(function.node, cst.Lambda) and self.model.home(function.node) is self.model:
            return max(Usage.ESCAPES, self._mapped(function.node))
        if isinstance(function.node, cst.ClassDef) and function.kind & Kind.FUNCTION:
            made = self.model.home(function.node).scopes.info(function.node).methods.get("__init__")
            return max(Usage.ESCAPES, self._parameter(made, arg, call)) if made is not None else Usage.ESCAPES
        return Usage.ESCAPES

    def _returned(self, node: cst.Return) -> Usage:
        """What the callers in this file do with what a function returns."""
        function = self.model.scopes.scope_of(node)
        if not isinstance(function, cst.FunctionDef) or not self.through_names:
            return Usage.ESCAPES
        return self._through(function.name.value, "return", Usage.ESCAPES)

    def _through(self, name: str, how: str, least: Usage) -> Usage:
        """The worst use of what is called ``name``, or is an attribute of that name, anywhere in this file."""
        if (id(self.tree.module), f"{how} {name}") in self.seen:
            return least
        self.seen.add((id(self.tree.module), f"{how} {name}"))
        for node in self.model.all_called(name):
            at: cst.CSTNode | None = self.tree.parent(node) if how == "return" else node
            is_use = isinstance(at, cst.Call) and at.func is node if how == "return" else not self.is_target(node)
            if at is not None and is_use and deeper(partial(self.usage, at)) is Usage.WRITTEN:
                return Usage.WRITTEN
        return least

    def _kept_in(self, container: cst.BaseExpression) -> Usage:
        """The worst that happens to what is in a container."""
        if isinstance(container, cst.Attribute) and self.through_names:
            return self._through(container.attr.value, "attribute", Usage.ESCAPES)
        if not isinstance(container, cst.Name) or not self.through_names:
            return Usage.ESCAPES
        scope = self.model.scopes.scope_of(container)
        given = isinstance(scope, cst.FunctionDef) and container.value in {p.name.value for p in parameters(scope)}
        if given or not self._is_own(container.value, scope):
            return Usage.ESCAPES
        return max(Usage.READ, self.name(container.value, scope))

    def _is_own(self, name: str, scope: cst.FunctionDef | cst.Module) -> bool:
        """Whether a name is bound in a scope and not in one around it."""
        if isinstance(scope, cst.Module):
            return True
        outer: list[cst.Global | cst.Nonlocal] = [
            *self.tree.within(scope, cst.Global),
            *self.tree.within(scope, cst.Nonlocal),
        ]
        if any(item.name.value == name for declaration in outer for item in declaration.names):
            return False
        return name in self.model.scopes.locals_of(scope)

    def _given_to(self, ref: str, arg: cst.Arg, call: cst.Call) -> Usage:
        last = ref.rpartition(".")[2]
        if ref == "torch.autograd.Variable":  # a wrapped tensor is a tensor that others only read
            return Usage.WRITTEN if self.usage(call) is Usage.WRITTEN else Usage.READ
        if ref in _METADATA_FUNCTIONS or (ref.startswith("torch.") and last.endswith("_like")):
            return Usage.METADATA
        if ref in ("builtins.map", "builtins.filter") and call.args[0] is not arg:
            return max(Usage.READ, self._mapped(call.args[0].value), self.usage(call))
        if ref.startswith("builtins.") and last in _PASSING_ON:
            return max(Usage.READ, self.usage(call))
        if ref == "builtins.setattr":
            return Usage.ESCAPES
        if ref.startswith(("builtins.", "numpy.", "math.")):
            return Usage.READ
        if ref == "copy.deepcopy":
            return Usage.READ
        if not ref.startswith("torch."):
            return Usage.ESCAPES
        if last.endswith("_") and not last.startswith("_"):
            return Usage.WRITTEN if call.args[0] is arg else Usage.READ
        if _writes_to(arg, call, ref):
            return Usage.WRITTEN
        if torch_api.class_kind(ref) == "optimizer":  # its steps write
            return Usage.WRITTEN
        result = torch_api.data()["functions"].get(ref)
        if result is None and torch_api.class_kind(ref) == "parameter":  # a parameter of the same memory
            return max(Usage.READ, self.usage(call))
        if result is None:
            return Usage.ESCAPES if torch_api.class_kind(ref) is None else Usage.READ
        return self.usage(call) if _may_alias(result) and call.args[0] is arg else Usage.READ

    def _mapped(self, function: cst.BaseExpression) -> Usage:
        """What a function that is mapped over something does to its argument."""
        if isinstance(function, cst.Lambda) and len(function.params.params) == 1:
            return self.name(function.params.params[0].name.value, self.model.scopes.scope_of(function))
        return Usage.ESCAPES

    def _parameter(self, function: cst.FunctionDef, arg: cst.Arg, call: cst.Call) -> Usage:
        """The use of the parameter that an argument is bound to."""
        params = [p for p in parameters(function) if p.star not in ("*", "**")]
        if self.model.class_of(function) is not None:
            params = params[1:]
        if arg.star:
            return Usage.ESCAPES
        if arg.keyword is not None:
            param = next((p for p in params if p.name.value == arg.keyword.value), None)
        else:
            index = [a for a in call.args if a.keyword is None].index(arg)
            param = params[index] if index < len(params) else None
        if param is None:
            return Usage.ESCAPES
        home = self.model.home(function)
        follower = self if home is self.model else Follower(home, through_data=self.through_data)
        return follower.name(param.name.value, function)

    def _element(self, element: cst.CSTNode, node: cst.CSTNode) -> Usage:
        sequence = self.tree.parent(element)
        if sequence is None:
            return Usage.ESCAPES
        assign = self.tree.parent(sequence)
        if isinstance(assign, cst.Assign) and isinstance(sequence, cst.Tuple) and assign.value is sequence:
            index = next(i for i, e in enumerate(sequence.elements) if e is element)
            return max(self._unpacked(t.target, index, len(sequence.elements)) for t in assign.targets)
        return self.usage(sequence)

    def _unpacked(self, target: cst.CSTNode, index: int, length: int) -> Usage:
        if isinstance(target, (cst.Tuple, cst.List)) and len(target.elements) == length:
            return self._target(target.elements[index].value)
        return self._target(target)

    def _assigned(self, node: cst.Assign | cst.AnnAssign | cst.NamedExpr) -> Usage:
        if isinstance(node, cst.Assign):
            return max(self._target(target.target) for target in node.targets)
        usage = self._target(node.target)
        return max(usage, self.usage(node)) if isinstance(node, cst.NamedExpr) else usage

    def _bound(self, target: cst.CSTNode) -> Usage:
        """The worst use of what a loop binds."""
        if isinstance(target, (cst.Tuple, cst.List)):
            return max((self._bound(element.value) for element in target.elements), default=Usage.READ)
        return max(Usage.READ, self._target(target))

    def _target(self, target: cst.CSTNode) -> Usage:
        match target:
            case cst.Name(value=name) if self.through_names:
                scope = self.model.scopes.scope_of(target)
                return self.name(name, scope) if self._is_own(name, scope) else Usage.ESCAPES
            case cst.Subscript(value=value):
                return Usage.READ if self.model.value(value).kind == Kind.TENSOR else Usage.ESCAPES
            case cst.Attribute(value=value, attr=cst.Name("data")) if self.model.value(value).kind == Kind.TENSOR:
                return Usage.READ  # the memory is shared from then on, the version counter is not
            case cst.Attribute(attr=cst.Name(value=name)) if self.through_names:
                return self._through(name, "attribute", Usage.ESCAPES)
        return Usage.ESCAPES

    def name(self, name: str, scope: cst.FunctionDef | cst.Module) -> Usage:
        """The worst use of a name in a scope and in the functions inside it."""
        if (id(scope), name) in self.seen:
            return Usage.METADATA
        known, key = self.model.usages, (id(scope), name, self.through_names, self.through_data)
        if key in known:
            return known[key]
        is_whole = not self.seen
        self.seen.add((id(scope), name))
        worst = deeper(lambda: self._worst(name, scope))
        if is_whole:
            known[key] = worst
        return worst

    def _worst(self, name: str, scope: cst.FunctionDef | cst.Module) -> Usage:
        worst = Usage.METADATA
        for node in self.model.references(name, scope):
            parent = self.tree.parent(node)
            if isinstance(parent, cst.AugAssign) and parent.target is node:
                worst = max(worst, Usage.WRITTEN)
            elif not self._rebound(node):
                worst = max(worst, self.usage(node))
            if worst == Usage.WRITTEN:
                break
        return worst

    def _rebound(self, node: cst.Name) -> bool:
        """Whether the name itself is bound here, not something inside what it names."""
        parent = self.tree.parent(node)
        return self.is_target(node) and not (isinstance(parent, cst.Subscript) and parent.value is node)


class Sources:
    """Finds the other names of what a name is bound to: ``w`` for ``t`` of ``t = w`` and of ``for t in [w]``."""

    def __init__(self, model: Model) -> None:
        self.model = model
        self.tree = model.tree

    def of(self, name: str, scope: cst.FunctionDef | cst.Module) -> Iterator[cst.BaseExpression]:
        """Names and attributes that may be the same tensor, or hold it."""
        for node in self.model.references(name, scope):
            if self.model.is_target(node):
                for value in self._bound_to(node):
                    yield from self._held(value)

    def _bound_to(self, target: cst.CSTNode) -> Iterator[cst.BaseExpression]:
        """What is assigned to a target, or looped over with it."""
        parent = self.tree.parent(target)
        match parent:
            case cst.Element() | cst.StarredElement():
                sequence = self.tree.parent(parent)
                if not isinstance(sequence, (cst.Tuple, cst.List)):
                    return
                index = next(i for i, element in enumerate(sequence.elements) if element is parent)
                for value in self._bound_to(sequence):
                    is_unpacked = isinstance(value, cst.Tuple) and len(value.elements) == len(sequence.elements)
                    yield value.elements[index].value if is_unpacked and isinstance(value, cst.Tuple) else value
            case cst.AssignTarget():
                assign = self.tree.parent(parent)
                if isinstance(assign, cst.Assign):
                    yield assign.value
            case cst.AnnAssign() | cst.NamedExpr() if parent.value is not None:
                yield parent.value
            case cst.For() | cst.CompFor():
                yield parent.iter

    def _held(self, value: cst.BaseExpression) -> Iterator[cst.BaseExpression]:
        match value:
            case cst.Attribute(attr=cst.Name("data")):
                return  # it has a version counter of its own
            case cst.Name() | cst.Attribute():
                yield value
            case cst.Tuple(elements=elements) | cst.List(elements=elements):
                for element in elements:
                    yield from self._held(element.value)
            case cst.IfExp(body=one, orelse=other) | cst.BooleanOperation(left=one, right=other):
                yield from self._held(one)
                yield from self._held(other)
            case cst.Subscript(value=whole) if self.model.value(whole).is_tensor:
                yield from self._held(whole)
            case cst.Call(func=cst.Name(value=name), args=args) if name in _PASSING_ON:
                for arg in args:
                    yield from self._held(arg.value)
            case cst.Call(func=cst.Attribute(value=whole, attr=cst.Name(value=name))):
                if _may_alias(torch_api.data()["methods"].get(name)):
                    yield from self._held(whole)


def _writes_to(arg: cst.Arg, call: cst.Call, ref: str) -> bool:
    """Whether a function of torch writes to an argument: ``inplace=True``, ``max_norm``, running statistics."""
    if ref in ("torch.nn.functional.embedding", "torch.embedding"):
        return len(call.args) > 3 or any(a.keyword is not None and a.keyword.value == "max_norm" for a in call.args)
    if ref in ("torch.nn.functional.batch_norm", "torch.nn.functional.instance_norm"):
        return call.args[0] is not arg
    return ref.startswith(("torch.nn.functional.", "torch.")) and any(
        isinstance(a.value, cst.Name)
        and a.value.value == "True"
        and (a.keyword is None or a.keyword.value == "inplace")
        and call.args[0] is arg
        for a in call.args[1:]
    )


def _may_alias(result: object) -> bool:
    """Whether a function of torch can return memory of its input."""
    match result:
        case {"alias": True} | {"self": True}:
            return True
        case {"k": "tuple_of" | "list_of", "item": item}:
            return _may_alias(item)
        case {"k": "overload", "cases": cases}:
            return any(_may_alias(case) for case in cases.values())
    return False
