"""What happens in a training loop: the calls of a scope that train, in the order in which they are written.

Rules about loops ask for these events and not for calls, so that a method of an optimizer, a scaler that steps for it
and a function of the project that does both look the same to them.
"""

from __future__ import annotations

import enum
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import libcst as cst

from torchlint.model.expressions import qualified, value_of
from torchlint.model.methods_called import calls_on
from torchlint.model.possibilities import Kind
from torchlint.model.syntax import cut_from, dotted, keyword, last_name, positional
from torchlint.model.torch import library
from torchlint.model.values import Value
from torchlint.system.records import replace

if TYPE_CHECKING:
    from torchlint.model.context import Context

_FAR = 2
"""How many calls deep events are looked for."""
_OPTIMIZER_NAME = re.compile(r"optim|(?:^|_)opt\d*(?:_|$)", re.IGNORECASE)
_SCHEDULER_NAME = re.compile(r"sched|(?:^|_)lr(?:_|$)|warm_?up|annealing", re.IGNORECASE)
_BACKWARD = frozenset(("backward", "manual_backward"))
_MAY_TRAIN = re.compile(
    r"back_?(?:ward|prop)|(?<!no_)(?<!enable_)(?<!requires_)grad(?!_enabled)|step|train|optimi|learn|closure|^fit"
    r"|update_|_update|unscale",
    re.IGNORECASE,
)
"""What functions may be called that train."""
_CLIPPING = frozenset(("clip_grad_norm_", "clip_grad_value_", "clip_grad_norm"))


class What(enum.Enum):
    """Kinds of events."""

    BACKWARD = enum.auto()
    STEP = enum.auto()
    """An optimizer changes the parameters."""
    CLEAR = enum.auto()
    """Gradients are cleared: ``zero_grad()``, ``.grad = None``, ``.grad.zero_()``."""
    SCHEDULE = enum.auto()
    """A scheduler changes the learning rate."""
    LOAD = enum.auto()
    """``load_state_dict`` of a module."""
    CLIP = enum.auto()
    """Gradients are clipped: ``clip_grad_norm_``, ``clip_grad_value_``."""
    UNSCALE = enum.auto()
    """A scaler takes its factor out of the gradients of an optimizer, which is the path."""
    UNKNOWN = enum.auto()
    """Something is called that is not known, and may do any of these by its name."""


@dataclass(frozen=True, slots=True)
class TrainingEvent:
    """Something that a scope does."""

    what: What
    node: cst.CSTNode
    """The call or assignment in this scope, also where what is called does it."""
    path: str
    """The optimizer, scheduler or module by the name that the scope has for it; empty if it is not known here."""
    is_proved: bool = True
    """Whether what it is done to is known by more than its name."""
    by: str = ""
    """The scaler that steps for an optimizer, by the name that the scope has for it."""


def training_events(context: Context, scope: cst.FunctionDef | cst.Module) -> tuple[TrainingEvent, ...]:
    """What a scope does, in the order in which it is written."""
    return context.remember(_events, scope, _FAR)


def _events(context: Context, scope: cst.FunctionDef | cst.Module, far: int) -> tuple[TrainingEvent, ...]:
    found: list[TrainingEvent] = []
    area: cst.CSTNode = scope.body if isinstance(scope, cst.FunctionDef) else context.tree.module
    for call in context.tree.within(area, cst.Call):
        if context.scopes.scope_of(call) is scope:
            event = _own(context, call)
            if event is None:
                found += _called(context, call, far)
            elif event.what is What.BACKWARD:
                found += _sent_back(context, event, call, far)
            else:
                found += (*_of_closure(context, event, scope, far), event)
    for target in context.tree.within(area, cst.AssignTarget):
        if isinstance(target.target, cst.Attribute) and target.target.attr.value == "grad":
            if context.scopes.scope_of(target) is scope:
                found.append(TrainingEvent(What.CLEAR, target, ""))
    return tuple(sorted(found, key=lambda event: context.tree.order(event.node)))


def _own(context: Context, call: cst.Call) -> TrainingEvent | None:
    """What a call does itself."""
    func = call.func
    if _clips(context, func):
        return TrainingEvent(What.CLIP, call, "")
    if _sets_gradient(call):
        return TrainingEvent(What.CLEAR, call, "")
    if not isinstance(func, cst.Attribute):
        return None
    name, owner = func.attr.value, func.value
    if name in _BACKWARD:
        return TrainingEvent(What.BACKWARD, call, dotted(owner) or "")
    if name == "load_state_dict":
        return TrainingEvent(What.LOAD, call, dotted(owner) or "")
    if name == "zero_grad":
        return TrainingEvent(What.CLEAR, call, dotted(owner) or "")
    if name in ("zero_", "detach_", "fill_") and last_name(cut_from(owner) or owner) == "grad":
        return TrainingEvent(What.CLEAR, call, "")
    if name == "unscale_":
        return TrainingEvent(What.UNSCALE, call, _given(call))
    return _stepping(context, call, owner) if name == "step" else None


def _clips(context: Context, func: cst.BaseExpression) -> bool:
    """Whether a function of torch is called that clips gradients, or the method of that name of a sharded module."""
    if not isinstance(func, cst.Name) and last_name(func) not in _CLIPPING:
        return False
    ref = qualified(context, func)
    name = ref.rpartition(".")[2] if ref is not None and ref.startswith("torch.") else last_name(func)
    if name not in _CLIPPING:
        return False
    return ref is not None if isinstance(func, cst.Name) else ref is None or ref.startswith("torch.")


def _sets_gradient(call: cst.Call) -> bool:
    """Whether this is `setattr(p, "grad", …)`."""
    match call:
        case cst.Call(func=cst.Name("setattr"), args=[_, cst.Arg(value=cst.SimpleString() as name), _]):
            return name.evaluated_value == "grad"
    return False


def _given(call: cst.Call) -> str:
    """The path that is given first."""
    return dotted(call.args[0].value) or "" if call.args else ""


def _stepping(context: Context, call: cst.Call, owner: cst.BaseExpression) -> TrainingEvent | None:
    path, value = dotted(owner) or "", value_of(context, owner)
    kinds = value.kind & ~Kind.NONE  # which has no method
    if kinds == Kind.OPTIMIZER:
        return TrainingEvent(What.STEP, call, path)
    if kinds == Kind.OBJECT:
        kind = object_kind(value)
        if kind == "scaler":
            return TrainingEvent(What.STEP, call, _given(call), by=path)
        return TrainingEvent(What.SCHEDULE, call, path) if kind == "scheduler" else None
    if kinds != Kind.UNKNOWN:
        return None
    if _SCHEDULER_NAME.search(last_name(owner)):
        return TrainingEvent(What.SCHEDULE, call, path, is_proved=False)
    if "scaler" in path.lower() and call.args:
        return TrainingEvent(What.STEP, call, _given(call), is_proved=False, by=path)
    if calls_on(context, owner, ("zero_grad",)):
        return TrainingEvent(What.STEP, call, path)
    return TrainingEvent(What.STEP, call, path, is_proved=False) if _OPTIMIZER_NAME.search(last_name(owner)) else None


def object_kind(value: Value) -> str:
    """``scaler``, ``scheduler`` … for an object of a class of torch; empty for others."""
    ref = value.ref or ""
    return "scaler" if ref.endswith(".GradScaler") and ref.startswith("torch.") else library.class_kind(ref) or ""


def _called(context: Context, call: cst.Call, far: int) -> tuple[TrainingEvent, ...]:
    """What a function of the project does that is called, by the names of who calls it."""
    if not isinstance(call.func, (cst.Name, cst.Attribute)):
        return ()
    function = value_of(context, call.func).node if far else None
    if not isinstance(function, cst.FunctionDef):
        return (TrainingEvent(What.UNKNOWN, call, "", is_proved=False),) if _may_train(context, call) else ()
    home = context.home(function)
    events = home.remember(_events, function, far - 1)
    return tuple(
        TrainingEvent(event.what, call, _seen_as(event.path, call), event.is_proved, _seen_as(event.by, call))
        for event in events
    )


def _sent_back(context: Context, event: TrainingEvent, call: cst.Call, far: int) -> tuple[TrainingEvent, ...]:
    """What a ``backward()`` does: of one that the project defines all that is in it."""
    is_own = far and isinstance(value_of(context, call.func).node, cst.FunctionDef)
    events = _called(context, call, far) if is_own else ()
    return events if any(each.what is What.BACKWARD for each in events) else (*events, event)


def _of_closure(
    context: Context, event: TrainingEvent, scope: cst.FunctionDef | cst.Module, far: int
) -> Iterator[TrainingEvent]:
    """What the function does that an optimizer is given to call when it steps: ``optimizer.step(closure)``.

    One that is defined in the same scope has the names of that; of others it is not known how they are called here.
    """
    call = event.node
    if event.what is not What.STEP or event.by or not far or not isinstance(call, cst.Call):
        return
    given = keyword(call.args, "closure") or positional(call.args, 0)
    function = value_of(context, given.value).node if given is not None else None
    if not isinstance(function, cst.FunctionDef):
        return
    home = context.home(function)
    has_names = home is context and context.scopes.scope_of(function) is scope
    for each in home.remember(_events, function, far - 1):
        yield replace(each, node=call, path=each.path if has_names else "", by=each.by if has_names else "")


def _may_train(context: Context, call: cst.Call) -> bool:
    """Whether something that is not known may train, by its name."""
    name = last_name(call.func)
    if _MAY_TRAIN.search(name) is None or (name == "train" and isinstance(call.func, cst.Attribute)):
        return False
    ref = qualified(context, call.func) or ""
    return not ref.startswith(("torch.", "builtins.")) or ref.startswith("torch.autograd.")


def _seen_as(path: str, call: cst.Call) -> str:
    """How who calls a method names ``self.x``; other names are not followed."""
    owner = dotted(call.func.value) if isinstance(call.func, cst.Attribute) else None
    return f"{owner}.{path.removeprefix('self.')}" if owner is not None and path.startswith("self.") else ""
