"""The documentation of rules, for reading in a terminal and for programs."""

from __future__ import annotations

import re
from typing import Any

from torchlint.cli.report import BOLD, GREEN, RED, Style, url
from torchlint.project.selection import OWN
from torchlint.rules import BUILT_IN, catalogue

_OWN_DOCS = {
    "TL001": """The file is no valid Python.

        Nothing else can be found in it, and nothing is fixed. Message and place are the interpreter's own, where it
        does not accept the file either. Always on; `--ignore TL001` says otherwise.

        Most files hold no word that a rule looks for, and those that are found in a folder are not parsed: that would
        double the time that a project takes, and says nothing about torch. So a file without such a word that is no
        Python is passed over; `-v` says how many were not parsed. A file that is named on the command line is always
        parsed, and with `--extend-select TL001` every file is.
        """,
    "TL002": """A suppressing comment silences nothing.

        What it was written for has been fixed, or the rule is off. Only comments of torchlint's own form are looked at:
        a `noqa` can be meant for another tool. Off unless selected by code or name.
        """,
    "TL003": """The bytes of the file are not text in the encoding it has.

        Python source is UTF-8, or says in one of its first two lines what it is (`# -*- coding: latin-1 -*-`). Always
        on; `--ignore TL003` says otherwise.
        """,
    "TL004": """A suppressing comment is not written as torchlint reads it.

        It silences less than may have been meant, never more:

        | comment | silences |
        |---|---|
        | `# torchlint: ignore TL101`, `ignore(TL101)`, `file-ignore data-read` | TL101 only: brackets are missing |
        | `# torchlint: ignore[TL101 TL102]`, `ignore["TL101"]` | TL101 and TL102; rules are separated by commas |
        | `# torchlint: ignore[tl101]`, `ignore[Data-Read]` | TL101; codes are written in capitals, names without |
        | `# torchlint: ignore[]`, `ignore[TL101` | nothing |
        | `# torchlint: ignore[TL999]`, `ignore[data-raed]` | nothing; of several rules those that exist |
        | `# torchlint ignore[TL101]`, `# Torchlint: ignore` | nothing: the colon is missing, the word is not ours |
        | `# torchlint: disable=TL101`, `ignore-file`, `noqa` | nothing; the words are `ignore` and `file-ignore` |
        | `# noqa TL101`, `# noqa[TL101]` | TL101 only, though the colon is missing |
        | `# noqa: TL999`, `# noqa: data-read` | nothing; `noqa` takes codes. Those of other tools are not looked at |

        Well-formed are `# torchlint: ignore[TL101, data-inplace] reason`, with the beginning of codes `ignore[TL1]`,
        for everything `ignore` with or without a reason, and all of it with `file-ignore`; no blank is needed in
        `#torchlint:ignore`. Always on; `--ignore TL004` says otherwise, and so does a well-formed comment.
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


def _origin(code: str) -> str:
    """What a rule comes with, if that is not this program."""
    info = catalogue().get(code)
    return f" ({info.distribution})" if info is not None and info.distribution != BUILT_IN.distribution else ""


def as_json(code: str) -> dict[str, Any]:
    """A rule as a JSON object."""
    text = documentation(code)
    summary = text.partition("\n")[0]
    return {
        "code": code,
        "name": name_of(code),
        "summary": summary,
        "explanation": text,
        "url": url(code, name_of(code)),
    }


def as_text(code: str, style: Style) -> str:
    """A rule to read: the Markdown with its code indented instead of fenced."""
    title = f"{style.paint(code, *RED)} {style.paint(name_of(code), *BOLD)}{_origin(code)}"
    body, in_code = [], False
    for line in documentation(code).splitlines():
        if _FENCE.match(line):
            in_code = not in_code
        elif in_code:
            body.append(f"    {style.paint(line, *_SIGN_COLORS.get(line[:1], ()))}" if line.strip() else "")
        else:
            body.append(line)
    return "\n".join([title, "", *body])
