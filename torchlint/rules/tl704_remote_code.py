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
 import os
 import tempfile
 from pathlib import Path

 from huggingface_hub import snapshot_download
 from transformers import AutoModel, AutoTokenizer

 def load(name, trust):
     a = AutoModel.from_pretrained(name, trust_remote_code=trust)
     b = AutoModel.from_pretrained(name, trust_remote_code=False)
     c = AutoTokenizer.from_pretrained("./model", trust_remote_code=True)
     d = AutoModel.from_pretrained(
         "someone/model", revision="0a1b2c3d4e5f60718293a4b5c6d7e8f901234567", trust_remote_code=True
     )
     return a, b, c, d

 def load_local(model, name, out):
     model.save_pretrained(out)
     here = Path(__file__).parent
     folder = os.path.join(name, "checkpoint-100")
     e = AutoModel.from_pretrained(folder, trust_remote_code=True)
     f = AutoModel.from_pretrained(f"./out/{name}", trust_remote_code=True)
     g = AutoModel.from_pretrained(str(here / "model"), trust_remote_code=True)
     h = AutoModel.from_pretrained(out, trust_remote_code=True)
     i = AutoModel.from_pretrained(name, local_files_only=True, trust_remote_code=True)
     with tempfile.TemporaryDirectory() as tmp:
         j = AutoModel.from_pretrained(tmp, trust_remote_code=True)
     fixed = snapshot_download(name, revision="0a1b2c3d4e5f60718293a4b5c6d7e8f901234567")
     return e, f, g, h, i, j, AutoModel.from_pretrained(fixed, trust_remote_code=True)
```

The value may stand in a dictionary or in `partial`, and class and value may have names:

```diff
 from functools import partial

 from transformers import AutoModel, AutoModelForCausalLM, AutoModelForSeq2SeqLM

 TRUST = True

 def load(name, is_seq2seq, trust, revision):
     cls = AutoModelForSeq2SeqLM if is_seq2seq else AutoModelForCausalLM
!    a = cls.from_pretrained(name, trust_remote_code=True)
!    b = AutoModel.from_pretrained(name, trust_remote_code=TRUST, cache_dir="./cache")
!    options = {"trust_remote_code": True, "low_cpu_mem_usage": True}
     c = AutoModel.from_pretrained(name, **options)
!    more = dict(trust_remote_code=True)
     d = AutoModel.from_pretrained(name, **more)
!    make = partial(AutoModel.from_pretrained, trust_remote_code=True)
     pinned = {"trust_remote_code": True}
     e = AutoModel.from_pretrained(name, revision=revision, **pinned)
     chosen = {"trust_remote_code": trust}
     settings = {"trust_remote_code": True}
     return a, b, c, d, e, make, AutoModel.from_pretrained(name, **chosen), settings
```

## When the fix is unsafe

There is none: the commit has to be looked at by somebody.

Models with code of their own: <https://huggingface.co/docs/transformers/models#custom-models>. What torch says of code
that is not trusted: <https://docs.pytorch.org/docs/stable/hub.html>.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

import libcst as cst

from torchlint.model import Model, bindings
from torchlint.model.syntax import has_stars, is_none, keyword, last_name, literal_key, positional
from torchlint.rule import Finding, Group, Severity, on, pattern, word
from torchlint.rules.shared.local_paths import is_local

GROUP = Group.SECURITY
SEVERITY = Severity.ERROR

_LIBRARIES = frozenset(("transformers", "datasets", "diffusers", "huggingface_hub", "vllm"))
_COMMIT = re.compile(r"[0-9a-fA-F]{40}")
_SAID = "this runs code of a repository that may change; pin a commit you have read with `revision=`"
_REVISIONS = ("revision", "code_revision")
_DECIDING = frozenset((*_REVISIONS, "trust_remote_code", "local_files_only"))
"""What decides whether code of a repository is run, and which."""
_LOADED = frozenset(
    ("pretrained_model_name_or_path", "pretrained_model_or_path", "model_name_or_path", "model", "path", "repo_id")
)
"""What the argument is called that is loaded, or may be."""


@on(cst.Call, trigger=word("trust_remote_code"))
def check(node: cst.Call, model: Model) -> Finding | None:
    """Report calls that run what is downloaded, and arguments that are kept for such a call."""
    trusted = keyword(node.args, "trust_remote_code")
    if trusted is None or not _is_true(trusted.value, model):
        return None
    ref = model.qualified(node.func)
    if ref == "builtins.dict":
        found = _is_given_to_loader(node, model)
    elif ref == "functools.partial":
        made = positional(node.args, 0)
        found = made is not None and _runs_code(made.value, node.args[1:], model) and not _is_called_fixed(node, model)
    else:
        found = _runs_code(node.func, node.args, model)
    return Finding(trusted.keyword or trusted, _SAID) if found else None


@on(cst.DictElement, trigger=pattern(r"""trust_remote_code["'] :"""))
def check_entry(node: cst.DictElement, model: Model) -> Finding | None:
    """Report an entry of a dictionary of arguments."""
    if literal_key(node.key) != "trust_remote_code" or not _is_true(node.value, model):
        return None
    options = model.tree.parent(node)
    is_given = isinstance(options, cst.Dict) and _is_given_to_loader(options, model)
    return Finding(node.key, _SAID) if is_given else None


def _is_true(node: cst.BaseExpression, model: Model) -> bool:
    """Whether an expression is `True`, or a name that is never bound to anything else."""
    if not isinstance(node, cst.Name) or node.value == "True":
        return isinstance(node, cst.Name)
    scope = model.ask(bindings.owner, node)
    match model.ask(bindings.all_assigned, node.value, scope) if scope is not None else ():
        case [cst.Name("True")]:
            return True
    return False


def _runs_code(func: cst.BaseExpression, args: Sequence[cst.Arg], model: Model) -> bool:
    """Whether a call runs code of a repository that nobody has fixed."""
    return _is_of_library(func, model) and not _is_fixed(args) and not _is_local(args, model)


def _is_of_library(func: cst.BaseExpression, model: Model) -> bool:
    """Whether something of a library is called that runs such code: a function, or a method of a class or object."""
    while isinstance(func, cst.Attribute) and isinstance(func.value, cst.Call):
        func = func.value.func
    ref = model.qualified(func) if isinstance(func, (cst.Name, cst.Attribute)) else None
    if ref is None:
        ref = model.value(func.value).ref if isinstance(func, cst.Attribute) else None
    if ref is None and isinstance(func, cst.Attribute):
        return _is_one_of_several(func.value, model)
    return (ref or "").partition(".")[0] in _LIBRARIES


def _is_one_of_several(node: cst.BaseExpression, model: Model, *, by_name: bool = True) -> bool:
    """Whether a class is chosen of several, all of which are of a library."""
    if isinstance(node, cst.IfExp):
        arms = (node.body, node.orelse)
        return all(_is_one_of_several(each, model, by_name=by_name) for each in arms)
    if not isinstance(node, (cst.Name, cst.Attribute)):
        return False
    ref = model.qualified(node)
    if ref is not None or not by_name or not isinstance(node, cst.Name):
        return (ref or "").partition(".")[0] in _LIBRARIES
    scope = model.ask(bindings.owner, node)
    bound = model.ask(bindings.all_assigned, node.value, scope) if scope is not None else ()
    return bool(bound) and all(each is not None and _is_one_of_several(each, model, by_name=False) for each in bound)


def _is_fixed(args: Sequence[cst.Arg]) -> bool:
    """Whether a commit is given, or something that is not seen and may be one, or nothing is downloaded."""
    for name in _REVISIONS:
        arg = keyword(args, name)
        if arg is not None:
            key = literal_key(arg.value)
            if not isinstance(key, str):
                return not is_none(arg.value)
            if _COMMIT.fullmatch(key):
                return True
    kept = keyword(args, "local_files_only")
    return kept is not None and last_name(kept.value) not in ("False", "None")


def _is_local(args: Sequence[cst.Arg], model: Model) -> bool:
    """Whether something that is loaded is a folder by its path, or what a fixed commit was written to."""
    loaded = [arg.value for arg in args if not arg.star and (arg.keyword is None or arg.keyword.value in _LOADED)]
    return any(is_local(each, model) or _is_fixed_download(each, model) for each in loaded)


def _is_fixed_download(node: cst.BaseExpression, model: Model) -> bool:
    """Whether a folder is what a commit was downloaded to."""
    made = model.ask(bindings.made, node) or node
    if not isinstance(made, cst.Call) or model.qualified(made.func) != "huggingface_hub.snapshot_download":
        return False
    return _is_fixed(made.args)


def _is_given_to_loader(options: cst.Dict | cst.Call, model: Model) -> bool:
    """Whether a dictionary is the arguments of a call that runs such code: `f(**options)`."""
    given = _entries(options)
    return any(_runs_code(call.func, (*call.args, *given), model) for call in _unpacking(options, model))


def _entries(options: cst.Dict | cst.Call) -> tuple[cst.Arg, ...]:
    """The entries of a dictionary as arguments."""
    if isinstance(options, cst.Call):
        return tuple(options.args)
    return tuple(
        cst.Arg(each.value, keyword=cst.Name(key))
        for each in options.elements
        if isinstance(each, cst.DictElement) and isinstance(key := literal_key(each.key), str) and key.isidentifier()
    )


def _unpacking(options: cst.Dict | cst.Call, model: Model) -> Iterator[cst.Call]:
    """The calls that a dictionary is unpacked into, directly or by its name, where nothing else is bound to that."""
    target = model.tree.parent(options)
    if isinstance(target, cst.Arg):
        yield from _unpacked(options, model)
    name = _named(target)
    if not isinstance(name, cst.Name):
        return
    uses = model.references(name.value, model.scopes.scope_of(name))
    if len(model.bindings_of(name.value, name)) == 1 and not any(_decides(use, model) for use in uses):
        for use in uses:
            yield from _unpacked(use, model)


def _named(binding: cst.CSTNode | None) -> cst.BaseExpression | None:
    """What something is assigned to first, by a statement or in an expression."""
    match binding:
        case cst.Assign(targets=[cst.AssignTarget(target=target), *_]) | cst.NamedExpr(target=target):
            return target
    return None


def _unpacked(node: cst.BaseExpression, model: Model) -> Iterator[cst.Call]:
    arg = model.tree.parent(node)
    call = model.tree.parent(arg) if isinstance(arg, cst.Arg) and arg.star == "**" else None
    if isinstance(call, cst.Call):
        yield call


def _decides(use: cst.Name, model: Model) -> bool:
    """Whether an entry is changed that matters here, or entries that are not seen: `options["revision"] = …`."""
    match model.tree.parent(use):
        case cst.Subscript(slice=[cst.SubscriptElement(slice=cst.Index(value=key))]):
            return literal_key(key) in _DECIDING
        case cst.Attribute(attr=cst.Name("update" | "setdefault" | "pop")):
            return True
    return False


def _is_called_fixed(made: cst.Call, model: Model) -> bool:
    """Whether a function that was made with `partial` is given what decides, or what is not seen, when it is called."""
    name = _named(model.tree.parent(made))
    uses = model.references(name.value, model.scopes.scope_of(name)) if isinstance(name, cst.Name) else ()
    calls = [call for use in uses if isinstance(call := model.tree.parent(use), cst.Call) and call.func is use]
    return any(has_stars(each.args) or _is_fixed(each.args) or _is_local(each.args, model) for each in calls)
