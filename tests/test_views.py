"""What is said of views of transposed tensors and of slices is so: each of these programs is run."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pytest
import torch

from torchlint.file.check import check_text

TENSORS = {
    "v": torch.arange(5.0),
    "col": torch.rand(5, 1),
    "row": torch.rand(1, 5),
    "m": torch.rand(3, 4),
    "x": torch.rand(2, 3, 4),
    "y": torch.rand(2, 3, 4, 5),
}
HEADER = "import torch\n" + "".join(
    f"{name} = torch.rand({', '.join(map(str, each.shape))})\n" for name, each in TENSORS.items()
)

RAISING = (
    "m.t().view(-1)",
    "x.transpose(0, 2).view(-1)",
    "x.permute(0, 2, 1).view(-1)",
    "m.unsqueeze(1).transpose(0, 2).view(-1)",
    "m[:, None].transpose(0, 2).view(-1)",
    "m.unsqueeze(0).transpose(1, 2).view(-1)",
    "m.topk(2)[1].t().view(-1)",
    "m.topk(2, 1, True, True)[1].t().eq(torch.zeros(1, 3)).view(-1)",
    "m.view(2, 6).t().view(-1)",
    "torch.zeros(2, 3).t().view(-1)",
    "y.sum(1, keepdim=True).transpose(2, 3).view(-1)",
    "y.permute(0, 3, 1, 2).view(2, -1)",
    "m.max(1, keepdim=False)[0].unsqueeze(0).expand(2, 3).t().view(-1)",
    "x[:, 1:].view(-1)",
    "m.unsqueeze(2)[:, 1:].view(-1)",
    "(m + m).t().view(-1)",
)
"""Those that raise, and are reported."""

WORKING = (
    "col.t().view(-1)",
    "row.t().view(-1)",
    "v.t().view(-1)",
    "v.t().view(1, 5)",
    "v.unsqueeze(1).t().view(-1)",
    "v.unsqueeze(-1).t().view(-1)",
    "v[:, None].t().view(-1)",
    "v[None].t().view(-1)",
    "torch.unsqueeze(v, 1).t().view(-1)",
    "x.permute(0, 1, 2).view(-1)",
    "x.permute(0, -2, -1).view(-1)",
    "x.transpose(1, 1).view(-1)",
    "m.unsqueeze(1).transpose(1, 2).view(-1)",
    "m.unsqueeze(1).transpose(0, 1).view(-1)",
    "m.unsqueeze(0).transpose(0, 1).view(-1)",
    "m[:, None].transpose(1, 2).view(-1)",
    "m[:, None, :].transpose(0, 1).view(-1)",
    "m.unsqueeze(1).float().transpose(1, 2).view(-1)",
    "m.sum(1, keepdim=True).t().view(-1)",
    "m.sum(1, True).t().view(-1)",
    "m.max(1, keepdim=True)[1].t().view(-1)",
    "m.max(1, keepdim=True).indices.t().view(-1)",
    "torch.max(m, 1, keepdim=True)[0].t().view(-1)",
    "m.argmax(1, keepdim=True).t().view(-1)",
    "m.topk(1)[1].t().view(-1)",
    "m.topk(1, 1, True, True)[1].t().eq(torch.zeros(1, 3)).view(-1)",
    "m.topk(k=1, dim=1)[1].t().view(-1)",
    "m.view(-1, 1).t().view(-1)",
    "m.reshape((1, -1)).t().view(-1)",
    "torch.zeros(1, 3).t().view(-1)",
    "torch.rand((3, 1)).t().view(-1)",
    "(v.unsqueeze(1) * 2).t().view(-1)",
    "(m @ torch.rand(4, 1)).t().view(-1)",
    "(-v.unsqueeze(1)).t().view(-1)",
    "m.mm(torch.rand(4).unsqueeze(1)).t().view(-1)",
    "m.narrow(1, 0, 1).contiguous().t().view(-1)",
    "x[:1].transpose(0, 1).view(-1)",
    "m[1:2].t().view(-1)",
    "m.t()[0:1].view(-1)",
    "m.unsqueeze(0)[:, 1:].view(-1)",
    "row[:, 1:].view(-1)",
    "m.t().t().view(-1)",
    "x.permute(2, 0, 1).permute(1, 2, 0).view(-1)",
)
"""Those that do not, and of which nothing is said."""


def reported(expression: str) -> Iterator[str]:
    """The codes of what is found, where the expression stands alone, and where names stand for its parts."""
    source, _, view = expression.rpartition(".view(")
    programs = [f"z = {expression}\n", f"w = {source}\nz = w.view({view}\n"]
    transposed, dot, rest = source.rpartition(".")
    if dot and transposed.count("(") == transposed.count(")"):
        programs.append(f"u = {transposed}\nz = u.{rest}.view({view}\n")
    for program in programs:
        yield from (each.code for each in check_text(HEADER + program, "x.py", frozenset(("TL314",))).diagnostics)


@contextmanager
def as_it_runs(expression: str) -> Iterator[None]:
    if expression in RAISING:
        with pytest.raises(RuntimeError, match="view size is not compatible"):
            yield
    else:
        yield


@pytest.mark.parametrize("expression", [*RAISING, *WORKING])
def test_views(expression: str) -> None:
    with as_it_runs(expression):
        eval(expression, {"torch": torch, **TENSORS})
    assert set(reported(expression)) == ({"TL314"} if expression in RAISING else set())
