"""Statements: what they bind, return and forget."""

from __future__ import annotations

import libcst as cst

from torchlint.model.annotations import annotation, annotation_text
from torchlint.model.imports import module_of
from torchlint.model.interpret import (
    assignment,
    containers,
    contexts,
    control_flow,
    narrowing,
    operators,
    places,
    waiting,
)
from torchlint.model.interpret.environment import Env
from torchlint.model.interpret.frame import Executors, Frame
from torchlint.model.interpret.turned_on import after_calls
from torchlint.model.lineage import lineages
from torchlint.model.names import SET_GRAD
from torchlint.model.possibilities import Kind, Tri
from torchlint.model.syntax import decorator_names, dotted, last_name, parameters, root
from torchlint.model.torch.named import named
from torchlint.model.type_comments import type_comment
from torchlint.model.values import NONE, UNKNOWN, Value, reference


def _expr(frame: Frame, node: cst.Expr) -> None:
    value = node.value
    frame.value(value)
    match value:
        case cst.Call(func=cst.Attribute(value=stack, attr=cst.Name("enter_context")), args=[argument]):
            mode = contexts.grad_context(frame, argument.value)
            is_left = mode is not None and not waiting.is_never_left(frame.context, stack)
            frame.grad = frame.grad if mode is None else mode | Tri.MAYBE if is_left else mode
        case cst.Call(func=func) if reference(frame.values.get(id(func))) in SET_GRAD:
            frame.grad = after_calls(frame.context, frame.scope, frame.values[id(value)].grad)


def _assign(frame: Frame, node: cst.Assign) -> None:
    value = frame.value(node.value)
    if assignment.says_nothing(value) and (comment := type_comment(frame.tree.parent(node))) is not None:
        value = assignment.as_declared(annotation_text(frame.context, comment, frame), value)
    for target in node.targets:
        frame.assign(target.target, value, node.value)
        narrowing.remember_test(frame, target.target, node.value)
        if value.kind == Kind.CONTAINER and root(node.value) and root(target.target):
            places.alias(frame, target.target, node.value)


def _ann_assign(frame: Frame, node: cst.AnnAssign) -> None:
    declared = annotation(frame.context, node.annotation.annotation, frame)
    if declared is not None and isinstance(node.target, cst.Name):
        frame.declared[node.target.value] = declared
    if node.value is None:
        if declared is not None:
            frame.assign(node.target, declared, None)
        return
    value = frame.value(node.value)
    if last_name(node.annotation.annotation) == "TypeAlias":
        value = Value(Kind.REFERENCE, ref="typing.TypeAlias", node=node.value)
    frame.assign(node.target, assignment.as_declared(declared, value), node.value)


def _aug_assign(frame: Frame, node: cst.AugAssign) -> None:
    left, right = frame.value(node.target), frame.value(node.value)
    result = operators.arithmetic(frame, node, left, right)
    if left.kind == Kind.CONTAINER and right.kind & Kind.CONTAINER:
        result = containers.concatenated(left, right)
    frame.assign(node.target, result, None)


def _delete(frame: Frame, node: cst.Del) -> None:
    targets = [e.value for e in node.target.elements] if isinstance(node.target, cst.Tuple) else [node.target]
    for target in targets:
        if isinstance(target, cst.Name):
            frame.values[id(target)] = frame.env.get(target.value) or UNKNOWN
            frame.env.unbind(target.value)
        else:
            frame.value(target)


def _return(frame: Frame, node: cst.Return) -> None:
    frame.returns.append(frame.value(node.value) if node.value is not None else NONE)
    frame.dead = True


def _raise(frame: Frame, node: cst.Raise) -> None:
    if node.exc is not None:
        frame.value(node.exc)
    frame.dead = True


def _assert(frame: Frame, node: cst.Assert) -> None:
    frame.value(node.test)
    if node.msg is not None:
        frame.value(node.msg)
    narrowing.narrow(frame, node.test, True)


def _global(frame: Frame, node: cst.Global | cst.Nonlocal) -> None:
    for item in node.names:
        frame.globals.add(item.name.value)


def _import(frame: Frame, node: cst.Import) -> None:
    for alias in node.names:
        name = dotted(alias.name) or ""
        if alias.asname is not None and isinstance(alias.asname.name, cst.Name):
            places.bind(frame, alias.asname.name.value, named(name))
        else:
            places.bind(frame, name.partition(".")[0], named(name.partition(".")[0]))


def _import_from(frame: Frame, node: cst.ImportFrom) -> None:
    module = module_of(frame.context, node)
    if isinstance(node.names, cst.ImportStar):
        stars = frame.context.stars
        stars[:] = [*(each for each in stars if each != module), module]
        return
    for alias in node.names:
        name = dotted(alias.name) or ""
        bound = alias.asname.name if alias.asname is not None else alias.name
        if isinstance(bound, cst.Name):
            places.bind(frame, bound.value, named(f"{module}.{name}"))


def _function_def(frame: Frame, node: cst.FunctionDef) -> None:
    if not frame.context.is_part:  # of other files nobody asks what stands in the head of a function
        _head(frame, node)
    if "overload" not in decorator_names(node):  # those have no body; what they overload follows
        places.bind(frame, node.name.value, Value(Kind.FUNCTION, node=node))


def _head(frame: Frame, node: cst.FunctionDef) -> None:
    for decorator in node.decorators:
        frame.value(decorator.decorator)
    for param in parameters(node):
        if param.default is not None:
            frame.value(param.default)
        if param.annotation is not None:
            _annotation_names(frame, param.annotation.annotation)
    if node.returns is not None:
        _annotation_names(frame, node.returns.annotation)


def _class_def(frame: Frame, node: cst.ClassDef) -> None:
    for decorator in () if frame.context.is_part else node.decorators:
        frame.value(decorator.decorator)
    for arg in (*node.bases, *node.keywords):
        frame.value(arg.value)
    lineages(frame.context).defines(node)
    if not frame.context.is_part:  # there it is left to who asks for it
        frame.trace.bodies[id(node)] = class_body(frame, node)
    places.bind(frame, node.name.value, Value(Kind.FUNCTION, node=node))


def class_body(frame: Frame, node: cst.ClassDef) -> Env:
    """What the statements in a class bind."""
    with frame.inner_scope() as bound:
        control_flow.run_suite(frame, node.body)
    return bound


def _annotation_names(frame: Frame, node: cst.BaseExpression) -> None:
    """Record what the names in an annotation refer to, for rules that look at them."""
    if isinstance(node, (cst.Name, cst.Attribute, cst.Subscript, cst.BinaryOperation, cst.Tuple, cst.List)):
        frame.value(node)


STATEMENTS: Executors = {
    cst.Expr: _expr,
    cst.Assign: _assign,
    cst.AnnAssign: _ann_assign,
    cst.AugAssign: _aug_assign,
    cst.Del: _delete,
    cst.Return: _return,
    cst.Raise: _raise,
    cst.Break: control_flow.jump,
    cst.Continue: control_flow.jump,
    cst.Assert: _assert,
    cst.Global: _global,
    cst.Nonlocal: _global,
    cst.Import: _import,
    cst.ImportFrom: _import_from,
    cst.FunctionDef: _function_def,
    cst.ClassDef: _class_def,
    cst.If: control_flow.if_statement,
    cst.For: control_flow.for_statement,
    cst.While: control_flow.while_statement,
    cst.With: control_flow.with_statement,
    cst.Try: control_flow.try_statement,
    cst.TryStar: control_flow.try_statement,
    cst.Match: control_flow.match_statement,
}
