"""Which files can hold findings: from the triggers that rules declare, in the bytes of a file.

For most files nothing but this runs. What a trigger is says :mod:`torchlint.trigger`.
"""

from __future__ import annotations

import re

from torchlint.file.triggers.prose import without_prose
from torchlint.file.triggers.search import occurs, searches
from torchlint.rules import catalogue
from torchlint.system.layers import Layer, is_on

_TENSORS = re.compile(
    rb"\.(?:(?:detach|cpu|backward)\(|(?:named_)?parameters\(\)|data\.[a-z]\w{0,30}_\("
    rb"|grad\.(?:data\b|norm\(|[a-z]\w{0,30}_\())|requires_grad|no_grad"
)
"""What files that get their tensors and modules from others do to them."""
_LOADING = b"trust_remote_code"
"""What files write that load models through other libraries."""
_OTHERS = re.compile(
    rb"^[ \t]*(?:import|from) (?:mxnet|paddle|mindspore|tensorflow|oneflow|jittor|chainer)\b", re.MULTILINE
)
"""Imports of libraries whose tensors have the same methods."""


def can_match(data: bytes, codes: frozenset[str]) -> bool:
    """Whether any of the rules could find anything in a file of these bytes.

    A match on an import line alone (``import torch.utils.data``) does not count for an attribute: no rule looks at
    module paths. Files that neither mention torch nor do what is only done to tensors are not ours, but for rules that
    ask what other files hand to their functions.
    """
    codes = _looking(data, codes)
    return bool(codes) and _has_trigger(_with_newlines(data), codes)


def possible_rules(data: bytes, codes: frozenset[str]) -> frozenset[str]:
    """Those of the rules that could find something in a file of these bytes, if prose is not counted either."""
    codes = _looking(data, codes)
    if not codes:
        return frozenset()
    code = without_prose(_with_newlines(data))
    return frozenset(each for each in codes if _has_trigger(code, frozenset((each,))))


def is_ours(data: bytes) -> bool:
    """Whether a file mentions torch, or does what is only done to tensors or models: all others are left alone."""
    if b"torch" in data or _LOADING in data:
        return True
    return _TENSORS.search(data) is not None and _OTHERS.search(data) is None


def _looking(data: bytes, codes: frozenset[str]) -> frozenset[str]:
    """Those of the rules that look at a file at all."""
    if is_ours(data):
        return codes
    rules = catalogue()
    return frozenset(code for code in codes if code in rules and rules[code].without_torch)


def _with_newlines(data: bytes) -> bytes:
    """The bytes with one character at the end of each line, so that a search need not know the other two ways."""
    return data.replace(b"\r\n", b"\n").replace(b"\r", b"\n") if b"\r" in data else data


def _has_trigger(data: bytes, codes: frozenset[str]) -> bool:
    if not is_on(Layer.TRIGGERS):
        return True
    wanted = searches(codes)
    if any(occurs(search, data) for search in wanted.own):
        return True
    if not wanted.listed:
        return False
    from torchlint.rules.api import words

    return words.can_match(data, wanted.listed)
