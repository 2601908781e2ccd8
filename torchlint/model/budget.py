"""How much of a file is interpreted before the rest of it counts as not known.

What is counted is expressions, one each time it is interpreted, and how many functions wait for each other. Both are
the same for the same file on any machine, in any process, whatever was checked before. When all is used up, functions
that are being interpreted come to their end, without those that they call; no other one is begun.
"""

from __future__ import annotations

DEEPEST = 10_000
"""How many questions about functions and classes may wait for each other. Their frames need 300 MB."""


class Budget:
    """What is left for a file; of a function of another file, for that function."""

    __slots__ = ("_limit", "has_left_out_classes", "is_spent", "used")

    def __init__(self, limit: int) -> None:
        """``limit``: the number of expressions; 0 for no limit."""
        self._limit = limit
        self.used = 0
        """How many expressions were interpreted."""
        self.is_spent = False
        """Whether anything was left out."""
        self.has_left_out_classes = False
        """Whether a class derives from more classes than are looked at. All else is interpreted."""

    def allows(self, depth: int = 0) -> bool:
        """Whether something may be begun inside of so many others. Once it may not, nothing may."""
        if (self._limit and self.used > self._limit) or depth > DEEPEST:
            self.is_spent = True
        return not self.is_spent
