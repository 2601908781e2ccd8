"""What a file may cost: how large and how dense it may be, and how much of it is interpreted."""

from __future__ import annotations

import re
from dataclasses import dataclass

from torchlint.system.reading import LIMIT

FILE_SIZE = 2 << 20
"""Bytes of a file, where nothing else is said. The largest met in 10,000 real ones has 1.4 million, and takes 12 s."""

STATEMENTS = 20_000
"""Statements of a file of that size. The largest number met in 12,000 real files is 7,010."""

PARTS = 350_000
"""Names, literals and brackets of a file of that size. The largest number met is 107,511."""

BUDGET = 2_000_000
"""Expressions to interpret in a file, where nothing else is said. Real files need less than a tenth of it."""

TOO_MUCH = "there is more to interpret than `model-budget` allows"
"""What is said of a file of which some was not interpreted."""

_UNITS = {"": 1, "K": 1 << 10, "M": 1 << 20}


@dataclass(frozen=True, slots=True)
class Limits:
    """What a file may cost; 0 means that there is no limit but that of :mod:`torchlint.system.reading`."""

    file_size: int = FILE_SIZE
    """Bytes that it may have."""
    budget: int = BUDGET
    """Expressions in it that may be interpreted, each as often as it is."""

    def allows(self, size: int) -> bool:
        """Whether a file of so many bytes is checked."""
        return not self.file_size or size <= self.file_size

    @property
    def statements(self) -> int:
        """Statements that it may have: more where files may be larger, and not less where they are to be small."""
        return self._scaled(STATEMENTS)

    @property
    def parts(self) -> int:
        """Names, literals and brackets that it may have, likewise."""
        return self._scaled(PARTS)

    def _scaled(self, usual: int) -> int:
        return usual * max(self.file_size or LIMIT, FILE_SIZE) // FILE_SIZE


USUAL = Limits()


def parse_size(text: str) -> int | None:
    """The bytes of ``5M``, ``300K`` or ``1000``; None if that is no size."""
    match = re.fullmatch(r"([0-9]{1,15})([KM]?)", text.strip().upper())
    return int(match[1]) * _UNITS[match[2]] if match else None


def size_of(count: int) -> str:
    """A number of bytes as it would be written in the settings."""
    for unit in ("M", "K"):
        if count and count % _UNITS[unit] == 0:
            return f"{count // _UNITS[unit]}{unit}"
    return str(count)
