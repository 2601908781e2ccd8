"""What an expression is. Rules ask this layer and nothing else; it knows no rule.

    model.value(expr)         the abstract value: kind, grad, ndim, dtype, role, and the evidence for it
    model.is_tensor(expr)     a tensor, on evidence of the wanted strength
    model.qualified(expr)     ``torch.nn.functional.relu`` whatever it was imported as
    model.grad_enabled(node)  whether autograd records there
    model.requires_grad(expr) how certain it is that it requires grad

All questions are methods of :class:`torchlint.model.facade.Model`. Nothing inside this package imports it.
"""

from torchlint.model.certainty import Certainty
from torchlint.model.facade import Model
from torchlint.model.graphs.fate import Fate
from torchlint.model.graphs.kept import Kept
from torchlint.model.graphs.ties import Tie
from torchlint.model.possibilities import Dtype, Kind, Ndim, Role, Tri
from torchlint.model.values import Evidence, Strength, Usage, Value

__all__ = [
    "Certainty",
    "Dtype",
    "Evidence",
    "Fate",
    "Kept",
    "Kind",
    "Model",
    "Ndim",
    "Role",
    "Strength",
    "Tie",
    "Tri",
    "Usage",
    "Value",
]
