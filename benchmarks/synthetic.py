"""Made-up PyTorch code, for measuring how cost grows: layers, losses, data sets, training loops, and plain Python.

The same seed gives the same text. Some code is out of date, so that there is something to find: about one finding in
a hundred and fifty lines.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from pathlib import Path

HEAD = '''"""Made up for a benchmark."""

import argparse
import json
import os

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, Dataset
'''

LAYER = '''

class Layer{n}(nn.Module):
    """Layer number {n}."""

    def __init__(self, width: int = {width}, heads: int = {heads}, dropout: float = 0.{digit}):
        super().__init__()
        self.width, self.heads = width, heads
        self.norm = nn.LayerNorm(width)
        self.{first} = nn.Linear(width, {factor} * width)
        self.{second} = nn.Linear({factor} * width, width)
        self.dropout = nn.Dropout(dropout)
        self.register_buffer("scale", torch.ones(width))

    def split(self, x: torch.Tensor) -> torch.Tensor:
        batch, length, _ = x.shape
        return x.view(batch, length, self.heads, self.width // self.heads).transpose(1, 2)

    def forward(self, x: torch.Tensor, mask=None) -> torch.Tensor:
        residual = x
        x = self.norm(x) * self.scale
        scores = torch.matmul(self.split(x), self.split(x).transpose(-2, -1)) / self.width**0.5
        if mask is not None:
            scores = scores.masked_fill(mask == 0, float("-inf"))
        weights = F.softmax(scores, dim=-1)
        mixed = torch.matmul(self.dropout(weights), self.split(x)).transpose(1, 2).reshape(x.shape)
        hidden = F.{activation}(self.{first}(mixed))
        return residual + self.dropout(self.{second}(hidden))
'''

TRAINING = '''

def train{n}(model: nn.Module, loader: DataLoader, optimizer, device: str = "cuda", clip: float = {digit}.0):
    """One epoch."""
    criterion = nn.CrossEntropyLoss()
    total, correct, seen = 0.0, 0, 0
    model.train()
    for step, (inputs, target) in enumerate(loader):
        inputs, target = inputs.to(device), target.to(device)
        output = model(inputs)
        loss = criterion(output, target)
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), clip)
        optimizer.step()
        {account}
        prediction = output.argmax(dim=1)
        correct += (prediction == target).sum().item()
        seen += target.size(0)
        if step % {width} == 0:
            print(f"step {{step}} loss {{total / (step + 1):.4f}} accuracy {{correct / seen:.3f}}")
    return total / len(loader), correct / seen
'''

EVALUATION = """

def evaluate{n}(model, loader, device="cuda"):
    model.eval()
    outputs, targets = [], []
    with torch.no_grad():
        for inputs, target in loader:
            output = model(inputs.to(device))
            outputs.append(output{copy})
            targets.append(target.numpy())
    losses = [float(each.mean()) for each in outputs if each.size > 0]
    return {{"loss": sum(losses) / max(len(losses), 1), "count": len(targets), "name": "{first}"}}
"""

WEIGHTS = """

def init{n}(module: nn.Module, std: float = 0.0{digit}):
    for name, child in module.named_children():
        if isinstance(child, nn.Linear):
            {init}
            if child.bias is not None:
                nn.init.zeros_(child.bias)
        elif isinstance(child, (nn.LayerNorm, nn.BatchNorm2d)):
            nn.init.ones_(child.weight)
        else:
            init{n}(child, std)
"""

DATA = """

class Examples{n}(Dataset):
    def __init__(self, folder: str, limit: int = {width}):
        self.data = []
        for name in sorted(os.listdir(folder))[:limit]:
            with open(os.path.join(folder, name), encoding="utf-8") as handle:
                record = json.load(handle)
            self.data.append((record["{first}"], record.get("label", {digit})))

    def __len__(self):
        return len(self.data)

    def __getitem__(self, index):
        values, label = self.data[index]
        tensor = torch.tensor(values, dtype=torch.float32)
        if tensor.dim() == 1:
            tensor = tensor.unsqueeze(0)
        return tensor, label
"""

PLAIN = """

def options{n}(arguments=None):
    parser = argparse.ArgumentParser(description="number {n}")
    parser.add_argument("--{first}", type=int, default={width}, help="how many of {first}")
    parser.add_argument("--{second}-rate", type=float, default=1e-{digit})
    parser.add_argument("--data", default="data/{first}", help="where the examples are")
    parsed = parser.parse_args(arguments)
    settings = {{key: value for key, value in vars(parsed).items() if value is not None}}
    for key in sorted(settings):
        if key.startswith("{first}") and settings[key] < 0:
            raise ValueError(f"{{key}} must not be negative: {{settings[key]}}")
    return settings, parsed.data
"""

PIECES: Sequence[tuple[str, int]] = (
    (LAYER, 4),
    (TRAINING, 2),
    (EVALUATION, 2),
    (WEIGHTS, 1),
    (DATA, 1),
    (PLAIN, 2),
)
"""What a module is made of, and how often."""

WORDS = ("inner", "outer", "query", "value", "gate", "hidden", "project", "expand", "reduce", "mix", "embed", "head")


def module(lines: int, seed: int = 0, head: str = "") -> str:
    """The text of a module of so many lines, or up to a piece more."""
    chance = random.Random(seed)
    pieces, weights = zip(*PIECES, strict=True)
    text = [HEAD + head]
    count, number = text[0].count("\n"), 0
    while count < lines:
        number += 1
        (piece,) = chance.choices(pieces, weights)
        text.append(_filled(piece, f"{seed}_{number}", chance.choice, chance.sample))
        count += text[-1].count("\n")
    return "".join(text)


def _filled(
    piece: str,
    number: str,
    choice: Callable[[Sequence[object]], object],
    sample: Callable[[Sequence[str], int], list[str]],
) -> str:
    first, second = sample(WORDS, 2)
    return piece.format(
        n=number,
        first=first,
        second=second,
        width=choice((64, 128, 256, 768)),
        heads=choice((2, 4, 8)),
        factor=choice((2, 3, 4)),
        digit=choice(range(1, 10)),
        activation=choice(("relu", "gelu", "silu")),
        account=choice(("total += loss.item()", "total += loss.item()", "total += loss.data[0]", "total += loss")),
        copy=choice((".cpu().numpy()", ".cpu().numpy()", ".data.cpu().numpy()")),
        init=choice(("nn.init.normal_(child.weight, std=std)", "child.weight.data.normal_(0.0, std)")),
    )


def package(folder: Path, files: int, lines: int) -> None:
    """A package of so many modules of so many lines; each uses a layer of the one before."""
    folder.mkdir(parents=True)
    (folder / "__init__.py").write_text("")
    for number in range(files):
        head = f"\nfrom .part{number - 1} import Base{number - 1}\n" if number else ""
        parent = f"Base{number - 1}" if number % 10 else "nn.Module"
        base = f"\n\nclass Base{number}({parent}):\n    def loss(self, x):\n        return self.forward(x).mean()\n"
        (folder / f"part{number}.py").write_text(module(lines, number, head) + base)
