"""What a suppressing comment says, and what is wrong with the way it says it.

A comment that is not understood silences less than was meant, never more: whoever forgets the brackets of
``ignore TL101`` still means one rule.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator
from typing import Literal, NamedTuple

from torchlint.project.foreign import about_selector
from torchlint.project.selection import GROUPS, did_you_mean, known_names

DirectiveKind = Literal["ignore", "file-ignore", "disable", "enable", "noqa"]

_KINDS: tuple[DirectiveKind, ...] = ("ignore", "file-ignore", "disable", "enable")
_OTHERS = frozenset(("disable-next", "ignore-file", "noqa", "off", "on", "skip", "skip-file"))
"""How other tools say it."""

_OWN = re.compile(r"#\s*(?P<tool>torchlint)\b(?P<colon>\s*:)?\s*(?P<word>\w[\w-]*)?(?P<rest>[^#]*)", re.IGNORECASE)
_LIST = re.compile(r"\s*\[(?P<inside>[^\]]*)(?P<closed>\])?")
_NOQA = re.compile(
    r"#\s*noqa(?![\w-])(?P<colon>\s*:)?(?P<open>[\s\[(=]*)(?P<what>[A-Z]+\d+(?:[,\s]+[A-Z]+\d+)*)?", re.IGNORECASE
)
_WORD = re.compile(r"\w[\w-]*")


class _Codes(NamedTuple):
    """How the codes of all rules are found, those of other packages included."""

    suspect: re.Pattern[str]
    """A comment that may be about suppression."""
    code: re.Pattern[str]
    almost: re.Pattern[str]
    """A code that is written apart, or as part of a word."""


@functools.cache
def _codes() -> _Codes:
    prefixes = "|".join(sorted({code.rstrip("0123456789") for code in known_names()}))
    return _Codes(
        re.compile(rf"#\s*(?:torchlint\b|noqa\b[^\r\n]*(?:(?:{prefixes})\d|\w-\w))", re.IGNORECASE),
        re.compile(rf"(?:{prefixes})\d+", re.IGNORECASE),
        re.compile(rf"({prefixes})[\s_-]*(\d+)", re.IGNORECASE),
    )


class Said(NamedTuple):
    """What a part of a comment says."""

    kind: DirectiveKind
    start: int
    end: int
    """Offsets in the comment."""
    selectors: tuple[str, ...] | None
    """Codes, beginnings of codes, names and groups; None for everything."""
    faults: tuple[str, ...] = ()
    """What is wrong with it, each as the end of a sentence."""


def is_suspect(text: str) -> bool:
    """Whether a text could hold a suppressing comment that is malformed."""
    return _codes().suspect.search(text) is not None


def read(comment: str) -> Iterator[Said]:
    """All that one comment says about suppression."""
    for match in _OWN.finditer(comment):
        said = _own(match)
        if said is not None:
            yield said
    for match in _NOQA.finditer(comment):
        said = _noqa(match)
        if said is not None:
            yield said


def _own(match: re.Match[str]) -> Said | None:
    word, rest = match["word"] or "", match["rest"]
    kind = next((kind for kind in _KINDS if kind == word.lower()), None)
    end = match.end("word") if word else match.end()
    if kind is None:
        fault = _unknown_word(word, rest) if match["colon"] else None
        return Said("ignore", match.start(), end, (), (fault,)) if fault is not None else None
    listed = _LIST.match(rest)
    selectors, faults = _listed(listed) if listed is not None else _unlisted(kind, rest)
    end += listed.end() if listed is not None else 0
    if not match["colon"]:
        if listed is None and selectors is None and rest.strip():
            return None  # a sentence about torchlint
        return Said(kind, match.start(), end, (), (f"a colon is missing: write `# torchlint: {kind}`", *faults))
    if (match["tool"], word) != ("torchlint", kind):
        return Said(kind, match.start(), end, (), (f"write `# torchlint: {kind}` in lower case", *faults))
    return Said(kind, match.start(), end, selectors, faults)


def _unknown_word(word: str, rest: str) -> str | None:
    """What is wrong with ``# torchlint: disable=TL101``; None for a sentence that begins with ``torchlint:``."""
    if not word:
        return None if rest.strip() else "nothing stands after the colon"
    meant = "" if word in _OTHERS else did_you_mean(word, _KINDS)
    is_sentence = rest.strip() and rest.lstrip()[0] not in "[(=:" and not _codes().code.search(rest)
    if is_sentence and not meant and word.lower() not in _OTHERS:
        return None
    return f"unknown word `{word}`{meant}: write `# torchlint: ignore[TL101]`, or `file-ignore` for the whole file"


def _listed(match: re.Match[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The rules in a pair of brackets, and what is wrong with how they are written."""
    if not match["closed"]:
        return (), ("the bracket is not closed",)
    parts = [part for part in (each.strip() for each in match["inside"].split(",")) if part]
    if not parts:
        return (), ("no rule in the brackets: name one, or leave out the brackets to silence all",)
    selectors: list[str] = []
    faults: list[str] = []
    for part in parts:
        words = _WORD.findall(part)
        known = [_selector(word) for word in words]
        if not words or None in known:
            faults.append(_unknown(part))
            continue
        selectors += [selector for selector in known if selector is not None]
        if len(words) > 1 or words[0] != part:
            faults.append(f"write `{', '.join(filter(None, known))}` for `{part}`")
        elif known[0] != part:
            faults.append(f"write `{known[0]}` for `{part}`")
    return tuple(selectors), tuple(faults)


def _unlisted(kind: DirectiveKind, rest: str) -> tuple[tuple[str, ...] | None, tuple[str, ...]]:
    """The same where there are no brackets: rules that are named all the same, else everything."""
    words = _WORD.findall(rest)
    named = [
        w for number, w in enumerate(words) if _codes().code.fullmatch(w) or (_is_name(w) and ("-" in w or not number))
    ]
    if words and words[0] not in named and "-" in words[0] and did_you_mean(words[0].lower(), _names()):
        named.insert(0, words[0])
    if not named and (meant := _codes().almost.search(rest)):
        named = [f"{meant[1].upper()}{meant[2]}"]
    if not named:
        return None, ()
    known = tuple(selector for word in named if (selector := _selector(word)) is not None)
    faults = [_unknown(word) for word in named if _selector(word) is None]
    written = ", ".join(known) or "TL101"
    return known, (f"rules go into brackets: write `# torchlint: {kind}[{written}]`", *faults)


def _noqa(match: re.Match[str]) -> Said | None:
    codes = re.split(r"[,\s]+", match["what"].upper()) if match["what"] else []
    own = [code for code in codes if _codes().code.fullmatch(code)]
    faults = tuple(_unknown(code) for code in own if _selector(code) is None)
    span = match.start(), match.start() + len(match.group().rstrip(" \t[(="))
    if match["colon"] and codes and not match["open"].strip():
        return Said("noqa", *span, tuple(codes), faults)
    if match["colon"] and not own:
        word = _WORD.match(match.string, match.end())
        if word is None or "-" not in word.group() or not _is_name(word.group()):
            return None
        return Said("noqa", *span, (), (f"`noqa` takes codes: write `# noqa: {_names()[word.group().lower()]}`",))
    if not own:  # what other tools mean by it is no matter of ours
        return Said("noqa", *span, None)
    return Said("noqa", *span, tuple(codes), (f"write `# noqa: {', '.join(codes)}`", *faults))


@functools.cache
def _names() -> dict[str, str]:
    """Codes of all rules by name."""
    return {name: code for code, name in known_names().items()}


def _is_name(word: str) -> bool:
    return word.lower() in _names()


def _selector(word: str) -> str | None:
    """What is meant by a word, in whichever case: a name, a code or the beginning of codes."""
    if word.lower() in _names() or word.lower() in GROUPS:
        return word.lower()
    code = word.upper()
    return code if any(known.startswith(code) for known in known_names()) else None


def _unknown(word: str) -> str:
    meant = (
        about_selector(word) or did_you_mean(word, known_names()) or did_you_mean(word.lower(), [*_names(), *GROUPS])
    )
    return f"unknown rule `{word}`{meant}"
