"""Write ``torchlint/model/torch/data/torch.json``: what torch's functions, methods, attributes and classes give back.

``python scripts/generate_torch_data.py`` rewrites the file, ``--check`` only says whether it is up to date. Linting
never imports torch; this script does, and takes every fact from it, in this order:

1. **Execution.** Each function and method is run on the sample inputs of torch's own tests (``op_db`` and ``module_db``
   in ``torch.testing._internal``), on a few plain shapes, on the arguments in :data:`PROBES`, and on variations of all
   these (0-dimensional, batched, transposed, without ``dtype=``, with ``reduction="none"``). Float inputs require grad
   where the call allows it. What comes out says whether it requires grad, how its dtype and number of dimensions relate
   to the inputs, and whether it is one of them or shares their memory.
2. **Stubs**: ``torch/_C/_VariableFunctions.pyi``, ``torch/_C/__init__.pyi`` and ``torch/nn/functional.pyi``; and the
   alias marks in the schemas of operators (``aten::view(Tensor(a) self, …) -> Tensor(a)``).
3. **Annotations** of Python functions, and the first line of the docstring of built-in ones.

A *result* is a string (``bool int float number str none list ndarray size device dtype layout storage generator
handle``, ``other`` for anything else that is not a tensor, ``any`` for what cannot be known), or an object, by ``k``:

``tensor``
    ``grad``: requires grad if an input does (default), ``first`` (if the first argument does, whatever the others are),
    ``never``, ``factory`` (if ``requires_grad=True`` is given), ``always`` (unless ``requires_grad=False`` is given).
    ``asked``: whatever that says, it does if ``requires_grad=True`` is given.
    ``dtype`` (unless ``dtype=`` is given): like the first tensor (default), ``tensors`` (what all tensors promote to),
    ``promote`` (numbers count, too), ``count`` (like the first tensor, but integers for truth values), ``int``,
    ``bool``, ``float`` (or complex, even for integer inputs), ``arg`` (an argument gives it), ``float_factory`` (the
    default float type), ``mixed`` (floats of floats, anything of others), ``any``.
    ``ndim``: unknown (default), ``zero``, ``more`` (at least 1), ``keep`` (as the first tensor argument),
    ``broadcast``, ``reduce`` (0 if neither dim/axis nor ``keepdim=True`` is given), ``loss`` (0 unless
    ``reduction="none"``), ``size`` (as many as a size has), ``data`` (as deep as the first argument is nested).
    ``as_first``: with ``more``, as many as the first tensor argument has, as far as one, two and more are told apart.
    ``dim_at``: for ``reduce``, the position of ``dim`` among the positional arguments (``self`` not counted); without
    it, ``dim`` can only be given by keyword. ``keepdim`` (its position, or true): as many as the first tensor has
    with ``keepdim=True``. ``elementwise``: a ``loss`` that is broadcast with ``reduction="none"``.
    ``size_at``: for ``size``, the first position where it can be (0 if missing). ``sizes``: also as several integers.
    ``at``: positions of arguments that decide what comes back (those of ``flag:`` cases; of losses ``reduction`` and
    the older ``reduce`` and ``size_average``), ``self`` not counted.
    ``self``: it is the first argument itself, always. ``alias``: it can be, or can share its memory. With ``alias``,
    ``same`` says that it can be the first argument itself, ``copy`` that it can be new.
    ``inplace_flag``: with this keyword literally true, it is the first argument itself.
    ``optional``: it can be ``None`` instead.
``tuple`` with ``items`` and, for a named tuple, ``names``; ``tuple_of`` and ``list_of`` with ``item``, in any number
    (``each``: one for each of several tensors, computed from that one alone).
``overload`` with ``cases``
    ``flag:a`` where argument ``a`` is literally ``True`` (``flag:a,b``: both; the case with the most names wins);
    ``dim`` where the second argument is an integer or ``dim=``/``axis=`` is given; ``tensor`` where it is a tensor;
    ``sequence`` where the first argument is a list or tuple; ``one_arg`` for other arguments; ``no_args`` where there
    is nothing but the tensor (booleans do not count), and also where the case that applies is not listed. For methods
    the second argument is the first one in the parentheses; for ``modules``, flags are those of the constructor.

Keys beyond functions, methods, attributes, modules, classes and aliases: ``operators`` (results of special methods),
``constructors`` (results of calling tensor classes), ``distribution`` (methods and attributes of distributions),
``gives_module`` (functions that give back the module they are given),
``constants`` (``torch.strided``), ``dtypes`` (``torch.long`` is ``int``). A module's ``output`` is that of a call: its
``grad`` follows inputs and parameters, and ``trainable`` says that it requires grad though no input does: ``true``, or
``[name, position, default]`` of the argument of the constructor that must be true for it. ``distributions`` has the
``parameters`` of each distribution; ``free`` says of which of them a method or attribute is no function (of what is not
listed it is a function of all, but of what is drawn), ``integers`` what is made of integers.
"""

from __future__ import annotations

import json
import sys
import warnings
from typing import Any

import torch
from torch_facts.generated import DATA, write_or_compare
from torch_facts.results import (
    aliases,
    attributes,
    classes,
    constants,
    constructors,
    distribution,
    distributions,
    dtypes,
    functions,
    methods,
    modules,
    operators,
    tensor_only,
    tensor_or_module,
)
from torch_facts.reworking import giving_modules
from torch_facts.samples import sample_calls

OUTPUT = DATA / "torch.json"


def generate() -> dict[str, Any]:
    """Everything the file holds."""
    torch.set_num_threads(1)
    torch.distributions.Distribution.set_default_validate_args(True)  # torch.compile turns it off
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        samples = sample_calls()
        found_modules = modules()
        found_classes = classes(found_modules)
        found_functions = functions(samples)
        return {
            "torch": torch.__version__.partition("+")[0],
            "functions": found_functions,
            "methods": methods(samples),
            "attributes": attributes(),
            "operators": operators(samples),
            "tensor_only": tensor_only(),
            "tensor_or_module": tensor_or_module(),
            "gives_module": giving_modules(),
            "modules": found_modules,
            "classes": found_classes,
            "constructors": constructors(found_classes),
            "distribution": distribution(),
            "distributions": distributions(),
            "aliases": aliases({*found_functions, *found_modules, *found_classes}),
            "constants": constants(),
            "dtypes": dtypes(),
        }


def render(data: dict[str, Any]) -> str:
    """JSON with one entry a line, sorted."""
    parts = []
    for key, value in data.items():
        if isinstance(value, str):
            parts.append(f"{json.dumps(key)}: {json.dumps(value)}")
        elif isinstance(value, list):
            lines = ",\n".join(f"  {json.dumps(item)}" for item in sorted(value))
            parts.append(f"{json.dumps(key)}: [\n{lines}\n ]")
        else:
            lines = ",\n".join(f"  {json.dumps(name)}: {_compact(value[name])}" for name in sorted(value))
            parts.append(f"{json.dumps(key)}: {{\n{lines}\n }}")
    return "{\n " + ",\n ".join(parts) + "\n}\n"


def _compact(value: Any) -> str:
    return json.dumps(value, separators=(",", ":"))


if __name__ == "__main__":
    sys.exit(write_or_compare(OUTPUT, lambda: render(generate()), __doc__ or ""))
