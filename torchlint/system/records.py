"""Records: dataclasses whose fields nobody sets again, at what other dataclasses cost.

Type checkers take ``frozen_dataclass`` for the ``dataclass`` of the standard library, whose fields nobody may set with
``frozen=True``. When the program runs they are not guarded. Python sets each field of a frozen class by a call of
``object.__setattr__``, and ``dataclasses.replace`` reads them one by one: six times, and three times, as slow for a
value of the model, of which there are thousands in a file. (Measured on trl: 8 % of all processor time.)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dataclasses import dataclass as frozen_dataclass
    from dataclasses import replace
else:
    from dataclasses import dataclass, fields
    from functools import cache
    from operator import attrgetter

    def frozen_dataclass(*, frozen, slots):
        """A decorator that makes a class a dataclass whose objects can be compared and hashed."""
        assert frozen
        return dataclass(slots=slots, unsafe_hash=True)

    def replace(obj, /, **changes):
        """The same record with other fields."""
        names, values = _fields(type(obj))
        return type(obj)(**dict(zip(names, values(obj), strict=True)) | changes)

    @cache
    def _fields(cls):
        names = [field.name for field in fields(cls) if field.init]
        return names, attrgetter(*names)


__all__ = ["frozen_dataclass", "replace"]
