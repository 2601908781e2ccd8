"""A recurrent language model."""

from drive import Program
from made_text import write_corpus

PROGRAM = Program(
    "word_language_model/main.py",
    folder="word_language_model",
    arguments="--data made --emsize 32 --nhid 32 --batch_size 8 --bptt 10 --epochs 3 --lr 5 --log-interval 10",
    steps=400,
    prepare=lambda: write_corpus("made"),
)
