"""The questions that the interpreter asks, as methods, as long as it asks them so."""
# ruff: noqa: D102

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Concatenate, ParamSpec, TypeVar, cast

import libcst as cst

from torchlint.model import (
    attributes,
    bindings,
    classes,
    definitions,
    functions,
    interpreted,
    modes,
    parameters,
)
from torchlint.model.annotations import annotation as _annotation
from torchlint.model.annotations import annotation_text as _annotation_text
from torchlint.model.annotations import construct as _construct
from torchlint.model.annotations import instance_of as _instance_of
from torchlint.model.context import Context
from torchlint.model.lineage import Lineages, lineages
from torchlint.model.names import is_foreign
from torchlint.model.torch.named import named
from torchlint.model.values import Argument, Evidence, Value, reference

if TYPE_CHECKING:
    from torchlint.model.interpret.env import Env
    from torchlint.model.interpret.flow import Flow
    from torchlint.model.interpret.state import State


P = ParamSpec("P")
T = TypeVar("T")


class Model(Context):
    """A context with methods for what the interpreter asks."""

    reference = staticmethod(reference)
    named = staticmethod(named)
    is_foreign = staticmethod(is_foreign)

    def home(self, node: cst.CSTNode) -> Model:
        return cast("Model", super().home(node))

    def remember(self, question: Callable[Concatenate[Model, P], T], *args: P.args, **kwargs: P.kwargs) -> T:
        return self.memo.answer(question, self, *args, **kwargs)

    @property
    def lineages(self) -> Lineages:
        return lineages(self)

    def declares(self, attribute: str) -> bool:
        return self.scopes.declares(attribute)

    def is_inside(self, node: cst.CSTNode, area: cst.CSTNode) -> bool:
        return self.tree.is_inside(node, area)

    def seen(self, node: cst.CSTNode) -> Value:
        return interpreted.seen(self, node)

    def call_function(
        self,
        function: cst.FunctionDef,
        receiver: Value | None,
        node: cst.CSTNode,
        arguments: Sequence[Argument],
        flow: State,
    ) -> Value:
        return functions.call_function(self, function, receiver, node, arguments, flow)

    def instance_of(self, value: Value, node: cst.BaseExpression) -> Value | None:
        return _instance_of(self, value, node)

    def find_method(self, cls: cst.ClassDef, name: str) -> cst.FunctionDef | None:
        return classes.find_method(self, cls, name)

    def class_attribute(self, cls: cst.ClassDef, name: str, flow: State, base: Value | None = None) -> Value:
        return attributes.class_attribute(self, cls, name, flow, base)

    def annotation_text(self, text: str, flow: State) -> Value | None:
        return _annotation_text(self, text, flow)

    def annotation(self, node: cst.BaseExpression, flow: State) -> Value | None:
        return _annotation(self, node, flow)

    def super_value(self, node: cst.Call, flow: State) -> Value:
        return attributes.super_value(self, node, flow)

    def start_grad(self, function: cst.FunctionDef) -> int:
        return modes.start_grad(self, function)

    def start(self, function: cst.FunctionDef, flow: State, of: cst.ClassDef | None = None) -> Env:
        return parameters.start_of(self, function, flow, of)

    def rebound(self, name: str, flow: State) -> Value | None:
        return definitions.rebound(self, name, flow)

    def free(self, name: str, flow: State) -> Value:
        return definitions.free(self, name, flow)

    def follow(self, value: Value) -> Value:
        return definitions.follow(self, value)

    def definition(self, ref: str) -> Value | None:
        return definitions.definition(self, ref)

    def construct(
        self, cls: cst.ClassDef, node: cst.CSTNode | None = None, arguments: Sequence[Argument] = ()
    ) -> Value:
        return _construct(self, cls, node, arguments)

    def class_use(self, cls: cst.ClassDef, name: str) -> Evidence | None:
        return attributes.class_use(self, cls, name)

    def class_of(self, function: cst.CSTNode) -> cst.ClassDef | None:
        return classes.class_of(self, function)

    def class_kind(self, cls: cst.ClassDef) -> str:
        return classes.class_kind(self, cls)

    def bind(
        self, function: cst.FunctionDef, receiver: Value | None, arguments: Sequence[Argument]
    ) -> dict[str, Value]:
        return functions.bind(self, function, receiver, arguments)

    def assigns(self, function: cst.FunctionDef, name: str) -> frozenset[str]:
        return functions.assigns(self, function, name)

    def outside(self) -> Flow:
        return interpreted.outside(self)

    def all_called(self, name: str) -> list[cst.BaseExpression]:
        return bindings.all_called(self, name)
