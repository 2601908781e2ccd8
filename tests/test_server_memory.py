"""What the server remembers from one keystroke to the next saves work and changes nothing."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

pytest.importorskip("pygls.lsp.server", reason="the extra `lsp` is not installed")

from torchlint.file.dispatch.dispatch import Look
from torchlint.file.dispatch.subject import Subject
from torchlint.file.first_look import first_look
from torchlint.file.text.lines import Lines
from torchlint.file.tree.fast import long_lists
from torchlint.server.documents import Snapshot
from torchlint.server.linter import EditorLinter
from torchlint.server.options import EditorOptions

CASES = sorted((Path(__file__).parent / "cases").glob("*.py"))
TYPED = (
    "\n",
    "x = 1\n",
    "    ",
    "y = torch.ones(3).data\n",
    "def g():\n    pass\n",
    "#",
    "\\\n",
    "'''",
    "(",
    "\f\n",
    "\r",
)


def snapshot(text: str, path: Path, revision: int = 0) -> Snapshot:
    uri = path.as_uri()
    return Snapshot(uri, revision, str(path), {uri: Lines(text)}, {uri: 1})


def changed(text: str, chance: random.Random) -> str:
    """A text after something was typed, or a line was taken away or doubled."""
    lines = text.splitlines(keepends=True) or ["\n"]
    at = chance.randrange(len(lines))
    match chance.randrange(4):
        case 0:
            del lines[at]
        case 1:
            lines.insert(at, lines[chance.randrange(len(lines))])
        case _:
            lines.insert(at, chance.choice(TYPED))
    return "".join(lines)


@pytest.mark.parametrize("path", CASES[::6], ids=lambda path: path.stem)
def test_what_is_found_is_what_is_found_anew(path: Path, tmp_path: Path) -> None:
    chance = random.Random(path.stem)
    warm, place = EditorLinter(EditorOptions()), tmp_path / "x.py"
    good = path.read_text(encoding="utf-8")
    for _ in range(6):
        text = changed(good, chance)
        now = snapshot(text, place)
        found = warm.check(now)
        assert found.diagnostics == EditorLinter(EditorOptions()).check(now).diagnostics
        assert warm.fixed(now).after == EditorLinter(EditorOptions()).fixed(now).after
        if not any(each.code == "TL001" for each in found.diagnostics):
            good = text


def test_a_keystroke_has_little_parsed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    parsed = list[int]()
    parse = long_lists.parse
    monkeypatch.setattr(long_lists, "parse", lambda text: parsed.append(len(text)) or parse(text))  # type: ignore[func-returns-value]
    function = "\n\ndef f{0}(x: torch.Tensor):\n    y{0} = x + {0}\n    return y{0}\n"
    text = "import torch\n" + "".join(map(function.format, range(300))) + "\n\nz = torch.ones(3).data\n"
    linter, place = EditorLinter(EditorOptions()), tmp_path / "x.py"
    assert len(linter.check(snapshot(text, place)).diagnostics) == 1
    assert sum(parsed) >= len(text)
    for number in range(5):
        parsed.clear()
        typed = text.replace("y150 = x", f"y150 = {number}{number} + x")
        assert len(linter.check(snapshot(typed, place)).diagnostics) == 1
        assert 0 < sum(parsed) < 5_000
    parsed.clear()
    linter.check(snapshot(text, tmp_path / "other.py"))
    assert sum(parsed) >= len(text), "of one document parts are kept, and not of all"


FOUND = "y = torch.ones(3, requires_grad=True).data\n"


@pytest.mark.parametrize(
    ("beside", "looks"), [("", [True, True, True, True, True]), (FOUND, [True, False, False, False, False])]
)
def test_a_broken_text_tells_nothing_of_the_next_one(
    beside: str, looks: list[bool], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whether there is a first look at a text follows from the last one that could be parsed."""
    looked = list[str]()

    def seen(text: str, possible: frozenset[str], subject: Subject) -> Look | None:
        looked.append(text)
        return first_look(text, possible, subject)

    monkeypatch.setattr("torchlint.file.check.first_look", seen)
    linter, path = EditorLinter(EditorOptions(isolated=True)), tmp_path / "x.py"
    said = []
    for number, typed in enumerate(("", "x", "x = f(", "x = f()", "x = f(1)")):
        text = f"import torch\n{beside}{typed}\nz = {{}}.data\n"
        linter.check(snapshot(text, path, number))
        said.append(text in looked)
    assert said == looks
