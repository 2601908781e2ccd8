"""Statements that are fixed into one block get into it in one round, and the text is what it would be one by one."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from torchlint.diagnostic import AS_RULES_SAY, Fixing, Policy, TextEdit
from torchlint.file import check
from torchlint.file.check import check_text
from torchlint.file.fix import protect
from torchlint.file.fix.verify import Guard
from torchlint.file.suppress.suppress import Examined
from torchlint.file.text.edits import splice
from torchlint.rules import catalogue

HEAD = """\
import torch
from torch import nn
net = nn.Linear(3, 2)
p = net.weight
q = net.bias
"""

# what stands behind the head, and what becomes of it
TEXTS = {
    "three": (
        "p.data.add_(1)\np.data.mul_(2)\np.data[0] = 3\nprint(p)\nq.data.mul_(2)\n",
        "with torch.no_grad():\n    p.add_(1)\n    p.mul_(2)\n    p[0] = 3\nprint(p)\n"
        "with torch.no_grad():\n    q.mul_(2)\n",
    ),
    "comments, an empty line, and two": (
        "p.data.add_(1)  # a\np.data.mul_(2)  # b\n# c\nq.data.mul_(2)\nq.data.add_(2)\n\nq.data.sub_(2)\n\n\n"
        "q.data.sub_(3)\n",
        "with torch.no_grad():\n    p.add_(1)  # a\n    p.mul_(2)  # b\n    # c\n"
        "    q.mul_(2)\n    q.add_(2)\n\n    q.sub_(2)\n\n\nwith torch.no_grad():\n    q.sub_(3)\n",
    ),
    "comments between": (
        "# a\np.data.add_(1)\n# b\n\n# c\nq.data.add_(2)\n# d\n# e\nq.data.mul_(2)\nq.data.mul_(3)\n# f\nprint(p)\n# g\n"
        "q.data.sub_(2)\n# h\nfor x in net.parameters():\n    x.data.mul_(2)\n    # i\n# j\np.data.mul_(2)\n",
        "# a\nwith torch.no_grad():\n    p.add_(1)\n# b\n\n# c\nwith torch.no_grad():\n    q.add_(2)\n    # d\n    # e\n"
        "    q.mul_(2)\n    q.mul_(3)\n# f\nprint(p)\n# g\nwith torch.no_grad():\n    q.sub_(2)\n    # h\n"
        "    for x in net.parameters():\n        x.mul_(2)\n        # i\n    # j\n    p.mul_(2)\n",
    ),
    "comments that mean something where they stand": (
        "p.data.add_(1)\n# %%\np.data.mul_(2)\n# fmt: off\np.data.mul_(3)\n# fmt: on\np.data.mul_(4)\n",
        "with torch.no_grad():\n    p.add_(1)\n# %%\nwith torch.no_grad():\n    p.mul_(2)\n# fmt: off\n"
        "with torch.no_grad():\n    p.mul_(3)\n# fmt: on\nwith torch.no_grad():\n    p.mul_(4)\n",
    ),
    "comments behind a block": (
        "if p is p:\n    with torch.no_grad():\n        p.add_(0)\n        # a\n    # b\n  # c\n    p.data.add_(1)\n"
        "# d\n    p.data.add_(2)\n    print(p)\n",
        "if p is p:\n    with torch.no_grad():\n        p.add_(0)\n        # a\n        # b\n  # c\n        p.add_(1)\n"
        "# d\n        p.add_(2)\n    print(p)\n",
    ),
    "several lines": (
        "p.data.add_(\n    1\n)\np.data.mul_(2) \\\n    .add_(3)\np.data.add_(f('''\n x\n'''))\np.data.sub_(4)\n",
        "with torch.no_grad():\n    p.add_(\n        1\n    )\n    p.mul_(2) \\\n        .add_(3)\n"
        "    p.add_(f('''\n x\n'''))\n    p.sub_(4)\n",
    ),
    "a string that goes on": (
        'p.data.add_(f("a\\\n b"))\np.data.mul_(f("c", r\'\\\nd\'))\n',
        'with torch.no_grad():\n    p.add_(f("a\\\n b"))\n    p.mul_(f("c", r\'\\\nd\'))\n',
    ),
    "all of a line": (
        "p.data.add_(1); p.data.mul_(2); p.data.mul_(3)\n",
        "with torch.no_grad():\n    p.add_(1)\n    p.mul_(2)\n    p.mul_(3)\n",
    ),
    "some of a line": (
        "print(1); p.data.add_(1); print(2); p.data.mul_(2); p.data.mul_(3); print(3)\np.data.add_(4)\n",
        "print(1)\nwith torch.no_grad():\n    p.add_(1)\nprint(2)\nwith torch.no_grad():\n    p.mul_(2)\n    p.mul_(3)\n"
        "print(3)\nwith torch.no_grad():\n    p.add_(4)\n",
    ),
    "lines that are shared and lines that are not": (
        "p.data.add_(0)\np.data.add_(1); p.data.mul_(2)\nq.data.mul_(3); print(2)\nq.data.add_(3);\nq.data.add_(4)\n",
        "with torch.no_grad():\n    p.add_(0)\n    p.add_(1)\n    p.mul_(2)\n    q.mul_(3)\nprint(2)\n"
        "with torch.no_grad():\n    q.add_(3);\n    q.add_(4)\n",
    ),
    "on the line of a header": (
        "if p is q: p.data.add_(1); p.data.add_(2)\nelse: p.data.mul_(1)\nwhile q: print(1); q.data.mul_(1); print(2)\n",
        "with torch.no_grad():\n    if p is q: p.add_(1); p.add_(2)\n    else: p.mul_(1)\n"
        "    while q: print(1); q.mul_(1); print(2)\n",
    ),
    "part of a line that only gets a block": (
        "print(1); p.add_(1); print(2)\nprint(3); q.add_(1)\n",
        "print(1)\nwith torch.no_grad():\n    p.add_(1)\nprint(2)\nprint(3)\nwith torch.no_grad():\n    q.add_(1)\n",
    ),
    "behind a block": (
        "with torch.no_grad():\n  p.add_(0)\np.data.add_(1)\np.data.add_(\n   2)\np.data.add_(3); print(p)\n",
        "with torch.no_grad():\n  p.add_(0)\n  p.add_(1)\n  p.add_(\n     2)\n  p.add_(3)\nprint(p)\n",
    ),
    "before a block": (
        "p.data.add_(1)\np.data.add_(2)\nwith torch.no_grad():\n    p.add_(0)\n",
        "with torch.no_grad():\n    p.add_(1)\n    p.add_(2)\nwith torch.no_grad():\n    p.add_(0)\n",
    ),
    "one that is suppressed": (
        "p.data.add_(1)\np.data.add_(2)  # torchlint: ignore[TL102]\np.data.add_(3)\np.data.add_(4)\n",
        "with torch.no_grad():\n    p.add_(1)\np.data.add_(2)  # torchlint: ignore[TL102]\n"
        "with torch.no_grad():\n    p.add_(3)\n    p.add_(4)\n",
    ),
    "a suite inside": (
        "for p in net.parameters():\n    p.data.add_(1)\n    if p is q:\n        p.data.add_(2)\n        p.data.add_(3)\n"
        "    p.data.add_(4)\n    p.data.add_(5)\n",
        "with torch.no_grad():\n    for p in net.parameters():\n        p.add_(1)\n        if p is q:\n"
        "            p.add_(2)\n            p.add_(3)\n        p.add_(4)\n        p.add_(5)\n",
    ),
    "a suite inside of what needs a graph": (
        "for x in f(q):\n    p.data.add_(1)\n    if p is q:\n        p.data.add_(2)\n        p.data.add_(3)\n"
        "    p.data.add_(4)\n    p.data.add_(5)\n",
        "for x in f(q):\n    with torch.no_grad():\n        p.add_(1)\n    if p is q:\n"
        "        with torch.no_grad():\n            p.add_(2)\n            p.add_(3)\n"
        "    with torch.no_grad():\n        p.add_(4)\n        p.add_(5)\n",
    ),
    "comments in and below a loop": (
        "for p in net.parameters():\n    # a\n    p.data.add_(1)  # b\n\n    # c\n    p.data.add_(\n        2)\n    # d\n\n"
        "    # e\n# f\nprint(p)\n",
        "with torch.no_grad():\n    for p in net.parameters():\n        # a\n        p.add_(1)  # b\n\n        # c\n"
        "        p.add_(\n            2)\n        # d\n\n        # e\n# f\nprint(p)\n",
    ),
    "a loop between": (
        "p.data.add_(1)\nfor p in net.parameters(): p.data.mul_(2)\nfor p in net.parameters():\n    p.data.mul_(3)\n"
        "p.data.add_(3)\n",
        "with torch.no_grad():\n    p.add_(1)\n    for p in net.parameters(): p.mul_(2)\n    for p in net.parameters():\n"
        "        p.mul_(3)\n    p.add_(3)\n",
    ),
    "a loop behind a block": (
        "with torch.no_grad():\n  p.add_(0)\nfor p in net.parameters():\n    p.data.mul_(3)\n",
        "with torch.no_grad():\n  p.add_(0)\n  for p in net.parameters():\n      p.mul_(3)\n",
    ),
    "no newline at the end": ("p.data.add_(1)\np.data.add_(2)", "with torch.no_grad():\n    p.add_(1)\n    p.add_(2)"),
    "tabs": (
        "for p in net.parameters():\n\tp.data.add_(1)\n\tp.data.add_(\n\t\t2)\n\tp.data.sub_(3); p.data.sub_(4)\n",
        "with torch.no_grad():\n\tfor p in net.parameters():\n\t\tp.add_(1)\n\t\tp.add_(\n\t\t\t2)\n"
        "\t\tp.sub_(3); p.sub_(4)\n",
    ),
}

INITIALISED = """\
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self, k):
        super().__init__()
        self.a = nn.Linear(3, 2)
        self.a.weight.data[0] = 1
        self.a.weight.data[0] = k(2)
        self.a.weight.data[1] = 2
        self.a.weight.data[2] = 3
"""

EVALUATION = """\
import torch
from torch import nn
from torch.autograd import Variable

net = nn.Linear(3, 1)


def evaluate(batches, p: torch.Tensor):
    total = 0
    for x, y in batches:
        x = Variable(x, volatile=True)
        out = net(x)
        for k in y:
            total += (out - y).pow(2).sum().data[0]
        p.data.add_(1)
        p.data.add_(2)
    return total
"""


def fixed(
    text: str, monkeypatch: pytest.MonkeyPatch, fixing: Fixing = Fixing.UNSAFE, policy: Policy = AS_RULES_SAY
) -> tuple[str, int]:
    """The text after all fixes, and how many rounds that took."""
    checked: list[str] = []
    protected = protect.protected

    def counted(examined: Examined, examine: Callable[[str], Examined]) -> Examined:
        checked.append(examined.text)
        return protected(examined, examine)

    monkeypatch.setattr(check, "protected", counted)
    outcome = check_text(text, "x.py", frozenset(catalogue()), fixing, policy=policy)
    assert outcome.problems == ()
    return outcome.text, len(checked) - 1


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
@pytest.mark.parametrize(("before", "after"), TEXTS.values(), ids=TEXTS)
def test_one_round(before: str, after: str, newline: str, monkeypatch: pytest.MonkeyPatch) -> None:
    text, rounds = fixed((HEAD + before).replace("\n", newline), monkeypatch)
    assert text == (HEAD + after).replace("\n", newline)
    assert rounds == 1


def test_safe_fixes_do_not_wait_for_others(monkeypatch: pytest.MonkeyPatch) -> None:
    text, rounds = fixed(INITIALISED, monkeypatch, Fixing.SAFE)
    body = text.partition("2)\n")[2]
    assert body == (
        "        with torch.no_grad():\n            self.a.weight[0] = 1\n        self.a.weight.data[0] = k(2)\n"
        "        with torch.no_grad():\n            self.a.weight[1] = 2\n            self.a.weight[2] = 3\n"
    )
    assert rounds == 1
    assert fixed(INITIALISED, monkeypatch)[0].count("no_grad") == 1
    assert fixed(INITIALISED, monkeypatch, policy=Policy(unfixable=frozenset(("TL102",))))[0] == INITIALISED


def test_blocks_of_two_rules_are_one(monkeypatch: pytest.MonkeyPatch) -> None:
    text, _ = fixed(EVALUATION, monkeypatch)
    assert text.partition("in batches:\n")[2] == (
        "        with torch.no_grad():\n            out = net(x)\n            for k in y:\n"
        "                total += (out - y).pow(2).sum().item()\n            p.add_(1)\n            p.add_(2)\n"
        "    return total\n"
    )


def test_what_is_refused_begins_no_block(monkeypatch: pytest.MonkeyPatch) -> None:
    objection = Guard.objection

    def objects(self: Guard, edits: list[TextEdit], stand_in: str) -> str | None:
        if "p.add_(1)" in splice(self.text, edits):
            return "is not wanted"
        return objection(self, edits, stand_in)

    monkeypatch.setattr(Guard, "objection", objects)
    text = HEAD + "p.data.add_(1)\np.data.mul_(2)\np.data.mul_(3)\n"
    outcome = check_text(text, "x.py", frozenset(catalogue()), Fixing.UNSAFE)
    assert outcome.text == HEAD + "p.data.add_(1)\nwith torch.no_grad():\n    p.mul_(2)\n    p.mul_(3)\n"
    assert [problem.message for problem in outcome.problems] == ["the fix of TL102 is not wanted: left out"]
