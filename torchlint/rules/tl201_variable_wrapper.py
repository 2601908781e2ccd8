r"""`Variable` has been a tensor since PyTorch 0.4; today `Variable(x)` silently detaches `x`.

Tensors and Variables are one since 0.4. The call is still there, and what it does is `x.detach()`: where `x` came out
of a network the gradient stops. A tensor without a graph needs nothing, one that is to be optimised is made with
`requires_grad=True`.

```diff run
 import torch
-import torch.autograd as autograd
-from torch.autograd import Variable

-noise = Variable(torch.randn(2, 3))
+noise = torch.randn(2, 3)
-w = Variable(torch.ones(3), requires_grad=True)
+w = torch.ones(3, requires_grad=True)
-hidden = Variable(w * 2)
+hidden = (w * 2).detach()
-again = autograd.Variable(hidden.data)
+again = hidden
-other = autograd.Variable((w * 3).data)
+other = (w * 3).detach()
-x = Variable(noise, requires_grad=True)
+x = noise.detach().requires_grad_()
-if isinstance(x, Variable):
+if isinstance(x, torch.Tensor):
     rows = x.size(0)


-def first(v: Variable):
+def first(v: torch.Tensor):
     return v[0]
```

The import of `autograd` goes, too, where `autograd.Variable` was all that it was there for.

In the body of a class an assignment makes an attribute, and stays:

```diff run
 import torch
-from torch.autograd import Variable

 eye = torch.eye(2)


 class Rotation(torch.nn.Module):
-    eye = Variable(eye)
+    eye = eye

     def forward(self, x):
         return x @ self.eye


 rotated = Rotation()(torch.ones(2))
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

Before PyTorch 0.4 `Variable` took tensors only, which had no graph then, and refused what had one. In a file of that
time (it has `volatile=`, `loss.data[0]` or the like, and neither `no_grad` nor `.item()`), `--unsafe-fixes` writes `x`
for `Variable(x)`, where a safe fix writes `x.detach()`: if a function is given `x`, a loop goes through it, or it was
read, and nothing else. What a call computes, a caller in the project is seen to hand over with a graph, is told to
require grad or gets another shape, is cut as before.

A file that has `Variable` for nothing but that engine is left alone:

```diff
 from torch.autograd import Variable


 def synchronised(sync):
     return lambda *unused: Variable._execution_engine.queue_callback(sync)
```

The import goes with its last use, if no other file of the project may have the name from here (`from utils import
Variable`, `from utils import *`, `utils.Variable`) and no doctest uses it. A call beside which `volatile=True` still
tells where a block of [`volatile`](volatile.md) belongs stays until that is there.

What a class says of an attribute is not all there is where it is set from elsewhere as well, in this file or in another
one of the project: it may have a graph.

```diff run
 import torch
-from torch.autograd import Variable

 class Memory:
     def __init__(self):
         self.value, self.own = torch.zeros(3), torch.zeros(3)

     def twice(self):
-        return Variable(self.value) * 2, Variable(self.own) * 2
+        return self.value.detach() * 2, self.own * 2

 memory = Memory()
 memory.value = torch.ones(3, requires_grad=True) * 1
 a, b = memory.twice()
```

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
from torchlint.model import Model
from torchlint.model.syntax import bound_name, call_of, dotted, is_global, last_name, root
from torchlint.rule import Anchor, Applicability, Edit, Finding, Fix, Group, Severity, on, word
from torchlint.rules.api import fallbacks, namespaces, patches
from torchlint.rules.shared import age, freezing_comments, last_use, unwrapping_calls, variables, wrapping_comments
from torchlint.rules.shared.uncomputed import mapped
from torchlint.rules.shared.volatile import blocks
from torchlint.rules.shared.volatile.blocks import Need

GROUP = Group.MIGRATION

_MESSAGE = "`Variable(…)` only detaches since PyTorch 0.4; "


@on(cst.Call, trigger=word("Variable"))
def check_call(node: cst.Call, model: Model) -> Finding | None:
    """Report `Variable(...)`."""
    if not variables.may_be_variable(node.func, model) or model.qualified(node.func) != variables.VARIABLE:
        return None
    unknown = variables.unknown_keyword(node)
    if unknown is not None:
        said = f"`Variable` has no argument `{unknown}`, so this raises; give `requires_grad` to what makes the tensor"
        return Finding(node.func, said, severity=Severity.ERROR)
    fix = None if patches.is_replaced(variables.VARIABLE, model) else _fix(node, model)
    if fix is not None:
        others = (_fix(each, model) for each in _wrappers_beside(node, model))
        fix = freezing_comments.moved(wrapping_comments.with_comment(fix, node, others, model), node, model)
        fix = last_use.with_import(fix, node, model)
    advice = (
        f"{fix.message[0].lower()}{fix.message[1:]}" if fix is not None else "use `.detach()`, or the tensor itself"
    )
    return Finding(node.func, _MESSAGE + advice, fix, severity=_severity(fix))


def _severity(fix: Fix | None) -> Severity | None:
    """How bad a wrapper is: where it can just go, it has cut no graph."""
    if fix is None or fix.applicability is not Applicability.SAFE or any("detach" in each.text for each in fix.edits):
        return None
    return Severity.INFO


def _fix(call: cst.Call, model: Model) -> Fix | None:
    """What to write for a call, once `volatile` beside it is done with: it alone says where the block of TL202 goes."""
    needs = {blocks.wanted(each, model).need for each in _beside(call, model)}
    if needs & {Need.HANDWORK, Need.DECISION}:
        return None
    fix = variables.unwrap(call, model)
    if fix is not None:
        fix = namespaces.judged(fix, root(call.func), (variables.VARIABLE,), model)
    if fix is None or needs == {Need.NOTHING}:
        return blocks.waiting(fix, call, model) if fix is not None else None
    return replace(fix, deferred=True, applicability=Applicability.UNSAFE, risk=blocks.RISK)


def _wrappers_beside(call: cst.Call, model: Model) -> list[cst.Call]:
    """The other calls of `Variable` in the statement of one."""
    line = model.tree.statement(call)
    calls = model.tree.within(line, cst.Call) if isinstance(line, cst.SimpleStatementLine) else []
    others = (each for each in calls if each is not call and variables.may_be_variable(each.func, model))
    return [each for each in others if model.qualified(each.func) == variables.VARIABLE]


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
    if not variables.may_be_variable(node, model):
        return None
    parent = model.tree.parent(node)
    match parent:
        case cst.Call() if parent.func is node:
            return None
        case cst.Attribute() | cst.ImportAlias() | cst.AsName() | cst.AssignTarget() | cst.ImportFrom():
            return None
        case cst.Arg() if parent.keyword is node:
            return None
    if model.qualified(node) != variables.VARIABLE:
        return None
    if not is_replaceable(node, model):
        removed = _mapped_to_itself(node, model)
        if removed is not None:
            said = "`Variable` is not needed since PyTorch 0.4; remove the assignment"
            return Finding(node, said, removed, severity=Severity.INFO)
        message = "no tensor's type is `Variable` since PyTorch 0.4; use `isinstance(x, torch.Tensor)`"
        return Finding(node, message, _compared(node, model), severity=Severity.INFO)
    name, missing = model.spelling("torch.Tensor", node)
    if not name:
        return Finding(node, "`Variable` is `torch.Tensor` since PyTorch 0.4; write that", severity=Severity.INFO)
    edits: tuple[Edit, ...] = (_without_twin(node, model) or edit.replace(node, name),)
    check = model.tree.enclosing(node, cst.Call)
    if isinstance(check, cst.Call) and unwrapping_calls.is_endless(check, model):
        edits = (*edits, edit.insert_after(check, f" and {model.tree.code(check.args[0].value)}.requires_grad"))
    fix = Fix("Use `torch.Tensor`", edits, imports=("torch",) if missing else ())
    fix = _judged_where_registered(namespaces.judged(fix, root(node), (variables.VARIABLE,), model), node, model)
    return Finding(node, "`Variable` is `torch.Tensor` since PyTorch 0.4; write that", fix, severity=Severity.INFO)


@on(cst.SimpleString, trigger=word("Variable"))
def check_quoted(node: cst.SimpleString, model: Model) -> Finding | None:
    """Report `Variable` in a quoted annotation."""
    if not _is_quoted(node, model):
        return None
    name, missing = model.spelling("torch.Tensor", node)
    message = "`Variable` is `torch.Tensor` since PyTorch 0.4; write that"
    if not name:
        return Finding(node, message, severity=Severity.INFO)
    text = _quoted_name(node, model).sub(name, node.value)
    fix = Fix("Use `torch.Tensor`", (edit.replace(node, text),), imports=("torch",) if missing else ())
    return Finding(node, message, _judged_where_registered(fix, node, model), severity=Severity.INFO)


def _judged_where_registered(fix: Fix, node: cst.CSTNode, model: Model) -> Fix:
    """A fix of an annotation, by which `functools.singledispatch` may choose the function."""
    function = model.tree.enclosing(node, cst.FunctionDef)
    decorators = function.decorators if isinstance(function, cst.FunctionDef) else ()
    if not any(last_name(each.decorator) == "register" for each in decorators):
        return fix
    return replace(fix, applicability=Applicability.UNSAFE, risk="the function is registered for tensors then")


def _is_quoted(node: cst.SimpleString, model: Model) -> bool:
    """Whether a text is an annotation, or part of one, that names `Variable`."""
    if "Variable" not in node.value or node.prefix or not _quoted_name(node, model).search(node.value):
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


def _quoted_name(node: cst.SimpleString, model: Model) -> re.Pattern[str]:
    """`Variable`, as this file writes it in a text."""
    name, missing = model.spelling(variables.VARIABLE, node)
    names = {variables.VARIABLE} if missing or not name else {variables.VARIABLE, name}
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
            is_needed = model.remember(_is_needed, bound_name(alias))
            return _import_finding(node, alias, model) if not is_needed else None
    return None


def _is_needed(model: Model, name: str) -> bool:
    """Whether `Variable` has to stay imported: for the engine of autograd, or for an older torch."""
    if model.remember(_is_for_the_engine, name):
        return True
    return any(fallbacks.is_fallback(use, model) for use in model.references(name, model.tree.module))


def _is_for_the_engine(model: Model, name: str) -> bool:
    """Whether a file has `Variable` only for the engine of autograd, which is reached through it to this day."""
    uses = model.references(name, model.tree.module)
    owners = (model.tree.parent(use) for use in uses)
    return bool(uses) and all(
        isinstance(each, cst.Attribute) and each.attr.value == "_execution_engine" for each in owners
    )


def _import_finding(node: cst.ImportFrom, alias: cst.ImportAlias, model: Model) -> Finding:
    message = "`Variable` is not needed since PyTorch 0.4"
    fix = _remove_import(node, alias, model)
    taker = model.taker(bound_name(alias)) if fix is not None and is_global(node, model.tree) else None
    if fix is None and model.remember(_texts, bound_name(alias)):
        said = f"{message}; it stays, for a text has that name, too: whatever compares it is false today"
        return Finding(alias, said, severity=Severity.INFO)
    if taker is None:
        return Finding(alias, message, fix, severity=Severity.INFO)
    said = f"{message}; it stays, for {f'`{taker}`' if taker else 'another file'} may import it from here"
    return Finding(alias, said, severity=Severity.INFO)


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


def _mapped_to_itself(node: cst.BaseExpression, model: Model) -> Fix | None:
    """The removal of ``x, y = map(Variable, (x, y))`` in a file from before 0.4, where both had no graph."""
    arg = model.tree.parent(node)
    call = model.tree.parent(arg) if isinstance(arg, cst.Arg) else None
    names = mapped(call) if call is not None else None
    assign = model.tree.parent(call) if call is not None and names is not None else None
    match assign:
        case cst.Assign(targets=[cst.AssignTarget(target=cst.Tuple(elements=elements))]) if names is not None:
            targets = [each.value.value for each in elements if isinstance(each.value, cst.Name)]
        case _:
            return None
    is_same = len(targets) == len(elements) and targets == [name.value for name in names]
    if not is_same or not all(age.was_plain(name, model) for name in names):
        return None
    removal = edit.remove_statement(model.tree, assign)
    if removal is None:
        return None
    risk = "a tensor with a graph would keep it, which `Variable` refused before 0.4"
    return Fix("Remove the assignment: the tensors had no graph", (removal,), Applicability.UNSAFE, risk=risk)


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
            risk = "a comparison with `Variable` is always false today, and this one is true for a tensor"
            return Fix("Use `isinstance`", edits, Applicability.UNSAFE, imports=imports, risk=risk)
    return None


def _without_twin(node: cst.CSTNode, model: Model) -> Edit | None:
    """Remove `Variable` from a tuple of classes that has `torch.Tensor` already, or a check beside one for that."""
    beside = _without_check(node, model)
    if beside is not None:
        return beside
    element = model.tree.parent(node)
    sequence = model.tree.parent(element) if isinstance(element, cst.Element) else None
    if not isinstance(sequence, cst.Tuple):
        return None
    if not any(model.qualified(e.value) == "torch.Tensor" for e in sequence.elements):
        return None
    return edit.remove_item([e.value for e in sequence.elements], node)


def _without_check(node: cst.CSTNode, model: Model) -> Edit | None:
    """Remove ``isinstance(x, Variable)`` beside ``torch.is_tensor(x)``: either is true."""
    arg = model.tree.parent(node)
    check = model.tree.parent(arg) if isinstance(arg, cst.Arg) else None
    either = model.tree.parent(check) if check is not None else None
    match either:
        case cst.BooleanOperation(left=left, operator=cst.Or(), right=right):
            other = right if left is check else left
        case _:
            return None
    asked = _asked_to_be_tensor(other, model)
    if (
        asked is None
        or not isinstance(check, cst.Call)
        or model.tree.code(asked) != model.tree.code(check.args[0].value)
    ):
        return None
    if left is check:
        return Edit(Anchor(left, False), Anchor(right, False), "")
    return Edit(Anchor(left, True), Anchor(right, True), "")


def _asked_to_be_tensor(node: cst.BaseExpression, model: Model) -> cst.BaseExpression | None:
    match node:
        case cst.Call(func=func, args=[cst.Arg(value=asked)]) if model.qualified(func) == "torch.is_tensor":
            return asked
        case cst.Call(func=cst.Name("isinstance"), args=[cst.Arg(value=asked), cst.Arg(value=cls)]):
            return asked if model.qualified(cls) == "torch.Tensor" else None
    return None


# ---------------------------------------------------------------------- unwrapping


def _remove_import(node: cst.ImportFrom, alias: cst.ImportAlias, model: Model) -> Fix | None:
    name = bound_name(alias)
    uses = model.remember(_uses, name)
    if uses is None or model.tree.is_package or model.tree.enclosing(node, cst.Try) is not None:
        return None
    if _is_in_doctest(name, model):
        return None
    removed = edit.remove_import_alias(model.tree, node, alias)
    if removed is None:
        return None
    fix = Fix("Remove the import", (removed,), deferred=bool(uses), waits_for=uses)
    return namespaces.without_import(fix, name, model)


def _is_in_doctest(name: str, model: Model) -> bool:
    """Whether an example in a docstring has a name: doctests run with what their module imports."""
    line = re.compile(rf"(?m)^[ \t]*(?:>>>|\.\.\.) .*\b{re.escape(name)}\b")
    return any(line.search(each.value) is not None for each in model.tree.all(cst.SimpleString) if ">>>" in each.value)


def _uses(model: Model, name: str) -> tuple[cst.CSTNode, ...] | None:
    """Where an imported name is still used; None if not all of that has a fix."""
    uses = model.references(name, model.tree.module)
    quoted = [s for s in model.tree.all(cst.SimpleString) if _is_quoted(s, model)]
    if model.remember(_texts, name) or not all(_has_fix(use, model) for use in uses):
        return None
    if re.search(rf"#\s*type:.*\b{re.escape(name)}\b", model.tree.source.text):
        return None
    return (*uses, *quoted)


def _texts(model: Model, name: str) -> bool:
    """Whether a text is a name and no annotation: a class may be asked for by it."""
    return any(s.raw_value == name and not _is_quoted(s, model) for s in model.tree.all(cst.SimpleString))


def _has_fix(use: cst.Name, model: Model) -> bool:
    call = call_of(use, model.tree)
    if call is not None:
        return _fix(call, model) is not None
    is_removed = _compared(use, model) is not None or _mapped_to_itself(use, model) is not None
    return is_replaceable(use, model) or is_removed
