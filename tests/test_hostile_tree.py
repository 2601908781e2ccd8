"""A tree made to do harm is checked and fixed with little memory and time, and nothing is lost in it or around it."""

from __future__ import annotations

import contextlib
import json
import os
import re
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from forked import python

from torchlint import __version__
from torchlint.session.cachedir import NAME

if not hasattr(os, "mkfifo"):
    pytest.skip("there are no pipes with names", allow_module_level=True)

ROOT = Path(__file__).parents[1]
CODE = "import torch\nprint(torch.ones(3, requires_grad=True).data)\n"
FIXED = CODE.replace(".data", ".detach()")
USE = "import torch\nfrom pkg.{0} import make\n\nw = make()\nprint(w.data)\n"

SECONDS = 60
MEMORY = 2 << 30
"""Bytes of addresses. The stack for deep recursion and libcst take half of them, of which hardly any are used."""
RESIDENT = 300_000
"""Kilobytes in memory."""

LIMITED = """
import resource, sys
resource.setrlimit(resource.RLIMIT_AS, ({memory}, {memory}))
sys.argv = ["torchlint", *{arguments!r}]
{before}
from torchlint.cli import main
code = main.run()
# not `ru_maxrss` of this process, which counts what it had of its parent before it became this program
own = [line.split()[1] for line in open("/proc/self/status") if line.startswith("VmHWM")] if sys.platform == "linux" else [0]
used = max(int(own[0]), resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
print("resident", used, file=sys.stderr)
sys.stdout.flush()
sys.stderr.flush()
main._leave(code)
"""


class Tree:
    """A project that somebody else has made, and what is around it."""

    def __init__(self, place: Path) -> None:
        self.around, self.project, self.state = place, place / "work", place / "state"
        self.write("home/notes.txt", "mine")
        self.write("other/victim.py", CODE)
        self.write("work/.git/HEAD", "ref: refs/heads/main\n")
        self.write("work/good.py", CODE)

    def write(self, name: str, text: str) -> None:
        path = self.around / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")

    def pipe(self, name: str) -> None:
        os.mkfifo(self.project / name)

    def link(self, name: str, target: str) -> None:
        (self.project / name).symlink_to(target)

    def sparse(self, name: str) -> None:
        with open(self.project / name, "wb") as file:
            file.truncate(1 << 40)

    def content(self) -> dict[str, str]:
        """Everything, by what it is; not what this user's programs keep."""
        found: dict[str, str] = {}
        for folder, folders, names in os.walk(self.around):
            folders[:] = [name for name in folders if Path(folder, name) != self.state]
            for name in (*folders, *names):
                path = Path(folder, name)
                status = path.lstat()
                is_text = path.is_file() and not path.is_symlink() and status.st_size < 1 << 20
                target = os.readlink(path) if path.is_symlink() else ""
                text = path.read_text(encoding="utf-8") if is_text else target
                found[path.relative_to(self.around).as_posix()] = f"{status.st_mode:o} {text}"
        return found

    def run(self, *arguments: str, before: str = "", state: str = "state") -> tuple[int, str, str]:
        """Run the program on it with limits; exit code and output."""
        start = LIMITED.format(memory=MEMORY, arguments=arguments, before=before)
        environment = {
            **os.environ,
            "PYTHONPATH": str(ROOT),
            "HOME": str(self.around / "home"),
            "XDG_STATE_HOME": str(self.around / state),
        }
        ran = python(["-c", start], self.project, environment, seconds=SECONDS)
        resident = re.search(r"resident (\d+)\n", ran.stderr)
        assert resident is not None, ran.stderr
        assert sys.platform == "darwin" or int(resident[1]) < RESIDENT
        return ran.returncode, ran.stdout, ran.stderr.replace(resident[0], "")


@pytest.fixture
def tree(tmp_path: Path) -> Tree:
    return Tree(tmp_path)


def special_files(tree: Tree) -> None:
    tree.pipe("pipe.py")
    tree.link("zero.py", "/dev/zero")
    tree.link("terminal.py", "/dev/tty")
    tree.link("to_pipe.py", "pipe.py")
    tree.link("loop.py", "loop.py")
    tree.link("dangling.py", "nothing.py")
    tree.link("around", "..")
    tree.link("elsewhere", "../other")


def imports(tree: Tree) -> None:
    tree.write("work/pkg/__init__.py", "")
    for name in ("pipe", "zero", "huge", "loop", "deep", "folder"):
        tree.write(f"work/pkg/use_{name}.py", USE.format(name))
    tree.pipe("pkg/pipe.py")
    tree.link("pkg/zero.py", "/dev/zero")
    tree.link("pkg/loop.py", "loop.py")
    tree.write("work/pkg/deep.py", f"import torch\n\n\ndef make():\n    return {'[' * 5_000}\n")
    tree.write("work/.gitignore", "/pkg/huge.py\n/pkg/deep.py\n")
    tree.sparse("pkg/huge.py")
    (tree.project / "pkg" / "folder.py").mkdir()


def requirements(tree: Tree) -> None:
    tree.pipe("requirements.txt")
    tree.pipe("requirements-dev.txt")
    tree.link("setup.py", "/dev/zero")
    tree.link("setup.cfg", "setup.cfg")
    tree.sparse("uv.lock")


def deep_folders(tree: Tree) -> None:
    tree.write("work/" + "d/" * 200 + "x.py", CODE)


HARMLESS: dict[str, Callable[[Tree], None]] = {
    "special files": special_files,
    "imports": imports,
    "requirements": requirements,
    "deep folders": deep_folders,
}
"""What is passed over, or costs nothing."""


@pytest.mark.parametrize("make", HARMLESS.values(), ids=HARMLESS)
@pytest.mark.parametrize("jobs", ["-j1", "-j2"])
def test_what_is_passed_over(jobs: str, make: Callable[[Tree], None], tree: Tree) -> None:
    make(tree)
    before = tree.content()
    pool = "from torchlint.session import scheduler as run; run.WORTH_A_POOL = 0"
    first = tree.run("check", jobs, "--output-format", "concise", before=pool)
    assert "good.py:2:41: TL101" in first[1]
    assert (first[0], first[2]) == (1, "")
    assert tree.run("check", jobs, "--output-format", "concise", before=pool) == first
    assert tree.run("check", "--diff", jobs, before=pool)[0] == 1
    assert tree.run("infer", "good.py")[0] == 0
    assert tree.run("clean")[0] == 0
    assert tree.content() == before
    code, _, err = tree.run("check", "--fix", "--no-cache", jobs, before=pool)
    assert (code, err) == (0, "")
    after = tree.content()
    assert after.keys() == before.keys()
    assert after["work/good.py"].endswith(FIXED)
    changed = {name for name in before if before[name] != after[name]}
    assert all(before[name].replace(".data", ".detach()") == after[name] for name in changed)
    assert "other/victim.py" not in changed  # behind a link to a folder


# what is in the tree; what is said of it
REPORTED: dict[str, tuple[Callable[[Tree], None], str]] = {
    "a large file": (
        lambda tree: tree.sparse("huge.py"),
        "error: huge.py: not checked: it has more bytes than `max-file-size` allows (2M)\n",
    ),
    "patterns in a pipe": (
        lambda tree: tree.pipe(".gitignore"),
        "error: .gitignore: not a regular file; what it ignores is not known\n",
    ),
    "patterns in a device": (
        lambda tree: tree.link(".gitignore", "/dev/zero"),
        "error: .gitignore: not a regular file; what it ignores is not known\n",
    ),
    "patterns without end": (
        lambda tree: tree.sparse(".gitignore"),
        "error: .gitignore: larger than 4,000,000 bytes; what it ignores is not known\n",
    ),
}


@pytest.mark.parametrize(("make", "said"), REPORTED.values(), ids=REPORTED)
def test_what_is_reported(make: Callable[[Tree], None], said: str, tree: Tree) -> None:
    make(tree)
    before = tree.content()
    code, out, err = tree.run("check", "--no-cache", "--output-format", "concise")
    assert "good.py:2:41: TL101" in out
    assert (code, err) == (3, said)
    assert tree.content() == before


def settings(text: str) -> Callable[[Tree], None]:
    return lambda tree: tree.write("work/pyproject.toml", f"[tool.torchlint]\n{text}\n")


REFUSED: dict[str, Callable[[Tree], None]] = {
    "settings in a pipe": lambda tree: tree.pipe("pyproject.toml"),
    "settings in a device": lambda tree: tree.link("pyproject.toml", "/dev/zero"),
    "settings without end": lambda tree: tree.sparse("pyproject.toml"),
    "a cache in the project": settings("cache-dir = '.'"),
    "a cache around the project": settings("cache-dir = '..'"),
    "a cache in the home": settings("cache-dir = '~'"),
    "a cache elsewhere": settings("cache-dir = '../other'"),
    "a cache in what git has": settings("cache-dir = '.git/..'"),
}


@pytest.mark.parametrize("make", REFUSED.values(), ids=REFUSED)
@pytest.mark.parametrize("command", ["check", "check --fix", "clean"])
def test_settings_that_are_refused(command: str, make: Callable[[Tree], None], tree: Tree) -> None:
    make(tree)
    before = tree.content()
    code, out, err = tree.run(*command.split())
    assert (code, out) == (2, "")
    assert err.startswith("error: ")
    assert re.search(r"pyproject\.toml(:\d+)?: ", err)
    assert tree.content() == before


@pytest.mark.parametrize("kind", ["work", "a link", "a file", "a pipe"])
def test_what_stands_where_the_cache_is(kind: str, tree: Tree) -> None:
    if kind == "work":
        tree.write(f"work/{NAME}/{__version__}/notes.txt", "x")
    elif kind == "a link":
        tree.link(NAME, "../other")
    elif kind == "a file":
        tree.write(f"work/{NAME}", "x")
    else:
        tree.pipe(NAME)
    before = tree.content()
    code, _, err = tree.run("check")
    assert (code, err.count("warning: the cache is not used: ")) == (1, 1)
    assert tree.run("clean")[0] == 2
    assert tree.content() == before


def test_a_forged_cache(tree: Tree) -> None:
    """It has the right marks, names and times, and a signature, and says that nothing is wrong."""
    from torchlint.session import secret

    os.utime(tree.project / "good.py", (1, 1))
    assert tree.run("check", state="theirs")[0] == 1
    (file,) = tree.project.rglob("*.json")
    magic, _, body = file.read_bytes().partition(b"\n")
    looks, content, packed = json.loads(body)
    for entry in packed["files"].values():
        entry[-1] = []
    body = json.dumps([looks, content, packed]).encode()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_STATE_HOME", str(tree.around / "theirs"))
        signature = secret.sign(body)
    file.write_bytes(b"%s %s\n%s" % (magic.rpartition(b" ")[0], signature, body))
    assert tree.run("check", state="theirs")[0] == 0  # it is a good forgery
    code, out, _ = tree.run("check", "--output-format", "concise")
    assert (code, "good.py:2:41: TL101" in out) == (1, True)


@contextlib.contextmanager
def restless(tree: Tree) -> Iterator[None]:
    """A file that is replaced all the time: by another text, a pipe, a link to a device, nothing."""
    place, over = tree.project / "restless.py", threading.Event()

    def change() -> None:
        while not over.is_set():
            for make in (
                lambda path: path.write_text(CODE, encoding="utf-8"),
                os.mkfifo,
                lambda path: path.symlink_to("/dev/zero"),
                lambda path: path.symlink_to("../other/victim.py"),
            ):
                new = tree.project / "new"
                make(new)
                os.replace(new, place)

    changing = threading.Thread(target=change)
    changing.start()
    try:
        yield
    finally:
        over.set()
        changing.join()


def test_a_file_that_changes_all_the_time(tree: Tree) -> None:
    with restless(tree):
        for _ in range(5):
            code, _, _ = tree.run("check", "--fix", "--no-cache", ".")
            assert code in (0, 1, 2, 3)
    content = tree.content()
    assert content["work/good.py"].endswith(FIXED)
    assert content["other/victim.py"].split(" ", 1)[1] in (CODE, FIXED)  # a link to a file is a way to write it
    assert content["home/notes.txt"].endswith("mine")
    assert not [name for name in content if ".tmp" in name]


@pytest.mark.parametrize(
    "line", ["x = [" + "a.b, " * 400_000 + "]\n", "x" + ".a" * 200_000 + "\n"], ids=["list", "path"]
)
def test_a_line_of_another_file_without_end(line: str, tree: Tree) -> None:
    """It is looked for who patches or takes names in files that are not checked themselves."""
    tree.write("work/line.pyx", f"import torch\n{line}")
    tree.write("work/old.py", "import torch.nn.functional as F\n\ny = F.upsample(x, scale_factor=2)\n")
    code, out, err = tree.run("check", "--no-cache", "--output-format", "concise", "old.py")
    assert (code, err) == (1, "")
    assert "old.py:3:5: TL302 [*]" in out
