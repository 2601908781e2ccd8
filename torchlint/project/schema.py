"""The JSON Schema of settings files, for editors: made of the keys, and of the kinds of their values."""

from __future__ import annotations

import contextlib
import json

from torchlint.project import keys, kinds
from torchlint.project.keys import SettingKey
from torchlint.project.kinds import Schema
from torchlint.project.stated import toml

URL = "https://raw.githubusercontent.com/torchlint/torchlint/main/docs/torchlint.schema.json"


def schema() -> Schema:
    """What may stand in ``torchlint.toml``, and in the table ``[tool.torchlint]`` of a ``pyproject.toml``."""
    return {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "$id": URL,
        "title": "Settings of torchlint",
        "type": "object",
        "additionalProperties": False,
        "properties": {key.name: _property(key) for key in keys.ALL},
        "definitions": {name: definition() for name, definition in kinds.DEFINITIONS.items()},
    }


def text() -> str:
    """The schema as it is kept in a file."""
    return json.dumps(schema(), indent=2, ensure_ascii=False) + "\n"


def _property(key: SettingKey[object]) -> Schema:
    value: dict[str, object] = {"description": key.text, **key.kind.schema()}
    with contextlib.suppress(ValueError):  # where it is told in words
        value["default"] = toml(f"it = {key.default}")["it"]
    return value
