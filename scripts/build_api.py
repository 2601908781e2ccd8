"""Turns the table of torch's API into ``api.json`` and ``gate.json`` in ``torchlint/rules/api/data``.

python scripts/build_api.py           write
python scripts/build_api.py --check   say what is out of date, and write nothing
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

from torchlint.rules.api.table import DATA, Row  # noqa: E402

COLUMNS = tuple(Row.__slots__)

COMMON = frozenset(
    """
    Assert Batch BatchNorm2d Container Conv2d ConvTranspose2d Example Field Iterator Scale ShapeEnv Tensor
    _tensor all_reduce angle autocast backend bottleneck check checkpoint cholesky constant convert cross
    deprecated dirac dynamic eig error explain export eye fft fork freeze fsdp functionalize grad grad_and_value
    hessian ifft import_module inf info int_classes interpolate intrinsic io irfft istft jvp launch legacy load
    load_state_dict load_wav lu make_grid norm normal orthogonal prepare profile prototype qat qr quantizable
    quantization quantize quantize_pt2e quantized quantizer rand randn range required rfft save save_image scale
    script segmentation sigmoid skip softmax solve sparse sparsity spawn stft svd symbolic sync tanh tensor
    trace trainer traverse uniform upsample utils variable vjp vmap wait xavier_normal xavier_uniform
    """.split()  # noqa: SIM905
)
"""Last parts of names that are words of other things, too: they count only behind the module that they are in."""


ALIASES: dict[str, list[str]] = {}
"""For public names of torch the longer ones that they have as well."""
for _long, _short in json.loads((ROOT / "torchlint/model/torch/data/torch.json").read_text(encoding="utf-8"))[
    "aliases"
].items():
    ALIASES.setdefault(_short, []).append(_long)

MODULES = {"functional": ("F", "TF", "VF"), "transforms": ("T", "tv"), "nn": ("N",), "lr_scheduler": ()}
"""What modules are called by custom; any other name is seen by its import."""


def specs(row: dict[str, Any]) -> list[list[str]]:
    """In which places the last part of a name counts."""
    name, kind = row["name"], row["kind"]
    before, _, last = name.rpartition(".")
    if name.startswith(("torchvision.", "torchaudio.", "torchtext.")):
        package = (
            [name.partition(".")[0]] if kind in ("argument",) else [name.partition(".")[0], before.rpartition(".")[2]]
        )
        return (
            [["in", *package, *MODULES.get(before.rpartition(".")[2], ())]]
            if kind != "argument"
            else [["in", package[0]]]
        )
    module = before.rpartition(".")[2]
    bases = [module, *MODULES.get(module, ())]
    bases += [long.split(".")[-2] for long in ALIASES.get(name, ()) if long.split(".")[-2] not in bases]
    if kind == "class" and last.endswith("Tensor"):
        return [["name", *bases]] if module == "sparse" else [["made"]]
    if name == "torch.utils.data.Sampler.__init__":
        return [["in", "Sampler"]]
    if kind in ("function", "class", "attribute", "module"):
        return [["name", *bases] if last in COMMON else ["name"]]
    if kind == "called-module":
        return [["called", *bases]]
    if kind == "argument":
        if "position" in row and row["rule"] == "TL303":
            return [["several", str(row["position"] + 1)], ["with", row["argument"]]]
        if row.get("fix") == "reduction":  # by keyword, or by position
            count = [part.strip() for part in row["signature"].split(",")].index("size_average") + 1
            return [["with", "size_average", "reduce"], ["several", str(count), *bases]]
        if "literal" in row:
            return [["given", row["argument"], row["literal"].strip("'")]]
        return [["with", *(part.strip() for part in row["argument"].split(","))]]
    if kind == "default":
        named = [] if name.startswith("torch.Tensor.") else bases
        return [["without", row["argument"], str(row.get("position", -1)), *named]]
    if kind == "positional":
        is_method = name.startswith(("torch.Tensor.", "torch.nn.Module."))
        count = (
            1 if last == "state_dict" else 2 if module == "_dynamo" else 2 if last.rstrip("_") in ("add", "sub") else 3
        )
        if is_method:
            return [["several" if last == "state_dict" else "numbers", str(count)]]
        return [["several", str(count + (module == "torch")), *bases]]
    if kind == "behaviour":
        return []
    return [["method"]]


def gate(rows: list[dict[str, Any]]) -> dict[str, dict[str, list[list[str]]]]:
    """For each rule the words that its rows are found by, and where they count."""
    found: dict[str, dict[str, list[list[str]]]] = {}
    for row in rows:
        word = row["name"].rpartition(".")[2]
        if row["rule"] in ("TL901",):
            if "position" in row:
                found.setdefault(row["rule"], {})[word] = [["flag", "torchvision"]]
            word = row["argument"]
        places = found.setdefault(row["rule"], {}).setdefault(word, [])
        places += [spec for spec in specs(row) if spec not in places]
    return {rule: dict(sorted(words.items())) for rule, words in sorted(found.items())}


def rows() -> list[dict[str, Any]]:
    """The table as it is written."""
    loaded: list[dict[str, Any]] = tomllib.loads((DATA / "api.toml").read_text(encoding="utf-8"))["api"]
    return loaded


def wanted() -> dict[Path, str]:
    """The files with what is to be in them."""
    table = rows()
    short = [{key: row[key] for key in COLUMNS if key in row} for row in table]
    lines = ",\n".join(json.dumps(row, ensure_ascii=False, separators=(",", ":")) for row in short)
    gates = "{\n" + ",\n".join(f"{json.dumps(rule)}:{json.dumps(words)}" for rule, words in gate(table).items()) + "\n}"
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
