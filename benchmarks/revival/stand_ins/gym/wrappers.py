"""Recording videos is not what is tried here."""

from __future__ import annotations

from typing import Any


def Monitor(env: Any, *args: Any, **kwargs: Any) -> Any:
    return env
