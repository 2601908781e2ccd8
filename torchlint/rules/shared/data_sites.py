"""What a `.data` site is, so that exactly one rule speaks of it: what it is taken from, and what is done with it."""

from __future__ import annotations

import enum
import re

import libcst as cst

from torchlint.model import Evidence, Kind, Model, Role, Strength, Tri, Usage, Value
from torchlint.model.applied import applied_to_modules, is_applied_elsewhere
from torchlint.model.bindings import declares
from torchlint.model.codebase import holders
from torchlint.model.codebase.namesakes import is_of_holder
from torchlint.model.names import HOLDER_NAME
from torchlint.model.syntax import chain, dotted, ending_name
from torchlint.model.torch import library
from torchlint.rules.shared import beside, gradients, indices, memory, new_layers, operands, readers, scalars
from torchlint.rules.shared.renormalised import are_renormalised


class Site(enum.Enum):
    """Who speaks of a `.data`."""

    READ = "TL101"
    INPLACE = "TL102"
    ASSIGN = "TL103"
    TRANSFER = "TL105"
    REDUNDANT = "TL106"
    SCALAR = "TL203"


READING = (Usage.METADATA, Usage.READ, Usage.SAVED)
_SHOWN = 40
"""Characters shown of what is read."""


def at(node: cst.Attribute, site: Site, model: Model) -> tuple[Value, Evidence] | None:
    """The receiver of `.data` and the evidence for it, if ``node`` is a `.data` that the rule of ``site`` speaks of."""
    if node.attr.value != "data":
        return None
    found = model.remember(_classified, node)  # six rules ask about every site
    return found[1:] if found is not None and found[0] is site else None


def _classified(model: Model, node: cst.Attribute) -> tuple[Site, Value, Evidence] | None:
    found = _receiver(node, model)
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
    if memory.write_through(node, model) is not None:
        return Site.INPLACE
    if memory.is_detach(node.value):
        return Site.REDUNDANT
    index = scalars.scalar_index(node, model)
    if index is not None and scalars.is_scalar(value, memory.before_copies(node.value), index, model):
        return Site.SCALAR
    if memory.is_transfer(node.value):
        return Site.TRANSFER
    for name, outer in chain(node, model.tree):
        if not isinstance(outer, cst.Call):
            break
        if name in readers.READERS or name == "detach":
            return Site.REDUNDANT
        if name not in memory.TRANSFERS:
            break
    return Site.TRANSFER if memory.before_transfers(node.value, model) is not node.value else Site.READ


def _in_target(element: cst.CSTNode, model: Model) -> bool:
    up: cst.CSTNode | None = element
    while isinstance(up, (cst.Element, cst.StarredElement, cst.Tuple, cst.List)):
        child, up = up, model.tree.parent(up)
    return isinstance(up, cst.AssignTarget) or (isinstance(up, (cst.For, cst.CompFor)) and up.target is child)


_LEAF_NAME = re.compile(r"(^|_)(weight|bias|grad|param|parameter)$|loss", re.IGNORECASE)


_VAGUE_NAME = re.compile(
    r"batch|(^|_)(data|sequence|seq|res|reader|record|row|samples?|container|obj|item|store|results?)$", re.IGNORECASE
)
"""Names that say nothing: a convention or a name is no evidence then, use is."""


_LIKE_ANOTHER = frozenset(("type_as", "expand_as", "view_as", "reshape_as"))
"""Methods of tensors alone, which take another tensor as the pattern."""
_WITHOUT_DATA = Kind.TENSOR | Kind.UNKNOWN | Kind.NUMBER | Kind.NONE | Kind.STRING | Kind.CONTAINER
"""What has no `.data`, beside tensors and what is not known: a list or None on another path speaks against nothing."""


def half_of(node: cst.Attribute, model: Model) -> cst.CSTNode | None:
    """The statement that a `.data` is half of, which writes through `.data` and reads by another one."""
    small = model.tree.enclosing(node, cst.Assign, cst.AnnAssign, cst.AugAssign, cst.Expr, cst.Return)
    return small if small is not None and model.remember(_has_halves, small) else None


def _has_halves(model: Model, small: cst.CSTNode) -> bool:
    nodes = [node for node in model.tree.within(small, cst.Attribute) if node.attr.value == "data"]
    found = [model.remember(_classified, node) for node in nodes] if len(nodes) > 1 else []
    sites = [each[0] for each in found if each is not None]
    return len(sites) > 1 and any(site in (Site.INPLACE, Site.ASSIGN) for site in sites)


def _receiver(node: cst.Attribute, model: Model) -> tuple[Value, Evidence] | None:
    """The value left of `.data` and the evidence for it, if it is believed to be a tensor."""
    value = model.value(node.value)
    if value.kind & ~_WITHOUT_DATA or (value.kind & Kind.CONTAINER and value.keys is not None):
        return None
    name = ending_name(node.value)
    if value.is_tensor:
        evidence = value.evidence or Evidence(Strength.USE, "it is used as a tensor", node.value)
        is_held = model.ask(is_of_holder, evidence)
        is_held = is_held or (evidence.is_of_data and model.ask(holders.may_be_packed, node.value))
        return None if is_held else (value, evidence)
    if value.kind & Kind.CONTAINER and not value.kind & (Kind.TENSOR | Kind.UNKNOWN):
        return None
    if value.kind & Kind.TENSOR:
        evidence = value.evidence or Evidence(Strength.USE, "it is a tensor on one path", node.value)
        if evidence.strength <= Strength.CONVENTION and HOLDER_NAME.search(name):
            among = beside.among_tensors(node, model)
            return (value, among) if among is not None else None
        if evidence.strength == Strength.NAME and model.ask(declares, "data"):
            return None
        if evidence.strength <= Strength.CONVENTION and _VAGUE_NAME.search(name):
            used = _used_as_tensor(node, model)
            return (value, used) if used is not None else None
        return value, evidence
    if not value.kind & Kind.UNKNOWN or model.ask(declares, "data"):
        return None  # where a class of this file has such an attribute, its objects could be meant
    if HOLDER_NAME.search(name):
        among = beside.among_tensors(node, model)
        return (value, among) if among is not None else None
    used = _used_as_tensor(node, model)
    if used is not None:
        return None if model.ask(holders.may_be_packed, node.value) else (value, used)
    if _LEAF_NAME.search(name) and not _VAGUE_NAME.search(name) and isinstance(node.value, (cst.Name, cst.Attribute)):
        return value, Evidence(Strength.NAME, f"it is called `{name}`", node.value)
    places = operands.method_with_places(node, model)
    if places is not None and not _VAGUE_NAME.search(name):  # an array's method gives one result, which has elements
        return value, Evidence(Strength.NAME, f"one result of `.{places}` is taken, as of a tensor's two", node.value)
    if operands.is_compared(node, model) and not _VAGUE_NAME.search(name):
        return value, Evidence(Strength.NAME, "its data is compared with a tensor", node.value)
    beside_it = beside.evidence_of(node, model) if not _VAGUE_NAME.search(name) else None
    if beside_it is not None:
        return value, beside_it
    if scalars.is_reduced(node.value) and scalars.scalar_index(node, model) is not None:
        return value, Evidence(Strength.USE, "all of it is reduced, and the first element of its data is taken", node)
    if scalars.is_read(node, model):
        said = f"it is called `{name}`" if name else "it is made of what is called like a loss"
        return value, Evidence(Strength.NAME, f"{said}, and its element is used as a number", node.value)
    if not _VAGUE_NAME.search(name) and scalars.is_number_of_call(node, model):
        return value, Evidence(Strength.NAME, "it is made of a tensor, and its element is used as a number", node.value)
    return None


def is_doubtful(value: Value, evidence: Evidence, model: Model) -> bool:
    """Whether the evidence for a tensor is too weak for a safe fix.

    A name is, and so is what is done with `.data` alone where there are other things that hold a tensor in it.
    """
    if evidence.is_of_data and model.ask(holders.are_there):
        return True
    return not value.may_be_tensor or (not value.is_tensor and evidence.strength <= Strength.NAME)


def _used_as_tensor(node: cst.Attribute, model: Model) -> Evidence | None:
    """Evidence from what is done with `.data` right here."""
    used = _used_in_chain(node, model)
    if used is not None:
        return used
    taker = indices.taker(node, model)
    if taker is not None:
        return Evidence(Strength.USE, f"`.{taker}` takes its data for indices or a mask", node)
    at: cst.CSTNode = node
    for method, call in chain(node, model.tree):
        if not isinstance(call, cst.Call) or library.method(method) is None:
            return None
        at = call
    computing = operands.given_to(at, model)
    if computing is not None:
        return Evidence(Strength.USE, f"its data is given to `{computing}`", node)
    target = model.tree.parent(at)
    match target:
        case cst.AssignTarget() if isinstance(assign := model.tree.parent(target), cst.Assign):
            if model.value(assign.value).is_tensor or _is_data_of_tensor(assign.value, model):
                return Evidence(Strength.USE, "a tensor is assigned to its data", node)
        case cst.Assign(targets=[cst.AssignTarget(target=cst.Attribute(value=other, attr=cst.Name("data")))]):
            if model.value(other).is_tensor:
                return Evidence(Strength.USE, "it is assigned to the data of a tensor", node)
        case cst.Arg() if isinstance(caller := model.tree.parent(target), cst.Call) and target is caller.args[0]:
            if isinstance(caller.func, cst.Attribute) and caller.func.attr.value == "copy_":
                return Evidence(Strength.USE, "it is copied into a tensor", node)
            if isinstance(caller.func, cst.Attribute) and caller.func.attr.value in _LIKE_ANOTHER:
                return Evidence(Strength.USE, f"its data is given to `.{caller.func.attr.value}`", node)
    return None


def _is_data_of_tensor(node: cst.BaseExpression, model: Model) -> bool:
    """Whether an expression is a `.data` that a rule speaks of."""
    if not isinstance(node, cst.Attribute) or node.attr.value != "data":
        return False
    return model.remember(_classified, node) is not None


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
    for method, call in chain(node, model.tree):
        if _is_of_no_tensor(method, call):
            return None
        if _has_ellipsis(call) and model.tree.parent(node) is call and model.is_target(call):
            return Evidence(Strength.USE, "`[...]` of its data is assigned to", node)
        whole = whole and isinstance(call, cst.Call)
        if not isinstance(call, cst.Call) or method not in library.tensor_only():
            continue
        if memory.is_inplace(method) or whole:  # what is read from an element says nothing of the whole
            return Evidence(Strength.USE, f"`.{method}` is called on its data, which only tensors have", node)
    return None


def _has_ellipsis(node: cst.CSTNode) -> bool:
    match node:
        case cst.Subscript(slice=elements):
            return any(isinstance(getattr(e.slice, "value", None), cst.Ellipsis) for e in elements)
    return False


_INIT_FUNCTION = re.compile(r"init|reset_param", re.IGNORECASE)


_PARAMETER_NAME = re.compile(r"(^|_)(weight|bias)(_|$)|^param(eter)?$", re.IGNORECASE)


def is_kept(node: cst.Attribute, value: Value) -> bool:
    """Whether `.data` is that of a parameter or buffer, by what is known of it or by its name."""
    is_known = value.is_tensor and bool(value.role) and not value.role & ~(Role.PARAMETER | Role.BUFFER)
    return is_known or bool(_PARAMETER_NAME.search(ending_name(node.value)))


def initialises(node: cst.Attribute, value: Value, model: Model) -> bool:
    """Whether a parameter is initialised here: in a constructor or in what is named or used as an initialiser."""
    if not is_kept(node, value) or gradients.is_gradient(value, node.value, model):
        return False
    if model.tree.attributes("_version"):  # where writes are counted, one more can be told
        return False
    function = model.tree.enclosing(node, cst.FunctionDef)
    if not isinstance(function, cst.FunctionDef):
        return False
    if _INIT_FUNCTION.search(function.name.value) or model.ask(applied_to_modules, function):
        return True
    if new_layers.is_of_one(node.value, model):
        return True
    return model.ask(is_applied_elsewhere, function)


def is_in_forward(node: cst.CSTNode, model: Model) -> bool:
    """Whether a module computes with what is written here each time it is called.

    What an earlier call has saved for ``backward()`` is written a second time then.
    """
    function = model.tree.enclosing(node, cst.FunctionDef)
    cls = model.class_of(function) if isinstance(function, cst.FunctionDef) else None
    if cls is None or not isinstance(function, cst.FunctionDef) or model.class_kind(cls) != "module":
        return False
    forward = model.find_method(cls, "forward")
    if forward is None or forward is function:
        return forward is function
    called = f"self.{function.name.value}"
    tree = model.home(forward).tree  # it may be inherited from a class of another file
    return any(tree.code(call.func) == called for call in tree.within(forward, cst.Call))


def risk(node: cst.Attribute, value: Value, evidence: Evidence, model: Model) -> str:
    """What can change where `.data` is no longer read."""
    name = dotted(node.value)
    shown = f"`{name}`" if name is not None and len(name) <= _SHOWN else "this"
    if is_doubtful(value, evidence, model):
        return f"if {shown} is no tensor, its `.data` may be something else"
    usage = model.usage(node)
    if usage >= Usage.OVERWRITTEN:
        return "what is read is written to in place, and `backward()` may raise for that now"
    if usage > Usage.SAVED:
        return "if what gets this tensor writes to it in place, `backward()` may raise for that now"
    return f"{shown} is written to in place, and `backward()` may raise for that now"


def is_computed_without_graph(node: cst.BaseExpression, source: cst.BaseExpression, model: Model) -> bool:
    """Whether ``source`` is called for on the spot where autograd does not record: unless a parameter comes back."""
    return isinstance(source, cst.Call) and model.grad_enabled(node) == Tri.NO


def is_left_alone(node: cst.Attribute, model: Model) -> bool:
    """Whether nobody writes to what a `.data` gives, nor, where it is counted, to what it is taken from.

    What was read and is saved for ``backward()`` may not be written before that: of `.detach()` autograd is told.
    """
    source = node.value
    if memory.is_new(source, model):
        return True
    while (
        isinstance(source, cst.Call)
        and isinstance(source.func, cst.Attribute)
        and memory.shares(source.func.attr.value, source)
    ):
        source = source.func.value
    usage = model.usage(node)
    if usage > Usage.SAVED:
        return False
    if usage is not Usage.SAVED:
        return True
    if model.value(source).is_parameter and are_renormalised(model):
        return False
    is_copied = any(name in readers.READERS or name == "numpy" for name, _ in chain(node, model.tree))
    return is_copied or not model.is_written(source)
