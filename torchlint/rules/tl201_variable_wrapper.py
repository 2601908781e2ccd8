r"""`Variable` has been a tensor since PyTorch 0.4; today `Variable(x)` silently detaches `x`.

Tensors and Variables are one since 0.4. The call is still there, and what it does is `x.detach()`: where `x` came out
of a network the gradient stops. A tensor without a graph needs nothing, one that is to be optimised is made with
`requires_grad=True`.

```diff run
 import torch
 import torch.autograd as autograd
-from torch.autograd import Variable

-noise = Variable(torch.randn(2, 3))
+noise = torch.randn(2, 3)
-w = Variable(torch.ones(3), requires_grad=True)
+w = torch.ones(3, requires_grad=True)
-hidden = Variable(w * 2)
+hidden = (w * 2).detach()
-again = autograd.Variable(hidden.data)
+again = hidden.detach()
-x = Variable(noise, requires_grad=True)
+x = noise.detach().requires_grad_()
-if isinstance(x, Variable):
+if isinstance(x, torch.Tensor):
     rows = x.size(0)


-def first(v: Variable):
+def first(v: torch.Tensor):
     return v[0]
```

## When the fix is unsafe

For `Variable(x.data)` where the result is written to: `backward()` raises where gradients were silently wrong. Where
`x` may be None, of which `Variable` makes an empty tensor, and in files that make subclasses of tensors, of which it
makes plain ones. In a `try` that waits for its `TypeError` there is none, nor for what is no tensor. For
`type(x) == Variable`, which is never true today. A reference to the class that is none of these, nor a call,
`isinstance` or an annotation, has no fix:

```diff
 import torch
 from torch import autograd

!made = list(map(autograd.Variable, [torch.ones(1)]))
~is_one = type(made[0]) == autograd.Variable
+is_one = isinstance(made[0], torch.Tensor)
!kinds = {autograd.Variable: 1}
 engine = autograd.Variable._execution_engine
```

The import goes with its last use, if no other file of the project may have the name from here (`from utils import
Variable`, `from utils import *`, `utils.Variable`). A call beside which `volatile=True` still tells where a block of
[`volatile`](volatile.md) belongs stays until that is there.

Other libraries have a `Variable` too:

```diff
 import tkinter
 import torch

 v = tkinter.Variable(value=1)
 x = torch.ones(1)
```

Migration guide of 0.4: <https://pytorch.org/blog/pytorch-0_4_0-migration-guide/>.
"""

from __future__ import annotations

import re
from dataclasses import replace

import libcst as cst

from torchlint import edit
from torchlint.file.tree.tree import Tree
from torchlint.model import Kind, Model, Role, Tri, Usage
from torchlint.model.scopes import dotted, parameters
from torchlint.model.torch import returned
from torchlint.rule import Applicability, Edit, Finding, Fix, on, word
from torchlint.rules.api import mentions
from torchlint.rules.shared import data_sites, volatile
from torchlint.rules.shared.volatile import Need

VARIABLE = "torch.autograd.Variable"
_MESSAGE = "`Variable` is a tensor since PyTorch 0.4, and wrapping detaches"


@on(cst.Call, trigger=word("Variable"))
def check_call(node: cst.Call, model: Model) -> Finding | None:
    """Report `Variable(...)`."""
    if not may_be_variable(node.func, model) or model.qualified(node.func) != VARIABLE:
        return None
    return Finding(node.func, _MESSAGE, None if mentions.is_replaced(VARIABLE, model) else _fix(node, model))


def _fix(call: cst.Call, model: Model) -> Fix | None:
    """What to write for a call, once `volatile` beside it is done with: it alone says where the block of TL202 goes."""
    needs = {volatile.wanted(each, model).need for each in _beside(call, model)}
    if Need.HANDWORK in needs:
        return None
    fix = _unwrap(call, model)
    if fix is None or needs == {Need.NOTHING}:
        return fix
    return replace(fix, deferred=True, applicability=Applicability.UNSAFE)


def _beside(call: cst.Call, model: Model) -> list[cst.Call]:
    """A call, and the calls in the same tuple."""
    element = model.tree.parent(call)
    values = model.tree.parent(element) if isinstance(element, cst.Element) else None
    if not isinstance(values, cst.Tuple):
        return [call]
    return [other.value for other in values.elements if isinstance(other.value, cst.Call)]


@on(cst.Name, cst.Attribute, trigger=word("Variable"))
def check_reference(node: cst.Name | cst.Attribute, model: Model) -> Finding | None:
    """Report a reference to `Variable` that is no call."""
    if not may_be_variable(node, model):
        return None
    parent = model.tree.parent(node)
    match parent:
        case cst.Call() if parent.func is node:
            return None
        case cst.Attribute() | cst.ImportAlias() | cst.AsName() | cst.AssignTarget() | cst.ImportFrom():
            return None
        case cst.Arg() if parent.keyword is node:
            return None
    if model.qualified(node) != VARIABLE:
        return None
    if not is_replaceable(node, model):
        message = "`Variable` is `torch.Tensor` since PyTorch 0.4, and no tensor's type is `Variable`"
        return Finding(node, message, _compared(node, model))
    name, missing = model.spelling("torch.Tensor", node)
    if not name:
        return Finding(node, "`Variable` is `torch.Tensor` since PyTorch 0.4")
    edits = (_without_twin(node, model) or edit.replace(node, name),)
    fix = Fix("Use `torch.Tensor`", edits, imports=("torch",) if missing else ())
    return Finding(node, "`Variable` is `torch.Tensor` since PyTorch 0.4", fix)


@on(cst.SimpleString, trigger=word("Variable"))
def check_quoted(node: cst.SimpleString, model: Model) -> Finding | None:
    """Report `Variable` in a quoted annotation."""
    if not _is_quoted(node, model):
        return None
    name, missing = model.spelling("torch.Tensor", node)
    message = "`Variable` is `torch.Tensor` since PyTorch 0.4"
    if not name:
        return Finding(node, message)
    text = _quoted_name(model).sub(name, node.value)
    fix = Fix("Use `torch.Tensor`", (edit.replace(node, text),), imports=("torch",) if missing else ())
    return Finding(node, message, fix)


def _is_quoted(node: cst.SimpleString, model: Model) -> bool:
    """Whether a text is an annotation, or part of one, that names `Variable`."""
    if "Variable" not in node.value or node.prefix or not _quoted_name(model).search(node.value):
        return False
    for up in model.tree.ancestors(node):
        match up:
            case cst.Annotation():
                return True
            case cst.Subscript(
                value=cst.Name("Literal" | "Annotated") | cst.Attribute(attr=cst.Name("Literal" | "Annotated"))
            ):
                return False
            case cst.BaseStatement() | cst.Call() | cst.Lambda():
                return False
    return False


def _quoted_name(model: Model) -> re.Pattern[str]:
    """`Variable`, as this file writes it."""
    name, missing = model.spelling(VARIABLE)
    names = {VARIABLE} if missing or not name else {VARIABLE, name}
    return re.compile(rf"(?<![\w.])(?:{'|'.join(map(re.escape, sorted(names)))})(?![\w.])")


@on(cst.ImportFrom, trigger=word("Variable"))
def check_import(node: cst.ImportFrom, model: Model) -> Finding | None:
    """Report the import; it goes when its last use has gone."""
    if isinstance(node.names, cst.ImportStar) or node.module is None or node.relative:
        return None
    if dotted(node.module) not in ("torch.autograd", "torch.autograd.variable"):
        return None
    for alias in node.names:
        if isinstance(alias.name, cst.Name) and alias.name.value == "Variable":
            return _import_finding(node, alias, model)
    return None


def _import_finding(node: cst.ImportFrom, alias: cst.ImportAlias, model: Model) -> Finding:
    message = "`Variable` is not needed since PyTorch 0.4"
    fix = _remove_import(node, alias, model)
    taker = model.taker(_bound_name(alias)) if fix is not None and _is_global(node, model) else None
    if taker is None:
        return Finding(alias, message, fix)
    return Finding(
        alias, f"{message}; it stays, for {f'`{taker}`' if taker else 'another file'} may import it from here"
    )


def _bound_name(alias: cst.ImportAlias) -> str:
    bound = alias.asname.name if alias.asname is not None else alias.name
    return bound.value if isinstance(bound, cst.Name) else ""


def _is_global(node: cst.CSTNode, model: Model) -> bool:
    """Whether what a statement binds belongs to the module."""
    return model.tree.enclosing(node, cst.FunctionDef, cst.ClassDef) is None


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


_VARIABLE = re.compile("Variable")


def _collect_aliases(model: Model) -> frozenset[str]:
    names = set()
    model.tree.read(_VARIABLE)
    for alias in model.tree.parsed(cst.ImportAlias):
        if isinstance(alias.name, cst.Name) and alias.name.value == "Variable" and alias.asname is not None:
            if isinstance(alias.asname.name, cst.Name):
                names.add(alias.asname.name.value)
    for assign in model.tree.parsed(cst.Assign):
        if isinstance(assign.value, (cst.Name, cst.Attribute)) and "Variable" in model.tree.code(assign.value):
            names.update(t.target.value for t in assign.targets if isinstance(t.target, cst.Name))
    return frozenset(names)


def is_replaceable(node: cst.CSTNode, model: Model) -> bool:
    """Whether a reference is the class of an `isinstance` or an annotation: `torch.Tensor` means the same there."""
    child = node
    for up in model.tree.ancestors(node):
        match up:
            case cst.Annotation():
                return True
            case cst.Call(func=cst.Name("isinstance"), args=[_, second]):
                return second is child
            case cst.Call() | cst.Lambda() | cst.BaseCompoundStatement() | cst.SimpleStatementLine():
                return False
        child = up
    return False


def _compared(node: cst.BaseExpression, model: Model) -> Fix | None:
    """The check that a comparison of a type with `Variable` was meant to be."""
    parent = model.tree.parent(node)
    whole = model.tree.parent(parent) if isinstance(parent, cst.ComparisonTarget) else parent
    match whole:
        case cst.Comparison(left=left, comparisons=[cst.ComparisonTarget(operator=operator, comparator=right)]):
            asked = left if right is node else right
        case _:
            return None
    name, missing = model.spelling("torch.Tensor", node)
    match asked:
        case cst.Call(func=cst.Name("type"), args=[cst.Arg(value=value, keyword=None, star="")]) if name:
            if isinstance(operator, (cst.Equal, cst.Is)):
                before = "isinstance("
            elif isinstance(operator, (cst.NotEqual, cst.IsNot)):
                before = "not isinstance("
            else:
                return None
            edits = edit.replace_before(whole, value, before), edit.replace_after(value, whole, f", {name})")
            imports = ("torch",) if missing else ()
            return Fix("Use `isinstance`", edits, Applicability.UNSAFE, imports=imports)
    return None


def _without_twin(node: cst.CSTNode, model: Model) -> Edit | None:
    """Remove `Variable` from a tuple of classes that has `torch.Tensor` already."""
    element = model.tree.parent(node)
    sequence = model.tree.parent(element) if isinstance(element, cst.Element) else None
    if not isinstance(sequence, cst.Tuple):
        return None
    if not any(model.qualified(e.value) == "torch.Tensor" for e in sequence.elements):
        return None
    return edit.remove_item([e.value for e in sequence.elements], node)


# ---------------------------------------------------------------------- unwrapping


def _unwrap(call: cst.Call, model: Model) -> Fix | None:
    if not call.args or any(a.star for a in call.args):
        return None
    wrapped = call.args[0]
    if wrapped.keyword is not None and wrapped.keyword.value != "data":
        return None
    value = model.value(wrapped.value)
    if not value.kind & (Kind.TENSOR | Kind.UNKNOWN) or (value.kind != Kind.TENSOR and _is_tried(call, model)):
        return None
    fix = _unwrapped(call, wrapped, model)
    # `Variable(None)` is an empty tensor, and of a subclass `Variable` makes a plain one
    if (
        value.kind & Kind.NONE
        or _is_none_unless_given(wrapped.value, model)
        or (_has_subclasses(model) and _depends_on_tensors(wrapped.value, model))
    ):
        fix = replace(fix, applicability=Applicability.UNSAFE)
    return fix


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
    """Whether the file makes tensors of a class of its own."""
    return model.remember(_makes_subclasses)


def _depends_on_tensors(node: cst.CSTNode, model: Model) -> bool:
    """Whether an expression may be made of tensors that have a name: it is of their class then."""
    return any(model.value(name).kind & (Kind.TENSOR | Kind.UNKNOWN) for name in model.tree.within(node, cst.Name))


def _makes_subclasses(model: Model) -> bool:
    if any(model.tree.attributes(name) for name in ("as_subclass", "_make_subclass", "_make_wrapper_subclass")):
        return True
    bases = [base.value for cls in model.tree.all(cst.ClassDef) for base in cls.bases if base.keyword is None]
    return any(model.qualified(base) in ("torch.Tensor", "torch._C.TensorBase") for base in bases)


def _unwrapped(call: cst.Call, wrapped: cst.Arg, model: Model) -> Fix:
    asked = _requires_grad(call)
    literal = returned.literal_bool(asked) if asked is not None else False
    inner = wrapped.value
    if literal is False:
        return _plain(call, inner, model)
    if literal is True and _takes_requires_grad(inner, model):
        assert isinstance(inner, cst.Call)
        return _into_factory(call, inner)
    flag = "" if literal is True or asked is None else model.tree.code(asked)
    source = _source_of_data(inner, model)
    if source is not None:
        edits = _strip(call, source, f".detach().requires_grad_({flag})", model)
        return Fix(f"Use `.detach().requires_grad_({flag})`", edits, _without_data(call, source, model))
    detach = "" if _is_fresh(inner, model) else ".detach()"
    edits = _strip(call, inner, f"{detach}.requires_grad_({flag})", model)
    return Fix(f"Use `{detach}.requires_grad_({flag})`", edits)


def _requires_grad(call: cst.Call) -> cst.BaseExpression | None:
    for index, arg in enumerate(call.args[1:], 1):
        if arg.keyword is None and index == 1:
            return arg.value
        if arg.keyword is not None and arg.keyword.value == "requires_grad":
            return arg.value
    return None


def _plain(call: cst.Call, inner: cst.BaseExpression, model: Model) -> Fix:
    source = _source_of_data(inner, model)
    if source is not None:
        edits = _strip(call, source, ".detach()", model)
        return Fix("Use `.detach()`", edits, _without_data(call, source, model))
    if _is_useless(call, inner, model):
        useless = _assignment_to_itself(call, inner, model)
        if useless is not None:
            return Fix("Remove the assignment: there is no graph to leave", (useless,))
        return Fix("Remove the wrapper: there is no graph to leave", _strip(call, inner, "", model))
    return Fix("Use `.detach()`, which is what wrapping does", _strip(call, inner, ".detach()", model))


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
    return Applicability.UNSAFE if written and not data_sites.is_new(source, model) else Applicability.SAFE


def _is_useless(call: cst.Call, inner: cst.BaseExpression, model: Model) -> bool:
    """Whether what is wrapped can stand for the wrapper."""
    value = model.value(inner)
    if _is_detach(inner):
        return True
    if not value.is_tensor or value.grad != Tri.NO or value.role & Role.PARAMETER:  # `Variable` makes a plain tensor
        return False
    return _may_be_one(call, inner, model)


def _may_be_one(call: cst.Call, inner: cst.BaseExpression, model: Model) -> bool:
    """Whether nothing can tell the wrapped tensor from the wrapper.

    They share memory and version counter, but neither shape nor flags nor graph.
    """
    if _is_fresh(inner, model):
        return True
    usage = model.usage(call)
    if usage is Usage.WRITTEN or model.remember(_changes_objects):
        return False
    if not isinstance(inner, cst.Name):
        return usage <= Usage.SAVED
    scope = model.scopes.scope_of(inner)
    others = [n for n in model.references(inner.value, scope) if n is not inner and not model.is_target(n)]
    if any(model.usage(other) is Usage.WRITTEN for other in others):
        return False
    given = isinstance(scope, cst.FunctionDef) and inner.value in {p.name.value for p in parameters(scope)}
    return usage <= Usage.SAVED or not (others or given)


_OF_THE_OBJECT = data_sites.OF_THE_VIEW | {
    "requires_grad_",
    "retain_grad",
    "register_hook",
    "register_post_accumulate_grad_hook",
    "__setattr__",
}
"""Methods that change a tensor and not what shares its memory."""


def _changes_objects(model: Model) -> bool:
    """Whether anything in the file changes a tensor that is no parameter, beyond its elements, or asks which it is."""
    if any(node.attr.value in _OF_THE_OBJECT for node in model.tree.all(cst.Attribute)):
        return True
    for assigned in model.tree.all(cst.AssignTarget):
        match assigned.target:
            case cst.Attribute(value=owner, attr=cst.Name(value=name)):
                value = model.value(owner)
                if value.is_parameter:
                    continue
                if value.kind & Kind.TENSOR or (
                    value.kind & Kind.UNKNOWN and name in ("data", "grad", "requires_grad")
                ):
                    return True
    for call in model.tree.all(cst.Call):
        if isinstance(call.func, cst.Name) and call.func.value in ("setattr", "id"):
            if call.args and model.value(call.args[0].value).kind & Kind.TENSOR:
                return True
    return any(
        isinstance(target.operator, (cst.Is, cst.IsNot)) and model.value(target.comparator).kind & Kind.TENSOR
        for target in model.tree.all(cst.ComparisonTarget)
    )


def _assignment_to_itself(call: cst.Call, inner: cst.BaseExpression, model: Model) -> Edit | None:
    """Remove ``x = Variable(x)`` altogether, and ``x, y = Variable(x), Variable(y)`` if both are useless."""
    if not isinstance(inner, cst.Name):
        return None
    match model.tree.parent(call):
        case cst.Assign(targets=[cst.AssignTarget(target=cst.Name(value=name))]) as assign if inner.value == name:
            return edit.remove_statement(model.tree, assign)
        case cst.Element() as element:
            values = model.tree.parent(element)
            statement = model.tree.parent(values) if isinstance(values, cst.Tuple) else None
            if isinstance(statement, cst.Assign) and _keeps_names(statement, model):
                return edit.remove_statement(model.tree, statement)
    return None


def _keeps_names(assign: cst.Assign, model: Model) -> bool:
    """Whether several names are assigned themselves, in useless wrappers."""
    match assign.targets, assign.value:
        case [cst.AssignTarget(target=cst.Tuple(elements=targets))], cst.Tuple(elements=values):
            pairs = zip(targets, values, strict=False)
            return len(targets) == len(values) and all(_keeps_name(t.value, v.value, model) for t, v in pairs)
    return False


def _keeps_name(target: cst.BaseExpression, value: cst.BaseExpression, model: Model) -> bool:
    match target, value:
        case cst.Name(value=name), cst.Call(args=[cst.Arg(value=cst.Name() as inner, keyword=None, star=""), *more]):
            if inner.value != name or not may_be_variable(value.func, model) or any(_asks(arg) for arg in more):
                return False
            return model.qualified(value.func) == VARIABLE and _is_useless(value, inner, model)
    return False


def _asks(arg: cst.Arg) -> bool:
    """Whether an argument of a wrapper may ask for something: `volatile` does not."""
    return arg.keyword is None or arg.keyword.value != "volatile"


def _is_detach(node: cst.BaseExpression) -> bool:
    match node:
        case cst.Call(func=cst.Attribute(attr=cst.Name("detach")), args=[]):
            return True
    return False


def _is_fresh(node: cst.BaseExpression, model: Model) -> bool:
    """Whether an expression makes a new tensor that nothing else refers to and that has no graph."""
    value = model.value(node)
    if not value.is_tensor or value.grad != Tri.NO or value.role & Role.PARAMETER:
        return False
    if model.remember(_changes_objects):  # under another name one could be asked to require grad
        if any(model.value(name).may_be_tensor for name in model.tree.within(node, cst.Name)):
            return False
    if data_sites.is_new(node, model):
        return True
    if not isinstance(node, cst.Call):
        return False
    if isinstance(node.func, cst.Attribute) and not model.qualified(node.func):
        method = returned.data()["methods"].get(node.func.attr.value)
        is_same = isinstance(method, dict) and (method.get("alias") or method.get("self"))
        return bool(is_same) and _is_fresh(node.func.value, model)
    ref = model.qualified(node.func) or ""
    return returned.class_kind(ref) == "tensor" and not any(model.value(a.value).may_be_tensor for a in node.args)


def _takes_requires_grad(node: cst.BaseExpression, model: Model) -> bool:
    """Whether an expression is a call of a factory that can be asked for a tensor that requires grad."""
    if not isinstance(node, cst.Call) or not node.args or any(a.star == "**" for a in node.args):
        return False
    if any(a.keyword is not None and a.keyword.value in ("requires_grad", "out") for a in node.args):
        return False
    result = returned.data()["functions"].get(model.qualified(node.func) or "")
    return isinstance(result, dict) and result.get("grad") == "factory"


def _into_factory(call: cst.Call, inner: cst.Call) -> Fix:
    asked = edit.insert_after(inner.args[-1], ", requires_grad=True")
    edits = (edit.replace_before(call, inner), asked, edit.replace_after(inner, call))
    return Fix("Ask the factory for `requires_grad=True`", edits)


def _strip(call: cst.Call, inner: cst.BaseExpression, suffix: str, model: Model) -> tuple[Edit, ...]:
    """Edits that leave ``inner`` of the call, in brackets where it needs them, and append ``suffix``."""
    if len(call.args) == 1 and call.args[0].keyword is None and _has_comments(call, inner, model):
        comma = edit.remove_comma(call.args[0])
        kept = edit.delete(call.func), edit.insert_after(call, suffix)  # the brackets stay, with what is in them
        return kept if comma is None else (*kept, comma)
    left = right = ""
    if not inner.lpar and _needs_brackets(call, inner, suffix, model.tree):
        left, right = "(", ")"
    return edit.replace_before(call, inner, left), edit.replace_after(inner, call, right + suffix)


def _has_comments(call: cst.Call, inner: cst.BaseExpression, model: Model) -> bool:
    """Whether comments stand in the brackets of a call, outside its argument."""
    return not call.lpar and "#" in model.tree.code(call).replace(model.tree.code(inner), "", 1)


def _needs_brackets(call: cst.Call, inner: cst.BaseExpression, suffix: str, tree: Tree) -> bool:
    if edit.breaks_line(tree.code(inner)) or isinstance(inner, cst.NamedExpr):
        return True
    if isinstance(inner, (cst.Name, cst.Attribute, cst.Call, cst.Subscript, cst.List, cst.ListComp)):
        return False
    if suffix:
        return True
    return not isinstance(tree.parent(call), (cst.Assign, cst.Arg, cst.Return, cst.Element, cst.AugAssign))


def _remove_import(node: cst.ImportFrom, alias: cst.ImportAlias, model: Model) -> Fix | None:
    name = _bound_name(alias)
    uses = model.remember(_uses, name)
    if uses is None or model.tree.is_package or model.tree.enclosing(node, cst.Try) is not None:
        return None
    removed = edit.remove_import_alias(model.tree, node, alias)
    if removed is None:
        return None
    return Fix("Remove the import", (removed,), deferred=bool(uses), waits_for=uses)


def _uses(model: Model, name: str) -> tuple[cst.CSTNode, ...] | None:
    """Where an imported name is still used; None if not all of that has a fix."""
    uses = model.references(name, model.tree.module)
    quoted = [s for s in model.tree.all(cst.SimpleString) if s.raw_value == name or _is_quoted(s, model)]
    if any(not _is_quoted(s, model) for s in quoted) or not all(_has_fix(use, model) for use in uses):
        return None
    if re.search(rf"#\s*type:.*\b{re.escape(name)}\b", model.tree.source.text):
        return None
    return (*uses, *quoted)


def _has_fix(use: cst.Name, model: Model) -> bool:
    parent = model.tree.parent(use)
    if isinstance(parent, cst.Call) and parent.func is use:
        return _fix(parent, model) is not None
    return is_replaceable(use, model) or _compared(use, model) is not None
