"""Tensors that are known to be of integers or booleans by their use: torch takes no others where they stand.

One that is saved for `backward()`, or written, is what it was: the wrapper of a tensor has its version counter.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from itertools import islice, pairwise

import libcst as cst

from torchlint.model import Dtype, Kind, Model, Value
from torchlint.model.aliasing.here import only_metadata
from torchlint.model.bindings import bound_value, declares, last_assigned, owner, target_before
from torchlint.model.codebase.exports import is_mentioned, setter
from torchlint.model.given_everywhere import given_everywhere
from torchlint.model.syntax import call_of, chain, positional
from torchlint.rules.shared import identity, indices
from torchlint.rules.shared.lifetimes import wrapper_of
from torchlint.rules.shared.no_grad import small_statement
from torchlint.rules.shared.order import is_always_before, loop_of

_FAR = 10
"""How many methods that are called one on the other are gone back through."""
_NEAR = 6
"""How many uses of a name are looked at, on either side."""
_LEAVING = (cst.Return, cst.Raise, cst.Yield, cst.Await)
_ENDING = (cst.Break, cst.Continue)
"""What leaves the round of a loop that it stands in."""


def are_by_use(call: cst.BaseExpression, inner: cst.BaseExpression, model: Model) -> bool:
    """Whether what a call wraps, or what is plainly assigned the wrapper, is used as only integers can be."""
    source = _source(inner, model)
    if _is_made_integer(source, model) or _is_cast_at_once(call, model) or _is_given_integers(source, model):
        return True
    if isinstance(source, cst.Name) and _is_index_nearby(source, source, model):
        return True
    target = _target(call, model)
    if target is None:
        return False
    return _is_index_nearby(target, call, model, is_bound_here=True) or _is_nothing_else(target, call, inner, model)


_CASTS = frozenset(("long", "int", "short", "char", "byte", "bool"))
"""Methods that give a tensor of integers or booleans."""


def _is_made_integer(node: cst.BaseExpression, model: Model) -> bool:
    """Whether an expression is ``x.long()``, or a name that was assigned such a thing on every path to it."""
    made: cst.BaseExpression | None = node
    if isinstance(node, cst.Name):
        is_own = model.ask(owner, node) is model.scopes.scope_of(node)
        made = model.ask(last_assigned, node) if is_own else None
    last = _source(made, model) if made is not None else None
    return isinstance(last, cst.Call) and _is_cast(last, model)


def _is_given_integers(node: cst.BaseExpression, model: Model, far: int = _NEAR) -> bool:
    """Whether an expression is a parameter that is given integers by all calls in the project, or elements of it."""
    function = model.scopes.scope_of(node)
    if not isinstance(node, cst.Name) or not isinstance(function, cst.FunctionDef) or not far:
        return False
    if model.scopes.rebinders(function, node.value):
        return False
    bound = model.targets(node.value, function)
    if bound and loop_of(node, model) is not None:
        return False
    if model.ask(target_before, node) is None:
        return model.remember(_are_given, function, node.value)
    made = model.ask(last_assigned, node)
    made = made.value if isinstance(made, cst.Subscript) else made
    return made is not None and _is_given_integers(_source(made, model), model, far - 1)


def _are_given(model: Model, function: cst.FunctionDef, name: str) -> bool:
    given = model.ask(given_everywhere, function, name)
    return all(each is not None and _is_of_integers(each, model.home(each)) for each in given)


def _is_of_integers(node: cst.BaseExpression, home: Model) -> bool:
    value, source = home.value(node), _source(node, home)
    if _is_of_another_file(source, home):
        return False
    if value.is_tensor and not value.is_parameter and not value.dtype & Dtype.FLOAT:
        return True
    return _is_made_integer(source, home)


def _is_of_another_file(node: cst.BaseExpression, home: Model) -> bool:
    """Whether what holds a tensor is an object or a global that another file may put something else into."""
    match node:
        case cst.Attribute(value=holder) if not home.is_tensor(holder):
            cls = home.value(holder).node
            return cls is None or home.home(cls) is not home
        case cst.Name(value=name) if home.ask(owner, node) is home.tree.module:
            return home.ask(setter, name) is not None
    return False


def _is_cast_at_once(node: cst.BaseExpression, model: Model) -> bool:
    """Whether integers are made of a tensor where it stands, and nobody else has it: ``Variable(x).cuda().long()``."""
    for name, outer in chain(node, model.tree):
        if isinstance(outer, cst.Call) and _is_cast(outer, model):
            return True
        if name != "[]" and not _keeps_dtype(name, outer, model):
            return False
    return False


def _is_cast(call: cst.Call, model: Model) -> bool:
    match call:
        case cst.Call(func=cst.Attribute(attr=cst.Name(value=name)), args=[]) if name in _CASTS:
            is_own = model.ask(declares, name) or model.value(call.func).node is not None
            return not is_own and not model.ask(is_mentioned, rf"\bdef\s+{name}\b")
    return False


def are_certain(node: cst.Attribute, model: Model) -> bool:
    """Whether what ``.data`` is taken from is one of integers by its use, and nothing tells it from its data."""
    if model.value(node.value).is_parameter or is_told_apart(node.value, model):
        return False
    return are_by_use(node, node.value, model)


def are_given(node: cst.BaseExpression, model: Model) -> bool:
    """Whether an expression is made of a parameter that all calls in the project give tensors of integers."""
    return _is_given_integers(_source(node, model), model)


def is_parameter(value: Value) -> bool:
    """Whether it is a parameter of integers, which can never require grad, whoever asks for it."""
    return value.is_parameter and not value.dtype & Dtype.FLOAT


def is_told_apart(node: cst.BaseExpression, model: Model) -> bool:
    """Whether a tensor that can get no graph may be changed beyond its elements, or asked which it is, all the same."""
    return identity.is_changed(node, model) or identity.are_told_apart(model)


def _source(node: cst.BaseExpression, model: Model) -> cst.BaseExpression:
    """``x`` of ``x[0].cpu()``: what has the same dtype, or what is made of it by the last steps of many."""
    for _ in range(_FAR):
        match node:
            case cst.Call(func=cst.Attribute(value=owner, attr=cst.Name(value=name))) if _keeps_dtype(
                name, node, model
            ):
                node = owner
            case cst.Attribute(value=owner, attr=cst.Name("data")):
                node = owner
            case cst.Subscript(value=owner, slice=cut) if _is_of_tensor(owner, cut, model):
                node = owner
            case _:
                break
    return node


def _is_of_tensor(owner: cst.BaseExpression, places: Sequence[cst.SubscriptElement], model: Model) -> bool:
    """Whether what is cut is a tensor, as lists of tensors are not: ``x[:, 0]``."""
    is_cut = len(places) > 1 and any(isinstance(each.slice, cst.Slice) for each in places)
    return is_cut or model.is_tensor(owner)


def _target(node: cst.BaseExpression, model: Model) -> cst.Name | None:
    """The name that is plainly assigned an expression, or what has its dtype."""
    whole = _whole(node, model)
    match model.tree.parent(whole) if whole is not None else None:
        case cst.Assign(targets=[cst.AssignTarget(target=cst.Name() as target)]):
            return target
    return None


def _whole(node: cst.CSTNode, model: Model) -> cst.CSTNode | None:
    """All that is made of a tensor in its expression, wrappers included; None where that may have another dtype."""
    whole: cst.CSTNode | None = node
    while whole is not None:
        at = whole
        for name, outer in chain(at, model.tree):
            if name != "[]" and not _keeps_dtype(name, outer, model) and not _is_extreme(name, outer):
                return None
            at = outer
        whole = wrapper_of(at, model)
        if whole is None:
            return at
    return None


_LIKE = frozenset(
    (
        *(
            "cpu",
            "cuda",
            "contiguous",
            "clone",
            "detach",
            "view",
            "view_as",
            "reshape",
            "flatten",
            "squeeze",
            "unsqueeze",
        ),
        *("t", "transpose", "permute", "expand", "expand_as", "narrow", "select", "numpy", "item", "tolist"),
    )
)
"""Methods that give a tensor of the same dtype, or its elements."""


def _is_extreme(name: str, node: cst.CSTNode) -> bool:
    """Whether the largest or the smallest element of a tensor is taken: ``lengths.max()``."""
    return name in ("max", "min") and isinstance(node, cst.Call) and not node.args


def _is_size(whole: cst.CSTNode, model: Model) -> bool:
    """Whether something is given where a method of a tensor takes sizes: ``x.expand(n, longest)``."""
    arg = model.tree.parent(whole)
    match model.tree.parent(arg) if isinstance(arg, cst.Arg) and arg.keyword is None and not arg.star else None:
        case cst.Call(func=cst.Attribute(value=sized, attr=cst.Name("expand" | "repeat"))):
            return model.is_tensor(sized)
    return False


def _keeps_dtype(name: str, node: cst.CSTNode, model: Model) -> bool:
    """Whether a method or attribute of that name gives a tensor of the same dtype."""
    if isinstance(node, cst.Attribute):
        return name in ("data", "T")
    if not isinstance(node, cst.Call) or name not in _LIKE:
        return False
    # `x.view(torch.float)` takes the same bits for another dtype
    return name != "view" or len(node.args) > 1 or all(model.value(a.value).kind == Kind.NUMBER for a in node.args)


def _is_index_nearby(name: cst.Name, node: cst.CSTNode, model: Model, *, is_bound_here: bool = False) -> bool:
    """Whether whoever comes to a node also comes to where the name has to be one of integers, bound as it is there."""
    statement, scope = small_statement(node, model), model.scopes.scope_of(name)
    if statement is None or model.scopes.rebinders(scope, name.value):
        return False
    uses = model.references(name.value, scope)
    place = bisect_left(uses, model.tree.order(statement), key=model.tree.order)
    for use in uses[place : place + _NEAR]:
        is_inside = model.tree.is_inside(use, statement)
        if _is_bound(use, model) and not (is_inside and _is_bound_to(use, node, model)):
            if _is_wrapped_again(use, model) or _is_in_other_branch(use, node, model):
                continue
            break
        if not is_inside and _takes_integers(use, model) and _is_always_after(use, node, model):
            return True
    if is_bound_here:
        return False  # before, the name stood for something else
    for use in reversed(uses[max(0, place - _NEAR) : place]):
        if _is_bound_behind(use, model):
            break
        if _takes_integers(use, model) and is_always_before(use, node, model) and _is_same_round(use, node, model):
            return True
        if _is_bound(use, model):
            break
    return False


def _is_bound_to(target: cst.Name, node: cst.CSTNode, model: Model) -> bool:
    """Whether a name is assigned nothing but what a node gives, or what has its dtype."""
    value = bound_value(target, model.tree)
    return value is not None and value is _whole(node, model)


def _is_in_other_branch(use: cst.CSTNode, node: cst.CSTNode, model: Model) -> bool:
    """Whether of two nodes one is in the `else:` of an `if` around both: only one of them runs then."""
    parts = [node, *islice(model.tree.ancestors(node), _FAR)]
    around = {id(up): part for part, up in pairwise(parts)}
    part = use
    for up in islice(model.tree.ancestors(use), _FAR):
        if id(up) in around:
            return isinstance(up, cst.If) and up.test not in (part, around[id(up)]) and part is not around[id(up)]
        part = up
    return False


def _is_wrapped_again(target: cst.Name, model: Model) -> bool:
    """Whether a name is assigned the wrapper of what it stands for, or of what has its dtype: ``x = Variable(x)``."""
    match bound_value(target, model.tree):
        case cst.Call(args=[cst.Arg(value=inner), *_]) as call if wrapper_of(inner, model) is call:
            source = _source(inner, model)
            return isinstance(source, cst.Name) and source.value == target.value
    return False


def _is_bound(use: cst.Name, model: Model) -> bool:
    """Whether a name may stand for another tensor, or one of another dtype, from there on."""
    parent = model.tree.parent(use)
    if isinstance(parent, cst.Attribute):
        return model.is_target(parent)
    return model.is_target(use) and not isinstance(parent, cst.Subscript)


def _is_bound_behind(use: cst.Name, model: Model) -> bool:
    """Whether the statement of a use binds the name anew: ``x = emb(x)``."""
    statement = small_statement(use, model)
    bound = model.tree.within(statement, cst.Name) if statement is not None else []
    return any(each.value == use.value and _is_bound(each, model) for each in bound)


def _takes_integers(use: cst.Name, model: Model) -> bool:
    """Whether a name, or what has its dtype, stands where torch takes integers and booleans alone."""
    if _is_given_others(use, model):
        return True
    whole = _whole(use, model)
    if not isinstance(whole, cst.BaseExpression):
        return False
    if _is_bound_of_slice(whole, model) or _is_size(whole, model):
        return True
    name = indices.taker(whole, model)
    if name is None:
        return indices.is_handed_to_index(whole, model)
    if name == "__getitem__":
        taker = model.tree.enclosing(whole, cst.Subscript)
        return isinstance(taker, cst.Subscript) and model.is_tensor(taker.value)
    return "." in name or indices.is_method(name, model)


SOURCES = {"index_copy_": 2, "index_add_": 2, "scatter_": 2, "scatter_add_": 2, "masked_scatter_": 1, "index_put_": 1}
"""Methods that raise where what is given in one place has another dtype than what it is put into, with that place."""


def _is_given_others(use: cst.Name, model: Model) -> bool:
    """Whether elements of a tensor of integers are put into a tensor, as torch does for another one of them alone."""
    method = model.tree.parent(use)
    if not isinstance(method, cst.Attribute) or method.attr.value not in SOURCES:
        return False
    call = call_of(method, model.tree)
    given = positional(call.args, SOURCES[method.attr.value]) if call is not None else None
    if given is None or not indices.is_method(method.attr.value, model):
        return False
    value = model.value(given.value)
    return value.is_tensor and not value.dtype & Dtype.FLOAT


def _is_bound_of_slice(node: cst.BaseExpression, model: Model) -> bool:
    """Whether a tensor or an array is cut where an expression says, ``x[:n]``, or ``range`` is given it."""
    match model.tree.parent(node):
        case cst.Slice() as cut:
            taker = model.tree.enclosing(cut, cst.Subscript)
            if not isinstance(taker, cst.Subscript):
                return False
            return not model.value(taker.value).kind & ~(Kind.TENSOR | Kind.NDARRAY)
        case cst.Arg(keyword=None, star="") as arg if isinstance(call := model.tree.parent(arg), cst.Call):
            return model.qualified(call.func) == "builtins.range"
    return False


def _is_always_after(use: cst.Name, node: cst.CSTNode, model: Model) -> bool:
    """Whether whoever comes to a node comes to a use behind it, too, in the same round of a loop."""
    suite = model.tree.parent(model.tree.statement(use))
    if suite is None or not model.tree.is_inside(node, suite) or not _is_same_round(use, node, model):
        return False
    if isinstance(model.tree.parent(suite), (cst.Try, cst.TryStar)) or not is_always_before(use, node, model):
        return False  # `is_always_before` tells whether it may be left out of its statement, too
    begun = small_statement(node, model) or node  # `return Variable(x)` leaves itself
    if any(_between(begun, use, kind, model) for kind in _LEAVING):
        return False
    loop, ended = loop_of(node, model), [each for kind in _ENDING for each in _between(node, use, kind, model)]
    return len(ended) <= _NEAR and not any(loop_of(each, model) is loop for each in ended)


def _between(first: cst.CSTNode, last: cst.CSTNode, kind: type[cst.CSTNode], model: Model) -> list[cst.CSTNode]:
    """The first nodes of a kind that stand between two others in the file."""
    order, found = model.tree.order, model.tree.all(kind)
    place, end = bisect_left(found, order(first), key=order), order(model.tree.statement(last))
    return [each for each in found[place : place + _NEAR + 1] if order(each) < end]


def _is_same_round(use: cst.Name, node: cst.CSTNode, model: Model) -> bool:
    scopes = model.scopes
    return scopes.scope_of(use) is scopes.scope_of(node) and loop_of(use, model) is loop_of(node, model)


def _is_nothing_else(target: cst.Name, call: cst.CSTNode, inner: cst.CSTNode, model: Model) -> bool:
    """Whether nobody uses what is assigned to a name but where integers are taken."""
    scope = model.scopes.scope_of(target)
    if not isinstance(scope, cst.FunctionDef):
        return False
    names = model.references(target.value, scope)
    if len(names) > 2 * _NEAR:
        return False
    uses = [use for use in names if not model.is_target(use) and not model.tree.is_inside(use, inner)]
    read = [use for use in uses if not model.ask(only_metadata, use)]
    return bool(read) and all(model.scopes.scope_of(use) is scope and _takes_integers(use, model) for use in read)
