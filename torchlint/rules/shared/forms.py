"""The shape and dtype of what is written into a tensor, beside those of the tensor."""

from __future__ import annotations

import enum

import libcst as cst

from torchlint.model import Model
from torchlint.model.aliasing.here import only_metadata
from torchlint.model.bindings import bound_value, target_before
from torchlint.model.scopes import target_names
from torchlint.model.syntax import keyword, last_name
from torchlint.model.torch.writers import OF_THE_VIEW, is_writing
from torchlint.rules.shared.arguments import parameter_of

METHODS = {cst.Add: "add_", cst.Subtract: "sub_", cst.Multiply: "mul_", cst.Divide: "div_"}
ELEMENTWISE = frozenset(
    (
        *("abs", "add", "clamp", "clamp_max", "clamp_min", "clone", "detach", "div", "exp", "lerp", "mul", "neg"),
        *("pow", "round", "sign", "sqrt", "sub", "tanh", "sigmoid"),
    )
)
"""What gives a tensor of the shape and dtype of its first argument."""
_FACTORIES = frozenset(("ones", "zeros", "rand", "randn", "empty", "full"))
"""What makes a tensor of a size that it is given first."""


class WrittenForm(enum.Enum):
    """The shape and dtype of an expression."""

    SAME = enum.auto()
    """Those of the tensor that is written, or made for it."""
    OPERAND = enum.auto()
    """What can be computed with it without changing them: numbers, and what is not known."""
    OTHER = enum.auto()


def form(node: cst.BaseExpression, source: cst.BaseExpression, model: Model) -> WrittenForm:
    """The form of an expression beside that of the tensor it is assigned to."""
    if is_same(node, source, model):
        return WrittenForm.SAME
    match node:
        case cst.BinaryOperation(left=left, operator=operator, right=right) if type(operator) in METHODS:
            return _together(form(left, source, model), form(right, source, model))
        case cst.UnaryOperation(operator=cst.Minus(), expression=inner):
            return form(inner, source, model)
        case cst.Attribute(value=cst.Attribute(attr=cst.Name("grad")) as inner, attr=cst.Name("data")):
            return form(inner, source, model)
        case cst.Attribute(value=inner, attr=cst.Name("data" | "grad")):
            if not model.value(inner).may_be_tensor:
                return WrittenForm.OTHER
            return WrittenForm.SAME if _is_like(inner, source, model) else WrittenForm.OPERAND
        case cst.Call(func=func, args=args):
            if not _keeps_form(node, source, model):
                return WrittenForm.OTHER
            if is_made_by_function(node, source, model):
                return WrittenForm.SAME
            return _of_call(func, [arg.value for arg in args], source, model)
        case cst.Name() | cst.Attribute() | cst.Integer() | cst.Float():
            is_known = model.value(node).is_tensor
            return WrittenForm.OPERAND if not is_known or isinstance(node, cst.Name) else WrittenForm.OTHER
    return WrittenForm.OTHER


def _is_like(node: cst.BaseExpression, source: cst.BaseExpression, model: Model) -> bool:
    """Whether two tensors are taken for such of one shape: by one loop, or under one name of two modules."""
    if is_same(node, source, model):
        return True
    match node, source:
        case cst.Name(value=name), cst.Name(value=other):
            loop = model.tree.enclosing(source, cst.For)
            return isinstance(loop, cst.For) and {name, other} <= set(target_names(loop.target))
        case cst.Attribute(attr=cst.Name(value=name)), cst.Attribute(attr=cst.Name(value=other)):
            return name == other
        case cst.Subscript(), cst.Subscript():
            return list(map(model.tree.code, node.slice)) == list(map(model.tree.code, source.slice))
    return False


def _of_call(
    func: cst.BaseExpression, args: list[cst.BaseExpression], source: cst.BaseExpression, model: Model
) -> WrittenForm:
    ref = model.qualified(func) or ""
    module, _, name = ref.rpartition(".")
    if module == "torch":
        if name in _FACTORIES:
            return WrittenForm.SAME if args and _is_size(args[0], source, model) else WrittenForm.OTHER
        if name.endswith("_like"):
            return form(args[0], source, model) if args else WrittenForm.OTHER
    elif isinstance(func, cst.Attribute) and not ref:
        name, args = func.attr.value, [func.value, *args]
        if name in ("expand", "expand_as") and len(args) == len(_EXPANDED):
            return _expanded(args[1], source, model)
    if name not in ELEMENTWISE or not args:
        return WrittenForm.OPERAND if not ref and isinstance(func, cst.Name) else WrittenForm.OTHER
    forms = [form(arg, source, model) for arg in args]
    return forms[0] if WrittenForm.OTHER not in forms else WrittenForm.OTHER


_EXPANDED = ("self", "size")


def _expanded(size: cst.BaseExpression, source: cst.BaseExpression, model: Model) -> WrittenForm:
    """The form of what is expanded to a size, by a name of it perhaps, or like a tensor: ``m.expand(p.size())``."""
    if isinstance(size, cst.Name) and (target := model.ask(target_before, size)) is not None:
        size = bound_value(target, model.tree) or size
    is_like = _is_size(size, source, model) or is_same(size, source, model)
    return WrittenForm.SAME if is_like else WrittenForm.OTHER


def _is_size(node: cst.BaseExpression, source: cst.BaseExpression, model: Model) -> bool:
    """Whether an expression is the size of a tensor: `p.shape`, `p.size()`."""
    match node:
        case cst.Attribute(value=inner, attr=cst.Name("shape")):
            return is_same(inner, source, model)
        case cst.Call(func=cst.Attribute(value=inner, attr=cst.Name("size")), args=[]):
            return is_same(inner, source, model)
    return False


def _keeps_form(call: cst.Call, source: cst.BaseExpression, model: Model) -> bool:
    """Whether a call is given no dtype but that of a tensor, and no size beside a whole one: `torch.zeros(*s, 3)`."""
    if any(arg.star for arg in call.args) and sum(arg.keyword is None for arg in call.args) > 1:
        return False
    if keyword(call.args, "out") is not None:  # something else is written to as well
        return False
    given = keyword(call.args, "dtype")
    if given is None:
        return True
    match given.value:
        case cst.Attribute(value=inner, attr=cst.Name("dtype")):
            return is_same(inner, source, model)
    return False


def _together(left: WrittenForm, right: WrittenForm) -> WrittenForm:
    if WrittenForm.OTHER in (left, right):
        return WrittenForm.OTHER
    return WrittenForm.SAME if WrittenForm.SAME in (left, right) else WrittenForm.OPERAND


def is_same(node: cst.BaseExpression, source: cst.BaseExpression, model: Model) -> bool:
    """Whether an expression is a tensor, or what is read of it."""
    match node:
        case cst.Attribute(value=inner, attr=cst.Name("data")):
            node = inner
        case cst.Call(func=cst.Attribute(value=inner, attr=cst.Name("detach")), args=[]):
            node = inner
    return model.tree.code(node) == model.tree.code(source)


# ---------------------------------------------------------------------- functions that make a tensor


def is_made_by_function(call: cst.Call, source: cst.BaseExpression, model: Model) -> bool:
    """Whether a function of the project makes a tensor of the form of one that it is given, and that nobody keeps."""
    given = [arg for arg in call.args if is_same(arg.value, source, model)]
    found = parameter_of(call, given[0], model) if len(given) == 1 else None
    return found is not None and model.home(found[0]).remember(_makes_one_like, *found)


def _makes_one_like(model: Model, function: cst.FunctionDef, name: str) -> bool:
    """Whether a function, step by step, makes a tensor of the form of a parameter, writes to it and returns it."""
    pattern = cst.Name(name)
    if function.decorators or function.asynchronous is not None or not isinstance(function.body, cst.IndentedBlock):
        return False
    made: cst.Name | None = None
    for line in function.body.body:
        match line:
            case cst.SimpleStatementLine(body=[cst.Expr(value=cst.SimpleString())]):
                continue
            case cst.SimpleStatementLine(body=[cst.Return(value=value)]) if value is not None:
                if made is not None and is_same(value, made, model):
                    return isinstance(value, cst.Name)
                return _is_new(value) and form(value, pattern, model) is WrittenForm.SAME
            case cst.SimpleStatementLine(
                body=[cst.Assign(targets=[cst.AssignTarget(target=cst.Name() as target)], value=value)]
            ) if target.value != name and _is_new(value):
                if form(value, pattern, model) is WrittenForm.SAME:
                    made = target
                elif made is not None and _is_kept(made, value, model):
                    return False
            case cst.SimpleStatementLine(body=[small]) if made is not None and _writes_to(made, small, model):
                continue
            case _:
                return False
    return False


def _is_new(value: cst.BaseExpression) -> bool:
    """Whether an expression is computed: `out.detach()` is not."""
    is_call = isinstance(value, cst.Call) and last_name(value.func) != "detach"
    return is_call or isinstance(value, cst.BinaryOperation)


def _is_kept(made: cst.Name, value: cst.BaseExpression, model: Model) -> bool:
    """Whether a name may stand for what was made, or for a part of its memory: only its metadata is no part of it."""
    uses = [each for each in model.tree.within(value, cst.Name) if each.value == made.value]
    return not all(model.ask(only_metadata, use) for use in uses)


def _writes_to(made: cst.Name, small: cst.BaseSmallStatement, model: Model) -> bool:
    """Whether a statement does nothing but to write to what was made: `out *= 2`, `out.normal_()`."""
    match small:
        case cst.AugAssign(target=cst.Name(value=name)):
            return name == made.value
        case cst.Expr(value=cst.Call(func=cst.Attribute(value=cst.Name(value=owner), attr=cst.Name(value=method)))):
            return owner == made.value and is_writing(method) and method not in OF_THE_VIEW
    return False
