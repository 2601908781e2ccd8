"""Methods and attributes of objects of torch: which row is about one, by what its receiver is.

Beside tensors, modules, optimizers and the like these are the contexts of autograd functions, the iterators of loaders,
and modules that are called as if they were functions.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

import libcst as cst

from torchlint.model import Kind, Model, Strength, bindings
from torchlint.model.codebase import namesakes
from torchlint.model.codebase.exports import is_mentioned
from torchlint.model.syntax import call_of, parameters, positional_parameters
from torchlint.rules.api import guards, names, table
from torchlint.rules.api.table import Row


def uses(model: Model, rule: str) -> Iterator[tuple[cst.Attribute, Row]]:
    """Attributes of objects of torch that a rule is about; not what is guarded by a version check."""
    yield from _of_class(model, rule)
    rows = table.of_kinds(rule, ("context", "iterator", "called-module"), model.target)
    for node in model.tree.all(cst.Attribute) if rows else ():
        for row in rows.get(node.attr.value, ()):
            if _is_about(row, node, model) and not guards.is_guarded(node, model):
                yield node, row


def _of_class(model: Model, rule: str) -> Iterator[tuple[cst.Attribute, Row]]:
    """Attributes of tensors and of other objects whose class a row names, in document order."""
    rows = table.of_kinds(rule, ("method",), model.target)
    for node in model.tree.all(cst.Attribute):
        found = rows.get(node.attr.value)
        if not found or not names.is_read(node, model):
            continue
        if node.attr.value not in _ATTRIBUTES and call_of(node, model.tree) is None:
            continue
        row = row_of(node, found, model)
        if row is None or (node.attr.value == "_backend" and not _is_of_torch(node.value, model)):
            continue
        if not guards.is_guarded(node, model) and names.resolve(node, model) is None:
            yield node, row


_ATTRIBUTES = frozenset(("_backend", "creator", "names", "volatile", "cummulative_sizes"))
"""What is no method among the rows about methods."""


def _is_of_torch(node: cst.BaseExpression, model: Model) -> bool:
    """Whether an object's class is one of torch's own: others may have an attribute of that name."""
    value = model.value(node)
    return value.node is None and value.ref is not None and value.ref.startswith("torch.nn.")


def _is_about(row: Row, node: cst.Attribute, model: Model) -> bool:
    """Whether an attribute is what a row of a kind of its own is about."""
    if not names.is_read(node, model):
        return False
    match row.kind:
        case "context":
            return _is_context(node.value, model)
        case "iterator":
            call = call_of(node, model.tree)
            return call is not None and not call.args and _is_iterator(node.value, model)
        case "called-module":
            found = names.resolve(node, model)
            return call_of(node, model.tree) is not None and found is not None and found[0] == row.name
    return False


def _is_context(node: cst.BaseExpression, model: Model) -> bool:
    """Whether an expression is the first argument of the methods of an autograd function."""
    function = model.tree.enclosing(node, cst.FunctionDef)
    if not isinstance(node, cst.Name) or not isinstance(function, cst.FunctionDef):
        return False
    if function.name.value not in ("forward", "backward", "setup_context", "vjp", "jvp"):
        return False
    cls = model.class_of(function)
    params = positional_parameters(function)
    return (
        cls is not None and model.class_kind(cls) == "function" and bool(params) and params[0].name.value == node.value
    )


def _is_iterator(node: cst.BaseExpression, model: Model) -> bool:
    """Whether an expression is `iter(loader)`, on the spot or by a name that is nothing else."""
    match node:
        case cst.Call(func=cst.Name("iter") as func, args=[cst.Arg(value=loader, keyword=None, star="")]):
            return _is_loader(loader, model) or (
                model.qualified(func) == "builtins.iter" and _may_be_loader(loader, model)
            )
        case cst.Call(func=cst.Attribute(value=loader, attr=cst.Name("__iter__")), args=[]):
            return _may_be_loader(loader, model)
        case cst.Call(func=cst.Name("enumerate") as func, args=[cst.Arg(value=loader, keyword=None, star=""), *_]):
            return model.qualified(func) == "builtins.enumerate" and _may_be_loader(loader, model)
        case cst.Name(value=name):
            bound = model.bindings_of(name, node)
            return bool(bound) and all(_binds_iterator(target, model) for target in bound)
        case cst.Attribute(value=cst.Name("self")):
            kept = model.ask(bindings.made, node)
            return isinstance(kept, cst.Call) and _is_iterator(kept, model)
        case cst.Subscript(value=container):
            whole = model.ask(bindings.made, container)
            return whole is not None and _holds_iterators(whole, model)
    return False


def _is_loader(node: cst.BaseExpression, model: Model) -> bool:
    return model.value(node).kind == Kind.LOADER


def _may_be_loader(node: cst.BaseExpression, model: Model) -> bool:
    """Whether the iterator of what a name stands for has no `next`, unless a class has one beside `__next__`."""
    if _is_loader(node, model):
        return True
    kind = model.value(node).kind
    is_open = bool(kind & (Kind.LOADER | Kind.UNKNOWN)) and not kind & ~(Kind.LOADER | Kind.UNKNOWN)
    return is_open and not model.ask(namesakes.has_own, "next")


def _holds_iterators(node: cst.BaseExpression, model: Model) -> bool:
    """Whether all elements of a display or comprehension are such iterators."""
    match node:
        case cst.List(elements=elements) | cst.Tuple(elements=elements) | cst.Dict(elements=elements):
            return bool(elements) and all(_is_iterator(each.value, model) for each in elements)
        case cst.ListComp(elt=element) | cst.DictComp(value=element):
            return _is_iterator(element, model)
    return False


def _binds_iterator(target: cst.Name, model: Model) -> bool:
    """Whether a name is assigned such an iterator where it stands."""
    value = bindings.bound_value(target, model.tree)
    return isinstance(value, cst.Call) and _is_iterator(value, model)


_OTHER_STEPS = ("LRScheduler", "CosineAnnealingWarmRestarts")
"""Schedulers whose `step` may well be given something: those of any class, for one takes the metrics, and the one whose
epochs need not be whole."""


def row_of(node: cst.Attribute, rows: Sequence[Row], model: Model) -> Row | None:
    """The first of some rows about methods whose class the receiver is an instance of."""
    if isinstance(node.value, cst.Name) and node.value.value in names.imports(model).paths:
        return None  # the name of a module, whatever else it is bound to
    value = model.value(node.value)
    for each in (value, *value.choices):
        if isinstance(each.node, cst.ClassDef) and model.find_method(each.node, node.attr.value) is not None:
            return None  # a class of the project has its own
    for row in rows:
        owner = row.name.rpartition(".")[0]
        if row.last == "step" and (value.ref or "").endswith(_OTHER_STEPS):
            continue
        if row.name == "torch.Tensor.solve" and not _is_unpacked(node, model):
            continue
        if _is_instance(node.value, owner, model) and not (owner == "torch.Tensor" and _is_doubtful(node, model)):
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


def _is_doubtful(node: cst.Attribute, model: Model) -> bool:
    return _is_circular(node, model) or _is_one_of_several(node.value, model) or _is_anothers(node, model)


def _is_anothers(node: cst.Attribute, model: Model) -> bool:
    """Whether only its use says that something is a tensor, and classes of the project have that method, too."""
    evidence = model.value(node.value).evidence
    if evidence is None or evidence.strength > Strength.USE:
        return False
    return model.ask(is_mentioned, rf"\bdef {node.attr.value}\(\s*self\b")


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
    for param in parameters(function):
        if param.name.value == node.value and param.annotation is not None:
            text = model.tree.code(param.annotation.annotation)
            is_union = "|" in text or "Union" in text
            return is_union and bool(_TENSORS.sub("", text).strip(" |[],'\""))
    return False


_TENSORS = re.compile(r"[\w.]*\b(?:Tensor|Optional|Union|None|\w*Tensor|Parameter)\b")
"""What an annotation of a tensor is made of."""


def _is_instance(node: cst.BaseExpression, owner: str, model: Model) -> bool:
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
