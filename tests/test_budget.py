"""What a file may cost: no limit for recursion is met, time grows with the file, and limits that are met are named."""

from __future__ import annotations

import math
import threading
from collections.abc import Callable
from pathlib import Path
from types import FrameType

import pytest
from conftest import Torchlint

from torchlint.diagnostic import Applicability
from torchlint.file.check import check_text
from torchlint.file.dispatch.dispatch import NOT_ALL_CLASSES, NOT_ALL_INTERPRETED
from torchlint.model.lineage import LONGEST
from torchlint.project.discovery import File
from torchlint.project.project import Project
from torchlint.project.selection import SettingsError, known_names
from torchlint.project.settings import parse
from torchlint.session.scheduler import Run, RunOptions
from torchlint.system.limits import parse_size, size_of
from torchlint.system.stack import deeper, with_big_stack

CODES = frozenset(known_names())
HEAD = "import torch\nfrom torch import nn\n\n\n"
FOUND = "\n\ndef found(w: torch.Tensor):\n    return w.data\n"
"""One finding, whatever stands before."""
USE = "import torch\nprint(torch.ones(3, requires_grad=True).data)\n"
LARGE = "# much\n" * 200 + USE


# ---------------------------------------------------------------------- shapes of programs


def hierarchy(n: int) -> str:
    """Each class inherits from the one before."""
    classes = [
        f"""class C{i}({f"C{i - 1}" if i else "nn.Module"}):
    def __init__(self):
        super().__init__()
        self.a{i} = nn.Linear(3, 3)
        self.w = torch.zeros(3)

    def forward(self, x):
        self.h = super().forward(x) + self.w
        return self.step(x) + self.a{i}(x)

    def step(self, x):
        z = self.forward(x)
        self.k{i} = z.data
        return z
"""
        for i in range(n)
    ]
    return "\n\n".join([HEAD, *classes, f"m = C{n - 1}()\nm(torch.zeros(3)).data\n"])


def wide(n: int) -> str:
    """All classes inherit from one."""
    base = "class B(nn.Module):\n    def run(self, x):\n        self.h = x.data\n        return self.step(x)\n"
    one = "class C{i}(B):\n    def step(self, x):\n        y = super().step(x)\n        return self.run(y.data)\n"
    return "\n\n".join([HEAD, base, *(one.format(i=i) for i in range(n))])


def diamonds(n: int) -> str:
    """Each diamond of classes stands on the one before."""
    one = """class L{i}(D{i}):
    def f(self, x):
        return super().f(x.data)


class R{i}(D{i}):
    def f(self, x):
        self.r = super().f(x)
        return self.r.data


class D{j}(L{i}, R{i}):
    pass
"""
    base = "class D0(nn.Module):\n    def f(self, x: torch.Tensor):\n        return x.data\n"
    return "\n\n".join([HEAD, base, *(one.format(i=i, j=i + 1) for i in range(n))])


def mixins(n: int) -> str:
    """One class inherits from many that call each other."""
    one = "class M{i}:\n    def m{i}(self, x):\n        self.v{i} = self.m{j}(x)\n        return self.v{i}.data\n"
    bases = ", ".join(f"M{i}" for i in range(n))
    last = f"class All({bases}, nn.Module):\n    def forward(self, x):\n        return self.m0(x).data\n"
    return "\n\n".join([HEAD, *(one.format(i=i, j=(i + 1) % n) for i in range(n)), last])


def loops(n: int) -> str:
    """Loops nested six deep; what each round binds the next one reads, one further each time."""
    lines = ["def f(x, xs):", "    x.unsqueeze(0)", *(f"    v{i} = None" for i in range(n)), "    w = x.data"]
    for depth in range(6):
        lines.append(f"{'    ' * (depth + 1)}for i{depth} in xs:")
        part = range(depth * n // 6, (depth + 1) * n // 6)
        lines += [f"{'    ' * (depth + 2)}v{i} = v{(i + 1) % n}" for i in part]
        lines.append(f"{'    ' * (depth + 2)}v{max(part, default=0)} = x")
    return HEAD + "\n".join([*lines, "    return v0.data", ""])


def written(n: int) -> str:
    """A few names that are assigned and read again and again."""
    lines = [f"        v{i % 10} = v{(i + 1) % 10} + v{(i + 3) % 10}.data * x" for i in range(n)]
    start = [f"    v{i} = torch.zeros(3)" for i in range(10)]
    return HEAD + "\n".join(["def f(x, xs):", *start, "    for y in xs:", *lines, "    return v0", ""])


def ring(n: int) -> str:
    """Functions that call each other in a ring."""
    one = "def f{i}(x):\n    y = f{j}(x)\n    return y\n"
    return "\n\n".join([HEAD, *(one.format(i=i, j=(i + 1) % n) for i in range(n))])


def chain(n: int) -> str:
    """Functions each of which calls the next."""
    one = "def f{i}(x):\n    return f{j}(x)\n"
    last = f"def f{n}(x: torch.Tensor):\n    return x\n\n\nx = f0(torch.zeros(3)).data\n"
    return "\n\n".join([HEAD, *(one.format(i=i, j=i + 1) for i in range(n)), last])


def methods(n: int) -> str:
    """Methods of a class that call each other in a ring, and assign what comes back."""
    one = "    def f{i}(self, x):\n        self.a{i} = self.f{j}(x) + self.a{j}\n        return self.a{i}.data\n"
    return HEAD + "\n".join(["class A(nn.Module):", *(one.format(i=i, j=(i + 1) % n) for i in range(n))])


def aliases(n: int) -> str:
    """One tensor with many names."""
    return HEAD + "a0 = torch.zeros(3)\n" + "".join(f"a{i + 1} = a{i}\n" for i in range(n)) + f"a{n}.data.add_(1)\n"


def again(n: int) -> str:
    """``x = g(x)``."""
    body = "    x = g(x)\n" * n
    return f"{HEAD}def g(x):\n    return x + 1\n\n\ndef f(x: torch.Tensor):\n{body}    return x.data\n"


def branches(n: int) -> str:
    """Names that are bound in one of many branches each."""
    tests = "".join(f"    elif k == {i}:\n        v{i} = x.data\n" for i in range(n))
    return f"{HEAD}def f(x: torch.Tensor, k):\n    if k is None:\n        x = x + 1\n{tests}    return x.data\n"


def lambdas(n: int) -> str:
    """Lambdas each of which calls the one before twice."""
    one = "f{j} = lambda x: f{i}(x) + f{i}(x)\n"
    return HEAD + "f0 = lambda x: x\n" + "".join(one.format(i=i, j=i + 1) for i in range(n)) + f"y = f{n}(1).data\n"


def attributes(n: int) -> str:
    """``t.a.a.a``."""
    return f"{HEAD}def f(t):\n    return t{'.a' * n}.data\n"


def nested(n: int) -> str:
    """Functions in functions."""
    lines = [f"{' ' * i}def f{i}(x{i}: torch.Tensor):\n{' ' * (i + 1)}y{i} = x{i}.data\n" for i in range(n)]
    return HEAD + "".join(lines) + " " * n + "return x0.data\n"


def classes(n: int) -> str:
    """Classes in classes."""
    lines = [f"{' ' * i}class A{i}:\n{' ' * (i + 1)}w: torch.Tensor\n" for i in range(n)]
    return HEAD + "".join(lines)


def conditions(n: int) -> str:
    """``if`` in ``if``."""
    lines = [f"{' ' * (i + 1)}if x > {i}:\n{' ' * (i + 2)}x = x.data\n" for i in range(n)]
    return f"{HEAD}def f(x: torch.Tensor):\n" + "".join(lines) + "    return x.data\n"


def attempts(n: int) -> str:
    """``try`` in ``try``."""
    begin = [f"{' ' * (i + 1)}try:\n{' ' * (i + 2)}x = x.data\n" for i in range(n)]
    end = [f"{' ' * (i + 1)}finally:\n{' ' * (i + 2)}x = x.data\n" for i in reversed(range(n))]
    return f"{HEAD}def f(x: torch.Tensor):\n" + "".join(begin + end) + " return x.data\n"


def decorators(n: int) -> str:
    """Each function decorates the next."""
    one = "@d{i}\ndef d{j}(f):\n    return f\n"
    return "\n\n".join([HEAD, "def d0(f):\n    return f\n", *(one.format(i=i, j=i + 1) for i in range(n))])


def stacked(n: int) -> str:
    """Many decorators on one function."""
    return f"{HEAD}def d(f):\n    return f\n\n\n" + "@d\n" * n + "def g(x: torch.Tensor):\n    return x.data\n"


# ---------------------------------------------------------------------- nothing is lost


DEEP = {
    "ring": ring(1_600),
    "chain": chain(3_000),
    "methods": methods(300),
    "aliases": aliases(3_000),
    "again": again(1_000),
    "branches": branches(1_500),
    "lambdas": lambdas(11),
    "attributes": attributes(950),
    "nested": nested(95),
    "classes": classes(95),
    "conditions": conditions(95),
    "attempts": attempts(19),
    "decorators": decorators(1_000),
    "stacked": stacked(2_000),
    "hierarchy": hierarchy(120),
    "diamonds": diamonds(20),
    "mixins": mixins(60),
}


@pytest.mark.parametrize("shape", DEEP)
def test_no_limit_for_recursion_is_met(shape: str) -> None:
    outcome = with_big_stack(lambda: check_text(DEEP[shape] + FOUND, "x.py", CODES))
    assert outcome.problems == ()
    rows = {found.start.row for found in outcome.diagnostics if found.code == "TL101"}
    assert (DEEP[shape] + FOUND).count("\n") in rows


def test_a_small_stack_will_do() -> None:
    """Python's own limit, 1,000 frames, is enough for a chain of functions that is as long."""
    outcome = check_text(chain(1_000), "x.py", CODES)
    assert outcome.problems == ()
    assert [found.code for found in outcome.diagnostics] == ["TL101"]


def test_a_question_goes_on_in_another_thread() -> None:
    threads = set()

    def asked(left: int) -> int:
        threads.add(threading.current_thread())
        return 1 + deeper(lambda: asked(left - 1)) if left else 0

    assert asked(2_000) == 2_000
    assert len(threads) > 1


def test_what_a_question_raises_comes_back_from_there() -> None:
    def asked(left: int) -> int:
        return 1 + deeper(lambda: asked(left - 1)) if left else int("none")

    with pytest.raises(ValueError, match="none"):
        asked(2_000)


# ---------------------------------------------------------------------- growth


def calls(text: str) -> int:
    """How many functions are called to check a text."""
    count = 0

    def called(frame: FrameType, event: str, argument: object) -> None:
        nonlocal count
        count += event == "call"

    threading.setprofile(called)
    try:
        with_big_stack(lambda: check_text(text, "x.py", CODES))
    finally:
        threading.setprofile(None)
    return count


GROWING: list[tuple[Callable[[int], str], int]] = [
    (hierarchy, 50),
    (wide, 50),
    (loops, 300),
    (written, 200),
    (ring, 100),
    (chain, 100),
    (methods, 50),
    (aliases, 300),
    (again, 300),
    (branches, 150),
    (decorators, 100),
    (stacked, 200),
]


@pytest.mark.parametrize(("shape", "n"), GROWING, ids=lambda value: getattr(value, "__name__", str(value)))
def test_work_grows_with_the_file(shape: Callable[[int], str], n: int) -> None:
    check_text(shape(2), "x.py", CODES)  # what is loaded once
    nothing = calls(shape(2))
    once, twice = (calls(shape(size)) - nothing for size in (n, 2 * n))
    assert math.log2(twice / once) < 1.2, f"{once:,} calls for {n}, {twice:,} for {2 * n}"


def test_inner_loops_go_round_a_bounded_number_of_times() -> None:
    """Loops in loops cost in proportion to their depth, not 3 to the power of it."""

    def nest(depth: int) -> str:
        lines = [f"{'  ' * (i + 1)}for i{i} in xs:\n{'  ' * (i + 2)}a, b, c, d = b, c, d, x" for i in range(depth)]
        return f"{HEAD}def f(x: torch.Tensor, xs, a, b, c, d):\n" + "\n".join(lines) + "\n  return a.data\n"

    nothing = calls(nest(1))
    six, twelve = (calls(nest(depth)) - nothing for depth in (6, 12))
    assert twelve < 4 * six


# ---------------------------------------------------------------------- the budget


def test_what_is_left_out_is_said_once_and_what_was_found_stays() -> None:
    text = f"{HEAD}def first(w: torch.Tensor):\n    return w.data\n\n\n" + chain(200)
    outcome = check_text(text, "x.py", CODES, budget=100)
    assert [problem.message for problem in outcome.problems] == [NOT_ALL_INTERPRETED]
    assert [found.code for found in outcome.diagnostics] == ["TL101"]
    assert check_text(text, "x.py", CODES).problems == ()
    assert check_text(text, "x.py", CODES, budget=0).problems == ()


def test_nothing_is_safe_where_something_is_not_known() -> None:
    for rest, budget in (("", 0), (chain(200), 100)):
        found = check_text(USE + rest, "x.py", CODES, budget=budget).diagnostics[0]
        assert found.fix is not None
        assert found.fix.applicability is (Applicability.UNSAFE if budget else Applicability.SAFE)


@pytest.mark.parametrize(("count", "told"), [(LONGEST - 1, []), (LONGEST + 10, [NOT_ALL_CLASSES])])
def test_classes_that_are_not_looked_at_are_told_of_once(count: int, told: list[str]) -> None:
    classes = (f"class A{n}(A{n - 1}):\n    def m(self):\n        return self.w.data\n" for n in range(1, count))
    first = "class A0(nn.Module):\n    def __init__(self):\n        super().__init__()\n"
    first += "        self.w = nn.Parameter(torch.ones(3))\n"
    outcome = with_big_stack(
        lambda: check_text(f"{HEAD}from torch import nn\n{first}{''.join(classes)}", "x.py", CODES)
    )
    assert [problem.message for problem in outcome.problems] == told
    assert len(outcome.diagnostics) == min(count, LONGEST) - 1
    assert all(
        (each.fix is None or each.fix.applicability is Applicability.UNSAFE) for each in outcome.diagnostics if told
    )


def test_lambdas_that_double_come_to_an_end() -> None:
    outcome = with_big_stack(lambda: check_text(lambdas(60), "x.py", CODES, budget=20_000))
    assert [problem.message for problem in outcome.problems] == [NOT_ALL_INTERPRETED]


def test_processes_do_not_matter_where_a_budget_is_met(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text('[tool.torchlint]\nselect = ["ALL"]\nmodel-budget = 200\n')
    for number in range(8):
        text = f"from x{(number + 1) % 8} import f0 as g\n{chain(300)}\ny = g(torch.zeros(3)).data\n"
        (tmp_path / f"x{number}.py").write_text(text + "# it is long\n" * 3_000)
    files = [File(f"x{n}.py", str(tmp_path / f"x{n}.py")) for n in range(8)]
    one, two, other = (
        Run(Project(), RunOptions(jobs=jobs)).files(order) for jobs, order in ((1, files), (2, files), (1, files[::-1]))
    )
    assert one == two == other[::-1]
    assert all([problem.message for problem in result.problems] == [NOT_ALL_INTERPRETED] for result in one)


# ---------------------------------------------------------------------- the size of a file


def test_a_file_that_is_too_large_is_named(torchlint: Torchlint, tmp_path: Path) -> None:
    (tmp_path / "large.py").write_text(LARGE)
    (tmp_path / "small.py").write_text(USE)
    ran = torchlint("check", "--output-format", "concise", "--max-file-size", "1K")
    assert ran.code == 3
    assert "small.py:2:" in ran.out
    assert "large.py" not in ran.out
    assert "large.py: not checked" in ran.err
    assert "`max-file-size` allows (1K)" in ran.err
    for enough in ("2k", "0", "5M"):
        assert torchlint("check", "--max-file-size", enough).code == 1


def test_settings_say_how_large_a_file_may_be(torchlint: Torchlint, tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text('[tool.torchlint]\nmax-file-size = "1K"\n')
    (tmp_path / "large.py").write_text(LARGE)
    assert torchlint("check").code == 3
    assert torchlint("check", "--max-file-size", "2K").code == 1
    assert torchlint("check", "--isolated").code == 1


def test_standard_input_is_a_file(torchlint: Torchlint) -> None:
    ran = torchlint("check", "--max-file-size", "1K", "-", stdin=LARGE.encode())
    assert ran.code == 3
    assert "max-file-size" in ran.err


def test_another_limit_is_another_answer(torchlint: Torchlint, tmp_path: Path) -> None:
    """What the cache knows was found under limits."""
    (tmp_path / "x.py").write_text(chain(100) + FOUND)
    (tmp_path / "pyproject.toml").write_text("[tool.torchlint]\n")
    assert torchlint("check").code == 1
    (tmp_path / "pyproject.toml").write_text("[tool.torchlint]\nmodel-budget = 50\n")
    assert torchlint("check").code == 3
    (tmp_path / "pyproject.toml").write_text("[tool.torchlint]\n")
    assert torchlint("check").code == 1
    assert torchlint("check", "--max-file-size", "1K").code == 3


@pytest.mark.parametrize("given", ["large", "-1", "5G", "", "٥M"])
def test_a_size_that_makes_no_sense(torchlint: Torchlint, given: str) -> None:
    ran = torchlint("check", "--max-file-size", given)
    assert ran.code == 2
    assert "--max-file-size must be a number of bytes" in ran.err


@pytest.mark.parametrize(
    ("text", "size"),
    [
        ("300", 300),
        ("2K", 2048),
        ("5m", 5 << 20),
        (" 1M ", 1 << 20),
        ("0", 0),
        ("-1", None),
        ("5G", None),
        ("", None),
        ("٥M", None),
    ],
)
def test_sizes(text: str, size: int | None) -> None:
    assert parse_size(text) == size
    assert size is None or parse_size(size_of(size)) == size


@pytest.mark.parametrize(
    "table",
    [
        *({"max-file-size": value} for value in ("large", True, -1)),
        *({"model-budget": value} for value in ("5", -1, False)),
    ],
)
def test_limits_that_make_no_sense(table: dict[str, object]) -> None:
    with pytest.raises(SettingsError, match=next(iter(table))):
        parse(table, "pyproject.toml")
