"""Calls of builtins and of the standard library, and the methods of containers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import libcst as cst

from torchlint.model.interpret import containers
from torchlint.model.interpret.expressions import Expressions
from torchlint.model.names import GROWING, NUMBERS, STRINGS
from torchlint.model.syntax import literal_key
from torchlint.model.torch import transfer
from torchlint.model.torch.schema import TensorResult
from torchlint.model.values import (
    NONE,
    NUMBER,
    OBJECT,
    STRING,
    UNKNOWN,
    Argument,
    Evidence,
    Kind,
    Ndim,
    Strength,
    Value,
    container,
    held,
    iterated,
    join,
    mapping,
    record,
)

NO_EVIDENCE = Evidence(Strength.NAME, "")


_OPERATORS = frozenset(("add", "sub", "mul", "matmul", "truediv", "floordiv", "mod", "pow", "iadd", "imul", "isub"))


class Library(Expressions):
    """Evaluates calls of what Python has itself."""

    # ------------------------------------------------------------------ methods of containers

    def container_method(self, receiver: Value, name: str, node: cst.Call, arguments: Sequence[Argument]) -> Value:
        """``receiver.name(…)`` of a list, tuple, dict, set or iterator."""
        item = held(receiver)
        if name in GROWING and arguments:
            self._grow(node, self._grown(receiver, name, arguments))
            return NONE if name != "setdefault" else self._popped(receiver, arguments, node)
        match name:
            case "items":
                key = iterated(receiver) if receiver.is_mapping else None
                pair = (key or self.unknown(("key", id(node))), item) if item is not None else None
                return container(container(items=pair) if pair else None)
            case "values":
                return container(item)
            case "keys":
                return container(iterated(receiver) if receiver.is_mapping else STRING)
            case "pop" | "get":
                return self._popped(receiver, arguments, node)
            case "popitem" if item is not None:
                return container(items=(iterated(receiver) or UNKNOWN, item))
            case "popleft" | "popitem" | "__next__":
                return item if item is not None else self.unknown(("item", id(node)))
            case "copy" | "__iter__":
                return receiver
            case "_replace":
                return self._replaced(receiver, arguments)
            case "_asdict" if receiver.keys is not None:
                return containers.literal(receiver.keys.known)
            case "most_common":
                return container(container(items=(iterated(receiver) or UNKNOWN, NUMBER)))
            case "index" | "count" | "sort" | "clear" | "reverse" | "remove" | "move_to_end":
                return NUMBER if name in ("index", "count") else NONE
        return self.unknown(("call", id(node)))

    def _grown(self, receiver: Value, name: str, arguments: Sequence[Argument]) -> Value:
        last = arguments[-1]
        match name:
            case "extend" | "extendleft":
                return containers.extended(receiver, self.iterate(last.value, last.node))
            case "update" if receiver.is_mapping or any(a.keyword for a in arguments):
                named: dict[str | int, Value] = {a.keyword: a.value for a in arguments if a.keyword is not None}
                for argument in arguments:
                    if argument.keyword is None and argument.value.kind & Kind.CONTAINER:
                        receiver = containers.updated(receiver, containers.of_pairs(argument.value))
                return containers.merged(receiver, containers.literal(named)) if named else receiver
            case "update":
                return containers.extended(receiver, self.iterate(last.value, last.node))
            case "setdefault":
                key, value = arguments[0], last.value if len(arguments) > 1 else NONE
                literal = literal_key(key.node)
                known = containers.at(receiver, literal)
                return containers.put(receiver, literal, key.value, value if known is None else join(known, value))
        return containers.added(receiver, last.value, at_end=name == "append")

    def _popped(self, receiver: Value, arguments: Sequence[Argument], node: cst.Call) -> Value:
        key = literal_key(arguments[0].node) if arguments else None
        item = containers.at(receiver, key)
        if item is None:
            return self.unknown(("item", id(node)))
        return join(item, arguments[1].value) if len(arguments) > 1 and not receiver.items else item

    @staticmethod
    def _replaced(receiver: Value, arguments: Sequence[Argument]) -> Value:
        """``named_tuple._replace(x=…)``."""
        if receiver.keys is None or receiver.items is None:
            return receiver
        given = {a.keyword: a.value for a in arguments if a.keyword is not None}
        fields = {name: given.get(str(name), value) for name, value in receiver.keys.known.items()}
        items = tuple(fields.values()) if len(fields) == len(receiver.items) else receiver.items
        return replace(receiver, items=items, keys=replace(receiver.keys, known=fields))

    def _grow(self, node: cst.Call, value: Value) -> None:
        if isinstance(node.func, cst.Attribute):
            self.store(node.func.value, value)

    # ------------------------------------------------------------------ builtins

    def call_builtin(self, name: str, node: cst.Call, arguments: Sequence[Argument]) -> Value:
        """A call of a builtin."""
        first = arguments[0].value if arguments else UNKNOWN
        if name in ("abs", "round", "pow") and first.kind & Kind.TENSOR:
            return transfer.apply(TensorResult(ndim="keep"), first, (), self.grad, first.evidence or NO_EVIDENCE)
        if name == "range":
            return container(NUMBER)
        if name in ("abs", "round", "pow") and first.kind & Kind.UNKNOWN:
            return self.unknown(("call", id(node)))
        if name in NUMBERS:
            return NUMBER
        if name in STRINGS:
            return STRING
        match name:
            case "dict":
                return self._dict_of(arguments)
            case "super":
                return self.model.super_value(node, self)
            case "print":
                return NONE
            case "open":
                return OBJECT
            case "getattr" if len(arguments) >= 2 and isinstance(arguments[1].node, cst.SimpleString):
                return self.attribute(first, str(arguments[1].node.raw_value), node)
        known = self._call_iterating(name, node, arguments)
        return known if known is not None else self.unknown(("call", id(node)))

    def _call_iterating(self, name: str, node: cst.Call, arguments: Sequence[Argument]) -> Value | None:
        """Builtins that go through what they are given."""
        if not arguments:
            return container() if name in ("list", "tuple", "set", "frozenset") else None
        first = arguments[0].value
        match name:
            case "list" | "tuple" if first.items is not None:
                return container(items=first.items)
            case "list" | "tuple" | "set" | "sorted" | "iter" | "frozenset" | "reversed":
                return container(self.iterate(first, arguments[0].node))
            case "enumerate":
                return container(container(items=(NUMBER, self.iterate(first, arguments[0].node))))
            case "zip" if len(arguments) == 1 and arguments[0].star:
                return containers.transposed(self.iterate(first, arguments[0].node))
            case "zip" if not any(a.star for a in arguments):
                return container(self._zipped(arguments))
            case "next":
                return self._next(arguments)
            case "sum":
                return self._sum(first, arguments, node)
            case "max" | "min":
                return self._extreme(arguments)
            case "map" | "filter" if len(arguments) > 1:
                return self._map(name, arguments, node)
        return None

    def _zipped(self, arguments: Sequence[Argument]) -> Value:
        return container(items=tuple(self.iterate(a.value, a.node) for a in arguments if a.keyword is None))

    def _next(self, arguments: Sequence[Argument]) -> Value:
        value = self.iterate(arguments[0].value, arguments[0].node)
        return join(value, arguments[1].value) if len(arguments) > 1 else value

    def _extreme(self, arguments: Sequence[Argument]) -> Value:
        """``max(xs)``, ``max(x, y)``."""
        first = arguments[0]
        several = sum(a.keyword is None for a in arguments) > 1
        value = first.value if several else self.iterate(first.value, first.node)
        for argument in arguments[1:]:
            if argument.keyword is None:
                value = join(value, argument.value)
            elif argument.keyword == "key" and isinstance(argument.node, cst.Lambda):
                self.lambda_body(argument.node, (value,))
        return value

    def _sum(self, first: Value, arguments: Sequence[Argument], node: cst.Call) -> Value:
        item = self.iterate(first, arguments[0].node)
        if item.kind & Kind.TENSOR:
            result = TensorResult(ndim="keep", dtype="count")
            return transfer.apply(result, item, (), self.grad, item.evidence or NO_EVIDENCE)
        return item if item.kind != Kind.UNKNOWN else self.unknown(("call", id(node)))

    def _map(self, name: str, arguments: Sequence[Argument], node: cst.Call) -> Value:
        items = [self.iterate(a.value, a.node) for a in arguments[1:]]
        if name == "filter":
            return container(items[0])
        return container(self.call_with(arguments[0], items, node))

    def call_with(self, function: Argument, given: Sequence[Value], node: cst.Call) -> Value:
        """What a function that is an argument of a call returns for these values."""
        if isinstance(function.node, cst.Lambda):
            return self.lambda_body(function.node, given)
        places = [a.value for a in node.args[1:]]
        stand_ins = [*places, *[node] * (len(given) - len(places))]
        arguments = [Argument(None, value, place) for value, place in zip(given, stand_ins, strict=False)]
        return self.call(function.value, node, arguments)

    def _dict_of(self, arguments: Sequence[Argument]) -> Value:
        """``dict(…)``, ``OrderedDict(…)``."""
        named = containers.literal({a.keyword: a.value for a in arguments if a.keyword is not None})
        if not arguments or arguments[0].keyword is not None or arguments[0].star:
            return named
        first = arguments[0].value
        if (pairs := _literal_pairs(arguments[0].node, first)) is not None:
            given = containers.literal(pairs)
        elif first.kind & Kind.CONTAINER:
            given = containers.of_pairs(first)
        else:
            given = containers.of_pairs(container(self.iterate(first, arguments[0].node)))
        if given.keys is None:
            return mapping(UNKNOWN)
        return containers.merged(given, named) if named.item is not None else given

    # ------------------------------------------------------------------ the standard library

    def call_library(self, ref: str, node: cst.Call, arguments: Sequence[Argument]) -> Value | None:
        """A call of a function of the standard library; None if nothing is known of what it gives."""
        module, _, name = ref.rpartition(".")
        match module:
            case "math":
                return NUMBER
            case "itertools" if arguments:
                return self._call_itertools(name, arguments)
            case "collections":
                return self._call_collections(name, node, arguments)
            case "functools" if arguments:
                return self._call_functools(name, arguments, node)
            case "typing" | "typing_extensions" if name in ("NewType", "TypeVar"):
                return Value(Kind.FUNCTION, node=node)
            case "operator" if len(arguments) == 2 and name in _OPERATORS:
                return self.arithmetic(node, arguments[0].value, arguments[1].value)
            case "copy" if arguments and name in ("deepcopy", "copy"):
                return arguments[0].value
            case "itertools.chain" if arguments and name == "from_iterable":
                inner = self.iterate(arguments[0].value, arguments[0].node)
                return container(self.iterate(inner, arguments[0].node))
            case "contextlib" if name == "nullcontext" and not arguments:
                return Value(Kind.OBJECT, self.grad, ref=ref)
            case "contextlib" if arguments and name in ("nullcontext", "closing", "aclosing"):
                return arguments[0].value
            case "asyncio" if arguments:
                return self._call_asyncio(name, arguments)
            case "random" if arguments and name == "choice":
                return self.iterate(arguments[0].value, arguments[0].node)
            case "random" if arguments and name in ("sample", "choices"):
                return container(self.iterate(arguments[0].value, arguments[0].node))
        return None

    def _call_itertools(self, name: str, arguments: Sequence[Argument]) -> Value:
        each = [self.iterate(a.value, a.node) for a in arguments if a.keyword is None]
        first = each[0] if each else UNKNOWN
        match name:
            case "product" if any(a.keyword or a.star for a in arguments):
                return container(container(first))
            case "product":
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

    def _call_collections(self, name: str, node: cst.Call, arguments: Sequence[Argument]) -> Value | None:
        match name:
            case "OrderedDict":
                return self._dict_of(arguments)
            case "Counter":
                each = self.iterate(arguments[0].value, arguments[0].node) if arguments else UNKNOWN
                return mapping(each, NUMBER)
            case "deque":
                has_items = arguments and arguments[0].keyword is None
                return container(self.iterate(arguments[0].value, arguments[0].node)) if has_items else container()
            case "defaultdict":
                return mapping(UNKNOWN, self._default(arguments[0], node) if arguments else None)
            case "namedtuple":
                return Value(Kind.FUNCTION, node=node)  # see `call_made`
            case "ChainMap" | "UserDict":
                return mapping(UNKNOWN)
        return None

    def _default(self, factory: Argument, node: cst.Call) -> Value | None:
        """What a ``defaultdict`` makes of its factory."""
        if isinstance(factory.node, cst.Lambda):
            value = self.lambda_body(factory.node, ())
        elif (ref := self.model.reference(factory.value)) is not None and ref.startswith("builtins."):
            made = self.model.instance_of(factory.value, factory.node)
            return None if made is None or ref == "builtins.object" else made
        else:
            value = self.call(factory.value, node, ())
        return value if value.kind != Kind.UNKNOWN else None

    def _call_functools(self, name: str, arguments: Sequence[Argument], node: cst.Call) -> Value | None:
        match name:
            case "reduce" if len(arguments) > 1:
                item = self.iterate(arguments[1].value, arguments[1].node)
                result = self.call_with(arguments[0], (item, item), node)
                return join(result, arguments[2].value) if len(arguments) > 2 else result
        return None

    @staticmethod
    def _call_asyncio(name: str, arguments: Sequence[Argument]) -> Value | None:
        match name:
            case "gather" if not any(a.star for a in arguments):
                return container(items=tuple(a.value for a in arguments if a.keyword is None))
            case "run" | "wait_for" | "create_task" | "shield" | "ensure_future":
                return arguments[0].value
        return None

    def call_made(self, maker: cst.Call, node: cst.Call, arguments: Sequence[Argument]) -> Value:
        """A call of what a call has made: a class of named tuples, a ``NewType``, ``vmap(f)``."""
        ref = self.model.reference(self.seen(maker.func))
        match (ref or "").rpartition(".")[2]:
            case "namedtuple":
                return self._record(maker, arguments)
            case "vmap":
                value = self.call(self._given_before(maker.args[0]).value, node, arguments)
                return replace(value, ndim=Ndim.MORE) if value.kind & Kind.TENSOR else value
            case "NewType" if arguments:
                return arguments[0].value
        return self.unknown(("call", id(node)))

    def _given_before(self, arg: cst.Arg) -> Argument:
        """An argument of a call that was evaluated before."""
        keyword = arg.keyword.value if arg.keyword is not None else None
        return Argument(keyword, self.seen(arg.value), arg.value, arg.star)

    @staticmethod
    def _record(maker: cst.Call, arguments: Sequence[Argument]) -> Value:
        """An instance of ``namedtuple("T", "x y")``."""
        names = field_names(maker)
        if names is None or any(a.star for a in arguments):
            return container()
        given = dict(zip(names, (a.value for a in arguments if a.keyword is None), strict=False))
        given |= {a.keyword: a.value for a in arguments if a.keyword is not None}
        fields: dict[str | int, Value] = {name: given.get(name, UNKNOWN) for name in names}
        return record(fields, tuple(fields.values()))


def _literal_pairs(node: cst.BaseExpression, value: Value) -> dict[str | int, Value] | None:
    """The entries of ``[("a", x), ("b", y)]``; None if that is not what is written."""
    if not isinstance(node, cst.List) or not value.items or len(value.items) != len(node.elements):
        return None
    found: dict[str | int, Value] = {}
    for element, pair in zip(node.elements, value.items, strict=True):
        match element.value:
            case cst.Tuple(elements=[cst.Element(value=key), _]) if pair.items is not None and len(pair.items) == 2:
                literal = literal_key(key)
                if literal is None:
                    return None
                found[literal] = pair.items[1]
            case _:
                return None
    return found


def field_names(call: cst.Call) -> list[str] | None:
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
