"""A recurrent network that learns one word, letter by letter."""

from drive import Program

PROGRAM = Program("12_2_hello_rnn.py", steps=60)
