"""Rules ask by syntax first and the model last: where syntax says no, nothing is interpreted.

Each program is one that a rule's trigger lets in and that has nothing to report; what is counted is how many functions
and modules are interpreted while that rule looks at it.
"""

from __future__ import annotations

from textwrap import dedent
from typing import Any

import pytest

from torchlint.file.check import check_text
from torchlint.file.triggers.gate import possible_rules
from torchlint.model import interpreted

ASKS_NOTHING = {
    "TL108": """
        import torch
        from torch import nn

        class Net(nn.Module):
            def forward(self, x):
                hidden = self.weight.view(-1)
                hidden += x
                hidden[0] = 1
                return hidden.mul_(2)
        """,
    "TL206": """
        import json
        import torch

        def f(loss, net):
            print(json.dumps({"epoch": 3, "name": "x"}))
            return json.loads("{}"), len(net), str(loss)
        """,
    "TL313": """
        import torch

        def f(parts, more):
            parts += (more,)
            parts[0] /= 2
            return parts
        """,
    "TL401": """
        import inspect
        import torch

        def f(net, is_training, args):
            if is_training and not net:
                return torch.save(net.state_dict(), "x"), set(inspect.signature(net).parameters)
            return [net.parameters, args]
        """,
    "TL402": """
        import torch

        def f(net, x, prepare):
            prepare(x)
            with prepare:
                prepare(
                    torch.device("cpu")
                )
        """,
    "TL403": """
        import torch

        def f(keys):
            seen, counts = set(), {}
            known = set()
            for key in keys:
                known.add(key)
            return known
        """,
    "TL404": """
        import torch

        def f(xs, net):
            for x in xs:
                x = x.to("cpu")
                net(x)
        """,
    "TL410": """
        import torch
        from torch import nn

        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.head = nn.Linear(3, 3)

            def forward(self, x, y):
                criterion = nn.CrossEntropyLoss()
                logits = self.head(x)
                return criterion(logits.view(-1, 3), y.view(-1)), x.mean(y)
        """,
    "TL502": """
        import torch

        class Plain:
            def __init__(self, size):
                self.layer = torch.nn.Linear(size, size)
        """,
    "TL503": """
        import torch
        from torch import nn

        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.layers = nn.ModuleList()
                for _ in range(3):
                    self.layers.append(nn.Linear(3, 3))
        """,
    "TL504": """
        import torch
        from torch import nn

        class Net(nn.Module):
            def __init__(self, scale):
                super().__init__()
                self.scale = nn.Parameter(torch.ones(3))
                self.size = scale.size(0)
                self.shape = scale.float().shape
        """,
    "TL506": """
        import torch
        from torch import nn

        class Net(nn.Module):
            def forward(self, x, y):
                if x is None:
                    raise ValueError("x")
                criterion = nn.CrossEntropyLoss()
                return criterion(x, y) + nn.MSELoss()(x, y)
        """,
    "TL606": """
        import torch

        def f(items):
            sizes = []
            for item in items:
                sizes.append(len(item))
            return max(sizes), sum(list(items))
        """,
    "TL802": """
        import math
        import torch

        def f(x, size, prepare):
            print(prepare(x), int(size))
            return math.log(size) + torch.exp(x).log()
        """,
}


@pytest.mark.parametrize("code", sorted(ASKS_NOTHING))
def test_nothing_is_interpreted(code: str, monkeypatch: pytest.MonkeyPatch) -> None:
    text = dedent(ASKS_NOTHING[code]).lstrip()
    assert code in possible_rules(text.encode(), frozenset((code,))), "the trigger keeps it out"
    asked: list[object] = []
    interpret: Any = interpreted._interpret

    def counted(context: object, scope: object, *rest: object) -> object:
        asked.append(scope)
        return interpret(context, scope, *rest)

    monkeypatch.setattr(interpreted, "_interpret", counted)
    assert check_text(text, "x.py", frozenset((code,))).diagnostics == ()
    assert asked == []
