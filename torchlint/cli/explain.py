"""The documentation of rules, for reading in a terminal and for programs."""

from __future__ import annotations

import re
from typing import Any

from torchlint.cli.report import BOLD, GREEN, RED, Style, url
from torchlint.project.pages import documentation, kinds_of_fixes, name_of
from torchlint.project.selection import ALWAYS_ON, group_of, severity_of
from torchlint.rules import BUILT_IN, catalogue

SIGNS = (
    "In the examples: `-` a finding with a safe fix, `~` with an unsafe fix, `!` without a fix, `+` what it becomes."
)
"""How to read examples."""

_FENCE = re.compile(r"^ *```")
_SIGN_COLORS = {"-": RED[1:], "!": RED[1:], "~": RED[1:], "+": GREEN}


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
        "group": group.value if (group := group_of(code)) is not None else None,
        "severity": severity_of(code).value,
        "default": is_on_by_default(code),
        "fixes": kinds_of_fixes(code),
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
            if line.strip().startswith("```diff") and SIGNS not in body:
                body += [SIGNS, ""]
        elif in_code:
            body.append(f"    {style.paint(line, *_SIGN_COLORS.get(line[:1], ()))}" if line.strip() else "")
        else:
            body.append(line)
    page = url(code, name_of(code))
    fix = f"Fix: {', '.join(kinds_of_fixes(code)) or 'none'}."
    return "\n".join([title, f"{traits(code)} {fix}", *([page] if page is not None else []), "", *body])


def as_markdown(code: str) -> str:
    """The page of a rule: a heading, what it is about, and the text with its examples."""
    title, _, rest = documentation(code).partition("\n")
    rest = re.sub(r"(?m)^```diff .*$", "```diff", rest.strip("\n"))
    kinds = ", ".join(kinds_of_fixes(code))
    head = f"# {name_of(code)} ({code})\n\n**{title}**\n\n{f'Fix: {kinds}. ' if kinds else ''}{traits(code)}"
    return f"{head}\n\n{rest}" if rest else head


def is_on_by_default(code: str) -> bool:
    """Whether a rule is on unless something else is selected."""
    return code in ALWAYS_ON or (code in catalogue() and catalogue()[code].by_default)


def traits(code: str) -> str:
    """How bad what a rule finds is, and what it is about, in a line."""
    group = group_of(code)
    about = f"Group: {group.value}. " if group is not None else ""
    off = "" if is_on_by_default(code) else f" Off unless it is selected: `--extend-select {code}`."
    return f"{about}Severity: {severity_of(code).value}, where a finding does not say otherwise.{off}"
