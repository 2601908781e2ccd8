"""A recurrent network that makes a cosine of a sine."""

from drive import Program

PROGRAM = Program("tutorial-contents/403_RNN_regressor.py", steps=60)
