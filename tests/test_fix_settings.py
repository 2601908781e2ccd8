"""Settings and options about fixes: which are applied, what is said about them, and with which exit code."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import Torchlint
from terminal import in_terminal

from torchlint.cli.report.patch import patch
from torchlint.cli.report.statistics import FEW
from torchlint.project.project import policy
from torchlint.project.selection import Selection, fixable
from torchlint.project.settings import parse

Write = Callable[[dict[str, str | bytes]], None]

# a safe TL101, an unsafe TL203, and a safe TL106
CODE = """\
import torch
a = torch.ones(3, requires_grad=True)
print(a.data)
print(a.detach().detach())


def f(loss):
    return torch.sigmoid(loss).sum() + loss.data[0]
"""
FIXES = {
    "TL101": ("a.data", "a.detach()"),
    "TL106": ("a.detach().detach()", "a.detach()"),
    "TL203": ("loss.data[0]", "loss.item()"),
}


def fixed(text: str) -> set[str]:
    """Codes of the rules whose fixes a text shows."""
    return {code for code, (old, _) in FIXES.items() if old not in text}


# settings, options, rules whose fixes are applied
APPLIED = {
    "safe": ("", "--fix", "TL101 TL106"),
    "unsafe": ("", "--fix --unsafe-fixes", "TL101 TL106 TL203"),
    "no fix": ("", "--unsafe-fixes", ""),
    "fixable": ("fixable = ['TL106']", "--fix", "TL106"),
    "fixable, a prefix": ("fixable = ['TL2']", "--fix --unsafe-fixes", "TL203"),
    "fixable, a name": ("fixable = ['data-read']", "--fix", "TL101"),
    "fixable, nothing": ("fixable = []", "--fix --unsafe-fixes", ""),
    "extend-fixable": ("fixable = ['TL106']\nextend-fixable = ['TL101']", "--fix", "TL101 TL106"),
    "unfixable": ("unfixable = ['TL101']", "--fix", "TL106"),
    "unfixable, all": ("unfixable = ['ALL']", "--fix --unsafe-fixes", ""),
    "the more exact one wins": ("unfixable = ['TL1']\nfixable = ['TL101']", "--fix", "TL101"),
    "of equals the negative one": ("unfixable = ['TL101']\nfixable = ['TL101']", "--fix", ""),
    "option": ("", "--fix --unfixable TL101", "TL106"),
    "options": ("", "--fix --unsafe-fixes --unfixable TL101,TL106 --unfixable TL204", "TL203"),
    "option over setting": ("unfixable = ['TL101']", "--fix --fixable TL101", "TL101"),
    "exact setting, wide option": ("fixable = ['TL101']", "--fix --unfixable TL1", ""),
    "option adds to setting": ("fixable = ['TL106']", "--fix --extend-fixable TL101", "TL101 TL106"),
    "option takes from setting": ("fixable = ['TL1']", "--fix --unfixable TL101", "TL106"),
    "isolated": ("unfixable = ['ALL']", "--fix --isolated", "TL101 TL106"),
    "trusted": ("extend-safe-fixes = ['TL203']", "--fix", "TL101 TL106 TL203"),
    "doubted": ("extend-unsafe-fixes = ['TL1']", "--fix", ""),
    "doubted, asked for": ("extend-unsafe-fixes = ['TL1']", "--fix --unsafe-fixes", "TL101 TL106 TL203"),
    "trusted exactly": ("extend-unsafe-fixes = ['TL1']\nextend-safe-fixes = ['TL101']", "--fix", "TL101"),
    "trusted and doubted": ("extend-unsafe-fixes = ['TL101']\nextend-safe-fixes = ['TL101']", "--fix", "TL106"),
    "fix by setting": ("fix = true", "", "TL101 TL106"),
    "fix by setting, not now": ("fix = true", "--no-fix", ""),
    "unsafe by setting": ("unsafe-fixes = true", "--fix", "TL101 TL106 TL203"),
    "unsafe by setting, not now": ("unsafe-fixes = true", "--fix --no-unsafe-fixes", "TL101 TL106"),
    "fix-only": ("", "--fix-only", "TL101 TL106"),
    "fix-only by setting": ("fix-only = true", "", "TL101 TL106"),
    "fix-only by setting, not now": ("fix-only = true", "--no-fix-only", ""),
    "fix-only by setting, no fixing now": ("fix-only = true", "--no-fix", ""),
    "a patch changes nothing": ("fix = true", "--diff", ""),
    "a patch only": ("fix-only = true", "--diff --unsafe-fixes", ""),
    "not selected": ("select = ['TL106']", "--fix", "TL106"),
}


@pytest.mark.parametrize(("settings", "options", "expected"), APPLIED.values(), ids=APPLIED)
def test_applied(
    settings: str, options: str, expected: str, write: Write, torchlint: Torchlint, tmp_path: Path
) -> None:
    write({"x.py": CODE, "pyproject.toml": f"[tool.torchlint]\n{settings}\n"})
    ran = torchlint("check", *options.split())
    assert ran.code in (0, 1), ran.err
    after = (tmp_path / "x.py").read_text(encoding="utf-8")
    assert fixed(after) == set(expected.split())
    piped = torchlint("check", "-", "--stdin-filename", "x.py", *options.split(), stdin=CODE.encode())
    assert (piped.out == after) is bool(expected) or piped.out == after == CODE


@pytest.mark.parametrize(("settings", "options", "expected"), APPLIED.values(), ids=APPLIED)
def test_a_patch_says_what_would_be_applied(
    settings: str, options: str, expected: str, write: Write, torchlint: Torchlint, tmp_path: Path
) -> None:
    if not expected:
        return
    write({"x.py": CODE, "pyproject.toml": f"[tool.torchlint]\n{settings}\n"})
    ran = torchlint("check", "--diff", *options.split())
    assert ran.code == 1
    assert (tmp_path / "x.py").read_text(encoding="utf-8") == CODE
    subprocess.run(["git", "apply", "-"], input=ran.raw, cwd=tmp_path, check=True)
    assert fixed((tmp_path / "x.py").read_text(encoding="utf-8")) == set(expected.split())


def test_what_is_not_fixable_has_no_fix(write: Write, torchlint: Torchlint) -> None:
    write({"x.py": CODE})
    entries = json.loads(torchlint("check", "--unfixable", "TL101", "--output-format", "json").out)
    assert {entry["code"]: entry["fix"] is None for entry in entries} == {"TL101": True, "TL106": False, "TL203": False}
    concise = torchlint("check", "--unfixable", "TL101", "--output-format", "concise").out.splitlines()
    assert [line.split()[1:3] for line in concise[:3]] == [
        ["TL101", "`.data`"],
        ["TL106", "[*]"],
        ["TL203", "indexing"],
    ]
    assert concise[-1] == "[*] 1 fixable with `--fix` (1 more with `--fix --unsafe-fixes`)."
    table = torchlint("check", "--unfixable", "TL1", "--statistics").out.splitlines()
    assert table[0] == "1  TL101  [ ] data-read"


def test_the_cache_knows_the_settings(write: Write, torchlint: Torchlint) -> None:
    """Runs one after the other in the same folder."""
    found = []
    for settings in ("", "unfixable = ['TL101']", "extend-safe-fixes = ['TL203']", "extend-unsafe-fixes = ['TL1']", ""):
        write({"x.py": CODE, "pyproject.toml": f"[tool.torchlint]\n{settings}\n"})
        for _ in range(2):
            entries = json.loads(torchlint("check", "--output-format", "json").out)
            found.append([entry["fix"] and entry["fix"]["applicability"] for entry in entries])
    assert found[::2] == found[1::2]
    usual = ["safe", "safe", "unsafe"]
    assert found[::2] == [usual, [None, *usual[1:]], ["safe"] * 3, ["unsafe"] * 3, usual]


def test_each_folder_has_its_settings(write: Write, torchlint: Torchlint, tmp_path: Path) -> None:
    write(
        {
            "x.py": CODE,
            "a/x.py": CODE,
            "a/pyproject.toml": "[tool.torchlint]\nunfixable = ['TL101']\nextend-safe-fixes = ['TL2']\nfix-only = true",
        }
    )
    ran = torchlint("check", "--fix")
    assert ran.code == 1  # whether findings are reported is asked where the program runs
    assert fixed((tmp_path / "x.py").read_text(encoding="utf-8")) == {"TL101", "TL106"}
    assert fixed((tmp_path / "a" / "x.py").read_text(encoding="utf-8")) == {"TL106", "TL203"}


# options, files, standard output, exit code
ONLY: dict[str, tuple[str, dict[str, str], str, int]] = {
    "some left": (
        "",
        {"x.py": CODE},
        "Fixed 2 findings: 1 × TL101, 1 × TL106 (1 additional fix available with `--unsafe-fixes`).\n",
        0,
    ),
    "all": ("--unsafe-fixes", {"x.py": CODE}, "Fixed 3 findings: 1 × TL101, 1 × TL106, 1 × TL203.\n", 0),
    "none": ("--fixable TL2", {"x.py": CODE}, "No findings fixed (1 fix available with `--unsafe-fixes`).\n", 0),
    "nothing to fix": ("", {"x.py": "import torch\n"}, "No findings fixed.\n", 0),
    "non-zero": (
        "--exit-non-zero-on-fix --unsafe-fixes",
        {"x.py": CODE},
        "Fixed 3 findings: 1 × TL101, 1 × TL106, 1 × TL203.\n",
        1,
    ),
    "non-zero, nothing": ("--exit-non-zero-on-fix", {"x.py": "import torch\n"}, "No findings fixed.\n", 0),
    "quiet": ("-q", {"x.py": CODE}, "", 0),
    "json": ("--output-format json", {"x.py": CODE}, "", 0),
    "shown": (
        "--show-fixes --unsafe-fixes",
        {"x.py": CODE},
        "Fixed 3 findings:\n- x.py:\n    1 × TL101 (data-read)\n    1 × TL106 (redundant-detach)\n"
        "    1 × TL203 (legacy-scalar-index)\n\nFixed 3 findings.\n",
        0,
    ),
    "broken": ("", {"x.py": "import torch\nx.data(\n"}, "No findings fixed.\n", 0),
}


@pytest.mark.parametrize(("options", "files", "output", "code"), ONLY.values(), ids=ONLY)
def test_fix_only(
    options: str, files: dict[str, str | bytes], output: str, code: int, write: Write, torchlint: Torchlint
) -> None:
    write(files)
    ran = torchlint("check", "--fix-only", *options.split())
    assert (ran.out, ran.code) == (output, code)
    assert ("TL001" in ran.err) == ("data(" in str(files))


def test_show_fixes(write: Write, torchlint: Torchlint) -> None:
    listed = "Fixed 2 findings:\n- x.py:\n    1 × TL101 (data-read)\n    1 × TL106 (redundant-detach)\n\n"
    for options, shows in {
        "--fix": False,
        "--fix --show-fixes": True,
        "--fix --show-fixes -q": True,
        "--fix --show-fixes --statistics": True,
        "--fix --show-fixes --output-format json": False,
        "--show-fixes": False,
    }.items():
        write({"x.py": CODE})
        assert (listed in torchlint("check", *options.split()).out) is shows, options
    write({"x.py": CODE, "pyproject.toml": "[tool.torchlint]\nshow-fixes = true\nfix = true\n"})
    assert listed in torchlint("check").out
    write({"x.py": CODE})
    assert listed not in torchlint("check", "--no-show-fixes").out
    write({"x.py": CODE})
    assert torchlint("check", "--diff").code == 1
    together = torchlint("check", "--diff", "--show-fixes")
    assert (together.code, together.err) == (2, "error: --diff and --show-fixes cannot be given together\n")


@pytest.mark.skipif(os.name == "nt", reason="there are no such terminals")
@pytest.mark.parametrize(
    ("options", "count", "is_listed"),
    [
        ("--fix", 1, True),
        ("--fix", FEW, True),
        ("--fix", FEW + 1, False),
        ("--fix --no-show-fixes", 1, False),
        ("--fix --quiet", 1, False),
        ("--fix --silent", 1, False),
        ("--fix-only", 1, True),
        ("--fix --config show-fixes=false", 1, False),
        ("--fix --show-fixes", FEW + 1, True),
    ],
)
def test_fixes_in_a_terminal(options: str, count: int, is_listed: bool, write: Write, tmp_path: Path) -> None:
    """They are listed where that is read, and short."""
    write({f"x{number}.py": CODE for number in range(count)})
    lines = in_terminal(100, tmp_path, *options.split())
    assert ("- x0.py:" in lines) is is_listed
    assert (f"Fixed {2 * count} findings:" in lines) is is_listed
    is_counted = any(line.startswith(f"Fixed {2 * count} findings in") for line in lines)
    assert is_counted is (not is_listed and options not in ("--fix --quiet", "--fix --silent"))


# settings file (or options), what standard error ends with
MISTAKES = {
    "selector": (
        "[tool.torchlint]\nunfixable = ['TL1', 'QX9']\n",
        ":2: [tool.torchlint]: `unfixable`: unknown rule `QX9` (`torchlint rule --all` explains all)\n",
    ),
    "selector in a list over lines": (
        "[tool.torchlint]\nfixable = [\n  'TL1',\n\n  'QX9',\n]\n",
        ":5: [tool.torchlint]: `fixable`: unknown rule `QX9`",
    ),
    "selector elsewhere first": (
        "[project]\nname = 'QX9'\n[tool.torchlint]\nextend-safe-fixes = ['QX9']\n",
        ":4: [tool.torchlint]: `extend-safe-fixes`: unknown rule `QX9`",
    ),
    "name": (
        "[tool.torchlint]\nextend-unsafe-fixes = ['data-raed']\n",
        ":2: [tool.torchlint]: `extend-unsafe-fixes`: unknown rule `data-raed` (did you mean `data-read`?)",
    ),
    "empty": ("[tool.torchlint]\nfixable = ['']\n", ":2: [tool.torchlint]: `fixable`: unknown rule ``"),
    "key": (
        "[tool.torchlint]\nselect = ['ALL']\nunfixabel = []\n",
        ":3: [tool.torchlint]: unknown key `unfixabel` (did you mean `unfixable`?)\n",
    ),
    "key of a table": (
        "[tool]\ntorchlint = { fixonly = true }\n",
        ":2: [tool.torchlint]: unknown key `fixonly` (did you mean `fix-only`?)\n",
    ),
    "flag": ("[tool.torchlint]\n\nfix-only = 'yes'\n", ":3: [tool.torchlint]: `fix-only` must be true or false\n"),
    "list": ("[tool.torchlint]\nfixable = 'TL1'\n", ":2: [tool.torchlint]: `fixable` must be a list of strings"),
    "dotted": ("tool.torchlint.unfixable = 3\n", ":1: [tool.torchlint]: `unfixable` must be a list of strings"),
}


@pytest.mark.parametrize(("content", "message"), MISTAKES.values(), ids=MISTAKES)
def test_mistakes(content: str, message: str, write: Write, torchlint: Torchlint, tmp_path: Path) -> None:
    write({"pyproject.toml": content, "x.py": CODE})
    ran = torchlint("check")
    assert (ran.code, ran.out) == (2, "")
    assert ran.err.startswith(f"error: {tmp_path}/pyproject.toml{message}"), ran.err
    assert ran.err.count("\n") == 1


@pytest.mark.parametrize("option", ["--fixable", "--unfixable", "--extend-fixable", "--select", "--ignore"])
def test_mistaken_options(option: str, write: Write, torchlint: Torchlint, tmp_path: Path) -> None:
    write({"x.py": CODE})
    ran = torchlint("check", "--fix", option, "TL101,QX9")
    assert (ran.code, ran.err.startswith(f"error: {option}: unknown rule `QX9`")) == (2, True)
    ran = torchlint("check", "--fix", option, "")
    assert (ran.code, ran.err) == (2, f"error: {option}: no rule is given\n")
    assert (tmp_path / "x.py").read_text(encoding="utf-8") == CODE


def test_layers() -> None:
    names = fixable([Selection(("TL1",), (), ("TL101",)), Selection(None, ("TL101",), ("TL106",))])
    assert {"TL101", "TL102"} <= names
    assert not names & {"TL106", "TL203"}
    settings = parse({"extend-safe-fixes": ["ALL"], "extend-unsafe-fixes": ["TL1"]}, "/x/pyproject.toml")
    made = policy(settings)
    assert {"TL101", "TL106"} <= made.unsafe
    assert {"TL203", "TL201"} <= made.safe
    assert not made.safe & made.unsafe


# ------------------------------------------------------------------------------------------ alternatives

LOOP = """\
import torch
from torch import nn

net, criterion, total, history = nn.Linear(3, 1), nn.MSELoss(), 0, []
for x in torch.ones(3, 2, 3):
    loss = criterion(net(x), x)
    loss.backward()
    total += loss
    history.append(loss * 2 + 1)
"""


def test_alternatives(write: Write, torchlint: Torchlint) -> None:
    write({"x.py": LOOP, "y.py": CODE})
    for _ in range(2):  # the second time from the cache
        entries = json.loads(torchlint("check", "--select", "TL107,TL203", "--output-format", "json").out)
        assert [entry["code"] for entry in entries] == ["TL107", "TL107", "TL203"]
        (number,), (item,), (element,) = (entry["fix"]["alternatives"] for entry in entries)
        assert number == {
            "alternatives": [],
            "applicability": "unsafe",
            "edits": [
                {
                    "content": ".item()",
                    "end_location": {"column": 18, "row": 8},
                    "location": {"column": 18, "row": 8},
                }
            ],
            "message": "Add `.item()`, for a number",
            "risk": "a number is no tensor, and `.item()` waits for the device",
        }
        assert [edit["content"] for edit in item["edits"]] == ["(", ").item()"]
        assert [edit["content"] for edit in element["edits"]] == ["detach()"]
    full = torchlint("check", "--select", "TL107,TL203").out.splitlines()
    assert full.count("or: Add `.item()`, for a number (unsafe)") == 2
    assert full.count("or: Replace `.data` with `.detach()`, for an element (unsafe)") == 1


def test_alternatives_are_never_applied(write: Write, torchlint: Torchlint, tmp_path: Path) -> None:
    write({"x.py": LOOP, "pyproject.toml": "[tool.torchlint]\nextend-safe-fixes = ['ALL']\n"})
    torchlint("check", "--fix", "--unsafe-fixes")
    after = (tmp_path / "x.py").read_text(encoding="utf-8")
    assert "total += loss.detach()\n" in after
    assert ".item()" not in after


# ------------------------------------------------------------------------------------------ patches

BEFORE = "import torch\na = torch.ones(3, requires_grad=True)\nprint(a.data)\n\n\ndef f(x):\n    x = torch.relu(x)\n    return x.data + 1\n"
FILES: dict[str, bytes] = {
    "plain.py": BEFORE.encode(),
    "no newline.py": BEFORE.rstrip("\n").encode(),
    "crlf.py": BEFORE.replace("\n", "\r\n").encode(),
    "crlf without newline.py": BEFORE.replace("\n", "\r\n").rstrip().encode(),
    "cr.py": BEFORE.replace("\n", "\r").encode(),
    "mixed.py": BEFORE.replace("\n", "\r\n", 3).encode(),
    "bom.py": b"\xef\xbb\xbf" + BEFORE.encode(),
    "bom crlf.py": b"\xef\xbb\xbf" + BEFORE.replace("\n", "\r\n").encode(),
    "feed.py": BEFORE.replace("\n\n\n", "\n\x0c\n\n").replace("    x", "\x0c    x").encode(),
    "latin.py": b"# coding: latin-1\n# \xe9\n" + BEFORE.encode(),
    "text.py": ("# é 日本 \u2028 \x85 \U0001f600\n" + BEFORE).encode(),
    "tail.py": BEFORE.encode() + b"   ",
    "tabs.py": BEFORE.replace("    ", "\t").encode(),
    "sub/a.py": BEFORE.encode(),
    "sub/deep er/b c.py": BEFORE.encode(),
    "sub/ü/日本.py": BEFORE.encode(),
    'sub/quote"d.py': BEFORE.encode(),
    "sub/back\\slash.py": BEFORE.encode(),
    "sub/tab\t.py": BEFORE.encode(),
    "sub/new\nline.py": BEFORE.encode(),
    "sub/\udce9.py": BEFORE.encode(),
    "-dash.py": BEFORE.encode(),
    "sub/ leading.py": BEFORE.encode(),
    "b/b/x.py": BEFORE.encode(),
}


def contents(root: Path) -> dict[str, bytes]:
    return {name: (root / name).read_bytes() for name in FILES}


# whether it is a git repository, where the program and git run, what is checked
SUB = sum(name.startswith("sub/") for name in FILES)

# whether it is a git repository, where the program and git run, what is checked, how many files that fixes
WHERE = {
    "no repository": (False, ".", ".", ".", len(FILES)),
    "repository": (True, ".", ".", ".", len(FILES)),
    "a subfolder": (True, "sub", "sub", ".", SUB),
    "a subfolder of no repository": (False, "sub", "sub", ".", SUB),
    "the folder above": (True, "sub", ".", "..", len(FILES)),
    "a file above": (True, "sub", ".", "../plain.py", 1),
    "an absolute path": (True, ".", ".", "{root}/sub", SUB),
    "an absolute path, from another folder": (True, "b", ".", "{root}/sub", SUB),
}


@pytest.mark.parametrize(("is_repository", "run_in", "apply_in", "path", "count"), WHERE.values(), ids=WHERE)
def test_git_applies_what_fix_does(
    is_repository: bool,
    run_in: str,
    apply_in: str,
    path: str,
    count: int,
    write: Write,
    torchlint: Torchlint,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    write(dict(FILES))
    if is_repository:
        subprocess.run(["git", "init", "-q"], cwd=tmp_path, check=True)
    monkeypatch.chdir(tmp_path / run_in)
    path = path.format(root=tmp_path)
    shown = torchlint("check", "--diff", "--unsafe-fixes", "--no-cache", "-j1", path)
    assert (shown.code, contents(tmp_path)) == (1, FILES)
    assert (f"The paths of the patch start at {tmp_path}.\n" in shown.err) == (run_in != apply_in)
    torchlint("check", "--fix", "--unsafe-fixes", "--no-cache", "-j1", path)
    fixed_ = contents(tmp_path)
    assert sum(fixed_[name] != FILES[name] for name in FILES) == count
    write(dict(FILES))
    subprocess.run(["git", "apply", "-"], input=shown.raw, cwd=tmp_path / apply_in, check=True)
    assert contents(tmp_path) == fixed_


def test_git_accepts_a_patch_of_standard_input(write: Write, torchlint: Torchlint, tmp_path: Path) -> None:
    write(dict(FILES))
    for name in ("sub/ü/日本.py", "crlf without newline.py", "bom.py"):
        shown = torchlint("check", "-", "--stdin-filename", name, "--diff", stdin=FILES[name])
        subprocess.run(["git", "apply", "-"], input=shown.raw, cwd=tmp_path, check=True)
        torchlint_fixed = torchlint("check", "-", "--stdin-filename", name, "--fix", stdin=FILES[name])
        assert (tmp_path / name).read_bytes() == torchlint_fixed.raw != FILES[name]


def test_nothing_to_say_is_no_patch() -> None:
    from torchlint.cli.report import Style

    assert list(patch("x.py", b"a\n", b"a\n", Style())) == []
