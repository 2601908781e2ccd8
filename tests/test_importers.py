"""An import stays where another file of the project may have the name from here."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from notebooks import cell, notebook, prose, version_3

from torchlint.file.check import check_text
from torchlint.model.codebase.importers import Importers
from torchlint.model.codebase.modules import Codebase
from torchlint.system import importable

Write = Callable[[dict[str, str]], Any]
Torchlint = Callable[..., Any]

OURS = "import torch\nfrom torch.autograd import Variable\n\nx = Variable(torch.ones(3))\n"
WITHOUT = "import torch\n\nx = torch.ones(3)\n"
MARK = {"pyproject.toml": ""}

# files; the first is fixed, another one has `Variable` from it
TAKEN = {
    "by name": {"utils.py": OURS, "main.py": "from utils import Variable\n"},
    "under another name": {"utils.py": OURS, "main.py": "from utils import Variable as V\n"},
    "with a star": {"utils.py": OURS, "main.py": "from utils import *\nVariable(x)\n"},
    "as an attribute": {"utils.py": OURS, "main.py": "import utils\nprint(utils.Variable)\n"},
    "as an attribute of another name": {"utils.py": OURS, "main.py": "import utils as u\nprint(u.Variable)\n"},
    "as an attribute of a module of a package": {
        "pkg/utils.py": OURS,
        "pkg/__init__.py": "",
        "main.py": "import pkg.utils\nprint(pkg.utils.Variable)\n",
    },
    "by a module from a package": {
        "pkg/utils.py": OURS,
        "pkg/__init__.py": "",
        "main.py": "from pkg import utils as u\nprint(u.Variable)\n",
    },
    "relative": {"pkg/utils.py": OURS, "pkg/__init__.py": "", "pkg/net.py": "from .utils import Variable\n"},
    "relative to the parent": {
        "pkg/utils.py": OURS,
        "pkg/__init__.py": "",
        "pkg/sub/__init__.py": "",
        "pkg/sub/net.py": "from ..utils import Variable\n",
    },
    "a module relative": {
        "pkg/utils.py": OURS,
        "pkg/__init__.py": "",
        "pkg/net.py": "from . import utils\nprint(utils.Variable)\n",
    },
    "by the package": {"pkg/utils.py": OURS, "pkg/__init__.py": "from .utils import *\n"},
    "by several lines": {"utils.py": OURS, "main.py": "from utils import (\n    x,\n    Variable,\n)\n"},
    "in a function": {"utils.py": OURS, "main.py": "def f():\n    from utils import Variable\n"},
    "in a try": {"utils.py": OURS, "main.py": "try:\n    from utils import Variable\nexcept ImportError:\n    pass\n"},
    "src": {"src/pkg/utils.py": OURS, "src/pkg/__init__.py": "", "tests/t.py": "from pkg.utils import Variable\n"},
    "a namespace": {"lib/utils.py": OURS, "main.py": "from lib.utils import Variable\n"},
    "a path that is set at run time": {
        "lib/code/utils.py": OURS,
        "run/main.py": "import sys\nsys.path.append('../lib/code')\nfrom utils import Variable\n",
    },
    "as an attribute of a parameter": {
        "utils.py": OURS,
        "main.py": "import utils as u\n\n\ndef f(m=u):\n    return m.Variable(1)\n",
    },
    "as an attribute of what a loop gives": {
        "pkg/utils.py": OURS,
        "pkg/__init__.py": "",
        "main.py": "from pkg import utils\n\nfor m in [utils]:\n    m.Variable(1)\n",
    },
    "as an attribute of what is kept": {
        "utils.py": OURS,
        "main.py": "import utils\nclass A:\n    m = utils\n    def f(self):\n        return self.m.Variable(1)\n",
    },
    "as an attribute of an element": {"utils.py": OURS, "main.py": "import utils\nms = [utils]\nms[0].Variable(1)\n"},
    "of sys.modules": {"utils.py": OURS, "main.py": "import sys\nprint(sys.modules['utils'].Variable)\n"},
    "by its name as a text": {"utils.py": OURS, "main.py": "import utils\nprint(getattr(utils, 'Variable'))\n"},
    "by import_module": {
        "utils.py": OURS,
        "main.py": "import importlib\nu = importlib.import_module('utils')\nprint(u.Variable)\n",
    },
    "Python 2": {"utils.py": OURS, "main.py": "from utils import Variable\nprint Variable\n"},
    "Python 2, by several lines": {
        "utils.py": OURS,
        "main.py": "from utils import x, \\\n    Variable\nprint Variable\n",
    },
    "a notebook": {"utils.py": OURS, "main.ipynb": '{"source": ["from utils import *\\n"]}'},
    "a notebook, by several lines": {
        "utils.py": OURS,
        "main.ipynb": '{"source": [\n  "from utils import (x,\\n",\n  "    Variable)\\n"\n]}',
    },
    "a notebook, by a continued line": {
        "utils.py": OURS,
        "main.ipynb": '{"source": [\n  "from utils import x, \\\\\\n",\n  "    Variable\\n"\n]}',
    },
    "a notebook as it is": {"utils.py": OURS, "main.ipynb": notebook("import os\n", "from utils import Variable\n")},
    "a notebook with a magic": {"utils.py": OURS, "main.ipynb": notebook("%matplotlib inline\nfrom utils import *")},
    "a notebook on one line": {
        "utils.py": OURS,
        "main.ipynb": notebook("from utils import (x,\n    Variable)\n", indent=None),
    },
    "an old notebook": {"utils.py": OURS, "main.ipynb": version_3("from utils import x, \\\n    Variable\n")},
    "suppressed": {"utils.py": OURS, "main.py": "import utils\nutils.Variable(1)  # noqa: TL201\n"},
    "its own doctest": {"utils.py": OURS + '\n\ndef f():\n    """\n    >>> Variable(1)\n    """\n'},
    "in the other direction, too": {"utils.py": "import main\n" + OURS, "main.py": "from utils import Variable\n"},
}
FREE = {
    "alone": {"utils.py": OURS},
    "something else": {"utils.py": OURS, "main.py": "from utils import x\n"},
    "something else in Python 2": {"utils.py": OURS, "main.py": "from utils import x\nprint x * Variable(x)\n"},
    "something else in a notebook": {
        "utils.py": OURS,
        "main.ipynb": '{"source": ["from utils import x\\n", "y = 2 * torch.autograd.Variable(x)\\n"]}',
    },
    "something else in a cell that is one text": {
        "utils.py": OURS,
        "main.ipynb": '{"source": "from utils import x\\ny = 2 * torch.autograd.Variable(x)\\n"}',
    },
    "what a cell has printed": {
        "utils.py": OURS,
        "main.ipynb": notebook(cell("!cat x.py", outputs=[{"text": ["from utils import Variable\n"]}])),
    },
    "the text of a notebook": {"utils.py": OURS, "main.ipynb": notebook(prose("from utils import Variable\n"))},
    "another attribute": {"utils.py": OURS, "main.py": "import utils\nprint(utils.x)\n"},
    "another module's attribute": {
        "utils.py": OURS,
        "main.py": "import utils\nimport torch.autograd as ag\nimport torch\nag.Variable(1)\ntorch.autograd.Variable(1)\n",
    },
    "an attribute of its own": {
        "utils.py": OURS,
        "main.py": "import utils\nclass A:\n    Variable = 1\n    def f(self):\n        return self.Variable\n",
    },
    "another module of that name": {
        "utils.py": OURS,
        "pkg/__init__.py": "",
        "pkg/utils.py": OURS,
        "pkg/net.py": "from .utils import Variable\n",
    },
    "its own": {"utils.py": OURS, "main.py": "from torch.autograd import Variable\nfrom utils import *\n"},
    "not exported": {"utils.py": OURS + "__all__ = ['x']\n", "main.py": "from utils import *\n"},
    "torch's": {"autograd.py": OURS, "main.py": "from torch.autograd import Variable\nprint(Variable)\n"},
    "in a comment": {"utils.py": OURS, "main.py": "# from utils import Variable\n"},
    "in a function of ours": {
        "utils.py": "import torch\n\n\ndef f():\n    from torch.autograd import Variable\n    return Variable(torch.ones(3))\n",
        "main.py": "from utils import *\n",
    },
    "in an environment": {"utils.py": OURS, "env/pyvenv.cfg": "", "env/lib/main.py": "from utils import Variable\n"},
}


def fixed(files: dict[str, str], write: Write, torchlint: Torchlint, *options: str) -> str:
    write({**MARK, **files})
    first = next(iter(files))
    torchlint("check", "--isolated", "--no-cache", "--select", "TL201", "--fix", *options, first)
    return Path(first).read_text(encoding="utf-8")


@pytest.mark.parametrize("name", TAKEN)
def test_it_stays(name: str, write: Write, torchlint: Torchlint) -> None:
    after = fixed(TAKEN[name], write, torchlint)
    assert "from torch.autograd import Variable" in after
    assert "x = torch.ones(3)" in after


@pytest.mark.parametrize("name", FREE)
def test_it_goes(name: str, write: Write, torchlint: Torchlint) -> None:
    assert "Variable" not in fixed(FREE[name], write, torchlint)


PRINTED = {"text": ["torch.tanh = mine\n", "from utils import f\n", "with torch.no_grad():\n", "    f(1)\n"]}


@pytest.mark.parametrize("printed", [True, False])
def test_what_cells_have_printed_is_no_code(printed: bool, write: Write, tmp_path: Path) -> None:
    code = "".join(PRINTED["text"])
    made = cell("import torch\n", outputs=[PRINTED]) if printed else cell("import torch\n" + code)
    write({**MARK, "utils.py": "def f(x): ...\n", "main.ipynb": notebook(made)})
    importers = Importers(importable.folder_of(str(tmp_path)))
    utils, main = (str(tmp_path / name) for name in ("utils.py", "main.ipynb"))
    assert importers.patching.patcher(utils, "torch.tanh") == (None if printed else main)
    assert importers.taker(utils, "f", lambda *_: utils, with_stars=True) == (None if printed else "main.ipynb")
    assert importers.without_grad(utils, "f", lambda *_: utils, is_method=False) is (None if printed else False)


def test_the_other_file_is_named(write: Write, torchlint: Torchlint) -> None:
    write({**MARK, "utils.py": OURS, "app/main.py": "from utils import Variable\n"})
    assert "`app/main.py` may import it from here" in torchlint("check", "--isolated", "utils.py").out


def test_the_whole_project_at_once(write: Write, torchlint: Torchlint) -> None:
    """What other files look like when they are fixed makes no difference."""
    use = "from utils import *\n\ny = Variable(x)\n"
    write({**MARK, "utils.py": OURS, "main.py": use})
    torchlint("check", "--isolated", "--no-cache", "--fix", ".")
    once = [Path(name).read_text(encoding="utf-8") for name in ("utils.py", "main.py")]
    torchlint("check", "--isolated", "--no-cache", "--fix", ".")
    assert [Path(name).read_text(encoding="utf-8") for name in ("utils.py", "main.py")] == once
    assert "import Variable" in once[0]
    assert once[0] != OURS


def test_a_renamed_import_stays_for_others(write: Write, torchlint: Torchlint) -> None:
    ours = "import torch\nfrom torch.nn.init import xavier_uniform\n\nxavier_uniform(torch.nn.Linear(2, 2).weight)\n"
    write({**MARK, "utils.py": ours, "main.py": "from utils import xavier_uniform\n"})
    torchlint("check", "--isolated", "--no-cache", "--fix", "--unsafe-fixes", "utils.py")
    after = Path("utils.py").read_text(encoding="utf-8")
    assert "import xavier_uniform\n" in after
    assert "nn.init.xavier_uniform_(" in after


def test_a_file_that_begins_to_import_it_is_seen(write: Write, torchlint: Torchlint) -> None:
    """The cache notices what has nothing to do with the file it knows."""
    write({**MARK, "utils.py": OURS, "main.py": "import os\n"})
    run = ("check", "--isolated", "--output-format", "json", "--select", "TL201", "utils.py")
    assert "may import it" not in torchlint(*run).out
    assert "may import it" not in torchlint(*run).out
    write({"late.py": "from utils import Variable\n"})
    assert "may import it" in torchlint(*run).out
    write({"late.py": "from utils import x\n"})
    assert "may import it" not in torchlint(*run).out
    write({"main.py": "import utils\nutils.Variable\n"})
    assert "may import it" in torchlint(*run).out


@pytest.mark.parametrize("other", ["import os\n", "from .utils import Variable\n", "from utils import Variable\n"])
def test_a_root_that_calls_itself_a_package_is_a_root(other: str, write: Write, torchlint: Torchlint) -> None:
    """What stands above the root of a repository is no part of the project, whatever `__init__.py` says."""
    marked = {f"repo/{name}": text for name, text in MARK.items()}
    write({**marked, "repo/__init__.py": "", "repo/utils.py": OURS, "repo/main.py": other})
    write({f"other{number}.py": "import os\n" for number in range(3)})
    out = torchlint("check", "--isolated", "--no-cache", "--diff", "repo/utils.py").out
    assert ("-from torch.autograd import Variable" in out) is ("utils" not in other)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no named pipes")
def test_a_pipe_is_not_waited_for(write: Write, torchlint: Torchlint) -> None:
    write({**MARK, "utils.py": OURS})
    os.mkfifo("main.py")
    out = torchlint("check", "--isolated", "--no-cache", "utils.py").out
    assert "TL201" in out
    assert "may import it" not in out


def test_not_all_of_a_home_is_read(write: Write, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Where no folder is marked, what is far away does not count; where there is too much, nothing is known."""
    write({"a/utils.py": OURS, "a/b/c/d/e/main.py": "from utils import Variable\n"})
    folder = importable.folder_of(str(tmp_path / "a"))
    assert not folder.is_marked
    assert [Path(path).name for path in importable.files(folder)] == ["utils.py"]
    monkeypatch.setattr(importable, "_MAX_FILES", 0)
    assert not Importers(folder).is_known


def test_where_there_is_too_much_nothing_is_read(write: Write, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    write({"a/one.py": OURS, "b/two.py": OURS, "three.py": OURS})
    monkeypatch.setattr(importable, "_MAX_FILES", 20)
    read = list[str]()

    def content(path: str) -> bytes:
        read.append(path)
        return b""

    monkeypatch.setattr(importable, "content", content)
    assert not Importers(importable.Folder(str(tmp_path), is_marked=False)).is_known
    assert read == []


UPSAMPLE = "import torch\nimport torch.nn.functional as F\n\nx = F.upsample(torch.ones(1, 1, 2, 2), scale_factor=2)\n"
PATCHES = {
    "assigned": "import torch.nn.functional as F\nF.upsample = print\n",
    "assigned by its full name": "import torch\ntorch.nn.functional.upsample = print\n",
    "assigned by another name of the module": "from torch.nn import functional\nf = functional\nf.upsample = print\n",
    "assigned to a module of the project": "from compat import F\nF.upsample = print\n",
    "assigned with another": "import torch.nn.functional as F\nF.upsample, F.tanh = print, print\n",
    "assigned in a function": "import torch.nn.functional as F\ndef f():\n    F.upsample = print\n",
    "its successor": "import torch.nn.functional as F\nF.interpolate = print\n",
    "set": "import torch.nn.functional as F\nsetattr(F, 'upsample', print)\n",
    "mocked": "from mock import patch\nwith patch('torch.nn.functional.upsample'):\n    pass\n",
    "Python 2": "import torch.nn.functional as F\nF.upsample = wrap\nprint 1\n",
}
SET = {
    "assigned": "import a\na.Variable = print\n",
    "set": "import a\nsetattr(a, 'Variable', print)\n",
    "set by a fixture": "import a\ndef test(monkeypatch):\n    monkeypatch.setattr(a, 'Variable', print)\n",
    "mocked": "from unittest import mock\nwith mock.patch('a.Variable', print):\n    pass\n",
    "mocked as an attribute": "import a\nfrom unittest import mock\nwith mock.patch.object(a, 'Variable', print):\n    pass\n",
}
NO_PATCHES = {
    "an attribute of one's own": "import torch\nclass A:\n    def f(self):\n        self.upsample = 1\n",
    "an attribute of something else": "import torch\nnet = torch.nn.Linear(1, 1)\nnet.upsample = 1\n",
    "another module's": "import torch\nimport settings\nsettings.upsample = 1\n",
    "another function": "import torch.nn.functional as F\nF.relu = print\n",
    "compared": "import torch.nn.functional as F\nF.upsample == print\n",
}


def renamed(other: str, write: Write, torchlint: Torchlint, *options: str) -> bool:
    write({**MARK, "net.py": UPSAMPLE, "other.py": other})
    torchlint("check", "--isolated", "--no-cache", "--fix", *options, "net.py")
    return "interpolate" in Path("net.py").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", PATCHES)
def test_what_another_file_patches_is_not_renamed_safely(name: str, write: Write, torchlint: Torchlint) -> None:
    assert not renamed(PATCHES[name], write, torchlint)
    assert renamed(PATCHES[name], write, torchlint, "--unsafe-fixes")


@pytest.mark.parametrize(
    ("line", "patched", "wanted"),
    [
        ("torch.nn.MSELoss(size_average=False)", "torch.nn.MSELoss", "reduction"),
        ("functools.partial(torch.nn.MSELoss, reduce=False)", "torch.nn.MSELoss", "reduction"),
        ("lr_scheduler.StepLR(opt, 1, verbose=v)", "torch.optim.lr_scheduler.StepLR", "StepLR(opt, 1)"),
        ("torch.add(x, 2, x)", "torch.add", "alpha=2"),
        ("F.softmax(x.view(2, 2))", "torch.nn.functional.softmax", "dim=1"),
    ],
)
def test_arguments_of_what_another_file_mocks_are_not_changed_safely(
    line: str, patched: str, wanted: str, write: Write, torchlint: Torchlint
) -> None:
    imports = "import functools\nimport torch\nimport torch.nn.functional as F\nfrom torch.optim import lr_scheduler\n"
    net = f"{imports}\n\ndef f(x: torch.Tensor, opt, v):\n    return {line}\n"

    def is_written(mocked: str, *options: str) -> bool:
        mock = f"from unittest.mock import patch\n\n\n@patch('{mocked}')\ndef test(mocked):\n    mocked()\n"
        write({**MARK, "net.py": net, "test_net.py": mock})
        torchlint("check", "--isolated", "--no-cache", "--fix", *options, "net.py")
        return wanted in Path("net.py").read_text(encoding="utf-8")

    assert not is_written(patched)
    assert is_written(patched, "--unsafe-fixes")
    assert is_written("torch.relu")


@pytest.mark.parametrize("name", NO_PATCHES)
def test_what_nobody_patches_is_renamed(name: str, write: Write, torchlint: Torchlint) -> None:
    assert renamed(NO_PATCHES[name], write, torchlint)


@pytest.mark.parametrize("name", SET)
def test_a_name_of_a_module_that_another_file_sets(name: str, write: Write, torchlint: Torchlint) -> None:
    write({**MARK, "a.py": OURS, "b.py": SET[name]})
    torchlint("check", "--isolated", "--no-cache", "--fix", "a.py")
    assert Path("a.py").read_text(encoding="utf-8") == OURS


def test_a_variable_that_another_file_patches(write: Write, torchlint: Torchlint) -> None:
    patch = "import torch.autograd\ntorch.autograd.Variable = print\n"
    assert fixed({"net.py": OURS, "other.py": patch}, write, torchlint) == OURS
    assert fixed({"net.py": OURS, "other.py": patch}, write, torchlint, "--unsafe-fixes") == WITHOUT


def test_a_file_that_begins_to_patch_is_seen(write: Write, torchlint: Torchlint) -> None:
    write({**MARK, "net.py": UPSAMPLE})
    run = ("check", "--isolated", "--output-format", "json", "net.py")
    assert '"applicability": "safe"' in torchlint(*run).out
    write({"late.py": PATCHES["assigned"]})
    assert '"applicability": "unsafe"' in torchlint(*run).out


@pytest.mark.parametrize(
    ("caller", "found"),
    [
        ("import torch\nfrom util import f\nwith torch.no_grad():\n    f(x)\n", 0),
        ("import torch\nfrom util import f\nwith torch.no_grad():\n    f(x)\nf(x)\n", 1),
        ("import util\nutil.f(x)\n", 1),
        ("", 1),
    ],
)
def test_a_transfer_in_what_the_project_calls_only_where_autograd_is_off(
    caller: str, found: int, write: Write, tmp_path: Path
) -> None:
    text = "import torch\ndef f(x):\n    return x.squeeze(0).cpu().detach().numpy()\n"
    write({"pyproject.toml": "", "util.py": text, "use.py": caller})
    at = str(tmp_path / "util.py")
    outcome = check_text(text, "util.py", frozenset(("TL105",)), location=at, codebase=Codebase())
    assert len(outcome.diagnostics) == found


@pytest.mark.parametrize(
    ("use", "is_fixable"),
    [
        ("net.layers.remove(net.layers[0])", False),
        ("net.layers.pop()", False),
        ("net.layers = [layer, None, len]", False),
        ("net.layers.pop(0)", True),
        ("net.others.remove(layer)", True),
    ],
)
def test_what_other_files_do_with_a_list_of_layers(use: str, is_fixable: bool, write: Write, tmp_path: Path) -> None:
    text = """\
from torch import nn
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = [nn.Linear(3, 3) for _ in range(2)]
"""
    write({"pyproject.toml": "", "lib.py": text, "use.py": f"from lib import Net\nnet = Net()\n{use}\n"})
    at = str(tmp_path / "lib.py")
    outcome = check_text(text, "lib.py", frozenset(("TL503",)), location=at, codebase=Codebase())
    assert [found.fix is not None for found in outcome.diagnostics] == [is_fixable]


@pytest.mark.parametrize(("other", "is_fixable"), [("[1.0]", False), ("np.ones(2)", False), ("out * 2", True)])
def test_an_array_that_one_caller_gives_and_a_tensor_that_another_gives(
    other: str, is_fixable: bool, write: Write, tmp_path: Path
) -> None:
    text = "import numpy as np\ndef as_np(x):\n    return np.asarray(x)\n"
    use = f"""\
import numpy as np
import torch
from torch import nn
from helper import as_np
out = nn.Linear(2, 1)(torch.ones(1, 2))
out.sum().backward()
as_np({other})
as_np(out)
"""
    write({"pyproject.toml": "", "helper.py": text, "use.py": use})
    at = str(tmp_path / "helper.py")
    outcome = check_text(text, "helper.py", frozenset(("TL104",)), location=at, codebase=Codebase())
    assert [found.fix is not None for found in outcome.diagnostics] == [is_fixable]
