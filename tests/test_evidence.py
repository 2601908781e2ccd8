"""A finding says why its receiver is believed to be a tensor."""

from __future__ import annotations

import pytest

from torchlint.cli.report import FileFindings, Style, format_named
from torchlint.diagnostic import LocatedEvidence
from torchlint.file.check import check_text
from torchlint.file.dispatch import dispatch
from torchlint.file.locate.evidence import shortened
from torchlint.file.tree.tree import Tree
from torchlint.rules import catalogue
from torchlint.testing.examples import examples

ALL = frozenset(catalogue())
ABOUT_A_RECEIVER = ("TL101", "TL102", "TL103", "TL104", "TL105", "TL106", "TL107", "TL203")


@pytest.mark.parametrize("code", ABOUT_A_RECEIVER)
def test_every_finding_of_the_examples(code: str) -> None:
    count = 0
    for example in examples(catalogue()[code].doc):
        lines = example.before.splitlines()
        for found in check_text(example.before, "x.py", frozenset((code,))).diagnostics:
            count += 1
            where = f"{code}, line {found.start.row}: {lines[found.start.row - 1]}"
            assert found.evidence is not None, where
            assert found.evidence.message.startswith("`"), where
            assert found.evidence.kind in ("signature", "annotation", "convention", "use", "name"), where
            assert found.evidence.row is not None, where
            assert 1 <= found.evidence.row <= len(lines), where
    assert count


@pytest.mark.parametrize("code", sorted(ALL - {"TL001", "TL002", "TL003", "TL004"}))
def test_a_text_need_not_end_with_a_newline(code: str) -> None:
    for example in examples(catalogue()[code].doc):
        whole, text = (check_text(t, "x.py", ALL) for t in (example.before, example.before.rstrip("\n")))
        assert text.problems == ()
        assert [(d.code, d.start, d.evidence) for d in text.diagnostics] == [
            (d.code, d.start, d.evidence) for d in whole.diagnostics
        ]


def test_evidence_at_the_end_of_a_text_without_a_newline() -> None:
    text = "import torch\n\n\nclass Net(torch.nn.Module):\n    def forward(self, x):\n        return x.data"
    outcome = check_text(text, "x.py", ALL)
    assert outcome.problems == ()
    assert [(d.evidence.row, d.fix is not None) for d in outcome.diagnostics if d.evidence] == [(5, True)]


IMPORTS = "import torch\nfrom torch import nn\nfrom torch.nn import functional as F\n"

# code after the imports (which are lines 1 to 3), the evidence of its first finding
REASONS = {
    "a function of torch": (
        "x = torch.ones(3)\ny = x.data\n",
        ("signature", "`x` is a tensor: `torch.ones` returns it", 4),
    ),
    "on the spot": (
        "y = torch.ones(3).data\n",
        ("signature", "`torch.ones(3)` is a tensor: `torch.ones` returns it", 4),
    ),
    "a module": (
        "criterion = nn.MSELoss()\n\n\ndef f(x, y):\n    loss = criterion(x, y)\n    return loss.data[0]\n",
        ("signature", "`loss` is a tensor: it comes from the module `criterion`", 8),
    ),
    "parameters": (
        "def f(net):\n    for p in net.parameters():\n        p.data.zero_()\n",
        ("convention", "`p` is a tensor: it comes from `parameters()`", 5),
    ),
    "an annotation": (
        "def f(\n    x: torch.Tensor,\n):\n    return x.data\n",
        ("annotation", "`x` is a tensor: an annotation says so", 5),
    ),
    "a convention": (
        "class Net(nn.Module):\n    def forward(self, x):\n        return x.data\n",
        ("convention", "`x` is an argument of `forward`", 5),
    ),
    "a use": (
        "def f(x):\n    y = x.data\n    return y, x.unsqueeze(0)\n",
        ("use", "`x` is a tensor: `.unsqueeze` is used on it, which only tensors have", 6),
    ),
    "a name": (
        "def f(loss):\n    return loss.data\n",
        ("name", "`loss` looks like a tensor: it is called `loss`", 5),
    ),
    "a member": (
        "net = nn.Linear(1, 1)\nnet.weight.data = torch.ones(1)\n",
        ("signature", "`net.weight` is a tensor: `weight` is a parameter or buffer of `torch.nn.Linear`", 5),
    ),
    "what is added": (
        "def f(net, xs):\n    total = 0\n    for x in xs:\n        loss = F.mse_loss(net(x), x)\n"
        "        loss.backward()\n        total += loss\n    print(total)\n",
        ("signature", "`loss` is a tensor: `torch.nn.functional.mse_loss` returns it", 7),
    ),
    "another tensor takes its type from it": (
        "def f(x, y):\n    return y.type_as(x.data)\n",
        ("use", "`x` is a tensor: its data is given to `.type_as`", 5),
    ),
    "on several lines": (
        "y = torch.cat([\n    torch.ones(3),\n    torch.zeros(3),\n]).data\n",
        ("signature", "`torch.cat([ torch.ones(3), torch.zeros(…` is a tensor: `torch.cat` returns it", 4),
    ),
}


@pytest.mark.parametrize("case", REASONS)
def test_wording(case: str) -> None:
    code, reason = REASONS[case]
    found = check_text(IMPORTS + code, "x.py", ALL).diagnostics[0]
    assert found.evidence == LocatedEvidence(*reason)
    files = [FileFindings("x.py", "/x.py", IMPORTS + code, (found,))]
    _, message, row = reason
    assert f"why: {message} (line {row})" in format_named("full")(files, Style())
    (concise,) = format_named("concise")(files, Style())
    assert message not in concise


def test_what_is_not_about_a_tensor_has_no_evidence() -> None:
    text = "from torch.autograd import Variable\nx = Variable(y, volatile=True)\n"
    found = check_text(text, "x.py", ALL).diagnostics
    assert {diagnostic.code for diagnostic in found} == {"TL201", "TL202"}
    assert all(diagnostic.evidence is None for diagnostic in found)


def test_nothing_is_explained_where_nothing_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    def never(*_: object) -> None:
        raise AssertionError("nobody asked for it")

    monkeypatch.setattr(dispatch, "_explained", never)
    monkeypatch.setattr(Tree, "spans", never)
    outcome = check_text("import torch\nx = open('x').data\n", "x.py", ALL)
    assert (outcome.diagnostics, outcome.problems) == ((), ())


@pytest.mark.parametrize(
    ("code", "wanted"),
    [("x", "x"), ("f(\n    x,\n)", "f( x, )"), ("x" * 10, "x" * 10), ("x" * 11, "x" * 9 + "…"), (" " * 99 + "x", "…")],
)
def test_shortened(code: str, wanted: str) -> None:
    assert shortened(code, 10) == wanted
