"""Which rules are on, and whose fixes may be applied: layers of selectors, the more exact of which wins."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from torchlint.diagnostic import Group, Severity
from torchlint.project.foreign import about_selector
from torchlint.rules import catalogue

OWN = {
    "TL001": "syntax-error",
    "TL002": "unused-suppression",
    "TL003": "unreadable-file",
    "TL004": "malformed-suppression",
    "TL005": "missing-reason",
}
"""The tool's own diagnostics. They are never selected by ALL or TL; TL002 and TL005 have to be selected at all."""

OWN_SEVERITIES = {
    "TL001": Severity.ERROR,
    "TL002": Severity.INFO,
    "TL003": Severity.ERROR,
    "TL004": Severity.WARNING,
    "TL005": Severity.WARNING,
}
"""They are about no code, so they are in no group."""

GROUPS = tuple(group.value for group in Group)
"""Words that select all rules that are about something."""

_AS_EXACT_AS = 3
"""A group is as exact as ``TL1``."""

_CLOSE = 9
"""Known words that are compared with an unknown one, if as many look like it."""

ALWAYS_ON = ("TL001", "TL003", "TL004")


class SettingsError(ValueError):
    """Settings that cannot be meant; the message names the place and the way out."""

    def __init__(self, message: str, *about: str) -> None:
        super().__init__(message)
        self.about = about
        """What is wrong, as it is written in the file: a key, the item of its table, a selector; as far as is known."""


@dataclass(frozen=True, slots=True)
class Selection:
    """One layer of selecting rules: a file's, or the command line's."""

    select: tuple[str, ...] | None = None
    extend_select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()


NOTHING_SAID = Selection()
"""What selects and ignores nothing."""


@functools.cache
def known_names() -> dict[str, str]:
    """Names of all rules by code, the tool's own diagnostics included."""
    return dict(sorted((OWN | {code: info.name for code, info in catalogue().items()}).items()))


def group_of(code: str) -> Group | None:
    """What a rule is about; None for the tool's own diagnostics and unknown codes."""
    info = catalogue().get(code)
    return info.group if info is not None else None


def severity_of(code: str) -> Severity:
    """How bad the findings of a rule are where they do not say it themselves."""
    info = catalogue().get(code)
    return info.severity if info is not None else OWN_SEVERITIES.get(code, Severity.WARNING)


def means(selector: str, code: str, name: str) -> bool:
    """Whether a selector means a rule: its code or the beginning of it, its name, its group."""
    return bool(_specificity(selector, code, name))


def check_selectors(selectors: Iterable[str], where: str) -> tuple[str, ...]:
    """The selectors, if each selects something.

    Raises:
        SettingsError: one is neither a rule's code, nor the beginning of one, nor its name, nor its group.
    """
    names, checked = known_names(), tuple(selectors)
    for selector in checked:
        if (
            selector == "ALL"
            or selector in GROUPS
            or any(_specificity(selector, code, name) for code, name in names.items())
        ):
            continue
        raise SettingsError(f"{where}: {unknown_rule(selector, [*GROUPS, 'ALL'])}", selector)
    return checked


def unknown_rule(selector: str, others: Iterable[str] = GROUPS) -> str:
    """What to say of a rule that there is not; ``others`` are words that may be meant beside codes and names."""
    names = known_names()
    meant = about_selector(selector) or did_you_mean(selector, [*names, *names.values(), *others])
    return f"unknown rule `{selector}`{meant or ' (`torchlint rule --all` explains all)'}"


def listed(values: Iterable[str], option: str) -> tuple[str, ...]:
    """The selectors of an option that can be repeated and takes comma-separated lists.

    Raises:
        SettingsError: one is unknown, or there is none in what was given.
    """
    given = tuple(values)
    selectors = [*filter(None, (part.strip() for value in given for part in value.split(",")))]
    if given and not selectors:
        raise SettingsError(f"{option}: no rule is given")
    return check_selectors(selectors, option)


def _specificity(selector: str, code: str, name: str) -> int:
    """How exactly a selector means a rule; 0 if it does not."""
    if selector == name:
        return len(code)
    if selector in GROUPS:
        return _AS_EXACT_AS if group_of(code) == selector else 0
    return len(selector) if selector and code.startswith(selector) else 0


def selected(layers: Sequence[Selection]) -> frozenset[str]:
    """The rules that are on.

    The more exact selector wins (``select = ["TL1"]``, ``ignore = ["TL101"]``), at the same exactness the later layer,
    within a layer ``ignore``. A ``select`` starts afresh: earlier layers don't count.
    """
    first = max((number for number, layer in enumerate(layers) if layer.select is not None), default=0)
    layers = layers[first:]
    return frozenset(code for code, name in known_names().items() if _is_on(code, name, layers))


def _is_on(code: str, name: str, layers: Sequence[Selection]) -> bool:
    rule = catalogue().get(code)
    by_default = layers[0].select is None and rule is not None and rule.by_default
    votes = [((-1, 0), by_default or code in ALWAYS_ON)]
    for number, layer in enumerate(layers):
        for selectors, on in ((layer.select or (), True), (layer.extend_select, True), (layer.ignore, False)):
            votes += (((rank, number), on) for rank in ranks(selectors, code, name))
    return max(votes, key=lambda vote: (vote[0], not vote[1]))[1]


def ranks(selectors: Iterable[str], code: str, name: str) -> Iterator[int]:
    """How exactly each of the selectors that mean a rule does so."""
    for selector in selectors:
        if code in OWN and selector in ("ALL", "T", "TL"):  # too wide to mean the tool's own diagnostics
            continue
        if selector == "ALL":
            yield 0
        elif rank := _specificity(selector, code, name):
            yield rank


def fixable(layers: Iterable[Selection]) -> frozenset[str]:
    """The rules whose fixes may be applied: all, unless settings say otherwise.

    What a later layer says of a rule counts, whatever an earlier one says. Within a layer the more exact selector wins,
    at the same exactness ``unfixable``.
    """
    names = known_names()
    on = set(names)
    for layer in layers:
        if layer.select is not None:
            on.clear()
        for code, name in names.items():
            yes = max(ranks((*(layer.select or ()), *layer.extend_select), code, name), default=-1)
            no = max(ranks(layer.ignore, code, name), default=-1)
            if yes > no:
                on.add(code)
            elif no >= 0:
                on.discard(code)
    return frozenset(on)


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """The end of a message about an unknown word: the known one that looks most like it."""
    import difflib

    known = list(known)

    def likeness(one: str, other: str) -> tuple[float, int]:
        same_places = sum(left == right for left, right in zip(one, other, strict=False))  # codes are often as alike
        return difflib.SequenceMatcher(None, one, other).ratio(), same_places

    for meant in (word, word.upper()):
        close = difflib.get_close_matches(meant, known, _CLOSE)
        if close:
            return f" (did you mean `{max(close, key=lambda each: likeness(each, meant))}`?)"
    return ""
