"""The keys of settings files. All that is said of a key anywhere is made of what stands here."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Generic, TypeVar

from torchlint.diagnostic import Confidence, Severity
from torchlint.project import kinds
from torchlint.project.kinds import ValueKind
from torchlint.system.limits import BUDGET, FILE_SIZE, size_of

T_co = TypeVar("T_co", covariant=True)

DEFAULT_EXCLUDE = (
    *(".bzr", ".direnv", ".eggs", ".git", ".hg", ".ipynb_checkpoints", ".mypy_cache", ".nox", ".pants.d", ".pyenv"),
    *(".pytest_cache", ".pytype", ".ruff_cache", ".svn", ".torchlint_cache", ".tox", ".venv", ".vscode"),
    *("__pycache__", "__pypackages__", "_build", "buck-out", "build", "dist", "node_modules", "site-packages", "venv"),
)


@dataclass(frozen=True, slots=True, eq=False)
class SettingKey(Generic[T_co]):
    """One key."""

    name: str
    kind: ValueKind[T_co]
    default: str
    """As it would be written, or in words."""
    text: str
    """What it is for, in a sentence or two of Markdown."""
    example: str
    """A value, as it is written in TOML."""


EXTEND = SettingKey(
    "extend",
    kinds.FILE,
    "none",
    "Another settings file, which holds where this one says nothing else. Lists whose names begin with `extend-` add "
    "to those there, and so do tables and `ignore`; `~` is the home directory.",
    '"../torchlint.toml"',
)
SELECT = SettingKey(
    "select",
    kinds.RULES,
    "all rules that are on by default",
    "The rules to use: codes, beginnings of codes, names, groups, `ALL` (all but TL002 and TL005).",
    '["TL1", "security"]',
)
EXTEND_SELECT = SettingKey("extend-select", kinds.RULES, "[]", "Rules to use as well.", '["TL309"]')
IGNORE = SettingKey(
    "ignore",
    kinds.RULES,
    "[]",
    "Rules not to use. The more exact selector wins, then `ignore`.",
    '["TL103"]',
)
EXTEND_IGNORE = SettingKey(
    "extend-ignore", kinds.RULES, "[]", "The same as `ignore`, for those who know ruff.", '["TL103"]'
)
PER_FILE_IGNORES = SettingKey(
    "per-file-ignores",
    kinds.PER_FILE,
    "{}",
    "Rules not to use in files that match a pattern; `!` before it: in all others.",
    '{ "tests/*" = ["TL101"], "!src/**" = ["performance"] }',
)
SEVERITY = SettingKey(
    "severity",
    kinds.SEVERITIES,
    "{}",
    "How bad the findings of some rules are; the more exact selector wins.",
    '{ migration = "info", TL107 = "error" }',
)
FAIL_ON = SettingKey(
    "fail-on",
    kinds.LEVEL,
    f'"{Severity.INFO.value}"',
    "Exit with 1 only for findings as bad as that, or worse.",
    '"warning"',
)
MIN_CONFIDENCE = SettingKey(
    "min-confidence",
    kinds.CONFIDENCE,
    f'"{Confidence.LOW.value}"',
    "Report, and fix, only what is at least as sure as that.",
    '"medium"',
)
REQUIRE_REASON = SettingKey(
    "require-reason",
    kinds.FLAG,
    "false",
    "Report comments that silence findings and do not say why (TL005).",
    "true",
)
EXCLUDE = SettingKey(
    "exclude",
    kinds.PATTERNS,
    ", ".join(f"`{name}`" for name in DEFAULT_EXCLUDE),
    "What is not checked below a given folder, instead of the default. What git ignores is left out anyhow.",
    '["third_party"]',
)
EXTEND_EXCLUDE = SettingKey(
    "extend-exclude", kinds.PATTERNS, "[]", "What is not checked, either.", '["third_party", "*_pb2.py"]'
)
TARGET_TORCH = SettingKey(
    "target-torch",
    kinds.VERSION,
    "what the project requires",
    "The oldest version of torch that the code has to run with, or a range. Without it, requirements and lock files "
    "tell.",
    '">=1.13"',
)
PER_FILE_TARGET_TORCH = SettingKey(
    "per-file-target-torch",
    kinds.VERSION_PER_FILE,
    "{}",
    "The same for files that match a pattern; `!` before it: for all others. Of several patterns the last one counts.",
    '{ "legacy/**" = ">=1.4", "examples/*.py" = "2.6" }',
)
FIX = SettingKey("fix", kinds.FLAG, "false", "Apply safe fixes.", "true")
UNSAFE_FIXES = SettingKey("unsafe-fixes", kinds.FLAG, "false", "Apply unsafe fixes too, or show them.", "true")
FIX_ONLY = SettingKey("fix-only", kinds.FLAG, "false", "Apply fixes, and report nothing that is left.", "true")
SHOW_FIXES = SettingKey(
    "show-fixes",
    kinds.FLAG,
    "on a terminal, of up to 20 files",
    "List what was fixed, by file and rule; else it is counted by rule.",
    "true",
)
DOCS = SettingKey(
    "docs", kinds.FLAG, "false", "Look at code in Markdown, reStructuredText and docstrings, too.", "true"
)
FIXABLE = SettingKey("fixable", kinds.RULES, '["ALL"]', "Rules whose fixes may be applied.", '["TL1"]')
EXTEND_FIXABLE = SettingKey(
    "extend-fixable", kinds.RULES, "[]", "Rules whose fixes may be applied as well.", '["TL201"]'
)
UNFIXABLE = SettingKey("unfixable", kinds.RULES, "[]", "Rules whose fixes may not be applied.", '["TL107"]')
EXTEND_SAFE_FIXES = SettingKey(
    "extend-safe-fixes", kinds.RULES, "[]", "Rules whose unsafe fixes count as safe.", '["TL203"]'
)
EXTEND_UNSAFE_FIXES = SettingKey(
    "extend-unsafe-fixes", kinds.RULES, "[]", "Rules whose safe fixes count as unsafe.", '["TL106"]'
)
OUTPUT_FORMAT = SettingKey(
    "output-format",
    kinds.FORMAT_LIST,
    '"full"',
    "How to report; several, each but one with a file. `--output-format` and the variable `TORCHLINT_OUTPUT_FORMAT` go "
    "before it.",
    '["concise", "sarif:torchlint.sarif"]',
)
BASELINE = SettingKey(
    "baseline",
    kinds.FILE,
    '".torchlint-baseline.json", if it exists',
    "The file with findings that are known and not reported, from the folder of the settings on.",
    '"ci/torchlint-baseline.json"',
)
CACHE_DIR = SettingKey(
    "cache-dir",
    kinds.FOLDER,
    '".torchlint_cache"',
    "Where the cache is: inside of the project. `--cache-dir` and the variable `TORCHLINT_CACHE_DIR` can name any "
    "place.",
    '"build/torchlint"',
)
MAX_FILE_SIZE = SettingKey(
    "max-file-size",
    kinds.SIZE,
    f'"{size_of(FILE_SIZE)}"',
    "Check no larger files; `0` for the most, 50 MB.",
    '"5M"',
)
MODEL_BUDGET = SettingKey(
    "model-budget",
    kinds.COUNT,
    str(BUDGET),
    "So many expressions of a file are interpreted at most, each as often as it is; `0` for no limit.",
    "10_000_000",
)

ALL: tuple[SettingKey[object], ...] = (
    EXTEND,
    SELECT,
    EXTEND_SELECT,
    IGNORE,
    EXTEND_IGNORE,
    PER_FILE_IGNORES,
    SEVERITY,
    FAIL_ON,
    MIN_CONFIDENCE,
    REQUIRE_REASON,
    TARGET_TORCH,
    PER_FILE_TARGET_TORCH,
    EXCLUDE,
    EXTEND_EXCLUDE,
    FIX,
    UNSAFE_FIXES,
    FIX_ONLY,
    SHOW_FIXES,
    DOCS,
    FIXABLE,
    EXTEND_FIXABLE,
    UNFIXABLE,
    EXTEND_SAFE_FIXES,
    EXTEND_UNSAFE_FIXES,
    OUTPUT_FORMAT,
    BASELINE,
    CACHE_DIR,
    MAX_FILE_SIZE,
    MODEL_BUDGET,
)
"""All keys, in the order in which pages list them."""

BY_NAME: Mapping[str, SettingKey[object]] = {key.name: key for key in ALL}
