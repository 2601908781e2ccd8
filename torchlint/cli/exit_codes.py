"""Exit codes, the same for all commands."""

from __future__ import annotations

CLEAN, FINDINGS, USAGE, INCOMPLETE = range(4)
"""All is well; there is something to look at; the command cannot be meant; not all could be done."""
