"""Notebooks to test with: written as Jupyter writes them, unless something else is asked for."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

Cell = str | Mapping[str, Any]
"""The code of a cell, or all of a cell."""

METADATA = {"kernelspec": {"name": "python3", "language": "python"}, "language_info": {"name": "python"}}


def cell(code: str | Sequence[str], **more: Any) -> dict[str, Any]:
    """A cell with code, as a list of lines."""
    lines = code.splitlines(keepends=True) if isinstance(code, str) else list(code)
    return {"cell_type": "code", "execution_count": None, "metadata": {}, "outputs": [], "source": lines, **more}


def prose(text: str) -> dict[str, Any]:
    """A cell without code."""
    return {"cell_type": "markdown", "metadata": {}, "source": [text]}


def notebook(*cells: Cell, metadata: Mapping[str, Any] = METADATA, **how: Any) -> str:
    """The text of a notebook."""
    made = [each if isinstance(each, Mapping) else cell(each) for each in cells]
    content = {"cells": made, "metadata": metadata, "nbformat": 4, "nbformat_minor": 5}
    return json.dumps(content, **{"indent": 1, "ensure_ascii": False, **how}) + "\n"


def version_3(*codes: str) -> str:
    """The text of a notebook as IPython wrote it before 2015."""
    cells = [
        {"cell_type": "code", "input": code.splitlines(True), "language": "python", "outputs": []} for code in codes
    ]
    content = {"metadata": {"name": ""}, "nbformat": 3, "nbformat_minor": 0, "worksheets": [{"cells": cells}]}
    return json.dumps(content, indent=1) + "\n"


def codes(text: str) -> list[str]:
    """The code of all cells."""
    content = json.loads(text)
    cells = content["cells"] if "cells" in content else content["worksheets"][0]["cells"]
    sources = (each.get("source", each.get("input")) for each in cells)
    return ["".join(source) for source in sources]
