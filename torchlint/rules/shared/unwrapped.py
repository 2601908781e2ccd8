"""What is written in the place of a wrapper: what it wraps, and nothing that has no use then."""

from __future__ import annotations

import libcst as cst

from torchlint import edit
from torchlint.file.tree.tree import Tree
from torchlint.model import Model
from torchlint.model.syntax import call_of, chain, root
from torchlint.rule import Edit
from torchlint.rules.shared import memory


def plain(call: cst.Call, inner: cst.BaseExpression, model: Model) -> tuple[Edit, ...]:
    """Edits that leave what is wrapped.

    ``[Variable(x) for x in xs]`` is ``list(xs)`` then, and ``x if x is None else Variable(x)`` is ``x``.
    """
    made = list_of(call, inner, model)
    expression = whole(call, inner, model)
    if made is not None and made.elt is expression and _may_be_list(made, model):
        several = model.tree.code(made.for_in.iter)
        return (edit.replace(made, several if isinstance(made.for_in.iter, cst.List) else f"list({several})"),)
    if expression is not call:
        kept = model.tree.code(inner)
        return (edit.replace(expression, f"({kept})" if expression.lpar else kept),)
    return strip(call, inner, "", model)


def list_of(call: cst.Call, inner: cst.BaseExpression, model: Model) -> cst.ListComp | None:
    """The list of what is in another one, wrapped, and brought to a device perhaps: ``[Variable(x) for x in xs]``."""
    steps = list(chain(call, model.tree))
    if not isinstance(inner, cst.Name) or any(name not in memory.TRANSFERS for name, _ in steps):
        return None
    element = steps[-1][1] if steps else whole(call, inner, model)
    match model.tree.parent(element):
        case (
            cst.ListComp(
                elt=made_of,
                for_in=cst.CompFor(
                    target=cst.Name(value=each),
                    iter=cst.Name() | cst.List() | cst.Subscript(),
                    ifs=[],
                    inner_for_in=None,
                    asynchronous=None,
                ),
            ) as made
        ) if made_of is element and each == inner.value:
            return made
    return None


def _may_be_list(made: cst.ListComp, model: Model) -> bool:
    """Whether ``list(xs)`` can be written for a list of what is in ``xs``."""
    is_bound = any(call_of(name, model.tree) is None for name in model.tree.names("list"))
    return not is_bound and not made.lpar and "#" not in model.tree.code(made)


def whole(call: cst.Call, inner: cst.BaseExpression, model: Model) -> cst.BaseExpression:
    """The call, or the conditional expression that gives the same either way once the call has gone."""
    match model.tree.parent(call):
        case cst.IfExp(test=test, body=body, orelse=orelse) as either if test is not call:
            other = body if orelse is call else orelse
            if _is_none_like(other, inner, either, model):
                return either
            if _is_same(other, inner, model) and _only_asks(test, root(inner)) and "#" not in model.tree.code(either):
                return either
    return call


def _is_none_like(other: cst.BaseExpression, inner: cst.BaseExpression, either: cst.IfExp, model: Model) -> bool:
    """Whether None is given where what is wrapped is None: ``Variable(x) if x is not None else None``."""
    if not isinstance(other, cst.Name) or other.value != "None" or "#" in model.tree.code(either):
        return False
    match either.test:
        case cst.Comparison(
            left=asked, comparisons=[cst.ComparisonTarget(operator=operator, comparator=cst.Name("None"))]
        ) if isinstance(operator, cst.Is if other is either.body else cst.IsNot):
            return _is_same(asked, inner, model)
    return False


def _is_same(one: cst.BaseExpression, other: cst.BaseExpression, model: Model) -> bool:
    """Whether two expressions are written alike, and no function is called by them."""
    if type(one) is not type(other) or not isinstance(one, (cst.Name, cst.Attribute, cst.Subscript)):
        return False
    return model.tree.code(one) == model.tree.code(other) and not model.tree.within(one, cst.Call)


def _only_asks(test: cst.BaseExpression, name: str) -> bool:
    """Whether a test does nothing else: ``x is None``, ``use_cuda``. What has that name may have no truth: a tensor."""
    match test:
        case cst.Name(value=asked):
            return asked != name
        case cst.Comparison(left=cst.Name(), comparisons=[cst.ComparisonTarget(cst.Is() | cst.IsNot(), cst.Name())]):
            return True
        case cst.UnaryOperation(operator=cst.Not(), expression=cst.Name(value=asked)):
            return asked != name
    return False


def strip(call: cst.Call, inner: cst.BaseExpression, suffix: str, model: Model) -> tuple[Edit, ...]:
    """Edits that leave ``inner`` of the call, in brackets where it needs them, and append ``suffix``."""
    if len(call.args) == 1 and call.args[0].keyword is None and _has_comments(call, inner, model):
        comma = edit.remove_comma(call.args[0])
        kept = edit.delete(call.func), edit.insert_after(call, suffix)  # the brackets stay, with what is in them
        return kept if comma is None else (*kept, comma)
    left = right = ""
    has_brackets = inner.lpar or (call.lpar and not suffix)
    if not has_brackets and _needs_brackets(call, inner, suffix, model.tree):
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
