"""What a `.data` site is, so that exactly one rule speaks of it. Shared by the rules about `.data`."""

from __future__ import annotations

import enum
import re
from collections.abc import Iterator, Sequence

import libcst as cst

from torchlint.model import Evidence, Kind, Model, Ndim, Role, Strength, Tri, Usage, Value
from torchlint.model.names import HOLDER_NAME
from torchlint.model.torch import library
from torchlint.model.torch.schema import TensorResult, may_alias
from torchlint.model.torch.schema import is_new as makes_new
from torchlint.rules.shared import several

OF_THE_VIEW = frozenset(
    [
        "t_",
        "transpose_",
        "unsqueeze_",
        "squeeze_",
        "swapaxes_",
        "swapdims_",
        "as_strided_",
        "resize_",
        "resize_as_",
        "set_",
        "rename_",
        "detach_",
    ]
)
"""In-place operations on shape or storage: on `.data` they change a view that is thrown away, never the receiver."""

TRANSFERS = frozenset(("cpu", "cuda", "to"))
READERS = frozenset(("item", "tolist"))
READING = (Usage.READ, Usage.SAVED)

_LEAF_NAME = re.compile(r"(^|_)(weight|bias|grad|param|parameter)$|loss", re.IGNORECASE)
_VAGUE_NAME = re.compile(
    r"batch|(^|_)(data|sequence|seq|res|reader|record|row|samples?|container|obj|item|store|results?)$", re.IGNORECASE
)
"""Names that say nothing: a convention or a name is no evidence then, use is."""
_SCALAR_NAME = re.compile(
    r"loss|err(or)?(_|\d|$)|cost|(^|_)(acc|accuracy|prec\d?|top\d|norm|nll|kld?|kl|bce|mse|mae|ppl|perplexity|elbo|reward|"
    r"score|dist|entropy|correct|penalty|iou|dice|auc|psnr|ssim|correct|d_x|d_g_z\d?|total|objective|value)(\d|_|$)",
    re.IGNORECASE,
)

_INIT_FUNCTION = re.compile(r"init|reset_param", re.IGNORECASE)
_PARAMETER_NAME = re.compile(r"(^|_)(weight|bias)(_|$)|^param(eter)?$", re.IGNORECASE)


_WITHOUT_DATA = Kind.TENSOR | Kind.UNKNOWN | Kind.NUMBER | Kind.NONE | Kind.STRING | Kind.CONTAINER
"""What has no `.data`, beside tensors and what is not known: a list or None on another path speaks against nothing."""


class Site(enum.Enum):
    """Who speaks of a `.data`."""

    READ = "TL101"
    INPLACE = "TL102"
    ASSIGN = "TL103"
    TRANSFER = "TL105"
    REDUNDANT = "TL106"
    SCALAR = "TL203"


def last_name(node: cst.CSTNode) -> str:
    """The name an expression ends with: ``loss`` of ``self.loss``, ``f`` of ``m.f(x)``, ``xs`` of ``xs[0]``."""
    while True:
        match node:
            case cst.Name(value=name):
                return name
            case cst.Attribute(attr=cst.Name(value=name)):
                return name
            case cst.Call(func=inner) | cst.Subscript(value=inner) | cst.UnaryOperation(expression=inner):
                node = inner
            case _:
                return ""


def receiver(node: cst.Attribute, model: Model) -> tuple[Value, Evidence] | None:
    """The value left of `.data` and the evidence for it, if it is believed to be a tensor."""
    value = model.value(node.value)
    if value.kind & ~_WITHOUT_DATA or (value.kind & Kind.CONTAINER and value.keys is not None):
        return None
    name = last_name(node.value)
    if value.is_tensor:
        evidence = value.evidence or Evidence(Strength.USE, "it is used as a tensor", node.value)
        return value, evidence
    if value.kind & Kind.CONTAINER and not value.kind & (Kind.TENSOR | Kind.UNKNOWN):
        return None
    if value.kind & Kind.TENSOR:
        evidence = value.evidence or Evidence(Strength.USE, "it is a tensor on one path", node.value)
        if evidence.strength <= Strength.CONVENTION and HOLDER_NAME.search(name):
            return None
        if evidence.strength == Strength.NAME and model.declares("data"):
            return None
        if evidence.strength <= Strength.CONVENTION and _VAGUE_NAME.search(name):
            used = _used_as_tensor(node, model)
            return (value, used) if used is not None else None
        return value, evidence
    if not value.kind & Kind.UNKNOWN or HOLDER_NAME.search(name):
        return None
    if model.declares("data"):  # a class of this file has such an attribute: its objects could be meant
        return None
    used = _used_as_tensor(node, model)
    if used is not None:
        return value, used
    if _LEAF_NAME.search(name) and not _VAGUE_NAME.search(name) and isinstance(node.value, (cst.Name, cst.Attribute)):
        return value, Evidence(Strength.NAME, f"it is called `{name}`", node.value)
    return None


def is_doubtful(value: Value, evidence: Evidence) -> bool:
    """Whether the evidence for a tensor is too weak for a safe fix.

    A name is, and so is what is done with `.data` of something unknown: its data is a tensor, it may not be.
    """
    return not value.may_be_tensor or (not value.is_tensor and evidence.strength <= Strength.NAME)


def _used_as_tensor(node: cst.Attribute, model: Model) -> Evidence | None:
    """Evidence from what is done with `.data` right here."""
    used = _used_in_chain(node, model)
    if used is not None:
        return used
    at: cst.CSTNode = node
    for method, call in chain(node, model):
        if not isinstance(call, cst.Call) or library.method(method) is None:
            return None
        at = call
    target = model.tree.parent(at)
    match target:
        case cst.AssignTarget() if isinstance(assign := model.tree.parent(target), cst.Assign):
            if model.value(assign.value).is_tensor:
                return Evidence(Strength.USE, "a tensor is assigned to its data", node)
        case cst.Assign(targets=[cst.AssignTarget(target=cst.Attribute(value=other, attr=cst.Name("data")))]):
            if model.value(other).is_tensor:
                return Evidence(Strength.USE, "it is assigned to the data of a tensor", node)
        case cst.Arg() if isinstance(caller := model.tree.parent(target), cst.Call) and target is caller.args[0]:
            ref = model.qualified(caller.func) or ""
            if library.takes_tensor(ref):
                return Evidence(Strength.USE, f"its data is given to `{ref}`", node)
            if isinstance(caller.func, cst.Attribute) and caller.func.attr.value == "copy_":
                return Evidence(Strength.USE, "it is copied into a tensor", node)
    return None


def _is_of_no_tensor(method: str, node: cst.CSTNode) -> bool:
    """Whether `.data` is used as no tensor can be: ``x.data.edge_index``, ``x.data["paper"]``."""
    match node:
        case cst.Attribute():
            return method not in library.tensor_names()
        case cst.Subscript(slice=[cst.SubscriptElement(slice=cst.Index(value=cst.SimpleString()))]):
            return True
    return False


def _used_in_chain(node: cst.Attribute, model: Model) -> Evidence | None:
    """Evidence from the methods that are called on `.data` in the same expression."""
    whole = True
    for method, call in chain(node, model):
        if _is_of_no_tensor(method, call):
            return None
        if _has_ellipsis(call) and model.tree.parent(node) is call and model.is_target(call):
            return Evidence(Strength.USE, "`[...]` of its data is assigned to", node)
        whole = whole and isinstance(call, cst.Call)
        if not isinstance(call, cst.Call) or method not in library.tensor_only():
            continue
        if is_inplace(method) or whole:  # what is read from an element says nothing of the whole
            return Evidence(Strength.USE, f"`.{method}` is called on its data, which only tensors have", node)
    return None


def _has_ellipsis(node: cst.CSTNode) -> bool:
    match node:
        case cst.Subscript(slice=elements):
            return any(isinstance(getattr(e.slice, "value", None), cst.Ellipsis) for e in elements)
    return False


def chain(node: cst.CSTNode, model: Model) -> Iterator[tuple[str, cst.CSTNode]]:
    """What is done to the value of ``node`` in the same expression: ``(method, call)``, ``("[]", subscript)``."""
    tree = model.tree
    while True:
        parent = tree.parent(node)
        match parent:
            case cst.Attribute(attr=cst.Name(value=name)):
                call = tree.parent(parent)
                node = call if isinstance(call, cst.Call) and call.func is parent else parent
                yield name, node
            case cst.Subscript() if parent.value is node:
                yield "[]", parent
                node = parent
            case _:
                return


def is_inplace(name: str) -> bool:
    """Whether a method of that name writes to its tensor."""
    return name.endswith("_") and not name.endswith("__") and name not in ("requires_grad_", "share_memory_")


def written(node: cst.Attribute, model: Model) -> cst.CSTNode | None:
    """The node that writes through `.data` in its own expression: an in-place call, a target; None if nothing does."""
    tree = model.tree
    at: cst.CSTNode = node
    for name, outer in chain(node, model):
        if isinstance(outer, cst.Call) and is_inplace(name):
            return outer
        if name != "[]" and not aliases(name, outer):
            return None
        at = outer
    parent = tree.parent(at)
    match parent:
        case cst.AssignTarget() | cst.Del() if at is not node:
            return parent
        case cst.AugAssign() if parent.target is at:
            return parent
        case cst.For() | cst.AnnAssign() if parent.target is at and at is not node:
            return parent
        case cst.Arg(keyword=cst.Name("out")):
            return parent
    return None


def aliases(name: str, node: cst.CSTNode) -> bool:
    """Whether an attribute or call of that name gives a view of the same memory."""
    if isinstance(node, cst.Attribute):
        return name in ("data", "T", "mT", "real", "imag")
    result = library.method(name)
    return isinstance(result, TensorResult) and result.alias and name not in TRANSFERS


def scalar_index(node: cst.CSTNode, model: Model) -> cst.Subscript | None:
    """The ``[0]`` of ``x.data[0]``, ``x.data.cpu()[0]``, ``x.data.cpu().numpy()[0]``."""
    for name, outer in chain(node, model):
        if name == "[]" and isinstance(outer, cst.Subscript):
            return outer if is_zero_index(outer) else None
        if name not in ("cpu", "numpy", "cuda", "detach") or not isinstance(outer, cst.Call):
            return None
    return None


def may_be_scalar(node: cst.BaseExpression, model: Model) -> bool:
    """Whether what a file does with names makes it worthwhile to ask the model if one of them is 0-dim.

    Indexed names are everywhere, and to know what one is a whole function has to be interpreted.
    """
    name = last_name(node)
    return bool(_SCALAR_NAME.search(name)) or model.remember(_is_reduced, name)


def _is_reduced(model: Model, name: str) -> bool:
    """Whether a name or attribute is added to, or assigned what a reduction may have returned."""
    for node in model.all_called(name):
        match model.tree.parent(node):
            case cst.AugAssign(target=target) if target is node:
                return True
            case cst.AssignTarget() as target_:
                assign = model.tree.parent(target_)
                if isinstance(assign, cst.Assign) and _is_reduction(assign.value):
                    return True
    return False


def _is_reduction(node: cst.BaseExpression) -> bool:
    """Whether an expression has a call in it of what can reduce a tensor to one number."""
    match node:
        case cst.Call(func=func):
            name = last_name(func)
            if name in library.reductions() or name == "criterion" or _SCALAR_NAME.search(name):
                return True
            return isinstance(func, cst.Attribute) and _is_reduction(func.value)
        case cst.BinaryOperation(left=left, right=right):
            return _is_reduction(left) or _is_reduction(right)
        case cst.UnaryOperation(expression=value) | cst.Attribute(value=value) | cst.Subscript(value=value):
            return _is_reduction(value)
    return False


def is_zero_index(node: cst.Subscript) -> bool:
    """Whether a subscript is a literal ``[0]``."""
    match node.slice:
        case [cst.SubscriptElement(slice=cst.Index(value=cst.Integer("0"), star=None))]:
            return True
    return False


def is_scalar(value: Value, node: cst.BaseExpression, index: cst.Subscript, model: Model) -> bool:
    """Whether ``value`` is 0-dim, or is a scalar by its name and the number is used as one."""
    if value.kind & Kind.TENSOR and value.ndim in (Ndim.ZERO, Ndim.MORE):
        return value.ndim == Ndim.ZERO
    parent = model.tree.parent(index)
    if isinstance(parent, (cst.Subscript, cst.Attribute)) and parent.value is index:
        return False
    if isinstance(parent, (cst.For, cst.CompFor)) and parent.iter is index:
        return False
    if several.is_meant(node, model):
        return False
    if isinstance(parent, cst.AugAssign) and parent.value is index and model.value(parent.target).kind & Kind.NUMBER:
        return True
    if value.evidence is not None and value.evidence.strength == Strength.NAME:
        return True
    if _is_one_draw(value, model) and _is_given_on(node, index, model):
        return True
    return bool(_SCALAR_NAME.search(last_name(node))) or "backward" in _uses_of(node, model)


_CHOICES = frozenset(("torch.distributions.Categorical", "torch.distributions.Bernoulli"))


def _is_one_draw(value: Value, model: Model) -> bool:
    """Whether a value is what one draw from a distribution over choices gave: the action of an agent."""
    match value.evidence.node if value.evidence is not None else None:
        case cst.Call(func=cst.Attribute(value=drawn_from, attr=cst.Name("sample")), args=[]) as call:
            return model.tree.parent(call) is not None and model.value(drawn_from).ref in _CHOICES
    return False


def _is_given_on(node: cst.BaseExpression, index: cst.Subscript, model: Model) -> bool:
    """Whether ``x.data[0]``, or with a transfer between, is returned or an argument of what is not of torch."""
    if any(name == "numpy" for name, _ in chain(node, model)):
        return False
    parent = model.tree.parent(index)
    match parent:
        case cst.Return():
            return True
        case cst.Arg():
            call = model.tree.parent(parent)
            return isinstance(call, cst.Call) and not (model.qualified(call.func) or "").startswith("torch.")
    return False


def _uses_of(node: cst.BaseExpression, model: Model) -> set[str]:
    """Attributes accessed on a name in its scope."""
    if not isinstance(node, cst.Name):
        return set()
    found = set()
    for use in model.references(node.value, model.scopes.scope_of(node)):
        parent = model.tree.parent(use)
        if isinstance(parent, cst.Attribute):
            found.add(parent.attr.value)
    return found


def at(node: cst.Attribute, site: Site, model: Model) -> tuple[Value, Evidence] | None:
    """The receiver of `.data` and the evidence for it, if ``node`` is a `.data` that the rule of ``site`` speaks of."""
    if node.attr.value != "data":
        return None
    found = model.remember(_classified, node)  # six rules ask about every site
    return found[1:] if found is not None and found[0] is site else None


def _classified(model: Model, node: cst.Attribute) -> tuple[Site, Value, Evidence] | None:
    found = receiver(node, model)
    if found is None:
        return None
    value, evidence = found
    return _site(node, value, model), value, evidence


def _site(node: cst.Attribute, value: Value, model: Model) -> Site:
    parent = model.tree.parent(node)
    match parent:
        case cst.AssignTarget() | cst.Del():
            return Site.ASSIGN
        case cst.AnnAssign() | cst.For() | cst.CompFor() if parent.target is node:
            return Site.ASSIGN
        case cst.Element() if _in_target(parent, model):
            return Site.ASSIGN
    if written(node, model) is not None:
        return Site.INPLACE
    match node.value:
        case cst.Call(func=cst.Attribute(attr=cst.Name("detach")), args=[]):
            return Site.REDUNDANT
        case cst.Call(func=cst.Attribute(attr=cst.Name(value=name))) if name in TRANSFERS:
            return Site.TRANSFER
    steps = list(chain(node, model))
    index = scalar_index(node, model)
    if index is not None and is_scalar(value, node.value, index, model):
        return Site.SCALAR
    for name, outer in steps:
        if not isinstance(outer, cst.Call):
            break
        if name in READERS or name == "detach":
            return Site.REDUNDANT
        if name not in TRANSFERS:
            break
    return Site.READ


def _in_target(element: cst.CSTNode, model: Model) -> bool:
    up: cst.CSTNode | None = element
    while isinstance(up, (cst.Element, cst.StarredElement, cst.Tuple, cst.List)):
        child, up = up, model.tree.parent(up)
    return isinstance(up, cst.AssignTarget) or (isinstance(up, (cst.For, cst.CompFor)) and up.target is child)


def initialises(node: cst.Attribute, value: Value, model: Model) -> bool:
    """Whether a parameter is initialised here: in a constructor or in what is named or used as an initialiser."""
    name = last_name(node.value)
    kept = value.is_tensor and bool(value.role) and not value.role & ~(Role.PARAMETER | Role.BUFFER)
    if not (kept or _PARAMETER_NAME.search(name)) or is_gradient(value, node.value, model):
        return False
    function = model.tree.enclosing(node, cst.FunctionDef)
    if not isinstance(function, cst.FunctionDef):
        return False
    return bool(_INIT_FUNCTION.search(function.name.value)) or model.applied_to_modules(function)


def is_left_alone(node: cst.Attribute, model: Model) -> bool:
    """Whether nobody writes to what a `.data` gives, nor, where it is counted, to what it is taken from.

    What was read and is saved for ``backward()`` may not be written before that: of `.detach()` autograd is told.
    """
    source = node.value
    if is_new(source, model):
        return True
    while (
        isinstance(source, cst.Call) and isinstance(source.func, cst.Attribute) and aliases(last_name(source), source)
    ):
        source = source.func.value
    usage = model.usage(node)
    if usage > Usage.SAVED:
        return False
    if usage is not Usage.SAVED:
        return True
    is_copied = any(name in READERS or name == "numpy" for name, _ in chain(node, model))
    return is_copied or not model.is_written(source)


def is_new(node: cst.BaseExpression, model: Model) -> bool:
    """Whether an expression makes a tensor whose memory nothing else refers to, once its graph is let go."""
    value = model.value(node)
    if not value.is_tensor:
        return False
    match node:
        case cst.BinaryOperation() | cst.UnaryOperation(operator=cst.Minus()):
            return bool((value.strength or 0) > Strength.NAME)
        case cst.Call(func=func, args=args):
            return not _may_reuse(args) and _makes_new(func, model)
    return False


def _may_reuse(args: Sequence[cst.Arg]) -> bool:
    """Whether a call may be asked to write to what it is given: ``out=``, ``inplace=True``, ``relu(x, True)``."""
    return any(
        arg.star
        or (arg.keyword is not None and arg.keyword.value in ("out", "inplace"))
        or (arg.keyword is None and isinstance(arg.value, cst.Name) and arg.value.value == "True")
        for arg in args
    )


def _makes_new(func: cst.BaseExpression, model: Model) -> bool:
    """Whether what a function or method of torch returns shares no memory with what it is given."""
    ref = model.qualified(func)
    if ref is not None:
        result = library.function(ref)
    elif isinstance(func, cst.Attribute) and model.is_tensor(func.value):
        result = library.method(func.attr.value)
        if isinstance(result, TensorResult) and may_alias(result):
            return is_new(func.value, model)
    else:
        return False
    return makes_new(result)


def gradients_keep_graphs(model: Model) -> bool:
    """Whether gradients may carry a graph in this file: ``backward(create_graph=True)``, by keyword or by position."""
    return model.remember(_asks_for_graphs)


def _asks_for_graphs(model: Model) -> bool:
    if "create_graph" in model.tree.source.text:
        return True
    for node in (*model.tree.attributes("backward"), *model.tree.attributes("grad")):
        call = model.tree.parent(node)
        if isinstance(call, cst.Call) and call.func is node:
            if len(call.args) > 2 or any(arg.star for arg in call.args):
                return True
    return False


def gradients_are_saved(model: Model) -> bool:
    """Whether a gradient may be kept for a later ``backward()``: it is computed with where autograd records."""
    return gradients_keep_graphs(model) or model.remember(_compute_with_gradients)


def _compute_with_gradients(model: Model) -> bool:
    return any(
        isinstance(model.tree.parent(node), (cst.BinaryOperation, cst.Arg)) and model.grad_enabled(node) == Tri.YES
        for node in model.tree.attributes("grad")
    )


def is_gradient(value: Value, node: cst.BaseExpression, model: Model) -> bool:
    """Whether an expression is the `.grad` of a tensor, and not an attribute of that name of a class of one's own."""
    if value.role == Role.GRADIENT:
        return True
    match node:
        case cst.Attribute(value=owner, attr=cst.Name("grad")):
            kind = model.value(owner).kind
            return bool(kind & Kind.TENSOR) or (bool(kind & Kind.UNKNOWN) and not model.declares("grad"))
    return False
