"""The documentation of rules, for reading in a terminal and for programs."""

from __future__ import annotations

import re
from typing import Any

from torchlint.config import OWN
from torchlint.report import BOLD, GREEN, RED, Style, url
from torchlint.rules import catalogue

_OWN_DOCS = {
    "TL001": """The file is no valid Python.

        Nothing else can be found in it, and nothing is fixed. Message and place are the interpreter's own, where it
        does not accept the file either. Always on; `--ignore TL001` says otherwise.
        """,
    "TL002": """A suppressing comment silences nothing.

        What it was written for has been fixed, or the rule is off. Only comments of torchlint's own form are looked at:
        a `noqa` can be meant for another tool. Off unless selected by code or name.
        """,
    "TL003": """The bytes of the file are not text in the encoding it has.

        Python source is UTF-8, or says in one of its first two lines what it is (`# -*- coding: latin-1 -*-`). Always
        on; `--ignore TL003` says otherwise.
        """,
}

_FENCE = re.compile(r"^ *```")
_SIGN_COLORS = {"-": RED[1:], "!": RED[1:], "~": RED[1:], "+": GREEN}


def documentation(code: str) -> str:
    """What there is to say about a rule, in Markdown."""
    if code in OWN:
        return re.sub(r"(?m)^ +", "", _OWN_DOCS[code]).strip()
    return catalogue()[code].doc


def name_of(code: str) -> str:
    """The name of a rule."""
    return OWN[code] if code in OWN else catalogue()[code].name


def as_json(code: str) -> dict[str, Any]:
    """A rule as a JSON object."""
    text = documentation(code)
    summary = text.partition("\n")[0]
    return {"code": code, "name": name_of(code), "summary": summary, "explanation": text, "url": url(name_of(code))}


def as_text(code: str, style: Style) -> str:
    """A rule to read: the Markdown with its code indented instead of fenced."""
    title = f"{style.paint(code, *RED)} {style.paint(name_of(code), *BOLD)}"
    body, in_code = [], False
    for line in documentation(code).splitlines():
        if _FENCE.match(line):
            in_code = not in_code
        elif in_code:
            body.append(f"    {style.paint(line, *_SIGN_COLORS.get(line[:1], ()))}" if line.strip() else "")
        else:
            body.append(line)
    return "\n".join([title, "", *body])
