"""What is behind literal keys of what a function gives, and whether it is still what the function has put there.

``history = fit(net)`` and then ``history["loss"]``: that is the same list as in ``fit`` only where nothing here puts
another one behind the key.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import libcst as cst

from torchlint.model.syntax import element_at, is_target, literal_key

if TYPE_CHECKING:
    from torchlint.model.context import Context

LiteralKey = str | int
_READING = frozenset(("get", "items", "keys", "values"))
"""Methods of a mapping that leave it as it is."""


def unkeyed(node: cst.BaseExpression) -> tuple[cst.BaseExpression, tuple[LiteralKey, ...]] | None:
    """An expression without the literal keys behind it, and these; None if a key is no literal."""
    keys: list[LiteralKey] = []
    while isinstance(node, cst.Subscript):
        match node.slice:
            case [cst.SubscriptElement(slice=cst.Index(value=written))] if (key := literal_key(written)) is not None:
                keys.append(key)
            case _:
                return None
        node = node.value
    return node, tuple(reversed(keys))


def behind(node: cst.BaseExpression | None, key: LiteralKey) -> cst.BaseExpression | None:
    """What stands behind a key of a tuple or dictionary that is written out; None if that can't be told."""
    if isinstance(key, int):
        return element_at(node, key)
    if isinstance(node, cst.Call):
        return _named(node, key)
    if not isinstance(node, cst.Dict):
        return None
    found: list[cst.BaseExpression] = []
    for each in node.elements:
        if not isinstance(each, cst.DictElement) or (known := literal_key(each.key)) is None:
            return None
        if known == key:
            found.append(each.value)
    return found[-1] if found else None


def _named(call: cst.Call, key: str) -> cst.BaseExpression | None:
    """The argument of that name, where a dictionary is made: ``dict(loss=loss)``."""
    if not isinstance(call.func, cst.Name) or call.func.value != "dict":
        return None
    named = {arg.keyword.value: arg.value for arg in call.args if arg.keyword is not None}
    return named.get(key) if len(named) == len(call.args) else None


def is_refilled(context: Context, name: cst.Name) -> bool:
    """Whether something else may be put behind keys of a name in its scope, other than by what is given the name."""
    return name.value in context.remember(_changed, context.scopes.scope_of(name))[0]


def is_used_whole(context: Context, name: cst.Name) -> bool:
    """Whether a name is used as a whole in its scope, other than by returning it: others may fill it anew."""
    return name.value in context.remember(_changed, context.scopes.scope_of(name))[1]


def may_change(context: Context, name: cst.Name) -> bool:
    """Whether something else may be behind keys of a name, by whatever is done with it in its scope."""
    return is_used_whole(context, name) or is_refilled(context, name)


def _changed(context: Context, scope: cst.FunctionDef | cst.Module) -> tuple[frozenset[str], frozenset[str]]:
    """The names in a scope that something is put into by a key or method, and those that are used as a whole."""
    tree = context.tree
    changed: set[str] = set()
    elsewhere: set[str] = set()
    for name in tree.within(scope, cst.Name):
        parent = tree.parent(name)
        match parent:
            case cst.Subscript(value=inner) if inner is name:
                outer = parent
                while isinstance(up := tree.parent(outer), cst.Subscript) and up.value is outer:
                    outer = up
                if is_target(tree, outer) and not _begins(tree.enclosing(outer, cst.Assign)):
                    changed.add(name.value)
            case cst.Attribute(value=inner, attr=attr) if inner is name:
                if attr.value not in _READING:
                    changed.add(name.value)
            case cst.Attribute():
                pass
            case _ if not isinstance(parent, cst.Return) and not is_target(tree, name):
                elsewhere.add(name.value)
    return frozenset(changed), frozenset(elsewhere)


def _begins(statement: cst.CSTNode | None) -> bool:
    """Whether a statement puts nothing but an empty list behind a key."""
    return isinstance(statement, cst.Assign) and isinstance(statement.value, cst.List) and not statement.value.elements
