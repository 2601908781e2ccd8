"""A variational autoencoder."""

from drive import Program

PROGRAM = Program("vae/main.py", folder="vae", arguments="--batch-size 16 --epochs 15", steps=56)
