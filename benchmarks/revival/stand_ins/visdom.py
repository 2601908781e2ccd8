"""Plots are part of the programs, their server is not: what is plotted only has to be numbers."""

from __future__ import annotations

from typing import Any

import numpy


class Visdom:
    def line(self, X: Any, Y: Any, **_: Any) -> str:
        assert numpy.asarray(Y).dtype.kind == "f"
        return "window"

    def updateTrace(self, X: Any, Y: Any, **_: Any) -> None:
        assert numpy.asarray(Y).dtype.kind == "f"
