"""What names say: of builtins, of libraries that are not ours, of what is called like a loss or a module."""

from __future__ import annotations

import re
import sys

from torchlint.model.possibilities import Tri

LOSS_NAME = re.compile(
    r"criterion|(^|_)crit(_|$|\d)|(^|_)loss(es)?(_|$|\d)|loss(_?fn|_?func|_?function)?$|Loss$", re.IGNORECASE
)
MODULE_NAME = re.compile(
    r"net|model|module|encoder|decoder|critic|actor|polic|generator|discriminator|cnn|rnn|gan|lstm|gru|forward|layer|"
    r"^(G|D|E|enc|dec|gen|disc)\d*$|^(enc|dec|gen|disc)_"
)
CLASS_NAME = re.compile(r"^_?[A-Z]+[a-z][a-z]|^[A-Z]{3}")
LOADER_NAME = re.compile(
    r"(^|_|[a-z])(data_?)?loader(\d*|_[a-z\d])$|(^|_)(train|test|val|valid|dev|eval|data|batch)_(iter|queue)$",
    re.IGNORECASE,
)
DATA_SET_NAME = re.compile(r"(^|_)(data_?|(train|test|val|valid|dev|eval)_?(data_?)?)set\d*$", re.IGNORECASE)
DATA_NAME = re.compile(r"(^|_)data(_?(sets?|loaders?|iters?))?$|(^|_)(loaders?|iters?|iterators?)$", re.IGNORECASE)
"""What all parts of the data are called together."""
INPLACE = re.compile(r"[a-z0-9]_$")
VIEWING = frozenset(("data", "T", "mT", "H", "mH", "real", "imag"))
"""Attributes that are tensors of the same memory."""

GRAD_CONTEXTS = {
    "torch.no_grad": Tri.NO,
    "torch.inference_mode": Tri.NO,
    "torch.autograd.no_grad": Tri.NO,
    "torch.autograd.inference_mode": Tri.NO,
    "torch.enable_grad": Tri.YES,
    "torch.autograd.enable_grad": Tri.YES,
}
SET_GRAD = ("torch.set_grad_enabled", "torch.autograd.set_grad_enabled", "torch._C._set_grad_enabled")

NUMBERS = frozenset(("int", "float", "bool", "len", "abs", "round", "hash", "id", "ord", "isinstance", "issubclass"))
NUMBERS |= frozenset(("callable", "hasattr", "all", "any", "complex", "pow", "divmod", "range"))
STRINGS = frozenset(("str", "repr", "format", "chr", "hex", "bin", "input", "ascii"))
"""Builtins that give numbers, and strings."""

NOT_TORCH = frozenset(
    """
    scipy pandas tensorflow tf jax flax sklearn skimage matplotlib cv2 PIL requests chainer mxnet
    paddle theano keras caffe caffe2 casadi sympy tkinter yaml nltk spacy h5py lmdb gym gymnasium networkx google
    argparse simplejson mock omegaconf hydra absl fire wandb tensorboardX pytest attr pyarrow polars torchtext
    """.split()  # noqa: SIM905
)
"""Packages whose objects are no tensors of torch."""


PACKAGES = ("torch", "functorch", "torchvision", "torchaudio", "torchtext")
"""Packages whose names rules know."""


def is_foreign(package: str) -> bool:
    """Whether a top-level package has nothing to do with torch: its objects are no tensors."""
    return package in sys.stdlib_module_names or package in NOT_TORCH


MODULE_METHODS = {
    "parameters": "parameters",
    "named_parameters": "named_parameters",
    "buffers": "buffers",
    "named_buffers": "named_buffers",
    "state_dict": "state_dict",
    "modules": "modules",
    "children": "modules",
    "named_modules": "named_modules",
    "named_children": "named_modules",
    "cuda": "self",
    "cpu": "self",
    "to": "self",
    "float": "self",
    "half": "self",
    "double": "self",
    "train": "self",
    "eval": "self",
    "apply": "self",
    "requires_grad_": "self",
    "share_memory": "self",
}
"""Methods of ``nn.Module`` and what they give; ``self`` is the module."""

GROWING = frozenset(("append", "add", "insert", "extend", "appendleft", "update", "extendleft", "setdefault"))
"""Methods that put something into a container."""

REPLACING = frozenset(("setattr", "delattr", "object", "multiple", "patch"))
"""Builtins, methods of pytest's ``monkeypatch`` and functions of ``mock`` that replace an attribute."""

NETWORK_MAKER = re.compile(
    r"torchvision\.models\.(?!feature_extraction|_)(?:\w+\.)*(?!list_|get_(?!model\b))[a-z]\w*|"
    r"timm\.(?:models\.)?create_model|torch\.(?:hub|jit)\.load|"
    r"transformers\.(?:[a-z]\w*\.)*(?!TF|Flax)(?:AutoModel\w*|\w+(?:Model|For[A-Z]\w*))\.(?:from_pretrained|from_config)"
)
"""Functions of libraries that give a network with parameters that require grad."""

HOLDER_NAME = re.compile(
    r"dataset|packed|(^|_)(batch|field|request|req|response|node|args|opt|opts|config|cfg|form|event|msg|message|df|frame|"
    r"blob|storage|proxy)$|^(boxes|results?)$",
    re.IGNORECASE,
)
"""Names of objects that are known to keep something in `.data`: only proof outweighs them."""

UNCALLABLE = frozenset(("bool", "dict", "float", "int", "len", "list", "round", "set", "str", "sum", "tuple"))
"""Builtins that give nothing that could be called."""

BOXES = re.compile(r"(^|_)boxes$", re.IGNORECASE)
"""Of these, the names that are those of tensors as often: what is beside them outweighs that."""
