"""What functions, methods, attributes, classes and modules give: the parts of the file."""

from __future__ import annotations

import contextlib
import functools
import importlib
import importlib.util
import inspect
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import torch

from torch_facts import Result
from torch_facts.annotations import TENSOR
from torch_facts.execution import (
    PLAIN,
    Before,
    Call,
    Known,
    Leaf,
    Seen,
    detached,
    dtype_kind,
    map_tensors,
    requiring_grad,
    run,
    tensors_in,
    tree,
)
from torch_facts.merging import merge_calls
from torch_facts.naming import PLAIN_MODULES, is_tensor_type, public_names, resolve
from torch_facts.probes import (
    DISTRIBUTION_CALLS,
    DISTRIBUTION_PROBES,
    METHOD_PROBES,
    MODULE_PROBES,
    OPERATOR_PROBES,
    PROBES,
    table,
)
from torch_facts.samples import (
    UNCHECKED,
    from_signatures,
    import_testing,
    look,
    plain_calls,
    probe_calls,
    seed,
    variations,
    viewing_operators,
)
from torch_facts.signatures import Signature, Signatures, live_signatures, read_attributes, read_stub

NOT_RUN = re.compile(r"cudnn_|miopen_|mkldnn_|from_file|import_ir|^(cuda|xpu|ipu|mtia|hpu|pin_memory|is_pinned)$")
"""Functions whose result the devices or files of the machine decide."""

# Types without the attributes of tensors, by what they are reached by. ``()`` builds one, for its instance attributes.
NOT_TENSORS = """
    np.ndarray np.generic np.float64 np.int64 np.bool_ list tuple dict set frozenset str bytes bytearray int float
    complex bool range object slice type io.TextIOWrapper io.BytesIO io.StringIO io.BufferedReader pathlib.Path
    argparse.Namespace collections.deque collections.Counter collections.OrderedDict collections.defaultdict
    collections.ChainMap array.array memoryview fractions.Fraction decimal.Decimal datetime.date datetime.time
    datetime.datetime datetime.timedelta random.Random logging.getLogger() re.Pattern re.Match types.SimpleNamespace
    types.FunctionType types.ModuleType threading.Thread() threading.Lock() queue.Queue() torch.nn.Module()
    torch.nn.Sequential() torch.nn.ModuleList() torch.nn.ParameterList() torch.nn.ModuleDict()
    torch.nn.ParameterDict() torch.optim.Optimizer torch.optim.SGD([parameter]) torch.optim.Adam([parameter])
    torch.optim.lr_scheduler.LRScheduler torch.optim.lr_scheduler.StepLR(torch.optim.SGD([parameter]),1)
    torch.optim.lr_scheduler.ReduceLROnPlateau(torch.optim.SGD([parameter])) torch.utils.data.Dataset
    torch.utils.data.TensorDataset(parameter) torch.utils.data.DataLoader([1]) torch.nn.utils.rnn.PackedSequence
    torch.Size torch.device torch.dtype torch.layout torch.Generator torch.cuda.Stream torch.cuda.Event
    torch.UntypedStorage torch.TypedStorage torch.jit.ScriptModule torch.fx.Node torch.fx.GraphModule
"""


def functions(samples: dict[str, list[Call]]) -> dict[str, Result]:
    """Every public function."""
    stubs = {"torch": read_stub("_C/_VariableFunctions.pyi"), "torch.nn.functional": read_stub("nn/functional.pyi")}
    found = {}
    for name, value in public_names().objects.items():
        if inspect.isclass(value) or is_tensor_type(value):
            continue
        module, _, last = name.rpartition(".")
        known = Known(last, tuple(stubs.get(module, {}).get(last, ()) or live_signatures(value)))
        calls = [*probe_calls(PROBES.get(name, ())), *sampled(name.removeprefix("torch."), samples, value, known)]
        if module in PLAIN_MODULES and _takes_tensor(known) and last not in UNCHECKED:
            calls += plain_calls()
        result = None if NOT_RUN.search(last) else look(value, calls, known)
        result = from_signatures(known) if result is None else result
        if module == "torch":
            result = _may_view(result, last)
        if result != "any" or module == "torch":
            found[name] = result
    return found


def _may_view(result: Result, name: str) -> Result:
    """A result may be a view if the schema of the operator of that name says so (sparse tensors have no address)."""
    is_new = isinstance(result, dict) and result["k"] == "tensor" and "self" not in result
    return {**result, "alias": True} if is_new and name in viewing_operators() else result


def _takes_tensor(known: Known) -> bool:
    firsts = [signature.parameters[0] for signature in known.signatures if signature.parameters]
    return any(annotation == "Tensor" or name in {"input", "A", "x"} for name, annotation, _, _ in firsts)


def sampled(name: str, samples: dict[str, list[Call]], function: Any, known: Known) -> list[Call]:
    """Samples for a function; none if no float sample works: then its arguments come in another order."""
    calls = samples.get(name) or samples.get(name.removesuffix("_")) or samples.get("nn.functional." + name) or []
    floats = [call for call in calls if call.args and getattr(call.args[0], "dtype", None) == torch.float32]
    return [] if floats and not any(run(function, call, known) for call in floats) else calls


COPIES = re.compile(r"Returns a copy of this object.*original object is returned", re.DOTALL)
"""What methods say that return their tensor itself where nothing has to be done."""
BOTH = {"same": True, "copy": True}


def methods(samples: dict[str, list[Call]]) -> dict[str, Result]:
    """Every public method of tensors."""
    names = [name for name in dir(torch.Tensor) if not name.startswith("_") and callable(getattr(torch.Tensor, name))]
    return {name: _method(name, METHOD_PROBES, samples) for name in names}


def operators(samples: dict[str, list[Call]]) -> dict[str, Result]:
    """The special methods that stand for operators."""
    return {name: _method(name, OPERATOR_PROBES, samples) for name in OPERATOR_PROBES}


@functools.cache
def tensor_stub() -> Signatures:
    return read_stub("_C/__init__.pyi", "TensorBase")


def _method(name: str, probes: dict[str, tuple[str, ...]], samples: dict[str, list[Call]]) -> Result:
    value = getattr(torch.Tensor, name)
    known = Known(name, tuple(tensor_stub().get(name) or live_signatures(value)), takes_self=True)
    calls = [*probe_calls(probes.get(name, ())), *sampled(name, samples, value, known), *plain_calls()]
    calls = [call for call in calls if call.args and isinstance(call.args[0], torch.Tensor)]
    result = None if NOT_RUN.search(name) else look(value, calls, known)
    documented = COPIES.search(value.__doc__ or "")
    if result is not None:
        return _may_view({**result, **BOTH} if documented else result, name)
    return {**TENSOR, "ndim": "keep", "alias": True, **BOTH} if documented else _may_view(from_signatures(known), name)


def attributes() -> dict[str, Result]:
    """Every public attribute of tensors, read from a few tensors."""
    declared = read_attributes("_C/__init__.pyi", "TensorBase")
    found = {}
    for name in dir(torch.Tensor):
        if name.startswith("_") or callable(getattr(torch.Tensor, name)):
            continue
        known = Known(name, (Signature((), declared.get(name, "Any")),), takes_self=True)
        calls = [*plain_calls()[:12], Call((torch.rand(2, 3, dtype=torch.complex64),))]
        result = look(functools.partial(_attribute, name=name), calls, known)
        found[name] = from_signatures(known) if result is None or result == "none" else result
    found["grad"] = _seen_gradient()
    return found


def _attribute(tensor: torch.Tensor, name: str) -> Any:
    return getattr(tensor, name)


def _seen_gradient() -> Result:
    leaf = torch.rand(3, requires_grad=True)
    before: Any = leaf.grad
    torch.autograd.backward((leaf * leaf).sum())
    after: Any = leaf.grad
    assert before is None
    assert after.shape == leaf.shape
    assert not after.requires_grad
    return {"k": "tensor", "grad": "never", "ndim": "keep", "optional": True}


def not_tensors() -> list[Any]:
    """What :data:`NOT_TENSORS` names, and all distributions."""
    parameter = torch.nn.Parameter(torch.rand(1))
    spaces: dict[str, Any] = {"np": np, "torch": torch, "parameter": parameter}
    texts = NOT_TENSORS.split()
    for text in texts:
        name = text.partition(".")[0]
        if "." in text and name not in spaces:
            spaces[name] = importlib.import_module(name)
    names = set(torch.distributions.__all__) & {cls.__name__ for cls in _subclasses(torch.distributions.Distribution)}
    return [*(eval(text, spaces) for text in texts), *(getattr(torch.distributions, name) for name in sorted(names))]


def _subclasses(cls: type[Any]) -> Iterator[type[Any]]:
    sub: type[Any]
    for sub in cls.__subclasses__():
        yield sub
        yield from _subclasses(sub)


def tensor_only() -> list[str]:
    """Public names of tensors that nothing in :func:`not_tensors` has."""
    others = {name for value in not_tensors() for name in dir(value)}
    return sorted(name for name in dir(torch.Tensor) if not name.startswith("_") and name not in others)


def tensor_or_module() -> list[str]:
    """Public names that tensors and modules share."""
    return sorted(name for name in set(dir(torch.Tensor)) & set(dir(torch.nn.Module)) if not name.startswith("_"))


CLASS_KINDS = table("""
    parameter torch.nn.Parameter
    tensor torch.Tensor
    module torch.nn.Module
    optimizer torch.optim.Optimizer
    scheduler torch.optim.lr_scheduler.LRScheduler
    dataloader torch.utils.data.DataLoader
    dataset torch.utils.data.Dataset
    sampler torch.utils.data.Sampler
    distribution torch.distributions.Distribution
    packed torch.nn.utils.rnn.PackedSequence
    storage torch.UntypedStorage | torch.TypedStorage
    size torch.Size
    device torch.device
    dtype torch.dtype
    layout torch.layout
    function torch.autograd.Function
""")
"""What subclasses of a class are called."""


def classes(modules: Iterable[str]) -> dict[str, str]:
    """Every public class that is not in ``modules``."""
    known = [(resolve(name), kind) for kind, names in CLASS_KINDS.items() for name in names]
    found = {}
    for name, value in public_names().objects.items():
        if is_tensor_type(value) or value is torch.autograd.Variable:  # torchlint: ignore[TL201] the class is meant
            assert isinstance(torch.rand(1), value) or name != "torch.autograd.Variable"
            found[name] = "tensor"
        elif inspect.isclass(value) and name not in modules:
            found[name] = next((kind for base, kind in known if issubclass(value, base)), "other")
    return found


def constructors(found: dict[str, str]) -> dict[str, Result]:
    """What calling the classes of tensors in ``torch`` and ``torch.nn`` gives."""
    names = [name for name, kind in found.items() if kind in {"tensor", "parameter"} and name.count(".") <= 2]
    texts = ("2, 3", "[1.0, 2.0]", "[1, 2]", "w", "x", "i", "v", "s", "b")
    results = {name: look(resolve(name), probe_calls(texts), Known(name)) for name in sorted(names)}
    return {name: result for name, result in results.items() if result is not None}


def distribution() -> dict[str, Result]:
    """Methods and attributes of distributions, over a few of them; ``none`` results are those of missing methods."""
    built = [
        functools.partial(getattr(torch.distributions, name), *call.args)
        for name, texts in DISTRIBUTION_PROBES.items()
        for call in probe_calls(texts)
    ]
    names = {name for make in built for name in dir(make()) if not name.startswith("_")}
    return {name: result for name in sorted(names) if (result := _of_distributions(name, built)) != "any"}


def _of_distributions(name: str, built: Sequence[Callable[[], Any]]) -> Result:
    seen = []
    for make in built:
        for text in DISTRIBUTION_CALLS.get(name, (None,)):
            with contextlib.suppress(NotImplementedError, AttributeError):
                seen.append(_of_distribution(make(), name, text))
    return merge_calls(seen, Known(name)) if seen else "any"


def distributions() -> dict[str, Any]:
    """The parameters of distributions, what is no function of some of them, and what is made of integers."""
    found = {name: _one_distribution(name, texts[0]) for name, texts in DISTRIBUTION_PROBES.items()}
    return {f"torch.distributions.{name}": about for name, about in found.items()}


def _one_distribution(name: str, text: str) -> dict[str, Any]:
    cls, call = getattr(torch.distributions, name), probe_calls([text])[0]
    names = [key for key in inspect.signature(cls).parameters if key != "validate_args"]
    parameters = dict(zip(names, map_tensors(list(call.args), detached), strict=False))
    own = [key for key in dir(cls(**parameters)) if not key.startswith("_")]
    free: dict[str, list[str]] = {}
    others = {**parameters, "logits": parameters["probs"]} if {"probs", "logits"} <= {*names} else {}
    others.pop("probs", None)  # one of the two is given
    tensors = {varied for each in (parameters, others) for varied, v in each.items() if isinstance(v, torch.Tensor)}
    for varied in names:
        given = parameters if varied in parameters else others
        if varied in tensors:
            seen = {key: _of_made(cls, {**given, varied: requiring_grad(given[varied])}, key) for key in own}
            for key, one in seen.items():
                if one and one.tree.kind == "float" and not one.tree.requires_grad:
                    free.setdefault(key, []).append(varied)
    plain = {key: one for key in own if (one := _of_made(cls, parameters, key))}
    integers = [key for key, one in plain.items() if one.tree.kind == "int"]
    free = {key: of for key, of in free.items() if key not in _DRAWING}
    return {"parameters": names, **({"free": free} if free else {}), **({"integers": integers} if integers else {})}


_DRAWING = frozenset(("enumerate_support", "sample", "sample_n"))
"""What no distribution computes with a graph."""


def _of_made(cls: Any, parameters: dict[str, Any], name: str) -> Seen | None:
    """A tensor that a distribution with these parameters gives."""
    with contextlib.suppress(NotImplementedError, AttributeError):
        seen = _of_distribution(cls(**parameters), name, DISTRIBUTION_CALLS.get(name, (None,))[0])
        return seen if isinstance(seen.tree, Leaf) else None
    return None


def _parameters(made: Any) -> Iterator[torch.Tensor]:
    for value in vars(made).values():
        if isinstance(value, torch.Tensor):
            yield value
        elif isinstance(value, torch.distributions.Distribution):
            yield from _parameters(value)


def _of_distribution(made: Any, name: str, text: str | None) -> Seen:
    before = replace(Before.of(list(_parameters(made)), {}, Known(name)), shapes=[])
    value = getattr(made, name)
    if text is not None:
        call = probe_calls([text], sampled=made.sample())[0]
        value = value(*call.args)
    return Seen("other" if callable(value) else tree(value, before))


def modules() -> dict[str, dict[str, Any]]:
    """Every public module of ``torch.nn``, built and run."""
    database = {info.module_cls: info for info in import_testing()[1]}
    found = {}
    for name, value in public_names().objects.items():
        if name.startswith("torch.nn.") and inspect.isclass(value) and issubclass(value, torch.nn.Module):
            pairs = [*probe_pairs(value.__name__), *database_pairs(database.get(value))]
            found[name] = _module(value, pairs)
    return found


Pair = tuple[Call, "Call | None"]


def database_pairs(info: Any) -> Iterator[Pair]:
    if info is None:
        return
    seed()
    for sample in info.module_inputs_func(info, device="cpu", dtype=torch.float32, requires_grad=False, training=True):
        made, called = sample.constructor_input, sample.forward_input
        yield Call(tuple(made.args), made.kwargs), Call(tuple(called.args), called.kwargs) if called else None


def probe_pairs(name: str) -> Iterator[Pair]:
    if name not in MODULE_PROBES:
        return
    made, *called = MODULE_PROBES[name]
    if not called:
        yield probe_calls([made])[0], None
    for text in called:
        yield probe_calls([made])[0], probe_calls([text])[0]


def _module(cls: Any, pairs: Sequence[Pair]) -> dict[str, Any]:
    known = Known(cls.__name__, tuple(live_signatures(cls)), takes_self=True)
    seen: list[Seen] = []
    names: dict[str, set[str]] = {"params": set(), "buffers": set(), "attributes": set()}
    trainable, in_place = [], []
    for made, called in pairs[:40]:
        for variant in _constructions(made, known):
            with contextlib.suppress(Exception):
                seed()
                module = cls(*variant.args, **variant.kwargs)
                names["params"] |= set(module._parameters)
                names["buffers"] |= set(module._buffers)
                names["attributes"] |= {key for key in vars(module) if not key.startswith("_")} - {"training"}
                ran = [] if called is None else _run_module(module, variant, called, known)
                if variant.kwargs.get("inplace"):
                    in_place += ran
                else:
                    seen += ran
                trainable += [variant] if _trainable(module, called) else []
    found = _describe(names, seen, in_place, known)
    return {**found, "trainable": _if_trainable(cls, pairs, known) or True} if trainable else found


def _if_trainable(cls: Any, pairs: Sequence[Pair], known: Known) -> list[Any] | None:
    """Name, position and default of the argument without which a module has nothing to train."""
    for name, parameter in inspect.signature(cls).parameters.items():
        if isinstance(parameter.default, bool) and _decides(cls, pairs, name):
            return [name, known.at(name), parameter.default]
    return None


def _decides(cls: Any, pairs: Sequence[Pair], name: str) -> bool:
    """Whether a call requires grad exactly if an argument of the constructor is true."""
    for made, called in pairs[:4]:
        found = {}
        for value in (True, False):
            with contextlib.suppress(Exception):
                found[value] = _trainable(cls(*made.args, **{**made.kwargs, name: value}), called)
        if len(found) == 2:
            return found == {True: True, False: False}
    return False


def _describe(
    names: dict[str, set[str]], seen: Sequence[Seen], in_place: Sequence[Seen], known: Known
) -> dict[str, Any]:
    output = _without_always(merge_calls(seen, known)) if seen else "any"
    if in_place and isinstance(output, dict) and all(isinstance(o.tree, Leaf) and o.tree.is_first for o in in_place):
        output["inplace_flag"] = "inplace"
    result: dict[str, Any] = {key: sorted(value) for key, value in names.items()}
    return {**result, "output": output}


def _without_always(result: Result) -> Result:
    if isinstance(result, dict):
        return {key: _without_always(value) for key, value in result.items() if (key, value) != ("grad", "always")}
    return [_without_always(item) for item in result] if isinstance(result, list) else result


def _constructions(made: Call, known: Known) -> Iterator[Call]:
    """The call, and the same with other values of the arguments that change what comes out."""
    yield made
    if known.has("inplace"):
        yield Call(made.args, {**made.kwargs, "inplace": True})
    if known.has("reduction"):
        yield Call(made.args, {**made.kwargs, "reduction": "none"})
    if known.has("return_indices"):
        yield Call(made.args, {**made.kwargs, "return_indices": True})


def _run_module(module: torch.nn.Module, made: Call, called: Call, known: Known) -> list[Seen]:
    integers = Call(map_tensors(called.args, torch.Tensor.long), map_tensors(called.kwargs, torch.Tensor.long))
    calls = [called, *variations(called, Known("")), integers]
    unreduced = made.kwargs.get("reduction") == "none"
    flags = known.flags((None, *made.args), made.kwargs)
    ran = [one for call in calls if (one := run(module, call, Known("")))]
    return [replace(one, case="no_args", flags=flags, unreduced=unreduced) for one in ran]


def _trainable(module: torch.nn.Module, called: Call | None) -> bool:
    if called is None:
        return False
    made = module(*map_tensors(called.args, detached), **map_tensors(called.kwargs, detached))
    return any(tensor.requires_grad for tensor in tensors_in(made))


def aliases(known: set[str]) -> dict[str, str]:
    """Other names of the functions and classes that are known."""
    return {name: target for name, target in public_names().aliases.items() if target in known}


def constants() -> dict[str, str]:
    """Public values of ``torch`` that are neither dtypes nor callable."""
    found = {}
    for name, value in vars(torch).items():
        kind = next((kind for cls, kind in PLAIN if isinstance(value, cls)), "none")
        if kind not in {"dtype", "none"} and not name.startswith("_"):
            found[f"torch.{name}"] = kind
    return found


def dtypes() -> dict[str, str]:
    """Kinds of the public dtypes."""
    return {f"torch.{name}": dtype_kind(value) for name, value in vars(torch).items() if isinstance(value, torch.dtype)}
