"""What else a name may be: where a tensor comes from that is followed through assignments and loops backwards."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import libcst as cst

from torchlint.model import trainable
from torchlint.model.aliasing import given_back
from torchlint.model.aliasing.calls import PASSING_ON
from torchlint.model.aliasing.how import How
from torchlint.model.aliasing.made import returns_new
from torchlint.model.aliasing.related import attributes_called, homes_writing
from torchlint.model.aliasing.uses import Follower
from torchlint.model.bindings import all_called, references
from torchlint.model.expressions import qualified, value_of
from torchlint.model.interpret.loaders import is_part_of_batch
from torchlint.model.overriding import has_many_heirs
from torchlint.model.possibilities import Kind, Role
from torchlint.model.syntax import is_target, parameters
from torchlint.model.torch import library
from torchlint.model.torch.schema import may_alias
from torchlint.model.values import Usage, Value

if TYPE_CHECKING:
    from torchlint.model.context import Context


_MAX_STEPS = 4
"""How many assignments and calls are gone back."""
_OWN = frozenset(("self", "cls"))
_WITHOUT_DATA = How(through_data=False)


class Origins:
    """Finds the other names of what a name is bound to: ``w`` for ``t`` of ``t = w`` and of ``for t in [w]``."""

    def __init__(self, context: Context, how: How = _WITHOUT_DATA) -> None:
        self.context = context
        self.tree = context.tree
        self.how = how
        self.seen: set[tuple[int, str, Usage]] = set()

    def is_written(self, node: cst.CSTNode, least: Usage = Usage.RETURNED, steps: int = 0) -> bool:
        """Whether what an expression holds may be written in place: of the same memory and of what it comes from."""
        match node:
            case cst.Name(value=name):
                return self.is_name_written(name, self.context.scopes.scope_of(node), least, steps)
            case cst.Attribute(attr=cst.Name(value=name)):
                return self.is_attribute_written(name, least) or _is_written_elsewhere(self.context, node)
        if not isinstance(node, cst.BaseExpression) or steps >= _MAX_STEPS:
            return False
        if _is_given_back_written(self.context, node):
            return True
        return any(self.is_written(held, max(least, of), steps + 1) for held, of in self._held(node))

    def is_attribute_written(self, name: str, least: Usage = Usage.RETURNED) -> bool:
        """The same of what any attribute of that name holds."""
        return any(Follower(self.context, self.how).of_use(use) >= least for use in all_called(self.context, name))

    def is_name_written(
        self, name: str, scope: cst.FunctionDef | cst.Module, least: Usage = Usage.RETURNED, steps: int = 0
    ) -> bool:
        """The same of what a name holds."""
        if isinstance(scope, cst.FunctionDef) and name not in self.context.scopes.locals_of(scope):
            scope = self.tree.module
        if (id(scope), name, least) in self.seen:
            return False
        self.seen.add((id(scope), name, least))
        if Follower(self.context, self.how).name(name, scope) >= least:
            return True
        if self._is_taken_from_written(name, scope):
            return True
        if steps >= _MAX_STEPS:
            return False
        if any(self.is_written(held, max(least, of), steps + 1) for held, of in self._of(name, scope)):
            return True
        return isinstance(scope, cst.FunctionDef) and self._is_given_written(scope, name, steps)

    def _is_given_written(self, function: cst.FunctionDef, name: str, steps: int) -> bool:
        """Whether a caller in this file gives a parameter what is written in place."""
        if name not in {p.name.value for p in parameters(function)}:
            return False
        calls = [self.tree.parent(use) for use in all_called(self.context, function.name.value)]
        args = [arg for call in calls if isinstance(call, cst.Call) for arg in call.args]
        given = [node for arg in args for node in (arg.value, *self.tree.within(arg.value, cst.Name))]
        return any(self.is_written(value, Usage.OVERWRITTEN, steps + 1) for value in given)

    def _is_taken_from_written(self, name: str, scope: cst.FunctionDef | cst.Module) -> bool:
        """Whether a class of another file gives what a name is bound to, and writes to it in place."""
        for node in references(self.context, name, scope):
            for function in given_back.functions_binding(self.context, node):
                if given_back.gives_written(self.context, function, _is_overwritten):
                    return True
        return False

    def _of(self, name: str, scope: cst.FunctionDef | cst.Module) -> Iterator[tuple[cst.BaseExpression, Usage]]:
        """Expressions that may be the same tensor, or hold it, and the use from which on it may be written."""
        for node in references(self.context, name, scope):
            if is_target(self.tree, node) and not is_part_of_batch(value_of(self.context, node)):
                for value in bound_to_target(self.context, node):
                    yield from self._held(value)

    def _held(self, value: cst.BaseExpression) -> Iterator[tuple[cst.BaseExpression, Usage]]:
        match value:
            case cst.Attribute(attr=cst.Name("data")):
                return  # it has a version counter of its own
            case cst.Name() | cst.Attribute():
                yield value, Usage.RETURNED
            case cst.Tuple(elements=elements) | cst.List(elements=elements):
                for element in elements:
                    yield from self._held(element.value)
            case cst.IfExp(body=one, orelse=other) | cst.BooleanOperation(left=one, right=other):
                yield from self._held(one)
                yield from self._held(other)
            case cst.Subscript(value=whole):
                yield from self._held(whole)
                if _is_given_back_written(self.context, value):
                    yield value, Usage.RETURNED
            case cst.NamedExpr(value=inner):
                yield from self._held(inner)
            case cst.Call(func=func, args=args):
                yield from self._returned(func, args)
                if _is_given_back_written(self.context, value):
                    yield value, Usage.RETURNED

    def _returned(
        self, func: cst.BaseExpression, args: Sequence[cst.Arg]
    ) -> Iterator[tuple[cst.BaseExpression, Usage]]:
        """What a call may give back: of what is known what it was given, of all else perhaps that."""
        ref = qualified(self.context, func)
        function = value_of(self.context, func)
        if _is_seen(func) and isinstance(function.node, cst.FunctionDef) and returns_new(self.context, function.node):
            return
        given = [held for arg in args for held in self._held(arg.value)]
        if isinstance(func, cst.Name) and func.value in PASSING_ON:
            yield from given
            return
        if (result := library.function(ref)) is not None and not may_alias(result):
            return
        if isinstance(func, cst.Attribute) and ref is None and not self._is_module(func, function):
            receiver = value_of(self.context, func.value)
            result = library.method(func.attr.value)
            if may_alias(result) or not receiver.is_tensor:
                yield from self._held(func.value)
            if receiver.is_tensor:
                return
        if not function.kind & Kind.MODULE:
            yield from ((held, Usage.OVERWRITTEN) for held, _ in given)

    def _is_module(self, func: cst.Attribute, function: Value) -> bool:
        """Whether what is called is a module whose class is not seen, and no method of its owner: ``self.net(x)``."""
        is_known = function.kind == Kind.MODULE and function.node is None
        return is_known or (function.kind == Kind.UNKNOWN and bool(trainable.of_use(self.context, func)))


def _is_seen(func: cst.BaseExpression) -> bool:
    """Whether what is called is what is found: of its own object a method may call that of a subclass."""
    return not (isinstance(func, cst.Attribute) and isinstance(func.value, cst.Name) and func.value.value in _OWN)


def bound_to_target(context: Context, target: cst.CSTNode) -> Iterator[cst.BaseExpression]:
    """What is assigned to a target, or looped over with it."""
    parent = context.tree.parent(target)
    match parent:
        case cst.Element() | cst.StarredElement():
            sequence = context.tree.parent(parent)
            if not isinstance(sequence, (cst.Tuple, cst.List)):
                return
            index = next(i for i, element in enumerate(sequence.elements) if element is parent)
            for value in bound_to_target(context, sequence):
                is_unpacked = isinstance(value, cst.Tuple) and len(value.elements) == len(sequence.elements)
                yield value.elements[index].value if is_unpacked and isinstance(value, cst.Tuple) else value
        case cst.AssignTarget():
            assign = context.tree.parent(parent)
            if isinstance(assign, cst.Assign):
                yield assign.value
                yield from (other.target for other in assign.targets if other is not parent)  # `a = b = x`
        case cst.AnnAssign() | cst.NamedExpr() if parent.value is not None:
            yield parent.value
        case cst.For() | cst.CompFor():
            yield parent.iter


def is_written(context: Context, node: cst.CSTNode) -> bool:
    """Whether what an expression holds may be written in place where a version counter counts it."""
    if context.remember(_loads) and value_of(context, node).is_parameter:
        return True
    match node:
        case cst.Name(value=name):
            return context.remember(_is_name_written, name, context.scopes.scope_of(node))
        case cst.Attribute(attr=cst.Name(value=name)):
            return context.remember(_is_attribute_written, name) or _is_written_elsewhere(context, node)
    return Origins(context).is_written(node)


def _is_written_elsewhere(context: Context, node: cst.Attribute) -> bool:
    """Whether the class of an object, in another file, writes in place to an attribute that is no parameter.

    What an optimizer or another file does to parameters and gradients is not asked: that goes for whatever is trained.
    """
    if value_of(context, node).role & (Role.PARAMETER | Role.GRADIENT):
        return False
    if given_back.is_global_written(context, node, _is_overwritten):
        return True
    cls = value_of(context, node.value).node
    if not isinstance(cls, cst.ClassDef):
        return False
    if has_many_heirs(context.home(cls), cls) or _is_given_back_written(context, node):
        return True
    name = node.attr.value
    return any(home.remember(_is_attribute_overwritten, name) for home in homes_writing(context, cls, name))


def _is_given_back_written(context: Context, node: cst.BaseExpression) -> bool:
    """Whether a function of another file is called that writes to what it has given back."""
    called = given_back.functions(context, node)
    return any(given_back.gives_written(context, function, _is_overwritten) for function in called)


def _is_overwritten(context: Context, node: cst.BaseExpression) -> bool:
    """Whether what an expression holds is written in place in its file."""
    return Origins(context).is_written(node, Usage.OVERWRITTEN)


def _is_attribute_overwritten(context: Context, name: str) -> bool:
    """Whether what an attribute holds is written in place where it stands in a file."""
    uses = attributes_called(context, name)
    return any(Follower(context, _WITHOUT_DATA).of_use(use) >= Usage.OVERWRITTEN for use in uses)


def _loads(context: Context) -> bool:
    """Whether the file loads parameters into modules, which writes to those that are there."""
    return bool(context.tree.attributes("load_state_dict"))


def _is_name_written(context: Context, name: str, scope: cst.FunctionDef | cst.Module) -> bool:
    return Origins(context).is_name_written(name, scope)


def _is_attribute_written(context: Context, name: str) -> bool:
    return Origins(context).is_attribute_written(name)
