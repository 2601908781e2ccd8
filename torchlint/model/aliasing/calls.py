"""What a call does to the memory of an argument: functions of torch and of the project, modules, builtins, classes."""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

import libcst as cst

from torchlint.model.aliasing import writes
from torchlint.model.aliasing.reading import is_reading, is_reading_method
from torchlint.model.bindings import all_called
from torchlint.model.classes import class_of, find_method
from torchlint.model.expressions import value_of
from torchlint.model.interpret import module_containers
from torchlint.model.lineage import lineage_of
from torchlint.model.modes import grad_enabled
from torchlint.model.possibilities import Kind, Tri
from torchlint.model.syntax import decorator_names, is_stub, parameters
from torchlint.model.torch import library, writers
from torchlint.model.torch.schema import SeveralResults, TensorResult, TorchResult, TupleResult, may_alias
from torchlint.model.values import Usage, Value

if TYPE_CHECKING:
    from torchlint.model.aliasing.uses import Follower
    from torchlint.model.context import Context

LIKE_METHODS = frozenset(["expand_as", "view_as", "type_as", "reshape_as", "resize_as", "resize_as_", "is_same_size"])
_METADATA_FUNCTIONS = frozenset(
    ("builtins.len", "torch.is_floating_point", "torch.is_complex", "torch.numel", "torch.is_tensor", "torch.typename")
)
JOINING = frozenset(
    ("cat", "concat", "concatenate", "stack", "hstack", "vstack", "dstack", "column_stack", "row_stack")
)
"""Functions of torch that copy all that they are given into one tensor, for which autograd keeps sizes alone."""
_PUTTING_IN = frozenset(
    ("append", "appendleft", "extend", "insert", "add", "update", "setdefault", "__setitem__", "__iadd__")
)
PASSING_ON = frozenset(
    (
        *("list", "tuple", "set", "frozenset", "dict", "zip", "enumerate", "reversed", "iter", "next", "sorted"),
        *("min", "max"),
    )
)
"""Builtins whose result holds, or is, what they are given."""
_READING = frozenset(
    (
        *("abs", "all", "any", "ascii", "bool", "bytes", "callable", "complex", "divmod", "float", "format", "hasattr"),
        *("hash", "id", "int", "isinstance", "len", "pow", "print", "range", "repr", "round", "str", "sum", "type"),
    )
)
"""Builtins that only read."""
_APPLYING = frozenset(("builtins.map", "builtins.filter", "functools.partial", "functools.reduce"))
"""What calls its first argument with the others."""
_PASSING_MODULES = frozenset(("torch.nn.Dropout", "torch.nn.DataParallel"))
"""Modules that can return what they are given, beyond those of which the data says so."""
_WRAPPING = frozenset(("staticmethod", "classmethod", "property", "no_grad", "enable_grad", "inference_mode", "wraps"))
"""Decorators that give the function what its caller gives."""
_MANY_OVERRIDING = 8
"""From more methods than these that override one, nothing is learnt of what it does."""
_HOOKS = re.compile(r"register_(?:module_)?(?:full_)?forward_(?:pre_)?hook")


@dataclass(frozen=True)
class Entered:
    """A function that something was followed into, and who followed it."""

    function: cst.FunctionDef
    follower: Follower


def _is_moved(receiver: Value, method: Value) -> bool:
    """Whether ``x.to(y)`` asks ``y`` for its dtype and device, and does nothing else with it."""
    return receiver.is_tensor or (receiver.kind == Kind.MODULE and method.ref == "torch.nn.Module.to")


def given(follower: Follower, arg: cst.Arg, call: cst.Call) -> Usage:
    """The worst that happens to an argument, in the call and to what it returns."""
    if arg.keyword is not None and arg.keyword.value == "out":
        return Usage.WRITTEN
    context = follower.context
    if isinstance(call.func, cst.Attribute):
        name = call.func.attr.value
        receiver = value_of(context, call.func.value)
        if name in LIKE_METHODS or (name == "to" and _is_moved(receiver, value_of(context, call.func))):
            return Usage.METADATA
        if receiver.kind & Kind.TENSOR:
            if gives_no_graph(library.method(name)):
                return Usage.READ
            if name == "set_":
                return Usage.ESCAPES
            return max(_computed_with(receiver, context, call), _beside(arg, call, context))
        if receiver.kind == Kind.CONTAINER and name in _PUTTING_IN:
            return follower.kept_in(call.func.value)
    function = value_of(context, call.func)
    if function.kind == Kind.REFERENCE and function.receiver is not None and "Tensor." in (function.ref or ""):
        return Usage.SAVED
    if function.kind & Kind.REFERENCE and function.ref is not None and function.receiver is None:
        return _of_reference(follower, function, arg, call)
    if function.kind & Kind.MODULE:
        return module(follower, function, arg, call)
    if isinstance(function.node, cst.FunctionDef):
        return parameter(follower, function.node, arg, call)
    if isinstance(function.node, cst.Lambda) and context.home(function.node) is context:
        return max(Usage.ESCAPES, _applied(follower, function.node), follower.usage(call))
    if isinstance(function.node, cst.ClassDef):
        is_made = bool(function.kind & Kind.FUNCTION)
        method = find_method(context, function.node, "__init__" if is_made else "__call__")
        return max(Usage.ESCAPES, parameter(follower, method, arg, call)) if method is not None else Usage.ESCAPES
    return _unseen(follower, arg, call)


def gives_no_graph(result: TorchResult | None) -> bool:
    """Whether what a function or method makes is never differentiated, so that autograd keeps nothing for it."""
    return isinstance(result, TensorResult) and result.grad == "never" and not may_alias(result)


def follows_first(result: TorchResult | None) -> bool:
    """Whether what a method makes has a graph by its tensor alone: no argument of it is differentiated."""
    match result:
        case TensorResult():
            return result.grad in ("first", "never")
        case TupleResult():
            return all(map(follows_first, result.items))
        case SeveralResults():
            return follows_first(result.item)
    return False


def _computed_with(other: Value, context: Context, node: cst.CSTNode) -> Usage:
    """Whether autograd may keep what is computed with something else."""
    is_recorded = other.grad & Tri.YES if other.kind & Kind.TENSOR else other.kind & Kind.UNKNOWN
    return Usage.SAVED if is_recorded and grad_enabled(context, node) != Tri.NO else Usage.READ


def _unseen(follower: Follower, arg: cst.Arg, call: cst.Call) -> Usage:
    """What may happen in code that is not there: another argument is called with it, or it comes back."""
    if isinstance(call.func, cst.Attribute) and is_reading_method(call.func.attr.value) and not arg.star:
        return Usage.READ
    functions = follower.context.remember(_functions_given, call)
    called = [_applied(follower, function) for function in functions if function is not arg.value]
    kept = follower.kept_in(call.func.value) if isinstance(call.func, cst.Attribute) else Usage.READ
    return max(Usage.ESCAPES, follower.usage(call), kept, *called)


def _of_reference(follower: Follower, function: Value, arg: cst.Arg, call: cst.Call) -> Usage:
    ref = function.ref or ""
    root = ref.partition(".")[0]
    last = ref.rpartition(".")[2]
    if ref in _METADATA_FUNCTIONS or (root == "torch" and last.endswith("_like")):
        return Usage.METADATA
    if ref == "builtins.isinstance" and _asks_for_tensor(follower.context, call):
        return Usage.METADATA
    if ref in _APPLYING and call.args[0] is not arg:
        return max(Usage.READ, _applied(follower, call.args[0].value), follower.usage(call))
    if ref == "builtins.getattr":
        return _named_attribute(follower, call)
    if ref == "builtins.setattr" and call.args[0] is arg and _is_told(follower, call):
        return Usage.WRITTEN
    if root == "builtins" and (last in PASSING_ON or last in _READING):
        is_passed_on = last in PASSING_ON or (last == "sum" and _joins_lists(follower.context, call))
        return max(Usage.READ, follower.usage(call)) if is_passed_on else Usage.READ
    if root in ("numpy", "math") or ref == "copy.deepcopy":
        return Usage.READ  # what NumPy writes no version counter counts
    if root == "operator" and (writers.is_writing(f"__{last}__") or last == "setitem") and call.args[0] is arg:
        return Usage.WRITTEN
    if is_reading(ref):
        return max(Usage.READ, follower.usage(call)) if last == "make_grid" else Usage.READ
    if root != "torch":
        return _unseen(follower, arg, call)
    if writers.function_writes(ref, arg, call, function.bound or ()):
        written = writes.by_function(follower.context, ref, arg, call)
        return written if written is Usage.WRITTEN else max(written, follower.usage(call))
    return _of_torch(follower, ref, arg, call)


def _joins_lists(context: Context, call: cst.Call) -> bool:
    """Whether a ``sum`` begins with a list: ``sum(lists, [])``."""
    return len(call.args) > 1 and value_of(context, call.args[1].value).kind == Kind.CONTAINER


def _asks_for_tensor(context: Context, call: cst.Call) -> bool:
    """Whether ``isinstance`` asks for classes of torch that a parameter and its `.data` are both instances of."""
    asked = call.args[-1].value
    classes = [element.value for element in asked.elements] if isinstance(asked, cst.Tuple) else [asked]
    refs = [value_of(context, each).ref or "" for each in classes]
    return all(ref.startswith("torch.") and ref.endswith("Tensor") for ref in refs)


def _of_torch(follower: Follower, ref: str, arg: cst.Arg, call: cst.Call) -> Usage:
    """What a function or class of torch does that does not write to its argument."""
    kind = library.class_kind(ref)
    if ref == "torch.autograd.Variable":
        used = follower.usage(call)
        return max(used, Usage.SAVED) if len(call.args) > 1 else used
    if kind == "optimizer":  # its steps write
        return Usage.WRITTEN
    if kind == "module":
        return Usage.WRITTEN if writers.writes_to_itself(ref, call) else Usage.READ
    result = library.function(ref)
    if ref.startswith("torch.Tensor."):
        name = ref.rpartition(".")[2]
        if follower.how.is_told_by(name) and call.args[0] is arg:
            return Usage.WRITTEN
        result = library.method(name)
    if result is None and kind == "parameter":  # a parameter of the same memory, which is optimised
        return max(Usage.SAVED, follower.usage(call))
    if result is None:
        return _unseen(follower, arg, call) if kind is None else Usage.READ
    method = library.method(ref.removeprefix("torch.")) if call.args[0] is arg else None
    if may_alias(method):
        return follower.usage(call)
    is_alone = gives_no_graph(result) or follows_first(method)
    kept = Usage.READ if is_alone else _beside(arg, call, follower.context)
    return max(kept, follower.usage(call)) if may_alias(result) else kept


def _beside(arg: cst.Arg, call: cst.Call, context: Context) -> Usage:
    """Whether autograd may keep an argument of a function or method of torch for what else it is given."""
    if arg.star or value_of(context, arg.value).kind & Kind.CONTAINER:  # what else is in there is computed with it
        is_joined = (value_of(context, call.func).ref or "").removeprefix("torch.") in JOINING
        return Usage.READ if is_joined or grad_enabled(context, call) == Tri.NO else Usage.SAVED
    others = [value_of(context, other.value) for other in call.args if other is not arg]
    return max((_computed_with(other, context, call) for other in others), default=Usage.READ)


def _named_attribute(follower: Follower, call: cst.Call) -> Usage:
    """``getattr(x, "data")``: any name that is not written out may be that of a write."""
    match call.args[1:]:
        case [cst.Arg(value=cst.SimpleString(raw_value=name)), *_] if not writers.is_writing(name):
            told = Usage.WRITTEN if follower.how.is_told_by(name) else Usage.READ
            return max(told, follower.usage(call))
    return Usage.WRITTEN


def _is_told(follower: Follower, call: cst.Call) -> bool:
    """Whether ``setattr(x, "requires_grad", True)``, or one by a computed name, tells what is asked about."""
    match call.args[1:]:
        case [cst.Arg(value=cst.SimpleString(raw_value=name)), *_]:
            return follower.how.of_object or (follower.how.for_graph and name == "requires_grad")
    return follower.how.of_object or follower.how.for_graph


def _functions_given(context: Context, call: cst.Call) -> tuple[cst.BaseExpression, ...]:
    """Those arguments of a call that are functions which are seen, or torch's."""
    return tuple(arg.value for arg in call.args if _is_function(arg.value, context))


def _is_function(node: cst.BaseExpression, context: Context) -> bool:
    if isinstance(node, cst.Lambda):
        return True
    value = value_of(context, node)
    return bool(value.kind & Kind.REFERENCE) or isinstance(value.node, cst.FunctionDef)


def _applied(follower: Follower, function: cst.BaseExpression) -> Usage:
    """What a function that another one is given does to what it is called with."""
    context = follower.context
    if isinstance(function, cst.Lambda):
        names = [param.name.value for param in parameters(function)]
        scope = context.scopes.scope_of(function)
        return max((follower.name(name, scope) for name in names), default=Usage.READ)
    value = value_of(context, function)
    if value.kind & Kind.REFERENCE and (value.ref or "").startswith("torch."):
        last = (value.ref or "").rpartition(".")[2]
        return Usage.WRITTEN if writers.is_writing(last) or value.bound else Usage.ESCAPES
    called, is_object = value.node, isinstance(value.node, cst.ClassDef) and not value.kind & Kind.FUNCTION
    if is_object and isinstance(called, cst.ClassDef):
        called = find_method(context, called, "__call__")
    if isinstance(called, cst.FunctionDef):
        names = [param.name.value for param in parameters(called)][is_object:]
        inside = follower.inside(context.home(called))
        return max((inside.name(name, called) for name in names), default=Usage.READ) if inside else Usage.ESCAPES
    return Usage.ESCAPES if value.kind & ~(Kind.NUMBER | Kind.STRING | Kind.NONE) else Usage.READ


# ---------------------------------------------------------------------- modules


def _registers_hooks(context: Context) -> bool:
    return _HOOKS.search(context.tree.source.text) is not None


def module(follower: Follower, function: Value, arg: cst.Arg, call: cst.Call) -> Usage:
    """What a module does to its input. One of which nothing is known is taken to leave it alone."""
    context = follower.context
    if context.remember(_registers_hooks):
        return Usage.WRITTEN
    if isinstance(function.node, cst.ClassDef):
        forward = find_method(context, function.node, "forward")
        if forward is not None:
            return parameter(follower, forward, arg, call)
    ref = function.ref
    if ref == module_containers.SEQUENTIAL and function.items is not None and not _changes_modules(context):
        return _in_sequence(follower, function.items, arg, call)
    if ref == "torch.nn.DataParallel" and function.item is not None:
        return module(follower, function.item, arg, call)
    is_known = ref is not None and ref != module_containers.SEQUENTIAL and library.module_info(ref)
    if writers.module_writes(function) or (not is_known and _has_inplace_modules(context)) or _changes_modules(context):
        return max(Usage.OVERWRITTEN, follower.usage(call))  # those that are asked to have no parameters
    if _is_passing(function):
        return max(Usage.SAVED, follower.usage(call))
    return Usage.SAVED


def _in_sequence(follower: Follower, modules: tuple[Value, ...], arg: cst.Arg, call: cst.Call) -> Usage:
    """What the first of several modules do, up to one that makes something new."""
    worst = Usage.SAVED
    for each in modules:
        worst = max(worst, module(follower, each, arg, call))
        if worst is Usage.WRITTEN or not _is_passing(each):
            return worst
    return max(worst, follower.returned_by(call))


def _is_passing(value: Value) -> bool:
    """Whether a module may return what it is given."""
    if value.node is not None or value.ref == module_containers.SEQUENTIAL:
        return True
    if writers.module_writes(value):
        return True
    info = library.module_info(value.ref)
    return value.ref in _PASSING_MODULES or (info is not None and may_alias(info.output))


def _has_inplace_modules(context: Context) -> bool:
    """Whether a file makes modules that write to their input, or may."""
    return context.remember(_find_inplace_modules)


def _find_inplace_modules(context: Context) -> bool:
    if "inplace" in context.tree.source.text:
        return True
    for name, position in writers.inplace_modules().items():
        for node in all_called(context, name):
            call = context.tree.parent(node)
            if isinstance(call, cst.Call) and call.func is node and len(call.args) > position:
                return True
    return False


def _changes_modules(context: Context) -> bool:
    """Whether a file changes what its modules were made with: ``m.inplace = True``."""
    return context.remember(_mentions_inplace)


def _mentions_inplace(context: Context) -> bool:
    return ".inplace" in context.tree.source.text


# ---------------------------------------------------------------------- functions of the project


def parameter(follower: Follower, function: cst.FunctionDef, arg: cst.Arg, call: cst.Call) -> Usage:
    """The use of the parameters that an argument may be bound to, also by what overrides a method."""
    home = follower.context.home(function)
    if class_of(home, function) is None:
        return _parameter(follower, function, arg, call)
    if is_stub(function):  # it is there to be overridden, wherever
        return Usage.ESCAPES
    others = home.remember(_overriding).get(id(function), ())
    if len(others) > _MANY_OVERRIDING:
        return Usage.ESCAPES
    return max(_parameter(follower, each, arg, call) for each in (function, *others))


def _overriding(context: Context) -> dict[int, list[cst.FunctionDef]]:
    """For the ``id`` of a method, those of that name in the classes of this file that derive from its class."""
    found = defaultdict[int, list[cst.FunctionDef]](list)
    for cls in context.scopes.all_classes():
        own = context.scopes.info(cls).methods
        for home, base in lineage_of(context, cls).classes() if own and cls.bases else ():
            methods = home.scopes.info(base).methods if base is not cls else {}
            for name in own.keys() & methods.keys():
                found[id(methods[name])].append(own[name])
    return found


def _parameter(follower: Follower, function: cst.FunctionDef, arg: cst.Arg, call: cst.Call) -> Usage:
    home = follower.context.home(function)
    names = bound_to(function, arg, call, home, follower.context)
    if names and follower.has_followed(names, function):
        return Usage.READ  # it calls itself
    if follower.is_far:
        return Usage.ESCAPES
    if not _WRAPPING.issuperset(decorator_names(function)):
        return Usage.WRITTEN
    inside = follower.through_parameters(home, function, tuple(names))
    return max(inside.worst, follower.returned_by(call)) if inside.is_returned else inside.worst


def bound_to(function: cst.FunctionDef, arg: cst.Arg, call: cst.Call, home: Context, caller: Context) -> list[str]:
    """Names of the parameters that an argument may be bound to."""
    params = parameters(function)
    plain = [param for param in params if param.star not in ("*", "**")]
    rest = [param.name.value for param in params if param.star == "*"]
    named = [param.name.value for param in params if param.star == "**"]
    everything = [param.name.value for param in params]
    if arg.star:
        return everything
    if arg.keyword is not None:
        found = [param.name.value for param in plain if param.name.value == arg.keyword.value]
        return found or named
    before = call.args[: call.args.index(arg)]
    if any(other.star for other in before):
        return everything
    if _has_receiver(function, call, home, caller):
        plain = plain[1:]
    index = sum(other.keyword is None for other in before)
    keyword_only = {param.name.value for param in function.params.kwonly_params}
    positional = [param.name.value for param in plain if param.name.value not in keyword_only]
    return [positional[index]] if index < len(positional) else rest


def _has_receiver(function: cst.FunctionDef, call: cst.Call, home: Context, caller: Context) -> bool:
    """Whether the first parameter is an object that the call does not name."""
    if class_of(home, function) is None:
        return False
    decorators = decorator_names(function)
    if "staticmethod" in decorators:
        return False
    if "classmethod" in decorators or not isinstance(call.func, cst.Attribute):
        return True
    owner = value_of(caller, call.func.value)
    return not (owner.kind & Kind.FUNCTION and isinstance(owner.node, cst.ClassDef))
