"""Classification of images by a hundred layers that are connected to all before them."""

from drive import Program

PROGRAM = Program("train.py", arguments="--batchSz 8 --nEpochs 2 --opt adam", steps=8)
