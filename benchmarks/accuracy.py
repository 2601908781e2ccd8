"""What the model says of expressions, against what they were while the test suites of their repositories ran.

    python benchmarks/accuracy.py CHECKOUTS [NAME …]

CHECKOUTS holds the repositories, each in a folder OWNER+NAME, at the commits in ``oracle/repositories.json``.
For each oracle file it prints how many receivers of ``.item``, ``.tolist``, ``.detach``, ``.cpu``, ``.numpy`` and
``.grad`` that were tensors `torchlint infer` calls tensors, how many of the others, and how many that it says cannot
require grad were seen to; and how many sites of ``.data`` of tensors, and of others, `torchlint check` reports.
Then how often a tensor was said to require grad (``proved`` or ``expected``) and did, or did not while the suite ran,
how often it was said that it cannot, how often neither; and findings of TL104 on lines that ran, each of them false.
"""

from __future__ import annotations

import collections
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ORACLE = Path(__file__).parent / "oracle"
METHODS = frozenset((".item", ".tolist", ".detach", ".cpu", ".numpy", ".grad"))
DATA = frozenset((".data", ".data="))
Row = dict[str, Any]


def main(checkouts: str, *names: str) -> int:
    """Print one line for each oracle file, and one for all of them."""
    folders = json.loads((ORACLE / "repositories.json").read_text(encoding="utf-8"))
    total: collections.Counter[str] = collections.Counter()
    for name in names or sorted(folders):
        root = Path(checkouts, folders[name]["folder"])
        if not root.is_dir():
            print(f"{name:14s} no checkout at {root}")
            continue
        rows = [json.loads(line) for line in (ORACLE / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()]
        counts = collections.Counter(dict(receivers(root, rows)))
        counts.update(dict(data(root, rows)))
        print(f"{name:14s} {shown(counts)}")
        total.update(counts)
    print(f"{'all':14s} {shown(total)}")
    return 0


def shown(counts: collections.Counter[str]) -> str:
    """One line of figures."""
    return (
        f"receivers: tensors {counts['tensor called tensor']}/{counts['tensor']}, "
        f"others {counts['other called tensor']}/{counts['other']}, "
        f"gradients seen where there can be none {counts['no grad wrong']}/{counts['no grad']}; "
        f".data: tensors {counts['data found']}/{counts['data']}, "
        f"others {counts['other data found']}/{counts['other data']}\n"
        f"{'':14s} requires grad: said yes and did {counts['yes did']}, did not {counts['yes did not']}; "
        f"said no and did {counts['no did']}, did not {counts['no did not']}; "
        f"not said and did {counts['open did']}, did not {counts['open did not']}; "
        f"TL104 on executed lines {counts['TL104']}"
    )


def receivers(root: Path, rows: list[Row]) -> Iterator[tuple[str, int]]:
    """How the receivers of tensor methods are called."""
    counts: collections.Counter[str] = collections.Counter()
    wanted = [row for row in rows if row["kind"] in METHODS and row["is"] != "mixed"]
    values = inferred(root, sorted({row["path"] for row in wanted}))
    for row in wanted:
        value = values.get((row["path"], row["end_line"], row["end_col"]))
        counts[row["is"]] += 1
        if value is None or value["kind"] != "tensor":
            continue
        counts[f"{row['is']} called tensor"] += 1
        if row["is"] != "tensor":
            continue
        did = "did" if row["grad"] else "did not"
        if value["certainty"] in ("proved", "expected"):
            counts[f"yes {did}"] += 1
        elif value["requires_grad"] == "no":
            counts[f"no {did}"] += 1
            counts["no grad"] += 1
            counts["no grad wrong"] += bool(row["grad"])
        else:
            counts[f"open {did}"] += 1
    yield from counts.items()


def inferred(root: Path, paths: list[str]) -> dict[tuple[str, int, int], Row]:
    """For the end of each attribute access the value of what it is an attribute of; columns in bytes, as in ``ast``."""
    values: dict[tuple[str, int, int], Row] = {}
    for start in range(0, len(paths), 40):
        command = ["torchlint", "infer", "--isolated", "--output-format", "json", *paths[start : start + 40]]
        ran = subprocess.run(command, cwd=root, capture_output=True, text=True, check=False)
        entries = json.loads(ran.stdout or "[]")
        at = {}
        for entry in entries:
            path = Path(entry["filename"]).relative_to(root.resolve()).as_posix()
            begin, end = ((entry[key]["row"], entry[key]["column"]) for key in ("location", "end_location"))
            at[path, begin, entry["expression"]] = entry
            entry["place"] = (path, begin, end)
        lines = {path: (root / path).read_text(encoding="utf-8").splitlines() for path in paths[start : start + 40]}
        for entry in entries:
            receiver, dot, _ = entry["expression"].rpartition(".")
            path, begin, (row, column) = entry["place"]
            owner = at.get((path, begin, receiver.rstrip())) if dot else None
            if owner is not None:
                values[path, row, len(lines[path][row - 1][: column - 1].encode())] = owner["value"]
    return values


def data(root: Path, rows: list[Row]) -> Iterator[tuple[str, int]]:
    """How many sites of `.data` are reported."""
    counts: collections.Counter[str] = collections.Counter()
    command = ["torchlint", "check", "--isolated", "--no-cache", "--exit-zero", "--output-format", "json", "."]
    ran = subprocess.run(command, cwd=root, capture_output=True, text=True, check=False)
    found = collections.defaultdict(list)
    refused = []
    for finding in json.loads(ran.stdout or "[]"):
        path = Path(finding["filename"]).relative_to(root.resolve()).as_posix()
        if finding["code"] == "TL104":
            refused.append((path, finding["location"]["row"]))
        begin, end = finding["location"], finding["end_location"]
        found[path].append(((begin["row"], begin["column"] - 1), (end["row"], end["column"] - 1)))
    for row in rows:
        if row["kind"] not in DATA or row["is"] == "mixed":
            continue
        place, kind = (row["end_line"], row["end_col"]), "" if row["is"] == "tensor" else "other "
        counts[f"{kind}data"] += 1
        counts[f"{kind}data found"] += any(begin < place <= end for begin, end in found[row["path"]])
    executed = {(row["path"], row["line"]) for row in rows if row["kind"] == ".numpy"}
    counts["TL104"] = sum((path, row) in executed for path, row in refused)
    yield from counts.items()


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
