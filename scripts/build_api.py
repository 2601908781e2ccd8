"""Turns the table of torch's API into what is read at run time: ``torchlint/data/api.json`` and ``gate.json``.

python scripts/build_api.py           write
python scripts/build_api.py --check   say what is out of date, and write nothing
"""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

from torchlint.api import DATA, Row  # noqa: E402

COLUMNS = tuple(Row.__slots__)

COMMON = frozenset(
    """
    add add_ sub sub_ addr addr_ angle Batch backend check constant convert cross deprecated dirac eig error Example explain export Field
    fft freeze fork get_lr grad hessian ifft info io Iterator is_pinned launch legacy load load_wav lu make_grid new next norm
    normal names nonzero orthogonal prepare profile pin_memory qat quantize quantizer quantization quantized qr range reduce_op rename
    required resize resize_as save Scale scale scatter script softmax solve sparse step storage svd symbolic T Tensor
    tensor trace trainer traverse type uniform vmap wait weight_norm jvp vjp eye Container export_for_training
    sigmoid tanh upsample functionalize Function rfft irfft tensor zeros ones empty rand randn full randint
    save_image spawn stft istft linspace logspace DataLoader checkpoint meshgrid interpolate Hardtanh
    state_dict backward intrinsic prototype creator
    """.split()  # noqa: SIM905
)
"""Last parts of names that are words of other things, too: they count only where they stand as they do in torch."""


def pattern(row: dict[str, Any]) -> str:
    """What a text must match, besides having the last part of the name as a word; empty: nothing."""
    name, kind = row["name"], row["kind"]
    before, _, last = name.rpartition(".")
    module = before.rpartition(".")[2]
    if kind in ("function", "class", "attribute", "module", "default", "called-module", "behaviour"):
        if last not in COMMON:
            return ""
        if before == "torch.Tensor":
            return rf"\.\s*{last}\b"
        base = {"functional": "(?:functional|F)"}.get(module, module)
        return rf"\b{base}\s*\.\s*{last}\b|import\b[^\n(]*\b{last}\b|import\s*\([^)]*\b{last}\b|import\s*\*|getattr\([^)]*{last}"
    if kind == "argument":
        if "position" in row:
            return rf"\.\s*{last}\s*\(\s*[^\s)]"
        arguments = "|".join(part.strip() for part in row["argument"].split(","))
        return rf"\b(?:{arguments})\s*="
    if kind == "positional":
        return rf"\b{last}\s*\(\s*(?:[^(),\n]|\((?:[^()]|\([^()]*\))*\))+,\s*(?!\w+\s*=)"
    if kind == "iterator":
        return r"\.\s*next\s*\(\s*\)"
    return rf"\.\s*{last}\b" if last in COMMON else ""


def gate(rows: list[dict[str, Any]]) -> dict[str, dict[str, str]]:
    """For each rule the words that its rows are found by, with what else has to match."""
    found: dict[str, dict[str, set[str]]] = {}
    for row in rows:
        word = row["name"].rpartition(".")[2]
        found.setdefault(row["rule"], {}).setdefault(word, set()).add(pattern(row))
    return {
        rule: {word: "" if "" in patterns else "|".join(sorted(patterns)) for word, patterns in sorted(words.items())}
        for rule, words in sorted(found.items())
    }


def rows() -> list[dict[str, Any]]:
    """The table as it is written."""
    loaded: list[dict[str, Any]] = tomllib.loads((DATA / "api.toml").read_text(encoding="utf-8"))["api"]
    return loaded


def wanted() -> dict[Path, str]:
    """The files with what is to be in them."""
    table = rows()
    short = [{key: row[key] for key in COLUMNS if key in row} for row in table]
    lines = ",\n".join(json.dumps(row, ensure_ascii=False, separators=(",", ":")) for row in short)
    gates = json.dumps(gate(table), ensure_ascii=False, indent=0)
    assert all(re.compile(each) for words in gate(table).values() for each in words.values())
    return {DATA / "api.json": f"[\n{lines}\n]\n", DATA / "gate.json": gates + "\n"}


def main() -> int:
    """Write, or check."""
    outdated = [p for p, text in wanted().items() if not p.exists() or p.read_text(encoding="utf-8") != text]
    if "--check" in sys.argv[1:]:
        for path in outdated:
            print(f"{path.relative_to(ROOT)} is out of date: run scripts/build_api.py")
        return 1 if outdated else 0
    for path in outdated:
        path.write_text(wanted()[path], encoding="utf-8", newline="\n")
        print(f"{path.relative_to(ROOT)} written")
    return 0


if __name__ == "__main__":
    sys.exit(main())
