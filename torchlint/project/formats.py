"""How reports can be written, by name."""

from __future__ import annotations

FORMATS = (
    "full",
    "concise",
    "grouped",
    "agent",
    "json",
    "json-lines",
    "sarif",
    "github",
    "gitlab",
    "junit",
    "rdjson",
    "rdjsonl",
    "azure",
    "pylint",
    "markdown",
)
"""The formats, in the order in which pages list them."""

AUTO = "auto"
"""What the service reads that the program runs in, if its environment tells, else what people read. For no file."""
