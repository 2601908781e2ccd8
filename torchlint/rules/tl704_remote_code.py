r"""`trust_remote_code=True` runs code of a repository, also what is put there later.

The code is downloaded and run with all rights of the program. A full commit hash as `revision=` (and `code_revision=`,
if the code is in another repository) fixes which code that is.

```diff
 from datasets import load_dataset
 from transformers import AutoModel, pipeline

!model = AutoModel.from_pretrained("someone/model", trust_remote_code=True)
!data = load_dataset("someone/data", trust_remote_code=True)
!pipe = pipeline("text-generation", "someone/model", trust_remote_code=True)
!fixed = AutoModel.from_pretrained("someone/model", revision="main", trust_remote_code=True)
```

A commit that was looked at, a local folder, and what the user decides:

```diff
 from transformers import AutoModel, AutoTokenizer

 def load(name, trust):
     a = AutoModel.from_pretrained(name, trust_remote_code=trust)
     b = AutoModel.from_pretrained(name, trust_remote_code=False)
     c = AutoTokenizer.from_pretrained("./model", trust_remote_code=True)
     d = AutoModel.from_pretrained(
         "someone/model", revision="0a1b2c3d4e5f60718293a4b5c6d7e8f901234567", trust_remote_code=True
     )
     return a, b, c, d
```

## When the fix is unsafe

There is none: the commit has to be looked at by somebody.

Models with code of their own: <https://huggingface.co/docs/transformers/models#custom-models>. What torch says of code
that is not trusted: <https://docs.pytorch.org/docs/stable/hub.html>.
"""

from __future__ import annotations

import re

import libcst as cst

from torchlint.model import Model
from torchlint.model.syntax import keyword, literal_key
from torchlint.rule import Finding, Group, Severity, on, word

GROUP = Group.SECURITY
SEVERITY = Severity.ERROR

_LIBRARIES = frozenset(("transformers", "datasets", "diffusers", "huggingface_hub", "vllm"))
_COMMIT = re.compile(r"[0-9a-fA-F]{40}")
_LOCAL = re.compile(r"\.{0,2}[/\\]|~|[A-Za-z]:[/\\]|\.{1,2}$")
"""How the path of a folder begins."""


@on(cst.Call, trigger=word("trust_remote_code"))
def check(node: cst.Call, model: Model) -> Finding | None:
    """Report calls that run what is downloaded."""
    trusted = keyword(node.args, "trust_remote_code")
    if trusted is None or not isinstance(trusted.value, cst.Name) or trusted.value.value != "True":
        return None
    if not _is_of_library(node.func, model) or _is_fixed(node) or _is_local(node):
        return None
    said = "this runs code of a repository that may change; pin a commit you have read with `revision=`"
    return Finding(trusted.keyword or trusted, said)


def _is_of_library(func: cst.BaseExpression, model: Model) -> bool:
    """Whether something of a library is called that runs such code: a function, or a method of a class or object."""
    while isinstance(func, cst.Attribute) and isinstance(func.value, cst.Call):
        func = func.value.func
    ref = model.qualified(func) if isinstance(func, (cst.Name, cst.Attribute)) else None
    if ref is None:
        ref = model.value(func.value).ref if isinstance(func, cst.Attribute) else None
    return (ref or "").partition(".")[0] in _LIBRARIES


def _is_fixed(node: cst.Call) -> bool:
    """Whether a commit is given, or something that is not seen and may be one."""
    for name in ("revision", "code_revision"):
        arg = keyword(node.args, name)
        if arg is not None:
            key = literal_key(arg.value)
            if not isinstance(key, str):
                return not (isinstance(arg.value, cst.Name) and arg.value.value == "None")
            if _COMMIT.fullmatch(key):
                return True
    return False


def _is_local(node: cst.Call) -> bool:
    """Whether something that is loaded is a folder by its path."""
    paths = [literal_key(arg.value) for arg in node.args if isinstance(arg.value, cst.SimpleString)]
    return any(isinstance(path, str) and _LOCAL.match(path) is not None for path in paths)
