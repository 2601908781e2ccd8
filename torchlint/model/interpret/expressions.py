"""The values of expressions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import libcst as cst

from torchlint.model.interpret import containers, loaders, structure
from torchlint.model.interpret.special import LIKELY_ELEMENT, Special
from torchlint.model.interpret.state import is_opaque
from torchlint.model.names import MODULE_METHODS
from torchlint.model.syntax import dotted, literal_key, parameters
from torchlint.model.torch import returned
from torchlint.model.torch.returned import Argument
from torchlint.model.values import (
    NDARRAY,
    NUMBER,
    OBJECT,
    STRING,
    UNKNOWN,
    Dtype,
    Evidence,
    Kind,
    Ndim,
    Role,
    Strength,
    Tri,
    Value,
    container,
    held,
    iterated,
    join,
    mapping,
    parameter,
    tensor,
    unknown,
)
from torchlint.system.stack import deeper

if TYPE_CHECKING:
    from torchlint.model import Model

_ANY = cst.Name("_")
_UNARY = {"Minus": "__neg__", "Plus": "__pos__", "BitInvert": "__invert__"}
_OPERATORS = {
    "Add": "add",
    "Subtract": "sub",
    "Multiply": "mul",
    "MatrixMultiply": "matmul",
    "Divide": "truediv",
    "FloorDivide": "floordiv",
    "Modulo": "mod",
    "Power": "pow",
    "BitAnd": "and",
    "BitOr": "or",
    "BitXor": "xor",
    "LeftShift": "lshift",
    "RightShift": "rshift",
}
"""What the methods behind operators are called."""

OPTIMISED = parameter(Evidence(Strength.CONVENTION, "it comes from an optimizer's `param_groups`"))
_SETTINGS: dict[str | int, Value] = dict.fromkeys(("lr", "initial_lr", "weight_decay", "momentum", "eps"), NUMBER)
PARAM_GROUP = mapping(STRING, None, {"params": container(OPTIMISED), **_SETTINGS})


class Expressions(Special):
    """Evaluates every expression but calls."""

    def eval(self, node: cst.CSTNode) -> Value:
        """The value of an expression; remembered."""
        self.budget.used += 1
        handler = _EXPRESSIONS.get(type(node))
        value = handler(self, node) if handler is not None else self._other(node)
        self.values[id(node)] = value
        return value

    def _other(self, node: cst.CSTNode) -> Value:
        return UNKNOWN

    def _name(self, node: cst.Name) -> Value:
        name = node.value
        value = self.env.get(name)
        if value is not None:
            return self._shared(name, value) if self.is_shared(name) else value
        if self.locals is not None and name in self.locals and name not in self.globals:
            return self.unknown(("unbound", id(self.scope), name))
        return self.model.free(name, self)

    def _attribute(self, node: cst.Attribute) -> Value:
        base = self.eval(node.value)
        name = node.attr.value
        path = dotted(node)
        known = self.env.get(path) if path is not None else None
        if known is not None:
            self.use(base, name, node)
            return known
        return self.attribute(base, name, node)

    def attribute(self, base: Value, name: str, node: cst.CSTNode) -> Value:
        """``base.name``."""
        if base.kind & Kind.REFERENCE and base.ref is not None and not base.kind & ~(Kind.REFERENCE | Kind.NONE):
            if base.receiver is not None:
                return unknown(("attribute", id(node)))
            return self.model.named(f"{base.ref}.{name}")
        self.use(base, name, node)
        result = self._tensor_attribute(base, name, node) if base.kind & Kind.TENSOR else None
        others: list[Value] = [result] if result is not None else []
        if base.kind & (Kind.MODULE | Kind.OBJECT):
            others.append(self._member(base, name, node))
        if base.kind & Kind.OPTIMIZER:
            others.append(self._optimizer_attribute(base, name))
        if (
            base.kind & (Kind.NDARRAY | Kind.CONTAINER | Kind.PACKED | Kind.LOADER | Kind.STRING | Kind.NUMBER)
            and not others
        ):
            others.append(self._plain_attribute(base, name, node))
        if base.kind & Kind.FUNCTION and isinstance(base.node, cst.ClassDef) and name == "apply":
            if self.model.class_kind(base.node) == "function":
                return Value(Kind.REFERENCE, ref="torch.autograd.Function.apply")
        if base.kind & Kind.FUNCTION and isinstance(base.node, cst.ClassDef):
            others.append(self.model.class_attribute(base.node, name, self, base))
        if base.kind & Kind.UNKNOWN and not others:
            others.append(self._unknown_attribute(base, name, node))
        if not others:
            return unknown(("attribute", id(node)))
        value = others[0]
        for other in others[1:]:
            value = join(value, other)
        return value

    def _tensor_attribute(self, base: Value, name: str, node: cst.CSTNode) -> Value | None:
        if name == "grad":
            gradient = tensor(self._grad_of_gradient(node), base.ndim, base.dtype, role=Role.GRADIENT)
            return gradient.because(Strength.SIGNATURE, "`.grad` of a tensor", node)
        if name == "data":
            role = base.role if base.role == Role.GRADIENT else Role.PLAIN
            return replace(tensor(Tri.NO, base.ndim, base.dtype, role=role), evidence=base.evidence)
        data = returned.data()
        if name in data["methods"]:
            return Value(Kind.REFERENCE, ref=f"torch.Tensor.{name}", receiver=base)
        if name in data["attributes"]:
            evidence = Evidence(Strength.SIGNATURE, f"`.{name}` of a tensor", node)
            return returned.apply(data["attributes"][name], base, (), self.grad, evidence)
        return None

    def _grad_of_gradient(self, node: cst.CSTNode) -> int:
        """A gradient carries no graph, but where ``backward(create_graph=True)`` may have run."""
        for call in self.model.remember(_keeping_graph):
            scope = self.model.scopes.scope_of(call)
            if self.scope is not self.tree.module or scope is not self.tree.module:
                return Tri.MAYBE
            before = self.tree.order(call) < self.tree.order(node)
            loops = [up for up in self.tree.ancestors(call) if isinstance(up, (cst.For, cst.While))]
            if before or any(self.model.is_inside(node, loop) for loop in loops):
                return Tri.MAYBE
        return Tri.NO

    def _member(self, base: Value, name: str, node: cst.CSTNode) -> Value:
        if isinstance(base.node, cst.ClassDef):
            found = self.model.class_attribute(base.node, name, self, base)
            if found is not None and found.kind != Kind.UNKNOWN:
                return found
        if base.kind & Kind.MODULE:
            member = self._module_attribute(base, name, node)
            if member is not None:
                return member
        if base.ref is not None and base.ref.startswith("torch.distributions."):
            return self._distribution_attribute(base, name, node)
        if name == "_replace" and base.items is not None:
            return Value(Kind.REFERENCE, ref="<plain>._replace", receiver=base)
        if isinstance(base.node, cst.ClassDef):
            return self._self_unknown(base.node, name, node)
        if base.kind & Kind.MODULE or base.ref is not None:
            return self.unknown(("member", id(node)))
        return Value(Kind.OBJECT)

    def _distribution_attribute(self, base: Value, name: str, node: cst.CSTNode) -> Value:
        if returned.is_distribution_attribute(name):
            grad, dtype = returned.distribution_grad(base, name), returned.distribution_dtype(base, name)
            return tensor(grad, dtype=dtype).because(Strength.SIGNATURE, "a statistic of a distribution", node)
        return Value(Kind.REFERENCE, ref=f"torch.distributions.Distribution.{name}", receiver=base)

    def _self_unknown(self, cls: cst.ClassDef, name: str, node: cst.CSTNode) -> Value:
        """An attribute of this class that nothing is known of: what the whole class does with it may tell."""
        evidence = self.model.class_use(cls, name)
        if evidence is not None:
            return tensor(evidence=evidence)
        return self.unknown(("self", id(cls), name))

    def _module_attribute(self, base: Value, name: str, node: cst.CSTNode) -> Value | None:
        if base.ref is not None:
            evidence = Evidence(Strength.SIGNATURE, f"`{name}` is a parameter or buffer of `{base.ref}`", node)
            found = returned.member(returned.module_info(base.ref), name, evidence)
            if found is not None:
                return found
        if (part := structure.attribute(base, name)) is not None:
            return part
        if structure.is_number(name) and (base.ref is not None or name == "training"):
            return NUMBER
        if name in ("forward", "__call__"):
            return base
        if name in MODULE_METHODS:
            return Value(Kind.REFERENCE, ref=f"torch.nn.Module.{name}", receiver=base)
        if name in ("weight", "bias", "weight_hh_l0", "weight_ih_l0", "in_proj_weight"):
            evidence = Evidence(Strength.CONVENTION, f"`{name}` of a module", node)
            return self.likely(parameter(evidence), ("member", id(node)))
        return None

    def _optimizer_attribute(self, base: Value, name: str) -> Value:
        if name == "param_groups":
            return container(PARAM_GROUP)
        if isinstance(base.node, cst.ClassDef):
            return self.model.class_attribute(base.node, name, self, base) or UNKNOWN
        return Value(Kind.REFERENCE, ref="<optimizer>.step", receiver=base) if name == "step" else OBJECT

    def _plain_attribute(self, base: Value, name: str, node: cst.CSTNode) -> Value:
        if base.kind & Kind.PACKED and name in ("data", "batch_sizes"):
            evidence = Evidence(Strength.SIGNATURE, f"`.{name}` of a PackedSequence", node)
            if name == "batch_sizes":
                return tensor(Tri.NO, Ndim.MORE, Dtype.INT, evidence=evidence)
            return tensor(base.grad or Tri.MAYBE, Ndim.MORE, base.dtype or Dtype.ANY, evidence=evidence)
        if base.kind & Kind.PACKED and name in ("is_cuda", "is_pinned"):
            return NUMBER
        if base.kind & Kind.CONTAINER and base.keys is not None and name in base.keys.known:
            return base.keys.known[name]
        field = returned.field_named(base, name)
        if field is not None:
            return field
        if base.kind == Kind.LOADER and name in ("batch_size", "num_workers", "prefetch_factor"):
            return NUMBER
        return Value(Kind.REFERENCE, ref=f"<plain>.{name}", receiver=base)

    def _unknown_attribute(self, base: Value, name: str, node: cst.CSTNode) -> Value:
        if name == "param_groups":
            return container(PARAM_GROUP)
        if name in ("weight", "bias"):
            value = parameter(Evidence(Strength.NAME, f"it is called `{name}`", node))
            key = base.symbols[:1]
            return self.likely(value, ("attr", *key, name) if key and len(key[0]) < 8 else ("attribute", id(node)))
        if name == "grad" and base.symbols:
            value = tensor(self._grad_of_gradient(node), role=Role.GRADIENT).because(
                Strength.CONVENTION, "`.grad` of something", node
            )
            return self.likely(value, ("attr", *base.symbols[:1], name))
        if base.symbols:
            symbols = [("attr", symbol, name) for symbol in base.symbols[:2] if len(symbol) < 8]
            value = self._resolve(unknown(*symbols)) if symbols else unknown(("attribute", id(node)))
        else:
            value = self.unknown(("attribute", id(node)))
        return replace(value, receiver=base, ref=f"?.{name}")

    def _subscript(self, node: cst.Subscript) -> Value:
        base = self.eval(node.value)
        self._slices(node)
        path = dotted(node.value)
        index = node.slice[0].slice if len(node.slice) == 1 else None
        literal = literal_key(index.value) if isinstance(index, cst.Index) else None
        if isinstance(index, cst.Index) and isinstance(index.value, cst.SimpleString) and base.items is None:
            if index.value.raw_value == "params" and (path or "").endswith("group"):
                return container(OPTIMISED)
        if isinstance(literal, str) and base.kind & Kind.UNKNOWN:
            if (item := self._item_by_name(base, literal)) is not None:
                return item
        if base.kind & Kind.TENSOR:
            return self.element(base, node)
        if base.kind & Kind.CONTAINER:
            if isinstance(index, cst.Slice):
                return container(iterated(base))
            item = containers.at(base, literal)
            return self._resolve(item) if item is not None else self.unknown(("item", id(node)))
        if base.kind == Kind.NDARRAY:
            return replace(NDARRAY, kind=Kind.NDARRAY | Kind.NUMBER)
        if base.kind == Kind.PACKED and literal in (0, 1):
            return self._plain_attribute(base, ("data", "batch_sizes")[literal], node)
        if is_opaque(base) or base.kind == Kind.STRING:
            return base
        if base.kind == Kind.OBJECT and (item := self._item_of(base, literal, node)) is not None:
            return item
        if base.kind & Kind.MODULE:
            if isinstance(index, cst.Slice):
                return replace(base, item=held(base), items=None, keys=None)
            return containers.at(base, literal) or structure.element(base) or self.likely_module(node)
        if base.kind & Kind.REFERENCE:
            return replace(base, node=node) if base.kind == Kind.REFERENCE else base
        if loaders.is_batch(base):
            origin = base.symbols[0] if base.symbols else ("item", id(node))
            return self.likely(loaders.part_of_batch(), ("attr", origin, f"[{literal!r}]"))
        if base.symbols:
            key = f"[{literal!r}]" if literal is not None else "[]"
            return self._resolve(unknown(*[("attr", s, key) for s in base.symbols[:1] if len(s) < 8]))
        return self.unknown(("item", id(node)))

    def _item_by_name(self, base: Value, name: str) -> Value | None:
        """``x["boxes"]``: ``x`` is no tensor, but what is in an element of an argument of ``forward`` may be one."""
        self.reject(base.symbols)
        for symbol in base.symbols:
            if symbol[0] == LIKELY_ELEMENT:
                evidence = Evidence(Strength.CONVENTION, "it comes from an argument of `forward`")
                return self.likely(tensor(evidence=evidence), ("attr", symbol, name))
        return None

    def _item_of(self, base: Value, key: containers.Key, node: cst.Subscript) -> Value | None:
        """What an object of a class of this project gives when it is indexed."""
        if base.items is not None or base.item is not None:  # a named tuple, a data set
            return containers.at(base, key)
        index = [self.values.get(id(e.slice.value), UNKNOWN) for e in node.slice if isinstance(e.slice, cst.Index)]
        own = self.by_method(base, "getitem", node, index[:1] if len(node.slice) == 1 else ())
        return own if own is not None or base.node is None else self.unknown(("item", id(node)))

    def _slices(self, node: cst.Subscript) -> None:
        for element in node.slice:
            match element.slice:
                case cst.Index(value=value):
                    self.eval(value)
                case cst.Slice(lower=lower, upper=upper, step=step):
                    for part in (lower, upper, step):
                        if part is not None:
                            self.eval(part)

    def _binary(self, node: cst.BinaryOperation) -> Value:
        return self.arithmetic(node, self.eval(node.left), self.eval(node.right))

    def arithmetic(self, node: cst.CSTNode, left: Value, right: Value) -> Value:
        """A binary operation of two values."""
        if Kind.STRING in (left.kind, right.kind):
            return STRING
        if (own := self.by_operator(node, left, right)) is not None:
            return own
        tensors = [v for v in (left, right) if v.kind & Kind.TENSOR]
        if tensors:
            certain = [v for v in tensors if not v.kind & Kind.UNKNOWN]
            best = max(certain or tensors, key=lambda v: v.evidence.strength if v.evidence else 0)
            evidence = best.evidence or Evidence(Strength.USE, "arithmetic with a tensor", node)
            value = self._operation(node, left, right, evidence)
            if not certain:
                return self.likely(value, ("result", id(node)))
            return value
        if Kind.NDARRAY in (left.kind, right.kind):
            return NDARRAY
        if left.kind & Kind.CONTAINER and right.kind & Kind.CONTAINER:
            return join(left, right)
        if left.kind == Kind.CONTAINER and right.kind == Kind.NUMBER:
            return container(iterated(left))
        if left.kind == Kind.NUMBER and right.kind == Kind.NUMBER:
            return NUMBER
        if is_opaque(left) and (is_opaque(right) or right.kind == Kind.NUMBER):
            return OBJECT
        return self.unknown(("result", id(node)))

    def _operation(self, node: cst.CSTNode, left: Value, right: Value, evidence: Evidence) -> Value:
        """What torch does for a binary operator; the augmented ones write to a tensor on their left."""
        match node:
            case cst.BinaryOperation(left=a, operator=operator, right=b):
                name = type(operator).__name__
            case cst.AugAssign(target=a, operator=operator, value=b):
                name = type(operator).__name__.removesuffix("Assign")
            case _:
                return returned.apply({"k": "tensor"}, left, [Argument(None, right, _ANY)], self.grad, evidence)
        operators = returned.data()["operators"]
        method = _OPERATORS[name]
        if isinstance(node, cst.AugAssign) and left.kind == Kind.TENSOR and name != "MatrixMultiply":
            result = operators.get(f"__i{method}__", {"k": "tensor", "ndim": "keep", "self": True})
            return returned.apply(result, left, [Argument(None, right, b)], self.grad, evidence)
        operands = [Argument(None, left, a), Argument(None, right, b)]
        return returned.apply(operators[f"__{method}__"], None, operands, self.grad, evidence)

    def write_through(self, node: cst.BaseExpression, flows: int) -> None:
        """``c[1:].add_(w)``: what is written to a view is written to its base."""
        is_view = False
        while (base := self.env.get(dotted(node) or "")) is None:
            match node:
                case cst.Subscript(value=inner):
                    node = inner
                case cst.Call(func=cst.Attribute(value=inner, attr=cst.Name(name))) if returned.is_view(name):
                    node = inner
                case cst.Attribute(value=inner, attr=cst.Name("T" | "mT" | "H" | "mH" | "real" | "imag")):
                    node = inner
                case _:
                    return
            is_view = True
        if is_view and base.kind & Kind.TENSOR:
            written = returned.written(base, {}, flows, base.ndim, self.grad)
            self.refine(node, replace(written, kind=base.kind))

    def _comparison(self, node: cst.Comparison) -> Value:
        values = [self.eval(node.left), *(self.eval(t.comparator) for t in node.comparisons)]
        identity = (cst.Is, cst.IsNot, cst.In, cst.NotIn)
        if any(isinstance(t.operator, identity) for t in node.comparisons):
            return NUMBER
        if any(v.kind & Kind.TENSOR and not v.kind & Kind.UNKNOWN for v in values):
            evidence = Evidence(Strength.SIGNATURE, "a comparison of tensors", node)
            return tensor(Tri.NO, returned.broadcast(values), Dtype.BOOL, evidence=evidence)
        if any(v.kind & Kind.NDARRAY for v in values):
            return NDARRAY
        if any(v.kind & Kind.UNKNOWN for v in values):
            return self.unknown(("result", id(node)))
        return NUMBER

    def _unary(self, node: cst.UnaryOperation) -> Value:
        value = self.eval(node.expression)
        if isinstance(node.operator, cst.Not):
            return NUMBER
        if (own := self.by_sign(node, value)) is not None:
            return own
        if value.kind & Kind.TENSOR:
            evidence = value.evidence or Evidence(Strength.USE, "arithmetic with a tensor", node)
            operator = returned.data()["operators"][_UNARY[type(node.operator).__name__]]
            result = returned.apply(operator, value, (), self.grad, evidence)
            return self.likely(result, ("result", id(node))) if value.kind & Kind.UNKNOWN else result
        return self.unknown(("result", id(node))) if value.kind & Kind.UNKNOWN else value

    def _boolean(self, node: cst.BooleanOperation) -> Value:
        left = self.eval(node.left)
        before = self.env
        self.env = before.branch()
        self.narrow(node.left, isinstance(node.operator, cst.And))
        right = self.eval(node.right)
        self.env = before
        if isinstance(node.operator, cst.Or) and left.kind & Kind.NONE and left.kind != Kind.NONE:
            left = replace(left, kind=left.kind & ~Kind.NONE)
        return join(left, right)

    def _if_exp(self, node: cst.IfExp) -> Value:
        self.eval(node.test)
        before = self.env
        values, ends = [], []
        for part, holds in ((node.body, True), (node.orelse, False)):
            self.env = before.branch()
            self.narrow(node.test, holds)
            narrowed = self.env
            self.env = narrowed.branch()
            values.append(self.eval(part))
            ends.append(self.env.changes(narrowed))  # `x.requires_grad_() if x.is_leaf else x`
        self.env = before
        if any(ends):
            before.meet(ends)
        return join(values[0], values[1])

    def _sequence(self, node: cst.Tuple | cst.List | cst.Set) -> Value:
        values, starred = [], False
        for element in node.elements:
            value = self.eval(element.value)
            if not isinstance(element, cst.StarredElement):
                values.append(value)
            elif value.items is not None:
                values += value.items
            else:
                starred = True
                values.append(self.iterate(value, element.value))
        if isinstance(node, cst.Tuple) and not starred:
            return container(items=tuple(values))
        if not values:
            return container(items=()) if isinstance(node, cst.List) else container()
        item = values[0]
        for value in values[1:]:
            item = join(item, value)
        if len(values) <= containers.MAX_ITEMS and not starred and isinstance(node, cst.List):
            return container(items=tuple(values))
        return container(item)

    def _dict(self, node: cst.Dict) -> Value:
        result = containers.literal({})
        for element in node.elements:
            if isinstance(element, cst.DictElement):
                each, value = self.eval(element.key), self.eval(element.value)
                result = containers.put(result, literal_key(element.key), each, value)
            else:
                more = self.eval(element.value)
                result = containers.merged(result, more if more.kind & Kind.CONTAINER else mapping(UNKNOWN, UNKNOWN))
        return result

    def _named_expr(self, node: cst.NamedExpr) -> Value:
        value = self.eval(node.value)
        self.assign(node.target, value, node.value)
        return value

    def _comprehension(self, node: cst.ListComp | cst.SetComp | cst.GeneratorExp) -> Value:
        outer, bindings = self.env, self.bindings
        self.env, self.bindings = outer.branch(), {}
        self._comp_for(node.for_in)
        item = self.eval(node.elt)
        self.env, self.bindings = outer, bindings
        return container(item)

    def _dict_comprehension(self, node: cst.DictComp) -> Value:
        outer, bindings = self.env, self.bindings
        self.env, self.bindings = outer.branch(), {}
        self._comp_for(node.for_in)
        key = self.eval(node.key)
        item = self.eval(node.value)
        self.env, self.bindings = outer, bindings
        return mapping(key, item)

    def _comp_for(self, node: cst.CompFor) -> None:
        iterable = self.eval(node.iter)
        self.assign(node.target, self.iterate(iterable, node.iter), None)
        for condition in node.ifs:
            self.eval(condition.test)
            self.narrow(condition.test, True)
        if node.inner_for_in is not None:
            self._comp_for(node.inner_for_in)

    def _lambda(self, node: cst.Lambda) -> Value:
        call = self.tree.parent(node)
        if not isinstance(call, cst.Call) or call.func is not node:  # then its body is seen with what it is given
            self.lambda_body(node, ())
        return Value(Kind.FUNCTION, node=node)

    def lambda_body(self, node: cst.Lambda, given: Sequence[Value]) -> Value:
        """The value of a lambda's body for the given arguments; nothing is known of a lambda that calls itself."""
        now = self.model.codebase.interpretation
        if not self.budget.allows() or not now.begins(node):
            return UNKNOWN
        outer, bindings = self.env, self.bindings
        self.env, self.bindings = outer.branch(), {}
        for index, param in enumerate(parameters(node)):
            if param.default is not None:
                self.eval(param.default)
            value = given[index] if index < len(given) else self.unknown(("param", id(node), param.name.value))
            self.assign(param.name, value, None)
        value = deeper(lambda: self.eval(node.body))
        self.env, self.bindings = outer, bindings
        now.ends(node)
        return value

    def _await(self, node: cst.Await) -> Value:
        return self.eval(node.expression)

    def _yield(self, node: cst.Yield) -> Value:
        if isinstance(node.value, cst.From):
            value = self.eval(node.value.item)
            self.returns.append(container(iterated(value)))
        elif node.value is not None:
            self.returns.append(container(self.eval(node.value)))
        return UNKNOWN

    def _formatted(self, node: cst.FormattedString) -> Value:
        for part in node.parts:
            if isinstance(part, cst.FormattedStringExpression):
                self.eval(part.expression)
                for inner in part.format_spec or ():
                    if isinstance(inner, cst.FormattedStringExpression):
                        self.eval(inner.expression)
        return STRING

    def _concatenated(self, node: cst.ConcatenatedString) -> Value:
        self.eval(node.left)
        self.eval(node.right)
        return STRING


def _keeping_graph(model: Model) -> list[cst.CSTNode]:
    """All calls of ``backward`` in a file that may keep the graph of the gradients."""
    calls = [model.tree.parent(node) for node in model.scopes.calls("backward")]
    return [c for c in calls if isinstance(c, cst.Call) and _may_keep_graph(c)]


def _may_keep_graph(call: cst.Call) -> bool:
    for at, arg in enumerate(call.args):
        if arg.star or (arg.keyword is None and at > 1) or (arg.keyword and arg.keyword.value == "create_graph"):
            return returned.literal_bool(arg.value) is not False
    return False


_EXPRESSIONS: dict[type[cst.CSTNode], Callable[[Expressions, cst.CSTNode], Value]] = {
    cst.Name: Expressions._name,  # type: ignore[dict-item]
    cst.Attribute: Expressions._attribute,  # type: ignore[dict-item]
    cst.Subscript: Expressions._subscript,  # type: ignore[dict-item]
    cst.Call: lambda self, node: self.call_expression(node),  # type: ignore[arg-type]
    cst.BinaryOperation: Expressions._binary,  # type: ignore[dict-item]
    cst.UnaryOperation: Expressions._unary,  # type: ignore[dict-item]
    cst.BooleanOperation: Expressions._boolean,  # type: ignore[dict-item]
    cst.Comparison: Expressions._comparison,  # type: ignore[dict-item]
    cst.IfExp: Expressions._if_exp,  # type: ignore[dict-item]
    cst.Tuple: Expressions._sequence,  # type: ignore[dict-item]
    cst.List: Expressions._sequence,  # type: ignore[dict-item]
    cst.Set: Expressions._sequence,  # type: ignore[dict-item]
    cst.Dict: Expressions._dict,  # type: ignore[dict-item]
    cst.NamedExpr: Expressions._named_expr,  # type: ignore[dict-item]
    cst.ListComp: Expressions._comprehension,  # type: ignore[dict-item]
    cst.SetComp: Expressions._comprehension,  # type: ignore[dict-item]
    cst.GeneratorExp: Expressions._comprehension,  # type: ignore[dict-item]
    cst.DictComp: Expressions._dict_comprehension,  # type: ignore[dict-item]
    cst.Lambda: Expressions._lambda,  # type: ignore[dict-item]
    cst.Await: Expressions._await,  # type: ignore[dict-item]
    cst.Yield: Expressions._yield,  # type: ignore[dict-item]
    cst.FormattedString: Expressions._formatted,  # type: ignore[dict-item]
    cst.ConcatenatedString: Expressions._concatenated,  # type: ignore[dict-item]
    cst.Integer: lambda flow, node: NUMBER,
    cst.Float: lambda flow, node: NUMBER,
    cst.Imaginary: lambda flow, node: NUMBER,
    cst.SimpleString: lambda flow, node: STRING,
}
