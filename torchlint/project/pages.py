"""What there is to say about rules: the docstrings of their files, and what the tool's own diagnostics mean."""

from __future__ import annotations

import re

from torchlint.project.selection import OWN
from torchlint.rules import catalogue

_OWN_DOCS = {
    "TL001": """The file is no valid Python.

        Nothing else can be found in it, and nothing is fixed. Message and place are those of the interpreter, unless it
        is of another version and accepts the file. Always on; `--ignore TL001` says otherwise.

        Most files hold no word that a rule looks for, and those that are found in a folder are not parsed: that would
        double the time that a project takes, and says nothing about torch. So a file without such a word that is no
        Python is passed over; `-v` says how many were not parsed. A file that is named on the command line or open in
        an editor is always parsed, and with `--extend-select TL001` every file is.

        Where blocks are indented with tabs here and spaces there, Python 3 refuses the file. For Python 2 a tab went on
        to the next column that is a multiple of 8. `expand -t 8 old.py > new.py` writes that with spaces; it replaces
        tabs in strings too, so read the difference.
        """,
    "TL002": """A suppressing comment silences nothing.

        What it was written for has been fixed. Comments for rules that are off are left alone. Only comments of
        torchlint's own form are looked at: a `noqa` can be meant for another tool. The fix removes the comment with its
        reason, or those of its rules that silence nothing; of `disable[…]` also its `enable[…]`; it is safe. Off unless
        selected by code or name, which `ALL` does not: `--extend-select TL002`.
        """,
    "TL003": """The bytes of the file are not text in the encoding it has, or not a notebook.

        Python source is UTF-8, or says in one of its first two lines what it is (`# -*- coding: latin-1 -*-`). A
        notebook is JSON, which is UTF-8, with a list of cells. Always on; `--ignore TL003` says otherwise.
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
        | `# torchlint: skip`, `ignore-file`, `noqa` | nothing; the words are `ignore`, `file-ignore`, `disable` |
        | `# torchlint: disable=TL101`, `disable TL101` | nothing: brackets are missing |
        | `# torchlint: disable[TL101]` without `enable[TL101]` below it | TL101 in the rest of the file |
        | `# torchlint: enable[TL101]` without `disable[TL101]` above it | nothing |
        | `# noqa TL101`, `# noqa[TL101]` | TL101 only, though the colon is missing |
        | `# noqa: TL999`, `# noqa: data-read` | nothing; `noqa` takes codes. Those of other tools are not looked at |

        Well-formed are `# torchlint: ignore[TL101, data-inplace] reason`, with the beginning of codes `ignore[TL1]`,
        for everything `ignore` with or without a reason, and all of it with `file-ignore`, and with `disable` and
        `enable` of the same rules (or a plain `enable`) on the lines around what is meant; no blank is needed in
        `#torchlint:ignore`. Always on; `--ignore TL004` says otherwise, and so does a well-formed comment.
        """,
    "TL005": """A suppressing comment does not say why.

        The reason stands after the brackets, or in a second comment on the line:

        | comment | has a reason |
        |---|---|
        | `x.data  # torchlint: ignore[TL101] the mask is read only` | yes |
        | `x.data  # torchlint: ignore[TL101]  # the mask is read only` | yes |
        | `x.data  # noqa: TL101 the mask is read only` | yes |
        | `x.data  # torchlint: ignore[TL101]`, `# noqa: TL101` | no |
        | `x.data  # torchlint: ignore[TL101]  # type: ignore` | no: the second one is for another tool |

        Of a range the reason stands after `disable`. A plain `# noqa` can be meant for another tool.
        Off unless `require-reason = true` stands in the settings, or it is selected by code or name, which `ALL` does
        not: `--extend-select TL005`. A comment
        does not silence it, `--ignore TL005` and `per-file-ignores` do.
        """,
}


def documentation(code: str) -> str:
    """What there is to say about a rule, in Markdown."""
    if code in OWN:
        return re.sub(r"(?m)^ +", "", _OWN_DOCS[code]).strip()
    return catalogue()[code].doc


def name_of(code: str) -> str:
    """The name of a rule."""
    return OWN[code] if code in OWN else catalogue()[code].name


_EXAMPLE = re.compile(r"^```diff[^\n]*\n(.*?)^```", re.MULTILINE | re.DOTALL)
_KINDS = {"-": "safe", "~": "unsafe"}

_OWN_FIXES = {"TL002": ["safe"]}
"""What the tool's own diagnostics have, which have no examples."""


def kinds_of_fixes(code: str) -> list[str]:
    """What kinds of fixes a rule has, by the signs in its examples; and whether some findings have none."""
    if code in OWN:
        return _OWN_FIXES.get(code, [])
    signs = {line[:1] for block in _EXAMPLE.findall(documentation(code)) for line in block.splitlines()}
    words = [word for sign, word in _KINDS.items() if sign in signs]
    return [*words, "sometimes none"] if "!" in signs and words else words
