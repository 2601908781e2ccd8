"""Whether a tensor has no graph, wherever it is used: what it was made as is not all, others may give it one."""

from __future__ import annotations

import libcst as cst

from torchlint.model import Model, Tri
from torchlint.model.aliasing.graph_writes import may_get_graph


def stays_without_graph(node: cst.BaseExpression, model: Model) -> bool:
    """Whether an expression is a tensor that has no graph, and that nothing in the project is seen to give one."""
    value = model.value(node)
    if value.grad != Tri.NO or value.is_parameter:
        return False
    return not model.ask(may_get_graph, node)
