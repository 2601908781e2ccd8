"""A regularised recurrent language model."""

from drive import Program
from made_text import write_corpus

PROGRAM = Program(
    "main.py",
    arguments=(
        "--data made --emsize 32 --nhid 48 --nlayers 2 --batch_size 8 --bptt 10 --epochs 4 --lr 5 --log-interval 10 "
        "--wdrop 0.1 --dropouti 0.1 --dropouth 0.1 --dropout 0.1 --cuda"
    ),
    steps=400,
    prepare=lambda: write_corpus("made"),
)
