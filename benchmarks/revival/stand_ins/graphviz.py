"""Drawing graphs is not what is tried here."""

from __future__ import annotations


class Digraph:
    pass
