"""Which modules have parameters that require grad, by what the file says of them.

Only syntax is looked at, so that the answers don't depend on how far the interpretation has come.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, NamedTuple

import libcst as cst

from torchlint.model.certainty import Certainty
from torchlint.model.context import at_home
from torchlint.model.freezing import FREEZING, home_of, is_frozen
from torchlint.model.imports import imported_path
from torchlint.model.lineage import lineage_of
from torchlint.model.syntax import dotted, last_name, last_statement, parameters
from torchlint.model.torch import library

if TYPE_CHECKING:
    from torchlint.model.context import Context

_USES = ("parameters", "named_parameters", "load_state_dict", "train", "eval")
"""What is done with networks, and not with criteria or activations."""
_CUTTING = re.compile(
    r".*(?:no_grad|inference_mode|set_grad_enabled|requires_grad|detach|freeze|frozen|argm|sample|argsort).*|multinomial"
    r"|data|item|tolist|numpy|long|int|bool|topk|round|nonzero|max|min|sort|[A-Z]\w*Output"
)
"""Names in classes of modules whose outputs may have no graph, or be no tensors of floats."""
_CLASS = re.compile("_*[A-Z]")
"""How names of classes begin."""
_FAR = 4
"""How many classes to follow that are made of each other, where each is in another file, or in a part of one."""


def of_use(context: Context, module: cst.CSTNode) -> Certainty:
    """How certain it is that something is a module with parameters, by what the file does with it."""
    path = dotted(module)
    if path is None or is_frozen(context, module):
        return Certainty.SUPPOSED
    used = context.remember(_used)
    scope = _own_scope(context, path, module) if path in used else None
    is_used = path in used and (scope is None or (id(scope), path) in used)
    return Certainty.EXPECTED if is_used else Certainty.SUPPOSED


def _own_scope(context: Context, path: str, node: cst.CSTNode) -> cst.FunctionDef | None:
    """The function that assigns the name a path begins with; None for what it is given, and for names of the module.

    What functions of a file give each other has the same name in them, as a rule. What each of them makes has not.
    """
    name = path.partition(".")[0]
    owner = context.scopes.owner(name, node)
    if not isinstance(owner, cst.FunctionDef) or any(each.name.value == name for each in parameters(owner)):
        return None
    return owner


def _used(context: Context) -> frozenset[str | tuple[int, str]]:
    """Names and paths that are used as networks are, or are read from a file of torch; with the scope as well."""
    found = set[str | tuple[int, str]]()
    for node in _networks(context):
        path = dotted(node)
        if path is not None:
            owner = context.scopes.owner(path.partition(".")[0], node)
            found |= {path, (id(owner), path)}
    return frozenset((*found, *_kept_in_objects(context, found)))


def _kept_in_objects(context: Context, used: set[str | tuple[int, str]]) -> Iterator[str]:
    """The attributes that an object keeps a network in which it is given: ``self.net = net; SGD(net.parameters())``."""
    for assign in context.tree.all(cst.Assign):
        value = assign.value
        if isinstance(value, cst.Name) and (id(context.scopes.owner(value.value, value)), value.value) in used:
            yield from (
                path
                for each in assign.targets
                if isinstance(each.target, cst.Attribute) and (path := dotted(each.target)) is not None
            )


def _networks(context: Context) -> Iterator[cst.CSTNode]:
    tree = context.tree
    for name in _USES:
        for node in tree.attributes(name):
            if isinstance(call := tree.parent(node), cst.Call) and call.func is node and _is_of_network(call, name):
                yield node.value
    for node in tree.attributes("load"):
        if imported_path(context, node) == "torch.load" and isinstance(
            made := tree.statement(node), cst.SimpleStatementLine
        ):
            yield from (t.target for s in made.body if isinstance(s, cst.Assign) for t in s.targets)


def _is_of_network(call: cst.Call, name: str) -> bool:
    """Whether a method is called as a network's is: ``evaluator.eval(scores)``, ``agent.train(env, 10)`` are not."""
    match name, call.args:
        case "eval", args:
            return not args
        case "train", [_, _, *_]:
            return False
        case "train", [cst.Arg(keyword=keyword, star="")]:
            return keyword is None or keyword.value == "mode"
    return True


@at_home
def of_class(context: Context, cls: cst.ClassDef, far: int = _FAR) -> Certainty:
    """How certain it is that a module's own class, or one of those it makes its parts of, has parameters."""
    return Certainty.EXPECTED if id(cls) in context.remember(_with_parameters, far) else Certainty.SUPPOSED


@at_home
def of_output(context: Context, cls: cst.ClassDef) -> Certainty:
    """How certain it is that what a module of a class gives requires grad, as far as the names in the class tell."""
    return Certainty.SUPPOSED if context.remember(_cuts, cls) else of_class(context, cls)


def _cuts(context: Context, cls: cst.ClassDef) -> bool:
    """Whether a class may give something without a graph."""
    return any(_CUTTING.fullmatch(name.value) for name in context.tree.within(cls, cst.Name))


@at_home
def freezes(context: Context, cls: cst.ClassDef) -> bool:
    """Whether a class may freeze some of what is in it."""
    return context.remember(_freezes, cls)


def _freezes(context: Context, cls: cst.ClassDef) -> bool:
    return any(FREEZING.search(name.value) for name in context.tree.within(cls, cst.Name))


@at_home
def is_frozen_by_base(context: Context, cls: cst.ClassDef) -> bool:
    """Whether a class that another one derives from may freeze some of what is in its objects, unasked."""
    return any(
        each is not cls and home.remember(_freezes_unasked, each) for home, each in lineage_of(context, cls).classes()
    )


def _freezes_unasked(context: Context, cls: cst.ClassDef) -> bool:
    """Whether it freezes elsewhere than in a method that is called for that: who calls `freeze()` names it."""
    found = (name for name in context.tree.within(cls, cst.Name) if FREEZING.search(name.value))
    return any(not _is_in_freezer(context, name, cls) for name in found)


def _is_in_freezer(context: Context, name: cst.Name, cls: cst.ClassDef) -> bool:
    around = itertools.takewhile(lambda up: up is not cls, context.tree.ancestors(name))
    return any(isinstance(up, cst.FunctionDef) and FREEZING.search(up.name.value) is not None for up in around)


class _ClassPart(NamedTuple):
    """What a class is made of that may have parameters."""

    node: cst.CSTNode
    cls: int | None
    """The other class of the file that it is; None for one of torch or of another file that has parameters."""


def _with_parameters(context: Context, far: int) -> frozenset[int]:
    """The classes of a file that have parameters, themselves or by what they are made of: found in one go.

    ``far``: how many classes of other files, or of other parts of this one, to follow.
    """
    named = {each.name.value: id(each) for each in context.scopes.all_classes()}
    parts = {
        cls: list(_parts(context, cls, named, far)) for cls in context.scopes.all_classes() if not freezes(context, cls)
    }
    users: dict[int, list[cst.ClassDef]] = {}
    for cls, made in parts.items():
        for part in made:
            if part.cls is not None:
                users.setdefault(part.cls, []).append(cls)
    found, todo = set[int](), list(parts)
    while todo:
        cls = todo.pop()
        sure = [part.node for part in parts[cls] if part.cls is None or part.cls in found]
        if id(cls) not in found and _is_made_always(context, sure, cls):
            found.add(id(cls))
            todo += users.get(id(cls), ())
    return frozenset(found)


def _parts(context: Context, cls: cst.ClassDef, named: Mapping[str, int], far: int) -> Iterator[_ClassPart]:
    """What a class calls, and its bases, as far as these are classes that may have parameters."""
    made = (call.func for call in context.tree.within(cls, cst.Call))
    for node in (*made, *(base.value for base in cls.bases)):
        path = imported_path(context, node) or (_usual(node) if context.is_part else None)
        if path is not None and _is_trainable(library.canonical(path)):
            yield _ClassPart(node, None)
        elif isinstance(node, cst.Name) and node.value in named and node.value != cls.name.value:
            yield _ClassPart(node, named[node.value])
        elif far and _CLASS.match(last_name(node)) and context.remember(_of_class_elsewhere, dotted(node), far - 1):
            yield _ClassPart(node, None)


def _of_class_elsewhere(context: Context, path: str | None, far: int) -> Certainty:
    """How certain it is that a class has parameters that another file defines, or another part of this one."""
    home = home_of(context, path) if path is not None else None
    name = (path or "").rpartition(".")[2]
    classes = home.scopes.all_classes() if home is not None and home is not context else ()
    return max(
        (of_class(home, each, far) for each in classes if home and each.name.value == name), default=Certainty.SUPPOSED
    )


def _is_made_always(context: Context, parts: Iterable[cst.CSTNode], cls: cst.ClassDef) -> bool:
    """Whether one of some parts of a class is made whatever its conditions say.

    A pooling layer that makes its linear one only ``if method == "learned"`` may have no parameters.
    """
    waiting, seen = list(parts), set[int]()
    while waiting:
        choice, branch = _choice(context, waiting.pop(), cls)
        if choice is None:
            return True
        seen.add(id(branch))
        if all(id(each) in seen or _raises(each) for each in (choice.body, choice.orelse)):
            waiting.append(choice)
    return False


def _choice(context: Context, part: cst.CSTNode, cls: cst.ClassDef) -> tuple[cst.If | cst.IfExp | None, cst.CSTNode]:
    """The nearest condition in a class that decides whether a part is made, and the branch it is in."""
    branch = part
    for up in context.tree.ancestors(part):
        if up is cls:
            break
        if isinstance(up, (cst.If, cst.IfExp)) and branch is not up.test:
            return up, branch
        branch = up
    return None, branch


def _raises(branch: cst.CSTNode | None) -> bool:
    match branch:
        case cst.Else(body=suite) | (cst.BaseSuite() as suite):
            return isinstance(last_statement(suite), cst.Raise)
    return False


def _usual(node: cst.CSTNode) -> str | None:
    """What ``nn.Linear`` is, where the import is in a part of the file that was not read."""
    first, _, rest = (dotted(node) or "").removeprefix("torch.").partition(".")
    return f"torch.nn.{rest}" if first == "nn" and rest else None


def _is_trainable(name: str) -> bool:
    """Whether a class of torch has parameters by default, or is one."""
    if library.class_kind(name) == "parameter":
        return True
    info = library.module_info(name)
    return info is not None and info.trainable is not False
