"""A variational autoencoder."""

from drive import Program

PROGRAM = Program("08-AutoEncoder/Variational_autoencoder.py", steps=40)
