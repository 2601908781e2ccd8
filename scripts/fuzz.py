"""Gives torchlint broken, odd and hostile input, and says what it did not take well. Prints a Markdown table.

python scripts/fuzz.py FOLDER... --seconds 3600 [--seed 0] [--keep FOLDER]

Python files below the folders are mutated: lines and expressions moved between files, tokens changed, bytes flipped,
encodings, newlines and byte order marks mixed, brackets nested, suppressions thrown in. Around them stand settings,
ignore files and requirements with keys and values drawn at random. Each batch is linted, then fixed with safe and with
all fixes, in a process of its own with limits. What must hold:

- the process ends in time, by itself, with one of its exit codes, and no traceback is printed;
- no rule raises, and nothing is said to be a mistake of the program;
- what compiled before a fix compiles after it, and a second run changes nothing;
- no file but those that were fixed is changed, and none is gone.

A batch that breaks one of these is split until the files that do it are left; with ``--keep`` they are kept.
"""

from __future__ import annotations

import argparse
import ast
import random
import re
import shutil
import subprocess
import sys
import tempfile
import time
import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

BATCH = 24
"""Files in one run."""

LIMIT = 10.0
"""Seconds for a file, as long as it is alone."""

LARGEST = 60_000
"""Bytes of a file that is mutated: larger ones make slow rounds, not other ones."""

MEMORY = 4 << 30
"""Bytes of address space for a process, of which half a gigabyte is a stack that is hardly touched."""

FINE = (0, 1, 2, 3)
"""Exit codes that mean something."""

SUSPICIOUS = re.compile(r"Traceback|\braised\b|could not be checked|mistake|process checking it died|internal error")
"""What a run says when it is itself at fault."""

WORDS = (
    *("data", "detach()", "numpy()", "cpu()", "Variable", "volatile=True", "requires_grad", "torch", "grad", "item()"),
    *(
        "lambda x: x",
        "yield",
        "await f()",
        "*args",
        "**kwargs",
        "x := 1",
        "async",
        "match",
        "case",
        "type",
        "print",
        "0",
    ),
    *("# torchlint: ignore", "# torchlint: ignore[TL101]", "# noqa", "# type: ignore", "\\", ";", ":", ",", ".", "=="),
    *(
        "(",
        ")",
        "[",
        "]",
        "{",
        "}",
        '"""',
        "'",
        'f"{x.data!r:>{w}}"',
        "\t",
        "\x0c",
        "\r",
        "\n",
        "\0",
        "\ufeff",
        "é",
        "𝒙",
    ),
    *(
        "with torch.no_grad():",
        "global x",
        "nonlocal x",
        "del x",
        "import torch as F",
        "from torch import *",
        "@f",
        "->",
    ),
)

KEYS = (
    *("select", "extend-select", "ignore", "exclude", "extend-exclude", "per-file-ignores", "target-torch", "fixable"),
    *("unfixable", "extend-fixable", "extend-safe-fixes", "extend-unsafe-fixes", "fix", "unsafe-fixes", "fix-only"),
    *("show-fixes", "cache-dir", "max-file-size", "selct", '"\\u001b[31m"', "a.b.c"),
)
VALUES = (
    *('["ALL"]', '["TL1"]', '"TL1"', "[]", "true", "1", "1.5", '""', '"../.."', '"/"', '"~"', '["*a*a*a*a*a*a*a*b"]'),
    *('["[z-a]"]', '["!"]', '["**/**/**/x"]', '"2.6"', '">=1.13,<2"', "{}", '{"x.py" = ["TL101"]}', "[[[[[]]]]]"),
    *('"\\u202e"', "1979-05-27", "'''\n'''", '["./x.py", "a\\\\b"]', "0x7fffffffffffffffffff", "nan", "["),
)

Mutation = Callable[[random.Random, str, Sequence[str]], str]


def moved_line(draw: random.Random, text: str, others: Sequence[str]) -> str:
    """A line, or some, of another file, in the place of some of this one."""
    lines, source = text.splitlines(keepends=True), draw.choice(others).splitlines(keepends=True)
    if not lines or not source:
        return text
    start, at = draw.randrange(len(source)), draw.randrange(len(lines))
    lines[at : at + draw.randrange(3)] = source[start : start + draw.choice((1, 1, 2, 5, 20))]
    return "".join(lines)


def changed_token(draw: random.Random, text: str, others: Sequence[str]) -> str:
    """A token taken out, doubled, exchanged for another one, or for one that torchlint cares about."""
    tokens = re.findall(r"\w+|\s+|[^\w\s]", text)
    if not tokens:
        return text
    at = draw.randrange(len(tokens))
    other = draw.choice((draw.choice(WORDS), draw.choice(tokens), "", tokens[at] * 2))
    return "".join((*tokens[:at], other, *tokens[at + 1 :]))


def exchanged_expression(draw: random.Random, text: str, others: Sequence[str]) -> str:
    """An expression exchanged for one of another file: mostly still Python."""
    here, there = list(_expressions(text)), list(_expressions(draw.choice(others)))
    if not here or not there:
        return text
    lines = text.splitlines(keepends=True)
    for node in draw.sample(here, min(len(here), draw.choice((1, 1, 3)))):
        code = ast.unparse(draw.choice(there))
        row = node.lineno - 1
        if node.end_lineno == node.lineno and row < len(lines):
            line = lines[row].encode(errors="surrogatepass")
            line = line[: node.col_offset] + f"({code})".encode(errors="surrogatepass") + line[node.end_col_offset :]
            lines[row] = line.decode(errors="surrogateescape")
    return "".join(lines)


def _expressions(text: str) -> Iterator[ast.expr]:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return
    yield from (
        n for n in ast.walk(tree) if isinstance(n, ast.expr) and isinstance(getattr(n, "ctx", ast.Load()), ast.Load)
    )


def changed_indent(draw: random.Random, text: str, others: Sequence[str]) -> str:
    """A line further in or out, or all with tabs."""
    if draw.random() < 0.2:
        return text.replace("    ", "\t")
    lines = text.splitlines(keepends=True)
    for _ in range(min(len(lines), 3)):
        at = draw.randrange(len(lines))
        lines[at] = draw.choice(("    " + lines[at], lines[at].lstrip(" "), " " + lines[at]))
    return "".join(lines)


def nested(draw: random.Random, text: str, others: Sequence[str]) -> str:
    """Deep nesting of one kind or another, at the end."""
    depth = draw.choice((10, 99, 199, 201, 900, 3000))
    kinds = (
        f"\nx = {'(' * depth}t.data{')' * depth}\n",
        f"\nx = {'f(' * depth}t.data{')' * depth}\n",
        f"\nx = t{'.data' * depth}\n",
        f"\nx = t{'.add(1)' * depth}.data\n",
        f"\nx = {' + '.join(['t.data'] * depth)}\n",
        f"\nx = {'not ' * depth}t.data\n",
        f"\nx = {'-' * depth}t.data\n",
        f"\nx = {'lambda: ' * min(depth, 900)}t.data\n",
        "\n" + "".join(f"{' ' * n}if t.data:\n" for n in range(min(depth, 99))) + " " * 99 + "pass\n",
        "\n" + "".join(f"{' ' * n}def f(t):\n" for n in range(min(depth, 99))) + " " * 99 + "return t.data\n",
        "\nif a: pass\n" + "elif t.data: pass\n" * depth,
        "\n" + "x = x.data\n" * depth,
        "\n" + "".join(f"def f{n}(t): return f{n + 1}(t.data)\n" for n in range(min(depth, 900))),
    )
    return text + draw.choice(kinds)


MUTATIONS: Sequence[Mutation] = (
    *(exchanged_expression, exchanged_expression, exchanged_expression, moved_line, moved_line),
    *(changed_token, changed_token, changed_indent, nested),
)


def as_bytes(draw: random.Random, text: str) -> bytes:
    """The bytes of a file, mostly as they should be."""
    kind = draw.randrange(24)
    if kind == 0:
        text = text.replace("\n", "\r\n")
    elif kind == 1:
        text = text.replace("\n", "\r")
    elif kind == 2:
        text = re.sub(r"\n", lambda _: draw.choice(("\n", "\r\n", "\r", "\n\x0c")), text)
    elif kind == 3:
        text = text.rstrip("\n") + draw.choice(("", " ", "\t", "\\", "  # c", "\x1a"))
    data = text.encode(errors="surrogateescape" if kind != 4 else "replace")
    if kind == 5:
        cookie = draw.choice(("latin-1", "utf-8", "utf-16", "cp1252", "shift_jis", "rot13", "klingon", "utf-7", "idna"))
        data = f"# coding: {cookie}\n".encode() + data
    elif kind == 6:
        data = b"\xef\xbb\xbf" + data
    elif kind == 7:
        data = text.encode("utf-16", errors="replace")
    elif kind == 8 and data:
        flipped = bytearray(data)
        for _ in range(draw.randrange(1, 6)):
            flipped[draw.randrange(len(flipped))] = draw.randrange(256)
        data = bytes(flipped)
    elif kind == 9:
        data = data[: draw.randrange(len(data) + 1)]
    return data


def settings(draw: random.Random) -> str:
    """The settings of a batch."""
    lines = [f"{draw.choice(KEYS)} = {draw.choice(VALUES)}" for _ in range(draw.choice((0, 0, 1, 1, 2, 4)))]
    return "\n".join(["[tool.torchlint]", *lines, ""])


@dataclass
class Account:
    """What was seen."""

    counts: Counter[str] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)
    slowest: list[tuple[float, str]] = field(default_factory=list)


@dataclass(frozen=True)
class Batch:
    """Files that are given to one run, settings among them."""

    files: dict[str, bytes]

    @property
    def sources(self) -> list[str]:
        return [name for name in self.files if name.endswith(".py")]

    def without(self, names: Sequence[str]) -> Batch:
        return Batch({name: data for name, data in self.files.items() if name not in names})

    def lay_out(self, folder: Path) -> None:
        for name, data in self.files.items():
            (folder / name).write_bytes(data)


def drawn(draw: random.Random, originals: Sequence[str]) -> Batch:
    """A batch at random."""
    files = {"pyproject.toml": settings(draw).encode()}
    if draw.random() < 0.2:
        lines = (draw.choice(("*.log", "*a*a*a*a*b", "**/x/**", "[", "!x", "\\", "f1.py", "\x1b[0m")) for _ in range(4))
        files[".gitignore"] = "\n".join(lines).encode()
    if draw.random() < 0.2:
        files["requirements.txt"] = draw.choice((b"torch>=1.0\n", b"torch==\xff\n", b"torch<1,>3\n", b"torch\0"))
    for number in range(BATCH):
        text = draw.choice(originals)
        for _ in range(draw.choice((1, 1, 2, 3, 8))):
            text = draw.choice(MUTATIONS)(draw, text, originals)
        files[f"f{number}.py"] = as_bytes(draw, text)
    return Batch(files)


def compiles(data: bytes) -> bool:
    """Whether Python takes it."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            compile(data, "<file>", "exec", dont_inherit=True)
        except (SyntaxError, ValueError, RecursionError, MemoryError, OverflowError):
            return False
    return True


def limited() -> None:
    """Limits for the process that is about to be a run."""
    import resource

    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))


def run(folder: Path, arguments: Sequence[str], limit: float) -> tuple[str, int, str]:
    """Run torchlint in a folder: what is wrong with how it ended, its exit code, what it printed."""
    command = [sys.executable, "-m", "torchlint", "check", "--no-cache", "-j1", *arguments, "."]
    try:
        ran = subprocess.run(
            command,
            cwd=folder,
            env={"PYTHONPATH": str(ROOT), "PATH": "", "HOME": str(folder)},
            capture_output=True,
            timeout=limit,
            preexec_fn=limited if sys.platform == "linux" else None,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return f"more than {limit:.0f} s", -1, ""
    text = (ran.stdout[:0] + ran.stderr).decode(errors="replace")
    if ran.returncode not in FINE:
        return f"exit code {ran.returncode}: {text[-300:]}", ran.returncode, text
    if match := SUSPICIOUS.search(text):
        return f"says {text[max(0, match.start() - 80) : match.end() + 200]!r}", ran.returncode, text
    return "", ran.returncode, text


def objection(batch: Batch, extra: Sequence[str]) -> str:
    """What is wrong with what becomes of a batch; nothing if all is well."""
    limit = LIMIT + 2.0 * len(batch.sources)
    with tempfile.TemporaryDirectory() as directory:
        folder = Path(directory)
        batch.lay_out(folder)
        wrong, code, _ = run(folder, ("--no-fix", "--no-fix-only", "--output-format", "full"), limit)
        if wrong or code == 2:
            return f"check: {wrong}" if wrong else ""
        if changed := _changed(batch, folder):
            return f"check changed {changed}"
        wrong, _, _ = run(folder, ("--fix", *extra), limit)
        if wrong:
            return f"fix {' '.join(extra)}: {wrong}"
        after = {name: (folder / name).read_bytes() for name in batch.files if (folder / name).exists()}
        if gone := [name for name in batch.files if name not in after]:
            return f"gone: {gone}"
        for name in batch.sources:
            if after[name] != batch.files[name] and compiles(batch.files[name]) and not compiles(after[name]):
                return f"{name} does not compile after --fix {' '.join(extra)}"
        wrong, _, _ = run(folder, ("--fix", *extra), limit)
        if wrong:
            return f"second fix: {wrong}"
        if changed := _changed(Batch(after), folder):
            return f"changed by a second run of --fix {' '.join(extra)}: {changed}"
    return ""


def _changed(batch: Batch, folder: Path) -> list[str]:
    return [name for name, data in batch.files.items() if (folder / name).read_bytes() != data]


def smallest(batch: Batch, extra: Sequence[str]) -> tuple[Batch, str]:
    """A part of a batch of which the same kind of thing is still wrong, as small as halving makes it."""
    wrong = objection(batch, extra)
    size = len(batch.sources) // 2
    while size:
        for start in range(0, len(batch.sources), size):
            less = batch.without(batch.sources[start : start + size])
            if less.sources and (still := objection(less, extra)):
                batch, wrong = less, still
                break
        else:
            size //= 2
    return batch, wrong


def originals(folders: Sequence[Path]) -> list[str]:
    """The texts that are mutated: those that could have findings, and some others."""
    texts = []
    for number, path in enumerate(sorted(path for folder in folders for path in folder.rglob("*.py"))):
        data = path.read_bytes()
        if len(data) <= LARGEST and (b"torch" in data or number % 20 == 0):
            texts.append(data.decode("utf-8", "surrogateescape"))
    return texts


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--keep", type=Path)
    given = parser.parse_args()
    texts, account, number = originals(given.folders), Account(), 0
    started = time.monotonic()
    while time.monotonic() - started < given.seconds:
        draw = random.Random(f"{given.seed} {number}")
        batch, extra = drawn(draw, texts), draw.choice(((), ("--unsafe-fixes",), ("--unsafe-fixes", "--select", "ALL")))
        account.counts["files"] += len(batch.sources)
        account.counts["files that compile"] += sum(compiles(batch.files[name]) for name in batch.sources)
        if objection(batch, extra):
            part, wrong = smallest(batch, extra)
            account.wrong.append(f"batch {number}: {wrong}")
            print(account.wrong[-1], flush=True)
            if given.keep:
                folder = given.keep / f"{given.seed}-{number}"
                shutil.rmtree(folder, ignore_errors=True)
                folder.mkdir(parents=True)
                part.lay_out(folder)
        number += 1
    account.counts["batches"], account.counts["something wrong"] = number, len(account.wrong)
    print("\n| | |\n|---|---|")
    for name, count in account.counts.items():
        print(f"| {name} | {count:,} |")
    return 1 if account.wrong else 0


if __name__ == "__main__":
    sys.exit(main())
