"""How a value is followed from where it stands."""

from __future__ import annotations

from typing import NamedTuple

from torchlint.model.torch import writers


class How(NamedTuple):
    """What is followed, and what for."""

    through_names: bool = True
    """By the names that the value is given, too; else what gets a name counts as what leaves."""
    through_data: bool = True
    """Through `.data`, which shares the memory and has a version counter of its own."""
    has_graph: bool = True
    """The value has one, so that autograd keeps it for ``backward()`` wherever something is computed with it."""
    for_graph: bool = False
    """What may give it a graph is asked: to be told to require grad is as bad as to have one written to it."""
    of_object: bool = False
    """What is done to the one object is asked, which a wrapper of the same memory would not share: its flags, its
    gradient, its hooks, attributes that it is given."""

    def is_told_by(self, method: str) -> bool:
        """Whether a method of a tensor tells it what is asked about: to require grad, or anything else of its own."""
        return method in writers.TELLING if self.of_object else self.for_graph and method == "requires_grad_"
