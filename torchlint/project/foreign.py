"""Keys and codes of other tools, for those who write them here: whose they are, and what stands for them here."""

from __future__ import annotations

import os
import re

from torchlint import DOCS

_RUFF_KEYS = frozenset(
    (
        *("builtins", "extend-include", "extension", "include", "indent-width", "line-length", "namespace-packages"),
        *("output-prefer-rule-codes", "per-file-target-version", "preview", "required-version", "respect-gitignore"),
        *("src", "target-version", "allowed-confusables", "dummy-variable-rgx", "explicit-preview-rules", "external"),
        *("extend-per-file-ignores", "future-annotations", "ignore-init-module-imports", "logger-objects"),
        *("task-tags", "typing-extensions", "typing-modules", "isort", "mccabe", "pep8-naming", "pycodestyle"),
        *("pydoclint", "pydocstyle", "pyflakes", "pylint", "pyupgrade", "ruff", "force-exclude"),
    )
)
_RUFF_TABLES = frozenset(("lint", "format", "analyze"))

_RUFF_PREFIXES = (
    *("A", "AIR", "ANN", "ARG", "ASYNC", "B", "BLE", "C4", "C90", "COM", "CPY", "D", "DJ", "DOC", "DTZ", "E", "EM"),
    *("ERA", "EXE", "F", "FA", "FAST", "FBT", "FIX", "FLY", "FURB", "G", "I", "ICN", "INP", "INT", "ISC", "LOG", "N"),
    *("NPY", "PD", "PERF", "PGH", "PIE", "PL", "PLC", "PLE", "PLR", "PLW", "PT", "PTH", "PYI", "Q", "RET", "RSE"),
    *("RUF", "S", "SIM", "SLF", "SLOT", "T10", "T20", "TC", "TD", "TID", "TRY", "UP", "W", "YTT"),
)
_RUFF_CODE = re.compile(rf"(?:{'|'.join(_RUFF_PREFIXES)})[0-9]*")

_HERE = {
    "per-file-target-version": "`per-file-target-torch` says it of the version of torch here",
    "target-version": "`target-torch` is the version of torch here",
    "extend-per-file-ignores": "`per-file-ignores` adds to that of the file that is extended",
    "force-exclude": "here it is an option, `--force-exclude`",
    "respect-gitignore": "what git ignores is never checked here, unless it is given by name",
    "src": "imports are followed in all of a project here",
    "disable": "write `ignore`",
    "enable": "write `extend-select`",
    "exclude-patterns": "write `exclude`",
}
"""What stands here for keys of ruff's, pylint's and others."""

TORCHFIX = {
    "TOR001": ("TL301",),
    "TOR002": ("TL501",),
    "TOR003": ("TL305",),
    "TOR004": ("TL301",),
    "TOR101": ("TL302", "TL306", "TL309"),
    "TOR102": ("TL701",),
    "TOR103": ("TL302", "TL306", "TL309"),
    "TOR104": ("TL306",),
    "TOR105": ("TL306",),
    "TOR106": ("TL801",),
    "TOR107": ("TL801",),
    "TOR108": ("TL801",),
    "TOR201": ("TL901",),
    "TOR202": ("TL902",),
    "TOR203": (),
    "TOR401": ("TL601",),
    "TOR402": ("TL602",),
    "TOR901": (),
}
"""What finds here what TorchFix's checks find; docs/torchfix.md says more."""


def about_key(key: str, file: str) -> str:
    """The end of a message about a key that there is not, if it is a known one of another tool."""
    is_shared = os.path.basename(file) == "pyproject.toml"
    if key == "tool" and not is_shared:
        return f" (the keys of `[tool.torchlint]` stand at the top of {os.path.basename(file)})"
    if key in _RUFF_TABLES:
        place = "directly in `[tool.torchlint]`" if is_shared else "at the top"
        return f" (a table of ruff's; here all settings stand {place}, without tables such as `{key}`)"
    whose = "this is ruff's" if key in _RUFF_KEYS else ""
    said = "; ".join(filter(None, (whose, _HERE.get(key, ""))))
    return f" ({said})" if said else ""


def about_selector(selector: str) -> str:
    """The end of a message about a rule that there is not, if it is a known one of another tool."""
    code = selector.upper()
    if code in TORCHFIX:
        return f" (this is TorchFix's; here: {', '.join(TORCHFIX[code]) or 'nothing'}, see {DOCS}/torchfix.md)"
    if re.fullmatch("TOR[0-9]{0,3}", code):
        return f" (this is TorchFix's; {DOCS}/torchfix.md says what stands for it here)"
    if _RUFF_CODE.fullmatch(selector):
        return " (this is ruff's; torchlint has rules about PyTorch only, which begin with TL)"
    return ""
