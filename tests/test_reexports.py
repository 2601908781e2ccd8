"""What of torch a file has from another file of the project is known to rules: by a star, by its name, by a package."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from torchlint.system.layers import VARIABLE

Write = Callable[[dict[str, str]], Any]
Torchlint = Callable[..., Any]

COMMON = "import torch\nimport torch.nn as nn\nimport torch.nn.functional as F\n"
USES = """
state = torch.load("x.pt")
nn.init.xavier_normal(w)
probabilities = F.softmax(logits)
q, r = torch.qr(a)
scaler = torch.cuda.amp.GradScaler()
"""
CODES = ["TL302", "TL302", "TL302", "TL305", "TL701"]
FIXED = """
state = torch.load("x.pt")
nn.init.xavier_normal_(w)
probabilities = F.softmax(logits)
q, r = torch.linalg.qr(a)
scaler = torch.amp.GradScaler("cuda")
"""

# files; `main.py` is the one that uses what the others have
FOUND = {
    "a star": {"common.py": COMMON, "main.py": "from common import *\n" + USES},
    "a star through a star": {
        "common.py": COMMON,
        "all.py": "from common import *\n",
        "main.py": "from all import *\n" + USES,
    },
    "by their names": {"common.py": COMMON, "main.py": "from common import torch, nn, F\n" + USES},
    "in brackets": {"common.py": COMMON, "main.py": "from common import (  # (all\n    torch,\n    nn, F)\n" + USES},
    "one by its name": {
        "common.py": COMMON,
        "main.py": "import torch\nimport torch.nn.functional as F\nfrom common import nn\n" + USES,
    },
    "by a package": {
        "kit/__init__.py": "from .common import *\n",
        "kit/common.py": COMMON,
        "main.py": "from kit import torch, nn, F\n" + USES,
    },
    "by a star from a package": {"kit/__init__.py": COMMON, "main.py": "from kit import *\n" + USES},
    "relative": {"kit/__init__.py": COMMON, "kit/main.py": "from . import torch, nn, F\n" + USES},
    "a relative star": {
        "kit/__init__.py": "",
        "kit/common.py": COMMON,
        "kit/main.py": "from .common import *\n" + USES,
    },
    "a star of a package that is not seen": {"main.py": "from somewhere.vision import *\n" + USES},
    "that beside a file that has none of it": {
        "own.py": "x = 1\n",
        "main.py": "from somewhere import *\nfrom own import *\n" + USES,
    },
}


def found(torchlint: Torchlint, *options: str) -> list[dict[str, Any]]:
    ran = torchlint(
        "check", "--isolated", "--no-cache", "--select", "TL302,TL305,TL701", "--output-format", "json", *options, "."
    )
    assert not ran.err
    diagnostics: list[dict[str, Any]] = json.loads(ran.out)
    return diagnostics


def codes(torchlint: Torchlint) -> list[str]:
    return sorted(each["code"] for each in found(torchlint))


@pytest.mark.parametrize("files", FOUND.values(), ids=FOUND)
def test_rules_know_what_another_file_has(
    files: dict[str, str], write: Write, torchlint: Torchlint, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(files)
    ours = found(torchlint)
    assert sorted(each["code"] for each in ours) == CODES
    monkeypatch.setenv(VARIABLE, "triggers,quick-trees")
    assert found(torchlint) == ours


@pytest.mark.parametrize("files", FOUND.values(), ids=FOUND)
def test_fixes_are_spelled_with_it(files: dict[str, str], write: Write, torchlint: Torchlint, tmp_path: Path) -> None:
    write(files)
    torchlint("check", "--isolated", "--no-cache", "--fix", "--select", "TL302", ".")
    main = next(path for path in files if path.endswith("main.py"))
    assert (tmp_path / main).read_text(encoding="utf-8") == files[main].replace(USES, FIXED)


UNSEEN = """
x = torch.ones(3, requires_grad=True) * 2
plt.plot(x)
print(np.array(x))
"""
# what stands before it, other files, and on which of the three lines something is found
BROUGHT: dict[str, tuple[str, dict[str, str], list[int]]] = {
    "of a package that is not seen": ("from somewhere import *\n", {}, [4, 5]),
    "of nothing": ("", {}, []),
    "of the standard library": ("from math import *\n", {}, []),
    "of a file that has nothing": ("from own import *\n", {"own.py": "x = 1\n"}, []),
    "beside a file that has another one": (
        "from somewhere import *; from own import *\n",
        {"own.py": "import jax.numpy as np\nfrom my import plt\n"},
        [],
    ),
    "a name that the file binds": ("from somewhere import *; plt = 1\n", {}, [5]),
}


@pytest.mark.parametrize(("head", "others", "rows"), BROUGHT.values(), ids=BROUGHT)
def test_what_only_an_unseen_module_can_bring(
    head: str, others: dict[str, str], rows: list[int], write: Write, torchlint: Torchlint
) -> None:
    write({**others, "main.py": head + UNSEEN})
    ran = torchlint("check", "--isolated", "--no-cache", "--select", "TL104", "--output-format", "json", ".")
    assert [each["location"]["row"] for each in json.loads(ran.out)] == rows


RENAMED = {
    "by a file that is called like torch": "from torch_common import *\nth.qr(a)\nlayers.init.normal(w)\n",
    "modules": "from common import torch as t, nn as layers\nt.qr(a)\nlayers.init.normal(w)\n",
    "in the other file": "from short import *\nth.qr(torch)\nlayers.init.normal(w)\n",
    "functions": "from short import qr, normal as draw\nqr(torch)\ndraw(w)\n",
    "functions by a star": "from short import *\nqr(torch)\nnormal(w)\n",
    "a module of the project": "import common\ncommon.torch.qr(a)\ncommon.nn.init.normal(w)\n",
    "a module of the project with another name": "import common as c\nc.torch.qr(a)\nc.nn.init.normal(w)\n",
    "assigned": "from common import torch, nn\nth = torch\nfill = nn.init.normal\nth.qr(a)\n",
}
SHORT = "import torch as th\nimport torch.nn as layers\nfrom torch import qr\nfrom torch.nn.init import normal\n"


@pytest.mark.parametrize("main", RENAMED.values(), ids=RENAMED)
def test_by_whatever_name(main: str, write: Write, torchlint: Torchlint, monkeypatch: pytest.MonkeyPatch) -> None:
    write({"common.py": COMMON, "short.py": SHORT, "torch_common.py": SHORT, "main.py": main})
    ours = [each for each in found(torchlint) if each["filename"].endswith("main.py")]
    assert [each["code"] for each in ours] == ["TL302", "TL302"]
    monkeypatch.setenv(VARIABLE, "triggers,quick-trees")
    assert [each for each in found(torchlint) if each["filename"].endswith("main.py")] == ours


OTHERS = "import other_torch as torch\nimport other_torch.nn as nn\nfrom other_torch import F\n"
OWN = "class nn:\n    class init:\n        xavier_normal = print\n\n\nclass F:\n    softmax = print\n\n\n"
OWN += "class torch:\n    load = qr = print\n\n    class cuda:\n        class amp:\n            GradScaler = print\n"
SILENT = {
    "another library": {"common.py": OTHERS, "main.py": "from common import *\n" + USES},
    "another library by names": {"common.py": OTHERS, "main.py": "from common import torch, nn, F\n" + USES},
    "classes of its own": {"common.py": OWN, "main.py": "from common import *\n" + USES},
    "classes of its own by names": {"common.py": OWN, "main.py": "from common import torch, nn, F\n" + USES},
    "functions of its own": {
        "common.py": "import torch\n\n\ndef load(path): ...\n\n\ndef qr(a): ...\n",
        "main.py": "import torch\nfrom common import *\nload('x')\nqr(a)\n",
    },
    "functions of its own by names": {
        "common.py": "import torch\n\n\ndef load(path): ...\n\n\ndef qr(a): ...\n",
        "main.py": "import torch\nfrom common import load, qr\nload('x')\nqr(a)\n",
    },
    "functions of this file": {
        "common.py": "from torch import *\nfrom torch import load, qr  # noqa: TL302\n",
        "main.py": "import torch\nfrom common import *\n\n\ndef load(path): ...\n\n\ndef qr(a): ...\n\n\nload('x')\nqr(a)\n",
    },
    "parameters": {
        "common.py": COMMON,
        "main.py": "from common import *\n\n\ndef f(torch, a):\n    torch.load('x')\n    return torch.qr(a)\n",
    },
    "put in its place": {
        "common.py": COMMON,
        "main.py": "from common import torch\nfrom elsewhere import thing\n\ntorch = thing\ntorch.load('x')\ntorch.qr(a)\n",
    },
    "not there": {"main.py": "from common import torch, nn, F\n" + USES},
}


@pytest.mark.parametrize("files", SILENT.values(), ids=SILENT)
def test_what_only_looks_like_it_is_left_alone(files: dict[str, str], write: Write, torchlint: Torchlint) -> None:
    write(files)
    assert codes(torchlint) == []


def test_nothing_is_written_that_the_file_may_not_have(write: Write, torchlint: Torchlint, tmp_path: Path) -> None:
    common = "import torch\nimport torch.nn as nn\nfrom torch import qr  # torch\n\n__all__ = ['nn', 'qr']\n"
    main = "from common import *\n\nlayer = nn.Linear(2, 2)\nq, r = qr(layer.weight)  # of torch\n"
    write({"common.py": common, "main.py": main})
    torchlint("check", "--isolated", "--no-cache", "--fix", "--unsafe-fixes", "--select", "TL302", "main.py")
    assert (tmp_path / "main.py").read_text(encoding="utf-8") == main


def test_a_function_with_an_import_of_its_own_keeps_its_calls(
    write: Write, torchlint: Torchlint, tmp_path: Path
) -> None:
    main = "def f(a):\n    import torch\n    return torch.qr(a)\n"
    write({"main.py": main})
    assert codes(torchlint) == ["TL302"]
    torchlint("check", "--isolated", "--no-cache", "--fix", "--unsafe-fixes", "--select", "TL302", "main.py")
    assert (tmp_path / "main.py").read_text(encoding="utf-8") in (main, main.replace("torch.qr", "torch.linalg.qr"))


SECURITY = """
net = nn.Linear(2, 2)
torch.save(net, "m.pt")
state = torch.hub.load_state_dict_from_url("https://example.org/a.pth")
model = torch.hub.load("owner/name", "model")
"""


@pytest.mark.parametrize("imports", ["from common import *\n", "from common import torch, nn\n"])
def test_what_runs_code_is_found_all_the_same(imports: str, write: Write, torchlint: Torchlint) -> None:
    write({"common.py": COMMON, "main.py": imports + SECURITY})
    select = ("check", "--isolated", "--no-cache", "--select", "TL702,TL703", "--output-format", "json", "main.py")
    assert [each["code"] for each in json.loads(torchlint(*select).out)] == ["TL703", "TL702", "TL702"]


def test_a_package_that_imports_a_name_from_itself_ends(write: Write, torchlint: Torchlint) -> None:
    package = "try:\n    from kit.parts import Part\n    from kit import Part\nexcept ImportError:\n    pass\n"
    parts = "class Part:\n    def __init__(self, x):\n        self.x = x\n"
    write(
        {
            "kit/__init__.py": package,
            "kit/parts.py": parts,
            "main.py": "import kit\n\npart = kit.Part(1)\nprint(part.x.numpy())\n",
        }
    )
    result = torchlint("check", "--isolated", "--no-cache", "--select", "ALL", ".")
    assert "RecursionError" not in result.out + result.err
