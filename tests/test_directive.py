"""Suppressing comments that are not written as torchlint reads them: what they silence, and what is said of them."""

from __future__ import annotations

from pathlib import Path

import pytest
from conftest import Torchlint

from torchlint.diagnostic import Diagnostic, Position
from torchlint.file.check import check_text
from torchlint.file.comments.suppressions import Suppressions, is_malformed

# A comment, what it silences of a data-read (TL101) and a volatile (TL202), and words of what is said of it.
MALFORMED: dict[str, tuple[str, list[str]]] = {
    "# torchlint: ignore TL101": ("TL101", ["brackets", "`# torchlint: ignore[TL101]`"]),
    "# torchlint: ignore TL101 as it is so": ("TL101", ["ignore[TL101]"]),
    "# torchlint: ignore TL101, TL202": ("TL101 TL202", ["ignore[TL101, TL202]"]),
    "# torchlint: ignore TL701": ("", ["ignore[TL701]"]),
    "# torchlint: ignore this TL701": ("", ["ignore[TL701]"]),
    "# torchlint: ignore tl101": ("TL101", ["ignore[TL101]"]),
    "# torchlint: ignore: TL101": ("TL101", ["ignore[TL101]"]),
    "# torchlint: ignore=TL101": ("TL101", ["ignore[TL101]"]),
    "# torchlint: ignore(TL101)": ("TL101", ["ignore[TL101]"]),
    "# torchlint: ignore TL999": ("", ["brackets", "unknown rule `TL999`"]),
    "# torchlint: ignore data-read": ("TL101", ["ignore[data-read]"]),
    "# torchlint: ignore data-raed": ("", ["brackets", "did you mean `data-read`?"]),
    "# torchlint: ignore volatile": ("TL202", ["ignore[volatile]"]),
    "# torchlint: file-ignore TL101": ("TL101", ["file-ignore[TL101]"]),
    "# torchlint: ignore TL101  # noqa: E501": ("TL101", ["ignore[TL101]"]),
    "# torchlint: ignore[]": ("", ["no rule in the brackets"]),
    "# torchlint: ignore[ , ]": ("", ["no rule in the brackets"]),
    "# torchlint: file-ignore[]": ("", ["no rule in the brackets"]),
    "# torchlint: ignore[TL101": ("", ["not closed"]),
    "# torchlint: ignore[TL999]": ("", ["unknown rule `TL999`"]),
    "# torchlint: ignore[TL999, TL101]": ("TL101", ["unknown rule `TL999`"]),
    "# torchlint: ignore[TL1011]": ("", ["unknown rule `TL1011`"]),
    "# torchlint: ignore[E501]": ("", ["unknown rule `E501`"]),
    "# torchlint: ignore[ALL]": ("", ["unknown rule `ALL`"]),
    "# torchlint: ignore[*]": ("", ["unknown rule `*`"]),
    "# torchlint: ignore[data-raed]": ("", ["did you mean `data-read`?"]),
    "# torchlint: ignore[data]": ("", ["unknown rule `data`"]),
    "# torchlint: file-ignore[TL99]": ("", ["unknown rule `TL99`"]),
    "# torchlint: ignore[tl101]": ("TL101", ["write `TL101` for `tl101`"]),
    "# torchlint: ignore[Data-Read]": ("TL101", ["write `data-read` for `Data-Read`"]),
    "# torchlint: ignore[TL101 TL202]": ("TL101 TL202", ["write `TL101, TL202`"]),
    "# torchlint: ignore[TL101; TL202]": ("TL101 TL202", ["write `TL101, TL202`"]),
    "# torchlint: ignore['TL101']": ("TL101", ["write `TL101`"]),
    "# torchlint: ignore[TL101: it is so]": ("", ["unknown rule"]),
    "# torchlint ignore[TL101]": ("", ["a colon is missing"]),
    "# torchlint ignore": ("", ["a colon is missing"]),
    "# torchlint ignore TL101": ("", ["a colon is missing"]),
    "# Torchlint: ignore[TL101]": ("", ["lower case"]),
    "# torchlint: IGNORE": ("", ["lower case"]),
    "# torchlint: ignored": ("", ["did you mean `ignore`?"]),
    "# torchlint: ignore-file": ("", ["unknown word `ignore-file`", "`file-ignore`"]),
    "# torchlint: ignore-file[TL101] so": ("", ["unknown word `ignore-file`"]),
    "# torchlint: disable=TL101": ("", ["`# torchlint: disable[TL101]`"]),
    "# torchlint: disable TL101": ("", ["`# torchlint: disable[TL101]`"]),
    "# torchlint: disable-next[TL101]": ("", ["unknown word `disable-next`"]),
    "# torchlint: disable[TL101]": ("TL101", ["no `enable[TL101]` ends it", "`file-ignore[TL101]`"]),
    "# torchlint: disable because": ("TL101 TL202", ["no `enable` ends it"]),
    "# torchlint: enable[TL101]": ("", ["no `disable[TL101]` stands before it"]),
    "# torchlint: enable": ("", ["no `disable` stands before it"]),
    "# torchlint: disable[TL999]": ("", ["unknown rule `TL999`"]),
    "# torchlint: noqa": ("", ["unknown word `noqa`"]),
    "# torchlint: skip it": ("", ["unknown word `skip`"]),
    "# torchlint:": ("", ["nothing stands after the colon"]),
    "# noqa TL101": ("TL101", ["`# noqa: TL101`"]),
    "# noqa E501, TL101": ("TL101", ["`# noqa: E501, TL101`"]),
    "# noqa TL701": ("", ["`# noqa: TL701`"]),
    "# noqa[TL101]": ("TL101", ["`# noqa: TL101`"]),
    "# noqa:[TL101]": ("TL101", ["`# noqa: TL101`"]),
    "# noqa(TL101)": ("TL101", ["`# noqa: TL101`"]),
    "# noqa: TL999": ("", ["unknown rule `TL999`"]),
    "# noqa: E501, TL999, TL101": ("TL101", ["unknown rule `TL999`"]),
    "# noqa: data-read": ("", ["`# noqa: TL101`"]),
}


def silenced(text: str) -> str:
    suppressions = Suppressions(text)
    found = [
        Diagnostic(code, name, "", Position(1, 5), Position(1, 9), (1, 1))
        for code, name in (("TL101", "data-read"), ("TL202", "volatile"))
    ]
    return " ".join(each.code for each in found if suppressions.silencing(each))


@pytest.mark.parametrize("comment", MALFORMED)
def test_malformed_comments_silence_less_and_are_reported(comment: str) -> None:
    expected, words = MALFORMED[comment]
    text = f"a = x.data  {comment}\n"
    assert silenced(text) == expected
    (found,) = Suppressions(text).malformed()
    assert (found.code, found.start) == ("TL004", Position(1, 13))
    assert all(word in found.message for word in words), found.message
    assert is_malformed(text)


@pytest.mark.parametrize(
    "comment",
    [
        *("# torchlint: ignore", "#torchlint:ignore", "# torchlint: ignore as it is so", "# torchlint: ignore: as it is so"),
        *("# torchlint: ignore[TL101]", "# torchlint: ignore[TL101, TL2,] so", "# torchlint: ignore [data-read]"),
        *("# torchlint: file-ignore", "# torchlint:file-ignore[TL1]", "# torchlint: ignore[TL]", "# torchlint: ignore[TL004]"),
        *("# noqa", "# noqa: TL101", "# noqa: tl101", "# noqa:E501,TL1", "# noqa E501", "# noqa because TL101 is so"),
        *("# noqa: E501", "# noqa: XY999", "# noqa: so-so", "# noqa:", "# flake8: noqa: TL999", "# ruff: noqa"),
        *("# torchlint ignores this", "# torchlint ignore what it says", "# torchlint: this would be a finding"),
        *("# see torchlint", "# the torchlint: disable"),
    ],
)  # fmt: skip
def test_what_is_well_formed_or_none_of_ours_is_not_reported(comment: str) -> None:
    text = f"a = x.data  {comment}\n"
    assert list(Suppressions(text).malformed()) == []
    assert not is_malformed(text)


def test_what_a_string_says_is_not_reported() -> None:
    assert not is_malformed("a = '# torchlint: ignore[]'\nb = '''\n# torchlint: ignore TL101\n'''\n")


def test_on_a_line_of_its_own() -> None:
    text = "# torchlint: ignore TL999, TL101\na = x.data\n"
    assert [(d.code, d.start.row) for d in Suppressions(text).malformed()] == [("TL004", 1)]


CODE = "import torch\nw = torch.ones(3, requires_grad=True)\nprint(w.data)  # torchlint: ignore TL701\n"


def test_forgotten_brackets_do_not_silence_everything() -> None:
    outcome = check_text(CODE, "x.py", frozenset({"TL101", "TL004"}))
    assert [(d.code, d.start.row) for d in outcome.diagnostics] == [("TL101", 3), ("TL004", 3)]


def test_a_well_formed_comment_silences_the_report() -> None:
    text = f"# torchlint: file-ignore[TL004]\n{CODE}"
    outcome = check_text(text, "x.py", frozenset({"TL101", "TL004", "TL002"}))
    assert [d.code for d in outcome.diagnostics] == ["TL101"]


@pytest.mark.parametrize("cache", [(), ("--no-cache",)])
def test_also_where_nothing_else_could_be_found(torchlint: Torchlint, tmp_path: Path, cache: tuple[str, ...]) -> None:
    (tmp_path / "x.py").write_text("a = 1  # torchlint: ignore[]\n", encoding="utf-8")
    for options, count in (((), 1), (("--select", "TL1"), 1), (("--ignore", "TL004"), 0)):
        for _ in range(2):
            ran = torchlint("check", "--output-format", "concise", *cache, *options, "x.py")
            assert (ran.code, ran.out.count("x.py:1:8: TL004 ")) == (count, count)
