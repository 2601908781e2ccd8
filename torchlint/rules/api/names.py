"""Which name of torch an expression means, and how a file would write one."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass

import libcst as cst

from torchlint.file.text.tokens import MODULES
from torchlint.model import Model, reexports
from torchlint.model.imports import is_bound_here
from torchlint.model.names import PACKAGES
from torchlint.model.syntax import bound_name, dotted, is_global, last_name, root
from torchlint.model.torch import library


@dataclass(frozen=True, slots=True)
class TorchImports:
    """The names that a file imports from torch and its domain libraries."""

    paths: Mapping[str, frozenset[str]]
    """For each name what it stands for, by all the imports that bind it."""
    aliases: frozenset[str]
    """Names that are assigned one of those."""
    stars: bool
    """Whether everything of some module of theirs is imported."""

    def path(self, name: str) -> str | None:
        """What a name stands for, where all imports agree."""
        found = self.paths.get(name, frozenset())
        return next(iter(found)) if len(found) == 1 else None


def imports(model: Model) -> TorchImports:
    """What a file imports."""
    return model.remember(_imports)


def _imports(model: Model) -> TorchImports:
    paths: dict[str, set[str]] = {}
    stars = False
    for node in model.tree.all(cst.Import):
        for alias in node.names:
            name = dotted(alias.name) or ""
            if alias.asname is not None and isinstance(alias.asname.name, cst.Name):
                paths.setdefault(alias.asname.name.value, set()).add(name)
            else:
                top = name.partition(".")[0]
                paths.setdefault(top, set()).add(top)
    for from_ in model.tree.all(cst.ImportFrom):
        module = module_of(from_)
        if isinstance(from_.names, cst.ImportStar):
            stars = stars or module.partition(".")[0] in PACKAGES
            continue
        for alias in from_.names:
            paths.setdefault(bound_name(alias), set()).add(f"{module}.{last_name(alias.name)}")
    ours = {
        name: frozenset(found)
        for name, found in paths.items()
        if any(path.partition(".")[0] in PACKAGES for path in found)
    }
    aliases: set[str] = set()
    for assign in model.tree.all(cst.Assign):
        if not isinstance(assign.value, (cst.Name, cst.Attribute)):
            continue
        first = root(assign.value)
        if first in ours or model.ask(reexports.module_named, first) is not None:
            aliases.update(last_name(target.target) for target in assign.targets)
    return TorchImports(ours, frozenset(aliases - {"", *ours}), stars)


def module_of(node: cst.ImportFrom) -> str:
    """The module that names are imported from; with a dot in front if that is relative."""
    name = dotted(node.module) if node.module is not None else None
    return "." * len(node.relative) + (name or "")


def resolve(node: cst.BaseExpression, model: Model) -> tuple[str, str] | None:
    """What an expression names in torch: as it is spelled, and by its shortest public name."""
    known = imports(model)
    first = root(node)
    if first in known.paths:
        path = known.path(first)
        if path is None or model.ask(reexports.is_bound_anew, first):
            return None
    elif first in known.aliases or (known.stars and isinstance(node, cst.Name)):
        path = None
    else:
        path = _path_in_project(node, first, model)
        if path is None and not _is_below_module(node, first, model):
            return None
    ref = model.qualified(node)
    if path is not None and ref in model.ask(reexports.imported).get(first, ()):
        ref = library.canonical(path)
    if ref is None or ref.partition(".")[0] not in PACKAGES:
        return None
    if path is None:
        return ref, ref
    spelled = path + (dotted(node) or "")[len(first) :]
    return (spelled, ref) if library.canonical(spelled) == ref or ref == spelled else (ref, ref)


def _path_in_project(node: cst.BaseExpression, first: str, model: Model) -> str | None:
    """The path in torch of the name that an expression begins with, if another file of the project has it."""
    return model.ask(reexports.path_of if isinstance(node, cst.Name) else reexports.module_named, first)


def _is_below_module(node: cst.BaseExpression, first: str, model: Model) -> bool:
    """Whether something is reached by what may be a file of the project: ``common.torch.load``."""
    between = (dotted(node) or "").split(".")[1:-1]
    return not MODULES.isdisjoint(between) and first in model.ask(reexports.imported)


def of_last_names(lasts: Collection[str], model: Model) -> set[str]:
    """The names that imports bind to what has one of these last names where it is imported from."""
    everything = (*imports(model).paths.items(), *model.ask(reexports.imported).items())
    return {name for name, paths in everything if any(path.rpartition(".")[2] in lasts for path in paths)}


def called_name(func: cst.BaseExpression, model: Model) -> str:
    """The last part of the name of what is called, by its import or its assignment."""
    name = last_name(func)
    if isinstance(func, cst.Name):
        if name not in model.remember(_may_be_bound):  # a function or class of this file, or built in
            return name
        path = imports(model).path(name)
        return (path or model.qualified(func) or name).rpartition(".")[2]
    if name in imports(model).aliases:
        return (model.qualified(func) or name).rpartition(".")[2]
    return name


def may_be_called(func: cst.BaseExpression, wanted: frozenset[str], model: Model) -> bool:
    """Whether what is called may have one of these last names, by syntax alone.

    It is written so, or the file refers to such a function without calling it, so that any name may stand for it.
    """
    return last_name(func) in wanted or model.remember(_refers_to, wanted)


def is_called(func: cst.BaseExpression, wanted: frozenset[str], model: Model) -> bool:
    """Whether the name of what is called ends with one of these, by its import or its assignment."""
    return may_be_called(func, wanted, model) and called_name(func, model) in wanted


def _refers_to(model: Model, wanted: frozenset[str]) -> bool:
    """Whether a file gives on what one of these names is imported as, gives it another name, or gets it by a string."""
    if any(_is_given_on(use, model) for name in wanted for use in model.tree.names(name)):
        return True
    got = (arg.value for call in model.all_called("getattr") for arg in getattr(model.tree.parent(call), "args", ()))
    return any(isinstance(each, cst.SimpleString) and each.value.strip("\"'") in wanted for each in got)


def _is_given_on(use: cst.Name, model: Model) -> bool:
    """Whether a name that an import binds, or one of a module, is evaluated and not called there."""
    node: cst.CSTNode = use
    parent = model.tree.parent(use)
    if isinstance(parent, cst.Attribute) and parent.attr is use:
        node, parent = parent, model.tree.parent(parent)
    if isinstance(parent, cst.ImportAlias):
        return parent.asname is not None
    if (isinstance(parent, cst.Call) and parent.func is node) or not is_read(node, model):
        return False
    if isinstance(parent, cst.Decorator) or model.tree.enclosing(node, cst.Annotation) is not None:
        return False
    return is_of_import(node, model)


def is_of_import(node: cst.CSTNode, model: Model) -> bool:
    """Whether a name or path may stand for something that is imported, by syntax alone: ``m.a`` and not ``self.a``."""
    modules = model.remember(_of_imports)
    return any(each in modules or "*" in modules for each in (dotted(node) or "").split("."))


def _of_imports(model: Model) -> frozenset[str]:
    """The names that imports bind in a file, and those that these are assigned to; a star for what is not listed."""
    found = set[str]()
    statements: list[cst.Import | cst.ImportFrom] = [*model.tree.all(cst.Import), *model.tree.all(cst.ImportFrom)]
    for statement in statements:
        if isinstance(statement.names, cst.ImportStar):
            found.add("*")
            continue
        for alias in statement.names:
            found |= {bound_name(alias), root(alias.name)}
    for assign in model.tree.all(cst.Assign):
        if not found.isdisjoint((dotted(assign.value) or "").split(".")):
            found.update(last_name(each.target) for each in assign.targets)
    return frozenset(found - {""})


_BINDING = frozenset(
    (
        *(cst.AssignTarget, cst.AnnAssign, cst.AugAssign, cst.NamedExpr, cst.For, cst.CompFor, cst.Element),
        *(cst.StarredElement, cst.Param, cst.ImportAlias, cst.AsName, cst.MatchAs, cst.MatchStar, cst.MatchMapping),
    )
)
"""What may bind a name that is right below it, but for definitions."""


def _may_be_bound(model: Model) -> frozenset[str]:
    """The names that anything but a definition may bind in a file, by what they stand in: no flow is followed."""
    tree = model.tree
    has_stars = any(isinstance(each.names, cst.ImportStar) for each in tree.all(cst.ImportFrom))
    return frozenset(name.value for name in tree.all(cst.Name) if has_stars or type(tree.parent(name)) in _BINDING)


def is_read(node: cst.CSTNode, model: Model) -> bool:
    """Whether a name or attribute is evaluated: no label, no target, no part of an import."""
    parent = model.tree.parent(node)
    match parent:
        case cst.Attribute():
            return parent.value is node
        case cst.ImportAlias() | cst.AsName() | cst.ImportFrom() | cst.NameItem():
            return False
        case cst.Param():
            return parent.default is node
        case cst.FunctionDef() | cst.ClassDef():
            return parent.name is not node
        case cst.Arg():
            return parent.keyword is not node
        case cst.AssignTarget() | cst.Del() | cst.AnnAssign():
            return isinstance(parent, cst.AnnAssign) and parent.target is not node
    return True


def spell(name: str, node: cst.CSTNode, model: Model) -> tuple[str, tuple[str, ...]] | None:
    """How to write a name of torch at a place, and the imports that this needs; None if it cannot be named there."""
    written, missing = model.spelling(name, node)
    root = written.partition(".")[0]
    if not written or is_shadowed(root, node, model):
        return None
    if not missing:
        return written, ()
    package = name.partition(".")[0]
    bound = imports(model).paths.get(package)
    if (bound is not None and bound != frozenset((package,))) or (bound is None and is_bound(package, model)):
        return None  # the file uses the name for something else
    return name, (package,)


_TORCH_NAME = re.compile(r"(?<![\w.\"'])torch(?:\.\w+)+")


def spell_all(text: str, node: cst.CSTNode, model: Model) -> tuple[str, tuple[str, ...]] | None:
    """A text with the names of torch as this file spells them, and the imports that it needs."""
    needed: dict[str, None] = {}
    pieces, at = [], 0
    for match in _TORCH_NAME.finditer(text):
        spelled = spell(match.group(), node, model)
        if spelled is None:
            return None
        pieces += [text[at : match.start()], spelled[0]]
        needed |= dict.fromkeys(spelled[1])
        at = match.end()
    return "".join(pieces) + text[at:], tuple(needed)


def is_shadowed(name: str, node: cst.CSTNode, model: Model) -> bool:
    """Whether a function around a place has a variable of that name."""
    around = node if isinstance(node, cst.FunctionDef) else model.tree.enclosing(node, cst.FunctionDef)
    while isinstance(around, cst.FunctionDef):
        if name in model.scopes.locals_of(around):
            return True
        around = model.tree.enclosing(around, cst.FunctionDef)
    return False


_BROUGHT_BY_STAR = frozenset(("float", "range"))
"""Builtins that fixes write and that a star of torch binds to something else."""


def is_builtin(name: str, node: cst.CSTNode, model: Model) -> bool:
    """Whether the name of a builtin stands for that at a place."""
    if name in model.scopes.hidden_at(node) or is_shadowed(name, node, model) or bound_at_top(name, model):
        return False
    return not (name in _BROUGHT_BY_STAR and imports(model).stars) and not model.ask(reexports.is_taken, name)


def bound_at_top(name: str, model: Model) -> tuple[cst.Name, ...]:
    """Where a name of the module is bound."""
    return model.remember(_bound_at_top, name)


def _bound_at_top(model: Model, name: str) -> tuple[cst.Name, ...]:
    found = list[cst.Name]()
    for node in model.tree.names(name):
        parent = model.tree.parent(node)
        at = parent if isinstance(parent, (cst.FunctionDef, cst.ClassDef)) else node
        if is_bound_here(model.tree, node) and (is_global(at, model.tree) or isinstance(parent, cst.NameItem)):
            found.append(node)
    return tuple(found)


def is_bound(name: str, model: Model) -> bool:
    """Whether something in a file other than an import binds a name."""
    return name in model.remember(_defined) or model.remember(_is_assigned, name)


def _defined(model: Model) -> frozenset[str]:
    """The names of parameters, functions and classes."""
    parameters = [node.name.value for node in model.tree.all(cst.Param)]
    functions = [node.name.value for node in model.tree.all(cst.FunctionDef)]
    return frozenset((*parameters, *functions, *(node.name.value for node in model.tree.all(cst.ClassDef))))


def _is_assigned(model: Model, name: str) -> bool:
    return any(model.is_target(use) for use in model.references(name, model.tree.module))
