"""What is a check of torch's version, behind which code is left alone, and what only looks like one."""

from __future__ import annotations

import textwrap
from pathlib import Path

import pytest

from torchlint.diagnostic import Fixing
from torchlint.file.check import check_text

DEPRECATED = "torch.qr(x)"

GUARDS = {
    "hasattr": "if hasattr(torch.linalg, 'qr'):\n    return torch.linalg.qr(x)\nreturn torch.qr(x)\n",
    "version": "if torch.__version__ >= '1.8':\n    return torch.linalg.qr(x)\nreturn torch.qr(x)\n",
    "branch": "if TORCH_VERSION < (1, 8):\n    return torch.qr(x)\nreturn torch.linalg.qr(x)\n",
    "parsed": "if Version(torch.__version__) < Version('1.8'):\n    return torch.qr(x)\n",
    "signature": "if 'some' in inspect.signature(f).parameters:\n    return torch.qr(x)\n",
    "defaults": "if 'some' in f.__kwdefaults__:\n    return torch.qr(x)\n",
    "names": "return torch.qr(x) if 'qr' not in dir(torch.linalg) else torch.linalg.qr(x)\n",
    "names of a namespace": "if 'qr' in vars(torch.linalg):\n    return torch.linalg.qr(x)\nreturn torch.qr(x)\n",
    "attribute error": "try:\n    return torch.linalg.qr(x)\nexcept AttributeError:\n    return torch.qr(x)\n",
    "type error": "try:\n    return torch.linalg.qr(x, mode='r')\nexcept TypeError:\n    return torch.qr(x)\n",
    "too new": "if torch.__version__ >= '2.9':\n    raise RuntimeError('too new')\nreturn torch.qr(x)\n",
    "asserted": "assert torch.__version__ < '1.8'\nreturn torch.qr(x)\n",
    "asserted by a library": "from accelerate.utils import is_torch_version\nassert is_torch_version('<', '1.8')\n"
    "return torch.qr(x)\n",
    "another package's branch": "import peft\nif peft.__version__ < '0.2':\n    return torch.qr(x)\n",
    "available": "if LINALG_AVAILABLE:\n    return torch.linalg.qr(x)\nelse:\n    return torch.qr(x)\n",
}
NO_GUARDS = {
    "a setting": "if cfg.amp_type == 'torch_amp':\n    return torch.qr(x)\n",
    "a setting's version": "if cfg.version > 1:\n    return torch.qr(x)\n",
    "a setting that is there": "if hasattr(cfg, 'fast') and getattr(cfg, 'fast'):\n    return torch.qr(x)\n",
    "names of a setting": "if 'fast' in dir(cfg) or 'fast' in cfg.__dict__:\n    return torch.qr(x)\n",
    "a device": "if torch.cuda.is_available():\n    x = x.cuda()\n    return torch.qr(x)\n",
    "a device behind": "if not torch.cuda.is_available():\n    return x\nreturn torch.qr(x)\n",
    "a device asserted": "assert torch.cuda.is_available()\nreturn torch.qr(x)\n",
    "a device's flag": "if CUDA_AVAILABLE:\n    return torch.qr(x)\n",
    "a package": "if not SCIPY_AVAILABLE:\n    raise ImportError('scipy is needed')\nreturn torch.qr(x)\n",
    "a package asserted": "assert is_scipy_available()\nreturn torch.qr(x)\n",
    "another package's version asserted": "import mlxtend\nassert int(mlxtend.__version__.split('.')[1]) >= 19\n"
    "return torch.qr(x)\n",
    "another package that is too old": "import sklearn\nfrom packaging import version\n"
    "if version.parse(sklearn.__version__) < version.parse('0.24'):\n    raise RuntimeError('too old')\n"
    "return torch.qr(x)\n",
    "a word": "if cfg.conversion or inversion:\n    return torch.qr(x)\n",
    "raised again": "try:\n    return torch.qr(x)\nexcept RuntimeError:\n    print('bad')\n    raise\n",
    "raised as another": "try:\n    return torch.qr(x)\nexcept Exception as e:\n    raise ValueError(x) from e\n",
}


def found(body: str) -> bool:
    text = f"import inspect\n\nimport torch\n\n\ndef f(x, cfg, inversion):\n{textwrap.indent(body, '    ')}"
    return any(
        DEPRECATED.startswith(d.message[1:9]) for d in check_text(text, "x.py", frozenset(("TL302",))).diagnostics
    )


@pytest.mark.parametrize("name", GUARDS)
def test_a_fallback_is_left_alone(name: str) -> None:
    assert not found(GUARDS[name])


@pytest.mark.parametrize("name", NO_GUARDS)
def test_what_is_no_check_of_a_version_hides_nothing(name: str) -> None:
    assert found(NO_GUARDS[name])


OLD = {
    "TL101": "out = loss.data",
    "TL102": "net.weight.data.fill_(1)",
    "TL103": "net.weight.data = net.weight.data * 2",
    "TL104": "out = net(x).numpy()",
    "TL105": "out = net(x).cpu().detach()",
    "TL106": "out = loss.detach().item()",
    "TL108": "net.weight.fill_(1)",
    "TL201": "out = Variable(x)",
    "TL202": "out = net(Variable(x, volatile=True))",
    "TL203": "out = loss.data[0]",
    "TL301": "out = torch.gels(x, x)",
    "TL302": "out = torch.qr(x)",
    "TL303": "out = torch.sum(x, axis=0)\n    out = nn.CrossEntropyLoss(size_average=True)(out, x)",
    "TL307": "out = torch.FloatTensor(2, 3)",
    "TL511": "out = net.forward(x)",
}
"""What rules find where nothing tells that it is for an old version."""

FALLBACKS = {
    "parts": "if int(version[0]) > 0 or int(version[2]) > 3:\n    new()\nelse:\n    {}\n",
    "compared": "if version >= '0.4':\n    new()\nelse:\n    {}\n",
    "turned round": "if '0.4' > version:\n    {}\nelse:\n    new()\n",
    "a part": "if float(torch.__version__[:3]) >= 0.4:\n    new()\nelse:\n    {}\n",
    "beginning": "if torch.__version__.startswith('0.3'):\n    {}\nelse:\n    new()\n",
    "one of them": "if torch.__version__ in ('0.3.0', '0.3.1'):\n    {}\n",
    "unpacked": "if minor < 4:\n    {}\nelse:\n    new()\n",
    "a constant": "if NEW:\n    new()\nelse:\n    {}\n",
    "denied": "if not NEW:\n    {}\n",
    "tried before": "if HAS_NO_GRAD:\n    new()\nelse:\n    {}\n",
    "installed": "if metadata.version('torch') < '0.4':\n    {}\n",
    "called so": "if not is_torch_at_least('0.4'):\n    {}\n",
    "another condition": "if version >= '0.4' and flag:\n    new()\nelse:\n    {}\n",
    "a method": "if hasattr(loss, 'item'):\n    new()\nelse:\n    {}\n",
    "a function": "if not hasattr(torch, 'no_grad'):\n    {}\n",
    "names": "if 'no_grad' not in torch.__dict__:\n    {}\n",
    "got": "if getattr(torch, 'no_grad', None) is None:\n    {}\n",
    "signature": "if 'dtype' in inspect.signature(torch.zeros).parameters:\n    new()\nelse:\n    {}\n",
    "defaults": "if 'dtype' not in torch.zeros.__kwdefaults__:\n    {}\n",
    "chain": "if version >= '1.0':\n    new()\nelif version >= '0.4':\n    new()\nelse:\n    {}\n",
    "early return": "if version >= '0.4':\n    return new()\n{}\nreturn out\n",
    "early continue": "for _ in range(2):\n    if version >= '0.4':\n        continue\n    {}\n",
    "attribute error": "try:\n    out = new()\nexcept AttributeError:\n    {}\n",
    "no import": "try:\n    from torch import no_grad\nexcept ImportError:\n    {}\n",
}
ANY_ERROR = "try:\n    out = new()\n    losses.append(0)\nexcept:\n    losses.append(0)\n    {}\n"
LOOK_ALIKES = {
    "a setting": "if config.amp_type == 'torch_amp':\n    {}\n",
    "a setting's version": "if config.version == 2:\n    {}\n",
    "a version given": "if kind_version == 'v2':\n    {}\n",
    "an attribute": "if hasattr(net, 'weight'):\n    {}\n",
    "an option": "if getattr(config, 'fast', False):\n    {}\n",
    "a device": "if hasattr(torch.backends, 'mps'):\n    new()\nelse:\n    {}\n",
    "what a check chose": "kind = 'a' if version >= '0.4' else 'b'\nif kind == 'a':\n    {}\n",
    "the new branch": "if version >= '0.4':\n    {}\n",
    "behind a requirement": "if version < '0.4':\n    raise RuntimeError('too old')\n{}\n",
    "behind an assertion": "assert version >= '0.4'\n{}\n",
    "after the old branch": "if version < '0.4':\n    return new()\n{}\n",
    "a message": "try:\n    {}\nexcept ValueError:\n    print('bad')\n",
    "memory": "try:\n    new()\nexcept RuntimeError:\n    {}\n",
    "a package": "try:\n    import apex\nexcept ImportError:\n    {}\n",
}
BY_THEMSELVES = frozenset(("TL301", "TL302", "TL303", "TL307"))
"""Rules that leave both branches alone, and code behind requirements. (TL108 leaves what is tried alone.)"""

BEFORE = """\
import inspect
from importlib import metadata

import torch
from torch import nn
from torch.autograd import Variable
from utils import is_torch_at_least

version = torch.__version__
major, minor = [int(part) for part in version.split(".")[:2]]
NEW = version >= "0.4"
try:
    from torch import no_grad
    HAS_NO_GRAD = True
except ImportError:
    HAS_NO_GRAD = False


def new():
    return 0


def step(x: torch.Tensor, target, config, kind_version, flag, losses):
    net = nn.Linear(2, 2)
    loss = nn.MSELoss()(net(x), target)
    loss.backward()
"""


def _program(form: str, statement: str) -> str:
    if "\n" in statement:
        statement = statement.partition("\n")[2].strip()
    return BEFORE + textwrap.indent(form.format(statement), "    ")


def _found_in(text: str, code: str) -> bool:
    """Whether a rule finds something in the program, but for the import of `Variable`."""
    found = check_text(text, "x.py", frozenset((code,))).diagnostics
    return any(each.start.row > BEFORE.count("\n") for each in found)


@pytest.mark.parametrize("code", sorted(OLD.keys()))
def test_what_rules_find_elsewhere(code: str) -> None:
    assert _found_in(_program("{}\n", OLD[code]), code)


@pytest.mark.parametrize("code", OLD)
@pytest.mark.parametrize("form", FALLBACKS)
def test_every_rule_leaves_a_fallback_alone(form: str, code: str) -> None:
    assert not _found_in(_program(FALLBACKS[form], OLD[code]), code)


@pytest.mark.parametrize("code", ["TL101", "TL102", "TL103", "TL201", "TL202", "TL203"])
def test_the_same_in_an_old_way_after_any_error(code: str) -> None:
    assert not _found_in(_program(ANY_ERROR, OLD[code]), code)


@pytest.mark.parametrize("code", sorted(OLD.keys() - BY_THEMSELVES - {"TL108"}))
@pytest.mark.parametrize("form", LOOK_ALIKES)
def test_what_only_looks_like_a_fallback(form: str, code: str) -> None:
    assert _found_in(_program(LOOK_ALIKES[form], OLD[code]), code)


def test_names_from_another_file(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").touch()
    (tmp_path / "compat.py").write_text("import torch\n\nMODERN = torch.__version__ >= '0.4'\nFAST = True\n")
    read = "        total += loss.data[0]\n"
    text = (
        "import torch\nfrom torch import nn\n\nfrom compat import FAST, MODERN\n\n\n"
        "def f(x: torch.Tensor, total=0):\n    loss = nn.MSELoss()(x, x)\n    if MODERN:\n        total += loss.item()\n"
        f"    else:\n{read}    if not FAST:\n{read}    return total\n"
    )
    program = tmp_path / "program.py"
    program.write_text(text)
    found = check_text(text, "program.py", frozenset(("TL203",)), location=str(program)).diagnostics
    assert [each.start.row for each in found] == [14]


def test_the_import_stays_for_a_fallback() -> None:
    text = _program(FALLBACKS["compared"], "out = Variable(x)") + "    out = Variable(x)\n"
    fixed = check_text(text, "x.py", frozenset(("TL201",)), Fixing.SAFE)
    assert fixed.text == text.removesuffix("Variable(x)\n") + "x.detach()\n"
    assert not fixed.diagnostics


def test_a_keyword_that_no_python_parses_is_no_fallback() -> None:
    text = _program(FALLBACKS["compared"], "out = x.cuda(async=True)")
    assert _found_in(text, "TL204")


def test_another_handler_of_the_same_kind_is_no_reason_for_silence() -> None:
    body = "try:\n    out = net.module.weight.data\nexcept AttributeError:\n    out = net.weight.data\n"
    text = BEFORE + textwrap.indent(body, "    ")
    found = check_text(text, "x.py", frozenset(("TL101",))).diagnostics
    assert len(found) == 2


def test_what_is_tried_in_an_old_way() -> None:
    body = "try:\n    out = loss.data[0]\nexcept IndexError:\n    out = loss.item()\n"
    assert not _found_in(BEFORE + textwrap.indent(body, "    "), "TL203")


def test_a_version_of_another_package_is_none_of_torch() -> None:
    text = (
        "import peft\nimport torch\nfrom packaging.version import Version\n\nw = torch.nn.Parameter(torch.ones(3))\n"
        'if Version(peft.__version__) < Version("0.20.0"):\n    print("old")\nelse:\n    w.data.copy_(torch.zeros(3))\n'
    )
    assert [each.code for each in check_text(text, "x.py", frozenset(("TL102",))).diagnostics] == ["TL102"]
    of_torch = text.replace("peft", "torch").replace("else:\n", "    w.data.copy_(torch.zeros(3))\nelse:\n")
    assert [each.start.row for each in check_text(of_torch, "x.py", frozenset(("TL102",))).diagnostics] == [10]
