"""A variational autoencoder."""

from drive import Program

FOLDER = "tutorials/03-advanced/variational_auto_encoder"

PROGRAM = Program(f"{FOLDER}/main.py", folder=FOLDER, steps=40)
