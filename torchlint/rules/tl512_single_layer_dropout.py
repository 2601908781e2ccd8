r"""`dropout=` of a recurrent module with one layer has no effect.

`nn.LSTM`, `nn.GRU` and `nn.RNN` drop between their layers, so not after the last one. With one layer there is nothing
between; torch warns each time such a module is made.

```diff run-differs
 import torch
 from torch import nn

~lstm = nn.LSTM(3, 4, dropout=0.5, batch_first=True)
+lstm = nn.LSTM(3, 4, batch_first=True)
~gru = nn.GRU(3, 4, num_layers=1, dropout=0.1)
+gru = nn.GRU(3, 4, num_layers=1)
!rnn = nn.RNN(3, 4, 1, "tanh", True, False, 0.5)
 lost = lstm.dropout
 del lstm, gru, rnn
```

Constants may have names. Where the number of layers has one, there is no fix: it may be another number one day.

```diff
 from torch import nn

 LAYERS = 1
 DROPOUT = 0.5

 class Net(nn.Module):
     def __init__(self):
         super().__init__()
         p = 0.2
         self.layers = 1
~        self.a = nn.LSTM(3, 4, dropout=p)
+        self.a = nn.LSTM(3, 4)
!        self.b = nn.LSTM(3, 4, num_layers=LAYERS, dropout=DROPOUT)
!        self.c = nn.LSTM(3, 4, num_layers=self.layers, dropout=DROPOUT)
```

With several layers, with none dropped, and where either is not known:

```diff
 from torch import nn

 def make(layers, p):
     a = nn.LSTM(3, 4, num_layers=2, dropout=0.5)
     b = nn.GRU(3, 4, 2, dropout=0.5)
     c = nn.LSTM(3, 4, dropout=0.0)
     d = nn.LSTM(3, 4, num_layers=layers, dropout=0.5)
     e = nn.LSTM(3, 4, dropout=p)
     f = nn.LSTMCell(3, 4)
     return nn.LSTM(3, 4, **p, dropout=0.5), a, b, c, d, e, f

 depth = 1
 if __name__ == "__main__":
     depth = 2
 rnn = nn.LSTM(3, 4, depth, dropout=0.5)

 class Base(nn.Module):
     layers = 1

     def __init__(self):
         super().__init__()
         self.rnn = nn.LSTM(3, 4, self.layers, dropout=0.5)
```

## When the fix is unsafe

Always: a warning goes, and the attribute `dropout` becomes zero. What may be meant is `nn.Dropout` after the module.

`nn.LSTM`: <https://docs.pytorch.org/docs/stable/generated/torch.nn.LSTM.html>.
"""

from __future__ import annotations

import libcst as cst

from torchlint import edit
from torchlint.model import Model
from torchlint.model.syntax import has_stars, integer, keyword, positional
from torchlint.rule import Finding, Fix, Group, Severity, any_of, on, word
from torchlint.rules.api import names
from torchlint.rules.shared.numbers import number

GROUP = Group.CORRECTNESS
SEVERITY = Severity.WARNING

_LAYERS = 2
"""Where the number of layers stands among positional arguments."""
_DROPOUT = {"torch.nn.LSTM": 5, "torch.nn.GRU": 5, "torch.nn.RNN": 6}
"""Where the probability stands."""
_LAST_NAMES = frozenset(name.rpartition(".")[2] for name in _DROPOUT)


@on(cst.Call, trigger=any_of(word("LSTM"), word("GRU"), word("RNN")))
def check(node: cst.Call, model: Model) -> Finding | None:
    """Report dropout between the layers of a module that has one."""
    if not isinstance(node.func, (cst.Name, cst.Attribute)) or not names.is_called(node.func, _LAST_NAMES, model):
        return None
    at = _DROPOUT.get(model.qualified(node.func) or "")
    if at is None or has_stars(node.args):
        return None
    layers = keyword(node.args, "num_layers") or positional(node.args, _LAYERS)
    dropout = keyword(node.args, "dropout") or positional(node.args, at)
    if dropout is None or (number(dropout.value, model) or 0) <= 0:
        return None
    if layers is not None and number(layers.value, model) != 1:
        return None
    said = "dropout acts between layers, and this module has one layer; it has no effect"
    if dropout.keyword is None:
        return Finding(dropout.value, said)
    if layers is not None and integer(layers.value) is None:
        return Finding(dropout.keyword, said)  # there may be more of them one day
    fix = Fix("Drop the argument", (edit.remove_argument(node, dropout),)).doubted(
        "who reads `dropout` of the module gets 0"
    )
    return Finding(dropout.keyword, said, fix)
