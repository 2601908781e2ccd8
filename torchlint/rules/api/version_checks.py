"""What conditions ask about versions, and for which of them they hold: the new ones, or the old ones."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from enum import Enum

import libcst as cst

from torchlint.model import Model, bindings, constants, imports
from torchlint.model.names import PACKAGES
from torchlint.model.syntax import assignment_of, bound_name, dotted, is_none, last_name, root
from torchlint.model.torch import library


class Holds(Enum):
    """For which versions a condition holds."""

    NEW = "new"
    OLD = "old"
    EITHER = "either"

    def denied(self) -> Holds:
        """For which versions the opposite holds."""
        return {Holds.NEW: Holds.OLD, Holds.OLD: Holds.NEW}.get(self, self)


CHECKED = (*PACKAGES, "lightning", "pytorch_lightning")
"""Packages of which versions are told apart by what they have."""
_CALLED = re.compile(
    r"torch_?v(?:er|ersion|$|_|\d)|(?:torch|version)_?(?:is_)?(?:ge|gt|le|lt|at_?least|greater|less|newer|older|before)|"
    r"torch_?\d|(?:old|new|legacy)_?(?:py)?torch|^PT_?\d\d",
    re.IGNORECASE,
)
"""What names are called that are known to be about a version of torch wherever they come from."""
_NEWER = re.compile(r"(?:_|\b)(?:ge|gt|new|newer)(?:_|\b)|greater|at_?least", re.IGNORECASE)
_OLDER = re.compile(r"(?:_|\b)(?:le|lt|old|older|legacy)(?:_|\b)|less|before", re.IGNORECASE)
_SIGNATURES = frozenset(("signature", "getfullargspec", "getargspec", "__kwdefaults__", "co_varnames"))
"""What says which arguments a function of this version takes."""
_DISTRIBUTIONS = frozenset(("version", "get_distribution"))
"""What says which version of a package is installed."""
_DEVICES = frozenset(("cuda", "hip", "mps", "npu", "tpu", "xla", "xpu"))
"""What torch has for some devices only."""
_UP = (cst.GreaterThan, cst.GreaterThanEqual)
_DOWN = (cst.LessThan, cst.LessThanEqual)
_STEPS = 6
"""Names that stand for each other, of which anybody follows so many."""


def holds(test: cst.BaseExpression, model: Model) -> Holds | None:
    """For which versions of torch a condition holds; None if it asks about none."""
    return model.remember(_holds, test, _STEPS)


def _holds(model: Model, test: cst.BaseExpression, steps: int) -> Holds | None:
    match test:
        case cst.UnaryOperation(operator=cst.Not(), expression=inner):
            found = model.remember(_holds, inner, steps)
            return found.denied() if found is not None else None
        case cst.BooleanOperation(left=left, right=right):
            return _together(*(model.remember(_holds, each, steps) for each in (left, right)))
        case cst.Comparison(left=left, comparisons=[cst.ComparisonTarget(operator=operator, comparator=right)]):
            return _compared(left, operator, right, model, steps)
        case cst.Call(func=cst.Name("hasattr" | "getattr"), args=[owner, name, *_]):
            return Holds.NEW if _is_of_torch(owner.value, name.value, model) else None
        case cst.Call(func=func) if _CALLED.search(last_name(func)):
            return _by_name(last_name(func))
        case cst.Name() | cst.Attribute():
            return _named(test, model, steps)
    return Holds.EITHER if _asks(test, model, steps) else None


def _together(*both: Holds | None) -> Holds | None:
    """For which versions two conditions hold: what one of them says, if the other one does not deny it."""
    said = {each for each in both if each is not None and each is not Holds.EITHER}
    if len(said) == 1:
        return said.pop()
    return Holds.EITHER if said or Holds.EITHER in both else None


def _compared(
    left: cst.BaseExpression, operator: cst.BaseCompOp, right: cst.BaseExpression, model: Model, steps: int
) -> Holds | None:
    if isinstance(operator, (cst.Is, cst.IsNot, cst.Equal, cst.NotEqual)) and is_none(right):
        found = model.remember(_holds, left, steps)
        is_missing = isinstance(operator, (cst.Is, cst.Equal))
        return found.denied() if found is not None and is_missing else found
    if isinstance(operator, (cst.In, cst.NotIn)) and (owner := _named_by(right)) is not None:
        if _is_of_torch(owner, left, model):
            return Holds.NEW if isinstance(operator, cst.In) else Holds.OLD
    of_left, of_right = _asks(left, model, steps), _asks(right, model, steps)
    if not of_left and not of_right:
        return None
    match operator:
        case cst.In() | cst.NotIn():
            found = Holds.NEW if of_right and not of_left and _is_signature(right, model) else Holds.EITHER
            return found if isinstance(operator, cst.In) else found.denied()
        case cst.GreaterThan() | cst.GreaterThanEqual() | cst.LessThan() | cst.LessThanEqual() if of_left != of_right:
            return Holds.NEW if isinstance(operator, _UP if of_left else _DOWN) else Holds.OLD
    return Holds.EITHER


def _named_by(node: cst.BaseExpression) -> cst.BaseExpression | None:
    """What an expression lists the names of, as `dir(torch)`, `vars(torch)` and `torch.__dict__` do."""
    match node:
        case cst.Call(func=cst.Name("dir" | "vars"), args=[cst.Arg(value=owner)]):
            return owner
        case cst.Attribute(value=owner, attr=cst.Name("__dict__")):
            return owner
    return None


# ---------------------------------------------------------------------- what is asked about


def _asks(node: cst.BaseExpression, model: Model, steps: int = _STEPS) -> bool:
    """Whether the value of an expression depends on a version, or on what a version has."""
    return model.remember(_is_about_version, node, steps)


def _is_about_version(model: Model, node: cst.BaseExpression, steps: int) -> bool:
    return any(_says_version(part, model, steps) for part in _made_of(node))


def _made_of(node: cst.BaseExpression) -> Iterator[cst.BaseExpression]:
    """An expression with what its value is computed from: not what only chooses among values."""
    waiting = [node]
    while waiting:
        at = waiting.pop()
        yield at
        match at:
            case cst.Attribute(value=value) | cst.Subscript(value=value) | cst.UnaryOperation(expression=value):
                waiting.append(value)
            case cst.Call(func=func, args=args):
                waiting += [func, *(arg.value for arg in args)]
            case cst.Tuple(elements=elements) | cst.List(elements=elements):
                waiting += [element.value for element in elements]
            case cst.ListComp(for_in=loop) | cst.GeneratorExp(for_in=loop):
                waiting.append(loop.iter)
            case cst.BinaryOperation(left=left, right=right) | cst.BooleanOperation(left=left, right=right):
                waiting += [left, right]
            case cst.Comparison(left=left, comparisons=others):
                waiting += [left, *(other.comparator for other in others)]


def _says_version(node: cst.BaseExpression, model: Model, steps: int) -> bool:
    match node:
        case cst.Call(func=cst.Name("hasattr" | "getattr"), args=[owner, name, *_]):
            return _is_of_torch(owner.value, name.value, model)
        case cst.Call(func=func, args=[cst.Arg(value=cst.SimpleString(raw_value=package)), *_]):
            return last_name(func) in _DISTRIBUTIONS and package in CHECKED
        case cst.Attribute(value=package, attr=cst.Name("__version__")):
            imported = package_of(package, model)
            return not imported or imported in CHECKED  # that of another package says nothing
        case cst.Attribute() | cst.Name():
            return dotted(node) is not None and _leads_to_version(node, model, steps)
    return False


def package_of(node: cst.BaseExpression, model: Model) -> str:
    """The package that a name or path begins with, if all imports of that name are of it; else nothing."""
    found: set[str] = model.remember(_packages).get(root(node), set())
    return next(iter(found)) if len(found) == 1 else ""


def _packages(model: Model) -> dict[str, set[str]]:
    """The packages that the imports of a file take names from, wherever they stand, by the names that they bind."""
    found: dict[str, set[str]] = {}
    for plain in model.tree.all(cst.Import):
        for alias in plain.names:
            bound = bound_name(alias) if alias.asname is not None else root(alias.name)
            found.setdefault(bound, set()).add(root(alias.name))
    for each in model.tree.all(cst.ImportFrom):
        package = root(each.module) if each.module is not None and not each.relative else ""
        for alias in () if isinstance(each.names, cst.ImportStar) else each.names:
            found.setdefault(bound_name(alias), set()).add(package)
    return found


def _is_signature(node: cst.BaseExpression, model: Model) -> bool:
    return any(name.value in _SIGNATURES for name in model.tree.within(node, cst.Name))


def _is_of_torch(owner: cst.BaseExpression, name: cst.BaseExpression, model: Model) -> bool:
    """Whether somebody asks if torch has a function, or a tensor a method: not if a layer has a bias."""
    match name:
        case cst.SimpleString(raw_value=device) if device in _DEVICES:
            return False
    path = model.ask(imports.imported_path, owner) or ""
    if path.partition(".")[0] in CHECKED or root(owner) in CHECKED:
        return True
    match name:
        case cst.SimpleString(raw_value=asked):
            is_method = asked in library.tensor_names() and model.value(owner).is_tensor
            return is_method or asked in library.tensor_only()
    return False


# ---------------------------------------------------------------------- names


def _by_name(name: str) -> Holds:
    if _NEWER.search(name):
        return Holds.NEW
    return Holds.OLD if _OLDER.search(name) else Holds.EITHER


def _named(node: cst.Name | cst.Attribute, model: Model, steps: int) -> Holds | None:
    """What a name says that stands for a condition: what it is bound to, else what it is called."""
    if last_name(node) == "__version__" or last_name(node) in _SIGNATURES:
        return Holds.EITHER
    found = _bound(node, model, steps) if steps else None
    if found is None and _CALLED.search(last_name(node)):
        return _by_name(last_name(node))
    return found


def _leads_to_version(node: cst.Name | cst.Attribute, model: Model, steps: int) -> bool:
    """Whether a name says something about a version, as a condition or as a value: ``major`` of a version's parts."""
    if last_name(node) in _SIGNATURES or (model.ask(imports.imported_path, node) or "").endswith(".__version__"):
        return True
    return steps > 0 and _named(node, model, steps) is not None


def _bound(node: cst.Name | cst.Attribute, model: Model, steps: int) -> Holds | None:
    """For which versions what a name of the file or an attribute of the class is bound to holds."""
    if isinstance(node, cst.Attribute):
        made = model.ask(bindings.made, node)
        return model.remember(_holds, made, steps - 1) if made is not None else None
    scope = model.ask(bindings.owner, node)
    return model.remember(_of_name, node.value, scope, steps) if scope is not None else None


def _of_name(model: Model, name: str, scope: cst.FunctionDef | cst.Module, steps: int) -> Holds | None:
    """For which versions what is bound to a name of a scope, or to that of another file, holds."""
    targets = [each for each in model.targets(name, scope) if model.scopes.scope_of(each) is scope]
    if not targets and isinstance(scope, cst.Module):
        values = model.ask(constants.bound_elsewhere, name)
        return _all_say(model.home(value).remember(_holds, value, steps - 1) for value in values if value is not None)
    if any(_is_tried(target, model) for target in targets):
        return Holds.NEW
    return _all_say(model.remember(_holds, value, steps - 1) for value in _values(name, targets, model))


def _all_say(found: Iterable[Holds | None]) -> Holds | None:
    said = set(found) - {None}
    return said.pop() if len(said) == 1 else Holds.EITHER if said else None


def _values(name: str, targets: Sequence[cst.Name], model: Model) -> Iterator[cst.BaseExpression]:
    """What a name is bound to, but for what is made of itself."""
    for target in targets:
        value = bindings.bound_value(target, model.tree) or bindings.unpacked_from(target, model.tree)
        if value is not None and not any(each.value == name for each in model.tree.within(value, cst.Name)):
            yield value


def _is_tried(target: cst.Name, model: Model) -> bool:
    """Whether a name is true where an import from torch works, and false where it does not."""
    match assignment_of(target, model.tree), model.tree.enclosing(target, cst.Try):
        case cst.Assign(value=cst.Name("True")), cst.Try(body=body):
            return imports_torch(body, model)
    return False


def imports_torch(body: cst.BaseSuite, model: Model) -> bool:
    """Whether something is imported from torch in a block."""
    modules = [each.module for each in model.tree.within(body, cst.ImportFrom) if each.module is not None]
    modules += [alias.name for each in model.tree.within(body, cst.Import) for alias in each.names]
    return any((dotted(module) or "").partition(".")[0] in CHECKED for module in modules)
