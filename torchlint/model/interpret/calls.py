"""The values of calls: of torch, of this file, of what is not known."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import libcst as cst

from torchlint.model.interpret import loaders, structure
from torchlint.model.interpret.state import is_opaque, truth
from torchlint.model.interpret.stdlib import Library
from torchlint.model.names import CLASS_NAME, GRAD_CONTEXTS, INPLACE, LOSS_NAME, MODULE_METHODS, MODULE_NAME, SET_GRAD
from torchlint.model.syntax import dotted, is_dotted, last_name
from torchlint.model.torch import returned
from torchlint.model.torch.returned import Argument
from torchlint.model.values import (
    MODULE,
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
    Tri,
    Value,
    container,
    held,
    join,
    mapping,
    parameter,
    tensor,
)

if TYPE_CHECKING:
    from torchlint.model import Model

_PERHAPS_TENSOR = Kind.UNKNOWN | Kind.TENSOR | Kind.NONE
PACKED_SEQUENCE = "torch.nn.utils.rnn.PackedSequence"
PACKED_METHODS = frozenset(
    ("to", "cuda", "cpu", "pin_memory", "double", "float", "half", "long", "int", "short", "byte")
)
"""Methods of a packed sequence that return one (torch/nn/utils/rnn.py)."""


class Calls(Library):
    """Evaluates calls."""

    def call_expression(self, node: cst.Call) -> Value:
        """The value of a call expression."""
        func = self.eval(node.func)
        arguments = self._arguments(node)
        return self.call(func, node, arguments)

    def _arguments(self, node: cst.Call) -> list[Argument]:
        arguments = []
        for arg in node.args:
            value = self.eval(arg.value)
            arguments.append(Argument(arg.keyword.value if arg.keyword else None, value, arg.value, arg.star))
        return arguments

    def call(self, func: Value, node: cst.Call, arguments: Sequence[Argument]) -> Value:
        """The value of a call."""
        if func.bound and func.kind & (Kind.REFERENCE | Kind.FUNCTION):
            named = {a.keyword for a in arguments if a.keyword}
            arguments = [*(a for a in func.bound if a.keyword not in named), *arguments]
            func = replace(func, bound=None)
        results: list[Value] = []
        if func.kind & Kind.REFERENCE and func.ref is not None:
            results.append(self._call_reference(func, node, arguments))
        if func.kind & Kind.FUNCTION and func.node is not None:
            results.append(self._call_local(func, node, arguments))
        if func.kind & Kind.FUNCTION and func.node is None and func.item is not None:
            results.append(func.item)
        if func.kind & Kind.MODULE:
            results.append(self._call_module(func, node, arguments))
        if func.kind & Kind.OBJECT and not results:
            results.append(self._call_object(func, node, arguments))
        if not results:
            return self._call_unknown(func, node, arguments)
        value = results[0]
        for other in results[1:]:
            value = join(value, other)
        return value

    def _call_object(self, func: Value, node: cst.Call, arguments: Sequence[Argument]) -> Value:
        if isinstance(func.node, cst.ClassDef):
            method = self.model.find_method(func.node, "__call__")
            if method is not None:
                return self.model.call_function(method, func, node, arguments, self)
        return OBJECT if is_opaque(func) else self._call_unknown(func, node, arguments)

    def _call_module(self, func: Value, node: cst.Call, arguments: Sequence[Argument]) -> Value:
        text = f"it comes from the module `{dotted(node.func)}`" if is_dotted(node.func) else "it comes from a module"
        evidence = Evidence(Strength.CONVENTION, text, node)
        if isinstance(func.node, cst.ClassDef):
            method = self.model.find_method(func.node, "forward")
            if method is not None:
                value = self.model.call_function(method, func, node, arguments, self)
                if not value.kind & Kind.UNKNOWN or value.kind & ~_PERHAPS_TENSOR:
                    return self._through_module(value)
        if (inner := self._call_inner(func, node, arguments)) is not None:
            return inner
        if func.ref is not None:
            known = self._call_torch_module(func, arguments, Evidence(Strength.SIGNATURE, text, node))
            if known is not None:
                return known
        grad = Tri.NO if self.grad == Tri.NO else Tri.YES
        return self.likely(tensor(grad, evidence=evidence), ("call", id(node)))

    def _call_inner(self, func: Value, node: cst.Call, arguments: Sequence[Argument]) -> Value | None:
        """What the modules in a ``Sequential`` or a wrapper make of an input; None if they are not known."""
        parts = func.items if func.items is not None else (func.item,) if func.item is not None else ()
        if not parts or not arguments or any(part.kind != Kind.MODULE for part in parts):
            return None
        if func.ref != structure.SEQUENTIAL:
            is_wrapper = structure.attribute(func, "module") is not None
            return self.call(parts[0], node, arguments) if is_wrapper and len(parts) == 1 else None
        value = arguments[0].value
        for part in parts if func.items is not None else parts * 2:
            value = self.call(part, node, [Argument(None, value, arguments[0].node)])
        return value

    def _call_torch_module(self, func: Value, arguments: Sequence[Argument], evidence: Evidence) -> Value | None:
        """What a module of torch returns, which can depend on the arguments of its constructor."""
        info = returned.module_info(func.ref or "")
        output = info.get("output", "any")
        if output == "any":
            return None
        made = returned.UNSEEN if func.bound is None else func.bound
        if output.get("ndim") == "loss" and self.model.remember(_sets_reduction):
            made = returned.UNSEEN
        value = returned.apply(output, None, arguments, self.grad, evidence, made=made)
        value = self._trained(value, returned.trainable(info, made))
        if value.items and arguments and arguments[0].value.kind == Kind.PACKED:  # packed in, packed out
            out = replace(arguments[0].value, grad=value.items[0].grad, dtype=Dtype.FLOAT)
            value = replace(value, items=(out, *value.items[1:]))
        return value

    def _trained(self, value: Value, trainable: int) -> Value:
        """An output of a module whose parameters, if it has some, every output depends on."""
        if value.items is not None:
            return replace(value, items=tuple(self._trained(v, trainable) for v in value.items))
        if not value.kind & Kind.TENSOR or not value.dtype & Dtype.FLOAT or value.grad == Tri.YES:
            return value
        if Tri.NO in (trainable, self.grad):
            return value
        if trainable == self.grad == Tri.YES:
            return replace(value, grad=Tri.YES, leaf=Tri.NO)
        return replace(value, grad=Tri.MAYBE, leaf=Tri.MAYBE)

    def _through_module(self, value: Value) -> Value:
        """An output of a module of a file: it carries a graph where autograd records and nothing says otherwise."""
        if value.items is not None:
            return replace(value, items=tuple(map(self._through_module, value.items)))
        if not value.kind & Kind.TENSOR or not value.dtype & Dtype.FLOAT or value.grad == Tri.YES:
            return value
        if self.grad == Tri.NO:
            return replace(value, grad=Tri.NO)
        if self.grad == Tri.YES and value.grad == Tri.MAYBE:
            return replace(value, grad=Tri.YES, leaf=Tri.NO)
        return value

    def _call_local(self, func: Value, node: cst.Call, arguments: Sequence[Argument]) -> Value:
        target = func.node
        if isinstance(target, cst.ClassDef):
            return self.model.construct(target, node, arguments)
        if isinstance(target, cst.Lambda):
            home = self.model.home(target)
            given = [a.value for a in arguments if a.keyword is None and not a.star]
            flow = self if home is self.model else home.outside()
            flow.budget = self.budget
            return flow.lambda_body(target, given)
        if isinstance(target, cst.Call):
            return self.call_made(target, node, arguments)
        if isinstance(target, cst.FunctionDef):
            is_elsewhere = self.model.home(target) is not self.model
            if is_elsewhere and isinstance(self.tree.parent(node), cst.Expr):
                value = UNKNOWN  # nobody uses what it returns
            else:
                value = self.model.call_function(target, func.receiver, node, arguments, self)
            self._forget(target, func, node)
            return value
        return UNKNOWN

    def _forget(self, function: cst.FunctionDef, func: Value, node: cst.Call) -> None:
        """What is known of attributes that a function assigns ends with its call."""
        if not self.paths:
            return
        places = [dotted(arg.value) for arg in node.args if arg.keyword is None]
        if func.receiver is not None and isinstance(node.func, cst.Attribute):
            places.insert(0, dotted(node.func.value))
        self.effects(function, places)

    def _call_unknown(self, func: Value, node: cst.Call, arguments: Sequence[Argument]) -> Value:
        name = last_name(node.func)
        if isinstance(node.func, cst.Attribute):
            known = self._method_of_unknown(func, name, node, arguments)
            if known is not None:
                return known
        if name and LOSS_NAME.search(name) and not name[0].isupper() and arguments:
            grad = Tri.NO if self.grad == Tri.NO else Tri.YES
            evidence = Evidence(Strength.NAME, f"`{name}(...)` sounds like a loss", node)
            return self.likely(tensor(grad, dtype=Dtype.FLOAT, evidence=evidence), ("call", id(node)))
        if self._is_given_tensors(func, node, arguments):
            grad = Tri.NO if self.grad == Tri.NO else Tri.MAYBE
            evidence = Evidence(Strength.NAME, f"`{name}(...)` is given tensors", node)
            return self.likely(tensor(grad, evidence=evidence), ("call", id(node)))
        return self.unknown(("call", id(node)))

    @staticmethod
    def _is_given_tensors(func: Value, node: cst.Call, arguments: Sequence[Argument]) -> bool:
        """Whether something that could be a module by what it is or is called, is called with nothing but tensors."""
        if isinstance(node.func, cst.Attribute):
            owner = node.func.value
            if not MODULE_NAME.search(last_name(owner)) and not MODULE_NAME.search(node.func.attr.value):
                return False
        elif func.kind & Kind.REFERENCE and not MODULE_NAME.search(last_name(node.func)):
            return False
        positional = [a for a in arguments if a.keyword is None and not a.star]
        return bool(positional) and all(holds_tensors(a.value) for a in positional)

    def _method_of_unknown(self, func: Value, name: str, node: cst.Call, arguments: Sequence[Argument]) -> Value | None:
        """Methods whose name says what comes out, whatever they are called on."""
        assert isinstance(node.func, cst.Attribute)
        receiver = self.values.get(id(node.func.value), UNKNOWN)
        if name in MODULE_METHODS:
            value = self._module_method(name, receiver, node)
            if value is not None:
                return value
        if name in ("cuda", "cpu", "to", "float", "half", "double", "train", "eval") and receiver.symbols:
            return receiver
        if name == "size" and receiver.symbols and arguments:
            self.learn(receiver.symbols, "`.size(...)` is called on it with a dimension", node)
            return NUMBER
        if name in ("log_prob", "rsample"):
            grad = Tri.NO if self.grad == Tri.NO else Tri.MAYBE
            evidence = Evidence(Strength.NAME, f"`{name}(...)` is what distributions have", node)
            return self.likely(tensor(grad, evidence=evidence), ("call", id(node)))
        if name in ("append", "extend", "update", "add", "insert") and receiver.kind == Kind.UNKNOWN:
            return NONE if name != "add" else None
        return None

    def _module_method(self, name: str, receiver: Value, node: cst.Call) -> Value | None:
        known = MODULE_METHODS[name]
        text = f"it comes from `{name}()`"
        evidence = Evidence(Strength.CONVENTION, text, node)
        param = parameter(evidence)
        buffer = tensor(Tri.NO, role=Role.BUFFER, evidence=evidence)
        module = replace(MODULE, evidence=evidence)
        match known:
            case "parameters":
                return container(param)
            case "named_parameters":
                return container(container(items=(STRING, param)))
            case "buffers":
                return container(buffer)
            case "named_buffers":
                return container(container(items=(STRING, buffer)))
            case "state_dict":
                is_module = receiver.kind & Kind.MODULE
                return mapping(STRING, buffer if is_module else replace(buffer, kind=Kind.TENSOR | Kind.UNKNOWN))
            case "modules":
                return container(module)
            case "named_modules":
                return container(container(items=(STRING, module)))
            case "self":
                return receiver if receiver.kind != Kind.UNKNOWN else None
        return None

    def _call_reference(self, func: Value, node: cst.Call, arguments: Sequence[Argument]) -> Value:
        ref = func.ref or ""
        if func.receiver is not None:
            return self._call_method(func, ref, node, arguments)
        if ref.startswith("builtins."):
            return self.call_builtin(ref.removeprefix("builtins."), node, arguments)
        if ref == "torch.autograd.Variable":
            return self._call_variable(node, arguments)
        if ref.startswith(("torch.", "pytorch.")) or ref == "torch":
            return self._call_torch(ref, func, node, arguments)
        return self._call_external(ref, func, node, arguments)

    def _call_variable(self, node: cst.Call, arguments: Sequence[Argument]) -> Value:
        literal = returned.given_bool(arguments, "requires_grad", 1, False)
        data = returned.given(arguments, "data", 0)
        wrapped = data.value if data is not None else UNKNOWN
        if data is not None:
            self._wrapped(data, node)
        known = wrapped.kind & Kind.TENSOR
        evidence = Evidence(Strength.SIGNATURE, "`Variable(...)` returns a tensor", node)
        return tensor(
            truth(literal),
            wrapped.ndim if known else Ndim.ANY,
            wrapped.dtype if known else Dtype.ANY,
            leaf=Tri.YES,
            evidence=evidence,
        )

    def _wrapped(self, data: Argument, node: cst.Call) -> None:
        """Learn from ``Variable(x)``, which raises where ``x`` is no tensor."""
        if self.tests_of_type:
            return
        self.learn(data.value.symbols, "`Variable(...)` is called with it, which takes only tensors", node)
        if not self.model.declares("data"):
            self.learn_owner(data.value, data.node, "`Variable(...)` is called with its data", node)

    def _call_torch(self, ref: str, func: Value, node: cst.Call, arguments: Sequence[Argument]) -> Value:
        data = returned.data()
        if ref in ("torch.compile", "torch.jit.script", "torch.jit.trace") and arguments and not arguments[0].keyword:
            return arguments[0].value
        if ref in ("torch.vmap", "torch.func.vmap") and arguments:
            return Value(Kind.FUNCTION, node=node)
        if ref == "torch.utils.data.random_split" and arguments:
            part = loaders.subset(Value(Kind.OBJECT, item=self._sample(arguments[0].value, arguments[0].node)))
            return container(part)
        evidence = Evidence(Strength.SIGNATURE, f"`{ref}` returns it", node)
        if arguments and not arguments[0].star and arguments[0].keyword is None:
            self._tensor_argument(ref, arguments[0], node)
        result = data["functions"].get(ref)
        if isinstance(result, dict) and result.get("names", [])[:2] == ["data", "batch_sizes"]:
            packed = returned.apply(result["items"][0], None, arguments, self.grad, evidence)
            return Value(Kind.PACKED, packed.grad, dtype=packed.dtype, ref=PACKED_SEQUENCE, evidence=evidence)
        if ref in GRAD_CONTEXTS or ref in SET_GRAD:
            return Value(Kind.OBJECT, grad_mode(ref, arguments), ref=ref, evidence=evidence)
        if ref == "torch.autograd.Function.apply":
            return returned.apply({"k": "tensor"}, None, arguments, self.grad, evidence)
        if ref == "torch.autograd.grad":
            graph = returned.given_bool(arguments, "create_graph", data["functions"][ref]["at"]["create_graph"], False)
            return container(tensor(truth(graph), evidence=evidence))
        if result is not None:
            value = returned.apply(result, None, arguments, self.grad, evidence)
            return value if value.kind != Kind.UNKNOWN else self.unknown(("call", id(node)))
        kind = returned.class_kind(ref)
        if kind is None and ref.startswith("torch.Tensor."):
            return self._unbound_method(ref, node, arguments)
        if kind is not None:
            return self._construct_torch(ref, kind, node, arguments, evidence)
        if ref.endswith("Tensor"):
            return self._construct_torch(ref, "tensor", node, arguments, evidence)
        return self.unknown(("call", id(node)))

    def _tensor_argument(self, ref: str, argument: Argument, node: cst.Call) -> None:
        """Learn from being the input of a function that takes tensors only."""
        if ref.startswith("torch.nn.functional.") and returned.takes_tensor(ref):
            self.learn(argument.value.symbols, f"it is given to `{ref}`", node)

    def _unbound_method(self, ref: str, node: cst.Call, arguments: Sequence[Argument]) -> Value:
        if not arguments:
            return UNKNOWN
        method = Value(Kind.REFERENCE, ref=ref, receiver=arguments[0].value)
        return self._call_method(method, ref, node, arguments[1:])

    def _construct_torch(
        self, ref: str, kind: str, node: cst.Call, arguments: Sequence[Argument], evidence: Evidence
    ) -> Value:
        match kind:
            case "module":
                return structure.built(
                    Value(Kind.MODULE, ref=ref, bound=tuple(arguments), evidence=evidence), arguments
                )
            case "parameter":
                return _parameter(arguments, evidence)
            case "tensor":
                dtype = returned.dtype_named(ref) if ref != "torch.Tensor" else Dtype.FLOAT
                first = arguments[0].value if len(arguments) == 1 else NUMBER
                if first.kind & Kind.TENSOR:
                    return tensor(first.grad, first.ndim, dtype, evidence=evidence)
                return tensor(Tri.NO, Ndim.ANY if first.kind & Kind.UNKNOWN else Ndim.MORE, dtype, evidence=evidence)
            case "optimizer":
                return Value(Kind.OPTIMIZER, ref=ref, evidence=evidence)
            case "dataloader":
                return Value(Kind.LOADER, ref=ref, item=self._batch_of(node, arguments), evidence=evidence)
            case "dataset":
                return Value(Kind.OBJECT, ref=ref, item=self._sample_of(ref, arguments), evidence=evidence)
            case "sampler":
                index = container(NUMBER) if ref.endswith("BatchSampler") else NUMBER
                return Value(Kind.OBJECT, ref=ref, item=index, evidence=evidence)
            case "packed":
                data = returned.given(arguments, "data", 0)
                value = data.value if data is not None else UNKNOWN
                return Value(Kind.PACKED, value.grad, dtype=value.dtype, ref=ref, evidence=evidence)
            case "distribution":
                grad = returned.grad_of_inputs([a.value for a in arguments])
                return Value(Kind.OBJECT, grad, ref=ref, bound=tuple(arguments), evidence=evidence)
        if ref.startswith("torch.distributions."):  # a transform
            grad = returned.grad_of_inputs([a.value for a in arguments])
            return Value(Kind.OBJECT, grad, ref=ref, evidence=evidence)
        return Value(Kind.OBJECT, ref=ref, evidence=evidence)

    def _sample_of(self, ref: str, arguments: Sequence[Argument]) -> Value | None:
        """What a data set of torch yields."""
        if not arguments or any(a.star for a in arguments):
            return None
        match ref.rpartition(".")[2]:
            case "TensorDataset":
                return loaders.of_tensors([a.value for a in arguments])
            case "Subset":
                return self._sample(arguments[0].value, arguments[0].node)
            case "ConcatDataset" | "ChainDataset":
                inner = self.iterate(arguments[0].value, arguments[0].node)
                return self._sample(inner, arguments[0].node)
        return None

    def _sample(self, dataset: Value, node: cst.BaseExpression) -> Value | None:
        """What a data set yields; None if it is not known."""
        if not dataset.kind & (Kind.OBJECT | Kind.CONTAINER) or dataset.kind & (Kind.UNKNOWN | Kind.MODULE):
            return None
        if dataset.item is not None or dataset.items is not None:
            return held(dataset)
        own = self.by_method(dataset, "getitem", node)
        if own is None:
            own = self.iterate(dataset, node) if isinstance(dataset.node, cst.ClassDef) else None
        return own if own is not None and own.kind != Kind.UNKNOWN else None

    def _batch_of(self, node: cst.Call, arguments: Sequence[Argument]) -> Value | None:
        """What a ``DataLoader`` yields that is made by this call; None if it is not known."""
        dataset = next((a for a in arguments if a.keyword in (None, "dataset")), None)
        if dataset is None or dataset.star or any(a.star for a in arguments):
            return None
        sample = self._sample(dataset.value, dataset.node)
        collate = returned.keyword(arguments, "collate_fn")
        if collate is not None and collate.value.kind != Kind.NONE:
            value = self.call_with(collate, [container(sample)], node)
            return value if value.kind != Kind.UNKNOWN else None
        size = returned.keyword(arguments, "batch_size")
        is_single = size is not None and size.value.kind & Kind.NONE
        return loaders.collated(sample) if sample is not None and not is_single else None

    def _call_method(self, func: Value, ref: str, node: cst.Call, arguments: Sequence[Argument]) -> Value:
        receiver = func.receiver
        assert receiver is not None
        name = ref.rpartition(".")[2]
        if ref.startswith("torch.Tensor."):
            return self._call_tensor_method(receiver, name, node, arguments)
        if ref.startswith("torch.distributions."):
            return self._call_distribution(receiver, name, node, arguments)
        if ref.startswith("torch.nn.Module."):
            value = self._module_method(name, receiver, node)
            if name == "apply" and arguments:
                self._apply_to_modules(arguments[0])
            return value if value is not None else self.unknown(("call", id(node)))
        if ref == "<optimizer>.step":
            return self.call_with(arguments[0], (), node) if arguments else NONE
        if ref.startswith("<modules>.") and isinstance(node.func, cst.Attribute) and arguments:
            grown = structure.grown(receiver, name, arguments)
            self.store(node.func.value, grown)
            return grown
        return self._call_plain_method(receiver, name, node, arguments)

    def _call_distribution(self, receiver: Value, name: str, node: cst.Call, arguments: Sequence[Argument]) -> Value:
        evidence = Evidence(Strength.SIGNATURE, f"`{name}` of a distribution", node)
        dtype = returned.distribution_dtype(receiver, name)
        ndim = Ndim.ANY
        if name in ("sample", "rsample") and arguments:
            ndim = Ndim.MORE if returned.length(arguments[0].value) == Ndim.MORE else Ndim.ANY
        if name in returned.SAMPLING:
            return tensor(Tri.NO, ndim, dtype, evidence=evidence)
        if name in returned.DISTRIBUTION_METHODS:
            inputs = [replace(OBJECT, grad=returned.distribution_grad(receiver, name))]
            inputs += [a.value for a in arguments] if name != "rsample" else []
            result = {"k": "tensor", "dtype": "float"}
            return replace(returned.apply(result, None, as_arguments(inputs), self.grad, evidence), ndim=ndim)
        return self.unknown(("call", id(node)))

    def _call_tensor_method(self, receiver: Value, name: str, node: cst.Call, arguments: Sequence[Argument]) -> Value:
        result = returned.data()["methods"].get(name)
        if name == "requires_grad_":
            value = replace(receiver, grad=truth(returned.literal_bool(arguments[0].node) if arguments else True))
            self._rebind(node, value)
            return value
        if name == "split" and (not arguments or arguments[0].value.kind == Kind.STRING):
            self.reject(receiver.symbols)
        evidence = receiver.evidence or Evidence(Strength.USE, f"`.{name}` of a tensor", node)
        value = returned.apply(result, receiver, arguments, self.grad, evidence)
        if receiver.kind & Kind.UNKNOWN and value.kind & Kind.TENSOR:
            if name in returned.data()["tensor_or_module"]:
                return replace(value, kind=receiver.kind, symbols=receiver.symbols)
            if name not in returned.tensor_only():
                return self.likely(value, ("call", id(node)))
        if INPLACE.search(name) and value.kind == Kind.TENSOR and value != receiver:
            self._rebind(node, value)
            if value.grad & Tri.YES and isinstance(node.func, cst.Attribute):
                self.write_through(node.func.value, value.grad)
        return value

    def _rebind(self, node: cst.Call, value: Value) -> None:
        """A method changed what its receiver is: ``x.requires_grad_()``, ``x.add_(y)``."""
        if isinstance(node.func, cst.Attribute):
            path = dotted(node.func.value)
            if path is not None and path in self.env:
                self.bind(path, value)

    def _apply_to_modules(self, argument: Argument) -> None:
        if isinstance(argument.node, cst.Lambda):
            evidence = Evidence(Strength.CONVENTION, "`apply` calls it with modules", argument.node)
            self.lambda_body(argument.node, (replace(MODULE, evidence=evidence),))

    def _call_plain_method(self, receiver: Value, name: str, node: cst.Call, arguments: Sequence[Argument]) -> Value:
        if receiver.kind & Kind.CONTAINER:
            return self.container_method(receiver, name, node, arguments)
        if receiver.kind & Kind.NDARRAY:
            return NUMBER if name in ("item", "tolist") else NDARRAY
        if receiver.kind & Kind.STRING:
            return container(STRING) if name in ("split", "splitlines", "rsplit") else STRING
        if receiver.kind & Kind.PACKED and name in PACKED_METHODS:
            dtype = returned.dtype_named(name)
            dtype = receiver.dtype if dtype == Dtype.ANY else dtype
            return replace(receiver, dtype=dtype, grad=receiver.grad if dtype & Dtype.FLOAT else Tri.NO)
        return OBJECT

    @staticmethod
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

    def _call_external(self, ref: str, func: Value, node: cst.Call, arguments: Sequence[Argument]) -> Value:
        root = ref.partition(".")[0]
        last = ref.rpartition(".")[2]
        if root in ("numpy", "np"):
            return NDARRAY
        if ref in ("typing.cast", "typing_extensions.cast") and len(arguments) == 2:
            declared = self.model.annotation(arguments[0].node, self)
            return arguments[1].value if declared is None else declared
        if ref == "functools.partial" and arguments:
            function = arguments[0].value
            return replace(function, bound=(*(function.bound or ()), *arguments[1:]))
        if (known := self.call_library(ref, node, arguments)) is not None:
            return known
        if ref.startswith("tqdm.") and last in ("trange", "tnrange"):
            return container(NUMBER)
        if ref in ("tqdm.tqdm", "tqdm.auto.tqdm", "tqdm.notebook.tqdm", "tqdm.tqdm_notebook") and arguments:
            return arguments[0].value
        if ref in _UNPICKLING:
            return self.unknown(("call", id(node)))
        if self.model.is_foreign(root):
            return OBJECT
        found = self.model.definition(ref)
        if found is not None and self.model.reference(found) != ref:
            return self.call(found, node, arguments)
        made = self._made_by(ref)
        if made is not None:
            return made
        if last in ("tqdm", "progress_bar", "ProgressBar") and arguments:
            return arguments[0].value
        return self._call_unknown(func, node, arguments)


_UNPICKLING = frozenset(("pickle.load", "pickle.loads"))
"""What they return is whatever was written."""

_SETS_REDUCTION = re.compile(r"(?<!\bself)\.reduction\s*=(?!=)")


def _sets_reduction(model: Model) -> bool:
    """Whether a file changes the reduction of a criterion that it has made: ``criterion.reduction = "none"``."""
    return bool(_SETS_REDUCTION.search(model.tree.source.text))


def grad_mode(ref: str, arguments: Sequence[Argument]) -> int:
    """The grad mode that a context sets. ``inference_mode(False)`` lets autograd record (torch/csrc, InferenceMode)."""
    if ref in SET_GRAD:
        return truth(returned.given_bool(arguments, "mode", 0, False)) if arguments else Tri.MAYBE
    if ref.endswith("inference_mode"):
        mode = returned.given_bool(arguments, "mode", 0, True)
        return truth(None if mode is None else not mode)
    return GRAD_CONTEXTS[ref]


def as_arguments(values: Sequence[Value]) -> list[Argument]:
    """Values as positional arguments."""
    return [Argument(None, value, cst.Name("_")) for value in values]


def _parameter(arguments: Sequence[Argument], evidence: Evidence) -> Value:
    """``nn.Parameter(data, requires_grad)``."""
    grad = truth(returned.given_bool(arguments, "requires_grad", 1, True))
    data = returned.given(arguments, "data", 0)
    value = replace(parameter(evidence), grad=grad)
    if data is None or not data.value.kind & Kind.TENSOR:
        return value if grad == Tri.YES else replace(value, dtype=Dtype.ANY)
    return replace(value, ndim=data.value.ndim, dtype=Dtype.FLOAT if grad == Tri.YES else data.value.dtype)


def holds_tensors(value: Value) -> bool:
    """Whether a value is a tensor or a tuple with one."""
    return value.kind == Kind.TENSOR or any(v.kind == Kind.TENSOR for v in value.items or ())
