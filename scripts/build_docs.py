"""Writes the pages of the rules from the rules: ``docs/rules``, by code and by group, and the table of the README;
``docs/api.md`` and the files that are read at run time from the table of torch's API; in ``docs/writing-a-rule.md``
what the model can be asked; in ``docs/settings.md`` the keys, ``docs/torchlint.schema.json``, ``docs/terminal.svg``.

python scripts/build_docs.py           write
python scripts/build_docs.py --check   say what is out of date, and write nothing
"""

from __future__ import annotations

import inspect
import json
import os
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from types import FunctionType
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))
sys.path.insert(0, str(ROOT / "scripts"))

import build_api  # noqa: E402
import draw_terminal  # noqa: E402

from torchlint.cli.explain import as_markdown, is_on_by_default, traits  # noqa: E402
from torchlint.diagnostic import Group  # noqa: E402
from torchlint.model import Model  # noqa: E402
from torchlint.project import keys, schema  # noqa: E402
from torchlint.project.pages import documentation, kinds_of_fixes, name_of  # noqa: E402
from torchlint.project.selection import ALWAYS_ON, OWN, group_of, severity_of  # noqa: E402
from torchlint.rules import BUILT_IN, catalogue, source, stems  # noqa: E402
from torchlint.rules import index as rules_index  # noqa: E402

PAGES = ROOT / "docs" / "rules"
README = ROOT / "README.md"
START, END = "<!-- rules:start -->", "<!-- rules:end -->"

RULES = [code for code, info in catalogue().items() if info.distribution == BUILT_IN.distribution]
"""The codes of the rules of this repository, and not those of other packages that may be installed."""

GROUPS = {
    "TL0": "The tool's own diagnostics",
    "TL1": "Leaving the autograd graph",
    "TL2": "Idioms from before PyTorch 0.4",
    "TL3": "Removed, renamed and deprecated API",
    "TL4": "Training loops",
    "TL5": "Modules and model definitions",
    "TL6": "Speed",
    "TL7": "Security and serialisation",
    "TL8": "Reproducibility and numerical stability",
    "TL9": "Domain libraries",
}

INTRODUCTION = """\
# Rules

<!-- Written by scripts/build_docs.py from the docstrings of the rules; edit those. -->

Each rule has a code, which never changes its meaning, and a name; both select it (`--select TL101`,
`--ignore variable-wrapper`). `torchlint rule TL101` shows a page in the terminal. Rules marked "(off)" have to be
selected (`--extend-select TL309`); their pages say why: it is a matter of style, works as ever, or is rarely seen.
There are [groups](by-group/README.md) as well, which select their rules (`--select security`).

A fix is **safe** if for every program in which the original line ran, the new one gives the same values and gradients,
or it turns what raised into what was meant; `--fix` applies it. It is **unsafe** if it is the right modern form but
something observable may change; `--fix --unsafe-fixes` applies it too. "sometimes" says that some findings have none.

In the examples `-` marks a line with a finding and a safe fix, `~` one with an unsafe fix, `!` one without a fix, and
`+` what the line becomes. They are the tests of the rule.
"""


GROUP_PAGES = PAGES / "by-group"
WRITTEN = "<!-- Written by scripts/build_docs.py. -->"

ABOUT_GROUPS = {
    Group.CORRECTNESS: "What raises, or computes something else than what is meant.",
    Group.MIGRATION: "What was written for a PyTorch of long ago.",
    Group.DEPRECATED: "What PyTorch is going to take away, or has renamed.",
    Group.PERFORMANCE: "What costs time or memory for nothing.",
    Group.SECURITY: "What runs code that somebody else has written.",
    Group.REPRODUCIBILITY: "Random numbers that repeat, or differ, where they should not.",
}

GROUPS_INTRODUCTION = f"""\
# Rules by group

{WRITTEN}

A group stands wherever a code does: `--select security`, `ignore = ["migration"]`, `# torchlint: ignore[performance]`.
[All rules](../README.md) are listed by code, too.
"""


def fixes(code: str) -> str:
    """What kinds of fixes the examples of a rule show, in a few words."""
    return ", ".join(kinds_of_fixes(code))


def summary(code: str) -> str:
    """The title of a rule."""
    return documentation(code).partition("\n")[0]


def page(code: str) -> str:
    """The page of one rule."""
    about = traits(code)
    return as_markdown(code).replace(about, f"{about} [All rules](README.md)", 1) + "\n"


def is_off(code: str) -> str:
    """A mark for rules that have to be selected."""
    return " (off)" if code in RULES and not is_on_by_default(code) else ""


def table(codes: list[str], folder: str) -> list[str]:
    """The rows of some rules."""
    rows = [
        f"| [{c}]({folder}{name_of(c)}.md) | {name_of(c)}{is_off(c)} | {summary(c)} | {fixes(c) or 'none'} |"
        for c in codes
    ]
    return ["| code | name | what it finds | fix |", "|---|---|---|---|", *rows]


def index() -> str:
    """The page with all rules."""
    codes = sorted([*OWN, *RULES])
    lines = [INTRODUCTION]
    for group, title in GROUPS.items():
        mine = [code for code in codes if code.startswith(group)]
        if mine:
            lines += [f"## {title}", "", *table(mine, ""), ""]
    return "\n".join(lines).rstrip("\n") + "\n"


def group_pages() -> dict[Path, str]:
    """A page for each group of rules, and one that lists these."""
    pages, rows = {}, []
    for group, about in ABOUT_GROUPS.items():
        mine = [code for code in RULES if group_of(code) is group]
        if mine:
            pages[GROUP_PAGES / f"{group.value}.md"] = group_page(group, about, mine)
            rows.append(f"| [{group.value}]({group.value}.md) | {about} | {len(mine)} |")
    pages[GROUP_PAGES / "diagnostics.md"] = diagnostics_page()
    rows.append(f"| [none](diagnostics.md) | What torchlint says of files and comments, not of code. | {len(OWN)} |")
    lines = [GROUPS_INTRODUCTION, "| group | about | rules |", "|---|---|---|", *rows]
    return pages | {GROUP_PAGES / "README.md": "\n".join(lines) + "\n"}


def group_page(group: Group, about: str, codes: list[str]) -> str:
    """The rules of one group."""
    said = f"{about} `torchlint check --select {group.value}` looks for these only."
    return "\n".join([f"# {group.value.capitalize()}", "", WRITTEN, "", said, "", *with_severities(codes)]) + "\n"


def diagnostics_page() -> str:
    """What is in no group."""
    always = f"{', '.join(ALWAYS_ON[:-1])} and {ALWAYS_ON[-1]} are on whatever is selected."
    about = f"What torchlint says of files and of comments. These are in no group; {always}"
    return "\n".join(["# Files and comments", "", WRITTEN, "", about, "", *with_severities(sorted(OWN))]) + "\n"


def with_severities(codes: list[str]) -> list[str]:
    """The rows of some rules for a page of a group."""
    rows = [
        f"| [{code}](../{name_of(code)}.md) | {name_of(code)}{is_off(code)} | {summary(code)} "
        f"| {severity_of(code).value} | {fixes(code) or 'none'} |"
        for code in codes
    ]
    return ["| code | name | what it finds | severity | fix |", "|---|---|---|---|---|", *rows]


def readme(text: str) -> str:
    """The README with the table between its markers; the same text if it has none."""
    rows = "\n".join(table(RULES, "docs/rules/"))
    pattern = re.escape(START) + ".*?" + re.escape(END)
    return re.sub(pattern, lambda _: f"{START}\n{rows}\n{END}", text, count=1, flags=re.DOTALL)


TUTORIAL = ROOT / "docs" / "writing-a-rule.md"
QUESTIONS = "<!-- questions:start -->", "<!-- questions:end -->"


def questions() -> list[str]:
    """The public questions of the model that rules ask, each with the first sentence of what it says of itself."""
    asked = set[str]()
    for path in (ROOT / "torchlint" / "rules").rglob("*.py"):
        asked.update(re.findall(r"\bmodel\.(\w+)\(", path.read_text(encoding="utf-8")))
    rows = []
    for name, method in vars(Model).items():
        if name in asked and inspect.isfunction(method):
            given = list(_parameters(method))
            sentence = " ".join((inspect.getdoc(method) or "").partition("\n\n")[0].split()).replace("``", "`")
            rows.append(f"| `model.{name}({', '.join(given)})` | {sentence} |")
    return ["| question | answer |", "|---|---|", *rows]


def _parameters(method: FunctionType) -> Iterator[str]:
    """The parameters of a method as they are written, without types."""
    for parameter in list(inspect.signature(method).parameters.values())[1:]:
        stars = "**" if parameter.kind is parameter.VAR_KEYWORD else "*" * (parameter.kind is parameter.VAR_POSITIONAL)
        yield f"{stars}{parameter.name}"


def tutorial(text: str) -> str:
    """The page on writing rules with what the model can be asked."""
    start, end = QUESTIONS
    pattern = re.escape(start) + ".*?" + re.escape(end)
    rows = "\n".join(questions())
    return re.sub(pattern, lambda _: f"{start}\n{rows}\n{end}", text, count=1, flags=re.DOTALL)


API_INTRODUCTION = """\
# Removed, renamed and deprecated API

<!-- Written by scripts/build_docs.py from torchlint/rules/api/data/api.toml; edit that. -->

What [the rules](rules/README.md) of TL3, TL7 and TL9 know. "status" is what the example of a row does on PyTorch 2.13,
where a test runs it: raises, warns, silent; "not run" are libraries and devices that the tests do not have. Where only
a range of versions is known, its end is given. "fix" says whether there is a safe one, an unsafe one, or none.
"""


def api_page() -> str:
    """The page with all rows of the table, by rule."""
    lines = [API_INTRODUCTION]
    rows = build_api.rows()
    executed = sum(row["status"] != "not-run" for row in rows)
    lines.append(f"{len(rows)} rows, {executed} of them run by a test.\n")
    for code in sorted({row["rule"] for row in rows}):
        lines += [f"## {code} {name_of(code)}", "", "| name | deprecated | removed | instead | since | fix | status |"]
        lines.append("|---|---|---|---|---|---|---|")
        lines += [_api_row(row) for row in sorted(rows, key=lambda row: row["name"]) if row["rule"] == code]
        lines.append("")
    return "\n".join(lines).rstrip("\n") + "\n"


def _api_row(row: dict[str, Any]) -> str:
    argument = f"(…, {row['argument']}={row.get('literal', '')})" if row["kind"] == "argument" else ""
    left_out = f" without `{row['argument']}=`" if row["kind"] == "default" else ""
    order = " (old order)" if row["kind"] == "positional" else ""
    name = f"`{row['name']}{argument}`{left_out}{order}"
    instead = row.get("advice") or (f"`{row['replacement']}`" if "replacement" in row else "")
    if "condition" in row:
        instead += f" ({row['condition']})"
    fix = ("safe" if row.get("safe") else "unsafe") if row.get("fix") else "none"
    cells = [name, row["deprecated"], row.get("removed", ""), instead, row.get("since", ""), fix, row["status"]]
    return (
        "| "
        + " | ".join(cell.replace("|", "\\|").replace("\n", " ").replace("not-run", "not run") for cell in cells)
        + " |"
    )


SETTINGS = ROOT / "docs" / "settings.md"
KEYS = "<!-- keys:start -->", "<!-- keys:end -->"


def settings_page(text: str) -> str:
    """The page on settings with all keys, their types and defaults."""
    rows = ["| key | value | default | what it does |", "|---|---|---|---|"]
    for key in keys.ALL:
        is_toml = key.default == "{}" or key.default[0] in '["0123456789' or key.default in ("true", "false")
        default = f"`{key.default}`" if is_toml and "," not in key.default else key.default
        rows.append(f"| `{key.name}` | {key.kind.name} | {default} | {key.text} As in `{key.name} = {key.example}`. |")
    start, end = KEYS
    pattern = re.escape(start) + ".*?" + re.escape(end)
    joined = "\n".join(rows)
    return re.sub(pattern, lambda _: f"{start}\n{joined}\n{end}", text, count=1, flags=re.DOTALL)


def declarations() -> str:
    """What rules declare, so that their sources need not be parsed when the program starts. A line each."""
    entries = {stem: _entry(os.path.join(BUILT_IN.folder, f"{stem}.py")) for stem in stems(BUILT_IN)}
    lines = (f"{json.dumps(stem)}:{json.dumps(entry, ensure_ascii=False)}" for stem, entry in entries.items())
    return "{\n" + ",\n".join(lines) + "\n}\n"


def _entry(file: str) -> rules_index.IndexEntry:
    return rules_index.entry_of(source(file), file)


def wanted() -> dict[Path, str | None]:
    """All files with what is to be in them; None for what is to go."""
    files: dict[Path, str | None] = dict.fromkeys(PAGES.glob("*.md"))
    files |= {PAGES / f"{name_of(code)}.md": page(code) for code in (*OWN, *RULES)}
    files[PAGES / "README.md"] = index()
    files |= dict.fromkeys(GROUP_PAGES.glob("*.md")) | group_pages()
    files[PAGES.parent / "api.md"] = api_page()
    files |= build_api.wanted()
    files[SETTINGS] = settings_page(SETTINGS.read_text(encoding="utf-8"))
    files[ROOT / "docs" / "torchlint.schema.json"] = schema.text()
    files[ROOT / "docs" / "terminal.svg"] = draw_terminal.svg()
    files[TUTORIAL] = tutorial(TUTORIAL.read_text(encoding="utf-8"))
    files[Path(rules_index.PATH)] = declarations()
    if README.exists():
        files[README] = readme(README.read_text(encoding="utf-8"))
    return files


def outdated() -> dict[Path, str | None]:
    """The files that are not as they should be, with what is to be in them."""
    return {path: text for path, text in wanted().items() if text != _present(path)}


def _present(path: Path) -> str | None:
    return path.read_text(encoding="utf-8") if path.exists() else None


def main() -> int:
    """Write, or check."""
    files = outdated()
    if "--check" in sys.argv[1:]:
        for path in files:
            print(f"{path.relative_to(ROOT)} is out of date: run scripts/build_docs.py")
        return 1 if files else 0
    GROUP_PAGES.mkdir(parents=True, exist_ok=True)
    for path, text in files.items():
        if text is None:
            path.unlink()
        else:
            path.write_text(text, encoding="utf-8", newline="\n")
        print(f"{path.relative_to(ROOT)} {'removed' if text is None else 'written'}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
