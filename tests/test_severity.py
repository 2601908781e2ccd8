"""How bad findings are, how sure, and what rules are about."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from conftest import Torchlint

from torchlint.diagnostic import Confidence, Diagnostic, Group, LocatedEvidence, Policy, Position, Severity
from torchlint.file.check import check_text
from torchlint.project.project import severities
from torchlint.project.selection import GROUPS, Selection, SettingsError, known_names, selected
from torchlint.project.settings import Settings, parse
from torchlint.rules import BUILT_IN, catalogue, source
from torchlint.rules.declared import DeclarationError, declared

Write = Callable[[dict[str, Any]], None]

OWN_RULES = [code for code, info in catalogue().items() if info.distribution == BUILT_IN.distribution]


@pytest.mark.parametrize("code", OWN_RULES)
def test_every_rule_says_what_it_is_about(code: str) -> None:
    assert "\nGROUP = Group." in source(catalogue()[code].file), "beside BY_DEFAULT, as docs/writing-a-rule.md says"


def test_groups_are_no_names_of_rules() -> None:
    assert not {*GROUPS, "ALL"} & {*known_names(), *known_names().values()}
    assert len(Group) == 6


RULE = """
from torchlint.rule import Finding, Group, Severity, on, word
import torchlint.diagnostic

@on(object, trigger=word("x"))
def check(node, model): ...
"""


def test_what_a_rule_declares() -> None:
    assert declared(RULE, "x.py")[2:4] == (Severity.WARNING, Group.CORRECTNESS)
    found = declared(RULE + "SEVERITY = Severity.INFO\nGROUP = torchlint.diagnostic.Group.SECURITY\n", "x.py")
    assert found[2:4] == (Severity.INFO, Group.SECURITY)
    assert declared(RULE + "WITHOUT_TORCH = True\n", "x.py").without_torch
    assert not found.without_torch


@pytest.mark.parametrize(
    "line", ['GROUP = "security"', "GROUP = Severity.INFO", "SEVERITY = Severity.BAD", "GROUP = f()"]
)
def test_what_it_cannot_declare(line: str) -> None:
    with pytest.raises(DeclarationError, match="is one of"):
        declared(f"{RULE}{line}\n", "x.py")


HEAD = "import torch\nfrom torch import nn\n\nw = torch.ones(3, requires_grad=True)\nnet = nn.Linear(3, 2)\n"

# code, what it finds, how bad that is
LEVELS = {
    "a read that nothing can go wrong with": ("print(w.data)", [("TL101", "info")]),
    "a read that is written to": ("v = w.data\nv[0] = 1", [("TL101", "warning")]),
    "an initialisation": (
        "def init_weights(m):\n    nn.init.zeros_(m.weight.data)\nnet.apply(init_weights)",
        [("TL101", "info")],
    ),
    "a gradient": ("net.weight.grad.data.zero_()", [("TL102", "info")]),
    "an update": ("w.data.add_(1)", [("TL102", "warning")]),
    "a write in the middle of a graph": ("h = net(w)\nh.data.mul_(2)", [("TL102", "error")]),
    "what raises": ("w.sum().data[0]", [("TL203", "error")]),
    "what may raise": ("def f(loss):\n    return torch.relu(loss) + loss.data[0]", [("TL203", "warning")]),
    "a wrapper that can go": (
        "from torch.autograd import Variable\nv = Variable(torch.ones(3))",
        [("TL201", "info"), ("TL201", "info")],
    ),
    "a wrapper that cuts a graph": (
        "from torch.autograd import Variable\nv = Variable(net(w))",
        [("TL201", "info"), ("TL201", "warning")],
    ),
    "what is gone": ("torch.lstsq(w, w)", [("TL301", "error")]),
    "what will go": ("torch.qr(w)", [("TL302", "warning")]),
    "what nobody deprecates": ("torch.ger(w, w)", [("TL309", "info")]),
    "a loader that always begins with the same batch": (
        "from torch.utils.data import DataLoader\nloader = DataLoader(d, num_workers=2)\n"
        "for _ in range(3):\n    next(iter(loader))",
        [("TL605", "error")],
    ),
    "a loader that somebody else made": (
        "from torch.utils.data import DataLoader\n"
        "def make():\n    return DataLoader(d, shuffle=True, num_workers=2)\n"
        "loader = make()\nfor _ in range(3):\n    next(iter(loader))",
        [("TL605", "warning")],
    ),
    "no Python": ("print w.data", [("TL001", "error")]),
    "a comment": ("print(w)  # torchlint: ignore[] why", [("TL004", "warning")]),
    "a comment for nothing": ("print(w)  # torchlint: ignore why", [("TL002", "info")]),
}


@pytest.mark.parametrize(("code", "expected"), LEVELS.values(), ids=LEVELS)
def test_how_bad_it_is(code: str, expected: list[tuple[str, str]]) -> None:
    outcome = check_text(f"{HEAD}{code}\n", "x.py", frozenset(known_names()))
    assert [(found.code, found.severity.value) for found in outcome.diagnostics] == expected


def layer(select: str | None = None, extend: str = "", ignore: str = "") -> Selection:
    return Selection(None if select is None else tuple(select.split()), tuple(extend.split()), tuple(ignore.split()))


def of_group(name: str) -> set[str]:
    return {code for code, info in catalogue().items() if info.group == name}


ON = {"TL001", "TL003", "TL004"}
SELECTED = {
    "a group": (layer("security"), of_group("security")),
    "two": (layer("security performance"), of_group("security") | of_group("performance")),
    "a group without a rule of it": (layer("security", ignore="TL702"), of_group("security") - {"TL702"}),
    "without a group, but for a rule": (layer("ALL TL101", ignore="migration"), {"TL101"}),
    "ALL is less exact": (layer("security", ignore="ALL"), of_group("security")),
    "TL is less exact": (layer("migration", ignore="TL"), of_group("migration")),
    "as exact as TL1, so ignore wins": (layer("TL1", ignore="migration"), set()),
}


@pytest.mark.parametrize(("given", "expected"), SELECTED.values(), ids=SELECTED)
def test_groups_select(given: Selection, expected: set[str]) -> None:
    found = selected([given]) - ON
    if expected in ({"TL101"}, set()):
        assert found & of_group("migration") == expected
    else:
        assert found == expected


OLD = "import torch\nx = torch.ones(3, requires_grad=True)\nprint(x.data)\nprint(x.sum().data[0])\n"


def codes(torchlint: Torchlint, *arguments: str) -> list[tuple[str, str]]:
    entries = json.loads(torchlint("check", "--output-format", "json", *arguments).out)
    return [(entry["code"], entry["severity"]) for entry in entries]


def test_groups_stand_wherever_codes_do(write: Write, torchlint: Torchlint, tmp_path: Path) -> None:
    write({"x.py": OLD})
    assert codes(torchlint, "--select", "security") == []
    assert len(codes(torchlint, "--ignore", "security")) == 2
    assert "(1 suppressed)" not in torchlint("check", "--unfixable", "migration").out
    assert "fixable" not in torchlint("check", "--unfixable", "migration").out
    write({"x.py": OLD.replace("data)", "data)  # torchlint: ignore[migration] old")})
    assert codes(torchlint) == [("TL203", "error")]
    write({"x.py": OLD.replace("data)", "data)  # torchlint: ignore[security] old")})
    assert ("TL002", "info") in codes(torchlint, "--extend-select", "TL002", "--select", "ALL")
    write({"x.py": OLD, "torchlint.toml": 'per-file-ignores = { "x.py" = ["migration"] }'})
    assert codes(torchlint) == []
    ran = torchlint("check", "--select", "migraton")
    assert (ran.code, "did you mean `migration`?" in ran.err) == (2, True)
    write({"x.py": OLD.replace("data)", "data)  # torchlint: ignore[Migration]"), "torchlint.toml": ""})
    assert codes(torchlint)[0] == ("TL004", "warning")
    assert torchlint("rule", "security").out.count("\nGroup: security. Severity: ") == len(of_group("security"))
    listed = json.loads(torchlint("rule", "security", "--output-format", "json").out)
    assert {entry["code"] for entry in listed} == of_group("security")
    assert torchlint("rule", "sekurity").code == 2


def test_settings_say_how_bad_it_is(write: Write, torchlint: Torchlint) -> None:
    write({"x.py": OLD, "torchlint.toml": 'severity = { migration = "warning", scalar = "info" }'})
    ran = torchlint("check")
    assert (ran.code, "unknown rule `scalar`" in ran.err) == (2, True)
    write({"torchlint.toml": 'severity = { legacy-scalar-index = "info", migration = "warning" }'})
    for _ in range(2):  # with the cache and without
        assert codes(torchlint) == [("TL101", "warning"), ("TL203", "info")]
    assert codes(torchlint, "--isolated") == [("TL101", "info"), ("TL203", "error")]
    write({"torchlint.toml": 'severity = { TL1 = "error" }'})
    assert codes(torchlint) == [("TL101", "error"), ("TL203", "error")]


@pytest.mark.parametrize(
    "table",
    [{"severity": {"TL101": "bad"}}, {"severity": ["TL101"]}, {"fail-on": "never"}, {"min-confidence": 1}],
)
def test_settings_that_make_no_sense(table: dict[str, object]) -> None:
    with pytest.raises(SettingsError, match="must be"):
        parse(table, "torchlint.toml")


def test_the_more_exact_setting_holds() -> None:
    given = (
        ("TL101", Severity.ERROR),
        ("migration", Severity.INFO),
        ("ALL", Severity.WARNING),
        ("TL1", Severity.ERROR),
    )
    found = severities(Settings("/", severity=given))
    assert found["TL101"] is Severity.ERROR
    assert found["TL102"] is Severity.ERROR, "of two as exact the later"
    assert found["TL203"] is Severity.INFO
    assert found["TL701"] is Severity.WARNING
    assert "TL001" not in found


# options, exit code, for one finding that is info
FAILING = {
    "": 1,
    "--fail-on info": 1,
    "--fail-on warning": 0,
    "--fail-on error": 0,
    "--fail-on error --exit-zero": 0,
}


@pytest.mark.parametrize(("options", "code"), FAILING.items())
def test_what_fails(options: str, code: int, write: Write, torchlint: Torchlint) -> None:
    write({"x.py": OLD.rpartition("print")[0]})
    assert codes(torchlint) == [("TL101", "info")]
    assert torchlint("check", *options.split()).code == code


# options, exit code, for an error, and two warnings
COUNTED = {
    "--max-warnings 2 --fail-on error": 1,
    "--max-warnings 2 --fail-on error --ignore TL203": 0,
    "--max-warnings 1 --fail-on error --ignore TL203": 1,
    "--max-warnings 0 --fail-on error --select TL203 --ignore TL203": 0,
    "--max-warnings 1 --fail-on error --ignore TL203 --exit-zero": 0,
    "--max-warnings 5": 1,
}


@pytest.mark.parametrize(("options", "code"), COUNTED.items())
def test_too_many_warnings_fail(options: str, code: int, write: Write, torchlint: Torchlint) -> None:
    write({"x.py": "import torch\ntorch.load('x')\ntorch.load('y')\nprint(torch.ones(3).sum().data[0])\n"})
    assert sorted(codes(torchlint)) == [("TL203", "error"), ("TL701", "warning"), ("TL701", "warning")]
    assert torchlint("check", *options.split()).code == code


def test_failing_by_settings(write: Write, torchlint: Torchlint) -> None:
    write({"x.py": OLD, "torchlint.toml": 'fail-on = "error"\n'})
    assert torchlint("check").code == 1
    write({"x.py": OLD.rpartition("print")[0]})
    assert torchlint("check").code == 0
    assert torchlint("check", "--fail-on", "info").code == 1


SURE = "import torch\n\n\ndef f(loss):\n    return loss.data[0], torch.ones(3, requires_grad=True).data\n"


def test_what_is_not_sure_is_left_out(write: Write, torchlint: Torchlint, tmp_path: Path) -> None:
    write({"x.py": SURE})
    entries = json.loads(torchlint("check", "--output-format", "json").out)
    assert [(entry["code"], entry["confidence"]) for entry in entries] == [("TL203", "low"), ("TL101", "high")]
    assert [code for code, _ in codes(torchlint, "--min-confidence", "high")] == ["TL101"]
    assert len(codes(torchlint)) == 2, "the cache knows one from the other"
    torchlint("check", "--min-confidence", "medium", "--fix", "--unsafe-fixes")
    assert "loss.data[0]" in (tmp_path / "x.py").read_text(encoding="utf-8")
    write({"torchlint.toml": 'min-confidence = "high"\n'})
    assert codes(torchlint) == []
    assert len(codes(torchlint, "--min-confidence", "low")) == 1


HALVES = """\
import torch


def step(lr):
    for p in torch.nn.Linear(2, 2).parameters():
        p.data.add_(-lr, torch.ones(2).data)
"""


def test_no_half_of_a_statement_is_fixed_that_the_rest_is_not_sure_of() -> None:
    codes = frozenset({"TL101", "TL102"})
    both = check_text(HALVES, "x.py", codes).diagnostics
    assert [(found.code, found.confidence.value) for found in both] == [("TL102", "medium"), ("TL101", "high")]
    (left,) = check_text(HALVES, "x.py", codes, policy=Policy(least=Confidence.HIGH)).diagnostics
    assert (left.code, left.fix) == ("TL101", None)


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        ("signature", Confidence.HIGH),
        ("annotation", Confidence.HIGH),
        ("convention", Confidence.MEDIUM),
        ("use", Confidence.MEDIUM),
        ("name", Confidence.LOW),
        (None, Confidence.HIGH),
    ],
)
def test_confidence_comes_from_the_evidence(kind: str | None, expected: Confidence) -> None:
    evidence = LocatedEvidence(kind, "", None) if kind is not None else None
    found = Diagnostic("TL101", "data-read", "", Position(1, 1), Position(1, 2), (1, 1), evidence=evidence)
    assert found.confidence is expected


def test_errors_come_first(write: Write, torchlint: Torchlint) -> None:
    write({"a.py": OLD, "b.py": OLD})
    heads = [line.split()[:2] for line in torchlint("check").out.splitlines() if " TL" in line]
    assert heads == [["error", "TL203"]] * 2 + [["info", "TL101"]] * 2
    rows = [
        line.split()[0] for line in torchlint("check", "--output-format", "concise").out.splitlines() if " TL" in line
    ]
    assert [row.rpartition(":")[0] for row in rows] == ["a.py:3:9", "a.py:4:15", "b.py:3:9", "b.py:4:15"]


def test_many_findings_end_with_a_summary(write: Write, torchlint: Torchlint) -> None:
    def end(reads: int) -> list[str]:
        write({"x.py": OLD + "print(x.data)\n" * (reads - 2)})
        return torchlint("check").out.rpartition("|\n")[2].splitlines()

    assert end(50) == ["", "Found 50 findings in 1 file.", "[*] 50 fixable with `--fix`."]
    assert end(51) == [
        "",
        "50  TL101  [*] data-read",
        " 1  TL203  [*] legacy-scalar-index",
        "1 error, 50 infos.",
        "Found 51 findings in 1 file.",
        "[*] 51 fixable with `--fix`.",
        "`torchlint baseline write` accepts all that is there, so that only what is new is reported.",
        "`torchlint rule TL101` explains a rule, `--select TL101` reports it alone.",
    ]


def test_what_is_counted_by_rule_is_counted_once(write: Write, torchlint: Torchlint) -> None:
    write({"x.py": OLD + "print(x.data)\n" * 60})
    assert torchlint("check", "--statistics").out.count("data-read") == 1
