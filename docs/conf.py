"""The documentation as a site: ``sphinx-build --fail-on-warning --nitpicky docs build/site``.

The pages are plain Markdown, which is read on GitHub as well. What only a site needs is added here while a page is
read: its place in the navigation, addresses of files that are no pages, and what GitHub draws itself.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import TYPE_CHECKING

from pygments.lexers.diff import DiffLexer
from pygments.token import Generic

if TYPE_CHECKING:
    from sphinx.application import Sphinx

DOCS = Path(__file__).resolve().parent
ROOT = DOCS.parent
REPOSITORY = "https://github.com/torchlint/torchlint"

project = "torchlint"
copyright = "the authors of torchlint"
extensions = ["myst_parser"]
root_doc = "index"
myst_heading_anchors = 4

html_theme = "furo"
html_title = project
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_js_files = ["filter.js"]
html_copy_source = False
html_show_sphinx = False
html_theme_options = {"source_repository": REPOSITORY, "source_branch": "main", "source_directory": "docs/"}

CODE = re.compile(r"^(?P<fence>`{3,})(?P<language>\w*).*?\n(?P<code>.*?)^(?P=fence)$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\((?P<target>[^)#\s]+)(?P<anchor>#[^)\s]*)?\)")
ENTRY = re.compile(r"^(?:- |\| )\[[^\]]*\]\((?P<page>[^)#\s]+)\.md\)", re.MULTILINE)
"""A link that an item of a list or a row of a table begins with."""


def page_of_the_site(app: Sphinx, docname: str, source: list[str]) -> None:
    """A page as a site needs it."""
    text = CODE.sub(drawn, source[0])
    folder = os.path.dirname(docname)
    text = LINK.sub(lambda link: to_the_repository(link, folder), text)
    if docname == root_doc:
        text += "".join(contents(text, heading) for heading in re.findall(r"^## (.*)$", text, re.MULTILINE))
    elif docname == "rules/README":
        text += toctree(["by-group/README"])
    elif folder == "rules/by-group":
        text += toctree(ENTRY.findall(text))
    source[0] = text


def to_the_repository(link: re.Match[str], folder: str) -> str:
    """A link to a file of the repository that is no page of the site, as its address on GitHub."""
    target = link["target"]
    path = os.path.normpath(DOCS / folder / target)
    if ":" in target or (target.endswith(".md") and Path(path).is_relative_to(DOCS)) or not os.path.exists(path):
        return link[0]
    if Path(path).suffix in (".svg", ".png"):
        return link[0]
    kind = "tree" if os.path.isdir(path) else "blob"
    return f"]({REPOSITORY}/{kind}/main/{Path(path).relative_to(ROOT).as_posix()}{link['anchor'] or ''})"


def drawn(block: re.Match[str]) -> str:
    """A block of code; in place of a graph of mermaid, which takes a program in the browser, its arrows as a table."""
    if block["language"] != "mermaid":
        return block[0]
    names = dict(re.findall(r'^ *(\w+)\["(.*?)"\]', block["code"], re.MULTILINE))
    arrows: dict[str, list[str]] = {}
    for origin, target in re.findall(r"^ *(\w+) --> (\w+)", block["code"], re.MULTILINE):
        arrows.setdefault(names[origin], []).append(f"`{names[target]}`")
    rows = [f"| `{origin}` | {', '.join(targets)} |" for origin, targets in arrows.items()]
    return "\n".join(["| package or module | asks |", "|---|---|", *rows])


def contents(text: str, heading: str) -> str:
    """The pages that are listed below a heading as a part of the navigation."""
    section = text.partition(f"## {heading}\n")[2].partition("\n## ")[0]
    pages = ENTRY.findall(section)
    return toctree(pages, heading) if pages else ""


def toctree(pages: list[str], caption: str = "") -> str:
    """Pages as a part of the navigation."""
    options = [":hidden:", *([f":caption: {caption}"] if caption else [])]
    return "\n".join(["\n\n```{toctree}", *options, "", *pages, "```\n"])


class RuleDiffLexer(DiffLexer):
    """The examples of rules have two more signs than a diff."""

    tokens = {  # noqa: RUF012
        "root": [(r"~.*\n", Generic.Deleted), (r"!.*\n", Generic.Deleted), *DiffLexer.tokens["root"]]
    }


def setup(app: Sphinx) -> None:
    """Called by Sphinx."""
    app.add_lexer("diff", RuleDiffLexer)
    app.connect("source-read", page_of_the_site)
