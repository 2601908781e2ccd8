"""Views of tensors whose memory is in another order; and those that there are."""
import torch
import torch.nn as nn


def accuracy(output: torch.Tensor, target, ks=(1, 5)):
    _, pred = output.topk(max(ks), 1, True, True)
    pred = pred.t()
    correct = pred.eq(target.view(1, -1).expand_as(pred))
    found = []
    for k in ks:
        found.append(correct[:k].view(-1).float().sum(0))  # TL314`view`
    return found


class Attention(nn.Module):
    def forward(self, x):
        heads = x.view(2, 3, 4, 5).transpose(1, 2)
        mixed = heads.permute(0, 2, 1, 3).view(2, 3, -1)
        split = x.transpose(1, 2).view(2, -1, 4, 5)
        whole = heads.contiguous().view(2, 4, -1)
        rows = x.permute(1, 0, 2).view(-1, 3)  # TL314`view`
        bits = (x.transpose(1, 2) > 0).view(2, -1)  # TL314`view`
        swapped = x.swapaxes(0, 1).float().view(-1)  # TL314`view`
        return mixed, split, whole, rows, bits, swapped


class OneChannel(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.narrow = nn.Conv1d(channels, 1, 7)
        self.wide = nn.Conv1d(channels, 2, 7)
        self.head = nn.Linear(channels, out_features=1)
        self.t = nn.ConvTranspose1d(channels, out_channels=1, kernel_size=4)

    def forward(self, x):
        wave = self.narrow(x)
        wave = torch.tanh(wave)
        mono = wave.squeeze(0).transpose(1, 0).view(-1)
        stereo = torch.tanh(self.wide(x))
        both = stereo.squeeze(0).transpose(1, 0).view(-1)  # TL314`view`
        scores = self.head(x).transpose(1, 2).view(-1)
        louder = torch.relu(self.t(x)).transpose(1, 2).view(-1)
        return mono, both, scores, louder


def operands_in_another_order(x: torch.Tensor, w: torch.Tensor):
    image = x.reshape(2, 3, 4, 5).permute(0, 3, 1, 2)
    image = nn.functional.interpolate(image, size=(2, 2))
    pixels = image.permute(0, 2, 3, 1).view(-1, 5)
    scaled = (x.transpose(1, 2) * w).transpose(1, 2).view(-1)
    positive = nn.functional.relu(x.transpose(1, 2)).view(-1)  # TL314`view`
    product = w.t().matmul(x).transpose(0, 1).view(-1)  # TL314`view`
    return pixels, scaled, positive, product


def in_branches(x: torch.Tensor, size, flip):
    if flip:
        x = x.t()
    y = x.view(-1)
    z = x.t()
    z = z.contiguous()
    w = x.t()
    one = w[:1].view(-1)
    typed = w.view(torch.int32)
    sized = w.view(size), w.view(*size), w.view(2, 3)
    try:
        flat = w.view(-1)
    except RuntimeError:
        flat = w.reshape(-1)
    return y, x.t().view(-1), z.view(-1), one, typed, sized, flat


def there_and_back(x: torch.Tensor, steps):
    frames = x.view(2, 3, 4, 5).permute(0, 2, 1, 3)
    for step in range(steps):
        frames[:, step] = 0
    back = frames.permute(0, 2, 1, 3).view(2, 3, 20)
    twice = frames.permute(0, 2, 1, 3).transpose(2, 3).view(2, 3, 20)
    first = x.transpose(0, 2).view(3, -1)  # TL314`view`
    last = x.transpose(-1, -2).view(-1)  # TL314`view`
    other = x.transpose(1, 2).transpose(-1, -2).view(-1)
    rolled = x.permute(1, 2, 0).permute(1, 2, 0)
    again = rolled.view(-1), rolled.permute(1, 2, 0).view(-1)  # TL314`view`
    return back, twice, first, last, other, again


def slices(x: torch.Tensor, logits: torch.Tensor, labels: torch.Tensor, n, rows):
    vocabulary = logits.shape[-1]
    shifted = logits[:, :-1]
    pairs = [
        shifted.view(-1, vocabulary),  # TL314`view`
        logits[:, :-1, :].view(-1, logits.size(2)),  # TL314`view`
        logits[..., :-1, :].view(-1, vocabulary),
        labels[:, 1:].view(-1),  # TL314`view`
        labels[:, 1:].view(-1, 1),  # TL314`view`
        labels[:, 1:].view(1, -1),
        labels[:, 1:].view(len(labels), -1),
        logits.permute(0, 2, 1).view(1, -1, vocabulary),
        labels[1:].view(-1),
        labels[:1, 1:].view(-1),
        labels[n, 1:].view(-1),
        labels[:, rows].view(-1),
        labels[:, :n].view(-1),
        labels[:, -1].view(-1),
        labels[:, 0].view(-1, 1),
        x[:, 0, :].view(-1),
        x[:, 1, :].view(-1),  # TL314`view`
        x[:, ::2].view(-1),  # TL314`view`
        x[::2, :].view(-1),  # TL314`view`
        x[::2].view(-1),
        x[:, :2].view(-1),  # TL314`view`
        x[0, :, 2:4].view(-1),  # TL314`view`
        x[:, 1:, 1:].view(2, -1),  # TL314`view`
        x[:, 1:, 1:].view(2, 3, -1),
        x[:, 1:].view(torch.int32),
        x[:, None].view(-1),
        x[:, 1:].contiguous().view(-1),
        x[:, 1:].float().view(-1),
        x[:, 1:].reshape(-1),
    ]
    last = labels[:, 1:]
    if n:
        last = last.contiguous()
    return pairs, last.view(-1)
