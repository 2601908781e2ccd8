"""The pages of the rules are those that the rules give, and all pages are in the navigation of the site."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from torchlint.project.selection import OWN
from torchlint.rules import BUILT_IN, catalogue

ROOT = Path(__file__).parent.parent
RULES = [code for code, info in catalogue().items() if info.distribution == BUILT_IN.distribution]
PAGES = sorted((ROOT / "docs" / "rules").rglob("*.md"))


def test_they_are_up_to_date() -> None:
    command = [sys.executable, str(ROOT / "scripts" / "build_docs.py"), "--check"]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stdout + run.stderr


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT / "docs").as_posix())
def test_links_lead_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\(([^)#\s]+)\)", page.read_text(encoding="utf-8")):
        assert target.startswith("https://") or (page.parent / target).exists(), target


def test_each_rule_is_on_the_page_of_its_group() -> None:
    listed = "".join(page.read_text(encoding="utf-8") for page in PAGES if page.parent.name == "by-group")
    codes = re.findall(r"^\| \[(TL\d{3})\]", listed, re.MULTILINE)
    assert sorted(codes) == sorted([*RULES, *OWN])


def test_each_page_is_in_the_navigation() -> None:
    index = (ROOT / "docs" / "index.md").read_text(encoding="utf-8")
    listed = re.findall(r"^- \[[^\]]*\]\(([^)]+)\)", index, re.MULTILINE)
    pages = {path.name for path in (ROOT / "docs").glob("*.md")} - {"index.md"}
    assert sorted(listed) == sorted(pages | {"rules/README.md"})
