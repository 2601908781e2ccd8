"""Lengths of packed sequences, moved to a device and not."""
import torch
import torch.nn as nn
import torch.nn.utils.rnn as rnn_utils
from torch.nn.utils.rnn import pack_padded_sequence as pack

DEVICE = torch.device("cuda" if torch.cuda.is_available() else "cpu")
HOST = torch.device("cpu")
if torch.cuda.is_available():
    chosen = "cuda:0"
else:
    chosen = "cpu"


class Encoder(nn.Module):
    def __init__(self, device):
        super().__init__()
        self.device = device
        self.lstm = nn.LSTM(4, 5)

    def forward(self, x: torch.Tensor, lengths, order):
        on_gpu = torch.tensor(lengths, device=self.device)
        by_index = torch.as_tensor(lengths).to(DEVICE)[order]
        longest, rows = torch.sort(on_gpu, 0, descending=True)
        back = longest.cpu()
        outputs = [
            pack(x, on_gpu),  # TL315`on_gpu`
            pack(x, by_index.long()),  # TL315`by_index`
            pack(x[:, rows], longest),  # TL315`longest`
            pack(x[:, rows], back),
            pack(x, longest.to("cpu")),
            pack(x, lengths),
            nn.utils.rnn.pack_padded_sequence(x, torch.cuda.LongTensor(lengths)),  # TL315`torch.cuda` TL307
            rnn_utils.pack_padded_sequence(lengths=on_gpu.clamp(min=1), input=x, enforce_sorted=False),  # TL315`on_gpu`
        ]
        hidden, lengths = self.lstm(pack(x, (x.to(chosen) != 0).sum(0)))  # TL315`(`
        return outputs, hidden


def on_the_cpu(x, lengths: torch.Tensor, where="cpu"):
    home = lengths.to(HOST)
    home_too = torch.zeros(3, device="cpu").to(torch.int64)  # TL604
    if lengths.is_cuda:
        lengths = lengths.cpu()
    listed = lengths.cuda().tolist()
    sizes = [x.cuda().size(1)] * 3
    try:
        tried = pack(x, lengths.cuda())
    except RuntimeError:
        tried = pack(x, lengths)
    return pack(x, home), pack(x, home_too), pack(x, lengths), pack(x, listed), pack(x, sizes), tried


class Own:
    def pack_padded_sequence(self, x, lengths):
        return x, lengths

    def run(self, x, lengths: torch.Tensor):
        return self.pack_padded_sequence(x, lengths.cuda())
