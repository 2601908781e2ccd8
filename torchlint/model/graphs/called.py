"""What losses and their parts are called: evidence where nothing else tells what is kept."""

from __future__ import annotations

import re

import libcst as cst

from torchlint.model.context import Context
from torchlint.model.expressions import value_of
from torchlint.model.graphs.mentions import CUTTING
from torchlint.model.possibilities import Kind
from torchlint.model.syntax import dotted, last_name
from torchlint.model.values import reference

_LOSS = re.compile(r"[Ll]oss|criterion|\bcrit\b|objective|nll|elbo|cost")
_PART = re.compile(
    r"loss|(?:^|_)(?:kld?|mse|bce|ce|l1|nll|elbo|rec|recon|reg|penalty|aux|cost|err|error|criterion|entropy|xent)(?:_|$)",
    re.I,
)
"""What parts of a loss are called."""
_TORCH_LOSS = re.compile(r"torch\.nn\.(?:\w+\.)*(?:\w+Loss|\w+_loss|(?:binary_)?cross_entropy(?:_with_logits)?|kl_div)")
_NAMED_LOSS = re.compile(r"\w(?:Loss|_loss)\b|cross_entropy|kl_div")
_FACTOR = re.compile(
    r"(?:^|_)(?:w|weights?|coefs?|coeffs?|coefficients?|alpha|beta|gamma|lam|lambda|lambd|factors?|scale|ratio|decay|momentum"
    r"|type|name|mode|fn|func|every|steps?|interval|threshold|margin|eps)\d*$",
    re.I,
)
"""What numbers and settings end with that are about a loss: ``args.loss_weight``."""


def is_called_loss(node: cst.BaseExpression, keeper: str) -> bool:
    """Whether an expression, or what keeps it, is called like a loss."""
    return _LOSS.search(f"{_text(node)} {keeper}") is not None


def is_made_by_loss(context: Context, node: cst.CSTNode) -> bool:
    """Whether a call, or what is assigned, is of a loss of torch: ``nn.MSELoss()(x, y)``, by whatever name."""
    match node:
        case cst.Assign(targets=[cst.AssignTarget(target=cst.Name())], value=cst.Call(func=func)) | cst.Call(func=func):
            if not context.remember(_has_losses):
                return False
            value = value_of(context, func)
            name = value.ref if value.kind == Kind.MODULE else reference(value)
            return _TORCH_LOSS.fullmatch(name or "") is not None
    return False


def _has_losses(context: Context) -> bool:
    """Whether a file names a loss of torch at all."""
    return _NAMED_LOSS.search(context.tree.source.text) is not None


def is_called_part(node: cst.BaseExpression) -> bool:
    """Whether an expression is called like a part of a loss, and not like a number that is about one."""
    return any(_PART.search(name) and not _FACTOR.search(name) for name in _text(node).split())


def _text(node: cst.BaseExpression) -> str:
    """What an expression is called: the last name of a path, the key of an element, the function of a call."""
    match node:
        case cst.Name() | cst.Attribute():
            return last_name(node)
        case cst.Call(func=func):
            return "" if last_name(func) in CUTTING else dotted(func) or _text(func)
        case cst.BinaryOperation(left=left, right=right):
            return f"{_text(left)} {_text(right)}"
        case cst.Subscript(slice=[cst.SubscriptElement(slice=cst.Index(value=cst.SimpleString(value=key)))]):
            return key.strip("'\"")
        case cst.Subscript(value=cst.Name() | cst.Attribute() as inner) if last_name(inner).endswith("losses"):
            return last_name(inner)  # each of them is one; what `loss[1]` is beside the loss nobody says
        case cst.UnaryOperation(expression=value):
            return _text(value)
    return ""
