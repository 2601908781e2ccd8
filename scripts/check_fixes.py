"""Fixes all Python files of some folders, in a copy, and says whether anything went wrong. Prints a Markdown table.

python scripts/check_fixes.py FOLDER...

"Bytes changed outside edits" is counted apart from the code that edits: between two edits of a round the text before
and after must be the same, each round must begin with the text of the one before, and the file with the last.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import sys
import tempfile
import time
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from torchlint.diagnostic import Fixing, TextEdit
from torchlint.file.fix import rounds as rounds_of_fixing
from torchlint.file.fix.combine import edits_of
from torchlint.file.locate.blank_lines import closed_up
from torchlint.file.text import source
from torchlint.project.discovery import File, discover
from torchlint.project.project import Project
from torchlint.session.scheduler import FileResult, Run, RunOptions
from torchlint.system import states
from torchlint.system.stack import with_big_stack


@dataclass
class Account:
    """What became of the files."""

    name: str
    files: int = 0
    changed: int = 0
    fixes: dict[str, int] = field(default_factory=dict)
    revived: int = 0
    broken: list[str] = field(default_factory=list)
    again: list[str] = field(default_factory=list)
    outside: int = 0
    unresolved: list[str] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    seconds: float = 0.0

    def rows(self) -> Iterator[tuple[str, object]]:
        yield "files", self.files
        yield "files changed", self.changed
        yield "fixes", sum(self.fixes.values())
        yield "did not parse before and do now", self.revived
        yield "compile failures", len(self.broken)
        yield "changed by a second run", len(self.again)
        yield "bytes changed outside edits", self.outside
        yield "conflicts unresolved", len(self.unresolved)
        yield "problems", len(self.problems)
        yield "seconds", round(self.seconds)


def compiles(data: bytes) -> bool:
    """Whether Python takes it."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            compile(data, "<file>", "exec", dont_inherit=True)
        except (SyntaxError, ValueError):
            return False
    return True


def outside(before: str, edits: list[TextEdit], after: str) -> int:
    """How many bytes differ between the edits."""
    at = new = changed = 0
    for edit in [*edits, TextEdit(len(before), len(before), "")]:
        kept = edit.start - at
        if before[at : edit.start] != after[new : new + kept]:
            changed += len(before[at : edit.start].encode(errors="surrogatepass"))
        at, new = edit.end, new + kept + len(edit.content)
    return changed + len(after[new:].encode(errors="surrogatepass"))


class Log:
    """What the rounds of fixing did, written by whichever process did them."""

    def __init__(self, path: Path) -> None:
        self.path = path
        usual = rounds_of_fixing.one_round

        def logged(*given: Any) -> Any:
            done = usual(*given)
            if done.applied:
                ordered = closed_up(edits_of(done.applied), done.before.text)
                self._write(given[-1], done.before.text, ordered, done.after.text)
            return done

        rounds_of_fixing.one_round = logged  # type: ignore[assignment]

    def _write(self, path: str, before: str, edits: list[TextEdit], after: str) -> None:
        entry = [path, states.digest(before.encode("utf-8", "surrogatepass"))]
        entry += [states.digest(after.encode("utf-8", "surrogatepass")), outside(before, edits, after)]  # type: ignore[list-item]
        with open(self.path, "a", encoding="utf-8") as file:
            file.write(json.dumps(entry) + "\n")

    def taken(self) -> dict[str, list[tuple[str, str, int]]]:
        """The rounds of each file since the last call."""
        rounds: dict[str, list[tuple[str, str, int]]] = {}
        if self.path.exists():
            for line in self.path.read_text(encoding="utf-8").splitlines():
                path, before, after, changed = json.loads(line)
                rounds.setdefault(path, []).append((before, after, changed))
            self.path.unlink()
        return rounds


def strayed(result: FileResult, rounds: list[tuple[str, str, int]]) -> int:
    """How many bytes of a fixed file are not what its rounds of fixing gave; one for what cannot be counted."""
    assert result.after is not None
    changed = sum(number for _, _, number in rounds)
    ends = [_digest(result.before), *(after for _, after, _ in rounds)]
    if [before for before, _, _ in rounds] != ends[:-1] or _digest(result.after) != ends[-1]:
        changed += 1
    return changed + (Path(result.file.location).read_bytes() != result.after)


def _digest(data: bytes) -> str:
    return states.digest(source.decode(data).text.encode("utf-8", "surrogatepass"))


def examine(
    name: str, fixing: Fixing, files: list[File], log: Log, options: RunOptions
) -> tuple[Account, list[FileResult]]:
    """Fix the files twice."""
    account, started = Account(name, len(files)), time.perf_counter()
    log.taken()
    results = Run(Project(isolated=True), options).files(files)
    rounds = log.taken()
    for result in results:
        account.problems += [f"{p.path}:{p.row}: {p.message}" for p in result.problems]
        for found in result.diagnostics:
            if found.fix is not None and not found.fix.deferred and fixing.applies(found.fix):
                account.unresolved.append(f"{result.file.location}:{found.start.row} {found.code}")
        if result.after is None:
            continue
        account.changed += 1
        for code, count in result.fixed:
            account.fixes[code] = account.fixes.get(code, 0) + count
        account.outside += strayed(result, rounds.get(result.file.path, []))
        now = with_big_stack(lambda data=result.after: compiles(data))  # type: ignore[misc]
        then = with_big_stack(lambda data=result.before: compiles(data))  # type: ignore[misc]
        account.revived += now and not then
        if then and not now:
            account.broken.append(result.file.location)
    touched = [result.file for result in results if result.after is not None]  # the others would be checked as before
    second = Run(Project(isolated=True), replace(options, cache_directory=None)).files(touched)
    account.again = [result.file.location for result in second if result.after is not None]
    account.seconds = time.perf_counter() - started
    return account, results


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("-j", "--jobs", type=int, default=os.cpu_count() or 1)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as directory:
        copies = []
        for number, folder in enumerate(given.folders):
            copies.append(os.path.join(directory, str(number)))
            shutil.copytree(folder, copies[-1], symlinks=True, ignore=_only_python)
        files = discover(copies, Project(isolated=True)).files
        log = Log(Path(directory, "log"))
        accounts = []
        for name, fixing in (("--fix", Fixing.SAFE), ("--fix --unsafe-fixes", Fixing.UNSAFE)):
            options = RunOptions(fixing, True, given.jobs, os.path.join(directory, "cache"))
            account, results = examine(name, fixing, files, log, options)
            accounts.append(account)
            for result in results:
                if result.after is not None:
                    Path(result.file.location).write_bytes(result.before)
    print(f"| | {' | '.join(f'`{account.name}`' for account in accounts)} |")
    print("|---" * (len(accounts) + 1) + "|")
    for cells in zip(*(account.rows() for account in accounts), strict=True):
        print(f"| {cells[0][0]} | {' | '.join(str(value) for _, value in cells)} |")
    for account in accounts:
        print(f"\n{account.name}: fixes {dict(sorted(account.fixes.items()))}")
        for title, places in (
            ("does not compile", account.broken),
            ("changed again", account.again),
            ("unresolved", account.unresolved),
            ("problem", account.problems),
        ):
            for place in places:
                print(f"{title}: {place.replace(directory, '')}")
    wrong = sum(len(a.broken) + len(a.again) + a.outside + len(a.unresolved) for a in accounts)
    return 1 if wrong else 0


def _only_python(directory: str, names: list[str]) -> list[str]:
    return [n for n in names if not n.endswith((".py", ".pyi")) and not os.path.isdir(os.path.join(directory, n))]


if __name__ == "__main__":
    sys.exit(main())
