"""``torchlint/model/torch/data/torch.json`` is what the installed torch gives, and what it says holds."""

from __future__ import annotations

import importlib
import inspect
import json
import re
import sys
import timeit
import warnings
from collections.abc import Callable, Collection, Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch.nn.parameter import UninitializedParameter

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "scripts"))

import generate_torch_data as script
from torch_facts import execution, naming
from torch_facts import samples as samples_of_torch
from torch_facts.results import NOT_RUN, database_pairs, sampled, tensor_stub
from torch_facts.samples import sample_calls, viewing_operators, where
from torch_facts.signatures import live_signatures, read_stub

from torchlint.model.torch.transfer import _STATISTICS
from torchlint.rules.tl401_uncalled_method import NEEDING_ARGUMENTS

STRINGS = {"bool", "int", "float", "number", "str", "none", "list", "ndarray", "size", "device", "dtype", "layout"}
STRINGS |= {"storage", "generator", "handle", "other", "any"}
TENSOR_KEYS: dict[str, set[Any]] = {
    "k": {"tensor"},
    "grad": {"first", "never", "always", "factory"},
    "dtype": {"int", "bool", "float", "arg", "float_factory", "tensors", "promote", "count", "mixed", "any"},
    "ndim": {"zero", "more", "keep", "broadcast", "reduce", "loss", "size", "data"},
    "as_first": {True},
    "self": {True},
    "alias": {True},
    "optional": {True},
    "inplace_flag": {"inplace"},
    "dim_at": set(range(8)),
    "size_at": set(range(1, 8)),
    "keepdim": {True, *range(1, 8)},
    **{key: {True} for key in ("asked", "same", "copy", "sizes", "elementwise")},
}


data: dict[str, Any] = json.loads(script.OUTPUT.read_text(encoding="utf-8"))
functions, methods = data["functions"], data["methods"]


def results(value: Any) -> Iterator[Any]:
    """A result and all results inside of it."""
    yield value
    if isinstance(value, dict):
        inner = [*value.get("cases", {}).values(), *value.get("items", ())]
        for item in [*inner, value["item"]] if "item" in value else inner:
            yield from results(item)


def everything() -> Iterator[tuple[str, Any]]:
    for part in ("functions", "methods", "attributes", "operators", "constructors", "distribution"):
        for name, result in data[part].items():
            yield f"{part} {name}", result
    for name, module in data["modules"].items():
        yield f"modules {name}", module["output"]


# The file


def test_it_is_what_the_installed_torch_gives() -> None:
    assert torch.__version__.partition("+")[0] == data["torch"], "another torch: run scripts/generate_torch_data.py"
    there = script.OUTPUT.read_text(encoding="utf-8").splitlines()
    made = script.render(script.generate()).splitlines()
    changed = sorted(set(there) ^ set(made))
    assert not changed, "run scripts/generate_torch_data.py:\n" + "\n".join(changed[:40])
    assert there == made


def test_it_is_small_and_has_one_entry_a_line() -> None:
    text = script.OUTPUT.read_text(encoding="utf-8")
    assert len(text.encode()) < 280_000
    entries = sum(len(part) for part in data.values() if not isinstance(part, str))
    assert entries <= len(text.splitlines()) <= entries + 3 * len(data)
    assert "/site-packages" not in text


@pytest.mark.parametrize("part", [name for name, part in data.items() if isinstance(part, dict)])
def test_it_is_sorted(part: str) -> None:
    assert list(data[part]) == sorted(data[part])


def test_results_keep_to_the_format() -> None:
    for name, whole in everything():
        for result in results(whole):
            if isinstance(result, str):
                assert result in STRINGS, name
            elif result["k"] == "tensor":
                assert all(value in TENSOR_KEYS[key] for key, value in result.items() if key != "at"), (name, result)
            elif result["k"] == "overload":
                assert "no_args" in result["cases"], name
                for case in result["cases"]:
                    assert re.fullmatch(r"no_args|dim|tensor|one_arg|sequence|flag:\w+(,\w+)*", case), (name, case)
            else:
                assert result["k"] in {"tuple", "tuple_of", "list_of"}, name
                assert len(result.get("names", result.get("items"))) == len(result["items"]) if "items" in result else 1


# Names


def test_names_lead_to_what_they_are_said_to_be() -> None:
    for name in [*functions, *data["modules"], *data["classes"], *data["dtypes"], *data["constants"]]:
        assert naming.resolve(name) is not None, name
    assert all(callable(naming.resolve(name)) for name in functions)
    assert all(issubclass(naming.resolve(name), torch.nn.Module) for name in data["modules"])
    assert all(isinstance(naming.resolve(name), torch.dtype) for name in data["dtypes"])


def test_aliases_are_other_names_of_the_same() -> None:
    known = {*functions, *data["modules"], *data["classes"]}
    for name, target in data["aliases"].items():
        assert name not in known
        assert target in known
        parent, _, last = name.rpartition(".")
        assert getattr(importlib.import_module(parent), last) is naming.resolve(target), name


def test_parts_hold_no_name_twice() -> None:
    assert not set(functions) & set(data["classes"])
    assert not set(data["modules"]) & set(data["classes"])
    assert not set(methods) & set(data["attributes"])
    public = {name for name in dir(torch.Tensor) if not name.startswith("_")}
    assert public == set(methods) | set(data["attributes"])


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("torch.optim.SGD", "optimizer"),
        ("torch.optim.lr_scheduler.StepLR", "scheduler"),
        ("torch.optim.lr_scheduler.ReduceLROnPlateau", "scheduler"),
        ("torch.utils.data.DataLoader", "dataloader"),
        ("torch.utils.data.TensorDataset", "dataset"),
        ("torch.distributions.Normal", "distribution"),
        ("torch.nn.utils.rnn.PackedSequence", "packed"),
        ("torch.FloatTensor", "tensor"),
        ("torch.Tensor", "tensor"),
        ("torch.autograd.Variable", "tensor"),
        ("torch.nn.Parameter", "parameter"),
        ("torch.Generator", "other"),
        ("torch.no_grad", "other"),
        ("torch.jit.ScriptModule", "module"),
        ("torch.device", "device"),
    ],
)
def test_classes(name: str, kind: str) -> None:
    assert data["classes"][name] == kind


@pytest.mark.parametrize(
    ("name", "target"),
    [
        ("torch.nn.parameter.Parameter", "torch.nn.Parameter"),
        ("torch.nn.modules.linear.Linear", "torch.nn.Linear"),
        ("torch.autograd.variable.Variable", "torch.autograd.Variable"),
        ("torch.functional.einsum", "torch.einsum"),
        ("torch.nn.functional.conv2d", "torch.conv2d"),
        ("torch.optim.adam.Adam", "torch.optim.Adam"),
        ("torch.optim.optimizer.Optimizer", "torch.optim.Optimizer"),
        ("torch.utils.data.dataset.Dataset", "torch.utils.data.Dataset"),
    ],
)
def test_aliases(name: str, target: str) -> None:
    assert data["aliases"][name] == target


def test_tensor_only_names_are_on_nothing_else() -> None:
    others = [
        np.ndarray,
        np.float64,
        list,
        dict,
        str,
        int,
        float,
        object,
        torch.nn.Module,
        torch.optim.Adam,
        torch.Size,
    ]
    others += [torch.device, torch.utils.data.DataLoader, torch.distributions.Normal, torch.nn.utils.rnn.PackedSequence]
    for name in data["tensor_only"]:
        assert hasattr(torch.Tensor, name)
        assert not [other for other in others if hasattr(other, name)], name
    assert {"backward", "unsqueeze", "requires_grad", "detach_"} <= set(data["tensor_only"])
    assert not {"data", "shape", "cpu", "detach", "item", "mean", "add", "T", "to"} & set(data["tensor_only"])


@pytest.mark.filterwarnings("ignore")
def test_what_modules_hold_has_a_dimension() -> None:
    looked_at = 0
    for info in samples_of_torch.import_testing()[1]:
        for made, _ in islice(database_pairs(info), 40):
            module = info.module_cls(*made.args, **made.kwargs)
            statistics = (each for name, each in module._buffers.items() if name in _STATISTICS)
            own = [each for each in (*module._parameters.values(), *statistics) if each is not None]
            assert all(isinstance(each, UninitializedParameter) or each.dim() > 0 for each in own), info
            looked_at += len(own)
    assert looked_at > 300


def test_names_of_tensors_and_modules() -> None:
    for name in data["tensor_or_module"]:
        assert hasattr(torch.Tensor, name)
        assert hasattr(torch.nn.Module, name)
    assert {"cuda", "cpu", "to", "float", "half", "double", "requires_grad_", "type"} <= set(data["tensor_or_module"])


# What is said of results holds when functions are run


def case_of(result: Any, seen: Any) -> Any:
    """The case of an overload that applies to a call, as the format says."""
    cases = result["cases"]
    flags = [case for case in cases if case.startswith("flag:") and set(case[5:].split(",")) <= seen.flags]
    return cases[max(flags, key=lambda case: case.count(","))] if flags else cases.get(seen.case, cases["no_args"])


def broken(result: Any, seen: Any, tree: Any) -> Iterator[str]:
    """What a result says that is not so in a call."""
    if isinstance(result, dict) and result["k"] == "overload":
        yield from broken(case_of(result, seen), seen, tree)
    elif isinstance(result, str):
        kinds = {"number": {"int", "float", "bool", "number"}, "any": {tree}}.get(result, {result})
        if tree not in kinds:
            yield f"{result}, not {tree}"
    elif tree == "none":
        if not result.get("optional"):
            yield "none"
    elif result["k"] == "tensor":
        yield from broken_tensor(result, seen, tree) if isinstance(tree, execution.Leaf) else [f"tensor, not {tree}"]
    elif not isinstance(tree, execution.Node) or result["k"].removesuffix("_of") != tree.kind:
        yield f"{result['k']}, not {tree}"
    else:
        items = result.get("items") or [result["item"]] * len(tree.items)
        if len(items) != len(tree.items) or ("items" in result and result.get("names", []) != list(tree.names)):
            yield f"{len(items)} items, not {tree}"
        for item, part in zip(items, tree.items, strict=False):
            yield from broken(item, seen, part)


def broken_tensor(result: dict[str, Any], seen: Any, leaf: Any) -> Iterator[str]:
    first, tensors, all_ = leaf.kinds or (leaf.kind,) * 3
    wrong = {
        ("grad", None): leaf.requires_grad and leaf.inputs_require is False,
        ("grad", "first"): leaf.requires_grad and leaf.first_requires is False,
        ("grad", "never"): leaf.requires_grad,
        ("grad", "factory"): leaf.requires_grad,
        ("grad", "always"): leaf.kind == "float" and not leaf.requires_grad,
        ("dtype", None): leaf.kind != first and not seen.dtype_given,
        ("dtype", "tensors"): leaf.kind != tensors and not seen.dtype_given,
        ("dtype", "promote"): leaf.kind not in (tensors, all_) and not seen.dtype_given,
        ("dtype", "count"): leaf.kind != ("int" if first == "bool" else first) and not seen.dtype_given,
        ("dtype", "mixed"): tensors == "float" != leaf.kind and not seen.dtype_given,
        ("dtype", "int"): leaf.kind != "int" and not seen.dtype_given,
        ("dtype", "bool"): leaf.kind != "bool" and not seen.dtype_given,
        ("dtype", "float"): leaf.kind != "float" and not seen.dtype_given,
        ("ndim", "zero"): leaf.ndim != 0,
        ("ndim", "more"): leaf.ndim < 1,
        ("ndim", "keep"): leaf.ndim != leaf.first_ndim,
        ("ndim", "broadcast"): not leaf.shape_is_broadcast,
        ("ndim", "reduce"): leaf.ndim != 0 and not seen.has_dim,
        ("ndim", "loss"): leaf.ndim != 0 and not seen.unreduced,
        ("ndim", "size"): leaf.size is not None and leaf.ndim != leaf.size,
        ("as_first", True): leaf.first_ndim is None or min(leaf.ndim, 3) != min(leaf.first_ndim, 3),
        ("keepdim", result.get("keepdim", 0)): "keepdim" in seen.flags and leaf.ndim != leaf.first_ndim,
        ("elementwise", True): seen.unreduced and not leaf.shape_is_broadcast,
        ("self", True): not leaf.is_first,
    }
    yield from (f"{key}: {result.get(key)} in {leaf}" for key in TENSOR_KEYS if wrong.get((key, result.get(key))))
    views = leaf.shares or leaf.is_first
    if views and not {"self", "alias"} & set(result) and result.get("inplace_flag") not in seen.flags:
        yield f"no alias in {leaf}"


@pytest.fixture(scope="module")
def samples() -> Iterator[dict[str, list[Any]]]:
    """Other samples than those the file is made from."""
    with warnings.catch_warnings(), pytest.MonkeyPatch.context() as patch:
        warnings.simplefilter("ignore")
        patch.setattr(samples_of_torch, "SAMPLES", {torch.float32: 31, torch.int64: 11, torch.bool: 5})
        torch.set_num_threads(1)
        yield sample_calls()


def _among(chosen: Collection[bool]) -> Callable[[int], bool]:
    return lambda number: (number == 0) in chosen


def problems(name: str, function: Any, known: Any, result: Any, calls: list[Any]) -> list[str]:
    found, ran = [], 0
    for call in calls:
        for chosen in ({False, True}, {False}, set()):  # all inputs require grad, all but the first argument's, none
            try:
                marked = where(call, _among(chosen))
                seen = execution.run_once(function, marked.args, marked.kwargs, known)
            except Exception:
                continue
            ran += 1
            found += [f"{name}: {text}" for text in broken(result, seen, seen.tree)]
    return [f"{ran}"] if not found else ["", *found[:3]]


def test_functions_do_what_is_said_of_them(samples: dict[str, list[Any]]) -> None:
    stubs = {"torch": read_stub("_C/_VariableFunctions.pyi")}
    stubs["torch.nn.functional"] = read_stub("nn/functional.pyi")
    found, ran = [], 0
    for name, result in functions.items():
        module, _, last = name.rpartition(".")
        function = naming.resolve(name)
        known = execution.Known(last, tuple(stubs.get(module, {}).get(last, ()) or live_signatures(function)))
        calls = [] if NOT_RUN.search(last) else sampled(name.removeprefix("torch."), samples, function, known)
        count, *texts = problems(name, function, known, result, calls)
        found += texts
        ran += int(count or 0)
    assert not found
    assert ran > 10_000


def test_methods_do_what_is_said_of_them(samples: dict[str, list[Any]]) -> None:
    found, ran = [], 0
    for name, result in methods.items():
        method = getattr(torch.Tensor, name)
        signatures = tensor_stub().get(name) or live_signatures(method)
        known = execution.Known(name, tuple(signatures), takes_self=True)
        calls = [] if NOT_RUN.search(name) else sampled(name, samples, method, known)
        calls = [call for call in calls if call.args and isinstance(call.args[0], torch.Tensor)]
        count, *texts = problems(name, method, known, result, calls)
        found += texts
        ran += int(count or 0)
    assert not found
    assert ran > 10_000


def test_what_schemas_call_a_view_is_an_alias() -> None:
    """Another source for the same fact: the schemas of the operators."""
    for name in sorted(viewing_operators()):
        for result in (functions.get(f"torch.{name}"), methods.get(name)):
            tensors = [one for one in results(result) if isinstance(one, dict) and one["k"] == "tensor"]
            assert not tensors or any({"alias", "self"} & set(one) for one in tensors), name


def test_names_with_an_underscore_at_the_end_write_to_their_tensor() -> None:
    for name, result in methods.items():
        if name.endswith("_"):
            assert result.get("self"), name
        else:
            assert not any(isinstance(one, dict) and one.get("self") for one in results(result)), name


@pytest.mark.parametrize("name", [name for name, result in methods.items() if "dim_at" in result])
def test_dim_at_is_where_dim_is_given(name: str) -> None:
    tensor, at = torch.rand(2, 3), methods[name]["dim_at"]
    before = {"norm": [2], "renorm": [2]}.get(name, [])
    assert len(before) == at
    assert getattr(tensor, name)(*before).dim() == 0
    assert getattr(tensor, name)(*before, 0).dim() == 1
    assert functions[f"torch.{name}"]["dim_at"] == at + 1


# Facts that are easily got wrong


w = torch.rand(2, 3, requires_grad=True)
i = torch.ones(2, 3, dtype=torch.int64)


@pytest.mark.parametrize("name", ["floor", "round", "sign", "bernoulli", "ceil", "trunc", "clone", "abs", "relu"])
def test_follows(name: str) -> None:
    assert methods[name].get("grad", "first") == "first"
    assert getattr(w.sigmoid(), name)().requires_grad


@pytest.mark.parametrize("name", ["argmax", "argmin", "argsort", "isnan", "detach", "long", "bool", "int", "signbit"])
def test_never_requires_grad(name: str) -> None:
    assert methods[name]["grad"] == "never"
    assert not getattr(w, name)().requires_grad


@pytest.mark.parametrize("name", ["eq", "ne", "lt", "le", "gt", "ge", "isclose"])
def test_comparisons(name: str) -> None:
    assert methods[name] == {"k": "tensor", "grad": "never", "dtype": "bool", "ndim": "broadcast"}
    assert getattr(w, name)(w[0]).dtype == torch.bool


@pytest.mark.parametrize("name", ["new_zeros", "new_ones", "new_empty", "new_full", "new_tensor"])
def test_methods_that_make_tensors(name: str) -> None:
    assert methods[name]["grad"] == "factory"


@pytest.mark.parametrize("name", ["zeros", "ones", "rand", "randn", "empty", "eye", "linspace"])
def test_factories(name: str) -> None:
    assert (functions[f"torch.{name}"]["grad"], functions[f"torch.{name}"]["dtype"]) == ("factory", "float_factory")
    size = (0, 1, 3) if name == "linspace" else (3,)
    assert not getattr(torch, name)(*size).requires_grad
    assert getattr(torch, name)(*size, requires_grad=True).requires_grad


@pytest.mark.parametrize("name", ["zeros_like", "ones_like", "rand_like", "randn_like", "empty_like"])
def test_like(name: str) -> None:
    assert functions[f"torch.{name}"] == {"k": "tensor", "grad": "factory", "ndim": "keep"}
    assert not getattr(torch, name)(w).requires_grad


def test_tensors_from_data() -> None:
    assert functions["torch.tensor"]["grad"] == "factory"
    assert functions["torch.from_numpy"]["grad"] == "never"
    assert functions["torch.as_tensor"]["grad"] == "first"
    assert "grad" not in data["constructors"]["torch.Tensor"]
    assert torch.as_tensor(w).requires_grad
    assert torch.Tensor(w).requires_grad  # torchlint: ignore[TL307] it is what is tested
    assert data["constructors"]["torch.nn.Parameter"]["grad"] == "always"


def test_attributes() -> None:
    assert data["attributes"]["grad"] == {"k": "tensor", "grad": "never", "ndim": "keep", "optional": True}
    assert data["attributes"]["data"] == {"k": "tensor", "grad": "never", "ndim": "keep", "alias": True}
    assert data["attributes"]["shape"] == "size"
    assert data["attributes"]["is_cuda"] == "bool"
    assert data["attributes"]["T"]["alias"]


def test_gradients() -> None:
    cases = functions["torch.autograd.grad"]["cases"]
    assert (cases["no_args"]["k"], cases["no_args"]["item"]["grad"]) == ("tuple_of", "never")
    assert "grad" not in cases["flag:create_graph"]["item"]
    (plain,) = torch.autograd.grad((w * w).sum(), [w])
    (graph,) = torch.autograd.grad((w * w).sum(), [w], create_graph=True)
    assert not plain.requires_grad
    assert graph.requires_grad


@pytest.mark.parametrize("name", ["view_as", "expand_as", "reshape_as", "type_as", "to", "logical_or_", "uniform_"])
def test_only_the_first_matters(name: str) -> None:
    assert methods[name]["grad"] == "first"


def test_each_alone() -> None:
    assert functions["torch.broadcast_tensors"]["each"]
    assert functions["torch.meshgrid"]["each"]
    assert functions["torch.atleast_2d"]["cases"]["tensor"]["each"]
    assert "each" not in functions["torch.chunk"]
    one, other = torch.broadcast_tensors(w, torch.rand(3))  # type: ignore[no-untyped-call]
    assert (one.requires_grad, other.requires_grad) == (True, False)


def test_dtypes_of_results() -> None:
    assert methods["sum"]["dtype"] == "count"
    assert methods["mul"]["dtype"] == "promote"
    assert "dtype" not in methods["view_as"]
    assert methods["type_as"]["dtype"] == "arg"


def test_positions() -> None:
    assert functions["torch.nn.functional.mse_loss"]["at"] == {"reduce": 3, "reduction": 4, "size_average": 2}
    assert data["modules"]["torch.nn.MSELoss"]["output"]["at"] == {"reduce": 1, "reduction": 2, "size_average": 0}
    assert data["modules"]["torch.nn.MaxPool2d"]["output"]["at"] == {"return_indices": 4}


def test_max() -> None:
    cases = methods["max"]["cases"]
    assert cases["no_args"] == {"k": "tensor", "ndim": "zero"}
    assert cases["tensor"] == {"k": "tensor", "dtype": "tensors", "ndim": "broadcast"}
    assert cases["dim"]["names"] == ["values", "indices"]
    assert cases["dim"]["items"][1]["grad"] == "never"


def test_other_overloads() -> None:
    assert methods["size"]["cases"] == {"no_args": "size", "dim": "int"}
    assert methods["type"]["cases"]["no_args"] == "str"
    assert methods["type"]["cases"]["one_arg"]["dtype"] == "arg"
    assert methods["nonzero"]["cases"]["flag:as_tuple"]["k"] == "tuple_of"
    assert functions["torch.where"]["cases"]["no_args"]["k"] == "tuple_of"
    assert functions["torch.where"]["cases"]["tensor"] == {"k": "tensor", "dtype": "promote", "ndim": "broadcast"}
    assert len(methods["unique"]["cases"]["flag:return_counts,return_inverse"]["items"]) == 3
    assert len(torch.unique(i, return_inverse=True, return_counts=True)) == 3
    assert methods["tolist"] == "any"


@pytest.mark.parametrize(
    "name", ["to", "cpu", "cuda", "float", "double", "contiguous", "view", "reshape", "squeeze", "t"]
)
def test_what_may_return_itself_or_a_view(name: str) -> None:
    assert methods[name]["alias"]
    assert "self" not in methods[name]


@pytest.mark.parametrize("name", ["cross_entropy", "mse_loss", "nll_loss", "kl_div", "ctc_loss", "huber_loss"])
def test_losses(name: str) -> None:
    assert functions[f"torch.nn.functional.{name}"]["ndim"] == "loss"
    signature = inspect.signature(getattr(torch.nn.functional, name))
    assert signature.parameters["reduction"].default == "mean"


def test_modules() -> None:
    modules = data["modules"]
    assert modules["torch.nn.Linear"]["params"] == ["bias", "weight"]
    assert modules["torch.nn.BatchNorm2d"]["buffers"] == ["num_batches_tracked", "running_mean", "running_var"]
    assert [item["k"] for item in modules["torch.nn.LSTM"]["output"]["items"]] == ["tensor", "tuple"]
    assert [item["k"] for item in modules["torch.nn.GRU"]["output"]["items"]] == ["tensor", "tensor"]
    assert modules["torch.nn.MultiheadAttention"]["output"]["items"][1]["optional"]
    assert modules["torch.nn.CrossEntropyLoss"]["output"]["ndim"] == "loss"
    assert modules["torch.nn.Sequential"]["output"] == "any"
    assert modules["torch.nn.Embedding"]["trainable"]
    assert "trainable" not in modules["torch.nn.ReLU"]
    assert modules["torch.nn.InstanceNorm1d"]["trainable"] == ["affine", 3, False]
    assert modules["torch.nn.BatchNorm1d"]["trainable"] == ["affine", 3, True]
    assert modules["torch.nn.Transformer"]["trainable"] is True
    assert modules["torch.nn.ReLU"]["output"]["inplace_flag"] == "inplace"


def test_distributions() -> None:
    assert data["distribution"]["sample"]["grad"] == "never"
    assert "grad" not in data["distribution"]["rsample"]
    assert "grad" not in data["distribution"]["log_prob"]
    assert data["distributions"]["torch.distributions.Normal"]["free"]["entropy"] == ["loc"]
    assert data["distributions"]["torch.distributions.Categorical"]["free"]["mean"] == ["probs", "logits"]
    assert "sample" in data["distributions"]["torch.distributions.Categorical"]["integers"]


def test_it_loads_in_milliseconds() -> None:
    text = script.OUTPUT.read_text(encoding="utf-8")
    assert min(timeit.repeat(lambda: json.loads(text), number=1, repeat=5)) < 0.05


@pytest.mark.parametrize("method", sorted(NEEDING_ARGUMENTS))
def test_methods_that_need_arguments(method: str) -> None:
    """Of optimizers, schedulers and scalers, whose methods a statement may name without calling them (TL401)."""
    needing = set()
    for module in (torch.optim, torch.optim.lr_scheduler, torch.amp):
        for name, cls in inspect.getmembers(module, inspect.isclass):
            if not name.startswith("_") and name not in ("Optimizer", "LRScheduler") and hasattr(cls, method):
                given = list(inspect.signature(getattr(cls, method)).parameters.values())[1:]
                if any(each.default is each.empty and each.kind is each.POSITIONAL_OR_KEYWORD for each in given):
                    needing.add(name)
    assert needing == set(NEEDING_ARGUMENTS[method])
