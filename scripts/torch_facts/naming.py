"""The public names of torch."""

from __future__ import annotations

import functools
import importlib
import importlib.util
import re
import sys
import types
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

NOT_EVERYWHERE = re.compile(r"ProcessGroup[A-Z]|torch\.hub\.tqdm|has_torch_function")
"""Names that only some builds or environments have."""


def words(text: str) -> list[str]:
    """The words of a text."""
    return text.split()


PACKAGES = words("""
    torch torch.accelerator torch.amp torch.amp.autocast_mode torch.amp.grad_scaler torch.autograd
    torch.autograd.anomaly_mode torch.autograd.forward_ad torch.autograd.function torch.autograd.functional
    torch.autograd.grad_mode torch.autograd.gradcheck torch.autograd.graph torch.autograd.profiler
    torch.autograd.variable torch.backends.cuda torch.backends.cudnn torch.backends.mps torch.compiler torch.cpu
    torch.cpu.amp torch.cuda torch.cuda.amp torch.cuda.comm torch.cuda.memory torch.cuda.random torch.cuda.streams
    torch.distributed torch.distributed.fsdp torch.distributed.nn torch.distributed.optim torch.distributions
    torch.distributions.constraints torch.distributions.kl torch.distributions.transforms torch.distributions.utils
    torch.export torch.fft torch.func torch.functional torch.futures torch.fx torch.hub torch.jit torch.library
    torch.linalg torch.masked torch.mps torch.multiprocessing torch.nested torch.nn torch.nn.attention
    torch.nn.attention.bias torch.nn.attention.flex_attention torch.nn.functional torch.nn.init torch.nn.parallel
    torch.nn.parameter torch.nn.utils torch.nn.utils.clip_grad torch.nn.utils.convert_parameters torch.nn.utils.fusion
    torch.nn.utils.parametrizations torch.nn.utils.parametrize torch.nn.utils.prune torch.nn.utils.rnn
    torch.nn.utils.spectral_norm torch.nn.utils.stateless torch.nn.utils.weight_norm torch.onnx torch.optim
    torch.optim.lr_scheduler torch.optim.optimizer torch.optim.swa_utils torch.overrides torch.profiler
    torch.quasirandom torch.random torch.serialization torch.signal.windows torch.sparse torch.special torch.storage
    torch.testing torch.types torch.utils torch.utils.checkpoint torch.utils.data torch.utils.data.dataloader
    torch.utils.data.dataset torch.utils.data.distributed torch.utils.data.sampler torch.utils.dlpack
    torch.utils.hooks torch.utils.model_zoo torch.xpu
""")
"""Modules whose public names are taken, besides the submodules of :data:`PARENTS`."""
PARENTS = ("torch.nn.modules", "torch.nn.parallel", "torch.optim", "torch.distributions")
"""Packages of which every public submodule is looked at: classes are imported from there, too."""
PLAIN_MODULES = {"torch", *(f"torch.{name}" for name in words("nn.functional nn.init linalg fft special functional"))}
"""Modules whose functions can be called with any tensor, without harm."""


def module_names() -> list[str]:
    """The modules to look at."""
    names = {*PACKAGES, *PARENTS}
    for parent in PARENTS:
        folder = Path(importlib.import_module(parent).__path__[0])
        names |= {f"{parent}.{path.stem}" for path in folder.glob("*.py") if not path.stem.startswith("_")}
    return sorted(names)


def is_tensor_type(value: object) -> bool:
    """Legacy constructors like ``torch.FloatTensor``."""
    return type(value).__name__ == "tensortype"


def _offers(module: Any, name: str, value: Any) -> bool:
    """Whether a module offers a name, rather than using it."""
    home = str(getattr(value, "__module__", None) or "torch")
    here = module.__name__
    if not (home == "torch" or home.startswith("torch.")) or NOT_EVERYWHERE.search(f"{here}.{name}"):
        return False
    if name in getattr(module, "__all__", ()) or home == here or home.startswith(here + "."):
        return True
    return here in {*PLAIN_MODULES, "torch.sparse"} and isinstance(value, types.BuiltinFunctionType)


@dataclass
class Names:
    """Every public object by its shortest name, and the other names."""

    objects: dict[str, Any] = field(default_factory=dict)
    aliases: dict[str, str] = field(default_factory=dict)


@functools.cache
def public_names() -> Names:
    """Functions and classes of :func:`module_names`."""
    by_identity: dict[int, tuple[Any, list[str]]] = {}
    for module_name in module_names():
        module = importlib.import_module(module_name)
        for name in dir(module):
            value = getattr(module, name)
            if not name.startswith("_") and (callable(value) or is_tensor_type(value)) and _offers(module, name, value):
                by_identity.setdefault(id(value), (value, []))[1].append(f"{module_name}.{name}")
    names = Names()
    for value, found in by_identity.values():
        first, *others = sorted(found, key=lambda text: (text.count("."), len(text), text))
        names.objects[first] = value
        names.aliases.update(dict.fromkeys(others, first))
    return names


def resolve(name: str) -> Any:
    """The object a dotted name leads to."""
    parent, _, last = name.rpartition(".")
    owner = sys.modules[parent] if parent in sys.modules else resolve(parent)
    if isinstance(owner, types.ModuleType) and not hasattr(owner, last):  # a submodule nobody has imported yet
        return importlib.import_module(name)
    return getattr(owner, last)
