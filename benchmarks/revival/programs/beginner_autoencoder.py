"""An autoencoder with a code of three numbers."""

from drive import Program

PROGRAM = Program("08-AutoEncoder/simple_autoencoder.py", steps=40, pretend_cuda=True)
