"""A graph network with attention, on the graph of `pygcn`."""

from pathlib import Path

from drive import Program
from pygcn import write_graph


def write_here() -> None:
    """The graph lies beside the program."""
    Path("data").mkdir(exist_ok=True)
    write_graph(Path("data/cora"))


PROGRAM = Program("train.py", arguments="--epochs 12 --hidden 4 --nb_heads 2", steps=24, prepare=write_here)
