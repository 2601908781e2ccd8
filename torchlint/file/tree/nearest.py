"""The nearest ancestor of a kind, looked up once for all nodes below it."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import libcst as cst


class Nearest:
    """The nearest ancestor that is what somebody looks for. Each way up is walked once, however many nodes ask."""

    def __init__(self, parents: Mapping[int, cst.CSTNode], holds: Callable[[cst.CSTNode, cst.CSTNode], bool]) -> None:
        """``holds`` is asked with a node and its parent, whether that is the one."""
        self._parents, self._holds = parents, holds
        self._known: dict[int, tuple[cst.CSTNode, cst.CSTNode | None]] = {}

    def of(self, node: cst.CSTNode) -> cst.CSTNode | None:
        """That ancestor of a node; None if it has none."""
        return self.way_to(node)[1]

    def way_to(self, node: cst.CSTNode) -> tuple[cst.CSTNode, cst.CSTNode | None]:
        """That ancestor of a node, with its child on the way there in front."""
        known = self._known
        if (asked_before := known.get(id(node))) is not None:
            return asked_before
        child, way = node, []
        while id(child) not in known:
            way.append(id(child))
            up = self._parents.get(id(child))
            if up is None or self._holds(child, up):
                found = child, up
                break
            child = up
        else:
            found = known[id(child)]
        known.update(dict.fromkeys(way, found))
        return found
