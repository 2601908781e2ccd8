"""A convolutional network for digits."""

from drive import Program

PROGRAM = Program("10_1_cnn_mnist.py", steps=60)
