"""Run a project's tests before and after torchlint's fixes and compare them test by test.

    python scripts/compare_test_suites.py CHECKOUT [options] -- [pytest arguments]

The checkout is left alone: it is copied twice, one copy is fixed, and pytest runs in both. A test that passed before
and does not pass after is run again in both copies, by itself, before it counts.

Exit code: 0 every test that passed before passes after, 1 some do not, 2 nothing could be compared (no test passed
before, wrong usage), 3 torchlint could not check something.
"""

from __future__ import annotations

import argparse
import contextlib
import filecmp
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from dataclasses import asdict, dataclass, field
from pathlib import Path

NOT_RUN = "not run"
PASSED = "passed"
WORST_FIRST = ("error", "failed", "xpassed", PASSED, "xfailed", "skipped")
AT_ONCE = 200
LEFT_OUT = shutil.ignore_patterns(".git", ".hg", "__pycache__", ".pytest_cache", ".mypy_cache", ".torchlint_cache")

# Loaded into the project's pytest: writes each outcome at once, so that a crash loses one test and not the run, and
# which files were imported, so that a run against an installed copy of the package is noticed.
PLUGIN = """
import json, os, signal, sys

OUTCOMES, FILES = os.environ["TORCHLINT_OUTCOMES"], os.environ["TORCHLINT_FILES"]
SEEN = set()


def outcome(report):
    if report.when != "call" and report.passed:
        return None
    if report.failed:
        return "failed" if report.when == "call" else "error"
    if hasattr(report, "wasxfail"):
        return "xfailed" if report.skipped else "xpassed"
    return report.outcome


def write(report, found):
    line = {"test": report.nodeid, "outcome": found, "why": str(getattr(report, "longreprtext", ""))[-2000:]}
    with open(OUTCOMES, "a") as out:
        out.write(json.dumps(line) + "\\n")


class Outcomes:
    def pytest_runtest_logreport(self, report):
        found = outcome(report)
        if found:
            write(report, found)

    def pytest_collectreport(self, report):
        if report.failed:
            write(report, "error")


def write_files():
    new = {getattr(module, "__file__", None) for module in list(sys.modules.values())} - SEEN
    SEEN.update(new)
    with open(f"{FILES}.{os.getpid()}", "a") as out:
        out.writelines(os.path.realpath(path) + "\\n" for path in new if isinstance(path, str))


def pytest_configure(config):
    if hasattr(config, "workerinput"):
        return
    config.pluginmanager.register(Outcomes())
    # A shell starts what runs in the background deaf to it.
    signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_runtest_teardown():
    write_files()


def pytest_unconfigure():
    write_files()
"""


@dataclass
class Run:
    """What one run of pytest said: the outcome of each test, why it failed, and which files it imported."""

    outcomes: dict[str, str] = field(default_factory=dict)
    reasons: dict[str, str] = field(default_factory=dict)
    files: set[Path] = field(default_factory=set)
    seconds: float = 0.0
    cut_off: bool = False
    tail: str = ""


@dataclass
class Comparison:
    """What is told of two runs."""

    changed_files: list[str]
    imported_changed_files: list[str]
    findings_fixed: int
    before: dict[str, int]
    after: dict[str, int]
    transitions: dict[str, list[str]]
    broken: list[str]
    unsteady: list[str]
    seconds: tuple[float, float]
    cut_off: tuple[bool, bool]


class Trouble(Exception):
    """Something that makes a comparison impossible, with the exit code for it."""

    def __init__(self, message: str, code: int = 2) -> None:
        super().__init__(message)
        self.code = code


def run_tests(tree: Path, options: argparse.Namespace, arguments: list[str], scratch: Path) -> Run:
    """pytest in `tree`, with its own package found first."""
    scratch.mkdir(parents=True)
    (scratch / "torchlint_outcomes.py").write_text(PLUGIN)
    outcomes, files = scratch / "outcomes.jsonl", scratch / "files"
    paths = [scratch, *(tree / path for path in options.path), tree / "src", tree]
    environment = os.environ | {
        "TORCHLINT_OUTCOMES": str(outcomes),
        "TORCHLINT_FILES": str(files),
        "PYTHONPATH": os.pathsep.join([*map(str, paths), os.environ.get("PYTHONPATH", "")]),
        "PYTHONHASHSEED": "0",
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    command = [options.python, "-m", "pytest", "-p", "torchlint_outcomes", "-p", "no:cacheprovider", "-q"]
    command += ["--continue-on-collection-errors", *arguments]
    start = time.monotonic()
    with (scratch / "output.txt").open("w") as output:
        process = subprocess.Popen(command, cwd=tree, env=environment, stdout=output, stderr=output)
        ended = wait(process, options.timeout)
    run = read_run(outcomes, files)
    run.cut_off = not ended
    run.seconds = time.monotonic() - start
    run.tail = "\n".join((scratch / "output.txt").read_text(errors="replace").splitlines()[-15:])
    return run


def wait(process: subprocess.Popen[bytes], seconds: float | None) -> bool:
    """Wait until pytest has ended, and after `seconds` end it; did it end by itself?"""
    try:
        process.wait(seconds)
        return True
    except subprocess.TimeoutExpired:
        process.send_signal(signal.SIGINT)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(60)
        process.kill()
        process.wait()
        return False


def read_run(outcomes: Path, files: Path) -> Run:
    """What the plugin wrote; of several outcomes of one test the worst counts."""
    run = Run()
    for line in outcomes.read_text().splitlines() if outcomes.exists() else []:
        entry = json.loads(line)
        test, found = entry["test"], entry["outcome"]
        known = run.outcomes.get(test)
        if known is None or WORST_FIRST.index(found) < WORST_FIRST.index(known):
            run.outcomes[test], run.reasons[test] = found, entry["why"]
    for path in files.parent.glob(files.name + ".*"):
        run.files |= {Path(line) for line in path.read_text().splitlines()}
    return run


def fix(tree: Path, unsafe: bool, paths: list[str]) -> int:
    """Apply torchlint's fixes in `tree` and return how many findings were fixed."""
    command = [sys.executable, "-m", "torchlint", "check", "--fix", "--show-fixes", "--no-cache", "--color", "never"]
    command += ["--unsafe-fixes"] if unsafe else []
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([str(Path(__file__).resolve().parents[1]), *sys.path])}
    command += paths or ["."]
    found = subprocess.run(command, check=False, cwd=tree, env=environment, capture_output=True, text=True)
    if found.returncode not in (0, 1):
        raise Trouble(f"torchlint exited with {found.returncode}:\n{found.stdout[-2000:]}{found.stderr[-2000:]}", 3)
    count = re.search(r"Fixed (\d+) finding", found.stdout)
    return int(count[1]) if count else 0


def changed_files(before: Path, after: Path) -> list[str]:
    """The Python files that differ between the two copies."""
    names = [path.relative_to(before) for path in sorted(before.rglob("*.py")) if path.is_file()]
    return [str(name) for name in names if not filecmp.cmp(before / name, after / name, shallow=False)]


def suspects(before: dict[str, str], after: dict[str, str]) -> list[str]:
    """The tests that may be broken: passed before and not after, or failed after and did not run before."""
    worse = [test for test, found in before.items() if found == PASSED != after.get(test)]
    return worse + [test for test, found in after.items() if test not in before and found in ("failed", "error")]


def run_again(trees: tuple[Path, Path], tests: list[str], options: argparse.Namespace, scratch: Path) -> list[str]:
    """Those of `tests` which still pass before and still do not pass after, each time, when run by themselves."""
    steady = list(tests)
    for turn in range(options.again):
        if not steady:
            break
        before, after = Run(), Run()
        for start in range(0, len(steady), AT_ONCE):
            some = [*options.again_arguments, *steady[start : start + AT_ONCE]]
            for name, tree, run in (("before", trees[0], before), ("after", trees[1], after)):
                run.outcomes |= run_tests(tree, options, some, scratch / f"{name}-{turn}-{start}").outcomes
        steady = [test for test in steady if before.outcomes.get(test) == PASSED and after.outcomes.get(test) != PASSED]
    return steady


def compare(checkout: Path, options: argparse.Namespace, scratch: Path) -> tuple[Comparison, Run]:
    """Copy, run, fix, run, and run again what differs."""
    before, after = scratch / "before" / checkout.name, scratch / "after" / checkout.name
    for tree in (before, after):
        shutil.copytree(checkout, tree, symlinks=True, ignore=LEFT_OUT)
    first = run_tests(before, options, options.arguments, scratch / "run-before")
    if PASSED not in first.outcomes.values():
        what = f"{len(first.outcomes)} tests, none of which passes" if first.outcomes else "no test"
        raise Trouble(f"pytest found {what} in {checkout}; the end of its output:\n{first.tail}")
    fixed = fix(after, options.unsafe_fixes, options.fix)
    changed = changed_files(before, after)
    second = run_tests(after, options, options.arguments, scratch / "run-after")

    transitions: dict[str, list[str]] = {}
    for test in sorted(first.outcomes.keys() | second.outcomes.keys()):
        pair = first.outcomes.get(test, NOT_RUN), second.outcomes.get(test, NOT_RUN)
        transitions.setdefault(" → ".join(pair), []).append(test)
    worse = suspects(first.outcomes, second.outcomes)
    broken = run_again((before, after), worse, options, scratch / "again")
    return (
        Comparison(
            changed_files=changed,
            imported_changed_files=[name for name in changed if (after / name).resolve() in second.files],
            findings_fixed=fixed,
            before=dict(Counter(first.outcomes.values())),
            after=dict(Counter(second.outcomes.values())),
            transitions={pair: tests for pair, tests in transitions.items() if len(set(pair.split(" → "))) == 2},
            broken=broken,
            unsteady=[test for test in worse if test not in broken],
            seconds=(round(first.seconds, 1), round(second.seconds, 1)),
            cut_off=(first.cut_off, second.cut_off),
        ),
        second,
    )


def report(found: Comparison, second: Run) -> None:
    """Print a table of outcomes and every test that changed."""
    print(f"fixed: {found.findings_fixed}, changed files: {len(found.changed_files)}", end=", ")
    print(f"imported by the tests: {len(found.imported_changed_files)}")
    print(f"\n{'outcome':<10}{'before':>8}{'after':>8}")
    for outcome in (PASSED, "failed", "error", "skipped", "xfailed", "xpassed"):
        if found.before.get(outcome) or found.after.get(outcome):
            print(f"{outcome:<10}{found.before.get(outcome, 0):>8}{found.after.get(outcome, 0):>8}")
    for which, cut_off in zip(("before", "after"), found.cut_off, strict=True):
        if cut_off:
            print(f"\nwarning: the run {which} was cut off by --timeout")
    for pair, tests in found.transitions.items():
        print(f"\n{pair}: {len(tests)}")
        for test in tests[:20]:
            print(f"  {test}")
    if found.unsteady:
        print(f"\nnot steady, so not counted (run by themselves they do not differ): {len(found.unsteady)}")
    for test in found.broken:
        print(f"\nBROKEN {test}\n{second.reasons.get(test, '')}")
    if not found.imported_changed_files and found.changed_files:
        print("\nwarning: the tests imported none of the changed files; is another copy of the package installed?")
    print(f"\n{len(found.broken)} tests that passed before fail after the fixes")


def parse(arguments: list[str]) -> argparse.Namespace:
    """What was asked for; all behind `--` goes to pytest."""
    cut = arguments.index("--") if "--" in arguments else len(arguments)
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("checkout", type=Path)
    parser.add_argument("--python", default=sys.executable, help="the Python that has the project's requirements")
    parser.add_argument("--path", action="append", default=[], help="a folder of the checkout to import from")
    parser.add_argument("--fix", action="append", default=[], help="what to fix (default: everything)")
    parser.add_argument("--unsafe-fixes", action="store_true", help="apply unsafe fixes, too")
    parser.add_argument("--again", type=int, default=2, help="how often a test that differs is run again")
    parser.add_argument("--again-arguments", nargs="*", default=[], help="pytest arguments for that")
    parser.add_argument("--timeout", type=float, help="seconds for one run of pytest")
    parser.add_argument("--json", type=Path, help="write the comparison there")
    parser.add_argument("--keep", type=Path, help="use this new folder for the copies and keep it")
    options = parser.parse_args(arguments[:cut])
    options.arguments = arguments[cut + 1 :]
    return options


def main(arguments: list[str]) -> int:
    """See the module's text."""
    options = parse(arguments)
    if not options.checkout.is_dir():
        print(f"{options.checkout} is no folder", file=sys.stderr)
        return 2
    with tempfile.TemporaryDirectory() as temporary:
        scratch = (options.keep or Path(temporary)).resolve()
        try:
            found, second = compare(options.checkout.resolve(), options, scratch)
        except Trouble as trouble:
            print(trouble, file=sys.stderr)
            return trouble.code
    report(found, second)
    if options.json:
        options.json.write_text(json.dumps(asdict(found), indent=1) + "\n")
    return 1 if found.broken else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
