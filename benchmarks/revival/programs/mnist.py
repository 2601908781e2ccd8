"""Classification of digits."""

from drive import Program

PROGRAM = Program("mnist/main.py", folder="mnist", arguments="--batch-size 16 --epochs 20", steps=60)
