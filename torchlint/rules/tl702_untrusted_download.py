r"""Code or weights from the network, loaded without a check.

`torch.hub.load` runs the `hubconf.py` of a repository. `load_state_dict_from_url` unpickles what it gets, with
everything allowed unless `weights_only=True` is given, still in the newest version. Over `http:` anybody on the way can
change it.

```diff
 import torch
 from torch.hub import load_state_dict_from_url

!model = torch.hub.load("owner/repo", "model")
~state = load_state_dict_from_url("https://host/model.pth")
+state = load_state_dict_from_url("https://host/model.pth", weights_only=True)
!plain = torch.hub.download_url_to_file("http://host/model.pth", "model.pth")
 state = load_state_dict_from_url("https://host/model.pth", weights_only=True)
 model = torch.hub.load("owner/repo", "model", trust_repo=True)
 model = torch.hub.load("./here", "model", source="local")

 def f(url, **options):
     return load_state_dict_from_url(url, **options)
```

## When the fix is unsafe

Always: `weights_only=True` raises where the file holds more than weights. There is none where that is seen: by an
object that is used, or by what the project saves under the same keys.

```diff
 from torch.hub import load_state_dict_from_url

!checkpoint = load_state_dict_from_url("https://host/checkpoint.pth")
 width = checkpoint["config"].width
```

`torch.hub`: <https://docs.pytorch.org/docs/stable/hub.html>.
"""

from __future__ import annotations

from collections.abc import Sequence

import libcst as cst

from torchlint import edit
from torchlint.model import Model
from torchlint.model.syntax import keyword, last_name
from torchlint.rule import Applicability, Finding, Fix, Group, any_of, attribute, on, pattern, word
from torchlint.rules.api import names
from torchlint.rules.shared import loaded
from torchlint.rules.shared.saved import Content
from torchlint.versions import Version

GROUP = Group.SECURITY

_WEIGHTS_ONLY: Version = (2, 1)
_NEEDED = (
    "what is downloaded may run any code when it is loaded, and `weights_only=True` would refuse what is used of it"
)
_URL_LOADERS = ("torch.hub.load_state_dict_from_url", "torch.utils.model_zoo.load_url")
_DOWNLOADS = (*_URL_LOADERS, "torch.hub.download_url_to_file")


_TRIGGER = any_of(
    word("load_state_dict_from_url"),
    word("load_url"),
    word("download_url_to_file"),
    attribute("hub"),
    pattern(r"\bhub \. load\b"),
    pattern(r"\bhub as\b"),
    pattern(r"\btorch \. hub import\b"),
)


@on(cst.Call, trigger=_TRIGGER)
def check(node: cst.Call, model: Model) -> Finding | None:
    """Report downloads that are trusted blindly."""
    if not isinstance(node.func, (cst.Name, cst.Attribute)) or any(arg.star == "**" for arg in node.args):
        return None
    if not _may_be(node.func, model):
        return None
    called = set(names.resolve(node.func, model) or ())
    if "torch.hub.load" in called:
        return _hub(node, model)
    if not called & set(_DOWNLOADS):
        return None
    if _is_plain_http(node.args):
        return Finding(node.func, "what comes over `http:` can be changed on the way; use `https:`")
    if not called & set(_URL_LOADERS) or keyword(node.args, "weights_only") is not None:
        return None
    if _is_fallback(node, model):
        return None
    if loaded.content(node, model) is Content.OBJECT:
        return Finding(node.func, _NEEDED)
    fix = None
    if model.target.has(_WEIGHTS_ONLY):
        added = edit.add_argument(node, "weights_only=True")
        risk = "a file with other objects than tensors and containers raises then"
        fix = Fix("Add `weights_only=True`", (added,), Applicability.UNSAFE, risk=risk)
    said = "what is downloaded may run any code when it is loaded; say `weights_only=True`"
    return Finding(node.func, said, fix)


def _may_be(func: cst.Name | cst.Attribute, model: Model) -> bool:
    name = last_name(func)
    path = names.imports(model).path(name) if isinstance(func, cst.Name) else None
    return (path or name).rpartition(".")[2] in ("load", "load_url", "load_state_dict_from_url", "download_url_to_file")


def _is_fallback(node: cst.Call, model: Model) -> bool:
    """Whether this is what is done for versions that do not know `weights_only`: `except TypeError`."""
    handler = model.tree.enclosing(node, cst.ExceptHandler)
    parent = model.tree.parent(handler) if handler is not None else None
    return isinstance(parent, cst.Try) and any(
        arg.keyword is not None and arg.keyword.value == "weights_only"
        for arg in model.tree.within(parent.body, cst.Arg)
    )


def _hub(node: cst.Call, model: Model) -> Finding | None:
    source = keyword(node.args, "source")
    if keyword(node.args, "trust_repo") is not None:
        return None
    if source is not None and isinstance(source.value, cst.SimpleString) and source.value.raw_value == "local":
        return None
    said = "`torch.hub.load` runs code of the repository; pin a commit, and say `trust_repo=`"
    return Finding(node.func, said)


def _is_plain_http(args: Sequence[cst.Arg]) -> bool:
    if not args:
        return False
    match args[0].value:
        case cst.SimpleString() as literal:
            return literal.raw_value.startswith("http://")
    return False
