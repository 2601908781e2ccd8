"""Small objects that nobody changes, of which hundreds of thousands are made.

To mypy :func:`unchanging` is ``dataclass``. While the program runs nothing keeps a field from being assigned, for that
is what making such an object takes four fifths of its time for: each field is set by way of ``object.__setattr__``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from torchlint.system.layers import Layer, is_on

if TYPE_CHECKING:
    from collections.abc import Callable
    from dataclasses import dataclass as unchanging
else:

    def unchanging(*, frozen: bool, slots: bool) -> Callable[[type], type]:
        """What ``dataclass`` makes of a class, but that mypy alone sees to it that no field of an object is set."""
        is_kept_from_it = frozen and not is_on(Layer.PLAIN_RECORDS)
        return dataclass(frozen=is_kept_from_it, unsafe_hash=frozen, slots=slots)


__all__ = ["unchanging"]
