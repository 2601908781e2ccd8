"""The interface of the CTC loss that was used before PyTorch had one: activations in, a sum of one element out."""

from __future__ import annotations

import torch


class CTCLoss(torch.nn.Module):
    def forward(
        self, activations: torch.Tensor, labels: torch.Tensor, lengths: torch.Tensor, label_lengths: torch.Tensor
    ) -> torch.Tensor:
        logs = activations.log_softmax(-1)
        loss = torch.nn.functional.ctc_loss(
            logs, labels.long(), lengths.long(), label_lengths.long(), reduction="sum", zero_infinity=True
        )
        return loss.view(1)
