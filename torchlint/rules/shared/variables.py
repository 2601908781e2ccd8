"""Which expressions mean `torch.autograd.Variable`, and what to write for a call of it."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace

import libcst as cst

from torchlint import edit
from torchlint.model import Kind, Model, Role, Strength, Usage
from torchlint.model.bindings import bound_value, target_before
from torchlint.model.calls_elsewhere import files_with
from torchlint.model.codebase.exports import is_mentioned
from torchlint.model.interpret.loaders import is_from_loader
from torchlint.model.syntax import dotted, keyword, last_name, parameters, positional
from torchlint.model.torch import library
from torchlint.model.torch.arguments import literal_bool
from torchlint.model.torch.schema import TensorResult
from torchlint.rule import Applicability, Edit, Fix
from torchlint.rules.shared import (
    age,
    data_sites,
    given_batches,
    gradients,
    identity,
    indices,
    integers,
    lifetimes,
    memory,
    tried,
    unwrapped,
)
from torchlint.rules.shared.made_before import is_made_before, is_put_back_as_it_is
from torchlint.rules.shared.made_of_numbers import is_made_of_numbers
from torchlint.rules.shared.own_attributes import is_of_object
from torchlint.rules.shared.unrecorded_inputs import is_input_of_layer, is_unrecorded_input
from torchlint.rules.shared.variable_names import renamed
from torchlint.rules.shared.without_graph import stays_without_graph

VARIABLE = "torch.autograd.Variable"
_KEYWORDS = frozenset(("data", "requires_grad", "volatile"))


def may_be_variable(node: cst.BaseExpression, model: Model) -> bool:
    """Whether an expression could name `Variable`, by its spelling alone."""
    match node:
        case cst.Attribute(attr=cst.Name("Variable")):
            return True
        case cst.Name(value=name):
            return name == "Variable" or name in _aliases(model)
    return False


def _aliases(model: Model) -> frozenset[str]:
    """Names under which this file imports `Variable`, or to which it assigns it."""
    return model.remember(_collect_aliases)


def _collect_aliases(model: Model) -> frozenset[str]:
    names = set()
    for alias in model.tree.all(cst.ImportAlias):
        if isinstance(alias.name, cst.Name) and alias.name.value == "Variable" and alias.asname is not None:
            if isinstance(alias.asname.name, cst.Name):
                names.add(alias.asname.name.value)
    for assign in model.tree.all(cst.Assign):
        if isinstance(assign.value, (cst.Name, cst.Attribute)) and "Variable" in model.tree.code(assign.value):
            names.update(t.target.value for t in assign.targets if isinstance(t.target, cst.Name))
    return frozenset(names)


def unwrap(call: cst.Call, model: Model) -> Fix | None:
    """Write what is wrapped in place of a call of `Variable`; None where what that does cannot be told."""
    if not call.args or any(a.star for a in call.args):
        return None
    wrapped = call.args[0]
    if wrapped.keyword is not None and wrapped.keyword.value != "data":
        return None
    if unknown_keyword(call) is not None:
        return None
    value = model.value(wrapped.value)
    is_certain = value.kind == Kind.TENSOR and not is_of_object(wrapped.value, model)
    if not value.kind & (Kind.TENSOR | Kind.UNKNOWN) or (not is_certain and _is_tried(call, model)):
        return None
    if (value.strength or Strength.NAME) <= Strength.USE and tried.is_awaited("TypeError", call, model):
        return None
    fix = _unwrapped(call, wrapped, model)
    # `Variable(None)` is an empty tensor, and of a subclass `Variable` makes a plain one
    if (
        value.kind & Kind.NONE
        or _is_none_unless_given(wrapped.value, model)
        or (_has_subclasses(model) and _depends_on_tensors(wrapped.value, model))
    ):
        risk = "`Variable` makes a plain tensor of a subclass, and an empty one of None"
        fix = replace(fix, applicability=Applicability.UNSAFE, risk=risk)
    elif fix.applicability is Applicability.UNSAFE:
        fix = fix.doubted("if what gets this tensor writes to it in place, `backward()` may raise for that now")
    return fix


def unknown_keyword(call: cst.Call) -> str | None:
    """What a call of `Variable` names that it does not take, so that it raises: ``require_grad``."""
    names = (arg.keyword.value for arg in call.args if arg.keyword is not None)
    return next((name for name in names if name not in _KEYWORDS), None)


def _is_none_unless_given(node: cst.BaseExpression, model: Model) -> bool:
    """Whether an expression is a parameter that is None if the caller gives nothing, and nobody asks about it."""
    scope = model.scopes.scope_of(node)
    if not isinstance(node, cst.Name) or not isinstance(scope, cst.FunctionDef):
        return False
    defaults = {param.name.value: param.default for param in parameters(scope)}
    if not isinstance(default := defaults.get(node.value), cst.Name) or default.value != "None":
        return False
    tests = (up.test for up in model.tree.ancestors(node) if isinstance(up, (cst.If, cst.IfExp)))
    return not any(name.value == node.value for test in tests for name in model.tree.within(test, cst.Name))


def _is_tried(call: cst.Call, model: Model) -> bool:
    """Whether somebody waits for the `TypeError` of `Variable`, which no method call of something else raises."""
    child: cst.CSTNode = call
    for up in model.tree.ancestors(call):
        if isinstance(up, (cst.Try, cst.TryStar)) and child is up.body:
            if not all(_catches_all(handler, model) for handler in up.handlers):
                return True
        if isinstance(up, (cst.FunctionDef, cst.Lambda)):
            return False
        child = up
    return False


def _catches_all(handler: cst.ExceptHandler | cst.ExceptStarHandler, model: Model) -> bool:
    if handler.type is None:
        return True
    return model.qualified(handler.type) in ("builtins.Exception", "builtins.BaseException")


def _has_subclasses(model: Model) -> bool:
    """Whether the file makes tensors of a class of its own, or of one that another file defines."""
    return model.remember(_makes_subclasses)


def _depends_on_tensors(node: cst.CSTNode, model: Model) -> bool:
    """Whether an expression may be made of tensors that have a name: it is of their class then."""
    return any(model.value(name).kind & (Kind.TENSOR | Kind.UNKNOWN) for name in model.tree.within(node, cst.Name))


def _makes_subclasses(model: Model) -> bool:
    if any(model.tree.attributes(name) for name in ("as_subclass", "_make_subclass", "_make_wrapper_subclass")):
        return True
    bases = [base.value for cls in model.tree.all(cst.ClassDef) for base in cls.bases if base.keyword is None]
    if any(model.qualified(base) in ("torch.Tensor", "torch._C.TensorBase") for base in bases):
        return True
    return any(model.tree.names(name) for name in model.remember(_subclasses_elsewhere))


_DERIVED = re.compile(rb"^[ \t]*class\s+\w+\s*\([^)]*\bTensor(?:Base)?\b", re.MULTILINE)
"""A class of tensors."""


def _subclasses_elsewhere(model: Model) -> frozenset[str]:
    """The names of the classes of tensors that other files of the project define."""
    classes = (cls for module in model.ask(files_with, _DERIVED) for cls in model.home(module).tree.all(cst.ClassDef))
    return frozenset(cls.name.value for cls in classes if any(last_name(b.value) in _TENSORS for b in cls.bases))


_TENSORS = ("Tensor", "TensorBase")


def _unwrapped(call: cst.Call, wrapped: cst.Arg, model: Model) -> Fix:
    given = positional(call.args, 1) or keyword(call.args, "requires_grad")
    asked = given.value if given is not None else None
    literal = literal_bool(asked) if asked is not None else False
    inner = wrapped.value
    if literal is False:
        return _plain(call, inner, model)
    if literal is True and _takes_requires_grad(inner, model):
        assert isinstance(inner, cst.Call)
        return _into_factory(call, inner)
    flag = "" if literal is True or asked is None else model.tree.code(asked)
    source = _source_of_data(inner, model)
    if source is not None:
        edits = unwrapped.strip(call, source, f".detach().requires_grad_({flag})", model)
        return Fix(f"Use `.detach().requires_grad_({flag})`", edits, _without_data(call, source, model))
    is_alone = identity.is_fresh(inner, model) or identity.is_replaced(call, inner, model)
    is_alone = is_alone or lifetimes.is_last_use(call, memory.before_copies(inner), model)
    is_alone = is_alone or (not _makes_attribute(call, model) and is_made_before(call, inner, model))
    is_old = not is_alone and isinstance(inner, cst.BinaryOperation) and age.was_plain(inner, model)
    detach = "" if is_alone or is_old else ".detach()"
    edits = unwrapped.strip(call, inner, f"{detach}.requires_grad_({flag})", model)
    if is_old:
        risk = "a tensor with a graph would keep it, which `Variable` refused before 0.4"
        return Fix(f"Use `{detach}.requires_grad_({flag})`", edits, Applicability.UNSAFE, risk=risk)
    return Fix(f"Use `{detach}.requires_grad_({flag})`", edits)


def _plain(call: cst.Call, inner: cst.BaseExpression, model: Model) -> Fix:
    source = _source_of_data(inner, model)
    if source is not None:
        applicability = _without_data(call, source, model)
        if _is_useless(call, source, model) and not _keeps_error(inner, model):
            edits = _assignment_to_itself(call, source, model) or unwrapped.plain(call, source, model)
            return Fix("Remove it and `.data`: the tensor has no graph", edits, applicability)
        if applicability is Applicability.UNSAFE and data_sites.is_computed_without_graph(call, source, model):
            said = "Remove it and `.data`: autograd does not record here"
            return Fix(said, unwrapped.plain(call, source, model), applicability)
        if applicability is Applicability.UNSAFE and _may_be_handed_out(call, source, model):
            said = "Remove it and `.data`: the tensor has no graph"
            return Fix(said, unwrapped.plain(call, source, model), applicability)
        return Fix("Use `.detach()`", unwrapped.strip(call, source, ".detach()", model), applicability)
    listed = unwrapped.list_of(call, inner, model)
    if (listed is not None and _is_replaced_batch(inner, listed, model)) or _is_useless(call, inner, model):
        useless = _assignment_to_itself(call, inner, model)
        if useless:
            return Fix("Remove the assignment: the tensor has no graph", useless)
        edits = renamed(call, inner, model) or unwrapped.plain(call, inner, model)
        return Fix("Remove it: the tensor has no graph", edits)
    if is_unrecorded_input(call, model):
        edits = _assignment_to_itself(call, inner, model, _is_needless) or renamed(call, inner, model)
        edits = edits or unwrapped.plain(call, inner, model)
        risk = "what is called there may hand the tensor on as it is, with a graph if it has one"
        return Fix(
            "Remove it: autograd does not record where the tensor is used", edits, Applicability.UNSAFE, risk=risk
        )
    if age.is_plain_tensor(call, inner, model):
        edits = _assignment_to_itself(call, inner, model, _is_plain) or unwrapped.plain(call, inner, model)
        said, risk = "Remove it: what `Variable` took had no graph", "a tensor with a graph would keep it"
        return Fix(said, edits, Applicability.UNSAFE, risk=f"{risk}, which `Variable` refused before 0.4")
    return Fix("Use `.detach()`", unwrapped.strip(call, inner, ".detach()", model), after=_read_as_data(inner, model))


def _read_as_data(inner: cst.BaseExpression, model: Model) -> tuple[cst.Name, ...]:
    """Where `.data` stands that what is wrapped is made of: once that is `.detach()`, it has no graph for certain."""
    targets = (model.ask(target_before, name) for name in model.tree.within(inner, cst.Name))
    made = (bound_value(target, model.tree) for target in targets if target is not None)
    found = [node.attr for node in model.tree.within(inner, cst.Attribute) if node.attr.value == "data"]
    return *found, *(each.attr for each in made if isinstance(each, cst.Attribute) and each.attr.value == "data")


def _keeps_error(inner: cst.BaseExpression, model: Model) -> bool:
    return isinstance(inner, cst.Attribute) and tried.keeps_error_of_none(inner, model)


def _source_of_data(inner: cst.BaseExpression, model: Model) -> cst.BaseExpression | None:
    """The ``x`` of ``x.data``."""
    match inner:
        case cst.Attribute(value=source, attr=cst.Name("data")) if model.value(source).may_be_tensor:
            return source
    return None


def _without_data(call: cst.Call, source: cst.BaseExpression, model: Model) -> Applicability:
    """Whether `.detach()` can stand for `.data`, which has a version counter of its own: nobody writes to the result.

    Who is given it back may, wherever the callers are.
    """
    usage = model.usage(call)
    written = usage >= Usage.RETURNED or (usage >= Usage.SAVED and model.is_written(source))
    return Applicability.UNSAFE if written and not memory.is_new(source, model) else Applicability.SAFE


def _may_be_handed_out(call: cst.Call, source: cst.BaseExpression, model: Model) -> bool:
    """Whether who is given the wrapper can be given the tensor, which has no graph: it is one object more then."""
    has_no_graph = model.value(source).is_tensor and stays_without_graph(source, model)
    return has_no_graph and model.usage(call) is not Usage.WRITTEN and not identity.are_told_apart(model)


def _is_useless(call: cst.Call, inner: cst.BaseExpression, model: Model) -> bool:
    """Whether what is wrapped can stand for the wrapper; either of two, where a condition decides."""
    if isinstance(inner, cst.IfExp):
        return _is_useless(call, inner.body, model) and _is_useless(call, inner.orelse, model)
    value = model.value(inner)
    if memory.is_detached(inner, model) or indices.takes_only(call, model) or is_made_of_numbers(inner, model):
        return True
    if value.role & Role.PARAMETER:
        return False  # of a parameter `Variable` makes a plain tensor
    if integers.are_by_use(call, inner, model) and not integers.is_told_apart(inner, model):
        return True
    if is_input_of_layer(call, model):
        return True
    if not _makes_attribute(call, model) and is_made_before(call, inner, model):
        return True
    if not value.is_tensor or not (stays_without_graph(inner, model) or given_batches.is_given(inner, model)):
        return False
    if value.role & Role.GRADIENT and gradients.may_have_graph(inner, model):
        return False
    if _makes_attribute(call, model):
        return identity.may_be_one(call, inner, model)  # what has that name around the class is still there
    judges = identity.may_be_one, identity.is_replaced, lifetimes.is_last_use
    return any(is_one(call, inner, model) for is_one in judges)


def _is_needless(call: cst.Call, inner: cst.BaseExpression, model: Model) -> bool:
    """Whether what is wrapped can stand for the wrapper, where `volatile` asked for a block, too."""
    return _is_useless(call, inner, model) or is_unrecorded_input(call, model)


def _is_plain(call: cst.Call, inner: cst.BaseExpression, model: Model) -> bool:
    """Whether what is wrapped can stand for the wrapper, by the age of the file, too."""
    return _is_needless(call, inner, model) or age.is_plain_tensor(call, inner, model)


_Judge = Callable[[cst.Call, cst.BaseExpression, Model], bool]


def _assignment_to_itself(
    call: cst.Call, inner: cst.BaseExpression, model: Model, may_go: _Judge = _is_useless
) -> tuple[Edit, ...]:
    """Remove ``x = Variable(x)`` altogether, and of ``x, y = Variable(x), f(y)`` what is about ``x``."""
    if _makes_attribute(call, model):
        return ()
    assign = model.tree.parent(unwrapped.whole(call, inner, model))
    if isinstance(assign, cst.Assign) and (
        is_put_back_as_it_is(call, inner, model) or (may_go is _is_plain and _is_put_where_it_was(assign, inner, model))
    ):
        return _listed(edit.remove_statement(model.tree, assign))
    if not isinstance(inner, cst.Name):
        return ()
    match assign:
        case cst.Assign(targets=[cst.AssignTarget(target=cst.Name(value=name))]) as assign if inner.value == name:
            return _listed(edit.remove_statement(model.tree, assign))
        case cst.Element() as element:
            values = model.tree.parent(element)
            statement = model.tree.parent(values) if isinstance(values, cst.Tuple) else None
            return _among_others(element, statement, model, may_go) if isinstance(statement, cst.Assign) else ()
    return ()


def _is_put_where_it_was(assign: cst.Assign, inner: cst.BaseExpression, model: Model) -> bool:
    """Whether an attribute is assigned what it holds, and nothing else happens: ``self.x = self.x``."""
    match assign.targets:
        case [cst.AssignTarget(target=cst.Attribute() as target)] if isinstance(inner, cst.Attribute):
            place = dotted(target)
            name = target.attr.value
            is_same = place is not None and place == dotted(inner) and not _is_of_class(name, model)
            return is_same and not model.ask(is_mentioned, rf"@{name}\.setter\b|\b__setattr__\b")
    return False


def _is_of_class(name: str, model: Model) -> bool:
    """Whether the body of a class binds a name: assigned to an object, it becomes the object's own."""
    bound = (each for each in model.tree.names(name) if model.is_target(each))
    return any(isinstance(model.tree.enclosing(each, cst.FunctionDef, cst.ClassDef), cst.ClassDef) for each in bound)


def _is_replaced_batch(inner: cst.BaseExpression, made: cst.ListComp, model: Model) -> bool:
    """Whether a list replaces what a loader gave, which nobody else has: ``xs = [Variable(x) for x in xs]``."""
    several = made.for_in.iter
    if not isinstance(several, cst.Name) or not is_from_loader(model.value(inner)) or not model.is_tensor(inner):
        return False
    names = [target.value for target in lifetimes.targets_of(made, model)]
    is_told = identity.is_changed(several, model) or integers.is_told_apart(inner, model)
    return several.value in names and not is_told and _is_alone(several, made, model)


def _is_alone(name: cst.Name, node: cst.CSTNode, model: Model) -> bool:
    """Whether nobody gets what a name stands for before a node."""
    uses = model.references(name.value, model.scopes.scope_of(node))
    before = (use for use in uses if model.tree.order(use) < model.tree.order(node) and not model.is_target(use))
    return all(lifetimes.is_kept_here(use, model) for use in before)


def _makes_attribute(call: cst.Call, model: Model) -> bool:
    """Whether an assignment stands in the body of a class: there ``x = x`` makes an attribute of what is around it."""
    return isinstance(model.tree.enclosing(call, cst.FunctionDef, cst.Lambda, cst.ClassDef), cst.ClassDef)


def _listed(removal: Edit | None) -> tuple[Edit, ...]:
    return () if removal is None else (removal,)


def _among_others(element: cst.Element, assign: cst.Assign, model: Model, may_go: _Judge) -> tuple[Edit, ...]:
    """Remove a name and the useless wrapper that it is assigned, or all if they are all of that kind."""
    match assign.targets, assign.value:
        case [cst.AssignTarget(target=cst.Tuple(elements=targets))], cst.Tuple(elements=values):
            pass
        case _:
            return ()
    is_even = len(targets) == len(values) and not any(
        isinstance(each, cst.StarredElement) for each in (*targets, *values)
    )
    target = next((t for t, v in zip(targets, values, strict=False) if v is element), None)
    if not is_even or target is None or not _keeps_name(target.value, element.value, model, may_go):
        return ()
    if all(_keeps_name(t.value, v.value, model, may_go) for t, v in zip(targets, values, strict=True)):
        return _listed(edit.remove_statement(model.tree, assign))
    if any(
        isinstance(each[-1].comma, cst.Comma) for each in (targets, values)
    ):  # it would make a tuple of what is left
        return ()
    return *_listed(edit.remove_item(targets, target)), *_listed(edit.remove_item(values, element))


def _keeps_name(target: cst.BaseExpression, value: cst.BaseExpression, model: Model, may_go: _Judge) -> bool:
    match target, value:
        case cst.Name(value=name), cst.Call(args=[cst.Arg(value=cst.Name() as inner, keyword=None, star=""), *more]):
            if inner.value != name or not may_be_variable(value.func, model) or any(_asks(arg) for arg in more):
                return False
            return model.qualified(value.func) == VARIABLE and may_go(value, inner, model)
    return False


def _asks(arg: cst.Arg) -> bool:
    """Whether an argument of a wrapper may ask for something: `volatile` and `requires_grad=False` do not."""
    match arg:
        case cst.Arg(keyword=cst.Name("requires_grad"), value=value):
            return literal_bool(value) is not False
    return arg.keyword is None or arg.keyword.value != "volatile"


def _takes_requires_grad(node: cst.BaseExpression, model: Model) -> bool:
    """Whether an expression is a call of a factory that can be asked for a tensor that requires grad."""
    if not isinstance(node, cst.Call) or not node.args or any(a.star == "**" for a in node.args):
        return False
    if any(a.keyword is not None and a.keyword.value in ("requires_grad", "out") for a in node.args):
        return False
    result = library.function(model.qualified(node.func) or "")
    return isinstance(result, TensorResult) and result.grad == "factory"


def _into_factory(call: cst.Call, inner: cst.Call) -> Fix:
    asked = edit.insert_after(inner.args[-1], ", requires_grad=True")
    edits = (edit.replace_before(call, inner), asked, edit.replace_after(inner, call))
    return Fix("Pass `requires_grad=True` to the call inside", edits)
