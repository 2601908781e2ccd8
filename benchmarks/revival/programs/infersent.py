"""Sentence pairs: does one follow from the other."""

import random
from pathlib import Path

from drive import Program
from made_text import WORDS


def write_pairs() -> None:
    """The label is told by the first word of the second sentence; word vectors are random."""
    folder = Path("made")
    folder.mkdir(exist_ok=True)
    vectors = [[word, *(f"{random.gauss(0, 1):.4f}" for _ in range(300))] for word in [*WORDS, "<s>", "</s>"]]
    (folder / "vectors.txt").write_text("\n".join(" ".join(line) for line in vectors) + "\n")
    Path("dataset/GloVe").mkdir(parents=True, exist_ok=True)
    Path("dataset/GloVe/glove.840B.300d.txt").write_text((folder / "vectors.txt").read_text())
    for part, count in (("train", 160), ("dev", 32), ("test", 32)):
        labels = [random.choice(["entailment", "neutral", "contradiction"]) for _ in range(count)]
        first = [" ".join(random.choices(WORDS, k=random.randint(3, 7))) for _ in labels]
        signs = {"entailment": "cat", "neutral": "dog", "contradiction": "bird"}
        second = [" ".join([signs[label], *random.choices(WORDS[5:], k=random.randint(2, 6))]) for label in labels]
        for name, lines in (("labels", labels), ("s1", first), ("s2", second)):
            (folder / f"{name}.{part}").write_text("\n".join(lines) + "\n")


PROGRAM = Program(
    "train_nli.py",
    arguments="--nlipath made/ --n_epochs 8 --batch_size 16 --enc_lstm_dim 32 --fc_dim 32 --gpu_id 0",
    steps=400,
    prepare=write_pairs,
    pretend_cuda=True,
)
