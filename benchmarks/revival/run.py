"""Back to life: old training programs before and after `torchlint check --fix --unsafe-fixes`.

    python benchmarks/revival/run.py CHECKOUTS [--python PYTHON] [--only NAME ...] [--json OUT] [--markdown OUT]

CHECKOUTS holds a folder for each repository and commit in `programs.json`, named by the repository's last name and the
first seven digits of the commit. PYTHON is one with torch, numpy, scipy and pillow, and what the programs need besides
(see `programs.json`). Nothing is written into the checkouts: each stage works on a copy.

- before: the checkout, with what has nothing to do with torch set right (`about` is not `torch` in `programs.json`).
- safe: the same, after `--fix`.
- after: the same, after `--fix --unsafe-fixes`.
- by hand: the same, with the edits that torchlint has no fix for, and fixed.

With --needed, edits by hand are left out one after the other, and the program run again: an edit without which it ends,
with the same losses, is left out for good. --markdown writes the tables of `docs/revival.md`.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
LEFT_OUT = shutil.ignore_patterns(".git")
SAFE, ALL = ("--fix",), ("--fix", "--unsafe-fixes")


def apply_edits(tree: Path, edits: list[dict[str, Any]]) -> None:
    """Replace what `pattern` matches by `to` on the given lines; the lines are those of the commit."""
    for edit in edits:
        path = tree / edit["file"]
        lines = path.read_text().split("\n")
        for number in edit["lines"]:
            lines[number - 1], count = re.subn(edit["pattern"], edit["to"], lines[number - 1])
            if not count:
                sys.exit(f"{path}:{number} does not match {edit['pattern']!r}; is it the right commit?")
        path.write_text("\n".join(lines))


def fix(tree: Path, torchlint: Path, modes: tuple[str, ...]) -> dict[str, Any]:
    """Apply the fixes of these modes; how many findings were fixed, and how many of each rule are left."""
    command = [sys.executable, "-m", "torchlint", "check", "--no-cache", "--isolated", "--color", "never"]
    environment = os.environ | {"PYTHONPATH": str(torchlint)}

    def run(*arguments: str) -> subprocess.CompletedProcess[str]:
        whole = [*command, *arguments, "."]
        return subprocess.run(whole, check=False, cwd=tree, env=environment, capture_output=True, text=True)

    fixed = run(*modes, "--show-fixes")
    if fixed.returncode not in (0, 1):
        print(f"torchlint exited with {fixed.returncode}: {fixed.stderr.strip()}")
    count = re.search(r"Fixed (\d+) finding", fixed.stdout)
    rest = run("--output-format", "json")
    left: dict[str, int] = {}
    for finding in json.loads(rest.stdout):
        left[finding["code"]] = left.get(finding["code"], 0) + 1
    said = {"said": fixed.stderr.strip()} if fixed.returncode > 1 else {}
    return {"fixed": int(count[1]) if count else 0, "left": left} | said


def drive(name: str, tree: Path, options: argparse.Namespace, log: Path) -> dict[str, Any]:
    """Run the program and read what it said."""
    environment = os.environ | {"PYTHONHASHSEED": "0", "MPLBACKEND": "Agg", "PYTHONDONTWRITEBYTECODE": "1"}
    with log.open("w") as output:
        command = [options.python, str(HERE / "drive.py"), name, str(tree)]
        try:
            subprocess.run(
                command, check=False, env=environment, stdout=output, stderr=subprocess.STDOUT, timeout=options.timeout
            )
        except subprocess.TimeoutExpired:
            return {"error": f"stopped after {options.timeout} seconds", "where": "", "steps": 0, "series": []}
    for line in reversed(log.read_text(errors="replace").splitlines()):
        if line.startswith('{"steps"'):
            result: dict[str, Any] = json.loads(line)
            return result
    return {"error": "ended without a word", "where": "", "steps": 0, "series": []}


def summary(result: dict[str, Any]) -> dict[str, Any]:
    """The result without the whole series: its first and last fifth's mean."""
    series = result.pop("series")
    part = max(1, len(series) // 5)
    if series:
        result["first"], result["last"] = sum(series[:part]) / part, sum(series[-part:]) / part
        result["falls"] = result["last"] < result["first"]
    return result


def losses(result: dict[str, Any]) -> tuple[Any, ...]:
    """What must be the same for two runs to be the same."""
    return tuple(result.get(key) for key in ("error", "steps", "first", "last"))


def revive(program: dict[str, Any], options: argparse.Namespace, scratch: Path) -> dict[str, Any]:
    """All stages of one program."""
    name, edits = program["name"], program.get("edits", [])
    checkout = options.checkouts / f"{program['repository'].split('/')[1]}-{program['commit'][:7]}"
    if not checkout.is_dir():
        sys.exit(f"{checkout} is missing: https://github.com/{program['repository']} at {program['commit']}")
    elsewhere = [edit for edit in edits if edit["about"] != "torch"]
    stages: dict[str, tuple[list[dict[str, Any]], tuple[str, ...]]] = {
        "before": (elsewhere, ()),
        "safe": (elsewhere, SAFE),
        "after": (elsewhere, ALL),
    }
    if len(elsewhere) < len(edits):
        stages["by hand"] = (edits, ALL)

    def run(stage: str, applied: list[dict[str, Any]], modes: tuple[str, ...]) -> dict[str, Any]:
        tree = scratch / f"{name}-{stage.replace(' ', '-')}"
        shutil.copytree(checkout, tree, ignore=LEFT_OUT)
        apply_edits(tree, applied)
        result = fix(tree, options.torchlint, modes) if modes else {}
        result |= summary(drive(name, tree, options, scratch / f"{tree.name}.log"))
        print(line(program, stage, result), flush=True)
        return result

    found: dict[str, Any] = {stage: run(stage, *how) for stage, how in stages.items()}
    if options.needed and "by hand" in found:
        needed = list(edits)
        for number, edit in enumerate(edits):
            if edit["about"] == "torch":
                without = [other for other in needed if other is not edit]
                if losses(run(f"no {number}", without, ALL)) == losses(found["by hand"]):
                    needed = without
        found["needed"] = [edits.index(edit) for edit in needed]
    return found


def line(program: dict[str, Any], stage: str, result: dict[str, Any]) -> str:
    """One line of the table."""
    fate = f"{result['error']} ({result['where']})" if "error" in result else "runs"
    loss = f"{result['first']:.3f} → {result['last']:.3f}" if "first" in result else "-"
    return f"{program['name']:<20}{stage:<9}{result['steps']:>4} steps  {loss:<20} {fate}"


# ---------------------------------------------------------------------- the tables of docs/revival.md


def fate(result: dict[str, Any]) -> str:
    """What became of a run, short enough for a table."""
    if "error" not in result:
        return "runs"
    said = re.sub(r"\x1b\[\d*m", "", result["error"])
    for end in (" Use `tensor", " (You can", ", to do so"):
        said = said.partition(end)[0]
    said = said.strip().rstrip(".").replace("|", "\\|")
    return f"`{said if len(said) <= 90 else said[:88] + '…'}`"


def kept(program: dict[str, Any], result: dict[str, Any]) -> list[dict[str, Any]]:
    """The edits by hand that a program needs."""
    edits = program.get("edits", [])
    return [edits[at] for at in result["needed"]] if "needed" in result else edits


def row(program: dict[str, Any], result: dict[str, Any]) -> str:
    """The line of a program."""
    after = result["after"]
    end = result.get("by hand", after)
    by_hand = [0, 0]
    for edit in kept(program, result):
        by_hand[edit["about"] != "torch"] += len(edit["lines"])
    loss = f"{end['first']:.3g} → {end['last']:.3g}" if "first" in end else "–"
    cells = [
        program["kind"],
        f"{program['repository']} `{program['commit'][:7]}` ({program['name']})",
        fate(result["before"]),
        fate(result["safe"]),
        f"{after['fixed']} of {after['fixed'] + sum(after['left'].values())}",
        fate(after),
        " + ".join(map(str, by_hand)),
        fate(end),
        loss,
    ]
    return f"| {' | '.join(cells)} |"


def markdown(programs: list[dict[str, Any]], results: dict[str, Any]) -> str:
    """The tables of docs/revival.md."""
    of = [(program, results[program["name"]]) for program in programs if program["name"] in results]
    runs = {stage: sum("error" not in result[stage] for _, result in of) for stage in ("before", "safe", "after")}
    ends = [result.get("by hand", result["after"]) for _, result in of]
    done = [end for end in ends if "error" not in end]
    lines = [
        f"Of {len(of)} programs {runs['before']} run before, {runs['safe']} after `--fix`, {runs['after']} after all "
        f"fixes, {len(done)} with the edits by hand; of these the loss falls in "
        f"{sum(bool(end.get('falls')) for end in done)}.",
        "",
        "| kind | repository and commit (program) | before | after `--fix` | findings fixed by all fixes "
        "| after all fixes | lines by hand: torch + other | then | loss, first → last |",
        "|---|---|---|---|---|---|---|---|---|",
        *(row(program, result) for program, result in of),
        "",
        "| program | file | lines | why |",
        "|---|---|---|---|",
    ]
    for program, result in of:
        edits = [edit for edit in kept(program, result) if edit["about"] == "torch"]
        lines += [f"| {program['name']} | {e['file']} | {len(e['lines'])} | {e['why']} |" for e in edits]
    return "\n".join(lines) + "\n"


def main() -> None:
    """See the module's text."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("checkouts", type=Path)
    parser.add_argument("--python", default=sys.executable)
    parser.add_argument("--only", nargs="*", help="names of programs")
    parser.add_argument("--torchlint", type=Path, default=ROOT, help="the folder that holds the torchlint to use")
    parser.add_argument("--needed", action="store_true", help="find out which edits by hand are needed")
    parser.add_argument("--timeout", type=float, default=900)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--markdown", type=Path, help="write the tables of docs/revival.md there")
    parser.add_argument("--keep", type=Path, help="use this new folder for the copies and logs, and keep it")
    options = parser.parse_args()
    programs = json.loads((HERE / "programs.json").read_text())["programs"]
    with tempfile.TemporaryDirectory() as temporary:
        scratch = (options.keep or Path(temporary)).resolve()
        scratch.mkdir(parents=True, exist_ok=True)
        results = {
            program["name"]: revive(program, options, scratch)
            for program in programs
            if not options.only or program["name"] in options.only
        }
    if options.json:
        options.json.write_text(json.dumps(results, indent=1) + "\n")
    if options.markdown:
        options.markdown.write_text(markdown(programs, results))


if __name__ == "__main__":
    main()
