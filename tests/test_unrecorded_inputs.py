"""What was volatile and is given to a network where it was wrapped needs no detach in the block that is made for it."""

from __future__ import annotations

import pytest

from torchlint.diagnostic import Fixing
from torchlint.file.check import check_text

CODES = frozenset(("TL101", "TL201", "TL202"))
HEAD = "import torch\nfrom torch.autograd import Variable\n\n\nclass Agent:\n    def values(self, x, y):\n"
# the lines of a method, and one that comes of them
GIVEN = {
    "a network": ("q = self.net(Variable(x, volatile=True)).data\nreturn q\n", "q = self.net(x)"),
    "several": (
        "q = self.net(Variable(x, volatile=True), Variable(y, volatile=True))\nreturn q.data\n",
        "q = self.net(x, y)",
    ),
    "on a device": (
        "return self.net(Variable(x, volatile=True).cuda()).data.cpu()\n",
        "return self.net(x.cuda()).cpu()",
    ),
    "moved before": (
        "return self.net(Variable(x.cuda(), volatile=True)).data.cpu()\n",
        "return self.net(x.cuda()).cpu()",
    ),
    "asked for its kind": (
        "x = Variable(x, volatile=True)\nq = self.net(x)\nif isinstance(q, list):\n    q = q[0]\nreturn self.net(q)\n",
        "q = self.net(x)",
    ),
    "no volatile one": (
        "with torch.no_grad():\n    return self.net(Variable(x))\n",
        "return self.net(x)",
    ),
    "what keeps it": (
        "with torch.no_grad():\n    self.memory.append(Variable(x, volatile=True))\n    return self.net(x)\n",
        "self.memory.append(x.detach())",
    ),
    "what is changed": (
        "x.requires_grad_()\nwith torch.no_grad():\n    return self.net(Variable(x, volatile=True))\n",
        "return self.net(x.detach())",
    ),
}


@pytest.mark.parametrize("name", GIVEN)
def test_what_is_given_to_a_network(name: str) -> None:
    lines, wanted = GIVEN[name]
    text = HEAD + "".join(f"        {line}\n" for line in lines.splitlines())
    outcome = check_text(text, "x.py", CODES, Fixing.UNSAFE)
    assert outcome.problems == ()
    assert wanted in [line.strip() for line in outcome.text.splitlines()]
    assert check_text(outcome.text, "x.py", CODES, Fixing.UNSAFE).text == outcome.text
