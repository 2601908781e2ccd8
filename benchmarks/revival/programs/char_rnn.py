"""Text, letter by letter."""

from pathlib import Path

from drive import Program

PROGRAM = Program(
    "char-rnn-generation/train.py",
    folder="char-rnn-generation",
    arguments="made.txt --n_epochs 30 --print_every 10 --hidden_size 24 --n_layers 1 --chunk_len 25",
    steps=40,
    prepare=lambda: Path("made.txt").write_text("What she saw was what he said. " * 40) and None,
)
