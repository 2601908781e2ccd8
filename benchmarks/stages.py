"""Where the processor time goes: seconds by stage for a folder, and seconds per MB.

    python benchmarks/stages.py FOLDER [--fix] [--out FILE.json]

One whole ``torchlint check --no-cache -j1`` in this process, with clocks around the functions where a stage begins; a
stage's time is without that of the stages inside it. With ``--fix`` the fixes are made, too (and not written). Before
that it runs without clocks: the difference is what the clocks cost, most of it where the model is asked small things.
Imports and start-up are left out.
"""

from __future__ import annotations

import argparse
import contextlib
import functools
import importlib
import inspect
import json
import os
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from results import ROOT, commit, described, machine, today

sys.path.insert(0, str(ROOT))


@dataclass(frozen=True, slots=True)
class Stage:
    """A part of the work."""

    name: str
    begins: tuple[str, ...]
    """``module:function``, ``module:Class.method``, or ``module:Class`` for all its methods."""
    part_of: frozenset[str] = frozenset()
    """Stages that keep the time of this one, when it begins in them."""


OTHER_FILES, PARSE = "other files", "parse"

STAGES = (
    Stage(
        "read",
        ("torchlint.project.discovery:discover", "torchlint.session.worker:open_", "torchlint.file.text.source:decode"),
    ),
    Stage(
        "gate",
        (
            "torchlint.session.worker:_is_gated",
            "torchlint.file.triggers.gate:can_match",
            "torchlint.file.triggers.gate:possible_rules",
        ),
    ),
    Stage(
        PARSE,
        (
            "torchlint.file.parse.parser:parse",
            "torchlint.file.tree.tree:Tree.__init__",
        ),
        frozenset({OTHER_FILES}),
    ),
    Stage(
        "quick tree",
        ("torchlint.file.tree.fast.quick:QuickTree", "torchlint.file.tree.python_tree:python_tree"),
        frozenset({OTHER_FILES}),
    ),
    Stage("model", ("torchlint.model:Model",)),
    Stage(OTHER_FILES, ("torchlint.model.codebase.modules:Codebase",)),
    Stage("rules", ("torchlint.file.dispatch.dispatch:dispatch",)),
    Stage("places and edits", ("torchlint.file.locate.findings:locate",)),
    Stage(
        "making fixes",
        ("torchlint.file.fix.rounds:fixed", "torchlint.file.fix.verify:Guard", "torchlint.file.text.edits:splice"),
    ),
    Stage("suppressions", ("torchlint.file.suppress.suppress:suppressed",)),
    Stage("report", ("torchlint.cli.check:CheckCommand._report",)),
)

REST = "the rest"

PARSER = "torchlint.file.tree.libcst_private:parse_module"
"""What is given the text that libcst parses."""


class Clocks:
    """Time by stage. The innermost stage that has begun gets it."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = dict.fromkeys((*(stage.name for stage in STAGES), REST), 0.0)
        self.parsed = 0
        """Characters that libcst parsed, other files apart."""
        self.missing: list[str] = []
        """Names of functions that there are not."""
        self._open: list[str] = [REST]
        self._since = time.process_time()

    def begin(self, stage: str) -> None:
        self._turn()
        self._open.append(stage)

    def end(self) -> None:
        self._turn()
        self._open.pop()

    def _turn(self) -> None:
        now = time.process_time()
        self.seconds[self._open[-1]] += now - self._since
        self._since = now

    def wrapped(self, function: Callable[..., Any], stage: Stage) -> Callable[..., Any]:
        """The function, with its time given to a stage."""
        stays = stage.part_of | {stage.name}
        opened = self._open

        @functools.wraps(function)
        def timed(*args: Any, **kwargs: Any) -> Any:
            if opened[-1] in stays:
                return function(*args, **kwargs)
            self.begin(stage.name)
            try:
                return function(*args, **kwargs)
            finally:
                self.end()

        if not inspect.isgeneratorfunction(function):
            return timed
        step = self.wrapped(next, stage)

        @functools.wraps(function)
        def timed_generator(*args: Any, **kwargs: Any) -> Iterator[Any]:
            generator = function(*args, **kwargs)
            while (item := step(generator, END)) is not END:
                yield item

        return timed_generator

    @contextlib.contextmanager
    def installed(self) -> Iterator[None]:
        """Around all that the stages begin with, wherever it has been imported to."""
        undo: list[tuple[Any, str, Any]] = []
        try:
            for stage in STAGES:
                for name in stage.begins:
                    for owner, attribute, function in self._found(name):
                        _replace(owner, attribute, function, self.wrapped(function, stage), undo)
            for owner, attribute, function in self._found(PARSER):
                _replace(owner, attribute, function, self._counting(function), undo)
            self._since = time.process_time()
            yield
            self._turn()
        finally:
            for owner, attribute, function in reversed(undo):
                setattr(owner, attribute, function)

    def _found(self, name: str) -> list[tuple[Any, str, Callable[..., Any]]]:
        found = functions(name)
        if not found:
            self.missing.append(name)
        return found

    def _counting(self, parse: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(parse)
        def counting(text: str, *args: Any, **kwargs: Any) -> Any:
            if self._open[-1] != OTHER_FILES:
                self.parsed += len(text)
            return parse(text, *args, **kwargs)

        return counting


END = object()


def functions(name: str) -> list[tuple[Any, str, Callable[..., Any]]]:
    """What a name of :class:`Stage` stands for: owner, attribute and function; nothing if it is not there."""
    module, _, path = name.partition(":")
    try:
        owner: Any = importlib.import_module(module)
    except ImportError:
        return []
    *classes, last = path.split(".")
    for each in classes:
        owner = getattr(owner, each, None)
    found = vars(owner).get(last) if owner is not None else None
    if inspect.isclass(found):
        return [(found, key, value) for key, value in vars(found).items() if inspect.isfunction(value)]
    return [(owner, last, found)] if inspect.isfunction(found) else []


def _replace(owner: Any, attribute: str, old: Any, new: Any, undo: list[tuple[Any, str, Any]]) -> None:
    """Put one function in the place of another, also where a module of torchlint has imported it."""
    places = [(owner, attribute)]
    if inspect.ismodule(owner):
        modules = [module for name, module in sys.modules.items() if name.partition(".")[0] == "torchlint"]
        places += [(each, key) for each in modules for key, value in vars(each).items() if value is old]
    for place, key in dict.fromkeys(places):
        undo.append((place, key, old))
        setattr(place, key, new)


def check(paths: Sequence[Path], fix: bool = False) -> None:
    """One run of the command, in this process; its output goes nowhere."""
    from torchlint.cli.commands import cli

    command = ["check", "--isolated", "--no-cache", "-j1", "--quiet"]
    if fix:
        command += ["--diff", "--unsafe-fixes"]
    with contextlib.ExitStack() as stack:
        nowhere = stack.enter_context(open(os.devnull, "w", encoding="utf-8"))
        stack.enter_context(contextlib.redirect_stdout(nowhere))
        stack.enter_context(contextlib.redirect_stderr(nowhere))
        cli.main([*command, *map(str, paths)], standalone_mode=False)


@dataclass(frozen=True, slots=True)
class Profile:
    """What a run cost."""

    seconds: dict[str, float]
    plain: float
    """Seconds without the clocks."""
    files: int
    megabytes: float
    parsed: float
    """Megabytes of the files themselves that libcst parsed."""
    missing: list[str]

    @property
    def title(self) -> str:
        told = f"{self.files} files, {self.megabytes:.2f} MB, of which libcst parsed {self.parsed:.2f} MB; "
        told += f"{sum(self.seconds.values()):.1f} s with the clocks, {self.plain:.1f} s without"
        return f"{told}; not measured, for want of a name: {', '.join(self.missing)}" if self.missing else told

    def table(self) -> list[list[str]]:
        """A row for each stage."""
        total = sum(self.seconds.values())
        rows = [["stage", "processor s", "share", "s per MB", "s per MB by libcst"]]
        for name, seconds in [*self.seconds.items(), ("all", total)]:
            rates = [f"{seconds / size:.3f}" if size else "–" for size in (self.megabytes, self.parsed)]
            rows.append([name, f"{seconds:.2f}", f"{seconds / total:.0%}" if total else "–", *rates])
        return rows


def profile(folder: Path, fix: bool = False) -> Profile:
    """Measure a folder."""
    files = list(folder.rglob("*.py"))
    size = sum(len(path.read_bytes()) for path in files)
    with tempfile.TemporaryDirectory() as scratch:  # what is imported or read once is so now
        warming = Path(scratch, "warming.py")
        warming.write_text("import torch\nx = torch.ones(3).data\ny = torch.qr(x)\n")
        check([warming], fix=fix)
    start = time.process_time()
    check([folder], fix=fix)
    plain = time.process_time() - start
    clocks = Clocks()
    with clocks.installed():
        check([folder], fix=fix)
    return Profile(clocks.seconds, plain, len(files), size / 1e6, clocks.parsed / 1e6, clocks.missing)


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the profile, and keep it if that is wanted."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else None)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--fix", action="store_true", help="make the fixes, too")
    parser.add_argument("--name", help="what the folder holds, for the documentation")
    parser.add_argument("--out", type=Path, help="a JSON file to keep the figures in")
    options = parser.parse_args(arguments)
    found = profile(options.folder, options.fix)
    from report import aligned

    print(found.title)
    print("\n".join(aligned(found.table())))
    if options.out:
        name = f"{options.name}: " if options.name else ""
        title = f"{name}{found.title}; {described(machine(), commit(), today())}"
        kept = {"title": title, "table": found.table(), "missing": found.missing}
        options.out.parent.mkdir(parents=True, exist_ok=True)
        options.out.write_text(json.dumps(kept, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
