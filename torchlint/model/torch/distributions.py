"""What methods and attributes of distributions give."""

from __future__ import annotations

from collections.abc import Callable

from torchlint.model.certainty import Certainty
from torchlint.model.possibilities import Dtype, Kind, Tri
from torchlint.model.torch.data import data
from torchlint.model.torch.grads import certainty_of_inputs, grad_of_inputs
from torchlint.model.torch.schema import TensorResult
from torchlint.model.values import Value
from torchlint.system.records import replace

DISTRIBUTION_METHODS = frozenset(("rsample", "log_prob", "entropy", "cdf", "icdf", "perplexity"))
"""Methods of distributions that are differentiable, in the parameters or in their argument."""


SAMPLING = frozenset(("sample", "sample_n", "enumerate_support"))


def distribution_grad(distribution: Value, name: str) -> Tri:
    """Whether a method or attribute of a distribution is a function of something that requires grad."""
    about = data().distributions.get(distribution.ref)
    made, whole = distribution.bound, distribution.grad or Tri.MAYBE
    if about is None or made is None or any(a.star for a in made):
        return Tri.MAYBE if whole == Tri.YES and name not in ("rsample", "log_prob", "cdf", "icdf") else whole
    free = about.free.get(name, ())
    names = [a.keyword or about.parameters[at] for at, a in enumerate(made) if at < len(about.parameters)]
    return grad_of_inputs([a.value for parameter_, a in zip(names, made, strict=False) if parameter_ not in free])


def is_distribution(value: Value) -> bool:
    """Whether a value is a distribution of torch, or one of its transforms."""
    return value.kind == Kind.OBJECT and value.ref is not None and value.ref.startswith("torch.distributions.")


def without_graph(distribution: Value, change: Callable[[Value], Value]) -> Value:
    """A distribution of what something leaves of the values it is made of: of parameters it is one as before."""
    if distribution.bound is None:
        return replace(distribution, grad=Tri.MAYBE, certainty=Certainty.SUPPOSED)
    bound = tuple(replace(each, value=change(each.value)) for each in distribution.bound)
    inputs = [each.value for each in bound]
    return replace(distribution, bound=bound, grad=grad_of_inputs(inputs), certainty=certainty_of_inputs(inputs))


def is_distribution_attribute(name: str) -> bool:
    """Whether distributions have a tensor of that name; a few of the names are those of methods."""
    result = data().distribution.get(name)
    return isinstance(result, TensorResult) and name not in DISTRIBUTION_METHODS | SAMPLING


def distribution_dtype(distribution: Value, name: str) -> Dtype:
    """The dtype of what a method of a distribution gives."""
    about = data().distributions.get(distribution.ref)
    if about is None:
        return Dtype.ANY
    return Dtype.INT if name in about.integers else Dtype.FLOAT
