"""A graph network, on a graph of seven groups."""

import random
from pathlib import Path

from drive import Program

NODES, GROUPS = 1500, 7


def write_graph(folder: Path = Path("../data/cora")) -> None:
    """A node's words and links are mostly those of its group."""
    folder.mkdir(parents=True, exist_ok=True)
    rows, links = [], []
    for node in range(NODES):
        group = node % GROUPS
        words = [int(random.random() < (0.5 if word % GROUPS == group else 0.05)) for word in range(35)]
        rows.append(" ".join([str(node), *map(str, words), f"group{group}"]))
        links += [f"{node} {(node + GROUPS * random.randrange(1, 20)) % NODES}" for _ in range(3)]
    (folder / "cora.content").write_text("\n".join(rows) + "\n")
    (folder / "cora.cites").write_text("\n".join(links) + "\n")


PROGRAM = Program("pygcn/train.py", folder="pygcn", arguments="--epochs 60", steps=80, prepare=write_graph)
