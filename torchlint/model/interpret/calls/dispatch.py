"""Calls: what is called decides who says what comes out."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce

import libcst as cst

from torchlint.model import trainable
from torchlint.model.annotations import annotation, construct
from torchlint.model.classes import find_method
from torchlint.model.definitions import definition
from torchlint.model.doubts import CALLED, perhaps
from torchlint.model.functions import call_function
from torchlint.model.interpret import learning, loaders, places, waiting
from torchlint.model.interpret.calls import (
    builtin_functions,
    lambdas,
    methods,
    module_calls,
    registries,
    standard_library,
    torch_functions,
)
from torchlint.model.interpret.frame import Frame
from torchlint.model.interpreted import outside
from torchlint.model.names import (
    CLASS_NAME,
    LOADER_NAME,
    LOSS_NAME,
    MODULE_METHODS,
    MODULE_NAME,
    NETWORK_MAKER,
    is_foreign,
)
from torchlint.model.possibilities import Dtype, Kind, Tri
from torchlint.model.symbols import Origin, Symbol
from torchlint.model.syntax import dotted, ending_name, keyword, last_name
from torchlint.model.torch import library
from torchlint.model.torch.arguments import UNSEEN
from torchlint.model.torch.grads import grad_of_inputs, has_parameters
from torchlint.model.values import (
    MODULE,
    NDARRAY,
    NONE,
    NUMBER,
    OBJECT,
    STRING,
    UNKNOWN,
    Argument,
    Evidence,
    Strength,
    Value,
    container,
    is_opaque,
    join,
    reference,
    tensor,
)
from torchlint.system.records import replace

_UNPICKLING = frozenset(("pickle.load", "pickle.loads"))
"""What they return is whatever was written."""


def expression(frame: Frame, node: cst.Call) -> Value:
    """The value of a call expression."""
    func = frame.value(node.func)
    value = call(frame, func, node, _arguments(frame, node))
    if (found := registries.chosen_by(frame, node, value)) is None:
        return value
    return call(frame, found, node, registries.GIVEN) if registries.is_building(node) else found


def _arguments(frame: Frame, node: cst.Call) -> list[Argument]:
    arguments = []
    for arg in node.args:
        value = frame.value(arg.value)
        arguments.append(Argument(arg.keyword.value if arg.keyword else None, value, arg.value, arg.star))
    return arguments


def call(frame: Frame, func: Value, node: cst.Call, arguments: Sequence[Argument]) -> Value:
    """The value of a call."""
    value = _called(frame, func, node, arguments)
    if value.grad == Tri.NO and value.kind & Kind.TENSOR and value.dtype & Dtype.FLOAT and _may_be_another(func):
        return replace(value, grad=Tri.MAYBE)
    if value.kind & CALLED and _may_be_another(func):
        return perhaps(value)
    if frame.grad == Tri.YES or value.kind != Kind.TENSOR or value.grad != Tri.NO:
        return value
    if not any(_is_leaf_with_grad(arg.value) for arg in arguments) or _computes(func, arguments):
        return value
    return replace(value, grad=Tri.MAYBE)  # a leaf may be handed back as it is, whether autograd records or not


def _may_be_another(func: Value) -> bool:
    """Whether something else may be called than what is known of it: ``(part or Plain()).f(x)``."""
    if func.kind & Kind.FUNCTION and func.node is not None:
        return bool((func.kind | (func.receiver.kind if func.receiver is not None else func.kind)) & Kind.UNKNOWN)
    return func.receiver is None and bool(func.kind & Kind.UNKNOWN) and bool(func.kind & CALLED)


def _computes(func: Value, arguments: Sequence[Argument]) -> bool:
    """Whether what is called is a function of torch, or a module of torch with weights: both give a new tensor."""
    if func.kind == Kind.MODULE:
        return has_parameters(library.module_info(func.ref), func.bound or UNSEEN) == Tri.YES
    return func.kind == Kind.REFERENCE and all(arg.keyword != "inplace" for arg in arguments)


def _is_leaf_with_grad(value: Value) -> bool:
    return value.kind == Kind.TENSOR and value.grad == Tri.YES and value.leaf == Tri.YES


def _called(frame: Frame, func: Value, node: cst.Call, arguments: Sequence[Argument]) -> Value:
    if func.bound and func.kind & (Kind.REFERENCE | Kind.FUNCTION):
        named = {a.keyword for a in arguments if a.keyword}
        arguments = [*(a for a in func.bound if a.keyword not in named), *arguments]
        func = replace(func, bound=None)
    if func.choices:
        return reduce(join, [_called(frame, each, node, arguments) for each in func.choices])
    results: list[Value] = []
    if func.kind & Kind.REFERENCE and func.is_named:
        results.append(_call_reference(frame, func, node, arguments))
    if func.kind & Kind.FUNCTION and func.node is not None:
        results.append(_call_local(frame, func, node, arguments))
    if func.kind & Kind.FUNCTION and func.node is None and func.item is not None:
        results.append(func.item)
    if func.kind & Kind.MODULE:
        results.append(module_calls.call(frame, func, node, arguments))
    if func.kind & Kind.OBJECT and not results:
        results.append(_call_object(frame, func, node, arguments))
    if not results:
        return _call_unknown(frame, func, node, arguments)
    value = results[0]
    for other in results[1:]:
        value = join(value, other)
    return value


def _call_object(frame: Frame, func: Value, node: cst.Call, arguments: Sequence[Argument]) -> Value:
    if isinstance(func.node, cst.ClassDef):
        method = find_method(frame.context, func.node, "__call__")
        if method is not None:
            return call_function(frame.context, method, func, node, arguments, frame)
    if (func.ref or "").startswith("torchvision.transforms.") and _is_without_graph(arguments):
        return learning.resolve(frame, loaders.of_data_set(node))
    return OBJECT if is_opaque(func) else _call_unknown(frame, func, node, arguments)


def _is_without_graph(arguments: Sequence[Argument]) -> bool:
    """Whether what is given is known, and is an image, an array or a tensor without a graph."""
    return bool(arguments) and grad_of_inputs([each.value for each in arguments]) == Tri.NO


def _call_local(frame: Frame, func: Value, node: cst.Call, arguments: Sequence[Argument]) -> Value:
    target = func.node
    if isinstance(target, cst.ClassDef):
        return replace(construct(frame.context, target, node, arguments), is_exact=True)
    if isinstance(target, cst.Lambda):
        home = frame.context.home(target)
        given = [a.value for a in arguments if a.keyword is None and not a.star]
        at = frame if home is frame.context else outside(home)
        at.budget = frame.budget
        return lambdas.call(at, target, given)
    if isinstance(target, cst.Call):
        return standard_library.call_made(frame, target, node, arguments)
    if isinstance(target, cst.FunctionDef):
        is_elsewhere = frame.context.home(target) is not frame.context
        if is_elsewhere and isinstance(frame.tree.parent(node), cst.Expr):
            value = UNKNOWN  # nobody uses what it returns
        else:
            waits = waiting.is_run_later(frame.context.home(target), target)
            with waiting.later(frame, is_at_once=not waits or waiting.is_drawn_at_once(frame, node)):
                value = call_function(frame.context, target, func.receiver, node, arguments, frame)
        _forget(frame, target, func, node)
        return value
    return UNKNOWN


def _forget(frame: Frame, function: cst.FunctionDef, func: Value, node: cst.Call) -> None:
    """What is known of attributes that a function assigns ends with its call."""
    if not frame.paths:
        return
    paths = [dotted(arg.value) for arg in node.args if arg.keyword is None]
    if func.receiver is not None and isinstance(node.func, cst.Attribute):
        paths.insert(0, dotted(node.func.value))
    places.forget_assigned(frame, function, paths)


def _call_reference(frame: Frame, func: Value, node: cst.Call, arguments: Sequence[Argument]) -> Value:
    ref = func.ref or ""
    if func.receiver is not None:
        return methods.call(frame, func, node, arguments)
    if ref.startswith("builtins."):
        return builtin_functions.call(frame, ref.removeprefix("builtins."), node, arguments)
    if NETWORK_MAKER.fullmatch(ref):
        return replace(MODULE, ref=ref, evidence=Evidence(Strength.SIGNATURE, f"`{ref}` returns it", node))
    if ref == "torch.autograd.Variable":
        return torch_functions.call_variable(frame, node, arguments)
    if ref.startswith(("torch.", "pytorch.")) or ref == "torch":
        return torch_functions.call(frame, ref, node, arguments)
    return _call_external(frame, ref, func, node, arguments)


def _meant_by(frame: Frame, ref: str) -> list[Value]:
    """All that a name of the project stands for in the end: one of several things that it may be is itself, perhaps."""
    found: list[Value] = []
    waiting, met = [Value(Kind.REFERENCE, ref=ref)], {ref}
    while waiting:
        value = waiting.pop()
        name = reference(value)
        defined = definition(frame.context, name) if name is not None else None
        if defined is None:
            found += [value] if name != ref else []
            continue
        for each in reversed(defined.choices or (defined,)):
            if (other := reference(each)) is None:
                found.insert(0, each)
            elif other not in met:
                met.add(other)
                waiting.append(each)
    return found


def _call_external(frame: Frame, ref: str, func: Value, node: cst.Call, arguments: Sequence[Argument]) -> Value:
    root = ref.partition(".")[0]
    last = ref.rpartition(".")[2]
    if root in ("numpy", "np"):
        return NDARRAY
    if ref in ("typing.cast", "typing_extensions.cast") and len(arguments) == 2:
        declared = annotation(frame.context, arguments[0].node, frame)
        return arguments[1].value if declared is None else declared
    if ref == "functools.partial" and arguments:
        function = arguments[0].value
        return replace(function, bound=(*(function.bound or ()), *arguments[1:]))
    if (known := standard_library.call(frame, ref, node, arguments)) is not None:
        return known
    if ref.startswith("tqdm.") and last in ("trange", "tnrange"):
        return container(NUMBER)
    if ref in ("tqdm.tqdm", "tqdm.auto.tqdm", "tqdm.notebook.tqdm", "tqdm.tqdm_notebook") and arguments:
        return _shown(arguments[0])
    if ref.startswith("torchvision.utils.") and arguments and not arguments[0].star and not arguments[0].keyword:
        torch_functions.learn_from_argument(frame, ref, arguments[0], node)
    if ref in _UNPICKLING:
        return learning.unknown(frame, Symbol(Origin.CALL, id(node)))
    if is_foreign(root):
        return OBJECT
    meant = _meant_by(frame, ref)
    if meant:
        return reduce(join, [call(frame, each, node, arguments) for each in meant])
    made = _made_by(ref)
    if made is not None:
        return made
    if last in ("tqdm", "progress_bar", "ProgressBar") and arguments:
        return _shown(arguments[0])
    return _call_unknown(frame, func, node, arguments)


def _shown(argument: Argument) -> Value:
    """What shows how far it has come yields what it is given: a loader is one by its name, too."""
    if argument.value.kind == Kind.UNKNOWN and LOADER_NAME.search(ending_name(argument.node)):
        return Value(Kind.LOADER)
    return argument.value


def _made_by(ref: str) -> Value | None:
    """An instance of an imported class, which its name tells: ``Boxes(x)``, ``Boxes.from_tensor(x)``."""
    parts = ref.split(".")
    if parts[-1] == "apply":  # of an autograd function: what its `forward` returns
        return None
    for index in (len(parts) - 1, len(parts) - 2):
        name = parts[index] if index >= 0 else ""
        if CLASS_NAME.search(name) and not name.endswith(("Tensor", "Variable", "Parameter")):
            return Value(Kind.OBJECT, ref=".".join(parts[: index + 1]))
    return None


def _call_unknown(frame: Frame, func: Value, node: cst.Call, arguments: Sequence[Argument]) -> Value:
    name = last_name(node.func)
    if isinstance(node.func, cst.Attribute):
        known = _method_of_unknown(frame, name, node, arguments)
        if known is not None:
            return known
    if arguments and trainable.of_use(frame.context, node.func):
        evidence = Evidence(Strength.CONVENTION, f"it comes from the module `{dotted(node.func)}`", node)
        return module_calls.of_unknown(frame, func, node, evidence)
    if name and LOSS_NAME.search(name) and not name[0].isupper() and arguments:
        grad = Tri.NO if frame.grad == Tri.NO else Tri.YES
        evidence = Evidence(Strength.NAME, f"`{name}(...)` sounds like a loss", node)
        return learning.likely(frame, tensor(grad, dtype=Dtype.FLOAT, evidence=evidence), Symbol(Origin.CALL, id(node)))
    if _is_given_tensors(func, node, arguments):
        grad = Tri.NO if frame.grad == Tri.NO else Tri.MAYBE
        evidence = Evidence(Strength.NAME, f"`{name}(...)` is given tensors", node)
        return learning.likely(frame, tensor(grad, evidence=evidence), Symbol(Origin.CALL, id(node)))
    return learning.unknown(frame, Symbol(Origin.CALL, id(node)))


def _is_given_tensors(func: Value, node: cst.Call, arguments: Sequence[Argument]) -> bool:
    """Whether something that could be a module by what it is or is called, is called with nothing but tensors."""
    if isinstance(node.func, cst.Attribute):
        owner = node.func.value
        if not MODULE_NAME.search(last_name(owner)) and not MODULE_NAME.search(node.func.attr.value):
            return False
    elif func.kind & Kind.REFERENCE and not MODULE_NAME.search(last_name(node.func)):
        return False
    positional = [a for a in arguments if a.keyword is None and not a.star]
    return bool(positional) and all(_holds_tensors(a.value) for a in positional)


def _method_of_unknown(frame: Frame, name: str, node: cst.Call, arguments: Sequence[Argument]) -> Value | None:
    """Methods whose name says what comes out, whatever they are called on."""
    assert isinstance(node.func, cst.Attribute)
    receiver = frame.values.get(id(node.func.value), UNKNOWN)
    if name in MODULE_METHODS:
        value = module_calls.method(frame.context, name, receiver, node)
        if value is not None:
            return value
    if name in ("cuda", "cpu", "to", "float", "half", "double", "train", "eval") and receiver.symbols:
        return receiver
    if loaders.is_batch(receiver) and (part := _part_of_batch(frame, name, node)) is not None:
        return part
    if name == "size" and receiver.symbols and arguments:
        learning.learn(frame, receiver.symbols, "`.size(...)` is called on it with a dimension", node)
        return NUMBER
    if name == "view" and receiver.symbols and any(_is_shape(argument.node) for argument in arguments):
        learning.learn(frame, receiver.symbols, "`.view(...)` is called on it with a shape", node)
    if name in _WITH_PLACES and arguments and _gives_two(frame, node):
        said = f"`.{name}(...)` gives values and places, which only a tensor's does"
        learning.learn(frame, receiver.symbols, said, node)
        learning.learn_owner(frame, node.func.value, said, node)
    if name in ("log_prob", "rsample"):
        grad = Tri.NO if frame.grad == Tri.NO else Tri.MAYBE
        evidence = Evidence(Strength.NAME, f"`{name}(...)` is what distributions have", node)
        return learning.likely(frame, tensor(grad, evidence=evidence), Symbol(Origin.CALL, id(node)))
    if name in ("append", "extend", "update", "add", "insert") and receiver.kind == Kind.UNKNOWN:
        return NONE if name != "add" else None
    if name == "item" and not arguments:  # of a tensor or an array it is a number, of anything else whatever it gives
        return join(NUMBER, learning.unknown(frame, Symbol(Origin.CALL, id(node))))
    return None


def _is_shape(node: cst.BaseExpression) -> bool:
    """Whether an argument is a dimension that is computed, or a shape: the ``view`` of an array takes a dtype."""
    match node:
        case cst.UnaryOperation(operator=cst.Minus(), expression=cst.Integer(value="1")):
            return True
        case cst.Call(func=cst.Attribute(attr=cst.Name("size"))):
            return True
    return False


def _part_of_batch(frame: Frame, name: str, node: cst.Call) -> Value | None:
    """What methods of dictionaries take from a batch of a loader that is one: tensors, by convention."""
    if name not in ("items", "values", "get", "pop"):
        return None
    origin = Symbol(Origin.ELEMENT if name in ("items", "values") else Origin.ITEM, id(node))
    part = learning.likely(frame, loaders.part_of_batch(node), origin)
    match name:
        case "items":
            return container(container(items=(STRING, part)))
        case "values":
            return container(part)
    return part


_WITH_PLACES = frozenset(("max", "min", "sort", "median", "mode"))
"""Methods of tensors that give the values and where they stand, as two results; those of arrays give one."""


def _gives_two(frame: Frame, call: cst.Call) -> bool:
    """Whether a call is written as only such a method is: with ``keepdim``, or its result taken apart into two."""
    if keyword(call.args, "keepdim") is not None:
        return True
    match frame.context.tree.parent(call):
        case cst.Assign(targets=[cst.AssignTarget(target=cst.Tuple(elements=[cst.Element(), cst.Element()]))]):
            return True
    return False


def _holds_tensors(value: Value) -> bool:
    """Whether a value is a tensor or a tuple with one."""
    return value.kind == Kind.TENSOR or any(v.kind == Kind.TENSOR for v in value.items or ())
