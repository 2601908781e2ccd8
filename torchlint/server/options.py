"""What an editor's own settings say, beside those of the project."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from torchlint.diagnostic import Confidence
from torchlint.project.selection import NOTHING_SAID, Selection, SettingsError, check_selectors, did_you_mean
from torchlint.project.settings import check_version


@dataclass(frozen=True, slots=True)
class EditorOptions:
    """The settings of an editor. What they select goes before the settings of the project, as on the command line."""

    enable: bool = True
    """Whether anything is reported at all."""
    selection: Selection = NOTHING_SAID
    target_torch: str | None = None
    min_confidence: Confidence | None = None
    unsafe_fixes: bool | None = None
    """Whether "fix all" applies unsafe fixes, too; None for what the project says."""
    hover: bool = True
    isolated: bool = False
    """Whether settings files are left alone."""


def section(given: object) -> Mapping[str, Any] | None:
    """Our part of what an editor sends: below ``settings`` or ``torchlint``, or as it is; None if there is none.

    Some send the settings of all servers, and some send nothing in particular when they start.
    """
    if not isinstance(given, Mapping):
        return None
    for key in ("settings", "torchlint"):
        if isinstance(inner := given.get(key), Mapping):
            return section(inner) if key == "settings" else inner
    return given if not KEYS.keys().isdisjoint(given) else None


def read_options(given: Mapping[str, Any]) -> EditorOptions:
    """The settings in our part of what an editor sends.

    Raises:
        SettingsError: they make no sense.
    """
    for key in given:
        if key not in KEYS:
            raise SettingsError(f"the editor's settings: unknown key `{key}`{did_you_mean(str(key), KEYS)}")
    values = {key: value for key, value in given.items() if value is not None}
    for key, value in values.items():
        _check(key, value)
    lists = {key: check_selectors(values[key], f"the editor's settings: `{key}`") for key in _LISTS if key in values}
    target, least = values.get("targetTorch"), values.get("minConfidence")
    if least is not None and least not in {each.value for each in Confidence}:
        raise SettingsError("the editor's settings: `minConfidence` must be high, medium or low")
    return EditorOptions(
        values.get("enable", True),
        Selection(lists.get("select"), lists.get("extendSelect", ()), lists.get("ignore", ())),
        check_version(target, "the editor's settings: `targetTorch`") if target is not None else None,
        Confidence(least) if least is not None else None,
        values.get("unsafeFixes"),
        values.get("hover", True),
        values.get("isolated", False),
    )


def _check(key: str, value: object) -> None:
    kind = KEYS[key]
    members = value if isinstance(value, list) else []
    if not isinstance(value, kind) or not all(isinstance(each, str) for each in members):
        raise SettingsError(f"the editor's settings: `{key}` must be {_KINDS[kind]}")


_LISTS = ("select", "extendSelect", "ignore")

KEYS: Mapping[str, type] = {
    "enable": bool,
    **dict.fromkeys(_LISTS, list),
    "targetTorch": str,
    "minConfidence": str,
    "unsafeFixes": bool,
    "hover": bool,
    "isolated": bool,
}
"""All keys, with the type of each value."""

_KINDS = {bool: "true or false", str: "a text", list: "a list of texts"}
