"""A recurrent network in both directions, over the rows of digits."""

from drive import Program
from made_images import hundreds

FOLDER = "tutorials/02-intermediate/bidirectional_recurrent_neural_network"

PROGRAM = Program(f"{FOLDER}/main.py", folder=FOLDER, steps=12, prepare=hundreds)
