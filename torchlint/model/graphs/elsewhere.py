"""What other functions of the file send gradients back through: attributes, globals, what closures have in common."""

from __future__ import annotations

import libcst as cst

from torchlint.model.codebase import exports
from torchlint.model.context import Context
from torchlint.model.graphs.backward import Sending, reached, sendings
from torchlint.model.graphs.flow import MANY, Scope, flow_of, upstream
from torchlint.model.graphs.mentions import mentions


def is_sent_elsewhere(context: Context, path: str, scope: Scope) -> bool:
    """Whether another function than ``scope`` sends gradients back through what a path of that one stands for.

    ``self.total`` is told by its last name. A plain name counts where a function has it from outside.
    """
    key = _key(context, path, scope)
    return key is not None and bool(context.remember(_senders).get(key, frozenset()) - {id(scope)})


def _key(context: Context, path: str, scope: Scope) -> str | None:
    """By what a path is known in other functions; None if it is a name of this one alone."""
    first, _, rest = path.partition(".")
    if rest:
        return f".{rest.rpartition('.')[2]}"
    is_own = isinstance(scope, cst.FunctionDef) and flow_of(context, scope).bindings(first)
    return first if not is_own or first in context.remember(_from_outside, scope) else None


def _from_outside(context: Context, scope: Scope) -> frozenset[str]:
    """The names that a function declares to be those of others."""
    of_file = (item.name.value for each in context.tree.within(scope, cst.Global) for item in each.names)
    around = (item.name.value for each in context.tree.within(scope, cst.Nonlocal) for item in each.names)
    return frozenset((*of_file, *around))


def is_had_elsewhere(context: Context, name: str, scope: Scope) -> bool:
    """Whether what a scope binds to a name can be had by that name elsewhere: in other functions, or in other files."""
    if isinstance(scope, cst.FunctionDef):
        return name in context.remember(_from_outside, scope)
    return exports.taker(context, name) is not None


def _senders(context: Context) -> dict[str, frozenset[int]]:
    """For each name that is known in several functions those that send gradients back through it."""
    found: dict[str, set[int]] = {}
    scopes = {
        id(scope): scope for each in context.tree.attributes("backward") if (scope := context.scopes.scope_of(each))
    }
    for scope in scopes.values():
        for sending in sendings(context, scope):
            for path in _paths(context, sending):
                if (key := _key(context, path, scope)) is not None:
                    found.setdefault(key, set()).add(id(scope))
    return {key: frozenset(senders) for key, senders in found.items()}


def _paths(context: Context, sending: Sending) -> set[str]:
    """All names and paths in what is sent back, and in what that is made of."""
    made = (event.node for event in upstream(reached(context, sending), MANY).values())
    values = [*sending.given, *(each.value for each in made if isinstance(each, (cst.Assign, cst.AugAssign)))]
    return {mention.path for value in values for mention in mentions(context, value)}
