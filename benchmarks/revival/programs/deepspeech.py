"""Speech: tones for letters, recognised with the CTC loss."""

import json
import random
from pathlib import Path

import numpy
from drive import Program

LETTERS = "_'ABCDEFGHIJKLMNOPQRSTUVWXYZ "


def write_speech() -> None:
    """Each letter is a tone of its own, 0.2 s long."""
    folder = Path("made")
    folder.mkdir(exist_ok=True)
    Path("models").mkdir(exist_ok=True)
    Path("labels.json").write_text(json.dumps(list(LETTERS)))
    rows, time = [], numpy.arange(3200) / 16000
    for index in range(24):
        text = "".join(random.choices("ABCDEF", k=4))
        tones = [numpy.sin(2 * numpy.pi * (300 + 250 * LETTERS.index(letter)) * time) for letter in text]
        numpy.save(folder / f"{index}.wav.npy", numpy.concatenate(tones).astype("float32"))
        (folder / f"{index}.txt").write_text(text)
        rows.append(f"{folder}/{index}.wav,{folder}/{index}.txt")
    Path("manifest.csv").write_text("\n".join(rows) + "\n")


PROGRAM = Program(
    "train.py",
    arguments=(
        "--train_manifest manifest.csv --val_manifest manifest.csv --batch_size 8 --num_workers 0 --hidden_size 48 "
        "--hidden_layers 2 --epochs 12 --lr 1e-3"
    ),
    steps=33,
    prepare=write_speech,
)
