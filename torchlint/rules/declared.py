"""What a rule declares of itself, read from its source without importing it, and libcst with it.

Only a small part of Python is understood, and whatever else is in its place is an error: a trigger that is overlooked
would be a rule that finds nothing.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping
from enum import Enum
from typing import NamedTuple, TypeVar

from torchlint.diagnostic import Group, Severity
from torchlint.trigger import FUNCTIONS, Trigger, TriggerError, together

E = TypeVar("E", bound=Enum)

_HOMES = ("torchlint.rule", "torchlint.trigger")
"""The modules that have the functions to write triggers with, and :func:`torchlint.rule.on`."""


class DeclarationError(ValueError):
    """What a rule declares cannot be read without importing it; with the file and the line."""


class Declared(NamedTuple):
    """What is known of a rule before it is imported."""

    trigger: Trigger
    """What a file must hold, for one of the rule's functions or another."""
    by_default: bool = True
    """``BY_DEFAULT = False`` in the rule's source: it is off unless it is selected."""
    severity: Severity = Severity.WARNING
    """``SEVERITY = Severity.INFO``: how bad its findings are where they do not say it themselves."""
    group: Group = Group.CORRECTNESS
    """``GROUP = Group.MIGRATION``: what it is about."""
    without_torch: bool = False
    """``WITHOUT_TORCH = True``: it asks what others hand over, so that nothing of torch need stand in a file."""


def declared(source: str, path: str) -> Declared:
    """What the source of a rule declares.

    Raises:
        DeclarationError: it declares no trigger, or not in a way that can be read.
    """
    reader = _RuleModule(ast.parse(source, path), path)
    severity = reader.choice("SEVERITY", Severity.WARNING)
    return Declared(
        together(reader.triggers()),
        reader.flag("BY_DEFAULT", True),
        severity,
        reader.choice("GROUP", Group.CORRECTNESS),
        reader.flag("WITHOUT_TORCH", False),
    )


class _RuleModule:
    """The module of a rule."""

    def __init__(self, module: ast.Module, path: str) -> None:
        self.module, self.path = module, path
        self.names = dict(_imported(module))
        """What a name of the module stands for: ``torchlint.rule.on``."""
        self.constants = _constants(module)

    def triggers(self) -> list[Trigger]:
        """The triggers of all functions that are registered."""
        decorators = [
            each
            for statement in self.module.body
            if isinstance(statement, ast.FunctionDef)
            for each in statement.decorator_list
            if isinstance(each, ast.Call) and self._is_on(each.func)
        ]
        known = {id(each.func) for each in decorators}
        for node in ast.walk(self.module):
            if isinstance(node, (ast.Name, ast.Attribute)) and self._is_on(node) and id(node) not in known:
                raise self._error(node, "`on` is for decorators of functions at the top of a module")
        if not decorators:
            raise DeclarationError(f"{self.path}: no function is registered with `@on(…, trigger=…)`")
        return [self._trigger_of(each) for each in decorators]

    def flag(self, name: str, default: bool) -> bool:
        """What a constant of the module is that is True or False."""
        value = self.constants.get(name)
        if value is None:
            return default
        if not isinstance(value, ast.Constant) or not isinstance(value.value, bool):
            raise self._error(value, f"`{name}` is True or False")
        return value.value

    def choice(self, name: str, default: E) -> E:
        """The member of an enumeration that a constant of the module is."""
        value, kind = self.constants.get(name), type(default)
        if value is None:
            return default
        home, _, member = (self._meant(value) or "").rpartition(".")
        if home.rpartition(".")[2] != kind.__name__ or member not in kind.__members__:
            members = ", ".join(f"`{kind.__name__}.{each}`" for each in kind.__members__)
            raise self._error(value, f"`{name}` is one of {members}")
        return kind[member]

    def _is_on(self, node: ast.expr) -> bool:
        return self._meant(node) == "torchlint.rule.on"

    def _meant(self, node: ast.expr) -> str | None:
        """What a name or an attribute stands for."""
        if isinstance(node, ast.Name):
            return self.names.get(node.id)
        if isinstance(node, ast.Attribute):
            owner = self._meant(node.value)
            return None if owner is None else f"{owner}.{node.attr}"
        return None

    def _trigger_of(self, decorator: ast.Call) -> Trigger:
        given = [each.value for each in decorator.keywords if each.arg == "trigger"]
        if len(given) != 1 or len(decorator.keywords) != 1:
            raise self._error(decorator, "`on` takes node types and `trigger=`")
        return self._trigger(given[0])

    def _trigger(self, node: ast.expr) -> Trigger:
        if isinstance(node, ast.Name) and node.id in self.constants:
            value = self.constants[node.id]
            if value is None:
                raise self._error(node, f"`{node.id}` has more than one value")
            return self._trigger(value)
        if not isinstance(node, ast.Call):
            raise self._error(node, "a trigger is wanted, written as `word(…)`, `any_of(…)` and so on")
        home, _, name = (self._meant(node.func) or "").rpartition(".")
        if home not in _HOMES or name not in FUNCTIONS:
            raise self._error(node, f"a trigger is wanted, with one of {', '.join(f'`{each}`' for each in FUNCTIONS)}")
        if node.keywords:
            raise self._error(node, "triggers take no keyword arguments")
        try:
            return FUNCTIONS[name](*(self._argument(each) for each in node.args))
        except (TriggerError, TypeError) as error:
            raise self._error(node, str(error)) from None

    def _argument(self, node: ast.expr) -> str | Trigger:
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            return node.value
        return self._trigger(node)

    def _error(self, node: ast.expr, message: str) -> DeclarationError:
        return DeclarationError(f"{self.path}:{node.lineno}: {message}: `{ast.unparse(node)}`")


def _imported(module: ast.Module) -> Mapping[str, str]:
    """What the names stand for that are imported at the top of a module."""
    found: dict[str, str] = {}
    for statement in module.body:
        if isinstance(statement, ast.ImportFrom) and not statement.level:
            found.update((alias.asname or alias.name, f"{statement.module}.{alias.name}") for alias in statement.names)
        elif isinstance(statement, ast.Import):
            for alias in statement.names:
                first = alias.name.partition(".")[0]
                found[alias.asname or first] = alias.name if alias.asname else first
    return found


def _constants(module: ast.Module) -> Mapping[str, ast.expr | None]:
    """The values that are given to names at the top of a module; None to those that get several."""
    found: dict[str, ast.expr | None] = {}
    for statement in module.body:
        if isinstance(statement, ast.Assign):
            targets, value = statement.targets, statement.value
        elif isinstance(statement, ast.AnnAssign) and statement.value is not None:
            targets, value = [statement.target], statement.value
        else:
            continue
        for target in targets:
            if isinstance(target, ast.Name):
                found[target.id] = None if target.id in found else value
    return found
