"""Calls of functions and classes of the standard library."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import libcst as cst

from torchlint.model.annotations import instance_of
from torchlint.model.interpret import iteration, learning, operators
from torchlint.model.interpret.calls import builtin_functions, lambdas
from torchlint.model.interpret.frame import Frame
from torchlint.model.interpreted import seen
from torchlint.model.possibilities import Kind, Ndim
from torchlint.model.symbols import Origin, Symbol
from torchlint.model.values import (
    NONE,
    NUMBER,
    UNKNOWN,
    Argument,
    Value,
    container,
    held,
    join,
    mapping,
    record,
    reference,
)
from torchlint.system.records import replace

_OPERATORS = frozenset(("add", "sub", "mul", "matmul", "truediv", "floordiv", "mod", "pow", "iadd", "imul", "isub"))


def call(frame: Frame, ref: str, node: cst.Call, arguments: Sequence[Argument]) -> Value | None:
    """A call of a function of the standard library; None if nothing is known of what it gives."""
    module, _, name = ref.rpartition(".")
    match module:
        case "math":
            return NUMBER
        case "itertools" if arguments:
            return _call_itertools(frame, name, arguments)
        case "collections":
            return _call_collections(frame, name, node, arguments)
        case "functools" if arguments:
            return _call_functools(frame, name, arguments, node)
        case "typing" | "typing_extensions" if name in ("NewType", "TypeVar"):
            return Value(Kind.FUNCTION, node=node)
        case "importlib" if name == "import_module" and len(arguments) == 1:
            return _imported(arguments[0].node)
        case "operator" if len(arguments) == 2 and name in _OPERATORS:
            return operators.arithmetic(frame, node, arguments[0].value, arguments[1].value)
        case "copy" if arguments and name in ("deepcopy", "copy"):
            return arguments[0].value
        case "itertools.chain" if arguments and name == "from_iterable":
            inner = iteration.iterate(frame, arguments[0].value, arguments[0].node)
            return container(iteration.iterate(frame, inner, arguments[0].node))
        case "contextlib" if name == "nullcontext" and not arguments:
            return Value(Kind.OBJECT, frame.grad, ref=ref)
        case "contextlib" if arguments and name in ("nullcontext", "closing", "aclosing"):
            return arguments[0].value
        case "asyncio" if arguments:
            return _call_asyncio(name, arguments)
        case "random" if arguments and name == "choice":
            return iteration.iterate(frame, arguments[0].value, arguments[0].node)
        case "random" if arguments and name in ("sample", "choices"):
            return container(iteration.iterate(frame, arguments[0].value, arguments[0].node))
    return None


def _imported(name: cst.BaseExpression) -> Value | None:
    """A module by its name, if that is written."""
    if not isinstance(name, cst.SimpleString) or str(name.raw_value).startswith("."):
        return None
    return Value(Kind.REFERENCE, ref=str(name.raw_value))


def _call_itertools(frame: Frame, name: str, arguments: Sequence[Argument]) -> Value:
    each = [iteration.iterate(frame, a.value, a.node) for a in arguments if a.keyword is None]
    first = each[0] if each else UNKNOWN
    match name:
        case "product" if any(a.keyword or a.star for a in arguments):
            return container(container(first))
        case "product" | "izip":  # the latter is what Python 2 has for `zip`
            return container(container(items=tuple(each)))
        case "zip_longest":
            return container(container(items=tuple(join(item, NONE) for item in each)))
        case "chain" if not any(a.star for a in arguments):
            return container(held(container(items=tuple(each))))
        case "islice" | "cycle":
            return container(first)
        case "takewhile" | "dropwhile" | "filterfalse" if len(each) > 1:
            return container(each[1])
        case "combinations" | "permutations" | "combinations_with_replacement" | "tee" | "batched":
            return container(container(first))
        case "pairwise":
            return container(container(items=(first, first)))
        case "groupby":
            return container(container(items=(UNKNOWN, container(first))))
        case "count":
            return container(NUMBER)
        case "repeat":
            return container(arguments[0].value)
    return container()


def _call_collections(frame: Frame, name: str, node: cst.Call, arguments: Sequence[Argument]) -> Value | None:
    match name:
        case "OrderedDict":
            return builtin_functions.dict_of(frame, arguments)
        case "Counter":
            each = iteration.iterate(frame, arguments[0].value, arguments[0].node) if arguments else UNKNOWN
            return mapping(each, NUMBER)
        case "deque":
            if not arguments or arguments[0].keyword is not None:
                return container()
            return container(iteration.iterate(frame, arguments[0].value, arguments[0].node))
        case "defaultdict":
            return mapping(UNKNOWN, _default(frame, arguments[0], node) if arguments else None)
        case "namedtuple":
            return Value(Kind.FUNCTION, node=node)  # see `call_made`
        case "ChainMap" | "UserDict":
            return mapping(UNKNOWN)
    return None


def _default(frame: Frame, factory: Argument, node: cst.Call) -> Value | None:
    """What a ``defaultdict`` makes of its factory."""
    if isinstance(factory.node, cst.Lambda):
        value = lambdas.call(frame, factory.node, ())
    elif (ref := reference(factory.value)) is not None and ref.startswith("builtins."):
        made = instance_of(frame.context, factory.value, factory.node)
        return None if made is None or ref == "builtins.object" else made
    else:
        value = frame.call(factory.value, node, ())
    return value if value.kind != Kind.UNKNOWN else None


def _call_functools(frame: Frame, name: str, arguments: Sequence[Argument], node: cst.Call) -> Value | None:
    match name:
        case "reduce" if len(arguments) > 1:
            item = iteration.iterate(frame, arguments[1].value, arguments[1].node)
            result = lambdas.call_argument(frame, arguments[0], (item, item), node)
            return join(result, arguments[2].value) if len(arguments) > 2 else result
    return None


def _call_asyncio(name: str, arguments: Sequence[Argument]) -> Value | None:
    match name:
        case "gather" if not any(a.star for a in arguments):
            return container(items=tuple(a.value for a in arguments if a.keyword is None))
        case "run" | "wait_for" | "create_task" | "shield" | "ensure_future":
            return arguments[0].value
    return None


def call_made(frame: Frame, maker: cst.Call, node: cst.Call, arguments: Sequence[Argument]) -> Value:
    """A call of what a call has made: a class of named tuples, a ``NewType``, ``vmap(f)``."""
    ref = reference(_seen(frame, maker.func, maker))
    match (ref or "").rpartition(".")[2]:
        case "namedtuple":
            return _record(maker, arguments)
        case "vmap":
            value = frame.call(_given_before(frame, maker.args[0], maker).value, node, arguments)
            return replace(value, ndim=Ndim.MORE) if value.kind & Kind.TENSOR else value
        case "NewType" if arguments:
            return arguments[0].value
    return learning.unknown(frame, Symbol(Origin.CALL, id(node)))


def _given_before(frame: Frame, arg: cst.Arg, call: cst.Call) -> Argument:
    """An argument of a call that was evaluated before."""
    keyword = arg.keyword.value if arg.keyword is not None else None
    return Argument(keyword, _seen(frame, arg.value, call), arg.value, arg.star)


def _record(maker: cst.Call, arguments: Sequence[Argument]) -> Value:
    """An instance of ``namedtuple("T", "x y")``."""
    names = _field_names(maker)
    if names is None:
        return container()
    given = dict(zip(names, _in_order(arguments), strict=False))
    given |= {a.keyword: a.value for a in arguments if a.keyword is not None}
    fields: dict[str | int, Value] = {name: given.get(name, UNKNOWN) for name in names}
    return record(fields, tuple(fields.values()))


def _in_order(arguments: Sequence[Argument]) -> Iterator[Value]:
    """The values that are given by position, up to one that can't be told."""
    for argument in arguments:
        if argument.star:
            if argument.star != "*" or argument.value.items is None:
                return
            yield from argument.value.items
        elif argument.keyword is None:
            yield argument.value


def _field_names(call: cst.Call) -> list[str] | None:
    """The fields that ``namedtuple("T", ["x", "y"])`` declares; None if they are not written out."""
    if len(call.args) < 2:
        return None
    match call.args[1].value:
        case cst.SimpleString() as text:
            return str(text.raw_value).replace(",", " ").split()
        case cst.List(elements=elements) | cst.Tuple(elements=elements):
            names = [str(e.value.raw_value) for e in elements if isinstance(e.value, cst.SimpleString)]
            return names if len(names) == len(elements) else None
    return None


def _seen(frame: Frame, node: cst.CSTNode, call: cst.Call) -> Value:
    """What a part of a call was when that was evaluated, wherever in the project it stands."""
    value = frame.values.get(id(node))
    return seen(frame.context.home(call), node) if value is None else value
