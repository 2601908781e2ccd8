"""Definitions from other files of a project: found, understood, and asked again when they have changed."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Write = Callable[[dict[str, str]], Any]
Torchlint = Callable[..., Any]

LOSSES = "import torch.nn.functional as F\n\n\ndef loss(out, y):\n    return F.cross_entropy(out, y)\n"
BASE = "import torch\n\n\nclass Base(torch.nn.Module):\n    def __init__(self):\n        super().__init__()\n"
BASE += '        self.register_buffer("mean", torch.zeros(3))\n        self.scale = torch.nn.Parameter(torch.ones(3))\n'

# files, where `value.data` is in one of them that is called main.py
FOUND = {
    "relative": {"pkg/__init__.py": "", "pkg/a.py": LOSSES, "pkg/main.py": "from .a import loss\n"},
    "relative to the parent": {
        "pkg/__init__.py": "",
        "pkg/a.py": LOSSES,
        "pkg/sub/__init__.py": "",
        "pkg/sub/main.py": "from ..a import loss\n",
    },
    "absolute": {"pkg/__init__.py": "", "pkg/a.py": LOSSES, "main.py": "from pkg.a import loss\n"},
    "a module": {"pkg/__init__.py": "", "pkg/a.py": LOSSES, "main.py": "import pkg.a as a\nloss = a.loss\n"},
    "a script beside it": {"a.py": LOSSES, "main.py": "from a import loss\n"},
    "src": {"src/pkg/__init__.py": "", "src/pkg/a.py": LOSSES, "tests/main.py": "from pkg.a import loss\n"},
    "renamed": {"a.py": LOSSES, "main.py": "from a import loss as other\nloss = other\n"},
    "exported again": {
        "pkg/__init__.py": "from .a import loss\n",
        "pkg/a.py": LOSSES,
        "main.py": "from pkg import loss\n",
    },
    "with a star": {"pkg/__init__.py": "from .a import *\n", "pkg/a.py": LOSSES, "main.py": "from pkg import loss\n"},
    "with two stars": {
        "pkg/__init__.py": "from .b import *\n",
        "pkg/b.py": "from .a import *\n",
        "pkg/a.py": LOSSES,
        "main.py": "from pkg import *\n",
    },
    "in a circle": {
        "a.py": "from main import use\n" + LOSSES,
        "main.py": "from a import loss\n",
    },
}


@pytest.mark.parametrize("files", FOUND.values(), ids=FOUND.keys())
def test_functions_are_found(files: dict[str, str], write: Write, torchlint: Torchlint) -> None:
    name = next(name for name in files if name.endswith("main.py"))
    use = "\n\ndef use(net, x, y):\n    value = loss(net(x), y)\n    print(value.data)\n    import torch\n"
    write({**files, name: files[name] + use, "pyproject.toml": ""})
    ran = torchlint("check", "--isolated", "--output-format", "json", name)
    assert [finding["code"] for finding in json.loads(ran.out)] == ["TL101"]


def test_what_a_base_class_sets_is_known(write: Write, torchlint: Torchlint) -> None:
    main = "from base import Base\n\n\nclass Net(Base):\n    def f(self):\n        print(self.mean.data, self.scale.data)\n"
    write({"base.py": BASE, "main.py": "import torch\n" + main})
    ran = torchlint("check", "--isolated", "--output-format", "json", "main.py")
    assert len(json.loads(ran.out)) == 2


def test_a_loop_in_a_class_of_another_file(write: Write, torchlint: Torchlint) -> None:
    base = "class Base:\n    for name in ('a', 'b'):\n        last = name\n"
    main = "from base import Base\n\n\nclass Net(Base):\n    def f(self, x: torch.Tensor):\n        print(self.last, self.y.data, x.data)\n"
    write({"base.py": base, "main.py": "import torch\n" + main})
    ran = torchlint("check", "--isolated", "--output-format", "json", "main.py")
    assert (len(json.loads(ran.out)), ran.err) == (1, "")


def test_a_named_tuple_of_another_file(write: Write, torchlint: Torchlint) -> None:
    holder = 'from collections import namedtuple\n\nHolder = namedtuple("Holder", "data mask")\n'
    main = "import torch\nfrom a import Holder\n\n\ndef f(x: torch.Tensor):\n    pair = Holder(x, None)\n"
    main += "    pair.data.unsqueeze_(0)\n    return pair.data.data\n"
    write({"a.py": holder, "main.py": main})
    ran = torchlint("check", "--isolated", "--output-format", "json", "main.py")
    assert [(each["code"], each["location"]["row"]) for each in json.loads(ran.out)] == [("TL101", 8)]


# what is no tensor, or not known, where the name promises one
SILENT = {
    "no tensor": {"a.py": "def loss(out, y):\n    return open(out)\n"},
    "does not parse": {"a.py": "def loss(out, y:\n"},
    "is not there": {},
    "binds no such name": {"a.py": "x = 1\n"},
    "imports itself": {"a.py": "from a import loss\n"},
}


@pytest.mark.parametrize("files", SILENT.values(), ids=SILENT.keys())
def test_what_is_not_known_is_left_alone(files: dict[str, str], write: Write, torchlint: Torchlint) -> None:
    main = (
        "import torch\nfrom a import loss as make\n\n\ndef use(x, y):\n    value = make(x, y)\n    print(value.data)\n"
    )
    write({**files, "main.py": main})
    ran = torchlint("check", "--isolated", "main.py")
    assert (ran.code, ran.err) == (0, "")


def test_the_cache_notices_what_changes_elsewhere(write: Write, torchlint: Torchlint, tmp_path: Path) -> None:
    main = "import torch\nfrom a import make\n\n\ndef use(x):\n    value = make(x)\n    print(value.data)\n"
    write({"a.py": "def make(x):\n    return 3\n", "main.py": main})
    assert torchlint("check", "main.py").code == 0
    (tmp_path / "a.py").write_text("import torch\n\n\ndef make(x):\n    return torch.ones(3)\n", encoding="utf-8")
    assert torchlint("check", "main.py").code == 1
    (tmp_path / "a.py").unlink()
    assert torchlint("check", "main.py").code == 0


def test_the_cache_of_every_file_notices_what_changes_behind_a_star(
    write: Write, torchlint: Torchlint, tmp_path: Path
) -> None:
    main = "import torch\nfrom pkg import make\n\n\ndef use(x):\n    value = make(x)\n    print(value.data)\n"
    star, number = "from .a import *\n", "x = 1\n"
    write({"pkg/__init__.py": star, "pkg/a.py": number, "one.py": main, "two.py": main})
    assert torchlint("check", "-j", "1").code == 0
    (tmp_path / "pkg" / "a.py").write_text(
        "import torch\n\n\ndef make(x):\n    return torch.ones(3)\n", encoding="utf-8"
    )
    found = json.loads(torchlint("check", "-j", "1", "--output-format", "json").out)
    assert [Path(finding["filename"]).name for finding in found] == ["one.py", "two.py"]


def test_findings_do_not_depend_on_which_files_were_checked_before(write: Write, torchlint: Torchlint) -> None:
    chain = "import torch\nfrom m{0} import f as g\n\n\ndef f(x):\n    y = g(x)\n    print(y.data)\n    return y\n"
    files = {f"m{i}.py": chain.format(i + 1) for i in range(6)}
    write({**files, "m6.py": "import torch\n\n\ndef f(x):\n    return torch.ones(3)\n"})
    together = json.loads(torchlint("check", "--isolated", "--no-cache", "--output-format", "json", ".").out)
    alone = [
        finding
        for name in sorted(files)
        for finding in json.loads(torchlint("check", "--isolated", "--no-cache", "--output-format", "json", name).out)
    ]
    assert together == alone
    assert together
