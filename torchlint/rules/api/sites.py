"""How the rules about torch's API find the names, methods and calls that :mod:`torchlint.rules.api.table` is about."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import libcst as cst

from torchlint import edit
from torchlint.file.tree.tree import Nearest
from torchlint.model import Kind, Model, Strength
from torchlint.model.torch import returned
from torchlint.rule import Applicability, Edit, Finding, Fix
from torchlint.rules.api import table
from torchlint.rules.api.table import Row
from torchlint.versions import text

PACKAGES = ("torch", "functorch", "torchvision", "torchaudio", "torchtext")

Path = tuple[str, ...]


def last(node: cst.CSTNode) -> str:
    """The name that a name or attribute ends with; empty for all else."""
    match node:
        case cst.Name(value=name) | cst.Attribute(attr=cst.Name(value=name)):
            return name
    return ""


def dotted(node: cst.CSTNode) -> str:
    """``a.b.c`` of names and attributes, empty for all else."""
    match node:
        case cst.Name(value=name):
            return name
        case cst.Attribute(value=value, attr=cst.Name(value=name)):
            before = dotted(value)
            return f"{before}.{name}" if before else ""
    return ""


# ---------------------------------------------------------------------- names


@dataclass(frozen=True, slots=True)
class Imports:
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


def imports(model: Model) -> Imports:
    """What a file imports."""
    return model.remember(_imports)


_IMPORTS = re.compile(r"(?:^|[;:])[ \t]*(?:import|from)\b", re.MULTILINE)


def _imports(model: Model) -> Imports:
    paths: dict[str, set[str]] = {}
    stars = False
    model.tree.read(_IMPORTS)
    for node in model.tree.parsed(cst.Import):
        for alias in node.names:
            name = dotted(alias.name)
            if alias.asname is not None and isinstance(alias.asname.name, cst.Name):
                paths.setdefault(alias.asname.name.value, set()).add(name)
            else:
                top = name.partition(".")[0]
                paths.setdefault(top, set()).add(top)
    for from_ in model.tree.parsed(cst.ImportFrom):
        module = module_of(from_)
        if isinstance(from_.names, cst.ImportStar):
            stars = stars or module.partition(".")[0] in PACKAGES
            continue
        for alias in from_.names:
            bound = alias.asname.name if alias.asname is not None else alias.name
            if isinstance(bound, cst.Name):
                paths.setdefault(bound.value, set()).add(f"{module}.{dotted(alias.name)}")
    ours = {
        name: frozenset(found)
        for name, found in paths.items()
        if any(path.partition(".")[0] in PACKAGES for path in found)
    }
    aliases: set[str] = set()
    for assign in model.tree.parsed(cst.Assign):  # what is elsewhere is another function's
        if isinstance(assign.value, (cst.Name, cst.Attribute)) and _root(assign.value) in ours:
            aliases.update(last(t.target) for t in assign.targets if isinstance(t.target, (cst.Name, cst.Attribute)))
    return Imports(ours, frozenset(aliases - ours.keys()), stars)


def module_of(node: cst.ImportFrom) -> str:
    """The module that names are imported from; with a dot in front if that is relative."""
    return "." * len(node.relative) + (dotted(node.module) if node.module is not None else "")


def _root(node: cst.CSTNode) -> str:
    while isinstance(node, cst.Attribute):
        node = node.value
    return node.value if isinstance(node, cst.Name) else ""


def resolve(node: cst.BaseExpression, model: Model) -> tuple[str, str] | None:
    """What an expression names in torch: as it is spelled, and by its shortest public name."""
    known = imports(model)
    root = _root(node)
    if root in known.paths:
        path = known.path(root)
        if path is None:
            return None
    elif root not in known.aliases and not (known.stars and isinstance(node, cst.Name)):
        return None
    ref = model.qualified(node)
    if ref is None or ref.partition(".")[0] not in PACKAGES:
        return None
    path = known.path(root)
    if path is None:
        return ref, ref
    spelled = path + dotted(node)[len(root) :]
    return (spelled, ref) if returned.canonical(spelled) == ref or ref == spelled else (ref, ref)


def called_name(func: cst.BaseExpression, model: Model) -> str:
    """The last part of the name of what is called, by its import or its assignment."""
    name = last(func)
    if isinstance(func, cst.Name):
        path = imports(model).path(name)
        return (path or model.qualified(func) or name).rpartition(".")[2]
    if name in imports(model).aliases:
        return (model.qualified(func) or name).rpartition(".")[2]
    return name


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


@dataclass(frozen=True, slots=True)
class Use:
    """A place where a row of the table is named."""

    node: cst.CSTNode
    row: Row
    alias: cst.ImportAlias | None = None
    """The import it is part of, if it is one."""
    statement: cst.ImportFrom | None = None


def uses(model: Model, rule: str) -> Iterator[Use]:
    """Where the names are written that a rule is about, in document order; not what is guarded by a version check."""
    found = [
        use
        for use in _uses(model, rule)
        if use.row.concerns(model.target) and not is_guarded(use.node, model) and not _is_silenced(use, model)
    ]
    return iter(sorted(found, key=lambda use: model.tree.order(use.node)))


def _is_silenced(use: Use, model: Model) -> bool:
    """Whether a class is made with `_internal=True`, which is how torch's own code does it without a warning.

    An import is it where that is all that is done with the name.
    """
    if use.row.last != "TypedStorage":
        return False
    if use.alias is None:
        return _is_internal(use.node, model)
    bound = last(use.alias.asname.name if use.alias.asname is not None else use.alias.name)
    scope = model.tree.enclosing(use.node, cst.FunctionDef) or model.tree.module
    users = [user for user in model.tree.within(scope, cst.Name) if user.value == bound and is_read(user, model)]
    return bool(users) and all(_is_internal(user, model) for user in users)


def _is_internal(node: cst.CSTNode, model: Model) -> bool:
    call = model.tree.parent(node)
    return isinstance(call, cst.Call) and call.func is node and keyword(call.args, "_internal") is not None


def _uses(model: Model, rule: str) -> Iterator[Use]:
    names = table.names(rule)
    lasts = {name.rpartition(".")[2] for name in names}
    tree = model.tree
    for attribute in tree.parsed(cst.Attribute):
        if attribute.attr.value in lasts and is_read(attribute, model):
            yield from _named(attribute, names, model)
    wanted = lasts | {
        name for name, paths in imports(model).paths.items() if any(p.rpartition(".")[2] in lasts for p in paths)
    }
    for name in tree.parsed(cst.Name):
        if name.value in wanted and is_read(name, model):
            yield from _named(name, names, model)
    for call in tree.parsed(cst.Call):
        yield from _got(call, names, model)
    for from_ in tree.parsed(cst.ImportFrom):
        yield from _imported(from_, names)
    for import_ in tree.parsed(cst.Import):
        for alias in import_.names:
            yield from _module_named(alias.name, names)


def _named(node: cst.Name | cst.Attribute, names: Mapping[str, Sequence[Row]], model: Model) -> Iterator[Use]:
    found = resolve(node, model)
    if found is None:
        return
    for name in dict.fromkeys(found):
        for row in names.get(name, ()):
            if row.kind == "module" and (isinstance(node, cst.Name) or name != found[0]):
                continue  # its import is what is reported
            if row.rule == "TL306" and isinstance(node, cst.Name) and row.fix != "rename":
                continue
            yield Use(node, row)
            return


def _got(call: cst.Call, names: Mapping[str, Sequence[Row]], model: Model) -> Iterator[Use]:
    """``getattr(torch, "symeig")``; with a default it asks whether there is such a thing."""
    match call:
        case cst.Call(
            func=cst.Name("getattr"), args=[cst.Arg(value=base), cst.Arg(value=cst.SimpleString() as literal)]
        ):
            module = resolve(base, model) if isinstance(base, (cst.Name, cst.Attribute)) else None
            for row in names.get(f"{module[0]}.{literal.raw_value}", ()) if module is not None else ():
                yield Use(literal, row)


def _imported(node: cst.ImportFrom, names: Mapping[str, Sequence[Row]]) -> Iterator[Use]:
    if node.module is None or node.relative:
        return
    module = module_of(node)
    if module.partition(".")[0] not in PACKAGES:
        return
    found = list(_module_named(node.module, names))
    if isinstance(node.names, cst.ImportStar):
        yield from found
        return
    for alias in node.names:
        for name in dict.fromkeys((f"{module}.{last(alias.name)}", returned.canonical(f"{module}.{last(alias.name)}"))):
            if name in names and (name.startswith(module) or names[name][0].kind != "module"):
                yield Use(alias.name, names[name][0], alias, node)
                found = []  # the name says more than its module
                break
    yield from found


def _module_named(node: cst.BaseExpression, names: Mapping[str, Sequence[Row]]) -> Iterator[Use]:
    """A module of the table in the dotted name of an import, or one above it."""
    at = node
    while True:
        for row in names.get(dotted(at), ()):
            if row.kind == "module":
                yield Use(at, row)
                return
        if not isinstance(at, cst.Attribute):
            return
        at = at.value


# ---------------------------------------------------------------------- guards

_VERSION_TEST = re.compile(
    r"version|hasattr|getattr|_ge\b|_lt\b|_le\b|_gt\b|greater|less_than|at_least|is_torch|torch_\d|_?available|TORCH_|"
    r"TYPE_CHECKING|_20\b|(?-i:PT_?\d\d)|legacy|new_api|old_api",
    re.IGNORECASE,
)
_CAUGHT = re.compile(
    r"ImportError|ModuleNotFoundError|AttributeError|TypeError|Exception|RuntimeError|NotImplementedError"
)


def is_guarded(node: cst.CSTNode, model: Model) -> bool:
    """Whether code decides by itself which version it runs with: a check of one, or a `try` with another way out."""
    return model.remember(_guards).of(node) is not None


def _guards(model: Model) -> Nearest:
    """What finds the nearest ancestor that decides about versions."""

    def decides(child: cst.CSTNode, up: cst.CSTNode) -> bool:
        match up:
            case cst.Try():
                return child is not up.finalbody and any(_catches(handler, model) for handler in up.handlers)
            case cst.If() | cst.IfExp():
                return child is not up.test and model.remember(_is_version_test, up.test)
            case cst.BooleanOperation():
                return child is up.right and model.remember(_is_version_test, up.left)
            case cst.IndentedBlock() | cst.Module():
                return _leaves_before(up, child, model) or _is_replaced_after(child, model)
        return False

    return model.tree.nearest(decides)


def _is_version_test(model: Model, test: cst.BaseExpression) -> bool:
    return _VERSION_TEST.search(model.tree.code(test)) is not None


def _catches(handler: cst.ExceptHandler, model: Model) -> bool:
    return handler.type is None or _CAUGHT.search(model.tree.code(handler.type)) is not None


def _leaves_before(block: cst.IndentedBlock | cst.Module, statement: cst.CSTNode, model: Model) -> bool:
    """Whether an earlier statement of a block leaves it for some versions."""
    return model.remember(_first_leaving, block) < model.tree.siblings(statement)[1]


def _first_leaving(model: Model, block: cst.IndentedBlock | cst.Module) -> int:
    """Which statement of a block is the first to leave it for some versions; one behind the last if none does."""
    for index, statement in enumerate(block.body):
        match statement:
            case cst.If(test=test, body=body) if _leaves(body) and model.remember(_is_version_test, test):
                return index
            case cst.SimpleStatementLine(body=[cst.Assert(test=test)]) if model.remember(_is_version_test, test):
                return index
    return len(block.body)


def _leaves(node: cst.CSTNode) -> bool:
    """Whether what stands behind a statement, or a block, is not reached from it."""
    match node:
        case cst.IndentedBlock(body=[*_, end]) | cst.SimpleStatementLine(body=[*_, end]):
            return _leaves(end)
        case cst.Return() | cst.Raise() | cst.Continue():
            return True
        case cst.With(body=body) | cst.Else(body=body):
            return _leaves(body)
        case cst.If(body=body, orelse=other) if other is not None:
            return _leaves(body) and _leaves(other)
        case cst.Try(body=body, handlers=handlers, orelse=None):
            return _leaves(body) and all(_leaves(handler.body) for handler in handlers)
    return False


def _is_replaced_after(statement: cst.CSTNode, model: Model) -> bool:
    """Whether what a statement assigns is assigned again right behind it, for some versions."""
    body, index = model.tree.siblings(statement)
    match (statement, *body[index + 1 : index + 2]):
        case (
            cst.SimpleStatementLine(body=[cst.Assign(targets=[cst.AssignTarget(target=target)])]),
            cst.If(test=test, body=inner),
        ) if model.remember(_is_version_test, test):
            assigned = (each for assign in model.tree.within(inner, cst.Assign) for each in assign.targets)
            name = model.tree.code(target)
            return any(model.tree.code(each.target) == name for each in assigned)
    return False


# ---------------------------------------------------------------------- calls


def arguments_before(call: cst.Call, model: Model) -> tuple[cst.BaseExpression, Sequence[cst.Arg]]:
    """What a call calls, with which arguments: of ``partial(f, x)`` this is ``f``, with ``x``."""
    if call.args and last(call.func) == "partial" and not call.args[0].star and call.args[0].keyword is None:
        if model.qualified(call.func) == "functools.partial":
            return call.args[0].value, call.args[1:]
    return call.func, call.args


def keyword(args: Sequence[cst.Arg], name: str) -> cst.Arg | None:
    """The argument given by that keyword."""
    return next((arg for arg in args if arg.keyword is not None and arg.keyword.value == name), None)


def is_open(args: Sequence[cst.Arg]) -> bool:
    """Whether there are arguments that cannot be seen."""
    return any(arg.star for arg in args)


def positional(args: Sequence[cst.Arg], at: int) -> cst.Arg | None:
    """The positional argument at an index, if it can be told."""
    before = args[: at + 1]
    if len(before) <= at or any(arg.star or arg.keyword is not None for arg in before):
        return None
    return before[at]


def callee(func: cst.BaseExpression, rows: Sequence[Row], model: Model) -> Row | None:
    """The first of some rows that is about what is called: a function, a class, or a method of an object of torch.

    None where the file puts something of its own in its place.
    """
    from torchlint.rules.api import mentions

    row = _called(func, rows, model)
    return row if row is not None and not mentions.is_replaced(row.name, model) else None


def _called(func: cst.BaseExpression, rows: Sequence[Row], model: Model) -> Row | None:
    names = {row.name: row for row in rows}
    if isinstance(func, (cst.Name, cst.Attribute)):
        found = resolve(func, model)
        for name in dict.fromkeys(found or ()):
            if name in names:
                return names[name]
        if found is not None:
            return None
        ref = model.qualified(func) if isinstance(func, cst.Name) or _root(func) == "self" else None
        if ref is not None:  # `f = nn.MSELoss`, `self.loss = nn.MSELoss`
            return names.get(ref)
    if isinstance(func, cst.Attribute):
        return method_row(func, rows, model)
    return None


def method_row(node: cst.Attribute, rows: Sequence[Row], model: Model) -> Row | None:
    """The first of some rows about methods whose class the receiver is an instance of."""
    if isinstance(node.value, cst.Name) and node.value.value in imports(model).paths:
        return None  # the name of a module, whatever else it is bound to
    for row in rows:
        owner = row.name.rpartition(".")[0]
        if row.last == "step" and (model.value(node.value).ref or "").endswith("LRScheduler"):
            continue  # of any class: one of them has a `step` that takes the metrics
        if row.name == "torch.Tensor.solve" and not _is_unpacked(node, model):
            continue
        if is_instance(node.value, owner, model) and not (
            owner == "torch.Tensor" and (_is_circular(node, model) or _is_one_of_several(node.value, model))
        ):
            return row
    return None


def _is_unpacked(node: cst.Attribute, model: Model) -> bool:
    """Whether a method is called and its result used as the two that `solve` gave: other classes have one, too."""
    call = model.tree.parent(node)
    match model.tree.parent(call) if call is not None else None:
        case cst.Assign(targets=[cst.AssignTarget(target=cst.Tuple())]) | cst.Subscript():
            return True
        case cst.Attribute(attr=cst.Name("solution" | "LU")):
            return True
    return False


_TELLING = frozenset(
    "symeig lstsq gesv potrf potrs potri trtrs gels btrifact pstrf addcmul addcdiv addmm addmv".split()  # noqa: SIM905
)
"""Methods that nothing but a tensor has."""


def _is_circular(node: cst.Attribute, model: Model) -> bool:
    """Whether nothing but the very method says that its receiver is a tensor: other classes may have one, too."""
    name, evidence = node.attr.value, model.value(node.value).evidence
    if name in _TELLING or (name.endswith("_") and not name.endswith("__")):
        return False
    return evidence is not None and evidence.strength <= Strength.USE and f"`.{name}`" in evidence.text


def _is_one_of_several(node: cst.BaseExpression, model: Model) -> bool:
    """Whether a parameter is annotated as a tensor or something else that may have the method."""
    function = model.tree.enclosing(node, cst.FunctionDef)
    if not isinstance(node, cst.Name) or not isinstance(function, cst.FunctionDef):
        return False
    for param in (*function.params.posonly_params, *function.params.params, *function.params.kwonly_params):
        if param.name.value == node.value and param.annotation is not None:
            text = model.tree.code(param.annotation.annotation)
            is_union = "|" in text or "Union" in text
            return is_union and bool(_TENSORS.sub("", text).strip(" |[],'\""))
    return False


_TENSORS = re.compile(r"[\w.]*\b(?:Tensor|Optional|Union|None|\w*Tensor|Parameter)\b")
"""What an annotation of a tensor is made of."""


def is_instance(node: cst.BaseExpression, owner: str, model: Model) -> bool:
    """Whether an expression is an object of a class of torch."""
    if owner == "torch.Tensor":
        return model.is_tensor(node)
    value = model.value(node)
    if owner == "torch.nn.Module":
        return value.kind == Kind.MODULE
    return bool(value.kind & Kind.OBJECT) and value.ref is not None and _derives(value.ref, owner)


def _derives(ref: str, owner: str) -> bool:
    """Whether a class of torch is another, or one of its kind: all schedulers, all distributions."""
    package, _, name = owner.rpartition(".")
    if ref == owner:
        return True
    if name == "LRScheduler" and ref.endswith("ReduceLROnPlateau"):
        return False  # its `step` takes the metrics
    return name in ("LRScheduler", "Distribution") and ref.startswith(package + ".")


def row_uses(model: Model, rule: str, kinds: Sequence[str]) -> Mapping[str, tuple[Row, ...]]:
    """The rows of a rule of some kinds that concern a project, by the last part of their names."""
    rows = table.of_rule(rule)
    found = {
        name: tuple(row for row in each if row.kind in kinds and row.concerns(model.target))
        for name, each in rows.items()
    }
    return {name: each for name, each in found.items() if each}


def calls(
    model: Model, rows: Mapping[str, Sequence[Row]]
) -> Iterator[tuple[cst.Call, cst.BaseExpression, Sequence[cst.Arg]]]:
    """Calls of what may be one of these functions, by its name or by a name that was given to it."""
    names = set(rows)
    known = imports(model)
    names |= {name for name, paths in known.paths.items() if any(path.rpartition(".")[2] in rows for path in paths)}
    names |= known.aliases
    for call in model.tree.parsed(cst.Call):
        func: cst.BaseExpression = call.func
        args: Sequence[cst.Arg] = call.args
        if last(func) == "partial":
            func, args = arguments_before(call, model)
        if last(func) in names and not is_guarded(call, model):
            yield call, func, args


# ---------------------------------------------------------------------- messages and fixes


def message(row: Row, model: Model, what: str = "") -> str:
    """What is wrong, since when, and what to write instead."""
    subject = what or f"`{short(row.name)}`"
    said = f"{subject} {row.since_when(model.target)}"
    if not row.instead:
        return said
    said = f"{said}; use {row.instead}" if not row.advice.startswith(("drop", "nothing")) else f"{said}; {row.advice}"
    if row.fix and not row.is_fixable(model.target) and row.since is not None:
        oldest = f"torch {text(model.target.oldest)}" if model.target.oldest else "the oldest torch that is supported"
        said += f" (there since {text(row.since)}, and not yet in {oldest})"
    return said


def short(name: str) -> str:
    """A name for people: methods of tensors by their own name."""
    return name.replace("torch.Tensor.", "Tensor.").replace("torch.nn.functional.", "F.")


def applicability(row: Row) -> Applicability:
    """Of a fix that a row describes."""
    return Applicability.SAFE if row.safe else Applicability.UNSAFE


def spell(name: str, node: cst.CSTNode, model: Model) -> tuple[str, tuple[str, ...]] | None:
    """How to write a name of torch at a place, and the imports that this needs; None if it cannot be named there."""
    written, missing = model.spelling(name)
    root = written.partition(".")[0]
    if is_shadowed(root, node, model):
        return None
    if not missing:
        return written, ()
    package = name.partition(".")[0]
    bound = imports(model).paths.get(package)
    if (bound is not None and bound != frozenset((package,))) or (bound is None and _is_bound(package, model)):
        return None  # the file uses the name for something else
    return name, (package,)


def is_shadowed(name: str, node: cst.CSTNode, model: Model) -> bool:
    """Whether a function around a place has a variable of that name."""
    around = node if isinstance(node, cst.FunctionDef) else model.tree.enclosing(node, cst.FunctionDef)
    while isinstance(around, cst.FunctionDef):
        if name in model.scopes.locals_of(around):
            return True
        around = model.tree.enclosing(around, cst.FunctionDef)
    return False


def rename(use: Use, model: Model) -> Fix | None:
    """Write the name that replaces another one."""
    row = use.row
    if not row.is_fixable(model.target):
        return None
    said = f"Use `{row.replacement}`"
    if use.alias is not None and use.statement is not None:
        renamed = _rename_import(use.alias, use.statement, row, model)
        return renamed or removal(use.alias, use.statement, model)
    node = use.node
    if isinstance(node, cst.SimpleString):
        same = row.replacement.rpartition(".")[0] == row.name.rpartition(".")[0]
        return (
            Fix(said, (edit.replace(node, f'"{row.replacement.rpartition(".")[2]}"'),), applicability(row))
            if same
            else None
        )
    if not isinstance(node, (cst.Name, cst.Attribute)):
        return None
    found = resolve(node, model)
    if found is None:
        return None
    package, _, name = row.replacement.rpartition(".")
    if isinstance(node, cst.Attribute) and found[0].rpartition(".")[0] == package:
        return Fix(said, (edit.replace(node.attr, name),), applicability(row))
    if isinstance(node, cst.Name):
        together = _import_of(node, model)
        if together is not None:
            fix = _rename_import(*together, row, model)
            if fix is not None:
                return fix
    spelled = spell(row.replacement, node, model)
    if spelled is None:
        return None
    return Fix(said, (edit.replace(node, spelled[0]),), applicability(row), spelled[1])


def _import_of(node: cst.Name, model: Model) -> tuple[cst.ImportAlias, cst.ImportFrom] | None:
    """The one import that binds a name."""
    found = model.remember(_imports_by_name).get(node.value, ())
    return found[0] if len(found) == 1 else None


def _imports_by_name(model: Model) -> dict[str, list[tuple[cst.ImportAlias, cst.ImportFrom]]]:
    found: dict[str, list[tuple[cst.ImportAlias, cst.ImportFrom]]] = {}
    for statement in model.tree.all(cst.ImportFrom):
        for alias in statement.names if not isinstance(statement.names, cst.ImportStar) else ():
            found.setdefault(last(alias.asname.name if alias.asname is not None else alias.name), []).append(
                (alias, statement)
            )
    return found


def _literals(model: Model) -> frozenset[str]:
    """The texts that are written in a file: a name among them may be exported."""
    return frozenset(each.raw_value for each in model.tree.all(cst.SimpleString))


def _rename_import(alias: cst.ImportAlias, statement: cst.ImportFrom, row: Row, model: Model) -> Fix | None:
    """Import the new name from where the old one comes from, and use it everywhere: one fix."""
    package, _, new = row.replacement.rpartition(".")
    old, said = last(alias.name), f"Use `{row.replacement}`"
    if model.tree.is_package or isinstance(statement.names, cst.ImportStar) or statement.module is None:
        return None
    moves: list[Edit] = []
    if module_of(statement) != package:
        if len(statement.names) > 1 or not package:
            return None
        moves = [edit.replace(statement.module, package)]
    here = [] if new == old else [edit.replace(alias.name, new)]
    if alias.asname is not None or not here:
        return Fix(said, (*moves, *here), applicability(row))
    users = model.references(old, model.scopes.scope_of(statement))
    if (
        old in model.remember(_literals)
        or new in imports(model).paths
        or _is_bound(new, model)
        or _is_bound(old, model)
    ):
        return None
    if _is_global(statement, model) and model.taker(old) is not None:
        return None
    return Fix(said, (*moves, *here, *(edit.replace(user, new) for user in users)), applicability(row))


def _is_global(statement: cst.CSTNode, model: Model) -> bool:
    """Whether what a statement binds belongs to the module."""
    return model.tree.enclosing(statement, cst.FunctionDef, cst.ClassDef) is None


def _is_bound(name: str, model: Model) -> bool:
    """Whether something in a file other than an import binds a name."""
    return name in model.remember(_defined) or model.remember(_is_assigned, name)


def _defined(model: Model) -> frozenset[str]:
    """The names of parameters, functions and classes."""
    parameters = [node.name.value for node in model.tree.all(cst.Param)]
    functions = [node.name.value for node in model.tree.all(cst.FunctionDef)]
    return frozenset((*parameters, *functions, *(node.name.value for node in model.tree.all(cst.ClassDef))))


def _is_assigned(model: Model, name: str) -> bool:
    return any(model.is_target(use) for use in model.references(name, model.tree.module))


def removal(alias: cst.ImportAlias, statement: cst.ImportFrom, model: Model) -> Fix | None:
    """Remove an import whose last use has gone; until then the fix waits."""
    name = last(alias.asname.name if alias.asname is not None else alias.name)
    if name in model.remember(_literals) or model.tree.is_package or isinstance(statement.names, cst.ImportStar):
        return None
    users = model.references(name, model.scopes.scope_of(statement))
    if users and not model.remember(_all_replaced, name):
        return None
    if _is_global(statement, model) and model.taker(name) is not None:
        return None
    removed = edit.remove_import_alias(model.tree, statement, alias)
    if removed is None:
        return None
    return Fix("Remove the import", (removed,), deferred=bool(users), waits_for=tuple(users))


def _all_replaced(model: Model, name: str) -> bool:
    """Whether every use of an imported name has a fix."""
    for user in model.references(name, model.tree.module):
        uses_here = [use for rule in NAME_RULES for use in _uses_at(user, rule, model)]
        if not uses_here or fix_of(uses_here[0], model) is None or is_guarded(user, model):
            return False
    return True


def _uses_at(node: cst.Name, rule: str, model: Model) -> Iterator[Use]:
    return _named(node, table.names(rule), model) if is_read(node, model) else iter(())


NAME_RULES = ("TL302", "TL306", "TL307", "TL309", "TL311", "TL902", "TL903")
"""The rules that are about names as such."""


def fix_of(use: Use, model: Model) -> Fix | None:
    """The fix that a row describes, at a place where it is named."""
    from torchlint.rules.api import fixes

    if not use.row.fix or not use.row.is_fixable(model.target):
        return None
    return fixes.fix(use, model)


def report(use: Use, model: Model) -> Finding:
    """A finding about a name."""
    severity = "error" if use.row.is_removed(model.target) else "warning"
    return Finding(use.node, message(use.row, model), fix_of(use, model), severity=severity)


# ---------------------------------------------------------------------- methods


def methods(model: Model, rule: str) -> Iterator[tuple[cst.Attribute, Row]]:
    """Attributes of tensors and other objects of torch that a rule is about, in document order."""
    rows = row_uses(model, rule, ("method",))
    for node in model.tree.parsed(cst.Attribute):
        found = rows.get(node.attr.value)
        if not found or not is_read(node, model):
            continue
        if node.attr.value not in _ATTRIBUTES and not _is_called(node, model):
            continue
        row = method_row(node, found, model)
        if row is None or (node.attr.value == "_backend" and not _is_of_torch(node.value, model)):
            continue
        if not is_guarded(node, model) and resolve(node, model) is None:
            yield node, row


_ATTRIBUTES = frozenset(("_backend", "creator", "names", "volatile", "cummulative_sizes"))
"""What is no method among the rows about methods."""


def _is_of_torch(node: cst.BaseExpression, model: Model) -> bool:
    """Whether an object's class is one of torch's own: others may have an attribute of that name."""
    value = model.value(node)
    return value.node is None and value.ref is not None and value.ref.startswith("torch.nn.")


def _is_called(node: cst.Attribute, model: Model) -> bool:
    parent = model.tree.parent(node)
    return isinstance(parent, cst.Call) and parent.func is node


def report_method(node: cst.Attribute, row: Row, model: Model) -> Finding:
    """A finding about a method or attribute of an object."""
    from torchlint.rules.api import fixes

    fix = fixes.of_method(node, row, model) if row.is_fixable(model.target) else None
    severity = "error" if row.is_removed(model.target) else "warning"
    receiver = node.value if row.name.startswith("torch.Tensor.") else None
    return Finding(node.attr, message(row, model), fix, severity=severity, receiver=receiver)
